"""The claims that chapters 01 and 02 tell: what attention computes, and what it can see of the order of words."""

from itertools import permutations

import numpy as np

from book.claims.evidence import Evidence, below, listed
from posenc.absolute import relative_positions, sinusoidal
from posenc.analysis import decay
from posenc.attention import Attention, attention
from posenc.bias import alibi
from posenc.frequencies import angles, inv_freq
from posenc.rotary import rotate

DIM = 16
THETA = inv_freq(DIM)
VOCABULARY = ("I", "love", "you", "dog", "bites", "man")
EMBEDDING = dict(zip(VOCABULARY, np.random.default_rng(0).standard_normal((len(VOCABULARY), DIM)), strict=True))
# the maps to queries, keys and values, of two layers; of a size that makes some weights large
PROJECTIONS = np.random.default_rng(1).standard_normal((2, 3, DIM, DIM)) * 1.5 / np.sqrt(DIM)
MANY = np.random.default_rng(2).standard_normal((6, DIM))  # a longer sentence
EXACT = 1e-12


def _sentence(words: str) -> np.ndarray:
    return np.stack([EMBEDDING[word] for word in words.split()])


def _attend(x: np.ndarray, layer: int = 0, *, causal: bool = False, bias: np.ndarray | None = None) -> Attention:
    """Self-attention of a sentence, without any code of positions."""
    return attention(*(x @ w for w in PROJECTIONS[layer]), causal=causal, bias=bias)


def _layers(x: np.ndarray, number: int, causal: bool) -> np.ndarray:
    """That many layers of attention, each added to what goes in."""
    for layer in range(number):
        x = x + _attend(x, layer, causal=causal).output
    return x


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def _apart(first: np.ndarray, second: np.ndarray) -> float:
    """The largest difference between entries."""
    return float(np.abs(first - second).max())


def C001() -> Evidence:
    there, back = (_attend(_sentence(words)).output for words in ("I love you", "you love I"))
    moved, pooled = _apart(there, back[::-1]), _apart(there.mean(axis=0), back.mean(axis=0))
    return Evidence(
        as_said=_apart(there, back) < EXACT,
        weaker={
            "the rows move with the words, and what is made of all rows alike stays": moved < EXACT and pooled < EXACT
        },
        figure=f"outputs position by position differ by up to {below(_apart(there, back))}, word by word by "
        f"{below(moved)}, their means by {below(pooled)}",
    )


def C002() -> Evidence:
    pairs = np.random.default_rng(8).standard_normal((1000, 2, DIM))
    there, back = _attend(pairs).output, _attend(pairs[:, ::-1]).output
    change = _rms(there - back) / _rms(there)
    moved, pooled = _apart(there, back[:, ::-1]), _apart(there.mean(axis=1), back.mean(axis=1))
    return Evidence(
        as_said=_apart(there, back) < EXACT,
        weaker={
            "the rows change places with the words, and what is made of both alike stays": moved < EXACT
            and pooled < EXACT
        },
        figure=f"1000 pairs of words: T(x, y) − T(y, x) has {change:.0%} of the root mean square of T(x, y); with rows "
        f"exchanged again the difference is {below(moved)}, of the means {below(pooled)}",
    )


def C003() -> Evidence:
    there, back = (_layers(_sentence(words), 2, causal=False) for words in ("I love you", "you love I"))
    # the row of the second matrix that comes closest to each row of the first
    closest = [int(np.abs(back - row).max(axis=-1).argmin()) for row in there]
    return Evidence(
        as_said=_apart(there, back) < EXACT,
        weaker={"the rows as a set are the same": _apart(there, back[closest]) < EXACT},
        figure=f"two layers: rows 1, 2, 3 of the first matrix are rows {', '.join(str(row + 1) for row in closest)} "
        f"of the second to {below(_apart(there, back[closest]))}; their first rows differ by "
        f"{_apart(there[0], back[0]):.2f}",
    )


def C004() -> Evidence:
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((rows, 8)) for rows in (1, 3, 3))
    there, back = attention(q, k, v, scale=1.0), attention(q, k[::-1], v[::-1], scale=1.0)
    change, moved = _apart(there.output, back.output), _apart(there.weights, back.weights)
    return Evidence(
        as_said=change < EXACT and moved > 0.1,
        figure=f"the weights move by up to {moved:.2f}, the output by {below(change)}",
    )


