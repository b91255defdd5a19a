"""LayerStack beyond the battery: switches in the picture, their chips, the match, the text's end, the arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from posenc.analysis import decay
from posenc.widgets import LayerStack
from posenc.widgets.layer_stack import LONGEST, STACKS, frequencies_of, match_share, new_pairs, query_scale
from tests.book.site.hands import drag, press
from tests.book.site.live import assert_same
from tests.book.site.test_explorables import TOGETHER
from tests.book.site.texts import collisions

pytestmark = pytest.mark.xdist_group("LayerStack")
MODELS = tuple(STACKS)


def switch(live, layer: int, which: str) -> tuple[float, float]:
    """Where a switch of a layer is pressed, the lowest being 0."""
    x, y = live.evaluate(f"explorable.pixel({layer}, 1)")
    narrow = x < 150
    return {"rotation": 30 if narrow else 50, "window": 70 if narrow else 140}[which], y


@pytest.mark.parametrize("width", [1280, 360])
def test_a_layer_is_switched_in_the_picture(open_live, width):
    live = open_live(LayerStack, width=width)
    for layer, which, pattern in (
        (3, "rotation", "RRRRRRRN"),
        (0, "window", "rRRRRRRN"),
        (7, "window", "rRRRRRRn"),
        (7, "rotation", "rRRRRRRr"),
    ):
        press(live, *switch(live, layer, which))
        assert live.get("layers") == pattern
        assert live.finding == LayerStack(layers=pattern).finding()
    live.set(layers="NRRNRRRN")
    press(live, *switch(live, 0, "rotation"))
    assert live.get("layers") == "", "as the model has them"


def test_a_layer_is_switched_by_keys_and_layers_come_and_go(open_live):
    live = open_live(LayerStack)
    live.open()
    group = live.figure.get_by_role("group", name="layers", exact=True)
    first = group.get_by_role("button", name="layer 1 from below: rotates, sees all", exact=True)
    first.focus()
    for pattern in ("rRRNRRRN", "NRRNRRRN", "nRRNRRRN", ""):
        live.page.keyboard.press("Enter")
        assert live.get("layers") == pattern
        live.page.keyboard.press("Shift")
    assert group.get_by_role("button", name="layer 8 from below: does not rotate, sees all", exact=True).count() == 1
    add, take = (group.get_by_role("button", name=name) for name in ("Add a layer", "Take one away"))
    for count in (9, 10, 11, 12):
        add.click()
        assert live.get("layers") == (3 * "RRRN")[:count]
        assert live.finding == LayerStack(layers=live.get("layers")).finding()
    assert add.is_disabled()
    for count in range(11, 3, -1):
        take.click()
        assert live.values()["pattern"] == (3 * "RRRN")[:count]
    assert take.is_disabled()


def test_twelve_layers_have_their_chips_and_their_picture_on_a_phone(open_live):
    live = open_live(LayerStack, width=360, height=740, has_touch=True, is_mobile=True)
    live.open()
    live.set(layers=3 * "RrNn")
    assert live.evaluate(TOGETHER) == []


def test_a_model_brings_its_own_layers(open_live):
    live = open_live(LayerStack)
    live.set(layers="NNNN")
    live.control("model").get_by_text("Llama 4", exact=True).click()
    assert (live.get("model"), live.get("layers")) == ("llama4", "")
    assert live.values()["pattern"] == "rrrNrrrN"


def test_a_refused_pattern_says_what_is_accepted(open_live):
    live = open_live(LayerStack)
    live.evaluate("model.set('_restore', x)", {"layers": "RRR"})
    assert live.get("layers") == ""
    assert live.notice.startswith("layers takes 4 to 12 letters from the bottom up")
    live.evaluate("model.set('_restore', x)", {"layers": "RnrN"})
    assert (live.get("layers"), live.notice) == ("RnrN", "")


@pytest.mark.parametrize("finger", [False, True])
def test_the_match_is_dragged_on_any_strip(open_live, finger):
    live = open_live(LayerStack, width=360, has_touch=True)
    for layer, back in ((0, 40), (7, 20_000), (4, 1)):
        x, y = live.evaluate(f"explorable.pixel({layer}, {live.get('distance')})")
        to, _ = live.evaluate(f"explorable.pixel({layer}, {back})")
        drag(live, [(x, y), ((x + to) / 2, y), (to, y)], finger=finger)
        assert live.get("distance") == pytest.approx(back, rel=0.08)


def test_the_match_stays_in_the_text(open_live):
    live = open_live(LayerStack)
    live.set(distance=50_000, context=10_000)
    [match] = [handle for handle in live.evaluate("explorable.handles") if handle["name"] == "match"]
    assert match["x"] == pytest.approx(live.evaluate("explorable.pixel(0, 9999)")[0])
    assert live.finding.startswith("9\u202f999 tokens back")


def test_the_first_sums_of_a_long_text_are_completed_in_slices(open_live):
    live = open_live(LayerStack)
    live.set(model="qwen3", lies_in="slow", context=LONGEST, lead=20.0)
    assert_same(live.values(), LayerStack(**live.setting()).values())


@pytest.mark.parametrize("width", [1280, 360])
def test_no_label_covers_another_however_the_lines_stand(open_live, width):
    live = open_live(LayerStack, width=width)
    for model in MODELS:
        for distance, context in ((1, 128), (100, 100_000), (4000, 4096), (30_000, 40_000), (900_000, LONGEST)):
            for layers in ("", "rRnNrRnNrRnN"):
                setting = {"model": model, "distance": distance, "context": context, "layers": layers}
                assert collisions(live, **setting) == [], setting


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("lies_in", ["all", "slow"])
@pytest.mark.parametrize("which", ["full", "local"])
def test_sums_over_pairs_equal_python(arithmetic, model, lies_in, which):
    numbers = STACKS[model][which]
    drawn = arithmetic(
        """(() => {
          const frequencies = A.frequenciesOf(x.numbers, x.lies_in), sums = new A.DecayTable(frequencies);
          while (!sums.fill(9000, performance.now() + 1)) {}
          const columns = [[0, 1, 2], [1, 2, 700], [2, 700, 9000]], { low, high } = sums.extremes(columns);
          return { frequencies, score: sums.score.subarray(0, 9000), low, high };
        })()""",
        {"numbers": numbers, "lies_in": lies_in},
    )
    frequencies = frequencies_of(numbers, lies_in)
    scores = decay(np.arange(9000), frequencies)
    np.testing.assert_allclose(drawn["frequencies"], frequencies, atol=1e-15)
    np.testing.assert_allclose(drawn["score"], scores, atol=1e-10)
    for name, extreme in (("low", np.min), ("high", np.max)):
        expected = [extreme(scores[first:stop]) for first, stop in ((1, 2), (2, 700), (700, 9000))]
        np.testing.assert_allclose(drawn[name], expected, atol=1e-10)


def test_shares_and_temperature_equal_python(arithmetic):
    scores, keys = np.linspace(-5, 40, 200), (1, 2, 128, 8191, 8192, 65_536, LONGEST)
    for n in keys:
        drawn = arithmetic("x.scores.map((score) => A.matchShare(score, x.n))", {"scores": scores, "n": n})
        np.testing.assert_allclose(drawn, match_share(scores, n), atol=1e-12)
    np.testing.assert_allclose(
        arithmetic("x.map(A.queryScale)", list(keys)), [query_scale(n) for n in keys], rtol=1e-14
    )


@pytest.mark.parametrize("model", MODELS)
def test_new_pairs_equal_python(arithmetic, model):
    numbers, trained = STACKS[model]["full"], STACKS[model]["length"]
    at = [trained, trained + 1, 2 * trained, 3 * trained + 7, LONGEST - 1]
    drawn = arithmetic(
        "x.at.map((at) => A.newPairs(at, A.frequenciesOf(x.numbers, 'all'), x.trained))",
        {"numbers": numbers, "trained": trained, "at": at},
    )
    assert list(drawn) == [new_pairs(distance, frequencies_of(numbers, "all"), trained) for distance in at]


def test_halves_are_found_where_the_sum_rises_again(arithmetic):
    [reach, sure] = arithmetic(
        """(() => {
          const sums = new A.DecayTable(Float64Array.of(0.7, 0.1));
          sums.fill(200, Infinity);
          const { reach, sure } = sums.halves(200, 8);
          return [reach, sure];
        })()"""
    )
    shares = match_share(8 * decay(np.arange(200), [0.7, 0.1]), 200)
    halves = np.flatnonzero(shares >= 0.5)
    assert reach == halves[-1]
    assert sure == next(m for m in range(1, 200) if shares[m] < 0.5) - 1
    assert sure < reach
