"""Targets of the campaign: each function takes any bytes and raises where its part breaks a promise."""

from __future__ import annotations

import io
import json
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cache
from itertools import islice, pairwise
from typing import Any

from gatekeeper_core import (
    ContextGatekeeper,
    HistoryConfig,
    ModelPrices,
    RunConfig,
    ThreadState,
    WorkingMemory,
    keep,
    read_messages,
    select_history,
)
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.context.tool_results.formats.json_text import read_json, write_json, write_table
from gatekeeper_core.context.tool_results.pointers import defused, one_line, pointer_id, pointers_in
from gatekeeper_core.context.tool_results.signals import failing
from gatekeeper_core.errors import ConfigError, MessageFormatError
from gatekeeper_core.fences import BLANKS, LOOKALIKES, fence
from gatekeeper_core.messages import Message, group_turns, validate_messages
from gatekeeper_core.native.reading import read_native
from gatekeeper_core.records import UNREADABLE
from gatekeeper_core.selection.anchors import MAX_QUERY_ANCHORS, count_terms, extract_anchors, query_terms
from gatekeeper_core.selection.cues import ends_with_question, read_cues, without_cues
from gatekeeper_core.storage import codec as stored
from gatekeeper_core.storage.base import EarlierText, Memory
from gatekeeper_core.storage.in_memory import InMemoryBlobStore
from gatekeeper_core.text import clean, code_fences, is_question, locale_of, sentences, split_thinking, word_strings
from gatekeeper_core.tokens import count_messages
from gatekeeper_formats import READABLE, WRITABLE, FormatError, read_conversation, read_conversations, write_messages
from tests.fuzz.inputs import Input
from tests.native_lists import CHAT, FORMATS, talk
from tests.table_reader import read_table

KEY = b"key of this thread"
POINTER = "abcdefghijklmnop"
FAILURE = "12:00:07 ERROR 磁盘已满 disk full SN-8841"

DAMAGE: tuple[Any, ...] = (None, 7, -1, "", "中", [], {}, [7], {"type": "text"}, True, float("nan"), 2**63, "tool_use")


def text(data: bytes) -> None:
    """Sentences lose no text, code stays whole, cleaning is idempotent, thinking is split off."""
    text = Input(data).text()
    spans = sentences(text)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    assert all(start < stop for start, stop in spans)
    assert not any(text[stop:start].strip() for stop, start in zip(edges[::2], edges[1::2], strict=True))
    assert all(text[start:stop] == text[start:stop].strip() for start, stop in spans)

    fences = code_fences(text)
    assert all(one.stop <= other.start for one, other in pairwise(fences))
    for begin, end in fences:
        assert text[begin:end].lstrip(" \t>").startswith(("```", "~~~"))
        assert not any(text[stop:end].strip() for start, stop in spans if begin <= start and stop < end)

    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert len(cleaned) <= len(text)
    answer = split_thinking(text)[1]
    assert text.endswith(answer)
    assert split_thinking(answer) == ("", answer)
    assert all(word in text for word in word_strings(text))
    assert locale_of([text]) in ("zh", "en")
    is_question(text)


def anchors(data: bytes) -> None:
    """Few, short, weighted terms; invisible characters change none."""
    text = Input(data).text()
    found = extract_anchors(text)
    assert len(found) <= MAX_QUERY_ANCHORS
    assert extract_anchors(text, limit=5) == found[:5]
    assert all(0 < len(anchor.term) <= 120 and 0 < anchor.weight <= 1 for anchor in found)
    assert list(query_terms(text)) == [one.term for one in found if one.kind not in ("triple", "quote", "code")]
    counts = count_terms(text)
    assert all(count > 0 for count in counts.values())
    assert extract_anchors(clean(text)) == found
    assert count_terms(clean(text)) == counts

    assert all(cue is None or cue for cue in read_cues(text))
    chars = iter(text)
    assert all(char in chars for char in without_cues(text) if char != " ")
    ends_with_question(text)


