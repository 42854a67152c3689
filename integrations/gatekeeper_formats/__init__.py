r"""Readers and writers of conversation formats; the frameworks behind them are not needed.

>>> import io
>>> transcript = io.BytesIO("## User\n\n端口?\n\n## Assistant\n\n6380".encode())
>>> conversation = read_conversation(transcript)
>>> conversation.form, [message.text for message in conversation.messages]
('markdown', ['端口?', '6380'])
"""

from __future__ import annotations

from gatekeeper_formats.base import AmbiguousConversationError, FormatError, Heading
from gatekeeper_formats.reading import (
    Conversation,
    Unread,
    conversation_files,
    list_conversations,
    read_conversation,
    read_conversations,
    readable_conversations,
    write_messages,
)
from gatekeeper_formats.registry import READABLE, SUFFIXES, WRITABLE

__all__ = [
    "READABLE",
    "SUFFIXES",
    "WRITABLE",
    "AmbiguousConversationError",
    "Conversation",
    "FormatError",
    "Heading",
    "Unread",
    "conversation_files",
    "list_conversations",
    "read_conversation",
    "read_conversations",
    "readable_conversations",
    "write_messages",
]
