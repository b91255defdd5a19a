"""posenc.figures.grids: what is drawn of patches and axes."""

import numpy as np

from tests.unit.figure_examples import DRAWN, EXAMPLES, SCORED, title


def test_patch_maps():
    figure = EXAMPLES["patch_maps"]()
    table, flat = (trace for trace in figure.data if trace.type == "heatmap")
    np.testing.assert_allclose(table.z, SCORED, atol=DRAWN)
    for edge in (trace for trace in figure.data if trace.type == "scatter"):  # as large as the patch
        assert (min(edge.x), max(edge.x), min(edge.y), max(edge.y)) == (1.5, 2.5, 0.5, 1.5)
    assert {axis.autorange for axis in figure.select_yaxes()} == {"reversed"}  # the first row on top
    assert title(figure).endswith("and the one below: 0.13 and 0.50 (sum), 0.50 and 0.50 (flat)")


def test_photograph():
    figure = EXAMPLES["photograph"]()
    numbers = [trace.text for trace in figure.data if trace.mode == "text"]
    assert [len(each) for each in numbers] == [64, 96]
    assert numbers[0][8] == "8"  # raster order: the second row of the cropped image
    (row, column) = divmod(numbers[1].index("37"), 12)
    assert (row, column) == (3, 1)
    assert title(figure) == ("cropped: query at position 21, key at 29; whole: query at position 29, key at 37")


def test_pairs_by_axis():
    figure = EXAMPLES["pairs_by_axis"]()
    rows = [trace.x for trace in figure.data]
    for wavelengths, frequencies in zip(rows, ([1, 0.1], [0.01], [1, 0.01], [0.1]), strict=True):
        np.testing.assert_allclose(wavelengths, 2 * np.pi / np.array(frequencies), rtol=1e-6)
    assert list(figure.layout.yaxis.ticktext) == ["blocks: row", "blocks: column", "in turn: row", "in turn: column"]
    assert "row 6, column 628 (blocks); row 6, column 63 (in turn)" in title(figure)
