"""First guesses of new users at the core: each works, or raises an error that names the right spelling."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from contextlib import nullcontext

import pytest

import gatekeeper_core as core
from tests.case_files import from_file

TALK = [{"role": "user", "content": "hi"}]
RESULTS = {"BuiltContext", "HistoryView", "SelectedTurn", "Selection"}  # values that nobody but the library makes
NO_ARGUMENTS = {"InMemoryStore"}


@from_file("guess", "answer")
def test_a_first_guess_works_or_is_answered(guess: str, answer: str) -> None:
    """An empty answer: it works. Python answers itself where a package has another name."""
    with pytest.raises(Exception, match=re.escape(answer)) if answer else nullcontext():
        exec(guess, {})  # noqa: S102 - a guess is a line of code


@from_file("door", "wrong", "right")
def test_a_wrong_argument_is_answered_with_the_right_one(door: str, wrong: str, right: str) -> None:
    with pytest.raises(TypeError) as raised:
        getattr(core, door)(**{wrong: 1})
    assert str(raised.value) == f"{door}() has no argument '{wrong}': did you mean '{right}'?"
    assert right in inspect.signature(getattr(core, door)).parameters


def public_callables() -> list[str]:
    values = {name: getattr(core, name) for name in core.__all__}
    return [
        name
        for name, value in values.items()
        if not getattr(value, "_is_protocol", False) and not (isinstance(value, type) and issubclass(value, Exception))
    ]


@pytest.mark.parametrize("name", sorted({*public_callables()} - RESULTS - NO_ARGUMENTS))
def test_every_public_callable_lists_its_arguments_where_none_is_near(name: str) -> None:
    with pytest.raises(
        TypeError, match=rf"^{name}\(\) has no argument 'zzzz': (it takes \w+|pass further settings in)"
    ):
        getattr(core, name)(zzzz=1)


def test_arguments_by_position_are_refused_with_their_names() -> None:
    with pytest.raises(
        TypeError, match=r"^HistoryConfig\(\) takes no argument by position; by name: strategy, coverage"
    ):
        core.HistoryConfig(1000)  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"select_history\(\) takes messages by position; by name: token_budget"):
        core.select_history(TALK, 1000)  # type: ignore[misc]


@from_file("wrong", "right")
def test_a_wrong_method_is_answered_with_the_right_one(wrong: str, right: str) -> None:
    with pytest.raises(AttributeError, match=f"ContextGatekeeper has no attribute '{wrong}': did you mean '{right}'"):
        getattr(core.ContextGatekeeper(), wrong)
    assert not hasattr(core.ContextGatekeeper(), "zzzz")


def test_a_wrong_name_of_the_package_is_answered_and_one_of_an_adapter_with_its_place() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'select_histroy': did you mean 'select_history'"):
        core.select_histroy  # noqa: B018 - the access itself is what fails
    assert not hasattr(core, "zzzz")
    with pytest.raises(ImportError, match="from context_gatekeeper import GatekeeperMiddleware"):
        from gatekeeper_core import GatekeeperMiddleware  # type: ignore[attr-defined]  # noqa: F401


def test_what_answers_is_otherwise_as_it_was() -> None:
    """Signature, pickle and copy; an error from inside of a call is the error that it is."""
    assert pickle.loads(pickle.dumps(core.select_history)) is core.select_history  # noqa: S301 - our own
    for value in (
        core.HistoryConfig(keep_newest=2),
        core.Usage(3, 1),
        core.Message("user", "端口?"),
        core.ThreadState(),
    ):
        assert copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own
    assert [*inspect.signature(core.HistoryConfig).parameters][:3] == ["strategy", "coverage", "token_budget"]
    with pytest.raises(TypeError, match=r"^messages must be a list of messages or dicts"):
        core.select_history(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'content'"):
        core.Message("user")  # type: ignore[call-arg]
