"""Assignment 5, "One model, past its length": four questions that become one model, and two that a person reads.

The trained model is the laboratory's. What a student's model returns is the logits, and the speeds and the attention
factor that it read with. The exam recomputes the logits from these, so that nothing but the model can have answered;
its texts are drawn anew for every run.

What the points of questions 5 and 6 are given for stands in rubrics.json, with marked samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from course.question import Assignment, Case, Edit, Mistake, Part, Question, sentences_of, until
from posenc import frequencies, scaling
from posenc.check import HandGraded
from posenc.schemes import make_scheme
from posenc.transformer import TransformerConfig, forward

say = sentences_of(5)

Array = np.ndarray[Any, Any]
MODEL = "two_layers-single_copy-rope_10000-0"
TRAINED = 128  # tokens
IGNORED = -100  # the target of a token that is not asked for, as PyTorch's losses have it
CUE = 2  # symbols of a second saying that are not asked for
BOUNDS = (4.0, 1.0)  # turns, from which on a pair is kept, and up to which it is slowed by all of the factor


# ---------------------------------------------------------------------------------------------------------------------
# Question 1: a lesson with one block said twice


def _lesson(symbols: Array, begin: Array, block: Array, distance: Array) -> tuple[Array, Array]:
    place, begin, end = np.arange(symbols.shape[1]), begin[:, None], (begin + block)[:, None]
    again = (place >= begin) & (place < end)
    text = np.where(again, np.take_along_axis(symbols, (place - distance[:, None]).clip(0), axis=1), symbols)
    return text[:, :-1], np.where(again & (place >= begin + CUE), text, IGNORED)[:, 1:]


def _draws(random: np.random.Generator, last: bool) -> Case:
    """Texts with a block each; with `last`, the second saying ends the text in every other one."""
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
_FIRST_SCORED = "(position >= begin - distance + 2) & (position < end - distance)"


q1 = Question(
    assignment=5,
    name="q1",
    title=say("q1.title"),
    names=("lesson",),
    returns=(say("q1.tokens"), say("q1.targets")),
    parts=(
        Part(say("q1.text_with_block"), 1, cases=_somewhere, of=0, exact_dtype=True),
        Part(say("q1.what_is_asked"), 2, cases=_somewhere, of=1, exact_dtype=True),
    ),
    reference=_lesson,
    tolerance=1e-9,
    # fmt: off
    mistakes=(
        Edit(say("q1.not_the_next"), "-100)[:, 1:]", "-100)[:, :-1]", of=1),
        Edit(say("q1.all_asked"), "np.where(scored, text, -100)", "text", of=1),
        Edit(say("q1.cue_asked"), "begin + 2", "begin", of=1),
        Edit(say("q1.one_cue"), "begin + 2", "begin + 1", of=1),
        Edit(say("q1.one_too_late"), "begin + 2", "begin + 3", of=1),
        Edit(say("q1.both_asked"), _SCORED, f"({_SCORED}) | ({_FIRST_SCORED})", of=1),
        Edit(say("q1.first_asked"), _SCORED, _FIRST_SCORED, of=1),
        Edit(say("q1.rest_asked"), "repeated & (position", "(position", of=1),
        Edit(say("q1.one_after"), _SCORED, "(position >= begin + 2) & (position <= end)", of=1),
        Edit(say("q1.asked_not_moved"), _SCORED, "(position > begin + 2) & (position <= end)", of=1),
        Edit(say("q1.wrong_mark"), "-100", "0", of=1),
        Edit(say("q1.wrong_mark"), "-100", "-1", of=1),
        Edit(say("q1.of_old_text"), "scored, text", "scored, symbols", of=1),
        Edit(say("q1.not_said_again"), "return text", "return symbols", of=0),
        Edit(say("q1.all_like_first"), _COLUMNS, _COLUMNS.replace("[:,", "[:1,")),
        Edit(say("q1.gap_for_distance"), "distance[:, None]", "(distance + block)[:, None]"),
        Edit(
            say("q1.first_made_like_second"),
            _TEXT,
            "np.where((begin - distance <= position) & (position < end - distance),"
            " np.take_along_axis(symbols, np.minimum(position + distance, position[-1]), axis=1), symbols)",
        ),
        Edit(say("q1.block_too_long"), "(position < end)", "(position <= end)"),
        Edit(say("q1.block_too_short"), "(position < end)", "(position < end - 1)"),
    ),
    # fmt: on
)


# ---------------------------------------------------------------------------------------------------------------------
# Question 2: a method, chosen


Reading = tuple[Any, float]  # speeds in radians a token, and the attention factor
Method = Callable[[int, float, int, float], Reading]  # of width, base, trained length, factor


def _speeds(dim: int, base: float, step: float = 2.0) -> Array:
    return np.asarray(float(base) ** (-step * np.arange(dim // 2) / dim))


def _blend(dim: int, base: float, trained: int, s: float, made: Callable[[Array], Array]) -> Array:
    """Speeds by parts, of which `made` says the turns."""
    speeds = _speeds(dim, base)
    kept = np.clip((made(trained * speeds) - BOUNDS[1]) / (BOUNDS[0] - BOUNDS[1]), 0, 1)
    return np.asarray(kept * speeds + (1 - kept) * speeds / s)


def _in_turns(angles: Array) -> Array:
    return angles / (2 * math.pi)


def _warm(s: float) -> float:
    return 0.1 * math.log(s) + 1


METHODS: dict[str, Method] = {
    "linear": lambda dim, base, trained, s: (_speeds(dim, base) / s, 1.0),
    "ntk": lambda dim, base, trained, s: (_speeds(dim, base * s ** (dim / (dim - 2))), 1.0),
    "parts": lambda dim, base, trained, s: (_blend(dim, base, trained, s, _in_turns), 1.0),
    "yarn": lambda dim, base, trained, s: (_blend(dim, base, trained, s, _in_turns), _warm(s)),
    "temperature": lambda dim, base, trained, s: (_speeds(dim, base), _warm(s)),
}


def _told(trained: int) -> dict[str, Any]:
    """What the package's functions are told besides the factor."""
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
    """By parts with other turns, in each of the two methods that count them."""

    def wrong(dim: int, base: float, trained: int, s: float) -> Array:
        return _blend(dim, base, trained, s, made)

    yield _instead("parts", lambda *told: (wrong(*told), 1.0))
    yield _instead("yarn", lambda *told: (wrong(*told), _warm(told[-1])))


