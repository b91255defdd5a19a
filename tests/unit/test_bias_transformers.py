"""posenc.bias against the layers of the library transformers."""

import numpy as np
import pytest
import torch

from posenc.absolute import relative_positions
from posenc.attention import attention
from posenc.bias import alibi, alibi_slopes, deberta, relative_shift, t5_bucket
from tests.unit.bias_arguments import square

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(("num_buckets", "max_distance"), [(32, 128), (16, 20), (64, 800)])
def test_buckets_equal_hugging_face(bidirectional, num_buckets, max_distance):
    """transformers computes the logarithm in float32; the buckets are equal at every offset up to ±4096."""
    from transformers.models.t5.modeling_t5 import T5Attention

    offsets = torch.arange(-4096, 4097)
    numbers = {"bidirectional": bidirectional, "num_buckets": num_buckets, "max_distance": max_distance}
    expected = T5Attention._relative_position_bucket(offsets, **numbers)
    np.testing.assert_array_equal(t5_bucket(offsets, **numbers), expected)


@pytest.mark.parametrize("n_heads", [1, 8, 12, 40])
def test_slopes_and_weights_equal_to_bloom(n_heads):
    """transformers' slopes are powers in float32: relative 1e-6. Its m·j gives our weights under a causal mask."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    blooms = build_alibi_tensor(torch.ones(1, 9, dtype=torch.long), n_heads, torch.float64)  # (heads, 1, keys)
    np.testing.assert_allclose(blooms[:, 0, 1], alibi_slopes(n_heads), rtol=1e-6)
    q, k, v = torch.randn(3, n_heads, 9, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    ours = attention(q, k, v, bias=alibi(square(9).tolist(), alibi_slopes(n_heads, like=q)))
    theirs = attention(q, k, v, causal=True, bias=blooms.expand(n_heads, 9, 9))
    np.testing.assert_allclose(theirs.weights, ours.weights, atol=1e-6)


def test_weights_equal_to_a_deberta_layer():
    """transformers, float32, relative 1e-6 of the largest weight.

    It reads the query's table at δ(i, j), where the paper has δ(j, i): that term of ours for the opposite offsets.
    """
    from transformers import DebertaV2Config
    from transformers.models.deberta_v2.modeling_deberta_v2 import DisentangledSelfAttention

    torch.manual_seed(0)
    length, span = 12, 5
    layer = DisentangledSelfAttention(
        DebertaV2Config(
            hidden_size=32,
            num_attention_heads=4,
            relative_attention=True,
            max_relative_positions=span,
            pos_att_type=["c2p", "p2c"],
        )
    ).eval()
    x, table = torch.randn(2, length, 32), torch.randn(2 * span, 32)
    at = torch.arange(length)
    offsets = relative_positions(at, at)
    everywhere = torch.ones(2, 1, length, length)
    _, weights = layer(x, everywhere, output_attentions=True, relative_pos=-offsets[None], rel_embeddings=table)

    heads = lambda y: y.unflatten(-1, (4, -1)).transpose(-2, -3)  # noqa: E731 (one line says it)
    q, k = heads(layer.query_proj(x)), heads(layer.key_proj(x))
    key_relative, query_relative = heads(layer.pos_key_proj(table)), heads(layer.pos_query_proj(table))
    ours, opposite = (deberta(q, k, key_relative, query_relative, sign * offsets) for sign in (1, -1))
    scale = (3 * 8) ** -0.5
    bias = scale * (ours.content_to_position + opposite.position_to_content)
    got = attention(q, k, k, scale=scale, bias=bias).weights
    np.testing.assert_allclose(got.detach(), weights.detach(), atol=1e-6)
    of_the_paper = attention(q, k, k, scale=scale, bias=scale * ours.bias).weights
    assert (of_the_paper - weights).abs().max() > 0.01


def test_shift_equal_to_xlnet():
    """XLNet's rows start one distance farther away, at `keys`, which no pair needs."""
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    scores = torch.randn(2, 3, 4, 11, generator=torch.Generator().manual_seed(0))  # distances 7 to −3 for 7 keys
    expected = XLNetRelativeAttention.rel_shift_bnij(scores, klen=7)
    np.testing.assert_array_equal(relative_shift(scores[..., 1:])[..., :7], expected)
