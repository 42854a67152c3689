"""Need and price: how likely an answer needs a turn, and how much of the turn is worth sending.

The need of a turn is a product of two probabilities, each a logistic regression over a few signs::

    need = P(the question needs anything) * P(it needs this turn, if it needs anything)

with one table of weights for the newest turn and one for older turns. A turn of ``w`` tokens that is cut to ``s`` keeps
about ``sqrt(s / w)`` of what matters. At a price per token it is worth sending while the last token earns its price::

    s = (need / (2 * price)) ** 2 / w,  at least 40 and at most w;  nothing if need * sqrt(s / w) < price * s
    price = 0.0053 * (1 - coverage) ** 1.3

Source: ours. ``python -m benchmarks.fit_need`` fits the weights (Cox 1958, "The regression analysis of binary
sequences") and writes ``data/need.tsv``; ``python -m benchmarks.everyday`` checks both laws on the other group of
authors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from gatekeeper_core.data_files import rows
from gatekeeper_core.selection.cues import Cues
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.information import LEAST_INFORMATION
from gatekeeper_core.selection.retrieval import MatchedTerms, Query, Score

_SHORT_TOKENS = 120  # turns up to this size are sent whole: a cut saves little and costs evidence
_PRICE, _EXPONENT = 0.0053, 1.3  # of a token; fitted on both groups of authors, mean error 1.7 and 1.2 points
_LEAST_TOKENS = 40  # smallest cut: less of a turn says nothing
_POOL = 40  # turns whose scores a score is compared with
_LEAST_PART = 0.001  # added to a turn's part of the scores, so that 0 has a logarithm
_MEAN_TOKENS = 90  # of a turn in the fitting sets
_MOST_TOKENS = 570  # of a turn in the fitting sets; longer turns count as this long

Signs = dict[str, float]


class Reading(NamedTuple):
    """A question's terms, read against the conversation; shares are of its information, 0..1.

    Attributes:
        terms: number of indexed terms.
        size: information in everyday talk, in rare words.
        newest: share in the newest turn.
        near: share in the newest turns of the active topic.
        elsewhere: share in the best earlier turn.
        topic: the topic of that turn; None without one, or if it is the active topic.
        new_ratio: share of its full-weight terms that are not in the newest turns of the active topic.
        last_question: largest share, in one turn, of the last question of a text of several sentences.
    """

    terms: int
    size: float
    newest: float
    near: float
    elsewhere: float
    topic: int | None
    new_ratio: float
    last_question: float = 0.0


class NeedWeights(NamedTuple):
    """The weights of the three regressions, by sign; ``bias`` is the intercept.

    Attributes:
        question: whether a question needs anything.
        newest: whether it needs the newest turn.
        older: whether it needs an older turn.
    """

    question: Mapping[str, float]
    newest: Mapping[str, float]
    older: Mapping[str, float]


@cache
def need_weights(fitted_on: str = "both") -> NeedWeights:
    """Return the weights fitted on a group of authors: ``first``, ``second`` or ``both``.

    >>> sorted(need_weights().question)
    ['bias', 'brevity', 'share', 'wording']
    """
    column = 2 + ("first", "second", "both").index(fitted_on)
    tables: dict[str, dict[str, float]] = {name: {} for name in NeedWeights._fields}
    for row in rows("need.tsv"):
        tables[row[0]][row[1]] = float(row[column])
    return NeedWeights(**{name: MappingProxyType(table) for name, table in tables.items()})


def question_needs(reading: Reading, cues: Cues, newest_tokens: int, weights: NeedWeights) -> tuple[float, float]:
    """Return the probabilities that a question needs anything, and that it needs the newest turn."""
    need = probability(weights.question, question_signs(reading, cues))
    return need, need * probability(weights.newest, newest_signs(reading, newest_tokens))


def question_signs(reading: Reading, cues: Cues) -> Signs:
    """Return the signs that a question needs anything: its share in the conversation, its wording and its size."""
    points_back = cues.pointer or cues.back or cues.correction or cues.asked_before or cues.about_conversation
    return {
        "share": math.sqrt(min(1.0, max(reading.newest, reading.elsewhere, reading.last_question))),
        "wording": -1.0 if cues.switch or cues.small_talk else float(bool(points_back)),
        "brevity": 1 / (1 + reading.size),
    }


def newest_signs(reading: Reading, tokens: int) -> Signs:
    """Return the signs that a question needs the newest turn, given the cost of that turn."""
    return {
        "share": math.sqrt(reading.newest),
        "lead of others": (reading.elsewhere - reading.newest) * min(1.0, reading.size / 3),
        "terms": math.log1p(reading.terms),
        "tokens": math.log(min(tokens, _MOST_TOKENS) / _MEAN_TOKENS + 0.3),
    }


def older_signs(
    turn_ids: Sequence[int], scores: Sequence[Score], query: Query, index: TurnIndex, *, gathers: bool
) -> dict[int, Signs]:
    """Return, by turn, the signs that a question needs an older turn.

    Args:
        turn_ids: the turns.
        scores: scores of all turns that share anything with the question, best first.
        query: the terms of the question.
        index: the conversation.
        gathers: whether the question asks for all of something, or for what was said.
    """
    share = shares(query, scores, index)
    best = scores[0].total if scores else 0.0
    relative = {score.turn_id: max(0.0, score.total) / best for score in scores} if best > 0 else {}
    mass = math.fsum(value**3 for value in islice(relative.values(), _POOL)) or 1.0
    return {
        turn_id: {
            "score": relative.get(turn_id, 0.0) * math.sqrt(share.get(turn_id, 0.0)),
            "part": math.log(relative.get(turn_id, 0.0) ** 3 / mass + _LEAST_PART),
            "gathers": float(gathers),
        }
        for turn_id in turn_ids
    }


def shares(query: Query, scores: Sequence[Score], index: TurnIndex) -> dict[int, float]:
    """Return the share of the query's information in each scored turn, 0..1; related terms count their credit."""
    worth = index.information(query.idf)
    mass = max(math.fsum(worth.values()), LEAST_INFORMATION)
    by_terms: dict[MatchedTerms, float] = {}  # most turns have the same terms as another one
    for score in scores:
        if score.terms not in by_terms:
            matched_worth = math.fsum(worth[term] * credit for term, credit in score.terms.credits)
            by_terms[score.terms] = round(matched_worth / mass, 6)
    return {score.turn_id: by_terms[score.terms] for score in scores}


