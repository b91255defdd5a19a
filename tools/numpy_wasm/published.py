"""Ask the package index whether it has NumPy for the page by now: python -m tools.numpy_wasm.published

The exit status is 1 when it has one, so that a workflow tells of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

from tools.numpy_wasm import NAME

_, _, PYTHON, ABI, PLATFORM = NAME.removesuffix(".whl").split("-")


def command(folder: str) -> list[str]:
    """pip's command for NumPy's wheel for the page, the newest."""
    only = ["--no-deps", "--only-binary", ":all:", "--dest", folder]
    target = ["--python-version", f"{PYTHON[2]}.{PYTHON[3:]}", "--abi", ABI, "--platform", PLATFORM]
    return [sys.executable, "-m", "pip", "download", "--quiet", *only, *target, "numpy"]


def main() -> None:
    """Say whether there is one."""
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run(command(folder), capture_output=True, text=True)
    if found.returncode == 0:
        sys.exit(f"The index has NumPy for {PLATFORM}: take it instead of tools/numpy_wasm.")
    if "No matching distribution" not in found.stderr:
        sys.exit(f"pip could not ask:\n{found.stderr}")
    print(f"The index has no NumPy for {PLATFORM} yet.")


if __name__ == "__main__":
    main()
