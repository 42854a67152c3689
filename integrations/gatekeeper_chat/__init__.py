"""A chat client for MiniMax and other OpenAI-compatible APIs (extra ``chat``): retries, streaming, usage, typed errors.

::

    messages ──wire_messages──> POST /chat/completions ──> Reply (text, thinking, tool calls, usage)
    messages ──wire_messages──> the same, streamed ──> pieces of text …, then the Reply
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
from gatekeeper_core.arguments import needs_extra
from gatekeeper_core.pricing.usage import Usage

with needs_extra("chat", "dotenv", "requests", "urllib3", name=__name__):
    from gatekeeper_chat.client import ChatClient, ChatConfig, ReplyStream

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
