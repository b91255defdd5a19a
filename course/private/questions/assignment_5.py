"""Assignment 5, "One model, past its length": four questions that become one model, and two that a person reads.

The trained model is the laboratory's. A student's model returns its logits, and the frequencies and the attention
factor that it used. The benchmark recomputes the logits from these, so that only the model can have answered; its
sequences are drawn anew for every run.

The rubrics of questions 3, 5 and 6 are in rubrics.json, with marked samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from course.question import Assignment, Case, Edit, Mistake, Part, Question, pick, until
from posenc import frequencies, scaling
from posenc.check import HandGraded
from posenc.schemes import make_scheme
from posenc.transformer import TransformerConfig, forward

# Sentences for several mistakes.
_MARK = "where nothing is scored the target should be −100, which the loss ignores"
_WHOLE = "the factor was rounded to a whole number"
_UPSIDE_DOWN = "the fraction is upside down: a longer sequence gets a larger factor"
_NOT_NATURAL = "the logarithm is the natural one"
_RADIANS = "rotations and radians were mixed up: a rotation is 2π radians"
_ALONG = "the ramp is linear in the pair's index, as in YaRN's released code; here it is linear in rotations"
_NO_MASK = "later tokens are visible: the mask is missing"
_NO_RESIDUAL = (
    "what a layer computes should be added to the residual stream, not replace it, after attention and after the MLP"
)
_NOT_GELU = "the MLP uses another activation than GELU"

Array = np.ndarray[Any, Any]
MODEL = "two_layers-single_copy-rope_10000-0"
TRAINED = 128  # tokens
IGNORED = -100  # PyTorch's target of a token that isn't scored
CUE = pick("a5.cue", 2, 3, 4)  # first symbols of the second occurrence, which are not scored
SKIP = pick("a5.skip", 0, 8, 12, 16, 20)  # sequences before those on which question 3 measures
_WORDS = {2: "two", 3: "three", 4: "four", 6: "six", 8: "eight", 10: "ten", 12: "twelve"}


def _by_hand(cue: int) -> str:
    """The example of question 1, with one scored symbol."""
    places, copied = (", ".join(map(str, range(first, first + cue + 1))) for first in (cue + 3, 1))
    text = [*range(1, cue + 4), *range(2, cue + 3), 2 * cue + 5]
    return (
        f"Symbols 1 to {text[-1]}, `begin` {cue + 3}, `block` {cue + 1}, `distance` {cue + 2}. Positions {places} get "
        f"the symbols of {copied}, so the sequence is {' '.join(map(str, text))}. "
        f"The tokens are the first {_WORDS[2 * cue + 4]}. Only the "
        f"{cue + 2} at position {2 * cue + 3} is scored, so the one target is at position {2 * cue + 2}: "
        f"$-100$ {_WORDS[2 * cue + 2]} times, then {cue + 2}, then $-100$."
    )


VARIANT = {
    "except its first two": f"except its first {_WORDS[CUE]}",
    _by_hand(2): _by_hand(CUE),
    "begin + 2": f"begin + {CUE}",
    "begin[j]) + 2": f"begin[j]) + {CUE}",
    "skip=0": f"skip={SKIP}",
    "skip=4`": f"skip={SKIP + 4}`",
}
BOUNDS = (4.0, 1.0)  # rotations from which on a pair is kept, and up to which its frequency is divided by the factor


# ---------------------------------------------------------------------------------------------------------------------
# Question 1: training data with one block twice


def _lesson(symbols: Array, begin: Array, block: Array, distance: Array) -> tuple[Array, Array]:
    place, begin, end = np.arange(symbols.shape[1]), begin[:, None], (begin + block)[:, None]
    again = (place >= begin) & (place < end)
    text = np.where(again, np.take_along_axis(symbols, (place - distance[:, None]).clip(0), axis=1), symbols)
    return text[:, :-1], np.where(again & (place >= begin + CUE), text, IGNORED)[:, 1:]


def _draws(random: np.random.Generator, last: bool) -> Case:
    """Sequences with a block each; with `last`, the second occurrence ends every other one."""
    texts, length = 6, int(random.integers(40, 60))
    block = random.integers(5, 9, texts)
    distance = block + random.integers(2, 12, texts)
    begin = distance + random.integers(1, 8, texts)
    if last:
        begin[::2] = length + 1 - block[::2]
    symbols = random.integers(1, 64, (texts, length + 1))
    return Case(symbols, begin, block, distance)


def _somewhere(random: np.random.Generator) -> Iterator[Case]:
    for last in (False, True):
        yield _draws(random, last)


_COLUMNS = "begin[:, None], (begin + block)[:, None], distance[:, None]"
_TEXT = "np.where(repeated, np.take_along_axis(symbols, np.maximum(position - distance, 0), axis=1), symbols)"
_SCORED = "repeated & (position >= begin + 2)"
_FIRST_SCORED = f"(position >= begin - distance + {CUE}) & (position < end - distance)"


# fmt: off
q1 = Question(
    assignment=5,
    name="q1",
    title="Training data with one block twice",
    names=("lesson",),
    returns=("the tokens", "the targets"),
    parts=(
        Part("the sequence with its block", 1, cases=_somewhere, of=0, exact_dtype=True),
        Part("what is scored", 2, cases=_somewhere, of=1, exact_dtype=True),
    ),
    reference=_lesson,
    tolerance=1e-9,
    mistakes=(
        Edit("the targets are the tokens themselves: each should be the one that follows",
             "-100)[:, 1:]", "-100)[:, :-1]", of=1),
        Edit("every token is scored: only the second occurrence can be predicted",
             "np.where(scored, text, -100)", "text", of=1),
        Edit("the first symbols of the second occurrence are scored: no model can predict them yet",
             "begin + 2", "begin", of=1),
        Edit("too few symbols are left out at the beginning of the second occurrence",
             "begin + 2", f"begin - 1 + {CUE}", of=1),
        Edit("too many symbols are left out at the beginning of the second occurrence (was it shifted twice?)",
             "begin + 2", f"begin + 1 + {CUE}", of=1),
        Edit("the first occurrence is scored as well: it is random, and no model can predict it",
             _SCORED, f"({_SCORED}) | ({_FIRST_SCORED})", of=1),
        Edit("the first occurrence is scored; only the second can be predicted", _SCORED, _FIRST_SCORED, of=1),
        Edit("what follows the second occurrence is scored as well", "repeated & (position", "(position", of=1),
        Edit("the one symbol after the second occurrence is scored as well",
             _SCORED, "(position >= begin + 2) & (position <= end)", of=1),
        Edit("the targets moved by one position, and the scored positions did not: shift both",
             _SCORED, "(position > begin + 2) & (position <= end)", of=1),
        Edit(_MARK, "-100", "0", of=1),
        Edit(_MARK, "-100", "-1", of=1),
        Edit("the targets were taken before the block was copied", "scored, text", "scored, symbols", of=1),
        Edit("the block does not occur a second time: the tokens are the symbols as they were given",
             "return text", "return symbols", of=0),
        Edit("every sequence got the block of the first one", _COLUMNS, _COLUMNS.replace("[:,", "[:1,")),
        Edit("the distance was counted from the end of the first occurrence; it goes from a symbol to its copy",
             "distance[:, None]", "(distance + block)[:, None]"),
        Edit("the first occurrence was overwritten by the second; copy in the other direction", _TEXT,
             "np.where((begin - distance <= position) & (position < end - distance), np.take_along_axis(symbols, "
             "np.minimum(position + distance, position[-1]), axis=1), symbols)"),
        Edit("the block is a symbol too long", "(position < end)", "(position <= end)"),
        Edit("the block is a symbol too short", "(position < end)", "(position < end - 1)"),
    ),
)
# fmt: on


# ---------------------------------------------------------------------------------------------------------------------
# Question 2: a method, chosen


Reading = tuple[Any, float]  # frequencies in radians per token, and the attention factor
Method = Callable[[int, float, int, float], Reading]  # of width, base, trained length, factor


def _theta(dim: int, base: float, step: float = 2.0) -> Array:
    return np.asarray(float(base) ** (-step * np.arange(dim // 2) / dim))


def _blend(dim: int, base: float, trained: int, s: float, made: Callable[[Array], Array]) -> Array:
    """Frequencies by parts; `made` counts the rotations."""
    theta = _theta(dim, base)
    kept = np.clip((made(trained * theta) - BOUNDS[1]) / (BOUNDS[0] - BOUNDS[1]), 0, 1)
    return np.asarray(kept * theta + (1 - kept) * theta / s)


def _in_rotations(angles: Array) -> Array:
    return angles / (2 * math.pi)


def _warm(s: float) -> float:
    return 0.1 * math.log(s) + 1


METHODS: dict[str, Method] = {
    "linear": lambda dim, base, trained, s: (_theta(dim, base) / s, 1.0),
    "ntk": lambda dim, base, trained, s: (_theta(dim, base * s ** (dim / (dim - 2))), 1.0),
    "parts": lambda dim, base, trained, s: (_blend(dim, base, trained, s, _in_rotations), 1.0),
    "yarn": lambda dim, base, trained, s: (_blend(dim, base, trained, s, _in_rotations), _warm(s)),
    "temperature": lambda dim, base, trained, s: (_theta(dim, base), _warm(s)),
}


def _told(trained: int) -> dict[str, Any]:
    """The package's arguments beside the factor."""
    return {"original_max_position_embeddings": trained, "beta_fast": BOUNDS[0], "beta_slow": BOUNDS[1]}


