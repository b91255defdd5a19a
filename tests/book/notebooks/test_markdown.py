"""The checker of the chapters' Markdown."""

import pytest

from tests.book.notebooks.markdown import faults

GOOD = [
    "# A title\n\nText with $x_{1}$ and\n\n$$\n\\theta_i = b^{-2i/d} \\tag{8.1}\n$$\n\nmore.",
    "<details><summary>Solution</summary>\n\nText.\n\n```python\nx = {1: 2}\n```\n\n</details>",
    "<details>\n<summary>Predict</summary>\n\nText.\n\n</details>\n\nMore.",
    "> A quotation with [a link](https://example.org) and `code {x}`.",
    "| a | b |\n|---|---|\n| $|x|$ | 2 |",
    "It costs \\$5 and \\$6.",
    "- one\n- two: three",
]
BAD = [
    ("```{note}\nText\n```", "directive"),
    ("````{admonition} T\nText\n````", "directive"),
    (":::{note}\nText\n:::", "colon fence"),
    ("See {eq}`decay`.", "role"),
    ("(decay)=\n# Decay", "label"),
    ("$$\nx\n$$ (decay)", "label"),
    ("$$x$$ (decay)", "label"),
    ("$$x \\label{a}$$", "\\label"),
    ("$$x$$ and \\(y\\)", "mathematics outside"),
    ("\\begin{align} x \\end{align}", "mathematics outside"),
    ("One $x and no more.", "unpaired"),
    ("$$x", "unpaired"),
    ("Text[^1]", "footnote"),
    ("# Title {#name}", "brace"),
    ("<details><summary>S</summary>\nText.\n\n</details>", "blank line after"),
    ("<details><summary>S</summary> Text.\n\n</details>", "blank line after"),
    ("<details><summary>S</summary>\n\nText.\n</details>", "blank line before"),
    ("<details><summary>S</summary>\n\nText.\n", "not closed"),
    ("![a picture](a.png)", "image"),
    ("<script>1</script>", "element"),
    ("% a comment", "comment"),
]


@pytest.mark.parametrize("markdown", GOOD)
def test_plain_markdown_has_no_fault(markdown):
    assert faults(markdown) == []


@pytest.mark.parametrize(("markdown", "what"), BAD)
def test_what_colab_does_not_render_is_reported(markdown, what):
    assert any(what in fault for fault in faults(markdown))
