"""The claims that chapter 08 tells: many frequencies, decay with distance, and the base."""

from functools import cache

import numpy as np
from scipy.stats import spearmanr

from book.claims.evidence import Evidence, listed
from posenc.analysis import (
    decay,
    expected_score,
    fingerprint,
    fingerprint_difference,
    fingerprint_similarity,
    min_base,
)
from posenc.bias import alibi
from posenc.frequencies import angles, inv_freq, rotations, wavelengths
from posenc.rotary import rotate

DIM, BASE = 128, 10_000.0
THETA = inv_freq(DIM, BASE)
LATE = np.arange(1, 2049)


@cache
def _sampled_scores(correlation: float) -> dict[int, np.ndarray]:
    """Scores of 4000 random queries and keys of this correlation, by distance."""
    rng = np.random.default_rng(0)
    q, noise = rng.standard_normal((2, 4000, DIM))
    k = correlation * q + np.sqrt(1 - correlation**2) * noise
    return {m: np.sum(rotate(q, angles(m, THETA)[None], "interleaved") * k, axis=-1) for m in (0, 1, 10, 100, 1000)}


def C105() -> Evidence:
    aligned, unrelated = _sampled_scores(0.8), _sampled_scores(0.0)
    means = {m: scores.mean() / aligned[0].mean() for m, scores in aligned.items()}
    size = {m: np.sqrt(np.mean(scores**2)) for m, scores in unrelated.items()}
    falls = means[1] > means[10] > means[100] > means[1000] and means[1000] < 0.25
    return Evidence(
        cases={
            "on average, where query and key agree": falls and abs(means[100] - decay(100, THETA)) < 0.02,
            "where they have nothing in common": size[1000] < 0.9 * size[0],
        },
        figure=f"correlation 0.8: means at 1, 10, 100, 1000 over that at 0: {means[1]:.2f}, {means[10]:.2f}, "
        f"{means[100]:.2f}, {means[1000]:.2f}; unrelated: RMS {size[0]:.1f} at 0, {size[1000]:.1f} at 1000",
    )


def C106() -> Evidence:
    key = np.random.default_rng(1).standard_normal((1, DIM))
    query = rotate(key, angles([-500.0], THETA), "interleaved")
    distances = np.arange(1001)
    scores = rotate(np.repeat(query, 1001, axis=0), angles(distances, THETA), "interleaved") @ key[0]
    ratio = scores.max() / np.sum(key**2)
    # the greatest score over all queries and keys of length 1 is the greatest singular value of a rotation
    greatest = [np.linalg.norm(rotate(np.eye(DIM), angles(m, THETA)[None], "interleaved"), 2) for m in (0, 500, 5000)]
    return Evidence(
        as_said=greatest[1] < 0.99,
        weaker={"the maximum score that any query and key can reach depends on the distance": np.ptp(greatest) > 1e-9},
        figure=f"a query prepared for 500 peaks at {scores.argmax()}, at {ratio:.4f} of the key's squared length",
    )


def C107() -> Evidence:
    score = decay(np.arange(2049), THETA)
    ups = np.diff(score) > 0
    falls = score[1] > score[10] > score[100] > score[500] > score[1000] > score[2000]
    return Evidence(
        as_said=falls and 0.3 < ups.mean() < 0.7,
        figure=f"S at 1, 10, 100, 1000, 2000: {score[1]:.3f}, {score[10]:.3f}, {score[100]:.3f}, {score[1000]:.3f}, "
        f"{score[2000]:.3f}; {ups.mean():.1%} of the steps up to 2048 go up",
    )


def C108() -> Evidence:
    single, bank = np.abs(np.cos(LATE[1000:])).max(), np.abs(decay(LATE[1000:], THETA)).max()
    return Evidence(
        as_said=single < 0.5,
        weaker={"the mean of many waves of different frequencies decays": bank < 0.5},
        figure=f"maximum absolute value from 1001 to 2048: one wave {single:.3f}, mean of 64 waves {bank:.3f}",
    )