def _extended(dim: int, base: float, trained: int, length: int) -> dict[str, Reading]:
    """What each method gives, from the package."""
    s = max(length, trained) / trained
    parts, plain = scaling.ntk_by_parts(dim, base, factor=s, **_told(trained)).inv_freq, frequencies.inv_freq(dim, base)
    return {
        "linear": (scaling.linear(dim, base, factor=s).inv_freq, 1.0),
        "ntk": (scaling.ntk_aware(dim, base, factor=s).inv_freq, 1.0),
        "parts": (parts, 1.0),
        "yarn": (parts, scaling.mscale(s)),
        "temperature": (plain, scaling.mscale(s)),
    }


def _instead(name: str, wrong: Method, scale: Callable[[float], float] = lambda s: max(s, 1.0)) -> Callable[..., Any]:
    """What came back of a method that was made wrong, beside what is right of the others."""

    def made(dim: int, base: float, trained: int, length: int) -> dict[str, Reading]:
        return _extended(dim, base, trained, length) | {name: wrong(dim, base, trained, scale(length / trained))}

    return made


def _for_all(sentence: str, scale: Callable[[float], float]) -> tuple[Mistake, ...]:
    """A wrong factor, in each of the methods."""
    return tuple(Mistake(sentence, _instead(name, method, scale)) for name, method in METHODS.items())


