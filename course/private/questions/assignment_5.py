"""Assignment 5, "One model, past its length": four questions that become one model, and two that a person reads.

The trained model is the laboratory's. What a student's model returns is the logits, and the speeds and the attention
factor that it read with. The exam recomputes the logits from these, so that nothing but the model can have answered;
its texts are drawn anew for every run.

What the points of questions 5 and 6 are given for stands in rubrics.json, with marked samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from course.question import Assignment, Case, Mistake, Part, Question, sentences_of, until
from posenc import attention, frequencies, rotary, scaling
from posenc.check import HandGraded
from posenc.schemes import make_scheme
from posenc.transformer import TransformerConfig, forward

say = sentences_of(5)

Array = np.ndarray[Any, Any]
MODEL = "two_layers-single_copy-rope_10000-0"
TRAINED = 128  # tokens
IGNORED = -100  # the target of a token that is not asked for, as PyTorch's losses have it
CUE = 2  # symbols of a second saying that are not asked for
LOUD = 1e6  # how large keys are where a mask must be far below every score; −10⁹, which is in use, is enough
BOUNDS = (4.0, 1.0)  # turns, from which on a pair is kept, and up to which it is slowed by all of the factor


# ---------------------------------------------------------------------------------------------------------------------
# Attention, for the model and its mistakes

Turn = Callable[[Array, Array], Any]
_interleaved: Turn = partial(rotary.rotate, layout="interleaved")


def _attend(q: Array, k: Array, v: Array, inv_freq: Array, factor: float) -> Any:
    turned = frequencies.angles(np.arange(q.shape[-2]), inv_freq)
    return attention.attention(
        factor * _interleaved(q, turned), factor * _interleaved(k, turned), v, causal=True
    ).output


def _softmax(scores: Array, axis: int = -1) -> Any:
    weights = np.exp(scores - scores.max(axis, keepdims=True))
    return weights / weights.sum(axis, keepdims=True)


def _by_hand(
    turn: Turn = _interleaved,
    speeds: tuple[float, float] = (1.0, 1.0),
    power: float = 2.0,
    scale: Callable[[Array], float] = lambda q: q.shape[-1] ** -0.5,
    future: float = -math.inf,
    over: int = -1,
    masked_after: bool = False,
    filled: bool = False,
    seen: Callable[[Array], Array] = np.tril,
) -> Callable[..., Any]:
    """Attention with rotation, made wrong by what is given: how fast queries and keys turn, the factor's power, …

    With `filled`, `future` stands in place of the scores of later words; otherwise it is added to them.
    """

    def wrong(q: Array, k: Array, v: Array, inv_freq: Array, factor: float) -> Any:
        angles = frequencies.angles(np.arange(q.shape[-2]), inv_freq)
        scores = turn(q, speeds[0] * angles) @ turn(k, speeds[1] * angles).mT * scale(q) * factor**power
        later = ~seen(np.ones(scores.shape[-2:], dtype=bool))
        if masked_after:
            return np.where(later, 0.0, _softmax(scores, over)) @ v
        scores = np.where(later, future if filled else scores + future, scores)
        return _softmax(scores, over) @ v

    return wrong


# ---------------------------------------------------------------------------------------------------------------------
# Question 1: a lesson with one block said twice


def _moved(symbols: Array, by: Array) -> Array:
    """For each place of a text the symbol so many places on, or the text's first or last one."""
    place = np.arange(symbols.shape[1]) + by[:, None]
    return np.take_along_axis(symbols, place.clip(0, symbols.shape[1] - 1), axis=1)


def _lesson(
    symbols: Array,
    begin: Array,
    block: Array,
    distance: Array,
    cue: int = CUE,
    longer: int = 0,
    ignored: int = IGNORED,
) -> tuple[Array, Array]:
    place, begin, end = np.arange(symbols.shape[1]), begin[:, None], (begin + block + longer)[:, None]
    again = (place >= begin) & (place < end)
    text = np.where(again, _moved(symbols, -distance), symbols)
    return text[:, :-1], np.where(again & (place >= begin + cue), text, ignored)[:, 1:]


