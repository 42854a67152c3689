"""The input and output of a chat, at a terminal or through pipes.

A terminal has a prompt, line editing and recall; a dumb one, only the prompt. With a pipe on either side there is none
of them, and each input line is echoed, so that the transcript reads well.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from types import ModuleType
from typing import TextIO

from rich.console import Console, RenderableType
from rich.text import Text

from gatekeeper_cli.output import note
from gatekeeper_cli.texts import spoken, visible, visible_lines

PROMPT = "> "
_MAX_RECALLED = 1_000
_READLINE_SETTINGS = (
    # Bytes above 127 are text, whatever the locale.
    "set input-meta on",
    "set output-meta on",
    "set convert-meta off",
    # A pasted text of several lines is one question.
    "set enable-bracketed-paste on",
)


class Terminal:
    """The terminal or pipe of a chat; it is ``interactive`` if both sides are a terminal."""

    def __init__(self) -> None:
        self._in: TextIO = sys.stdin or io.StringIO()  # None if the command was started with it closed
        self._out: TextIO = sys.stdout or io.StringIO()
        if isinstance(self._in, io.TextIOWrapper):
            self._in.reconfigure(errors="surrogateescape")
        self.interactive = self._in.isatty() and self._out.isatty()
        # NO_COLOR also turns off bold and dim, which are control sequences, too.
        self._console = Console(
            file=self._out,
            highlight=False,
            markup=False,
            emoji=False,
            color_system=None if os.environ.get("NO_COLOR") else "auto",
        )
        self._at_line_start = True
        self._editor: ModuleType | None = None
        if self.interactive and not self._console.is_dumb_terminal and os.environ.get("TERM"):
            with suppress(ImportError):  # the system has none
                self._editor = import_module("readline")
                self._editor.set_auto_history(False)
                for setting in _READLINE_SETTINGS:
                    self._editor.parse_and_bind(setting)

    def read(self, prompt: str = PROMPT) -> str:
        """Return the next line, without its end.

        Raises:
            EOFError: the input has ended.
            KeyboardInterrupt: the user cancels the line.
        """
        if self.interactive:
            return _as_utf8(input(prompt))
        line = self._in.readline()
        if not line:
            raise EOFError
        text = _as_utf8(line.removesuffix("\n").removesuffix("\r")).removeprefix("\ufeff")
        if text.strip():
            self.write(f"{prompt}{text}\n")
        return text

    def remember(self, texts: Iterable[str]) -> None:
        """Add texts to what the arrow keys recall, the last one first."""
        if self._editor is None:
            return
        for text in list(texts)[-_MAX_RECALLED:]:
            with suppress(ValueError):  # the locale cannot write it
                self._editor.add_history(visible_lines(text))

    def write(self, text: str) -> None:
        """Write and flush a piece of text; what a terminal would obey or cannot show is replaced."""
        if text:
            self._at_line_start = False  # an interrupt may come before the last line here
            self._out.write(visible_lines(text))
            self._out.flush()
            self._at_line_start = text.endswith("\n")

    def waiting(self) -> AbstractContextManager[object]:
        """Show a waiting line inside a ``with``, if the terminal can remove it again."""
        if self._editor is None:
            return nullcontext()
        return self._console.status(spoken()("chat.waiting"), spinner="line")

    def end_line(self) -> None:
        """End the current line, unless it is empty."""
        if not self._at_line_start:
            self.write("\n")

    def show(self, view: Iterable[RenderableType]) -> None:
        """Write a view."""
        self.end_line()
        for part in view:
            self._console.print(part)
        self._out.flush()

    def note(self, text: str) -> None:
        """Write a one-line note of the command, dim if the terminal can."""
        self.end_line()
        self._console.print(Text(visible(text), style="dim"), soft_wrap=True)
        self._out.flush()

    def complain(self, text: str) -> None:
        """Write one line to standard error."""
        self.end_line()
        note(text)


def _as_utf8(text: str) -> str:
    """Return a line with the bytes that the locale could not decode read as UTF-8, or replaced."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # a surrogate that is not a byte
        return text.encode("utf-8", "replace").decode("utf-8")
