"""Statistics of trained models: mean attention weights by distance, and E[q k̄] per pair (the learned distance bias)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from posenc._arrays import Array, check_int, device_of, namespace
from posenc.absolute import relative_positions
from posenc.lab._checks import instance
from posenc.lab.distance_bias import clamped, distance_bias
from posenc.lab.evaluate import check_rotary, with_scheme
from posenc.lab.runs import Run
from posenc.schemes import PositionScheme
from posenc.transformer import Transformer

Callback = Callable[[int, Tensor, Tensor, Tensor], None]


class _Wrapped(PositionScheme):
    """A scheme that does in one layer what another does, until a subclass overrides a step."""

    def __init__(self, scheme: PositionScheme, layer: int = 0) -> None:
        super().__init__()
        self.within, self.layer = scheme, layer
        self.injection_point, self.causal = scheme.injection_point, scheme.causal  # type: ignore[misc]

    def _embed(self, x: Array, positions: Array) -> Array:
        return self.within.embed(x, positions)

    def _rotate(self, q: Array, k: Array, positions: Array, key_positions: Array) -> tuple[Array, Array]:
        return self.within.rotate(q, k, positions, key_positions)

    def _bias(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array | None:
        return self.within.bias(q, k, positions, key_positions)

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return self.within.logit_scale(head_dim, n_keys)


class _Captured(_Wrapped):
    """Passes each layer's unrotated queries and keys and its attention weights to a callback."""

    def __init__(self, scheme: PositionScheme, callback: Callback, layer: int = 0) -> None:
        super().__init__(scheme, layer)
        self.callback = callback

    def for_layer(self, index: int) -> PositionScheme:
        return _Captured(self.within.for_layer(index), self.callback, index)

    def _rotate(self, q: Array, k: Array, positions: Array, key_positions: Array) -> tuple[Array, Array]:
        rotated_q, rotated_k = super()._rotate(q, k, positions, key_positions)
        logits = rotated_q @ rotated_k.mT * self._logit_scale(q.shape[-1], k.shape[2])
        bias = self._bias(rotated_q, rotated_k, positions, key_positions)
        if bias is not None:
            logits = logits + bias
        later = relative_positions(positions, key_positions) > 0
        self.callback(self.layer, q, k, logits.masked_fill(later, -torch.inf).softmax(dim=-1))
        return rotated_q, rotated_k


@torch.inference_mode()
def capture_attention(model: Transformer, tokens: Tensor, callback: Callback, batch_size: int) -> None:
    """Runs a decoder over texts and passes each layer's queries, keys and attention weights to a callback.

    Args:
        model: a decoder.
        tokens: shape (sequences, length).
        callback: called with the layer's index, the queries and keys before rotation, (batch, heads, length, head_dim)
            each, and the attention weights, (batch, heads, length, length).
        batch_size: sequences per forward pass, at least 1.
    """
    instance("model", model, Transformer)
    captured = with_scheme(model, model.scheme)
    captured.scheme = _Captured(model.scheme, callback)
    for start in range(0, len(tokens), check_int("batch_size", batch_size)):
        captured(tokens[start : start + batch_size])


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
        parts = (x.double().reshape(*x.shape[:-1], pairs, 2).contiguous() for x in (q, k))
        q_complex, k_complex = map(torch.view_as_complex, parts)  # (batch, heads, length, pairs)
        late, early = q_complex[:, :, -queries:].mean(dim=2), k_complex[:, :, : length // 2].mean(dim=2)
        content[layer] += (late * early.conj()).sum(dim=0).numpy()
        # The sum over all t of q at t and k at t − m is a correlation.
        spectrum = torch.fft.fft(q_complex, 2 * length, dim=2) * torch.fft.fft(k_complex, 2 * length, dim=2).conj()
        distance[layer] += torch.fft.ifft(spectrum, dim=2)[:, :, :length].sum(dim=0).movedim(1, -1).numpy()

    capture_attention(model, tokens, add, 16)
    scale = len(tokens) * np.sqrt(model.config.head_dim)
    return MeanProducts(content / scale, distance / (scale * np.arange(length, 0, -1)))


class ClampedDistanceBias(_Wrapped):
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
        super().__init__(scheme, layer)
        self.causal = True
        self._products, self._frequencies, self._pairs, self._trained = products, frequencies, pairs, trained

    def for_layer(self, index: int) -> PositionScheme:
        scheme = self.within.for_layer(index)
        return ClampedDistanceBias(scheme, self._products, self._frequencies, self._pairs, self._trained, index)

    def _bias(self, q: Array, k: Array, positions: Array, key_positions: Array) -> Array | None:
        xp = namespace(q)
        distances = xp.astype(xp.clip(-relative_positions(positions, key_positions), min=0), xp.int64)
        pairs = list(self._pairs.get(self.layer, ()))
        all_distances = np.arange(int(xp.max(distances)) + 1)
        products = self._products[self.layer][:, pairs]
        bias = distance_bias(products, self._frequencies[pairs], all_distances).sum(axis=1)  # (heads, n)
        change = clamped(bias, self._trained) - bias
        return xp.asarray(change, dtype=q.dtype, device=device_of(q))[:, distances]
