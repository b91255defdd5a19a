"""What students wrote is shown and does nothing: in a terminal, in a spreadsheet, on a page."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from course.words import LONGEST_FORMULA, name_shown, no_formula, visible, with_formulas


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ada", "ada"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\x9bb\x7f", "a\\x9bb\\x7f"),
        ("abc\u202ecba", "abc\\u202ecba"),
        ("\U000e0041", "\\U000e0041"),
        ("half \udcff", "half \\udcff"),
        ("a\u2028b", "a\\u2028b"),
        ("李　明 é e\u0301 n\u200cm", "李　明 é e\u0301 n\u200cm"),
    ],
)
def test_what_steers_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_two_names_are_never_shown_alike() -> None:
    names = ["\x1b", "\\x1b", "\\\\x1b", "\udcff", "\\udcff"]
    assert len({name_shown(name) for name in names}) == len(names)
    assert visible("a\nb", keep="\n") == "a\nb"


@pytest.mark.parametrize("sign", list("=+-@＝＋－＠﹦﹢﹣﹫−"))
@pytest.mark.parametrize("before", ["", " ", '"', "a;", "a,", "a\t", "a|", "a\n", "a; ", 'a;"', "　"])
def test_no_piece_of_a_cell_begins_a_formula(sign: str, before: str) -> None:
    assert no_formula(f"{before}{sign}1+2") == f"{before}'{sign}1+2"


@pytest.mark.parametrize("text", ["ada", "a-b", "q1: 2 of 3; right", "a = b", "1.5", "", "o'neil; x"])
def test_other_cells_stay_as_they_are(text: str) -> None:
    assert no_formula(text) == text


def test_formulas_are_set_and_the_rest_is_escaped() -> None:
    page = str(with_formulas("So <b>$m\\theta_i$</b> & $$\\frac{1}{2}$$ and \\begin{align} a &= b \\end{align}\r\n."))
    assert page.startswith('So &lt;b&gt;<math display="inline">')
    assert page.count("<math") == 3
    assert page.count('display="block"') == 2
    assert "<msub><mi>θ</mi><mi>i</mi></msub>" in page
    assert "</math>&lt;/b&gt; &amp; <math" in page
    assert page.endswith("</math>."), "it stands on a line of its own"


@pytest.mark.parametrize(
    "text", ["it costs $5 or $6", "a $ b $ c", "`$x$`", "\\$x\\$", "$x", "$a\n\nb$", "100$", "$$", "$$$$", "\\(x\\)"]
)
def test_a_dollar_is_no_formula(text: str) -> None:
    assert "<math" not in with_formulas(text)


@pytest.mark.parametrize(
    "formula",
    [
        "\\frac{1}",
        "\\frac{1",
        "a^b^c",
        "\\left(",
        "{" * 900,
        "\\}{",
        "x" * (LONGEST_FORMULA + 1),
        "\\sqrt{" * 70 + "x" + "}" * 70,
    ],
)
def test_the_source_of_what_cannot_be_set_is_shown(formula: str) -> None:
    assert str(with_formulas(f"<${formula}$>")) == (
        f'&lt;<code title="This formula could not be set.">${formula}$</code>&gt;'
    )


HOSTILE = [
    r"\text{<script>alert(1)</script>}",
    r"\text{</mtext></math><img src=x onerror=alert(1)>}",
    r"\unicode{x3c}b\unicode{x3e}",
    r"\text{&lt;img src=x onerror=alert(1)&gt;}",
    r"\href{javascript:alert(1)}{x}",
    r"\style{position:fixed}{x}",
    r"\class{warning}{x}",
    r"\color{red}{x}",
    r'\color{red" onclick="alert(1)}{x}',
    r"\hspace{-50em}20",
    r"\hspace{9999em}",
    r"\mathrm{<style>*{display:none}</style>}",
    r"\operatorname{<a href=//x>}",
    r"\begin{matrix}<b>&<i>\end{matrix}",
    r"\rule{99em}{99em}",
    r"\raise{99em}{x}",
    r"\includegraphics{http://x/y}",
    r"\large\Huge x",
    r"\cssId{a}{b}",
    "\x00",
    "\udcff",
    "<![CDATA[x]]>",
    "<!--",
    "]]>",
    "&#60;b&#62;",
    r"\mathchoice{a}{b}{c}{d}",
    r"\boxed{x}",
    r"\cancel{x}",
    r"\phantom{x}",
]


@pytest.mark.parametrize("formula", HOSTILE)
@pytest.mark.parametrize("mark", ["$", "$$"])
def test_a_formula_does_nothing_on_a_page(formula: str, mark: str) -> None:
    page = str(with_formulas(f"before {mark}{formula}{mark} after"))
    root = ElementTree.fromstring(f"<div>{page}</div>")
    names = {element.tag for element in root.iter()}
    assert not names & {"script", "img", "style", "a", "b", "i", "annotation-xml", "semantics", "maction"}
    assert names - {"div", "code"} <= set(re.findall(r"<([a-z]+)", page))
    for element in root.iter():
        assert not set(element.attrib) & {
            "href",
            "style",
            "class",
            "id",
            "mathcolor",
            "mathbackground",
            "height",
            "depth",
        }
        assert not any(name.startswith("on") for name in element.attrib)
        assert not re.search(r"-|\d{2}", element.attrib.get("width", ""))


@pytest.mark.parametrize(
    "piece",
    [
        "`",
        "$",
        "$a",
        "$$a",
        "\\begin{align}",
        "$\n",
        "$ ",
        "\\",
        "$a\n \n",
        f"${'{' * 400}{'}' * 400}$",
        "$x+y$",
        "\u0301",
    ],
)
def test_long_texts_take_little_room(piece: str) -> None:
    assert len(with_formulas((piece * 20_000)[:20_000])) < 2**20
