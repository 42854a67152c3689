"""The import rules of the house, read from the source files, and what importing the package may do."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import gatekeeper_core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CORE = "gatekeeper_core"
HALL = frozenset(
    {
        "calibration",
        "errors",
        "events",
        "messages",
        "notebook",
        "observation",
        "text",
        "token_budget",
        "token_estimate",
        "token_profiles",
        "tokens",
        "truncation",
    }
)
ROOMS = {
    "selection": frozenset({"selection"}),
    "storage": frozenset({"storage"}),
    "context": frozenset({"context", "selection", "storage"}),
}
CONTEXT: dict[str, tuple[str, ...]] = {
    "thread": (),
    "tool_results": (),
    "compaction": ("tool_results",),
    "history": ("compaction", "tool_results"),
    "memory": ("thread",),
    "summary": ("thread",),
    "task": ("compaction", "thread"),
    "prompt": ("compaction", "history", "memory", "summary", "task", "thread", "tool_results"),
}
"""Each room of ``context`` with the rooms that it may import."""

STAGES = (
    "quantities",
    "dates",
    "anchors",
    "snapshot",
    "speakers",
    "segments",
    "word_filter",
    "index",
    "information",
    "scan",
    "expansion",
    "similarity",
    "retrieval",
    "cues",
    "verdicts",
    "topic_map",
    "topics",
    "titles",
    "prefilter",
    "records",
    "trimming",
    "coverage",
    "result",
    "planner",
    "decisions",
    "gatekeeper",
)
STANDS_ALONE = "constraints"  # imports no stage, and no stage that judges turns knows it
KNOW_CONSTRAINTS = frozenset({"planner", "result", "gatekeeper"})
DATA = frozenset(
    {"token_profiles", "selection.background", "selection.lexicon", "selection.thesaurus", "selection.word_forms"}
)
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


PORCH = (
    "gatekeeper_cli",
    "gatekeeper_minimax",
    "gatekeeper_otel",
    "gatekeeper_postgres",
    "gatekeeper_tokenizers",
    "langchain_gatekeeper",
    "llama_index.memory.gatekeeper",
)
ADAPTERS = {
    "langchain_gatekeeper": ("embedding", "memory", "middleware", "runnable", "working_memory"),
    "llama_index.memory.gatekeeper": ("buffer", "block", "embedding", "memory", "working_memory"),
}
ADAPTER_LINES = 160


def porch_modules() -> list[Module]:
    found = []
    for package in PORCH:
        spec = importlib.util.find_spec(package)
        if spec is not None:
            assert spec.origin is not None
            found += modules_of(package, Path(spec.origin).parent)
    return found


CORE_MODULES = modules_of(CORE, Path(gatekeeper_core.__file__).parent)
CORE_NAMES = frozenset(module.name for module in CORE_MODULES)
ALL_MODULES = CORE_MODULES + porch_modules()

each_core_module = pytest.mark.parametrize("module", CORE_MODULES, ids=str)
each_module = pytest.mark.parametrize("module", ALL_MODULES, ids=str)


def imports(module: Module) -> Iterator[str]:
    """Yield the dotted name of each module that a module imports, also inside functions and under TYPE_CHECKING."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}, line {node.lineno}: a relative import"
            assert node.module is not None
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole.removeprefix(f"{CORE}.") in CORE_NAMES else node.module


def core_imports(module: Module) -> Iterator[str]:
    """Yield the core modules that a module imports, by their names inside the core; "" is the package face."""
    for name in imports(module):
        if first_part(name) == CORE:
            yield name.partition(".")[2]


def first_part(name: str) -> str:
    return name.partition(".")[0]


@each_module
def test_imports_are_absolute(module: Module) -> None:
    list(imports(module))


@each_core_module
def test_the_core_imports_the_standard_library_and_itself_only(module: Module) -> None:
    foreign = {name for name in imports(module) if first_part(name) not in sys.stdlib_module_names | {CORE}}
    assert not foreign


@each_core_module
def test_the_hall_imports_no_room_and_a_room_only_what_lies_below_it(module: Module) -> None:
    if not module.name:
        return  # the package face may show everything
    known = HALL | ROOMS.keys()
    assert first_part(module.name) in known, f"{module} is neither in the hall {sorted(HALL)} nor in a room"
    allowed = HALL | ROOMS.get(first_part(module.name), frozenset())
    assert {first_part(name) for name in core_imports(module)} <= allowed


def test_a_room_of_context_imports_only_rooms_below_it() -> None:
    """No circle, and nothing imports ``prompt``."""
    offenders = []
    for module in CORE_MODULES:
        room, *place = module.name.split(".")
        if room == "context" and place:
            allowed = {place[0], *CONTEXT[place[0]]}
            others = {name.split(".")[1] for name in core_imports(module) if name.startswith("context.")}
            offenders += [f"{module} imports {other}" for other in sorted(others - allowed)]
    assert offenders == []
    for place, (room, below) in enumerate(CONTEXT.items()):
        assert {*below} <= {*list(CONTEXT)[:place]}, f"{room} stands below a room that it imports"


