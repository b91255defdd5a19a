"""Assignment 1, "The blind spot, and codes for a place": attention, reordered words, bits, clocks, a step, a slider.

It rests on chapters 01 to 04.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from grading.questions.question import Answer, Assignment, Case, Mistake, Part, Question
from posenc import absolute
from posenc.analysis import decay
from posenc.attention import attention
from posenc.frequencies import inv_freq

REACH = 200  # tokens on the horizontal axis of question 7


def _normal(random: np.random.Generator, *shape: int) -> torch.Tensor:
    return torch.from_numpy(random.normal(size=shape))


# ---- question 1: attention


def _attention(q: Any, k: Any, v: Any, causal: bool, **options: Any) -> tuple[Any, Any]:
    answer = attention(q, k, v, causal=causal, **options)
    return answer.output, answer.weights


def _with_weights(weigh: Callable[[torch.Tensor, bool], torch.Tensor]) -> Answer:
    """Attention whose weights come from the unmasked scaled scores and `causal` in another way."""

    def answer(q: Any, k: Any, v: Any, causal: bool) -> tuple[Any, Any]:
        weights = weigh(attention(q, k, v).logits, causal)
        return weights @ v, weights

    return answer


def _ahead(scores: torch.Tensor) -> torch.Tensor:
    return torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)


def _masked(scores: torch.Tensor, causal: bool, value: float = -math.inf) -> torch.Tensor:
    return scores.masked_fill(_ahead(scores), value) if causal else scores


def _own_place_closed(scores: torch.Tensor, causal: bool) -> torch.Tensor:
    closed = torch.ones(scores.shape[-2:], dtype=torch.bool).triu()
    return torch.softmax(scores.masked_fill(closed, -1e9) if causal else scores, -1)


def _zero_weights(scores: torch.Tensor, causal: bool) -> torch.Tensor:
    weights = torch.softmax(scores, -1)
    return weights.masked_fill(_ahead(scores), 0) if causal else weights


def _past_closed(scores: torch.Tensor, causal: bool) -> torch.Tensor:
    return torch.softmax(scores.masked_fill(_ahead(scores).T, -math.inf) if causal else scores, -1)


def _scaled_by(factor: Callable[[int, int, int], float]) -> Answer:
    """Attention with another factor on q·k, from the width of a key, the number of keys and the width of a value."""

    def answer(q: Any, k: Any, v: Any, causal: bool) -> tuple[Any, Any]:
        return _attention(q, k, v, causal, scale=factor(k.shape[-1], k.shape[-2], v.shape[-1]))

    return answer


def _swapped(q: Any, k: Any, v: Any, causal: bool) -> tuple[Any, Any]:
    return _attention(q, k, v, causal)[::-1]


def _scores_returned(q: Any, k: Any, v: Any, causal: bool) -> tuple[Any, Any]:
    return attention(q, k, v, causal=causal).output, attention(q, k, v).logits


def _divided_after(q: Any, k: Any, v: Any, causal: bool) -> tuple[Any, Any]:
    weights = attention(q, k, v, causal=causal, scale=1.0).weights / math.sqrt(q.shape[-1])
    return weights @ v, weights


def _no_mask_cases(random: np.random.Generator) -> Iterable[Case]:
    for lead in ((), (3,), (2, 4)):
        queries, keys, width = (int(n) for n in 4 + random.permutation(4)[:3])  # no two alike
        q, k, v = (_normal(random, *lead, *shape) for shape in ((queries, width), (keys, width), (keys, 3)))
        yield Case(q, k, v, False)


def _causal_cases(random: np.random.Generator) -> Iterable[Case]:
    for lead, length, width in (((), 6, 4), ((5,), 5, 3), ((2, 3), 7, 2)):
        q, k = _normal(random, *lead, length, width), _normal(random, *lead, length, width)
        yield Case(q, k, _normal(random, *lead, length, width + 1), True)


_NO_NUMBER = "no number comes out where scores are large: the exponential runs out of range"
_NO_NUMBER_MASKED = "no number comes out under the mask: a row may be wholly closed, or 0 was multiplied by −∞"


def _large_scores(random: np.random.Generator) -> Iterable[Case]:
    """Every score far out, all of them together; then future ones far above past ones. Only −∞ closes them all."""
    for sign, causal in ((1, False), (-1, False), (1, True), (-1, True)):
        q, k, v = _normal(random, 2, 6, 4), _normal(random, 2, 6, 4), _normal(random, 2, 6, 3)
        q[..., 0], k[..., 0] = sign * 2000, random.uniform(30, 40)
        low = "words look ahead where all scores are very low: the score of a closed pair must be lower still"
        infinite = _NO_NUMBER_MASKED if causal else _NO_NUMBER
        yield Case(q, k, v, causal, values=low if sign < 0 and causal else "", infinite=infinite)
    q, k, v = _normal(random, 2, 6, 4), _normal(random, 2, 6, 4), _normal(random, 2, 6, 3)
    q[..., 0], k[..., 0] = 2000, torch.arange(6) * random.uniform(30, 40)
    yield Case(
        q,
        k,
        v,
        True,
        values="words look ahead where a later score is far above the earlier ones: to take something off a score "
        "does not close it",
        infinite=_NO_NUMBER_MASKED,
    )


q1 = Question(
    assignment=1,
    name="q1",
    title="A reader",
    names=("attention",),
    returns=("the output", "the weights"),
    parts=(
        Part("every word looks at every word", 2, cases=_no_mask_cases),
        Part("no word looks ahead", 1, cases=_causal_cases),
        Part("scores of many thousands", 1, cases=_large_scores),
    ),
    reference=_attention,
    mistakes=(
        Mistake("the scores seem to be undivided", _scaled_by(lambda width, keys, values: 1.0)),
        Mistake(
            "the softmax runs over the queries: here each column adds up to 1, not each row",
            _with_weights(lambda scores, causal: torch.softmax(_masked(scores, causal), -2)),
        ),
        Mistake(
            "nothing is masked: words look ahead of themselves",
            _with_weights(lambda scores, causal: torch.softmax(scores, -1)),
        ),
        Mistake(
            "a score of 0 does not close a pair: it is a score like any other",
            _with_weights(lambda scores, causal: torch.softmax(_masked(scores, causal, 0.0), -1)),
        ),
        Mistake(
            "the closed weights are 0, but what is left of a row does not add up to 1", _with_weights(_zero_weights)
        ),
        Mistake("the mask closes the past and leaves the future open", _with_weights(_past_closed)),
        Mistake(
            "words may not look at themselves: the mask closes one pair too many", _with_weights(_own_place_closed)
        ),
        Mistake(
            "words are kept from looking ahead even where causal is False",
            _with_weights(lambda scores, causal: torch.softmax(_masked(scores, True), -1)),
        ),
        Mistake("the output and the weights are in the wrong order", _swapped),
        Mistake("what comes second are scores: they do not add up to 1 along a row", _scores_returned),
        Mistake(
            "the scores are divided by the width, not by its root", _scaled_by(lambda width, keys, values: 1 / width)
        ),
        Mistake(
            "the scores are multiplied where they should be divided", _scaled_by(lambda width, keys, values: width**0.5)
        ),
        Mistake(
            "the scores are divided by the root of the number of keys",
            _scaled_by(lambda width, keys, values: keys**-0.5),
        ),
        Mistake(
            "the scores are divided by the root of the width of a value",
            _scaled_by(lambda width, keys, values: values**-0.5),
        ),
        Mistake("the weights are divided, after the softmax: they no longer add up to 1", _divided_after),
        Mistake(
            "the weights seem to be all alike: is the softmax taken of the scores?",
            _with_weights(lambda scores, causal: torch.softmax(_masked(0 * scores, causal), -1)),
        ),
    ),
    attention_written_out=True,
)


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


def _outputs(sentence: str, move: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Mistake:
    return Mistake(sentence, lambda output, weights, order: (move(output, order), weights), of=0)


def _weights(sentence: str, move: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Mistake:
    return Mistake(sentence, lambda output, weights, order: (output, move(weights, order)), of=1)


def _other_axis(values: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """`values` reordered along the first axis that does not count words and is long enough."""
    axes = [axis for axis in range(values.ndim - 2) if values.shape[axis] > order.max()]
    return values.index_select(axes[0], order)


_ALONG = "the texts or the heads were put in another order, not the words"
_OPPOSITE = "rows and columns of the weights moved opposite ways"

q2 = Question(
    assignment=1,
    name="q2",
    title="Nothing to see",
    names=("reordered",),
    returns=("the outputs", "the weights"),
    parts=(
        Part("the outputs of a reordered headline", 1, cases=_one_text, of=0),
        Part("its weights", 1, cases=_one_text, of=1),
        Part("many texts and heads at once", 1, cases=_many_heads),
    ),
    tolerance=1e-6,
    mistakes=(
        Mistake(
            "the outputs and the weights are in the wrong order",
            lambda output, weights, order: (weights[..., order, :][..., order], output[..., order, :]),
        ),
        _outputs("the outputs stayed where they were, though their words have moved", lambda values, order: values),
        _outputs(
            "the outputs went the opposite way: look again at what order[i] says",
            lambda values, order: values[..., order.argsort(), :],
        ),
        _outputs(
            "the outputs are simply turned round: use the order that is given", lambda values, order: values.flip(-2)
        ),
        _outputs(_ALONG, _other_axis),
        _weights(
            "the weights moved with those who ask only: those who are asked have moved, too",
            lambda values, order: values[..., order, :],
        ),
        _weights(
            "the weights moved with those who are asked only: those who ask have moved, too",
            lambda values, order: values[..., order],
        ),
        _weights("the table of weights stayed as it was, though its words have moved", lambda values, order: values),
        _weights(
            "the weights went the opposite way: look again at what order[i] says",
            lambda values, order: values[..., order.argsort(), :][..., order.argsort()],
        ),
        _weights(_OPPOSITE, lambda values, order: values[..., order, :][..., order.argsort()]),
        _weights(_OPPOSITE, lambda values, order: values[..., order.argsort(), :][..., order]),
        _weights(
            "the weights are picked pair by pair: a whole table is asked for",
            lambda values, order: values[..., order, order],
        ),
        _weights("the table of weights is transposed", lambda values, order: values[..., order, :][..., order].mT),
        _weights(_ALONG, _other_axis),
    ),
)


# ---- question 3: bits


def _radix(places: Callable[[np.ndarray, int], Any]) -> Answer:
    """A wrong binary code made from the positions (as a column) and the number of bits."""

    def answer(positions: Any, bits: int) -> Any:
        return places(np.asarray(positions)[:, None], bits)

    return answer


def _bits_from_one(positions: Any, bits: int) -> Any:
    return absolute.binary(np.asarray(positions) + 1, bits + 1)[:, :bits]


def _bit_cases(random: np.random.Generator) -> Iterable[Case]:
    for bits, length in ((5, 12), (4, 9), (7, 20)):
        yield Case(np.append(random.choice(2**bits - 1, length - 1, replace=False), 2**bits - 2), bits)


def _late_bit_cases(random: np.random.Generator) -> Iterable[Case]:
    for bits in (36, 45):
        yield Case(random.integers(2 ** (bits - 1), 2**bits - 1, size=10), bits)


q3 = Question(
    assignment=1,
    name="q3",
    title="Ones and noughts",
    names=("binary",),
    parts=(
        Part("the first positions", 1, cases=_bit_cases),
        Part("positions in the billions", 1, cases=_late_bit_cases),
    ),
    reference=absolute.binary,
    mistakes=(
        Mistake(
            "the highest bit comes first; the question asks for the lowest",
            lambda positions, bits: absolute.binary(positions, bits)[:, ::-1],
        ),
        Mistake("positions seem to start at 1", _bits_from_one),
        Mistake("rows and columns are swapped", lambda positions, bits: absolute.binary(positions, bits).T),
        Mistake(
            "every column is too slow: column 0 should flip at every token",
            _radix(lambda t, bits: (t >> (np.arange(bits) + 1)) & 1),
        ),
        Mistake(
            "every column is too fast: to flip is one thing, to come back another",
            _radix(lambda t, bits: (2 * t >> np.arange(bits)) & 1),
        ),
        Mistake(
            "the position is halved, but its last digit is never taken", _radix(lambda t, bits: t >> np.arange(bits))
        ),
        Mistake(
            "the division keeps its fraction, so that digits are no whole numbers",
            _radix(lambda t, bits: t / 2.0 ** np.arange(bits) % 2),
        ),
        Mistake("these are remainders, not digits", _radix(lambda t, bits: t % 2 ** np.arange(bits))),
        Mistake("these are the values of the bits, not 0 and 1", _radix(lambda t, bits: t & (1 << np.arange(bits)))),
        Mistake("0 and 1 are exchanged", lambda positions, bits: 1 - absolute.binary(positions, bits)),
        Mistake(
            "the digits are −1 and 1, not 0 and 1", lambda positions, bits: 2 * absolute.binary(positions, bits) - 1
        ),
        Mistake(
            "these are decimal digits",
            _radix(lambda t, bits: t // np.array([10.0**i for i in range(bits)]) % 10),
        ),
        Mistake(
            "this is a Gray code: neighbours differ in one digit, but it is not the position in binary",
            _radix(lambda t, bits: ((t ^ (t >> 1)) >> np.arange(bits)) & 1),
        ),
        Mistake(
            "the digits above the eighth are lost: the position is kept in a byte",
            _radix(lambda t, bits: ((t % 256) >> np.arange(bits)) & 1),
        ),
        Mistake(
            "the digits above the thirty-second are lost: the position is kept in too short a number",
            _radix(lambda t, bits: ((t % 2**32) >> np.arange(bits)) & 1),
        ),
        Mistake(
            "the digits above the thirty-second are lost: the position is kept in too short a number",
            _radix(lambda t, bits: (t.astype(np.int32) >> np.arange(bits)) & 1),
        ),
    ),
)


# ---- questions 4 and 6: clocks and their step

Speeds = Callable[[np.ndarray, int, float], np.ndarray]


def _fast(i: np.ndarray, dim: int, base: float) -> np.ndarray:
    return base ** (2 * i / dim)


SPEEDS: dict[str, Speeds] = {
    "the hands slow down too slowly: the exponent seems to lack its 2": lambda i, dim, base: base ** (-i / dim),
    "from pair to pair the hands get faster: look at the sign of the exponent": _fast,
    "the last hand is too slow: the exponent is divided by too little": lambda i, dim, base: (
        base ** (-2 * i / (dim - 2))
    ),
    "pairs seem to be counted from 1": lambda i, dim, base: base ** (-2 * (i + 1) / dim),
    "the hands slow down too fast: the exponent has a factor too many": lambda i, dim, base: base ** (-4 * i / dim),
    "all hands have one speed": lambda i, dim, base: i * 0.0 + 1.0,
    "another base was used than the one given": lambda i, dim, base: 10_000.0 ** (-2 * i / dim),
    "an angle is a speed times a position, in radians: it was converted from degrees": lambda i, dim, base: np.radians(
        base ** (-2 * i / dim)
    ),
    "the speeds have a factor 2π too many: 2π belongs to wavelengths": lambda i, dim, base: (
        2 * np.pi * base ** (-2 * i / dim)
    ),
    "the speeds lack a factor 2π: it belongs to wavelengths": lambda i, dim, base: base ** (-2 * i / dim) / (2 * np.pi),
    "a logarithm to base 10 stands where the natural one belongs": lambda i, dim, base: np.exp(
        -np.log10(base) * 2 * i / dim
    ),
    "the speeds fall evenly, not by one factor": lambda i, dim, base: 1 - 2 * i / dim,
}


def _pairs(dim: int) -> np.ndarray:
    return np.arange(dim // 2).astype(float)


def _table(angle: np.ndarray) -> np.ndarray:
    """Sine and cosine in turn."""
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(*angle.shape[:-1], -1)


def _code_with(speeds: Speeds) -> Answer:
    def answer(positions: Any, dim: int, base: float) -> Any:
        return _table(np.multiply.outer(np.asarray(positions, dtype=float), speeds(_pairs(dim), dim, base)))

    return answer


def _code_per_column(factor: float) -> Answer:
    """A speed for each column, which is what comes out where i counts dimensions."""

    def answer(positions: Any, dim: int, base: float) -> Any:
        angle = np.multiply.outer(np.asarray(positions, dtype=float), base ** (-factor * np.arange(dim) / dim))
        return np.where(np.arange(dim) % 2 == 0, np.sin(angle), np.cos(angle))

    return answer


def _cosine_first(positions: Any, dim: int, base: float) -> Any:
    return absolute.sinusoidal(positions, dim, base).reshape(-1, dim // 2, 2)[..., ::-1].reshape(-1, dim)


def _one_wave_only(which: int) -> Answer:
    def answer(positions: Any, dim: int, base: float) -> Any:
        return np.repeat(absolute.sinusoidal(positions, dim, base)[:, which::2], 2, axis=-1)

    return answer


def _kept_whole(positions: Any, dim: int, base: float) -> Any:
    """A code put into an array of the dtype of the positions."""
    return absolute.sinusoidal(positions, dim, base).astype(np.asarray(positions).dtype)


def _angles_in_bfloat16(speeds_too: bool) -> Answer:
    def answer(positions: Any, dim: int, base: float) -> Any:
        at, speeds = torch.as_tensor(positions).bfloat16(), inv_freq(dim, base, like=torch.zeros(1))
        return _table((at[:, None] * (speeds.bfloat16() if speeds_too else speeds)).double().numpy())

    return answer


def _table_cases(random: np.random.Generator) -> Iterable[Case]:
    for dim, length in ((6, 300), (8, 11), (2 * int(random.integers(5, 9)), 8)):
        yield Case(np.arange(length), dim, 10_000.0)


def _position_cases(random: np.random.Generator) -> Iterable[Case]:
    yield Case(random.permutation(np.append(random.integers(50_000, 200_000, size=5), [300, 301])), 8, 10_000.0)
    yield Case(np.append(random.uniform(-900, 900, size=6), -3.0), 10, 10_000.0)


def _base_cases(random: np.random.Generator) -> Iterable[Case]:
    for base in (float(random.integers(40, 400)), 500_000.0):
        yield Case(int(random.integers(300, 900)) + np.arange(9), 12, base)


q4 = Question(
    assignment=1,
    name="q4",
    title="A row of clocks",
    names=("sinusoidal",),
    parts=(
        Part("a text from its first word on", 2, cases=_table_cases),
        Part("positions late, in no order, between two tokens, before the first", 1, cases=_position_cases),
        Part("other bases", 1, cases=_base_cases),
    ),
    reference=absolute.sinusoidal,
    tolerance=1e-6,
    mistakes=(
        Mistake(
            "all sines come first, then all cosines; the question asks for a sine and its cosine in turn",
            lambda positions, dim, base: absolute.sinusoidal(positions, dim, base, "half"),
        ),
        Mistake("the cosine of a pair stands before its sine", _cosine_first),
        Mistake("a sine and its cosine have two speeds: does i count columns instead of pairs?", _code_per_column(2.0)),
        Mistake("a sine and its cosine have two speeds: each column has one of its own", _code_per_column(1.0)),
        Mistake(
            "positions seem to start at 1",
            lambda positions, dim, base: absolute.sinusoidal(np.asarray(positions) + 1, dim, base),
        ),
        *(Mistake(sentence, _code_with(speeds)) for sentence, speeds in SPEEDS.items()),
        Mistake(
            "the positions that are given seem to be ignored: the rows count from 0",
            lambda positions, dim, base: absolute.sinusoidal(np.arange(len(positions)), dim, base),
        ),
        Mistake(
            "rows and columns are swapped", lambda positions, dim, base: absolute.sinusoidal(positions, dim, base).T
        ),
        Mistake(
            "the hands turn the other way: a sign was flipped",
            lambda positions, dim, base: absolute.sinusoidal(-np.asarray(positions), dim, base),
        ),
        Mistake("every wave is there as a sine, and its cosine is missing", _one_wave_only(0)),
        Mistake("every wave is there as a cosine, and its sine is missing", _one_wave_only(1)),
        Mistake(
            "positions were rounded to whole numbers",
            lambda positions, dim, base: absolute.sinusoidal(np.trunc(positions), dim, base),
        ),
        Mistake("sines and cosines were cut to whole numbers: what is the dtype of their array?", _kept_whole),
        Mistake("the angles were computed in bfloat16", _angles_in_bfloat16(True), tolerance=0.02),
        Mistake(
            "nearly right, but digits are lost: the angles were computed in too short a format",
            absolute.sinusoidal,
            tolerance=0.1,
        ),
        Mistake(
            "the positions were kept in bfloat16, where many of them are one number", _angles_in_bfloat16(False), 1e-3
        ),
    ),
)


# ---- question 5: words and places


def _placed(x: torch.Tensor, table: torch.Tensor, start: int) -> Any:
    """The embeddings as a Transformer's first layer takes them; the package leaves this sum to its models."""
    positions = torch.arange(start, start + x.shape[1])
    return math.sqrt(x.shape[2]) * x + absolute.learned(positions, table)


