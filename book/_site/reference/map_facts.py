"""Costs, extrapolation and scalings on the map, from the package and the small models' results; it needs torch."""

from __future__ import annotations

import functools
import inspect
import math
import tomllib
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from book._site.words import file, words
from posenc import configs, scaling
from posenc.lab import results
from posenc.schemes import SCHEMES, PositionScheme

WORDS = tomllib.loads(file("reference/map.toml").read_text(encoding="utf-8"))
SAYS = words("reference")["map"]
MEASURES = SAYS["measures"]
# the model that costs are counted on
SHAPE = {"dim": 768, "n_heads": 12, "head_dim": 64, "length": 1024, "max_positions": 1024}
SHOWN = (1, 2, 4, 16)  # of the measured lengths, in trained lengths


# ---- what a scheme costs --------------------------------------------------------------------------------------------


def make(name: str) -> PositionScheme:
    """A scheme with the arguments that it must have."""
    kind = SCHEMES[name]
    if kind.__init__ is PositionScheme.__init__:
        return kind()
    needed = {key for key, one in inspect.signature(kind).parameters.items() if one.default is one.empty}
    return kind(**{key: SHAPE[key] for key in needed})


class Operations(TorchDispatchMode):
    """Counts the numbers that are written, and for a product of matrices its multiplications and additions."""

    total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if count := flop_registry.get(func.overloadpacket):
            self.total += count(*args, **(kwargs or {}), out_val=out)
        elif not func.is_view:
            self.total += sum(one.numel() for one in tree_leaves(out) if torch.is_tensor(one))
        return out


class Cost(NamedTuple):
    """Parameters, work in one layer in parts of the two products of attention, and the bias in bytes."""

    parameters: int
    share: float
    bias: int
    by_content: bool


@functools.cache
def _traced(name: str) -> tuple[int, torch.Tensor | None]:
    """The operations of a scheme in one layer, its checks of what it is given included, and its bias."""
    scheme, length = make(name), SHAPE["length"]
    positions, x = torch.arange(length), torch.zeros(1, length, SHAPE["dim"])
    q = torch.zeros(1, SHAPE["n_heads"], length, SHAPE["head_dim"])
    with torch.no_grad(), Operations() as operations:
        scheme.embed(x, positions)
        scheme.rotate(q, q, positions)
        bias = scheme.bias(q, q, positions)
        return operations.total + (0 if bias is None else q.shape[1] * length**2), bias  # it is added to the logits


def cost(name: str) -> Cost:
    """What a scheme costs, counted on the package."""
    total, bias = _traced(name)
    return Cost(
        parameters=sum(parameter.numel() for parameter in make(name).parameters()),
        share=(total - _traced("none")[0]) / (4 * SHAPE["length"] ** 2 * SHAPE["dim"]),
        bias=0 if bias is None else bias.numel() * bias.element_size(),
        by_content=bias is not None and bias.ndim == 4,
    )


# ---- how far it extrapolates ----------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """Mean, minimum and maximum over seeds; `lost` is the deficit compared with 1×, between 0 and 1."""

    mean: float
    minimum: float
    maximum: float
    lost: float


@functools.cache
def measured() -> dict[tuple[str, str, str], dict[int, list[float]]]:
    """Of each measure, model and scaling, the values of all seeds at each length, in trained lengths.

    A scaling's factor is the length, or 4 at every length with `_by_4` after its name.
    """
    plain = results().select(kind="plain", causal=True)
    trained: dict[str, int] = {}
    for one in plain:
        trained[one["run"]] = min(one["length"], trained.get(one["run"], one["length"]))
    values: dict[tuple[str, str, str], dict[int, list[float]]] = {}
    for one in plain + results().select(kind="scaling", profile="full", causal=True):
        if one["probe"] not in MEASURES or (one["kind"] == "scaling" and one["scaling"] == "default"):
            continue
        times = one["length"] // trained[one["run"]]
        by = f"_by_{one['factor']:g}" if one.get("factor", times) != times else ""
        key = [one["profile"] if one["profile"] == "quick" else "", one["scheme"], one.get("past_end", "")]
        of = one["probe"], "_".join(filter(None, key)), one.get("scaling", "default") + by
        values.setdefault(of, {}).setdefault(times, []).append(one["loss" if one["probe"] == "text" else "accuracy"])
    return values


