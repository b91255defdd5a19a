"""Answers to assignment 1: wrong ones with the sentence that names them, ones that only have a property, right ones.

Data only.
"""

# An answer stands beside or below its name and its sentence.
# fmt: off


def _attention(
    scores: str = "q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5",
    closed: str = "scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1) > 0, -torch.inf)",
    weights: str = "torch.softmax(scores, -1)",
    returned: str = "weights @ v, weights",
) -> str:
    return f"""
def attention(q, k, v, causal):
    scores = {scores}
    if causal:
        scores = {closed}
    weights = {weights}
    return {returned}
"""


def _reordered(answer: str) -> str:
    return f"\ndef reordered(output, weights, order):\n    return {answer}\n"


def _binary(answer: str) -> str:
    return f"\ndef binary(positions, bits):\n    return {answer}\n"


SCORES = """
def attention(q, k, v, causal):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
"""

WRONG = {
    "q1": {
        "no scale": ("undivided", _attention(scores="q @ k.mT")),
        "softmax over the queries": ("the softmax runs over the queries",
            _attention(weights="torch.softmax(scores, -2)")),
        "softmax over axis 1, whatever it is": (None, _attention(weights="torch.softmax(scores, 1)")),
        "mask forgotten": ("nothing is masked", SCORES + """
    weights = torch.softmax(scores, -1)
    return weights @ v, weights"""),
        "masked with score 0": ("a score of 0", _attention(closed="scores.tril()")),
        "masked with -100": ("must be lower still",
            _attention(closed="scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1) > 0, -100.0)")),
        **{
            f"{mask} added to closed scores": (
                "later tokens are visible where a later",
                SCORES
                + f"""
    if causal:
        scores = scores + {mask} * torch.ones(scores.shape[-2:], dtype=scores.dtype).triu(1)
    weights = torch.softmax(scores, -1)
    return weights @ v, weights""",
            )
            for mask in ("-100", "-1e3", "-1e4")
        },
        "weights zeroed afterwards": ("the masked weights are", SCORES + """
    weights = torch.softmax(scores, -1)
    if causal:
        weights = weights.tril()
    return weights @ v, weights"""),
        "the past is masked": ("the mask hides the",
            _attention(closed="scores.masked_fill(torch.ones(scores.shape[-2:]).tril(-1) > 0, -torch.inf)")),
        "own place masked with -1e9": ("tokens may not attend",
            _attention(closed="scores.masked_fill(torch.ones(scores.shape[-2:]).triu(0) > 0, -1e9)")),
        "own place masked with infinity": ("the result isn't finite under",
            _attention(closed="scores.masked_fill(torch.ones(scores.shape[-2:]).triu(0) > 0, -torch.inf)")),
        "minus infinity times a mask of zeros": ("0 was multiplied by −∞",
            _attention(closed="scores + torch.ones(scores.shape[-2:]).triu(1) * -torch.inf")),
        "always causal": ("even where causal is False", SCORES + """
    scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1) > 0, -torch.inf)
    weights = torch.softmax(scores, -1)
    return weights @ v, weights"""),
        "weights first": ("in the wrong order", _attention(returned="weights, weights @ v")),
        "scores in place of weights": ("the second value holds", SCORES + """
    shown = scores
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1) > 0, -torch.inf)
    return torch.softmax(scores, -1) @ v, shown"""),
        "output alone": ("should be 2 values", SCORES + """
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1) > 0, -torch.inf)
    return torch.softmax(scores, -1) @ v"""),
        "divided by d": ("not by its root", _attention(scores="q @ k.mT / q.shape[-1]")),
        "multiplied by the root": ("multiplied where they should be divided",
            _attention(scores="q @ k.mT * math.sqrt(q.shape[-1])")),
        "root of the number of keys": ("the root of the number of keys",
            _attention(scores="q @ k.mT / math.sqrt(k.shape[-2])")),
        "root of the width of a value": ("the root of the width of a value",
            _attention(scores="q @ k.mT / math.sqrt(v.shape[-1])")),
        "divided after the softmax": ("after the softmax",
            _attention(scores="q @ k.mT", weights="torch.softmax(scores, -1) / math.sqrt(q.shape[-1])")),
        "k.T": (None, _attention(scores="q @ k.T / q.shape[-1] ** 0.5")),
        "bare exponential": ("the result isn't finite where", SCORES + """
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1) > 0, -torch.inf)
    powers = torch.exp(scores)
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ v, weights"""),
        "divided by the sum of everything": ("into one softmax", SCORES + """
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1) > 0, -torch.inf)
    powers = torch.exp(scores - scores.max())
    weights = powers / powers.sum()
    return weights @ v, weights"""),
        "plain shares instead of a softmax": ("exponential is missing",
            _attention(closed="scores.tril()", weights="scores / scores.sum(-1, keepdim=True)")),
        "weights transposed": (None,
            _attention(weights="torch.softmax(scores, -1).mT", returned="weights.mT @ v, weights")),
        "no return": ("is a `return` missing", SCORES),
    },
    "q2": {
        "invariance": ("the outputs were not", _reordered("output, weights")),
        "inverse order": ("in the opposite direction", """
def reordered(output, weights, order):
    back = torch.argsort(order)
    return output[..., back, :], weights[..., back, :][..., back]"""),
        "only the rows of the weights": ("only the rows of",
            _reordered("output[..., order, :], weights[..., order, :]")),
        "only the columns of the weights": ("only the columns of",
            _reordered("output[..., order, :], weights[..., order]")),
        "weights unchanged": ("the weights were not", _reordered("output[..., order, :], weights")),
        "outputs unchanged": ("the outputs were not", _reordered("output, weights[..., order, :][..., order]")),
        "P A P instead of P A Pᵀ": ("rows and columns of", """
def reordered(output, weights, order):
    P = torch.eye(len(order), dtype=output.dtype)[order]
    return P @ output, P @ weights @ P"""),
        "Pᵀ A P": ("in the opposite direction", """
def reordered(output, weights, order):
    P = torch.eye(len(order), dtype=output.dtype)[order]
    return P.T @ output, P.T @ weights @ P"""),
        "pair by pair": ("pair by pair", _reordered("output[..., order, :], weights[..., order, order]")),
        "first axis": ("the sequences or the", """
def reordered(output, weights, order):
    moved = weights[order]
    return output[order], moved[:, order] if weights.ndim == 2 else moved"""),
        "transposed": ("transposed", _reordered("output[..., order, :], weights[..., order, :][..., order].mT")),
        "turned round": ("the outputs are simply", _reordered("output.flip(-2), weights.flip(-2).flip(-1)")),
        "swapped": ("in the wrong order", _reordered("weights[..., order, :][..., order], output[..., order, :]")),
        "outputs alone": ("in this order: the outputs, the weights", _reordered("output[..., order, :]")),
        "no return": ("is a `return` missing", "def reordered(output, weights, order):\n    output[..., order, :]\n"),
    },
    "q3": {
        "most significant first": ("the highest bit comes first",
            _binary("(positions[:, None] >> np.arange(bits)[::-1]) & 1")),
        "text of the number": ("the highest bit comes first",
            _binary('np.array([[int(c) for c in format(int(t), f"0{bits}b")] for t in positions])')),
        "starts at 1": ("positions start at 1", _binary("((positions + 1)[:, None] >> np.arange(bits)) & 1")),
        "transposed": ("rows and columns are swapped",
            _binary("np.array([(positions >> i) & 1 for i in range(bits)])")),
        "flips every 2^(i+1)": ("every column is too slow",
            _binary("positions[:, None] // 2 ** (np.arange(bits) + 1) % 2")),
        "period 2^i": ("every column is too fast", """
def binary(positions, bits):
    i = np.arange(bits)
    return (2 * (positions[:, None] % 2**i) >= 2**i).astype(float) * (i > 0)"""),
        "no remainder": ("its last digit is never taken", _binary("positions[:, None] // 2 ** np.arange(bits)")),
        "true division": ("keeps its fraction", _binary("positions[:, None] / 2 ** np.arange(bits) % 2")),
        "remainders": ("remainders", _binary("positions[:, None] % 2 ** np.arange(bits)")),
        "masked, not shifted": ("values of the bits", _binary("positions[:, None] & (1 << np.arange(bits))")),
        "exchanged": ("exchanged", _binary("1 - ((positions[:, None] >> np.arange(bits)) & 1)")),
        "signs": ("−1 and 1", _binary("2 * ((positions[:, None] >> np.arange(bits)) & 1) - 1")),
        "decimal": ("decimal digits",
            _binary("np.array([[int(t) // 10**i % 10 for i in range(bits)] for t in positions])")),
        "Gray code": ("Gray code", """
def binary(positions, bits):
    gray = positions ^ (positions >> 1)
    return (gray[:, None] >> np.arange(bits)) & 1"""),
        "a byte": ("kept in a byte",
            _binary("(positions.astype(np.uint8)[:, None].astype(int) >> np.arange(bits)) & 1")),
        "thirty-two bits": ("the digits above the thirty-second", """
def binary(positions, bits):
    short = positions.astype(np.uint32).astype(np.int64)
    return (short[:, None] >> np.arange(bits)) & 1"""),
        "thirty-two bits, one for the sign": ("the digits above the thirty-second",
            _binary("(positions.astype(np.int32)[:, None] >> np.arange(bits)) & 1")),
        "text": ("should be an array", _binary("[bin(int(t))[2:] for t in positions]")),
        "ignores positions": ("seem to be ignored",
            _binary("(np.arange(len(positions))[:, None] >> np.arange(bits)) & 1")),
    },
    "q4": {},
    "q6": {},
    "q7": {},
}

