"""What the wheel and the source archive hold.

``GATEKEEPER_WHEEL`` names a wheel that was built before, with the source archive beside it; without it both are built
from the checkout that the tests lie in.
"""

from __future__ import annotations

import configparser
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest

import gatekeeper_core

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "gatekeeper_core",
    "gatekeeper_cli",
    "gatekeeper_eval",
    "gatekeeper_formats",
    "gatekeeper_hooks",
    "gatekeeper_meaning",
    "gatekeeper_chat",
    "gatekeeper_otel",
    "gatekeeper_postgres",
    "gatekeeper_serve",
    "gatekeeper_tokenizers",
    "langchain_gatekeeper",
    "llama_index",
}


SECRET = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|gh[pousr]_[A-Za-z0-9]{20}|pypi-[\w-]{16}"
    rb"|sk-(?!test-)[\w-]{20}|xox[baprs]-[\w-]{10}|eyJ[\w-]{10,}\.[\w-]{10,}\."
)
"""Private keys and the tokens of well-known services; keys that tests make up begin with ``sk-test-``."""


def hatchling(*arguments: str, source: Path) -> str:
    """Run hatchling in a source folder, and return what it prints."""
    command = [sys.executable, "-m", "hatchling", *arguments]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def wheel_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("GATEKEEPER_WHEEL")
    if given:
        return Path(given)
    folder = tmp_path_factory.mktemp("dist")
    hatchling("build", "-d", str(folder), source=CHECKOUT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def archive_path(wheel_path: Path) -> Path:
    """The source archive, which lies beside the wheel."""
    (path,) = wheel_path.parent.glob("*.tar.gz")
    return path


@pytest.fixture
def unpacked(archive_path: Path, tmp_path: Path) -> Path:
    """The folder of the unpacked source archive."""
    with tarfile.open(archive_path) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # older ones of Python 3.10 and 3.11
        archive.extractall(tmp_path, **safely)  # noqa: S202 - our own archive
    (folder,) = tmp_path.iterdir()
    return folder


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
    parts = {part for name in file_names for part in PurePosixPath(name).parts}
    assert not parts & {"tests", "benchmarks", "docs", "integrations", "__pycache__", ".env"}


def test_the_llama_index_namespace_holds_our_package_and_no_init_of_its_own(file_names: frozenset[str]) -> None:
    """A file in the namespace that is not ours would hide llama_index.core."""
    shared = [name for name in file_names if name.startswith("llama_index/")]
    assert shared
    assert all(name.startswith("llama_index/memory/gatekeeper/") for name in shared)


def test_every_requirement_belongs_to_an_extra(metadata: Message) -> None:
    """000-03, 000-57: the library itself requires nothing."""
    assert [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line] == []


def test_the_extras_are_named(metadata: Message) -> None:
    extras = {
        "chat",
        "cli",
        "langchain-core",
        "langchain",
        "langchain-classic",
        "llama-index",
        "meaning",
        "metrics",
        "otel",
        "postgres",
        "serve",
        "tiktoken",
        "tokenizers",
    }
    assert extras == set(metadata.get_all("Provides-Extra", []))


def test_name_python_licence_and_long_description_are_stated(metadata: Message, wheel_path: Path) -> None:
    """000-01: the distribution is `context-gatekeeper`."""
    stated = ("Name", "Requires-Python", "License-Expression", "Description-Content-Type")
    assert [metadata[key] for key in stated] == ["context-gatekeeper", ">=3.10", "Apache-2.0", "text/markdown"]
    assert "make demo" in metadata.get_payload()
    assert wheel_path.name.endswith("-py3-none-any.whl")


def test_the_command_and_the_plugin_of_pytest_are_entry_points(wheel_path: Path) -> None:
    entry_points = configparser.ConfigParser()
    entry_points.read_string(dist_info_text(wheel_path, "entry_points.txt"))
    assert {group: dict(entry_points[group]) for group in entry_points.sections()} == {
        "console_scripts": {"gatekeeper": "gatekeeper_cli:main"},
        "pytest11": {"gatekeeper_eval": "gatekeeper_eval.pytest_plugin"},
    }


@pytest.mark.parametrize(("name", "words"), [("LICENSE", "Apache License"), ("NOTICE", "Context Gatekeeper")])
def test_licence_and_notice_travel_with_the_wheel(name: str, words: str, wheel_path: Path) -> None:
    assert words in dist_info_text(wheel_path, f"licenses/{name}")


def test_the_version_is_that_of_the_library_and_of_the_newest_section_of_the_changelog(metadata: Message) -> None:
    changelog = (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased, newest = re.findall(r"^## \[(\S+)\]", changelog, re.MULTILINE)[:2]
    assert (unreleased, newest) == ("Unreleased", metadata["Version"])
    assert metadata["Version"] == gatekeeper_core.__version__


def test_the_source_archive_holds_what_the_tests_need(archive_path: Path) -> None:
    with tarfile.open(archive_path) as archive:
        names = {PurePosixPath(*PurePosixPath(name).parts[1:]).as_posix() for name in archive.getnames()}
    needed = {"pyproject.toml", "LICENSE", "NOTICE", "README.md", "README.zh-CN.md", "Makefile", ".env.example"}
    tests = {path.relative_to(CHECKOUT).as_posix() for path in (CHECKOUT / "tests").rglob("*.py")}
    assert needed | tests <= names


def test_no_secret_is_in_the_source_archive(unpacked: Path) -> None:
    """The wheel is made of files of the archive."""
    files = [path for path in unpacked.rglob("*") if path.is_file()]
    found = {str(path.relative_to(unpacked)): SECRET.findall(path.read_bytes()) for path in files}
    assert {name: keys for name, keys in found.items() if keys or PurePosixPath(name).name == ".env"} == {}
