"""The claims about texts longer than those of training: what fails, what stretches rotation, and Qwen3-8B's numbers."""

from functools import cache

import numpy as np

from book.claims.evidence import Evidence
from posenc import scaling
from posenc.analysis import ScoreFit, decay, fingerprint, fit_scores, unseen_angles
from posenc.attention import attention
from posenc.configs import model, scaled, slowest_wavelength
from posenc.frequencies import angles, inv_freq, rotations, wavelengths
from posenc.rotary import rotate

LLAMA_2, QWEN_3 = model("Llama-2-7b-hf"), model("Qwen3-8B")
DIM, LENGTH, THETA = LLAMA_2.head_dim, LLAMA_2.original_max_position_embeddings, scaled(LLAMA_2).inv_freq  # base 10 000
TURNED = rotations(LENGTH, THETA) >= 1
FITTED = 2048  # the length that the position interpolation paper fits scores to
QWEN_LENGTH, QWEN = QWEN_3.original_max_position_embeddings, scaled(QWEN_3).inv_freq  # base 1 000 000


@cache
def _unseen(base: float, trained_length: int) -> np.ndarray:
    """For each pair, the share of angles at distances from L to 2L that lie over 0.01 rad from any below L."""
    return unseen_angles(inv_freq(DIM, base), trained_length, 2 * trained_length)


@cache
def _fitted(min_rotations: float, most_turns: float = np.inf) -> ScoreFit:
    """Random scores at distances below 2048, fitted by the pairs of so many turns there."""
    targets = np.random.default_rng(0).standard_normal(FITTED)
    return fit_scores(targets, THETA[rotations(FITTED, THETA) < most_turns], min_rotations=min_rotations)


def C118() -> Evidence:
    shares, figures = [], []
    for base, length in ((1e4, 4096), (1e6, 32_768), (1e4, 2048)):
        unseen, done = _unseen(base, length), rotations(length, inv_freq(DIM, base)) >= 1
        shares.append(unseen[~done].sum() / unseen.sum())
        figures.append(
            f"{done.sum()} pairs with a full rotation {unseen[done].mean():.3f}, {np.sum(~done)} others "
            f"{unseen[~done].mean():.3f} (base {base:,.0f}, {length:,} tokens)"
        )
    worst = int(np.argmax(_unseen(1e4, 2048)[rotations(2048, THETA) >= 1]))
    return Evidence(
        as_said=min(shares) > 0.9,
        figure="mean share of unseen angles from L to 2L: " + "; ".join(figures) + f". At 2048 the gaps are those of "
        f"pair {worst}, {wavelengths(THETA)[worst]:.2f} tokens per rotation",
    )


