"""Answers to assignment 2 that are wrong, that have only a property, and that are right in another way. Data only.

Of a wrong answer: (a part of) the sentence that one of the parts says to it, or None where none can name it.
Points of the listing 004-L1/L2 are marked C141, of 003-L3 C142; both are rewritten here.
"""

# An answer stands beside or below its name and its sentence.
# fmt: off

# Question 1

_POWERS = "np.stack([np.linalg.matrix_power(A if m >= 0 else A.T, abs(int(m))) for m in positions])"
_ANGLES = "np.sort(angle[angle > 0])[::-1]"
_ABSORBED = "np.angle(values[order]), U.T @ W_Q, U.T @ W_K"


def _derived(powers: str = _POWERS, angles: str = _ANGLES, absorbed: str = _ABSORBED, b: str = "-b") -> str:
    return f"""
def powers(A, positions):
    return {powers}

def frequencies(A):
    angle = np.angle(np.linalg.eigvals(A))
    return {angles}

def absorbed(A, W_Q, W_K):
    values, vectors = np.linalg.eig(A)
    order = [i for i in np.argsort(-np.angle(values)) if values[i].imag > 0]
    a, b = vectors[:, order].real, vectors[:, order].imag
    U = math.sqrt(2) * np.stack([a, {b}], axis=-1).reshape(len(A), -1)
    return {absorbed}
"""


Q1_WRONG = {
    "absolute positions": ("is that of the absolute position", _derived(_POWERS.replace("A if m >= 0 else A.T", "A"))),
    "transposed": ("positive and negative positions are swapped", _derived(_POWERS.replace(">= 0", "< 0"))),
    "powers of the entries": ("each entry was raised", _derived("A ** positions[:, None, None].astype(float)")),
    "multiples": ("multiplied by the position", _derived("positions[:, None, None] * A")),
    "off by one": ("off by one", _derived(_POWERS.replace("abs(int(m))", "abs(int(m + 1))").replace(">= 0", ">= -1"))),
    "one matrix": (None, _derived("np.linalg.matrix_power(A, len(positions))")),
    "ascending": ("in ascending order", _derived(angles="np.sort(angle[angle > 0])")),
    "every eigenvalue": ("every angle comes twice", _derived(angles="np.sort(np.abs(angle))[::-1]")),
    "cosines": ("these are the cosines", _derived(angles="np.cos(np.sort(angle[angle > 0])[::-1])")),
    "degrees": ("in degrees", _derived(angles="np.rad2deg(np.sort(angle[angle > 0])[::-1])")),
    "negative": ("the angles are negative", _derived(angles="np.sort(angle[angle < 0])")),
    "complex": (None, _derived(angles="np.linalg.eigvals(A)")),
    "U for its transpose": ("they need Uᵀ", _derived(absorbed=_ABSORBED.replace("U.T", "U"))),
    "weights unchanged": ("have not changed", _derived(absorbed="np.angle(values[order]), W_Q, W_K")),
    "only the queries": ("only W_Q was changed", _derived(absorbed="np.angle(values[order]), U.T @ W_Q, W_K")),
    "the other direction": ("in the wrong direction", _derived(b="b")),
    "no square root of 2": ("too small by a factor of 2", _derived().replace("math.sqrt(2) * ", "")),
    "weights from the right": (None, _derived(absorbed="np.angle(values[order]), W_Q.T @ U, W_K.T @ U")),
    "two values": ("three values", _derived(absorbed="U.T @ W_Q, U.T @ W_K")),
}
Q1_PROPERTY = {
    "orthogonal, and no power": _derived("np.stack([np.eye(len(A))] * len(positions))", "0 * angle[angle > 0]",
                                         "np.angle(values[order]), 0 * W_Q, 0 * W_K"),
}
Q1_RIGHT = {
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
    "torch": """
def powers(A, positions):
    A = torch.from_numpy(A)
    return torch.stack([torch.linalg.matrix_power(A, int(m)) for m in positions])

def frequencies(A):
    angle = torch.linalg.eigvals(torch.from_numpy(A)).angle()
    return angle[angle > 0].sort(descending=True).values

def absorbed(A, W_Q, W_K):
    values, vectors = np.linalg.eig(A)
    chosen = values.imag < 0
    U = np.empty((len(A), len(A)))
    U[:, 0::2], U[:, 1::2] = 2**0.5 * vectors[:, chosen].real, 2**0.5 * vectors[:, chosen].imag
    return -np.angle(values[chosen]), U.T @ W_Q, U.T @ W_K
""",
}

