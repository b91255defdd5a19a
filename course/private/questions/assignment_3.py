"""Assignment 3, "Frequencies": the list of frequencies against a length, and what a configuration says of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from course.question import Assignment, Case, Edit, Mistake, Part, Question, defined, sentences_of, until
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


_FREQUENCIES = "base ** (-np.arange(0, dim, 2) / dim)"

# Question 1: every hand of the clock


def _hands(dim: int, base: float, length: float) -> tuple[Array, Array, int]:
    return _hands_of(frequencies.inv_freq(dim, base), length)


def _hands_of(speeds: Array, length: float) -> tuple[Array, Array, int]:
    made = frequencies.rotations(length, speeds)
    return frequencies.wavelengths(speeds), made, int(np.count_nonzero(made >= 1))


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


def _odd_sizes(random: Random) -> Iterator[Case]:
    yield Case(_even(random, 6, 20), _log_uniform(random, 2, 9), int(random.integers(8, 40)))
    yield Case(_even(random, 20, 60), _log_uniform(random, 500, 5e4), int(random.integers(4, 6)))
    yield Case(_even(random, 30, 90), _log_uniform(random, 20, 60), int(random.integers(400, 600)))  # all have turned


_COUNT = "int(np.sum(rotations >= 1))"

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
    # fmt: off
    mistakes=(
        Edit(say("q1.hands_slow_down_little"), "arange(0, dim, 2)", "arange(dim // 2)"),
        Edit(say("q1.last_hand_turns_exactly"), "2) / dim", "2) / (dim - 2)"),
        Edit(say("q1.hands_get_faster_along"), "(-np", "(np"),
        Edit(say("q1.count_pairs_start_1"), "arange(0, dim, 2)", "arange(2, dim + 2, 2)"),
        Edit(say("q1.slowest_hand_comes_first"), "arange(0, dim, 2)", "arange(0, dim, 2)[::-1]"),
        Edit(say("q1.no_turn_2_pi"), "2 * np.pi / theta", "1 / theta"),
        Edit(say("q1.turns_radians_turn_not"), "length / wavelengths", "length * theta"),
        Edit(
            say("q1.wavelengths_not_full_turn"),
            "2 * np.pi / theta",
            "1 / theta",
            "length / wavelengths",
            "length * theta / (2 * np.pi)",
        ),
        Edit(say("q1.turn_taken_360_but"), "2 * np.pi", "360"),
        Edit(say("q1.turn_taken_pi_half"), "2 * np.pi", "np.pi"),
        Edit(say("q1.first_value_holds_speeds"), "return wavelengths", "return theta"),
        Edit(say("q1.first_two_values_changed"), "wavelengths, rotations", "rotations, wavelengths"),
        Edit(say("q1.third_value_counts_hands"), ">= 1", "< 1"),
        Edit(say("q1.hand_made_half_turn"), ">= 1", ">= 0.5"),
        Edit(say("q1.third_value_adds_up"), _COUNT, "np.sum(rotations)"),
        Edit(say("q1.third_value_adds_up"), _COUNT, "int(np.sum(rotations))"),
        Edit(say("q1.third_value_share_not"), _COUNT, "np.mean(rotations >= 1)"),
        Edit(say("q1.turns_counted_over_token"), "length /", "(length - 1) /"),
        Edit(say("q1.all_hands_speed_exponent"), _FREQUENCIES, "np.ones(dim // 2)"),
        Edit(say("q1.all_hands_but_first"), _FREQUENCIES, "base ** -np.ceil(np.arange(0, dim, 2) / dim)"),
        Edit(say("q1.first_hand_stands_still"), _FREQUENCIES, "float(base) ** -2 * np.arange(dim // 2) / dim"),
        Edit(say("q1.turns_rounded_down_parts"), "wavelengths, rotations", "wavelengths, np.floor(rotations)"),
        Edit(say("q1.second_value_upside_down"), "wavelengths, rotations", "wavelengths, 1 / rotations"),
        Edit(say("q1.third_value_number_last"), _COUNT, f"{_COUNT} - 1"),
        Edit(say("q1.third_value_0_where"), _COUNT, "int(np.argmax(rotations < 1))"),
        Edit(say("shared.each_pair_listed_twice"), _FREQUENCIES, f"np.repeat({_FREQUENCIES}, 2)"),
        Edit(say("shared.each_pair_listed_twice"), _FREQUENCIES, f"np.tile({_FREQUENCIES}, 2)"),
        Edit(say("q1.base_given_not_used"), "base **", "10_000.0 **"),
        Edit(say("q1.list_value_each_dimension"), "arange(0, dim, 2)", "arange(dim)"),
    ),
    # fmt: on
)


# Question 2: the mean of all hands


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


_MEAN = "np.cos(angles).mean(axis=-1)"
_DISTANCES = "np.asarray(distances, dtype=float)"
_ANGLES = f"{_DISTANCES}[..., None] * frequencies"

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
    # fmt: off
    mistakes=(
        Edit(say("q2.distance_0_not_1"), ".mean(", ".sum("),
        Edit(say("q2.distance_0_half_how"), _MEAN, f"{_MEAN} / 2"),
        Edit(say("q2.distance_0_2_half"), _MEAN, f"2 * {_MEAN}"),
        Edit(say("q2.mean_taken_over_distances"), "axis=-1", "axis=0"),
        Edit(say("q2.number_all_distances_mean"), "axis=-1", ""),
        Edit(say("q2.number_all_distances_mean"), _MEAN, "np.full(np.shape(distances), np.cos(angles).mean())"),
        Edit(say("q2.sines_taken_hand_not"), "np.cos", "np.sin"),
        Edit(say("q2.sizes_cosines_averaged_hand"), "np.cos(angles)", "np.abs(np.cos(angles))"),
        Edit(say("q2.size_mean_taken_may"), _MEAN, f"np.abs({_MEAN})"),
        Edit(say("q2.size_complex_mean"), _MEAN, "np.abs(np.exp(1j * angles).mean(axis=-1))"),
        Edit(say("q2.cosines_squared"), "np.cos(angles)", "(np.cos(angles) ** 2)"),
        Edit(say("q2.distances_counted_1"), _DISTANCES, f"({_DISTANCES} + 1)"),
        Edit(
            say("q2.distances_given_not_used"), _DISTANCES, "np.arange(np.size(distances)).reshape(np.shape(distances))"
        ),
        Edit(say("q2.angles_taken_degrees_radians"), "* frequencies", "* np.deg2rad(frequencies)"),
        Edit(say("q2.angles_taken_turns_speeds"), "* frequencies", "* frequencies * 2 * np.pi"),
        Edit(say("q2.cosine_mean_angle_not"), _MEAN, "np.cos(angles.mean(axis=-1))"),
        Edit(say("q2.distances_cut_whole_numbers"), "dtype=float", "dtype=int"),
        Edit(say("q2.cosines_multiplied_their_mean"), ".mean(", ".prod("),
        Edit(say("q2.fastest_hand_alone"), _MEAN, "np.cos(np.asarray(distances) * np.max(frequencies))"),
        Edit(_ROUNDED, _DISTANCES, "torch.as_tensor(distances).bfloat16().double().numpy()", tolerance=1e-4),
        Edit(_ROUNDED, "(angles)", "(torch.as_tensor(angles).bfloat16().double().numpy())", tolerance=1e-4),
        Edit(
            _ROUNDED,
            _ANGLES,
            "(torch.as_tensor(distances).bfloat16()[..., None]"
            " * torch.as_tensor(frequencies).bfloat16()).double().numpy()",
            tolerance=1e-2,
        ),
        Mistake(say("q2.nearly_far_out_angles"), analysis.decay, tolerance=3e-2),
    ),
    # fmt: on
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


_REACH = "math.exp((1 - share) * math.log(base) - np.euler_gamma)"
_LAW = "np.cos(m * theta).mean()"
_STEP = "(np.sin(m) - np.sin(m / base))"  # the integral of cos u from m/base to m

# fmt: off
_LAW_MISTAKES = (
    Edit(say("shared.straight_line_agrees_limit"), _LAW, "1 - (np.log(m) + np.euler_gamma) / math.log(base)"),
    Edit(say("shared.ln_base_times_large"), _LAW, f"{_LAW} * math.log(base)"),
    Edit(say("shared.logarithm_base_natural_not"), _LAW, f"{_LAW} * math.log(10)"),
    Edit(say("shared.cos_u_not_divided"), _LAW, f"{_STEP} / math.log(base)", tolerance=1e-3),
    Edit(say("shared.cos_u_not_divided"), _LAW, f"{_STEP} / (m - m / base)", tolerance=1e-3),
    Edit(say("shared.cos_u_not_divided"), _LAW, f"{_STEP} / (m - m / base) / math.log(base)", tolerance=1e-3),
    Edit(say("shared.speeds_grow_x_instead"), "-(np", "(np", tolerance=1e-2),
    Edit(say("shared.sines_taken_instead_cosines"), "np.cos", "np.sin"),
    Edit(say("shared.exponents_end_at_half"), "/ steps)", "/ steps / 2)", tolerance=1e-3),
    Edit(say("shared.sign_turned_round"), _LAW, f"-{_LAW}"),
    *(Edit(say("shared.mean_some_dozens_hands"), "100_000", f"{pairs}", "(np.arange(steps) + 0.5)", "np.arange(steps)")
      for pairs in (10, 32, 50, 64, 100, 128)),
    Mistake(say("shared.nearly_sum_few_steps"), analysis.decay_law, 0.03),
)
# fmt: on


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
    # fmt: off
    mistakes=(
        Edit(say("q3.gamma_left_out"), " - np.euler_gamma", ""),
        *(
            Edit(say("q3.distance_rounded_asked"), _REACH, f"{cut}({_REACH})")
            for cut in ("round", "math.floor", "math.ceil")
        ),
        Edit(say("q3.1_line_lost_way"), "(1 - share)", "-share"),
        Edit(say("q3.gamma_not_divided_ln"), _REACH, "base ** (1 - share - np.euler_gamma)"),
        Edit(say("q3.gamma_wrong_sign"), "- np.euler_gamma", "+ np.euler_gamma"),
        Edit(say("q3.share_lost_taken_share"), "(1 - share)", "share"),
        Edit(say("q3.gamma_taken_off_distance"), _REACH, "base ** (1 - share) - np.euler_gamma"),
        Edit(say("q3.logarithms_base_10_taken"), _REACH, "base ** (1 - share) * 10**-np.euler_gamma"),
        Edit(say("q3.logarithms_base_2_taken"), _REACH, "base ** (1 - share) * 2**-np.euler_gamma"),
        Edit(say("q3.logarithm_distance"), _REACH, "(1 - share) * math.log(base) - np.euler_gamma"),
        Edit(say("q3.curve_taken_fall_evenly"), _REACH, "base * (1 - share)"),
    ),
    # fmt: on
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


_IN_ORDER = "least = base if least is None or bases.index(base) < bases.index(least) else least"


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
    # fmt: off
    mistakes=(
        Edit(say("q4.last_distance_left_out"), "length + 1", "length"),
        Edit(say("q4.every_second_distance_left"), "arange(length + 1)", "arange(0, length + 1, 2)"),
        Edit(say("q4.first_that_passes_not_smallest"), "least = base if least is None else least", _IN_ORDER),
        Edit(
            say("q4.bases_not_in_order"),
            "least = base if least is None else least",
            _IN_ORDER,
            "return least, safe",
            "return least, next((base for base in bases if safe is not None and base >= safe), None)",
        ),
        Edit(say("q4.bases_not_in_order"), "sorted(bases)", "bases"),
        Edit(say("q4.second_value_first_once"), "return least, safe", "return least, least"),
        Edit(say("q4.only_last_distance_looked"), "np.arange(length + 1)", "np.array([length])"),
        Edit(say("q4.mean_score_looked"), ".min()", ".mean()"),
        Edit(say("q4.one_distance_enough"), ".min()", ".max()"),
        *(
            Edit(say("q4.search_right_speeds_not"), "np.arange(0, dim, 2) / dim", wrong)
            for wrong in (
                "np.arange(dim // 2) / dim",
                "np.arange(dim) / dim",
                "np.arange(0, dim, 2) / (dim - 2)",
                "np.arange(2, dim + 2, 2) / dim",
            )
        ),
        Edit(
            say("q4.second_value_base_fails"),
            "return least, safe",
            "return least, max(base for base in bases if safe is None or base < safe)",
        ),
        Edit(say("q4.second_value_greatest_base"), "return least, safe", "return least, max(bases)"),
        Edit(
            say("q4.second_value_greatest_base"),
            "least = safe = None",
            "least = last = None",
            "safe = base if safe is None else safe",
            "last = base",
            "return least, safe",
            "return least, last",
        ),
        Edit(say("q4.two_values_changed_places"), "return least, safe", "return safe, least"),
        *(
            Edit(say("q4.where_no_base_will"), "return least, safe", f"return least or {none}, safe or {none}")
            for none in ("0", "-1", "math.inf")
        ),
    ),
    # fmt: on
)


# Question 5: new angles


_AROUND = "np.minimum(apart, 2 * np.pi - apart)"
_SHARE = "np.mean(apart.min(axis=1) > tolerance)"
_CHORDS = "apart.min(axis=1)", "(2 * np.sin(apart / 2)).min(axis=1)"
_NOT_WRAPPED = " % (2 * np.pi)", ""
_SIZE = "2 * np.pi - apart", "np.abs(2 * np.pi - apart)"


def _alike(given: tuple[Any, ...], *changes: str) -> bool:
    """Whether an edited solution gives the same shares."""
    return np.array_equal(defined(3, "q5", *changes)["new_angles"](*given), analysis.unseen_angles(*given))


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
        unwrapped = _alike(given, *_NOT_WRAPPED) or _alike(given, *_NOT_WRAPPED, *_SIZE)
        return _alike(given, *_CHORDS) and not unwrapped

    for _ in range(2):
        yield until(wanted, draw)


def _coarse_hands(random: Random) -> Iterator[Case]:
    def draw() -> Case:
        trained = int(random.integers(7, 14))
        used = trained + int(random.integers(25, 60))
        return Case(random.uniform(0.5, 2.8, size=5), trained, used, float(random.uniform(0.05, 0.15)))

    def wanted(*given: Any) -> bool:
        return _alike(given, *_CHORDS) and not _alike(given, _AROUND, "apart")

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
    # fmt: off
    mistakes=(
        Edit(say("q5.angle_full_turn_taken"), *_NOT_WRAPPED, _AROUND, "apart"),
        Edit(say("q5.distance_measured_straight_across"), *_CHORDS),
        Edit(say("q5.pairs_later_earlier_angle"), "apart.min(axis=1) >", "apart >"),
        Edit(say("q5.angles_compared_last_training"), "apart.min(axis=1) >", "apart[:, -1] >"),
        Edit(say("q5.later_positions_end_used"), "arange(used)", "arange(trained + used)"),
        Edit(say("q5.number_new_angles_divided"), _SHARE, "np.sum(apart.min(axis=1) > tolerance) / trained"),
        Edit(say("q5.every_angle_past_training"), _SHARE, "1.0"),
        Edit(say("q5.shorter_way_round_taken"), *_NOT_WRAPPED),
        Edit(say("q5.shorter_way_round_taken"), *_NOT_WRAPPED, *_SIZE),
        Edit(say("q5.way_round_forgotten_just"), _AROUND, "apart"),
        Edit(say("q5.shares_angles_met"), "> tolerance", "<= tolerance"),
        Edit(say("q5.position_trained_taken_training"), "at[:trained]", "at[: trained + 1]"),
        Edit(say("q5.positions_training_counted_1"), "at[:trained]", "at[1:trained]"),
        Edit(say("q5.position_trained_first_past"), "at[trained:, None]", "at[trained + 1 :, None]"),
        Edit(say("q5.shares_all_positions_only"), _SHARE, "np.sum(apart.min(axis=1) > tolerance) / used"),
        Edit(say("q5.every_angle_within_greatest"), _SHARE, "np.mean(at[trained:] > at[:trained].max() + tolerance)"),
        Edit(say("q5.pair_not_simply_new"), _SHARE, "(trained * theta < 2 * np.pi) * 1.0"),
        Edit(say("q5.angles_taken_rest_pi"), "% (2 * np.pi)", "% np.pi", "2 * np.pi - apart", "np.pi - apart"),
        Edit(
            say("q5.angles_turned_into_degrees"),
            "np.arange(used) * theta % (2 * np.pi)",
            "np.rad2deg(np.arange(used) * theta) % 360",
            "2 * np.pi - apart",
            "360 - apart",
        ),
        Edit(say("q5.numbers_angles_not_shares"), "np.mean(", "np.sum("),
        Edit(say("q5.percentages_not_shares_0"), "np.mean(", "100 * np.mean("),
        Edit(say("q5.number_all_pairs_question"), "np.array(shares)", "np.mean(shares)"),
        Edit(say("q5.used_number_positions_last"), "arange(used)", "arange(used + 1)"),
    ),
    # fmt: on
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


_PART = 'known.get("partial_rotary_factor", 1.0)'
_SLOWEST = "2 * math.pi * base ** ((dim - 2) / dim)"
_FACTOR = '(rope.get("factor") or 1.0)'

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
    # fmt: off
    mistakes=(
        Edit(say("q6.head_dim_overlooked_where"), "width is None", "True"),
        Edit(say("q6.partial_rotary_factor_overlooked"), _PART, "1.0"),
        Edit(say("q6.partial_rotary_factor_overlooked_where"), _PART, _PART.replace("known", "config")),
        Edit(say("q6.rope_theta_overlooked_where"), 'known["rope_theta"]', 'config.get("rope_theta", 10_000.0)'),
        Edit(say("q6.stands_rope_dictionary_overlooked"), "{**config, **rope}", '{"rope_theta": 10_000.0, **config}'),
        Edit(say("q6.slowest_hand_not_list"), "2) / dim", "2) / width"),
        Edit(say("q6.slowest_hand_whole_head"), "(dim - 2) / dim", "(width - 2) / width"),
        Edit(say("q6.partial_rotary_factor_share"), f"int(width * {_PART})", f"width - int(width * {_PART}) or width"),
        Edit(say("q6.rope_theta_overlooked_where_stands"), 'known["rope_theta"]', 'rope.get("rope_theta", 10_000.0)'),
        Edit(say("q6.exponent_slowest_hand_not"), "dim - 2", "dim - 1"),
        Edit(say("q6.exponent_slowest_hand_lacks"), "dim - 2", "dim // 2 - 1"),
        Edit(say("q6.turn_taken_360_but"), "2 * math.pi", "360"),
        Edit(say("q6.slowest_hand_not_turn"), _SLOWEST, "2 * math.pi * base"),
        Edit(say("q6.first_value_number_pairs"), "return dim", "return dim // 2"),
        Edit(say("q6.third_value_not_full"), "2 * math.pi * ", ""),
        Edit(say("q6.third_value_speed_tokens"), _SLOWEST, "base ** -((dim - 2) / dim)"),
        Edit(say("q6.third_value_fastest_hand"), _SLOWEST, "2 * math.pi"),
        Edit(say("q6.scaling_applied_list_before"), _SLOWEST, f"{_SLOWEST} * {_FACTOR}"),
        Edit(say("q6.scaling_applied_list_before"), _SLOWEST, f"{_SLOWEST} / {_FACTOR}"),
        Edit(say("q6.scaling_applied_list_before"), 'known["rope_theta"]', f'known["rope_theta"] * {_FACTOR}'),
        Edit(
            say("q6.older_dictionary_overlooked"),
            ' or config.get("rope_scaling")',
            "",
            "{**config",
            '{"rope_theta": 10_000.0, **config',
        ),
        Edit(say("q1.first_two_values_changed"), "dim, base, 2", "base, dim, 2"),
        Edit(say("q6.width_divided_among_key"), "width is None", "True", "num_attention_heads", "num_key_value_heads"),
        Edit(say("q6.width_divided_among_key"), "num_attention_heads", "num_key_value_heads"),
        Edit(say("q6.whole_width_model_taken"), 'config.get("head_dim")', 'config["hidden_size"]'),
    ),
    # fmt: on
)

ASSIGNMENT = Assignment(
    3, say("assignment.title"), (q1, q2, q3, q4, q5, q6), (HandGraded(3, "q7", say("assignment.q7"), 2),)
)
