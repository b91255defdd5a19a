"""The runs of the laboratory: which models it trains, with the same budget for every scheme.

Steps and sizes were not tuned for any scheme, nor were YaRN's bounds (`posenc.lab.evaluate`). The learning rate of each
scheme on text was chosen from the same four (`python -m posenc.lab rates`). Chosen after looking at runs:

- 24 sequences in a batch: with 16, RoPE did not learn single-occurrence copy in these steps, with 24 it did; that task
  has one learning rate for all, the profile's;
- the standard deviation of the initial weights: with 0.02, RoPE and the sinusoidal encoding learn too late here;
- T5's gain of 8 and its smaller initial queries, without which it does not learn to copy in the quick profile
  (`t5_published` has no gain; neither learns it in the full one);
- the learned table's initial standard deviation of 1, as that of the embeddings: with 0.02 it did not learn word order
  in its steps;
- ALiBi's steep slopes, from an earlier study with two heads; `alibi_published` has the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from posenc._arrays import check_bool, check_choice, check_int
from posenc.frequencies import inv_freq, rotations
from posenc.lab.corpus import TASKS, Copy, LibraryText, Recall, SingleCopy, Task
from posenc.schemes import Mixed, PositionScheme, make_scheme
from posenc.transformer import TransformerConfig

SEEDS = (0, 1, 2)
MORE_SEEDS = (3, 4)  # for the schemes that others are compared with


@dataclass(frozen=True)
class Profile:
    """A model size and a training budget, the same for every scheme.

    Attributes:
        dim, n_layers, n_heads, mlp_dim: as in `posenc.transformer.TransformerConfig`.
        length: tokens of a sequence in training.
        sequences: in a batch.
        steps: of the optimiser, for each task.
        warm_up: steps of linear warm-up.
        learning_rate: maximum, then linear decay to a twentieth.
        betas, weight_decay: of AdamW; vectors are not decayed.
        clip: maximum norm of the gradient.
    """

    dim: int
    n_layers: int
    n_heads: int
    mlp_dim: int
    length: int
    sequences: int
    steps: Mapping[str, int]
    warm_up: int
    learning_rate: float = 3e-3
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.05
    clip: float = 1.0

    @property
    def head_dim(self) -> int:
        return self.dim // self.n_heads


RATES = (1.5e-3, 3e-3, 6e-3, 1.2e-2)  # tried on text with every scheme
RATE = 6e-3  # the best of them, or as good as the best, for all schemes but those below
_RATES: Mapping[str, float] = MappingProxyType({"t5": 3e-3})
_TRIED = ("two_layers", "four_layers")  # profiles with these learning rates, for text

_TWO_LAYERS = Profile(
    dim=128,
    n_layers=2,
    n_heads=4,
    mlp_dim=256,
    length=128,
    sequences=24,
    steps={"text": 1200, "single_copy": 3000, "recall": 3000},
    warm_up=100,
)

# The hidden layer of the MLP is half as wide as is usual, so that the full checkpoints fit into posenc-lab.
PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "quick": Profile(
            dim=64,
            n_layers=2,
            n_heads=2,
            mlp_dim=128,
            length=64,
            sequences=32,
            steps={"text": 500, "copy": 600, "single_copy": 1500, "recall": 1500, "offset": 250, "order": 300},
            warm_up=50,
        ),
        "full": Profile(
            dim=128,
            n_layers=2,
            n_heads=4,
            mlp_dim=256,
            length=128,
            sequences=16,
            steps={"text": 1200, "copy": 1000},
            warm_up=100,
        ),
        # For the benchmarks: two layers with the same budget for all, two layers with as many steps as learning
        # takes, and four layers, since NoPE builds up positions layer by layer.
        "two_layers": _TWO_LAYERS,
        "patient": replace(_TWO_LAYERS, steps={"single_copy": 6000, "recall": 6000}),
        "four_layers": replace(_TWO_LAYERS, n_layers=4, steps={"text": 1200, "single_copy": 3000}),
        # For a GPU, and never required: about 100 million weights.
        "large": Profile(
            dim=832,
            n_layers=12,
            n_heads=13,
            mlp_dim=3328,
            length=1024,
            sequences=32,
            steps={"text": 20_000, "single_copy": 20_000},
            warm_up=1000,
            learning_rate=6e-4,
            betas=(0.9, 0.95),
            weight_decay=0.1,
        ),
    }
)


def _scheme_options(profile: Profile, seed: int, causal: bool) -> dict[str, tuple[str, dict[str, Any]]]:
    """By the scheme's name in runs: its name in `posenc.schemes` and its arguments."""
    heads, head_dim, length = profile.n_heads, profile.head_dim, profile.length
    rotary: dict[str, tuple[str, dict[str, Any]]] = {
        f"rope_{base}": ("rope", {"head_dim": head_dim, "base": float(base), "layout": "interleaved"})
        for base in (1, 10, 100, 500, 10_000, 1_000_000)
    }
    # Only the fastest pairs rotate: some fractions, and the pairs that make a rotation within the trained length.
    fast = int((rotations(length, inv_freq(head_dim, 10_000.0)) >= 1).sum())
    fractions = {"25": 0.25, "50": 0.5, "75": 0.75, "clipped": 2 * fast / head_dim}
    for name, fraction in fractions.items():
        options = {"scaling": "proportional", "scaling_options": {"partial_rotary_factor": fraction}}
        rotary[f"rope_10000_{name}"] = (
            "rope",
            {"head_dim": head_dim, "base": 10_000.0, "layout": "interleaved"} | options,
        )
    return rotary | {
        # Three RoPE layers per NoPE layer; in the second, RoPE layers have a window of half the trained length.
        "rope_10000_mixed": (
            "mixed",
            {"head_dim": head_dim, "base": 10_000.0, "layout": "interleaved", "window": None},
        ),
        "rope_10000_mixed_window": (
            "mixed",
            {"head_dim": head_dim, "base": 10_000.0, "layout": "interleaved", "window": length // 2},
        ),
        "none": ("none", {}),
        # As large initially as the embeddings that it is added to.
        "learned": ("learned", {"dim": profile.dim, "max_positions": length, "std": 1.0, "seed": seed}),
        "sinusoidal": ("sinusoidal", {"dim": profile.dim}),
        # Steep enough for the few heads here: 1/2 in the first, and 1/16 or less in the last.
        "alibi": (
            "alibi",
            {"n_heads": heads, "slopes": [2.0 ** (-1 - 6 * head / heads) for head in range(heads)], "causal": causal},
        ),
        "alibi_published": ("alibi", {"n_heads": heads, "causal": causal}),
        "t5": (
            "t5",
            {"n_heads": heads, "max_distance": length, "gain": 8.0, "causal": causal, "seed": seed},
        ),
        "t5_published": ("t5", {"n_heads": heads, "causal": causal, "seed": seed}),
        "transformer_xl": ("transformer_xl", {"n_heads": heads, "head_dim": head_dim, "causal": causal, "seed": seed}),
        "tener": ("tener", {"n_heads": heads, "head_dim": head_dim, "causal": causal, "seed": seed}),
        "sandwich": ("sandwich", {"n_heads": heads}),
    }


SCHEME_NAMES = tuple(_scheme_options(PROFILES["quick"], 0, True))


@dataclass(frozen=True)
class Run:
    """One model to be trained.

    Attributes:
        profile: one of `PROFILES`.
        task: one that the profile has steps for.
        scheme: one of `SCHEME_NAMES`.
        seed: of the initial weights and of the batches.
        causal: False for an encoder.

    Raises:
        TypeError, ValueError: an unknown name, a task that the profile does not have, a negative seed, causal no bool.
    """

    profile: str
    task: str
    scheme: str
    seed: int
    causal: bool = True

    def __post_init__(self) -> None:
        check_choice("profile", self.profile, tuple(PROFILES))
        check_choice("task", self.task, tuple(TASKS))
        check_choice("scheme", self.scheme, SCHEME_NAMES)
        check_int("seed", self.seed, 0)
        if self.task not in self.settings.steps:
            there = tuple(self.settings.steps)
            raise ValueError(f"task must be one of {there} in the profile {self.profile!r}, got {self.task!r}")
        check_bool("causal", self.causal)

    @property
    def name(self) -> str:
        """For example "full-text-rope_100-0", with "-bidirectional" for an encoder."""
        return f"{self.profile}-{self.task}-{self.scheme}-{self.seed}" + ("" if self.causal else "-bidirectional")

    @classmethod
    def from_name(cls, name: str) -> Run:
        """The run of that name.

        Raises:
            TypeError, ValueError: no string, or not of the form that `name` has.
        """
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {name!r}")
        parts = name.removesuffix("-bidirectional").split("-")
        if len(parts) != 4 or not parts[3].isdecimal():
            raise ValueError(f"name must be like 'full-text-rope_100-0', got {name!r}")
        run = cls(parts[0], parts[1], parts[2], int(parts[3]), causal=not name.endswith("-bidirectional"))
        if run.name != name:
            raise ValueError(f"name must be {run.name!r}, got {name!r}")
        return run

    @property
    def settings(self) -> Profile:
        """Its profile, with the learning rate of its scheme."""
        profile = PROFILES[self.profile]
        if self.task != "text" or self.profile not in _TRIED:
            return profile
        return replace(profile, learning_rate=_RATES.get(self.scheme, RATE))

    @property
    def steps(self) -> int:
        return self.settings.steps[self.task]

    def make_task(self) -> Task:
        """Its task: repeated blocks have 8 symbols to half the length, single copies a tenth to a quarter of it."""
        length = self.settings.length
        if self.task == "single_copy":
            return SingleCopy(length * 3 // 32, length // 4, distance=length // 4)
        if self.task == "copy":
            return Copy(8, length // 2, period=length // 4)
        if self.task == "recall":
            return Recall(length * 3 // 32, distance=length // 4)
        return LibraryText(longest=16 * length) if self.task == "text" else TASKS[self.task]()

    @property
    def scheme_options(self) -> tuple[str, dict[str, Any]]:
        """Its scheme's name in `posenc.schemes`, and its arguments."""
        return _scheme_options(self.settings, self.seed, self.causal)[self.scheme]

    def make_scheme(self, **changes: Any) -> PositionScheme:
        """Its scheme before training; `changes` replace or add arguments."""
        name, options = self.scheme_options
        if name == "mixed":  # differs between layers, so `make_scheme` does not have it
            return Mixed(**options | changes)
        return make_scheme(name, **options | changes)

    def config(self) -> TransformerConfig:
        """The shape of its model."""
        settings, task = self.settings, TASKS[self.task]
        return TransformerConfig(
            vocab_size=task.vocab_size,
            dim=settings.dim,
            n_layers=settings.n_layers,
            n_heads=settings.n_heads,
            mlp_dim=settings.mlp_dim,
            causal=self.causal,
            n_classes=getattr(task, "n_classes", None),
        )


_FULL = ("rope_100", "rope_10000", "none", "alibi", "t5", "sinusoidal", "learned", "alibi_published")
_QUICK = ("rope_100", "rope_10000", "transformer_xl", "sandwich", "t5", "none", "alibi")
_BASES = ("rope_1", "rope_10", "rope_100", "rope_500", "rope_10000", "rope_1000000")
_ORDER = ("none", "sinusoidal", "learned", "rope_10000")


def planned() -> list[Run]:
    """Every run whose measurements `posenc.lab.results()` has."""
    runs = [Run("full", task, scheme, seed) for seed in SEEDS for scheme in _FULL for task in ("copy", "text")]
    for seed in SEEDS:
        quick = dict.fromkeys((*_QUICK, *_BASES))
        runs += [Run("quick", task, scheme, seed) for scheme in quick for task in ("copy", "text")]
        runs += [Run("quick", "offset", scheme, seed) for scheme in _BASES]
        runs += [Run("quick", "order", scheme, seed, causal) for scheme in _ORDER for causal in (True, False)]
    return runs


_HEADLINE = ("rope_100", "rope_10000", "alibi", "alibi_published", "none")
_BENCHMARKED = (*_HEADLINE, "t5", "sinusoidal", "learned", "sandwich")
_NEW = ("rope_10000_25", "rope_10000_50", "rope_10000_75", "rope_10000_clipped")
_SMALL = ("rope_10000", "transformer_xl", "tener", "none")
_DEEP = ("rope_100", "rope_10000", "alibi", "t5", "none", "rope_10000_mixed", "rope_10000_mixed_window")


def shipping() -> list[str]:
    """The names of the runs whose checkpoints ship: for chapters and for `posenc.lab.measured.statistics`."""
    names = [f"full-text-{scheme}-0" for scheme in _FULL]
    names += [f"full-text-{scheme}-1" for scheme in ("rope_100", "rope_10000", "alibi")]
    names += [f"full-copy-{scheme}-0" for scheme in ("rope_100", "rope_10000", "alibi", "alibi_published", "learned")]
    names += [f"two_layers-single_copy-{scheme}-0" for scheme in ("rope_100", "rope_10000")]
    names += [f"two_layers-text-rope_{base}-{seed}" for base in (100, 10_000) for seed in (0, 1)]
    return [*names, "two_layers-text-tener-0"]


def benchmarked() -> list[Run]:
    """Every run that `posenc.lab.benchmarks` measures."""
    runs, both = [], ("single_copy", "text")
    for seed in SEEDS:
        runs += [Run("two_layers", task, scheme, seed) for scheme in _BENCHMARKED for task in both]
        runs += [Run("full", "copy", scheme, seed) for scheme in _FULL]
        runs += [Run("two_layers", task, scheme, seed) for scheme in _NEW for task in both]
        runs += [Run("four_layers", task, scheme, seed) for scheme in _DEEP for task in both]
        runs.append(Run("two_layers", "text", "tener", seed))
    for seed in MORE_SEEDS:
        runs += [Run("two_layers", task, scheme, seed) for scheme in _HEADLINE for task in both]
    for seed in SEEDS:
        runs += [Run("quick", task, scheme, seed) for scheme in _SMALL for task in both]
        runs += [Run("two_layers", "recall", scheme, seed) for scheme in _BENCHMARKED]
        runs += [Run("patient", "single_copy", scheme, seed) for scheme in _BENCHMARKED]
    return runs
