"""Measure rotating queries and keys beside transformers and formulas of one or two lines, in one thread.

    python -m release.benchmarks.rotary [--rounds 15]

Prints, for each shape and dtype, the least CPU time of interleaved rounds as a multiple of that of a copy, with
cosines and sines computed before; then decoding one token in microseconds.
Results also go to _build/report/rotary.json.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import torch
from torch import Tensor

from posenc.rope import Rope
from posenc.rotary import rotate
from release.benchmarks.results import save

LARGE, SMALL, TOKEN = (1, 32, 2048, 128), (8, 8, 512, 64), (1, 8, 1, 128)  # (batch, heads, length, head_dim)
DTYPES = (torch.float32, torch.bfloat16)
ROWS = [(shape, dtype) for shape in (SMALL, LARGE, TOKEN) for dtype in DTYPES]
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


def of_row(shape: tuple[int, ...], dtype: torch.dtype, rounds: int) -> dict[str, float]:
    """Microseconds of every rotation for one shape and dtype."""
    torch.compiler.reset()
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=dtype)
    with torch.no_grad():
        calls = {name: (lambda of=of: of(x)) for name, of in rotations(x).items()}
        return least(calls, rounds, 1 if shape != TOKEN else 300)


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


def main() -> None:
    """Measure every row and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, one thread, load {os.getloadavg()[0]:.1f}; * in the arithmetic of the dtype\n")
    rows = []
    for shape, dtype in ROWS:
        found = of_row(shape, dtype, rounds)
        copy = found["copy"]
        title = f"{shape}, {str(dtype).removeprefix('torch.')}"
        print(f"{title}: a copy takes {copy:.1f} µs; multiples of it", flush=True)
        for name, taken in found.items():
            print(f"  {name:28}{taken / copy:7.1f}{taken / found['transformers *']:8.2f} of transformers")
        rows.append({"shape": shape, "dtype": str(dtype), "microseconds": found})
    token = decoding(rounds)
    print("\nOne token, 32 query and 8 key heads of width 128, µs:")
    for name, taken in token.items():
        print(f"  {name:32}{taken:7.0f}")
    save("rotary", {"rows": rows, "decoding": token})


if __name__ == "__main__":
    main()
