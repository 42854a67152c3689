"""Where a kept piece stands in the text that it was taken from, for the tests of excerpts."""

from __future__ import annotations

from gatekeeper_core.text import sentences


def end_of_stretch(piece: str, text: str, *, after: int) -> int:
    """Return where the first stretch of whole sentences ends that is this piece and begins at a place or later.

    The same words may stand inside another sentence before it, so a plain search is not enough.
    """
    spans = sentences(text)
    starts = [span.start for span in spans if span.start >= after and text.startswith(piece, span.start)]
    stops = {span.stop for span in spans} & {start + len(piece) for start in starts}
    assert stops, f"{piece!r} is no stretch of sentences of {text!r} from {after} on"
    return min(stops)
