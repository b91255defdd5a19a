"""What the map says of a scheme or scaling: its words, what it costs, how far it reaches, what it does to the pairs.

Words and formulas stand in map.toml. Doors, costs and reach are taken from the package and the laboratory's results.
"""

from __future__ import annotations

import functools
import inspect
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Words(NamedTuple):
    """What no computation knows of a scheme or scaling."""

    label: str
    says: str  # MyST, one or two sentences
    formula: str  # TeX
    chapter: str
    features: str = ""  # the function of `posenc.bias` that does the same with longer queries and keys, and no bias


class Door(NamedTuple):
    """Where position enters attention."""

    anchor: str  # on the page
    station: str  # what happens there
    title: str
    enters: str  # HTML


_WORDS = tomllib.loads(Path(__file__).with_name("map.toml").read_text(encoding="utf-8"))
SCHEMES = {name: Words(**words) for name, words in _WORDS["schemes"].items()}
SCALINGS = {name: Words(**words) for name, words in _WORDS["scalings"].items()}
DOORS = {name: Door(**words) for name, words in _WORDS["doors"].items()}  # by the package's names
MEASURES = {"text": "loss", "copy": "copy near", "copy_half": "copy far"}
SHOWN = (1, 2, 4, 16)  # of the lengths that the laboratory measures, in trained lengths
NARROW = "\u202f"


def grouped(number: float) -> str:
    """A whole number, its thousands parted by narrow spaces."""
    return f"{number:,.0f}".replace(",", NARROW)


# ---- what a scheme costs --------------------------------------------------------------------------------------------


class Shape(NamedTuple):
    """The model that costs are counted on."""

    width: int = 768
    heads: int = 12
    head_dim: int = 64
    length: int = 1024


SHAPE = Shape()


class Cost(NamedTuple):
    """What a scheme asks of a model of one shape.

    `work` is in operations for a token in one layer, `share` is that in parts of what the two products of attention
    take, `bias` is in bytes for a layer; `fused` says that there is no bias.
    """

    causal: bool | None
    parameters: int
    work: float
    share: float
    grows: bool
    bias: int
    for_each_sequence: bool

    @property
    def fused(self) -> bool:
        return self.bias == 0


def make(name: str, shape: Shape = SHAPE, **arguments: Any) -> Any:
    """A scheme by its name, with the arguments that it must have and some more, for a model of a shape."""
    from posenc.schemes import SCHEMES as classes
    from posenc.schemes import PositionScheme

    kind = classes[name]
    known = {
        "dim": shape.width,
        "n_heads": shape.heads,
        "head_dim": shape.head_dim,
        "length": shape.length,
        "max_positions": shape.length,
    }
    if kind.__init__ is PositionScheme.__init__:
        return kind()
    parameters = inspect.signature(kind).parameters
    needed = {key: known[key] for key, one in parameters.items() if one.default is one.empty}
    return kind(**needed, **({"seed": 0} if "seed" in parameters else {}), **arguments)


