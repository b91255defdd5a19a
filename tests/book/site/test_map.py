"""The map says what the package, its configurations and the laboratory's results say."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page

from book._site.reference import map as site_map
from book._site.reference import map_facts
from posenc import configs, lab, scaling, schemes
from posenc.lab.runs import PROFILES
from tests.book.site.browser import scroll_through

NAME = "book/the_map.html"
CARDS = {site_map._anchor(name): name for name in schemes.SCHEMES}
SCALING_CARDS = {site_map._anchor(f"scaling-{name}"): name for name in schemes.SCALINGS}


class Cards(HTMLParser):
    """The cards of the page: classes, links, the costs by their headings and the rows of the tables."""

    VOID = {"meta", "link", "img", "br", "hr", "input", "path", "circle", "rect"}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.cards: dict[str, dict] = {}
        self.chips: list[str] = []
        self._open: list[tuple[str, str, str]] = []
        self._card: dict | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        classes = values.get("class", "")
        if tag == "section" and "map-card" in classes:
            self._card = {"classes": classes, "links": [], "text": "", "costs": {}, "runs": {}, "heads": []}
            self.cards[values["id"]] = self._card
        if tag == "a" and any("map-chips" in css for _, css, _ in self._open):
            self.chips.append(values["href"])
        if self._card is not None:
            if tag == "a":
                self._card["links"].append(values.get("href", ""))
            if tag == "dd":
                self._card["costs"][self._term] = ""
            if tag == "tr" and self._card["runs"] and "map-run" not in classes:
                self._rows.append([])
            if tag in ("td", "th") and self._card["runs"] and values.get("scope") != "rowgroup":
                self._rows[-1].append("")
        if tag not in self.VOID:
            self._open.append((tag, classes, values.get("scope", "")))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass
        if tag == "section" and not any("map-card" in css for _, css, _ in self._open):
            self._card = None

    def handle_data(self, data: str) -> None:
        if self._card is None or not self._open:
            return
        tags, (tag, css, scope) = [name for name, _, _ in self._open], self._open[-1]
        self._card["text"] += data
        if tag == "dt":
            self._term = data
        elif "dd" in tags:
            self._card["costs"][self._term] += f" {data}"
        elif scope == "rowgroup":
            self._rows: list[list[str]] = []
            self._card["runs"][data] = self._rows
        elif scope == "col":
            self._card["heads"].append(data)
        elif tags[-1] in ("td", "th", "small") and self._card["runs"] and css != "map-paper" and "tbody" in tags:
            self._rows[-1][-1] += f" {data}" if tags[-1] == "small" else data


@pytest.fixture(scope="module")
def page_of(built_site: Path) -> Cards:
    """The built page, read."""
    return Cards((built_site / NAME).read_text(encoding="utf-8"))


# ---- every scheme, at its door --------------------------------------------------------------------------------------


def test_the_map_has_words_for_every_scheme_and_no_other() -> None:
    assert set(map_facts.SCHEMES) == set(schemes.SCHEMES)
    assert set(map_facts.SCALINGS) == set(schemes.SCALINGS)
    assert tuple(map_facts.DOORS) == schemes.DOORS
    with pytest.raises(ValueError, match="novel"):
        site_map._ordered([*schemes.SCHEMES, "novel"])


def test_every_scheme_has_its_card_at_its_door(page_of: Cards) -> None:
    assert list(page_of.cards) == [*map(site_map._anchor, site_map._ordered(schemes.SCHEMES)), *SCALING_CARDS]
    for anchor, name in CARDS.items():
        door = map_facts.DOORS[schemes.SCHEMES[name].door][0]
        assert f"map-{door} " in page_of.cards[anchor]["classes"] + " "


def test_the_diagram_leads_to_every_card_once(page_of: Cards) -> None:
    assert sorted(page_of.chips) == sorted(f"#{anchor}" for anchor in CARDS)


def test_cards_lead_to_the_chapters_that_are_written(page_of: Cards, built_site: Path) -> None:
    chapters = {path.name[:2]: path.stem for path in (built_site / "notebooks").glob("[0-9][0-9]_*.html")}
    for anchor, card in page_of.cards.items():
        words = map_facts.SCHEMES.get(CARDS.get(anchor, "")) or map_facts.SCALINGS[SCALING_CARDS[anchor]]
        if words.chapter in chapters:
            assert f"../notebooks/{chapters[words.chapter]}.html" in card["links"], anchor
        else:
            assert f"chapter {words.chapter}" in card["text"]


# ---- costs ----------------------------------------------------------------------------------------------------------


def test_parameters_and_bias_are_those_of_the_package(page_of: Cards) -> None:
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
    for anchor, name in CARDS.items():
        costs = page_of.cards[anchor]["costs"]
        digits = re.sub(r"\D", "", costs["Parameters"])
        assert int(digits or 0) == expected.get(name, 0), name
        biased = schemes.SCHEMES[name].door == "logits"
        assert (f"{heads * length * length * 4 // 2**20} MiB" in costs["Bias in memory"]) == biased, name
        assert ("bias as its mask" in costs["Fused attention"]) == biased, name
        assert costs["Fused attention"].strip().startswith("yes") != biased, name


@pytest.mark.parametrize("name", ["none", "rope", "sinusoidal", "t5"])
def test_the_page_shows_the_work_that_is_counted(name: str, page_of: Cards) -> None:
    shown = page_of.cards[site_map._anchor(name)]["costs"]["Extra work"]
    assert shown.split() == re.sub(r"<[^>]+>", " ", site_map.cost_rows(name)["Extra work"]).split()


def test_work_counts_numbers_and_products() -> None:
    a, b = torch.ones(3, 4), torch.ones(4, 5)
    assert map_facts._operations(lambda: a + a)[0] == 12
    assert map_facts._operations(lambda: a @ b)[0] == 2 * 3 * 4 * 5
    assert map_facts._operations(lambda: a.transpose(0, 1)[1:].reshape(-1, 3))[0] == 0
    assert map_facts._operations(lambda: torch.view_as_complex(torch.stack([a, a], -1)) * 1j)[0] == 24 + 24
    assert map_facts._operations(lambda: a.clone().mul_(2))[0] == 24


def test_rotation_costs_a_thousandth_of_attention_and_a_bias_more() -> None:
    """What is said of the doors: turning costs the same at any length, and a bias grows with the text."""
    turning, biasing = map_facts.cost("rope"), map_facts.cost("alibi")
    assert turning.share < 0.002
    assert turning.fused
    assert not turning.grows
    assert biasing.grows
    assert biasing.share > 10 * turning.share


def test_features_are_as_long_as_the_page_says() -> None:
    assert map_facts.extra_dimensions("alibi_rank_two") == 2
    assert map_facts.extra_dimensions("sandwich_features") == 128


def test_the_card_warns_where_an_encoder_sees_no_sides(page_of: Cards) -> None:
    """A number made of the distance alone is the same to the left and to the right."""
    blind = {name for anchor, name in CARDS.items() if "mirror" in page_of.cards[anchor]["costs"]["Decoder, encoder"]}
    assert blind == {"alibi", "sandwich", "kerple", "none", "none_with_temperature"}
    assert not any(map_facts.sides_alike(name) for name in ("sinusoidal", "rope", "t5", "transformer_xl", "deberta"))


# ---- reach ----------------------------------------------------------------------------------------------------------

SCHEMES = map_facts._explorable().Extrapolation.catalogue["names"]["schemes"]
KEYS = {label: key for key, label in SCHEMES.items()}


@cache
def _results() -> lab.Results:
    """The results that ship, read once."""
    return lab.results()


def _expected(key: str, measure: str, times: int, **wanted: object) -> lab.Spread:
    """What the laboratory's results say, by their own means."""
    profile, _ = map_facts.scheme_of(key)
    name, _, past_end = key.removeprefix("quick_").partition("_clamp")
    name, _, stretched = name.partition("_interpolate")
    if key != key.removesuffix("_clamp"):
        wanted["past_end"] = "clamp"
    if key != key.removesuffix("_interpolate"):
        wanted["past_end"] = "interpolate"
    return _results().spread(
        "loss" if measure == "text" else "accuracy",
        profile=profile,
        scheme=name,
        probe=measure,
        causal=True,
        length=times * PROFILES[profile].length,
        **{"kind": "plain", **wanted},
    )


