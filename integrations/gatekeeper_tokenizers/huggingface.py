"""Exact token counts of open models, with Hugging Face's tokenizers."""

from __future__ import annotations

from pathlib import Path

from gatekeeper_core.arguments import needs_extra, with_suggestions
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.tokens import TokenCounter

with needs_extra("tokenizers", "tokenizers", name=__name__):
    from tokenizers import Tokenizer


@with_suggestions()
def tokenizers_counter(tokenizer: Tokenizer | str | Path) -> TokenCounter:
    """Return a counter that counts tokens as an open model does.

    The special tokens that a tokenizer adds around a text (``<s>``) do not count. Lone surrogates count as U+FFFD.

    Args:
        tokenizer: a ``tokenizers.Tokenizer``, or the path of a ``tokenizer.json``; nothing is downloaded.

    Raises:
        ConfigError: the file does not exist, or is not a tokenizer.
        TypeError: the tokenizer has the wrong type.
    """
    if isinstance(tokenizer, str | Path):
        tokenizer = _read(Path(tokenizer))
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(f"tokenizer must be a tokenizers.Tokenizer or a path, got {type(tokenizer).__name__}")
    encode = tokenizer.encode

    def count(text: str, /) -> int:
        valid = text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return len(encode(valid, add_special_tokens=False).ids)

    count.__qualname__ = f"tokenizers {tokenizer.get_vocab_size()}"
    return count


def _read(path: Path) -> Tokenizer:
    if not path.is_file():
        raise ConfigError(f"no file {path}: save the model's tokenizer.json there; this library downloads nothing")
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises no narrower one
        raise ConfigError(f"{path} is not a tokenizer file") from error