def test_no_module_of_the_core_imports_one_that_imports_it() -> None:
    """Circles, also those of names that only the type checker reads."""
    ways = {module.name: {name for name in core_imports(module) if name in CORE_NAMES} for module in CORE_MODULES}
    ways[""] = set()  # the package face shows everything
    left = dict(ways)
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    assert sorted(left) == []


def test_selection_and_storage_do_not_know_each_other() -> None:
    """C6: what serves one conversation knows nothing of what is remembered across them."""
    for room, other in (("selection", "storage"), ("storage", "selection")):
        for module in CORE_MODULES:
            if first_part(module.name) == room:
                assert other not in {first_part(name) for name in core_imports(module)}, module


@each_core_module
def test_a_stage_of_selection_imports_earlier_stages_only(module: Module) -> None:
    room, _, stage = module.name.partition(".")
    if room != "selection" or module.name in DATA:
        return
    if stage == "":
        allowed: frozenset[str] = frozenset()
    elif stage == STANDS_ALONE:
        allowed = DATA
    else:
        assert stage in STAGES, f"{module} has no place in the order of stages {STAGES}"
        allowed = DATA | {f"selection.{earlier}" for earlier in STAGES[: STAGES.index(stage)]}
        if stage in KNOW_CONSTRAINTS:
            allowed |= {f"selection.{STANDS_ALONE}"}
    assert {name for name in core_imports(module) if first_part(name) == "selection"} <= allowed


@each_core_module
def test_a_data_module_imports_nothing_of_the_package(module: Module) -> None:
    if module.name in DATA:
        assert not set(core_imports(module))


@each_module
def test_nothing_imports_from_the_package_face(module: Module) -> None:
    named = {node.module for node in ast.walk(module.tree) if isinstance(node, ast.ImportFrom)}
    named |= {alias.name for node in ast.walk(module.tree) if isinstance(node, ast.Import) for alias in node.names}
    if str(module) != CORE:
        assert CORE not in named, f"{module} imports from {CORE}: name the module itself"


