"""The tour of one hour: its sections, its length, and its numbers, which the figures show or the package computes."""

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from posenc import configs
from posenc.frequencies import inv_freq, wavelengths
from posenc.lab import real_results, results
from posenc.lab.store import load
from posenc.widgets import (
    AngleCoverage,
    BiasExplorer,
    ContextExtension,
    Explorable,
    FrequencyBank,
    LearnedDistanceBias,
    OrderBlindness,
    Playground,
    Rotation2D,
    SinusoidExplorer,
)
from tests.book.notebooks.prose import NUMBER, normalise, numbers_in_output, prose_of
from tests.explorables import sentence, shown
from tools.reading import words

pytestmark = pytest.mark.torch
PAGE = (Path(__file__).resolve().parents[2] / "book" / "tour.md").read_text(encoding="utf-8")
OPENING, *SECTIONS = re.split(r"(?m)^## ", PAGE.partition("---\n\n")[2])
FENCE = re.compile(r"(?s)```\{explorable\} (\w+).*?```")
MORE = re.compile(r"More in chapter \[\]\(\.\./notebooks/\d\d_\w+\.ipynb\)")
WORDS_PER_MINUTE, FORMULA, FIGURE = 170, 25, (45, 180)  # seconds
NAMES = "|".join(
    [r"Llama[- ][\d.]+(-\d+[bB])?|gemma-3-4b|Gemma 3|SmolLM2-135M", r"sections? \d(–\d)?|^\d+\. |\w+ et al\. \d+"]
)

# The figures that a section's numbers are taken from; those that it shows come first.
FIGURES: list[list[type[Explorable]]] = [
    [OrderBlindness],
    [SinusoidExplorer],
    [Rotation2D],
    [FrequencyBank],
    [AngleCoverage, LearnedDistanceBias],
    [ContextExtension],
    [BiasExplorer],
    [ContextExtension],
    [Playground],
]
every_section = pytest.mark.parametrize("at", range(9))


