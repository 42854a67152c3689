from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.messages import Message, group_turns
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.index import TurnIndex
from gatekeeper_core.selection.retrieval import Query, read_query
from gatekeeper_core.selection.trimming import GAP, Excerpt, Sentences, Trimmer
from gatekeeper_core.text import sentences
from gatekeeper_core.tokens import estimate_text_tokens
from tests.verbatim import end_of_stretch

COUNTERS: dict[str, Callable[[str], int]] = {
    "characters": len,
    "estimate": estimate_text_tokens,
    "words": lambda text: len(text.split()),
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "heavy": lambda text: 7 * len(text),
    "rounded up": lambda text: math.ceil(len(text) / 4),
}

FILLER = {
    "zh": "今天的会议开得很长。大家讨论了预算。午饭吃的是面条。下午又下了一场雨。",
    "en": "The meeting was long. We went over the budget. Lunch was noodles. It rained in the afternoon. ",
    "mixed": "今天的 meeting 很长。We went over the 预算。午饭吃 noodles。下午 it rained again。",
}
NEEDLE = {
    "zh": "门禁密码是七七一九。",
    "en": "The door code is 7719. ",
    "mixed": "门禁 door code 是 7719。",
}
QUESTION = {"zh": "门禁密码是多少？", "en": "What is the door code?", "mixed": "door code 是多少？"}

three_scripts = pytest.mark.parametrize("script", ["zh", "en", "mixed"])
counters = st.sampled_from(sorted(COUNTERS))

pieces = st.sampled_from(
    [
        *[sentence for text in FILLER.values() for sentence in (text,)],
        *NEEDLE.values(),
        *QUESTION.values(),
        "```python\nprint('door. code? no!')\n```\n",
        "- first item\n- second item\n",
        "v1.2.3 fixes `get_user`. ",
        "，，，",
        "\n\n",
        "x" * 90,
        "缓" * 90,
    ]
)
long_texts = st.lists(pieces, max_size=9).map("".join) | st.text(max_size=60)


def query(text: str) -> Query:
    return read_query(text, TurnIndex())


def full_excerpt(user: str, assistant: str, count: Callable[[str], int] = estimate_text_tokens) -> Excerpt:
    return Excerpt(user, assistant, count(user), count(assistant))


def tight_excerpt(
    turn: Excerpt, question: Query, *, budget_tokens: int, count: Callable[[str], int] = estimate_text_tokens
) -> Excerpt | None:
    return Trimmer(question, sentences=Sentences(count)).tight(turn, budget_tokens=budget_tokens)


def cut_to(turn: Excerpt, ask: str, budget_tokens: int, count: Callable[[str], int] = estimate_text_tokens) -> Excerpt:
    """Return the excerpt for a question, which must fit."""
    part = tight_excerpt(turn, query(ask), budget_tokens=budget_tokens, count=count)
    assert part is not None
    assert part.tokens <= budget_tokens
    return part


def one_side(turn: Excerpt, question: Query) -> Excerpt:
    return Trimmer(question, sentences=Sentences(estimate_text_tokens)).one_side(turn)


def buried(script: str) -> str:
    return FILLER[script] * 6 + NEEDLE[script] + FILLER[script] * 6


def pieces_of(part: str, gap: str = GAP) -> list[str]:
    return [piece.strip() for piece in part.split(gap.strip()) if piece.strip()]


def assert_verbatim_and_in_order(part: str, text: str) -> None:
    """Every piece between two marks is one stretch of the text that begins and ends with a sentence, in order."""
    at = 0
    for piece in pieces_of(part):
        at = end_of_stretch(piece, text, after=at)


@three_scripts
def test_a_long_message_is_cut_to_the_sentences_that_share_an_anchor(script: str) -> None:
    """000-36: what else fits stands next to them."""
    text, needle = buried(script), NEEDLE[script].strip()
    part = cut_to(full_excerpt("记一下。", text), QUESTION[script], 60)
    assert part.trimmed
    assert any(needle in piece != needle for piece in pieces_of(part.assistant))
    assert_verbatim_and_in_order(part.assistant, text)


@three_scripts
@pytest.mark.parametrize("wanted", ["v5.0.3", "`redis-py`", "setup.cfg"])
def test_a_sentence_with_a_whole_hit_stays(script: str, wanted: str) -> None:
    """000-37: identifiers, versions, quoted phrases and back-tick code."""
    needle = "We pinned `redis-py` to v5.0.3 in setup.cfg."
    part = cut_to(full_excerpt("", f"{FILLER[script] * 6}{needle} {FILLER[script] * 6}"), wanted, 40)
    assert needle in part.assistant


@three_scripts
def test_the_users_question_stays_with_what_is_kept(script: str) -> None:
    """000-38: of the user's side right after what shares an anchor, of the assistant's not."""
    fact, question = NEEDLE[script].strip(), "能告诉我吗？"
    text = FILLER[script] * 6 + question + FILLER[script] * 3 + NEEDLE[script] + FILLER[script] * 6
    budget = len(fact) + len(question) + 2 * (len(GAP) + 1)
    assert pieces_of(cut_to(full_excerpt(text, "", len), fact, budget, len).user) == [question, fact]
    assert question not in cut_to(full_excerpt("", text, len), fact, budget, len).assistant


