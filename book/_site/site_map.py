"""The map: the MyST directive `map`, which puts every scheme of `posenc.schemes` and `posenc.scaling` on one page.

Words and formulas stand in map.toml. Doors, costs and reach are taken from the package and the laboratory's results
while the page is built, and a scheme that has no words there stops the build.
"""

from __future__ import annotations

import functools
import inspect
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from docutils.statemachine import StringList
from site_assets import FOLDER, HERE, _copy
from site_directives import ROOT, evidence_module
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


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


_WORDS = tomllib.loads((HERE / "map.toml").read_text(encoding="utf-8"))
SCHEMES = {name: Words(**words) for name, words in _WORDS["schemes"].items()}
SCALINGS = {name: Words(**words) for name, words in _WORDS["scalings"].items()}
DOORS = {name: Door(**words) for name, words in _WORDS["doors"].items()}  # by the package's names
MEASURES = {"text": "loss", "copy": "copy near", "copy_half": "copy far"}
SHOWN = (1, 2, 4, 16)  # of the lengths that the laboratory measures, in trained lengths
NARROW = "\u202f"
CARDS = "book/the_map"  # the page that has them; another page of book/ may show the diagram


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
        return _mean(self.start["copy"]) >= 0.5


RISE = 0.1


def _mean(values: Sequence[float]) -> float:
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
        if None in values or _mean(values) > _mean(start["text"]) + RISE:
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
        context = f"{example}, {_count(model.max_position_embeddings)} tokens"
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
        context = f"{example}, {_count(length if name in ('default', 'proportional') else FACTOR * length)} tokens"
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


# ---- numbers and small drawings -------------------------------------------------------------------------------------


def _count(number: float) -> str:
    return f"{number:,.0f}".replace(",", NARROW)


