"""A conversation of 60 turns in two languages, and the prompts that a context builder makes of it.

In the checkout: pip install .
After the first release: pip install context-gatekeeper

Nothing is asked of a model: the answers are part of the script. A table for some of the prompts says what every part
costs, which messages are sent, which ones something else stands for, and how much of the prompt is the beginning of the
one before. The output is the same on every machine.
"""

from __future__ import annotations

from typing import Any

from gatekeeper_core import (
    BuiltContext,
    ContextBuilder,
    ContextBuilderConfig,
    InMemoryStore,
    Message,
    SystemPrompt,
    Thread,
    ThreadMemories,
    ToolCall,
)
from gatekeeper_core.context.history.strategies import HistoryConfig
from gatekeeper_core.context.prompt.result import BuildTrace, Fate
from gatekeeper_core.context.tool_results.compressor import ToolResultCompressor
from gatekeeper_core.storage.in_memory import InMemoryBlobStore

LOG = "calls the tool read_log"
"""Stands in the script where the assistant reads a log before it answers."""

SCRIPT = [
    # 1 to 12: a small service is planned.
    (
        "I want to build a small service that shortens links. Where do I start?",
        "With the routes: create, resolve, delete.",
    ),
    ("I prefer short answers with one example each.", "Understood: short, one example."),
    ("What does the create route take?", "POST /links with {url, days}; it gives back a code of seven letters."),
    ("代码里的注释请用英文写。", "好的，注释用英文。"),
    ("短码会不会重复？", "会，但很少：先查一次，重复就再生成一个。"),
    ("Which database fits?", "PostgreSQL: one table, links(code, url, expires_at), with code as the key."),
    ("Let's go with PostgreSQL 16.", "Decided: PostgreSQL 16, database linkbase, port 5441."),
    ("缓存要用吗？", "读多写少，用 Redis 缓存解析结果，过期时间 300 秒。"),
    ("How many links do we expect?", "You said two million in the first year; 16 GB on disk are plenty."),
    ("过期的链接怎么清理？", "每晚 03:15 跑一次清理任务，分批删除，每批 5000 条。"),
    ("Who may create links?", "Everybody with a token; the limit is 30 links a minute and token."),
    ("限流放在哪一层？", "放在网关，用 token 做键，超了返回 429。"),
    # 13 to 22: it is built.
    ("Which framework do we use?", "Starlette with uvicorn, four workers behind the gateway."),
    ("测试用什么？", "pytest，加上一个真实的 PostgreSQL 容器，不用假的。"),
    ("Write down the settings.", "LINKS_DATABASE_URL, LINKS_CACHE_URL, LINKS_TOKEN_FILE: from the environment only."),
    ("短码用哪些字符？", "23456789 和小写字母，去掉 l、o、i，一共 31 个。"),
    ("How is a link resolved?", "GET /{code}: the cache first, then the table; 302, or 404 where it is unknown."),
    ("统计点击数吗？", "统计，但异步：写进 clicks 表，每 10 秒一批。"),
    ("Is the click table partitioned?", "By month, and a partition is dropped after thirteen months."),
    ("镜像多大？", "Alpine 基础镜像，一共 84 MB。"),
    ("How do we version it?", "Tags such as v0.4.2; the image carries the same tag."),
    ("上线的窗口是什么时候？", "周二 10:00 到 12:00，先灰度 5 %。"),
    # 23 to 32: something else.
    ("New topic: my team wants a trip in June. Any idea?", "The lakes north of the city: two days, boats, a hut."),
    ("How many can sleep there?", "Eighteen, in three rooms; the hut is called Heron House."),
    ("有素食吗？", "有，店家提前三天通知就行。"),
    ("我对花生过敏，请记住。", "记住了，会和店家说明。"),
    ("What does a boat cost?", "45 a day and boat, six people each."),
    ("坐火车怎么去？", "8:12 从中央车站出发，湖区站下车，再走二十分钟。"),
    ("And if it rains?", "The hut has a stove, a library and a table for table tennis."),
    ("人均多少钱？", "两天人均 310 元，不含酒水。"),
    ("Who books it?", "Mara does, by the end of the week."),
    ("就这么定了，六月十四日出发。", "好，六月十四日，十八个人。"),
    # 33 to 46: back to the service, which is deployed and fails.
    ("Back to the service: the rollout is on Tuesday. What is left?", "The gateway rule, the dashboards, a dry run."),
    ("看板上要放哪些指标？", "请求数、p99、缓存命中率、429 的比例。"),
    ("What is a good p99?", "Below 40 ms from the cache, below 120 ms from the table."),
    ("告警发到哪里？", "发到 #links-oncall，夜里打电话给值班的人。"),
    ("Do the dry run, please: read the log of the staging host.", LOG),
    ("为什么失败？", "工作进程 7 连不上数据库：端口写成了 5432，应该是 5441。"),
    ("Fix the setting and run it again.", "Done: LINKS_DATABASE_URL has port 5441 now, and the second run is green."),
    ("灰度多久？", "5 % 一个小时，没有告警就到 50 %，再一个小时后全量。"),
    ("Who watches the rollout?", "Jun in the morning, Mara from noon on."),
    ("回滚要几分钟？", "三分钟：把标签换回 v0.4.1，数据库没有改动。"),
    ("Is there anything in the table that cannot go back?", "No: v0.4.2 adds one index and no column."),
    ("索引要锁表吗？", "不锁，用 CONCURRENTLY 建，大约 40 秒。"),
    ("Tell me when 50 % is reached.", "It was reached at 11:08, with a p99 of 31 ms."),
    ("缓存命中率呢？", "94 %，比预计高。"),
    # 47 to 54: small questions.
    ("New topic: how do I write a good commit message?", "One line of what changes, a blank one, then why."),
    ("用中文还是英文？", "跟着仓库走；你们的仓库是英文。"),
    ("How long is the first line?", "Up to 72 letters, in the imperative."),
    ("可以放表情符号吗？", "可以，但多数团队不用。"),
    ("What about ticket numbers?", "On the last line, so that the first one reads as a sentence."),
    ("要签名吗？", "开源项目一般要 Signed-off-by，公司内部看规定。"),
    ("And a merge commit?", "Say what the branch was for, not that it was merged."),
    ("好的，明白了。", "不客气。"),
    # 55 to 60: questions that go far back.
    ("说回短链接服务：数据库的端口是多少？", "5441。"),
    ("Which characters are in a code?", "The digits from 2 to 9 and small letters without l, o and i."),
    ("清理任务几点跑？", "每晚 03:15。"),
    ("Back to the trip: what is the hut called?", "Heron House."),
    ("花生过敏的事，要怎么跟店家说？", "提前三天写邮件：一人对花生过敏，请分开备餐。"),
    ("Back to the service: who watches the rollout in the morning?", "Jun."),
]

