"""CopyDistance: its tables are the laboratory's, and the story is true of them."""

import numpy as np
import pytest

from posenc.lab.corpus import SingleCopy
from posenc.lab.measured import benchmarks
from posenc.widgets import CopyDistance
from posenc.widgets.copy_distance import DISTANCES, LENGTHS, RATE, TUNED
from tests.explorables import shown
from tests.js.node import assert_same


@pytest.mark.parametrize(
    ("scaling", "length", "distance"), [("yarn", 512, 384), ("linear", 256, 32), ("default", 1024, 768)]
)
def test_the_table_is_the_laboratorys_mean_over_seeds(scaling, length, distance):
    values = shown(CopyDistance, scaling=scaling).values
    wanted = {"probe": "single_copy", "task": "single_copy", "scheme": "rope_10000", "profile": "two_layers"}
    wanted |= {"distractors": "random", "length": length, "distance": distance}
    kind = (
        {"kind": "plain"} if scaling == "default" else {"kind": "scaling", "scaling": scaling, "factor": length / 128}
    )
    found = [one["accuracy"] for one in benchmarks().select(**wanted, **kind)]
    assert len(found) == 2
    np.testing.assert_allclose(
        values["methods"][scaling][LENGTHS.index(length)][DISTANCES.index(distance)], np.mean(found), atol=1e-4
    )


@pytest.mark.parametrize("base", ["100", "10000"])
@pytest.mark.parametrize("scaling", TUNED)
@pytest.mark.parametrize("steps", ["15", "45", "200"])
def test_what_is_tuned_is_the_laboratorys_and_stands_beside_the_same_seed_before(base, scaling, steps):
    seed = {"probe": "single_copy", "task": "single_copy", "scheme": f"rope_{base}", "profile": "two_layers", "seed": 0}
    seed |= {"distractors": "random", "length": 512, "distance": 192}
    values = shown(CopyDistance, base=base, scaling=scaling, fine_tuning=steps).values
    tables = {"after": values["methods"][scaling], "before": values["before"]}
    kinds = {
        "after": {"kind": "fine_tuning", "scaling": scaling, "factor": 4.0, "steps": int(steps), "rate": RATE},
        "before": {"kind": "plain"} if scaling == "default" else {"kind": "scaling", "scaling": scaling, "factor": 4.0},
    }
    for name, kind in kinds.items():
        [found] = benchmarks().select(**seed, **kind)
        accuracy = tables[name][LENGTHS.index(512)][DISTANCES.index(192)]
        np.testing.assert_allclose(accuracy, found["accuracy"], atol=1e-4)
    for name, asked in (("after", {128, 512}), ("before", {512})):
        known = {length for length, row in zip(LENGTHS, tables[name], strict=True) if any(row)}
        assert known == asked, "a length that was not evaluated"


@pytest.mark.parametrize("setting", [{"scaling": "ntk_by_parts"}, {"scaling": "yarn", "training": "repeated_copy"}])
def test_what_was_not_tuned_is_as_if_nothing_had_been_chosen(setting):
    chosen, plain = shown(CopyDistance, fine_tuning="200", **setting), shown(CopyDistance, **setting)
    assert_same(chosen.values, plain.values)
    assert chosen.finding == plain.finding


def test_the_story_holds():
    facts = {name: shown(CopyDistance, **setting).facts for name, setting in CopyDistance.story().items()}
    assert facts["cliff"]["within"] > 70 > 10 > facts["cliff"]["far"]
    assert facts["yarn"]["far"] > 90 > 60 > facts["yarn"]["near"]
    assert facts["fine-tuned"]["near_before"] < 10
    assert facts["fine-tuned"]["near"] > 70
    assert facts["temperature"]["near"] > facts["cliff"]["near"] + 20
    assert facts["temperature"]["far"] < 10 < 80 < facts["temperature"]["accuracy"]
    assert facts["repeated"]["near"] < 10 < 80 < facts["repeated"]["far"]
    for name, distance in (("fine-tuned", 32), ("temperature", 64), ("repeated", 32)):
        assert CopyDistance.story()[name]["distance"] == str(distance), "its sentence is about another cell"
    assert facts["yarn"]["best"] == "yarn"


def test_a_block_is_drawn_with_the_symbols_that_are_scored():
    assert shown(CopyDistance).facts["symbols"] == SingleCopy().n_scored
