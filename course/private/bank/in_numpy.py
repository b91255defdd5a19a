"""Answers in NumPy to questions that take tensors or arrays, by assignment: wrong ones with a sentence, right ones."""

# An answer stands beside or below its name and its sentence.
# fmt: off

from __future__ import annotations

from typing import Any

Answers = dict[str, Any]


def _attention(
    scores: str = "q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])",
    closed: str = "np.where(ahead, -np.inf, scores)",
    axis: int = -1,
    powers: str = "np.exp(scores - scores.max({axis}, keepdims=True))",
    returned: str = "weights @ v, weights",
) -> str:
    return f"""
def attention(q, k, v, causal):
    scores = {scores}
    if causal:
        ahead = np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)
        scores = {closed}
    powers = {powers.format(axis=axis)}
    weights = powers / powers.sum({axis}, keepdims=True)
    return {returned}
"""


def _half(turned: str = "a * cos - b * sin, a * sin + b * cos", axis: str = "[..., None, :]") -> str:
    return f"""
def half(x, cos, sin):
    n = cos.shape[-1]
    cos, sin = cos{axis}, sin{axis}
    a, b, rest = x[..., :n], x[..., n : 2 * n], x[..., 2 * n :]
    return np.concatenate([{turned}, rest], axis=-1)
"""


def _to_half(shape: str = "(heads, -1, 2, *weight.shape[1:])", names: str = "('q', n_heads), ('k', n_kv_heads)") -> str:
    return f"""
def to_half(checkpoint, n_heads, n_kv_heads):
    new = dict(checkpoint)
    for letter, heads in ({names},):
        for name in (letter + ".weight", letter + ".bias"):
            if name in checkpoint:
                weight = checkpoint[name]
                new[name] = np.swapaxes(weight.reshape{shape}, 1, 2).reshape(weight.shape)
    return new
"""


def _stretches(
    top: str = "logits.max(-1, keepdims=True)",
    targets: str = "targets",
    mean: str = "np.where(asked, loss, 0).reshape(cut).sum((0, 2)) / asked.reshape(cut).sum((0, 2))",
) -> str:
    return f"""
def loss_by_stretch(logits, targets, width):
    targets = {targets}
    asked = targets != -100
    below = logits - {top}
    logs = below - np.log(np.exp(below).sum(-1, keepdims=True))
    loss = -np.take_along_axis(logs, np.where(asked, targets, 0)[..., None], -1)[..., 0]
    cut = (len(targets), -1, width)
    return {mean}
"""


WRONG: dict[int, dict[str, Answers]] = {
    1: {
        "q1": {
            "NumPy, no scale": ("undivided", _attention("q @ np.swapaxes(k, -1, -2)")),
            "NumPy, softmax over the queries": ("the softmax runs over the queries", _attention(axis=-2)),
            "NumPy, nothing masked": ("nothing is masked", _attention(closed="scores")),
            "NumPy, masked with score 0": ("a score of 0",
                _attention(closed="np.where(ahead, 0, scores)")),
            "NumPy, masked with -100": ("must be lower still", _attention(closed="np.where(ahead, -100.0, scores)")),
            "NumPy, bare exponential": ("the result isn't finite where", _attention(powers="np.exp(scores)")),
            "NumPy, weights first": ("in the wrong order", _attention(returned="weights, weights @ v")),
            "NumPy, k.T": (None, _attention("q @ k.T / np.sqrt(q.shape[-1])")),
        },
        "q2": {
            "NumPy, the wrong way round": ("in the opposite direction", """
def reordered(output, weights, order):
    back = np.argsort(order)
    return output[..., back, :], weights[..., back, :][..., back]"""),
            "NumPy, only the rows": ("only the rows of", """
def reordered(output, weights, order):
    return np.take(output, order, axis=-2), np.take(weights, order, axis=-2)"""),
        },
    },
    2: {
        "q4": {
            "NumPy, no axis for the heads": ("the table runs along", _half(axis="")),
            "NumPy, sign flipped": ("the rotation has the", _half("a * cos + b * sin, b * cos - a * sin")),
        },
        "q5": {
            "NumPy, the way back": ("this is the conversion", _to_half("(heads, 2, -1, *weight.shape[1:])")),
            "NumPy, W_V as well": ("the rows of W_V",
                _to_half(names="('q', n_heads), ('k', n_kv_heads), ('v', n_kv_heads)")),
            "NumPy, only W_Q": ("the rows of W_K", _to_half(names="('q', n_heads)")),
        },
    },
    4: {
        "q6": {
            "NumPy, exponentials of thousands": (None, _stretches("0")),
            "NumPy, the mean of everything": (None, _stretches(mean="loss.reshape(cut).mean((0, 2))")),
            "NumPy, a mean of means": (None,
                _stretches(mean="(np.where(asked, loss, 0).reshape(cut).sum(2) / asked.reshape(cut).sum(2)).mean(0)")),
            "NumPy, targets shifted": (None, _stretches(targets="np.roll(targets, -1, axis=1)")),
        }
    },
}

RIGHT: dict[int, dict[str, Answers]] = {
    1: {
        "q1": {"NumPy": _attention()},
        "q2": {
            "NumPy": """
def reordered(output, weights, order):
    return np.take(output, order, axis=-2), np.take(np.take(weights, order, axis=-2), order, axis=-1)
"""
        },
    },
    2: {
        "q4": {"NumPy": _half()},
        "q5": {"NumPy": _to_half()},
    },
    4: {"q6": {"NumPy": _stretches()}},
}