@three_scripts
def test_each_gap_is_marked(script: str) -> None:
    """000-39: in front, between and behind."""
    text = FILLER[script] * 3 + NEEDLE[script] + FILLER[script] * 3 + NEEDLE[script] + FILLER[script] * 3
    kept = NEEDLE[script].strip()
    part = cut_to(full_excerpt("", text, len), QUESTION[script], 2 * (len(kept) + len(GAP) + 1), len)
    assert part.assistant == f"… {kept} … {kept} …"


@given(long_texts, long_texts, st.sampled_from([*sorted(QUESTION.values()), "", "无关"]), counters, st.integers(1, 400))
def test_a_tight_excerpt_fits_its_budget(user: str, assistant: str, ask: str, counter: str, budget: int) -> None:
    """000-34, 000-36, 000-39, 000-55: for any text and any counter, of whole sentences in their order."""
    count = COUNTERS[counter]
    part = tight_excerpt(full_excerpt(user, assistant, count), query(ask), budget_tokens=budget, count=count)
    if part is None:
        return
    assert part.tokens <= budget
    assert part.trimmed == ((part.user, part.assistant) != (user, assistant))
    assert (part.tokens_user, part.tokens_assistant) == (count(part.user), count(part.assistant))
    assert part.user or part.assistant
    for text, sent in ((user, part.user), (assistant, part.assistant)):
        if len(sentences(text)) > 1 and GAP.strip() not in text:
            assert_verbatim_and_in_order(sent, text)


@three_scripts
def test_where_nothing_is_shared_the_beginning_is_taken(script: str) -> None:
    """000-23, 000-39: what a query without anchors needs of the newest turn."""
    text = buried(script)
    part = tight_excerpt(full_excerpt("", text), query(""), budget_tokens=60, count=estimate_text_tokens)
    assert part is not None
    first = sentences(text)[0]
    assert part.assistant.startswith(text[first.start : first.stop])
    assert part.assistant.endswith("…")


@pytest.mark.parametrize("short_at", [0, 2, 4])
def test_of_a_turn_of_messages_the_long_ones_share_what_the_others_leave(short_at: int) -> None:
    """A short one stays whole wherever it is, and the result of a tool is never cut."""
    texts = ["f" * 300, "port 6380", "l" * 300, "door 7719"]
    texts.insert(short_at, "short")
    (turn,) = group_turns(
        [Message("user", "?"), *(Message("tool" if text[-1].isdigit() else "assistant", text) for text in texts)]
    )
    every = Excerpt("?", turn.assistant_text, 1, sum(map(len, texts)))
    part = Trimmer(query("door"), sentences=Sentences(len)).tight(every, budget_tokens=200, source=turn)
    assert part is not None
    share = (200 - len("?" + "port 6380" + "door 7719" + "short")) // 2
    assert part.cuts == tuple(
        (at, f"{text[: share - 2]} …") for at, text in enumerate(texts, start=1) if len(text) == 300
    )
    assert part.tokens == 200


# --- two people

ASIDE = {
    "zh": "今天下雨了，面条也吃完了，下午还要开一个很长的预算会议。",
    "en": "It rained all afternoon, the noodles are gone, and a long meeting on the budget is still to come today.",
    "mixed": "今天 it rained，noodles 也吃完了，下午还有一个很长的 budget meeting 要开。",
}


@three_scripts
def test_of_two_people_only_the_side_that_holds_the_question_is_sent(script: str) -> None:
    """000-36, 000-39: the other side is talk about something else."""
    fact, aside, question = NEEDLE[script].strip(), ASIDE[script], query(QUESTION[script])
    first, second = one_side(full_excerpt(fact, aside), question), one_side(full_excerpt(aside, fact), question)
    assert (first.user, first.assistant, first.trimmed) == (fact, "", True)
    assert (second.user, second.assistant, second.trimmed) == ("", fact, True)
    assert first.tokens == second.tokens == estimate_text_tokens(fact)


@pytest.mark.parametrize(("names", "sides"), [(("Anna", "Ben"), 1), (("User", "Assistant"), 2)])
def test_a_side_is_left_out_between_two_people_only(names: tuple[str, str], sides: int) -> None:
    """000-39: an assistant's answer is never left out."""
    gatekeeper = ContextGatekeeper()
    talk = [(f"the door code is 77{at}.", ASIDE["en"]) for at in range(10, 16)]
    gatekeeper.sync([(f"{names[0]}: {one}", f"{names[1]}: {other}") for one, other in talk])
    turns = gatekeeper.explain("New topic: which door code is 7712?").turns
    assert turns
    assert {bool(turn.user) + bool(turn.assistant) for turn in turns} == {sides}
