"""The documentation as a site: links, pictures, the API reference, and that a page asks nothing of another host.

The tests with the marker ``site`` build it with mkdocs, strictly (or read the one that GATEKEEPER_SITE names); the others
read the sources with the standard library alone.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

import pytest

import gatekeeper_core
from benchmarks.page import drawn
from tests.case_files import from_file, rows

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
RESULTS = ROOT / "benchmarks" / "results"
INSTALLED = Path(gatekeeper_core.__file__).parents[1]
"""Where the code lies that pages link to, when the tests run on the wheel alone."""
READMES = sorted((ROOT / "integrations").rglob("README.md"))
PAGES = [
    *(ROOT / name for name in ("README.md", "README.zh-CN.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(DOCS.glob("*.md")),
    *sorted((DOCS / "api").glob("*.md")),
    *sorted((DOCS / "dev").glob("*.md")),
    RESULTS / "README.md",
    *READMES,
]
SITE_NAMES = ("cli", "eval", "formats", "hooks", "langchain", "llamaindex", "mcp", "results", "serve")
"""The pages of the site that are READMEs elsewhere."""
PICTURES = sorted((DOCS / "pictures").glob("*.svg"))
CHINESE = sorted(DOCS.glob("*.zh.md"))
SVG = "{http://www.w3.org/2000/svg}"
FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#* *$", re.MULTILINE)
RESOURCES = dict(rows("site", "resources"))
"""What a browser fetches by itself."""


def slug(heading: str) -> str:
    """Return the anchor that a code host and the site give to a heading."""
    text = LINK.sub(lambda link: link[2], heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    return {slug(heading) for heading in HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8")))}


def links(markdown: str) -> list[tuple[str, str, bool]]:
    """Return text, target and whether it is a picture, for each link that is not in code."""
    text = FENCE.sub("", markdown)
    bare = re.sub(r"\s+", " ", CODE.sub(lambda code: re.sub(r"[\[\]()]", " ", code[0]), text))
    return [(name, target, mark == "!") for mark, name, target in LINK.findall(bare)]


def broken(page: Path, markdown: str) -> list[str]:
    """Return the targets of a page's relative links that are not there."""
    wrong = []
    for _, target, _ in links(markdown):
        parts = urlsplit(target)
        if parts.scheme:
            continue
        path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        is_found = path.is_relative_to(ROOT) and (path.exists() or (INSTALLED / path.relative_to(ROOT)).exists())
        if not is_found or (parts.fragment and unquote(parts.fragment) not in anchors(path)):
            wrong.append(target)
    return wrong


def test_every_relative_link_leads_to_a_file_and_its_heading() -> None:
    wrong = {page.name: broken(page, page.read_text(encoding="utf-8")) for page in PAGES}
    assert {name: targets for name, targets in wrong.items() if targets} == {}


@pytest.mark.parametrize("file", sorted(RESULTS.glob("*.json")), ids=lambda file: file.stem)
def test_a_result_names_its_command_and_commit_and_the_page_links_to_it(file: Path) -> None:
    result = json.loads(file.read_text(encoding="utf-8"))
    assert [re.match(r"make bench|([A-Z_]+=\S+ )*python -m ", command) for command in result["commands"]].count(
        None
    ) == 0
    assert re.match(r"[0-9a-f]{7}\b", result["commit"])
    assert all(rows for rows in result["tables"].values())
    assert f"results/README.md#{file.stem})" in (DOCS / "benchmarks.md").read_text(encoding="utf-8")


def test_the_page_of_results_is_drawn_from_their_files() -> None:
    """Where it is not: python -m benchmarks.page."""
    assert (RESULTS / "README.md").read_text(encoding="utf-8") == drawn(RESULTS)


def test_every_picture_has_a_text_for_those_who_do_not_see_it() -> None:
    shown = [(page.name, *link) for page in PAGES for link in links(page.read_text(encoding="utf-8"))]
    assert [(name, text) for name, text, _, is_picture in shown if is_picture and len(text) < 20] == []


def test_a_picture_is_plain_svg_that_fetches_nothing() -> None:
    attributes = {"class", "d", "height", "rx", "stroke-dasharray", "viewBox", "width", "x", "y"}  # colours: by class
    for picture in PICTURES:
        root = ET.fromstring(picture.read_text(encoding="utf-8"))  # noqa: S314  # our own file
        assert (root.tag, root.get("class")) == (f"{SVG}svg", "picture"), picture
        assert root.get("viewBox"), picture
        assert {part.tag.removeprefix(SVG) for part in root.iter()} <= {"svg", "style", "rect", "path", "text"}, picture
        assert not re.search(r"url\(|@import|href|<!", picture.read_text(encoding="utf-8")), picture
        assert {name for part in root.iter() for name in part.attrib} <= attributes, picture


