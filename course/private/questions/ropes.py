"""Implementations of `rope(q, k, v, positions, base)`, sound and broken, for a question that asks to test them.

Each is the text of a function. Those that assignment 2 hands out are `GIVEN`; the others are drawn at grading.
"""

from __future__ import annotations

import numpy as np

HEAD = "def rope(q, k, v, positions, base):\n"


def written(*lines: str) -> str:
    """An implementation with these lines."""
    return HEAD + "".join(f"    {line}\n" for line in lines)


def _stacked(
    positions: str = "positions",
    exponent: str = "np.arange(0, d, 2) / d",
    base: str = "base",
    pairs: str = "x[..., 0::2], x[..., 1::2]",
    joined: str = "np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)",
    dtype: str = ".astype(x.dtype)",
    returned: str = "rotate(q), rotate(k), v",
    first: tuple[str, ...] = (),
) -> str:
    """The rotation of stacked pairs, with an expression replaced."""
    return written(
        *first,
        "d = q.shape[-1]",
        f"theta = {base} ** -({exponent})",
        f"angles = ({positions})[:, None] * theta",
        "cos, sin = np.cos(angles), np.sin(angles)",
        "def rotate(x):",
        f"    a, b = {pairs}",
        f"    return {joined}{dtype}",
        f"return {returned}",
    )


def _complex(theta: str = "base ** -(np.arange(0, d, 2) / d)", angles: str = "positions[:, None] * theta") -> str:
    return written(
        "d = q.shape[-1]",
        f"theta = {theta}",
        f"unit = np.exp(1j * ({angles}))",
        "def rotate(x):",
        "    z = (x[..., 0::2] + 1j * x[..., 1::2]) * unit",
        "    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape).astype(x.dtype)",
        "return rotate(q), rotate(k), v",
    )


_MATRIX = written(
    "d = q.shape[-1]",
    "R = np.zeros((len(positions), d, d))",
    "for i in range(d // 2):",
    "    angle = positions * base ** (-2 * i / d)",
    "    R[:, 2 * i, 2 * i] = R[:, 2 * i + 1, 2 * i + 1] = np.cos(angle)",
    "    R[:, 2 * i + 1, 2 * i] = np.sin(angle)",
    "    R[:, 2 * i, 2 * i + 1] = -np.sin(angle)",
    "rotate = lambda x: np.einsum('tij,bhtj->bhti', R, x).astype(x.dtype)",
    "return rotate(q), rotate(k), v",
)
_SWAPPED = written(
    "d = q.shape[-1]",
    "angles = np.repeat(positions[:, None] / base ** (np.arange(0, d, 2) / d), 2, axis=-1)",
    "def rotate(x):",
    "    quarter = np.empty_like(x)",
    "    quarter[..., 0::2], quarter[..., 1::2] = -x[..., 1::2], x[..., 0::2]",
    "    return (x * np.cos(angles) + quarter * np.sin(angles)).astype(x.dtype)",
    "return rotate(q), rotate(k), v.copy()",
)
_GROWING = "_tables = {}\n" + _stacked(
    first=(
        "d, most = q.shape[-1], int(positions.max())",
        "if len(_tables.get((d, base), ())) <= most and most < 100_000:",
        "    _tables[d, base] = np.outer(np.arange(most + 1), base ** -(np.arange(0, d, 2) / d))",
        "if most < 100_000 and positions.min() >= 0:",
        "    angles = _tables[d, base][positions]",
        "else:",
        "    angles = np.outer(positions, base ** -(np.arange(0, d, 2) / d))",
    )
).replace("    angles = (positions)[:, None] * theta\n", "")
_STALE = "_tables = {}\n" + _stacked().replace(
    "    cos, sin", "    angles = _tables.setdefault((d, len(positions)), angles)\n    cos, sin"
)

SOUND = (_complex(), _stacked(), _MATRIX, _SWAPPED, _GROWING)

