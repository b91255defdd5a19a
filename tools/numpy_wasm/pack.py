"""Write the wheel and its hash out of a built NumPy and the licences of its source.

python -m tools.numpy_wasm.pack BUILT_NUMPY NUMPY_SOURCE
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tools.numpy_wasm import HERE, NAME

_, VERSION, *_TAGS = NAME.removesuffix(".whl").split("-")
INFO = f"numpy-{VERSION}.dist-info"
LEFT_OUT = {"tests", "f2py", "_pyinstaller", "__pycache__", "include"}
KEPT = {".py", ".so", ".typed"}
# modules that only NumPy's tests import
OF_TESTS = re.compile(r"_(?:simd|\w+_tests)\.")
MOMENT = (2026, 11, 23, 0, 0, 0)  # the same bytes whenever it is packed


def modules(built: Path) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every file of NumPy that the wheel holds."""
    for path in sorted(built.rglob("*")):
        inside = path.relative_to(built)
        if path.suffix in KEPT and not LEFT_OUT & set(inside.parts) and not OF_TESTS.search(path.name):
            name = re.sub(r"\.cpython-314-[\w-]+\.so$", ".cpython-314-wasm32-emscripten.so", inside.as_posix())
            yield f"numpy/{name}", path.read_bytes()


def licences(source: Path) -> Iterator[tuple[str, bytes]]:
    """NumPy's own licence, without what it says of libraries that only other wheels bundle, and those of its parts."""
    own = (source / "LICENSE.txt").read_text(encoding="utf-8").partition("\n----\n")[0]
    yield f"{INFO}/licenses/LICENSE.txt", own.encode()
    for path in sorted((source / "numpy").rglob("*")):
        if path.is_file() and path.name.startswith(("LICENSE", "COPYING")):
            yield f"{INFO}/licenses/{path.relative_to(source).as_posix()}", path.read_bytes()


def record(files: dict[str, bytes]) -> str:
    """The wheel's list of its files, each with its hash."""
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{INFO}/RECORD,,\n"])


def pack(built: Path, source: Path, target: Path) -> None:
    """Write the wheel to `target`."""
    files = dict([*modules(built), *licences(source)])
    if not any(name.endswith(".so") for name in files):
        raise ValueError(f"{built} holds no compiled module: name the folder numpy that was built")
    metadata = f"Metadata-Version: 2.4\nName: numpy\nVersion: {VERSION}\nLicense-File: LICENSE.txt\n"
    files[f"{INFO}/METADATA"] = metadata.encode()
    tags = f"Root-Is-Purelib: false\nTag: {'-'.join(_TAGS)}\n"
    files[f"{INFO}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tools.numpy_wasm\n{tags}".encode()
    files[f"{INFO}/RECORD"] = record(files).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, MOMENT), content, zipfile.ZIP_DEFLATED, 9)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.numpy_wasm.pack", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("built", type=Path, help="the folder numpy that was built")
    parser.add_argument("source", type=Path, help="the source's folder, which has the licences")
    options = parser.parse_args()
    pack(options.built, options.source, HERE / NAME)
    digest = hashlib.sha256((HERE / NAME).read_bytes()).hexdigest()
    (HERE / "SHA256SUMS").write_text(f"{digest}  {NAME}\n", encoding="ascii")
    print(f"{HERE / NAME}: {(HERE / NAME).stat().st_size} bytes")


if __name__ == "__main__":
    main()
