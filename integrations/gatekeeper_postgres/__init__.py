"""A ``Store`` in PostgreSQL (extra ``postgres``) for several workers and hosts, with pgvector for memories."""

from __future__ import annotations

from gatekeeper_core.arguments import needs_extra

with needs_extra("postgres", "psycopg", "psycopg_pool", name=__name__):
    from gatekeeper_postgres.store import PostgresStore, StoreInfo

__all__ = ["PostgresStore", "StoreInfo"]
