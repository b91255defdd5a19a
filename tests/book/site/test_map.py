"""The map says what the package, its configurations and the laboratory's results say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from book._site.reference import map as site_map
from book._site.reference import map_facts
from posenc import configs, lab, scaling, schemes
from posenc.lab.runs import PROFILES

WORDS = map_facts.WORDS


def test_every_scheme_has_its_card_and_the_diagram_leads_to_it_once(built_site: Path) -> None:
    with pytest.raises(ValueError, match="novel"):
        site_map.ordered([*schemes.SCHEMES, "novel"], WORDS["schemes"])
    text = (built_site / "book" / "the_map.html").read_text(encoding="utf-8")
    cards = re.findall(r'<section class="map-card[^>]* id="([\w-]+)"', text)
    expected = [name.replace("_", "-") for name in schemes.SCHEMES]
    assert sorted(cards) == sorted([*expected, *(f"scaling-{name}".replace("_", "-") for name in schemes.SCALINGS)])
    diagram = text.partition("map-points")[2].partition("<section")[0]
    assert sorted(set(re.findall(r'href="#([\w-]+)"', diagram)) & set(cards)) == sorted(expected)


def test_parameters_and_bias_are_those_of_the_package() -> None:
    width, heads, _, length, _ = map_facts.SHAPE.values()
    expected = {  # counted by hand, from what the classes say of their weights
        "learned": length * width,
        "t5": 32 * heads,
        "kerple": 2 * heads,
        "fire": 2 * 32 + 33 * heads + 2,
        "transformer_xl": width * width + 2 * width,
        "tener": 2 * width,
        "deberta": 2 * 512 * width + 2 * width * width,
    }
    for name in schemes.SCHEMES:
        costs = site_map.cost_rows(name)
        shown = int(re.sub(r"\D", "", costs["Parameters"]) or 0)
        assert shown == expected.get(name, 0), f"{name}: the card says {shown}; `expected`, above, counts by hand"
        biased = schemes.SCHEMES[name].injection_point == "logits"
        assert (f"{heads * length * length * 4 // 2**20} MiB" in costs["Bias in memory"]) == biased, name


def test_work_counts_numbers_and_products() -> None:
    a, b = torch.ones(3, 4), torch.ones(4, 5)
    with map_facts.Operations() as counted:
        a + a
        a @ b
        a.transpose(0, 1)[1:]
    assert counted.total == 12 + 2 * 3 * 4 * 5
    assert map_facts.cost("rope").share < 0.002
    assert map_facts.cost("alibi").share > 10 * map_facts.cost("rope").share


# ---- reach ----------------------------------------------------------------------------------------------------------


def test_everything_measured_on_the_large_model_is_on_a_card() -> None:
    shown = {key for words in WORDS["schemes"].values() for key in words.get("reach", ())}
    measured = {key for measure, key, _ in map_facts.measured() if measure == "text"}
    assert (
        {key for key in measured if not key.startswith("quick_")}
        <= shown
        == set(map_facts.SAYS["measured_models"])
        <= measured
    )


@pytest.mark.parametrize("measure", map_facts.MEASURES)
def test_reach_is_what_was_measured(measure: str) -> None:
    _, plain = map_facts.reach("rope_10000")
    [_, (_, scaled)] = map_facts.scaling_reach("yarn")
    wanted = {"profile": "full", "scheme": "rope_10000", "probe": measure, "causal": True}
    metric, results = "loss" if measure == "text" else "accuracy", lab.results()
    cells = (rows[map_facts.MEASURES[measure]] for rows in (plain, scaled))
    for times, cell, other in zip(map_facts.SHOWN, *cells, strict=True):
        length = times * PROFILES["full"].length
        found = results.over_seeds(metric, kind="plain", length=length, **wanted)
        assert cell[:3] == pytest.approx(found[:3], abs=0.0006)
        kept = {"kind": "scaling", "scaling": "yarn", "factor": float(times if times > 1 else 4)}
        if other:
            found = results.over_seeds(metric, length=length, **kept, **wanted)
            assert other[:3] == pytest.approx(found[:3], abs=0.0006)


def test_a_scaled_model_is_judged_against_the_model_as_trained() -> None:
    """Not against itself where it is scaled and need not be: that costs position interpolation its copying."""
    [(_, interpolated), _] = map_facts.scaling_reach("linear")
    assert interpolated["loss"][0].lost > 0.8


# ---- scalings and who uses them -------------------------------------------------------------------------------------


def test_pairs_are_slowed_as_the_package_slows_them() -> None:
    plain = scaling.default(128, 10_000.0).inv_freq
    found = scaling.yarn(128, factor=4, original_max_position_embeddings=4096)
    assert map_facts.pairs("yarn").divisors == pytest.approx(plain / found.inv_freq)
    assert map_facts.pairs("yarn").attention_factor == pytest.approx(found.attention_factor)
    assert map_facts.pairs("dynamic_ntk") == map_facts.pairs("ntk_aware")
    assert map_facts.pairs("proportional").divisors[-1] == float("inf")


def test_every_model_is_at_its_scaling() -> None:
    who = map_facts.who()
    assert sorted(sum(who.values(), [])) == sorted(configs.MODELS)
    for name, models in who.items():
        for model in models:
            config = configs.MODELS[model]
            layer_type = config.layer_types[0] if config.layer_types else None
            scaled = configs.scaled(config, config.max_position_embeddings, layer_type).inv_freq
            unchanged = (scaled == configs.unscaled(config, layer_type).inv_freq).all()
            assert (name == "default") == bool(unchanged), model
