"""The data files: their form, what each table promises, and that they are read late, once, and from an archive."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
import zipfile
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

import gatekeeper_core
from gatekeeper_core.data_files import rows, text, words
from gatekeeper_core.selection.anchors import count_terms, folded, stem, term_weight, without_ending
from gatekeeper_core.selection.information import is_generic
from gatekeeper_core.selection.lexicon import (
    ENGLISH_STOP_WORDS,
    HAN_PARTICLES,
    UNINFLECTED,
    background_frequencies,
    family_heads,
    irregular_forms,
    kinds,
    simplified_characters,
    synonyms,
    translations,
)
from gatekeeper_core.text import HAN

CORE = Path(gatekeeper_core.__file__).parent
TABLES = sorted(path.name for path in (CORE / "data").glob("*.tsv"))
READERS: tuple[Callable[[], object], ...] = (
    *(translations, synonyms, kinds, simplified_characters),
    *(irregular_forms, family_heads, background_frequencies),
)
ENTRIES = rows("translations.tsv")
CHINESE = sorted({*chain.from_iterable(translations().values())})


@pytest.mark.parametrize("name", TABLES)
def test_a_data_file_has_a_head_of_comments_and_rows_of_as_many_columns(name: str) -> None:
    lines = text(name).split("\n")
    assert lines == [*text(name).splitlines(), ""], "a line ends with \\n and nothing else"
    assert "source" in " ".join(line.lower() for line in lines[:9] if line.startswith("# "))
    assert len({len(row) for row in rows(name)}) == 1
    assert [line for line in lines if line != line.strip() or unicodedata.normalize("NFC", line) != line] == []
    assert [row for row in rows(name) if not all(row)] == []


@pytest.mark.parametrize("name", sorted({key for key, _ in rows("words.tsv")}))
def test_a_list_has_no_word_twice(name: str) -> None:
    listed = words("words.tsv", name)
    assert len({*listed}) == len(listed)


SOUND = {
    "an entry of translations is of English words and up to six Chinese ones": [
        entry
        for entry in map(": ".join, ENTRIES)
        if not re.fullmatch(rf"[a-z]+(_[a-z]+)?( [a-z]+(_[a-z]+)?)*:( [{HAN}]{{1,4}}){{1,6}}", entry)
    ],
    "its English words are in order": [
        english for english, _ in ENTRIES if english.split() != sorted({*english.split()})
    ],
    "no two entries have the same translations": [] if len({zh for _, zh in ENTRIES}) == len(ENTRIES) else ["some"],
    "no translation is there twice": [others for others in translations().values() if len({*others}) < len(others)],
    "no function word has translations": [
        word for word in translations() if not ENGLISH_STOP_WORDS.isdisjoint(word.split("_"))
    ],
    "no generic word has translations": [word for word in translations() if "_" not in word and is_generic(stem(word))],
    "a translation is simplified": [word for word in CHINESE if folded(word) != word],
    "a translation can be searched for": [
        word
        for word in CHINESE
        if not {word[at : at + 2] for at in range(max(1, len(word) - 1))} <= count_terms(word).keys()
        or (len(word) < 3 and all(map(is_generic, word)) and term_weight(word[:2]) < 1.0)
    ],
    "synonyms go both ways": [
        word for word, others in synonyms().items() if not others or any(word not in synonyms()[one] for one in others)
    ],
    "no word is its own synonym": [word for word, others in synonyms().items() if word in others],
    "a synonym, a kind or a member can be searched for": [
        word for table in (synonyms(), kinds()) for word in {*table, *chain(*table.values())} if not count_terms(word)
    ],
    "a simplified form has no simpler one": sorted({*simplified_characters()} & {*simplified_characters().values()}),
    "a simplified form is one letter": [
        pair
        for pair in simplified_characters().items()
        if pair[0] == pair[1] or any(unicodedata.category(char) != "Lo" for char in pair)
    ],
    "the base of an irregular form is regular": sorted({*irregular_forms()} & {*irregular_forms().values()}),
    "a head is in no family": sorted(family_heads().keys() & {*family_heads().values(), *irregular_forms()}),
    "a family is one term": sorted({stem(form) for form in family_heads()} ^ {*map(stem, family_heads().values())}),
    "a word without an ending is its own term": [word for word in UNINFLECTED - {"organisation"} if stem(word) != word],
    "a frequency is a share": [term for term, share in background_frequencies().items() if not 0.0 < share < 0.02],
    "the frequency of a family is under its term": sorted(
        {without_ending(form) for form in family_heads()} - {*map(stem, family_heads())}
        & background_frequencies().keys()
    ),
    "a term of the background is an English stem or a Chinese pair": [
        term for term in background_frequencies() if not (term.isascii() or len(term) == 2) or term != term.casefold()
    ],
    "no function word has a frequency (000-11, 000-12)": [
        term
        for term in background_frequencies()
        if not HAN_PARTICLES.isdisjoint(term) or term in ("the", "and", "of", "is", "you", "don't")
    ],
}


@pytest.mark.parametrize("promise", SOUND)
def test_the_tables_are_sound(promise: str) -> None:
    assert SOUND[promise] == []


@pytest.mark.parametrize("reader", READERS)
def test_a_table_is_one_that_nobody_can_change(reader: Callable[[], dict[str, object]]) -> None:
    table = reader()
    assert table is reader()
    with pytest.raises(TypeError):
        table["good"] = 1.0


def test_the_tables_are_read_from_a_zip_archive_when_they_are_needed(tmp_path: Path) -> None:
    """Importing the library reads the words that cut a text, and no other table."""
    archive = tmp_path / "library.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(CORE.rglob("*")):
            if path.suffix in (".py", ".tsv"):
                file.write(path, path.relative_to(CORE.parent))
    program = f"""
import sys
sys.path[:0] = [{str(archive)!r}]
from gatekeeper_core import ContextGatekeeper, select_history
from gatekeeper_core.selection.lexicon import background_frequencies, translations
assert background_frequencies.cache_info().currsize == translations.cache_info().currsize == 0, "read by the import"
gatekeeper = ContextGatekeeper()
gatekeeper.add_turn("The fridge is broken", "Call the shop")
assert {str(archive)!r} in background_frequencies.__wrapped__.__code__.co_filename
assert gatekeeper.select("冰箱怎么样了？")
assert translations.cache_info().currsize == 1
"""
    subprocess.run([sys.executable, "-I", "-c", program], check=True)