def _rows(pick: Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]) -> Answer:
    """Rightly scaled words with other rows of the table."""

    def answer(x: torch.Tensor, table: torch.Tensor, start: int) -> torch.Tensor:
        return math.sqrt(x.shape[2]) * x + pick(x, table, start)

    return answer


def _scaled(combine: Callable[[torch.Tensor, torch.Tensor, float], torch.Tensor]) -> Answer:
    """The right rows, put together with the words in another way; the last argument is √dim."""

    def answer(x: torch.Tensor, table: torch.Tensor, start: int) -> torch.Tensor:
        return combine(x, table[start : start + x.shape[1]], math.sqrt(x.shape[2]))

    return answer


def _from_the_end(x: torch.Tensor, table: torch.Tensor, start: int) -> torch.Tensor:
    return table[start : start + x.shape[1]].flip(0)


# One text, as many texts as the table has rows, as many texts as words: each hides another mistake.
WORDS = ((1, 5, 16, 6), (16, 6, 16, 4)), ((1, 6, 20, 10), (7, 7, 20, 6), (3, 5, 20, 4))


def _words_cases(later: bool) -> Callable[[np.random.Generator], Iterable[Case]]:
    def cases(random: np.random.Generator) -> Iterable[Case]:
        for batch, length, rows, dim in WORDS[later]:
            start = int(random.integers(2, rows - length - 1)) if later else 0
            yield Case(_normal(random, batch, length, dim), _normal(random, rows, dim), start)

    return cases


