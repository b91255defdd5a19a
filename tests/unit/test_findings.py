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
from posenc.lab import real, real_results
from posenc.lab.distance_bias import most_negative_pairs
from posenc.lab.evaluate import BOUNDS, PUBLISHED_BOUNDS
from posenc.lab.intervals import Interval
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


def minus(text: object) -> str:
    return str(text).replace("-", "−")


def around(value: Interval) -> str:
    """A change with its interval, or alone where one text gives none."""
    return minus(
        f"{value.mean:+z.2f}"
        if value.low == value.high
        else f"{value.mean:+z.2f} [{value.low:z.2f}, {value.high:z.2f}]"
    )


ROWS = {
    "clamped": "three pairs clamped",
    "clamped, four sinks alone": "… for the first four tokens alone",
    "clamped, all but four sinks": "… for all but these",
    "zeroed": "three pairs set to zero",
    "flat, same mean": "three pairs flat, mean kept",
    "zeroed, other slow pairs, as large": "equal change in other low-frequency pairs",
    "zeroed, fast pairs, as large": "equal change in high-frequency pairs",
    "window": "only the last L tokens visible",
    "window and four sinks": "… and the first four",
}


def the_learned_distance_bias() -> Iterator[str]:
    made, most_negative = [], []
    for base, seed in MODELS:
        content = STATISTICS[f"two_layers-text-rope_{base}-{seed}/content"][-1]
        frequencies, b = inv_freq(32, base), -content.imag.mean(axis=0)
        three, done = most_negative_pairs(content, frequencies, LENGTH), rotations(LENGTH, frequencies)
        made += list(done[three])
        most_negative += list(b[three])
    yield f"from {signed(max(most_negative), 1)} down to {signed(min(most_negative), 1)}, "
    yield f"make {min(made):.2f} to {max(made):.2f} rotations in {LENGTH} tokens"

    prose, other = (real_results.sine_coefficients(kind).mean(axis=0) for kind in ("prose", "random tokens"))
    rest = np.delete(prose, [23, 24])
    assert np.abs(rest).max() < 1.2
    yield f"averages {signed(prose[23], 1)} in pair 23 and {signed(prose[24], 1)} in pair 24 over all 270 heads"
    yield f"On random tokens the two averages are {signed(other[23], 1)} and {signed(other[24], 1)}"
    yield "in every other pair it stays within 1.2 of zero"
    done = rotations(8192, inv_freq(64, 100_000.0))
    yield f"make {done[23]:.2f} and {done[24]:.2f} rotations in 8192 tokens"
    near, far, end, beyond = real_results.learned_bias(np.array([128, 4096, 8192, 16_384]))
    averaged = real_results.learned_bias(16_384 + np.arange(64)).mean()  # as chapter 09 prints it
    yield "| distance (tokens) | 128 | 4096 | 8192 | 16 384 |"
    yield f"| bias (logits) | {signed(near, 1)} | {signed(far, 1)} | {signed(end, 1)} | +{beyond:.1f} |"
    yield f"(Averaged over 64 distances from the last one on, as chapter 09 does, it is +{averaged:.1f}.)"

    tiny, texts = real_results.parts("tiny").values(), real_results.interventions()
    yield f"intervals of 95 % over {len(texts)} texts of 16 384 tokens"
    trained = [one["as trained"].mean() for one in tiny]
    truncated = [one["truncated"].mean() for one in tiny]
    yield f"(Truncated to L, their loss is {min(truncated):.2f} to {max(truncated):.2f}"
    as_trained = np.mean([one["as trained"] for one in texts], axis=0).reshape(-1, 4).mean(axis=1)  # by 1024 tokens
    shown = " | ".join(f"{as_trained[block]:.2f}" for block in (0, 3, 7))
    yield f"| loss as trained | {min(trained):.2f} to {max(trained):.2f} | {shown} |"
    for kind, name in ROWS.items():
        changes = [(one[kind] - one["as trained"]).mean() for one in tiny]
        by_block = real_results.past_the_context(kind)
        cells = [minus(f"{min(changes):+z.2f} to {max(changes):+z.2f}")]
        cells += [around(by_block[block]) for block in ("8192–9215", "11264–12287", "15360–16383")]
        tried = sum(kind in one for one in texts)
        assert tried in (len(texts), 4)
        yield f"| {name}{'' if tried == len(texts) else ' (4 texts)'} | {' | '.join(cells)} |"


