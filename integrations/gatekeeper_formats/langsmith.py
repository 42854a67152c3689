"""LangSmith runs, as from the API or the bulk export: a list, or one per line.

A run of type ``llm`` is a model call. Its messages are LangChain's, OpenAI's or pairs of role and text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from gatekeeper_core.pricing.usage import read_usage
from gatekeeper_formats import base
from gatekeeper_formats.langchain import langchain_message
from gatekeeper_formats.traces import Call, Record, TracedMessage, conversations_of

_THREADS = ("thread_id", "session_id", "conversation_id")  # metadata keys by which LangSmith groups runs


def _records(value: object, place: str, *, parent: str | None) -> Iterator[Record]:
    """Yield a run and its child runs, at any depth."""
    run = base.checked_object(value, place)
    named = (base.object_at(run, "extra", "metadata").get(key) for key in _THREADS)
    names = (parent, *named, run.get("trace_id"), run.get("id"))
    name = next((text for text in names if isinstance(text, str) and text), "")
    is_root = parent is None and not run.get("parent_run_id") and _listed(run)
    rank = 0 if run.get("run_type") == "llm" else 1 if is_root else None
    start = run.get("start_time")
    order = run.get("dotted_order") if isinstance(run.get("dotted_order"), str) else str(start)
    yield Record(name, str(order), rank, partial(_call, run, rank == 1, place), base.date_of(start))
    for at, child in enumerate(base.list_or_empty(run.get("child_runs"))):
        yield from _records(child, f"{place}, child {at}", parent=name)


def _listed(run: base.Fields) -> list[Any] | None:
    """Return the message list in the outputs of a run, else in its inputs."""
    lists = (base.object_at(run.get(side)).get("messages") for side in ("outputs", "inputs"))
    return next((listed for listed in lists if isinstance(listed, list) and listed), None)


def _call(run: base.Fields, is_root: bool, place: str) -> Call:
    if is_root:
        return Call(_messages(_listed(run) or (), f"{place}, messages"), (), None)
    inputs, outputs = base.object_at(run, "inputs"), base.object_at(run, "outputs")
    answers = _answers(outputs)
    sent = inputs.get("messages")
    if isinstance(sent, list) and sent and all(isinstance(batch, list) for batch in sent) and not _is_pair(sent[0]):
        sent = sent[0]  # LangChain's callbacks hold a list of conversations
    if isinstance(sent, list):
        messages = _messages(sent, f"{place}, inputs.messages")
    else:
        prompts = inputs.get("prompts", inputs.get("prompt"))
        messages = _messages(
            [["user", prompts[0] if isinstance(prompts, list) and prompts else prompts]], f"{place}, prompt"
        )
    answered = _messages(answers[:1], f"{place}, outputs")
    if answered:
        answered[0].left_out["branch_message"] += len(answers) - 1
    # Usage as reported by the answer, which includes cached tokens, else by the run.
    metadata, invocation = (base.object_at(run, "extra", key) for key in ("metadata", "invocation_params"))
    models = (metadata.get("ls_model_name"), invocation.get("model"), invocation.get("model_name"))
    model = next((name for name in (*models, outputs.get("model")) if isinstance(name, str)), None)
    fields = base.object_at(next(iter(answers), None), "kwargs") or base.object_at(next(iter(answers), None))
    reports = (outputs.get("usage_metadata"), fields.get("usage_metadata"), outputs.get("usage"))
    others = (base.object_at(outputs, "llm_output").get("token_usage"), run)
    usage = next((usage for report in (*reports, *others) if (usage := read_usage(report, model=model))), None)
    return Call(messages, answered, usage)


def _is_pair(value: list[Any]) -> bool:
    return len(value) == 2 and all(isinstance(text, str) for text in value)


def _answers(outputs: base.Fields) -> list[Any]:
    """Return the model's answers, the chosen one first."""
    generations = outputs.get("generations")
    if isinstance(generations, list) and generations:
        batch = generations[0] if isinstance(generations[0], list) else generations
        return [
            each.get("message") or ["assistant", each.get("text")] if isinstance(each, dict) else each for each in batch
        ]
    choices = outputs.get("choices")
    if isinstance(choices, list):
        return [each.get("message") if isinstance(each, dict) else each for each in choices]
    for key in ("messages", "message", "output"):
        if isinstance(outputs.get(key), list):
            return list(outputs[key])
        if isinstance(outputs.get(key), dict):
            return [outputs[key]]
        if isinstance(outputs.get(key), str):
            return [["assistant", outputs[key]]]
    return [outputs] if "role" in outputs or ("type" in outputs and "content" in outputs) else []


def _messages(values: Iterable[Any], place: str) -> list[TracedMessage]:
    messages = []
    for at, value in enumerate(values):
        left_out: base.LeftOut = Counter()
        where = f"{place}[{at}]"
        if isinstance(value, list) and _is_pair(value):
            role, text = value
            value = {"role": {"human": "user", "ai": "assistant"}.get(role, role), "content": text}
        elif not isinstance(value, dict):
            raise base.PlaceError(f"{where}: must be a message, got {base.kind_of(value)}")
        if "role" in value and "type" not in value:
            messages.append(TracedMessage(base.message_from(value, where, left_out), left_out))
        else:
            names, kwargs = value.get("id"), value.get("kwargs")
            if value.get("type") == "constructor" and isinstance(kwargs, dict) and "type" not in kwargs:
                # LangChain's serialization: the class name is the type.
                name = names[-1] if isinstance(names, list) and names and isinstance(names[-1], str) else ""
                kind = name.removesuffix("Chunk").removesuffix("Message").lower()
                value = {**value, "kwargs": {**kwargs, "type": kind}}
            message = langchain_message(value, where, left_out)
            if message is not None:
                messages.append(TracedMessage(message, left_out))
    return messages


class _LangSmith(base.Format):
    name = "langsmith"

    def knows(self, value: Any) -> bool:
        return "run_type" in value and not {"inputs", "outputs", "trace_id"}.isdisjoint(value)

    def entries(self, items: base.Items, whole_file: bool) -> base.Entries:  # noqa: ARG002
        records = (_records(item.value, item.place("run"), parent=None) for item in items)
        return conversations_of(chain.from_iterable(records))


FORMAT = _LangSmith()