def formats(data: bytes) -> None:
    """A file is read or refused in one line; what was read can be written."""
    source = Input(data)
    form = source.choice((None, *READABLE))
    try:
        read = [*islice(read_conversations(io.BytesIO(source.rest()), form=form, name="chat"), 20)]
    except FormatError as refused:
        if len(str(refused).splitlines()) != 1:
            raise AssertionError("an error of several lines") from refused
        return
    for conversation in read:
        assert conversation.turns == group_turns(conversation.messages) or conversation.form == "pairs"
        for name in WRITABLE:
            write_messages(conversation.messages, name)[0].encode("utf-8")
        written, left_out = write_messages(conversation.messages, "openai")
        if conversation.messages and not left_out:
            again = read_conversation(io.BytesIO(written.encode()), form="openai")
            assert again.messages == conversation.messages


def codec(data: bytes) -> None:
    """Encoded data comes back; anything else is ``UNREADABLE``."""
    pairs: tuple[tuple[Callable[[bytes], Any], Callable[[Any], bytes]], ...] = (
        (stored.decode_text, stored.encode_text),
        (stored.decode_message, stored.encode_message),
        (stored.decode_memory, stored.encode_memory),
        (stored.decode_terms, stored.encode_terms),
        (stored.decode_vector, stored.encode_vector),
    )
    for decode, encode in pairs:
        try:
            value = decode(data)
        except UNREADABLE:
            continue
        again = encode(value)
        assert encode(decode(again)) == again

    text = Input(data).text()
    assert stored.decode_text(stored.encode_text(text)) == text
    message = Message("user", text, id=text or None, metadata={"note": text})
    assert stored.decode_message(stored.encode_message(message)) == message
    memory = Memory("m1", text, "skill", text, text, 3, 1.5, 2.5, text, None, (EarlierText(text, 1.0, None, 2),), 3)
    assert stored.decode_memory(stored.encode_memory(memory)) == memory
    assert stored.decode_terms(stored.encode_terms((text, text))) == (text, text)


def pointers(data: bytes) -> None:
    """No third-party text passes for a pointer; a pointer returns what was stored."""
    text = Input(data).text()
    once = defused(text)
    assert defused(once) == once
    assert pointers_in(once) == ()
    ours = defused(f"{text} [[wm:{POINTER}]]", {POINTER})
    assert pointers_in(ours) == (POINTER,)
    assert defused(ours, {POINTER}) == ours
    json.loads(defused(json.dumps([[text], text], ensure_ascii=False)))

    line = one_line(text)
    assert len(line) <= 60
    assert '"' not in line
    assert line.isprintable()
    assert pointers_in(line) == ()
    memory = WorkingMemory(InMemoryBlobStore(), KEY)
    pointer = memory.offload(text, kind="prose")
    if pointer is not None:
        assert pointers_in(pointer.text) == (pointer.id,) == (pointer_id(pointer.text),)
        assert len(pointer.text.splitlines()) == 1
        assert memory.load(pointer.text) == text
    memory.read(text)


def fences(data: bytes) -> None:
    """Nothing inside passes for the closing mark, and nothing is lost."""
    source = Input(data)
    tag = source.choice(("memory", "task", "a"))
    text = source.text()
    fenced = fence(text, tag=tag)
    assert fence(fenced, tag=tag) == fenced
    name = fenced[1 : fenced.index(">")]
    inside = fenced[len(name) + 3 : -len(name) - 4]
    assert fenced == f"<{name}>\n{inside}\n</{name}>"
    assert name not in inside
    assert f"</{tag}" not in _skeleton(inside)
    assert fenced == text or inside.replace("\\", "") == text.replace("\\", "")


@cache
def _shown() -> dict[str, str]:
    return {source: target for target, sources in LOOKALIKES.items() for source in sources}