RETRIEVAL = {
    "as trained": "as trained",
    "bias clamped": "bias clamped",
    "PI": "PI",
    "NTK-aware": "NTK-aware",
    "dynamic NTK": "dynamic NTK",
    "YaRN without temperature": "NTK-by-parts",
    "YaRN": "YaRN",
}


EXTENDED = ("YaRN", "NTK-aware", "PI")


def clamped_less_yarn() -> list[float]:
    """How much lower YaRN's loss is than the clamp's on the last 2048 tokens, for each text that has both."""
    extension, losses = real_results.parts("extension"), real_results.parts("loss")
    texts = [part.split("/")[0] for part in extension if part.endswith("/YaRN")]
    return [
        float(losses[text]["clamped"][-8:].mean() - extension[f"{text}/YaRN"]["loss"][-8:].mean()) for text in texts
    ]


def what_it_still_finds() -> Iterator[str]:
    found, last = real_results.needles(), "14336–16383"
    haystacks = len(found["PI"][16_384])
    yield f"{haystacks} haystacks of technical English with {8 * haystacks} needles in all"
    positions = last.replace("14336", "14 336").replace("16383", "16 383")
    yield f"| method | change of loss, {positions} | 8192 | 12 288 | 16 384 |"
    for method, name in RETRIEVAL.items():
        cells = []
        if method == "bias clamped":
            texts = real_results.interventions()
            change = [(one["clamped"] - one["as trained"])[24:].mean() for one in texts]
            cells.append(around(real_results.over_texts(change)))
        else:
            cells.append("" if method == "as trained" else around(real_results.extended(method)[last]))
        # within 8192 tokens nothing is clamped
        for length in (8192, 12_288, 16_384):
            one = found[method].get(length, found["as trained"][length])
            cells.append(str(one.sum()))
        yield f"| {name} | {' | '.join(cells)} |"
    beyond = {method: sum(int(found[method][n].sum()) for n in (12_288, 16_384)) for method in RETRIEVAL}
    more = {RETRIEVAL[method] for method, count in beyond.items() if count > beyond["as trained"]}
    assert more == {"NTK-aware", "dynamic NTK", "NTK-by-parts", "YaRN"}
    texts = sum(part.endswith("/PI") for part in real_results.parts("extension"))
    yield f"with intervals of 95 % over {texts} texts"
    asked = 2 * 8 * haystacks
    assert beyond["YaRN"] == beyond["dynamic NTK"]
    yield f"finds {beyond['bias clamped']} of {asked} (chance: {asked // 8}), "
    yield f"the model as trained {beyond['as trained']}"
    yield f"YaRN and dynamic NTK {beyond['YaRN']}, PI {beyond['PI']}"
    low, high = (real_results.proportion(count, asked) for count in (beyond["bias clamped"], beyond["YaRN"]))
    assert low.high < high.low  # the intervals are apart
    yield f"{low.low:.2f} to {low.high:.2f} for the clamp, {high.low:.2f} to {high.high:.2f} for YaRN"
    # a needle in the middle of each eighth: 3 and 4 of them lie farther back than the context length
    far = {method: int(found[method][12_288][:, :3].sum() + found[method][16_384][:, :4].sum()) for method in RETRIEVAL}
    assert far["YaRN"] == far["dynamic NTK"]
    yield f"Of the {7 * haystacks} that lay farther back than 8192 tokens, the clamp found {far['bias clamped']}, "
    yield f"the model as trained {far['as trained']}, YaRN and dynamic NTK {far['YaRN']}: too few to tell"
    less = real_results.over_texts(clamped_less_yarn())
    yield f"the loss with YaRN is {less} below that with the clamp"
    near = {method: sum(int(found[method][n].sum()) for n in (2048, 4096)) for method in ("as trained", *EXTENDED)}
    yield f"At 2048 and 4096 tokens together, the model as trained finds {near['as trained']} of {asked}, "
    yield f"YaRN {near['YaRN']}, NTK-aware scaling {near['NTK-aware']}, and PI {near['PI']}, hardly more than chance"
    assert real_results.proportion(near["PI"], asked).low < 1 / 8


