"""Answers to assignment 5 that must not pass, those that have a property and nothing else, and other right ones.

Data only: each is the source of an answer cell, which finds `np` and `math` imported. Beside a wrong one
stands a part of the sentence that names it, or None where none can.
"""

# An answer stands beside or below its name and its sentence.
# fmt: off

_Q1_HEAD = "def attend(q, k, v, inv_freq, attention_factor):\n"
_Q2_HEAD = "def lesson(symbols, begin, block, distance):\n"
_Q3_HEAD = "def extended(head_dim, base, trained, length):\n"
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


_ATTEND = """
at = np.arange(q.shape[-2])
angles = at[:, None] * inv_freq
def turned(x):
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    return np.stack([z.real, z.imag], -1).reshape(x.shape)
a = attention_factor**2
q = turned(q)
k = turned(k)
s = np.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5 * a
s = np.where(at[None, :] > at[:, None], -math.inf, s)
def softmax(s, axis):
    e = np.exp(s - s.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)
w = softmax(s, -1)
return w @ v
"""


def _q1(**changes: str) -> str:
    return _body(_Q1_HEAD, _with(_ATTEND, **changes))


_MASK = "s = np.where(at[None, :] > at[:, None], -math.inf, s)"

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


def _q2(end: str = "return tokens, targets", **changes: str) -> str:
    lines = _with(_LESSON, **changes).strip("\n").splitlines()
    return _body(_Q2_HEAD, "\n".join([*lines[:-1], *end.splitlines()]))


_EXTENDED = """
s = max(1, length / trained)
d = head_dim
theta = base ** (-np.arange(0, d, 2) / d)
r = trained * theta / (2 * np.pi)
g = np.clip((r - 1) / 3, 0, 1)
speeds = g * theta + (1 - g) * theta / s
a = 0.1 * np.log(s) + 1
"""


