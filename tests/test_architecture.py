"""The import rules of the house, read from the source files, and what importing the package may do."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import gatekeeper_core
from tests.case_files import rows

CORE = "gatekeeper_core"
HALL = frozenset(*rows("architecture", "hall"))
ROOMS = {
    "selection": frozenset({"selection"}),
    "storage": frozenset({"storage"}),
    "native": frozenset({"native"}),
    "pricing": frozenset({"pricing"}),
    "context": frozenset({"context", "native", "pricing", "selection", "storage"}),
}
CONTEXT: dict[str, tuple[str, ...]] = {
    "tool_results": (),
    "history": ("tool_results",),
    "memory": ("history",),
    "prompt": ("history", "memory", "tool_results"),
}
"""Each room of ``context`` with the rooms that it may import."""

[STAGES] = rows("architecture", "stages")
STANDS_ALONE = "constraints"  # imports no stage, and no stage that judges turns knows it
KNOW_CONSTRAINTS = frozenset({"settings", "result", "gatekeeper"})
DATA = frozenset({"selection.lexicon"})
BANNED_MODULES = frozenset({"dill", "marshal", "pickle", "shelve", "yaml"})
BANNED_CALLS = frozenset({"__import__", "eval", "exec"})
ENVIRONMENT = frozenset({"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"})


@dataclass(frozen=True)
class Module:
    """One source file: its dotted name inside its package ("" for the package face), and its syntax tree."""

    package: str
    name: str
    path: Path
    tree: ast.Module

    def __str__(self) -> str:
        return f"{self.package}.{self.name}".rstrip(".")


def modules_of(package: str, root: Path) -> list[Module]:
    found = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(Module(package, name, path, ast.parse(path.read_bytes(), filename=str(path))))
    return found


FACE = "context_gatekeeper"
"""The package that shows the names of all others: it alone imports from their faces."""

[PORCH] = rows("architecture", "porch")
ADAPTERS = {
    "langchain_gatekeeper": ("edits", "memory", "middleware", "runnable", "tools"),
    "llama_index.memory.gatekeeper": ("buffer", "block", "memory", "tools"),
}


def porch_modules() -> list[Module]:
    found = []
    for package in PORCH:
        spec = importlib.util.find_spec(package)
        if spec is not None:
            found += modules_of(package, Path(spec.origin).parent)
    return found


CORE_MODULES = modules_of(CORE, Path(gatekeeper_core.__file__).parent)
CORE_PATHS = frozenset(map(str, CORE_MODULES))
ALL_MODULES = CORE_MODULES + porch_modules()


def imports(module: Module, names: Container[str] = CORE_PATHS) -> Iterator[str]:
    """Yield the dotted name of each module that a module imports, also inside functions and under TYPE_CHECKING.

    ``names`` tells a module that is imported by its last name from a function of its package.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                path = f"{node.module}.{alias.name}"
                yield path if path in names else node.module


def core_imports(module: Module) -> Iterator[str]:
    """Yield the core modules that a module imports, by their names inside the core; "" is the package face."""
    for name in imports(module):
        if first_part(name) == CORE:
            yield name.partition(".")[2]


def first_part(name: str) -> str:
    return name.partition(".")[0]


Rule = Callable[[Module], Iterable[str]]
"""What is wrong with a module by one rule: nothing, or one line for each place."""


def offenders(rule: Rule, modules: Iterable[Module]) -> list[str]:
    """Return every module that breaks a rule, with what is wrong: a test shows all of them at once."""
    return [f"{module}: {wrong}" for module in modules for wrong in rule(module)]


def foreign_imports(module: Module) -> list[str]:
    return sorted({name for name in imports(module) if first_part(name) not in sys.stdlib_module_names | {CORE}})


def test_the_core_imports_the_standard_library_and_itself_only() -> None:
    """003-20: no tokenizer either."""
    assert offenders(foreign_imports, CORE_MODULES) == []


def imports_of_higher_rooms(module: Module) -> Iterator[str]:
    room = first_part(module.name)
    if not room:
        return  # the package face may show everything
    if room not in HALL | ROOMS.keys():
        yield f"is neither in the hall {sorted(HALL)} nor in a room"
    yield from sorted({*map(first_part, core_imports(module))} - HALL - ROOMS.get(room, frozenset()))


def test_the_hall_imports_no_room_and_a_room_only_what_lies_below_it() -> None:
    """C6: ``selection``, which serves one conversation, knows nothing of what is remembered across them."""
    assert offenders(imports_of_higher_rooms, CORE_MODULES) == []


def imports_of_higher_rooms_of_context(module: Module) -> Iterator[str]:
    room, *place = module.name.split(".")
    if room == "context" and place:
        allowed = {place[0], *CONTEXT[place[0]]}
        yield from sorted(
            {name.split(".")[1] for name in core_imports(module) if name.startswith("context.")} - allowed
        )


