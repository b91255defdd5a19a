"""Answers to assignment 4 that must not pass, those that have a property and nothing else, and other right ones.

Data only: each is the source of an answer cell, which finds `np`, `torch` and `math` imported. Beside a wrong one
stands a part of the sentence that names it, or None where none can.
"""

# An answer stands beside or below its name and its sentence.
# fmt: off

_Q2_HEAD = "def ntk_aware(dim, base, factor):\n"
_Q4_HEAD = "def by_parts(dim, base, length, factor, beta_fast, beta_slow):\n"
_Q5_HEAD = "def yarn_tables(x, positions, inv_freq, factor):\n"
_Q6_HEAD = "def loss_by_stretch(logits, targets, width):\n"


def _body(head: str, lines: str) -> str:
    return head + "".join(f"    {line}\n" for line in lines.strip("\n").splitlines())


def _q1(
    weights: str = "w / w.sum()",
    slope: str = "-math.log(share) / length",
    reach: str = "(math.log(math.exp(advantage) + 1) + math.log(1 - math.exp(-slope))) / slope",
) -> str:
    return f"""
def weights(slope, length):
    w = np.exp(-slope * np.arange(length))
    return {weights}

def slope_for(share, length):
    return {slope}

def reach(slope, advantage):
    return {reach}
"""


def _q2(expression: str) -> str:
    return _body(_Q2_HEAD, f"i = np.arange(dim // 2)\nreturn {expression}")


def _q4(kept: str, result: str = "kept * theta + (1 - kept) * theta / factor") -> str:
    return _body(
        _Q4_HEAD,
        f"""
theta = base ** (-np.arange(0, dim, 2) / dim)
r = length * theta / (2 * np.pi)
kept = {kept}
return {result}""",
    )


def _q5(cos: str = "a", sin: str = "a", angles: str = "positions[:, None].double() * inv_freq") -> str:
    return _body(
        _Q5_HEAD,
        f"""
a = 0.1 * math.log(factor) + 1
angles = {angles}
return (({cos}) * angles.cos()).to(x.dtype), (({sin}) * angles.sin()).to(x.dtype)""",
    )


def _q6(lines: str) -> str:
    return _body(
        _Q6_HEAD,
        """
asked = targets != -100
loss = -torch.log_softmax(logits, -1).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
"""
        + lines.strip("\n"),
    )


def _q6_of(targets: str) -> str:
    """The right answer for other targets."""
    return _body(
        _Q6_HEAD,
        f"""
targets = {targets}
asked = targets != -100
loss = -torch.log_softmax(logits, -1).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
loss, asked = (x.reshape(len(x), -1, width) for x in (loss * asked, asked))
return loss.sum((0, 2)) / asked.sum((0, 2))""",
    )


_RAMP = "np.clip((r - beta_slow) / (beta_fast - beta_slow), 0, 1)"

