"""What a bias costs in attention: added by hand, by FlexAttention as torch runs it, and by FlexAttention compiled.

    python -m release.benchmarks.flex [--tokens 4096]

ALiBi on eight heads of 64 dimensions under a causal mask, float32, one thread, each way in a process of its own, so
that its memory can be told. The first call compiles, where anything is compiled, which wants a C++ compiler; of the
later three the least time counts. The memory is by how much the process had grown at its largest. Outputs must agree.
Results also go to _build/report/flex.json.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from posenc.absolute import relative_positions
from posenc.attention import attention
from posenc.bias import alibi, alibi_slopes, score_mod
from release.benchmarks.results import ROOT, save

WAYS = {"by hand": None, "FlexAttention, not compiled": "eager", "FlexAttention, compiled": "inductor"}
HEADS, WIDTH, LATER = 8, 64, 3


def calling(way: str, tokens: int) -> Callable[[], Tensor]:
    """Attention in one of the ways, ready to be called."""
    q, k, v = torch.randn(3, 1, HEADS, tokens, WIDTH, generator=torch.Generator().manual_seed(0))
    slopes, at = alibi_slopes(HEADS, like=q), torch.arange(tokens)

    def bias(offsets: Tensor) -> Tensor:
        return alibi(offsets, slopes)

    if WAYS[way] is None:
        return lambda: attention(q, k, v, bias=bias(relative_positions(at, at)).float()).output
    seen = create_block_mask(lambda batch, head, m, n: n <= m, None, None, tokens, tokens, device="cpu")
    run, add = torch.compile(flex_attention, backend=WAYS[way], fullgraph=True), score_mod(bias, q, k)
    return lambda: run(q, k, v, score_mod=add, block_mask=seen)


def largest() -> int:
    """The most memory that this process has had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


@torch.inference_mode()
def measure(way: str, tokens: int, answer: Path) -> dict[str, float]:
    """Seconds and bytes of one way in this process, whose output goes to a file."""
    torch.set_num_threads(1)
    call, before, seconds = calling(way, tokens), largest(), []
    for _ in range(1 + LATER):
        began = time.perf_counter()
        output = call()
        seconds.append(time.perf_counter() - began)
    grown = largest() - before
    torch.save(output, answer)
    return {"first_seconds": seconds[0], "later_seconds": min(seconds[1:]), "bytes": grown}


def main() -> None:
    """Run every way in its own process, or in this one the way that is named."""
    parser = argparse.ArgumentParser(prog="python -m release.benchmarks.flex", description=__doc__)
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        print(json.dumps(measure(given.way, given.tokens, given.answer)))
        return
    print(f"torch {torch.__version__}, {given.tokens} tokens; a matrix of scores: ", end="")
    print(f"{4 * HEADS * given.tokens**2 / 2**20:.0f} MiB")
    print(f"{'way':<28} {'first call, s':>13} {'later, s':>9} {'memory, MiB':>12}")
    rows, wanted = [], None
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            answer = Path(folder) / "output.pt"
            command = [sys.executable, "-m", "release.benchmarks.flex", "--tokens", str(given.tokens)]
            ran = subprocess.run(
                [*command, "--way", way, "--answer", str(answer)], cwd=ROOT, check=True, stdout=subprocess.PIPE
            )
            row, output = json.loads(ran.stdout.splitlines()[-1]), torch.load(answer)
            wanted = output if wanted is None else wanted
            torch.testing.assert_close(output, wanted, rtol=0, atol=1e-5)
            print(f"{way:<28} {row['first_seconds']:>13.1f} {row['later_seconds']:>9.2f} {row['bytes'] / 2**20:>12.0f}")
            rows.append({"way": way, "tokens": given.tokens} | row)
    save("flex", rows)


if __name__ == "__main__":
    main()
