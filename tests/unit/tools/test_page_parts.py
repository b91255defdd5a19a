"""What a page loads to run Python: from npm by its hashes, and a wheel that is compared with its own."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tools import numpy_wasm, page_parts

LOCK = json.loads((page_parts.NPM / "package-lock.json").read_text(encoding="utf-8"))
WANTED = json.loads((page_parts.NPM / "package.json").read_text(encoding="utf-8"))["dependencies"]


def test_every_package_is_pinned_with_its_hash_and_no_address():
    packages = {name: about for name, about in LOCK["packages"].items() if name}
    assert all(about["integrity"].startswith("sha512-") for about in packages.values())
    assert not any("resolved" in about for about in packages.values())
    assert {name: packages[f"node_modules/{name}"]["version"] for name in WANTED} == WANTED
    assert LOCK["packages"][""]["dependencies"] == WANTED


def test_when_npm_fails_the_website_is_built_without_the_button(monkeypatch, tmp_path, capsys):
    def fail(packages: Path) -> None:
        raise subprocess.CalledProcessError(7, "npm")

    monkeypatch.setattr(page_parts, "folder", lambda: tmp_path / "parts")
    monkeypatch.setattr(shutil, "which", lambda name: "npm")
    monkeypatch.setattr(page_parts, "_install", fail)
    assert page_parts.make() is None
    assert "without the button" in capsys.readouterr().out
    assert not (tmp_path / "parts").exists()


def test_another_wheel_is_refused(monkeypatch, tmp_path):
    for path in (numpy_wasm.wheel(), numpy_wasm.HERE / "SHA256SUMS"):
        shutil.copy2(path, tmp_path)
    with (tmp_path / numpy_wasm.NAME).open("ab") as wheel:
        wheel.write(b"x")
    monkeypatch.setattr(numpy_wasm, "HERE", tmp_path)
    with pytest.raises(ValueError, match="SHA256SUMS wants"):
        numpy_wasm.wheel()