def grouped(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ") if number >= 10_000 else f"{number:.0f}"


def measured(scheme: str, times: int, probe: str = "text") -> str:
    """The loss or accuracy over the last tokens, which are the same at every length."""
    filters = {"profile": "full", "scheme": scheme, "probe": probe, "kind": "plain", "causal": True}
    return f"{results().over_seeds('loss' if probe == 'text' else 'accuracy', length=128 * times, **filters).mean:.2f}"


def of_section_2() -> Iterator[str]:
    yield f"at position {grouped(10_000)} as at position 1"
    yield "Position 7 has the same encoding in every text"
    kernel = shown(SinusoidExplorer, position=90).values["kernel"]
    yield f"10 tokens apart, the product is {kernel[len(kernel) // 2 + 10]:.3f} of its maximum"


def of_section_3() -> Iterator[str]:
    story = Rotation2D.story()
    together, apart = (shown(Rotation2D, **story[name]).values["by_matrices"] for name in ("together", "apart"))
    yield f"the score is {together:.2f} at every position"
    yield f"At a distance of {story['apart']['m'] - story['apart']['n']} it is {apart:.2f}".replace("-", "−")


def of_section_4() -> Iterator[str]:
    frequencies = inv_freq(128)
    assert len(frequencies) == 64
    fastest, *_, slowest = wavelengths(frequencies)
    yield "with $d = 128$ dimensions has 64 pairs"
    yield f"the distance of one full rotation, is {fastest:.2f} tokens"
    yield f"the slowest needs {grouped(slowest)} tokens"
    rotations = 500 / wavelengths(frequencies)
    yield f"At 500 tokens the fastest pair has completed {int(rotations[0])} rotations"
    yield f"while {(rotations < 1).sum()} of the {len(rotations)} pairs haven't completed a single one"
    near, far = (np.cos(distance * frequencies).mean() for distance in (500, 8192))
    yield f"At 500 tokens the mean is {near:.3f}, and at 8192 (**Cancelling**) only {far:.3f}"
    old, new = (configs.MODELS[name].rope["rope_theta"] for name in ("Llama-2-7b-hf", "Meta-Llama-3-8B"))
    yield f"In the original paper it is {grouped(10_000)}"
    yield f"{grouped(old)} in Llama 2, {grouped(new)} in Llama 3"


def of_section_5() -> Iterator[str]:
    parameters = sum(weight.numel() for weight in load("full-text-rope_100-0")[0].parameters())
    yield f"two layers, {parameters / 1e6:.1f} million parameters"
    weights = [np.exp(6) / (np.exp(6) + keys - 1) for keys in (128, 2048)]
    few, many = (100 * weight for weight in weights)
    yield f"A key whose logit is 6 above all others gets {few:.0f} % of the attention among 128 keys"
    yield f"{many:.0f} % among 2048"
    yield f"one ring for each of the {configs.MODELS['Llama-2-7b-hf'].head_dim // 2} pairs of Llama 2"
    assert LearnedDistanceBias().base == "100"
    yield "of one small model (base 100)"
    past = [shown(LearnedDistanceBias, base=base).values["all"][160:].mean() for base in ("100", "10000")]
    assert past[0] > 3 > 1 > past[1]
    yield f"With base {grouped(10_000)} (under “… More”) the bias rises less past $L$"
    story = LearnedDistanceBias.story()
    facts = {name: shown(LearnedDistanceBias, **story[name]).facts for name in ("bias", "clamp", "control")}
    yield f"the loss rises from {facts['bias']['within']:.2f} to {facts['bias']['unclamped']:.2f} nats per byte"
    yield f"pair {facts['bias']['pair']} divides weights by up to {facts['bias']['push']}"
    yield f"the loss at 256 tokens falls to {facts['clamp']['loss']:.2f}"
    yield f"hardly changes the bias, and the loss only falls to {facts['control']['loss']:.2f}"
    yield f"With RoPE (base 100), the loss at 512 tokens is {measured('rope_100', 4)} nats per byte"
    yield f"Given only the last 128 tokens, the loss is {measured('rope_100', 1)}"
    texts = real_results.interventions()
    trained, clamped = (np.mean([one[kind] for one in texts], axis=0)[-4:].mean() for kind in ("as trained", "clamped"))
    yield f"near {grouped(16_000)} tokens from {trained:.2f} to {clamped:.2f} nats per token"
    yield "with 135 million parameters and a trained length of 8192 tokens"


def of_section_6() -> Iterator[str]:
    extended = shown(ContextExtension, method="yarn_code")
    factor, kept = extended.values["method"]["attention_factor"] ** 2, extended.facts["kept"]
    yield f"YaRN keeps {kept} of 64 pairs, divides the slowest by 4 and multiplies the scores by {factor:.3f}"
    found, asked = real_results.needles(), (12_288, 16_384)
    counts = {name: sum(int(found[name][n].sum()) for n in asked) for name in ("YaRN", "PI", "bias clamped")}
    tried = sum(found["PI"][n].size for n in asked)
    yield f"in texts of {grouped(asked[0])} and {grouped(asked[1])} tokens"
    yield f"YaRN found {counts['YaRN']} of {tried}, PI {counts['PI']} and the clamp {counts['bias clamped']}"
    yield f"where guessing would find about {tried // 8}"
    far = found["YaRN"][asked[0]][:, :3].sum() + found["YaRN"][asked[1]][:, :4].sum()  # farther back than 8192 tokens
    nearer = tried - sum(found["YaRN"][n][:, :k].size for n, k in zip(asked, (3, 4), strict=True))
    near = counts["YaRN"] - int(far)
    yield f"(YaRN found {near} of the {nearer} facts within the trained length of the question, and "
    yield f"{int(far)} of the other {tried - nearer}.)"
    change = {name: real_results.extended(name)["14336–16383"].high for name in ("PI", "YaRN", "NTK-aware")}
    assert max(change.values()) < -2, "each lowers the loss near twice the trained length a lot"


def of_section_7() -> Iterator[str]:
    near, far = (shown(BiasExplorer, **BiasExplorer.story()[name]).facts for name in ("fan", "reach"))
    yield f"half of head {near['shown_head']}'s attention would be on"
    yield f"on the nearest {near['needed']} of {near['keys']} keys"
    yield f"with {far['keys']} keys the steep heads attend no farther than before"
    yield f"the gentlest needs {far['needed']} keys for half of its attention"
    yield "0.3 million parameters, $L = 128$"
    yield f"a loss of {measured('alibi', 16)} nats per byte at 16 times the trained length"
    yield f"RoPE with base 100, unscaled, has {measured('rope_100', 16)} there"
    copied = "at 8 times the trained length, the same kind of model has an accuracy of"
    yield f"{copied} {measured('alibi', 8, 'copy_half')}"
    yield f"ALiBi's authors published, it is {measured('alibi_published', 8, 'copy_half')}"
    without = f"at 4 times the trained length its loss is {measured('none', 4)}"
    yield f"{without}, where unscaled RoPE has {measured('rope_100', 4)}"


def of_section_8() -> Iterator[str]:
    scaling = {"llama3": "Llama 3", "yarn": "YaRN", "linear": "PI"}
    for name in ("Llama-2-7b-hf", "Llama-3.1-8B", "Qwen3-8B", "DeepSeek-V3", "gemma-3-4b-it"):
        model = configs.MODELS[name]
        base, local = model.rope["rope_theta"], model.rope.get("rope_local_base_freq")
        method = model.rope["rope_scaling"]
        kind = method and scaling[method.get("rope_type") or method["type"]]
        cells = [
            name.removesuffix("-hf").removesuffix("-it"),
            f"{grouped(base)} and {grouped(local)}" if local else grouped(base),
            grouped(model.original_max_position_embeddings or 0),
            grouped(model.max_position_embeddings),
            f"{kind}, factor {method['factor']:g}" if method else "none",
        ]
        yield f"| {' | '.join(cells)} |"
    kept = shown(ContextExtension, model="Llama-3.1-8B", method="llama3").facts["kept"]
    yield f"leaves {kept} of 64 pairs unchanged"


def of_section_9() -> Iterator[str]:
    assert Playground().encoding == "rope_10000"
    yield f"Here is one of the small models, with base {grouped(10_000)}"
    yield "It has two layers and 0.3 million parameters, was trained on sequences of 128 tokens, and now reads 2048"
    yield "each of its 16 dimension pairs"
    yield f"({max(map(len, Playground.files().values())) / 1e6:.1f} MB)"
    trained = shown(Playground).facts
    without_fastest = shown(Playground, pairs=" ".join(["off", *["-"] * 15])).facts
    yield f"from {trained['within']:.2f} to {without_fastest['within']:.2f}, probably because"
    nope, clamp, pi, yarn = (
        shown(Playground, **Playground.story()[step]).facts for step in ("nope", "clamp", "pi", "yarn")
    )
    yield f"rises from {trained['within']:.2f} within $L$ to {trained['far']:.2f} far past it"
    yield f"Press **Clamp**: {clamp['far']:.2f}, so"
    yield f"Press **PI**: now even the loss within $L$ is {pi['within']:.2f}, because"
    yield f"Press **YaRN**: {yarn['within']:.2f} within $L$, and {yarn['far']:.2f} far past it"
    yield f"worse within $L$, {nope['within']:.2f}, but far past $L$ it is only {nope['far']:.2f}"
    by_hand = shown(Playground, pairs=" ".join(["-"] * 6 + ["0.0625"] * 10)).facts
    yield "the slow pairs, 6 to 15, down to 1/16"
    yield f"far past $L$ falls from {trained['far']:.2f} to {by_hand['far']:.2f}"


@cache
def shown_by(cls: type[Explorable]) -> set[Decimal]:
    """The numbers in what a figure says at the steps of its story."""
    texts = []
    for step in cls.catalogue["story"]:
        texts += [sentence(cls, step), shown(cls, **cls.story()[step["name"]]).finding]
    return set().union(*map(numbers_in_output, texts))


def stated(markdown: str) -> set[Decimal]:
    """The numbers of a text, but for names, formulas on lines of their own, and 0 to 3."""
    text = re.sub(r"(?s)\$\$.*?\$\$", " ", FENCE.sub(" ", markdown))
    text = re.sub(NAMES, " ", MORE.sub(" ", text), flags=re.MULTILINE)
    found = NUMBER.finditer(normalise(prose_of(text)))
    numbers = {Decimal(re.sub(r"\D", "", one["digits"]) + (one["decimals"] or "")) for one in found}
    return numbers - {Decimal(number) for number in range(4)}


@every_section
def test_its_numbers_are_shown_or_computed(at):
    phrases = list(globals().get(f"of_section_{at + 1}", tuple)())
    assert [phrase for phrase in phrases if phrase not in SECTIONS[at]] == []
    known = {abs(number) for cls in FIGURES[at] for number in shown_by(cls)} | stated("\n".join(phrases))
    assert sorted(stated(SECTIONS[at]) - known) == []


@every_section
def test_a_section_has_its_figures_and_ends_with_one_way_on(at):
    *_, last = SECTIONS[at].strip().splitlines()
    assert MORE.fullmatch(last), "the site writes the chapter's number and title"
    assert SECTIONS[at].count("](") == 1
    assert SECTIONS[at].startswith(f"{at + 1}. ")
    drawn = FENCE.findall(SECTIONS[at])
    assert drawn == [cls.__name__ for cls in FIGURES[at]][: len(drawn)]


def test_it_names_the_steps_of_its_figures():
    for section, figures in zip(SECTIONS, FIGURES, strict=True):
        labels = {step["label"] for cls in figures for step in cls.catalogue["story"]} | {"Play"}
        tried = re.search(r"(?s)(?:\*\*Try it\.\*\*|Three things to try:).*", section)
        assert tried or not FENCE.search(section)
        pressed = re.findall(
            r"(?:[Pp]ress|\(|The step|step,?|In|Start again from) \*\*([^*.]+)\*\*", tried[0] if tried else ""
        )
        assert [label for label in pressed if label not in labels] == []


def test_its_times_are_honest():
    def minutes(parts: list[str], seconds: int) -> float:
        text = FENCE.sub(" ", "\n".join(parts))
        figures = sum(len(FENCE.findall(part)) for part in parts)
        formulas = text.count("$$") // 2
        return words(MORE.sub(" ", text)) / WORDS_PER_MINUTE + (FORMULA * formulas + seconds * figures) / 60

    everything = [OPENING, *SECTIONS]
    text = MORE.sub(" ", FENCE.sub(" ", "\n".join(everything)))
    assert 3500 <= words(text) <= 4200
    assert len(FENCE.findall(PAGE)) == 9
    least, most = (5 * round(minutes(everything, seconds) / 5) for seconds in FIGURE)
    assert f"**Reading time: {least} to {most} minutes**" in OPENING
    assert f"**In {5 * round(minutes(everything[:4], FIGURE[1]) / 5)} minutes: sections 1–3.**" in OPENING
