"""The pages of the proxy, its metrics, and the command that starts it."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import closing
from http.client import HTTPConnection
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.serve.test_proxy import TALKS, talk
from tests.serve.upstream import CHAT, MESSAGES, RESPONSES, Upstream, proxied, serving

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(name="url")
def _url() -> Iterator[str]:
    with proxied(Upstream()) as url:
        yield url


def test_the_page_lists_the_threads_and_leads_to_what_was_sent_and_why(url: str) -> None:
    assert "No request yet" in httpx.get(url).text
    marked = "<script>alert(1)</script>"
    response = httpx.post(url + CHAT, json={"model": "gpt-4o", "messages": talk(*TALKS["mixed"])})
    httpx.post(url + MESSAGES, json={"model": marked, "messages": talk(marked, f"{marked}?")})
    page = httpx.get(url).text
    links = re.findall(r'href="(/threads/\w+)"', page)
    assert len(links) == 2
    assert links[1].endswith(response.headers["x-gatekeeper-thread"])
    assert "gpt-4o" in page
    pages = [page, *(httpx.get(url + link).text for link in links)]
    assert "1 turn sent, 8 left out (1 to 8)" in pages[2]
    assert "instead of $0.00" in pages[2]
    assert "6380" in pages[2].partition("What was left out")[0]
    assert not [page for page in pages if marked in page]


def test_the_page_of_a_thread_without_a_selection_shows_its_row(url: str) -> None:
    response = httpx.post(url + CHAT, json={"messages": [{"role": "user", "content": "hi"}]})
    page = httpx.get(f"{url}/threads/{response.headers['x-gatekeeper-thread']}")
    assert "no_past_turns" in page.text
    assert httpx.get(f"{url}/threads/unknown").status_code == 404


def test_a_page_runs_nothing_but_its_own_script_and_is_kept_by_nobody(url: str) -> None:
    headers = httpx.get(url).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"


def test_requests_of_one_conversation_are_one_thread_and_other_keys_have_their_own(url: str) -> None:
    items = talk(*TALKS["english"])
    ids = []
    for key, count in (("a", -2), ("a", None), ("b", None)):
        headers = {"authorization": f"Bearer {key}"}
        response = httpx.post(url + CHAT, json={"messages": items[:count]}, headers=headers)
        ids.append(response.headers["x-gatekeeper-thread"])
    assert ids[0] == ids[1] != ids[2]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_the_usage_that_the_upstream_reports_is_counted(path: str, stream: bool, url: str) -> None:
    field = "input" if path == RESPONSES else "messages"
    httpx.post(url + path, json={"stream": stream, "model": "gpt-4o", field: talk(*TALKS["english"])})
    deadline = time.monotonic() + 10
    while "gatekeeper_usage_cache_read" not in (text := httpx.get(f"{url}/metrics").text):
        assert time.monotonic() < deadline
    counts = {
        kind: float(count)
        for kind, count in re.findall(r"^gatekeeper_usage_(\w+?)_total\S* (\S+)$", text, re.MULTILINE)
    }
    found = {kind.removesuffix("_tokens").removesuffix("_token"): count for kind, count in counts.items()}
    assert found["input_tokens" if "input_tokens" in found else "input"] == 900
    assert next(count for kind, count in counts.items() if "cache_read" in kind) == 512
    assert re.search(r"^gatekeeper_turns_kept\w*_count\S* 1\.0$", text, re.MULTILINE)


@pytest.mark.parametrize(("extra", "package"), [("metrics", "opentelemetry.exporter.prometheus"), ("serve", "httpx")])
def test_without_an_extra_a_line_says_how_to_install_it(extra: str, package: str) -> None:
    code = f"""
import sys
sys.modules["{package}"] = None
from gatekeeper_serve.app import create_app
from starlette.testclient import TestClient
with TestClient(create_app(), base_url="http://localhost") as client:
    print(client.get("/metrics").text)
"""
    if extra == "serve":
        code = f'import sys; sys.modules["{package}"] = None; import gatekeeper_serve'
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f'pip install "context-gatekeeper[{extra}]"' in done.stdout + done.stderr


@pytest.mark.cli
def test_the_command_serves_until_it_is_stopped_and_logs_no_request() -> None:
    upstream = Upstream()
    with serving(upstream) as address, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{(port := free.getsockname()[1])}"
        free.close()
        options = ["--port", str(port), "--openai-url", address, "--budget", "400", "--strategy", "fill"]
        code = "from gatekeeper_cli import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", code, "serve", *options], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            body = json.dumps({"model": "gpt-4o", "messages": talk(*TALKS["chinese"])})
            with httpx.Client(transport=httpx.HTTPTransport(retries=8), timeout=30) as client:
                response = client.post(f"{url}{CHAT}?key=sk-hidden", content=body)
            assert response.headers["x-gatekeeper-status"] == "selected"
            with closing(HTTPConnection("127.0.0.1", port)) as idle:
                for pause in (5.5, 0):  # longer than a client keeps an idle connection
                    idle.request("POST", CHAT, body)
                    assert idle.getresponse().read() == response.content
                    time.sleep(pause)
        finally:
            process.terminate()
            out, errors = process.communicate(timeout=30)
    assert out == ""
    assert errors.splitlines() == [line for line in errors.splitlines() if url in line and "base URL" in line]


@pytest.mark.cli
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--host", "0.0.0.0"], "set a token"),  # noqa: S104 - refused
        (["--budget", "0"], "--budget must be 1 or more"),
        (["--openai-url", "https://user:key@host"], "openai_url must be a URL"),
    ],
)
def test_the_command_refuses_what_is_not_safe_or_not_possible(options: list[str], reason: str) -> None:
    code = "from gatekeeper_cli import main; main()"
    environment = {name: value for name, value in os.environ.items() if name != "GATEKEEPER_TOKEN"}
    done = subprocess.run(
        [sys.executable, "-c", code, "serve", *options],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
