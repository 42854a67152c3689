"""Where there is no browser, the tests that need one say what to install."""

from __future__ import annotations

import shutil

import pytest

from tests.browser import MissingBrowserError, running_or_skipped


@pytest.mark.parametrize("required", [True, False])
def test_a_missing_browser_is_a_skip_that_names_the_package_or_an_error(
    required: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEKEEPER_REQUIRE_SERVERS", "1" if required else "0")
    monkeypatch.setattr("tests.browser.find_spec", lambda name: object())
    monkeypatch.setattr(shutil, "which", lambda name: None)
    ended = MissingBrowserError if required else pytest.skip.Exception
    with pytest.raises(ended, match="no Chromium: apt-get install chromium"), running_or_skipped():
        pass


def test_a_missing_driver_names_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEKEEPER_REQUIRE_SERVERS", "1")
    monkeypatch.setattr("tests.browser.find_spec", lambda name: None)
    with pytest.raises(MissingBrowserError, match="pip install --group test-browser"), running_or_skipped():
        pass
