"""What trained models hold: where their heads look, and what queries and keys have in common whatever the words are.

`posenc.lab.mean_wave` says what is made of E[q k̄], which is measured here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from posenc._arrays import check_int
from posenc.absolute import relative_positions
from posenc.frequencies import inv_freq
from posenc.lab._checks import instance
from posenc.lab.evaluate import check_rotary, with_scheme
from posenc.lab.mean_wave import deepest, held, mean_wave
from posenc.lab.runs import Run
from posenc.schemes import PositionScheme
from posenc.transformer import Transformer


class _Watched(PositionScheme):
    """A scheme that does as another does, and shows each layer's queries and keys to a function.

    It is given the layer, queries and keys before they are turned, and the weights that attention will have.
    """

    def __init__(self, scheme: PositionScheme, see: Callable[[int, Tensor, Tensor, Tensor], None], layer: int) -> None:
        super().__init__()
        self.within, self.see, self.layer = scheme, see, layer
        self.injection_point, self.causal = scheme.injection_point, scheme.causal  # type: ignore[misc]

    def for_layer(self, index: int) -> PositionScheme:
        return _Watched(self.within.for_layer(index), self.see, index)

    def _embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.within.embed(x, positions)

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        turned = self.within.rotate(q, k, positions, key_positions)
        bias = self.within.bias(*turned, positions, key_positions)
        logits = turned[0] @ turned[1].mT * self.within.logit_scale(q.shape[-1], k.shape[2])
        if bias is not None:
            logits = logits + bias
        later = relative_positions(positions, key_positions) > 0
        self.see(self.layer, q, k, logits.masked_fill(later, -torch.inf).softmax(dim=-1))
        return turned

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor | None:
        return self.within.bias(q, k, positions, key_positions)

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return self.within.logit_scale(head_dim, n_keys)


@torch.inference_mode()
def watch(model: Transformer, tokens: Tensor, see: Callable[[int, Tensor, Tensor, Tensor], None], at_once: int) -> None:
    """Run a model over texts, so many at once, and show each layer's queries, keys and attention weights to a function.

    Args:
        model: a decoder.
        tokens: shape (sequences, length).
        see: is called with the index of the layer, queries and keys before they are turned, (sequences, heads, length,
            head_dim) each, and the weights, (sequences, heads, length, length).
        at_once: sequences, at least 1.
    """
    instance("model", model, Transformer)
    watched = with_scheme(model, model.scheme)
    watched.scheme = _Watched(model.scheme, see, 0)
    for start in range(0, len(tokens), check_int("at_once", at_once)):
        watched(tokens[start : start + at_once])


def attention_by_distance(model: Transformer, tokens: Tensor, asked: int) -> np.ndarray:
    """Where the heads look: the mean weight at every distance, over the last queries of texts.

    Args:
        model: a decoder.
        tokens: texts, shape (sequences, length).
        asked: how many of the last queries count.

    Returns:
        shape (layers, heads, length); a row sums to 1 but for the distances that not all of these queries have.
    """
    length = tokens.shape[1]
    total = np.zeros((model.config.n_layers, model.config.n_heads, length))

    def see(layer: int, q: Tensor, k: Tensor, weights: Tensor) -> None:
        for back in range(check_int("asked", asked)):
            seen = weights[:, :, length - 1 - back].flip(-1)[..., back:]  # distance 0 first
            total[layer, :, : length - back] += seen.sum(dim=0).double().numpy()

    watch(model, tokens, see, max(1, 2**24 // (length**2 * model.config.n_heads)))
    return total / (len(tokens) * asked)


class MeanProducts(NamedTuple):
    """E[q k̄] of a trained rotated model, in logits (divided by √head_dim)."""

    by_content: np.ndarray  # complex, (layers, heads, pairs): over late queries and the keys of the first half
    by_distance: np.ndarray  # complex, (layers, heads, pairs, length): over all queries and keys so far apart


def mean_products(model: Transformer, run: Run, tokens: Tensor, queries: int = 32) -> MeanProducts:
    """What queries and keys have in common in every pair, whatever they say.

    Args:
        model: trained with rotation.
        run: its run.
        tokens: texts, shape (sequences, length), no longer than it was trained on.
        queries: of each text, the last ones; the keys are those of its first half, so that all are far.

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

    def see(layer: int, q: Tensor, k: Tensor, weights: Tensor) -> None:
        both = (x.double().reshape(*x.shape[:-1], pairs, 2) for x in (q, k))
        turned, keys = (torch.view_as_complex(x.contiguous()) for x in both)
        late, early = turned[:, :, -queries:].mean(dim=2), keys[:, :, : length // 2].mean(dim=2)
        content[layer] += (late * early.conj()).sum(dim=0).numpy()
        # The sum over all positions of q at t and k at t − m is a correlation.
        size = 2 * length
        spectrum = torch.fft.fft(turned, size, dim=2) * torch.fft.fft(keys, size, dim=2).conj()
        distance[layer] += torch.fft.ifft(spectrum, dim=2)[:, :, :length].sum(dim=0).movedim(1, -1).numpy()

    watch(model, tokens, see, 16)
    scale = len(tokens) * np.sqrt(model.config.head_dim)
    return MeanProducts(content / scale, distance / (scale * np.arange(length, 0, -1)))


def learned_minus(products: np.ndarray, run: Run, count: int = 3) -> list[int]:
    """The pairs of a run whose mean wave pushes far words down the most, by `posenc.lab.mean_wave.deepest`.

    Args:
        products: of one layer, complex, shape (heads, pairs).
        run: the run of the model.
        count: how many.
    """
    check_rotary(run)
    frequencies = inv_freq(run.settings.head_dim, run.scheme_options[1]["base"])
    return deepest(products, frequencies, run.settings.length, check_int("count", count))


class HeldWave(PositionScheme):
    """A rotary scheme in which the mean wave of some pairs stays, past the trained length, at what it was on average.

    One number for each layer, head and distance is added to the logits; what the words say is left as it is.

    Args:
        scheme: that the model was trained with.
        products: E[q k̄] of every layer, complex, shape (layers, heads, pairs).
        frequencies: in radians per token, shape (pairs,).
        pairs: which are held, by layer.
        trained: length in tokens; the mean is over the second half of it.
    """

    injection_point = "query and key"
    causal = True

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
        self._products, self._frequencies, self._pairs, self._trained = products, frequencies, pairs, trained

    def for_layer(self, index: int) -> PositionScheme:
        scheme = self.within.for_layer(index)
        return HeldWave(scheme, self._products, self._frequencies, self._pairs, self._trained, index)

    def _rotate(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> tuple[Tensor, Tensor]:
        return self.within.rotate(q, k, positions, key_positions)

    def _bias(self, q: Tensor, k: Tensor, positions: Tensor, key_positions: Tensor) -> Tensor | None:
        trained = self._trained
        distances = (-relative_positions(positions, key_positions)).clamp(min=0).long()
        pairs = list(self._pairs.get(self.layer, ()))
        every = np.arange(int(distances.max()) + 1)
        products = self._products[self.layer][:, pairs]
        wave = mean_wave(products, self._frequencies[pairs], every).sum(axis=1)  # (heads, n)
        added = held(wave, trained) - wave
        return torch.as_tensor(added, dtype=q.dtype, device=q.device)[:, distances]

    def _logit_scale(self, head_dim: int, n_keys: int) -> float:
        return self.within.logit_scale(head_dim, n_keys)
