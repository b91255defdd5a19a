"""Answers to assignment 2 that are wrong, that have only a property, and that are right in another way. Data only.

Of a wrong answer: (a part of) the sentence that one of the parts says to it, or None where none can name it.
Points of the listing 004-L1/L2 are marked C141, of 003-L3 C142; both are rewritten here.
"""

# An answer stands beside or below its name and its sentence.
# fmt: off

# Question 1


def _rotation(entries: str, before: str = "phi = positions * theta") -> str:
    """A rotation with the given four entries, row by row."""
    a, b, c, d = entries.split(", ")
    return f"""
def rotation(positions, theta):
    {before}
    cos, sin = torch.cos(phi), torch.sin(phi)
    zero, one = torch.zeros_like(phi), torch.ones_like(phi)
    rows = [torch.stack([{a}, {b}], dim=-1), torch.stack([{c}, {d}], dim=-1)]
    return torch.stack(rows, dim=-2)
"""


RIGHT_ENTRIES = "cos, -sin, sin, cos"

Q1_WRONG = {
    "sign flipped: the transposed matrix": ("turns the wrong way", _rotation("cos, sin, -sin, cos")),
    "the rows stacked as columns": ("turns the wrong way", _rotation(RIGHT_ENTRIES).replace("dim=-2", "dim=-1")),
    "degrees for radians": ("taken for degrees", _rotation(RIGHT_ENTRIES, "phi = torch.deg2rad(positions * theta)")),
    "ignores positions: θ alone": ("positions are left out", _rotation(RIGHT_ENTRIES, "phi = 0 * positions + theta")),
    "1-indexed": ("start at 1", _rotation(RIGHT_ENTRIES, "phi = (positions + 1) * theta")),
    "counts instead of using the positions": ("counted 0, 1, 2",
        _rotation(RIGHT_ENTRIES, "phi = torch.arange(len(positions), dtype=torch.float64) * theta")),
    "no minus": ("a sine lacks its sign", _rotation("cos, sin, sin, cos")),
    "both sines negative": ("both sines are negative", _rotation("cos, -sin, -sin, cos")),
    "misprinted block: a cosine for a sine": ("a cosine twice", _rotation("cos, cos, sin, cos")),
    "sine and cosine swapped": ("changed places", _rotation("sin, -cos, cos, sin")),
    "divides by θ": ("multiply by it", _rotation(RIGHT_ENTRIES, "phi = positions / theta")),
    "2π too much": ("turns per token", _rotation(RIGHT_ENTRIES, "phi = 2 * math.pi * positions * theta")),
    "the positions on the last axis": ("the shape of",
        _rotation(RIGHT_ENTRIES).replace("dim=-1", "dim=0").replace("dim=-2", "dim=0")),
    "degrees, the other way": ("taken for degrees", _rotation(RIGHT_ENTRIES, "phi = torch.rad2deg(positions * theta)")),
    "stacked in front, then reshaped": ("entries of several positions", """
def rotation(positions, theta):
    cos, sin = torch.cos(positions * theta), torch.sin(positions * theta)
    return torch.stack([cos, -sin, sin, cos]).reshape(-1, 2, 2)"""),
    "whole positions only": ("cut to whole ones", _rotation(RIGHT_ENTRIES, "phi = positions.long() * theta")),
    "one position only": ("raised", """
def rotation(positions, theta):
    phi = float(positions) * theta
    return torch.tensor([[[math.cos(phi), -math.sin(phi)], [math.sin(phi), math.cos(phi)]]])"""),
    "prints and returns nothing": ("returned nothing", """
def rotation(positions, theta):
    phi = positions * theta
    print(torch.cos(phi), torch.sin(phi))"""),
}
Q1_PROPERTY = {
    "identity": _rotation("one, zero, zero, one"),
    "zeros": _rotation("zero, zero, zero, zero"),
    "some rotation, of half the speed": _rotation(RIGHT_ENTRIES, "phi = positions * theta / 2"),
    "the opposite rotation": _rotation(RIGHT_ENTRIES, "phi = -positions * theta"),
    "a mirror, orthogonal too": _rotation("cos, sin, sin, -cos"),
    "one rotation for all": _rotation(RIGHT_ENTRIES, "phi = 0 * positions + 0.7"),
}
Q1_RIGHT = {
    "a matrix exponential": """
def rotation(positions, theta):
    matrices = []
    for position in positions.tolist():
        c, s = math.cos(position * theta), math.sin(position * theta)
        matrices.append([[c, -s], [s, c]])
    return torch.tensor(matrices, dtype=torch.float64)""",
    "identity and quarter turn": """
def rotation(positions, theta):
    phi = (positions * theta)[:, None, None]
    quarter = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    return torch.cos(phi) * torch.eye(2, dtype=torch.float64) + torch.sin(phi) * quarter""",
    "matrix exponential": """
def rotation(positions, theta):
    generator = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    return torch.linalg.matrix_exp((positions * theta)[:, None, None] * generator)""",
    "NumPy": """
def rotation(positions, theta):
    phi = positions.numpy() * theta
    return np.array([[np.cos(phi), -np.sin(phi)], [np.sin(phi), np.cos(phi)]]).transpose(2, 0, 1)""",
}

