"""``gatekeeper chat``: one turn, its file, the scripted model, the commands, and what a terminal and a pipe see."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_cli.history_file import HistoryFile
from gatekeeper_cli.offline import OfflineModel, scripted_answer
from gatekeeper_cli.session import Exchange, Session
from gatekeeper_cli.texts import ENGLISH
from gatekeeper_core.messages import Message
from gatekeeper_core.pricing.usage import Usage
from gatekeeper_core.selection.constraints import render_constraints
from gatekeeper_core.token_estimate import TokenEstimator
from gatekeeper_formats import FormatError
from tests.case_files import from_file, rows
from tests.command import MAIN, run
from tests.conversations import parse_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from subprocess import CompletedProcess

    from typer.testing import Result

count_tokens = TokenEstimator()

pytestmark = pytest.mark.cli

NO_KEY = {name: value for name, value in os.environ.items() if not name.startswith(("MINIMAX_", "GATEKEEPER_"))}
UTF8 = {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}

TALKS = {script: [(user, answer) for user, answer in pairs] for script, pairs in rows("chat", "talks")}
"""What is said, and what the scripted model answers when it is sent everything."""

each_language = pytest.mark.parametrize("language", TALKS)
posix = pytest.mark.skipif(os.name == "nt", reason="a POSIX terminal, signals and pipes")
texts = st.text(st.characters(codec=None), min_size=1, max_size=30).filter(str.strip)
pairs_of_texts = st.lists(st.tuples(texts, texts), min_size=1, max_size=4)


def chat(*arguments: object, stdin: str = "", **environment: str) -> Result:
    return run("chat", *arguments, stdin=stdin, **environment)


def chat_process(*arguments: object, stdin: bytes, code: str = MAIN, **environment: str) -> CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, "chat", *map(str, arguments)],
        input=stdin,
        env=NO_KEY | UTF8 | environment,
        capture_output=True,
        timeout=60,
        check=False,
    )


def turn_lines(user: str, assistant: str) -> bytes:
    messages = ({"role": "user", "content": user}, {"role": "assistant", "content": assistant})
    return "".join(json.dumps(message) + "\n" for message in messages).encode()


def lines_of(questions: Iterable[str]) -> str:
    return "".join(f"{question}\n" for question in questions)


def pairs_in(file: Path) -> list[tuple[str, str]]:
    return [(turn.user_text, turn.assistant_text) for turn in parse_turns(file.read_bytes(), name=file.name)]


# --- the scripted model ---------------------------------------------------------------------------------------------


def messages_of(*talk: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(talk)]


@from_file("talk", "answer")
def test_the_scripted_model_answers_sensibly(talk: list[str], answer: str) -> None:
    assert scripted_answer(messages_of(*talk)) == answer


@given(talk=st.lists(texts, min_size=1, max_size=6))
def test_every_line_of_a_scripted_answer_was_sent_or_acknowledges(talk: list[str]) -> None:
    messages = messages_of(*talk)
    answer = "".join(OfflineModel().answer(messages))
    assert answer == scripted_answer(messages)
    assert answer.strip()
    acknowledgements = ("Noted.", "好的，记下了。", "Nothing that I was sent answers this.", "发给我的内容里没有提到。")
    sent = "\n".join(talk[:-1])
    assert answer in acknowledgements or answer in sent or all(line in sent for line in answer.split("\n"))


# --- one turn -------------------------------------------------------------------------------------------------------


class RecordingModel:
    """Answers with fixed texts and keeps what it was sent."""

    name = "recording"

    def __init__(self, *answers: str, usage: Usage | None = None) -> None:
        self.sent: list[list[dict[str, str]]] = []
        self._answers = answers
        self._usage = usage

    def answer(self, messages: list[dict[str, str]]) -> Generator[str, None, Usage | None]:
        self.sent.append(messages)
        text = self._answers[(len(self.sent) - 1) % len(self._answers)] if self._answers else "An answer."
        yield text[:3]
        yield text[3:]
        return self._usage

    def close(self) -> None: ...


def answered(session: Session, question: str) -> tuple[str, Exchange]:
    ends: list[Exchange] = []

    def ask() -> Generator[str, None, None]:
        ends.append((yield from session.ask(question)))

    return "".join(ask()), ends[0]


@each_language
def test_the_figures_are_those_of_what_was_sent(language: str) -> None:
    model = RecordingModel(*(answer for _, answer in TALKS[language]))
    session = Session(model, messages=[Message("system", "Be brief and kind.")])
    session.gatekeeper.set_constraint("language", "English 或中文")
    for question, answer in TALKS[language]:
        text, exchange = answered(session, question)
        assert text == answer
        assert exchange.sent_tokens == sum(count_tokens(message["content"]) for message in model.sent[-1])
        history = sum(block.tokens_user + block.tokens_assistant for block in session.gatekeeper.turns[:-1])
        assert exchange.full_tokens - exchange.sent_tokens == history - exchange.selection.tokens >= 0
        assert exchange.topic_id == session.gatekeeper.topics[-1].topic_id
    assert [block.user_text for block in session.gatekeeper.turns] == [question for question, _ in TALKS[language]]


def test_the_head_and_the_constraints_are_one_system_message_before_everything() -> None:
    model = RecordingModel()
    head = [Message("system", "Be brief."), Message("system", "Be kind."), Message("user", "Which port?")]
    session = Session(model, messages=[*head, Message("assistant", "Port 6380."), Message("system", "later")])
    session.gatekeeper.set_constraint("language", "Chinese")
    answered(session, "Which port was it?")
    assert model.sent[0] == [
        {"role": "system", "content": "Be brief.\n\nBe kind.\n\n" + render_constraints({"language": "Chinese"})},
        {"role": "user", "content": "Which port?"},
        {"role": "assistant", "content": "Port 6380."},
        {"role": "user", "content": "Which port was it?"},
    ]


def test_the_line_under_an_answer_has_what_the_model_counted_and_its_dollars_where_the_price_is_known() -> None:
    for usage, end in (
        (Usage(1_200, 400, 1_000, model="claude-sonnet-4-5"), " | model count 1,200 (1,000 cached) | $0.0069]"),
        (Usage(1_200, 400, model="a model of our own"), " | model count 1,200 (0 cached)]"),
    ):
        assert answered(Session(RecordingModel(usage=usage)), "port?")[1].line(ENGLISH).endswith(end)


@given(pairs=pairs_of_texts, open_question=st.booleans())
def test_a_chat_that_is_read_again_is_the_chat_that_went_on(pairs: list[tuple[str, str]], open_question: bool) -> None:
    before = [Message("user", "and the port?")] if open_question else []
    model = RecordingModel(*(assistant for _, assistant in pairs))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "chat.jsonl")
        path.write_text("".join(json.dumps(message.to_dict()) for message in before), encoding="utf-8")
        session = Session(model, messages=before, store=HistoryFile(str(path)).append)
        for user, _ in pairs:
            answered(session, user)
        again = Session(model, messages=HistoryFile(str(path)).messages)
    as_read = [  # JSON reads a pair of lone surrogates as one character
        block._replace(
            user_text=json.loads(json.dumps(block.user_text)),
            assistant_text=json.loads(json.dumps(block.assistant_text)),
        )
        for block in session.gatekeeper.turns
    ]
    assert as_read == list(again.gatekeeper.turns)
    assert session.gatekeeper.topics == again.gatekeeper.topics


# --- the file -------------------------------------------------------------------------------------------------------


@given(pairs=pairs_of_texts, data=st.data())
def test_a_file_that_was_cut_off_anywhere_loses_no_byte_and_goes_on(
    pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    full = b"".join(turn_lines(user, assistant) for user, assistant in pairs)
    cut = full[: data.draw(st.integers(0, len(full)))]
    with tempfile.TemporaryDirectory() as folder:
        path, torn = Path(folder, "chat.jsonl"), Path(folder, "chat.jsonl.torn")
        path.write_bytes(cut)
        file = HistoryFile(str(path))
        aside = torn.read_bytes().removesuffix(b"\n") if file.note else b""
        assert path.read_bytes() + aside == cut
        assert (file.note is not None) == torn.exists() == bool(aside)
        if file.note:
            assert len(file.messages) % 2 == 0, "a question stays without its torn answer"
        file.append("and now?", "all right")
        again = HistoryFile(str(path))
    assert again.note is None
    assert [message.text for message in again.messages][-2:] == ["and now?", "all right"]
    assert again.messages[:-2] == file.messages


def test_a_turn_is_one_write_and_is_forced_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    write, fsync = os.write, os.fsync
    monkeypatch.setattr(os, "write", lambda file, content: calls.append("write") or write(file, content))
    monkeypatch.setattr(os, "fsync", lambda file: calls.append("fsync") or fsync(file))
    HistoryFile(str(tmp_path / "chat.jsonl")).append("port?", "6380" * 10_000)
    assert calls == ["write", "fsync"]


def test_a_write_that_fails_half_way_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "chat.jsonl"
    file = HistoryFile(str(path))
    assert not path.exists()
    file.append("port?", "6380")
    assert os.name == "nt" or path.stat().st_mode & 0o777 == 0o600
    before, write = path.read_bytes(), os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: write(descriptor, content[:20]))
    with pytest.raises(OSError, match="only part of it"):
        file.append("port?", "6381")
    assert path.read_bytes() == before


HI = '{"role": "user", "content": "hi"}'


@from_file("text", "reason")
def test_a_file_that_cannot_be_appended_to_is_refused_and_stays_as_it_is(
    text: str, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "chat.json"
    content = text.encode("utf-8", "surrogateescape")
    path.write_bytes(content)
    with pytest.raises(FormatError, match=f"^{re.escape(str(path))}: {reason}"):
        HistoryFile(str(path))
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_byte_order_mark_blank_lines_and_an_empty_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    for content, count in ((b"", 0), (b"\xef\xbb\xbf\n", 0), (f"\ufeff{HI}\r\n\r\n{HI}\r\n".encode(), 2)):
        path.write_bytes(content)
        assert len(HistoryFile(str(path)).messages) == count


@posix
@from_file("name", "reason")
def test_a_place_that_cannot_be_written_is_refused_before_the_first_question(
    name: str, reason: str, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FormatError, match=reason):
        HistoryFile(str(tmp_path / name))


# --- the command through pipes --------------------------------------------------------------------------------------


@each_language
def test_three_lines_through_a_pipe_are_three_turns(language: str, tmp_path: Path) -> None:
    """000-51, 000-52: without a key the scripted model answers at once, after two lines that say how to get one."""
    file = tmp_path / "chat.jsonl"
    done = chat("--history", file, stdin=lines_of([question for question, _ in TALKS[language]]))
    assert done.exit_code == 0
    notes = done.stderr.splitlines()
    assert len(notes) == 2
    assert "https://platform.minimax.io" in notes[0]
    assert "MINIMAX_API_KEY" in notes[0]
    assert "in a file .env in this folder" in notes[0]
    assert 'pip install "context-gatekeeper[cli,chat]"' in notes[1]
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("> ")] == [f"> {question}" for question, _ in TALKS[language]]
    for question, answer in TALKS[language]:
        at = lines.index(f"> {question}")
        assert lines[at + 1] == answer
        assert re.fullmatch(STATUS_LINE, lines[at + 2])
    assert pairs_in(file) == TALKS[language]


STATUS_LINE = (
    r"\[(?P<sent>[\d,]+) tokens sent, (?P<saved>[\d,]+) saved \((?P<percent>[\d.]+) %\) \| "
    r"topic (?P<topic>\d+) \((?P<gate>same|new) topic(, returns to topic \d+)?\) \| "
    r"(?P<kept>\d+) of (?P<turns>\d+) turns? kept(: (?P<ids>[\d, to.]+))?\]"
)


def test_blank_lines_are_ignored_and_two_slashes_send_one(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    chat("--offline", "--history", file, stdin="\n   \n//etc/hosts 是什么\r\n\u3000\n  //x\n")
    assert [user for user, _ in pairs_in(file)] == ["/etc/hosts 是什么", "  /x"]


@from_file("transcript")
def test_a_slash_command_answers_under_its_line(transcript: list[tuple[str, str]]) -> None:
    """LONG is more than the constraints may cost."""
    stdin = lines_of(line.replace("LONG", "long " * 3_000) for line, _ in transcript)
    before, *shown = re.split(r"(?m)^> .*\n", chat("--offline", stdin=stdin).stdout)
    assert before == ""
    for (line, pattern), reply in zip(transcript, map(str.strip, shown), strict=True):
        assert not pattern or re.fullmatch(pattern, reply), line


def test_a_torn_file_is_mended_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes(turn_lines("port?", "6380") + turn_lines("端口？", "六三八零")[:-20])
    done = chat("--offline", "--history", file, stdin="hello\n")
    assert done.exit_code == 0
    assert done.stderr.startswith(f"gatekeeper: {file}: the last line was cut off; its ")
    assert done.stderr.count("\n") == 1
    assert pairs_in(file) == [("port?", "6380"), ("hello", "Noted.")]
    assert "7aef" in (tmp_path / "chat.jsonl.torn").read_text(encoding="utf-8")


@posix
def test_a_full_disk_costs_the_turn_and_not_the_chat(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)); {MAIN}"
    stdin = lines_of(["Our port is 6380.", "x" * 400, "hello"]).encode()
    done = chat_process("--offline", "--history", file, stdin=stdin, code=limited)
    assert done.returncode == 1
    assert b"no answer: could not be stored: " in done.stdout
    assert pairs_in(file) == [("Our port is 6380.", "Noted."), ("hello", "Noted.")]


HOSTILE = "port \x1b[31m\x9b2J\x07\u202eevil\u2066 [bold]x[/] :smile: \x00 end."


@pytest.mark.parametrize("command", ["/why", "/topics", "/pin", "/" + HOSTILE.replace("port ", ""), "port"])
def test_control_characters_never_reach_the_output(command: str, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes(turn_lines(HOSTILE, f"{HOSTILE}\r\nsecond\tline \ud800"))
    lines = ["What is the port?", f"/pin port {HOSTILE}", "What is the port?", HOSTILE, command]
    done = chat("--offline", "--history", file, stdin=lines_of(lines))
    assert (done.exit_code, done.stderr) == (0, "")
    assert not set("\x1b\x9b\x07\x00\r\u202e\u2066") & set(done.stdout_bytes.decode())
    assert "[bold]x[/] :smile:" in done.stdout


@from_file("environment")
def test_any_locale_and_any_bytes_are_read(environment: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    stdin = "我们的缓存用 6380 端口。\n".encode() + b"caf\xe9 \xf0\x9f\n" + "\ufeff缓存用哪个端口？\n".encode()
    plain = {"LC_ALL": "", "PYTHONUTF8": "", "PYTHONIOENCODING": ""}
    done = chat_process("--offline", "--history", file, stdin=stdin, **plain | environment)
    assert (done.returncode, done.stderr) == (0, b"")
    pairs = pairs_in(file)
    assert [user for user, _ in pairs] == ["我们的缓存用 6380 端口。", "caf\ufffd \ufffd", "缓存用哪个端口？"]
    assert pairs[2][1] == "我们的缓存用 6380 端口。"


@posix
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_side_is_no_traceback(closed: str) -> None:
    command = f"echo hello | {sys.executable} -c '{MAIN}' chat {closed}"
    done = subprocess.run(["bash", "-c", command], env=NO_KEY | UTF8, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


# --- the key --------------------------------------------------------------------------------------------------------

KEY = "sk-test-0123456789abcdef"
NEEDS_CLIENT = 'gatekeeper: a model behind a URL needs an extra: pip install "context-gatekeeper[cli,chat]"\n'


@from_file("arguments", "key", "env_file", "needed")
def test_only_a_model_behind_an_address_needs_the_client(
    arguments: list[str], key: str, env_file: str, needed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.env").write_text(f"MINIMAX_API_KEY={KEY}\n", encoding="utf-8")
    if env_file:
        (tmp_path / ".env").write_bytes(env_file.encode("utf-8", "surrogateescape"))
    for name in [name for name in sys.modules if name.startswith("gatekeeper_chat")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "requests", None)
    monkeypatch.setitem(sys.modules, "dotenv", None)
    done = chat(*arguments, stdin="hi\n", MINIMAX_API_KEY=key)
    if needed:
        assert (done.exit_code, done.stdout, done.stderr) == (2, "", NEEDS_CLIENT)
    else:
        assert (done.exit_code, done.stderr.count("\n")) == (0, 0 if "--offline" in arguments else 2)


# --- at a terminal --------------------------------------------------------------------------------------------------

SLOW = """
import time
from gatekeeper_cli import chat, offline

