"""A model behind an OpenAI-compatible address, as an evaluation asks it."""

from __future__ import annotations

from gatekeeper_chat import ChatClient, ChatContentError, ChatRequestError
from gatekeeper_eval.errors import ModelRefusedError
from gatekeeper_eval.models import Reply, reply_of

__all__ = ["HttpModel"]


class HttpModel:
    """A model behind an address.

    Args:
        client: who asks it; its limits of answers and its temperature do not count, as the requests hold their own.
    """

    def __init__(self, client: ChatClient) -> None:
        self._client = client

    def answer(self, body: bytes) -> Reply:
        """Return the model's answer to the bytes of a request.

        Raises:
            ModelRefusedError: this request is refused.
            ChatError: nothing can be answered now.
        """
        try:
            return reply_of(self._client.post(body))
        except (ChatRequestError, ChatContentError) as error:
            raise ModelRefusedError(str(error)) from error
