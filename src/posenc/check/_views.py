"""What is compared of a figure, of sliders, of a chosen method or of a benchmark, and what is said where it is none.

A view is given what came back, as `posenc.check._plain` writes it down, and the right value; what it makes of the
first is then compared with the second. It raises `Wrong` for what is wrong whatever the right value is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from posenc.check import _models
from posenc.check._plain import described
from posenc.check._wrong import Wrong, say

Numbers = np.ndarray[Any, Any]


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


def numeric(value: Any) -> bool:
    """Whether a value is a number or an array, or lists of such.

    Of a list with a text NumPy makes texts alone, each with as much room as the longest.
    """
    if isinstance(value, (list, tuple)):
        return all(map(numeric, value))
    return type(value) in (bool, int, float) or isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "detach")


def _numbers(value: Any) -> Numbers | None:
    """The numbers of a trace: a list or an array; None for anything else."""
    if not numeric(value):
        return None
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    return array.astype(float) if array.dtype.kind in "biuf" else None


def _untied(value: Any) -> Any:
    """A tensor as an array, whatever its dtype; anything else as it is."""
    return value.double().numpy() if hasattr(value, "detach") and not value.is_complex() else value


def _number(value: Any) -> float:
    """A number of a slider; not a number for anything else."""
    return float(value) if type(value) in (int, float) and abs(value) < 1e300 else math.nan


def _traces(shown: Any, least: int, sentence: str) -> list[Any]:
    if not isinstance(_at(shown, "figure"), dict):
        raise Wrong(say("figure.none"), say("result.it_is", value=described(shown)))
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


def _slider(shown: Mapping[str, Any], name: str, kind: str) -> dict[str, float]:
    """The numbers of a slider of a kind."""
    slider = shown[name]
    if not isinstance(slider, dict) or slider.get("widget") != kind:
        found = slider.get("widget") if isinstance(slider, dict) else slider
        sentence = say("slider.kind", name=name, vowel=kind[0] in "AEIO", kind=kind)
        raise Wrong(sentence, say("result.it_is", value=described(found)))
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


def verdict(shown: Any, right: tuple[bool, str]) -> tuple[bool, str]:
    """What is right, where a student's tests say of an implementation whether it is sound; else what they missed."""
    sound, missed = right
    if not isinstance(shown, (bool, np.ndarray)) or np.shape(shown) or np.asarray(shown).dtype != bool:
        raise Wrong(say("tests.verdict"))
    if bool(shown) != sound:
        raise Wrong(missed)
    return right


OFFSETS = (0, 1, 2, 7, 40, -3)  # positions of the key minus those of the query


def relative_scores(shown: Any, right: Numbers) -> Numbers:
    """The scores of all entries of two tokens at `OFFSETS`, by RoPE with these frequencies and weights.

    `shown` are angles of shape (pairs,) and two weights of shape (2·pairs, hidden); pairs are neighbouring rows.
    """
    parts = [_numbers(_untied(part)) for part in shown] if isinstance(shown, (list, tuple)) else []
    if len(parts) != 3 or any(part is None for part in parts):
        raise Wrong(say("derivation.values"))
    theta, w_q, w_k = (np.asarray(part) for part in parts)
    hidden = right.shape[-1]
    if theta.ndim != 1 or not w_q.shape == w_k.shape == (2 * theta.size, hidden):
        raise Wrong(say("derivation.shapes", hidden=hidden))
    query, key = (w[0::2] + 1j * w[1::2] for w in (w_q, w_k))  # (pairs, hidden)
    rotation = np.exp(1j * np.outer(OFFSETS, theta))  # (offsets, pairs)
    return np.asarray(np.einsum("pa,op,pb->oab", query.conj(), rotation, key).real)


def chosen(shown: Any, right: Mapping[str, Any]) -> dict[str, Any]:
    """What every method gives, with what came back in place of the one that it names as its first value."""
    if not isinstance(shown, (list, tuple)) or len(shown) != 3:
        raise Wrong(say("choice.values"))
    name, *found = shown
    if not isinstance(name, str) or name not in right:
        names = [{"name": one} for one in right]
        raise Wrong(say("choice.name", names=names), say("result.it_is", value=described(name)))
    return {**right, name: tuple(found)}


LOGITS_AGREE = 5e-3  # times 1 + |logit|, in float32; the 1e-5 that LLaMA adds in its norm takes a third of it


def shares(shown: Any, benchmark: Mapping[str, Any]) -> Numbers:
    """The share of each text's asked symbols that a model copies right, shape (texts,).

    `shown` are its logits, frequencies and attention factor; `benchmark` has the name of the `model`, and `tokens` and
    `targets`, each (texts, length), −100 where nothing is asked. The logits must be the model's with those frequencies.
    """
    if not isinstance(shown, (list, tuple)) or len(shown) != 3:
        raise Wrong(say("benchmark.values"))
    trained = np.asarray(_models.frequencies(benchmark["model"]))
    inv_freq, factor = _numbers(_untied(shown[1])), _numbers(_untied(shown[2]))
    if inv_freq is None or inv_freq.shape != trained.shape or not ((inv_freq > 1e-12) & (inv_freq < 1e12)).all():
        raise Wrong(say("benchmark.frequencies", pairs=trained.size))
    if factor is None or factor.size != 1 or not 0 < factor.item() < math.inf:
        raise Wrong(say("benchmark.factor"))
    want = np.asarray(_models.logits(benchmark["model"], benchmark["tokens"], inv_freq, factor.item()))
    got = _numbers(_untied(shown[0]))
    if got is None or got.shape != want.shape:
        raise Wrong(say("benchmark.shape"))
    if not (np.abs(got - want) <= LOGITS_AGREE * (1 + np.abs(want))).all():
        raise Wrong(say("benchmark.logits"))
    targets = np.asarray(benchmark["targets"])
    return np.asarray((want.argmax(axis=-1) == targets).sum(axis=1) / (targets >= 0).sum(axis=1))


def copies(shown: Any, benchmark: Mapping[str, Any]) -> Mapping[str, Any]:
    """The benchmark itself, given back to a model that copies at least the share `least` of what it asks for."""
    share = float(shares(shown, benchmark).mean())
    if share < benchmark["least"]:
        raise Wrong(say("benchmark.share", least=benchmark["least"]), say("benchmark.found", share=share))
    return benchmark
