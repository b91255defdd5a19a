"""Rope dictionaries of every type, each with the call that it describes."""

from functools import partial

import numpy as np
import pytest

from posenc.scaling import axial, default, dynamic_ntk, linear, llama3, longrope, ntk_aware, proportional, yarn

LENGTH = "original_max_position_embeddings"
SHORT, LONG = [1.0 + 0.01 * i for i in range(32)], [1.0 + 2 * i for i in range(32)]
LISTS = {"short_factor": SHORT, "long_factor": LONG}
LLAMA3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
QWEN3 = {"factor": 4.0, LENGTH: 32_768}
PHI3 = {"short_factor": [1.1] * 24, "long_factor": LONG[:24]}
L4096 = {LENGTH: 4096}


def row(function, base=1e4, longest=4096, seq_len=None, share=None, kind=None, said=(), meant=(), **options):
    """(rope parameters, max_position_embeddings, seq_len, the same by its own function) of a head of 64 dimensions.

    `options` are in the parameters and arguments of the function, `said` and `meant` in one of them; `share` of the
    dimensions is rotated.
    """
    rope = {"rope_type": kind or function.__name__, "rope_theta": base, **options, **dict(said)}
    if share is not None:
        rope["partial_rotary_factor"] = share
    dim = 64 if share is None or function is proportional else int(64 * share)
    return rope, longest, seq_len, partial(function, dim, base, **options, **dict(meant))


def dynamic(base, longest, seq_len, function=default, share=None, meant=(), **options):
    return row(function, base, longest, seq_len, share, kind="dynamic", said=options, meant=meant)


CONFIGURED = [
    row(default), row(default, 1e6, 40_960, 10**6), row(default, share=0.45),
    ({"rope_theta": 500_000}, 8192, None, partial(default, 64, 5e5)),
    row(linear, factor=4.0), row(linear, 5e5, seq_len=9, factor=1.0), row(linear, share=0.25, factor=2.5),
    dynamic(1e4, 4096, 16_384, dynamic_ntk, meant={"seq_len": 16_384, **L4096, "factor": 4}, factor=4.0),
    dynamic(1e4, 4096, 16_384, ntk_aware, meant={"factor": 4}, factor=1.0),
    dynamic(1e4, 2048, 2048, factor=2.0), dynamic(1e4, 2048, None, factor=2.0),
    dynamic(1e6, 2048, 2049, dynamic_ntk, 0.75, {"seq_len": 2049, LENGTH: 2048, "factor": 3}, factor=3.0),
    row(yarn, 1e4, 16_384, factor=4.0, **L4096), row(yarn, 1e6, 40_960, **QWEN3), row(yarn, factor=4.0, meant=L4096),
    row(yarn, 1e4, 32_768, said={"factor": None}, meant={"factor": 8}, **L4096),
    row(yarn, 1e4, 163_840, factor=40.0, **L4096, mscale=1.0, mscale_all_dim=0.8),
    row(yarn, 1e4, 163_840, said={"mscale": 0.707, "mscale_all_dim": 0.707}, meant={"attention_factor": 1.0}, factor=40,
        **L4096),
    row(yarn, 150_000, 131_072, said={"beta_fast": 32.0, "beta_slow": 1.0}, factor=32.0, **L4096, truncate=False),
    row(yarn, 1e4, 2048, share=0.5, factor=4.0, **{LENGTH: 512}, beta_fast=64, beta_slow=2, attention_factor=1.5),
    row(yarn, 1e4, 16, factor=4.0, **{LENGTH: 4}),
    row(yarn, 1e4, 8, factor=4.0, **{LENGTH: 2}, beta_fast=2.0, beta_slow=0.315),
    row(longrope, 1e4, 16_384, 4096, meant={"seq_len": 1}, **LISTS, factor=4.0, **L4096),
    row(longrope, 1e4, 131_072, meant={"seq_len": 4096, "factor": 32}, **LISTS, **L4096),
    row(longrope, 1e6, 4096, 10**5, meant={"seq_len": 10**5}, **LISTS, **L4096, attention_factor=1.19),
    row(longrope, 1e4, 131_072, 5000, 0.75, meant={"seq_len": 5000, "factor": 32}, **PHI3, **L4096),
    row(llama3, 5e5, 131_072, factor=8.0, **{LENGTH: 8192}, **LLAMA3),
    row(llama3, 1e4, 2048, factor=4.0, **{LENGTH: 333}, low_freq_factor=2, high_freq_factor=9),
    row(llama3, 1e4, 512, share=0.5, meant={LENGTH: 512}, factor=4.0, **LLAMA3),
    row(proportional, 1e6, 131_072, share=0.25, meant={"partial_rotary_factor": 0.25}),
    row(proportional, share=0.3, meant={"partial_rotary_factor": 0.3}, factor=8.0), row(default, kind="proportional"),
    row(linear, 5e5, kind="proportional", said={"partial_rotary_factor": 1.0}, factor=2.0),
    row(axial), row(axial, 100.0, 4096, 8192),
]  # fmt: skip
configured = pytest.mark.parametrize(
    ("rope", "longest", "seq_len", "expected"),
    CONFIGURED,
    ids=[f"{rope.get('rope_type')}-{number}" for number, (rope, *_) in enumerate(CONFIGURED)],
)


def assert_same(scaled, expected):
    np.testing.assert_allclose(scaled.inv_freq, expected.inv_freq, rtol=1e-14)
    assert scaled.attention_factor == expected.attention_factor
