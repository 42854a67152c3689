"""One worker of several: a process with a store and a context builder of its own, on a thread that others write, too."""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.memory.thread import Thread
from gatekeeper_core.context.prompt.budget import ContextBuilderConfig
from gatekeeper_core.context.prompt.builder import ContextBuilder
from gatekeeper_core.messages import Message
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from tests.gatekeeper_state import state_of

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from gatekeeper_core.context.prompt.result import BuiltContext

TENANT, THREAD = "acme", "t1"
QUESTION = "Which port did the Redis cache get, 缓存的端口是多少？"
SUBJECTS = (
    ("Which port does the Redis cache of depot {} listen on?", "We decided that it listens on port 63{}."),
    ("酸面包第 {} 次要发酵多久？", "在二十六度下发酵 {} 个小时。"),
    ("换个话题，choir 的 minutes 第 {} 份谁负责？", "第 {} 份 minutes 由 Marta 负责。"),
)
CONFIG = ContextBuilderConfig(
    total_budget=1500, history=HistoryConfig(keep_newest=3, passthrough_below=0), call_timeout_ms=60_000
)


def open_store(place: str) -> Any:
    """Return the store at a place: a path, or where PostgreSQL is."""
    if place.startswith("postgresql://"):
        from gatekeeper_postgres import PostgresStore

        return PostgresStore(place)
    from gatekeeper_core.storage.sqlite import SQLiteStore

    return SQLiteStore(place)


def turn(worker: int, step: int) -> list[Message]:
    """Return what a worker says at a step."""
    question, answer = SUBJECTS[step % len(SUBJECTS)]
    return [
        Message("user", question.format(step), id=f"{worker}.{step}.q"),
        Message("assistant", answer.format(step), id=f"{worker}.{step}.a"),
    ]


class Worker:
    """What the process does, one method for each command."""

    def __init__(self, place: str, number: int) -> None:
        self.store = open_store(place)
        self.number = number
        self.builder = ContextBuilder(CONFIG, store=self.store)
        self.context: BuiltContext | None = None
        self.thread = Thread(THREAD, tenant=TENANT)

    def ready(self) -> str:
        """Return that it is."""
        return "ready"

    def work(self, steps: int, workers: int) -> list[dict[str, Any]]:
        """Say so many turns, and build after each; go on until the others were seen, four times as long at most."""
        found, seen = [], set()
        for step in range(4 * steps):
            messages = turn(self.number, step)
            seq = self.store.append_messages(TENANT, THREAD, messages)
            assert self.store.append_messages(TENANT, THREAD, messages) == seq, "a repetition is none"
            self.store.blobs_of(TENANT, THREAD).put("bodies", str(messages[0].id), QUESTION.encode() * 50)
            found.append({"seq": seq} | self.build())
            seen.update(name.partition(".")[0] for name in found[-1]["read"])
            if step + 1 >= steps and len(seen) == workers:
                break
        return found

    def rule(self, count: int) -> None:
        """Lay down so many constraints, each of which is a change of one record."""
        for number in range(count):
            self.builder.constraints.set(self.thread, f"rule {self.number}.{number}", "说中文")

    def build(self) -> dict[str, Any]:
        """Build for the question, and return the ids of what was read, and of what is sent of it."""
        self.thread = Thread(THREAD, self.store.read_messages(TENANT, THREAD), tenant=TENANT)
        self.context = self.builder.build(self.thread, QUESTION, "Be brief.", include_current_input=True)
        sent = [part.seq for part in self.context.trace.parts if part.seq is not None]
        return {
            "read": [message.id for message in self.thread.messages],
            "sent": [self.thread.messages[seq].id for seq in sent],
            "failed": [miss for miss in self.context.trace.misses if miss.status == "failed"],
        }

    def finish(self) -> dict[str, Any]:
        """Build once more, and return the whole prompt, and whether the index is the one made anew."""
        built = self.build()
        state = self.builder._parts.selector._threads.get((TENANT, THREAD))
        fresh = ContextGatekeeper(token_counter=state.gatekeeper.token_counter)
        fresh.sync(state.last.history.past)
        summary = self.builder.summaries.get(self.thread)
        return built | {
            "prompt": [(message.role, message.text) for message in self.context.messages],
            "misses": self.context.trace.misses,
            "is_rebuilt": state_of(state.gatekeeper) == state_of(fresh),
            "constraints": dict(self.builder.constraints.of(self.thread)),
            "summary": summary and summary.text,
        }


def main(connection: Connection, place: str, number: int) -> None:
    """Do what comes until nothing comes any more."""
    worker = Worker(place, number)
    with closing(worker.store), suppress(EOFError):
        while True:
            name, *arguments = connection.recv()
            connection.send(getattr(worker, name)(*arguments))
