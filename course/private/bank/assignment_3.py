"""Answers to assignment 3, beside the edits of its solutions: see `course.private.bank`."""

# An answer stands beside or below its name and its sentence.
# fmt: off

_FREQUENCIES = "base ** (-np.arange(0, dim, 2) / dim)"
_RETURN = "wavelengths, rotations, int(np.sum(rotations >= 1))"
_DECAY = "def decay(distances, frequencies):\n"
_ANGLES = "np.asarray(distances, dtype=float)[..., None] * frequencies"
_MEAN = "np.cos(angles).mean(axis=-1)"
_REACH = "math.exp((1 - share) * math.log(base) - np.euler_gamma)"
_LAW = "np.cos(m * theta).mean()"
_BASES_FOR = "def bases_for(length, dim, bases):\n"
_ALL_PASS = "np.cos(distances * theta).mean(axis=-1).min() < 0"
_NEW_ANGLES = "def new_angles(frequencies, trained, used, tolerance):\n"
_SHARE = "np.mean(apart.min(axis=1) > tolerance)"
_ROPE = 'config.get("rope_parameters") or config.get("rope_scaling") or {}'
_SLOWEST = "2 * math.pi * base ** ((dim - 2) / dim)"

WRONG = {
    "q1": {
        "sizes of the slowest hand only": ("",
            "return wavelengths, rotations", "return wavelengths[-1], rotations[-1]"),
        "forgets the count": ("should be 3 values", _RETURN, "wavelengths, rotations"),
        "speeds in bfloat16": ("",
            _FREQUENCIES, "(base ** (-torch.arange(0, dim, 2) / dim)).bfloat16().double().numpy()"),
        "inverse powers by subtraction": ("", _FREQUENCIES, "1 - np.arange(0, dim, 2) / dim * (1 - 1 / base)"),
        "nothing returned": ("returned nothing", f"return {_RETURN}", "pass"),
    },
    "q2": {
        "float32 angles": ("float64", "np.cos(angles)", "np.cos(np.float32(angles))"),
        "lists only": ("the shape of", _ANGLES, "np.outer(distances, frequencies)"),
        "the law instead": ("",
            _MEAN, "1 - (np.log(1 + np.abs(distances)) + np.euler_gamma) / np.log(1 / np.min(frequencies))"),
    },
    "q3": {
        "powers of e instead of the base": ("", _REACH, "math.exp(1 - share - np.euler_gamma) * base"),
        "whole number of tokens": ("was rounded", _REACH, f"int({_REACH})"),
        "too few steps": ("too few steps", "100_000", "500", "(np.arange(steps) + 0.5)", "np.arange(steps)"),
        "the sum": ("", ".mean()", ".sum()"),
    },
    "q4": {
        "the first base past the length": ("", _ALL_PASS, "base < length"),
        "mean over distances": ("", "axis=-1", "axis=0"),
        "the law alone": ("", _ALL_PASS, "math.log(length) + np.euler_gamma > math.log(base)"),
        "raises where none passes": ("IndexError",
            "return least, safe", "return [base for base in [least] if base][0], safe"),
    },
    "q5": {
        "a turn of 360": ("an angle one full", "% (2 * np.pi)", "% 360", "2 * np.pi - apart", "360 - apart"),
        "mean distance": ("every angle past the", ".min(axis=1)", ".mean(axis=1)"),
        "greatest distance": ("every angle past the", ".min(axis=1)", ".max(axis=1)"),
        "wrong axis": ("", "axis=1", "axis=0"),
    },
    "q6": {
        "null is not missing": ("TypeError", "width is None", '"head_dim" not in config'),
        "head_dim always there": ("KeyError", 'config.get("head_dim")', 'config["head_dim"]'),
        "base at the top, nothing else": ("KeyError", 'known["rope_theta"]', 'config["rope_theta"]'),
        "rope_scaling is null": ("TypeError", _ROPE, 'config.get("rope_parameters", config.get("rope_scaling", {}))'),
        "lost power of ten": ("", _SLOWEST, "2 * math.pi / 1.24"),
        "as a dictionary": ("should be 3 values",
            f"dim, base, {_SLOWEST}", f'{{"dim": dim, "base": base, "slowest": {_SLOWEST}}}'),
    },
}