def _about(number: float) -> str:
    """A number to two digits, in words where it is large."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.2g}{NARROW}{unit}" if number < 100 * size else f"{number / size:.0f}{NARROW}{unit}"
    return f"{number:.0f}"


def _times(number: float) -> str:
    return "stands still" if number == float("inf") else f"×{number:.3g}"


def _door_drawing(door: str) -> str:
    """An open door, or the triangle of a mask with a drop below it."""
    if door != "none":
        return (
            '<svg class="map-drawing" viewBox="0 0 64 56" aria-hidden="true" focusable="false">'
            '<path class="map-frame" d="M20 53V5h26v48M8 53h52"/>'
            '<path class="map-leaf" d="M20 5l17 7v44l-17-3z"/><circle class="map-knob" cx="33" cy="33" r="1.6"/>'
            '<path class="map-arrow" d="M64 30H45m6-5-6 5 6 5"/></svg>'
        )
    size, cells = 8, []
    for row in range(5):
        for column in range(5):
            css = "map-seen" if column <= row else "map-unseen"
            cells.append(
                f'<rect class="{css}" x="{10 + 9 * column}" y="{1 + 9 * row}" width="{size}" height="{size}"/>'
            )
    drop = '<path class="map-drop" d="M14 47c3 3.6 4 4.6 4 6a4 4 0 0 1-8 0c0-1.4 1-2.4 4-6z"/>'
    head = '<svg class="map-drawing" viewBox="0 0 64 58" aria-hidden="true" focusable="false">'
    return f"{head}{''.join(cells)}{drop}</svg>"


def _doors(page: str) -> str:
    """The diagram: the way of a token through attention, and at each door the schemes, whose cards are on `page`."""
    from posenc.schemes import SCHEMES as classes

    stations = []
    for door, (anchor, station, title, enters) in DOORS.items():
        chips = "".join(
            f'<li><a href="{page}#{_anchor(name)}">{escape(SCHEMES[name].label)}</a></li>'
            for name in _ordered(classes)
            if classes[name].door == door
        )
        stations.append(
            f'<li class="map-door map-{anchor}"><p class="map-station">{station}</p>{_door_drawing(door)}'
            f'<p class="map-name"><a href="{page}#{anchor}">{title}</a></p>'
            f'<p class="map-enters">{enters}</p><ul class="map-chips">{chips}</ul></li>'
        )
    return (
        '<figure class="map-doors" aria-labelledby="map-caption"><ol>' + "".join(stations) + "</ol>"
        '<figcaption id="map-caption">The way of a word through attention, and the three doors by which its position '
        "can come in: at the input, at the query and key, at the logits. With all three shut, the causal mask still "
        "leaks it. Each name leads to its card.</figcaption></figure>"
    )


def _ordered(names: Iterable[str]) -> list[str]:
    """Names in the order in which this page tells them; one that it does not know stops the build."""
    names, order = list(names), list(SCHEMES)
    unknown = set(names) ^ set(order)
    if unknown:
        raise ValueError(f"site_map must have words for the schemes of posenc.schemes and no others: {sorted(unknown)}")
    return sorted(names, key=order.index)


def _anchor(name: str) -> str:
    return nodes.make_id(name)


def _cell(values: list[float] | None, start: list[float], worse: int) -> str:
    """Mean and range over the seeds, shaded by how much is lost against the start."""
    if values is None:
        return '<td class="map-blank">not measured</td>'
    mean = _mean(values)
    lost = max(0.0, worse * (mean - _mean(start))) / (2 if worse > 0 else 1)
    spread = f"<small>{min(values):.2f}–{max(values):.2f}</small>"
    spread += f'<span class="map-paper">±{(max(values) - min(values)) / 2:.2f}</span>'
    return f'<td style="--lost:{min(1.0, lost):.2f}">{mean:.2f}{spread}</td>'


def _reach_table(found: Sequence[Reach], first: str, caption: str) -> str:
    heads = "".join(f'<th scope="col">{first if time == 1 else f"{time}×"}</th>' for time in SHOWN)
    bodies = []
    for one in found:
        rows = []
        for measure, words in MEASURES.items():
            columns = one.rows[measure]
            if not any(columns):
                rows.append(f'<tr><th scope="row">{words}</th><td class="map-blank" colspan="4">not measured</td></tr>')
                continue
            cells = "".join(_cell(column, one.start[measure], 1 if measure == "text" else -1) for column in columns)
            rows.append(f'<tr><th scope="row">{words}</th>{cells}</tr>')
        told = one.label + (f": loss holds to {one.holds}×" if one.holds > 1 else ": loss rises past 1×")
        told += "" if one.learned_to_copy else "; hardly learned to copy"
        head = f'<tr class="map-run"><th scope="rowgroup" colspan="5">{escape(told)}</th></tr>'
        bodies.append(f"<tbody>{head}{''.join(rows)}</tbody>")
    return (
        f'<table class="map-reach"><caption>{escape(caption)}</caption><thead><tr><th scope="col">text of</th>{heads}'
        f"</tr></thead>{''.join(bodies)}</table>"
    )


def _terms(rows: Mapping[str, str]) -> str:
    return (
        '<dl class="map-cost">'
        + "".join(f"<div><dt>{key}</dt><dd>{value}</dd></div>" for key, value in rows.items())
        + "</dl>"
    )


def cost_rows(name: str) -> dict[str, str]:
    """What a card says of a scheme's cost, by its headings."""
    from posenc.schemes import SCHEMES as classes

    found, once = cost(name), classes[name].door == "input"
    percent = 100 * found.share
    share = f"{percent:.2g}" if percent < 100 else _count(percent)
    growth = "once" if once else "growing" if found.grows else "any length"
    work = f"{share} % of attention<small>{_about(found.work)} a token, {growth}</small>"
    fused = "yes" if found.fused else "bias as its mask"
    if features := SCHEMES[name].features:
        name_of_it = features.replace("_", "_<wbr>")  # a long name breaks where its words end
        fused += f"<small>or {extra_dimensions(features)} more dimensions: <code>{name_of_it}</code></small>"
    whose = "for each sequence" if found.for_each_sequence else "for all sequences"
    models = "both" if found.causal is None else "decoders" if found.causal else "encoders"
    if found.causal is None and sides_alike(name):
        models += "<small>an encoder cannot tell a text from its mirror image</small>"
    return {
        "Parameters": _count(found.parameters) if found.parameters else "none",
        "Extra work": work if found.work else "none",
        "Bias in memory": f"{_count(found.bias / 2**20)} MiB a layer<small>{whose}</small>" if found.bias else "none",
        "Fused attention": fused,
        "Decoder, encoder": models,
    }


