"""Related terms: which words stand for the query's own, at what weight, and how many."""

from __future__ import annotations

from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.expansion import MAX_RELATED, related_terms
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.lexicon import kinds
from tests.case_files import from_file


def index_of(*texts: str) -> TurnIndex:
    index = TurnIndex()
    for text in texts:
        index.add(count_terms(text), {})
    return index


def related(query: str, *texts: str) -> dict[str, tuple[str, ...]]:
    index = index_of(*texts)
    idf = {term: index.idf(term) for term in count_terms(query)}
    found = related_terms(idf, index)
    assert all(0 < each.weight <= each.credit * max(idf[term] for term in each.query_terms) + 1e-6 for each in found)
    return {each.term: each.query_terms for each in found}


@from_file("query", "text", "expected")
def test_a_word_that_may_stand_for_another_is_found(query: str, text: str, expected: dict[str, list[str]]) -> None:
    assert related(query, text) == {term: tuple(own) for term, own in expected.items()}


def test_the_weightiest_are_kept_where_there_are_too_many() -> None:
    query = " ".join(kinds())
    members = [member for of_kind in kinds().values() for member in of_kind]
    index = index_of(" ".join(members), "bread")
    found = related_terms({term: index.idf(term) for term in count_terms(query)}, index)
    assert len(found) == MAX_RELATED
    assert [each.weight for each in found] == sorted((each.weight for each in found), reverse=True)
