"""The ledger: a line of JSON per answered request, so that nothing is asked twice.

::

    request ──sha256 of its bytes──> line of the ledger? ──yes──> its answer
                                                         ──no───> ask, then write the line and wait for the disk

A line holds the request's digest, ids (file, conversation, turn, part), settings, answer and usage, but no prompt: the
ids and the same logs rebuild each prompt, byte for byte.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gatekeeper_core.pricing.usage import Usage
from gatekeeper_eval.errors import LedgerError
from gatekeeper_eval.models import Reply
from gatekeeper_eval.sampling import TurnId

VERSION = 1
_BEGINNING = '{"gatekeeper_eval": '


class Entry(NamedTuple):
    """A line of the ledger: a request, by its digest (SHA-256, hexadecimal), and its answer or refusal.

    The part is ``whole`` or ``selected`` (an answer), ``judge_whole_first`` or ``judge_selected_first`` (a verdict).
    """

    digest: str
    turn: TurnId
    part: str
    settings: Mapping[str, Any]  # rebuild the request, with the logs; see ``Request``
    reply: Reply | None  # None if refused
    refused: str = ""  # the reason


class Ledger:
    """A ledger in a file, or in memory; thread-safe, for one process at a time.

    The first entry creates a missing file, readable by its owner only. A truncated line stays, but does not count.

    Args:
        path: the file; None keeps the ledger in memory.

    Attributes:
        torn: number of truncated lines.

    Raises:
        LedgerError: the file cannot be read, or is not a ledger.
    """

    def __init__(self, path: str | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._entries: dict[str, Entry] = {}
        self._ends_open = False
        self.torn = 0
        if path is None:
            return
        try:
            content = Path(path).read_bytes()
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            raise LedgerError(f"{path}: the ledger cannot be read: {error}") from error
        self._ends_open = bool(content) and not content.endswith(b"\n")
        for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1):
            if not line.strip():
                continue
            try:
                values = json.loads(line)
                if values["gatekeeper_eval"] != VERSION:
                    raise ValueError("another version")
                file, conversation, turn = values["turn"]
                place, usage = TurnId(str(file), int(conversation), int(turn)), values.get("usage")
                reply = None if "refused" in values else Reply(values["answer"], usage and Usage(**usage))
                refused = values.get("refused", "")
                entry = Entry(values["request"], place, values["part"], values["settings"], reply, refused)
            except (KeyError, TypeError, ValueError) as error:
                # A truncated line starts like ours and is not JSON. Never append to any other file: it is not ours.
                begins = line.startswith(_BEGINNING[: len(line)])
                if not begins or not isinstance(error, json.JSONDecodeError):
                    raise LedgerError(
                        f"{self._path}: line {number} is not a ledger line of version {VERSION}: use another file"
                    ) from error
                self.torn += 1
                continue
            self._entries[entry.digest] = entry

    def __len__(self) -> int:
        """Return the number of requests answered or refused."""
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over the entries, oldest first."""
        return iter(tuple(self._entries.values()))

    def get(self, digest: str) -> Entry | None:
        """Return the entry of a request, or None."""
        return self._entries.get(digest)

    def add(self, entry: Entry) -> None:
        """Write an entry, and wait until it is on disk.

        Raises:
            LedgerError: the file cannot be written.
        """
        reply = entry.reply
        values: dict[str, Any] = {
            "gatekeeper_eval": VERSION,
            "request": entry.digest,
            "turn": list(entry.turn),
            "part": entry.part,
            "settings": dict(entry.settings),
        }
        if reply is None:
            values["refused"] = entry.refused
        else:
            values |= {"answer": reply.text, "usage": reply.usage and reply.usage._asdict()}
        with self._lock:
            if self._path is not None:
                line = ("\n" if self._ends_open else "") + json.dumps(values, ensure_ascii=False) + "\n"
                content = line.encode("utf-8", "replace")
                try:
                    descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                    try:
                        self._ends_open = os.write(descriptor, content) < len(content)
                        os.fsync(descriptor)
                    finally:
                        os.close(descriptor)
                except OSError as error:
                    raise LedgerError(f"{self._path}: the ledger cannot be written: {error.strerror}") from error
                if self._ends_open:
                    raise LedgerError(f"{self._path}: the ledger cannot be written: no space left on the device")
            self._entries[entry.digest] = entry
