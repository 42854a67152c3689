"""The sentences of a conversation that belong into its summary, by simple signs in their wording.

* **decisions**: people settle something ("we decided", "let's go with", 决定, 改用); the assistant only where it says
  that something is settled.
* **preferences**: the user says what they like, or what is to hold from now on.
* **details**: numbers, identifiers, versions, dates, amounts and code.
* **topics**: of the sentences that opened a topic the one that tells most, a question before others.
* **facts**: other sentences that tell much (:mod:`gatekeeper_core.context.summary.salience`): who did what, and when.

Only user and assistant messages are read, without thinking; never tool results, system messages or summaries. A
sentence is taken verbatim or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from gatekeeper_core.context.summary.record import Section, Speaker, SummaryItem
from gatekeeper_core.context.summary.salience import is_uncommon, read_telling
from gatekeeper_core.messages import Message, Turn, is_summary
from gatekeeper_core.selection.anchors import extract_anchors, folded, telling_terms
from gatekeeper_core.selection.cues import read_cues, without_cues
from gatekeeper_core.selection.gatekeeper import ContextGatekeeper
from gatekeeper_core.text import LazyPattern, clean, is_question, sentences, split_thinking

__all__ = ["CONTEXT_TURNS", "detail_weight", "read_turns", "said_text", "says_change", "subject_of"]

CONTEXT_TURNS = 8
"""Turns before the new ones that are read again to know whether a topic goes on. Source: ours."""

_MAX_READ_CHARS = 20_000  # of one message: a longer one is pasted, and its beginning says what it is
_MIN_CHARS, _MAX_CHARS, _MAX_LONG_CHARS = 2, 240, 400  # of a sentence; the last one for decisions and preferences
_MAX_OF_MESSAGE: dict[Section, dict[Speaker, int]] = {
    "details": {"user": 4, "assistant": 2},
    "facts": {"user": 3, "assistant": 2},
}
_DETAIL_THRESHOLD = 1.0
_MOST_ANCHORS = 4.0  # beyond it a sentence is a list

_DIGIT = LazyPattern("[0-9]")
_MAY_BE_DETAIL = LazyPattern(r"[0-9０-９A-Z_/`二两三四五六七八九十百]|\w[-.:@+]\w")
_LIST_MARK = LazyPattern(r"(?:[-*+•>#]+[ \t]+|[(（]?[0-9]{1,3}[.)、）][ \t]*)")

# --- Wordings, on folded text: lower case, simplified Chinese, ' for ’. Source: ours. ---------------------------------
_CHOICES = (
    "(?:use|go with|go for|switch|stick (?:with|to)|stay (?:with|on)|keep|drop|move|pick|choose|take|call it|set|ship"
    "|deploy|skip|postpone|delay|start with|change|rename|replace|avoid|schedule|target|cancel|adopt|migrate|remove"
    "|revert)"
)
_SETTLED = LazyPattern(
    r"\b(?:decided|agreed(?: on| that| to|:)|settled on|opted for|finali[sz]ed|signed off|ruled out|committed to)(?!\w)"
    r"|\bdecision(?: is\b| was\b|:)|\b(?:it's|it is|is|are|was|has been) (?:now )?(?:approved|agreed|settled)\b"
    "|决定|敲定|定下来|商定|拍板|达成一致|一致同意|确定为|确定用|确定了|确定下来|定为|定在|定于|选定|批准|最[后终](?:选|用|定)"
)
_CHOSEN = LazyPattern(
    rf"\blet's (?:just |all |not |then |please )?{_CHOICES}\b"
    rf"|\b(?:we|i)(?:'ll| will| shall|'re going to| are going to|'m going to| am going to| should)"
    rf" (?:not |now |just |probably )?{_CHOICES}\b"
    rf"|\A(?:ok|okay|yes|fine|alright|right|then|so|good|great|and|actually|please)?[,. ]{{0,2}}"
    rf"(?:ok|then|so|please|let's)?[, ]{{0,2}}{_CHOICES}\b"
    r"|\b(?:we|i) (?:chose|picked|went with|switched|moved|changed|cancelled|canceled)\b|\bgoing with\b"
    r"|\bno longer (?:use|using|need)\b"
    "|就(?:用|选|按|定|改|采用|这[么样](?:定|办|做|来|干|吧))|改用|改成|改为|改到|换成|换用|采用|采纳|还是用|还是选|选用|不再用|切换到|迁移到|推迟到"
    "|提前到|取消|(?<![供给让帮为])(?:我们|咱们)(?:用|选|先|就)"
)
_IDLE = LazyPattern(
    r"\bkeep (?:(?:me|you|ya|u|us|him|her|them|it|each other|everyone|that) )?(?:posted|updated|informed|up|on|in touch"
    r"|safe|calm|well|fit|busy|(?!us)\w{2,20}in[g'])"
    r"|\btake (?:a |an |another |some |your |my |our )?(?:look|care|break|seat|rest|breath|time|walk|nap|photo|picture"
    r"|part|turns?|note|it easy|advantage)\b"
    r"|\b(?:drop (?:by|in|me|you|us)|pick (?:me|you|us|him|her|them|up)|move (?:on|forward|along|past)"
    r"|moved (?:from|here|out|in|away|back|on|past)|call it a day|never give up)\b"
    r"|\A[,. ]{0,2}change (?:is|can|takes|comes)\b"
)
"""Wordings that settle nothing though they look like it. Source: ours."""

_UNDECIDED = LazyPattern(
    r"(?:\bnot|n't|\bnever|\byet to be|\bbefore we|\buntil we)(?: been| yet| really| finally)? "
    "(?:decide|agree|settle|approve)"
    r"|\bkeep in mind\b"
    r"|\bundecided\b|\b(?:who|how|whether|which) .{0,20}\bdecided\b|\A(?:if|suppose|assuming|unless) "
    "|(?:没|没有|未|尚未|不|再|待|由谁|谁|如何|怎么|是否|能否|无法|难以)(?:有|能|做|最终|完全|想好|做出)?(?:决定|敲定|确定|定下来)"
    r"|决定(?:权|性|于|因素|论)|取决于|\A(?:如果|要是|假如|万一)|考虑(?:一下|改用|换成|采用)"
)
_STANDING = LazyPattern(
    r"\bfrom now on\b|\bgoing forward\b|\bin (?:the )?future,? (?:please|always|never|use|do not|don't)\b"
    r"|\b(?:always|never) (?:use|answer|reply|write|give|show|include|add|send|call|ask|put|keep|make|format|explain"
    r"|start|end|respond|translate|mention)\b|\bplease (?:always|never|stop|avoid)\b"
    "|(?:以后|今后|从现在起|从今以后|往后)[^？?。]{0,6}(?:请|都|就|别|不要|用|给|要)|请(?:一直|始终|总是|每次)|每次都(?:请|要|用)"
    "|下次(?:请|别|不要)|不要再|别再"
)
_LIKED = LazyPattern(
    r"\bi (?:really |always |usually |generally |much |also |still |personally |definitely |strongly |do )?"
    r"(?:prefer|like|love|enjoy|hate|dislike|favou?r|avoid)\b(?! (?:how|that|it|your|the way)\b)"
    r"|\bi (?:don't|do not|can't|cannot|never) (?:really )?(?:like|want|eat|drink|use|stand|enjoy|care for)\b"
    r"|\bi(?:'d| would) (?:rather|prefer)\b|\bmy (?:favou?rite|preferred|preference|usual)\b"
    r"|\bi(?:'m| am) (?:allergic|(?:a )?vegetarian|(?:a )?vegan|left-handed|colou?r-?blind)"
    r"|\bcall me (?!at |back|when|if|on |later)"
    "|我(?:们)?(?:更|还是|比较|最|很|特别|非常|真的|也|都|就|不|不太|不怎么|一直|一向|平时|通常|一般)?"
    "(?:喜欢|偏好|偏爱|偏向|讨厌|习惯|倾向|不爱|不吃|不喝|受不了|吃素)|我(?:最|很|也)?爱[吃喝看听用玩]|我对(?=[^，,。]{1,8}过敏)"
    "|我的(?:偏好|习惯|爱好|口味)|希望你(?:以后|都|能|回答|用)|叫我|回答(?:请|要|不要|别|尽量|时请)"
)
_CHANGED = LazyPattern(
    r"\b(?:instead|switch|switched|change|changed|no longer|actually|rather than|replace|replaced|correction|postpone"
    r"|postponed|reschedule|rescheduled|now|revert|back to|scrap|drop|cancel|cancelled|move the|move it|moved)\b"
    "|改用|改成|改为|改到|换成|换用|不再|取消|推迟|提前|更正|更新为|变成|切换|迁移|其实|而不是|纠正|刚才说错|还是用|还是选|已经改"
)


def said_text(message: Message) -> str:
    """Return what a message says to people: the text of a user or an assistant, without thinking; of others nothing.

    >>> said_text(Message("assistant", "<think>hm</think>Port 6380.")), said_text(Message("tool", "6380"))
    ('Port 6380.', '')
    """
    if message.role not in ("user", "assistant") or is_summary(message):
        return ""
    return split_thinking(message.text)[1] if message.role == "assistant" else message.text


def read_turns(turns: Sequence[Turn], *, from_seq: int) -> tuple[SummaryItem, ...]:
    """Return the sentences of finished turns that could go into the summary, in the order in which they were said.

    Args:
        turns: the turns to read, oldest first, behind up to ``CONTEXT_TURNS`` that only tell the topic.
        from_seq: the first message that is new.

    >>> turn = Turn.of("Let's use Redis for the cache.", "Good. It listens on port 6380.")
    >>> [(item.section, item.text) for item in read_turns([turn], from_seq=0)]
    [('decisions', "Let's use Redis for the cache."), ('details', 'It listens on port 6380.')]
    """
    found: dict[tuple[int, str], SummaryItem] = {}
    for turn in turns:
        for seq, message in enumerate(turn.messages, turn.start):
            if seq >= from_seq and (said := said_text(message)):
                speaker: Speaker = "user" if message.role == "user" else "assistant"
                for section, text in _of(said, speaker):
                    found[seq, text] = SummaryItem(section, text, (seq,), speaker)
    for opening in _topic_openings(turns, from_seq):
        held = found.get((opening.seqs[0], opening.text))
        if held is None or held.section in ("details", "facts"):  # a sentence need not stand there twice
            found[opening.seqs[0], opening.text] = opening
    return tuple(sorted(found.values(), key=lambda item: item.seqs))


def _topic_openings(turns: Sequence[Turn], from_seq: int) -> Iterator[SummaryItem]:
    """Yield the sentence that opened each topic that began in the new turns, a return to an earlier one aside."""
    gatekeeper = ContextGatekeeper(token_counter=len)  # nobody asks what they cost
    gatekeeper.sync([(_side(turn, "user"), _side(turn, "assistant")) for turn in turns])
    verdicts = gatekeeper.verdicts  # the topics of a gatekeeper have titles, which take two fifths of the time
    starts = [at for at, verdict in enumerate(verdicts) if verdict.opens_topic]
    for topic, (start, stop) in enumerate(pairwise([*starts, len(turns)])):
        resumed = verdicts[start].resumed_topic
        if (resumed is None or resumed >= topic) and turns[start].start >= from_seq:
            for turn in turns[start:stop]:
                if opening := _opening(turn):
                    yield opening
                    break


def _side(turn: Turn, role: Literal["user", "assistant"]) -> str:
    return "\n".join(said_text(message)[:_MAX_READ_CHARS] for message in turn.messages if message.role == role)


def _opening(turn: Turn) -> SummaryItem | None:
    """Return the user's sentence that tells most, a question counting double; None where nothing tells anything."""
    best: tuple[float, SummaryItem] | None = None
    for seq, message in enumerate(turn.messages, turn.start):
        if message.role != "user":
            continue
        for text in _sentences(said_text(message)):
            if len(text) > _MAX_CHARS or not (telling := read_telling(without_cues(text))).names_something:
                continue
            told = telling.told * (2 if is_question(text) else 1)
            if best is None or told > best[0]:
                best = told, SummaryItem("topics", text, (seq,), "user")
    return best[1] if best else None