PROPERTY_ONLY = {
    "q1": {
        "its input": (_RETURN, "dim, base, length"),
        "right first and last, even in between": (_FREQUENCIES, "np.linspace(1, base ** (2 / dim - 1), dim // 2)"),
        "only waves times turns is the length": (_FREQUENCIES, "np.ones(dim // 2)"),
    },
    "q2": {
        "ones": (_MEAN, "np.ones(np.shape(distances))"),
        "1 at distance 0 and falling": (_MEAN, "1 / (1 + np.abs(distances))"),
        "relative, at half the speed": ("* frequencies", "* frequencies / 2"),
    },
    "q3": {
        "their inputs": (_REACH, "share", f"np.array([{_LAW} for m in distances])", "distances"),
        "grows with the base; falls from 1": (_REACH, "base / share", _LAW, "np.exp(-m / base)"),
    },
    "q4": {
        "none": ("return least, safe", "return None, None"),
        "least and greatest of the grid": ("return least, safe", "return min(bases), max(bases)"),
        "as large as the length": (_ALL_PASS, "base < length"),
    },
    "q5": {
        "zeros": (_SHARE, "0.0"),
        "share of the length that is past": (_SHARE, "(used - trained) / used"),
        "what is left of a turn": (_SHARE, "max(0.0, 1 - trained * theta / (2 * np.pi))"),
    },
    "q6": {
        "the commonest model": (f"dim, base, {_SLOWEST}", "128, 10_000.0, 54_410.1"),
        "only the base": (f"dim, base, {_SLOWEST}", "0, base, 0.0"),
    },
}

RIGHT = {
    "q1": {
        "lists, as the example shows them": ("wavelengths, rotations,", "wavelengths.tolist(), list(rotations),"),
        "torch, by exponential and logarithm": """
def count_rotations(dim, base, length):
    theta = torch.exp(-torch.arange(0, dim, 2, dtype=torch.float64) / dim * math.log(base))
    rotations = length * theta / (2 * math.pi)
    return 2 * math.pi / theta, rotations, int((rotations >= 1).sum())""",
        "float32": (_FREQUENCIES, "(base ** (-torch.arange(0, dim, 2) / dim)).numpy()"),
    },
    "q2": {
        "by rotated vectors": f"""{_DECAY}
    angles = np.asarray(distances)[..., None] * frequencies
    query = np.stack([np.cos(angles) - np.sin(angles), np.sin(angles) + np.cos(angles)], axis=-1)
    return np.einsum("...pc,c->...", query, np.ones(2)) / (2 * len(frequencies))""",
        "torch": f"""{_DECAY}
    m, theta = torch.as_tensor(distances).double(), torch.as_tensor(frequencies)
    return torch.cos(m.unsqueeze(-1) * theta).mean(-1)""",
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
        "over u": ("return np.array", """u = [np.geomspace(m / base, m, 200_001) for m in distances]
    middles = [(one[1:] + one[:-1]) / 2 for one in u]
    return np.array([
        np.sum(np.cos(v) / v * np.diff(one)) / math.log(base) for one, v in zip(u, middles)])
    return np.array"""),
    },
    "q4": {
        "torch, all at once": f"""{_BASES_FOR}
    grid = torch.tensor(sorted(bases), dtype=torch.float64)
    theta = grid[:, None] ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    m = torch.arange(length + 1, dtype=torch.float64)
    good = (torch.cos(m[:, None, None] * theta).mean(-1) >= 0).all(0)
    safe = good.flip(0).cumprod(0).flip(0).bool()
    return tuple(grid[one][0].item() if one.any() else None for one in (good, safe))""",
    },
    "q5": {
        "by chords": f"""{_NEW_ANGLES}
    on_circle = np.exp(1j * np.outer(np.arange(used), frequencies))
    chord = np.abs(on_circle[trained:, None] - on_circle[None, :trained]).min(axis=1)
    return (chord > 2 * np.sin(tolerance / 2)).mean(axis=0)""",
        "a loop, and a list as the example shows it": f"""{_NEW_ANGLES}
    shares = []
    for theta in frequencies:
        new = 0
        for m in range(trained, used):
            apart = (abs(math.remainder((m - n) * theta, 2 * math.pi)) for n in range(trained))
            new += min(apart) > tolerance
        shares.append(new / (used - trained))
    return shares""",
    },
    "q6": {
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