def _skeleton(text: str) -> str:
    """Return a text as it looks: Unicode Technical Standard 39, of the whole text at once."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    visible = (char for char in folded if char not in BLANKS and unicodedata.category(char)[0] not in "CMZ")
    return "".join(_shown().get(char, char) for char in visible)


def tool_results(data: bytes) -> None:
    """Limits hold, the only failure stays, the pointer has everything."""
    source = Input(data)
    small: dict[str, Any] = {"max_tokens": 100, "min_chars": 0, "byte_limits": {"bash": 400}}
    settings = source.choice(({}, small))
    tool, query = source.choice((None, "bash", "search")), source.choice((None, "SN-1 的端口？"))
    memory = source.choice((None, WorkingMemory(InMemoryBlobStore(), KEY)))
    times, age = source.number(80) + 1, source.choice((0, 3))
    failure = source.choice((None, FAILURE, "12:00:07 failed"))
    lines = source.text()[:2_000].split("\n")
    lines = [line.replace("#", str(at)) for at in range(times) for line in lines][:2_000]
    if failure:
        lines.insert(len(lines) // 2, failure)
    text = "\n".join(lines)

    compressor = ToolResultCompressor(working_memory=memory, **settings)
    result = compressor.compress(text, tool_name=tool, query=query, age_rounds=age)
    assert compressor.compress(result.text, tool_name=tool, query=query, age_rounds=age).text == result.text
    limit = compressor.byte_limits.get(tool or "")
    if limit is not None and result.kind != "ours":
        assert len(result.text.encode("utf-8", "surrogatepass")) <= limit
    if result.strategy == "unchanged":
        assert result.text == defused(text)
        return
    if result.strategy != "cut":
        assert result.tokens_after <= max(2 * compressor.max_tokens, 1_000)
    if memory is not None and result.pointer is not None:
        assert memory.load(result.pointer.text) == text
    if result.strategy in ("lines", "groups", "frames") and [lines[at] for at in failing(lines)] == [failure]:
        assert failure in result.text


def tables(data: bytes) -> None:
    """Rows survive the table form; anything else is a ``ValueError``."""
    source = Input(data)
    names = source.choice((("id", "name"), ("a.b", "a", ""), ("端口", "x y", "user")))
    text = source.text()
    with suppress(ValueError):
        read_table(text)
    cells = text.split("\n")
    value: Any = read_json(text)
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        values = [cell if (read := read_json(cell)) is None else read for cell in cells]
        value = [dict(zip(names, values[at:], strict=False)) for at in range(0, len(values), len(names))]
        value += [{name: dict.fromkeys(names, cell)} for name, cell in zip(names, values, strict=False)]
    if value:
        written = write_table(value)
        as_json = read_json(write_json(value))  # not always the value: see ``write_json``
        assert as_json is None or read_table(written) == as_json
        assert len(written.split("\n")) == len(value) + 2
        written.encode("utf-8")


def stream(data: bytes) -> None:
    """Cuts change nothing, thinking never shows; anything else is a ``ChatError``."""
    from gatekeeper_chat.errors import ChatError
    from gatekeeper_chat.stream import Assembly, events

    source = Input(data)
    places = [source.number(65_536) for _ in range(source.number(9))]
    body = source.rest()
    payloads = [*events([body])]
    assert [*events(_pieces(body, places))] == payloads
    assert [*events(body[at : at + 1] for at in range(len(body)))] == payloads
    assembly = Assembly()
    with suppress(ChatError):
        shown = "".join(map(assembly.add, payloads))
        last, reply = assembly.end()
        assert assembly.text == shown + last == reply.text

    text = Input(body).text()
    assembly = Assembly()
    chunks = [{"choices": [{"delta": {"content": piece}}]} for piece in _pieces(text, places)]
    shown = "".join(assembly.add(json.dumps(chunk)) for chunk in chunks)
    assembly.add('{"choices": [{"delta": {}, "finish_reason": "stop"}]}')
    last, reply = assembly.end()
    assert assembly.text == shown + last
    # Two escaped surrogates that meet in one piece are one character.
    assert _joined(shown + last) == _joined(reply.text) == _joined(split_thinking(text)[1])


def _pieces(content: Any, places: Sequence[int]) -> list[Any]:
    at = sorted({place % (len(content) + 1) for place in places} | {0, len(content)})
    return [content[start:stop] for start, stop in pairwise(at)]


def _joined(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def messages(data: bytes) -> None:
    """Damaged lists are refused or sent in order; valid ones fit the budget."""
    source = Input(data)
    native = source.choice(FORMATS)
    items = json.loads(json.dumps(native.write(talk(source.number(65_536)))))
    issued = native.carried(items)
    budget = 30 + source.number(3_000)
    is_damaged = not source.is_empty
    while items and not source.is_empty:
        places = [*_places(items)]
        owner, key = places[source.number(65_536) % len(places)]
        if source.choice((False, True)):
            del owner[key]
        else:
            owner[key] = deepcopy(source.choice(DAMAGE))
    if not items or not isinstance(items[0], dict):
        return  # nothing tells that it is a list in a provider's format
    config = HistoryConfig(token_budget=budget, passthrough_below=0, run=RunConfig(keep_recent_rounds=1))
    gatekeeper = ContextGatekeeper()
    try:
        view = select_history(items, gatekeeper=gatekeeper, config=config)
    except MessageFormatError as refused:
        if not is_damaged or refused.position not in range(len(items)):
            raise AssertionError("refused without a reason or a position") from refused
        return
    sent = keep(items, view)
    changed = dict(view.replaced)
    assert view.kept == tuple(sorted({*view.kept}))
    assert all(one is items[at] for one, at in zip(sent, view.kept, strict=True) if at not in changed)
    assert not any(items[at] == instead for at, instead in changed.items())
    if view.status != "over_budget":
        # A part of a damaged list may tell of no format, or of another one.
        chat = [one.message for one in read_native(items).format.read(tuple(sent))]
        assert count_messages(chat, token_counter=gatekeeper.token_counter) <= budget
    if not is_damaged:
        assert native.faults(sent) == native.changes(sent, issued) == []


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a value that can be changed: the list or object, and the position or key."""
    rest = [value]
    while rest:
        owner = rest.pop()
        for key in owner if isinstance(owner, dict) else range(len(owner)):
            yield owner, key
            if isinstance(owner[key], (dict, list)):
                rest.append(owner[key])


