"""Characters that look like those of a mark (``data/lookalikes.tsv``)."""

from __future__ import annotations

from gatekeeper_core.data_files import rows

__all__ = ["BLANKS", "LOOKALIKES"]

LOOKALIKES = {target: sources.encode().decode("unicode_escape") for target, sources in rows("lookalikes.tsv")}
"""The targets, and what is read as each."""

BLANKS = LOOKALIKES.pop("blank")
"""Characters that show nothing, apart from marks, separators, controls and unassigned ones."""
