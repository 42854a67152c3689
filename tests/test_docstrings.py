"""The examples in the docstrings of the integrations run."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests.case_files import rows
from tests.test_architecture import ALL_MODULES

EXTRAS = dict(rows("docstrings", "extras"))
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
