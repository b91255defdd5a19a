"""Every explorable in Node.js: it computes and says what Python does, and writes no label over another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from posenc.widgets import EXPLORABLES
from tests.explorables import CASES, Case, sentence, told
from tests.js.node import assert_same

WIDTHS = (702, 312)  # of the canvas in a chapter on a laptop and on a phone
RANDOM_SETTINGS = 3
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def ends(case: Case) -> list[dict[str, object]]:
    """The opening setting, but for one control at its least or greatest value, or with each of its choices."""
    settings: list[dict[str, object]] = []
    for control in case.cls.controls():
        name, needs = control["name"], {key: values[0] for key, values in control["needs"].items()}
        values = [control[end] for end in ("least", "greatest") if end in control and control["scale"] != "action"]
        values += [option["value"] for option in control.get("options", ())]
        values += [False, True] if control["scale"] == "switch" else []
        settings += [{**needs, name: value} for value in values]
    return settings


def random_settings(case: Case) -> list[dict[str, object]]:
    """Settings in which every control stands somewhere at random, the same at every run."""
    random = np.random.default_rng(0)
    settings = []
    for _ in range(RANDOM_SETTINGS):
        setting: dict[str, object] = {}
        for control in case.cls.controls():
            name, scale = control["name"], control["scale"]
            if scale == "switch":
                setting[name] = bool(random.integers(2))
            elif scale == "choice":
                option = control["options"][random.integers(len(control["options"]))]
                setting |= {name: option["value"], **option["sets"]}
            elif scale == "tokens":
                setting[name] = int(random.integers(int(control["least"]), min(int(control["greatest"]), 4096) + 1))
        settings.append(setting)
    return settings


def test_every_explorable_has_a_case() -> None:
    assert {case.cls for case in CASES} == set(EXPLORABLES)


@each_case
def test_it_computes_and_says_what_python_does(figure_of: Any, case: Case) -> None:
    figure = figure_of(case.cls)
    for setting in [{}, *case.settings, case.largest, *ends(case), *random_settings(case)]:
        python, shown = told(case.cls, **setting), figure.at(setting)
        assert_same(shown["values"], python.values, str(setting))
        assert shown["finding"] == python.finding, setting
        assert all(shown["readings"]), setting


@each_case
def test_each_step_of_its_story_says_its_sentence(figure_of: Any, case: Case) -> None:
    for step in case.cls.catalogue["story"]:
        [shown] = figure_of(case.cls).at(case.cls.story()[step["name"]], steps=[step])["steps"]
        assert shown == sentence(case.cls, step), step["name"]
        assert shown, step["name"]


@each_case
def test_it_opens_with_its_handles(figure_of: Any, case: Case) -> None:
    assert tuple(figure_of(case.cls).at({})["handles"]) == case.handles


def overlaps(texts: list[dict[str, Any]], width: float, height: float) -> list[tuple[str, str]]:
    """Texts of which one covers more than a pixel of another, and those that stand outside the picture."""
    faults = [
        (text["text"], "the edge")
        for text in texts
        if text["left"] < -1 or text["top"] < -1 or text["right"] > width + 1 or text["bottom"] > height + 1
    ]
    for k, one in enumerate(texts):
        for other in texts[k + 1 :]:
            across = min(one["right"], other["right"]) - max(one["left"], other["left"])
            down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
            if across > 1 and down > 1:
                faults.append((one["text"], other["text"]))
    return faults


@each_case
@pytest.mark.parametrize("width", WIDTHS)
def test_no_label_covers_another(figure_of: Any, case: Case, width: int) -> None:
    for setting in [{}, *case.cls.story().values(), *case.settings, case.largest]:
        shown = figure_of(case.cls).at(setting, width)
        assert shown["texts"], setting
        assert overlaps(shown["texts"], width, shown["height"]) == [], setting
