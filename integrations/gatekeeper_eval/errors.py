"""The errors of an evaluation; none contains a key or text of a conversation.

::

    GatekeeperError
    └── EvalError
        ├── LedgerError          the ledger cannot be read or written, or does not fit the chats
        └── ModelRefusedError    the model refuses this one request

An evaluation continues after a ``ModelRefusedError``. Any other error of the model ends it, with earlier answers in
the ledger. A model behind a URL raises kinds of ``gatekeeper_chat.ChatError``.
"""

from __future__ import annotations

from gatekeeper_core.errors import GatekeeperError


class EvalError(GatekeeperError):
    """The base class of the family."""


class LedgerError(EvalError):
    """The ledger cannot be read or written, or does not match the chats."""


class ModelRefusedError(EvalError):
    """The model refuses this request; it is not sent again."""