_HALVES = _stacked(pairs="np.split(x, 2, axis=-1)", joined="np.concatenate([a * cos - b * sin, a * sin + b * cos], -1)")
_ONE_TOKEN = "positions {} (len(positions) == 1)"
_FLOAT16 = _complex(angles="positions.astype(np.float16)[:, None] * theta")

# By the name of the message that says what was missed.
FAULTS: dict[str, tuple[str, ...]] = {
    "layout": (
        _HALVES,
        _stacked(joined="np.concatenate([a * cos - b * sin, a * sin + b * cos], -1)"),
        _stacked(pairs="np.split(x, 2, axis=-1)"),
    ),
    "rotation": (
        _stacked(positions="-positions"),
        _stacked(exponent="np.arange(d // 2) / d"),
        _stacked(exponent="np.arange(0, d, 2) / (d - 2) if d > 2 else np.zeros(1)"),
        _stacked(base="10_000.0"),
        _stacked(positions="positions + 1"),
    ),
    "cache": (
        _stacked(positions=_ONE_TOKEN.format("-")),
        _stacked(positions=_ONE_TOKEN.format("+")),
        _stacked(positions="np.arange(len(positions))"),
        _STALE,
    ),
    "values": (
        _stacked(returned="rotate(q), rotate(k), rotate(v)"),
        _stacked(returned="rotate(q), k, v"),
        _stacked(returned="rotate(q), rotate(k), rotate(v) if len(positions) == 1 else v"),
    ),
    "precision": (
        _FLOAT16,
        _stacked(positions="positions.astype(np.float32)").replace("= base **", "= np.float32(base) **"),
        _stacked(dtype=""),
    ),
}
HELD_BACK = (
    _stacked(positions="positions % 4096"),
    _stacked(positions="np.minimum(positions, 8191)"),
    _stacked(positions="np.sort(positions)"),
    _stacked(positions="positions[0] + np.arange(len(positions))"),
    _stacked(positions="np.abs(positions - positions[0]) + positions[0]"),
    _stacked(returned="rotate(q) * 1.05, rotate(k) * 1.05, v"),
    _stacked(returned="rotate(q), rotate(k)[:, : 1].repeat(k.shape[1], axis=1), v"),
    _stacked(returned="rotate(q), np.concatenate([rotate(k[:1]), k[1:]]), v"),
    written("d = q.shape[-1] // 4 * 4", *_stacked().splitlines()[2:7], "    a, b = x[..., 0:d:2], x[..., 1:d:2]",
            "    out = x.copy()",
            "    out[..., 0:d:2], out[..., 1:d:2] = a * cos - b * sin, a * sin + b * cos",
            "    return out", "return rotate(q), rotate(k), v"),
    written("d = q.shape[-1]", *_stacked().splitlines()[2:5], "for x in (q, k):",
            "    a, b = x[..., 0::2].copy(), x[..., 1::2].copy()",
            "    x[..., 0::2], x[..., 1::2] = a * cos - b * sin, a * sin + b * cos", "return q, k, v"),
)  # fmt: skip

# What assignment 2 shows, A to H: three are sound.
GIVEN = {
    "A": _complex(),
    "B": _HALVES,
    "C": _stacked(positions="-positions"),
    "D": _MATRIX,
    "E": _stacked(positions=_ONE_TOKEN.format("-")),
    "F": _stacked(returned="rotate(q), rotate(k), rotate(v)"),
    "G": _FLOAT16,
    "H": _SWAPPED,
}
SOUND_GIVEN = ("A", "D", "H")


def drawn(random: np.random.Generator, texts: tuple[str, ...], count: int) -> list[str]:
    """Some of the texts, in a random order."""
    return [texts[index] for index in random.permutation(len(texts))[:count]]


def shown() -> str:
    """The cell that shows the given implementations."""
    parts = [text.replace("def rope(", f"def rope_{letter}(") for letter, text in GIVEN.items()]
    names = ", ".join(f'"{letter}": rope_{letter}' for letter in GIVEN)
    return "\n\n".join(parts) + f"\n\nROPES = {{{names}}}"
