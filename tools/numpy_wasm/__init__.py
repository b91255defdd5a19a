"""NumPy's wheel for the Python that runs in a page, and where it comes from: README.md has the recipe."""

import hashlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME = "numpy-2.5.5-cp314-cp314-pyemscripten_2026_0_wasm32.whl"


def wheel() -> Path:
    """The wheel, after comparing its hash with the one in SHA256SUMS."""
    wanted, _, name = (HERE / "SHA256SUMS").read_text(encoding="ascii").strip().partition("  ")
    found = hashlib.sha256((HERE / name).read_bytes()).hexdigest()
    if name != NAME or found != wanted:
        raise ValueError(f"{HERE / name} has the SHA-256 {found}, and SHA256SUMS wants {wanted} for {NAME}")
    return HERE / name
