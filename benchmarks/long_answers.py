"""Long answers: does the one sentence that a question needs get through every door, and at how many tokens?

Run ``python -m benchmarks.long_answers [--counter cl100k] [--talks 20] [--whole]``. Each conversation
has six turns whose answers are thirty sentences long, in Chinese, English or both; the question goes back to one
sentence of one of them, never of the newest. What is measured is the past that is sent: through ``select_history``, the
LangChain middleware, the LlamaIndex memory and the context builder. ``--whole`` sends whole messages (``trim=False``).

* **needed**: conversations in which a message of the needed turn is sent; **sentence**: in which its sentence is.
* **tokens**: mean of the past that is sent; **turns**: how many turns that is.

The conversations are made here, from a seed.
"""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.budget import counter
from benchmarks.report import Row, options, report
from gatekeeper_core import (
    ContextBuilder,
    ContextBuilderConfig,
    ContextGatekeeper,
    GatekeeperConfig,
    HistoryConfig,
    Message,
    TokenCounter,
    select_history,
)
from gatekeeper_core.messages import group_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_FILE = Path(__file__).with_name("long_answers.tsv")
LANGUAGES = ("zh", "en", "mixed")
SEED = 20_261_122
SENTENCES = 30
TURNS = 6
BUDGET = 4000


class Subject(NamedTuple):
    """A topic, the user's opening, a question that goes back to it, the sentence that answers that, and the rest."""

    name: str
    opening: str
    question: str
    fact: str
    things: str  # of the rest of the answer, with "|" between


class LongTalk(NamedTuple):
    """A conversation, the turn that the question needs, and the sentence in it."""

    language: str
    messages: tuple[Message, ...]
    needed: int
    fact: str


@cache
def _language(name: str) -> tuple[list[Subject], list[str]]:
    """Return the subjects of a language, and empty sentences; mixed talks have the Chinese ones."""
    sections = _FILE.read_text(encoding="utf-8").split(f"[{name}]\n")
    lines = sections[1].partition("[")[0].splitlines()
    subjects = [Subject(*line.split("\t")) for line in lines if "\t" in line]
    return subjects, [line for line in lines if "\t" not in line] or _language("zh")[1]


def long_talks(count: int = 20) -> list[LongTalk]:
    """Return conversations with answers of thirty sentences, in the three languages by turns."""
    chance = random.Random(SEED)
    return [_talk(LANGUAGES[at % len(LANGUAGES)], chance) for at in range(count)]


def _talk(language: str, chance: random.Random) -> LongTalk:
    subjects, filler = _language(language)
    chosen = chance.sample(subjects, TURNS)
    needed = chance.randrange(TURNS - 1)
    messages = []
    for subject in chosen:
        sentences = []
        for sentence in chance.sample(filler, SENTENCES - 1):
            one, other = chance.sample(subject.things.split("|"), 2)
            sentences.append(sentence.format(x=subject.name, a=one, b=other))
        sentences.insert(chance.randrange(len(sentences)), subject.fact)
        messages += [Message("user", subject.opening), Message("assistant", (" " * (language == "en")).join(sentences))]
    messages.append(Message("user", chosen[needed].question))
    return LongTalk(language, tuple(messages), needed, chosen[needed].fact)


# --- the doors --------------------------------------------------------------------------------------------------------


def through_history(talk: LongTalk, count: TokenCounter, *, gatekeeper: GatekeeperConfig) -> list[str]:
    config = HistoryConfig(token_budget=BUDGET, passthrough_below=0, run=None)
    selector = ContextGatekeeper(config=gatekeeper, token_counter=count)
    view = select_history(talk.messages, gatekeeper=selector, config=config)
    replaced = dict(view.replaced)
    return [replaced.get(at, talk.messages[at]).text for at in view.kept][:-1]


def through_middleware(talk: LongTalk, count: TokenCounter, *, gatekeeper: GatekeeperConfig) -> list[str]:
    from benchmarks.adapters import wrapped
    from langchain_gatekeeper import GatekeeperMiddleware

    config = HistoryConfig(token_budget=BUDGET, gatekeeper=gatekeeper)
    middleware = GatekeeperMiddleware(config, token_counter=count, embedder=None)
    return [message.text for message in wrapped(talk.messages, middleware)][:-1]


def through_memory(talk: LongTalk, count: TokenCounter, *, gatekeeper: GatekeeperConfig) -> list[str]:
    from benchmarks.adapters import from_llama_index, to_llama_index
    from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer

    memory = GatekeeperMemoryBuffer.from_defaults(
        to_llama_index(talk.messages),
        tokenizer_fn=lambda text: [0] * count(text),
        config=HistoryConfig(token_budget=BUDGET, gatekeeper=gatekeeper),
        embedder=None,
    )
    return [message.text for message in from_llama_index(memory.get())][:-1]


def through_builder(talk: LongTalk, count: TokenCounter, *, gatekeeper: GatekeeperConfig) -> list[str]:
    from gatekeeper_core import Thread

    history = HistoryConfig(gatekeeper=gatekeeper)
    config = ContextBuilderConfig(history=history, enable_summary=False)
    builder = ContextBuilder(config, token_counter=count)
    built = builder.build(Thread("t", talk.messages), talk.messages[-1].text, "")
    return [
        message.text
        for message, part in zip(built.messages, built.trace.parts, strict=True)
        if part.part == "recent_messages"
    ]


DOORS: dict[str, Callable[..., list[str]]] = {
    "select_history": through_history,
    "GatekeeperMiddleware": through_middleware,
    "GatekeeperMemoryBuffer": through_memory,
    "ContextBuilder": through_builder,
}


def measured(
    talks: Sequence[LongTalk], door: Callable[..., list[str]], count: TokenCounter, *, gatekeeper: GatekeeperConfig
) -> Row:
    """Return what a door sends of the past, over all conversations."""
    needed = sentence = tokens = turns = 0
    for talk in talks:
        sent = door(talk, count, gatekeeper=gatekeeper)
        opening = group_turns(talk.messages)[talk.needed].user_text
        needed += opening in sent
        sentence += any(talk.fact in text for text in sent)
        tokens += sum(map(count, sent))
        turns += sum(message.role == "user" and message.text in sent for message in talk.messages[:-1])
    size = len(talks)
    return {"talks": size, "needed": needed, "sentence": sentence, "tokens": tokens / size, "turns": turns / size}


def main() -> None:
    parser = options(__doc__, counter="estimate")
    parser.add_argument("--talks", type=int, default=20)
    parser.add_argument("--whole", action="store_true", help="send whole messages")
    chosen = parser.parse_args()
    talks, count = long_talks(chosen.talks), counter(chosen.counter)
    config = GatekeeperConfig(trim=not chosen.whole)
    rows = [{"door": name, **measured(talks, door, count, gatekeeper=config)} for name, door in DOORS.items()]
    everything = sum(count(message.text) for talk in talks for message in talk.messages[:-1]) / len(talks)
    title = "Answers of thirty sentences: the past that is sent"
    report(chosen, "long_answers", {title: rows}, history=round(everything))


if __name__ == "__main__":
    main()