WRONG = {
    "q1": {
        "over positions": ("run over positions, or grow", _q1("(w / w.sum())[::-1]")),
        "not normalised": ("don't add up to 1", _q1("w")),
        "infinite context": ("weights of an infinite context", _q1("w * (1 - math.exp(-slope))")),
        "growing": ("run over positions, or grow", _q1("(1 / w) / (1 / w).sum()")),
        "distances from 1": ("distances start at 1", _q1("w * math.exp(-slope) / w.sum()")),
        "logits": ("these are the logits", _q1("-slope * np.arange(length)")),
        "a list of one": (None, _q1("w.sum()")),
        "the share inside": ("lies inside the length", _q1(slope="-math.log(1 - share) / length")),
        "a negative slope": ("the slope is negative", _q1(slope="math.log(share) / length")),
        "linear": ("falls exponentially", _q1(slope="share / length")),
        "strictly beyond": ("off by one token", _q1(slope="-math.log(share) / (length + 1)")),
        "a tie with the token itself": ("bias and advantage cancel", _q1(reach="advantage / slope")),
        "the match counted twice": ("the matching key was counted twice",
            _q1(reach="(advantage + math.log(1 - math.exp(-slope))) / slope")),
        "no other keys": ("the sum of all other weights is missing",
            _q1(reach="math.log(math.exp(advantage) + 1) / slope")),
        "others add reach": ("they must reduce it",
            _q1(reach="(math.log(math.exp(advantage) + 1) - math.log(1 - math.exp(-slope))) / slope")),
        "no answer": ("returned nothing", _q1(reach="None")),
    },
    "q2": {
        "NTK exponent 1": ("factor alone", _q2("(base * factor) ** (-2 * i / dim)")),
        "d - 1": ("d/(d − 1)", _q2("(base * factor ** (dim / (dim - 1))) ** (-2 * i / dim)")),
        "position interpolation": ("divided by the same factor", _q2("base ** (-2 * i / dim) / factor")),
        "exponent upside down": ("upside down", _q2("(base * factor ** ((dim - 2) / dim)) ** (-2 * i / dim)")),
        "exponent i/d": ("lacks the 2", _q2("(base * factor ** (dim / (dim - 2))) ** (-i / dim)")),
        "d − 2 in the exponent": ("made with d − 2",
            _q2("(base * factor ** (dim / (dim - 2))) ** (-2 * i / (dim - 2))")),
        "base to a positive power": ("positive power", _q2("(base * factor ** (dim / (dim - 2))) ** (2 * i / dim)")),
        "the new base alone": ("new base", _q2("base * factor ** (dim / (dim - 2))")),
        "ignores the factor": ("no effect", _q2("base ** (-2 * i / dim)")),
        "a smaller base": ("got smaller", _q2("(base / factor ** (dim / (dim - 2))) ** (-2 * i / dim)")),
        "integer division in the exponent": ("`//`", _q2("(base * factor ** (dim // (dim - 2))) ** (-2 * i / dim)")),
        "a frequency for each dimension": ("for each dimension",
            _q2("(base * factor ** (dim / (dim - 2))) ** (-np.arange(dim) / dim)")),
        "wavelengths": ("these are wavelengths, tokens per rotation; return radians per token",
            _q2("2 * np.pi * (base * factor ** (dim / (dim - 2))) ** (2 * i / dim)")),
        "slowest first": ("wrong order", _q2("((base * factor ** (dim / (dim - 2))) ** (-2 * i / dim))[::-1]")),
        "slowed by the place, to d": (None, _q2("base ** (-2 * i / dim) / factor ** (2 * i / dim + 1 / dim)")),
        "straight from 1 to s": ("by equal steps", _q2("base ** (-2 * i / dim) / np.linspace(1, factor, dim // 2)")),
        "evenly, but upside down": ("the scaling is reversed",
            _q2("base ** (-2 * i / dim) / factor ** (1 - 2 * i / (dim - 2))")),
        "integer division of the exponents": ("exponents of the list were rounded",
            _q2("(base * factor ** (dim / (dim - 2))) ** (-2.0 * i // dim)")),
        "pairs from 1": ("counted from 0", _q2("(base * factor ** (dim / (dim - 2))) ** (-2 * (i + 1) / dim)")),
        "the square": ("was squared", _q2("(base * factor**2) ** (-2 * i / dim)")),
        "no brackets": ("needs brackets", _q2("(base * factor**dim / (dim - 2)) ** (-2 * i / dim)")),
        "the power of both": ("old base was raised", _q2("((base * factor) ** (dim / (dim - 2))) ** (-2 * i / dim)")),
        "the slowest alone": ("only the slowest",
            _q2("base ** (-2 * i / dim) / np.where(i == dim // 2 - 1, factor, 1)")),
        "negative fraction": ("got smaller", _q2("(base * factor ** (dim / (2 - dim))) ** (-2 * i / dim)")),
        "times slower": ("this is the divisor", _q2("factor ** (2 * i / (dim - 2))")),
    },
    "q4": {
        "ramp inverted": ("upside down", _q4(f"1 - {_RAMP}")),
        "bounds swapped": ("upside down", _q4("np.clip((r - beta_fast) / (beta_slow - beta_fast), 0, 1)")),
        "turns in radians": ("radians", _q4("np.clip((length * theta - beta_slow) / (beta_fast - beta_slow), 0, 1)")),
        "not held": ("the weight of the old frequency was not clipped to",
            _q4("(r - beta_slow) / (beta_fast - beta_slow)")),
        "not held above 0": ("the weight of the old frequency was not clipped at 0",
            _q4("np.minimum((r - beta_slow) / (beta_fast - beta_slow), 1)")),
        "not held below 1": ("the weight of the old frequency was not clipped at 1",
            _q4("np.maximum((r - beta_slow) / (beta_fast - beta_slow), 0)")),
        "times 2π": ("multiplied by 2π", _q4(_RAMP.replace("(r", "(r * (2 * np.pi) ** 2"))),
        "whole turns": ("rounded down", _q4(_RAMP.replace("(r", "(np.floor(r)"))),
        "the same weight for all between": ("the same weight",
            _q4("np.where(r >= beta_fast, 1, np.where(r <= beta_slow, 0, 0.5))")),
        "straight in wavelengths": ("the ramp is linear in wavelengths",
            _q4("np.clip((1 / r - 1 / beta_slow) / (1 / beta_fast - 1 / beta_slow), 0, 1)")),
        "powers blended": ("powers of the factor", _q4(_RAMP, "theta / factor ** (1 - kept)")),
        "turns of one token": ("divided by the same factor", _q4(_RAMP.replace("(r", "(r / length"))),
        "wavelengths": ("these are wavelengths",
            _q4(_RAMP, "2 * np.pi / (kept * theta + (1 - kept) * theta / factor)")),
        "wavelengths blended": ("wavelengths", _q4(_RAMP, "theta / (kept + (1 - kept) * factor)")),
        "multiplies": ("sped up", _q4(_RAMP, "kept * theta + (1 - kept) * theta * factor")),
        "turns of the longer text": ("rotations were counted over",
            _q4("np.clip((factor * r - beta_slow) / (beta_fast - beta_slow), 0, 1)")),
        "released ramp": ("the ramp is linear in the", _body(_Q4_HEAD, """
theta = base ** (-np.arange(0, dim, 2) / dim)
place = lambda beta: dim * math.log(length / (2 * math.pi * beta)) / (2 * math.log(base))
low, high = max(math.floor(place(beta_fast)), 0), min(math.ceil(place(beta_slow)), dim - 1)
kept = 1 - np.clip((np.arange(dim // 2) - low) / (high - low), 0, 1)
return kept * theta + (1 - kept) * theta / factor""")),
        "ramp in the logarithm": ("the ramp is linear in the",
            _q4("np.clip(np.log(r / beta_slow) / np.log(beta_fast / beta_slow), 0, 1)")),
        "step at the lower bound": ("left as they were", _q4("(r >= beta_slow) * 1.0")),
        "step at the upper bound": ("by the whole factor", _q4("(r >= beta_fast) * 1.0")),
        "step half-way": ("half-way", _q4("(r >= (beta_fast + beta_slow) / 2) * 1.0")),
        "wavelength over length": ("this is the wavelength",
            _q4("np.clip((1 / r - beta_slow) / (beta_fast - beta_slow), 0, 1)")),
        "ramp from nought": ("begins at 0", _q4("np.clip(r / beta_fast, 0, 1)")),
        "ramp from nought, cut": ("begins at 0", _q4("np.where(r < beta_slow, 0, np.clip(r / beta_fast, 0, 1))")),
        "divided by the upper bound": ("upper bound", _q4("np.clip((r - beta_slow) / beta_fast, 0, 1)")),
        "the weight alone": ("this is the weight of", _q4(_RAMP, "kept")),
        "how many times slower": ("this is the divisor", _q4(_RAMP, "1 / (kept + (1 - kept) / factor)")),
        "exponent i/d": ("lacks the 2", _body(_Q4_HEAD, """
theta = base ** (-np.arange(dim // 2) / dim)
r = length * theta / (2 * np.pi)
kept = np.clip((r - beta_slow) / (beta_fast - beta_slow), 0, 1)
return kept * theta + (1 - kept) * theta / factor""")),
        "NTK base instead of the division": ("the slow pairs got",
            _q4(_RAMP, "kept * theta + (1 - kept) * (base * factor) ** (-np.arange(0, dim, 2) / dim)")),
        "position interpolation": ("divided by the same factor", _q4("0 * r")),
        "nothing slowed": ("no frequency was scaled", _q4("1 + 0 * r")),
    },
    "q5": {
        "temperature on cos only": ("sines lack", _q5("a", "1")),
        "temperature on sin only": ("cosines lack", _q5("1", "a")),
        "temperature squared": ("square", _q5("a * a", "a * a")),
        "no temperature": ("missing", _q5("1", "1")),
        "its root": ("root", _q5("a ** 0.5", "a ** 0.5")),
        "divided by it": ("divided", _q5("1 / a", "1 / a")),
        "log10": ("base 10", _q5("0.1 * math.log10(factor) + 1", "0.1 * math.log10(factor) + 1")),
        "log2": ("base 2", _q5("0.1 * math.log2(factor) + 1", "0.1 * math.log2(factor) + 1")),
        "without the 1": ("the 1 of", _q5("a - 1", "a - 1")),
        "the 1 under the 0.1": ("added last", _q5(*["0.1 * (math.log(factor) + 1)"] * 2)),
        "the 1 in the logarithm": ("added last", _q5(*["0.1 * math.log(factor + 1)"] * 2)),
        "each pair twice": ("there is one column",
            _q5(angles="positions[:, None].double() * inv_freq.repeat_interleave(2)")),
        "tables in float16": ("rounded more",
            _q5().replace(".to(x.dtype)", ".half().to(x.dtype)").replace("inv_freq\n", "inv_freq.double()\n")),
        "the factor for its logarithm": ("not its logarithm", _q5("0.1 * factor + 1", "0.1 * factor + 1")),
        "temperature on the angles": (
            "angles were multiplied",
            _q5("1", "1", "a * positions[:, None].double() * inv_freq")
            .replace("((1) * angles.cos())", "(a * angles.cos())")
            .replace("((1) * angles.sin())", "(a * angles.sin())"),
        ),
        "slowed again": ("the frequencies were scaled", _q5(angles="positions[:, None].double() * inv_freq / factor")),
        "bfloat16 angles": ("rounded to bfloat16", _q5(angles="positions.to(x.dtype)[:, None] * inv_freq.to(x.dtype)")),
        "bfloat16 positions": ("rounded to bfloat16", _q5(angles="positions.to(x.dtype)[:, None] * inv_freq")),
        "bfloat16 frequencies": ("rounded to bfloat16", _q5(angles="positions[:, None] * inv_freq.to(x.dtype)")),
        "angles rounded": ("rounded to bfloat16", _q5(angles="(positions[:, None] * inv_freq).to(x.dtype)")),
        "1-indexed": ("start at 1", _q5(angles="(positions + 1)[:, None].double() * inv_freq")),
        "ignores the positions": ("positions given were not used",
            _q5(angles="torch.arange(len(positions))[:, None].double() * inv_freq")),
        "the sign flipped": ("opposite sign", _q5(angles="-positions[:, None].double() * inv_freq")),
        "sines first": ("cosines and sines are", _body(_Q5_HEAD, """
a = 0.1 * math.log(factor) + 1
t = positions[:, None].double() * inv_freq
return (a * t.sin()).to(x.dtype), (a * t.cos()).to(x.dtype)""")),
        "a column for each dimension": ("there is one column",
            _q5(angles="positions[:, None].double() * torch.cat([inv_freq, inv_freq])")),
        "another dtype": ("the dtype of", _body(_Q5_HEAD, """
a = 0.1 * math.log(factor) + 1
t = positions[:, None] * inv_freq
return a * t.cos(), a * t.sin()""")),
        "transposed": (None, _q5(angles="inv_freq[:, None] * positions.double()")),
        "with axes for batch and heads": ("the shape of",
            _q5(angles="(positions[:, None].double() * inv_freq)[None, None]")),
    },
    "q6": {
        "rolled back": ("shifted", _q6_of("targets.roll(-1, 1)")),
        "rolled on": ("shifted", _q6_of("targets.roll(1, 1)")),
        "moved back": ("shifted", _q6_of("torch.cat([targets[:, 1:], targets[:, :1] * 0 - 100], 1)")),
        "moved on": ("shifted", _q6_of("torch.cat([targets[:, :1] * 0 - 100, targets[:, :-1]], 1)")),
        "shifted once more": ("shifted", _body(_Q6_HEAD, """
logs = torch.log_softmax(logits[:, :-1], -1)
then = targets[:, 1:]
asked = then != -100
loss = -logs.gather(-1, then.clamp(min=0)[..., None])[..., 0]
found = []
for start in range(0, logits.shape[1], width):
    part = slice(start, start + width)
    found.append(loss[:, part][asked[:, part]].mean())
return torch.stack(found)""")),
        "unasked counted as 0": ("counted as a loss of 0", _body(_Q6_HEAD, """
loss = torch.nn.functional.cross_entropy(logits.mT, targets, reduction="none")
return loss.reshape(len(targets), -1, width).mean((0, 2))""")),
        "unasked counted as target 0": ("a target of −100",
            _q6("return loss.reshape(len(targets), -1, width).mean((0, 2))")),
        "positions count alike": (
            "every scored token counts",
            _q6(
                """
mean = loss.masked_fill(~asked, torch.nan).nanmean(0)
return mean.reshape(-1, width).nanmean(1)
"""
            ),
        ),
        "texts count alike": (
            "every scored token counts",
            _q6(
                """
mean = loss.masked_fill(~asked, torch.nan).reshape(len(targets), -1, width).nanmean(2)
return mean.nanmean(0)
"""
            ),
        ),
        "softmax over the positions": ("over the positions", _body(_Q6_HEAD, """
asked = targets != -100
loss = -torch.log_softmax(logits, 1).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
shape = (len(targets), -1, width)
return (loss * asked).reshape(shape).sum((0, 2)) / asked.reshape(shape).sum((0, 2))""")),
        "softmax over the texts": ("the softmax was taken over the sequences", _body(_Q6_HEAD, """
asked = targets != -100
loss = -torch.log_softmax(logits, 0).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
shape = (len(targets), -1, width)
return (loss * asked).reshape(shape).sum((0, 2)) / asked.reshape(shape).sum((0, 2))""")),
        "a loss for each position": ("one loss for each position",
            _q6("return loss.masked_fill(~asked, torch.nan).nanmean(0)")),
        "texts not averaged": ("the sequences were not",
            _q6("return loss.masked_fill(~asked, torch.nan).reshape(len(targets), -1, width).nanmean(2)")),
        "not neighbours": (
            "the stretches don't consist",
            _q6(
                """
shape = (len(targets), width, -1)
return (loss * asked).reshape(shape).sum((0, 1)) / asked.reshape(shape).sum((0, 1))
"""
            ),
        ),
        "bits": (
            "bits",
            _q6(
                """
shape = (len(targets), -1, width)
return (loss * asked).reshape(shape).sum((0, 2)) / asked.reshape(shape).sum((0, 2)) / math.log(2)
"""
            ),
        ),
        "no sign": (
            "sign is missing",
            _q6(
                """
shape = (len(targets), -1, width)
return -(loss * asked).reshape(shape).sum((0, 2)) / asked.reshape(shape).sum((0, 2))
"""
            ),
        ),
        "added up": ("added up", _q6("return (loss * asked).reshape(len(targets), -1, width).sum((0, 2))")),
        "one greatest logit for all": ("infinite", _body(_Q6_HEAD, """
asked, logits = targets != -100, logits - logits.max()
loss = -(logits - logits.exp().sum(-1, keepdim=True).log()).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
shape = (len(targets), -1, width)
return (loss * asked).reshape(shape).sum((0, 2)) / asked.reshape(shape).sum((0, 2))""")),
        "the first text alone": ("only the first sequence",
            _q6("return (loss * asked)[0].reshape(-1, width).sum(1) / asked[0].reshape(-1, width).sum(1)")),
        "naive softmax": ("is a finite number", _body(_Q6_HEAD, """
asked = targets != -100
p = logits.exp() / logits.exp().sum(-1, keepdim=True)
loss = -p.gather(-1, targets.clamp(min=0)[..., None])[..., 0].log()
shape = (len(targets), -1, width)
return (loss * asked).reshape(shape).sum((0, 2)) / asked.reshape(shape).sum((0, 2))""")),
        "the logarithm of the softmax": ("infinite", _body(_Q6_HEAD, """
asked = targets != -100
loss = -torch.softmax(logits, -1).gather(-1, targets.clamp(min=0)[..., None])[..., 0].log()
shape = (len(targets), -1, width)
return (loss * asked).reshape(shape).sum((0, 2)) / asked.reshape(shape).sum((0, 2))""")),
        "a small number in the logarithm": ("small number", _body(_Q6_HEAD, """
asked = targets != -100
p = torch.softmax(logits, -1).gather(-1, targets.clamp(min=0)[..., None])[..., 0]
loss, shape = -(p + 1e-9).log(), (len(targets), -1, width)
return (loss * asked).reshape(shape).sum((0, 2)) / asked.reshape(shape).sum((0, 2))""")),
        "probabilities averaged": (
            "before the logarithm",
            _q6(
                """
p, shape = (-loss).exp() * asked, (len(targets), -1, width)
return -(p.reshape(shape).sum((0, 2)) / asked.reshape(shape).sum((0, 2))).log()
"""
            ),
        ),
        "perplexity": (
            "perplexity",
            _q6(
                """
shape = (len(targets), -1, width)
return ((loss * asked).reshape(shape).sum((0, 2)) / asked.reshape(shape).sum((0, 2))).exp()
"""
            ),
        ),
        "from the beginning": (
            "from the beginning",
            _q6(
                """
shape = (len(targets), -1, width)
total = (loss * asked).reshape(shape).sum((0, 2)).cumsum(0)
return total / asked.reshape(shape).sum((0, 2)).cumsum(0)
"""
            ),
        ),
        "the share right": (
            "share that is right",
            _q6(
                """
right, shape = (logits.argmax(-1) == targets) & asked, (len(targets), -1, width)
return right.reshape(shape).sum((0, 2)) / asked.reshape(shape).sum((0, 2))
"""
            ),
        ),
        "one number": (None,
            _body(_Q6_HEAD, "return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())")),
        "the target's logit": ("the softmax is missing", _body(_Q6_HEAD, """
asked = targets != -100
loss = -logits.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
shape = (len(targets), -1, width)
return (loss * asked).reshape(shape).sum((0, 2)) / asked.reshape(shape).sum((0, 2))""")),
    },
}

