"""Writing a file whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from gatekeeper_cli.texts import spoken

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["write_whole"]


def write_whole(path: str, pieces: Iterable[bytes], *, replace: bool) -> None:
    """Write a file that is there with all of its content, or as it was before.

    It is written beside its place, forced to the disk and renamed. A new file can be read by its owner alone; one that
    is replaced keeps its mode, and a link goes on pointing to it.

    Args:
        path: the file.
        pieces: its content.
        replace: whether a file that is there may be replaced.

    Raises:
        FileExistsError: there is one, and it may not be.
        OSError: it could not be written; nothing was changed.
        ValueError: the name holds a NUL or half a character.
    """
    target = Path(os.path.realpath(path))
    mode = _mode(target, replace=replace)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(pieces)
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
