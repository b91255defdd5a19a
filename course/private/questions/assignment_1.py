"""Assignment 1, "The blind spot, and codes for a place": attention, reordered words, bits, clocks, a step, a slider.

It rests on chapters 01 to 04.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from course.question import Answer, Assignment, Case, Mistake, Part, Question, sentences_of
from posenc import absolute
from posenc.analysis import decay
from posenc.attention import attention
from posenc.check import HandGraded
from posenc.frequencies import inv_freq

say = sentences_of(1)

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


def _plain_shares(scores: torch.Tensor, causal: bool) -> torch.Tensor:
    scores = _masked(scores, causal, 0.0)
    return scores / scores.sum(-1, keepdim=True)


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


_NO_NUMBER = say("shared.no_number_where_scores_are_large")
_NO_NUMBER_MASKED = say("shared.no_number_under_the_mask")


def _large_scores(random: np.random.Generator) -> Iterable[Case]:
    """Every score far out, all of them together; then future ones far above past ones. Only −∞ closes them all."""
    for sign, causal in ((1, False), (-1, False), (1, True), (-1, True)):
        q, k, v = _normal(random, 2, 6, 4), _normal(random, 2, 6, 4), _normal(random, 2, 6, 3)
        q[..., 0], k[..., 0] = sign * 2000, random.uniform(30, 40)
        low = say("q1.words_look_ahead_where")
        infinite = _NO_NUMBER_MASKED if causal else _NO_NUMBER
        yield Case(q, k, v, causal, values=low if sign < 0 and causal else "", infinite=infinite)
    q, k, v = _normal(random, 2, 6, 4), _normal(random, 2, 6, 4), _normal(random, 2, 6, 3)
    q[..., 0], k[..., 0] = 2000, torch.arange(6) * random.uniform(30, 40)
    yield Case(
        q,
        k,
        v,
        True,
        values=say("q1.words_look_ahead_where_later"),
        infinite=_NO_NUMBER_MASKED,
    )


q1 = Question(
    assignment=1,
    name="q1",
    title=say("q1.title"),
    names=("attention",),
    tensors="either",
    returns=(say("q1.output"), say("q1.weights")),
    parts=(
        Part(say("q1.every_word_looks_every"), 2, cases=_no_mask_cases),
        Part(say("q1.no_word_looks_ahead"), 1, cases=_causal_cases),
        Part(say("q1.scores_many_thousands"), 1, cases=_large_scores),
    ),
    reference=_attention,
    mistakes=(
        Mistake(say("q1.scores_undivided"), _scaled_by(lambda width, keys, values: 1.0)),
        Mistake(
            say("q1.softmax_runs_over_queries"),
            _with_weights(lambda scores, causal: torch.softmax(_masked(scores, causal), -2)),
        ),
        Mistake(
            say("q1.nothing_masked_words_look"),
            _with_weights(lambda scores, causal: torch.softmax(scores, -1)),
        ),
        Mistake(
            say("q1.score_0_not_close"),
            _with_weights(lambda scores, causal: torch.softmax(_masked(scores, causal, 0.0), -1)),
        ),
        Mistake(say("q1.closed_weights_0_but"), _with_weights(_zero_weights)),
        Mistake(say("q1.mask_closes_past_leaves"), _with_weights(_past_closed)),
        Mistake(say("q1.words_may_not_look"), _with_weights(_own_place_closed)),
        Mistake(
            say("q1.words_kept_looking_ahead"),
            _with_weights(lambda scores, causal: torch.softmax(_masked(scores, True), -1)),
        ),
        Mistake(say("q1.output_weights_wrong_order"), _swapped),
        Mistake(say("q1.comes_second_scores_not"), _scores_returned),
        Mistake(say("q1.scores_divided_width_not"), _scaled_by(lambda width, keys, values: 1 / width)),
        Mistake(say("q1.scores_multiplied_where_should"), _scaled_by(lambda width, keys, values: width**0.5)),
        Mistake(
            say("q1.scores_divided_root_number"),
            _scaled_by(lambda width, keys, values: keys**-0.5),
        ),
        Mistake(
            say("q1.scores_divided_root_width"),
            _scaled_by(lambda width, keys, values: values**-0.5),
        ),
        Mistake(say("q1.weights_divided_after_softmax"), _divided_after),
        Mistake(
            say("q1.one_softmax_for_all"),
            _with_weights(lambda scores, causal: torch.softmax(_masked(scores, causal).flatten(), 0).view_as(scores)),
        ),
        Mistake(say("q1.exponential_missing"), _with_weights(_plain_shares)),
        Mistake(
            say("q1.weights_all_alike_softmax"),
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


_ALONG = say("shared.texts_or_heads_put")
_OPPOSITE = say("shared.rows_columns_weights_moved")

q2 = Question(
    assignment=1,
    name="q2",
    title=say("q2.title"),
    names=("reordered",),
    tensors="either",
    returns=(say("q2.outputs"), say("q2.weights")),
    parts=(
        Part(say("q2.outputs_reordered_headline"), 1, cases=_one_text, of=0),
        Part(say("q2.its_weights"), 1, cases=_one_text, of=1),
        Part(say("q2.many_texts_heads_once"), 1, cases=_many_heads),
    ),
    tolerance=1e-6,
    mistakes=(
        Mistake(
            say("q2.outputs_weights_wrong_order"),
            lambda output, weights, order: (weights[..., order, :][..., order], output[..., order, :]),
        ),
        _outputs(say("q2.outputs_stayed_where_though"), lambda values, order: values),
        _outputs(
            say("q2.outputs_went_opposite_way"),
            lambda values, order: values[..., order.argsort(), :],
        ),
        _outputs(say("q2.outputs_simply_turned_round"), lambda values, order: values.flip(-2)),
        _outputs(_ALONG, _other_axis),
        _weights(
            say("q2.weights_moved_who_ask"),
            lambda values, order: values[..., order, :],
        ),
        _weights(
            say("q2.weights_moved_who_asked"),
            lambda values, order: values[..., order],
        ),
        _weights(say("q2.table_weights_stayed_though"), lambda values, order: values),
        _weights(
            say("q2.weights_went_opposite_way"),
            lambda values, order: values[..., order.argsort(), :][..., order.argsort()],
        ),
        _weights(_OPPOSITE, lambda values, order: values[..., order, :][..., order.argsort()]),
        _weights(_OPPOSITE, lambda values, order: values[..., order.argsort(), :][..., order]),
        _weights(
            say("q2.weights_picked_pair_pair"),
            lambda values, order: values[..., order, order],
        ),
        _weights(say("q2.table_weights_transposed"), lambda values, order: values[..., order, :][..., order].mT),
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
        positions = random.integers(2 ** (bits - 1), 2**bits - 1, size=10)
        yield Case(positions, bits, values=say("q3.numbers_too_short"))


q3 = Question(
    assignment=1,
    name="q3",
    title=say("q3.title"),
    names=("binary",),
    parts=(
        Part(say("q3.first_positions"), 1, cases=_bit_cases),
        Part(say("q3.positions_billions"), 1, cases=_late_bit_cases),
    ),
    reference=absolute.binary,
    mistakes=(
        Mistake(
            say("q3.highest_bit_comes_first"),
            lambda positions, bits: absolute.binary(positions, bits)[:, ::-1],
        ),
        Mistake(say("q3.positions_start_1"), _bits_from_one),
        Mistake(
            say("q4.positions_given_ignored_rows"),
            lambda positions, bits: absolute.binary(np.arange(len(positions)), bits),
        ),
        Mistake(say("q3.rows_columns_swapped"), lambda positions, bits: absolute.binary(positions, bits).T),
        Mistake(
            say("q3.every_column_slow_column"),
            _radix(lambda t, bits: (t >> (np.arange(bits) + 1)) & 1),
        ),
        Mistake(
            say("q3.every_column_fast_flip"),
            _radix(lambda t, bits: (2 * t >> np.arange(bits)) & 1),
        ),
        Mistake(say("q3.position_halved_but_last"), _radix(lambda t, bits: t >> np.arange(bits))),
        Mistake(
            say("q3.division_keeps_fraction_digits"),
            _radix(lambda t, bits: t / 2.0 ** np.arange(bits) % 2),
        ),
        Mistake(say("q3.remainders_not_digits"), _radix(lambda t, bits: t % 2 ** np.arange(bits))),
        Mistake(say("q3.values_bits_not_0"), _radix(lambda t, bits: t & (1 << np.arange(bits)))),
        Mistake(say("q3.0_1_exchanged"), lambda positions, bits: 1 - absolute.binary(positions, bits)),
        Mistake(say("q3.digits_minus_1_1"), lambda positions, bits: 2 * absolute.binary(positions, bits) - 1),
        Mistake(
            say("q3.decimal_digits"),
            _radix(lambda t, bits: t // np.array([10.0**i for i in range(bits)]) % 10),
        ),
        Mistake(
            say("q3.gray_code_neighbours_differ"),
            _radix(lambda t, bits: ((t ^ (t >> 1)) >> np.arange(bits)) & 1),
        ),
        Mistake(
            say("q3.digits_above_eighth_lost"),
            _radix(lambda t, bits: ((t % 256) >> np.arange(bits)) & 1),
        ),
        Mistake(
            say("q3.digits_above_thirty_second"),
            _radix(lambda t, bits: ((t % 2**32) >> np.arange(bits)) & 1),
        ),
        Mistake(
            say("q3.digits_above_thirty_second"),
            _radix(lambda t, bits: (t.astype(np.int32) >> np.arange(bits)) & 1),
        ),
    ),
)


# ---- questions 4 and 6: clocks and their step

Speeds = Callable[[np.ndarray, int, float], np.ndarray]


def _fast(i: np.ndarray, dim: int, base: float) -> np.ndarray:
    return base ** (2 * i / dim)


SPEEDS: dict[str, Speeds] = {
    say("shared.hands_slow_down_slowly"): lambda i, dim, base: base ** (-i / dim),
    say("shared.hands_get_faster"): _fast,
    say("shared.last_hand_slow_exponent"): lambda i, dim, base: base ** (-2 * i / (dim - 2)),
    say("shared.pairs_counted_1"): lambda i, dim, base: base ** (-2 * (i + 1) / dim),
    say("shared.hands_slow_down_fast"): lambda i, dim, base: base ** (-4 * i / dim),
    say("shared.all_hands_speed"): lambda i, dim, base: i * 0.0 + 1.0,
    say("shared.another_base_used_given"): lambda i, dim, base: 10_000.0 ** (-2 * i / dim),
    say("shared.angle_speed_times_position"): lambda i, dim, base: np.radians(base ** (-2 * i / dim)),
    say("shared.speeds_factor_2_pi"): lambda i, dim, base: 2 * np.pi * base ** (-2 * i / dim),
    say("shared.speeds_lack_factor_2"): lambda i, dim, base: base ** (-2 * i / dim) / (2 * np.pi),
    say("shared.logarithm_base_10_stands"): lambda i, dim, base: np.exp(-np.log10(base) * 2 * i / dim),
    say("shared.speeds_fall_evenly_not"): lambda i, dim, base: 1 - 2 * i / dim,
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
    title=say("q4.title"),
    names=("sinusoidal",),
    parts=(
        Part(say("q4.text_first_word"), 2, cases=_table_cases),
        Part(say("q4.positions_late_no_order"), 1, cases=_position_cases),
        Part(say("q4.other_bases"), 1, cases=_base_cases),
    ),
    reference=absolute.sinusoidal,
    tolerance=1e-6,
    mistakes=(
        Mistake(
            say("q4.all_sines_come_first"),
            lambda positions, dim, base: absolute.sinusoidal(positions, dim, base, "half-split"),
        ),
        Mistake(say("q4.cosine_pair_stands_before"), _cosine_first),
        Mistake(say("q4.sine_cosine_two_speeds"), _code_per_column(2.0)),
        Mistake(say("q4.sine_cosine_two_speeds_each"), _code_per_column(1.0)),
        Mistake(
            say("q4.positions_start_1"),
            lambda positions, dim, base: absolute.sinusoidal(np.asarray(positions) + 1, dim, base),
        ),
        *(Mistake(sentence, _code_with(speeds)) for sentence, speeds in SPEEDS.items()),
        Mistake(
            say("q4.positions_given_ignored_rows"),
            lambda positions, dim, base: absolute.sinusoidal(np.arange(len(positions)), dim, base),
        ),
        Mistake(
            say("q4.rows_columns_swapped"), lambda positions, dim, base: absolute.sinusoidal(positions, dim, base).T
        ),
        Mistake(
            say("q4.hands_turn_other_way"),
            lambda positions, dim, base: absolute.sinusoidal(-np.asarray(positions), dim, base),
        ),
        Mistake(say("q4.every_wave_sine_cosine"), _one_wave_only(0)),
        Mistake(say("q4.every_wave_cosine_sine"), _one_wave_only(1)),
        Mistake(
            say("q4.positions_rounded_whole_numbers"),
            lambda positions, dim, base: absolute.sinusoidal(np.trunc(positions), dim, base),
        ),
        Mistake(say("q4.sines_cosines_cut_whole"), _kept_whole),
        Mistake(say("q4.angles_computed_bfloat16"), _angles_in_bfloat16(True), tolerance=0.02),
        Mistake(
            say("q4.nearly_right_but_digits"),
            absolute.sinusoidal,
            tolerance=0.1,
        ),
        Mistake(say("q4.positions_kept_bfloat16_where"), _angles_in_bfloat16(False), 1e-3),
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


def _exchanged(offset: float, dim: int, base: float) -> Any:
    """The matrix with sines and cosines in each other's place, signs as they were."""
    matrix = np.asarray(_step(offset, dim, base))[:, np.arange(dim) ^ 1]
    matrix[1::2] *= -1
    return matrix


