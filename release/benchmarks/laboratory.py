"""How fast the laboratory trains and decodes, beside a plain model of the same size written by hand.

    python -m release.benchmarks.laboratory [--rounds 40]

One step is a batch, forward, backward, clipping and the optimiser, on one thread. The plain model is a decoder of the
usual kind, as nanoGPT has it: a learned table of positions, LayerNorm, torch's causal attention, no scheme and no
choices, and AdamW as torch makes it on a CPU. Two more plain ones differ by one thing each: the optimiser fused, as the
laboratory has it, and with that torch's own RMSNorm. Rounds take turns, and the least of each counts.
Results also go to _build/report/laboratory.json.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from posenc.lab.runs import PROFILES, Run
from posenc.lab.train import build, draw, optimiser_for, step
from posenc.transformer import KeyValueCache
from release.benchmarks.results import save

Norm = Callable[[int], nn.Module]

SCHEMES = ("learned", "rope_10000", "alibi", "t5", "transformer_xl")
TIMED = tuple(profile for profile in PROFILES if profile != "large")  # which is for a GPU


class PlainLayer(nn.Module):
    """Attention and an MLP, written straight down."""

    def __init__(self, dim: int, n_heads: int, mlp_dim: int, norm: Norm) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.first, self.second = norm(dim), norm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.up, self.down = nn.Linear(dim, mlp_dim, bias=False), nn.Linear(mlp_dim, dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, dim = x.shape
        q, k, v = self.qkv(self.first(x)).split(dim, dim=2)
        q, k, v = (one.view(batch, length, self.n_heads, -1).transpose(1, 2) for one in (q, k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).contiguous().view(batch, length, dim))
        return x + self.down(F.gelu(self.up(self.second(x))))


class PlainModel(nn.Module):
    """A decoder with a table of positions."""

    def __init__(self, run: Run, norm: Norm) -> None:
        super().__init__()
        config, length = run.config(), run.settings.length
        self.tokens, self.places = nn.Embedding(config.vocab_size, config.dim), nn.Embedding(length, config.dim)
        self.layers = nn.ModuleList(
            PlainLayer(config.dim, config.n_heads, config.mlp_dim, norm) for _ in range(config.n_layers)
        )
        self.norm, self.head = norm(config.dim), nn.Linear(config.dim, config.vocab_size, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def stepper(model: nn.Module, run: Run, *, fused: bool = True) -> Callable[[int], None]:
    """Does the training step of a number."""
    task, profile, optimiser = run.make_task(), run.settings, optimiser_for(model, run.settings)
    for group in optimiser.param_groups:
        group["fused"] = fused

    def do(number: int) -> None:
        step(model, optimiser, draw(task, run.seed, number, profile), profile.clip)

    return do


def decoding_seconds(model: nn.Module, length: int) -> float:
    """A token by token reading of one text with a cache, in seconds for each token."""
    tokens = torch.randint(0, model.config.vocab_size, (1, length), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        cache = KeyValueCache()
        began = time.perf_counter()
        for at in range(length):
            model(tokens[:, at : at + 1], cache=cache)
        return (time.perf_counter() - began) / length


def runs_of(profile: str) -> dict[str, Run]:
    """What is timed in a profile, by scheme: its first task."""
    task = next(iter(PROFILES[profile].steps))
    return {scheme: Run(profile, task, scheme, 0) for scheme in SCHEMES}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m release.benchmarks.laboratory", description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, {platform.machine()}, one thread, least of {rounds} rounds of interleaved steps")
    print(f"{'profile':<12} {'model':<16} {'step, ms':>9} {'of plain':>9} {'decoding, ms a token':>21}")
    rows = []
    for profile in TIMED:
        runs = runs_of(profile)
        models: dict[str, nn.Module] = {
            "plain": PlainModel(runs["learned"], partial(nn.LayerNorm, bias=False)),
            "plain, fused": PlainModel(runs["learned"], partial(nn.LayerNorm, bias=False)),
            "plain, RMSNorm": PlainModel(runs["learned"], nn.RMSNorm),
        }
        models |= {scheme: build(run) for scheme, run in runs.items()}
        steps = {
            name: stepper(model, runs.get(name, runs["learned"]), fused=name != "plain")
            for name, model in models.items()
        }
        least = dict.fromkeys(models, float("inf"))
        for number in range(rounds):
            for name, do in steps.items():
                began = time.perf_counter()
                do(number)
                least[name] = min(least[name], time.perf_counter() - began)
        for name, seconds in least.items():
            decoding = None if name.startswith("plain") else decoding_seconds(models[name].eval(), 64)
            told = "" if decoding is None else f"{1e3 * decoding:.2f}"
            print(f"{profile:<12} {name:<16} {1e3 * seconds:>9.1f} {seconds / least['plain']:>9.2f} {told:>21}")
            rows.append({"profile": profile, "model": name, "step_seconds": seconds, "decoding_seconds": decoding})
    save("laboratory", rows)


if __name__ == "__main__":
    main()
