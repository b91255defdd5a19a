"""Which files of a package some code depends on: what it takes, however it takes it, and the data of that; no more."""

import os
from pathlib import Path

import pytest

from tools.imports import Package

FILES = {
    "__init__.py": "if TYPE_CHECKING:\n    from p.lone import x\n_HOMES = {'lazy': 'lone'}\ndef __getattr__(name): ...",
    "lone.py": "x = lazy = 1",
    "low.py": "def f(): return 2",
    "late.py": "def g():\n    from p import low\n    return low.f()",
    "many/__init__.py": "from p.many.a import draw_a\nfrom p.many.b import draw_b\nALL = (draw_a, draw_b)",
    "many/a.py": "from p.many._words import words\nmodule = 'a'\ndef draw_a(): ...",
    "many/b.py": "from p.many._words import words\nmodule = 'b'\ndef draw_b(): ...",
    "many/_words.py": "words = 'shell.json'\nFOLDER = root / 'js'",
    "lab/__init__.py": "from p.lab.measured import results",
    "lab/measured.py": "DATA = HERE / 'data'\ndef results(): ...",
    "lab/tables.py": "",
    "../p_lab/data/results.npz": "",
    "../p_lab/pyproject.toml": "",
    "js/a.json": "{}",
    "js/a.js": "",
    "js/b.json": "{}",
    "js/shell.json": "{}",
    "js/style.css": "",
}
A = {"__init__.py", "many/__init__.py", "many/a.py", "many/_words.py", "js/a.json", "js/shell.json"}
MANY = A | {"many/b.py", "js/b.json"}
LAB = {"__init__.py", "lab/__init__.py", "lab/measured.py", "../p_lab/data/results.npz"}


@pytest.fixture
def package(tmp_path: Path) -> Package:
    for name, text in FILES.items():
        path = tmp_path / "p" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Package(tmp_path / "p", tmp_path / "p_lab")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import numpy", set()),
        ("import p", {"__init__.py"}),
        ("from p import lazy", {"__init__.py", "lone.py"}),
        ("import p\np.low.f()", {"__init__.py", "low.py"}),
        ("if x:\n    from p.late import g", {"__init__.py", "late.py", "low.py"}),
        ("from p.many import draw_a", A),
        ("from p import many\nmany.draw_a()", A),
        ("import p.many as m\nm.draw_a()", A),
        ("from p.many import ALL", MANY),
        ("from p.many import *", MANY),
        ("from p import many\ndraw = many\nmany.draw_a()", MANY),
        ("from p import lab\nlab.results()", LAB),
        ("from p.lab import tables", {"__init__.py", "lab/__init__.py", "lab/tables.py"}),
        ("%magic is no Python", {name for name in FILES if not name.endswith((".js", ".css", ".toml"))}),
    ],
)
def test_files_on_which_code_depends(package: Package, source: str, names: set[str]) -> None:
    assert {os.path.relpath(path, package.folder) for path in package.files(source)} == names
