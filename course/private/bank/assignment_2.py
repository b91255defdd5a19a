"""Answers to assignment 2, beside the edits of its solutions: see `course.private.bank`."""

# An answer stands beside or below its name and its sentence.
# fmt: off

_POWER = "np.linalg.matrix_power(A if m >= 0 else inverse, abs(int(m)))"
_SORTED = "np.sort(angle[angle > 0])[::-1]"
_ABSORBED = "U.T @ W_Q, U.T @ W_K"
_INTERLEAVED = "def interleaved(x, positions, base):\n"
_INV_FREQ = "base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)"
_AT = "positions[..., None] * inv_freq"
_ROTATED = "rotated.flatten(-2).to(x.dtype)"
_HALF = "def half(x, cos, sin):\n"
_TABLES = "cos.unsqueeze(-2), sin.unsqueeze(-2)"
_BOTH = "a * cos - b * sin, a * sin + b * cos"
_JOINED = f"torch.cat([{_BOTH}, rest], dim=-1)"
_TO_HALF = "def to_half(checkpoint, n_heads, n_kv_heads):\n"
_REORDERED = "pairs.transpose(1, 2).flatten(0, 2)"
_IS_SOUND = "def is_sound(rope):\n"
_POSITIONS = "[0], [7], [5, 6, 7], [9_001], [12, 50_001, 3, 4_101, 5]"
_FLOAT32 = '(10_000.0, "float32", 8, 1e-4)'
_CLOSE = "got.shape != right.shape or got.dtype != dtype or not np.abs(got - right).max() <= error"


def _rotate_half(quarter: str, tables: str = "torch.cat([table, table], dim=-1)") -> str:
    return f"""{_HALF}
    n = 2 * cos.shape[-1]

    def rotate_half(h):
        first, second = h[..., : n // 2], h[..., n // 2 :]
        return torch.cat([{quarter}], dim=-1)

    cos, sin = ({tables}.unsqueeze(-2) for table in (cos, sin))
    part = x[..., :n] * cos + rotate_half(x[..., :n]) * sin
    return torch.cat([part, x[..., n:]], dim=-1)
"""


def _property(test: str) -> str:
    return f"""{_IS_SOUND}
    random = np.random.default_rng(0)
    q, k, v = random.normal(size=(3, 2, 4, 5, 8))
    at = np.arange(5)
    rotated = rope(q.copy(), k.copy(), v.copy(), at, 100.0)
    return bool({test})
"""


_SCORES = "np.allclose(a[0] @ np.swapaxes(a[1], -1, -2), b[0] @ np.swapaxes(b[1], -1, -2))"
_NUMPY_HALF = f"""{_HALF}
    n = cos.shape[-1]
    cos, sin = cos[..., None, :], sin[..., None, :]
    a, b, rest = x[..., :n], x[..., n : 2 * n], x[..., 2 * n :]
    return np.concatenate([{_BOTH}, rest], axis=-1)
"""
_NUMPY_TO_HALF = f"""{_TO_HALF}
    new = dict(checkpoint)
    for letter, heads in (("q", n_heads), ("k", n_kv_heads)):
        for name in (letter + ".weight", letter + ".bias"):
            if name in checkpoint:
                weight = checkpoint[name]
                new[name] = np.swapaxes(weight.reshape(heads, -1, 2, *weight.shape[1:]), 1, 2).reshape(weight.shape)
    return new
"""

