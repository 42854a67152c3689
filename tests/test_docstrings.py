"""The examples in the docstrings of the integrations run."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

INTEGRATIONS = Path(__file__).resolve().parents[1] / "integrations"
EXTRAS = {
    "gatekeeper_chat": "chat",
    "gatekeeper_cli": "cli",
    "gatekeeper_formats": "",
    "gatekeeper_postgres": "postgres",
    "langchain_gatekeeper": "adapters",
    "llama_index/memory/gatekeeper": "adapters",
}
MODULES = [
    pytest.param(
        ".".join(path.relative_to(INTEGRATIONS).with_suffix("").parts),
        marks=[getattr(pytest.mark, extra)] if extra else (),
    )
    for folder, extra in EXTRAS.items()
    for path in sorted((INTEGRATIONS / folder).glob("*.py"))
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name.removesuffix(".__init__"))).failed == 0