CODE = """
def sinusoidal(positions, dim, base):
    i = np.arange(dim // 2)
    speeds = {speeds}
    angle = {angle}
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(len(positions), dim)
"""
STEP = """
def shift(k, dim, base):
    i = np.arange(dim // 2)
    speeds = {speeds}
    M = np.zeros((dim, dim))
    for p, theta in enumerate(speeds):
        c, s = np.cos(k * theta), np.sin(k * theta)
        M[2 * p:2 * p + 2, 2 * p:2 * p + 2] = {block}
    return M
"""
CONTROLS = """
def controls():
    return {"base": FloatLogSlider(10_000, min=1, max=6), "dim": IntSlider(64, min=4, max=256, step=2)}
"""
DRAW = """
def draw(base, dim):
    k, i = np.arange(201), np.arange(dim // 2)
    speeds = {speeds}
    figure = go.Figure(go.Scatter(x=k, y={height}))
    figure.update_layout(xaxis_title="distance (tokens)")
    return figure
"""
RIGHT_SPEEDS, RIGHT_ANGLE = "base ** (-2 * i / dim)", "np.multiply.outer(positions, speeds)"
RIGHT_BLOCK, RIGHT_HEIGHT = "[[c, s], [-s, c]]", "np.cos(np.outer(k, speeds)).mean(axis=1)"