def _asking(asked: Callable[[Array, Array, Array, Array], Array], shift: int = 1) -> Callable[..., Any]:
    """A wrong answer to question 2 with the right text, by which places it asks: of places, begin, block, distance."""

    def wrong(symbols: Array, begin: Array, block: Array, distance: Array) -> tuple[Array, Array]:
        tokens, targets = _lesson(symbols, begin, block, distance, cue=-symbols.shape[1])
        text = np.concatenate([tokens, symbols[:, -1:]], axis=1)
        last = begin + block == symbols.shape[1]  # the text's last token is said again, too
        text[last, -1] = symbols[last, -1 - distance[last]]
        mask = asked(np.arange(symbols.shape[1]), begin[:, None], block[:, None], distance[:, None])
        return tokens, np.where(mask, text, IGNORED)[:, slice(shift, None if shift else -1)]

    return wrong


def _earlier(symbols: Array, begin: Array, block: Array, distance: Array) -> tuple[Array, Array]:
    """The first saying made like the second, which stays as it was."""
    place, first = np.arange(symbols.shape[1]), (begin - distance)[:, None]
    text = np.where((place >= first) & (place < first + block[:, None]), _moved(symbols, distance), symbols)
    asked = (place >= begin[:, None] + CUE) & (place < (begin + block)[:, None])
    return text[:, :-1], np.where(asked, text, IGNORED)[:, 1:]


def _all_like_first(symbols: Array, *where: Array) -> tuple[Array, Array]:
    begin, block, distance = (np.broadcast_to(each[:1], each.shape) for each in where)
    return _lesson(symbols, begin, block, distance)


def _of_old_text(symbols: Array, begin: Array, block: Array, distance: Array) -> tuple[Array, Array]:
    tokens, targets = _lesson(symbols, begin, block, distance)
    return tokens, np.where(targets == IGNORED, targets, symbols[:, 1:])


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
    mistakes=(
        Mistake(say("q1.not_the_next"), _asking(lambda at, b, n, d: (at >= b + CUE) & (at < b + n), shift=0), of=1),
        Mistake(say("q1.all_asked"), _asking(lambda at, b, n, d: at >= 0), of=1),
        Mistake(say("q1.cue_asked"), partial(_lesson, cue=0), of=1),
        Mistake(say("q1.one_cue"), partial(_lesson, cue=CUE - 1), of=1),
        Mistake(say("q1.one_too_late"), partial(_lesson, cue=CUE + 1), of=1),
        Mistake(
            say("q1.both_asked"),
            _asking(
                lambda at, b, n, d: ((at >= b + CUE) & (at < b + n)) | ((at >= b - d + CUE) & (at < b - d + n)),
            ),
            of=1,
        ),
        Mistake(
            say("q1.first_asked"),
            _asking(lambda at, b, n, d: (at >= b - d + CUE) & (at < b - d + n)),
            of=1,
        ),
        Mistake(say("q1.rest_asked"), _asking(lambda at, b, n, d: at >= b + CUE), of=1),
        Mistake(say("q1.one_after"), _asking(lambda at, b, n, d: (at >= b + CUE) & (at <= b + n)), of=1),
        Mistake(say("q1.asked_not_moved"), _asking(lambda at, b, n, d: (at > b + CUE) & (at <= b + n)), of=1),
        Mistake(say("q1.wrong_mark"), partial(_lesson, ignored=0), of=1),
        Mistake(say("q1.wrong_mark"), partial(_lesson, ignored=-1), of=1),
        Mistake(say("q1.of_old_text"), _of_old_text, of=1),
        Mistake(say("q1.not_said_again"), lambda symbols, *where: (symbols[:, :-1], symbols[:, 1:]), of=0),
        Mistake(say("q1.all_like_first"), _all_like_first),
        Mistake(say("q1.gap_for_distance"), lambda s, b, n, d: _lesson(s, b, n, d + n)),
        Mistake(say("q1.first_made_like_second"), _earlier),
        Mistake(say("q1.block_too_long"), partial(_lesson, longer=1)),
        Mistake(say("q1.block_too_short"), partial(_lesson, longer=-1)),
    ),
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


