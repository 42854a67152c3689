"""Where an extra is not installed, the error names the line that installs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

PIP_LINE = 'gatekeeper needs the command-line extra: pip install "context-gatekeeper[cli]"\n'


def run_without(modules: list[str], code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter in which importing the modules fails as if they were not installed."""
    blocked = f"import sys; sys.modules.update(dict.fromkeys({modules!r}))\n"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", blocked + code, *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("arguments", [(), ("demo",), ("--help",)], ids=" ".join)
def test_without_the_extra_the_command_names_the_pip_line_and_ends_with_status_2(arguments: tuple[str, ...]) -> None:
    done = run_without(["typer", "rich"], "from gatekeeper_cli import main; main()", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", PIP_LINE)


@pytest.mark.parametrize(
    "names", ["tokenizers.openai tiktoken", "tokenizers.huggingface tokenizers", "otel opentelemetry"]
)
def test_without_the_extra_the_import_names_the_line_that_installs_it(names: str) -> None:
    module, missing = names.split()
    error = run_without([missing], f"import gatekeeper_{module}").stderr
    assert f'pip install "context-gatekeeper[{missing.replace("opentelemetry", "otel")}]"' in error


def test_importing_the_package_and_reading_files_need_no_extra() -> None:
    code = "import gatekeeper_formats.reading, gatekeeper_cli.conversation, gatekeeper_cli.costs"
    done = run_without(["typer", "rich"], code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
