"""What the tests try of every scheme, and one layer of attention to try it in."""

import pytest
import torch

from posenc import schemes
from posenc.attention import attention
from posenc.schemes import SCHEMES, make_scheme

BATCH, HEADS, HEAD_DIM, LENGTH = 2, 2, 8, 9
DIM = HEADS * HEAD_DIM
HEADED = {"n_heads": HEADS}
CONTENT = {"n_heads": HEADS, "head_dim": HEAD_DIM, "std": 0.5, "seed": 1}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8, "rope_theta": 100.0}
DYNAMIC = {"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 4, "rope_theta": 100.0}

# What is tried of each scheme, by a label that begins with the scheme's name.
CASES = {
    "none": {},
    "none_with_temperature": {"factor": 1.3, "trained_length": 64},
    "integer": {"dim": DIM},
    "normalised": {"dim": DIM, "length": 64},
    "binary": {"dim": DIM},
    "sinusoidal": {"dim": DIM, "base": 100.0},
    "sinusoidal half": {"dim": DIM, "layout": "half-split"},
    "learned": {"dim": DIM, "max_positions": 64, "std": 1.0, "seed": 1},
    "learned clamp": {"dim": DIM, "max_positions": 4, "std": 1.0, "seed": 1, "past_end": "clamp"},
    "learned interpolate": {"dim": DIM, "max_positions": 4, "std": 1.0, "past_end": "interpolate", "length": 64},
    "rope": {"head_dim": HEAD_DIM},
    "rope interleaved": {"head_dim": HEAD_DIM, "base": 100.0, "layout": "interleaved", "attention_factor": 1.2},
    "rope partial": {"head_dim": HEAD_DIM, "base": 100.0, "rotary_dim": 4},
    "rope linear": {"head_dim": HEAD_DIM, "scaling": "linear", "scaling_options": {"factor": 4.0}},
    "rope dictionary": {"head_dim": HEAD_DIM, "scaling": YARN},
    "rope dynamic": {"head_dim": HEAD_DIM, "scaling": DYNAMIC, "seq_len": LENGTH},
    "xpos": {"head_dim": HEAD_DIM, "base": 100.0, "scale_base": 16.0},
    "xpos interleaved": {"head_dim": HEAD_DIM, "layout": "interleaved"},
    "alibi": HEADED,
    "alibi slopes": {**HEADED, "slopes": [0.5, 0.0625]},
    "alibi symmetric": {**HEADED, "causal": False},
    "t5": {**HEADED, "num_buckets": 6, "max_distance": 8, "std": 1.0, "seed": 1},
    "t5 encoder": {**HEADED, "num_buckets": 8, "max_distance": 8, "std": 1.0, "causal": False, "gain": 2.0},
    "sandwich": {**HEADED, "dim": 16, "base": 100.0},
    "kerple": {**HEADED, "seed": 1},
    "kerple power": {**HEADED, "kind": "power", "seed": 1},
    "fire": {**HEADED, "threshold": 2.0, "seed": 1},
    "transformer_xl": CONTENT,
    "transformer_xl encoder": {**CONTENT, "causal": False, "dim": 10, "base": 100.0},
    "tener": CONTENT,
    "tener decoder": {**CONTENT, "causal": True},
    "deberta": {**CONTENT, "span": 3},
}
INJECTION_POINTS = {
    point: [name for name, kind in SCHEMES.items() if kind.injection_point == point]
    for point in schemes.INJECTION_POINTS
}
CONTENT_SCHEMES = ["transformer_xl", "tener", "deberta"]  # of the logits, those that look at queries and keys too
ABSOLUTE = {*INJECTION_POINTS["input"], "fire"}
every_case = pytest.mark.parametrize("case", CASES)


def name_of(case):
    return case.split()[0]


def make(case, **more):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return make_scheme(name_of(case), **{**CASES[case], **more})


def normal(*shape, seed=0, dtype=None):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype or torch.float64)


WEIGHTS = {}


def projected(x):
    """Queries, keys and values of all heads, (batch, heads, length, head_dim) each."""
    if x.dtype not in WEIGHTS:  # torch.compile makes no generators of its own
        WEIGHTS[x.dtype] = normal(3, DIM, DIM, seed=7, dtype=x.dtype) / 4
    return [(x @ weight).unflatten(-1, (HEADS, HEAD_DIM)).transpose(1, 2) for weight in WEIGHTS[x.dtype]]


def attend(scheme, x, positions, causal=True):
    """One layer of attention over a whole sequence: output (batch, heads, length, head_dim)."""
    q, k, v = projected(scheme.embed(x, positions))
    q, k = scheme.rotate(q, k, positions)
    bias, scale = scheme.bias(q, k, positions), scheme.logit_scale(HEAD_DIM, x.shape[1])
    return attention(q, k, v, causal=causal, bias=bias, scale=scale).output


def inputs():
    return normal(BATCH, LENGTH, DIM)


def last_four():
    """The last four queries and all keys of a sequence that begins at position 5: q, k, and where they stand."""
    (q, k, _), keys_at = projected(inputs()), torch.arange(LENGTH) + 5
    return q[:, :, -4:], k, keys_at[-4:], keys_at


def check_biases(schemes, wanted, tolerances=()):
    """The bias of each scheme on `last_four` is as wanted, to 1e-12 where `tolerances` do not say otherwise."""
    missing = set(wanted) ^ set(schemes)
    assert not missing, f"CASES and the test's `wanted`, computed by posenc.bias, have the same names: {missing}"
    for case, scheme in schemes.items():
        atol = dict(tolerances).get(case, 1e-12)
        torch.testing.assert_close(scheme.bias(*last_four()), wanted[case], atol=atol, rtol=0)


def shapes_of(positions):
    return positions, positions[None], positions.expand(BATCH, -1)
