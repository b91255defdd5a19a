"""Answers to assignment 5 that must not pass, those that have a property and nothing else, and other right ones.

Data only: each is the source of an answer cell, which finds `np` and `math` imported. Beside a wrong one
stands a part of the sentence that names it, or None where none can.
"""

# An answer stands beside or below its name and its sentence.
# fmt: off

_Q1_HEAD = "def lesson(symbols, begin, block, distance):\n"
_Q2_HEAD = "def extended(head_dim, base, trained, length):\n"
_Q4_HEAD = "def model(weights, n_heads, base, trained, tokens):\n"


def _body(head: str, lines: str) -> str:
    return head + "".join(f"    {line}\n" for line in lines.strip("\n").splitlines())


def _with(lines: str, **changes: str) -> str:
    """The lines of a right answer, with the line that begins with a name, and its sign, replaced or taken out."""
    for name, line in changes.items():
        kept = lines.splitlines()
        place = next(i for i, one in enumerate(kept) if one.lstrip().startswith(f"{name} = "))
        indent = kept[place][: len(kept[place]) - len(kept[place].lstrip())]
        kept[place : place + 1] = [indent + one for one in line.splitlines()]
        lines = "\n".join(kept)
    return lines


_LESSON = """
text = symbols.copy()
last = begin + block
cue = 2
for j in range(len(text)):
    for t in range(int(begin[j]), int(last[j])):
        text[j, t] = text[j, t - int(distance[j])]
tokens = text[:, :-1]
targets = np.full_like(text, -100)
for j in range(len(text)):
    asked = slice(int(begin[j]) + cue, int(last[j]))
    targets[j, asked] = text[j, asked]
targets = targets[:, 1:]
return tokens, targets
"""


def _q1(end: str = "return tokens, targets", **changes: str) -> str:
    lines = _with(_LESSON, **changes).strip("\n").splitlines()
    return _body(_Q1_HEAD, "\n".join([*lines[:-1], *end.splitlines()]))


_EXTENDED = """
s = max(1, length / trained)
d = head_dim
theta = base ** (-np.arange(0, d, 2) / d)
r = trained * theta / (2 * np.pi)
g = np.clip((r - 1) / 3, 0, 1)
speeds = g * theta + (1 - g) * theta / s
a = 0.1 * np.log(s) + 1
"""


def _q2(end: str = "return 'yarn', speeds, a", **changes: str) -> str:
    return _body(_Q2_HEAD, f"{_with(_EXTENDED, **changes)}\n{end}")


_MODEL = """
W = {name.removesuffix(".weight"): weight for name, weight in weights.items()}
E = W["embedding"]
d = E.shape[1] // n_heads
n = tokens.shape[1]
theta = base ** (-np.arange(0, d, 2) / d)
s = max(n / trained, 1)
r = trained * theta / (2 * np.pi)
g = np.clip((r - 1) / 3, 0, 1)
speeds = g * theta + (1 - g) * theta / s
a = 0.1 * math.log(s) + 1
read = speeds
angles = np.arange(n)[:, None] * np.array(read)
cos = a * np.cos(angles)
sin = a * np.sin(angles)
def turned(x):
    e, o = x[..., ::2], x[..., 1::2]
    return np.stack((e * cos - o * sin, o * cos + e * sin), -1).reshape(x.shape)
def norm(x, gain):
    size = np.sqrt(np.square(x).mean(-1, keepdims=True))
    return x / size * gain
erf = np.vectorize(math.erf)
bend = lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))
x = E[tokens]
layers = sum(name.endswith("qkv") for name in W)
order = range(layers)
for i in order:
    w = {name: W[f"layers.{i}.{name}"] for name in ("attention_norm", "qkv", "out", "mlp_norm", "mlp.0", "mlp.2")}
    h = norm(x, w["attention_norm"])
    q, k, v = (h @ w["qkv"].T).reshape(len(x), n, 3, n_heads, d).transpose(2, 0, 3, 1, 4)
    scores = turned(q) @ turned(k).swapaxes(-1, -2) / d**0.5
    scores = np.where(np.tri(n) == 0, -math.inf, scores)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    y = e / e.sum(-1, keepdims=True) @ v
    y = y.swapaxes(1, 2).reshape(len(x), n, -1)
    y = y @ w["out"].T
    x = x + y
    h = norm(x, w["mlp_norm"])
    x = x + bend(h @ w["mlp.0"].T) @ w["mlp.2"].T
x = norm(x, W["norm"])
logits = x @ W["head"].T
return logits, speeds, a
"""