def C109() -> Evidence:
    size, kin = (
        {m: np.sqrt(np.mean(scores**2)) for m, scores in _sampled_scores(correlation).items()}
        for correlation in (0.0, 0.8)
    )
    exact = [float(expected_score(m, THETA, 0.0)[1]) ** 0.5 for m in (0, 1000)]
    return Evidence(
        cases={
            "where query and key agree": kin[1000] < 0.5 * kin[0],
            "where they have nothing in common": size[1000] < 0.9 * size[0],
        },
        figure=f"root mean square of unrelated scores at 0, 1, 100, 1000: "
        f"{size[0]:.2f}, {size[1]:.2f}, {size[100]:.2f}, {size[1000]:.2f}, exact {exact[0]:.2f} at each; of scores "
        f"with correlation 0.8: {kin[0]:.0f}, {kin[1]:.0f}, {kin[100]:.0f}, {kin[1000]:.0f}",
    )


def _mean_score(base: float) -> float:
    return float(decay(LATE, inv_freq(DIM, base)).mean())


def C111() -> Evidence:
    at_1000 = {base: float(decay(1000, inv_freq(DIM, base))) for base in (1e2, 1e4, 1e6)}
    slopes = {}
    for base in (1e4, 1e6):
        m = np.arange(20, 500)
        slopes[base] = np.polyfit(np.log(m), decay(m, inv_freq(DIM, base)), 1)[0] * np.log(base)
    close = all(abs(slope + 1) < 0.1 for slope in slopes.values())
    return Evidence(
        as_said=at_1000[1e2] < at_1000[1e4] < at_1000[1e6] and close,
        figure=f"S(1000) at base 100, 10000, 1000000: {at_1000[1e2]:.2f}, {at_1000[1e4]:.2f}, {at_1000[1e6]:.2f}; "
        f"fitted slope times ln base: {slopes[1e4]:.2f}, {slopes[1e6]:.2f}",
    )


def C112() -> Evidence:
    score = decay(LATE, inv_freq(DIM, 1.0))
    error = np.abs(score - np.cos(LATE)).max()
    return Evidence(
        as_said=error < 1e-9 and np.abs(score[-100:]).max() > 0.99,
        figure=f"largest difference between S(m) and cos m up to 2048: {error:.0e}; maximum |S| near the end: "
        f"{np.abs(score[-100:]).max():.3f}",
    )


def C113() -> Evidence:
    first_zero, trend, late = {}, {}, {}
    for base in (10.0, 100.0, BASE):
        score = decay(LATE, inv_freq(DIM, base))
        first_zero[base] = int(LATE[np.argmax(score < 0)])
        trend[base] = spearmanr(LATE[: first_zero[base]], score[: first_zero[base]]).statistic
        late[base] = abs(spearmanr(LATE[200:], score[200:]).statistic)
    return Evidence(
        cases={
            "from about 200 tokens on": max(late[10.0], late[100.0]) < 0.1,
            "before": max(trend[10.0], trend[100.0]) > -0.5,
        },
        figure=f"S first below zero: base 10 at {first_zero[10.0]}, base 100 at {first_zero[100.0]}, base 10000 at "
        f"{first_zero[BASE]}; rank correlation with distance up to there {trend[10.0]:.2f} and {trend[100.0]:.2f}, "
        f"beyond 200 {late[10.0]:.2f} and {late[100.0]:.2f} in size",
    )


def C114() -> Evidence:
    above = [_mean_score(base) for base in (500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6)]
    near = [float(decay(10, inv_freq(DIM, base))) for base in (10, 50, 100, 200, 500)]
    return Evidence(
        as_said=np.all(np.diff(above) > 0),
        figure=f"mean S up to 2048 from base 500 to 1000000: {', '.join(f'{value:z.3f}' for value in above)}; "
        f"S(10) at base 10, 50, 100, 200, 500: {listed(near, 2)}",
    )


