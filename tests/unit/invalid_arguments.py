"""What the package refuses: for each public function a call that works and, by argument, values that do not.

`BAD` has what arguments of a name refuse everywhere; a function names only those of its own. test_invalid_arguments.py
tries a list of `BAD` whole with the first function that has the argument, and its first value with every other.
"""

import numpy as np

from posenc import absolute, analysis, attention, bias, configs, frequencies, rotary, scaling

NAN, INF, F32 = np.nan, np.inf, "float32"
ones = np.ones
NOT_REAL = ["x", None, [NAN], [[0.0, INF]], [1j], [[True]], ["a", "b"]]
NOT_FLOATS = ["x", None, 1.0, [[1.0]], ones(()), ones((2, 3, 4), int), ones((2, 3, 4), complex)]
NOT_POSITIVE = [0, -1.0, NAN, INF, "1", None, True]
NOT_COUNTS = [0, -2, 2.5, NAN, "4", None, True]
NO_FLAG = [1, "yes", None]
NO_LIST = [3, ones((2, 2))]
NO_TABLE = [*NOT_REAL, 1.0, [1.0, 2.0], ones((2, 3, 4)), ones((0, 3)), ones((3, 0))]
NO_SCALAR = [*NOT_POSITIVE, [1.0], ones(2)]
BAD = {
    **dict.fromkeys(("dim", "n_heads", "trained_length", "original_max_position_embeddings"), NOT_COUNTS),
    **dict.fromkeys(("offset", "offsets", "first", "second", "timesteps"), NOT_REAL),
    **dict.fromkeys(("base", "beta_fast", "beta_slow", "angle", "tolerance", "gamma", "scale_base"), NOT_POSITIVE),
    **dict.fromkeys(("normalise", "bidirectional", "symmetric", "causal", "truncate", "shared"), NO_FLAG),
    "factor": [0, -4, 0.5, NAN, INF, "4", True],
    "seq_len": [-1, 0.5, 4096.0, NAN, "4096", True],
    "layout": ["pairs", "half", "", None],
    "dtype": [int, F32],
    "like": ["torch", 3, [1.0, 2.0], True],
    "inv_freq": ["x", 1.0, ones((2, 2)), [], [NAN], [-0.1], np.array([1j])],
    "angles": ["x", [[1.0, NAN]], 1.0],
    "relative_positions": [*NOT_REAL, 1, [0, 1]],
    "slopes": [*NOT_REAL, 1.0, [], [[1.0]], [1.0, -1.0]],
    "encodings": NO_TABLE,
    "config": ["Qwen3-8B", None, 3, configs.ModelConfig],
    "layer_type": ["full_attention", "none", 3, True],
}
X, ROTATED = ones((5, 8)), {"x": ones((5, 8)), "angles": ones((5, 4))}
NO_ROTATED = {"x": [3.0, [[1.0] * 8] * 5, ones((5, 8), int)], "angles": [0.5, ones((4, 4)), ones((1, 5, 4))]}
Q, K, R, U = ones((2, 3, 4)), ones((2, 5, 4)), ones((2, 5, 4)), ones((2, 4))  # (heads, length, head_dim)
NO_ROWS = [*NOT_FLOATS, ones((3, 4)), ones((0, 3, 4)), ones((2, 3, 0))]
NO_KEYS = [ones((1, 5, 4)), ones((2, 5, 3)), ones((1, 2, 5, 4)), ones((2, 5, 4), F32), *NO_ROWS]
NO_VECTORS = [ones(4), ones((1, 4)), ones((2, 3)), ones((2, 1, 4)), *NOT_FLOATS]
OFFSETS, SCORED, SIX = [[0, 1], [-1, 0]], ones((4, 3, 5, 8)), ones((2, 6, 4))
LENGTH, BETAS = {"original_max_position_embeddings": 64}, {"beta_fast": 32.0, "beta_slow": 1.0}
FACTORS = ["1234", 3.0, [], [1.0, 2.0], [[1.0] * 4], ["1"] * 4, [True] * 4, [1.0, 2.0, 3.0, 0.0], [1.0, 2.0, 3.0, NAN],
    ones(5), ones(4, complex)]  # fmt: skip
