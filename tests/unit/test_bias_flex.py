"""posenc.bias.score_mod: torch's FlexAttention with it, and `attention` with the whole bias, give the same outputs."""

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from posenc.absolute import relative_positions
from posenc.attention import attention
from posenc.bias import alibi, alibi_slopes, kerple, sandwich, score_mod, t5

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
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(7, 7), (3, 140)])
@pytest.mark.parametrize("name", OF_RELATIVE_POSITIONS)
def test_equals_attention_with_the_whole_bias(name, queries, keys, causal):
    bias, q = OF_RELATIVE_POSITIONS[name], normal(2, HEADS, queries, 8)
    k, v = normal(2, HEADS, keys, 8, seed=1), normal(2, HEADS, keys, 5, seed=2)
    expected = attention(q, k, v, bias=bias(relative_positions(*places(queries, keys))), causal=causal).output
    torch.testing.assert_close(flex(q, k, v, score_mod(bias, q, k), causal), expected, rtol=0, atol=1e-13)


@pytest.mark.release
def test_grouped_queries_and_half_precision():
    q, k = normal(1, 4, 3, 8, dtype=torch.bfloat16), normal(1, 2, 6, 8, dtype=torch.bfloat16, seed=1)
    bias = lambda offsets: alibi(offsets, alibi_slopes(4, like=offsets))  # noqa: E731 (one line says it)
    got = flex(q, k, k, score_mod(bias, q, k), enable_gqa=True)
    expected = attention(q, k, k, bias=bias(relative_positions(*places(3, 6)))).output
    assert got.dtype == torch.bfloat16
    torch.testing.assert_close(got, expected, rtol=0, atol=0.02)
