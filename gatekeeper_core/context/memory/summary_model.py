"""A summary by a model: what it reads, and whether its text can be used.

It cannot where it holds numbers, identifiers or names that nobody had said. Names are found by how they are written: in
English a capital letter inside a sentence, or at its beginning before a verb; in Chinese a surname before a title or a
verb that people have as subject. A name without these signs passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gatekeeper_core.context.history.summarizer import PlainSummarizer, Summarizer, ask, readable
from gatekeeper_core.context.memory.summary_record import Summary
from gatekeeper_core.context.memory.summary_sentences import spoken_text
from gatekeeper_core.messages import Message
from gatekeeper_core.selection.anchors import count_terms, extract_anchors, folded, has_whole, stem
from gatekeeper_core.selection.lexicon import ENGLISH_STOP_WORDS, background_frequencies
from gatekeeper_core.text import LazyPattern, clean, sentences, word_strings
from gatekeeper_core.tokens import count_message


class Draft(NamedTuple):
    """The text of a model, "" where it cannot be used.

    Attributes:
        failure: why not: ``error: `` and its type, ``not_text``, ``empty``, ``too_long``, ``unsupported``; else "".
        unsupported: names, numbers and identifiers in what it wrote that nobody had said.
    """

    text: str
    failure: str = ""
    unsupported: tuple[str, ...] = ()


def write_draft(
    summarizer: Summarizer | PlainSummarizer,
    messages: Sequence[Message],
    summary: Summary,
    *,
    max_tokens: int,
    max_input_tokens: int,
    counter: Callable[[str], int],
) -> Draft:
    """Return what a model writes of the messages that are covered by a summary and that it does not know of yet.

    A text of more than ``max_tokens`` is refused, not cut. Where the new messages cost more than ``max_input_tokens``
    the model reads the newest of them, at least one, and the sentences of the summary in the place of the others.
    """
    spoken = [
        (message, spoken_text(message)) for message in messages[summary.model_upto_seq + 1 : summary.upto_seq + 1]
    ]
    new = [Message(message.role, text, name=message.name) for message, text in spoken if text.strip()]
    start, room = len(new), max_input_tokens
    while start > 0:
        room -= count_message(new[start - 1], token_counter=counter)
        if room < 0 and start < len(new):
            break
        start -= 1
    previous = summary.text if start else summary.model_text
    fitting = readable(new[start:], max_input_tokens, token_counter=counter, locale=summary.locale)
    text, failure = ask(summarizer, fitting, previous or None, max_tokens)
    if failure:
        return Draft("", failure)
    if counter(text) > max_tokens:
        return Draft("", "too_long")
    made_up = unsupported(text, [*(message.text for message in fitting), previous])
    return Draft("", "unsupported", made_up) if made_up else Draft(text)


# --- What nobody had said -------------------------------------------------------------------------------------------

MAX_UNSUPPORTED = 64
"""Most things that are listed. Source: ours; a text with more is not worth reading."""

_KINDS = frozenset({"number", "identifier", "version", "date", "amount", "code"})
_MAX_ANCHORS = 4096
_LINE_MARK = LazyPattern(r"(?:[-*+•>#]+[ \t]+)?(?:[(（]?[0-9]{1,3}[.)、）](?:[ \t]+|(?=[^0-9\s])))?")
_EMPHASIS = LazyPattern(r"[*_]{2,3}")
_COMMON = 2e-4  # a word of everyday talk; first names are rarer
_COMMA = LazyPattern(r"(?<=[0-9]),(?=[0-9]{3})")
_VERBS = frozenset(
    """will has had have is was can could would should and or said says chose wants told asked keeps kept made makes
    wrote runs ran owns took takes leads led""".split()  # noqa: SIM905 - a list of quoted words would be unreadable
)
_SURNAMES = (
    "王李张刘陈杨赵周吴徐孙胡朱郭罗梁宋郑谢韩唐冯董萧曹袁邓许傅沈曾彭吕苏卢蒋蔡"
    "贾丁魏薛阎余潘杜戴夏钟汪田姜范姚谭廖邹熊陆郝孔崔康毛邱秦侯邵孟雷汤尹黎乔贺赖龚"
)
"""Family names that begin few other words. Source: ours."""

_CHINESE_NAME = LazyPattern(
    rf"([{_SURNAMES}][\u4e00-\u9fff]{{0,2}}?)(?:先生|女士|小姐|老师|经理|总监|工程师|医生|负责|表示|提出|建议|认为|决定|同意|批准|说)"
)


def unsupported(text: str, sources: Iterable[str]) -> tuple[str, ...]:
    """Return the names, numbers and identifiers of a text that stand in none of its sources, as written, each once.

    Of a very long text the first 4,096 anchors are looked at.

    >>> unsupported("They moved the cache to port 6381, says Marta.", ["The cache listens on port 6380."])
    ('6381', 'Marta')
    >>> unsupported("缓存在 6380 端口，张伟负责。", ["缓存监听 6380 端口。"])
    ('张伟',)
    """
    terms: set[str] = set()
    plain = []
    for source in sources:
        bare = _COMMA.sub("", source)
        terms.update(count_terms(bare, limit=_MAX_ANCHORS))
        plain.append(folded(clean(bare)))
    source = "\n".join(plain)
    prose = "\n".join(map(_without_marks, text.splitlines()))
    chinese = (match[1] for match in _CHINESE_NAME.finditer(folded(clean(prose))))
    named = (*_anchors(prose), *_english_names(prose), *((name, name) for name in chinese if len(name) > 1))
    missing = (written for written, term in named if term not in terms and not has_whole(folded(written), source))
    return tuple(dict.fromkeys(missing))[:MAX_UNSUPPORTED]


def _without_marks(line: str) -> str:
    """Return a line without the marks of lists and emphasis, or nothing of a heading."""
    if line.lstrip().startswith("#") or line.rstrip(" *_").endswith((":", "：")):
        return ""
    mark = _LINE_MARK.match(line.lstrip())
    plain = line.lstrip()[mark.end() :] if mark else line
    return _COMMA.sub("", _EMPHASIS.sub("", plain))


def _anchors(prose: str) -> Iterator[tuple[str, str]]:
    common = background_frequencies()
    for anchor in extract_anchors(prose, limit=_MAX_ANCHORS):
        parts = anchor.term.replace("'", "-").split("-")
        is_words = anchor.kind == "identifier" and all(  # "follow-up", "well-known"
            part in ENGLISH_STOP_WORDS or (part.isalpha() and stem(part) in common) for part in parts
        )
        if anchor.kind in _KINDS and not is_words:
            yield anchor.text, anchor.term


def _english_names(prose: str) -> Iterator[tuple[str, str]]:
    common = background_frequencies()
    for start, stop in sentences(prose):
        words = word_strings(clean(prose[start:stop]))
        second = words[1].casefold() if len(words) > 1 else ""
        is_subject = second in _VERBS or second.endswith("ed")  # the first word is somebody who does something
        if not is_subject or common.get(stem(words[0].casefold()), 0.0) > _COMMON:
            words[:1] = [""]
        for word in words:
            name = word.partition("'")[0].partition("’")[0]
            low = name.casefold()
            is_name = len(name) > 1 and name.isascii() and name[0].isupper() and name.isalpha()
            if is_name and low not in ENGLISH_STOP_WORDS:
                yield name, stem(low)
