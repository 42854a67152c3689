"""Exact token counts of OpenAI's models, with tiktoken."""

from __future__ import annotations

import os
import tempfile
from hashlib import sha1
from pathlib import Path

from gatekeeper_core.arguments import needs_extra, with_suggestions
from gatekeeper_core.errors import ConfigError
from gatekeeper_core.tokens import TokenCounter

with needs_extra("tiktoken", "tiktoken", name=__name__):
    import tiktoken

_ADDRESSES = {
    name: f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
    for name in ("cl100k_base", "o200k_base")
}


@with_suggestions()
def tiktoken_counter(encoding: tiktoken.Encoding | str) -> TokenCounter:
    """Return a counter that counts tokens as OpenAI's models do.

    Special tokens such as ``<|endoftext|>`` count as plain text. Lone surrogates count as U+FFFD.

    Args:
        encoding: an ``Encoding``, or ``"cl100k_base"`` or ``"o200k_base"`` if its table is in tiktoken's cache.

    Raises:
        ConfigError: the name is unknown, or its table is not in the cache; nothing is downloaded.
        TypeError: the encoding has the wrong type.
    """
    if isinstance(encoding, str):
        _check_cached(encoding)
        encoding = tiktoken.get_encoding(encoding)
    if not isinstance(encoding, tiktoken.Encoding):
        raise TypeError(f"encoding must be a tiktoken.Encoding or a name, got {type(encoding).__name__}")
    encode = encoding.encode

    def count(text: str, /) -> int:
        return len(encode(text, disallowed_special=()))

    count.__qualname__ = f"tiktoken {encoding.name}"
    return count


def _check_cached(name: str) -> None:
    if name not in _ADDRESSES:
        raise ConfigError(f"encoding must be one of {', '.join(_ADDRESSES)}, or an Encoding, got {name!r}")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    folder = folder or str(Path(tempfile.gettempdir()) / "data-gym-cache")
    # How tiktoken names the files of its cache.
    file = Path(folder) / sha1(_ADDRESSES[name].encode(), usedforsecurity=False).hexdigest()
    if not file.is_file():
        raise ConfigError(
            f"the table of {name} is not in tiktoken's cache ({folder}), and this library downloads nothing: set "
            "TIKTOKEN_CACHE_DIR to a folder that holds it, or pass tiktoken.get_encoding(...), which downloads it"
        )
