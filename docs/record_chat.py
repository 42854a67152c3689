"""Record the terminal sessions that the tutorial shows: what is typed is here, the answers are the command's.

python docs/record_chat.py           writes them into docs/tutorial.md and docs/tutorial.zh.md
python docs/record_chat.py --check   says whether they are what the command answers today (exit status 1 if not)

The scripted offline model answers, so that everybody gets the same. Needs the extra ``cli``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BEGINNING, END = "<!-- recorded by docs/record_chat.py -->\n\n```text\n", "```\n\n<!-- end of the recording -->\n"

TYPED = {
    "docs/tutorial.md": (
        "The Redis cache listens on port 6380, and port 6379 belongs to the session store.",
        "New topic: the sourdough proofs five hours at 26 degrees, then twelve in the fridge.",
        "Back to Redis: which port was it?",
    ),
    "docs/tutorial.zh.md": (
        "我们的 Redis 缓存监听 6380 端口，6379 端口归会话服务。",
        "换个话题，酸面包在 26 度下发酵五个小时，再冷藏十二个小时。",
        "说回 Redis，缓存用的是哪个端口？",
    ),
}
"""By page: the lines that are typed, one after the other."""


def transcript(typed: tuple[str, ...]) -> str:
    """Return what ``gatekeeper chat --offline`` shows for some typed lines.

    Raises:
        subprocess.CalledProcessError: the command failed.
    """
    program = "from gatekeeper_cli import main; main()"
    done = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-c", program, "chat", "--offline"],
        input="".join(f"{line}\n" for line in typed),
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", "PYTHONUTF8": "1"},
        timeout=60,
        check=True,
    )
    shown = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    return f"$ gatekeeper chat --offline\n{shown.strip()}\n"


def recorded(page: Path) -> str:
    """Return the text of a page with its session as it is today.

    Raises:
        ValueError: the page has no place for it.
    """
    text = page.read_text(encoding="utf-8")
    before, beginning, rest = text.partition(BEGINNING)
    _, end, after = rest.partition(END)
    if not beginning or not end:
        raise ValueError(f"{page.name} has no place for the recording: {BEGINNING!r} ... {END!r}")
    return before + beginning + transcript(TYPED[page.relative_to(ROOT).as_posix()]) + end + after


def main() -> int:
    """Write the sessions, or check them; return the exit status."""
    stale = [page for page in map(ROOT.joinpath, TYPED) if recorded(page) != page.read_text(encoding="utf-8")]
    if "--check" in sys.argv[1:]:
        for page in stale:
            sys.stderr.write(f"{page.name}: the recorded session is not today's: make recording\n")
        return 1 if stale else 0
    for page in stale:
        page.write_text(recorded(page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