def _of(said: str, speaker: Speaker) -> Iterator[tuple[Section, str]]:
    """Yield the sentences of one message that are taken, in order: of details and facts only the weightiest few."""
    read = [(text, *_section_of(text, speaker)) for text in _sentences(said)]
    taken: set[int] = set()
    for limited, most in _MAX_OF_MESSAGE.items():
        places = [at for at, (_, section, _) in enumerate(read) if section == limited]
        taken.update(sorted(places, key=lambda at: -read[at][2])[: most[speaker]])
    for at, (text, section, _) in enumerate(read):
        if section and (at in taken or section not in _MAX_OF_MESSAGE):
            yield section, text


def _sentences(said: str) -> Iterator[str]:
    """Yield the sentences of a text, list marks aside; code blocks and a sentence that is cut off are none."""
    read = said[:_MAX_READ_CHARS]
    for start, stop in sentences(read):
        if stop - start > _MAX_LONG_CHARS or (stop == len(read) < len(said)):
            continue
        text = read[start:stop]
        mark = _LIST_MARK.match(text)
        text = text[mark.end() :].strip() if mark else text
        if len(text) >= _MIN_CHARS and "```" not in text and "~~~" not in text:
            yield text


def _section_of(text: str, speaker: Speaker) -> tuple[Section | None, float]:
    """Return what a sentence could go into the summary as, and what it weighs beside others of its message."""
    low = _IDLE.sub(" ", _folded(text))
    asks = is_question(text)
    section: Section | None = None
    if speaker == "user" and (_STANDING.search(low) or (not asks and _LIKED.search(low))):
        section = "preferences"
    elif not asks and (_SETTLED.search(low) or (speaker == "user" and _CHOSEN.search(low))):
        section = None if _UNDECIDED.search(low) else "decisions"
    if section:  # beside the wording stands what it is about: "let's do it" says nothing by itself
        subject = _subject(low, section)
        if _DIGIT.search(low) or (any(map(is_uncommon, subject)) if section == "decisions" else subject):
            return section, 0.0
    if asks or len(text) > _MAX_CHARS:
        return None, 0.0
    weight = detail_weight(text)
    if weight >= _DETAIL_THRESHOLD and not (speaker == "user" and read_cues(text).request):
        return "details", weight  # what is asked for is none
    telling = read_telling(text)
    return ("facts", telling.told) if telling.is_fact else (None, 0.0)


