"""Every explorable in Node.js: it computes what the package does, says its sentences, and writes no label over another.

Sentences are kept in golden/, a file for each explorable: `python -m tests.js.golden` writes them anew; read what
changed before you commit it.
"""

from __future__ import annotations

import itertools
import json
import re
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from posenc.widgets import (
    EXPLORABLES,
    AngleCoverage,
    ContextExtension,
    Explorable,
    FrequencyBank,
    LayerStack,
    Rotation2D,
)
from posenc.widgets.layer_stack import LONGEST
from tests.explorables import CASES, Case
from tests.js import golden
from tests.js.node import assert_same, figure_of
from tests.js.oracles.layer_stack import STACKS

CHAPTER = (312, 702)  # of the canvas in a chapter, on a phone and on a laptop
WIDTHS = (272, 312, 376, 440, 560, 604, 702, 860, 1100, 1600)  # of the canvas on windows 320 to 1600 pixels wide
RANDOM_SETTINGS = 3
MOVES_ALONG = {"together", "locked"}  # a switch that has two controls move as one, and draws only lines
EDGE = 1.5  # pixels; baselines of the stand-in for a canvas are a little off
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def ends(case: Case) -> list[dict[str, object]]:
    """The opening setting, but for one control at its least or greatest value, or with each of its choices."""
    settings: list[dict[str, object]] = []
    for control in case.cls.controls():
        name, needs = control["name"], {key: values[0] for key, values in control["needs"].items()}
        values = [control[end] for end in ("least", "greatest") if end in control and control["scale"] != "action"]
        values += [option["value"] for option in control.get("options", ())]
        values += [False, True] if control["scale"] == "switch" else []
        settings += [{**case.quick, **needs, name: value} for value in values]
    return settings


def random_settings(case: Case) -> list[dict[str, object]]:
    """Settings in which every control stands somewhere at random, the same at every run."""
    random = np.random.default_rng(0)
    settings = []
    for _ in range(RANDOM_SETTINGS):
        setting: dict[str, object] = {}
        for control in case.cls.controls():
            name, scale = control["name"], control["scale"]
            least, greatest = control.get("least", 0), control.get("greatest", 0)
            if scale == "switch":
                setting[name] = bool(random.integers(2))
            elif scale == "choice":
                option = control["options"][random.integers(len(control["options"]))]
                setting |= {name: option["value"], **option["sets"]}
            elif scale == "powers":
                setting[name] = 2 ** int(random.integers(int(np.log2(least)), int(np.log2(greatest)) + 1))
            elif scale in ("tokens", "integer", "even", "action"):
                step = 2 if scale == "even" else 1
                setting[name] = int(random.integers(least, min(greatest, 4096) + 1)) // step * step
            elif scale == "log":
                setting[name] = float(least * (greatest / least) ** random.random())
            elif scale != "text":
                digits = {"tenths": 1, "hundredths": 2, "thousandths": 3}[scale]
                setting[name] = round(float(random.uniform(least, greatest)), digits)
        settings.append(setting | case.quick)
    return settings


def further(case: Case) -> list[dict[str, object]]:
    """Settings that a figure of its own has been wrong at, or crowded."""
    if case.cls is AngleCoverage:
        return [{"model": "own", **end} for end in ends(case)] + [{"model": "own", "chart": "rotations"}]
    if case.cls is FrequencyBank:
        return [end | {"chart": "difference"} for end in ends(case)]
    if case.cls is LayerStack:
        lengths = ((1, 128), (100, 100_000), (4000, 4096), (30_000, 40_000), (900_000, LONGEST))
        return [
            {"model": model, "distance": distance, "context": context, "layers": layers}
            for model in STACKS
            for distance, context in lengths
            for layers in ("", "rRnNrRnNrRnN")
        ]
    if case.cls is Rotation2D:
        places = itertools.product((0, 1, 17, 31, 32), (0, 2, 16, 32))
        return [{"m": m, "n": n, "locked": False} for m, n in places] + [{"q1": 0.5, "q2": 1.1}, {"theta": 0.0}]
    if case.cls is ContextExtension:  # few pairs, long angles; a correction range that ends past the last pair
        return [
            {"dim": 4, "trained": 131_072, "used": 262_144, "base": base, "factor": 1.37, "method": method}
            for base in (100.0, 1e7)
            for method in ("linear", "ntk_aware", "yarn_code")
        ]
    return []


@cache
def shown_of(cls: type[Explorable], setting: str) -> dict[str, Any]:
    """What a figure computes, says and writes at a whole setting (JSON): more than one test asks."""
    return figure_of(cls).at(json.loads(setting))


