"""The laboratory: small Transformers, trained at a short length and evaluated far past it.

`results()` returns the measurements that ship with posenc-lab, `load(name)` a trained model; `python -m posenc.lab`
trains and measures everything again. `runs` lists what is trained, `corpus` has the tasks, `train` and `evaluate` the
loops, `measurements` and `benchmarks` what is measured. Results can be read without torch.
"""

from typing import Any

from posenc.lab.measured import Results, SeedSummary, results

__all__ = ["Results", "SeedSummary", "load", "results", "shipped"]


def __getattr__(name: str) -> Any:
    if name in ("load", "shipped"):  # they import torch
        from posenc.lab import store

        return getattr(store, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
