"""How long looking through the whole file of a SQLite store takes, and how much memory, by its length.

``python -m benchmarks.store_check [--messages 10000,100000,400000]``. A file is filled with threads of 1,000 messages
of the seeded bilingual conversation, each 100 messages with a memory and its terms, each 1,000 with a body of 50 KB. It
is then checked in a process of its own, whose memory is compared with what it held before; the file is read once before
that is timed, so that the disk is no part of it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.corpus import stream_turns
from benchmarks.report import SEED, commit, print_table, write_json
from gatekeeper_core.messages import Message
from gatekeeper_core.storage.base import Memory, MemoryRecord, MemoryScope
from gatekeeper_core.storage.sqlite import SQLiteStore

__all__ = ["check_row", "fill", "main"]

_THREAD = 1_000
_MEMORY = 100
_USERS = 100


def fill(path: Path, messages: int) -> None:
    """Fill a new store with so many messages, memories and bodies."""
    turns = stream_turns(seed=SEED)
    texts = [text for turn in islice(turns, _THREAD // 2) for text in (turn.user, turn.assistant)]
    batch = [Message("assistant" if at % 2 else "user", text, id=f"m{at}") for at, text in enumerate(texts)]
    with SQLiteStore(path) as store:
        for start in range(0, messages, _THREAD):
            thread = f"t{start}"
            here = batch[: min(_THREAD, messages - start)]
            store.append_messages("bench", thread, here)
            store.blobs_of("bench", thread).put("scope", "body", bytes(50_000))
            records = [
                MemoryRecord(
                    Memory(f"{thread}-{at}", texts[at], "fact", thread=thread),
                    tuple(dict.fromkeys(texts[at].split()))[:12],
                )
                for at in range(0, len(here), _MEMORY)
            ]
            store.put_memories(MemoryScope("bench", f"u{start // _THREAD % _USERS}"), records)


def check_row(path: Path, messages: int) -> dict[str, Any]:
    """Return what checking a file takes as a row."""
    command = [sys.executable, "-m", "benchmarks.store_check", "--of", str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    folder = Path(__file__).parent.parent
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=folder)
    found: dict[str, Any] = json.loads(done.stdout)
    return {
        "messages": messages,
        "file, MB": found["bytes"] / 1e6,
        "check, CPU s": f"{found['check']:.2f}",
        "microseconds a message": 1e6 * found["check"] / messages,
        "memory added, MB": found["added"] / 1e6,
        "info, CPU ms": 1000 * found["info"],
    }


def _check(path: str) -> dict[str, float]:
    """Check a file twice, and return the CPU seconds of the second time and the bytes that both have added."""
    with SQLiteStore(path, create=False) as store:
        store.last_seq("bench", "t0")
        before = _peak_bytes()
        assert store.check() == ()
        begin = time.process_time()
        assert store.check() == ()
        took = time.process_time() - begin
        added = _peak_bytes() - before
        begin = time.process_time()
        store.info()
        size = os.path.getsize(path) + os.path.getsize(f"{path}-wal")
        return {"bytes": size, "check": took, "added": added, "info": time.process_time() - begin}


def _peak_bytes() -> int:
    """Return the most memory that this process has held, 0 where the system does not say.

    Not ``ru_maxrss``: it begins with what the parent held.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill, check, print the table, write JSON if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=_sizes, default=[10_000, 100_000, 400_000], help="how many, with commas")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table, for a page")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--of", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.of:
        print(json.dumps(_check(chosen.of)))
        return
    commit()
    rows = []
    for messages in chosen.messages:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "store.db")
            fill(path, messages)
            rows.append(check_row(path, messages))
    print_table(f"Checking a SQLite store, commit {commit()}", rows, markdown=chosen.markdown)
    write_json(chosen.json, "store_check", {"seed": SEED}, {"check": rows})


if __name__ == "__main__":
    main(sys.argv[1:])
