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
from course.question import Assignment, Case, Edit, Mistake, Part, Question
from posenc._arrays import Array, Layout
from posenc.check import HandGraded
from posenc.check._plain import Code
from posenc.check._views import relative_scores
from posenc.frequencies import angles, inv_freq
from posenc.rotary import convert_projection, rotate, rotation_matrix

# Sentences for several mistakes.
_WRONG_SIGN = "the rotation has the wrong sign: a positive angle must take (1, 0) towards (0, 1), counterclockwise"
_NOT_ROTATED = "nothing is rotated: the result does not depend on the positions"
_IN_PLACE = "the second entry of each pair is computed from the first one after its rotation: both need the old entries"
_WHOLE_HEAD = "the whole head was split in the middle: with partial rotary only the first r dimensions are split"

N = 2


def _normal(random: np.random.Generator, *shape: int) -> Tensor:
    return torch.from_numpy(random.normal(size=shape))


def _positions(random: np.random.Generator, *shape: int, most: int = 900) -> Tensor:
    """Whole positions, none twice, neither in order nor from 0."""
    drawn = random.choice(np.arange(3, most), size=shape, replace=False)
    return torch.from_numpy(np.atleast_1d(drawn).astype(np.int64))


def _base(random: np.random.Generator) -> float:
    """A base other than the default."""
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
    return Case(
        _one_token(random, pairs),
        *weights,
        values="RoPE with these angles and weights gives other scores than A does with W_Q and W_K: "
        "with A = U R Uᵀ, both need the same change of basis, by Uᵀ",
    )


_POWER = "np.linalg.matrix_power(A if m >= 0 else inverse, abs(int(m)))"
_SORTED = "np.sort(angle[angle > 0])[::-1]"
_ABSORBED = "U.T @ W_Q, U.T @ W_K"

# fmt: off
q1 = Question(
    assignment=N,
    name="q1",
    title="Three requirements, one answer",
    names=("powers", "frequencies", "absorbed"),
    parts=(
        Part(
            "step 2: all matrices from one",
            1,
            function="powers",
            cases=lambda random: (_powers_case(random, *shape) for shape in ((1, 4), (2, 3), (3, 6))),
            reference=_matrices,
            mistakes=(
                Edit("for negative positions the matrix is that of the absolute position: A_−m is the inverse of A_m",
                     "A if m >= 0 else inverse", "A"),
                Edit("positive and negative positions are swapped: the result is the inverse of A_m, its transpose",
                     ">= 0", "< 0"),
                Edit("each entry was raised to a power: A_m is a product of matrices", _POWER, "A ** float(m)"),
                Edit("the matrix was multiplied by the position: A_m is a power of A₁, not a multiple",
                     _POWER, "m * A"),
                Edit("the exponent is off by one: A₀ is the identity",
                     "abs(int(m))", "abs(int(m + 1))", ">= 0", ">= -1"),
            ),
        ),
        Part(
            "step 3: the angles of a rotation",
            1,
            function="frequencies",
            cases=lambda random: (Case(_one_token(random, pairs)) for pairs in (1, 2, 3, 5)),
            reference=lambda A: _planes(A)[0],
            mistakes=(
                Edit("the angles are right, but in ascending order: the largest comes first",
                     _SORTED, f"{_SORTED}[::-1]"),
                Edit("every angle comes twice: eigenvalues are complex conjugates, one plane has two of them",
                     "angle[angle > 0]", "np.abs(angle)"),
                Edit("these are the cosines of the angles, the real parts of the eigenvalues",
                     _SORTED, f"np.cos({_SORTED})"),
                Edit("the angles are in degrees: return radians", _SORTED, f"np.rad2deg({_SORTED})"),
                Edit("the angles are negative: take the eigenvalue of each pair with a positive imaginary part",
                     _SORTED, f"-{_SORTED}"),
            ),
        ),
        Part(
            "step 4: the basis moves into W_Q and W_K",
            1,
            function="absorbed",
            view="relative_scores",
            tolerance=1e-5,
            cases=lambda random: (_weights_case(random, *shape) for shape in ((1, 3), (2, 6), (4, 5))),
            reference=_absorbed,
            mistakes=(  # none that depends on the basis: eigenvectors have any sign or phase, by the processor
                Edit("the weights have not changed: standard RoPE rotates planes of the axes, and A rotates others",
                     _ABSORBED, "W_Q, W_K"),
                Edit("the planes rotate in the wrong direction: the order of the two basis vectors in a plane, or "
                     "the sign of its angle, is wrong", "[a, -b]", "[a, b]"),
                Edit("the scores are too small by a factor of 2: the real and the imaginary part of a unit "
                     "eigenvector have length 1/√2 each", "math.sqrt(2) * ", ""),
            ),
        ),
    ),
)
# fmt: on