def C005() -> Evidence:
    order = np.random.default_rng(4).permutation(len(MANY))
    permutation = np.eye(len(MANY))[order]
    before, after = _attend(MANY), _attend(permutation @ MANY)
    errors = [
        _apart(after.logits, permutation @ before.logits @ permutation.T),
        _apart(after.weights, permutation @ before.weights @ permutation.T),
    ]
    moved = _apart(after.weights, before.weights)
    return Evidence(
        as_said=max(errors) < EXACT and moved > 0.1,
        figure=f"order {' '.join(str(row + 1) for row in order)}: scores agree to {below(errors[0])}, weights to "
        f"{below(errors[1])}, though single weights move by up to {moved:.2f}",
    )


def C006() -> Evidence:
    order = np.random.default_rng(4).permutation(len(MANY))
    before, after = _attend(MANY), _attend(MANY[order])
    moved = np.ix_(order, order)
    score = _apart(after.logits, before.logits[moved])
    by_place, by_words = _apart(after.weights, before.weights), _apart(after.weights, before.weights[moved])
    causal = [_attend(x, causal=True).weights for x in (MANY, MANY[order])]
    masked = _apart(causal[1], causal[0][moved])
    return Evidence(
        as_said=max(score, by_words) < EXACT < by_place,
        figure=f"six words in another order: the score of the same two words changes by {below(score)}, their "
        f"weight by {below(by_words)}, under a causal mask by up to {below(masked)}; place by place, weights "
        f"change by up to {below(by_place)}",
    )


def C007() -> Evidence:
    x = _sentence("dog bites man bites")
    both_ways, causal = (_attend(x, causal=causal).output for causal in (False, True))
    change = [_apart(output[1], output[3]) for output in (both_ways, causal)]
    return Evidence(
        cases={"without a mask": change[0] < EXACT, "under a causal mask": change[1] < EXACT},
        figure=f"“dog bites man bites”: the outputs of “bites” differ by {below(change[0])} without a mask, by up "
        f"to {below(change[1])} under a causal one",
    )


def C008() -> Evidence:
    change = []
    for causal in (False, True):
        second, third = (
            _attend(_sentence(words), causal=causal).output[words.split().index("love")]
            for words in ("I love you", "I you love")
        )
        change.append(_apart(second, third))
    return Evidence(
        cases={"without a mask": change[0] < EXACT, "under a causal mask": change[1] < EXACT},
        figure=f"the output of “love” changes by {below(change[0])} without a mask, by up to {below(change[1])} "
        "under a causal one",
    )


def C009() -> Evidence:
    rng = np.random.default_rng(5)
    table, first, second = (rng.standard_normal(shape) for shape in ((9, DIM), (DIM, 4 * DIM), (4 * DIM, DIM)))

    def pointwise(tokens: np.ndarray) -> np.ndarray:
        """Embedding, normalisation and a feed-forward layer."""
        x = table[tokens]
        x = (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)
        return np.maximum(x @ first, 0) @ second / DIM

    sentence, other = np.array([3, 1, 4, 5]), np.array([3, 8, 2, 6])  # one word in common, the first
    alone = np.concatenate([pointwise(sentence[i : i + 1]) for i in range(4)])
    error = _apart(pointwise(sentence), alone)
    neighbours = _apart(_attend(table[sentence]).output[0], _attend(table[other]).output[0])
    return Evidence(
        as_said=error < EXACT and neighbours > 0.1,
        figure=f"a word alone and in its sentence, through embedding and feed-forward layer: difference "
        f"{below(error)}; among other neighbours attention gives it an output that differs by {neighbours:.2f}",
    )


def C010() -> Evidence:
    sentences = ("dog bites man", "man bites dog")
    code = sinusoidal(np.arange(3), DIM)

    def change(code: np.ndarray | float = 0.0, causal: bool = False) -> list[float]:
        """How far each word's output in one sentence is from its output in the other."""
        outputs = [
            dict(zip(words.split(), _attend(_sentence(words) + code, causal=causal).output, strict=True))
            for words in sentences
        ]
        return [_apart(outputs[0][word], outputs[1][word]) for word in sentences[0].split()]

    bare, masked, placed = max(change()), change(causal=True)[0], change(code)[0]
    return Evidence(
        as_said=bare < EXACT,
        figure=f"no word's output changes by more than {below(bare)}; that of “dog” changes by up to "
        f"{below(masked)} under a causal mask, {below(placed)} with a sinusoidal encoding",
    )


