"""posenc.rope in JAX: compiled by jit, mapped and differentiated, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.rope import Rope, sections

pytestmark = pytest.mark.release
rng = np.random.default_rng(0)
LLAMA_3 = {
    "rope_type": "llama3",
    "rope_theta": 500_000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
ROPES = {
    "plain": Rope(16),
    "half": Rope(16, layout="half"),
    "partial": Rope(16, rotary_dim=8),
    "llama3": Rope(16, layout="half", scaling=LLAMA_3),
}
every_rope = pytest.mark.parametrize("rope", ROPES.values(), ids=ROPES)


@pytest.fixture(autouse=True)
def library():
    """JAX, which only a release needs, for all tests of this file."""
    global jax, jnp
    import jax
    import jax.numpy as jnp


def heads(*shape):
    return rng.standard_normal(shape).astype(np.float32)


@every_rope
def test_compiled_it_gives_what_numpy_gives(rope):
    q, k = heads(2, 4, 9, 16), heads(2, 2, 9, 16)
    at = np.array([[0, 1, 2, 3, 0, 1, 2, 3, 4], [3, 4, 5, 6, 7, 8, 9, 10, 11]])
    for positions in (None, at):
        turned = jax.jit(rope)(jnp.asarray(q), jnp.asarray(k), None if positions is None else jnp.asarray(positions))
        for found, wanted in zip(turned, rope(q, k, positions), strict=True):
            assert found.dtype == jnp.float32
            np.testing.assert_allclose(found, wanted, atol=2e-6)


@every_rope
def test_half_precision_is_rounded_once(rope):
    x = jnp.asarray(heads(1, 2, 9, 16), dtype=jnp.bfloat16)
    found = jax.jit(rope.rotate)(x)
    assert found.dtype == jnp.bfloat16
    exact = rope.rotate(np.asarray(x, np.float64))
    np.testing.assert_allclose(np.asarray(found, np.float64), exact, rtol=2**-8, atol=2e-6)


def test_decoding_at_an_offset_that_is_traced():
    q, k, rope = heads(1, 2, 5, 16), heads(1, 2, 5, 16), ROPES["half"]
    whole_q, whole_k = rope(q, k)
    step = jax.jit(lambda q, k, at: rope(q, k, offset=at))
    for at in range(5):
        found = step(jnp.asarray(q[:, :, at : at + 1]), jnp.asarray(k[:, :, at : at + 1]), jnp.asarray(at))
        np.testing.assert_allclose(found[0], whole_q[:, :, at : at + 1], atol=2e-6)
        np.testing.assert_allclose(found[1], whole_k[:, :, at : at + 1], atol=2e-6)


@every_rope
def test_a_gradient_is_turned_back(rope):
    x, weight = heads(1, 1, 9, 16), heads(1, 1, 9, 16)
    found = jax.grad(lambda x: (rope.rotate(x) * weight).sum())(jnp.asarray(x))
    directions = np.eye(16)[:, None] * np.ones((16, 9, 1))  # (16, 9, 16)
    turned = rope.rotate(directions)  # column by column the matrix of each position
    np.testing.assert_allclose(found[0, 0], np.einsum("cpd,pd->pc", turned, weight[0, 0]), atol=2e-6)


def test_it_is_mapped_over_sequences():
    x, at, rope = heads(3, 2, 9, 16), rng.integers(0, 50, (3, 9)), ROPES["plain"]
    found = jax.vmap(rope.rotate)(jnp.asarray(x), jnp.asarray(at))
    np.testing.assert_allclose(found, rope.rotate(x, at), atol=1e-5)


def test_axes_and_sections():
    rope = Rope(16, axes=sections((4, 2, 2)))
    x, at = heads(1, 2, 9, 16), rng.integers(0, 9, (1, 9, 3))
    np.testing.assert_allclose(jax.jit(rope.rotate)(jnp.asarray(x), jnp.asarray(at)), rope.rotate(x, at), atol=1e-5)


def test_double_precision_where_jax_has_it():
    with jax.enable_x64(True):
        x = jnp.asarray(rng.standard_normal((1, 1, 9, 16)))
        found = ROPES["plain"].rotate(x, jnp.arange(9) + 100_000)
        assert found.dtype == jnp.float64
        np.testing.assert_allclose(found, ROPES["plain"].rotate(np.asarray(x), np.arange(9) + 100_000), atol=1e-12)


def test_positions_out_of_a_trace_are_no_length():
    rope = Rope(
        16, scaling={"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0, "original_max_position_embeddings": 8}
    )
    with pytest.raises(ValueError, match="seq_len must be given to Rope"):
        jax.jit(rope.rotate)(jnp.zeros((1, 1, 9, 16)), jnp.arange(9))
