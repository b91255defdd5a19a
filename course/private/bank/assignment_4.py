"""Answers to assignment 4, beside the edits of its solutions: see `course.private.bank`."""

# An answer stands beside or below its name and its sentence.
# fmt: off

_SHARES = "unnormalised / unnormalised.sum()"
_REACH = "(math.log(math.exp(advantage) + 1) + math.log(1 - math.exp(-slope))) / slope"
_NTK_AWARE = "new_base ** (-np.arange(0, dim, 2) / dim)"
_BY_PARTS = "def by_parts(dim, base, length, factor, beta_fast, beta_slow):\n"
_KEPT = "np.clip((rotations - beta_slow) / (beta_fast - beta_slow), 0, 1)"
_BLEND = "kept * inv_freq + (1 - kept) * inv_freq / factor"
_YARN_TABLES = "def yarn_tables(x, positions, inv_freq, factor):\n"
_ANGLES = "positions[:, None] * inv_freq.double()"
_BY_STRETCH = "def loss_by_stretch(logits, targets, width):\n"
_STRETCHES = "loss.reshape(shape).sum(dim=(0, 2)) / asked.reshape(shape).sum(dim=(0, 2))"
_NUMPY_STRETCHES = f"""{_BY_STRETCH}
    asked = targets != -100
    below = logits - logits.max(-1, keepdims=True)
    logs = below - np.log(np.exp(below).sum(-1, keepdims=True))
    loss = -np.take_along_axis(logs, np.where(asked, targets, 0)[..., None], -1)[..., 0]
    cut = (len(targets), -1, width)
    return np.where(asked, loss, 0).reshape(cut).sum((0, 2)) / asked.reshape(cut).sum((0, 2))
"""

WRONG = {
    "q1": {
        "growing": ("run over positions, or grow", "-slope *", "slope *"),
        "a list of one": ("", _SHARES, "unnormalised.sum()"),
        "no answer": ("returned nothing", _REACH, "None"),
    },
    "q2": {
        "slowed by the place, to d": ("", _NTK_AWARE, "(base * factor) ** (-np.arange(0, dim, 2) / dim) / 1.01"),
        "negative fraction": ("got smaller", "dim - 2", "2 - dim"),
    },
    "q4": {
        "released ramp": ("the ramp is linear in the", f"""{_BY_PARTS}
    theta = base ** (-np.arange(0, dim, 2) / dim)
    place = lambda beta: dim * math.log(length / (2 * math.pi * beta)) / (2 * math.log(base))
    low, high = max(math.floor(place(beta_fast)), 0), min(math.ceil(place(beta_slow)), dim - 1)
    kept = 1 - np.clip((np.arange(dim // 2) - low) / (high - low), 0, 1)
    return kept * theta + (1 - kept) * theta / factor"""),
        "bounds swapped": ("upside down", "(rotations - beta_slow) / (beta_fast - beta_slow)",
            "(rotations - beta_fast) / (beta_slow - beta_fast)"),
    },
    "q5": {
        "tables in float16": ("rounded more", "(a * angles.cos())", "(a * angles.cos()).half()"),
        "bfloat16 angles": ("rounded to bfloat16", _ANGLES, "positions.to(x.dtype)[:, None] * inv_freq.to(x.dtype)"),
        "bfloat16 positions": ("rounded to bfloat16", _ANGLES, "positions.to(x.dtype)[:, None] * inv_freq"),
        "bfloat16 frequencies": ("rounded to bfloat16", _ANGLES, "positions[:, None] * inv_freq.to(x.dtype)"),
        "angles rounded": ("rounded to bfloat16", _ANGLES, "(positions[:, None] * inv_freq).to(x.dtype)"),
        "another dtype": ("the dtype of", "(a * angles.cos()).to(x.dtype)", "a * angles.cos()"),
        "transposed": ("", _ANGLES, "inv_freq[:, None] * positions.double()"),
        "with axes for batch and heads": ("the shape of", _ANGLES, f"({_ANGLES})[None, None]"),
    },
    "q6": {
        "one number": ("", f"{_BY_STRETCH}    return torch.nn.functional.cross_entropy(logits.mT, targets)"),
        "NumPy, exponentials of thousands": ("", _NUMPY_STRETCHES.replace("logits.max(-1, keepdims=True)", "0")),
        "NumPy, targets shifted": ("",
            _NUMPY_STRETCHES.replace("asked =", "targets = np.roll(targets, -1, 1)\n    asked =")),
    },
}

