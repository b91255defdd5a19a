"""The laboratory: small Transformers, trained at a short length and evaluated far past it.

`results()` returns the measurements that ship with posenc-lab, `load(name)` a trained model, `load_weights(name)` its
weights as NumPy arrays; `python -m posenc.lab` trains and measures everything again. `runs` lists what is trained,
`corpus` has the tasks, `train` and `evaluate` the loops, `measurements` and `benchmarks` what is measured. Results and
weights are read without torch.
"""

from typing import Any

from posenc.lab.measured import Results, SeedSummary, results

__all__ = ["Checkpoint", "Results", "SeedSummary", "load", "load_weights", "results", "shipped"]


def __getattr__(name: str) -> Any:
    if name == "load":  # which needs torch
        from posenc.lab import store

        return store.load
    if name in ("Checkpoint", "load_weights", "shipped"):  # which import torch where it is installed
        from posenc.lab import weights

        return getattr(weights, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