def _q3(end: str = "return 'yarn', speeds, a", **changes: str) -> str:
    return _body(_Q3_HEAD, f"{_with(_EXTENDED, **changes)}\n{end}")


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
        "no mask": ("the mask is missing", _q1().replace(_MASK, "")),
        "0 in place of a score": ("the mask is missing", _q1().replace("-math.inf", "0.0")),
        "a mask of −100": ("it only lowers them", _q1().replace(_MASK, "s = s - 100.0 * (at[None, :] > at[:, None])")),
        "a mask of −10 000": ("it only lowers them",
            _q1().replace(_MASK, "s = s + (at[None, :] > at[:, None]) * -1e4")),
        "−10 000 in place of a score": ("it only lowers them", _q1().replace("-math.inf", "-1e4")),
        "the mask the wrong way round": ("the wrong way round", _q1().replace("at[None, :] > at", "at[None, :] < at")),
        "does not see itself": ("a query must see its own place",
            _q1().replace("at[None, :] > at", "at[None, :] >= at")),
        "masked after the softmax": ("they no longer add up to 1",
            _q1(w="w = np.tril(softmax(s, -1))").replace(_MASK, "")),
        "softmax over the queries": ("belongs over the keys", _q1(w="w = softmax(s, -2)")),
        "pairs of halves": ("pairs neighbours",
            _q1(z="e, o = np.split(x, 2, -1)\nz = (e + 1j * o) * np.exp(1j * angles)").replace("stack", "concatenate")),
        "only queries turned": ("only the queries", _q1(k="k = k")),
        "only keys turned": ("only the keys", _q1(q="q = q")),
        "nothing turned": ("neither queries nor keys", _q1(q="q = q", k="k = k")),
        "against each other": ("opposite directions", _q1(k="angles = -angles\nk = turned(k)")),
        "only queries the wrong way": ("opposite directions",
            _q1(q="angles = -angles\nq = turned(q)\nangles = -angles")),
        "both the wrong way": ("both turned the wrong way", _q1(q="angles = -angles\nq = turned(q)")),
        "values turned": ("the values are turned too", _q1(w="w = softmax(s, -1)\nv = turned(v)")),
        "not scaled": ("not divided by the root", _q1().replace(" / q.shape[-1] ** 0.5", "")),
        "scaled by the width": ("not by its root", _q1().replace(" ** 0.5", "")),
        "the factor once": ("went in once", _q1(a="a = attention_factor")),
        "the factor left out": ("has no effect", _q1(a="a = 1")),
        "the factor four times": ("four times", _q1(a="a = attention_factor**4")),
        "the factor divides": ("are divided by the attention factor", _q1(a="a = attention_factor**-2")),
        "the factor on the angles": ("angles are multiplied",
            _q1(a="a = 1", angles="angles = at[:, None] * inv_freq * attention_factor")),
        "e to a score in the millions": ("is e raised to a score in the millions",
            _q1(w="e = np.exp(s)\nw = e / e.sum(-1, keepdims=True)")),
        "changes its input": ("in place", _q1(q="q *= 2.0\nq = turned(q)")),
    },
    "q2": {
        "targets are the tokens": ("the one that follows",
            _q2(end="targets = np.roll(targets, 1, 1)\ntargets[:, 0] = -100\nreturn tokens, targets")),
        "everything asked": ("only the second saying", _q2("return tokens, text[:, 1:]")),
        "the cue asked": ("nobody can know them yet", _q2(cue="cue = 0")),
        "one left out": ("one symbol is left out", _q2(cue="cue = 1")),
        "three left out": ("three symbols are left out", _q2(cue="cue = 3")),
        "one asked after": ("the one symbol after",
            _q2().replace("int(last[j]))\n        targets", "int(last[j]) + 1)\n        targets")),
        "the targets moved, and what is asked not": ("the places that are asked for did not",
            _q2("return tokens, np.where(np.hstack([targets[:, :1], targets[:, :-1]]) < 0, -100, text[:, 1:])")),
        "targets that are no whole numbers": ("the dtype of the targets", _q2("return tokens, targets.astype(float)")),
        "the first saying asked too": (
            "as well",
            _q2("""
for j in range(len(text)):
    first = slice(int(begin[j] - distance[j]) + 2, int(last[j] - distance[j]))
    whole = np.insert(targets, 0, -100, axis=1)
    whole[j, first] = text[j, first]
    targets = whole[:, 1:]
return tokens, targets"""),
        ),
        "−1 for −100": ("should be −100", _q2("return tokens, np.where(targets < 0, -1, targets)")),
        "targets of the drawn symbols": ("before the block was said again",
            _q2("return tokens, np.where(targets < 0, -100, symbols[:, 1:])")),
        "not said again": ("not said again", _q2(tokens="tokens = symbols[:, :-1]")),
        "the distance is a gap": ("from a symbol to the same one",
            _q2().replace("t - int(distance[j])", "max(0, t - int(distance[j] + block[j]))")),
        "the other way round": ("the other way round",
            _q2().replace("text[j, t] = text[j, t - int(distance[j])]", "text[j, t - int(distance[j])] = text[j, t]")),
        "a symbol too long": ("a symbol too long", _q2(last="last = np.minimum(begin + block + 1, symbols.shape[1])")),
        "a symbol too short": ("a symbol too short", _q2(last="last = begin + block - 1")),
        "all like the first": ("the block of the first", _q2().replace("[j])", "[0])").replace("text[0", "text[j")),
        "as long as the symbols": ("shape", _q2("return text, targets")),
        "changes its input": ("in place", _q2(text="text = symbols")),
        "one value": ("should be 2 values", _q2("return tokens")),
    },
    "q3": {
        "sped up": ("short texts are sped up", _q3(s="s = length / trained")),
        "always four": ("the factor is 4", _q3(s="s = 4")),
        "a whole factor": ("whole number", _q3(s="s = max(1, length // trained)")),
        "upside down": ("upside down", _q3(s="s = min(1, trained / length)")),
        "one too large": ("too large by 1", _q3(s="s = max(1, length / trained) + 1")),
        "no attention factor": ("it is missing", _q3(a="a = 1.0")),
        "the 1 missing": ("the 1 of the attention factor", _q3(a="a = 0.1 * np.log(s)")),
        "logarithm to base 10": ("is the natural one", _q3(a="a = 0.1 * np.log10(s) + 1")),
        "squared already": ("this is the square", _q3(a="a = (0.1 * np.log(s) + 1) ** 2")),
        "a factor where there is none": ("has no attention factor", _q3("return 'parts', speeds, a")),
        "turns in radians": ("turns and radians", _q3(r="r = trained * theta")),
        "a step": ("a ramp belongs there", _q3(g="g = (r >= 1) * 1.0")),
        "the ramp upside down": ("ramp is upside down", _q3(g="g = np.clip((4 - r) / 3, 0, 1)")),
        "the ramp along the list": (
            "straight along the list",
            _q3(
                g="""
def at(turns):
    return d * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))
low, high = max(math.floor(at(4)), 0), min(math.ceil(at(1)), d - 1)
g = 1 - np.clip((np.arange(d // 2) - low) / (high - low), 0, 1)""".strip()
            ),
        ),
        "the base times the factor": ("not slowed enough",
            _q3("return 'ntk', (base * s) ** (-np.arange(0, d, 2) / d), 1")),
        "the factor squared": ("exponent is d/(d − 2)",
            _q3("return 'ntk', (base * s**2) ** (-np.arange(0, d, 2) / d), 1.0")),
        "without brackets": ("needs brackets",
            _q3("return 'ntk', (base * s ** d / (d - 2)) ** (-np.arange(0, d, 2) / d), 1.0")),
        "a speed for each dimension": ("for each dimension", _q3("return 'linear', np.repeat(theta / s, 2), 1.0")),
        "wavelengths": ("tokens a turn", _q3("return 'linear', 2 * np.pi * s / theta, 1.0")),
        "nothing scaled": ("no effect", _q3(s="s = 1")),
        "another name": ("should be the name of a method", _q3("return 'YaRN', speeds, a")),
        "without a name": ("should be three values", _q3("return speeds, a")),
        "another method's numbers": ("not those of the method that is named", _q3("return 'linear', speeds, 1.0")),
    },
    "q4": {
        "no mask": ("the mask is missing", _q4().replace("scores = np.where", "unused = np.where")),
        "0 in place of a score": ("the mask is missing", _q4().replace("-math.inf", "0.0")),
        "pairs of halves": (
            "pairs neighbours",
            _q4()
            .replace("x[..., ::2], x[..., 1::2]", "np.split(x, 2, -1)")
            .replace(_STACKED, "np.concatenate((e * cos - o * sin, o * cos + e * sin), -1)"),
        ),
        "not turned": ("neither queries nor keys", _q4().replace("turned(q) @ turned(k)", "q @ k")),
        "not scaled": ("not divided by the root", _q4().replace(" / d**0.5", "")),
        "rows head by head": ("head by head", _split("n_heads, 3, d).transpose(3, 0, 2, 1, 4)")),
        "dimensions in turn": ("stand together", _split("3, d, n_heads).transpose(2, 0, 4, 1, 3)")),
        "keys first": ("in this order", _split("3, n_heads, d).transpose(2, 0, 3, 1, 4)", "k, q, v")),
        "heads not swapped back": ("put side by side", _q4().replace("y.swapaxes(1, 2).reshape", "y.reshape")),
        "out left out": ("out is not used", _q4().replace('y = y @ w["out"].T', "y = y")),
        "no residual": ("added to the stream", _q4().replace("x = x + y", "x = y")),
        "no residual at the MLP": ("added to the stream", _q4().replace("x = x + bend", "x = bend")),
        "ReLU": ("another function than GELU", _q4(bend="bend = lambda x: np.maximum(x, 0)")),
        "GELU by tanh": ("approximation by tanh",
            _q4(bend="bend = lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))")),
        "LayerNorm": ("the mean is taken off",
            _q4(size="x = x - x.mean(-1, keepdims=True)\nsize = x.std(-1, keepdims=True)")),
        "the norm's weight left out": ("own weight is missing",
            _q4().replace("return x / size * gain", "return x / size")),
        "divided by the length": ("the root of the mean", _q4(size="size = np.linalg.norm(x, axis=-1, keepdims=True)")),
        "no last norm": ("the last norm is missing", _q4().replace('x = norm(x, W["norm"])', "x = x")),
        "tied": ("a head of its own", _q4(logits="logits = x @ E.T")),
        "the first layer twice": ("the weights of the first", _q4(order="order = [0] * layers")),
        "backwards": ("from the last to the first", _q4(order="order = reversed(range(layers))")),
        "the exponent lacks its 2": ("lacks the 2", _q4(theta="theta = base ** (-np.arange(d // 2) / d)")),
        "MLP beside attention": ("what attention has added to",
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
        "the last logits": ("the shape (texts, length, vocabulary)",
            _returned("logits if n <= trained else logits[:, -1], speeds, a")),
        "the logits alone": ("should be 3 values", _returned("logits")),
    },
}

