"""Assignment 1, "Self-attention without order, and sinusoidal encodings": six questions for code, one for a reader.

It rests on chapters 01 to 04.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from course.question import Assignment, Case, Edit, Mistake, Part, Question, pick
from posenc import absolute
from posenc.analysis import decay
from posenc.attention import attention
from posenc.check import HandGraded
from posenc.frequencies import inv_freq

# Sentences for several mistakes.
_NOT_THE_TOKENS = "the sequences or the heads were permuted, not the tokens"
_OPPOSITE = "rows and columns of the weights were permuted in opposite directions"
_COUNTED = "the positions that are given seem to be ignored: the rows count from 0"
_SHORT = "the digits above the thirty-second are lost: the integers are too short"

REACH = pick("a1.reach", 200, 150, 160, 240, 250, 300)  # tokens on the horizontal axis of question 7
VARIANT = {
    "range(201)": f"range({REACH + 1})",
    "k = 0, 1, \\dots, 200$": f"k = 0, 1, \\dots, {REACH}$",
    "k = 0, 1, …, 200.": f"k = 0, 1, …, {REACH}.",
    "default_rng(0).normal(size=(6, 8))": f"default_rng({pick('a1.tokens', *range(9))}).normal(size=(6, 8))",
}


def _normal(random: np.random.Generator, *shape: int) -> torch.Tensor:
    return torch.from_numpy(random.normal(size=shape))


# ---- question 1: attention


def _attention(q: Any, k: Any, v: Any, causal: bool, **options: Any) -> tuple[Any, Any]:
    answer = attention(q, k, v, causal=causal, **options)
    return answer.output, answer.weights


def _no_mask_cases(random: np.random.Generator) -> Iterable[Case]:
    for lead in ((), (3,), (2, 4)):
        queries, keys, width = (int(n) for n in 4 + random.permutation(4)[:3])  # no two alike
        q, k, v = (_normal(random, *lead, *shape) for shape in ((queries, width), (keys, width), (keys, 3)))
        yield Case(q, k, v, False)


def _causal_cases(random: np.random.Generator) -> Iterable[Case]:
    for lead, length, width in (((), 6, 4), ((5,), 5, 3), ((2, 3), 7, 2)):
        q, k = _normal(random, *lead, length, width), _normal(random, *lead, length, width)
        yield Case(q, k, _normal(random, *lead, length, width + 1), True)


_NO_NUMBER = "the result isn't finite where scores are large: the exponential overflows"
_NO_NUMBER_MASKED = "the result isn't finite under the mask: a whole row is masked, or 0 was multiplied by −∞"


def _large_scores(random: np.random.Generator) -> Iterable[Case]:
    """Every score far out, all of them together; then future ones far above past ones. Only −∞ closes them all."""
    for sign, causal in ((1, False), (-1, False), (1, True), (-1, True)):
        q, k, v = _normal(random, 2, 6, 4), _normal(random, 2, 6, 4), _normal(random, 2, 6, 3)
        q[..., 0], k[..., 0] = sign * 2000, random.uniform(30, 40)
        low = "later tokens are visible where all scores are very low: a masked score must be lower still"
        infinite = _NO_NUMBER_MASKED if causal else _NO_NUMBER
        yield Case(q, k, v, causal, values=low if sign < 0 and causal else "", infinite=infinite)
    q, k, v = _normal(random, 2, 6, 4), _normal(random, 2, 6, 4), _normal(random, 2, 6, 3)
    q[..., 0], k[..., 0] = 2000, torch.arange(6) * random.uniform(30, 40)
    yield Case(
        q,
        k,
        v,
        True,
        values="later tokens are visible where a later score is far above the earlier ones: "
        "subtracting something from a score doesn't mask it",
        infinite=_NO_NUMBER_MASKED,
    )


# fmt: off
q1 = Question(
    assignment=1,
    name="q1",
    title="Self-attention",
    names=("attention",),
    tensors="either",
    returns=("the output", "the weights"),
    parts=(
        Part("without a mask", 2, cases=_no_mask_cases),
        Part("with a causal mask", 1, cases=_causal_cases),
        Part("scores of many thousands", 1, cases=_large_scores),
    ),
    reference=_attention,
    mistakes=(
        Edit("the scores seem to be undivided", " / math.sqrt(q.shape[-1])", ""),
        Edit("the softmax runs over the queries: here each column sums to 1, not each row", "dim=-1", "dim=-2"),
        Edit("nothing is masked: tokens attend to later ones", "if causal", "if False"),
        Edit("a score of 0 doesn't mask a pair: it is a score like any other", 'float("-inf")', "0.0"),
        Edit("the masked weights are 0, but the rest of the row doesn't sum to 1",
             "if causal", "if False", "dim=-1)", "dim=-1)\n    weights = weights.tril() if causal else weights"),
        Edit("the mask hides the past and leaves the future visible", "triu(1)", "tril(-1)"),
        Edit("tokens may not attend to themselves: the mask hides one pair too many",
             "triu(1)", "triu(0)", 'float("-inf")', "-1e9"),
        Edit("the mask is applied even where causal is False", "if causal", "if True"),
        Edit("the output and the weights are in the wrong order", "weights @ v, weights", "weights, weights @ v"),
        Edit("the second value holds scores: they don't sum to 1 along a row",
             "weights @ v, weights", "weights @ v, q @ k.mT / q.shape[-1] ** 0.5"),
        Edit("the scores are divided by the width, not by its root", "math.sqrt(q.shape[-1])", "q.shape[-1]"),
        Edit("the scores are multiplied where they should be divided", "/ math", "* math"),
        Edit("the scores are divided by the root of the number of keys", "q.shape[-1]", "k.shape[-2]"),
        Edit("the scores are divided by the root of the width of a value", "q.shape[-1]", "v.shape[-1]"),
        Edit("the weights are divided, after the softmax: they no longer sum to 1",
             " / math.sqrt(q.shape[-1])", "", "dim=-1)", "dim=-1) / math.sqrt(q.shape[-1])"),
        Edit("all scores went into one softmax: each row of weights must sum to 1 by itself",
             "softmax(scores, dim=-1)", "softmax(scores.flatten(), 0).view_as(scores)"),
        Edit("the weights are proportional to the scores themselves: the exponential is missing",
             'float("-inf")', "0.0", "torch.softmax(scores, dim=-1)", "scores / scores.sum(-1, keepdim=True)"),
        Edit("the weights are all equal: is the softmax applied to the scores?", "q @ k", "0 * q @ k"),
    ),
    attention_written_out=True,
)
# fmt: on


# ---- question 2: reordered words


def _order(random: np.random.Generator, length: int) -> np.ndarray:
    """An order that is neither its own inverse nor the way back, and leaves few words in place."""
    while True:
        order = random.permutation(length)
        if not np.array_equal(order[order], np.arange(length)) and np.sum(order == np.arange(length)) <= 1:
            return order


def _reordered(random: np.random.Generator, *shape: int) -> Case:
    """What attention makes of words, and their new order; right is what it makes of the reordered words."""
    *lead, length = shape
    q, k, v = (_normal(random, *lead, length, width) for width in (4, 4, 3))
    order = _order(random, length)
    after = _attention(q[..., order, :], k[..., order, :], v[..., order, :], False)
    return Case(*_attention(q, k, v, False), torch.from_numpy(order), right=after)


def _one_text(random: np.random.Generator) -> Iterable[Case]:
    return [_reordered(random, length) for length in (5, 8)]


def _many_heads(random: np.random.Generator) -> Iterable[Case]:
    return [_reordered(random, *shape) for shape in ((6, 3, 6), (2, 5, 5), (2, 3, 7))]


_OUTPUT, _WEIGHTS = "output[..., order, :]", "weights[..., order, :][..., order]"

# fmt: off
q2 = Question(
    assignment=1,
    name="q2",
    title="Permutation equivariance",
    names=("reordered",),
    tensors="either",
    returns=("the outputs", "the weights"),
    parts=(
        Part("the outputs of a reordered headline", 1, cases=_one_text, of=0),
        Part("the weights of a reordered headline", 1, cases=_one_text, of=1),
        Part("many sequences and heads at once", 1, cases=_many_heads),
    ),
    tolerance=1e-6,
    mistakes=(
        Edit("the outputs and the weights are in the wrong order", f"{_OUTPUT}, {_WEIGHTS}", f"{_WEIGHTS}, {_OUTPUT}"),
        Edit("the outputs were not permuted, though their tokens were", _OUTPUT, "output", of=0),
        Edit("the outputs were permuted in the opposite direction: look again at what order[i] says",
             _OUTPUT, "output[..., order.argsort(), :]", of=0),
        Edit("the outputs are simply reversed: use the order that is given", _OUTPUT, "output.flip(-2)", of=0),
        Edit(_NOT_THE_TOKENS, _OUTPUT, "output[order]", of=0),
        Edit("only the rows of the weights (queries) were permuted: the columns (keys) move, too",
             _WEIGHTS, "weights[..., order, :]", of=1),
        Edit("only the columns of the weights (keys) were permuted: the rows (queries) move, too",
             _WEIGHTS, "weights[..., order]", of=1),
        Edit("the weights were not permuted, though their tokens were", _WEIGHTS, "weights", of=1),
        Edit("the weights were permuted in the opposite direction: look again at what order[i] says",
             _WEIGHTS, "weights[..., order.argsort(), :][..., order.argsort()]", of=1),
        Edit(_OPPOSITE, _WEIGHTS, "weights[..., order, :][..., order.argsort()]", of=1),
        Edit(_OPPOSITE, _WEIGHTS, "weights[..., order.argsort(), :][..., order]", of=1),
        Edit("the weights are indexed pair by pair: return a whole matrix",
             _WEIGHTS, "weights[..., order, order]", of=1),
        Edit("the matrix of weights is transposed", _WEIGHTS, f"{_WEIGHTS}.mT", of=1),
        Edit(_NOT_THE_TOKENS, _WEIGHTS, "weights[order]", of=1),
    ),
)
# fmt: on


# ---- question 3: bits


def _bit_cases(random: np.random.Generator) -> Iterable[Case]:
    for bits, length in ((5, 12), (4, 9), (7, 20)):
        yield Case(np.append(random.choice(2**bits - 1, length - 1, replace=False), 2**bits - 2), bits)


def _late_bit_cases(random: np.random.Generator) -> Iterable[Case]:
    for bits in (36, 45):
        positions = random.integers(2 ** (bits - 1), 2**bits - 1, size=10)
        yield Case(
            positions,
            bits,
            values="the values of the result are not right: does an integer overflow? "
            "NumPy's default integers end at 2³¹ in a page, and `np.int64` asks for 64 bits",
        )


_BITS = "(positions[:, None] >> np.arange(bits)) & 1"

# fmt: off
q3 = Question(
    assignment=1,
    name="q3",
    title="Binary positions",
    names=("binary",),
    parts=(
        Part("the first positions", 1, cases=_bit_cases),
        Part("positions in the billions", 1, cases=_late_bit_cases),
    ),
    reference=absolute.binary,
    mistakes=(
        Edit("the highest bit comes first; the question asks for the lowest",
             "np.arange(bits)", "np.arange(bits)[::-1]"),
        Edit("positions start at 1", "positions[:, None]", "(positions + 1)[:, None]"),
        Edit(_COUNTED, "positions[:, None]", "np.arange(len(positions))[:, None]"),
        Edit("rows and columns are swapped", _BITS, f"({_BITS}).T"),
        Edit("every column is too slow: column 0 should flip at every token",
             "np.arange(bits)", "(np.arange(bits) + 1)"),
        Edit("every column is too fast: to flip is one step, to flip back another",
             "positions[:, None]", "2 * positions[:, None]"),
        Edit("the position is halved, but its last digit is never taken", " & 1", ""),
        Edit("the division keeps its fraction, so that the digits are no integers",
             _BITS, "positions[:, None] / 2.0 ** np.arange(bits) % 2"),
        Edit("these are remainders, not digits", _BITS, "positions[:, None] % 2 ** np.arange(bits)"),
        Edit("these are the values of the bits, not 0 and 1", _BITS, "positions[:, None] & (1 << np.arange(bits))"),
        Edit("0 and 1 are exchanged", _BITS, f"1 - ({_BITS})"),
        Edit("the digits are −1 and 1, not 0 and 1", _BITS, f"2 * ({_BITS}) - 1"),
        Edit("these are decimal digits", _BITS, "positions[:, None] // np.array([10.0**i for i in range(bits)]) % 10"),
        Edit("this is a Gray code: neighbours differ in one bit, but it is not the position in binary",
             "positions[:, None]", "(positions ^ (positions >> 1))[:, None]"),
        Edit("the digits above the eighth are lost: the position is kept in a byte",
             "positions[:, None]", "positions[:, None] % 256"),
        Edit(_SHORT, "positions[:, None]", "positions[:, None] % 2**32"),
        Edit(_SHORT, "positions[:, None]", "positions.astype(np.int32)[:, None]"),
    ),
)
# fmt: on


# ---- questions 4, 6 and 7: frequencies, which all three may get wrong

# fmt: off
FREQUENCIES = {
    "the frequencies fall too slowly: the exponent seems to lack its 2": "base ** (-{i} / dim)",
    "the frequencies rise from pair to pair: look at the sign of the exponent": "base ** (2 * {i} / dim)",
    "the last frequency is too low: the exponent is divided by too little": "base ** (-2 * {i} / (dim - 2))",
    "pairs seem to be counted from 1": "base ** (-2 * ({i} + 1) / dim)",
    "the frequencies fall too fast: the exponent has a factor too many": "base ** (-4 * {i} / dim)",
    "all pairs have the same frequency": "base ** (0.0 * {i})",
    "another base was used than the one given": "10_000.0 ** (-2 * {i} / dim)",
    "an angle is a frequency times a position, in radians: it was converted from degrees":
        "np.radians(base ** (-2 * {i} / dim))",
    "the frequencies have a factor 2π too many: 2π belongs to wavelengths": "2 * np.pi * base ** (-2 * {i} / dim)",
    "the frequencies lack a factor 2π: it belongs to wavelengths": "base ** (-2 * {i} / dim) / (2 * np.pi)",
    "a logarithm to base 10 was used for the natural one": "np.exp(-np.log10(base) * 2 * {i} / dim)",
    "the frequencies fall by equal steps, not by a constant ratio": "(1 - 2 * {i} / dim)",
}
# fmt: on


def _frequencies(i: str) -> list[Edit]:
    """Wrong frequencies in a solution that calls the number of a pair so."""
    return [Edit(told, f"base ** (-2 * {i} / dim)", wrong.format(i=i)) for told, wrong in FREQUENCIES.items()]


def _table_cases(random: np.random.Generator) -> Iterable[Case]:
    for dim, length in ((6, 300), (8, 11), (2 * int(random.integers(5, 9)), 8)):
        yield Case(np.arange(length), dim, 10_000.0)


def _position_cases(random: np.random.Generator) -> Iterable[Case]:
    yield Case(random.permutation(np.append(random.integers(50_000, 200_000, size=5), [300, 301])), 8, 10_000.0)
    yield Case(np.append(random.uniform(-900, 900, size=6), -3.0), 10, 10_000.0)


def _base_cases(random: np.random.Generator) -> Iterable[Case]:
    for base in (float(random.integers(40, 400)), 500_000.0):
        yield Case(int(random.integers(300, 900)) + np.arange(9), 12, base)


_TABLE = "np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(len(positions), dim)"
_BY_COLUMN = "np.where(np.arange(dim) % 2 == 0, np.sin(angle), np.cos(angle))"
_ROUNDED_POSITIONS = "(torch.as_tensor(positions).bfloat16()[:, None] * torch.as_tensor(inv_freq)).double().numpy()"

# fmt: off
q4 = Question(
    assignment=1,
    name="q4",
    title="The sinusoidal encoding",
    names=("sinusoidal",),
    parts=(
        Part("positions from 0 on", 2, cases=_table_cases),
        Part("positions that are large, unsorted, fractional, negative", 1, cases=_position_cases),
        Part("other bases", 1, cases=_base_cases),
    ),
    reference=absolute.sinusoidal,
    tolerance=1e-6,
    mistakes=(
        Edit("all sines come first, then all cosines; the question interleaves sine and cosine",
             "np.stack", "np.concatenate"),
        Edit("the cosine of a pair comes before its sine",
             "np.sin(angle), np.cos(angle)", "np.cos(angle), np.sin(angle)"),
        Edit("a sine and its cosine have different frequencies: does i count columns instead of pairs?",
             "np.arange(dim // 2)", "np.arange(dim)", _TABLE, _BY_COLUMN),
        Edit("a sine and its cosine have different frequencies: each column has one of its own",
             "-2 * np.arange(dim // 2)", "-np.arange(dim)", _TABLE, _BY_COLUMN),
        Edit("positions start at 1", "positions[:, None]", "(positions[:, None] + 1)"),
        *_frequencies("np.arange(dim // 2)"),
        Edit(_COUNTED, "positions[:, None]", "np.arange(len(positions))[:, None]"),
        Edit("rows and columns are swapped", "(len(positions), dim)", "(len(positions), dim).T"),
        Edit("the sign of the angles is flipped", "positions[:, None]", "-positions[:, None]"),
        Edit("every frequency has a sine, and its cosine is missing", "np.cos", "np.sin"),
        Edit("every frequency has a cosine, and its sine is missing", "np.sin", "np.cos"),
        Edit("positions were rounded to whole numbers", "positions[:, None]", "np.trunc(positions)[:, None]"),
        Edit("sines and cosines were truncated to integers: what is the dtype of their array?",
             "(len(positions), dim)", "(len(positions), dim).astype(positions.dtype)"),
        Edit("the angles were computed in bfloat16", "positions[:, None] * inv_freq",
             _ROUNDED_POSITIONS.replace("(inv_freq)", "(inv_freq).bfloat16()"), tolerance=0.02),
        Mistake("nearly right, but digits are lost: the angles were computed in too low a precision",
                absolute.sinusoidal, tolerance=0.1),
        Edit("the positions were kept in bfloat16, where many of them become equal",
             "positions[:, None] * inv_freq", _ROUNDED_POSITIONS, tolerance=1e-3),
    ),
)
# fmt: on


# ---- question 6: a step


def _step(offset: float, dim: int, base: float) -> Any:
    return absolute.shift_matrix(offset, dim, base)


def _step_cases(random: np.random.Generator) -> Iterable[Case]:
    for dim in (6, 8, 12):
        yield Case(int(random.integers(2, 40)), dim, float(random.integers(50, 2000)))


def _back_cases(random: np.random.Generator) -> Iterable[Case]:
    yield Case(-int(random.integers(2, 40)), 6, float(random.integers(50, 2000)))
    yield Case(float(random.uniform(-9, 9)), 10, 10_000.0)
    yield Case(int(random.integers(1000, 9000)), 8, float(random.integers(50, 2000)))


_BLOCK = "[[c, s], [-s, c]]"

# fmt: off
q6 = Question(
    assignment=1,
    name="q6",
    title="A shift is a matrix",
    names=("shift",),
    parts=(
        Part("some tokens forward", 2, cases=_step_cases),
        Part("back, by a fraction, and far", 1, cases=_back_cases),
    ),
    reference=_step,
    tolerance=1e-6,
    mistakes=(
        Edit("the matrix shifts in the opposite direction", _BLOCK, "[[c, -s], [s, c]]"),
        Edit("the matrix is one for all sines first, then all cosines; here they are interleaved",
             "[2 * i : 2 * i + 2, 2 * i : 2 * i + 2]", "[i :: dim // 2, i :: dim // 2]"),
        Edit("the offset is ignored: the matrix shifts by one token", "k * base", "base"),
        *_frequencies("i"),
        Edit("the matrix is the identity", _BLOCK, "np.eye(2)"),
        Edit("the offset was truncated to an integer", "k * base", "math.trunc(k) * base"),
        Edit("a negative offset was treated as a positive one", "k * base", "abs(k) * base"),
        Edit("the matrix is right for position 0 and for no other",
             "return matrix", "return matrix[:, 1::2].sum(axis=1, keepdims=True) * (np.arange(dim) % 2) * 2 / dim"),
        Edit("the shift is one token too long", "k * base", "(k + 1) * base"),
        Edit("this is the encoding of a position; return a matrix",
             "return matrix", "return matrix[:, 1::2].sum(axis=1)"),
        Edit("the cosines are right, and the sines are missing", _BLOCK, "[[c, 0], [0, c]]"),
        Edit("both sines have the same sign: such a block is no rotation", _BLOCK, "[[c, s], [s, c]]"),
        Edit("sines and cosines are swapped: at k = 0 the matrix should change nothing", _BLOCK, "[[s, c], [-c, s]]"),
        Edit("the matrix of one step was multiplied by a number: steps are composed, by a matrix power",
             "k * base", "base", "return matrix", "return k * matrix"),
        Mistake("nearly right, but digits are lost: the angles were computed in too low a precision",
                _step, tolerance=0.05),
    ),
)
# fmt: on


# ---- question 7: a slider


def _right_curve(base: float, dim: int) -> np.ndarray:
    return np.asarray(decay(np.arange(REACH + 1), inv_freq(dim, base)))


def _curves(random: np.random.Generator) -> Iterable[Case]:
    for dim in (16, 4, 2 * int(random.integers(20, 120))):
        yield Case(float(10 ** random.uniform(1.2, 5.8)), dim)


_CURVE = "np.cos(k[:, None] * inv_freq).mean(axis=-1)"

# fmt: off
q7 = Question(
    assignment=1,
    name="q7",
    title="A slider for the editor",
    names=("draw", "controls"),
    parts=(
        Part("the curve", 1, view="curve", cases=_curves),
        Part(
            "the sliders",
            1,
            "controls",
            view="base_and_dim",
            raised={"OverflowError": "the ends of a FloatLogSlider are exponents, not values"},
            cases=lambda random: [Case(right=True)],
        ),
    ),
    reference=_right_curve,
    mistakes=(
        Edit("the curve is the dot product: it lacks the division by the number of pairs",
             ".mean(axis=-1)", ".sum(axis=-1)"),
        Edit("the curve starts at 1/2: there are half as many pairs as columns",
             ".mean(axis=-1)", ".mean(axis=-1) / 2"),
        Edit("the curve is a sum of sines: the similarity has cosines", "np.cos", "np.sin"),
        *_frequencies("np.arange(dim // 2)"),
        Edit("the width that is given is ignored", "k = np.arange(201)", "k, dim = np.arange(201), 64"),
        Edit("this is the distance of two encodings, not their similarity",
             _CURVE, "np.sqrt((2 - 2 * np.cos(k[:, None] * inv_freq)).sum(axis=-1))"),
        Edit("distances start at 1", "k[:, None]", "(k + 1)[:, None]"),
    ),
    packages=("plotly", "ipywidgets"),
)
# fmt: on

ASSIGNMENT = Assignment(
    1,
    "Self-attention without order, and sinusoidal encodings",
    (q1, q2, q3, q4, q6, q7),
    (HandGraded(1, "q5", "What a causal mask gives away", 2),),
)