def the_set_up_of_the_distance_bias() -> Iterator[str]:
    assert (real_results.CONTEXT, real.SLOW, real.SINKS) == (8192, (22, 23, 24), 4)
    yield "SmolLM2-135M-Instruct has 135 million parameters (quantised to 4 bits here)"
    yield "a context length of 8192 tokens"
    yield "four blocks of 1024 tokens; 12 texts, or 4 where the table says so"

    def within(kind: str) -> str:
        costs = [value.mean for value in real_results.past_the_context(kind, within=True).values()]
        counts = [sum(kind in one for one in real_results.interventions(inside)) for inside in (False, True)]
        assert len(costs) == 4
        assert counts[0] == counts[1]
        return f"{min(costs):.2f} to {max(costs):.2f}".replace("-0.00", "0.00")

    for kind, name in ROWS.items():
        few = sum(kind in one for one in real_results.interventions()) == 4
        name = name.replace("last L", "last 4096")
        yield f"| {name}{' (4 texts)' if few else ''} | {within(kind)} |"
    yield "beyond 4096 tokens in texts of 8192"
    course = np.mean([one["as trained"] for one in real_results.interventions()], axis=0).reshape(-1, 4).mean(axis=1)
    assert course[:2].max() + 0.5 < course[3]
    yield "still works a little beyond 8192 tokens, and breaks from about 11 000 on"
    complete = int(np.ceil(32 * np.log(2048 / (2 * np.pi)) / np.log(10_000)))  # pairs with a full rotation in training
    assert round(2 * np.pi * 100_000 ** (complete / 32), -3) == 12_000
    yield "a limit of 12 000 tokens"
    kinds = ("clamped", "window", "window and four sinks")
    at_12, at_16 = (
        {kind: real_results.past_the_context(kind)[block] for kind in kinds} for block in ("11264–12287", "15360–16383")
    )
    assert at_12["window and four sinks"].high < min(at_12["clamped"].low, at_12["window"].low)
    assert at_16["window and four sinks"].low > max(at_16["clamped"].high, at_16["window"].high)
    yield "the window beats both at 12 000 tokens and fails at 16 000"
    yield "masking all tokens that are 8192 or more away"
    yield "At the two lengths past 8192 together"
    yield "computed in bfloat16"
    yield "pre-trained on 2048 tokens with base 10 000; how it was extended to 8192 tokens and base 100 000"
    yield from (
        "SmolLM2-135M",
        "SmolLM2",
        "pairs 22 to 24",
        "95 %",
    )
    yield "| beyond the context length | 0.3 million, $2L$ | SmolLM2, 8192–9215 | 11 264–12 287 | 15 360–16 383 |"


def printed_in_09(name: str) -> str:
    """The stored output of a cell of chapter 09, which nbval computes anew."""
    cells = load(ROOT / "notebooks" / "09_length_extrapolation.ipynb")["cells"]
    return next(text_of(cell) for cell in cells if cell["id"] == name)


def test_chapter_09_reads_its_tables_right():
    rows = re.findall(r"(?m)((?: +-?\d+\.\d){5})$", printed_in_09("wave-table"))
    *small, of_smollm2 = (float(row.split()[0]) - float(row.split()[1]) for row in rows)  # from distance 0 to 0.6 L
    assert [round(min(small)), round(max(small)), round(of_smollm2)] == [8, 10, 10]
    rows = re.findall(r"(?m)^ +\d+ +\d\.\d\d((?: +-?\d\.\d\d){4})$", printed_in_09("one-pair"))
    b, cost = np.split(np.array([row.split() for row in rows], float), 2, axis=1)
    assert ((b < -1.6).all(axis=1) == (cost > 0.05).any(axis=1)).all()
    losses = dict(re.findall(r"(?m)^(.+?) {2,}(\d\.\d\d)", printed_in_09("held-real")))  # at 1.1 L
    assert losses["masked, except the first four"] == losses["as trained"]
    needles = dict(re.findall(r"(?m)^(as trained|clamped|YaRN) +(.+)$", printed_in_09("needles")))
    found = {name: re.sub(r"\[.*?\]", "", row).split() for name, row in needles.items()}
    assert found["as trained"] == ["11", "6", "4", "2"]
    assert found["clamped"] == ["11", "6", "5", "1"]
    assert found["YaRN"][2:] == ["12", "5"]


