"""The pages of the command in a real browser: what they show, what they do, and that they ask nothing of anybody."""

from __future__ import annotations

import re
import socket
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_cli.conversation import CONVERSATION, QUESTIONS
from gatekeeper_cli.texts import ENGLISH, Language, Texts
from gatekeeper_cli.topics import Timeline
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from tests import test_html
from tests.browser import LOW_CONTRAST, Opened
from tests.conversations import HOSTILE, PAIRS
from tests.conversations import QUESTIONS as SHORT_QUESTIONS
from tests.test_html import timeline_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.cli, pytest.mark.browser]

CHINESE = Texts(Language.zh)
DEMO = list(CONVERSATION)
TEAL, DARK_PAGE, LIGHT_PAGE = "rgb(10, 107, 104)", "rgb(20, 23, 26)", "rgb(251, 251, 249)"


explanation_html = partial(test_html.explanation_html, budget=300, asked=0)


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


def background(page: Any) -> str:
    found: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return found


def shown_turns(page: Any) -> list[int]:
    found: list[str] = page.eval_on_selector_all(".turns > li:not([hidden])", "all => all.map(one => one.id)")
    return [int(name[1:]) for name in found]


# --- what is shown


@pytest.mark.parametrize(
    ("language", "texts"), [("chinese", CHINESE), ("english", ENGLISH), ("mixed", CHINESE)], ids=["zh", "en", "mixed"]
)
def test_both_pages_render_in_both_languages(open_page: Callable[..., Opened], language: str, texts: Texts) -> None:
    page = open_page(timeline_html(PAIRS[language], texts=texts)).page
    assert page.locator(".turns > li").count() == 5
    assert page.locator(".timeline .cells a").count() == 5
    assert page.locator("svg.chart polyline").count() == 3
    assert page.locator("h2", has_text=texts("html.use_heading")).is_visible()
    line = page.locator("svg.chart polyline").first
    assert line.bounding_box()["height"] > 100
    assert page.locator("svg.chart .selected").evaluate("one => getComputedStyle(one).stroke") == TEAL
    page = open_page(explanation_html(PAIRS[language], SHORT_QUESTIONS[language], texts=texts)).page
    assert page.locator("h1").inner_text() == SHORT_QUESTIONS[language]
    assert page.locator(".heat tbody tr").count() > 1
    assert page.locator("meter").bounding_box()["width"] > 100
    assert page.locator(".scroll.cells .badge").count() == 5


def test_a_narrow_page_does_not_scroll_sideways(open_page: Callable[..., Opened]) -> None:
    for html in (timeline_html(DEMO), explanation_html(DEMO, QUESTIONS[4].text)):
        page = open_page(html, viewport={"width": 360, "height": 640}).page
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_light_and_dark_follow_the_system_and_the_switch(open_page: Callable[..., Opened]) -> None:
    page = open_page(timeline_html(PAIRS["mixed"]), color_scheme="dark").page
    switch = page.locator("#theme")
    assert (background(page), switch.get_attribute("aria-pressed")) == (DARK_PAGE, "true")
    switch.click()
    assert (background(page), switch.get_attribute("aria-pressed")) == (LIGHT_PAGE, "false")
    page = open_page(timeline_html(PAIRS["mixed"]), color_scheme="light").page
    assert background(page) == LIGHT_PAGE
    page.locator("#theme").click()
    assert background(page) == DARK_PAGE


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(open_page: Callable[..., Opened], scheme: str) -> None:
    """WCAG 2.1, 1.4.3: a contrast of 4.5 to 1."""
    for html in (timeline_html(DEMO[:12]), explanation_html(DEMO, QUESTIONS[4].text)):
        assert open_page(html, color_scheme=scheme).page.evaluate(LOW_CONTRAST) == []


# --- what it does


def test_a_click_on_a_cell_shows_its_turn_and_escape_closes_it(open_page: Callable[..., Opened]) -> None:
    page = open_page(timeline_html(DEMO)).page
    drawer = page.locator("#drawer")
    assert not drawer.is_visible()
    page.locator(".cells a[data-t='8']").click()
    assert drawer.is_visible()
    assert DEMO[8][0] in drawer.inner_text()
    assert DEMO[8][1][:40] in drawer.inner_text()
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
    assert page.locator("#count").inner_text() == f"{len(found)} of 41 turns"
    assert page.locator(".cells a[data-t].off").count() == 41 - len(found)
    page.locator("#text").fill("")
    page.locator("#topic").select_option(index=2)
    gatekeeper = ContextGatekeeper()
    gatekeeper.sync(DEMO)
    assert shown_turns(page) == list(Timeline.of(gatekeeper).subjects[1].turn_ids)


def test_decisions_are_filtered_by_outcome_and_text(open_page: Callable[..., Opened]) -> None:
    query = QUESTIONS[4].text
    page = open_page(explanation_html(DEMO, query)).page
    gatekeeper = ContextGatekeeper(300)
    gatekeeper.sync(DEMO)
    kept = [str(turn.turn_id) for turn in gatekeeper.explain(query).turns if not turn.trimmed]
    button = page.locator("button[data-outcome='kept']")
    button.click()
    rows = page.locator("[aria-labelledby=h-decisions] tbody tr:visible th").all_inner_texts()
    assert rows == kept != []
    assert button.get_attribute("aria-pressed") == "true"
    page.locator("button[data-outcome='']").click()
    page.locator("[aria-labelledby=h-decisions] tbody a").first.click()
    assert page.locator("#drawer").is_visible()


# --- what it must not do


def test_hostile_texts_are_shown_and_do_nothing(open_page: Callable[..., Opened]) -> None:
    pairs = [(f"{at} {HOSTILE}", f"{HOSTILE} {at}") for at in range(3)]
    for html in (timeline_html(pairs), explanation_html(pairs, f"端口 {HOSTILE}")):
        page = open_page(html).page
        assert page.locator("img").count() == 0
        assert "</script><img src=x onerror=alert(1)>" in page.locator(".turns").text_content()
        page.locator("#text").fill("</script>")
        assert shown_turns(page)
        page.locator("a[data-t]").last.click()
        assert "<img src=x onerror=alert(1)>" in page.locator("#drawer").inner_text()


def test_the_policy_stops_what_escaping_would_have_missed(browser: Any, tmp_path: Path) -> None:
    """Markup put into the finished page by hand neither runs nor reaches a server that is there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/x.png"
        evil = f'<script>document.title = "run"</script><img src="{address}" onerror="document.title = 1">'
        file = tmp_path / "evil.html"
        file.write_text(
            timeline_html(PAIRS["mixed"], name="Redis cache").replace("<main", f"{evil}<main", 1), encoding="utf-8"
        )
        opened = Opened(browser, file)
        assert opened.page.title().startswith("Redis cache")
        assert sum("Content Security Policy" in said for said in opened.said) >= 3
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.accept()
    opened.said.clear()
    opened.asked.clear()  # playwright counts what the policy has stopped
    opened.close()


def test_without_a_script_the_page_still_shows_every_turn(open_page: Callable[..., Opened]) -> None:
    page = open_page(timeline_html(DEMO), java_script_enabled=False).page
    assert page.locator(".turns > li").count() == 41
    assert not page.locator("#theme").is_visible()
    page.locator(".cells a[data-t='8']").click()
    assert page.url.endswith("#t8")
