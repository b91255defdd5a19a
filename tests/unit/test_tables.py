"""Printed tables."""

import numpy as np
import pytest

from posenc import tables
from posenc.tables import table


def test_numbers_stand_to_the_right_and_words_to_the_left(capsys):
    table([("a", np.int64(7), None, True), ("long", 1234, np.float32(0.5), False)], columns=["word", "n", "x", "is"])
    assert capsys.readouterr().out == "word     n      x   is\na        7      –  yes\nlong  1234  0.500   no\n"


def test_columns_stand_below_one_another_in_chinese(capsys):
    table([("旋转", 7), ("a", 12)], columns=["编码", "n"])
    assert capsys.readouterr().out == "编码   n\n旋转   7\na     12\n"


def test_a_page_shows_it_as_html(monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(tables, "show", lambda *given: shown.append(given))
    table([("a < b", 7)], columns=["word", "n"])
    [(text, html)] = shown
    assert capsys.readouterr().out == ""
    assert text == "word   n\na < b  7\n"
    assert "<thead><tr><th>word<th class=posenc-right>n</tr>" in html
    assert "<tbody><tr><td>a &lt; b<td class=posenc-right>7</tr>" in html


@pytest.mark.parametrize(("rows", "digits"), [([(1,)], 3), ([(1, 2)], [3])])
def test_a_row_has_an_entry_for_each_column(rows, digits):
    with pytest.raises(ValueError, match="there are 2 columns"):
        table(rows, columns=["x", "y"], digits=digits)
