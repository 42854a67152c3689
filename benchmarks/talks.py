"""Conversations with questions that name the turns they need: one model for all sets, and a reader for each.

A :class:`LabelledSet` is a file of them with the way it is measured; ``SETS`` has them by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.data import Block, Utterance, as_blocks, read_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

OWN = Path(__file__).with_name("own_questions.jsonl")
"""Conversations and questions of our own, in the form of the everyday data."""

HANGING = ("follow_up", "elliptical", "refers", "correction")
GOING_BACK = ("return_worded", "return_plain", "detail_same_topic", "word_form")
CHANGES = ("new_topic_plain", "new_topic_cue")
GROUPS: dict[str, tuple[str, ...]] = {
    "follow-up, elliptical, refers, correction": HANGING,
    "going back, detail, word form": GOING_BACK,
    "several turns, lists": ("multi", "list"),
    "new topic, off-topic": (*CHANGES, "off_topic"),
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a conversation.

    Attributes:
        after: turns before it.
        text: the question.
        kind: one of the kinds of the data.
        needed: for each needed turn the turns that may stand for it, itself first.
        helpful: further turns that a careful assistant would like.
        answer: the real answer where the question is a turn of the conversation, "" elsewhere.
    """

    after: int
    text: str
    kind: str
    needed: tuple[tuple[int, ...], ...]
    helpful: frozenset[int] = frozenset()
    answer: str = ""

    @property
    def useful(self) -> frozenset[int]:
        """Every turn that is needed, may stand for one, or helps."""
        return self.helpful.union(*self.needed)


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation with its questions, in the order in which they are asked."""

    name: str
    language: str
    blocks: tuple[Block, ...]
    questions: tuple[Question, ...]


def read_everyday(path: Path) -> list[Talk]:
    """Return the conversations of a file in the form of the everyday data."""
    talks = []
    for row in read_jsonl(path):
        turns, items = row["turns"], sorted(row["questions"], key=lambda item: item["after"])
        blocks = tuple(Block((str(at),), turn["user"], turn["assistant"]) for at, turn in enumerate(turns))
        talks.append(Talk(row["id"], row["lang"], blocks, tuple(_question(item, turns) for item in items)))
    return talks


def _question(item: dict[str, Any], turns: Sequence[dict[str, str]]) -> Question:
    others = item.get("alternatives", {})
    return Question(
        after=item["after"],
        text=item["query"],
        kind=item["kind"],
        needed=tuple((at, *others.get(str(at), ())) for at in item["needed"]),
        helpful=frozenset(item["helpful"]),
        answer=turns[item["after"]]["assistant"] if item["after"] < len(turns) else "",
    )


def read_beam(path: Path) -> list[Talk]:
    """Return the conversations of a BEAM file; every question comes at the end and needs the turns of its evidence."""
    talks = []
    for row in read_jsonl(path):
        blocks = tuple(as_blocks([Utterance(turn["speaker"], turn["text"], shift=False) for turn in row["turns"]]))
        turn_of = {row["turns"][int(place)]["id"]: at for at, block in enumerate(blocks) for place in block.ids}
        needed = ((item, [turn_of[message] for message in item["evidence"]]) for item in row["questions"])
        questions = tuple(_at_the_end(blocks, item["q"], item["type"], turns) for item, turns in needed)
        talks.append(Talk(row["conv"], "en", blocks, questions))
    return talks


def _at_the_end(blocks: Sequence[Block], text: str, kind: str, needed: Iterable[int]) -> Question:
    return Question(len(blocks), text, kind, tuple((at,) for at in sorted({*needed})))


def read_memdaily(path: Path) -> list[Talk]:
    """Return the groups of a MemDaily file: a turn without an answer for each message, every question at the end."""
    talks = []
    for number, row in enumerate(read_jsonl(path)):
        blocks = tuple(Block((str(at),), text, "") for at, text in enumerate(row["messages"]))
        questions = tuple(
            _at_the_end(blocks, item["question"], row["kind"], item["needed"]) for item in row["questions"]
        )
        talks.append(Talk(f"{row['kind']}-{number}", "zh", blocks, questions))
    return talks


class LabelledSet(NamedTuple):
    """A file of conversations with labelled needs, and how it is measured.

    Attributes:
        name: of the set in the tables.
        file: its path below the folder of the data; absolute where the set is our own.
        read: returns its conversations.
        fitted_on: the authors whose conversations the weights are fitted on, never those of the file itself.
        budget: tokens of the default strategy.
        fills: tokens that the strategy ``fill`` and the peers fill.
        groups: by name the kinds of question that are one row; the kinds have rows of their own beside them.
        columns: by name the group or kind whose hit is a column of the table of all methods.
    """

    name: str
    file: str
    read: Callable[[Path], list[Talk]] = read_everyday
    fitted_on: str = "both"
    budget: int = 4000
    fills: tuple[int, ...] = (300,)
    groups: Mapping[str, tuple[str, ...]] = GROUPS
    columns: tuple[tuple[str, str], ...] = tuple(zip(("follow-ups", "going back"), GROUPS, strict=False))


SETS = {
    "own": (LabelledSet("own", str(OWN)),),
    "everyday": (
        LabelledSet("dev", "everyday/everyday_dev.jsonl", fitted_on="second"),
        LabelledSet("second", "everyday/everyday_second.jsonl", fitted_on="first"),
    ),
    "beam": (
        LabelledSet(
            "BEAM", "beam/beam_128k_dev.jsonl.gz", read_beam, fills=(1000, 4000, 16_000), groups={}, columns=()
        ),
    ),
    "memdaily": (
        LabelledSet(
            "MemDaily",
            "memdaily/memdaily_zh_dev.jsonl",
            read_memdaily,
            budget=200,
            fills=(200,),
            groups={},
            columns=(("noisy", "noisy"),),
        ),
    ),
}
