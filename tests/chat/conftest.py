"""No setting of the machine reaches these tests: neither a key nor a proxy."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("MINIMAX_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