WRONG_SPEEDS = {  # one list of wrong speeds, in the code, in the step and in the curve
    "exponent i/d": ("lack its 2", "base ** (-i / dim)"),
    "positive power": ("the frequencies rise from", "base ** (2 * i / dim)"),
    "d - 2 in the exponent": ("divided by too little", "base ** (-2 * i / (dim - 2))"),
    "pairs from 1": ("counted from 1", "base ** (-2 * (i + 1) / dim)"),
    "exponent 4i/d": ("a factor too many", "base ** (-2 * (2 * i) / dim)"),
    "integer division": ("all pairs have the", "base ** -(2.0 * i // dim)"),
    "base of the paper": ("another base", "10_000.0 ** (-2 * i / dim)"),
    "degrees": ("degrees", "np.radians(base ** (-2 * i / dim))"),
    "2π in the speed": ("2π too many", "2 * np.pi * base ** (-2 * i / dim)"),
    "over 2π": ("lack a factor 2π", "1 / (2 * np.pi * base ** (2 * i / dim))"),
    "log10": ("logarithm to base 10", "np.exp(-math.log10(base) * 2 * i / dim)"),
    "speeds of even steps": ("the frequencies fall by", "np.arange(dim // 2, 0, -1) / (dim // 2)"),
    "powers of two": (None, "0.5**i"),
}
for _name, (_sentence, _speeds) in WRONG_SPEEDS.items():
    WRONG["q4"][_name] = (_sentence, CODE.format(speeds=_speeds, angle=RIGHT_ANGLE))
    WRONG["q6"][_name] = (_sentence, STEP.format(speeds=_speeds, block=RIGHT_BLOCK))
    WRONG["q7"][_name] = (_sentence, DRAW.format(speeds=_speeds, height=RIGHT_HEIGHT) + CONTROLS)

