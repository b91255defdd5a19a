"""posenc.figures.positions: what is drawn of positions that are learned or counted."""

import numpy as np

from tests.unit.figure_examples import CLOCK, DRAWN, EXAMPLES, LOOKS, ONE_BACK, READ, alt, title


def test_previous_token_weights():
    figure = EXAMPLES["previous_token_weights"]()
    for trace, (name, weights) in zip(figure.data, LOOKS.items(), strict=True):
        assert (trace.name, trace.x0, trace.dx) == (name, 1, 1)
        np.testing.assert_allclose(trace.y, weights, atol=DRAWN)
    assert "first → last quarter of the positions: 0.75 → 0.00 (table), 0.50 → 0.50 (turned)" in title(figure)


def test_induction_circuit():
    figure = EXAMPLES["induction_circuit"]()
    first, second, words, notes, answer = figure.data
    assert list(first.x) == [0, 1, None, 1, 2, None, 2, 3, None, 3, 4, None]
    assert list(second.x) == [2, 4, None]  # from b, which comes after a, to the last a
    assert list(words.text) == [f"<b>{word}</b>" for word in "xabca"]
    assert list(notes.text) == ["", "after<br>x", "<b>after<br>a</b>", "after<br>b", "after<br>c"]
    assert list(answer.text) == ["<b>b</b>"]


def test_position_from_weight():
    figure = EXAMPLES["position_from_weight"]()
    share, code, weights = figure.data
    assert (list(share.y), share.x0, share.dx) == ([1.0, 0.5, 0.25], 0, 1)
    np.testing.assert_allclose(code.z, CLOCK[:, :2].T, atol=DRAWN)
    np.testing.assert_allclose(weights.z, ONE_BACK.T, atol=DRAWN)  # the query across
    assert "weight on the previous one is at least 0.75" in alt(figure)


def test_accuracy_by_length():
    figure = EXAMPLES["accuracy_by_length"]()
    lines = {trace.name: list(trace.y) for trace in figure.data if trace.mode == "lines"}
    dots = [list(trace.y) for trace in figure.data if trace.mode == "markers"]
    assert lines == {"none": [0.75, 0.375], "some": [1, 0]}
    assert dots == [[1, 0.5], [0.5, 0.25], [1, 0]]
    assert title(figure) == "Accuracy among 16 cards after training on 8: 38\u00a0% (none), 0\u00a0% (some)"


def test_decoded_positions():
    figure = EXAMPLES["decoded_positions"]()
    bands, lines = [t for t in figure.data if t.fill], [t for t in figure.data if t.showlegend is None]
    for band, line, name in zip(bands, lines[:-1], READ, strict=True):
        low, middle, high = np.quantile(READ[name], [0.1, 0.5, 0.9], axis=0)
        assert band.name == line.name == name
        np.testing.assert_allclose(line.y, middle, atol=DRAWN)
        np.testing.assert_allclose(band.y, [*high, *low[::-1]], atol=DRAWN)
    assert "of the decodings of position 200: 120 to 280 (counted), 40 to 40 (blind)" in title(figure)
