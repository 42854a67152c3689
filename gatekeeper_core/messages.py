"""Chat messages, their turns, and the order rules of the providers.

::

    Message … ──group_turns──> Turn …
              ──split_current_turn──> head · past turns · current turn
              ──validate_messages──> violations of a provider's order rules

All values are frozen. A position is always the 0-based index in the list that you passed.
"""

from __future__ import annotations

import re
import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime
from itertools import chain, pairwise
from typing import Any, Literal, NamedTuple, cast, get_args

from gatekeeper_core.arguments import with_suggestions
from gatekeeper_core.data_files import words
from gatekeeper_core.errors import ConfigError, MessageFormatError, check_str
from gatekeeper_core.text import Locale, locale_of, split_thinking

Role = Literal["system", "user", "assistant", "tool"]
MediaKind = Literal["image", "audio", "video", "document", "other"]
Provider = Literal["openai", "anthropic", "gemini", "minimax"]

_ROLES = get_args(Role)
_ROLE_ALIASES = {"developer": "system", "function": "tool"}
_PROVIDERS = get_args(Provider)
_MEDIA_KINDS = get_args(MediaKind)

_TEXT_KEYS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
MEDIA_TYPES: Mapping[str, MediaKind] = {
    **dict.fromkeys(("image", "image_url", "input_image"), "image"),
    **dict.fromkeys(("audio", "input_audio"), "audio"),
    **dict.fromkeys(("video", "video_url", "input_video"), "video"),
    **dict.fromkeys(("document", "file", "input_file"), "document"),
}
"""Types of content parts without text, in OpenAI's and Anthropic's formats."""

SIGNED = "signed"
"""Metadata mark of a message that its provider signed: it is sent unchanged or not at all."""

FOLDED = "folded"
"""Value of the metadata mark ``synthetic`` on a summary that replaces folded messages."""

BESIDE_RESULTS = "beside_results"
"""Mark of user text that shares a message with tool results (Anthropic, Gemini): it begins no turn."""

COMPACTED = "compacted"
"""Mark of a message with a provider's own compaction, which replaces all messages before it."""

OUR_MARKS = frozenset({"synthetic", "compressed", SIGNED, BESIDE_RESULTS, COMPACTED})
"""Marks that record what this library did to a message; a client cannot set them."""

SIGNED_KEYS = frozenset(words("words.tsv", "keys of thinking"))
"""Keys of thinking and signatures next to a message's text."""

_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ]([0-9]{2}:[0-9]{2})(?:(:[0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{6})?)?)?"
)

_RESULT_END_CHARS = 1_000
"""Characters searched at each end of a tool result. Source: design, "Turns"."""

_OUTSIDE_WORD = re.compile(r"(?<![0-9A-Za-z])|(?![0-9A-Za-z])")


@with_suggestions()
@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call by the assistant; ``arguments`` is the JSON text as the provider sent it."""

    id: str
    name: str
    arguments: str

    def __post_init__(self) -> None:
        for name in self.__slots__:
            check_str(name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text part of a message."""

    text: str

    def __post_init__(self) -> None:
        check_str("text", self.text)


@dataclass(frozen=True, slots=True)
class MediaPart:
    """A non-text part of a message; its data stays with you.

    Attributes:
        kind: kind of part, such as ``image``.
        tokens: cost in tokens; defaults to that of its kind (``MEDIA_TOKENS``).
    """

    kind: MediaKind
    tokens: int | None = None

    def __post_init__(self) -> None:
        check_str("kind", self.kind)
        if self.kind not in _MEDIA_KINDS:
            raise ConfigError(f"kind must be one of {', '.join(_MEDIA_KINDS)}")
        if self.tokens is not None and (type(self.tokens) is not int or self.tokens < 0):
            raise ConfigError(f"tokens must be an int of 0 or more, or None, got {reprlib.repr(self.tokens)}")


Part = TextPart | MediaPart