WRONG["q4"] |= {
    "all sines first": ("all sines come first", """
def sinusoidal(positions, dim, base):
    angle = np.multiply.outer(positions, base ** (-2 * np.arange(dim // 2) / dim))
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=-1)"""),
    "cosine first": ("the cosine of a", """
def sinusoidal(positions, dim, base):
    angle = np.multiply.outer(positions, base ** (-2 * np.arange(dim // 2) / dim))
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1).reshape(-1, dim)"""),
    "i counts columns": ("a sine and its cosine have different frequencies: does", """
def sinusoidal(positions, dim, base):
    code = np.zeros((len(positions), dim))
    for i in range(dim):
        angle = positions / base ** (2 * i / dim)
        code[:, i] = np.sin(angle) if i % 2 == 0 else np.cos(angle)
    return code"""),
    "a speed for each column": ("a sine and its cosine have different frequencies: each", """
def sinusoidal(positions, dim, base):
    code = np.multiply.outer(positions, base ** (-np.arange(dim) / dim))
    code[:, 0::2], code[:, 1::2] = np.sin(code[:, 0::2]), np.cos(code[:, 1::2])
    return code"""),
    "from position 1": ("positions start at 1",
        CODE.format(speeds=RIGHT_SPEEDS, angle="np.outer(positions + 1, speeds)")),
    "ignores positions": ("the positions that are",
        CODE.format(speeds=RIGHT_SPEEDS, angle="np.outer(np.arange(len(positions)), speeds)")),
    "transposed": (
        "rows and columns are swapped",
        CODE.format(speeds=RIGHT_SPEEDS, angle=RIGHT_ANGLE).replace("(len(positions), dim)", "(len(positions), dim).T"),
    ),
    "axes mixed up by reshape": (None,
        CODE.format(speeds=RIGHT_SPEEDS, angle=RIGHT_ANGLE).replace("axis=-1", "axis=0")),
    "sign flipped": ("the sign of the angles", CODE.format(speeds=RIGHT_SPEEDS, angle="-np.outer(positions, speeds)")),
    "sines alone": ("every frequency has a sine",
        CODE.format(speeds=RIGHT_SPEEDS, angle=RIGHT_ANGLE).replace("np.cos", "np.sin")),
    "cosines alone": ("every frequency has a cosine",
        CODE.format(speeds=RIGHT_SPEEDS, angle=RIGHT_ANGLE).replace("np.sin", "np.cos")),
    "whole positions only": ("positions were rounded to",
        CODE.format(speeds=RIGHT_SPEEDS, angle="np.outer(np.asarray(positions).astype(int), speeds)")),
    "put into an array of whole numbers": ("sines and cosines were", """
def sinusoidal(positions, dim, base):
    code = np.zeros_like(positions, shape=(len(positions), dim))
    angle = np.outer(positions, base ** (-2 * np.arange(dim // 2) / dim))
    code[:, 0::2], code[:, 1::2] = np.sin(angle), np.cos(angle)
    return code"""),
    "angles in bfloat16": ("the angles were computed in bfloat16", """
def sinusoidal(positions, dim, base):
    speeds = (base ** (-2 * torch.arange(dim // 2).double() / dim)).bfloat16()
    angle = (torch.as_tensor(positions).bfloat16()[:, None] * speeds).float()
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)"""),
    "positions in bfloat16": ("the positions were kept", """
def sinusoidal(positions, dim, base):
    speeds = base ** (-2 * torch.arange(dim // 2).double() / dim)
    angle = torch.as_tensor(positions).bfloat16()[:, None] * speeds
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)"""),
    "angles in float32": ("nearly right, but digits are lost: the angles were computed in too low a precision", """
def sinusoidal(positions, dim, base):
    speeds = base ** (-2 * torch.arange(dim // 2) / dim)
    angle = torch.as_tensor(positions).float()[:, None] * speeds.float()
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)"""),
    "rounded to three digits": (
        None,
        CODE.format(speeds=RIGHT_SPEEDS, angle=RIGHT_ANGLE)
        .replace("return np.stack(", "return np.round(3 * np.stack(")
        .replace("(len(positions), dim)", "(len(positions), dim), 3) / 3"),
    ),
    "no return": ("is a `return` missing", "def sinusoidal(positions, dim, base):\n    np.sin(positions)\n"),
}

