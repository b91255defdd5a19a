"""Assignment 4, "Going long": six questions to extend a context, and one that a person reads.

Question 7 is read by a person. It gives up to 3 points, one for each of these:

1. What was measured: the loss of the first 64 tokens, in numbers, at two lengths of the text at least, with the model
   as it is and with the dynamic method; and that the model as it is serves as the control.
2. Why: the cause is traced to the method's formula, and it is said why the causal mask is no protection. "The method
   is not accurate", "the text is long" or "noise" is no cause.
3. So what: one consequence that could turn out false, with the measurement that tests it and its result; or what the
   explanation means for a program that writes token by token and keeps its keys.

A point is given for its content, in whatever words; there are no halves. Style and length count for nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from grading.questions.question import Assignment, Case, Mistake, Part, Question, until
from posenc import frequencies, scaling
from posenc.check import HandGraded

IGNORED = -100  # torch's own mark of a token that is not asked for


def _speeds(random: np.random.Generator, pairs: int) -> np.ndarray:
    """Speeds of a drawn base, which belong to no model."""
    speeds = frequencies.inv_freq(2 * pairs, float(random.uniform(20, 3000)))
    return np.asarray(speeds * random.uniform(0.6, 1.4))


def _places(random: np.random.Generator, *shape: int) -> np.ndarray:
    """Whole positions, not from 0 and not one after another."""
    return random.integers(5, 700, shape)


# ---------------------------------------------------------------------------------------------------------------------
# Question 1: position interpolation


def _interpolated(positions: Any, inv_freq: Any, factor: float) -> tuple[Any, Any]:
    slowed = frequencies.angles(np.asarray(positions) / factor, inv_freq)
    return np.cos(slowed), np.sin(slowed)


def _tables(change: Callable[[np.ndarray, np.ndarray, float], np.ndarray]) -> Callable[..., tuple[Any, Any]]:
    """A wrong answer to question 1, by how it makes the angles."""

    def wrong(positions: Any, inv_freq: Any, factor: float) -> tuple[Any, Any]:
        angles = change(np.asarray(positions, dtype=float)[..., None], np.asarray(inv_freq), factor)
        return np.cos(angles), np.sin(angles)

    return wrong


def _doubled(positions: Any, inv_freq: Any, factor: float) -> tuple[Any, Any]:
    return _interpolated(positions, np.concatenate([inv_freq, inv_freq]), factor)


def _apart(random: np.random.Generator) -> Iterator[Case]:
    for pairs, length, factor in ((3, 5, 4), (6, 4, float(random.uniform(1.5, 9)))):
        yield Case(_places(random, length), _speeds(random, pairs), factor)


def _batches(random: np.random.Generator) -> Iterator[Case]:
    yield Case(_places(random, 2, 5), _speeds(random, 4), float(random.uniform(1.5, 9)))
    yield Case(_places(random, 3, 2, 3), _speeds(random, 2), 2)


q1 = Question(
    assignment=4,
    name="q1",
    title="Slow every hand",
    names=("interpolated",),
    returns=("the cosines", "the sines"),
    parts=(
        Part("positions of one text", 1, cases=_apart),
        Part("positions of several texts at once", 1, cases=_batches),
    ),
    reference=_interpolated,
    tolerance=1e-4,
    mistakes=(
        Mistake(
            "positions were multiplied by the factor: the hands turn faster, not slower",
            _tables(lambda at, speeds, s: at * s * speeds),
        ),
        Mistake("the factor has no effect", _tables(lambda at, speeds, s: at * speeds)),
        Mistake(
            "the cosines are right, the sines have the opposite sign",
            lambda at, speeds, s: (_interpolated(at, speeds, s)[0], -_interpolated(at, speeds, s)[1]),
        ),
        Mistake(
            "cosines and sines have changed places",
            lambda at, speeds, s: _interpolated(at, speeds, s)[::-1],
        ),
        Mistake(
            "positions were rounded to whole numbers after the division: several tokens share one angle",
            _tables(lambda at, speeds, s: at // s * speeds),
        ),
        Mistake(
            "positions were rounded to whole numbers after the division: several tokens share one angle",
            _tables(lambda at, speeds, s: np.round(at / s) * speeds),
        ),
        Mistake(
            "the factor was used as a power of the speeds; here it only divides",
            _tables(lambda at, speeds, s: at * speeds**s),
        ),
        Mistake(
            "the positions given were not used: they need not begin at 0, nor follow one another",
            _tables(lambda at, speeds, s: np.arange(at.size).reshape(at.shape) / s * speeds),
        ),
        Mistake(
            "the positions given were not used: they need not begin at 0, nor follow one another",
            _tables(lambda at, speeds, s: np.broadcast_to(np.arange(at.shape[-2])[:, None], at.shape) / s * speeds),
        ),
        Mistake("positions seem to start at 1", _tables(lambda at, speeds, s: (at + 1) / s * speeds)),
        Mistake(
            "position and speed were both divided: the hands are slowed by the factor's square",
            _tables(lambda at, speeds, s: at / s * (speeds / s)),
        ),
        Mistake(
            "the last position was pinned to that of the shorter text: divide by the factor and nothing else",
            _tables(lambda at, speeds, s: at * (at.max() / s) / (at.max() + 1) * speeds),
        ),
        Mistake(
            "the angles were taken for degrees: NumPy's cosine wants radians",
            _tables(lambda at, speeds, s: np.deg2rad(at / s * speeds)),
        ),
        Mistake("there is a column for each dimension; one for each pair is asked for", _doubled),
        Mistake(
            "there is a column for each dimension; one for each pair is asked for",
            lambda at, speeds, s: _interpolated(at, np.repeat(speeds, 2), s),
        ),
        Mistake(
            "all texts were put into one row: the result keeps the shape of the positions",
            lambda at, speeds, s: _interpolated(np.ravel(at), speeds, s),
        ),
    ),
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


_SQUARED = "the factor was squared, as in the example by hand; heads of other widths need another power"
_NO_BRACKETS = "the exponent of the factor needs brackets: Python takes a power before it divides"
_UPSIDE_DOWN_POWER = "the fraction in the exponent of the factor is upside down"


def _every_dimension(dim: int, base: float, factor: float) -> np.ndarray:
    exponent = np.arange(dim) / dim
    return np.asarray(scaling.ntk_base(dim, base, factor=factor) ** -exponent)


q2 = Question(
    assignment=4,
    name="q2",
    title="Keep the two ends",
    names=("ntk_aware",),
    parts=(
        Part("wide heads", 1, cases=_wide),
        Part("narrow heads", 1, cases=_narrow),
    ),
    reference=_ntk,
    tolerance=1e-7,
    mistakes=(
        Mistake(
            "the base was multiplied by the factor alone: the slowest hand is not slowed enough",
            lambda dim, base, s: _powers(dim, base * s),
        ),
        Mistake(
            "every hand was slowed alike: that is position interpolation",
            lambda dim, base, s: scaling.linear(dim, base, factor=s).inv_freq,
        ),
        Mistake(_UPSIDE_DOWN_POWER, lambda dim, base, s: _powers(dim, base * s ** ((dim - 2) / dim))),
        Mistake(
            "the exponent of the factor is d/(d − 1): the slowest pair is i = d/2 − 1, so 2i is d − 2",
            lambda dim, base, s: _powers(dim, base * s ** (dim / (dim - 1))),
        ),
        Mistake(_SQUARED, lambda dim, base, s: _powers(dim, base * s**2)),
        Mistake(_NO_BRACKETS, lambda dim, base, s: _powers(dim, base * s**dim / (dim - 2))),
        Mistake(
            "the old base was raised to the power too; only the factor is",
            lambda dim, base, s: _powers(dim, (base * s) ** (dim / (dim - 2))),
        ),
        Mistake(
            "from pair to pair the slowing grows by equal steps; it should grow by the same ratio",
            lambda dim, base, s: _powers(dim, base) / np.linspace(1, s, dim // 2),
        ),
        Mistake(
            "only the slowest hand was slowed; those in between should be slowed too",
            lambda dim, base, s: np.append(_powers(dim, base)[:-1], _powers(dim, base)[-1] / s),
        ),
        Mistake(
            "the fastest hand was slowed as well: pairs are counted from 0",
            lambda dim, base, s: scaling.ntk_base(dim, base, factor=s) ** (-2.0 * np.arange(1, dim // 2 + 1) / dim),
        ),
        Mistake(
            "the exponent of the base lacks the 2: with i for the pair, it is not i/d",
            lambda dim, base, s: _powers(dim, scaling.ntk_base(dim, base, factor=s), 1.0),
        ),
        Mistake(
            "the frequencies themselves were made with d − 2: that number belongs to the factor's exponent only",
            lambda dim, base, s: scaling.ntk_base(dim, base, factor=s) ** (-2.0 * np.arange(dim // 2) / (dim - 2)),
        ),
        Mistake(
            "the base has a positive power: these are tokens a radian, not radians a token",
            lambda dim, base, s: _powers(dim, scaling.ntk_base(dim, base, factor=s), -2.0),
        ),
        Mistake(
            "this is the new base; the list of frequencies is asked for",
            lambda dim, base, s: scaling.ntk_base(dim, base, factor=s),
        ),
        Mistake("the factor has no effect", lambda dim, base, s: frequencies.inv_freq(dim, base)),
        Mistake(
            "the base got smaller: the hands turn faster, not slower",
            lambda dim, base, s: _powers(dim, base / s ** (dim / (dim - 2))),
        ),
        Mistake(
            "the exponent was rounded to a whole number: `//` where `/` is meant",
            lambda dim, base, s: _powers(dim, base * s ** (dim // (dim - 2))),
        ),
        Mistake(
            "the list has a frequency for each dimension; one for each pair is asked for",
            _every_dimension,
        ),
        Mistake(
            "these are tokens a turn, wavelengths; radians a token are asked for",
            lambda dim, base, s: 2 * math.pi / _ntk(dim, base, s),
        ),
        Mistake("the list is in the wrong order: the fastest pair comes first", lambda *args: _ntk(*args)[::-1]),
    ),
)


# ---------------------------------------------------------------------------------------------------------------------
# Question 3: dynamic NTK


def _dynamic(dim: int, base: float, length: int, seq_lens: list[int]) -> Any:
    return np.stack(
        [scaling.dynamic_ntk(dim, base, seq_len=n, original_max_position_embeddings=length).inv_freq for n in seq_lens]
    )


def _rows(scale: Callable[[np.ndarray, int], Any], exponent: float | None = None) -> Callable[..., Any]:
    """A wrong answer to question 3, by the factor that each text gets."""

    def wrong(dim: int, base: float, length: int, seq_lens: list[int]) -> Any:
        power = dim / (dim - 2) if exponent is None else exponent
        scales = np.asarray(scale(np.asarray(seq_lens, dtype=float), length), dtype=float)
        return np.stack([_powers(dim, base * s**power) for s in scales])

    return wrong


def _needed(lengths: np.ndarray, length: int) -> np.ndarray:
    return np.asarray(np.maximum(lengths, length) / length)


def _growing(random: np.random.Generator) -> Iterator[Case]:
    for dim in (8, 2 * int(random.integers(3, 30))):
        length = int(random.integers(50, 300))
        texts = np.cumsum(random.integers(10, 250, 5)) + length
        yield Case(dim, float(random.integers(100, 20_000)), length, [int(n) for n in texts])


def _in_turn(random: np.random.Generator) -> Iterator[Case]:
    for dim in (6, 2 * int(random.integers(3, 30))):
        length = int(random.integers(60, 300))
        times = [random.uniform(4, 6), random.uniform(0.3, 0.7), random.uniform(7, 9), 1.0, random.uniform(1.5, 3)]
        texts = [round(length * n) for n in times]
        texts.insert(4, int(random.integers(2, length // 2)))
        yield Case(dim, float(random.integers(100, 20_000)), length, texts)


q3 = Question(
    assignment=4,
    name="q3",
    title="As much as the text needs",
    names=("dynamic_ntk",),
    parts=(
        Part("texts that grow, all longer than those of the training", 1, cases=_growing),
        Part("long and short texts in turn", 2, cases=_in_turn),
    ),
    reference=_dynamic,
    tolerance=1e-7,
    mistakes=(
        Mistake(
            "short texts were sped up: a text no longer than those of the training needs no change",
            _rows(lambda n, length: n / length),
        ),
        Mistake(
            "a short text after a long one keeps the long one's speeds: each text starts anew",
            _rows(lambda n, length: np.maximum.accumulate(_needed(n, length))),
        ),
        Mistake(
            "the new base of one text was the old base of the next: each text starts anew",
            _rows(lambda n, length: np.cumprod(_needed(n, length))),
        ),
        Mistake(
            "each text got the speeds of the text before it",
            _rows(lambda n, length: _needed(np.append(length, n[:-1]), length)),
        ),
        Mistake(
            "the texts were sorted; the rows belong in the order in which the texts come",
            _rows(lambda n, length: np.sort(_needed(n, length))),
        ),
        Mistake(
            "texts that need no help were left out; each text has a row",
            _rows(lambda n, length: n[n > length] / length),
        ),
        Mistake(
            "the short texts were changed and the long ones left: it is the other way round",
            _rows(lambda n, length: np.minimum(n, length) / length),
        ),
        Mistake(
            "the factor went in twice: with f for n/L, a factor of f² − f + 1 is a fixed one on top of the text's own",
            _rows(lambda n, length: _needed(n, length) ** 2 - _needed(n, length) + 1),
        ),
        Mistake(_SQUARED, _rows(_needed, exponent=2.0)),
        Mistake(
            _UPSIDE_DOWN_POWER,
            lambda dim, base, length, texts: _rows(_needed, exponent=(dim - 2) / dim)(dim, base, length, texts),
        ),
        Mistake(
            _NO_BRACKETS,
            lambda dim, base, length, texts: np.stack(
                [_powers(dim, base * max(1.0, n / length) ** dim / (dim - 2)) for n in texts]
            ),
        ),
        Mistake(
            "the base was multiplied by the factor alone: the slowest hand is not slowed enough",
            _rows(_needed, exponent=1.0),
        ),
        Mistake(
            "every hand of a text was slowed alike: that is position interpolation",
            lambda dim, base, length, texts: np.stack(
                [frequencies.inv_freq(dim, base) / max(1.0, n / length) for n in texts]
            ),
        ),
        Mistake(
            "the lengths of the texts have no effect",
            lambda dim, base, length, texts: np.stack([frequencies.inv_freq(dim, base)] * len(texts)),
        ),
        Mistake(
            "all texts got the speeds of the longest",
            _rows(lambda n, length: np.full(len(n), _needed(n, length).max())),
        ),
        Mistake(
            "all texts got the speeds of the last one",
            _rows(lambda n, length: np.full(len(n), _needed(n, length)[-1])),
        ),
        Mistake(
            "all texts got the speeds of the first one",
            _rows(lambda n, length: np.full(len(n), _needed(n, length)[0])),
        ),
        Mistake(
            "the factor was rounded to a whole number: `//` where `/` is meant",
            _rows(lambda n, length: np.maximum(n // length, 1)),
        ),
        Mistake("the factor was rounded up to a whole number", _rows(lambda n, length: np.ceil(_needed(n, length)))),
        Mistake(
            "the factor is too large by 1: at the trained length it must be 1, not 2",
            _rows(lambda n, length: np.where(n > length, 1 + n / length, 1)),
        ),
        Mistake(
            "the fraction is upside down: a longer text must get a larger factor",
            _rows(lambda n, length: length / np.maximum(n, length)),
        ),
        Mistake(
            "rows and columns have changed places: a row for each text, a column for each pair",
            lambda *args: _dynamic(*args).T,
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
        weight = np.asarray(kept(frequencies.turns(length, speeds), factor, fast, slow))
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
    weight = _straight(frequencies.turns(length, speeds), fast, slow)
    return speeds / (weight + (1 - weight) * factor)


def _multiplied(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> Any:
    speeds = frequencies.inv_freq(dim, base)
    weight = _straight(frequencies.turns(length, speeds), fast, slow)
    return weight * speeds + (1 - weight) * speeds * factor


def _powers_blended(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> Any:
    speeds = frequencies.inv_freq(dim, base)
    return speeds / factor ** (1 - _straight(frequencies.turns(length, speeds), fast, slow))


def _weight_alone(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> Any:
    return _straight(frequencies.turns(length, frequencies.inv_freq(dim, base)), fast, slow)


def _made(dim: int, base: float, length: int) -> Any:
    return frequencies.turns(length, frequencies.inv_freq(dim, base))


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


_ALONG = "the ramp is straight along the list of pairs, as in YaRN's released code; here it is straight in turns"
_UPSIDE_DOWN = "the ramp is upside down: fast hands were slowed and slow ones kept (are the two bounds swapped?)"

q4 = Question(
    assignment=4,
    name="q4",
    title="Ask each hand how far it went",
    names=("by_parts",),
    parts=(
        Part("pairs beyond both bounds", 1, cases=_beyond),
        Part("pairs on the ramp", 2, cases=_on_the_ramp),
        Part("whole heads", 1, cases=_whole_head),
    ),
    reference=_by_parts,
    tolerance=1e-7,
    mistakes=(
        Mistake(_UPSIDE_DOWN, _ramp(lambda made, s, fast, slow: 1 - _straight(made, fast, slow))),
        Mistake(
            "turns were counted in radians: a turn is 2π of them",
            _ramp(lambda made, s, fast, slow: _straight(2 * math.pi * made, fast, slow)),
        ),
        Mistake(
            "the weight of the old speed was not held between 0 and 1",
            _ramp(lambda made, s, fast, slow: (made - slow) / (fast - slow)),
        ),
        Mistake(
            "the weight of the old speed was not held above 0",
            _ramp(lambda made, s, fast, slow: np.minimum((made - slow) / (fast - slow), 1)),
        ),
        Mistake(
            "the weight of the old speed was not held below 1",
            _ramp(lambda made, s, fast, slow: np.maximum((made - slow) / (fast - slow), 0)),
        ),
        Mistake(
            "the angle in radians was multiplied by 2π to count turns: a turn is 2π of them",
            _ramp(lambda made, s, fast, slow: _straight((2 * math.pi) ** 2 * made, fast, slow)),
        ),
        Mistake(
            "the turns were rounded down; parts of a turn count",
            _ramp(lambda made, s, fast, slow: _straight(np.floor(made), fast, slow)),
        ),
        Mistake(
            "between the bounds all pairs have the same weight; a ramp belongs there",
            _ramp(lambda made, s, fast, slow: np.where(made >= fast, 1, np.where(made <= slow, 0, 0.5))),
        ),
        Mistake(
            "the ramp is straight in tokens a turn; here it is straight in turns",
            _ramp(lambda made, s, fast, slow: _straight(1 / made, 1 / fast, 1 / slow)),
        ),
        Mistake("the blend was made with powers of the factor; the question adds two speeds", _powers_blended),
        Mistake(
            "these are tokens a turn, wavelengths; radians a token are asked for",
            lambda *given: 2 * math.pi / _by_parts(*given),
        ),
        Mistake(
            "wavelengths were blended (how many times slower); the question blends speeds",
            _wavelengths_blended,
        ),
        Mistake("the slow hands were sped up: their speed is divided by the factor", _multiplied),
        Mistake(
            "turns were counted over the longer text; the hands are judged by the training",
            _ramp(lambda made, s, fast, slow: _straight(s * made, fast, slow)),
        ),
        Mistake(_ALONG, _ramp(lambda made, s, fast, slow: _straight(np.log(made), math.log(fast), math.log(slow)))),
        Mistake(_ALONG, _by_index(truncate=True)),
        Mistake(_ALONG, _by_index(truncate=False)),
        Mistake(
            "pairs between the bounds are left as they were; a ramp belongs there",
            _ramp(lambda made, s, fast, slow: made >= slow),
        ),
        Mistake(
            "pairs between the bounds are slowed by the whole factor; a ramp belongs there",
            _ramp(lambda made, s, fast, slow: made >= fast),
        ),
        Mistake(
            "between the bounds there is a step half-way; a ramp belongs there",
            _ramp(lambda made, s, fast, slow: made >= (fast + slow) / 2),
        ),
        Mistake(
            "a hand was judged by tokens a turn over the length, which is one over its turns",
            _ramp(lambda made, s, fast, slow: _straight(1 / made, fast, slow)),
        ),
        Mistake(
            "the ramp begins at 0 turns, not at the lower bound",
            _ramp(lambda made, s, fast, slow: np.where(made < slow, 0, np.clip(made / fast, 0, 1))),
        ),
        Mistake(
            "the ramp begins at 0 turns, not at the lower bound",
            _ramp(lambda made, s, fast, slow: np.clip(made / fast, 0, 1)),
        ),
        Mistake(
            "the ramp was divided by the upper bound, not by the distance of the two",
            _ramp(lambda made, s, fast, slow: np.clip((made - slow) / fast, 0, 1)),
        ),
        Mistake("this is the weight of the old speed; the new frequencies are asked for", _weight_alone),
        Mistake(
            "every hand was slowed alike: that is position interpolation",
            _ramp(lambda made, s, fast, slow: np.zeros_like(made)),
        ),
        Mistake("nothing was slowed", _ramp(lambda made, s, fast, slow: np.ones_like(made))),
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
_ROUNDED = "positions or angles were rounded to bfloat16: past 256 it has no place for every whole number"


def _doubled_tensors(x: torch.Tensor, positions: torch.Tensor, inv_freq: torch.Tensor, factor: float) -> Any:
    return _warm(x, positions, torch.cat([inv_freq, inv_freq]), factor)


def _late(random: np.random.Generator) -> Iterator[Case]:
    for least, greatest in ((300, 1200), (2000, 9000)):
        yield _tensor_case(random, torch.bfloat16, least, greatest)


q5 = Question(
    assignment=4,
    name="q5",
    title="YaRN's stretched tables",
    names=("yarn_tables",),
    returns=("the cosines", "the sines"),
    parts=(
        Part("the attention factor", 2, cases=_attention_factor),
        Part("late positions, tables in bfloat16", 1, cases=_late, tolerance=_STEP, exact_dtype=True),
    ),
    reference=_warm,
    tolerance=1e-4,
    mistakes=(
        Mistake("the sines lack the attention factor, the cosines have it", _times(scaling.mscale, lambda s: 1.0)),
        Mistake("the cosines lack the attention factor, the sines have it", _times(lambda s: 1.0, scaling.mscale)),
        Mistake(
            "the tables carry the square of the attention factor: the score will square it by itself",
            _times(lambda s: scaling.mscale(s) ** 2),
        ),
        Mistake("the attention factor is missing", _times(lambda s: 1.0)),
        Mistake("the tables carry the root of the attention factor", _times(lambda s: math.sqrt(scaling.mscale(s)))),
        Mistake("the tables were divided by the attention factor", _times(lambda s: 1 / scaling.mscale(s))),
        Mistake("the logarithm is the natural one, not that to base 10", _times(lambda s: 0.1 * math.log10(s) + 1)),
        Mistake("the logarithm is the natural one, not that to base 2", _times(lambda s: 0.1 * math.log2(s) + 1)),
        Mistake("the 1 of the attention factor is missing", _times(lambda s: 0.1 * math.log(s))),
        *(
            Mistake("the 1 is added last: it stands neither inside the logarithm nor under the 0.1", _times(wrong))
            for wrong in (
                lambda s: 0.1 * (math.log(s) + 1),
                lambda s: 0.1 * math.log(s + 1),
                lambda s: 0.1 * math.log(s + 1) + 1,
            )
        ),
        Mistake(
            "the factor itself was put in, not its logarithm",
            _times(lambda s: 0.1 * s + 1),
        ),
        Mistake(
            "the angles were multiplied by the attention factor: it belongs to cosines and sines",
            _at(lambda at, speeds, s, dtype: at * speeds * scaling.mscale(s)),
        ),
        Mistake(
            "the speeds were slowed again: those that are given already are",
            _at(lambda at, speeds, s, dtype: at * speeds / s),
        ),
        Mistake(_ROUNDED, _rounded(lambda at, speeds: at.bfloat16() * speeds.bfloat16()), 0.03),
        Mistake(_ROUNDED, _rounded(lambda at, speeds: at.bfloat16() * speeds), 0.03),
        Mistake(_ROUNDED, _rounded(lambda at, speeds: at * speeds.bfloat16()), 0.03),
        Mistake(_ROUNDED, _rounded(lambda at, speeds: (at * speeds).bfloat16()), 0.03),
        Mistake("positions seem to start at 1", _at(lambda at, speeds, s, dtype: (at + 1) * speeds)),
        Mistake(
            "the positions given were not used: they need not begin at 0, nor follow one another",
            _at(lambda at, speeds, s, dtype: torch.arange(len(at))[:, None] * speeds),
        ),
        Mistake(
            "the cosines are right, the sines have the opposite sign",
            _times(scaling.mscale, lambda s: -scaling.mscale(s)),
        ),
        Mistake("cosines and sines have changed places", lambda *args: _warm(*args)[::-1]),
        Mistake("there is a column for each dimension; one for each pair is asked for", _doubled_tensors),
        Mistake(
            "there is a column for each dimension; one for each pair is asked for",
            lambda x, at, speeds, s: _warm(x, at, speeds.repeat_interleave(2), s),
        ),
        Mistake("nearly: something was rounded more than the dtype of x asks for", _warm, 0.03),
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


_INFINITE = "a loss is infinite: a probability fell to 0, or e to a logit passed every number that float64 can hold"


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


def _other_axis(logits: torch.Tensor, targets: torch.Tensor, width: int) -> torch.Tensor:
    asked = targets.clamp(min=0)[..., None]
    each = -logits.log_softmax(dim=1).gather(-1, asked)[..., 0].masked_fill(targets == IGNORED, torch.nan)
    return _in_stretches(each, width).nanmean(dim=(0, 2))


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
    title="Where in the text does it go wrong?",
    names=("loss_by_stretch",),
    parts=(
        Part("texts in which every token is asked for", 1, cases=_plain_texts),
        Part("texts in which some tokens are not asked for", 1, cases=_unasked),
        Part("logits in the thousands", 1, cases=_great_logits),
    ),
    reference=_loss_by_stretch,
    tolerance=1e-5,
    mistakes=(
        *(
            Mistake("targets were shifted by one more token: they are the next tokens already", wrong)
            for wrong in (_shifted, _rolled(-1), _rolled(1), _moved(-1), _moved(1))
        ),
        Mistake(
            "tokens that are not asked for were counted as a loss of 0",
            lambda logits, targets, width: _in_stretches(_each(logits, targets).nan_to_num(0), width).mean(dim=(0, 2)),
        ),
        Mistake("a target of −100 was read as a token; it says that nothing is asked there", _read_as_tokens),
        Mistake(
            "a stretch counts every asked token once; here every position counts once, or every text",
            lambda logits, targets, width: _in_stretches(
                _each(logits, targets).nanmean(dim=0, keepdim=True), width
            ).nanmean(dim=(0, 2)),
        ),
        Mistake(
            "a stretch counts every asked token once; here every position counts once, or every text",
            lambda logits, targets, width: _in_stretches(_each(logits, targets), width).nanmean(dim=2).nanmean(dim=0),
        ),
        Mistake(
            "the softmax was taken over the positions: it belongs over the vocabulary, the last axis",
            _other_axis,
        ),
        Mistake(
            "this is one loss for each position; one for each stretch of `width` positions is asked for",
            lambda logits, targets, width: _each(logits, targets).nanmean(dim=0),
        ),
        Mistake(
            "the texts were not averaged: one loss for each stretch is asked for",
            lambda logits, targets, width: _in_stretches(_each(logits, targets), width).nanmean(dim=2),
        ),
        Mistake(
            "the stretches are not made of neighbours: `width` positions in a row belong together",
            lambda logits, targets, width: _each(logits, targets).reshape(len(targets), width, -1).nanmean(dim=(0, 1)),
        ),
        Mistake(
            "the text was cut into `width` stretches; each stretch is to be `width` positions long",
            lambda logits, targets, width: _each(logits, targets).reshape(len(targets), width, -1).nanmean(dim=(0, 2)),
        ),
        Mistake(
            "these are bits: nats come from the natural logarithm",
            lambda *args: _loss_by_stretch(*args) / math.log(2),
        ),
        Mistake("the sign is missing: a loss is never negative", lambda *args: -_loss_by_stretch(*args)),
        Mistake(
            "losses were added up; their mean is asked for",
            lambda logits, targets, width: _in_stretches(_each(logits, targets), width).nansum(dim=(0, 2)),
        ),
        Mistake(
            "probabilities were averaged before the logarithm; average the losses",
            lambda *args: -_mean_probability(*args).log(),
        ),
        Mistake(
            "these are probabilities; the loss is their negative logarithm",
            _mean_probability,
        ),
        Mistake("this is the perplexity; the loss is its logarithm", _perplexity),
        Mistake(
            "each value is the mean from the beginning of the text; a stretch counts alone",
            _first_of_all,
        ),
        Mistake(
            "this is the share that is right; the loss is asked for",
            lambda logits, targets, width: _in_stretches(
                (logits.argmax(dim=-1) == targets).double().masked_fill(targets == IGNORED, torch.nan), width
            ).nanmean(dim=(0, 2)),
        ),
        Mistake(
            "only the first of the texts was looked at",
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
                "a small number was added inside the logarithm: it changes the loss of what is very unlikely",
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
    "Going long",
    (q1, q2, q3, q4, q5, q6),
    hand_graded=(HandGraded("q7", "The past that got worse", 3),),
)
