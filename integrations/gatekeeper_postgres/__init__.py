"""A ``Store`` in PostgreSQL for several workers and hosts, with pgvector for the vectors of memories.

It needs the extra ``postgres``; without it, the import error shows the install command.
"""

from __future__ import annotations

from gatekeeper_core.arguments import needs_extra

with needs_extra("postgres", "psycopg", "psycopg_pool", name=__name__):
    from gatekeeper_postgres.store import PostgresStore, StoreInfo

__all__ = ["PostgresStore", "StoreInfo"]