def _factor_of(wrong: Callable[[float], float]) -> tuple[Callable[..., Any], ...]:
    """A wrong attention factor, in each of the two methods that have one."""
    made = (
        _instead(name, lambda *told, name=name: (METHODS[name](*told)[0], wrong(told[-1])))
        for name in ("yarn", "temperature")
    )
    return tuple(made)


def _doubled(name: str) -> Method:
    return lambda *told: (np.repeat(METHODS[name](*told)[0], 2), METHODS[name](*told)[1])


def _in_tokens(name: str) -> Method:
    return lambda *told: (2 * math.pi / METHODS[name](*told)[0], METHODS[name](*told)[1])


def _parts_made(made: Callable[[Array], Array]) -> Iterator[Callable[..., Any]]:
    """By parts with other numbers of rotations, in each of the two methods that count them."""

    def wrong(dim: int, base: float, trained: int, s: float) -> Array:
        return _blend(dim, base, trained, s, made)

    yield _instead("parts", lambda *told: (wrong(*told), 1.0))
    yield _instead("yarn", lambda *told: (wrong(*told), _warm(told[-1])))


def _step(bound: float) -> Callable[[Array], Array]:
    """Turns as they are counted where there is a step in place of the ramp."""
    return lambda angles: np.where(_in_rotations(angles) >= bound, BOUNDS[0], 0.0)


