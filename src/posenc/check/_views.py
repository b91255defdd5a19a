"""What is compared of a figure or of sliders, and what is said where they are not even that.

A view is given what came back, as `posenc.check._plain` writes it down, and the right value; what it makes of the
first is then compared with the second. It raises `Wrong` for what is wrong in any figure and any set of sliders.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from posenc.check._wrong import Wrong, say

Numbers = np.ndarray[Any, Any]
LONGEST_TITLE = 1000  # characters of a title that are read


def _at(value: Any, *path: Any) -> Any:
    """What lies in nested dictionaries and lists at the path; None where there is nothing."""
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, (list, tuple)) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def _numbers(value: Any) -> Numbers | None:
    """The numbers of a trace: a list or an array; None for anything else."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    return array.astype(float) if array.dtype.kind in "biuf" else None


def _number(value: Any) -> float:
    """A number of a slider; not a number for anything else."""
    return float(value) if type(value) in (int, float) and abs(value) < 1e300 else math.nan


def _traces(shown: Any, least: int, sentence: str) -> list[Any]:
    if not isinstance(_at(shown, "figure"), dict):
        raise Wrong(say("figure.none"), say("result.it_is", value=repr(shown))[:80])
    traces = _at(shown, "figure", "data")
    if not isinstance(traces, (list, tuple)) or len(traces) < least:
        raise Wrong(sentence)
    return list(traces)


def curve(shown: Any, right: Numbers) -> Numbers:
    """The heights of a figure's first trace, over the distances 0, 1, 2, … on an axis that names tokens."""
    traces = _traces(shown, 1, say("figure.empty"))
    across, height = _numbers(_at(traces, 0, "x")), _numbers(_at(traces, 0, "y"))
    if across is None or across.shape != right.shape or not np.array_equal(across, np.arange(right.size)):
        raise Wrong(say("figure.points"))
    if height is None or height.shape != right.shape or not np.isfinite(height).all():
        raise Wrong(say("figure.heights"))
    title = _at(shown, "figure", "layout", "xaxis", "title")
    title = title.get("text") if isinstance(title, dict) else title
    if not isinstance(title, str) or "token" not in title.lower():
        raise Wrong(say("figure.tokens"))
    return height


def dots_and_line(shown: Any, right: Any) -> tuple[Numbers, Numbers, str]:
    """The heights of a figure's dots, their places, and the “21 of 32” in its title."""
    traces = _traces(shown, 2, say("figure.two_traces"))
    dots, line = (_numbers(_at(traces, place, "y")) for place in (0, 1))
    if dots is None or line is None:
        raise Wrong(say("figure.heights_of_both"))
    if dots.size > 1 and np.allclose(dots, 1):
        raise Wrong(say("figure.line_first"))
    places = _at(traces, 0, "x")
    across = np.arange(dots.size) if places is None else _numbers(places)  # where none are given, Plotly's own
    if across is None:
        raise Wrong(say("figure.places"))
    if line.size < 2 or not np.allclose(line, 1):
        raise Wrong(say("figure.line"))
    if _at(shown, "figure", "layout", "yaxis", "type") != "log":
        raise Wrong(say("figure.logarithmic"))
    title = _at(shown, "figure", "layout", "title", "text")
    # what is looked through is an answer's own text, of any length: digits are counted, and so is the title
    text = title[:LONGEST_TITLE] if isinstance(title, str) else ""
    found = re.findall(say("figure.share", some=r"(?<!\d)\d{1,6}", all=r"\d{1,6}(?!\d)"), text)
    if len(found) != 1:
        form = say("figure.share", some=21, all=32)
        raise Wrong(say("figure.title", form=form), say("result.it_is", value=repr(title))[:80])
    return dots, across, found[0]


def _slider(shown: Mapping[str, Any], name: str, kind: str) -> dict[str, float]:
    """The numbers of a slider of a kind."""
    slider = shown[name]
    if not isinstance(slider, dict) or slider.get("widget") != kind:
        found = slider.get("widget") if isinstance(slider, dict) else slider
        sentence = say("slider.kind", name=name, vowel=kind[0] in "AEIO", kind=kind)
        raise Wrong(sentence, say("result.it_is", value=repr(found))[:80])
    return {key: _number(slider.get(key)) for key in ("min", "max", "step", "base", "value")}


def _sliders(shown: Any, *names: str) -> Mapping[str, Any]:
    if not isinstance(shown, dict) or set(shown) != set(names):
        raise Wrong(say("slider.keys", first=[{"name": name} for name in names[:-1]], last=names[-1]))
    return shown


def base_and_dim(shown: Any, right: bool) -> bool:
    """The two sliders of assignment 1, which run as the question says."""
    found = _sliders(shown, "base", "dim")
    base, dim = _slider(found, "base", "FloatLogSlider"), _slider(found, "dim", "IntSlider")
    powers = math.log10(max(base["base"], 1.1))
    if not np.allclose([base["min"] * powers, base["max"] * powers], [1, 6]):
        raise Wrong(say("slider.range_of_base"))
    if not math.isclose(base["value"], 10_000, rel_tol=1e-6):
        raise Wrong(say("slider.start_of_base"))
    if dim["step"] != 2:
        raise Wrong(say("slider.odd_widths"))
    if (dim["min"], dim["max"]) != (4, 256):
        raise Wrong(say("slider.range_of_width"))
    if dim["value"] != 64:
        raise Wrong(say("slider.start_of_width"))
    return right


def base_dim_and_length(shown: Any, right: bool) -> bool:
    """The three sliders of assignment 3, which reach as far as the question says, or farther."""
    found = _sliders(shown, "base", "dim", "length")
    base = _slider(found, "base", "FloatLogSlider")
    low, high = (base[end] * math.log10(max(base["base"], 1.0)) for end in ("min", "max"))
    if not (low <= 8 and high <= 300):
        raise Wrong(say("slider.exponents"))
    if low > 3 or high < 6:
        raise Wrong(say("slider.reach_of_base"))
    dim, length = _slider(found, "dim", "IntSlider"), _slider(found, "length", "IntSlider")
    if not (dim["min"] >= 2 and dim["min"] % 2 == 0 and dim["step"] >= 2 and dim["step"] % 2 == 0):
        raise Wrong(say("slider.half_pairs"))
    if not (dim["min"] <= 32 and dim["max"] >= 128):
        raise Wrong(say("slider.reach_of_dim"))
    if not length["min"] >= 1:
        raise Wrong(say("slider.no_tokens"))
    if not (length["min"] <= 1_024 and length["max"] >= 32_768):
        raise Wrong(say("slider.reach_of_length"))
    return right
