"""Vectors in PostgreSQL: what the extension pgvector stores and indexes.

======================== ===================================================================================
dimensions               how the nearest are found
======================== ===================================================================================
up to 2,000              by an HNSW index of ``vector``
2,001 to 4,000           by an HNSW index of ``halfvec``, of which twice as many are compared in full
4,001 to 16,000          by the server, one by one
more, or no pgvector     by this process, one by one, of the newest memories
======================== ===================================================================================

Source: pgvector's limits: ``vector`` holds 16,000 dimensions, its index 2,000, the one of ``halfvec`` 4,000.
"""

from __future__ import annotations

import math
from array import array
from typing import NamedTuple

OLDEST_PGVECTOR = (0, 8)
"""The first version whose index keeps searching if a filter leaves too few."""

MAX_INDEXED_DIMENSIONS = 16
"""Maximum number of dimensions with an index. Source: ours; a store has one or two, and each index slows all writes."""

_MAX_STORED = 16_000
_MAX_VECTOR_INDEX = 2_000
_MAX_HALFVEC_INDEX = 4_000


class VectorType(NamedTuple):
    """The schema with the extension's type and operators."""

    schema: str  # quoted

    @property
    def name(self) -> str:
        """The column type for vectors of any dimension."""
        return f"{self.schema}.vector"

    @property
    def distance(self) -> str:
        """The operator for the cosine distance."""
        return f"OPERATOR({self.schema}.<=>)"

    def indexed(self, dimensions: int) -> str | None:
        """Return the expression that the index of a dimension holds, or None without an index.

        >>> VectorType('"public"').indexed(3)
        '(embedding::"public".vector(3))'
        >>> VectorType('"public"').indexed(3_000), VectorType('"public"').indexed(5_000)
        ('(embedding::"public".halfvec(3000))', None)
        """
        kind = self._kind(dimensions)
        return kind and f"(embedding::{kind})"

    def placeholder(self, dimensions: int) -> str:
        """Return the placeholder for a vector to compare with the indexed expression."""
        return f"?::{self._kind(dimensions) or self.name}"

    def making_index(self, dimensions: int) -> str:
        """Return the statement that creates the index for a dimension."""
        operators = f"{self._kind(dimensions)}".partition("(")[0] + "_cosine_ops"
        return (
            f"CREATE INDEX IF NOT EXISTS memories_near_{dimensions:d} ON memories "
            f"USING hnsw ({self.indexed(dimensions)} {operators}) "
            f"WHERE is_current = 1 AND length(vector) = {4 * dimensions:d}"
        )

    def _kind(self, dimensions: int) -> str | None:
        if dimensions <= _MAX_VECTOR_INDEX:
            return f"{self.schema}.vector({dimensions:d})"
        return f"{self.schema}.halfvec({dimensions:d})" if dimensions <= _MAX_HALFVEC_INDEX else None


def as_text(vector: array[float] | None) -> str | None:
    """Return a vector as pgvector reads it, or None if it cannot store it.

    Nine digits restore every 32-bit float. The original bytes of a vector have a column of their own.

    >>> as_text(array("f", [0.5, -1.0]))
    '[0.5,-1]'
    """
    if vector is None or not 0 < len(vector) <= _MAX_STORED or not all(map(math.isfinite, vector)):
        return None
    return f"[{','.join(f'{number:.9g}' for number in vector)}]"