def the_bias_at_twice_the_length() -> Iterator[str]:
    rows = re.findall(r"(?m)^small, base (\d+), .* (-?\d+\.\d)$", printed_in_09("wave-table"))
    assert [base for base, bias in rows if float(bias) > 1] == ["100", "100"]
    yield "in the two small models with base 100 it turns into a pull"


def the_reverse() -> Iterator[str]:
    printed = printed_in_09("wave-alone-table")
    rows = re.findall(r"(?m)^ *\d+, \d((?: +-?\d\.\d\d){5})$", printed)
    assert len(rows) == len(MODELS)
    added, flat, moved, removed, removed_flat = np.array([row.split() for row in rows], float).T
    assert (added > 0.7 * moved).all()
    assert (added < 0.81 * moved).all()  # seven to eight tenths, here and in chapter 09
    assert (flat > 0.62 * moved).all()  # more than six tenths
    assert (flat < 0.77 * moved).all()  # chapter 09: about two thirds to three quarters
    yield "In each model, the added change does seven to eight tenths of the damage of moving"
    yield "the constant more than six tenths"
    (opposite,) = re.findall(r"subtracted in place: \S+ to \+(\d\.\d\d)", printed)
    yield f"older half of the text {LENGTH} tokens farther away"

    def span(costs: np.ndarray) -> str:
        return f"{costs.min():.2f} to {costs.max():.2f}"

    yield f"| moved | {span(moved)} |  |"
    yield f"| not moved, change added | {span(added)} | {span(flat)} |"
    yield f"| moved, change removed | {span(removed)} | {span(removed_flat)} |"
    yield f"| not moved, change removed | at most {opposite} |  |"


