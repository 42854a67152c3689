"""The promises of the library, on conversations that hypothesis makes up.

Small vocabularies on purpose: turns must share words, repeat one another, change topics and come back.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper_core import ContextGatekeeper, GatekeeperConfig
from gatekeeper_core.context.memory.summary_record import Summary, SummaryItem, fit_summary
from gatekeeper_core.context.memory.summary_sentences import sentence_weight
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.pricing.cache import input_cost
from gatekeeper_core.pricing.prices import UNKNOWN
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.selection.cues import without_cues
from gatekeeper_core.selection.result import Selection
from gatekeeper_core.selection.trimming import GAP
from gatekeeper_core.text import sentences
from gatekeeper_core.token_estimate import TokenEstimator, budget_within
from gatekeeper_core.tokens import estimate_text_tokens
from gatekeeper_core.vectors import cosine
from tests.case_files import rows
from tests.gatekeeper_state import state_of
from tests.tiny_embedder import TinyEmbedder
from tests.verbatim import end_of_stretch

Pairs = list[tuple[str, str]]

COUNTERS: dict[str, Callable[[str], int]] = {
    "estimate": estimate_text_tokens,
    "default": TokenEstimator(),
    "characters": len,
    "words": lambda text: len(text.split()),
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "heavy": lambda text: 3 * len(text) + 5,
    "rounded up": lambda text: math.ceil(len(text) / 4),
    "nothing": lambda text: 0,
}

TINY = TextEncoder(TinyEmbedder(), timeout_seconds=60.0)

[[WORDS]] = rows("promises", "words")

fragments = st.lists(st.sampled_from(WORDS), max_size=14)
texts = st.one_of(
    fragments.map(" ".join),
    fragments.map("".join),
    st.tuples(fragments, st.integers(1, 40)).map(lambda pair: "".join(pair[0]) * pair[1]),
    st.text(max_size=30),
)
conversations = st.lists(st.tuples(texts, texts), max_size=12)
chosen_strategies = st.sampled_from(["gate", "fill"])
counters = st.sampled_from(sorted(COUNTERS))
budgets = st.one_of(st.integers(1, 60), st.integers(1, 3_000))


def gatekeeper_of(
    turns: Pairs, *, token_budget: int = 4000, strategy: str = "gate", counter: str = "estimate"
) -> ContextGatekeeper:
    config = GatekeeperConfig(strategy=strategy)  # type: ignore[arg-type]
    gatekeeper = ContextGatekeeper(token_budget, config=config, token_counter=COUNTERS[counter])
    for user, assistant in turns:
        gatekeeper.add_turn(user, assistant)
    return gatekeeper


def assert_sentences_of(part: str, text: str, gap: str) -> None:
    """Every piece between two marks is a stretch of whole sentences, in order; or the whole is one cut sentence."""
    spans = sentences(text)
    if len(spans) < 2:
        assert text.lstrip().startswith(part.lstrip().removesuffix(gap.rstrip()).removesuffix(gap.strip()))
        return
    at = 0
    for piece in part.split(gap):
        piece = piece.removeprefix(gap.lstrip()).removesuffix(gap.rstrip()).strip()
        if not piece:
            continue
        at = end_of_stretch(piece, text, after=at)


# --- within budget


@given(conversations, texts, budgets, chosen_strategies, counters)
def test_a_selection_never_costs_more_than_its_budget(
    turns: Pairs, query: str, budget: int, strategy: str, counter: str
) -> None:
    """000-34, 000-55: any conversation, any budget, any counter, both chosen_strategies; the counter confirms it."""
    count = COUNTERS[counter]
    selection = gatekeeper_of(turns, token_budget=budget, strategy=strategy, counter=counter).explain(query)
    assert selection.token_budget == budget
    assert selection.tokens == sum(turn.tokens for turn in selection.turns) <= budget_within(count, budget) <= budget
    assert (selection.margin > 0) == (counter == "default")
    assert sum(count(turn.user) + count(turn.assistant) for turn in selection.turns) <= budget
    for turn in selection.turns:
        assert turn.tokens == max(1, count(turn.user) + count(turn.assistant))


@pytest.mark.parametrize("margin", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("word", ["Redis 缓存", "the Redis cache", "Redis 的 cache"])
def test_the_margin_is_kept_free_once_and_the_rest_is_used(margin: float, word: str) -> None:
    """003-23: of a budget that many equal turns could fill, all is used but the margin."""
    config = GatekeeperConfig(strategy="fill")
    gatekeeper = ContextGatekeeper(400, config=config, token_counter=TokenEstimator(margin=margin))
    gatekeeper.sync([(f"{word} {at}?", f"{word} {at}") for at in range(200)])
    selection = gatekeeper.explain(word)
    assert (selection.token_budget, selection.margin) == (400, margin)
    within = 400 / (1 + margin)
    assert within - 30 < selection.tokens <= within


@given(conversations, texts, budgets, chosen_strategies)
def test_a_budget_for_one_call_is_kept_as_the_configured_one_is(
    turns: Pairs, query: str, budget: int, strategy: str
) -> None:
    """000-55: ``explain(token_budget=...)`` is the same selection as a gatekeeper with this budget gives."""
    one = gatekeeper_of(turns, strategy=strategy).explain(query, token_budget=budget)
    other = gatekeeper_of(turns, token_budget=budget, strategy=strategy).explain(query)
    assert one.to_dict() == other.to_dict()


# --- a wrong verdict is cheap


TURNS = [
    ("Redis 用哪个端口？", "Redis 用 6380 端口，密码在 vault 里。"),
    ("我们的缓存穿透怎么防？", "用布隆过滤器，缓存空值 60 秒。"),
    ("The api-gateway returns ERR-4035, why?", "ERR-4035 means the upstream certificate expired."),
]
QUESTIONS = ["Redis 的端口是 6380 吗？", "布隆过滤器防缓存穿透", "What exactly does ERR-4035 mean?"]
FILLER = st.lists(
    st.sampled_from(
        [("How long does sourdough proof?", "Twelve hours."), ("红烧肉炖多久？", "一个小时。"), ("Nice.", "Yes.")]
    ),
    min_size=1,
    max_size=8,
)


@given(
    st.integers(0, 2),
    FILLER,
    st.sampled_from(["", "Different topic: ", "换个话题，", "这个先不管，"]),
    st.integers(60, 600),
)
def test_a_turn_that_holds_most_of_a_question_survives_any_verdict(
    at: int, filler: Pairs, opening: str, budget: int
) -> None:
    """000-19b, 000-30: whatever the gate says, and however many newer turns there are."""
    turns = [TURNS[at], *filler]
    selection = gatekeeper_of(turns, token_budget=budget).explain(opening + QUESTIONS[at])
    assert 0 in {turn.turn_id for turn in selection.turns}, selection.gate


# --- order and wording


weights = st.sampled_from([0, 0.2, 1.5])
shares = st.sampled_from([0, 0.5, 1])
configs = st.builds(
    GatekeeperConfig,
    coverage=shares,
    user_weight=weights,
    assistant_weight=weights,
    exact_weight=weights,
    recency_weight=weights,
    candidates=st.sampled_from([1, 20]),
    continue_above=st.just(1),
    switch_below=shares,
    new_above=shares,
)


@example(
    [("", "Redis"), ("Redis", "cache")],
    "",
    1,
    GatekeeperConfig(coverage=0.0, user_weight=0, assistant_weight=0.2, exact_weight=0, recency_weight=0, candidates=1),
)
@example(
    [("Which port does Redis use?", "6379"), ("And the Redis password?", "none")],
    "Redis port?",
    300,
    GatekeeperConfig(user_weight=0, assistant_weight=0, exact_weight=0, recency_weight=0),
)
@example(
    [("Redis", "6379"), ("New topic: how long does sourdough proof?", "5 hours"), ("And the oven?", "230")],
    "Back to redis",
    300,
    GatekeeperConfig(user_weight=0, assistant_weight=0, exact_weight=0),
)
@example(
    [("cache", ""), ("Redis", "cache")],
    "cache",
    300,
    GatekeeperConfig(user_weight=0.2, assistant_weight=0, exact_weight=0, recency_weight=0),
)
@given(conversations, texts, st.integers(1, 300), configs)
def test_any_settings_that_are_allowed_give_a_selection_within_the_budget(
    turns: Pairs, query: str, budget: int, config: GatekeeperConfig
) -> None:
    """000-55: weights of nothing, one candidate, thresholds at both ends."""
    gatekeeper = ContextGatekeeper(budget, config=config, token_counter=estimate_text_tokens)
    gatekeeper.sync(turns)
    selection = gatekeeper.explain(query)
    assert selection.tokens <= budget
    assert 0 <= selection.coverage <= 1


@given(conversations, texts, budgets, chosen_strategies)
def test_turns_come_back_in_the_order_of_the_conversation_and_once(
    turns: Pairs, query: str, budget: int, strategy: str
) -> None:
    """000-45, 000-46: chronological, exactly the three keys."""
    gatekeeper = gatekeeper_of(turns, token_budget=budget, strategy=strategy)
    chosen = gatekeeper.select(query)
    assert [tuple(turn.values()) for turn in chosen] == [
        (turn.user, turn.assistant, turn.turn_id) for turn in gatekeeper.explain(query).turns
    ]
    ids = [turn["turn_id"] for turn in chosen]
    assert ids == sorted(set(ids))
    assert all(list(turn) == ["user", "assistant", "turn_id"] for turn in chosen)
    assert all(0 <= turn_id < len(turns) for turn_id in ids)


@example([("", "cache Redis ? Redis")], "", 2, "gate")
@given(conversations, texts, budgets, chosen_strategies)
def test_what_is_kept_of_a_turn_are_its_own_sentences_in_order(
    turns: Pairs, query: str, budget: int, strategy: str
) -> None:
    """000-36 to 000-39: an untrimmed turn is verbatim; a trimmed one holds whole sentences and marks of gaps."""
    for turn in gatekeeper_of(turns, token_budget=budget, strategy=strategy).explain(query).turns:
        user, assistant = turns[turn.turn_id]
        assert turn.trimmed == ((turn.user, turn.assistant) != (user, assistant))
        assert bool(turn.assistant) == bool(assistant)
        if turn.user != user and "…" not in user:
            assert_sentences_of(turn.user, user, GAP)
        if turn.assistant != assistant and "…" not in assistant:
            assert_sentences_of(turn.assistant, assistant, GAP)


@given(conversations, texts, budgets, chosen_strategies)
def test_without_trimming_every_kept_turn_is_whole(turns: Pairs, query: str, budget: int, strategy: str) -> None:
    for turn in gatekeeper_of(turns, strategy=strategy).explain(query, token_budget=budget, trim=False).turns:
        assert (turn.user, turn.assistant, turn.trimmed) == (*turns[turn.turn_id], False)


# --- pure and deterministic


@given(conversations, texts, texts)
def test_selecting_changes_nothing(turns: Pairs, query: str, other: str) -> None:
    """000-45: the same answer twice, and the state afterwards is that of a gatekeeper that was never asked."""
    gatekeeper, quiet = gatekeeper_of(turns), gatekeeper_of(turns)
    first = gatekeeper.explain(query).to_dict()
    gatekeeper.select(other)
    assert gatekeeper.explain(query).to_dict() == first
    assert state_of(gatekeeper, [query, other]) == state_of(quiet, [query, other])


@given(conversations, texts, texts)
def test_the_verdict_on_a_query_is_the_one_that_the_next_turn_records(turns: Pairs, query: str, assistant: str) -> None:
    """000-16, 000-45: one gate, read by ``explain`` and recorded by ``add_turn``."""
    gatekeeper = gatekeeper_of(turns)
    verdict = gatekeeper.explain(query).gate
    gatekeeper.add_turn(query, assistant)
    assert gatekeeper.verdicts[-1] == verdict


PROGRAM = """
import json, sys
from gatekeeper_core import ContextGatekeeper, GatekeeperConfig
from gatekeeper_core import ToolResultCompressor

