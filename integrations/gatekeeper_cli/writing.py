"""Files written whole or not at all; reports never over a file that is something else."""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from pathlib import Path

from gatekeeper_cli.texts import spoken

__all__ = ["STANDARD_INPUT", "WriteError", "write_report"]

STANDARD_INPUT = "-"
"""The file name that stands for standard input, or output."""

_LOOKED_AT = 4_096


class WriteError(Exception):
    """A file cannot be written; the text is one line that names it."""


def write_report(path: str, page: str, *, mark: str = "", force: bool = False) -> int:
    """Write a text to a file and return its bytes; ``-`` is standard output.

    The file is there whole or not at all, see :func:`_write_whole`.

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
        _write_whole(path, content, replace=_may_be_replaced(path, mark=mark, force=force))
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
    if not mark or not target.is_file():
        return force
    with target.open("rb") as file:
        beginning = file.read(_LOOKED_AT)
    if beginning and mark.encode() not in beginning and not force:
        raise WriteError(spoken()("error.no_report", file=path))
    return True


def _write_whole(path: str, content: bytes, *, replace: bool) -> None:
    """Write a file that is there with all of its content, or as it was before.

    It is written beside its place, forced to the disk and renamed. A new file can be read by its owner alone; one that
    is replaced keeps its mode, and a link goes on pointing to it. A link to nothing is refused: whoever made it would
    choose where the file is.

    Args:
        path: the file.
        content: its bytes.
        replace: whether a file that is there may be replaced.

    Raises:
        FileExistsError: there is one, and it may not be.
        OSError: it could not be written; nothing was changed.
        ValueError: the name holds a NUL or half a character.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(target, replace=replace)
    if mode is None and Path(path).is_symlink():
        raise OSError(errno.ENOENT, spoken()("error.link_to_nothing"))
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            if mode is not None:
                Path(name).chmod(mode)
            os.fsync(stream.fileno())
        if replace:
            Path(name).replace(target)
        else:
            _rename_new(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _mode(target: Path, *, replace: bool) -> int | None:
    """Return the mode of the file that is to be replaced, or None where there is none."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, spoken()("error.no_regular_out"))
    if not replace:
        raise FileExistsError(errno.EEXIST, spoken()("error.exists"))
    return stat.S_IMODE(found.st_mode)


def _rename_new(name: str, target: Path) -> None:
    """Rename a file to a name that is still free, also when another process was faster."""
    try:
        os.link(name, target)
    except FileExistsError:
        raise FileExistsError(errno.EEXIST, spoken()("error.exists")) from None
    except OSError:  # a file system without links
        Path(name).rename(target)
        return
    Path(name).unlink()


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # where a folder cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