def _released(name: str, factor: Callable[[float], float]) -> Callable[..., Any]:
    def wrong(dim: int, base: float, trained: int, s: float) -> Reading:
        return scaling.yarn(dim, base, factor=s, **_told(trained)).inv_freq, factor(s)

    return _instead(name, wrong)


def _head(random: np.random.Generator, times: float) -> Case:
    """A head with some pairs on the ramp, and a sequence of so many times its trained length."""

    def draw() -> Case:
        dim, trained = 2 * int(random.integers(8, 20)), int(random.integers(90, 300))
        return Case(
            dim,
            float(random.integers(900, 30_000)),
            trained,
            round(times * trained),
            values="the numbers are not those of the method that is named",
        )

    def wanted(dim: int, base: float, trained: int, length: int) -> bool:
        made = _in_rotations(trained * _theta(dim, base))
        return bool((made > BOUNDS[0]).any() and ((made > 1.3) & (made < 3.7)).sum() >= 2 and (made < 0.8).any())

    return until(wanted, draw)


def _with_right(case: Case) -> Case:
    return Case(*case.args, right=_extended(*case.args), values=case.values)


def _within(random: np.random.Generator) -> Iterator[Case]:
    for times in (float(random.uniform(0.2, 0.7)), 1.0):
        case = _with_right(_head(random, times))
        yield Case(
            *case.args,
            right=case.right,
            values="a sequence no longer than those of the training should be read as it was trained, "
            "with an attention factor of 1",
        )


def _past(random: np.random.Generator) -> Iterator[Case]:
    for least in (1.3, 3.2, 5.3):
        yield _with_right(_head(random, float(random.uniform(least, least + 0.4))))


# fmt: off
q2 = Question(
    assignment=5,
    name="q2",
    title="Five methods",
    names=("extended",),
    parts=(
        Part("sequences no longer than those of the training", 1, cases=_within, view="chosen"),
        Part("longer sequences", 2, cases=_past, view="chosen"),
    ),
    reference=_extended,
    tolerance=1e-6,
    mistakes=(
        *_for_all("the frequencies are raised in short sequences: the factor is never below 1", lambda s: s),
        *_for_all("the length of the sequence has no effect", lambda s: 1.0),
        *_for_all(_WHOLE, lambda s: max(float(math.floor(s)), 1.0)),
        *_for_all(_WHOLE, lambda s: max(float(math.ceil(s)), 1.0)),
        *_for_all("the factor is 4 whatever the length of the sequence", lambda s: 4.0),
        *_for_all(_UPSIDE_DOWN, lambda s: 1 / max(s, 1.0)),
        *_for_all(_UPSIDE_DOWN, lambda s: 1 / s),
        *_for_all("the factor is too large by 1: at the trained length it must be 1", lambda s: max(s, 1.0) + 1),
        *(Mistake("this method has an attention factor, and it is missing",
                  made) for made in _factor_of(lambda s: 1.0)),
        *(Mistake("the 1 of the attention factor is missing",
                  made) for made in _factor_of(lambda s: 0.1 * math.log(s))),
        *(Mistake(_NOT_NATURAL, made) for made in _factor_of(lambda s: 0.1 * math.log10(s) + 1)),
        *(Mistake(_NOT_NATURAL, made) for made in _factor_of(lambda s: 0.1 * math.log2(s) + 1)),
        *(Mistake("the factor itself was put in, not its logarithm",
                  made) for made in _factor_of(lambda s: 0.1 * s + 1)),
        *(Mistake("this is the square of the attention factor, which the score makes by itself",
                  made) for made in _factor_of(lambda s: _warm(s) ** 2)),
        *(Mistake("this is one over the attention factor", made) for made in _factor_of(lambda s: 1 / _warm(s))),
        *(
            Mistake("this method has no attention factor: it is 1",
                    _instead(name, lambda *told, name=name: (METHODS[name](*told)[0], _warm(told[-1]))))
            for name in ("linear", "ntk", "parts")
        ),
        *(Mistake("there is a frequency for each dimension; return one per pair",
                  _instead(name, _doubled(name))) for name in METHODS),
        *(Mistake("these are tokens per rotation; return radians per token",
                  _instead(name, _in_tokens(name))) for name in METHODS),
        Mistake("the base was multiplied by the factor alone: the slowest pair is not scaled down enough",
                _instead("ntk", lambda d, b, n, s: (_theta(d, b * s), 1.0))),
        Mistake("the factor was squared: its exponent is d/(d − 2)",
                _instead("ntk", lambda d, b, n, s: (_theta(d, b * s**2), 1.0))),
        Mistake("the exponent of the factor is upside down: d/(d − 2)",
                _instead("ntk", lambda d, b, n, s: (_theta(d, b * s ** ((d - 2) / d)), 1.0))),
        Mistake("the exponent of the factor needs brackets: Python takes a power before it divides",
                _instead("ntk", lambda d, b, n, s: (_theta(d, b * s**d / (d - 2)), 1.0))),
        *(Mistake(_RADIANS, made) for made in _parts_made(lambda angles: angles)),
        *(Mistake(_RADIANS, made) for made in _parts_made(lambda angles: angles * 2 * math.pi)),
        *(
            Mistake("between the bounds there is a step; a ramp belongs there", made)
            for bound in (BOUNDS[0], BOUNDS[1], sum(BOUNDS) / 2)
            for made in _parts_made(_step(bound))
        ),
        *(
            Mistake("the ramp is upside down: fast pairs were scaled down and slow ones kept", made)
            for made in _parts_made(lambda angles: sum(BOUNDS) - _in_rotations(angles))
        ),
        Mistake(_ALONG, _released("parts", lambda s: 1.0)),
        Mistake(_ALONG, _released("yarn", _warm)),
    ),
)
# fmt: on


