"""Answers to assignment 1, beside the edits of its solutions: see `course.private.bank`."""

# An answer stands beside or below its name and its sentence.
# fmt: off

_ATTENTION = "def attention(q, k, v, causal):\n"
_MASKED = 'scores.masked_fill(ahead, float("-inf"))'
_SOFTMAX = "torch.softmax(scores, dim=-1)"
_REORDERED = "def reordered(output, weights, order):\n"
_ORDERED = "output[..., order, :], weights[..., order, :][..., order]"
_BINARY = "def binary(positions, bits):\n"
_BITS = "(positions[:, None] >> np.arange(bits)) & 1"
_SINUSOIDAL = "def sinusoidal(positions, dim, base):\n"
_FREQUENCIES = "base ** (-2 * np.arange(dim // 2) / dim)"
_SHIFT = "def shift(k, dim, base):\n"
_BASE_SLIDER = "FloatLogSlider(10_000, min=1, max=6)"
_SLIDERS = f"""{{"base": {_BASE_SLIDER},
            "dim": IntSlider(64, min=4, max=256, step=2)}}"""
_NUMPY_ATTENTION = f"""{_ATTENTION}
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.triu(np.ones(scores.shape[-2:], dtype=bool), 1), -np.inf, scores)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights = powers / powers.sum(-1, keepdims=True)
    return weights @ v, weights
"""

WRONG = {
    "q1": {
        "masked with -100": ("must be lower still", 'float("-inf")', "-100.0"),
        "-1e4 added": ("later tokens are visible where a later", _MASKED, "scores - 1e4 * ahead"),
        "softmax over axis 1, whatever it is": ("", "dim=-1)", "dim=1)"),
        "own place masked with infinity": ("the result isn't finite under", "triu(1)", "triu(0)"),
        "minus infinity times a mask of zeros": ("0 was multiplied by −∞", _MASKED, "scores + ahead * -torch.inf"),
        "output alone": ("should be 2 values", "weights @ v, weights", "weights @ v"),
        "k.T": ("", "k.transpose(-2, -1)", "k.T"),
        "bare exponential": ("the result isn't finite where",
            _SOFTMAX, "scores.exp() / scores.exp().sum(-1, keepdim=True)"),
        "weights transposed": ("", _SOFTMAX, f"{_SOFTMAX}.mT", "weights @ v", "weights.mT @ v"),
        "no return": ("is a `return` missing", "return weights @ v, weights", "weights @ v"),
        "NumPy, no scale": ("undivided", _NUMPY_ATTENTION.replace(" / np.sqrt(q.shape[-1])", "")),
        "NumPy, the last value masked with 0": ("a score of 0", _NUMPY_ATTENTION.replace("-np.inf", "0.0")),
        "NumPy, k.T": ("", _NUMPY_ATTENTION.replace("np.swapaxes(k, -1, -2)", "k.T")),
    },
    "q2": {
        "P A P instead of P A Pᵀ": ("rows and columns of", f"""{_REORDERED}
    P = torch.eye(len(order), dtype=output.dtype)[order]
    return P @ output, P @ weights @ P"""),
        "outputs alone": ("in this order: the outputs, the weights", _ORDERED, "output[..., order, :]"),
        "no return": ("is a `return` missing", f"return {_ORDERED}", "output[..., order, :]"),
        "NumPy, only the rows": ("only the rows of", f"""{_REORDERED}
    return np.take(output, order, axis=-2), np.take(weights, order, axis=-2)"""),
    },
    "q3": {
        "text of the number": ("the highest bit comes first",
            _BITS, 'np.array([[int(c) for c in format(int(t), f"0{bits}b")] for t in positions])'),
        "text": ("should be an array", _BITS, "[bin(int(t))[2:] for t in positions]"),
        "period 2^i": ("every column is too fast", f"""{_BINARY}
    i = np.arange(bits)
    return (2 * (positions[:, None] % 2**i) >= 2**i).astype(float) * (i > 0)"""),
    },
    "q4": {
        "powers of two": ("", _FREQUENCIES, "0.5 ** np.arange(dim // 2)"),
        "axes mixed up by reshape": ("", "axis=-1", "axis=0"),
        "put into an array of whole numbers": ("sines and cosines were", f"""{_SINUSOIDAL}
    code = np.zeros_like(positions, shape=(len(positions), dim))
    angle = np.outer(positions, {_FREQUENCIES})
    code[:, 0::2], code[:, 1::2] = np.sin(angle), np.cos(angle)
    return code"""),
        "angles in float32": ("nearly right, but digits are lost: the angles were computed in too low a precision",
            "positions[:, None] * inv_freq", "np.float32(positions)[:, None] * np.float32(inv_freq)"),
        "rounded to three digits": ("",
            "return np", "return np.round(1000 * np", "dim)\n    ###", "dim)) / 1000\n    ###"),
        "no return": ("is a `return` missing", "return np.stack", "np.stack"),
    },
    "q6": {
        "steps forward only": ("raised", "(dim, dim))", "(dim, dim))\n    if k < 1:\n        raise ValueError"),
        "angles in float32": ("nearly right, but digits are lost: the angles were computed in too low a precision",
            "k * base ** (-2 * i / dim)", "np.float32(k) * np.float32(base ** (-2 * i / dim))"),
    },
    "q7": {
        "200 points": ("one point for each distance", "arange(201)", "arange(200)"),
        "no horizontal values": ("one point for each distance", "x=k, ", ""),
        "axis without a title": ("does not say what it counts", 'xaxis_title="distance (tokens)", ', ""),
        "figure not returned": ("`draw` returned nothing", "return figure", "figure"),
        "trace returned": ("a Plotly figure", "return figure", "return figure.data[0]"),
        "empty figure": ("empty", "go.Scatter(x=k, y=similarity)", ""),
        "ends are values": ("the ends of a", "min=1, max=6", "min=10, max=1e6"),
        "even steps for the base": ("should be a FloatLogSlider",
            f'"base": {_BASE_SLIDER}', '"base": __import__("ipywidgets").FloatSlider(10_000, min=10, max=1_000_000)'),
        "odd widths": ("odd widths", ", step=2", ""),
        "starts elsewhere": ("does not start at ten thousand", "10_000", "100"),
        "ends elsewhere": ("does not run from 10", "max=6", "max=8"),
        "widths end elsewhere": ("from 4 to 256", "min=4", "min=2"),
        "another name": ("keys base and dim", '"dim"', '"width"'),
        "numbers in place of sliders": ("should be a FloatLogSlider", _SLIDERS, '{"base": 10_000, "dim": 64}'),
        "controls not returned": ("is a `return` missing", f"return {_SLIDERS}", "FloatLogSlider()"),
    },
}

