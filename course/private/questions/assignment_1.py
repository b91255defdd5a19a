"""Assignment 1, "The blind spot, and codes for a place": attention, reordered words, bits, clocks, a step, a slider.

It rests on chapters 01 to 04.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from course.question import Assignment, Case, Edit, Mistake, Part, Question, sentences_of
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
    # fmt: off
    mistakes=(
        Edit(say("q1.scores_undivided"), " / math.sqrt(q.shape[-1])", ""),
        Edit(say("q1.softmax_runs_over_queries"), "dim=-1", "dim=-2"),
        Edit(say("q1.nothing_masked_words_look"), "if causal", "if False"),
        Edit(say("q1.score_0_not_close"), 'float("-inf")', "0.0"),
        Edit(
            say("q1.closed_weights_0_but"),
            "if causal",
            "if False",
            "dim=-1)",
            "dim=-1)\n    weights = weights.tril() if causal else weights",
        ),
        Edit(say("q1.mask_closes_past_leaves"), "triu(1)", "tril(-1)"),
        Edit(say("q1.words_may_not_look"), "triu(1)", "triu(0)", 'float("-inf")', "-1e9"),
        Edit(say("q1.words_kept_looking_ahead"), "if causal", "if True"),
        Edit(say("q1.output_weights_wrong_order"), "weights @ v, weights", "weights, weights @ v"),
        Edit(say("q1.comes_second_scores_not"), "weights @ v, weights", "weights @ v, q @ k.mT / q.shape[-1] ** 0.5"),
        Edit(say("q1.scores_divided_width_not"), "math.sqrt(q.shape[-1])", "q.shape[-1]"),
        Edit(say("q1.scores_multiplied_where_should"), "/ math", "* math"),
        Edit(say("q1.scores_divided_root_number"), "q.shape[-1]", "k.shape[-2]"),
        Edit(say("q1.scores_divided_root_width"), "q.shape[-1]", "v.shape[-1]"),
        Edit(
            say("q1.weights_divided_after_softmax"),
            " / math.sqrt(q.shape[-1])",
            "",
            "dim=-1)",
            "dim=-1) / math.sqrt(q.shape[-1])",
        ),
        Edit(say("q1.one_softmax_for_all"), "softmax(scores, dim=-1)", "softmax(scores.flatten(), 0).view_as(scores)"),
        Edit(
            say("q1.exponential_missing"),
            'float("-inf")',
            "0.0",
            "torch.softmax(scores, dim=-1)",
            "scores / scores.sum(-1, keepdim=True)",
        ),
        Edit(say("q1.weights_all_alike_softmax"), "q @ k", "0 * q @ k"),
    ),
    # fmt: on
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


_OUTPUT, _WEIGHTS = "output[..., order, :]", "weights[..., order, :][..., order]"

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
    # fmt: off
    mistakes=(
        Edit(say("q2.outputs_weights_wrong_order"), f"{_OUTPUT}, {_WEIGHTS}", f"{_WEIGHTS}, {_OUTPUT}"),
        Edit(say("q2.outputs_stayed_where_though"), _OUTPUT, "output", of=0),
        Edit(say("q2.outputs_went_opposite_way"), _OUTPUT, "output[..., order.argsort(), :]", of=0),
        Edit(say("q2.outputs_simply_turned_round"), _OUTPUT, "output.flip(-2)", of=0),
        Edit(say("shared.texts_or_heads_put"), _OUTPUT, "output[order]", of=0),
        Edit(say("q2.weights_moved_who_ask"), _WEIGHTS, "weights[..., order, :]", of=1),
        Edit(say("q2.weights_moved_who_asked"), _WEIGHTS, "weights[..., order]", of=1),
        Edit(say("q2.table_weights_stayed_though"), _WEIGHTS, "weights", of=1),
        Edit(
            say("q2.weights_went_opposite_way"),
            _WEIGHTS,
            "weights[..., order.argsort(), :][..., order.argsort()]",
            of=1,
        ),
        Edit(say("shared.rows_columns_weights_moved"), _WEIGHTS, "weights[..., order, :][..., order.argsort()]", of=1),
        Edit(say("shared.rows_columns_weights_moved"), _WEIGHTS, "weights[..., order.argsort(), :][..., order]", of=1),
        Edit(say("q2.weights_picked_pair_pair"), _WEIGHTS, "weights[..., order, order]", of=1),
        Edit(say("q2.table_weights_transposed"), _WEIGHTS, f"{_WEIGHTS}.mT", of=1),
        Edit(say("shared.texts_or_heads_put"), _WEIGHTS, "weights[order]", of=1),
    ),
    # fmt: on
)


# ---- question 3: bits


def _bit_cases(random: np.random.Generator) -> Iterable[Case]:
    for bits, length in ((5, 12), (4, 9), (7, 20)):
        yield Case(np.append(random.choice(2**bits - 1, length - 1, replace=False), 2**bits - 2), bits)


def _late_bit_cases(random: np.random.Generator) -> Iterable[Case]:
    for bits in (36, 45):
        positions = random.integers(2 ** (bits - 1), 2**bits - 1, size=10)
        yield Case(positions, bits, values=say("q3.numbers_too_short"))


_BITS = "(positions[:, None] >> np.arange(bits)) & 1"

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
    # fmt: off
    mistakes=(
        Edit(say("q3.highest_bit_comes_first"), "np.arange(bits)", "np.arange(bits)[::-1]"),
        Edit(say("q3.positions_start_1"), "positions[:, None]", "(positions + 1)[:, None]"),
        Edit(say("q4.positions_given_ignored_rows"), "positions[:, None]", "np.arange(len(positions))[:, None]"),
        Edit(say("q3.rows_columns_swapped"), _BITS, f"({_BITS}).T"),
        Edit(say("q3.every_column_slow_column"), "np.arange(bits)", "(np.arange(bits) + 1)"),
        Edit(say("q3.every_column_fast_flip"), "positions[:, None]", "2 * positions[:, None]"),
        Edit(say("q3.position_halved_but_last"), " & 1", ""),
        Edit(say("q3.division_keeps_fraction_digits"), _BITS, "positions[:, None] / 2.0 ** np.arange(bits) % 2"),
        Edit(say("q3.remainders_not_digits"), _BITS, "positions[:, None] % 2 ** np.arange(bits)"),
        Edit(say("q3.values_bits_not_0"), _BITS, "positions[:, None] & (1 << np.arange(bits))"),
        Edit(say("q3.0_1_exchanged"), _BITS, f"1 - ({_BITS})"),
        Edit(say("q3.digits_minus_1_1"), _BITS, f"2 * ({_BITS}) - 1"),
        Edit(say("q3.decimal_digits"), _BITS, "positions[:, None] // np.array([10.0**i for i in range(bits)]) % 10"),
        Edit(say("q3.gray_code_neighbours_differ"), "positions[:, None]", "(positions ^ (positions >> 1))[:, None]"),
        Edit(say("q3.digits_above_eighth_lost"), "positions[:, None]", "positions[:, None] % 256"),
        Edit(say("q3.digits_above_thirty_second"), "positions[:, None]", "positions[:, None] % 2**32"),
        Edit(say("q3.digits_above_thirty_second"), "positions[:, None]", "positions.astype(np.int32)[:, None]"),
    ),
    # fmt: on
)


# ---- questions 4, 6 and 7: frequencies, which all three may get wrong

# fmt: off
FREQUENCIES = {
    say("shared.hands_slow_down_slowly"): "base ** (-{i} / dim)",
    say("shared.hands_get_faster"): "base ** (2 * {i} / dim)",
    say("shared.last_hand_slow_exponent"): "base ** (-2 * {i} / (dim - 2))",
    say("shared.pairs_counted_1"): "base ** (-2 * ({i} + 1) / dim)",
    say("shared.hands_slow_down_fast"): "base ** (-4 * {i} / dim)",
    say("shared.all_hands_speed"): "base ** (0.0 * {i})",
    say("shared.another_base_used_given"): "10_000.0 ** (-2 * {i} / dim)",
    say("shared.angle_speed_times_position"): "np.radians(base ** (-2 * {i} / dim))",
    say("shared.speeds_factor_2_pi"): "2 * np.pi * base ** (-2 * {i} / dim)",
    say("shared.speeds_lack_factor_2"): "base ** (-2 * {i} / dim) / (2 * np.pi)",
    say("shared.logarithm_base_10_stands"): "np.exp(-np.log10(base) * 2 * {i} / dim)",
    say("shared.speeds_fall_evenly_not"): "(1 - 2 * {i} / dim)",
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
    # fmt: off
    mistakes=(
        Edit(say("q4.all_sines_come_first"), "np.stack", "np.concatenate"),
        Edit(say("q4.cosine_pair_stands_before"), "np.sin(angle), np.cos(angle)", "np.cos(angle), np.sin(angle)"),
        Edit(say("q4.sine_cosine_two_speeds"), "np.arange(dim // 2)", "np.arange(dim)", _TABLE, _BY_COLUMN),
        Edit(say("q4.sine_cosine_two_speeds_each"), "-2 * np.arange(dim // 2)", "-np.arange(dim)", _TABLE, _BY_COLUMN),
        Edit(say("q4.positions_start_1"), "positions[:, None]", "(positions[:, None] + 1)"),
        *_frequencies("np.arange(dim // 2)"),
        Edit(say("q4.positions_given_ignored_rows"), "positions[:, None]", "np.arange(len(positions))[:, None]"),
        Edit(say("q4.rows_columns_swapped"), "(len(positions), dim)", "(len(positions), dim).T"),
        Edit(say("q4.hands_turn_other_way"), "positions[:, None]", "-positions[:, None]"),
        Edit(say("q4.every_wave_sine_cosine"), "np.cos", "np.sin"),
        Edit(say("q4.every_wave_cosine_sine"), "np.sin", "np.cos"),
        Edit(say("q4.positions_rounded_whole_numbers"), "positions[:, None]", "np.trunc(positions)[:, None]"),
        Edit(
            say("q4.sines_cosines_cut_whole"), "(len(positions), dim)", "(len(positions), dim).astype(positions.dtype)"
        ),
        Edit(
            say("q4.angles_computed_bfloat16"),
            "positions[:, None] * inv_freq",
            _ROUNDED_POSITIONS.replace("(inv_freq)", "(inv_freq).bfloat16()"),
            tolerance=0.02,
        ),
        Mistake(say("q4.nearly_right_but_digits"), absolute.sinusoidal, tolerance=0.1),
        Edit(
            say("q4.positions_kept_bfloat16_where"), "positions[:, None] * inv_freq", _ROUNDED_POSITIONS, tolerance=1e-3
        ),
    ),
    # fmt: on
)


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
    # fmt: off
    mistakes=(
        Edit(say("q6.matrix_takes_code_opposite"), _BLOCK, "[[c, -s], [s, c]]"),
        Edit(
            say("q6.matrix_all_sines_first"), "[2 * i : 2 * i + 2, 2 * i : 2 * i + 2]", "[i :: dim // 2, i :: dim // 2]"
        ),
        Edit(say("q6.number_tokens_ignored_matrix"), "k * base", "base"),
        *_frequencies("i"),
        Edit(say("q6.matrix_leaves_every_code"), _BLOCK, "np.eye(2)"),
        Edit(say("q6.number_tokens_cut_whole"), "k * base", "math.trunc(k) * base"),
        Edit(say("q6.step_back_taken_step"), "k * base", "abs(k) * base"),
        Edit(
            say("q6.matrix_takes_position_0"),
            "return matrix",
            "return matrix[:, 1::2].sum(axis=1, keepdims=True) * (np.arange(dim) % 2) * 2 / dim",
        ),
        Edit(say("q6.matrix_goes_token_far"), "k * base", "(k + 1) * base"),
        Edit(say("q6.code_position_where_matrix"), "return matrix", "return matrix[:, 1::2].sum(axis=1)"),
        Edit(say("q6.cosines_right_sines_missing"), _BLOCK, "[[c, 0], [0, c]]"),
        Edit(say("q6.both_sines_same_sign"), _BLOCK, "[[c, s], [s, c]]"),
        Edit(say("q6.sines_cosines_changed_places"), _BLOCK, "[[s, c], [-c, s]]"),
        Edit(say("q6.one_step_multiplied"), "k * base", "base", "return matrix", "return k * matrix"),
        Mistake(say("q6.nearly_right_but_digits"), _step, tolerance=0.05),
    ),
    # fmt: on
)


# ---- question 7: a slider


def _right_curve(base: float, dim: int) -> np.ndarray:
    return np.asarray(decay(np.arange(REACH + 1), inv_freq(dim, base)))


def _curves(random: np.random.Generator) -> Iterable[Case]:
    for dim in (16, 4, 2 * int(random.integers(20, 120))):
        yield Case(float(10 ** random.uniform(1.2, 5.8)), dim)


_CURVE = "np.cos(k[:, None] * inv_freq).mean(axis=-1)"

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
    # fmt: off
    mistakes=(
        Edit(say("q7.curve_product_two_codes"), ".mean(axis=-1)", ".sum(axis=-1)"),
        Edit(say("q7.curve_starts_1_2"), ".mean(axis=-1)", ".mean(axis=-1) / 2"),
        Edit(say("q7.curve_sum_sines_height"), "np.cos", "np.sin"),
        *_frequencies("np.arange(dim // 2)"),
        Edit(say("q7.width_given_ignored"), "k = np.arange(201)", "k, dim = np.arange(201), 64"),
        Edit(say("q7.how_far_apart_two"), _CURVE, "np.sqrt((2 - 2 * np.cos(k[:, None] * inv_freq)).sum(axis=-1))"),
        Edit(say("q7.distances_start_1"), "k[:, None]", "(k + 1)[:, None]"),
    ),
    # fmt: on
    packages=("plotly", "ipywidgets"),
)

ASSIGNMENT = Assignment(
    1, say("assignment.title"), (q1, q2, q3, q4, q6, q7), (HandGraded(1, "q5", say("assignment.q5"), 2),)
)