# ---------------------------------------------------------------------------------------------------------------------
# Question 4: the model

Weights = dict[str, Array]
Answer = tuple[Array, Array, float]


def _layers(weights: Weights) -> int:
    return sum(name.endswith(".qkv.weight") for name in weights)


def _model(weights: Weights, n_heads: int, base: float, trained: int, tokens: Array) -> Answer:
    """The package's own model with these weights, for texts no longer than those of its training."""
    vocabulary, dim = weights["embedding.weight"].shape
    config = TransformerConfig(vocabulary, dim, _layers(weights), n_heads, len(weights["layers.0.mlp.0.weight"]))
    scheme = make_scheme("rope", head_dim=dim // n_heads, base=base, layout="interleaved")
    return forward(weights, tokens, config, scheme).logits, frequencies.inv_freq(dim // n_heads, base), 1.0


def _small(random: np.random.Generator, n_layers: int, n_heads: int, head_dim: int, within: int) -> Case:
    """A model of weights that were drawn and not trained, and texts that are so much shorter than its training."""
    dim, hidden, vocabulary, trained = n_heads * head_dim, n_heads * head_dim + 6, 13, int(random.integers(14, 20))

    def drawn(*shape: int, scale: float = 1.0) -> Any:
        return random.standard_normal(shape) * scale * shape[-1] ** -0.5

    def gain() -> Array:
        return random.uniform(0.5, 1.6, dim)

    # so large that the 1e-5 which LLaMA adds in its norm makes no difference
    weights = {"embedding.weight": 4 * random.standard_normal((vocabulary, dim))}
    for number in range(n_layers):
        made = {
            **{"attention_norm": gain(), "qkv": drawn(3 * dim, dim, scale=1.6), "out": drawn(dim, dim, scale=1.2)},
            **{"mlp_norm": gain(), "mlp.0": drawn(hidden, dim, scale=1.5), "mlp.2": drawn(dim, hidden, scale=1.5)},
        }
        weights |= {f"layers.{number}.{name}.weight": weight for name, weight in made.items()}
    weights |= {"norm.weight": gain(), "head.weight": drawn(vocabulary, dim, scale=2.0)}
    weights = {name: weight.astype(np.float32) for name, weight in weights.items()}
    tokens = random.integers(0, vocabulary, (3, trained - within))
    return Case(weights, n_heads, float(random.integers(100, 9000)), trained, tokens)


def _drawn_models(random: np.random.Generator) -> Iterator[Case]:
    for n_layers, n_heads, head_dim, within in ((1, 2, 8, 0), (3, 3, 4, 5)):
        yield _small(random, n_layers, n_heads, head_dim, within)


BLOCK, ASKED = 32, 14  # symbols of a block, and the last ones of it, which are asked for


def benchmark(random: np.random.Generator, length: int, texts: int, least: float = 0.0) -> Case:
    """Sequences that end with a block that occurs once before, from near to as far as there is room."""
    edges = np.linspace(BLOCK, length + 2 - BLOCK, texts + 1)
    distance = random.permutation(np.floor(random.uniform(edges[:-1], edges[1:])).astype(int))
    symbols = random.integers(0, 64, (texts, length + 1))
    for text, back in zip(symbols, distance, strict=True):
        text[-BLOCK:] = text[length + 1 - BLOCK - back : length + 1 - back]
    targets = np.full((texts, length), IGNORED)
    targets[:, -ASKED:] = symbols[:, -ASKED:]
    tokens = symbols[:, :-1]
    return Case(tokens, right={"model": MODEL, "tokens": tokens, "targets": targets, "least": least})


def _at_trained_length(random: np.random.Generator) -> Iterator[Case]:
    yield benchmark(random, TRAINED, 8, 0.9)


def _far_past(random: np.random.Generator) -> Iterator[Case]:
    yield benchmark(random, 4 * TRAINED, 1)  # a wrong model is found with little work
    yield benchmark(random, 4 * TRAINED, 10, 0.75)


def _read(method: Method, scale: Callable[[float], float]) -> Callable[..., Any]:
    """A method's theta and attention factor, with the s that is made of the length over the trained one."""

    def wrong(weights: Weights, n_heads: int, base: float, trained: int, tokens: Array) -> Any:
        dim, told = weights["embedding.weight"].shape[1] // n_heads, scale(tokens.shape[1] / trained)
        return (0.0, *method(dim, base, trained, told))  # its logits do not count

    return wrong


_ROTATED = "rotate(q, cos, sin) @ rotate(k, cos, sin).mT"
_SPLIT = "3, n_heads, -1).transpose(2, 0, 3, 1, 4)"
_NORM = "x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True)) * weights[name]"
_GELU = "(hidden * (1 + erf(hidden / math.sqrt(2))) / 2)"
_ATTENTION_NORM, _MLP_NORM = 'norm(x, f"{layer}.attention_norm.weight")', 'norm(x, f"{layer}.mlp_norm.weight")'
_LAST = "len([name for name in weights if name.endswith('.qkv.weight')]) - 1"


# fmt: off
q4 = Question(
    assignment=5,
    name="q4",
    title="The model",
    names=("model",),
    returns=("the logits", "the frequencies", "the attention factor"),
    patience=4,
    parts=(
        Part("models with random weights", 3, cases=_drawn_models),
        Part("the benchmark at the trained length", 1, cases=_at_trained_length, model=MODEL, view="copies"),
        Part("the benchmark at four times the trained length", 2, cases=_far_past, model=MODEL, view="copies"),
    ),
    reference=_model,
    tolerance=1e-4,
    mistakes=(
        Edit(_NO_MASK, "np.where(np.tri(length, dtype=bool), scores, -np.inf)", "scores", of=0),
        Edit(_NO_MASK, "-np.inf", "0.0", of=0),
        Edit("neither queries nor keys are rotated", _ROTATED, "q @ k.mT", of=0),
        Edit("dimension i was paired with i + d/2 (half-split): this model is interleaved, 2i and 2i + 1",
             "x[..., 0::2], x[..., 1::2]", "np.split(x, 2, axis=-1)", "np.stack([even", "np.concatenate([even", of=0),
        Edit("the scores are not divided by the root of the head's width", " / math.sqrt(q.shape[-1])", "", of=0),
        Edit("the rows of qkv were read head by head: first come all queries, then all keys, then all values",
             _SPLIT, "n_heads, 3, -1).transpose(3, 0, 2, 1, 4)", of=0),
        Edit("the dimensions of a head are contiguous in the rows of qkv: head by head",
             _SPLIT, "3, -1, n_heads).transpose(2, 0, 4, 1, 3)", of=0),
        Edit("the rows of qkv are queries, keys, values, in this order", "q, k, v = qkv", "k, q, v = qkv", of=0),
        Edit("the heads were not concatenated: swap heads and length before the reshape",
             "mixed.swapaxes(1, 2)", "mixed", of=0),
        Edit("the matrix out is not used: it comes after attention", ' @ weights[f"{layer}.out.weight"].T', "", of=0),
        Edit(_NO_RESIDUAL, "x + mixed", "mixed", of=0),
        Edit(_NO_RESIDUAL, "x + (hidden", "(hidden", of=0),
        Edit(_NO_RESIDUAL, "x + mixed", "mixed", "x + (hidden", "(hidden", of=0),
        Edit("the norm comes after the addition; in this model it comes before attention and before the MLP "
             "(pre-norm)", _ATTENTION_NORM, "x", f"hidden = {_MLP_NORM}", f"x = {_ATTENTION_NORM}; hidden = x",
             "number += 1", f"x = {_MLP_NORM}; number += 1", of=0),
        Edit("the MLP reads the residual stream from before attention; it should read it after attention's addition",
             "x = x + mixed", "before, x = x, x + mixed", _MLP_NORM, _MLP_NORM.replace("x", "before"), of=0),
        Edit("the mean is subtracted: RMSNorm only divides by the root of the mean square",
             f"return {_NORM}", f"x = x - x.mean(axis=-1, keepdims=True); return {_NORM}", of=0),
        Edit("the norm's own weight is missing", " * weights[name]", "", of=0),
        Edit("the norms are missing", _NORM, "x", of=0),
        Edit("the norm divides by the length of the vector; it is the root of the mean of the squares",
             "np.sqrt(np.mean(x**2,", "np.sqrt(np.sum(x**2,", of=0),
        Edit("the last norm is missing: it comes before the head", 'norm(x, "norm.weight")', "x", of=0),
        Edit(_NOT_GELU, _GELU, "np.maximum(hidden, 0)", of=0),
        Edit(_NOT_GELU, _GELU, "(hidden / (1 + np.exp(-hidden)))", of=0),
        Edit("this is GELU's approximation by tanh: use the exact one",
             "erf(hidden / math.sqrt(2))", "np.tanh(math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden**3))", of=0),
        Edit("the MLP is linear: GELU comes between its two matrices", _GELU, "hidden", of=0),
        Edit("the logits are computed with the embedding matrix: this model has a head of its own",
             "head.weight", "embedding.weight", of=0),
        Edit("every layer has the weights of the first", "qkv = norm", 'layer = "layers.0"; qkv = norm', of=0),
        Edit("the layers run from the last to the first",
             "qkv = norm", f'layer = f"layers.{{{_LAST} - number}}"; qkv = norm', of=0),
        Edit("the slowest frequency is 1/base: the exponent is −2i/d, which ends at −(d − 2)/d",
             "np.arange(0, head_dim, 2) / head_dim", "np.arange(head_dim // 2) / max(head_dim // 2 - 1, 1)"),
        Edit("the exponent of the frequencies lacks the 2: it is −2i/d",
             "np.arange(0, head_dim, 2)", "np.arange(head_dim // 2)"),
        Edit("frequencies and attention factor are swapped: first the logits, then the frequencies, then the factor",
             ".T, theta, factor", ".T, factor, theta"),
        *(
            Mistake("this sequence is no longer than those of the training: its frequencies should be b^(−2i/d), "
                    "and its attention factor 1", _read(METHODS[name], scale), of=of)
            for scale in (lambda s: s, lambda s: 4.0)
            for name, of in (("linear", 1), ("ntk", 1), ("parts", 1), ("temperature", 2))
        ),
    ),
)
# fmt: on


ASSIGNMENT = Assignment(
    5,
    "One model, past its length",
    (q1, q2, q4),
    hand_graded=(
        HandGraded(5, "q3", "Argue your choice", 3),
        HandGraded(5, "q5", "The two halves of YaRN", 3),
        HandGraded(5, "q6", "The model that YaRN does not repair", 2),
    ),
)
