"""The claims that chapters 03 and 04 tell about sines and cosines: their frequencies, uniqueness and shifts."""

from functools import cache

import numpy as np

from book.claims.evidence import Evidence, below
from posenc.absolute import binary, dyadic, harmonic, integer, normalised, shift_matrix, sinusoidal
from posenc.analysis import decay, fingerprint, monotonicity_violations, translation_residual
from posenc.frequencies import angles, inv_freq, rotations, wavelengths
from posenc.rotary import rotation_matrix

DIM, WIDE, BASE = 128, 512, 10_000.0
THETA, WIDE_THETA = inv_freq(DIM, BASE), inv_freq(WIDE, BASE)
TURN = 2 * np.pi


@cache
def _table(length: int, dim: int) -> np.ndarray:
    return sinusoidal(np.arange(length), dim, BASE)


def _column_speeds(dim: int) -> np.ndarray:
    """Radians per token of every column, read off its one value at position 1, where no angle is past π/2."""
    row = sinusoidal(1, dim, BASE)
    return np.stack([np.arcsin(row[0::2]), np.arccos(row[1::2])], axis=-1).reshape(dim)


def C050() -> Evidence:
    length = wavelengths(THETA)
    number = TURN * length  # 2πλ, as printed; the wave number of pair i is θ_i
    return Evidence(
        as_said=np.allclose(number, THETA) and np.allclose(length, TURN),
        weaker={
            "one of the two formulas holds, or the first at least falls as waves get longer": np.isclose(
                number, THETA
            ).any()
            or np.allclose(length, TURN)
            or np.all(np.diff(number) < 0)
        },
        figure=f"width 128, last pair: wavelength {length[-1]:,.0f} tokens, wave number {THETA[-1]:.3e} radians a "
        f"token; 2πλ would be {number[-1]:,.0f}",
    )


def C051() -> Evidence:
    # how far each pair's point is from where it started, after this share of 2π/θ_i tokens
    share = np.arange(1, 11) / 10
    blocks = np.stack([rotation_matrix(angles(share * TURN / theta, [theta])) for theta in THETA])
    away = np.linalg.norm(blocks - np.eye(2), axis=(-2, -1))  # (64, 10)
    back, earlier = away[:, -1].max(), away[:, :-1].min()
    same = np.allclose(TURN / THETA, wavelengths(THETA))
    return Evidence(
        as_said=back < 1e-9 and earlier > 0.5 and same,
        figure=f"after 2π/θ tokens all 64 pairs are back to {below(back)}; at the tenths before, never nearer than "
        f"{earlier:.2f}",
    )