PROPERTY_ONLY = {
    "q1": {"uniform, no slope, no reach": _q1("np.full(length, 1 / length)", "0.0", "0.0")},
    "q2": {
        "geometric, from 1: the trained list": _q2("base ** (-2 * i / dim)"),
        "geometric, from 1: another list": _q2("(base * factor**2) ** (-2 * i / dim)"),
        "ends kept alone": _q2("np.where(i == dim // 2 - 1, base ** (-2 * i / dim) / factor, base ** (-2 * i / dim))"),
        "zeros": _q2("0.0 * i"),
        "ones": _q2("1.0 + 0 * i"),
    },
    "q4": {
        "between the bounds, half-way": _q4("0.5 + 0 * r"),
        "its input": _q4("1 + 0 * r"),
        "position interpolation": _q4("0 * r"),
        "falls in order, by place": _q4("1 - np.arange(dim // 2) / (dim // 2 - 1)"),
        "zeros": _q4("0 * r", "kept"),
    },
    "q5": {
        "cold tables": _q5("1", "1"),
        "cos² + sin² = a², no rotation": _q5(angles="0 * positions[:, None].double() * inv_freq"),
        "relative, but with another speed": _q5(angles="positions[:, None].double() * inv_freq / factor"),
        "zeros": _q5("0", "0"),
    },
    "q6": {
        "zeros": _body(_Q6_HEAD, "return torch.zeros(logits.shape[1] // width)"),
        "chance": _body(_Q6_HEAD, "return torch.full((logits.shape[1] // width,), math.log(logits.shape[2]))"),
        "the mean of all, for every stretch": _body(_Q6_HEAD, """
mean = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
return mean.expand(logits.shape[1] // width)"""),
        "its input": _body(_Q6_HEAD, "return targets"),
    },
}

