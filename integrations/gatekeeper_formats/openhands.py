"""OpenHands' events: a list of actions and observations, one per line, or an object with such a list.

An event is an action (``{"id": 3, "source": "agent", "action": "run", "args": {...}}``) or an observation that names
its action (``{"id": 4, "observation": "run", "cause": 3, "content": ...}``). An action of the agent becomes a tool
call, its observation the result.
"""

from __future__ import annotations

from typing import Any

from gatekeeper_core.messages import MediaPart, Part, Role, TextPart
from gatekeeper_core.pricing.usage import Usage, read_usage
from gatekeeper_formats import base
from gatekeeper_formats.transcript import Transcript

_LISTS = ("trajectory", "history")  # keys of the events from the server, and from an evaluation
_STATES = frozenset(
    {
        *("null", "start", "stop", "pause", "resume", "change_agent_state", "agent_state_changed", "loop_recovery"),
        *("loop_detection", "condensation_request", "recall"),
    }
)
_CONDENSATIONS = frozenset({"compaction", "condense"})
_BOOKKEEPING = frozenset(
    {"thought", "hidden", "confirmation_state", "security_risk", "blocking", "is_static", "cwd", "task_completed"}
)
"""Fields of an action's ``args`` that are not arguments of the call."""


def _is_event(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("action") or value.get("observation"), str) and bool(
        value.keys() & {"args", "extras", "source", "cause"}
    )


def _listed(value: base.Fields) -> str | None:
    """Return the key of an object's list of events, or None."""
    lists = (name for name in _LISTS if isinstance(value.get(name), list))
    return next((name for name in lists if not value[name] or _is_event(value[name][0])), None)


def _add_action(
    transcript: Transcript, event: base.Fields, action: str, calls: dict[str, str], place: str, left_out: base.LeftOut
) -> None:
    args = base.checked_object(event.get("args", {}), f'{place}, "args"')
    by_user = event.get("source") == "user"
    if action in ("message", "system"):
        left_out["tool_definition"] += bool(args.get("tools"))
        role: Role = "system" if action == "system" else "user" if by_user else "assistant"
        transcript.message(role, _parts(args, left_out))
    elif action in ("finish", "reject"):
        texts = (base.text_or_none(args.get(key)) for key in ("final_thought", "thought"))
        transcript.message("assistant", [TextPart(text) for text in texts if text][:1])
    elif action == "think":
        left_out["thinking"] += 1
    elif action in _CONDENSATIONS:
        left_out["compaction"] += 1
    elif action in _STATES:
        left_out["state_record"] += 1
    elif by_user:  # a command that the user ran outside the conversation
        left_out["hidden_message"] += 1
    else:
        transcript.pause()
        thought = base.text_or_none(args.get("thought"))
        if thought:
            transcript.say("assistant", (TextPart(thought),))
        name, call_id = _named_call(event)
        number = str(event.get("id", f"unnumbered_{len(calls)}"))
        calls[number] = call_id = call_id or f"action_{number}"
        arguments = base.json_text({key: value for key, value in args.items() if key not in _BOOKKEEPING})
        transcript.call(name or action, arguments, call_id=call_id)


def _named_call(event: base.Fields) -> tuple[str | None, str | None]:
    """Return the name and id of the model's call, each None if the event lacks it."""
    metadata = base.object_at(event, "tool_call_metadata")
    return base.text_or_none(metadata.get("function_name")), base.text_or_none(metadata.get("tool_call_id"))


def _parts(holder: base.Fields, left_out: base.LeftOut) -> list[Part]:
    content = holder.get("content")
    parts = base.text_parts(content)
    for named in (holder, base.object_at(holder, "extras")):
        urls = named.get("image_urls")
        pictures = len(urls) if isinstance(urls, list) else int(bool(named.get("screenshot")))
        left_out["image"] += pictures
        left_out["attachment"] += len(base.list_or_empty(named.get("file_urls")))
        parts += [MediaPart("image")] * pictures
    return parts


class _Reports:
    """Usage reported by events: as running totals, or as the provider's response, which several actions share."""

    def __init__(self) -> None:
        self._sums = Usage(0, 0)
        self._answers: set[object] = set()

    def of(self, event: base.Fields) -> Usage | None:
        """Return the usage that an event adds, or None."""
        sums = base.object_at(event, "llm_metrics").get("accumulated_token_usage")
        if isinstance(sums, dict):
            usage = read_usage(sums, model=sums.get("model"))
            if usage is None:
                return None
            before, self._sums = self._sums, usage
            return usage.since(before)
        answer = base.object_at(event, "tool_call_metadata", "model_response")
        if not isinstance(answer.get("id"), str) or answer["id"] in self._answers:
            return None
        self._answers.add(answer["id"])
        return read_usage(answer.get("usage"), model=answer.get("model"))


class _OpenHands(base.Format):
    name = "openhands"
    id_keys = ("conversation_id", "instance_id", "id")

    def knows(self, value: Any) -> bool:
        return _is_event(value) or self.holds(value)

    def holds(self, value: Any) -> bool:
        return isinstance(value, dict) and _listed(value) is not None

    def opening(self, first: base.Fields) -> dict[str, str | None]:
        return {"created": base.date_of(first.get("timestamp"))}

    def conversation(self, value: base.Fields, left_out: base.LeftOut) -> base.Reports:
        return self.messages(base.items_of(value, _listed(value) or _LISTS[0]), left_out)

    def messages(self, items: base.Items, left_out: base.LeftOut) -> base.Reports:
        transcript = Transcript(left_out)
        calls: dict[str, str] = {}  # call id by action id
        reports = _Reports()
        for event, place in base.objects_of(items, "event"):
            action, observation = event.get("action"), event.get("observation")
            if isinstance(action, str):
                _add_action(transcript, event, action, calls, place, left_out)
            elif isinstance(observation, str):
                if observation in _STATES | _CONDENSATIONS:
                    left_out["state_record"] += 1
                elif observation != "think":  # "your thought has been logged"
                    cause, named = event.get("cause"), _named_call(event)[1]
                    call_id = named if cause is None else calls.get(str(cause), named or "")
                    transcript.answer(_parts(event, left_out), call_id=call_id, name=observation)
            else:
                raise base.PlaceError(f'{place}: must have an "action" or an "observation" as text')
            yield reports.of(event)
        yield from transcript.messages


FORMAT = _OpenHands()
