"""posenc.figures.rotation: what is drawn of rotated queries and keys."""

import numpy as np
import pytest

from posenc import figures
from posenc.frequencies import inv_freq
from posenc.rotary import rotation_matrix
from tests.unit.figure_examples import DRAWN, EXAMPLES, ROUNDED, STEPS, TURN, TWO_WEIGHTS, alt, title


def rotated_score(m, n):
    (a, b), (c, d) = (1.3, 0.4), (0.5, 1.1)
    return ((a + 1j * b) * np.exp(0.4j * m) * np.conj((c + 1j * d) * np.exp(0.4j * n))).real


def test_eight_terms():
    figure = EXAMPLES["eight_terms"]()
    terms = [trace.y for trace in figure.data if trace.name != "their sum"]
    sums = [trace.y for trace in figure.data if trace.name == "their sum"]
    n = np.arange(41)
    q, k = np.array([[1.3], [0.4]]), np.array([[0.5], [1.1]])
    first, second = np.cos((n + 3) * 0.4), np.sin((n + 3) * 0.4)
    for panel, (i, j) in enumerate([(0, 0), (1, 1), (0, 1), (1, 0)]):
        across = q[i] * (first, -second)[i] * k[j] * (np.cos(n * 0.4), -np.sin(n * 0.4))[j]
        up = q[i] * (second, first)[i] * k[j] * (np.sin(n * 0.4), np.cos(n * 0.4))[j]
        drawn = sorted([terms[2 * panel][5], terms[2 * panel + 1][5]])
        np.testing.assert_allclose(drawn, sorted([across[5], up[5]]), atol=DRAWN)
        np.testing.assert_allclose(sums[panel], across + up, atol=DRAWN)
        assert np.ptp(sums[panel]) <= 2 * DRAWN < np.ptp(terms[2 * panel])
    assert f"all eight add up to {rotated_score(3, 0):.3f}" in title(figure)


def test_cosine_and_sine_parts():
    figure = EXAMPLES["cosine_and_sine_parts"]()
    cosine, sine, score = (trace.y for trace in figure.data)
    np.testing.assert_allclose(score, [rotated_score(m, 0) for m in range(-12, 13)], atol=DRAWN)
    np.testing.assert_allclose(cosine + sine, score, atol=3 * DRAWN)
    assert f"the score peaks at Δ = 2, with {rotated_score(2, 0):.2f}" in title(figure)


def test_pair_peaks():
    figure = EXAMPLES["pair_peaks"]()
    first, mark, second = figure.data  # the second pair peaks at −π/2/0.1, out of sight
    np.testing.assert_allclose(first.y, np.real((1 - 2j) * np.exp(1j * np.asarray(first.x))), atol=3 * DRAWN)
    assert (mark.x[0], mark.y[0]) == (pytest.approx(np.arctan2(2, 1)), pytest.approx(5**0.5))
    assert title(figure) == "2 pairs of one head have their peaks, marked, between Δ = −15.71 and 1.11"


def test_matrices_between_rotations():
    figure = EXAMPLES["matrices_between_rotations"]()
    at_m, weights, at_n, query, met, key = (np.asarray(trace.z) for trace in figure.data)
    w_q, w_k = TWO_WEIGHTS
    np.testing.assert_allclose(at_m, rotation_matrix(7 * inv_freq(4, 100), "interleaved").T, atol=DRAWN)
    np.testing.assert_allclose(weights, w_q.T @ w_k, atol=DRAWN)
    np.testing.assert_allclose(met, rotation_matrix(-5 * inv_freq(4, 100), "interleaved"), atol=DRAWN)
    np.testing.assert_allclose(query @ met @ key, w_q.T @ at_m @ at_n @ w_k, atol=1e-2)
    assert "that of the lower row by 0.00" in title(figure)


def test_dimension_permutation():
    figure = EXAMPLES["dimension_permutation"]()
    went = {int(trace.text[0]): trace.x[1] for trace in figure.data}
    assert went == {0: 0, 2: 1, 4: 2, 6: 3, 1: 4, 3: 5, 5: 6, 7: 7}
    assert "layout holds, in order, dimensions 0, 2, 4, 6, 1, 3, 5, 7" in alt(figure)


def test_conjugate_product():
    figure = EXAMPLES["conjugate_product"]()
    tips = {(trace.name, trace.xaxis): (trace.x[-1], trace.y[-1]) for trace in figure.data}
    assert tips["query", "x"] == (2, 1)
    assert tips["key", "x"] == (1, 2)
    assert tips["query", "x2"] == (4, -3)  # (2 + i)(1 − 2i)
    assert tips["key", "x2"] == (5, 0)
    assert "at qk̄ = 4 − 3i" in title(figure)
    for axis in ("x", "x2"):
        angle = np.subtract(*(np.arctan2(*tips[name, axis][::-1]) for name in ("query", "key")))
        assert angle == pytest.approx(np.arctan2(-3, 4), abs=1e-3)


def test_score_wave():
    figure = EXAMPLES["score_wave"]()
    for name, product, peak in (("a", 4 - 3j, 4.02), ("b", 3 + 4j, -5.80)):
        line, dots = (next(t for t in figure.data if t.name == n) for n in (name, f"{name}, whole tokens"))
        np.testing.assert_allclose(line.y, 5 * np.cos(0.16 * line.x + np.angle(product)), atol=DRAWN)
        np.testing.assert_allclose(dots.y, [(product * np.exp(0.16j * d)).real for d in range(-32, 33)], atol=DRAWN)
        marked = next(t for t in figure.data if t.name == f"{name}, peak")
        assert marked.x[0] == pytest.approx(peak, abs=0.005)
    assert ": 5.00 at Δ = 4.0, 5.00 at Δ = −5.8" in title(figure)


