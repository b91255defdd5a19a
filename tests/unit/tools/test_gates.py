"""The gate that is written here notices what it is for."""

from __future__ import annotations

import pytest

from tools.gates import doubled_words, not_bold


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It is is here.", 1),
        ("At the end of\nof a line.", 1),
        ("A code, not a formula: $c c$ and `the the`.", 0),
        ("It looks far\n\nfar in another paragraph.", 0),
        ("What this is. Is it?", 0),
    ],
)
def test_doubled_words_are_noticed_within_a_paragraph(text, count, tmp_path):
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    assert doubled_words([path]) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("**预测。**把它旋转。", 1),
        ("它叫**“旋转”**编码。", 1),
        ("**预测**。把它旋转。", 0),
        ("**Predict.** Rotate it.", 0),
    ],
)
def test_chinese_that_would_not_be_bold_is_noticed(text, count, tmp_path):
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    assert not_bold([path]) == count
