"""Assignment 3: answers that must lose points, and with which sentence; answers that must earn nothing or everything.

WRONG           question → name of the mistake → (a part of the sentence that names it, or None; the answer cell)
PROPERTY_ONLY   answers that have a property of the right one and nothing else: no point at all
RIGHT           other ways to the right answer: every point

Data only.
"""

# An answer stands beside or below its name and its sentence.
# fmt: off

_HANDS = """
def count_rotations(dim, base, length):
    speeds = {speeds}
    waves = {waves}
    made = {made}
    return {answer}
"""


def _hands(
    speeds: str = "base ** (-np.arange(0, dim, 2) / dim)",
    waves: str = "2 * np.pi / speeds",
    made: str = "length / waves",
    answer: str = "waves, made, int(np.sum(made >= 1))",
) -> str:
    return _HANDS.format(speeds=speeds, waves=waves, made=made, answer=answer)


_DECAY = """
def decay(distances, frequencies):
    distances = np.asarray(distances, dtype=float)
    return {answer}
"""


def _decay(answer: str) -> str:
    return _DECAY.format(answer=answer)


_LAW_RIGHT = """
def law(distances, base):
    x = (np.arange(200_000) + 0.5) / 200_000
    return np.array([np.cos(m * base ** -x).mean() for m in distances])
"""

_REACH_RIGHT = """
def reach(share, base):
    return base ** (1 - share) * math.exp(-np.euler_gamma)
"""


def _reach(answer: str) -> str:
    return f"\ndef reach(share, base):\n    return {answer}\n{_LAW_RIGHT}"


def _law(answer: str, steps: int = 100_000) -> str:
    return f"""{_REACH_RIGHT}
def law(distances, base):
    x = (np.arange({steps}) + 0.5) / {steps}
    return np.array([{answer} for m in distances])
"""


def _two(reach: str, law: str) -> str:
    return f"\ndef reach(share, base):\n    return {reach}\n\ndef law(distances, base):\n    return {law}\n"


_BASES = """
def bases_for(length, dim, bases):
    def passes(base):
        m = np.arange({stop})[:, None]
        score = np.cos(m * base ** (-np.arange(0, dim, 2) / dim)).mean(axis={axis})
        return {test}

    good = [base for base in {order} if passes(base)]
    bad = [base for base in bases if not passes(base)]
    safe = [base for base in good if not bad or base > max(bad)]
    least = {least}
    return {answer}
"""


def _bases(
    stop: str = "length + 1",
    axis: int = -1,
    test: str = "np.all(score >= 0)",
    order: str = "sorted(bases)",
    least: str = "good[0] if good else None",
    answer: str = "least, safe[0] if safe else None",
) -> str:
    return _BASES.format(stop=stop, axis=axis, test=test, order=order, least=least, answer=answer)


_NEW = """
def new_angles(frequencies, trained, used, tolerance):
    shares = []
    for theta in frequencies:
        seen = {seen}
        past = {past}
        apart = np.abs(past[:, None] - seen[None, :])
        {around}
        shares.append({share})
    return {answer}
"""


def _new(
    seen: str = "np.arange(trained) * theta % (2 * np.pi)",
    past: str = "np.arange(trained, used) * theta % (2 * np.pi)",
    around: str = "apart = np.minimum(apart, 2 * np.pi - apart)",
    share: str = "np.mean(apart.min(axis=1) > tolerance)",
    answer: str = "np.array(shares)",
) -> str:
    return _NEW.format(seen=seen, past=past, around=around, share=share, answer=answer)


_FILE = """
def rotation_of(config):
    rope = {rope}
    head = {head}
    share = {share}
    dim = int(head * share)
    base = {base}
    slowest = {slowest}
    return {answer}
"""


def _file(
    rope: str = 'config.get("rope_parameters") or config.get("rope_scaling") or {}',
    head: str = 'config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]',
    share: str = '{**config, **rope}.get("partial_rotary_factor", 1.0)',
    base: str = '{**config, **rope}["rope_theta"]',
    slowest: str = "2 * np.pi * base ** ((dim - 2) / dim)",
    answer: str = "dim, base, slowest",
) -> str:
    return _FILE.format(rope=rope, head=head, share=share, base=base, slowest=slowest, answer=answer)


