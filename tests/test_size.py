"""The size of the project: each figure of ``size.tsv`` may only go down.

``python -m tests.test_size`` lowers the rows that the tree has left behind. It raises none: a row goes up by hand, in the
commit that says what leaves.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

import gatekeeper_core
from tests.test_architecture import ALL_MODULES, CORE, DATA, Module

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "size.tsv"
FIELDS = 12
ARGUMENTS = 7
DOORS = ("tests/hooks", "tests/mcp", "tests/serve")
"""Folders of tests with a row of their own: those of a door that is a package of its own."""
WORD = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")  # a Chinese character is a word
Function = ast.FunctionDef | ast.AsyncFunctionDef


def limits() -> dict[str, int]:
    rows = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    return {name: int(figure) for name, figure in (row.split("\t") for row in rows)}


def room_of(module: Module) -> str:
    if module.package != CORE:
        return f"lines of {module.package}"
    folders = module.path.relative_to(Path(gatekeeper_core.__file__).parent).parts[:-1]
    return "lines of " + "/".join((CORE, *folders[: 2 if folders[:1] == ("context",) else 1]))


def lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def words(paths: Iterable[Path]) -> int:
    return sum(len(WORD.findall(path.read_text(encoding="utf-8"))) for path in paths)


def uses(tree: ast.AST) -> Counter[str]:
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)]
    return Counter(node.id if isinstance(node, ast.Name) else node.attr for node in named)


def private_functions_used_once(tree: ast.Module) -> list[str]:
    used = uses(tree)
    private = [node for node in ast.walk(tree) if isinstance(node, Function) and re.match("_(?!_)", node.name)]
    return [node.name for node in private if used[node.name] - uses(node)[node.name] == 1]


def fields_of_values(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each NamedTuple and dataclass with the number of its fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            signs = " ".join(map(ast.unparse, [*node.bases, *node.decorator_list]))
            if re.search(r"\b(NamedTuple|dataclass)\b", signs):
                noted = [ast.unparse(item.annotation) for item in node.body if isinstance(item, ast.AnnAssign)]
                yield node.name, sum("ClassVar" not in note for note in noted)


def functions_with_many_arguments(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, Function):
            given = {argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
            if len(given - {"self", "cls"}) > ARGUMENTS:
                yield node.name


@cache
def figures() -> dict[str, int]:
    rooms: dict[str, list[Path]] = {}
    for module in ALL_MODULES:
        if module.package != CORE or module.name not in DATA:
            rooms.setdefault(room_of(module), []).append(module.path)
    rooms |= {f"lines of {folder}": [*(ROOT / folder).rglob("*.py")] for folder in ("benchmarks", *DOORS)}
    doors = {path for folder in DOORS for path in rooms[f"lines of {folder}"]}
    rooms["lines of tests"] = [path for path in (ROOT / "tests").rglob("*.py") if path not in doors]
    pages = {*(ROOT / "docs").glob("*.md"), *(ROOT / "integrations").rglob("README.md")}
    chinese = {*(ROOT / "docs").glob("*.zh.md")}
    trees = [module.tree for module in ALL_MODULES]
    values = [*chain(*map(fields_of_values, trees))]
    return {
        **{room: lines(paths) for room, paths in sorted(rooms.items())},
        "words of docs": words(pages - chinese),
        "words of docs in Chinese": words(chinese),
        "words of benchmarks/results": words((ROOT / "benchmarks" / "results").glob("*.md")),
        "settings": sum(count for name, count in values if name.endswith("Config")),
        "public names": len(gatekeeper_core.__all__),
        "private functions used once": len([*chain(*map(private_functions_used_once, trees))]),
        f"values with more than {FIELDS} fields": sum(count > FIELDS for _, count in values),
        f"functions with more than {ARGUMENTS} arguments": len([*chain(*map(functions_with_many_arguments, trees))]),
    }


def complaint(name: str, figure: int, limit: int) -> str:
    slack = max(20, limit // 100) if name.startswith(("lines", "words")) else 0
    if figure > limit:
        return f"{name}: {figure}, the limit is {limit}; a feature that needs room names what leaves"
    if figure < limit - slack:
        return f"{name}: {figure}, the limit is {limit}; lower the row: python -m tests.test_size"
    return ""


def test_the_table_has_a_row_for_each_figure() -> None:
    assert [*limits()] == [*figures()]


@pytest.mark.parametrize(("name", "limit"), limits().items(), ids=limits())
def test_nothing_grows(name: str, limit: int) -> None:
    assert complaint(name, figures()[name], limit) == ""


if __name__ == "__main__":
    old = limits()
    for name, figure in figures().items():
        if figure > old.get(name, figure):
            print(f"not raised: {complaint(name, figure, old[name])}")
    kept = {name: min(figure, old.get(name, figure)) for name, figure in figures().items()}
    TABLE.write_text("".join(f"{name}\t{figure}\n" for name, figure in kept.items()), encoding="utf-8")
