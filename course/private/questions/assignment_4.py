"""Assignment 4, "Going long": ALiBi derived, three ways to extend RoPE's context, and two answers that a person reads.

What the points of questions 3 and 7 are given for is in rubrics.json, with marked samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from course.question import Assignment, Case, Mistake, Part, Question, sentences_of, until
from posenc import frequencies, scaling
from posenc.check import HandGraded

say = sentences_of(4)

IGNORED = -100  # torch's own mark of a token that is not asked for


def _speeds(random: np.random.Generator, pairs: int) -> np.ndarray:
    """Speeds of a drawn base, which belong to no model."""
    speeds = frequencies.inv_freq(2 * pairs, float(random.uniform(20, 3000)))
    return np.asarray(speeds * random.uniform(0.6, 1.4))


def _places(random: np.random.Generator, *shape: int) -> np.ndarray:
    """Whole positions, not from 0 and not one after another."""
    return random.integers(5, 700, shape)


# ---------------------------------------------------------------------------------------------------------------------
# Question 1: ALiBi


def _alibi_weights(slope: float, length: int) -> np.ndarray:
    logits = -slope * np.arange(length)
    powers = np.exp(logits)
    return np.asarray(powers / powers.sum())


def _slope_for(share: float, length: int) -> float:
    return -math.log(share) / length


def _reach(slope: float, advantage: float) -> float:
    return (float(np.logaddexp(advantage, 0)) + math.log(-math.expm1(-slope))) / slope


def _gentle(random: np.random.Generator) -> Iterator[Case]:
    for length in (1, 5, 300):
        yield Case(float(random.uniform(0.004, 0.8)), length)


def _shares(random: np.random.Generator) -> Iterator[Case]:
    for length in (10, 128, 4096):
        yield Case(float(random.uniform(0.01, 0.7)), length)


def _advantages(random: np.random.Generator) -> Iterator[Case]:
    for slope in (0.5, 0.02, 1 / 256):
        yield Case(slope * float(random.uniform(0.8, 1.2)), float(random.uniform(7, 15)))


q1 = Question(
    assignment=4,
    name="q1",
    title=say("q1.title"),
    names=("weights", "slope_for", "reach"),
    parts=(
        Part(
            say("q1.weights"),
            1,
            function="weights",
            cases=_gentle,
            reference=_alibi_weights,
            mistakes=(
                Mistake(say("q1.weights_positions"), lambda s, n: _alibi_weights(s, n)[::-1]),
                Mistake(say("q1.weights_not_normalised"), lambda s, n: np.exp(-s * np.arange(n))),
                Mistake(say("q1.weights_infinite"), lambda s, n: np.exp(-s * np.arange(n)) * -np.expm1(-s)),
                Mistake(say("q1.weights_from_one"), lambda s, n: np.exp(-s) * _alibi_weights(s, n)),
                Mistake(say("q1.weights_logits"), lambda s, n: -s * np.arange(n)),
            ),
        ),
        Part(
            say("q1.slope_for"),
            1,
            function="slope_for",
            cases=_shares,
            reference=_slope_for,
            mistakes=(
                Mistake(say("q1.slope_inside"), lambda share, n: -math.log(1 - share) / n),
                Mistake(say("q1.slope_sign"), lambda share, n: math.log(share) / n),
                Mistake(say("q1.slope_at"), lambda share, n: share / n),
                Mistake(say("q1.slope_one_more"), lambda share, n: -math.log(share) / (n + 1)),
                Mistake(say("q1.slope_one_more"), lambda share, n: -math.log(share) / (n - 1)),
            ),
        ),
        Part(
            say("q1.reach"),
            1,
            function="reach",
            cases=_advantages,
            reference=_reach,
            mistakes=(
                Mistake(say("q1.reach_ratio"), lambda s, c: c / s),
                Mistake(say("q1.reach_itself"), lambda s, c: (c + math.log(-math.expm1(-s))) / s, 1e-7),
                Mistake(say("q1.reach_crowd"), lambda s, c: float(np.logaddexp(c, 0)) / s),
                Mistake(
                    say("q1.reach_sign"),
                    lambda s, c: (float(np.logaddexp(c, 0)) - math.log(-math.expm1(-s))) / s,
                ),
            ),
        ),
    ),
    tolerance=1e-7,
)


# ---------------------------------------------------------------------------------------------------------------------
# Question 2: NTK-aware scaling


def _ntk(dim: int, base: float, factor: float) -> Any:
    return scaling.ntk_aware(dim, base, factor=factor).inv_freq


def _powers(dim: int, base: float, step: float = 2.0) -> np.ndarray:
    """base^(−step·i/dim), for bases and steps that the package would refuse."""
    return np.asarray(float(base) ** (-step * np.arange(dim // 2) / dim))


def _wide(random: np.random.Generator) -> Iterator[Case]:
    for dim in (128, 2 * int(random.integers(17, 50))):
        yield Case(dim, float(random.integers(2_000, 400_000)), float(random.uniform(2, 12)))


def _narrow(random: np.random.Generator) -> Iterator[Case]:
    for dim in (4, 6, 10):
        yield Case(dim, float(random.uniform(30, 9000)), float(random.uniform(1.5, 8)))


_SQUARED = say("shared.factor_squared_example_hand")
_NO_BRACKETS = say("shared.exponent_factor_needs_brackets")
_UPSIDE_DOWN_POWER = say("shared.fraction_exponent_factor_upside")
_TIMES_SLOWER = say("shared.how_many_times_slower")
_LACKS_2 = say("shared.exponent_base_lacks_2")


def _every_dimension(dim: int, base: float, factor: float) -> np.ndarray:
    exponent = np.arange(dim) / dim
    return np.asarray(scaling.ntk_base(dim, base, factor=factor) ** -exponent)


q2 = Question(
    assignment=4,
    name="q2",
    title=say("q2.title"),
    names=("ntk_aware",),
    parts=(
        Part(say("q2.wide_heads"), 1, cases=_wide),
        Part(say("q2.narrow_heads"), 1, cases=_narrow),
    ),
    reference=_ntk,
    tolerance=1e-7,
    mistakes=(
        Mistake(
            say("q2.base_multiplied_factor_alone"),
            lambda dim, base, s: _powers(dim, base * s),
        ),
        Mistake(
            say("q2.every_hand_slowed_alike"),
            lambda dim, base, s: scaling.linear(dim, base, factor=s).inv_freq,
        ),
        Mistake(_UPSIDE_DOWN_POWER, lambda dim, base, s: _powers(dim, base * s ** ((dim - 2) / dim))),
        Mistake(
            say("q2.exponent_factor_d_d"),
            lambda dim, base, s: _powers(dim, base * s ** (dim / (dim - 1))),
        ),
        Mistake(_SQUARED, lambda dim, base, s: _powers(dim, base * s**2)),
        Mistake(_NO_BRACKETS, lambda dim, base, s: _powers(dim, base * s**dim / (dim - 2))),
        Mistake(
            say("q2.old_base_raised_power"),
            lambda dim, base, s: _powers(dim, (base * s) ** (dim / (dim - 2))),
        ),
        Mistake(
            say("q2.pair_pair_slowing_grows"),
            lambda dim, base, s: _powers(dim, base) / np.linspace(1, s, dim // 2),
        ),
        Mistake(
            say("q2.only_slowest_hand_slowed"),
            lambda dim, base, s: np.append(_powers(dim, base)[:-1], _powers(dim, base)[-1] / s),
        ),
        Mistake(
            say("q2.fastest_hand_slowed_well"),
            lambda dim, base, s: scaling.ntk_base(dim, base, factor=s) ** (-2.0 * np.arange(1, dim // 2 + 1) / dim),
        ),
        Mistake(
            _LACKS_2,
            lambda dim, base, s: _powers(dim, scaling.ntk_base(dim, base, factor=s), 1.0),
        ),
        Mistake(
            say("q2.frequencies_themselves_made_d"),
            lambda dim, base, s: scaling.ntk_base(dim, base, factor=s) ** (-2.0 * np.arange(dim // 2) / (dim - 2)),
        ),
        Mistake(
            say("q2.base_positive_power_tokens"),
            lambda dim, base, s: _powers(dim, scaling.ntk_base(dim, base, factor=s), -2.0),
        ),
        Mistake(
            say("q2.new_base_list_frequencies"),
            lambda dim, base, s: scaling.ntk_base(dim, base, factor=s),
        ),
        Mistake(say("q2.factor_no_effect"), lambda dim, base, s: frequencies.inv_freq(dim, base)),
        Mistake(
            say("q2.base_got_smaller_hands"),
            lambda dim, base, s: _powers(dim, base / s ** (dim / (dim - 2))),
        ),
        Mistake(
            say("q2.exponent_rounded_whole_number"),
            lambda dim, base, s: _powers(dim, base * s ** (dim // (dim - 2))),
        ),
        Mistake(
            say("q2.list_frequency_each_dimension"),
            _every_dimension,
        ),
        Mistake(
            say("q2.tokens_turn_wavelengths_radians"),
            lambda dim, base, s: 2 * math.pi / _ntk(dim, base, s),
        ),
        Mistake(say("q2.list_wrong_order_fastest"), lambda *args: _ntk(*args)[::-1]),
        Mistake(_TIMES_SLOWER, lambda dim, base, s: frequencies.inv_freq(dim, base) / _ntk(dim, base, s)),
        Mistake(
            say("q2.slowing_wrong_way_round"),
            lambda dim, base, s: _powers(dim, base) / s ** (1 - np.arange(0, dim, 2) / (dim - 2)),
        ),
        Mistake(
            say("q2.exponents_list_rounded"),
            lambda dim, base, s: scaling.ntk_base(dim, base, factor=s) ** (-2.0 * np.arange(dim // 2) // dim),
        ),
    ),
)


# ---------------------------------------------------------------------------------------------------------------------
# Question 4: by parts


def _by_parts(dim: int, base: float, length: int, factor: float, beta_fast: float, beta_slow: float) -> Any:
    return scaling.ntk_by_parts(
        dim,
        base,
        factor=factor,
        original_max_position_embeddings=length,
        beta_fast=beta_fast,
        beta_slow=beta_slow,
    ).inv_freq


def _ramp(kept: Callable[[np.ndarray, float, float, float], Any]) -> Callable[..., Any]:
    """A wrong answer to question 4, by the weight of the old speed: of turns, the factor and the bounds."""

    def wrong(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> Any:
        speeds = frequencies.inv_freq(dim, base)
        weight = np.asarray(kept(frequencies.rotations(length, speeds), factor, fast, slow))
        return weight * speeds + (1 - weight) * speeds / factor

    return wrong


def _straight(turns: np.ndarray, fast: float, slow: float) -> np.ndarray:
    return np.asarray(np.clip((turns - slow) / (fast - slow), 0, 1))


def _by_index(truncate: bool) -> Callable[..., Any]:
    def wrong(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> Any:
        options: dict[str, Any] = {"original_max_position_embeddings": length, "beta_fast": fast, "beta_slow": slow}
        return scaling.yarn(dim, base, factor=factor, truncate=truncate, **options).inv_freq

    return wrong


def _wavelengths_blended(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> Any:
    speeds = frequencies.inv_freq(dim, base)
    weight = _straight(frequencies.rotations(length, speeds), fast, slow)
    return speeds / (weight + (1 - weight) * factor)


def _multiplied(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> Any:
    speeds = frequencies.inv_freq(dim, base)
    weight = _straight(frequencies.rotations(length, speeds), fast, slow)
    return weight * speeds + (1 - weight) * speeds * factor


def _powers_blended(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> Any:
    speeds = frequencies.inv_freq(dim, base)
    return speeds / factor ** (1 - _straight(frequencies.rotations(length, speeds), fast, slow))


def _slowly_falling(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> Any:
    speeds = _powers(dim, base, 1.0)
    weight = _straight(frequencies.rotations(length, speeds), fast, slow)
    return weight * speeds + (1 - weight) * speeds / factor


def _to_a_greater_base(power: Callable[[int], float]) -> Callable[..., Any]:
    """A wrong answer to question 4 that blends with NTK-aware scaling, by the power of its factor."""

    def wrong(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> Any:
        speeds = frequencies.inv_freq(dim, base)
        weight = _straight(frequencies.rotations(length, speeds), fast, slow)
        return weight * speeds + (1 - weight) * _powers(dim, base * factor ** power(dim))

    return wrong


def _weight_alone(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> Any:
    return _straight(frequencies.rotations(length, frequencies.inv_freq(dim, base)), fast, slow)


def _made(dim: int, base: float, length: int) -> Any:
    return frequencies.rotations(length, frequencies.inv_freq(dim, base))


def _head(random: np.random.Generator) -> tuple[int, float, int]:
    """Width, base and trained length of a narrow head, whose turns lie well apart."""
    return 2 * int(random.integers(4, 9)), float(random.integers(500, 9000)), int(random.integers(80, 400))


def _beyond(random: np.random.Generator) -> Iterator[Case]:
    """Bounds between two neighbours of the list, so that no pair stands on the ramp."""

    def draw() -> Case:
        dim, base, length = _head(random)
        made = _made(dim, base, length)
        last = int(random.integers(1, dim // 2 - 2))  # the last pair that is kept
        between = (made[last] * made[last + 1]) ** 0.5
        fast, slow = between * (made[last] / between) ** 0.6, between * (made[last + 1] / between) ** 0.6
        return Case(dim, base, length, float(random.uniform(2, 9)), float(fast), float(slow))

    def wanted(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> bool:
        """Whether parts of a turn play no part, and the width of the ramp does."""
        made = _made(dim, base, length)
        kept = made[made >= fast]
        return bool(np.floor(kept).min() >= fast and kept.min() < 0.98 * (fast + slow))

    for _ in range(2):
        yield until(wanted, draw)


def _on_the_ramp(random: np.random.Generator) -> Iterator[Case]:
    """Bounds beyond both ends of the list, so that every pair stands on the ramp."""
    for _ in range(2):
        dim, base, length = _head(random)
        made = _made(dim, base, length)
        fast, slow = made[0] * random.uniform(1.1, 1.8), made[-1] * random.uniform(0.4, 0.9)
        yield Case(dim, base, length, float(random.uniform(2, 9)), float(fast), float(slow))


def _whole_head(random: np.random.Generator) -> Iterator[Case]:
    yield Case(128, float(random.choice([10_000.0, 500_000.0])), 4096, float(random.uniform(2, 16)), 32.0, 1.0)
    yield Case(48, float(random.integers(5_000, 50_000)), int(random.integers(900, 3000)), 4.0, 16.0, 2.0)


_ALONG = say("shared.ramp_straight_along_list")
_UPSIDE_DOWN = say("shared.ramp_upside_down_fast")

q4 = Question(
    assignment=4,
    name="q4",
    title=say("q4.title"),
    names=("by_parts",),
    parts=(
        Part(say("q4.pairs_beyond_both_bounds"), 1, cases=_beyond),
        Part(say("q4.pairs_ramp"), 2, cases=_on_the_ramp),
        Part(say("q4.whole_heads"), 1, cases=_whole_head),
    ),
    reference=_by_parts,
    tolerance=1e-7,
    mistakes=(
        Mistake(_UPSIDE_DOWN, _ramp(lambda made, s, fast, slow: 1 - _straight(made, fast, slow))),
        Mistake(
            say("q4.turns_counted_radians_turn"),
            _ramp(lambda made, s, fast, slow: _straight(2 * math.pi * made, fast, slow)),
        ),
        Mistake(
            say("q4.weight_old_speed_not"),
            _ramp(lambda made, s, fast, slow: (made - slow) / (fast - slow)),
        ),
        Mistake(
            say("q4.weight_old_speed_not_held"),
            _ramp(lambda made, s, fast, slow: np.minimum((made - slow) / (fast - slow), 1)),
        ),
        Mistake(
            say("q4.weight_old_speed_not_held_below"),
            _ramp(lambda made, s, fast, slow: np.maximum((made - slow) / (fast - slow), 0)),
        ),
        Mistake(
            say("q4.angle_radians_multiplied_2"),
            _ramp(lambda made, s, fast, slow: _straight((2 * math.pi) ** 2 * made, fast, slow)),
        ),
        Mistake(
            say("q4.turns_rounded_down_parts"),
            _ramp(lambda made, s, fast, slow: _straight(np.floor(made), fast, slow)),
        ),
        Mistake(
            say("q4.between_bounds_all_pairs"),
            _ramp(lambda made, s, fast, slow: np.where(made >= fast, 1, np.where(made <= slow, 0, 0.5))),
        ),
        Mistake(
            say("q4.ramp_straight_tokens_turn"),
            _ramp(lambda made, s, fast, slow: _straight(1 / made, 1 / fast, 1 / slow)),
        ),
        Mistake(say("q4.blend_made_powers_factor"), _powers_blended),
        Mistake(
            say("q4.tokens_turn_wavelengths_radians"),
            lambda *given: 2 * math.pi / _by_parts(*given),
        ),
        Mistake(
            say("q4.wavelengths_blended_how_many"),
            _wavelengths_blended,
        ),
        Mistake(say("q4.slow_hands_sped_up"), _multiplied),
        Mistake(
            say("q4.turns_counted_over_longer"),
            _ramp(lambda made, s, fast, slow: _straight(s * made, fast, slow)),
        ),
        Mistake(_ALONG, _ramp(lambda made, s, fast, slow: _straight(np.log(made), math.log(fast), math.log(slow)))),
        Mistake(_ALONG, _by_index(truncate=True)),
        Mistake(_ALONG, _by_index(truncate=False)),
        Mistake(
            say("q4.pairs_between_bounds_left"),
            _ramp(lambda made, s, fast, slow: made >= slow),
        ),
        Mistake(
            say("q4.pairs_between_bounds_slowed"),
            _ramp(lambda made, s, fast, slow: made >= fast),
        ),
        Mistake(
            say("q4.between_bounds_step_half"),
            _ramp(lambda made, s, fast, slow: made >= (fast + slow) / 2),
        ),
        Mistake(
            say("q4.hand_judged_tokens_turn"),
            _ramp(lambda made, s, fast, slow: _straight(1 / made, fast, slow)),
        ),
        Mistake(
            say("q4.ramp_begins_0_turns"),
            _ramp(lambda made, s, fast, slow: np.where(made < slow, 0, np.clip(made / fast, 0, 1))),
        ),
        Mistake(
            say("q4.ramp_begins_0_turns"),
            _ramp(lambda made, s, fast, slow: np.clip(made / fast, 0, 1)),
        ),
        Mistake(
            say("q4.ramp_divided_upper_bound"),
            _ramp(lambda made, s, fast, slow: np.clip((made - slow) / fast, 0, 1)),
        ),
        Mistake(say("q4.weight_old_speed_new"), _weight_alone),
        Mistake(
            say("q4.every_hand_slowed_alike"),
            _ramp(lambda made, s, fast, slow: np.zeros_like(made)),
        ),
        Mistake(say("q4.nothing_slowed"), _ramp(lambda made, s, fast, slow: np.ones_like(made))),
        Mistake(
            _TIMES_SLOWER, lambda dim, base, *given: frequencies.inv_freq(dim, base) / _by_parts(dim, base, *given)
        ),
        Mistake(_LACKS_2, _slowly_falling),
        *(
            Mistake(say("q4.slow_end_of_a_greater_base"), _to_a_greater_base(power))
            for power in (lambda dim: 1.0, lambda dim: dim / (dim - 2))
        ),
    ),
)


# ---------------------------------------------------------------------------------------------------------------------
# Question 5: YaRN's tables


def _warm(x: torch.Tensor, positions: torch.Tensor, inv_freq: torch.Tensor, factor: float) -> Any:
    angles = frequencies.angles(positions, inv_freq.double())
    a = scaling.mscale(factor)
    return (a * angles.cos()).to(x.dtype), (a * angles.sin()).to(x.dtype)


def _times(cosines: Callable[[float], float], sines: Callable[[float], float] | None = None) -> Callable[..., Any]:
    """A wrong answer to question 5, by what cosines and sines are multiplied by."""

    def wrong(x: torch.Tensor, positions: torch.Tensor, inv_freq: torch.Tensor, factor: float) -> Any:
        angles = frequencies.angles(positions, inv_freq.double())
        of_cos, of_sin = cosines(factor), (sines or cosines)(factor)
        return (of_cos * angles.cos()).to(x.dtype), (of_sin * angles.sin()).to(x.dtype)

    return wrong


def _at(change: Callable[[torch.Tensor, torch.Tensor, float, torch.dtype], torch.Tensor]) -> Callable[..., Any]:
    """A wrong answer to question 5, by how it makes the angles: of positions, speeds, the factor and the dtype."""

    def wrong(x: torch.Tensor, positions: torch.Tensor, inv_freq: torch.Tensor, factor: float) -> Any:
        angles, a = change(positions[:, None], inv_freq, factor, x.dtype).double(), scaling.mscale(factor)
        return (a * angles.cos()).to(x.dtype), (a * angles.sin()).to(x.dtype)

    return wrong


def _rounded(angles: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    """A wrong answer to question 5 whose angles lose digits in bfloat16, where x is in bfloat16 too."""

    def wrong(x: torch.Tensor, positions: torch.Tensor, inv_freq: torch.Tensor, factor: float) -> Any:
        if x.dtype != torch.bfloat16:
            raise ValueError("so wide a tolerance would take any small error for this one")
        return _at(lambda at, speeds, s, dtype: angles(at, speeds))(x, positions, inv_freq, factor)

    return wrong


def _tensor_case(random: np.random.Generator, dtype: torch.dtype, least: int, greatest: int) -> Case:
    pairs, length = int(random.integers(2, 6)), int(random.integers(6, 10))
    speeds = torch.from_numpy(_speeds(random, pairs)).to(torch.float64 if dtype == torch.float64 else torch.float32)
    x = torch.from_numpy(random.standard_normal((2, 3, length, 2 * pairs))).to(dtype)
    places = torch.from_numpy(random.permutation(np.arange(least, greatest))[:length])
    return Case(x, places, speeds, float(random.uniform(3, 6 if dtype == torch.bfloat16 else 16)))


def _attention_factor(random: np.random.Generator) -> Iterator[Case]:
    for _ in range(3):
        yield _tensor_case(random, torch.float64, 3, 300)


_STEP = 0.0041  # times 1 + |value|, one step of bfloat16
_ROUNDED = say("shared.positions_or_angles_rounded")


def _doubled_tensors(x: torch.Tensor, positions: torch.Tensor, inv_freq: torch.Tensor, factor: float) -> Any:
    return _warm(x, positions, torch.cat([inv_freq, inv_freq]), factor)


def _late(random: np.random.Generator) -> Iterator[Case]:
    for least, greatest in ((300, 1200), (2000, 9000)):
        yield _tensor_case(random, torch.bfloat16, least, greatest)


q5 = Question(
    assignment=4,
    name="q5",
    title=say("q5.title"),
    names=("yarn_tables",),
    tensors="only",
    returns=(say("q5.cosines"), say("q5.sines")),
    parts=(
        Part(say("q5.attention_factor"), 2, cases=_attention_factor),
        Part(say("q5.late_positions_tables_bfloat16"), 1, cases=_late, tolerance=_STEP, exact_dtype=True),
    ),
    reference=_warm,
    tolerance=1e-4,
    mistakes=(
        Mistake(say("q5.sines_lack_attention_factor"), _times(scaling.mscale, lambda s: 1.0)),
        Mistake(say("q5.cosines_lack_attention_factor"), _times(lambda s: 1.0, scaling.mscale)),
        Mistake(
            say("q5.tables_carry_square_attention"),
            _times(lambda s: scaling.mscale(s) ** 2),
        ),
        Mistake(say("q5.attention_factor_missing"), _times(lambda s: 1.0)),
        Mistake(say("q5.tables_carry_root_attention"), _times(lambda s: math.sqrt(scaling.mscale(s)))),
        Mistake(say("q5.tables_divided_attention_factor"), _times(lambda s: 1 / scaling.mscale(s))),
        Mistake(say("q5.logarithm_natural_not_base"), _times(lambda s: 0.1 * math.log10(s) + 1)),
        Mistake(say("q5.logarithm_natural_not_base_2"), _times(lambda s: 0.1 * math.log2(s) + 1)),
        Mistake(say("q5.1_attention_factor_missing"), _times(lambda s: 0.1 * math.log(s))),
        *(
            Mistake(say("q5.1_added_last_stands"), _times(wrong))
            for wrong in (
                lambda s: 0.1 * (math.log(s) + 1),
                lambda s: 0.1 * math.log(s + 1),
                lambda s: 0.1 * math.log(s + 1) + 1,
            )
        ),
        Mistake(
            say("q5.factor_itself_put_not"),
            _times(lambda s: 0.1 * s + 1),
        ),
        Mistake(
            say("q5.angles_multiplied_attention_factor"),
            _at(lambda at, speeds, s, dtype: at * speeds * scaling.mscale(s)),
        ),
        Mistake(
            say("q5.speeds_slowed_again_given"),
            _at(lambda at, speeds, s, dtype: at * speeds / s),
        ),
        Mistake(_ROUNDED, _rounded(lambda at, speeds: at.bfloat16() * speeds.bfloat16()), 0.03),
        Mistake(_ROUNDED, _rounded(lambda at, speeds: at.bfloat16() * speeds), 0.03),
        Mistake(_ROUNDED, _rounded(lambda at, speeds: at * speeds.bfloat16()), 0.03),
        Mistake(_ROUNDED, _rounded(lambda at, speeds: (at * speeds).bfloat16()), 0.03),
        Mistake(say("q5.positions_start_1"), _at(lambda at, speeds, s, dtype: (at + 1) * speeds)),
        Mistake(
            say("q5.positions_given_not_used"),
            _at(lambda at, speeds, s, dtype: torch.arange(len(at))[:, None] * speeds),
        ),
        Mistake(
            say("q5.cosines_right_sines_opposite"),
            _times(scaling.mscale, lambda s: -scaling.mscale(s)),
        ),
        Mistake(say("q5.cosines_sines_changed_places"), lambda *args: _warm(*args)[::-1]),
        Mistake(say("q5.column_each_dimension_each"), _doubled_tensors),
        Mistake(
            say("q5.column_each_dimension_each"),
            lambda x, at, speeds, s: _warm(x, at, speeds.repeat_interleave(2), s),
        ),
        Mistake(say("q5.nearly_something_rounded_more"), _warm, 0.03),
    ),
)


# ---------------------------------------------------------------------------------------------------------------------
# Question 6: the loss, stretch by stretch


def _each(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The loss of every token, not a number where none is asked for; shape (batch, length)."""
    loss = torch.nn.functional.cross_entropy(logits.mT, targets, ignore_index=IGNORED, reduction="none")
    return loss.masked_fill(targets == IGNORED, torch.nan)