# Question 3

SPEEDS = "base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)"
PAIRS = "x[..., 0::2], x[..., 1::2]"
JOIN = "torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)"


def _interleaved(
    speeds: str = SPEEDS,
    angle: str = "positions[..., None] * speeds",
    axis: str = "angle[:, None] if positions.ndim == 2 else angle",
    pairs: str = PAIRS,
    join: str = JOIN,
    result: str = "turned.to(x.dtype)",
) -> str:
    return f"""
def interleaved(x, positions, base):
    dim = x.shape[-1]
    speeds = {speeds}
    angle = {angle}
    angle = {axis}
    cos, sin = torch.cos(angle), torch.sin(angle)
    a, b = {pairs}
    turned = {join}
    return {result}
"""


Q3_WRONG = {
    "halves taken, neighbours put back": ("half-split pairs are read", _interleaved(pairs="x.chunk(2, dim=-1)")),
    "x in bfloat16 on the way": ("digits are lost",
        _interleaved(pairs="x.bfloat16()[..., 0::2], x.bfloat16()[..., 1::2]")),
    "the half layout": ("the layout is half-split",
        _interleaved(pairs="x.chunk(2, dim=-1)", join="torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)")),
    "sign flipped": ("the rotation has the", _interleaved(angle="-positions[..., None] * speeds")),
    "1-indexed": ("start at 1", _interleaved(angle="(positions[..., None] + 1) * speeds")),
    "exponent i/d, not 2i/d": ("exponent runs over i/d",
        _interleaved(speeds="base ** (-torch.arange(dim // 2, dtype=torch.float64) / dim)")),
    "base not to a positive power: rising speeds": ("rise from pair to pair",
        _interleaved(speeds="base ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)")),
    "d − 2 in the exponent": ("divided by d − 2",
        _interleaved(speeds="base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / (dim - 2))")),
    "2i taken twice": ("the frequencies fall too fast",
        _interleaved(speeds="base ** (-2 * torch.arange(0, dim, 2, dtype=torch.float64) / dim)")),
    "pairs counted from 1": ("counted from 1",
        _interleaved(speeds="base ** (-torch.arange(2, dim + 1, 2, dtype=torch.float64) / dim)")),
    "integer division in the exponent": ("all pairs have the",
        _interleaved(speeds="float(base) ** -(torch.arange(0, dim, 2) // dim).double()")),
    "ignores the positions that were passed (restarted)": ("the positions that were",
        _interleaved(angle="torch.arange(x.shape[-2])[:, None] * speeds", axis="angle")),
    "ignores positions: returns its input": ("nothing is rotated: the", _interleaved(result="x.clone()")),
    "base ten thousand written into the code": ("the base that was",
        _interleaved(speeds="10_000 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)")),
    "the second member from the turned first": ("the second entry of", """
def interleaved(x, positions, base):
    dim = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angle = angle[:, None] if positions.ndim == 2 else angle
    out = x.clone()
    out[..., 0::2] = out[..., 0::2] * torch.cos(angle) - out[..., 1::2] * torch.sin(angle)
    out[..., 1::2] = out[..., 0::2] * torch.sin(angle) + out[..., 1::2] * torch.cos(angle)
    return out"""),
    "joined as halves": ("another order",
        _interleaved(join="torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)")),
    "the swap of neighbours with the angles of halves": ("interleaved pairs are swapped", _interleaved(
        angle="torch.cat([positions[..., None] * speeds] * 2, dim=-1)",
        join="x * cos + torch.stack([-b, a], dim=-1).flatten(-2) * sin",
    )),
    "C142, C141 (8): the positions along the heads": ("along the heads",
        _interleaved(axis="angle[:, None] if positions.ndim == 1 else angle[:, :, None]")),
    "batch axis": ("along the batch",
        _interleaved(axis="angle[:, None, None] if positions.ndim == 1 else angle[:, None]")),
    "no axis for the heads where texts have their own positions": ("the positions of each", _interleaved(axis="angle")),
    "the positions of the first text for all": ("positions of the first",
        _interleaved(axis="angle[0] if positions.ndim == 2 else angle")),
    "degrees for radians": ("the angles are treated",
        _interleaved(angle="torch.deg2rad(positions[..., None] * speeds)")),
    "2π too much": ("the frequencies were multiplied",
        _interleaved(angle="2 * math.pi * positions[..., None] * speeds")),
    "sine and cosine swapped": ("sine and cosine are swapped: a",
        _interleaved(join="torch.stack([a * sin - b * cos, a * cos + b * sin], dim=-1).flatten(-2)")),
    "log10 for ln in the speeds": (None,
        _interleaved(speeds="torch.exp(-torch.arange(0, dim, 2, dtype=torch.float64) / dim * math.log10(base))")),
    "bf16 angles": ("computed in bfloat16", _interleaved(angle="(positions[..., None] * speeds).to(x.dtype)")),
    "C141 (14): positions in the dtype of a bfloat16 list": ("computed in bfloat16",
        _interleaved(angle="positions[..., None].to(x.dtype) * speeds.to(x.dtype)")),
    "bfloat16 positions only": ("computed in bfloat16",
        _interleaved(angle="positions[..., None].to(x.dtype).double() * speeds")),
    "the dtype of the angles comes back": ("the dtype of", _interleaved(result="turned")),
    "C141 (6): returns nothing": ("returned nothing", _interleaved(result="None")),
    "C141 (9): two names for one list": ("raised NameError", _interleaved(angle="positions[..., None] * freqs")),
    "C141 (11): einops not imported": ("raised NameError",
        _interleaved(join="rearrange([a * cos - b * sin, a * sin + b * cos], 'two ... d -> ... (d two)')")),
    "only one row of positions thought of": (None,
        _interleaved(angle="torch.outer(positions.double(), speeds)", axis="angle")),
    "only half of the pairs turned": (None,
        _interleaved(angle="positions[..., None] * speeds * (torch.arange(dim // 2) < dim // 4)")),
}
Q3_PROPERTY = {
    "identity: keeps lengths, is relative": _interleaved(result="x.clone()"),
    "relative, with the wrong speeds": _interleaved(speeds="torch.full((dim // 2,), 0.3, dtype=torch.float64)"),
    "relative, speeds too slow": _interleaved(angle="positions[..., None] * speeds / 4"),
    "relative, backwards": _interleaved(angle="-positions[..., None] * speeds"),
    "relative, from 1": _interleaved(angle="(positions[..., None] + 1) * speeds"),
    "relative, the other layout": Q3_WRONG["the half layout"][1],
    "one turn for all positions": _interleaved(angle="0 * positions[..., None] * speeds + 1"),
    "keeps lengths: a shuffle": _interleaved(result="x.flip(-1)"),
    "zeros": _interleaved(result="torch.zeros_like(x)"),
}
Q3_RIGHT = {
    "complex numbers": """
def interleaved(x, positions, base):
    dim = x.shape[-1]
    speeds = 1.0 / base ** (torch.arange(0, dim, 2).double() / dim)
    turn = torch.exp(1j * positions.double()[..., None] * speeds)
    if positions.ndim == 2:
        turn = turn.unsqueeze(1)
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)""",
    "float32 angles, exp and log": """
def interleaved(x, positions, base):
    dim = x.shape[-1]
    speeds = torch.exp(torch.arange(0, dim, 2).float() * (-math.log(base) / dim))
    angle = (positions.float().unsqueeze(-1) * speeds).unsqueeze(-3)
    c = torch.cos(angle).repeat_interleave(2, dim=-1).to(x.dtype)
    s = torch.sin(angle).repeat_interleave(2, dim=-1).to(x.dtype)
    swapped = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).reshape(x.shape)
    return x * c + swapped * s""",
    "matrices and einsum": """
def interleaved(x, positions, base):
    batch, _, length, dim = x.shape
    places = positions.double().expand(batch, length)
    R = torch.zeros(batch, length, dim, dim, dtype=torch.float64)
    for i in range(dim // 2):
        phi = places * base ** (-2 * i / dim)
        R[:, :, 2 * i, 2 * i] = R[:, :, 2 * i + 1, 2 * i + 1] = torch.cos(phi)
        R[:, :, 2 * i, 2 * i + 1] = -torch.sin(phi)
        R[:, :, 2 * i + 1, 2 * i] = torch.sin(phi)
    return torch.einsum("bldc,bhlc->bhld", R, x.double()).to(x.dtype)""",
    "loops": """
def interleaved(x, positions, base):
    batch, heads, length, dim = x.shape
    out = torch.empty_like(x)
    for b in range(batch):
        for t in range(length):
            place = int(positions[t] if positions.ndim == 1 else positions[b, t])
            for i in range(dim // 2):
                phi = place * base ** (-2 * i / dim)
                first, second = x[b, :, t, 2 * i].double(), x[b, :, t, 2 * i + 1].double()
                out[b, :, t, 2 * i] = (first * math.cos(phi) - second * math.sin(phi)).to(x.dtype)
                out[b, :, t, 2 * i + 1] = (first * math.sin(phi) + second * math.cos(phi)).to(x.dtype)
    return out""",
}

