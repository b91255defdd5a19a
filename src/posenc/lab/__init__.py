"""The laboratory: small Transformers, trained at a short length and measured far past it, one run at a time.

`results()` are the measurements that ship with posenc-lab, `load(name)` a trained model to measure anew; `python -m
posenc.lab` trains and measures all of them again. `runs` says what is trained and with what, `corpus` on what,
`measurements` what is asked; `train` and `evaluate` do it. Results can be read without torch, the rest needs it.
"""

from typing import Any

from posenc.lab.measured import Results, Spread, results

__all__ = ["Results", "Spread", "load", "results", "shipped"]


def __getattr__(name: str) -> Any:
    if name in ("load", "shipped"):  # they bring torch
        from posenc.lab import store

        return getattr(store, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