PROPERTY_ONLY = {
    "q1": {
        "the values": _body(_Q1_HEAD, "return v"),
        "their mean so far": _body(_Q1_HEAD, "return v.cumsum(-2) / np.arange(1, v.shape[-2] + 1)[:, None]"),
    },
    "q2": {"as drawn, nothing asked": _body(_Q2_HEAD, "return symbols[:, :-1], np.full_like(symbols[:, 1:], -100)")},
    "q3": {"ones": _body(_Q3_HEAD, "return 'linear', np.ones(head_dim // 2), 1.0")},
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
    "q1": {
        "by complex numbers": _q1(),
        "−10⁹ in place of a score": _q1().replace("-math.inf", "-1e9"),
        "row by row": _body(
            _Q1_HEAD,
            """
R = np.zeros((q.shape[-2], q.shape[-1], q.shape[-1]))
for t, r in enumerate(R):
    for i, w in enumerate(inv_freq):
        c, s = attention_factor * math.cos(t * w), attention_factor * math.sin(t * w)
        r[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, -s], [s, c]]
q, k = (np.einsum("tij,bhtj->bhti", R, x) for x in (q, k))
rows = []
for t in range(q.shape[-2]):
    s = k[..., : t + 1, :] @ q[..., t, :, None] / math.sqrt(q.shape[-1])
    e = np.exp(s - s.max(-2, keepdims=True))
    rows.append((e * v[..., : t + 1, :]).sum(-2) / e.sum(-2))
return np.stack(rows, -2)
""",
        ),
    },
    "q2": {"loops": _q2(), "lists": _q2("return [*np.stack([tokens, targets])]")},
    "q3": {
        "yarn": _q3(),
        "parts": _q3("return 'parts', speeds, 1"),
        "linear, as a list": _q3("return 'linear', list(theta / s), 1.0"),
        "ntk": _q3("return 'ntk', (base * s ** (d / (d - 2))) ** (-np.arange(0, d, 2) / d), 1.0"),
        "temperature": _q3("return ['temperature', theta, np.array(a)]"),
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
