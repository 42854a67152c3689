"""Placement of Anthropic's cache marks in the messages that a view sends.

::

    tools · system ▏ body of past turns ▏ recalled turns, question · call · results · call · results ▏
              fixed part            ``body_end``                         the end, where the next call reads on
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gatekeeper_core.context.history.view import keep
from gatekeeper_core.native.anthropic import ANTHROPIC
from gatekeeper_core.native.cache_marks import MARKS_AT_MOST, marked_contents, marks_in
from gatekeeper_core.native.items import blocks_in, kind_of
from gatekeeper_core.native.openai_chat import CHAT
from gatekeeper_core.native.reading import read_native

if TYPE_CHECKING:
    from gatekeeper_core.context.history.view import HistoryView

_BLOCKS_LOOKED_BACK = 20
"""Blocks before a mark in which Anthropic looks for a cached prefix. Source: "Prompt caching"."""


class MarkPlan(NamedTuple):
    """The messages after which a cache mark pays.

    Attributes:
        body: last message of the stable beginning, or None.
        end: whether the next call continues from the end of this one.
        between: the last message of the previous call if the end is too far away to find it; else None.
    """

    body: int | None
    end: bool
    between: int | None


def plan_marks(view: HistoryView, *, blocks: Sequence[int], answered: int | None) -> MarkPlan:
    """Return where marks pay.

    The end is worth a mark in a run, because each step reads all of the previous one, and when nothing in the prompt is
    for this call only: a cache written after recalled turns is never read. Source: policy, "Traps"; a mark costs a
    quarter of what it covers, and saves nine tenths of it when it is read.

    Args:
        view: what is sent.
        blocks: number of content blocks in each message sent.
        answered: the model's last message in the current turn; None: it has not replied yet.
    """
    bill = view.bill
    end = answered is not None or (bill.is_end_cached if bill else view.status == "passthrough")
    body = bisect_left(view.kept, bill.body_end) if bill and bill.body_end is not None else None
    if end and body == len(blocks) - 1:
        body = None  # it is the end
    between = answered - 1 if answered and sum(blocks[answered:]) >= _BLOCKS_LOOKED_BACK - 1 else None
    return MarkPlan(body, end, between)


def mark_cached(
    messages: Sequence[Mapping[str, Any]], view: HistoryView, *, at_most: int = MARKS_AT_MOST - 1
) -> list[Mapping[str, Any]]:
    """Return the messages to send, as ``keep`` does, with marks where Anthropic should cache them.

    A list in another provider's format gets no marks: those cache automatically. Messages that get a mark are copies.

    Args:
        messages: the list that you selected from.
        view: the view of it.
        at_most: most marks in the list, your own included; a fourth is left for the system message or tools.

    >>> from gatekeeper_core import select_history
    >>> asked = [{"role": "user", "content": "Which port has Redis?"}]
    >>> mark_cached(asked, select_history(asked))[0]["content"]
    [{'type': 'text', 'text': 'Which port has Redis?', 'cache_control': {'type': 'ephemeral'}}]
    """
    sent = keep(messages, view)
    if not sent:
        return sent
    form = read_native(messages).format  # a list without signs of any format may be Anthropic's
    is_plain = form is CHAT and messages[0].get("role") != "system" and not any(map(CHAT.signs, messages))
    if form is not ANTHROPIC and not is_plain:
        return sent
    contents = [item.get("content") for item in sent]
    in_run = sent[-1]["role"] == "assistant" or "tool_result" in map(kind_of, blocks_in(contents[-1]))
    answers = (at for at in reversed(range(len(sent))) if sent[at]["role"] == "assistant")
    blocks = [max(1, len(blocks_in(content))) for content in contents]
    plan = plan_marks(view, blocks=blocks, answered=next(answers, None) if in_run else None)
    places = (plan.body, len(sent) - 1 if plan.end else None, plan.between)
    room = at_most - sum(1 for content in contents for _ in marks_in(content))
    marked = marked_contents(contents, [place for place in places if place is not None], room=room)
    return [{**item, "content": marked[at]} if at in marked else item for at, item in enumerate(sent)]
