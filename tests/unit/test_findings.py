"""The numbers of the findings and of their details: each is computed anew, and no other stands on the two pages."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from math import comb
from pathlib import Path

import numpy as np
import pytest
import yaml

from posenc.frequencies import inv_freq, rotations
from posenc.lab import real, real_results
from posenc.lab.corpus import Copy
from posenc.lab.distance_bias import distance_bias, most_negative_pairs
from posenc.lab.evaluate import BOUNDS, PUBLISHED_BOUNDS
from posenc.lab.intervals import Interval
from posenc.lab.measured import benchmarks, statistics
from tools.notebooks import load, text_of

pytestmark = pytest.mark.torch
ROOT = Path(__file__).resolve().parents[2]
NAMES = ("findings", "findings_in_detail")
PAGE = "\n".join((ROOT / "book" / f"{name}.md").read_text(encoding="utf-8") for name in NAMES).replace("\u202f", " ")
FOUND, STATISTICS = benchmarks(), statistics()
MODELS = [(base, seed) for base in (100, 10_000) for seed in (0, 1)]
LENGTH = 128


def signed(value: float, digits: int = 1, sign: str = "") -> str:
    return f"{value:{sign}z.{digits}f}".replace("-", "−")


def around(value: Interval, interval: bool = True) -> str:
    """A change, with its interval or alone."""
    ends = f" [{signed(value.low, 2)}, {signed(value.high, 2)}]"
    return signed(value.mean, 2, "+") + (ends if interval else "")


def span(values: object, digits: int = 2, sign: str = "") -> str:
    values = np.asarray(values, float)
    return f"{signed(values.min(), digits, sign)} to {signed(values.max(), digits, sign)}"


def on_average(pairs: list[int], distances: object) -> np.ndarray:
    """The bias of some of SmolLM2's pairs, averaged over its heads."""
    bias = distance_bias(real_results.products()[..., pairs], inv_freq(64, 100_000.0)[pairs], np.asarray(distances))
    return np.asarray(bias.mean(axis=(0, 1)).sum(axis=0))


