"""The map says what the package, its configurations and the laboratory's results say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page

from book._site.reference import map as site_map
from book._site.reference import map_facts
from posenc import configs, lab, scaling, schemes
from posenc.lab.runs import PROFILES

NAME = "book/the_map.html"
CARDS = {site_map._anchor(name): name for name in schemes.SCHEMES}
SCALING_CARDS = {site_map._anchor(f"scaling-{name}"): name for name in schemes.SCALINGS}


def test_every_scheme_has_its_card_and_the_diagram_leads_to_it_once(built_site: Path) -> None:
    assert set(map_facts.SCALINGS) == set(schemes.SCALINGS)
    with pytest.raises(ValueError, match="novel"):
        site_map._ordered([*schemes.SCHEMES, "novel"])
    text = (built_site / NAME).read_text(encoding="utf-8")
    ids = [re.search(r'id="([\w-]+)"', tag)[1] for tag in re.findall(r"<section [^>]*map-card[^>]*>", text)]  # type: ignore[index]
    assert ids == [*map(site_map._anchor, site_map._ordered(schemes.SCHEMES)), *SCALING_CARDS]
    chips = "".join(re.findall(r'<ul class="map-chips">.*?</ul>', text))
    assert sorted(re.findall(r'href="#([\w-]+)"', chips)) == sorted(CARDS)


# ---- costs ----------------------------------------------------------------------------------------------------------


def test_every_scheme_has_words() -> None:
    assert set(map_facts.SCHEMES) == set(schemes.SCHEMES), "the words are in book/_site/reference/map.toml"


def test_parameters_and_bias_are_those_of_the_package() -> None:
    width, heads, head_dim, length = map_facts.SHAPE
    assert width == heads * head_dim
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
        assert ("bias as its mask" in costs["Fused attention"]) == biased, name


def test_work_counts_numbers_and_products() -> None:
    a, b = torch.ones(3, 4), torch.ones(4, 5)
    assert map_facts._operations(lambda: a + a)[0] == 12
    assert map_facts._operations(lambda: a @ b)[0] == 2 * 3 * 4 * 5
    assert map_facts._operations(lambda: a.transpose(0, 1)[1:].reshape(-1, 3))[0] == 0
    assert map_facts._operations(lambda: torch.view_as_complex(torch.stack([a, a], -1)) * 1j)[0] == 24 + 24
    assert map_facts._operations(lambda: a.clone().mul_(2))[0] == 24
    rotating, biasing = map_facts.cost("rope"), map_facts.cost("alibi")
    assert rotating.share < 0.002
    assert biasing.share > 10 * rotating.share
    assert biasing.grows > rotating.grows


def test_the_card_warns_where_an_encoder_sees_no_sides() -> None:
    """A number made of the distance alone is the same to the left and to the right."""
    blind = {name for name in schemes.SCHEMES if "mirror" in site_map.cost_rows(name)["Decoder, encoder"]}
    known = {"alibi", "sandwich", "kerple", "none", "none_with_temperature"}
    assert blind == known, f"the card and this list disagree about {blind ^ known}"
    assert not any(map_facts.sides_alike(name) for name in ("sinusoidal", "rope", "t5", "transformer_xl", "deberta"))


# ---- reach ----------------------------------------------------------------------------------------------------------

KEYS = {label: key for key, label in map_facts._explorable().Extrapolation.catalogue["names"]["schemes"].items()}


@cache
def _results() -> lab.Results:
    """The results that ship, read once."""
    return lab.results()


def _expected(key: str, measure: str, times: int, **wanted: object) -> lab.SeedSummary:
    """What the laboratory's results say, by their own means."""
    profile, _ = map_facts.scheme_of(key)
    name, _, past_end = key.removeprefix("quick_").partition("_clamp")
    name, _, stretched = name.partition("_interpolate")
    if key != key.removesuffix("_clamp"):
        wanted["past_end"] = "clamp"
    if key != key.removesuffix("_interpolate"):
        wanted["past_end"] = "interpolate"
    return _results().over_seeds(
        "loss" if measure == "text" else "accuracy",
        profile=profile,
        scheme=name,
        probe=measure,
        causal=True,
        length=times * PROFILES[profile].length,
        **{"kind": "plain", **wanted},
    )


