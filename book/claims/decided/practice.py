"""Claims about precision, cost and code: floating point, the listings of the notes, and no position code at all.

What a listing does wrong is done here in a few lines of our own, run, and compared with the package.
"""

import json
import math
from collections.abc import Callable

import numpy as np

from book.claims.evidence import Evidence, listed
from posenc.absolute import integer, normalised, relative_positions, sinusoidal
from posenc.analysis import first_tie, needle_weight, uniform_attention_std
from posenc.attention import attention
from posenc.bias import alibi_rank_two, alibi_slopes, t5
from posenc.frequencies import angles, inv_freq
from posenc.rotary import cos_sin, rotate, rotate_matrix, rotation_matrix
from posenc.scaling import from_config

DIM = 128
THETA = inv_freq(DIM)


def _bfloat16(x: np.ndarray) -> np.ndarray:
    """The nearest numbers of 8 significant bits, ties to even, as float32."""
    bits = np.asarray(x, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def _raises(error: type[Exception], run: Callable[[], object]) -> bool:
    try:
        run()
    except error:
        return True
    return False


# ---------------------------------------------------------------------------------------------------------------------
# Precision and cost


def _angle_error(position: int, rounded: Callable[[np.ndarray], np.ndarray]) -> float:
    """The maximum error of an angle where list, position and product are rounded."""
    product = rounded(rounded(THETA) * rounded(np.asarray(position)))
    return float(np.abs(product - angles(position, THETA)).max())


def C131() -> Evidence:
    near = {name: _angle_error(32_768, to) for name, to in (("float32", np.float32), ("bfloat16", _bfloat16))}
    far = _angle_error(1_000_000, np.float32)
    counted = len(np.unique(_bfloat16(np.arange(4096))))
    at, exponents = np.arange(8192, dtype=np.float32)[:, None], (2 * np.arange(DIM // 2) / DIM).astype(np.float32)
    lists = {  # frequencies and their reciprocals, rounded to float32 or computed in it
        "rounded": (THETA.astype(np.float32), (1 / THETA).astype(np.float32)),
        "computed": (np.float32(10_000) ** -exponents, np.float32(10_000) ** exponents),
    }
    errors = {
        how: [float(np.abs(found - angles(at[:, 0], THETA)).max()) for found in (at * theta, at / reciprocals)]
        for how, (theta, reciprocals) in lists.items()
    }
    return Evidence(
        as_said=all(divided < 0.9 * multiplied for multiplied, divided in errors.values()),
        weaker={"computed beforehand in float32, they keep angles to a hundredth of a radian": near["float32"] < 0.01},
        figure=f"maximum error of an angle below position 8192, lists rounded to float32: {errors['rounded'][0]:.1e} "
        f"rad multiplied, {errors['rounded'][1]:.1e} rad divided; at position 32768: float32 {near['float32']:.1e}, "
        f"bfloat16 {near['bfloat16']:.0f} radians; at 1000000 in float32 {far:.3f}; bfloat16 tells apart {counted} of "
        "the first 4096 positions",
    )


class _Counted(np.ndarray):
    """An array that counts the multiplications of real numbers it takes part in."""

    count = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [np.asarray(each) for each in inputs]
        answer = getattr(ufunc, method)(*plain, **kwargs)
        if ufunc is np.matmul:
            _Counted.count += answer.size * plain[0].shape[-1]
        elif ufunc is np.multiply:
            _Counted.count += answer.size
        return answer.view(_Counted)


def _multiplications(method: Callable[..., np.ndarray]) -> int:
    """What rotating one token of width DIM costs, without the making of its table."""
    x = np.random.default_rng(0).standard_normal((1, DIM)).view(_Counted)
    _Counted.count = 0
    method(x, cos_sin(angles([7.0], THETA)), "interleaved")
    return _Counted.count


def C132() -> Evidence:
    dense, elementwise = _multiplications(rotate_matrix), _multiplications(rotate)
    token, tokens = angles([7.0], THETA), 4096
    sizes = rotation_matrix(token).size, 2 * token.size  # a cosine and a sine for each angle
    matrices, waves = (4 * tokens * numbers for numbers in sizes)
    return Evidence(
        as_said=dense >= 10 * elementwise and matrices >= 10 * waves,
        figure=f"multiplications per token: {dense:,} by the matrix, {elementwise} element by element; float32 "
        f"numbers to keep for {tokens} tokens: {matrices / 1e6:.0f} MB against {waves / 1e6:.1f} MB",
    )


def C232() -> Evidence:
    heads, length, small = 32, 32_768, 64
    at = np.arange(small)
    learned = np.random.default_rng(0).standard_normal((32, heads)).astype(np.float16)
    bias = t5(relative_positions(at, at), learned, bidirectional=True)
    stored = bias.nbytes // small**2 * length**2
    table = cos_sin(angles(at, THETA), dtype=np.float32)
    waves = (table.cos.nbytes + table.sin.nbytes) // small * length
    # T5's bias again, from one number for each distance: all that a kernel needs that is told the two positions
    by_distance = t5(relative_positions([0.0], np.arange(1 - small, small)), learned, bidirectional=True)[:, 0]
    rebuilt = np.array_equal(by_distance[:, at - at[:, None] + small - 1], bias)
    looked_up = learned.nbytes if rebuilt else stored
    q, k = alibi_rank_two(np.arange(length), np.arange(length), alibi_slopes(heads))
    folded = 2 * (q.size + k.size)
    return Evidence(
        cases={
            "where a kernel stores a bias for each query and key": waves < stored,
            "where it looks the bias up by distance": waves < looked_up,
        },
        figure=f"{length} tokens, {heads} heads, 16-bit: T5's bias for each query and key {stored / 1e9:.1f} GB, its "
        f"table {looked_up / 1e3:.1f} kB, ALiBi's two extra dimensions {folded / 1e6:.1f} MB; cosines and sines in "
        f"float32 {waves / 1e6:.1f} MB",
    )


# ---------------------------------------------------------------------------------------------------------------------
# No position code


def C133() -> Evidence:
    lengths, wanted = (128, 512, 2048, 8192), 6.0
    plain, fixed = (needle_weight(np.array(lengths), wanted, 1 / sharpness) for sharpness in (1.0, 1.2))
    growing = [float(needle_weight(n, wanted, math.log(lengths[0]) / math.log(n))) for n in lengths]
    delayed = plain[-1] < fixed[-1] < 0.2 * fixed[0]
    return Evidence(
        as_said=growing[-1] > 0.8 * plain[0] and delayed,
        figure="weight of one key of logit 6 among 128, 512, 2048, 8192: "
        + "; ".join(
            f"{name} {listed(weights)}"
            for name, weights in (("λ = 1", plain), ("λ = 1.2", fixed), ("λ = ln n/ln 128", growing))
        ),
    )


def _deviations(values: np.ndarray, lengths: tuple[int, ...]) -> list[float]:
    """Root mean square of what word n receives where it looks at words 1 to n alike."""
    received = [attention(np.zeros((1, 1)), np.zeros((n, 1)), values[:n]).output for n in lengths]
    return [float(np.sqrt(np.mean(output**2))) for output in received]


def C134() -> Evidence:
    lengths = (1, 16, 256, 2048)
    values = np.random.default_rng(0).standard_normal((2048, 2000))
    deviations = _deviations(values, lengths)
    ratio = deviations / uniform_attention_std(np.array(lengths))
    picked = [  # by a query that attends to its own token and no other
        float(np.sqrt(np.mean(attention(np.full((1, 1), 1e3), np.eye(n)[:, -1:], values[:n]).output ** 2)))
        for n in lengths
    ]
    return Evidence(
        cases={
            "for independent values and attention that averages over them": np.abs(ratio - 1).max() < 0.05,
            "for attention that picks out one token": np.ptp(picked) > 0.2,
        },
        figure=f"standard deviation at word 1, 16, 256, 2048: {listed(deviations)}; times √n: {listed(ratio, 2)}; of "
        f"one token that is picked out: {listed(picked, 2)}",
    )


def C135() -> Evidence:
    ties = {precision: first_tie(precision, 5000) for precision in ("bfloat16", "float16", "float32")}
    gaps = [float(-np.diff(uniform_attention_std(np.array([n, n + 1])))[0]) for n in (100, 1000)]
    return Evidence(
        as_said=ties["bfloat16"] and ties["float16"] and gaps[1] < 0.1 * gaps[0],
        figure=f"1/√n − 1/√(n + 1) at n = 100 and 1000: {gaps[0]:.1e} and {gaps[1]:.1e}; first n that rounds like the "
        f"next: {ties['bfloat16']} in bfloat16, {ties['float16']} in float16, "
        f"{ties['float32'] or 'none up to 5000'} in float32",
    )


def C137() -> Evidence:
    lengths = (1, 2, 3, 1024)
    words = np.random.default_rng(0).standard_normal((1024, 2000))
    unlike, alike = _deviations(words, lengths), _deviations(np.repeat(words[:1], 1024, axis=0), lengths)
    flag = _deviations(np.eye(1024, 1), lengths)  # the first word alone has the value 1
    fade = [values[-1] / values[0] for values in (unlike, alike)]
    counts = max(abs(value * n - 1) for value, n in zip(flag, lengths, strict=True))
    return Evidence(
        as_said=abs(fade[0] / float(uniform_attention_std(1024)) - 1) < 0.1 and counts < 1e-9,
        figure=f"size of the output at word 1024 over that at word 1: different words {fade[0]:.3f}, one word "
        f"repeated {fade[1]:.3f}; a mark on the first word arrives at words 1, 2, 3, 1024 as {listed(flag)}",
    )


# ---------------------------------------------------------------------------------------------------------------------
# The listings


def _filled(rows: int, dim: int) -> np.ndarray:
    """A sinusoidal table in float32, filled with as many cosines as sines whatever its width."""
    pair = np.arange(0, dim, 2, dtype=np.float32)
    turned = np.arange(rows, dtype=np.float32)[:, None] * np.exp(pair * np.float32(-math.log(10_000) / dim))
    table = np.empty((rows, dim), np.float32)
    table[:, 0::2], table[:, 1::2] = np.sin(turned), np.cos(turned)
    return table


def C140() -> Evidence:
    import torch

    class Orphan(torch.nn.Module):
        def __init__(self):  # the constructor of Module is not called
            self.register_buffer("code", torch.zeros(1))

    class Moved(torch.nn.Module):
        def __init__(self, rows: int, dim: int):
            super().__init__()
            self.register_buffer("code", torch.as_tensor(sinusoidal(np.arange(rows), dim))[None].swapaxes(0, 1))

        def forward(self, x):
            return x + self.code[:, : x.shape[1]]

    rows, length, dim = 5000, 10, 16
    listing, wanted = Moved(rows, dim), torch.as_tensor(sinusoidal(np.arange(length), dim))
    one, many = torch.zeros(1, length, dim), torch.zeros(rows, length, dim)
    answer = listing(one)
    right = answer.shape == one.shape and torch.allclose(answer[0], wanted)
    refused = _raises(RuntimeError, lambda: listing(torch.zeros(2, length, dim)))
    by_sentence = torch.allclose(listing(many)[:length, -1], wanted)
    odd = _raises(ValueError, lambda: _filled(4, 7))
    orphan = _raises(AttributeError, Orphan)
    shape = tuple(listing.code.shape)
    return Evidence(
        as_said=not orphan and shape == (1, rows, dim),
        weaker={"once it is made to run, one text or two come out as they should": right or not refused},
        figure=f"without Module's constructor: {'AttributeError' if orphan else 'runs'}; with it: buffer {shape}, one "
        f"sentence {tuple(one.shape)} comes out as {tuple(answer.shape)}, two are {'refused' if refused else 'taken'}, "
        f"{rows} get the encoding of {'the sentence' if by_sentence else 'the token'}; odd width "
        f"{'refused' if odd else 'taken'}",
    )


def _swapped(x: np.ndarray) -> np.ndarray:
    """(−second half, first half)."""
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate([-second, first], axis=-1)


def _slips_of_the_pen(torch) -> list[bool]:
    """Whether each of these fails, with an error."""

    class NoSelf(torch.nn.Module):
        def forward(length):
            return length

    def named_otherwise(given):
        return waves  # noqa: F821

    def assigned_later(given):
        x = np.negative(x)  # noqa: F821
        return x

    def never_imported(given):
        return rearrange(given)  # noqa: F821

    return [
        _raises(SyntaxError, lambda: compile("def turn(x)\n    return x", "", "exec")),
        _raises(TypeError, lambda: NoSelf()(4)),
        _raises(AttributeError, lambda: torch.zeros(1).devices),
        _raises(NameError, lambda: named_otherwise(1)),
        _raises(NameError, lambda: assigned_later(1)),
        _raises(NameError, lambda: never_imported(1)),
    ]


def _sketched() -> float:
    """The error of h·cos + rotate_half(h)·sin, with angles laid twice side by side, against RoPE."""
    h, turned = np.random.default_rng(0).standard_normal((8, DIM)), angles(np.arange(8), THETA)
    twice = np.concatenate([turned, turned], axis=-1)
    return float(np.abs(h * np.cos(twice) + _swapped(h) * np.sin(twice) - rotate(h, turned, "half-split")).max())


def _by_head() -> float:
    """The error of a table of shape (length, dim) on (batch, length, heads, dim) with as many heads as tokens."""
    x, turned = np.random.default_rng(0).standard_normal((2, 8, 8, DIM)), angles(np.arange(8), THETA)
    cos, sin = (np.concatenate([wave(turned)] * 2, axis=-1) for wave in (np.cos, np.sin))
    wanted = rotate(x, turned[None, :, None], "half-split")
    return float(np.abs(x * cos + _swapped(x) * sin - wanted).max())


def _flaws(torch) -> list[bool]:
    """Whether each of these fails once the slips are mended."""

    class Orphan(torch.nn.Module):
        def __init__(self):  # the constructor of Module is not called
            self.speeds = torch.ones(2)

        def forward(self, length):
            return length

    class Keeper(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.speeds = torch.ones(2)  # no buffer

        def forward(self, length):
            self.kept = [torch.ones(length, 2), torch.ones(length, 2)]  # and no return

    keeper = Keeper()
    answer = keeper(16)
    keeper.double()
    positions = _bfloat16(np.arange(4096))
    return [
        _raises(AttributeError, lambda: Orphan()(4)),
        keeper.speeds.dtype != torch.float64,
        answer is None,
        keeper.kept[0].dtype != torch.float64,
        _raises(RuntimeError, lambda: torch.ones(1, 1, 8, 2) * keeper.kept[0]),
        _by_head() > 0.1,
        len(np.unique(positions)) < 4096,
    ]


def C141() -> Evidence:
    import torch

    slips, flaws = _slips_of_the_pen(torch), _flaws(torch)
    positions = np.arange(4096)
    error = np.abs(_bfloat16(positions) - positions).max()  # of pair 0, which turns by a radian a token
    return Evidence(
        as_said=not any(slips + flaws),
        weaker={
            "what it sketches is RoPE": _sketched() < 1e-9,
            "it runs once the slips of the pen are mended": not any(flaws),
        },
        figure=f"{sum(slips)} slips of the pen and {sum(flaws)} flaws observed; without them, the difference from RoPE "
        f"is {'below 1e-09' if _sketched() < 1e-9 else f'{_sketched():.2f}'}; rotated by head instead of token: "
        f"error {_by_head():.1f}; positions in bfloat16: error of the fastest pair up to {error:.0f} radians",
    )


def C142() -> Evidence:
    def turned(x, cos, sin):
        even, odd = x[..., 0::2], x[..., 1::2]
        return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)

    def unimported():
        return nn.Embedding(2, 2)  # noqa: F821

    x = np.random.default_rng(0).standard_normal((2, 8, 8, DIM))
    phi = angles(np.arange(8), THETA)
    wanted = rotate(x, phi[None, :, None], "interleaved")
    silent = np.abs(turned(x, np.cos(phi), np.sin(phi)) - wanted).max()
    with_axis = np.abs(turned(x, np.cos(phi)[:, None], np.sin(phi)[:, None]) - wanted).max()
    even = np.abs(_filled(5000, 512) - sinusoidal(np.arange(5000), 512)).max()
    crashes = [
        _raises(ValueError, lambda: _filled(4, 7)),
        _raises(NameError, unimported),
        _raises(ValueError, lambda: turned(x[:, :, :3], np.cos(phi), np.sin(phi))),
    ]
    return Evidence(
        cases={
            "for an even width, with the import and an axis for heads": even < 1e-3 and with_axis < 1e-9,
            "without them": not any(crashes) and silent < 1e-9,
        },
        figure=f"float32 table of even width: error {even:.0e}; odd width, missing import, table without an axis for "
        f"heads: {sum(crashes)} of 3 stop; with as many heads as tokens it runs, with an error of {silent:.1f}",
    )


def C143() -> Evidence:
    at, column = np.arange(512)[:, None], np.arange(768)
    counted = np.array_equal(integer(np.arange(5), 4), [[t] * 4 for t in range(5)])
    shares = np.allclose(normalised(np.arange(5), 5, 4)[:, 0], [0, 0.2, 0.4, 0.6, 0.8])
    slowed = at / 10_000 ** (column // 2 * 2 / 768)
    texture = np.where(column % 2 == 0, np.sin(slowed), np.cos(slowed))
    error = np.abs(texture - sinusoidal(np.arange(512), 768)).max()
    return Evidence(
        as_said=counted and shares and error < 1e-9,
        figure=f"rows {'0 to 4' if counted else 'wrong'}, shares {'0 to 0.8' if shares else 'wrong'}, texture of 512 "
        f"by 768 differs by {'less than 1e-9' if error < 1e-9 else f'{error:.2f}'}",
    )


def C145() -> Evidence:
    lines = ["# Qwen3-8B config", "{", '  "head_dim": 128,', '  "rope_theta": 1000000,', "  ...", "}"]
    bare = "{" + lines[2] + lines[3].rstrip(",") + "}"
    stops = {}
    for name, text in (("as printed", lines), ("without the comment", lines[1:])):
        try:
            json.loads("\n".join(text))
        except json.JSONDecodeError as error:
            stops[name] = text[error.lineno - 1].strip()
    pairs = from_config(json.loads(bare), 128).inv_freq.size
    return Evidence(
        cases={"without its comment and its ellipsis": pairs == 64, "as printed": "as printed" not in stops},
        figure="; ".join(f"{name} it stops at “{line}”" for name, line in stops.items())
        + f"; without both it is read, and gives {pairs} frequencies",
    )
