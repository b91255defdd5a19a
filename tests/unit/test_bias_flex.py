"""posenc.bias.score_mod: torch's FlexAttention with it, and `attention` with the whole bias, give the same outputs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from posenc.absolute import relative_positions
from posenc.attention import attention
from posenc.bias import alibi, alibi_slopes, deberta, fire, kerple, sandwich, score_mod, t5

pytestmark = pytest.mark.torch
HEADS = 3


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


SLOPES, TABLE = alibi_slopes(HEADS, like=torch.ones(1)), normal(32, HEADS)
OF_RELATIVE_POSITIONS = {
    "alibi": lambda offsets: alibi(offsets, SLOPES),
    "alibi, symmetric": lambda offsets: alibi(offsets, SLOPES, symmetric=True),
    "t5, decoder": lambda offsets: t5(offsets, TABLE, bidirectional=False),
    "t5, encoder": lambda offsets: t5(offsets, TABLE, bidirectional=True),
    "sandwich": lambda offsets: sandwich(offsets, HEADS, 16),
    "kerple, logarithmic": lambda offsets: kerple(offsets, SLOPES, SLOPES),
    "kerple, power": lambda offsets: kerple(offsets, SLOPES, SLOPES, kind="power"),
}


def places(queries, keys):
    return torch.arange(keys - queries, keys), torch.arange(keys)


def flex(q, k, v, add, causal=False, **options):
    """FlexAttention, run by torch's own operations: its kernels want a compiler, and take no float64 on a CPU."""
    queries, keys = q.shape[-2], k.shape[-2]
    mask = None
    if causal:
        seen = lambda batch, head, query, key: key <= query + keys - queries  # noqa: E731 (one line says it)
        mask = create_block_mask(seen, None, None, queries, keys, device="cpu")
    torch.compiler.reset()
    run = torch.compile(flex_attention, backend="eager", fullgraph=True)
    return run(q, k, v, score_mod=add, block_mask=mask, **options)


@pytest.mark.release
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(7, 7), (3, 140), (1, 5)])
@pytest.mark.parametrize("name", OF_RELATIVE_POSITIONS)
def test_equals_attention_with_the_whole_bias(name, queries, keys, causal, dtype):
    bias, width = OF_RELATIVE_POSITIONS[name], 8
    q, k = normal(2, HEADS, queries, width, dtype=dtype), normal(2, HEADS, keys, width, dtype=dtype, seed=1)
    v = normal(2, HEADS, keys, 5, dtype=dtype, seed=2)
    expected = attention(q, k, v, bias=bias(relative_positions(*places(queries, keys))), causal=causal).output
    got = flex(q, k, v, score_mod(bias, q, k), causal)
    assert got.dtype == dtype
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-13 if dtype == torch.float64 else 3e-6)


@pytest.mark.release
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("queries", "keys"), [(6, 6), (2, 9)])
def test_a_bias_that_depends_on_more_is_an_array(queries, keys, dtype):
    q, k = normal(2, HEADS, queries, 8, dtype=dtype), normal(2, HEADS, keys, 8, dtype=dtype, seed=1)
    query_at, key_at = places(queries, keys)
    tables = normal(2, HEADS, 4, 8, seed=3)
    of_positions = fire(query_at, key_at, lambda share: share * torch.tensor([-1.0, -2.0, 3.0]), 0.5, 4.0)
    of_content = deberta(q, k, *tables, relative_positions(query_at, key_at)).bias  # one for each text of the batch
    for bias in (of_positions, of_content):
        for causal in (False, True):
            got = flex(q, k, k, score_mod(bias, q, k), causal)
            expected = attention(q, k, k, bias=bias, causal=causal).output
            torch.testing.assert_close(got, expected, rtol=0, atol=1e-13 if dtype == torch.float64 else 3e-6)


@pytest.mark.release
def test_grouped_queries_and_half_precision():
    q, k = normal(1, 4, 3, 8, dtype=torch.bfloat16), normal(1, 2, 6, 8, dtype=torch.bfloat16, seed=1)
    bias = lambda offsets: alibi(offsets, alibi_slopes(4, like=offsets))  # noqa: E731 (one line says it)
    got = flex(q, k, k, score_mod(bias, q, k), enable_gqa=True)
    expected = attention(q, k, k, bias=bias(relative_positions(*places(3, 6)))).output
    assert got.dtype == torch.bfloat16
    torch.testing.assert_close(got, expected, rtol=0, atol=0.02)


@pytest.mark.release
# torch's compiler asks every tensor that `score_mod` holds for its gradient.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
def test_gradients_reach_what_the_bias_is_made_of():
    q, k = normal(1, HEADS, 4, 8), normal(1, HEADS, 9, 8, seed=1)
    found = []
    for run in (
        lambda bias: flex(q, k, k, score_mod(bias, q, k), causal=True),
        lambda bias: attention(q, k, k, bias=bias(relative_positions(*places(4, 9))), causal=True).output,
    ):
        table = TABLE.clone().requires_grad_()
        (run(lambda offsets, table=table: t5(offsets, table, bidirectional=False)) ** 2).sum().backward()
        found.append(table.grad)
    assert found[1].abs().max() > 0
    torch.testing.assert_close(*found, rtol=0, atol=1e-13)


def test_arrays_of_two_libraries_are_refused():
    q = normal(1, HEADS, 4, 8)
    for bias in (np.zeros((HEADS, 4, 4)), lambda offsets: np.zeros((HEADS, 1, 7))):
        with pytest.raises(TypeError, match="cannot mix"):
            score_mod(bias, q, q)
