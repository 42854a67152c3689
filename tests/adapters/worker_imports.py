"""What workers need, imported once for all of them before they are forked; nothing here opens a connection."""

from contextlib import suppress

import langchain.agents
import langchain_community.chat_message_histories
import langgraph.checkpoint.sqlite
import llama_index.core.storage.chat_store.sql

import langchain_gatekeeper
import llama_index.memory.gatekeeper

__all__ = ["langchain", "langchain_community", "langchain_gatekeeper", "langgraph", "llama_index"]

with suppress(ImportError):  # the servers' packages may be missing
    import tests.adapters.server_doors  # noqa: F401
