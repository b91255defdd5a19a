"""Measure rotating queries and keys beside transformers and formulas of one or two lines, in one thread.

    python -m release.benchmarks.rotary [--rounds 15]

Prints, for each shape and dtype, the least CPU time of interleaved rounds as a multiple of that of a copy, with
cosines and sines computed before; then decoding one token in microseconds, and the memory that a far position takes.
Results also go to _build/report/rotary.json.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor

from posenc.rope import Rope
from posenc.rotary import rotate
from release.benchmarks.results import save

LARGE, SMALL, TOKEN = (1, 32, 2048, 128), (8, 8, 512, 64), (1, 8, 1, 128)  # (batch, heads, length, head_dim)
DTYPES = (torch.float32, torch.bfloat16)
ROWS = [(shape, dtype, False) for shape in (SMALL, LARGE, TOKEN) for dtype in DTYPES]
ROWS += [(shape, dtype, True) for shape in (SMALL, LARGE) for dtype in DTYPES]  # with backward
Rotation = Callable[[Tensor], Tensor]


def plain_half(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """The formula, half-split."""
    a, b = x.to(cos.dtype).chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1).to(x.dtype)


def plain_interleaved(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """The formula, interleaved."""
    a, b = x[..., 0::2].to(cos.dtype), x[..., 1::2].to(cos.dtype)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).to(x.dtype)


def rotations(x: Tensor) -> dict[str, Rotation]:
    """Every rotation to measure, of x alone."""
    from transformers.models.llama.modeling_llama import rotate_half

    cos, sin = Rope(x.shape[-1]).cos_sin(length=x.shape[-2], like=x, dtype=torch.float32)
    narrow, phases = (cos.to(x.dtype), sin.to(x.dtype)), torch.complex(cos, sin)
    cos2, sin2 = (torch.cat([part, part], -1) for part in narrow)  # as transformers has them, in the dtype of the model
    signed = torch.cat([-narrow[1], narrow[1]], -1)
    compiled = {of: torch.compile(of, dynamic=False) for of in (plain_half, plain_interleaved, rotate)}
    found: dict[str, Rotation] = {
        "copy": torch.clone,
        "posenc half-split": lambda x: rotate(x, (cos, sin)),
        "posenc interleaved": lambda x: rotate(x, (cos, sin), "interleaved"),
        "complex line": lambda x: torch.view_as_real(
            torch.view_as_complex(x.float().unflatten(-1, (-1, 2))) * phases
        ).flatten(-2).to(x.dtype),
        "roll + addcmul *": lambda x: torch.addcmul(x * cos2, x.roll(x.shape[-1] // 2, -1), signed),
        "transformers *": lambda x: x * cos2 + rotate_half(x) * sin2,
        "compiled plain half-split": lambda x: compiled[plain_half](x, cos, sin),
        "compiled plain interleaved": lambda x: compiled[plain_interleaved](x, cos, sin),
        "compiled posenc half-split": lambda x: compiled[rotate](x, (cos, sin)),
        "compiled posenc interleaved": lambda x: compiled[rotate](x, (cos, sin), "interleaved"),
    }  # fmt: skip
    return found | ({"posenc half-split *": lambda x: rotate(x, narrow)} if x.dtype != torch.float32 else {})


def with_backward(rotation: Rotation, gradient: Tensor) -> Rotation:
    """The same, and the gradient of x."""
    return lambda x: torch.autograd.grad(rotation(x), x, gradient)[0]


def least(calls: dict[str, Callable[[], object]], rounds: int, repeats: int) -> dict[str, float]:
    """Least microseconds of CPU of each call, in interleaved rounds."""
    best = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(repeats):
                call()
            best[name] = min(best[name], 1e6 * (time.process_time() - start) / repeats)
    return best


def of_row(shape: tuple[int, ...], dtype: torch.dtype, backward: bool, rounds: int) -> dict[str, float]:
    """Microseconds of every rotation for one shape and dtype."""
    torch.compiler.reset()
    torch.manual_seed(0)
    x, gradient = torch.randn(shape, dtype=dtype, requires_grad=backward), torch.ones(shape, dtype=dtype)
    found = rotations(x)
    if backward:
        found = {name: with_backward(rotation, gradient) for name, rotation in found.items()}
    with torch.set_grad_enabled(backward):
        return least({name: (lambda of=of: of(x)) for name, of in found.items()}, rounds, 1 if shape != TOKEN else 300)


def decoding(rounds: int) -> dict[str, float]:
    """Microseconds for queries and keys of one token, from cosines and sines (layers 2 to n) and from positions."""
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    q, k, at = torch.randn(1, 32, 1, 128), torch.randn(1, 8, 1, 128), torch.tensor([[1000]])
    embedding = LlamaRotaryEmbedding(LlamaConfig(hidden_size=128, num_attention_heads=1, head_dim=128))
    theirs, rope = embedding(q, at), Rope(128)
    ours = rope.cos_sin(at[0], like=q, dtype=torch.float32)
    calls: dict[str, Callable[[], object]] = {
        "posenc, (cos, sin) given": lambda: (rotate(q, ours), rotate(k, ours)),
        "transformers, (cos, sin) given": lambda: apply_rotary_pos_emb(q, k, *theirs),
        "posenc, positions given": lambda: rope(q, k, at),
        "transformers, positions given": lambda: apply_rotary_pos_emb(q, k, *embedding(q, at)),
        "posenc, offset given": lambda: rope(q, k, offset=1000),
    }
    with torch.no_grad():
        return least(calls, rounds, 300)


def memory() -> float:
    """MiB by which rotating one token at position 8 000 000 raises the peak of this process."""
    rope, x = Rope(128), torch.ones(1, 128)
    rope.rotate(x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rope.rotate(x, offset=8_000_000)
    unit = 1 if sys.platform == "darwin" else 1024
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit / 2**20


def main() -> None:
    """Measure every row and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    peak = memory()
    print(f"torch {torch.__version__}, one thread, load {os.getloadavg()[0]:.1f}; * in the arithmetic of the dtype\n")
    rows = []
    for shape, dtype, backward in ROWS:
        found = of_row(shape, dtype, backward, rounds)
        copy = found["copy"]
        title = f"{shape}, {str(dtype).removeprefix('torch.')}{', with backward' if backward else ''}"
        print(f"{title}: a copy takes {copy:.1f} µs; multiples of it", flush=True)
        for name, taken in found.items():
            print(f"  {name:28}{taken / copy:7.1f}{taken / found['transformers *']:8.2f} of transformers")
        rows.append({"shape": shape, "dtype": str(dtype), "backward": backward, "microseconds": found})
    token = decoding(rounds)
    print("\nOne token, 32 query and 8 key heads of width 128, µs:")
    for name, taken in token.items():
        print(f"  {name:32}{taken:7.0f}")
    print(f"\nOne token at position 8 000 000 raises the peak of memory by {peak:.1f} MiB")
    save("rotary", {"rows": rows, "decoding": token, "peak_mib": peak})


if __name__ == "__main__":
    main()
