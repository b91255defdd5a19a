"""Freeze the text that the laboratory measures on: the files named here, as the running Python's library has them.

    python -m tools.frozen_text

It writes src/posenc_lab/data/frozen_text.json.xz, which ships, so that every machine measures on the same bytes. What
is there came from Python 3.11.7, whose licence stands beside it. Another choice of files makes every measurement on
text another one.
"""

from __future__ import annotations

import argparse
import json
import lzma
import platform
import sysconfig
from pathlib import Path

from posenc.lab.corpus import FROZEN, as_ascii
from posenc.lab.measured import shipped_folder

# None of them is among the files to train on, nor is a twin of one that is.
FILES = [
    "argparse", "ast", "base64", "calendar", "concurrent/futures/_base", "configparser", "csv", "dataclasses",
    "difflib", "dis", "email/_encoded_words", "email/headerregistry", "enum", "fractions", "functools", "graphlib",
    "heapq", "json/__init__", "logging/handlers", "ntpath", "os", "pathlib", "pdb", "pkgutil", "queue", "random",
    "selectors", "shutil", "socket", "statistics", "tempfile", "threading", "tokenize", "tomllib/_parser",
    "traceback", "typing", "unittest/case", "urllib/parse", "weakref", "xml/etree/ElementPath",
]  # fmt: skip
LONGEST = 24_576  # bytes of each: the text is a sample, and the package small


def main() -> None:
    """Write the file, and say how large it is."""
    argparse.ArgumentParser(prog="python -m tools.frozen_text", description=__doc__).parse_args()
    root = Path(sysconfig.get_path("stdlib"))
    files = {name: as_ascii(root / f"{name}.py")[:LONGEST].decode("ascii") for name in FILES}
    path = shipped_folder() / FROZEN
    content = json.dumps({"python": platform.python_version(), "files": files})
    path.write_bytes(lzma.compress(content.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes, {path.stat().st_size} compressed: {path}")


if __name__ == "__main__":
    main()
