# ruff: noqa: E501, S608 - messages stand as programs write them
"""Logs and tables of many systems in many formats, with needles among weak signals; no test of the compressor sees them.

A system has a vocabulary of its own: common messages, a long tail of messages that occur once or twice, and messages
with a word of failure that tell of none (a retry that went well, "Link Down", a column ``failed`` with 0). Each output
hides one or two records with the level of an error, one that the question names, and one of ordinary level in words
that occur nowhere else.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from benchmarks.tool_outputs import Needle, Output

__all__ = ["FORMATS", "SYSTEMS", "logs"]


class System(NamedTuple):
    """A kind of log.

    Attributes:
        name: what writes it.
        parts: its components.
        common: its messages, the commonest first; ``{n}``, ``{x}``, ``{ip}`` are filled in.
        weak: messages with a word of failure at an ordinary level.
        weak_share: how many of all messages these are.
        tail_share: how many are of the long tail.
        levels: the ordinary level, its variant, and the level of an error; "": the log writes none.
        line: how a record is written.
        chinese: whether its needles are.
    """

    name: str
    parts: Sequence[str]
    common: Sequence[str]
    weak: Sequence[str]
    weak_share: float
    tail_share: float
    levels: tuple[str, str, str]
    line: Callable[[Record], str]
    chinese: bool = False


class Record(NamedTuple):
    """One message: seconds since the start, its host, level, component, process and text, and its template."""

    at: int
    host: str
    level: str
    part: str
    pid: int
    text: str
    template: str

    @property
    def day(self) -> str:
        """The date."""
        return f"2027-04-{3 + self.at // 86_400:02}"

    @property
    def clock(self) -> str:
        """The time of day."""
        return f"{self.at // 3600 % 24:02}:{self.at // 60 % 60:02}:{self.at % 60:02}"


_THINGS = [
    "lease",
    "token",
    "cursor",
    "shard",
    "bucket",
    "replica",
    "quorum",
    "socket",
    "handle",
    "buffer",
    "inode",
    "segment",
    "manifest",
    "channel",
    "beacon",
    "antenna",
    "codec",
    "texture",
    "palette",
    "gesture",
    "keyring",
    "locale",
    "roster",
    "voucher",
    "ticket",
    "ledgerline",
    "playlist",
    "thumbnail",
    "watchdog",
    "governor",
    "throttle",
    "mailbox",
    "spool",
    "relay",
    "tunnel",
    "bridge",
    "anchorpoint",
    "waypoint",
    "profile",
    "firmware",
    "sensor",
]
_DEEDS = [
    "renewed",
    "evicted",
    "compacted",
    "rotated",
    "promoted",
    "drained",
    "warmed",
    "pruned",
    "attached",
    "sealed",
    "rebound",
    "mirrored",
    "flushed",
    "scaled",
    "probed",
    "imported",
    "resized",
    "unlocked",
    "negotiated",
    "scheduled",
    "deferred",
    "published",
    "trimmed",
    "elected",
]
_WAYS = [
    "lazily",
    "ahead",
    "of",
    "schedule",
    "by",
    "policy",
    "on",
    "wakeup",
    "during",
    "idle",
    "after",
    "handshake",
    "from",
    "snapshot",
    "under",
    "lock",
    "for",
    "maintenance",
    "upon",
    "request",
    "while",
    "charging",
    "over",
    "loopback",
]
_ZH_THINGS = [
    "租约",
    "令牌",
    "游标",
    "分片",
    "副本",
    "套接字",
    "句柄",
    "缓冲区",
    "清单",
    "信道",
    "编解码器",
    "钥匙串",
    "播放列表",
    "缩略图",
    "邮箱",
    "隧道",
    "网桥",
    "固件",
    "传感器",
]
_ZH_DEEDS = [
    "已续期",
    "已淘汰",
    "已压缩",
    "已轮换",
    "已提升",
    "已排空",
    "已预热",
    "已裁剪",
    "已挂载",
    "已封存",
    "已镜像",
    "已刷新",
    "已协商",
    "已推迟",
    "已发布",
]

_ERRORS = (
    "write rejected by peer, transfer {id}",
    "volume {id} has no space left",
    "checksum of extent {id} differs, extent lost",
    "cannot allocate memory for request {id}",
    "connection refused by 10.9.8.7:5433 after 3 tries, txn={id}",
)
_ASKED = ("session of account {id} moved to region west", "parcel {id} handed over to courier", "export {id} complete")
_RARE = (
    "job finished invoice={id} total=481.22",
    "seat {id} of the annual licence transferred by operator",
    "firewall rule {id} widened by hand",
    "clock source switched to pulsar {id}",
    "guest {id} joined the conference bridge",
)
_ZH_ERRORS = ("扣款失败，流水号 {id}", "磁盘 {id} 已无剩余空间", "连接数据库 {id} 被拒绝")
_ZH_ASKED = ("包裹 {id} 已交给快递员", "账户 {id} 的会话已迁移到西区")
_ZH_RARE = ("管理员手动放宽了防火墙规则 {id}", "年度许可席位 {id} 已转让", "访客 {id} 加入了会议")


def _ids(rng: random.Random) -> tuple[str, str, str]:
    return f"EX{rng.randrange(10**5, 10**6)}", f"QK-{rng.randrange(10**4, 10**5)}", f"zf{rng.randrange(16**5):05x}"


def _filled(template: str, rng: random.Random) -> str:
    text = template
    while "{" in text:
        text = text.replace("{n}", str(rng.randrange(1, 5_000)), 1)
        text = text.replace("{x}", f"{rng.randrange(16**10):010x}", 1)
        text = text.replace("{ip}", f"10.{rng.randrange(255)}.{rng.randrange(255)}.{rng.randrange(1, 255)}", 1)
        text = text.replace("{thing}", rng.choice(_THINGS), 1).replace("{deed}", rng.choice(_DEEDS), 1)
        text = text.replace("{way}", rng.choice(_WAYS), 1).replace("{物}", rng.choice(_ZH_THINGS), 1)
        text = text.replace("{动}", rng.choice(_ZH_DEEDS), 1)
    return text


def _records(system: System, rng: random.Random, size: int) -> tuple[list[Record], str, tuple[Needle, ...]]:
    """Return the records of a system, the question, and the needles in them."""
    error, asked, rare = _ids(rng)
    tails = (
        ["{物}{动}，{物}数 {n}", "{物} {动}"]
        if system.chinese
        else ["{thing} {deed} {way} {n}", "{deed} {thing} of {thing} {x}"]
    )
    weights = [1 / (1 + at) for at in range(len(system.common))]
    calm, other, bad = system.levels
    records: list[Record] = []

    def record(at: int, text: str, level: str, template: str) -> Record:
        part = rng.choice(system.parts)
        return Record(at * 41, f"node-{rng.randrange(6)}", level, part, rng.randrange(300, 9_000), text, template)

    for at in range(size):
        drawn = rng.random()
        if drawn < system.weak_share:
            template = rng.choice(system.weak)
        elif drawn < system.weak_share + system.tail_share:
            template = rng.choice(tails)
        else:
            template = rng.choices(system.common, weights)[0]
        text = _filled(template, rng)
        shown = template.replace("{n}", "<*>").replace("{x}", "<*>").replace("{ip}", "<*>")
        if "{" in shown:  # a template of its own for each choice of words
            shown = " ".join("<*>" if any(map(str.isdigit, word)) else word for word in text.split())
        records.append(record(at, text, other if rng.random() < 0.15 else calm, shown))
    said = (_ZH_ERRORS, _ZH_ASKED, _ZH_RARE) if system.chinese else (_ERRORS, _ASKED, _RARE)
    texts = [rng.choice(some) for some in said]
    places = sorted(rng.sample(range(size // 6, size * 5 // 6), 3))
    rng.shuffle(places)
    for place, template, mark, level in zip(places, texts, (error, asked, rare), (bad, calm, calm), strict=True):
        text = template.format(id=mark)
        if level == bad and not bad:
            text = f"ERROR {text}"
        records[place] = record(place, text, level, template.replace("{id}", "<*>"))
    question = f"{asked} 怎么样了？" if system.chinese else f"what happened to {asked}?"
    return records, question, (Needle("error", error), Needle("query", asked), Needle("rare", rare))


# --- Systems --------------------------------------------------------------------------------------------------------


def _syslog(each: Record) -> str:
    return f"Apr {each.day[-2:]} {each.clock} {each.host} {each.part}[{each.pid}]: {each.text}"


def _iso(each: Record) -> str:
    return f"{each.day} {each.clock},{each.pid % 1000:03} {each.level} [{each.part}] {each.text}"


def _bgl(each: Record) -> str:
    return f"- {1_800_000_000 + each.at} {each.day.replace('-', '.')} R0{each.pid % 8}-M1 {each.day}-{each.clock.replace(':', '.')} RAS {each.part} {each.level} {each.text}"


def _logcat(each: Record) -> str:
    return f"{each.day[5:]} {each.clock}.{each.pid % 1000:03}  {each.pid}  {each.pid + 7} {each.level} {each.part}: {each.text}"


def _nginx(each: Record) -> str:
    date = each.day.replace("-", "/")
    return f"{date} {each.clock} [{each.level}] {each.pid}#0: *{each.at} {each.text}, server: {each.part}"


def _event_log(each: Record) -> str:
    return f"{each.day} {each.clock}, {each.level:<21} {each.part:<6} {each.text}"


def _chinese(each: Record) -> str:
    return f"{each.day} {each.clock} 【{each.level}】 {each.part} - {each.text}"


def _klog(each: Record) -> str:
    return f"{each.level}0403 {each.clock}.{each.pid:06} {each.pid:>7} {each.part}.go:{each.pid % 900}] {each.text}"


def _systemd(each: Record) -> str:
    return f"Apr {each.day[-2:]} {each.clock} {each.host} systemd[1]: {each.part}.service: {each.text}"


def _pipes(each: Record) -> str:
    return f"{each.day.replace('-', '')}-{each.clock}|{each.part}|{each.pid}|{each.text}"


def _apache(each: Record) -> str:
    return f"[Sat Apr {each.day[-2:]} {each.clock} 2027] [{each.level}] {each.text}"


def _cluster(each: Record) -> str:
    return f"{each.at} {each.host} {each.part} state_change.{each.text.split(' ')[0]} {1_800_000_000 + each.at} 1 {each.text}"


SYSTEMS: tuple[System, ...] = (
    System(
        "syslog",
        ("sshd", "cron", "dhclient", "kernel", "su"),
        ("session opened for user svc by (uid={n})", "session closed for user svc", "DHCPREQUEST on eth0 to {ip} port 67",
         "ALERT exited normally with {n}", "connection from {ip} port {n}", "check pass; user unknown"),
        ("authentication failure; uid=0 tty=NODEVssh rhost={ip}", "Failed password for root from {ip} port {n} ssh2",
         "{thing} probe failed, falling back to {thing}", "Kerberos authentication failed", "couldn't {deed} {thing}: error 0"),
        0.25, 0.08, ("", "", ""), _syslog,
    ),
    System(
        "mac",
        ("kernel", "com.apple.cts", "networkd", "Safari", "QQ", "WindowServer", "mDNSResponder", "corecaptured"),
        ("ARPT: {n}.{n}: wl0: setup_keepalive: Seq: {n}, Ack: {n}", "en0: BSSID changed to {x}", "Thermal pressure state: {n}",
         "HID preventing sleep from {x}", "AppleCamIn::systemWakeCall - messageType = 0x{x}"),
        ("AirPort: Link Down on awdl{n}. Reason 1 (Unspecified).", "AirPort: Link Up on awdl{n}", "CCFile::captureLog failed to {deed} {thing}",
         "{thing} {deed} failed: error {n}", "Unexpected payload found for message {n}, dataLen 0", "nw_interface {thing} unreachable, {deed}",
         "[{thing}] operation timed out, will retry {way}"),
        0.2, 0.35, ("", "", ""), _syslog,
    ),
    System(
        "hdfs",
        ("dfs.DataNode", "dfs.FSNamesystem", "dfs.DataBlockScanner", "dfs.PacketResponder"),
        ("Receiving block blk_{n}{n} src: /{ip}:{n} dest: /{ip}:50010", "PacketResponder {n} for block blk_{n}{n} terminating",
         "addStoredBlock: blockMap updated: {ip}:50010 is added to blk_{n}{n} size {n}", "Verification succeeded for blk_{n}{n}"),
        ("{ip}:50010:Got exception while serving blk_{n}{n} to /{ip}:", "writeBlock blk_{n}{n} received exception, retried"),
        0.06, 0.03, ("INFO", "WARN", "ERROR"), _iso,
    ),
    System(
        "bgl",
        ("KERNEL", "APP", "DISCOVERY", "MMCS", "LINKCARD"),
        ("instruction cache parity error corrected", "generating core.{n}", "{n} double-hummer alignment exceptions",
         "CE sym {n}, at 0x{x}, mask 0x{n}", "total of {n} ddr error(s) detected and corrected", "iar {x} dear {x}"),
        ("ciod: LOGIN chdir failed: No such {thing}", "{thing} parity error corrected {way}", "machine check {thing}: 0",
         "Error {deed} {thing} on node card {n}"),
        0.15, 0.08, ("INFO", "INFO", "FATAL"), _bgl,
    ),
    System(
        "logcat",
        ("WindowManager", "PowerManagerService", "ActivityManager", "AudioManager", "TelephonyManager", "PhoneStatusBar"),
        ("printFreezingDisplayLogsopening app wtoken = AppWindowToken {x}", "acquire lock={n}, flags=0x{n}, tag=View Lock, uid={n}",
         "ready=true,policy={n},wakefulness=1", "Skipping AppWindowToken {x} -- going to hide", "cancelAutohide {n}"),
        ("failed to {deed} {thing}, fallback used", "{thing}: error=0 ignored {way}", "app crash count 0 for {thing}",
         "Failed to find {thing} for {n}"),
        0.1, 0.25, ("D", "I", "E"), _logcat,
    ),
    System(
        "zookeeper",
        ("QuorumPeer", "NIOServerCxn", "SendWorker", "RecvWorker", "CommitProcessor"),
        ("Notification time out: {n}", "Received connection request /{ip}:{n}", "Established session 0x{x} with timeout 20000",
         "Closed socket connection for client /{ip}:{n}", "Expiring session 0x{x}, timeout of 10000ms exceeded"),
        ("Connection broken for id {x}, my id = 1, error = {thing}", "Exception causing close of session 0x{x} due to {thing}",
         "Interrupted while waiting for {thing}, {deed}"),
        0.3, 0.05, ("INFO", "WARN", "ERROR"), _iso,
    ),
    System(
        "nginx error",
        ("shop.example", "img.example", "api.example"),
        ("signal {n} received, reopening logs", "client {ip} closed keepalive connection", "gracefully shutting down worker {n}",
         "using the epoll event method", "a client request body is buffered to a temporary file /tmp/{x}"),
        ("open() /var/www/{x}.php failed (2: No such file or directory), client: {ip}", "upstream timed out {n} ms, next upstream used",
         "SSL_do_handshake() failed for {thing}, client: {ip}", "access forbidden by rule, client: {ip}"),
        0.2, 0.05, ("notice", "info", "crit"), _nginx,
    ),
    System(
        "windows event",
        ("CBS", "CSI", "DCOM", "WMI", "Tcpip"),
        ("Session: {n}_{n} initialized by client WindowsUpdateAgent.", "Read out cached package applicability for package_{n}, ApplicableState: 112",
         "SQM: Cleaning up report files older than {n} days.", "Warning: Unrecognized packageExtended attribute.",
         "Loaded Servicing Stack v6.1.{n}.{n} with Core: cbscore.dll"),
        ("Failed to internally open package. [HRESULT = 0x{x}]", "Startup: {thing} {deed}, error code 0x0", "Network link is down on adapter #{n}",
         "SQM: Failed to start upload of {thing}"),
        0.12, 0.06, ("Information", "Verbose", "Error"), _event_log,
    ),
    System(
        "chinese",
        ("订单服务", "库存服务", "支付服务", "推送服务", "网关"),
        ("处理任务 {n} 完成，用时 {n} 毫秒", "收到来自 {ip} 的请求 {n}", "缓存命中，键 {x}", "心跳正常，序号 {n}"),
        ("{物}刷新失败，已自动重试成功", "超时次数 0，{物}{动}", "上游返回异常，已切换到备用{物}"),
        0.15, 0.2, ("信息", "调试", "错误"), _chinese, True,
    ),
    System(
        "kubelet",
        ("kubelet", "pod_workers", "reconciler", "prober", "volume_manager"),
        ("SyncLoop (PLEG): event for pod web-{x}", "Starting container web-{n}", "operationExecutor.MountVolume succeeded for volume {x}",
         "Observed a {n} ms sync", "Pod web-{x} status updated"),
        ("Readiness probe failed for web-{x}: HTTP 503", "{thing} not ready: error getting {thing}, will retry", "Failed to {deed} {thing} {way}, ignoring"),
        0.12, 0.1, ("I", "I", "E"), _klog,
    ),
    System(
        "systemd",
        ("nginx", "backup", "docker", "fstrim", "apt-daily", "cups"),
        ("Started with pid {n}.", "Succeeded.", "Consumed {n}ms CPU time.", "Reloading configuration {n}.", "Scheduled restart job, restart counter is at {n}."),
        ("Failed with result 'exit-code'.", "Main process exited, code=exited, status=0/SUCCESS, 0 failed", "{thing} check failed, {deed} again"),
        0.1, 0.1, ("", "", ""), _systemd,
    ),
    System(
        "health app",
        ("Step_LSC", "Step_SPUtils", "Step_ExtSDM", "Step_StandReport"),
        ("onStandStepChanged {n}", "onExtend:{n} {n} {n}", "getTodayTotalDetailSteps = {n}##{n}##{n}", "calculateCaloriesWithCache totalCalories={n}"),
        ("upload of {thing} failed, kept for next sync {n}", "no error in {thing} {n}", "insertHiHealthData() bulkSaveDetailHiHealthData fail errorCode = {n}"),
        0.03, 0.15, ("", "", ""), _pipes,
    ),
    System(
        "apache",
        ("mod_jk", "core", "ssl"),
        ("workerEnv.init() ok /etc/httpd/conf/workers2.properties", "jk2_init() Found child {n} in scoreboard slot {n}",
         "caught SIGTERM, shutting down {n}"),
        ("mod_jk child workerEnv in error state {n}", "Directory index forbidden by rule: /var/www/{x}/", "script /var/www/{x}.cgi failed, default page sent",
         "{thing} error ignored {way}"),
        0.3, 0.03, ("notice", "info", "error"), _apache,
    ),
    System(
        "cluster",
        ("unix.hw", "switch_module", "boot_cmd", "gige", "partition"),
        ("running running", "configured out {n}", "Fan speeds ( {n} {n} {n} )", "Temperature ({n}) normal"),
        ("Link error on broadcast tree Interconnect-0T00:00:{n}", "not responding, {thing} {deed}", "boot (command {n}) Error: {thing} {deed} timed out",
         "Link in reset", "Link down, {thing} {deed}"),
        0.25, 0.1, ("", "", ""), _cluster,
    ),
)  # fmt: skip


# --- Formats --------------------------------------------------------------------------------------------------------


def _row(records: Sequence[Record], at: int, *, levels: bool, events: Mapping[str, str]) -> dict[str, str]:
    """Return a record as a row of a parsed log, with the template and its number as columns."""
    each = records[at]
    row = {"LineId": str(at + 1), "Date": each.day, "Time": each.clock, "Node": each.host}
    if levels:
        row["Level"] = each.level
    row.update(Component=each.part, PID=str(each.pid), Content=each.text)
    return {**row, "EventId": events[each.template], "EventTemplate": each.template}


def _rows(system: System, records: Sequence[Record]) -> list[dict[str, str]]:
    events = {each: f"E{at + 1}" for at, each in enumerate(sorted({record.template for record in records}))}
    return [_row(records, at, levels=bool(system.levels[2]), events=events) for at in range(len(records))]


def _raw(system: System, records: Sequence[Record]) -> str:
    return "\n".join(map(system.line, records))


def _csv_of(rows: Sequence[Mapping[str, object]]) -> str:
    written = io.StringIO()
    writer = csv.DictWriter(written, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue().rstrip("\n")


def _csv(system: System, records: Sequence[Record]) -> str:
    return _csv_of(_rows(system, records))


def _json(system: System, records: Sequence[Record]) -> str:
    return json.dumps(_rows(system, records), ensure_ascii=False)


def _json_lines(system: System, records: Sequence[Record]) -> str:
    """Return an object with the names of journald on each line; level as its number where the system has levels."""
    lines = []
    for each in records:
        priority = "3" if each.level == system.levels[2] else "6"
        row = {"__REALTIME_TIMESTAMP": str(1_800_000_000_000_000 + each.at * 10**6), "_HOSTNAME": each.host}
        row.update(SYSLOG_IDENTIFIER=each.part, _PID=str(each.pid), MESSAGE=each.text)
        lines.append(json.dumps({**row, "PRIORITY": priority} if each.level else row, ensure_ascii=False))
    return "\n".join(lines)


def _markdown(system: System, records: Sequence[Record]) -> str:
    rows = _rows(system, records)
    names = [name for name in rows[0] if name not in ("EventId", "EventTemplate", "LineId")]
    lines = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    lines += [f"| {' | '.join(row[name].replace('|', '/') for name in names)} |" for row in rows]
    return "\n".join(lines)


FORMATS: Mapping[str, Callable[[System, Sequence[Record]], str]] = {
    "raw": _raw,
    "CSV": _csv,
    "JSON": _json,
    "JSON lines": _json_lines,
    "Markdown": _markdown,
}


# --- Tables and outputs of other programs -----------------------------------------------------------------------------


def _interfaces(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    rows = [
        {
            "device": f"sw{rng.randrange(60):02}",
            "interface": f"Gi1/0/{at}",
            "admin": "up",
            "state": rng.choice(["Link Up", "Link Up", "Link Down", "Link Down (peer lost)", "Link Up"]),
            "speed": rng.choice(["1G", "10G"]),
            "failed": 0,
            "errors_in": rng.choice([0, 0, 0, rng.randrange(9)]),
            "errors_out": 0,
            "description": f"{rng.choice(_THINGS)} {rng.choice(_THINGS)} {rng.choice(('', '', 'failed over', 'error disabled timer off'))}".strip(),
            "mac": f"{rng.randrange(16**12):012x}",
        }
        for at in range(size)
    ]
    rows[size // 3].update(state="ERROR", description=f"optic {error} dark")
    rows[size // 2].update(description=f"uplink {asked}")
    rows[2 * size // 3].update(speed="400G", description=f"loop {rare}")
    return Output("interfaces", "CSV", f"which switch has uplink {asked}?", _csv_of(rows), _needles(error, asked, rare))


def _needles(error: str, asked: str, rare: str) -> tuple[Needle, ...]:
    return Needle("error", error), Needle("query", asked), Needle("rare", rare)


def _postgres(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    texts = ("checkpoint complete: wrote {n} buffers", "duration: {n} ms  statement: SELECT * FROM t{n} WHERE failed = 0",
             "connection authorized: user=app database=shop", "automatic vacuum of table shop.{thing}: {n} removed",
             "could not receive data from client: Connection reset by peer", "statement: UPDATE jobs SET error = NULL WHERE id = {n}")  # fmt: skip
    lines = []
    for at in range(size):
        severity, state, text = "LOG", "00000", _filled(rng.choice(texts), rng)
        if at == size // 3:
            severity, state, text = "ERROR", "53100", f"volume {error} has no space left"
        elif at == size // 2:
            text = f"statement: SELECT total FROM invoices WHERE number = '{asked}'"
        elif at == 2 * size // 3:
            text = f"parameter maintenance_window changed to {rare}"
        head = f"2027-04-03 {at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}.{rng.randrange(999):03} UTC,app,shop,{rng.randrange(9_999)}"
        lines.append(f'{head},10.0.0.{at % 250}:{rng.randrange(65_000)},{rng.randrange(16**8):08x}.{at:x},{at},"idle",2027-04-03 00:00:00 UTC,3/{at},0,{severity},{state},"{text}",,,,,,,,,"app"')  # fmt: skip
    return Output("postgres", "CSV", f"who looked for invoice {asked}?", "\n".join(lines), _needles(error, asked, rare))


def _events(rng: random.Random, size: int) -> Output:
    """Return Kubernetes events as JSON: nested, with warnings that come and go."""
    error, asked, rare = _ids(rng)
    items: list[dict[str, object]] = []
    for at in range(size):
        kind, reason, text = rng.choice(
            [
                ("Normal", "Pulled", "Container image already present on machine"),
                ("Normal", "Scheduled", f"assigned web/pod-{rng.randrange(16**5):05x} to node-{rng.randrange(9)}"),
                ("Normal", "Started", "Started container"),
                ("Warning", "Unhealthy", f"Readiness probe failed: {rng.choice(_THINGS)} {rng.choice(_DEEDS)}"),
            ]
        )
        if at == size // 3:
            kind, reason, text = "Error", "NodeLost", f"disk {error} went away"
        elif at == size // 2:
            text = f"assigned web/{asked} to node-7"
        elif at == 2 * size // 3:
            kind, reason, text = "Normal", "Tainted", f"operator tainted {rare} by hand"
        items.append(
            {
                "metadata": {"name": f"ev.{rng.randrange(16**8):08x}", "namespace": rng.choice(["web", "jobs"])},
                "involvedObject": {"kind": "Pod", "name": f"pod-{rng.randrange(16**5):05x}", "uid": f"{rng.randrange(16**12):012x}"},
                "type": kind,
                "reason": reason,
                "message": text,
                "count": rng.randrange(1, 6),
                "lastTimestamp": f"2027-04-03T{at // 60 % 24:02}:{at % 60:02}:00Z",
            }
        )  # fmt: skip
    text = json.dumps({"apiVersion": "v1", "kind": "EventList", "items": items})
    return Output("k8s events", "JSON", f"to which node was {asked} assigned?", text, _needles(error, asked, rare))


def _web_app(rng: random.Random, size: int) -> Output:
    """Return JSON lines of a web application: HTTP fields, ``error: null``, retries that went well."""
    error, asked, rare = _ids(rng)
    lines = []
    for at in range(size):
        weak = rng.random() < 0.2
        row: dict[str, object] = {
            "ts": f"2027-04-03T{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}Z",
            "level": "warn" if weak else "info",
            "msg": f"{rng.choice(_THINGS)} lookup failed, {rng.choice(_THINGS)} used" if weak else rng.choice(["request done", "cache hit", "login ok"]),
            "http": {"method": "GET", "path": f"/{rng.choice(_THINGS)}/{rng.randrange(9_999)}", "status": rng.choice([200, 200, 200, 304, 404])},
            "error": None,
            "failed": False,
            "ms": rng.randrange(2, 90),
            "request_id": f"{rng.randrange(16**12):012x}",
        }  # fmt: skip
        if at == size // 3:
            row.update(level="error", msg=f"payment gateway gave nothing for {error}")
        elif at == size // 2:
            row.update(msg=f"basket {asked} checked out", level="info")
        elif at == 2 * size // 3:
            row.update(msg=f"feature flag {rare} toggled from console", level="info")
        lines.append(json.dumps(row))
    return Output("web app", "JSON lines", f"was basket {asked} paid?", "\n".join(lines), _needles(error, asked, rare))


def _jobs(rng: random.Random, size: int) -> Output:
    """Return a wide CSV of batch jobs: columns named after failures, nearly all of them 0."""
    error, asked, rare = _ids(rng)
    rows: list[dict[str, object]] = []
    for at in range(size):
        row: dict[str, object] = {
            "job": f"J{at:05}",
            "name": f"{rng.choice(_THINGS)}-{rng.choice(_DEEDS)}",
            "owner": rng.choice("abcdef") * 3,
        }
        row.update({f"stage{stage}_ms": rng.randrange(10, 900) for stage in range(8)})
        row.update(dict.fromkeys(("failed", "errors", "timeouts", "crashes", "rejected"), 0))
        row.update(
            retries=rng.randrange(3),
            last_error=rng.choice(["", "", "", f"{rng.choice(_THINGS)} failed once", "timed out, repeated"]),
        )
        row.update(
            status=rng.choice(["done", "done", "done", "skipped"]), note=f"{rng.choice(_THINGS)} {rng.choice(_DEEDS)}"
        )
        rows.append(row)  # fmt: skip
    rows[size // 3].update(status="FAILED", note=f"core {error} dumped")
    rows[size // 2].update(name=asked)
    rows[2 * size // 3].update(owner="zzq", note=f"waived for {rare}")
    return Output("jobs", "CSV", f"how often was {asked} retried?", _csv_of(rows), _needles(error, asked, rare))


def _pytest(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    lines = [
        "============================= test session starts =============================",
        f"collected {size} items",
        "",
    ]
    for at in range(size):
        name = f"tests/unit/test_{rng.choice(_THINGS)}.py::test_{rng.choice(_THINGS)}_{rng.choice(['fails_without_key', 'raises_error', 'is_' + rng.choice(_DEEDS)])}_{at}"
        verdict = "FAILED" if at == size // 3 else "PASSED"
        lines.append(
            f"{name if at != size // 2 else f'tests/unit/test_{asked}.py::test_it'} {verdict} [{100 * at // size:>3}%]"
        )
        if at == 2 * size // 3:
            lines.append(f"plugin {rare} replaced the event loop policy")
    lines += ["", "=================================== FAILURES ===================================", "    def test_it():",
              f">       assert total == '{error}'", f"E       AssertionError: assert '7' == '{error}'", "", f"tests/unit/test_x.py:41: AssertionError {error}",
              f"=================== 1 failed, {size - 1} passed in 12.31s ==================="]  # fmt: skip
    return Output("pytest", "raw", f"did {asked} pass?", "\n".join(lines), _needles(error, asked, rare))


def _access(rng: random.Random, size: int) -> Output:
    error, asked, rare = _ids(rng)
    lines = []
    for at in range(size):
        path, status, agent = (
            f"/{rng.choice(_THINGS)}/{rng.randrange(900)}",
            rng.choice([200] * 9 + [304, 404]),
            rng.choice(["Mozilla/5.0", "curl/8.1"]),
        )
        if rng.random() < 0.1:
            path = f"/docs/{rng.choice(_THINGS)}-error-{rng.choice(['failed', 'denied', 'timeout'])}.html"
        if at == size // 3:
            path, status = f"/pay/{error}", 502
        elif at == size // 2:
            path = f"/invoice/{asked}.pdf"
        elif at == 2 * size // 3:
            path, agent = f"/dav/{rare}", "cadaver/0.23 neon"
        ip = f"10.3.{rng.randrange(255)}.{rng.randrange(255)}"
        lines.append(
            f'{ip} - - [03/Apr/2027:{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02} +0000] "GET {path} HTTP/1.1" {status} {rng.randrange(99_999)} "-" "{agent}"'
        )
    return Output("nginx access", "raw", f"who downloaded invoice {asked}?", "\n".join(lines), _needles(error, asked, rare))  # fmt: skip


_TABLES = (_interfaces, _postgres, _events, _web_app, _jobs, _pytest, _access)


def logs(seed: int, *, rounds: int = 1) -> list[Output]:
    """Return an output of every system in every format, and of the tables, ``rounds`` of each.

    >>> logs(1) == logs(1)
    True
    """
    outputs = []
    for at in range(rounds):
        for system in SYSTEMS:
            for name, write in FORMATS.items():
                rng = random.Random(f"{seed} {at} {system.name} {name}")
                size = rng.choice((700, 1_200, 2_000))
                records, question, needles = _records(system, rng, size)
                outputs.append(Output(system.name, name, question, write(system, records), needles))
        for make in _TABLES:
            rng = random.Random(f"{seed} {at} {make.__name__}")
            outputs.append(make(rng, rng.choice((700, 1_200, 2_000))))
    return outputs
