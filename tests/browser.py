"""A real browser for tests: the system's Chromium, without a window, through playwright.

Nothing is downloaded: playwright comes with the group ``test-browser``, Chromium from the system (Debian: ``chromium``).
With either missing, ``MissingBrowserError`` names what to install.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOW_CONTRAST = """() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, at) => sum + v * [.2126, .7152, .0722][at], 0);
  const ground = one => { for (; one; one = one.parentElement) {
    const colour = parse(getComputedStyle(one).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) { return colour; } } return [255, 255, 255]; };
  return [...document.querySelectorAll("h1, h2, p, td, th, dt, dd, small, label, legend, button, summary, .said, .badge, footer")]
    .filter(one => one.textContent.trim() && one.getClientRects().length)
    .map(one => { const pair = [light(parse(getComputedStyle(one).color)), light(ground(one))].sort((a, b) => b - a);
      return [(pair[0] + .05) / (pair[1] + .05), one.tagName + "." + one.className]; })
    .filter(([ratio]) => ratio < 4.5);
}"""
"""The texts of a page that stand out too little from their ground, by WCAG 2.1, 1.4.3, and how much."""

_NAMES = ("chromium", "chromium-browser", "google-chrome")


class MissingBrowserError(Exception):
    """The machine lacks a browser or what drives it; the message names the package."""


def chromium() -> str:
    """Return the browser's program."""
    if find_spec("playwright") is None:
        raise MissingBrowserError("no playwright: pip install --group test-browser")
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        raise MissingBrowserError("no Chromium: apt-get install chromium")
    return found


@contextmanager
def running_or_skipped() -> Iterator[Any]:
    """Run a browser, or skip the test that asks for it; with GATEKEEPER_REQUIRE_SERVERS=1 that is an error."""
    try:
        program = chromium()
    except MissingBrowserError as error:
        if os.environ.get("GATEKEEPER_REQUIRE_SERVERS") == "1":
            raise
        pytest.skip(str(error))
    from playwright.sync_api import sync_playwright

    # As root, in a container, Chromium has no sandbox of its own; it opens files of ours and nothing else.
    arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


class Opened:
    """A page in a browser of its own, with everything that it said and asked for.

    Args:
        browser: playwright's browser.
        where: the file, or the address on a server of ours.
        settings: of playwright's context.

    Attributes:
        page: playwright's page.
        messages: those on the console, errors of scripts, refusals of the policy.
        requests: addresses that it asked for, its own file or its own server aside.
    """

    def __init__(self, browser: Any, where: Path | str, **settings: Any) -> None:
        address = where if isinstance(where, str) else where.as_uri()
        self._own = "/".join(address.split("/")[:3]) + "/" if isinstance(where, str) else address
        self._context = browser.new_context(**{"viewport": {"width": 1100, "height": 800}, **settings})
        self.page = self._context.new_page()
        self.page.set_default_timeout(5_000)
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self._note(request.url))
        self.page.goto(address)

    def _dismiss(self, dialog: Any) -> None:
        self.messages.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _note(self, url: str) -> None:
        if not url.removeprefix("blob:").startswith(self._own):
            self.requests.append(url)

    def close(self) -> None:
        """Close it; it must have been silent."""
        self._context.close()
        assert (self.messages, self.requests) == ([], [])
