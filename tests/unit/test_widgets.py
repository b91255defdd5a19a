"""posenc.widgets in Python: limits, settings, and the text that a page without a kernel gets.

What explorables compute and say is tested in tests/js.
"""

import json
import math
import re

import numpy as np
import pytest
import traitlets

from posenc._numbers import fixed, grouped, integer
from posenc.widgets import (
    EXPLORABLES,
    Action,
    Choice,
    Control,
    Explorable,
    Switch,
    Text,
    modules,
    scripts,
    stylesheet,
)
from posenc.widgets._base import normal_draws


@pytest.fixture(params=EXPLORABLES, ids=lambda cls: cls.__name__)
def explorable(request):
    return request.param


def test_every_control_takes_its_limits_and_nothing_beyond(explorable):
    widget = explorable()
    for control in (one for one in explorable.controls() if "least" in one):
        name, least, greatest = control["name"], control["least"], control["greatest"]
        for value in (least, greatest):
            setattr(widget, name, value)
            assert getattr(widget, name) == value
        limits = f"{name} takes .* from {least:g} to {greatest:g}"
        for value in (least - 2, greatest + 2, math.nan, "4", True):
            with pytest.raises(traitlets.TraitError, match=re.escape(limits).replace(r"\.\*", ".*")):
                setattr(widget, name, value)


def test_every_choice_takes_its_options_and_nothing_else(explorable):
    widget = explorable()
    for control in (one for one in explorable.controls() if one["scale"] == "choice"):
        name, options = control["name"], control["options"]
        for option in options:
            setattr(widget, name, option["value"])
            assert {one: getattr(widget, one) for one in option["sets"]} == option["sets"]
            assert getattr(widget, name) == option["value"]
        for value in ("no such option", 1):
            with pytest.raises(traitlets.TraitError, match=re.escape(f"{name} takes one of {options[0]['value']}")):
                setattr(widget, name, value)


def test_every_step_of_the_story_is_a_setting(explorable):
    steps = explorable.catalogue["story"]
    assert 3 <= len(steps) <= 6
    assert steps[0]["set"] == {}, "it opens with its first step"
    assert len({step["name"] for step in steps}) == len({step["label"] for step in steps}) == len(steps)
    assert 1 <= len(explorable.main) <= 3
    assert set(explorable.main) <= {control["name"] for control in explorable.controls()}
    widget = explorable()
    for step in [*steps[1:], steps[0]]:
        widget.show_step(step["name"])
        assert widget.setting() == explorable.story()[step["name"]]
        assert re.fullmatch("[a-z0-9-]+", step["name"])
    with pytest.raises(ValueError, match="step must be one of .*, got 'nowhere'"):
        widget.show_step("nowhere")


def test_html_holds_the_state_and_words(explorable):
    widget = explorable()
    text = widget.to_html()
    state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', text)[1])
    assert {name: state[name] for name in widget.setting()} == widget.setting()
    assert [control["name"] for control in state["_controls"]] == list(widget.setting())
    assert '"label":' not in text, "JavaScript has the words, in the language of the page"
    assert f'data-module="{explorable.module}"' in text
    assert explorable.catalogue["title"] in re.search(r"<noscript>(.*)</noscript>", text)[1]


def test_controls_and_steps_can_be_left_out(explorable):
    control, step = explorable.controls()[0]["name"], next(iter(explorable.story()))
    widget = explorable(hidden=[control], hidden_steps=[step])
    assert [one["name"] for one in widget._controls if one["hidden"]] == [control]
    assert repr(widget).endswith(f", hidden=({control!r},), hidden_steps=({step!r},))")
    assert repr(eval(repr(widget), {explorable.__name__: explorable})) == repr(widget)
    assert json.dumps(widget._controls) in widget.to_html()
    assert f'"_hidden_steps": ["{step}"]' in widget.to_html()


def test_what_is_not_there_is_refused(explorable):
    with pytest.raises(ValueError, match=r"hidden must name some of \w+, .*got 'nothing'"):
        explorable(hidden=["nothing"])
    with pytest.raises(ValueError, match=r"hidden_steps must name some of [\w-]+, .*got 'nothing'"):
        explorable(hidden_steps=["nothing"])
    with pytest.raises(TypeError, match=rf"{explorable.__name__} has \w+, .*got 'nothing'"):
        explorable(nothing=1)


def test_a_module_stands_alone():
    for name, source in modules().items():
        assert not re.search(r"^import ", source, re.MULTILINE), name
        assert source.count("export ") == 1, name
    assert not re.search(r"https?://", "".join(modules().values()) + stylesheet())


