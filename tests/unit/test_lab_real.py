"""The measurements on a real model, tried on a small random one: what is measured, and that controls are controls."""

import numpy as np
import pytest
import torch

from posenc.frequencies import inv_freq
from posenc.lab import real, real_results
from posenc.lab.distance_bias import distance_bias
from posenc.llama import Attention, Llama, LlamaConfig
from posenc.transformer import KeyValueCache

pytestmark = pytest.mark.torch
CONFIG = LlamaConfig(
    vocab_size=200,
    hidden_size=128,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=1,
    intermediate_size=64,
    rope_theta=real_results.BASE,
    max_position_embeddings=64,
)
IDS = torch.from_numpy(np.random.RandomState(0).randint(0, 200, (1, 40)))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    torch.manual_seed(0)
    network = Llama(CONFIG).requires_grad_(False)
    network.set_position_encoding(real.own_rope())
    network.embed_tokens.weight.mul_(0.05)  # the same matrix makes the logits
    monkeypatch.setattr(real, "model", lambda dtype=None: (network, None))
    monkeypatch.setattr(real, "BLOCK", 8)
    return network


def test_losses_block_by_block_and_after_a_cache_are_those_of_one_pass(small):
    logits = small(IDS)[0, :-1]
    whole = torch.nn.functional.cross_entropy(logits, IDS[0, 1:], reduction="none")
    np.testing.assert_allclose(real.losses(IDS, real.own_rope())[1:], whole, rtol=1e-4)
    start = KeyValueCache()
    real.losses(IDS[:, :16], real.own_rope(), start)
    for _ in range(2):  # the cache of the prefix is not changed by what goes on from a copy
        np.testing.assert_allclose(real.losses(IDS, real.own_rope(), real.copy(start))[1:], whole[16:], rtol=1e-4)


def watched(network):
    """The queries and keys of each layer from the fifth token on, each pair as a complex number."""
    seen = {}
    network.set_position_encoding(real._Watched(lambda layer, q, k: seen.update({layer: (q, k)})))
    network(IDS)
    for layer, both in seen.items():
        yield layer, *(torch.view_as_complex(x[0, :, 4:].unflatten(-1, (-1, 2)).contiguous()).numpy() for x in both)


def test_mean_products_against_every_pair_of_tokens(small):
    found = real.mean_products(IDS, first=4)
    for layer, q, k in watched(small):
        for head in range(2):
            product = [q[head, m] * k[0, n].conj() / 8 for m in range(36) for n in range(m)]
            np.testing.assert_allclose(found["product"][layer, head], np.mean(product, axis=0), rtol=1e-3, atol=1e-5)


def test_deviations_over_keys_against_every_query(small):
    found = real.deviations(IDS, first=4, enough=8)["std"]
    phase = np.exp(1j * np.arange(36)[:, None] * inv_freq(64, real_results.BASE))
    for layer, q, k in watched(small):
        for head in range(2):
            logits = [np.real(q[head, m] * phase[m] * (k[0, : m + 1] * phase[: m + 1]).conj()) / 8 for m in range(36)]
            expected = np.mean([of_query.var(axis=0) for of_query in logits[8:]], axis=0) ** 0.5
            np.testing.assert_allclose(found[layer, head], expected, rtol=2e-3, atol=1e-6)


def groups():
    pairs = np.arange(32)
    return real.Groups(*(np.tile(mask, (2, 1)) for mask in (pairs == 23, pairs > 24, pairs < 16)))


def made(products, length=40, context=16):
    return real.interventions(products, inv_freq(64, real_results.BASE), real.own_rope(), groups(), context, length)


@pytest.fixture
def products():
    random = np.random.RandomState(1)
    return random.normal(size=(2, 2, 32)) + 1j * random.normal(size=(2, 2, 32))


def test_no_intervention_acts_within_the_context(products):
    own = real.losses(IDS, real.own_rope())
    for name, scheme in made(products).items():
        changed = real.losses(IDS, scheme)
        np.testing.assert_allclose(changed[1:16], own[1:16], rtol=1e-4, err_msg=name)
        assert np.allclose(changed[17:], own[17:], rtol=1e-4) == (name == "as trained"), name


def test_stand_ins_are_as_large_and_clamping_keeps_a_level(products):
    named = made(products)
    zeroed = named["zeroed"].change[..., 16:]
    for kind in ("zeroed, other slow pairs, as large", "zeroed, fast pairs, as large"):
        other = named[kind].change[..., 16:]
        torch.testing.assert_close(other.square().mean(), zeroed.square().mean())
    theta, distances = inv_freq(64, real_results.BASE)[[23]], np.arange(40)
    bias = distance_bias(products[..., [23]], theta, distances)[..., 0, :]
    np.testing.assert_allclose(zeroed, -bias[..., 16:], atol=1e-5)
    level = bias + named["clamped"].change.numpy()
    np.testing.assert_allclose(
        level[..., 16:], np.broadcast_to(bias[..., 8:16].mean(-1, keepdims=True), level[..., 16:].shape), atol=1e-5
    )
    flat = bias + named["flat, same mean"].change.numpy()
    np.testing.assert_allclose(flat[..., 16:].mean(-1), bias[..., 16:].mean(-1), atol=1e-5)


def test_the_bias_is_added_at_its_distance(small, products):
    """The intervention against a model in which the same change is added to every logit by hand."""
    scheme = made(products)["zeroed"]
    positions = torch.arange(30, 38), torch.arange(38)
    q, k = torch.zeros(1, 2, 8, 64), torch.zeros(1, 2, 38, 64)
    bias = scheme.for_layer(1).bias(q, k, *positions)
    for query in range(8):
        for key in range(31 + query):
            torch.testing.assert_close(bias[:, query, key], scheme.change[1][:, 30 + query - key])


def test_a_window_hides_far_keys_but_not_the_sinks(small, products):
    hidden = np.where(np.arange(12) >= 5, -np.inf, 0.0)[None, None]
    scheme = real.Intervention(real.own_rope(), hidden, only="others")
    bias = scheme.bias(torch.zeros(1, 2, 12, 64), torch.zeros(1, 2, 12, 64), torch.arange(12), torch.arange(12))
    assert (bias[0, 11] == 0).nonzero().flatten().tolist() == [0, 1, 2, 3, 7, 8, 9, 10, 11]


@pytest.mark.parametrize(("only", "queries"), [(None, 38), ("sinks", 8), ("others", 8)])
def test_the_strided_mask_is_the_one_written_out(small, products, only, queries):
    random = np.random.RandomState(0)
    scheme = real.Intervention(real.own_rope(), random.normal(size=(1, 2, 38)), only)
    q, k, v = (torch.randn(1, 2, n, 64) for n in (queries, 38, 38))
    positions = torch.arange(38 - queries, 38), torch.arange(38)
    layer = small.layers[0].self_attn
    strided = real._Attention.attend(layer, q, k, v, scheme, *positions)
    torch.testing.assert_close(strided, Attention.attend(layer, q, k, v, scheme, *positions), rtol=1e-5, atol=1e-5)
