"""Sparse retrieval: the score and each of its parts, against a second BM25 and by hand; who is a candidate at all."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection import expansion, retrieval
from gatekeeper_core.selection.anchors import count_terms, stem
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.meaning import Meaning, QueryVector
from gatekeeper_core.selection.retrieval import Query, Score, expand_query, read_query, score_turns
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_core.vectors import packed
from tests.case_files import from_file

Turns = list[tuple[str, str]]

# Each is its own stem, is no function word and is not in the background table: its idf is the plain formula.
VOCABULARY = ["kafka", "quorum", "raft", "shard", "nginx", "vacuum", "etcd"]

side = st.lists(st.sampled_from(VOCABULARY), max_size=8).map(" ".join)
conversations = st.lists(st.tuples(side, side), min_size=1, max_size=10)
queries = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4).map(" ".join)


def index_of(turns: Turns) -> TurnIndex:
    index = TurnIndex()
    for user, assistant in turns:
        index.add(count_terms(user), count_terms(assistant), texts=(user, assistant))
    return index


def score(turns: Turns, query: str, *, depth: int = 20, **settings: Any) -> tuple[Score, ...]:
    index = index_of(turns)
    with pytest.MonkeyPatch.context() as patch:
        for module in (retrieval, expansion):
            for name in [name for name in settings if hasattr(module, f"_{name.upper()}")]:
                patch.setattr(module, f"_{name.upper()}", settings.pop(name))
        read = expand_query(read_query(query, index), index)
        config = GatekeeperConfig(**settings)
        return score_turns(read, index, config=config, depth=depth, texts=turns.__getitem__)


def by_turn(scores: tuple[Score, ...]) -> dict[int, Score]:
    return {score.turn_id: score for score in scores}


@given(conversations, queries)
def test_the_total_is_the_weighted_sum_of_the_parts(turns: Turns, query: str) -> None:
    """000-25: 1.5 lex(user) + 0.7 lex(assistant) + 1.0 exact + 0.2 recency, and what is ours in the lexical part."""
    for part in score(turns, query):
        lexical = 1.5 * part.lex_user + 0.7 * part.lex_assistant + part.neighbour
        assert part.total == pytest.approx(part.fit * lexical + 1.0 * part.exact + 0.2 * part.recency, abs=1e-4)


def test_a_whole_hit_adds_its_idf_once_a_plain_word_half_of_it() -> None:
    """000-25: exact match, weight 1.0; "quorums" is found by its stem and is no whole hit."""
    literal, stemmed = score([("quorum", ""), ("quorums", "")], "quorum", recency_weight=0, neighbour_weight=0)
    assert (literal.turn_id, stemmed.turn_id) == (0, 1)
    assert literal.lex_user == stemmed.lex_user
    assert stemmed.exact == 0.0
    assert literal.total - stemmed.total == pytest.approx(literal.exact, abs=1e-5)
    assert literal.exact == pytest.approx(0.5 * math.log(1 + (22 - 2 + 0.5) / 2.5), abs=1e-5)


# --- Exact match ----------------------------------------------------------------------------------------------------


@from_file("query", "turn", "hit")
@pytest.mark.parametrize("swap", [False, True])
def test_whole_hits_on_either_side_are_named_and_count_their_idf(query: str, turn: str, hit: str, swap: bool) -> None:
    """000-27: identifiers, numbers, versions, quoted phrases and code."""
    turns = [("Bread", "Bake it."), ("", turn) if swap else (turn, "")]
    (found,) = score(turns, query)
    assert found.whole == {hit}
    assert found.exact > 0.0


@from_file("query", "turn")
def test_a_part_of_a_token_is_no_hit_at_all(query: str, turn: str) -> None:
    """000-27: ``v1.2`` is neither in ``v1.20`` nor in ``v1.2.3``."""
    assert [found.exact for found in score([(turn, "")], query)] in ([], [0.0])


def test_chinese_is_an_exact_hit_only_where_it_is_quoted() -> None:
    """000-27: a pair is no whole hit; three characters in a row add a quarter of their rarer pair, a quote all of it."""
    turn = [("缓存命中率下降了", "")]
    (pair,), (triple,), (quoted,) = score(turn, "缓存"), score(turn, "命中率"), score(turn, "“命中率”")
    assert pair.exact == 0.0
    assert (pair.whole, triple.whole, quoted.whole) == (frozenset(), frozenset(), {"命中率"})
    assert triple.exact == pytest.approx(0.25 * 0.4 * math.log(1 + (21 - 1 + 0.5) / 1.5), abs=1e-5)
    assert quoted.exact > 4 * triple.exact


@given(conversations, queries)
def test_a_turn_without_evidence_is_no_candidate_however_new(turns: Turns, query: str) -> None:
    """000-28, 000-29: just the turns that share a term are scored, and each says which."""
    wanted = set(query.split())
    sharing = {turn: wanted & {*user.split(), *reply.split()} for turn, (user, reply) in enumerate(turns)}
    scores = by_turn(score([*turns, ("Bread", "Bake it.")], query))
    assert {turn: set(found.matched) for turn, found in scores.items()} == {k: v for k, v in sharing.items() if v}
    assert all(0.0 < found.terms.share <= 1.0 and found.total > 0.0 for found in scores.values())


def test_a_turn_with_evidence_gets_a_part_of_its_neighbours() -> None:
    """000-25: 0.3 of the weighted lex of the turns right before and after it."""
    turns = [("quorum raft", ""), ("quorum", "raft"), ("bread", ""), ("quorum", ""), ("bread", "")]
    found = by_turn(score(turns, "quorum raft"))
    lexical = {turn: 1.5 * value.lex_user + 0.7 * value.lex_assistant for turn, value in found.items()}
    assert found[0].neighbour == pytest.approx(0.3 * lexical[1], abs=1e-5)
    assert found[1].neighbour == pytest.approx(0.3 * lexical[0], abs=1e-5)
    assert found[3].neighbour == 0.0


def test_a_turn_beside_the_rest_of_the_query_fits_it_better() -> None:
    turns = [("quorum", ""), ("raft", ""), ("bread", ""), ("bread", ""), ("quorum", "")]
    found = by_turn(score(turns, "quorum raft"))
    assert found[0].fit == 1.0
    assert found[4].fit == pytest.approx(1.0 - 0.7 * (1.0 - found[4].terms.share), abs=1e-5)
    assert by_turn(score(turns, "quorum raft", reach_weight=0))[4].fit == 1.0


@from_file("text", "query", "word", "switch")
def test_a_related_word_finds_a_turn(text: str, query: str, word: str, switch: str) -> None:
    turns = [(text, ""), ("bread", "flour")]
    assert stem(word) in {term for found in score(turns, query) for term in found.related}
    assert stem(word) not in {term for found in score(turns, query, **{switch: 0}) for term in found.related}


@pytest.mark.parametrize(
    ("one", "other", "query"), [("Anna: ", "Ben: ", "Ben's raft"), ("小明：", "小红：", "小红的raft")]
)
def test_the_messages_of_a_speaker_who_is_named_count_more(one: str, other: str, query: str) -> None:
    turns = [(f"{one}raft", f"{other}bread"), (f"{one}bread", f"{other}raft")] * 2
    named, flat = (by_turn(score(turns, query, speaker_weight=w, recency_weight=0)) for w in (1.0, 0))
    assert named[1].total > named[0].total
    assert named[1].lex_assistant == pytest.approx(2 * flat[1].lex_assistant, abs=1e-4)
    assert named[0].lex_assistant == pytest.approx(2 * flat[0].lex_assistant, abs=1e-4)
    assert named[0].lex_user == pytest.approx(flat[0].lex_user, abs=1e-4)
    # What a turn gets of its neighbours follows the same factors.
    weighted = {at: 1.5 * found.lex_user + 0.7 * found.lex_assistant for at, found in named.items()}
    for at, found in named.items():
        beside = sum(weighted.get(at + step, 0.0) for step in (-1, 1))
        assert found.neighbour == pytest.approx(0.3 * beside, abs=1e-4)


def test_a_query_weighs_its_anchors_by_their_idf_here() -> None:
    """000-14, 000-25: the mass is the sum; anchors that are not indexed weigh nothing by themselves."""
    index = TurnIndex()
    index.add(count_terms("quorum of the raft"), {})
    query = read_query("quorum “主从复制” 7", index)
    assert query.idf["quorum"] == index.idf("quorum")
    assert query.idf["7"] == pytest.approx(0.3 * index.idf("7"), abs=1e-6)
    assert "主从复制" not in query.idf
    assert query.mass == pytest.approx(sum(query.idf.values()), abs=1e-5)
    assert read_query("换个话题,raft", index, about="raft").idf.keys() == {"raft"}


@pytest.mark.parametrize(("turn_count", "is_found"), [(10_000, False), (33_000, True)])
def test_more_postings_are_read_of_a_longer_conversation(
    turn_count: int, is_found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a term that is more frequent than the budget, the newest turns; the first one of 3,000 is among them later."""
    index = TurnIndex()
    index.add({"redis": 9}, {})
    for position in range(1, turn_count):
        index.add({"redis": 1} if position < 3_000 else {}, {})
    query = Query("redis", (), {"redis": 2.0})
    monkeypatch.setattr(retrieval, "_NEIGHBOUR_WEIGHT", 0)
    texts = ("", "")
    scores = score_turns(query, index, config=GatekeeperConfig(), depth=1, texts=lambda _: texts)
    assert (scores[0].turn_id == 0) is is_found


