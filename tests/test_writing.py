"""Reports are written whole or not at all, and never over something else."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gatekeeper_cli.files import WriteError, write_report

MARK = "made by the tests"
PAGE = f"<!DOCTYPE html> {MARK} 你好"


def write(path: Path, page: str = PAGE, *, force: bool = False) -> int:
    return write_report(str(path), page, mark=MARK, force=force)


def test_a_report_is_written_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    size = write(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_bytes() == PAGE.encode()
    assert size == len(PAGE.encode())
    assert os.name == "nt" or stat.S_IMODE((tmp_path / "a.html").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_any_other_file_stays_unless_forced(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(WriteError, match=r"exists and isn't a gatekeeper report: choose another name, or .* --force"):
        write(file)
    assert file.read_text(encoding="utf-8") == "[]"
    write(file, force=True)
    assert file.read_bytes() == PAGE.encode()


@pytest.mark.parametrize("force", [False, True])
def test_a_link_is_followed_to_a_file_that_may_be_replaced_and_never_to_nothing(force: bool, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "notes.txt").write_text("precious", encoding="utf-8")
    (tmp_path / "link.html").symlink_to(folder / "notes.txt")
    if force:
        write(tmp_path / "link.html", force=True)
        assert (tmp_path / "link.html").is_symlink()
    else:
        with pytest.raises(WriteError, match="isn't a gatekeeper report"):
            write(tmp_path / "link.html")
    assert (folder / "notes.txt").read_text(encoding="utf-8") == (PAGE if force else "precious")
    (tmp_path / "dangling.html").symlink_to(folder / "new.html")
    with pytest.raises(WriteError, match="is a link to a missing file"):
        write(tmp_path / "dangling.html", force=force)
    assert sorted(os.listdir(folder)) == ["notes.txt"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("missing/a.html", "No such file or directory"), (".", "is not a regular file"), ("a\0b", "null")],
)
def test_a_place_that_cannot_be_written_to_is_one_line_that_names_it(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(WriteError, match=reason) as caught:
        write_report(f"{tmp_path}/{name}", PAGE, mark=MARK)
    assert len(str(caught.value).splitlines()) == 1


def test_a_dash_is_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_report("-", PAGE, mark=MARK)
    assert capfdbinary.readouterr().out == PAGE.encode()
