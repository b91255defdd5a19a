"""The Python that runs cells in a page, as it is, without a browser."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.book.python.cells import ROOT, page_cells


class Page:
    """A page that only listens."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.notebook = page_cells.open_notebook(lambda text: self.told.append(json.loads(text)))

    def run(self, source: str, cell: str = "here") -> dict[str, Any]:
        """Run a cell; how it ended."""
        self.told.clear()
        return dict(json.loads(self.notebook.run(cell, source)))

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """What the last cell showed."""
        return [told["output"] for told in self.told]

    @property
    def printed(self) -> str:
        """What the last cell printed."""
        return "".join(output.get("text", "") for output in self.outputs)


@pytest.fixture
def page() -> Page:
    return Page()


def test_a_cell_prints_and_shows_its_last_value(page: Page) -> None:
    assert page.run("print('one')\nx = 2\nx + 1") == {"status": "done"}
    assert page.outputs == [{"stream": "stdout", "text": "one\n"}, {"data": {"text/plain": "3"}}]


@pytest.mark.parametrize("source", ["x = 1", "None", "1 + 1;", "", "# nothing", "print(end='')"])
def test_a_cell_may_show_nothing(page: Page, source: str) -> None:
    assert page.run(source) == {"status": "done"}
    assert page.outputs == []


def test_what_is_displayed_comes_after_what_was_printed_before(page: Page) -> None:
    page.run("print('a')\ndisplay(1, 2)\nprint('b')")
    assert [output.get("text") or output["data"]["text/plain"] for output in page.outputs] == ["a\n", "1", "2", "b\n"]


def test_a_figure_comes_as_the_page_shows_one(page: Page) -> None:
    page.notebook.names["figure"] = go.Figure(go.Scatter(y=[1, 2], name="law")).update_layout(title="<b>S</b>")
    page.run("figure")
    html = page.outputs[0]["data"][page_cells.PLOTLY]
    assert html.startswith('<figure class="posenc-plotly"><figcaption><b>S</b></figcaption>')


def test_an_explorable_comes_as_html_and_other_html_as_text(page: Page) -> None:
    html = '<figure class="posenc-explorable"></figure>'
    page.run(f"class A:\n    def _repr_mimebundle_(self): return {{'text/html': {html!r}}}\nA()")
    assert "text/html" in page.outputs[0]["data"]
    page.run("class B:\n    def _repr_html_(self): return '<img>'\n    def __repr__(self): return 'B'\nB()")
    assert page.outputs == [{"data": {"text/plain": "B"}}]


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


def test_a_flood_of_text_is_cut_and_counted(page: Page) -> None:
    assert page.run("for _ in range(200):\n    print('x' * 1_000_000)") == {"status": "done"}
    assert len(page.printed) == page_cells.MOST_CHARACTERS
    left_out = 200 * 1_000_001 - page_cells.MOST_CHARACTERS
    assert page.outputs[-1] == {"cut": {"characters": left_out, "shown": 0}}


def test_a_flood_of_values_is_cut_and_counted(page: Page) -> None:
    page.run("for k in range(1000):\n    display(k)")
    assert sum("data" in output for output in page.outputs) == page_cells.MOST_SHOWN
    assert page.outputs[-1] == {"cut": {"characters": 0, "shown": 1000 - page_cells.MOST_SHOWN}}


# ---- what the page does not have ------------------------------------------------------------------------------------

MISSING = "no_such_package"


def test_a_missing_package_is_named(page: Page) -> None:
    ended = page.run(f"import {MISSING}.part as p")
    assert (ended["status"], ended["package"], ended["through"]) == ("needs", MISSING, "")


def test_what_stands_on_a_missing_package_says_so_too(page: Page) -> None:
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
        ("x[0].y = 1; z += 1; del w", {"x", "z", "w"}),
        ("[i for i in range(3)]", set()),
        ("(n := 4)", {"n"}),
        ("try:\n    pass\nexcept OSError as e:\n    pass", {"e"}),
        ("not python", set()),
    ],
)
def test_what_a_cell_binds(source: str, names: set[str]) -> None:
    assert page_cells.bound(source) == names


@pytest.mark.parametrize(
    ("source", "wants"),
    [
        ("import plotly.graph_objects as go", ["plotly"]),
        ("from posenc import figures", ["plotly"]),
        ("from posenc.figures import waves", ["plotly"]),
        ("from posenc.check import assignment_1 as check", ["recorded"]),
        ("from posenc import figures\nfrom posenc import check", ["plotly", "recorded"]),
        ("import numpy as np", []),
        ("from posenc import rope", []),
        ("import plotlyish", []),
        ("not python", []),
    ],
)
def test_what_is_large_comes_with_the_cell_that_wants_it(source: str, wants: list[str]) -> None:
    assert page_cells.wants(source) == wants


# ---- sliders --------------------------------------------------------------------------------------------------------


@pytest.fixture
def widgets(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Any]]:
    """The stand-in for ipywidgets, as cells import it in a page."""
    monkeypatch.syspath_prepend(str(ROOT / "book" / "_site" / "python" / "shims"))
    for name in [name for name in sys.modules if name.partition(".")[0] == "ipywidgets"]:
        monkeypatch.delitem(sys.modules, name)
    import ipywidgets

    yield ipywidgets
    monkeypatch.delitem(sys.modules, "ipywidgets")