def _rms(x: Array, gain: Array) -> Any:
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True)) * gain


_erf = np.vectorize(math.erf)


def _gelu(x: Array) -> Any:
    return x * (1 + _erf(x / 2**0.5)) / 2


def _tanh_gelu(x: Array) -> Any:
    return x * (1 + np.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3))) / 2


def _three(x: Array, n_heads: int) -> Any:
    """Queries, keys and values, (batch, heads, length, head_dim) each."""
    return x.reshape(*x.shape[:2], 3, n_heads, -1).transpose(2, 0, 3, 1, 4)


def _heads_first(x: Array, n_heads: int) -> Any:
    return x.reshape(*x.shape[:2], n_heads, 3, -1).transpose(3, 0, 2, 1, 4)


def _heads_last(x: Array, n_heads: int) -> Any:
    return x.reshape(*x.shape[:2], 3, -1, n_heads).transpose(2, 0, 4, 1, 3)


def _joined(x: Array) -> Array:
    return x.swapaxes(1, 2).reshape(len(x), x.shape[2], -1)


_RIGHT = _by_hand()


def _forward(
    attend: Callable[..., Array] = _RIGHT,
    split: Callable[[Array, int], Any] = _three,
    join: Callable[[Array], Array] = _joined,
    norm: Callable[[Array, Array], Array] = _rms,
    last_norm: Callable[[Array, Array], Array] = _rms,
    bend: Callable[[Array], Array] = _gelu,
    kept: tuple[float, float] = (1.0, 1.0),
    out: bool = True,
    beside: bool = False,
    after: bool = False,
    head: str = "head.weight",
    speeds: Callable[[int, float], Array] = _speeds,
    layers: Callable[[int], Any] = range,
) -> Callable[..., Answer]:
    """The model, made wrong by what is given."""

    def wrong(weights: Weights, n_heads: int, base: float, trained: int, tokens: Array) -> Answer:
        x = weights["embedding.weight"][tokens]
        inv_freq = speeds(x.shape[-1] // n_heads, base)
        for number in layers(_layers(weights)):
            own = {
                name: weights[f"layers.{number}.{name}.weight"]
                for name in ("attention_norm", "qkv", "out", "mlp_norm", "mlp.0", "mlp.2")
            }
            seen = x if after else norm(x, own["attention_norm"])
            q, k, v = split(seen @ own["qkv"].T, n_heads)
            mixed = join(attend(q, k, v, inv_freq, 1.0))
            before = x
            x = kept[0] * x + (mixed @ own["out"].T if out else mixed)
            if after:
                x = norm(x, own["attention_norm"])
            seen = x if after else norm(before if beside else x, own["mlp_norm"])
            x = kept[1] * x + bend(seen @ own["mlp.0"].T) @ own["mlp.2"].T
            if after:
                x = norm(x, own["mlp_norm"])
        return last_norm(x, weights["norm.weight"]) @ weights[head].T, inv_freq, 1.0

    return wrong


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


def _layer_norm(x: Array, gain: Array) -> Any:
    return _rms(x - x.mean(axis=-1, keepdims=True), gain)


def _without_gain(x: Array, gain: Array) -> Any:
    return _rms(x, np.ones_like(gain))


def _untouched(x: Array, gain: Array) -> Array:
    return x


def _whole_length(x: Array, gain: Array) -> Any:
    return x / np.linalg.norm(x, axis=-1, keepdims=True) * gain


def _wide(dim: int, base: float) -> Array:
    """Speeds with one more pair than steps, so that the slowest is 1/base."""
    return np.asarray(float(base) ** (-np.arange(dim // 2) / max(dim // 2 - 1, 1)))


def _read(method: Method, scale: Callable[[float], float]) -> Callable[..., Any]:
    """A method's speeds and attention factor, with the s that is made of the length over the trained one."""

    def wrong(weights: Weights, n_heads: int, base: float, trained: int, tokens: Array) -> Any:
        dim, told = weights["embedding.weight"].shape[1] // n_heads, scale(tokens.shape[1] / trained)
        return (0.0, *method(dim, base, trained, told))  # its logits do not count

    return wrong


def _swapped(*told: Any) -> Any:
    logits, speeds, factor = _model(*told)
    return logits, factor, speeds


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
    mistakes=(
        *(Mistake(say("q4.later_words_seen"), _forward(_by_hand(future=0.0, filled=f)), of=0) for f in (False, True)),
        Mistake(say("q4.nothing_turned"), _forward(_by_hand(speeds=(0.0, 0.0))), of=0),
        Mistake(say("q4.layout_of_halves"), _forward(_by_hand(rotary.rotate)), of=0),
        Mistake(say("q4.scores_not_scaled"), _forward(_by_hand(scale=lambda q: 1.0)), of=0),
        Mistake(say("q4.heads_first"), _forward(split=_heads_first), of=0),
        Mistake(say("q4.heads_last"), _forward(split=_heads_last), of=0),
        Mistake(say("q4.parts_in_order"), _forward(split=lambda x, n: _three(x, n)[[1, 0, 2]]), of=0),
        Mistake(say("q4.heads_not_joined"), _forward(join=lambda x: x.reshape(len(x), x.shape[2], -1)), of=0),
        Mistake(say("q4.out_missing"), _forward(out=False), of=0),
        Mistake(say("q4.stream_lost"), _forward(kept=(0.0, 1.0)), of=0),
        Mistake(say("q4.stream_lost"), _forward(kept=(1.0, 0.0)), of=0),
        Mistake(say("q4.stream_lost"), _forward(kept=(0.0, 0.0)), of=0),
        Mistake(say("q4.norm_last"), _forward(after=True), of=0),
        Mistake(say("q4.beside"), _forward(beside=True), of=0),
        Mistake(say("q4.mean_taken_off"), _forward(norm=_layer_norm, last_norm=_layer_norm), of=0),
        Mistake(say("q4.gain_missing"), _forward(norm=_without_gain, last_norm=_without_gain), of=0),
        Mistake(say("q4.norm_missing"), _forward(norm=_untouched, last_norm=_untouched), of=0),
        Mistake(say("q4.whole_length"), _forward(norm=_whole_length, last_norm=_whole_length), of=0),
        Mistake(say("q4.last_norm_missing"), _forward(last_norm=_untouched), of=0),
        Mistake(say("q4.not_gelu"), _forward(bend=lambda x: np.maximum(x, 0)), of=0),
        Mistake(say("q4.not_gelu"), _forward(bend=lambda x: x / (1 + np.exp(-x))), of=0),
        Mistake(say("q4.tanh_gelu"), _forward(bend=_tanh_gelu), of=0),
        Mistake(say("q4.no_bend"), _forward(bend=lambda x: x), of=0),
        Mistake(say("q4.tied"), _forward(head="embedding.weight"), of=0),
        Mistake(say("q4.one_layer"), _forward(layers=lambda n: [0] * n), of=0),
        Mistake(say("q4.layers_backwards"), _forward(layers=lambda n: range(n)[::-1]), of=0),
        Mistake(say("q4.slowest_pair"), _forward(speeds=_wide)),
        Mistake(say("q4.lacks_two"), _forward(speeds=partial(_speeds, step=1.0))),
        Mistake(say("q4.swapped"), _swapped),
        *(
            Mistake(say("q4.short_not_as_trained"), _read(METHODS[name], scale), of=of)
            for scale in (lambda s: s, lambda s: 4.0)
            for name, of in (("linear", 1), ("ntk", 1), ("parts", 1), ("temperature", 2))
        ),
    ),
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
