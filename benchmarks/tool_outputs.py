"""Makes tool outputs with needles in them: logs, tables, JSON, listings, test runs and traces in many shapes, by a seed.

Each output hides up to three needles: a line or row that tells of a failure, one that the question asks for, and one
that is merely unlike the others and that nobody asks for. The shapes are those of common tools; the words are made up.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["GENERATORS", "Needle", "Output", "generated"]


@dataclass(frozen=True, slots=True)
class Needle:
    """A text that should be found again: of a failure (``error``), asked for (``query``), or unlike the rest (``rare``)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Output:
    """One tool output: its name, its family, the question, the text, the needles; ``uniform``: JSON rows all alike."""

    name: str
    family: str
    query: str
    text: str
    needles: tuple[Needle, ...]
    uniform: bool = False


Maker = Callable[[random.Random, int], Output]

NAMES = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heron",
    "iris",
    "jade",
    "kelp",
    "lotus",
    "maple",
    "north",
    "onyx",
    "pearl",
    "quartz",
    "raven",
    "sable",
    "tulip",
]
VERBS = ["opened", "closed", "fetched", "stored", "queued", "merged", "parsed", "routed", "cached", "synced"]
ZH_JOBS = ["订单", "库存", "支付", "物流", "结算", "推送"]


def _hex(rng: random.Random, size: int) -> str:
    return "".join(rng.choice("0123456789abcdef") for _ in range(size))


