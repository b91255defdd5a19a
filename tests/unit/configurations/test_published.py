"""Raw published config.json against the rotary classes that transformers makes from them, stored in oracles.json.

Every file agrees layer by layer, in frequencies, factor and layout, or neither side rotates, or transformers has no
class that reads it. `python -m tests.unit.configurations.oracles` computes the oracles, and the release suite again.
"""

import json
from collections import Counter

import numpy as np
import pytest

from posenc import Rope
from posenc.configuration import NoRotation, read_configuration
from posenc.doctor import diagnose
from posenc.scaling import from_config
from tests.unit.configurations.oracles import HERE, RAW, computed, names, raw, stored

pytestmark = pytest.mark.filterwarnings("ignore:config has keys that nothing reads")
STORED = stored()
NAMES = names()


def test_there_are_enough_and_each_says_where_it_is_from():
    index = json.loads((RAW / "index.json").read_text(encoding="utf-8"))
    assert len(NAMES) >= 100
    assert {path.removesuffix(".json") for path in index} == {*NAMES} == {*STORED}
    assert all(one["repository"] and one["commit"] and one["path"] for one in index.values())


def assert_agrees(configuration, oracle):
    """What was read is what transformers computes, layer by layer, or neither rotates."""
    if not oracle["layers"]:
        assert configuration.without == "nothing in its attention rotates"
        return
    found = {one.layer_type or "": one for one in configuration.rotations}
    assert {*found} >= {*oracle["layers"]}
    for layer, theirs in oracle["layers"].items():
        ours = from_config(found[layer])
        np.testing.assert_allclose(ours.inv_freq, theirs["inv_freq"], rtol=2e-6)
        assert ours.attention_factor == pytest.approx(theirs["attention_factor"], abs=1e-8)
        assert found[layer].layout == oracle["layout"]


# For the others there is nothing to compare with; the test below draws them too.
@pytest.mark.parametrize("name", [name for name in NAMES if "refused" not in STORED[name]])
def test_a_published_file_is_read_as_transformers_reads_it(name):
    assert_agrees(read_configuration(raw(name)), STORED[name])
    if not STORED[name]["layers"]:
        with pytest.raises(NoRotation, match="must be of a model that rotates"):
            Rope.from_config(raw(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_doctor_and_rope_agree_with_the_reader(name):
    configuration, diagnosis = read_configuration(raw(name)), diagnose((RAW / f"{name}.json").read_text("utf-8"))
    assert diagnosis.worst() != "error"
    assert [one.layer or None for one in diagnosis.rotations] == [one.layer_type for one in configuration.rotations]
    for drawn, one in zip(diagnosis.rotations, configuration.rotations, strict=True):
        rope = Rope.from_config(raw(name), layer_type=one.layer_type, seq_len=drawn.length)
        np.testing.assert_allclose(drawn.after, rope.inv_freq, rtol=1e-12)
        assert (rope.layout, rope.rotary_dim) == (one.layout, one.rotary_dim)


def test_the_book_tells_the_counts():
    kinds = Counter(
        "refused" if "refused" in one else "rotates" if one["layers"] else "none" for one in STORED.values()
    )
    told = (HERE.parents[2] / "book" / "doctor.md").read_text(encoding="utf-8")
    assert f"For {kinds['rotates']} of {len(NAMES)} published `config.json`, the doctor plots what" in told
    copies = sum("as" in one and bool(one.get("layers")) for one in STORED.values())
    assert f"Of these, {copies} have types unknown to `transformers`" in told
    assert f"Another {kinds['none']} belong to models without RoPE" in told
    assert f"For the other {kinds['refused']}, `transformers` has no class" in told
    fine = Counter(diagnose(raw(name)).worst() for name in NAMES)["fine"]
    assert f"It calls {fine} of the {len(NAMES)} *fine*, four a *likely mistake* and none an *error*" in told


@pytest.mark.release
@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_the_oracles_are_what_transformers_computes(name):
    found, known = computed(raw(name)), STORED[name]
    layers, known_layers = found.get("layers", {}), known.get("layers", {})
    assert found | {"layers": [*layers]} == known | {"layers": [*known_layers]}
    for layer, theirs in known_layers.items():
        assert layers[layer]["inv_freq"] == pytest.approx(theirs["inv_freq"], rel=2e-6)
        assert layers[layer]["attention_factor"] == pytest.approx(theirs["attention_factor"], rel=1e-6)


@pytest.mark.release
@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_the_facts_about_model_types_are_those_of_transformers():
    from tools import model_types

    written = json.loads(model_types.FILE.read_text(encoding="utf-8"))
    found = model_types.every()
    assert {name for name, one in found.items() if one == {"rotates": False}} == {*written["without_rotation"]}
    assert {name: one for name, one in found.items() if one != {"rotates": False}} == written["models"]
