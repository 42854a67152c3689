"""The playground of the site: its two pages, Python for the browser, and the library, all served by the site itself.

mkdocs loads this file (``hooks`` in mkdocs.yml). Pyodide comes as an npm package, checked against
``package-lock.json`` and kept in ``build/npm``; without it the page says that it has no playground.

::

    npm ci ──> pyodide.js, pyodide.asm.js, pyodide.asm.wasm.z, python_stdlib.zip, pyodide-lock.json ─┐
    gatekeeper_core, _formats, _cli, jinja2, markupsafe, playground.py, examples ──> gatekeeper.zip ─┴─> site/playground
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from importlib import resources
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from gatekeeper_cli.html.pages import policy_hash, source
from gatekeeper_core.pricing.prices import PRICES
from gatekeeper_formats import READABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

HERE = Path(__file__).parent
NPM_FOLDER = HERE.parents[1] / "build" / "npm"
NPM_FILES = ("package.json", "package-lock.json", ".npmrc")
PACKAGES = ("gatekeeper_core", "gatekeeper_formats", "gatekeeper_cli", "jinja2", "markupsafe")
LICENSED = ("jinja2", "markupsafe")
DEFAULT_MODEL = "claude-sonnet-5"
BUDGET = 400
EXAMPLES = (
    ("english", "english.json", "When is the maintenance window, and which snapshot do we roll back to?"),
    ("chinese", "chinese.txt", "餐饮一共多少钱，素餐有几份，找谁订？"),
    ("agent", "agent.jsonl", "Why did 支付服务 return 502, and what did we decide in PAY-402?"),
)
"""Name, file and question of each example."""
FIRST = {"en": "english", "zh": "chinese"}
"""The example that a page opens with, by language."""

HEADING = re.compile(r"<h1.*?</h1>", re.DOTALL)


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:  # noqa: ARG001
    """Put the playground, with what its Markdown says, in the place of the page of that name."""
    if page.file.src_uri not in ("playground.md", "playground.zh.md"):
        return output
    language = "zh" if page.file.src_uri.endswith(".zh.md") else "en"
    below = HEADING.sub("", page.content or "", count=1)  # the page has a heading of its own
    return playground_page(language, content=below, files=loaded_files())


def on_post_build(*, config: MkDocsConfig) -> None:
    """Write what the pages load."""
    write_assets(Path(config.site_dir) / "playground")


def write_assets(folder: Path) -> None:
    """Write style, script, Pyodide and the library to a folder; of the last two nothing where npm gives no Pyodide."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.css").write_text(source("report.css"), encoding="utf-8")
    for name in ("playground.css", "playground.js"):
        shutil.copy(HERE / name, folder)
    for name, content in packed().items():
        (folder / name).write_bytes(content)


def playground_page(language: str, *, content: str, files: dict[str, int]) -> str:
    """Return a page.

    Args:
        language: ``en`` or ``zh``; the Chinese page is one folder deeper in the site.
        content: the HTML below the playground.
        files: name and bytes of what the worker fetches; none: the page says that it has no playground.
    """
    table = json.loads((HERE / "texts.json").read_text(encoding="utf-8"))
    texts = {key: said[language == "zh"] for key, said in table.items()}
    templates = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined)
    return templates.get_template("page.html.j2").render(
        language=language,
        say=texts.__getitem__,
        texts=texts,
        policy=policy(),
        assets="../../playground/" if language == "zh" else "./",
        home="../index.html",
        other="../../playground/index.html" if language == "zh" else "../zh/playground/index.html",
        other_language="en" if language == "zh" else "zh",
        files=files,
        examples=[{"name": name, "file": file, "query": query} for name, file, query in EXAMPLES],
        formats=READABLE,
        models=PRICES,
        default_model=DEFAULT_MODEL,
        budget=BUDGET,
        first=first_answer(language),
        content=Markup(content),  # noqa: S704  # made from our own Markdown
    )