def C052() -> Evidence:
    printed = TURN * BASE ** (2 * np.arange(1, WIDE // 2 + 1) / WIDE)  # k = 1 … d/2
    hertz, length = rotations(1, WIDE_THETA), wavelengths(WIDE_THETA)
    return Evidence(
        as_said=np.allclose(printed, WIDE_THETA) or np.allclose(printed, hertz),
        weaker={"it is the list of wavelengths under a wrong name": np.allclose(printed, length)},
        figure=f"width 512, k = 1: printed {printed[0]:.3f}, which is the wavelength; radians per token "
        f"{WIDE_THETA[1]:.5f}, rotations per token {hertz[1]:.5f}; k = 256: {printed[-1]:,.0f}, longest wavelength "
        f"{length[-1]:,.0f}",
    )


def C053() -> Evidence:
    pairs = _table(1, WIDE).shape[-1] // 2
    beyond = BASE ** (-2 * np.arange(pairs, WIDE + 1) / WIDE)  # what i = 256 … 512 would add
    found = np.isclose(beyond[:, None], WIDE_THETA, rtol=1e-6, atol=0).any()
    return Evidence(
        as_said=pairs == WIDE + 1,
        weaker={"some $i$ from $d/2$ on has the frequency of a pair": found},
        figure=f"width 512: {pairs} values of i; the last, {pairs - 1}, rotates at {WIDE_THETA[-1]:.4e}, and i = 512 "
        f"would rotate at {beyond[-1]:.0e}, slower than any column",
    )


def C054() -> Evidence:
    speeds = _column_speeds(DIM)
    different = len(np.unique(speeds.round(8)))
    in_pairs = np.allclose(speeds[0::2], THETA) and np.allclose(speeds[1::2], THETA)
    return Evidence(
        as_said=np.allclose(speeds, BASE ** (-2 * np.arange(DIM) / DIM), rtol=1e-6, atol=0),
        weaker={"each $i$ stands for two neighbouring dimensions": in_pairs},
        figure=f"width 128: {different} frequencies on 128 dimensions; dimension 64 rotates at {speeds[64]:.4f}, where "
        f"i = 64 in the formula gives {BASE**-1.0:.4f}",
    )


# One fact behind C055, C056 and C193: the list stops one step short of 1/base. Whether it reaches the end that is said
# of it is asked of all three alike, to one part in a hundred.
USUAL, WIDEST = (4, 64, 128, 512, 768), 2**16


def _reaches(dim: int) -> bool:
    """Whether the last frequency of so wide a code is 1/base, to one part in a hundred."""
    return bool(abs(inv_freq(dim, BASE)[-1] * BASE - 1) < 0.01)


def C055() -> Evidence:
    longest = {dim: float(wavelengths(inv_freq(dim, BASE))[-1]) for dim in (*USUAL, WIDEST)}
    end = BASE * TURN
    return Evidence(
        cases={"in a very wide encoding": _reaches(WIDEST), "at the usual widths": any(_reaches(dim) for dim in USUAL)},
        figure=f"longest wavelength for width 4, 64, 128, 512, 768: "
        f"{', '.join(f'{longest[dim]:,.0f}' for dim in USUAL)}, for 65,536 {longest[WIDEST]:,.0f}; "
        f"10000·2π = {end:,.0f}",
    )


def C056() -> Evidence:
    last = {dim: float(inv_freq(dim, BASE)[-1]) for dim in (4, DIM, WIDE, WIDEST)}
    other = np.arctan2(*sinusoidal(1, WIDE, BASE, "interleaved", denominators="tensor2tensor")[-2:])
    return Evidence(
        cases={"in a very wide encoding": _reaches(WIDEST), "at the usual widths": any(_reaches(dim) for dim in USUAL)},
        figure=f"last frequency for width 4, 128, 512, 65,536: {last[4]:.4e}, {last[DIM]:.4e}, {last[WIDE]:.4e}, "
        f"{last[WIDEST]:.4e}; tensor2tensor's at 512: {other:.4e}",
    )


def C193() -> Evidence:
    ratios = THETA[1:] / THETA[:-1]
    geometric = np.ptp(ratios) < 1e-12
    short = round(float(np.log(THETA[-1] * BASE) / -np.log(ratios[0])), 9)  # of 1/base, in steps of the list
    return Evidence(
        as_said=geometric and THETA[0] == 1 and short == 1 and _reaches(WIDEST),
        figure=f"first {THETA[0]:.0f}, each {ratios[0]:.4f} times the one before, last {THETA[-1]:.4e}: {short:.0f} "
        f"step short of 1/base, {1 / BASE:.0e}",
    )


def C057() -> Evidence:
    def printed(d: int) -> np.ndarray:
        return TURN * BASE ** (np.arange(d) / d)  # 2π, 2Bπ, …, 2B^(d−1)π

    length, planes = wavelengths(WIDE_THETA), WIDE // 2
    by_width, by_planes = printed(WIDE), printed(planes)

    def fits(table: np.ndarray) -> bool:
        return len(table) == len(length) and np.allclose(table, length, rtol=1e-12)

    error = np.abs(by_planes / length - 1).max()
    return Evidence(
        cases={
            "where $d$ counts the planes": fits(by_planes),
            "where $d$ is the width of the encoding": fits(by_width),
        },
        figure=f"width 512, {len(length)} planes, last period {length[-1]:,.0f}; the table with d = 512 has "
        f"{len(by_width)} planes and ends at {by_width[-1]:,.0f}, with d = 256 it ends at {by_planes[-1]:,.0f}, "
        f"off by {below(error)} anywhere",
    )


def C058() -> Evidence:
    period = TURN / _column_speeds(DIM)
    printed = TURN * BASE ** (np.arange(DIM) / DIM)
    right = np.isclose(period, printed, rtol=1e-6)
    return Evidence(
        cases={"for even $i$": right[0::2].all(), "for odd $i$": right[1::2].all()},
        figure=f"width 128: right for {right[0::2].sum()} of 64 even and {right[1::2].sum()} of 64 odd dimensions; "
        f"dimension 1 has the period {period[1]:.3f}, printed {printed[1]:.3f}",
    )


def C059() -> Evidence:
    index = np.arange(WIDE // 2)
    entries = np.allclose(BASE ** (-index / WIDE), WIDE_THETA)
    at_columns = np.allclose(BASE ** (-2 * index / WIDE), WIDE_THETA)  # i = 0, 2, 4, …, as in the code
    factors = BASE ** (2 * index / WIDE)
    return Evidence(
        as_said=WIDE_THETA.shape == (1, WIDE) and entries and factors.max() <= 1,
        weaker={
            "it has 256 entries for the width 512, as printed where $i$ is an even column": WIDE_THETA.size == 256
            and at_columns
        },
        figure=f"width 512: {WIDE_THETA.size} entries; entry 255 is {WIDE_THETA[-1]:.3e}, 10000^(−255/512) would be "
        f"{BASE ** (-255 / WIDE):.3e}; 10000^(2i/512) runs from {factors[0]:.0f} to {factors[-1]:,.0f}",
    )


def C060() -> Evidence:
    # each at 64 positions and in a text twice as long
    codes = {
        "counting": lambda n: integer(np.arange(n), 16),
        "share of the length": lambda n: normalised(np.arange(n), n, 16),
        "binary": lambda n: binary(np.arange(n), 16),
        "sin(t/i)": lambda n: harmonic(np.arange(n), 16),
        "sin(t/2^i)": lambda n: dyadic(np.arange(n), 16),
        "sinusoidal": lambda n: sinusoidal(np.arange(n), 16, BASE),
    }
    meets_all, bounded, spread, order = [], {}, {}, {}
    for name, code in codes.items():
        bounded[name] = np.abs(code(512)).max() <= 1
        same = np.allclose(code(64), code(128)[:64])
        spread[name], order[name] = float(translation_residual(code(64))), monotonicity_violations(code(64))
        if bounded[name] and same and spread[name] < 1e-9:
            meets_all.append(name)
    waves = ("binary", "sin(t/i)", "sin(t/2^i)")
    return Evidence(
        as_said=meets_all == ["sinusoidal"],
        figure="spread of the distance at one offset: "
        + ", ".join(f"{name} {spread[name]:.3f}" for name in waves)
        + f", sinusoidal {below(spread['sinusoidal'])}; triples out of order: counting {order['counting']:.0%}, "
        + ", ".join(f"{name} {order[name]:.0%}" for name in (*waves, "sinusoidal")),
    )


def C061() -> Evidence:
    at = np.arange(1000)
    code, waves = harmonic(np.arange(1005), 64), sinusoidal(np.arange(1005), 64, BASE)

    def nearly_repeated(rows: np.ndarray) -> int:
        """Pairs of positions that agree to 0.01 in every dimension."""
        return int(sum(np.all(np.abs(rows[i + 1 :] - rows[i]) < 0.01, axis=-1).sum() for i in range(len(rows))))

    one, many = nearly_repeated(np.sin(at)[:, None]), nearly_repeated(code[:1000])
    varies, constant = (np.ptp(np.sum(c[:-5] * c[5:], axis=-1)) for c in (code, waves))
    return Evidence(
        as_said=many < 0.01 * one,
        figure=f"of 1000 positions, {one:,} pairs agree to 0.01 in sin t, {many} in sin(t/1) to sin(t/64); but the "
        f"product of two such encodings 5 apart varies by {varies:.1f} over the positions, variation for sinusoidal "
        f"ones {below(constant, 1e-10)}",
    )


def C062() -> Evidence:
    eighths = np.arange(1, 33) * np.pi / 8
    moved = np.linalg.norm(sinusoidal(eighths, 2) - sinusoidal(0.0, 2), axis=-1)  # one pair, of frequency 1
    first = eighths[np.argmax(moved < 1e-9)]
    return Evidence(
        as_said=np.isclose(first, 2 * TURN),
        weaker={"the period of the pair is longer than that of its sine": first > TURN + 0.01},
        figure=f"of the multiples of π/8, the first that brings (sin x, cos x) back is {first / np.pi:.0f}π, to "
        f"{below(moved[np.argmax(moved < 1e-9)])}",
    )


def C063() -> Evidence:
    # arcsin(1/2) shows no π and is π/6
    hidden = fingerprint([0.0, 12.0], np.arcsin([0.5]))
    repeats = np.linalg.norm(hidden[1] - hidden[0])
    # how near each pair of the usual list comes to where it started
    back = np.abs(2 * np.sin(angles(np.arange(1, 20_001), THETA) / 2)).min(axis=-1)
    nearest = int(np.argmin(back)) + 1
    return Evidence(
        cases={
            "for the usual list, where $\\theta/2\\pi$ is irrational": back.min() > 1e-9,
            "for $\\theta = \\arcsin(1/2)$": repeats > 1e-9,
        },
        figure=f"θ = arcsin(1/2): positions 0 and 12 agree to {below(repeats)}; θ = 10000^(−2i/128): up to "
        f"20000 no pair comes nearer to its start than {back.min():.1e}, at {nearest}",
    )


def _bfloat16(values: np.ndarray) -> np.ndarray:
    """Rounded to the 16 upper bits of a float32, to the nearest and to even; −0 becomes 0."""
    bits = (values.astype(np.float32) + np.float32(0)).view(np.uint32)
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


def _distinct(values: np.ndarray) -> int:
    return len(np.unique(values))


def C064() -> Evidence:
    table = _table(5000, DIM)
    exact = [_distinct(table[:, i]) for i in range(DIM)]
    single, half, brain = table.astype(np.float32), table.astype(np.float16), _bfloat16(table)
    rows = len({row.tobytes() for row in brain})
    gap = abs(table[11, 0] - table[344, 0])
    return Evidence(
        as_said=min(exact) == 5000,
        figure=f"different values at 5000 positions: float64 {min(exact)} in every dimension; dimension 1 in float32 "
        f"{_distinct(single[:, 1])}; dimension 0 in float16 {_distinct(half[:, 0])}, bfloat16 {_distinct(brain[:, 0])}"
        f"; last dimension in bfloat16 {_distinct(brain[:, -1])}; whole rows in bfloat16 {rows}; 11 and 344 differ by "
        f"{gap:.2e} in dimension 0",
    )


def C065() -> Evidence:
    table = _table(513, WIDE)
    distinct = [_distinct(row) for row in table]
    return Evidence(
        cases={"from position 1 on": min(distinct[1:]) == WIDE, "at position 0": distinct[0] == WIDE},
        figure=f"different values in a row of 512: {distinct[0]} at position 0, no fewer than {min(distinct[1:])} at "
        f"each of 1 to 512; rounded to float32, {_distinct(table[1].astype(np.float32))} at position 1",
    )


def C066() -> Evidence:
    table, turned = _table(512, WIDE), angles(np.arange(512), WIDE_THETA)
    padded = np.where(np.arange(512)[:, None] > 0, table, 0.0)  # the first row is that of padding

    def error(table: np.ndarray) -> np.ndarray:
        return np.maximum(np.abs(table[:, 0::2] - np.sin(turned)), np.abs(table[:, 1::2] - np.cos(turned))).max(axis=-1)

    def excepted(error: np.ndarray) -> bool:
        return bool(error[0] > 1e-9 > error[1:].max())

    formula, zeroed = error(table), error(padded)
    return Evidence(
        cases={
            "where the first row belongs to padding and is set to zero": excepted(zeroed),
            "by the formula, for position 0": excepted(formula),
        },
        figure=f"difference from sine and cosine: row 0 {below(formula[0])}, set to zero {zeroed[0]:.0f}, the "
        f"others {below(formula[1:].max())}",
    )


def C067() -> Evidence:
    table = _table(5000, WIDE)
    step = np.abs(table[1:] - table[:-1]).max(axis=0)
    far = np.abs(table[100:] - table[:-100]).max(axis=0)
    rows = [np.linalg.norm(table[k:] - table[:-k], axis=-1) for k in (1, 100)]
    return Evidence(
        as_said=step.max() < 0.1 and far.min() > 0.1,
        weaker={"whole rows differ less between neighbours than 100 positions apart": rows[0].max() < rows[1].min()},
        figure=f"rows one step and 100 steps apart differ by {rows[0].max():.2f} and {rows[1].min():.2f}; one step "
        f"changes dimension 0 by up to {step[0]:.4f}; 100 steps change the last pair by at most {far[-2:].max():.4f}; "
        f"0 and 44 differ in dimension 0 by {abs(table[44, 0] - table[0, 0]):.3f}, 0 and 710 by "
        f"{abs(table[710, 0] - table[0, 0]):.0e}",
    )


def C068() -> Evidence:
    table = _table(512, WIDE)
    first, second = (np.abs(np.diff(table, n, axis=0)).max(axis=0) for n in (1, 2))
    pair = np.maximum(second[0::2], second[1::2])
    return Evidence(
        as_said=second.max() < 1e-9,
        weaker={"it holds to a tenth of a step in every dimension": np.all(second < 0.1 * first)},
        figure=f"largest second difference in pair 0, 64, 128, 255 of 256: {pair[0]:.3f}, {pair[64]:.1e}, "
        f"{pair[128]:.1e}, {pair[255]:.1e}",
    )


def _first_return(columns: list[int], pair: int) -> int:
    """Twelfths of 2π/θ after which these columns of a pair, 0 the sine and 1 the cosine, repeat at every position."""
    t = np.linspace(0, wavelengths(THETA)[pair], 50)
    now = sinusoidal(t, DIM, BASE)[:, 2 * pair + np.array(columns)]
    for twelfths in range(1, 49):
        later = sinusoidal(t + twelfths / 12 * TURN / THETA[pair], DIM, BASE)[:, 2 * pair + np.array(columns)]
        if np.abs(later - now).max() < 1e-9:
            return twelfths
    return 0


def C069() -> Evidence:
    pairs = (0, 1, 16, 32, 63)
    alone, both = ([_first_return(columns, pair) for pair in pairs] for columns in ([0], [0, 1]))
    longer = [second > first for first, second in zip(alone, both, strict=True)]
    return Evidence(
        as_said=all(longer),
        weaker={"it does so for one pair at least": any(longer)},
        figure="first return in units of 2π/θ, pairs 0, 1, 16, 32, 63: sine alone "
        + ", ".join(f"{twelfths / 12:.2f}" for twelfths in alone)
        + "; sine and cosine "
        + ", ".join(f"{twelfths / 12:.2f}" for twelfths in both),
    )


def C070() -> Evidence:
    code = sinusoidal(np.arange(1024), DIM, BASE, "half-split")
    left = {}
    for name, features in (("sines", code[:, : DIM // 2]), ("both", code)):
        for k in (1, 10):
            before, after = features[:-k], features[k:]
            best = np.linalg.lstsq(before, after, rcond=None)[0]
            left[name, k] = float(np.sqrt(np.mean((before @ best - after) ** 2)))
    return Evidence(
        as_said=left["both", 1] < 1e-9 and left["both", 10] < 1e-9 and min(left["sines", 1], left["sines", 10]) > 0.01,
        figure=f"what the best linear map leaves over (RMS): sines alone {left['sines', 1]:.3f} for one step and "
        f"{left['sines', 10]:.3f} for ten, sines and cosines {below(max(left['both', 1], left['both', 10]), 1e-10)}",
    )


def C071() -> Evidence:
    table = _table(5000, DIM)
    shift = {k: shift_matrix(k, DIM, BASE) for k in (7, 10, 17, 3, 100)}
    moved = max(np.abs(table[:-k] @ shift[k].T - table[k:]).max() for k in (7, 100))
    rotary = np.abs(shift[7] - rotation_matrix(angles(7.0, THETA), "interleaved").T).max()
    group = max(np.abs(shift[7] @ shift[10] - shift[17]).max(), np.abs(shift[7].T @ shift[10] - shift[3]).max())
    return Evidence(
        as_said=max(moved, rotary, group) < 1e-9,
        figure=f"one matrix for 7 tokens and one for 100, at 5000 positions: error {below(moved, 1e-10)}; from the "
        f"transposed rotary matrix {below(rotary)}; R₇R₁₀ − R₁₇ and R₇ᵀR₁₀ − R₃ {below(group)}",
    )


def C072() -> Evidence:
    base = 1000.0  # as printed; nothing here depends on it
    turned = angles(np.arange(1, 101), inv_freq(DIM, base))
    sin, cos = np.split(sinusoidal(np.arange(1, 101), DIM, base, "half-split"), 2, axis=-1)  # PE_k, k = 1 … 100
    sin_t, cos_t = np.split(sinusoidal(37, DIM, base, "half-split"), 2)
    built = np.concatenate([sin_t * cos + cos_t * sin, cos_t * cos - sin_t * sin], axis=-1)  # PE_{37+k} by products
    product = np.abs(built - sinusoidal(37 + np.arange(1, 101), DIM, base, "half-split")).max()
    return Evidence(
        as_said=np.allclose(turned, sin) and np.allclose(turned, cos),
        weaker={"the sine and the cosine of that angle are $PE_k$, and the products that follow hold": product < 1e-9},
        figure=f"k = 10, pair 0: α = {turned[9, 0]:.0f}, PE = ({sin[9, 0]:.3f}, {cos[9, 0]:.3f}); the product formulas "
        f"built on PE hold to {below(product)}",
    )


def C073() -> Evidence:
    x, y = np.random.default_rng(0).uniform(-10, 10, (2, 1000))
    first, second = sinusoidal(x, 2), sinusoidal(y, 2)  # (sin x, cos x), (sin y, cos y)
    error = np.abs(np.cos(x - y) - np.sum(first * second, axis=-1)).max()
    wrong = np.abs(np.cos(x + y) - np.sum(first * second, axis=-1)).max()
    return Evidence(
        as_said=error < 1e-12,
        figure=f"1000 random pairs of angles: error {below(error)}; with cos(x + y) instead {wrong:.2f}",
    )


def C074() -> Evidence:
    sin, cos = sinusoidal(np.arange(101), 2).T  # one pair, frequency 1: a step is one radian
    # z of the cross product of a point and the next one: negative where the turn is clockwise
    sin_cos = sin[:-1] * cos[1:] - cos[:-1] * sin[1:]
    cos_sin = cos[:-1] * sin[1:] - sin[:-1] * cos[1:]
    return Evidence(
        as_said=sin_cos.max() < 0,
        figure=f"cross product of a point and the next: {sin_cos.mean():.4f} in the plane (sin, cos), "
        f"{cos_sin.mean():+.4f} in (cos, sin)",
    )


def _seen(length: int, dim: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each pair, whether its cosine and its sine have been negative, and whether no angle was left out."""
    theta = inv_freq(dim, BASE)
    code = _table(length, dim)
    turned = np.sort(angles(np.arange(length), theta) % TURN, axis=0)
    gaps = np.diff(turned, axis=0, append=turned[:1] + TURN).max(axis=0)
    # no gap is wider than a pair's own step: the pair has been all the way round
    return code[:, 1::2].min(axis=0) < 0, code[:, 0::2].min(axis=0) < 0, gaps <= theta * (1 + 1e-9)


def C075() -> Evidence:
    counts, agree = {}, []
    for length, dim in ((512, 128), (2048, 128), (4096, 128), (512, 512)):
        theta = inv_freq(dim, BASE)
        reached = [(length - 1) * theta > node for node in (np.pi / 2, np.pi)] + [rotations(length, theta) >= 1]
        agree += [np.array_equal(seen, past) for seen, past in zip(_seen(length, dim), reached, strict=True)]
        counts[length, dim] = ", ".join(str(int(past.sum())) for past in reached)
    return Evidence(
        as_said=all(agree),
        figure="pairs past π/2, π, 2π: width 128, 64 pairs, length 512: {}; 2048: {}; 4096: {}; width 512, 256 pairs, "
        "length 512: {}".format(*counts.values()),
    )


def C076() -> Evidence:
    length = 512
    fast, slow = (WIDE_THETA[part] for part in (WIDE_THETA > np.pi, WIDE_THETA < np.pi / length))  # noqa: SIM300
    falls, whole = (np.mean(np.diff(decay(np.arange(length), part)) < 0) for part in (slow, WIDE_THETA))
    drawn = np.random.default_rng(0).uniform(np.pi, 10 * np.pi, 100)  # what no pair of the usual list has
    trend = np.corrcoef(np.arange(1, length), decay(np.arange(1, length), drawn))[0, 1]
    level = abs(trend) < 0.1
    return Evidence(
        cases={
            "for a list that has such frequencies": level and falls == 1,
            "for the usual list": fast.size > 0 and falls == 1,
        },
        figure=f"width 512, length 512: {fast.size} of 256 frequencies above π (the fastest is {WIDE_THETA[0]:.0f}), "
        f"{slow.size} below π/512; the sum of those falls at {falls:.0%} of the steps, the sum of all at {whole:.0%}; "
        f"a hundred frequencies drawn above π have a sum whose correlation with distance is {trend:.2f}",
    )


def C077() -> Evidence:
    table = _table(5000, DIM)
    spread = max(np.ptp(np.sum(table[:-k] * table[k:], axis=-1)) for k in (1, 10, 100, 1000))
    middle = table[2500]
    forward, back = table[2501:] @ middle, table[2499:0:-1] @ middle
    uneven = np.abs(forward - back).max()
    return Evidence(
        as_said=max(spread, uneven) < 1e-9,
        figure=f"width 128, 5000 positions: variation of the product at offsets 1, 10, 100, 1000 "
        f"{below(spread, 1e-10)}; difference between as far ahead and as far behind {below(uneven, 1e-10)}",
    )
