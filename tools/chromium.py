"""Find the Chromium that the browser tests drive.

python -m tools.chromium
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys

# Debian's headless shell first: the same engine, without the windows that the full browser keeps though none is shown.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
HOW = (
    "The tests need Chromium and found none: on Debian or Ubuntu, `sudo apt-get install chromium`; "
    "elsewhere install Chromium or Chrome, or set CHROMIUM to the path of its program."
)


def find() -> str | None:
    """The path of a Chromium or Chrome, or ``None``.

    ``CHROMIUM`` in the environment comes first and is taken as it is if it names
    a program.
    """
    named = os.environ.get("CHROMIUM")
    if named:
        return shutil.which(named)
    found = (shutil.which(name) for name in (*NAMES, *MAC))
    return next((path for path in found if path), None)


def main() -> None:
    """Print where Chromium is, or say how to get one and fail."""
    argparse.ArgumentParser(prog="python -m tools.chromium", description=__doc__).parse_args()
    path = find()
    if path is None:
        sys.exit(HOW)
    print(f"Chromium: {path}", flush=True)


if __name__ == "__main__":
    main()