turns = [(f"{a} {b} {i % 7}", f"{b}。{c} v1.{i % 5}") for i, (a, b, c) in enumerate(
    (a, b, c)
    for a in ("Redis cache", "缓存穿透", "红烧肉 recipe", "get_user() api-gateway")
    for b in ("怎么配置", "which port", "“一期一会”", "冰糖多少")
    for c in ("It depends.", "看情况", "use `SET key`")
)]
for strategy, embedder in (("gate", None), ("fill", None), ("fill", lambda texts: [[len(text), 9.0] for text in texts])):
    gatekeeper = ContextGatekeeper(900, config=GatekeeperConfig(strategy=strategy), embedder=embedder)
    for turn in turns:
        gatekeeper.add_turn(*turn)
    for query in ("缓存 port v1.3", "红烧肉放多少冰糖", "继续", "back to Redis", "我们聊了什么", "something else", ""):
        print(json.dumps(gatekeeper.explain(query).to_dict(), sort_keys=True))
    print([block.anchors for block in gatekeeper.turns], gatekeeper.topics)
rows = [{"id": i, "state": f"s{i % 7}", "缓存": "lost" if i == 77 else i % 5} for i in range(900)]
for text in (json.dumps(rows), "\\n".join(f"12:00 {'ERROR' if i % 97 == 0 else 'INFO'} 缓存 {i}" for i in range(900))):
    print(ToolResultCompressor().compress(text, query="缓存 port 9").text)
