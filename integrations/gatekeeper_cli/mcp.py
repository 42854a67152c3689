"""``gatekeeper mcp``: search in the user's earlier chats, as an MCP server on standard input and output."""

from __future__ import annotations

import os
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Annotated

import typer

from gatekeeper_cli.options import HELP
from gatekeeper_cli.output import refuse
from gatekeeper_cli.store import Schema, open_store
from gatekeeper_cli.texts import spoken
from gatekeeper_core.errors import ConfigError
from gatekeeper_mcp import ChatSearch, LogSearch, UserThreads, index_of


@dataclass(frozen=True)
class _Chats:
    store: Annotated[str | None, typer.Option("--store", help=HELP("help.mcp_store"), metavar="STORE")] = None
    logs: Annotated[str | None, typer.Option("--logs", help=HELP("help.mcp_logs"), metavar="FOLDER")] = None
    tenant: Annotated[str, typer.Option("--tenant", help=HELP("help.mcp_tenant"))] = "default"
    user: Annotated[str | None, typer.Option("--user", help=HELP("help.mcp_user"))] = None
    thread: Annotated[str | None, typer.Option("--thread", help=HELP("help.mcp_thread"))] = None
    schema: Schema = "gatekeeper"

    def open(self, opened: ExitStack) -> list[ChatSearch]:
        """Return the searches in the store and in the logs, which ``opened`` closes; refuse if neither is given."""
        if self.store is None and self.logs is None:
            refuse(spoken()("error.mcp_nothing"))
        if self.logs is not None and not os.path.isdir(self.logs):
            refuse(spoken()("error.no_folder", folder=self.logs))
        searches: list[ChatSearch] = []
        if self.store is not None:
            store = opened.enter_context(open_store(self.store, self.schema))
            searches.append(opened.enter_context(closing(index_of(UserThreads(store, self.tenant, self.user)))))
        if self.logs is not None:
            searches.append(LogSearch(self.logs))
        return searches


def mcp(chats: _Chats) -> None:
    """Serve search in earlier chats to an MCP client until it closes standard input."""
    try:
        from gatekeeper_mcp.server import chat_server
    except ImportError as error:
        raise ConfigError(str(error)) from error
    with ExitStack() as opened:
        searches = chats.open(opened)
        chat_server(*searches, thread=chats.thread).run()