RIGHT = {
    "q1": {
        "stable for large advantages": _q1("np.exp(-slope * np.arange(length) - np.log(w.sum()))",
            "math.log(1 / share) / length",
            "(np.logaddexp(advantage, 0) + np.log(-np.expm1(-slope))) / slope"),
        "by bisection": """
def weights(slope, length):
    return torch.softmax(-slope * torch.arange(length, dtype=torch.float64), dim=0)

def slope_for(share, length):
    return float(np.log(share ** (-1 / length)))

def reach(slope, advantage):
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        others = 1 / (1 - math.exp(-slope)) - math.exp(-slope * middle)
        if math.exp(advantage - slope * middle) > others:
            low = middle
        else:
            high = middle
    return low
""",
    },
    "q2": {
        "slows pair by pair": _q2("base ** (-2 * i / dim) / factor ** (2 * i / (dim - 2))"),
        "torch, float32": _body(
            _Q2_HEAD, "return 1 / (base * factor ** (dim / (dim - 2))) ** (torch.arange(0, dim, 2).float() / dim)"
        ),
        "geomspace": _q2("np.geomspace(1, base ** (-(dim - 2) / dim) / factor, dim // 2)"),
        "logarithms": _q2("np.exp(-2 * i / dim * (np.log(base) + dim / (dim - 2) * np.log(factor)))"),
    },
    "q4": {
        "how many times slower": _q4(_RAMP, "theta * (1 + kept * (factor - 1)) / factor"),
        "interp": _q4("np.interp(r, [beta_slow, beta_fast], [0, 1])"),
        "a loop": _body(_Q4_HEAD, """
found = []
for i in range(dim // 2):
    theta = base ** (-2 * i / dim)
    r = length * theta / (2 * math.pi)
    if r >= beta_fast:
        found.append(theta)
    elif r <= beta_slow:
        found.append(theta / factor)
    else:
        kept = (r - beta_slow) / (beta_fast - beta_slow)
        found.append(kept * theta + (1 - kept) * theta / factor)
return np.array(found)"""),
        "wavelengths in the ramp": _q4(
            "np.clip((length / (2 * np.pi / theta) - beta_slow) / (beta_fast - beta_slow), 0, 1)"
        ),
    },
    "q5": {
        "float32, rounded twice": _body(_Q5_HEAD, """
a = 0.1 * math.log(factor) + 1
t = torch.outer(positions.float(), inv_freq.float())
return a * t.cos().to(x.dtype), a * t.sin().to(x.dtype)"""),
        "float32": _body(_Q5_HEAD, """
a = 0.1 * math.log(factor) + 1
t = positions[:, None] * inv_freq[None, :]
return (t.cos() * a).to(x.dtype), (t.sin() * a).to(x.dtype)"""),
        "polar": _body(_Q5_HEAD, """
t = positions[:, None].double() * inv_freq.double()
z = torch.polar(torch.full_like(t, 1 + 0.1 * math.log(factor)), t)
return z.real.to(x.dtype), z.imag.to(x.dtype)"""),
    },
    "q6": {
        "cross_entropy, stretch by stretch": _body(_Q6_HEAD, """
found = []
for start in range(0, logits.shape[1], width):
    part, then = logits[:, start : start + width], targets[:, start : start + width]
    found.append(torch.nn.functional.cross_entropy(part.flatten(0, 1), then.flatten()))
return torch.stack(found)"""),
        "logsumexp and loops": _body(_Q6_HEAD, """
found = []
for start in range(0, logits.shape[1], width):
    losses = []
    for b in range(len(targets)):
        for t in range(start, start + width):
            if targets[b, t] != -100:
                row = logits[b, t]
                losses.append(float(row.logsumexp(0) - row[targets[b, t]]))
    found.append(sum(losses) / len(losses))
return torch.tensor(found)"""),
        "NumPy": _body(_Q6_HEAD, """
x, t = logits.numpy(), targets.numpy()
x = x - x.max(-1, keepdims=True)
logs = x - np.log(np.exp(x).sum(-1, keepdims=True))
loss = -np.take_along_axis(logs, np.where(t < 0, 0, t)[..., None], -1)[..., 0]
loss = np.where(t < 0, np.nan, loss).reshape(len(t), -1, width)
return np.nanmean(loss, axis=(0, 2))"""),
    },
}
