"""posenc.widgets in Python: limits, what they draw and say, and the text that a page without a kernel gets.

That JavaScript draws and says the same is tested in a browser, in tests/site/test_explorables.py.
"""

import json
import math
import re

import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st

from posenc.analysis import decay
from posenc.frequencies import inv_freq
from posenc.widgets import EXPLORABLES, DecayExplorer, FrequencyBank, modules, stylesheet


@pytest.fixture(params=EXPLORABLES, ids=lambda cls: cls.__name__)
def explorable(request):
    return request.param


def test_every_control_takes_its_limits_and_nothing_beyond(explorable):
    for control in explorable.controls():
        if control["scale"] == "switch":
            continue
        for value in (control["least"], control["greatest"]):
            assert getattr(explorable(**{control["name"]: value}), control["name"]) == value
        limits = f"{control['name']} takes .* from {control['least']:g} to {control['greatest']:g}"
        for value in (control["least"] - 2, control["greatest"] + 2, math.nan, math.inf, "4", None, True):
            with pytest.raises(traitlets.TraitError, match=re.escape(limits).replace(r"\.\*", ".*")):
                explorable(**{control["name"]: value})


@pytest.mark.parametrize(("name", "value"), [("dim", 7), ("dim", 4.5), ("distance", 10.5)])
def test_whole_and_even_numbers(name, value):
    with pytest.raises(traitlets.TraitError, match=f"{name} takes (even|whole) numbers"):
        DecayExplorer(**{name: value})


def test_opening_settings_tell_the_story():
    decay_words, bank_words = DecayExplorer().finding(), FrequencyBank().finding()
    assert "the sum first rises after 11 and first drops below 0 at 1\u202f707" in decay_words
    assert "agree to 0.970; the fastest 8 of 64 pairs carry 89.6 % of the difference" in bank_words


@given(st.integers(1, 128), st.floats(0, 8), st.integers(8, 600))
def test_decay_values(pairs, exponent, distance):
    widget = DecayExplorer(dim=2 * pairs, base=10**exponent, distance=distance, show_score=True, show_bound=True)
    values = widget.values()
    np.testing.assert_allclose(values["score"], decay(np.arange(distance + 1), inv_freq(2 * pairs, 10**exponent)))
    np.testing.assert_allclose((values["low"] + values["high"]) / 2, 0.8 * values["score"], atol=1e-12)
    assert values["bound"][0] == pytest.approx(1)
    assert f"At {distance} tokens" in widget.finding()


def test_frequency_bank_values():
    values = FrequencyBank(distance=500, other=0, dim=64).values()
    assert values["running_mean"][-1] == pytest.approx(decay(500, inv_freq(64)))
    assert values["similarity"] == pytest.approx(decay(500, inv_freq(64)))
    assert values["share_so_far"][-1] == pytest.approx(1)
    same = FrequencyBank(distance=7, other=7)
    assert same.values()["share_so_far"] is None
    assert same.finding().endswith("Both distances have the same fingerprint.")


def test_html_holds_the_state_and_words(explorable):
    widget = explorable()
    text = widget.to_html()
    state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', text)[1])
    assert {name: state[name] for name in widget.setting()} == widget.setting()
    assert state["_controls"] == explorable.controls()
    assert f'data-module="{explorable.module}"' in text
    assert explorable.title in re.search(r"<noscript>(.*)</noscript>", text)[1]


def test_output_is_the_same_every_time(explorable):
    first, second = explorable(), explorable()
    assert repr(first) == repr(second)
    bundle = first._repr_mimebundle_()[0]
    assert bundle["text/plain"] == repr(first)
    assert bundle["text/html"] == second.to_html()


def test_a_module_stands_alone():
    for name, source in modules().items():
        assert "import " not in source, name
        assert source.count("export ") == 1, name
    assert not re.search(r"https?://", "".join(modules().values()) + stylesheet())
