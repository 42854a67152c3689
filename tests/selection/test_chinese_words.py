"""Words of Chinese text: whole ones, in simplified and traditional characters, and nothing that crosses two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper_core.selection.chinese_words import chinese_pieces, chinese_words


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("这次博物馆要预约吗", ["博物馆", "预约"]),
        ("地铁口是哪个", ["地铁"]),
        ("那三个库存扣减的接口最后是怎么修的", ["库存", "扣减", "接口"]),
        ("布隆过滤器", ["布隆", "过滤器"]),
        ("我們的資料庫用哪個端口", ["端口"]),
        ("各导出一次监控截图", ["导出", "监控", "截图"]),
        ("铸铁锅比石板还好用", ["铁锅", "石板"]),
        ("我们都聊了些什么", []),
        ("三个月前", []),
        ("", []),
    ],
)
def test_words_are_whole_and_neither_grammar_nor_units(run: str, words: list[str]) -> None:
    found = chinese_words(run)
    assert [word for word in found if word in words] == words
    if not words:
        assert found == []


@pytest.mark.parametrize(
    ("run", "cut"), [("这次博物馆", "次博"), ("去博物馆看", "物馆"), ("地铁口是", "口是"), ("三个库存", "个库")]
)
def test_no_word_crosses_two(run: str, cut: str) -> None:
    assert cut not in chinese_words(run)


han = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=30) | st.text(
    st.sampled_from("我们的库存扣减接口三个是在博物馆這資料"), max_size=30
)


@given(han)
def test_the_pieces_are_the_whole_run_and_words_are_among_them(run: str) -> None:
    pieces = chinese_pieces(run)
    assert "".join(piece.text for piece in pieces) == run
    assert all(piece.text for piece in pieces)
    assert all(len(piece.text) > 1 for piece in pieces if piece.is_word)
