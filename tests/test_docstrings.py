"""The examples in the docstrings of the integrations run."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests.test_architecture import ALL_MODULES

EXTRAS = {
    "gatekeeper_chat": "chat",
    "gatekeeper_cli": "cli",
    "gatekeeper_formats": "",
    "gatekeeper_hooks": "hooks",
    "gatekeeper_mcp": "mcp",
    "gatekeeper_postgres": "postgres",
    "gatekeeper_serve": "serve",
    "langchain_gatekeeper": "adapters",
    "llama_index.memory.gatekeeper": "adapters",
}
"""The packages with the marker of what they need; the modules are those of the installed package."""
ALONE = {"gatekeeper_hooks.crewai"}  # a gigabyte: .ci/thorough installs it on its own
MODULES = [
    pytest.param(str(module), marks=[getattr(pytest.mark, EXTRAS[module.package])] if EXTRAS[module.package] else ())
    for module in ALL_MODULES
    if module.package in EXTRAS and str(module) not in ALONE
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