q5 = Question(
    assignment=1,
    name="q5",
    title="Into the reader",
    names=("placed",),
    parts=(
        Part("texts that begin at position 0", 1, cases=_words_cases(False)),
        Part("texts that begin later", 1, cases=_words_cases(True)),
    ),
    reference=_placed,
    mistakes=(
        Mistake("the words are not scaled", _scaled(lambda x, rows, root: x + rows)),
        Mistake(
            "the start is ignored: every text gets the first rows", _rows(lambda x, table, start: table[: x.shape[1]])
        ),
        Mistake(
            "positions seem to start at 1", _rows(lambda x, table, start: table[start + 1 : start + 1 + x.shape[1]])
        ),
        Mistake(
            "every text comes back once for each row of the table: look at the shapes",
            _rows(lambda x, table, start: table[:, None]),
        ),
        Mistake(
            "a row of the table went to each text, where each word should have one",
            _rows(lambda x, table, start: table[start : start + x.shape[0], None]),
        ),
        Mistake(
            "a row of the table went to each text, where each word should have one",
            _rows(lambda x, table, start: table[: x.shape[0], None]),
        ),
        Mistake("all words of a text got the same row of the table", _rows(lambda x, table, start: table[start])),
        Mistake("the code is scaled together with the word", _scaled(lambda x, rows, root: root * (x + rows))),
        Mistake("the code is scaled instead of the word", _scaled(lambda x, rows, root: x + root * rows)),
        Mistake(
            "the words are scaled by the width, not by its root", _scaled(lambda x, rows, root: root**2 * x + rows)
        ),
        Mistake(
            "the words are scaled by the root of their number, not of their width",
            _scaled(lambda x, rows, root: math.sqrt(x.shape[1]) * x + rows),
        ),
        Mistake(
            "the words are divided where they should be multiplied", _scaled(lambda x, rows, root: x / root + rows)
        ),
        Mistake("the words were multiplied by their codes", _scaled(lambda x, rows, root: root * x * rows)),
        Mistake("the code is missing: only words came back", _scaled(lambda x, rows, root: root * x)),
        Mistake("the code is missing: only words came back", _scaled(lambda x, rows, root: x)),
        Mistake("the words are missing: only the code came back", _scaled(lambda x, rows, root: 0 * x + rows)),
        Mistake("the rows are in backward order", _rows(_from_the_end)),
    ),
)


