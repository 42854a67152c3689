"""Stack traces keep what was raised, both ends, and the frames in one's own code."""

from __future__ import annotations

import pytest

from gatekeeper_core.context.tool_results.digest import Digest, Lines, Task
from gatekeeper_core.context.tool_results.formats.traces import digest_trace, is_frame, is_trace_head
from gatekeeper_core.context.tool_results.query_match import Asked
from tests.case_files import from_file


def digest(text: str, budget: int = 200) -> Digest | None:
    task = Task(Asked(None), budget, lambda part: len(part) // 4, 20)
    return digest_trace(Lines.whole(text.split("\n")), task)


PYTHON = "\n".join(
    [
        "Traceback (most recent call last):",
        *(
            f'  File "/opt/lib/python3.12/site-packages/web/m{at}.py", line {at}, in call\n    return self.go()'
            for at in range(40)
        ),
        '  File "/srv/app/billing.py", line 7, in charge\n    raise LedgerError(7)',
        *(
            f'  File "/opt/lib/python3.12/site-packages/orm/n{at}.py", line {at}, in run\n    step()'
            for at in range(40)
        ),
        "app.LedgerError: 账户 77 已冻结",
    ]
)
JAVA = "\n".join(
    [
        'Exception in thread "main" java.lang.IllegalStateException: account 77 is frozen',
        *(f"\tat org.springframework.web.Filter{at}.run(Filter.java:{at})" for at in range(40)),
        "\tat com.acme.Billing.charge(Billing.java:7)",
        *(f"\tat java.base/java.lang.Thread{at}.run(Thread.java:{at})" for at in range(40)),
        "Caused by: java.io.IOException: replica 77 gone",
        "\tat org.springframework.io.Pipe.read(Pipe.java:1)",
        "\t... 41 more",
    ]
)
NODE = "\n".join(
    [
        "TypeError: cannot read balance of 77",
        *(f"    at go{at} (/srv/app/node_modules/web/m{at}.js:{at}:9)" for at in range(40)),
        "    at charge (/srv/app/src/billing.js:7:13)",
        *(f"    at node:internal/m{at}:1:2" for at in range(40)),
    ]
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            PYTHON,
            [
                "app.LedgerError: 账户 77 已冻结",
                "/srv/app/billing.py",
                "raise LedgerError(7)",
                "web/m0.py",
                "orm/n39.py",
            ],
        ),
        (JAVA, ["account 77 is frozen", "com.acme.Billing.charge", "Caused by: java.io.IOException: replica 77 gone"]),
        (NODE, ["cannot read balance of 77", "src/billing.js:7", "go0 "]),
    ],
    ids=["python", "java", "javascript"],
)
def test_what_was_raised_the_ends_and_own_code_are_kept(text: str, kept: list[str]) -> None:
    made = digest(text)
    assert made is not None
    assert [part for part in kept if part not in made.text] == []
    assert len(made.text) < len(text) / 2
    assert "lines omitted [" in made.text


def test_the_same_trace_again_is_shown_once() -> None:
    made = digest("\n".join([PYTHON] * 5), budget=300)
    assert made is not None
    assert made.text.count("/srv/app/billing.py") == 1


def test_without_frames_there_is_no_digest() -> None:
    assert digest("all good\nnothing raised") is None


@from_file("line")
def test_frames_of_many_languages_are_known(line: str) -> None:
    assert is_frame(line)


@pytest.mark.parametrize("line", ["at noon", "# heading", "from here on", "12 monkeys", "", "  indented prose", "失败"])
def test_what_is_no_frame_is_none(line: str) -> None:
    assert not is_frame(line)


@pytest.mark.parametrize("line", ["Traceback (most recent call last):", "panic: oh", "KeyError: 'x'", "Caused by: a.B"])
def test_heads_of_traces_are_known(line: str) -> None:
    assert is_trace_head(line)
