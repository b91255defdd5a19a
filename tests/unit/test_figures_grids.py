"""posenc.figures.grids: what is drawn of patches and axes."""

import numpy as np
import pytest

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
    assert figures.patch_maps({"weights": np.eye(3)}, (0, 0)).layout.coloraxis.cmin == 0


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: figures.patch_maps({"a": np.eye(3), "b": np.eye(4)}, (0, 0)), "maps must all have one shape"),
        (lambda: figures.patch_maps({"a": np.eye(3)}, (2, 0)), "query must have a patch to the right and one below"),
        (lambda: figures.patch_maps({"a": np.full((3, 3), np.inf)}, (0, 0)), r"maps\['a'\] must be finite"),
        (lambda: figures.pairs_by_axis({"a": ([0, 1], [1.0])}, ["x", "y"]), "a positive frequency for each pair"),
        (lambda: figures.pairs_by_axis({"a": ([0, 0], [1.0, 1.0])}, ["x", "y"]), r"got none for \['y'\]"),
    ],
)
def test_grids_refuse_what_does_not_fit(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


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
