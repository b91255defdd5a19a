"""Assignment 3, "Frequencies": the list of frequencies against a length, and what a configuration says of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from course.question import Answer, Assignment, Case, Mistake, Part, Question, sentences_of, until
from posenc import analysis, frequencies, scaling
from posenc.check import HandGraded

say = sentences_of(3)

Random = np.random.Generator
Array = np.ndarray[Any, Any]
TURN = 2 * math.pi


def _log_uniform(random: Random, low: float, high: float, size: int | None = None) -> Any:
    """Numbers spread evenly over the powers between two bounds; one Python number where no size is asked for."""
    drawn = np.exp(random.uniform(math.log(low), math.log(high), size))
    return float(drawn) if size is None else drawn


def _even(random: Random, low: int, high: int) -> int:
    """An even number from low to high."""
    return 2 * int(random.integers(low // 2, high // 2 + 1))


# Question 1: every hand of the clock


def _hands(dim: int, base: float, length: float) -> tuple[Array, Array, int]:
    return _hands_of(frequencies.inv_freq(dim, base), length)


def _hands_of(speeds: Array, length: float) -> tuple[Array, Array, int]:
    made = frequencies.rotations(length, speeds)
    return frequencies.wavelengths(speeds), made, int(np.count_nonzero(made >= 1))


def _slowed(share: Callable[[int], Array]) -> Answer:
    """Question 1 with other shares of the exponent, as a function of the width."""
    return lambda dim, base, length: _hands_of(base ** -share(dim), length)


def _counted(count: Callable[[Array], Any]) -> Answer:
    """Question 1 with another count of the hands that have turned."""

    def answer(dim: int, base: float, length: float) -> tuple[Array, Array, Any]:
        waves, made, _ = _hands(dim, base, length)
        return waves, made, count(made)

    return answer


def _in_units(wave: float, turn: float) -> Answer:
    """Question 1 with 2π in one or both of the formulas replaced by another number."""

    def answer(dim: int, base: float, length: float) -> tuple[Array, Array, int]:
        speeds = frequencies.inv_freq(dim, base)
        made = length * speeds / turn
        return wave / speeds, made, int(np.count_nonzero(made >= 1))

    return answer


def _speeds_for_wavelengths(dim: int, base: float, length: float) -> tuple[Array, Array, int]:
    _, made, count = _hands(dim, base, length)
    return frequencies.inv_freq(dim, base), made, count


def _swapped_hands(dim: int, base: float, length: float) -> tuple[Array, Array, int]:
    waves, made, count = _hands(dim, base, length)
    return made, waves, count


def _one_value_a_dimension(join: Callable[[Array], Array]) -> Answer:
    def answer(dim: int, base: float, length: float) -> tuple[Array, Array, int]:
        waves, made, _ = _hands(dim, base, length)
        return join(waves), join(made), int(np.count_nonzero(join(made) >= 1))

    return answer


def _nearly_turned(dim: int, base: float, length: float) -> bool:
    """Whether a hand has made more than half a turn and less than one; so not all have turned."""
    _, made, _ = _hands(dim, base, length)
    return bool(np.any((made > 0.55) & (made < 0.95)))


def _small_heads(random: Random) -> Iterator[Case]:
    def draw() -> Case:
        return Case(_even(random, 8, 16), int(random.integers(20, 400)), int(random.integers(30, 300)))

    for _ in range(3):
        yield until(_nearly_turned, draw)


def _model_heads(random: Random) -> Iterator[Case]:
    def draw() -> Case:
        base, length = _log_uniform(random, 3e3, 2e6), int(_log_uniform(random, 500, 100_000))
        return Case(_even(random, 48, 256), base, length)

    for _ in range(3):
        yield until(_nearly_turned, draw)


def _power_before_product(dim: int, base: float, length: float) -> tuple[Array, Array, int]:
    """base ** -2 * i / dim, as Python reads it; the first hand stands still."""
    speeds = float(base) ** -2 * np.arange(dim // 2) / dim
    made = length * speeds / TURN
    with np.errstate(divide="ignore"):
        return TURN / speeds, made, int(np.count_nonzero(made >= 1))


def _other_turns(change: Callable[[Array], Array]) -> Answer:
    """Question 1 with other turns, and the right count of hands."""

    def answer(dim: int, base: float, length: float) -> tuple[Array, Array, int]:
        waves, made, count = _hands(dim, base, length)
        return waves, change(made), count

    return answer


def _odd_sizes(random: Random) -> Iterator[Case]:
    yield Case(_even(random, 6, 20), _log_uniform(random, 2, 9), int(random.integers(8, 40)))
    yield Case(_even(random, 20, 60), _log_uniform(random, 500, 5e4), int(random.integers(4, 6)))
    yield Case(_even(random, 30, 90), _log_uniform(random, 20, 60), int(random.integers(400, 600)))  # all have turned


_LISTED_TWICE = say("shared.each_pair_listed_twice")

q1 = Question(
    assignment=3,
    name="q1",
    title=say("q1.title"),
    names=("count_rotations",),
    returns=(say("q1.wavelengths"), say("q1.turns"), say("q1.count")),
    parts=(
        Part(say("q1.small_heads"), 1, cases=_small_heads),
        Part(say("q1.heads_real_models"), 1, cases=_model_heads),
        Part(say("q1.very_short_texts_very"), 1, cases=_odd_sizes),
    ),
    reference=_hands,
    mistakes=(
        Mistake(
            say("q1.hands_slow_down_little"),
            _slowed(lambda dim: np.arange(dim // 2) / dim),
        ),
        Mistake(
            say("q1.last_hand_turns_exactly"),
            _slowed(lambda dim: np.arange(0, dim, 2) / (dim - 2)),
        ),
        Mistake(say("q1.hands_get_faster_along"), _slowed(lambda dim: -np.arange(0, dim, 2) / dim)),
        Mistake(say("q1.count_pairs_start_1"), _slowed(lambda dim: np.arange(2, dim + 2, 2) / dim)),
        Mistake(say("q1.slowest_hand_comes_first"), _slowed(lambda dim: np.arange(0, dim, 2)[::-1] / dim)),
        Mistake(say("q1.no_turn_2_pi"), _in_units(1.0, 1.0)),
        Mistake(say("q1.turns_radians_turn_not"), _in_units(TURN, 1.0)),
        Mistake(say("q1.wavelengths_not_full_turn"), _in_units(1.0, TURN)),
        Mistake(say("q1.turn_taken_360_but"), _in_units(360.0, 360.0)),
        Mistake(say("q1.turn_taken_pi_half"), _in_units(math.pi, math.pi)),
        Mistake(say("q1.first_value_holds_speeds"), _speeds_for_wavelengths),
        Mistake(say("q1.first_two_values_changed"), _swapped_hands),
        Mistake(say("q1.third_value_counts_hands"), _counted(lambda made: int(np.sum(made < 1)))),
        Mistake(say("q1.hand_made_half_turn"), _counted(lambda made: int(np.sum(made >= 0.5)))),
        Mistake(say("q1.third_value_adds_up"), _counted(np.sum)),
        Mistake(say("q1.third_value_adds_up"), _counted(lambda made: int(np.sum(made)))),
        Mistake(say("q1.third_value_share_not"), _counted(lambda made: np.mean(made >= 1))),
        Mistake(
            say("q1.turns_counted_over_token"),
            lambda dim, base, length: _hands(dim, base, length - 1),
        ),
        Mistake(
            say("q1.all_hands_speed_exponent"),
            _slowed(lambda dim: np.zeros(dim // 2)),
        ),
        Mistake(
            say("q1.all_hands_but_first"),
            _slowed(lambda dim: np.ceil(np.arange(0, dim, 2) / dim)),
        ),
        Mistake(
            say("q1.first_hand_stands_still"),
            _power_before_product,
        ),
        Mistake(say("q1.turns_rounded_down_parts"), _other_turns(np.floor)),
        Mistake(say("q1.second_value_upside_down"), _other_turns(lambda made: 1 / made)),
        Mistake(
            say("q1.third_value_number_last"),
            _counted(lambda made: int(np.sum(made >= 1)) - 1),
        ),
        Mistake(
            say("q1.third_value_0_where"),
            _counted(lambda made: int(np.argmax(made < 1))),
        ),
        Mistake(_LISTED_TWICE, _one_value_a_dimension(lambda values: np.repeat(values, 2))),
        Mistake(_LISTED_TWICE, _one_value_a_dimension(lambda values: np.concatenate([values, values]))),
        Mistake(say("q1.base_given_not_used"), lambda dim, base, length: _hands(dim, 10_000.0, length)),
        Mistake(
            say("q1.list_value_each_dimension"),
            _slowed(lambda dim: np.arange(dim) / dim),
        ),
    ),
)


# Question 2: the mean of all hands


def _cosines(distances: Any, speeds: Array) -> Array:
    return np.asarray(np.cos(np.asarray(distances)[..., None] * speeds))


def _in_bfloat16(distances: Any, speeds: Array) -> Array:
    """The cosines, of positions that were rounded to bfloat16."""
    rounded = torch.as_tensor(distances).to(torch.bfloat16).double()
    return np.asarray(np.cos(rounded.numpy()[..., None] * speeds))


def _with_bfloat16_angles(distances: Any, speeds: Array) -> Array:
    """The cosines, of angles that were rounded to bfloat16."""
    turned = torch.as_tensor(np.asarray(distances)[..., None] * speeds)
    return np.asarray(np.cos(turned.to(torch.bfloat16).double().numpy()))


def _all_bfloat16(distances: Any, speeds: Array) -> Array:
    """The cosines, of bfloat16 positions times bfloat16 speeds."""
    rounded = torch.as_tensor(distances).to(torch.bfloat16)[..., None] * torch.as_tensor(speeds).to(torch.bfloat16)
    return np.asarray(np.cos(rounded.double().numpy()))


def _below_zero(distances: Array, speeds: Array) -> bool:
    """Whether the hands disagree at one of the distances at least."""
    return bool(analysis.decay(distances, speeds).min() < -0.02)


def _near(random: Random) -> Iterator[Case]:
    def draw() -> Case:
        speeds = frequencies.inv_freq(_even(random, 6, 40), _log_uniform(random, 50, 5e4))
        return Case(random.integers(0, 200, size=int(random.integers(3, 6))), speeds)

    for _ in range(2):
        yield until(_below_zero, draw)


def _any_shape(random: Random) -> Iterator[Case]:
    yield Case(random.uniform(-90, 90, size=(3, 4)), random.uniform(0.01, 1.5, size=5))
    yield Case(int(random.integers(3, 90)), random.permutation(_log_uniform(random, 0.003, 1, 7)))
    yield Case(random.uniform(5, 60, size=(2, 1, 3)), random.uniform(0.01, 0.5, size=4))


def _far(random: Random) -> Iterator[Case]:
    def draw(low: int, high: int) -> Case:
        speeds = frequencies.inv_freq(_even(random, 32, 96), _log_uniform(random, 1e4, 1e6))
        return Case(2 * random.integers(low // 2, high // 2, size=6) + 1, speeds)

    yield draw(257, 4_000)
    yield until(_below_zero, lambda: draw(200_000, 1_000_000))


_ROUNDED = say("shared.angles_been_computed_bfloat16")

q2 = Question(
    assignment=3,
    name="q2",
    title=say("q2.title"),
    names=("decay",),
    parts=(
        Part(say("q2.list_near_distances"), 1, cases=_near),
        Part(say("q2.distances_any_shape_speeds"), 1, cases=_any_shape),
        Part(say("q2.far_distances"), 1, cases=_far),
    ),
    reference=analysis.decay,
    mistakes=(
        Mistake(say("q2.distance_0_not_1"), lambda m, f: _cosines(m, f).sum(axis=-1)),
        Mistake(
            say("q2.distance_0_half_how"),
            lambda m, f: analysis.decay(m, f) / 2,
        ),
        Mistake(say("q2.distance_0_2_half"), lambda m, f: 2 * analysis.decay(m, f)),
        Mistake(say("q2.mean_taken_over_distances"), lambda m, f: _cosines(m, f).mean(axis=0)),
        Mistake(
            say("q2.number_all_distances_mean"),
            lambda m, f: _cosines(m, f).mean(),
        ),
        Mistake(
            say("q2.number_all_distances_mean"),
            lambda m, f: np.full(np.shape(m), _cosines(m, f).mean()),
        ),
        Mistake(
            say("q2.sines_taken_hand_not"),
            lambda m, f: np.sin(np.asarray(m)[..., None] * f).mean(axis=-1),
        ),
        Mistake(
            say("q2.sizes_cosines_averaged_hand"),
            lambda m, f: np.abs(_cosines(m, f)).mean(axis=-1),
        ),
        Mistake(say("q2.size_mean_taken_may"), lambda m, f: np.abs(analysis.decay(m, f))),
        Mistake(
            say("q2.size_complex_mean"), lambda m, f: np.abs(np.exp(1j * np.asarray(m)[..., None] * f).mean(axis=-1))
        ),
        Mistake(say("q2.cosines_squared"), lambda m, f: (_cosines(m, f) ** 2).mean(axis=-1)),
        Mistake(say("q2.distances_counted_1"), lambda m, f: analysis.decay(np.asarray(m) + 1, f)),
        Mistake(
            say("q2.distances_given_not_used"),
            lambda m, f: analysis.decay(np.arange(np.size(m)).reshape(np.shape(m)), f),
        ),
        Mistake(
            say("q2.angles_taken_degrees_radians"),
            lambda m, f: analysis.decay(np.asarray(m) * math.pi / 180, f),
        ),
        Mistake(
            say("q2.angles_taken_turns_speeds"),
            lambda m, f: analysis.decay(np.asarray(m) * TURN, f),
        ),
        Mistake(
            say("q2.cosine_mean_angle_not"),
            lambda m, f: np.cos((np.asarray(m)[..., None] * f).mean(axis=-1)),
        ),
        Mistake(
            say("q2.distances_cut_whole_numbers"),
            lambda m, f: analysis.decay(np.asarray(m).astype(int), f),
        ),
        Mistake(say("q2.cosines_multiplied_their_mean"), lambda m, f: _cosines(m, f).prod(axis=-1)),
        Mistake(say("q2.fastest_hand_alone"), lambda m, f: np.cos(np.asarray(m) * np.max(f))),
        Mistake(_ROUNDED, lambda m, f: _in_bfloat16(m, f).mean(axis=-1), tolerance=1e-4),
        Mistake(_ROUNDED, lambda m, f: _with_bfloat16_angles(m, f).mean(axis=-1), tolerance=1e-4),
        Mistake(_ROUNDED, lambda m, f: _all_bfloat16(m, f).mean(axis=-1), tolerance=1e-2),
        Mistake(say("q2.nearly_far_out_angles"), analysis.decay, tolerance=3e-2),
    ),
    tolerance=1e-5,
)


# Question 3: the law behind the curve


def _reach(share: float, base: float) -> float:
    """Where `posenc.analysis.decay_logarithm` has come down to a share; no other form of it is in the package."""
    line_at_1 = float(analysis.decay_logarithm(1.0, base))
    fall = line_at_1 - float(analysis.decay_logarithm(math.e, base))
    return math.exp((line_at_1 - share) / fall)


def _shares(random: Random) -> Iterator[Case]:
    for low, high in ((0.02, 0.3), (0.3, 0.45), (0.55, 0.9)):
        yield Case(float(random.uniform(low, high)), _log_uniform(random, 500, 5e6))


def _middle(random: Random) -> Iterator[Case]:
    yield Case(random.integers(10, 1000, size=5), _log_uniform(random, 1e4, 1e6))
    yield Case(_log_uniform(random, 10, 300, 4), _log_uniform(random, 2e3, 9e3))


def _ends(random: Random) -> Iterator[Case]:
    yield Case(_log_uniform(random, 0.5, 8, 4), _log_uniform(random, 100, 1e5))
    base = _log_uniform(random, 5, 60)
    yield Case(base * _log_uniform(random, 1.2, 12, 5), base)


def _wave(distances: Array, speeds: Array) -> Array:
    return np.array([np.mean(np.cos(m * speeds)) for m in np.asarray(distances, dtype=float)])


def _sine_step(distances: Array, base: float) -> Array:
    """The integral of cos u from m/base to m."""
    return np.asarray(np.sin(distances) - np.sin(distances / base))


_MIDPOINTS = (np.arange(20_000) + 0.5) / 20_000

_LAW_MISTAKES = (
    Mistake(
        say("shared.straight_line_agrees_limit"),
        lambda m, base: 1 - (np.log(m) + np.euler_gamma) / math.log(base),
    ),
    Mistake(
        say("shared.ln_base_times_large"),
        lambda m, base: analysis.decay_law(m, base) * math.log(base),
    ),
    Mistake(
        say("shared.logarithm_base_natural_not"),
        lambda m, base: analysis.decay_law(m, base) * math.log(10),
    ),
    *(
        Mistake(say("shared.cos_u_not_divided"), wrong, 1e-3)
        for wrong in (
            lambda m, base: _sine_step(m, base) / math.log(base),
            lambda m, base: _sine_step(m, base) / (m - m / base),
            lambda m, base: _sine_step(m, base) / (m - m / base) / math.log(base),
        )
    ),
    Mistake(
        say("shared.speeds_grow_x_instead"),
        lambda m, base: _wave(m, base**_MIDPOINTS),
        tolerance=1e-2,
    ),
    Mistake(
        say("shared.sines_taken_instead_cosines"),
        lambda m, base: np.array([np.mean(np.sin(one * base**-_MIDPOINTS)) for one in m]),
    ),
    Mistake(say("shared.exponents_end_at_half"), lambda m, base: _wave(m, base ** (-_MIDPOINTS / 2)), 1e-3),
    Mistake(say("shared.sign_turned_round"), lambda m, base: -analysis.decay_law(m, base)),
    *(
        Mistake(
            say("shared.mean_some_dozens_hands"),
            lambda m, base, dim=dim: analysis.decay(m, frequencies.inv_freq(dim, base)),
        )
        for dim in (20, 64, 100, 128, 200, 256)
    ),
    Mistake(say("shared.nearly_sum_few_steps"), analysis.decay_law, 0.03),
)


def _law(title: str, cases: Callable[[Random], Iterator[Case]]) -> Part:
    """A part that asks `law`, the second function of the question."""
    return Part(title, 1, "law", cases=cases, reference=analysis.decay_law, mistakes=_LAW_MISTAKES, tolerance=2e-4)


q3 = Question(
    assignment=3,
    name="q3",
    title=say("q3.title"),
    names=("reach", "law"),
    parts=(
        Part(say("q3.reach_share_distance"), 1, cases=_shares),
        _law(say("q3.law_middle_curve"), _middle),
        _law(say("q3.law_two_ends"), _ends),
    ),
    reference=_reach,
    mistakes=(
        Mistake(say("q3.gamma_left_out"), lambda share, base: base ** (1 - share)),
        *(
            Mistake(
                say("q3.distance_rounded_asked"),
                lambda share, base, cut=cut: cut(_reach(share, base)),
            )
            for cut in (round, math.floor, math.ceil)
        ),
        Mistake(
            say("q3.1_line_lost_way"),
            lambda share, base: math.exp(-share * math.log(base) - np.euler_gamma),
        ),
        Mistake(
            say("q3.gamma_not_divided_ln"),
            lambda share, base: base ** (1 - share - np.euler_gamma),
        ),
        Mistake(say("q3.gamma_wrong_sign"), lambda share, base: base ** (1 - share) * math.exp(np.euler_gamma)),
        Mistake(say("q3.share_lost_taken_share"), lambda share, base: _reach(1 - share, base)),
        Mistake(
            say("q3.gamma_taken_off_distance"),
            lambda share, base: base ** (1 - share) - np.euler_gamma,
        ),
        Mistake(
            say("q3.logarithms_base_10_taken"),
            lambda share, base: base ** (1 - share) * 10**-np.euler_gamma,
        ),
        Mistake(
            say("q3.logarithms_base_2_taken"),
            lambda share, base: base ** (1 - share) * 2**-np.euler_gamma,
        ),
        Mistake(say("q3.logarithm_distance"), lambda share, base: (1 - share) * math.log(base) - np.euler_gamma),
        Mistake(
            say("q3.curve_taken_fall_evenly"),
            lambda share, base: base * (1 - share),
        ),
    ),
)


# Question 4: a base for a length


def _lowest(length: int, dim: int, base: float) -> float:
    return float(analysis.decay(np.arange(length + 1), frequencies.inv_freq(dim, base)).min())


def _safe_base(length: int, dim: int, bases: Sequence[float]) -> float | None:
    """The smallest of the bases from which on all pass; the package has no such search."""
    safe = None
    for base in sorted(bases, reverse=True):
        if _lowest(length, dim, base) < 0:
            break
        safe = base
    return safe


def _least_and_safe(length: int, dim: int, bases: Sequence[float]) -> tuple[float | None, float | None]:
    return analysis.min_base(length, dim, bases), _safe_base(length, dim, bases)


def _passing(length: int, dim: int, bases: Sequence[float]) -> list[float]:
    return [base for base in bases if _lowest(length, dim, base) >= 0]


def _first_that_passes(length: int, dim: int, bases: Sequence[float]) -> tuple[float | None, float | None]:
    return next(iter(_passing(length, dim, bases)), None), _safe_base(length, dim, bases)


def _after_the_last_that_fails(length: int, dim: int, bases: Sequence[float]) -> tuple[float | None, float | None]:
    least, _ = _least_and_safe(length, dim, bases)
    return least, max(base for base in bases if _lowest(length, dim, base) < 0)


def _at_the_end_only(length: int, dim: int, bases: Sequence[float]) -> tuple[float | None, float | None]:
    good = [base for base in sorted(bases) if analysis.decay(length, frequencies.inv_freq(dim, base)) >= 0]
    bad = set(bases) - set(good)
    safe = [base for base in good if all(base > one for one in bad)]
    return (good[0] if good else None), (safe[0] if safe else None)


def _every_second(length: int, dim: int, bases: Sequence[float]) -> tuple[float | None, float | None]:
    distances = np.arange(0, length + 1, 2)
    good = [base for base in sorted(bases) if analysis.decay(distances, frequencies.inv_freq(dim, base)).min() >= 0]
    greatest = max((base for base in bases if base not in good), default=0)
    return (good[0] if good else None), next((base for base in good if base > greatest), None)


def _passing_by(test: Callable[[Array], bool]) -> Answer:
    """Question 4 with another test of the scores at all distances."""

    def answer(length: int, dim: int, bases: Sequence[float]) -> tuple[float | None, float | None]:
        distances = np.arange(length + 1)
        good = [base for base in sorted(bases) if test(analysis.decay(distances, frequencies.inv_freq(dim, base)))]
        greatest = max((base for base in bases if base not in good), default=0)
        return (good[0] if good else None), next((base for base in good if base > greatest), None)

    return answer


def _unsorted(length: int, dim: int, bases: Sequence[float]) -> tuple[float | None, float | None]:
    """The first that passes in the order given, and the first there that is greater than all that fail."""
    good = _passing(length, dim, bases)
    greatest = max((base for base in bases if base not in good), default=0)
    return next(iter(good), None), next((base for base in good if base > greatest), None)


def _in_the_order_given(length: int, dim: int, bases: Sequence[float]) -> tuple[float | None, float | None]:
    """The first that passes in the order given, and the start of the last run of such as pass."""
    good = _passing(length, dim, bases)
    start = None
    for base in bases:
        start = (start or base) if base in good else None
    return next(iter(good), None), start


def _with_other_speeds(share: Callable[[int], Array]) -> Answer:
    """Question 4 with other shares of the exponent, as a function of the width."""

    def answer(length: int, dim: int, bases: Sequence[float]) -> tuple[float | None, float | None]:
        least = safe = None
        for base in sorted(bases):
            if analysis.decay(np.arange(length + 1), base ** -share(dim)).min() < 0:
                safe = None
            else:
                least, safe = least or base, safe or base
        return least, safe

    return answer


class _Grid:
    """Bases of some width, and for each the first distance at which its score is below zero."""

    def __init__(self, random: Random, longest: int = 180, size: int = 24) -> None:
        self.dim = _even(random, 8, 24)
        drawn = {int(base) for base in _log_uniform(random, 15, 900, size)}
        self.bases = sorted(drawn)
        speeds = np.array([frequencies.inv_freq(self.dim, base) for base in self.bases])
        scores = np.cos(np.arange(longest + 1)[:, None, None] * speeds).mean(axis=-1)  # (distances, bases)
        self.below = scores < 0
        self.first = np.where(self.below.any(axis=0), self.below.argmax(axis=0), longest + 1)
        changes = self.first[self.first <= longest]  # where the list of passing bases changes
        self.lengths = np.unique(np.concatenate([changes, changes + 1]))

    def answer(self, length: int, counted: slice | None = None) -> tuple[int | None, int | None]:
        """The places of the least base and of the safe one, by all distances up to a length or by some of them."""
        failing = self.below[counted or slice(length + 1)].any(axis=0)
        passing = np.flatnonzero(~failing)
        after = int(np.flatnonzero(failing)[-1]) + 1 if failing.any() else 0
        return (int(passing[0]) if passing.size else None), (after if after < len(self.bases) else None)

    def by_the_end(self, length: int) -> bool:
        """Whether the last distance alone leads to the same answer."""
        return self.answer(length, slice(length, length + 1)) == self.answer(length)

    def within(self, length: int) -> bool:
        """Whether neither the last distance nor every second one makes a difference."""
        others = slice(length), slice(0, length + 1, 2)
        return all(self.answer(length, counted) == self.answer(length) for counted in others)


def _grid_case(random: Random, wanted: Callable[[_Grid, int], bool], longest: int = 180) -> Case:
    """A length, a width and a jumbled list of bases, such that the wanted thing is to be seen on them."""
    while True:  # most grids have such a length
        grid = _Grid(random, longest)
        lengths = [int(n) for n in grid.lengths if n > 12 and wanted(grid, int(n)) and not grid.by_the_end(int(n))]
        if not lengths:
            continue
        length = lengths[int(random.integers(len(lengths)))]
        passing = [base for base, n in zip(grid.bases, grid.first, strict=True) if n > length]
        bases = [int(base) for base in random.permutation(grid.bases)]
        if len(passing) > 1 and next(base for base in bases if base in passing) != passing[0]:
            return Case(length, grid.dim, bases)


def _without_luck(random: Random) -> Iterator[Case]:
    def upper_part(grid: _Grid, length: int) -> bool:
        least, safe = grid.answer(length)
        return least is not None and least == safe and 2 < least < len(grid.bases) - 2 and grid.within(length)

    yield _grid_case(random, upper_part)
    yield _grid_case(random, upper_part)


def _with_luck(random: Random) -> Iterator[Case]:
    def gap(grid: _Grid, length: int) -> bool:
        least, safe = grid.answer(length)
        return least is not None and safe is not None and least < safe < len(grid.bases) - 2 and grid.within(length)

    yield _grid_case(random, gap)
    yield _grid_case(random, gap)


def _at_the_edges(random: Random) -> Iterator[Case]:
    def last_one_counts(grid: _Grid, length: int, odd: int = 1) -> bool:
        least, safe = grid.answer(length)
        return length % 2 == odd and least != grid.answer(length - 1)[0] and safe is not None

    def greatest_fails(grid: _Grid, length: int) -> bool:
        least, safe = grid.answer(length)
        return least is not None and safe is None

    yield _grid_case(random, last_one_counts)
    yield _grid_case(random, partial(last_one_counts, odd=0))  # the last one of every second distance, too
    yield _grid_case(random, greatest_fails)
    yield Case(
        int(random.integers(100, 200)), _even(random, 8, 24), [int(b) for b in random.permutation(np.arange(5, 20))]
    )


q4 = Question(
    assignment=3,
    name="q4",
    title=say("q4.title"),
    names=("bases_for",),
    returns=(say("q4.least_base"), say("q4.safe_base")),
    parts=(
        Part(say("q4.grids_good_bases_lie"), 1, cases=_without_luck),
        Part(say("q4.grids_luck"), 1, cases=_with_luck),
        Part(say("q4.last_distance_grids_no"), 1, cases=_at_the_edges),
    ),
    reference=_least_and_safe,
    mistakes=(
        Mistake(
            say("q4.last_distance_left_out"),
            lambda length, dim, bases: _least_and_safe(length - 1, dim, bases),
        ),
        Mistake(say("q4.every_second_distance_left"), _every_second),
        Mistake(say("q4.first_that_passes_not_smallest"), _first_that_passes),
        Mistake(say("q4.bases_not_in_order"), _unsorted),
        Mistake(say("q4.bases_not_in_order"), _in_the_order_given),
        Mistake(
            say("q4.second_value_first_once"),
            lambda length, dim, bases: (analysis.min_base(length, dim, bases),) * 2,
        ),
        Mistake(say("q4.only_last_distance_looked"), _at_the_end_only),
        Mistake(say("q4.mean_score_looked"), _passing_by(lambda scores: bool(scores.mean() >= 0))),
        Mistake(say("q4.one_distance_enough"), _passing_by(lambda scores: bool(scores.max() >= 0))),
        *(
            Mistake(say("q4.search_right_speeds_not"), wrong)
            for wrong in (
                _with_other_speeds(lambda dim: np.arange(dim // 2) / dim),
                _with_other_speeds(lambda dim: np.arange(dim) / dim),
                _with_other_speeds(lambda dim: np.arange(0, dim, 2) / (dim - 2)),
                _with_other_speeds(lambda dim: np.arange(2, dim + 2, 2) / dim),
            )
        ),
        Mistake(say("q4.second_value_base_fails"), _after_the_last_that_fails),
        Mistake(
            say("q4.second_value_greatest_base"),
            lambda length, dim, bases: (analysis.min_base(length, dim, bases), max(bases)),
        ),
        Mistake(
            say("q4.second_value_greatest_base"),
            lambda length, dim, bases: (
                analysis.min_base(length, dim, bases),
                max(_passing(length, dim, bases), default=None),
            ),
        ),
        Mistake(
            say("q4.two_values_changed_places"), lambda length, dim, bases: _least_and_safe(length, dim, bases)[::-1]
        ),
        Mistake(
            say("q4.where_no_base_will"),
            lambda length, dim, bases: tuple(value or 0 for value in _least_and_safe(length, dim, bases)),
        ),
        Mistake(
            say("q4.where_no_base_will"),
            lambda length, dim, bases: tuple(value or -1 for value in _least_and_safe(length, dim, bases)),
        ),
        Mistake(
            say("q4.where_no_base_will"),
            lambda length, dim, bases: tuple(value or math.inf for value in _least_and_safe(length, dim, bases)),
        ),
    ),
)


# Question 5: new angles


def _new(
    speeds: Array,
    trained: int,
    used: int,
    tolerance: float,
    *,
    turn: float | None = TURN,
    around: bool = True,
    wrapped: bool = True,
    size: Callable[[Array], Array] = np.asarray,
    first: int = 0,
    extra: int = 0,
    past: int | None = None,
    unit: float = 1.0,
) -> Array:
    """Question 5 with one thing changed: no turn, no way round it, angles past a turn, other positions or units."""
    shares = []
    for speed in speeds:
        seen = np.arange(first, trained + extra) * speed * unit
        asked = np.arange(trained if past is None else past, used) * speed * unit
        if turn is not None and wrapped:
            seen, asked = seen % turn, asked % turn
        apart = np.abs(asked[:, None] - seen)
        if turn is not None and around:
            apart = np.minimum(apart, size(turn - apart))
        shares.append(np.mean(apart.min(axis=1) > tolerance))
    return np.array(shares)


def _changed(**how: Any) -> Answer:
    return lambda speeds, trained, used, tolerance: _new(speeds, trained, used, tolerance, **how)


def _beyond_the_greatest(speeds: Array, trained: int, used: int, tolerance: float) -> Array:
    seen, asked = np.arange(trained)[:, None] * speeds % TURN, np.arange(trained, used)[:, None] * speeds % TURN
    return np.asarray(np.mean(asked > seen.max(axis=0) + tolerance, axis=0))


def _by_distance(far: Callable[[Array, float], Array]) -> Answer:
    """Question 5 from the table of distances along the circle, (later, earlier), read another way."""

    def answer(speeds: Array, trained: int, used: int, tolerance: float) -> Array:
        shares = []
        for speed in speeds:
            apart = (np.arange(trained, used)[:, None] - np.arange(trained)) * speed % TURN
            shares.append(np.mean(far(np.minimum(apart, TURN - apart), tolerance)))
        return np.array(shares)

    return answer


_chords = _by_distance(lambda apart, tolerance: (2 * np.sin(apart / 2)).min(axis=1) > tolerance)


def _chord_is_arc(*given: Any) -> bool:
    """Whether the way straight across the circle leads to the same shares as the way along it."""
    return np.array_equal(_chords(*given), _new(*given))


def _slow_hands(random: Random) -> Iterator[Case]:
    for _ in range(2):
        trained = int(random.integers(20, 50))
        used = trained + int(random.integers(20, 60))
        speeds = random.uniform(0.1, 0.9, size=int(random.integers(3, 6))) * TURN / used
        yield Case(speeds, trained, used, float(np.median(speeds) * random.uniform(2, 5)))
    used = int(random.integers(80, 120))  # a wide tolerance, which tells an arc from its chord
    speeds = random.uniform(0.62, 0.72, size=3) * TURN / used
    yield Case(speeds, int(0.3 * used), used, float(random.uniform(1.1, 1.4)))


def _hands_coming_round(random: Random) -> Iterator[Case]:
    def draw() -> Case:
        trained = int(random.integers(30, 60))
        used = 2 * trained + int(random.integers(5, 40))
        speeds = random.uniform(0.55, 0.9, size=int(random.integers(3, 6))) * TURN / trained
        return Case(random.permutation(speeds), trained, used, float(random.uniform(0.2, 0.35)))

    def wanted(*given: Any) -> bool:
        unwrapped = (_new(*given, wrapped=False), _new(*given, wrapped=False, size=np.abs))
        return _chord_is_arc(*given) and not any(np.array_equal(_new(*given), one) for one in unwrapped)

    for _ in range(2):
        yield until(wanted, draw)


def _coarse_hands(random: Random) -> Iterator[Case]:
    def draw() -> Case:
        trained = int(random.integers(7, 14))
        used = trained + int(random.integers(25, 60))
        return Case(random.uniform(0.5, 2.8, size=5), trained, used, float(random.uniform(0.05, 0.15)))

    def wanted(*given: Any) -> bool:
        return _chord_is_arc(*given) and not np.array_equal(_new(*given, around=False), _new(*given))

    for _ in range(2):
        yield until(wanted, draw)


q5 = Question(
    assignment=3,
    name="q5",
    title=say("q5.title"),
    names=("new_angles",),
    parts=(
        Part(say("q5.hands_not_come_round"), 1, cases=_slow_hands),
        Part(say("q5.hands_come_round"), 1, cases=_hands_coming_round),
        Part(say("q5.fast_hands_long_steps"), 1, cases=_coarse_hands),
    ),
    reference=analysis.unseen_angles,
    mistakes=(
        Mistake(say("q5.angle_full_turn_taken"), _changed(turn=None)),
        Mistake(
            say("q5.distance_measured_straight_across"),
            _chords,
        ),
        Mistake(
            say("q5.pairs_later_earlier_angle"),
            _by_distance(lambda apart, t: apart > t),
        ),
        Mistake(
            say("q5.angles_compared_last_training"),
            _by_distance(lambda apart, t: apart[:, -1] > t),
        ),
        Mistake(
            say("q5.later_positions_end_used"),
            lambda f, n, m, t: analysis.unseen_angles(f, n, n + m, t),
        ),
        Mistake(
            say("q5.number_new_angles_divided"),
            lambda f, n, m, t: analysis.unseen_angles(f, n, m, t) * (m - n) / n,
        ),
        Mistake(
            say("q5.every_angle_past_training"),
            lambda f, n, m, t: np.ones(len(f)),
        ),
        *(
            Mistake(say("q5.shorter_way_round_taken"), wrong)
            for wrong in (_changed(wrapped=False), _changed(wrapped=False, size=np.abs))
        ),
        Mistake(
            say("q5.way_round_forgotten_just"),
            _changed(around=False),
        ),
        Mistake(say("q5.shares_angles_met"), lambda *given: 1 - analysis.unseen_angles(*given)),
        Mistake(say("q5.position_trained_taken_training"), _changed(extra=1)),
        Mistake(say("q5.positions_training_counted_1"), _changed(first=1)),
        Mistake(say("q5.position_trained_first_past"), lambda f, n, m, t: _new(f, n, m, t, past=n + 1)),
        Mistake(
            say("q5.shares_all_positions_only"),
            lambda f, trained, used, t: analysis.unseen_angles(f, trained, used, t) * (used - trained) / used,
        ),
        Mistake(say("q5.every_angle_within_greatest"), _beyond_the_greatest),
        Mistake(say("q5.pair_not_simply_new"), lambda f, n, m, t: (n * f < TURN) * 1.0),
        Mistake(say("q5.angles_taken_rest_pi"), _changed(turn=math.pi)),
        Mistake(say("q5.angles_turned_into_degrees"), _changed(turn=360.0, unit=180 / math.pi)),
        Mistake(say("q5.numbers_angles_not_shares"), lambda f, n, m, t: analysis.unseen_angles(f, n, m, t) * (m - n)),
        Mistake(say("q5.percentages_not_shares_0"), lambda *given: 100 * analysis.unseen_angles(*given)),
        Mistake(
            say("q5.number_all_pairs_question"),
            lambda *given: np.mean(analysis.unseen_angles(*given)),
        ),
        Mistake(
            say("q5.used_number_positions_last"),
            lambda f, n, m, t: analysis.unseen_angles(f, n, m + 1, t),
        ),
    ),
)


# Question 6: a file

Config = Mapping[str, Any]


def _rope_of(config: Config) -> Config:
    return config.get("rope_parameters") or config.get("rope_scaling") or {}


def _head_of(config: Config) -> int:
    return int(config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"])


def _rotation(config: Config) -> tuple[int, float, float]:
    """What the package reads in a configuration, without its scaling."""
    given = {key: value for key, value in {**config, **_rope_of(config)}.items() if value is not None}
    plain = {key: given[key] for key in ("rope_theta", "partial_rotary_factor") if key in given}
    speeds = scaling.from_config({"rope_parameters": plain}, _head_of(config)).inv_freq
    return 2 * len(speeds), float(given["rope_theta"]), float(frequencies.wavelengths(speeds).max())


def _other_file(**changes: Callable[[Config], Any]) -> Answer:
    """Question 6 read from a file with some of its keys changed."""
    return lambda config: _rotation({**config, **{key: change(config) for key, change in changes.items()}})


def _without(*names: str) -> Answer:
    """Question 6 from a file whose rope dictionary lacks some keys."""

    def answer(config: Config) -> tuple[int, float, float]:
        rope = {key: value for key, value in _rope_of(config).items() if key not in names}
        return _rotation({"rope_theta": 10_000.0, **config, "rope_parameters": rope, "rope_scaling": None})

    return answer


def _whole_head(config: Config) -> tuple[int, float, float]:
    rope = {**_rope_of(config), "partial_rotary_factor": 1.0}
    return _rotation({**config, "rope_parameters": rope})


def _whole_head_in_the_exponent(config: Config) -> tuple[int, float, float]:
    dim, base, _ = _rotation(config)
    head = _head_of(config)
    return dim, base, TURN / float(frequencies.inv_freq(head, base)[dim // 2 - 1])


def _after_reading(change: Callable[[int, float, float], tuple[float, ...]]) -> Answer:
    return lambda config: change(*_rotation(config))


def _with_scaling(config: Config) -> tuple[int, float, float]:
    dim, base, slowest = _rotation(config)
    return dim, base, slowest * (_rope_of(config).get("factor") or 1.0)


def _with_scaling_upside_down(config: Config) -> tuple[int, float, float]:
    dim, base, slowest = _rotation(config)
    return dim, base, slowest / (_rope_of(config).get("factor") or 1.0)


def _older_overlooked(config: Config) -> tuple[int, float, float]:
    return _rotation({"rope_theta": 10_000.0, **config, "rope_scaling": None})


def _top_overlooked(config: Config) -> tuple[int, float, float]:
    return _rotation({**config, "rope_theta": 10_000.0})


def _rest_of_the_head(config: Config) -> tuple[int, float, float]:
    dim, base, _ = _rotation(config)
    rest = _head_of(config) - dim or dim
    return rest, base, TURN / float(frequencies.inv_freq(rest, base)[-1])


def _last_of_the_whole_head(config: Config) -> tuple[int, float, float]:
    dim, base, _ = _rotation(config)
    return dim, base, TURN / float(frequencies.inv_freq(_head_of(config), base)[-1])


def _scaled_base(config: Config) -> tuple[int, float, float]:
    factor = _rope_of(config).get("factor") or 1.0
    dim, base, _ = _rotation(config)
    return dim, base * factor, TURN / float(frequencies.inv_freq(dim, base * factor)[-1])


def _file(random: Random, head: str, *, share: float = 1.0) -> dict[str, Any]:
    """A configuration without its rotation; `head` says where the width of a head stands."""
    heads, kept = map(int, random.choice([(6, 2), (10, 2), (12, 3), (12, 4), (20, 5)]))
    width = int(random.choice([40, 80, 120, 160]))
    file = {
        "model_type": str(random.choice(["heron", "plover", "curlew"])),
        "hidden_size": heads * width,
        "num_attention_heads": heads,
        "num_key_value_heads": kept,
        "num_hidden_layers": int(random.integers(4, 40)),
        "max_position_embeddings": int(2 ** random.integers(10, 18)),
    }
    if head == "given":
        file["head_dim"] = int(random.choice([48, 64, 96, 128, 192]))
    elif head == "null":
        file["head_dim"] = None
    return file


def _theta(random: Random) -> float:
    return float(round(_log_uniform(random, 2e4, 5e6)))


def _at_the_top(random: Random) -> Iterator[Case]:
    for head in ("given", "derived", "null"):
        theta = _theta(random)
        scaled: dict[str, Any] = {} if head == "null" else {"rope_scaling": None}
        yield Case(_file(random, head) | {"rope_theta": int(theta) if head == "derived" else theta} | scaled)


def _in_the_rope_dictionary(random: Random) -> Iterator[Case]:
    factor = float(random.choice([2.0, 4.0, 8.0]))
    new = {"rope_type": "default", "rope_theta": _theta(random)}
    yield Case(_file(random, "given") | {"rope_parameters": new})
    linear = {"rope_type": "linear", "factor": factor, "rope_theta": _theta(random)}
    yield Case(_file(random, "derived") | {"rope_scaling": linear})
    old = {"type": "linear", "factor": 2 * factor}
    yield Case(_file(random, "given") | {"rope_theta": _theta(random), "rope_scaling": old})


def _part_of_the_head(random: Random) -> Iterator[Case]:
    top = {"rope_theta": _theta(random), "partial_rotary_factor": float(random.choice([0.25, 0.5, 0.75]))}
    yield Case(_file(random, "derived") | top | {"rope_scaling": None})
    inside = {"rope_theta": _theta(random), "partial_rotary_factor": float(random.choice([0.25, 0.5]))}
    yield Case(_file(random, "given") | {"rope_parameters": {"rope_type": "default", **inside}})
    apart = {"rope_theta": _theta(random), "partial_rotary_factor": 0.25}
    yield Case(_file(random, "given") | apart)


q6 = Question(
    assignment=3,
    name="q6",
    title=say("q6.title"),
    names=("rotation_of",),
    returns=(say("q6.number_rotating_dimensions"), say("q6.base"), say("q6.slowest_turn")),
    parts=(
        Part(say("q6.plain_files_head_dim"), 1, cases=_at_the_top),
        Part(say("q6.files_rope_dictionary"), 1, cases=_in_the_rope_dictionary),
        Part(say("q6.files_heads_rotate_part"), 1, cases=_part_of_the_head),
    ),
    reference=_rotation,
    mistakes=(
        Mistake(say("q6.head_dim_overlooked_where"), _other_file(head_dim=lambda config: None)),
        Mistake(say("q6.partial_rotary_factor_overlooked"), _whole_head),
        Mistake(
            say("q6.partial_rotary_factor_overlooked_where"),
            _without("partial_rotary_factor"),
        ),
        Mistake(say("q6.rope_theta_overlooked_where"), _without("rope_theta")),
        Mistake(say("q6.stands_rope_dictionary_overlooked"), _without("rope_theta", "partial_rotary_factor")),
        Mistake(
            say("q6.slowest_hand_not_list"),
            _whole_head_in_the_exponent,
        ),
        Mistake(
            say("q6.slowest_hand_whole_head"),
            _last_of_the_whole_head,
        ),
        Mistake(say("q6.partial_rotary_factor_share"), _rest_of_the_head),
        Mistake(say("q6.rope_theta_overlooked_where_stands"), _top_overlooked),
        Mistake(
            say("q6.exponent_slowest_hand_not"),
            _after_reading(lambda dim, base, slowest: (dim, base, TURN * base ** ((dim - 1) / dim))),
        ),
        Mistake(
            say("q6.exponent_slowest_hand_lacks"),
            _after_reading(lambda dim, base, slowest: (dim, base, TURN * base ** ((dim // 2 - 1) / dim))),
        ),
        Mistake(
            say("q6.turn_taken_360_but"),
            _after_reading(lambda dim, base, slowest: (dim, base, 360 * slowest / TURN)),
        ),
        Mistake(
            say("q6.slowest_hand_not_turn"),
            _after_reading(lambda dim, base, slowest: (dim, base, TURN * base)),
        ),
        Mistake(
            say("q6.first_value_number_pairs"),
            _after_reading(lambda dim, base, slowest: (dim // 2, base, slowest)),
        ),
        Mistake(
            say("q6.third_value_not_full"),
            _after_reading(lambda dim, base, slowest: (dim, base, slowest / TURN)),
        ),
        Mistake(
            say("q6.third_value_speed_tokens"),
            _after_reading(lambda dim, base, slowest: (dim, base, TURN / slowest)),
        ),
        Mistake(say("q6.third_value_fastest_hand"), _after_reading(lambda dim, base, slowest: (dim, base, TURN))),
        Mistake(say("q6.scaling_applied_list_before"), _with_scaling),
        Mistake(say("q6.scaling_applied_list_before"), _scaled_base),
        Mistake(say("q6.scaling_applied_list_before"), _with_scaling_upside_down),
        Mistake(say("q6.older_dictionary_overlooked"), _older_overlooked),
        Mistake(say("q1.first_two_values_changed"), _after_reading(lambda dim, base, slowest: (base, dim, slowest))),
        *(
            Mistake(say("q6.width_divided_among_key"), wrong)
            for wrong in (
                _other_file(head_dim=lambda config: config["hidden_size"] // config["num_key_value_heads"]),
                _other_file(
                    head_dim=lambda config: (
                        config.get("head_dim") or config["hidden_size"] // config["num_key_value_heads"]
                    )
                ),
            )
        ),
        Mistake(
            say("q6.whole_width_model_taken"),
            _other_file(head_dim=lambda config: config["hidden_size"]),
        ),
    ),
)

ASSIGNMENT = Assignment(
    3, say("assignment.title"), (q1, q2, q3, q4, q5, q6), (HandGraded(3, "q7", say("assignment.q7"), 2),)
)