def test_a_room_of_context_imports_only_rooms_below_it() -> None:
    """No circle, and nothing imports ``prompt``."""
    assert offenders(imports_of_higher_rooms_of_context, CORE_MODULES) == []
    for place, (room, below) in enumerate(CONTEXT.items()):
        assert {*below} <= {*list(CONTEXT)[:place]}, f"{room} stands below a room that it imports"


def test_no_module_imports_one_that_imports_it() -> None:
    """Circles, also those of names that only the type checker reads; a package face shows everything."""
    modules = [*ALL_MODULES, *modules_of("benchmarks", Path(__file__).parents[1] / "benchmarks")]
    inner = {str(module): module for module in modules if module.name}
    remaining = {name: {*imports(module, inner)} & inner.keys() for name, module in inner.items()}
    while free := [name for name, others in remaining.items() if not others & remaining.keys()]:
        for name in free:
            del remaining[name]
    assert sorted(remaining) == []


def imports_of_later_stages(module: Module) -> Iterator[str]:
    room, _, stage = module.name.partition(".")
    if room != "selection" or module.name in DATA:
        return
    allowed: frozenset[str] = DATA if stage else frozenset()
    if stage in STAGES:
        allowed |= {f"selection.{earlier}" for earlier in STAGES[: STAGES.index(stage)]}
    elif stage not in ("", STANDS_ALONE):
        yield f"has no place in the order of stages {STAGES}"
    if stage in KNOW_CONSTRAINTS:
        allowed |= {f"selection.{STANDS_ALONE}"}
    yield from sorted({name for name in core_imports(module) if first_part(name) == "selection"} - allowed)


def test_a_stage_of_selection_imports_earlier_stages_only() -> None:
    assert offenders(imports_of_later_stages, CORE_MODULES) == []


def imports_of_data(module: Module) -> list[str]:
    return sorted({*core_imports(module)} - {"data_files"}) if module.name in DATA else []


def test_a_data_module_imports_nothing_of_the_package() -> None:
    assert offenders(imports_of_data, CORE_MODULES) == []


