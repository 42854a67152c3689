"""Draw the terminal pictures of the tutorial: the commands are here, what they show is the command's.

python docs/record_terminal.py           writes docs/terminal.svg and docs/terminal.zh.svg
python docs/record_terminal.py --check   says whether they are what the command shows today (exit status 1 if not)

The conversation is the one that ``gatekeeper demo`` asks. Needs the extra ``cli``.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from gatekeeper_cli.conversation import CONVERSATION

DOCS = Path(__file__).resolve().parent
COLUMNS = 92
CELL, LINE, MARGIN, SIZE = 8.4, 20, 20, 14
BOLD, DIM, REVERSE = "b", "d", "r"

COMMANDS = {
    "terminal.svg": (
        ("inspect", "talk.jsonl", "--model", "claude-sonnet-4-5", "--cache", "cold", "--lang", "en"),
        ("select", "talk.jsonl", "Back to Lisbon: which district had the quiet streets?", "--lang", "en"),
    ),
    "terminal.zh.svg": (
        ("inspect", "talk.jsonl", "--model", "claude-sonnet-4-5", "--cache", "cold", "--lang", "zh"),
        ("select", "talk.jsonl", "说回 Redis，过期时间加了多少随机抖动？", "--lang", "zh"),
    ),
}
"""By picture: what is run, one after the other."""

STYLE = f"""
rect{{fill:#15191e}}
text{{font:{SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono CJK SC",monospace}}
text{{fill:#d5dbe1;white-space:pre}}
.{BOLD}{{font-weight:700;fill:#fff}}.{DIM}{{fill:#7d8893}}.{REVERSE}{{fill:#5ec4b6}}.p{{fill:#5ec4b6;font-weight:700}}
"""


def shown(command: tuple[str, ...], folder: str) -> list[str]:
    """Return the lines that a command shows at a terminal, with their marks for bold and the like.

    Raises:
        subprocess.CalledProcessError: the command failed.
    """
    done = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-c", "from gatekeeper_cli import main; main()", *command],
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, "COLUMNS": str(COLUMNS), "PYTHONUTF8": "1", "FORCE_COLOR": "1", "TERM": "xterm-256color"},
        timeout=60,
        check=True,
    )
    return done.stdout.rstrip().splitlines()


def runs(line: str) -> Iterator[tuple[int, str, str]]:
    """Yield the column, the text and the class of each piece of a line: of one look and width, with no gap in it."""
    column = 0
    for segment in Console(width=COLUMNS).render(Text.from_ansi(line)):
        style = segment.style
        kind = "" if not style else BOLD if style.bold else DIM if style.dim else REVERSE if style.reverse else ""
        for _, characters in groupby(segment.text.rstrip("\n"), key=cell_len):
            for piece in re.split("( {2,})", "".join(characters)):
                if piece.strip():
                    yield column, piece, kind
                column += cell_len(piece)


def drawn(lines: list[str]) -> str:
    """Return lines as a picture that brings everything along but the font."""
    height, width = MARGIN * 2 + LINE * len(lines), MARGIN * 2 + CELL * COLUMNS
    parts = []
    for number, line in enumerate(lines):
        y = MARGIN + LINE * (number + 0.75)
        for column, piece, kind in runs(line):
            mark = "p" if line.startswith("$ ") else kind
            wide = f'textLength="{cell_len(piece) * CELL:.1f}" lengthAdjust="spacingAndGlyphs"'
            kind_of = f' class="{mark}"' if mark else ""
            parts.append(f'<text x="{MARGIN + column * CELL:.1f}" y="{y:g}" {wide}{kind_of}>{escape(piece)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" role="img">\n'
        f'<style>{STYLE}</style>\n<rect width="100%" height="100%" rx="8"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def picture(commands: tuple[tuple[str, ...], ...]) -> str:
    """Return the picture of a session."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        pairs = [{"user": user, "assistant": assistant} for user, assistant in CONVERSATION]
        talk = "".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs)
        Path(folder, "talk.jsonl").write_text(talk, encoding="utf-8")
        for command in commands:
            typed = shlex.join(part for part in command if part not in ("--lang", "en", "zh"))
            lines += [*([""] if lines else []), f"$ gatekeeper {typed}", *shown(command, folder)]
    return drawn(lines)


def main() -> int:
    """Draw the pictures, or check them."""
    stale = []
    for name, commands in COMMANDS.items():
        path, now = DOCS / name, picture(commands)
        if "--check" not in sys.argv:
            path.write_text(now, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != now:
            stale.append(name)
    if stale:
        print(f"not what the command shows today: {', '.join(stale)}; run python docs/record_terminal.py")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
