"""Error messages that suggest the right name, or the line that installs a missing package."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

from gatekeeper_core.data_files import rows

Door = TypeVar("Door", bound=Callable[..., Any])


def nearest_name(name: str, names: Collection[str]) -> str | None:
    """Return the name that is most likely meant, None if no name is near; synonyms are in ``spellings.tsv``.

    >>> names = ["token_budget", "strategy"]
    >>> nearest_name("max_tokens", names), nearest_name("stratgy", names), nearest_name("colour", names)
    ('token_budget', 'strategy', None)
    """
    from difflib import get_close_matches  # here, because only a mistake needs it

    groups = [group.split() for (group,) in rows("spellings.tsv")]
    synonyms = (synonym for group in groups if name in group for synonym in group if synonym in names)
    return next(synonyms, None) or next(iter(get_close_matches(name, names)), None)


def missing_attribute(owner: str, name: str, names: Collection[str]) -> AttributeError:
    """Return the error for an unknown attribute, with the nearest public one of the owner's ``names``."""
    right = nearest_name(name, [each for each in names if not each.startswith("_")])
    return AttributeError(f"{owner} has no attribute {name!r}" + (f": did you mean {right!r}?" if right else ""))


def unknown_argument(name: str, names: Collection[str]) -> str:
    """Return the error text for an unknown argument, with the nearest of ``names``."""
    right = nearest_name(name, names)
    rest = "pass further settings in config" if "config" in names else f"it takes {', '.join(names)}"
    return f"has no argument {name!r}: " + (f"did you mean {right!r}?" if right else rest)


@contextmanager
def needs_extra(extra: str, *packages: str, name: str) -> Iterator[None]:
    """Turn a failed import of one of ``packages`` into an error that says how to install them for ``name``."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        needed = f'{name} needs {error.name}: pip install "context-gatekeeper[{extra}]"'
        raise ImportError(needed, name=error.name) from error


def with_suggestions(*options: type) -> Callable[[Door], Door]:
    """Make a function, or a class in place, suggest the right names for wrong arguments, also those of ``options``.

    >>> @with_suggestions()
    ... def select(messages, *, token_budget=None): ...
    >>> select([], max_tokens=100)
    Traceback (most recent call last):
    TypeError: select() has no argument 'max_tokens': did you mean 'token_budget'?
    """

    def decorate(door: Door) -> Door:
        entry = "__new__" if isinstance(door, type) and issubclass(door, tuple) else "__init__"
        function = getattr(door, entry) if isinstance(door, type) else door

        @wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            try:
                return function(*args, **keywords)
            except (TypeError, ValueError):
                if fault := call_fault(function, options, len(args), keywords):
                    raise TypeError(f"{door.__qualname__}() {fault}") from None
                raise

        if not isinstance(door, type):
            return cast("Door", call)
        setattr(door, entry, call)
        return door

    return decorate


def call_fault(function: Callable[..., Any], options: Collection[type], count: int, keywords: Collection[str]) -> str:
    """Return what is wrong with a call of ``count`` positional arguments and these keywords, "" if nothing."""
    from inspect import signature

    parameters = signature(function).parameters.values()
    first = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    others = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    others += [name for option in options for name in option.__annotations__]
    positional = [name for name in first if name not in ("self", "cls", "_cls")]
    for name in keywords:
        if name not in (*positional, *others):
            return unknown_argument(name, [*positional, *others])
    if count <= len(first) or any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return ""
    return f"takes {', '.join(positional) or 'no argument'} by position; by name: {', '.join(others)}"
