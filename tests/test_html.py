"""Reports as pages: what stands in the file, whatever the conversation holds. What a browser makes of it is tested apart."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_cli.conversation import CONVERSATION, QUESTIONS
from gatekeeper_cli.costs import CallUse, Reported, TokenUse, token_use
from gatekeeper_cli.texts import ENGLISH, Language, Texts
from gatekeeper_cli.topics import Timeline
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig
from tests.command import run
from tests.conversations import HOSTILE, PAIRS, long_talk, turns_of

pytestmark = pytest.mark.cli

CHINESE = Texts(Language.zh)
MAX_BYTES = 1_000_000


def timeline_html(
    pairs: list[tuple[str, str]], *, texts: Texts = ENGLISH, reported: Reported | None = None, name: str = "chat"
) -> str:
    from gatekeeper_cli.html.pages import timeline_page

    gatekeeper, turns = ContextGatekeeper(), turns_of(pairs)
    gatekeeper.sync(turns)
    messages = [message for turn in turns for message in turn.messages]
    use = token_use(messages, token_budget=4000)
    return timeline_page(Timeline.of(gatekeeper), turns, use, reported, token_budget=4000, name=name, texts=texts)


def explanation_html(
    pairs: list[tuple[str, str]],
    query: str,
    *,
    texts: Texts = ENGLISH,
    budget: int = 4000,
    strategy: str = "gate",
    asked: int | None = None,
) -> str:
    from gatekeeper_cli.html.pages import explanation_page

    gatekeeper = ContextGatekeeper(budget, config=GatekeeperConfig(strategy=strategy))  # type: ignore[arg-type]
    turns = turns_of(pairs)
    gatekeeper.sync(turns)
    selection = gatekeeper.explain(query)
    decision = None if asked is None else selection.decision(asked)
    return explanation_page(selection, turns, decision=decision, name="chat", texts=texts)


@cache
def hostile_pages() -> tuple[str, ...]:
    pairs = [(f"{at} {HOSTILE}", f"{HOSTILE} {at}") for at in range(6)]
    return (
        timeline_html(pairs, name=HOSTILE),
        explanation_html(pairs, f"{HOSTILE} `</style>` port 端口", asked=0),
        explanation_html(pairs, HOSTILE, texts=CHINESE, budget=3, strategy="fill", asked=5),
    )


class Seen(HTMLParser):
    """The tags, attributes and texts of a page."""

    VOID = frozenset({"meta", "input", "link", "img", "br"})

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
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] not in ("style", "script"):
            self.texts.append(data)


PAGES = {
    "timeline": lambda texts: timeline_html(list(CONVERSATION), texts=texts),
    "explanation": lambda texts: explanation_html(
        list(CONVERSATION), QUESTIONS[4].text, texts=texts, asked=3, budget=300
    ),
}
each_page = pytest.mark.parametrize("page", PAGES)


@each_page
@pytest.mark.parametrize("texts", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_a_page_is_well_formed_and_says_its_language(page: str, texts: Texts) -> None:
    seen = Seen(PAGES[page](texts))
    assert ("html", "lang", "en" if texts is ENGLISH else "zh-CN") in seen.attributes
    assert seen.tags.count("h1") == 1
    ids = [value for _, name, value in seen.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    pointed = {value for _, name, value in seen.attributes if name == "aria-labelledby"}
    pointed |= {value[1:] for _, name, value in seen.attributes if name == "href"}
    assert pointed <= set(ids)


@each_page
def test_a_page_is_one_file_that_names_no_other(page: str) -> None:
    seen = Seen(PAGES[page](ENGLISH))
    assert not {"link", "img", "iframe", "object", "base", "form"} & set(seen.tags)
    assert not [value for _, name, value in seen.attributes if name in ("src", "srcset", "action", "style")]
    assert not [value for _, name, value in seen.attributes if name == "href" and not value.startswith("#")]
    assert not [name for _, name, _ in seen.attributes if name.startswith("on")]
    assert "http:" not in PAGES[page](ENGLISH).replace("http-equiv", "")
    assert "https:" not in PAGES[page](ENGLISH)
    assert "@import" not in PAGES[page](ENGLISH)


@each_page
def test_the_policy_allows_the_inline_style_and_script_and_nothing_else(page: str) -> None:
    text = PAGES[page](ENGLISH)
    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', text)
    hashes = []
    for tag in ("style", "script"):
        (source,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        hashes.append(base64.b64encode(hashlib.sha256(source.encode()).digest()).decode())
    policy = policy.replace("&#39;", "'")
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_hostile_texts_are_text() -> None:
    plain = set(Seen(timeline_html(PAIRS["mixed"])).tags) | set(
        Seen(explanation_html(PAIRS["mixed"], "port", asked=0)).tags
    )
    for page in hostile_pages():
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
    calm = Seen(explanation_html([("port", "port")], "port", asked=0))
    seen = Seen(explanation_html([("port", f"port {text}")], "port", asked=0))
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
        points = tuple(CallUse(at, at, at * 900, at * 10, at) for at in range(1000))
        use = TokenUse(1000, 450_000_000, points)
        text = timeline_page(Timeline.of(gatekeeper), turns, use, token_budget=4000, name="chat", texts=CHINESE)
        assert text.count("<li id=") == 1000
    else:
        selection = gatekeeper.explain("cache sourdough Lisbon 钢琴 telescope 发票 花园 kubernetes")
        text = explanation_page(selection, turns, decision=None, name="chat", texts=CHINESE)
        assert text.count("<li id=") == 400
        assert len(selection.decisions) > 600
    assert len(text.encode()) < MAX_BYTES
    seen = Seen(text)
    ids = {value for _, name, value in seen.attributes if name == "id"}
    assert {value[1:] for _, name, value in seen.attributes if name == "href"} <= ids


def test_every_turn_is_there_with_its_topic_and_its_tokens() -> None:
    gatekeeper, text = ContextGatekeeper(), timeline_html(list(CONVERSATION))
    gatekeeper.sync(CONVERSATION)
    shown = " ".join(Seen(text).texts)
    for turn_id, tokens in enumerate(gatekeeper.turn_tokens):
        assert re.search(rf"Turn {turn_id} +[^·]* · {tokens} tokens", shown)
        assert text.count(f'data-t="{turn_id}"') == 1


def test_the_page_shows_what_all_model_calls_cost_beside_what_was_reported() -> None:
    pairs = list(CONVERSATION)
    use = token_use([message for turn in turns_of(pairs) for message in turn.messages], token_budget=4000)
    shown = " ".join(Seen(timeline_html(pairs, reported=Reported(41, 91_234, 7, 5, 0))).texts)
    assert re.search(rf"Model calls +41 +{use.full:,} tokens with the full history", shown)
    assert re.search(r"Reported +91,234 +input tokens in 41 model calls", shown)
    assert "Reported" not in timeline_html(pairs)


def test_the_explanation_holds_the_answer_the_decisions_and_the_near_misses() -> None:
    from gatekeeper_cli.explanation import near_groups, why_not

    gatekeeper = ContextGatekeeper(300)
    gatekeeper.sync(turns_of(list(CONVERSATION)))
    selection = gatekeeper.explain(QUESTIONS[4].text)
    shown = "".join(Seen(PAGES["explanation"](ENGLISH)).texts)
    assert why_not(selection.decision(3), ENGLISH, query=selection.query) in shown
    near = near_groups(selection, ENGLISH)
    assert near
    assert all(reason in shown for reason, _ in near)
    assert all(f"Turn {turn_id} {text}" in shown for _, turns in near for turn_id, text in turns)
    text = PAGES["explanation"](ENGLISH)
    assert all(f'<li id="t{decision.turn_id}"' in text for decision in selection.decisions)


@given(st.lists(st.tuples(*[st.integers(0, 10**6)] * 3), min_size=2, max_size=30))
def test_the_lines_stay_in_their_chart(values: list[tuple[int, int, int]]) -> None:
    from gatekeeper_cli.html.pages import timeline_page

    points = tuple(CallUse(at, at, *numbers) for at, numbers in enumerate(values))
    timeline = Timeline.of(ContextGatekeeper())
    text = timeline_page(timeline, (), TokenUse(len(points), 1, points), token_budget=9, name="chat", texts=ENGLISH)
    (box,) = re.findall(r'class="chart" viewBox="0 0 (\d+) (\d+)"', text)
    lines = re.findall(r'<polyline class="(\w+)" points="([^"]*)"', text)
    assert [kind for kind, _ in lines] == ["full", "window", "selected"]
    drawn = [[tuple(map(int, place.split(","))) for place in places.split()] for _, places in lines]
    assert [[y for _, y in line] for line in drawn] == [list(column) for column in zip(*values, strict=True)]
    assert all(0 <= x <= int(box[0]) and 0 <= y <= int(box[1]) for line in drawn for x, y in line)


@pytest.mark.parametrize("command", ["inspect", "explain"])
@pytest.mark.parametrize("title", ["Cache and bread", "缓存与面包"])
def test_a_page_is_called_by_the_title_of_its_conversation(command: str, title: str, tmp_path: Path) -> None:
    file, page = tmp_path / "chat.md", tmp_path / "page.html"
    file.write_text(f"# {title}\n\n## User\n\nport 端口?\n\n## Assistant\n\n6380\n", encoding="utf-8")
    asked = ["port?"] if command == "explain" else []
    result = run(command, file, *asked, "--html", page)
    assert (result.exit_code, result.stderr) == (0, "")
    assert title in Seen(page.read_text(encoding="utf-8")).texts or f"· {title}" in page.read_text(encoding="utf-8")
    file.write_text(file.read_text(encoding="utf-8").partition("\n\n")[2], encoding="utf-8")
    run(command, file, *asked, "--html", page)
    assert "chat.md" in page.read_text(encoding="utf-8")
