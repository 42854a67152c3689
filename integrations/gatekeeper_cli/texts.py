"""What the command says, in English and in Chinese: one table, and which language is meant.

Messages of the conversation are never translated, and neither are errors, help and JSON.
"""

from __future__ import annotations

import locale
import os
import re
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ENGLISH", "GATE_REASONS", "TABLE", "WHY_WORDS", "Language", "Texts", "language_of", "texts_for"]


class Language(str, Enum):
    """A language of the output; ``auto`` is that of the locale."""

    auto = "auto"
    en = "en"
    zh = "zh"


GATE_REASONS = {
    "first_turn": ("nothing was said before", "之前没有对话"),
    "no_anchors": ("nothing in it to look up", "没有可查找的内容"),
    "about_conversation": ("asks about the conversation itself", "问的是对话本身"),
    "explicit_switch": ("the user says so", "用户明确说要换"),
    "explicit_return": ("the user asks to go back", "用户要求回到之前"),
    "referring_word": ("points back", "指代前文"),
    "overlap": ("shares enough with the latest turns", "与最近几轮重合较多"),
    "ambiguous": ("no clear signal", "没有明显信号"),
    "new_topic": ("shares little with the latest turns", "与最近几轮重合很少"),
    "return": ("an earlier turn fits better", "更像之前的某一轮"),
}
"""What each reason of the gate means, by the reason's name: in English, in Chinese."""

WHY_WORDS = {
    "evidence": ("evidence", "有证据"),
    "newest_turn": ("the question follows on from it", "问题接着这一轮"),
    "earlier_turn": ("further back, same thread of questions", "更早，属于同一串追问"),
    "later_turn": ("changed the evidence later", "后来又改了证据"),
    "overview": ("overview", "概览"),
    "neighbour": ("fills the budget", "用来填满预算"),
    "little_evidence": ("shares too little with the question", "与问题的共同点太少"),
    "no_shared_anchor": ("shares nothing with the question", "与问题没有共同点"),
    "not_a_candidate": ("other turns match better", "其他轮次更匹配"),
    "enough": ("enough without it", "没有它也够"),
    "no_room": ("no room in the budget", "预算放不下"),
    "repeat": ("repeats another turn", "与另一轮重复"),
}
"""What each reason of a decision means, by the reason's name: in English, in Chinese."""

