"""posenc.figures.grids: what is drawn of patches and axes."""

import numpy as np

from posenc import figures
from tests.unit.figure_examples import DRAWN, EXAMPLES, SCORED, alt, title


def test_patch_maps():
    figure = EXAMPLES["patch_maps"]()
    table, flat = (trace for trace in figure.data if trace.type == "heatmap")
    np.testing.assert_allclose(table.z, SCORED, atol=DRAWN)
    assert np.ptp(flat.z) == 0
    for edge in (trace for trace in figure.data if trace.type == "scatter"):  # as large as the patch
        assert (min(edge.x), max(edge.x), min(edge.y), max(edge.y)) == (1.5, 2.5, 0.5, 1.5)
    assert title(figure).endswith("and the one below: 0.13 and 0.50 (sum), 0.50 and 0.50 (flat)")
    assert figure.layout.coloraxis.cmin == -figure.layout.coloraxis.cmax == -0.75
    assert {axis.autorange for axis in figure.select_yaxes()} == {"reversed"}  # the first row on top
    assert "3 by 4 patches; the query, marked, is at row 1, column 2" in alt(figure)
    far = figures.patch_maps({"sum": SCORED}, (2, 3), offsets=[(-2, -3), (0, -1)])
    assert title(far).startswith("At (rows, columns) (-2, -3) and (0, -1) from the query: ")
    assert figures.patch_maps({"weights": np.eye(3)}, (0, 0)).layout.coloraxis.cmin == 0


def test_photograph():
    figure = EXAMPLES["photograph"]()
    numbers = [trace.text for trace in figure.data if trace.mode == "text"]
    assert [len(each) for each in numbers] == [64, 96]
    assert numbers[0][8] == "8"  # raster order: the second row of the cropped image
    (row, column) = divmod(numbers[1].index("37"), 12)
    assert (row, column) == (3, 1)
    assert title(figure) == ("cropped: query at position 21, key at 29; whole: query at position 29, key at 37")
    assert len(figure.layout.images) == 2
    assert all(image.source.startswith("data:image/jpeg;base64,/9j/") for image in figure.layout.images)


def test_pairs_by_axis():
    figure = EXAMPLES["pairs_by_axis"]()
    rows = [trace.x for trace in figure.data]
    for wavelengths, frequencies in zip(rows, ([1, 0.1], [0.01], [1, 0.01], [0.1]), strict=True):
        np.testing.assert_allclose(wavelengths, 2 * np.pi / np.array(frequencies), rtol=1e-6)
    assert list(figure.layout.yaxis.ticktext) == ["blocks: row", "blocks: column", "in turn: row", "in turn: column"]
    colours = figures.pair_colours(3)
    assert [list(trace.marker.color) for trace in figure.data] == [
        colours[:2], [colours[2]], [colours[0], colours[2]], [colours[1]],
    ]  # fmt: skip
    assert "row 6, column 628 (blocks); row 6, column 63 (in turn)" in title(figure)
