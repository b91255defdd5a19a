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

from course.question import Assignment, Case, Edit, Mistake, Part, Question, sentences_of, until
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


_SHARES = "unnormalised / unnormalised.sum()"
_REACH = "(math.log(math.exp(advantage) + 1) + math.log(1 - math.exp(-slope))) / slope"

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
            # fmt: off
            mistakes=(
                Edit(say("q1.weights_positions"), _SHARES, f"({_SHARES})[::-1]"),
                Edit(say("q1.weights_not_normalised"), " / unnormalised.sum()", ""),
                Edit(say("q1.weights_infinite"), "/ unnormalised.sum()", "* (1 - math.exp(-slope))"),
                Edit(say("q1.weights_from_one"), _SHARES, f"math.exp(-slope) * {_SHARES}"),
                Edit(say("q1.weights_logits"), _SHARES, "-slope * np.arange(length)"),
            ),
            # fmt: on
        ),
        Part(
            say("q1.slope_for"),
            1,
            function="slope_for",
            cases=_shares,
            reference=_slope_for,
            # fmt: off
            mistakes=(
                Edit(say("q1.slope_inside"), "log(share)", "log(1 - share)"),
                Edit(say("q1.slope_sign"), "-math.log(share)", "math.log(share)"),
                Edit(say("q1.slope_at"), "-math.log(share)", "share"),
                Edit(say("q1.slope_one_more"), "log(share) / length", "log(share) / (length + 1)"),
                Edit(say("q1.slope_one_more"), "log(share) / length", "log(share) / (length - 1)"),
            ),
            # fmt: on
        ),
        Part(
            say("q1.reach"),
            1,
            function="reach",
            cases=_advantages,
            reference=_reach,
            # fmt: off
            mistakes=(
                Edit(say("q1.reach_ratio"), _REACH, "advantage / slope"),
                Edit(say("q1.reach_itself"), "math.log(math.exp(advantage) + 1)", "advantage", tolerance=1e-7),
                Edit(say("q1.reach_crowd"), " + math.log(1 - math.exp(-slope))", ""),
                Edit(say("q1.reach_sign"), " + math.log(1 -", " - math.log(1 -"),
            ),
            # fmt: on
        ),
    ),
    tolerance=1e-7,
)


# ---------------------------------------------------------------------------------------------------------------------
# Question 2: NTK-aware scaling


def _ntk(dim: int, base: float, factor: float) -> Any:
    return scaling.ntk_aware(dim, base, factor=factor).inv_freq


def _wide(random: np.random.Generator) -> Iterator[Case]:
    for dim in (128, 2 * int(random.integers(17, 50))):
        yield Case(dim, float(random.integers(2_000, 400_000)), float(random.uniform(2, 12)))


def _narrow(random: np.random.Generator) -> Iterator[Case]:
    for dim in (4, 6, 10):
        yield Case(dim, float(random.uniform(30, 9000)), float(random.uniform(1.5, 8)))


