"""What happens to the time of a function when its input doubles? At most 2.3 times as long, an exponent of 1.2.

Run ``python -m benchmarks.doubling [--only NAME] [--limit 1.2] [--markdown] [--json FILE]``. Each public function of
the core that takes one text, texts or messages is found by its annotation and called with texts of many kinds, the
objects that users hold with histories and stores of several lengths. Each is measured where it takes two milliseconds
of CPU time or more, at one, two and four times that length, three times each with new input, of which the least counts.
The exponent is that of the growth from the first to the last, of the worst kind. Those above the limit are measured
again from two and from four times that length on, since a cache that is full is one step and no growth; the exit status
is 1 if one stays above it.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import pkgutil
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from itertools import groupby
from typing import Any, NamedTuple

import gatekeeper_core
from benchmarks.corpus import generate_turns
from benchmarks.report import SEED, options, report
from gatekeeper_chat.stream import events
from gatekeeper_core import (
    ContextBuilder,
    ContextGatekeeper,
    GatekeeperError,
    InMemoryStore,
    LongTermMemory,
    MemoryScope,
    Message,
    Thread,
    ToolCall,
    read_messages,
    select_history,
)
from gatekeeper_formats.reading import read_conversation

LIMIT = 1.2
_LEAST_SECONDS = 0.002
_START = {"characters": 4_000, "messages": 40}
_MOST = {"characters": 256_000, "messages": 5_120}
_DOUBLINGS = 2
_REPEATED = 3

Text = Callable[[random.Random, int], str]


def _drawn(pieces: Sequence[str], between: str = "") -> Text:
    """Return what draws a text of such pieces."""
    mean = sum(map(len, pieces)) / len(pieces) + len(between)
    return lambda rng, size: between.join(rng.choices(pieces, k=int(size / mean)))


def _numbered(line: str, head: str = "") -> Text:
    """Return what writes lines with numbers of their own at ``{0}`` and drawn ones at ``{1}``."""

    def text(rng: random.Random, size: int) -> str:
        count = max(1, size // (len(line) + 1))
        return head + "\n".join(map(line.format, range(count), rng.choices(range(10_000), k=count)))

    return text


def _json(rng: random.Random, size: int) -> str:
    numbers = enumerate(rng.choices(range(9999), k=size // 32))
    return json.dumps([{"id": at, "name": f"n{number}"} for at, number in numbers])


def _talk(rng: random.Random, size: int) -> str:
    return ". ".join(turn.user for turn in generate_turns(1 + size // 50, seed=rng.randrange(9999)))[:size]


_HAN = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多"
TEXTS: dict[str, Text] = {
    "talk": _talk,
    "words": _drawn([f"{first}{number:x}e" for number in range(999) for first in "bcdfgh"], " "),
    "varied Han": _drawn([chr(code) for code in range(0x4E00, 0x9FA5)]),
    "common Han": _drawn([*_HAN, "，", "。"]),
    "mixed": _drawn([*_HAN, "Redis ", "port ", "6379 ", "。"]),
    "one word": _drawn("abcdefgh"),
    "one character": lambda rng, size: rng.choice("a的(<[\"'`/\\-_.,:;#*=|0") * size,
    "digits": _drawn("0123456789.,:-/ "),
    "blanks": _drawn(" \t\n\r\u3000\u00a0"),
    "brackets": _drawn("()[]{}<>"),
    "open brackets": lambda rng, size: rng.choice("([{<") * size,
    "quotes": _drawn("\"'“”‘’`「」 ax"),
    "fences": _drawn(["```\n", "~~~~\n", "</a>\n", "<a>", "[[wm:", "]]", "\n"]),
    "invisible": _drawn("\u200b\u200d\ufe0f\u0301\U000e0041\u202ea"),
    "addresses": _numbered("https://a{0}.example/b/{1}?c=d"),
    "log": _numbered("2026-01-01 10:00:00 ERROR job {1} took {0} ms"),
    "JSON": _json,
    "CSV": _numbered("{0},n{1},ok", "id,name,state\n"),
}
"""By kind what writes a text of about so many characters."""


_OF_TEXT: dict[str, Callable[[str], object]] = {
    "str": str,
    **dict.fromkeys(("Iterable[str]", "Sequence[str]", "Collection[str]"), str.split),
    "Message": partial(Message, "user"),
}
"""By annotation what makes such an argument of a text."""


class Case(NamedTuple):
    """One function with one kind of input; ``make`` gives, for a source of randomness and a size, the timed call."""

    name: str
    kind: str
    unit: str
    make: Callable[[random.Random, int], Callable[[], object]]


class Growth(NamedTuple):
    """How a case grows: a size, the CPU seconds there, and the exponent from there on; None: too fast to tell."""

    size: int
    seconds: float
    exponent: float | None


def _messages(rng: random.Random, size: int) -> tuple[Message, ...]:
    turns = generate_turns(max(1, size // 2), seed=rng.randrange(9999))
    return tuple(each for turn in turns for each in (Message("user", turn.user), Message("assistant", turn.assistant)))


def _public_functions() -> Iterator[Case]:
    """Yield the public functions of the core whose one required argument is a text, texts or messages."""
    for info in pkgutil.walk_packages(gatekeeper_core.__path__, "gatekeeper_core."):
        if info.name == "gatekeeper_core.data_files":  # it reads our own files by their names
            continue
        module = importlib.import_module(info.name)
        for name, function in vars(module).items():
            if name.startswith("_") or not inspect.isfunction(function) or function.__module__ != info.name:
                continue
            needed = [each for each in inspect.signature(function).parameters.values() if each.default is each.empty]
            if len(needed) != 1 or needed[0].kind >= inspect.Parameter.KEYWORD_ONLY:
                continue
            named, annotation = f"{info.name.removeprefix('gatekeeper_core.')}.{name}", str(needed[0].annotation)
            if of_text := _OF_TEXT.get(annotation):
                for kind, text in TEXTS.items():
                    make = lambda rng, size, text=text, of_text=of_text: of_text(text(rng, size))  # noqa: E731
                    yield Case(named, kind, "characters", partial(_bound, function, make))
            elif annotation in ("Iterable[Message]", "Sequence[Message]", "tuple[Message, ...]"):
                for kind, messages in (("talk", _messages), ("a run of tools", _run)):
                    yield Case(named, kind, "messages", partial(_bound, function, messages))


def _bound(
    function: Callable[[Any], object], make: Callable[[random.Random, int], object], rng: random.Random, size: int
) -> Callable[[], object]:
    """Return the call with an argument that is made before it; what it yields is drawn."""
    argument = make(rng, size)

    def call() -> object:
        result = function(argument)
        return sum(1 for _ in result) if inspect.isgenerator(result) else result

    return call


def _run(rng: random.Random, size: int) -> tuple[Message, ...]:
    """Return a question and rounds of tools, about so many messages."""
    result = [Message("user", "Find out what is wrong with the deployment.")]
    for at in range(max(1, size // 2)):
        result.append(Message("assistant", "", tool_calls=(ToolCall(f"c{at}", "bash", f'{{"command": "step {at}"}}'),)))
        result.append(Message("tool", TEXTS["log"](rng, 400), tool_call_id=f"c{at}"))
    return tuple(result)


def _pairs(rng: random.Random, size: int) -> list[tuple[str, str]]:
    return [(turn.user, turn.assistant) for turn in generate_turns(max(1, size // 2), seed=rng.randrange(9999))]


def _select(rng: random.Random, size: int) -> Callable[[], object]:
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(_pairs(rng, size))
    return partial(gatekeeper.select, "Which port did we say, and why? 我们说的是哪个端口？")


def _build_again(rng: random.Random, size: int) -> Callable[[], object]:
    builder, thread = ContextBuilder(), Thread("t", _messages(rng, size))
    builder.build(thread, "Which port?", "Be brief.")
    return partial(builder.build, thread, "And the host?", "Be brief.")


def _memories(rng: random.Random, size: int) -> Callable[[], object]:
    memory, scope = LongTermMemory(InMemoryStore()), MemoryScope("acme", "ann")
    for user, _ in _pairs(rng, size):
        memory.add(scope, user, category="fact")
    return partial(memory.search, scope, "Which port did we say? 哪个端口？")


def _dicts(rng: random.Random, size: int) -> list[dict[str, Any]]:
    return [message.to_dict() for message in _messages(rng, size)]


def _read_file(rng: random.Random, size: int) -> Callable[[], object]:
    written = json.dumps(_dicts(rng, size))
    return lambda: read_conversation(BytesIO(written.encode()), name="chat.json")


def _stream(piece: int, rng: random.Random, size: int) -> Callable[[], object]:
    line = b"data: " + TEXTS["one word"](rng, size).encode() + b"\n\n"
    return lambda: list(events(line[at : at + piece] for at in range(0, len(line), piece)))


_KEPT: dict[str, Callable[[random.Random, int], Callable[[], object]]] = {
    "ContextBuilder.build, first": lambda rng, size: partial(
        ContextBuilder().build, Thread("t", _messages(rng, size)), "Which port?", "Be brief."
    ),
    "ContextBuilder.build, again": _build_again,
    "ContextGatekeeper.select": _select,
    "ContextGatekeeper.sync": lambda rng, size: partial(ContextGatekeeper().sync, _pairs(rng, size)),
    "InMemoryStore.append_messages": lambda rng, size: partial(
        InMemoryStore().append_messages, "acme", "t", _messages(rng, size)
    ),
    "LongTermMemory.search": _memories,
    "read_conversation": _read_file,
    "read_messages": lambda rng, size: partial(read_messages, _dicts(rng, size)),
    "select_history": lambda rng, size: partial(select_history, _messages(rng, size), gatekeeper=ContextGatekeeper()),
}
"""What users hold objects for, and what reads messages as they are stored and sent."""


def cases() -> list[Case]:
    """Return all cases, by the name of their function."""
    kept = [Case(name, "talk", "messages", make) for name, make in _KEPT.items()]
    for shown, piece in (("whole", 2**20), ("by 64 bytes", 64)):
        kept.append(Case("chat events", f"one line, {shown}", "characters", partial(_stream, piece)))
    return sorted([*_public_functions(), *kept], key=lambda case: case.name)


def growth(case: Case, *, seed: int = SEED, size: int | None = None) -> Growth:
    """Measure a case from a size on, from the first at which it takes long enough if there is none."""

    def seconds(size: int) -> float:
        least = math.inf
        for again in range(_REPEATED):
            call = case.make(random.Random(f"{seed} {size} {again}"), size)
            begin = time.process_time()
            with suppress(GatekeeperError, ValueError):  # a refusal takes its time, too
                call()
            least = min(least, time.process_time() - begin)
        return least

    size = size or _START[case.unit]
    most = max(size, _MOST[case.unit] >> _DOUBLINGS)
    while (least := seconds(size)) < _LEAST_SECONDS and size < most:
        size *= 4 if 4 * least < _LEAST_SECONDS else 2
    if least < _LEAST_SECONDS:
        return Growth(size, least, None)
    return Growth(size, least, math.log2(seconds(size << _DOUBLINGS) / least) / _DOUBLINGS)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__)
    parser.add_argument("--only", default="", help="functions whose name holds this")
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"the greatest exponent ({LIMIT})")
    chosen = parser.parse_args(arguments)
    rows, above = [], 0
    for name, same in groupby((case for case in cases() if chosen.only in case.name), key=lambda case: case.name):
        settled = ((case, _settled(case, chosen.limit)) for case in same)
        case, grown = max(settled, key=lambda each: each[1].exponent or 0)
        above += (grown.exponent or 0) > chosen.limit
        shown = "-" if grown.exponent is None else f"{grown.exponent:.2f}"
        row = {"function": name, "worst with": case.kind, "size": grown.size, "unit": case.unit}
        rows.append({**row, "ms": f"{1e3 * grown.seconds:.1f}", "exponent": shown})
    report(chosen, "doubling", {"growth": rows})
    return 1 if above else 0


def _settled(case: Case, limit: float) -> Growth:
    """Return the growth of a case, measured again from larger sizes on where it is above the limit."""
    grown = growth(case)
    first = grown.size
    for again in (1, 2):
        if (grown.exponent or 0) > limit:
            print(f"{case.name}, {case.kind}, from {grown.size}: {grown.exponent:.2f}", file=sys.stderr, flush=True)
            once_more = growth(case, seed=SEED + again, size=first << again)
            grown = min(grown, once_more, key=lambda each: each.exponent or 0)
    return grown


if __name__ == "__main__":
    sys.exit(main())
