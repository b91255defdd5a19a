"""Assignment 2, "RoPE": a derivation, whole heads in two layouts, a checkpoint, and tests for what others wrote.

The right values are those of `posenc.rotary`; a mistake is written as a change to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from course.private.questions import ropes
from course.question import Answer, Assignment, Case, Mistake, Part, Question, sentences_of
from posenc._arrays import Array, Layout
from posenc.check import HandGraded
from posenc.check._plain import Code
from posenc.check._views import relative_scores
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


def _orthogonal(random: np.random.Generator, dim: int) -> np.ndarray:
    """An orthonormal basis, as columns."""
    return np.asarray(np.linalg.qr(random.normal(size=(dim, dim)))[0])


def _blocks(theta: np.ndarray) -> np.ndarray:
    """The rotation by these angles, in neighbouring pairs."""
    return np.asarray(rotation_matrix(theta, "interleaved"))


def _one_token(random: np.random.Generator, pairs: int) -> np.ndarray:
    """The matrix of position 1: a rotation by distinct angles in planes that lie anywhere."""
    theta = 0.15 + 2.8 * (np.arange(pairs) + random.uniform(0.1, 0.8, size=pairs)) / pairs
    basis = _orthogonal(random, 2 * pairs)
    return np.asarray(basis @ _blocks(random.permutation(theta)) @ basis.T)


def _planes(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The angles of a rotation, largest first, and a basis in which it rotates neighbouring pairs."""
    values, vectors = np.linalg.eig(A)
    order = [i for i in np.argsort(-np.angle(values)) if values[i].imag > 0]
    basis = np.stack([vectors[:, order].real, -vectors[:, order].imag], axis=-1).reshape(len(A), -1)
    return np.angle(values[order]), math.sqrt(2) * basis


def _matrices(A: np.ndarray, positions: np.ndarray) -> np.ndarray:
    return np.stack([np.linalg.matrix_power(A if m >= 0 else A.T, abs(m)) for m in positions.tolist()])