EAST = packed([1.0, 0.0])


def scored_with(turns: Turns, query: str, cosines: list[float | None], *, depth: int = 20) -> tuple[Score, ...]:
    """Return the scores of turns whose vectors have these cosines with the query's."""
    vectors = [None if value is None else packed([value, math.sqrt(1 - value**2)]) for value in cosines]
    vectors += [None] * (len(turns) - len(cosines))
    index = index_of(turns)
    return score_turns(
        expand_query(read_query(query, index), index),
        index,
        config=GatekeeperConfig(),
        depth=depth,
        texts=turns.__getitem__,
        meaning=Meaning(QueryVector("hand", EAST, 0.0, 0.2), vectors),
    )


@from_file("turns", "query")
def test_nearness_adds_to_the_score_and_finds_what_words_do_not(turns: Turns, query: str) -> None:
    """A share of the best score, or of twice the query's mass, times the strength; words keep the rest."""
    words = by_turn(score(turns, query))
    found = scored_with(turns, query, [0.0, 0.95, None, -0.3])
    both = by_turn(found)
    assert set(words) == {0}
    assert set(both) == {0, 1}
    assert both[0] == words[0]
    near = both[1]
    mass = read_query(query, index_of(turns)).mass
    values = [0.0, 0.95, -0.3] + [-0.2, 0.2] * 10
    middle = sum(values) / 23
    deviations = (0.95 - middle) / math.sqrt(sum((value - middle) ** 2 for value in values) / 23)
    expected = 0.1 * max(words[0].total, 2 * mass) * deviations / 3
    assert near.meaning == pytest.approx(expected, rel=0.01)
    assert near.total == pytest.approx(near.meaning + 0.2 * near.recency, abs=2e-6)
    assert (near.lex_user, near.lex_assistant, near.exact, near.terms.share) == (0.0, 0.0, 0.0, 0.0)
    assert near.matched == near.related == near.whole == frozenset()
    assert [part.turn_id for part in found] == sorted(both, key=lambda turn: -both[turn].total)


@pytest.mark.parametrize("query", ["?", "👍", "的", "of the"])
def test_a_question_without_words_ranks_by_nearness_and_not_by_age(query: str) -> None:
    found = scored_with([("kafka", ""), ("raft", ""), ("etcd", ""), ("shard", "")], query, [0.99, 0.0, 0.75, 0.0])
    assert [part.turn_id for part in found] == [0, 2]
    assert all(part.meaning > 0 for part in found)
