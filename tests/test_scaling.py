"""posenc.scaling: published values, slow references in 40 digits, limits, configurations, transformers, torch."""

import copy
import math
import re
from decimal import Decimal, localcontext
from functools import partial
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from posenc.frequencies import inv_freq, turns
from posenc.scaling import (
    ROPE_TYPES,
    Scaled,
    axial,
    correction_range,
    default,
    dynamic_ntk,
    from_config,
    linear,
    llama3,
    longrope,
    mscale,
    ntk_aware,
    ntk_base,
    ntk_by_parts,
    proportional,
    ramp_by_pair,
    ramp_by_turns,
    yarn,
)

dims = st.integers(1, 128).map(lambda pairs: 2 * pairs)
wide_dims = st.integers(2, 128).map(lambda pairs: 2 * pairs)  # NTK scaling needs two pairs
bases = st.floats(1.01, 1e8)
factors = st.floats(1, 1000)
lengths = st.integers(1, 2**20)
betas = st.tuples(st.floats(0.05, 64), st.floats(0.05, 64)).map(sorted)  # slow, fast

# Every method as (dim, base, factor, trained length) → Scaled.
METHODS = {
    "linear": lambda dim, base, factor, length: linear(dim, base, factor=factor),
    "ntk_aware": lambda dim, base, factor, length: ntk_aware(dim, base, factor=factor),
    "ntk_by_parts": lambda dim, base, factor, length: ntk_by_parts(
        dim, base, factor=factor, original_max_position_embeddings=length
    ),
    "yarn": lambda dim, base, factor, length: yarn(dim, base, factor=factor, original_max_position_embeddings=length),
    "yarn, not truncated": lambda dim, base, factor, length: yarn(
        dim, base, factor=factor, original_max_position_embeddings=length, truncate=False
    ),
    "yarn, paper": lambda dim, base, factor, length: yarn(
        dim, base, factor=factor, original_max_position_embeddings=length, ramp="paper"
    ),
    "llama3": lambda dim, base, factor, length: llama3(
        dim, base, factor=factor, original_max_position_embeddings=length
    ),
    "longrope": lambda dim, base, factor, length: longrope(
        dim,
        base,
        short_factor=[1.0] * (dim // 2),
        long_factor=[factor] * (dim // 2),
        seq_len=length + 1,
        original_max_position_embeddings=length,
        factor=factor,
        attention_factor=1.0 if length == 1 else None,
    ),
    "proportional": lambda dim, base, factor, length: proportional(dim, base, partial_rotary_factor=1.0, factor=factor),
}
methods = st.sampled_from(sorted(METHODS))


# --- values known beforehand --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: default(8), [1, 0.1, 0.01, 0.001]),
        (lambda: linear(8, factor=4), [0.25, 0.025, 0.0025, 0.00025]),
        (lambda: ntk_aware(8, factor=4), [1, 0.062996052, 0.003968503, 0.00025]),
        (
            lambda: dynamic_ntk(8, seq_len=64, original_max_position_embeddings=16, factor=2),
            [1, 0.052275796, 0.002732759, 0.000142857143],
        ),
        (
            lambda: dynamic_ntk(8, seq_len=64, original_max_position_embeddings=16, factor=1),
            [1, 0.062996052, 0.003968503, 0.00025],
        ),
        (
            lambda: yarn(8, factor=4, original_max_position_embeddings=64, attention_factor=1.0),
            [1, 0.0625, 0.0025, 0.00025],
        ),
        (
            lambda: ntk_by_parts(8, factor=4, original_max_position_embeddings=64),
            [0.472239912, 0.025044980, 0.0025, 0.00025],
        ),
        (lambda: llama3(8, factor=4, original_max_position_embeddings=64), [1, 0.025464791, 0.0025, 0.00025]),
        (lambda: proportional(8, partial_rotary_factor=0.5, factor=2), [0.5, 0.05, 0, 0]),
    ],
)
def test_eight_dimensions_by_hand(call, expected):
    scaled = call()
    np.testing.assert_allclose(scaled.inv_freq, expected, rtol=5e-7)
    assert scaled.attention_factor == 1.0


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: default(128), {1: 8.6596e-01, 32: 1.0000e-02, 63: 1.1548e-04}),
        (lambda: linear(128, factor=2), {1: 8.6596e-01 / 2, 32: 0.5e-02, 63: 1.1548e-04 / 2}),
        (lambda: linear(128, factor=10), {1: 8.6596e-02, 32: 1.0000e-03, 63: 1.1548e-05}),
        (lambda: linear(128, factor=20), {1: 8.6596e-01 / 20, 32: 0.5e-03, 63: 1.1548e-04 / 20}),
        (
            lambda: dynamic_ntk(128, seq_len=16_384, original_max_position_embeddings=2048, factor=10),
            {1: 8.0931e-01, 63: 1.6265e-06},
        ),
        (
            lambda: yarn(128, factor=10, original_max_position_embeddings=2048),
            {16: 1.0000e-01, 17: 8.3479e-02, 40: 4.3007e-04, 41: 2.7384e-04},
        ),
        (
            lambda: llama3(128, factor=10, original_max_position_embeddings=2048),
            {30: 1.3335e-02, 31: 1.0730e-02, 40: 3.4539e-04, 41: 2.7384e-04},
        ),
    ],
)
def test_published_values(call, expected):
    """Five digits from Hugging Face's own tests: dim 128, base 10 000, 2048 trained tokens, factor 10."""
    scaled = call()
    for pair, value in expected.items():
        np.testing.assert_allclose(scaled.inv_freq[pair], value, rtol=5e-5)


def test_published_attention_factors():
    assert yarn(128, factor=10, original_max_position_embeddings=2048).attention_factor == pytest.approx(
        1.2302585092994046, abs=1e-15
    )
    assert mscale(4) == pytest.approx(1.1386294361119891, abs=1e-15)
    assert mscale(4) ** 2 == pytest.approx(1.2965, abs=5e-5)
    deepseek = yarn(64, factor=40, original_max_position_embeddings=4096, mscale=1.0, mscale_all_dim=0.8)
    assert deepseek.attention_factor == pytest.approx(1.056966, abs=5e-7)
    lists = {"short_factor": [1.0] * 32, "long_factor": [2.0] * 32}
    phi3 = longrope(64, **lists, seq_len=1, original_max_position_embeddings=4096, factor=4)
    assert phi3.attention_factor == pytest.approx(1.080123, abs=5e-7)


def test_the_paper_and_the_released_code_of_yarn_differ():
    shared = {"dim": 128, "factor": 10, "original_max_position_embeddings": 2048}
    ratio = yarn(**shared).inv_freq / yarn(**shared, ramp="paper").inv_freq
    assert int(np.argmax(ratio)) == 32
    assert ratio[32] == pytest.approx(2.56, abs=0.005)
    shared = {"dim": 128, "factor": 4, "original_max_position_embeddings": 4096}
    ratio = yarn(**shared, ramp="paper").inv_freq / yarn(**shared).inv_freq
    assert 1 - ratio.min() == pytest.approx(0.42, abs=0.005)


def test_where_the_ramp_of_the_released_code_lies():
    where = partial(correction_range, original_max_position_embeddings=2048)
    assert where(128) == (16, 41)
    assert where(128, truncate=False) == pytest.approx((16.128, 40.210), abs=1e-3)
    kept = ramp_by_pair(128, original_max_position_embeddings=2048)
    np.testing.assert_allclose(kept[[0, 16, 17, 40, 41, 63]], [1, 1, 0.96, 0.04, 0, 0], atol=1e-15)


@pytest.mark.parametrize(
    ("base", "length", "counts"), [(1e4, 4096, (21, 25, 18)), (1e6, 32_768, (24, 16, 24))], ids=["LLaMA-2", "Qwen3"]
)
def test_pairs_kept_blended_and_slowed(base, length, counts):
    kept = ramp_by_turns(128, base, original_max_position_embeddings=length)
    assert (int(np.sum(kept == 1)), int(np.sum((kept > 0) & (kept < 1))), int(np.sum(kept == 0))) == counts