_TIMES_SLOWER = say("shared.how_many_times_slower")
_LACKS_2 = say("shared.exponent_base_lacks_2")
_POWER = "factor ** (dim / (dim - 2))"
_OLD = "base ** (-np.arange(0, dim, 2) / dim)"
_NEW = f"new_{_OLD}"


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
    # fmt: off
    mistakes=(
        Edit(say("q2.base_multiplied_factor_alone"), _POWER, "factor"),
        Edit(say("q2.every_hand_slowed_alike"), _NEW, f"{_OLD} / factor"),
        Edit(say("shared.fraction_exponent_factor_upside"), _POWER, "factor ** ((dim - 2) / dim)"),
        Edit(say("q2.exponent_factor_d_d"), "(dim - 2)", "(dim - 1)"),
        Edit(say("shared.factor_squared_example_hand"), _POWER, "factor**2"),
        Edit(say("shared.exponent_factor_needs_brackets"), _POWER, "factor**dim / (dim - 2)"),
        Edit(say("q2.old_base_raised_power"), "base * factor", "(base * factor)"),
        Edit(say("q2.pair_pair_slowing_grows"), _NEW, f"{_OLD} / np.linspace(1, factor, dim // 2)"),
        Edit(
            say("q2.only_slowest_hand_slowed"),
            _NEW,
            f"{_OLD} / np.where(np.arange(dim // 2) == dim // 2 - 1, factor, 1)",
        ),
        Edit(say("q2.fastest_hand_slowed_well"), "arange(0, dim, 2)", "arange(2, dim + 2, 2)"),
        Edit(_LACKS_2, "arange(0, dim, 2)", "arange(dim // 2)"),
        Edit(say("q2.frequencies_themselves_made_d"), "2) / dim)", "2) / (dim - 2))"),
        Edit(say("q2.base_positive_power_tokens"), "(-np", "(np"),
        Edit(say("q2.new_base_list_frequencies"), _NEW, "new_base"),
        Edit(say("q2.factor_no_effect"), _NEW, _OLD),
        Edit(say("q2.base_got_smaller_hands"), "base * factor", "base / factor"),
        Edit(say("q2.exponent_rounded_whole_number"), "dim / (dim - 2)", "dim // (dim - 2)"),
        Edit(say("q2.list_frequency_each_dimension"), "arange(0, dim, 2)", "arange(dim)"),
        Edit(say("q2.tokens_turn_wavelengths_radians"), _NEW, f"2 * math.pi / {_NEW}"),
        Edit(say("q2.list_wrong_order_fastest"), _NEW, f"({_NEW})[::-1]"),
        Edit(_TIMES_SLOWER, _NEW, f"{_OLD} / {_NEW}"),
        Edit(say("q2.slowing_wrong_way_round"), _NEW, f"{_OLD} / factor ** (1 - np.arange(0, dim, 2) / (dim - 2))"),
        Edit(say("q2.exponents_list_rounded"), "2) / dim)", "2) // dim)"),
    ),
    # fmt: on
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


