"""Reports as pages: what stands in the file, whatever the conversation holds. What a browser makes of it is tested apart."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_cli.conversation import CONVERSATION, QUESTIONS
from gatekeeper_cli.costs import CallUse, Reported, TokenUse, token_use
from gatekeeper_cli.explanation import near_groups, why_not
from gatekeeper_cli.texts import ENGLISH, Language, Texts
from gatekeeper_cli.topics import Timeline
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig
from tests.command import run
from tests.conversations import HOSTILE, PAIRS, long_talk, turns_of
from tests.talks import talk

pytestmark = pytest.mark.cli

CHINESE = Texts(Language.zh)
MAX_BYTES = 1_000_000
TALK = list(CONVERSATION)


def timeline_html(
    pairs: list[tuple[str, str]], *, texts: Texts = ENGLISH, reported: Reported | None = None, name: str = "chat"
) -> str:
    from gatekeeper_cli.html.pages import timeline_page

    gatekeeper, turns = ContextGatekeeper(), turns_of(pairs)
    gatekeeper.sync(turns)
    use = token_use([message for turn in turns for message in turn.messages], token_budget=4000)
    return timeline_page(Timeline.of(gatekeeper), turns, use, reported, token_budget=4000, name=name, texts=texts)


def explanation_html(
    pairs: list[tuple[str, str]],
    query: str,
    *,
    texts: Texts = ENGLISH,
    budget: int = 4000,
    strategy: str = "gate",
    turn_id: int | None = None,
    sent: tuple[int, ...] = (),
) -> str:
    from gatekeeper_cli.html.pages import explanation_page

    gatekeeper = ContextGatekeeper(budget, config=GatekeeperConfig(strategy=strategy))  # type: ignore[arg-type]
    gatekeeper.sync(turns := turns_of(pairs))
    selection = gatekeeper.explain(query)
    decision = None if turn_id is None else selection.decision(turn_id)
    return explanation_page(selection, turns, decision=decision, name="chat", texts=texts, sent=sent)


class Seen(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in ("meta", "input", "link", "img", "br"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] not in ("style", "script"):
            self.texts.append(data)


PAGES = {
    "timeline": lambda texts: timeline_html(TALK, texts=texts),
    "explanation": lambda texts: explanation_html(TALK, QUESTIONS[4].text, texts=texts, turn_id=3, budget=300),
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_a_page_is_one_well_formed_file_that_says_its_language_and_names_no_other(page: str, texts: Texts) -> None:
    text = PAGES[page](texts)
    seen = Seen(text)
    assert ("html", "lang", "en" if texts is ENGLISH else "zh-CN") in seen.attributes
    assert seen.tags.count("h1") == 1
    ids = [value for _, name, value in seen.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    pointed = {value for _, name, value in seen.attributes if name == "aria-labelledby"}
    pointed |= {value[1:] for _, name, value in seen.attributes if name == "href"}
    assert pointed <= set(ids)
    assert not {"link", "img", "iframe", "object", "base", "form"} & set(seen.tags)
    assert not [value for _, name, value in seen.attributes if name in ("src", "srcset", "action", "style")]
    assert not [value for _, name, value in seen.attributes if name == "href" and not value.startswith("#")]
    assert not [name for _, name, _ in seen.attributes if name.startswith("on")]
    assert not re.search("https?:|@import", text)


@pytest.mark.parametrize("page", PAGES)
def test_the_policy_allows_the_inline_style_and_script_and_nothing_else(page: str) -> None:
    text = PAGES[page](ENGLISH)
    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', text)
    sources = []
    for tag in ("style", "script"):
        (source,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        sources.append(f"{tag}-src 'sha256-{digest}'")
    assert unescape(policy) == f"default-src 'none'; {'; '.join(sources)}; base-uri 'none'; form-action 'none'"
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_hostile_texts_are_text() -> None:
    calm = timeline_html(PAIRS["mixed"]), explanation_html(PAIRS["mixed"], "port", turn_id=0)
    plain = {tag for page in calm for tag in Seen(page).tags}
    pairs = [(f"{at} {HOSTILE}", f"{HOSTILE} {at}") for at in range(6)]
    for page in (
        timeline_html(pairs, name=HOSTILE),
        explanation_html(pairs, f"{HOSTILE} `</style>` port 端口", turn_id=0),
        explanation_html(pairs, HOSTILE, texts=CHINESE, budget=3, strategy="fill", turn_id=5),
    ):
        seen = Seen(page)
        assert set(seen.tags) <= plain
        assert not [name for _, name, _ in seen.attributes if name.startswith("on")]
        assert page.count("</script>") == page.count("<script>") == 1
        assert "<img src=x onerror=alert(1)>" in "".join(seen.texts)
        assert "{{ 7 * 7 }} {% x %}" in "".join(seen.texts)
        assert not set("\x00\x1b\ud800\u202e\u2066\u206a\U000e0001\U000e0041") & set(page)
        page.encode()


@given(text=st.text(st.characters(codec=None), max_size=60))
def test_no_text_adds_a_mark(text: str) -> None:
    calm, seen = (Seen(explanation_html([("port", reply)], "port", turn_id=0)) for reply in ("port", f"port {text}"))
    assert len(seen.tags) == len(calm.tags)


@pytest.mark.parametrize("page", ["timeline", "explanation"])
def test_a_thousand_long_turns_stay_under_a_megabyte(page: str) -> None:
    from gatekeeper_cli.html.pages import explanation_page, timeline_page

    # What a page says of topics and scores is as much for short turns as for long ones, and sooner there.
    gatekeeper = ContextGatekeeper(20_000, config=GatekeeperConfig(strategy="fill"))
    gatekeeper.sync(turns_of(long_talk(1000, words=2)))
    turns = turns_of(long_talk(1000, words=120))
    assert sum(len(turn.user_text) + len(turn.assistant_text) for turn in turns) > MAX_BYTES
    if page == "timeline":
        use = TokenUse(1000, 450_000_000, tuple(CallUse(at, at, at * 900, at * 10, at) for at in range(1000)))
        text = timeline_page(Timeline.of(gatekeeper), turns, use, token_budget=4000, name="chat", texts=CHINESE)
        assert text.count("<li id=") == 1000
    else:
        selection = gatekeeper.explain("cache sourdough Lisbon 钢琴 telescope 发票 花园 kubernetes")
        text = explanation_page(selection, turns, decision=None, name="chat", texts=CHINESE)
        assert text.count("<li id=") == 400
        assert len(selection.decisions) > 600
    assert len(text.encode()) < MAX_BYTES
    ids, links = ({value for _, name, value in Seen(text).attributes if name == kind} for kind in ("id", "href"))
    assert {link[1:] for link in links} <= ids


def test_every_turn_is_there_with_its_topic_and_its_tokens() -> None:
    gatekeeper, text = ContextGatekeeper(), timeline_html(TALK)
    gatekeeper.sync(CONVERSATION)
    shown = " ".join(Seen(text).texts)
    for turn_id, tokens in enumerate(gatekeeper.turn_tokens):
        assert re.search(rf"Turn {turn_id} +[^·]* · {tokens} tokens", shown)
        assert text.count(f'data-t="{turn_id}"') == 1


def test_the_page_shows_what_all_model_calls_cost_beside_what_was_reported() -> None:
    use = token_use(talk(TALK), token_budget=4000)
    shown = " ".join(Seen(timeline_html(TALK, reported=Reported(41, 91_234, 7, 5, 0))).texts)
    assert re.search(rf"Model calls +41 +{use.full:,} tokens with the full history", shown)
    assert re.search(r"Reported +91,234 +input tokens in 41 model calls", shown)
    assert "Reported" not in timeline_html(TALK)


def drawn(values: list[tuple[int, int, int]], texts: Texts = ENGLISH) -> tuple[str, dict[str, list[tuple[int, ...]]]]:
    """Return the page of model calls of these tokens, and the places of each line and each band of its chart."""
    from gatekeeper_cli.html.pages import timeline_page

    points = tuple(CallUse(at, at, *numbers) for at, numbers in enumerate(values))
    use = TokenUse(len(points), sum(point.full for point in points), points)
    page = timeline_page(Timeline.of(ContextGatekeeper()), (), use, token_budget=9, name="chat", texts=texts)
    assert f'class="chart" viewBox="0 0 {len(values) - 1} {max(1, *map(max, values))}"' in page
    found = re.findall(r'<poly(?:gon|line) class="([\w ]+)" points="([^"]*)"', page)
    return page, {kind: [tuple(map(int, at.split(","))) for at in places.split()] for kind, places in found}


@given(st.lists(st.tuples(*[st.integers(0, 10**6)] * 3), min_size=2, max_size=30))
def test_every_line_of_the_chart_is_drawn_or_nearly_equal_to_one_that_is(values: list[tuple[int, int, int]]) -> None:
    near, columns = 0.08 * max(1, *map(max, values)), [*zip(*values, strict=True)]
    lines = [[*zip(*line, strict=True)] for kind, line in drawn(values)[1].items() if "band" not in kind]
    assert all(calls == tuple(range(len(values))) and line in columns for calls, line in lines)
    for column in columns:
        assert any(all(abs(a - b) <= near for a, b in zip(line, column, strict=True)) for _, line in lines)


def test_lines_that_nearly_meet_are_one_with_a_band_from_the_lowest_to_the_highest() -> None:
    line, band = [(0, 97), (1, 990)], [(0, 97), (1, 990), (1, 1000), (0, 100)]
    assert drawn([(100, 98, 97), (1000, 1000, 990)])[1] == {"selected": line, "band selected": band}
    assert [*drawn([(100, 98, 9), (1000, 1000, 90)])[1]] == ["band full", "full", "selected"]
    assert [*drawn([(100, 50, 9), (1000, 500, 90)])[1]] == ["full", "window", "selected"]


def test_what_is_sent_comes_first_then_what_is_left_out_and_the_scores_behind_a_disclosure() -> None:
    gatekeeper, query = ContextGatekeeper(60), QUESTIONS[4].text
    gatekeeper.sync(turns_of(TALK))
    selection = gatekeeper.explain(query)
    page = unescape(explanation_html(TALK, query, budget=60, turn_id=3))
    sent, rest, scores = re.split("What was left out, and why|<details class=.part.>", page)
    sent_ids, rest_ids = ([*map(int, re.findall(r'<li id="t(\d+)"', part))] for part in (sent, rest))
    assert sent_ids == [turn.turn_id for turn in selection.turns if turn.trimmed] != []
    assert {*rest_ids} >= {one.turn_id for one in selection.decisions if one.outcome == "dropped"}
    for turn in selection.turns:  # the excerpt, and the whole turn behind it
        assert 0 < sent.index(turn.assistant) < sent.index(CONVERSATION[turn.turn_id][1])
    assert why_not(selection.decision(3), ENGLISH, query=query) in sent
    for reason, turns in near_groups(selection, ENGLISH):
        assert all(f'>Turn {at}</a> <b dir="auto">{text}</b>' in rest.partition(reason)[2] for at, text in turns)
    assert [bool(re.search("need 0[.]|<table", part)) for part in (sent, rest, scores)] == [False, False, True]


@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_no_saving_is_a_headline_where_something_may_be_missing(texts: Texts) -> None:
    cases = [(PAIRS["mixed"], "zebra quagga"), *((TALK, question.text) for question in QUESTIONS)]
    pages = [explanation_html(talk, query, texts=texts) for talk, query in cases]
    pages += [drawn([(9000, 9, tokens), (9000, 9, 0)], texts)[0] for tokens in (0, 1)]
    assert [texts("saved") in page for page in pages] == [False] * 9 + [True]
    assert ("<dd>1.00" in pages[0], any("100.0 %" in page for page in pages)) == (False, False)


def test_turns_that_are_sent_beside_the_selection_are_among_those_sent_and_nowhere_else() -> None:
    for beside, line in (((40,), "Left out: 3. of 41 turns"), (tuple(range(41)), "Nothing is left out.")):
        page = explanation_html(TALK, QUESTIONS[4].text, budget=300, sent=beside)
        sent, rest = (re.findall(r'<li id="t(\d+)"', part) for part in page.split("What was left out, and why"))
        assert {*map(str, beside)} <= {*sent} <= {*map(str, range(41))} - {*rest}
        assert re.search(line, page)


@pytest.mark.parametrize("command", ["inspect", "explain"])
@pytest.mark.parametrize("title", ["Cache and bread", "缓存与面包"])
def test_a_page_is_called_by_the_title_of_its_conversation(command: str, title: str, tmp_path: Path) -> None:
    file, page = tmp_path / "chat.md", tmp_path / "page.html"
    file.write_text(f"# {title}\n\n## User\n\nport 端口?\n\n## Assistant\n\n6380\n", encoding="utf-8")
    arguments = ["port?"] if command == "explain" else []
    assert run(command, file, *arguments, "--html", page).stderr == ""
    assert re.search(f"<h1[^>]*>{title}<|· {title}", page.read_text(encoding="utf-8"))
    file.write_text(file.read_text(encoding="utf-8").partition("\n\n")[2], encoding="utf-8")
    run(command, file, *arguments, "--html", page)
    assert "chat.md" in page.read_text(encoding="utf-8")