def test_the_greater_base():
    assert [round(ntk_base(128, factor=factor)) for factor in (2, 4, 8)] == [20_221, 40_890, 82_685]
    assert ntk_base(128, factor=4) / 10_000 == pytest.approx(4.089, abs=5e-4)
    slowed = inv_freq(128) / ntk_aware(128, factor=4).inv_freq
    np.testing.assert_allclose(slowed[[0, 32, 63]], [1, 2.022, 4], atol=5e-4)


# --- slow references: one pair at a time, in 40 digits --------------------------------------------------------------

PI = Decimal("3.1415926535897932384626433832795028841971693993751")


def slow_theta(dim, base):
    return [Decimal(base) ** (Decimal(-2 * i) / dim) for i in range(dim // 2)]


def slow_ntk(dim, base, scale):
    alpha = Decimal(scale) ** (Decimal(dim) / (dim - 2))
    return [(Decimal(base) * alpha) ** (Decimal(-2 * i) / dim) for i in range(dim // 2)]


def slow_by_parts(dim, base, factor, length, fast, slow):
    """The paper's three cases by turns."""
    answer = []
    for theta in slow_theta(dim, base):
        turned = length * theta / (2 * PI)
        if turned < Decimal(slow):
            answer.append(theta / Decimal(factor))
        elif turned > Decimal(fast):
            answer.append(theta)
        else:
            gamma = (turned - Decimal(slow)) / (Decimal(fast) - Decimal(slow))
            answer.append((1 - gamma) * theta / Decimal(factor) + gamma * theta)
    return answer


def slow_yarn(dim, base, factor, length, fast, slow, truncate=True):
    """The released code's ramp over pair indices."""

    def pair_of(beta):
        return dim * (length / (Decimal(beta) * 2 * PI)).ln() / (2 * Decimal(base).ln())

    low, high = pair_of(fast), pair_of(slow)
    if truncate:
        low, high = Decimal(math.floor(low)), Decimal(math.ceil(high))
    low, high = max(low, Decimal(0)), min(high, Decimal(dim - 1))
    if low == high:
        high += Decimal("0.001")
    answer = []
    for i, theta in enumerate(slow_theta(dim, base)):
        slowed = min(max((i - low) / (high - low), Decimal(0)), Decimal(1))
        answer.append(theta / Decimal(factor) * slowed + theta * (1 - slowed))
    return answer


def slow_llama3(dim, base, factor, length, low, high):
    """The released code's three cases by wavelength."""
    answer = []
    for theta in slow_theta(dim, base):
        wavelength = 2 * PI / theta
        if wavelength < length / Decimal(high):
            answer.append(theta)
        elif wavelength > length / Decimal(low):
            answer.append(theta / Decimal(factor))
        else:
            smooth = (length / wavelength - Decimal(low)) / (Decimal(high) - Decimal(low))
            answer.append((1 - smooth) * theta / Decimal(factor) + smooth * theta)
    return answer


ONES = {"short_factor": [1.0, 1.0]}
LAMBDAS = [1.0 + 0.37 * i for i in range(32)]
LENGTH = "original_max_position_embeddings"
SLOW = [
    (lambda: default(128, 5e5), lambda: slow_theta(128, 5e5)),
    (lambda: linear(96, 1e4, factor=3.7), lambda: [theta / Decimal(3.7) for theta in slow_theta(96, 1e4)]),
    (lambda: ntk_aware(128, 1e4, factor=8), lambda: slow_ntk(128, 1e4, 8)),
    (lambda: ntk_aware(4, 1e6, factor=2.5), lambda: slow_ntk(4, 1e6, 2.5)),
    (lambda: dynamic_ntk(64, 1e4, seq_len=9000, **{LENGTH: 4096}), lambda: slow_ntk(64, 1e4, Decimal(9000) / 4096)),
    (
        lambda: dynamic_ntk(64, 1e4, seq_len=9000, **{LENGTH: 4096}, factor=8),
        lambda: slow_ntk(64, 1e4, 8 * Decimal(9000) / 4096 - 7),
    ),
    (lambda: ntk_by_parts(128, 1e4, factor=4, **{LENGTH: 4096}), lambda: slow_by_parts(128, 1e4, 4, 4096, 32, 1)),
    (
        lambda: ntk_by_parts(64, 1e6, factor=16, **{LENGTH: 333}, beta_fast=7.5, beta_slow=0.5),
        lambda: slow_by_parts(64, 1e6, 16, 333, 7.5, 0.5),
    ),
    (lambda: yarn(128, 1e4, factor=4, **{LENGTH: 4096}, ramp="paper"), lambda: slow_by_parts(128, 1e4, 4, 4096, 32, 1)),
    (lambda: yarn(128, 1e4, factor=4, **{LENGTH: 4096}), lambda: slow_yarn(128, 1e4, 4, 4096, 32, 1)),
    (
        lambda: yarn(64, 150_000, factor=32, **{LENGTH: 4096}, truncate=False),
        lambda: slow_yarn(64, 150_000, 32, 4096, 32, 1, truncate=False),
    ),
    (
        lambda: yarn(64, 1e4, factor=40, **{LENGTH: 64}, beta_fast=4, beta_slow=2),
        lambda: slow_yarn(64, 1e4, 40, 64, 4, 2),
    ),
    (
        lambda: yarn(8, 1e4, factor=4, **{LENGTH: 10_000}, beta_fast=1, beta_slow=1),
        lambda: slow_yarn(8, 1e4, 4, 10_000, 1, 1),
    ),
    (lambda: llama3(128, 5e5, factor=8, **{LENGTH: 8192}), lambda: slow_llama3(128, 5e5, 8, 8192, 1, 4)),
    (
        lambda: llama3(64, 1e4, factor=32, **{LENGTH: 512}, low_freq_factor=0.5, high_freq_factor=20),
        lambda: slow_llama3(64, 1e4, 32, 512, 0.5, 20),
    ),
    (
        lambda: longrope(
            64, 1e4, short_factor=[1.0] * 32, long_factor=LAMBDAS, seq_len=4097, factor=4, **{LENGTH: 4096}
        ),
        lambda: [theta / Decimal(slowed) for theta, slowed in zip(slow_theta(64, 1e4), LAMBDAS, strict=True)],
    ),
    (
        lambda: proportional(512, 1e6, partial_rotary_factor=0.25),
        lambda: [theta if i < 64 else Decimal(0) for i, theta in enumerate(slow_theta(512, 1e6))],
    ),
]


@pytest.mark.parametrize(("call", "slow"), SLOW)
def test_every_method_to_twelve_digits(call, slow):
    scaled = call()
    with localcontext() as context:
        context.prec = 40
        expected = slow()
        assert len(expected) == len(scaled.inv_freq)
        for got, want in zip(scaled.inv_freq, expected, strict=True):
            assert abs(Decimal(float(got)) - want) <= Decimal("1e-12") * want


# --- limits and order -----------------------------------------------------------------------------------------------


@given(methods, dims, bases, lengths)
def test_without_a_longer_context_nothing_changes(name, dim, base, length):
    assume(dim > 2 or name != "ntk_aware")
    scaled = METHODS[name](dim, base, 1.0, length)
    assert isinstance(scaled, Scaled)
    assert scaled.attention_factor == 1.0
    np.testing.assert_allclose(scaled.inv_freq, inv_freq(dim, base), rtol=1e-14)
    nearly = METHODS[name](dim, base, 1 + 1e-9, length)
    np.testing.assert_allclose(nearly.inv_freq, inv_freq(dim, base), rtol=2e-9)
    assert nearly.attention_factor == pytest.approx(1, abs=2e-9)


@given(methods, dims, bases, factors, lengths)
def test_every_pair_lies_between_its_own_frequency_and_that_over_the_factor(name, dim, base, factor, length):
    assume(dim > 2 or name != "ntk_aware")
    frequencies, scaled = inv_freq(dim, base), METHODS[name](dim, base, factor, length).inv_freq
    assert scaled.shape == (dim // 2,)
    assert scaled.dtype == np.float64
    assert np.all(scaled <= frequencies * (1 + 1e-13))
    assert np.all(scaled >= frequencies / factor * (1 - 1e-13))


@given(methods, dims, bases, factors, lengths)
def test_the_list_never_increases(name, dim, base, factor, length):
    assume(dim > 2 or name != "ntk_aware")
    scaled = METHODS[name](dim, base, factor, length).inv_freq
    assert np.all(scaled[1:] <= scaled[:-1] * (1 + 1e-13))


@given(methods, dims, bases, factors, factors, lengths)
def test_a_greater_factor_slows_no_pair_less(name, dim, base, one, other, length):
    assume(dim > 2 or name != "ntk_aware")
    less, more = (METHODS[name](dim, base, factor, length) for factor in sorted([one, other]))
    assert np.all(more.inv_freq <= less.inv_freq * (1 + 1e-13))
    assert more.attention_factor >= less.attention_factor


@given(dims, bases, factors)
def test_linear_is_the_list_over_the_factor(dim, base, factor):
    np.testing.assert_array_equal(linear(dim, base, factor=factor).inv_freq, inv_freq(dim, base) / factor)


@given(wide_dims, bases, factors)
def test_ntk_keeps_the_fastest_pair_and_interpolates_the_slowest(dim, base, factor):
    scaled = ntk_aware(dim, base, factor=factor).inv_freq
    assert scaled[0] == 1
    np.testing.assert_allclose(scaled[-1], linear(dim, base, factor=factor).inv_freq[-1], rtol=1e-12)
    slowed = factor ** (np.arange(0, dim, 2) / (dim - 2))
    np.testing.assert_allclose(scaled * slowed, inv_freq(dim, base), rtol=1e-12)


@given(wide_dims, bases, st.integers(0, 2**20), lengths)
def test_dynamic_is_ntk_by_the_length_at_hand(dim, base, seq_len, length):
    for factor in (None, 1, 1.0):
        scaled = dynamic_ntk(dim, base, seq_len=seq_len, original_max_position_embeddings=length, factor=factor)
        expected = ntk_aware(dim, base, factor=max(seq_len, length) / length)
        np.testing.assert_allclose(scaled.inv_freq, expected.inv_freq, rtol=1e-13)


@given(wide_dims, bases, lengths, st.floats(1, 100), st.data())
def test_dynamic_leaves_a_short_sequence_alone(dim, base, length, factor, data):
    seq_len = data.draw(st.integers(0, length))
    scaled = dynamic_ntk(dim, base, seq_len=seq_len, original_max_position_embeddings=length, factor=factor)
    np.testing.assert_array_equal(scaled.inv_freq, inv_freq(dim, base))


@given(wide_dims, bases, st.integers(1, 4096), st.integers(2, 100))
def test_the_released_dynamic_factor_is_not_the_scale(dim, base, length, factor):
    at_f = dynamic_ntk(dim, base, seq_len=factor * length, original_max_position_embeddings=length, factor=factor)
    expected = ntk_aware(dim, base, factor=factor**2 - factor + 1)
    np.testing.assert_allclose(at_f.inv_freq, expected.inv_freq, rtol=1e-12)
    slowest = inv_freq(dim, base)[-1] / at_f.inv_freq[-1]
    assert slowest == pytest.approx(factor**2 - factor + 1, rel=1e-11)


@given(dims, bases, lengths, betas, st.booleans())
def test_the_two_ramps(dim, base, length, bounds, truncate):
    slow, fast = bounds
    shared = {LENGTH: length, "beta_fast": fast, "beta_slow": slow}
    by_turns = ramp_by_turns(dim, base, **shared)
    by_pair = ramp_by_pair(dim, base, **shared, truncate=truncate)
    made = turns(length, inv_freq(dim, base))
    for kept in (by_turns, by_pair):
        assert kept.shape == (dim // 2,)
        assert np.all((kept >= 0) & (kept <= 1))
        assert np.all(kept[1:] <= kept[:-1])
    assert np.all(by_turns[made >= fast] == 1)
    assert np.all(by_turns[made < slow] == 0)
    low, high = correction_range(dim, base, **shared, truncate=truncate)
    assert low >= 0
    assert high <= dim - 1
    if low < high:
        pairs = np.arange(dim // 2)
        np.testing.assert_array_equal(by_pair[pairs <= low], 1)
        np.testing.assert_array_equal(by_pair[pairs >= high], 0)
        np.testing.assert_allclose(np.interp(pairs, [low, high], [1, 0]), by_pair, atol=1e-9)
    for kept, ramp in ((by_turns, "paper"), (by_pair, "released")):
        scaled = yarn(dim, base, factor=5, **shared, ramp=ramp, truncate=truncate)
        np.testing.assert_allclose(scaled.inv_freq, inv_freq(dim, base) * (kept + (1 - kept) / 5), rtol=1e-13)
        assert scaled.attention_factor == mscale(5)


@given(dims, bases, factors, lengths)
def test_a_ramp_of_all_or_nothing_is_default_or_linear(dim, base, factor, length):
    made = turns(length, inv_freq(dim, base))
    yarned = partial(yarn, dim, base, factor=factor, **{LENGTH: length}, ramp="paper", attention_factor=1.0)
    all_kept = yarned(beta_fast=made[-1], beta_slow=made[-1] / 2)
    np.testing.assert_array_equal(all_kept.inv_freq, inv_freq(dim, base))
    none_kept = yarned(beta_fast=made[0] * 4, beta_slow=made[0] * 2)
    np.testing.assert_array_equal(none_kept.inv_freq, linear(dim, base, factor=factor).inv_freq)
    assert all_kept.attention_factor == none_kept.attention_factor == 1.0


def test_equal_bounds_make_a_step():
    made = turns(10_000, inv_freq(8))
    kept = ramp_by_turns(8, original_max_position_embeddings=10_000, beta_fast=made[2], beta_slow=made[2])
    assert kept.tolist() == [1, 1, 1, 0]
    assert kept.dtype == np.float64
    # The same of the released ramp, whose range is empty at a pair, or between two.
    bounds = {"original_max_position_embeddings": 2, "beta_fast": 2.0, "beta_slow": 0.3183098861837907}
    assert correction_range(8, **bounds) == (0, 0)
    assert ramp_by_pair(8, **bounds).tolist() == [1, 0, 0, 0]
    between = {"original_max_position_embeddings": 10_000, "beta_fast": 50.0, "beta_slow": 50.0, "truncate": False}
    low, high = correction_range(8, **between)
    assert 1 < low == high < 2
    assert ramp_by_pair(8, **between).tolist() == [1, 1, 0, 0]


def test_what_the_released_ramp_does_at_its_limits():
    """No pair makes a turn: nothing is slowed. Every pair makes 32 and the range is past the end: all are slowed."""
    few = {"dim": 128, "original_max_position_embeddings": 4}
    assert correction_range(**few) == (0, -3)
    assert ramp_by_pair(**few).tolist() == [1] * 64
    assert ramp_by_turns(**few).tolist() == [0] * 64
    many = {"dim": 8, "base": 10, "original_max_position_embeddings": 10**9}
    assert correction_range(**many) == (26, 7)
    assert ramp_by_pair(**many).tolist() == [0] * 4
    assert ramp_by_turns(**many).tolist() == [1] * 4


def test_a_trained_length_below_32_turns():
    """With 64 trained tokens the fastest pair makes 10.2 turns: the paper's ramp slows it, the released code's not."""
    short = {"dim": 64, "factor": 4, "original_max_position_embeddings": 64}
    assert ntk_by_parts(**short).inv_freq[0] == pytest.approx(0.472239912, abs=1e-9)
    assert yarn(**short).inv_freq[0] == 1
    assert ntk_by_parts(**short, beta_fast=4).inv_freq[0] == 1


@given(dims, bases, factors, lengths, betas)
def test_llama3_is_scaling_by_parts(dim, base, factor, length, bounds):
    slow, fast = bounds
    scaled = llama3(dim, base, factor=factor, **{LENGTH: length}, low_freq_factor=slow, high_freq_factor=fast)
    by_parts = ntk_by_parts(dim, base, factor=factor, **{LENGTH: length}, beta_fast=fast, beta_slow=slow)
    np.testing.assert_allclose(scaled.inv_freq, by_parts.inv_freq, rtol=1e-12)
    assert scaled.attention_factor == 1.0
    usual = ntk_by_parts(dim, base, factor=factor, **{LENGTH: length}, beta_fast=4, beta_slow=1)
    usual_llama3 = llama3(dim, base, factor=factor, **{LENGTH: length})
    np.testing.assert_allclose(usual_llama3.inv_freq, usual.inv_freq, rtol=1e-12)


@given(dims, bases, st.floats(1e-3, 1e3), st.floats(0.1, 3))
def test_the_temperature(dim, base, factor, weight):
    expected = 1 + 0.1 * weight * math.log(factor) if factor > 1 else 1
    assert mscale(factor, weight) == pytest.approx(expected, abs=1e-14)
    assert mscale(factor) == mscale(factor, 1.0)
    if factor >= 1:
        shared = {"dim": dim, "base": base, "factor": factor, LENGTH: 4096}
        assert yarn(**shared).attention_factor == mscale(factor)
        both = yarn(**shared, mscale=weight, mscale_all_dim=0.5)
        assert both.attention_factor == mscale(factor, weight) / mscale(factor, 0.5)
        assert yarn(**shared, mscale=weight, mscale_all_dim=weight).attention_factor == 1.0
        given_one = yarn(**shared, mscale=weight, mscale_all_dim=0.5, attention_factor=0.25)
        assert given_one.attention_factor == 0.25
        np.testing.assert_array_equal(given_one.inv_freq, yarn(**shared).inv_freq)


@pytest.mark.parametrize("given_one", [{"mscale": 0.7}, {"mscale_all_dim": 0.7}])
def test_one_mscale_alone_is_refused(given_one):
    with pytest.raises(ValueError, match="mscale and mscale_all_dim must be given together"):
        yarn(8, factor=4, original_max_position_embeddings=64, **given_one)


def test_longrope_chooses_its_list_by_the_length_at_hand():
    lists = {"short_factor": [1.0, 1.5, 2.0, 2.5], "long_factor": [1.0, 4.0, 9.0, 1.0]}
    chosen = partial(longrope, 8, 1e4, **lists, original_max_position_embeddings=64, factor=4)
    for seq_len, name in ((0, "short_factor"), (64, "short_factor"), (65, "long_factor"), (10**6, "long_factor")):
        scaled = chosen(seq_len=seq_len)
        np.testing.assert_allclose(scaled.inv_freq, inv_freq(8) / lists[name], rtol=1e-15)
        assert scaled.attention_factor == pytest.approx(math.sqrt(1 + math.log(4) / math.log(64)), abs=1e-15)
    assert chosen(seq_len=65, attention_factor=1.25).attention_factor == 1.25
    alone = longrope(8, **lists, seq_len=1, original_max_position_embeddings=1, attention_factor=1.25)
    assert alone.attention_factor == 1.25
    with pytest.raises(ValueError, match="factor must be given where attention_factor is not, got None"):
        longrope(8, **lists, seq_len=1, original_max_position_embeddings=64)


@given(dims, bases, st.floats(0, 1), factors)
def test_proportional_stops_the_slow_pairs(dim, base, share, factor):
    scaled = proportional(dim, base, partial_rotary_factor=share, factor=factor).inv_freq
    turning = math.floor(share * dim / 2)
    np.testing.assert_array_equal(scaled[:turning], inv_freq(dim, base)[:turning] / factor)
    np.testing.assert_array_equal(scaled[turning:], np.zeros(dim // 2 - turning))


def test_a_factor_beyond_floats_is_refused():
    with pytest.raises(ValueError, match=re.escape("factor must leave base·factor^(dim/(dim − 2)) finite, got 1e+200")):
        ntk_base(4, factor=1e200)
    assert math.isfinite(ntk_base(4, factor=1e150))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: linear(8, factor=0.999),
            ValueError,
            "factor must be at least 1 (a context is lengthened, never short",
        ),
        (lambda: ntk_base(2, factor=4), ValueError, "dim must be at least 4 for NTK scaling (its exponent is dim/(dim"),
        (
            lambda: yarn(8, 1.0, factor=4, original_max_position_embeddings=64),
            ValueError,
            "base must be greater than 1 for a ramp over pairs, got 1.0",
        ),
        (
            lambda: correction_range(8, original_max_position_embeddings=64, truncate=1),
            TypeError,
            "truncate must be True or False, got 1",
        ),
        (
            lambda: yarn(8, factor=4, original_max_position_embeddings=64, ramp="code"),
            ValueError,
            "ramp must be one of ('released', 'paper'), got 'code'",
        ),
        (
            lambda: longrope(4, **ONES, long_factor="12", seq_len=1, original_max_position_embeddings=64, factor=1),
            TypeError,
            "long_factor must be a list or an array of numbers, got '12'",
        ),
        (
            lambda: longrope(4, **ONES, long_factor=[1, 0], seq_len=1, original_max_position_embeddings=64, factor=1),
            ValueError,
            "long_factor must be greater than 0, got [1, 0]",
        ),
        (
            lambda: longrope(4, **ONES, long_factor=[1, 2], seq_len=1, original_max_position_embeddings=1, factor=1),
            ValueError,
            "original_max_position_embeddings must be at least 2 without attention_factor, got 1",
        ),
        (
            lambda: proportional(8, partial_rotary_factor=1.5),
            ValueError,
            "partial_rotary_factor must be from 0 to 1, got",
        ),
        (lambda: from_config([], 8), TypeError, "config must be a mapping, got []"),
        (lambda: from_config({}, 8), ValueError, "config must say something of RoPE, got {}"),
    ],
)
def test_what_is_refused(call, error, message):
    """The words; tests/refused/scaling.py has every argument."""
    with pytest.raises(error, match=re.escape(message)):
        call()


# --- configurations -------------------------------------------------------------------------------------------------

SHORT, LONG = [1.0 + 0.01 * i for i in range(32)], [1.0 + 2 * i for i in range(32)]
LISTS = {"short_factor": SHORT, "long_factor": LONG}
LLAMA3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
QWEN3 = {"factor": 4.0, LENGTH: 32_768}
PHI3 = {"short_factor": [1.1] * 24, "long_factor": LONG[:24]}

# (rope parameters, max_position_embeddings, seq_len, the same by its own function); the head has 64 dimensions.
CONFIGURED = [
    ({"rope_type": "default", "rope_theta": 1e4}, 4096, None, lambda: default(64)),
    ({"rope_type": "default", "rope_theta": 1e6}, 40_960, 10**6, lambda: default(64, 1e6)),
    ({"rope_theta": 500_000}, 8192, None, lambda: default(64, 5e5)),
    ({"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.45}, 4096, None, lambda: default(28)),
    (
        {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5},
        4096,
        None,
        lambda: default(32),
    ),
    ({"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}, 4096, None, lambda: linear(64, factor=4)),
    ({"rope_type": "linear", "rope_theta": 1e6, "factor": 8}, 131_072, None, lambda: linear(64, 1e6, factor=8)),
    ({"rope_type": "linear", "rope_theta": 5e5, "factor": 1.0}, 4096, 9, lambda: linear(64, 5e5, factor=1)),
    (
        {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.5, "partial_rotary_factor": 0.25},
        4096,
        None,
        lambda: linear(16, factor=2.5),
    ),
    (
        {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0},
        4096,
        16_384,
        lambda: dynamic_ntk(64, seq_len=16_384, **{LENGTH: 4096}, factor=4),
    ),
    (
        {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 1.0},
        4096,
        16_384,
        lambda: ntk_aware(64, factor=4),
    ),
    ({"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}, 2048, 2048, lambda: default(64)),
    ({"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}, 2048, None, lambda: default(64)),
    ({"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}, 2048, 100, lambda: default(64)),
    (
        {"rope_type": "dynamic", "rope_theta": 1e6, "factor": 3.0, "partial_rotary_factor": 0.75},
        2048,
        2049,
        lambda: dynamic_ntk(48, 1e6, seq_len=2049, **{LENGTH: 2048}, factor=3),
    ),
    (
        {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 4096},
        16_384,
        None,
        lambda: yarn(64, factor=4, **{LENGTH: 4096}),
    ),
    (
        {"rope_type": "yarn", "rope_theta": 1e6, **QWEN3},
        40_960,
        None,
        lambda: yarn(64, 1e6, factor=4, **{LENGTH: 32_768}),
    ),
    (
        {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0},
        4096,
        None,
        lambda: yarn(64, factor=4, **{LENGTH: 4096}),
    ),
    (
        {"rope_type": "yarn", "rope_theta": 1e4, "factor": None, LENGTH: 4096},
        32_768,
        None,
        lambda: yarn(64, factor=8, **{LENGTH: 4096}),
    ),
    (
        {"rope_type": "yarn", "rope_theta": 1e4, "factor": 40.0, LENGTH: 4096, "mscale": 1.0, "mscale_all_dim": 0.8},
        163_840,
        None,
        lambda: yarn(64, factor=40, **{LENGTH: 4096}, mscale=1.0, mscale_all_dim=0.8),
    ),
    (
        {"rope_type": "yarn", "rope_theta": 1e4, "factor": 40, LENGTH: 4096, "mscale": 0.707, "mscale_all_dim": 0.707},
        163_840,
        None,
        lambda: yarn(64, factor=40, **{LENGTH: 4096}, attention_factor=1.0),
    ),
    (
        {
            "rope_type": "yarn",
            "rope_theta": 150_000,
            "factor": 32.0,
            LENGTH: 4096,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "truncate": False,
        },
        131_072,
        None,
        lambda: yarn(64, 150_000, factor=32, **{LENGTH: 4096}, truncate=False),
    ),
    (
        {
            "rope_type": "yarn",
            "rope_theta": 1e4,
            "factor": 4.0,
            LENGTH: 512,
            "beta_fast": 64,
            "beta_slow": 2,
            "attention_factor": 1.5,
            "partial_rotary_factor": 0.5,
        },
        2048,
        None,
        lambda: yarn(32, factor=4, **{LENGTH: 512}, beta_fast=64, beta_slow=2, attention_factor=1.5),
    ),
    (
        {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 4},
        16,
        None,
        lambda: yarn(64, factor=4, **{LENGTH: 4}),
    ),
    (
        {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 2, "beta_fast": 2.0, "beta_slow": 0.315},
        8,
        None,
        lambda: yarn(64, factor=4, **{LENGTH: 2}, beta_fast=2.0, beta_slow=0.315),
    ),
    (
        {"rope_type": "longrope", "rope_theta": 1e4, **LISTS, "factor": 4.0, LENGTH: 4096},
        16_384,
        4097,
        lambda: longrope(64, **LISTS, seq_len=4097, factor=4, **{LENGTH: 4096}),
    ),
    (
        {"rope_type": "longrope", "rope_theta": 1e4, **LISTS, "factor": 4.0, LENGTH: 4096},
        16_384,
        4096,
        lambda: longrope(64, **LISTS, seq_len=1, factor=4, **{LENGTH: 4096}),
    ),
    (
        {"rope_type": "longrope", "rope_theta": 1e4, **LISTS, LENGTH: 4096},
        131_072,
        None,
        lambda: longrope(64, **LISTS, seq_len=4096, factor=32, **{LENGTH: 4096}),
    ),
    (
        {"rope_type": "longrope", "rope_theta": 1e6, **LISTS, LENGTH: 4096, "attention_factor": 1.19},
        4096,
        10**5,
        lambda: longrope(64, 1e6, **LISTS, seq_len=10**5, **{LENGTH: 4096}, attention_factor=1.19),
    ),
    (
        {"rope_type": "longrope", "rope_theta": 1e4, **LISTS, "factor": 1.0},
        4096,
        8192,
        lambda: longrope(64, **LISTS, seq_len=8192, factor=1, **{LENGTH: 4096}),
    ),
    (
        {"rope_type": "longrope", "rope_theta": 1e4, **PHI3, LENGTH: 4096, "partial_rotary_factor": 0.75},
        131_072,
        5000,
        lambda: longrope(48, **PHI3, seq_len=5000, factor=32, **{LENGTH: 4096}),
    ),
    (
        {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, LENGTH: 8192, **LLAMA3},
        131_072,
        None,
        lambda: llama3(64, 5e5, factor=8, **{LENGTH: 8192}),
    ),
    (
        {"rope_type": "llama3", "rope_theta": 1e4, "factor": 10.0, LENGTH: 2048, **LLAMA3},
        20_480,
        None,
        lambda: llama3(64, factor=10, **{LENGTH: 2048}),
    ),
    (
        {
            "rope_type": "llama3",
            "rope_theta": 1e4,
            "factor": 4.0,
            LENGTH: 333,
            "low_freq_factor": 2,
            "high_freq_factor": 9,
        },
        2048,
        None,
        lambda: llama3(64, factor=4, **{LENGTH: 333}, low_freq_factor=2, high_freq_factor=9),
    ),
    (
        {"rope_type": "llama3", "rope_theta": 1e4, "factor": 4.0, **LLAMA3, "partial_rotary_factor": 0.5},
        512,
        None,
        lambda: llama3(32, factor=4, **{LENGTH: 512}),
    ),
    (
        {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25},
        131_072,
        None,
        lambda: proportional(64, 1e6, partial_rotary_factor=0.25),
    ),
    (
        {"rope_type": "proportional", "rope_theta": 1e4, "partial_rotary_factor": 0.3, "factor": 8.0},
        4096,
        None,
        lambda: proportional(64, partial_rotary_factor=0.3, factor=8),
    ),
    ({"rope_type": "proportional", "rope_theta": 1e4}, 4096, None, lambda: default(64)),
    ({"rope_type": "axial", "rope_theta": 1e4}, 4096, None, lambda: default(32)),
    ({"rope_type": "axial", "rope_theta": 100.0}, 4096, 8192, lambda: default(32, 100.0)),
    ({"rope_type": "axial", "rope_theta": 5e5}, 4096, 7, lambda: default(32, 5e5)),
    ({"rope_type": "axial", "rope_theta": 1e6}, 2048, None, lambda: axial(64, 1e6)),
    (
        {"rope_type": "proportional", "rope_theta": 5e5, "partial_rotary_factor": 1.0, "factor": 2.0},
        4096,
        None,
        lambda: linear(64, 5e5, factor=2),
    ),
]
configured = pytest.mark.parametrize(
    ("rope", "longest", "seq_len", "expected"),
    CONFIGURED,
    ids=[f"{rope.get('rope_type')}-{number}" for number, (rope, *_) in enumerate(CONFIGURED)],
)


def assert_same(scaled, expected):
    np.testing.assert_allclose(scaled.inv_freq, expected.inv_freq, rtol=1e-14)
    assert scaled.attention_factor == expected.attention_factor


@configured
def test_a_configuration_is_the_call_it_describes(rope, longest, seq_len, expected):
    whole = {"head_dim": 64, "hidden_size": 256, "max_position_embeddings": longest, "rope_parameters": rope}
    before = copy.deepcopy(whole)
    assert_same(from_config(whole, 64, seq_len), expected())
    assert whole == before
    assert_same(from_config(MappingProxyType(whole), 64, seq_len), expected())
    # The older form: rope_scaling with "type", the base around it.
    older = {key: value for key, value in rope.items() if key not in ("rope_type", "rope_theta")}
    older["type"] = rope.get("rope_type", "default")
    around = {"max_position_embeddings": longest, "rope_theta": rope["rope_theta"]}
    assert_same(from_config({**around, "rope_scaling": older}, 64, seq_len), expected())
    assert_same(from_config({**whole, "rope_scaling": None}, 64, seq_len), expected())
    assert_same(from_config({**whole, "rope_scaling": copy.deepcopy(rope)}, 64, seq_len), expected())
    # Per layer, beside a layer of another kind.
    layers = {"rope_parameters": {"full_attention": rope, "sliding_attention": {"rope_theta": 100.0}, "none": None}}
    assert_same(from_config({**whole, **layers}, 64, seq_len, layer_type="full_attention"), expected())
    assert_same(from_config({**whole, **layers}, 64, seq_len, layer_type="sliding_attention"), default(64, 100.0))
    assert from_config(whole, 64, seq_len, like=np.ones(1)).inv_freq.dtype == np.float64


def test_every_type_is_configured_four_times():
    named = [rope.get("rope_type", "default") for rope, *_ in CONFIGURED]
    assert set(named) == set(ROPE_TYPES)
    assert all(named.count(name) >= 4 for name in ROPE_TYPES)


@pytest.mark.parametrize(
    ("rope", "expected"),
    [
        ({"rope_theta": 1e6}, lambda: default(64, 1e6)),
        ({"type": "linear", "factor": 4.0}, lambda: linear(64, factor=4)),
        ({"type": "linear", "rope_type": "linear", "factor": 4.0}, lambda: linear(64, factor=4)),
        ({"type": "linear", "rope_type": None, "factor": 4.0}, lambda: linear(64, factor=4)),
        (
            {"type": "su", **LISTS, "factor": 4, LENGTH: 64},
            lambda: longrope(64, **LISTS, seq_len=1, factor=4, **{LENGTH: 64}),
        ),
        (
            {"type": "su", "rope_type": "longrope", **LISTS, "attention_factor": 1.5, LENGTH: 64},
            lambda: longrope(64, **LISTS, seq_len=1, attention_factor=1.5, **{LENGTH: 64}),
        ),
        ({"type": "yarn", **QWEN3}, lambda: yarn(64, factor=4, **{LENGTH: 32_768})),
        ({"type": "dynamic", "factor": 4.0, LENGTH: 64}, lambda: default(64)),
    ],
)
def test_a_rope_dictionary_on_its_own(rope, expected):
    assert_same(from_config(rope, 64), expected())


def test_a_rope_dictionary_per_layer_on_its_own():
    rope = {"full_attention": {"rope_theta": 1e6, "rope_type": "linear", "factor": 8.0}, "other": {"rope_theta": 1e4}}
    assert_same(from_config(rope, 64, layer_type="full_attention"), linear(64, 1e6, factor=8))
    assert_same(from_config(rope, 64, layer_type="other"), default(64))


def test_where_the_trained_length_is_found():
    rope = {"type": "yarn", "factor": 4.0}
    around = {"rope_theta": 1e4, "max_position_embeddings": 4096, "rope_scaling": rope}
    assert_same(from_config(around, 64), yarn(64, factor=4, **{LENGTH: 4096}))
    assert_same(from_config({**around, LENGTH: 1024}, 64), yarn(64, factor=4, **{LENGTH: 1024}))
    inside = {**around, "rope_scaling": {**rope, LENGTH: 1024}}
    assert_same(from_config(inside, 64), yarn(64, factor=4, **{LENGTH: 1024}))
    assert_same(from_config({**inside, LENGTH: 1024}, 64), yarn(64, factor=4, **{LENGTH: 1024}))
    rope["factor"] = None
    assert_same(from_config({**around, LENGTH: 1024}, 64), yarn(64, factor=4, **{LENGTH: 1024}))


def test_a_truncate_per_layer_is_the_layers_own():
    rope = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 4096, "truncate": False}
    scaled = from_config({"full_attention": rope}, 64, layer_type="full_attention")
    assert_same(scaled, yarn(64, factor=4, **{LENGTH: 4096}, truncate=False))


def test_what_stands_around_layers_is_for_those_that_do_not_say():
    layers = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"partial_rotary_factor": 0.5}}
    config = {"rope_theta": 1e4, "partial_rotary_factor": 0.25, "rope_parameters": layers}
    assert_same(from_config(config, 64, layer_type="full_attention"), default(16, 1e6))
    assert_same(from_config(config, 64, layer_type="sliding_attention"), default(32, 1e4))


def test_the_older_gemma_3():
    older = {
        "head_dim": 256,
        "rope_theta": 1_000_000.0,
        "rope_local_base_freq": 10_000.0,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    }
    assert_same(from_config(older, 256, layer_type="full_attention"), linear(256, 1e6, factor=8))
    assert_same(from_config(older, 256, layer_type="sliding_attention"), default(256))
    unscaled = {**older, "rope_scaling": None}
    assert_same(from_config(unscaled, 256, layer_type="full_attention"), default(256, 1e6))


def test_the_width_that_a_configuration_names():
    rope = {"rope_parameters": {"rope_theta": 1e4}}
    for config, widths in (
        ({"head_dim": 64}, [64]),
        ({"head_dim": None}, [2, 64, 256]),
        ({"qk_rope_head_dim": 64, "head_dim": 192}, [64]),
        ({"head_dim": 256, "global_head_dim": 512}, [256, 512]),
        ({"head_dim": 256, "per_layer_config": {"05": {"head_dim": 512}, "06": {}}}, [256, 512]),
    ):
        for width in widths:
            assert_same(from_config(config | rope, width), default(width))
    for config in (
        {"head_dim": 64},
        {"qk_rope_head_dim": 64, "head_dim": 128},
        {"per_layer_config": {"0": {"head_dim": 64}}},
    ):
        with pytest.raises(ValueError, match="head_dim must be what config says, 64, got 128"):
            from_config(config | rope, 128)


YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 4096}
LINEAR = {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}
LAYERS = {"full_attention": YARN, "sliding_attention": {"rope_theta": 1e4}, "none": None}


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        # types
        ({"rope_type": "Yarn"}, ValueError, "rope_type must be one of .*, got 'Yarn'"),
        ({"rope_type": 3}, TypeError, "rope_type must be a string in config, got 3"),
        ({"rope_type": ["yarn"]}, TypeError, "rope_type must be a string in config"),
        ({**YARN, "type": "linear"}, ValueError, "contradicts itself: rope_type is 'yarn' and type is 'linear'"),
        # keys
        (
            {**LINEAR, "attention_factor": 1.0},
            ValueError,
            r"unknown keys \['attention_factor'\] for rope_type 'linear'",
        ),
        ({**YARN, "beta": 32}, ValueError, r"unknown keys \['beta'\] for rope_type 'yarn', known are .*'beta_fast'"),
        ({**LINEAR, 3: 4}, ValueError, r"unknown keys \['3'\]"),
        ({"rope_theta": 1e4, "factor": 4.0}, ValueError, r"unknown keys \['factor'\] for rope_type 'default'"),
        ({"rope_theta": 1e4, "rope_typ": "yarn"}, ValueError, r"not understood, \['rope_typ'\]; understood are"),
        ({"rope_theta": 1e4, "rotary_share": 0.25, "hidden": 8}, ValueError, r"not understood, \['rotary_share'\]"),
        # missing
        ({"rope_type": "linear"}, ValueError, "config lacks factor for rope_type 'linear'"),
        ({"rope_type": "linear", "factor": None}, ValueError, "config lacks factor for rope_type 'linear'"),
        ({"type": "dynamic", "factor": 4.0}, ValueError, "config lacks original_max_position_embeddings or max_posit"),
        ({"type": "yarn", "factor": 4.0}, ValueError, "config lacks original_max_position_embeddings or max_position"),
        ({"type": "yarn", LENGTH: 4096}, ValueError, "config lacks factor for rope_type 'yarn', got .*; null sta"),
        (
            {"type": "longrope", **LISTS, LENGTH: 64},
            ValueError,
            "config lacks factor for rope_type 'longrope', or both",
        ),
        ({"type": "longrope", "factor": 4, LENGTH: 64}, ValueError, "config lacks short_factor, long_factor"),
        (
            {"type": "llama3", "factor": 8, LENGTH: 64},
            ValueError,
            "lacks rope_theta, low_freq_factor, high_freq_factor",
        ),
        ({"type": "proportional"}, ValueError, "config lacks rope_theta for rope_type 'proportional'"),
        ({"rope_scaling": {"type": "linear", "factor": 4.0}}, ValueError, "config lacks rope_theta for rope_type 'lin"),
        ({"rope_parameters": None}, ValueError, "config lacks rope_theta for rope_type 'default'"),
        ({"rope_parameters": {}}, ValueError, "config lacks rope_theta for rope_type 'default'"),
        ({"model_type": "bert", "hidden_size": 768}, ValueError, "config lacks rope_theta"),
        ({"full_attention": None}, ValueError, "config lacks rope_theta"),
        # contradictions
        (
            {"rope_theta": 1e6, "rope_parameters": YARN},
            ValueError,
            "rope_theta is 10000.0 in the rope dict.*, 1000000.0 o",
        ),
        (
            {"partial_rotary_factor": 0.5, "rope_parameters": {**YARN, "partial_rotary_factor": 1.0}},
            ValueError,
            "partial",
        ),
        (
            {LENGTH: 2048, "rope_parameters": YARN},
            ValueError,
            "original_max_position_embeddings is 4096 in .*, 2048 out",
        ),
        ({"rope_parameters": YARN, "rope_scaling": LINEAR}, ValueError, "rope_parameters and rope_scaling differ"),
        ({"rope_parameters": YARN, "rope_scaling": {**YARN, "rope_theta": 5.0}}, ValueError, "and rope_scaling differ"),
        ({"rope_parameters": YARN, "rope_scaling": {**YARN, "beta_fast": 16}}, ValueError, "and rope_scaling differ"),
        ({"rope_parameters": LAYERS, "rope_scaling": LINEAR}, ValueError, "rope_parameters and rope_scaling differ"),
        ({"rope_parameters": LAYERS, "rope_local_base_freq": 1e4}, ValueError, "both rope_local_base_freq, 10000.0"),
        (
            {"max_position_embeddings": 4096, "rope_parameters": {**LINEAR, "rope_type": "dynamic", LENGTH: 2048}},
            ValueError,
            "dynamic scales from one length, but original_max_position_embeddings is 2048 and max_position_embedd",
        ),
        # values
        ({"rope_scaling": "yarn"}, TypeError, "rope_scaling must be a mapping or None in config, got 'yarn'"),
        ({"rope_parameters": [YARN]}, TypeError, "rope_parameters must be a mapping or None in config"),
        ({**LINEAR, "rope_theta": -1.0}, ValueError, "rope_theta must be finite and greater than 0, got -1.0"),
        ({**LINEAR, "rope_theta": "1e4"}, TypeError, "rope_theta must be a number, got '1e4'"),
        ({**LINEAR, "factor": 0.5}, ValueError, "factor must be at least 1 .*, got 0.5"),
        ({**LINEAR, "factor": True}, TypeError, "factor must be a number, got True"),
        ({**YARN, LENGTH: 4096.0}, TypeError, "original_max_position_embeddings must be a whole number, got 4096.0"),
        ({**YARN, "truncate": None}, TypeError, "truncate must be True or False, got None"),
        ({**YARN, "beta_fast": 0}, ValueError, "beta_fast must be finite and greater than 0, got 0"),
        ({**YARN, "beta_fast": 0.5}, ValueError, "beta_fast must not be below beta_slow, got 0.5 and 1.0"),
        ({**YARN, "mscale": 0.7}, ValueError, "mscale and mscale_all_dim must be given together"),
        (
            {**YARN, "attention_factor": -1.0},
            ValueError,
            "attention_factor must be finite and greater than 0, got -1.0",
        ),
        ({"type": "longrope", **PHI3, "factor": 4, LENGTH: 64}, ValueError, r"short_factor must have shape \(32,\)"),
        ({**LINEAR, "partial_rotary_factor": 1.5}, ValueError, "partial_rotary_factor must be from 0 to 1, got 1.5"),
        ({**LINEAR, "partial_rotary_factor": "1"}, TypeError, "partial_rotary_factor must be a number, got '1'"),
        (
            {**LINEAR, "partial_rotary_factor": 0.05},
            ValueError,
            "head_dim 64 with partial_rotary_factor 0.05 leaves 3 ",
        ),
        ({**LINEAR, "partial_rotary_factor": 0.0}, ValueError, "leaves 0 dimensions to rotate"),
        (
            {"rope_theta": 1e4, "max_position_embeddings": 4096.0, "rope_scaling": {"type": "yarn", "factor": 2.0}},
            TypeError,
            "max_position_embeddings must be a whole number, got 4096.0",
        ),
        (
            {"max_position_embeddings": 1024, "rope_parameters": {**YARN, "factor": None}},
            ValueError,
            "factor must be at least 1 .*, got 0.25",
        ),
        # layers
        (LAYERS, ValueError, r"layer_type must be one of \('full_attention', 'sliding_attention', 'none'\), got None"),
        ({"rope_parameters": LAYERS}, ValueError, r"layer_type must be one of \('full_attention', .*, got None"),
        ({**LINEAR, "full_attention": YARN}, ValueError, "config mixes parameters of layers with parameters of all"),
    ],
)
def test_what_a_configuration_must_not_say(config, error, message):
    before = copy.deepcopy(config)
    with pytest.raises(error, match=message):
        from_config(config, 64)
    assert config == before


@pytest.mark.parametrize(
    ("config", "layer_type", "message"),
    [
        (YARN, "full_attention", "layer_type must be None, for config has one rotation .*, got 'full_attention'"),
        (LAYERS, "linear_attention", "layer_type must be one of .*, got 'linear_attention'"),
        (LAYERS, "none", "layer_type must be one that rotates; config has null for 'none'"),
        ({"a": {"rope_type": "linear", "factor": 2.0}}, "a", "config lacks rope_theta for rope_type 'linear'"),
        ({"a": {"b": {"rope_theta": 1e4}}}, "a", "config must not have mappings inside the parameters of 'a'"),
        (
            {LENGTH: 2048, "rope_parameters": {"a": {"rope_type": "yarn", "rope_theta": 1e4, "factor": 2.0}}},
            "a",
            "config must have original_max_position_embeddings inside the parameters of each layer, got 2048 outside",
        ),
    ],
)
def test_what_a_configuration_per_layer_must_not_say(config, layer_type, message):
    with pytest.raises(ValueError, match=message):
        from_config(config, 64, layer_type=layer_type)


def test_one_pair_cannot_be_scaled_dynamically():
    config = {"type": "dynamic", "factor": 2.0, LENGTH: 64}
    with pytest.raises(
        ValueError, match="head_dim 2 with .* leaves 2 dimensions to rotate, .* at least 4 for rope_type"
    ):
        from_config(config, 2)
    with pytest.raises(ValueError, match="dim must be at least 4 for NTK scaling"):
        dynamic_ntk(2, seq_len=1, original_max_position_embeddings=64)


# --- transformers ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hugging_face():
    """What the tests need of transformers; importing it takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        import transformers
        from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
        from transformers.models.gemma3.modeling_gemma3 import Gemma3RotaryEmbedding
        from transformers.models.gemma4.modeling_gemma4 import Gemma4TextRotaryEmbedding
        from transformers.models.glm4.modeling_glm4 import Glm4RotaryEmbedding
        from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
        from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLVisionRotaryEmbedding

        def config(rope, longest, head_dim=64):
            return transformers.LlamaConfig(
                hidden_size=4 * head_dim,
                num_attention_heads=4,
                head_dim=head_dim,
                max_position_embeddings=longest,
                rope_parameters=copy.deepcopy(rope),
            )

        yield SimpleNamespace(
            models=transformers,
            config=config,
            functions=ROPE_INIT_FUNCTIONS
            | {
                "default": lambda config, seq_len=None: Glm4RotaryEmbedding.compute_default_rope_parameters(config),
                "llama": LlamaRotaryEmbedding.compute_default_rope_parameters,
                "axial": lambda config, seq_len=None: Qwen2VLVisionRotaryEmbedding.compute_axial_rope_parameters(
                    config
                ),
            },
            gemma3=Gemma3RotaryEmbedding,
            gemma4=Gemma4TextRotaryEmbedding,
        )


def assert_agrees(scaled, theirs):
    """Their frequencies are float32, hence 1e-6; their attention factor is a Python float."""
    frequencies, attention_factor = theirs
    assert scaled.inv_freq.shape == tuple(frequencies.shape)
    np.testing.assert_allclose(frequencies.numpy(), scaled.inv_freq, rtol=1e-6)
    assert scaled.attention_factor == pytest.approx(attention_factor, abs=1e-12)


@pytest.mark.torch
@configured
def test_transformers_agrees(hugging_face, rope, longest, seq_len, expected):
    config = hugging_face.config(rope, longest)
    theirs = hugging_face.functions[rope.get("rope_type", "default")](config, seq_len=seq_len)
    assert_agrees(expected(), theirs)
    whole = {"head_dim": 64, "max_position_embeddings": longest, "rope_parameters": rope}
    assert_agrees(from_config(whole, 64, seq_len), theirs)
    saved = hugging_face.config(rope, longest).to_dict()
    assert_agrees(from_config(saved, 64, seq_len), theirs)


@pytest.mark.torch
@pytest.mark.parametrize("base", [1e4, 5e5, 1e6])
@pytest.mark.parametrize("head_dim", [64, 128])
def test_transformers_agrees_on_the_default(hugging_face, base, head_dim):
    config = hugging_face.config({"rope_theta": base}, 4096, head_dim)
    assert_agrees(default(head_dim, base), hugging_face.functions["llama"](config))
    assert_agrees(from_config(config.to_dict(), head_dim), hugging_face.functions["llama"](config))


@pytest.mark.torch
@pytest.mark.parametrize("factor", [1.0, 2.0, 4.0, 32.0])
def test_transformers_agrees_on_ntk(hugging_face, factor):
    """There is no static NTK there: dynamic NTK with factor 1 at factor·L tokens, and the default of the new base."""
    config = hugging_face.config({"rope_type": "dynamic", "rope_theta": 1e4, "factor": 1.0}, 4096)
    scaled = ntk_aware(64, factor=factor)
    assert_agrees(scaled, hugging_face.functions["dynamic"](config, seq_len=int(4096 * factor)))
    config = hugging_face.config({"rope_theta": ntk_base(64, factor=factor)}, 4096)
    assert_agrees(scaled, hugging_face.functions["llama"](config))


@pytest.mark.torch
@given(st.data())
@settings(max_examples=60)
def test_transformers_agrees_on_any_released_ramp(hugging_face, data):
    """Any trained length and bounds, also those where the range is empty or past the end."""
    head_dim = 2 * data.draw(st.integers(1, 64))
    base, factor = data.draw(st.floats(2, 1e6)), data.draw(st.floats(1, 8))
    length, (slow, fast) = data.draw(lengths), data.draw(betas)
    rope = {"rope_type": "yarn", "rope_theta": base, "factor": factor, LENGTH: length}
    rope |= {"beta_fast": fast, "beta_slow": slow}
    theirs = hugging_face.functions["yarn"](hugging_face.config(rope, length, head_dim))
    assert_agrees(from_config(rope, head_dim), theirs)


@pytest.mark.torch
def test_whole_models_of_transformers(hugging_face):
    models, functions = hugging_face.models, hugging_face.functions
    lists = {"short_factor": [1.1] * 48, "long_factor": LONG + LONG[:16]}
    written = {"rope_theta": 1e4, "max_position_embeddings": 131_072, LENGTH: 4096}
    written |= {"rope_scaling": {"type": "longrope", **lists}}
    phi3 = models.Phi3Config(hidden_size=384, num_attention_heads=4, **copy.deepcopy(written))
    for seq_len in (None, 4096, 4097):
        theirs = functions["longrope"](phi3, seq_len=seq_len)
        assert_agrees(from_config(written, 96, seq_len), theirs)
        assert_agrees(from_config(phi3.to_dict(), 96, seq_len), theirs)

    written = {"qk_rope_head_dim": 64, "rope_theta": 1e4, "max_position_embeddings": 163_840}
    written["rope_scaling"] = {"type": "yarn", "factor": 40, LENGTH: 4096, "beta_fast": 32, "beta_slow": 1}
    written["rope_scaling"] |= {"mscale": 1.0, "mscale_all_dim": 1.0}
    deepseek = models.DeepseekV3Config(**copy.deepcopy(written))
    assert_agrees(from_config(written, 64), functions["yarn"](deepseek))
    assert_agrees(from_config(deepseek.to_dict(), 64), functions["yarn"](deepseek))

    gpt_oss = models.GptOssConfig()
    assert_agrees(from_config(gpt_oss.to_dict(), 64), functions["yarn"](gpt_oss))


@pytest.mark.torch
def test_models_of_transformers_with_parameters_per_layer(hugging_face):
    written = {"head_dim": 256, "rope_theta": 1e6, "rope_local_base_freq": 1e4}
    written["rope_scaling"] = {"rope_type": "linear", "factor": 8.0}
    gemma3 = hugging_face.models.Gemma3TextConfig(**copy.deepcopy(written))
    gemma4 = hugging_face.models.Gemma4TextConfig()
    rotations = [(written, hugging_face.gemma3(gemma3)), (gemma3.to_dict(), hugging_face.gemma3(gemma3))]
    rotations.append((gemma4.to_dict(), hugging_face.gemma4(gemma4)))
    for config, rotation in rotations:
        for layer_type in ("full_attention", "sliding_attention"):
            frequencies = getattr(rotation, f"{layer_type}_inv_freq")
            theirs = (frequencies, getattr(rotation, f"{layer_type}_attention_scaling"))
            assert_agrees(from_config(config, 2 * len(frequencies), layer_type=layer_type), theirs)


# --- torch ----------------------------------------------------------------------------------------------------------


@pytest.mark.torch
@configured
def test_torch_gets_what_numpy_gets(rope, longest, seq_len, expected):
    import torch

    config = {"max_position_embeddings": longest, "rope_parameters": rope}
    scaled = from_config(config, 64, seq_len, like=torch.ones(1, dtype=torch.bfloat16))
    assert scaled.inv_freq.dtype == torch.float64
    np.testing.assert_allclose(scaled.inv_freq, expected().inv_freq, rtol=1e-14)
    assert scaled.attention_factor == expected().attention_factor


@pytest.mark.torch
def test_torch_by_every_function():
    import torch

    like, length = torch.ones(1), {LENGTH: 512}
    for function in (
        partial(default, 64),
        partial(linear, 64, factor=4),
        partial(ntk_aware, 64, factor=4),
        partial(dynamic_ntk, 64, seq_len=1000, **length),
        partial(ntk_by_parts, 64, factor=4, **length),
        partial(ntk_by_parts, 64, factor=4, **length, beta_fast=4, beta_slow=4),
        partial(yarn, 64, factor=4, **length),
        partial(yarn, 64, factor=4, **length, ramp="paper"),
        partial(llama3, 64, factor=4, **length),
        partial(longrope, 64, **LISTS, seq_len=1, factor=4, **length),
        partial(proportional, 64, partial_rotary_factor=0.3),
    ):
        ours, theirs = function(), function(like=like)
        assert isinstance(theirs.inv_freq, torch.Tensor)
        assert theirs.inv_freq.dtype == torch.float64
        np.testing.assert_allclose(theirs.inv_freq, ours.inv_freq, rtol=1e-14)
        assert theirs.attention_factor == ours.attention_factor
    for ramp in (ramp_by_turns, ramp_by_pair):
        kept = ramp(64, **length, like=like)
        assert kept.dtype == torch.float64
        np.testing.assert_allclose(kept, ramp(64, **length), rtol=1e-14)


@pytest.mark.torch
def test_longrope_lists_may_be_tensors():
    import torch

    shared = {"dim": 4, "seq_len": 65, "original_max_position_embeddings": 64, "factor": 4}
    long = torch.tensor([2.0, 4.0], dtype=torch.float64, requires_grad=True)
    scaled = longrope(short_factor=[1.0, 1.0], long_factor=long, **shared).inv_freq
    scaled.sum().backward()
    np.testing.assert_allclose(scaled.detach(), [0.5, 0.0025])
    np.testing.assert_allclose(long.grad, [-0.25, -0.01 / 16])
    strided = torch.tensor([[2, 9], [4, 9]], dtype=torch.int32)[:, 0]
    np.testing.assert_allclose(longrope(short_factor=[1, 1], long_factor=strided, **shared).inv_freq, [0.5, 0.0025])
    with pytest.raises(TypeError, match="cannot mix"):
        longrope(short_factor=np.ones(2), long_factor=long, **shared)
