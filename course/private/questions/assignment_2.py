"""Assignment 2, "RoPE": a derivation, whole heads in two layouts, a checkpoint, and tests for what others wrote.

The right values are those of `posenc.rotary`; a mistake is an edit of the solution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from course.private.questions import ropes
from course.question import Assignment, Case, Edit, Mistake, Part, Question, sentences_of
from posenc._arrays import Array, Layout
from posenc.check import HandGraded
from posenc.check._plain import Code
from posenc.check._views import relative_scores
from posenc.frequencies import angles, inv_freq
from posenc.rotary import convert_projection, rotate, rotation_matrix

say = sentences_of(2)

N = 2


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


def _absorbed(A: np.ndarray, w_q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    """The scores at all offsets by RoPE, once the weights have gone to its basis."""
    theta, basis = _planes(A)
    return relative_scores([theta, basis.T @ w_q, basis.T @ w_k], np.zeros(w_q.shape[1]))


def _powers_case(random: np.random.Generator, pairs: int, length: int) -> Case:
    return Case(_one_token(random, pairs), random.permutation(np.arange(-length, length + 1)))


def _weights_case(random: np.random.Generator, pairs: int, hidden: int) -> Case:
    weights = random.normal(size=(2, 2 * pairs, hidden))
    return Case(_one_token(random, pairs), *weights, values=say("q1.absorbed_values"))


_POWER = "np.linalg.matrix_power(A if m >= 0 else inverse, abs(int(m)))"
_SORTED = "np.sort(angle[angle > 0])[::-1]"
_ABSORBED = "U.T @ W_Q, U.T @ W_K"

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
            # fmt: off
            mistakes=(
                Edit(say("q1.powers_absolute"), "A if m >= 0 else inverse", "A"),
                Edit(say("q1.powers_transposed"), ">= 0", "< 0"),
                Edit(say("q1.powers_entries"), _POWER, "A ** float(m)"),
                Edit(say("q1.powers_multiples"), _POWER, "m * A"),
                Edit(say("q1.powers_from_one"), "abs(int(m))", "abs(int(m + 1))", ">= 0", ">= -1"),
            ),
            # fmt: on
        ),
        Part(
            say("q1.frequencies"),
            1,
            function="frequencies",
            cases=lambda random: (Case(_one_token(random, pairs)) for pairs in (1, 2, 3, 5)),
            reference=lambda A: _planes(A)[0],
            # fmt: off
            mistakes=(
                Edit(say("q1.frequencies_ascending"), _SORTED, f"{_SORTED}[::-1]"),
                Edit(say("q1.frequencies_twice"), "angle[angle > 0]", "np.abs(angle)"),
                Edit(say("q1.frequencies_cosines"), _SORTED, f"np.cos({_SORTED})"),
                Edit(say("q1.frequencies_degrees"), _SORTED, f"np.rad2deg({_SORTED})"),
                Edit(say("q1.frequencies_negative"), _SORTED, f"-{_SORTED}"),
            ),
            # fmt: on
        ),
        Part(
            say("q1.absorbed"),
            1,
            function="absorbed",
            view="relative_scores",
            tolerance=1e-6,
            cases=lambda random: (_weights_case(random, *shape) for shape in ((1, 3), (2, 6), (4, 5))),
            reference=_absorbed,
            # fmt: off
            mistakes=(
                Edit(say("q1.absorbed_not_transposed"), _ABSORBED, "U @ W_Q, U @ W_K"),
                Edit(say("q1.absorbed_unchanged"), _ABSORBED, "W_Q, W_K"),
                Edit(say("q1.absorbed_query_only"), _ABSORBED, "U.T @ W_Q, W_K"),
                Edit(say("q1.absorbed_backwards"), "[a, -b]", "[a, b]"),
                Edit(say("q1.absorbed_length"), "math.sqrt(2) * ", ""),
            ),
            # fmt: on
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


_AT = "positions[..., None]"
_PAIRS = "x[..., 0::2], x[..., 1::2]"
_ROTATED = "torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)"
_AS_HALVES = "torch.stack", "torch.cat", "rotated.flatten(-2)", "rotated"

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
    # fmt: off
    mistakes=(
        Edit(say("shared.halves_turned"), _PAIRS, "x.chunk(2, dim=-1)", *_AS_HALVES),
        Edit(say("shared.turns_wrong_way"), _AT, f"-{_AT}"),
        Edit(say("shared.positions_start_1_token"), _AT, f"({_AT} + 1)"),
        Edit(say("q3.speeds_fall_slowly_their"), "arange(0, dim, 2,", "arange(dim // 2,"),
        Edit(say("q3.speeds_rise_pair_pair"), "(-torch", "(torch"),
        Edit(say("q3.last_pair_turns_exactly"), " / dim)", " / (dim - 2))"),
        Edit(say("q3.speeds_fall_fast_i"), " / dim)", " * 2 / dim)"),
        Edit(say("q3.pairs_counted_1_first"), "arange(0, dim, 2,", "arange(2, dim + 2, 2,"),
        Edit(
            say("shared.positions_passed_not_used"),
            _AT,
            "torch.arange(x.shape[2])[:, None]",
            "positions.ndim == 2",
            "False",
        ),
        Edit(say("shared.nothing_turned"), "rotated.flatten(-2)", "x"),
        Edit(say("q3.base_passed_not_used"), "base **", "10_000.0 **"),
        Edit(say("q3.all_pairs_turn_speed"), " / dim)", " * 0)"),
        Edit(say("shared.second_number_each_pair"), "even * sin", "(even * cos - odd * sin) * sin"),
        Edit(say("q3.pairs_turned_put_together"), *_AS_HALVES),
        Edit(say("q3.halves_taken_pairs_put"), _PAIRS, "x.chunk(2, dim=-1)"),
        Edit(
            say("q3.neighbours_swapped_angles_repeated"),
            f"{_AT} * inv_freq",
            f"torch.cat([{_AT} * inv_freq] * 2, dim=-1)",
            _ROTATED,
            "x * cos + torch.stack([-odd, even], dim=-1).flatten(-2) * sin",
            "rotated.flatten(-2)",
            "rotated",
        ),
        Edit(say("q3.positions_each_text_went"), "positions.ndim == 2", "False"),
        Edit(say("q3.positions_go_along_heads"), "positions.ndim == 2", "positions.ndim == 1"),
        Edit(
            say("q3.positions_go_along_batch"),
            "positions.ndim == 2",
            "positions.ndim == 1",
            "angle[:, None]",
            "angle[:, None, None]",
        ),
        Edit(say("q3.every_text_turned_positions"), "angle[:, None]", "angle[0]"),
        Edit(say("shared.angles_taken_degrees_cosines"), _AT, f"{_AT} * math.pi / 180"),
        Edit(say("q3.speeds_taken_turns_per"), _AT, f"{_AT} * 2 * math.pi"),
        Edit(
            say("q3.sines_cosines_changed_places"),
            "torch.cos(angle), torch.sin(angle)",
            "torch.sin(angle), torch.cos(angle)",
        ),
        Mistake(say("q3.nearly_right_but_digits"), _interleaved, 0.01),
    ),
    # fmt: on
)

# Question 4


def _half(x: Tensor, cos: Tensor, sin: Tensor, layout: Layout = "half-split") -> Array:
    return rotate(x, (_beside(cos), _beside(sin)), layout, rotary_dim=2 * cos.shape[-1])


def _beside(cos: Tensor) -> Tensor:
    """A table with an axis for the heads, and one for the batch where all texts share it."""
    return (cos if cos.ndim == 3 else cos[None])[..., None, :]


def _table_case(random: np.random.Generator, *shape: int, turning: int | None = None, own: bool = False) -> Case:
    """`shape` is (batch, length, heads, dim)."""
    places = _positions(random, *(shape[:2] if own else (shape[1],)))
    at = angles(places, inv_freq(turning or shape[3], _base(random), like=torch.zeros(1)))
    return Case(_normal(random, *shape), at.cos(), at.sin())


_TABLES = "cos.unsqueeze(-2), sin.unsqueeze(-2)"
_HALVES = "x[..., :pairs], x[..., pairs : 2 * pairs]"
_BOTH = "a * cos - b * sin, a * sin + b * cos"
_AS_NEIGHBOURS = _BOTH, f"torch.stack([{_BOTH}], dim=-1).flatten(-2)"
_MIDDLE = "x.shape[-1] // 2"

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
    # fmt: off
    mistakes=(
        Edit(
            say("shared.neighbours_turned"),
            _HALVES,
            "x[..., : 2 * pairs : 2], x[..., 1 : 2 * pairs : 2]",
            *_AS_NEIGHBOURS,
        ),
        Edit(say("shared.turns_wrong_way"), _TABLES, _TABLES.replace("sin", "-sin")),
        Edit(
            say("q4.halves_swapped_table_repeated"),
            _TABLES,
            "(table.unsqueeze(-2).repeat_interleave(2, dim=-1) for table in (cos, sin))",
            _BOTH,
            "torch.cat([a, b], dim=-1) * cos + torch.cat([-b, a], dim=-1) * sin",
        ),
        Edit(say("q4.table_went_along_heads"), _TABLES, "cos, sin"),
        Edit(say("q4.table_each_text_went"), _TABLES, "cos.unsqueeze(1), sin.unsqueeze(1)"),
        Edit(
            say("q4.middle_whole_head_taken"),
            "x[..., pairs : 2 * pairs], x[..., 2 * pairs :]",
            f"x[..., {_MIDDLE} :][..., :pairs], x[..., pairs : {_MIDDLE}]",
            "a * sin + b * cos, rest",
            f"rest, a * sin + b * cos, x[..., {_MIDDLE} + pairs :]",
        ),
        Edit(
            say("q4.middle_whole_head_taken"),  # rotate_half of the whole head
            _BOTH,
            "x[..., : 2 * pairs] * torch.cat([cos, cos], dim=-1)"
            f" + torch.cat([-x[..., {_MIDDLE} :], x], dim=-1)[..., : 2 * pairs] * torch.cat([sin, sin], dim=-1)",
        ),
        Edit(say("q4.halves_turned_put_together"), *_AS_NEIGHBOURS),
        Edit(
            say("q4.last_dimensions_each_head"),
            f"{_HALVES}, x[..., 2 * pairs :]",
            "x[..., -2 * pairs :][..., :pairs], x[..., -pairs:], x[..., : -2 * pairs]",
            f"{_BOTH}, rest",
            f"rest, {_BOTH}",
        ),
        Edit(say("q4.dimensions_not_turn_got"), ", rest]", "]"),
        Edit(say("q4.dimensions_not_turn_became"), ", rest]", ", 0 * rest]"),
        Edit(say("shared.nothing_turned"), f"torch.cat([{_BOTH}, rest], dim=-1)", "x"),
        Edit(say("q4.no_half_negated_each"), "a * cos - b", "a * cos + b"),
        Edit(say("shared.second_number_each_pair"), "a * sin + b", "(a * cos - b * sin) * sin + b"),
        Edit(say("q4.two_halves_changed_places"), _BOTH, ", ".join(_BOTH.split(", ")[::-1])),
        Edit(say("q4.sines_cosines_changed_places"), _TABLES, ", ".join(_TABLES.split(", ")[::-1])),
        Edit(say("q4.tokens_heads_changed_places"), "dim=-1)", "dim=-1).transpose(1, 2)"),
        Edit(say("q4.dimensions_multiplied_cosines_alone"), _BOTH, "a * cos, b * cos"),
        Edit(
            say("q4.every_text_turned_table"),
            _TABLES,
            "(table[:1, :, None] if table.ndim == 3 else table[:, None] for table in (cos, sin))",
        ),
    ),
    # fmt: on
)

# Question 5

Weights = dict[str, Tensor]


def _to_half(checkpoint: Weights, n_heads: int, n_kv_heads: int) -> Weights:
    heads = {"q": n_heads, "k": n_kv_heads}
    return {
        name: convert_projection(weight, heads[name[0]], len(weight) // heads[name[0]], "half-split")
        if name[0] in heads
        else weight
        for name, weight in checkpoint.items()
    }


def _checkpoint_case(
    random: np.random.Generator, n_heads: int, n_kv_heads: int, head_dim: int, hidden: int, biases: bool = False
) -> Case:
    rows = {"q": n_heads * head_dim, "k": n_kv_heads * head_dim, "v": n_kv_heads * head_dim}
    checkpoint = {f"{name}.weight": _normal(random, size, hidden) for name, size in rows.items()}
    checkpoint["o.weight"] = _normal(random, hidden, n_heads * head_dim)
    if biases:
        checkpoint |= {f"{name}.bias": _normal(random, size) for name, size in rows.items()}
    return Case(checkpoint, n_heads, n_kv_heads)


_OF_Q, _OF_K = '"q.weight": n_heads, "q.bias": n_heads', '"k.weight": n_kv_heads, "k.bias": n_kv_heads'
_WITH_V = _OF_K, f'{_OF_K}, "v.weight": n_kv_heads, "v.bias": n_kv_heads'
_WITH_O = (
    "return new",
    """wide = new["o.weight"].unflatten(1, (n_heads, -1, 2))
    new["o.weight"] = wide.transpose(2, 3).flatten(1)
    return new""",
)

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
    # fmt: off
    mistakes=(
        Edit(say("q5.nothing_been_reordered"), "return new", "return checkpoint"),
        Edit(say("q5.rows_w_v_reordered"), *_WITH_V),
        Edit(say("q5.way_half_interleaved_asked"), "(count, -1, 2)", "(count, 2, -1)"),
        Edit(say("q5.rows_w_k_kept"), _OF_K, ""),
        Edit(say("q5.rows_w_q_kept"), f"{_OF_Q},", ""),
        Edit(
            say("q5.reordered_opposite_ways"), "(count, -1, 2)", '(count, -1, 2) if name[0] == "q" else (count, 2, -1)'
        ),
        Edit(say("q5.rows_wander_head_head"), "(count, -1, 2)", "(1, -1, 2)"),
        Edit(say("q5.w_k_cut_into"), _OF_K, _OF_K.replace("n_kv_heads", "n_heads")),
        Edit(say("q5.w_q_cut_into"), _OF_Q, _OF_Q.replace("n_heads", "n_kv_heads")),
        Edit(say("q5.biases_queries_keys_kept"), ', "q.bias": n_heads', "", ', "k.bias": n_kv_heads', ""),
        Edit(
            say("q5.columns_reordered_entries_query"),
            "checkpoint[name].unflatten",
            "checkpoint[name].mT.unflatten",
            ".flatten(0, 2)",
            ".flatten(0, 2).mT",
        ),
        Edit(say("q5.w_o_reordered_w"), *_WITH_V, *_WITH_O),
        Edit(say("q5.w_o_reordered_meets"), *_WITH_O),
        Edit(
            say("q5.rows_dealt_out_heads"),
            "(count, -1, 2)",
            "(-1, count)",
            "pairs.transpose(1, 2).flatten(0, 2)",
            "torch.cat([pairs[0::2], pairs[1::2]]).flatten(0, 1)",
        ),
        Edit(say("q5.second_members_pairs_stand"), "pairs.transpose", "pairs.flip(2).transpose"),
    ),
    # fmt: on
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