def _step(bound: float) -> Callable[[Array], Array]:
    """Turns as they are counted where there is a step in place of the ramp."""
    return lambda angles: np.where(_in_turns(angles) >= bound, BOUNDS[0], 0.0)


def _released(name: str, factor: Callable[[float], float]) -> Callable[..., Any]:
    def wrong(dim: int, base: float, trained: int, s: float) -> Reading:
        return scaling.yarn(dim, base, factor=s, **_told(trained)).inv_freq, factor(s)

    return _instead(name, wrong)


def _head(random: np.random.Generator, times: float) -> Case:
    """A head some of whose pairs stand on the ramp, and a text of so many times its trained length."""

    def draw() -> Case:
        dim, trained = 2 * int(random.integers(8, 20)), int(random.integers(90, 300))
        return Case(dim, float(random.integers(900, 30_000)), trained, round(times * trained), values=say("q2.values"))

    def wanted(dim: int, base: float, trained: int, length: int) -> bool:
        turns = _in_turns(trained * _speeds(dim, base))
        return bool((turns > BOUNDS[0]).any() and ((turns > 1.3) & (turns < 3.7)).sum() >= 2 and (turns < 0.8).any())

    return until(wanted, draw)


def _with_right(case: Case) -> Case:
    return Case(*case.args, right=_extended(*case.args), values=case.values)