WRONG: dict[str, dict[str, tuple[str | None, str]]] = {
    "q1": {
        "exponent i/d": ("the frequencies fall too", _hands("base ** (-np.arange(dim // 2) / dim)")),
        "d - 2 in the exponent": ("exactly 1/base", _hands("base ** (-np.arange(0, dim, 2) / (dim - 2))")),
        "a positive power": ("the frequencies rise along", _hands("base ** (np.arange(0, dim, 2) / dim)")),
        "pairs counted from 1": ("start at 1", _hands("base ** (-2 * np.arange(1, dim // 2 + 1) / dim)")),
        "slowest first": ("the slowest pair comes", _hands("base ** (-np.arange(0, dim, 2)[::-1] / dim)")),
        "no turn at all": ("there is no 2π", _hands(waves="1 / speeds")),
        "turns in radians": ("the rotations are in", _hands(made="length * speeds")),
        "wavelength without a turn": ("the wavelengths are not",
            _hands(waves="1 / speeds", made="length * speeds / (2 * np.pi)")),
        "degrees": ("a rotation was counted as 360, but the frequencies are in radians", _hands(waves="360 / speeds")),
        "half a turn": ("a rotation was counted as π", _hands(waves="np.pi / speeds")),
        "speeds for wavelengths": ("the first value holds", _hands(answer="speeds, made, int(np.sum(made >= 1))")),
        "values in another order": ("the first two values", _hands(answer="made, waves, int(np.sum(made >= 1))")),
        "counts those that have not": ("the third value counts", _hands(answer="waves, made, int(np.sum(made < 1))")),
        "rounded turns": ("half a rotation was counted",
            _hands(answer="waves, made, int(np.sum(np.round(made) >= 1))")),
        "adds turns up": ("the third value sums", _hands(answer="waves, made, int(made.sum())")),
        "power before product": ("the first pair does",
            _hands("base ** -2 * np.arange(dim // 2) / dim", waves="np.append(np.inf, 2 * np.pi / speeds[1:])")),
        "whole division of what is negative": ("all pairs but the first",
            _hands("float(base) ** (-np.arange(0, dim, 2) // dim)")),
        "turns upside down": ("the second value is inverted",
            _hands(made="waves / length", answer="waves, made, int(np.sum(made <= 1))")),
        "number of the last": ("the third value is the", _hands(answer="waves, made, int(np.sum(made >= 1)) - 1")),
        "the first that has not": ("the third value is 0", _hands(answer="waves, made, int(np.argmax(made < 1))")),
        "a share": ("a share", _hands(answer="waves, made, float(np.mean(made >= 1))")),
        "last position for length": ("one token less", _hands(made="(length - 1) / waves")),
        "whole division": ("all pairs have the", _hands("base ** (-(np.arange(0, dim, 2) // dim) * 1.0)")),
        "listed twice, halves": ("listed twice", _hands("np.tile(base ** (-np.arange(0, dim, 2) / dim), 2)")),
        "listed twice, neighbours": ("listed twice", _hands("np.repeat(base ** (-np.arange(0, dim, 2) / dim), 2)")),
        "a speed for each dimension": ("the list has one", _hands("base ** (-np.arange(dim) / dim)")),
        "the base is always 10 000": ("base that was given", _hands("10_000.0 ** (-np.arange(0, dim, 2) / dim)")),
        "whole turns only": ("rounded down", _hands(answer="waves, np.floor(made), int(np.sum(made >= 1))")),
        "sizes of the slowest hand only": (None, _hands(answer="waves[-1], made[-1], int(np.sum(made >= 1))")),
        "forgets the count": ("should be 3 values", _hands(answer="waves, made")),
        "speeds in bfloat16": (None, _hands("(base ** (-torch.arange(0, dim, 2) / dim)).bfloat16().double().numpy()")),
        "inverse powers by subtraction": (None, _hands("1 - np.arange(0, dim, 2) / dim * (1 - 1 / base)")),
        "nothing returned": ("returned nothing", "\ndef count_rotations(dim, base, length):\n    2 * math.pi\n"),
    },
    "q2": {
        "added up": ("at distance 0 it is not", _decay("np.cos(distances[..., None] * frequencies).sum(axis=-1)")),
        "divided by d": ("one half",
            _decay("np.cos(distances[..., None] * frequencies).sum(axis=-1) / (2 * len(frequencies))")),
        "times two": ("it is 2", _decay("2 * np.cos(distances[..., None] * frequencies).mean(axis=-1)")),
        "mean over the distances": ("the mean was taken over the",
            _decay("np.cos(distances[..., None] * frequencies).mean(axis=0)")),
        "mean over everything": ("one number for all distances",
            _decay("np.cos(distances[..., None] * frequencies).mean()")),
        "ignores the distances": (
            "not used",
            _decay("np.cos(np.arange(distances.size).reshape(distances.shape)[..., None] * frequencies).mean(axis=-1)"),
        ),
        "sines": ("sines were used", _decay("np.sin(distances[..., None] * frequencies).mean(axis=-1)")),
        "sizes of the cosines": ("absolute values of the",
            _decay("np.abs(np.cos(distances[..., None] * frequencies)).mean(axis=-1)")),
        "size of the mean": ("the absolute value of the mean was",
            _decay("np.abs(np.cos(distances[..., None] * frequencies).mean(axis=-1))")),
        "size of the complex mean": ("its real part",
            _decay("np.abs(np.exp(1j * distances[..., None] * frequencies).mean(axis=-1))")),
        "counted from 1": ("counted from 1", _decay("np.cos((distances[..., None] + 1) * frequencies).mean(axis=-1)")),
        "degrees": ("degrees", _decay("np.cos(np.deg2rad(distances[..., None] * frequencies)).mean(axis=-1)")),
        "turns for radians": ("the angles were treated as rotations",
            _decay("np.cos(2 * np.pi * distances[..., None] * frequencies).mean(axis=-1)")),
        "cosine of the mean": ("cosine of the mean angle",
            _decay("np.cos((distances[..., None] * frequencies).mean(axis=-1))")),
        "one pendulum": ("this is the fastest", _decay("np.cos(distances * np.max(frequencies))")),
        "squared": ("were squared", _decay("(np.cos(distances[..., None] * frequencies) ** 2).mean(axis=-1)")),
        "bfloat16 positions": ("bfloat16", """
def decay(distances, frequencies):
    m = torch.as_tensor(distances).to(torch.bfloat16).double()
    return torch.cos(m[..., None] * torch.as_tensor(frequencies)).mean(dim=-1)"""),
        "bfloat16 angles": ("bfloat16", """
def decay(distances, frequencies):
    angles = torch.as_tensor(distances)[..., None] * torch.as_tensor(frequencies)
    return torch.cos(angles.bfloat16().double()).mean(dim=-1)"""),
        "bfloat16 everywhere": ("bfloat16", """
def decay(distances, frequencies):
    m, theta = torch.as_tensor(distances).bfloat16(), torch.as_tensor(frequencies).bfloat16()
    return torch.cos(m[..., None] * theta).mean(dim=-1).double()"""),
        "float32 angles": ("float64", """
def decay(distances, frequencies):
    m, theta = torch.as_tensor(distances).float(), torch.as_tensor(frequencies).float()
    return torch.cos(m[..., None] * theta).mean(dim=-1).double()"""),
        "whole distances": ("cut to whole", _decay("np.cos(distances.astype(int)[..., None] * frequencies).mean(-1)")),
        "multiplied": ("were multiplied", _decay("np.cos(distances[..., None] * frequencies).prod(axis=-1)")),
        "lists only": ("the shape of", _decay("np.cos(np.outer(distances, frequencies)).mean(axis=-1)")),
        "the law instead": (None,
            _decay("1 - (np.log(1 + np.abs(distances)) + np.euler_gamma) / np.log(1 / np.min(frequencies))")),
    },
    "q3": {
        "no gamma": ("γ was left out", _reach("base ** (1 - share)")),
        "gamma of the wrong sign": ("γ has the wrong sign",
            _reach("math.exp((1 - share) * math.log(base) + np.euler_gamma)")),
        "share that is lost": ("share that is lost", _reach("base ** share * math.exp(-np.euler_gamma)")),
        "gamma taken off the distance": ("γ was subtracted from", _reach("base ** (1 - share) - np.euler_gamma")),
        "base 10": ("base 10", _reach("10 ** ((1 - share) * math.log10(base) - np.euler_gamma)")),
        "base 2": ("base 2", _reach("2 ** ((1 - share) * math.log2(base) - np.euler_gamma)")),
        "the logarithm of it": ("logarithm of the distance", _reach("(1 - share) * math.log(base) - np.euler_gamma")),
        "rounded": ("was rounded", _reach("round(base ** (1 - share) * math.exp(-np.euler_gamma))")),
        "no 1": ("the 1 of the line", _reach("base ** -share * math.exp(-np.euler_gamma)")),
        "gamma beside the share": ("γ was not divided", _reach("base ** (1 - share - np.euler_gamma)")),
        "falls evenly": ("the curve was assumed", _reach("(1 - share) * base")),
        "powers of e instead of the base": (None, _reach("math.exp(1 - share - np.euler_gamma) * base")),
        "whole number of tokens": ("was rounded", _reach("int(base ** (1 - share) * math.exp(-np.euler_gamma))")),
        "the line instead of the limit": ("the straight line",
            _law("1 - (math.log(m) + np.euler_gamma) / math.log(base)")),
        "no logarithm under it": ("too large", _law("np.cos(m * base ** -x).mean() * math.log(base)")),
        "log10 under it": ("natural one", _law("np.cos(m * base ** -x).mean() * math.log(base) / math.log10(base)")),
        "a positive power": (None, _law("np.cos(m * base ** x).mean()")),
        "cos u alone": ("not divided by u", _law("np.cos(m / base + (m - m / base) * x).mean()")),
        "cos u alone, under the bar": ("not divided by u",
            _law("np.cos(m / base + (m - m / base) * x).mean() * (m - m / base) / math.log(base)")),
        "100 hands": ("this is the mean", _law("np.cos(m * base ** -(np.arange(100) / 100)).mean()")),
        "sines": ("sines", _law("np.sin(m * base ** -x).mean()")),
        "64 hands": ("this is the mean", _law("np.cos(m * base ** -(np.arange(64) / 64)).mean()")),
        "too few steps": ("too few steps", _law("np.cos(m * base ** -(np.arange(500) / 500)).mean()")),
        "the sum": (None, _law("np.cos(m * base ** -x).sum()")),
        "x to 1/2 only": ("to 1/2 only", _law("np.cos(m * base ** (-x / 2)).mean()")),
        "no width of the steps": (
            None,
            f"""{_REACH_RIGHT}
def law(distances, base):
    u = [np.linspace(m / base, m, 100_000) for m in distances]
    return np.array([np.mean(np.cos(one) / one) / math.log(base) for one in u])""",
        ),
    },
    "q4": {
        "last distance left out": ("last distance was left out", _bases(stop="length")),
        "first in the list": ("not the smallest", _bases(least="next((b for b in bases if passes(b)), None)")),
        "no sorting": ("do not come in order", _bases(order="bases")),
        "no sorting, run by run": ("do not come in order", """
def bases_for(length, dim, bases):
    least = safe = None
    for base in bases:
        score = np.cos(np.arange(length + 1)[:, None] * base ** (-np.arange(0, dim, 2) / dim)).sum(axis=1)
        if score.min() >= 0:
            least, safe = least or base, safe or base
        else:
            safe = None
    return least, safe"""),
        "the least twice": ("the second value repeats", _bases(answer="least, least")),
        "every second distance": ("every second distance", _bases(stop="0, length + 1, 2")),
        "the first base past the length": (None, """
def bases_for(length, dim, bases):
    past = [base for base in sorted(bases) if base >= length]
    return (past[0], past[0]) if past else (None, None)"""),
        "by the length alone": (None, """
def bases_for(length, dim, bases):
    past = [base for base in sorted(bases) if base >= length / (2 * np.pi)]
    return (past[0], past[0]) if past else (None, None)"""),
        "last distance only": ("only the last distance", _bases(test="score[-1] >= 0")),
        "base that fails": ("a base that fails", _bases(answer="least, max(bad)")),
        "greatest of the grid": ("the second value is the", _bases(answer="least, max(bases)")),
        "greatest that passes": ("the second value is the", _bases(answer="least, max(good) if good else None")),
        "changed places": ("the two values are", _bases(answer="safe[0] if safe else None, least")),
        "0 for none": ("should be None",
            _bases(least="good[0] if good else 0", answer="least, safe[0] if safe else 0")),
        "infinity for none": ("should be None",
            _bases(least="good[0] if good else math.inf", answer="least, safe[0] if safe else math.inf")),
        "mean of the score": ("the mean of the score", _bases(test="score.mean() >= 0")),
        "mean over distances": (None, _bases(axis=0)),
        "the least that fails": (None, _bases(least="min(bad) if bad else None")),
        "any distance is enough": ("one distance with a", _bases(test="np.any(score >= 0)")),
        "raises where none passes": ("IndexError", _bases(least="good[0]", answer="least, safe[0]")),
        "exponent i/d": ("the search is right",
            _bases().replace("np.arange(0, dim, 2) / dim", "np.arange(dim // 2) / dim")),
        "d - 2 in the exponent": ("the search is right",
            _bases().replace("np.arange(0, dim, 2) / dim", "np.arange(0, dim, 2) / (dim - 2)")),
        "the law alone": (None, _bases(test="1 - (math.log(length) + np.euler_gamma) / math.log(base) >= 0")),
    },
    "q5": {
        "no turn": ("an angle one full",
            _new(seen="np.arange(trained) * theta", past="np.arange(trained, used) * theta", around="")),
        "no turn, but the way round": ("the shorter direction was",
            _new(seen="np.arange(trained) * theta", past="np.arange(trained, used) * theta")),
        "not the way round": ("the circle was not", _new(around="")),
        "share of the known": ("the shares are of the", _new(share="np.mean(apart.min(axis=1) <= tolerance)")),
        "one position too many in training": ("position `trained` was taken",
            _new(seen="np.arange(trained + 1) * theta % (2 * np.pi)")),
        "training from 1": ("counted from 1", _new(seen="np.arange(1, trained) * theta % (2 * np.pi)")),
        "one position late": ("first one past the training",
            _new(past="np.arange(trained + 1, used) * theta % (2 * np.pi)")),
        "one position too far": ("the last of them", _new(past="np.arange(trained, used + 1) * theta % (2 * np.pi)")),
        "of all positions": ("only those past", _new(share="np.sum(apart.min(axis=1) > tolerance) / used")),
        "greatest angle only": ("every angle up to", _new(share="np.mean(past > seen.max() + tolerance)")),
        "new or old": (None, _new(share="float(trained * theta < 2 * np.pi)")),
        "half a turn": ("the angles were reduced", _new(
            seen="np.arange(trained) * theta % np.pi",
            past="np.arange(trained, used) * theta % np.pi",
            around="apart = np.minimum(apart, np.pi - apart)",
        )),
        "degrees": ("in radians", _new(
            seen="np.rad2deg(np.arange(trained) * theta) % 360",
            past="np.rad2deg(np.arange(trained, used) * theta) % 360",
            around="apart = np.minimum(apart, 360 - apart)",
        )),
        "a turn of 360": ("an angle one full", _new(
            seen="np.arange(trained) * theta % 360",
            past="np.arange(trained, used) * theta % 360",
            around="apart = np.minimum(apart, 360 - apart)",
        )),
        "numbers": ("not shares", _new(share="np.sum(apart.min(axis=1) > tolerance)")),
        "percent": ("percentages", _new(share="100 * np.mean(apart.min(axis=1) > tolerance)")),
        "one number": ("one number for all pairs", _new(answer="np.mean(shares)")),
        "chords": ("the distance was measured", _new(share="np.mean(2 * np.sin(apart.min(axis=1) / 2) > tolerance)")),
        "all pairs": ("each later angle counts once", _new(share="np.mean(apart > tolerance)")),
        "mean distance": ("every angle past the", _new(share="np.mean(apart.mean(axis=1) > tolerance)")),
        "last of the training only": ("the last one of the training", _new(share="np.mean(apart[:, -1] > tolerance)")),
        "used for how many more": ("counts those of the training too",
            _new(past="np.arange(trained, trained + used) * theta % (2 * np.pi)")),
        "of the positions of the training": ("divided by the positions of the training",
            _new(share="np.sum(apart.min(axis=1) > tolerance) / trained")),
        "greatest distance": ("every angle past the", _new(share="np.mean(apart.max(axis=1) > tolerance)")),
        "wrong axis": (None, _new(share="np.mean(apart.min(axis=0) > tolerance)")),
        "cosines": (
            None,
            _new(seen="np.cos(np.arange(trained) * theta)", past="np.cos(np.arange(trained, used) * theta)", around=""),
        ),
    },
    "q6": {
        "head_dim overlooked": ("head_dim was overlooked",
            _file(head='config["hidden_size"] // config["num_attention_heads"]')),
        "null is not missing": ("TypeError",
            _file(head='config.get("head_dim", config["hidden_size"] // config["num_attention_heads"])')),
        "head_dim always there": ("KeyError", _file(head='config["head_dim"]')),
        "whole head": ("partial_rotary_factor was overlooked", _file(share="1.0")),
        "share at the top only": ("partial_rotary_factor was overlooked where",
            _file(share='config.get("partial_rotary_factor", 1.0)')),
        "base at the top only": ("rope_theta was overlooked where", _file(base='config.get("rope_theta", 10_000.0)')),
        "base at the top, nothing else": ("KeyError", _file(base='config["rope_theta"]')),
        "rope dictionary overlooked": ("overlooked", _file(
            rope="{}", share='config.get("partial_rotary_factor", 1.0)', base='config.get("rope_theta", 10_000.0)'
        )),
        "rope_parameters alone": ("under rope_scaling", _file(
            rope='config.get("rope_parameters") or {}',
            base='{"rope_theta": 10_000.0, **config, **rope}["rope_theta"]',
        )),
        "rope_scaling is null": ("TypeError",
            _file(rope='config.get("rope_parameters", config.get("rope_scaling", {}))')),
        "whole head in the exponent": ("the slowest pair is not that",
            _file(slowest="2 * np.pi * base ** ((dim - 2) / head)")),
        "turn of the base": ("one step before", _file(slowest="2 * np.pi * base")),
        "pairs for dimensions": ("number of pairs", _file(answer="dim // 2, base, slowest")),
        "no turn": ("the third value is not", _file(slowest="base ** ((dim - 2) / dim)")),
        "speed": ("the third value is a frequency", _file(slowest="base ** -((dim - 2) / dim)")),
        "lost power of ten": (None, _file(slowest="2 * np.pi / 1.24")),
        "fastest hand": ("the third value is of", _file(slowest="2 * np.pi")),
        "scaled": ("scaling was applied",
            _file(slowest='2 * np.pi * base ** ((dim - 2) / dim) * rope.get("factor", 1)')),
        "scaled upside down": ("scaling was applied",
            _file(slowest='2 * np.pi * base ** ((dim - 2) / dim) / rope.get("factor", 1)')),
        "scaled base": ("scaling was applied", _file(base='{**config, **rope}["rope_theta"] * rope.get("factor", 1)')),
        "key-value heads": ("the width was divided",
            _file(head='config["hidden_size"] // config["num_key_value_heads"]')),
        "key–value heads, where head_dim is missing": ("the width was divided",
            _file(head='config.get("head_dim") or config["hidden_size"] // config["num_key_value_heads"]')),
        "whole model": ("whole width of the model", _file(head='config["hidden_size"]')),
        "d - 1": ("what is i", _file(slowest="2 * np.pi * base ** ((dim - 1) / dim)")),
        "slowest of the whole head": ("that of a whole head", _file(slowest="2 * np.pi * base ** ((head - 2) / head)")),
        "the rest of the head": ("not the rest", _file(share='1 - {**config, **rope}.get("partial_rotary_factor", 0)')),
        "base in the rope dictionary only": ("rope_theta was overlooked where it is at",
            _file(base='rope.get("rope_theta", 10_000.0)')),
        "degrees": ("a rotation was counted as 360, but the frequencies are in radians",
            _file(slowest="360 * base ** ((dim - 2) / dim)")),
        "exponent i/d": ("lacks the 2", _file(slowest="2 * np.pi * base ** ((dim // 2 - 1) / dim)")),
        "other order": ("first two values", _file(answer="base, dim, slowest")),
        "as a dictionary": ("should be 3 values", _file(answer='{"dim": dim, "base": base, "slowest": slowest}')),
    },
}

