"""What the wheels and the source archives hold.

``GATEKEEPER_WHEEL`` names a wheel of the library that was built before, with the other files of the release beside it;
without it all are built from the checkout that the tests lie in.
"""

from __future__ import annotations

import configparser
import importlib
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

import gatekeeper_core
from distributions.build import fill_in
from tests.case_files import rows

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGES = {"gatekeeper_core", *(name.partition(".")[0] for name in rows("architecture", "porch")[0])}
THIN = {"langchain-gatekeeper": "langchain", "llama-index-memory-gatekeeper": "llama-index"}
"""Each distribution without modules, and the extra that it requires."""

SECRET = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|gh[pousr]_[A-Za-z0-9]{20}|pypi-[\w-]{16}"
    rb"|sk-(?!test-)[\w-]{20}|xox[baprs]-[\w-]{10}|eyJ[\w-]{10,}\.[\w-]{10,}\."
)
"""Private keys and the tokens of well-known services; keys that tests make up begin with ``sk-test-``."""


def run_python(*arguments: str, source: Path) -> None:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def parsed_toml(text: str) -> dict[str, Any]:
    return importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli").loads(text)


def unpack(archive_path: Path, folder: Path) -> Path:
    """Unpack a source archive into an empty folder, and return its top folder."""
    with tarfile.open(archive_path) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # older ones of Python 3.10 and 3.11
        archive.extractall(folder, **safely)  # noqa: S202 - our own archive
    (top,) = folder.iterdir()
    return top


@pytest.fixture(scope="session")
def wheel_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = os.environ.get("GATEKEEPER_WHEEL")
    if built:
        return Path(built)
    folder = tmp_path_factory.mktemp("dist")
    run_python("distributions/build.py", str(folder), source=CHECKOUT)
    return next(folder.glob("context_gatekeeper-*.whl"))


@pytest.fixture(scope="session")
def archive_path(wheel_path: Path) -> Path:
    """The source archive, which lies beside the wheel."""
    (path,) = wheel_path.parent.glob("context_gatekeeper-*.tar.gz")
    return path


@pytest.fixture
def unpacked(archive_path: Path, tmp_path: Path) -> Path:
    """The folder of the unpacked source archive."""
    return unpack(archive_path, tmp_path)


@pytest.fixture(params=THIN)
def thin(request: pytest.FixtureRequest, wheel_path: Path) -> Path:
    """The wheel of a distribution without modules."""
    (path,) = wheel_path.parent.glob(f"{request.param.replace('-', '_')}-*.whl")
    return path


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
    [extras] = rows("wheel", "extras")
    assert extras == sorted(metadata.get_all("Provides-Extra", []))


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
    needed = {
        "distributions/build.py",
        "pyproject.toml",
        "LICENSE",
        "NOTICE",
        "README.md",
        "README.zh-CN.md",
        "Makefile",
        ".env.example",
    }
    tests = {path.relative_to(CHECKOUT).as_posix() for path in (CHECKOUT / "tests").rglob("*.py")}
    assert needed | tests <= names


def test_no_secret_is_in_the_source_archive(unpacked: Path) -> None:
    """The wheel is made of files of the archive."""
    files = [path for path in unpacked.rglob("*") if path.is_file()]
    found = {str(path.relative_to(unpacked)): SECRET.findall(path.read_bytes()) for path in files}
    assert {name: keys for name, keys in found.items() if keys or PurePosixPath(name).name == ".env"} == {}


def test_a_thin_wheel_holds_no_module_and_requires_the_library_of_its_version(thin: Path, metadata: Message) -> None:
    with zipfile.ZipFile(thin) as wheel:
        assert {PurePosixPath(name).parts[0].rpartition(".")[2] for name in wheel.namelist()} == {"dist-info"}
    own = Parser().parsestr(dist_info_text(thin, "METADATA"))
    required = f"context-gatekeeper[{THIN[own['Name']]}]=={gatekeeper_core.__version__}"
    assert (own["Version"], own.get_all("Requires-Dist")) == (gatekeeper_core.__version__, [required])
    shared = ("Author", "License-Expression", "License-File", "Project-URL", "Requires-Python")
    assert [own.get_all(key) for key in shared] == [metadata.get_all(key) for key in shared]
    assert "Apache License" in dist_info_text(thin, "licenses/LICENSE")


def test_the_source_archive_of_a_thin_distribution_builds_its_wheel(thin: Path, tmp_path: Path) -> None:
    source = unpack(thin.with_name(thin.name.replace("-py3-none-any.whl", ".tar.gz")), tmp_path)
    run_python("-m", "hatchling", "build", "-t", "wheel", "-d", "again", source=source)
    assert (source / "again" / thin.name).read_bytes() == thin.read_bytes()


def test_version_requirement_and_addresses_of_a_thin_distribution_are_those_of_the_library() -> None:
    library = {"version": "4.5.6", "urls": {"Homepage": "https://code.example/a", "Issues": "https://code.example/b"}}
    settings = (CHECKOUT / "distributions" / "langchain-gatekeeper" / "pyproject.toml").read_text(encoding="utf-8")
    project = parsed_toml(fill_in(settings, library))["project"]
    assert {key: project[key] for key in library} == library
    assert project["dependencies"] == ["context-gatekeeper[langchain]==4.5.6"]
    assert "dynamic" not in project


def test_the_page_of_a_thin_distribution_renders_and_leads_nowhere_else(thin: Path) -> None:
    """An index shows it without the files of the repository."""
    from readme_renderer.markdown import render

    html = render(Parser().parsestr(dist_info_text(thin, "METADATA")).get_payload())
    assert html.count("<pre") == 2
    assert re.findall(r'(?:href|src)="(?!https://|#)', html) == []


def test_the_hub_of_llama_index_finds_the_classes() -> None:
    settings = (CHECKOUT / "distributions" / "llama-index-memory-gatekeeper" / "pyproject.toml").read_text(
        encoding="utf-8"
    )
    hub = parsed_toml(settings)["tool"]["llamahub"]
    public = importlib.import_module(hub["import_path"]).__all__
    assert hub["contains_example"] is False
    assert {*hub["class_authors"]} == {name for name in public if name.startswith("GatekeeperMemory")}
