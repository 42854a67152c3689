"""The playground of the site: the same answers as the library gives here, in a browser that asks nobody but the site."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import socket
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gatekeeper_cli.texts import ENGLISH, Language, Texts
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_formats import FormatError, read_conversation
from tests.browser import Opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

pytestmark = pytest.mark.cli

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "playground"
MAX_BYTES = 15_000_000
START_MS, ANSWER_MS = 120_000, 30_000
BUDGET = 400


@pytest.fixture(scope="module")
def pack() -> ModuleType:
    """The hook that packs the playground."""
    spec = importlib.util.spec_from_file_location("pack", FOLDER / "pack.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Site:
    """The playground on a server of ours, which counts the bytes that it sends."""

    def __init__(self, folder: Path) -> None:
        site = self

        class Handler(SimpleHTTPRequestHandler):
            def copyfile(self, source: Any, outputfile: Any) -> None:
                content = source.read()
                site.sent_bytes += len(content)
                outputfile.write(content)

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        self.sent_bytes = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def folder(pack: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the playground, as in the site, without the other pages."""
    if not pack.packed():
        reason = "npm gives no Pyodide: apt-get install npm"
        if os.environ.get("GATEKEEPER_REQUIRE_SERVERS") == "1":
            raise AssertionError(reason)
        pytest.skip(reason)
    site = tmp_path_factory.mktemp("site")
    for language, place in (("en", "playground"), ("zh", "zh/playground")):
        page = site / place / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(pack.playground_page(language, content="<p>Below</p>", files=pack.loaded_files()), "utf-8")
    pack.write_assets(site / "playground")
    return site


@pytest.fixture(scope="module")
def site(folder: Path) -> Site:
    return Site(folder)


@pytest.fixture(scope="module")
def opened(browser: Any, site: Site) -> Iterator[Opened]:
    """The English page with Python loaded and its server gone: all that is asked of it, it answers offline.

    At the end it must have been silent and have asked nobody else.
    """
    one = Opened(browser, f"{site.address}/playground/")
    assert one.page.locator("#progress").is_visible()
    one.page.wait_for_selector("body[data-ready]", timeout=START_MS)
    site.stop()
    yield one
    one.close()


@pytest.fixture
def page(opened: Opened) -> Any:
    return opened.page


def answered(page: Any) -> Any:
    """Wait for the answer, and return the frame of the explanation."""
    page.wait_for_selector("#form:not([aria-busy])", timeout=ANSWER_MS)
    assert page.locator("#error").inner_text() == ""
    return page.frame_locator("#explanation")


def ask(page: Any, chat: str, query: str) -> Any:
    """Ask about a chat that is pasted."""
    page.locator("#chat").fill(chat)
    page.locator("#query").fill(query)
    page.locator("#ask").click()
    return answered(page)


def drop(page: Any, name: str, content: str) -> None:
    """Drop a file on the page."""
    make = "([name, text]) => { const data = new DataTransfer(); data.items.add(new File([text], name)); return data; }"
    page.dispatch_event("main", "drop", {"dataTransfer": page.evaluate_handle(make, [name, content])})
    page.wait_for_selector("#form:not([aria-busy])", timeout=ANSWER_MS)


def explained(file: Path | io.BytesIO, query: str, *, name: str, texts: Texts = ENGLISH) -> str:
    """Return the page of the library, made here."""
    from gatekeeper_cli.html.pages import explanation_page

    turns = read_conversation(file).turns
    gatekeeper = ContextGatekeeper(BUDGET)
    gatekeeper.sync(turns)
    return explanation_page(gatekeeper.explain(query), turns, decision=None, name=name, texts=texts)


# --- what it shows


@pytest.mark.browser
@pytest.mark.parametrize("example", ["english", "chinese", "agent"])
def test_an_example_is_explained_byte_for_byte_as_the_library_does_here(
    page: Any, pack: ModuleType, example: str
) -> None:
    file, query = next((file, query) for name, file, query in pack.EXAMPLES if name == example)
    page.locator(f"button[data-file='{file}']").click()
    frame = answered(page)
    native = explained(FOLDER / "examples" / file, query, name=file)
    assert page.locator("#explanation").get_attribute("srcdoc") == native
    assert frame.locator("html.scripted").count() == 1  # its own script runs under both policies
    assert frame.locator("h1").inner_text() == query
    assert native.count('<span class="badge kept">') + native.count('<span class="badge trimmed">') >= 2
    tokens = [page.locator(f"#{row} td").first.inner_text() for row in ("selected", "whole")]
    assert int(tokens[0].replace(",", "")) < int(tokens[1].replace(",", ""))
    dollars = [page.locator(f"#{row} td").nth(1).inner_text() for row in ("selected", "whole")]
    assert float(dollars[0].strip("$")) < float(dollars[1].strip("$"))


@pytest.mark.browser
def test_a_file_that_cannot_be_read_gives_the_error_of_the_library(page: Any) -> None:
    content = '{"foo": "端口"}'
    with pytest.raises(FormatError) as refused:
        read_conversation(io.BytesIO(content.encode()), name="odd <b>.json")
    drop(page, "odd <b>.json", content)
    assert page.locator("#error").inner_text() == str(refused.value)