def _within(random: np.random.Generator) -> Iterator[Case]:
    for times in (float(random.uniform(0.2, 0.7)), 1.0):
        case = _with_right(_head(random, times))
        yield Case(*case.args, right=case.right, values=say("q2.within"))


def _past(random: np.random.Generator) -> Iterator[Case]:
    for least in (1.3, 3.2, 5.3):
        yield _with_right(_head(random, float(random.uniform(least, least + 0.4))))


q2 = Question(
    assignment=5,
    name="q2",
    title=say("q2.title"),
    names=("extended",),
    parts=(
        Part(say("q2.texts_within"), 1, cases=_within, view="chosen"),
        Part(say("q2.texts_past"), 2, cases=_past, view="chosen"),
    ),
    reference=_extended,
    tolerance=1e-6,
    mistakes=(
        *_for_all(say("q2.sped_up"), lambda s: s),
        *_for_all(say("q2.no_effect"), lambda s: 1.0),
        *_for_all(say("q2.whole_factor"), lambda s: max(float(math.floor(s)), 1.0)),
        *_for_all(say("q2.whole_factor"), lambda s: max(float(math.ceil(s)), 1.0)),
        *_for_all(say("q2.always_four"), lambda s: 4.0),
        *_for_all(say("q2.upside_down"), lambda s: 1 / max(s, 1.0)),
        *_for_all(say("q2.upside_down"), lambda s: 1 / s),
        *_for_all(say("q2.too_large_by_one"), lambda s: max(s, 1.0) + 1),
        *(Mistake(say("q2.factor_missing"), made) for made in _factor_of(lambda s: 1.0)),
        *(Mistake(say("q2.one_missing"), made) for made in _factor_of(lambda s: 0.1 * math.log(s))),
        *(Mistake(say("q2.not_natural"), made) for made in _factor_of(lambda s: 0.1 * math.log10(s) + 1)),
        *(Mistake(say("q2.not_natural"), made) for made in _factor_of(lambda s: 0.1 * math.log2(s) + 1)),
        *(Mistake(say("q2.factor_itself"), made) for made in _factor_of(lambda s: 0.1 * s + 1)),
        *(Mistake(say("q2.squared_already"), made) for made in _factor_of(lambda s: _warm(s) ** 2)),
        *(Mistake(say("q2.divided"), made) for made in _factor_of(lambda s: 1 / _warm(s))),
        *(
            Mistake(
                say("q2.factor_where_none"),
                _instead(name, lambda *told, name=name: (METHODS[name](*told)[0], _warm(told[-1]))),
            )
            for name in ("linear", "ntk", "parts")
        ),
        *(Mistake(say("q2.each_dimension"), _instead(name, _doubled(name))) for name in METHODS),
        *(Mistake(say("q2.tokens_a_turn"), _instead(name, _in_tokens(name))) for name in METHODS),
        Mistake(say("q2.ntk_alone"), _instead("ntk", lambda d, b, n, s: (_speeds(d, b * s), 1.0))),
        Mistake(say("q2.ntk_squared"), _instead("ntk", lambda d, b, n, s: (_speeds(d, b * s**2), 1.0))),
        Mistake(
            say("q2.ntk_upside_down"), _instead("ntk", lambda d, b, n, s: (_speeds(d, b * s ** ((d - 2) / d)), 1.0))
        ),
        Mistake(say("q2.ntk_brackets"), _instead("ntk", lambda d, b, n, s: (_speeds(d, b * s**d / (d - 2)), 1.0))),
        *(Mistake(say("q2.radians_for_turns"), made) for made in _parts_made(lambda angles: angles)),
        *(Mistake(say("q2.radians_for_turns"), made) for made in _parts_made(lambda angles: angles * 2 * math.pi)),
        *(
            Mistake(say("q2.step_for_ramp"), made)
            for bound in (BOUNDS[0], BOUNDS[1], sum(BOUNDS) / 2)
            for made in _parts_made(_step(bound))
        ),
        *(
            Mistake(say("q2.ramp_upside_down"), made)
            for made in _parts_made(lambda angles: sum(BOUNDS) - _in_turns(angles))
        ),
        Mistake(say("q2.ramp_along_list"), _released("parts", lambda s: 1.0)),
        Mistake(say("q2.ramp_along_list"), _released("yarn", _warm)),
    ),
)


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

    def drawn(*shape: int, spread: float = 1.0) -> Any:
        return random.standard_normal(shape) * spread * shape[-1] ** -0.5

    def gain() -> Array:
        return random.uniform(0.5, 1.6, dim)

    # so large that the 1e-5 which LLaMA adds in its norm makes no difference
    weights = {"embedding.weight": 4 * random.standard_normal((vocabulary, dim))}
    for number in range(n_layers):
        made = {
            **{"attention_norm": gain(), "qkv": drawn(3 * dim, dim, spread=1.6), "out": drawn(dim, dim, spread=1.2)},
            **{"mlp_norm": gain(), "mlp.0": drawn(hidden, dim, spread=1.5), "mlp.2": drawn(dim, hidden, spread=1.5)},
        }
        weights |= {f"layers.{number}.{name}.weight": weight for name, weight in made.items()}
    weights |= {"norm.weight": gain(), "head.weight": drawn(vocabulary, dim, spread=2.0)}
    weights = {name: weight.astype(np.float32) for name, weight in weights.items()}
    tokens = random.integers(0, vocabulary, (3, trained - within))
    return Case(weights, n_heads, float(random.integers(100, 9000)), trained, tokens)