PROPERTY_ONLY = {
    "q1": {
        "rows add up to 1": ("q @ k", "0 * q @ k"),
        "each word keeps its own value": (_SOFTMAX, "(torch.eye(*scores.shape[-2:]) + 0 * scores).to(q.dtype)"),
        "the winner takes all": (_SOFTMAX, "torch.nn.functional.one_hot(scores.argmax(-1), k.shape[-2]).to(q.dtype)"),
    },
    "q2": {
        "returns its input": (_ORDERED, "output, weights"),
        "sorted": (_ORDERED, "output.sort(-2).values, weights.sort(-2).values"),
    },
    "q3": {
        "unique, but not binary": (_BITS, "np.repeat(positions[:, None], bits, axis=1)"),
        "noughts and ones at random": (_BITS, "np.random.default_rng(0).integers(0, 2, (len(positions), bits))"),
    },
    "q4": {
        "length √(d/2), relative, wrong speeds": (_FREQUENCIES, "0.5 ** np.arange(dim // 2)"),
        "shares of the length": ("positions[:, None] * inv_freq", "positions[:, None] / len(positions) + 0 * inv_freq"),
        "zeros": ("return np.stack", "return 0 * np.stack"),
    },
    "q6": {
        "identity": ("[[c, s], [-s, c]]", "np.eye(2)"),
        "orthogonal, relative, wrong speeds": ("base ** (-2 * i / dim)", "0.5**i"),
        "moves the columns on": ("return matrix", "return np.roll(np.eye(dim), int(k), axis=0)"),
    },
    "q7": {
        "not a figure": """
def draw(base, dim):
    return {"figure": {"data": [{"x": {"bdata": "?", "dtype": "O"}, "y": [[1], [2, 3]]}], "layout": 3}}
def controls():
    return {"base": {"widget": "FloatLogSlider", "min": 10**500, "max": "6", "base": None}, "dim": []}""",
        "shapeless": """
def draw(base, dim):
    return {"figure": {"data": {"x": 1}}}
def controls():
    return {"base": {"widget": "FloatLogSlider", "min": 1}, "dim": {"widget": "IntSlider"}}""",
    },
}

