"""The real clients of Node through the proxy, which npm brings: whole answers, streams and tools."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from tests.serve.test_proxy import TALKS, talk
from tests.serve.upstream import Upstream, proxied

HERE = Path(__file__).parent / "node"
KEPT = Path(__file__).parents[2] / "build" / "npm"
FIELDS = {
    "openai-chat": "messages",
    "openai-responses": "input",
    "anthropic": "messages",
    "langchain-chat": "messages",
    "langchain-responses": "input",
    "vercel-chat": "messages",
    "vercel-responses": "input",
}
SECONDS = 300


class MissingClientsError(Exception):
    """The machine lacks npm, or npm gives no clients; the message says which."""


def node_folder() -> Path:
    """Return the folder with the clients, fetched once for each lock file."""
    lock = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()[:16]
    kept, npm = KEPT / f"clients-{lock}", shutil.which("npm")
    if not kept.exists():
        if npm is None:
            raise MissingClientsError("no npm: apt-get install npm")
        KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=KEPT) as temp:
            new = Path(temp, "clients")
            new.mkdir()
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(HERE / name, new)
            done = subprocess.run([npm, "ci"], cwd=new, capture_output=True, text=True, check=False, timeout=SECONDS)
            if done.returncode:
                raise MissingClientsError(f"npm ci failed: {done.stderr[-500:]}")
            with suppress(OSError):  # another run of the tests was first
                new.rename(kept)
    return kept


@pytest.fixture(scope="module")
def folder() -> Path:
    try:
        return node_folder()
    except MissingClientsError as error:
        if os.environ.get("GATEKEEPER_REQUIRE_SERVERS") == "1":
            raise
        pytest.skip(str(error))


@pytest.mark.parametrize("client", FIELDS)
def test_a_client_of_node_talks_streams_and_calls_tools(client: str, folder: Path) -> None:
    shutil.copy(HERE / "clients.mjs", folder)
    items, upstream, field = talk(*TALKS["mixed"]), Upstream(), FIELDS[client]
    with proxied(upstream) as url:
        done = subprocess.run(
            ["node", "clients.mjs", client, url],
            cwd=folder,
            input=json.dumps(items),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"plain": "ok 好", "streamed": "ok 好", "answered": "ok 好"}
    sent = [got.json[field] for got in upstream.got]
    assert len(sent) == 4
    assert all("6380" in json.dumps(each[0]) and len(each) < len(items) for each in sent)
    assert "rain in Köln" in json.dumps(sent[3][-1], ensure_ascii=False)


def test_what_npm_brings_is_fixed_by_hashes_and_names_no_host() -> None:
    lock = (HERE / "package-lock.json").read_text(encoding="utf-8")
    fetched = [one for place, one in json.loads(lock)["packages"].items() if place]
    assert all(one["integrity"].startswith("sha512-") for one in fetched)
    assert '"resolved"' not in lock