class SlowModel(offline.OfflineModel):
    def answer(self, messages):
        question = messages[-1]["content"]
        if question.startswith("slow"):
            yield "one half "
            for _ in range(600):  # a signal just before a long sleep would be seen after it
                time.sleep(0.1)
        return (yield from super().answer(messages))

chat.OfflineModel = SlowModel
"""
CONTROLLING = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"

CTRL_C, CTRL_D, UP = "\x03", "\x04", "\x1b[A"


class Person:
    """Someone at a terminal, who types and reads."""

    def __init__(self, *arguments: object, environment: dict[str, str] | None = None) -> None:
        import pty

        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", CONTROLLING + SLOW + MAIN, "chat", *map(str, arguments)],
            env=NO_KEY | UTF8 | {"TERM": "xterm", "INPUTRC": os.devnull} | (environment or {}),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""
        self._read_to = 0
        self._bytes = b""

    def types(self, text: str) -> None:
        os.write(self._master, text.encode())

    def sees(self, text: str) -> str:
        """Wait for a text after the last one that was waited for; return everything up to it."""
        deadline = time.monotonic() + 30
        while (at := self.seen.find(text, self._read_to)) < 0:
            assert time.monotonic() < deadline, f"no {text!r} in {self.seen[self._read_to :]!r}"
            if not self._more(deadline):
                pytest.fail(f"the chat ended without {text!r}: {self.seen[self._read_to :]!r}")
        before = self.seen[self._read_to : at]
        self._read_to = at + len(text)
        return before

    def interrupts(self) -> None:
        time.sleep(0.3)  # Python begins to wait for a line a moment after it has shown the prompt
        self.types(CTRL_C)

    def says_goodbye(self) -> None:
        self.sees("> ")  # what is typed before the prompt is there belongs to the terminal, not to the line editor
        self.types(CTRL_D)
        assert self.leaves() == 0

    def leaves(self) -> int:
        """Wait for the end of the chat and return its status."""
        deadline = time.monotonic() + 30
        while self._more(deadline):
            pass
        return self.process.wait(timeout=30)

    def close(self) -> None:
        self.process.kill()
        self.process.wait(timeout=30)
        os.close(self._master)

    def _more(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        try:
            read = os.read(self._master, 65_536) if ready else b""
        except OSError:  # the other side of a terminal that is gone
            read = b""
        self._bytes += read
        self.seen = self._bytes.decode("utf-8", "replace")
        return bool(read)


@pytest.fixture
def sit_down() -> Iterator[Callable[..., Person]]:
    with ExitStack() as people:
        yield lambda *arguments, **more: people.enter_context(closing(Person(*arguments, **more)))


@posix
def test_an_answer_is_shown_as_it_comes_and_an_interrupt_drops_it(
    sit_down: Callable[..., Person], tmp_path: Path
) -> None:
    file = tmp_path / "chat.jsonl"
    person = sit_down("--offline", "--history", file)
    person.sees("> ")
    person.types("slow question\r")
    person.sees("one half ")
    person.types(CTRL_C)
    assert person.sees("interrupted; nothing was saved").endswith("\r\n\x1b[2m")
    person.sees("> ")
    assert not file.exists()
    person.types(UP)
    person.sees("slow question")
    person.types("\x15Our port is 6380.\r")  # Ctrl-U clears what was recalled
    person.sees("Noted.")
    person.says_goodbye()
    assert pairs_in(file) == [("Our port is 6380.", "Noted.")]


@posix
def test_the_questions_of_an_earlier_chat_can_be_recalled(sit_down: Callable[..., Person], tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_bytes(turn_lines("端口是 \x1b[31m6380。", "好的，记下了。") + turn_lines("and the second", "Noted."))
    person = sit_down("--offline", "--history", file)
    person.sees("2 turns so far")
    person.sees("> ")
    person.types(UP)
    person.sees("and the second")
    person.types(UP)
    person.sees("\ufffd[31m6380。")
    person.types("\r")
    person.sees("2 turns kept")
    person.says_goodbye()
    assert pairs_in(file)[2][0] == "端口是 \ufffd[31m6380。"


@posix
def test_a_line_can_be_given_up_edited_in_the_middle_and_pasted(
    sit_down: Callable[..., Person], tmp_path: Path
) -> None:
    file = tmp_path / "chat.jsonl"
    person = sit_down("--offline", "--history", file)
    person.sees("> ")
    person.types("half a thou")
    person.sees("half a thou")
    person.interrupts()
    assert "interrupted" not in person.sees("> ")
    person.types("端口是 638\x1b[D\x1b[D\x7f9\r")  # two steps to the left, backspace
    person.sees("0 of 0 turns kept")
    person.sees("> ")
    person.types("\x1b[200~Traceback:\n  第二行\nlast line\x1b[201~\r")
    person.sees(" kept")
    person.says_goodbye()
    assert [user for user, _ in pairs_in(file)] == ["端口是 938", "Traceback:\n  第二行\nlast line"]


@posix
@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TERM": ""}])
def test_a_dumb_terminal_gets_a_prompt_and_no_control_sequence(
    environment: dict[str, str], sit_down: Callable[..., Person]
) -> None:
    person = sit_down("--offline", environment=environment)
    for line in ("hello", "我们的缓存用 6380 端口。", "/why", "/topics", "/help"):
        person.sees("> ")
        person.types(f"{line}\n")
    person.sees("//text")
    person.sees("> ")
    person.interrupts()
    person.says_goodbye()
    if environment["TERM"]:
        assert "\x1b" not in person.seen


@posix
@pytest.mark.parametrize(("answer", "chats"), [("\r", True), ("n\r", False), (CTRL_C, False)])
def test_without_a_key_a_person_is_asked(answer: str, chats: bool, sit_down: Callable[..., Person]) -> None:
    person = sit_down()
    notes = person.sees("Chat with the scripted offline model? [Y/n] ")
    assert notes.count("\r\n") == 2
    if answer == CTRL_C:
        person.interrupts()
    else:
        person.types(answer)
    if chats:
        person.sees("> ")
        person.types("hello\r")
        person.sees("Noted.")
        person.says_goodbye()
    else:
        assert person.leaves() == 0
        assert "Noted." not in person.seen


@posix
def test_an_interrupt_ends_a_chat_that_reads_a_pipe(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SLOW + MAIN, "chat", "--offline", "--history", file],
        env=NO_KEY | UTF8,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(b"hello\nslow question\nnever asked\n")
    process.stdin.flush()
    seen = b""
    while b"one half " not in seen:
        seen += os.read(process.stdout.fileno(), 1_000)
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"")
    assert b"interrupted; nothing was saved" in rest
    assert b"never asked" not in rest
    assert pairs_in(file) == [("hello", "Noted.")]