class Metadata(Mapping[str, str | int]):
    """Extra data of a message: a read-only, hashable mapping to strings, ints and booleans."""

    __slots__ = ("_marks",)

    def __init__(self, marks: Mapping[str, str | int]) -> None:
        if not isinstance(marks, Mapping):
            raise TypeError(f"metadata must be a mapping, got {type(marks).__name__}")
        self._marks = dict(marks)
        for name, value in self._marks.items():
            check_str("a name in metadata", name)
            if not isinstance(value, (str, int)):
                raise TypeError(f"a value in metadata must be a str, int or bool, got {type(value).__name__}")

    def __getitem__(self, name: str) -> str | int:
        return self._marks[name]

    def __contains__(self, name: object) -> bool:
        return name in self._marks  # Mapping's own would catch a KeyError per message

    def __iter__(self) -> Iterator[str]:
        return iter(self._marks)

    def __len__(self) -> int:
        return len(self._marks)

    def __hash__(self) -> int:
        return hash(frozenset(self._marks.items()))

    def __repr__(self) -> str:
        return repr(self._marks)


_UNMARKED = Metadata({})


@with_suggestions()
@dataclass(frozen=True, slots=True)
class Message:
    """A chat message.

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        content: text, or a tuple of parts.
        tool_calls: the calls of an assistant message, in order.
        tool_call_id: the call that a tool message answers.
        name: name of the speaker or of the tool.
        id: your own identifier; the library does not use it.
        metadata: data that is never sent; any mapping to strings, ints and booleans, stored as ``Metadata``.
        created_at: when it was written, in the author's local time, with or without a time zone; for questions by date.

    Raises:
        MessageFormatError: the role is unknown.

    >>> Message("user", (TextPart("what is this?"), MediaPart("image"))).text
    'what is this?'
    """

    role: Role
    content: str | tuple[Part, ...]
    _: KW_ONLY
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    id: str | None = None
    metadata: Mapping[str, str | int] = _UNMARKED
    created_at: datetime | None = None

    def __post_init__(self) -> None:
        check_str("role", self.role)
        if self.role not in _ROLES:
            raise MessageFormatError(f"role must be one of {', '.join(_ROLES)}")
        if not isinstance(self.content, str):
            _check_tuple("content", self.content, (TextPart, MediaPart), "text or a tuple of TextPart and MediaPart")
        if self.tool_calls != ():
            _check_tuple("tool_calls", self.tool_calls, (ToolCall,), "a tuple of ToolCall")
        for name in ("tool_call_id", "name", "id"):
            if getattr(self, name) is not None:
                check_str(name, getattr(self, name))
        if self.created_at is not None and not isinstance(self.created_at, datetime):
            raise TypeError(f"created_at must be a datetime or None, got {type(self.created_at).__name__}")
        if not isinstance(self.metadata, Metadata):
            object.__setattr__(self, "metadata", Metadata(self.metadata))

    @property
    def text(self) -> str:
        """Texts of all parts, joined by line feeds."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, position: int | None = None, trusted: bool = False) -> Message:
        """Return the message in a dict of OpenAI's chat format; keys not listed here are ignored.

        * Roles: ``developer`` reads as ``system``, ``function`` as ``tool``.
        * Content: text, None (reads as ``""``) or a list of parts; media and unknown parts become a ``MediaPart``.
        * Calls: ``tool_calls`` and the legacy ``function_call`` (its id is the function's name). Arguments given as an
          object become compact JSON; missing ids and names are "".
        * ``metadata``: its texts, ints and booleans; our own marks (``OUR_MARKS``), and ``tokens`` of parts, only if
          ``trusted``. Thinking or a signature next to an assistant's text (``SIGNED_KEYS``) adds the mark ``SIGNED``.
        * ``created_at``: a datetime, or ISO 8601 text ("2024-06-03T09:30:00+02:00").

        Args:
            data: the dict.
            position: index of the message in your list, for error messages.
            trusted: whether your own program wrote the dict with :meth:`to_dict`; never set it for a client's data.

        Raises:
            MessageFormatError: the dict cannot be read; the reason names the key, never the text.

        >>> Message.from_dict({"role": "user", "content": None}) == Message("user", "")
        True
        """
        if not isinstance(data, Mapping):
            raise TypeError(f"data must be a mapping, got {type(data).__name__}")
        try:
            role = _expect(data.get("role"), str, "role", "text")
            name, tool_call_id = _optional_text(data, "name"), _optional_text(data, "tool_call_id")
            calls = tuple(_read_calls(data))
            marks = data["metadata"].items() if isinstance(data.get("metadata"), Mapping) else ()
            metadata: dict[str, str | int] = {
                key: mark
                for key, mark in marks
                if isinstance(key, str) and isinstance(mark, (str, int)) and (trusted or key not in OUR_MARKS)
            }
            if role == "assistant" and is_signed(data):
                metadata[SIGNED] = True
            return cls(
                cast(Role, _ROLE_ALIASES.get(role, role)),
                read_content(data.get("content"), trusted=trusted),
                tool_calls=calls,
                tool_call_id=name if role == "function" and tool_call_id is None else tool_call_id,
                name=name,
                id=_optional_text(data, "id"),
                metadata=metadata or _UNMARKED,
                created_at=_read_time(data.get("created_at")),
            )
        except MessageFormatError as error:
            raise MessageFormatError(error.reason, position=position) from error.__cause__

    def to_dict(self, *, for_provider: bool = False) -> dict[str, Any]:
        """Return the message in OpenAI's chat format; ``from_dict(..., trusted=True)`` restores an equal message.

        A media part becomes ``{"type": kind}`` with its tokens, a placeholder that cannot be sent.

        Args:
            for_provider: whether to leave out ``id``, ``metadata`` and ``created_at``; providers reject unknown fields.

        >>> Message("assistant", "", tool_calls=(ToolCall("c1", "now", "{}"),)).to_dict()["content"] is None
        True
        """
        content: str | list[dict[str, str | int]] | None
        if isinstance(self.content, str):
            content = None if self.tool_calls and not self.content else self.content
        else:
            content = [
                {"type": "text", "text": part.text}
                if isinstance(part, TextPart)
                else {"type": part.kind, **({} if part.tokens is None else {"tokens": part.tokens})}
                for part in self.content
            ]
        data: dict[str, Any] = {"role": self.role, "content": content}
        if self.tool_calls:
            data["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.tool_calls
            ]
        for key in ("tool_call_id", "name") if for_provider else ("tool_call_id", "name", "id"):
            if getattr(self, key) is not None:
                data[key] = getattr(self, key)
        if self.metadata and not for_provider:
            data["metadata"] = dict(self.metadata)
        if self.created_at and not for_provider:
            data["created_at"] = self.created_at.isoformat()
        return data


def is_signed(data: Mapping[str, Any]) -> bool:
    """Return whether a message has a value for one of ``SIGNED_KEYS``."""
    return any(data.get(key) for key in SIGNED_KEYS)


def _read_time(value: object) -> datetime | None:
    """Return a datetime, also from ISO 8601 text, parsed alike on every Python version; None for anything else."""
    if isinstance(value, datetime):
        return value
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    day, minute, second, fraction, zone = match.groups("")
    if len(zone) == len("+0200"):
        zone = f"{zone[:3]}:{zone[3:]}"
    written = f"{day}T{minute or '00:00'}{second or ':00'}.{fraction[:6]:0<6}{zone.replace('Z', '+00:00')}"
    try:
        return datetime.fromisoformat(written)
    except ValueError:  # 2024-02-30
        return None


def read_content(content: object, *, trusted: bool = False) -> str | tuple[Part, ...]:
    """Return the content of a message in OpenAI's formats, as ``from_dict`` reads it: text, or one part per block."""
    if content is None or isinstance(content, str):
        return content or ""
    parts: list[Part] = []
    for index, item in enumerate(_expect(content, (list, tuple), "content", "text or a list of parts")):
        if isinstance(item, str):
            parts.append(TextPart(item))
            continue
        where = f"content[{index}]"
        part = _expect(item, Mapping, where, "text or an object")
        kind = _expect(part.get("type", "text" if "text" in part else "other"), str, f"{where}.type", "text")
        if kind in ("tool_use", "tool_result"):
            raise MessageFormatError(f'"{where}" is Anthropic\'s format: read the whole list with read_messages')
        if key := _TEXT_KEYS.get(kind):
            parts.append(TextPart(_expect(part.get(key), str, f"{where}.{key}", "text")))
        else:
            tokens = part.get("tokens") if trusted else None
            is_count = type(tokens) is int and tokens >= 0
            parts.append(MediaPart(MEDIA_TYPES.get(kind, "other"), tokens if is_count else None))
    return tuple(parts)


def _read_calls(data: Mapping[str, Any]) -> Iterator[ToolCall]:
    calls: list[tuple[str, Any, Any]] = []
    if data.get("tool_calls") is not None:
        for index, item in enumerate(_expect(data["tool_calls"], (list, tuple), "tool_calls", "a list")):
            where = f"tool_calls[{index}]"
            call = _expect(item, Mapping, where, "an object")
            function = {} if call.get("function") is None else call["function"]
            calls.append((where, call, _expect(function, Mapping, f"{where}.function", "an object")))
    if data.get("function_call") is not None:
        function = _expect(data["function_call"], Mapping, "function_call", "an object")
        calls.append(("function_call", {"id": function.get("name")}, function))
    for where, call, function in calls:
        call_id, name = _optional_text(call, "id", f"{where}."), _optional_text(function, "name", f"{where}.")
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            import json  # here, because it is a tenth of the import of the library

            written = dict(_expect(arguments, Mapping, f"{where}.arguments", "JSON text or an object"))
            try:
                arguments = json.dumps(written, ensure_ascii=False, separators=(",", ":"))
            except (TypeError, ValueError, RecursionError) as error:
                reason = f'"{where}.arguments" must be an object that can be written as JSON'
                raise MessageFormatError(reason) from error
        yield ToolCall(call_id or "", name or "", arguments or "")


def _optional_text(data: Mapping[str, Any], key: str, prefix: str = "") -> str | None:
    value = data.get(key)
    return None if value is None else _expect(value, str, f"{prefix}{key}", "text")


def _expect(value: Any, kinds: type | tuple[type, ...], where: str, wanted: str) -> Any:
    if isinstance(value, kinds):
        return value
    got = "it is missing" if value is None else f"got {type(value).__name__}"
    raise MessageFormatError(f'"{where}" must be {wanted}, {got}')


def _check_tuple(argument: str, value: object, kinds: tuple[type, ...], wanted: str) -> None:
    if not isinstance(value, tuple) or not all(isinstance(item, kinds) for item in value):
        raise TypeError(f"{argument} must be {wanted}, got {type(value).__name__}")


def checked_messages(messages: Iterable[Message], *, argument: str = "messages") -> tuple[Message, ...]:
    """Return messages as a tuple; errors call them ``argument``."""
    checked = tuple(messages)
    for position, message in enumerate(checked):
        if not isinstance(message, Message):
            advice = ": read_messages() reads a list of dicts" if isinstance(message, Mapping) else ""
            raise TypeError(f"{argument}[{position}] must be a Message, got {type(message).__name__}{advice}")
    return checked


def with_text(message: Message, text: str) -> Message:
    """Return a message with this text in place of all its texts, at the first one; media parts keep their order."""
    content = () if isinstance(message.content, str) else message.content
    media: list[Part] = [part for part in content if isinstance(part, MediaPart)]
    if not media:
        return replace(message, content=text)
    if text:
        first = next((at for at, part in enumerate(content) if isinstance(part, TextPart)), len(content))
        media.insert(first, TextPart(text))
    return replace(message, content=tuple(media))


def is_summary(message: Message) -> bool:
    """Return whether a message is marked as a summary of folded ones."""
    return "synthetic" in message.metadata and message.metadata["synthetic"] == FOLDED


def is_answer(message: Message) -> bool:
    """Return whether a message is an answer: from the assistant, without tool calls."""
    return message.role == "assistant" and not message.tool_calls


def is_answered(messages: Sequence[Message]) -> bool:
    """Return whether the newest message, system messages aside, is an answer."""
    newest = next((message for message in reversed(messages) if message.role != "system"), None)
    return newest is not None and is_answer(newest)


class Turn(NamedTuple):
    """A user message and everything up to the next one.

    Attributes:
        messages: its messages, the first one a user message.
        start: position of the first message in your list.
        stop: position after the last message.
        preamble: assistant messages before the first user message: scored with this turn, neither sent nor counted.
    """

    messages: tuple[Message, ...]
    start: int
    stop: int
    preamble: tuple[Message, ...] = ()

    @classmethod
    def of(cls, user_text: str, assistant_text: str, *, start: int = 0) -> Turn:
        """Return a turn of one question and its answer; an empty ``assistant_text`` gives a turn of one message."""
        question = Message("user", check_str("user_text", user_text))
        answer = Message("assistant", check_str("assistant_text", assistant_text))
        messages = (question, answer) if assistant_text else (question,)
        return cls(messages, start, start + len(messages))

    @property
    def created_at(self) -> datetime | None:
        """Time of the first message that has one, or None."""
        return next((message.created_at for message in self.messages if message.created_at is not None), None)

    @property
    def user_text(self) -> str:
        """Texts of the user messages, joined by line feeds."""
        return "\n".join(message.text for message in self.messages if message.role == "user")

    @property
    def assistant_text(self) -> str:
        """Searchable text of the assistant and its tools, in order; non-empty texts, one per line.

        The assistant's texts (preamble first) without ``<think>``, the name and argument values of each tool call, and
        the first and last 1,000 characters of each tool result (all of it up to 2,000).
        """
        pieces: list[str] = []
        for message in self.preamble + self.messages:
            if message.role == "assistant":
                pieces.append(split_thinking(message.text)[1])
                for call in message.tool_calls:
                    pieces += (call.name, *_argument_values(call.arguments))
            elif message.role == "tool":
                pieces += both_ends(message.text)
        return "\n".join(filter(None, pieces))


def both_ends(text: str) -> tuple[str, ...]:
    """Return the first and last 1,000 characters of a text, or the whole text up to 2,000."""
    if len(text) <= 2 * _RESULT_END_CHARS:
        return (text,)
    return text[:_RESULT_END_CHARS], text[-_RESULT_END_CHARS:]


def _argument_values(arguments: str) -> tuple[str, ...]:
    """Return the scalar values of a JSON text in order, as written; both ends of the raw text if it is not JSON."""
    import json

    try:
        document = json.loads(
            arguments,
            object_pairs_hook=lambda pairs: [value for _, value in pairs],
            parse_int=str,
            parse_float=str,
            parse_constant=str,
        )
    except (ValueError, RecursionError):
        return both_ends(arguments)
    values: list[str] = []
    rest = [document]
    while rest:
        value = rest.pop()
        if isinstance(value, list):
            rest += reversed(value)
        elif value is not None:
            values.append(value if isinstance(value, str) else json.dumps(value))
    return tuple(values)


class Conversation(NamedTuple):
    """A message list, split at its newest turn.

    Attributes:
        head: positions of the system messages before the first user message.
        past: the finished turns, oldest first.
        current: the turn to answer, or None if all turns are past.
    """

    head: tuple[int, ...]
    past: tuple[Turn, ...]
    current: Turn | None


def group_turns(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """Return the turns of a conversation, oldest first: everything from the first user message on.

    >>> messages = [Message("system", "s"), Message("user", "a"), Message("assistant", "b"), Message("user", "c")]
    >>> [(turn.start, turn.stop) for turn in group_turns(messages)]
    [(1, 3), (3, 4)]
    """
    messages = checked_messages(messages)
    starts = turn_starts([turn_role(message) for message in messages])
    turns = [Turn(messages[start:stop], start, stop) for start, stop in pairwise([*starts, len(messages)])]
    if turns:
        preamble = tuple(message for message in messages[: starts[0]] if message.role == "assistant")
        turns[0] = turns[0]._replace(preamble=preamble)
    return tuple(turns)


def last_turns(messages: Sequence[Message], count: int) -> tuple[Turn, ...]:
    """Return the last ``count`` turns of a conversation, or all if fewer; the first one may lack its preamble."""
    start = len(messages)
    while start and count:
        start -= 1
        count -= turn_role(messages[start]) == "user"
    turns = group_turns(messages[start:])
    return tuple(turn._replace(start=turn.start + start, stop=turn.stop + start) for turn in turns)


def turn_role(message: Message) -> Role:
    """Return the role of a message for grouping turns: user text next to tool results counts as ``tool``."""
    return "tool" if BESIDE_RESULTS in message.metadata else message.role


def turn_starts(roles: Sequence[Role]) -> list[int]:
    """Return the positions where turns begin, ascending: at each user message."""
    return [at for at, role in enumerate(roles) if role == "user"]


def conversation_locale(messages: Iterable[Message], question: str = "") -> Locale:
    """Return the language of a conversation: that of the first user message with a word in it, else of the question."""
    return locale_of(chain((message.text for message in messages if message.role == "user"), [question]))


def common_beginning(before: Sequence[object], now: Sequence[object]) -> int:
    """Return the length of the common prefix of two sequences."""
    pairs = enumerate(zip(before, now, strict=False))
    unlike = (at for at, (old, new) in pairs if old is not new and old != new)
    return next(unlike, min(len(before), len(now)))


def split_current_turn(messages: Sequence[Message], *, query: str | None = None) -> Conversation:
    """Return the head, past turns and current turn of a conversation.

    Args:
        messages: the conversation.
        query: the question to answer. The last turn is current if its user text contains the query (stripped, and not
            inside a word). Otherwise, and for a blank query, every turn is past. None: the last turn is current.

    >>> messages = [Message("user", "hi"), Message("assistant", "hello")]
    >>> split_current_turn(messages, query="and now?").current is None
    True
    """
    if query is not None:
        check_str("query", query)
    turns = group_turns(messages)
    head_stop = turns[0].start if turns else len(messages)
    head = tuple(position for position in range(head_stop) if messages[position].role == "system")
    is_current = bool(turns)
    if turns and query is not None:
        text, part = turns[-1].user_text, query.strip()
        is_current = bool(part) and part in text
        if is_current and part != text.strip():  # marks at every position outside a word keep it linear
            is_current = _OUTSIDE_WORD.sub("\0", part) in _OUTSIDE_WORD.sub("\0", text)
    return Conversation(head, turns[:-1], turns[-1]) if is_current else Conversation(head, turns, None)


class Violation(NamedTuple):
    """A breach of a provider's order rules: index of the message, stable name of the rule, details for people."""

    position: int
    rule: str
    detail: str


def validate_messages(
    messages: Sequence[Message], *, provider: Provider, open_run: bool = False
) -> tuple[Violation, ...]:
    """Return the breaches of a provider's order rules, by position.

    The rules are ``unanswered-tool-call``, ``orphan-tool-result`` and ``duplicate-tool-result`` (all providers),
    ``first-not-user`` (Anthropic, Gemini), ``system-not-at-head`` (Anthropic) and ``misplaced-tool-call`` (Gemini: a
    call that follows neither a user message nor a tool result). Results are matched to calls by id, for Gemini by
    count. Gemini's system messages are ignored, because they are sent outside the contents.

    Args:
        messages: the list to send.
        provider: whose rules to check.
        open_run: whether calls of the last assistant message may wait for results if only tool messages follow it.

    Raises:
        ConfigError: the provider is unknown.

    >>> validate_messages([Message("user", "a"), Message("tool", "42", tool_call_id="c1")], provider="openai")[0].rule
    'orphan-tool-result'
    """
    if provider not in _PROVIDERS:
        raise ConfigError(f"provider must be one of {', '.join(_PROVIDERS)}, got {reprlib.repr(provider)}")
    numbered = list(enumerate(checked_messages(messages)))
    spoken = [(position, message) for position, message in numbered if message.role != "system"]
    if provider == "gemini":
        numbered = spoken
    violations = list(_exchange_violations(numbered, by_id=provider != "gemini", open_run=open_run))
    start, first = spoken[0] if spoken else (len(numbered), None)
    if provider in ("anthropic", "gemini") and first and first.role != "user":
        violations.append(Violation(start, "first-not-user", f"the first message has the role {first.role}"))
    if provider == "anthropic":
        late = [position for position, message in numbered if message.role == "system" and position > start]
        violations += [Violation(at, "system-not-at-head", "a system message follows another message") for at in late]
    if provider == "gemini":
        detail = "the calls follow another assistant message"
        for (_, before), (position, message) in pairwise(numbered):
            if message.tool_calls and message.role == before.role == "assistant":
                violations.append(Violation(position, "misplaced-tool-call", detail))
    return tuple(sorted(violations, key=lambda violation: violation.position))


def _exchange_violations(
    numbered: Sequence[tuple[int, Message]], *, by_id: bool, open_run: bool
) -> Iterator[Violation]:
    """Yield unmatched calls and results; without ``by_id`` all calls and results share one id."""
    calls_at, call_count, waiting = 0, 0, Counter[str | None]()
    end = [] if open_run else [(len(numbered), Message("system", ""))]
    for position, message in (*numbered, *end):
        if message.role != "tool":
            if unanswered := list(waiting.elements()):
                detail = f"{len(unanswered)} of {call_count} calls have no result after them"
                yield Violation(calls_at, "unanswered-tool-call", detail)
            calls = message.tool_calls if message.role == "assistant" else ()
            calls_at, call_count = position, len(calls)
            waiting = Counter(call.id if by_id else "" for call in calls)
            continue
        call_id = message.tool_call_id if by_id else ""
        if call_id not in waiting:
            detail = "the result answers no call of the assistant message before it"
            yield Violation(position, "orphan-tool-result", detail)
        elif waiting[call_id] == 0:
            yield Violation(position, "duplicate-tool-result", "the call has a result already")
        else:
            waiting[call_id] -= 1


def messages_digest(messages: Iterable[Message], *, after: str = "") -> str:
    """Return the last digest of messages; ``after`` as for :func:`digests_of`."""
    return [*digests_of(messages, after=after)][-1]


def digests_of(messages: Iterable[Message], *, after: str = "") -> Iterator[str]:
    """Yield the digest before the first message (``after``, or that of an empty list), then one per message.

    The sizes of a message's fields precede them, so that messages with different fields are never encoded alike.
    """
    from hashlib import blake2b  # here, because it is a tenth of the import of the library

    digest = after or blake2b(digest_size=16).hexdigest()
    yield digest
    for message in messages:
        calls = message.tool_calls
        fields = [message.role, message.text, message.tool_call_id or "", message.name or "", str(len(calls))]
        for call in calls:
            fields += (call.id, call.name, call.arguments)
        if not isinstance(message.content, str):
            fields += [part.kind for part in message.content if isinstance(part, MediaPart)]
        sizes = ",".join([str(len(text)) for text in fields])
        data = f"{digest}{sizes};{''.join(fields)}".encode("utf-8", "surrogatepass")
        digest = blake2b(data, digest_size=16).hexdigest()
        yield digest


def thread_name(value: object) -> str | None:
    """Return a thread's name from a framework's text, number or UUID; None if it has none."""
    return None if value is None else str(value) or None
