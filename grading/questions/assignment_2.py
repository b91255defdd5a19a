"""Assignment 2, "RoPE": one pair, its score, whole heads in two layouts, a checkpoint, a cache.

The right values are those of `posenc.rotary` and `posenc.attention`; a mistake is written as a change to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from grading.questions.question import Answer, Assignment, Case, Mistake, Part, Question
from posenc._arrays import Array
from posenc.attention import attention
from posenc.frequencies import angles, inv_freq
from posenc.rotary import RotaryTable, convert_projection, rotary_table, rotate, rotation_matrix

N = 2
OTHER_WAY = "it turns the wrong way: a positive angle should take (1, 0) towards (0, 1), anticlockwise"
NOT_TURNED = "nothing is turned: what comes back does not depend on the positions"
DEGREES = "the angles seem to be taken for degrees: cosines and sines of torch want radians"
FROM_ONE = "positions seem to start at 1: a token at position 0 is not to be turned at all"
COUNTED = "the positions that were passed are not used: they seem to be counted 0, 1, 2, … instead"
HALVES = "pairs (i, i + d/2) were turned; this question asks for neighbours, (0, 1), (2, 3), …"
NEIGHBOURS = "pairs (0, 1), (2, 3), … were turned; this question asks for halves, (i, i + d/2)"
TWICE = (
    "the second number of each pair seems to be made from the first one after that was turned: both need the old ones"
)


def _normal(random: np.random.Generator, *shape: int) -> Tensor:
    return torch.from_numpy(random.normal(size=shape))


def _positions(random: np.random.Generator, *shape: int, most: int = 900) -> Tensor:
    """Whole positions, none twice, neither in order nor from 0."""
    drawn = random.choice(np.arange(3, most), size=shape, replace=False)
    return torch.from_numpy(np.atleast_1d(drawn).astype(np.int64))


def _base(random: np.random.Generator) -> float:
    """A base that nobody assumes."""
    return float(random.choice([50.0, 300.0, 2_000.0, 70_000.0, 500_000.0]))


# Question 1


def _rotation(positions: Tensor, theta: float) -> Any:
    return rotation_matrix(angles(positions, positions.new_tensor([theta])))


def _misprinted(row: int, column: int, value: Callable[[Tensor], Tensor]) -> Answer:
    """The rotation with one entry replaced."""

    def wrong(positions: Tensor, theta: float) -> Array:
        matrices = _rotation(positions, theta)
        matrices[:, row, column] = value(positions * theta)
        return matrices

    return wrong


def _stacked_in_front(positions: Tensor, theta: float) -> Tensor:
    return torch.stack([row for rows in _rotation(positions, theta).unbind(1) for row in rows.unbind(1)]).reshape(
        -1, 2, 2
    )


def _one_row(random: np.random.Generator) -> Iterator[Case]:
    for length in (1, 5, 8):
        yield Case(_positions(random, length, most=60).double(), float(random.uniform(0.2, 0.9)))


def _odd_places(random: np.random.Generator) -> Iterator[Case]:
    for length in (4, 7):
        yield Case(torch.from_numpy(random.uniform(-40, 40, size=length)), float(random.uniform(0.2, 0.9)))


q1 = Question(
    assignment=N,
    name="q1",
    title="One pair, by matrix",
    names=("rotation",),
    parts=(Part("whole positions", 1, cases=_one_row), Part("negative and fractional positions", 1, cases=_odd_places)),
    reference=_rotation,
    mistakes=(
        Mistake(OTHER_WAY, lambda p, theta: _rotation(-p, theta)),
        Mistake(DEGREES, lambda p, theta: _rotation(torch.deg2rad(p), theta)),
        Mistake(DEGREES, lambda p, theta: _rotation(torch.rad2deg(p), theta)),
        Mistake("the positions are left out: every matrix turns by θ alone", lambda p, t: _rotation(p * 0 + 1, t)),
        Mistake(NOT_TURNED, lambda p, theta: _rotation(p * 0, theta)),
        Mistake(FROM_ONE, lambda p, theta: _rotation(p + 1, theta)),
        Mistake(COUNTED, lambda p, theta: _rotation(torch.arange(len(p)).double(), theta)),
        Mistake("this is no rotation: a sine lacks its sign", _misprinted(0, 1, torch.sin)),
        Mistake("this is no rotation: both sines are negative", _misprinted(1, 0, lambda phi: -torch.sin(phi))),
        Mistake("this is no rotation: in the first row stands a cosine twice", _misprinted(0, 1, torch.cos)),
        Mistake(
            "sines and cosines have changed places: at position 0 the matrix should change nothing",
            lambda p, theta: _rotation(torch.pi / 2 - p * theta, 1.0),
        ),
        Mistake(
            "one matrix holds entries of several positions: the axis that torch.stack made is not where it should be",
            _stacked_in_front,
        ),
        Mistake(
            "positions between two tokens were cut to whole ones", lambda p, theta: _rotation(torch.trunc(p), theta)
        ),
        Mistake("θ is what is turned per token: multiply by it", lambda p, theta: _rotation(p, 1 / theta)),
        Mistake(
            "θ seems to be taken as turns per token: it is in radians per token already",
            lambda p, theta: _rotation(p, 2 * torch.pi * theta),
        ),
    ),
)

# Question 2


def _as_pairs(z: Tensor) -> Tensor:
    return torch.view_as_real(z)


def _scores(q: Tensor, k: Tensor, m: Tensor, n: Tensor, theta: float) -> Array:
    speed = torch.tensor([theta], dtype=torch.float64)
    turned_q, turned_k = rotate(_as_pairs(q), angles(m, speed)), rotate(_as_pairs(k), angles(n, speed))
    return turned_q @ turned_k.mT


def _cosine_only(q: Tensor, k: Tensor, m: Tensor, n: Tensor, theta: float) -> Tensor:
    distance = m[:, None] - n
    return (_as_pairs(q) @ _as_pairs(k).mT) * torch.cos(distance * theta)


def _either_side(q: Tensor, k: Tensor, m: Tensor, n: Tensor, theta: float) -> Tensor:
    distance = (m[:, None] - n).abs()
    return (q[:, None] * k.conj() * torch.exp(1j * distance * theta)).real


def _first_numbers(q: Tensor, k: Tensor, m: Tensor, n: Tensor, theta: float) -> Tensor:
    return (q * torch.exp(1j * m * theta)).real[:, None] * (k * torch.exp(1j * n * theta)).real


def _still_complex(q: Tensor, k: Tensor, m: Tensor, n: Tensor, theta: float) -> Tensor:
    side = _scores(q * -1j, k, m, n, theta)  # Re[−i z] = Im[z]
    return torch.complex(_scores(q, k, m, n, theta), side)


def _pair_case(random: np.random.Generator, queries: int, keys: int, first: str = "") -> Case:
    """Queries and keys at positions without order; with `first` all of one kind, "query" or "key", before the other."""
    q, k = (torch.view_as_complex(_normal(random, length, 2)) for length in (queries, keys))
    places = _positions(random, queries + keys, most=50).double()
    if first:
        places = places.sort(descending=first == "key").values
    return Case(q, k, places[:queries], places[queries:], float(random.uniform(0.15, 0.6)))


q2 = Question(
    assignment=N,
    name="q2",
    title="The score, by complex product",
    names=("scores",),
    parts=(
        Part(
            "one query and one key",
            1,
            cases=lambda random: (_pair_case(random, 1, 1, first) for first in ("key", "query", "key", "query")),
        ),
        Part(
            "every query with every key",
            2,
            cases=lambda random: (_pair_case(random, *lengths) for lengths in ((3, 5), (6, 4), (4, 4))),
        ),
    ),
    reference=_scores,
    tolerance=1e-4,
    mistakes=(
        Mistake("the scores are still complex numbers: only one part of each is the dot product", _still_complex),
        Mistake(
            "the conjugate is missing: the angles of query and key are added, where their difference is wanted",
            lambda q, k, m, n, theta: _scores(q, k.conj().resolve_conj(), m, -n, theta),
        ),
        Mistake(
            "these are the scores of a key as far away on the other side: the distance has the wrong sign",
            lambda q, k, m, n, theta: _scores(q, k, -m, -n, theta),
        ),
        Mistake(
            "the query and the key are compared without their positions",
            lambda q, k, m, n, theta: _scores(q, k, m * 0, n * 0, theta),
        ),
        Mistake("before and behind are taken for one: the distance has lost its sign", _either_side),
        Mistake(
            "only the first numbers of the two arrows are multiplied: their second ones count, too", _first_numbers
        ),
        Mistake("the imaginary part of q k̄ is lost: this is the dot product times a cosine", _cosine_only),
        Mistake("the key is turned backwards", lambda q, k, m, n, theta: _scores(q, k, m, -n, theta)),
        Mistake("the key is not turned, only the query", lambda q, k, m, n, theta: _scores(q, k, m, n * 0, theta)),
        Mistake("the query is not turned, only the key", lambda q, k, m, n, theta: _scores(q, k, m * 0, n, theta)),
        Mistake(
            "this is the imaginary part: it says on which side the query lies, not how far they agree",
            lambda q, k, m, n, theta: _scores(q * -1j, k, m, n, theta),
        ),
        Mistake(
            "this is the size of the product, and the size knows nothing of the distance",
            lambda q, k, m, n, theta: _still_complex(q, k, m, n, theta).abs(),
        ),
        Mistake(DEGREES, lambda q, k, m, n, theta: _scores(q, k, m, n, float(np.deg2rad(theta)))),
        Mistake(
            "the table lies on its side: queries are the rows, keys the columns",
            lambda q, k, m, n, theta: _scores(q, k, m, n, theta).mT,
        ),
        Mistake(
            "the lengths of query and key are divided out: the score is the whole dot product",
            lambda q, k, m, n, theta: _scores(q / q.abs(), k / k.abs(), m, n, theta),
        ),
        Mistake(
            "the scores are divided by √d: here only the dot product is asked for",
            lambda q, k, m, n, theta: _scores(q, k, m, n, theta) / 2**0.5,
        ),
    ),
)

# Question 3


def _by_angles(x: Tensor, at: Tensor, layout: str = "interleaved") -> Array:
    """`x`, (batch, heads, length, dim), turned by angles (length, dim/2) or (batch, length, dim/2)."""
    return rotate(x, rotary_table(at, length_axis=-2, like=x), layout)


def _speeds(x: Tensor, base: float) -> Array:
    return inv_freq(x.shape[-1], base, like=torch.zeros(1))


def _interleaved(x: Tensor, positions: Tensor, base: float) -> Array:
    return _by_angles(x, angles(positions, _speeds(x, base)))


def _other_speeds(speeds: Callable[[int, float], Tensor]) -> Answer:
    """The interleaved turn with speeds that follow from the width and the base in another way."""
    return lambda x, positions, base: _by_angles(x, angles(positions, speeds(x.shape[-1], base)))


def _powers(exponents: Callable[[Tensor, int], Tensor]) -> Answer:
    """The same with speeds base^exponent, where the exponents follow from the pairs 0, 1, 2, … and the width."""
    return _other_speeds(
        lambda dim, base: torch.tensor(base).double() ** exponents(torch.arange(dim // 2).double(), dim)
    )


def _along(axis: str) -> Answer:
    """The interleaved turn with positions that belong to another axis, of the same length."""

    def wrong(x: Tensor, positions: Tensor, base: float) -> Array:
        at = angles(positions, _speeds(x, base))
        if axis == "heads" and positions.ndim == 1 and x.shape[1] == x.shape[2]:
            return rotate(x, rotary_table(at, length_axis=-3))
        if axis == "batch" and positions.ndim == 1 and x.shape[0] == x.shape[2]:
            return rotate(x, rotary_table(at, length_axis=-4))
        if axis == "batch as heads" and positions.ndim == 2 and x.shape[0] == x.shape[1]:
            return rotate(x, at[None])
        raise ValueError("the axes do not fit")

    return wrong


def _in_place(x: Tensor, positions: Tensor, base: float) -> Tensor:
    at = angles(positions, _speeds(x, base))
    at = at if positions.ndim == 1 else at[:, None]
    first = rotate(x, at.expand(*x.shape[:-1], -1))[..., 0::2]
    return torch.stack([first, first * at.sin() + x[..., 1::2] * at.cos()], dim=-1).flatten(-2)


def _rejoined(x: Tensor, positions: Tensor, base: float) -> Tensor:
    return torch.cat([_interleaved(x, positions, base)[..., i::2] for i in (0, 1)], dim=-1)


def _dealt_in(x: Tensor, positions: Tensor, base: float) -> Array:
    return _interleaved(torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2), positions, base)


def _mixed(x: Tensor, positions: Tensor, base: float) -> Array:
    at = angles(positions, _speeds(x, base)).repeat(*[1] * positions.ndim, 2)
    at = at if positions.ndim == 1 else at[:, None]
    quarter = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * at.cos() + quarter * at.sin()


def _heads_case(random: np.random.Generator, *shape: int, own: bool = False) -> Case:
    """`shape` is (batch, heads, length, dim); with `own` positions for each sequence."""
    places = _positions(random, *((shape[0], shape[2]) if own else (shape[2],)))
    return Case(_normal(random, *shape), places, _base(random))


def _shaped(*shapes: tuple[int, ...], own: bool = False) -> Callable[[np.random.Generator], Iterator[Case]]:
    return lambda random: (_heads_case(random, *shape, own=own) for shape in shapes)


def _far_out(random: np.random.Generator) -> Iterator[Case]:
    """Positions of many thousands, first in float32, then in bfloat16, which keeps two or three digits."""
    for dtype in (torch.float32, torch.bfloat16):
        x, positions = _normal(random, 2, 3, 6, 16).to(dtype), 2_000 + _positions(random, 6, most=20_000)
        yield Case(
            x,
            positions,
            _base(random),
            values=""
            if dtype == torch.float32
            else "it is right for x in float32 and wrong for x in bfloat16: "
            "the positions, the speeds or the angles were computed in bfloat16, which cannot count so far",
        )


q3 = Question(
    assignment=N,
    name="q3",
    title="Whole heads, neighbours as pairs",
    names=("interleaved",),
    parts=(
        Part("batches and heads, one row of positions", 1, cases=_shaped((2, 3, 5, 8), (1, 1, 7, 12), (3, 2, 4, 6))),
        Part("as many texts and heads as tokens", 1, cases=_shaped((3, 3, 3, 8), (4, 4, 4, 10), (5, 5, 5, 6))),
        Part("each text at positions of its own", 1, cases=_shaped((3, 3, 5, 8), (4, 4, 4, 6), own=True)),
        Part("far out, in float32 and in bfloat16", 1, cases=_far_out, tolerance=0.03, exact_dtype=True),
    ),
    reference=_interleaved,
    tolerance=1e-3,
    mistakes=(
        Mistake(HALVES, lambda x, p, base: _by_angles(x, angles(p, _speeds(x, base)), "half")),
        Mistake(OTHER_WAY, lambda x, p, base: _interleaved(x, -p, base)),
        Mistake(FROM_ONE, lambda x, p, base: _interleaved(x, p + 1, base)),
        Mistake(
            "the speeds fall too slowly: their exponent runs over i/d, where the question has 2i/d",
            _powers(lambda i, dim: -i / dim),
        ),
        Mistake(
            "the speeds rise from pair to pair: the exponent lacks its minus sign",
            _powers(lambda i, dim: 2 * i / dim),
        ),
        Mistake(
            "the last pair turns at exactly 1/base: the exponent is divided by d − 2, where the question has d",
            _powers(lambda i, dim: -2 * i / (dim - 2)),
        ),
        Mistake(
            "the speeds fall too fast: i runs over the pairs 0, 1, 2, …, and 2i over 0, 2, 4, …; a 2 is there twice",
            _powers(lambda i, dim: -4 * i / dim),
        ),
        Mistake(
            "pairs seem to be counted from 1: the first one should turn by one radian a token",
            _powers(lambda i, dim: -2 * (i + 1) / dim),
        ),
        Mistake(COUNTED, lambda x, p, base: _interleaved(x, torch.arange(x.shape[2]), base)),
        Mistake(NOT_TURNED, lambda x, p, base: x),
        Mistake("the base that was passed is not used", lambda x, p, base: _interleaved(x, p, 10_000.0)),
        Mistake("all pairs turn at one speed", _powers(lambda i, dim: 0 * i)),
        Mistake(TWICE, _in_place),
        Mistake("the pairs are turned, and then put together in another order than they had", _rejoined),
        Mistake(
            "halves are taken for pairs, and put together as neighbours: pairs are (0, 1), (2, 3), … all along",
            _dealt_in,
        ),
        Mistake("neighbours are swapped, and the angles are repeated as for halves: it is no rotation", _mixed),
        Mistake("the positions go along the heads: every head is turned by its number", _along("heads")),
        Mistake("the positions go along the batch: every text is turned by its number", _along("batch")),
        Mistake("the positions of each text went to its heads: the angles lack an axis", _along("batch as heads")),
        Mistake(
            "every text is turned by the positions of the first",
            lambda x, p, base: _interleaved(x, p[:1].expand(x.shape[0], x.shape[2]), base),
        ),
        Mistake(DEGREES, lambda x, p, base: _interleaved(x, p * np.pi / 180, base)),
        Mistake(
            "the speeds seem to be taken as turns per token: they are in radians per token already",
            lambda x, p, base: _interleaved(x, p * 2 * np.pi, base),
        ),
        Mistake(
            "sines and cosines have changed places: a token at position 0 should stay as it is",
            lambda x, p, base: _by_angles(x, np.pi / 2 - angles(p, _speeds(x, base))),
        ),
        Mistake("nearly right, but digits are lost: something went through too short a format", _interleaved, 0.01),
    ),
)

# Question 4


def _half(x: Tensor, cos: Tensor, sin: Tensor) -> Array:
    return rotate(x, RotaryTable(cos, sin, -3), "half", rotary_dim=2 * cos.shape[-1])


def _beside(cos: Tensor) -> Tensor:
    """A table with an axis for the heads."""
    return cos[..., None, :]


def _of_part(formula: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]) -> Answer:
    """A turn by halves with another formula for the two members of all pairs; the rest of the head passes."""

    def wrong(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        pairs = cos.shape[-1]
        both = formula(x[..., :pairs], x[..., pairs : 2 * pairs], _beside(cos), _beside(sin))
        return torch.cat([*both, x[..., 2 * pairs :]], dim=-1)

    return wrong


def _neighbour_swap(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    width = 2 * cos.shape[-1]
    part, cos, sin = x[..., :width], _beside(cos).repeat_interleave(2, -1), _beside(sin).repeat_interleave(2, -1)
    quarter = torch.cat([-part[..., width // 2 :], part[..., : width // 2]], dim=-1)
    return torch.cat([part * cos + quarter * sin, x[..., width:]], dim=-1)


def _by_head(x: Tensor, cos: Tensor, sin: Tensor) -> Array:
    if x.shape[1] != x.shape[2] or (cos.ndim == 3 and x.shape[0] != x.shape[1]):
        raise ValueError("the axes do not fit")
    table = RotaryTable(cos, sin, -2) if cos.ndim == 2 else RotaryTable(cos[None], sin[None])
    return rotate(x, table, "half", rotary_dim=2 * cos.shape[-1])


def _own_by_head(x: Tensor, cos: Tensor, sin: Tensor) -> Array:
    """An axis in the middle: right for one table, wrong for a table for each text."""
    if cos.ndim == 2:
        return _half(x, cos, sin)
    if x.shape[1] != x.shape[2]:
        raise ValueError("the axes do not fit")
    return rotate(x, RotaryTable(cos[:, None], sin[:, None]), "half", rotary_dim=2 * cos.shape[-1])


def _whole_quarter(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """The quarter turn of the whole head, cut to the part that turns."""
    width = 2 * cos.shape[-1]
    a, b = x.chunk(2, dim=-1)
    cos, sin = (torch.cat([_beside(table)] * 2, dim=-1) for table in (cos, sin))
    part = x[..., :width] * cos + torch.cat([-b, a], dim=-1)[..., :width] * sin
    return torch.cat([part, x[..., width:]], dim=-1)


def _dealt_out(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    width = 2 * cos.shape[-1]
    turned = _half(x, cos, sin)
    pairs = torch.stack(turned[..., :width].chunk(2, dim=-1), dim=-1).flatten(-2)
    return torch.cat([pairs, turned[..., width:]], dim=-1)


def _last_turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    still = x.shape[-1] - 2 * cos.shape[-1]
    return torch.cat([x[..., :still], _half(x[..., still:], cos, sin)], dim=-1)


def _whole_halves(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    pairs, middle = cos.shape[-1], x.shape[-1] // 2
    order = [*range(pairs), *range(middle, middle + pairs)]
    turned = x.clone()
    turned[..., order] = _half(x[..., order], cos, sin)
    return turned


def _cut(x: Tensor, cos: Tensor, sin: Tensor) -> Array:
    return _half(x, cos, sin)[..., : 2 * cos.shape[-1]]


def _table_case(random: np.random.Generator, *shape: int, turning: int | None = None, own: bool = False) -> Case:
    """`shape` is (batch, length, heads, dim)."""
    places = _positions(random, *(shape[:2] if own else (shape[1],)))
    at = angles(places, inv_freq(turning or shape[3], _base(random), like=torch.zeros(1)))
    return Case(_normal(random, *shape), at.cos(), at.sin())


q4 = Question(
    assignment=N,
    name="q4",
    title="The other layout, the other order of axes",
    names=("half",),
    parts=(
        Part(
            "batches and heads, one table",
            1,
            cases=lambda random: (
                _table_case(random, *shape) for shape in ((2, 5, 3, 8), (3, 4, 1, 12), (1, 6, 2, 10))
            ),
        ),
        Part(
            "as many heads as tokens",
            1,
            cases=lambda random: (_table_case(random, *shape) for shape in ((2, 5, 5, 8), (1, 4, 4, 6))),
        ),
        Part(
            "each text has a table of its own",
            1,
            cases=lambda random: (_table_case(random, *shape, own=True) for shape in ((4, 4, 4, 8), (3, 3, 3, 10))),
        ),
        Part(
            "only the first dimensions of each head turn",
            1,
            cases=lambda random: (
                _table_case(random, 2, 5, 3, dim, turning=turning) for dim, turning in ((16, 6), (20, 8), (14, 10))
            ),
        ),
    ),
    reference=_half,
    mistakes=(
        Mistake(NEIGHBOURS, lambda x, cos, sin: rotate(x, RotaryTable(cos, sin, -3), rotary_dim=2 * cos.shape[-1])),
        Mistake(OTHER_WAY, lambda x, cos, sin: _half(x, cos, -sin)),
        Mistake(
            "the halves are swapped, and the table is repeated as for neighbours: it is no rotation", _neighbour_swap
        ),
        Mistake("the table went along the heads: every head is turned by its number", _by_head),
        Mistake(
            "the table of each text went along its heads: an axis is in the right place for one table only",
            _own_by_head,
        ),
        Mistake("the middle of the whole head was taken, where only its first dimensions turn", _whole_halves),
        Mistake("the middle of the whole head was taken, where only its first dimensions turn", _whole_quarter),
        Mistake("the halves are turned, and then put together as neighbours", _dealt_out),
        Mistake("the last dimensions of each head were turned instead of the first", _last_turn),
        Mistake("the dimensions that do not turn got lost", _cut),
        Mistake(
            "the dimensions that do not turn became zeros",
            lambda x, cos, sin: torch.cat([_cut(x, cos, sin), 0 * x[..., 2 * cos.shape[-1] :]], dim=-1),
        ),
        Mistake(NOT_TURNED, lambda x, cos, sin: x),
        Mistake(
            "no half is negated: each product with a sine has a plus",
            _of_part(lambda a, b, c, s: (a * c + b * s, b * c + a * s)),
        ),
        Mistake(TWICE, _of_part(lambda a, b, c, s: (a * c - b * s, (a * c - b * s) * s + b * c))),
        Mistake("the two halves have changed places", _of_part(lambda a, b, c, s: (a * s + b * c, a * c - b * s))),
        Mistake("sines and cosines have changed places", lambda x, cos, sin: _half(x, sin, cos)),
        Mistake(
            "tokens and heads have changed places in what comes back: its axes are those of x",
            lambda x, cos, sin: _half(x, cos, sin).transpose(1, 2),
        ),
        Mistake(
            "the dimensions were multiplied by the cosines alone",
            _of_part(lambda a, b, c, s: (a * c, b * c)),
        ),
        Mistake(
            "every text is turned by the table of the first",
            lambda x, cos, sin: _half(x, cos[:1].expand_as(cos), sin[:1].expand_as(sin)),
        ),
    ),
)

# Question 5

Weights = dict[str, Tensor]


def _to_half(checkpoint: Weights, n_heads: int, n_kv_heads: int, letters: str = "qk", to: str = "half") -> Weights:
    heads = {"q": n_heads, "k": n_kv_heads, "v": n_kv_heads}
    return {
        name: convert_projection(weight, heads[name[0]], to) if name[0] in letters and name[0] != "o" else weight
        for name, weight in checkpoint.items()
    }


def _rows(order: Callable[[Tensor, int], Tensor], letters: str = "qk") -> Answer:
    """A conversion that puts the rows of W_Q and W_K into another order."""

    def wrong(checkpoint: Weights, n_heads: int, n_kv_heads: int) -> Weights:
        return {
            name: order(weight, n_heads if name[0] == "q" else n_kv_heads) if name[0] in letters else weight
            for name, weight in checkpoint.items()
        }

    return wrong


def _with_output(checkpoint: Weights, n_heads: int, n_kv_heads: int) -> Weights:
    new = _to_half(checkpoint, n_heads, n_kv_heads, "qkv")
    return new | {"o.weight": convert_projection(new["o.weight"].mT, n_heads, "half").mT.contiguous()}


def _output_alone(checkpoint: Weights, n_heads: int, n_kv_heads: int) -> Weights:
    new = _to_half(checkpoint, n_heads, n_kv_heads)
    return new | {"o.weight": convert_projection(new["o.weight"].mT, n_heads, "half").mT.contiguous()}


def _columns(weight: Tensor, n_heads: int) -> Array:
    if weight.ndim == 1 or weight.shape[0] != weight.shape[1]:
        raise ValueError("the columns do not divide")
    return convert_projection(weight.mT, n_heads, "half").mT.contiguous()


def _dealt(weight: Tensor, n_heads: int) -> Tensor:
    """Rows of a head taken n_heads apart."""
    rows = torch.arange(len(weight)).reshape(-1, n_heads)
    order = convert_projection(rows.T.flatten().double(), n_heads, "half").long()  # as if head by head
    return weight[order.reshape(n_heads, -1).T.flatten()]


def _second_first(weight: Tensor, n_heads: int) -> Array:
    halves = convert_projection(weight, n_heads, "half").reshape(n_heads, 2, -1)
    return halves.flip(1).reshape(weight.shape)


def _checkpoint_case(
    random: np.random.Generator, n_heads: int, n_kv_heads: int, head_dim: int, hidden: int, biases: bool = False
) -> Case:
    rows = {"q": n_heads * head_dim, "k": n_kv_heads * head_dim, "v": n_kv_heads * head_dim}
    checkpoint = {f"{name}.weight": _normal(random, size, hidden) for name, size in rows.items()}
    checkpoint["o.weight"] = _normal(random, hidden, n_heads * head_dim)
    if biases:
        checkpoint |= {f"{name}.bias": _normal(random, size) for name, size in rows.items()}
    return Case(checkpoint, n_heads, n_kv_heads)


q5 = Question(
    assignment=N,
    name="q5",
    title="Convert a checkpoint",
    names=("to_half",),
    parts=(
        Part(
            "as many key heads as query heads",
            1,
            cases=lambda random: (_checkpoint_case(random, h, h, dim, h * dim) for h, dim in ((3, 8), (2, 12))),
        ),
        Part(
            "fewer key and value heads than query heads",
            1,
            cases=lambda random: (
                _checkpoint_case(random, h, kv, dim, hidden)
                for h, kv, dim, hidden in ((4, 2, 8, 20), (6, 2, 12, 7), (4, 1, 16, 9))
            ),
        ),
        Part(
            "with biases",
            1,
            cases=lambda random: (
                _checkpoint_case(random, h, kv, dim, 11, biases=True) for h, kv, dim in ((4, 2, 8), (6, 3, 12))
            ),
        ),
    ),
    reference=_to_half,
    mistakes=(
        Mistake("nothing has been reordered", lambda file, h, kv: file),
        Mistake(
            "the rows of W_V were reordered as well: values are never turned, and stay as they are",
            lambda file, h, kv: _to_half(file, h, kv, "qkv"),
        ),
        Mistake(
            "this is the way from half to interleaved; asked for is the way from interleaved to half",
            lambda file, h, kv: _to_half(file, h, kv, to="interleaved"),
        ),
        Mistake("the rows of W_K have kept their old order", lambda file, h, kv: _to_half(file, h, kv, "q")),
        Mistake("the rows of W_Q have kept their old order", lambda file, h, kv: _to_half(file, h, kv, "k")),
        Mistake(
            "rows wander from head to head: the order is made anew within each head", lambda f, h, kv: _to_half(f, 1, 1)
        ),
        Mistake(
            "W_K was cut into as many heads as W_Q: with grouped queries it has fewer",
            lambda file, h, kv: _to_half(file, h, h),
        ),
        Mistake(
            "W_Q was cut into as many heads as W_K: with grouped queries it has more",
            lambda file, h, kv: _to_half(file, kv, kv),
        ),
        Mistake(
            "the biases of queries and keys have kept their old order",
            lambda file, h, kv: _to_half(file, h, kv) | {n: w for n, w in file.items() if n.endswith("bias")},
        ),
        Mistake("the columns were reordered: the entries of a query are the rows of W_Q", _rows(_columns)),
        Mistake("W_O was reordered, and W_V: only queries and keys are turned", _with_output),
        Mistake("W_O was reordered: it meets values, and values are never turned", _output_alone),
        Mistake(
            "the rows were dealt out to the heads one by one: in the file, the rows of one head stand together",
            _rows(_dealt),
        ),
        Mistake(
            "the second members of the pairs stand before the first ones",
            _rows(_second_first),
        ),
    ),
)

# Question 6

Cache = tuple[Tensor, Tensor]


def _step(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cache: Cache | None,
    position: Tensor,
    speeds: Tensor,
    *,
    scale: float | None = None,
    offset: int = 0,
    layouts: str = "ii",
    query: bool = True,
    values: bool = False,
) -> tuple[Tensor, Cache]:
    """One step of decoding; what follows the star makes mistakes."""
    at = angles(position[:, None] + offset, speeds)  # (batch, 1, dim/2)
    names = {"i": "interleaved", "h": "half"}
    q = _by_angles(q, at, names[layouts[0]]) if query else q
    k = _by_angles(k, at, names[layouts[1]])
    v = _by_angles(v, at) if values else v
    new = (k, v) if cache is None else (torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2))
    return _look(q, *new, scale), new


def _look(q: Tensor, keys: Tensor, values: Tensor, scale: float | None = None) -> Array:
    group = q.shape[1] // keys.shape[1]
    wide = (x.repeat_interleave(group, dim=1) for x in (keys, values))
    return attention(q, *wide, scale=scale).output


def _step_reference(
    q: Tensor, k: Tensor, v: Tensor, cache: Cache | None, position: Tensor, speeds: Tensor
) -> tuple[Tensor, Cache]:
    return _step(q, k, v, cache, position, speeds)


def _stepped(**changes: Any) -> Answer:
    """The step with one thing changed."""
    return lambda q, k, v, cache, position, speeds: _step(q, k, v, cache, position, speeds, **changes)


def _placed(place: Callable[[Tensor, Cache | None], Tensor]) -> Answer:
    """The step at another position."""
    return lambda q, k, v, cache, position, speeds: _step(q, k, v, cache, place(position, cache), speeds)


def _held(cache: Cache | None) -> int:
    return 0 if cache is None else cache[0].shape[2]


def _ungrouped(q: Tensor, k: Tensor, v: Tensor, cache: Cache | None, position: Tensor, speeds: Tensor) -> Any:
    _, (keys, values) = _step(q, k, v, cache, position, speeds)
    at = angles(position[:, None], speeds)
    times = q.shape[1] // keys.shape[1]
    output = attention(_by_angles(q, at), keys.repeat(1, times, 1, 1), values.repeat(1, times, 1, 1)).output
    return output, (keys, values)


def _key_still(q: Tensor, k: Tensor, v: Tensor, cache: Cache | None, position: Tensor, speeds: Tensor) -> Any:
    turned = _by_angles(q, angles(position[:, None], speeds))
    keys, values = (k, v) if cache is None else (torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2))
    return _look(turned, keys, values), (keys, values)


def _kept_still(q: Tensor, k: Tensor, v: Tensor, cache: Cache | None, position: Tensor, speeds: Tensor) -> Any:
    output, (_, values) = _step(q, k, v, cache, position, speeds)
    return output, (k if cache is None else torch.cat([cache[0], k], 2), values)


def _turned_again(q: Tensor, k: Tensor, v: Tensor, cache: Cache | None, position: Tensor, speeds: Tensor) -> Any:
    at = angles(position[:, None], speeds)
    keys, values = (k, v) if cache is None else (torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2))
    keys = _by_angles(keys, at.expand(-1, keys.shape[2], -1))
    return _look(_by_angles(q, at), keys, values), (keys, values)


def _past_only(q: Tensor, k: Tensor, v: Tensor, cache: Cache | None, position: Tensor, speeds: Tensor) -> Any:
    _, new = _step(q, k, v, cache, position, speeds)
    past = new if cache is None else cache
    return _look(_by_angles(q, angles(position[:, None], speeds)), *past), new


def _self_only(q: Tensor, k: Tensor, v: Tensor, cache: Cache | None, position: Tensor, speeds: Tensor) -> Any:
    return _step(q, k, v, None, position, speeds)[0], _step(q, k, v, cache, position, speeds)[1]


def _first_only(q: Tensor, k: Tensor, v: Tensor, cache: Cache | None, position: Tensor, speeds: Tensor) -> Any:
    _, (keys, values) = _step(q, k, v, cache, position, speeds)
    return _look(q, keys[:, :, :1], values[:, :, :1]), (keys, values)


def _summed(q: Tensor, k: Tensor, v: Tensor, cache: Cache | None, position: Tensor, speeds: Tensor) -> Any:
    _, (keys, values) = _step(q, k, v, cache, position, speeds)
    return values.sum(2, keepdim=True).repeat_interleave(q.shape[1] // k.shape[1], dim=1), (keys, values)


def _not_kept(q: Tensor, k: Tensor, v: Tensor, cache: Cache | None, position: Tensor, speeds: Tensor) -> Any:
    output, new = _step(q, k, v, cache, position, speeds)
    return output, new if cache is None else cache


def _in_front(q: Tensor, k: Tensor, v: Tensor, cache: Cache | None, position: Tensor, speeds: Tensor) -> Any:
    output, new = _step(q, k, v, cache, position, speeds)
    return output, tuple(x.roll(1, dims=2) for x in new)


def _wide_kept(q: Tensor, k: Tensor, v: Tensor, cache: Cache | None, position: Tensor, speeds: Tensor) -> Any:
    output, new = _step(q, k, v, cache, position, speeds)
    return output, tuple(x.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for x in new)


def _text(random: np.random.Generator, batch: int, heads: int, kv_heads: int, length: int, dim: int) -> dict[str, Any]:
    """Queries, keys and values of whole texts, which begin at positions of their own."""
    speeds = inv_freq(dim, _base(random), like=torch.zeros(1))
    start = _positions(random, batch, most=500)
    q, k, v = (_normal(random, batch, h, length, dim) for h in (heads, kv_heads, kv_heads))
    places = start[:, None] + torch.arange(length)
    at = angles(places, speeds)
    return {"q": 2 * q, "k": 2 * k, "v": v, "places": places, "speeds": speeds, "turned": _by_angles(2 * k, at)}


def _step_case(random: np.random.Generator, *shape: int) -> Case:
    text = _text(random, *shape)
    past = text["q"].shape[2] - 1
    cache = (text["turned"][:, :, :past].clone(), text["v"][:, :, :past].clone()) if past else None
    new = (text[name][:, :, past:].clone() for name in "qkv")
    return Case(*new, cache, text["places"][:, past].clone(), text["speeds"])


def _in_steps(random: np.random.Generator) -> Iterator[Case]:
    """A text token by token, each step given the cache that the one before returned; right is what the whole gives."""
    text = _text(random, 2, 4, 2, 6, 8)
    wide = (text[name].repeat_interleave(2, dim=1) for name in ("turned", "v"))
    whole = attention(_by_angles(text["q"], angles(text["places"], text["speeds"])), *wide, causal=True).output
    for t in range(6):
        new = (text[name][:, :, t : t + 1] for name in "qkv")
        past = (text["turned"][:, :, :t], text["v"][:, :, :t]) if t else None
        kept = (text["turned"][:, :, : t + 1], text["v"][:, :, : t + 1])
        yield Case(*new, past, text["places"][:, t], text["speeds"], right=(whole[:, :, t : t + 1], kept))


q6 = Question(
    assignment=N,
    name="q6",
    title="One token at a time",
    names=("decode_step",),
    returns=("the output", "the cache"),
    parts=(
        Part(
            "the first token: no cache yet",
            1,
            cases=lambda random: (_step_case(random, *shape, 1, dim) for *shape, dim in ((2, 4, 2, 8), (3, 3, 3, 6))),
        ),
        Part(
            "one more token, with a cache",
            2,
            cases=lambda random: (
                _step_case(random, *shape) for shape in ((2, 4, 2, 5, 8), (3, 6, 2, 7, 10), (4, 4, 4, 4, 6))
            ),
        ),
        Part("a text in steps gives what the whole text gives", 1, cases=_in_steps, feeds=(1, 3)),
    ),
    reference=_step_reference,
    attention_written_out=True,
    mistakes=(
        Mistake("values are turned too: they should be kept and blended as they come", _stepped(values=True)),
        Mistake("keys and values are turned: it is queries and keys that turn", _stepped(values=True, query=False)),
        Mistake(
            "the new token is taken to stand at position 0: its key is not turned, or the position passed is not used",
            _placed(lambda p, _: p * 0),
        ),
        Mistake(
            "the new token is taken to stand where the cache ends: count by the position that was passed",
            _placed(lambda p, cache: p * 0 + _held(cache)),
        ),
        Mistake(FROM_ONE, _stepped(offset=1)),
        Mistake("the position is one too small", _stepped(offset=-1)),
        Mistake("the products are not divided by √d before the softmax", _stepped(scale=1.0)),
        Mistake(
            "the products are divided by d, where the question has √d",
            lambda q, *rest: _step(q, *rest, scale=1 / q.shape[-1]),
        ),
        Mistake("the new query does not see the new key: append first, then look", _past_only),
        Mistake("the new query sees only its own key, not the ones in the cache", _self_only),
        Mistake("the new query sees only the first key: with one query, a causal mask is not needed", _first_only),
        Mistake(
            "every value has the weight 1: the softmax runs over an axis that is 1 long, not over the keys", _summed
        ),
        Mistake("the cache comes back as it was: it lacks the new key and value", _not_kept),
        Mistake("the cache keeps the new key as it was before its turn", _kept_still),
        Mistake("the keys in the cache were turned already: turn the new key alone", _turned_again),
        Mistake("the query is not turned", _stepped(query=False)),
        Mistake("the new key is not turned", _key_still),
        Mistake(HALVES, _stepped(layouts="hh")),
        Mistake("queries and keys are turned in two layouts: both should turn neighbours", _stepped(layouts="ih")),
        Mistake("queries and keys are turned in two layouts: both should turn neighbours", _stepped(layouts="hi")),
        Mistake(OTHER_WAY, _placed(lambda p, _: -p)),
        Mistake(
            "query heads meet the wrong key heads: query heads that stand side by side share a key head", _ungrouped
        ),
        Mistake("the new token stands before the old ones in the cache", _in_front),
        Mistake("keys and values are kept once for every query head: keep them once for every key head", _wide_kept),
        Mistake("every text is taken to stand at the position of the first", _placed(lambda p, _: p[:1].expand_as(p))),
        Mistake(DEGREES, _placed(lambda p, _: p * np.pi / 180)),
        Mistake(
            "keys and values have changed places in what comes back",
            lambda *given: (_step(*given)[0], _step(*given)[1][::-1]),
        ),
    ),
)

ASSIGNMENT = Assignment(N, "RoPE", (q1, q2, q3, q4, q5, q6))