WRONG = {
    "q1": {
        "one matrix": ("", f"np.stack([{_POWER} for m in positions])", "np.linalg.matrix_power(A, len(positions))"),
        "complex": ("", _SORTED, "np.linalg.eigvals(A)"),
        "weights from the right": ("", _ABSORBED, "W_Q.T @ U, W_K.T @ U"),
        "two values": ("three values", "np.angle(values[order]), U.T", "U.T"),
    },
    "q3": {
        "x in bfloat16 on the way": ("digits are lost",
            "x[..., 0::2], x[..., 1::2]", "x.bfloat16()[..., 0::2], x.bfloat16()[..., 1::2]"),
        "integer division in the exponent": ("all pairs have the",
            _INV_FREQ, "base ** -(torch.arange(0, dim, 2) // dim)"),
        "log10 for ln in the speeds": ("",
            _INV_FREQ, "torch.exp(-torch.arange(0, dim, 2, dtype=torch.float64) / dim * math.log10(base))"),
        "bf16 angles": ("computed in bfloat16", _AT, f"({_AT}).to(x.dtype)"),
        "bfloat16 positions only": ("computed in bfloat16",
            "positions[..., None]", "positions[..., None].to(x.dtype).double()"),
        "the dtype of the angles comes back": ("the dtype of", _ROTATED, "rotated.flatten(-2)"),
        "returns nothing": ("returned nothing", _ROTATED, "None"),
        "two names for one list": ("raised NameError", _AT, "positions[..., None] * freqs"),
        "only half of the pairs turned": ("", _AT, f"{_AT} * (torch.arange(dim // 2) < dim // 4)"),
    },
    "q4": {
        "rotate_half with its minus on the other half": ("the rotation has the", _rotate_half("second, -first")),
        "rotate_half with the table of neighbours": ("the halves are swapped",
            _rotate_half("-second, first", "table.repeat_interleave(2, dim=-1)")),
        "rotate_half without a minus": ("no half is negated", _rotate_half("second, first")),
        "the whole head is taken to turn": ("",
            "x[..., :pairs], x[..., pairs : 2 * pairs], x[..., 2 * pairs :]", "*x.chunk(2, dim=-1), x[..., :0]"),
        "in place, in its input": ("changes an input in place", f"""{_HALF}
    n = cos.shape[-1]
    cos, sin = cos[..., None, :], sin[..., None, :]
    first = x[..., :n].clone()
    x[..., :n] = first * cos - x[..., n : 2 * n] * sin
    x[..., n : 2 * n] = first * sin + x[..., n : 2 * n] * cos
    return x"""),
        "only one table thought of": ("", _TABLES, "cos[:, None, :], sin[:, None, :]"),
        "NumPy, sign flipped": ("the rotation has the",
            _NUMPY_HALF.replace(_BOTH, "a * cos + b * sin, b * cos - a * sin")),
    },
    "q5": {
        "into the checkpoint that was given": ("changes an input in place", "dict(checkpoint)", "checkpoint"),
        "the old names are lost": ("dictionary with the keys", "dict(checkpoint)", "{}"),
        "returns the two weights": ("", "return new", 'return new["q.weight"], new["k.weight"]'),
        "biases wanted where there are none": ("raised KeyError", "if name in checkpoint:", "if True:"),
        "NumPy, only W_Q": ("the rows of W_K", _NUMPY_TO_HALF.replace(', ("k", n_kv_heads))', ",)")),
    },
    "q6": {
        "one short sequence": ("a broken implementation passes", _POSITIONS, "[5, 6, 7],"),
        "no single token": ("when it is called again or with one token",
            _POSITIONS, "[5, 6, 7], [12, 50_001, 3, 4_101, 5]"),
        "no float32": ("another dtype", _FLOAT32, '(10_000.0, "float64", 8, 1e-8)'),
        "queries alone": ("rotates values, or leaves keys unrotated",
            "zip(rope(q, k, v, at, base), want, strict=True):", "list(zip(rope(q, k, v, at, base), want))[:1]:"),
        "bit by bit": ("a sound implementation is rejected", _CLOSE, "not np.array_equal(got, right)"),
        "half-split expected": ("a sound implementation is rejected",
            "x[..., 0::2] + 1j * x[..., 1::2]", "x[..., : d // 2] + 1j * x[..., d // 2 :]"),
        "no return": ("is a `return` missing", "return True", "True"),
        "a number": ("return True for a sound", "return True", "return 1.0"),
        "it raises": ("it raised AssertionError",
            f"if {_CLOSE}:\n                    return False", f"assert not ({_CLOSE})"),
    },
}

PROPERTY_ONLY = {
    "q1": {
        "orthogonal, and no power": (_POWER, "np.eye(len(A))", _SORTED, "0 * angle[angle > 0]",
            _ABSORBED, "0 * W_Q, 0 * W_K"),
    },
    "q3": {
        "identity: keeps lengths, is relative": (_ROTATED, "x.clone()"),
        "relative, with the wrong speeds": (_INV_FREQ, "torch.full((dim // 2,), 0.3, dtype=torch.float64)"),
        "relative, backwards": (_AT, f"-{_AT}"),
        "keeps lengths: a shuffle": (_ROTATED, "x.flip(-1)"),
    },
    "q4": {
        "backwards, relative too": (_TABLES, "cos.unsqueeze(-2), -sin.unsqueeze(-2)"),
        "keeps lengths: a mirror": ("a * sin + b * cos", "a * sin - b * cos", "a * cos - b", "a * cos + b"),
        "zeros": (_JOINED, "torch.zeros_like(x)"),
        "turns by twice the angle": (_TABLES, "(cos**2 - sin**2)[..., None, :], (2 * sin * cos)[..., None, :]"),
    },
    "q5": {
        "scores kept: q and k reordered alike, in another way": (_REORDERED, "pairs.flip(1).flatten(0, 2)"),
        "zeros": (_REORDERED, "0 * pairs.flatten(0, 2)"),
    },
    "q6": {
        "everything is sound": f"{_IS_SOUND}    return True\n",
        "everything is broken": f"{_IS_SOUND}    return False\n",
        "norms": _property("np.allclose(np.linalg.norm(rotated[0], axis=-1), np.linalg.norm(q, axis=-1))"),
        "relative scores": _property("all(" + _SCORES + " for a, b in [(rotated, rope(q, k, v, at + 50, 100.0))])"),
    },
}

