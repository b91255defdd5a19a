"""posenc.rope under JAX's transformations, in its own single precision, against NumPy."""

from functools import partial

import numpy as np
import pytest

from posenc.rope import Rope, sections

pytestmark = pytest.mark.release
LLAMA_3 = {"rope_type": "llama3", "rope_theta": 500_000.0, "factor": 8.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 64}  # fmt: skip
ROPES = {
    "Llama 3": Rope.from_config(LLAMA_3, 16),
    "interleaved, partial": Rope(16, layout="interleaved", rotary_dim=8),
    "sections": Rope(16, axes=sections((4, 2, 2))),
}


@pytest.fixture(autouse=True)
def library():
    """JAX, which only a release needs."""
    global jax, jnp
    import jax
    import jax.numpy as jnp


def same(found, expected, atol=2e-6):
    for ours, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(ours, np.float64), wanted, atol=atol)


@pytest.mark.parametrize("rope", ROPES.values(), ids=ROPES)
def test_jit_vmap_and_grad_give_what_numpy_gives(rope):
    (q, k), random = (
        np.random.default_rng(0).standard_normal((2, 2, 4, 9, 16)).astype(np.float32),
        np.random.default_rng(1),
    )
    of_jax, at = [jnp.asarray(x) for x in (q, k)], random.integers(0, 50, (2, 9) if rope.axes is None else (2, 9, 3))
    found = jax.jit(rope)(*of_jax)
    assert {x.dtype for x in found} == {jnp.dtype("float32")}
    same([*found, *jax.jit(rope)(*of_jax, jnp.asarray(at))], [*rope(q, k), *rope(q, k, at)], 1e-5)
    same([jax.vmap(rope.rotate)(of_jax[0], jnp.asarray(at))], [rope.rotate(q, at)], 1e-5)
    gradient = jax.grad(lambda x: (rope.rotate(x) * rope.rotate(of_jax[1])).sum())(of_jax[0])
    same([gradient], [k])  # the transpose of a rotation rotates back
    narrow = of_jax[0].astype(jnp.bfloat16)
    rounded_once = rope.rotate(np.asarray(narrow, np.float32)).astype(narrow.dtype)
    same([jax.jit(rope.rotate)(narrow)], [np.asarray(rounded_once, np.float64)])
    step = jax.jit(lambda q, k, offset: rope(q, k, offset=offset))  # decoding at an offset that is traced
    for offset in (0, 3, 8):
        one = slice(offset, offset + 1)
        for traced in (jnp.asarray(offset), jnp.full(2, offset)):
            same(step(*(x[:, :, one] for x in of_jax), traced), [x[:, :, one] for x in rope(q, k)])


def test_a_schedule_needs_the_length_where_positions_are_traced():
    dynamic = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0, "original_max_position_embeddings": 8}
    rope, x, at = Rope.from_config(dynamic, 16), np.ones((1, 1, 9, 16), np.float32), np.arange(9)
    with pytest.raises(ValueError, match="seq_len must be given where positions cannot be looked at"):
        jax.jit(rope.rotate)(jnp.asarray(x), jnp.asarray(at))
    same([jax.jit(partial(rope.rotate, seq_len=9))(jnp.asarray(x), jnp.asarray(at))], [rope.rotate(x)])