@pytest.mark.browser
def test_of_a_dropped_file_with_many_conversations_one_is_chosen(page: Any) -> None:
    talks = [
        {"id": f"c{at}", "title": f"talk {at}", "messages": [{"role": "user", "content": f"问题 {at}"}] * (at + 1)}
        for at in range(2)
    ]
    drop(page, "many.json", json.dumps(talks))
    assert "2 conversations" in page.locator("#error").inner_text()
    page.locator("#conversation").select_option("2")
    answered(page)
    assert page.locator("#read").inner_text().endswith(", turns: 2.")


# --- what it must not do


@pytest.mark.browser
def test_it_loads_less_than_fifteen_megabytes(opened: Opened, site: Site) -> None:
    assert 1_000_000 < site.sent_bytes < MAX_BYTES


@pytest.mark.browser
def test_neither_the_page_nor_its_worker_can_reach_another_host(
    browser: Any, pack: ModuleType, folder: Path, tmp_path: Path
) -> None:
    """The worker's policy is the page's, because its text comes from the page. Here Python is missing, which is said."""
    asking = """async address => { try { await new Promise((done, failed) => {
        const request = new XMLHttpRequest(); request.open("GET", address); request.onload = done;
        request.onerror = failed; request.timeout = 2000; request.ontimeout = done; request.send(); }); return "reached"; } catch { return "refused"; } }"""
    for name in ("report.css", "playground.css", "playground.js"):
        (tmp_path / name).write_bytes((folder / "playground" / name).read_bytes())
    (tmp_path / "index.html").write_text(pack.playground_page("en", content="", files={"lost.zip": 1}), "utf-8")
    running = Site(tmp_path)
    try:
        opened = Opened(browser, f"{running.address}/")
        page = opened.page
        page.wait_for_selector("#progress", state="hidden")
        assert "could not be loaded" in page.locator("#status").inner_text()
        (worker,) = page.workers
        with socket.create_server(("127.0.0.1", 0)) as other:
            foreign = f"http://127.0.0.1:{other.getsockname()[1]}/"
            for place in (page, worker):
                assert place.evaluate(asking, f"{running.address}/report.css") == "reached"
                assert place.evaluate(asking, foreign) == "refused"
            other.settimeout(0.2)
            with pytest.raises(TimeoutError):
                other.accept()
        assert any("Content Security Policy" in line for line in opened.messages)
        opened.messages.clear()
        opened.requests.clear()  # playwright counts what the policy has stopped
        opened.close()
    finally:
        running.stop()


@pytest.mark.browser
def test_it_opens_with_an_example_answered_in_chinese_and_at_the_address_of_its_file_too(
    browser: Any, pack: ModuleType, folder: Path
) -> None:
    running = Site(folder)
    opened = Opened(browser, f"{running.address}/zh/playground/index.html")
    _, file, query = next(example for example in pack.EXAMPLES if example[0] == "chinese")
    answer = explained(FOLDER / "examples" / file, query, name=file, texts=Texts(Language.zh))
    assert opened.page.locator("#explanation").get_attribute("srcdoc") == answer
    assert opened.page.locator("#query").input_value() == query
    assert opened.page.locator("#progress").is_visible(), "before Python is there"
    opened.page.wait_for_selector("body[data-ready]", timeout=START_MS)
    opened.close()
    running.stop()


# --- what it is made of


def test_without_npm_the_page_says_that_it_has_no_playground(
    pack: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(pack, "NPM_FOLDER", tmp_path / "npm")
    assert pack.pyodide_folder() is None
    for language, notice in (("en", "has no playground, because npm was missing"), ("zh", "构建时没有 npm")):
        html = pack.playground_page(language, content="<p>Below</p>", files={})
        assert notice in html
        assert "<script" not in html
        assert "<form" not in html


def test_what_npm_brings_is_fixed_by_hashes_and_names_no_host() -> None:
    lock = (FOLDER / "package-lock.json").read_text(encoding="utf-8")
    packages = json.loads(lock)["packages"]
    fetched = [one for place, one in packages.items() if place]
    assert all(one["integrity"].startswith("sha512-") for one in fetched)
    assert "://" not in lock
    dependencies = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert dependencies == {"pyodide": packages["node_modules/pyodide"]["version"]}


def test_every_text_is_there_in_both_languages_and_is_used() -> None:
    table = json.loads((FOLDER / "texts.json").read_text(encoding="utf-8"))
    assert all(len(texts) == 2 and all(texts) for texts in table.values())
    sources = "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("page.html.j2", "playground.js"))
    used = set(re.findall(r'say\("(\w+)"', sources)) | {f"example_{name}" for name in ("english", "chinese", "agent")}
    assert used - {"example_"} == set(table)
    for english, chinese in table.values():
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", chinese))


def test_the_library_is_packed_whole_with_the_licences_of_the_others(pack: ModuleType) -> None:
    names = {name for name, _ in pack.library_files()}
    assert {
        "gatekeeper_core/__init__.py",
        "gatekeeper_core/data/words.tsv",
        "gatekeeper_cli/texts.json",
        "playground.py",
        "examples/agent.jsonl",
    } <= names
    assert {"licenses/jinja2-LICENSE.txt", "licenses/markupsafe-LICENSE.txt"} <= names
    assert pack.library_zip() == pack.library_zip()