def C116() -> Evidence:
    grid = [k * 10**p for p in (2, 3, 4) for k in range(10, 100)]
    lengths = (1024, 2048, 4096, 8192)
    least = [min_base(length, DIM, grid) for length in lengths]
    grows = all(first < second for first, second in zip(least, least[1:], strict=False))
    return Evidence(
        as_said=grows,
        figure="smallest two-figure base with S ≥ 0 up to 1024, 2048, 4096, 8192: "
        + ", ".join(f"{b:,}" for b in least),
    )


def C117() -> Evidence:
    small, large = inv_freq(DIM, 1e4), inv_freq(DIM, 1e6)
    steps = [np.linalg.norm(fingerprint(1, f) - fingerprint(0, f)) / np.sqrt(DIM / 2) for f in (small, large)]
    middle = [int(np.sum((50 * f < 2 * np.pi) & (np.cos(50 * f) < 0.9))) for f in (small, large)]
    return Evidence(
        as_said=steps[1] < 0.5 * steps[0],
        weaker={"fewer pairs are part-way round at a middle distance": middle[1] < middle[0]},
        figure=f"change of the fingerprint in one step: {steps[0]:.3f} at base 10000, {steps[1]:.3f} at 1000000; pairs "
        f"part-way round at distance 50: {middle[0]} and {middle[1]}",
    )


def C183() -> Evidence:
    moved = int(np.sum(np.abs(np.cos(THETA) - 1) > 0.01))
    score = decay([1, 5], THETA)
    return Evidence(
        as_said=moved == 0,
        weaker={"for direct neighbours, the mean over all pairs stays above 0.95": score[0] > 0.95},
        figure=f"{moved} of 64 pairs change by more than 1 % at distance 1; cosines of the fastest at 1, 2, 3: "
        f"{np.cos(1):.3f}, {np.cos(2):.3f}, {np.cos(3):.3f}; S(1) = {score[0]:.3f}, S(5) = {score[1]:.3f}",
    )


def C184() -> Evidence:
    ratio, sixtieth = THETA[1] / THETA[0], int(np.argmax(THETA <= 1 / 60))
    return Evidence(
        as_said=ratio < 0.1,
        weaker={"a pair sixty times slower than the first is on the list": 0 < sixtieth < 63},
        figure=f"frequency of pair 1 over pair 0: {ratio:.3f}; the first that is 60 times slower than "
        f"pair 0 is pair {sixtieth}",
    )


def C185() -> Evidence:
    count = rotations(500, THETA)
    return Evidence(
        as_said=count[0] > 20 and count[-1] < 1,
        figure=f"rotations at 500: fastest {count[0]:.1f}, slowest {count[-1]:.4f}; {int(np.sum(count < 1))} of 64 "
        "pairs have not completed one",
    )


def C186() -> Evidence:
    cosine = np.cos(500 * THETA)
    middle = int(np.argmin(np.abs(500 * THETA - 1)))
    return Evidence(
        as_said=cosine[-1] < 0.9,
        weaker={"its angle is unambiguous: it has not gone round once": rotations(500, THETA)[-1] < 1},
        figure=f"the slowest pair at 500: {500 * THETA[-1]:.3f} radians, cosine {cosine[-1]:.4f}; cosine of pair "
        f"{middle}: {cosine[middle]:.2f}",
    )


def C187() -> Evidence:
    turned = rotations(500, THETA) >= 1
    share = fingerprint_difference(500, 501, THETA)
    # how near each of them came to its angle at 500, more than half a rotation before
    before = np.arange(500)[:, None]
    away = np.abs(np.angle(np.exp(1j * (500 - before) * THETA)))
    near = np.where((500 - before) * THETA > np.pi, away, np.pi).min(axis=0)[turned]
    return Evidence(
        as_said=share[turned].sum() < 0.5,
        weaker={"one of them alone has had nearly the same angle at a shorter distance": near.max() < 0.1},
        figure=f"share of the difference between 500 and 501: the {turned.sum()} pairs that have rotated once "
        f"{share[turned].sum():.2%}, the fastest 8 {share[:8].sum():.1%}; at some shorter distance each of them was "
        f"within {near.max():.2f} rad of its angle at 500",
    )