def public_names(package: str) -> list[str]:
    """Return the public names of a package, without importing what an extra brings."""
    where = importlib.util.find_spec(package)
    for node in ast.parse(Path(where.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("__all__", "_MODULES", "_NAMES"):
            names = ast.literal_eval(node.value)
            by_module = ast.unparse(node.targets[0]) == "_NAMES"
            return " ".join(names.values()).split() if by_module else list(names)
    raise AssertionError(f"{package} has no __all__")


@from_file("package")
def test_every_public_name_stands_once_in_the_api_reference(package: str) -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    listed = re.findall(rf"^::: {re.escape(package)}\.(\w+)$", pages, re.MULTILINE)
    assert sorted(listed) == sorted(public_names(package))


def test_a_chinese_page_stands_beside_an_english_one_and_is_chinese() -> None:
    assert [page.name for page in CHINESE if not page.with_name(page.name.replace(".zh.md", ".md")).exists()] == []
    headings = [
        (page.name, heading)
        for page in CHINESE
        for heading in HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
        if not re.search(r"[\u4e00-\u9fff]", heading)
    ]
    # One word, as LangChain, stays as it is.
    assert [(name, words) for name, words in headings if " " in words and words != "Context Gatekeeper"] == []


@pytest.mark.parametrize("page", [*CHINESE, ROOT / "README.zh-CN.md"], ids=lambda page: page.name)
def test_a_chinese_page_is_in_step_with_the_english_one(page: Path) -> None:
    def outline(page: Path) -> tuple[list[str], list[str], list[str]]:
        code = page.read_text(encoding="utf-8")
        text = re.sub(r"\]\([^)]*\)|<a [^>]+>", "", FENCE.sub("", code))
        levels = [line.partition(" ")[0] for line in text.splitlines() if re.match("#+ ", line)]
        return levels, re.findall(r"^```(\w+)$", code, re.MULTILINE), sorted(re.findall(r"\d[\d,.]*\d", text))

    assert outline(page) == outline(page.with_name(re.sub(r"\.zh(-CN)?", "", page.name)))


def test_every_page_has_its_line_in_the_navigation() -> None:
    listed = re.findall(
        r"^ +- (?:[^:\n]+: )?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE
    )
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} | {f"{name}.md" for name in SITE_NAMES}
    assert sorted(listed) == sorted(page for page in pages if not page.endswith(".zh.md") and page != "README.md")


@dataclass(eq=False)
class Html(HTMLParser):
    """What a page fetches, where it points, and which anchors it has."""

    path: Path
    fetched: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    styles: list[str] = field(default_factory=list)
    language: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self.text = self.path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.fetched += [values[name] for name in RESOURCES.get(tag, ()) if name in values]
        self.styles += [values["style"]] if "style" in values else []
        if tag == "a" and "href" in values:
            self.targets.append(values["href"])
        if tag == "html":
            self.language = values.get("lang", "")
        self.ids |= {values["id"]} if "id" in values else set()

    def handle_data(self, data: str) -> None:
        if self.get_starttag_text() and (self.get_starttag_text() or "").startswith("<style"):
            self.styles.append(data)


def foreign(page: Html) -> list[str]:
    """Return what a page fetches from another host."""
    fetched = [*page.fetched, *re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')\s]+)", " ".join(page.styles))]
    return [each for each in fetched if urlsplit(each).netloc]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Html]:
    """The pages of the site."""
    folder = Path(os.environ.get("GATEKEEPER_SITE") or tmp_path_factory.mktemp("site"))
    if not os.environ.get("GATEKEEPER_SITE"):
        if importlib.util.find_spec("mkdocs") is None:
            pytest.skip("mkdocs is not installed: pip install --group docs")
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
        built = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
            timeout=180,
            check=False,
        )
        assert built.returncode == 0, built.stdout + built.stderr
    pages = {path.resolve(): Html(path) for path in sorted(folder.rglob("*.html"))}
    assert len(pages) > 50
    return pages


@pytest.mark.site
def test_no_page_of_the_site_fetches_anything_from_another_host(site: dict[Path, Html]) -> None:
    found = {str(path): hosts for path, page in site.items() if (hosts := foreign(page))}
    assert found == {}
    folder = Path(os.path.commonpath(site))
    sheets = list(folder.rglob("*.css"))
    assert sheets
    for sheet in sheets:
        fetched = re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')\s]+)", sheet.read_text(encoding="utf-8"))
        assert [each for each in fetched if urlsplit(each).netloc and not each.startswith("data:")] == [], sheet


@pytest.mark.site
def test_every_link_within_the_site_leads_to_a_file_and_its_anchor(site: dict[Path, Html]) -> None:
    wrong = defaultdict(list)
    folder = Path(os.path.commonpath(site))
    for path, page in site.items():
        for target in {*page.targets, *page.fetched}:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            # "404" is served under any address, so its links begin at the top.
            start = folder if path.name == "404.html" else path.parent
            there = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            there = there / "index.html" if there.is_dir() else there
            is_found = there.is_relative_to(folder) and there.exists()
            if is_found and parts.fragment and there in site:
                is_found = unquote(parts.fragment) in site[there].ids
            if not is_found:
                wrong[str(path)].append(target)
    assert wrong == {}


@pytest.mark.site
def test_a_chinese_page_is_shown_in_chinese_and_a_missing_one_says_that_it_is_english(site: dict[Path, Html]) -> None:
    folder = Path(os.path.commonpath(site))
    translated = {page.name.removesuffix(".zh.md") for page in CHINESE} - {"index"}
    assert translated
    for name in {page.stem for page in DOCS.glob("*.md") if "." not in page.stem} - {"README", "index"}:
        page = site[(folder / "zh" / name / "index.html").resolve()]
        assert page.language == "zh"
        assert ("本页还没有中文版" in page.text) is (name not in translated), name
    assert all("本页还没有中文版" not in page.text for path, page in site.items() if "zh" not in path.parts)
