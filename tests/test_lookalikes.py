from __future__ import annotations

import string
import unicodedata

import pytest

from gatekeeper_core.fences import spoilt
from gatekeeper_core.lookalikes import BLANKS, LOOKALIKES


@pytest.mark.parametrize("target", LOOKALIKES)
def test_every_character_of_the_table_is_read_as_its_target(target: str) -> None:
    for char in LOOKALIKES[target]:
        assert spoilt(f"</x{char}", f"</x{target}", by="|") == f"<|/x{char}", ascii(char)


def test_the_table_holds_what_a_mark_can_hold_and_each_character_once() -> None:
    sources = "".join(LOOKALIKES.values())
    assert len(sources) == len(set(sources)) < 700
    assert set("".join(LOOKALIKES)) <= {*string.ascii_lowercase, *string.digits, *"</[:-_"}


@pytest.mark.parametrize("char", [*"\u115f\u1160\u2800\u3164\uffa0"], ids=ascii)
def test_what_shows_nothing_and_is_no_mark_and_no_control_is_listed(char: str) -> None:
    assert char in BLANKS
    assert unicodedata.category(char) in ("Lo", "So")
