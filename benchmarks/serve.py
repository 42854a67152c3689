"""How long does a request take through ``gatekeeper serve``, beside the same request without it?

Run ``python -m benchmarks.serve [--sizes 10,100,1000] [--rounds 200] [--budget N] [--markdown] [--json FILE]``. The
proxy runs as its users run it, in a process of its own; the upstream answers at once, on loopback. A conversation of
so many messages grows by a turn with each request, ten times; then the next one begins. Each request goes both ways in
turn. Milliseconds on the clock, so that a busy machine shows:

* **direct**, **through**: medians of the two ways.
* **more**, **p99**: median and 99th percentile of the difference.
* **CPU**: of the proxy for a request, mean; 0 where the system does not count it by thread.
* **first**: median of the difference for the first request of a conversation, which is indexed then.
"""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from benchmarks.corpus import generate_turns
from benchmarks.report import SEED, numbers, options, report

PATH = "/v1/chat/completions"
_TURNS_EACH = 10
_ANSWER = json.dumps(
    {"object": "chat.completion", "model": "gpt-4o", "choices": [{"message": {"role": "assistant", "content": "ok"}}]}
).encode()


class _Upstream(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(_ANSWER)))
        self.end_headers()
        self.wfile.write(_ANSWER)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def upstream() -> Iterator[str]:
    """Run what answers at once; give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Upstream)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def proxy(address: str, extra: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Run the command in front of an upstream; give its address and its process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from gatekeeper_cli import main; main()", "serve", "--openai-url", address]
    process = subprocess.Popen([*command, "--port", str(port), *extra])
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=8)) as client:
            client.get(f"http://127.0.0.1:{port}/healthz").raise_for_status()
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait()


def bodies(size: int, seed: int) -> Iterator[bytes]:
    """Yield the requests of a conversation: of so many messages, then each with a turn more."""
    turns = generate_turns(size // 2 + _TURNS_EACH + 1, seed=seed)
    messages = [
        {"role": role, "content": text}
        for turn in turns
        for role, text in (("user", turn.user), ("assistant", turn.assistant))
    ]
    for more in range(_TURNS_EACH + 1):
        yield json.dumps({"model": "gpt-4o", "messages": messages[: size // 2 * 2 - 1 + 2 * more]}).encode()


def cpu_ms(process: int) -> float:
    """Return the CPU milliseconds that a process has used so far."""
    return sum(int(each.read_text().split()[0]) for each in Path(f"/proc/{process}/task").glob("*/schedstat")) / 1e6


def measure(size: int, rounds: int, addresses: dict[str, str], process: int) -> dict[str, Any]:
    """Return the row of conversations of so many messages."""
    times: dict[str, list[float]] = {way: [] for way in addresses}
    first: list[float] = []
    used: list[float] = []
    length = 0
    with httpx.Client(timeout=60) as client:
        for conversation in range(-(-rounds // _TURNS_EACH)):
            for number, body in enumerate(bodies(size, SEED + conversation)):
                took, before = {}, cpu_ms(process)
                for way in sorted(addresses, reverse=bool(number % 2)):
                    begin = time.perf_counter()
                    client.post(addresses[way] + PATH, content=body).raise_for_status()
                    took[way] = (time.perf_counter() - begin) * 1000
                length = len(body)
                if number:
                    used.append(cpu_ms(process) - before)
                    for way, each in took.items():
                        times[way].append(each)
                else:
                    first.append(took["through"] - took["direct"])
    more = [through - direct for through, direct in zip(times["through"], times["direct"], strict=True)]
    return {
        "messages": size,
        "KB": f"{length / 1000:,.0f}",
        **{way: f"{statistics.median(each):.1f}" for way, each in sorted(times.items())},
        "more": f"{statistics.median(more):.1f}",
        "p99": f"{statistics.quantiles(more, n=100)[-1]:.1f}",
        "CPU": f"{statistics.mean(used):.1f}",
        "first": f"{statistics.median(first):.0f}",
        "requests": len(more),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write JSON if asked to."""
    parser = options(__doc__)
    parser.add_argument("--sizes", type=numbers, default=[10, 100, 1000], help="messages (10,100,1000)")
    parser.add_argument("--rounds", type=int, default=200, help="requests at each size (200)")
    parser.add_argument("--budget", type=int, help="tokens of a request (three quarters of the window)")
    chosen = parser.parse_args(arguments)
    budget = ["--budget", str(chosen.budget)] if chosen.budget else []
    with upstream() as direct, proxy(direct, budget) as (through, process):
        addresses = {"direct": direct, "through": through}
        rows = [measure(size, chosen.rounds, addresses, process) for size in chosen.sizes]
    report(chosen, "serve", {"Milliseconds of a request": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
