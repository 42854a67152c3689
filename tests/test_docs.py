"""The code that the documentation shows runs as it stands.

* Each fenced ``python`` block of the README files, also of packages, and of docs/: a page's blocks run in order, in one program. A ``py``
  block is shown alike and is not run, because it needs a package that no extra brings; it must be Python.
* The recipe of each thin distribution.
* Each ``bash`` or ``console`` block right after a line ``<!-- run -->``: a page's blocks run in order, in one folder.
* The programs and the notebooks of docs/examples.
* The examples in the docstrings.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import gatekeeper_core
from tests.case_files import rows
from tests.chat.server import API_KEY, MiniMaxServer
from tests.commands import quick_command

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
READMES = [ROOT / "README.md", ROOT / "README.zh-CN.md"]
THIN_READMES = sorted((ROOT / "distributions").glob("*/README.md"))
PAGES = [*READMES, *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "integrations").rglob("README.md"))]
RUN_MARK = "<!-- run -->"

NEEDS = dict(rows("docs", "needs"))
"""The marker of the extras that a page needs."""
ALONE = "gatekeeper_hooks"
"""The README whose sections run alone, each with its framework: tests/hooks/test_recipes.py."""
BUILDER_EXAMPLE = ROOT / "docs" / "examples" / "context_builder.py"
"""The program that needs no framework; docs/builder.md shows a part of what it prints."""
EXAMPLES = sorted({*BUILDER_EXAMPLE.parent.glob("*.py")} - {BUILDER_EXAMPLE})
NOTEBOOKS = sorted(BUILDER_EXAMPLE.parent.glob("*.ipynb"))
PRINTED_MARK = "<!-- printed by docs/examples/context_builder.py -->"


def name_of(page: Path) -> str:
    """Return the name of an English page: that of its file, or of the package whose README it is."""
    return page.parent.name if "integrations" in page.parts else in_english(page).name


def in_english(page: Path) -> Path:
    """Return the English page of which this one is the Chinese version, or the page itself."""
    return page.with_name(page.name.replace(".zh.md", ".md"))


@dataclass(frozen=True)
class CodeBlock:
    """One fenced block: its language, its text, the 1-based line of its first line, and whether it is marked to run."""

    language: str
    text: str
    line: int
    marked: bool


def code_blocks(markdown: str) -> list[CodeBlock]:
    """Return the fenced blocks of a page, in order; the indentation of a fence is taken from its lines."""
    blocks = []
    fence, indent, language, start, marked = "", 0, "", 0, False
    body: list[str] = []
    last_text = ""
    for number, line in enumerate(markdown.splitlines(), 1):
        bare = line.strip()
        if fence:
            if bare.startswith(fence) and not bare.strip(fence[0]):
                blocks.append(CodeBlock(language, "".join(f"{text}\n" for text in body), start, marked))
                fence, last_text = "", ""
            else:
                body.append(line[min(indent, len(line) - len(line.lstrip())) :])
        elif bare.startswith(("```", "~~~")):
            fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
            indent, start, body = len(line) - len(line.lstrip()), number + 1, []
            language = (bare[len(fence) :].split() or [""])[0]
            marked = last_text == RUN_MARK
        elif bare:
            last_text = bare
    assert not fence, f"the block that starts at line {start} has no end"
    return blocks


def python_program(markdown: str) -> str:
    """Return the ``python`` blocks as one program, in which every line has the number that it has on the page."""
    lines: list[str] = []
    for block in code_blocks(markdown):
        if block.language == "python":
            lines += [""] * (block.line - 1 - len(lines)) + block.text.splitlines()
    return "".join(f"{line}\n" for line in lines)


def same_program(one: str, other: str) -> bool:
    """Return whether two programs are the same but for their comments and their layout."""
    return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))


def shell_program(markdown: str) -> str:
    """Return the marked blocks as one script; of a ``console`` block the lines after ``$`` (``>`` continues one)."""
    script = []
    for block in code_blocks(markdown):
        if block.marked and block.language == "bash":
            script.append(block.text)
        elif block.marked and block.language == "console":
            script += [line[2:] + "\n" for line in block.text.splitlines() if line.startswith(("$ ", "> "))]
    return "".join(script)


def clean_environment(*folders: str) -> dict[str, str]:
    """Return the environment of a program, with this interpreter's folder and others before PATH."""
    return os.environ | {
        "PATH": os.pathsep.join([*folders, str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        "PYTHONPATH": str(Path(gatekeeper_core.__file__).parents[1]),
        "PYTHONUTF8": "1",
    }


def run(command: list[str], folder: Path, **variables: str) -> str:
    """Run a program that must succeed, and return what it prints."""
    environment = clean_environment() | variables
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_the_readme_shows_the_two_commands_and_code_that_runs(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text
    assert python_program(text)


def own_program(page: Path) -> str:
    """Return the program of a page, or "" for a Chinese page whose English one runs the same."""
    text = "" if name_of(page) == ALONE else python_program(page.read_text(encoding="utf-8"))
    is_told = in_english(page) != page
    return "" if is_told and same_program(text, python_program(in_english(page).read_text(encoding="utf-8"))) else text


def each_page_with(program: Callable[[Path], str]) -> pytest.MarkDecorator:
    """Return the pages that have a program of their own, each with the marker of the extra that it needs."""
    return pytest.mark.parametrize(
        "page",
        [
            pytest.param(
                page,
                marks=[getattr(pytest.mark, NEEDS[name])] if (name := name_of(page)) in NEEDS else [],
                id=name_of(page) if page.name == "README.md" else page.name,
            )
            for page in PAGES
            if program(page)
        ],
    )


@each_page_with(own_program)
def test_the_python_blocks_of_a_page_run(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    program = tmp_path / f"page_{page.stem}.py"  # a page is named as a framework that it imports
    program.write_text(own_program(page), encoding="utf-8")
    # The frameworks deprecate much of themselves.
    warned = "default" if NEEDS.get(name_of(page)) == "adapters" else "error"
    command = [sys.executable, "-W", warned, str(program)]
    if name_of(page) in ("postgres.md", "recipes.md"):
        run(command, tmp_path, POSTGRES_URL=request.getfixturevalue("postgres_database"))
        return
    if page.name != "minimax.md":
        run(command, tmp_path)
        return
    with MiniMaxServer() as server:
        run(command, tmp_path, MINIMAX_API_KEY=API_KEY, MINIMAX_BASE_URL=server.base_url, NO_PROXY="127.0.0.1")
        assert server.requests


@pytest.mark.adapters
@pytest.mark.parametrize("page", THIN_READMES, ids=lambda page: page.parent.name)
def test_the_recipe_of_a_thin_distribution_prints_what_its_page_says(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    program = tmp_path / "recipe.py"
    program.write_text(python_program(text), encoding="utf-8")
    assert f"\n# {run([sys.executable, str(program)], tmp_path)}" in text


INSTALL = re.compile(r"pip install [\"'`]*context-gatekeeper(\[[\w.,-]+\])?")


def faults_of_install_lines(text: str) -> list[str]:
    """Return the install lines that need a release without saying so, or without the line that works today."""
    lines, faults = text.splitlines(), []
    for number, line in enumerate(lines):
        for found in INSTALL.finditer(line):
            context = " ".join(lines[max(0, number - 1) : number + 1]).lower()
            if not any(words in context for words in ("after the first release", "once released", "首次发布之后")):
                faults.append(f"{found[0]}: does not say that it is for after the first release")
            if not re.search(re.escape(f'".{found[1]}"') if found[1] else r"pip install \.\s", text):
                faults.append(f"{found[0]}: no line for the checkout")
    return faults


@pytest.mark.parametrize("page", [*PAGES, BUILDER_EXAMPLE, *EXAMPLES], ids=lambda page: page.name)
def test_an_install_line_works_today_or_says_when(page: Path) -> None:
    """Nothing is published yet: see "After the first release" in docs/dev/releasing.md."""
    assert faults_of_install_lines(page.read_text(encoding="utf-8")) == []


@pytest.mark.adapters
@pytest.mark.parametrize("program", EXAMPLES, ids=lambda program: program.name)
def test_an_example_program_runs(program: Path, tmp_path: Path) -> None:
    run([sys.executable, str(program)], tmp_path)


def test_the_page_of_the_builder_shows_what_its_example_prints(tmp_path: Path) -> None:
    printed = run([sys.executable, str(BUILDER_EXAMPLE)], tmp_path)
    _, _, shown = (ROOT / "docs" / "builder.md").read_text(encoding="utf-8").partition(PRINTED_MARK)
    (block,) = code_blocks(shown)
    assert block.text in printed
    assert len(block.text.splitlines()) > 10


def marked_commands(page: Path) -> str:
    return shell_program(page.read_text(encoding="utf-8"))


@pytest.mark.cli
@each_page_with(marked_commands)
def test_the_marked_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    with quick_command(clean_environment()) as commands:
        path = clean_environment(commands)["PATH"]
        run(["bash", "-euo", "pipefail", "-c", marked_commands(page)], tmp_path, PATH=path)


@pytest.mark.cli
def test_the_recorded_session_of_the_tutorial_is_what_the_command_answers() -> None:
    """Where it is not: make recording."""
    run([sys.executable, str(ROOT / "docs" / "record_chat.py"), "--check"], ROOT)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_the_cells_of_a_notebook_run_and_are_kept_without_their_outputs(notebook: Path) -> None:
    content = json.loads(notebook.read_text(encoding="utf-8"))
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert (content["nbformat"], bool(cells)) == (4, True)
    assert {(cell["execution_count"], *cell["outputs"]) for cell in cells} == {(None,)}
    assert run([sys.executable, "-c", "\n".join("".join(cell["source"]) for cell in cells)], notebook.parent)


@pytest.mark.cli
def test_the_terminal_pictures_of_the_tutorial_show_what_the_command_shows() -> None:
    """Where they do not: make recording."""
    run([sys.executable, str(ROOT / "docs" / "record_terminal.py"), "--check"], ROOT)


MODULES = [
    gatekeeper_core.__name__,
    *(found.name for found in pkgutil.walk_packages(gatekeeper_core.__path__, f"{gatekeeper_core.__name__}.")),
]


def test_the_examples_in_the_docstrings_run() -> None:
    assert [name for name in MODULES if doctest.testmod(importlib.import_module(name)).failed] == []
