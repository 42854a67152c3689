"""Words in either Chinese script."""

from __future__ import annotations

import pytest

from gatekeeper_core.selection.anchors import count_terms, folded


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("訂單與發貨", "订单与发货"),
        ("用Redis做緩存", "用Redis做缓存"),
        ("環境變數設定", "环境变数设定"),
        ("plain text", "plain text"),
    ],
)
def test_both_scripts_give_the_same_terms(traditional: str, simplified: str) -> None:
    assert count_terms(traditional) == count_terms(simplified)
    assert folded(traditional) == folded(simplified)
