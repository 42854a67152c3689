"""Earlier chats for any agent: a search across the threads of a user, and an MCP server that offers it as tools.

The server needs the extra ``mcp``; importing it without says which line installs it. ``gatekeeper mcp`` runs it.
"""

from __future__ import annotations

from gatekeeper_mcp.logs import LogSearch
from gatekeeper_mcp.search import ChatHit, ChatHits, ChatSearch
from gatekeeper_mcp.sqlite import SQLiteIndex
from gatekeeper_mcp.stores import index_of
from gatekeeper_mcp.threads import UserThreads, assign_thread

try:
    from gatekeeper_mcp.server import ChatTools, chat_server
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("mcp", "pydantic"):
        raise
    needed = f'gatekeeper_mcp needs {error.name}: pip install "context-gatekeeper[mcp]"'
    raise ImportError(needed, name=error.name) from error

__all__ = [
    "ChatHit",
    "ChatHits",
    "ChatSearch",
    "ChatTools",
    "LogSearch",
    "SQLiteIndex",
    "UserThreads",
    "assign_thread",
    "chat_server",
    "index_of",
]