def _curve(name: str) -> str:
    """How many times more slowly each pair turns, from the fastest to the slowest, on a logarithmic scale."""
    import math

    from posenc.figures._drawing import pair_colours

    slower = pairs(name).slower
    width, height, top = 200, 52, max(4.0, *(s for s in slower if s != float("inf")))
    points, colours = [], pair_colours(len(slower))
    for index, (times, colour) in enumerate(zip(slower, colours, strict=True)):
        x = 4 + (width - 8) * index / (len(slower) - 1)
        if times == float("inf"):
            points.append(f'<path d="M{x:.1f} 5v5" stroke="{colour}"/>')
        else:
            y = height - 6 - (height - 12) * math.log(times) / math.log(top)
            points.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.7" fill="{colour}"/>')
    words = escape(f"{SCALINGS[name].label}: {slowing(name)}")
    return (
        f'<svg class="map-curve" viewBox="0 0 {width} {height}" role="img" aria-label="{words}">'
        f'<path class="map-axis" d="M2 {height - 6}H{width - 2}"/>{"".join(points)}</svg>'
    )


def slowing(name: str) -> str:
    """What happens to fast and slow pairs, in words."""
    slower = pairs(name).slower
    kept = sum(abs(times - 1) < 1e-9 for times in slower)
    still = slower.count(float("inf"))
    said = f"slower: fastest pair {_times(slower[0])}, slowest {_times(slower[-1])}"
    said += f"; {kept} of {len(slower)} as trained"
    return said + (f", {still} still" if still else "")


# ---- the directive --------------------------------------------------------------------------------------------------


class Map(SphinxDirective):
    """```{map} doors```, `reading`, `scalings`, or the name of a door: a part of the map."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The diagram, or the cards of a door or of the scalings."""
        for folder in ("src/posenc", "book/_site"):
            for path in sorted((ROOT / folder).rglob("*")):
                if path.suffix in {".py", ".json", ".toml"}:
                    self.env.note_dependency(str(path))
        part = self.arguments[0]
        if part == "doors":
            page = "" if self.env.docname == CARDS else "the_map.html"
            return [nodes.raw("", _doors(page), format="html")]
        if part == "reading":
            return self._parsed(reading())
        if part == "scalings":
            return [self._scaling_card(name) for name in _scalings()]
        from posenc.schemes import SCHEMES as classes

        if part not in DOORS:
            raise self.error(f"map must be one of doors, reading, scalings, {', '.join(DOORS)}, got {part}")
        return [self._scheme_card(name) for name in _ordered(classes) if classes[name].door == part]

    def _parsed(self, text: str) -> list[nodes.Node]:
        box = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), source=self.env.docname), self.content_offset, box)
        return box.children

    def _card(self, anchor: str, name: str, words: Words, css: str) -> nodes.section:
        card = nodes.section(ids=[anchor], names=[anchor], classes=["map-card", css])
        card += nodes.title("", words.label)
        self.state.document.note_explicit_target(card, card)
        says = nodes.container(classes=["map-says"])
        says += self._parsed(words.says)
        formula = nodes.paragraph("", "", nodes.math("", words.formula), classes=["map-formula"])
        return card.__iadd__([says, formula, self._foot(name, words)])

    def _foot(self, name: str, words: Words) -> nodes.paragraph:
        """The name in the package, and the chapter, linked once it is written."""
        foot = nodes.paragraph(classes=["map-foot"])
        foot += [nodes.literal("", name), nodes.Text(" · ")]
        evidence = evidence_module()
        page = next(evidence.NOTEBOOKS.glob(f"{words.chapter}_*.ipynb"), None)
        title = f"{words.chapter} {evidence.CHAPTERS[words.chapter]}"
        if page and f"notebooks/{page.stem}" in self.env.found_docs:
            up = "../" * self.env.docname.count("/")
            foot += nodes.reference("", title, refuri=f"{up}notebooks/{page.stem}.html")
        else:
            foot += nodes.Text(f"chapter {title}")
        return foot

    def _scheme_card(self, name: str) -> nodes.section:
        from posenc.schemes import SCHEMES as classes

        card = self._card(_anchor(name), name, SCHEMES[name], f"map-{DOORS[classes[name].door].anchor}")
        if name == "rope":
            models = [model for models in who().values() for model in models]
            card += self._who(
                f"All {len(models)} models of `posenc.configs`; the [scalings](#scalings-of-rope) say which."
            )
        card += nodes.raw("", _terms(cost_rows(name)), format="html")
        if found := reach(name):
            card += nodes.raw("", _reach_table(found, "1×", "Reach, measured"), format="html")
        else:
            card["classes"].append("map-bare")
            card += nodes.paragraph("", "Reach: not measured here.", classes=["map-unmeasured"])
        return card

    def _who(self, text: str) -> nodes.container:
        return nodes.container("", *self._parsed(text), classes=["map-who"])

    def _scaling_card(self, name: str) -> nodes.section:
        card = self._card(_anchor(f"scaling-{name}"), name, SCALINGS[name], "map-scaling")
        if models := who().get(name):
            card += self._who(", ".join(f"`{model}`" for model in models))
        found = pairs(name)
        rows = {
            "Pairs": f"{slowing(name)}{_curve(name)}<small>{escape(found.example)}</small>",
            "Attention factor": f"{found.attention_factor:.4g}",
        }
        card += nodes.raw("", _terms(rows), format="html")
        if measured := scaling_reach(name):
            first = "1×" if name in ("default", "dynamic_ntk") else f"1×, by {FACTOR}"
            card += nodes.raw("", _reach_table(measured, first, "Reach, measured"), format="html")
        else:
            card["classes"].append("map-bare")
            card += nodes.paragraph("", "Reach: not measured here.", classes=["map-unmeasured"])
        return card


