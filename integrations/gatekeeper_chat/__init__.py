"""A chat client for MiniMax and other OpenAI-compatible APIs: timeouts, retries, streaming, usage, and typed errors.

::

    messages ──wire_messages──> POST /chat/completions ──> Reply (text, thinking, tool calls, usage)
    messages ──wire_messages──> the same, streamed ──> pieces of text …, then the Reply

It needs the extra ``chat``; without it, the import error shows the install command.
"""

from __future__ import annotations

from gatekeeper_chat.errors import (
    ChatAuthError,
    ChatBalanceError,
    ChatConnectionError,
    ChatContentError,
    ChatError,
    ChatNoKeyError,
    ChatRateLimitError,
    ChatRequestError,
    ChatResponseError,
    ChatServerError,
)
from gatekeeper_chat.wire import Reply
from gatekeeper_core.pricing.usage import Usage

try:
    from gatekeeper_chat.client import ChatClient, ChatConfig, ReplyStream
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("dotenv", "requests", "urllib3"):
        raise
    needed = f'gatekeeper_chat needs {error.name}: pip install "context-gatekeeper[chat]"'
    raise ImportError(needed, name=error.name) from error

__all__ = [
    "ChatAuthError",
    "ChatBalanceError",
    "ChatClient",
    "ChatConfig",
    "ChatConnectionError",
    "ChatContentError",
    "ChatError",
    "ChatNoKeyError",
    "ChatRateLimitError",
    "ChatRequestError",
    "ChatResponseError",
    "ChatServerError",
    "Reply",
    "ReplyStream",
    "Usage",
]
