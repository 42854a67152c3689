"""The two prompts of a sampled turn: the full history, and the gatekeeper's selection from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, NamedTuple

from gatekeeper_core.context.history.select import select_history
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.history.view import HistoryView, keep
from gatekeeper_core.encoder import TextEncoder
from gatekeeper_core.messages import Message, TextPart, Turn, group_turns
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.selection.settings import GatekeeperConfig
from gatekeeper_eval.sampling import SampledTurn


class Prompts(NamedTuple):
    """The two prompts of a turn: the full history, and the selection."""

    turn: SampledTurn
    whole: tuple[Message, ...]
    selected: tuple[Message, ...]  # includes the question
    view: HistoryView  # the choice, with its reasons
    goes_on: bool  # whether the gate sees the user's next turn on the same topic; False without one
    settings: Mapping[str, Any]  # of the selection, JSON-ready: the arguments of ``prompts_of``

    @property
    def are_equal(self) -> bool:
        """Whether the gatekeeper sends everything, which leaves nothing to compare."""
        return self.whole == self.selected


def prompts_of(
    turns: Iterable[SampledTurn],
    *,
    token_budget: int,
    config: GatekeeperConfig | None = None,
    embedder: TextEncoder | None = None,
) -> Iterator[Prompts]:
    """Yield the prompts of turns, in order.

    They select like ``select_history`` without a state: what the question needs, whatever a provider has cached. With
    the strategy ``cache``, adapters send more if that is cheaper, never less.

    Args:
        turns: the turns; those of one conversation together, earliest first.
        token_budget: tokens of the whole prompt.
        config: settings of the selection.
        embedder: finds turns by meaning, too.
    """
    config = config or GatekeeperConfig()
    name = embedder.name if embedder else ""
    settings = {"token_budget": token_budget, "embedder": name, "gatekeeper": asdict(config)}
    history = HistoryConfig(token_budget=token_budget, strategy=config.strategy, gatekeeper=config)
    for _, together in groupby(turns, key=lambda turn: turn.id[:2]):
        gatekeeper = ContextGatekeeper(token_budget, config=config, embedder=embedder)
        for turn in together:
            view = select_history(turn.messages, gatekeeper=gatekeeper, config=history)
            goes_on = False
            if turn.next_text:
                past = group_turns(turn.messages[: turn.past])
                gatekeeper.sync((*past, Turn.of(turn.question, turn.answer, start=turn.past)))
                gate = gatekeeper.explain(turn.next_text).gate
                goes_on = gate.decision == "continue" and gate.resumed_topic is None
            yield Prompts(turn, turn.messages, tuple(keep(turn.messages, view)), view, goes_on, settings)


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    r"""Return messages in OpenAI's chat format; media, which the logs lack, becomes its kind in brackets.

    >>> from gatekeeper_core.messages import MediaPart, Message
    >>> chat_messages([Message("user", (TextPart("What is this?"), MediaPart("image")))])
    [{'role': 'user', 'content': 'What is this?\n[image]'}]
    """
    sent = []
    for message in messages:
        data = message.to_dict(for_provider=True)
        if not isinstance(message.content, str):
            parts = (part.text if isinstance(part, TextPart) else f"[{part.kind}]" for part in message.content)
            data["content"] = "\n".join(parts)
        sent.append(data)
    return sent
