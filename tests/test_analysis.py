"""posenc.analysis: known figures, independent computations, properties, two array libraries, and what it refuses."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from posenc.absolute import binary, dyadic, harmonic, integer, learned, normalised, shift_matrix, sinusoidal
from posenc.analysis import (
    abel_bound,
    coverage,
    critical_dimension,
    decay,
    decay_law,
    decay_logarithm,
    defined_share,
    expected_score,
    fingerprint,
    fingerprint_difference,
    fingerprint_similarity,
    first_tie,
    fit_scores,
    four_terms,
    greatest_norm,
    kernel_asymmetry,
    kernel_residual,
    least_base,
    least_distance,
    left_right_difference,
    length_dependence,
    monotonicity_violations,
    needle_weight,
    offset_kernel,
    pairs_reaching,
    pairwise_weight,
    period,
    shift_residual,
    translation_residual,
    uncovered,
    uniform_attention_std,
)
from posenc.frequencies import angles, inv_freq, turns
from posenc.rotary import rotate

dims = st.integers(1, 128).map(lambda pairs: 2 * pairs)
bases = st.floats(1.0, 1e8)
offsets = st.integers(-65_536, 65_536)


def test_known_decay():
    # 2Σcos(mθ) for d = 128, published with independent code
    expected = [128, 124.19, 91.44, 61.04, 28.09, -6.77]
    np.testing.assert_allclose(128 * decay([0, 1, 8, 64, 512, 4096], inv_freq(128)), expected, atol=0.006)


def test_known_bound():
    expected = [32.50, 31.54, 17.95, 12.63, 10.23, 7.24, 4.47]
    np.testing.assert_allclose(abel_bound([0, 1, 10, 50, 100, 200, 1000], inv_freq(128)), expected, atol=0.006)


@given(offsets, dims, bases)
def test_decay_is_even_bounded_and_one_at_zero(offset, dim, base):
    frequencies = inv_freq(dim, base)
    assert decay(0, frequencies) == 1
    assert abs(decay(offset, frequencies)) <= 1 + 1e-12
    assert decay(offset, frequencies) == decay(-offset, frequencies)


@given(offsets, dims, bases)
def test_decay_is_the_score_of_equal_rotated_vectors(offset, dim, base):
    frequencies = inv_freq(dim, base)
    ones = np.ones((1, dim))
    score = rotate(ones, [offset * frequencies]) @ ones[0] / dim
    np.testing.assert_allclose(score, [decay(offset, frequencies)], atol=1e-12)


@pytest.mark.parametrize("base", [2.0, 100.0, 1e4, 1e8])
@pytest.mark.parametrize("offset", [0, 0.5, 1, 7, 40])
def test_the_law_is_the_integral_over_the_pairs(base, offset):
    integral, _ = quad(lambda x: math.cos(offset * base**-x), 0, 1, limit=500)
    np.testing.assert_allclose(decay_law(offset, base), integral, atol=1e-9)
    np.testing.assert_allclose(decay_law(-offset, base), integral, atol=1e-9)


@pytest.mark.parametrize("offset", [1, 30, 300])
def test_many_pairs_reach_the_law(offset):
    apart = [abs(decay(offset, inv_freq(dim)) - decay_law(offset, 1e4)) for dim in (64, 512, 4096, 32_768)]
    assert apart[0] > apart[1] > apart[2] > apart[3]
    assert apart[3] < 1e-4


def test_one_common_speed_has_a_single_wave_as_its_law():
    m = np.arange(-50, 50)
    np.testing.assert_allclose(decay_law(m, 1.0), np.cos(m))
    np.testing.assert_allclose(decay(m, inv_freq(64, 1.0)), np.cos(m), atol=1e-12)


def test_the_logarithm_joins_the_law_in_its_range():
    m = np.arange(30, 300)
    np.testing.assert_allclose(decay_logarithm(m, 1e6), decay_law(m, 1e6), atol=0.003)


@settings(max_examples=20)
@given(st.floats(-1, 1), st.integers(0, 5000))
def test_expected_score_against_sampling(correlation, offset):
    rng = np.random.default_rng(0)
    frequencies = inv_freq(16)
    q, noise = rng.standard_normal((2, 40_000, 16))
    k = correlation * q + math.sqrt(1 - correlation**2) * noise
    scores = np.sum(rotate(q, [offset * frequencies]) * k, axis=-1)
    mean, variance = expected_score(offset, frequencies, correlation)
    assert abs(scores.mean() - mean) < 5 * math.sqrt(variance / 40_000)
    assert abs(scores.var() / variance - 1) < 0.1


@given(offsets, offsets, dims, bases)
def test_fingerprints(first, second, dim, base):
    frequencies = inv_freq(dim, base)
    a, b = fingerprint(first, frequencies), fingerprint(second, frequencies)
    assert a.shape == (dim,)
    np.testing.assert_allclose(a @ a, dim / 2)
    np.testing.assert_allclose(a @ b / (dim / 2), fingerprint_similarity(first, second, frequencies), atol=1e-9)
    if first != second:
        squared = ((a - b) ** 2).reshape(2, -1).sum(axis=0)
        np.testing.assert_allclose(
            fingerprint_difference(first, second, frequencies), squared / squared.sum(), atol=1e-6
        )


def test_least_base_takes_the_smallest_that_passes_on_its_grid():
    grid = [1e4, 1.2e4, 1.6e4, 1e6]
    assert least_base(2048, 128, grid) == 1.6e4
    assert decay(np.arange(2049), inv_freq(128, 1.2e4)).min() < 0 <= decay(np.arange(2049), inv_freq(128, 1.6e4)).min()
    assert least_base(100_000, 128, [1e4]) is None
    assert least_base(1, 2, [1e4]) == 1e4
    assert least_base(2, 2, [1e4]) is None  # cos 2 < 0: the length itself is checked


@pytest.mark.torch
def test_torch_gets_what_numpy_gets():
    import torch

    m = np.array([[0, 1, -7], [500, 4096, 65_536]])
    numpy_list, torch_list = inv_freq(64, 3e4), inv_freq(64, 3e4, like=torch.zeros(1))
    at = torch.from_numpy(m)
    pairs = [
        (decay(at, torch_list), decay(m, numpy_list)),
        (decay_law(at, 3e4), decay_law(m, 3e4)),
        (decay_logarithm(at[1], 3e4), decay_logarithm(m[1], 3e4)),
        (abel_bound(at, torch_list), abel_bound(m, numpy_list)),
        *zip(expected_score(at, torch_list, 0.3), expected_score(m, numpy_list, 0.3), strict=True),
        (fingerprint(at, torch_list), fingerprint(m, numpy_list)),
        (fingerprint_similarity(at, 3, torch_list), fingerprint_similarity(m, 3, numpy_list)),
        (fingerprint_difference(500, 501, torch_list), fingerprint_difference(500, 501, numpy_list)),
    ]
    for from_torch, from_numpy in pairs:
        assert isinstance(from_torch, torch.Tensor)
        assert from_torch.dtype == torch.float64
        np.testing.assert_allclose(from_torch, from_numpy, atol=1e-12)


@pytest.mark.parametrize("function", [decay_law, decay_logarithm])
@pytest.mark.parametrize("base", [0, -3.0, math.nan])
def test_a_base_must_be_positive(function, base):
    with pytest.raises(ValueError, match="base must be finite and greater than 0"):
        function(3, base)


def test_the_logarithm_has_its_range():
    with pytest.raises(ValueError, match="base must be greater than 1 for the logarithm, got 1.0"):
        decay_logarithm(3, 1.0)
    with pytest.raises(ValueError, match="offsets must be greater than 0 for the logarithm"):
        decay_logarithm([0, 1], 100.0)


def test_what_else_is_refused():
    frequencies = inv_freq(8)
    with pytest.raises(ValueError, match="offsets must be finite"):
        decay(math.nan, frequencies)
    with pytest.raises(ValueError, match="correlation must be from -1 to 1, got 1.5"):
        expected_score(1, frequencies, 1.5)
    with pytest.raises(ValueError, match="correlation must be from -1 to 1, got nan"):
        expected_score(1, frequencies, math.nan)
    with pytest.raises(ValueError, match="first and second must differ in their fingerprints, got 3 and 3"):
        fingerprint_difference(3, 3, frequencies)
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        least_base(0, 8, [1e4])


# Past the trained length


def slow_uncovered(frequencies, trained, length, tolerance):
    """Every new angle against every angle of training, around the circle."""
    at = angles(np.arange(length), frequencies)  # (length, pairs)
    apart = at[trained:, None] - at[None, :trained]
    around = np.abs((apart + math.pi) % (2 * math.pi) - math.pi)
    return np.mean(around.min(axis=1) > tolerance, axis=0)


@settings(max_examples=60)
@given(st.lists(st.floats(0, 7), min_size=1, max_size=4), st.integers(1, 60), st.integers(1, 60), st.floats(1e-3, 4))
def test_uncovered_against_every_angle(frequencies, trained, more, tolerance):
    found = uncovered(frequencies, trained, trained + more, tolerance)
    # an angle exactly as far as the tolerance may be rounded to either side
    least, most = (
        slow_uncovered(np.array(frequencies), trained, trained + more, tolerance + slack) for slack in (1e-9, -1e-9)
    )
    assert np.all((least - 1e-12 <= found) & (found <= most + 1e-12))


def test_the_older_name_gives_the_same():
    assert "uncovered" in coverage.__doc__
    np.testing.assert_array_equal(coverage(inv_freq(8), 5, 9, 0.2), uncovered(inv_freq(8), 5, 9, tolerance=0.2))
    np.testing.assert_array_equal(coverage(inv_freq(8), 5, 9), uncovered(inv_freq(8), 5, 9))


def test_uncovered_by_hand():
    quarter = math.pi / 2
    # 0, 1/4, 1/2 of a turn are met; of 3/4, 1 (met as 0) and 5/4 (met as 1/4) one is new; a pair at rest meets nothing
    np.testing.assert_allclose(uncovered([quarter, 0.0], 3, 6), [1 / 3, 0])
    assert uncovered([0.1], 1, 2, 0.099) == 1
    assert uncovered([0.1], 1, 2, 0.101) == 0
    assert uncovered([2 * math.pi - 0.005], 1, 2) == 0  # just short of a turn lies beside 0
    assert uncovered([0.003, math.pi], 1, 5).tolist() == [0.25, 0.5]


@pytest.mark.parametrize(
    ("base", "length", "completed", "most", "mean_completed", "mean_others"),
    [
        (1e4, 4096, 46, 0.0, 0.0, 0.8685),
        (1e6, 32_768, 40, 0.0, 0.0, 0.867),
        (1e4, 2048, 41, 0.449, 0.026, 0.883),
    ],
)
def test_known_shares_of_new_angles(base, length, completed, most, mean_completed, mean_others):
    frequencies = inv_freq(128, base)
    new, turned = uncovered(frequencies, length, 2 * length), turns(length, frequencies) >= 1
    assert turned.sum() == completed
    assert abs(new[turned].max() - most) < 5e-4
    assert abs(new[turned].mean() - mean_completed) < 5e-4
    assert abs(new[~turned].mean() - mean_others) < 5e-4


def test_known_pairs_that_reach():
    nodes = (math.pi / 2, math.pi, 2 * math.pi)
    expected = {
        (128, 512): [41, 36, 31],
        (128, 2048): [50, 46, 41],
        (128, 4096): [55, 50, 46],
        (512, 512): [161, 142, 123],
        (512, 2048): [200, 181, 161],
        (512, 4096): [219, 200, 181],
    }
    for (dim, length), pairs in expected.items():
        assert [pairs_reaching(inv_freq(dim), length, node) for node in nodes] == pairs
    # the last position is length − 1, and reaching is enough
    assert [pairs_reaching([1.0, 0.5], 3, angle) for angle in (1, 1.5, 2, 2.5)] == [2, 1, 1, 0]


def test_known_critical_dimension():
    assert critical_dimension(128, 1e4, 4096) == 92
    assert critical_dimension(128, 1e4, 2048) == 82
    assert critical_dimension(128, 1e4, 1) == 0
    assert critical_dimension(128, 10.0, 10**6) == 128


@given(dims, st.floats(1.1, 1e8), st.integers(1, 10**6))
def test_critical_dimension_is_the_paper_s_formula_within_the_list(dim, base, length):
    exponent = dim / 2 * math.log(length / (2 * math.pi)) / math.log(base)
    if abs(exponent - round(exponent)) > 1e-6:
        assert critical_dimension(dim, base, length) == min(max(2 * math.ceil(exponent), 0), dim)


TARGETS = np.random.default_rng(0).standard_normal(2048)


@pytest.mark.parametrize(
    ("least_turns", "pairs", "condition", "in_range", "past_range"),
    [(2, 36, 2003, 0.548, 39.9), (4, 31, 2.39, 0.542, 0.553), (8, 26, 1.39, 0.420, 0.454)],
)
def test_known_fits_of_turned_pairs(least_turns, pairs, condition, in_range, past_range):
    fit = fit_scores(TARGETS, inv_freq(128), least_turns=least_turns)
    assert len(fit.inv_freq) == pairs
    np.testing.assert_allclose(fit.condition, condition, rtol=5e-3)
    np.testing.assert_allclose(fit.in_range, in_range, atol=6e-4)
    np.testing.assert_allclose(fit.past_range, past_range, rtol=2e-3)


def test_known_fits_of_all_pairs():
    fit = fit_scores(TARGETS, inv_freq(128))
    assert fit.condition > 1e15
    assert fit.past_range > 1e5  # rounding, blown up: only its size tells
    np.testing.assert_allclose([fit.in_range, fit.half_steps], [0.59, 0.60], atol=5e-3)
    past = [fit_scores(TARGETS, inv_freq(128), ridge=ridge).past_range for ridge in (1e-6, 1e-3, 1)]
    np.testing.assert_allclose(past, [808, 4.27, 1.31], rtol=2e-3)


@given(st.integers(1, 4), st.integers(9, 40), st.floats(0, 10), st.integers(0, 100))
def test_fits_against_the_normal_equations(pairs, length, ridge, seed):
    rng = np.random.default_rng(seed)
    frequencies = np.sort(rng.uniform(0.3, 3.0, pairs))[::-1] + np.arange(pairs)[::-1] * 0.01
    targets = rng.standard_normal(length)
    columns = np.concatenate([f(np.arange(length)[:, None] * frequencies) for f in (np.cos, np.sin)], axis=1)
    if np.linalg.cond(columns) > 1e4:
        return
    fit = fit_scores(targets, frequencies, ridge=ridge)
    expected = np.linalg.solve(columns.T @ columns + ridge * np.eye(2 * pairs), columns.T @ targets)
    np.testing.assert_allclose(fit.coefficients, expected, atol=1e-6)
    np.testing.assert_allclose(fit.condition, np.linalg.cond(columns))
    for distances, greatest in (
        (np.arange(length), fit.in_range),
        (np.arange(length, 2 * length), fit.past_range),
        (np.arange(2 * length) / 2, fit.half_steps),
    ):
        curve = sum(
            a * np.cos(distances * w) + b * np.sin(distances * w)
            for a, b, w in zip(fit.coefficients[:pairs], fit.coefficients[pairs:], frequencies, strict=True)
        )
        np.testing.assert_allclose(greatest, np.abs(curve).max(), rtol=1e-9)
        np.testing.assert_allclose(curve, fingerprint(distances, fit.inv_freq) @ fit.coefficients, atol=1e-9)


def test_fits_of_dependent_columns():
    fit = fit_scores(np.ones(8), [0.0])  # the sine of a pair at rest is a column of zeros
    assert fit.condition == math.inf
    np.testing.assert_allclose(fit.coefficients, [1, 0], atol=1e-12)
    assert fit_scores(np.zeros(1), [1.0]).in_range == 0
    # cos m and sin m twice: the shorter of all solutions, as numpy.linalg.lstsq gives
    np.testing.assert_allclose(fit_scores(np.cos(np.arange(9)), [1.0, 1.0]).coefficients, [0.5, 0.5, 0, 0], atol=1e-12)


# What a code should do

TABLES = {
    "integer": integer(np.arange(64), 16),
    "normalised": normalised(np.arange(64), 64, 16),
    "binary": binary(np.arange(64), 16),
    "harmonic": harmonic(np.arange(64), 16),
    "dyadic": dyadic(np.arange(64), 16),
    "sinusoidal": sinusoidal(np.arange(64), 16),
    "noise": np.random.default_rng(0).standard_normal((64, 16)),
}


@pytest.mark.parametrize(
    ("name", "residual", "violations"),
    [
        ("integer", 0, 0),
        ("normalised", 0, 0),
        ("binary", 0.146, 0.280),
        ("harmonic", 0.126, 0.164),
        ("dyadic", 0.197, 0.369),
        ("sinusoidal", 0, 0.313),
        ("noise", 0.179, 0.546),
    ],
)
def test_known_properties(name, residual, violations):
    assert abs(translation_residual(TABLES[name]) - residual) < (5e-4 if residual else 1e-12)
    assert abs(monotonicity_violations(TABLES[name]) - violations) < (5e-4 if violations else 1e-12)


def test_properties_by_hand():
    steps = np.array([[0.0, 0], [1, 0], [3, 0], [2, 2]])
    np.testing.assert_allclose(least_distance(steps), 1)
    np.testing.assert_allclose(greatest_norm(steps), 3)
    near = np.array([1, 2, math.sqrt(5)])  # one step apart; only offset 1 is below half of 4
    np.testing.assert_allclose(translation_residual(steps), near.std() / near.mean())
    np.testing.assert_allclose(left_right_difference(steps), np.mean([1, math.sqrt(5) - 2]) / near.mean())
    # from row 0: 1, 3, √8: one fall in three; from row 1: 2, √5: none
    assert monotonicity_violations(steps) == 1 / 4
    assert monotonicity_violations(np.array([[0.0], [2.0], [1.0]])) == 1
    assert monotonicity_violations(np.array([[0.0], [1.0], [1.0]])) == 0  # a tie is no fall
    assert monotonicity_violations(np.array([[0.0], [1.0], [1.0 - 1e-12]])) == 0  # nor is rounding
    # M = (1·2 + 2·4 + 4·9)/(1 + 4 + 16) leaves −0.19, −0.38 and 0.24
    np.testing.assert_allclose(shift_residual(np.array([[1.0], [2.0], [4.0], [9.0]]), 1), 0.2817, atol=5e-5)
    assert period(np.array([[0.0], [1.0]] * 3)) == 2
    assert period(np.ones((2, 1))) == 1
    assert period(np.array([[0.0], [1.0], [2.0], [0.0]])) is None  # one row that comes back is not enough
    assert period(np.array([[0.0], [1e-3]]), 0.01) == 1


def slow_residual_and_difference(codes):
    ratios, sides = [], []
    for k in range(1, (len(codes) + 1) // 2):
        apart = [np.linalg.norm(codes[t + k] - codes[t]) for t in range(len(codes) - k)]
        ratios.append(np.std(apart) / np.mean(apart))
        both = [abs(apart[t] - apart[t - k]) for t in range(k, len(codes) - k)]
        sides.append(np.mean(both) / np.mean(apart))
    return np.mean(ratios), np.mean(sides)


def slow_violations(codes):
    falls = total = 0
    for t in range(len(codes)):
        for near in range(t + 1, len(codes)):
            for far in range(near + 1, len(codes)):
                total += 1
                falls += np.linalg.norm(codes[far] - codes[t]) < np.linalg.norm(codes[near] - codes[t]) - 1e-6
    return falls / total


@settings(max_examples=25)
@given(st.integers(3, 14), st.integers(1, 5), st.integers(0, 1000))
def test_properties_against_slow_loops(length, dim, seed):
    codes = np.random.default_rng(seed).standard_normal((length, dim))
    pairs = [np.linalg.norm(codes[a] - codes[b]) for a in range(length) for b in range(a)]
    np.testing.assert_allclose(least_distance(codes), min(pairs))
    np.testing.assert_allclose(greatest_norm(codes), np.linalg.norm(codes, axis=1).max())
    residual, sides = slow_residual_and_difference(codes)
    np.testing.assert_allclose(translation_residual(codes), residual)
    np.testing.assert_allclose(left_right_difference(codes), sides)
    np.testing.assert_allclose(monotonicity_violations(codes), slow_violations(codes))
    if length > dim + 1:
        before, after = codes[:-1], codes[1:]
        left = after - before @ np.linalg.lstsq(before, after, rcond=None)[0]
        np.testing.assert_allclose(shift_residual(codes, 1), math.sqrt(np.mean(left**2)))


@given(st.integers(1, 32), bases, st.integers(1, 20))
def test_sinusoids_pass_what_they_are_made_for(pairs, base, offset):
    codes = sinusoidal(np.arange(90), 2 * pairs, base)
    np.testing.assert_allclose(greatest_norm(codes), math.sqrt(pairs))
    assert translation_residual(codes) < 1e-9
    assert left_right_difference(codes) < 1e-9
    assert shift_residual(codes, offset) < 1e-9
    assert length_dependence(codes[:40], codes) == 0


def test_known_linearity():
    codes = sinusoidal(np.arange(2000), 64, layout="half")
    found = [shift_residual(codes[:, :32], 1), shift_residual(codes[:, :32], 10)]
    np.testing.assert_allclose(found, [0.170, 0.318], atol=5e-4)
    assert shift_residual(codes, 1) < 1e-12
    assert shift_residual(codes, 10) < 1e-12


def test_each_early_code_fails_its_own_wish():
    t = np.arange(512)
    assert greatest_norm(integer(t, 16)) == 4 * 511  # grows with the text
    assert least_distance(normalised(t, 512, 16)) < 0.01
    assert length_dependence(normalised(t[:64], 64, 16), normalised(t, 512, 16)) > 3
    assert length_dependence(binary(t[:64], 16), binary(t, 16)) == 0
    assert period(binary(t % 16, 4)) == 16
    assert least_distance(binary(t % 16, 4)) == 0
    assert period(sinusoidal(t, 16)) is None
    table = np.random.default_rng(0).standard_normal((64, 16))
    assert defined_share(lambda at: learned(at, table), 64, 128) == 0
    assert defined_share(lambda at: binary(at, 7), 64, 192) == 0.5
    assert defined_share(lambda at: sinusoidal(at, 16), 64, 128) == 1


def test_where_a_code_is_defined():
    gap = {3: np.array([[np.nan, 1.0]]), 4: np.array([[np.inf, 1.0]])}
    assert defined_share(lambda at: gap.get(int(at[0]), np.ones((1, 2))), 2, 6) == 0.5
    assert defined_share(lambda at: np.eye(5)[at], 3, 6) == 2 / 3  # an IndexError is a missing code
    with pytest.raises(ValueError, match="positions must be at most 3"):  # a code that is not even defined in training
        defined_share(lambda at: binary(at, 2), 9, 12)
    with pytest.raises(TypeError, match=r"code must answer an array of shape \(1, dim\)"):
        defined_share(lambda at: np.ones(3), 2, 4)


# After the projections


@settings(max_examples=30)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 6), st.integers(1, 4), st.booleans(), st.integers(0, 99))
def test_the_four_terms(queries, keys, dim, head_dim, batched, seed):
    rng = np.random.default_rng(seed)
    lead = (2, 3) if batched else ()
    x_t, x_s = rng.standard_normal((*lead, queries, dim)), rng.standard_normal((*lead, keys, dim))
    p_t, p_s = rng.standard_normal((queries, dim)), rng.standard_normal((keys, dim))
    w_q, w_k = rng.standard_normal((2, head_dim, dim))
    terms = four_terms(x_t, x_s, p_t, p_s, w_q, w_k)
    scores = ((x_t + p_t) @ w_q.T) @ np.swapaxes((x_s + p_s) @ w_k.T, -1, -2)
    assert all(term.shape == (*lead, queries, keys) for term in terms)
    np.testing.assert_allclose(sum(terms), scores, atol=1e-12)
    at = (0,) * len(lead)
    np.testing.assert_allclose(terms.content_content[at][-1, 0], (w_q @ x_t[at][-1]) @ (w_k @ x_s[at][0]))
    np.testing.assert_allclose(terms.content_position[at][-1, 0], (w_q @ x_t[at][-1]) @ (w_k @ p_s[0]))
    full = np.broadcast_to(p_t, x_t.shape)
    np.testing.assert_allclose(four_terms(x_t, x_s, full, p_s, w_q, w_k).position_content, terms.position_content)
    np.testing.assert_allclose(terms.position_position[at][-1, 0], (w_q @ p_t[-1]) @ (w_k @ p_s[0]))


def test_the_last_term_keeps_the_offset_without_a_matrix_only():
    nothing, identity = np.zeros((1, 128)), np.eye(128)
    random = np.random.default_rng(0).standard_normal((128, 128))

    def last(t, weight):
        codes = sinusoidal([t], 128), sinusoidal([t + 7], 128)
        return four_terms(nothing, nothing, *codes, identity, weight).position_position[0, 0]

    np.testing.assert_allclose([last(10, identity), last(60, identity)], 46.8218, atol=5e-5)
    assert abs(last(10, random) - last(60, random)) > 1


OFFSETS, PLACES = np.arange(-50, 51), np.arange(100)


def test_known_kernels():
    plain = offset_kernel(OFFSETS, PLACES, 128)
    np.testing.assert_allclose(plain, np.broadcast_to(64 * decay(OFFSETS, inv_freq(128)), (100, 101)), atol=1e-10)
    assert abs(np.corrcoef(plain[0], -np.abs(OFFSETS))[0, 1] - 0.870) < 5e-4
    assert kernel_residual(plain) < 1e-12
    assert kernel_asymmetry(plain) < 1e-12
    previous = offset_kernel(OFFSETS, PLACES, 128, weight=shift_matrix(1, 128))
    assert set(OFFSETS[previous.argmax(axis=1)]) == {-1}
    assert abs(kernel_asymmetry(previous) - 0.249) < 5e-4
    assert kernel_residual(previous) < 1e-12
    rng = np.random.default_rng(0)
    blocks = offset_kernel(OFFSETS, PLACES, 128, weight=pairwise_weight(*rng.standard_normal((2, 64))))
    assert abs(kernel_asymmetry(blocks) - 0.972) < 5e-4
    assert kernel_residual(blocks) < 1e-12
    random = rng.standard_normal((128, 128))
    assert kernel_residual(offset_kernel(OFFSETS, PLACES, 128, weight=random)) > 0.9
    mixed = offset_kernel(OFFSETS, PLACES, 128, weight=0.9 * np.eye(128) + 0.1 * random / math.sqrt(128))
    assert abs(np.corrcoef(mixed.mean(axis=0), -np.abs(OFFSETS))[0, 1] - 0.870) < 0.005
    assert kernel_residual(mixed) < 0.1


@settings(max_examples=30)
@given(st.integers(1, 9), bases, st.sampled_from(["interleaved", "half"]), st.integers(0, 99))
def test_kernels_against_slow_loops(dim, base, layout, seed):
    rng = np.random.default_rng(seed)
    weight, apart, at = rng.standard_normal((dim, dim)), rng.uniform(-9, 9, 4), rng.uniform(-50, 50, 3)
    kernel = offset_kernel(apart, at, dim, base, weight, layout=layout)
    assert kernel.shape == (3, 4)
    for t in range(3):
        for k in range(4):
            first = sinusoidal(at[t], dim, base, layout)
            expected = first @ weight @ sinusoidal(at[t] + apart[k], dim, base, layout)
            np.testing.assert_allclose(kernel[t, k], expected, atol=1e-10)


@given(st.integers(1, 8), bases, st.sampled_from(["interleaved", "half"]), st.integers(0, 99))
def test_blocks_see_the_offset_only(pairs, base, layout, seed):
    a, b = np.random.default_rng(seed).standard_normal((2, pairs))
    kernel = offset_kernel(OFFSETS, PLACES[:9], 2 * pairs, base, pairwise_weight(a, b, layout), layout=layout)
    turned = angles(OFFSETS, inv_freq(2 * pairs, base))
    expected = np.cos(turned) @ a + np.sin(turned) @ b
    np.testing.assert_allclose(kernel, np.broadcast_to(expected, kernel.shape), atol=1e-10)


def test_blocks_by_hand_and_as_a_shift():
    expected = [[1, -3, 0, 0], [3, 1, 0, 0], [0, 0, 2, -4], [0, 0, 4, 2]]
    np.testing.assert_array_equal(pairwise_weight([1, 2], [3, 4]), expected)
    np.testing.assert_array_equal(
        pairwise_weight([1, 2], [3, 4], "half"), [[1, 0, -3, 0], [0, 2, 0, -4], [3, 0, 1, 0], [0, 4, 0, 2]]
    )
    turned = angles(3, inv_freq(8))
    for layout in ("interleaved", "half"):
        shift = pairwise_weight(np.cos(turned), -np.sin(turned), layout)
        np.testing.assert_allclose(shift, shift_matrix(3, 8, layout=layout), atol=1e-15)


def test_kernel_numbers_by_hand():
    same = np.array([[1.0, 2, 4], [1, 2, 4]])
    assert kernel_residual(same) == 0
    np.testing.assert_allclose(kernel_asymmetry(same), 2 / same.std())  # |1 − 4|, 0, |4 − 1|
    only_place = np.array([[1.0, 1, 1], [3, 3, 3]])
    assert kernel_residual(only_place) == 1
    assert kernel_asymmetry(only_place) == 0
    assert kernel_residual(np.ones((2, 3))) == kernel_asymmetry(np.ones((2, 3))) == 0
    np.testing.assert_allclose(kernel_residual(np.array([[0.0, 2], [2, 4]])), math.sqrt(0.5))


# No code at all


def test_the_law_of_even_attention_by_sampling():
    np.testing.assert_allclose(uniform_attention_std([1, 4, 100]), [1, 0.5, 0.1])
    assert uniform_attention_std(np.zeros(0)).shape == (0,)
    values = np.random.default_rng(0).standard_normal((20_000, 256))
    for n in (1, 16, 256):
        assert abs(values[:, :n].mean(axis=1).std() / uniform_attention_std(n) - 1) < 0.03


def test_known_ties():
    assert first_tie("bfloat16") == 111
    assert first_tie("float16") == 660
    assert first_tie("float32", 5000) is None
    assert first_tie("bfloat16", 111) == 111
    assert first_tie("bfloat16", 110) is None


def test_ties_of_numpy_s_own_half_precision():
    for precision, dtype in (("float16", np.float16), ("float32", np.float32)):
        rounded = (np.arange(1, 20_002) ** -0.5).astype(dtype)
        ties = np.flatnonzero(rounded[1:] == rounded[:-1])
        assert first_tie(precision, 20_000) == (ties[0] + 1 if len(ties) else None)


def test_known_dilution():
    n = [128, 512, 2048, 8192]
    np.testing.assert_allclose(needle_weight(n, 6), [0.6593, 0.3243, 0.1068, 0.0290], atol=6e-5)
    np.testing.assert_allclose(needle_weight(n, 6, 1 / 1.2), [0.8375, 0.5613, 0.2418, 0.0738], atol=6e-5)
    kept = [needle_weight(keys, 6, math.log(128) / math.log(keys)) for keys in n]
    np.testing.assert_allclose(kept, [0.6593, 0.6580, 0.6391, 0.6009], atol=6e-5)


@given(st.floats(-8, 20), st.floats(0.1, 10))
def test_dilution_by_one_other_key_is_a_single_integral(logit, temperature):
    def weighted(z):
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) / (1 + math.exp((z - logit) / temperature))

    middle = min(max(logit, -11.0), 11.0)
    expected = quad(weighted, -12, middle, limit=400)[0] + quad(weighted, middle, 12, limit=400)[0]
    np.testing.assert_allclose(needle_weight(2, logit, temperature), expected, atol=1e-8)


@given(st.floats(-20, 20), st.floats(0.1, 10), st.integers(2, 10**7))
def test_dilution_has_its_limits(logit, temperature, n):
    alone, few, many = needle_weight([1, n, n + 1], logit, temperature)
    np.testing.assert_allclose(alone, 1, atol=1e-12)
    assert 0 <= many <= few <= 1
    exponent = 1 / (2 * temperature**2) - logit / temperature
    assert (
        few >= 1 / (1 + (n - 1) * math.exp(min(exponent, 700))) - 1e-12
    )  # the mean of 1/(1 + X) is above 1/(1 + mean)
    np.testing.assert_allclose(needle_weight(n, 0.0, 1e9), 1 / n, rtol=1e-6)


def test_dilution_by_sampling():
    noise = np.random.default_rng(0).standard_normal((4000, 63))
    for logit, temperature in ((3, 1.0), (2, 0.5)):
        weights = 1 / (1 + np.exp((noise - logit) / temperature).sum(axis=1))
        expected = needle_weight(64, logit, temperature)
        assert abs(weights.mean() - expected) < 5 * weights.std() / math.sqrt(4000)
    assert needle_weight(np.zeros((0, 2)), 6).shape == (0, 2)


@pytest.mark.torch
def test_torch_gets_what_numpy_gets_from_tables_and_kernels():
    import torch

    rng = np.random.default_rng(3)
    codes, kernel = rng.standard_normal((40, 6)), rng.standard_normal((7, 9))
    x_t, x_s, p_t, p_s = rng.standard_normal((4, 5, 6))
    w_q, w_k = rng.standard_normal((2, 3, 6))
    a, b = rng.standard_normal((2, 3))
    theta, n = inv_freq(12, 1e3), np.array([1, 5, 900])
    calls = [
        (lambda theta: uncovered(theta, 50, 90), (theta,)),
        (lambda y, theta: fit_scores(y, theta, least_turns=1), (rng.standard_normal(50), theta)),
        (lambda y, theta: fit_scores(y, theta, ridge=0.1), (rng.standard_normal(50), theta)),
        (lambda y: fit_scores(y, [1.0, 0.5]), (rng.standard_normal(50),)),
        (lambda theta: fit_scores([1.0, 2, 3, 4, 9, 6, 7, 8], theta), (theta[:2],)),
        *[(function, (codes,)) for function in (least_distance, greatest_norm, translation_residual)],
        (left_right_difference, (codes,)),
        (lambda codes: shift_residual(codes, 2), (codes,)),
        (lambda codes: length_dependence(codes[:9], codes + 1), (codes,)),
        (four_terms, (x_t, x_s, p_t, p_s, w_q, w_k)),
        (lambda weight: offset_kernel([-1, 0, 1.5], [0, 7], 6, 1e3, weight), (codes[:6],)),
        (lambda apart: offset_kernel(apart, [0, 7], 6, layout="half"), (kernel[0],)),
        (lambda at: offset_kernel([1, 2], at, 5), (kernel[0],)),
        (pairwise_weight, (a, b)),
        (lambda a: pairwise_weight(a, [1, 2, 3], "half"), (a,)),
        *[(function, (kernel,)) for function in (kernel_residual, kernel_asymmetry)],
        (uniform_attention_std, (n,)),
        (lambda n: needle_weight(n, 4, 0.7), (n,)),
    ]
    for function, given_arrays in calls:
        from_numpy = function(*given_arrays)
        from_torch = function(*(torch.from_numpy(np.ascontiguousarray(array)) for array in given_arrays))
        several = isinstance(from_numpy, tuple)
        for one, other in zip(*((from_torch, from_numpy) if several else ([from_torch], [from_numpy])), strict=True):
            assert isinstance(one, torch.Tensor)
            assert one.dtype == torch.float64
            assert tuple(one.shape) == np.shape(other)
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)
    table = torch.from_numpy(codes)
    assert monotonicity_violations(table) == monotonicity_violations(codes)
    assert period(table.repeat(3, 1)) == 40
    assert pairs_reaching(torch.from_numpy(theta), 50, 1.0) == pairs_reaching(theta, 50, 1.0)
    assert defined_share(lambda at: table[torch.from_numpy(at)], 30, 50) == 0.5


@pytest.mark.torch
def test_gradients_reach_every_tensor():
    import torch

    generator = torch.Generator().manual_seed(0)

    def noise(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64, requires_grad=True)

    assert torch.autograd.gradcheck(
        four_terms, (noise(2, 3, 4), noise(2, 5, 4), noise(3, 4), noise(5, 4), *[noise(2, 4)] * 2)
    )
    assert torch.autograd.gradcheck(lambda w: offset_kernel([-1, 0, 2], [3, 4], 4, weight=w), (noise(4, 4),))
    assert torch.autograd.gradcheck(pairwise_weight, (noise(3), noise(3)))
    assert torch.autograd.gradcheck(kernel_residual, (noise(3, 5),))
    assert torch.autograd.gradcheck(kernel_asymmetry, (noise(3, 5),))
    for function in (least_distance, greatest_norm, translation_residual, left_right_difference):
        assert torch.autograd.gradcheck(function, (noise(6, 3),))
    assert torch.autograd.gradcheck(lambda codes: shift_residual(codes, 1), (noise(9, 2),))
    assert torch.autograd.gradcheck(lambda y: fit_scores(y, [2.0, 1.0]).coefficients, (noise(9),))


def test_rows_of_several_widths_are_refused():
    with pytest.raises(TypeError, match="codes must be a number or an array of real numbers"):
        greatest_norm([[1.0], [2.0, 3.0]])


def test_floats_of_any_width_and_order_are_read():
    codes = TABLES["harmonic"]
    wide = np.zeros((64, 32))
    wide[:, ::2] = codes
    assert translation_residual(wide[:, ::2]) == translation_residual(codes)
    assert monotonicity_violations(codes[::-1][::-1]) == monotonicity_violations(codes)
    assert least_distance(np.arange(6).reshape(3, 2)) == least_distance([[0, 1], [2, 3], [4, 5]])
    np.testing.assert_allclose(greatest_norm(codes.astype(np.float32)), greatest_norm(codes), rtol=1e-6)