# Question 4


def _half(
    axis: str = "cos[..., None, :], sin[..., None, :]",
    parts: str = "x[..., :n], x[..., n : 2 * n], x[..., 2 * n :]",
    result: str = "torch.cat([a * cos - b * sin, a * sin + b * cos, rest], dim=-1)",
) -> str:
    return f"""
def half(x, cos, sin):
    n = cos.shape[-1]
    cos, sin = {axis}
    a, b, rest = {parts}
    return {result}
"""


ROTATE_HALF = """
def half(x, cos, sin):
    n = 2 * cos.shape[-1]

    def rotate_half(h):
        first, second = h[..., : n // 2], h[..., n // 2 :]
        return {quarter}

    cos, sin = {tables}
    part = x[..., :n] * cos + rotate_half(x[..., :n]) * sin
    return torch.cat([part, x[..., n:]], dim=-1)
"""
TABLES = "(torch.cat([table, table], dim=-1).unsqueeze(-2) for table in (cos, sin))"

Q4_WRONG = {
    "an axis in the middle, whatever the table": ("the tables of the",
        _half(axis="cos.unsqueeze(1), sin.unsqueeze(1)")),
    "neighbours put back": ("the halves are rotated",
        _half(result="torch.cat([torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2), rest], dim=-1)")),
    "rotate_half of the whole head": ("the whole head was", """
def half(x, cos, sin):
    n = 2 * cos.shape[-1]
    first, second = x.chunk(2, dim=-1)
    cos, sin = (torch.cat([table, table], dim=-1).unsqueeze(-2) for table in (cos, sin))
    part = x[..., :n] * cos + torch.cat([-second, first], dim=-1)[..., :n] * sin
    return torch.cat([part, x[..., n:]], dim=-1)"""),
    "the interleaved layout": ("the layout is interleaved", _half(
        parts="x[..., 0 : 2 * n : 2], x[..., 1 : 2 * n : 2], x[..., 2 * n :]",
        result="torch.cat([torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2), rest], dim=-1)",
    )),
    "sign flipped": ("the rotation has the",
        _half(result="torch.cat([a * cos + b * sin, b * cos - a * sin, rest], dim=-1)")),
    "rotate_half with its minus on the other half": ("the rotation has the",
        ROTATE_HALF.format(quarter="torch.cat([second, -first], dim=-1)", tables=TABLES)),
    "rotate_half with the table of neighbours": ("the halves are swapped", ROTATE_HALF.format(
        quarter="torch.cat([-second, first], dim=-1)",
        tables="(table.repeat_interleave(2, dim=-1).unsqueeze(-2) for table in (cos, sin))",
    )),
    "rotate_half without a minus": ("no half is negated",
        ROTATE_HALF.format(quarter="torch.cat([second, first], dim=-1)", tables=TABLES)),
    "C141 (10): rotate_half uses a name that is not its argument": (
        "raised NameError",
        ROTATE_HALF.format(quarter="torch.cat([-hidden[..., n // 2 :], hidden[..., : n // 2]], dim=-1)", tables=TABLES),
    ),
    "C142, C141 (8): no axis for the heads": ("the table runs along", _half(axis="cos, sin")),
    "an axis for the heads, in the wrong place": ("the table runs along",
        _half(axis="cos[..., None, :, :], sin[..., None, :, :]")),
    "the middle of the whole head": ("the whole head was", """
def half(x, cos, sin):
    n, middle = cos.shape[-1], x.shape[-1] // 2
    cos, sin = cos[..., None, :], sin[..., None, :]
    out = x.clone()
    a, b = x[..., :n], x[..., middle : middle + n]
    out[..., :n], out[..., middle : middle + n] = a * cos - b * sin, a * sin + b * cos
    return out"""),
    "turns the last dimensions": ("last dimensions of each head", _half(
        parts="x[..., -2 * n : x.shape[-1] - n], x[..., x.shape[-1] - n :], x[..., : -2 * n]",
        result="torch.cat([rest, a * cos - b * sin, a * sin + b * cos], dim=-1)",
    )),
    "drops what does not turn": ("the unrotated dimensions are",
        _half(result="torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)")),
    "zeros for what does not turn": ("became zeros",
        _half(result="torch.cat([a * cos - b * sin, a * sin + b * cos, 0 * rest], dim=-1)")),
    "the whole head is taken to turn": (None, _half(parts="*x.chunk(2, dim=-1), x[..., :0]")),
    "ignores positions: returns its input": ("nothing is rotated: the", _half(result="x")),
    "in place, in its input": ("changes an input in place", """
def half(x, cos, sin):
    n = cos.shape[-1]
    cos, sin = cos[..., None, :], sin[..., None, :]
    first = x[..., :n].clone()
    x[..., :n] = first * cos - x[..., n : 2 * n] * sin
    x[..., n : 2 * n] = first * sin + x[..., n : 2 * n] * cos
    return x"""),
    "in place: the second half from the turned first": ("the second entry of", """
def half(x, cos, sin):
    x, n = x.clone(), cos.shape[-1]
    cos, sin = cos[..., None, :], sin[..., None, :]
    x[..., :n] = x[..., :n] * cos - x[..., n : 2 * n] * sin
    x[..., n : 2 * n] = x[..., :n] * sin + x[..., n : 2 * n] * cos
    return x"""),
    "the halves exchanged": ("the two halves are",
        _half(result="torch.cat([a * sin + b * cos, a * cos - b * sin, rest], dim=-1)")),
    "sine and cosine swapped": ("sine and cosine are swapped", _half(axis="sin[..., None, :], cos[..., None, :]")),
    "cosines alone": ("the dimensions were only", _half(result="torch.cat([a * cos, b * cos, rest], dim=-1)")),
    "the table of the first text for all": ("table of the first",
        _half(axis="(t[:1, :, None] if t.ndim == 3 else t[:, None] for t in (cos, sin))")),
    "only one table thought of": (None, _half(axis="cos[:, None, :], sin[:, None, :]")),
    "the order of axes of question 3": ("the axes of tokens", """
def half(x, cos, sin):
    n = cos.shape[-1]
    y = x.transpose(1, 2)
    cos, sin = cos.unsqueeze(-3), sin.unsqueeze(-3)
    a, b = y[..., :n], y[..., n : 2 * n]
    return torch.cat([a * cos - b * sin, a * sin + b * cos, y[..., 2 * n :]], dim=-1)"""),
    "an odd sum: cosine and sine of the sum": (None,
        _half(result="torch.cat([a * cos - b * sin, a * cos + b * sin, rest], dim=-1)")),
}
Q4_PROPERTY = {
    "identity": _half(result="x.clone()"),
    "the other layout, relative too": Q4_WRONG["the interleaved layout"][1],
    "backwards, relative too": Q4_WRONG["sign flipped"][1],
    "keeps lengths: a shuffle": _half(result="x.roll(1, dims=-1)"),
    "keeps lengths: a mirror": _half(result="torch.cat([a * cos + b * sin, a * sin - b * cos, rest], dim=-1)"),
    "zeros": _half(result="torch.zeros_like(x)"),
    "turns by twice the angle": _half(axis="(cos**2 - sin**2)[..., None, :], (2 * sin * cos)[..., None, :]"),
}
Q4_RIGHT = {
    "rotate_half": ROTATE_HALF.format(quarter="torch.cat([-second, first], dim=-1)", tables=TABLES),
    "complex numbers": """
def half(x, cos, sin):
    n = cos.shape[-1]
    turned = torch.complex(x[..., :n], x[..., n : 2 * n]) * torch.complex(cos, sin).unsqueeze(-2)
    return torch.cat([turned.real, turned.imag, x[..., 2 * n :]], dim=-1)""",
    "in place, with copies": """
def half(x, cos, sin):
    n = cos.shape[-1]
    out, cos, sin = x.clone(), cos.unsqueeze(-2), sin.unsqueeze(-2)
    out[..., :n] = x[..., :n] * cos - x[..., n : 2 * n] * sin
    out[..., n : 2 * n] = x[..., :n] * sin + x[..., n : 2 * n] * cos
    return out""",
    "einsum": """
def half(x, cos, sin):
    n = cos.shape[-1]
    cos, sin = (t.expand(x.shape[0], x.shape[1], n) for t in (cos, sin))
    R = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
    pairs = x[..., : 2 * n].unflatten(-1, (2, n))
    turned = torch.einsum("blnij,blhjn->blhin", R, pairs).flatten(-2)
    return torch.cat([turned, x[..., 2 * n :]], dim=-1)""",
    "loops": """
def half(x, cos, sin):
    n, out = cos.shape[-1], x.clone()
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            c, s = (cos[t], sin[t]) if cos.ndim == 2 else (cos[b, t], sin[b, t])
            for h in range(x.shape[2]):
                for i in range(n):
                    p, q = float(x[b, t, h, i]), float(x[b, t, h, i + n])
                    out[b, t, h, i], out[b, t, h, i + n] = p * c[i] - q * s[i], p * s[i] + q * c[i]
    return out""",
}