WRONG["q6"] |= {
    "the turn of RoPE": ("in the opposite direction", STEP.format(speeds=RIGHT_SPEEDS, block="[[c, -s], [s, c]]")),
    "for rows on the left": ("in the opposite direction",
        STEP.format(speeds=RIGHT_SPEEDS, block=RIGHT_BLOCK).replace("return M", "return M.T")),
    "halves": ("the matrix is one", """
def shift(k, dim, base):
    turned = k * base ** (-2 * np.arange(dim // 2) / dim)
    c, s = np.diag(np.cos(turned)), np.diag(np.sin(turned))
    return np.block([[c, s], [-s, c]])"""),
    "always one step": ("the offset is ignored",
        STEP.format(speeds=RIGHT_SPEEDS, block=RIGHT_BLOCK).replace("k * ", "")),
    "one step too far": ("the shift is one",
        STEP.format(speeds=RIGHT_SPEEDS, block=RIGHT_BLOCK).replace("k * ", "(k + 1) * ")),
    "cosines on the diagonal": ("the cosines are right", STEP.format(speeds=RIGHT_SPEEDS, block="[[c, 0], [0, c]]")),
    "no minus": ("both sines have the", STEP.format(speeds=RIGHT_SPEEDS, block="[[c, s], [s, c]]")),
    "sines on the diagonal": ("sines and cosines are", STEP.format(speeds=RIGHT_SPEEDS, block="[[s, c], [-c, s]]")),
    "the code of position k": ("this is the encoding", """
def shift(k, dim, base):
    turned = k * base ** (-2 * np.arange(dim // 2) / dim)
    return np.stack([np.sin(turned), np.cos(turned)], -1).ravel()"""),
    "whole steps only": ("the offset was truncated",
        STEP.format(speeds=RIGHT_SPEEDS, block=RIGHT_BLOCK).replace("k * ", "int(k) * ")),
    "back as on": ("a negative offset was",
        STEP.format(speeds=RIGHT_SPEEDS, block=RIGHT_BLOCK).replace("k * ", "abs(k) * ")),
    "from position 0 alone": ("the matrix is right", """
def shift(k, dim, base):
    def code(t):
        angle = t * base ** (-2 * np.arange(dim // 2) / dim)
        return np.stack([np.sin(angle), np.cos(angle)], -1).ravel()
    return np.outer(code(k), np.linalg.pinv(code(0)[:, None]))"""),
    "one step, multiplied by k": ("the matrix of one",
        STEP.format(speeds=RIGHT_SPEEDS, block=RIGHT_BLOCK).replace("k * ", "").replace("return M", "return k * M")),
    "steps forward only": ("raised", """
def shift(k, dim, base):
    M = np.zeros((dim, dim))
    for p in range(dim // 2):
        c, s = np.cos(base ** (-2 * p / dim)), np.sin(base ** (-2 * p / dim))
        M[2 * p:2 * p + 2, 2 * p:2 * p + 2] = [[c, s], [-s, c]]
    step = M
    for _ in range(int(k) - 1):
        step = step @ M
    if k < 1:
        raise ValueError("forward only")
    return step"""),
    "angles in float32": ("nearly right, but digits are lost: the angles were computed in too low a precision", """
def shift(k, dim, base):
    speeds = (np.float32(base) ** np.float32(-2 * np.arange(dim // 2) / dim)).astype(np.float32)
    M = np.zeros((dim, dim), dtype=np.float32)
    for p, theta in enumerate(speeds):
        turned = np.float32(k) * theta
        c, s = np.cos(turned), np.sin(turned)
        M[2 * p:2 * p + 2, 2 * p:2 * p + 2] = [[c, s], [-s, c]]
    return M"""),
}

