"""A built context in a provider's format.

============  ==================================  ====================================================================
provider      system messages                     the pin, unless the caller says otherwise
============  ==================================  ====================================================================
openai        stay where they are                 a system message at the end
minimax       one at the head; later ones become  the end of the last message, the user's or a tool's, under its heading
anthropic     user messages in their place
gemini
============  ==================================  ====================================================================

A system message that becomes a user message keeps its text: third-party text in it is fenced. After tool results, the
pin is no user message: that would end the run and lose the thoughts that MiniMax and Anthropic expect back during it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, get_args

from gatekeeper_core.errors import ConfigError
from gatekeeper_core.messages import Message, Provider, TextPart, is_answer

PinRole = Literal["system", "developer", "user_suffix"]

_STARTS_WITH_USER = ("anthropic", "gemini")
OPENING = "[conversation]"
"""The user message before an opening answer, for providers whose conversations must begin with the user."""


class Rendered(NamedTuple):
    """A message in a provider's format, and the positions of its sources, ascending; empty for ``OPENING``."""

    message: Message
    sources: tuple[int, ...] = ()


def render_parts(
    messages: Sequence[Message], *, provider: Provider, pin: int | None = None, pin_as: PinRole | None = None
) -> tuple[Rendered, ...]:
    r"""Return messages in the order and with the roles that a provider accepts.

    Args:
        messages: the messages; calls and results belong together (``request.whole_exchanges``).
        provider: their receiver.
        pin: position of the pin, if there is one.
        pin_as: its role; None: see the table above. ``system`` and ``developer`` are one role here (a provider's
            package sends the one or the other); ``user_suffix`` adds it to the message before it.

    Raises:
        ConfigError: the provider or the role of the pin is unknown, or the provider accepts no system message there.

    >>> rules, query, pin = Message("system", "Be brief."), Message("user", "hi"), Message("system", "Answer now.")
    >>> rendered = render_parts([rules, query, pin], provider="anthropic", pin=2)
    >>> [(one.message.role, one.message.text, one.sources) for one in rendered]
    [('system', 'Be brief.', (0,)), ('user', 'hi\n\nAnswer now.', (1, 2))]
    """
    if provider not in get_args(Provider):
        raise ConfigError(f"provider must be one of {', '.join(get_args(Provider))}, got {provider!r}")
    if pin_as is not None and pin_as not in get_args(PinRole):
        raise ConfigError(f"pin_as must be one of {', '.join(get_args(PinRole))}, got {pin_as!r}")
    takes_any_place = provider == "openai"
    if pin_as in ("system", "developer") and not takes_any_place:
        raise ConfigError(f'{provider} accepts no system message after the question: use pin_as="user_suffix"')
    parts = [Rendered(one, (at,)) for at, one in enumerate(messages)]

    if pin and (pin_as == "user_suffix" or not takes_any_place):
        last, text = messages[pin - 1], messages[pin].text
        if last.role in ("user", "tool"):
            content = f"{last.text}\n\n{text}" if isinstance(last.content, str) else (*last.content, TextPart(text))
            parts[pin - 1 : pin + 1] = [Rendered(replace(last, content=content), (pin - 1, pin))]
        else:
            parts[pin] = Rendered(replace(messages[pin], role="user"), (pin,))
    if takes_any_place:
        return tuple(parts)

    # system messages: those at the head joined, later ones as user messages
    start = next((at for at, one in enumerate(parts) if one.message.role != "system"), len(parts))
    head, rest = [one for one in parts[:start] if one.message.text], parts[start:]
    if len(head) > 1:
        text = "\n\n".join(one.message.text for one in head)
        head = [Rendered(Message("system", text), tuple(at for one in head for at in one.sources))]
    if rest and rest[0].message.role != "user" and provider in _STARTS_WITH_USER:
        head.append(Rendered(Message("user", OPENING)))
    placed: list[Rendered] = head
    for one in rest:
        before = placed[-1].message if placed else None
        if one.message.role == "system":
            placed.append(one._replace(message=replace(one.message, role="user")))
        elif provider == "gemini" and before and is_answer(before) and one.message.role == "assistant":
            # Join consecutive answers, so that no call follows an answer; part by part, which costs no more.
            contents = [
                each if isinstance(each, tuple) else (TextPart(each),) for each in (before.content, one.message.content)
            ]
            content = tuple(part for content in contents for part in content if part != TextPart(""))
            placed[-1] = Rendered(replace(one.message, content=content), placed[-1].sources + one.sources)
        else:
            placed.append(one)
    return tuple(placed)
