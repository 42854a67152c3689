"""The pytest plugin: the fixture ``gatekeeper_eval``."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def gatekeeper_eval() -> ModuleType:
    """Give the package, for assertions about what is kept: ``gatekeeper_eval.assert_keeps(chat, question, turn)``."""
    return sys.modules["gatekeeper_eval"]  # loads its names on first use
