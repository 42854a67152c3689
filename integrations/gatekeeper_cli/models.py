"""The models of a chat: the scripted one, or one at an address."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gatekeeper_cli.offline import OfflineModel
from gatekeeper_cli.output import refuse, refused_without
from gatekeeper_cli.texts import spoken

if TYPE_CHECKING:
    from collections.abc import Generator

    from gatekeeper_chat import ChatClient
    from gatekeeper_core.pricing.usage import Usage

KEY_NAME = "MINIMAX_API_KEY"  # the environment variable with the key
CHAT_PIP_LINE = 'pip install "context-gatekeeper[cli,chat]"'


class ClientModel:
    """A model at an address; closing it closes its client."""

    def __init__(self, client: ChatClient) -> None:
        self._client = client
        self.name = client.config.model

    def answer(self, messages: list[dict[str, str]]) -> Generator[str, None, Usage | None]:
        """Yield the visible text of the answer in pieces; return the usage that the service reports.

        The message of a ``GatekeeperError`` is one line without secrets.
        """
        with self._client.stream(messages) as stream:
            yield from stream
            usage = stream.reply.usage
        return usage and usage._replace(model=usage.model or self.name)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


Model: TypeAlias = ClientModel | OfflineModel
"""A model that answers a list of chat messages."""


def client_from_env(env_file: str | None) -> ChatClient | None:
    """Return a client with the key from the environment, else from a file; None without a key.

    The default file is ``.env`` in the working folder, ignored if it does not mention the key. Refuse a named file that
    cannot be read, and a missing extra if the client is needed.
    """
    try:
        has_key = KEY_NAME.encode() in Path(env_file or ".env").read_bytes()
    except (OSError, ValueError) as error:  # a ValueError: a NUL in the name
        if env_file is not None:
            refuse(f"{env_file!a}: {error}" if isinstance(error, ValueError) else f"{env_file}: {error.strerror}")
        has_key = False
    if env_file is None and not os.environ.get(KEY_NAME, "").strip() and not has_key:
        return None
    with _chat_extra():
        from gatekeeper_chat import ChatClient, ChatNoKeyError

    try:
        return ChatClient.from_env(env_file=env_file)
    except ChatNoKeyError:
        return None


def client_at(base_url: str, model: str, key_env: str | None, *, timeout_seconds: float = 120.0) -> ChatClient:
    """Return a client of a model; refuse an empty ``key_env`` variable (None: send no key), and a missing extra."""
    with _chat_extra():
        from gatekeeper_chat import ChatClient, ChatConfig

    key = os.environ.get(key_env, "").strip() if key_env else ""
    if key_env and not key:
        refuse(spoken()("error.no_key", name=key_env))
    return ChatClient(key, config=ChatConfig(base_url=base_url, model=model, read_timeout_seconds=timeout_seconds))


def _chat_extra() -> AbstractContextManager[None]:
    packages = ("dotenv", "requests", "urllib3", "gatekeeper_chat")
    return refused_without(*packages, reason=spoken()("error.client", line=CHAT_PIP_LINE))