def test_a_page_gets_what_all_explorables_share_once():
    given = scripts()
    assert set(given) == {"shared", *modules()}
    shared = set(re.findall(r"^const (\$\w+) =", given["shared"], re.MULTILINE))
    assert {"$explorable_js", "$drawing_js", "$controls_js"} <= shared
    for name, source in modules().items():
        parts = re.findall(r"^const (\$\w+) =", source, re.MULTILINE)
        own = re.findall(r"\\nconst (\$\w+) =", given[name])
        assert own == [part for part in parts if part not in shared], name
        assert shared <= set(parts), "nothing is fetched that it does not use"
        assert len(given[name]) < len(json.dumps(source)) - len(given["shared"]) / 2


# ---- kinds of controls ---------------------------------------------------------------------------------------------


class Kinds(Explorable):
    """Every kind of control; nothing is drawn."""

    height = 100
    catalogue = {
        "title": "Kinds",
        "description": "Every kind of control.",
        "controls": {
            "model": {
                "label": "model",
                "options": {"own": "numbers of your own", "small": "a small one", "large": "a large one"},
            },
            "base": {"label": "base"},
            "dim": {"label": "width d"},
            "shift": {"label": "shift"},
            "count": {"label": "count"},
            "moves": {"label": "it moves"},
            "seed": {"label": "New draw"},
            "order": {"label": "order", "accepted": "places set apart by spaces"},
        },
        "finding": ["Base {base:grouped}."],
    }
    model = Choice("own", presets={"small": {"base": 500.0, "dim": 8}, "large": {"base": 1e6, "dim": 128}})
    base = Control(10_000.0, 1, 1e8, "log", needs={"model": ["own", "small"]})
    dim = Control(64, 2, 256, "even")
    shift = Control(0.5, -1, 1, "tenths", needs="moves")
    count = Control(3, 1, 9, "integer")
    moves = Switch(True)
    seed = Action(greatest=9)
    order = Text("0 1 2", r"\d( \d)*")

    def facts(self):
        return {}


def test_a_preset_sets_its_controls_and_is_left_with_them():
    widget = Kinds(model="large")
    assert (widget.base, widget.dim) == (1e6, 128)
    widget.model = "small"
    assert (widget.base, widget.dim) == (500.0, 8)
    widget.count = 9
    assert widget.model == "small"
    widget.dim = 16
    assert (widget.model, widget.base) == ("own", 500.0)
    assert Kinds(model="small", base=7.0).setting() == {**Kinds(model="small").setting(), "model": "own", "base": 7.0}
    assert Kinds(base=500.0).model == "own"


def test_controls_say_what_they_need():
    needs = {control["name"]: control["needs"] for control in Kinds.controls()}
    assert needs["base"] == {"model": ["own", "small"]}
    assert needs["shift"] == {"moves": [True]}
    assert needs["dim"] == {}
    assert [control["name"] for control in Kinds.controls()] == list(needs) == list(Kinds().setting())


@pytest.mark.parametrize(
    ("name", "value", "refused"),
    [
        ("model", "Large", "model takes one of own, small, large, got 'Large'"),
        ("dim", 7, "dim takes even numbers from 2 to 256, got 7"),
        ("count", 2.5, "count takes integers from 1 to 9, got 2.5"),
        ("seed", 10, "seed takes integers from 0 to 9, got 10"),
        ("seed", -1, "seed takes integers from 0 to 9, got -1"),
        ("shift", 1.5, "shift takes numbers from -1 to 1, got 1.5"),
        ("order", "0 x", "order takes places set apart by spaces, got '0 x'"),
        ("order", 7, "order takes places set apart by spaces, got 7"),
    ],
)
def test_each_kind_names_what_it_takes(name, value, refused):
    with pytest.raises(traitlets.TraitError, match=re.escape(refused)):
        Kinds(**{name: value})


# ---- numbers as text -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0"), (-0.0, "0"), (0.5, "0.5"), (3.14159, "3.142"), (999.96, "1\u202f000"), (-1234.4, "−1\u202f234"),
        (16_384, "16\u202f380"), (1e8, "100\u202f000\u202f000"), (1e-4, "0.0001"), (1.5e-5, "1.5 × 10⁻⁵"),
        (-2e12, "−2 × 10¹²"),
    ],
)  # fmt: skip
def test_four_figures(value, written):
    assert grouped(value) == written


def test_ties_are_rounded_away_from_zero_and_zero_has_no_sign():
    assert [fixed(x, 2) for x in (0.125, -0.125, 0.375, -0.004, 2)] == ["0.13", "−0.13", "0.38", "0.00", "2.00"]
    assert [fixed(x, 0) for x in (0.5, 1.5, -2.5)] == ["1", "2", "−3"]
    assert [integer(x) for x in (0, 999, -65_536)] == ["0", "999", "−65\u202f536"]


def test_random_draws_are_standard_normal():
    draws = normal_draws(7, 20_001)
    assert draws.shape == (20_001,)
    assert abs(draws.mean()) < 0.03
    assert abs(draws.std() - 1) < 0.03
    np.testing.assert_array_equal(draws[:100], normal_draws(7, 100))
    assert not np.array_equal(draws, normal_draws(8, 20_001))