RIGHT = {
    "q1": {
        "by real Schur vectors": """
def powers(A, positions):
    values, vectors = np.linalg.eig(A)
    return np.stack([(vectors * values ** float(m) @ np.linalg.inv(vectors)).real for m in positions])

def frequencies(A):
    return np.sort(np.arccos(np.clip(np.linalg.eigvalsh((A + A.T) / 2), -1, 1)))[::-1][::2]

def absorbed(A, W_Q, W_K):
    cosines, vectors = np.linalg.eigh((A + A.T) / 2)  # every plane is an eigenspace
    U, angles = [], []
    for i in range(0, len(A), 2):
        e = vectors[:, i]
        other = A @ e - (e @ A @ e) * e
        angles.append(math.atan2(np.linalg.norm(other), cosines[i]))
        U += [e, other / np.linalg.norm(other)]
    U = np.stack(U)
    return np.array(angles), U @ W_Q, U @ W_K
""",
    },
    "q3": {
        "complex numbers": f"""{_INTERLEAVED}
    dim = x.shape[-1]
    speeds = 1.0 / base ** (torch.arange(0, dim, 2).double() / dim)
    turn = torch.exp(1j * positions.double()[..., None] * speeds)
    if positions.ndim == 2:
        turn = turn.unsqueeze(1)
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)""",
        "float32 angles, exp and log": f"""{_INTERLEAVED}
    dim = x.shape[-1]
    speeds = torch.exp(torch.arange(0, dim, 2).float() * (-math.log(base) / dim))
    angle = (positions.float().unsqueeze(-1) * speeds).unsqueeze(-3)
    c = torch.cos(angle).repeat_interleave(2, dim=-1).to(x.dtype)
    s = torch.sin(angle).repeat_interleave(2, dim=-1).to(x.dtype)
    swapped = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).reshape(x.shape)
    return x * c + swapped * s""",
    },
    "q4": {
        "rotate_half": _rotate_half("-second, first"),
        "einsum": f"""{_HALF}
    n = cos.shape[-1]
    cos, sin = (t.expand(x.shape[0], x.shape[1], n) for t in (cos, sin))
    R = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
    pairs = x[..., : 2 * n].unflatten(-1, (2, n))
    turned = torch.einsum("blnij,blhjn->blhin", R, pairs).flatten(-2)
    return torch.cat([turned, x[..., 2 * n :]], dim=-1)""",
        "NumPy": _NUMPY_HALF,
    },
    "q5": {
        "permutation matrices": f"""{_TO_HALF}
    new = dict(checkpoint)
    for name, heads in (("q", n_heads), ("k", n_kv_heads)):
        dim = checkpoint[name + ".weight"].shape[0] // heads
        P = torch.zeros(dim, dim, dtype=torch.float64)
        for i in range(dim // 2):
            P[i, 2 * i] = P[i + dim // 2, 2 * i + 1] = 1
        for kind in (".weight", ".bias"):
            if name + kind in checkpoint:
                new[name + kind] = torch.block_diag(*[P] * heads) @ checkpoint[name + kind]
    return new""",
        "NumPy": _NUMPY_TO_HALF,
    },
    "q6": {
        "pair by pair, in Python": f"""{_IS_SOUND}
    random = np.random.default_rng(1)
    cases = [(3, at, d, base) for at, d, base in (([4], 2, 50.0), ([4], 8, 900.0), ([5], 8, 900.0),
             ([0, 1, 2, 3], 6, 900.0), ([47_777, 5, 9_999, 12_345, 0], 4, 5e5), ([6_001], 10, 1e4))]
    for n_heads, at, d, base in cases:
        for dtype, places in ((np.float64, 9), (np.float32, 4)):
            q = random.normal(size=(3, 2 * n_heads, len(at), d)).astype(dtype)
            k, v = random.normal(size=(2, 3, n_heads, len(at), d)).astype(dtype)
            result = rope(q.copy(), k.copy(), v.copy(), np.array(at), base)
            mine = q.copy(), k.copy(), v.copy()
            rope(*mine, np.array(at), base)
            if not all((a == b).all() for a, b in zip(mine, (q, k, v))):
                return False
            if [(x.shape, x.dtype) for x in result] != [(x.shape, x.dtype) for x in (q, k, v)]:
                return False
            if not (result[2] == v).all():
                return False
            for x, y in ((q, result[0]), (k, result[1])):
                for t, m in enumerate(at):
                    for i in range(d // 2):
                        c, s = math.cos(m * base ** (-2 * i / d)), math.sin(m * base ** (-2 * i / d))
                        a, b = x[:, :, t, 2 * i], x[:, :, t, 2 * i + 1]
                        error = np.abs(y[:, :, t, 2 * i] - (c * a - s * b))
                        error = error + np.abs(y[:, :, t, 2 * i + 1] - (s * a + c * b))
                        if error.max() > 10.0 ** -places * 5:
                            return False
    return True
""",
    },
}