TABLE: Mapping[str, tuple[str, str]] = {
    # --- what several commands say
    "outcome.kept": ("kept", "保留"),
    "outcome.trimmed": ("trimmed", "裁剪"),
    "outcome.dropped": ("dropped", "未选"),
    "stage.recall": ("recall", "召回"),
    "stage.link": ("link", "承接"),
    "stage.cover": ("cover", "覆盖"),
    "stage.overview": ("overview", "概览"),
    "turn": ("turn", "轮次"),
    "turns": ("turns", "轮数"),
    "topic": ("topic", "话题"),
    "tokens": ("tokens", "token"),
    "part": ("part", "保留方式"),
    "whole": ("whole", "整轮"),
    "why": ("why", "原因"),
    "begins_with": ("begins with", "开头"),
    "outcome": ("outcome", "结果"),
    "stage_why": ("stage: why", "阶段：原因"),
    "score": ("score", "得分"),
    "shared": ("shared", "共同锚点"),
    "kept_with": ("kept with", "保留条件"),
    "saved": ("saved", "节省"),
    "question": ("question", "问题"),
    "gate": ("topic decision", "话题判断"),
    "none": ("none", "无"),
    "comma": (", ", "、"),
    "semicolon": ("; ", "；"),
    "stage_reason": ("{stage}: {why}", "{stage}：{why}"),
    "or": (" or ", " 或 "),
    "way_budget": ("budget {tokens:,}", "预算 {tokens:,}"),
    "way_eta": ("eta {eta:g}", "eta {eta:g}"),
    "way_naming": ("naming {anchors}", "提到 {anchors}"),
    "gate.continue": ("same topic", "话题不变"),
    "gate.switch": ("new topic", "新话题"),
    "gate.resumed": ("earlier topic", "之前的话题"),
    "gate_reason": (" ({words})", "（{words}）"),
    "gate_reason_cue": (' ({words}: "{cue}")', "（{words}：“{cue}”）"),
    "gate_measures": (
        "overlap {overlap:.2f}, new ratio {new:.2f}, link {link:.2f}",
        "重叠 {overlap:.2f}，新内容 {new:.2f}，承接 {link:.2f}",
    ),
    "gate_active": ("active: {topic}", "当前：{topic}"),
    "gate_resumed": ("resumed: {topic}", "回到：{topic}"),
    "topic_name": ("topic {topic} ({turns})", "话题 {topic}（{turns}）"),
    "one_turn": ("turn {span}", "第 {span} 轮"),
    "many_turns": ("turns {span}", "第 {span} 轮"),
    "span": ("{first} to {last}", "{first}–{last}"),
    "empty_conversation": ("No turn is kept: the conversation is empty.", "没有保留任何轮次：对话是空的。"),
    "nothing_fits": (
        "No turn fits: the smallest candidate needs {needed:,} tokens, the budget is {budget:,}.",
        "放不下任何一轮：最小的候选需要 {needed:,} 个 token，预算是 {budget:,}。",
    ),
    "nothing_needed": (
        "No turn is kept: nothing in the conversation is needed for this question.",
        "没有保留任何轮次：这个问题不需要对话里的内容。",
    ),
    "token_line": (
        "{kept:,} of {count:,} turns, {tokens:,} of {history:,} tokens ({saved} saved)",
        "保留 {count:,} 轮中的 {kept:,} 轮，{history:,} 个 token 中的 {tokens:,} 个（节省 {saved}）",
    ),
    "coverage_line": ("coverage {coverage:.2f}", "覆盖度 {coverage:.2f}"),
    "anchors_covered": ("anchors covered: {anchors}", "已覆盖的锚点：{anchors}"),
    "anchors_uncovered": ("anchors not covered: {anchors}", "未覆盖的锚点：{anchors}"),
    # --- demo
    "demo_heading": (
        "The conversation: {turns} turns, {tokens:,} tokens, {topics} topics. "
        "The budget: {budget:,} tokens for each question.",
        "对话：{turns} 轮，{tokens:,} 个 token，{topics} 个话题。预算：每个问题 {budget:,} 个 token。",
    ),
    "kind.continuing": ("continuing", "延续"),
    "kind.referring back": ("referring back", "指代前文"),
    "kind.switching": ("switching", "切换"),
    "kind.returning": ("returning", "返回"),
    "kind.an exact identifier": ("an exact identifier", "精确标识符"),
    "kind.about the conversation": ("about the conversation", "关于对话本身"),
    "kind.nothing relevant": ("nothing relevant", "毫不相关"),
    # --- inspect
    "inspect_heading": (
        "{turns:,} turns, {tokens:,} tokens, {topics:,} topics",
        "{turns:,} 轮，{tokens:,} 个 token，{topics:,} 个话题",
    ),
    "inspect_turns": (
        "a turn costs {least:,} to {most:,} tokens, {mean:,} on average",
        "每轮 {least:,} 到 {most:,} 个 token，平均 {mean:,}",
    ),
    "inspect_like_turns": ("a turn costs {most:,} tokens", "每轮 {most:,} 个 token"),
    "cells": (
        "one cell = one turn (several if space is short); height = tokens",
        "每格一轮（太窄时每格几轮），高度表示 token 数",
    ),
    "more_topics": (
        "and {topics:,} smaller topics with {turns:,} turns (--json has all)",
        "另有 {topics:,} 个较小的话题，共 {turns:,} 轮（--json 给出全部）",
    ),
    "use_heading": (
        "history tokens sent with each question (budget {budget:,})",
        "预算 {budget:,} 时，每个新问题会带上的历史 token 数",
    ),
    "method": ("method", "方法"),
    "on_average": ("on average", "平均"),
    "at_the_end": ("at the end", "最后"),
    "at_most": ("at most", "最多"),
    "full_history": ("full history", "全部历史"),
    "window": ("window", "最近窗口"),
    "selected": ("gatekeeper", "gatekeeper"),
    # --- explain
    "budget_line": (
        "budget {budget:,}: {kept:,} kept, {free:,} free, {margin:,} left as a margin",
        "预算 {budget:,}：已用 {kept:,}，空闲 {free:,}，预留余量 {margin:,}",
    ),
    "heat_heading": (
        "what the kept turns hold of the question: how often each anchor stands in them",
        "保留的轮次覆盖了问题的哪些锚点（出现次数）",
    ),
    "anchor": ("anchor", "锚点"),
    "more_anchors": ("and {count:,} more anchors (--json has all)", "另有 {count:,} 个锚点（--json 给出全部）"),
    "more_turns": ("and {count:,} more turns (--json has all)", "另有 {count:,} 轮（--json 给出全部）"),
    "scores_heading": ("scores", "得分"),
    "decisions_heading": ("decisions", "逐轮决定"),
    "near_heading": ("near misses", "差一点就保留"),
    "near_none": ("nothing was nearly kept", "没有差一点就保留的轮次"),
    "score.lex_user": ("user", "用户"),
    "score.lex_assistant": ("assistant", "助手"),
    "score.exact": ("exact", "精确"),
    "score.recency": ("recency", "新近"),
    "score.feedback": ("feedback", "反馈"),
    "score.neighbour": ("neighbour", "相邻"),
    "score.fit": ("fit", "契合"),
    "score.total": ("total", "总分"),
    "value": ("value", "价值"),
    "why.kept": (
        "Turn {turn} is not left out: it is kept ({why}) and costs {tokens:,} tokens.",
        "第 {turn} 轮没有被舍去：它被保留（{why}），占 {tokens:,} 个 token。",
    ),
    "why.trimmed": (
        "Turn {turn} is not left out: its telling sentences are kept ({why}) and cost {tokens:,} tokens.",
        "第 {turn} 轮没有被舍去：保留了其中的关键句（{why}），占 {tokens:,} 个 token。",
    ),
    "why.little_evidence": (
        "Turn {turn} is left out because it shares too little with the question ({shared}).",
        "第 {turn} 轮未选：它与问题的共同点太少（{shared}）。",
    ),
    "why.no_shared_anchor": (
        "Turn {turn} is left out because it shares nothing with the question.",
        "第 {turn} 轮未选：它与问题没有任何共同点。",
    ),
    "why.not_a_candidate": (
        "Turn {turn} is left out because other turns match the question better ({shared}).",
        "第 {turn} 轮未选：其他轮次与问题更匹配（{shared}）。",
    ),
    "why.enough": (
        "Turn {turn} is left out because the kept turns are enough without it.",
        "第 {turn} 轮未选：没有它，保留的轮次也已经足够。",
    ),
    "why.no_room": (
        "Turn {turn} is left out because its {tokens:,} tokens no longer fitted into the budget.",
        "第 {turn} 轮未选：它的 {tokens:,} 个 token 在预算里放不下了。",
    ),
    "why.repeat": (
        "Turn {turn} is left out because a kept turn already says the same.",
        "第 {turn} 轮未选：它说的内容，保留的轮次里已经有了。",
    ),
    "why.other": ("Turn {turn} is left out ({why}).", "第 {turn} 轮未选（{why}）。"),
    "would.budget": (
        "With a budget of {tokens:,} tokens there is room for it.",
        "预算有 {tokens:,} 个 token 时就放得下它。",
    ),
    "would.eta": (
        "It is kept if eta is {eta:g} or more (it, or a turn with the same content).",
        "eta 不低于 {eta:g} 时会保留它（或内容相同的另一轮）。",
    ),
    "would.naming": (
        "A question that names {anchors} would find it.",
        "问题里提到 {anchors} 就能找到它。",
    ),
    "shares": ("it shares {anchors}", "共同点：{anchors}"),
    "shares_nothing": ("it shares nothing", "没有共同点"),
    # --- reports
    "written": ("written: {file} ({kilobytes:,} KB)", "已写入：{file}（{kilobytes:,} KB）"),
    "html.skip": ("Skip to the content", "跳到正文"),
    "html.dark": ("Dark", "深色"),
    "html.shown_turn": ("The turn that was chosen", "选中的轮次"),
    "html.previous": ("Previous", "上一轮"),
    "html.next": ("Next", "下一轮"),
    "html.close": ("Close", "关闭"),
    "html.footer": (
        "Made by Context Gatekeeper. This file holds the messages shown in it; it loads nothing and sends nothing.",
        "由 Context Gatekeeper 生成。文件里含有所显示的消息；它不加载也不发送任何内容。",
    ),
    "html.timeline": ("Conversation", "对话"),
    "html.timeline_title": ("{name} – topics and tokens", "{name} – 话题与 token"),
    "html.explanation": ("Selection explained · {name}", "选择说明 · {name}"),
    "html.explanation_title": ("Why these turns – {query}", "为什么是这些轮次 – {query}"),
    "html.tokens": ("tokens", "token"),
    "html.figure_turns": ("Turns", "轮数"),
    "html.figure_topics": ("Topics", "话题"),
    "html.figure_history": ("Whole history", "全部历史"),
    "html.figure_sent": ("Sent per question", "每个问题带上"),
    "html.figure_sent_note": ("tokens of history, on average", "个历史 token（平均）"),
    "html.figure_saved_note": ("against the full history", "与带上全部历史相比"),
    "html.figure_saved_full": ("against the full history", "与带上全部历史相比"),
    "html.figure_kept": ("Turns kept", "保留轮数"),
    "html.figure_kept_note": ("of {count:,}", "共 {count:,} 轮"),
    "html.figure_tokens": ("Tokens", "token 数"),
    "html.figure_tokens_note": ("of {history:,}", "共 {history:,} 个"),
    "html.figure_coverage": ("Coverage", "覆盖度"),
    "html.figure_coverage_note": ("1.00: nothing of value is left", "1.00 表示没有遗漏有价值的内容"),
    "html.figure_anchors": ("Anchors held", "覆盖的锚点"),
    "html.figure_anchors_note": ("words of the question found in kept turns", "问题的关键词出现在保留的轮次里"),
    "html.topics_heading": ("Topics over the turns", "话题时间线"),
    "html.topics_note": (
        "A row for each topic, returns to it included; a mark for each turn, as high as the turn is long. "
        "Choose a mark to read the turn; with the keyboard, the arrows go from turn to turn.",
        "每个话题一行（包括之后回到它的部分），每轮一个标记，高度表示长度。点选标记可阅读该轮；键盘用方向键逐轮移动。",
    ),
    "html.axis": ("numbers of the turns", "轮次编号"),
    "html.use_heading": ("What each question would send", "每个问题会带上多少历史"),
    "html.chart_summary": (
        "Line chart. At turn {turn}: full history {full:,} tokens, window {window:,}, gatekeeper {selected:,}.",
        "折线图。到第 {turn} 轮：全部历史 {full:,} 个 token，最近窗口 {window:,}，gatekeeper {selected:,}。",
    ),
    "html.as_table": ("The same as a table", "以表格显示"),
    "html.turns_heading": ("Turns", "各轮内容"),
    "html.turns_note": (
        "The turns of the table above, whole; what is sent of a trimmed turn is its telling sentences.",
        "上表中各轮的完整内容；被裁剪的轮次只带上其中的关键句。",
    ),
    "html.filter_text": ("Filter by text", "按文字筛选"),
    "html.filter_topic": ("Filter by topic", "按话题筛选"),
    "html.all_topics": ("All topics", "全部话题"),
    "html.all": ("All", "全部"),
    "html.count": ("{shown} of {count} turns", "{count} 轮中的 {shown} 轮"),
    "html.turn": ("Turn {turn}", "第 {turn} 轮"),
    "html.turn_facts": ("{topic} · {tokens:,} tokens", "{topic} · {tokens:,} 个 token"),
    "html.decision_facts": ("{outcome} · {why} · {tokens:,} tokens", "{outcome} · {why} · {tokens:,} 个 token"),
    "html.user": ("User", "用户"),
    "html.assistant": ("Assistant", "助手"),
    "html.cut": ("{count:,} more characters", "还有 {count:,} 个字符"),
    "html.budget_heading": ("The budget", "预算"),
    "html.used": ("kept turns", "保留的轮次"),
    "html.free": ("free", "空闲"),
    "html.margin": ("margin of the estimate", "估算余量"),
    "html.strip_heading": ("Where the kept turns stand", "保留的轮次在哪里"),
    "html.strip_note": (
        "Tall and filled: kept. Hatched: trimmed. Outlined: a candidate that was left out. Low: no candidate.",
        "高而实心：保留；斜纹：裁剪；空心：候选但未选；矮：不是候选。",
    ),
    "html.heat_heading": ("Anchors of the question by kept turns", "问题的锚点 × 保留的轮次"),
    "html.near_note": (
        "Turns that nearly made it: a larger budget or eta, or a question that names one of their anchors, keeps them.",
        "稍有不同就会保留的轮次：预算或 eta 大一些，或者问题里提到它的某个锚点。",
    ),
    "html.decisions_note": (
        "What became of every candidate, at which stage, and what would have kept it.",
        "每个候选在哪个阶段得到什么结果，以及保留它的条件。",
    ),
    "html.scores_note": (
        "total = fit × (1.5 × user + 0.7 × assistant + feedback + neighbour) + exact + 0.2 × recency",
        "总分 = 契合 ×（1.5 × 用户 + 0.7 × 助手 + 反馈 + 相邻）+ 精确 + 0.2 × 新近",
    ),
    "working": ("asking the conversation its own questions", "正在用对话自己的问题逐一提问"),
}
"""Everything else that is said, by a name of ours: in English, in Chinese."""