def _by_index(truncate: bool) -> Callable[..., Any]:
    def wrong(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> Any:
        options: dict[str, Any] = {"original_max_position_embeddings": length, "beta_fast": fast, "beta_slow": slow}
        return scaling.yarn(dim, base, factor=factor, truncate=truncate, **options).inv_freq

    return wrong


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
_KEPT = "np.clip((rotations - beta_slow) / (beta_fast - beta_slow), 0, 1)"
_BLEND = "kept * inv_freq + (1 - kept) * inv_freq / factor"

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
    # fmt: off
    mistakes=(
        Edit(say("shared.ramp_upside_down_fast"), _KEPT, f"1 - {_KEPT}"),
        Edit(say("q4.turns_counted_radians_turn"), " / (2 * math.pi)", ""),
        Edit(say("q4.weight_old_speed_not"), "np.clip(", "(", ", 0, 1)", ")"),
        Edit(say("q4.weight_old_speed_not_held"), "np.clip", "np.minimum", ", 0, 1)", ", 1)"),
        Edit(say("q4.weight_old_speed_not_held_below"), "np.clip", "np.maximum", ", 0, 1)", ", 0)"),
        Edit(say("q4.angle_radians_multiplied_2"), "/ (2 * math.pi)", "* (2 * math.pi)"),
        Edit(say("q4.turns_rounded_down_parts"), "(rotations -", "(np.floor(rotations) -"),
        Edit(
            say("q4.between_bounds_all_pairs"),
            _KEPT,
            "np.where(rotations >= beta_fast, 1, np.where(rotations <= beta_slow, 0, 0.5))",
        ),
        Edit(
            say("q4.ramp_straight_tokens_turn"),
            _KEPT,
            "np.clip((1 / rotations - 1 / beta_slow) / (1 / beta_fast - 1 / beta_slow), 0, 1)",
        ),
        Edit(say("q4.blend_made_powers_factor"), _BLEND, "inv_freq / factor ** (1 - kept)"),
        Edit(say("q4.tokens_turn_wavelengths_radians"), _BLEND, f"2 * math.pi / ({_BLEND})"),
        Edit(say("q4.wavelengths_blended_how_many"), _BLEND, "inv_freq / (kept + (1 - kept) * factor)"),
        Edit(say("q4.slow_hands_sped_up"), "inv_freq / factor", "inv_freq * factor"),
        Edit(say("q4.turns_counted_over_longer"), "length * inv_freq", "factor * length * inv_freq"),
        Edit(_ALONG, _KEPT, "np.clip(np.log(rotations / beta_slow) / np.log(beta_fast / beta_slow), 0, 1)"),
        Mistake(_ALONG, _by_index(truncate=True)),
        Mistake(_ALONG, _by_index(truncate=False)),
        Edit(say("q4.pairs_between_bounds_left"), _KEPT, "rotations >= beta_slow"),
        Edit(say("q4.pairs_between_bounds_slowed"), _KEPT, "rotations >= beta_fast"),
        Edit(say("q4.between_bounds_step_half"), _KEPT, "rotations >= (beta_fast + beta_slow) / 2"),
        Edit(say("q4.hand_judged_tokens_turn"), "(rotations -", "(1 / rotations -"),
        Edit(
            say("q4.ramp_begins_0_turns"),
            _KEPT,
            "np.where(rotations < beta_slow, 0, np.clip(rotations / beta_fast, 0, 1))",
        ),
        Edit(say("q4.ramp_begins_0_turns"), _KEPT, "np.clip(rotations / beta_fast, 0, 1)"),
        Edit(say("q4.ramp_divided_upper_bound"), "/ (beta_fast - beta_slow)", "/ beta_fast"),
        Edit(say("q4.weight_old_speed_new"), _BLEND, "kept"),
        Edit(say("q4.every_hand_slowed_alike"), _KEPT, "0 * rotations"),
        Edit(say("q4.nothing_slowed"), _KEPT, "1 + 0 * rotations"),
        Edit(_TIMES_SLOWER, _BLEND, f"inv_freq / ({_BLEND})"),
        Edit(_LACKS_2, "arange(0, dim, 2)", "arange(dim // 2)"),
        Edit(
            say("q4.slow_end_of_a_greater_base"),
            "inv_freq / factor",
            "(base * factor) ** (-np.arange(0, dim, 2) / dim)",
        ),
        Edit(
            say("q4.slow_end_of_a_greater_base"),
            "inv_freq / factor",
            f"(base * {_POWER}) ** (-np.arange(0, dim, 2) / dim)",
        ),
    ),
    # fmt: on
)


# ---------------------------------------------------------------------------------------------------------------------
# Question 5: YaRN's tables


def _warm(x: torch.Tensor, positions: torch.Tensor, inv_freq: torch.Tensor, factor: float) -> Any:
    angles = frequencies.angles(positions, inv_freq.double())
    a = scaling.mscale(factor)
    return (a * angles.cos()).to(x.dtype), (a * angles.sin()).to(x.dtype)


