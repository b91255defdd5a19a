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

from course.question import Assignment, Case, Edit, Mistake, Part, Question, pick, until
from posenc import frequencies, scaling
from posenc.check import HandGraded

# Sentences for several mistakes.
_ONE_MORE = "off by one token: distances of at least `length` begin at `length` itself"
_FROM_0 = "the ramp begins at 0 rotations, not at the lower bound"
_LARGER_BASE = "the slow pairs got the frequencies of a larger base: theirs are the old ones divided by the factor"
_ONE_LAST = "the 1 is added last, outside the logarithm and outside the product with 0.1"
_COLUMNS = "there is one column per dimension; return one per pair"
_NOT_ONCE = "every scored token counts once; here every position, or every sequence, counts once"

# Question 1: the share of the weight that a match gets at its reach, and what that is of all other weights.
SHARE, ODDS = pick(
    "a4.share", ("half", 1), ("a quarter", 1 / 3), ("two thirds", 2), ("three quarters", 3), ("four fifths", 4)
)
VARIANT = {
    "exactly half": f"exactly {SHARE}",
    "advantage gets half of": f"advantage gets {SHARE} of",
    "10 get half of": f"10 get {SHARE} of",
    "ln 15": f"ln {15 * ODDS:.0f}",
    "15 \\cdot": f"{15 * ODDS:.0f} \\cdot",
    "math.exp(advantage) + 1": f"math.exp(advantage){'' if ODDS == 1 else f' / {ODDS}'} + 1",
    "np.logaddexp(advantage, 0)": f"np.logaddexp(advantage - math.log({ODDS}), 0)",
    "full-{task}-alibi-0": f"full-{{task}}-{pick('a4.alibi', 'alibi', 'alibi_published')}-0",
    "full-text-rope_100-0": pick(
        "a4.model", "full-text-rope_100-0", *(f"two_layers-text-rope_100-{n}" for n in (0, 1))
    ),
}

IGNORED = -100  # PyTorch's target of a token that isn't scored


def _theta(random: np.random.Generator, pairs: int) -> np.ndarray:
    """Frequencies of a drawn base, which belong to no model."""
    theta = frequencies.inv_freq(2 * pairs, float(random.uniform(20, 3000)))
    return np.asarray(theta * random.uniform(0.6, 1.4))


# ---------------------------------------------------------------------------------------------------------------------
# Question 1: ALiBi


def _alibi_weights(slope: float, length: int) -> np.ndarray:
    logits = -slope * np.arange(length)
    powers = np.exp(logits)
    return np.asarray(powers / powers.sum())


def _slope_for(share: float, length: int) -> float:
    return -math.log(share) / length


def _reach(slope: float, advantage: float) -> float:
    return (float(np.logaddexp(advantage - math.log(ODDS), 0)) + math.log(-math.expm1(-slope))) / slope


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

# fmt: off
q1 = Question(
    assignment=4,
    name="q1",
    title="How far does ALiBi attend?",
    names=("weights", "slope_for", "reach"),
    parts=(
        Part(
            "step 1: the attention weights",
            1,
            function="weights",
            cases=_gentle,
            reference=_alibi_weights,
            mistakes=(
                Edit("the weights run over positions, or grow with distance: the first is that of the token "
                     "itself, the largest", _SHARES, f"({_SHARES})[::-1]"),
                Edit("the weights don't add up to 1: a softmax divides by the sum", " / unnormalised.sum()", ""),
                Edit("these are the weights of an infinite context; here there are only `length` tokens",
                     "/ unnormalised.sum()", "* (1 - math.exp(-slope))"),
                Edit("the distances start at 1: the token itself is at distance 0",
                     _SHARES, f"math.exp(-slope) * {_SHARES}"),
                Edit("these are the logits: the softmax is missing", _SHARES, "-slope * np.arange(length)"),
            ),
        ),
        Part(
            "step 2: a slope for a share",
            1,
            function="slope_for",
            cases=_shares,
            reference=_slope_for,
            mistakes=(
                Edit("this share lies inside the length: the share at distances of at least `length` is asked for",
                     "log(share)", "log(1 - share)"),
                Edit("the slope is negative: a logarithm of a share below 1 is, too",
                     "-math.log(share)", "math.log(share)"),
                Edit("the share was divided by the length: it falls exponentially with distance",
                     "-math.log(share)", "share"),
                Edit(_ONE_MORE, "log(share) / length", "log(share) / (length + 1)"),
                Edit(_ONE_MORE, "log(share) / length", "log(share) / (length - 1)"),
            ),
        ),
        Part(
            "step 3: the reach of a match",
            1,
            function="reach",
            cases=_advantages,
            reference=_reach,
            mistakes=(
                Edit("this is where bias and advantage cancel, a tie with the token itself: all other keys "
                     "compete, too", _REACH, "advantage / slope"),
                Edit("nearly: the matching key was counted twice, once with its advantage and once without",
                     "math.log(math.exp(advantage) + 1)", f"(advantage - math.log({ODDS}))", tolerance=1e-7),
                Edit("the sum of all other weights is missing: 1/(1 − r), not 1",
                     " + math.log(1 - math.exp(-slope))", ""),
                Edit("the other keys increase the reach here: they must reduce it",
                     " + math.log(1 -", " - math.log(1 -"),
            ),
        ),
    ),
    tolerance=1e-7,
)
# fmt: on


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


