"""The explorables: interactive figures that answer in a notebook with a kernel, and on the book's pages without one.

Each is an `anywidget` class with one ES module in `js/`. Python names the controls and their limits, JavaScript
computes and draws. `values()` and `finding()` say in Python what the picture shows, and tests hold the two together.
"""

from __future__ import annotations

import html
import json
import math
import re
from functools import cache
from importlib.resources import files
from numbers import Integral, Real
from typing import Any, ClassVar

import anywidget
import numpy as np
import traitlets

from posenc.analysis import (
    abel_bound,
    decay,
    decay_law,
    decay_logarithm,
    expected_score,
    fingerprint_difference,
    fingerprint_similarity,
)
from posenc.frequencies import inv_freq

_JS = files("posenc") / "js"


# ---- numbers as text, as js/drawing.js writes them -------------------------------------------------------------


def _fixed(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def _whole(value: int) -> str:
    return f"{value:,}".replace(",", "\u202f").replace("-", "−")


def _grouped(value: float) -> str:
    rounded = float(f"{value:.4g}")
    return _whole(int(rounded)) if rounded.is_integer() else _fixed(rounded, len(repr(rounded).split(".")[1]))


# ---- controls --------------------------------------------------------------------------------------------------


class Control(traitlets.TraitType):
    """A synced number with limits: what a slider shows and what Python accepts.

    `scale` says how the slider moves and what it takes: "log" and "hundredths" any number, "tokens" whole numbers on
    a logarithmic track, "even" even ones. `needs` names the switch without which the slider has nothing to move.
    """

    def __init__(
        self, default: float, label: str, least: float, greatest: float, scale: str, unit: str = "", needs: str = ""
    ) -> None:
        super().__init__(default)
        self.spec = {"label": label, "least": least, "greatest": greatest, "scale": scale, "unit": unit, "needs": needs}
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> float:
        least, greatest, scale = self.spec["least"], self.spec["greatest"], self.spec["scale"]
        accepted = {"tokens": "whole numbers", "even": "even numbers"}.get(scale, "numbers")
        number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if number and scale in {"tokens", "even"}:
            number = float(value).is_integer() and (scale == "tokens" or value % 2 == 0)
        if not number or not least <= value <= greatest:
            raise traitlets.TraitError(f"{self.name} takes {accepted} from {least:g} to {greatest:g}, got {value!r}")
        whole = scale in {"tokens", "even"} or isinstance(value, Integral)
        return int(value) if whole and scale != "log" else float(value)


class Switch(traitlets.Bool):
    """A synced yes or no: a checkbox."""

    def __init__(self, default: bool, label: str) -> None:
        super().__init__(default)
        self.spec = {"label": label, "scale": "switch"}
        self.tag(sync=True)


# ---- modules ---------------------------------------------------------------------------------------------------

_IMPORT = re.compile(r'^import [^;]*? from "\./(?P<file>[\w.]+)";\n', re.MULTILINE | re.DOTALL)


@cache
def _module(name: str) -> str:
    """The ES module `js/name.js` and all that it imports, in one text: anywidget takes no module with imports."""
    parts: dict[str, str] = {}

    def add(file: str) -> None:
        text = (_JS / file).read_text(encoding="utf-8")
        if file.endswith(".json"):
            parts[file] = f"const {file.removesuffix('.json')} = {json.dumps(json.loads(text))};\n"
            return
        for match in _IMPORT.finditer(text):
            if match["file"] not in parts:
                add(match["file"])
        parts[file] = _IMPORT.sub("", text)

    add(f"{name}.js")
    *shared, last = parts.values()
    return "\n".join([*(re.sub(r"^export ", "", part, flags=re.MULTILINE) for part in shared), last])


def stylesheet() -> str:
    """The style sheet that all explorables share."""
    return (_JS / "explorable.css").read_text(encoding="utf-8")


def modules() -> dict[str, str]:
    """The complete ES module of each explorable, by module name, for a page that has no kernel to send it."""
    return {cls.module: _module(cls.module) for cls in EXPLORABLES}


# ---- the explorables -------------------------------------------------------------------------------------------


class Explorable(anywidget.AnyWidget):
    """An interactive figure. Its output carries the widget and, for a page without a kernel, its state as HTML."""

    module: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    height: ClassVar[int]  # pixels that a page keeps free until the picture is drawn

    _css = stylesheet()
    _controls = traitlets.List().tag(sync=True)
    _restore = traitlets.Dict().tag(sync=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # anywidget makes another subclass at run time; only a class that names a module brings its own.
        if "module" in vars(cls):
            cls._esm = _module(cls.module)
        super().__init_subclass__(**kwargs)

    @classmethod
    def controls(cls) -> list[dict[str, Any]]:
        """Name, label, limits, scale and unit of each control, in the order of the class."""
        named = {name: trait for name, trait in cls.class_traits().items() if isinstance(trait, (Control, Switch))}
        order = [name for base in reversed(cls.__mro__) for name in vars(base) if name in named]
        return [{"name": name, **named[name].spec} for name in order]

    @traitlets.default("_controls")
    def _default_controls(self) -> list[dict[str, Any]]:
        return self.controls()

    def setting(self) -> dict[str, Any]:
        """The present value of every control."""
        return {control["name"]: getattr(self, control["name"]) for control in self.controls()}

    def values(self) -> dict[str, Any]:
        """What is drawn, in data coordinates."""
        raise TypeError(f"{type(self).__name__} does not say what it draws")

    def finding(self) -> str:
        """The sentence below the picture."""
        raise TypeError(f"{type(self).__name__} does not say what it finds")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.setting().items())})"

    def to_html(self) -> str:
        """The figure for a page without a kernel: its state, and words for a reader without JavaScript."""
        state = json.dumps({**self.setting(), "_controls": self.controls()}).replace("</", "<\\/")
        words = html.escape(f"{self.title}. {self.description} {self.finding()}")
        return (
            f'<figure class="posenc-explorable" data-module="{self.module}" style="min-height:{self.height}px">'
            f'<script type="application/json">{state}</script>'
            f"<noscript><p>{words} With JavaScript, sliders move this figure.</p></noscript></figure>"
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:  # ipywidgets 7 displays by itself
            return None
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**data, "text/plain": repr(self), "text/html": self.to_html()}, metadata


