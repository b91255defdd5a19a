"""The numbers of book/findings.md: each is computed anew, and no other stands on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml

from posenc import configs
from posenc.analysis import decay
from posenc.frequencies import inv_freq, rotations
from posenc.lab.distance_bias import most_negative_pairs
from posenc.lab.evaluate import BOUNDS, PUBLISHED_BOUNDS
from posenc.lab.measured import benchmarks, statistics
from posenc.scaling import ntk_by_parts
from tools.notebooks import load, text_of

pytestmark = pytest.mark.torch
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book" / "findings.md").read_text(encoding="utf-8").replace("\u202f", " ")
FOUND, STATISTICS = benchmarks(), statistics()
MODELS = [(base, seed) for base in (100, 10_000) for seed in (0, 1)]
LENGTH = 128


def grouped(value: int) -> str:
    return f"{value:,}".replace(",", " ")


def signed(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def held(base: int, seed: int, times: int) -> tuple[float, float, list[float]]:
    """The loss of text cut to L, that of longer text, and what holding the wave of some pairs changes in it."""
    of_model = {"task": "text", "profile": "two_layers", "scheme": f"rope_{base}", "seed": seed}
    short = FOUND.values(**of_model, kind="plain", length=LENGTH)[1][0]
    wave = of_model | {"kind": "distance_bias", "length": times * LENGTH}
    was = FOUND.values(**wave, chosen="none")[1][0]
    changes = [
        (FOUND.values(**wave, chosen=chosen)[1][0] - was).mean() for chosen in ("most negative", "other slow", "fast")
    ]
    return short[: len(was)].mean(), was.mean(), changes


def the_learned_minus() -> Iterator[str]:
    made, deep, others, gone, fast = [], [], [], [], []
    for base, seed in MODELS:
        content = STATISTICS[f"two_layers-text-rope_{base}-{seed}/content"][-1]
        speeds, b = inv_freq(32, base), -content.imag.mean(axis=0)
        three, done = most_negative_pairs(content, speeds, LENGTH), rotations(LENGTH, speeds)
        made += list(done[three])
        deep += list(b[three])
        others += [abs(b[i]) for i in np.flatnonzero(done < 1) if i not in three]
        cut, was, changes = held(base, seed, 2)
        fast.append(-changes[2])
        row = [f"{cut:.2f}", f"{was:.2f}", *(signed(one, 2) for one in changes[:2])]
        yield f"| {grouped(base)}, {seed} | {' | '.join(row)} | {changes[0] / (cut - was):.0%} |".replace("%", " %")
        cut, was, changes = held(base, seed, 4)
        gone.append(changes[0] / (cut - was))
    yield f"make {min(made):.2f} to {max(made):.2f} of a turn"
    yield f"from {signed(max(deep), 1)} down to {signed(min(deep), 1)}, "
    yield f"In the other slow pairs it stays within {max(others):.1f}."
    yield f"the harm gone is {100 * min(gone):.0f} to {max(gone):.0%}".replace("%", " %")
    yield f"gains {min(fast):.2f} to {max(fast):.2f} at $2L$"
    yield f"beyond distance {LENGTH - 1}, at its average over {LENGTH // 2} to {LENGTH - 1}"


def the_reverse() -> Iterator[str]:
    """By the stored output of chapter 09, which nbval computes anew."""
    cells = load(ROOT / "notebooks" / "09_why_extrapolation_fails.ipynb")["cells"]
    printed = next(text_of(cell) for cell in cells if cell["id"] == "wave-alone-table")
    rows = re.findall(r"(?m)^ *\d+, \d((?: +-?\d\.\d\d){6})$", printed)
    assert len(rows) == len(MODELS)
    moved, minus, other, opposite, minus_out, other_out = np.array([row.split() for row in rows], float).T
    assert (minus > 0.7 * moved).all()
    assert (opposite <= 0.01).all()
    assert (other_out > 0.9 * moved).all()
    yield f"costs it {moved.min():.2f} to {moved.max():.2f} nats. Moving nothing"
    yield f"adding to the logits what {LENGTH} tokens change"
    yield f"stands {LENGTH} tokens further away"
    yield f"costs {minus.min():.2f} to {minus.max():.2f}; in that of the other slow pairs, at most {other.max():.2f}."
    yield f"costs {minus_out.min():.2f} to {minus_out.max():.2f}."


def share(task: str, scaling: str, base: int, seed: int = 0, times: int = 4, **probe: object) -> float:
    profile = "full" if task == "copy" else "two_layers"
    wanted = {"task": task, "profile": profile, "scheme": f"rope_{base}", "seed": seed, "length": times * LENGTH}
    factor = 1.0 if (scaling, times) == ("default", 1) else 4.0
    if probe["probe"] == "single_copy":
        probe |= {"distractors": "random"}
    return FOUND.values(**wanted, kind="scaling", scaling=scaling, factor=factor, **probe)[1].mean()


def once(task: str, scaling: str, base: int, back: int, seed: int = 0, times: int = 4) -> str:
    return f"{share(task, scaling, base, seed, times, probe='single_copy', distance=back):.2f}"


def a_gaze_that_slides() -> Iterator[str]:
    yield "A model of base 100, trained to copy"
    yield "from 31 to 63 and from 95 to 191 tokens back"
    for name, scaling in (("kept", "default"), ("YaRN", "yarn")):
        looks = STATISTICS[f"full-copy-rope_100-0/attention/{scaling}/{4 * LENGTH}"][-1].mean(axis=0)
        near, far = (looks[first : last + 1 : 32].sum() for first, last in ((31, 63), (95, 191)))
        row = [f"{near:.2f}", f"{far:.2f}", *(once("copy", scaling, 100, back) for back in (32, 96))]
        yield f"| {name} | {' | '.join(row)} | {share('copy', scaling, 100, probe='repeated'):.2f} |"
    yield "said once, 32 or 96 back"
    yield "| 32 | 96 |"
    near, far = ([once("copy", scaling, 10_000, back) for scaling in ("default", "yarn")] for back in (32, 384))
    yield f"With base 10 000 the share found 32 back falls from {near[0]} to {near[1]}, "
    yield f"384 back it rises from {far[0]} to {far[1]}."
    near, far = ([once("copy", one, 100, back, times=1) for one in ("default", "yarn")] for back in (32, 96))
    yield f"with base 100 the share 32 back falls from {near[0]} to {near[1]}, "
    yield f"and 96 back it rises from {far[0]} to {far[1]}."
    seeds = [once("single_copy", "yarn", 10_000, 384, seed) for seed in (0, 1)]
    assert len(set(seeds)) == 1
    yield f"with base 10 000, YaRN finds {seeds[0]} at 384 back with either seed, "
    after, before = (
        [once("single_copy", scaling, 10_000, 32, seed) for seed in (0, 1)] for scaling in ("yarn", "default")
    )
    yield f"{after[0]} and {after[1]} at 32 back, against {before[0]} and {before[1]}."
    yield "$s$ = 4"
    published = PUBLISHED_BOUNDS["beta_fast"]
    assert all(rotations(LENGTH, inv_freq(32, base)).max() < published for base, _ in MODELS)
    fast, slow = BOUNDS["beta_fast"], BOUNDS["beta_slow"]
    yield f"YaRN's bounds are {fast:.0f} turns and {slow:.0f}, since no pair"
    yield f"of ours makes the published {published:.0f}."


def passes(base: int) -> bool:
    return bool(decay(np.arange(32_769), inv_freq(128, base)).min() >= 0)


def told_before() -> Iterator[str]:
    qwen = configs.model("Qwen3-8B")
    assert qwen.rope["rope_theta"] == 1_000_000
    grid = [*range(640_000, 10**6, 10_000), *range(10**6, 1_400_001, 10**5)]
    assert [base for base in grid if passes(base)] == []
    assert [passes(base) for base in (630_000, 1_500_000, 1_800_000)] == [True, True, False]
    yield "at or above 0 up to 32 768 tokens, with 64 pairs"
    yield "the base 630 000 passes. Then 640 000 fails, and so does every base up to 1 400 000"
    yield "1 500 000 passes, and 1 800 000 fails again"
    yield "has the same 630 000 for this length"
    llama = configs.model("Llama-3.1-8B")
    said, length = llama.rope["rope_scaling"], llama.original_max_position_embeddings
    bounds = {"beta_fast": said["high_freq_factor"], "beta_slow": said["low_freq_factor"]}
    by_parts = ntk_by_parts(
        128, llama.rope["rope_theta"], factor=said["factor"], original_max_position_embeddings=length, **bounds
    )
    np.testing.assert_allclose(configs.scaled(llama).inv_freq, by_parts.inv_freq, rtol=1e-12)
    yield (
        f"with bounds of {bounds['beta_fast']:.0f} turns and {bounds['beta_slow']:.0f}, "
        f"in all {len(by_parts.inv_freq)} pairs of {llama.name}."
    )


def the_rest() -> Iterator[str]:
    settings = FOUND.runs["two_layers-text-rope_100-0"]
    assert settings["profile"] == "two_layers"
    assert STATISTICS["two_layers-text-rope_100-0/content"].shape[2] == 16
    yield "heads of 16 pairs"
    yield f"$L$ = {LENGTH} tokens"
    yield from (
        "Llama 3's",
        "Qwen3's",
        "implemented it](https://github.com/TransformerLensOrg/TransformerLens/pull/764), in 2024.",
    )
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    authors = " and ".join(author["name"] for author in citation["authors"])
    yield f"{authors}: “Findings”, in *{citation['title']}*, version {citation['version']}."


PARTS = {part.__name__: part for part in (the_learned_minus, the_reverse, a_gaze_that_slides, told_before, the_rest)}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_the_page_says_what_is_computed(part):
    assert [phrase for phrase in part() if phrase not in PAGE] == []


def test_no_other_number_stands_on_the_page():
    rest = re.sub(r"(?s)```\{explorable\}.*?```", "", PAGE)
    for phrase in sorted((phrase for part in PARTS.values() for phrase in part()), key=len, reverse=True):
        rest = rest.replace(phrase, "")
    rest = re.sub(r"\]\([^)]*\)|`[^`]*`|\{cite:t\}|[Cc]hapter \d+|\$[^$]*\$|\d?L\b", " ", rest)
    assert re.findall(r"[^\s|]*\d[^\s|]*", rest) == []
