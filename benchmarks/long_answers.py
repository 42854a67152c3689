"""Long answers: does the one sentence that a question needs get through every door, and at how many tokens?

Run ``python -m benchmarks.long_answers [--counter cl100k] [--talks 20] [--coverage 0.85] [--whole]``. Each conversation
has six turns whose answers are thirty sentences long, in Chinese, English or both; the question goes back to one
sentence of one of them, never of the newest. What is measured is the past that is sent: through ``select_history``, the
LangChain middleware, the LlamaIndex memory and the context builder. ``--whole`` sends whole messages (``trim=False``).

* **needed**: conversations in which a message of the needed turn is sent; **sentence**: in which its sentence is.
* **tokens**: mean of the past that is sent; **turns**: how many turns that is.

The conversations are made here, from a seed.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.budget import counter
from benchmarks.report import print_table, write_json
from gatekeeper_core import (
    ContextBuilder,
    ContextBuilderConfig,
    ContextGatekeeper,
    GatekeeperConfig,
    HistoryConfig,
    Message,
    select_history,
)
from gatekeeper_core.messages import group_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Counter = Callable[[str], int]
    Row = dict[str, Any]

SEED = 20_261_122
SENTENCES = 30
TURNS = 6
BUDGET = 4000


class Subject(NamedTuple):
    """A topic.

    Attributes:
        name: what it is called.
        opening: how the user opens it.
        question: a question that goes back to it.
        fact: the sentence that answers that.
        things: what the rest of the answer is about, with ``|`` between.
    """

    name: str
    opening: str
    question: str
    fact: str
    things: str


class LongTalk(NamedTuple):
    """A conversation, the turn that the question needs, and the sentence in it."""

    language: str
    messages: tuple[Message, ...]
    needed: int
    fact: str


_ENGLISH = (
    Subject(
        "dishwasher",
        "How do I look after our dishwasher?",
        "How much salt did the dishwasher need?",
        "Fill in 1.2 kg of salt the first time.",
        "filter|spray arm|rinse aid|cutlery basket|drain hose|door seal|lower rack|limescale|tablet|short programme",
    ),
    Subject(
        "passport",
        "What do I need for a new passport?",
        "What was the fee for the passport?",
        "The fee comes to 82 francs, by card only.",
        "photo|form|counter|appointment|birth certificate|signature|town hall|fingerprint|old booklet|residence permit",
    ),
    Subject(
        "espresso machine",
        "Can you explain our espresso machine?",
        "At what pressure does the espresso machine brew?",
        "The brewing pressure is set to 9 bar at the pump.",
        "portafilter|grinder|milk jug|steam wand|tamper|crema|drip tray|roast|boiler|water tank",
    ),
    Subject(
        "road bike",
        "I bought a used road bike, what now?",
        "At how much wear did I have to change the bike chain?",
        "Change the chain at 0.75 millimetres of wear.",
        "saddle|handlebar|brake pad|derailleur|tyre|spoke|bottle cage|pedal|cable|headset",
    ),
    Subject(
        "aquarium",
        "We are setting up an aquarium, any advice?",
        "What temperature should the aquarium have?",
        "Keep the temperature at 25.5 degrees day and night.",
        "gravel|snail|pump|algae|neon tetra|moss|heater|glass cover|nitrite|driftwood",
    ),
    Subject(
        "mortgage",
        "How does our mortgage work?",
        "When does the fixed rate of the mortgage end?",
        "The fixed rate ends on 14 March 2031.",
        "lender|instalment|land register|notary|down payment|appraisal|interest|penalty|insurance|amortisation",
    ),
    Subject(
        "violin",
        "My daughter starts with the violin, what matters?",
        "Which size of violin did the teacher measure?",
        "The teacher measured her arm and wrote down size 3/4.",
        "bow|rosin|chin rest|string|peg|shoulder pad|scale|music stand|fingerboard|orchestra",
    ),
    Subject(
        "projector",
        "How do I hang the projector?",
        "What distance did the projector need from the wall?",
        "For a picture of two metres it needs a distance of 2.65 metres.",
        "lens|ceiling bracket|screen|HDMI cable|lamp|keystone|remote|fan|dowel|curtain",
    ),
)
_CHINESE = (
    Subject(
        "洗碗机",
        "家里的洗碗机平时怎么保养？",
        "洗碗机第一次要加多少盐来着？",
        "第一次要加一点二公斤专用盐。",
        "滤网|喷臂|漂洗剂|餐具篮|排水管|门封条|下层碗架|水垢|洗涤块|快洗程序",
    ),
    Subject(
        "护照",
        "换新护照要准备什么？",
        "办护照的工本费是多少？",
        "工本费一百二十元，只能刷卡。",
        "证件照|申请表|出入境大厅|预约号|户口本|签名栏|指纹|旧本子|身份证|回执单",
    ),
    Subject(
        "咖啡机",
        "能讲讲这台咖啡机怎么用吗？",
        "咖啡机的萃取压力是多少？",
        "萃取压力出厂设在九巴。",
        "手柄|磨豆盘|奶缸|蒸汽棒|压粉锤|油脂|接水盘|烘焙度|锅炉|水箱",
    ),
    Subject(
        "公路车",
        "刚买了辆二手公路车，先做什么？",
        "公路车的链条磨损到多少就得换？",
        "链条磨损到零点七五毫米就得换。",
        "坐垫|车把|刹车片|变速器|外胎|辐条|水壶架|脚踏|线管|碗组",
    ),
    Subject(
        "鱼缸",
        "想养一缸鱼，鱼缸怎么开？",
        "鱼缸的水温要控制在几度？",
        "水温昼夜都控制在二十五度半。",
        "底砂|苹果螺|过滤泵|藻类|灯科鱼|莫斯|加热棒|玻璃盖|亚硝酸盐|沉木",
    ),
    Subject(
        "房贷",
        "我们这笔房贷是怎么算的？",
        "房贷的固定利率到哪天为止？",
        "固定利率到二〇三一年三月十四日为止。",
        "银行经理|月供|不动产登记|公证处|首付款|评估报告|利息|违约金|保险单|还款计划",
    ),
    Subject(
        "小提琴",
        "女儿要学小提琴，该注意什么？",
        "老师量下来小提琴要买多大的？",
        "老师量了手臂，要买四分之三的琴。",
        "琴弓|松香|腮托|琴弦|弦轴|肩垫|音阶|谱架|指板|乐团",
    ),
    Subject(
        "投影仪",
        "投影仪怎么装到天花板上？",
        "投影仪离墙要多远？",
        "投两米宽的画面，离墙要二米六五。",
        "镜头|吊架|幕布|高清线|灯泡|梯形校正|遥控器|风扇|膨胀螺丝|遮光窗帘",
    ),
)
_MIXED = (
    Subject(
        "Grafana",
        "Grafana 的看板应该怎么搭？",
        "Grafana 的 alert 阈值设的是多少？",
        "alert 的阈值设成 p95 超过 840 ms。",
        "dashboard|panel|data source|折线图|模板变量|time range|告警通道|annotation|folder 权限|plugin",
    ),
    Subject(
        "Kafka",
        "我们的 Kafka 集群怎么规划？",
        "Kafka 的每个 topic 分多少 partition？",
        "每个 topic 先分 24 个 partition。",
        "broker|consumer group|offset|生产者|副本|rebalance|消息体|schema|磁盘|控制器",
    ),
    Subject(
        "registry",
        "私有的 Docker registry 怎么搭？",
        "registry 里旧的 image 保留几天？",
        "旧的 image 保留 45 天再清理。",
        "layer|tag|镜像扫描|manifest|登录 token|构建机|Dockerfile|blob 存储|推送流水线|base 镜像",
    ),
    Subject(
        "Nginx",
        "Nginx 前面要配哪些东西？",
        "Nginx 的 upstream timeout 是多少？",
        "upstream 的 timeout 定为 37 秒。",
        "server block|证书|location 规则|gzip|access log|反向代理|静态文件|HTTP/2|限流|worker",
    ),
    Subject(
        "NAS",
        "家里的 NAS 怎么做备份？",
        "NAS 的 backup 几点开始跑？",
        "backup 每晚 03:40 开始跑。",
        "硬盘位|RAID|共享文件夹|snapshot|USB 盘|相册|UPS|rsync 任务|权限组|散热",
    ),
    Subject(
        "VPN",
        "公司的 VPN 怎么接？",
        "VPN 用的是哪个 port？",
        "VPN 走 UDP 的 51822 port。",
        "客户端|WireGuard|公钥|路由表|split tunnel|双因素验证|内网 DNS|手机配置|防火墙规则|endpoint",
    ),
)

_FILLER_EN = (
    "Take your time with the {a} at the beginning.", "Most people forget the {a} within a week.",
    "The {a} deserves a look before the {b}.", "A clean {a} saves a lot of trouble later.",
    "Do not touch the {a} before you know it well.", "If the {a} looks odd, check the {b} first.",
    "Small mistakes with the {a} are easy to put right.", "Write down what happened to the {a} and when.",
    "With a {x} the {a} counts for more than talent.", "A cheap {a} often costs more in the end.",
    "Ask for the leaflet about the {a}.", "Keep everything about the {a} in one folder.",
    "Some see to the {a} every evening, others once a month.", "In winter the {a} needs more patience.",
    "Children may watch the {a} from a distance.", "The first {a} hardly ever turns out as planned.",
    "Later on you may want a better {a}.", "A second pair of hands helps with the {a}.",
    "Never force the {a}.", "For the {a} an old one is good enough.",
    "Have the {a} and the {b} ready before you begin.", "What is left of the {a} belongs in a labelled box.",
    "Friends will gladly show you their {a}.", "There are good videos about the {a}, too.",
    "Put the {a} of your {x} into the calendar.", "After a year you will laugh about the {a}.",
    "The {a} annoys the neighbours now and then.", "Take a photograph of the {a} while you can.",
    "Finally, do not worry about the {a} too much.",
)  # fmt: skip
_FILLER_ZH = (
    "{a}这块一开始不用着急。", "{a}最容易被人忘掉。", "先看{a}，再看{b}。", "{a}弄干净能省很多麻烦。",
    "没摸透之前别动{a}。", "{a}看着不对，就先查{b}。", "{a}上的小差错容易补救。", "{a}改过什么、哪天改的都记下来。",
    "{x}里{a}比别的都重要。", "便宜的{a}往往最后更贵。", "可以问问有没有讲{a}的单页。", "跟{a}有关的都放进一个文件夹。",
    "{a}有人每晚看一次，有人一个月一次。", "冬天{a}要多些耐心。", "{a}让孩子远远看着就好。", "头一回弄{a}很少顺利。",
    "以后也许想换更好的{a}。", "{a}最好有人搭把手。", "{a}不要硬来。", "{a}用旧的就够了。",
    "动手之前把{a}和{b}备齐。", "{a}剩下的放进贴好标签的盒子。", "朋友会乐意给你看看{a}。", "讲{a}的视频也有不错的。",
    "在日历里给{x}的{a}加个提醒。", "一年以后回头看{a}会觉得好笑。", "{a}有时会吵到邻居。", "趁现在给{a}拍张照片。",
    "最后，{a}也别太操心。",
)  # fmt: skip
_LANGUAGES = {"zh": (_CHINESE, _FILLER_ZH), "en": (_ENGLISH, _FILLER_EN), "mixed": (_MIXED, _FILLER_ZH)}


def long_talks(count: int = 20) -> list[LongTalk]:
    """Return conversations with answers of thirty sentences, in the three languages by turns."""
    chance = random.Random(SEED)
    return [_talk(list(_LANGUAGES)[at % len(_LANGUAGES)], chance) for at in range(count)]


def _talk(language: str, chance: random.Random) -> LongTalk:
    subjects, filler = _LANGUAGES[language]
    chosen = chance.sample(subjects, TURNS)
    needed = chance.randrange(TURNS - 1)
    messages = []
    for subject in chosen:
        said = []
        for sentence in chance.sample(filler, SENTENCES - 1):
            one, other = chance.sample(subject.things.split("|"), 2)
            said.append(sentence.format(x=subject.name, a=one, b=other))
        said.insert(chance.randrange(len(said)), subject.fact)
        messages += [Message("user", subject.opening), Message("assistant", (" " * (language == "en")).join(said))]
    messages.append(Message("user", chosen[needed].question))
    return LongTalk(language, tuple(messages), needed, chosen[needed].fact)


# --- the doors --------------------------------------------------------------------------------------------------------


def through_history(talk: LongTalk, count: Counter, *, gatekeeper: GatekeeperConfig) -> list[str]:
    """Return the texts of the past that ``select_history`` sends."""
    config = HistoryConfig(token_budget=BUDGET, passthrough_below=0, run=None)
    selector = ContextGatekeeper(config=gatekeeper, token_counter=count)
    view = select_history(talk.messages, gatekeeper=selector, config=config)
    replaced = dict(view.replaced)
    return [replaced.get(at, talk.messages[at]).text for at in view.kept][:-1]


def through_middleware(talk: LongTalk, count: Counter, *, gatekeeper: GatekeeperConfig) -> list[str]:
    """Return the texts of the past that the LangChain middleware sends."""
    from langchain.agents.middleware import ModelRequest, ModelResponse
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.messages import AIMessage, HumanMessage

    from langchain_gatekeeper import GatekeeperMiddleware

    kinds = {"user": HumanMessage, "assistant": AIMessage}
    messages: list[Any] = [kinds[message.role](message.text) for message in talk.messages]
    empty: dict[str, Any] = {"system_prompt": None, "tool_choice": None, "tools": [], "response_format": None}
    model, empty["state"] = FakeListChatModel(responses=["ok"]), {"messages": messages}
    request = ModelRequest(model=model, messages=messages, runtime=None, **empty)
    seen: list[Any] = []

    def handler(sent: ModelRequest[Any]) -> ModelResponse[Any]:
        seen.extend(sent.messages)
        return ModelResponse(result=[AIMessage("ok")])

    config = HistoryConfig(token_budget=BUDGET, gatekeeper=gatekeeper)
    GatekeeperMiddleware(config, token_counter=count, embedder=None).wrap_model_call(request, handler)
    return [str(message.content) for message in seen][:-1]


def through_memory(talk: LongTalk, count: Counter, *, gatekeeper: GatekeeperConfig) -> list[str]:
    """Return the texts of the past that the LlamaIndex memory gives."""
    from llama_index.core.base.llms.types import ChatMessage

    from llama_index.memory.gatekeeper import GatekeeperMemoryBuffer

    said = [ChatMessage(message.text, role=message.role) for message in talk.messages]
    config = HistoryConfig(token_budget=BUDGET, gatekeeper=gatekeeper)
    memory = GatekeeperMemoryBuffer.from_defaults(
        said, tokenizer_fn=lambda text: [0] * count(text), config=config, embedder=None
    )
    return [message.content or "" for message in memory.get()][:-1]


def through_builder(talk: LongTalk, count: Counter, *, gatekeeper: GatekeeperConfig) -> list[str]:
    """Return the texts of the past that the context builder sends."""
    from gatekeeper_core import Thread

    history = HistoryConfig(gatekeeper=gatekeeper)
    config = ContextBuilderConfig(history=history, enable_summary=False)
    builder = ContextBuilder(config, token_counter=count)
    built = builder.build(Thread("t", talk.messages), talk.messages[-1].text, "")
    return [
        message.text
        for message, part in zip(built.messages, built.trace.parts, strict=True)
        if part.part == "recent_messages"
    ]


DOORS: dict[str, Callable[..., list[str]]] = {
    "select_history": through_history,
    "GatekeeperMiddleware": through_middleware,
    "GatekeeperMemoryBuffer": through_memory,
    "ContextBuilder": through_builder,
}


def measured(
    talks: Sequence[LongTalk], door: Callable[..., list[str]], count: Counter, *, gatekeeper: GatekeeperConfig
) -> Row:
    """Return what a door sends of the past, over all conversations."""
    needed = sentence = tokens = turns = 0
    for talk in talks:
        sent = door(talk, count, gatekeeper=gatekeeper)
        opening = group_turns(talk.messages)[talk.needed].user_text
        needed += opening in sent
        sentence += any(talk.fact in text for text in sent)
        tokens += sum(map(count, sent))
        turns += sum(message.role == "user" and message.text in sent for message in talk.messages[:-1])
    size = len(talks)
    return {"talks": size, "needed": needed, "sentence": sentence, "tokens": tokens / size, "turns": turns / size}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--talks", type=int, default=20)
    parser.add_argument("--counter", choices=("estimate", "cl100k"), default="estimate")
    parser.add_argument("--coverage", type=float, default=GatekeeperConfig().coverage)
    parser.add_argument("--whole", action="store_true", help="send whole messages")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table, for a page")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    chosen = parser.parse_args()
    talks, count = long_talks(chosen.talks), counter(chosen.counter)
    config = GatekeeperConfig(trim=not chosen.whole, coverage=chosen.coverage)
    rows = [{"door": name, **measured(talks, door, count, gatekeeper=config)} for name, door in DOORS.items()]
    print_table("Answers of thirty sentences: the past that is sent", rows, markdown=chosen.markdown)
    everything = sum(count(message.text) for talk in talks for message in talk.messages[:-1]) / len(talks)
    print(f"\n{len(talks)} conversations, {everything:.0f} tokens of history each, counted by {chosen.counter}")
    write_json(chosen.json, "long_answers", {"counter": chosen.counter, "talks": len(talks)}, {"doors": rows})


if __name__ == "__main__":
    main()