# Question 3


def _by_angles(x: Tensor, at: Tensor, layout: Layout = "interleaved") -> Array:
    """`x`, (batch, heads, length, dim), rotated by angles (length, dim/2) or (batch, length, dim/2)."""
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
            values=""
            if dtype == torch.float32
            else "right for x in float32 and wrong for x in bfloat16: positions, frequencies or angles were computed "
            "in bfloat16, which cannot represent every integer above 256",
        )


_AT = "positions[..., None]"
_PAIRS = "x[..., 0::2], x[..., 1::2]"
_ROTATED = "torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)"
_AS_HALVES = "torch.stack", "torch.cat", "rotated.flatten(-2)", "rotated"

# fmt: off
q3 = Question(
    assignment=N,
    name="q3",
    title="Whole heads, interleaved layout",
    names=("interleaved",),
    tensors="only",
    parts=(
        Part(
            "batches and heads, one row of positions",
            1,
            cases=_shaped((3, 3, 3, 8), (4, 4, 4, 10), (2, 3, 5, 8), (1, 1, 7, 12), (3, 2, 4, 6)),
        ),
        Part("positions that differ between sequences", 1, cases=_shaped((3, 3, 5, 8), (4, 4, 4, 6), own=True)),
        Part("large positions, in float32 and in bfloat16", 1, cases=_far_out, tolerance=0.03, exact_dtype=True),
    ),
    reference=_interleaved,
    tolerance=1e-3,
    mistakes=(
        Edit("the layout is half-split, pairs (i, i + d/2); this question asks for interleaved pairs, (0, 1), (2, "
             "3), …", _PAIRS, "x.chunk(2, dim=-1)", *_AS_HALVES),
        Edit(_WRONG_SIGN, _AT, f"-{_AT}"),
        Edit("positions start at 1: a token at position 0 must stay unrotated", _AT, f"({_AT} + 1)"),
        Edit("the frequencies fall too slowly: the exponent runs over i/d, and the question has 2i/d",
             "arange(0, dim, 2,", "arange(dim // 2,"),
        Edit("the frequencies rise from pair to pair: the exponent lacks its minus sign", "(-torch", "(torch"),
        Edit("the last pair has the frequency 1/base: the exponent is divided by d − 2, and the question has d",
             " / dim)", " / (dim - 2))"),
        Edit("the frequencies fall too fast: i runs over the pairs 0, 1, 2, …, and 2i over 0, 2, 4, …; the factor "
             "2 is there twice", " / dim)", " * 2 / dim)"),
        Edit("pairs are counted from 1: the first pair must rotate by one radian per token",
             "arange(0, dim, 2,", "arange(2, dim + 2, 2,"),
        Edit("the positions that were passed are ignored: the rotation uses 0, 1, 2, … instead",
             _AT, "torch.arange(x.shape[2])[:, None]", "positions.ndim == 2", "False"),
        Edit(_NOT_ROTATED, "rotated.flatten(-2)", "x"),
        Edit("the base that was passed is ignored", "base **", "10_000.0 **"),
        Edit("all pairs have the same frequency", " / dim)", " * 0)"),
        Edit(_IN_PLACE, "even * sin", "(even * cos - odd * sin) * sin"),
        Edit("the pairs are rotated, and then returned in another order than in x", *_AS_HALVES),
        Edit("half-split pairs are read, and interleaved pairs are written: read and write (0, 1), (2, 3), …",
             _PAIRS, "x.chunk(2, dim=-1)"),
        Edit("interleaved pairs are swapped with the angles of half-split ones: the result is no rotation",
             f"{_AT} * inv_freq", f"torch.cat([{_AT} * inv_freq] * 2, dim=-1)", _ROTATED,
             "x * cos + torch.stack([-odd, even], dim=-1).flatten(-2) * sin", "rotated.flatten(-2)", "rotated"),
        Edit("the positions of each sequence were applied to the heads: the angles lack the axis of heads",
             "positions.ndim == 2", "False"),
        Edit("the positions run along the heads: every head is rotated by its index",
             "positions.ndim == 2", "positions.ndim == 1"),
        Edit("the positions run along the batch: every sequence is rotated by its index",
             "positions.ndim == 2", "positions.ndim == 1", "angle[:, None]", "angle[:, None, None]"),
        Edit("every sequence is rotated by the positions of the first one", "angle[:, None]", "angle[0]"),
        Edit("the angles are treated as degrees: cos and sin expect radians", _AT, f"{_AT} * math.pi / 180"),
        Edit("the frequencies were multiplied by 2π: they are in radians per token already",
             _AT, f"{_AT} * 2 * math.pi"),
        Edit("sine and cosine are swapped: a token at position 0 must stay as it is",
             "torch.cos(angle), torch.sin(angle)", "torch.sin(angle), torch.cos(angle)"),
        Mistake("nearly right, but digits are lost: something was computed in too low a precision", _interleaved, 0.01),
    ),
)
# fmt: on