class DecayExplorer(Explorable):
    """S(m), its law and its bound against distance, and the score of random queries and keys.

    Everything is over the score of an aligned query and key at distance 0.
    """

    module = "decay_explorer"
    title = "Decay explorer"
    description = "The all-ones score of a rotary code against distance, with sliders for base, width and range."
    height = 760

    base = Control(10_000.0, "base", 1, 1e8, "log")
    dim = Control(128, "width d", 2, 256, "even")
    distance = Control(4096, "distances up to", 8, 65_536, "tokens", "tokens")
    correlation = Control(0.8, "correlation ρ of q and k", -1, 1, "hundredths", needs="show_score")
    show_law = Switch(True, "law")
    show_logarithm = Switch(False, "logarithm")
    show_bound = Switch(False, "RoFormer's bound")
    show_score = Switch(False, "score of random q and k")
    log_distance = Switch(False, "logarithmic distance")

    def values(self) -> dict[str, Any]:
        """Score, and whatever is switched on, at every whole distance from 0; NaN where the logarithm is not drawn."""
        distances, frequencies = np.arange(self.distance + 1), inv_freq(self.dim, self.base)
        values = {"score": decay(distances, frequencies)}
        if self.show_law:
            values["law"] = decay_law(distances, self.base)
        if self.show_logarithm:
            drawn = (distances >= 10) & (distances <= self.base / 10)
            values["logarithm"] = np.full(len(distances), np.nan)
            if drawn.any():
                values["logarithm"][drawn] = decay_logarithm(distances[drawn], self.base)
        if self.show_bound:
            values["bound"] = abel_bound(distances, frequencies) / abel_bound(0, frequencies)
        if self.show_score:
            mean, variance = expected_score(distances, frequencies, self.correlation)
            values["low"], values["high"] = (mean - variance**0.5) / self.dim, (mean + variance**0.5) / self.dim
        return values

    def finding(self) -> str:
        values, last = self.values(), self.distance
        score = values["score"]
        parts = []
        if self.base == 1:
            parts.append("With base 1 every pair turns alike: S(m) is cos m and never decays.")
        law = f", the law {_fixed(values['law'][last], 3)}" if self.show_law else ""
        parts.append(f"At {_whole(last)} tokens S is {_fixed(score[last], 3)}{law}.")
        rises, below = np.flatnonzero(np.diff(score) > 0), np.flatnonzero(score < 0)
        parts.append(
            f"Of {self.dim // 2} pairs with base {_grouped(self.base)}, the sum "
            f"{f'first rises after {_whole(int(rises[0]))}' if rises.size else 'falls all the way'} and "
            f"{f'first drops below 0 at {_whole(int(below[0]))}' if below.size else 'stays at or above 0'}."
        )
        if self.show_score:
            mean, spread = (values["low"] + values["high"])[last] / 2, (values["high"] - values["low"])[last] / 2
            parts.append(
                f"Queries and keys of correlation {_fixed(self.correlation, 2)} score "
                f"{_fixed(mean, 3)} ± {_fixed(spread, 3)} there."
            )
        return " ".join(parts)


class FrequencyBank(Explorable):
    """Every pair as a dial, its cosine at a distance, the running mean, and what tells two distances apart."""

    module = "frequency_bank"
    title = "Frequency bank"
    description = "One dial for each pair of dimensions, turned by distance times frequency."
    height = 880

    distance = Control(500, "distance", 0, 65_536, "tokens", "tokens")
    other = Control(501, "compare with", 0, 65_536, "tokens", "tokens")
    base = Control(10_000.0, "base", 1, 1e8, "log")
    dim = Control(128, "width d", 2, 256, "even")

    def values(self) -> dict[str, Any]:
        """Turns, cosine and running mean of each pair, the difference summed from fast to slow, and the similarity."""
        frequencies = inv_freq(self.dim, self.base)
        cosine = np.cos(self.distance * frequencies)
        same = self.distance == self.other
        return {
            "turns": self.distance * frequencies / (2 * np.pi),
            "cosine": cosine,
            "running_mean": np.cumsum(cosine) / np.arange(1, self.dim // 2 + 1),
            "share_so_far": None if same else np.cumsum(fingerprint_difference(self.distance, self.other, frequencies)),
            "similarity": float(fingerprint_similarity(self.distance, self.other, frequencies)),
        }

    def finding(self) -> str:
        values, pairs = self.values(), self.dim // 2
        first = (
            f"At {_whole(self.distance)} tokens {int(np.sum(values['turns'] >= 1))} of {pairs} pairs have turned "
            f"at least once; the cosines average {_fixed(values['running_mean'][-1], 3)}."
        )
        if values["share_so_far"] is None:
            return f"{first} Both distances have the same fingerprint."
        fastest = math.ceil(pairs / 8)
        return (
            f"{first} The fingerprints of {_whole(self.distance)} and {_whole(self.other)} agree to "
            f"{_fixed(values['similarity'], 3)}; the fastest {fastest} of {pairs} pairs carry "
            f"{_fixed(100 * values['share_so_far'][fastest - 1], 1)} % of the difference."
        )


EXPLORABLES = (DecayExplorer, FrequencyBank)
