"""posenc.figures.distance_bias: conditions of chapter 09, and distance biases of trained models."""

from tests.unit.figure_examples import EXAMPLES, alt, title


def test_distance_and_dilution():
    figure = EXAMPLES["distance_and_dilution"]()
    spans = [(trace.legendgroup, min(trace.x), max(trace.x)) for trace in figure.data]
    older, younger = "first half", "second half"
    assert spans[:4] == [(younger, 4, 8), (older, 0, 4), (younger, 4, 8), (older, -6, -2)]
    assert [name for name, *_ in spans[4:]] == [younger] + [older] * 4  # no more than four are drawn
    assert [note.text for note in figure.layout.annotations] == ["gap of 6 tokens", "each key counts 9 times"]
    assert "moved: the first half is 6 tokens farther away; diluted" in alt(figure)


def test_distance_biases():
    figure = EXAMPLES["distance_biases"]()
    assert figure.data[0].y.tolist() == [0, -2, -1, 0.5, 3]
    (unseen,) = figure.layout.shapes
    assert (unseen.x0, unseen.x1) == (3, 4)
    assert title(figure) == "Minimum within 3 tokens and maximum beyond: a −2.0 at distance 1, then 3.0"


def test_losses_and_biases():
    figure = EXAMPLES["losses_and_biases"]()
    lines = figure.data
    assert [(line.name, line.x0, line.dx) for line in lines] == [
        ("as trained", 2, 4),  # the middle of each step
        ("held", 10, 4),  # past the trained length
        ("as trained", 0, 4),
        ("held", 8, 4),
    ]
    assert [line.line.color for line in lines[:2]] == [line.line.color for line in lines[2:]]
    assert title(figure) == "Loss in the last 4 tokens: as trained 4.00, held 1.25"
    assert alt(figure).endswith("at the largest distance: as trained 3.0, held −2.0. The trained length is 8 tokens.")
