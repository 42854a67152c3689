"""The context builder: how much of what a question needs stands in the prompt, and what the prompt costs.

Run ``python -m benchmarks.builder --data DIR``, where ``DIR/selection`` holds labelled conversations. Each question is
asked at the end of its conversation, as if none had been asked before, and the prompt is built with each kind of
history. ``recall`` is the mean over questions of (evidence that is sent as it was said, or told inside the question /
evidence), in per cent; ``all-hit`` the share of questions of which all evidence is. ``tokens`` are those of the whole
prompt: system prompt, summary, turns, question and pin. ``ms`` is the median CPU time of a build after the first of its
conversation. What the strategy ``cache`` costs from question to question, ``python -m benchmarks.cost`` measures.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

from benchmarks.budget import counter
from benchmarks.data import read_locomo, sampled
from benchmarks.peers import trimmer
from benchmarks.report import Row, options, report
from benchmarks.selection import QUICK_CONVERSATIONS, QUICK_QUESTIONS, Tally
from gatekeeper_core.context.history.selector import POLICY_KIND
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.policy import CachedPrompt, PolicyState
from gatekeeper_core.storage.base import DerivedRecord
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_core.tokens import count_messages

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from benchmarks.data import Conversation
    from gatekeeper_core import TokenCounter

    Method = Callable[[str], tuple[Collection[int], int]]
    """Answers a question with the positions of the messages that are sent, and the tokens of the prompt."""

SYSTEM = "Answer from the conversation."
WINDOW_TOKENS = (1_000, 4_000, 12_000)
METHODS: Mapping[str, Mapping[str, Any]] = {
    "three newest turns (default)": {},
    "no newest turns": {"history": HistoryConfig()},
    "turns alone": {"enable_summary": False, "enable_instruction_pinning": False},
    "window of 20 rounds": {"history": HistoryConfig(strategy="window")},
}
PEER = "trim_messages, newest {} tokens"
FULL = "full history"


def messages_of(conversation: Conversation) -> list[Message]:
    pairs = ((("user", block.user), ("assistant", block.assistant)) for block in conversation.blocks)
    return [Message(role, text) for pair in pairs for role, text in pair]  # type: ignore[arg-type]


class _NothingAsked(InMemoryStore):
    """A store in which nothing was ever asked of a thread: each call is the first one that the policy knows of."""

    def load_record(self, tenant: str, thread: str, kind: str, /) -> DerivedRecord | None:
        """Return a record; for the policy one that says so, newer than any other."""
        if kind == POLICY_KIND:
            return DerivedRecord(
                json.dumps(PolicyState(cache=CachedPrompt(called_at=sys.float_info.max)).to_dict()), -1, 1
            )
        return super().load_record(tenant, thread, kind)


def ours(conversation: Conversation, count: TokenCounter, settings: Mapping[str, Any]) -> Method:
    messages = tuple(messages_of(conversation))
    config = ContextBuilderConfig(locale="en", **settings)
    builder = ContextBuilder(config, store=_NothingAsked(), token_counter=count)
    thread = Thread(conversation.name, messages)

    def ask(question: str) -> tuple[Collection[int], int]:
        built = builder.build(thread, question, SYSTEM)
        sent_fates = (one for one in built.trace.fates if one.fate in ("sent", "changed", "recalled"))
        return [seq for one in sent_fates for seq in range(one.start, one.stop)], built.token_stats.total

    return ask


def everything(conversation: Conversation, count: TokenCounter) -> Method:
    messages = messages_of(conversation)
    full_tokens = count_messages(messages, token_counter=count) + count(SYSTEM)
    return lambda question: (range(len(messages)), full_tokens + count(question))


def newest(conversation: Conversation, count: TokenCounter, max_tokens: int) -> Method:
    messages, trim = [Message("system", SYSTEM), *messages_of(conversation)], trimmer(lambda each: count(each.text))

    def ask(question: str) -> tuple[Collection[int], int]:
        question_tokens = count(question)
        sent = trim(messages, max_tokens=max_tokens - question_tokens, include_system=True, start_on="human")
        return [at - 1 for at in sent if at], sum(count(messages[at].text) for at in sent) + question_tokens

    return ask


def measure(
    conversations: Sequence[Conversation], method: Callable[[Conversation], Method], questions: int | None
) -> dict[str, float]:
    tally, times = Tally(), []
    for conversation in conversations:
        ask = method(conversation)
        for at, question in enumerate(sampled(conversation.questions, questions)):
            began = process_time()
            sent, tokens = ask(question.text)
            if at:
                times.append(process_time() - began)
            sent_fates = {name for position in sent for name in conversation.blocks[position // 2].ids}
            tally.add(question.evidence, sent_fates, tokens)
    row = tally.row()
    return {
        "recall": row["verbatim"],
        "all-hit": row["all-hit"],
        "tokens": row["tokens"],
        "ms": 1000 * median(times) if times else 0.0,
    }


def run(
    conversations: Sequence[Conversation], count: TokenCounter, *, questions: int | None = None, peers: bool = True
) -> list[Row]:
    methods: dict[str, Callable[[Conversation], Method]] = {
        name: lambda one, settings=settings: ours(one, count, settings)  # type: ignore[misc]
        for name, settings in METHODS.items()
    }
    if peers:
        methods[FULL] = lambda one: everything(one, count)
        if find_spec("langchain_core"):
            for limit in WINDOW_TOKENS:
                methods[PEER.format(f"{limit:,}")] = lambda one, limit=limit: newest(one, count, limit)  # type: ignore[misc]
    return [{"method": name, **measure(conversations, method, questions)} for name, method in methods.items()]


def main() -> None:
    parser = options(__doc__, data="selection/locomo_dev.jsonl", counter="estimate")
    chosen = parser.parse_args()
    conversations = read_locomo(chosen.data / "selection" / "locomo_dev.jsonl")
    conversations = sampled(conversations, QUICK_CONVERSATIONS if chosen.quick else None)
    questions = QUICK_QUESTIONS if chosen.quick else None
    rows = run(conversations, counter(chosen.counter), questions=questions, peers=not chosen.ours_only)
    report(chosen, "builder", {"Prompts for questions to a long conversation": rows})


if __name__ == "__main__":
    main()
