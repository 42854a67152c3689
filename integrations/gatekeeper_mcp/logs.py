"""Search in a folder of logs: files of coding agents, chat exports, and all else that ``gatekeeper_formats`` reads.

A conversation is a thread, named by its path in the folder and its number in the file: ``2025/session.jsonl#1``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from threading import Lock

from gatekeeper_core.messages import Message
from gatekeeper_core.storage.sqlite import InMemoryStore
from gatekeeper_formats import Conversation, conversation_files, readable_conversations
from gatekeeper_mcp.search import ChatHits, ChatSearch, check_search
from gatekeeper_mcp.sqlite import SQLiteIndex
from gatekeeper_mcp.threads import UserThreads

_TENANT = "logs"


class LogSearch(ChatSearch):
    """A search across the conversations in a folder, held in memory; each call first reads changed files.

    Args:
        folder: the folder; hidden folders, symbolic links and files without a conversation are skipped.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._store = InMemoryStore()
        self._index = SQLiteIndex(UserThreads(self._store, _TENANT))
        self._files: dict[str, tuple[int, int]] = {}
        self._threads: dict[str, tuple[str, ...]] = {}
        self._lock = Lock()

    def search(self, query: str, /, *, limit: int = 5) -> ChatHits:
        """Return the turns that best match a query, as every ``ChatSearch`` does; ``pending`` is always 0."""
        check_search(query, limit)
        with self._lock:
            self._read_changes()
            while self._index.update():  # index all: the slow part, reading the files, is done
                pass
            return self._index.search(query, limit=limit)

    def read(self, thread: str, /) -> tuple[Message, ...]:
        """Return the messages of a conversation, oldest first."""
        with self._lock:
            self._read_changes()
            return self._index.read(thread)

    def _read_changes(self) -> None:
        files: dict[str, tuple[int, int]] = {}
        for path in conversation_files(self.folder, unread=[]):
            with suppress(OSError):  # deleted in the meantime
                state = os.stat(path)
                files[path] = state.st_mtime_ns, state.st_size
        changed = [path for path in {**self._files, **files} if self._files.get(path) != files.get(path)]
        replaced: list[str] = []
        for path in changed:
            name = os.path.relpath(path, self.folder)
            conversations = readable_conversations(path, name, unread=[]) if path in files else ()
            replaced += self._replace(path, {f"{name}#{one.heading.number}": _dated(one) for one in conversations})
        self._files = files
        if replaced:
            self._index.remove(replaced)

    def _replace(self, path: str, threads: dict[str, tuple[Message, ...]]) -> Iterator[str]:
        """Store the conversations of a file; yield those that are gone, or changed other than by new messages."""
        for thread in {*self._threads.pop(path, ()), *threads}:
            stored, messages = self._store.read_messages(_TENANT, thread), threads.get(thread, ())
            if stored != messages[: len(stored)]:
                self._store.forget(_TENANT, thread=thread)
                self._store.begin_anew(_TENANT, thread=thread)
                stored = ()
                yield thread
            if len(stored) < len(messages):
                self._store.append_messages(_TENANT, thread, messages[len(stored) :])
        self._threads[path] = tuple(threads)


def _dated(conversation: Conversation) -> tuple[Message, ...]:
    """Return the messages without their ids, which may repeat; undated ones get the day of the conversation."""
    day = conversation.heading.created
    created = datetime.fromisoformat(day) if day else None
    messages = conversation.messages
    return tuple([replace(message, id=None, created_at=message.created_at or created) for message in messages])
