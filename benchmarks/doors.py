"""Doors: are the needed turns in the prompt once the history no longer fits, whichever adapter makes it?

Run ``python -m benchmarks.doors --data DIR``, where ``DIR/everyday`` holds the conversations of
:mod:`benchmarks.talks`. :mod:`benchmarks.cost_talks` joins them to seeded sessions with all their questions, answers
stretched to ``--size`` tokens a turn, several times as long as the largest budget. Each session goes through each door
from its first turn on, so that a door remembers what it sent before. Counted are the questions with a history over the
budget:

* **needed**: mean share of the needed turns of which the prompt has a sentence that only this turn has, in any form:
  whole, cut, or inside the question. **tokens**: mean of what is sent beside the question.

Exit status 1 where the default has fewer needed turns than the posture ``thrifty`` at the same door and budget.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from itertools import accumulate, chain, product
from typing import TYPE_CHECKING, Any

from benchmarks.budget import counter
from benchmarks.cost_talks import sessions
from benchmarks.report import options, print_table, write_json
from benchmarks.talks import read_everyday
from gatekeeper_core import ContextGatekeeper, HistoryConfig, PolicyState, keep, prices_of_model, select_history
from gatekeeper_core.text import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.cost_talks import Talk

    TokenCounter = Callable[[str], int]
    Door = Callable[[Talk, TokenCounter, HistoryConfig], Iterator[list[str]]]
    Row = dict[str, Any]

FILES = ("everyday_dev.jsonl", "everyday_second.jsonl")
LANGUAGES = ("en", "zh", "mixed")
THRIFTY = "thrifty"
WAYS: dict[str, dict[str, Any]] = {
    "default, claude-sonnet-4-5": {"prices": prices_of_model("claude-sonnet-4-5")},
    "default, gpt-4.1": {"prices": prices_of_model("gpt-4.1")},
    "default, no price row": {},
}
SHORTEST_SIGN = 8
"""Characters of a sentence that tells its turn from the others."""


def through_history(talk: Talk, count: TokenCounter, config: HistoryConfig) -> Iterator[list[str]]:
    """Yield for each question the texts that ``select_history`` keeps, with the state of the call before."""
    gatekeeper, state, view = ContextGatekeeper(token_counter=count), PolicyState(), None
    for call in talk.calls:
        messages = talk.prompt(call)
        view = select_history(messages, gatekeeper=gatekeeper, config=config, state=state, earlier=view)
        state = view.state or state
        yield [message.text for message in keep(messages, view)]


def through_middleware(talk: Talk, count: TokenCounter, config: HistoryConfig) -> Iterator[list[str]]:
    """Yield what the model of an agent with ``GatekeeperMiddleware`` and a checkpointer reads."""
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.memory import InMemorySaver

    from langchain_gatekeeper import GatekeeperMiddleware

    prompt: list[str] = []

    class Model(GenericFakeChatModel):
        def _generate(self, messages: list[Any], *args: Any, **rest: Any) -> Any:
            prompt[:] = [message.text for message in messages]
            return super()._generate(messages, *args, **rest)

    model = Model(messages=iter([AIMessage(answer) for _, answer in exchanges(talk)]))
    middleware = [GatekeeperMiddleware(config, token_counter=count)]
    agent: Any = create_agent(model, middleware=middleware, checkpointer=InMemorySaver())
    for question, _ in exchanges(talk):
        agent.invoke({"messages": [("user", question)]}, {"configurable": {"thread_id": "session"}})
        yield list(prompt)


def through_chat_memory(talk: Talk, count: TokenCounter, config: HistoryConfig) -> Iterator[list[str]]:
    """Yield what ``GatekeeperChatMemory`` loads for each question, with the question behind it."""
    from langchain_gatekeeper import GatekeeperChatMemory

    memory = GatekeeperChatMemory(config=config, token_counter=count, return_messages=True)
    for question, answer in exchanges(talk):
        loaded = memory.load_memory_variables({"input": question})["history"]
        yield [*(message.text for message in loaded), question]
        memory.save_context({"input": question}, {"output": answer})


def through_buffer(talk: Talk, count: TokenCounter, config: HistoryConfig) -> Iterator[list[str]]:
    """Yield what ``GatekeeperMemoryBuffer`` gives for each question."""
    from llama_index.core.base.llms.types import ChatMessage

    from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer

    memory = GatekeeperMemoryBuffer.from_defaults(config=config, tokenizer_fn=lambda text: [0] * count(text))
    for question, answer in exchanges(talk):
        memory.put(ChatMessage(question, role="user"))
        yield [message.content or "" for message in memory.get()]
        memory.put(ChatMessage(answer, role="assistant"))


def through_window(talk: Talk, count: TokenCounter, config: HistoryConfig) -> Iterator[list[str]]:
    """Yield what ``trim_messages`` leaves: the newest messages that fit, from a human one on."""
    from langchain_core.messages import AIMessage, HumanMessage, trim_messages

    kinds: dict[str, Any] = {"user": HumanMessage, "assistant": AIMessage}
    given = [kinds[message.role](message.text) for message in talk.messages]
    settings: Row = {"max_tokens": config.token_budget, "start_on": "human"}
    settings["token_counter"] = lambda messages: sum(count(message.text) for message in messages)
    for call in talk.calls:
        yield [message.text for message in trim_messages(given[: call.stop], **settings)]


DOORS: dict[str, Door] = {
    "select_history": through_history,
    "GatekeeperMiddleware": through_middleware,
    "GatekeeperChatMemory": through_chat_memory,
    "GatekeeperMemoryBuffer": through_buffer,
}


def exchanges(talk: Talk) -> list[tuple[str, str]]:
    """Return the question and the answer of each turn of a session."""
    texts = [message.text for message in talk.messages]
    return list(zip(texts[::2], texts[1::2], strict=True))


def signs(talk: Talk) -> list[set[str]]:
    """Return for each turn the sentences that no other turn has."""
    spoken = [
        {text[span.start : span.stop].strip() for text in turn for span in sentences(text)} for turn in exchanges(talk)
    ]
    counts = Counter(chain.from_iterable(spoken))
    return [{sign for sign in turn if counts[sign] == 1 and len(sign) >= SHORTEST_SIGN} for turn in spoken]


def measured(talks: Sequence[Talk], door: Door, config: HistoryConfig, *, count: TokenCounter) -> tuple[float, float]:
    """Return the needed turns in per cent and the tokens that a door sends where the history is over the budget."""
    needed, tokens = list[float](), list[int]()
    for talk in talks:
        before = list(accumulate((count(message.text) for message in talk.messages), initial=0))
        marks = signs(talk)
        for call, texts in zip(talk.calls, door(talk, count, config), strict=True):
            if before[call.stop - 1] <= (config.token_budget or 0):
                continue
            prompt = "\n".join(texts)
            tokens.append(sum(map(count, texts)) - count(talk.messages[call.stop - 1].text))
            hits = [any(sign in prompt for turn in group for sign in marks[turn]) for group in call.needed]
            needed += [sum(hits) / len(hits)] if hits else []
    return 100 * sum(needed) / max(1, len(needed)), sum(tokens) / max(1, len(tokens))


def table(talks: Sequence[Talk], budgets: Sequence[int], *, peers: bool, count: TokenCounter) -> list[Row]:
    """Return a row for each door and way, with columns for each budget and one that names those below thrifty."""
    rows: list[Row] = [{"door": name, "way": way} for name, way in product(DOORS, (THRIFTY, *WAYS))]
    rows += [{"door": "trim_messages", "way": "newest messages"}] if peers else []
    for row in rows:
        below = []
        for budget in budgets:
            config = HistoryConfig(token_budget=budget, on_error="raise", **WAYS.get(row["way"], {"posture": THRIFTY}))
            needed, tokens = measured(talks, DOORS.get(row["door"], through_window), config, count=count)
            row |= {f"needed {budget}": needed, f"tokens {budget}": tokens}
            bar = next(each for each in rows if each["door"] == row["door"])
            below += [str(budget)] if needed < bar[f"needed {budget}"] else []
        row["below thrifty"] = ", ".join(below)
    return rows


def main() -> int:
    """Measure, print the tables, write JSON if asked to; return 1 where the default is below thrifty."""
    parser = options(__doc__, data="everyday/everyday_dev.jsonl and everyday_second.jsonl")
    parser.add_argument("--budgets", nargs="+", type=int, default=(1500, 3000, 4000), help="tokens (1500 3000 4000)")
    parser.add_argument("--turns", type=int, default=40, help="turns of a session (40)")
    parser.add_argument("--size", type=int, default=300, help="tokens a turn (300)")
    parser.add_argument("--seeds", type=int, default=2, help="sessions of each language and file (2)")
    parser.add_argument("--counter", choices=("estimate", "cl100k"), default="estimate")
    chosen = parser.parse_args()
    count = counter(chosen.counter)
    drawn = list(product(LANGUAGES, range(chosen.seeds)))[-1 if chosen.quick else 0 :]
    shape: dict[str, Any] = {"turns": chosen.turns, "tokens": chosen.size, "count": count}
    tables: dict[str, list[Row]] = {}
    warnings.filterwarnings("ignore", "The class `InMemoryChatMessageHistory` was deprecated")
    for file in FILES:
        everyday = read_everyday(chosen.data / "everyday" / file)
        talks = [sessions(everyday, language=language, seed=seed, **shape) for language, seed in drawn]
        tables[file] = table(talks, chosen.budgets, peers=not chosen.ours_only, count=count)
        print_table(f"{file}: needed turns in per cent, tokens", tables[file], markdown=chosen.markdown)
    named = ("budgets", "turns", "size", "seeds", "counter", "quick")
    write_json(chosen.json, "doors", {name: getattr(chosen, name) for name in named}, tables)
    return int(any(row["below thrifty"] for rows in tables.values() for row in rows))


if __name__ == "__main__":
    sys.exit(main())