PROPERTY_ONLY: dict[str, dict[str, str]] = {
    "q1": {
        "zeros": "\ndef count_rotations(dim, base, length):\n    return np.zeros(dim // 2), np.zeros(dim // 2), 0\n",
        "its input": "\ndef count_rotations(dim, base, length):\n    return dim, base, length\n",
        "right first and last, even in between": _hands("np.linspace(1, base ** (2 / dim - 1), dim // 2)"),
        "a turn at every token": _hands("np.full(dim // 2, 2 * np.pi)"),
        "only waves times turns is the length": _hands("np.ones(dim // 2)"),
    },
    "q2": {
        "zeros": _decay("np.zeros(distances.shape)"),
        "ones": _decay("np.ones(distances.shape)"),
        "its input": _decay("distances"),
        "1 at distance 0 and even": _decay("np.cos(distances * np.max(frequencies))"),
        "1 at distance 0 and falling": _decay("1 / (1 + np.abs(distances))"),
        "mean of the speeds": _decay("np.cos(distances * np.mean(frequencies))"),
        "relative, at half the speed": _decay("np.cos(distances[..., None] * frequencies / 2).mean(axis=-1)"),
        "relative, at the wrong speeds": _decay(
            "np.cos(distances[..., None] * np.geomspace(1, 1e-4, len(frequencies))).mean(axis=-1)"
        ),
    },
    "q3": {
        "zeros": _two("0.0", "np.zeros(len(distances))"),
        "ones": _two("1.0", "np.ones(len(distances))"),
        "their inputs": _two("share", "distances"),
        "grows with the base; falls from 1": _two("base / share", "np.exp(-np.asarray(distances) / base)"),
    },
    "q4": {
        "none": "\ndef bases_for(length, dim, bases):\n    return None, None\n",
        "least and greatest of the grid": "\ndef bases_for(length, dim, bases):\n    return min(bases), max(bases)\n",
        "greatest of the grid": "\ndef bases_for(length, dim, bases):\n    return max(bases), max(bases)\n",
        "its input": "\ndef bases_for(length, dim, bases):\n    return bases, bases\n",
        "as large as the length": (
            "\ndef bases_for(length, dim, bases):\n"
            "    good = [base for base in sorted(bases) if base >= length] or [None]\n    return good[0], good[0]\n"
        ),
    },
    "q5": {
        "zeros": _new(share="0.0"),
        "ones": _new(share="1.0"),
        "its input": _new(answer="frequencies"),
        "share of the length that is past": _new(share="(used - trained) / used"),
        "new before the first turn": _new(share="float(trained * theta < 2 * np.pi)"),
        "what is left of a turn": _new(share="max(0.0, 1 - trained * theta / (2 * np.pi))"),
    },
    "q6": {
        "the commonest model": _file(answer="128, 10_000.0, 54_410.1"),
        "zeros": "\ndef rotation_of(config):\n    return 0, 0.0, 0.0\n",
        "its input": "\ndef rotation_of(config):\n    return config\n",
        "only the base": _file(answer="0, base, 0.0"),
    },
}