def reach(key: str, scaling: str = "default", at_first: str = "default") -> tuple[str, dict[str, list[Cell | None]]]:
    """The label of a measured model, and its cells by measure; at 1× with the scaling `at_first`."""
    rows: dict[str, list[Cell | None]] = {}
    for measure, name in MEASURES.items():
        start = _mean(measured()[measure, key, "default"][1])
        rows[name] = []
        for time in SHOWN:
            values = measured().get((measure, key, at_first if time == 1 else scaling), {}).get(time)
            if values is None:
                rows[name].append(None)
                continue
            mean = _mean(values)
            lost = (mean - start) / 2 if measure == "text" else start - mean
            rows[name].append(Cell(mean, min(values), max(values), min(1.0, max(0.0, lost))))
    return SAYS["measured_models"][key], rows


def scaling_reach(name: str) -> list[tuple[str, dict[str, list[Cell | None]]]]:
    """What was measured of a scaling on both RoPE models; at the trained length with a factor of 4."""
    at_first = "default" if name in ("default", "dynamic_ntk") else f"{name}_by_4"
    return [reach(key, name, at_first) for key in ("rope_100", "rope_10000") if ("text", key, name) in measured()]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


# ---- what a scaling does to the pairs -------------------------------------------------------------------------------


class Pairs(NamedTuple):
    """The divisor of each pair's frequency (inf for an unrotated pair), and the attention factor."""

    divisors: list[float]
    attention_factor: float

    @property
    def words(self) -> str:
        """What happens to fast and slow pairs."""
        fastest, slowest = (
            SAYS["unrotated"] if one == math.inf else f"÷{one:.3g}" for one in (self.divisors[0], self.divisors[-1])
        )
        unchanged, still = sum(abs(one - 1) < 1e-9 for one in self.divisors), self.divisors.count(math.inf)
        facts = {"fastest": fastest, "slowest": slowest, "unchanged": unchanged, "count": len(self.divisors)}
        summary: str = SAYS["change"].format_map(facts)
        return summary + (SAYS["off"].format(count=still) if still else "")

    @property
    def dots(self) -> list[tuple[float, float]]:
        """A dot for each pair at the height of its divisor, between 0 and 1; above 1 it is unrotated."""
        top = math.log(max(4.0, *(times for times in self.divisors if times < math.inf)))
        heights = [1.15 if times == math.inf else math.log(times) / top for times in self.divisors]
        return [(pair / (len(heights) - 1), height) for pair, height in enumerate(heights)]


def pairs(name: str) -> Pairs:
    """The example of a scaling: Llama 2's frequencies, or those of the model that it was made for."""
    texts = WORDS["scalings"][name]
    if "model" in texts:
        model = configs.model(texts["model"])
        found, plain = configs.scaled(model, model.max_position_embeddings), configs.unscaled(model)
    else:
        found, plain = getattr(scaling, name)(128, **texts.get("example", {})), scaling.default(128)
    divisors = [float(a / b) if b else math.inf for a, b in zip(plain.inv_freq, found.inv_freq, strict=True)]
    return Pairs(divisors, float(found.attention_factor))


def who() -> dict[str, list[str]]:
    """The models of `posenc.configs` by their scaling."""
    by_scaling: dict[str, list[str]] = {}
    for name, config in configs.MODELS.items():
        rope = config.rope.get("rope_parameters") or config.rope.get("rope_scaling") or {}
        kind = rope.get("rope_type") or rope.get("type") or "default"
        by_scaling.setdefault({"dynamic": "dynamic_ntk", "su": "longrope"}.get(kind, kind), []).append(name)
    return by_scaling