def first_answer(language: str) -> dict[str, Any]:
    """Return the first example of a page, as the page shows it: its file, text, question and answer."""
    spec = importlib.util.spec_from_file_location("playground", HERE / "playground.py")
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    respond = module.Playground().respond
    file, query = next((file, query) for name, file, query in EXAMPLES if name == FIRST[language])
    text = (HERE / "examples" / file).read_text(encoding="utf-8")
    read = {"call": "read", "name": file, "form": "", "conversation": "", "language": language}
    respond(json.dumps(read), text.encode())
    ask = {"call": "ask", "query": query, "budget": BUDGET, "strategy": "gate", "model": DEFAULT_MODEL}
    answer = json.loads(respond(json.dumps(ask | {"language": language})))
    return {"file": file, "text": text, "query": query, "answer": answer}


def policy() -> str:
    """Return the policy of the pages, which the worker and the explanation in its frame have from them.

    They connect to their own host alone. The hashes are those of the style and the script in an explanation.
    """
    return (
        f"default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {policy_hash(source('report.js'))}; "
        f"style-src 'self' {policy_hash(source('report.css'))}; connect-src 'self'; worker-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def loaded_files() -> dict[str, int]:
    """Return name and bytes of what the worker fetches; what it imports as modules is not among them."""
    return {name: len(content) for name, content in packed().items() if not name.endswith(".js")}


@cache
def packed() -> dict[str, bytes]:
    """Return Pyodide and the library as files by name; none where npm gives no Pyodide."""
    folder = pyodide_folder()
    if folder is None:
        return {}
    return {
        # As .js, because old web servers do not know .mjs as a script.
        "pyodide.js": (folder / "pyodide.mjs").read_bytes(),
        "pyodide.asm.js": (folder / "pyodide.asm.mjs").read_bytes(),
        # Compressed here, because not every web server compresses WebAssembly; .z, because some unpack .gz themselves.
        "pyodide.asm.wasm.z": gzip.compress((folder / "pyodide.asm.wasm").read_bytes(), mtime=0),
        "python_stdlib.zip": (folder / "python_stdlib.zip").read_bytes(),
        "pyodide-lock.json": (folder / "pyodide-lock.json").read_bytes(),
        "gatekeeper.zip": library_zip(),
    }


def pyodide_folder() -> Path | None:
    """Return the folder of the npm package, fetched once for each lock file, or None where npm does not give it."""
    lock = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()[:16]
    kept, npm = NPM_FOLDER / lock, shutil.which("npm")
    if not kept.exists():
        if npm is None:
            sys.stderr.write("the playground is left out of the site: npm was not found\n")
            return None
        NPM_FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=NPM_FOLDER) as making:
            for name in NPM_FILES:
                shutil.copy(HERE / name, making)
            done = subprocess.run([npm, "ci"], cwd=making, capture_output=True, encoding="utf-8", check=False)  # noqa: S603
            if done.returncode:
                sys.stderr.write(f"the playground is left out of the site: npm ci failed\n{done.stderr}\n")
                return None
            try:
                Path(making, "node_modules").rename(kept)
            except OSError:
                if not kept.exists():  # else another build was faster
                    raise
    return kept / "pyodide"


def library_zip() -> bytes:
    """Return the library, what its pages need, and the playground's own Python, the same bytes for the same sources."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, path in sorted(library_files()):
            archive.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return content.getvalue()


def library_files() -> Iterator[tuple[str, Path]]:
    """Yield name in the archive and path of each file of the library."""
    for package in PACKAGES:
        root = Path(str(resources.files(package)))
        for path in root.rglob("*"):
            if path.suffix in (".py", ".tsv", ".sql", ".json", ".md", ".j2", ".css", ".js"):
                yield f"{package}/{path.relative_to(root).as_posix()}", path
    for package in LICENSED:
        for file in distribution(package).files or ():
            if "license" in file.name.lower():
                yield f"licenses/{package}-{file.name}", Path(str(distribution(package).locate_file(file)))
    yield "playground.py", HERE / "playground.py"
    for _, name, _ in EXAMPLES:
        yield f"examples/{name}", HERE / "examples" / name