def costs(data: bytes) -> None:
    """At any price and state the prompt is valid and within the budget."""
    source = Input(data)
    kept = read_messages(CHAT.write(talk(source.number(65_536))))
    budget = 30 + source.number(3_000)
    strategy = source.choice(("cache", "gate"))
    names = ("input", "output", "cache_read", "cache_write")
    rates = {name: source.number(100) / source.choice((1, 10, 1_000)) for name in names}
    least = source.choice((None, 1, 64, 1_024))
    prices = ModelPrices(**rates, min_cached_tokens=least, step_tokens=1 + source.number(128))
    state = _state(source)
    config = HistoryConfig(token_budget=budget, strategy=strategy, prices=prices)
    gatekeeper = ContextGatekeeper()
    for nth, stop in enumerate(at + 1 for at, message in enumerate(kept) if message.role == "user"):
        history = kept[:stop]
        view = select_history(history, gatekeeper=gatekeeper, config=config, state=state.at(400.0 * nth))
        sent = keep(history, view)
        assert view.kept == tuple(sorted({*view.kept}))
        assert validate_messages(sent, provider="openai") == ()
        if view.status != "over_budget":
            assert count_messages(sent, token_counter=gatekeeper.token_counter) <= budget
        state = ThreadState.from_dict(json.loads(json.dumps(view.state.to_dict())))
        assert state == ThreadState(view.state.policy)


def _state(source: Input) -> ThreadState:
    """Return a state that was stored and damaged; the first one where it is refused."""
    values = ThreadState().to_dict()
    parts = [part for part in values.values() if isinstance(part, dict)]
    places = [(values, "version"), (values, "another"), *((part, name) for part in parts for name in part)]
    while not source.is_empty:
        part, name = source.choice(places)
        part[name] = source.choice((*DAMAGE, source.number(256), [source.number(8), 9], source.number(60_000) / 7))
    try:
        state = ThreadState.from_dict(values)
    except ConfigError:
        return ThreadState()
    assert ThreadState.from_dict(state.to_dict()) == state
    return state


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target
    for target in (
        *(text, anchors, formats, codec, pointers, fences),
        *(tool_results, tables, stream, messages, costs),
    )
}
