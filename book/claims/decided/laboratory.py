"""The claims that trained models decide, from what the laboratory measured: inequalities with margins, over all seeds.

Losses are in nats on the text of Python's standard library, accuracies on copying, both on the last tokens of
texts of n times the trained length, 128 tokens (64 for the quick models). Copying is asked in two ways: of repeated
blocks, where any copy will do, and of a block that was said once, so many tokens back.
"""

from typing import Any

import numpy as np

from book.claims.evidence import Evidence
from posenc.lab import results
from posenc.lab.intervals import Interval
from posenc.lab.measured import benchmarks

RESULTS, BENCHMARKS = results(), benchmarks()
BASES = ("rope_100", "rope_10000")
# Differences between seeds of what a whole run ends with: smaller ones say nothing.
NATS, SHARE = 0.1, 0.05


def _each(task: str, scheme: str, times: int, *, probe: str = "", kind: str = "plain", **wanted: Any) -> np.ndarray:
    """Loss on text or accuracy on copying, one number for each seed, at so many times the trained length."""
    length = 128 * times
    found = RESULTS.select(
        profile="full", task=task, scheme=scheme, probe=probe or task, kind=kind, length=length, **wanted
    )
    by_seed = {one["seed"]: one["loss" if task == "text" else "accuracy"] for one in found}
    assert len(by_seed) == len(found) == 3, f"{task} {scheme} {length} {wanted}: {len(found)} measurements"
    return np.array([by_seed[seed] for seed in sorted(by_seed)])


def _scaled(task: str, scheme: str, scaling: str, times: int, factor: float | None = None) -> np.ndarray:
    """The same under a scaling, by what the length needs where no factor is given; each model as it is at factor 1."""
    factor = float(times) if factor is None else factor
    if factor == 1:
        scaling = "default"
    return _each(task, scheme, times, kind="scaling", scaling=scaling, factor=factor)


def _once(
    training: str, scheme: str, back: int, times: int, scaling: str = "", factor: float | None = None
) -> Interval:
    """The share found of a block said once so far back; of models trained on repeated blocks ("copy") or on such."""
    asked = {"task": training, "scheme": scheme, "probe": "single_copy", "distractors": "random", "length": 128 * times}
    if not scaling:
        return BENCHMARKS.interval(asked | {"distance": back, "kind": "plain"})
    told = {"scaling": scaling, "factor": float(times) if factor is None else factor}
    return BENCHMARKS.interval(asked | {"distance": back, "kind": "scaling"} | told)


def _shares(found: dict[str, Interval]) -> str:
    return ", ".join(f"{name} {one}" for name, one in found.items())


def _range(values: np.ndarray) -> str:
    return f"{values.min():z.2f} to {values.max():z.2f}"


def C115() -> Evidence:
    """One model trained with the larger base; then one given a larger base than its own, as NTK-aware scaling does."""
    small, large = (_each("text", base, 1) for base in BASES)
    changed = [_scaled("text", base, "ntk_aware", 1, factor=4.0) for base in BASES]
    return Evidence(
        cases={
            "for a trained model whose base is changed": np.all(changed[0] > small) and np.all(changed[1] > large),
            "for one trained with that base": np.all(large - small.mean() > NATS),
        },
        figure=f"loss trained with base 100 {_range(small)}, with base 10000 {_range(large)}; with a larger base than "
        f"the one in training {_range(changed[0])} and {_range(changed[1])}",
    )


def C122() -> Evidence:
    kept, near, repeated, figures = [], [], [], []
    for base in BASES:
        text = [_each("text", base, times) for times in (1, 2, 4)]
        copying = [_each("copy", base, times) for times in (1, 2, 4, 8)]
        kept += [bool(np.all(text[2] < text[0] + NATS)), bool(np.all(copying[3] > copying[0] - SHARE))]
        near += [bool(np.all(text[1] < text[0] + NATS))]
        repeated += [bool(np.all(copying[1] > copying[0] - SHARE))]
        figures.append(
            f"{base}: loss {', '.join(map(_range, text))} at 1, 2 and 4 times the trained length; "
            f"repeated blocks {', '.join(map(_range, copying))} at 1, 2, 4 and 8 times; a block that occurs once, 32 "
            f"tokens back {', '.join(str(_once('copy', base, 32, times)) for times in (1, 2, 4, 8))}"
        )
    return Evidence(
        as_said=all(kept),
        weaker={
            "on text it does so up to twice that length": all(near),
            "in copying repeated blocks it does so up to twice that length": all(repeated),
        },
        figure="; ".join(figures),
    )


