"""Modules import each other in no circle, and libraries only where needed."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "posenc"
# Packages whose modules may import each other.
TOGETHER = {"analysis", "bias", "doctor", "figures", "scaling", "schemes", "transformer", "widgets"}
ONE_LIBRARY = {"figures", "widgets"}  # which are Plotly's figures and anywidgets throughout
WITH_TORCH = {"_rms_norm", "_gguf", "rotary_module", "schemes", "transformer", "llama"}
WITH_TORCH |= {f"check.assignment_{number}" for number in (1, 2, 4)}
WITH_TORCH |= {
    "lab.corpus", "lab.runs", "lab.weights", "lab.train", "lab.store", "lab.evaluate", "lab.measurements",
    "lab.statistics", "lab.benchmarks", "lab.execution", "lab.real", "lab.__main__",
}  # fmt: skip

WITH_DATA = [f"check.assignment_{number}" for number in (1, 2, 3, 4, 5, 6)]  # of posenc-lab, from their import on


def named(path: Path) -> str:
    """The name of the module in a file, within posenc."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


FILES = {named(path): path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"}


def place(module: str) -> str:
    """The module itself, or its package where that is one of `TOGETHER`."""
    package = module.split(".")[0]
    return package if package in TOGETHER else module


def imported(module: str) -> set[str]:
    """The modules of posenc that a module imports, anywhere in it."""
    tree = ast.parse(FILES[module].read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively: name the module whole"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name.removeprefix("posenc.") in FILES else str(node.module) for name in names}
    return {name.removeprefix("posenc.") for name in found if name.startswith("posenc.")}


def test_no_modules_import_each_other_in_a_circle():
    graph = {place(module): set() for module in FILES}
    for module in FILES:
        graph[place(module)] |= {place(name) for name in imported(module)} - {place(module)}
    assert set(graph) > WITH_TORCH
    TopologicalSorter(graph).prepare()


IMPORT = r"(?m)^ *(?:from|import) (tools|book|course|tests|release)(?=[.\w]* import|[.\n])"
# Of each folder, what of the repository it may import besides the package. The rules hold in functions too.
MAY_IMPORT = {
    "src": set(),
    "tools": {"tools", "book"},
    "book": {"book", "tools"},
    "course": {"course", "tools", "book", "tests"},
}


@pytest.mark.parametrize("folder", [name for name in MAY_IMPORT if (ROOT / name).is_dir()])
def test_folders_import_downwards(folder):
    found = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(IMPORT, path.read_text(encoding="utf-8"))
        if name not in MAY_IMPORT[folder]
    }
    assert found == set()


def without(blocked: list[str]) -> str:
    """The first lines of a program in which these libraries cannot be imported, as if they were not installed."""
    return f"""
import sys

class Blocked:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked)
"""


def run_with(blocked: list[str], *lines: str) -> subprocess.CompletedProcess[str]:
    """Some lines in a Python of their own, in which these libraries cannot be imported."""
    script = without(blocked) + "\n".join(lines)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)


# what posenc's extras bring
LIBRARIES = ["anywidget", "ipywidgets", "plotly", "safetensors", "scipy", "torch", "tqdm", "transformers"]


def test_the_package_alone_imports_no_library():
    """What it costs: `python -X importtime -c "import numpy, posenc"`."""
    libraries = {*LIBRARIES, "array_api_compat"}
    assert run_with([], "import posenc", f"assert not {libraries} & {{*sys.modules}}").stderr == ""


NUMPY_ALONE = [
    *(
        f"import posenc.{module}"
        for module in sorted(FILES)
        if not {module, place(module)} & (WITH_TORCH | ONE_LIBRARY | {*WITH_DATA})
    ),
    "import numpy as np",
    "import posenc.schemes",
    "from posenc import Rope, alibi, make_scheme, rotate, sinusoidal",
    "from posenc.analysis import decay, decay_law, fit_scores, needle_weight",
    "from posenc.attention import attention",
    "from posenc.frequencies import inv_freq",
    "from posenc.scaling import yarn",
    "x = np.ones((1, 2, 3, 8))",
    "q, k = Rope(8)(x, x)",
    "attention(q, k, x, bias=alibi(np.arange(3) - np.arange(3)[:, None], [0.5, 0.25]))",
    "rotate(x, np.outer(np.arange(3), inv_freq(8)))",
    "sinusoidal(np.arange(3), 8)",
    "yarn(8, factor=4, original_max_position_embeddings=64)",
    "decay([0, 1], inv_freq(8)), fit_scores(np.ones(9), inv_freq(8)), needle_weight(9, 6)",
    "assert decay_law(0.0, 1.0) == 1",
    "make_scheme('t5', n_heads=2).bias(x, x, np.arange(3))",
]


def test_what_needs_numpy_alone_runs_where_the_other_libraries_are_missing():
    assert run_with([*LIBRARIES, "posenc_lab"], *NUMPY_ALONE).stderr == ""


def test_the_checks_of_assignments_the_results_and_the_checkpoints_need_no_torch():
    lines = [*(f"import posenc.{module}" for module in WITH_DATA), "from posenc import lab; lab.results()"]
    lines += ["from posenc.transformer import forward", "lab.load_weights(lab.shipped()[0])"]
    lines += ["import posenc.lab.evaluate, posenc.lab.statistics"]
    lines += ["from posenc.check import _models", "name = 'two_layers-single_copy-rope_10000-0'", "import numpy as np"]
    lines += ["_models.logits(name, np.zeros((1, 4), np.int64), _models.frequencies(name), 1.0)"]
    assert run_with(LIBRARIES, *lines).stderr == ""


# What each of them says where it needs what is not there.
MISSING = {
    "from posenc.transformer import Transformer": 'posenc needs torch: pip install "posenc[torch]"',
    "import posenc.llama": 'posenc needs torch: pip install "posenc[llm]"',
    "import posenc.figures": 'posenc needs plotly: pip install "posenc[figures]"',
    "from posenc.lab import load": 'posenc needs torch: pip install "posenc[lab]"',
    "import posenc.check.assignment_1": "posenc needs posenc-lab: pip install posenc-lab",
}


@pytest.mark.parametrize(("line", "names"), MISSING.items())
def test_what_is_missing_is_named_with_the_extra_that_brings_it(line, names):
    last = run_with([*LIBRARIES, "posenc_lab"], line).stderr.splitlines()[-1]
    assert last.startswith(f"ModuleNotFoundError: this part of {names}")


def test_what_needs_scipy_says_so():
    result = run_with(["scipy"], "from posenc.analysis import decay_law", "decay_law(3, 1e4)")
    assert result.stderr.splitlines()[-1].endswith('needs SciPy: pip install "posenc[figures]"')