LIST, TABLE, QWEN = (
    {"inv_freq": [1.0, 0.1]},
    [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]],
    configs.model("Qwen3-8B"),
)
MASK = ones((3, 3), bool)

# Each module's functions: a call that works, and by argument what else it refuses.
CASES = {
    "frequencies": {
        frequencies.inv_freq: ({"dim": 8}, {"dim": [7, *NOT_COUNTS]}),
        frequencies.angles: ({"positions": [0, 1.5]} | LIST, {"positions": NOT_REAL}),
        frequencies.wavelengths: (LIST, {}),
        frequencies.rotations: ({"length": 512} | LIST, {"length": [0, -5, NAN]}),
    },
    "absolute": {
        absolute.integer: ({"positions": [0, 1], "dim": 4}, {"positions": [-1, 0.5, [1.5], 2**53, *NOT_REAL]}),
        absolute.normalised: ({"positions": 1, "length": 2, "dim": 4}, {"positions": [2, -1], "length": NOT_COUNTS}),
        absolute.binary: ({"positions": [0, 15], "dim": 4}, {"positions": [16, [0, 99], 0.5]}),
        absolute.radix: (
            {"positions": [0, 15], "dim": 2, "radix": 4, "normalise": True}, {"positions": [16, -1], "radix": [1, 0]}),
        absolute.harmonic: ({"positions": [0.5, -1], "dim": 3}, {"positions": NOT_REAL}),
        absolute.dyadic: ({"positions": [0.5, -1], "dim": 3}, {"positions": NOT_REAL}),
        absolute.sinusoidal: (
            {"positions": [0.5, -1], "dim": 4}, {"positions": NOT_REAL, "denominators": ["t2t", "", None]}),
        absolute.timestep_embedding: (
            {"timesteps": [0.5, 9], "dim": 8}, {"dim": [2, *NOT_COUNTS], "convention": ["diffusers", "", None]}),
        absolute.shift_matrix: ({"offset": 3, "dim": 4}, {"dim": [7]}),
        absolute.relative_positions: (
            {"query_positions": [0, 1], "key_positions": [0, 1]}, {"query_positions": [3.0], "key_positions": [3.0]}),
        absolute.learned: ({"positions": [0, 4], "table": ones((3, 2)), "past_end": "interpolate", "length": 5},
            {"positions": [5], "table": [None, ones(3)], "past_end": ["mirror", None], "length": [0, -1, 2.5]}),
    },
    "rotary": {
        rotary.cos_sin: ({"angles": ones((5, 4))}, {"attention_factor": NOT_POSITIVE}),
        rotary.rotate: (ROTATED, NO_ROTATED | {"rotary_dim": [7, 0, -2], "out": [3.0, X, [[1.0] * 8] * 5]}),
        rotary.rope: ({"x": X, "positions": np.arange(5), "layout": "interleaved"},
            {"x": [3.0, ones((5, 8), int), ones((5, 7))], "positions": [np.arange(4), [NAN] * 5, ones((2, 5))],
                "inv_freq": [1.0, [-1.0] * 4, ones((2, 2)), ones(3)]}),
        rotary.rotate_complex: (ROTATED, NO_ROTATED),
        rotary.rotate_matrix: (ROTATED, NO_ROTATED),
        rotary.rotation_matrix: ({"angles": ones((5, 4))}, {}),
        rotary.pair_scores: (
            {"q": X, "k": X, "angles": ones((5, 4))}, {"q": [X[:, :6]], "k": [X[:1]], "angles": [ones((1, 4))]}),
        rotary.layout_permutation: ({"dim": 8}, {"dim": [0, -2, 7]}),
        rotary.convert_projection: ({"weight": ones((16, 4)), "n_heads": 2, "head_dim": 8, "to": "half-split"},
            {"weight": [3.0, ones((2, 8, 4)), ones((4, 16))], "n_heads": [4], "head_dim": [4], "to": ["half"],
                "rotary_dim": [3, 0, 10]}),
        rotary.xpos_cos_sin: ({"positions": [0, 1]} | LIST, {"positions": [[1_000_000], *NOT_REAL]}),
        rotary.plane_rotations: (
            {"rotation": np.eye(3)}, {"rotation": [ones(3), ones((2, 3)), np.diag([1.0, 1.0, -1.0])]}),
    },
    "scaling": {
        scaling.mscale: ({"factor": 4.0, "mscale": 0.7}, {"factor": NOT_POSITIVE, "mscale": NOT_POSITIVE}),
        scaling.default: ({"dim": 8}, {"dim": [7, *NOT_COUNTS]}),
        scaling.linear: ({"dim": 8, "factor": 4.0}, {}),
        scaling.ntk_base: ({"dim": 8, "factor": 4.0}, {"dim": [2, 7], "factor": [1e300]}),
        scaling.ntk_aware: ({"dim": 8, "factor": 4.0}, {"dim": [2, 7], "factor": [1e300]}),
        scaling.dynamic_ntk: ({"dim": 8, "seq_len": 128, "factor": 2.0} | LENGTH, {"seq_len": [-1, None]}),
        scaling.ramp_by_rotations: ({"dim": 8} | LENGTH | BETAS, {}),
        scaling.correction_range: ({"dim": 8} | LENGTH | BETAS, {"base": [1, 0.5], "beta_slow": [33.0]}),
        scaling.ramp_by_pair: ({"dim": 8} | LENGTH | BETAS, {"base": [1, 0.5]}),
        scaling.ntk_by_parts: ({"dim": 8, "factor": 4.0} | LENGTH | BETAS, {"beta_fast": [0.5]}),
        scaling.yarn: ({"dim": 8, "factor": 4.0, "mscale": 1.0, "mscale_all_dim": 0.8} | LENGTH | BETAS,
            {"ramp": ["Paper", "", None], "attention_factor": [0, -1.0], "mscale": [None], "mscale_all_dim": [None]}),
        scaling.llama3: ({"dim": 8, "factor": 8.0} | LENGTH,
            {"low_freq_factor": [None, 5.0], "high_freq_factor": [None, 0.5]}),
        scaling.longrope: ({"dim": 8, "short_factor": [1.0] * 4, "long_factor": np.arange(1, 5), "seq_len": 65} | LENGTH
            | {"factor": 4.0}, {"short_factor": FACTORS, "long_factor": FACTORS, "seq_len": [None],
            "original_max_position_embeddings": [1], "factor": [None], "attention_factor": [0, -1.0]}),
        scaling.proportional: (
            {"dim": 8, "partial_rotary_factor": 0.25}, {"partial_rotary_factor": [-0.1, 1.1, NAN]}),
        scaling.axial: ({"dim": 8}, {"dim": [6], "n_axes": [0, -1, 2.0], "shared": [0, *NO_FLAG]}),
        scaling.from_config: ({"config": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4} | LENGTH,
            "head_dim": 8, "seq_len": 128}, {"config": ["dynamic", 3, None, [], {}], "head_dim": [0, -2, 1]}),
    },
    "attention": {
        attention.attention: ({"q": Q, "k": Q, "v": Q, "causal": True, "mask": MASK},
            {"q": [*NO_ROWS[:7], ones(4)], "k": [ones((1, 3, 4)), ones((2, 3, 4), F32), ones((2, 3, 5))],
            "v": [ones((2, 2, 4))], "bias": ["alibi", 0.0], "mask": ["causal", [[True]]],
            "scale": [0, INF, "1", ones(2)], "temperature": [[1.0], [1.0, 0.0], *NOT_POSITIVE]}),
        attention.packed_mask: ({"lengths": [2, 0, 3]}, {"lengths": ["ab", None, 3]}),
    },
    "bias": {
        bias.alibi_slopes: ({"n_heads": 12}, {}),
        bias.alibi: ({"relative_positions": OFFSETS, "slopes": [0.5, 0.25]}, {}),
        bias.alibi_rank_two: ({"query_positions": [4, 5], "key_positions": [0, 1, 2], "slopes": [0.5]},
            {"query_positions": [3, [[4, 5]], *NOT_REAL], "key_positions": [[[0, 1, 2]]]}),
        bias.t5_bucket: ({"relative_positions": OFFSETS, "bidirectional": True},
            {"relative_positions": [0.5, *NOT_REAL], "num_buckets": [1, 2], "max_distance": [8, 2**53 + 1]}),
        bias.t5: ({"relative_positions": OFFSETS, "table": ones((32, 2)), "bidirectional": True},
            {"table": [ones(32), ones((32, 0)), *NOT_FLOATS], "max_distance": [8]}),
        bias.sandwich: ({"relative_positions": OFFSETS, "n_heads": 2, "dim": 8}, {"dim": [3]}),
        bias.sandwich_features: ({"positions": [0, 1, 2], "n_heads": 2, "dim": 8}, {"positions": [3, *NOT_REAL]}),
        bias.kerple: ({"relative_positions": OFFSETS, "r1": [1.0, 2.0], "r2": [0.5, 2.0], "kind": "power"},
            {"r1": [[1.0, 0.0], [1.0]], "r2": [[1.0, 0.0], [1.0]], "kind": ["log", "Power", None]}),
        bias.fire: (
            {"query_positions": [4, 5], "key_positions": [0, 1], "mlp": np.negative, "c": 0.1, "threshold": 3.0},
            {"query_positions": [[-1, 0]], "key_positions": [[[0, 1]]], "mlp": ["relu"], "c": NO_SCALAR,
                "threshold": NO_SCALAR}),
        bias.transformer_xl: ({"q": Q, "k": K, "r": R, "u": U, "v": U},
            {"q": [ones((2, 6, 4)), *NO_ROWS], "k": NO_KEYS, "r": [ones((5, 4))], "u": NO_VECTORS, "v": NO_VECTORS}),
        bias.tener: ({"q": Q, "k": K, "r": ones((7, 4)), "u": U, "v": U}, {"q": [ones((2, 6, 4))], "k": NO_KEYS,
            "r": [ones(4), ones((4, 4))], "u": NO_VECTORS, "v": NO_VECTORS}),
        bias.relative_shift: ({"scores": Q}, {"scores": [ones(4)]}),
        bias.deberta: ({"query_content": Q, "key_content": K, "key_relative": SIX, "query_relative": SIX,
            "relative_positions": np.zeros((3, 5))}, {"query_content": NO_ROWS, "key_content": NO_KEYS,
            "key_relative": [SIX[0], SIX[:, :0]], "query_relative": [SIX[0], SIX[:, :4]],
            "relative_positions": [np.full((3, 5), 0.5), np.zeros((5, 3))]}),
        bias.score_mod: ({"bias": lambda offsets: np.zeros((3, 1, offsets.shape[-1])), "q": SCORED[:, :, :2],
            "k": SCORED}, {"bias": ["alibi", ones((3, 2, 5), bool), ones((1, 2, 5)), np.full((3, 2, 5), NAN), np.isnan],
            "q": [SCORED[0]], "k": [SCORED[:, :, :1]]}),
    },
    "analysis": {
        analysis.decay: ({"offsets": [0, 1, 2]} | LIST, {}),
        analysis.abel_bound: ({"offsets": [0, 1, 2]} | LIST, {}),
        analysis.fingerprint: ({"offsets": [0, 1, 2]} | LIST, {}),
        analysis.decay_law: ({"offsets": [0, 1], "base": 1e4}, {}),
        analysis.decay_logarithm: ({"offsets": [1, 2], "base": 1e4}, {"offsets": [0, [-1.0]], "base": [1.0, 0.5]}),
        analysis.expected_score: ({"offsets": [0, 1], "correlation": 0.5} | LIST, {"correlation": [1.1, -1.1, NAN]}),
        analysis.fingerprint_similarity: ({"first": 1, "second": 2} | LIST, {}),
        analysis.fingerprint_difference: ({"first": 1, "second": 2} | LIST, {"first": [2], "second": [1]}),
        analysis.min_base: ({"length": 4, "dim": 8, "bases": [10.0, 1e4]},
            {"length": NOT_COUNTS, "dim": [7, 8.0], "bases": [[], [0.0], [NAN]]}),
        analysis.unseen_angles: ({"trained_length": 5, "length": 9} | LIST,
            {"trained_length": [9, 12, *NOT_COUNTS], "length": [4, 5, *NOT_COUNTS]}),
        analysis.pairs_reaching: ({"length": 5, "angle": 0.5} | LIST, {"length": NOT_COUNTS}),
        analysis.critical_dimension: ({"dim": 8, "base": 1e4, "length": 64}, {"dim": [7, 0], "length": NOT_COUNTS}),
        analysis.fit_scores: ({"targets": [1.0, 2.0, 3.0], "inv_freq": [2.5, 0.1], "min_rotations": 0.5},
            {"targets": ["x", 1.0, []], "min_rotations": [-1, NAN, INF], "ridge": [-0.001, NAN, INF]}),
        analysis.min_distance: ({"encodings": TABLE}, {"encodings": [ones((1, 2)), *NO_TABLE]}),
        analysis.max_norm: ({"encodings": TABLE}, {}),
        analysis.translation_residual: ({"encodings": TABLE}, {"encodings": [ones((2, 2))]}),
        analysis.left_right_difference: ({"encodings": TABLE}, {"encodings": [ones((2, 2))]}),
        analysis.monotonicity_violations: ({"encodings": TABLE}, {"encodings": [ones((2, 2))]}),
        analysis.shift_residual: (
            {"encodings": TABLE, "offset": 1}, {"encodings": [ones((3, 2))], "offset": [2, 9]}),
        analysis.period: ({"encodings": TABLE}, {"encodings": [ones((1, 2))]}),
        analysis.length_dependence: ({"shorter": TABLE[:3], "longer": TABLE},
            {"shorter": [ones((5, 2)), ones((3, 3))], "longer": [ones((2, 2)), ones((4, 1))]}),
        analysis.defined_fraction: ({"encoding": lambda at: ones((1, 2)), "trained_length": 3, "length": 5},
            {"encoding": [None, 3, "sinusoidal"], "trained_length": [5, 9], "length": [2, 3]}),
        analysis.four_terms: ({"query_content": ones((2, 2, 3)), "key_content": ones((2, 4, 3)),
            "query_position": ones((2, 3)), "key_position": ones((2, 4, 3)), "w_q": ones((5, 3)), "w_k": ones((5, 3))},
            {"query_content": [*NOT_REAL, ones(()), ones((2, 3))], "key_content": [ones((4, 3))],
            "query_position": [ones((1, 3))], "key_position": [ones((2, 3))], "w_q": [ones((4, 3))],
            "w_k": [ones((3, 5))]}),
        analysis.offset_kernel: ({"offsets": [0, 1], "positions": [0, 1, 2], "dim": 4, "weight": ones((4, 4))},
            {"offsets": NO_LIST, "positions": NO_LIST, "dim": [5], "weight": ["x", 1.0, ones(4)]}),
        analysis.pairwise_weight: ({"a": [1.0, 2.0], "b": [0.0, 1.0]}, {"a": [1.0, [], *NOT_REAL], "b": [1.0, []]}),
        analysis.kernel_residual: ({"kernel": TABLE}, {"kernel": [ones((1, 2))]}),
        analysis.kernel_asymmetry: ({"kernel": [[1.0, 2.0, 3.0]]}, {"kernel": [ones((3, 2))]}),
        analysis.uniform_attention_std: ({"n_keys": [1, 2]}, {"n_keys": ["x", 0, -1]}),
        analysis.first_tie: ({"precision": "bfloat16", "limit": 200},
            {"precision": ["float64", "bf16", ""], "limit": [10_000_001]}),
        analysis.needle_weight: ({"n_keys": [1, 128], "logit": 6},
            {"n_keys": ["x", 0, -1], "logit": [101, -100.5, NAN], "temperature": [0, -1.0, 0.05]}),
        analysis.match_weight: ({"logit": [0.0, 3.0], "n_keys": 8}, {"logit": ["x"], "n_keys": [0, 1.5]}),
    },
    "configs": {
        configs.model: ({"name": "Qwen3-8B"}, {"name": ["Qwen3", "", "qwen3-8b"]}),
        configs.released: ({"name": "Qwen3-8B"}, {"name": ["Qwen3", "", "qwen3-8b"]}),
        configs.scaled: ({"config": QWEN}, {}),
        configs.unscaled: ({"config": QWEN}, {}),
        configs.slowest_wavelength: ({"config": QWEN}, {}),
        configs.completed_pairs: ({"config": QWEN}, {"length": [0, -1, NAN]}),
        configs.cache_bytes_per_token: ({"config": QWEN}, {"bytes_per_number": [0, -2, NAN]}),
    },
}  # fmt: skip
