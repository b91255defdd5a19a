"""posenc.figures.sinusoids: what is drawn of sinusoidal encodings, alone and through projections."""

import re

import numpy as np
import pytest

from posenc.absolute import sinusoidal
from posenc.analysis import decay, four_terms, kernel_residual, offset_kernel, pairwise_weight
from posenc.frequencies import inv_freq, wavelengths
from posenc.rotary import rotation_matrix
from tests.unit.figure_examples import (
    CONTENT,
    DRAWN,
    EMBEDDINGS,
    EXAMPLES,
    PLACES,
    PROJECTION,
    RANDOM,
    SCALES,
    SMALL_WEIGHTS,
    TWO_WEIGHTS,
    WEIGHTS,
    WORDS,
    drawn,
    title,
)


def test_wavelength_ladder():
    figure = EXAMPLES["wavelength_ladder"]()
    lengths = wavelengths(inv_freq(512))
    np.testing.assert_allclose(figure.data[0].y, lengths, rtol=1e-6)
    assert "from 6.28 tokens to 60\u202f611, short of 2π·base = 62\u202f832" in title(figure)


def test_chirps():
    figure = EXAMPLES["chirps"]()
    i = np.arange(100)
    for trace, k in zip(figure.data, (0, 4, 8, 12), strict=True):
        np.testing.assert_allclose(trace.y, np.sin(k / np.power(10_000, 2 * i / 512)), atol=DRAWN)  # the note's listing
    assert "positions 0, 4, 8, 12 cross zero 0, 1, 2, 3 times" in title(figure)


def test_added_encoding():
    figure = EXAMPLES["added_encoding"]()
    codes = sinusoidal(np.arange(5), 512)
    for trace, other in zip(figure.data, (EMBEDDINGS, codes), strict=True):
        for value, scale in zip(trace.y, SCALES.values(), strict=True):
            added = scale * EMBEDDINGS + codes
            cosines = [a @ b / np.sqrt(a @ a * (b @ b)) for a, b in zip(added, other, strict=True)]
            assert value == pytest.approx(np.mean(cosines), abs=DRAWN)
    kept = ", ".join(f"{cosine:.2f}" for cosine in figure.data[0].y).replace("-", "−")
    assert f"an encoding of norm 16 leaves a cosine of {kept} with" in title(figure)


def test_frequency_roles():
    figure = EXAMPLES["frequency_roles"]()
    theta = inv_freq(128)
    np.testing.assert_allclose(figure.data[0].y, 511 * theta, rtol=1e-6)
    *parts, whole = (trace for trace in figure.data if trace.yaxis == "y2")
    np.testing.assert_allclose(whole.y, decay(np.arange(512), theta), atol=DRAWN)
    np.testing.assert_allclose(np.sum([part.y for part in parts], axis=0), whole.y, atol=5 * DRAWN)
    reach = 511 * theta
    counts = [np.sum(reach >= 2 * np.pi), np.sum((reach >= np.pi) & (reach < 2 * np.pi))]
    counts += [np.sum((reach >= np.pi / 2) & (reach < np.pi)), np.sum(reach < np.pi / 2)]
    assert [int(re.search(r"(\d+) pairs", part.name)[1]) for part in parts] == counts
    assert "31 of 64 pairs make at least one full rotation, and 23 less than a quarter" in title(figure)


def test_shifted_pairs():
    figure, theta = EXAMPLES["shifted_pairs"](), inv_freq(64)
    for panel, i in enumerate((0, 4, 16)):
        before, after, arc = figure.data[3 * panel : 3 * panel + 3]
        for arrow, position in ((before, 5), (after, 8)):
            np.testing.assert_allclose(arrow.x, [0, np.cos(position * theta[i])], atol=DRAWN)
            np.testing.assert_allclose(arrow.y, [0, np.sin(position * theta[i])], atol=DRAWN)
    assert "rotates every pair anticlockwise: pair 0 by 3.00 radians, pair 16 by 0.03" in title(figure)


def test_inner_products():
    figure = EXAMPLES["inner_products"]()
    for trace, dim in zip(figure.data, (32, 64, 128, 512), strict=True):
        table = sinusoidal(np.arange(-500, 501), dim)
        np.testing.assert_allclose(trace.y, table @ table[500] / (dim / 2), atol=DRAWN)
    assert "up to distance 4, 5, 11, 43 (d = 32, 64, 128, 512)" in title(figure)


def test_products_through_weights():
    figure = EXAMPLES["products_through_weights"]()
    offsets = np.arange(-20, 21)
    for trace, (weight, t) in zip(figure.data, [(w, t) for w in WEIGHTS.values() for t in (0, 100, 200)], strict=True):
        matrix = np.eye(32) if weight is None else weight
        slow = [sinusoidal(t, 32) @ matrix @ sinusoidal(t - offset, 32) for offset in offsets]
        np.testing.assert_allclose(trace.y, slow, atol=2 * DRAWN)
    residual = float(kernel_residual(offset_kernel(offsets, [0, 100, 200], 32, weight=RANDOM)))
    assert f"0\u00a0% (none), {100 * residual**2:.0f}\u00a0% (random), 0\u00a0% (shift)" in title(figure)