_TIMES_SLOWER = "this is the divisor of each frequency; return the new frequency"
_LACKS_2 = "the exponent of the base lacks the 2: with i for the pair, it is not i/d"
_POWER = "factor ** (dim / (dim - 2))"
_OLD = "base ** (-np.arange(0, dim, 2) / dim)"
_NEW = f"new_{_OLD}"


# fmt: off
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
        Edit("the base was multiplied by the factor alone: the slowest pair is not scaled down enough",
             _POWER, "factor"),
        Edit("every frequency was divided by the same factor: that is position interpolation",
             _NEW, f"{_OLD} / factor"),
        Edit("the fraction in the exponent of the factor is upside down", _POWER, "factor ** ((dim - 2) / dim)"),
        Edit("the exponent of the factor is d/(d − 1): the slowest pair is i = d/2 − 1, so 2i is d − 2",
             "(dim - 2)", "(dim - 1)"),
        Edit("the factor was squared, as in the example by hand; heads of other widths need another power",
             _POWER, "factor**2"),
        Edit("the exponent of the factor needs brackets: Python takes a power before it divides",
             _POWER, "factor**dim / (dim - 2)"),
        Edit("the old base was raised to the power too; only the factor is", "base * factor", "(base * factor)"),
        Edit("from pair to pair the divisor grows by equal steps; it should grow by the same ratio",
             _NEW, f"{_OLD} / np.linspace(1, factor, dim // 2)"),
        Edit("only the slowest pair was scaled; the pairs in between must be scaled too",
             _NEW, f"{_OLD} / np.where(np.arange(dim // 2) == dim // 2 - 1, factor, 1)"),
        Edit("the fastest pair was scaled as well: pairs are counted from 0",
             "arange(0, dim, 2)", "arange(2, dim + 2, 2)"),
        Edit(_LACKS_2, "arange(0, dim, 2)", "arange(dim // 2)"),
        Edit("the frequencies themselves were made with d − 2: that number belongs to the factor's exponent only",
             "2) / dim)", "2) / (dim - 2))"),
        Edit("the base has a positive power: these are tokens per radian, not radians per token", "(-np", "(np"),
        Edit("this is the new base; return the list of frequencies", _NEW, "new_base"),
        Edit("the factor has no effect", _NEW, _OLD),
        Edit("the base got smaller: the frequencies grow instead of falling", "base * factor", "base / factor"),
        Edit("the exponent was rounded to a whole number: `//` where `/` is meant",
             "dim / (dim - 2)", "dim // (dim - 2)"),
        Edit("the list has a frequency for each dimension; return one per pair", "arange(0, dim, 2)", "arange(dim)"),
        Edit("these are wavelengths, tokens per rotation; return radians per token", _NEW, f"2 * math.pi / {_NEW}"),
        Edit("the list is in the wrong order: the fastest pair comes first", _NEW, f"({_NEW})[::-1]"),
        Edit(_TIMES_SLOWER, _NEW, f"{_OLD} / {_NEW}"),
        Edit("the scaling is reversed: the fastest pair keeps its frequency, the slowest changes most",
             _NEW, f"{_OLD} / factor ** (1 - np.arange(0, dim, 2) / (dim - 2))"),
        Edit("the exponents of the list were rounded to whole numbers: `//` where `/` is meant",
             "2) / dim)", "2) // dim)"),
    ),
)
# fmt: on


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
    """Width, base and trained length of a narrow head, whose numbers of rotations lie well apart."""
    return 2 * int(random.integers(4, 9)), float(random.integers(500, 9000)), int(random.integers(80, 400))