def _apart(task: str, worse: str, better: str, times: int) -> bool:
    """Whether the best seed of one scheme is worse than the worst of another."""
    sign = 1 if task == "text" else -1
    return bool((sign * _each(task, worse, times)).min() > (sign * _each(task, better, times)).max())


def _at_lengths(schemes: tuple[str, ...]) -> str:
    """What each scheme reaches at 4 and at 16 times the trained length."""
    return "; ".join(
        f"{task} at {times} times the trained length: "
        + ", ".join(f"{scheme} {_range(_each(task, scheme, times))}" for scheme in schemes)
        for task in ("text", "copy")
        for times in (4, 16)
    )


def C123() -> Evidence:
    def ordered(task: str, lengths: tuple[int, ...]) -> bool:
        return all(
            _apart(task, "sinusoidal", base, times) and _apart(task, base, "alibi", times)
            for base in BASES
            for times in lengths
        )

    return Evidence(
        cases={
            "on text, up to four times the trained length": ordered("text", (2, 4)),
            "on longer texts": ordered("text", (8, 16)),
            "on repeated blocks": ordered("copy", (2, 4, 8, 16)),
        },
        figure=_at_lengths(("sinusoidal", *BASES, "alibi")),
    )


def C124() -> Evidence:
    repaired, helped, figures = [], [], []
    for task in ("text", "copy"):
        for base in BASES:
            trained, plain = _each(task, base, 1), _each(task, base, 4)
            slow, fast = (
                _each(task, base, 4, kind="intervention", operation="interpolate", chosen=chosen)
                for chosen in ("slow", "fast")
            )
            sign, margin = (1, NATS) if task == "text" else (-1, SHARE)
            repaired.append(bool(np.all(sign * (slow - trained) < margin)))
            if task == "text":
                helped.append(bool(np.all(slow - trained < 0.5 * (plain - trained)) and np.all(fast > plain - margin)))
            figures.append(
                f"{task}, {base}: trained length {_range(trained)}, 4 times {_range(plain)}, slow pairs slowed "
                f"{_range(slow)}, fast pairs slowed {_range(fast)}"
            )
    return Evidence(
        as_said=all(repaired),
        weaker={"on text it takes away most of what is lost, and slowing the fast pairs does not": all(helped)},
        figure="; ".join(figures),
    )


def C125() -> Evidence:
    """Text: as good as at the trained length, and better than without, for both bases and all seeds.

    Copying: a block said once three trained lengths back, or near, by models trained on such, at four times the length.
    """
    text, far, near, figures = {}, {}, {}, []
    for scaling in ("linear", "ntk_aware", "yarn"):
        text[scaling] = True
        for base in BASES:
            trained, plain, scaled = _each("text", base, 1), _each("text", base, 8), _scaled("text", base, scaling, 8)
            text[scaling] &= bool(np.all(scaled - trained < NATS) and np.all(plain - scaled > NATS))
            figures.append(f"text at 8 times, {base}, {scaling}: {_range(scaled)} against {_range(plain)} without")
    for base in BASES:
        for back, found in ((384, far), (32, near)):
            without = _once("single_copy", base, back, 4)
            told = {scaling: _once("single_copy", base, back, 4, scaling) for scaling in text}
            for scaling, one in told.items():
                found[base, scaling] = (one.mean > 0.9) if back == 384 else (one.mean > without.mean - SHARE)
            figures.append(f"a single occurrence {back} tokens back, {base}: {without} without, {_shares(told)}")
    large = BASES[1]
    return Evidence(
        cases={
            "for YaRN, with the larger base, copying what occurred once, beyond the trained length": far[large, "yarn"],
            "for YaRN, with the smaller base": far[BASES[0], "yarn"] and near[BASES[0], "yarn"],
            "for YaRN, on text": text["yarn"],
            "for NTK-aware scaling": text["ntk_aware"] and far[large, "ntk_aware"] and near[large, "ntk_aware"],
            "for position interpolation": text["linear"] and far[large, "linear"] and near[large, "linear"],
        },
        figure="; ".join(figures),
    )


def C126() -> Evidence:
    trained, longest = _each("text", "alibi", 1), _each("text", "alibi", 16)
    return Evidence(
        as_said=np.all(longest < trained + NATS / 2),
        figure=f"{_range(trained)} at the trained length, {_range(longest)} at 16 times it",
    )


def _sharpest(task: str, scheme: str) -> tuple[np.ndarray, np.ndarray]:
    """At eight times the trained length: without a temperature, and with the one that helps most on average."""
    wanted = {"kind": "temperature", "scheme": scheme, "task": task, "profile": "full"}
    factors = sorted({one["logit_factor"] for one in RESULTS.select(**wanted)})
    plain, *others = (_each(task, scheme, 8, kind="temperature", logit_factor=factor) for factor in factors)
    best = max(others, key=lambda values: values.mean() if task == "copy" else -values.mean())
    return plain, best