# ---- question 6: a step


def _step_with(speeds: Speeds, forward: bool = True) -> Answer:
    def answer(offset: float, dim: int, base: float) -> Any:
        turned = offset * speeds(_pairs(dim), dim, base)
        matrix = np.zeros((dim, dim))
        even, odd = np.arange(0, dim, 2), np.arange(1, dim, 2)
        matrix[even, even] = matrix[odd, odd] = np.cos(turned)
        matrix[even, odd], matrix[odd, even] = np.sin(turned), -np.sin(turned)
        return matrix if forward else matrix.T

    return answer


def _step(offset: float, dim: int, base: float) -> Any:
    return absolute.shift_matrix(offset, dim, base)


def _step_cases(random: np.random.Generator) -> Iterable[Case]:
    for dim in (6, 8, 12):
        yield Case(int(random.integers(2, 40)), dim, float(random.integers(50, 2000)))


def _back_cases(random: np.random.Generator) -> Iterable[Case]:
    yield Case(-int(random.integers(2, 40)), 6, float(random.integers(50, 2000)))
    yield Case(float(random.uniform(-9, 9)), 10, 10_000.0)
    yield Case(int(random.integers(1000, 9000)), 8, float(random.integers(50, 2000)))


q6 = Question(
    assignment=1,
    name="q6",
    title="A step",
    names=("shift",),
    parts=(
        Part("some tokens on", 2, cases=_step_cases),
        Part("back, by part of a token, and far", 1, cases=_back_cases),
    ),
    reference=_step,
    tolerance=1e-6,
    mistakes=(
        Mistake("the matrix takes a code the opposite way", lambda offset, dim, base: _step(-offset, dim, base)),
        Mistake(
            "the matrix is one for all sines first, then all cosines; here they come in turn",
            lambda offset, dim, base: absolute.shift_matrix(offset, dim, base, "half"),
        ),
        Mistake(
            "the number of tokens is ignored: the matrix makes one step", lambda offset, dim, base: _step(1, dim, base)
        ),
        *(Mistake(sentence, _step_with(speeds)) for sentence, speeds in SPEEDS.items()),
        Mistake("the matrix leaves every code where it is", lambda offset, dim, base: np.eye(dim)),
        Mistake(
            "the number of tokens was cut to a whole one",
            lambda offset, dim, base: _step(math.trunc(offset), dim, base),
        ),
        Mistake("a step back was taken for a step on", lambda offset, dim, base: _step(abs(offset), dim, base)),
        Mistake(
            "the matrix takes position 0 where it should, and no other position",
            lambda offset, dim, base: np.outer(*(absolute.sinusoidal(t, dim, base) for t in (offset, 0))) * 2 / dim,
        ),
        Mistake("the matrix goes one token too far", lambda offset, dim, base: _step(offset + 1, dim, base)),
        Mistake(
            "this is the code of a position, where a matrix is asked for",
            lambda offset, dim, base: absolute.sinusoidal(offset, dim, base),
        ),
        Mistake(
            "the cosines are right, and the sines are missing",
            lambda offset, dim, base: (_step(offset, dim, base) + _step(-offset, dim, base)) / 2,
        ),
        Mistake(
            "both sines have the same sign: such a block does not turn a hand",
            lambda offset, dim, base: (
                np.abs(np.tri(dim, k=0)) * _step(-offset, dim, base) + np.triu(_step(offset, dim, base), 1)
            ),
        ),
        Mistake(
            "nearly right, but digits are lost: the angles were computed in too short a format", _step, tolerance=0.05
        ),
    ),
)