def C188() -> Evidence:
    far, near = (float(fingerprint_similarity(a, a + 1, THETA)) for a in (500, 0))
    others = np.delete(np.arange(32_769), 500)
    closest = sorted(others[np.argsort(fingerprint_similarity(others, 500, THETA))[-2:]].tolist())
    return Evidence(
        as_said=far < 0.5,
        weaker={"they can be told apart, as those of 0 and 1 can": abs(far - near) < 1e-12 and closest == [499, 501]},
        figure=f"similarity of 500 and 501: {far:.4f}, of 0 and 1: {near:.4f}; nearest to 500 up to 32768: {closest}",
    )


def C189() -> Evidence:
    values = [float(fingerprint_similarity(1, 500, inv_freq(DIM, base))) for base in (1e4, 1e6)]
    return Evidence(
        as_said=max(values) < 0.5,
        figure=f"similarity of 1 and 500: {values[0]:.3f} at base 10000, {values[1]:.3f} at 1000000",
    )


def C190() -> Evidence:
    # what softmax sees of 500 and 501 is the difference of their logits
    far = np.array([500.0, 501.0])
    flat, slower = (float(-np.diff(logits)[0]) for logits in (np.exp(-far), 1 / far))
    linear = float(-np.diff(alibi(-far[None], [0.5])[0, 0])[0])
    return Evidence(
        as_said=0 < flat < slower < 1e-3,
        figure=f"difference of scores between 500 and 501: exp(−D) {flat:.0e}, 1/D {slower:.0e}; ALiBi of slope 0.5 "
        f"{linear:.1f}, a weight ratio of {np.exp(linear):.3f}, at 1 and 2 as at 500 and 501",
    )


def C191() -> Evidence:
    steep, gentle = (float(np.exp(-slope * 500)) for slope in (2.0**-1, 2.0**-8))
    reach = [np.log(1000) / slope for slope in (2.0**-1, 2.0**-8)]
    falling = float(np.exp(np.exp(-500.0) - 1))  # the weight that a score of exp(−500) leaves, over that of exp(0)
    return Evidence(
        cases={
            "for the weight under a linear bias, at some distance": bool(np.all(np.isfinite(reach))) and steep < 1e-3,
            "for a score that falls to 0 before the softmax": falling < 1e-3,
        },
        figure=f"weight over that at distance 0 falls below 1/1000 after {reach[0]:.1f} tokens at slope 1/2, after "
        f"{reach[1]:.0f} at slope 1/256; at 500 the gentle slope leaves {gentle:.2f}, a score of exp(−D) {falling:.2f}",
    )


def C192() -> Evidence:
    same = [float(fingerprint_similarity(0, m, inv_freq(DIM, 1.0))) for m in (44, 710)]
    return Evidence(
        as_said=min(same) > 0.999,
        figure=f"base 1: fingerprints of 0 and 44 agree to {same[0]:.5f}, of 0 and 710 to {same[1]:.10f}",
    )


def C199() -> Evidence:
    m = np.arange(100.0)[:, None]
    error = np.abs(np.cos((m + wavelengths(THETA)) * THETA) - np.cos(m * THETA)).max()
    again = float(decay(np.arange(60, 65_537), THETA).max())
    return Evidence(
        as_said=error < 1e-9,
        figure=f"each pair repeats after its wavelength to {error:.0e}; all together, no distance from 60 to 65536 "
        f"comes closer to 0 than a similarity of {again:.3f}",
    )


def C200() -> Evidence:
    longest = 32_768
    prints = fingerprint(np.arange(longest + 1), THETA).astype(np.float32)
    asked = np.random.default_rng(0).integers(0, longest + 1, 500)
    right = int(np.sum((prints[asked] @ prints.T).argmax(axis=-1) == asked))
    return Evidence(figure=f"nearest fingerprint in float32: {right} of {len(asked)} distances up to {longest} found")
