"""The forward pass of the Transformer for NumPy arrays and torch tensors alike, with what happens inside."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

from posenc._arrays import Array, check_bool, describe, device_of, is_torch, namespace
from posenc.attention import attention
from posenc.schemes import PositionScheme
from posenc.transformer.config import TransformerConfig

_OF_LAYER = ("attention_norm", "qkv", "out", "mlp_norm", "mlp.0", "mlp.2")


class LayerForward(NamedTuple):
    """What happens inside a layer."""

    q: Array  # queries before rotation, (batch, heads, length, head_dim)
    k: Array  # keys before rotation, likewise
    weights: Array  # attention weights, (batch, heads, length, length)


class Forward(NamedTuple):
    """The result of `forward`."""

    logits: Array  # (batch, length, vocab_size), or (batch, n_classes)
    layers: tuple[LayerForward, ...]  # empty unless asked for


def forward(
    weights: Mapping[str, Array],
    tokens: Array,
    config: TransformerConfig,
    scheme: PositionScheme,
    *,
    positions: Array = None,
    mask: Array = None,
    with_layers: bool = False,
) -> Forward:
    """The logits of a Transformer whose weights are arrays, and what its layers compute on the way.

    The same as a `Transformer` in evaluation mode, without a cache. It keeps the logits of attention of a whole layer
    in memory: heads·length² numbers for each sequence.

    Args:
        weights: by the names of a Transformer's state dict, floats of one dtype, in which all is computed. The
            scheme's own are not read, since the scheme has them.
        tokens: int64 or int32, from 0 to vocab_size − 1, shape (batch, length).
        config: the shape of the model.
        scheme: any of `posenc.schemes`, for heads of config.head_dim and the same `causal`.
        positions: of the tokens, shape (length,), (1, length) or (batch, length); None: consecutive, from 0.
        mask: booleans, True where a query may attend, as for `posenc.attention.attention`; a causal model also masks
            later keys. None: all pairs.
        with_layers: whether queries, keys and attention weights of every layer are returned.

    Raises:
        TypeError, ValueError: arguments of another kind or shape, weights that lack one of the model's, or arrays of
            two libraries.

    >>> import numpy as np
    >>> from posenc.lab import load_weights
    >>> weights, scheme, run = load_weights("two_layers-text-rope_100-0")
    >>> result = forward(weights, np.array([[100, 101, 102]]), run.config(), scheme, with_layers=True)
    >>> result.logits.shape, result.layers[1].weights[0, 0].sum(axis=-1).round(3).tolist()
    ((1, 3, 128), [1.0, 1.0, 1.0])
    """
    if not isinstance(config, TransformerConfig):
        raise TypeError(f"config must be a TransformerConfig, got {describe(config)}")
    config.check(scheme)
    config.check_tokens(tokens)
    check_bool("with_layers", with_layers)
    check_weights(weights, config)
    xp = namespace(tokens, weights["head.weight"])
    (batch, length), heads, dim = tokens.shape, config.n_heads, config.dim
    if positions is None:
        positions = xp.arange(length, device=device_of(tokens))
    x = scheme.embed(weights["embedding.weight"][tokens], positions)  # (batch, length, dim)
    layers = []
    for index in range(config.n_layers):
        at = scheme.for_layer(index)
        norm, qkv, out, mlp_norm, up, down = (weights[f"layers.{index}.{name}.weight"] for name in _OF_LAYER)
        parts = xp.reshape(_normalised(x, norm) @ qkv.T, (batch, length, 3, heads, config.head_dim))
        q, k, v = (xp.permute_dims(parts[:, :, part], (0, 2, 1, 3)) for part in range(3))  # (batch, heads, length, …)
        rotated_q, rotated_k = at.rotate(q, k, positions)
        bias, scale = at.bias(rotated_q, rotated_k, positions), at.logit_scale(config.head_dim, length)
        mixed = attention(rotated_q, rotated_k, v, causal=config.causal, bias=bias, mask=mask, scale=scale)
        x = x + xp.reshape(xp.permute_dims(mixed.output, (0, 2, 1, 3)), (batch, length, dim)) @ out.T
        x = x + _gelu(_normalised(x, mlp_norm) @ up.T) @ down.T
        if with_layers:
            layers.append(LayerForward(q, k, mixed.weights))
    x = _normalised(x, weights["norm.weight"])
    return Forward((x if config.n_classes is None else xp.mean(x, axis=1)) @ weights["head.weight"].T, tuple(layers))


def _shapes(config: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """The names and shapes of a Transformer's weights, but for its scheme's."""
    dim, mlp_dim = config.dim, config.mlp_dim or 4 * config.dim
    of_layer = ((dim,), (3 * dim, dim), (dim, dim), (dim,), (mlp_dim, dim), (dim, mlp_dim))
    layers = {
        f"layers.{index}.{name}.weight": shape
        for index in range(config.n_layers)
        for name, shape in zip(_OF_LAYER, of_layer, strict=True)
    }
    outputs = config.n_classes or config.vocab_size
    outer = {"embedding": (config.vocab_size, dim), "norm": (dim,), "head": (outputs, dim)}
    return layers | {f"{name}.weight": shape for name, shape in outer.items()}


def check_weights(weights: Mapping[str, Array], config: TransformerConfig) -> None:
    """Checks that all are there, in the shapes of the configuration."""
    if not isinstance(weights, Mapping):
        raise TypeError(f"weights must be a mapping from names to arrays, got {describe(weights)}")
    for name, shape in _shapes(config).items():
        if tuple(getattr(weights.get(name), "shape", ())) != shape:
            raise ValueError(f"weights must have {name} of shape {shape}, got {describe(weights.get(name))}")


def _normalised(x: Array, weight: Array) -> Array:
    """RMSNorm: x / √(mean of x² + ε) times a weight, with ε as in torch, the dtype's."""
    xp = namespace(x)
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + xp.finfo(x.dtype).eps) * weight


def _gelu(x: Array) -> Array:
    """x·Φ(x) with the cumulative normal distribution Φ(x) = (1 + erf(x/√2))/2, which the array API lacks.

    Without torch, erf is that of Abramowitz and Stegun 1964, formula 7.1.26, right to 1.5e-7.
    """
    if is_torch(x):
        gelu: Any = import_module("torch").nn.functional.gelu
        return gelu(x)
    xp = namespace(x)
    size = xp.abs(x) * 0.5**0.5
    t = 1 / (1 + 0.3275911 * size)
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return 0.5 * x * (1 + xp.sign(x) * (1 - series * xp.exp(-size * size)))
