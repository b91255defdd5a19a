"""Where a benchmark leaves its results, and what they were measured on."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "_build" / "report"
VERSIONED = ("torch", "numpy", "plotly", "ipywidgets", "anywidget", "jupyter-book", "playwright")


def machine() -> dict[str, Any]:
    """Processor, system and the versions that matter."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": next(iter(models), platform.processor() or platform.machine()),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in VERSIONED},
    }


def save(name: str, results: object) -> None:
    """Write `_build/report/<name>.json`."""
    REPORT.mkdir(parents=True, exist_ok=True)
    (REPORT / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def load(name: str) -> Any:
    """What was saved under a name; None where nothing was."""
    path = REPORT / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
