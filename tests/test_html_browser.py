"""The pages of the command in a real browser: what they show, what they do, and that they ask nothing of anybody."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_cli.conversation import CONVERSATION, QUESTIONS
from gatekeeper_cli.topics import Timeline
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from tests import test_html
from tests.browser import LOW_CONTRAST, Opened
from tests.conversations import HOSTILE
from tests.test_html import timeline_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.cli, pytest.mark.browser]
DEMO = list(CONVERSATION)


explanation_html = partial(test_html.explanation_html, budget=300, turn_id=0)


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """Open pages; at the end of the test each must have been silent, and have asked for nothing."""
    opened: list[Opened] = []

    def open_one(html: str, **settings: Any) -> Opened:
        file = tmp_path / f"page {len(opened)}.html"
        file.write_text(html, encoding="utf-8")
        opened.append(Opened(browser, file, **settings))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def shown_turns(page: Any) -> list[int]:
    return [int(item.get_attribute("id")[1:]) for item in page.query_selector_all(".turns > li:not([hidden])")]


# --- what is shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(open_page: Callable[..., Opened], scheme: str) -> None:
    """WCAG 2.1, 1.4.3: a contrast of 4.5 to 1."""
    for html in (timeline_html(DEMO[:12]), explanation_html(DEMO, QUESTIONS[4].text)):
        assert open_page(html, color_scheme=scheme).page.evaluate(LOW_CONTRAST) == []


def test_a_frame_says_that_it_scrolls_and_no_page_is_wider_than_a_phone(open_page: Callable[..., Opened]) -> None:
    for width, hints in ((1280, 0), (390, 2)):
        page = open_page(explanation_html(DEMO, QUESTIONS[4].text), viewport={"width": width, "height": 800}).page
        page.locator("details.part summary").click()
        page.locator(".heat").wait_for()
        assert page.locator(".hint:visible").count() == hints
        assert page.evaluate("document.documentElement.scrollWidth") <= width


# --- what it does


def test_a_click_on_a_cell_shows_its_turn_and_escape_closes_it(open_page: Callable[..., Opened]) -> None:
    page = open_page(timeline_html(DEMO)).page
    drawer = page.locator("#drawer")
    assert not drawer.is_visible()
    page.locator(".cells a[data-t='8']").click()
    assert drawer.is_visible()
    assert all(text[:40] in drawer.inner_text() for text in DEMO[8])
    page.locator("#next").click()
    assert DEMO[9][0] in drawer.inner_text()
    page.keyboard.press("Escape")
    assert not drawer.is_visible()
    assert page.evaluate("document.activeElement.dataset.t") == "8"


def test_the_keyboard_reaches_every_cell_with_one_stop_for_the_tabulator(open_page: Callable[..., Opened]) -> None:
    page = open_page(timeline_html(DEMO)).page
    assert page.locator(".cells a[tabindex='0']").count() == 1
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("Boolean(document.activeElement.dataset.t)"):
            break
    for key, turn in (("ArrowRight", "1"), ("End", "40"), ("ArrowLeft", "39"), ("Home", "0"), ("ArrowDown", "1")):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.t") == turn
    assert re.match(r"Turn 1 .*\d+ tokens$", page.evaluate("document.activeElement.getAttribute('aria-label')"))
    page.keyboard.press("Enter")
    assert DEMO[1][0] in page.locator("#drawer").inner_text()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "2px"


def test_filters_by_text_and_by_topic_leave_what_fits(open_page: Callable[..., Opened]) -> None:
    page = open_page(timeline_html(DEMO)).page
    page.locator("#text").fill("inv-4035")
    found = [at for at, pair in enumerate(DEMO) if "inv-4035" in " ".join(pair).lower()]
    assert shown_turns(page) == found != []
    assert page.locator("#count").inner_text() == f"Shown: {len(found)} of 41"
    assert page.locator(".cells a[data-t].off").count() == 41 - len(found)
    page.locator("#text").fill("")
    page.locator("#topic").select_option(index=2)
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(DEMO)
    assert shown_turns(page) == list(Timeline.of(gatekeeper).subjects[1].turn_ids)


# --- what it must not do


def test_hostile_texts_are_shown_and_do_nothing(open_page: Callable[..., Opened]) -> None:
    pairs = [(f"{at} {HOSTILE}", f"{HOSTILE} {at}") for at in range(3)]
    for html in (timeline_html(pairs), explanation_html(pairs, f"端口 {HOSTILE}")):
        page = open_page(html).page
        assert page.locator("img").count() == 0
        assert "</script><img src=x onerror=alert(1)>" in page.locator(".turns").last.text_content()
        page.locator("#text").fill("</script>")
        assert shown_turns(page)
        page.locator(".cells a[data-t]").last.click()
        assert "<img src=x onerror=alert(1)>" in page.locator("#drawer").inner_text()