def _scores_with(basis: Callable[[np.ndarray], np.ndarray], sign: int = 1, of_key: bool = True) -> Answer:
    """The scores at all offsets where weights go to another basis, and RoPE follows."""

    def wrong(A: np.ndarray, w_q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
        theta, planes = _planes(A)
        change = basis(planes)
        return relative_scores([sign * theta, change @ w_q, change @ w_k if of_key else w_k], np.zeros(w_q.shape[1]))

    return wrong


def _powers_case(random: np.random.Generator, pairs: int, length: int) -> Case:
    return Case(_one_token(random, pairs), random.permutation(np.arange(-length, length + 1)))


def _weights_case(random: np.random.Generator, pairs: int, hidden: int) -> Case:
    weights = random.normal(size=(2, 2 * pairs, hidden))
    return Case(_one_token(random, pairs), *weights, values=say("q1.absorbed_values"))


q1 = Question(
    assignment=N,
    name="q1",
    title=say("q1.title"),
    names=("powers", "frequencies", "absorbed"),
    parts=(
        Part(
            say("q1.powers"),
            1,
            function="powers",
            cases=lambda random: (_powers_case(random, *shape) for shape in ((1, 4), (2, 3), (3, 6))),
            reference=_matrices,
            mistakes=(
                Mistake(say("q1.powers_absolute"), lambda A, p: _matrices(A, np.abs(p))),
                Mistake(say("q1.powers_transposed"), lambda A, p: _matrices(A.T, p)),
                Mistake(say("q1.powers_entries"), lambda A, p: np.stack([A ** float(m) for m in p])),
                Mistake(say("q1.powers_multiples"), lambda A, p: p[:, None, None] * A),
                Mistake(say("q1.powers_from_one"), lambda A, p: _matrices(A, p + 1)),
            ),
        ),
        Part(
            say("q1.frequencies"),
            1,
            function="frequencies",
            cases=lambda random: (Case(_one_token(random, pairs)) for pairs in (1, 2, 3, 5)),
            reference=lambda A: _planes(A)[0],
            mistakes=(
                Mistake(say("q1.frequencies_ascending"), lambda A: _planes(A)[0][::-1]),
                Mistake(say("q1.frequencies_twice"), lambda A: np.repeat(_planes(A)[0], 2)),
                Mistake(say("q1.frequencies_cosines"), lambda A: np.cos(_planes(A)[0])),
                Mistake(say("q1.frequencies_degrees"), lambda A: np.rad2deg(_planes(A)[0])),
                Mistake(say("q1.frequencies_negative"), lambda A: -_planes(A)[0]),
            ),
        ),
        Part(
            say("q1.absorbed"),
            1,
            function="absorbed",
            view="relative_scores",
            tolerance=1e-6,
            cases=lambda random: (_weights_case(random, *shape) for shape in ((1, 3), (2, 6), (4, 5))),
            reference=_scores_with(lambda basis: basis.T),
            mistakes=(
                Mistake(say("q1.absorbed_not_transposed"), _scores_with(lambda basis: basis)),
                Mistake(say("q1.absorbed_unchanged"), _scores_with(lambda basis: np.eye(len(basis)))),
                Mistake(say("q1.absorbed_query_only"), _scores_with(lambda basis: basis.T, of_key=False)),
                Mistake(say("q1.absorbed_backwards"), _scores_with(lambda basis: basis.T, sign=-1)),
                Mistake(say("q1.absorbed_length"), _scores_with(lambda basis: basis.T / math.sqrt(2))),
            ),
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
        Part(
            say("q3.batches_heads_row_positions"),
            1,
            cases=_shaped((3, 3, 3, 8), (4, 4, 4, 10), (2, 3, 5, 8), (1, 1, 7, 12), (3, 2, 4, 6)),
        ),
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
                _table_case(random, *shape) for shape in ((2, 5, 5, 8), (1, 4, 4, 6), (2, 5, 3, 8), (3, 4, 1, 12))
            ),
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
                _checkpoint_case(random, h, kv, dim, hidden, biases=kv == 2)
                for h, kv, dim, hidden in ((4, 1, 16, 9), (4, 2, 8, 20), (6, 2, 12, 7))
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


# By kind: the part's title, and what is said where such a fault passes.
KINDS = {
    "layout": (say("q6.layout"), say("q6.missed_layout")),
    "rotation": (say("q6.rotation"), say("q6.missed_rotation")),
    "cache": (say("q6.cache"), say("q6.missed_cache")),
    "values": (say("q6.values"), say("q6.missed_values")),
    "precision": (say("q6.precision"), say("q6.missed_precision")),
    "held_back": (say("q6.held_back"), say("q6.missed_held_back")),
}


def _verdicts(sound: Sequence[str], faults: Sequence[tuple[str, str]]) -> Iterator[Case]:
    """Sound implementations, then broken ones, each with the kind of its fault."""
    for text in sound:
        yield Case(Code(text), right=(True, say("q6.refused")))
    for kind, text in faults:
        yield Case(Code(text), right=(False, KINDS[kind][1]))


def _kind(kind: str) -> Part:
    """A part for one kind of fault: the implementation that was handed out, and at grading others of the kind."""
    return Part(
        KINDS[kind][0],
        1,
        view="verdict",
        cases=lambda random: _verdicts(ropes.GIVEN_SOUND, [(kind, ropes.GIVEN_FAULTS[kind])]),
        held_back=lambda random: _verdicts(
            ropes.drawn(random, ropes.SOUND, 3), [(kind, text) for text in ropes.FAULTS[kind]]
        ),
    )


q6 = Question(
    assignment=N,
    name="q6",
    title=say("q6.title"),
    names=("is_sound",),
    parts=(
        *map(_kind, ropes.FAULTS),
        Part(
            KINDS["held_back"][0],
            1,
            view="verdict",
            cases=lambda random: _verdicts(ropes.GIVEN_SOUND, list(ropes.GIVEN_FAULTS.items())),
            held_back=lambda random: _verdicts(
                ropes.SOUND, [("held_back", text) for text in ropes.drawn(random, ropes.HELD_BACK, 6)]
            ),
        ),
    ),
)

VARIANT = {"ropes": "\n" + ropes.shown()}  # below a comment

ASSIGNMENT = Assignment(
    N,
    say("assignment.title"),
    questions=(q1, q3, q4, q5, q6),
    hand_graded=(HandGraded(N, "q2", say("assignment.q2"), 3),),
)
