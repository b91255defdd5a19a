"""Playground beyond the battery: its weights come with the first change, results stream in, presses choose."""

from __future__ import annotations

import pytest

from posenc.widgets import Playground
from posenc.widgets.playground import checkpoint
from tests.book.site.hands import drag, press
from tests.book.site.live import Live
from tests.explorables import shown
from tools import embed

PAGE = "book/playground.html"
pytestmark = pytest.mark.xdist_group("Playground")

BROUGHT = (
    "performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('full-text-'))"
)
# What is there of the losses each time that a picture is painted, once something has changed.
STREAM = """await (async () => {
  const context = figure.querySelector('canvas').getContext('2d'), clear = context.clearRect, seen = [];
  context.clearRect = function (...box) {
    seen.push(Array.from(explorable.values.losses).filter(Number.isFinite).length);
    clear.apply(this, box);
  };
  Object.entries(x).forEach(([name, value]) => model.set(name, value));
  await new Promise(requestAnimationFrame);
  while (!explorable.done) await new Promise(requestAnimationFrame);
  delete context.clearRect;
  return seen;
})()"""


def test_the_weights_come_with_the_first_change_and_results_stream_in(new_page, site_url):
    page = new_page()
    page.goto(f"{site_url}/{PAGE}")
    live = Live(page, "playground")
    for step in (list(Playground.story())[-1], "trained"):  # what steps show is stored
        live.go(step)
    assert live.finding == shown(Playground).finding
    assert page.evaluate(BROUGHT) == []
    live.set(length=128, temperature=0.9)
    assert [name.rsplit("/", 1)[1] for name in page.evaluate(BROUGHT)] == [f"{checkpoint('rope_10000')}.js"]
    counts = live.evaluate(STREAM, {"length": Playground().length, "temperature": 1.1})
    assert counts == sorted(counts)
    assert counts[0] < 16 < counts[-1] == 64
    assert len([count for count in counts if 16 <= count < 64]) > 1, (
        "beyond 512 tokens the picture is painted bit by bit"
    )
    assert live.finding == shown(Playground, temperature=1.1).finding


def test_its_page_of_one_file_asks_for_nothing_else(new_page, tmp_path):
    (tmp_path / "playground.html").write_text(embed.page(Playground), encoding="utf-8")
    page, asked = new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "playground.html").as_uri())
    live = Live(page, "playground")
    live.set(length=128, temperature=0.9)
    assert live.finding == shown(Playground, **live.setting()).finding
    assert [url for url in asked if not url.startswith(("blob:", "data:"))] == [page.url]


def test_presses_choose_pair_head_and_query(open_live):
    live = open_live(Playground)
    live.set(length=256, details=True)
    pair = live.evaluate("explorable.pixel(0, 3)[0]")
    press(live, pair, 408)
    assert live.get("pairs") == " ".join("off" if i == 3 else "-" for i in range(16))
    press(live, pair, 408)
    assert live.get("pairs") == ""
    x, y = live.evaluate("explorable.pixel(100)")
    press(live, x, y)
    assert abs(live.get("query") - 100) <= 1
    press(live, live.evaluate("explorable.pixel(250)")[0], 270)
    assert live.get("head") == "2.4"
    assert live.finding == shown(Playground, **live.setting()).finding


def test_a_dragged_bar_takes_the_slower_pairs_along(open_live):
    live = open_live(Playground)
    live.set(length=128, pairs=" ".join([*["-"] * 7, "off", *["-"] * 7, "2"]))
    x, y = live.evaluate("explorable.pixel(0, 6)")
    drag(live, [(x, y), (x, y + 20), (x, y + 40)])
    words = live.get("pairs").split()
    assert words[:6] == ["-"] * 6
    assert words[7] == "off"
    [scale] = {*words[6:7], *words[8:]}
    assert float(scale) < 0.25


def test_keys_switch_pairs_and_scale_them(open_live):
    live = open_live(Playground)
    live.set(length=128)
    live.open()
    chip = live.control("pairs").get_by_role("button", name="pair 5, ")
    chip.press("Enter")
    assert live.get("pairs").split()[5] == "off"
    assert chip.get_attribute("aria-pressed") == "false"
    chip.press("ArrowDown")
    assert live.get("pairs").split()[5] == "0.841"
    assert chip.get_attribute("aria-label") == "pair 5, frequency × 0.841"
    pressed = live.control("preset").get_by_role("radio", checked=True)
    assert pressed.count() == 0, "no method has these frequencies"
    live.control("preset").get_by_role("radio").first.press("ArrowRight")
    live.settle()
    assert (live.get("preset"), live.get("pairs")) == ("pi", ""), "a method's frequencies alone"
    assert pressed.count() == 1
    live.set(encoding="alibi")
    assert not live.control("pairs").is_visible()


def test_keys_choose_task_and_seed(open_live):
    live = open_live(Playground)
    live.set(length=128, query=60)
    live.open()
    live.control("task").get_by_role("radio").first.press("ArrowRight")
    live.settle()
    assert live.get("task") == "copy"
    assert live.finding == shown(Playground, **live.setting()).finding
    encodings = live.control("encoding")
    assert encodings.get_by_role("radio", name="NoPE: not learned").is_disabled()
    encodings.get_by_role("radio").first.press("ArrowRight")
    live.settle()
    assert live.get("encoding") == "alibi", "NoPE has not learned the task"
    assert not live.control("seed").is_visible()
    live.set(task="text")
    live.control("seed").get_by_role("radio").first.press("ArrowRight")
    live.settle()
    assert live.get("seed") == "1"
    assert live.finding == shown(Playground, **live.setting()).finding


def test_it_works_from_disk_and_by_a_link(new_page, built_site):
    setting = {"encoding": "none", "length": 128, "query": 60, "text": "own", "own_text": "a + b = c; "}
    page = new_page()
    link = "&".join(f"{name}={value}" for name, value in setting.items()).replace(" ", "%20").replace("+", "%2B")
    page.goto(f"{(built_site / PAGE).as_uri()}#playground:{link}")
    live = Live(page, "playground")
    assert {name: live.get(name) for name in setting} == setting
    assert live.finding == shown(Playground, **setting).finding
