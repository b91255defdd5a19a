"""The Python that runs cells in a page, as it is, without a browser."""

from __future__ import annotations

import json
import runpy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.book.python.cells import ROOT, page_cells


class Page:
    """A page that only listens."""

    def __init__(self) -> None:
        self.outputs: list[dict[str, Any]] = []  # what the last cell showed
        self.notebook = page_cells.Notebook(lambda cell, output: self.outputs.append(json.loads(output)))

    def run(self, source: str, cell: str = "here") -> dict[str, Any]:
        """Run a cell; how it ended."""
        self.outputs.clear()
        return dict(json.loads(self.notebook.run(cell, source)))

    @property
    def printed(self) -> str:
        """What the last cell printed."""
        return "".join(output.get("text", "") for output in self.outputs)


@pytest.fixture
def page() -> Page:
    return Page()


def test_a_cell_prints_and_shows_its_last_value(page: Page) -> None:
    assert page.run("print('one')\nx = 2\nx + 1") == {"status": "done"}
    assert page.outputs == [{"stream": "stdout", "text": "one\n"}, {"text": "3"}]


@pytest.mark.parametrize("source", ["x = 1", "None", "1 + 1;", "", "# nothing", "print(end='')"])
def test_a_cell_may_show_nothing(page: Page, source: str) -> None:
    assert page.run(source) == {"status": "done"}
    assert page.outputs == []


def test_what_is_displayed_comes_after_what_was_printed_before(page: Page) -> None:
    page.run("print('a')\ndisplay(1, 2)\nprint('b')")
    assert [output["text"] for output in page.outputs] == ["a\n", "1", "2", "b\n"]


def test_an_explorable_comes_as_html_and_other_html_as_text(page: Page) -> None:
    html = '<figure class="posenc-explorable"></figure>'
    page.run(f"class A:\n    def _repr_mimebundle_(self): return {{'text/html': {html!r}}}\nA()")
    assert page.outputs == [{"html": html}]
    page.run("class B:\n    def _repr_html_(self): return '<img>'\n    def __repr__(self): return 'B'\nB()")
    assert page.outputs == [{"text": "B"}]


# ---- what goes wrong ------------------------------------------------------------------------------------------------


def test_an_error_shows_the_reader_s_lines_only(page: Page) -> None:
    page.run("import numpy as np\ndef invert(x):\n    return np.linalg.inv(x)", "first")
    ended = page.run("\ninvert(np.zeros((2, 2)))", "second")
    assert ended["status"] == "failed"
    assert [line for line in ended["error"].splitlines() if line.strip(" ~^")] == [
        "Traceback (most recent call last):",
        '  File "second", line 2, in <module>',
        "    invert(np.zeros((2, 2)))",
        '  File "first", line 3, in invert',
        "    return np.linalg.inv(x)",
        "numpy.linalg.LinAlgError: Singular matrix",
    ]


@pytest.mark.parametrize("source", ["raise SystemExit", "raise KeyboardInterrupt", "exit()"])
def test_a_cell_cannot_end_the_notebook(page: Page, source: str) -> None:
    assert page.run(source)["status"] == "failed"
    assert page.run("1 + 1") == {"status": "done"}


def test_a_flood_of_text_is_cut_off(page: Page) -> None:
    assert page.run("for _ in range(200):\n    print('x' * 1_000_000)") == {"status": "done"}
    assert page.printed == "x" * page_cells.MOST_CHARACTERS + page_cells.CUT


# ---- what the page does not have ------------------------------------------------------------------------------------

MISSING = "no_such_package"


def test_a_missing_package_is_named_and_so_is_what_stands_on_it(page: Page) -> None:
    ended = page.run(f"import {MISSING}.part as p")
    assert (ended["status"], ended["package"], ended["through"]) == ("needs", MISSING, "")
    page.run(f"import {MISSING}")
    assert page.run(f"y = {MISSING}.zeros(2)")["package"] == MISSING
    ended = page.run("y + 1")
    assert (ended["status"], ended["package"], ended["through"]) == ("needs", MISSING, "y")


def test_a_cell_that_could_not_run_leaves_no_half_truth(page: Page) -> None:
    page.run("x = [1, 2]\ny = 3")
    page.run(f"x[0] = 5\ny += 1\nimport {MISSING}")
    assert page.run("x")["through"] == "x"
    assert page.run("y")["through"] == "y"


def test_random_numbers_that_it_might_have_drawn_are_unknown_too(page: Page) -> None:
    page.run("import numpy as np\nrng = np.random.default_rng(0)")
    page.run(f"z = {MISSING}.tensor(rng.normal())")
    page.run(f"import {MISSING}\nz = {MISSING}.tensor(rng.normal())")
    assert page.run("rng.normal()")["through"] == "rng"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a = b = 1", {"a", "b"}),
        ("for i, (j, k) in x: pass", {"i", "j", "k"}),
        ("with open('x') as f: pass", {"f"}),
        ("def f(a):\n    inside = 1", {"f"}),
        ("class C:\n    x = 1", {"C"}),
        ("import a.b, c as d\nfrom e import f as g", {"a", "d", "g"}),
        ("x[0] = 1; y.a = 2; z += 1; del w", {"x", "y", "z", "w"}),
        ("[i for i in x[1:]]", set()),
        ("(n := 4)", {"n"}),
        ("try:\n    pass\nexcept OSError as e:\n    pass", {"e"}),
    ],
)
def test_what_a_cell_binds(source: str, names: set[str]) -> None:
    assert page_cells.bound(source) == names


