"""posenc.figures.attention: what is drawn of attention, of word order, and of training."""

import numpy as np

from tests.unit.figure_examples import (
    DRAWN,
    EXAMPLES,
    FIRST,
    LOSSES,
    MASKED,
    SHARES,
    VALUES,
    WORDS,
    alt,
    title,
    weights_of,
)


def test_training_losses():
    figure = EXAMPLES["training_losses"]()
    for trace, values in zip(figure.data, LOSSES.values(), strict=True):
        np.testing.assert_allclose(trace.y, values, atol=DRAWN)
        np.testing.assert_array_equal(trace.x, 10 * np.arange(1, len(values) + 1))
    assert title(figure) == "Training loss after 70 steps: 0.50 (blind), 0.23 (sees)"
    assert "Means of the last 5 values; a uniform guess has a loss of 0.500 nats" in alt(figure)


def test_transformer_block():
    figure = EXAMPLES["transformer_block"]()
    assert title(figure) == "A Transformer block of width 16: 1\u202f024 weights in attention, 2\u202f048 in the MLP"
    lows, highs = ([shape[side] for shape in figure.layout.shapes] for side in ("y0", "y1"))
    assert all(high < low for high, low in zip(highs, lows[1:], strict=False))  # boxes do not overlap


def test_weighted_sum():
    figure = EXAMPLES["weighted_sum"]()
    arcs = [trace for trace in figure.data if trace.name]
    assert [arc.name for arc in arcs] == ["cat: 0.75"]  # none for a weight of 0, or for the query itself
    assert (arcs[0].x[-1], arcs[0].x[0], arcs[0].y[0]) == (2, 1, 0)  # from the key to the query
    each, total = (trace for trace in figure.data if trace.type == "heatmap")
    np.testing.assert_allclose(each.z, (SHARES[:, None] * VALUES).T, atol=DRAWN)  # a column a word
    np.testing.assert_allclose(total.z, (SHARES @ VALUES)[:, None], atol=DRAWN)
    assert title(figure) == "“sat” attends most to “cat”, with weight 0.75, and its output is mostly creature, 0.80"
    assert "Weighted sum of the values: creature 0.80, action −0.10" in alt(figure)


def test_attention_maps():
    figure = EXAMPLES["attention_maps"]()
    tables = (weights_of(WORDS), MASKED)
    for trace, table in zip((t for t in figure.data if t.type == "heatmap"), tables, strict=True):
        np.testing.assert_allclose(trace.z, table, atol=DRAWN)
    strongest = ", ".join(
        f"“{FIRST[table[1].argmax()]}” {name} ({100 * table[1].max():.0f}\u00a0%)"
        for name, table in zip(("open", "masked"), tables, strict=True)
    )
    assert title(figure) == f"“bites” attends most to {strongest}"


def test_score_std():
    figure = EXAMPLES["score_std"]()
    root, one, raw, tokens, divided, tokens_divided = figure.data
    np.testing.assert_allclose([root.y, one.y], [[2, 8], [1, 1]], atol=DRAWN)
    np.testing.assert_allclose([raw.y, divided.y], [[2, 8.1], [1, 1.01]], atol=DRAWN)
    np.testing.assert_allclose([tokens.y, tokens_divided.y], [[11.5, 1.8], [21.8, 20.5]], atol=DRAWN)
    assert title(figure).endswith("of 32, at d = 4 and at d = 64: 11.5 and 1.8 (undivided), 21.8 and 20.5 (divided)")


def test_attention_by_distance():
    figure = EXAMPLES["attention_by_distance"]()
    assert [(trace.name, *trace.y) for trace in figure.data] == [("one", 0.25, 0.5, 0.25), ("two", 0.5, 0.25, 0)]
    assert "distance 1, weight 0.50 (one); distance 0, weight 0.50 (two)" in title(figure)


def test_permuted_weights():
    figure, weights = EXAMPLES["permuted_weights"](), weights_of(WORDS)
    P = np.eye(3)[[2, 1, 0]]
    maps = [trace.z for trace in figure.data if trace.type == "heatmap"]
    for drawn_map, table in zip(maps, (weights, P @ weights, P @ weights @ P.T), strict=True):
        np.testing.assert_allclose(drawn_map, table, atol=DRAWN)
    downs = [list(axis.ticktext) for axis in figure.select_yaxes()]
    acrosses = [list(axis.ticktext) for axis in figure.select_xaxes()]
    backwards = FIRST[::-1]
    assert (downs, acrosses) == ([FIRST, backwards, backwards], [FIRST, FIRST, backwards])
    assert "Weights that stay in place: 1 of 9" in alt(figure)


def test_causal_information_flow():
    figure = EXAMPLES["causal_information_flow"]()
    texts = [list(trace.text) for trace in figure.data if trace.mode == "text"]
    assert texts[1] == ["sees nothing", "sees dog", "sees bites, dog"]
    assert texts[4] == ["sees nothing", "sees bites", "sees bites, dog"]
    assert "bites dog man: bites sees nothing; dog sees bites; man sees bites, dog" in alt(figure)
