"""The explorables on the built pages, in a real browser and without a kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Locator, Page
from scipy.special import sici

from posenc.analysis import abel_bound, decay, decay_law, expected_score, fingerprint_difference
from posenc.figures import PALETTE
from posenc.frequencies import inv_freq
from posenc.widgets import DecayExplorer, Explorable, FrequencyBank
from tests.site.browser import ROOT

CHAPTER = "notebooks/08_multi_frequency_decay.html"
PAGES = {DecayExplorer: "book/intro.html", FrequencyBank: CHAPTER}
ARITHMETIC = (ROOT / "src" / "posenc" / "js" / "arithmetic.js").read_text(encoding="utf-8")
BASES = (1.0, 1.023, 10.0, 500.0, 1e4, 1e6, 1e8)  # the ends of the slider, its first step, and between
DIMS = (2, 4, 128, 256)

SETTINGS = {
    DecayExplorer: [
        {},
        {"base": 1.0, "distance": 64, "dim": 2, "show_score": True, "correlation": -1.0},
        {"base": 1e8, "distance": 65_536, "dim": 256, "show_bound": True, "show_logarithm": True},
        {"base": 500.0, "distance": 3000, "show_score": True, "correlation": 0.35, "log_distance": True},
        {"base": 1e6, "distance": 8, "dim": 64, "show_law": False, "show_bound": True},
    ],
    FrequencyBank: [
        {},
        {"distance": 0, "other": 0},
        {"distance": 65_536, "other": 0, "base": 1.0, "dim": 2},
        {"distance": 1, "other": 65_535, "base": 1e8, "dim": 256},
        {"distance": 4096, "other": 4000, "base": 5e5, "dim": 64},
    ],
}


@pytest.fixture
def arithmetic(new_page: Callable[..., Page]) -> Callable:
    """Evaluates an expression with the arithmetic module as `A` and a value as `x`."""
    page = new_page()
    page.goto("about:blank")
    page.evaluate(
        """async (source) => {
          window.A = await import(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
        }""",
        ARITHMETIC,
    )
    return lambda expression, x=None: page.evaluate(f"(x) => {expression}", x)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("base", BASES)
def test_arithmetic_equals_python(arithmetic, dim, base):
    frequencies = inv_freq(dim, base)
    x = {"dim": dim, "base": base}
    same = lambda expression, expected, tolerance=1e-10: np.testing.assert_allclose(  # noqa: E731
        arithmetic(expression, x), expected, atol=tolerance, rtol=0
    )
    same("Array.from(A.inverseFrequencies(x.dim, x.base))", frequencies, 1e-15)
    for distance in (0, 1, 500, 65_536):
        at = f"{distance}, A.inverseFrequencies(x.dim, x.base)"
        same(f"Array.from(A.turns({at}))", distance * frequencies / (2 * np.pi))
        same(f"Array.from(A.cosines({at}))", np.cos(distance * frequencies))
        same(f"A.decay({at})", decay(distance, frequencies))
    for first, second in ((500, 501), (0, 65_536)):
        expected = fingerprint_difference(first, second, frequencies)
        same(f"Array.from(A.fingerprintDifference({first}, {second}, A.inverseFrequencies(x.dim, x.base)))", expected)
    assert arithmetic("A.fingerprintDifference(7, 7, A.inverseFrequencies(x.dim, x.base))", x) is None


@pytest.mark.parametrize(("dim", "distance"), [(2, 8), (128, 4096), (256, 65_536)])
@pytest.mark.parametrize("base", [1.0, 1e4, 1e8])
def test_sums_over_pairs_equal_python_at_every_distance(arithmetic, dim, distance, base):
    result = arithmetic(
        """{
          const sums = new A.PairSums(x.dim / 2, x.distance).table(A.inverseFrequencies(x.dim, x.base));
          const n = x.distance + 1;
          const [score, square, bound] = [new Float64Array(n), new Float64Array(n), new Float64Array(n)];
          for (let start = 0; start < n; start += 1000) {  // runs that do not keep to the table's blocks
            sums.scores(start, Math.min(start + 1000, n), score, square);
            sums.bounds(start, Math.min(start + 1000, n), bound);
          }
          return [Array.from(score), Array.from(square), Array.from(bound)];
        }""",
        {"dim": dim, "base": base, "distance": distance},
    )
    m, frequencies = np.arange(distance + 1), inv_freq(dim, base)
    cosines = np.cos(m[:, None] * frequencies)
    np.testing.assert_allclose(result[0], decay(m, frequencies), atol=1e-10, rtol=0)
    np.testing.assert_allclose(result[1], np.mean(cosines**2, axis=-1), atol=1e-10, rtol=0)
    np.testing.assert_allclose(result[2], abel_bound(m, frequencies) / abel_bound(0, frequencies), atol=1e-10, rtol=0)


def test_cosine_integral_equals_scipy(arithmetic):
    points = [*np.logspace(-8, 5, 200), 3.999, 4.0, 4.001]
    np.testing.assert_allclose(arithmetic("x.map(A.cosineIntegral)", points), sici(points)[1], atol=1e-13, rtol=0)


@pytest.mark.parametrize("base", BASES)
def test_law_and_spread_equal_python(arithmetic, base):
    m = [0, 1, 2, 10, 100, 4095, 65_536]
    law = arithmetic("x.m.map((m) => A.decayLaw(m, x.base))", {"m": m, "base": base})
    np.testing.assert_allclose(law, decay_law(m, base), atol=1e-10, rtol=0)
    frequencies = inv_freq(128, base)
    for rho in (-1, -0.5, 0, 0.8, 1):
        squares = np.mean(np.cos(np.asarray(m)[:, None] * frequencies) ** 2, axis=-1)
        spread = arithmetic("x.map(([rho, square]) => A.relativeSpread(rho, square, 64))", [[rho, s] for s in squares])
        np.testing.assert_allclose(spread, expected_score(m, frequencies, rho)[1] ** 0.5 / 128, atol=1e-10, rtol=0)


# ---- on the page -------------------------------------------------------------------------------------------------


class Live:
    """One explorable on a page."""

    def __init__(self, page: Page, module: str) -> None:
        self.page = page
        self.figure = page.locator(f"figure.posenc-explorable[data-module={module}]").first
        self.figure.scroll_into_view_if_needed()
        page.wait_for_function("(figure) => figure.dataset.ready", arg=self.figure.element_handle())
        self.settle()

    def evaluate(self, expression: str, x: object = None):
        return self.figure.evaluate(
            "async (figure, x) => {"
            " const model = figure.posencModel;"
            " const explorable = figure.querySelector('.posenc-explorable-view').explorable;"
            f" return {expression}; }}",
            x,
        )

    def settle(self) -> None:
        self.page.wait_for_function(
            "(figure) => figure.querySelector('.posenc-explorable-view').explorable.done",
            arg=self.figure.element_handle(),
        )

    def set(self, **setting: object) -> None:
        self.evaluate("Object.entries(x).forEach(([name, value]) => model.set(name, value))", setting)
        self.settle()

    def get(self, name: str):
        self.settle()
        return self.evaluate("model.get(x)", name)

    def control(self, name: str) -> Locator:
        return self.figure.locator(f"[data-control={name}]")

    @property
    def finding(self) -> str:
        self.settle()
        return self.figure.locator(".posenc-finding").inner_text()

    @property
    def notice(self) -> str:
        return self.figure.locator(".posenc-notice").inner_text()


@pytest.fixture
def open_live(new_page: Callable[..., Page], site_url: str) -> Callable[..., Live]:
    def make(cls: type[Explorable] = DecayExplorer, where: str = "", **options: object) -> Live:
        page = new_page(**options)
        page.goto(f"{site_url}/{where or PAGES[cls]}")
        return Live(page, cls.module)

    return make


@pytest.mark.parametrize(
    ("cls", "setting"),
    [(cls, setting) for cls, settings in SETTINGS.items() for setting in settings],
    ids=lambda value: getattr(value, "__name__", None) or ",".join(map(str, value.values())) or "opening",
)
def test_drawn_data_and_finding_equal_python(open_live, cls, setting):
    live, widget = open_live(cls), cls(**setting)
    live.set(**widget.setting())
    drawn = live.evaluate(
        "Object.fromEntries(Object.entries(explorable.values).filter(([, v]) => v !== undefined)"
        ".map(([name, v]) => [name, v?.length ? Array.from(v) : v]))"
    )
    drawn.pop("square", None)  # what the spread is made of; not a curve
    expected = widget.values()
    assert set(drawn) == set(expected)
    for name, values in expected.items():
        if values is None:
            assert drawn[name] is None
        else:
            np.testing.assert_allclose(np.array(drawn[name], float), values, atol=1e-10, rtol=0, err_msg=name)
    assert live.finding == widget.finding()


# Colours of the nine pixels around each point; read from a copy, so that the page's own canvas stays as it is.
INK = """(() => {
  const canvas = figure.querySelector('canvas'), copy = new OffscreenCanvas(canvas.width, canvas.height);
  const context = copy.getContext('2d', { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  return x.map(([m, value]) => {
    const [px, py] = explorable.pixel(m, value);
    return Array.from(context.getImageData(Math.round(px) - 1, Math.round(py) - 1, 3, 3).data);
  });
})()"""


def rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_curve_is_inked_where_the_values_are(open_live, theme):
    live = open_live(theme=theme)
    live.set(distance=200, dim=32, show_law=False, log_distance=False)
    score = DecayExplorer(distance=200, dim=32).values()["score"]
    pixels = [
        *live.evaluate(INK, [[m, score[m]] for m in (0, 3, 17, 60, 111, 200)]),
        *live.evaluate(INK, [[100, -0.75]]),
    ]
    *inked, empty = np.reshape(pixels, (7, 9, 4))
    for square in inked:
        assert np.abs(square[:, :3] - rgb(PALETTE["score"])).max(axis=1).min() < 40
    assert not empty.any()  # nothing is drawn where no curve is


def test_the_mouse_moves_a_slider(open_live):
    live = open_live()
    before, box = live.finding, live.control("base").locator("input[type=range]").bounding_box()
    page, y = live.page, box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.75, y, steps=5)
    page.mouse.up()
    assert 5e5 < live.get("base") < 2e6  # three quarters of the way from 1 to 10⁸, on a logarithmic track
    assert live.finding != before
    assert live.control("base").locator("input[type=text]").input_value() == f"{live.get('base'):.0f}"


@pytest.mark.parametrize("cls", [DecayExplorer, FrequencyBank])
def test_every_slider_answers_to_mouse_keys_and_typing(open_live, cls):
    live = open_live(cls)
    if cls is DecayExplorer:
        live.set(show_score=True)
    for control in cls.controls():
        name = control["name"]
        if control["scale"] == "switch":
            continue
        slider, typed = (live.control(name).locator(f"input[type={kind}]") for kind in ("range", "text"))
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        live.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        live.page.mouse.down()
        live.page.mouse.move(box["x"] + box["width"] + 20, box["y"] + box["height"] / 2, steps=3)
        live.page.mouse.up()
        assert live.get(name) == control["greatest"], f"{name} by mouse"
        slider.press("Home")
        assert live.get(name) == control["least"], f"{name} by keyboard"
        opening = cls.class_traits()[name].default_value
        typed.fill(str(opening))
        typed.press("Enter")
        assert live.get(name) == opening, f"{name} typed"
        assert live.finding == cls(**{name: live.get(name) for name in cls().setting()}).finding()


@pytest.mark.parametrize(
    ("name", "key", "expected"),
    [
        ("dim", "ArrowRight", 130), ("dim", "ArrowLeft", 126), ("dim", "PageUp", 148), ("dim", "Home", 2),
        ("dim", "End", 256), ("distance", "ArrowRight", 4097), ("distance", "PageDown", 3686), ("base", "End", 1e8),
        ("base", "Home", 1), ("base", "ArrowUp", 10_500),
    ],
)  # fmt: skip
def test_keys_move_a_slider(open_live, name, key, expected):
    live = open_live()
    live.control(name).locator("input[type=range]").press(key)
    assert live.get(name) == expected


BASE = "base takes numbers from 1 to 100\u202f000\u202f000; "
DISTANCE = "distances up to takes whole numbers from 8 to 65\u202f536; "
STAYS = "is not one, so it stays 10\u202f000."


@pytest.mark.parametrize(
    ("name", "typed", "expected", "notice"),
    [
        ("base", "500000", 500_000, ""),
        ("base", "5e5", 500_000, ""),
        ("base", "10 000 000", 1e7, ""),
        ("base", "0.5", 1, BASE + "0.5 became 1."),
        ("base", "-3", 1, BASE + "-3 became 1."),
        ("base", "many", 10_000, f"{BASE}“many” {STAYS}"),
        ("base", "", 10_000, f"{BASE}“” {STAYS}"),
        ("base", "NaN", 10_000, f"{BASE}“NaN” {STAYS}"),
        ("dim", "64", 64, ""),
        ("dim", "7", 8, "width d takes even numbers from 2 to 256; 7 became 8."),
        ("dim", "1000", 256, "width d takes even numbers from 2 to 256; 1000 became 256."),
        ("distance", "99.6", 100, DISTANCE + "99.6 became 100."),
        ("distance", "1e9", 65_536, DISTANCE + "1e9 became 65\u202f536."),
    ],
)  # fmt: skip
def test_typed_values_are_taken_or_clamped_in_words(open_live, name, typed, expected, notice):
    live = open_live()
    field = live.control(name).locator("input[type=text]")
    field.fill(typed)
    field.press("Enter")
    field.blur()
    assert live.get(name) == expected
    assert live.notice == notice
    assert float(field.input_value()) == expected


def test_switches_and_the_slider_that_needs_one(open_live):
    live = open_live()
    assert live.control("correlation").is_hidden()
    live.control("show_score").locator("input").check()
    assert live.get("show_score") is True
    assert live.control("correlation").is_visible()
    assert "Queries and keys of correlation 0.80" in live.finding


def test_reset_brings_the_opening_setting_back(open_live):
    live = open_live()
    before = live.finding
    live.set(base=500.0, dim=64)
    assert live.finding != before
    live.figure.get_by_role("button", name="Reset").click()
    assert live.get("base") == 10_000
    assert live.finding == before


def test_a_point_is_read_off_by_mouse_and_keys(open_live):
    live = open_live()
    live.set(distance=1000, log_distance=False)
    px, py = live.evaluate("explorable.pixel(500, 0)")
    live.figure.locator("canvas").hover(position={"x": px, "y": py})
    readout = live.figure.locator(".posenc-readout")
    values = DecayExplorer(distance=1000).values()
    assert readout.inner_text().startswith("m = 500: ") or readout.inner_text().startswith("m = 499: ")
    reader = live.figure.locator(".posenc-reader")
    at = int(readout.inner_text().split()[2].rstrip(":"))
    reader.press("ArrowRight")
    assert readout.inner_text() == f"m = {at + 1}: S {values['score'][at + 1]:.4f} · law {values['law'][at + 1]:.4f}"


def test_two_explorables_on_one_page_are_independent(open_live):
    decay_live = open_live(where=CHAPTER)
    bank = Live(decay_live.page, FrequencyBank.module)
    before = bank.finding
    decay_live.set(base=500.0)
    assert bank.get("base") == 10_000
    assert bank.finding == before
    bank.set(dim=8)
    assert decay_live.get("dim") == 128


def test_a_link_restores_a_setting(open_live, new_page):
    live = open_live(where=CHAPTER)
    live.set(base=500.0, dim=64, log_distance=False)
    link = live.evaluate("model.settingLink()")
    page = new_page()
    page.goto(link)
    again = Live(page, DecayExplorer.module)
    assert again.evaluate("['base', 'dim', 'log_distance'].map((name) => model.get(name))") == [500, 64, False]
    assert again.finding == live.finding


def test_a_link_with_foreign_values_is_clamped(open_live):
    again = open_live(where="book/intro.html#explorable-1:base=1e99&dim=seven&distance=50")
    assert again.evaluate("['base', 'dim', 'distance'].map((name) => model.get(name))") == [1e8, 128, 50]


def test_the_theme_switch_redraws(open_live):
    live = open_live(theme="light")
    picture = "figure.querySelector('canvas').toDataURL()"
    light = live.evaluate(picture)
    live.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    live.page.wait_for_function(
        "([figure, light]) => figure.querySelector('canvas').toDataURL() !== light",
        arg=[live.figure.element_handle(), light],
    )


@pytest.mark.parametrize("cls", [DecayExplorer, FrequencyBank])
def test_it_fits_a_phone(open_live, cls):
    live = open_live(cls, width=360, height=740)
    assert live.evaluate("figure.scrollWidth <= figure.clientWidth")
    assert live.evaluate("document.documentElement.scrollWidth <= 360")
    field = live.control("base").locator("input[type=text]").bounding_box()
    assert field["x"] + field["width"] <= 360


def test_every_control_has_a_name_and_its_value_in_words(open_live):
    for cls in (DecayExplorer, FrequencyBank):
        live = open_live(cls)
        for control in cls.controls():
            if control["scale"] == "switch":
                assert live.figure.get_by_role("checkbox", name=control["label"], exact=True).count() == 1
            elif not control["needs"]:
                slider = live.figure.get_by_role("slider", name=control["label"], exact=True)
                assert slider.get_attribute("aria-valuetext")
        assert live.finding in live.figure.locator("canvas").get_attribute("aria-label")


def test_the_landing_page_has_a_live_explorable(open_live):
    live = open_live(where="book/intro.html")
    before = live.finding
    live.control("base").locator("input[type=range]").press("Home")
    assert live.get("base") == 1
    assert live.finding != before