RIGHT = {
    "q1": {
        "einsum, a softmax by hand, -1e9": f"""{_ATTENTION}
    scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if causal:
        i, j = torch.arange(q.shape[-2])[:, None], torch.arange(k.shape[-2])
        scores = scores.masked_fill(j > i, -1e9)
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return torch.einsum("...ij,...jd->...id", weights, v), weights""",
        "an added mask": (_MASKED, "scores + torch.where(ahead, -torch.inf, 0.0)",
            _SOFTMAX, "scores.log_softmax(-1).exp()", "weights @ v, weights", "[weights @ v, weights]"),
        "NumPy": _NUMPY_ATTENTION,
    },
    "q2": {
        "a permutation matrix": f"""{_REORDERED}
    P = torch.eye(len(order), dtype=output.dtype)[order]
    return P @ output, P @ weights @ P.T""",
        "NumPy": f"""{_REORDERED}
    return np.take(output, order, axis=-2), np.take(np.take(weights, order, axis=-2), order, axis=-1)""",
    },
    "q3": {
        "division and remainder": f"""{_BINARY}
    code = np.zeros((len(positions), bits))
    rest = positions.copy()
    for i in range(bits):
        code[:, i], rest = rest % 2, rest // 2
    return code""",
        "truth values of a mask": (_BITS, "(positions[:, None] & (1 << np.arange(bits))) > 0"),
    },
    "q4": {
        "loops": f"""{_SINUSOIDAL}
    code = np.zeros((len(positions), dim))
    for row, t in enumerate(positions):
        for i in range(dim // 2):
            angle = t / base ** (2 * i / dim)
            code[row, 2 * i], code[row, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return code""",
        "a cosine is a sine a quarter turn on": f"""{_SINUSOIDAL}
    column = np.arange(dim)
    return np.sin(np.outer(positions, base ** -((column - column % 2) / dim)) + column % 2 * np.pi / 2)""",
        "torch": f"""{_SINUSOIDAL}
    speeds = base ** (-2 * torch.arange(dim // 2, dtype=torch.float64) / dim)
    angle = torch.as_tensor(positions).double()[:, None] * speeds
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)""",
    },
    "q6": {
        "least squares over a table of its own": f"""{_SHIFT}
    def table(t):
        angle = np.outer(t, {_FREQUENCIES})
        return np.stack([np.sin(angle), np.cos(angle)], -1).reshape(len(t), dim)
    t = np.arange(1200)
    return np.linalg.lstsq(table(t), table(t + k), rcond=None)[0].T""",
        "Kronecker products": f"""{_SHIFT}
    turned = k * {_FREQUENCIES}
    J = np.array([[0, 1], [-1, 0]])
    return np.kron(np.diag(np.cos(turned)), np.eye(2)) + np.kron(np.diag(np.sin(turned)), J)""",
    },
    "q7": {
        "two codes multiplied, other words, lists": """
def draw(base, dim):
    angle = np.outer(np.arange(201), base ** (-np.arange(0, dim, 2) / dim))
    codes = np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
    figure = go.Figure()
    figure.add_trace(go.Scatter(x=list(range(201)), y=(codes @ codes[0] / (dim / 2)).tolist(), mode="lines"))
    figure.update_xaxes(title="Tokens between the two")
    return figure
def controls():
    return dict(dim=IntSlider(value=64, min=4, max=256, step=2, description="width"),
                base=FloatLogSlider(value=1e4, min=1, max=6, step=0.05))""",
        "a natural base for the slider": (_BASE_SLIDER, "FloatLogSlider(10_000, base=100, min=0.5, max=3)"),
    },
}