def imports_of_the_face(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        named = [node.module] if isinstance(node, ast.ImportFrom) else []
        named += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        own = isinstance(node, ast.ImportFrom) and [alias.name for alias in node.names] == ["__version__"]
        if CORE in named and str(module) not in (CORE, FACE) and not own:
            yield f"line {node.lineno} imports from {CORE}: name the module itself"


def test_nothing_imports_from_the_package_face() -> None:
    assert offenders(imports_of_the_face, ALL_MODULES) == []


def ways_to_run_data(module: Module) -> list[str]:
    called = {
        node.func.id for node in ast.walk(module.tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return sorted((BANNED_MODULES & {first_part(name) for name in imports(module)}) | (BANNED_CALLS & called))


def test_no_module_unpickles_or_evaluates_anything() -> None:
    assert offenders(ways_to_run_data, ALL_MODULES) == []


def readings_of_the_environment(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            yield from sorted({alias.name for alias in node.names} & ENVIRONMENT)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            yield from {node.attr} & ENVIRONMENT


def test_the_core_reads_no_environment_variable() -> None:
    assert offenders(readings_of_the_environment, CORE_MODULES) == []


def loose_settings(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef) and node.name.endswith("Config"):
            decorators = [item for item in node.decorator_list if isinstance(item, ast.Call)]
            flags = {
                keyword.arg
                for item in decorators
                if "dataclass" in ast.unparse(item.func)
                for keyword in item.keywords
                if ast.unparse(keyword.value) == "True"
            }
            if missing := sorted({"frozen", "slots", "kw_only"} - flags):
                yield f"{node.name} is no dataclass with {', '.join(missing)}"


def test_a_settings_class_is_a_frozen_slotted_keyword_only_dataclass() -> None:
    assert offenders(loose_settings, ALL_MODULES) == []


ALL_ADAPTERS = [
    module for module in ALL_MODULES if module.package in ADAPTERS and module.name in ADAPTERS[module.package]
]


def decisions(module: Module) -> Iterator[str]:
    words = ("turn", "topic", "budget", "token", "passthrough", "floor", "verdict", "decision", "status")
    for node in ast.walk(module.tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            condition = ast.unparse(node.test).lower().replace("self.return_messages", "")  # a field of LangChain's
            # What stock itself refuses is refused in stock's words.
            if not condition.startswith("initial_token_count >") and any(word in condition for word in words):
                yield f"line {node.lineno}: if {condition}"


def test_an_adapter_decides_nothing_about_turns_topics_or_budgets() -> None:
    assert offenders(decisions, ALL_ADAPTERS) == []


def warnings_without_a_handler(module: Module) -> Iterator[str]:
    called = {ast.unparse(node) for node in ast.walk(module.tree) if isinstance(node, ast.Call)}
    warns = any(call.startswith("_logger.warning(") for call in called)
    if warns and "_logger.addHandler(logging.NullHandler())" not in called:
        yield "its logger warns and has no NullHandler"


def test_a_logger_that_warns_has_a_handler_that_does_nothing() -> None:
    """C16: without one, Python writes the warnings of a program that set up no logging to its standard error."""
    assert offenders(warnings_without_a_handler, ALL_MODULES) == []


def test_the_package_face_imports_a_name_when_it_is_first_used() -> None:
    code = f"""
import sys, {CORE}
loaded = lambda: sorted(name for name in sys.modules if name.startswith("{CORE}."))
print(loaded())
{CORE}.ConfigError
print(loaded())
"""
    folder = Path(gatekeeper_core.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=True)
    assert done.stdout.splitlines() == ["[]", f"['{CORE}.errors']"]
    with pytest.raises(AttributeError, match="'gatekeeper_core' has no attribute 'Nothing'"):
        gatekeeper_core.Nothing  # noqa: B018 - the access itself is what fails


HEAVY = frozenset(*rows("architecture", "heavy"))
"""Modules of the standard library that take time to import, and which most conversations do without."""

BELOW_HISTORY = {"context.tool_results", "pricing", "selection", "storage"}
DOORS = {
    "ContextGatekeeper": {"selection"},
    "select_history": {"context.history", *BELOW_HISTORY},
    "ToolResultCompressor": {"context.tool_results", "context.tool_results.formats", "selection", "storage"},
    "LongTermMemory": {"context.memory", "selection", "storage"},
    "ContextBuilder": {
        *(f"context.{room}" for room in CONTEXT),
        "context.tool_results.formats",
        *BELOW_HISTORY,
    },
}
"""The rooms that are loaded with a public name: where it loads another one, its users wait for what they do not use."""


@pytest.mark.parametrize("name", DOORS)
def test_a_door_loads_its_own_rooms_and_nothing_heavy(name: str) -> None:
    """What an import costs, without a clock; ``.ci/import_time.py`` times it."""
    code = f"import sys; before = set(sys.modules); from {CORE} import {name}; print(*(set(sys.modules) - before))"
    folder = Path(gatekeeper_core.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=True)
    loaded = done.stdout.split()
    rooms = {
        module.rpartition(".")[0].removeprefix(CORE).lstrip(".") for module in loaded if first_part(module) == CORE
    }
    assert rooms - {"", "context"} == DOORS[name]
    assert sorted(HEAVY & {*map(first_part, loaded)}) == []


def test_every_public_name_exists_and_is_documented() -> None:
    for name in getattr(gatekeeper_core, "__all__", []):
        value = getattr(gatekeeper_core, name)
        described = inspect.getdoc(value)
        assert described, f"{name} has no docstring"
        # A dataclass without a docstring gets its signature as one.
        assert not described.startswith(f"{name}("), f"{name} has no docstring"


WATCH = """
import json, logging, os, sys, threading, warnings

CHANGES = ("os.", "shutil.", "socket.", "subprocess.", "sqlite3.", "tempfile.", "urllib.", "http.", "_thread.start")
READS = ("os.listdir", "os.scandir")  # how the importer finds modules
seen = []

def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if set(mode or "") & set("wax+") or (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            seen.append(f"{event} {path}")
    elif event.startswith(CHANGES) and event not in READS:
        seen.append(f"{event} {arguments}")

def state():
    root = logging.getLogger()
    return {
        "log level": root.level, "log handlers": len(root.handlers), "logging off": logging.root.manager.disable,
        "warning filters": [str(entry) for entry in warnings.filters], "threads": threading.active_count(),
        "folder": os.getcwd(), "search path": list(sys.path), "hooks": [str(sys.excepthook), str(sys.displayhook)],
    }

sys.path.insert(0, sys.argv[1])
before = state()
sys.addaudithook(watch)
for name in sys.argv[2:]:
    __import__(name)
after = state()
print(json.dumps(seen + [key for key in before if before[key] != after[key]]))
"""


def side_effects(folder: Path, names: list[str], tmp_path: Path) -> list[str]:
    """Return what happened in a fresh interpreter while modules of a folder were imported."""
    command = [sys.executable, "-B", "-W", "error", "-c", WATCH, str(folder), *names]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)  # fails when the import itself printed something


def test_importing_the_core_has_no_side_effect(tmp_path: Path) -> None:
    """No network, file write, process, thread, logging or warning set-up, no output; the watch sees each of them."""
    names = [CORE, *(str(module) for module in CORE_MODULES if module.name)]
    assert side_effects(Path(gatekeeper_core.__file__).parents[1], names, tmp_path) == []
    lines = (
        "open('left-behind', 'w').close()",
        "import logging; logging.basicConfig()",
        "import socket; socket.socket().close()",
    )
    (tmp_path / "sample.py").write_text("\n".join(lines), encoding="utf-8")
    opened, connected, handlers = side_effects(tmp_path, ["sample"], tmp_path)
    assert (opened, connected[:14], handlers) == ("open left-behind", "socket.__new__", "log handlers")
