"""The ledger: what was answered is there after any end, and nothing that is not ours is written to."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatekeeper_core.pricing.usage import Usage
from gatekeeper_eval.errors import LedgerError
from gatekeeper_eval.ledger import Entry, Ledger
from gatekeeper_eval.models import Reply
from gatekeeper_eval.sampling import TurnId
from tests.conversations import HOSTILE


def entry(number: int, text: str = "端口是 6380.", **changes: object) -> Entry:
    reply = Reply(text, Usage(12, 3, cached_tokens=4, model="m"))
    return Entry(f"{number:064x}", TurnId("chats/a.json", 1, number), "whole", {"model": "m"}, reply)._replace(
        **changes
    )  # type: ignore[arg-type]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = str(tmp_path / "eval.jsonl")
    entries = [
        entry(1),
        entry(2, "line\u2028break\u0085 " + HOSTILE.replace("\ud800", "")),
        entry(3, reply=None, refused="no"),
        entry(4, reply=Reply("no usage")),
    ]
    ledger = Ledger(path)
    for each in entries:
        ledger.add(each)
    again = Ledger(path)
    assert list(again) == entries == list(ledger)
    assert (len(again), again.torn, again.get(entries[0].digest), again.get("x")) == (4, 0, entries[0], None)


def test_wherever_the_last_line_is_cut_off_the_others_stay_and_the_next_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "eval.jsonl"
    ledger = Ledger(str(path))
    ledger.add(entry(1))
    size = path.stat().st_size
    ledger.add(entry(2))
    content = path.read_bytes()
    for cut in range(size + 1, len(content) - 1, 11):
        path.write_bytes(content[:cut])
        torn = Ledger(str(path))
        assert (list(torn), torn.torn) == ([entry(1)], 1), cut
        torn.add(entry(3))
        assert list(Ledger(str(path))) == [entry(1), entry(3)], cut
    path.write_bytes(content[:-1])  # whole, without its end
    Ledger(str(path)).add(entry(3))
    assert list(Ledger(str(path))) == [entry(1), entry(2), entry(3)]


@pytest.mark.parametrize(
    "text",
    ['{"role": "user", "content": "hi"}\n', "# notes\n", '{"gatekeeper_eval": 2, "request": "a"}\n', "[1]\n", "x"],
)
def test_a_file_of_somebody_else_is_refused_and_not_touched(tmp_path: Path, text: str) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LedgerError, match="line 1 is not a ledger line of version 1: use another file"):
        Ledger(str(path))
    assert path.read_text(encoding="utf-8") == text


def test_a_ledger_that_cannot_be_read_or_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be read"):
        Ledger(str(tmp_path))
    with pytest.raises(LedgerError, match="cannot be written: No such file"):
        Ledger(str(tmp_path / "gone" / "eval.jsonl")).add(entry(1))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, which Linux has")
def test_a_full_disk_is_an_error_and_the_entry_is_not_kept() -> None:
    ledger = Ledger()
    ledger._path = "/dev/full"
    with pytest.raises(LedgerError, match="No space left"):
        ledger.add(entry(1))
    assert len(ledger) == 0
