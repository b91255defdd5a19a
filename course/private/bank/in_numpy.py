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


def _rotation(entries: str = "cos, -sin, sin, cos", angle: str = "positions * theta") -> str:
    a, b, c, d = entries.split(", ")
    return f"""
def rotation(positions, theta):
    angle = {angle}
    cos, sin = np.cos(angle), np.sin(angle)
    rows = [np.stack([{a}, {b}], axis=-1), np.stack([{c}, {d}], axis=-1)]
    return np.stack(rows, axis=-2)
"""


def _scores(result: str) -> str:
    return f"""
def scores(q, k, m, n, theta):
    a, b = (q * np.exp(1j * m * theta))[:, None], k * np.exp(1j * n * theta)
    return {result}
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


def _step(
    angle: str = "position[:, None, None, None] * speeds",
    turned: str = "turn(q), turn(k), v",
    wide: str = "np.repeat(keys, n, axis=1), np.repeat(values, n, axis=1)",
    logits: str = "q @ np.swapaxes(wide_keys, -1, -2) / np.sqrt(q.shape[-1])",
) -> str:
    return f"""
def decode_step(q, k, v, cache, position, speeds):
    angle = {angle}
    cos, sin = np.cos(angle), np.sin(angle)

    def turn(x):
        a, b = x[..., 0::2], x[..., 1::2]
        return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)

    q, keys, values = {turned}
    if cache is not None:
        keys = np.concatenate([cache[0], keys], axis=2)
        values = np.concatenate([cache[1], values], axis=2)
    n = q.shape[1] // keys.shape[1]
    wide_keys, wide_values = {wide}
    logits = {logits}
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True) @ wide_values, (keys, values)
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
            "NumPy, masked with score 0": ("a score of 0 does not close a pair",
                _attention(closed="np.where(ahead, 0, scores)")),
            "NumPy, masked with -100": ("must be lower still", _attention(closed="np.where(ahead, -100.0, scores)")),
            "NumPy, bare exponential": ("runs out of range", _attention(powers="np.exp(scores)")),
            "NumPy, weights first": ("in the wrong order", _attention(returned="weights, weights @ v")),
            "NumPy, k.T": (None, _attention("q @ k.T / np.sqrt(q.shape[-1])")),
        },
        "q2": {
            "NumPy, the wrong way round": ("opposite way", """
def reordered(output, weights, order):
    back = np.argsort(order)
    return output[..., back, :], weights[..., back, :][..., back]"""),
            "NumPy, only the rows": ("those who are asked have moved", """
def reordered(output, weights, order):
    return np.take(output, order, axis=-2), np.take(weights, order, axis=-2)"""),
        },
        "q5": {
            "NumPy, scaled by the width": ("not by its root", """
def placed(x, table, start):
    return np.multiply(x.shape[-1], x) + table[start : start + x.shape[1]]"""),
            "NumPy, sum scaled": ("scaled together", """
def placed(x, table, start):
    return np.sqrt(x.shape[-1]) * (x + table[start : start + x.shape[1]])"""),
            "NumPy, into its input": ("changes an input in place", """
def placed(x, table, start):
    x *= np.sqrt(x.shape[-1])
    return x + table[start : start + x.shape[1]]"""),
        },
    },
    2: {
        "q1": {
            "NumPy, sign flipped": ("turns the wrong way", _rotation("cos, sin, -sin, cos")),
            "NumPy, degrees": ("taken for degrees", _rotation(angle="np.deg2rad(positions * theta)")),
            "NumPy, no minus": ("a sine lacks its sign", _rotation("cos, sin, sin, cos")),
            "NumPy, counts": ("counted 0, 1, 2", _rotation(angle="np.arange(len(positions)) * theta")),
        },
        "q2": {
            "NumPy, still complex": ("still complex", _scores("a * b.conj()")),
            "NumPy, no conjugate": ("conjugate is missing", _scores("(a * b).real")),
            "NumPy, transposed": ("lies on its side", _scores("(a * b.conj()).real.T")),
            "NumPy, not turned": ("without their positions", _scores("(q[:, None] * np.conj(k)).real")),
        },
        "q4": {
            "NumPy, no axis for the heads": ("every head is turned by its number", _half(axis="")),
            "NumPy, sign flipped": ("turns the wrong way", _half("a * cos + b * sin, b * cos - a * sin")),
        },
        "q5": {
            "NumPy, the way back": ("the way from half to interleaved", _to_half("(heads, 2, -1, *weight.shape[1:])")),
            "NumPy, W_V as well": ("values are never turned",
                _to_half(names="('q', n_heads), ('k', n_kv_heads), ('v', n_kv_heads)")),
            "NumPy, only W_Q": ("rows of W_K have kept", _to_half(names="('q', n_heads)")),
        },
        "q6": {
            "NumPy, rotates v": ("values are turned too", _step(turned="turn(q), turn(k), turn(v)")),
            "NumPy, no scale": ("not divided by √d", _step(logits="q @ np.swapaxes(wide_keys, -1, -2)")),
            "NumPy, 1-indexed": ("start at 1", _step("(position + 1)[:, None, None, None] * speeds")),
            "NumPy, heads in turn": (None, _step(wide="np.tile(keys, (1, n, 1, 1)), np.tile(values, (1, n, 1, 1))")),
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
        "q5": {
            "NumPy": """
def placed(x, table, start):
    return np.sqrt(x.shape[-1]) * x + table[start : start + x.shape[1]]
"""
        },
    },
    2: {
        "q1": {"NumPy throughout": _rotation()},
        "q2": {"NumPy": _scores("(a * b.conj()).real")},
        "q4": {"NumPy": _half()},
        "q5": {"NumPy": _to_half()},
        "q6": {"NumPy": _step()},
    },
    4: {"q6": {"NumPy": _stretches()}},
}