def C011() -> Evidence:
    orders = [[*order, 4] for order in permutations(range(4))]  # of the four words before the last

    def change(layers: int, causal: bool) -> float:
        last = [_layers(MANY[order], layers, causal)[-1] for order in orders]
        return float(np.ptp(last, axis=0).max())

    one, two, two_ways = change(1, True), change(2, True), change(2, False)
    return Evidence(
        as_said=two > 0.01 > two_ways,
        figure=f"output of the last of five words, over all {len(orders)} orders of the others: changes by "
        f"{below(one)} after one causal layer, by up to {below(two)} after two, by {below(two_ways)} after "
        "two without a mask",
    )


def C012() -> Evidence:
    same = np.tile(EMBEDDING["love"], (8, 1))
    marked = np.concatenate([EMBEDDING["I"][None], same])  # a first token of its own, as BOS is
    spread = [float(np.ptp(_attend(x, causal=True).output[-8:], axis=0).max()) for x in (same, marked)]
    # equal weights for all, and a value that marks the first token
    flag = attention(np.zeros((9, 1)), np.zeros((9, 1)), np.eye(9)[:, :1], causal=True).output[:, 0]
    counts = _apart(flag, 1 / np.arange(1, 10)) < EXACT
    return Evidence(
        as_said=spread[1] > 0.01 and counts,
        figure=f"outputs of eight equal tokens differ by {below(spread[0])}, behind a first token of its own kind "
        f"by up to {below(spread[1])}; equal weights bring a flag on it to {flag[0]:.0f}, {flag[1]:.3f}, "
        f"{flag[2]:.3f}, …, {flag[-1]:.3f}",
    )


WIDTHS = (16, 64, 256, 1024)


def _random_attention(width: int, keys: int, scale: float | None = None) -> Attention:
    """Attention of 1000 queries, all entries standard normal."""
    rng = np.random.default_rng(width)
    q, k = rng.standard_normal((1000, width)), rng.standard_normal((keys, width))
    return attention(q, k, k[:, :1], scale=scale)


def C013() -> Evidence:
    raw, scaled = (
        np.array([_random_attention(width, 1000, scale).logits.var() for width in WIDTHS]) for scale in (1.0, None)
    )
    grows, fixed = np.abs(raw / WIDTHS - 1).max() < 0.1, np.abs(scaled - 1).max() < 0.1
    return Evidence(
        as_said=grows and fixed,
        figure=f"variance of q·k for {', '.join(map(str, WIDTHS))} dimensions: "
        f"{listed(raw, 1)}; over √d_k: {listed(scaled, 2)}",
    )


def C014() -> Evidence:
    def gradient(width: int, scale: float | None) -> float:
        """The trace of softmax's matrix of derivatives, diag(w) − wwᵀ, averaged over queries."""
        weights = _random_attention(width, 32, scale).weights
        return float(np.mean(np.sum(weights * (1 - weights), axis=-1)))

    raw, scaled = ([gradient(width, scale) for width in WIDTHS] for scale in (1.0, None))
    falls = bool(np.all(np.diff(raw) < 0))
    return Evidence(
        as_said=falls and raw[-1] < 0.1 and min(scaled) > 0.9,
        figure=f"trace of the softmax Jacobian, 32 keys of {', '.join(map(str, WIDTHS))} dimensions: "
        f"{listed(raw)}; scaled {listed(scaled)}",
    )


def C015() -> Evidence:
    queries, keys = (MANY @ w for w in PROJECTIONS[0, :2])
    by_words = np.array([[sum(a * b for a, b in zip(q, k, strict=True)) for k in keys] for q in queries])
    logits = attention(queries, keys, keys, scale=1.0).logits
    error, transposed = _apart(logits, by_words), _apart(logits, by_words.T)
    return Evidence(
        as_said=logits.shape == (6, 6) and error < EXACT and transposed > 0.1,
        figure=f"six words: shape {logits.shape}, entry (i, j) is that of word i's query and word j's key to "
        f"{below(error)}; with query and key exchanged it differs by up to {transposed:.2f}",
    )