# Question 4


def _half(x: Tensor, cos: Tensor, sin: Tensor, layout: Layout = "half-split") -> Array:
    return rotate(x, (_beside(cos), _beside(sin)), layout, rotary_dim=2 * cos.shape[-1])


def _beside(cos: Tensor) -> Tensor:
    """A table with an axis for the heads, and one for the batch where all texts share it."""
    return (cos if cos.ndim == 3 else cos[None])[..., None, :]


def _table_case(random: np.random.Generator, *shape: int, rotary_dim: int | None = None, own: bool = False) -> Case:
    """`shape` is (batch, length, heads, dim)."""
    places = _positions(random, *(shape[:2] if own else (shape[1],)))
    at = angles(places, inv_freq(rotary_dim or shape[3], _base(random), like=torch.zeros(1)))
    return Case(_normal(random, *shape), at.cos(), at.sin())


_TABLES = "cos.unsqueeze(-2), sin.unsqueeze(-2)"
_HALVES = "x[..., :pairs], x[..., pairs : 2 * pairs]"
_BOTH = "a * cos - b * sin, a * sin + b * cos"
_AS_NEIGHBOURS = _BOTH, f"torch.stack([{_BOTH}], dim=-1).flatten(-2)"
_MIDDLE = "x.shape[-1] // 2"