def _near(shown: str, spread: lab.Spread) -> bool:
    """Mean, least and greatest, in hundredths."""
    numbers = [float(number) for number in re.findall(r"\d+\.\d+", shown)]
    return numbers == pytest.approx([spread.mean, spread.least, spread.greatest], abs=0.0056)


def test_reach_of_schemes_is_what_was_measured(page_of: Cards) -> None:
    measured = {run["scheme"] for run in _results().runs.values() if run["task"] in ("text", "copy")}
    seen = 0
    for anchor, name in CARDS.items():
        card = page_of.cards[anchor]
        assert bool(card["runs"]) != ("not measured here" in card["text"]), name
        assert bool(card["runs"]) == any(
            scheme.split("_1")[0].removesuffix("_published") == name for scheme in measured
        )
        for told, rows in card["runs"].items():
            key = KEYS[told.partition(":")[0]]
            assert map_facts.scheme_of(key)[1] == name
            for measure, (_, *cells) in zip(map_facts.MEASURES, rows, strict=True):
                for times, shown in zip(map_facts.SHOWN, cells, strict=True):
                    assert _near(shown, _expected(key, measure, times)), (key, measure, times, shown)
                    seen += 1
    assert seen >= 100


def test_what_holds_is_what_was_measured() -> None:
    for name in schemes.SCHEMES:
        for one in map_facts.reach(name):
            key = KEYS[one.label]
            start = _expected(key, "text", 1).mean
            rises = {times: _expected(key, "text", times).mean - start for times in (1, 2, 4, 8, 16)}
            assert all(rise <= map_facts.RISE + 0.001 for times, rise in rises.items() if times <= one.holds)
            assert one.holds == 16 or rises[2 * one.holds] > map_facts.RISE - 0.001


