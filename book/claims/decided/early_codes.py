"""The claims that chapter 03 tells of the codes before the sinusoids: counting, digits, single waves, false trails."""

from itertools import product

import numpy as np

from book.claims.evidence import Evidence, below, listed
from posenc.absolute import binary, dyadic, harmonic, integer, normalised, radix, relative_positions
from posenc.attention import attention
from posenc.bias import alibi_rank_two
from posenc.frequencies import angles, inv_freq
from posenc.rotary import rotate, rotation_matrix

DIM = 64
BITS = binary(np.arange(1024), 10)
EXACT = 1e-12


def _cosine(first: np.ndarray, second: np.ndarray) -> float:
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


def _between_changes(column: np.ndarray) -> int:
    """How many tokens a column of bits keeps its value; 0 where that varies."""
    runs = np.unique(np.diff(np.flatnonzero(np.diff(column))))
    return int(runs[0]) if len(runs) == 1 else 0


def _period(column: np.ndarray) -> int:
    """The least shift after which a column reads as before."""
    return next(shift for shift in range(1, len(column)) if np.array_equal(column[shift:], column[:-shift]))


def C030() -> Evidence:
    rng = np.random.default_rng(0)
    words, maps = rng.standard_normal((1000, DIM)), rng.standard_normal((2, DIM, DIM)) / np.sqrt(DIM)
    placed = words + integer(np.arange(1000), DIM)
    share = 0.5 / (0.5 + integer(999, DIM)[0])
    alike = [_cosine(x[900], x[950]) for x in (words, placed)]
    # what softmax passes back to the logits, the trace of diag(w) − wwᵀ, averaged over queries
    gradient = []
    for x in (words, placed):
        weights = attention(x @ maps[0], x @ maps[1], x).weights
        gradient.append(float(np.mean(np.sum(weights * (1 - weights), axis=-1))))
    return Evidence(
        as_said=share < 0.001 and abs(alike[0]) < 0.3 and alike[1] > 0.999 and gradient[1] < 0.1 * gradient[0],
        figure=f"share of 0.5 beside 999: {share:.4f}; similarity of two unrelated words {alike[0]:.2f}, at 900 and "
        f"950 {alike[1]:.6f}; trace of the softmax Jacobian {gradient[0]:.3f} without positions, "
        f"{gradient[1]:.3f} with them",
    )


def C031() -> Evidence:
    at = np.arange(32)
    differences = -relative_positions(at, at)  # m − n
    queries, keys = alibi_rank_two(at, at, [1.0])
    error = float(np.abs(queries[0] @ keys[0].T + differences).max())
    numbers_needed = int(np.linalg.matrix_rank(differences))
    return Evidence(
        cases={"with one number per token": numbers_needed > 1, "with two": error > EXACT},
        figure=f"the table of m − n has rank {numbers_needed}, so one number per token is too few; ALiBi's two, "
        f"(−m, 1)·(1, n), give n − m to {below(error)}",
    )


def C032() -> Evidence:
    counted, shares = integer(np.arange(5), 4), normalised(np.arange(5), 5, 4)
    tenths = normalised(np.arange(10), 10, 4)
    lists = [(counted, range(5)), (shares, (0, 0.2, 0.4, 0.6, 0.8)), (tenths, np.arange(10) / 10)]
    errors = [float(np.abs(code - np.array(said)[:, None]).max()) for code, said in lists]
    return Evidence(
        as_said=max(errors) < 5e-5,  # four decimals are printed
        figure=f"first columns: {listed(counted[:, 0], 0)}; {listed(shares[:, 0], 1)}; for ten tokens "
        f"{listed(tenths[:, 0], 1)}",
    )


def C033() -> Evidence:
    last = {length: float(normalised(length - 1, length, 1)[0]) for length in (1, 5, 1000)}
    inside = all(0 <= value <= 1 for value in last.values())
    return Evidence(
        as_said=inside,
        figure=f"last position of a text of 1, 5, 1000 tokens: {last[1]:.0f}, {last[5]:.1f}, {last[1000]:.3f}",
    )