_RIGHT_DRAW = DRAW.format(speeds=RIGHT_SPEEDS, height=RIGHT_HEIGHT)
WRONG["q7"] |= {
    "not divided": ("the curve is the",
        DRAW.format(speeds=RIGHT_SPEEDS, height="np.cos(np.outer(k, speeds)).sum(axis=1)") + CONTROLS),
    "divided by the width": ("the curve starts at",
        DRAW.format(speeds=RIGHT_SPEEDS, height="np.cos(np.outer(k, speeds)).sum(axis=1) / dim") + CONTROLS),
    "sines": ("the curve is a",
        DRAW.format(speeds=RIGHT_SPEEDS, height="np.sin(np.outer(k, speeds)).mean(axis=1)") + CONTROLS),
    "distance, not product": (
        "this is the distance",
        DRAW.format(speeds=RIGHT_SPEEDS, height="np.sqrt((2 - 2 * np.cos(np.outer(k, speeds))).sum(axis=1))")
        + CONTROLS,
    ),
    "from distance 1": ("distances start at 1",
        DRAW.format(speeds=RIGHT_SPEEDS, height="np.cos(np.outer(k + 1, speeds)).mean(axis=1)") + CONTROLS),
    "200 points": ("one point for each distance", _RIGHT_DRAW.replace("arange(201)", "arange(200)") + CONTROLS),
    "no horizontal values": ("one point for each distance", _RIGHT_DRAW.replace("x=k, ", "") + CONTROLS),
    "dim ignored": ("the width that is",
        _RIGHT_DRAW.replace("    k, i", "    dim = 64\n    k, i") + CONTROLS),
    "axis without a title": ("does not say what it counts",
        _RIGHT_DRAW.replace('    figure.update_layout(xaxis_title="distance (tokens)")\n', "") + CONTROLS),
    "figure not returned": ("`draw` returned nothing", _RIGHT_DRAW.replace("return figure", "figure") + CONTROLS),
    "trace returned": ("a Plotly figure", _RIGHT_DRAW.replace("return figure", "return figure.data[0]") + CONTROLS),
    "empty figure": ("empty", _RIGHT_DRAW.replace("go.Scatter(x=k, y=" + RIGHT_HEIGHT + ")", "") + CONTROLS),
    "ends are values": ("the ends of a", _RIGHT_DRAW + CONTROLS.replace("min=1, max=6", "min=10, max=1e6")),
    "even steps for the base": (
        "should be a FloatLogSlider",
        "from ipywidgets import FloatSlider\n"
        + _RIGHT_DRAW
        + CONTROLS.replace("FloatLogSlider(10_000, min=1, max=6)", "FloatSlider(10_000, min=10, max=1_000_000)"),
    ),
    "odd widths": ("odd widths", _RIGHT_DRAW + CONTROLS.replace(", step=2", "")),
    "starts elsewhere": ("does not start at ten thousand", _RIGHT_DRAW + CONTROLS.replace("10_000", "100")),
    "ends elsewhere": ("does not run from 10", _RIGHT_DRAW + CONTROLS.replace("max=6", "max=8")),
    "widths end elsewhere": ("from 4 to 256", _RIGHT_DRAW + CONTROLS.replace("min=4", "min=2")),
    "another name": ("keys base and dim", _RIGHT_DRAW + CONTROLS.replace('"dim"', '"width"')),
    "a list of sliders": ("keys base and dim",
        _RIGHT_DRAW + "def controls():\n    return [FloatLogSlider(10_000, min=1, max=6), IntSlider(64, 4, 256, 2)]\n"),
    "numbers in place of sliders": ("should be a FloatLogSlider",
        _RIGHT_DRAW + 'def controls():\n    return {"base": 10_000, "dim": 64}\n'),
    "controls not returned": ("is a `return` missing", _RIGHT_DRAW + "def controls():\n    FloatLogSlider()\n"),
}