def _drawn_models(random: np.random.Generator) -> Iterator[Case]:
    for n_layers, n_heads, head_dim, within in ((1, 2, 8, 0), (3, 3, 4, 5)):
        yield _small(random, n_layers, n_heads, head_dim, within)


BLOCK, ASKED = 32, 14  # symbols of a block, and the last ones of it, which are asked for


def exam(random: np.random.Generator, length: int, texts: int, least: float = 0.0) -> Case:
    """Texts that end with a block that they have once before, from near to as far as there is room."""
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
    yield exam(random, TRAINED, 8, 0.9)


def _far_past(random: np.random.Generator) -> Iterator[Case]:
    yield exam(random, 4 * TRAINED, 1)  # a wrong model is found with little work
    yield exam(random, 4 * TRAINED, 10, 0.75)


def _read(method: Method, scale: Callable[[float], float]) -> Callable[..., Any]:
    """A method's speeds and attention factor, with the s that is made of the length over the trained one."""

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


q4 = Question(
    assignment=5,
    name="q4",
    title=say("q4.title"),
    names=("model",),
    returns=(say("q4.logits"), say("q4.speeds"), say("q4.factor")),
    patience=4,
    parts=(
        Part(say("q4.drawn_models"), 3, cases=_drawn_models),
        Part(say("q4.exam_trained"), 1, cases=_at_trained_length, model=MODEL, view="copies"),
        Part(say("q4.exam_past"), 2, cases=_far_past, model=MODEL, view="copies"),
    ),
    reference=_model,
    tolerance=1e-4,
    # fmt: off
    mistakes=(
        Edit(say("q4.later_words_seen"), "np.where(np.tri(length, dtype=bool), scores, -np.inf)", "scores", of=0),
        Edit(say("q4.later_words_seen"), "-np.inf", "0.0", of=0),
        Edit(say("q4.nothing_turned"), _ROTATED, "q @ k.mT", of=0),
        Edit(
            say("q4.layout_of_halves"),
            "x[..., 0::2], x[..., 1::2]",
            "np.split(x, 2, axis=-1)",
            "np.stack([even",
            "np.concatenate([even",
            of=0,
        ),
        Edit(say("q4.scores_not_scaled"), " / math.sqrt(q.shape[-1])", "", of=0),
        Edit(say("q4.heads_first"), _SPLIT, "n_heads, 3, -1).transpose(3, 0, 2, 1, 4)", of=0),
        Edit(say("q4.heads_last"), _SPLIT, "3, -1, n_heads).transpose(2, 0, 4, 1, 3)", of=0),
        Edit(say("q4.parts_in_order"), "q, k, v = qkv", "k, q, v = qkv", of=0),
        Edit(say("q4.heads_not_joined"), "mixed.swapaxes(1, 2)", "mixed", of=0),
        Edit(say("q4.out_missing"), ' @ weights[f"{layer}.out.weight"].T', "", of=0),
        Edit(say("q4.stream_lost"), "x + mixed", "mixed", of=0),
        Edit(say("q4.stream_lost"), "x + (hidden", "(hidden", of=0),
        Edit(say("q4.stream_lost"), "x + mixed", "mixed", "x + (hidden", "(hidden", of=0),
        Edit(
            say("q4.norm_last"),
            _ATTENTION_NORM,
            "x",
            f"hidden = {_MLP_NORM}",
            f"x = {_ATTENTION_NORM}; hidden = x",
            "number += 1",
            f"x = {_MLP_NORM}; number += 1",
            of=0,
        ),
        Edit(
            say("q4.beside"),
            "x = x + mixed",
            "before, x = x, x + mixed",
            _MLP_NORM,
            _MLP_NORM.replace("x", "before"),
            of=0,
        ),
        Edit(
            say("q4.mean_taken_off"), f"return {_NORM}", f"x = x - x.mean(axis=-1, keepdims=True); return {_NORM}", of=0
        ),
        Edit(say("q4.gain_missing"), " * weights[name]", "", of=0),
        Edit(say("q4.norm_missing"), _NORM, "x", of=0),
        Edit(say("q4.whole_length"), "np.sqrt(np.mean(x**2,", "np.sqrt(np.sum(x**2,", of=0),
        Edit(say("q4.last_norm_missing"), 'norm(x, "norm.weight")', "x", of=0),
        Edit(say("q4.not_gelu"), _GELU, "np.maximum(hidden, 0)", of=0),
        Edit(say("q4.not_gelu"), _GELU, "(hidden / (1 + np.exp(-hidden)))", of=0),
        Edit(
            say("q4.tanh_gelu"),
            "erf(hidden / math.sqrt(2))",
            "np.tanh(math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden**3))",
            of=0,
        ),
        Edit(say("q4.no_bend"), _GELU, "hidden", of=0),
        Edit(say("q4.tied"), "head.weight", "embedding.weight", of=0),
        Edit(say("q4.one_layer"), "qkv = norm", 'layer = "layers.0"; qkv = norm', of=0),
        Edit(say("q4.layers_backwards"), "qkv = norm", f'layer = f"layers.{{{_LAST} - number}}"; qkv = norm', of=0),
        Edit(
            say("q4.slowest_pair"),
            "np.arange(0, head_dim, 2) / head_dim",
            "np.arange(head_dim // 2) / max(head_dim // 2 - 1, 1)",
        ),
        Edit(say("q4.lacks_two"), "np.arange(0, head_dim, 2)", "np.arange(head_dim // 2)"),
        Edit(say("q4.swapped"), ".T, theta, factor", ".T, factor, theta"),
        *(
            Mistake(say("q4.short_not_as_trained"), _read(METHODS[name], scale), of=of)
            for scale in (lambda s: s, lambda s: 4.0)
            for name, of in (("linear", 1), ("ntk", 1), ("parts", 1), ("temperature", 2))
        ),
    ),
    # fmt: on
)


ASSIGNMENT = Assignment(
    5,
    say("assignment.title"),
    (q1, q2, q4),
    hand_graded=(
        HandGraded(5, "q3", say("assignment.choice"), 3),
        HandGraded(5, "q5", say("assignment.two_halves"), 3),
        HandGraded(5, "q6", say("assignment.other_base"), 2),
    ),
)