# ---- question 7: a slider


def _heights(speeds: Speeds, dim: int, base: float, wave: Any = np.cos) -> Any:
    return wave(np.multiply.outer(np.arange(REACH + 1.0), speeds(_pairs(dim), dim, base))).mean(axis=-1)


def _right_curve(base: float, dim: int) -> np.ndarray:
    return np.asarray(decay(np.arange(REACH + 1), inv_freq(dim, base)))


def _curves(random: np.random.Generator) -> Iterable[Case]:
    for dim in (16, 4, 2 * int(random.integers(20, 120))):
        yield Case(float(10 ** random.uniform(1.2, 5.8)), dim)


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
        Mistake(
            "the curve is the product of two codes: it lacks the division by the number of hands",
            lambda base, dim: _right_curve(base, dim) * (dim / 2),
        ),
        Mistake(
            "the curve starts at 1/2: there are half as many hands as columns",
            lambda base, dim: _right_curve(base, dim) / 2,
        ),
        Mistake(
            "the curve is a sum of sines: the height of a hand is its cosine",
            lambda base, dim: _heights(lambda i, dim, base: base ** (-2 * i / dim), dim, base, np.sin),
        ),
        *(
            Mistake(sentence, lambda base, dim, speeds=speeds: _heights(speeds, dim, base))
            for sentence, speeds in SPEEDS.items()
        ),
        Mistake("the width that is given seems to be ignored", lambda base, dim: _right_curve(base, 64)),
        Mistake(
            "this is how far apart two codes are, not how alike",
            lambda base, dim: np.sqrt(np.maximum(dim * (1 - _right_curve(base, dim)), 0)),
        ),
        Mistake("distances seem to start at 1", lambda base, dim: decay(np.arange(1, REACH + 2), inv_freq(dim, base))),
    ),
    packages=("plotly", "ipywidgets"),
)

ASSIGNMENT = Assignment(1, "The blind spot, and codes for a place", (q1, q2, q3, q4, q5, q6, q7))
