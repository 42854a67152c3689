"""What can answer in a chat: the protocol, and the MiniMax model where there is a key for it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gatekeeper_cli.texts import spoken

if TYPE_CHECKING:
    from collections.abc import Generator

    from gatekeeper_core.calibration import UsageCalibrator
    from gatekeeper_core.pricing.usage import Usage
    from gatekeeper_minimax import MiniMaxClient

__all__ = [
    "KEY_NAME",
    "MINIMAX_PIP_LINE",
    "MiniMaxModel",
    "MissingExtraError",
    "Model",
    "minimax_model",
    "usage_calibrator",
]

KEY_NAME = "MINIMAX_API_KEY"
"""The environment variable that holds the key."""

MINIMAX_PIP_LINE = 'pip install "context-gatekeeper[cli,minimax]"'
"""What installs the client."""

_ENV_FILE = Path(".env")
_CLIENT_PACKAGES = ("dotenv", "requests", "tenacity", "gatekeeper_minimax")


class MissingExtraError(Exception):
    """There is a key, and no client to use it with; the text is one line with the line that installs it."""


class Model(Protocol):
    """Anything that answers a list of chat messages."""

    @property
    def name(self) -> str:
        """What a reader may call it."""
        ...

    def answer(self, messages: list[dict[str, str]]) -> Generator[str, None, Usage | None]:
        """Yield the visible text of the answer in pieces; return what it counted, if it says so.

        Raises:
            GatekeeperError: it failed; its text is one line without any secret.
        """
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


class MiniMaxModel:
    """A MiniMax model, answering over the network.

    Args:
        client: who speaks to it; closed with the model.
    """

    def __init__(self, client: MiniMaxClient) -> None:
        self._client = client

    @property
    def name(self) -> str:
        """The name that the service knows it by."""
        return self._client.config.model

    def answer(self, messages: list[dict[str, str]]) -> Generator[str, None, Usage | None]:
        """Yield the visible text of the answer in pieces; return what the service counted.

        Raises:
            MiniMaxError: no answer, or not the whole of it.
        """
        with self._client.stream(messages) as stream:
            yield from stream
            usage = stream.reply.usage
        return usage and usage._replace(model=usage.model or self.name)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


@cache
def usage_calibrator() -> UsageCalibrator:
    """Return what learns from reported usage, by model: one for all clients of the process, so that none starts anew.

    >>> usage_calibrator() is usage_calibrator()
    True
    """
    from gatekeeper_core.calibration import UsageCalibrator  # here, because a chat without a key learns nothing

    return UsageCalibrator()


def minimax_model(*, env_file: str | None = None) -> MiniMaxModel | None:
    """Return the model that the environment, or else a file, holds a key for; None without a key.

    Args:
        env_file: a file of ``NAME=value`` lines; what the environment holds wins. None: the ``.env`` of the working
            folder, if the environment holds no key.

    Raises:
        MissingExtraError: a key is there (or a named file, which only the client can read), and the client is not
            installed.
        GatekeeperError: what the environment or the file says cannot work.
    """
    if env_file is None and not os.environ.get(KEY_NAME, "").strip() and not _is_named_in(_ENV_FILE):
        return None
    try:
        from gatekeeper_minimax import MiniMaxClient, MiniMaxNoKeyError
    except ImportError as error:
        if (error.name or "gatekeeper_minimax").partition(".")[0] not in _CLIENT_PACKAGES:
            raise
        raise MissingExtraError(spoken()("error.client", line=MINIMAX_PIP_LINE)) from error
    try:
        return MiniMaxModel(MiniMaxClient.from_env(env_file=env_file, calibrator=usage_calibrator()))
    except MiniMaxNoKeyError:
        return None


def _is_named_in(path: Path) -> bool:
    """Return whether a file speaks of the key; the ``.env`` of another project needs no client."""
    try:
        return KEY_NAME.encode() in path.read_bytes()
    except OSError:
        return False