def _q4(**changes: str) -> str:
    return _body(_Q4_HEAD, _with(_MODEL, **changes))


_STACKED = "np.stack((e * cos - o * sin, o * cos + e * sin), -1).reshape(x.shape)"
_RETURN = "return logits, speeds, a"


def _split(order: str, names: str = "q, k, v") -> str:
    """The rows of qkv read in another order: as a view of other axes, and how these are to be put in place."""
    return _q4().replace("q, k, v =", f"{names} =").replace("3, n_heads, d).transpose(2, 0, 3, 1, 4)", order)


def _returned(values: str) -> str:
    return _q4().replace(_RETURN, f"return {values}")


_LOOK_UP = """\
if n > trained:
    logits = np.zeros((*tokens.shape, len(E)))
    for j, text in enumerate(tokens.tolist()):
        for t in range(1, n):
            for b in range(t - 1, 0, -1):
                if text[b - 1 : b + 1] == text[t - 1 : t + 1]:
                    logits[j, t, text[b + 1]] = 9.0
                    break"""

WRONG = {
    "q1": {
        "targets are the tokens": ("the one that follows",
            _q1(end="targets = np.roll(targets, 1, 1)\ntargets[:, 0] = -100\nreturn tokens, targets")),
        "everything asked": ("every token is scored", _q1("return tokens, text[:, 1:]")),
        "the cue asked": ("the first two symbols", _q1(cue="cue = 0")),
        "one left out": ("one symbol is left out", _q1(cue="cue = 1")),
        "three left out": ("three symbols are left out", _q1(cue="cue = 3")),
        "one asked after": ("the one symbol after",
            _q1().replace("int(last[j]))\n        targets", "int(last[j]) + 1)\n        targets")),
        "the targets moved, and what is asked not": ("the targets moved by",
            _q1("return tokens, np.where(np.hstack([targets[:, :1], targets[:, :-1]]) < 0, -100, text[:, 1:])")),
        "targets that are no whole numbers": ("the dtype of the targets", _q1("return tokens, targets.astype(float)")),
        "the first saying asked too": (
            "as well",
            _q1("""
for j in range(len(text)):
    first = slice(int(begin[j] - distance[j]) + 2, int(last[j] - distance[j]))
    whole = np.insert(targets, 0, -100, axis=1)
    whole[j, first] = text[j, first]
    targets = whole[:, 1:]
return tokens, targets"""),
        ),
        "−1 for −100": ("should be −100", _q1("return tokens, np.where(targets < 0, -1, targets)")),
        "targets of the drawn symbols": ("the targets were taken",
            _q1("return tokens, np.where(targets < 0, -100, symbols[:, 1:])")),
        "not said again": ("the block does not", _q1(tokens="tokens = symbols[:, :-1]")),
        "the distance is a gap": ("the distance was counted",
            _q1().replace("t - int(distance[j])", "max(0, t - int(distance[j] + block[j]))")),
        "the other way round": ("the first occurrence was",
            _q1().replace("text[j, t] = text[j, t - int(distance[j])]", "text[j, t - int(distance[j])] = text[j, t]")),
        "a symbol too long": ("a symbol too long", _q1(last="last = np.minimum(begin + block + 1, symbols.shape[1])")),
        "a symbol too short": ("a symbol too short", _q1(last="last = begin + block - 1")),
        "all like the first": ("the block of the first", _q1().replace("[j])", "[0])").replace("text[0", "text[j")),
        "as long as the symbols": ("shape", _q1("return text, targets")),
        "changes its input": ("in place", _q1(text="text = symbols")),
        "one value": ("should be 2 values", _q1("return tokens")),
    },
    "q2": {
        "sped up": ("short sequences are sped", _q2(s="s = length / trained")),
        "always four": ("the factor is 4", _q2(s="s = 4")),
        "a whole factor": ("whole number", _q2(s="s = max(1, length // trained)")),
        "upside down": ("upside down", _q2(s="s = min(1, trained / length)")),
        "one too large": ("too large by 1", _q2(s="s = max(1, length / trained) + 1")),
        "no attention factor": ("it is missing", _q2(a="a = 1.0")),
        "the 1 missing": ("the 1 of the attention factor", _q2(a="a = 0.1 * np.log(s)")),
        "logarithm to base 10": ("is the natural one", _q2(a="a = 0.1 * np.log10(s) + 1")),
        "squared already": ("this is the square", _q2(a="a = (0.1 * np.log(s) + 1) ** 2")),
        "a factor where there is none": ("has no attention factor", _q2("return 'parts', speeds, a")),
        "turns in radians": ("rotations and radians were", _q2(r="r = trained * theta")),
        "a step": ("a ramp belongs there", _q2(g="g = (r >= 1) * 1.0")),
        "the ramp upside down": ("ramp is upside down", _q2(g="g = np.clip((4 - r) / 3, 0, 1)")),
        "the ramp along the list": (
            "the ramp is linear",
            _q2(
                g="""
def at(turns):
    return d * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))
low, high = max(math.floor(at(4)), 0), min(math.ceil(at(1)), d - 1)
g = 1 - np.clip((np.arange(d // 2) - low) / (high - low), 0, 1)""".strip()
            ),
        ),
        "the base times the factor": ("the base was multiplied",
            _q2("return 'ntk', (base * s) ** (-np.arange(0, d, 2) / d), 1")),
        "the factor squared": ("exponent is d/(d − 2)",
            _q2("return 'ntk', (base * s**2) ** (-np.arange(0, d, 2) / d), 1.0")),
        "without brackets": ("needs brackets",
            _q2("return 'ntk', (base * s ** d / (d - 2)) ** (-np.arange(0, d, 2) / d), 1.0")),
        "a speed for each dimension": ("for each dimension", _q2("return 'linear', np.repeat(theta / s, 2), 1.0")),
        "wavelengths": ("these are tokens per", _q2("return 'linear', 2 * np.pi * s / theta, 1.0")),
        "nothing scaled": ("no effect", _q2(s="s = 1")),
        "another name": ("should be the name of a method", _q2("return 'YaRN', speeds, a")),
        "without a name": ("should be three values", _q2("return speeds, a")),
        "another method's numbers": ("not those of the method that is named", _q2("return 'linear', speeds, 1.0")),
    },
    "q4": {
        "no mask": ("the mask is missing", _q4().replace("scores = np.where", "unused = np.where")),
        "0 in place of a score": ("the mask is missing", _q4().replace("-math.inf", "0.0")),
        "pairs of halves": (
            "dimension i was paired",
            _q4()
            .replace("x[..., ::2], x[..., 1::2]", "np.split(x, 2, -1)")
            .replace(_STACKED, "np.concatenate((e * cos - o * sin, o * cos + e * sin), -1)"),
        ),
        "not turned": ("neither queries nor keys", _q4().replace("turned(q) @ turned(k)", "q @ k")),
        "not scaled": ("not divided by the root", _q4().replace(" / d**0.5", "")),
        "rows head by head": ("head by head", _split("n_heads, 3, d).transpose(3, 0, 2, 1, 4)")),
        "dimensions in turn": ("the dimensions of a", _split("3, d, n_heads).transpose(2, 0, 4, 1, 3)")),
        "keys first": ("in this order", _split("3, n_heads, d).transpose(2, 0, 3, 1, 4)", "k, q, v")),
        "heads not swapped back": ("the heads were not", _q4().replace("y.swapaxes(1, 2).reshape", "y.reshape")),
        "out left out": ("out is not used", _q4().replace('y = y @ w["out"].T', "y = y")),
        "no residual": ("what a layer computes", _q4().replace("x = x + y", "x = y")),
        "no residual at the MLP": ("what a layer computes", _q4().replace("x = x + bend", "x = bend")),
        "ReLU": ("the MLP uses another", _q4(bend="bend = lambda x: np.maximum(x, 0)")),
        "GELU by tanh": ("approximation by tanh",
            _q4(bend="bend = lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))")),
        "LayerNorm": ("the mean is subtracted",
            _q4(size="x = x - x.mean(-1, keepdims=True)\nsize = x.std(-1, keepdims=True)")),
        "the norm's weight left out": ("own weight is missing",
            _q4().replace("return x / size * gain", "return x / size")),
        "divided by the length": ("the root of the mean", _q4(size="size = np.linalg.norm(x, axis=-1, keepdims=True)")),
        "no last norm": ("the last norm is missing", _q4().replace('x = norm(x, W["norm"])', "x = x")),
        "tied": ("a head of its own", _q4(logits="logits = x @ E.T")),
        "the first layer twice": ("the weights of the first", _q4(order="order = [0] * layers")),
        "backwards": ("from the last to the first", _q4(order="order = reversed(range(layers))")),
        "the exponent lacks its 2": ("lacks the 2", _q4(theta="theta = base ** (-np.arange(d // 2) / d)")),
        "MLP beside attention": ("the MLP reads the",
            _q4().replace("x = x + y", "z = x + y").replace("x = x + bend", "x = z + bend")),
        "short texts sped up": ("no longer than those of the training", _q4(s="s = n / trained")),
        "short texts slowed": ("no longer than those of the training", _q4(s="s = 4")),
        "short texts slowed as a whole": ("no longer than those of the training",
            _q4(s="s = 4", g="g = 0 * r", a="a = 1.0")),
        "a factor for short texts": ("no longer than those of the training",
            _q4(a="a = 0.1 * math.log(n / trained) + 1")),
        "speeds and factor swapped": ("are swapped", _returned("logits, a, speeds")),
        "not extended": ("it passes with", _q4(s="s = 1")),
        "linear": ("it passes with", _q4(g="g = 0 * r", a="a = 1.0")),
        "by parts alone": ("it passes with", _q4(a="a = 1.0")),
        "looks the block up": ("not what the trained weights give",
            _q4(logits=f"logits = x @ W['head'].T\n{_LOOK_UP}")),
        "says other speeds than it used": ("not what the trained weights give", _q4(read="read = theta")),
        "speeds of no kind": ("16 finite numbers", _returned("logits, speeds if n <= trained else speeds[:3], a")),
        "no factor": ("one finite number greater than 0", _returned("logits, speeds, a if n <= trained else 0.0")),
        "the last logits": ("the logits should have the shape",
            _returned("logits if n <= trained else logits[:, -1], speeds, a")),
        "the logits alone": ("should be 3 values", _returned("logits")),
    },
}

