"""One explorable on a page of the built site, as a test drives it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from playwright.sync_api import Locator, Page

# Long arrays travel as bytes: one by one, their numbers would take seconds.
VALUES = """(function plain(value) {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(plain);
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(Float64Array.from(value).buffer);
    let text = '';
    for (let k = 0; k < bytes.length; k += 8192) text += String.fromCharCode(...bytes.subarray(k, k + 8192));
    return { float64: btoa(text) };
  }
  const defined = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(defined.map(([name, inner]) => [name, plain(inner)]));
})(explorable.values)"""


def _arrays(value: Any) -> Any:
    if isinstance(value, list):
        return [_arrays(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"float64"}:
        return np.frombuffer(base64.b64decode(value["float64"]))
    return {name: _arrays(inner) for name, inner in value.items()}


class Live:
    """One explorable on a page: the first of its module."""

    def __init__(self, page: Page, module: str) -> None:
        self.page = page
        self.figure = page.locator(f"figure.posenc-explorable[data-module={module}]").first
        self.figure.scroll_into_view_if_needed()
        page.wait_for_function("(figure) => figure.dataset.ready", arg=self.figure.element_handle())
        self.settle()

    def evaluate(self, expression: str, x: object = None) -> Any:
        """A JavaScript expression of `figure`, its `model`, its `explorable` and `x`."""
        return self.figure.evaluate(
            "async (figure, x) => {"
            " const model = figure.posencModel;"
            " const explorable = figure.querySelector('.posenc-explorable-view').explorable;"
            f" return {expression}; }}",
            x,
        )

    def settle(self) -> None:
        """Wait until the picture is complete."""
        self.page.wait_for_function(
            "(figure) => figure.querySelector('.posenc-explorable-view').explorable.done",
            arg=self.figure.element_handle(),
        )

    def set(self, **setting: object) -> None:
        """Set controls as a kernel would."""
        self.evaluate("Object.entries(x).forEach(([name, value]) => model.set(name, value))", setting)
        self.settle()

    def get(self, name: str) -> Any:
        """The present value of one control."""
        self.settle()
        return self.evaluate("model.get(x)", name)

    def setting(self) -> dict[str, Any]:
        """The present value of every control."""
        self.settle()
        return self.evaluate("Object.fromEntries(model.get('_controls').map(({ name }) => [name, model.get(name)]))")

    def values(self) -> dict[str, Any]:
        """What was drawn, in data coordinates; typed arrays as NumPy's."""
        return _arrays(self.evaluate(VALUES))

    def control(self, name: str) -> Locator:
        """The row of one control."""
        return self.figure.locator(f"[data-control={name}]")

    def input(self, name: str, kind: str = "range") -> Locator:
        """The slider of a control, or its field where `kind` is "text"."""
        return self.control(name).locator(f"input[type={kind}]")

    def drag(self, name: str, to: float) -> None:
        """Drag a slider by the mouse from its middle to a share of its width, or beyond."""
        slider = self.input(name)
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        assert box is not None
        y = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + box["width"] / 2, y)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + box["width"] * to, y, steps=3)
        self.page.mouse.up()

    @property
    def finding(self) -> str:
        """The sentence below the picture."""
        self.settle()
        return self.figure.locator(".posenc-finding").inner_text()

    @property
    def readout(self) -> str:
        """What is read off."""
        return self.figure.locator(".posenc-readout").inner_text()

    @property
    def notice(self) -> str:
        """What was said of a value that was typed or came by a link."""
        return self.figure.locator(".posenc-notice").inner_text()


def assert_same(drawn: Any, expected: Any, where: str = "values") -> None:
    """What JavaScript drew is what Python computes: numbers to 1e-10, everything else exactly."""
    if isinstance(expected, Mapping):
        assert set(drawn) == set(expected), where
        for name, value in expected.items():
            assert_same(drawn[name], value, f"{where}.{name}")
    elif expected is None or isinstance(expected, (str, bool)):
        assert drawn == expected, where
    elif isinstance(expected, (list, tuple)) and any(isinstance(v, (str, Mapping, list, tuple)) for v in expected):
        assert len(drawn) == len(expected), where
        for k, (first, second) in enumerate(zip(drawn, expected, strict=True)):
            assert_same(first, second, f"{where}[{k}]")
    else:
        given, wanted = np.array(drawn, float), np.asarray(expected, float)
        assert given.shape == wanted.shape, f"{where}: {given.shape} drawn, {wanted.shape} in Python"
        np.testing.assert_allclose(given, wanted, atol=1e-10, rtol=1e-12, err_msg=where)
