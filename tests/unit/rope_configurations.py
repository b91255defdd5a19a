"""Rope dictionaries of every type, each with the call that it describes."""

import numpy as np
import pytest

from posenc.scaling import (
    axial,
    default,
    dynamic_ntk,
    linear,
    llama3,
    longrope,
    ntk_aware,
    proportional,
    yarn,
)

LENGTH = "original_max_position_embeddings"
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
    ({"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}, 4096, None, lambda: default(32)),
    ({"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}, 4096, None, lambda: linear(64, factor=4)),
    ({"rope_type": "linear", "rope_theta": 1e6, "factor": 8}, 131_072, None, lambda: linear(64, 1e6, factor=8)),
    ({"rope_type": "linear", "rope_theta": 5e5, "factor": 1.0}, 4096, 9, lambda: linear(64, 5e5, factor=1)),
    ({"rope_type": "linear", "rope_theta": 1e4, "factor": 2.5, "partial_rotary_factor": 0.25}, 4096, None,
        lambda: linear(16, factor=2.5)),
    ({"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}, 4096, 16_384, lambda: dynamic_ntk(64, seq_len=16_384,
        **{LENGTH: 4096}, factor=4)),
    ({"rope_type": "dynamic", "rope_theta": 1e4, "factor": 1.0}, 4096, 16_384, lambda: ntk_aware(64, factor=4)),
    ({"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}, 2048, 2048, lambda: default(64)),
    ({"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}, 2048, None, lambda: default(64)),
    ({"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}, 2048, 100, lambda: default(64)),
    ({"rope_type": "dynamic", "rope_theta": 1e6, "factor": 3.0, "partial_rotary_factor": 0.75}, 2048, 2049,
        lambda: dynamic_ntk(48, 1e6, seq_len=2049, **{LENGTH: 2048}, factor=3)),
    ({"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 4096}, 16_384, None, lambda: yarn(64, factor=4,
        **{LENGTH: 4096})),
    ({"rope_type": "yarn", "rope_theta": 1e6, **QWEN3}, 40_960, None, lambda: yarn(64, 1e6, factor=4,
        **{LENGTH: 32_768})),
    ({"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0}, 4096, None, lambda: yarn(64, factor=4, **{LENGTH: 4096})),
    ({"rope_type": "yarn", "rope_theta": 1e4, "factor": None, LENGTH: 4096}, 32_768, None, lambda: yarn(64, factor=8,
        **{LENGTH: 4096})),
    ({"rope_type": "yarn", "rope_theta": 1e4, "factor": 40.0, LENGTH: 4096, "mscale": 1.0, "mscale_all_dim": 0.8},
        163_840, None, lambda: yarn(64, factor=40, **{LENGTH: 4096}, mscale=1.0, mscale_all_dim=0.8)),
    ({"rope_type": "yarn", "rope_theta": 1e4, "factor": 40, LENGTH: 4096, "mscale": 0.707, "mscale_all_dim": 0.707},
        163_840, None, lambda: yarn(64, factor=40, **{LENGTH: 4096}, attention_factor=1.0)),
    ({"rope_type": "yarn", "rope_theta": 150_000, "factor": 32.0, LENGTH: 4096, "beta_fast": 32.0, "beta_slow": 1.0,
        "truncate": False}, 131_072, None, lambda: yarn(64, 150_000, factor=32, **{LENGTH: 4096}, truncate=False)),
    ({"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 512, "beta_fast": 64, "beta_slow": 2,
        "attention_factor": 1.5, "partial_rotary_factor": 0.5}, 2048, None, lambda: yarn(32, factor=4, **{LENGTH: 512},
        beta_fast=64, beta_slow=2, attention_factor=1.5)),
    ({"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 4}, 16, None, lambda: yarn(64, factor=4,
        **{LENGTH: 4})),
    ({"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, LENGTH: 2, "beta_fast": 2.0, "beta_slow": 0.315}, 8, None,
        lambda: yarn(64, factor=4, **{LENGTH: 2}, beta_fast=2.0, beta_slow=0.315)),
    ({"rope_type": "longrope", "rope_theta": 1e4, **LISTS, "factor": 4.0, LENGTH: 4096}, 16_384, 4097,
        lambda: longrope(64, **LISTS, seq_len=4097, factor=4, **{LENGTH: 4096})),
    ({"rope_type": "longrope", "rope_theta": 1e4, **LISTS, "factor": 4.0, LENGTH: 4096}, 16_384, 4096,
        lambda: longrope(64, **LISTS, seq_len=1, factor=4, **{LENGTH: 4096})),
    ({"rope_type": "longrope", "rope_theta": 1e4, **LISTS, LENGTH: 4096}, 131_072, None, lambda: longrope(64, **LISTS,
        seq_len=4096, factor=32, **{LENGTH: 4096})),
    ({"rope_type": "longrope", "rope_theta": 1e6, **LISTS, LENGTH: 4096, "attention_factor": 1.19}, 4096, 10**5,
        lambda: longrope(64, 1e6, **LISTS, seq_len=10**5, **{LENGTH: 4096}, attention_factor=1.19)),
    ({"rope_type": "longrope", "rope_theta": 1e4, **LISTS, "factor": 1.0}, 4096, 8192, lambda: longrope(64, **LISTS,
        seq_len=8192, factor=1, **{LENGTH: 4096})),
    ({"rope_type": "longrope", "rope_theta": 1e4, **PHI3, LENGTH: 4096, "partial_rotary_factor": 0.75}, 131_072, 5000,
        lambda: longrope(48, **PHI3, seq_len=5000, factor=32, **{LENGTH: 4096})),
    ({"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, LENGTH: 8192, **LLAMA3}, 131_072, None,
        lambda: llama3(64, 5e5, factor=8, **{LENGTH: 8192})),
    ({"rope_type": "llama3", "rope_theta": 1e4, "factor": 10.0, LENGTH: 2048, **LLAMA3}, 20_480, None,
        lambda: llama3(64, factor=10, **{LENGTH: 2048})),
    ({"rope_type": "llama3", "rope_theta": 1e4, "factor": 4.0, LENGTH: 333, "low_freq_factor": 2,
        "high_freq_factor": 9}, 2048, None, lambda: llama3(64, factor=4, **{LENGTH: 333}, low_freq_factor=2,
        high_freq_factor=9)),
    ({"rope_type": "llama3", "rope_theta": 1e4, "factor": 4.0, **LLAMA3, "partial_rotary_factor": 0.5}, 512, None,
        lambda: llama3(32, factor=4, **{LENGTH: 512})),
    ({"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25}, 131_072, None,
        lambda: proportional(64, 1e6, partial_rotary_factor=0.25)),
    ({"rope_type": "proportional", "rope_theta": 1e4, "partial_rotary_factor": 0.3, "factor": 8.0}, 4096, None,
        lambda: proportional(64, partial_rotary_factor=0.3, factor=8)),
    ({"rope_type": "proportional", "rope_theta": 1e4}, 4096, None, lambda: default(64)),
    ({"rope_type": "axial", "rope_theta": 1e4}, 4096, None, lambda: default(32)),
    ({"rope_type": "axial", "rope_theta": 100.0}, 4096, 8192, lambda: default(32, 100.0)),
    ({"rope_type": "axial", "rope_theta": 5e5}, 4096, 7, lambda: default(32, 5e5)),
    ({"rope_type": "axial", "rope_theta": 1e6}, 2048, None, lambda: axial(64, 1e6)),
    ({"rope_type": "proportional", "rope_theta": 5e5, "partial_rotary_factor": 1.0, "factor": 2.0}, 4096, None,
        lambda: linear(64, 5e5, factor=2)),
]  # fmt: skip
configured = pytest.mark.parametrize(
    ("rope", "longest", "seq_len", "expected"),
    CONFIGURED,
    ids=[f"{rope.get('rope_type')}-{number}" for number, (rope, *_) in enumerate(CONFIGURED)],
)


def assert_same(scaled, expected):
    np.testing.assert_allclose(scaled.inv_freq, expected.inv_freq, rtol=1e-14)
    assert scaled.attention_factor == expected.attention_factor
