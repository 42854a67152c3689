"""The models that answer in a chat: the scripted one, or one behind an address."""

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

KEY_NAME = "MINIMAX_API_KEY"
"""The environment variable that holds the key of MiniMax."""

CHAT_PIP_LINE = 'pip install "context-gatekeeper[cli,chat]"'
"""What installs the client."""


class ClientModel:
    """A model behind an address; its client is closed with it."""

    def __init__(self, client: ChatClient) -> None:
        self._client = client
        self.name = client.config.model

    def answer(self, messages: list[dict[str, str]]) -> Generator[str, None, Usage | None]:
        """Yield the visible text of the answer in pieces; return the usage that the service reports.

        A ``GatekeeperError`` says in one line, without any secret, why there is no answer.
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
    """Return the client of the model that the environment, or else a file, holds a key for; None without a key.

    Without a name the file is the ``.env`` of the working folder; that of another project needs no client. Refuse a
    file that cannot be read, and a key without the extra.
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
    """Return the client of a model behind an address; refuse an empty variable, and a missing extra.

    ``key_env`` names the environment variable that holds the key; None sends none.
    """
    with _chat_extra():
        from gatekeeper_chat import ChatClient, ChatConfig

    key = os.environ.get(key_env, "").strip() if key_env else ""
    if key_env and not key:
        refuse(spoken()("error.no_key", name=key_env))
    return ChatClient(key, config=ChatConfig(base_url=base_url, model=model, read_timeout_seconds=timeout_seconds))


def _chat_extra() -> AbstractContextManager[None]:
    packages = ("dotenv", "requests", "urllib3", "gatekeeper_chat")
    return refused_without(*packages, reason=spoken()("error.client", line=CHAT_PIP_LINE))
