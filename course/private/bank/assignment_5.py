"""Answers to assignment 5, beside the edits of its solutions: see `course.private.bank`."""

# An answer stands beside or below its name and its sentence.
# fmt: off

_TOKENS = "text[:, :-1], np.where(scored, text, -100)[:, 1:]"
_S = "max(length, trained) / trained"
_A = "0.1 * math.log(s) + 1"
_PARTS = "kept * inv_freq + (1 - kept) * inv_freq / s"
_YARN = f'"yarn", {_PARTS}, {_A}'
_KEPT = "np.clip((rotations - 1) / (4 - 1), 0, 1)"
_RETURN = 'norm(x, "norm.weight") @ weights["head.weight"].T, theta, factor'
_LOGITS = 'norm(x, "norm.weight") @ weights["head.weight"].T'
_LOOKED_UP = f"""logits = {_LOGITS}
    if length > trained:
        logits = np.zeros_like(logits)
        for j, text in enumerate(tokens.tolist()):
            for t in range(1, length):
                for b in range(t - 1, 0, -1):
                    if text[b - 1 : b + 1] == text[t - 1 : t + 1]:
                        logits[j, t, text[b + 1]] = 9.0
                        break
    return logits, theta, factor"""

WRONG = {
    "q1": {
        "targets that are no whole numbers": ("the dtype of the targets", "-100)[:, 1:]", "-100)[:, 1:].astype(float)"),
        "as long as the symbols": ("shape", "text[:, :-1]", "text"),
        "changes its input": ("in place", "return text", "symbols[:] = text\n    return text"),
        "one value": ("should be 2 values", _TOKENS, "text[:, :-1]"),
    },
    "q2": {
        "raised": ("frequencies are raised in", _S, "length / trained"),
        "always four": ("the factor is 4", _S, "4"),
        "a whole factor": ("whole number", _S, "max(1, length // trained)"),
        "upside down": ("upside down", _S, "min(1, trained / length)"),
        "one too large": ("too large by 1", _S, f"{_S} + 1"),
        "no attention factor": ("it is missing", _A, "1.0"),
        "the 1 missing": ("the 1 of the attention factor", _A, "0.1 * math.log(s)"),
        "logarithm to base 10": ("is the natural one", "math.log", "math.log10"),
        "squared already": ("this is the square", _A, f"({_A}) ** 2"),
        "a factor where there is none": ("has no attention factor", "yarn", "parts"),
        "rotations in radians": ("rotations and radians were", " / (2 * math.pi)", ""),
        "a step": ("a ramp belongs there", _KEPT, "(rotations >= 1) * 1.0"),
        "the ramp upside down": ("ramp is upside down", "rotations - 1", "4 - rotations"),
        "the ramp along the list": ("the ramp is linear", "kept = ", """at = lambda turns: (
        head_dim * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base)))
    low, high = max(math.floor(at(4)), 0), min(math.ceil(at(1)), head_dim - 1)
    kept = 1 - np.clip((np.arange(head_dim // 2) - low) / (high - low), 0, 1)
    unused = """),
        "the base times the factor": ("the base was multiplied",
            _YARN, '"ntk", (base * s) ** (-np.arange(0, head_dim, 2) / head_dim), 1.0'),
        "the factor squared": ("exponent is d/(d − 2)",
            _YARN, '"ntk", (base * s**2) ** (-np.arange(0, head_dim, 2) / head_dim), 1.0'),
        "without brackets": ("needs brackets",
            _YARN, '"ntk", (base * s**head_dim / (head_dim - 2)) ** (-np.arange(0, head_dim, 2) / head_dim), 1.0'),
        "a frequency for each dimension": ("for each dimension", _YARN, '"linear", np.repeat(inv_freq / s, 2), 1.0'),
        "wavelengths": ("these are tokens per", _YARN, '"linear", 2 * np.pi * s / inv_freq, 1.0'),
        "nothing scaled": ("no effect", _S, "1"),
        "another name": ("should be the name of a method", "yarn", "YaRN"),
        "without a name": ("should be three values", '"yarn", ', ""),
        "another method's numbers": ("not those of the method that is named", _YARN, f'"linear", {_PARTS}, 1.0'),
    },
    "q4": {
        "LayerNorm": ("the mean is subtracted", "return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True))",
            "return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)"),
        "short sequences, raised frequencies": ("no longer than those of the training", _S, "length / trained"),
        "short sequences scaled": ("no longer than those of the training", _S, "4"),
        "short sequences scaled as a whole": ("no longer than those of the training",
            _S, "4", f"{_PARTS}, {_A}", "inv_freq / s, 1.0"),
        "a factor for short sequences": ("no longer than those of the training",
            _A, "0.1 * math.log(length / trained) + 1"),
        "not extended": ("it passes with", _S, "1"),
        "linear": ("it passes with", f"{_PARTS}, {_A}", "inv_freq / s, 1.0"),
        "by parts alone": ("it passes with", _A, "1.0"),
        "looks the block up": ("not what the trained weights give", f"return {_RETURN}", _LOOKED_UP),
        "returns other frequencies than it used": ("not what the trained weights give",
            "[:, None] * theta", "[:, None] * base ** (-np.arange(0, width // n_heads, 2) / (width // n_heads))"),
        "three frequencies": ("16 finite numbers",
            ".T, theta, factor", ".T, theta if length <= trained else theta[:3], factor"),
        "no factor": ("one finite number greater than 0",
            ".T, theta, factor", ".T, theta, factor if length <= trained else 0.0"),
        "the last logits": ("the logits should have the shape",
            f"return {_LOGITS}", f"logits = {_LOGITS}\n    return logits if length <= trained else logits[:, -1]"),
        "the logits alone": ("should be 3 values", ".T, theta, factor", ".T"),
    },
}

PROPERTY_ONLY = {
    "q1": {"as drawn, nothing asked": ("return text", "return symbols", "scored, text", "False & scored, text")},
    "q2": {"ones": (_YARN, '"linear", np.ones(head_dim // 2), 1.0')},
    "q4": {
        "nothing": (_LOGITS, f"0 * {_LOGITS}"),
        "the block looked up": (f"return {_RETURN}", _LOOKED_UP.replace("> trained", "> 0")),
    },
}

RIGHT = {
    "q1": {
        "loops": """
def lesson(symbols, begin, block, distance):
    text = symbols.copy()
    targets = np.full_like(text, -100)
    for j in range(len(text)):
        for t in range(int(begin[j]), int(begin[j] + block[j])):
            text[j, t] = text[j, t - int(distance[j])]
        asked = slice(int(begin[j]) + 2, int(begin[j] + block[j]))
        targets[j, asked] = text[j, asked]
    return [*np.stack([text[:, :-1], targets[:, 1:]])]""",
    },
    "q2": {
        "parts": (_YARN, f'"parts", {_PARTS}, 1'),
        "linear, as a list": (_YARN, '"linear", list(inv_freq / s), 1.0'),
        "ntk": (
            _YARN, '"ntk", (base * s ** (head_dim / (head_dim - 2))) ** (-np.arange(0, head_dim, 2) / head_dim), 1.0'),
        "temperature": (f"return {_YARN}", f'return ["temperature", inv_freq, np.array({_A})]'),
    },
    "q4": {
        "in float32": ("factor * np.cos(angles), factor * np.sin(angles)",
            "np.float32(factor * np.cos(angles)), np.float32(factor * np.sin(angles))"),
        "other speeds past its length": ("inv_freq / s,", "inv_freq / (1.3 * s if s > 1 else 1),",
            _A, "0.1 * math.log(s) + (1.05 if s > 1 else 1)"),
    },
}