def says_change(text: str) -> bool:
    """Return whether a sentence says that something is now otherwise.

    >>> says_change("缓存改用 Memcached。"), says_change("We use Redis.")
    (True, False)
    """
    return _CHANGED.search(_folded(text)) is not None


@lru_cache(maxsize=512)  # as the weights: of the same sentences at each update
def subject_of(item: SummaryItem) -> frozenset[str]:
    """Return the terms of what a sentence is about: its telling ones, the wordings that made it an item aside.

    >>> sorted(subject_of(SummaryItem("decisions", "We decided to use Redis for the cache.", (0,), "user")))
    ['cach', 'redis']
    """
    if item.section == "topics":
        return frozenset(telling_terms(without_cues(item.text)))
    return _subject(_folded(item.text), item.section)


def _subject(low: str, section: Section) -> frozenset[str]:
    signs = (_CHANGED,) if section in ("details", "facts") else (_SETTLED, _CHOSEN, _STANDING, _LIKED, _CHANGED)
    for sign in signs:
        low = sign.sub(" ", low)
    return frozenset(telling_terms(low)) - {"us", "go", "good", "great", "pleas"}


def detail_weight(text: str) -> float:
    """Return how many technical details a sentence holds, at most 4: each anchor counts once, a small number a quarter.

    >>> detail_weight("Redis 7.2 listens on port 6380."), detail_weight("Room 5 is free."), detail_weight("好的。")
    (2.0, 0.25, 0.0)
    """
    if not _MAY_BE_DETAIL.search(text):
        return 0.0
    weight = 0.0
    for anchor in extract_anchors(text):
        if anchor.kind == "number":
            weight += 1.0 if len(anchor.term) > 2 else 0.25
        elif anchor.kind == "identifier":  # "well-known" and "don't" are words
            is_word = anchor.term.replace("-", "").replace("'", "").isalpha() and anchor.text.islower()
            weight += 0.0 if is_word else 1.0
        elif anchor.kind in ("version", "date", "amount", "code"):
            weight += 1.0
    return min(_MOST_ANCHORS, weight)


def _folded(text: str) -> str:
    return folded(clean(text)).replace("’", "'")
