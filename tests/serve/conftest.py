"""An upstream that records what it gets, and a proxy in front of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.upstream import Upstream, proxied


@pytest.fixture(name="upstream")
def _upstream() -> Upstream:
    return Upstream()


@pytest.fixture(name="url")
def _url(upstream: Upstream) -> Iterator[str]:
    with proxied(upstream) as url:
        yield url
