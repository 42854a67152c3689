"""The package: its examples run, the search needs no extra, and the server says which one it needs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

import gatekeeper_mcp

MODULES = [found.name for found in pkgutil.iter_modules(gatekeeper_mcp.__path__, "gatekeeper_mcp.")]
WITHOUT = """
import sys
sys.modules["mcp"] = None
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_mcp import UserThreads, index_of
store = InMemoryStore()
store.append_messages("acme", "t1", [Message("user", "端口 6380")])
print(index_of(UserThreads(store, "acme")).search("端口").hits[0].user)
from gatekeeper_cli import main
main()
"""


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


@pytest.mark.cli
def test_without_the_extra_the_search_works_and_the_command_says_what_to_install() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", WITHOUT, "mcp", "--logs", "."],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "端口 6380\n")
    assert 'pip install "context-gatekeeper[mcp]"' in done.stderr