def the_bias_of_smollm2() -> Iterator[str]:
    assert (real_results.CONTEXT, real.SLOW, real.SINKS) == (8192, (22, 23, 24), 4)
    assert (real.QK_TOKENS, real.FIRST, real.N_FAST) == (2048, 4, 16)
    yield "and 8192 in SmolLM2-135M-Instruct (135 million parameters, quantised to 4 bits)"
    yield "on texts of 2048 tokens, leaving out the first four of each"
    yield "(for SmolLM2, past 2048 tokens) are computed"
    yield "with pairs 0 to 15 in SmolLM2-135M"
    yield "the bias of pairs 22 to 24 in every layer"

    prose, other = (real_results.sine_coefficients(kind).mean(axis=0) for kind in ("prose", "random tokens"))
    assert np.abs(np.delete(prose, [23, 24])).max() < 1.2
    yield "while pairs 22 to 24, on average, still push"
    yield "The table shows the bias in logits at single distances, averaged over all 270 heads"
    at = [signed(-4 * np.sin(2 * np.pi * 0.4 * far), 1, "+" if far == 2 else "") for far in (0.5, 1, 2)]
    yield f"$b = -4$ and 0.4 rotations in $L$ tokens adds {at[0]} to the logit at $L/2$, {at[1]} at $L$, and {at[2]} at"
    yield "For every pair but 23 and 24, the mean $b$ on prose is within 1.2 of zero"
    done = rotations(8192, inv_freq(64, 100_000.0))
    for pair in real.SLOW:
        yield f"| {pair} | {signed(prose[pair])} | {signed(other[pair])} | {done[pair]:.2f} |"

    three, at = list(real.SLOW), np.array([128, 4096, 8192, 12_288, 16_384])
    of_three, of_all = on_average(three, at), real_results.learned_bias(at)
    yield "| distance (tokens) | 128 | 4096 | 8192 | 12 288 | 16 384 |"
    for name, bias in (("pairs 22 to 24", of_three), ("all pairs", of_all)):
        yield f"| {name} | {' | '.join(signed(value, 1, '+' if value > 0 else '') for value in bias)} |"
    assert np.exp(-of_three[1]) > 3000
    assert round(np.exp(of_three[-1]), -1) == 110
    yield f"{signed(of_three[1])} would divide a key's weight before normalisation by over 3000"
    yield f"{signed(of_three[-1], 1, '+')} would multiply it by about 110"
    rest = (of_all - of_three).round()
    yield f"The other pairs add {signed(rest.max(), 0)} to {signed(rest.min(), 0)} at all these distances"
    yield f"Near 16 000, the trained bias of the farthest tokens reaches {signed(of_three[-1], 1, '+')}"
    flat = on_average(three, range(8192, 16_384)).mean()
    assert on_average(three, range(8192, 12_288)).mean() < flat - 2
    yield f"Its level is about {signed(flat)}. For queries near position 12 000, the trained bias is lower still"
    every = np.arange(8192, 16_384)
    assert every[on_average(three, every) > 0].min() // 1000 == 13
    at_10, strongest = on_average(three, [10_000])[0], on_average(three, range(8192))
    assert 5500 < strongest.argmin() < 6500
    yield f"near 6000 ({signed(strongest.min())} logits), weaker at 10 000 ({signed(at_10)}), and gone by about 13 000"
    assert every[::16][real_results.learned_bias(every[::16]) > 0].min() > 13_000
    products, theta = real_results.products(), inv_freq(64, 100_000.0)
    near, far_away = [(products * np.exp(1j * far * theta)).real for far in (4096, 10_000)]  # by head and pair
    low, high = np.percentile(near[..., three].sum(axis=-1), (10, 90))
    yield f"at 4096 tokens, the bias of the three pairs lies between {signed(low)} and {signed(high)} in 80 % of them"
    around_10, around_12 = (
        [int(((products * np.exp(1j * far * theta)).real.sum(axis=-1) > 0).sum()) for far in range(at - 100, at + 101)]
        for at in (10_000, 12_300)
    )
    share = 100 * (far_away[..., three].sum(axis=-1) > 0).mean()
    yield f"At 10 000 they pull in only {share:.0f} % of the heads"
    yield "within 100 tokens of 10 000, the bias summed over all pairs is positive, a pull, in "
    yield f"{min(around_10)} to {max(around_10)} of the 270 heads, depending on the distance."
    yield f"Within 100 tokens of 12 300, it is positive in {min(around_12)} to {max(around_12)}."
    assert (on_average(three, range(8192, 12_288)) < flat).mean() > 0.95  # "at nearly all distances"

    b = -real_results.products().imag  # (layers, heads, pairs)
    assert b[..., 0].size == 270
    pushing = 100 * ((b[..., three] < -3).sum(axis=-1) == 1).mean()
    yield f"In {pushing:.0f} % of SmolLM2-135M's heads, exactly one of pairs 22 to 24 has $b$ below −3"
    half, quarter = np.percentile(b[..., 23], (50, 25))
    yield f"for pair 23, half of the heads have $b$ above {signed(half, 2)}, and a quarter below {signed(quarter)}"

    complete = int(np.ceil(32 * np.log(2048 / (2 * np.pi)) / np.log(10_000)))  # pairs with a full rotation in training
    assert round(2 * np.pi * 100_000 ** (complete / 32), -3) == 12_000
    yield f"on sequences of 2048 tokens with base 10 000; in that setting, {complete} "
    yield "of its 32 pairs complete a rotation"
    yield "With its present base of 100 000, the next pair takes about 12 000 tokens"
    yield "its extension to 8192 tokens and base 100 000"
    yield from ("SmolLM2-135M", "SmolLM2", "run in bfloat16 (angles in float64)")


