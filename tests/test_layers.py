"""The package is built floor on floor: a module imports from lower floors only, and torch only where it is needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "posenc"
FLOORS = [
    {"_arrays", "_rotary_torch"},
    {"frequencies"},
    {"absolute", "rotary", "scaling", "attention"},
    {"analysis", "bias", "configs"},
    {"widgets", "schemes"},
    {"figures"},
]
FLOOR = {module: floor for floor, modules in enumerate(FLOORS) for module in modules}
WITHOUT_TORCH = sorted(set(FLOOR) - {"_rotary_torch", "schemes"})


def imported(module: str) -> set[str]:
    """The modules of posenc that a module imports, anywhere in it."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "posenc"}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively: name the module whole"
            if node.module == "posenc":
                found |= {f"posenc.{alias.name}" for alias in node.names}
            elif node.module and node.module.startswith("posenc."):
                found.add(node.module)
    return {name.removeprefix("posenc.").split(".")[0] for name in found}


def test_every_module_has_its_floor():
    assert {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"} == set(FLOOR)


@pytest.mark.parametrize("module", sorted(FLOOR))
def test_imports_run_downwards(module):
    assert {name for name in imported(module) if FLOOR[name] >= FLOOR[module]} == set()


def test_nothing_here_imports_torch_by_itself():
    lines = [f"import posenc.{module}" for module in WITHOUT_TORCH]
    script = "; ".join(["import sys", *lines, "sys.exit('torch' in sys.modules)"])
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
