"""posenc.lab.statistics: averages against loops, and a clamped distance bias against logits written out."""

import numpy as np
import pytest
import torch

from posenc.frequencies import inv_freq
from posenc.lab.distance_bias import most_negative_pairs
from posenc.lab.runs import Run
from posenc.lab.statistics import ClampedDistanceBias, attention_by_distance, capture_attention, mean_products
from posenc.lab.train import build

pytestmark = pytest.mark.torch

RUN = Run("quick", "text", "rope_100", 0)  # 2 layers of 2 heads of 16 pairs, trained on 64 tokens
LENGTH = 24
FREQUENCIES = inv_freq(32, 100.0)


@pytest.fixture
def model():
    return build(RUN).eval()


@pytest.fixture
def tokens():
    return torch.randint(128, (3, LENGTH), generator=torch.Generator().manual_seed(1))


@pytest.fixture
def seen(model, tokens):
    """What each layer showed: queries, keys, weights."""
    found = {}

    def add(layer, *parts):
        found[layer] = [part.double().numpy() for part in parts]

    capture_attention(model, tokens, add, batch_size=3)
    return found


def test_attention_by_distance(model, tokens, seen):
    found = attention_by_distance(model, tokens, queries=4)
    wanted = np.zeros((2, 2, LENGTH))
    for layer, (_, _, weights) in seen.items():
        for query in range(LENGTH - 4, LENGTH):
            for distance in range(query + 1):
                wanted[layer, :, distance] += weights[:, :, query, query - distance].mean(axis=0) / 4
    np.testing.assert_allclose(found, wanted, atol=1e-7)
    np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-6)


def test_mean_products(model, tokens, seen):
    found = mean_products(model, RUN, tokens, queries=8)
    for layer, (q, k, _) in seen.items():
        q_of, k_of = (x[..., ::2] + 1j * x[..., 1::2] for x in (q, k))  # (sequences, heads, length, pairs)
        content = q_of[:, :, -8:].mean(axis=2) * k_of[:, :, : LENGTH // 2].mean(axis=2).conj()
        np.testing.assert_allclose(found.by_content[layer], content.mean(axis=0) / np.sqrt(32), atol=1e-7)
        for distance in (0, 5, LENGTH - 1):
            both = q_of[:, :, distance:] * k_of[:, :, : LENGTH - distance].conj()
            wanted = both.mean(axis=(0, 2)) / np.sqrt(32)
            np.testing.assert_allclose(found.by_distance[layer, :, :, distance], wanted, atol=1e-7)


def test_the_most_negative_pairs_are_slow_ones():
    b = np.zeros((2, 16))
    b[:, [2, 11, 13, 15]] = [[-9.0, -3.0, -1.0, -2.0], [-9.0, 1.0, -3.0, -2.0]]
    assert most_negative_pairs(-1j * b, FREQUENCIES, 64) == [11, 13, 15]  # pair 2 makes six rotations within 64 tokens
    assert most_negative_pairs(-1j * b, FREQUENCIES, 64, 1) in ([13], [15])


@pytest.mark.parametrize("pairs", [{}, {0: [14, 15], 1: [13]}])
def test_a_clamped_bias_keeps_its_mean_past_the_trained_length(model, tokens, seen, pairs):
    random, trained = np.random.RandomState(0), 10
    products = random.randn(2, 2, 16) + 1j * random.randn(2, 2, 16)
    scheme = ClampedDistanceBias(model.scheme, products, FREQUENCIES, pairs, trained)
    q, k, _ = (torch.as_tensor(part) for part in seen[0])
    at = torch.arange(LENGTH)
    for layer in (0, 1):
        added = scheme.for_layer(layer).bias(q, k, at, at).numpy()
        wave = np.zeros((2, LENGTH))
        for pair in pairs.get(layer, ()):
            m = np.arange(LENGTH)
            wave += np.real(products[layer][:, [pair]] * np.exp(1j * m * FREQUENCIES[pair]))
        for query, key in ((23, 23), (23, 14), (23, 13), (23, 0), (15, 2)):
            distance = query - key
            past = distance >= trained
            wanted = wave[:, 5:trained].mean(axis=1) - wave[:, distance] if past else np.zeros(2)
            np.testing.assert_allclose(added[:, query, key], wanted, atol=1e-12)
