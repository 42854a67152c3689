"""Models of an evaluation: the protocol, your own function, and a model behind a URL."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.pricing.usage import Usage, read_usage
from gatekeeper_core.text import split_thinking
from gatekeeper_eval.errors import ModelRefusedError

if TYPE_CHECKING:
    from gatekeeper_chat import ChatClient


class Reply(NamedTuple):
    """A model's answer.

    Attributes:
        text: text of the answer, without thinking.
        usage: reported usage, if any.
    """

    text: str
    usage: Usage | None = None


class Model(Protocol):
    """A model that answers the bytes of a request in OpenAI's chat format; thread-safe."""

    def answer(self, body: bytes) -> Reply:
        """Return the answer.

        Raises:
            ModelRefusedError: the model refuses this request.
            GatekeeperError: the model cannot answer now.
        """
        ...


class FunctionModel:
    """A function as a model.

    Args:
        function: takes the messages in OpenAI's chat format; returns the text, or a response in that format (a mapping
            or an object with ``model_dump``). Except for ``ModelRefusedError``, its errors end the evaluation.
        others: functions for other models, by model name in the request.

    >>> FunctionModel(lambda messages: f"{len(messages)} messages").answer(b'{"messages": []}').text
    '0 messages'
    """

    def __init__(self, function: Callable[[list[dict[str, Any]]], Any], **others: Callable[..., Any]) -> None:
        self._function, self._others = function, others

    @classmethod
    def named(cls, *names: str) -> FunctionModel:
        """Return a model of functions named as ``package.module:function``, imported from the working folder, too.

        Raises:
            ConfigError: there is no such function.
        """
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        functions: dict[str, Callable[..., Any]] = {}
        for name in names:
            module, _, attribute = name.partition(":")
            try:
                functions[name] = getattr(import_module(module), attribute)
            except (ImportError, AttributeError, ValueError) as error:
                reason = f"no such function ({error}): use package.module:function"
                raise ConfigError(f"--model {name}: {reason}") from error
            if not callable(functions[name]):
                raise ConfigError(f"--model {name}: must be a function, got {type(functions[name]).__name__}")
        return cls(functions[names[0]], **functions)

    def answer(self, body: bytes) -> Reply:
        """Return the answer of the function with the name of the request's model, by default of the first one."""
        request = json.loads(body)
        function: Callable[..., Any] = self._others.get(request.get("model")) or self._function
        reply = function(request["messages"])
        dump: Callable[[], object] | None = getattr(reply, "model_dump", None)
        return _reply_of(dump() if dump else reply)


class HttpModel:
    """A model behind a URL.

    Args:
        client: sends the requests; its own answer limit and temperature are ignored.
    """

    def __init__(self, client: ChatClient) -> None:
        self._client = client

    def answer(self, body: bytes) -> Reply:
        """Return the answer.

        Raises:
            ModelRefusedError: the model refuses this request, or sends no usable content.
            ChatError: the model cannot answer now.
        """
        from gatekeeper_chat import ChatContentError, ChatRequestError  # needs an extra

        try:
            return _reply_of(self._client.post(body))
        except (ChatRequestError, ChatContentError) as error:
            raise ModelRefusedError(str(error)) from error


def _reply_of(reply: object) -> Reply:
    """Read a text, or a response in OpenAI's chat format."""
    if isinstance(reply, str):
        reply = {"choices": [{"message": {"content": reply}}]}
    choices = reply.get("choices") if isinstance(reply, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise ModelRefusedError("the model sent no message: the response must have choices[0].message")
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        raise ModelRefusedError("the model refused to answer because of its content rules")
    content = message.get("content")
    text = split_thinking(content)[1].strip() if isinstance(content, str) else ""
    if not text:
        raise ModelRefusedError("the model sent no text: raise its output limit if it thinks for long")
    return Reply(text, read_usage(reply))