@pytest.mark.parametrize(
    ("sources", "cells"),
    [
        (["import numpy as np", "a = np.ones(3)", "b = 2", "print(a)"], [0, 1]),
        (["a = 1", "a = 2", "b = a"], [0, 1]),  # both, since the first may be changed by the second
        (["a = 1", "def f(x):\n    a = 2\n    return x", "f(3)"], [1]),
        (["a = 1", "def f(x):\n    return x + a", "f(3)"], [0, 1]),
        (["n = 1", "for n in range(3): print(n)"], []),
        (["n = 1", "n = n + 1"], [0]),
        (["x = [1]", "x[0] = 2", "y = 1", "x"], [0, 1]),
        (["rng = np.random.default_rng(0)", "a = rng.random()", "b = 1", "rng.random()"], [0, 1]),
        (["a = (", "a = 1", "a"], [1]),
        (["class A: b = 1", "class B(A): c = A.b", "B()"], [0, 1]),
    ],
)
def test_what_a_cell_depends_on(sources: list[str], cells: list[int]) -> None:
    assert page_cells.needed(sources) == cells


# ---- sliders --------------------------------------------------------------------------------------------------------


@pytest.fixture
def sliders(page: Page) -> Page:
    """The page, with ipywidgets as cells import it there."""
    page.run("from ipywidgets import *")
    page.notebook.names["interact"] = page.notebook.interact
    return page


def test_interact_opens_with_its_function_s_value_and_moves(sliders: Page) -> None:
    function = "def f(x, y=True, z=1):\n    print(x)\n    return y"
    assert sliders.run(f"{function}\ninteract(f, x=IntSlider(3, 1, 9), z=fixed(2));") == {"status": "done"}
    (output,) = sliders.outputs
    assert [control["name"] for control in output["controls"]] == ["x", "y"]
    assert output["outputs"] == [{"stream": "stdout", "text": "3\n"}, {"text": "True"}]
    moved = json.loads(sliders.notebook.move(output["interact"], '{"x": 4, "y": false}'))
    assert moved == [{"stream": "stdout", "text": "4\n"}, {"text": "False"}]
    assert json.loads(sliders.notebook.move(output["interact"], '{"x": 5}'))[1] == {"text": "False"}


def test_an_error_while_moving_stands_below_the_sliders(sliders: Page) -> None:
    sliders.run("@interact(x=(1, 4))\ndef f(x):\n    return 1 / (x - 4)")
    (output,) = json.loads(sliders.notebook.move(0, '{"x": 4}'))
    assert output["error"].endswith("ZeroDivisionError: division by zero")


@pytest.mark.parametrize(
    ("given", "state", "moved", "text"),
    [
        ("3", {"kind": "slider", "value": 3, "min": -3, "max": 9, "step": 1}, 5, "5"),
        ("True", {"kind": "switch", "value": True}, False, "False"),
        ("['a', 'b']", {"kind": "choice", "value": 0, "labels": ["a", "b"]}, 1, "'b'"),
        (
            "FloatLogSlider(100, min=0, max=8)",
            {"kind": "slider", "value": 100, "min": 0, "max": 8, "step": 0.1, "base": 10},
            1000,
            "1000.0",
        ),
    ],
)
def test_a_control_is_drawn_and_gives_its_value(
    sliders: Page, given: str, state: dict[str, Any], moved: Any, text: str
) -> None:
    sliders.run(f"interact(lambda x: x, x={given});")
    assert sliders.outputs[0]["controls"] == [{"name": "x", "label": "x", **state}]
    assert json.loads(sliders.notebook.move(0, json.dumps({"x": moved}))) == [{"text": text}]


def test_what_a_page_cannot_draw_is_said(sliders: Page) -> None:
    ended = sliders.run("interact(lambda x: x, x='text')")
    assert ended["error"].endswith("ValueError: a page has no Text: give a slider, a number, a pair, a list or True")


# ---- SciPy's stand-in -----------------------------------------------------------------------------------------------


@pytest.fixture
def special() -> Any:
    """The stand-in for scipy.special, beside the real one."""
    return SimpleNamespace(**runpy.run_path(str(ROOT / "book/_site/python/shims/scipy/special.py")))


def test_the_integrals_are_scipy_s(special: Any) -> None:
    from scipy.special import sici

    x = np.concatenate([np.geomspace(1e-9, 1e7, 5001), np.arange(1.0, 2000.0), [8.0, np.nextafter(8, 9)]])
    for ours, theirs in zip(special.sici(x), sici(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13)


def test_the_error_function_is_scipy_s(special: Any) -> None:
    from scipy.special import erf

    x = np.linspace(-7, 7, 1001).reshape(7, 143)
    np.testing.assert_allclose(special.erf(x), erf(x), rtol=0, atol=1e-14)
    assert special.erf(0.5) == pytest.approx(erf(0.5), rel=1e-14)


def test_the_quantiles_are_scipy_s(special: Any) -> None:
    from scipy.special import ndtri, stdtrit

    for p in (0.6, 0.975, 0.999):
        assert special.ndtri(p) == pytest.approx(ndtri(p), rel=1e-12)
        for freedom in (1, 2, 3, 4, 7, 30):
            assert special.stdtrit(freedom, p) == pytest.approx(stdtrit(freedom, p), rel=1e-10)
