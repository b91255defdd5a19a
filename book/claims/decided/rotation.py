"""The claims that chapters 05, 06, 07 and 16 tell: the algebra of rotation, its derivations, and implementations."""

from collections.abc import Callable

import numpy as np
from numpy.linalg import matrix_power
from scipy.linalg import expm

from book.claims.evidence import Evidence, below, listed
from posenc.analysis import decay
from posenc.attention import attention
from posenc.frequencies import angles, inv_freq, wavelengths
from posenc.rotary import (
    LAYOUTS,
    convert_projection,
    layout_permutation,
    pair_scores,
    plane_rotations,
    rotate,
    rotate_complex,
    rotate_matrix,
    rotation_matrix,
    xpos_cos_sin,
)

DIM, BASE = 128, 10_000.0
THETA = inv_freq(DIM, BASE)
Q, K = np.random.default_rng(0).standard_normal((2, DIM))
OFFSET = 7
AT = np.array([7, 10, 500, 5000, 100_000])  # of queries; their keys stand OFFSET tokens before them
DISTANCES = np.arange(1, 101)
NEARBY = np.array([7, 10, 100, 500])


def _turned(x: np.ndarray, at: np.ndarray, frequencies: np.ndarray = THETA) -> np.ndarray:
    """The vector as it stands at each of these positions."""
    return rotate(np.tile(x, (len(at), 1)), angles(at, frequencies), "interleaved")


def _scores(at: np.ndarray, offset: np.ndarray | int = OFFSET, k: np.ndarray = K) -> np.ndarray:
    """Scores of Q at these positions with a key `offset` tokens before."""
    return np.sum(_turned(Q, at) * _turned(k, at - offset), axis=-1)