def _clock(at: int, step: int = 3) -> str:
    seconds = at * step
    return f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _with(lines: list[str], rng: random.Random, *extra: str) -> list[str]:
    """Return the lines with further ones at random places away from both ends."""
    for line in extra:
        lines.insert(rng.randrange(len(lines) // 5, len(lines) * 4 // 5), line)
    return lines


def _ids(rng: random.Random) -> tuple[str, str, str]:
    return (
        f"TR-{rng.randrange(10**4, 10**5)}",
        f"ORD{rng.randrange(10**5, 10**6)}",
        f"{rng.choice(NAMES)}{_hex(rng, 5)}",
    )


def service_log(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    lines = [
        f"2026-03-0{1 + at * 9 // size}T{_clock(at)}.{rng.randrange(1000):03}Z {rng.choice(['INFO', 'INFO', 'INFO', 'DEBUG'])} "
        f"[worker-{rng.randrange(8)}] svc.{rng.choice(NAMES[:6])} {rng.choice(VERBS)} item {rng.randrange(10**6)} in {rng.randrange(3, 90)} ms"
        for at in range(size)
    ]
    _with(
        lines,
        rng,
        f"2026-03-04T11:12:13.001Z ERROR [worker-3] svc.ledger write rejected by replica, transfer={error}",
        f"2026-03-05T01:12:13.001Z INFO [worker-5] svc.desk parcel {asked} handed to courier",
        f"2026-03-06T02:00:00.500Z INFO [worker-1] svc.admin quota of tenant {rare} raised by operator",
    )
    return Output(
        "service_log", "log", f"who handed over parcel {asked}?", "\n".join(lines), _needles(error, asked, rare)
    )


def logfmt(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    lines = [
        f'ts=2026-05-01T{_clock(at)}Z level=info caller={rng.choice(NAMES)}.go:{rng.randrange(40, 400)} msg="request done" path=/v1/{rng.choice(NAMES)} '
        f"status=200 dur={rng.randrange(900)}us trace={_hex(rng, 12)}"
        for at in range(size)
    ]
    _with(
        lines,
        rng,
        f'ts=2026-05-01T03:00:00Z level=error caller=disk.go:88 msg="no space left on device" volume={error}',
        f'ts=2026-05-01T04:00:00Z level=info caller=auth.go:31 msg="token issued" account={asked}',
        f'ts=2026-05-01T05:00:00Z level=info caller=leader.go:12 msg="leadership moved" node={rare}',
    )
    return Output(
        "logfmt",
        "log",
        f"when was the token of account {asked} issued?",
        "\n".join(lines),
        _needles(error, asked, rare),
    )


def syslog(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    what = [
        "session opened for user svc",
        "session closed for user svc",
        "connection from 10.0.0.{} port {}",
        "DHCPACK on 10.0.{}.{}",
    ]
    lines = [
        f"Mar {1 + at * 27 // size:>2} {_clock(at)} host{rng.randrange(4)} {rng.choice(['sshd', 'cron', 'dhcpd'])}[{rng.randrange(300, 9000)}]: "
        + rng.choice(what).format(rng.randrange(255), rng.randrange(255))
        for at in range(size)
    ]
    _with(
        lines,
        rng,
        f"Mar  9 03:03:03 host2 kernel: Out of memory: Killed process 4411 ({error})",
        f"Mar 10 04:04:04 host1 sudo: backup of {asked} started",
        f"Mar 11 05:05:05 host0 kernel: usb 1-1: new device {rare} attached",
    )
    return Output("syslog", "log", f"did the backup of {asked} start?", "\n".join(lines), _needles(error, asked, rare))


def chinese_log(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    lines = [
        f"2026-06-{1 + at * 27 // size:02} {_clock(at)} [信息] {rng.choice(ZH_JOBS)}服务 处理任务 {rng.randrange(10**6)} 完成，用时 {rng.randrange(5, 90)} 毫秒"
        for at in range(size)
    ]
    _with(
        lines,
        rng,
        f"2026-06-11 03:03:03 [错误] 支付服务 扣款失败，流水号 {error}，余额不足",
        f"2026-06-12 04:04:04 [信息] 物流服务 包裹 {asked} 已签收",
        f"2026-06-13 05:05:05 [信息] 运维 管理员手动调整了 {rare} 的限额",
    )
    return Output("chinese_log", "log", f"包裹 {asked} 签收了吗？", "\n".join(lines), _needles(error, asked, rare))


def access_log(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    lines = [
        f'10.1.{rng.randrange(255)}.{rng.randrange(255)} - - [12/Jun/2026:{_clock(at)} +0000] "GET /{rng.choice(NAMES)}/{rng.randrange(500)} HTTP/1.1" 200 {rng.randrange(200, 9000)}'
        for at in range(size)
    ]
    _with(
        lines,
        rng,
        f'10.1.2.3 - - [12/Jun/2026:09:09:09 +0000] "POST /checkout/{error} HTTP/1.1" 500 0 "upstream connection refused"',
        f'10.1.2.4 - - [12/Jun/2026:10:09:09 +0000] "GET /invoice/{asked}.pdf HTTP/1.1" 200 51234',
        f'10.9.9.9 - - [12/Jun/2026:11:09:09 +0000] "PROPFIND /dav/{rare} HTTP/1.0" 207 12',
    )
    return Output(
        "access_log", "log", f"was invoice {asked} downloaded?", "\n".join(lines), _needles(error, asked, rare)
    )


def _needles(error: str, asked: str, rare: str) -> tuple[Needle, ...]:
    return (Needle("error", error), Needle("query", asked), Needle("rare", rare))


def orders_json(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    rows = [
        {
            "order": f"A{10**5 + at}",
            "customer": rng.choice(NAMES),
            "items": rng.randrange(1, 6),
            "total": round(rng.gauss(60, 12), 2),
            "state": rng.choice(["paid", "shipped"]),
        }
        for at in range(size)
    ]
    rows[size // 3].update(order=error, state="payment failed")
    rows[size // 2].update(order=asked)
    rows[2 * size // 3].update(order=rare, total=48211.07)
    return Output(
        "orders_json",
        "json",
        f"what is in order {asked}?",
        json.dumps(rows),
        _needles(error, asked, rare),
        uniform=True,
    )


def events_jsonl(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    rows: list[dict[str, object]] = [
        {
            "time": _clock(at),
            "kind": rng.choice(["click", "view", "scroll"]),
            "page": f"/{rng.choice(NAMES)}",
            "session": _hex(rng, 8),
        }
        for at in range(size)
    ]
    rows[size // 3] = {**rows[size // 3], "kind": "exception", "session": error}
    rows[size // 2] = {**rows[size // 2], "session": asked}
    rows[2 * size // 3] = {**rows[2 * size // 3], "referrer": f"partner-{rare}"}
    text = "\n".join(json.dumps(row) for row in rows)
    return Output(
        "events_jsonl",
        "json",
        f"which page did session {asked} see?",
        text,
        _needles(error, asked, rare),
        uniform=False,
    )


def nested_json(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    rows: list[dict[str, object]] = [
        {
            "metadata": {
                "name": f"{rng.choice(NAMES)}-{_hex(rng, 5)}",
                "namespace": rng.choice(["web", "jobs"]),
                "labels": {"app": rng.choice(NAMES[:5])},
            },
            "spec": {"replicas": rng.randrange(1, 4), "image": f"registry/{rng.choice(NAMES)}:1.{rng.randrange(9)}"},
            "status": {"phase": "Running", "restarts": rng.randrange(3)},
        }
        for at in range(size)
    ]
    rows[size // 3]["status"] = {"phase": "CrashLoopBackOff", "restarts": 2, "reason": f"ImagePullError {error}"}
    rows[size // 2]["metadata"] = {"name": asked, "namespace": "web", "labels": {"app": "iris"}}
    rows[2 * size // 3]["status"] = {"phase": "Running", "restarts": 4117, "node": rare}
    text = json.dumps({"kind": "List", "items": rows}, indent=2)
    return Output("nested_json", "json", f"how many replicas has {asked}?", text, _needles(error, asked, rare))


def keyed_json(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    table: dict[str, dict[str, object]] = {
        f"sensor-{at:04}": {"celsius": round(rng.gauss(21, 1.5), 1), "battery": rng.randrange(40, 100), "state": "ok"}
        for at in range(size)
    }
    table[f"sensor-{size // 3:04}"] = {"celsius": 21.0, "battery": 50, "state": f"error: no reply {error}"}
    table[asked] = {"celsius": 20.1, "battery": 77, "state": "ok"}
    table[f"sensor-{size // 2:04}"] = {"celsius": 412.9, "battery": 77, "state": "ok", "note": rare}
    return Output("keyed_json", "json", f"what does {asked} measure?", json.dumps(table), _needles(error, asked, rare))


def csv_table(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    lines = [
        f"{at},{rng.choice(NAMES)},{rng.choice(['EU', 'US', 'ASIA'])},{rng.gauss(200, 20):.1f},{rng.randrange(20, 60)},ok"
        for at in range(size)
    ]
    lines[size // 3] = f"{size // 3},{error},EU,201.4,33,failed"
    lines[size // 2] = f"{size // 2},{asked},US,188.0,41,ok"
    lines[2 * size // 3] = f"{2 * size // 3},{rare},US,90211.5,40,ok"
    return Output(
        "csv",
        "csv",
        f"in which region is {asked}?",
        "\n".join(["id,name,region,load,age,state", *lines]),
        _needles(error, asked, rare),
    )


def tsv_table(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    lines = [
        f"{rng.choice(NAMES)}-{at}\t{rng.randrange(1000)}\t{rng.choice(['true', 'false'])}\t2026-01-{1 + at % 28:02}"
        for at in range(size)
    ]
    _with(
        lines,
        rng,
        f"{error}\t17\tERROR\t2026-01-09",
        f"{asked}\t400\ttrue\t2026-01-09",
        f"{rare}\t401\tunknown\t2026-01-09",
    )
    return Output(
        "tsv", "csv", f"is {asked} true?", "\n".join(["name\tcount\tactive\tday", *lines]), _needles(error, asked, rare)
    )


def grep_hits(rng: random.Random, size: int) -> Output:
    _, asked, rare = _ids(rng)
    asked = f"resolve_{asked.lower()}"
    lines = [
        f"src/{rng.choice(NAMES)}/{rng.choice(NAMES)}.py:{rng.randrange(1, 900)}:    {rng.choice(['return', 'await', 'yield'])} client.{rng.choice(VERBS)}({rng.choice(NAMES)})"
        for _ in range(size)
    ]
    _with(
        lines,
        rng,
        f"src/core/{rng.choice(NAMES)}.py:31:def {asked}(client):",
        f"vendor/legacy/{rare}.pl:7:my $client = shift;",
    )
    return Output(
        "grep", "search", f"where is {asked} defined?", "\n".join(lines), (Needle("query", asked), Needle("rare", rare))
    )


def find_paths(rng: random.Random, size: int) -> Output:
    _, asked, rare = _ids(rng)
    lines = [
        f"./{rng.choice(NAMES)}/{rng.choice(NAMES)}/{rng.choice(NAMES)}_{rng.randrange(999)}.{rng.choice(['ts', 'tsx', 'css'])}"
        for _ in range(size)
    ]
    _with(lines, rng, f"./{rng.choice(NAMES)}/{rng.choice(NAMES)}/{asked}.ts", f"./{rng.choice(NAMES)}/{rare}.pem")
    return Output(
        "find",
        "listing",
        f"where is the file {asked}?",
        "\n".join(lines),
        (Needle("query", asked), Needle("rare", rare)),
    )


def ls_long(rng: random.Random, size: int) -> Output:
    _, asked, rare = _ids(rng)
    lines = [
        f"-rw-r--r-- 1 app app {rng.randrange(900, 40_000):>9} Mar {rng.randrange(1, 28):>2} 10:{rng.randrange(60):02} part-{at:05}.parquet"
        for at in range(size)
    ]
    _with(
        lines,
        rng,
        f"-rw-r--r-- 1 app app     12000 Mar 12 11:11 {asked}.parquet",
        f"-rw-r--r-- 1 app app 918273645 Mar 12 11:11 {rare}.tmp",
    )
    return Output(
        "ls",
        "listing",
        f"how large is {asked}?",
        "\n".join([f"total {size * 40}", *lines]),
        (Needle("query", asked), Needle("rare", rare)),
    )


def pytest_run(rng: random.Random, size: int) -> Output:
    error, _, rare = _ids(rng)
    tests = [
        f"tests/test_{rng.choice(NAMES)}.py::test_{rng.choice(VERBS)}_{at} PASSED {' ' * 20}[{at * 100 // size:>3}%]"
        for at in range(size)
    ]
    tests[size // 2] = f"tests/test_ledger.py::test_balance FAILED {' ' * 20}[ 50%]"
    tests[size // 3] = f"tests/test_slow.py::test_{rare} SKIPPED (needs a scanner) {' ' * 6}[ 33%]"
    text = "\n".join(
        [
            "============================= test session starts ==============================",
            f"collected {size} items",
            "",
            *tests,
            "",
            "=================================== FAILURES ===================================",
            "_________________________________ test_balance _________________________________",
            "    def test_balance():",
            ">       assert ledger.total() == 12",
            f"E       AssertionError: ledger {error} is off by 3",
            "tests/test_ledger.py:17: AssertionError",
            "=========================== short test summary info ============================",
            f"FAILED tests/test_ledger.py::test_balance - AssertionError: ledger {error} is off by 3",
            f"=================== 1 failed, {size - 2} passed, 1 skipped in 9.31s ====================",
        ]
    )
    needles = (
        Needle("error", error),
        Needle("error", "test_balance"),
        Needle("summary", "1 failed"),
        Needle("rare", rare),
    )
    return Output("pytest", "test", "which tests failed and why?", text, needles)


def jest_run(rng: random.Random, size: int) -> Output:
    error, _, rare = _ids(rng)
    lines = []
    for at in range(size // 5):
        lines.append(f"PASS src/{rng.choice(NAMES)}/{rng.choice(NAMES)}{at}.test.ts")
        lines += [f"  ✓ {rng.choice(VERBS)} the {rng.choice(NAMES)} ({rng.randrange(2, 40)} ms)" for _ in range(4)]
    _with(
        lines,
        rng,
        f"  ✕ renders the receipt of {error} (31 ms)",
        f"  console.log native module {rare} was rebuilt",
    )
    lines += [
        "  ● renders the receipt",
        f"    expect(received).toBe(expected) // receipt {error}",
        "Test Suites: 1 failed, 39 passed, 40 total",
        f"Tests:       1 failed, {size} passed, {size + 1} total",
    ]
    needles = (Needle("error", error), Needle("summary", "1 failed"), Needle("rare", rare))
    return Output("jest", "test", "which test failed?", "\n".join(lines), needles)


def go_run(rng: random.Random, size: int) -> Output:
    error, _, rare = _ids(rng)
    lines = []
    for at in range(size // 2):
        name = f"Test{rng.choice(NAMES).title()}{at}"
        lines += [f"=== RUN   {name}", f"--- PASS: {name} (0.0{rng.randrange(9)}s)"]
    _with(lines, rng, f"    {rare}_test.go:40: race detector enabled by flag")
    lines += [
        "=== RUN   TestLedger",
        f"    ledger_test.go:31: got 9, want 12 ({error})",
        "--- FAIL: TestLedger (0.01s)",
        "FAIL",
        "FAIL\texample.com/ledger\t1.203s",
    ]
    return Output(
        "go test",
        "test",
        "what did TestLedger get?",
        "\n".join(lines),
        (Needle("error", "--- FAIL: TestLedger"), Needle("query", error), Needle("rare", rare)),
    )


def cargo_run(rng: random.Random, size: int) -> Output:
    error, _, rare = _ids(rng)
    lines = [f"test {rng.choice(NAMES)}::{rng.choice(NAMES)}::{rng.choice(VERBS)}_{at} ... ok" for at in range(size)]
    _with(lines, rng, "test ledger::balance ... FAILED", f"test net::{rare} ... ignored")
    text = "\n".join(
        [
            f"running {size + 2} tests",
            *lines,
            "",
            "failures:",
            "---- ledger::balance stdout ----",
            f"thread 'ledger::balance' panicked at src/ledger.rs:88:9: ledger {error} is off",
            "",
            f"test result: FAILED. {size} passed; 1 failed; 1 ignored; finished in 0.41s",
        ]
    )
    needles = (
        Needle("error", error),
        Needle("error", "ledger::balance ... FAILED"),
        Needle("summary", "1 failed"),
        Needle("rare", rare),
    )
    return Output("cargo", "test", "why did ledger::balance fail?", text, needles)


def python_trace(rng: random.Random, size: int) -> Output:
    error, _, _ = _ids(rng)
    frames = []
    for at in range(size // 10):
        frames += [
            f'  File "/opt/venv/lib/python3.12/site-packages/{rng.choice(NAMES)}/{rng.choice(NAMES)}.py", line {rng.randrange(900)}, in call_{at}',
            f"    return self.{rng.choice(VERBS)}(request)",
        ]
    own = ['  File "/srv/app/billing.py", line 77, in charge', f"    raise LedgerError({error!r})"]
    text = "\n".join(
        ["Traceback (most recent call last):", *frames, *own, f"app.errors.LedgerError: account {error} is frozen"]
    )
    return Output(
        "python trace", "trace", "where was it raised?", text, (Needle("error", error), Needle("own", "billing.py"))
    )


def java_trace(rng: random.Random, size: int) -> Output:
    error, _, _ = _ids(rng)
    frames = [
        f"\tat org.springframework.{rng.choice(NAMES)}.{rng.choice(NAMES).title()}.{rng.choice(VERBS)}({rng.choice(NAMES).title()}.java:{rng.randrange(900)})"
        for _ in range(size // 10)
    ]
    frames.insert(len(frames) // 2, "\tat com.acme.billing.Charge.run(Charge.java:77)")
    text = "\n".join(
        [
            f'Exception in thread "main" java.lang.IllegalStateException: account {error} is frozen',
            *frames,
            f"Caused by: java.io.IOException: replica {error} gone",
            *frames[: len(frames) // 3],
            "\t... 41 more",
        ]
    )
    return Output(
        "java trace",
        "trace",
        "what is frozen?",
        text,
        (Needle("error", f"account {error}"), Needle("error", f"replica {error}"), Needle("own", "Charge.java")),
    )


def js_trace(rng: random.Random, size: int) -> Output:
    error, _, _ = _ids(rng)
    frames = [
        f"    at {rng.choice(VERBS)} (/srv/app/node_modules/{rng.choice(NAMES)}/lib/{rng.choice(NAMES)}.js:{rng.randrange(900)}:{rng.randrange(60)})"
        for _ in range(size // 10)
    ]
    frames.insert(2 * len(frames) // 3, "    at charge (/srv/app/src/billing.js:77:13)")
    text = "\n".join(
        [f"TypeError: cannot read balance of {error}", *frames, "    at node:internal/main/run_main_module:28:49"]
    )
    return Output("js trace", "trace", "which account?", text, (Needle("error", error), Needle("own", "billing.js")))


def columns(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    lines = [
        f"{rng.choice(NAMES)}-{_hex(rng, 5):<10} 1/1     Running            {rng.randrange(3):<10} {rng.randrange(1, 60)}d"
        for _ in range(size)
    ]
    _with(
        lines,
        rng,
        f"{error:<16} 0/1     CrashLoopBackOff   {99:<10} 3d",
        f"{asked:<16} 1/1     Running            {0:<10} 3d",
        f"{rare:<16} 1/1     Terminating        {0:<10} 3d",
    )
    return Output(
        "kubectl",
        "listing",
        f"is {asked} running?",
        "\n".join(["NAME             READY   STATUS             RESTARTS   AGE", *lines]),
        _needles(error, asked, rare),
    )


GENERATORS: tuple[Maker, ...] = (
    service_log,
    logfmt,
    syslog,
    chinese_log,
    access_log,
    orders_json,
    events_jsonl,
    nested_json,
    keyed_json,
    csv_table,
    tsv_table,
    grep_hits,
    find_paths,
    ls_long,
    columns,
    pytest_run,
    jest_run,
    go_run,
    cargo_run,
    python_trace,
    java_trace,
    js_trace,
)


def generated(seed: int, *, rounds: int = 4) -> list[Output]:
    """Return outputs of every shape, several of each in sizes from some dozens to more than a thousand lines.

    >>> generated(1, rounds=1) == generated(1, rounds=1)
    True
    """
    sizes = (60, 150, 400, 1_200)
    outputs = []
    for at in range(rounds):
        for maker in GENERATORS:
            # A string seeds the same numbers in every version of Python and on every machine.
            rng = random.Random(f"{seed} {at} {maker.__name__}")
            outputs.append(maker(rng, sizes[at % len(sizes)]))
    return outputs