def the_bias_of_the_small_models() -> Iterator[str]:
    made, most_negative, highest, alone = [], [], [], []
    for base, seed in MODELS:
        content = STATISTICS[f"two_layers-text-rope_{base}-{seed}/content"][-1]
        frequencies, b = inv_freq(32, base), -content.imag.mean(axis=0)
        three, done = most_negative_pairs(content, frequencies, LENGTH), rotations(LENGTH, frequencies)
        made += list(done[three])
        most_negative += list(b[three])
        of_three = distance_bias(content[:, three], frequencies[three], np.arange(2 * LENGTH)).sum(axis=1).mean(axis=0)
        assert of_three[LENGTH // 2 : LENGTH].mean() < of_three[LENGTH - 1] - 1.9  # the clamp hides more
        alone.append(of_three[LENGTH:].max())
        slow = done < 1
        bias = distance_bias(content[:, slow], frequencies[slow], np.arange(2 * LENGTH + 1)).sum(axis=1).mean(axis=0)
        highest.append(bias[LENGTH:].max())
    yield f"| $b$ | {signed(min(most_negative))} | {signed(max(most_negative))} |"
    yield f"| rotations of these pairs in $L$ | {min(made):.2f} | {max(made):.2f} |"
    assert [round(bias) for bias in highest[:2]] == [6, 6]
    yield f"to about +6 with base 100, and to {signed(max(highest[2:]), 1, '+')} at most with base 10 000"
    summed = f"{signed(min(alone), 1, '+')} | {signed(max(alone), 1, '+')}"
    yield f"| maximum of their summed bias, $L$ to $2L$ | {summed} |"
    yield f"reaches {summed.replace('|', 'to')} logits"


BIAS = {"clamped": "clamped", "zeroed": "zero", "window": "window", "window and four sinks": "window, first four"}
CONTROLS = {
    "flat, same mean": "flat",
    "zeroed, other slow pairs, as large": "other slow pairs",
    "zeroed, fast pairs, as large": "fast pairs",
    "clamped, four sinks alone": "clamped, first four tokens only",
    "clamped, all but four sinks": "clamped, all other tokens",
}


def the_changes() -> Iterator[str]:
    tiny, texts, control = (real_results.parts("tiny").values(), *map(real_results.interventions, (False, True)))
    course, before = (np.mean([one["as trained"] for one in of], axis=0).reshape(-1, 4).mean(axis=1)
                      for of in (texts, control))  # by 1024 tokens  # fmt: skip
    yield "positions 7168–8191, 11 264–12 287 and 15 360–16 383"
    yield "near 12 000 | near 16 000"
    excess = [one["as trained"].mean() - one["truncated"].mean() for one in tiny]
    yield f"with only the last {LENGTH} tokens: {span(excess)} nats per byte"
    yield f"| *the loss as trained* | {before[3]:.2f} | {course[3]:.2f} | {course[7]:.2f} |"
    yield "from about 10 000 tokens on"
    assert max(course[:2]) < max(before) + 0.1 < course[2] - 0.3

    def removed(kind: str) -> str:
        """Shares of the excess loss over truncation."""
        shares = [
            100 * (one["as trained"] - one[kind]).mean() / (one["as trained"].mean() - one["truncated"].mean())
            for one in tiny
        ]
        shown = span(shares, 0)
        return f"{shown.removeprefix('100 to ')} %"  # by the window: 100 in each model

    printed = printed_in_09("held-table")
    beyond = dict(re.findall(r"(?m)^(as trained|clamped|zero|window) .* %  +(\S.*%)$", printed))
    held = re.search(r"(?m)loss, held at L (.+? %)$", printed_in_09("all-interventions"))
    assert held
    yield f"removes {held[1]} of the excess loss; the usual clamp removes {removed('clamped')}"
    for kind, name in (BIAS | CONTROLS).items():
        cells = [around(real_results.past_the_context(kind, True)["7168–8191"], False)]
        past = real_results.past_the_context(kind)
        cells += [around(past[block], kind in BIAS) for block in ("11264–12287", "15360–16383")]
        tried = sum(kind in one for one in texts)
        assert (tried, len(texts)) in ((12, 12), (4, 12))
        assert (tried == 12) == (kind in BIAS or name == "other slow pairs")
        yield f"| {name} | {' | '.join(cells)} |"
        if name in beyond:
            yield f"| {name} | {removed(kind)} | {beyond[name]} |"
    for kind in ("clamped", "window"):
        assert real_results.past_the_context(kind)["8192–9215"].low > 0  # "just past L, both cost something"
    yield f"95 % intervals over {len(texts)} texts"
    yield f"averaged over {len(texts)} texts and blocks of 1024 tokens"
    yield f"The row *other slow pairs* is a mean over {len(texts)} texts, the other rows over 4"
    gains = [[real_results.past_the_context(kind)[block].mean for block in ("11264–12287", "15360–16383")]
             for kind in ("clamped", "window")]  # fmt: skip
    np.testing.assert_allclose(*gains, rtol=0.1)
    yield "Near 12 000 and 16 000, the clamp and the window lower the loss by about the same"
    zero = np.mean([one["zeroed"] for one in texts], axis=0).reshape(-1, 4).mean(axis=1) - course
    assert (zero > 0).tolist() == [True] * 5 + [False] * 3  # each 1024 tokens, past 8192
    yield "Up to about 13 000 tokens, *zero* raises the loss"
    yield f"Beyond that, it lowers the loss by up to {-zero.min():.0f} nat"
    assert all(np.mean([one["zeroed, other slow pairs, as large"] - one["as trained"] for one in texts], axis=0) > 0)
    few = [one for one in texts if "clamped, four sinks alone" in one]
    inside = on_average(list(real.SLOW), range(4096, 8193))
    assert 0.8 < np.ptp(inside) < 1.3  # "by only about one logit"
    all_slow = [one for one in texts if "clamped, all slow pairs" in one]
    assert len(all_slow) == 4
    losses = [np.mean([one[kind] for one in all_slow], axis=0).reshape(-1, 4).mean(axis=1)[[3, 7]]
              for kind in ("clamped, all slow pairs", "clamped")]  # fmt: skip
    for name, (near, far) in zip(("all slow pairs", "the three alone"), losses, strict=True):
        yield f"| {name} | {near:.2f} | {far:.2f} |"
    yield "| clamped | near 12 000 | near 16 000 |"
    both = real_results.over_texts([(one["clamped"] - one["as trained"])[-4:].mean() for one in few])
    yield f"both together remove {-both.mean:.2f} nats on these four texts"
    yield from (
        "Near 12 000, clamping only the others is enough to lower the loss.",
        "Near 16 000, neither part of the clamp helps much",
    )
    kinds = ("clamped", "window", "window and four sinks")
    at_12, at_16 = (
        {kind: real_results.past_the_context(kind)[block] for kind in kinds} for block in ("11264–12287", "15360–16383")
    )
    assert at_12["window and four sinks"].high < min(at_12["clamped"].low, at_12["window"].low)
    assert at_16["window and four sinks"].low > max(at_16["clamped"].high, at_16["window"].high)
    assert at_16["window and four sinks"].mean > -1
    yield "A window that keeps them works best near 12 000, but hardly helps near 16 000"
    for part in ("clamped, four sinks alone", "clamped, all but four sinks"):  # "hardly helps either"
        assert real_results.past_the_context(part)["15360–16383"].low > -1
    yield "removes most of the rise near 16 000"
    yield "the loss rises from 10 000 tokens on"
    zero, flat = (real_results.past_the_context(kind, True)["7168–8191"].mean for kind in ("zeroed", "flat, same mean"))
    yield f"Inside $L$, *zero* costs {zero:.2f} nats (see the findings) and *flat* {flat:.2f}."
    others = max((one["zeroed, other slow pairs, as large"] - one["as trained"]).mean() for one in tiny)
    yield f"an equally large change in other slow pairs can itself cost {others:.1f} nats"
    fast = [(one["zeroed, fast pairs, as large"] - one["as trained"]).mean() for one in tiny]
    assert sum(change < -0.3 for change in fast) == 3  # "in three of the four models"

    yield f"| *as trained* | | {beyond['as trained']} |"


def printed_in_09(name: str) -> str:
    """The stored output of a cell of chapter 09, which nbval computes anew."""
    cells = load(ROOT / "notebooks" / "09_length_extrapolation.ipynb")["cells"]
    return next(text_of(cell) for cell in cells if cell["id"] == name)


def test_chapter_09_reads_its_tables_right():
    rows = re.findall(r"(?m)((?: +-?\d+\.\d){6})$", printed_in_09("wave-table"))
    *small, of_smollm2, _ = (float(row.split()[0]) - float(row.split()[1]) for row in rows)  # from distance 0 to 0.6 L
    assert [round(min(small)), round(max(small)), round(of_smollm2)] == [8, 10, 10]
    assert rows[-2].split()[-1] == f"{real_results.learned_bias(16_384 + np.arange(64)).mean():.1f}"
    rows = re.findall(r"(?m)^ +\d+ +\d\.\d\d((?: +-?\d\.\d\d){4})$", printed_in_09("one-pair"))
    b, cost = np.split(np.array([row.split() for row in rows], float), 2, axis=1)
    assert ((b < -1.6).all(axis=1) == (cost > 0.05).any(axis=1)).all()
    losses = dict(re.findall(r"(?m)^(.+?) {2,}(\d\.\d\d)", printed_in_09("held-real")))  # at 1.1 L
    assert losses["window, first four"] == losses["as trained"]
    needles = dict(re.findall(r"(?m)^(as trained|clamped|YaRN) +(.+)$", printed_in_09("needles")))
    found = {name: re.sub(r"\[.*?\]", "", row).split() for name, row in needles.items()}
    assert found["as trained"] == ["11", "6", "4", "2"]
    assert found["clamped"] == ["11", "6", "5", "1"]
    assert found["YaRN"][2:] == ["12", "5"]


def the_reverse() -> Iterator[str]:
    printed = printed_in_09("wave-alone-table")
    rows = re.findall(r"(?m)^ *\d+, \d((?: +-?\d\.\d\d){5})$", printed)
    assert len(rows) == len(MODELS)
    added, flat, moved, *_ = np.array([row.split() for row in rows], float).T
    assert (added > 0.715 * moved).all()
    assert (added < 0.805 * moved).all()  # 72 to 80 %, here and in chapter 09
    assert (flat > 0.88 * added).all()  # "nearly as much"
    yield f"we move the first half of a text {LENGTH} tokens farther away"
    yield f"| first half moved | {span(moved)} |"
    yield f"| only the change in bias added | {span(added)} |"
    yield f"| a constant with the same mean added | {span(flat)} |"
    yield "Across the four models, adding only this change costs 72 to 80 % of what the move costs"


RETRIEVAL = ["as trained", "bias clamped", "PI", "NTK-aware", "dynamic NTK", "YaRN without temperature", "YaRN"]
ON_THE_PAGE = {"bias clamped": "clamped", "YaRN without temperature": "NTK-by-parts"}


def sign_test(more: np.ndarray, less: np.ndarray) -> float:
    """Two-sided p of a paired sign test."""
    won, lost = int((more & ~less).sum()), int((less & ~more).sum())
    return 2 * sum(comb(won + lost, k) for k in range(won, won + lost + 1)) / 2 ** (won + lost)


def what_it_still_finds() -> Iterator[str]:
    found, extension, losses = real_results.needles(), real_results.parts("extension"), real_results.parts("loss")
    haystacks = len(found["PI"][16_384])
    assert haystacks == 2
    yield "We did this in two haystacks of technical English"
    texts = [part.split("/")[0] for part in extension if part.endswith("/PI")]
    yield f"nats per token at positions 14 336–16 383, 95 % intervals over {len(texts)} texts"
    clamp = [losses[text]["clamped"][24:].mean() - losses[text]["as trained"][24:].mean() for text in texts]
    change = {method: real_results.extended(method)["14336–16383"] for method in RETRIEVAL[2:]}
    change["bias clamped"] = real_results.over_texts(clamp)
    # within 8192 tokens nothing is clamped
    at_l = {method: found[method].get(8192, found["as trained"][8192]) for method in RETRIEVAL}
    past = {method: np.concatenate([found[method][n].ravel() for n in (12_288, 16_384)]) for method in RETRIEVAL}
    count, asked = {method: int(each.sum()) for method, each in past.items()}, 16 * haystacks
    yield f"found in 8192 tokens, of {8 * haystacks} | in 12 288 and 16 384, of {asked} |"
    yield f"found (of {8 * haystacks}) at 8192 | found (of {asked}) at 12 288 and 16 384 | share of the {asked}, "
    yield "95 % interval | p-value |"
    assert max(count["PI"], count["bias clamped"]) <= count["as trained"]
    told = [inv_freq(64, 100_000.0)[1] / real.scalings(2, n)["dynamic NTK"].inv_freq[1] for n in (12_288, 16_384)]
    assert [round(ratio ** (62 / 2), 6) for ratio in told] == [2, 3]  # its s, of a base times s^(d / (d - 2))
    yield "Dynamic NTK equals NTK-aware at 12 288 tokens; at 16 384, its $s$ is 3, not 2"
    shares = {method: real_results.proportion(each, asked) for method, each in count.items()}
    assert shares["bias clamped"] == shares["PI"]
    assert shares["YaRN"] == shares["dynamic NTK"]
    assert shares["bias clamped"].high < shares["YaRN"].low  # apart
    yield f"Not in the table: the clamp ({count['bias clamped']} of {asked}, with the same interval as PI) and "
    yield f"YaRN ({count['YaRN']} of {asked}, like dynamic NTK)"
    p = {method: f"{sign_test(past[method], past['bias clamped']):.3f}" for method in RETRIEVAL[3:]}
    yield f"p = {p['YaRN']}"
    assert [method for method in p if float(p[method]) > 0.05] == ["NTK-aware"]
    yield "In texts of 12 288 and 16 384 tokens, NTK-by-parts and dynamic NTK appear to find more"
    at_trained = f"{at_l['YaRN'].sum()} of {8 * haystacks} instead of {at_l['as trained'].sum()}"
    yield "shows neither the drop at 32 nor the gain at 96"
    yield f"it finds {at_trained}, but these counts are too small"
    farther = []
    for method in RETRIEVAL:
        name = ON_THE_PAGE.get(method, method)
        loss = around(change[method]) if method in change else ""
        row = f"| {name} | {loss} | {at_l[method].sum()} | {count[method]} |"
        if method in ("as trained", "bias clamped", "YaRN"):  # 3 and 4 of the needles lie farther back than L
            far = int(found[method][12_288][:, :3].sum() + found[method][16_384][:, :4].sum())
            yield row
            farther.append(far)
        else:
            yield f"{row} {span((shares[method].low, shares[method].high))} | {p.get(method, '')}"
    yield f"Of the {7 * haystacks} needles farther back than $L$, the model as trained finds {farther[0]}, the clamped "
    yield f"model {farther[1]} and YaRN {farther[2]}: too few"
    near = {
        method: sum(int(found[method][n].sum()) for n in (2048, 4096)) for method in found if method != "bias clamped"
    }
    yield f"{count['as trained']} of {asked} is close to the {asked / 8:.0f} expected by chance"
    yield f"At 2048 and 4096 tokens combined, the model as trained finds {near['as trained']} of {asked}, "
    yield f"YaRN {near['YaRN']} and NTK-aware {near['NTK-aware']}. "
    yield f"PI finds only {near['PI']}, close to the {asked / 8:.0f} expected by chance"
    assert real_results.proportion(near["PI"], asked).low < 1 / 8


def share(task: str, scaling: str, base: int, seed: int = 0, times: int = 4, **probe: object) -> float:
    profile = "full" if task == "copy" else "two_layers"
    wanted = {"task": task, "profile": profile, "scheme": f"rope_{base}", "seed": seed, "length": times * LENGTH}
    factor = 1.0 if (scaling, times) == ("default", 1) else 4.0
    if probe["probe"] == "single_copy":
        probe |= {"distractors": "random"}
    return FOUND.values(**wanted, kind="scaling", scaling=scaling, factor=factor, **probe)[1].mean()


def once(task: str, scaling: str, base: int, back: int, seed: int = 0, times: int = 4) -> str:
    return f"{share(task, scaling, base, seed, times, probe='single_copy', distance=back):.2f}"


def the_attention_offset() -> Iterator[str]:
    def looks(base: int, scaling: str) -> np.ndarray:
        """The last layer's attention weight on each answer, the nearest first."""
        return np.asarray(STATISTICS[f"full-copy-rope_{base}-0/attention/{scaling}/{4 * LENGTH}"][-1].mean(0)[31::32])

    for base in (100, 10_000):  # the attention moves back with either
        before, after = looks(base, "default"), looks(base, "yarn")
        assert before[:2].sum() > 0.4 > 0.1 > after[:2].sum()
        assert after[2:].sum() > 2 * before[2:].sum()
    for base, how, row in ((100, "default", "| 100 | as trained"), (100, "yarn", "| | YaRN"),
                           (10_000, "default", "| 10 000 | as trained"), (10_000, "yarn", "| | YaRN")):  # fmt: skip
        sums = [looks(base, how)[which].sum() for which in (slice(2), slice(2, 6), slice(6, None))]
        yield f"{row} | {' | '.join(f'{weight:.2f}' for weight in sums)} |"
    yield "The picture (base 100) shows the last layer's weight at each distance"
    yield "The next table shows accuracies with base 100"
    yield "Both models are tested at $4L$ with scale factor"
    assert FOUND.runs["full-copy-rope_100-0"]["task"] == "copy"
    yield f"where chance is 1/{Copy.vocab_size}: for a single occurrence 32 or 96 tokens back"
    yield "a block of 32 random symbols, so the current symbol also occurs 32, 64, … tokens back. "
    yield "The answer is the symbol after it, 31, 63, … tokens back."
    fall = " → ".join(once("copy", scaling, 100, 32) for scaling in ("default", "yarn"))
    yield f"With base 100, copying a single occurrence from 32 tokens back now fails (accuracy {fall})"
    yield "With YaRN and base 100, copying from 32 tokens back fails, while copying from 96 back starts to work"
    rise = " → ".join(once("copy", scaling, 100, 96) for scaling in ("default", "yarn"))
    yield f"while copying from 96 back starts to work ({rise})"
    far_base = " to ".join(once("copy", scaling, 10_000, 32) for scaling in ("default", "yarn"))
    farther = " to ".join(once("copy", scaling, 10_000, 96) for scaling in ("default", "yarn"))
    yield f"With base 10 000, accuracy at 32 back falls from {far_base}, and at 96 back it rises from {farther}"
    yield f"a head that preferred tokens 31 back could now prefer tokens up to {4 * 31} back"
    yield "| 32 back | 96 back |"
    for name, scaling in (
        ("as trained", "default"),
        ("YaRN", "yarn"),
        ("its frequencies alone", "yarn_frequencies"),
        ("its temperature alone", "yarn_temperature"),
    ):
        row = [once("copy", scaling, 100, back) for back in (32, 96)]
        yield f"| {name} | {' | '.join(row)} | {share('copy', scaling, 100, probe='repeated'):.2f} |"

    def both(task: str, base: int, times: int, back: int, seed: int) -> str:
        """Accuracies as trained and with YaRN."""
        return " → ".join(once(task, scaling, base, back, seed, times) for scaling in ("default", "yarn"))

    for task, base, times, back in (
        ("copy", 10_000, 4, 384),
        ("copy", 100, 1, 96),
        ("copy", 10_000, 1, 96),
        ("single_copy", 10_000, 4, 384),
        ("single_copy", 100, 4, 384),
    ):
        trained_on = {"copy": "repeated blocks", "single_copy": "single occurrences"}[task]
        setting = f"{trained_on}, {'10 000' if base == 10_000 else base}, ${'' if times == 1 else times}L$"
        for seed in (0,) if task == "copy" else (0, 1):
            near, far = (both(task, base, times, distance, seed) for distance in (32, back))
            yield f"| {'second seed' if seed else setting} | {near} | {back}: {far} |"
    yield "| 32 back | farther back (tokens: accuracy) |"

    def lost(task: str, base: int, times: int, seed: int = 0) -> float:
        """Accuracy lost with YaRN 32 tokens back."""
        before, after = (float(once(task, scaling, base, 32, seed, times)) for scaling in ("default", "yarn"))
        return before - after

    assert lost("copy", 100, 1) > 0.7 > 0.3 > lost("copy", 10_000, 1) > 0.2
    yield "the effect with base 100 is as clear as at $4L$ (see"
    yield "with base 10 000 it is weaker"
    few, gained = (lost("single_copy", 10_000, 4, seed) for seed in (0, 1))
    assert 0.05 > few > 0 > -0.1 > gained
    yield "At 32 tokens back, with base 100, accuracy falls from an already low value; with base 10 000, "
    yield "it hardly changes for one seed and rises for the other"
    yield from ("divided by 4,", "$s$ = 4", "models of 0.3 million parameters", "with scale factor $s$ = 2")
    published = PUBLISHED_BOUNDS["beta_fast"]
    fastest = max(rotations(LENGTH, inv_freq(32, base)).max() for base, _ in MODELS)
    fast, slow = BOUNDS["beta_fast"], BOUNDS["beta_slow"]
    yield f"We set them to {fast:.0f} and {slow:.0f} rotations: the published upper threshold is "
    yield f"{published:.0f}, but our fastest pair makes only {fastest:.0f}."


def the_rest() -> Iterator[str]:
    settings = FOUND.runs["two_layers-text-rope_100-0"]
    assert settings["profile"] == "two_layers"
    assert STATISTICS["two_layers-text-rope_100-0/content"].shape[2] == 16
    yield f"{LENGTH} tokens in *our small models* (two layers, heads of 16 pairs, 0.3 million parameters; on text,"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    authors = " and ".join(author["name"] for author in citation["authors"])
    yield f"{authors}: “Findings”, in *{citation['title']}*, version {citation['version']}."


PARTS = [the_bias_of_smollm2, the_bias_of_the_small_models, the_changes, the_reverse, what_it_still_finds]
PARTS += [the_attention_offset, the_rest]


@cache
def computed(part: Callable[[], Iterator[str]]) -> list[str]:
    return [*part()]


@pytest.mark.parametrize("part", PARTS)
def test_the_page_says_what_is_computed(part):
    assert [phrase for phrase in computed(part) if phrase not in PAGE] == []


def test_the_picture_shows_the_numbers_of_the_table():
    made: dict = {}
    exec(re.search(r"(?s)```\{plot\}\n(.*?)```", PAGE)[1], made)
    lines = made["figure"].data
    trained, *changed = (trace for trace in lines if trace.yaxis == "y")
    assert [trained.y[k].round(2) for k in (7, 11, 15)] == [1.79, 3.77, 7.14]  # each is of 1024 tokens
    kinds = {name: kind for kind, name in (BIAS | CONTROLS).items()}
    for line in changed:
        for block, k in (("11264–12287", 3), ("15360–16383", 7)):
            change = real_results.past_the_context(kinds[line.name])[block].mean
            assert line.y[k] - trained.y[8 + k] == pytest.approx(change, abs=1e-3)
    assert [line.name for line in changed] == ["clamped", "zero", "window"]
    of_three, clamped, zero = (np.array(trace.y) for trace in lines[4:])
    at = np.array([2, 64, 128, 192, 256])  # each is 64 tokens
    np.testing.assert_allclose(of_three[at], on_average(list(real.SLOW), 64 * at), atol=1e-3)
    np.testing.assert_allclose(clamped, on_average(list(real.SLOW), range(4096, 8192)).mean(), atol=0.03)
    assert not zero.any()


def test_no_other_number_stands_on_the_page():
    rest = re.sub(r"(?s)```\{(explorable|plot)\}.*?```", "", PAGE)
    for phrase in sorted((phrase for part in PARTS for phrase in computed(part)), key=len, reverse=True):
        rest = rest.replace(phrase, "")
    rest = re.sub(r"\]\([^)]*\)|`[^`]*`|\{cite:t\}|[Cc]hapter \d+|\$[^$]*\$|\d?L\b", " ", rest)
    assert re.findall(r"[^\s|]*\d[^\s|]*", rest) == []