# fmt: off
q4 = Question(
    assignment=N,
    name="q4",
    title="Half-split layout, other axes",
    names=("half",),
    tensors="either",
    parts=(
        Part(
            "batches and heads, one table",
            1,
            cases=lambda random: (
                _table_case(random, *shape) for shape in ((2, 5, 5, 8), (1, 4, 4, 6), (2, 5, 3, 8), (3, 4, 1, 12))
            ),
        ),
        Part(
            "tables that differ between sequences",
            1,
            cases=lambda random: (_table_case(random, *shape, own=True) for shape in ((4, 4, 4, 8), (3, 3, 3, 10))),
        ),
        Part(
            "partial rotary: only the first dimensions of each head",
            1,
            cases=lambda random: (
                _table_case(random, 2, 5, 3, dim, rotary_dim=r) for dim, r in ((16, 6), (20, 8), (14, 10))
            ),
        ),
    ),
    reference=_half,
    mistakes=(
        Edit("the layout is interleaved, pairs (0, 1), (2, 3), …; this question asks for half-split pairs, (i, i + "
             "d/2)", _HALVES, "x[..., : 2 * pairs : 2], x[..., 1 : 2 * pairs : 2]", *_AS_NEIGHBOURS),
        Edit(_WRONG_SIGN, _TABLES, _TABLES.replace("sin", "-sin")),
        Edit("the halves are swapped with the table of interleaved pairs: the result is no rotation",
             _TABLES, "(table.unsqueeze(-2).repeat_interleave(2, dim=-1) for table in (cos, sin))", _BOTH,
             "torch.cat([a, b], dim=-1) * cos + torch.cat([-b, a], dim=-1) * sin"),
        Edit("the table runs along the heads: every head is rotated by its index", _TABLES, "cos, sin"),
        Edit("the tables of the sequences run along their heads: the new axis is in the right place for a "
             "shared table only",
             _TABLES, "cos.unsqueeze(1), sin.unsqueeze(1)"),
        Edit(_WHOLE_HEAD, "x[..., pairs : 2 * pairs], x[..., 2 * pairs :]",
             f"x[..., {_MIDDLE} :][..., :pairs], x[..., pairs : {_MIDDLE}]", "a * sin + b * cos, rest",
             f"rest, a * sin + b * cos, x[..., {_MIDDLE} + pairs :]"),
        Edit(_WHOLE_HEAD, _BOTH,
             "x[..., : 2 * pairs] * torch.cat([cos, cos], dim=-1)"
            f" + torch.cat([-x[..., {_MIDDLE} "
             ":], x], dim=-1)[..., : 2 * pairs] * torch.cat([sin, sin], dim=-1)"),
        Edit("the halves are rotated, and then returned as interleaved pairs", *_AS_NEIGHBOURS),
        Edit("the last dimensions of each head were rotated instead of the first", f"{_HALVES}, x[..., 2 * pairs :]",
             "x[..., -2 * pairs :][..., :pairs], x[..., -pairs:], x[..., : -2 * pairs]", f"{_BOTH}, rest",
             f"rest, {_BOTH}"),
        Edit("the unrotated dimensions are missing", ", rest]", "]"),
        Edit("the unrotated dimensions became zeros", ", rest]", ", 0 * rest]"),
        Edit(_NOT_ROTATED, f"torch.cat([{_BOTH}, rest], dim=-1)", "x"),
        Edit("no half is negated: both products with a sine have a plus", "a * cos - b", "a * cos + b"),
        Edit(_IN_PLACE, "a * sin + b", "(a * cos - b * sin) * sin + b"),
        Edit("the two halves are swapped", _BOTH, ", ".join(_BOTH.split(", ")[::-1])),
        Edit("sine and cosine are swapped", _TABLES, ", ".join(_TABLES.split(", ")[::-1])),
        Edit("the axes of tokens and heads are swapped in the result: return the axes of x",
             "dim=-1)", "dim=-1).transpose(1, 2)"),
        Edit("the dimensions were only multiplied by the cosines", _BOTH, "a * cos, b * cos"),
        Edit("every sequence is rotated by the table of the first one",
             _TABLES, "(table[:1, :, None] if table.ndim == 3 else table[:, None] for table in (cos, sin))"),
    ),
)
# fmt: on

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

