"""The claims that chapters 04, 12 and 13 tell about added codes: their decay, their base, the sum, the projections."""

import numpy as np

from book.claims.evidence import Evidence, below, listed
from posenc.absolute import DENOMINATORS, learned, shift_matrix, sinusoidal
from posenc.analysis import (
    decay,
    defined_fraction,
    four_terms,
    kernel_asymmetry,
    kernel_residual,
    offset_kernel,
    pairwise_weight,
    unseen_angles,
)
from posenc.attention import attention
from posenc.frequencies import angles, inv_freq, rotations
from posenc.rotary import layout_permutation, rotate

DIM, WIDE, BASE = 128, 512, 10_000.0
THETA, WIDE_THETA = inv_freq(DIM, BASE), inv_freq(WIDE, BASE)
LENGTH, FAR = 512, 65_536
CODES = sinusoidal(np.arange(LENGTH), DIM, BASE)
AT, OFFSETS = np.arange(100, 412, 8), np.arange(-100, 101)  # of queries, and of keys seen from them


def _random(seed: int, dim: int = DIM) -> np.ndarray:
    """A matrix that keeps lengths on the average, as projections are initialised."""
    return np.random.default_rng(seed).standard_normal((dim, dim)) / np.sqrt(dim)


def _blocks(seed: int) -> np.ndarray:
    """Blocks aI + bJ on the pairs, a and b random: what commutes with every shift."""
    return pairwise_weight(*np.random.default_rng(seed).standard_normal((2, DIM // 2)))


def _kernel(between: np.ndarray) -> np.ndarray:
    """p_tᵀ·W·p_{t+D} for t of AT and D from −100 to 100, shape (positions, offsets)."""
    return offset_kernel(OFFSETS, AT, DIM, BASE, between)


def _asymmetry(between: np.ndarray) -> float:
    return float(kernel_asymmetry(_kernel(between)))


def _drift(between: np.ndarray) -> float:
    return float(kernel_residual(_kernel(between)))


def _nearness(between: np.ndarray) -> float:
    """Mean correlation of the product with nearness, for keys to the right."""
    right = OFFSETS > 0
    return float(np.mean([np.corrcoef(-OFFSETS[right], row[right])[0, 1] for row in _kernel(between)]))


def C078() -> Evidence:
    shift = shift_matrix(1, DIM, BASE)
    # a head with W_Qᵀ·W_K = the shift by one
    weights = attention(CODES @ shift, CODES, CODES, scale=1.0).weights
    before = weights[np.arange(1, LENGTH), np.arange(LENGTH - 1)]
    sees = _asymmetry(shift) > 0.01, _asymmetry(_blocks(0)) > 0.01
    return Evidence(
        as_said=not any(sees),
        weaker={"without projections they do not tell it": _asymmetry(np.eye(DIM)) < 1e-9},
        figure=f"asymmetry (standard deviations) {below(_asymmetry(np.eye(DIM)), 1e-9)} with W = I, "
        f"{_asymmetry(shift):.2f} with W = shift by one (drift with the place {below(_drift(shift), 1e-9)}); that "
        f"head gives the word before {before.min():.2f} or more of its weight, at each of {len(before)} positions",
    )


def C079() -> Evidence:
    random = [_random(seed) for seed in range(3)]
    near = [_nearness(between) for between in random]
    drift = [_drift(between) for between in random]
    mixed = 0.9 * np.eye(DIM) + 0.1 * random[0]
    shift = shift_matrix(1, DIM, BASE)
    return Evidence(
        cases={
            "for random matrices": np.abs(near).max() < 0.5 and min(drift) > 0.5,
            "for one near the identity": _nearness(mixed) < 0.5,
            "for a shift by one token": _nearness(shift) < 0.5,
        },
        figure=f"correlation with nearness: W = I {_nearness(np.eye(DIM)):.2f}, three random W "
        f"{listed(near, 2)} (drift with the place {min(drift):.2f} or more), "
        f"0.9·I + 0.1·random {_nearness(mixed):.2f}, shift by one {_nearness(shift):.2f}",
    )


def C080() -> Evidence:
    plain, random, blocks = np.eye(DIM), _random(0), _blocks(0)
    asymmetry = {name: _asymmetry(between) for name, between in (("I", plain), ("R", random), ("B", blocks))}
    return Evidence(
        as_said=min(_drift(random), _drift(blocks)) > 0.5 and max(asymmetry["R"], asymmetry["B"]) < 0.01,
        weaker={
            "for a random matrix, the product depends on the place and is not monotonic": _drift(random) > 0.5
            and abs(_nearness(random)) < 0.5
        },
        figure=f"W = I, random, blocks aI + bJ: asymmetry (standard deviations) {below(asymmetry['I'], 1e-9)}, "
        f"{asymmetry['R']:.2f}, {asymmetry['B']:.2f}; drift with the place {below(_drift(plain), 1e-9)}, "
        f"{_drift(random):.2f}, {below(_drift(blocks), 1e-9)}",
    )


def C081() -> Evidence:
    codes = CODES[:192]
    words = np.random.default_rng(3).standard_normal(codes.shape)
    w_q, w_k, none = _random(1), _random(2), np.eye(DIM)  # (head_dim, dim), as torch keeps them
    logits = attention((words + codes) @ w_q.T, (words + codes) @ w_k.T, codes, scale=1.0).logits
    error = np.abs(sum(four_terms(words, words, codes, codes, w_q, w_k)) - logits).max()

    def last_term(left: np.ndarray, right: np.ndarray) -> list[float]:
        """At a distance of 7, and 50 tokens further on."""
        positions = four_terms(words, words, codes, codes, left, right)[3]
        return [float(positions[110, 103]), float(positions[160, 153])]

    plain, projected = last_term(none, none), last_term(w_q, w_k)
    return Evidence(
        as_said=error < 1e-9 and abs(plain[0] - plain[1]) < 1e-9 < abs(projected[0] - projected[1]),
        figure=f"sum of the four terms minus the score: {below(error, 1e-9)}; the last term at distance 7, and 50 "
        f"tokens on: {plain[0]:.3f} and {plain[1]:.3f} without projections, {projected[0]:.3f} and {projected[1]:.3f} "
        "with random ones",
    )


def C082() -> Evidence:
    first_rise = {d: int(np.argmax(np.diff(decay(np.arange(100), inv_freq(d, BASE))) > 0)) for d in (32, 64, 128, 512)}
    near = decay(np.arange(1, 201), THETA)
    wrong = np.triu(near[None] > near[:, None], 1).sum() / (200 * 199 / 2)  # the farther of two scores more
    score = decay([1, 10, 100, 1000], THETA)
    word = np.random.default_rng(0).standard_normal(DIM)
    full = np.sum((word + CODES[:-10]) * (word + CODES[10:]), axis=-1)
    return Evidence(
        as_said=wrong == 0 and np.ptp(full) < 1e-9,
        weaker={"the encodings' own product falls from distance 1 to 10, 100 and 1000": np.all(np.diff(score) < 0)},
        figure=f"first rise after distance {', '.join(f'{k} (width {d})' for d, k in first_rise.items())}; the farther "
        f"of two distances up to 200 scores more in {wrong:.1%}; with the word added, the product at distance 10 "
        f"varies with the place by a standard deviation of {full.std():.1f}",
    )


def C083() -> Evidence:
    # local: maxima one turn of the fastest pair apart, on the smooth curve of a wide code
    wide = decay(np.arange(201), WIDE_THETA)
    maxima = 1 + np.flatnonzero((wide[1:-1] > wide[:-2]) & (wide[1:-1] > wide[2:]))
    spacing = np.diff(maxima).mean()
    # band: beyond 2000, as wide in a late stretch as in an early one
    score = decay(np.arange(FAR), THETA)
    bands = [float(score[first:last].std()) for first, last in ((2000, 10_000), (30_000, 60_000))]
    return Evidence(
        as_said=abs(spacing - 2 * np.pi) < 0.2 and min(bands) > 0.5 * max(bands) and max(bands) < 0.2,
        figure=f"width 512: maxima at {', '.join(str(m) for m in maxima[:4])}, …, {spacing:.2f} tokens apart in the "
        f"mean; width 128: standard deviation {bands[0]:.3f} from 2000 to 10000, {bands[1]:.3f} from 30000 to 60000",
    )


def C084() -> Evidence:
    score = decay(np.arange(2**17), WIDE_THETA)
    octaves = np.array([score[2**j : 2 ** (j + 1)].mean() for j in range(17)])
    rises = (np.diff(score[:8192]) > 0).mean()

    def falling(first: int, last: int) -> bool:
        return bool(np.all(np.diff(octaves[first:last]) < 0))

    return Evidence(
        cases={
            "on the whole, up to a distance of about the base": falling(0, 13) and rises > 0,
            "on the whole, far beyond it": falling(13, 17),
        },
        figure=f"width 512: S at 1, 100, 1000: {score[1]:.3f}, {score[100]:.3f}, {score[1000]:.3f}; {rises:.0%} of the "
        f"steps up to 8191 rise; means over octaves fall from {octaves[0]:.2f} at 1 to {octaves[12]:.3f} from 4096 "
        f"on, and are {listed(octaves[13:])} in the four that follow",
    )


def C085() -> Evidence:
    bases = (1e2, 1e4, 1e6, 1e8)
    codes = [sinusoidal([0, 1], WIDE, base) for base in bases]
    similar = [float(code[0] @ code[1]) / (WIDE / 2) for code in codes]
    # α as the divisor of every dimension: all pairs have the frequency 1/α
    divided = [float(decay(1, np.full(WIDE // 2, 1 / alpha))) for alpha in bases]
    return Evidence(
        cases={
            "where α divides the position in every dimension": divided[-1] > 0.999,
            "where α is the base": similar[-1] > 0.999,
        },
        figure=f"similarity of neighbours, width 512, α = 100, 10⁴, 10⁶, 10⁸: as the divisor {listed(divided, 6)}; as "
        f"the base {listed(similar)}",
    )


def C086() -> Evidence:
    after, first = np.arange(20, 600_001), {}
    for base in (BASE, 1e5):
        theta = inv_freq(16, base)
        alike = after[decay(after, theta) >= decay(1, theta)]  # as near as neighbours are
        first[base] = int(alike[0]) if len(alike) else 0
    near = decay(1, WIDE_THETA)
    far = [decay(np.arange(20, 32_769), inv_freq(WIDE, base)) for base in (1.0, BASE)]
    return Evidence(
        cases={
            "in an encoding of width 512": far[1].max() < near < far[0].max(),
            "in one of width 16": not any(first.values()),
        },
        figure=f"width 512, from position 20 to 32768: similarity to position 0 at most {far[1].max():.2f} with base "
        f"10000 (neighbours {near:.2f}), {far[0][24]:.4f} at 44 with base 1; width 16: as like as a neighbour at "
        f"{first[BASE]:,} with base 10000, at {first[1e5]:,} with base 100000",
    )


def C087() -> Evidence:
    far, near = decay(np.arange(1000, FAR), THETA), decay([1, 10, 100], THETA)
    unseen = unseen_angles(THETA, LENGTH, 2 * LENGTH, 0.02)[rotations(LENGTH, THETA) >= 1]
    return Evidence(
        as_said=far.max() > 0.999,
        weaker={"each pair that has completed a rotation comes back to angles that it has had": unseen.max() < 0.01},
        figure=f"maximum similarity of encodings 1000 to {FAR - 1:,} apart: {far.max():.2f}; of those 1, 10, 100 "
        f"apart: {near[0]:.2f}, {near[1]:.2f}, {near[2]:.2f}; the {len(unseen)} pairs of 64 that complete a rotation "
        f"within 512 positions have at most {unseen.max():.2f} of new angles up to 1023",
    )


def C088() -> Evidence:
    nearest = decay(np.arange(1, FAR), THETA).max()
    slowest = sinusoidal(np.arange(FAR), DIM, BASE)[:, -2:]
    steps = np.diff(slowest, axis=0) > 0
    turned = steps != steps[0]  # from where on the slowest sine and cosine go back
    back = [int(np.argmax(column)) if column.any() else FAR for column in turned.T]
    return Evidence(
        as_said=nearest < 1 - 1e-3,
        figure=f"up to {FAR:,} no two encodings are more alike than {nearest:.3f}; the slowest sine grows up to "
        f"position {back[0]:,}, the slowest cosine falls up to {back[1]:,}, then both turn back",
    )


def C089() -> Evidence:
    def both(dim: int) -> tuple[np.ndarray, np.ndarray]:
        even = np.arange(0, dim, 2, dtype=np.float32)
        power = np.float32(BASE) ** (-even / np.float32(dim))
        return power, np.exp(even * np.float32(-np.log(BASE) / dim))

    huge, (power, exponential) = both(2**20)[0], both(WIDE)
    errors = [float(np.abs(values / WIDE_THETA - 1).max()) for values in (power, exponential)]
    return Evidence(
        as_said=huge.min() < np.finfo(np.float32).tiny,
        weaker={"in float32 it is the more accurate of the two": errors[1] < errors[0]},
        figure=f"float32: least power {huge.min():.1e} at width 2²⁰, where numbers underflow from "
        f"{np.finfo(np.float32).tiny:.0e} down; relative error at width 512: power {below(errors[0], 2e-7)}, exp of a "
        f"logarithm {errors[1]:.0e}",
    )


def C091() -> Evidence:
    codes = sinusoidal(np.arange(LENGTH), WIDE, BASE)
    bounded, length = np.abs(codes).max() <= 1, np.linalg.norm(codes, axis=-1).mean()
    words = np.random.default_rng(0).standard_normal((1000, WIDE))
    sizes = [float(np.linalg.norm(words * std, axis=-1).mean()) for std in (0.02, 1.0, np.sqrt(WIDE))]
    return Evidence(
        cases={
            "where words are scaled by $\\sqrt d$": bounded and length < 0.1 * sizes[2],
            "where they begin as unit normals": bounded and length < 0.1 * sizes[1],
            "where they begin small, at 0.02": bounded and length < 0.1 * sizes[0],
        },
        figure=f"width 512: the encoding is {length:.0f} long; words of standard deviation 0.02, 1 and √512 are "
        f"{sizes[0]:.2f}, {sizes[1]:.1f} and {sizes[2]:.0f} long",
    )


def C092() -> Evidence:
    half = sinusoidal(np.arange(LENGTH), DIM, BASE, "half-split")
    moved = np.abs(CODES[:, layout_permutation(DIM)] - half).max()
    products = np.abs(half @ half.T - CODES @ CODES.T).max()
    other = inv_freq(DIM, BASE)[-1], sinusoidal(1, DIM, BASE, denominators=DENOMINATORS[1])[-2]
    return Evidence(
        as_said=moved < 1e-12 and products < 1e-9,
        figure=f"columns moved: largest difference {below(moved, 1e-9)}; products of any two encodings: "
        f"{below(products, 1e-9)}. Apart from the order, that library's last frequency is {np.arcsin(other[1]):.4e} "
        f"and the paper's {other[0]:.4e}",
    )


def C093() -> Evidence:
    rng = np.random.default_rng(0)
    words, codes = rng.standard_normal((4 * LENGTH, DIM)), np.tile(CODES, (4, 1))
    for_words, for_codes = rng.standard_normal((2, DIM, DIM))

    def missed(wanted: np.ndarray) -> float:
        """What the best map of the sums misses of it, relatively."""
        best = np.linalg.lstsq(words + codes, wanted, rcond=None)[0]
        return float(np.linalg.norm(wanted - (words + codes) @ best) / np.linalg.norm(wanted))

    apart = words @ for_words + codes @ for_codes
    concatenated = np.concatenate([words, codes], axis=-1) @ np.concatenate([for_words, for_codes])
    same, untied, tied = np.abs(concatenated - apart).max(), missed(apart), missed((words + codes) @ for_words)
    return Evidence(
        as_said=untied < 1e-9,
        weaker={"a map of [word; encoding] is the sum of a map of each": same < 1e-9},
        figure=f"a random map of [word; encoding] minus the sum of its two halves: {below(same, 1e-9)}; by the best "
        f"map of word + encoding: misses {untied:.2f}; with the same matrix for both: {below(tied, 1e-9)}. Parameters "
        f"{2 * for_words.size:,} against {for_words.size:,}",
    )


def C094() -> Evidence:
    def cosine(dim: int) -> float:
        """Root mean square cosine of a random word and an encoding."""
        words = np.random.default_rng(0).standard_normal((1000, dim))
        unit = [
            rows / np.linalg.norm(rows, axis=-1, keepdims=True) for rows in (words, sinusoidal(np.arange(512), dim))
        ]
        return float(np.sqrt(np.mean((unit[0] @ unit[1].T) ** 2)))

    wide, narrow = cosine(DIM), cosine(4)
    spanned = int(np.linalg.matrix_rank(CODES, tol=1e-6 * np.linalg.norm(CODES, 2)))
    return Evidence(
        as_said=wide < 0.15,
        figure=f"root mean square cosine of a random word and an encoding: {wide:.3f} in {DIM} dimensions, "
        f"{narrow:.3f} in 4; 512 encodings span {spanned} of the {DIM} dimensions that words use as well",
    )


def C095() -> Evidence:
    word = np.random.default_rng(0).standard_normal(DIM)
    added = word + CODES
    turned = rotate(np.tile(word, (LENGTH, 1)), angles(np.arange(LENGTH), THETA), "interleaved")
    lengths = [np.linalg.norm(rows, axis=-1) for rows in (added, turned)]
    # what is added turns, and is the same for every word
    other = np.random.default_rng(1).standard_normal(DIM) + CODES - added
    turns = np.abs(CODES[:-1] @ shift_matrix(1, DIM, BASE).T - CODES[1:]).max()
    alike = np.abs(other - other[0]).max()
    rest = np.linalg.norm(added[:-1] @ shift_matrix(1, DIM, BASE).T - added[1:], axis=-1) / np.linalg.norm(word)
    return Evidence(
        as_said=np.ptp(lengths[0]) < 1e-9,
        weaker={"a vector that rotates is added, and the sum is a translation by it": turns < 1e-9 and alike < 1e-9},
        figure=f"length of one word at positions 0 to 511: with the encoding added {lengths[0].min():.2f} to "
        f"{lengths[0].max():.2f}, under RoPE {lengths[1].min():.2f} to {lengths[1].max():.2f}; rotating the sum by one "
        f"token misses the next one by {rest.mean():.2f} of the word's length",
    )


def C096() -> Evidence:
    table = np.random.default_rng(0).standard_normal((LENGTH, DIM))
    at, step = [5, 6, 100, 101], shift_matrix(1, DIM, BASE)

    def products(codes: np.ndarray) -> tuple[float, float]:
        return float(codes[0] @ codes[1]), float(codes[2] @ codes[3])

    codes = sinusoidal(at, DIM, BASE)
    waves, rows = products(codes), products(learned(at, table))
    led = np.abs(step @ codes[0] - codes[1]).max(), np.abs(step @ codes[2] - codes[3]).max()
    return Evidence(
        cases={
            "for a table with random rows": abs(rows[0] - rows[1]) > 1,
            "for the sinusoidal encoding": abs(waves[0] - waves[1]) > 1e-9 or max(led) > 1e-9,
        },
        figure=f"products at 5, 6 and at 100, 101: sinusoidal {waves[0]:.4f} and {waves[1]:.4f}, a random table "
        f"{rows[0]:.1f} and {rows[1]:.1f}; one matrix leads from each encoding to the next, error "
        f"{below(max(led), 1e-9)}",
    )


def C097() -> Evidence:
    at = np.array([0, 50, 300])
    sums = {distance: CODES[at] + CODES[at + distance] for distance in (1, 10, 100)}
    lengths = {distance: np.linalg.norm(rows, axis=-1) for distance, rows in sums.items()}
    told = min(abs(lengths[a][0] - lengths[b][0]) for a, b in ((1, 10), (10, 100))) > 0.1
    moved = np.linalg.norm(sums[10][1] - sums[10][0]) / lengths[10][0]
    return Evidence(
        as_said=not (told and max(np.ptp(length) for length in lengths.values()) < 1e-9),
        weaker={"as a vector, the sum depends on the position": moved > 0.1},
        figure=f"length of the sum of encodings 1, 10, 100 apart: {lengths[1][0]:.2f}, {lengths[10][0]:.2f}, "
        f"{lengths[100][0]:.2f}, the same at every position; the vector itself moves by {moved:.2f} of its length "
        "over 50 tokens",
    )


def C098() -> Evidence:
    drawn = {k: sinusoidal(k, WIDE, BASE)[0::2][:100] for k in (0, 4, 8, 12)}
    crossings = {k: 1 + np.flatnonzero(np.diff(np.sign(values)) != 0) for k, values in drawn.items()}
    gaps = np.diff(crossings[12])
    return Evidence(
        as_said=np.ptp(gaps) <= 2 and len(crossings[0]) > 0,  # a sine crosses zero at equal distances
        weaker={"each position has a curve of its own": len(np.unique(list(drawn.values()), axis=0)) == len(drawn)},
        figure="zero crossings of sin(k·θ_i) for i below 100: "
        f"{', '.join(f'{len(c)} (k = {k})' for k, c in crossings.items())}; "
        f"for k = 12 at i = {', '.join(str(i) for i in crossings[12])}, ever farther apart",
    )


def C099() -> Evidence:
    seen, new = sinusoidal(np.arange(20), DIM, BASE), sinusoidal(20, DIM, BASE)
    length = np.linalg.norm(new) - np.linalg.norm(seen[0])
    error = np.abs(shift_matrix(1, DIM, BASE) @ seen[-1] - new).max()
    known = np.abs(seen - new).max(axis=-1).min()
    return Evidence(
        as_said=np.isfinite(new).all() and abs(length) < 1e-9 and error < 1e-9 and known > 1e-3,
        figure=f"the 21st encoding is as long as the others ({np.linalg.norm(new):.1f}), is the 20th shifted by one "
        f"(error {below(error, 1e-9)}) and none of the first 20",
    )


def C101() -> Evidence:
    table = np.random.default_rng(0).standard_normal((LENGTH, DIM))
    served = [
        defined_fraction(code, LENGTH, LENGTH + 64)
        for code in (lambda at: table[at], lambda at: learned(at, table), lambda at: sinusoidal(at, DIM, BASE))
    ]
    clamped = learned([LENGTH - 1, LENGTH, 2 * LENGTH], table, past_end="clamp")
    stretched = learned(np.arange(LENGTH), table, past_end="interpolate", length=2 * LENGTH)
    alike = bool(np.all(clamped == clamped[0]))
    moved = np.linalg.norm(stretched - table, axis=-1)[1:] / np.linalg.norm(table, axis=-1)[1:]
    return Evidence(
        as_said=max(served[:2]) == 0 and alike,
        figure=f"512 rows, positions 512 to 575: {served[0]:.0%} have an encoding, {served[2]:.0%} under the "
        f"sinusoidal formula; clamped, positions 511, 512 and 1024 {'share one encoding' if alike else 'differ'}; "
        f"interpolated to 1024, rows move by {moved.mean():.1f} of their length on average",
    )


def C102() -> Evidence:
    unseen, turned = unseen_angles(THETA, LENGTH, 2 * LENGTH, 0.02), rotations(LENGTH, THETA) >= 1
    late = sinusoidal(10_000 + np.arange(LENGTH), DIM, BASE)
    kept = np.abs(late @ late.T - CODES @ CODES.T).max()
    return Evidence(
        as_said=kept < 1e-9 and unseen.max() < 0.1,
        weaker={"the encoding can be computed there, and its products depend on the distance alone": kept < 1e-9},
        figure=f"products by distance are the same from position 10000 on (error {below(kept, 1e-9)}); unseen angles "
        f"from 512 to 1023: {turned.sum()} pairs that have rotated once {unseen[turned].mean():.2f}, "
        f"{np.sum(~turned)} others {unseen[~turned].mean():.2f}",
    )


def C103() -> Evidence:
    codes = sinusoidal(np.arange(8), 16, BASE)
    words = np.where(np.arange(8)[:, None] < 6, np.random.default_rng(0).standard_normal((8, 16)), 0.0)  # two paddings
    zeroed = np.where(np.arange(8)[:, None] < 6, codes, 0.0)
    mask = np.broadcast_to(np.arange(8) < 6, (8, 8))

    def changed(mask: np.ndarray | None) -> float:
        """What zeroing the padding's code changes in the outputs of the six words."""
        outputs = [attention(*[words + added] * 3, mask=mask).output[:6] for added in (codes, zeroed)]
        return float(np.abs(outputs[0] - outputs[1]).max())

    least, hidden, seen = np.linalg.norm(codes, axis=-1).min(), changed(mask), changed(None)
    return Evidence(
        cases={"where a program sets it to zero": hidden < 1e-12 < seen, "by the formula": least < 1e-9},
        figure=f"no encoding of the formula is shorter than {least:.2f} at width 16; zeroed by hand, the padding's "
        f"encoding changes the words' outputs by {seen:.2f} without a mask and by {below(hidden, 1e-12)} with one",
    )


def C104() -> Evidence:
    rng, spread, longer = np.random.default_rng(0), {}, {}
    for d in (2, 16, 128, 4096):
        q, k = rng.standard_normal((2, 500, d))
        q, k = (rows / np.linalg.norm(rows, axis=-1, keepdims=True) for rows in (q, k))
        cosine = np.sum(q * k, axis=-1)
        stepped = k + 0.1 * q  # one step of gradient ascent on q·k, whose gradient is q
        gain = np.sum(q * stepped, axis=-1) - cosine
        longer[d] = float(np.mean((np.linalg.norm(stepped, axis=-1) - 1) * cosine) / np.mean(gain))
        spread[d] = float(np.sqrt(np.mean(cosine**2)))
    return Evidence(
        as_said=spread[4096] < 0.05 and longer[4096] > 0.5,
        weaker={
            "the cosines of random vectors crowd around zero, as $1/\\sqrt d$": all(
                0.9 < value * np.sqrt(d) < 1.1 for d, value in spread.items()
            )
        },
        figure="width 2, 16, 128, 4096: root mean square cosine of random vectors "
        f"{listed(spread.values())}; of what a gradient step on a key gains, its "
        f"greater length brings {', '.join(f'{share:.0%}' for share in longer.values())}",
    )
