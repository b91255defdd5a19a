"""Assignment 2, "RoPE": one pair, its score, whole heads in two layouts, a checkpoint, a cache.

The right values are those of `posenc.rotary` and `posenc.attention`; a mistake is written as a change to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course.question import Answer, Assignment, Case, Mistake, Part, Question, sentences_of
from posenc._arrays import Array, Layout
from posenc.attention import attention
from posenc.frequencies import angles, inv_freq
from posenc.rotary import convert_projection, rotate, rotation_matrix

say = sentences_of(2)

N = 2
OTHER_WAY = say("shared.turns_wrong_way")
NOT_TURNED = say("shared.nothing_turned")
DEGREES = say("shared.angles_taken_degrees_cosines")
FROM_ONE = say("shared.positions_start_1_token")
COUNTED = say("shared.positions_passed_not_used")
HALVES = say("shared.halves_turned")
NEIGHBOURS = say("shared.neighbours_turned")
TWICE = say("shared.second_number_each_pair")


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
    return rotation_matrix(angles(positions, positions.new_tensor([theta])), "interleaved")


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
    title=say("q1.title"),
    names=("rotation",),
    tensors="either",
    parts=(
        Part(say("q1.whole_positions"), 1, cases=_one_row),
        Part(say("q1.negative_fractional_positions"), 1, cases=_odd_places),
    ),
    reference=_rotation,
    mistakes=(
        Mistake(OTHER_WAY, lambda p, theta: _rotation(-p, theta)),
        Mistake(DEGREES, lambda p, theta: _rotation(torch.deg2rad(p), theta)),
        Mistake(DEGREES, lambda p, theta: _rotation(torch.rad2deg(p), theta)),
        Mistake(say("q1.positions_left_out_every"), lambda p, t: _rotation(p * 0 + 1, t)),
        Mistake(NOT_TURNED, lambda p, theta: _rotation(p * 0, theta)),
        Mistake(FROM_ONE, lambda p, theta: _rotation(p + 1, theta)),
        Mistake(COUNTED, lambda p, theta: _rotation(torch.arange(len(p)).double(), theta)),
        Mistake(say("q1.no_rotation_sine_lacks"), _misprinted(0, 1, torch.sin)),
        Mistake(say("q1.no_rotation_both_sines"), _misprinted(1, 0, lambda phi: -torch.sin(phi))),
        Mistake(say("q1.no_rotation_first_row"), _misprinted(0, 1, torch.cos)),
        Mistake(
            say("q1.sines_cosines_changed_places"),
            lambda p, theta: _rotation(torch.pi / 2 - p * theta, 1.0),
        ),
        Mistake(
            say("q1.matrix_holds_entries_several"),
            _stacked_in_front,
        ),
        Mistake(say("q1.positions_between_two_tokens"), lambda p, theta: _rotation(torch.trunc(p), theta)),
        Mistake(say("q1.theta_turned_per_token"), lambda p, theta: _rotation(p, 1 / theta)),
        Mistake(
            say("q1.theta_taken_turns_per"),
            lambda p, theta: _rotation(p, 2 * torch.pi * theta),
        ),
    ),
)

# Question 2


def _as_pairs(z: Tensor) -> Tensor:
    return torch.view_as_real(z)


def _scores(q: Tensor, k: Tensor, m: Tensor, n: Tensor, theta: float) -> Array:
    speed = torch.tensor([theta], dtype=torch.float64)
    turned_q, turned_k = (
        rotate(_as_pairs(q), angles(m, speed), "interleaved"),
        rotate(_as_pairs(k), angles(n, speed), "interleaved"),
    )
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
    title=say("q2.title"),
    names=("scores",),
    tensors="either",
    parts=(
        Part(
            say("q2.query_key"),
            1,
            cases=lambda random: (_pair_case(random, 1, 1, first) for first in ("key", "query", "key", "query")),
        ),
        Part(
            say("q2.every_query_every_key"),
            2,
            cases=lambda random: (_pair_case(random, *lengths) for lengths in ((3, 5), (6, 4), (4, 4))),
        ),
    ),
    reference=_scores,
    tolerance=1e-4,
    mistakes=(
        Mistake(say("q2.scores_still_complex_numbers"), _still_complex),
        Mistake(
            say("q2.conjugate_missing_angles_query"),
            lambda q, k, m, n, theta: _scores(q, k.conj().resolve_conj(), m, -n, theta),
        ),
        Mistake(
            say("q2.scores_key_far_away"),
            lambda q, k, m, n, theta: _scores(q, k, -m, -n, theta),
        ),
        Mistake(
            say("q2.query_key_compared_without"),
            lambda q, k, m, n, theta: _scores(q, k, m * 0, n * 0, theta),
        ),
        Mistake(say("q2.before_behind_taken_distance"), _either_side),
        Mistake(say("q2.only_first_numbers_two"), _first_numbers),
        Mistake(say("q2.imaginary_part_q_k"), _cosine_only),
        Mistake(say("q2.key_turned_backwards"), lambda q, k, m, n, theta: _scores(q, k, m, -n, theta)),
        Mistake(say("q2.key_not_turned_only"), lambda q, k, m, n, theta: _scores(q, k, m, n * 0, theta)),
        Mistake(say("q2.query_not_turned_only"), lambda q, k, m, n, theta: _scores(q, k, m * 0, n, theta)),
        Mistake(
            say("q2.imaginary_part_says_side"),
            lambda q, k, m, n, theta: _scores(q * -1j, k, m, n, theta),
        ),
        Mistake(
            say("q2.size_product_size_knows"),
            lambda q, k, m, n, theta: _still_complex(q, k, m, n, theta).abs(),
        ),
        Mistake(DEGREES, lambda q, k, m, n, theta: _scores(q, k, m, n, float(np.deg2rad(theta)))),
        Mistake(
            say("q2.table_lies_side_queries"),
            lambda q, k, m, n, theta: _scores(q, k, m, n, theta).mT,
        ),
        Mistake(
            say("q2.lengths_query_key_divided"),
            lambda q, k, m, n, theta: _scores(q / q.abs(), k / k.abs(), m, n, theta),
        ),
        Mistake(
            say("q2.scores_divided_root_d"),
            lambda q, k, m, n, theta: _scores(q, k, m, n, theta) / 2**0.5,
        ),
    ),
)

# Question 3


def _by_angles(x: Tensor, at: Tensor, layout: Layout = "interleaved") -> Array:
    """`x`, (batch, heads, length, dim), turned by angles (length, dim/2) or (batch, length, dim/2)."""
    return rotate(x, at if at.ndim == 2 else at[:, None], layout)


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
            return rotate(x, at[None, :, None], "interleaved")
        if axis == "batch" and positions.ndim == 1 and x.shape[0] == x.shape[2]:
            return rotate(x, at[:, None, None], "interleaved")
        if axis == "texts_as_heads" and positions.ndim == 2 and x.shape[0] == x.shape[1]:
            return rotate(x, at[None], "interleaved")
        raise ValueError("the axes do not fit")

    return wrong


def _in_place(x: Tensor, positions: Tensor, base: float) -> Tensor:
    at = angles(positions, _speeds(x, base))
    at = at if positions.ndim == 1 else at[:, None]
    first = rotate(x, at.expand(*x.shape[:-1], -1), "interleaved")[..., 0::2]
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
            values="" if dtype == torch.float32 else say("q3.right_x_float32_wrong"),
        )


q3 = Question(
    assignment=N,
    name="q3",
    title=say("q3.title"),
    names=("interleaved",),
    tensors="only",
    parts=(
        Part(say("q3.batches_heads_row_positions"), 1, cases=_shaped((2, 3, 5, 8), (1, 1, 7, 12), (3, 2, 4, 6))),
        Part(say("q3.many_texts_heads_tokens"), 1, cases=_shaped((3, 3, 3, 8), (4, 4, 4, 10), (5, 5, 5, 6))),
        Part(say("q3.each_text_positions_own"), 1, cases=_shaped((3, 3, 5, 8), (4, 4, 4, 6), own=True)),
        Part(say("q3.far_out_float32_bfloat16"), 1, cases=_far_out, tolerance=0.03, exact_dtype=True),
    ),
    reference=_interleaved,
    tolerance=1e-3,
    mistakes=(
        Mistake(HALVES, lambda x, p, base: _by_angles(x, angles(p, _speeds(x, base)), "half-split")),
        Mistake(OTHER_WAY, lambda x, p, base: _interleaved(x, -p, base)),
        Mistake(FROM_ONE, lambda x, p, base: _interleaved(x, p + 1, base)),
        Mistake(
            say("q3.speeds_fall_slowly_their"),
            _powers(lambda i, dim: -i / dim),
        ),
        Mistake(
            say("q3.speeds_rise_pair_pair"),
            _powers(lambda i, dim: 2 * i / dim),
        ),
        Mistake(
            say("q3.last_pair_turns_exactly"),
            _powers(lambda i, dim: -2 * i / (dim - 2)),
        ),
        Mistake(
            say("q3.speeds_fall_fast_i"),
            _powers(lambda i, dim: -4 * i / dim),
        ),
        Mistake(
            say("q3.pairs_counted_1_first"),
            _powers(lambda i, dim: -2 * (i + 1) / dim),
        ),
        Mistake(COUNTED, lambda x, p, base: _interleaved(x, torch.arange(x.shape[2]), base)),
        Mistake(NOT_TURNED, lambda x, p, base: x),
        Mistake(say("q3.base_passed_not_used"), lambda x, p, base: _interleaved(x, p, 10_000.0)),
        Mistake(say("q3.all_pairs_turn_speed"), _powers(lambda i, dim: 0 * i)),
        Mistake(TWICE, _in_place),
        Mistake(say("q3.pairs_turned_put_together"), _rejoined),
        Mistake(
            say("q3.halves_taken_pairs_put"),
            _dealt_in,
        ),
        Mistake(say("q3.neighbours_swapped_angles_repeated"), _mixed),
        Mistake(say("q3.positions_go_along_heads"), _along("heads")),
        Mistake(say("q3.positions_go_along_batch"), _along("batch")),
        Mistake(say("q3.positions_each_text_went"), _along("texts_as_heads")),
        Mistake(
            say("q3.every_text_turned_positions"),
            lambda x, p, base: _interleaved(x, p[:1].expand(x.shape[0], x.shape[2]), base),
        ),
        Mistake(DEGREES, lambda x, p, base: _interleaved(x, p * np.pi / 180, base)),
        Mistake(
            say("q3.speeds_taken_turns_per"),
            lambda x, p, base: _interleaved(x, p * 2 * np.pi, base),
        ),
        Mistake(
            say("q3.sines_cosines_changed_places"),
            lambda x, p, base: _by_angles(x, np.pi / 2 - angles(p, _speeds(x, base))),
        ),
        Mistake(say("q3.nearly_right_but_digits"), _interleaved, 0.01),
    ),
)

# Question 4


def _half(x: Tensor, cos: Tensor, sin: Tensor, layout: Layout = "half-split") -> Array:
    return rotate(x, (_beside(cos), _beside(sin)), layout, rotary_dim=2 * cos.shape[-1])


def _beside(cos: Tensor) -> Tensor:
    """A table with an axis for the heads, and one for the batch where all texts share it."""
    return (cos if cos.ndim == 3 else cos[None])[..., None, :]


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
    table = (cos, sin) if cos.ndim == 2 else (cos[None], sin[None])
    return rotate(x, table, "half-split", rotary_dim=2 * cos.shape[-1])


def _own_by_head(x: Tensor, cos: Tensor, sin: Tensor) -> Array:
    """An axis in the middle: right for one table, wrong for a table for each text."""
    if cos.ndim == 2:
        return _half(x, cos, sin)
    if x.shape[1] != x.shape[2]:
        raise ValueError("the axes do not fit")
    return rotate(x, (cos[:, None], sin[:, None]), "half-split", rotary_dim=2 * cos.shape[-1])


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
    title=say("q4.title"),
    names=("half",),
    tensors="either",
    parts=(
        Part(
            say("q4.batches_heads_table"),
            1,
            cases=lambda random: (
                _table_case(random, *shape) for shape in ((2, 5, 3, 8), (3, 4, 1, 12), (1, 6, 2, 10))
            ),
        ),
        Part(
            say("q4.many_heads_tokens"),
            1,
            cases=lambda random: (_table_case(random, *shape) for shape in ((2, 5, 5, 8), (1, 4, 4, 6))),
        ),
        Part(
            say("q4.each_text_table_own"),
            1,
            cases=lambda random: (_table_case(random, *shape, own=True) for shape in ((4, 4, 4, 8), (3, 3, 3, 10))),
        ),
        Part(
            say("q4.only_first_dimensions_each"),
            1,
            cases=lambda random: (
                _table_case(random, 2, 5, 3, dim, turning=turning) for dim, turning in ((16, 6), (20, 8), (14, 10))
            ),
        ),
    ),
    reference=_half,
    mistakes=(
        Mistake(NEIGHBOURS, lambda x, cos, sin: _half(x, cos, sin, "interleaved")),
        Mistake(OTHER_WAY, lambda x, cos, sin: _half(x, cos, -sin)),
        Mistake(say("q4.halves_swapped_table_repeated"), _neighbour_swap),
        Mistake(say("q4.table_went_along_heads"), _by_head),
        Mistake(
            say("q4.table_each_text_went"),
            _own_by_head,
        ),
        Mistake(say("q4.middle_whole_head_taken"), _whole_halves),
        Mistake(say("q4.middle_whole_head_taken"), _whole_quarter),
        Mistake(say("q4.halves_turned_put_together"), _dealt_out),
        Mistake(say("q4.last_dimensions_each_head"), _last_turn),
        Mistake(say("q4.dimensions_not_turn_got"), _cut),
        Mistake(
            say("q4.dimensions_not_turn_became"),
            lambda x, cos, sin: torch.cat([_cut(x, cos, sin), 0 * x[..., 2 * cos.shape[-1] :]], dim=-1),
        ),
        Mistake(NOT_TURNED, lambda x, cos, sin: x),
        Mistake(
            say("q4.no_half_negated_each"),
            _of_part(lambda a, b, c, s: (a * c + b * s, b * c + a * s)),
        ),
        Mistake(TWICE, _of_part(lambda a, b, c, s: (a * c - b * s, (a * c - b * s) * s + b * c))),
        Mistake(say("q4.two_halves_changed_places"), _of_part(lambda a, b, c, s: (a * s + b * c, a * c - b * s))),
        Mistake(say("q4.sines_cosines_changed_places"), lambda x, cos, sin: _half(x, sin, cos)),
        Mistake(
            say("q4.tokens_heads_changed_places"),
            lambda x, cos, sin: _half(x, cos, sin).transpose(1, 2),
        ),
        Mistake(
            say("q4.dimensions_multiplied_cosines_alone"),
            _of_part(lambda a, b, c, s: (a * c, b * c)),
        ),
        Mistake(
            say("q4.every_text_turned_table"),
            lambda x, cos, sin: _half(x, cos[:1].expand_as(cos), sin[:1].expand_as(sin)),
        ),
    ),
)

# Question 5

Weights = dict[str, Tensor]


def _converted(weight: Tensor, n_heads: int, to: Layout = "half-split") -> Tensor:
    return convert_projection(weight, n_heads, len(weight) // n_heads, to)


def _to_half(
    checkpoint: Weights, n_heads: int, n_kv_heads: int, letters: str = "qk", to: Layout = "half-split"
) -> Weights:
    heads = {"q": n_heads, "k": n_kv_heads, "v": n_kv_heads}
    return {
        name: _converted(weight, heads[name[0]], to) if name[0] in letters and name[0] != "o" else weight
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
    return new | {"o.weight": _converted(new["o.weight"].mT, n_heads).mT.contiguous()}


def _output_alone(checkpoint: Weights, n_heads: int, n_kv_heads: int) -> Weights:
    new = _to_half(checkpoint, n_heads, n_kv_heads)
    return new | {"o.weight": _converted(new["o.weight"].mT, n_heads).mT.contiguous()}


def _columns(weight: Tensor, n_heads: int) -> Array:
    if weight.ndim == 1 or weight.shape[0] != weight.shape[1]:
        raise ValueError("the columns do not divide")
    return _converted(weight.mT, n_heads).mT.contiguous()


def _dealt(weight: Tensor, n_heads: int) -> Tensor:
    """Rows of a head taken n_heads apart."""
    rows = torch.arange(len(weight)).reshape(-1, n_heads)
    order = _converted(rows.T.flatten().double(), n_heads).long()  # as if head by head
    return weight[order.reshape(n_heads, -1).T.flatten()]


def _second_first(weight: Tensor, n_heads: int) -> Array:
    halves = _converted(weight, n_heads).reshape(n_heads, 2, -1)
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


def _opposite_ways(file: Weights, h: int, kv: int) -> Weights:
    back = _to_half(file, h, kv, to="interleaved")
    return _to_half(file, h, kv, "q") | {name: weight for name, weight in back.items() if name[0] == "k"}


q5 = Question(
    assignment=N,
    name="q5",
    title=say("q5.title"),
    names=("to_half",),
    tensors="either",
    parts=(
        Part(
            say("q5.many_key_heads_query"),
            1,
            cases=lambda random: (_checkpoint_case(random, h, h, dim, h * dim) for h, dim in ((3, 8), (2, 12))),
        ),
        Part(
            say("q5.fewer_key_value_heads"),
            1,
            cases=lambda random: (
                _checkpoint_case(random, h, kv, dim, hidden)
                for h, kv, dim, hidden in ((4, 2, 8, 20), (6, 2, 12, 7), (4, 1, 16, 9))
            ),
        ),
        Part(
            say("q5.biases"),
            1,
            cases=lambda random: (
                _checkpoint_case(random, h, kv, dim, 11, biases=True) for h, kv, dim in ((4, 2, 8), (6, 3, 12))
            ),
        ),
    ),
    reference=_to_half,
    mistakes=(
        Mistake(say("q5.nothing_been_reordered"), lambda file, h, kv: file),
        Mistake(
            say("q5.rows_w_v_reordered"),
            lambda file, h, kv: _to_half(file, h, kv, "qkv"),
        ),
        Mistake(
            say("q5.way_half_interleaved_asked"),
            lambda file, h, kv: _to_half(file, h, kv, to="interleaved"),
        ),
        Mistake(say("q5.rows_w_k_kept"), lambda file, h, kv: _to_half(file, h, kv, "q")),
        Mistake(say("q5.rows_w_q_kept"), lambda file, h, kv: _to_half(file, h, kv, "k")),
        Mistake(say("q5.reordered_opposite_ways"), _opposite_ways),
        Mistake(say("q5.rows_wander_head_head"), lambda f, h, kv: _to_half(f, 1, 1)),
        Mistake(
            say("q5.w_k_cut_into"),
            lambda file, h, kv: _to_half(file, h, h),
        ),
        Mistake(
            say("q5.w_q_cut_into"),
            lambda file, h, kv: _to_half(file, kv, kv),
        ),
        Mistake(
            say("q5.biases_queries_keys_kept"),
            lambda file, h, kv: _to_half(file, h, kv) | {n: w for n, w in file.items() if n.endswith("bias")},
        ),
        Mistake(say("q5.columns_reordered_entries_query"), _rows(_columns)),
        Mistake(say("q5.w_o_reordered_w"), _with_output),
        Mistake(say("q5.w_o_reordered_meets"), _output_alone),
        Mistake(
            say("q5.rows_dealt_out_heads"),
            _rows(_dealt),
        ),
        Mistake(
            say("q5.second_members_pairs_stand"),
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
    names: dict[str, Layout] = {"i": "interleaved", "h": "half-split"}
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
    title=say("q6.title"),
    names=("decode_step",),
    tensors="either",
    returns=(say("q6.output"), say("q6.cache")),
    parts=(
        Part(
            say("q6.first_token_no_cache"),
            1,
            cases=lambda random: (_step_case(random, *shape, 1, dim) for *shape, dim in ((2, 4, 2, 8), (3, 3, 3, 6))),
        ),
        Part(
            say("q6.more_token_cache"),
            2,
            cases=lambda random: (
                _step_case(random, *shape) for shape in ((2, 4, 2, 5, 8), (3, 6, 2, 7, 10), (4, 4, 4, 4, 6))
            ),
        ),
        Part(say("q6.text_steps_gives_whole"), 1, cases=_in_steps, feeds=(1, 3)),
    ),
    reference=_step_reference,
    attention_written_out=True,
    mistakes=(
        Mistake(say("q6.values_turned_should_kept"), _stepped(values=True)),
        Mistake(say("q6.keys_values_turned_queries"), _stepped(values=True, query=False)),
        Mistake(
            say("q6.new_token_taken_stand"),
            _placed(lambda p, _: p * 0),
        ),
        Mistake(
            say("q6.new_token_taken_stand_where"),
            _placed(lambda p, cache: p * 0 + _held(cache)),
        ),
        Mistake(FROM_ONE, _stepped(offset=1)),
        Mistake(say("q6.position_small"), _stepped(offset=-1)),
        Mistake(say("q6.products_not_divided_root"), _stepped(scale=1.0)),
        Mistake(
            say("q6.products_divided_d_where"),
            lambda q, *rest: _step(q, *rest, scale=1 / q.shape[-1]),
        ),
        Mistake(say("q6.new_query_not_see"), _past_only),
        Mistake(say("q6.new_query_sees_only"), _self_only),
        Mistake(say("q6.new_query_sees_only_first"), _first_only),
        Mistake(say("q6.every_value_weight_1"), _summed),
        Mistake(say("q6.cache_comes_back_lacks"), _not_kept),
        Mistake(say("q6.cache_keeps_new_key"), _kept_still),
        Mistake(say("q6.keys_cache_turned_already"), _turned_again),
        Mistake(say("q6.query_not_turned"), _stepped(query=False)),
        Mistake(say("q6.new_key_not_turned"), _key_still),
        Mistake(HALVES, _stepped(layouts="hh")),
        Mistake(say("q6.queries_keys_turned_two"), _stepped(layouts="ih")),
        Mistake(say("q6.queries_keys_turned_two"), _stepped(layouts="hi")),
        Mistake(OTHER_WAY, _placed(lambda p, _: -p)),
        Mistake(say("q6.query_heads_meet_wrong"), _ungrouped),
        Mistake(say("q6.new_token_stands_before"), _in_front),
        Mistake(say("q6.keys_values_kept_once"), _wide_kept),
        Mistake(say("q6.every_text_taken_stand"), _placed(lambda p, _: p[:1].expand_as(p))),
        Mistake(DEGREES, _placed(lambda p, _: p * np.pi / 180)),
        Mistake(
            say("q6.keys_values_changed_places"),
            lambda *given: (_step(*given)[0], _step(*given)[1][::-1]),
        ),
    ),
)

ASSIGNMENT = Assignment(N, say("assignment.title"), (q1, q2, q3, q4, q5, q6))