def C034() -> Evidence:
    steps = [float((normalised(at, length, 1) - normalised(at + 1, length, 1))[0]) for at, length in ((2, 13), (0, 20))]
    return Evidence(
        as_said=abs(steps[0] - 1 / 13) < EXACT and abs(steps[1] - 1 / 20) < EXACT,
        weaker={
            "neighbours are 1/13 and 1/20 apart, without the sign": abs(abs(steps[0]) - 1 / 13) < EXACT
            and abs(abs(steps[1]) - 1 / 20) < EXACT
        },
        figure=f"2/13 − 3/13 = {steps[0]:.4f}, 0/20 − 1/20 = {steps[1]:.4f}; 1/13 is {1 / 13:.4f}, 1/20 {1 / 20:.4f}",
    )


def C035() -> Evidence:
    changes, periods = ([measure(bit) for bit in BITS.T[:4]] for measure in (_between_changes, _period))
    numbers = range(1, 5)  # of bits: bit n − 1 is then the highest
    return Evidence(
        as_said=all(changes[n - 1] == 2 ** (n - 1) for n in numbers),
        figure=f"the highest of 1, 2, 3, 4 bits changes every {listed(changes, 0)} tokens, and is back after "
        f"{listed(periods, 0)}",
    )


def C036() -> Evidence:
    changes, periods = ([measure(bit) for bit in BITS.T[:5]] for measure in (_between_changes, _period))
    return Evidence(
        as_said=changes == [2**i for i in range(5)],
        figure=f"columns 0 to 4 change once every {listed(changes, 0)} tokens, and are back after {listed(periods, 0)}",
    )


def C037() -> Evidence:
    codes = binary(np.arange(16), 4)
    between = np.abs(codes[:, None] - codes).sum(axis=-1)
    steps = np.diagonal(between, 1)
    return Evidence(
        as_said=steps.max() == 4 and between[0, 8] < between[7, 8],
        figure=f"bits that change from each position to the next, 0 to 15: {listed(steps, 0)}; from 7 to 8: "
        f"{between[7, 8]:.0f}, from 0 to 8: {between[0, 8]:.0f}",
    )


def C038() -> Evidence:
    def bits_needed(length: int) -> int:
        for dim in range(1, 54):
            try:
                binary(length - 1, dim)
            except ValueError:  # more digits than dimensions
                continue
            return dim
        return 54

    needed = {length: bits_needed(length) for length in (512, 5000, 1_000_000)}
    distinct = len(np.unique(binary(np.arange(5000), needed[5000]), axis=0))
    return Evidence(
        as_said=distinct == 5000 and max(needed.values()) <= 512,
        figure=f"bits for 512, 5000, 1000000 positions: {listed(list(needed.values()), 0)}; 5000 positions have "
        f"{distinct} different encodings of {needed[5000]} bits",
    )


def C039() -> Evidence:
    radices, at = (2, 6, 8, 16), np.arange(4096)
    dims = [next(dim for dim in range(1, 13) if k**dim >= 4096) for k in radices]

    def least_step(k: int, dim: int, normalise: bool) -> float:
        code = radix(at, dim, k, normalise=normalise)
        return float(np.linalg.norm(np.diff(code, axis=0), axis=-1).min())

    digits, shares = (
        [least_step(k, dim, normalise) for k, dim in zip(radices, dims, strict=True)] for normalise in (False, True)
    )
    fewer = all(np.diff(dims) < 0)
    return Evidence(
        as_said=fewer and min(digits) == 1,
        figure=f"4096 positions to radix {listed(radices, 0)}: {listed(dims, 0)} dimensions; least distance of "
        f"neighbours {listed(digits, 0)}, with digits divided by k − 1 {listed(shares, 2)}",
    )


def C040() -> Evidence:
    # f(m)² = f(0) = f(0)², so that 0 and ±1 are all there is to try, among complex numbers too; here from −4 to 4
    at = np.arange(-4, 5)
    m, n = np.meshgrid(at, at)
    inside = np.abs(m - n) <= 4
    m, n = m[inside], n[inside]
    tried = np.array(list(product((-1, 0, 1), repeat=9)))
    solve = np.all(tried[:, m + 4] * tried[:, n + 4] == tried[:, m - n + 4], axis=-1)
    solutions = tried[solve]
    # numbers on the unit circle, f(m) is 1 rotated by 0.3·m, solve another equation, with a conjugate in it
    f = {m: complex(*rotate(np.array([1.0, 0.0]), angles(m, [0.3]), "interleaved")) for m in (2, 5)}
    there, back = f[5] * f[2].conjugate(), f[2] * f[5].conjugate()
    return Evidence(
        as_said=len(solutions) > 0 and np.array_equal(solutions, solutions[:, ::-1]),
        figure=f"of {len(tried)} tables for −4 to 4, {len(solutions)} solve it, 0, 1 and (−1)^m, and all are "
        f"symmetric; with a conjugate, f(5)·f̄(2) = {there.real:.3f} {there.imag:+.3f}i and f(2)·f̄(5) = "
        f"{back.real:.3f} {back.imag:+.3f}i",
    )