def shown_at(cls: type[Explorable], setting: dict[str, object]) -> dict[str, Any]:
    """The same at a setting of which the rest is as the figure opens."""
    return shown_of(cls, json.dumps(cls(**setting).setting()))


def picture(shown: dict[str, Any]) -> list[Any]:
    """What a reader sees of it."""
    return [shown[part] for part in ("values", "texts", "finding", "readings", "height")]


def test_every_explorable_has_a_case() -> None:
    assert {case.cls for case in CASES} == set(EXPLORABLES)


def distinct(cls: type[Explorable], settings: list[dict[str, object]]) -> list[dict[str, object]]:
    """Each whole setting once."""
    return list({json.dumps(cls(**setting).setting()): setting for setting in settings}.values())


def compare(case: Case, settings: list[dict[str, object]]) -> None:
    """What a figure computes with what the package does, at each of some settings."""
    oracle = import_module(f"tests.js.oracles.{case.cls.module}")
    for setting in distinct(case.cls, settings):
        shown = shown_at(case.cls, setting)
        drawn = {name: value for name, value in shown["values"].items() if name not in case.apart}
        assert_same(drawn, oracle.values(case.cls(**setting)), str(setting), case.tolerance)
        assert shown["finding"], setting
        assert all(shown["readings"]), setting


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=[pytest.mark.torch] * (case.name == "Playground")) for case in CASES],
)
def test_it_computes_what_the_package_does(case: Case) -> None:
    more = [] if case.quick else [*ends(case), *random_settings(case), *further(case)[:6]]
    compare(case, [{}, *case.settings, case.largest, *more])


@pytest.mark.release  # the Playground runs a Transformer for each
@pytest.mark.parametrize("case", [case for case in CASES if case.quick], ids=lambda case: case.name)
def test_what_takes_long_too_computes_what_the_package_does_at_the_ends_of_its_controls(case: Case) -> None:
    compare(case, [*ends(case), *random_settings(case)])


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.name, marks=[pytest.mark.release] if case.quick else []) for case in CASES],
)
def test_every_control_changes_what_is_shown(case: Case) -> None:
    for control in case.cls.controls():
        if control["name"] in MOVES_ALONG:
            continue
        shown = [shown_at(case.cls, setting) for setting in ends(case) if control["name"] in setting]
        seen = {json.dumps(one, default=np.ndarray.tolist, sort_keys=True) for one in map(picture, shown)}
        assert len(seen) > 1 or not shown, f"{control['name']} changes nothing"


@each_case
def test_its_sentences_are_those_that_were_read(case: Case) -> None:
    said = golden.sentences(case)
    assert said == golden.kept(case), "read the difference; `python -m tests.js.golden` then keeps the new sentences"
    for one in said:
        for text in (one["finding"], one.get("say", ".")):
            assert text.endswith((".", "?")), text
            assert not re.search(r"nan|NaN|inf\b|Infinity|null|undefined|(?<!\w)-|\{", text), text
        assert len(one.get("say", "")) <= 160


@each_case
def test_it_opens_with_its_handles(case: Case) -> None:
    assert tuple(figure_of(case.cls).at({})["handles"]) == case.handles


def overlaps(texts: list[dict[str, Any]], width: float, height: float) -> list[tuple[str, str]]:
    """Texts of which one covers more than a pixel of another, and those that stand outside the picture."""
    faults = [
        (text["text"], "the edge")
        for text in texts
        if min(text["left"], text["top"]) < -EDGE or text["right"] > width + EDGE or text["bottom"] > height + EDGE
    ]
    for k, one in enumerate(texts):
        for other in texts[k + 1 :]:
            across = min(one["right"], other["right"]) - max(one["left"], other["left"])
            down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
            if across > 1 and down > 1:
                faults.append((one["text"], other["text"]))
    return faults


@each_case
def test_no_label_covers_another(case: Case) -> None:
    settings = [(setting, WIDTHS) for setting in ({}, *case.cls.story().values(), *case.settings)]
    # what takes long to compute writes much the same everywhere
    further_ones = distinct(case.cls, [*([] if case.quick else ends(case)), *further(case)])
    for setting, widths in [*settings, *((setting, CHAPTER) for setting in further_ones)]:
        for width, shown in zip(widths, figure_of(case.cls).written(setting, widths), strict=True):
            assert shown["texts"], (setting, width)
            assert overlaps(shown["texts"], width, shown["height"]) == [], (setting, width)
