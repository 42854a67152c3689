"""A run gives way by price: never dearer than everything, the same at every step, and all of it can be read again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.caching import LruCache
from gatekeeper_core.context.history.request import HistoryRequest
from gatekeeper_core.context.history.run import RunConfig, ShrunkRun, shrink_run
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.context import ResultContext
from gatekeeper_core.context.tool_results.pointers import pointers_in
from gatekeeper_core.context.tool_results.working_memory import WorkingMemory
from gatekeeper_core.messages import Message, common_beginning
from gatekeeper_core.pricing.cache import input_cost
from gatekeeper_core.pricing.prices import ModelPrices
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.tokens import count_message
from tests.loops import PROVIDERS, Holding, calls, outputs, pointer, result, rounds, user, violations

MARKED = ModelPrices(input=1.0, output=5.0, cache_read=0.1, cache_write=1.25, marked=True)
AUTOMATIC = ModelPrices(input=1.0, output=8.0, cache_read=0.25, cache_write=1.0, step_tokens=128)
UNCACHED = ModelPrices(input=1.0, output=5.0, cache_read=0.1, cache_write=1.0, min_cached_tokens=None)

PLENTY = 10**9


def first_words(message: Message, _: ResultContext) -> str:
    """Return a pointer and the beginning of a result, as a compressor with a working memory does."""
    number = int("".join(filter(str.isdigit, message.tool_call_id or "")) or "0")
    return f"{pointer(number % 2**16)} log\n{message.text[:80]}"


def loop(count: int, text: str = "日志 log line " * 80) -> list[Message]:
    """Return a question and rounds of about 1,000 characters."""
    return [user("为什么失败?"), *(one for at in range(count) for one in (calls(f"c{at}"), result(f"c{at}", text)))]


def shrunk(
    messages: Sequence[Message], prices: ModelPrices | None, *, room: int = PLENTY, **settings: Any
) -> ShrunkRun:
    """Return the run behind the question, counted in characters, behind 1,000 others."""
    before, kept = settings.pop("before_tokens", 1_000), settings.pop("kept", None)
    return shrink_run(
        messages,
        range(1, len(messages)),
        room=room,
        tokens_at=lambda at: count_message(messages[at], token_counter=len),
        token_counter=len,
        config=RunConfig(**{"compress_result": first_words, **settings}),
        request=HistoryRequest(query=messages[0].text),
        prices=prices,
        before_tokens=before,
        kept=kept,
    )


def sent(messages: Sequence[Message], run: ShrunkRun) -> list[Message]:
    """Return the question and the run as it is sent."""
    replaced, gone = dict(run.replaced), set(run.folded[1:])
    return [replaced.get(at, message) for at, message in enumerate(messages) if at not in gone]


def at_each_call(messages: Sequence[Message], shrink: Callable[[Sequence[Message]], ShrunkRun]) -> list[ShrunkRun]:
    """Return the run at each call of the model: at the question, and behind each round."""
    ends = [at for at in range(1, len(messages)) if messages[at].role == "assistant"] + [len(messages)]
    return [shrink(messages[:stop]) for stop in ends]


def bills(messages: Sequence[Message], runs: Sequence[ShrunkRun], prices: ModelPrices, before: int) -> list[float]:
    """Return for each call the running bill as a share of that of everything, by what the prompts have in common."""
    paid = everything = 0.0
    full, prompt, shares = before, list[Message](), []
    ends = [at for at in range(1, len(messages)) if messages[at].role == "assistant"] + [len(messages)]
    for run, stop in zip(runs, ends, strict=True):
        now = sent(messages[:stop], run)[1:]
        costs = [count_message(one, token_counter=len) for one in now]
        hit, tokens = before + sum(costs[: common_beginning(prompt, now)]), before + sum(costs)
        paid += input_cost(tokens, cached=hit, written_to=tokens, prices=prices)
        grown = before + sum(count_message(one, token_counter=len) for one in messages[1:stop])
        everything += input_cost(grown, cached=full, written_to=grown, prices=prices)
        full, prompt = grown, now
        shares.append(paid / everything if everything else 1.0)
    return shares


# --- when, and how far


def test_a_first_change_that_saves_less_than_a_third_is_not_made() -> None:
    messages = loop(20)
    assert shrunk(messages, UNCACHED, before_tokens=60_000).replaced == ()


def test_what_no_pointer_leads_back_to_stays() -> None:
    messages = loop(60)
    assert shrunk(messages, AUTOMATIC, compress_result=lambda message, _: message.text[:40]).replaced == ()
    ids = frozenset(pointers_in(" ".join(map(pointer, range(5, 50)))))
    assert shrunk(messages, AUTOMATIC, compress_result=Holding(ids, first_words)).replaced[0][0] == 2 * 5 + 2
    assert shrunk(messages, AUTOMATIC, compress_result=Holding((), first_words)).replaced == ()


def test_where_the_promise_allows_no_more_the_pointers_alone_stay() -> None:
    """The digests would have to be written as well, and come where there is enough to pay them from."""
    texts = [one.text for _, one in shrunk(loop(60, "日志 log line " * 300), MARKED).replaced]
    assert {len(text.split("\n")) for text in texts} == {1, 2}
    assert texts[0] == f"{pointer(0)} log"
    assert len(texts[-1].split("\n")) == 2


def test_the_beginning_up_to_the_stable_message_is_that_of_the_call_before() -> None:
    messages = loop(60)
    runs = at_each_call(messages, lambda part: shrunk(part, MARKED))
    found = 0
    for before, now in pairwise(runs):
        if now.stable is not None:
            assert messages[now.stable].role == "tool"
            assert sent(messages, now)[: now.stable + 1] == sent(messages, before)[: now.stable + 1]
            found += before.replaced != now.replaced
    assert found > 1
    assert shrunk(messages, None).stable is None


# --- promises


money = st.builds(
    ModelPrices,
    input=st.just(1.0),
    output=st.just(5.0),
    cache_read=st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]),
    cache_write=st.sampled_from([1.0, 1.25, 2.0]),
    min_cached_tokens=st.sampled_from([None, 1, 64, 1_024, 4_096]),
    step_tokens=st.sampled_from([1, 64, 128]),
)
sizes = st.lists(st.one_of(st.integers(0, 200), st.integers(200, 3_000)), min_size=1, max_size=40)
kept_rounds = st.integers(0, 4)


@given(sizes, money, st.integers(0, 6_000), kept_rounds, st.integers(0, 400), st.sampled_from(["日", "x", "日x "]))
def test_no_call_of_a_run_takes_the_bill_over_that_of_everything(
    lengths: list[int], prices: ModelPrices, before: int, keep: int, digest: int, text: str
) -> None:
    messages = [user("q")]
    for at, length in enumerate(lengths):
        messages += [calls(f"c{at}"), result(f"c{at}", (text * length)[:length])]

    def compress(message: Message, _: ResultContext) -> str:
        return f"{pointer(1)}\n{message.text[:digest]}"

    def shrink(part: Sequence[Message]) -> ShrunkRun:
        return shrunk(part, prices, before_tokens=before, keep_recent_rounds=keep, compress_result=compress)

    shares = bills(messages, at_each_call(messages, shrink), prices, before)
    assert max(shares) <= 1.02 + 1e-9


@st.composite
def agent_runs(draw: st.DrawFn) -> list[Message]:
    messages = [user("为什么 why?")]
    for number in range(draw(st.integers(1, 6))):
        messages += draw(rounds(f"{number}"))
        messages += [calls(f"long{number}"), result(f"long{number}", draw(outputs) + "日志 line " * 40)]
    return messages


@given(agent_runs(), money, kept_rounds, st.one_of(st.integers(100, 3_000), st.just(PLENTY)))
def test_a_run_resumed_at_any_step_sends_the_same_and_keeps_results_behind_their_calls(
    messages: list[Message], prices: ModelPrices, keep: int, room: int
) -> None:
    """002-25."""
    memory = WorkingMemory(InMemoryBlobStore(), b"0123456789abcdef")
    going_on = ToolResultCompressor(working_memory=memory, token_counter=len)
    step: LruCache[Any, Any] = LruCache(max_entries=1)
    before: ShrunkRun | None = None
    for stop in range(1, len(messages) + 1):
        part = messages[:stop]
        resumed = ToolResultCompressor(working_memory=memory, token_counter=len)
        run, again = (
            shrunk(part, prices, room=room, keep_recent_rounds=keep, before_tokens=300, compress_result=way, kept=kept)
            for way, kept in ((going_on, step), (resumed, None))
        )
        assert run == again
        for provider in PROVIDERS:
            if not violations(part, provider):
                assert violations(sent(part, run), provider) == []
        if before is not None:
            assert run.folded[: len(before.folded)] == before.folded
            if room == PLENTY:
                assert run.replaced[: len(before.replaced)] == before.replaced
        before = run


@given(agent_runs(), st.lists(st.tuples(agent_runs(), st.integers(100, 3_000)), min_size=2, max_size=3), money)
def test_another_run_or_room_does_not_go_on_from_the_step_before(
    run: list[Message], others: list[tuple[list[Message], int]], prices: ModelPrices
) -> None:
    step: LruCache[Any, Any] = LruCache(max_entries=1)
    twice_answered = [*run, run[-1], calls("c"), result("c", "日志"), calls("d"), result("d", "log")]
    parts = ((run[:-4], 900), (run, 900), *others, (run, 900), (run, 500), (twice_answered, 500), (run[:-2], 500))

    def compress(message: Message, context: ResultContext) -> str:
        return f"{first_words(message, context)} {context.tool_name}"

    for messages, room in parts:
        again = shrunk(messages, prices, room=room, compress_result=compress)
        assert shrunk(messages, prices, room=room, compress_result=compress, kept=step) == again
