"""Marks of Anthropic's prompt cache in agent requests and chain messages.

::

    tools · system ▏ body ▏ recalled turns, question · calls and results ▏
              block      block              the request's setting ``cache_control``, which marks its last block

Marks of users and other middleware stay, and count: a request may have four. No mark is added where one exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool

from gatekeeper_core.context.history.cache_marks import MarkPlan, plan_marks
from gatekeeper_core.native.cache_marks import EPHEMERAL, MARKS_AT_MOST, mark_before, marked_contents, marks_in
from langchain_gatekeeper.models import is_anthropic, setting_of

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ModelRequest

    from gatekeeper_core.context.history.view import HistoryView

_KEY = "cache_control"


def marked_request(
    request: ModelRequest[Any], view: HistoryView, *, is_system_extended: bool = False
) -> ModelRequest[Any]:
    """Return a request with marks where they pay; the same one if it is not for Anthropic.

    If another middleware or the user caches the whole request (setting ``cache_control``), the fixed part and the end
    are theirs. Then a mark is added only if turns are recalled into the question: what is cached after these is never
    read again, and only we know where the body ends. ``is_system_extended``: a line follows the system message.
    """
    if not is_anthropic(request.model):
        return request
    plan, system = _plan(request.messages, view), getattr(request, "system_message", None)
    is_theirs = setting_of(request, _KEY) is not None
    if is_theirs:
        plan = MarkPlan(plan.body if view.bill and view.bill.recalled else None, end=False, between=None)
    contents = [system.content if system else None, *_contents(request.messages)]
    holders = (tool if isinstance(tool, dict) else getattr(tool, "extras", None) or {} for tool in request.tools)
    on_tools = [holder[_KEY] for holder in holders if holder.get(_KEY)]
    room = MARKS_AT_MOST - is_theirs - len(on_tools) - sum(1 for content in contents for _ in marks_in(content))
    places = [place + 1 for place in (plan.body, plan.between) if place is not None]
    marked = marked_contents(contents, places, room=room)
    room -= len(marked)
    changed: dict[str, Any] = {}
    if plan.end and room > 0:
        changed["model_settings"] = {**request.model_settings, _KEY: dict(EPHEMERAL)}
        room -= 1
    # Anthropic's middleware, if it follows this one, marks tools, system message and end: with a mark before the
    # end of the system message and one on the body there would be five.
    if not is_theirs and room > 0 and not (is_system_extended and plan.body is not None):
        marked |= marked_contents(contents[:1], [0], room=1, behind=contents[1:])
        if not (on_tools or request.system_prompt):
            changed |= _marked_tools(request.tools, contents)
    if 0 in marked and system:
        changed["system_message"] = system.model_copy(update={"content": marked.pop(0)})
    if marked:
        changed["messages"] = [
            message.model_copy(update={"content": marked[at]}) if at in marked else message
            for at, message in enumerate(request.messages, 1)
        ]
    return request.override(**changed) if changed else request


def marked_messages(messages: Sequence[BaseMessage], view: HistoryView) -> list[BaseMessage]:
    """Return what a chain sends to Anthropic, with marks where they pay, on copies of messages."""
    plan = _plan(messages, view)
    contents, system = _contents(messages), None
    if messages and isinstance(messages[0], SystemMessage):
        contents[0], system = messages[0].content, 0
    end = len(messages) - 1 if plan.end and messages else None
    places = [place for place in (plan.body, end, system, plan.between) if place is not None]
    room = MARKS_AT_MOST - sum(1 for content in contents for _ in marks_in(content))
    marked = marked_contents(contents, places, room=room)
    return [
        message.model_copy(update={"content": marked[at]}) if at in marked else message
        for at, message in enumerate(messages)
    ]


def _plan(messages: Sequence[BaseMessage], view: HistoryView) -> MarkPlan:
    blocks = []
    for message in messages:
        calls = message.tool_calls if isinstance(message, AIMessage) else ()
        blocks.append(max(1, len(message.content) if isinstance(message.content, list) else 1, len(calls)))
    in_run = bool(messages) and not isinstance(messages[-1], HumanMessage)
    answers = (at for at in reversed(range(len(messages))) if isinstance(messages[at], AIMessage))
    return plan_marks(view, blocks=blocks, answered=next(answers, None) if in_run else None)


def _contents(messages: Sequence[BaseMessage]) -> list[Any]:
    """Return the contents that may get a mark; None for messages whose mark LangChain would not send."""
    return [
        message.content
        if isinstance(message, (AIMessage, HumanMessage, ToolMessage))
        and message.response_metadata.get("output_version") != "v1"
        else None
        for message in messages
    ]


def _marked_tools(tools: Sequence[Any], contents: Sequence[object]) -> dict[str, Any]:
    """Return the change that puts a mark on the last tool; {} if it cannot have one."""
    last = tools[-1] if tools else None
    if isinstance(last, BaseTool) and hasattr(last, "extras"):
        tool: Any = last.model_copy(update={"extras": {**(last.extras or {}), _KEY: mark_before(contents)}})
    elif isinstance(last, dict) and ("input_schema" in last or last.get("type", "function") != "function"):
        tool = {**last, _KEY: mark_before(contents)}
    else:
        return {}
    return {"tools": [*tools[:-1], tool]}
