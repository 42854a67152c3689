"""Everything that the library does with one conversation, and what it tells of it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from gatekeeper_core import (
    ContextBuilder,
    ContextBuilderConfig,
    ContextCompressor,
    ContextGatekeeper,
    LongTermMemory,
    Message,
    Thread,
    ToolCall,
    ToolResultCompressor,
)
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.selector import ThreadSelector
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.summary import SummaryConfig, ThreadSummary
from gatekeeper_core.context.memory.update import remember_thread
from gatekeeper_core.context.prompt.adapter import RequestOptions, ThreadRequests
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.errors import GatekeeperError, StorageError
from gatekeeper_core.events import EVENTS, Event
from gatekeeper_core.pricing.prices import prices_of_model
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.storage.base import MemoryScope
from gatekeeper_core.storage.sqlite import InMemoryStore, SQLiteStore

BY_KEY = {event.key: event for event in EVENTS}
_BY_MESSAGE = {(event.logger, event.message): event for event in EVENTS}
_TYPES: dict[str, Any] = {
    "int": int,
    "int | None": (int, type(None)),
    "float": (int, float),
    "str": str,
    "str | None": (str, type(None)),
}


PAGE = Path(__file__).resolve().parents[1] / "docs" / "api" / "events.md"


class Documented(NamedTuple):
    """What the page says of an event: its levels, its facts, and those of them that are not always there."""

    levels: tuple[str, ...]
    facts: tuple[str, ...]
    optional: frozenset[str]


def _cells(page: str, *, count: int) -> Iterator[list[str]]:
    """Yield the rows of the page's tables with so many columns."""
    for line in page.splitlines():
        cells = line.removeprefix("| ").removesuffix(" |").split(" | ")
        if line.startswith("| `") and len(cells) == count:
            yield [cell.strip("`") if cell.count("`") == 2 else cell for cell in cells]


_ROWS = [*_cells(PAGE.read_text(encoding="utf-8"), count=6)]
FACTS = {name: (kind, unit) for name, kind, unit, _ in _cells(PAGE.read_text(encoding="utf-8"), count=4)}
"""By fact its type and its unit, as the page has them."""


def _documented(levels: str, facts: str) -> Documented:
    listed = [fact.split("`") for fact in facts.split(", ") if "`" in fact or fact != "–"]
    names = [fact[1] if len(fact) > 1 else fact[0] for fact in listed]
    optional = frozenset(name for name, fact in zip(names, listed, strict=True) if fact[-1] == " ?")
    return Documented(tuple(levels.split(", ")), tuple(names), optional)


DOCUMENTED = {key: _documented(levels, facts) for key, *_, levels, facts in _ROWS}
KINDS = [(key, kind == "stage", logger, message) for key, kind, logger, message, _, _ in _ROWS]


def fits(event: Event, facts: Mapping[str, Any]) -> bool:
    """Return whether facts are those that the page has of an event, each of its type."""
    page = DOCUMENTED[event.key]
    names = set(facts) - {"outcome"}
    needed = set(page.facts) - page.optional if facts.get("outcome", "ok") == "ok" else set()
    if event.is_stage != ("outcome" in facts) or not needed <= names <= set(page.facts):
        return False
    return all(_is_of(FACTS[name][0].replace(" or ", " | "), value) for name, value in facts.items())


def _is_of(kind: str, value: object) -> bool:
    if kind == "bool" or isinstance(value, bool):
        return kind == "bool" and isinstance(value, bool)
    if kind.startswith("list["):
        return isinstance(value, list) and all(_is_of(kind[5:-1], one) for one in value)
    return isinstance(value, _TYPES[kind])


def event_of(record: logging.LogRecord) -> Event:
    """Return the event that a record is of."""
    return _BY_MESSAGE[record.name, str(record.msg)]


def facts_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the facts of a record, without their prefix."""
    prefix = "gatekeeper_"
    return {name.removeprefix(prefix): value for name, value in vars(record).items() if name.startswith(prefix)}


class Kept(logging.Handler):
    """Keeps records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def everything_told() -> Iterator[list[logging.LogRecord]]:
    """Collect every record of the library."""
    logger, handler = logging.getLogger("gatekeeper"), Kept()
    level, propagates = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield handler.records
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagates


def failing(secret: str) -> Any:
    """Return a function that raises an error with a text in its message."""

    def fail(*_: object, **__: object) -> NoReturn:
        raise LookupError(f"cannot read {secret}")

    return fail


class Away(InMemoryStore):
    """A store that cannot be read, and raises an error of this class with a text in its message."""

    def __init__(self, secret: str, error: type[Exception] = StorageError) -> None:
        super().__init__()
        self._error = error(f"no connection to {secret}")

    def load_record(self, *_: object) -> NoReturn:
        raise self._error