def _wrong_sign(q: np.ndarray, k: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The score with the sine term as it is often printed, q₂k₁ − q₁k₂."""
    (q1, q2), (k1, k2) = (q[::2], q[1::2]), (k[::2], k[1::2])
    turned = angles(offsets, THETA)
    return np.sum((q1 * k1 + q2 * k2) * np.cos(turned) + (q2 * k1 - q1 * k2) * np.sin(turned), axis=-1)


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def C160() -> Evidence:
    scores, next_one = _scores(AT), _scores(AT, OFFSET + 1)
    return Evidence(
        as_said=np.ptp(scores) < 1e-9 and abs(scores[0] - next_one[0]) > 0.1,
        figure=f"score at distance 7, query at 7, 10, 500, 5000, 100000: {scores[0]:.6f} each time, spread "
        f"{below(np.ptp(scores), 1e-9)}; at distance 8: {next_one[0]:.6f}",
    )


def C161() -> Evidence:
    summed = np.array([pair_scores(Q, K, angles(m, THETA), "interleaved").sum() for m in DISTANCES])
    error = np.abs(summed - _scores(DISTANCES + 7, DISTANCES)).max()
    return Evidence(
        as_said=error < 1e-9,
        figure=f"distance 7: {summed[OFFSET - 1]:.6f} from the formula, {_scores(AT)[0]:.6f} from rotated vectors; "
        f"largest difference up to distance 100 {below(error, 1e-9)}",
    )


def C162() -> Evidence:
    true, printed = _scores(DISTANCES + 7, DISTANCES), _wrong_sign(Q, K, DISTANCES)
    mirrored = np.abs(printed - _scores(DISTANCES + 7, -DISTANCES)).max()
    return Evidence(
        as_said=np.abs(printed - true).max() < 1e-9,
        weaker={"the score is right to a tenth of its size": _rms(printed - true) < 0.1 * _rms(true)},
        figure=f"distance 7: {printed[6]:.4f} as printed, {true[6]:.4f} from rotated vectors; as printed it is the "
        f"score at −7 to {below(mirrored, 1e-9)}",
    )


def C163() -> Evidence:
    same = np.abs(_wrong_sign(Q, Q, DISTANCES) - _scores(DISTANCES + 7, DISTANCES, Q)).max()
    other = np.abs(_wrong_sign(Q, K, DISTANCES) - _scores(DISTANCES + 7, DISTANCES)).max()
    return Evidence(
        as_said=same < 1e-9 and other > 1,
        figure=f"largest error of the wrong sign up to distance 100: {below(same, 1e-9)} where k = q, {other:.1f} "
        "where they differ",
    )


def C164() -> Evidence:
    def printed(m: float) -> np.ndarray:
        block = rotation_matrix(angles(m, inv_freq(4, BASE)), "interleaved")[2:, 2:]
        block[0, 1] = block[0, 0]  # a cosine where −sin belongs
        return block

    at = np.array([7, 210, 420])
    scores = np.array([(printed(m) @ Q[2:4]) @ (printed(m - OFFSET) @ K[2:4]) for m in at])
    determinant = np.linalg.det(printed(210))
    return Evidence(
        as_said=abs(determinant - 1) < 1e-9,
        weaker={"with that block, scores depend on the distance alone to a tenth": np.ptp(scores) < 0.1 * _rms(scores)},
        figure=f"at an angle of 2.1: determinant {determinant:.3f}, length of the rotated (0, 1) "
        f"{np.linalg.norm(printed(210)[:, 1]):.3f}; its score at distance 7, query at 7, 210, 420: {listed(scores)}",
    )


def C165() -> Evidence:
    true = _scores(DISTANCES + 7, DISTANCES)
    said, other_way = (
        np.array([Q @ rotation_matrix(angles(sign * m, THETA), "interleaved") @ K for m in DISTANCES])
        for sign in (1, -1)
    )
    on_query = _turned(Q, DISTANCES) @ K
    return Evidence(
        as_said=np.abs(said - true).max() < 1e-9,
        weaker={"with $R(m-n)$ on the query it holds": np.abs(on_query - true).max() < 1e-9},
        figure=f"m − n = 7: q·(R(m − n)·k) = {said[6]:.4f}, q·R(n − m)·k = {other_way[6]:.4f}, (R(m − n)·q)·k = "
        f"{on_query[6]:.4f}, from rotated vectors {true[6]:.4f}",
    )


def C166() -> Evidence:
    # the notes' own e^{imθ} tells the unit: Euler's formula takes radians
    turned = rotate(np.array([1.0, 0.0]), angles(1, [1.0]), "interleaved")
    exponential, in_degrees = np.exp(1j), np.exp(1j * np.deg2rad(1.0))
    reached = complex(*turned)
    return Evidence(
        as_said=abs(reached - in_degrees) < 1e-9,
        weaker={"it is rotated by the angle $m\\theta$, in radians": abs(reached - exponential) < 1e-9},
        figure=f"after one token the fastest pair (1, 0) is at ({turned[0]:.3f}, {turned[1]:.3f}), "
        f"one degree would be ({in_degrees.real:.3f}, {in_degrees.imag:.3f}); "
        f"its rotation takes {wavelengths(THETA)[0]:.2f} tokens, in degrees it would take 360",
    )


def C167() -> Evidence:
    turned = angles(DISTANCES, THETA)
    cosines, sines = (
        wave(turned) @ pair_scores(Q, K, np.full(DIM // 2, at), "interleaved")  # the factor of each wave
        for wave, at in ((np.cos, 0.0), (np.sin, np.pi / 2))
    )
    true = _scores(DISTANCES + 7, DISTANCES)
    parallel = np.repeat(np.linspace(-1, 2, DIM // 2), 2) * Q  # in each pair a multiple of q
    alone = np.cos(turned) @ pair_scores(Q, parallel, np.zeros(DIM // 2), "interleaved")
    error = np.abs(alone - _scores(DISTANCES + 7, DISTANCES, parallel)).max()
    return Evidence(
        as_said=np.abs(cosines + sines - true).max() < 1e-9 and _rms(cosines) > 0.1 * _rms(true),
        figure=f"root mean square up to distance 100: scores {_rms(true):.2f}, their cosine terms {_rms(cosines):.2f}, "
        f"their sine terms {_rms(sines):.2f}; where k is parallel to q in each pair, cosine terms alone are right to "
        f"{below(error, 1e-9)}",
    )


def C168() -> Evidence:
    product = (Q[::2] + 1j * Q[1::2]) * np.conj(K[::2] + 1j * K[1::2])
    true = _scores(DISTANCES + 7, DISTANCES)
    real_part = np.cos(angles(DISTANCES, THETA)) @ product.real  # Re of the inner product times e^{i(m−n)θ}
    agree = abs(product.real.sum() - Q @ K) < 1e-9
    return Evidence(
        as_said=agree and np.abs(product.imag).max() < 1e-9,
        weaker={"its real part is the inner product": agree},
        figure=f"first pair: q·k = {Q[:2] @ K[:2]:.4f}, qk̄ = {product[0].real:.4f} + {product[0].imag:.4f}i; without "
        f"the imaginary parts, scores of root mean square {_rms(true):.1f} are off by {_rms(real_part - true):.1f}",
    )


def C170() -> Evidence:
    error, apart = np.abs(_scores(AT, 0) - Q @ K).max(), abs(_scores(AT)[0] - Q @ K)
    return Evidence(
        as_said=error < 1e-9 and apart > 0.1,
        figure=f"q·k = {Q @ K:.4f}; both at 7, 10, 500, 5000, 100000: {_scores(AT, 0)[0]:.4f}, difference "
        f"{below(error, 1e-9)}",
    )


def C171() -> Evidence:
    at = np.array([7, 100, 1000])
    for_queries, _ = xpos_cos_sin(at, THETA)
    for_keys, grown_keys = (xpos_cos_sin(at - OFFSET, THETA)[side] for side in (1, 0))
    q, k, same_map = (np.tile(x, (3, 1)) for x in (Q, K, K))
    q = rotate(q, for_queries, "interleaved")
    two_maps = np.sum(q * rotate(k, for_keys, "interleaved"), axis=-1)
    one_map = np.sum(q * rotate(same_map, grown_keys, "interleaved"), axis=-1)
    ratio = np.linalg.norm(q[-1]) / np.linalg.norm(Q)
    kept = np.ptp(np.linalg.norm(_turned(Q, AT), axis=-1))
    return Evidence(
        as_said=np.ptp(one_map) > 0.1 and kept < 1e-9,
        figure=f"xPos, distance 7, query at 7, 100, 1000: scores {listed(two_maps, 4)}, though at 1000 the query has "
        f"{ratio:.2f} times its length; with one such map for q and k: {listed(one_map)}",
    )


def C172() -> Evidence:
    def phases(q: np.ndarray, k: np.ndarray) -> np.ndarray:
        return np.angle((q[:, 0] + 1j * q[:, 1]) * np.conj(k[:, 0] + 1j * k[:, 1]))

    # one map with f(x, 0) = x: every odd position mirrors the vector; keys stand two tokens before
    at = np.arange(2, 12)
    mirror = np.stack([np.ones(10), (-1.0) ** at], axis=-1)
    q, k = mirror * Q[:2], mirror * K[:2]
    score, phase = np.sum(q * k, axis=-1), phases(q, k)
    rotary = phases(_turned(Q[:2], at, [1.0]), _turned(K[:2], at - 2, [1.0]))
    return Evidence(
        as_said=np.ptp(score) > 1e-9 or np.ptp(phase) < 1e-9,  # a relative score has a relative phase
        weaker={"where vectors are rotated, the phase depends on $m-n$ alone": np.ptp(rotary) < 1e-9},
        figure=f"mirrored at odd positions, distance 2: score {score[0]:.4f} everywhere, phase of the complex product "
        f"{phase[0]:.3f} at even and {phase[1]:.3f} at odd positions; rotated: {rotary[0]:.3f} everywhere",
    )


def C173() -> Evidence:
    def spread(phi: Callable[[np.ndarray], np.ndarray]) -> float:
        q, k = (rotate(np.tile(x, (4, 1)), phi(at), "interleaved") for x, at in ((Q, NEARBY), (K, NEARBY - OFFSET)))
        return float(np.ptp(np.sum(q * k, axis=-1)))

    linear = spread(lambda m: angles(m, THETA))
    more_turns = spread(lambda m: angles(m, THETA) + 2 * np.pi * m[:, None] ** 2)
    others = [spread(lambda m: angles(np.sqrt(m), THETA)), spread(lambda m: angles(np.log1p(m), THETA))]
    return Evidence(
        as_said=max(linear, more_turns) < 1e-6 and min(others) > 0.1,
        figure=f"spread of the score at distance 7, query at 7, 10, 100, 500: {below(linear, 1e-6)} for φ = mθ, "
        f"{below(more_turns, 1e-6)} with m² whole rotations more, {others[0]:.1f} for √m·θ, {others[1]:.1f} for "
        "ln(1+m)·θ",
    )


def C174() -> Evidence:
    scores = _scores(NEARBY)
    dense = np.random.default_rng(1).standard_normal((6, 6))
    step = expm(dense - dense.T)  # any orthogonal matrix that is the exponential of a skew one
    basis, planes = plane_rotations(step)
    error = max(
        np.abs(np.linalg.matrix_power(step, m) - basis @ rotation_matrix(m * planes, "interleaved") @ basis.T).max()
        for m in NEARBY
    )
    return Evidence(
        as_said=np.ptp(scores) < 1e-9 and error < 1e-9,
        figure=f"rotated pair by pair, the score at distance {OFFSET} is {scores[0]:.6f} everywhere; the powers of a "
        f"dense rotation of 6 dimensions are such blocks in another basis, to {below(error, 1e-9)}",
    )


def C175() -> Evidence:
    at = angles(AT, THETA)
    x = np.tile(Q, (len(AT), 1))
    errors = []
    for layout in LAYOUTS:
        by_matrix = np.einsum("mij,mj->mi", rotation_matrix(at, layout), x)
        for method in (rotate, rotate_complex, rotate_matrix):
            errors.append(np.abs(method(x, at, layout) - by_matrix).max())
    moved = np.abs(by_matrix - x).max()
    return Evidence(
        as_said=max(errors) < 1e-13 and moved > 1,
        figure=f"largest difference of matrix, elements and complex numbers in two layouts, up to position 100000: "
        f"{below(max(errors), 1e-13)}",
    )


def C176() -> Evidence:
    # a quarter turn of every pair is the swap with a sign: T(x) in one layout, rotate_half(x) in the other
    quarter = np.full(DIM // 2, np.pi / 2)
    half, swap = (rotate(Q, quarter, layout) for layout in LAYOUTS)
    order = layout_permutation(DIM)
    reordered = np.abs(rotate(Q[order], quarter, "half-split") - swap[order]).max()

    def mixed(x: np.ndarray, m: int) -> np.ndarray:
        turned = np.repeat(angles(m, THETA), 2)
        return x * np.cos(turned) + rotate(x, quarter, "half-split") * np.sin(turned)

    scores = np.array([mixed(Q, m) @ mixed(K, m - OFFSET) for m in NEARBY])
    return Evidence(
        as_said=np.abs(swap - half).max() < 1e-9,
        weaker={"in matching order the two are one swap": reordered < 1e-9},
        figure=f"largest difference of the two {np.abs(swap - half).max():.1f}, in matching order "
        f"{below(reordered, 1e-9)}; mixed up, the score at distance 7, query at 7, 10, 100, 500: {listed(scores, 2)}",
    )


def C177() -> Evidence:
    order = layout_permutation(DIM)
    x = np.random.default_rng(2).standard_normal((64, 256)) / 16
    w_q, w_k = np.random.default_rng(3).standard_normal((2, DIM, 256))
    at = angles(np.arange(64), THETA)

    def logits(w_q: np.ndarray, w_k: np.ndarray, layout: str) -> np.ndarray:
        return rotate(x @ w_q.T, at, layout) @ rotate(x @ w_k.T, at, layout).T

    own, other = logits(w_q, w_k, "interleaved"), logits(w_q, w_k, "half-split")
    both = np.abs(logits(w_q[order], w_k[order], "half-split") - own).max()
    converted = np.abs(
        logits(*(convert_projection(w, 1, DIM, "half-split") for w in (w_q, w_k)), "half-split") - own
    ).max()
    one_reordered = logits(w_q[order], w_k, "half-split")
    correlation = [np.corrcoef(own.ravel(), wrong.ravel())[0, 1] for wrong in (other, one_reordered)]
    return Evidence(
        cases={
            "where both are reordered and the pairs go along": max(both, converted) < 1e-9,
            "where the file is read in the other layout": correlation[0] > 0.99,
            "where queries alone are reordered": correlation[1] > 0.99,
        },
        figure=f"logits of interleaved weights run as half-split correlate by {correlation[0]:.2f} with what they "
        f"were, with rows of W_Q alone reordered by {correlation[1]:.2f}; with both reordered they differ by "
        f"{below(max(both, converted), 1e-9)}",
    )


def C178() -> Evidence:
    q, k = Q[:7], K[:7]

    def leave(x: np.ndarray, m: float) -> np.ndarray:
        return rotate(x, angles(m, inv_freq(6, BASE)), "interleaved", rotary_dim=6)

    def pad(x: np.ndarray, m: float) -> np.ndarray:
        return rotate(np.append(x, 0.0), angles(m, inv_freq(8, BASE)), "interleaved")

    scores = {odd.__name__: np.array([odd(q, m) @ odd(k, m - 7) for m in AT]) for odd in (leave, pad)}
    spread = max(np.ptp(values) for values in scores.values())
    return Evidence(
        as_said=spread < 1e-9,
        figure=f"width 7, distance 7, five positions up to 100000: {scores['leave'][0]:.6f} with the last dimension "
        f"left alone, {scores['pad'][0]:.6f} padded to 8; spread {below(spread, 1e-9)}",
    )


def C179() -> Evidence:
    named = BASE ** (2 * np.arange(DIM // 2) / DIM)  # what the notes call inv_freq
    error = np.abs(OFFSET / named - angles(OFFSET, THETA)).max()
    return Evidence(
        as_said=np.allclose(named, THETA) and error < 1e-9,  # THETA is what code calls inv_freq
        weaker={"dividing by the reciprocal is multiplying by the frequency": error < 1e-9},
        figure=f"last entry {named[-1]:,.0f}, in code {THETA[-1]:.3e}; position 7 divided by the one and multiplied by "
        f"the other differ by {below(error, 1e-9)}, multiplied by the first it would rotate by {7 * named[-1]:,.1f} "
        "rad",
    )


class _Powers(np.ndarray):
    """An array that counts the powers of real numbers it takes part in."""

    count = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        answer = getattr(ufunc, method)(*(np.asarray(each) for each in inputs), **kwargs)
        if ufunc is np.power:
            _Powers.count += answer.size
        return answer.view(_Powers)


def _powers(run: Callable[[], object]) -> int:
    _Powers.count = 0
    run()
    return _Powers.count


def C180() -> Evidence:
    at = np.arange(8192)
    exact_exponents = (2 * np.arange(DIM // 2) / DIM).view(_Powers)
    kept = BASE**exact_exponents  # the list that is made once
    each_time = _powers(lambda: at[:, None] * BASE**-exact_exponents)
    again = _powers(lambda: at[:, None] / kept)
    return Evidence(
        as_said=again == 0 < each_time,
        figure=f"powers that a forward pass computes: {each_time}, with a cached list {again}",
    )


def C181() -> Evidence:
    lengths = np.linalg.norm(_turned(Q, np.append(AT, 12_345)), axis=-1)
    error = np.abs(lengths - np.linalg.norm(Q)).max()
    return Evidence(
        as_said=error < 1e-9,
        figure=f"length {np.linalg.norm(Q):.6f} before, {lengths[-1]:.6f} at position 12345; largest difference up to "
        f"100000 {below(error, 1e-9)}",
    )


def C182() -> Evidence:
    q, k = np.random.default_rng(4).standard_normal((2, 4000, DIM))
    plain = np.sum(q * k, axis=-1)
    changes = {}
    for m in (1, 2, 5, 100):
        turned = rotate(q, angles([m], THETA), "interleaved")
        changes[m] = _rms(np.sum(turned * k, axis=-1) - plain) / _rms(plain)
    kept = np.abs(np.linalg.norm(turned, axis=-1) - np.linalg.norm(q, axis=-1)).max()
    expected = float(np.sqrt(2 - 2 * decay(100, THETA)))
    return Evidence(
        as_said=max(changes.values()) < 0.01,
        weaker={"lengths are kept": kept < 1e-9 and abs(changes[100] - expected) < 0.05},
        figure=f"lengths change by {below(kept, 1e-9)}; scores of random q and k by, in their own root mean square, "
        f"{listed(list(changes.values()), 2)} at distance 1, 2, 5, 100",
    )


def C194() -> Evidence:
    dense = np.random.default_rng(5).standard_normal((7, 7))
    matrix = expm(dense - dense.T)
    basis, planes = plane_rotations(matrix)
    blocks = np.eye(7)
    blocks[:6, :6] = rotation_matrix(planes, "interleaved")
    error = np.abs(basis @ blocks @ basis.T - matrix).max()
    line = plane_rotations(np.eye(1))[1]
    return Evidence(
        as_said=len(line) == 0 and len(planes) == 3 and error < 1e-9,
        figure=f"a random rotation of 7 dimensions: planes rotated by {listed(np.sort(np.abs(planes)), 2)} rad and "
        f"one fixed axis, put together again to {below(error, 1e-9)}; a line has {len(line)} planes to rotate",
    )


def C195() -> Evidence:
    at = angles(AT, THETA)
    back = rotate(_turned(Q, AT), -at, "interleaved")
    error = np.abs(back - Q).max()
    stretch = np.linalg.svd(rotation_matrix(at, "interleaved"), compute_uv=False)
    return Evidence(
        as_said=error < 1e-9 and np.abs(stretch - 1).max() < 1e-9,
        figure=f"rotated and rotated back at five positions up to 100000: off by {below(error, 1e-9)}; singular "
        f"values of the rotations from {stretch.min():.4f} to {stretch.max():.4f}",
    )


def C196() -> Evidence:
    rng = np.random.default_rng(6)
    first, second = rng.standard_normal((2, 256))
    w_q, w_k = rng.standard_normal((2, DIM, 256)) / 16
    wide = inv_freq(256, BASE)
    before = np.sum((_turned(first, AT, wide) @ w_q.T) * (_turned(second, AT - OFFSET, wide) @ w_k.T), axis=-1)
    after = np.sum(_turned(w_q @ first, AT) * _turned(w_k @ second, AT - OFFSET), axis=-1)
    return Evidence(
        as_said=np.ptp(before) < 1e-9,
        weaker={"it multiplies queries and keys by a rotation": np.ptp(after) < 1e-9},
        figure=f"score at distance 7, query at 7, 10, 500, 5000, 100000: embeddings rotated {listed(before, 2)}; "
        f"queries and keys rotated {after[0]:.2f} everywhere",
    )


def C197() -> Evidence:
    q, k, v = np.random.default_rng(7).standard_normal((3, 16, DIM))

    def change(turning: str) -> float:
        """Of the outputs when all tokens move by 100 places, relative to their size."""
        outputs = []
        for start in (0, 100):
            at = angles(np.arange(start, start + 16), THETA)
            turned = (
                rotate(x, at, "interleaved") if name in turning else x for name, x in zip("qkv", (q, k, v), strict=True)
            )
            outputs.append(attention(*turned).output)
        return _rms(outputs[1] - outputs[0]) / _rms(outputs[0])

    keys_values, all_three, right = change("kv"), change("qkv"), change("qk")
    return Evidence(
        as_said=keys_values < 1e-9,
        weaker={"with the query rotated as well, nothing changes when all tokens move": all_three < 1e-9},
        figure=f"change of the outputs when all tokens move by 100: {keys_values:.0%} with k and v rotated, "
        f"{all_three:.0%} with q, k and v, {below(right, 1e-9)} with q and k",
    )


def C198() -> Evidence:
    counted_from_one = np.array([10_000 ** (-2 * (j - 1) / DIM) for j in range(1, DIM // 2 + 1)])
    error = np.abs(counted_from_one / THETA - 1).max()
    return Evidence(
        as_said=error < 1e-12,
        figure=f"j = 1, 2, 64: {counted_from_one[0]:.0f}, {counted_from_one[1]:.4f}, {counted_from_one[-1]:.4e}; "
        f"relative difference to the list counted from 0 {below(error, 1e-12)}",
    )


def C239() -> Evidence:
    rng, moves = np.random.default_rng(0), np.arange(9)

    def spread(generators: np.ndarray) -> float:
        """Of the score of two patches, one row and two columns apart, over common moves; maximum of 20 draws."""
        widest = 0.0
        for _ in range(20):
            down, across = (expm(part - part.T) for part in generators * rng.standard_normal((2, 1, 1)))
            q, k = rng.standard_normal((2, 4))
            q, k = q / np.linalg.norm(q), k / np.linalg.norm(k)
            scores = [
                (matrix_power(down, s + 1) @ matrix_power(across, s + 2) @ q)
                @ (matrix_power(down, s) @ matrix_power(across, s) @ k)
                for s in moves
            ]
            widest = max(widest, float(np.ptp(scores)))
        return widest

    planes = np.zeros((2, 4, 4))
    planes[0, 0, 1] = planes[1, 2, 3] = 1.0  # a plane for each
    shared = planes.sum(axis=0) * np.ones((2, 1, 1))  # both planes for both
    crossed = np.zeros((2, 4, 4))
    crossed[0, 0, 1] = crossed[1, 1, 2] = 1.0  # planes that meet in a line
    kept, lost = max(spread(planes), spread(shared)), spread(crossed)
    return Evidence(
        as_said=kept < 1e-9 and lost > 0.1,
        figure="spread of the score of unit vectors when both patches move together, maximum of 20 draws: "
        f"{below(kept, 1e-9)} for rotations that commute, {lost:.2f} for rotations in planes that meet in a line",
    )
