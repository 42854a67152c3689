"""Atomic writes of files; a report does not replace a file of another kind."""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from pathlib import Path

from gatekeeper_cli.texts import spoken
from gatekeeper_core.errors import GatekeeperError

STANDARD_STREAM = "-"  # the file name of standard input or output
_LOOKED_AT = 4_096


class WriteError(GatekeeperError):
    """A file that cannot be written; the message is one line with its name."""


def file_size(file: str) -> int:
    """Return the bytes of a regular file; 0 for anything else, such as standard input."""
    try:
        status = None if file == STANDARD_STREAM else os.stat(file)
    except (OSError, ValueError):
        return 0
    return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else 0


def write_report(path: str, page: str, *, mark: str = "", force: bool = False) -> int:
    """Write a text to a file atomically and return its number of bytes; ``-`` is standard output.

    With a ``mark``, an empty file or one with the mark near its beginning is replaced; any other only with ``force``.
    """
    content = page.encode("utf-8", "replace")
    if path == STANDARD_STREAM:
        if sys.stdout is not None:
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
        return len(content)
    try:
        if mark and not force and Path(path).is_file():
            with Path(path).open("rb") as file:
                beginning = file.read(_LOOKED_AT)
            if beginning and mark.encode() not in beginning:
                raise WriteError(spoken()("error.no_report", file=path))
            force = True
        _write_whole(path, content, replace=force)
    except OSError as error:
        raise WriteError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:  # a NUL or a lone surrogate in the name
        raise WriteError(f"{path!a}: {error}") from error
    return len(content)


def _write_whole(path: str, content: bytes, *, replace: bool) -> None:
    """Write a file completely, or leave it unchanged.

    The content goes to a file beside it, is synced and renamed. A new file is readable by its owner only; a replaced
    one keeps its mode, and its links still work. A dangling link is refused: its author would choose the file's place.
    """
    target = Path(os.path.realpath(path))
    mode = None
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        if Path(path).is_symlink():
            raise OSError(errno.ENOENT, spoken()("error.link_to_nothing")) from None
    exists = FileExistsError(errno.EEXIST, spoken()("error.exists"))
    if mode is not None and not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, spoken()("error.no_regular_out"))
    if mode is not None and not replace:
        raise exists
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            if mode is not None:
                Path(name).chmod(stat.S_IMODE(mode))
            os.fsync(stream.fileno())
        if replace:
            Path(name).replace(target)
        else:
            try:
                os.link(name, target)  # fails if another process was faster
                Path(name).unlink()
            except FileExistsError:
                raise exists from None
            except OSError:  # a file system without links
                Path(name).rename(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if os.name != "nt":  # Windows cannot open a folder
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
