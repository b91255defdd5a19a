"""The gates that are written here notice what they are for."""

import pytest

from tools.gates import doubled_words, not_bold


@pytest.mark.parametrize(
    ("gate", "text", "count"),
    [
        (doubled_words, "It is is here.", 1),
        (doubled_words, "At the end of\nof a line.", 1),
        (doubled_words, "A code, not a formula: $c c$ and `the the`. What this is. Is it?", 0),
        (not_bold, "**预测。**把它旋转。", 1),
        (not_bold, "它叫**“旋转”**编码。", 1),
        (not_bold, "**预测**。把它旋转。\n\n**Predict.** Rotate it.", 0),
    ],
)
def test_doubled_words_and_chinese_that_would_not_be_bold_are_noticed(gate, text, count, tmp_path):
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    assert gate([path]) == count