# Question 2


def _scores(result: str, q: str = "q * torch.exp(1j * m * theta)", k: str = "k * torch.exp(1j * n * theta)") -> str:
    """Scores from turned queries `a` and keys `b`."""
    return f"""
def scores(q, k, m, n, theta):
    distance = m[:, None] - n
    a, b = ({q})[:, None], {k}
    return {result}
"""


Q2_WRONG = {
    "still complex": ("still complex", _scores("a * b.conj()")),
    "no conjugate": ("conjugate is missing", _scores("(a * b).real")),
    "sign flipped: n − m": ("other side", _scores("(q[:, None] * k.conj() * torch.exp(-1j * distance * theta)).real")),
    "the mirrored formula": ("other side", _scores(
        "(q[:, None] * k.conj()).real * torch.cos(distance * theta) "
        "+ (q[:, None] * k.conj()).imag * torch.sin(distance * theta)"
    )),
    "the size of the distance": ("lost its sign",
        _scores("(q[:, None] * k.conj() * torch.exp(1j * distance.abs() * theta)).real")),
    "real parts multiplied": ("only the first numbers", _scores("a.real * b.real")),
    "conjugate of the query, angle forwards": ("other side",
        _scores("(q.conj()[:, None] * k * torch.exp(1j * distance * theta)).real")),
    "the dot product times a cosine": ("imaginary part of q k̄ is lost",
        _scores("(q[:, None] * k.conj()).real * torch.cos(distance * theta)")),
    "ignores positions": ("without their positions", _scores("(q[:, None] * k.conj()).real")),
    "keys turned backwards": ("turned backwards", _scores("(a * b.conj()).real", k="k * torch.exp(-1j * n * theta)")),
    "only the query turned": ("the key is not turned", _scores("(a * b.conj()).real", k="k")),
    "only the key turned": ("the query is not turned", _scores("(a * b.conj()).real", q="q")),
    "the imaginary part": ("which side the query lies", _scores("(a * b.conj()).imag")),
    "the size": ("size of the product", _scores("(a * b.conj()).abs()")),
    "degrees for radians": ("taken for degrees",
        _scores("(q[:, None] * k.conj() * torch.exp(1j * torch.deg2rad(distance * theta))).real")),
    "transposed table": ("lies on its side", _scores("(a * b.conj()).real.T")),
    "cosine similarity": ("lengths of query and key are divided out",
        _scores("(a * b.conj()).real / (a.abs() * b.abs())")),
    "divided by √2": ("divided by √d", _scores("(a * b.conj()).real / math.sqrt(2)")),
    "query with its own key only": (None, _scores("(a[:, 0] * b.conj()).real")),
    "whole tokens of distance, rounded angle": (None,
        _scores("(q[:, None] * k.conj() * torch.exp(1j * torch.round(distance * theta))).real")),
    "the score turned back into a float by summing": (None, _scores("(a * b.conj()).real.sum()")),
}
Q2_PROPERTY = {
    "relative, at half the speed": _scores("(q[:, None] * k.conj() * torch.exp(0.5j * distance * theta)).real"),
    "relative, mirrored": _scores("(q[:, None] * k.conj() * torch.exp(-1j * distance * theta)).real"),
    "relative, by distance alone": _scores("torch.cos(distance * theta)"),
    "relative, symmetric": _scores("(q[:, None] * k.conj() * torch.exp(1j * distance.abs() * theta)).real"),
    "zeros": _scores("0 * distance"),
    "plain dot products": _scores("(q[:, None] * k.conj()).real"),
}
Q2_RIGHT = {
    "by the distance": _scores("(q[:, None] * k.conj() * torch.exp(1j * distance * theta)).real"),
    "by two real terms": _scores(
        "(q[:, None] * k.conj()).real * torch.cos(distance * theta) "
        "- (q[:, None] * k.conj()).imag * torch.sin(distance * theta)"
    ),
    "by size and phase": """
def scores(q, k, m, n, theta):
    phase = (q.angle() + m * theta)[:, None] - (k.angle() + n * theta)
    return q.abs()[:, None] * k.abs() * torch.cos(phase)""",
    "polar and mH": """
def scores(q, k, m, n, theta):
    a = (q * torch.polar(torch.ones_like(m), m * theta))[:, None]
    b = (k * torch.polar(torch.ones_like(n), n * theta))[:, None]
    return (a @ b.mH).real""",
    "by loops and Python's complex numbers": """
def scores(q, k, m, n, theta):
    import cmath
    table = [[(a * b.conjugate() * cmath.exp(1j * (s - t) * theta)).real
              for b, t in zip(k.tolist(), n.tolist())] for a, s in zip(q.tolist(), m.tolist())]
    return torch.tensor(table, dtype=torch.float64)""",
    "complex64 on the way": _scores("(a * b.conj()).real", k="k * torch.exp(1j * (n * theta).to(torch.complex64))"),
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
    "halves taken, neighbours put back": ("put together as neighbours", _interleaved(pairs="x.chunk(2, dim=-1)")),
    "x in bfloat16 on the way": ("digits are lost",
        _interleaved(pairs="x.bfloat16()[..., 0::2], x.bfloat16()[..., 1::2]")),
    "the half layout": ("this question asks for neighbours",
        _interleaved(pairs="x.chunk(2, dim=-1)", join="torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)")),
    "sign flipped": ("turns the wrong way", _interleaved(angle="-positions[..., None] * speeds")),
    "1-indexed": ("start at 1", _interleaved(angle="(positions[..., None] + 1) * speeds")),
    "exponent i/d, not 2i/d": ("exponent runs over i/d",
        _interleaved(speeds="base ** (-torch.arange(dim // 2, dtype=torch.float64) / dim)")),
    "base not to a positive power: rising speeds": ("rise from pair to pair",
        _interleaved(speeds="base ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim)")),
    "d − 2 in the exponent": ("divided by d − 2",
        _interleaved(speeds="base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / (dim - 2))")),
    "2i taken twice": ("a 2 is there twice",
        _interleaved(speeds="base ** (-2 * torch.arange(0, dim, 2, dtype=torch.float64) / dim)")),
    "pairs counted from 1": ("counted from 1",
        _interleaved(speeds="base ** (-torch.arange(2, dim + 1, 2, dtype=torch.float64) / dim)")),
    "integer division in the exponent": ("all pairs turn at one speed",
        _interleaved(speeds="float(base) ** -(torch.arange(0, dim, 2) // dim).double()")),
    "ignores the positions that were passed (restarted)": ("counted 0, 1, 2",
        _interleaved(angle="torch.arange(x.shape[-2])[:, None] * speeds", axis="angle")),
    "ignores positions: returns its input": ("nothing is turned", _interleaved(result="x.clone()")),
    "base ten thousand written into the code": ("base that was passed is not used",
        _interleaved(speeds="10_000 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)")),
    "the second member from the turned first": ("both need the old ones", """
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
    "the swap of neighbours with the angles of halves": ("repeated as for halves", _interleaved(
        angle="torch.cat([positions[..., None] * speeds] * 2, dim=-1)",
        join="x * cos + torch.stack([-b, a], dim=-1).flatten(-2) * sin",
    )),
    "C142, C141 (8): the positions along the heads": ("along the heads",
        _interleaved(axis="angle[:, None] if positions.ndim == 1 else angle[:, :, None]")),
    "batch axis": ("along the batch",
        _interleaved(axis="angle[:, None, None] if positions.ndim == 1 else angle[:, None]")),
    "no axis for the heads where texts have their own positions": ("lack an axis", _interleaved(axis="angle")),
    "the positions of the first text for all": ("positions of the first",
        _interleaved(axis="angle[0] if positions.ndim == 2 else angle")),
    "degrees for radians": ("taken for degrees", _interleaved(angle="torch.deg2rad(positions[..., None] * speeds)")),
    "2π too much": ("turns per token", _interleaved(angle="2 * math.pi * positions[..., None] * speeds")),
    "sine and cosine swapped": ("changed places",
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
    "an axis in the middle, whatever the table": ("the right place for one table only",
        _half(axis="cos.unsqueeze(1), sin.unsqueeze(1)")),
    "neighbours put back": ("put together as neighbours",
        _half(result="torch.cat([torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2), rest], dim=-1)")),
    "rotate_half of the whole head": ("the middle of the whole head", """
def half(x, cos, sin):
    n = 2 * cos.shape[-1]
    first, second = x.chunk(2, dim=-1)
    cos, sin = (torch.cat([table, table], dim=-1).unsqueeze(-2) for table in (cos, sin))
    part = x[..., :n] * cos + torch.cat([-second, first], dim=-1)[..., :n] * sin
    return torch.cat([part, x[..., n:]], dim=-1)"""),
    "the interleaved layout": ("this question asks for halves", _half(
        parts="x[..., 0 : 2 * n : 2], x[..., 1 : 2 * n : 2], x[..., 2 * n :]",
        result="torch.cat([torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2), rest], dim=-1)",
    )),
    "sign flipped": ("turns the wrong way",
        _half(result="torch.cat([a * cos + b * sin, b * cos - a * sin, rest], dim=-1)")),
    "rotate_half with its minus on the other half": ("turns the wrong way",
        ROTATE_HALF.format(quarter="torch.cat([second, -first], dim=-1)", tables=TABLES)),
    "rotate_half with the table of neighbours": ("repeated as for neighbours", ROTATE_HALF.format(
        quarter="torch.cat([-second, first], dim=-1)",
        tables="(table.repeat_interleave(2, dim=-1).unsqueeze(-2) for table in (cos, sin))",
    )),
    "rotate_half without a minus": ("no half is negated",
        ROTATE_HALF.format(quarter="torch.cat([second, first], dim=-1)", tables=TABLES)),
    "C141 (10): rotate_half uses a name that is not its argument": (
        "raised NameError",
        ROTATE_HALF.format(quarter="torch.cat([-hidden[..., n // 2 :], hidden[..., : n // 2]], dim=-1)", tables=TABLES),
    ),
    "C142, C141 (8): no axis for the heads": ("every head is turned by its number", _half(axis="cos, sin")),
    "an axis for the heads, in the wrong place": ("every head is turned by its number",
        _half(axis="cos[..., None, :, :], sin[..., None, :, :]")),
    "the middle of the whole head": ("middle of the whole head", """
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
    "drops what does not turn": ("got lost", _half(result="torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)")),
    "zeros for what does not turn": ("became zeros",
        _half(result="torch.cat([a * cos - b * sin, a * sin + b * cos, 0 * rest], dim=-1)")),
    "the whole head is taken to turn": (None, _half(parts="*x.chunk(2, dim=-1), x[..., :0]")),
    "ignores positions: returns its input": ("nothing is turned", _half(result="x")),
    "in place, in its input": ("changes an input in place", """
def half(x, cos, sin):
    n = cos.shape[-1]
    cos, sin = cos[..., None, :], sin[..., None, :]
    first = x[..., :n].clone()
    x[..., :n] = first * cos - x[..., n : 2 * n] * sin
    x[..., n : 2 * n] = first * sin + x[..., n : 2 * n] * cos
    return x"""),
    "in place: the second half from the turned first": ("both need the old ones", """
def half(x, cos, sin):
    x, n = x.clone(), cos.shape[-1]
    cos, sin = cos[..., None, :], sin[..., None, :]
    x[..., :n] = x[..., :n] * cos - x[..., n : 2 * n] * sin
    x[..., n : 2 * n] = x[..., :n] * sin + x[..., n : 2 * n] * cos
    return x"""),
    "the halves exchanged": ("two halves have changed places",
        _half(result="torch.cat([a * sin + b * cos, a * cos - b * sin, rest], dim=-1)")),
    "sine and cosine swapped": ("changed places", _half(axis="sin[..., None, :], cos[..., None, :]")),
    "cosines alone": ("cosines alone", _half(result="torch.cat([a * cos, b * cos, rest], dim=-1)")),
    "the table of the first text for all": ("table of the first",
        _half(axis="(t[:1, :, None] if t.ndim == 3 else t[:, None] for t in (cos, sin))")),
    "only one table thought of": (None, _half(axis="cos[:, None, :], sin[:, None, :]")),
    "the order of axes of question 3": ("tokens and heads have changed places", """
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
    "returns its input": ("nothing has been reordered",
        "def to_half(checkpoint, n_heads, n_kv_heads):\n    return checkpoint\n"),
    "the columns of W_O as well": (
        "meets values",
        _to_half().replace(
            "    return new",
            "    wide = checkpoint['o.weight'].unflatten(1, (n_heads, -1, 2))\n"
            "    new['o.weight'] = wide.transpose(2, 3).flatten(1)\n"
            "    return new",
        ),
    ),
    "W_V as well": ("values are never turned", _to_half(which=ALL_BUT_O)),
    "the way back": ("the way from half to interleaved",
        _to_half("weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)")),
    "only W_Q": ("rows of W_K have kept", _to_half(which="{'q.weight': n_heads, 'q.bias': n_heads}")),
    "only W_K": ("rows of W_Q have kept", _to_half(which="{'k.weight': n_kv_heads, 'k.bias': n_kv_heads}")),
    "layouts mixed between q and k: one there, one back": ("the other way", _to_half(
        "weight.unflatten(0, (heads, -1, 2) if name[0] == 'q' else (heads, 2, -1)).transpose(1, 2).flatten(0, 2)"
    )),
    "the heads forgotten": ("wander from head to head", _to_half("torch.cat([weight[0::2], weight[1::2]])")),
    "n_heads for W_K": ("W_K was cut into as many heads",
        _to_half(which="{name: n_heads for name in ('q.weight', 'q.bias', 'k.weight', 'k.bias')}")),
    "n_kv_heads for W_Q": ("W_Q was cut into as many heads",
        _to_half(which="{name: n_kv_heads for name in ('q.weight', 'q.bias', 'k.weight', 'k.bias')}")),
    "biases forgotten": ("biases of queries and keys", _to_half(which="{'q.weight': n_heads, 'k.weight': n_kv_heads}")),
    "columns for rows": ("columns were reordered",
        _to_half("weight.T.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2).T")),
    "W_V and W_O as well": (
        "W_O was reordered",
        _to_half(which=ALL_BUT_O).replace(
            "    return new",
            "    turned = new['o.weight'].T.unflatten(0, (n_heads, -1, 2)).transpose(1, 2).flatten(0, 2).T\n"
            "    new['o.weight'] = turned\n    return new",
        ),
    ),
    "heads and dimensions exchanged": ("dealt out to the heads", _to_half(
        "torch.cat([weight.unflatten(0, (-1, heads))[0::2], weight.unflatten(0, (-1, heads))[1::2]]).flatten(0, 1)"
    )),
    "odd rows first": ("second members",
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


def _step(
    angle: str = "position[:, None, None, None] * speeds",
    turned: str = "turn(q), turn(k), v",
    cache: str = "(torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2))",
    group: str = "keys.repeat_interleave(n, dim=1), values.repeat_interleave(n, dim=1)",
    seen: str = "wide_keys, wide_values",
    logits: str = "q @ wide_keys.transpose(-1, -2) / math.sqrt(q.shape[-1])",
    softmax: str = "torch.softmax(logits, dim=-1)",
    returned: str = "output, (keys, values)",
    half: bool = False,
) -> str:
    pairs = "x.chunk(2, dim=-1)" if half else "(x[..., 0::2], x[..., 1::2])"
    join = "torch.cat(both, dim=-1)" if half else "torch.stack(both, dim=-1).flatten(-2)"
    return f"""
def decode_step(q, k, v, cache, position, speeds):
    past = 0 if cache is None else cache[0].shape[2]
    angle = {angle}
    cos, sin = torch.cos(angle), torch.sin(angle)

    def turn(x):
        a, b = {pairs}
        both = [a * cos - b * sin, a * sin + b * cos]
        return {join}

    def turn_halves(x):
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

    old_q, old_k = q, k
    q, k, v = {turned}
    keys, values = (k, v) if cache is None else {cache}
    n = q.shape[1] // keys.shape[1]
    wide_keys, wide_values = {group}
    wide_keys, wide_values = {seen}
    logits = {logits}
    output = {softmax} @ wide_values
    return {returned}
"""


Q6_WRONG = {
    "rotates v": ("values are turned too", _step(turned="turn(q), turn(k), turn(v)")),
    "C141 (12): turns k and v, not q": ("it is queries and keys that turn", _step(turned="q, turn(k), turn(v)")),
    "restarted: positions from the shape, always 0": ("at position 0",
        _step(angle="torch.arange(q.shape[2]).double()[:, None] * speeds")),
    "C141 (7): the position from the length of the cache": ("where the cache ends", _step(angle="past * speeds")),
    "1-indexed": ("start at 1", _step(angle="(position + 1)[:, None, None, None] * speeds")),
    "one position too early": ("one too small", _step(angle="(position - 1)[:, None, None, None] * speeds")),
    "no scale": ("not divided by √d", _step(logits="q @ wide_keys.transpose(-1, -2)")),
    "divided by the width, not its root": ("divided by d",
        _step(logits="q @ wide_keys.transpose(-1, -2) / q.shape[-1]")),
    "softmax over the wrong axis": ("an axis that is 1 long", _step(softmax="torch.softmax(logits, dim=-2)")),
    "softmax over the heads": (None, _step(softmax="torch.softmax(logits, dim=1)")),
    "looks before it appends": ("append first", _step(
        group="(keys if cache is None else cache[0]).repeat_interleave(n, dim=1), "
        "(values if cache is None else cache[1]).repeat_interleave(n, dim=1)"
    )),
    "looks at the new key alone": ("only its own key",
        _step(group="k.repeat_interleave(n, dim=1), v.repeat_interleave(n, dim=1)")),
    "a causal mask as if the query were the first": ("only the first key", _step(
        softmax="torch.softmax(logits.masked_fill(torch.ones(1, keys.shape[2]).triu(1).bool(), -torch.inf), dim=-1)"
    )),
    "the cache is not returned with the new token": ("comes back as it was",
        _step(returned="output, ((keys, values) if cache is None else cache)")),
    "keeps the key unturned": ("before its turn",
        _step(returned="output, (old_k if cache is None else torch.cat([cache[0], old_k], dim=2), values)")),
    "turns the whole cache once more": (
        "turned already",
        _step(
            turned="turn(q), k, v", cache="(torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2))"
        ).replace("    n = q.shape[1]", "    keys = turn(keys)\n    n = q.shape[1]"),
    ),
    "the query not turned": ("the query is not turned", _step(turned="q, turn(k), v")),
    "the key not turned": ("the new key is not turned", _step(turned="turn(q), k, v")),
    "layouts mixed between q and k": ("in two layouts", _step(turned="turn(q), turn_halves(k), v")),
    "layouts mixed, the other way": ("in two layouts", _step(turned="turn_halves(q), turn(k), v")),
    "the half layout": ("this question asks for neighbours", _step(half=True)),
    "sign flipped": ("turns the wrong way", _step(angle="-position[:, None, None, None] * speeds")),
    "sign flipped for keys": (
        None,
        _step()
        .replace("old_q, old_k = q, k", "old_q, old_k = q, k\n    plus = turn(q)\n    sin = -sin")
        .replace("turn(q), turn(k), v", "plus, turn(k), v"),
    ),
    "ignores positions": ("its key is not turned", _step(turned="q, k, v")),
    "heads grouped the other way": ("share a key head",
        _step(group="keys.repeat(1, n, 1, 1), values.repeat(1, n, 1, 1)")),
    "appends in front": ("before the old ones",
        _step(cache="(torch.cat([k, cache[0]], dim=2), torch.cat([v, cache[1]], dim=2))")),
    "appends along the heads": (None,
        _step(cache="(torch.cat([cache[0][:, :, :1], k], dim=1), torch.cat([cache[1][:, :, :1], v], dim=1))")),
    "keeps one key for every query head": ("once for every query head",
        _step(returned="output, (wide_keys, wide_values)")),
    "the position of the first text for all": ("position of the first", _step(angle="position[0] * speeds")),
    "positions along the heads": (None, _step(angle="position[None, :, None, None] * speeds")),
    "degrees for radians": ("taken for degrees", _step(angle="torch.deg2rad(position[:, None, None, None] * speeds)")),
    "bf16 angles": (None, _step(angle="(position[:, None, None, None].bfloat16() * speeds.bfloat16()).double()")),
    "only the output comes back": ("should be 2 values", _step(returned="output")),
    "keys and values in the wrong order": ("keys and values have changed places",
        _step(returned="output, (values, keys)")),
    "no thought of the first token": (
        "raised TypeError",
        _step(cache="None")
        .replace(
            "(k, v) if cache is None else None", "(torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2))"
        )
        .replace("0 if cache is None else cache[0].shape[2]", "0"),
    ),
}
Q6_PROPERTY = {
    "no rotation at all": _step(turned="q, k, v"),
    "relative, at half the speed": _step(angle="position[:, None, None, None] * speeds / 2"),
    "relative, from 1: outputs are right, keys are not": _step(angle="(position + 1)[:, None, None, None] * speeds"),
    "relative, the other layout": _step(half=True),
    "relative, backwards": _step(angle="-position[:, None, None, None] * speeds"),
    "steps agree with the whole: always position 0": _step(angle="0 * speeds"),
    "zeros": _step(returned="0 * output, (0 * keys, 0 * values)"),
    "returns what it was given": "def decode_step(q, k, v, cache, position, speeds):\n    return q, cache or (k, v)\n",
    "turns the values with the rest": _step(turned="turn(q), turn(k), turn(v)"),
}
Q6_RIGHT = {
    "complex numbers": """
def decode_step(q, k, v, cache, position, speeds):
    phase = torch.exp(1j * position.double()[:, None] * speeds)[:, None, None]

    def turn(x):
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * phase).flatten(-2)

    k = turn(k)
    if cache is not None:
        k, v = torch.cat((cache[0], k), -2), torch.cat((cache[1], v), -2)
    grouped = turn(q).unflatten(1, (k.shape[1], -1))
    weights = torch.einsum("bgnqd,bgkd->bgnqk", grouped, k).div(q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("bgnqk,bgkd->bgnqd", weights, v).flatten(1, 2), (k, v)""",
    "loops over texts and heads": """
def decode_step(q, k, v, cache, position, speeds):
    def turn(x):
        out = torch.empty_like(x)
        for b in range(len(x)):
            c, s = torch.cos(position[b] * speeds), torch.sin(position[b] * speeds)
            out[b, ..., 0::2] = x[b, ..., 0::2] * c - x[b, ..., 1::2] * s
            out[b, ..., 1::2] = x[b, ..., 0::2] * s + x[b, ..., 1::2] * c
        return out

    q, keys, values = turn(q), turn(k), v
    if cache is not None:
        keys, values = torch.cat([cache[0], keys], 2), torch.cat([cache[1], values], 2)
    share = q.shape[1] // keys.shape[1]
    output = torch.empty_like(q)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            old = keys[b, h // share]
            scores = old @ q[b, h, 0] / math.sqrt(q.shape[3])
            powers = torch.exp(scores - scores.max())
            output[b, h, 0] = powers @ values[b, h // share] / powers.sum()
    return output, (keys, values)""",
    "an index of heads, a list for the cache": _step(
        group="keys[:, torch.arange(q.shape[1]) // n], values[:, torch.arange(q.shape[1]) // n]",
        returned="output, [keys, values]",
    ),
    "numbers of the angles in NumPy": _step(
        angle="torch.from_numpy(np.multiply.outer(position.numpy(), speeds.numpy()))[:, None, None]"
    ),
}

WRONG = {"q1": Q1_WRONG, "q2": Q2_WRONG, "q3": Q3_WRONG, "q4": Q4_WRONG, "q5": Q5_WRONG, "q6": Q6_WRONG}
PROPERTY_ONLY = {
    "q1": Q1_PROPERTY,
    "q2": Q2_PROPERTY,
    "q3": Q3_PROPERTY,
    "q4": Q4_PROPERTY,
    "q5": Q5_PROPERTY,
    "q6": Q6_PROPERTY,
}
RIGHT = {"q1": Q1_RIGHT, "q2": Q2_RIGHT, "q3": Q3_RIGHT, "q4": Q4_RIGHT, "q5": Q5_RIGHT, "q6": Q6_RIGHT}