def _beyond(random: np.random.Generator) -> Iterator[Case]:
    """Bounds between two neighbours of the list, so that no pair is on the ramp."""

    def draw() -> Case:
        dim, base, length = _head(random)
        made = _made(dim, base, length)
        last = int(random.integers(1, dim // 2 - 2))  # the last pair that is kept
        between = (made[last] * made[last + 1]) ** 0.5
        fast, slow = between * (made[last] / between) ** 0.6, between * (made[last + 1] / between) ** 0.6
        return Case(dim, base, length, float(random.uniform(2, 9)), float(fast), float(slow))

    def wanted(dim: int, base: float, length: int, factor: float, fast: float, slow: float) -> bool:
        """Whether fractions of a rotation make no difference, and the width of the ramp does."""
        made = _made(dim, base, length)
        kept = made[made >= fast]
        return bool(np.floor(kept).min() >= fast and kept.min() < 0.98 * (fast + slow))

    for _ in range(2):
        yield until(wanted, draw)


def _on_the_ramp(random: np.random.Generator) -> Iterator[Case]:
    """Bounds beyond both ends of the list, so that every pair is on the ramp."""
    for _ in range(2):
        dim, base, length = _head(random)
        made = _made(dim, base, length)
        fast, slow = made[0] * random.uniform(1.1, 1.8), made[-1] * random.uniform(0.4, 0.9)
        yield Case(dim, base, length, float(random.uniform(2, 9)), float(fast), float(slow))


def _whole_head(random: np.random.Generator) -> Iterator[Case]:
    yield Case(128, float(random.choice([10_000.0, 500_000.0])), 4096, float(random.uniform(2, 16)), 32.0, 1.0)
    yield Case(48, float(random.integers(5_000, 50_000)), int(random.integers(900, 3000)), 4.0, 16.0, 2.0)


_ALONG = "the ramp is linear in the pair's index, as in YaRN's released code; here it is linear in rotations"
_KEPT = "np.clip((rotations - beta_slow) / (beta_fast - beta_slow), 0, 1)"
_BLEND = "kept * inv_freq + (1 - kept) * inv_freq / factor"

# fmt: off
q4 = Question(
    assignment=4,
    name="q4",
    title="Count each pair's rotations",
    names=("by_parts",),
    parts=(
        Part("pairs beyond both bounds", 1, cases=_beyond),
        Part("pairs on the ramp", 2, cases=_on_the_ramp),
        Part("whole heads", 1, cases=_whole_head),
    ),
    reference=_by_parts,
    tolerance=1e-7,
    mistakes=(
        Edit("the ramp is upside down: fast pairs were scaled and slow ones kept (are the two bounds swapped?)",
             _KEPT, f"1 - {_KEPT}"),
        Edit("rotations were counted in radians: a rotation is 2π of them", " / (2 * math.pi)", ""),
        Edit("the weight of the old frequency was not clipped to 0 … 1", "np.clip(", "(", ", 0, 1)", ")"),
        Edit("the weight of the old frequency was not clipped at 0", "np.clip", "np.minimum", ", 0, 1)", ", 1)"),
        Edit("the weight of the old frequency was not clipped at 1", "np.clip", "np.maximum", ", 0, 1)", ", 0)"),
        Edit("the angle in radians was multiplied by 2π to count rotations: a rotation is 2π of them",
             "/ (2 * math.pi)", "* (2 * math.pi)"),
        Edit("the rotations were rounded down; fractions of a rotation count",
             "(rotations -", "(np.floor(rotations) -"),
        Edit("between the bounds all pairs have the same weight; a ramp belongs there",
             _KEPT, "np.where(rotations >= beta_fast, 1, np.where(rotations <= beta_slow, 0, 0.5))"),
        Edit("the ramp is linear in wavelengths; here it is linear in rotations",
             _KEPT, "np.clip((1 / rotations - 1 / beta_slow) / (1 / beta_fast - 1 / beta_slow), 0, 1)"),
        Edit("the blend was made with powers of the factor; the question adds two frequencies",
             _BLEND, "inv_freq / factor ** (1 - kept)"),
        Edit("these are wavelengths, tokens per rotation; return radians per token",
             _BLEND, f"2 * math.pi / ({_BLEND})"),
        Edit("wavelengths were blended (the divisors); the question blends frequencies",
             _BLEND, "inv_freq / (kept + (1 - kept) * factor)"),
        Edit("the frequencies of the slow pairs were raised: they must be divided by the factor",
             "inv_freq / factor", "inv_freq * factor"),
        Edit("rotations were counted over the longer sequence; the trained length counts",
             "length * inv_freq", "factor * length * inv_freq"),
        Edit(_ALONG, _KEPT, "np.clip(np.log(rotations / beta_slow) / np.log(beta_fast / beta_slow), 0, 1)"),
        Mistake(_ALONG, _by_index(truncate=True)),
        Mistake(_ALONG, _by_index(truncate=False)),
        Edit("pairs between the bounds are left as they were; a ramp belongs there", _KEPT, "rotations >= beta_slow"),
        Edit("pairs between the bounds are scaled by the whole factor; a ramp belongs there",
             _KEPT, "rotations >= beta_fast"),
        Edit("between the bounds there is a step half-way; a ramp belongs there",
             _KEPT, "rotations >= (beta_fast + beta_slow) / 2"),
        Edit("this is the wavelength over the length, the inverse of the number of rotations",
             "(rotations -", "(1 / rotations -"),
        Edit(_FROM_0, _KEPT, "np.where(rotations < beta_slow, 0, np.clip(rotations / beta_fast, 0, 1))"),
        Edit(_FROM_0, _KEPT, "np.clip(rotations / beta_fast, 0, 1)"),
        Edit("the ramp was divided by the upper bound, not by the distance of the two",
             "/ (beta_fast - beta_slow)", "/ beta_fast"),
        Edit("this is the weight of the old frequency; return the new frequencies", _BLEND, "kept"),
        Edit("every frequency was divided by the same factor: that is position interpolation", _KEPT, "0 * rotations"),
        Edit("no frequency was scaled", _KEPT, "1 + 0 * rotations"),
        Edit(_TIMES_SLOWER, _BLEND, f"inv_freq / ({_BLEND})"),
        Edit(_LACKS_2, "arange(0, dim, 2)", "arange(dim // 2)"),
        Edit(_LARGER_BASE, "inv_freq / factor", "(base * factor) ** (-np.arange(0, dim, 2) / dim)"),
        Edit(_LARGER_BASE, "inv_freq / factor", f"(base * {_POWER}) ** (-np.arange(0, dim, 2) / dim)"),
    ),
)
# fmt: on


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
        rotated, a = angles(positions[:, None], inv_freq).double(), scaling.mscale(factor)
        return (a * rotated.cos()).to(x.dtype), (a * rotated.sin()).to(x.dtype)

    return wrong


def _tensor_case(random: np.random.Generator, dtype: torch.dtype, least: int, greatest: int) -> Case:
    pairs, length = int(random.integers(2, 6)), int(random.integers(6, 10))
    theta = torch.from_numpy(_theta(random, pairs)).to(torch.float64 if dtype == torch.float64 else torch.float32)
    x = torch.from_numpy(random.standard_normal((2, 3, length, 2 * pairs))).to(dtype)
    places = torch.from_numpy(random.permutation(np.arange(least, greatest))[:length])
    return Case(x, places, theta, float(random.uniform(3, 6 if dtype == torch.bfloat16 else 16)))


def _attention_factor(random: np.random.Generator) -> Iterator[Case]:
    for _ in range(3):
        yield _tensor_case(random, torch.float64, 3, 300)


_STEP = 0.0041  # times 1 + |value|, one step of bfloat16
_ROUNDED = "positions or angles were rounded to bfloat16, which can't represent every integer above 256"


def _late(random: np.random.Generator) -> Iterator[Case]:
    for least, greatest in ((300, 1200), (2000, 9000)):
        yield _tensor_case(random, torch.bfloat16, least, greatest)


_FACTOR = "0.1 * math.log(factor) + 1"
_TABLES = "(a * angles.cos()).to(x.dtype), (a * angles.sin()).to(x.dtype)"

# fmt: off
q5 = Question(
    assignment=4,
    name="q5",
    title="YaRN's tables",
    names=("yarn_tables",),
    tensors="only",
    returns=("the cosines", "the sines"),
    parts=(
        Part("the attention factor", 2, cases=_attention_factor),
        Part("late positions, tables in bfloat16", 1, cases=_late, tolerance=_STEP, exact_dtype=True),
    ),
    reference=_warm,
    tolerance=1e-4,
    mistakes=(
        Edit("the sines lack the attention factor, the cosines have it", "a * angles.sin", "angles.sin"),
        Edit("the cosines lack the attention factor, the sines have it", "a * angles.cos", "angles.cos"),
        Edit("the tables carry the square of the attention factor: the score will square it by itself",
             _FACTOR, f"({_FACTOR}) ** 2"),
        Edit("the attention factor is missing", _FACTOR, "1"),
        Edit("the tables carry the root of the attention factor", _FACTOR, f"({_FACTOR}) ** 0.5"),
        Edit("the tables were divided by the attention factor", _FACTOR, f"1 / ({_FACTOR})"),
        Edit("the logarithm is the natural one, not that to base 10", "math.log(", "math.log10("),
        Edit("the logarithm is the natural one, not that to base 2", "math.log(", "math.log2("),
        Edit("the 1 of the attention factor is missing", _FACTOR, "0.1 * math.log(factor)"),
        Edit(_ONE_LAST, _FACTOR, "0.1 * (math.log(factor) + 1)"),
        Edit(_ONE_LAST, _FACTOR, "0.1 * math.log(factor + 1)"),
        Edit(_ONE_LAST, _FACTOR, "0.1 * math.log(factor + 1) + 1"),
        Edit("the factor itself was put in, not its logarithm", _FACTOR, "0.1 * factor + 1"),
        Edit("the angles were multiplied by the attention factor: it belongs to cosines and sines",
             "inv_freq.double()", f"inv_freq.double() * ({_FACTOR})"),
        Edit("the frequencies were scaled again: the ones that are given are scaled already",
             "inv_freq.double()", "inv_freq.double() / factor"),
        Mistake(_ROUNDED, _rounded(lambda at, theta: at.bfloat16() * theta.bfloat16()), 0.03),
        Mistake(_ROUNDED, _rounded(lambda at, theta: at.bfloat16() * theta), 0.03),
        Mistake(_ROUNDED, _rounded(lambda at, theta: at * theta.bfloat16()), 0.03),
        Mistake(_ROUNDED, _rounded(lambda at, theta: (at * theta).bfloat16()), 0.03),
        Edit("positions start at 1", "positions[:, None]", "(positions[:, None] + 1)"),
        Edit("the positions given were not used: they need not begin at 0, nor follow one another",
             "positions[:, None]", "torch.arange(len(positions))[:, None]"),
        Edit("the cosines are right, the sines have the opposite sign", "a * angles.sin", "-a * angles.sin"),
        Edit("cosines and sines are swapped", _TABLES, ", ".join(_TABLES.split(", ")[::-1])),
        Edit(_COLUMNS, "inv_freq.double()", "inv_freq.double().repeat(2)"),
        Edit(_COLUMNS, "inv_freq.double()", "inv_freq.double().repeat_interleave(2)"),
        Mistake("nearly: something was rounded more than the dtype of x asks for", _warm, 0.03),
    ),
)
# fmt: on


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
    return Edit(
        "targets were shifted by one more token: they are the next tokens already",
        "asked = targets",
        f"targets = {targets}\n    asked = targets",
    )


def _where(condition: str, values: str) -> str:
    """Values that are numbers under a condition, where they are not equal to those of other mistakes."""
    return f"torch.where({condition}, {values}, torch.nan)"


# fmt: off
q6 = Question(
    assignment=4,
    name="q6",
    title="Where in the sequence does it fail?",
    names=("loss_by_stretch",),
    tensors="either",
    parts=(
        Part("sequences in which every token is scored", 1, cases=_plain_texts),
        Part("sequences in which some tokens are not scored", 1, cases=_unasked),
        Part("logits in the thousands", 1, cases=_great_logits),
    ),
    reference=_loss_by_stretch,
    tolerance=1e-5,
    mistakes=(
        _other_targets("targets.roll(-1, 1)"),
        _other_targets("targets.roll(1, 1)"),
        _other_targets("torch.nn.functional.pad(targets[:, 1:], (0, 1), value=-100)"),
        _other_targets("torch.nn.functional.pad(targets[:, :-1], (1, 0), value=-100)"),
        Edit("unscored tokens were counted as a loss of 0", _STRETCHES, "loss.reshape(shape).mean(dim=(0, 2))"),
        Edit("a target of −100 was used as a token; it marks an unscored one",
             "torch.where(asked, loss, 0)", "loss", _STRETCHES, "loss.reshape(shape).mean(dim=(0, 2))"),
        Edit(_NOT_ONCE, _STRETCHES, f"{_OR_NOT}.nanmean(dim=0).reshape(-1, width).nanmean(dim=1)"),
        Edit(_NOT_ONCE, _STRETCHES, f"{_OR_NOT}.reshape(shape).nanmean(dim=2).nanmean(dim=0)"),
        Edit("the softmax was taken over the positions: it belongs over the vocabulary, the last axis",
             "dim=-1", "dim=1"),
        Edit("the softmax was taken over the sequences: it belongs over the vocabulary, the last axis",
             "dim=-1", "dim=0"),
        Edit("these are the logits with their sign changed: the softmax is missing", _LOGS, "logits"),
        Edit("this is one loss for each position; return one for each stretch of `width` positions",
             _STRETCHES, f"{_OR_NOT}.nanmean(dim=0)"),
        Edit("the sequences were not averaged: return one loss per stretch",
             _STRETCHES, f"{_OR_NOT}.reshape(shape).nanmean(dim=2)"),
        Edit("the stretches don't consist of adjacent positions",
             "-1, width)", "width, -1)", _STRETCHES, _STRETCHES.replace("(0, 2)", "(0, 1)")),
        Edit("the sequence was split into `width` stretches; each stretch should be `width` positions long",
             "-1, width)", "width, -1)"),
        Edit("these are bits: nats come from the natural logarithm", _STRETCHES, f"{_STRETCHES} / math.log(2)"),
        Edit("the sign is missing: a loss is never negative", "return loss", "return -loss"),
        Edit("losses were added up; return their mean", " / asked.reshape(shape).sum(dim=(0, 2))", ""),
        Edit("probabilities were averaged before the logarithm; average the losses",
             _STRETCHES, _where("logits.abs().max() < 100", f"-({_PROBABILITY}).log()")),
        Edit("these are probabilities; the loss is their negative logarithm",
             _STRETCHES, _where("logits.abs().max() < 100", _PROBABILITY)),
        Edit("this is the perplexity; the loss is its logarithm",
             _STRETCHES, _where("logits.abs().max() < 100", f"torch.exp({_STRETCHES})")),
        Edit("each value is the mean from the beginning of the sequence; a stretch counts alone",
             _STRETCHES, _STRETCHES.replace("sum(dim=(0, 2))", "sum(dim=(0, 2)).cumsum(0)")),
        Edit("this is the share that is right; return the loss",
             "torch.where(asked, loss, 0)", "asked * (logits.argmax(dim=-1) == targets)"),
        Edit("only the first sequence was used",
             "asked = targets", "logits, targets = logits[:1], targets[:1]\n    asked = targets"),
        *(
            Edit("a loss is infinite: a probability underflowed to 0, or e to a logit overflowed float64", _LOGS, logs)
            for logs in (
                "torch.softmax(logits, dim=-1).log()",
                "(logits - logits.exp().sum(dim=-1, keepdim=True).log())",
                "(logits - logits.max() - (logits - logits.max()).exp().sum(dim=-1, keepdim=True).log())",
            )
        ),
        *(
            Edit("a small number was added inside the logarithm: it changes the loss of what is very unlikely",
                 _LOGS, f"(torch.softmax(logits, dim=-1) + {small}).log()")
            for small in (1e-12, 1e-10, 1e-9, 1e-8, 1e-6)
        ),
    ),
)
# fmt: on


ASSIGNMENT = Assignment(
    4,
    "Going long",
    (q1, q2, q4, q5, q6),
    hand_graded=(
        HandGraded(4, "q3", "What extrapolation is worth", 2),
        HandGraded(4, "q7", "The past that got worse", 3),
    ),
)
