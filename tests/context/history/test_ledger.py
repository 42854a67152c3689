"""The books of a list of messages: right after each change, each message counted once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.context.history.ledger import Measure, cut
from gatekeeper_core.messages import MediaPart, Message, TextPart
from gatekeeper_core.text import Locale
from gatekeeper_core.tokens import MEDIA_TOKENS, count_messages
from tests.loops import result


def octets(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


IMAGE, SOUND = MediaPart("image"), MediaPart("audio")
three_scripts = pytest.mark.parametrize("text", ["磁盘满了", "disk is full ", "disk 满了 "])


def shown(*parts: TextPart | MediaPart) -> Message:
    return Message("tool", parts, tool_call_id="a")


@three_scripts
def test_media_stay_with_a_text_that_is_cut(text: str) -> None:
    """002-26, 002-29: one text in the place of the first, the media in their order."""
    message = shown(IMAGE, TextPart(text * 50), SOUND, TextPart(text * 50))
    shorter = cut(message, MEDIA_TOKENS["image"] + MEDIA_TOKENS["audio"] + 100, Measure(len, 0), locale="en")
    assert isinstance(shorter.content, tuple)
    image, part, sound = shorter.content
    assert (image, sound) == (IMAGE, SOUND)
    assert isinstance(part, TextPart)
    assert part.text.startswith(text)
    assert "bytes omitted" in part.text
    assert len(part.text) <= 100


@pytest.mark.parametrize(
    ("locale", "note"),
    [("zh", "[已省略 2 个图片、1 个音频]"), ("en", "[2 images, 1 recording omitted]")],
)
@three_scripts
def test_media_that_do_not_fit_are_named_in_the_text(text: str, locale: Locale, note: str) -> None:
    """002-29: the model reads what it does not see."""
    shorter = cut(shown(IMAGE, TextPart(text * 50), IMAGE, SOUND), 90, Measure(len, 0), locale=locale)
    assert shorter.text.startswith(text)
    assert shorter.text.endswith(f"\n{note}")
    assert count_messages([shorter], token_counter=len) <= 90
    assert cut(shown(IMAGE, SOUND, IMAGE), 90, Measure(len, 0), locale=locale) == result("a", note)


parts = st.lists(
    st.builds(TextPart, st.sampled_from(["x" * 90, "磁盘满了" * 9, "disk 满了\n"])) | st.sampled_from([IMAGE, SOUND]),
    max_size=5,
).map(tuple)


@given(parts, st.integers(0, 99) | st.sampled_from([765, 800, 1_999, 2_700]), st.sampled_from(["zh", "en"]))
def test_a_cut_message_costs_its_budget_and_keeps_its_media_or_loses_all(
    content: tuple[TextPart | MediaPart, ...], budget: int, locale: Locale
) -> None:
    """002-29."""
    message = shown(*content)
    if count_messages([message], token_counter=octets) <= budget:
        return
    shorter = cut(message, budget, Measure(octets, 0), locale=locale)
    assert count_messages([shorter], token_counter=octets) <= budget
    before = [part for part in content if isinstance(part, MediaPart)]
    after = [part for part in shorter.content if isinstance(part, MediaPart)]
    assert after in ([], before)
    assert (shorter.role, shorter.tool_call_id) == ("tool", "a")