def C016() -> Evidence:
    def accepted(query: int, key: int, value: int) -> bool:
        q, k, v = (np.ones((5, width)) for width in (query, key, value))
        try:
            return attention(q, k, v).output.shape == (5, value)
        except ValueError:
            return False

    keys_differ, values_differ = accepted(8, 6, 8), accepted(8, 8, 3)
    return Evidence(
        as_said=values_differ and not keys_differ,
        figure=f"d_q = 8 with d_k = 6 {'runs' if keys_differ else 'cannot be multiplied'}, d_q = d_k = 8 with "
        f"d_v = 3 {'runs' if values_differ else 'does not run'}",
    )


def C017() -> Evidence:
    rng = np.random.default_rng(6)
    from_word, from_state = rng.standard_normal((2, DIM, DIM)) / np.sqrt(DIM)

    def last_state(x: np.ndarray) -> np.ndarray:
        state = np.zeros(DIM)
        for word in x:
            state = np.tanh(word @ from_word + state @ from_state)
        return state

    sentences = [_sentence(words) for words in ("dog bites man", "man bites dog")]
    recurrent = _apart(*(last_state(x) for x in sentences))
    pooled = _apart(*(_attend(x).output.mean(axis=0) for x in sentences))
    return Evidence(
        as_said=recurrent > 0.1,
        figure=f"“dog bites man” against its reverse: the last state of a small tanh RNN differs by up to "
        f"{below(recurrent)}, the mean output of attention by {below(pooled)}",
    )


def C018() -> Evidence:
    rng = np.random.default_rng(7)
    logits, weights = [], []
    for length, query_at in ((10, 6), (20, 15)):  # the key stands four tokens before the query
        x = rng.standard_normal((length, DIM))
        x[query_at], x[query_at - 4] = EMBEDDING["dog"], EMBEDDING["bites"]
        q, k = (rotate(x @ w, angles(np.arange(length), THETA), "interleaved") for w in PROJECTIONS[0, :2])
        seen = attention(q, k, x)
        logits.append(float(seen.logits[query_at, query_at - 4]))
        weights.append(float(seen.weights[query_at, query_at - 4]))
    return Evidence(
        cases={
            "for the score, with rotation": abs(logits[0] - logits[1]) < EXACT,
            "for the attention weight": abs(weights[0] - weights[1]) < EXACT,
        },
        figure=f"rotary, four tokens apart, in sentences of 10 and 20 words: logit {logits[0]:.4f} and "
        f"{logits[1]:.4f}, weight {weights[0]:.4f} and {weights[1]:.4f}",
    )


def C019() -> Evidence:
    at = np.arange(len(MANY))

    def reversal_seen(symmetric_bias: bool) -> float:
        """How far the outputs of the sentence read backwards are from the outputs backwards."""
        outputs = []
        for x in (MANY, MANY[::-1]):
            q, k, v = (x @ w for w in PROJECTIONS[0])
            if symmetric_bias:
                bias = alibi(relative_positions(at, at), [0.5], symmetric=True)[0]
                outputs.append(attention(q, k, v, bias=bias).output)
            else:
                outputs.append(
                    attention(
                        rotate(q, angles(at, THETA), "interleaved"), rotate(k, angles(at, THETA), "interleaved"), v
                    ).output
                )
        return _apart(outputs[0], outputs[1][::-1])

    bias, rotary = reversal_seen(True), reversal_seen(False)
    asymmetry = _apart(decay(at, THETA), decay(-at, THETA))
    return Evidence(
        cases={
            "where queries and keys bring the direction, as with rotation": rotary > 0.1 and asymmetry < EXACT,
            "for a symmetric bias on the scores": bias > EXACT,
        },
        figure=f"six words read backwards: with a bias of −|i − j|/2 each word's output changes by {below(bias)}, "
        f"with rotation by up to {below(rotary)}, though S(m) and S(−m) differ by {below(asymmetry)}",
    )
