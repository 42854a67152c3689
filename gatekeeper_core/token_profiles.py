"""What each class of characters costs, in tokens, by family of tokenizers (``data/token_profiles.tsv``)."""

from __future__ import annotations

from collections.abc import Mapping

from gatekeeper_core.data_files import rows

__all__ = ["COMMON_SIGNS", "MARGINS", "PROFILES", "WEIGHTS"]

_HEAD, *_ROWS = rows("token_profiles.tsv")
PROFILES = tuple(_HEAD[1:])
"""The families of tokenizers, in the order of the columns."""

WEIGHTS: dict[str, tuple[float, ...]] = {name: tuple(map(float, figures)) for name, *figures in _ROWS}
"""By class of ``token_estimate.CLASSES`` the tokens that each of it costs."""

MARGINS: Mapping[str, float] = dict(zip(PROFILES, WEIGHTS.pop("margin"), strict=True))
"""By family, how far a prompt may lie over its estimate, as a share of it."""

COMMON_SIGNS = "".join(signs for (signs,) in rows("token_signs.tsv"))
"""Han and Hangul that o200k has a token for, each; the others cost two or three."""
