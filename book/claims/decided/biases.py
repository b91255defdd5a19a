"""The claims that chapter 14 tells: codes that change the logits (ALiBi, T5, DeBERTa, Sandwich, Transformer-XL)."""

import numpy as np

from book.claims.evidence import Evidence, below, listed
from posenc.absolute import relative_positions, sinusoidal
from posenc.analysis import decay, four_terms
from posenc.attention import attention
from posenc.bias import (
    alibi,
    alibi_rank_two,
    alibi_slopes,
    deberta,
    relative_shift,
    sandwich,
    sandwich_features,
    t5,
    t5_bucket,
    transformer_xl,
)
from posenc.frequencies import inv_freq

LENGTH, HEADS, HEAD_DIM = 12, 8, 16
AT = np.arange(LENGTH)
OFFSETS = relative_positions(AT, AT)


def _random(*shapes: tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


def _qkv() -> list[np.ndarray]:
    return _random(*[(HEADS, LENGTH, HEAD_DIM)] * 3)


def _spread_on_diagonals(bias: np.ndarray) -> float:
    """The greatest difference between two entries that are equally far apart."""
    rows = range(1 - LENGTH, LENGTH)
    return max(float(np.ptp(np.diagonal(bias, row, axis1=-2, axis2=-1), axis=-1).max()) for row in rows)


def C150() -> Evidence:
    qkv, slopes = _qkv(), alibi_slopes(HEADS)
    backwards = [x[:, ::-1] for x in qkv]
    change = {}
    for symmetric in (False, True):
        bias = alibi(OFFSETS, slopes, symmetric=symmetric)
        there, back = (attention(*words, bias=bias).output for words in (qkv, backwards))
        change[symmetric] = np.abs(back[:, ::-1] - there).max()
    return Evidence(
        cases={"in its symmetric form": change[True] < 1e-12, "under a causal mask": change[False] < 1e-12},
        figure=f"words in reverse order, maximum change of a word's output: causal {change[False]:.2f}, "
        f"symmetric {below(change[True])}",
    )


def C151() -> Evidence:
    q, k, v = _qkv()
    slopes = alibi_slopes(HEADS)
    wanted = attention(q, k, v, bias=alibi(OFFSETS, slopes)).weights
    logits, distance = q @ k.swapaxes(-1, -2), np.abs(OFFSETS)
    past = np.where(OFFSETS > 0, -np.inf, 0.0)

    def error(written: np.ndarray) -> float:
        weights = np.exp(written - written.max(axis=-1, keepdims=True))
        return float(np.abs(weights / weights.sum(axis=-1, keepdims=True) - wanted).max())

    each_head = logits / np.sqrt(HEAD_DIM) - slopes[:, None, None] * distance
    # the shorter formula: one strength for all heads (the best of the slopes) and no division by √d
    one_for_all = min(error(logits - slope * distance + past) for slope in slopes)
    between = listed(alibi_slopes(12)[8:], 4)
    return Evidence(
        cases={"under a causal mask": error(each_head + past) < 1e-12, "without one": error(each_head) < 1e-12},
        figure=f"maximum error of a weight: without a mask {below(error(each_head))}, with a causal one "
        f"{below(error(each_head + past))}, with that but one slope and no √d {below(one_for_all)}; 8 heads: "
        f"1/{1 / slopes[0]:.0f} to 1/{1 / slopes[-1]:.0f}, 12 heads add {between}",
    )


def C152() -> Evidence:
    q, k, v = _qkv()
    slopes = alibi_slopes(HEADS)
    query_features, key_features = alibi_rank_two(AT, AT, slopes)
    scale = HEAD_DIM**-0.5
    wide = [np.concatenate(pair, axis=-1) for pair in ((q, query_features / scale), (k, key_features))]
    bias = alibi(OFFSETS, slopes)
    wanted = attention(q, k, v, bias=bias).weights
    folded = np.abs(attention(*wide, v, scale=scale, causal=True).weights - wanted).max()
    by_key = np.broadcast_to(slopes[:, None, None] * AT, bias.shape)
    bloom = np.abs(attention(q, k, v, bias=by_key, causal=True).weights - wanted).max()
    rank = int(np.linalg.matrix_rank(query_features @ key_features.swapaxes(-1, -2)).max())
    return Evidence(
        as_said=max(folded, bloom) < 1e-12 and rank == 2,
        figure=f"rank {rank}; maximum error of a weight: with two more dimensions {below(folded)}, in BLOOM's form "
        f"{below(bloom)}",
    )


def C153() -> Evidence:
    content = _random((1, LENGTH, HEAD_DIM), (1, LENGTH, HEAD_DIM), (1, 16, HEAD_DIM), (1, 16, HEAD_DIM))
    terms = deberta(*content, OFFSETS)
    table = _random((32, 1), seed=1)[0]
    of_t5 = _spread_on_diagonals(t5(OFFSETS, table, bidirectional=True))
    three = terms.bias[0, [2, 3, 4], [0, 1, 2]]
    return Evidence(
        cases={"for T5": of_t5 < 1e-12, "for DeBERTa": _spread_on_diagonals(terms.bias) < 1e-12},
        figure=f"DeBERTa's bias two tokens back, of words 2, 3 and 4: {listed(three, 2)}; T5's "
        f"spread at one distance: {of_t5:.2f}",
    )


def C154() -> Evidence:
    far = np.arange(100_001)
    causal = t5_bucket(-far, bidirectional=False)
    left, right = (t5_bucket(side * far, bidirectional=True) for side in (-1, 1))
    last = [int(np.argmax(bucket == bucket[-1])) for bucket in (causal, left, right)]
    table = _random((32, HEADS))[0]
    try:
        runs = bool(np.isfinite(t5(relative_positions([far[-1]], far[::10_000]), table, bidirectional=False)).all())
    except (ValueError, IndexError):
        runs = False
    return Evidence(
        as_said=not runs,
        weaker={
            "from the start of the last bucket on, all distances share one learned number": np.ptp(causal[last[0] :])
            == 0
            and last[0] <= 128
            and max(last[1:]) <= 128
        },
        figure=f"distance {far[-1]:,} {'has a bias' if runs else 'is refused'}; the last bucket starts at {last[0]} in "
        f"a decoder (number {causal[-1]}) and at {last[1]} in an encoder (number {left[-1]} before, {right[-1]} after)",
    )


def C155() -> Evidence:
    table = np.arange(32.0)[:, None]
    bias = t5(relative_positions([4096.0], np.arange(4097)), table, bidirectional=False)[0, 0]
    jumps = int(np.count_nonzero(np.diff(bias)))
    # of something continuous, the greatest change over a step shrinks with the step
    at, theta, change = np.arange(0, 200, 0.25), inv_freq(128), {}
    for step in (1.0, 0.1, 0.01):
        change[step] = float(np.abs(decay(at + step, theta) - decay(at, theta)).max())
    shrinks = change[0.1] < 0.2 * change[1.0] and change[0.01] < 0.2 * change[0.1]
    return Evidence(
        as_said=jumps == 31 and shrinks,
        figure=f"T5's bias up to 4096: {jumps} jumps, level between them; maximum change of S in steps of 1, 0.1, "
        f"0.01 token: {listed(change.values(), 4)}",
    )


def C156() -> Evidence:
    given = {heads: alibi_slopes(heads) for heads in (1, 8, 16)}
    by_formula = all(
        np.array_equal(slopes, 2.0 ** (-8 * np.arange(1, n + 1) / n)) and slopes.shape == (n,)
        for n, slopes in given.items()
    )
    # and nothing but the slopes goes in: the bias is minus their product with the distance
    ratio = alibi(OFFSETS, given[8])[:, -1] / given[8][:, None]
    fixed = bool(np.array_equal(ratio, np.broadcast_to(OFFSETS[-1], ratio.shape)))
    table = _random((32, HEADS))[0]
    return Evidence(
        as_said=by_formula and fixed,
        figure=f"the number of heads gives every slope, for 8 heads 1/{1 / given[8][0]:.0f} to "
        f"1/{1 / given[8][-1]:.0f}; a T5 of 8 heads learns {table.size} numbers for its bias",
    )


def C157() -> Evidence:
    m = np.arange(300.0)
    codes, wide = sandwich_features(m, HEADS), sandwich(relative_positions(m, m), HEADS)
    error = np.abs(codes @ codes.swapaxes(-1, -2) - wide).max()
    product = wide[0, 0] / wide[0, 0, 0]
    ups = int(np.sum(np.diff(product) > 0))
    fit = {}
    for name, x in (("ln", np.log(m[1:])), ("line", m[1:])):
        line = np.polyfit(x, product[1:], 1)
        fit[name] = line[0], 1 - np.var(product[1:] - np.polyval(line, x)) / np.var(product[1:])
    downwards = bool(fit["ln"][0] < 0 and fit["ln"][1] > 0.8)
    return Evidence(
        as_said=error < 1e-9 and downwards and 0.3 < ups / 299 < 0.7,
        figure=f"{ups} of {m.size - 1} steps rise; fitted slope for each factor e of distance {fit['ln'][0]:.4f}, "
        f"theory {-1 / np.log(10_000):.4f}; variance explained {fit['ln'][1]:.2f}, by a straight line "
        f"{fit['line'][1]:.2f}",
    )


def C158() -> Evidence:
    # before: (x_i + p_i) and (x_j + p_j) through the projections, multiplied out
    x, q_weight, k_weight = _random((LENGTH, HEAD_DIM), *[(HEAD_DIM, HEAD_DIM)] * 2)
    p = sinusoidal(AT, HEAD_DIM)
    whole = ((x + p) @ q_weight.T) @ ((x + p) @ k_weight.T).T
    expansion = np.abs(sum(four_terms(x, x, p, p, q_weight, k_weight)) - whole).max()
    # after: r for p_j, and u and v for p_i; written out pair by pair
    q, k, u, v = _random(*[(1, LENGTH, HEAD_DIM)] * 2, *[(1, HEAD_DIM)] * 2, seed=1)
    r = (sinusoidal(AT[::-1], HEAD_DIM, layout="half-split") @ k_weight.T)[None]
    terms = transformer_xl(q, k, r, u, v)
    rows = r[0, LENGTH - 1 + np.minimum(OFFSETS, 0).astype(int)]  # (queries, keys, head_dim), the farthest row first
    by_hand = (q + u) @ k[0].T + np.einsum("id,ijd->ij", q[0] + v, rows)
    past = OFFSETS <= 0
    regrouped = np.abs(terms.logits - by_hand)[0, past].max()
    shift = np.abs(relative_shift(q @ r[0].T)[0] - np.einsum("id,ijd->ij", q[0], rows))[past].max()
    return Evidence(
        as_said=max(expansion, regrouped, shift) < 1e-10,
        figure=f"maximum error of the expansion {below(expansion, 1e-10)}, of (q + u)·k + (q + v)·r "
        f"{below(regrouped, 1e-10)}, of the shifted rows up to the diagonal {below(shift, 1e-10)}",
    )


def C159() -> Evidence:
    q, k, r, x, weight = _random(*[(1, LENGTH, HEAD_DIM)] * 4, (HEAD_DIM, HEAD_DIM))
    u, v = _random(*[(1, HEAD_DIM)] * 2, seed=1)
    terms = transformer_xl(q, k, r, u, v)
    by_word = np.ptp(terms.global_content, axis=-2).max()
    past = np.where(OFFSETS > 0, 0.0, terms.global_position)
    by_distance = _spread_on_diagonals(past)
    before = sinusoidal(AT, HEAD_DIM) @ weight @ k[0].T  # the term that u·k_j replaces: p_i·W·k_j
    return Evidence(
        as_said=by_word < 1e-12 and by_distance < 1e-12,
        figure=f"maximum spread over the positions of the query: u·k {below(by_word)}, v·r at one distance "
        f"{below(by_distance)}; the term that u·k replaces, which knows the query's position, "
        f"{np.ptp(before, axis=0).max():.1f}",
    )