def log_odds(table: Mapping[str, float], signs: Signs) -> Signs:
    """Return the contribution of each sign to the log odds."""
    return {name: table[name] * value for name, value in signs.items() if name in table}


def probability(table: Mapping[str, float], signs: Signs) -> float:
    """Return the probability that follows from signs and a table of weights, 0..1, rounded to six digits.

    >>> probability({"bias": -1.0, "share": 2.0}, {"share": 0.5})
    0.5
    """
    return round(1 / (1 + math.exp(-table["bias"] - math.fsum(log_odds(table, signs).values()))), 6)


def price_of(coverage: float) -> float:
    """Return the price of a token, in needed turns, at which the given share of what is needed is sent.

    >>> round(price_of(0.85), 6), price_of(1)
    (0.00045, 0.0)
    """
    return _PRICE * math.pow(1 - coverage, _EXPONENT)


def smallest_form(tokens: int) -> int:
    """Return the tokens of the smallest form of a turn, given the tokens of the whole turn.

    >>> smallest_form(100), smallest_form(400)
    (100, 40)
    """
    return tokens if tokens <= _SHORT_TOKENS else _LEAST_TOKENS


def coverage_at(price: float) -> float:
    """Return the coverage of a price, 0..1: the inverse of :func:`price_of`.

    >>> coverage_at(price_of(0.85)), coverage_at(1.0)
    (0.85, 0.0)
    """
    return round(max(0.0, 1 - math.pow(price / _PRICE, 1 / _EXPONENT)), 6)


def tokens_worth(need: float, tokens: int, price: float) -> int:
    """Return how many tokens of a turn are worth sending; 0 if none.

    Args:
        need: need of the turn, 0..1.
        tokens: cost of the whole turn.
        price: price of a token.

    >>> tokens_worth(0.9, 400, 0.0006), tokens_worth(0.2, 400, 0.0006), tokens_worth(0.01, 400, 0.0006)
    (400, 69, 0)
    """
    if price <= 0:
        return tokens
    best = round(min(tokens, max((need / (2 * price)) ** 2 / tokens, smallest_form(tokens))))
    return best if need * math.sqrt(best / tokens) >= price * best else 0