def C127() -> Evidence:
    figures = []
    for task in ("text", "copy"):
        sign = 1 if task == "text" else -1
        for name, scheme in (("NoPE", "none"), ("RoPE", "rope_10000")):
            plain, best = _sharpest(task, scheme)
            figures.append(f"{task}, {name} {_range(sign * (plain - best))}")
    return Evidence(figure="gained by the best temperature at 8 times the trained length: " + "; ".join(figures))


STATIC = ("linear", "ntk_aware")  # the methods that note 004 has described where it compares them


def C214() -> Evidence:
    text, near, figures = [], [], []
    for base in BASES:
        plain = _each("text", base, 2)
        for scaling in STATIC:
            scaled = _scaled("text", base, scaling, 2)
            text.append(bool(np.all(plain - scaled > 0)))
            figures.append(f"text, {base}, {scaling}: {_range(scaled)} against {_range(plain)} without")
        for back in (32, 192):  # near, and beyond the trained length, where some of the differences are not clear
            without = _once("single_copy", base, back, 2)
            told = {scaling: _once("single_copy", base, back, 2, scaling) for scaling in STATIC}
            if back == 32:
                near += [one.mean > without.mean for one in told.values()]
            figures.append(f"a single occurrence {back} tokens back, {base}: {without} without, {_shares(told)}")
    return Evidence(
        cases={
            "on text": all(text),
            "on copying what is near": any(near),
        },
        figure="at twice the trained length " + "; ".join(figures),
    )


def C215() -> Evidence:
    worse: dict[str, list[bool]] = {"text": [], "copy": []}
    near, further, figures = [], [], []
    for base in BASES:
        for task in ("text", "copy"):
            sign, margin = (1, 0.02) if task == "text" else (-1, 0.005)
            trained = _each(task, base, 1)
            for scaling in STATIC:
                scaled = _scaled(task, base, scaling, 1, factor=4.0)
                worse[task].append(bool(np.all(sign * (scaled - trained) > margin)))
                what = "text" if task == "text" else "repeated blocks"
                figures.append(f"{what}, {base}, {scaling}: {_range(scaled)} against {_range(trained)}")
        for back, found in ((32, near), (96, further)):
            without = _once("copy", base, back, 1)
            told = {scaling: _once("copy", base, back, 1, scaling, factor=4.0) for scaling in STATIC}
            found += [one.high < without.low for one in told.values()]
            figures.append(f"a single occurrence {back} tokens back, {base}: {without} without, {_shares(told)}")
    return Evidence(
        cases={
            "on text": all(worse["text"]),
            "on repeated blocks": all(worse["copy"]),
            "on a single occurrence, at a distance that training had": all(near),
            "on a single occurrence, further back than training looked": all(further),
        },
        figure="with a fixed factor of 4, at the trained length, " + "; ".join(figures),
    )


def C220() -> Evidence:
    def better(*lengths: int) -> bool:
        return all(
            _apart(task, "sinusoidal", base, times) for task in ("text", "copy") for base in BASES for times in lengths
        )

    return Evidence(
        cases={"up to four times the trained length": better(2, 4), "at eight and sixteen times": better(8, 16)},
        figure=_at_lengths(("sinusoidal", *BASES)),
    )


def C230() -> Evidence:
    """Flat where the answer is near; then where it is half the text back, further than in training."""
    flat = [
        np.abs([_each(task, slopes, 16) - _each(task, slopes, 1) for slopes in ("alibi", "alibi_published")])
        for task in ("text", "copy")
    ]
    far = [_each("copy", "alibi", times, probe="copy_half") for times in (1, 2, 4, 8)]
    gentle = [_each("copy", "alibi_published", times, probe="copy_half") for times in (1, 8, 16)]
    near = _once("copy", "alibi", 32, 16)
    return Evidence(
        cases={
            "for the loss, and for copying what is near": np.all(flat[0] < NATS) and near.low > 1 - SHARE,
            "for copying from half the text back, with the paper's slopes too": np.all(gentle[2] > gentle[0] - SHARE),
        },
        figure="at 16 times the trained length loss on text and accuracy on repeated blocks change by at most "
        f"{flat[0].max():.2f} and {flat[1].max():.2f}, and of a block that occurs once, 32 tokens back {near} is "
        f"found; copying from half the text back {', '.join(map(_range, far))} at 1, 2, 4 and 8 times it; with the "
        f"paper's gentler slopes {', '.join(map(_range, gentle))} at 1, 8 and 16 times it",
    )