def test_score_terms():
    figure = EXAMPLES["score_terms"]()
    terms = four_terms(CONTENT, CONTENT, PLACES, PLACES, PROJECTION, PROJECTION)
    for trace, term in zip(figure.data, terms, strict=True):
        np.testing.assert_allclose(trace.z, term, atol=DRAWN)
    shares = []
    for term in terms:
        rest = term - [[np.diagonal(term, s - t).mean() for s in range(6)] for t in range(6)]
        shares.append(rest.var() / term.var())
    assert ", ".join(f"({name}) {100 * share:.0f}\u00a0%" for name, share in zip("abcd", shares, strict=True)) in title(
        figure
    )


def test_projected_sum():
    """Each panel computed anew, and the score and its parts in the title."""
    x, p, (w_q, w_k) = WORDS[:2, :4], sinusoidal([5, 3], 4), TWO_WEIGHTS
    query, key = w_q @ (x[0] + p[0]), w_k @ (x[1] + p[1])
    figure = drawn("projected_sum")
    shown, numbers = [np.array(trace.z) for trace in figure.data[::2]], figure.data[1::2]
    for panel, values in enumerate((x[0], p[0], x[0] + p[0], w_q, query, x[1], p[1], x[1] + p[1], w_k, key)):
        np.testing.assert_allclose(shown[panel], np.reshape(values, (4, -1)), atol=DRAWN)
    assert numbers[4].text[1].replace("−", "-") == f"{query[1]:.1f}"
    score, content, position = query @ key, (w_q @ x[0]) @ (w_k @ x[1]), (w_q @ p[0]) @ (w_k @ p[1])
    expected = f"{score:.2f}; embeddings alone would give {content:.2f}, positional encodings alone {position:.2f}"
    assert title(figure).replace("−", "-") == f"q·k is {expected}"


def test_rotated_and_mapped():
    """The flag in both orders, point by point; only scaled rotations commute."""
    figure = drawn("rotated_and_mapped")
    rotation = rotation_matrix([0.6])
    for panel, weight in enumerate(SMALL_WEIGHTS.values()):
        for order, matrix in enumerate((np.array(weight) @ rotation, rotation @ np.array(weight))):
            trace = figure.data[2 * panel + order]
            expected = [matrix @ point for point in ([0, 0], [0, 1], [0.45, 0.8], [0, 0.6])]
            np.testing.assert_allclose(np.column_stack([trace.x, trace.y]), expected, atol=DRAWN)
    assert "does not matter for turn; for the others it does" in title(figure)


def test_block_maps():
    """The fraction in blocks aI + bJ by least squares; every pair's own block is framed."""
    figure, random = drawn("block_maps"), RANDOM[:4, :4]
    units = np.array([pairwise_weight(*row.reshape(2, 2)).ravel() for row in np.eye(4)])
    nearest = np.linalg.lstsq(units.T, random.ravel(), rcond=None)[0] @ units
    fraction = np.sum(nearest**2) / np.sum(random**2)
    assert f"{100 * fraction:.0f}\u00a0% (random), 100\u00a0% (shift)" in title(figure)
    np.testing.assert_allclose(figure.data[0].z, random / np.abs(random).max(), atol=DRAWN)


def test_position_maps():
    """Each value by a loop, the explained variance of either square by what is left along the diagonals."""
    figure, explained = EXAMPLES["position_maps"](), []
    for trace, weight in zip(figure.data, WEIGHTS.values(), strict=True):
        matrix = np.eye(32) if weight is None else weight
        rows = sinusoidal(np.arange(20), 32)
        table = np.array([[rows[t] @ matrix @ rows[s] for s in range(20)] for t in range(20)])
        np.testing.assert_allclose(trace.z, table / np.abs(table).max(), atol=DRAWN)
        for square in (table[:8, :8], table[8:, 8:]):
            n = len(square)
            means = np.array([[np.diagonal(square, s - t).mean() for s in range(n)] for t in range(n)])
            explained.append(f"{100 * (1 - np.var(square - means) / square.var()):.0f}\u00a0%")
    assert explained[0] == explained[1] == explained[4] == explained[5] == "100\u00a0%"
    assert explained[2] != "100\u00a0%"
    within = f"explains: 100\u00a0% (none), {explained[2]} (random), 100\u00a0% (shift) up to position 7"
    assert f"{within}, and 100\u00a0%, {explained[3]}, 100\u00a0% from 8 on" in title(figure)