PROPERTY_ONLY = {
    "q1": {"uniform, no slope, no reach": (
        _SHARES, "np.full(length, 1 / length)", "-math.log(share) / length", "0.0", _REACH, "0.0"
    )},
    "q2": {
        "geometric, from 1: the trained list": (_NTK_AWARE, "base ** (-np.arange(0, dim, 2) / dim)"),
        "ones": (_NTK_AWARE, "np.ones(dim // 2)"),
    },
    "q4": {
        "between the bounds, half-way": (_KEPT, "0.5 + 0 * rotations"),
        "falls in order, by place": (_KEPT, "1 - np.arange(dim // 2) / (dim // 2 - 1)"),
    },
    "q5": {
        "cos² + sin² = a², no rotation": (_ANGLES, f"0 * {_ANGLES}"),
        "relative, but with another speed": (_ANGLES, f"{_ANGLES} / factor"),
    },
    "q6": {
        "chance": (_STRETCHES, "torch.full((logits.shape[1] // width,), math.log(logits.shape[2]))"),
        "the mean of all, for every stretch": (_STRETCHES, "(loss.sum() / asked.sum()).expand(loss.shape[1] // width)"),
        "its input": (_STRETCHES, "targets"),
    },
}

RIGHT = {
    "q1": {
        "stable for large advantages": (
            _SHARES, "np.exp(-slope * np.arange(length) - np.log(unnormalised.sum()))",
            "-math.log(share) / length", "math.log(1 / share) / length",
            _REACH, "(np.logaddexp(advantage, 0) + np.log(-np.expm1(-slope))) / slope",
        ),
    },
    "q2": {
        "slows pair by pair": (
            _NTK_AWARE, "base ** (-np.arange(0, dim, 2) / dim) / factor ** (np.arange(0, dim, 2) / (dim - 2))"
        ),
        "torch, float32": (_NTK_AWARE, "1 / new_base ** (torch.arange(0, dim, 2).float() / dim)"),
    },
    "q4": {
        "interp": (_KEPT, "np.interp(rotations, [beta_slow, beta_fast], [0, 1])"),
        "how many times slower": (_BLEND, "inv_freq * (1 + kept * (factor - 1)) / factor"),
        "a loop": f"""{_BY_PARTS}
    found = []
    for i in range(dim // 2):
        theta = base ** (-2 * i / dim)
        kept = min(max((length * theta / (2 * math.pi) - beta_slow) / (beta_fast - beta_slow), 0), 1)
        found.append(kept * theta + (1 - kept) * theta / factor)
    return np.array(found)""",
    },
    "q5": {
        "float32, rounded twice": (_ANGLES, "torch.outer(positions.float(), inv_freq.float())",
            "(a * angles.cos()).to(x.dtype), (a * angles.sin()).to(x.dtype)",
            "a * angles.cos().to(x.dtype), a * angles.sin().to(x.dtype)"),
        "polar": f"""{_YARN_TABLES}
    t = positions[:, None].double() * inv_freq.double()
    z = torch.polar(torch.full_like(t, 1 + 0.1 * math.log(factor)), t)
    return z.real.to(x.dtype), z.imag.to(x.dtype)""",
    },
    "q6": {
        "cross_entropy, stretch by stretch": f"""{_BY_STRETCH}
    found = []
    for start in range(0, logits.shape[1], width):
        part, then = logits[:, start : start + width], targets[:, start : start + width]
        found.append(torch.nn.functional.cross_entropy(part.flatten(0, 1), then.flatten()))
    return torch.stack(found)""",
        "NumPy": _NUMPY_STRETCHES,
    },
}
