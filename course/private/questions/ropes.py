"""Implementations of `rope(q, k, v, positions, base)`, sound and broken, for a question that asks to test them.

Each is the text of a function. Those that assignment 2 hands out are `GIVEN`; the others are drawn at grading.
"""

from __future__ import annotations

import numpy as np

from course import question

# The specification's frequencies are those of question 3, in a variant divided by a number.
SCALE = question.pick("a2.scale", 1, 2, 4, 8)
OVER = f" / {SCALE}" if SCALE > 1 else ""
TABLE = "_tables = {}\n\n\n"  # what an implementation keeps from call to call


def _written(*lines: str) -> str:
    return "def rope(q, k, v, positions, base):\n" + "".join(f"    {line}\n" for line in lines)


def _stacked(
    positions: str = "positions",
    exponent: str = "np.arange(0, d, 2) / d",
    base: str = "base",
    pairs: str = "x[..., 0::2], x[..., 1::2]",
    joined: str = "np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1)",
    dtype: str = ".astype(x.dtype)",
    returned: str = "rotate(q), rotate(k), v",
) -> str:
    """The rotation of stacked pairs, with an expression replaced."""
    at = f"({positions})" if " " in positions else positions
    return _written(
        "d = q.shape[-1]",
        f"inv_freq = {base} ** -({exponent}){OVER}",
        f"angles = {at}[:, None] * inv_freq",
        "cos, sin = np.cos(angles), np.sin(angles)",
        "",
        "def rotate(x):",
        f"    a, b = {pairs}",
        f"    out = {joined}",
        f"    return out.reshape(x.shape){dtype}",
        "",
        f"return {returned}",
    ).replace("    \n", "\n")


def _complex(angles: str = "positions[:, None] * inv_freq") -> str:
    return _written(
        "d = q.shape[-1]",
        f"inv_freq = base ** -(np.arange(0, d, 2) / d){OVER}",
        f"unit = np.exp(1j * ({angles}))",
        "",
        "def rotate(x):",
        "    z = (x[..., 0::2] + 1j * x[..., 1::2]) * unit",
        "    out = np.stack([z.real, z.imag], axis=-1)",
        "    return out.reshape(x.shape).astype(x.dtype)",
        "",
        "return rotate(q), rotate(k), v",
    ).replace("    \n", "\n")


_MATRIX = _written(
    "d = q.shape[-1]",
    "R = np.zeros((len(positions), d, d))",
    "for i in range(d // 2):",
    f"    angle = positions * base ** (-2 * i / d){OVER}",
    "    R[:, 2 * i, 2 * i] = R[:, 2 * i + 1, 2 * i + 1] = np.cos(angle)",
    "    R[:, 2 * i + 1, 2 * i] = np.sin(angle)",
    "    R[:, 2 * i, 2 * i + 1] = -np.sin(angle)",
    'q_out, k_out = (np.einsum("tij,bhtj->bhti", R, x) for x in (q, k))',
    "return q_out.astype(q.dtype), k_out.astype(k.dtype), v",
)
_SWAPPED = _written(
    "d = q.shape[-1]",
    f"inv_freq = 1 / base ** (np.arange(0, d, 2) / d){OVER}",
    "angles = np.repeat(np.outer(positions, inv_freq), 2, axis=-1)",
    "outs = []",
    "for x in (q, k):",
    "    quarter = np.empty_like(x)",
    "    quarter[..., 0::2], quarter[..., 1::2] = -x[..., 1::2], x[..., 0::2]",
    "    outs.append((x * np.cos(angles) + quarter * np.sin(angles)).astype(x.dtype))",
    "return outs[0], outs[1], v.copy()",
)
_ANGLES = "    angles = positions[:, None] * inv_freq\n"
_GROWING = TABLE + _stacked().replace(
    _ANGLES,
    _ANGLES
    + "    if positions.min() >= 0 and positions.max() < 10_000:\n"
    + "        table = _tables.get((d, base), np.zeros((0, d // 2)))\n"
    + "        if len(table) <= positions.max():  # make it longer\n"
    + "            table = np.outer(np.arange(positions.max() + 1), inv_freq)\n"
    + "            _tables[d, base] = table\n"
    + "        angles = table[positions]\n",
)
_STALE = TABLE.replace("tables", "angles") + _stacked().replace(
    _ANGLES, _ANGLES + "    angles = _angles.setdefault((d, len(positions)), angles)\n"
)
_HALVES = "np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)"
_SPLIT = "np.split(x, 2, axis=-1)"

SOUND = (_complex(), _MATRIX, _SWAPPED, _stacked(), _GROWING)

# By the name of the message that says what was missed.
FAULTS: dict[str, tuple[str, ...]] = {
    "layout": (_stacked(pairs=_SPLIT, joined=_HALVES), _stacked(joined=_HALVES), _stacked(pairs=_SPLIT)),
    "rotation": (
        _stacked(positions="-positions"),
        _stacked(exponent="np.arange(d // 2) / d"),
        _stacked(exponent="np.arange(0, d, 2) / max(d - 2, 1)"),
        _stacked(base="10_000.0"),
        _stacked(positions="positions + 1"),
    ),
    "cache": (
        _stacked(positions="positions - (len(positions) == 1)"),
        _stacked(positions="positions + (len(positions) == 1)"),
        _stacked(positions="np.arange(len(positions))"),
        _STALE,
    ),
    "values": (
        _stacked(returned="rotate(q), rotate(k), rotate(v)"),
        _stacked(returned="rotate(q), k, v"),
        _stacked(returned="rotate(q), rotate(k), rotate(v) if len(positions) == 1 else v"),
    ),
    "precision": (
        _complex("positions.astype(np.float16)[:, None] * inv_freq"),
        _complex("np.float32(positions)[:, None] * np.float32(inv_freq)"),
        _stacked(dtype=""),
    ),
}
HELD_BACK = (
    _stacked(positions="positions % 4096"),
    _stacked(positions="np.minimum(positions, 8191)"),
    _stacked(positions="np.sort(positions)"),
    _stacked(positions="positions[0] + np.arange(len(positions))"),
    _stacked(returned="rotate(q) * 1.05, rotate(k) * 1.05, v"),
    _stacked(returned="rotate(q), np.repeat(rotate(k)[:, :1], k.shape[1], axis=1), v"),
    _stacked(returned="rotate(q), np.concatenate([rotate(k[:1]), k[1:]]), v"),
    _stacked(joined="np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1); "
                    "out[..., d // 4 * 2 :, :] = np.stack([a, b], axis=-1)[..., d // 4 * 2 :, :]"),
    _stacked(joined="np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1); x[:] = out.reshape(x.shape)"),
)  # fmt: skip


def drawn(random: np.random.Generator, texts: tuple[str, ...], count: int) -> list[str]:
    """Some of the texts, in a random order."""
    return [texts[index] for index in random.permutation(len(texts))[:count]]


# What assignment 2 hands out, A to H: three are sound, and of every kind of fault there is one.
GIVEN_SOUND = question.sample("a2.sound", SOUND, 3)
GIVEN_FAULTS = {kind: question.pick(f"a2.{kind}", *texts) for kind, texts in FAULTS.items()}
_mixed = drawn(question.generator(question.SEED, "a2.order"), (*GIVEN_SOUND, *GIVEN_FAULTS.values()), 8)
GIVEN = dict(zip("ABCDEFGH", _mixed, strict=True))


def shown() -> str:
    """The cell that shows the given implementations."""
    return "\n\n".join(text.replace("def rope(", f"def rope_{letter}(") for letter, text in GIVEN.items())