@each_module
def test_no_module_unpickles_or_evaluates_anything(module: Module) -> None:
    assert not BANNED_MODULES & {first_part(name) for name in imports(module)}
    called = {
        node.func.id for node in ast.walk(module.tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not BANNED_CALLS & called


@each_core_module
def test_the_core_reads_no_environment_variable(module: Module) -> None:
    touched = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            touched |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            touched.add(node.attr)
    assert not ENVIRONMENT & touched


@each_module
def test_a_settings_class_is_a_frozen_slotted_keyword_only_dataclass(module: Module) -> None:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef) and node.name.endswith("Config"):
            decorators = [
                item
                for item in node.decorator_list
                if isinstance(item, ast.Call) and "dataclass" in ast.unparse(item.func)
            ]
            assert decorators, f"{module}.{node.name} is no dataclass with arguments"
            flags = {keyword.arg for keyword in decorators[0].keywords if ast.unparse(keyword.value) == "True"}
            assert {"frozen", "slots", "kw_only"} <= flags, f"{module}.{node.name}"


def test_there_is_no_settings_module_and_no_catch_all_module() -> None:
    last_parts = {module.name.rpartition(".")[2] for module in ALL_MODULES}
    assert not last_parts & {"config", "settings", "utils", "util", "helpers", "common", "manager", "managers", "misc"}


ALL_ADAPTERS = [
    module for module in ALL_MODULES if module.package in ADAPTERS and module.name in ADAPTERS[module.package]
]
each_adapter = pytest.mark.parametrize("module", ALL_ADAPTERS, ids=str)


def test_every_adapter_is_there() -> None:
    assert len(ALL_ADAPTERS) == sum(map(len, ADAPTERS.values()))


@each_adapter
def test_an_adapter_is_thin(module: Module) -> None:
    assert len(module.path.read_text(encoding="utf-8").splitlines()) <= ADAPTER_LINES


@each_adapter
def test_an_adapter_decides_nothing_about_turns_topics_or_budgets(module: Module) -> None:
    words = ("turn", "topic", "budget", "token", "passthrough", "floor", "verdict", "decision", "status")
    for node in ast.walk(module.tree):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            asked = ast.unparse(node.test).lower()
            # What stock itself refuses is refused in stock's words.
            if not asked.startswith("initial_token_count >"):
                assert not [word for word in words if word in asked], f"{module}, line {node.lineno}: if {asked}"


@each_adapter
def test_an_adapter_imports_its_framework_at_the_top(module: Module) -> None:
    top = {alias.name for node in module.tree.body if isinstance(node, ast.Import) for alias in node.names}
    top |= {node.module or "" for node in module.tree.body if isinstance(node, ast.ImportFrom)}
    framework = "llama_index.core" if module.package.startswith("llama_index") else "langchain"
    assert [name for name in top if name.startswith(framework) and not name.startswith(module.package)]


@pytest.mark.parametrize("package", ["integrations", "integrations/llama_index", "integrations/llama_index/memory"])
def test_a_folder_that_others_share_is_no_package(package: str) -> None:
    checkout = Path(__file__).resolve().parents[1]
    assert not (checkout / package / "__init__.py").exists()


@each_module
def test_no_module_keeps_an_availability_flag(module: Module) -> None:
    names = {node.id for node in ast.walk(module.tree) if isinstance(node, ast.Name)}
    assert not {name for name in names if name.upper().endswith("_AVAILABLE")}


@each_module
def test_a_logger_that_warns_has_a_handler_that_does_nothing(module: Module) -> None:
    """C16: without one, Python writes the warnings of a program that set up no logging to its standard error."""
    called = {ast.unparse(node) for node in ast.walk(module.tree) if isinstance(node, ast.Call)}
    if any(call.startswith("_logger.warning(") for call in called):
        assert "_logger.addHandler(logging.NullHandler())" in called


@each_module
def test_every_module_has_a_docstring(module: Module) -> None:
    # An empty __init__.py only marks a folder as a package: there is nothing to describe.
    assert ast.get_docstring(module.tree) or not module.tree.body


def test_the_public_names_are_sorted_and_complete() -> None:
    public = list(getattr(gatekeeper_core, "__all__", []))
    assert public == sorted(set(public))
    shown = {
        name
        for name, value in vars(gatekeeper_core).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith(f"{CORE}.")
    }
    assert shown <= set(public)
    assert gatekeeper_core._MODULES.keys() == set(public) <= set(dir(gatekeeper_core))


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


def test_every_public_name_exists_and_is_documented() -> None:
    for name in getattr(gatekeeper_core, "__all__", []):
        value = getattr(gatekeeper_core, name)
        described = inspect.getdoc(value)
        assert described, f"{name} has no docstring"
        # A dataclass without a docstring gets its signature as one.
        assert not described.startswith(f"{name}("), f"{name} has no docstring"


WATCH = """
import json, logging, os, sys, threading, warnings

core_folder = sys.argv[1]
seen = []

def from_the_core(frame):
    # A stdlib module that the core imports may read what it wants: the importer's frames end the search.
    while frame is not None and "importlib" not in frame.f_code.co_filename:
        if frame.f_code.co_filename.startswith(core_folder):
            return True
        frame = frame.f_back
    return False

class Watched(dict):
    def _note(self, *key):
        if from_the_core(sys._getframe(2)):
            seen.append(["environment", repr(key)])
    def __getitem__(self, key):
        self._note(key)
        return dict.__getitem__(self, key)
    def get(self, key, default=None):
        self._note(key)
        return dict.get(self, key, default)
    def __contains__(self, key):
        self._note(key)
        return dict.__contains__(self, key)
    def __iter__(self):
        self._note()
        return dict.__iter__(self)

CHANGES = ("os.", "shutil.", "socket.", "subprocess.", "sqlite3.", "tempfile.", "urllib.", "ftplib.", "http.",
           "smtplib.", "_thread.start", "winreg.", "fcntl.", "ctypes.dlopen", "webbrowser.")
READS = ("os.listdir", "os.scandir")  # how the importer finds modules

def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if set(mode or "") & set("wax+") or (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            seen.append([event, repr(path)])
    elif event.startswith(CHANGES) and event not in READS:
        seen.append([event, repr(arguments)])

def state():
    root = logging.getLogger()
    return {
        "log level": root.level, "log handlers": len(root.handlers), "logging off": logging.root.manager.disable,
        "warning filters": [str(entry) for entry in warnings.filters], "threads": threading.active_count(),
        "folder": os.getcwd(), "search path": list(sys.path), "recursion": sys.getrecursionlimit(),
        "hooks": [str(sys.excepthook), str(sys.displayhook), str(threading.excepthook)],
    }

sys.path.insert(0, os.path.dirname(core_folder))
os.environ = Watched(os.environ)
before = state()
sys.addaudithook(watch)
for name in sys.argv[2:]:
    __import__(name)
after = state()
seen += [[key, f"{before[key]} became {after[key]}"] for key in before if before[key] != after[key]]
print(json.dumps(seen))
"""


def side_effects(core_folder: Path, names: list[str], tmp_path: Path) -> list[list[str]]:
    """Return what happened in a fresh interpreter while the modules were imported: pairs of kind and detail."""
    program = tmp_path / "watch.py"
    program.write_text(WATCH, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-B", "-W", "error", str(program), str(core_folder), *names],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    seen: list[list[str]] = json.loads(done.stdout)  # fails when the import itself printed something
    return seen


def test_importing_the_core_has_no_side_effect(tmp_path: Path) -> None:
    """No network, file write, process, thread, environment read, logging or warning set-up, no output."""
    names = [CORE, *(str(module) for module in CORE_MODULES if module.name)]
    assert side_effects(Path(gatekeeper_core.__file__).parent, names, tmp_path) == []


def test_importing_the_core_loads_nothing_from_outside_the_standard_library() -> None:
    """003-20: no tokenizer either."""
    code = f"import sys; before = set(sys.modules); from {CORE} import *; print(*(set(sys.modules) - before))"
    folder = Path(gatekeeper_core.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, timeout=60, check=True
    )
    assert {first_part(name) for name in done.stdout.split()} <= sys.stdlib_module_names | {CORE}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("open('left-behind', 'w').close()", "open"),
        ("import os; os.environ['HOME']", "environment"),
        ("import os; os.getenv('HOME')", "environment"),
        ("import os.path; os.path.expanduser('~')", "environment"),
        ("import logging; logging.basicConfig()", "log handlers"),
        ("import socket; socket.socket().close()", "socket.__new__"),
        ("import threading, time; threading.Thread(target=time.sleep, args=(9,), daemon=True).start()", "threads"),
        ("import warnings; warnings.simplefilter('ignore')", "warning filters"),
        ("import subprocess, sys; subprocess.run([sys.executable, '-c', ''])", "subprocess.Popen"),
    ],
)
def test_the_watch_sees_each_kind_of_side_effect(line: str, kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "sample_core"
    folder.mkdir()
    (folder / "__init__.py").write_text(line + "\n", encoding="utf-8")
    assert kind in {seen for seen, _ in side_effects(folder, ["sample_core"], tmp_path)}


def sample(name: str, code: str) -> Module:
    path = Path(CORE, *name.split(".")).with_suffix(".py")
    return Module(CORE, name, path, ast.parse(code))


@pytest.mark.parametrize(
    ("rule", "name", "code"),
    [
        (test_imports_are_absolute, "selection.index", "from . import anchors"),
        (test_the_core_imports_the_standard_library_and_itself_only, "text", "def f():\n    import numpy"),
        (test_the_hall_imports_no_room_and_a_room_only_what_lies_below_it, "text", f"import {CORE}.selection.anchors"),
        (test_the_hall_imports_no_room_and_a_room_only_what_lies_below_it, "surprise", ""),
        (
            test_the_hall_imports_no_room_and_a_room_only_what_lies_below_it,
            "storage.base",
            f"from {CORE}.selection import anchors",
        ),
        (
            test_a_stage_of_selection_imports_earlier_stages_only,
            "selection.anchors",
            f"from {CORE}.selection.gatekeeper import x",
        ),
        (
            test_a_stage_of_selection_imports_earlier_stages_only,
            "selection.retrieval",
            f"from {CORE}.selection import constraints",
        ),
        (
            test_a_stage_of_selection_imports_earlier_stages_only,
            "selection.constraints",
            f"from {CORE}.selection import anchors",
        ),
        (test_a_stage_of_selection_imports_earlier_stages_only, "selection.surprise", ""),
        (test_nothing_imports_from_the_package_face, "selection.index", f"from {CORE} import Selection"),
        (test_nothing_imports_from_the_package_face, "selection.index", f"def f():\n    import {CORE}"),
        (test_no_module_unpickles_or_evaluates_anything, "text", "from pickle import loads"),
        (test_no_module_unpickles_or_evaluates_anything, "text", "eval('1')"),
        (test_the_core_reads_no_environment_variable, "text", "import os\nos.environ['X']"),
        (test_the_core_reads_no_environment_variable, "text", "from os import getenv"),
        (test_a_data_module_imports_nothing_of_the_package, "selection.lexicon", f"from {CORE}.text import clean"),
        (test_no_module_keeps_an_availability_flag, "text", "NUMPY_AVAILABLE = False"),
        (
            test_a_settings_class_is_a_frozen_slotted_keyword_only_dataclass,
            "text",
            "@dataclass(frozen=True)\nclass TextConfig: pass",
        ),
        (test_a_settings_class_is_a_frozen_slotted_keyword_only_dataclass, "text", "class TextConfig: pass"),
        (test_every_module_has_a_docstring, "text", "import re"),
        (test_a_logger_that_warns_has_a_handler_that_does_nothing, "text", '_logger.warning("x")'),
    ],
)
def test_each_rule_refuses_a_file_that_breaks_it(rule: Callable[[Module], None], name: str, code: str) -> None:
    with pytest.raises(AssertionError):
        rule(sample(name, code))
