"""posenc.figures.biases: what is drawn of biases on the scores."""

import numpy as np

from posenc import figures
from tests.unit.figure_examples import BIASES, DRAWN, EXAMPLES, FAR, HEADS_OF_T5, title


def test_biases_by_distance():
    figure = EXAMPLES["biases_by_distance"]()
    expected = {"ALiBi": -0.5 * FAR, "KERPLE": -np.log1p(FAR), "Sandwich": BIASES["Sandwich"] - BIASES["Sandwich"][0]}
    for trace in figure.data:
        np.testing.assert_allclose(trace.y, expected[trace.name], atol=DRAWN)
    assert "Change of the logit bias from distance 0 to 64: −32.0 (ALiBi)" in title(figure)
    assert f"{-np.log1p(64):.1f} (KERPLE)".replace("-", "−") in title(figure)


def test_learned_biases():
    figure = EXAMPLES["learned_biases"]()
    for trace, head in zip(figure.data, HEADS_OF_T5, strict=True):
        assert list(trace.x) == [1, 2, 4, 8]  # a logarithm has no place for 0
        np.testing.assert_allclose(trace.y, head[1:], atol=DRAWN)
    assert title(figure) == (
        "The learned bias has its maximum at distance 1, 2 (heads 1 to 2) and is constant from distance 4 on"
    )


def test_attention_reach():
    figure = EXAMPLES["attention_reach"]()
    assert [list(trace.y) for trace in figure.data] == [[6, 6], [24, 107], [50, 1000], [50, 1000]]
    assert "From 100 to 2\u202f000 tokens" in title(figure)
    assert title(figure).endswith("from 6 to 6 (line) or from 50 to 1\u202f000 (level)")


def test_bias_maps():
    figure = EXAMPLES["bias_maps"]()
    line, asked, *masks = (np.asarray(trace.z, dtype=float) for trace in figure.data)
    for mask in masks:  # they have a colour, as 0 has none
        np.testing.assert_array_equal(np.isnan(mask), ~np.isnan(line))
    np.testing.assert_allclose(line, [[0, np.nan, np.nan], [-1, 0, np.nan], [-2, -1, 0]], atol=DRAWN)
    np.testing.assert_allclose(asked[2], [6, 7, 8], atol=DRAWN)
    assert title(figure).endswith("by up to 0.0 (line), 8.0 (asked)")
    masked = np.array([[1.0, -np.inf], [2.0, 3.0]])  # what later keys have is not looked at
    assert title(figures.bias_maps({"masked": masked})).endswith("by up to 2.0 (masked)")


def test_transformer_xl_terms():
    figure = EXAMPLES["transformer_xl_terms"]()
    assert title(figure) == "Four terms make up one score: −1.50, 3.00, 0.30, −3.00; their sum is −1.20"
    drawn = {trace.name: (list(trace.customdata), trace.marker.color) for trace in figure.data}
    assert drawn["q"] == ([1, -2], figures.PALETTE["query"])
    assert drawn["r"] == ([3, 0], figures.PALETTE["position"])
