"""Frozen dataclasses as JSON and back; every field is present, with a value of its type."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from gatekeeper_core.errors import CorruptionError, check_str

_Value = TypeVar("_Value")
_hints = cache(get_type_hints)

UNREADABLE = (AttributeError, KeyError, RecursionError, TypeError, ValueError)
"""Errors that malformed stored data can raise."""


def to_record(value: Any, *, format_number: int) -> str:
    """Return a dataclass as ASCII JSON for :func:`from_record`; equal values give equal bytes."""
    return json.dumps({"format": format_number, **asdict(value)}, separators=(",", ":"), sort_keys=True)


def from_record(kind: type[_Value], body: str, *, format_number: int) -> _Value:
    """Return the dataclass that a JSON text describes.

    Raises:
        CorruptionError: the text is damaged, of another format, or its fields differ in number or type.
        TypeError: ``body`` is not a str.
    """
    check_str("body", body)
    try:
        data = json.loads(body)
        if data.pop("format") != format_number:
            raise ValueError("another format")
        value: _Value = read_value(kind, data)
    except UNREADABLE as error:
        raise CorruptionError("the stored record cannot be read: build it again from the messages") from error
    return value


def read_value(kind: Any, data: Any) -> Any:
    """Return parsed JSON as a ``kind`` (a list as a tuple, a dict as a dataclass), or raise one of ``UNREADABLE``."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal and data in parts:
        return data
    if type(None) in parts:
        return None if data is None else read_value(parts[0], data)
    if origin is tuple and isinstance(data, (list, tuple)):
        kinds = [parts[0]] * len(data) if parts[-1] is ... else parts
        return tuple(read_value(part, each) for part, each in zip(kinds, data, strict=True))
    if is_dataclass(kind):
        return kind(**{name: read_value(_hints(kind)[name], data[name]) for name in {**_hints(kind), **data}})  # type: ignore[operator, arg-type]
    if origin is None and issubclass(kind, tuple):
        return kind(*(read_value(part, each) for part, each in zip(_hints(kind).values(), data, strict=True)))
    fits = type(data) in (int, float) if kind is float else type(data) is kind
    if not fits or (kind in (int, float) and not -1 <= data <= 2**53):  # beyond it a JSON reader may round
        raise ValueError("something else than the field holds")
    return data