def what_the_small_models_lose() -> Iterator[str]:
    """Shares of the excess loss over truncation."""

    def removed(kind: str, left: bool = False) -> str:
        shares = []
        for one in real_results.parts("tiny").values():
            trained, truncated = one["as trained"].mean(), one["truncated"].mean()
            share = 100 * (trained - one[kind].mean()) / (trained - truncated)
            shares.append(100 - share if left else share)
        return f"{min(shares):.0f} to {max(shares):.0f} %"

    yield f"the clamp removes {removed('clamped')} of the excess loss"
    yield f"Zeroing the bias removes only {removed('zeroed')}, and the flat bias {removed('flat, same mean')}"
    assert removed("window") == "100 to 100 %"
    yield f"with the first four tokens visible too, {removed('window and four sinks', left=True)} remain"


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
    for base in (100, 10_000):  # the attention moves back with either
        before, after = (
            STATISTICS[f"full-copy-rope_{base}-0/attention/{one}/{4 * LENGTH}"][-1].mean(axis=0)[31::32]
            for one in ("default", "yarn")
        )
        assert before[:2].sum() > 0.4 > 0.1 > after[:2].sum()
        assert after[2:].sum() > 2 * before[2:].sum()
    yield "has base 100, was trained to copy"
    yield "from 31 to 63 and from 95 to 191 tokens back"
    for name, scaling in (("as trained", "default"), ("YaRN", "yarn")):
        looks = STATISTICS[f"full-copy-rope_100-0/attention/{scaling}/{4 * LENGTH}"][-1].mean(axis=0)
        near, far = (looks[first : last + 1 : 32].sum() for first, last in ((31, 63), (95, 191)))
        row = [f"{near:.2f}", f"{far:.2f}", *(once("copy", scaling, 100, back) for back in (32, 96))]
        yield f"| {name} | {' | '.join(row)} | {share('copy', scaling, 100, probe='repeated'):.2f} |"
    yield "a single occurrence 32 or 96 tokens back"
    yield "| 32 back | 96 back |"
    for task, base, times, backs in (
        ("copy", 10_000, 4, (32, 384)),
        ("copy", 100, 1, (32, 96)),
        ("copy", 10_000, 1, (32, 96)),
        ("single_copy", 10_000, 4, (32, 384)),
        ("single_copy", 100, 4, (32, 384)),
    ):
        trained_on, seeds = {"copy": ("repeated blocks", (0,)), "single_copy": ("single occurrences", (0, 1))}[task]
        setting = f"{trained_on}, {grouped(base)}, ${'' if times == 1 else times}L$"
        for back in backs:
            before, after = (
                ", ".join(once(task, scaling, base, back, seed, times) for seed in seeds)
                for scaling in ("default", "yarn")
            )
            yield f"| {setting if back == backs[0] else ''} | {back} | {before} | {after} |"
    before, after = (
        [float(once("copy", scaling, base, 32, times=1)) for base in (100, 10_000)] for scaling in ("default", "yarn")
    )
    assert before[0] - after[0] > 0.7 > 0.3 > before[1] - after[1] > 0.2
    yield "the effect is as clear with base 100 and weaker with base 10 000"
    before, after = (
        [float(once("single_copy", scaling, 10_000, 32, seed)) for seed in (0, 1)] for scaling in ("default", "yarn")
    )
    assert all(now > then - 0.05 for then, now in zip(before, after, strict=True))
    yield "with base 10 000 it costs little 32 tokens back"
    yield "$s$ = 4"
    published = PUBLISHED_BOUNDS["beta_fast"]
    assert all(rotations(LENGTH, inv_freq(32, base)).max() < published for base, _ in MODELS)
    fast, slow = BOUNDS["beta_fast"], BOUNDS["beta_slow"]
    yield f"YaRN's bounds are {fast:.0f} rotations and {slow:.0f}, since no pair"
    yield f"of ours makes the published {published:.0f}."
    yield "models of 0.3 million parameters"


def passes(base: int) -> bool:
    return bool(decay(np.arange(32_769), inv_freq(128, base)).min() >= 0)


def published_before() -> Iterator[str]:
    qwen = configs.model("Qwen3-8B")
    assert qwen.rope["rope_theta"] == 1_000_000
    grid = [*range(640_000, 10**6, 10_000), *range(10**6, 1_400_001, 10**5)]
    assert [base for base in grid if passes(base)] == []
    assert [passes(base) for base in (630_000, 1_500_000, 1_800_000)] == [True, True, False]
    yield "at or above 0 at every distance in use. We test this up to 32 768 tokens, with 64 pairs"
    yield "There 630 000 passes. Then 640 000 fails, and so does every base of the grid up to 1 400 000"
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
        f"with bounds of {bounds['beta_fast']:.0f} rotations and {bounds['beta_slow']:.0f}, "
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


PARTS = {
    part.__name__: part
    for part in (
        the_learned_distance_bias,
        what_it_still_finds,
        the_set_up_of_the_distance_bias,
        the_bias_at_twice_the_length,
        the_reverse,
        what_the_small_models_lose,
        the_attention_offset,
        published_before,
        the_rest,
    )
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_the_page_says_what_is_computed(part):
    assert [phrase for phrase in part() if phrase not in PAGE] == []


def test_no_other_number_stands_on_the_page():
    rest = re.sub(r"(?s)```\{explorable\}.*?```", "", PAGE)
    for phrase in sorted((phrase for part in PARTS.values() for phrase in part()), key=len, reverse=True):
        rest = rest.replace(phrase, "")
    rest = re.sub(r"\]\([^)]*\)|`[^`]*`|\{cite:t\}|[Cc]hapter \d+|\$[^$]*\$|\d?L\b", " ", rest)
    assert re.findall(r"[^\s|]*\d[^\s|]*", rest) == []
