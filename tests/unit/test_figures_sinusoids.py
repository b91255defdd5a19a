"""posenc.figures.sinusoids: what is drawn of sinusoidal encodings, alone and through projections."""

import re

import numpy as np
import pytest

from posenc import figures
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
    alt,
    drawn,
    title,
)


def test_wavelength_ladder():
    figure = EXAMPLES["wavelength_ladder"]()
    lengths = wavelengths(inv_freq(512))
    np.testing.assert_allclose(figure.data[0].y, lengths, rtol=1e-6)
    assert list(figure.data[0].marker.color) == figures.pair_colours(256)
    assert "from 6.28 tokens to 60\u202f611, short of 2π·base = 62\u202f832" in title(figure)
    first, last = figure.layout.annotations
    assert (first.text, last.text) == ("pair 0: 6.28 tokens", "pair 255: 60\u202f611 tokens")
    np.testing.assert_allclose([first.y, last.y], np.log10(lengths[[0, -1]]))
    assert "factor 1.0366" in alt(figure)


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
    assert figure.data[0].x[1] == f"unit<br>norm {np.linalg.norm(EMBEDDINGS, axis=1).mean():.3g}"


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
    slow = np.cos(np.arange(512)[:, None] * theta[-counts[-1] :]).sum(-1) / 64
    np.testing.assert_allclose(parts[-1].y, slow, atol=DRAWN)
    assert "31 of 64 pairs make at least one full rotation, and 23 less than a quarter" in title(figure)
    assert [trace.y[0] for trace in figure.data[1:4]] == [np.pi / 2, np.pi, 2 * np.pi]


def test_shifted_pairs():
    figure, theta = EXAMPLES["shifted_pairs"](), inv_freq(64)
    for panel, i in enumerate((0, 4, 16)):
        before, after, arc = figure.data[3 * panel : 3 * panel + 3]
        for arrow, position in ((before, 5), (after, 8)):
            np.testing.assert_allclose(arrow.x, [0, np.cos(position * theta[i])], atol=DRAWN)
            np.testing.assert_allclose(arrow.y, [0, np.sin(position * theta[i])], atol=DRAWN)
        assert after.line.color == figures.pair_colours(32)[i]
        np.testing.assert_allclose([arc.x[-1], arc.y[-1]], 0.55 * np.array([after.x[1], after.y[1]]), atol=2 * DRAWN)
        steps = arc.x[:-1] * arc.y[1:] - arc.y[:-1] * arc.x[1:]
        assert steps.sum() > 0  # anticlockwise
    assert "rotates every pair anticlockwise: pair 0 by 3.00 radians, pair 16 by 0.03" in title(figure)


def test_inner_products():
    figure = EXAMPLES["inner_products"]()
    for trace, dim in zip(figure.data, (32, 64, 128, 512), strict=True):
        table = sinusoidal(np.arange(-500, 501), dim)
        np.testing.assert_allclose(trace.y, table @ table[500] / (dim / 2), atol=DRAWN)
        np.testing.assert_array_equal(trace.y, trace.y[::-1])
        assert (trace.x0, trace.dx) == (-500, 1)
    assert "up to distance 4, 5, 11, 43 (d = 32, 64, 128, 512)" in title(figure)
    assert f"{figure.data[0].y[-1]:.2f} for d = 32" in alt(figure)


def test_products_through_weights():
    figure = EXAMPLES["products_through_weights"]()
    offsets = np.arange(-20, 21)
    for trace, (weight, t) in zip(figure.data, [(w, t) for w in WEIGHTS.values() for t in (0, 100, 200)], strict=True):
        matrix = np.eye(32) if weight is None else weight
        slow = [sinusoidal(t, 32) @ matrix @ sinusoidal(t - offset, 32) for offset in offsets]
        np.testing.assert_allclose(trace.y, slow, atol=2 * DRAWN)
    residual = float(kernel_residual(offset_kernel(offsets, [0, 100, 200], 32, weight=RANDOM)))
    assert f"0\u00a0% (none), {100 * residual**2:.0f}\u00a0% (random), 0\u00a0% (shift)" in title(figure)
    assert "in standard deviations: none: 0.00; random: " in alt(figure)


def test_score_terms():
    figure = EXAMPLES["score_terms"]()
    terms = four_terms(CONTENT, CONTENT, PLACES, PLACES, PROJECTION, PROJECTION)
    for trace, term in zip(figure.data, terms, strict=True):
        np.testing.assert_allclose(trace.z, term, atol=DRAWN)
        scale = figure.layout[trace.coloraxis]
        assert scale.cmax == -scale.cmin == np.abs(term).max()
    heads = [annotation.text for annotation in figure.layout.annotations[:4]]
    assert heads[1] == f"(b) content–position<br>colours ±{np.abs(terms[1]).max():.3g}"
    shares = []
    for term in terms:
        rest = term - [[np.diagonal(term, s - t).mean() for s in range(6)] for t in range(6)]
        shares.append(rest.var() / term.var())
    assert ", ".join(f"({name}) {100 * share:.0f}\u00a0%" for name, share in zip("abcd", shares, strict=True)) in title(
        figure
    )
    assert "(d) 0\u00a0%" in title(figure)


def test_projected_sum():
    """Each panel computed anew, and the score and its parts in the title."""
    x, p, (w_q, w_k) = WORDS[:2, :4], sinusoidal([5, 3], 4), TWO_WEIGHTS
    query, key = w_q @ (x[0] + p[0]), w_k @ (x[1] + p[1])
    figure = drawn("projected_sum")
    shown, numbers = [np.array(trace.z) for trace in figure.data[::2]], figure.data[1::2]
    for panel, values in enumerate((x[0], p[0], x[0] + p[0], w_q, query, x[1], p[1], x[1] + p[1], w_k, key)):
        np.testing.assert_allclose(shown[panel], np.reshape(values, (4, -1)), atol=DRAWN)
    assert numbers[4].text[1].replace("−", "-") == f"{query[1]:.1f}"
    assert (numbers[3].x[6], numbers[3].y[6]) == (2, 1), "the seventh of a row of four"
    assert all(one.textfont.color is None for one in numbers), "the page's own, in either theme"
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
    assert "0.00 (turn), 1.13 (swap), 0.28 (squeeze)" in alt(figure)
    assert (
        title(figures.rotated_and_mapped({"swap": SMALL_WEIGHTS["swap"]}, 1.0)) == "The order matters for all of them"
    )
    assert title(figures.rotated_and_mapped({"turn": np.eye(2)}, 1.0)) == "The order does not matter for turn"


def test_block_maps():
    """The fraction in blocks aI + bJ by least squares; every pair's own block is framed."""
    figure, random = drawn("block_maps"), RANDOM[:4, :4]
    units = np.array([pairwise_weight(*row.reshape(2, 2)).ravel() for row in np.eye(4)])
    nearest = np.linalg.lstsq(units.T, random.ravel(), rcond=None)[0] @ units
    fraction = np.sum(nearest**2) / np.sum(random**2)
    assert f"{100 * fraction:.0f}\u00a0% (random), 100\u00a0% (shift)" in title(figure)
    np.testing.assert_allclose(figure.data[0].z, random / np.abs(random).max(), atol=DRAWN)
    frames = [(shape.xref, shape.x0, shape.y1) for shape in figure.layout.shapes]
    assert frames == [("x", -0.5, 1.5), ("x", 1.5, 3.5), *(("x2", 2 * pair - 0.5, 2 * pair + 1.5) for pair in range(4))]


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
    assert {line.x0 for line in figure.layout.shapes if line.x0 == line.x1} == {7.5}