def _rotary_scores(q: np.ndarray, k: np.ndarray, query_at: int, key_at: int) -> np.ndarray:
    of_queries, of_keys = (angles(np.full(len(q), at), inv_freq(DIM)) for at in (query_at, key_at))
    return np.sum(rotate(q, of_queries, "interleaved") * rotate(k, of_keys, "interleaved"), axis=-1)


def C041() -> Evidence:
    q, k = np.random.default_rng(1).standard_normal((2, 1000, DIM))
    there, back = _rotary_scores(q, k, 2, 5), _rotary_scores(q, k, 5, 2)
    change = np.sqrt(np.mean((there - back) ** 2) / np.mean(there**2))
    same = np.abs(_rotary_scores(q, q, 2, 5) - _rotary_scores(q, q, 5, 2)).max()
    return Evidence(
        as_said=same < 1e-9,
        figure=f"V(m) = R(m)q for 1000 vectors q, at 2 and 5 against 5 and 2: difference {below(same, 1e-9)}; for a "
        f"query and a key that differ, {there[0]:.2f} against {back[0]:.2f}; over 1000 such pairs the root mean square "
        f"difference is {change:.0%} of the score's",
    )


def C042() -> Evidence:
    plane = [rotation_matrix(angles(m, [1.0]), "interleaved") for m in (5, 7)]
    blocks = [rotation_matrix(angles(m, inv_freq(DIM)), "interleaved") for m in (5, 7)]
    commutator = [float(np.abs(first @ second - second @ first).max()) for first, second in (plane, blocks)]
    transposed = [float(np.abs(first.T @ second - second.T @ first).max()) for first, second in (plane, blocks)]
    return Evidence(
        as_said=min(commutator) > 1e-9 and min(transposed) > 0.1,
        weaker={"the inequality that is printed": min(transposed) > 0.1},
        figure=f"R₅R₇ and R₇R₅ differ by {below(commutator[0])} in the plane, {below(commutator[1])} in {DIM} "
        f"dimensions; R₅ᵀR₇ and R₇ᵀR₅ by {transposed[0]:.2f} and {transposed[1]:.2f}",
    )


def C043() -> Evidence:
    at = np.arange(1000)
    code = harmonic(at, DIM)
    periods = 2 * np.pi * np.arange(1, DIM + 1)
    error = max(np.abs(harmonic(at + period, DIM) - code)[:, i].max() for i, period in enumerate(periods))
    products = np.sum(code * harmonic(at + 5, DIM), axis=-1)
    return Evidence(
        as_said=np.abs(code).max() <= 1 and error < 1e-9,
        figure=f"maximum absolute value {np.abs(code).max():.2f}; dimension i repeats after 2πi to "
        f"{below(error, 1e-9)}; products of encodings 5 tokens apart run from {products.min():.1f} to "
        f"{products.max():.1f}",
    )


def C044() -> Evidence:
    at = np.arange(100)
    error, general = (np.abs(dyadic(at, 3)[:, 2] - np.sin(at / 2**power)).max() for power in (3, 2))
    # the periods are said to double, 2π and 4π: does sin(t/8) repeat after 8π?
    repeats = {power: np.abs(np.sin((at + 8 * np.pi) / 2**power) - np.sin(at / 2**power)).max() for power in (2, 3)}
    return Evidence(
        as_said=error < 1e-9,
        weaker={
            "by the general term, the third is $\\sin(t/2^2)$, and its period $8\\pi$": general < EXACT
            and repeats[2] < 1e-9
        },
        figure=f"after 8π, sin(t/8) has changed by up to {below(repeats[3])}, sin(t/4) by "
        f"{below(repeats[2], 1e-9)}; sin(t/8) and the encoding's third dimension differ by up to {below(error)}",
    )