def _scalings() -> tuple[str, ...]:
    from posenc.schemes import SCALINGS as known

    if set(known) != set(SCALINGS):
        raise ValueError(f"site_map must have words for the scalings {known} and no others")
    return tuple(SCALINGS)


def reading() -> str:
    """How to read a card, with the sizes that its numbers were taken at."""
    from posenc.lab.evaluate import BOUNDS, PUBLISHED_BOUNDS
    from posenc.lab.runs import PROFILES, SEEDS

    large, small = PROFILES["full"], PROFILES["quick"]
    return f"""
- **Costs** are counted on the package, for a model {SHAPE.width} wide with {SHAPE.heads} heads of {SHAPE.head_dim} and
  {_count(SHAPE.length)} tokens, in float32. *Parameters* are one set for all layers. *Extra work* is what the scheme
  adds in one layer: every number that the package writes, and for a product of matrices its multiplications and
  additions, in parts of the two products that attention itself takes; *growing* is what grows with the text. *Fused
  attention* never stores the scores, so that a bias has to be handed to it, or made on the way by a kernel that knows
  how.
- **Reach** was measured on small models, the mean over {len(SEEDS)} seeds, and the least and the greatest below it
  (on paper ± half of their difference). They were trained on {large.length} tokens, or where it says *small model* on
  {small.length}, and read {", ".join(map(str, SHOWN[:-1]))} and {SHOWN[-1]} times that. Compare within a model: the
  small one loses more everywhere. *Loss* is in nats per byte of held-out text; it *holds* as long as it has risen by at
  most {RISE}. *Copy* is the share of symbols copied right, *near* from a quarter of the trained length back, *far* from
  half of the whole text back. The darker a cell, the more is lost against the model as trained at 1×.
- **Scalings** were tried on two models with RoPE without any further training, each by the factor that the length
  asks for. By parts and YaRN had the upper bound of {BOUNDS["beta_fast"]:.0f} turns in place of
  {PUBLISHED_BOUNDS["beta_fast"]:.0f}: no pair makes so many in {large.length} tokens. The column *1×, by {FACTOR}* is
  the trained length scaled by {FACTOR} all the same.
""".strip()


def register_anchors(app: Sphinx, doctree: nodes.document) -> None:
    """Let other pages link to a card as to a heading, `the_map.md#rope`."""
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for card in doctree.findall(nodes.section):
        if "map-card" in card["classes"]:
            slugs[card["ids"][0]] = (card.line, card["ids"][0], card[0].astext())


def add_style(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """The map's own style sheet, where its diagram is."""
    if doctree is not None and any('class="map-doors"' in node.astext() for node in doctree.findall(nodes.raw)):
        app.add_css_file(f"{FOLDER}/map.css")


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Copy the style sheet, with the book's colours."""
    if exception or app.builder.format != "html":
        return
    palette = json.loads((ROOT / "src" / "posenc" / "js" / "palette.json").read_text(encoding="utf-8"))
    colours = "".join(f"--map-{name}:{value};" for name, value in palette.items() if isinstance(value, str))
    target = Path(app.outdir) / "_static" / FOLDER / "map.css"
    _copy(HERE / "map.css", target)
    target.write_text(f":root{{{colours}}}\n{target.read_text(encoding='utf-8')}", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("map", Map)
    app.connect("doctree-read", register_anchors)
    app.connect("html-page-context", add_style)
    app.connect("build-finished", finish)
