"""Change the code in one small place at a time, and see whether any test notices.

``python -m tests.mutants`` (``make mutants``) runs the tests of the core once, and notes which test runs which line. Then
it takes 120 places by a seed, 20 of each room, and runs for each the tests that run its line, in a copy of the checkout.
A mutant that no test notices is printed with its place and its change: it is a missing test, or a change that changes
nothing (another way to the same result, a matter of speed).

Kinds of changes: comparisons at their border or turned round, sums for products, ``and`` for ``or``, one part of an
``and`` or ``or`` left out, ``not`` left out, another number, True for False, a call for its effect left out, the two values of a
pair exchanged, the other end of a list. Only code inside functions is changed; a fitted constant is the benchmarks' to judge.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import coverage

from tests.case_files import rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]
CORE = "gatekeeper_core"
HALL = "hall"
"""The room of the modules that lie in none."""
COVERAGE = "coverage-of-tests"

OTHER_OPERATOR: dict[type[ast.AST], list[type[ast.AST]]] = {
    getattr(ast, name): [getattr(ast, other) for other in others] for name, others in rows("mutants", "other_operator")
}


@dataclass(frozen=True)
class Mutant:
    """One change of a file: the bytes from ``start`` to ``stop`` become ``text``."""

    file: str
    line: int
    start: int
    stop: int
    before: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {' '.join(self.before.split())} -> {' '.join(self.text.split())}"

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.stop :]


def room_of(file: str) -> str:
    """Return the folder of the core in which a module lies."""
    folders = Path(file).parts[1:-1]
    return folders[0] if folders else HALL


def with_operator(node: ast.AST) -> Iterator[ast.expr]:
    """Yield an operation with each of the operators that may stand for its own."""
    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            for other in OTHER_OPERATOR.get(type(operator), ()):
                operators = [*node.ops[:at], other(), *node.ops[at + 1 :]]
                yield ast.Compare(node.left, operators, node.comparators)  # type: ignore[arg-type]
    elif isinstance(node, ast.BinOp):
        for other in OTHER_OPERATOR.get(type(node.op), ()):
            yield ast.BinOp(node.left, other(), node.right)  # type: ignore[arg-type]
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(OTHER_OPERATOR[type(node.op)][0](), node.values)  # type: ignore[arg-type]
        for at in range(len(node.values)):
            rest = [*node.values[:at], *node.values[at + 1 :]]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def with_value(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Yield what may stand in the place of a value, a call or a pair."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 2:
        yield ast.Return(ast.Tuple(node.value.elts[::-1], ast.Load()))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pop":
        if not node.args:
            yield ast.Call(node.func, [ast.Constant(0)], [])
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("reversed", "sorted"):
        yield ast.Call(ast.Name("list"), node.args[:1], [])


def inside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what functions do, without their annotations, defaults and docstrings, and without what they raise."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name != "__repr__":
                for statement in node.body:
                    yield from changeable(statement)
        else:
            yield from inside_functions(node)


def changeable(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr)):
        return
    yield node
    for name, child in ast.iter_fields(node):
        if name not in ("annotation", "returns", "type_comment"):
            for part in child if isinstance(child, list) else [child]:
                if isinstance(part, ast.AST):
                    yield from changeable(part)


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a file, in the order of their places."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    mutants = []
    for node in inside_functions(ast.parse(source)):
        if isinstance(node, (ast.expr, ast.stmt)) and node.end_lineno is not None and node.end_col_offset is not None:
            start = starts[node.lineno - 1] + node.col_offset
            stop = starts[node.end_lineno - 1] + node.end_col_offset
            for other in (*with_operator(node), *with_value(node)):
                text = ast.unparse(ast.fix_missing_locations(other))
                text = f"({text})" if isinstance(other, ast.expr) else text
                mutants.append(Mutant(file, node.lineno, start, stop, source[start:stop].decode(), text))
    return sorted(mutants, key=lambda mutant: (mutant.start, mutant.stop, mutant.text))


def sample(files: Sequence[str], *, count: int, seed: int) -> list[Mutant]:
    """Return so many mutants, as many of each room; the same for the same code and seed."""
    chosen = []
    rooms = sorted({room_of(file) for file in files})
    for place, room in enumerate(rooms):
        found = [
            mutant for file in files if room_of(file) == room for mutant in mutants_of(file, (ROOT / file).read_bytes())
        ]
        share = count // len(rooms) + (place < count % len(rooms))
        chosen += random.Random(f"{seed} {room}").sample(found, min(share, len(found)))
    return sorted(chosen, key=lambda mutant: (mutant.file, mutant.start, mutant.text))


def copy_of_the_checkout(folder: Path) -> None:
    without = shutil.ignore_patterns(".git", ".venv*", "build", "__pycache__", ".hypothesis", ".*_cache")
    shutil.copytree(ROOT, folder, ignore=without, dirs_exist_ok=True)


def failure(folder: Path, *arguments: str, at_most: float) -> str:
    """Run tests of the copy, and return "" where they pass, else how their output ends."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "integrations"), os.environ.get("PYTHONPATH", "")]),
        "COVERAGE_FILE": str(folder / COVERAGE),
    }
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments]
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=at_most, check=False
        )
    except subprocess.TimeoutExpired:
        return "too late"
    assert done.returncode != 5, "nothing was collected"
    return f"{done.stdout}{done.stderr}"[-2000:] if done.returncode else ""


