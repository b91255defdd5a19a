"""posenc.figures.encodings: what is drawn of tables of encodings, and distances between their rows."""

import numpy as np

from posenc.absolute import normalised, sinusoidal
from tests.unit.figure_examples import CODES, DRAWN, EXAMPLES, alt, title


def test_step_sizes():
    figure = EXAMPLES["step_sizes"]()
    for length, ruler, step in zip([5, 10, 13, 20], figure.data[::2], figure.data[1::2], strict=True):
        np.testing.assert_allclose(ruler.x, normalised(np.arange(length), length, 1)[:, 0], atol=DRAWN)
        np.testing.assert_allclose(step.x, [0, 1 / length], atol=DRAWN)
    assert "0.200 in 5 tokens and 0.050 in 20 tokens" in title(figure)


def test_encoding_tables_small():
    figure = EXAMPLES["encoding_tables"]()
    for trace, code in zip(figure.data, CODES.values(), strict=True):
        np.testing.assert_allclose(trace.z, code, atol=DRAWN)
        np.testing.assert_array_equal(trace.x, np.arange(code.shape[1]))
    assert figure.layout.yaxis.autorange == "reversed"  # position 0 on top
    wave = np.sin(np.arange(16)) > 0
    changes = np.count_nonzero(wave[1:] != wave[:-1])
    assert f"15 times and the last once (bits); {changes} times and the last never (waves)" in title(figure)
    assert "Distinct rows: 16 (bits), 16 (waves)" in alt(figure)


def test_encoding_tables_large():
    figure, code = EXAMPLES["texture"](), sinusoidal(np.arange(512), 768)
    (trace,) = figure.data
    assert np.asarray(trace.z).dtype == np.uint8
    columns = np.asarray(trace.x)
    np.testing.assert_array_equal(columns[:4], [0, 1, 8, 9])  # every fourth pair
    np.testing.assert_allclose(np.asarray(trace.z) / 127.5 - 1, code[:, columns], atol=1 / 254)
    changes = np.count_nonzero((np.sin(np.arange(512)) > 0)[1:] != (np.sin(np.arange(512)) > 0)[:-1])
    assert f"Over 512 positions the first column crosses mid-range {changes} times and the last never" in title(figure)


def test_distance_maps():
    figure = EXAMPLES["distance_maps"]()
    for trace, code in zip(figure.data, CODES.values(), strict=True):
        apart = np.sqrt(((code[:, None] - code) ** 2).sum(axis=-1))
        np.testing.assert_allclose(trace.z, apart / apart.max(), atol=DRAWN)
    steps = [np.linalg.norm(CODES["bits"][k:] - CODES["bits"][:-k], axis=-1) for k in range(1, 8)]
    variation = np.mean([step.std() / step.mean() for step in steps])
    varying = f"distances at one offset vary by {100 * variation:.0f}\u00a0% (bits)"
    assert title(figure) == f"Translation invariance: exact for waves; {varying}"
