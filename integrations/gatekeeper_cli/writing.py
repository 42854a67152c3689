"""Reports written whole or not at all, and never over a file that is something else."""

from __future__ import annotations

import sys
from pathlib import Path

from gatekeeper_cli.texts import spoken
from gatekeeper_cli.whole_file import write_whole

__all__ = ["STANDARD_INPUT", "WriteError", "write_report"]

STANDARD_INPUT = "-"
"""The file name that stands for standard input, or output."""

_LOOKED_AT = 4_096


class WriteError(Exception):
    """A file cannot be written; the text is one line that names it."""


def write_report(path: str, page: str, *, mark: str, force: bool = False) -> int:
    """Write a page to a file and return its bytes; ``-`` is standard output.

    The file is there whole or not at all: it is written beside its place and then moved. A new one can be read by its
    owner alone, for it holds messages; one that is replaced keeps who may read it.

    Args:
        path: where to.
        page: the text; lone surrogates are replaced.
        mark: what a report says of itself near its beginning: a file with it, or an empty one, may be replaced.
        force: replace any file.

    Raises:
        WriteError: it cannot be written, or the file there is no report.
    """
    content = page.encode("utf-8", "replace")
    if path == STANDARD_INPUT:
        if sys.stdout is not None:
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
        return len(content)
    try:
        write_whole(path, [content], replace=_may_be_replaced(path, mark=mark, force=force))
    except OSError as error:
        raise WriteError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:  # a NUL or a lone surrogate in the name
        raise WriteError(f"{path!a}: {error}") from error
    return len(content)


def _may_be_replaced(path: str, *, mark: str, force: bool) -> bool:
    """Return whether there is a file that a report may take the place of; where there is none, none may be.

    Raises:
        WriteError: there is something else.
    """
    target = Path(path)
    if not target.is_file():
        return force
    with target.open("rb") as file:
        beginning = file.read(_LOOKED_AT)
    if beginning and mark.encode() not in beginning and not force:
        raise WriteError(spoken()("error.no_report", file=path))
    return True
