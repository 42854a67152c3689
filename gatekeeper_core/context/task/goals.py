"""Requests read from the wording of a user's message, in Chinese and English.

A request is an imperative ("write the tests", 帮我写测试) or a question that asks for something. Greetings, thanks and
"ok" are none; quoted lines and code blocks are not the user's own words. A request that these tables miss is still in
the conversation, only the pin's status lacks it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gatekeeper_core.selection.anchors import count_terms
from gatekeeper_core.selection.cues import read_cues
from gatekeeper_core.selection.lexicon import HAN_LIGHT, HAN_PARTICLES
from gatekeeper_core.text import LazyPattern, code_fences, is_han, is_question, sentences

__all__ = ["Asked", "extract_goal", "read_request"]

_END_CHARS = 2_000
"""Characters read at each end of a long message. Source: ours."""

_MAX_OPENINGS = 6


class Asked(NamedTuple):
    """What a message asks for.

    Attributes:
        text: the request in the user's words, on one line.
        explicit: whether the message announces a new goal ("new task: …", 先不做这个，改成…).
        correction: whether it says that the last answer misunderstood the user; that is no new goal.
        switch: whether its wording changes the topic ("new topic", 换个话题).
    """

    text: str
    explicit: bool = False
    correction: bool = False
    switch: bool = False


def extract_goal(text: str) -> str | None:
    """Return the request of a user's message, or None where it asks for nothing.

    It is the message from its first asking sentence on, without what opens it ("ok, now"), quoted lines, code blocks
    and thanks at its end. Of a long message the first and the last 2,000 characters are read.

    Raises:
        TypeError: ``text`` is no str.

    Source: specification 004-64; the wordings are ours.

    >>> extract_goal("好的，谢谢。现在帮我写一个部署脚本"), extract_goal("ok, thanks!")
    ('帮我写一个部署脚本', None)
    """
    asked = read_request(text)
    return asked.text if asked else None


def read_request(text: str) -> Asked | None:
    """Return what a user's message asks for and how it stands to the goal before, or None where it asks for nothing.

    >>> read_request("Forget that, translate the manual instead.")
    Asked(text='translate the manual instead.', explicit=True, correction=False, switch=False)
    >>> read_request("不对，我问的是端口怎么改？").correction
    True
    """
    kept, at = [], 0
    for span in code_fences(text):
        kept.append(text[at : span.start])
        at = span.stop
    lines = "\n".join([*kept, text[at:]]).splitlines()
    words = "\n".join(line for line in lines if not line.lstrip().startswith((">", "＞")))
    if len(words) > 2 * _END_CHARS:
        words = f"{words[:_END_CHARS]}\n{words[-_END_CHARS:]}"
    explicit = False
    for span in sentences(words):
        start, changes = _new_goal(words, _after_openings(words, span.start, span.stop), span.stop)
        explicit = explicit or changes
        if start is None and not changes:
            start = _request_start(words, span.start, span.stop)
        if start is None:
            continue
        asked = words[start:]
        for last in reversed(sentences(asked)):  # thanks at the end
            if _after_openings(asked, last.start, last.stop) < last.stop:
                break
            asked = asked[: last.start]
        if asked := " ".join(asked.split()):
            cues = read_cues(words)
            return Asked(asked, explicit, cues.correction is not None, cues.switch is not None)
    return None


# --- Openings ---------------------------------------------------------------------------------------------------------

_MARKS = " \t\r\n\u3000,.!?;:\u2014\u2013~-*#\u2026，。！？；：、～（）()\"'“”"
_OPENING = LazyPattern(
    r"(?:ok|okay|yes|yeah|yep|sure|right|great|cool|nice|perfect|good|fine|thanks|thank you|thx|hi|hello|hey"
    r"|good (?:morning|afternoon|evening)|dear all|well|so|and|but|or|then|now|also|first|finally|please|pls"
    r"|next(?! (?:task|goal|job))|kindly|no|nope|actually|hmm|wait|sorry|instead|again|oh|by the way|btw|bye"
    r"|goodbye|very much|a lot|so much)(?![\w'\-])"
    r"|(?:好|对|行|嗯|嗯嗯|可以|不|不是|没问题)(?=[\s,.!，。！、]|\Z)"
    r"|好的|好吧|好啊|好呀|对了|是的|明白了|知道了|了解了|谢谢(?:你|您)?|多谢|感谢|辛苦了|你好(?=[\s,.!，。！、]|\Z)|您好|早上好|下午好|晚上好"
    r"|不对|算了|等等|等一下|那么|那(?![个些里边种样是天时次年])|然后|接着(?!之)|接下来|现在|首先|最后|另外|还有|顺便|下面|麻烦(?:你|您)?|劳烦|拜托"
    r"|请问|请(?![假柬客示求])|先(?![生前后进天])|再(?![见也次说])|继续|[你您](?=帮|来|把|去|给|先|再)",
    re.IGNORECASE,
)


def _after_openings(words: str, at: int, stop: int) -> int:
    """Return where a sentence begins behind marks and words that only open it."""
    for _ in range(_MAX_OPENINGS):
        while at < stop and words[at] in _MARKS:
            at += 1
        opening = _OPENING.match(words, at, stop)
        if opening is None:
            break
        at = opening.end()
    return at


# --- Questions and imperatives --------------------------------------------------------------------------------------

_WANTS = LazyPattern(
    r"(?:(?:i|we)(?:'d like|'m looking for|'re looking for| would like| am looking for| are looking for| want| need)"
    r"|(?:i'm|i am|we are|we're) trying to|let's|let us|lets|help|make sure|don't|do not|never(?! mind)"
    r"|you (?:should|must|need to)|(?:the|my|our|your) (?:task|goal|job) is(?: now)? to)\s+\w",
    re.IGNORECASE,
)
_VERBS = """
add adjust analyse analyze apply arrange ask avoid book build calculate change check choose clean close collect
combine compare compile compute configure connect convert copy correct count create debug define delete deploy
describe design disable document download draft drop draw edit enable estimate evaluate examine explain export extend
extract figure fill find fix format gather generate get give go group guide handle highlight identify implement import
improve include inspect install integrate investigate keep link list load look make measure merge migrate modify move
name open optimise optimize order organise organize outline parse pick plan prepare print profile propose prove
provide publish put read rebuild recommend record redo reduce refactor refine release remember remind remove rename
reorder replace report reproduce research reset resolve restart restore restructure review revise rewrite run save
schedule search select send set setup share shorten show simplify sketch skip solve sort split start stop suggest sum
summarise summarize swap switch tell test trace track train transform translate try turn uninstall update upgrade
upload use validate verify visualise visualize walk watch wrap write
"""
_IMPERATIVE = LazyPattern(
    rf"(?:{'|'.join(_VERBS.split())})"
    r"\s+(?!(?:is|are|was|were|has|have|had|fails|failed|passed|passes|works|worked|looks|seems|results?|did|does|will"
    r"|would|can|could)(?![\w'\-]))[^\s:]",
    re.IGNORECASE,
)
# Guards: verbs that were done, and nouns that begin with the same characters (用户, 做法, 测试通过).
_IMPERATIVE_HAN = LazyPattern(
    r"帮(?![助派])|给(?![力了出])|[我我们]{1,2}(?:想要?|要|需要|希望|打算)(?![说是指强])|(?:我们|咱们)来|让我们|想要|需要|希望|把|将(?![来会近军要])"
    r"|别(?![的人墅])|不要|务必|(?:目标|任务)是|(?:我们|咱们)?改[成为做用]|换[成做]|转而|告诉我|教(?:我|我们)|(?:讲|说|聊|谈)(?:讲|说|聊|谈|一下|下|一说)"
    r"|(?:翻译|生成|创建|实现|添加|增加|删除|修复|修改|更新|优化|重构|分析|解释|介绍|总结|概括|整理|比较|对比|检查|测试|运行|执行|部署|安装|配置|设置"
    r"|设计|编写|起草|撰写|推荐|建议|列出|计算|转换|提取|搜索|查找|查询|查看|调试|排查|说明|描述|评估|规划|制定|准备|安排|完成|处理|解决|合并|拆分"
    r"|移动|替换|导出|导入|下载|上传|提供|确认|验证|重写|润色|缩短|扩展|展示|显示|找出|列一|写出|改写|统计|画出|做出|打开|关闭|启动|停止|回答)"
    r"(?!了|过|得|的|是|着|完|已|后|前|时|中|失败|成功|通过|报错|出错|结果|人员|团队|正常|没|有)\s?\w"
    r"|(?:写(?![作法得了过着完])|画(?![面家展质得了过])|做(?![法工得了过完的])|修(?![养行仙了过])|用(?![户途处法量例的了过来]))\s?\w"
    r"|[查找看算列加删改建跑译试](?:[一个下出份张条]|(?<=看)看|(?<=查)查|(?<=找)找|(?<=算)算|(?<=试)试)(?![了过])"
)
_IMPERATIVE_ENDING = LazyPattern("(?:ください|下さい|お願いします|주세요|십시오|해줘)[\\s.。!！]*\\Z")
_LONGEST_ENDING = 12
_POLITE = LazyPattern(r"(?:please|pls|kindly)(?!\w)|请|麻烦|劳烦|拜托", re.IGNORECASE)
_COMMA = LazyPattern("[,，;；、]")


def _request_start(words: str, start: int, stop: int) -> int | None:
    """Return where the request of a sentence begins: at its first word, or behind a comma (太慢了，帮我优化一下)."""
    at = _after_openings(words, start, stop)
    sentence = words[at:stop]
    asks = _WANTS.match(sentence) or _IMPERATIVE.match(sentence) or _IMPERATIVE_HAN.match(sentence)
    asks = asks or _IMPERATIVE_ENDING.search(sentence, max(0, len(sentence) - _LONGEST_ENDING))
    if (asks or is_question(sentence) or _POLITE.search(words, start, at)) and _says_something(sentence):
        return at
    for comma in _COMMA.finditer(words, at, stop):
        clause = _after_openings(words, comma.end(), stop)
        asks = _WANTS.match(words, clause, stop) or _IMPERATIVE_HAN.match(words, clause, stop)
        if asks or _POLITE.search(words, comma.end(), clause):
            # Where this says nothing, no later clause does.
            return clause if _says_something(words[clause:stop]) else None
    return None


def _says_something(sentence: str) -> bool:
    """Return whether words are left besides function words: "why?" and 好吗 ask for nothing new."""
    if any(not is_han(char) for term in count_terms(sentence) for char in term):
        return True
    return sum(is_han(char) and char not in HAN_LIGHT and char not in HAN_PARTICLES for char in sentence) > 1


# --- Explicit changes of the goal -----------------------------------------------------------------------------------

# What follows such a label is the goal, whatever its form.
_LABEL = LazyPattern(
    r"(?:(?:my|your|the|our|a) )?(?:new|next|different|another) (?:task|goal|job|assignment|objective)"
    r"(?:\s*[:：,，.。;\u2014\u2013-]|\s+is(?: now| to|\s*[:：]))"
    r"|(?:the|my|our|your) (?:task|goal|objective) (?:is now|has changed to)(?: to)?"
    r"|新的?(?:任务|目标)(?:是|[\s:：,，。])|(?:任务|目标)(?:改成|改为|变成|变为|换成)了?|(?:换个|换一个|下一个)任务(?=[\s:：,，。])",
    re.IGNORECASE,
)
# What follows such a wording is a goal if it asks for something.
_DROP = LazyPattern(
    r"(?:(?:let's |lets )?(?:forget|scrap|drop|abandon|cancel|skip|leave|stop|pause)(?: about)?"
    r" (?:that|this|it|the (?:current |old |previous |first )?(?:task|plan|goal))"
    r"|never ?mind(?: (?:that|this|it))?|change of plans?"
    r"|(?:don't|do not|stop) (?:do|doing|work on|working on) (?:that|this|it))"
    r"(?: any ?more)?(?: for now)?(?=\s*(?:[,，.。;；:：!！\u2014\u2013-]|and\b|instead\b|then\b|\Z))"
    r"|(?:(?:先不|先别|先不要|暂时不|别|不|不用|不要)(?:做|弄|搞|管|写|继续)(?:这个|那个|这件事|这项|它|了)(?:任务|功能)?了?"
    r"|不(?:做|弄|搞|管|写|用|继续)(?:这个|那个|这件事|这项|它|了)(?:任务|功能)?了?"
    r"|(?:放弃|取消|暂停|停止)(?:这个|那个|当前|当前的|现在的|目前的)?(?:任务|计划|目标)|计划(?:有变|变了)|改变计划|我?改主意了)"
    r"(?=\s*(?:[,，.。;；:：!！、]|改|换|转|先|来|去|我们|现在|帮|请|\Z))",
    re.IGNORECASE,
)
_TURN_TO = LazyPattern(r"(?:我们|咱们)?(?:改[成为做]|换[成做]|转而|转去|先去?|来|去)(?=\w)")


def _new_goal(words: str, at: int, stop: int) -> tuple[int | None, bool]:
    """Return where a goal begins that the sentence calls a new one, if it does, and whether the old one is dropped."""
    if label := _LABEL.match(words, at):
        start = _after_openings(words, label.end(), len(words))
        return (start if _says_something(words[start:]) else None), True
    drop = _DROP.match(words, at, stop)
    if drop is None:
        return None, False
    rest = _after_openings(words, drop.end(), stop)
    if turn := _TURN_TO.match(words, rest, stop):
        return (turn.end() if _says_something(words[turn.end() : stop]) else None), True
    return _request_start(words, drop.end(), stop), True