SHOWN = (8, 22, 37, 38, 55, 58, 59, 60)
"""Turns whose prompts are shown."""

AWAY = 58
"""The turn at which the store of memories does not answer."""


def log_text() -> str:
    """Return a log of 1,500 lines, one of which says what is wrong."""
    lines = [
        f"10:{at // 60:02}:{at % 60:02} INFO worker {at % 8} served GET /{at:05} in {at % 37} ms" for at in range(1500)
    ]
    lines[911] = "10:15:11 ERROR worker 7 cannot reach the database linkbase on port 5432: connection refused"
    return "\n".join(lines)


class Memories(InMemoryStore):
    """Long-term memories that are away for a while."""

    away = False

    def count_memories(self, *arguments: Any) -> Any:
        """Return what is counted, or fail."""
        if self.away:
            raise ConnectionError("no answer")
        return super().count_memories(*arguments)


def answer_to(turn: int) -> list[Message]:
    """Return what follows a question of the script: the answer, or a call, its result and the answer."""
    _, answer = SCRIPT[turn - 1]
    if answer != LOG:
        return [Message("assistant", answer)]
    call = ToolCall("call-1", "read_log", '{"host": "staging"}')
    found = "The dry run failed: worker 7 cannot reach the database linkbase on port 5432."
    return [
        Message("assistant", "", tool_calls=(call,)),
        Message("tool", log_text(), tool_call_id=call.id),
        Message("assistant", found),
    ]


def table(title: str, context: BuiltContext) -> str:
    """Return what a prompt is made of."""
    trace, counts = context.trace, context.metadata
    lines = [title, f"  {'part':<18}{'tokens':>6}{'share':>9}"]
    for part, tokens in context.token_stats._asdict().items():
        if tokens:
            lines.append(f"  {part:<18}{tokens:>6,}{tokens / trace.budget_tokens:>9.1%}")
    missed = [f"{miss.part} ({miss.status})" for miss in trace.misses]
    facts = {
        "messages sent": f"{counts.included_message_count} of {trace.fates[-1].stop}",
        "shortened": places(trace, "changed"),
        "in the summary": places(trace, "summary"),
        "memories sent": str(counts.retrieved_memory_count),
        "left out": places(trace, "left_out"),
        "given up": ", ".join(trace.given_up) or "none",
        "missed": ", ".join(missed) or "none",
        "same beginning": f"{trace.prefix_tokens:,} tokens, {trace.prefix_share:.0%} of the prompt",
    }
    return "\n".join([*lines, *(f"  {name:<18}{fact}" for name, fact in facts.items())])


def places(trace: BuildTrace, fate: Fate) -> str:
    """Return the messages that share a fate, as they are read: first and last."""
    found = [(one.start, one.stop - 1) for one in trace.fates if one.fate == fate]
    return ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in found) or "none"


def main() -> None:
    """Go through the conversation, and print a table for some of the prompts."""
    store = Memories()
    memories = ThreadMemories(InMemoryBlobStore(), secret=b"a secret of this example")
    builder = ContextBuilder(
        ContextBuilderConfig(
            total_budget=1_000,
            history=HistoryConfig(keep_newest=3, passthrough_below=0),
            memory_categories=(),
            cache_friendly=True,
            locale="en",
        ),
        tool_results=ToolResultCompressor(working_memory=memories),
        session_key=b"a key of this example",
    )
    said: list[Message] = []
    totals: list[int] = []
    for turn, (question, _) in enumerate(SCRIPT, 1):
        store.away = turn == AWAY
        rules = SystemPrompt("You help an engineer. Be exact.", volatile=f"This is turn {turn}.")
        for message in (Message("user", question), *answer_to(turn)):
            said.append(message)
            if message.role == "assistant":
                continue  # what the model said: it is asked again after the next question or result
            thread = Thread("links", tuple(said), user="rui")
            if turn == 4:
                builder.constraints.set(thread, "comments in code", "English")
            context = builder.build(thread, question, rules)
            totals.append(context.token_stats.total)
            if turn in SHOWN:
                asked = question if message.role == "user" else "after the tool has answered"
                print(table(f"turn {turn}: {asked}", context) + "\n")

    whole = builder.token_counter("\n".join(message.text for message in said))
    print(f"The conversation: {whole:,} tokens. The longest of {len(totals)} prompts: {max(totals):,}.")


if __name__ == "__main__":
    main()
