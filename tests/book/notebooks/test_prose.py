"""The checker of numbers in prose: what it finds, forgives, and does not let pass."""

from decimal import Decimal

import pytest

from tests.book.notebooks.prose import missing_numbers, numbers_in_output, numbers_in_prose


def found(markdown: str) -> list[Decimal]:
    return [number.value for number in numbers_in_prose(markdown)]


@pytest.mark.parametrize(
    ("markdown", "value"),
    [
        ("65536 tokens", "65536"),
        ("65 536 tokens", "65536"),
        ("65,536 tokens", "65536"),
        ("65\u202f536 tokens", "65536"),
        ("65&nbsp;536 tokens", "65536"),
        (r"$65\,536$", "65536"),
        (r"$65{,}536$", "65536"),
        ("10_000", "10000"),
        ("about 0.477.", "0.477"),
        ("(0.477)", "0.477"),
        ("the 128-token window", "128"),
        ("**128**", "128"),
        ("falls to −0.217", "-0.217"),
        ("falls to -0.217", "-0.217"),
        ("$=-0.217$", "-0.217"),
        ("from 100-200", "100"),
        (r"$6.25 \times 10^{-3}$", "0.00625"),
        ("6.25 × 10⁻³", "0.00625"),
        ("1.25e-05", "0.0000125"),
        (r"$x_{512}$", "512"),
        ("in 1 000 000 steps", "1000000"),
    ],
)
def test_a_number_is_read_however_it_is_written(markdown, value):
    assert Decimal(value) in found(markdown)


@pytest.mark.parametrize(
    "markdown",
    [
        "only 42 or 4.2",
        "`inv_freq(128)`",
        "``a ` 128``",
        "```python\nx = 128\n```",
        "~~~\n128\n~~~",
        "[Su et al. 2021](https://example.org/2104.09864)",
        "![2021](picture-128.png)",
        '<img width="128">',
        "<!-- 128 -->",
        "float64, Qwen3, C105, GPT-2",
        "$10^{100}$ and $2^{16}$",
        "10¹⁰⁰",
        r"$$x \tag{8.12}$$",
        r"$\theta^{128}$",
    ],
)
def test_what_is_no_number_of_the_prose_is_left_alone(markdown):
    assert found(markdown) == []


def test_a_grouping_comma_is_not_a_separator():
    assert found("heads of 64, 128, 256") == [128, 256]


@pytest.mark.parametrize(
    ("output", "values"),
    [
        ("[100 200 300]", {100, 200, 300, 100200300}),
        ("65,536", {65, 536, 65536}),
        ("0.4770 and -1.5e-05", {Decimal("0.477"), Decimal("-0.000015")}),
        ("array([1., 0.1])", {1, Decimal("0.1")}),
        ("tensor(0.2500)", {Decimal("0.25")}),
        ("S(500)=0.25", {500, Decimal("0.25")}),
    ],
)
def test_numbers_of_an_output(output, values):
    assert numbers_in_output(output) == values


@pytest.mark.parametrize(
    ("output", "markdown"),
    [
        ("65536", "65 536"),
        ("65,536", "65536"),
        ("0.47712", "about 0.477"),
        ("0.4765", "0.477"),
        ("628.3185", "628 tokens"),
        ("-0.2171", "falls by 0.217"),
        ("-0.2171", "is −0.217"),
        ("0.4771", "47.7 %"),
        ("47.71", r"$47.7\%$"),
        ("6.2519e-03", r"$6.25 \times 10^{-3}$"),
        ("[128 256]", "128 and 256"),
    ],
)
def test_a_number_that_an_earlier_output_shows_is_found(output, markdown):
    assert missing_numbers([("output", output), ("prose", markdown)]) == []


@pytest.mark.parametrize(
    ("output", "markdown", "missing"),
    [
        ("0.47712", "about 0.478", "0.478"),
        ("65536", "65 537", "65 537"),
        ("0.2171", "is −0.217", "−0.217"),
        ("0.4771", "0.47712", "0.47712"),
        ("0.477", "4.77", "4.77"),
        ("0.4771", "is 47.7", "47.7"),
        ("1000", "a hundred: 100", "100"),
    ],
)
def test_a_wrong_number_is_reported(output, markdown, missing):
    assert missing_numbers([("output", output), ("prose", markdown)]) == [(1, missing)]


def test_an_output_that_comes_later_does_not_count():
    assert missing_numbers([("prose", "128"), ("output", "128"), ("prose", "128")]) == [(0, "128")]
