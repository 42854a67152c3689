"""A ``Store`` in PostgreSQL for several workers and hosts, with pgvector for the vectors of memories.

It needs the extra ``postgres``; without it, the import error shows the install command.
"""

from __future__ import annotations

try:
    from gatekeeper_postgres.store import PostgresStore, StoreInfo
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("psycopg", "psycopg_pool"):
        raise
    needed = f'gatekeeper_postgres needs {error.name}: pip install "context-gatekeeper[postgres]"'
    raise ImportError(needed, name=error.name) from error

__all__ = ["PostgresStore", "StoreInfo"]
