"""Assignment 3, "Frequencies": the list of frequencies against a length, and what a configuration says of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from course.question import Assignment, Case, Edit, Mistake, Part, Question, defined, pick, until
from posenc import analysis, frequencies, scaling
from posenc.check import HandGraded

# Sentences for several mistakes.
_SWAPPED = "the first two values are swapped"
_SUMMED = "the third value sums rotations instead of counting pairs"
_LISTED_TWICE = "each pair was listed twice; the question asks for one value per pair, dim/2 in all"
_ONE_NUMBER = "there is one number for all distances: the mean was taken over everything"
_NOT_BY_U = "cos u was not divided by u"
_NO_ORDER = "the bases do not come in order"
_LARGEST = "the second value is the largest base; return the smallest from which on all pass"
_UNREDUCED = "the shorter direction was computed from angles that were not reduced to one rotation first"
_SCALED = "the scaling was applied; return the list before any scaling"
_KEY_HEADS = "the width was divided by the number of key/value heads; divide by the query heads"

Random = np.random.Generator
Array = np.ndarray[Any, Any]
ROTATION = 2 * math.pi
LEAST = pick("a3.rotations", 1, 2, 3, 4)  # rotations of a pair that question 1 counts
_COUNTED = {1: "one full rotation", 2: "two full rotations", 3: "three full rotations", 4: "four full rotations"}
VARIANT = {
    "rotations >= 1": f"rotations >= {LEAST}",
    "one full rotation or more": f"{_COUNTED[LEAST]} or more",
    "of 0.05 radians": f"of {pick('a3.tolerance', 0.05, 0.04, 0.06, 0.08, 0.1)} radians",
}


def _log_uniform(random: Random, low: float, high: float, size: int | None = None) -> Any:
    """Numbers drawn log-uniformly between two bounds; one Python number where no size is asked for."""
    drawn = np.exp(random.uniform(math.log(low), math.log(high), size))
    return float(drawn) if size is None else drawn


def _even(random: Random, low: int, high: int) -> int:
    """An even number from low to high."""
    return 2 * int(random.integers(low // 2, high // 2 + 1))


_FREQUENCIES = "base ** (-np.arange(0, dim, 2) / dim)"

# Question 1: wavelengths and rotations


def _rotations(dim: int, base: float, length: float) -> tuple[Array, Array, int]:
    return _of_frequencies(frequencies.inv_freq(dim, base), length)


def _of_frequencies(theta: Array, length: float) -> tuple[Array, Array, int]:
    made = frequencies.rotations(length, theta)
    return frequencies.wavelengths(theta), made, int(np.count_nonzero(made >= LEAST))


def _nearly_rotated(dim: int, base: float, length: float) -> bool:
    """Whether a pair makes more than half of the rotations that count and less than all of them."""
    _, made, _ = _rotations(dim, base, length)
    return bool(np.any((made > 0.55 * LEAST) & (made < 0.95 * LEAST)))


def _small_heads(random: Random) -> Iterator[Case]:
    def draw() -> Case:
        return Case(_even(random, 8, 16), int(random.integers(20, 400)), int(random.integers(30, 300)))

    for _ in range(3):
        yield until(_nearly_rotated, draw)


def _model_heads(random: Random) -> Iterator[Case]:
    def draw() -> Case:
        base, length = _log_uniform(random, 3e3, 2e6), int(_log_uniform(random, 500, 100_000))
        return Case(_even(random, 48, 256), base, length)

    for _ in range(3):
        yield until(_nearly_rotated, draw)


def _odd_sizes(random: Random) -> Iterator[Case]:
    yield Case(_even(random, 6, 20), _log_uniform(random, 2, 9), int(random.integers(8, 40)))
    yield Case(_even(random, 20, 60), _log_uniform(random, 500, 5e4), int(random.integers(4, 6)))
    yield Case(_even(random, 30, 90), _log_uniform(random, 20, 60), LEAST * int(random.integers(400, 600)))  # all count


_COUNT = "int(np.sum(rotations >= 1))"

# fmt: off
q1 = Question(
    assignment=3,
    name="q1",
    title="Wavelengths and rotations",
    names=("count_rotations",),
    returns=("the wavelengths", "the rotations", "the count"),
    parts=(
        Part("small heads", 1, cases=_small_heads),
        Part("heads as in real models", 1, cases=_model_heads),
        Part("very short lengths, very small bases", 1, cases=_odd_sizes),
    ),
    reference=_rotations,
    mistakes=(
        Edit("the frequencies fall too slowly: compare your exponent with the formula",
             "arange(0, dim, 2)", "arange(dim // 2)"),
        Edit("the lowest frequency is exactly 1/base; the formula ends one step before that",
             "2) / dim", "2) / (dim - 2)"),
        Edit("the frequencies rise along the list", "(-np", "(np"),
        Edit("the count of pairs seems to start at 1", "arange(0, dim, 2)", "arange(2, dim + 2, 2)"),
        Edit("the slowest pair comes first", "arange(0, dim, 2)", "arange(0, dim, 2)[::-1]"),
        Edit("there is no 2π: a rotation is 2π radians", "2 * np.pi / theta", "1 / theta"),
        Edit("the rotations are in radians: a rotation is 2π radians", "length / wavelengths", "length * theta"),
        Edit("the wavelengths are not of a full rotation: a rotation is 2π radians",
             "2 * np.pi / theta", "1 / theta", "length / wavelengths", "length * theta / (2 * np.pi)"),
        Edit("a rotation was counted as 360, but the frequencies are in radians", "2 * np.pi", "360"),
        Edit("a rotation was counted as π, which is half of one", "2 * np.pi", "np.pi"),
        Edit("the first value holds frequencies, not wavelengths", "return wavelengths", "return theta"),
        Edit(_SWAPPED, "wavelengths, rotations", "rotations, wavelengths"),
        Edit("the third value counts the other pairs", "rotations >= 1", f"rotations < {LEAST}"),
        Edit("a pair with too few rotations was counted", "rotations >= 1", f"rotations >= {LEAST} / 2"),
        Edit(_SUMMED, _COUNT, "np.sum(rotations)"),
        Edit(_SUMMED, _COUNT, "int(np.sum(rotations))"),
        Edit("the third value is a share, not a number of pairs", _COUNT, "np.mean(rotations >= 1)"),
        Edit("the rotations were counted over one token less than the length", "length /", "(length - 1) /"),
        Edit("all pairs have the same frequency: was the exponent rounded to an integer?",
             _FREQUENCIES, "np.ones(dim // 2)"),
        Edit("all pairs but the first have the same frequency: was the exponent rounded to an integer?",
             _FREQUENCIES, "base ** -np.ceil(np.arange(0, dim, 2) / dim)"),
        Edit("the first pair does not rotate: Python takes a power before it multiplies, so the exponent needs "
             "parentheses", _FREQUENCIES, "float(base) ** -2 * np.arange(dim // 2) / dim"),
        Edit("the rotations were rounded down; fractions of a rotation count",
             "wavelengths, rotations", "wavelengths, np.floor(rotations)"),
        Edit("the second value is inverted: it is not rotations within the length",
             "wavelengths, rotations", "wavelengths, 1 / rotations"),
        Edit("the third value is the index of the last pair that counts; indices start at 0",
             _COUNT, f"{_COUNT} - 1"),
        Edit("the third value is 0 where every pair counts", _COUNT, f"int(np.argmax(rotations < {LEAST}))"),
        Edit(_LISTED_TWICE, _FREQUENCIES, f"np.repeat({_FREQUENCIES}, 2)"),
        Edit(_LISTED_TWICE, _FREQUENCIES, f"np.tile({_FREQUENCIES}, 2)"),
        Edit("the base that was given is not used", "base **", "10_000.0 **"),
        Edit("the list has one value per dimension instead of one per pair", "arange(0, dim, 2)", "arange(dim)"),
    ),
)
# fmt: on


# Question 2: the mean of all pairs


def _below_zero(distances: Array, theta: Array) -> bool:
    """Whether the score is below zero at one of the distances at least."""
    return bool(analysis.decay(distances, theta).min() < -0.02)


def _near(random: Random) -> Iterator[Case]:
    def draw() -> Case:
        theta = frequencies.inv_freq(_even(random, 6, 40), _log_uniform(random, 50, 5e4))
        return Case(random.integers(0, 200, size=int(random.integers(3, 6))), theta)

    for _ in range(2):
        yield until(_below_zero, draw)


def _any_shape(random: Random) -> Iterator[Case]:
    yield Case(random.uniform(-90, 90, size=(3, 4)), random.uniform(0.01, 1.5, size=5))
    yield Case(int(random.integers(3, 90)), random.permutation(_log_uniform(random, 0.003, 1, 7)))
    yield Case(random.uniform(5, 60, size=(2, 1, 3)), random.uniform(0.01, 0.5, size=4))


def _far(random: Random) -> Iterator[Case]:
    def draw(low: int, high: int) -> Case:
        theta = frequencies.inv_freq(_even(random, 32, 96), _log_uniform(random, 1e4, 1e6))
        return Case(2 * random.integers(low // 2, high // 2, size=6) + 1, theta)

    yield draw(257, 4_000)
    yield until(_below_zero, lambda: draw(200_000, 1_000_000))


_MEAN = "np.cos(angles).mean(axis=-1)"
_DISTANCES = "np.asarray(distances, dtype=float)"
_ANGLES = f"{_DISTANCES}[..., None] * frequencies"

_ROUNDED = "the angles seem to have been computed in bfloat16, which cannot tell far positions apart"

# fmt: off
q2 = Question(
    assignment=3,
    name="q2",
    title="The score of matching tokens",
    names=("decay",),
    parts=(
        Part("a list of near distances", 1, cases=_near),
        Part("distances of any shape, frequencies in any order", 1, cases=_any_shape),
        Part("far distances", 1, cases=_far),
    ),
    reference=analysis.decay,
    mistakes=(
        Edit("at distance 0 it is not 1: the cosines were summed, not averaged", ".mean(", ".sum("),
        Edit("at distance 0 it is one half: how many pairs are there in d dimensions?", _MEAN, f"{_MEAN} / 2"),
        Edit("at distance 0 it is 2: there are half as many pairs as dimensions", _MEAN, f"2 * {_MEAN}"),
        Edit("the mean was taken over the distances, not over the pairs", "axis=-1", "axis=0"),
        Edit(_ONE_NUMBER, "axis=-1", ""),
        Edit(_ONE_NUMBER, _MEAN, "np.full(np.shape(distances), np.cos(angles).mean())"),
        Edit("sines were used; at distance 0 every pair contributes 1", "np.cos", "np.sin"),
        Edit("absolute values of the cosines were averaged: a pair in opposite phase counts negatively",
             "np.cos(angles)", "np.abs(np.cos(angles))"),
        Edit("the absolute value of the mean was taken; the mean may be negative", _MEAN, f"np.abs({_MEAN})"),
        Edit("this is the absolute value of the mean of complex numbers; return its real part",
             _MEAN, "np.abs(np.exp(1j * angles).mean(axis=-1))"),
        Edit("the cosines were squared before their mean was taken", "np.cos(angles)", "(np.cos(angles) ** 2)"),
        Edit("the distances seem to be counted from 1", _DISTANCES, f"({_DISTANCES} + 1)"),
        Edit("the distances that were given were not used: it seems to count 0, 1, 2, … by itself",
             _DISTANCES, "np.arange(np.size(distances)).reshape(np.shape(distances))"),
        Edit("the angles were treated as degrees; they are in radians", "* frequencies", "* np.deg2rad(frequencies)"),
        Edit("the angles were treated as rotations; the frequencies are in radians per token",
             "* frequencies", "* frequencies * 2 * np.pi"),
        Edit("the cosine of the mean angle is not the mean of the cosines", _MEAN, "np.cos(angles.mean(axis=-1))"),
        Edit("the distances were cut to whole numbers", "dtype=float", "dtype=int"),
        Edit("the cosines were multiplied; return their mean", ".mean(", ".prod("),
        Edit("this is the fastest pair alone", _MEAN, "np.cos(np.asarray(distances) * np.max(frequencies))"),
        Edit(_ROUNDED, _DISTANCES, "torch.as_tensor(distances).bfloat16().double().numpy()", tolerance=1e-4),
        Edit(_ROUNDED, "(angles)", "(torch.as_tensor(angles).bfloat16().double().numpy())", tolerance=1e-4),
        Edit(_ROUNDED, _ANGLES,
             "(torch.as_tensor(distances).bfloat16()[..., None] * "
             "torch.as_tensor(frequencies).bfloat16()).double().numpy()", tolerance=1e-2),
        Mistake("nearly: far out the angles need float64", analysis.decay, tolerance=3e-2),
    ),
    tolerance=1e-5,
)
# fmt: on


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
_LAW_MISTAKES: tuple[Mistake | Edit, ...] = (
    Edit("this is the straight line, which agrees with the limit in the middle only",
         _LAW, "1 - (np.log(m) + np.euler_gamma) / math.log(base)"),
    Edit("it is ln(base) times too large: close to distance 0 the limit is 1", _LAW, f"{_LAW} * math.log(base)"),
    Edit("the logarithm of the base is the natural one, not that to base 10", _LAW, f"{_LAW} * math.log(10)"),
    Edit(_NOT_BY_U, _LAW, f"{_STEP} / math.log(base)", tolerance=1e-3),
    Edit(_NOT_BY_U, _LAW, f"{_STEP} / (m - m / base)", tolerance=1e-3),
    Edit(_NOT_BY_U, _LAW, f"{_STEP} / (m - m / base) / math.log(base)", tolerance=1e-3),
    Edit("the frequencies grow with x instead of falling", "-(np", "(np", tolerance=1e-2),
    Edit("sines were taken instead of cosines", "np.cos", "np.sin"),
    Edit("the exponents run from 0 to 1/2 only: they fill the stretch from 0 to 1",
         "/ steps)", "/ steps / 2)", tolerance=1e-3),
    Edit("the sign is reversed", _LAW, f"-{_LAW}"),
    *(Edit("this is the mean of some dozens of pairs: the limit needs far more",
           "100_000", f"{pairs}", "(np.arange(steps) + 0.5)", "np.arange(steps)")
      for pairs in (10, 32, 50, 64, 100, 128)),
    Mistake("nearly: the sum has too few steps, or steps in u that are too wide at the lower end, "
            "where cos(u)/u is steep", analysis.decay_law, 0.03),
)
# fmt: on


def _law(title: str, cases: Callable[[Random], Iterator[Case]]) -> Part:
    """A part that asks `law`, the second function of the question."""
    return Part(title, 1, "law", cases=cases, reference=analysis.decay_law, mistakes=_LAW_MISTAKES, tolerance=2e-4)


# fmt: off
q3 = Question(
    assignment=3,
    name="q3",
    title="The curve behind the ripples",
    names=("reach", "law"),
    parts=(
        Part("the line, from a share to a distance", 1, cases=_shares),
        _law("the integral, in the middle of the curve", _middle),
        _law("the integral, at both ends of the curve", _ends),
    ),
    reference=_reach,
    mistakes=(
        Edit("γ was left out", " - np.euler_gamma", ""),
        *(
            Edit("the distance was rounded; it is asked for as it is", _REACH, f"{cut}({_REACH})")
            for cut in ("round", "math.floor", "math.ceil")
        ),
        Edit("the 1 of the line was lost on the way", "(1 - share)", "-share"),
        Edit("γ was not divided by ln(base): in the line it is in the numerator, beside ln m",
             _REACH, "base ** (1 - share - np.euler_gamma)"),
        Edit("γ has the wrong sign", "- np.euler_gamma", "+ np.euler_gamma"),
        Edit("the share that is lost was used for the share that is left", "(1 - share)", "share"),
        Edit("γ was subtracted from the distance; in the line it is added to the logarithm",
             _REACH, "base ** (1 - share) - np.euler_gamma"),
        Edit("logarithms to base 10 were taken; those of the line are natural",
             _REACH, "base ** (1 - share) * 10**-np.euler_gamma"),
        Edit("logarithms to base 2 were taken; those of the line are natural",
             _REACH, "base ** (1 - share) * 2**-np.euler_gamma"),
        Edit("this is the logarithm of the distance", _REACH, "(1 - share) * math.log(base) - np.euler_gamma"),
        Edit("the curve was assumed linear in the distance; it is linear in its logarithm",
             _REACH, "base * (1 - share)"),
    ),
)
# fmt: on


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
        theta = np.array([frequencies.inv_freq(self.dim, base) for base in self.bases])
        scores = np.cos(np.arange(longest + 1)[:, None, None] * theta).mean(axis=-1)  # (distances, bases)
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


# fmt: off
q4 = Question(
    assignment=3,
    name="q4",
    title="A base for a length",
    names=("bases_for",),
    returns=("the smallest base", "the safe base"),
    parts=(
        Part("grids on which the good bases lie together", 1, cases=_without_luck),
        Part("grids where a larger base fails again", 1, cases=_with_luck),
        Part("the last distance, and grids without an answer", 1, cases=_at_the_edges),
    ),
    reference=_least_and_safe,
    mistakes=(
        Edit("the last distance was left out: `range(n)` and `np.arange(n)` stop before n", "length + 1", "length"),
        Edit("every second distance was left out: each one up to the length counts",
             "arange(length + 1)", "arange(0, length + 1, 2)"),
        Edit("the bases do not come in order, and the first that passes is not the smallest",
             "least = base if least is None else least", _IN_ORDER),
        Edit(_NO_ORDER, "least = base if least is None else least", _IN_ORDER, "return least, safe",
             "return least, next((base for base in bases if safe is not None and base >= safe), None)"),
        Edit(_NO_ORDER, "sorted(bases)", "bases"),
        Edit("the second value repeats the first: a larger base may fail", "return least, safe", "return least, least"),
        Edit("only the last distance was checked; each one up to it counts",
             "np.arange(length + 1)", "np.array([length])"),
        Edit("the mean of the score over all distances was used; every single distance counts", ".min()", ".mean()"),
        Edit("one distance with a good score was enough; every one counts", ".min()", ".max()"),
        *(
            Edit("the search is right, the frequencies are not those of question 1: compare the exponent",
                 "np.arange(0, dim, 2) / dim", wrong)
            for wrong in (
                "np.arange(dim // 2) / dim",
                "np.arange(dim) / dim",
                "np.arange(0, dim, 2) / (dim - 2)",
                "np.arange(2, dim + 2, 2) / dim",
            )
        ),
        Edit("the second value is a base that fails",
             "return least, safe", "return least, max(base for base in bases if safe is None or base < safe)"),
        Edit(_LARGEST, "return least, safe", "return least, max(bases)"),
        Edit(_LARGEST, "least = safe = None", "least = last = None", "safe = base if safe is None else safe",
             "last = base", "return least, safe", "return least, last"),
        Edit("the two values are swapped", "return least, safe", "return safe, least"),
        *(
            Edit("where no base will do, the value should be None",
                 "return least, safe", f"return least or {none}, safe or {none}")
            for none in ("0", "-1", "math.inf")
        ),
    ),
)
# fmt: on


# Question 5: new angles


_AROUND = "np.minimum(apart, 2 * np.pi - apart)"
_SHARE = "np.mean(apart.min(axis=1) > tolerance)"
_CHORDS = "apart.min(axis=1)", "(2 * np.sin(apart / 2)).min(axis=1)"
_NOT_WRAPPED = " % (2 * np.pi)", ""
_SIZE = "2 * np.pi - apart", "np.abs(2 * np.pi - apart)"


def _alike(given: tuple[Any, ...], *changes: str) -> bool:
    """Whether an edited solution gives the same shares."""
    return np.array_equal(defined(3, "q5", *changes)["new_angles"](*given), analysis.unseen_angles(*given))


def _slow_pairs(random: Random) -> Iterator[Case]:
    for _ in range(2):
        trained = int(random.integers(20, 50))
        used = trained + int(random.integers(20, 60))
        theta = random.uniform(0.1, 0.9, size=int(random.integers(3, 6))) * ROTATION / used
        yield Case(theta, trained, used, float(np.median(theta) * random.uniform(2, 5)))
    used = int(random.integers(80, 120))  # a wide tolerance, which tells an arc from its chord
    theta = random.uniform(0.62, 0.72, size=3) * ROTATION / used
    yield Case(theta, int(0.3 * used), used, float(random.uniform(1.1, 1.4)))


def _pairs_with_full_rotations(random: Random) -> Iterator[Case]:
    def draw() -> Case:
        trained = int(random.integers(30, 60))
        used = 2 * trained + int(random.integers(5, 40))
        theta = random.uniform(0.55, 0.9, size=int(random.integers(3, 6))) * ROTATION / trained
        return Case(random.permutation(theta), trained, used, float(random.uniform(0.2, 0.35)))

    def wanted(*given: Any) -> bool:
        unwrapped = _alike(given, *_NOT_WRAPPED) or _alike(given, *_NOT_WRAPPED, *_SIZE)
        return _alike(given, *_CHORDS) and not unwrapped

    for _ in range(2):
        yield until(wanted, draw)


def _fast_pairs(random: Random) -> Iterator[Case]:
    def draw() -> Case:
        trained = int(random.integers(7, 14))
        used = trained + int(random.integers(25, 60))
        return Case(random.uniform(0.5, 2.8, size=5), trained, used, float(random.uniform(0.05, 0.15)))

    def wanted(*given: Any) -> bool:
        return _alike(given, *_CHORDS) and not _alike(given, _AROUND, "apart")

    for _ in range(2):
        yield until(wanted, draw)


# fmt: off
q5 = Question(
    assignment=3,
    name="q5",
    title="Unseen angles",
    names=("new_angles",),
    parts=(
        Part("pairs without a full rotation", 1, cases=_slow_pairs),
        Part("pairs with full rotations", 1, cases=_pairs_with_full_rotations),
        Part("fast pairs with large steps", 1, cases=_fast_pairs),
    ),
    reference=analysis.unseen_angles,
    mistakes=(
        Edit("an angle one full rotation further was counted as unseen", *_NOT_WRAPPED, _AROUND, "apart"),
        Edit("the distance was measured as a chord; measure along the circle", *_CHORDS),
        Edit("pairs of a later and an earlier angle were counted; each later angle counts once",
             "apart.min(axis=1) >", "apart >"),
        Edit("the angles were compared with the last one of the training only",
             "apart.min(axis=1) >", "apart[:, -1] >"),
        Edit("the later positions end at `used` − 1: `used` counts those of the training too",
             "arange(used)", "arange(trained + used)"),
        Edit("the number of unseen angles was divided by the positions of the training, not by the later ones",
             _SHARE, "np.sum(apart.min(axis=1) > tolerance) / trained"),
        Edit("every angle past the training was counted as unseen: is the tolerance in radians, and is one near "
             "angle enough?", _SHARE, "1.0"),
        Edit(_UNREDUCED, *_NOT_WRAPPED),
        Edit(_UNREDUCED, *_NOT_WRAPPED, *_SIZE),
        Edit("the circle was not closed: just below a full rotation and just above 0 are close together",
             _AROUND, "apart"),
        Edit("the shares are of the seen angles", "> tolerance", "<= tolerance"),
        Edit("position `trained` was taken for one of the training; it counts from 0",
             "at[:trained]", "at[: trained + 1]"),
        Edit("the positions of the training seem to be counted from 1", "at[:trained]", "at[1:trained]"),
        Edit("position `trained` is the first one past the training", "at[trained:, None]", "at[trained + 1 :, None]"),
        Edit("the shares are of all positions; only those past the training count",
             _SHARE, "np.sum(apart.min(axis=1) > tolerance) / used"),
        Edit("every angle up to the largest seen one was counted as seen; fast pairs leave gaps",
             _SHARE, "np.mean(at[trained:] > at[:trained].max() + tolerance)"),
        Edit("a pair is not simply seen or unseen: return the share", _SHARE, "(trained * theta < 2 * np.pi) * 1.0"),
        Edit("the angles were reduced modulo π, which is half a rotation",
             "% (2 * np.pi)", "% np.pi", "2 * np.pi - apart", "np.pi - apart"),
        Edit("the angles were converted to degrees, the tolerance was not", "np.arange(used) * theta % (2 * np.pi)",
             "np.rad2deg(np.arange(used) * theta) % 360", "2 * np.pi - apart", "360 - apart"),
        Edit("these are numbers of angles, not shares", "np.mean(", "np.sum("),
        Edit("these are percentages, not shares from 0 to 1", "np.mean(", "100 * np.mean("),
        Edit("there is one number for all pairs; the question asks for one for each",
             "np.array(shares)", "np.mean(shares)"),
        Edit("`used` is the number of positions, so the last of them is `used` − 1",
             "arange(used)", "arange(used + 1)"),
    ),
)
# fmt: on


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
    theta = scaling.from_config({"rope_parameters": plain}, _head_of(config)).inv_freq
    return 2 * len(theta), float(given["rope_theta"]), float(frequencies.wavelengths(theta).max())


def _file(random: Random, head: str, *, share: float = 1.0) -> dict[str, Any]:
    """A configuration without its rotation; `head` says where the width of a head is given."""
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

# fmt: off
q6 = Question(
    assignment=3,
    name="q6",
    title="Read a configuration",
    names=("rotation_of",),
    returns=("the number of rotating dimensions", "the base", "the longest wavelength"),
    parts=(
        Part("plain files, head_dim given or not", 1, cases=_at_the_top),
        Part("files with a RoPE dictionary", 1, cases=_in_the_rope_dictionary),
        Part("files with partial rotary", 1, cases=_part_of_the_head),
    ),
    reference=_rotation,
    mistakes=(
        Edit("head_dim was overlooked where the file names it", "width is None", "True"),
        Edit("partial_rotary_factor was overlooked", _PART, "1.0"),
        Edit("partial_rotary_factor was overlooked where it is in the RoPE dictionary",
             _PART, _PART.replace("known", "config")),
        Edit("rope_theta was overlooked where it is in the RoPE dictionary",
             'known["rope_theta"]', 'config.get("rope_theta", 10_000.0)'),
        Edit("the RoPE dictionary was overlooked", "{**config, **rope}", '{"rope_theta": 10_000.0, **config}'),
        Edit("the slowest pair is not that of the rotated dimensions: which d belongs in the exponent?",
             "2) / dim", "2) / width"),
        Edit("the slowest pair is that of a whole head; here only a part of the head is rotated",
             "(dim - 2) / dim", "(width - 2) / width"),
        Edit("partial_rotary_factor is the rotated share, not the rest",
             f"int(width * {_PART})", f"width - int(width * {_PART}) or width"),
        Edit("rope_theta was overlooked where it is at the top level of the file",
             'known["rope_theta"]', 'rope.get("rope_theta", 10_000.0)'),
        Edit("the exponent of the slowest pair is not right: what is i for the last pair?", "dim - 2", "dim - 1"),
        Edit("the exponent of the slowest pair lacks the 2", "dim - 2", "dim // 2 - 1"),
        Edit("a rotation was counted as 360, but the frequencies are in radians", "2 * math.pi", "360"),
        Edit("the lowest frequency is not 1/base: the list ends one step before that", _SLOWEST, "2 * math.pi * base"),
        Edit("the first value is a number of pairs; return the dimensions", "return dim", "return dim // 2"),
        Edit("the third value is not of a full rotation: a rotation is 2π radians", "2 * math.pi * ", ""),
        Edit("the third value is a frequency; return a wavelength in tokens", _SLOWEST, "base ** -((dim - 2) / dim)"),
        Edit("the third value is of the fastest pair", _SLOWEST, "2 * math.pi"),
        Edit(_SCALED, _SLOWEST, f"{_SLOWEST} * {_FACTOR}"),
        Edit(_SCALED, _SLOWEST, f"{_SLOWEST} / {_FACTOR}"),
        Edit(_SCALED, 'known["rope_theta"]', f'known["rope_theta"] * {_FACTOR}'),
        Edit("the dictionary under rope_scaling, where older files have it, was overlooked",
             ' or config.get("rope_scaling")', "", "{**config", '{"rope_theta": 10_000.0, **config'),
        Edit(_SWAPPED, "dim, base, 2", "base, dim, 2"),
        Edit(_KEY_HEADS, "width is None", "True", "num_attention_heads", "num_key_value_heads"),
        Edit(_KEY_HEADS, "num_attention_heads", "num_key_value_heads"),
        Edit("the whole width of the model was taken for a head", 'config.get("head_dim")', 'config["hidden_size"]'),
    ),
)
# fmt: on

ASSIGNMENT = Assignment(3, "Frequencies", (q1, q2, q3, q4, q5, q6), (HandGraded(3, "q7", "A memo to the team", 2),))