def _near(values: Iterable[float], spread: lab.SeedSummary) -> bool:
    """Whether seeds have this mean, minimum and maximum, to the hundredths that the page shows."""
    numbers = [map_facts.average(list(values)), min(values), max(values)]
    return numbers == pytest.approx([spread.mean, spread.min, spread.max], abs=0.0006)


def test_reach_of_schemes_is_what_was_measured() -> None:
    seen = 0
    for name in schemes.SCHEMES:
        for one in map_facts.reach(name):
            key = KEYS[one.label]
            assert map_facts.scheme_of(key)[1] == name
            for measure, columns in one.rows.items():
                for times, values in zip(map_facts.SHOWN, columns, strict=True):
                    assert _near(values, _expected(key, measure, times)), (key, measure, times, values)
                    seen += 1
            start = _expected(key, "text", 1).mean
            rises = {times: _expected(key, "text", times).mean - start for times in (1, 2, 4, 8, 16)}
            assert all(rise <= map_facts.RISE + 0.001 for times, rise in rises.items() if times <= one.holds)
            assert one.holds == 16 or rises[2 * one.holds] > map_facts.RISE - 0.001
    assert seen >= 100


def test_reach_of_scalings_is_what_was_measured() -> None:
    measured = {one["scaling"] for one in _results().select(kind="scaling", profile="full")}
    for name in schemes.SCALINGS:
        assert bool(map_facts.scaling_reach(name)) == (name in measured), name
        for one in map_facts.scaling_reach(name):
            key = KEYS[one.label]
            for measure, columns in one.rows.items():
                for times, values in zip(map_facts.SHOWN, columns, strict=True):
                    if values is not None:
                        factor = float(times if times > 1 or name in ("default", "dynamic_ntk") else map_facts.FACTOR)
                        scaled = name if factor > 1 else "default"
                        spread = _expected(key, measure, times, kind="scaling", scaling=scaled, factor=factor)
                        assert _near(values, spread), (name, key, measure, times, values)


def test_a_scaled_model_is_judged_against_the_model_as_trained() -> None:
    """Not against itself where it is scaled and need not be: that costs position interpolation its copying."""
    interpolated, plain = map_facts.scaling_reach("linear")[0], map_facts.scaling_reach("default")[0]
    assert interpolated.start == plain.start
    assert 'style="--lost:0.8' in site_map._cell(interpolated.rows["text"][0], plain.start["text"], 1)


# ---- scalings and who uses them -------------------------------------------------------------------------------------


def test_pairs_are_slowed_as_the_package_slows_them() -> None:
    plain = scaling.default(128, 10_000.0).inv_freq
    settings = {"factor": 4, "original_max_position_embeddings": 4096}
    for name, found in {
        "linear": scaling.linear(128, factor=4),
        "ntk_aware": scaling.ntk_aware(128, factor=4),
        "yarn": scaling.yarn(128, **settings),
        "ntk_by_parts": scaling.ntk_by_parts(128, **settings),
    }.items():
        assert map_facts.pairs(name).slower == pytest.approx(plain / found.inv_freq)
        assert map_facts.pairs(name).attention_factor == pytest.approx(found.attention_factor)
    assert map_facts.pairs("dynamic_ntk") == map_facts.pairs("ntk_aware")
    assert map_facts.pairs("proportional").slower[-1] == float("inf")


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


@pytest.mark.release
@pytest.mark.parametrize("width", [360, 1280])
def test_doors_stand_side_by_side_or_below_each_other(width: int, site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page(width=width)
    page.goto(f"{site_url}/{NAME}")
    tops = {door.bounding_box()["y"] for door in page.locator(".map-door").all()}  # type: ignore[index]
    assert (len(tops) == 1) == (width > 720)
    page.locator(".map-chips a", has_text="Sandwich").click()
    page.wait_for_function("Math.abs(document.querySelector('#sandwich').getBoundingClientRect().top) < 200")