def _operations(call: Any) -> tuple[float, Any]:
    """Numbers that a call writes, for a product of matrices its multiplications and additions instead; its answer."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves
    from torch.utils.flop_counter import flop_registry

    class Counter(TorchDispatchMode):
        total = 0.0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            if func.overloadpacket in flop_registry:
                self.total += flop_registry[func.overloadpacket](*args, **(kwargs or {}), out_val=out)
                return out
            given = {one.untyped_storage()._cdata for one in tree_leaves((args, kwargs)) if torch.is_tensor(one)}
            for one in tree_leaves(out):
                view = torch.is_tensor(one) and one.untyped_storage()._cdata in given
                if torch.is_tensor(one) and (not view or func._schema.is_mutable):
                    self.total += one.numel() * (2 if one.is_complex() else 1)
            return out

    with Counter() as counter, torch.no_grad():
        made = call()
    return counter.total, made


def _work(name: str, length: int) -> tuple[float, Any]:
    """Operations for a token in one layer, and the bias that they make."""
    import torch

    scheme, positions = make(name, SHAPE._replace(length=length)), torch.arange(length)
    x = torch.zeros(1, length, SHAPE.width)
    q = torch.zeros(1, SHAPE.heads, length, SHAPE.head_dim)
    embedding, _ = _operations(lambda: scheme.embed(x, positions))
    turning, _ = _operations(lambda: scheme.rotate(q, q, positions))
    biasing, bias = _operations(lambda: scheme.bias(q, q, positions))
    adding = 0 if bias is None else SHAPE.heads * length * length
    nothing, _ = _operations(lambda: [_neutral(f, scheme, x, q, positions) for f in ("embed", "rotate", "bias")])
    return (embedding + turning + biasing + adding - nothing) / length, bias


def _neutral(function: str, scheme: Any, x: Any, q: Any, positions: Any) -> Any:
    """What a scheme that changes nothing does all the same: looks at its arguments."""
    from posenc.schemes import NoPosition

    return getattr(NoPosition(), function)(*((x,) if function == "embed" else (q, q)), positions)


@functools.cache
def cost(name: str) -> Cost:
    """What a scheme costs, measured on the package."""
    import torch

    work, bias = _work(name, SHAPE.length)
    grows = bias is not None or work > 1.5 * _work(name, SHAPE.length // 2)[0]  # a bias has an entry for every key
    two = torch.zeros(2, SHAPE.heads, 4, SHAPE.head_dim)
    of_two = make(name).bias(two, two, torch.arange(4))
    scheme = make(name)
    return Cost(
        causal=scheme.causal if "causal" not in inspect.signature(type(scheme)).parameters else None,
        parameters=sum(parameter.numel() for parameter in scheme.parameters()),
        work=work,
        share=work / (4 * SHAPE.length * SHAPE.width),
        grows=grows,
        bias=0 if bias is None else bias.numel() * bias.element_size(),
        for_each_sequence=of_two is not None and of_two.ndim == 4,
    )


@functools.cache
def sides_alike(name: str) -> bool:
    """Whether a scheme gives a text and its mirror image the same scores, where no mask hides what comes later."""
    import torch

    from posenc.schemes import SCHEMES as classes

    shape = Shape(width=16, heads=2, head_dim=8, length=12)
    encoder = {"causal": False} if "causal" in inspect.signature(classes[name]).parameters else {}
    scheme, draw = make(name, shape, **encoder), torch.Generator().manual_seed(0)
    text = torch.randn(1, shape.length, shape.width, generator=draw)
    projections = torch.randn(2, shape.width, shape.width, generator=draw)

    def scores(x: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(shape.length)
        x = scheme.embed(x, positions)
        q, k = ((x @ one).unflatten(-1, (shape.heads, -1)).transpose(1, 2) for one in projections)
        turned_q, turned_k = scheme.rotate(q, k, positions)
        bias = scheme.bias(q, k, positions)
        return turned_q @ turned_k.mT + (0 if bias is None else bias)

    with torch.no_grad():
        for parameter in scheme.parameters():  # some begin at zero, and would say nothing of either side
            parameter.copy_(0.5 + torch.rand(parameter.shape, generator=draw))
        return torch.allclose(scores(text), scores(text.flip(1)).flip(2, 3), atol=1e-4)


def extra_dimensions(function: str) -> int:
    """How many dimensions a function of `posenc.bias` appends to queries and keys in place of a bias."""
    import torch

    from posenc import bias

    positions = torch.arange(4.0)
    if function == "alibi_rank_two":
        return int(
            bias.alibi_rank_two(positions, positions, bias.alibi_slopes(SHAPE.heads, like=positions))[0].shape[-1]
        )
    return int(getattr(bias, function)(positions, SHAPE.heads, make("sandwich").dim).shape[-1])


# ---- how far it reaches ---------------------------------------------------------------------------------------------


class Reach(NamedTuple):
    """What the laboratory measured of one scheme: by measure and length, the values of the seeds, or None."""

    label: str
    trained: int
    seeds: int
    rows: dict[str, list[list[float] | None]]
    start: dict[str, list[float]]  # by measure, the values of the model as trained, at the trained length
    holds: int  # the longest text, in trained lengths, at which the loss has risen by no more than RISE nats

    @property
    def learned_to_copy(self) -> bool:
        return average(self.start["copy"]) >= 0.5


RISE = 0.1


def average(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _explorable() -> Any:
    from posenc.widgets import extrapolation

    return extrapolation


def _columns(entry: Mapping[str, Any], scaling: str, at_first: str) -> list[list[float] | None]:
    """The seeds' values at the lengths that are shown; the first by another scaling."""
    times, columns = _explorable().TIMES, []
    for time in SHOWN:
        rows = entry["by_length"].get(at_first if time == 1 else scaling)
        column = None if rows is None else [row[times.index(time)] for row in rows]
        columns.append(None if column is None or None in column else column)
    return columns


