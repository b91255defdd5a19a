"""Statistics of trained models: mean attention weights by distance, and E[q k̄] per pair (the learned distance bias)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from posenc._arrays import Array, check_int, device_of, namespace
from posenc.absolute import relative_positions
from posenc.lab._checks import instance
from posenc.lab.distance_bias import clamped, distance_bias
from posenc.lab.evaluate import check_rotary
from posenc.lab.runs import Run
from posenc.schemes import PositionScheme
from posenc.transformer import forward

if TYPE_CHECKING:
    from torch import Tensor

    from posenc.transformer import Transformer

Callback = Callable[[int, Array, Array, Array], None]


def capture_attention(model: Transformer, tokens: Tensor, callback: Callback, batch_size: int) -> None:
    """Runs a decoder over texts and passes each layer's queries, keys and attention weights to a callback.

    Args:
        model: a decoder.
        tokens: shape (sequences, length).
        callback: called with the layer's index, the queries and keys before rotation, (batch, heads, length, head_dim)
            each, and the attention weights, (batch, heads, length, length).
        batch_size: sequences per forward pass, at least 1.
    """
    import torch

    from posenc.transformer import Transformer

    instance("model", model, Transformer)
    weights = model.state_dict()
    with torch.inference_mode():
        for start in range(0, len(tokens), check_int("batch_size", batch_size)):
            batch = tokens[start : start + batch_size]
            for index, layer in enumerate(forward(weights, batch, model.config, model.scheme, with_layers=True).layers):
                callback(index, *layer)


def attention_by_distance(model: Transformer, tokens: Tensor, queries: int) -> np.ndarray:
    """The mean attention weight of every head at every distance, over the last queries of each text.

    Args:
        model: a decoder.
        tokens: texts, shape (sequences, length).
        queries: how many of the last queries are averaged, at least 1.

    Returns:
        shape (layers, heads, length). Rows sum to 1, up to distances that only some of these queries have.
    """
    length, total = tokens.shape[1], np.zeros((model.config.n_layers, model.config.n_heads, tokens.shape[1]))

    def add(layer: int, q: Tensor, k: Tensor, weights: Tensor) -> None:
        for back in range(check_int("queries", queries)):
            by_distance = weights[:, :, length - 1 - back].flip(-1)[..., back:]  # distance 0 first
            total[layer, :, : length - back] += by_distance.sum(dim=0).double().numpy()

    capture_attention(model, tokens, add, max(1, 2**24 // (length**2 * model.config.n_heads)))
    return total / (len(tokens) * queries)


class MeanProducts(NamedTuple):
    """E[q k̄] of a trained rotary model, in logits (divided by √head_dim)."""

    by_content: np.ndarray  # complex, (layers, heads, pairs): over late queries and the keys of the first half
    by_distance: np.ndarray  # complex, (layers, heads, pairs, length): over all queries and keys at each distance


def mean_products(model: Transformer, run: Run, tokens: Tensor, queries: int = 32) -> MeanProducts:
    """E[q k̄] of every pair of every head: the content-independent part of the logits.

    Args:
        model: trained with rotation.
        run: its run.
        tokens: texts, shape (sequences, length), no longer than the trained length.
        queries: how many of the last queries of each text enter `by_content`, with the keys of its first half.

    Raises:
        TypeError, ValueError: a run of another scheme, or texts shorter than twice the queries.
    """
    check_rotary(run)
    layers, heads, pairs = model.config.n_layers, model.config.n_heads, model.config.head_dim // 2
    length = tokens.shape[1]
    if check_int("queries", queries) * 2 > length:
        raise ValueError(f"queries must be at most half of the {length} tokens, got {queries}")
    content = np.zeros((layers, heads, pairs), complex)
    distance = np.zeros((layers, heads, pairs, length), complex)

    def add(layer: int, q: Tensor, k: Tensor, weights: Tensor) -> None:
        parts = (np.asarray(x.double()) for x in (q, k))
        q_complex, k_complex = (x[..., ::2] + 1j * x[..., 1::2] for x in parts)  # (batch, heads, length, pairs)
        late, early = q_complex[:, :, -queries:].mean(axis=2), k_complex[:, :, : length // 2].mean(axis=2)
        content[layer] += (late * early.conj()).sum(axis=0)
        # The sum over all t of q at t and k at t − m is a correlation.
        spectrum = np.fft.fft(q_complex, 2 * length, axis=2) * np.fft.fft(k_complex, 2 * length, axis=2).conj()
        distance[layer] += np.moveaxis(np.fft.ifft(spectrum, axis=2)[:, :, :length].sum(axis=0), 1, -1)

    capture_attention(model, tokens, add, 16)
    scale = len(tokens) * np.sqrt(model.config.head_dim)
    return MeanProducts(content / scale, distance / (scale * np.arange(length, 0, -1)))


class ClampedDistanceBias(PositionScheme):
    """A rotary scheme in which the distance bias of some pairs is clamped past the trained length.

    It adds one number per layer, head and distance to the logits (`posenc.lab.distance_bias.clamped`); whatever depends
    on the content stays as it was.

    Args:
        scheme: the rotary scheme that the model was trained with.
        products: E[q k̄] of every layer, complex, shape (layers, heads, pairs).
        frequencies: in radians per token, shape (pairs,).
        pairs: which pairs are clamped, by layer.
        trained: length in tokens.
    """

    def __init__(
        self,
        scheme: PositionScheme,
        products: np.ndarray,
        frequencies: np.ndarray,
        pairs: Mapping[int, Collection[int]],
        trained: int,
        layer: int = 0,
    ) -> None:
        super().__init__()
        self.within, self.layer = scheme, layer
        self.injection_point, self.causal = scheme.injection_point, True  # type: ignore[misc]
        self._products, self._frequencies, self._pairs, self._trained = products, frequencies, pairs, trained

    def for_layer(self, index: int) -> PositionScheme:
        scheme = self.within.for_layer(index)
        return ClampedDistanceBias(scheme, self._products, self._frequencies, self._pairs, self._trained, index)

    def _embed(self, x: Array, positions: Array) -> Array:
        return self.within.embed(x, positions)

    def _rotate(self, q: Array, k: Array, positions: Array, key_positions: Array) -> tuple[Array, Array]:
        return self.within.rotate(q, k, positions, key_positions)

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return self.within.logit_scale(head_dim, n_keys)

    def _bias(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array | None:
        xp = namespace(q)
        distances = xp.astype(xp.clip(-relative_positions(positions, key_positions), min=0), xp.int64)
        pairs = list(self._pairs.get(self.layer, ()))
        all_distances = np.arange(int(xp.max(distances)) + 1)
        products = self._products[self.layer][:, pairs]
        bias = distance_bias(products, self._frequencies[pairs], all_distances).sum(axis=1)  # (heads, n)
        change = clamped(bias, self._trained) - bias
        return xp.asarray(change, dtype=q.dtype, device=device_of(q))[:, distances]
