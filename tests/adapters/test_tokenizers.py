"""Exact counters: what they count, what they refuse, and that what is sent never exceeds a budget by their count."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from gatekeeper_core import ConfigError, ContextGatekeeper, Message
from gatekeeper_core.tokens import count_messages
from gatekeeper_tokenizers.huggingface import tokenizers_counter
from gatekeeper_tokenizers.openai import tiktoken_counter
from tests.case_files import rows
from tests.histories import view_with
from tests.talks import talk

# A byte-level tokenizer made here: nothing is fetched. It merges "th", "the" and a space with "the".
RANKS = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257, b" the": 258, "缓".encode(): 259}
ENCODING = tiktoken.Encoding(
    "small", pat_str=r" ?\w+|[^\w\s]+|\s+", mergeable_ranks=RANKS, special_tokens={"<|endoftext|>": 260}
)
count_tokens = tiktoken_counter(ENCODING)

[[WORDS]] = rows("tokenizers", "words")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
conversations = st.lists(st.tuples(texts, texts), max_size=8)


def word_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({"<s>": 0, "[UNK]": 1, "the": 2, "cache": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return tokenizer


@given(texts)
def test_tiktoken_counts_as_the_encoding_does(text: str) -> None:
    """003-77: text that looks like a special token is text."""
    assert count_tokens(text) == len(ENCODING.encode(text, disallowed_special=()))
    assert count_tokens("<|endoftext|>") > 1


@given(conversations, texts, st.integers(1, 300), st.integers(0, 2))
def test_what_is_sent_never_exceeds_the_budget_by_an_exact_count(
    pairs: list[tuple[str, str]], question: str, budget: int, floor: int
) -> None:
    """003-77: counted on the messages that are sent; only what must be sent can be over."""
    messages = [*talk(pairs), Message("user", question)]
    view = view_with(
        messages,
        gatekeeper=ContextGatekeeper(token_counter=count_tokens),
        token_budget=budget,
        keep_newest=floor,
        on_error="raise",
    )
    cut = dict(view.replaced)
    sent = [cut.get(at, messages[at]) for at in view.kept]
    rendered = sum(len(ENCODING.encode(message.text, disallowed_special=())) for message in sent)
    assert rendered == count_messages(sent, token_counter=count_tokens)
    assert rendered <= budget or view.status == "over_budget"
    assert (view.sizes.counter, view.sizes.margin) == ("tiktoken small", 0.0)


def test_a_table_that_is_not_in_the_cache_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is downloaded at run time: the error says what to do."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(ConfigError, match="set TIKTOKEN_CACHE_DIR to a folder that holds it"):
        tiktoken_counter("o200k_base")


def test_a_table_in_the_cache_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """LlamaIndex's wheel holds the table of cl100k."""
    core = pytest.importorskip("llama_index.core")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", os.path.join(os.path.dirname(core.__file__), "_static", "tiktoken_cache"))
    assert tiktoken_counter("cl100k_base")("hello world") == 2


@pytest.mark.parametrize(("encoding", "error"), [("gpt-9", ConfigError), (3, TypeError), (None, TypeError)])
def test_an_encoding_that_cannot_be_is_refused(encoding: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="encoding must be"):
        tiktoken_counter(encoding)


@pytest.mark.parametrize(("text", "tokens"), [("the cache", 2), ("", 0), ("缓存 the 😀", 3), ("a\ud800b", 3)])
def test_tokenizers_counts_without_the_marks_around_a_text(text: str, tokens: int, tmp_path: Path) -> None:
    tokenizer = word_tokenizer()
    assert tokenizers_counter(tokenizer)(text) == tokens
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert tokenizers_counter(str(tmp_path / "tokenizer.json"))(text) == tokens
    assert tokenizers_counter(tmp_path / "tokenizer.json")(text) == tokens


def test_a_tokenizer_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="this library downloads nothing"):
        tokenizers_counter("org/model")
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not a tokenizer file"):
        tokenizers_counter(tmp_path / "tokenizer.json")
    with pytest.raises(TypeError, match=r"tokenizer must be a .* or a path, got int"):
        tokenizers_counter(3)  # type: ignore[arg-type]