def _reach(key: str, scaling: str = "default", at_first: str = "default") -> Reach:
    measured = _explorable().Extrapolation.data()["measured"]
    label = _explorable().Extrapolation.catalogue["names"]["schemes"][key]
    text = measured["text"][key]
    rows = {measure: _columns(measured[measure][key], scaling, at_first) for measure in MEASURES}
    start = {measure: [row[0] for row in measured[measure][key]["by_length"]["default"]] for measure in MEASURES}
    holds = 0
    for index, time in enumerate(_explorable().TIMES):
        values = [row[index] for row in text["by_length"][scaling if time > 1 else "default"]]
        if None in values or average(values) > average(start["text"]) + RISE:
            break
        holds = time
    return Reach(label, text["trained"], len(text["seeds"]), rows, start, holds)


def scheme_of(key: str) -> tuple[str, str]:
    """The size of the model and the name in `posenc.schemes` of what the results measure under a key."""
    from posenc.lab.runs import Run

    profile, name = ("quick", key.removeprefix("quick_")) if key.startswith("quick_") else ("full", key)
    for past_end in ("_clamp", "_interpolate"):
        name = name.removesuffix(past_end)
    return profile, Run(profile, "text", name, 0).scheme_options[0]


@functools.cache
def reach(name: str) -> tuple[Reach, ...]:
    """What was measured of a scheme: on the large model, or where it was not trained there on the small one."""
    keys = [key for key in _explorable().Extrapolation.data()["measured"]["text"] if scheme_of(key)[1] == name]
    large = [key for key in keys if scheme_of(key)[0] == "full"]
    return tuple(_reach(key) for key in large or keys)


@functools.cache
def scaling_reach(name: str) -> tuple[Reach, ...]:
    """What was measured of a scaling on both rotary models; at the trained length scaled by 4 all the same."""
    explorable, found = _explorable(), []
    measured = explorable.Extrapolation.data()["measured"]["text"]
    for key in explorable.SCALED:
        there = measured[key]["by_length"]
        if name in there:
            fixed = f"{name}_by_4" if name not in ("default", "dynamic_ntk") else "default"
            found.append(_reach(key, name, fixed))
    return tuple(found)


# ---- what a scaling does to the pairs -------------------------------------------------------------------------------

FACTOR = 4  # of the example
STILL = 0.25  # the share of pairs that turn in the example of `proportional`


class Pairs(NamedTuple):
    """How many times more slowly each pair turns (inf where it stands still), and the attention factor."""

    slower: tuple[float, ...]
    attention_factor: float
    example: str


@functools.cache
def pairs(name: str) -> Pairs:
    """The example of a scaling: Llama 2's frequencies and four times its text, or the model that it was made for."""
    from posenc import configs, scaling

    example = {"longrope": "Phi-3-mini-128k-instruct", "llama3": "Llama-3.1-8B"}.get(name, "Llama-2-7b-hf")
    model = configs.model(example)
    if example != "Llama-2-7b-hf":
        found, plain = configs.scaled(model, model.max_position_embeddings), configs.unscaled(model)
        context = f"{example}, {grouped(model.max_position_embeddings)} tokens"
    else:
        length, plain = model.original_max_position_embeddings, configs.unscaled(model)
        settings = {
            "factor": FACTOR,
            "original_max_position_embeddings": length,
            "seq_len": FACTOR * length,
            "partial_rotary_factor": STILL,
        }
        function = getattr(scaling, name)
        accepted = inspect.signature(function).parameters
        if name in ("dynamic_ntk", "proportional"):
            del settings["factor"]
        chosen = {key: value for key, value in settings.items() if key in accepted}
        found = function(model.head_dim, model.rope["rope_theta"], **chosen)
        context = f"{example}, {grouped(length if name in ('default', 'proportional') else FACTOR * length)} tokens"
    slower = tuple(float(a / b) if b else float("inf") for a, b in zip(plain.inv_freq, found.inv_freq, strict=True))
    return Pairs(slower, float(found.attention_factor), context)


def who() -> dict[str, list[str]]:
    """The models of `posenc.configs` by what scales them."""
    from posenc import configs

    by_scaling: dict[str, list[str]] = {}
    for name, config in configs.MODELS.items():
        rope = config.rope.get("rope_parameters") or config.rope.get("rope_scaling") or {}
        kind = rope.get("rope_type") or rope.get("type") or "default"
        kind = {"dynamic": "dynamic_ntk", "su": "longrope"}.get(kind, kind)
        by_scaling.setdefault(kind, []).append(name)
    return by_scaling
