"""What agents and tracers write, made by hand after the documentation of each format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Pairs = Sequence[tuple[str, str]]

DAY = "2025-02-03"


def as_lines(values: Sequence[Any]) -> str:
    return "\n".join(json.dumps(value, ensure_ascii=False) for value in values) + "\n"


# --- OpenHands ------------------------------------------------------------------------------------------------------


def action(number: int, kind: str, source: str = "agent", /, **args: Any) -> dict[str, Any]:
    when = f"{DAY}T10:00:{number:02}.000000"
    return {"id": number, "timestamp": when, "source": source, "message": "", "action": kind, "args": args}


def observation(number: int, kind: str, cause: int | None, content: str, **extras: Any) -> dict[str, Any]:
    when = f"{DAY}T10:00:{number:02}.000000"
    event = {"id": number, "timestamp": when, "source": "agent", "message": "", "cause": cause}
    return {**event, "observation": kind, "content": content, "extras": extras}


def openhands_of(pairs: Pairs) -> list[dict[str, Any]]:
    events = []
    for user, answer in pairs:
        events.append(action(len(events), "message", "user", content=user, image_urls=None, wait_for_response=False))
        events.append(action(len(events), "message", "agent", content=answer, image_urls=None, wait_for_response=True))
    return events


# --- Aider and Cursor -----------------------------------------------------------------------------------------------


def aider_of(pairs: Pairs, when: str = f"{DAY} 10:00:00") -> str:
    said = "".join(f"\n#### {user}  \n\n{answer}\n\n" for user, answer in pairs)
    return f"\n# aider chat started at {when}\n\n{said}"


def cursor_of(pairs: Pairs, title: str = "Ports", when: str = "28/9/2025 at 17:49:33 CET") -> str:
    said = "".join(f"---\n\n**User**\n\n{user}\n\n---\n\n**Cursor**\n\n{answer}\n\n" for user, answer in pairs)
    return f"# {title}\n_Exported on {when} from Cursor (1.2.1)_\n\n{said}"


# --- Open WebUI -----------------------------------------------------------------------------------------------------


def open_webui_node(name: str, parent: str | None, role: str, content: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "parentId": parent, "childrenIds": [], "role": role, "content": content, **fields}


def open_webui_chat(nodes: Sequence[dict[str, Any]], current: str | None, **fields: Any) -> dict[str, Any]:
    history = {"messages": {each["id"]: each for each in nodes}, "currentId": current}
    chat = {"title": "Ports", "models": ["llama3"], "params": {}, "history": history, "messages": list(nodes)}
    return {"id": "w-1", "title": "Ports", "chat": chat, "created_at": 1738576800, "archived": False, **fields}


def open_webui_of(pairs: Pairs, **fields: Any) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    for pair in pairs:
        for role, text in zip(("user", "assistant"), pair, strict=True):
            parent = nodes[-1]["id"] if nodes else None
            nodes.append(open_webui_node(f"n{len(nodes)}", parent, role, text))
    return open_webui_chat(nodes, nodes[-1]["id"] if nodes else None, **fields)


# --- pydantic-ai ----------------------------------------------------------------------------------------------------


def request(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"parts": list(parts), "instructions": None, "timestamp": None, "kind": "request", "run_id": None, **fields}


def response(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"parts": list(parts), "model_name": "gpt-5", "timestamp": f"{DAY}T10:00:00Z", "kind": "response", **fields}


def prompt_part(content: Any) -> dict[str, Any]:
    return {"content": content, "timestamp": f"{DAY}T10:00:00Z", "part_kind": "user-prompt"}


def text_part(content: str) -> dict[str, Any]:
    return {"content": content, "part_kind": "text"}


def pydantic_ai_of(pairs: Pairs) -> list[dict[str, Any]]:
    return [message for user, answer in pairs for message in (request(prompt_part(user)), response(text_part(answer)))]


# --- OpenTelemetry --------------------------------------------------------------------------------------------------


def otel_message(role: str, *parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts), **fields}


def otel_text(role: str, text: str) -> dict[str, Any]:
    return otel_message(role, {"type": "text", "content": text})


def otlp_value(value: Any) -> dict[str, Any]:
    """Return a value as OTLP writes it in JSON."""
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp_value(each) for each in value]}}
    return {"kvlistValue": {"values": [{"key": key, "value": otlp_value(each)} for key, each in value.items()]}}


def otlp(spans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return an export of OTLP that holds some spans of the SDK."""
    written = [
        {
            "traceId": span["context"]["trace_id"],
            "spanId": span["context"]["span_id"],
            "name": span["name"],
            "startTimeUnixNano": str(1738576800 * 10**9 + at),
            "attributes": [{"key": key, "value": otlp_value(value)} for key, value in span["attributes"].items()],
        }
        for at, span in enumerate(spans)
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": written}]}]}


def span(
    number: int,
    sent: Sequence[dict[str, Any]],
    answered: Sequence[dict[str, Any]],
    *,
    trace: str = "t-1",
    as_text: bool = True,
    **attributes: Any,
) -> dict[str, Any]:
    """Return a span of a model call as the SDK writes it; dots in names of attributes are given as two underscores."""
    held = {"gen_ai.input.messages": list(sent), "gen_ai.output.messages": list(answered)}
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return {
        "name": "chat gpt-5",
        "context": {"trace_id": trace, "span_id": f"s-{number}"},
        "start_time": f"{DAY}T10:00:{number:02}.000000Z",
        "attributes": {
            "gen_ai.operation.name": "chat",
            **{key: json.dumps(value) if as_text else value for key, value in held.items()},
            **named,
        },
    }


def spans_of(pairs: Pairs, *, as_text: bool = True) -> list[dict[str, Any]]:
    """Return a span for each pair, which sends what was said before."""
    spans, past = [], list[dict[str, Any]]()
    for user, answer in pairs:
        past.append(otel_text("user", user))
        answered = {**otel_text("assistant", answer), "finish_reason": "stop"}
        spans.append(span(len(spans), past, [answered], as_text=as_text))
        past.append(otel_text("assistant", answer))
    return spans


# --- LangSmith ------------------------------------------------------------------------------------------------------


def run(number: int, kind: str, inputs: Any, outputs: Any, **fields: Any) -> dict[str, Any]:
    when = f"{DAY}T10:00:{number:02}.000000"
    known = {"id": f"r-{number}", "name": "model", "run_type": kind, "start_time": when, "trace_id": "t-1"}
    return {**known, "inputs": inputs, "outputs": outputs, "extra": {}, "parent_run_id": "r-root", **fields}


def constructor(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    name = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage"}[kind]
    names = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": names, "kwargs": {"content": content, **fields}}


def langchain_runs_of(pairs: Pairs) -> list[dict[str, Any]]:
    runs, past = [], list[dict[str, Any]]()
    for user, answer in pairs:
        past.append(constructor("human", user))
        generations = [[{"text": answer, "message": constructor("ai", answer)}]]
        runs.append(run(len(runs), "llm", {"messages": [list(past)]}, {"generations": generations}))
        past.append(constructor("ai", answer))
    return runs


def openai_runs_of(pairs: Pairs) -> list[dict[str, Any]]:
    runs, past = [], list[dict[str, Any]]()
    for user, answer in pairs:
        past.append({"role": "user", "content": user})
        answered = {"role": "assistant", "content": answer}
        runs.append(run(len(runs), "llm", {"messages": list(past)}, {"choices": [{"index": 0, "message": answered}]}))
        past.append(answered)
    return runs


SHAPES: dict[str, tuple[str, Callable[[Pairs], Any]]] = {
    "OpenHands events": ("openhands", openhands_of),
    "OpenHands lines": ("openhands", lambda pairs: as_lines(openhands_of(pairs))),
    "an OpenHands trajectory": ("openhands", lambda pairs: {"trajectory": openhands_of(pairs)}),
    "an Aider history": ("aider", aider_of),
    "a Cursor export": ("cursor", cursor_of),
    "an Open WebUI export": ("open-webui", lambda pairs: [open_webui_of(pairs)]),
    "an Open WebUI chat": ("open-webui", lambda pairs: open_webui_of(pairs)["chat"]),
    "pydantic-ai messages": ("pydantic-ai", pydantic_ai_of),
    "pydantic-ai lines": ("pydantic-ai", lambda pairs: as_lines(pydantic_ai_of(pairs))),
    "OpenTelemetry spans": ("opentelemetry", spans_of),
    "OpenTelemetry lines": ("opentelemetry", lambda pairs: as_lines(spans_of(pairs))),
    "an OTLP export": ("opentelemetry", lambda pairs: otlp(spans_of(pairs))),
    "OTLP with messages as values": ("opentelemetry", lambda pairs: otlp(spans_of(pairs, as_text=False))),
    "LangSmith runs of LangChain": ("langsmith", langchain_runs_of),
    "LangSmith lines of OpenAI": ("langsmith", lambda pairs: as_lines(openai_runs_of(pairs))),
}