_COUNTED = re.compile(r"\{(\w+)[^}]*\} (?:more |smaller )?(?:turn|topic|token|anchor|character)s\b")


class Texts:
    """The texts of one language.

    Args:
        language: ``en`` or ``zh``.

    >>> Texts(Language.en)("way_budget", tokens=1200), Texts(Language.zh)("way_budget", tokens=1200)
    ('budget 1,200', '预算 1,200')
    >>> Texts(Language.en)("inspect_heading", turns=1, tokens=1200, topics=1)
    '1 turn, 1,200 tokens, 1 topic'
    """

    def __init__(self, language: Language) -> None:
        self.language = language
        self._column = 1 if language is Language.zh else 0

    def __call__(self, key: str, /, **values: object) -> str:
        """Return a text with its values filled in."""
        text = TABLE[key][self._column]
        if self._column == 0:
            text = _COUNTED.sub(lambda match: match[0][:-1] if values.get(match[1]) == 1 else match[0], text)
        return text.format(**values) if values else text

    def why(self, name: str) -> str:
        """Return what a reason of a decision means; a reason that is new here, as it is."""
        return WHY_WORDS[name][self._column] if name in WHY_WORDS else name

    def gate_reason(self, name: str) -> str:
        """Return what a reason of the gate means; a reason that is new here, as it is."""
        return GATE_REASONS[name][self._column] if name in GATE_REASONS else name


ENGLISH = Texts(Language.en)
"""The texts in English."""


def texts_for(language: Language) -> Texts:
    """Return the texts of a language, of the locale's for ``auto``."""
    chosen = language_of(os.environ, locale.getlocale()[0]) if language is Language.auto else language
    return Texts(chosen)


def language_of(environment: Mapping[str, str], system: str | None = None) -> Language:
    """Return the language that the environment asks for, Chinese or English.

    Args:
        environment: the first of ``LC_ALL``, ``LC_MESSAGES`` and ``LANG`` that is set speaks; ``LANGUAGE`` before it,
            unless that is C (as gettext has it).
        system: what the system says where none of them is set.

    >>> language_of({"LANG": "zh_CN.UTF-8"}).value, language_of({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}).value
    ('zh', 'en')
    """
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    found = next((environment[name] for name in names if environment.get(name)), "")
    if found and found.partition(".")[0] not in ("C", "POSIX"):
        found = (environment.get("LANGUAGE") or found).partition(":")[0]
    name = (found or system or "").lower()
    return Language.zh if name.startswith(("zh", "chinese")) else Language.en
