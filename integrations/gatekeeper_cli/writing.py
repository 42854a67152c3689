"""Reports written whole or not at all, and never over a file that is something else."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from gatekeeper_cli.reading import STANDARD_INPUT

__all__ = ["WriteError", "write_report"]

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
        _write(Path(os.path.realpath(path)), path, content, mark=mark, force=force)
    except OSError as error:
        raise WriteError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:  # a NUL or a lone surrogate in the name
        raise WriteError(f"{path!a}: {error}") from error
    return len(content)


def _write(target: Path, path: str, content: bytes, *, mark: str, force: bool) -> None:
    mode = _mode_of(target, path, mark=mark, force=force)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.", suffix=".part")
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _mode_of(target: Path, path: str, *, mark: str, force: bool) -> int | None:
    """Return the mode of a file that may be replaced, None where there is none.

    Raises:
        WriteError: there is something else.
    """
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise WriteError(f"{path}: is no regular file")
    with target.open("rb") as file:
        beginning = file.read(_LOOKED_AT)
    if beginning and mark.encode() not in beginning and not force:
        raise WriteError(f"{path}: is there already and is no report: choose another name, or replace it with --force")
    return stat.S_IMODE(mode)