PROPERTY_ONLY = {
    "q1": {
        "rows add up to 1": """
def attention(q, k, v, causal):
    weights = torch.ones(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
    weights = (weights.tril() if causal else weights)
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ v, weights""",
        "each word keeps its own value": """
def attention(q, k, v, causal):
    weights = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
    weights.diagonal(dim1=-2, dim2=-1).fill_(1)
    return weights @ v, weights""",
        "zeros": """
def attention(q, k, v, causal):
    weights = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
    return weights @ v, weights""",
        "the winner takes all": _attention(
            scores="q @ k.mT", weights="torch.nn.functional.one_hot(scores.argmax(-1), k.shape[-2]).to(q.dtype)"
        ),
    },
    "q2": {
        "returns its input": "def reordered(output, weights, order):\n    return output, weights\n",
        "means": _reordered(
            "output.mean(-2, keepdim=True).expand_as(output), weights.mean(-2, keepdim=True).expand_as(weights)"
        ),
        "sorted": _reordered("output.sort(-2).values, weights.sort(-2).values"),
        "zeros": "def reordered(output, weights, order):\n    return 0 * output, 0 * weights\n",
    },
    "q3": {
        "zeros": "def binary(positions, bits):\n    return np.zeros((len(positions), bits))\n",
        "unique, but not binary": _binary("np.repeat(positions[:, None], bits, axis=1)"),
        "noughts and ones at random": _binary("np.random.default_rng(0).integers(0, 2, (len(positions), bits))"),
        "reads off all the same": """
def binary(positions, bits):
    code = np.zeros((len(positions), bits), dtype=int)
    code[:, 0] = positions
    return code""",
    },
    "q4": {
        "length √(d/2), relative, wrong speeds": CODE.format(speeds="0.5**i", angle=RIGHT_ANGLE),
        "all hands up": CODE.format(speeds=RIGHT_SPEEDS, angle="0 * np.outer(positions, speeds)"),
        "one hand, repeated": CODE.format(speeds="np.ones(dim // 2)", angle=RIGHT_ANGLE),
        "counting (001-L3)": """
def sinusoidal(positions, dim, base):
    return np.repeat(np.asarray(positions, dtype=float)[:, None], dim, axis=1)""",
        "shares of the length (001-L4)": """
def sinusoidal(positions, dim, base):
    return np.repeat(np.asarray(positions)[:, None] / len(positions), dim, axis=1)""",
        "a texture of lone sines (001-L5)": """
def sinusoidal(positions, dim, base):
    return np.sin(np.asarray(positions)[:, None] / 2.0 ** np.arange(dim))""",
        "zeros": "def sinusoidal(positions, dim, base):\n    return np.zeros((len(positions), dim))\n",
    },
    "q6": {
        "identity": "def shift(k, dim, base):\n    return np.eye(dim)\n",
        "orthogonal, relative, wrong speeds": STEP.format(speeds="0.5**i", block=RIGHT_BLOCK),
        "moves the columns on": "def shift(k, dim, base):\n    return np.roll(np.eye(dim), int(k), axis=0)\n",
        "zeros": "def shift(k, dim, base):\n    return np.zeros((dim, dim))\n",
    },
    "q7": {
        "always alike, no sliders": """
def draw(base, dim):
    k = np.arange(201)
    return go.Figure(go.Scatter(x=k, y=np.ones(201)), {"xaxis": {"title": {"text": "tokens"}}})
def controls():
    return {}""",
        "something that decays": """
def draw(base, dim):
    k = np.arange(201)
    return go.Figure(go.Scatter(x=k, y=np.exp(-k / dim)), {"xaxis": {"title": {"text": "tokens"}}})
def controls():
    return {"base": 0, "dim": 0}""",
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
        "loops over words": """
def attention(q, k, v, causal):
    lead, n, m = q.shape[:-2], q.shape[-2], k.shape[-2]
    out, all_weights = [], []
    for Q, K, V in zip(q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:]), v.reshape(-1, *v.shape[-2:])):
        for i in range(n):
            stop = i + 1 if causal else m
            s = torch.stack([Q[i] @ K[j] for j in range(stop)]) / math.sqrt(Q.shape[1])
            w = torch.cat([torch.softmax(s, 0), torch.zeros(m - stop, dtype=q.dtype)])
            all_weights.append(w)
            out.append(sum(w[j] * V[j] for j in range(m)))
    return torch.stack(out).reshape(*lead, n, -1), torch.stack(all_weights).reshape(*lead, n, m)""",
        "einsum, a softmax by hand, -1e9": """
def attention(q, k, v, causal):
    scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if causal:
        i, j = torch.arange(q.shape[-2])[:, None], torch.arange(k.shape[-2])
        scores = scores.masked_fill(j > i, -1e9)
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return torch.einsum("...ij,...jd->...id", weights, v), weights""",
        "scaled queries, an added mask": _attention(
            scores="(q / math.sqrt(q.size(-1))) @ k.transpose(-1, -2)",
            closed='scores + torch.full(scores.shape[-2:], float("-inf"), dtype=q.dtype).triu(diagonal=1)',
            weights="scores.log_softmax(-1).exp()",
            returned="[weights @ v, weights]",
        ),
    },
    "q2": {
        "a permutation matrix": """
def reordered(output, weights, order):
    P = torch.eye(len(order), dtype=output.dtype)[order]
    return P @ output, P @ weights @ P.T""",
        "index_select": _reordered(
            "output.index_select(-2, order), weights.index_select(-1, order).index_select(-2, order)"
        ),
        "loops": """
def reordered(output, weights, order):
    new, table = torch.empty_like(output), torch.empty_like(weights)
    for i, a in enumerate(order.tolist()):
        new[..., i, :] = output[..., a, :]
        for j, b in enumerate(order.tolist()):
            table[..., i, j] = weights[..., a, b]
    return new, table""",
    },
    "q3": {
        "division and remainder": """
def binary(positions, bits):
    code = np.zeros((len(positions), bits))
    rest = positions.copy()
    for i in range(bits):
        code[:, i], rest = rest % 2, rest // 2
    return code""",
        "text, turned round": _binary(
            'np.array([[int(c) for c in reversed(format(int(t), f"0{bits}b"))] for t in positions])'
        ),
        "truth values of a mask": _binary("(positions[:, None] & (1 << np.arange(bits))) > 0"),
    },
    "q4": {
        "loops": """
def sinusoidal(positions, dim, base):
    code = np.zeros((len(positions), dim))
    for row, t in enumerate(positions):
        for i in range(dim // 2):
            angle = t / base ** (2 * i / dim)
            code[row, 2 * i], code[row, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return code""",
        "exponential of a logarithm": """
def sinusoidal(positions, dim, base):
    div = np.exp(np.arange(0, dim, 2) * -(math.log(base) / dim))
    code = np.empty((len(positions), dim))
    code[:, 0::2] = np.sin(positions[:, None] * div)
    code[:, 1::2] = np.cos(positions[:, None] * div)
    return code""",
        "complex numbers": """
def sinusoidal(positions, dim, base):
    z = np.exp(1j * np.outer(positions, base ** (-2 * np.arange(dim // 2) / dim)))
    return np.stack([z.imag, z.real], -1).reshape(len(positions), -1)""",
        "a cosine is a sine a quarter turn on": """
def sinusoidal(positions, dim, base):
    column = np.arange(dim)
    return np.sin(np.outer(positions, base ** -((column - column % 2) / dim)) + column % 2 * np.pi / 2)""",
        "torch": """
def sinusoidal(positions, dim, base):
    speeds = base ** (-2 * torch.arange(dim // 2, dtype=torch.float64) / dim)
    angle = torch.as_tensor(positions).double()[:, None] * speeds
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)""",
    },
    "q6": {
        "least squares over a table of its own": """
def shift(k, dim, base):
    def table(t):
        angle = np.outer(t, base ** (-2 * np.arange(dim // 2) / dim))
        return np.stack([np.sin(angle), np.cos(angle)], -1).reshape(len(t), dim)
    t = np.arange(1200)
    return np.linalg.lstsq(table(t), table(t + k), rcond=None)[0].T""",
        "complex numbers": """
def shift(k, dim, base):
    z = np.exp(1j * k * base ** (-np.arange(0, dim, 2) / dim))
    M = np.zeros((dim, dim))
    i = np.arange(0, dim, 2)
    M[i, i] = M[i + 1, i + 1] = z.real
    M[i, i + 1] = z.imag
    M[i + 1, i] = -z.imag
    return M""",
        "Kronecker products": """
def shift(k, dim, base):
    turned = k * base ** (-2 * np.arange(dim // 2) / dim)
    J = np.array([[0, 1], [-1, 0]])
    return np.kron(np.diag(np.cos(turned)), np.eye(2)) + np.kron(np.diag(np.sin(turned)), J)""",
    },
    "q7": {
        "two codes multiplied, other words, lists": """
def draw(base, dim):
    angle = np.outer(np.arange(201), base ** (-np.arange(0, dim, 2) / dim))
    codes = np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
    y = codes @ codes[0] / (dim / 2)
    figure = go.Figure()
    figure.add_trace(go.Scatter(x=list(range(201)), y=y.tolist(), mode="lines"))
    figure.update_layout(title=f"{dim // 2} hands")
    figure.update_xaxes(title="Tokens between the two")
    return figure
def controls():
    return dict(dim=IntSlider(value=64, min=4, max=256, step=2, description="width"),
                base=FloatLogSlider(value=1e4, min=1, max=6, step=0.05))""",
        "a natural base for the slider": """
def draw(base, dim):
    k = np.arange(201.0)
    y = sum(np.cos(k * base ** (-2 * i / dim)) for i in range(dim // 2)) / (dim // 2)
    return go.Figure({"data": [{"type": "bar", "x": k, "y": y}],
                      "layout": {"xaxis": {"title": {"text": "tokens"}}}})
def controls():
    return {"base": FloatLogSlider(10_000, base=100, min=0.5, max=3), "dim": IntSlider(64, 4, 256, 2)}""",
    },
}
