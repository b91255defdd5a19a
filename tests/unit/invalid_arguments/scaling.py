"""What posenc.scaling refuses, argument by argument."""

import math

import numpy as np

from posenc import scaling
from tests.unit.invalid_arguments import Case

DIMS = [0, -2, 7, 2.5, 8.0, "8", True, None]
NTK_DIMS = [*DIMS, 2]
BASES = [0, -1.0, math.nan, math.inf, "1e4", None, True]
RAMP_BASES = [*BASES, 1, 0.5]
FACTORS = [0, -4, 0.5, math.nan, math.inf, "4", None, True]
POSITIVE = [0, -1.0, math.nan, math.inf, "1", True]
LENGTHS = [0, -4096, 4096.0, 0.5, math.nan, "4096", None, True]
SEQUENCES = [-1, 0.5, 4096.0, math.nan, "4096", True]
LISTS = [None, "1234", 3.0, [], [1.0, 2.0], [[1.0, 2.0, 3.0, 4.0]], ["1", "2", "3", "4"], [True, True, True, True],
    [1.0, 2.0, 3.0, 0.0], [1.0, 2.0, 3.0, -1.0], [1.0, 2.0, 3.0, math.nan], np.ones(5), np.ones((2, 2)), np.ones(4,
    dtype=complex), np.ones(4, dtype=bool)]  # fmt: skip
LENGTH = {"original_max_position_embeddings": 64}
BETAS = {"beta_fast": 32.0, "beta_slow": 1.0}
BAD_BETAS = {"beta_fast": [*POSITIVE, None, 0.5], "beta_slow": [*POSITIVE, None, 33.0]}
CONFIGS = ["dynamic", 3, None, [], {}]
TRUNCATES = [0, 1, "yes", None]

CASES = {
    scaling.mscale: Case({"factor": 4.0, "mscale": 0.707}, {"factor": [*POSITIVE, None], "mscale": [None]}),
    scaling.default: Case({"dim": 8, "base": 1e4}, {"dim": DIMS, "base": BASES}),
    scaling.linear: Case({"dim": 8, "base": 1e4, "factor": 4.0}, {"dim": DIMS, "base": BASES, "factor": FACTORS}),
    scaling.ntk_base: Case({"dim": 8, "base": 1e4, "factor": 4.0},
        {"dim": NTK_DIMS, "base": BASES, "factor": [1e+300]}),
    scaling.ntk_aware: Case({"dim": 8, "base": 1e4, "factor": 4.0},
        {"dim": NTK_DIMS, "base": BASES, "factor": [1e+300]}),
    scaling.dynamic_ntk: Case({"dim": 8, "base": 1e4, "seq_len": 128, "factor": 2.0} | LENGTH,
        {"dim": NTK_DIMS, "base": BASES, "seq_len": [*SEQUENCES, None], "original_max_position_embeddings": LENGTHS,
            "factor": [factor for factor in FACTORS if factor is not None]}),
    scaling.ramp_by_rotations: Case({"dim": 8, "base": 1e4} | LENGTH | BETAS,
        {"dim": DIMS, "base": BASES, "original_max_position_embeddings": LENGTHS} | BAD_BETAS),
    scaling.correction_range: Case({"dim": 8, "base": 1e4, "truncate": True} | LENGTH | BETAS,
        {"dim": DIMS, "base": RAMP_BASES, "original_max_position_embeddings": LENGTHS,
            "truncate": TRUNCATES} | BAD_BETAS),
    scaling.ramp_by_pair: Case({"dim": 8, "base": 1e4, "truncate": True} | LENGTH | BETAS,
        {"dim": DIMS, "base": RAMP_BASES, "original_max_position_embeddings": LENGTHS,
            "truncate": TRUNCATES} | BAD_BETAS),
    scaling.ntk_by_parts: Case({"dim": 8, "base": 1e4, "factor": 4.0} | LENGTH | BETAS,
        {"dim": DIMS, "base": BASES, "factor": FACTORS, "original_max_position_embeddings": LENGTHS} | BAD_BETAS),
    scaling.yarn: Case({"dim": 8, "base": 1e4, "factor": 4.0, "ramp": "released", "truncate": False,
        "attention_factor": 1.0, "mscale": 1.0, "mscale_all_dim": 0.8} | LENGTH | BETAS,
        {"dim": DIMS, "base": RAMP_BASES, "factor": FACTORS, "original_max_position_embeddings": LENGTHS,
            "ramp": ["Paper", "", None], "truncate": TRUNCATES, "attention_factor": POSITIVE, "mscale": [None],
            "mscale_all_dim": [None]} | BAD_BETAS),
    scaling.llama3: Case({"dim": 8, "base": 5e5, "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0} | LENGTH,
        {"dim": DIMS, "base": BASES, "factor": FACTORS, "original_max_position_embeddings": LENGTHS,
            "low_freq_factor": [None, 5.0], "high_freq_factor": [None, 0.5]}),
    scaling.longrope: Case({"dim": 8, "base": 1e4, "short_factor": [1.0, 1.0, 1.0, 1.0], "long_factor": np.arange(1,
        5), "seq_len": 65, "factor": 4.0, "attention_factor": None} | LENGTH,
        {"dim": DIMS, "base": BASES, "short_factor": LISTS, "long_factor": LISTS, "seq_len": [None],
            "original_max_position_embeddings": [1], "factor": FACTORS, "attention_factor": POSITIVE}),
    scaling.proportional: Case({"dim": 8, "base": 1e4, "partial_rotary_factor": 0.25, "factor": 1.0},
        {"dim": DIMS, "base": BASES, "partial_rotary_factor": [-0.1, 1.1, math.nan], "factor": FACTORS}),
    scaling.axial: Case({"dim": 8, "base": 1e4, "n_axes": 2, "shared": False},
        {"dim": [6], "base": BASES, "n_axes": [0, -1, 2.0], "shared": [0, 1, None]}),
    scaling.from_config: Case({"config": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4} | LENGTH,
        "head_dim": 8, "seq_len": 128, "layer_type": None},
        {"config": CONFIGS, "head_dim": [0, -2, 1], "seq_len": SEQUENCES, "layer_type": ["full_attention", "", 3]}),
}  # fmt: skip
