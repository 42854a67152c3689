"""Search across a user's threads, and an MCP server that offers it to agents as tools.

The search needs no extra on SQLite; ``gatekeeper_mcp.server`` needs the extra ``mcp``, and ``gatekeeper mcp`` runs it.
"""

from __future__ import annotations

from gatekeeper_mcp.logs import LogSearch
from gatekeeper_mcp.search import ChatHit, ChatHits, ChatSearch
from gatekeeper_mcp.sqlite import SQLiteIndex, delete_indexes, index_of
from gatekeeper_mcp.threads import UserThreads, assign_thread

__all__ = [
    "ChatHit",
    "ChatHits",
    "ChatSearch",
    "LogSearch",
    "SQLiteIndex",
    "UserThreads",
    "assign_thread",
    "delete_indexes",
    "index_of",
]