# Question 5


def _to_half(
    order: str = "weight.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)",
    which: str = "{'q.weight': n_heads, 'q.bias': n_heads, 'k.weight': n_kv_heads, 'k.bias': n_kv_heads}",
) -> str:
    return f"""
def to_half(checkpoint, n_heads, n_kv_heads):
    new = dict(checkpoint)
    for name, heads in {which}.items():
        if name in checkpoint:
            weight = checkpoint[name]
            new[name] = {order}
    return new
"""


ALL_BUT_O = "{name: n_heads if name[0] == 'q' else n_kv_heads for name in checkpoint if name[0] != 'o'}"

Q5_WRONG = {
    "into the checkpoint that was given": ("changes an input in place", """
def to_half(checkpoint, n_heads, n_kv_heads):
    for name, count in (("q.weight", n_heads), ("q.bias", n_heads), ("k.weight", n_kv_heads), ("k.bias", n_kv_heads)):
        if name in checkpoint:
            checkpoint[name] = checkpoint[name].unflatten(0, (count, -1, 2)).transpose(1, 2).flatten(0, 2)
    return checkpoint"""),
    "returns its input": ("nothing was permuted",
        "def to_half(checkpoint, n_heads, n_kv_heads):\n    return checkpoint\n"),
    "the columns of W_O as well": (
        "W_O was permuted: it",
        _to_half().replace(
            "    return new",
            "    wide = checkpoint['o.weight'].unflatten(1, (n_heads, -1, 2))\n"
            "    new['o.weight'] = wide.transpose(2, 3).flatten(1)\n"
            "    return new",
        ),
    ),
    "W_V as well": ("the rows of W_V", _to_half(which=ALL_BUT_O)),
    "the way back": ("this is the conversion",
        _to_half("weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)")),
    "only W_Q": ("the rows of W_K", _to_half(which="{'q.weight': n_heads, 'q.bias': n_heads}")),
    "only W_K": ("the rows of W_Q were", _to_half(which="{'k.weight': n_kv_heads, 'k.bias': n_kv_heads}")),
    "layouts mixed between q and k: one there, one back": ("W_Q was permuted in", _to_half(
        "weight.unflatten(0, (heads, -1, 2) if name[0] == 'q' else (heads, 2, -1)).transpose(1, 2).flatten(0, 2)"
    )),
    "the heads forgotten": ("rows move from one", _to_half("torch.cat([weight[0::2], weight[1::2]])")),
    "n_heads for W_K": ("W_K was split into",
        _to_half(which="{name: n_heads for name in ('q.weight', 'q.bias', 'k.weight', 'k.bias')}")),
    "n_kv_heads for W_Q": ("W_Q was split into",
        _to_half(which="{name: n_kv_heads for name in ('q.weight', 'q.bias', 'k.weight', 'k.bias')}")),
    "biases forgotten": ("biases of queries and keys", _to_half(which="{'q.weight': n_heads, 'k.weight': n_kv_heads}")),
    "columns for rows": ("the columns were permuted",
        _to_half("weight.T.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2).T")),
    "W_V and W_O as well": (
        "W_O and W_V were",
        _to_half(which=ALL_BUT_O).replace(
            "    return new",
            "    turned = new['o.weight'].T.unflatten(0, (n_heads, -1, 2)).transpose(1, 2).flatten(0, 2).T\n"
            "    new['o.weight'] = turned\n    return new",
        ),
    ),
    "heads and dimensions exchanged": ("the rows were distributed", _to_half(
        "torch.cat([weight.unflatten(0, (-1, heads))[0::2], weight.unflatten(0, (-1, heads))[1::2]]).flatten(0, 1)"
    )),
    "odd rows first": ("the second entries of",
        _to_half("weight.unflatten(0, (heads, -1, 2)).flip(2).transpose(1, 2).flatten(0, 2)")),
    "the old names are lost": ("dictionary with the keys", _to_half().replace("dict(checkpoint)", "{}")),
    "returns the two weights": (None, _to_half().replace("return new", "return new['q.weight'], new['k.weight']")),
    "signs instead of places": (None, _to_half(
        "weight * torch.tensor([1.0, -1.0]).repeat(len(weight) // 2).double().reshape(-1, *[1] * (weight.ndim - 1))"
    )),
    "biases wanted where there are none": ("raised KeyError", _to_half().replace("if name in checkpoint:", "if True:")),
}
Q5_PROPERTY = {
    "identity": Q5_WRONG["returns its input"][1],
    "scores kept: q and k reordered alike, in another way": _to_half(
        "weight.unflatten(0, (heads, -1)).flip(1).flatten(0, 1)"
    ),
    "the way back": Q5_WRONG["the way back"][1],
    "zeros": _to_half("torch.zeros_like(weight)"),
}
Q5_RIGHT = {
    "an index": """
def to_half(checkpoint, n_heads, n_kv_heads):
    new = {}
    for name, weight in checkpoint.items():
        if name[0] in "qk":
            heads = n_heads if name[0] == "q" else n_kv_heads
            dim = weight.shape[0] // heads
            order = [h * dim + r for h in range(heads) for r in [*range(0, dim, 2), *range(1, dim, 2)]]
            weight = weight[order]
        new[name] = weight.clone()
    return new""",
    "NumPy, reshape and swapaxes": """
def to_half(checkpoint, n_heads, n_kv_heads):
    new = dict(checkpoint)
    for name in checkpoint:
        if name.startswith(("q.", "k.")):
            w = checkpoint[name].numpy()
            heads = n_heads if name[0] == "q" else n_kv_heads
            cut = w.reshape(heads, w.shape[0] // heads // 2, 2, *w.shape[1:]).swapaxes(1, 2)
            new[name] = torch.from_numpy(cut.reshape(w.shape).copy())
    return new""",
    "permutation matrices": """
def to_half(checkpoint, n_heads, n_kv_heads):
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
    "slices for each head": """
def to_half(checkpoint, n_heads, n_kv_heads):
    out = {}
    for name, w in checkpoint.items():
        if name[0] == "q" or name[0] == "k":
            parts = w.chunk(n_heads if name[0] == "q" else n_kv_heads)
            w = torch.cat([torch.cat([p[::2], p[1::2]]) for p in parts])
        out[name] = w
    return out""",
}

# Question 6


def _tests(
    positions: str = "[0], [7], [5, 6, 7], [9_001], [12, 50_001, 3, 4_101, 5]",
    settings: str = "(100.0, 'float64', 6, 1e-8), (10_000.0, 'float32', 8, 1e-4)",
    heads: str = "(4, 2, 2)",
    compared: str = "zip(rope(q, k, v, at, base), want)",
    unlike: str = "got.shape != right.shape or got.dtype != dtype or np.abs(got - right).max() > error",
    kept: str = "np.array_equal(q, given[0]) and np.array_equal(k, given[1]) and np.array_equal(v, given[2])",
) -> str:
    return f"""
def is_sound(rope):
    random = np.random.default_rng(0)

    def expected(x, positions, base):
        d = x.shape[-1]
        unit = np.exp(1j * np.outer(positions, base ** (-np.arange(0, d, 2) / d)))
        z = (x[..., 0::2] + 1j * x[..., 1::2]) * unit
        return np.stack([z.real, z.imag], axis=-1).reshape(x.shape)

    for positions in ({positions},):
        for base, dtype, d, error in ({settings},):
            at = np.array(positions)
            q, k, v = (random.normal(size=(2, heads, len(at), d)).astype(dtype) for heads in {heads})
            given = [x.copy() for x in (q, k, v)]
            want = expected(q, at, base), expected(k, at, base), v.copy()
            for got, right in {compared}:
                if {unlike}:
                    return False
            if not ({kept}):
                return False
    return True
"""


def _property(test: str) -> str:
    return f"""
def is_sound(rope):
    random = np.random.default_rng(0)
    q, k, v = random.normal(size=(3, 2, 4, 5, 8))
    at = np.arange(5)
    rotated = rope(q.copy(), k.copy(), v.copy(), at, 100.0)
    return bool({test})
"""


_SCORES = "np.allclose(a[0] @ np.swapaxes(a[1], -1, -2), b[0] @ np.swapaxes(b[1], -1, -2))"
Q6_WRONG = {
    "one short sequence": ("a broken implementation passes", _tests("[5, 6, 7]")),
    "no single token": ("when it is called again or with one token", _tests("[5, 6, 7], [12, 50_001, 3, 4_101, 5]")),
    "one base": ("a broken implementation passes", _tests(settings="(10_000.0, 'float64', 8, 1e-8)")),
    "near positions": ("a broken implementation passes", _tests("[0], [7], [5, 6, 7]")),
    "no float32": ("another dtype", _tests(settings="(100.0, 'float64', 6, 1e-8), (10_000.0, 'float64', 8, 1e-8)")),
    "queries alone": ("rotates values, or leaves keys unrotated",
        _tests(compared="list(zip(rope(q, k, v, at, base), want))[:1]")),
    "bit by bit": ("a sound implementation is rejected", _tests(unlike="not np.array_equal(got, right)")),
    "half-split expected": ("a sound implementation is rejected",
        _tests().replace("x[..., 0::2] + 1j * x[..., 1::2]", "x[..., : d // 2] + 1j * x[..., d // 2 :]")),
    "the object itself": ("a sound implementation is rejected",
        _tests(unlike="got is q or got is k or rope(q, k, v, at, base)[2] is not v")),
    "assertions only": ("is a `return` missing",
        _tests().replace("return True", "pass").replace("return False", "pass")),
    "a number": ("return True for a sound", _tests().replace("return True", "return 1.0")),
    "it raises": ("it raised AssertionError", _tests().replace("return False", "raise AssertionError")),
}
Q6_PROPERTY = {
    "everything is sound": "def is_sound(rope):\n    return True\n",
    "everything is broken": "def is_sound(rope):\n    return False\n",
    "norms": _property("np.allclose(np.linalg.norm(rotated[0], axis=-1), np.linalg.norm(q, axis=-1))"),
    "relative scores": _property("all(" + _SCORES + " for a, b in [(rotated, rope(q, k, v, at + 50, 100.0))])"),
}
Q6_RIGHT = {
    "by reference": _tests(),
    "pair by pair, in Python": """
def is_sound(rope):
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
}

WRONG = {"q1": Q1_WRONG, "q3": Q3_WRONG, "q4": Q4_WRONG, "q5": Q5_WRONG, "q6": Q6_WRONG}
PROPERTY_ONLY = {"q1": Q1_PROPERTY, "q3": Q3_PROPERTY, "q4": Q4_PROPERTY, "q5": Q5_PROPERTY, "q6": Q6_PROPERTY}
RIGHT = {"q1": Q1_RIGHT, "q3": Q3_RIGHT, "q4": Q4_RIGHT, "q5": Q5_RIGHT, "q6": Q6_RIGHT}