def test_reach_of_scalings_is_what_was_measured(page_of: Cards) -> None:
    measured = {one["scaling"] for one in _results().select(kind="scaling", profile="full")}
    for anchor, name in SCALING_CARDS.items():
        runs = page_of.cards[anchor]["runs"]
        assert bool(runs) == (name in measured), name
        for told, rows in runs.items():
            key = KEYS[told.partition(":")[0]]
            for measure, (_, *cells) in zip(map_facts.MEASURES, rows, strict=True):
                for times, shown in zip(map_facts.SHOWN, cells if len(cells) == 4 else cells * 4, strict=True):
                    if shown == "not measured":
                        continue
                    factor = float(times if times > 1 or name in ("default", "dynamic_ntk") else map_facts.FACTOR)
                    scaled = name if times > 1 or factor > 1 else "default"
                    spread = _expected(key, measure, times, kind="scaling", scaling=scaled, factor=factor)
                    assert _near(shown, spread), (name, key, measure, times, shown)


# ---- scalings and who uses them -------------------------------------------------------------------------------------


def test_pairs_are_slowed_as_the_package_slows_them(page_of: Cards) -> None:
    plain = scaling.default(128, 10_000.0).inv_freq
    settings = {"factor": 4, "original_max_position_embeddings": 4096}
    for name, found in {
        "linear": scaling.linear(128, factor=4),
        "ntk_aware": scaling.ntk_aware(128, factor=4),
        "yarn": scaling.yarn(128, **settings),
        "ntk_by_parts": scaling.ntk_by_parts(128, **settings),
    }.items():
        assert map_facts.pairs(name).slower == pytest.approx(plain / found.inv_freq)
        costs = page_of.cards[site_map._anchor(f"scaling-{name}")]["costs"]
        assert float(costs["Attention factor"]) == pytest.approx(found.attention_factor, abs=5e-4)
        assert site_map.slowing(name) in costs["Pairs"]
    assert map_facts.pairs("dynamic_ntk") == map_facts.pairs("ntk_aware")
    assert map_facts.pairs("proportional").slower[-1] == float("inf")


def test_every_model_stands_at_its_scaling(page_of: Cards) -> None:
    for model, config in configs.MODELS.items():
        where = [name for anchor, name in SCALING_CARDS.items() if model in re.split(r"[,\s]+", _who(page_of, anchor))]
        assert len(where) == 1, model
        layer_type = config.layer_types[0] if config.layer_types else None
        length = config.max_position_embeddings
        changed = configs.scaled(config, length, layer_type).inv_freq / configs.unscaled(config, layer_type).inv_freq
        assert (where == ["default"]) == bool((changed == 1).all()), model
    assert f"All {len(configs.MODELS)} models" in page_of.cards["rope"]["text"]


def _who(page_of: Cards, anchor: str) -> str:
    """The names on a card, without those of the example."""
    return page_of.cards[anchor]["text"].partition("Pairs")[0]


# ---- how it looks ---------------------------------------------------------------------------------------------------


@pytest.mark.release
@pytest.mark.parametrize("width", [360, 1280])
def test_the_diagram_and_the_cards_fit(width: int, site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page(width=width)
    page.goto(f"{site_url}/{NAME}")
    scroll_through(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    tops = [box["y"] for box in (door.bounding_box() for door in page.locator(".map-door").all()) if box]
    assert (len(set(tops)) == 1) == (width > 720)  # beside one another, or one below the other
    for link in page.locator(".map-chips a").all():
        box = link.bounding_box()
        assert box is not None
        assert box["height"] >= 24
    inner = "(boxes) => boxes.every((box) => box.scrollWidth <= box.clientWidth + 1)"
    assert page.locator(".map-formula").evaluate_all(inner)
    assert page.locator(".map-card").evaluate_all(inner)
    assert page.locator(".map-doors figcaption").inner_text()


def test_a_name_in_the_diagram_leads_to_its_card(site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page(width=360)
    page.goto(f"{site_url}/{NAME}")
    page.locator(".map-chips a", has_text="Sandwich").click()
    page.wait_for_function("location.hash === '#sandwich'")
    page.wait_for_function("Math.abs(document.querySelector('#sandwich').getBoundingClientRect().top) < 200")


@pytest.mark.release
def test_it_prints_on_two_sheets(site_url: str, new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.goto(f"{site_url}/{NAME}")
    scroll_through(page)
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 2
    assert set(re.findall(rb"/MediaBox\s*\[0 0 (\d+)", printed)) <= {b"594", b"595", b"596"}  # A4


def test_a_scaled_model_is_judged_against_the_model_as_trained() -> None:
    """Not against itself where it is scaled and need not be: that costs position interpolation its copying."""
    interpolated, plain = map_facts.scaling_reach("linear")[0], map_facts.scaling_reach("default")[0]
    assert interpolated.start == plain.start
    assert interpolated.learned_to_copy
    assert 'style="--lost:0.8' in site_map._cell(interpolated.rows["text"][0], plain.start["text"], 1)
