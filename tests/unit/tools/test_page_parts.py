"""What a page loads to run Python: from npm by its hashes, and a wheel that is compared with its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools import numpy_wasm, page_parts
from tools.numpy_wasm import pack, published

LOCK = json.loads((page_parts.NPM / "package-lock.json").read_text(encoding="utf-8"))
WANTED = json.loads((page_parts.NPM / "package.json").read_text(encoding="utf-8"))["dependencies"]


def test_every_package_is_pinned_with_its_hash_and_no_address():
    packages = {name: about for name, about in LOCK["packages"].items() if name}
    assert all(about["integrity"].startswith("sha512-") for about in packages.values())
    assert not any("resolved" in about for about in packages.values())
    assert {name: packages[f"node_modules/{name}"]["version"] for name in WANTED} == WANTED
    assert LOCK["packages"][""]["dependencies"] == WANTED


def test_without_npm_the_environments_own_is_taken(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(page_parts, "folder", lambda: tmp_path / "parts")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    assert page_parts.make() is None
    assert (
        f"without the button that runs Python in a page: [Errno 2] No such file or directory: '{tmp_path}/bin/npm'"
        in (capsys.readouterr().out)
    )


def test_when_npm_fails_the_website_is_built_without_the_button(monkeypatch, tmp_path, capsys):
    def fail(packages: Path) -> None:
        raise subprocess.CalledProcessError(7, "npm")

    monkeypatch.setattr(page_parts, "folder", lambda: tmp_path / "parts")
    monkeypatch.setattr(shutil, "which", lambda name: "npm")
    monkeypatch.setattr(page_parts, "_install", fail)
    assert page_parts.make() is None
    assert "without the button" in capsys.readouterr().out
    assert not (tmp_path / "parts").exists()


def test_what_is_there_is_not_fetched_again(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(page_parts, "folder", lambda: tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: pytest.fail("npm is not needed"))
    assert page_parts.make() == tmp_path
    assert capsys.readouterr().out == ""


def test_the_wheel_is_the_one_that_was_built():
    with zipfile.ZipFile(numpy_wasm.wheel()) as wheel:
        names = wheel.namelist()
        listed = wheel.read("numpy-2.5.5.dist-info/RECORD").decode()
    assert len(listed.splitlines()) == len(names)
    assert "numpy-2.5.5.dist-info/licenses/LICENSE.txt" in names
    built = {name.partition(".")[0] for name in names if name.endswith(".cpython-314-wasm32-emscripten.so")}
    needed = ("_core/_multiarray_umath", "linalg/_umath_linalg", "fft/_pocketfft_umath", "random/_generator")
    assert built >= {f"numpy/{name}" for name in needed}


def test_another_wheel_is_refused(monkeypatch, tmp_path):
    for path in (numpy_wasm.wheel(), numpy_wasm.HERE / "SHA256SUMS"):
        shutil.copy2(path, tmp_path)
    with (tmp_path / numpy_wasm.NAME).open("ab") as wheel:
        wheel.write(b"x")
    monkeypatch.setattr(numpy_wasm, "HERE", tmp_path)
    with pytest.raises(ValueError, match="SHA256SUMS wants"):
        numpy_wasm.wheel()


def test_packing_leaves_out_what_no_page_needs(tmp_path):
    built, source = tmp_path / "numpy", tmp_path / "source"
    for name in ("a.py", "_core/b.cpython-314-x86_64-linux-gnu.so", "f2py/c.py", "tests/d.py", "e.pyi", "_simd.x.so"):
        (built / name).parent.mkdir(parents=True, exist_ok=True)
        (built / name).write_bytes(b"")
    (source / "numpy" / "fft").mkdir(parents=True)
    (source / "LICENSE.txt").write_text("ours\n----\ntheirs", encoding="utf-8")
    (source / "numpy" / "fft" / "LICENSE.md").write_text("fft", encoding="utf-8")
    pack.pack(built, source, tmp_path / "wheel.whl")
    with zipfile.ZipFile(tmp_path / "wheel.whl") as wheel:
        assert [name for name in wheel.namelist() if name.startswith("numpy/")] == [
            "numpy/_core/b.cpython-314-wasm32-emscripten.so",
            "numpy/a.py",
        ]
        assert wheel.read(f"{pack.INFO}/licenses/LICENSE.txt") == b"ours"
        assert wheel.read(f"{pack.INFO}/licenses/numpy/fft/LICENSE.md") == b"fft"


def test_a_folder_without_compiled_modules_is_refused(tmp_path):
    (tmp_path / "LICENSE.txt").write_text("ours", encoding="utf-8")
    (tmp_path / "numpy").mkdir()
    with pytest.raises(ValueError, match="holds no compiled module"):
        pack.pack(tmp_path / "numpy", tmp_path, tmp_path / "wheel.whl")


@pytest.mark.parametrize(
    ("status", "said", "told"),
    [
        (0, "", "The index has NumPy for pyemscripten_2026_0_wasm32"),
        (1, "ERROR: No matching distribution found for numpy", None),
        (1, "ERROR: no network", "pip could not ask:\nERROR: no network"),
    ],
)
def test_whether_the_index_has_it_by_now(monkeypatch, capsys, status, said, told):
    asked = []

    def answer(command, **options):
        asked.append(command)
        return subprocess.CompletedProcess(command, status, "", said)

    monkeypatch.setattr(subprocess, "run", answer)
    if told:
        with pytest.raises(SystemExit, match=told.splitlines()[0]):
            published.main()
    else:
        published.main()
        assert "no NumPy" in capsys.readouterr().out
    assert asked[0][0] == sys.executable
    assert asked[0][asked[0].index("--python-version") + 1] == "3.14"
    assert asked[0][-1] == "numpy"