def test_paths_in_planes():
    figure, x = EXAMPLES["paths_in_planes"](), np.arange(1.0, 6.0)
    tangled, *planes = (trace for trace in figure.data if trace.name == "Rᵐx")
    walked = np.stack([np.linalg.matrix_power(TURN, m) @ x for m in range(21)])
    np.testing.assert_allclose(np.stack([tangled.x, tangled.y], axis=-1), walked[:, :2], atol=DRAWN)
    lengths = np.array([np.hypot(trace.x, trace.y) for trace in planes])
    np.testing.assert_allclose(np.ptp(lengths, axis=1), 0, atol=1e-3)
    steps = sorted(abs(np.angle((t.x[1] + 1j * t.y[1]) / (t.x[0] + 1j * t.y[0]))) for t in planes)
    assert steps == pytest.approx([0.3, 2.0], abs=1e-2)
    assert title(figure).endswith(("0.30 and 2.00 radians per step", "2.00 and 0.30 radians per step"))


def test_shifted_encodings():
    bent = np.abs(STEPS) * np.exp(1j * np.sqrt(np.arange(5)))
    figure = figures.shifted_encodings({"turned": STEPS, "bent": bent}, [0, 1, 3])
    for panel, code in enumerate((STEPS, bent)):
        cloud, before, after = figure.data[3 * panel : 3 * panel + 3]
        np.testing.assert_allclose(cloud.x + 1j * cloud.y, code.ravel(), atol=2 * DRAWN)
        for trace, step in ((before, 0), (after, 1)):
            corners = [0, code[0, 0 + step], code[1, 1 + step], code[2, 3 + step], 0]
            np.testing.assert_allclose(trace.x + 1j * trace.y, corners, atol=2 * DRAWN)
    # lengths stay; between the first and the last the angle is √3 before the step, and √4 − √1 after it
    change = 2 * (np.cos(np.sqrt(3)) - np.cos(1))
    assert f"change by up to 0.00 (turned), {abs(change):.2f} (bent)" in title(figure)


def test_complex_powers():
    figure = EXAMPLES["complex_powers"]()
    for name, factor in (("turn", np.exp(0.2j)), ("shrink", 0.9 * np.exp(0.2j))):
        dots = next(trace for trace in figure.data if trace.name == f"{name}, whole steps")
        np.testing.assert_allclose(dots.x + 1j * dots.y, factor ** np.arange(11), atol=2 * DRAWN)
    assert f"has become 1.00 (turn), {0.9**10:.2f} (shrink)" in title(figure)


def test_rotation_matrices():
    figure = EXAMPLES["rotation_matrices"]()
    for trace, layout in zip(figure.data, ("interleaved", "half-split"), strict=True):
        np.testing.assert_allclose(trace.z, rotation_matrix(2 * inv_freq(8), layout), atol=DRAWN)
    assert "16 of 64 entries are not zero in either layout" in title(figure)
    assert "dimension 0 is paired with 1 (interleaved), 4 (half-split)" in title(figure)


def test_cumulative_losses():
    figure = EXAMPLES["cumulative_losses"]()
    assert [list(trace.y) for trace in figure.data] == [[1.5, 3.5, 3.5], [1.5, 4.5, 7.5]]
    assert title(figure).startswith("Loss of the whole text: 4 nats (one), 8 nats (two); only its first token’s loss")


def test_losses_by_position():
    figure = EXAMPLES["losses_by_position"]()
    assert [list(trace.y) for trace in figure.data] == [[8, 4, 2], [9, 5, 3]]  # bins 1, 2 to 3, 4 to 5
    np.testing.assert_allclose(figure.data[0].x, [1, 6**0.5, 20**0.5], atol=DRAWN)
    assert title(figure).startswith("Loss after 4 to 5 tokens, in nats: 2.0 (one), 3.0 (two)")


def test_angle_errors():
    figure = EXAMPLES["angle_errors"]()
    theta = inv_freq(128)
    for trace, rounded in zip(figure.data, ROUNDED.values(), strict=True):
        for at, drawn in zip((1, 10, 1000), trace.y, strict=True):
            error = np.abs(np.float64(rounded(rounded(at) * rounded(theta))) - at * theta).max()
            assert drawn == pytest.approx(error)
    worst = figure.data[1].y[-1]
    assert f"angle error at position 1\u202f000, in radians: {figure.data[0].y[-1]:.2g} (float32)" in title(figure)
    assert f"{worst:.2g} (float16)" in title(figure)


def test_mistakes_and_tests():
    figure = EXAMPLES["mistakes_and_tests"]()
    full, empty = ({*zip(trace.y, trace.x, strict=True)} for trace in figure.data)  # mistakes down, tests across
    assert (full, empty) == ({(0, 1), (1, 0), (1, 1)}, {(0, 0), (2, 0), (2, 1)})
    assert figure.layout.xaxis.ticktext == ("length", "numbers")
    assert figure.layout.yaxis.ticktext == ("layout", "mixed", "count")
    assert "Of 3 mistakes the test “numbers” detects most, 2; “length” detects 1" in title(figure)
