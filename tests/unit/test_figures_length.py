"""posenc.figures.length: what is drawn of texts longer than those of training."""

import itertools

import numpy as np

from posenc import figures
from posenc.analysis import decay_law, fingerprint, fit_scores
from posenc.figures.length import _box, _shared
from posenc.frequencies import inv_freq
from tests.unit.figure_examples import (
    ALLOWED,
    CIRCLE,
    DRAWN,
    EXAMPLES,
    LISTS,
    LOWEST,
    MEASURED,
    METHODS,
    NOISE,
    SEEDED,
    TRAINED,
    alt,
    title,
)


def test_accuracy_maps():
    figure = EXAMPLES["accuracy_maps"]()
    maps, numbers = ([one for one in figure.data if one.type == kind] for kind in ("heatmap", "scatter"))
    assert [one.z.tolist() for one in maps] == [[[0.5, 0.25], [1, 0]], [[0.5, 0], [0.25, 0.75]]]
    assert [list(one.text) for one in numbers] == [["0.50", "0.25", "1.00", "0.00"], ["0.50", "0.00", "0.25", "0.75"]]
    assert title(figure) == "Accuracies at 1\u202f000: 0.00 to 0.25 (short), 0.00 to 0.75 (long)"
    assert list(figure.layout.yaxis.ticktext) == ["PI", "YaRN"]
    assert "short: PI 0.50, 0.25; YaRN 1.00, 0.00. long:" in alt(figure)


def test_rotations_by_model():
    figure = EXAMPLES["rotations_by_model"]()
    for trace, (length, frequencies) in zip(figure.data, LISTS.values(), strict=True):
        np.testing.assert_allclose(trace.x, length * frequencies / (2 * np.pi), rtol=1e-6)
    short = [np.sum(length * frequencies < 2 * np.pi) for length, frequencies in LISTS.values()]
    assert title(figure).endswith(f"from {short[0]} of 32 (one) to {short[1]} of 64 (two)")
    assert short[0] / 32 < short[1] / 64 == short[2] / 64  # the first of equals is named


def test_context_and_wavelength():
    figure = EXAMPLES["context_and_wavelength"]()
    *ways, diagonal, points, ends = figure.data
    for way, name in zip(ways, ALLOWED, strict=True):
        assert list(zip(way.x, way.y, strict=True)) == [TRAINED[name], ALLOWED[name]]
    assert dict(zip(zip(points.x, points.y, strict=True), points.text, strict=True)) == {
        TRAINED["one"]: "one", TRAINED["two"]: "two<br>three", TRAINED["near"]: "near"
    }  # fmt: skip
    assert list(ends.text) == ["one", ""]  # the second moved so little that its name stands already
    span = f"{4096 / 5.1e6:.2g} (three) to 0.087 (near)"
    assert title(figure) == f"None of 4 slowest pairs made a full rotation within the trained length: {span}"
    crowd = {"low": (4096, 5e4), "high": (4096, 6e5), "right": (8192, 6e4)}
    ends = {"above": (9e4, 3e6), "below": (1e5, 2e6), "far": (1e5, 1e8)}
    figure = figures.context_and_wavelength(crowd, ends)
    *_, points, circles = figure.data
    sides = dict(zip((*points.text, *circles.text), (*points.textposition, *circles.textposition), strict=True))
    drawn = [one for trace in (points, circles) for one in zip(trace.x, trace.y, trace.text, strict=True)]
    for plane in ([236, 520], [630, 530]):  # a phone's and a page's
        corners = np.transpose([figure.layout.xaxis.range, figure.layout.yaxis.range])
        places = {name: (np.log10([x, y]) - corners[0]) / np.ptp(corners, axis=0) * plane for x, y, name in drawn}
        boxes = {name: _box(at, name, sides[name]) for name, at in places.items()}
        for one, other in itertools.combinations(boxes, 2):
            assert not _shared(boxes[one], boxes[other]), f"{one} on {other}"


def test_min_scores():
    figure = EXAMPLES["min_scores"]()
    law, passes, fails = figure.data
    np.testing.assert_allclose(law.y, [decay_law(1024, base) for base in LOWEST], atol=DRAWN)
    for trace, passing in ((passes, True), (fails, False)):
        bases = [base for base, least in LOWEST.items() if (least >= 0) == passing]
        assert list(trace.x) == bases
        np.testing.assert_allclose(trace.y, [LOWEST[base] for base in bases], atol=DRAWN)
    bad = [base for base in LOWEST if base > 4300 and LOWEST[base] < 0]
    assert passes.x[0] == 4300
    assert f"base 4\u202f300 is the first that passes, and {len(bad)} larger" in title(figure)
    assert "and so do all above it" in title(figures.min_scores(9, {2.0: -0.1, 3.0: 0.0, 4.0: 0.1}))
    assert "becomes negative for each" in title(figures.min_scores(9, {2.0: -0.1}))


def test_scaling_ratios():
    figure, theta = EXAMPLES["scaling_ratios"](), inv_freq(64)
    for trace, (name, scaled) in zip(figure.data, METHODS.items(), strict=True):
        assert trace.name == name
        np.testing.assert_allclose(trace.x, 2048 * theta / (2 * np.pi), rtol=1e-6)
        np.testing.assert_allclose(trace.y, scaled.inv_freq / theta, atol=DRAWN)
    kept = np.count_nonzero(np.abs(METHODS["YaRN"].inv_freq / theta - 1) < 1e-6)
    assert f"Pairs with unchanged frequency, of 32: 0 (linear), {kept} (YaRN)" in title(figure)