q6 = Question(
    assignment=1,
    name="q6",
    title=say("q6.title"),
    names=("shift",),
    parts=(
        Part(say("q6.some_tokens"), 2, cases=_step_cases),
        Part(say("q6.back_part_token_far"), 1, cases=_back_cases),
    ),
    reference=_step,
    tolerance=1e-6,
    mistakes=(
        Mistake(say("q6.matrix_takes_code_opposite"), lambda offset, dim, base: _step(-offset, dim, base)),
        Mistake(
            say("q6.matrix_all_sines_first"),
            lambda offset, dim, base: absolute.shift_matrix(offset, dim, base, "half-split"),
        ),
        Mistake(say("q6.number_tokens_ignored_matrix"), lambda offset, dim, base: _step(1, dim, base)),
        *(Mistake(sentence, _step_with(speeds)) for sentence, speeds in SPEEDS.items()),
        Mistake(say("q6.matrix_leaves_every_code"), lambda offset, dim, base: np.eye(dim)),
        Mistake(
            say("q6.number_tokens_cut_whole"),
            lambda offset, dim, base: _step(math.trunc(offset), dim, base),
        ),
        Mistake(say("q6.step_back_taken_step"), lambda offset, dim, base: _step(abs(offset), dim, base)),
        Mistake(
            say("q6.matrix_takes_position_0"),
            lambda offset, dim, base: np.outer(*(absolute.sinusoidal(t, dim, base) for t in (offset, 0))) * 2 / dim,
        ),
        Mistake(say("q6.matrix_goes_token_far"), lambda offset, dim, base: _step(offset + 1, dim, base)),
        Mistake(
            say("q6.code_position_where_matrix"),
            lambda offset, dim, base: absolute.sinusoidal(offset, dim, base),
        ),
        Mistake(
            say("q6.cosines_right_sines_missing"),
            lambda offset, dim, base: (_step(offset, dim, base) + _step(-offset, dim, base)) / 2,
        ),
        Mistake(
            say("q6.both_sines_same_sign"),
            lambda offset, dim, base: (
                np.abs(np.tri(dim, k=0)) * _step(-offset, dim, base) + np.triu(_step(offset, dim, base), 1)
            ),
        ),
        Mistake(say("q6.sines_cosines_changed_places"), _exchanged),
        Mistake(say("q6.one_step_multiplied"), lambda offset, dim, base: offset * _step(1, dim, base)),
        Mistake(say("q6.nearly_right_but_digits"), _step, tolerance=0.05),
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
    title=say("q7.title"),
    names=("draw", "controls"),
    parts=(
        Part(say("q7.curve"), 1, view="curve", cases=_curves),
        Part(
            say("q7.sliders"),
            1,
            "controls",
            view="base_and_dim",
            raised={"OverflowError": say("q7.ends_floatlogslider_exponents_not")},
            cases=lambda random: [Case(right=True)],
        ),
    ),
    reference=_right_curve,
    mistakes=(
        Mistake(
            say("q7.curve_product_two_codes"),
            lambda base, dim: _right_curve(base, dim) * (dim / 2),
        ),
        Mistake(
            say("q7.curve_starts_1_2"),
            lambda base, dim: _right_curve(base, dim) / 2,
        ),
        Mistake(
            say("q7.curve_sum_sines_height"),
            lambda base, dim: _heights(lambda i, dim, base: base ** (-2 * i / dim), dim, base, np.sin),
        ),
        *(
            Mistake(sentence, lambda base, dim, speeds=speeds: _heights(speeds, dim, base))
            for sentence, speeds in SPEEDS.items()
        ),
        Mistake(say("q7.width_given_ignored"), lambda base, dim: _right_curve(base, 64)),
        Mistake(
            say("q7.how_far_apart_two"),
            lambda base, dim: np.sqrt(np.maximum(dim * (1 - _right_curve(base, dim)), 0)),
        ),
        Mistake(say("q7.distances_start_1"), lambda base, dim: decay(np.arange(1, REACH + 2), inv_freq(dim, base))),
    ),
    packages=("plotly", "ipywidgets"),
)

ASSIGNMENT = Assignment(
    1, say("assignment.title"), (q1, q2, q3, q4, q6, q7), (HandGraded(1, "q5", say("assignment.q5"), 2),)
)