def _rounded(angles: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    """A wrong answer to question 5 whose angles lose digits in bfloat16, where x is in bfloat16 too."""

    def wrong(x: torch.Tensor, positions: torch.Tensor, inv_freq: torch.Tensor, factor: float) -> Any:
        if x.dtype != torch.bfloat16:
            raise ValueError("so wide a tolerance would take any small error for this one")
        turned, a = angles(positions[:, None], inv_freq).double(), scaling.mscale(factor)
        return (a * turned.cos()).to(x.dtype), (a * turned.sin()).to(x.dtype)

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


def _late(random: np.random.Generator) -> Iterator[Case]:
    for least, greatest in ((300, 1200), (2000, 9000)):
        yield _tensor_case(random, torch.bfloat16, least, greatest)


_FACTOR = "0.1 * math.log(factor) + 1"
_TABLES = "(a * angles.cos()).to(x.dtype), (a * angles.sin()).to(x.dtype)"

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
    # fmt: off
    mistakes=(
        Edit(say("q5.sines_lack_attention_factor"), "a * angles.sin", "angles.sin"),
        Edit(say("q5.cosines_lack_attention_factor"), "a * angles.cos", "angles.cos"),
        Edit(say("q5.tables_carry_square_attention"), _FACTOR, f"({_FACTOR}) ** 2"),
        Edit(say("q5.attention_factor_missing"), _FACTOR, "1"),
        Edit(say("q5.tables_carry_root_attention"), _FACTOR, f"({_FACTOR}) ** 0.5"),
        Edit(say("q5.tables_divided_attention_factor"), _FACTOR, f"1 / ({_FACTOR})"),
        Edit(say("q5.logarithm_natural_not_base"), "math.log(", "math.log10("),
        Edit(say("q5.logarithm_natural_not_base_2"), "math.log(", "math.log2("),
        Edit(say("q5.1_attention_factor_missing"), _FACTOR, "0.1 * math.log(factor)"),
        Edit(say("q5.1_added_last_stands"), _FACTOR, "0.1 * (math.log(factor) + 1)"),
        Edit(say("q5.1_added_last_stands"), _FACTOR, "0.1 * math.log(factor + 1)"),
        Edit(say("q5.1_added_last_stands"), _FACTOR, "0.1 * math.log(factor + 1) + 1"),
        Edit(say("q5.factor_itself_put_not"), _FACTOR, "0.1 * factor + 1"),
        Edit(say("q5.angles_multiplied_attention_factor"), "inv_freq.double()", f"inv_freq.double() * ({_FACTOR})"),
        Edit(say("q5.speeds_slowed_again_given"), "inv_freq.double()", "inv_freq.double() / factor"),
        Mistake(_ROUNDED, _rounded(lambda at, speeds: at.bfloat16() * speeds.bfloat16()), 0.03),
        Mistake(_ROUNDED, _rounded(lambda at, speeds: at.bfloat16() * speeds), 0.03),
        Mistake(_ROUNDED, _rounded(lambda at, speeds: at * speeds.bfloat16()), 0.03),
        Mistake(_ROUNDED, _rounded(lambda at, speeds: (at * speeds).bfloat16()), 0.03),
        Edit(say("q5.positions_start_1"), "positions[:, None]", "(positions[:, None] + 1)"),
        Edit(say("q5.positions_given_not_used"), "positions[:, None]", "torch.arange(len(positions))[:, None]"),
        Edit(say("q5.cosines_right_sines_opposite"), "a * angles.sin", "-a * angles.sin"),
        Edit(say("q5.cosines_sines_changed_places"), _TABLES, ", ".join(_TABLES.split(", ")[::-1])),
        Edit(say("q5.column_each_dimension_each"), "inv_freq.double()", "inv_freq.double().repeat(2)"),
        Edit(say("q5.column_each_dimension_each"), "inv_freq.double()", "inv_freq.double().repeat_interleave(2)"),
        Mistake(say("q5.nearly_something_rounded_more"), _warm, 0.03),
    ),
    # fmt: on
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


_STRETCHES = "loss.reshape(shape).sum(dim=(0, 2)) / asked.reshape(shape).sum(dim=(0, 2))"
_LOGS = "torch.log_softmax(logits, dim=-1)"
_OR_NOT = "torch.where(asked, loss, torch.nan)"
_PROBABILITY = _STRETCHES.replace("loss", "(asked * torch.exp(-loss))")


def _other_targets(targets: str) -> Edit:
    return Edit(say("q6.targets_shifted_more_token"), "asked = targets", f"targets = {targets}\n    asked = targets")


def _where(condition: str, values: str) -> str:
    """Values that are numbers under a condition, where they are not equal to those of other mistakes."""
    return f"torch.where({condition}, {values}, torch.nan)"


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
    # fmt: off
    mistakes=(
        _other_targets("targets.roll(-1, 1)"),
        _other_targets("targets.roll(1, 1)"),
        _other_targets("torch.nn.functional.pad(targets[:, 1:], (0, 1), value=-100)"),
        _other_targets("torch.nn.functional.pad(targets[:, :-1], (1, 0), value=-100)"),
        Edit(say("q6.tokens_not_asked_counted"), _STRETCHES, "loss.reshape(shape).mean(dim=(0, 2))"),
        Edit(
            say("q6.target_minus_100_read"),
            "torch.where(asked, loss, 0)",
            "loss",
            _STRETCHES,
            "loss.reshape(shape).mean(dim=(0, 2))",
        ),
        Edit(
            say("q6.stretch_counts_every_asked"),
            _STRETCHES,
            f"{_OR_NOT}.nanmean(dim=0).reshape(-1, width).nanmean(dim=1)",
        ),
        Edit(
            say("q6.stretch_counts_every_asked"), _STRETCHES, f"{_OR_NOT}.reshape(shape).nanmean(dim=2).nanmean(dim=0)"
        ),
        Edit(say("q6.softmax_taken_over_positions"), "dim=-1", "dim=1"),
        Edit(say("q6.softmax_taken_over_texts"), "dim=-1", "dim=0"),
        Edit(say("q6.logits_with_sign_changed"), _LOGS, "logits"),
        Edit(say("q6.loss_each_position_each"), _STRETCHES, f"{_OR_NOT}.nanmean(dim=0)"),
        Edit(say("q6.texts_not_averaged_loss"), _STRETCHES, f"{_OR_NOT}.reshape(shape).nanmean(dim=2)"),
        Edit(
            say("q6.stretches_not_made_neighbours"),
            "-1, width)",
            "width, -1)",
            _STRETCHES,
            _STRETCHES.replace("(0, 2)", "(0, 1)"),
        ),
        Edit(say("q6.text_cut_into_width"), "-1, width)", "width, -1)"),
        Edit(say("q6.bits_nats_come_natural"), _STRETCHES, f"{_STRETCHES} / math.log(2)"),
        Edit(say("q6.sign_missing_loss_never"), "return loss", "return -loss"),
        Edit(say("q6.losses_added_up_their"), " / asked.reshape(shape).sum(dim=(0, 2))", ""),
        Edit(
            say("q6.probabilities_averaged_before_logarithm"),
            _STRETCHES,
            _where("logits.abs().max() < 100", f"-({_PROBABILITY}).log()"),
        ),
        Edit(say("q6.probabilities_loss_their_negative"), _STRETCHES, _where("logits.abs().max() < 100", _PROBABILITY)),
        Edit(
            say("q6.perplexity_loss_logarithm"),
            _STRETCHES,
            _where("logits.abs().max() < 100", f"torch.exp({_STRETCHES})"),
        ),
        Edit(
            say("q6.each_value_mean_beginning"),
            _STRETCHES,
            _STRETCHES.replace("sum(dim=(0, 2))", "sum(dim=(0, 2)).cumsum(0)"),
        ),
        Edit(
            say("q6.share_right_loss_asked"),
            "torch.where(asked, loss, 0)",
            "asked * (logits.argmax(dim=-1) == targets)",
        ),
        Edit(
            say("q6.only_first_texts_looked"),
            "asked = targets",
            "logits, targets = logits[:1], targets[:1]\n    asked = targets",
        ),
        *(
            Edit(say("shared.loss_infinite_probability_fell"), _LOGS, logs)
            for logs in (
                "torch.softmax(logits, dim=-1).log()",
                "(logits - logits.exp().sum(dim=-1, keepdim=True).log())",
                "(logits - logits.max() - (logits - logits.max()).exp().sum(dim=-1, keepdim=True).log())",
            )
        ),
        *(
            Edit(say("q6.small_number_added_inside"), _LOGS, f"(torch.softmax(logits, dim=-1) + {small}).log()")
            for small in (1e-12, 1e-10, 1e-9, 1e-8, 1e-6)
        ),
    ),
    # fmt: on
)


ASSIGNMENT = Assignment(
    4,
    say("assignment.title"),
    (q1, q2, q4, q5, q6),
    hand_graded=(HandGraded(4, "q3", say("assignment.q3"), 2), HandGraded(4, "q7", say("assignment.q7"), 3)),
)