def test_over_seeds():
    figure = EXAMPLES["over_seeds"]()
    every = [(name, values) for methods in SEEDED.values() for name, values in methods.items()]
    lines = [trace for trace in figure.data if trace.mode == "lines+markers"]
    bands = [trace for trace in figure.data if trace.fill]
    for line, band, (name, values) in zip(lines, bands, every, strict=True):
        mean, low, high = np.transpose(values)
        assert line.name == band.name == name
        np.testing.assert_allclose(line.y, mean, atol=DRAWN)
        np.testing.assert_allclose(band.y, [*high, *low[::-1]], atol=DRAWN)
    levels = [trace for trace in figure.data if trace.name == "cut text"]
    assert [list(trace.y) for trace in levels] == [[1.3, 1.3], [1.4, 1.4]]
    assert (
        "At 16 times the length, loss: from 2.20 (YaRN) to 3.60 (none), cut text 1.30 (base 100); "
        "from 2.50 (none) to 2.70 (YaRN), cut text 1.40 (base 500)"
    ) in title(figure)


def test_metrics_by_length():
    figure = EXAMPLES["metrics_by_length"]()
    line, *seeds = figure.data[:3]
    assert line.y.tolist() == [1.375, 3.25]
    assert [dots.y.tolist() for dots in seeds] == MEASURED["text: loss"]["base 100"].tolist()
    cuts = {}
    for trace in figure.data:
        if trace.name.endswith(", truncated to 128 tokens"):
            cuts.setdefault(trace.name.partition(",")[0], []).append((trace.y.tolist(), trace.line.color))
    lines = {trace.name: trace.line.color for trace in figure.data[:6:3]}
    assert cuts["base 100"] == [([1.375, 1.375], lines["base 100"]), ([0.875, 0.875], lines["base 100"])]
    assert cuts["base 10"] == [([1.0, 1.0], lines["base 10"])]
    assert "text 1.38 → 3.25 → 3.25; copying 0.88 → 0.38 → 0.38" in title(figure)


def test_loss_past_context():
    figure = EXAMPLES["loss_past_context"]()
    first, second = figure.data
    assert first.y.tolist() == [2, 1, 1.5, 4]
    assert (first.x0, first.dx, len(second.y)) == (2, 4, 3)  # the middle of each step
    assert title(figure) == "Loss in the last 4 tokens: a 4.00, b 1.25"


def test_fitted_scores():
    figure = EXAMPLES["fitted_scores"]()
    every, fast = figure.data
    theta = inv_freq(32, 1e4)
    for trace, least in ((every, 0), (fast, 4)):
        fit = fit_scores(NOISE, theta, min_rotations=least)
        size = np.abs(fingerprint(np.arange(256), fit.inv_freq) @ fit.coefficients).reshape(64, 4).max(axis=1)
        np.testing.assert_allclose(trace.y[:64], size, rtol=1e-3)
    assert every.y[64:].max() > 1000 > 10 > fast.y[64:].max()
    assert "reaches 10⁷ (all 16 pairs)" in title(figure)
    assert f"{fit.past_range:.2f} ({len(fit.inv_freq)} pairs with at least 4 rotations)" in title(figure)


def test_scores_by_cache():
    figure = EXAMPLES["scores_by_cache"]()
    assert [(trace.x0, trace.y.tolist()) for trace in figure.data] == [(0, [0, 1, 0.25]), (0, [0.25, 0, 0.5])]
    assert "attends 1 tokens back: at distance 1 (fresh), 2 (stale)" in title(figure)


def test_excess_loss_by_angle():
    figure = EXAMPLES["excess_loss_by_angle"]()
    assert figure.data[0].x.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert figure.data[0].y.tolist() == [0, 0, 0.25, 0.5, 0]
    assert "at 0.50 to 0.75 of a rotation" in title(figure)
    flat = CIRCLE | {"pair 3": (np.array([0.0]), np.array([0.19]))}  # below a fifth of the largest
    assert title(figures.excess_loss_by_angle(flat, "nats")) == title(figure)


def test_benchmarks():
    figure = EXAMPLES["benchmarks"]()
    colours, numbers = figure.data
    assert np.allclose(colours.z, [[1, 0], [0.625, 0.25], [0, 1]])
    text = dict(zip(zip(numbers.y.tolist(), numbers.x.tolist(), strict=True), numbers.text, strict=True))
    assert text[0, 0].endswith(">1.00–2.00</span>")
    bold = {place for place, written in text.items() if written.startswith("<b>")}
    assert bold == {(0, 0), (1, 0), (2, 1)}  # b has a seed as good as the worst of a
    assert list(figure.layout.yaxis.ticktext) == ["a", "b", "c"]
    assert title(figure) == "Best or tied on every benchmark: none of 3. Best means: a (text, L); c (copying)"
    assert "text, L: loss (nats) (lower is better): a 1.50 (1.00–2.00)" in alt(figure)


def test_scheme_comparison():
    figure = EXAMPLES["scheme_comparison"]()
    better, worse, neither = figure.data
    assert list(zip(better.y, better.x, strict=True)) == [(0, 1), (0, 2)]
    assert list(zip(worse.y, worse.x, strict=True)) == [(1, 0), (2, 0)]
    assert list(zip(neither.y, neither.x, strict=True)) == [(1, 2), (2, 1)]
    assert list(figure.layout.yaxis.ticktext) == list(figure.layout.xaxis.ticktext) == ["a", "b", "c"]
    assert title(figure).startswith("2 of 3 pairs of encodings have an order")


def test_copy_accuracy_by_distance():
    figure = EXAMPLES["copy_accuracy_by_distance"]()
    assert figure.data[0].y.tolist() == [1, 0.5, 0]
    assert title(figure) == "Copy accuracy at distance 64 after training up to 32: from 0.00 (a) to 1.00 (b)"