"""


def test_the_answer_does_not_depend_on_the_hash_seed() -> None:
    """Deterministic: two processes with other hash seeds give the same bytes, down to each decision."""
    answers = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(answers) == 1
    assert len(answers.pop()) > 10_000


LONG = "The indexer writes one segment. " * 30
FACTS = tuple(SummaryItem("facts", f"The indexer wrote 缓存穿透 to ledger {at}.", (at,), "user") for at in range(9))
SUMMED: dict[str, Callable[[], object]] = {
    "a selection": lambda: state_of(
        gatekeeper_of(
            [
                (
                    f"Set the retry limit of api-gateway v1.2.3 to 5, 端口 6379? {LONG}",
                    f"Done. {LONG} 缓存穿透的重试上限是 5。",
                ),
                ("缓存穿透怎么办？", "给空值也设过期时间。"),
            ]
        ),
        [
            'Which "retry limit of the api-gateway port" holds for 缓存穿透 and the indexer?',
            "缓存穿透的重试上限是多少？",
        ],
    ),
    "a cosine": lambda: cosine(array("f", [0.5] * 4), array("f", [0.5] * 4)),
    "what a sentence tells": lambda: (
        sentence_weight("Yesterday the indexer wrote 缓存穿透 to the ledger of Bergen.").score
    ),
    "a summary": lambda: fit_summary(Summary(items=FACTS, upto_seq=9), 60, token_counter=TokenEstimator()),
    "a result with a question": lambda: ToolResultCompressor().compress(
        "\n".join(f"row {row} of the ledger, indexer of Bergen, 缓存穿透" for row in range(400)),
        query="ledger indexer Bergen 缓存穿透",
    ),
    "a table with a far number": lambda: ToolResultCompressor().compress(
        json.dumps([{"ms": 1e6 if row == 77 else 5.5 if row % 8 < 5 else row + 0.1} for row in range(400)])
    ),
    "what a call costs": lambda: UNKNOWN.dollars(Usage(1_000, 300, cached_tokens=200, cache_written_tokens=50)),
    "what a prompt costs": lambda: input_cost(9_000, cached=5_000, written_to=8_000, prices=UNKNOWN),
}


@pytest.mark.parametrize("compute", SUMMED.values(), ids=SUMMED)
def test_no_answer_depends_on_how_a_version_of_python_sums_floats(
    monkeypatch: pytest.MonkeyPatch, compute: Callable[[], object]
) -> None:
    """From Python 3.12 on, `sum` of floats carries the error along; of two floats it never differs."""

    def checked(values: Iterable[Any], /, start: Any = 0) -> Any:
        listed = list(values)
        assert len(listed) < 3 or not any(isinstance(value, float) for value in listed), "use math.fsum"
        return sum(listed, start)

    for name, module in list(sys.modules.items()):
        if name.startswith("gatekeeper_core"):
            monkeypatch.setattr(module, "sum", checked, raising=False)
    compute()


# --- the topic map and the verdicts


@given(conversations)
def test_a_topic_begins_where_a_verdict_opens_one_and_nowhere_else(turns: Pairs) -> None:
    """000-15: map and verdicts never disagree."""
    gatekeeper = gatekeeper_of(turns)
    verdicts = gatekeeper.verdicts
    starts = [topic.start for topic in gatekeeper.topics]
    assert starts == [at for at, verdict in enumerate(verdicts) if verdict.decision == "switch"]
    for at, verdict in enumerate(verdicts):
        assert verdict.active_topic == (sum(start < at for start in starts) - 1 if at else None)


# --- grown and rebuilt

edits = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.just(0), st.tuples(texts, texts)),
        st.tuples(st.just("append"), st.just(0), st.tuples(texts, texts)),
        st.tuples(st.just("replace"), st.integers(0, 20), st.tuples(texts, texts)),
        st.tuples(st.just("delete"), st.integers(0, 20), st.just(("", ""))),
        st.tuples(st.just("insert"), st.integers(0, 20), st.tuples(texts, texts)),
        st.tuples(st.just("cut"), st.integers(0, 20), st.just(("", ""))),
    ),
    min_size=1,
    max_size=10,
)


def edited(turns: Pairs, how: str, at: int, turn: tuple[str, str]) -> Pairs:
    at = min(at, len(turns) - 1) if how in ("replace", "delete") else min(at, len(turns))
    if how in ("add", "append"):
        return [*turns, turn]
    if how == "cut":
        return turns[:at]
    if how == "insert":
        return [*turns[:at], turn, *turns[at:]]
    if at < 0:
        return turns
    return [*turns[:at], *([turn] if how == "replace" else []), *turns[at + 1 :]]


@given(conversations, edits, st.lists(texts, min_size=1, max_size=2))
def test_a_history_that_grew_and_was_edited_equals_one_that_was_built_anew(
    turns: Pairs, steps: list[tuple[str, int, tuple[str, str]]], queries: list[str]
) -> None:
    """000-10, 000-45: any sequence of add_turn and sync gives the state of one sync of the last history."""
    grown = gatekeeper_of(turns)
    for how, at, turn in steps:
        turns = edited(turns, how, at, turn)
        if how == "add":
            grown.add_turn(*turn)
        else:
            grown.sync(turns)
    built = ContextGatekeeper(token_counter=estimate_text_tokens)
    built.sync(turns)
    assert state_of(grown, queries) == state_of(built, queries)


# --- the account is honest


def kept_or_repeated(selection: Selection, turn_id: int) -> bool:
    decision = selection.decision(turn_id)
    return decision.outcome != "dropped" or decision.why == "repeat"


@given(conversations, texts, budgets, chosen_strategies)
def test_every_figure_of_a_selection_agrees_with_its_turns(
    turns: Pairs, query: str, budget: int, strategy: str
) -> None:
    """One decision per candidate and kept turn, ordered; kept and trimmed are exactly the turns."""
    gatekeeper = gatekeeper_of(turns, token_budget=budget, strategy=strategy)
    selection = gatekeeper.explain(query)
    decided = [decision.turn_id for decision in selection.decisions]
    assert decided == sorted(set(decided))
    by_id = {decision.turn_id: decision for decision in selection.decisions}
    kept = {turn_id for turn_id, decision in by_id.items() if decision.outcome != "dropped"}
    assert kept == {turn.turn_id for turn in selection.turns}
    for turn in selection.turns:
        assert by_id[turn.turn_id].tokens == turn.tokens
        assert by_id[turn.turn_id].outcome == ("trimmed" if turn.trimmed else "kept")
    assert all(selection.decision(turn_id) == decision for turn_id, decision in by_id.items())
    assert all(selection.decision(turn_id).outcome == "dropped" for turn_id in set(range(len(turns))) - kept)
    assert selection.history_tokens == sum(
        max(1, block.tokens_user + block.tokens_assistant) for block in gatekeeper.turns
    )
    assert not set(selection.covered) & set(selection.uncovered)
    assert 0.0 <= selection.coverage <= 1.0


@example([("", "Redis"), ("", ""), ("", ""), ("Redis 换个话题", "")], "Redis", 1, "fill", "estimate")
@example([("", "Redis"), ("", ""), ("", "")], "Redis 完整版 我问过什么", 1, "gate", "default")
@given(conversations, texts, budgets, chosen_strategies, st.sampled_from(["estimate", "default"]))
def test_the_budget_that_a_decision_names_keeps_the_turn(
    turns: Pairs, query: str, budget: int, strategy: str, counter: str
) -> None:
    """``kept_from_tokens`` is honest: with that budget the turn is kept, or dropped for another reason than room.

    Only where it is worth less beside what that budget keeps, others may come before it, and take its room.
    """
    gatekeeper = gatekeeper_of(turns, token_budget=budget, strategy=strategy, counter=counter)
    for decision in gatekeeper.explain(query).decisions:
        if decision.kept_from_tokens is None:
            assert decision.why != "no_room"
            continue
        assert decision.kept_from_tokens > budget
        again = gatekeeper.explain(query, token_budget=decision.kept_from_tokens).decision(decision.turn_id)
        assert again.why != "no_room" or (again.need or 0) < (decision.need or 0)


def with_settings(turns: Pairs, embedder: TextEncoder | None, **settings: Any) -> ContextGatekeeper:
    config = GatekeeperConfig(**settings)
    gatekeeper = ContextGatekeeper(config=config, token_counter=estimate_text_tokens, embedder=embedder)
    gatekeeper.sync(turns)
    return gatekeeper


with_and_without_an_embedder = pytest.mark.parametrize("embedder", [None, TINY], ids=["words", "meaning"])


@with_and_without_an_embedder
@example(turns=[("", "shorter"), ("", ""), ("", "")], query="\ud83d")
@given(turns=conversations, query=texts)
def test_the_coverage_that_a_decision_names_keeps_the_turn(
    embedder: TextEncoder | None, turns: Pairs, query: str
) -> None:
    """000-33: the same question with ``kept_from_coverage`` keeps the turn, or one that it repeats.

    Turns that are sent as well at that coverage may share terms with it; then a little more is named, until it is kept.
    """
    for decision in with_settings(turns, embedder).explain(query, token_budget=10**6).decisions:
        named, coverage = decision.kept_from_coverage, GatekeeperConfig().coverage
        while named is not None:
            assert coverage < named <= 1.0
            again, coverage = with_settings(turns, embedder, coverage=named).explain(query, token_budget=10**6), named
            less = (again.decision(decision.turn_id).need or 0) < (decision.need or 0)  # beside others that it sends
            if less or kept_or_repeated(again, decision.turn_id):
                break
            named = again.decision(decision.turn_id).kept_from_coverage
            assert named is not None


@given(conversations, texts)
def test_the_anchors_that_a_decision_names_make_the_turn_a_candidate(turns: Pairs, query: str) -> None:
    """``kept_with`` is honest: a query that also names one of them shares it with the turn."""
    gatekeeper = gatekeeper_of(turns)
    selection = gatekeeper.explain(query)
    for turn_id in range(len(turns)):
        for anchor in selection.decision(turn_id).kept_with:
            if without_cues(anchor) != anchor:
                continue  # a wording that points back or changes the topic is read as such
            again = gatekeeper.explain(f"{query}\n{anchor}").decision(turn_id)
            assert again.shared
            assert again.why != "no_shared_anchor"


@given(conversations, texts, st.integers(1, 30), st.sampled_from(["estimate", "default"]))
def test_where_nothing_fits_the_selection_says_what_would(turns: Pairs, query: str, budget: int, counter: str) -> None:
    """``smallest_needed_tokens``: None, or a budget with which something is kept."""
    gatekeeper = gatekeeper_of(turns, counter=counter)
    selection = gatekeeper.explain(query, token_budget=budget)
    if selection.smallest_needed_tokens is None:
        return
    assert selection.turns == ()
    assert selection.smallest_needed_tokens > budget
    assert gatekeeper.explain(query, token_budget=selection.smallest_needed_tokens).turns


# --- the knob


@with_and_without_an_embedder
@given(turns=conversations, query=texts, one=st.floats(0, 1), other=st.floats(0, 1))
@example(turns=[("", "Redis"), ("", ""), ("AbAAAc", "")], query="Redis 回到", one=0.0, other=1.0)
def test_a_lower_coverage_keeps_a_part_of_what_a_higher_one_keeps(
    embedder: TextEncoder | None, turns: Pairs, query: str, one: float, other: float
) -> None:
    """000-33: coverage is the way from few turns to many; with room for all, it sends each or one that repeats it."""
    low, high = (
        with_settings(turns, embedder, coverage=coverage).explain(query, token_budget=10**6)
        for coverage in sorted((one, other))
    )
    assert all(kept_or_repeated(high, turn.turn_id) for turn in low.turns)


# --- with an embedder


@given(conversations, texts, budgets, chosen_strategies)
def test_with_an_embedder_a_selection_keeps_its_budget_and_its_account(
    turns: Pairs, query: str, budget: int, strategy: str
) -> None:
    """000-34, 000-55: the same answer twice, within the budget; what words do not share is kept by meaning alone."""
    gatekeeper = with_settings(turns, TINY, strategy=strategy)
    selection = gatekeeper.explain(query, token_budget=budget)
    assert selection.to_dict() == gatekeeper.explain(query, token_budget=budget).to_dict()
    assert selection.tokens == sum(turn.tokens for turn in selection.turns) <= budget
    for decision in selection.decisions:
        if decision.why == "meaning":
            assert decision.shared == decision.related == ()
            assert decision.meaning is not None
        if decision.kept_from_tokens is not None:
            again = gatekeeper.explain(query, token_budget=decision.kept_from_tokens).decision(decision.turn_id)
            assert again.why != "no_room" or (again.need or 0) < (decision.need or 0)
