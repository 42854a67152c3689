"""Doors: are the needed turns in the prompt once the history no longer fits, whichever adapter makes it?

Run ``python -m benchmarks.doors --data DIR``, where ``DIR/everyday`` holds the conversations of
:mod:`benchmarks.talks`. :mod:`benchmarks.cost_talks` joins them to seeded sessions with all their questions, answers
stretched to ``--size`` tokens a turn, several times as long as the largest budget. Each session goes through each door
from its first turn on, so that a door remembers what it sent before. Counted are the questions with a history over the
budget:

* **needed**: mean share of the needed turns of which the prompt has a sentence that only this turn has, in any form:
  whole, cut, or inside the question. **tokens**: mean of what is sent beside the question.

Then 48 chats of 30 turns over twelve topics, without a budget: ``in topic`` and ``new topic`` are the turns of other
topics that are sent beside a follow-up and beside a question on something new, ``returns`` the share of the questions
back to an earlier topic whose needed turns are all there. The weights are those of the other group of authors; the
doors have the packaged ones, which are fitted on both.

Last the sessions as chats of an agent: three of five answers, of their own length, follow a long result of a tool.
``whole`` is the share of the needed turns of which the prompt has every sentence.

The doors find turns by words alone, with or without the extra ``meaning``.

Exit status 1 where the default has fewer needed turns than the newest messages at the same budget.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections import Counter
from dataclasses import replace
from itertools import accumulate, chain, product
from typing import TYPE_CHECKING, Any

from benchmarks.budget import counter
from benchmarks.cost_talks import sessions
from benchmarks.everyday import cross_fitted
from benchmarks.peers import trimmer
from benchmarks.report import Row, Tables, options, print_table, settings_of, write_json
from benchmarks.talks import GOING_BACK, HANGING, read_everyday
from gatekeeper_core import (
    ContextGatekeeper,
    HistoryConfig,
    Message,
    ThreadState,
    TokenCounter,
    keep,
    prices_of_model,
    select_history,
)
from gatekeeper_core.messages import ToolCall
from gatekeeper_core.text import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks import talks as labelled
    from benchmarks.cost_talks import Talk

    Door = Callable[[Talk, TokenCounter, HistoryConfig], Iterator[list[str]]]

FILES = {"everyday_dev.jsonl": "second", "everyday_second.jsonl": "first"}
"""By file the authors whose conversations the weights of its topics are fitted on."""

LANGUAGES = ("en", "zh", "mixed")
DEFAULT = "gate (default)"
WAYS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "gate, coverage .7": {"coverage": 0.7},
    "fill": {"strategy": "fill"},
    "cache, claude-sonnet-4-5": {"strategy": "cache", "prices": prices_of_model("claude-sonnet-4-5")},
}
TOPICS, TOPIC_CHATS, QUICK_CHATS = 12, 48, 4
TOOL_SHARE, RESULT_LINES = 0.6, 35
SHORTEST_SIGN = 8
"""Characters of a sentence that tells its turn from the others."""


def through_history(talk: Talk, count: TokenCounter, config: HistoryConfig) -> Iterator[list[str]]:
    """Yield for each question the texts that ``select_history`` keeps, with the state of the call before."""
    gatekeeper, state = ContextGatekeeper(token_counter=count), ThreadState()
    for call in talk.calls:
        messages = talk.prompt(call)
        view = select_history(messages, gatekeeper=gatekeeper, config=config, state=state)
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
    middleware = [GatekeeperMiddleware(config, token_counter=count, embedder=None)]
    agent: Any = create_agent(model, middleware=middleware, checkpointer=InMemorySaver())
    for question, _ in exchanges(talk):
        agent.invoke({"messages": [("user", question)]}, {"configurable": {"thread_id": "session"}})
        yield list(prompt)


def through_chat_memory(talk: Talk, count: TokenCounter, config: HistoryConfig) -> Iterator[list[str]]:
    """Yield what ``GatekeeperChatMemory`` loads for each question, with the question behind it."""
    from langchain_gatekeeper import GatekeeperChatMemory

    warnings.filterwarnings("ignore", "The class `InMemoryChatMessageHistory` was deprecated")
    memory = GatekeeperChatMemory(config=config, token_counter=count, return_messages=True, embedder=None)
    for question, answer in exchanges(talk):
        loaded = memory.load_memory_variables({"input": question})["history"]
        yield [*(message.text for message in loaded), question]
        memory.save_context({"input": question}, {"output": answer})


def through_buffer(talk: Talk, count: TokenCounter, config: HistoryConfig) -> Iterator[list[str]]:
    from llama_index.core.base.llms.types import ChatMessage

    from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer

    options: Row = {"config": config, "tokenizer_fn": lambda text: [0] * count(text), "embedder": None}
    memory = GatekeeperMemoryBuffer.from_defaults(**options)
    for question, answer in exchanges(talk):
        memory.put(ChatMessage(question, role="user"))
        yield [message.content or "" for message in memory.get()]
        memory.put(ChatMessage(answer, role="assistant"))


def through_window(talk: Talk, count: TokenCounter, config: HistoryConfig) -> Iterator[list[str]]:
    """Yield what ``trim_messages`` leaves: the newest messages that fit, from a human one on."""
    trim = trimmer(lambda message: count(message.text))
    for call in talk.calls:
        kept = trim(talk.prompt(call), max_tokens=config.token_budget, start_on="human")
        yield [talk.messages[at].text for at in kept]


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


def sentences_of(talk: Talk) -> list[set[str]]:
    """Return the sentences of each turn."""
    return [
        {text[span.start : span.stop].strip() for text in turn for span in sentences(text)} for turn in exchanges(talk)
    ]


def signs(talk: Talk) -> list[set[str]]:
    """Return for each turn the sentences that no other turn has."""
    spoken = sentences_of(talk)
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
    """Return a row for each door and way, with columns for each budget."""
    rows: list[Row] = [{"door": name, "way": way} for name, way in product(DOORS, WAYS)]
    rows += [{"door": "trim_messages", "way": "newest messages"}] if peers else []
    for row in rows:
        for budget in budgets:
            config = HistoryConfig(token_budget=budget, on_error="raise", **WAYS.get(row["way"], {}))
            needed, tokens = measured(talks, DOORS.get(row["door"], through_window), config, count=count)
            row |= {f"needed {budget}": needed, f"tokens {budget}": tokens}
    return rows


def agent_chat(talk: Talk, seed: int) -> Talk:
    """Return a session in which three of five answers follow a call of a tool with a result of about 400 tokens."""
    draw, messages, stops = random.Random(seed), list[Message](), dict[int, int]()
    for at, (question, answer) in enumerate(exchanges(talk)):
        messages.append(Message("user", question))
        stops[2 * at + 1] = len(messages)
        if draw.random() < TOOL_SHARE:
            lines = (
                f"berth {draw.randrange(10**6)} crane {draw.randrange(10**4)} status ok" for _ in range(RESULT_LINES)
            )
            messages.append(Message("assistant", "", tool_calls=(ToolCall(f"c{at}", "lookup", "{}"),)))
            messages.append(Message("tool", "\n".join(lines), tool_call_id=f"c{at}"))
        messages.append(Message("assistant", answer))
    calls = tuple(call._replace(stop=stops[call.stop]) for call in talk.calls)
    return replace(talk, messages=tuple(messages), calls=calls)


def agent_table(talks: Sequence[Talk], budgets: Sequence[int], *, peers: bool, count: TokenCounter) -> list[Row]:
    """Return the needed turns that are whole in the prompts of agents over the budget, in per cent, and the tokens."""
    rows: list[Row] = [{"door": "select_history", "way": DEFAULT}]
    rows += [{"door": "trim_messages", "way": "newest messages"}] if peers else []
    for row, budget in product(rows, budgets):
        door, config = DOORS.get(row["door"], through_window), HistoryConfig(token_budget=budget, on_error="raise")
        whole, tokens = list[bool](), list[int]()
        for seed, talk in enumerate(talks):
            chat, turns = agent_chat(talk, seed), sentences_of(talk)
            before = list(accumulate((count(message.text) for message in chat.messages), initial=0))
            for call, texts in zip(chat.calls, door(chat, count, config), strict=True):
                if before[call.stop] > budget:
                    prompt = "\n".join(texts)
                    tokens.append(count(prompt))
                    whole += [any(all(one in prompt for one in turns[turn]) for turn in group) for group in call.needed]
        row |= {f"whole {budget}": 100 * sum(whole) / len(whole), f"tokens {budget}": sum(tokens) / len(tokens)}
    return rows


def topic_chats(talks: Sequence[labelled.Talk], language: str, *, seed: int) -> tuple[list[Message], list[int], Row]:
    """Return a chat of about 30 turns over twelve topics, the topic of each turn, and three questions with their needs.

    Each topic is the beginning of a conversation; where those of the language do not suffice, the others follow. The
    questions are a follow-up in the last topic, the first message of another conversation, and a question back to an
    earlier topic.
    """
    draw = random.Random(seed)
    pool = [talk for talk in talks if talk.language == language and len(talk.blocks) >= 3]
    draw.shuffle(pool)
    follow_ups = [(talk, one) for talk in pool for one in talk.questions if one.kind in HANGING and 1 <= one.after <= 4]
    last, follow_up = draw.choice([pair for pair in follow_ups if pair[1].needed])
    others = [talk for talk in (*pool, *(talk for talk in talks if talk not in pool)) if talk is not last]
    parts = [(talk, 3 - at % 2) for at, talk in enumerate(others[: TOPICS - 1])] + [(last, follow_up.after)]
    messages, topics = list[Message](), list[int]()
    for topic, (talk, turns) in enumerate(parts):
        for block in talk.blocks[:turns]:
            messages += [Message("user", block.user), Message("assistant", block.assistant)]
            topics.append(topic)
    back = [
        (topics.index(topic), turns, one)
        for topic, (talk, turns) in enumerate(parts[: TOPICS // 2])
        for one in talk.questions
        if one.kind in GOING_BACK and one.needed and max(group[0] for group in one.needed) < turns
    ]
    first, turns, going_back = draw.choice(back)
    needed = [{first + turn for turn in group if turn < turns} for group in going_back.needed]
    questions = {"in topic": follow_up.text, "new topic": others[TOPICS].blocks[0].user, "returns": going_back.text}
    return messages, topics, {"asked": questions, "needed": needed}


def topic_rows(talks: Sequence[labelled.Talk], fitted_on: str, count: TokenCounter, *, chats: int) -> list[Row]:
    """Return what each way sends of other topics, mean over the chats, and the share of returns that is found."""
    rows = []
    for way, settings in WAYS.items():
        config = HistoryConfig(on_error="raise", **settings)
        sums = Counter[str]()
        for seed in range(chats):
            messages, topics, drawn = topic_chats(talks, ("zh", "en")[seed % 2], seed=seed)
            for name, question in drawn["asked"].items():
                listed = [*messages, Message("user", question)]
                gatekeeper = cross_fitted(ContextGatekeeper(token_counter=count), fitted_on)
                view = select_history(listed, config=config, gatekeeper=gatekeeper)
                sums[f"tokens, {name}"] += view.tokens
                if name == "returns":
                    sums[name] += 100 * all(group.intersection(view.turns) for group in drawn["needed"])
                else:
                    active = topics[-1] if name == "in topic" else None
                    sums[name] += sum(topics[turn] != active for turn in view.turns)
        rows.append({"way": way, **{name: total / chats for name, total in sums.items()}})
    return rows


def main() -> int:
    parser = options(__doc__, data="everyday/everyday_dev.jsonl and everyday_second.jsonl", counter="estimate")
    parser.add_argument("--budgets", nargs="+", type=int, default=(1500, 3000, 4000), help="tokens (1500 3000 4000)")
    parser.add_argument("--turns", type=int, default=40, help="turns of a session (40)")
    parser.add_argument("--size", type=int, default=300, help="tokens a turn (300)")
    parser.add_argument("--seeds", type=int, default=2, help="sessions of each language and file (2)")
    chosen = parser.parse_args()
    count = counter(chosen.counter)
    drawn = list(product(LANGUAGES, range(chosen.seeds)))[-1 if chosen.quick else 0 :]
    shape: dict[str, Any] = {"turns": chosen.turns, "count": count}
    tables: Tables = {}
    for file, fitted_on in FILES.items():
        everyday = read_everyday(chosen.data / "everyday" / file)
        talks, short = (
            [sessions(everyday, language=language, seed=seed, tokens=tokens, **shape) for language, seed in drawn]
            for tokens in (chosen.size, 0)
        )
        tables[file] = table(talks, chosen.budgets, peers=not chosen.ours_only, count=count)
        print_table(f"{file}: needed turns in per cent, tokens", tables[file], markdown=chosen.markdown)
        rows = topic_rows(everyday, fitted_on, count, chats=QUICK_CHATS if chosen.quick else TOPIC_CHATS)
        tables[f"{file}, topics"] = rows
        print_table(f"{file}: 30 turns over 12 topics", rows, markdown=chosen.markdown)
        rows = agent_table(short, chosen.budgets[:2], peers=not chosen.ours_only, count=count)
        tables[f"{file}, agents"] = rows
        print_table(f"{file}: chats of an agent, needed turns whole in per cent", rows, markdown=chosen.markdown)
    write_json(chosen.json, "doors", settings_of(chosen), tables)
    return int(any(map(is_below, tables.values())))


def is_below(rows: Sequence[Row]) -> bool:
    """Return whether the default has fewer needed turns than the newest messages at some door and budget."""
    peers = [row for row in rows if row.get("door") == "trim_messages"]
    ours = [row for row in rows if row["way"] == DEFAULT]
    budgets = {name for row in peers for name in row if name.startswith(("needed ", "whole "))}
    return any(row[name] < peer[name] for row in ours for peer in peers for name in budgets)


if __name__ == "__main__":
    sys.exit(main())