def tests_by_line(folder: Path, file: str) -> dict[int, list[str]]:
    """Return the tests that run each line of a file, those of the module's own folder first."""
    data = coverage.CoverageData(str(folder / COVERAGE))
    data.read()
    own = str(Path("tests") / Path(file).parent.relative_to(CORE))
    return {
        line: sorted(
            {context.split("|")[0] for context in contexts if context},
            key=lambda test: (not test.startswith(own), test),
        )
        for line, contexts in data.contexts_by_lineno(str(folder / file)).items()
    }


def is_killed(folder: Path, mutant: Mutant, tests: Sequence[str]) -> bool:
    """Return whether one of the tests notices the mutant."""
    if not tests:
        return False
    (folder / "chosen").write_text("\n".join(tests))
    source = (folder / mutant.file).read_bytes()
    (folder / mutant.file).write_bytes(mutant.applied(source))
    notices = bool(failure(folder, "-n", "0", f"@{folder / 'chosen'}", at_most=120 + len(tests) / 5))
    (folder / mutant.file).write_bytes(source)
    return notices


def run(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Return the mutants that survive; each is printed as soon as its tests are through."""
    survivors, killed = [], Counter[str]()
    with tempfile.TemporaryDirectory(prefix="gatekeeper-mutants.") as name:
        folder = Path(name).resolve()
        copy_of_the_checkout(folder)
        every_test = ("-n", "auto", "-m", "not extras", f"--cov={CORE}", "--cov-context=test", "--cov-report=", "tests")
        unchanged = failure(folder, *every_test, at_most=3600)
        assert not unchanged, f"the tests fail without any change: {unchanged}"
        for file, of_file in itertools.groupby(mutants, key=lambda mutant: mutant.file):
            by_line = tests_by_line(folder, file)
            for mutant in of_file:
                tests = by_line.get(max((line for line in by_line if line <= mutant.line), default=0), [])
                noticed = is_killed(folder, mutant, tests)
                killed[room_of(file)] += noticed
                survivors += [] if noticed else [mutant]
                print(f"{'killed  ' if noticed else 'SURVIVED'} {mutant} ({len(tests)} tests)", flush=True)
    rooms = Counter(room_of(mutant.file) for mutant in mutants)
    for room, count in sorted(rooms.items()):
        print(f"{room}: {killed[room]} of {count} killed")
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} killed, {len(survivors)} survived")
    return survivors


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=120, help="how many mutants, as many of each room (120)")
    parser.add_argument("--seed", type=int, default=1, help="other places for another seed (1)")
    parser.add_argument("--only", default="", help="modules whose path holds this, as selection/retrieval")
    parser.add_argument("--least", type=float, default=0.0, help="share that must be killed, else exit status 1 (0)")
    arguments = parser.parse_args()
    files = [
        str(path.relative_to(ROOT)) for path in sorted((ROOT / CORE).rglob("*.py")) if arguments.only in path.as_posix()
    ]
    mutants = sample(files, count=arguments.count, seed=arguments.seed)
    survivors = run(mutants)
    sys.exit(len(survivors) > (1 - arguments.least) * len(mutants))


if __name__ == "__main__":
    main()