def test_interact_opens_with_its_function_s_value_and_moves(page: Page, widgets: Any) -> None:
    function = "def f(x, y=True):\n    print(x)\n    return y"
    page.run(f"from ipywidgets import interact, IntSlider\n{function}\ninteract(f, x=IntSlider(3, 1, 9));")
    (output,) = page.outputs
    assert [control["name"] for control in output["controls"]] == ["x", "y"]
    assert output["outputs"] == [{"stream": "stdout", "text": "3\n"}, {"data": {"text/plain": "True"}}]
    moved = json.loads(page.notebook.move(output["interact"], '{"x": 4, "y": false}'))
    assert moved == [{"stream": "stdout", "text": "4\n"}, {"data": {"text/plain": "False"}}]
    assert json.loads(page.notebook.move(output["interact"], '{"x": 5}'))[1] == {"data": {"text/plain": "False"}}


def test_an_error_while_moving_stands_below_the_sliders(page: Page, widgets: Any) -> None:
    page.run("from ipywidgets import interact\ninteract(lambda x: 1 / x, x=(0, 4));")
    (output,) = json.loads(page.notebook.move(0, '{"x": 0}'))
    assert output["error"].endswith("ZeroDivisionError: division by zero")


@pytest.mark.parametrize(
    ("given", "kind", "value"),
    [
        (3, "slider", 3),
        (-2.0, "slider", -2.0),
        (True, "switch", True),
        ((1, 10), "slider", 5),
        ((0.0, 1.0, 0.25), "slider", 0.5),
        (["a", "b"], "choice", 0),
        ({"one": 1, "two": 2}, "choice", 0),
    ],
)
def test_interact_makes_the_controls_that_ipywidgets_makes(widgets: Any, given: Any, kind: str, value: Any) -> None:
    state = widgets.control(given).state()
    assert (state["kind"], state["value"]) == (kind, value)


def test_the_stand_in_opens_as_ipywidgets_does(widgets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = {given: widgets.control(given) for given in (3, 0, -4, 2.5, -0.5, (1, 10), (0.0, 3.0), (0, 10, 5))}
    monkeypatch.delitem(sys.modules, "ipywidgets")
    monkeypatch.setattr(sys, "path", [place for place in sys.path if "shims" not in place])
    from ipywidgets import interactive

    for given, ours in mine.items():
        theirs = interactive(lambda x: None, x=given).children[0]
        assert (ours.value, ours.min, ours.max) == pytest.approx((theirs.value, theirs.min, theirs.max)), given
        assert ours.step == theirs.step or isinstance(given, float) or given == (0.0, 3.0), given


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda w: w.IntSlider(1.5), "IntSlider: value must be an integer, got 1.5"),
        (lambda w: w.IntSlider(1, 5, 2), "min must not exceed max"),
        (lambda w: w.FloatSlider("a"), "FloatSlider: value must be a finite number, got 'a'"),
        (lambda w: w.FloatLogSlider(1, base=1), "base must be a number above 1, got 1"),
        (lambda w: w.Dropdown([]), "needs at least one option"),
        (lambda w: w.Dropdown(["a"], value="b"), "must be one of"),
        (lambda w: w.IntSlider(1, colour="red"), "takes no colour in a page"),
        (lambda w: w.control(object()), "interact makes no control of"),
        (lambda w: w.interact(lambda x: x), "interact needs a control for x"),
        (lambda w: w.interact(lambda: 1, y=2), "has no argument y"),
    ],
)
def test_what_a_control_does_not_take_is_said(page: Page, widgets: Any, make: Callable[[Any], Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        make(widgets)


def test_a_log_slider_gives_the_power(widgets: Any) -> None:
    slider = widgets.FloatLogSlider(10_000, min=0, max=8)
    assert slider.state() == {"kind": "log", "value": 10_000, "least": 0, "greatest": 8, "step": 0.1, "base": 10.0}
    assert widgets.FloatLogSlider(1e12, min=0, max=8).value == 1e8


# ---- SciPy's stand-in -----------------------------------------------------------------------------------------------


@pytest.fixture
def special() -> Any:
    """The stand-in for scipy.special, beside the real one."""
    return SimpleNamespace(**runpy.run_path(str(ROOT / "book/_site/python/shims/scipy/special.py")))


def test_the_integrals_are_scipy_s(special: Any) -> None:
    from scipy.special import sici

    x = np.concatenate([np.geomspace(1e-9, 1e7, 5001), np.arange(1.0, 2000.0), [4.0, np.nextafter(4, 5)]])
    for ours, theirs in zip(special.sici(x), sici(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)
    with pytest.raises(ValueError, match="positive"):
        special.sici(0.0)


def test_the_quantiles_are_scipy_s(special: Any) -> None:
    from scipy.special import ndtri, stdtrit

    for p in (0.6, 0.975, 0.999):
        assert special.ndtri(p) == pytest.approx(ndtri(p), rel=1e-12)
        for freedom in (1, 2, 3, 4, 7, 30):
            assert special.stdtrit(freedom, p) == pytest.approx(stdtrit(freedom, p), rel=1e-10)
    with pytest.raises(ValueError, match="whole degrees of freedom"):
        special.stdtrit(1.5, 0.9)
