"""A chat client for MiniMax's OpenAI-compatible API: timeouts, retries, streaming, usage, and errors that hold no key.

::

    messages ──request_body──> POST /chat/completions ──> Reply (text, thinking, tool calls, usage)
    messages ──request_body──> the same, streamed ──> pieces of text …, then the Reply

It needs the extra ``minimax``; importing it without says which line installs it.
"""

from __future__ import annotations

from gatekeeper_core.pricing.usage import Usage

try:
    from gatekeeper_minimax.client import MiniMaxClient, MiniMaxConfig, ReplyStream
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("dotenv", "requests", "tenacity"):
        raise
    needed = f'gatekeeper_minimax needs {error.name}: pip install "context-gatekeeper[minimax]"'
    raise ImportError(needed, name=error.name) from error
from gatekeeper_minimax.errors import (
    MiniMaxAuthError,
    MiniMaxBalanceError,
    MiniMaxConnectionError,
    MiniMaxContentError,
    MiniMaxError,
    MiniMaxNoKeyError,
    MiniMaxRateLimitError,
    MiniMaxRequestError,
    MiniMaxResponseError,
    MiniMaxServerError,
)
from gatekeeper_minimax.wire import Reply

__all__ = [
    "MiniMaxAuthError",
    "MiniMaxBalanceError",
    "MiniMaxClient",
    "MiniMaxConfig",
    "MiniMaxConnectionError",
    "MiniMaxContentError",
    "MiniMaxError",
    "MiniMaxNoKeyError",
    "MiniMaxRateLimitError",
    "MiniMaxRequestError",
    "MiniMaxResponseError",
    "MiniMaxServerError",
    "Reply",
    "ReplyStream",
    "Usage",
]
