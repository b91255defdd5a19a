"""The laboratory in small, for tests that train."""

from dataclasses import replace
from types import MappingProxyType

import pytest

LENGTH = 20  # of the sequences


def make_small(monkeypatch: pytest.MonkeyPatch, steps: int, profile: str = "quick", length: int = LENGTH) -> None:
    """Makes a profile one of a small model, short sequences and so many steps, until the test is over."""
    from posenc.lab import runs

    whole = runs.PROFILES[profile]
    sizes = {"dim": 16, "mlp_dim": 20, "length": length, "sequences": 4, "warm_up": 4}
    small = replace(whole, **sizes, steps=dict.fromkeys(whole.steps, steps))
    monkeypatch.setattr(runs, "PROFILES", MappingProxyType({**runs.PROFILES, profile: small}))