def _in_stretches(values: torch.Tensor, width: int) -> torch.Tensor:
    """Shape (batch, length) → (batch, stretches, width)."""
    return values.reshape(len(values), -1, width)


def _loss_by_stretch(logits: torch.Tensor, targets: torch.Tensor, width: int) -> torch.Tensor:
    return _in_stretches(_each(logits, targets), width).nanmean(dim=(0, 2))


def _probabilities(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    asked = targets.clamp(min=0)[..., None]
    return logits.softmax(dim=-1).gather(-1, asked)[..., 0].masked_fill(targets == IGNORED, torch.nan)


def _asked(random: np.random.Generator, scale: float, missing: float) -> Case:
    batch = int(random.integers(2, 5))
    stretches, width = (int(n) for n in 3 + random.permutation(4)[:2])  # never alike
    vocabulary = int(random.integers(7, 14))
    logits = scale * random.standard_normal((batch, stretches * width, vocabulary))
    targets = random.integers(0, vocabulary, (batch, stretches * width))
    if missing:
        unasked = random.random(targets.shape) < missing
        unasked[0, ::width] = False  # one token is asked for in every stretch
        unasked[-1, 1::width] = True
        targets[unasked] = IGNORED
    return Case(torch.from_numpy(logits), torch.from_numpy(targets), width)


def _likely_enough(logits: torch.Tensor, targets: torch.Tensor, width: int) -> bool:
    """Whether 1e-6 more of each probability changes a loss that is asked for, and 1e-8 more changes none."""
    more = _in_stretches(1 / _probabilities(logits, targets), width).nanmean(dim=(0, 2)).max()
    return bool(100 < more < 2000)


def _plain_texts(random: np.random.Generator) -> Iterator[Case]:
    for _ in range(2):
        yield until(_likely_enough, partial(_asked, random, 2.0, 0.0))


def _unasked(random: np.random.Generator) -> Iterator[Case]:
    for missing in (0.3, 0.7):
        yield until(_likely_enough, partial(_asked, random, 2.0, missing))


def _great_logits(random: np.random.Generator) -> Iterator[Case]:
    for _ in range(2):
        yield _asked(random, 900.0, 0.0)


def _from_logs(logs: torch.Tensor, targets: torch.Tensor, width: int) -> torch.Tensor:
    each = -logs.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    return _in_stretches(each.masked_fill(targets == IGNORED, torch.nan), width).nanmean(dim=(0, 2))


_INFINITE = say("shared.loss_infinite_probability_fell")


def _shifted(logits: torch.Tensor, targets: torch.Tensor, width: int) -> torch.Tensor:
    each = _each(logits[:, :-1], targets[:, 1:])
    return torch.stack([each[:, start : start + width].nanmean() for start in range(0, each.shape[1], width)])


def _rolled(step: int) -> Callable[..., torch.Tensor]:
    """Question 6 with targets moved along the text; those that leave it come in at its other end."""
    return lambda logits, targets, width: _loss_by_stretch(logits, targets.roll(step, dims=1), width)


def _moved(step: int) -> Callable[..., torch.Tensor]:
    """Question 6 with targets moved by one place, and nothing asked where one is missing."""

    def wrong(logits: torch.Tensor, targets: torch.Tensor, width: int) -> torch.Tensor:
        moved = targets.roll(step, dims=1)
        moved[:, -1 if step < 0 else 0] = IGNORED
        return _loss_by_stretch(logits, moved, width)

    return wrong


def _read_as_tokens(logits: torch.Tensor, targets: torch.Tensor, width: int) -> torch.Tensor:
    return _loss_by_stretch(logits, targets.clamp(min=0), width)


def _other_axis(axis: int) -> Callable[..., torch.Tensor]:
    """Question 6 with the softmax along another axis than the last."""
    return lambda logits, targets, width: _from_logs(logits.log_softmax(dim=axis), targets, width)


def _perplexity(logits: torch.Tensor, targets: torch.Tensor, width: int) -> torch.Tensor:
    if (loss := _loss_by_stretch(logits, targets, width)).max() > 20:
        raise ValueError("so great a number is equal to any other")
    return loss.exp()


def _mean_probability(logits: torch.Tensor, targets: torch.Tensor, width: int) -> torch.Tensor:
    if logits.abs().max() > 100:
        raise ValueError("probabilities of 0 and 1 are the share that is right")
    return _in_stretches(_probabilities(logits, targets), width).nanmean(dim=(0, 2))


def _first_of_all(logits: torch.Tensor, targets: torch.Tensor, width: int) -> torch.Tensor:
    each = _each(logits, targets)
    return torch.stack([each[:, :end].nanmean() for end in range(width, each.shape[1] + 1, width)])


q6 = Question(
    assignment=4,
    name="q6",
    title=say("q6.title"),
    names=("loss_by_stretch",),
    tensors="either",
    parts=(
        Part(say("q6.texts_every_token_asked"), 1, cases=_plain_texts),
        Part(say("q6.texts_some_tokens_not"), 1, cases=_unasked),
        Part(say("q6.logits_thousands"), 1, cases=_great_logits),
    ),
    reference=_loss_by_stretch,
    tolerance=1e-5,
    mistakes=(
        *(
            Mistake(say("q6.targets_shifted_more_token"), wrong)
            for wrong in (_shifted, _rolled(-1), _rolled(1), _moved(-1), _moved(1))
        ),
        Mistake(
            say("q6.tokens_not_asked_counted"),
            lambda logits, targets, width: _in_stretches(_each(logits, targets).nan_to_num(0), width).mean(dim=(0, 2)),
        ),
        Mistake(say("q6.target_minus_100_read"), _read_as_tokens),
        Mistake(
            say("q6.stretch_counts_every_asked"),
            lambda logits, targets, width: _in_stretches(
                _each(logits, targets).nanmean(dim=0, keepdim=True), width
            ).nanmean(dim=(0, 2)),
        ),
        Mistake(
            say("q6.stretch_counts_every_asked"),
            lambda logits, targets, width: _in_stretches(_each(logits, targets), width).nanmean(dim=2).nanmean(dim=0),
        ),
        Mistake(say("q6.softmax_taken_over_positions"), _other_axis(1)),
        Mistake(say("q6.softmax_taken_over_texts"), _other_axis(0)),
        Mistake(say("q6.logits_with_sign_changed"), _from_logs),
        Mistake(
            say("q6.loss_each_position_each"),
            lambda logits, targets, width: _each(logits, targets).nanmean(dim=0),
        ),
        Mistake(
            say("q6.texts_not_averaged_loss"),
            lambda logits, targets, width: _in_stretches(_each(logits, targets), width).nanmean(dim=2),
        ),
        Mistake(
            say("q6.stretches_not_made_neighbours"),
            lambda logits, targets, width: _each(logits, targets).reshape(len(targets), width, -1).nanmean(dim=(0, 1)),
        ),
        Mistake(
            say("q6.text_cut_into_width"),
            lambda logits, targets, width: _each(logits, targets).reshape(len(targets), width, -1).nanmean(dim=(0, 2)),
        ),
        Mistake(
            say("q6.bits_nats_come_natural"),
            lambda *args: _loss_by_stretch(*args) / math.log(2),
        ),
        Mistake(say("q6.sign_missing_loss_never"), lambda *args: -_loss_by_stretch(*args)),
        Mistake(
            say("q6.losses_added_up_their"),
            lambda logits, targets, width: _in_stretches(_each(logits, targets), width).nansum(dim=(0, 2)),
        ),
        Mistake(
            say("q6.probabilities_averaged_before_logarithm"),
            lambda *args: -_mean_probability(*args).log(),
        ),
        Mistake(
            say("q6.probabilities_loss_their_negative"),
            _mean_probability,
        ),
        Mistake(say("q6.perplexity_loss_logarithm"), _perplexity),
        Mistake(
            say("q6.each_value_mean_beginning"),
            _first_of_all,
        ),
        Mistake(
            say("q6.share_right_loss_asked"),
            lambda logits, targets, width: _in_stretches(
                (logits.argmax(dim=-1) == targets).double().masked_fill(targets == IGNORED, torch.nan), width
            ).nanmean(dim=(0, 2)),
        ),
        Mistake(
            say("q6.only_first_texts_looked"),
            lambda logits, targets, width: _loss_by_stretch(logits[:1], targets[:1], width),
        ),
        *(
            Mistake(_INFINITE, wrong)
            for wrong in (
                lambda logits, targets, width: _from_logs(logits.softmax(dim=-1).log(), targets, width),
                lambda logits, targets, width: _from_logs(
                    logits - logits.exp().sum(dim=-1, keepdim=True).log(), targets, width
                ),
                lambda logits, targets, width: _from_logs(
                    logits - logits.max() - (logits - logits.max()).exp().sum(dim=-1, keepdim=True).log(),
                    targets,
                    width,
                ),
            )
        ),
        *(
            Mistake(
                say("q6.small_number_added_inside"),
                lambda logits, targets, width, small=small: _in_stretches(
                    -(_probabilities(logits, targets) + small).log(), width
                ).nanmean(dim=(0, 2)),
            )
            for small in (1e-12, 1e-10, 1e-9, 1e-8, 1e-6)
        ),
    ),
)


ASSIGNMENT = Assignment(
    4,
    say("assignment.title"),
    (q1, q2, q4, q5, q6),
    hand_graded=(HandGraded(4, "q3", say("assignment.q3"), 2), HandGraded(4, "q7", say("assignment.q7"), 3)),
)