RIGHT: dict[str, dict[str, str]] = {
    "q1": {
        "a loop": """
def count_rotations(dim, base, length):
    waves, turns, count = [], [], 0
    for i in range(dim // 2):
        waves.append(2 * math.pi * base ** (2 * i / dim))
        turns.append(length / waves[-1])
        count += turns[-1] >= 1
    return np.array(waves), np.array(turns), count""",
        "lists, as the example shows them": _hands(answer="waves.tolist(), list(made), int(np.sum(made >= 1))"),
        "torch, by exponential and logarithm": """
def count_rotations(dim, base, length):
    theta = torch.exp(-torch.arange(0, dim, 2, dtype=torch.float64) / dim * math.log(base))
    turns = length * theta / (2 * math.pi)
    return 2 * math.pi / theta, turns, int((turns >= 1).sum())""",
        "geomspace": _hands("np.geomspace(1, 1 / base, dim // 2, endpoint=False)"),
        "count by wavelength": _hands(answer="waves, made, np.count_nonzero(waves <= length)"),
        "float32": _hands("(base ** (-torch.arange(0, dim, 2) / dim)).numpy()"),
    },
    "q2": {
        "a loop over hands": """
def decay(distances, frequencies):
    total = 0.0
    for theta in frequencies:
        total = total + np.cos(np.asarray(distances) * theta)
    return total / len(frequencies)""",
        "complex": _decay("np.exp(1j * np.multiply.outer(distances, frequencies)).real.mean(axis=-1)"),
        "by rotated vectors": """
def decay(distances, frequencies):
    angles = np.asarray(distances)[..., None] * frequencies
    query = np.stack([np.cos(angles) - np.sin(angles), np.sin(angles) + np.cos(angles)], axis=-1)
    return np.einsum("...pc,c->...", query, np.ones(2)) / (2 * len(frequencies))""",
        "torch": """
def decay(distances, frequencies):
    m, theta = torch.as_tensor(distances).double(), torch.as_tensor(frequencies)
    return torch.cos(m.unsqueeze(-1) * theta).mean(-1)""",
        "by the cosine of the half": _decay(
            "1 - 2 * (np.sin(distances[..., None] * frequencies / 2) ** 2).mean(axis=-1)"
        ),
    },
    "q3": {
        "bisection; the trapezium rule": """
def reach(share, base):
    low, high = 1e-9, base * 10
    for _ in range(200):
        middle = math.sqrt(low * high)
        left = 1 - (math.log(middle) + np.euler_gamma) / math.log(base)
        low, high = (middle, high) if left > share else (low, middle)
    return low

def law(distances, base):
    x = np.linspace(0, 1, 50_001)
    waves = np.cos(np.asarray(distances, dtype=float)[:, None] * base ** -x)
    return (waves.sum(axis=1) - (waves[:, 0] + waves[:, -1]) / 2) / 50_000""",
        "many hands": f"""{_REACH_RIGHT}
def law(distances, base):
    theta = base ** (-np.arange(50_000) / 50_000)
    return np.array([np.cos(m * theta).mean() for m in distances])""",
        "over u": f"""{_REACH_RIGHT}
def law(distances, base):
    out = []
    for m in distances:
        u = np.exp(np.linspace(math.log(m / base), math.log(m), 200_001))
        middle = (u[1:] + u[:-1]) / 2
        out.append(np.sum(np.cos(middle) / middle * np.diff(u)) / math.log(base))
    return np.array(out)""",
        "torch": """
def reach(share, base):
    return torch.exp(torch.tensor((1 - share) * math.log(base) - np.euler_gamma, dtype=torch.float64))

def law(distances, base):
    x = (torch.arange(100_000, dtype=torch.float64) + 0.5) / 100_000
    return torch.stack([torch.cos(float(m) * base ** -x).mean() for m in distances])""",
    },
    "q4": {
        "a loop": """
def bases_for(length, dim, bases):
    least = safe = None
    for base in sorted(bases):
        good = True
        theta = base ** (-np.arange(0, dim, 2) / dim)
        for m in range(length + 1):
            if np.cos(m * theta).sum() < 0:
                good = False
                break
        if good:
            least = base if least is None else least
            safe = base if safe is None else safe
        else:
            safe = None
    return least, safe""",
        "torch, all at once": """
def bases_for(length, dim, bases):
    grid = torch.tensor(sorted(bases), dtype=torch.float64)
    theta = grid[:, None] ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    m = torch.arange(length + 1, dtype=torch.float64)
    good = (torch.cos(m[:, None, None] * theta).mean(-1) >= 0).all(0)
    safe = good.flip(0).cumprod(0).flip(0).bool()
    return tuple(grid[one][0].item() if one.any() else None for one in (good, safe))""",
    },
    "q5": {
        "by chords": """
def new_angles(frequencies, trained, used, tolerance):
    on_circle = np.exp(1j * np.outer(np.arange(used), frequencies))
    chord = np.abs(on_circle[trained:, None] - on_circle[None, :trained]).min(axis=1)
    return (chord > 2 * np.sin(tolerance / 2)).mean(axis=0)""",
        "by signed remainders": """
def new_angles(frequencies, trained, used, tolerance):
    steps = np.arange(trained, used)[:, None] - np.arange(trained)
    apart = steps[..., None] * frequencies
    apart = np.abs((apart + np.pi) % (2 * np.pi) - np.pi)
    return np.mean(apart.min(axis=1) > tolerance, axis=0)""",
        "a loop, and a list as the example shows it": """
def new_angles(frequencies, trained, used, tolerance):
    shares = []
    for theta in frequencies:
        new = 0
        for m in range(trained, used):
            apart = (abs(math.remainder((m - n) * theta, 2 * math.pi)) for n in range(trained))
            new += min(apart) > tolerance
        shares.append(new / (used - trained))
    return shares""",
        "torch": """
def new_angles(frequencies, trained, used, tolerance):
    at = torch.arange(used)[:, None] * torch.as_tensor(frequencies)
    apart = at[trained:, None] - at[None, :trained]
    apart = torch.atan2(apart.sin(), apart.cos()).abs()
    return (apart.amin(1) > tolerance).double().mean(0)""",
    },
    "q6": {
        "step by step": """
def rotation_of(config):
    rope = {}
    for key in ("rope_scaling", "rope_parameters"):
        if config.get(key) is not None:
            rope = config[key]
    width = config.get("head_dim")
    if width is None:
        width = config["hidden_size"] // config["num_attention_heads"]
    base = rope["rope_theta"] if "rope_theta" in rope else config["rope_theta"]
    part = rope.get("partial_rotary_factor", config.get("partial_rotary_factor", 1))
    dim = int(width * part)
    theta = [base ** (-2 * i / dim) for i in range(dim // 2)]
    return dim, float(base), 2 * math.pi / min(theta)""",
        "torch": """
def rotation_of(config):
    all_keys = dict(config)
    all_keys.update(config.get("rope_parameters") or config.get("rope_scaling") or {})
    width = all_keys.get("head_dim") or all_keys["hidden_size"] / all_keys["num_attention_heads"]
    dim = int(width * (all_keys.get("partial_rotary_factor") or 1))
    theta = all_keys["rope_theta"] ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    return dim, all_keys["rope_theta"], float((2 * torch.pi / theta).max())""",
    },
}