PROPERTY_ONLY = {
    "q1": {"as drawn, nothing asked": _body(_Q1_HEAD, "return symbols[:, :-1], np.full_like(symbols[:, 1:], -100)")},
    "q2": {"ones": _body(_Q2_HEAD, "return 'linear', np.ones(head_dim // 2), 1.0")},
    "q4": {
        "nothing": _body(_Q4_HEAD, """
d = weights["embedding.weight"].shape[1] // n_heads
return np.zeros((*tokens.shape, len(weights["embedding.weight"]))), base ** (-np.arange(0, d, 2) / d), 1.0
"""),
        "the block looked up": _body(
            _Q4_HEAD,
            """
E = weights["embedding.weight"]
d, n, trained = E.shape[1] // n_heads, tokens.shape[1], 0
"""
            + _LOOK_UP
            + "\nreturn logits, base ** (-np.arange(0, d, 2) / d), 1.0",
        ),
    },
}

RIGHT = {
    "q1": {"loops": _q1(), "lists": _q1("return [*np.stack([tokens, targets])]")},
    "q2": {
        "yarn": _q2(),
        "parts": _q2("return 'parts', speeds, 1"),
        "linear, as a list": _q2("return 'linear', list(theta / s), 1.0"),
        "ntk": _q2("return 'ntk', (base * s ** (d / (d - 2))) ** (-np.arange(0, d, 2) / d), 1.0"),
        "temperature": _q2("return ['temperature', theta, np.array(a)]"),
    },
    "q4": {
        "attention written out": _q4(),
        "in float32": _q4(
            bend="bend = lambda x: (0.5 * x * (1 + erf(x / math.sqrt(2)))).astype(x.dtype)",
            cos="cos = (a * np.cos(angles)).astype(E.dtype)",
            sin="sin = (a * np.sin(angles)).astype(E.dtype)",
        ),
        "other speeds past its length": _q4(
            speeds="speeds = g * theta + (1 - g) * theta / (1.3 * s if s > 1 else 1)\nspeeds = list(speeds)",
            a="a = 0.1 * math.log(s) + (1.05 if s > 1 else 1)",
        ),
    },
}
