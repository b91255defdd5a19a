"""posenc.scaling, every method alike: slow references in 40 digits, published factors, limits, torch."""

import math
from decimal import Decimal, localcontext
from functools import partial

import numpy as np
import pytest

from posenc.scaling import (
    default,
    dynamic_ntk,
    linear,
    llama3,
    longrope,
    mscale,
    ntk_aware,
    ntk_by_parts,
    proportional,
    yarn,
)
from tests.unit.rope_configurations import LENGTH, LISTS


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


LAMBDAS = [1.0 + 0.37 * i for i in range(32)]
SLOW = [
    (lambda: default(128, 5e5), lambda: slow_theta(128, 5e5)),
    (lambda: linear(96, 1e4, factor=3.7), lambda: [theta / Decimal(3.7) for theta in slow_theta(96, 1e4)]),
    (lambda: ntk_aware(128, 1e4, factor=8), lambda: slow_ntk(128, 1e4, 8)),
    (lambda: dynamic_ntk(64, seq_len=9000, **{LENGTH: 4096}), lambda: slow_ntk(64, 1e4, Decimal(9000) / 4096)),
    (lambda: dynamic_ntk(64, 1e4, seq_len=9000, **{LENGTH: 4096}, factor=8), lambda: slow_ntk(64, 1e4,
        8 * Decimal(9000) / 4096 - 7)),
    (lambda: ntk_by_parts(64, 1e6, factor=16, **{LENGTH: 333}, beta_fast=7.5, beta_slow=0.5), lambda: slow_by_parts(64,
        1e6, 16, 333, 7.5, 0.5)),
    (lambda: yarn(128, 1e4, factor=4, **{LENGTH: 4096}, ramp="paper"), lambda: slow_by_parts(128, 1e4, 4, 4096, 32, 1)),
    (lambda: yarn(128, 1e4, factor=4, **{LENGTH: 4096}), lambda: slow_yarn(128, 1e4, 4, 4096, 32, 1)),
    (lambda: yarn(64, 150_000, factor=32, **{LENGTH: 4096}, truncate=False), lambda: slow_yarn(64, 150_000, 32, 4096,
        32, 1, truncate=False)),
    (lambda: yarn(8, 1e4, factor=4, **{LENGTH: 10_000}, beta_fast=1, beta_slow=1), lambda: slow_yarn(8, 1e4, 4, 10_000,
        1, 1)),
    (lambda: llama3(128, 5e5, factor=8, **{LENGTH: 8192}), lambda: slow_llama3(128, 5e5, 8, 8192, 1, 4)),
    (lambda: longrope(64, 1e4, short_factor=[1.0] * 32, long_factor=LAMBDAS, seq_len=4097, factor=4, **{LENGTH: 4096}),
        lambda: [theta / Decimal(slowed) for theta, slowed in zip(slow_theta(64, 1e4), LAMBDAS, strict=True)]),
    (lambda: proportional(512, 1e6, partial_rotary_factor=0.25), lambda: [theta if i < 64 else Decimal(0) for i,
        theta in enumerate(slow_theta(512, 1e6))]),
]  # fmt: skip


@pytest.mark.parametrize(("call", "slow"), SLOW)
def test_every_method_to_twelve_digits(call, slow):
    scaled = call()
    with localcontext() as context:
        context.prec = 40
        expected = slow()
        assert len(expected) == len(scaled.inv_freq)
        for got, want in zip(scaled.inv_freq, expected, strict=True):
            assert abs(Decimal(float(got)) - want) <= Decimal("1e-12") * want


@pytest.mark.torch
def test_torch_by_every_function():
    import torch

    like, length = torch.ones(1), {LENGTH: 512}
    for function in (
        partial(default, 64),
        partial(linear, 64, factor=4),
        partial(dynamic_ntk, 64, seq_len=1000, **length),
        partial(ntk_by_parts, 64, factor=4, **length, beta_fast=4, beta_slow=4),
        partial(yarn, 64, factor=4, **length),
        partial(llama3, 64, factor=4, **length),
        partial(longrope, 64, **LISTS, seq_len=1, factor=4, **length),
        partial(proportional, 64, partial_rotary_factor=0.3),
    ):
        ours, theirs = function(), function(like=like)
        assert isinstance(theirs.inv_freq, torch.Tensor)
        assert theirs.inv_freq.dtype == torch.float64
        np.testing.assert_allclose(theirs.inv_freq, ours.inv_freq, rtol=1e-14)
        assert theirs.attention_factor == ours.attention_factor