def conversation(secret: str, turns: Sequence[tuple[str, str]]) -> list[Message]:
    """Return turns as messages with a text in each of them, and with a tool exchange."""
    messages = []
    for at, (question, answer) in enumerate(turns):
        messages += [Message("user", f"{question} {secret} {at}"), Message("assistant", f"{answer} {secret}")]
    call = ToolCall("c1", f"tool_{secret}", json.dumps({"name": secret}))
    messages += [Message("user", f"Look it up: {secret}."), Message("assistant", "", tool_calls=(call,))]
    long = "\n".join(f"row {row}: {secret} is at port {6000 + row}, rack {row % 7}" for row in range(80))
    return [*messages, Message("tool", long, tool_call_id="c1"), Message("assistant", f"Found: {secret}.")]


def tell_everything(secret: str, turns: Sequence[tuple[str, str]], question: str, folder: Path) -> None:
    """Do with a conversation whatever the library can do; a text stands in all of it, and in the names."""
    talk = conversation(secret, turns)
    question = f"{question} {secret}"
    _select(secret, turns, question)
    _histories(secret, talk, question)
    _builds(secret, talk, question)
    _memories(secret, talk, question)
    _compress(secret, talk)
    _store(secret, talk, folder)


def _select(secret: str, turns: Sequence[tuple[str, str]], question: str) -> None:
    gatekeeper = ContextGatekeeper(token_budget=60)
    gatekeeper.set_constraint(secret, secret)
    for user, answer in turns:
        gatekeeper.add_turn(f"{user} {secret}", answer)
    gatekeeper.select(question)
    TextEncoder(failing(secret)).encode([question])


def _histories(secret: str, talk: Sequence[Message], question: str) -> None:
    messages = [*talk, Message("user", question)]
    config = HistoryConfig(token_budget=300, passthrough_below=0)
    ThreadSelector(lambda message: message, config=config).view(messages, thread=secret)
    tight = HistoryConfig(token_budget=1, passthrough_below=0)
    ThreadSelector(lambda message: message, config=tight).view(messages, HistoryRequest(fixed_tokens=1), thread=secret)
    ThreadSelector(lambda message: message).view(messages, thread=secret)
    paid = ThreadSelector(lambda message: message, write=lambda _, message: message, states=Away(secret))
    paid.view(messages, thread=secret)
    paid.report(Usage(input_tokens=900, output_tokens=40, cached_tokens=700, model=secret), thread=secret)
    full = HistoryConfig(coverage=1.0, prices=prices_of_model("claude-sonnet-4-5"))
    dear = ThreadSelector(lambda message: message, config=full)
    for number in range(21):  # each question wants all of the turns, and the cache holds none of them
        messages += [
            Message("assistant", f"{number}: {question} {secret} " * 20),
            Message("user", f"{number}? {question}"),
        ]
        dear.view(messages, thread=secret)


def _builds(secret: str, talk: Sequence[Message], question: str) -> None:
    memory = LongTermMemory(InMemoryStore())
    config = ContextBuilderConfig(total_budget=3000, locale="en")
    builder = ContextBuilder(config, memory=memory, token_counter=len, summarizer=failing(secret))
    builder.constraints.set(Thread(secret, talk, secret, secret), secret, secret)
    requests = ThreadRequests(builder, HistoryConfig(), read=lambda message: message, write=lambda message, _: message)
    options = RequestOptions(thread=secret, tenant=secret, user=secret, question=question)
    requests.request(talk, options)
    requests.request(talk, options._replace(tools=(secret * 2000,)))
    ContextBuilder(config, store=Away(secret, LookupError)).build(
        Thread(secret, talk), question, f"Be brief, {secret}."
    )


def _memories(secret: str, talk: Sequence[Message], question: str) -> None:
    scope = MemoryScope(secret, secret)
    memory = LongTermMemory(InMemoryStore(), embedder=failing(secret))
    preference = memory.add(scope, f"prefers {secret}", category="user_preference", key=secret)
    memory.search(scope, question)
    memory.forget(scope, preference.id)
    chat = [Message("user", f"I prefer {secret}. Please remember that I like green tea."), Message("assistant", "ok")]
    store = InMemoryStore()
    remember_thread(memory, Thread(secret, chat, secret, secret), store, extractor=failing(secret))
    summaries = ThreadSummary(store, config=SummaryConfig(message_threshold=2), summarizer=failing(secret))
    thread = Thread(secret, talk, secret)
    summaries.update(thread)
    summaries.run_model(thread)


def _compress(secret: str, talk: Sequence[Message]) -> None:
    ContextCompressor(max_tokens=100_000).compress(talk)
    ContextCompressor(max_tokens=700, keep_recent=2, token_counter=len).compress(talk)
    with suppress(GatekeeperError):
        ContextCompressor(max_tokens=1).compress([*talk, Message("user", secret * 9)])
    ToolResultCompressor().compress(talk[-2].text, tool_name=f"tool_{secret}", query=secret)


def _store(secret: str, talk: Sequence[Message], folder: Path) -> None:
    with SQLiteStore(folder / "store.db") as store:
        store.append_messages(secret, secret, talk)
        store.check()
        store.forget(secret, thread=secret)
        with suppress(GatekeeperError):
            store.append_messages(secret, secret, talk)
        store.begin_anew(secret, thread=secret)
