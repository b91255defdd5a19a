"""Run the tests that compare numbers as on older processors, whose libraries round otherwise.

    python -m release.other_cpus [NAME …]

Each stand-in switches instruction sets off in NumPy, PyTorch, BLAS, oneDNN, XLA and the C library. In a copy of the
repository the chapters are executed anew and the tests run; the red ones are listed. On two cores a stand-in takes
about half an hour.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__ as DISPATCHED
from numpy._core._multiarray_umath import __cpu_features__ as FEATURES

from release.colab.run import copy_files
from tools.book import SITE

NEWEST = ("AVX512", "X86_V4")  # how the names begin of what no processor with AVX2 alone has
TESTS = ("tests/unit", "tests/book/nbval", "tests/book/claims", "tests/book/notebooks")
COURSE = ("course/tests/test_recorded.py", "course/tests/test_wrong_answers.py")
FAILED = ("FAILED ", "ERROR ")


def without(*beginnings: str) -> str:
    """The names of NumPy's instruction sets that this processor has and that begin so, to be switched off."""
    return " ".join(name for name in DISPATCHED if FEATURES.get(name) and name.startswith(beginnings))


STAND_INS = {
    "AVX2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "NPY_DISABLE_CPU_FEATURES": without(*NEWEST),
        "OPENBLAS_CORETYPE": "Zen",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
    },
    "SSE4.2": {
        "ATEN_CPU_CAPABILITY": "default",
        "NPY_DISABLE_CPU_FEATURES": without(""),
        "OPENBLAS_CORETYPE": "Nehalem",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-FMA,-FMA4",
    },
}


def run(folder: Path, settings: dict[str, str]) -> tuple[bool, list[str]]:
    """Whether all tests pass in a copy of the repository under these settings, and the lines that name the red ones."""
    here = {"PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}", "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **here, **settings}
    subprocess.run([sys.executable, "-m", "tools.execute"], cwd=folder, env=environment, check=True)
    # Tools compare no numbers, and ask for a checkout of git, which the copy is not.
    words = ["-q", "-p", "no:cacheprovider", "-n", "2", "--dist", "loadgroup", "-rfE", "--ignore", "tests/unit/tools"]
    words += [*TESTS, *(path for path in COURSE if (folder / path).is_file())]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    red = [line for line in done.stdout.splitlines() if line.startswith(FAILED)]
    return done.returncode == 0, red or done.stdout.splitlines()[-20:]


def main() -> None:
    """Try the stand-ins that are named, or all; exit 1 where a test is red."""
    parser = argparse.ArgumentParser(prog="python -m release.other_cpus", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(STAND_INS)}; all if none is named")
    names = parser.parse_args().names or list(STAND_INS)
    if unknown := set(names) - set(STAND_INS):
        parser.error(f"there is no stand-in {', '.join(unknown)}")
    all_green = True
    for name in names:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "turn-by-turn"
            copy_files(folder)
            (folder / "_build").mkdir()
            (folder / "_build" / "html").symlink_to(SITE)  # some tests look at the built pages
            green, lines = run(folder, STAND_INS[name])
        print(f"{name}: {'green' if green else 'red'}", *(() if green else lines), sep="\n  ", flush=True)
        all_green &= green
    sys.exit(not all_green)


if __name__ == "__main__":
    main()
