"""Every explorable as the tests and the benchmark meet it: a new one joins them all by its line here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posenc.widgets import (
    AngleCoverage,
    AttentionByHand,
    BiasExplorer,
    BuildAnEncoding,
    ContextExtension,
    DecayExplorer,
    Explorable,
    FrequencyBank,
    InjectionPoints,
    LayerStack,
    LearnedDistanceBias,
    OrderBlindness,
    PatchGrid,
    Playground,
    Rotation2D,
    RotationPlanes,
    SinusoidExplorer,
)
from tests.js.node import figure_of

EVERY_ONE = "book/explorables.html"  # the page that shows each of them once


@dataclass(frozen=True, eq=False)
class Case:
    """An explorable, settings at which it is compared with Python, and the heaviest of all."""

    cls: type[Explorable]
    settings: list[dict[str, object]]
    largest: dict[str, object]
    page: str = EVERY_ONE  # where its chapter shows it, once that is written
    handles: tuple[str, ...] = ()  # names of what is dragged on the canvas
    free: dict[str, object] = field(default_factory=dict)  # with which each control moves from end to end by itself

    quick: dict[str, object] = field(default_factory=dict)  # with which it takes little time at any other control's end
    tolerance: float = 1e-10  # of its numbers
    apart: tuple[str, ...] = ()  # values that have a test of their own

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.cls.__name__

    @property
    def slider(self) -> dict[str, Any]:
        """The first slider that has something to move as the explorable opens, or else the first."""
        controls = self.cls.controls()
        opening = {control["name"]: control["opening"] for control in controls}
        sliders = [control for control in controls if "least" in control and control["scale"] != "action"]
        return min(sliders, key=lambda one: any(opening[name] not in of for name, of in one["needs"].items()))


@dataclass(frozen=True)
class Shown:
    """What an explorable shows at one setting, by its own JavaScript in Node.js."""

    setting: dict[str, Any]
    values: dict[str, Any]
    facts: dict[str, Any]  # of which its sentences are made
    finding: str


def shown(cls: type[Explorable], **setting: object) -> Shown:
    """What an explorable shows at a setting."""
    picture = figure_of(cls).at(setting)
    return Shown(cls(**setting).setting(), arrays(picture["values"]), picture["facts"], plain(picture["finding"]))


def sentence(cls: type[Explorable], step: dict[str, Any]) -> str:
    """What a step of a story says."""
    return plain(figure_of(cls).at(cls.story()[step["name"]], steps=[step])["steps"][0])


def plain(text: str) -> str:
    """A text with plain spaces, where it may keep two words on one line."""
    return text.replace("\u00a0", " ")


def arrays(value: Any) -> Any:
    """`value` with rows of numbers, and rows of rows, as arrays."""
    if isinstance(value, dict):
        return {name: arrays(inner) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    rows = [arrays(inner) for inner in value]
    numbers = all(isinstance(row, (int, float, np.ndarray)) and not isinstance(row, bool) for row in rows)
    return np.array(rows) if rows and numbers and len({np.shape(row) for row in rows}) == 1 else rows


CASES = [
    Case(
        Playground,
        [
            {
                "length": 256,
                "preset": "yarn",
                "factor": 2.0,
                "pairs": "- off 0.5 - - - - - - - - - - - - 2",
                "query": 200,
            },
            {"length": 128, "encoding": "learned", "past_end": "interpolate", "head": "1.4"},
            {"length": 256, "encoding": "learned", "query": 20, "text": "random"},
            {"length": 256, "encoding": "t5", "window": "sinks", "temperature": 0.8, "query": 255},
            {
                "length": 512,
                "encoding": "rope_100",
                "clamp": True,
                "text": "own",
                "own_text": "x = y + 1; ",
                "base": 3.0,
            },
            {"task": "copy", "length": 256, "encoding": "alibi", "query": 140, "head": "2.3", "details": True},
            {"task": "copy", "length": 512, "encoding": "rope_100", "preset": "yarn", "clamp": True, "query": 20},
            {"task": "copy", "length": 256, "encoding": "learned", "window": "window", "details": True},
            {"task": "copy", "length": 256, "encoding": "t5", "details": True},
            {"length": 256, "seed": "1", "clamp": True, "encoding": "rope_100"},
            {"length": 128, "seed": "1", "encoding": "t5"},
        ],
        {"length": 1024, "clamp": True, "temperature": 2.0, "window": "sinks", "query": 1023},
        "book/playground.html",
        handles=("pair",),
        free={"length": 256},
        quick={"length": 256},
        tolerance=1e-3,
        apart=("written", "trained_written"),
    ),
    Case(
        InjectionPoints,
        [
            {"injection_point": "input", "m": 0, "n": 32},
            {"injection_point": "query_key", "m": 32, "n": 0},
            {"injection_point": "logits", "m": 4, "n": 4, "together": True},
            {"injection_point": "logits", "m": 2, "n": 13, "start": 6},
            {"injection_point": "none", "m": 15, "n": 15},
        ],
        {"injection_point": "query_key"},
        handles=("query", "key"),
        free={"m": 15, "n": 9},  # so that no other token stands where the rest begins or ends
    ),
    Case(
        LearnedDistanceBias,
        [
            {"clamp": "zero", "layer": "1"},
            {"clamp": "other_slow", "base": "10000"},
            {"clamp": "mask", "layer": "1", "base": "10000"},
            {"show_pair": True, "pair": 0},
            {"show_pair": True, "pair": 12},
        ],
        {"clamp": "most_negative", "base": "10000"},
        handles=("bias",),
    ),
    Case(
        RotationPlanes,
        [
            {"align": 0.63, "theta_1": 3.14, "theta_2": 0.0, "draw": 8, "orbit_13": 0.7, "orbit_24": -2.5},
            {"align": 1.0, "draw": 999},
            {"view": "plane", "w_length": 0.3, "w_angle": -3.14, "z_real": -1.2, "z_imaginary": 1.2},
            {"view": "plane", "z_real": 0.0, "z_imaginary": 0.0},
        ],
        {"align": 0.5, "theta_1": 3.14, "theta_2": 3.14},
        handles=("axes 1 and 2", "axes 3 and 4"),
    ),
    Case(
        AttentionByHand,
        [
            {"token": "0", "scaled": False},
            {"q_action_creature": -4.0, "q_glue_object": 4.0, "k_action_object": 2.5, "token": "5"},
            {"q_action_creature": 0.0, "q_action_object": 0.0, "k_creature_creature": 0.0, "k_object_object": 0.0},
        ],
        {"token": "4", "q_action_creature": 4.0, "k_glue_creature": 4.0, "k_glue_object": -4.0},
        handles=("query", "key cat", "key sat", "key mat"),
    ),
    Case(
        OrderBlindness,
        [
            {"scheme": "sinusoidal", "order": ""},
            {"sentence": "我 爱 你", "scheme": "alibi"},
            {"sentence": "the cat sat on the mat", "order": "201345", "causal": True},
            {"sentence": "from Beijing to Shanghai", "order": "0123", "layers": "2", "causal": True, "seed": 7},
            {"sentence": "屡 败 屡 战", "order": "0321", "scheme": "rope", "progress": 0.2},
            {"sentence": "BOS the the the the", "order": "21", "causal": True, "seed": 999, "progress": 1.15},
        ],
        {"sentence": "the cat sat on the mat", "order": "543210", "scheme": "rope", "layers": "2", "progress": 1.5},
        handles=("row_0", "row_1", "row_2", "column_0", "column_1", "column_2"),
    ),
    Case(
        BuildAnEncoding,
        [
            {"cosines": True, "frequencies": "random", "pairs": 6},
            {"pairs": 1, "theta_0": 3.14, "position": 63, "other": 0},
            {"cosines": True, "pairs": 2, "theta_0": 0.001, "theta_1": 0.001, "position": 0, "other": 0},
        ],
        {"cosines": True, "pairs": 6, "frequencies": "ratio_3"},
        handles=("pair 0", "pair 1", "pair 2", "pair 3", "position"),
    ),
    Case(
        SinusoidExplorer,
        [
            {"weight": "identity", "position": 90, "offset": 30},
            {"weight": "random", "draw": 3, "position": 0, "offset": -7},
            {"weight": "shift", "offset": -1, "position": 127},
            {"weight": "shift", "offset": 0, "dim": 2, "base": 1.0},
            {"weight": "random", "draw": 999, "dim": 2, "base": 1e8, "offset": 64},
            {"weight": "random", "draw": 1, "dim": 128, "base": 1.0, "offset": -64},
        ],
        {"weight": "random", "dim": 128, "position": 127, "offset": 64},
        handles=("position", "key"),
    ),
    Case(
        DecayExplorer,
        [
            {"base": 1.0, "distance": 64, "dim": 2, "show_score": True, "correlation": -1.0},
            {"base": 1e8, "distance": 65_536, "dim": 256, "show_bound": True, "show_logarithm": True},
            {"base": 500.0, "distance": 3000, "show_score": True, "correlation": 0.35, "log_distance": True},
            {"base": 1e6, "distance": 8, "dim": 64, "show_bound": True},
        ],
        {"dim": 256, "distance": 65_536, "show_logarithm": True, "show_bound": True, "show_score": True},
        handles=("base",),
    ),
    Case(
        FrequencyBank,
        [
            {"distance": 0, "other": 0},
            {"distance": 65_536, "other": 0, "base": 1.0, "dim": 2},
            {"distance": 1, "other": 65_535, "base": 1e8, "dim": 256, "chart": "difference", "pair": 127},
            {"distance": 4096, "other": 4000, "base": 5e5, "dim": 64, "chart": "difference", "pair": 0},
            {"distance": 7, "other": 7, "chart": "difference"},
        ],
        {"dim": 256, "distance": 65_536, "chart": "difference"},
        handles=("fastest", "pair"),
        free={"dim": 256},  # whose last pair is the slider's last
    ),
    Case(
        ContextExtension,
        [
            {"model": "Phi-3-mini-128k-instruct", "method": "longrope"},
            {"model": "DeepSeek-V3", "method": "yarn_code"},
            {"method": "dynamic_ntk", "used": 100_000, "trained": 300, "dim": 4, "base": 1e7},
            {"method": "ntk_by_parts", "factor": 1.0, "beta_fast": 4, "beta_slow": 4.0, "base": 100.0},
            {"model": "Llama-3.1-8B", "method": "llama3"},
            {"used": 256},
            {"method": "linear", "factor": 2.0},
            {"method": "yarn_paper", "factor": 8.0},
        ],
        {"dim": 256, "trained": 4096, "used": 262_144, "factor": 64.0, "method": "dynamic_ntk"},
        handles=("factor",),
        free={"method": "linear"},  # so that the factor can go on down, and moves no other control
    ),
    Case(
        BiasExplorer,
        [
            {"scheme": "t5", "heads": 1, "head": 1, "distance": 8},
            {"scheme": "sandwich", "heads": 16, "head": 16, "distance": 512},
            {"scheme": "kerple_log", "draw": 999, "heads": 5, "head": 2, "distance": 30},
            {"scheme": "kerple_power", "heads": 3, "head": 12, "distance": 300},
            {"scheme": "fire", "draw": 1, "threshold": 512},
            {"scheme": "fire", "draw": 1, "threshold": 1},
            {"scheme": "transformer_xl", "draw": 2, "heads": 4, "distance": 60},
            {"scheme": "deberta", "draw": 5, "heads": 6, "head": 6, "distance": 100},
            {"heads": 12, "head": 12, "distance": 512},
        ],
        {"scheme": "transformer_xl", "heads": 16, "distance": 512},
        handles=("half", "slope"),
        free={"heads": 16, "distance": 32},  # so that the head shown can go on to the last
    ),
    Case(
        AngleCoverage,
        [
            {"model": "Llama-3.1-8B", "used": 131_072},
            {"model": "gpt-neox-20b", "used": 1000},
            {
                "base": 1.0,
                "dim": 4,
                "trained": 16,
                "used": 131_072,
                "tolerance": 0.5,
                "chart": "rotations",
                "pair": 127,
            },
            {"base": 1e8, "dim": 256, "trained": 65_536, "used": 65_537, "tolerance": 0.3},
            {"base": 250.0, "dim": 32, "trained": 128, "used": 3000, "tolerance": 0.02},
        ],
        {"dim": 256, "trained": 512, "used": 131_072, "tolerance": 0.001},
        handles=("trained", "used", "pair"),
        free={"dim": 256},
    ),
    Case(
        Rotation2D,
        [
            {"m": 32, "n": 0, "theta": 3.14, "q1": -1.5, "k2": 1.5},
            {"view": "interleaved", "m": 0, "n": 17, "locked": False},
            {"view": "half-split", "theta": 1.57, "q3": -0.25},
            {"theta": 0.0, "q1": 0.0, "q2": 0.0},
        ],
        {"view": "half-split", "m": 32, "n": 0, "theta": 3.14},
        handles=("q", "k", "m", "n"),
        free={"locked": False},
    ),
    Case(
        PatchGrid,
        [
            {"rule": "raster", "base": 1.0, "query_row": 7, "query_column": 11, "key_row": 0, "key_column": 0},
            {"rule": "axes", "base": 1e8, "key_row": 3, "key_column": 4},
            {"rule": "blocks", "frame": 16, "base": 1e6, "query_row": 0, "key_row": 7, "key_column": 11},
            {"rule": "interleaved", "frame": 1, "base": 500.0, "query_column": 11, "key_column": 2},
        ],
        {"rule": "interleaved", "frame": 16, "base": 1e8, "key_row": 7, "key_column": 11},
        handles=("query", "key"),
    ),
    Case(
        LayerStack,
        [
            {"model": "qwen3", "context": 262_144, "distance": 100_000, "match_pairs": "slow"},
            {"model": "llama4", "margin": 12.0, "distance": 200_000, "context": 1_048_576, "temperature": True},
            {"model": "cohere2", "layers": "RrNnRrNnRrNn", "context": 16_384, "distance": 12_000},
            {"model": "gemma4", "distance": 300, "margin": 24.0},
            {"model": "gemma4", "distance": 1, "context": 128, "margin": 0.0},
        ],
        {"model": "gemma4", "layers": "rRnNrRnNrRnN", "context": 1_048_576, "distance": 524_288, "temperature": True},
        handles=("match", "line"),
        free={"context": 2**20},  # so that the key can go on to the end
    ),
]