def C119() -> Evidence:
    unseen = _unseen(1e4, LENGTH)
    # are the angles of the trained length's second half already those of its first half?
    before = _unseen(1e4, LENGTH // 2)[rotations(LENGTH // 2, THETA) >= 4]
    fast, slow = unseen[TURNED].mean(), unseen[~TURNED].mean()
    return Evidence(
        as_said=fast > slow or before.mean() > 0.5,  # the fast pairs meet what is new, or repeat only past L
        weaker={"each fast pair repeats the angles of shorter distances": fast < 0.01},
        figure=f"unseen angles from 4096 to 8191: {TURNED.sum()} fast pairs {fast:.3f}, {np.sum(~TURNED)} slow pairs "
        f"{slow:.3f}; from 2048 to 4095, already in training, {len(before)} fast pairs {before.mean():.3f}",
    )


def C120() -> Evidence:
    unseen = _unseen(1e4, LENGTH)
    return Evidence(
        cases={
            "for pairs that complete no rotation in training": np.all(unseen[~TURNED] > 0.1),
            "for the others": np.all(unseen[TURNED] > 0.1),
        },
        figure=f"unseen angles from 4096 to 8191, pair by pair: {unseen[~TURNED].min():.3f} to "
        f"{unseen[~TURNED].max():.3f} for the {np.sum(~TURNED)} pairs of less than a rotation, at most "
        f"{unseen[TURNED].max():.3f} for the {TURNED.sum()} others",
    )


def C121() -> Evidence:
    every, two, four = _fitted(0), _fitted(2), _fitted(4)
    explodes = every.past_range > 1e4 * every.in_range
    return Evidence(
        as_said=explodes and four.past_range < 2 * four.in_range,
        figure=f"maximum fitted score below 2048, and from there to 4095: all 64 pairs {every.in_range:.2f} and above "
        f"10,000; {len(two.inv_freq)} pairs of 2 rotations or more {two.in_range:.2f} and {two.past_range:.1f}; "
        f"{len(four.inv_freq)} of 4 or more {four.in_range:.2f} and {four.past_range:.2f}",
    )


def _base_of(frequencies: np.ndarray) -> float:
    """The base that a list of frequencies was made with."""
    return float(frequencies[1] ** (-DIM / 2))


def C128() -> Evidence:
    factor, proper = 4, scaling.ntk_aware(DIM, factor=4).inv_freq
    naive = inv_freq(DIM, 1e4 * factor)  # the nearest guess for α
    slowed = THETA / proper
    alpha = factor ** (DIM / (DIM - 2))
    return Evidence(
        as_said=np.allclose(proper, inv_freq(DIM, 1e4 * alpha)) and np.isclose(slowed[-1], factor),
        figure=f"4 times as long: α = {alpha:.3f} slows pairs 0, 32 and 63 by {slowed[0]:.3f}, {slowed[32]:.3f}, "
        f"{slowed[63]:.3f}; α = 4 slows pair 63 by {(THETA / naive)[-1]:.3f}",
    )


def C129() -> Evidence:
    factor = 4
    stretched = scaling.yarn(DIM, factor=factor, original_max_position_embeddings=LENGTH, ramp="paper")
    slowed, made = THETA / stretched.inv_freq, rotations(LENGTH, THETA)
    fast, slow = slowed[made > 32], slowed[made < 1]
    low_kept, high_changed = np.allclose(slow, 1), bool(np.all(fast > 1.001))
    return Evidence(
        as_said=low_kept and high_changed,
        weaker={"one half of it holds": low_kept or high_changed},
        figure=f"factor 4: {len(fast)} pairs of more than 32 rotations slowed by {fast.max():.1f}, {len(slow)} pairs "
        f"of less than one by {slow.min():.1f}, {DIM // 2 - len(fast) - len(slow)} between; scores × "
        f"{stretched.attention_factor**2:.3f}",
    )


def C130() -> Evidence:
    def bases(length: int) -> tuple[float, float]:
        found = scaling.dynamic_ntk(DIM, seq_len=length, original_max_position_embeddings=LENGTH).inv_freq
        return _base_of(found), 1e4 * (length / LENGTH) ** (DIM / (DIM - 2))

    short, longer = bases(2048), [bases(length) for length in (4096, 8192, 16_384)]
    agrees = all(np.isclose(found, said) for found, said in longer)
    return Evidence(
        as_said=agrees and np.isclose(short[0], 1e4),
        figure=f"base at 4096, 8192, 16,384 tokens: {', '.join(f'{found:,.0f}' for found, _ in longer)}, as said; at "
        f"2048 tokens {short[0]:,.0f}, where the formula gives {short[1]:,.0f}",
    )


def C210() -> Evidence:
    stretched = scaling.linear(DIM, factor=2).inv_freq
    at = angles(8191, stretched) / THETA  # the position of the trained list with the same angle
    return Evidence(
        as_said=np.allclose(at, 4095.5, rtol=1e-12),
        figure=f"position 8191 has the angles of position {at.min():.1f} in all {len(at)} pairs",
    )


def C211() -> Evidence:
    slowed, reached = {}, {}
    for factor in (2, 8, 32):
        stretched = scaling.linear(DIM, factor=factor).inv_freq
        slowed[factor] = THETA / stretched  # L'/L of every pair
        reached[factor] = (angles(factor * LENGTH - 1, stretched) / angles(LENGTH, THETA)).max()
    exact = all(np.allclose(pairs, factor, rtol=1e-12) for factor, pairs in slowed.items())
    return Evidence(
        as_said=exact and max(reached.values()) < 1,
        figure=f"slowed by {', '.join(f'{pairs.min():.1f} to {pairs.max():.1f}' for pairs in slowed.values())} in "
        f"texts of 2, 8, 32 times 4096 tokens; maximum angle {max(reached.values()):.5f} of 4096·θ",
    )


def _step(frequencies: np.ndarray) -> float:
    """How far apart the fingerprints of neighbouring positions are, in units of a fingerprint's length."""
    return float(np.linalg.norm(np.diff(fingerprint([0, 1], frequencies), axis=0)) / np.sqrt(len(frequencies)))


def C212() -> Evidence:
    stretched, aware = (method(DIM, factor=4).inv_freq for method in (scaling.linear, scaling.ntk_aware))
    steps = [_step(frequencies) for frequencies in (THETA, stretched, aware)]
    alike = np.allclose(THETA / stretched, (THETA / stretched)[-1])
    return Evidence(
        as_said=alike and steps[1] < 0.5 * steps[0],
        figure=f"factor 4: the fastest pair from {THETA[0]:.0f} to {stretched[0]:.2f} rad per token; one step changes "
        f"the fingerprint by {steps[0]:.3f} before, {steps[1]:.3f} after ({steps[2]:.3f} with NTK-aware scaling)",
    )


def C213() -> Evidence:
    ends, inside, beyond = [], [], []
    for factor in (2, 4, 8):
        aware = scaling.ntk_aware(DIM, factor=factor).inv_freq
        ends.append(np.isclose(aware[0], THETA[0]) and np.isclose(aware[-1], THETA[-1] / factor))
        reached = (factor * aware / THETA)[~TURNED]  # greatest new angle over the greatest trained one
        inside.append(bool(np.all(reached < 1 + 1e-9)))
        beyond.append((int(np.sum(reached > 1 + 1e-9)), reached.max()))
    return Evidence(
        cases={"for the fastest pair and the slowest": all(ends), "for the slow pairs between": all(inside)},
        figure=f"{beyond[0][0]} of {np.sum(~TURNED)} slow pairs go beyond the angles of training, by up to "
        f"{', '.join(f'{most:.3f}' for _, most in beyond)} times at factors 2, 4, 8; the slowest alone is exact",
    )


def C216() -> Evidence:
    def at(length: int) -> np.ndarray:
        return scaling.dynamic_ntk(DIM, seq_len=length, original_max_position_embeddings=LENGTH).inv_freq

    def scores(query_at: int, key_at: int, for_key: int) -> np.ndarray:
        """Scores at 8192 tokens of keys that were rotated when the text had `for_key` tokens."""
        return np.sum(
            rotate(q, angles([query_at], at(8192)), "interleaved")
            * rotate(k, angles([key_at], at(for_key)), "interleaved"),
            axis=-1,
        )

    q, k = np.random.default_rng(0).standard_normal((2, 1000, DIM))
    size = np.sqrt(np.mean(scores(8191, 4000, 8192) ** 2))
    off = {
        length: np.sqrt(np.mean((scores(8191, 4000, length) - scores(8191, 4000, 8192)) ** 2))
        for length in (4096, 8100)
    }
    moved = np.abs(scores(8091, 3900, 8192) - scores(8191, 4000, 8192)).max()
    grows = _base_of(at(4097)) < _base_of(at(4098)) < _base_of(at(8192))
    return Evidence(
        as_said=grows and moved < 1e-9 and min(off.values()) > 0.1 * size,
        figure=f"keys rotated at 4096 or 8100 tokens and kept, read at 8192: scores are off by {off[4096] / size:.2f} "
        f"or {off[8100] / size:.2f} of their size; rotated anew they depend on distance alone (to within 1e-9)",
    )


def C217() -> Evidence:
    paper, released = (
        scaling.yarn(DIM, factor=4, original_max_position_embeddings=LENGTH, ramp=ramp).inv_freq
        for ramp in ("paper", "released")
    )
    apart = np.abs(paper / released - 1)
    return Evidence(
        as_said=apart.max() < 1e-6,
        weaker={"the two ramps agree to a tenth": apart.max() < 0.1},
        figure=f"factor 4, 4096 tokens: frequencies differ by up to {apart.max():.0%} (pair {apart.argmax()}); equal "
        f"in {np.sum(apart < 1e-9)} of 64 pairs",
    )


def C222() -> Evidence:
    slowest, period = QWEN[-1], slowest_wavelength(QWEN_3)
    printed = 5_066_758
    by_rounded = wavelengths([1.24e-6])[0]
    right_period = min(abs(printed - period), abs(printed - by_rounded)) < 10
    return Evidence(
        as_said=abs(slowest - 1.24e-6) < 0.005e-6 and right_period,
        weaker={
            "the frequency is right, and the period to one part in a thousand": abs(slowest - 1.24e-6) < 0.005e-6
            and abs(printed / period - 1) < 1e-3
        },
        figure=f"slowest frequency {slowest:.5e} rad per token, period {period:,.0f} tokens; from 1.24e-6 it would be "
        f"{by_rounded:,.0f}",
    )


def C223() -> Evidence:
    period = slowest_wavelength(QWEN_3)
    return Evidence(as_said=period > 5e6, figure=f"one rotation of the slowest pair: {period:,.0f} tokens")


def _unturned(base: float, length: int) -> int:
    return int(np.sum(rotations(length, inv_freq(DIM, base)) < 1))


def C224() -> Evidence:
    period, still = slowest_wavelength(QWEN_3), float(angles(QWEN_LENGTH, QWEN)[-1])
    unseen = _unseen(1e6, QWEN_LENGTH)
    unturned = [_unturned(base, QWEN_LENGTH) for base in (1e6, 1e4)]
    return Evidence(
        as_said=np.all(unseen < 0.05) or unturned[0] <= unturned[1],  # it keeps new angles away
        weaker={
            "the period is that long, and the slowest pair does not come round": period > 100 * QWEN_LENGTH
            and still < np.pi
        },
        figure=f"period {period / QWEN_LENGTH:.0f} times 32,768; there the slowest pair is at {still:.4f} rad, cosine "
        f"{np.cos(still):.4f}. Pairs of less than a rotation: {unturned[0]} of 64, {unturned[1]} with base 10,000",
    )


def C225() -> Evidence:
    below = {base: decay(np.arange(QWEN_LENGTH + 1), inv_freq(DIM, base)) < 0 for base in (1e4, 1e6)}
    first = {base: int(np.argmax(negative)) for base, negative in below.items()}
    unturned = {base: _unturned(base, QWEN_LENGTH) for base in below}
    steadier = first[1e6] > first[1e4] and below[1e6].sum() < below[1e4].sum()
    return Evidence(
        as_said=steadier,
        figure=f"base 10,000 and 1,000,000 up to 32,768: all-ones score below zero at {below[1e4].sum():,} and "
        f"{below[1e6].sum()} distances, first at {first[1e4]:,} and {first[1e6]:,}; {unturned[1e4]} and "
        f"{unturned[1e6]} of 64 pairs never complete a rotation",
    )


def _qwen(longest: int, rope_scaling: dict | None) -> np.ndarray:
    """The frequencies of Qwen3-8B's configuration with these two keys instead of its own."""
    changed = {"max_position_embeddings": longest, "rope_scaling": rope_scaling}
    return scaling.from_config(dict(QWEN_3.rope) | changed, DIM).inv_freq


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": QWEN_LENGTH}  # as Qwen3 recommends


def C226() -> Evidence:
    unscaled = {longest: np.allclose(_qwen(longest, None), inv_freq(DIM, 1e6)) for longest in (32_768, 131_072)}
    with_yarn = np.allclose(_qwen(32_768, YARN), inv_freq(DIM, 1e6))
    return Evidence(
        as_said=with_yarn and not unscaled[131_072],  # that number means "none", another one "some"
        weaker={"the configuration with that number and null extends nothing": unscaled[32_768]},
        figure=f"frequencies unscaled? 32768 with null: {unscaled[32_768]}; 131072 with null: {unscaled[131_072]}; "
        f"32768 with YaRN: {with_yarn}. Published: {QWEN_3.max_position_embeddings}",
    )


def C227() -> Evidence:
    native, longer = _qwen(QWEN_LENGTH, None), _qwen(QWEN_LENGTH, YARN)
    factor = THETA[-1] / QWEN[-1]
    same = np.allclose(scaling.ntk_aware(DIM, factor=factor).inv_freq, QWEN)
    outside = int(np.sum(_unseen(1e6, QWEN_LENGTH) > 0.05))
    return Evidence(
        as_said=np.allclose(native, inv_freq(DIM, 1e6)),  # up to the 32,768 tokens that the note speaks of
        figure=f"base 1,000,000 is base 10,000 after NTK-aware scaling by {factor:.1f}: {same}; past 32,768 tokens "
        f"{outside} of 64 pairs meet unseen angles, and YaRN with factor 4 slows {np.sum(longer < 0.999 * native)}",
    )


def C228() -> Evidence:
    last = len(QWEN) - 1
    exponent = np.log(QWEN[-1]) / np.log(1e6)
    return Evidence(
        as_said=len(QWEN) == 64 and last == 63 and np.isclose(exponent, -126 / 128),
        figure=f"{len(QWEN)} frequencies, the last has index {last} and exponent {exponent:.6f}; −126/128 is "
        f"{-126 / 128:.6f}",
    )


def C229() -> Evidence:
    # a fingerprint's likeness to that of another distance depends on the difference of the two alone
    score = decay(np.arange(2 * LENGTH), THETA)
    nearest = np.array([score[m - LENGTH + 1 : m + 1].max() for m in range(LENGTH, 2 * LENGTH)])
    return Evidence(
        as_said=np.mean(nearest < 0.5) > 0.9,
        figure=f"maximum similarity to any fingerprint below 4096: {score[1]:.3f} at 4096, {nearest[100]:.3f} at "
        f"4196, median {np.median(nearest):.3f} from 4096 to 8191; neighbours have {score[1]:.3f}",
    )


def C231() -> Evidence:
    length, rng = 512, np.random.default_rng(0)
    k = rng.standard_normal((length, DIM))
    q = np.repeat(k[:1], length, axis=0)  # what was learned: look at the word of your own content, here the first
    at = angles(np.arange(length), THETA)
    plain = attention(q, k, k).weights[-1, 0]
    rotated = attention(rotate(q, at, "interleaved"), rotate(k, at, "interleaved"), k)
    later = angles(np.arange(length) + 1000, THETA)
    moved = np.abs(
        attention(rotate(q, later, "interleaved"), rotate(k, later, "interleaved"), k).logits - rotated.logits
    ).max()
    return Evidence(
        as_said=moved < 1e-9,  # fixed frequencies make any scores relative
        figure=f"weight of the word of the query's own content, 511 words before: {plain:.3f} without rotation, "
        f"{rotated.weights[-1, 0]:.3f} once rotated; scores are relative for any content (to within 1e-9)",
    )


def C236() -> Evidence:
    fast, slow = _fitted(4), _fitted(0, 4)
    return Evidence(
        as_said=fast.past_range > 10 * fast.in_range,  # the high-frequency waves go wild
        weaker={"some of the waves go wild past the trained length": slow.past_range > 10 * slow.in_range},
        figure=f"maximum fitted score below 2048, and from there to 4095: the {len(fast.inv_freq)} fastest waves "
        f"{fast.in_range:.2f} and {fast.past_range:.2f}, the {len(slow.inv_freq)} slowest {slow.in_range:.2f} and "
        "above 10,000",
    )


def C240() -> Evidence:
    def weight(length: int, distance: int, sharper: float = 1.0) -> float:
        """Of a match that has half of the weight among 8192 keys; all other scores are 0."""
        scores = np.zeros(length)
        scores[length - 1 - distance] = sharper * np.log(8191)
        return float(np.exp(scores[length - 1 - distance]) / np.exp(scores).sum())

    near, far, crowded = weight(8192, 1), weight(8192, 8000), weight(131_072, 1)
    grown = weight(131_072, 130_000, np.log(131_071) / np.log(8191))
    return Evidence(
        cases={
            "within one text": abs(near - far) < 1e-12,
            "in a longer text, where scores grow with the logarithm of the length": abs(grown - near) < 1e-12,
            "in a longer text, where scores stay as they are": crowded > near / 2,
        },
        figure=f"weight of the match: {near:.2f} one token back and {far:.2f} 8000 back, among 8192 keys; "
        f"{crowded:.2f} one token back among 131,072, and {grown:.2f} far back with sharper scores",
    )


def C241() -> Evidence:
    deltas, found = np.arange(100_000), []
    for dim, base, share in ((512, 1e6, 0.25), (128, 1e4, 0.25), (128, 1e4, 0.4)):
        speeds = scaling.proportional(dim, base, partial_rotary_factor=share).inv_freq
        turning = speeds[speeds > 0]
        least = min((np.cos(np.outer(some, turning)).sum(axis=1)).min() for some in np.array_split(deltas, 50))
        bound = 1 - 2 * share
        told = f"p = {share}, d = {dim}, base {base:,.0f}"
        found.append((told, (least + len(speeds) - len(turning)) / len(speeds), bound))
    return Evidence(
        as_said=all(least >= bound for _, least, bound in found),
        figure="least score within 100,000 tokens, and the bound: "
        + "; ".join(f"{told}: {least:.2f}, {bound:.2f}" for told, least, bound in found),
    )