# fmt: off
q5 = Question(
    assignment=N,
    name="q5",
    title="Convert a checkpoint",
    names=("to_half",),
    tensors="either",
    parts=(
        Part(
            "as many key heads as query heads",
            1,
            cases=lambda random: (_checkpoint_case(random, h, h, dim, h * dim) for h, dim in ((3, 8), (2, 12))),
        ),
        Part(
            "grouped-query attention, with and without biases",
            1,
            cases=lambda random: (
                _checkpoint_case(random, h, kv, dim, hidden, biases=kv == 2)
                for h, kv, dim, hidden in ((4, 1, 16, 9), (4, 2, 8, 20), (6, 2, 12, 7))
            ),
        ),
    ),
    reference=_to_half,
    mistakes=(
        Edit("nothing was permuted", "return new", "return checkpoint"),
        Edit("the rows of W_V were permuted as well: values are never rotated, and stay as they are", *_WITH_V),
        Edit("this is the conversion from half-split to interleaved; the question asks for the other direction",
             "(count, -1, 2)", "(count, 2, -1)"),
        Edit("the rows of W_K were not permuted", _OF_K, ""),
        Edit("the rows of W_Q were not permuted", f"{_OF_Q},", ""),
        Edit("W_Q was permuted in one direction and W_K in the other",
             "(count, -1, 2)", '(count, -1, 2) if name[0] == "q" else (count, 2, -1)'),
        Edit("rows move from one head to another: permute within each head", "(count, -1, 2)", "(1, -1, 2)"),
        Edit("W_K was split into as many heads as W_Q: with grouped-query attention it has fewer",
             _OF_K, _OF_K.replace("n_kv_heads", "n_heads")),
        Edit("W_Q was split into as many heads as W_K: with grouped-query attention it has more",
             _OF_Q, _OF_Q.replace("n_heads", "n_kv_heads")),
        Edit("the biases of queries and keys were not permuted",
             ', "q.bias": n_heads', "", ', "k.bias": n_kv_heads', ""),
        Edit("the columns were permuted: the entries of a query are the rows of W_Q",
             "checkpoint[name].unflatten", "checkpoint[name].mT.unflatten", ".flatten(0, 2)", ".flatten(0, 2).mT"),
        Edit("W_O and W_V were permuted: only queries and keys are rotated", *_WITH_V, *_WITH_O),
        Edit("W_O was permuted: it multiplies values, and values are never rotated", *_WITH_O),
        Edit("the rows were distributed over the heads one by one: in the file, the rows of one head are contiguous",
             "(count, -1, 2)", "(-1, count)", "pairs.transpose(1, 2).flatten(0, 2)",
             "torch.cat([pairs[0::2], pairs[1::2]]).flatten(0, 1)"),
        Edit("the second entries of the pairs come before the first ones",
             "pairs.transpose", "pairs.flip(2).transpose"),
    ),
)
# fmt: on

# Question 6


# By kind: the part's title, and what is said where such a fault passes.
KINDS = {
    "layout": (
        "the layout of pairs",
        "a broken implementation passes: its pairs or their order are wrong, though it keeps every norm",
    ),
    "rotation": (
        "direction, frequencies, position 0",
        "a broken implementation passes: its sign, its frequencies, its base or its position 0 is wrong, "
        "and its scores still depend only on the distance",
    ),
    "cache": (
        "one token at a time, with a KV cache",
        "a broken implementation passes: it rotates a whole sequence correctly, "
        "and goes wrong when it is called again or with one token",
    ),
    "values": (
        "what is rotated and what is not",
        "a broken implementation passes: it rotates values, or leaves keys unrotated",
    ),
    "precision": (
        "precision and dtype",
        "a broken implementation passes: it loses precision at large positions, or returns another dtype",
    ),
    "held_back": (
        "all kinds together; at grading, faults that you haven't seen",
        "a broken implementation passes that was held back for grading",
    ),
}


def _verdicts(sound: Sequence[str], faults: Sequence[tuple[str, str]]) -> Iterator[Case]:
    """Sound implementations, then broken ones, each with the kind of its fault."""
    for text in sound:
        yield Case(
            Code(text),
            right=(
                True,
                "a sound implementation is rejected: is a tolerance too strict, "
                "or does a test ask for more than the specification?",
            ),
        )
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


# fmt: off
q6 = Question(
    assignment=N,
    name="q6",
    title="Write the test",
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
# fmt: on

_LINE, _OWN = "# Given: eight implementations. Three are sound.", "base ** (-np.arange(0, d, 2) / d)"
VARIANT = {_LINE: f"{_LINE}\n{ropes.shown()}"}
if ropes.SCALE > 1:
    VARIANT |= {
        "the frequencies and the sign of question 3": "the sign of question 3, and with its frequencies divided by "
        f"{ropes.SCALE} (position interpolation)",
        f"positions, {_OWN}": f"positions, {_OWN}{ropes.OVER}",
        "m * base ** (-2 * i / d)": f"m * base ** (-2 * i / d){ropes.OVER}",
    }

ASSIGNMENT = Assignment(
    N,
    "RoPE",
    questions=(q1, q3, q4, q5, q6),
    hand_graded=(HandGraded(N, "q2", "The derivation in your own words", 3),),
)
