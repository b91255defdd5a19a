"""posenc.rope in JAX: compiled by jit, mapped and differentiated, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.rope import Rope, sections

pytestmark = pytest.mark.release
LLAMA_3 = {"rope_type": "llama3", "rope_theta": 500_000.0, "factor": 8.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 64}  # fmt: skip
ROPES = {
    "half-split": Rope(16),
    "interleaved": Rope(16, layout="interleaved"),
    "partial": Rope(16, rotary_dim=8),
    "Llama 3": Rope.from_config(LLAMA_3, 16),
    "sections": Rope(16, axes=sections((4, 2, 2))),
}


@pytest.fixture(params=ROPES.values(), ids=ROPES)
def rope(request):
    return request.param


@pytest.fixture(autouse=True)
def library():
    """JAX, which only a release needs, for all tests of this file."""
    global jax, jnp
    import jax
    import jax.numpy as jnp


def heads(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def same(found, expected, atol=2e-6):
    for ours, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(ours, np.float64), wanted, atol=atol)


def test_jit_vmap_and_grad_give_what_numpy_gives(rope):
    q, k = heads(2, 4, 9, 16), heads(2, 2, 9, 16, seed=1)
    at = np.random.default_rng(0).integers(0, 50, (2, 9) if rope.axes is None else (2, 9, 3))
    for positions in (None, at):
        found = jax.jit(rope)(jnp.asarray(q), jnp.asarray(k), None if positions is None else jnp.asarray(positions))
        assert {x.dtype for x in found} == {jnp.dtype("float32")}
        same(found, rope(q, k, positions), 1e-5)
    same(jax.vmap(rope.rotate)(jnp.asarray(q), jnp.asarray(at)), rope.rotate(q, at), 1e-5)
    narrow = jnp.asarray(q, dtype=jnp.bfloat16)
    same(
        [jax.jit(rope.rotate)(narrow)],
        [np.asarray(rope.rotate(np.asarray(narrow, np.float32)).astype(narrow.dtype), np.float64)],
    )
    gradient = jax.grad(lambda x: (rope.rotate(x) * rope.rotate(jnp.asarray(k[0]))).sum())(jnp.asarray(q[0, :2]))
    same([gradient], [k[0]])  # the transpose of a rotation rotates back


def test_decoding_at_an_offset_that_is_traced(rope):
    q, k = heads(2, 2, 5, 16), heads(2, 2, 5, 16, seed=1)
    step = jax.jit(lambda q, k, at: rope(q, k, offset=at))
    for at in range(5):
        one = [x[:, :, at : at + 1] for x in rope(q, k)]
        same(step(*(jnp.asarray(x[:, :, at : at + 1]) for x in (q, k)), jnp.asarray(at)), one)
        same(step(*(jnp.asarray(x[:, :, at : at + 1]) for x in (q, k)), jnp.full(2, at)), one)


def test_double_precision_where_jax_has_it():
    with jax.enable_x64(True):
        x, at = heads(1, 1, 9, 16).astype(np.float64), np.arange(9) + 100_000
        found = Rope(16).rotate(jnp.asarray(x), jnp.asarray(at))
        assert found.dtype == jnp.float64
        same([found], [Rope(16).rotate(x, at)], 1e-12)


def test_a_schedule_needs_the_length_where_positions_are_traced():
    dynamic = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0, "original_max_position_embeddings": 8}
    with pytest.raises(ValueError, match="seq_len must be given where positions cannot be looked at"):
        jax.jit(Rope.from_config(dynamic, 16).rotate)(jnp.zeros((1, 1, 9, 16)), jnp.arange(9))
