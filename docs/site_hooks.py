"""The site's changes to the pages.

READMEs of packages join them, links into the code become names, pictures take the colours of the page. mkdocs loads
this file (``hooks`` in mkdocs.yml). On a code host the pages are read as they are.
"""

from __future__ import annotations

import html
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from collections.abc import Callable

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

READMES = {
    f"{name}.md": f"integrations/{package}/README.md"
    for name, package in {
        "langchain": "langchain_gatekeeper",
        "llamaindex": "llama_index/memory/gatekeeper",
        "hooks": "gatekeeper_hooks",
        "serve": "gatekeeper_serve",
        "mcp": "gatekeeper_mcp",
        "cli": "gatekeeper_cli",
        "eval": "gatekeeper_eval",
        "formats": "gatekeeper_formats",
    }.items()
} | {"results.md": "benchmarks/results/README.md"}
"""Pages that are READMEs elsewhere: of packages, and of the results."""
PAGES = {readme: page for page, readme in READMES.items()}
BOOSTS = {"recipes": 3, "results": 0.3, "api": 0.3}
"""Ranks in the search: a reader has a task, or types a name whole."""
LINK_OUT = re.compile(r"\[([^\]\[]+)\]\((\.\./[^)\s]+)\)")
PICTURE = re.compile(r"!\[([^\]]*)\]\((pictures/[\w-]+)\.svg\)")
ALTERNATE = re.compile(r'\s*<link rel="alternate" href="[^"]*" hreflang="[^"]*">')
TO_PLAYGROUND = re.compile(r'(href="(?:[\w./-]*/)?playground/)(?=["#])')
MEMBER = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
BROKEN_LINE = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef”])\n(?=[\u3000-\u9fff\uff00-\uffef“])")
"""A line that ends between two Chinese characters: a browser would show a space there."""
FENCE = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.MULTILINE | re.DOTALL)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Return the pages with the READMEs of the packages."""
    for page in READMES:
        files.append(File(page, config.docs_dir, config.site_dir, config.use_directory_urls))
    return files


def on_page_read_source(*, page: Page, config: MkDocsConfig) -> str | None:
    """Return the README that is the page; None: the page has a file of its own."""
    readme = READMES.get(page.file.src_uri)
    return (Path(config.docs_dir).parent / readme).read_text(encoding="utf-8") if readme else None


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Return the page with its links into the code as names, and its pictures in the page itself."""
    if page.file.norm_src_uri == "index.md":
        page.meta["hide"] = ["navigation", "toc"]  # room for the picture beside the text
    folder = posixpath.dirname(page.file.src_uri)
    if boost := BOOSTS.get(re.split("[./]", page.file.src_uri)[0]):
        page.meta["search"] = {"boost": boost}
    if folder == "api" and is_fallback(page):
        markdown = MEMBER.sub(lambda member: english_member(page, member[1]), markdown)
    docs = Path(config.docs_dir)
    source = posixpath.dirname(READMES.get(page.file.src_uri, f"docs/{page.file.src_uri}"))
    is_chinese = page.file.src_uri.endswith(".zh.md")

    def named(link: re.Match[str]) -> str:
        path, mark, anchor = link[2].partition("#")
        target = posixpath.normpath(posixpath.join(source, path))
        if target in PAGES or target.startswith("docs/"):
            there = posixpath.relpath(PAGES.get(target, target.removeprefix("docs/")), folder or ".")
            return f"[{link[1]}]({there}{mark}{anchor})"
        top, _, _ = target.partition("/")
        if (docs.parent / top).exists() and not (docs.parent / target).exists():
            return link[0]  # mkdocs will complain of it
        if link[1].strip("`") == posixpath.basename(target):
            return f"`{target}`"
        return f"{link[1]}（`{target}`）" if is_chinese else f"{link[1]} (`{target}`)"

    def drawn(picture: re.Match[str]) -> str:
        own = docs / folder / f"{picture[2]}.zh.svg"
        path = own if is_chinese and own.exists() else docs / folder / f"{picture[2]}.svg"
        if not path.exists():
            return picture[0]
        return inline(path.read_text(encoding="utf-8"), picture[1])

    def changed(text: str) -> str:
        text = PICTURE.sub(drawn, LINK_OUT.sub(named, text))
        return BROKEN_LINE.sub("", text) if is_chinese else text

    return outside_fences(markdown, changed)


def on_page_context(context: dict[str, object], *, page: Page, config: MkDocsConfig, nav: Navigation) -> None:  # noqa: ARG001
    """Let the home page switch languages by relative links, so that the site may lie in any folder of a host."""
    if page.file.norm_src_uri == "index.md":
        for alternate in config.extra.alternate:
            alternate["link"] = "./" if alternate["lang"] == "en" else f"{alternate['lang']}/"


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:  # noqa: ARG001
    """Return a page without the languages in its head: the theme would ask each of them for a sitemap of its own.

    The site's one sitemap names them, and the switch in the header links to them. Links to the playground name its
    file: opened from a file they would show a folder, and not the page that says how to serve it.
    """
    return TO_PLAYGROUND.sub(r"\1index.html", ALTERNATE.sub("", output))


def on_post_template(output: str, *, template_name: str, config: MkDocsConfig) -> str:
    """Return the page "404", which speaks both languages, for English alone: the Chinese site would write over it."""
    if template_name != "404.html":
        return output
    return "" if config.theme["language"] == "zh" else ALTERNATE.sub("", output)


def is_fallback(page: Page) -> bool:
    """Return whether a page of the Chinese site is the English one."""
    return page.file.locale != page.file.locale_alternate_of


def english_member(page: Page, name: str) -> str:
    """Return a link to a name of the API reference, which is built once, in English."""
    target = "../" * page.url.count("/") + page.url.removeprefix("zh/")
    return f'<a href="{target}#{name}"><code>{name}</code></a><br>'


def inline(svg: str, label: str) -> str:
    """Return a picture as one line of HTML with a text for screen readers, or raise where it is no SVG."""
    ET.fromstring(svg)  # noqa: S314  # our own file
    body = "".join(line.strip() + " " for line in svg.splitlines()).strip()
    opened = body.replace("<svg ", f'<svg role="img" aria-label="{html.escape(label)}" ', 1)
    return f'<figure class="picture-frame">{opened}</figure>'


def outside_fences(markdown: str, change: Callable[[str], str]) -> str:
    """Return the text with ``change`` made everywhere but in fenced blocks of code."""
    parts, at = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [change(markdown[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, change(markdown[at:])])
