"""The explorables and an assignment in a real JupyterLab, driven in a browser, with a live kernel."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import socket

import nbformat
import pytest
from playwright.sync_api import Browser, Page

from course import sources
from course.grade import assignment, grade, imports_of, student
from course.sandbox import Limits
from course.submission import read, source_of
from posenc.widgets import Rotation2D
from tests.book.site.browser import Watch
from tests.explorables import CASES, Case, plain, shown

SHOWN, REPORTED, CHANGED, BOXED, CLOSED = range(5)


def explorable_cells(case: Case) -> list[str]:
    """Show an explorable, report its setting, change it, show another in a box, and close both."""
    name, first, last = case.name, case.cls(**case.settings[0]).setting(), case.settings[-1]
    return [
        f"from posenc.widgets import {name}\nexplorable = {name}()\nexplorable",
        "import json\nprint(json.dumps(explorable.setting()))",
        f"for name, value in {first!r}.items():\n    setattr(explorable, name, value)",
        f"import ipywidgets\nipywidgets.VBox([ipywidgets.Label('in a box'), {name}(**{last!r})])",
        "ipywidgets.Widget.close_all()\ndel explorable",
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    for case in CASES:
        cells = [nbformat.v4.new_code_cell(source) for source in explorable_cells(case)]
        kernel = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(
            nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / f"{case.name}.ipynb"
        )
    return folder


@pytest.fixture(scope="module")
def lab(folder: Path) -> Iterator[str]:
    """The address of a JupyterLab on `folder`."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {
        "--ServerApp.port": port, "--ServerApp.root_dir": folder, "--IdentityProvider.token": "", "--ip": "127.0.0.1",
        "--ServerApp.shutdown_no_activity_timeout": 600,  # should this test's process end before it
        "--LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate", "--LabApp.expose_app_in_browser": "True",
    }  # fmt: skip
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        *(f"{k}={v}" for k, v in options.items()),
    ]
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_DATA_DIR": str(folder / "data")}
    log = (folder / "lab.log").open("w")
    server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            if server.poll() is not None:
                pytest.fail(f"JupyterLab stopped: {(folder / 'lab.log').read_text()[-2000:]}")
            try:
                urllib.request.urlopen(f"{address}/api", timeout=5).close()
                break
            except OSError:
                time.sleep(0.25)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=20)
        log.close()


class Notebook:
    """The notebook that is open in JupyterLab."""

    def __init__(self, page: Page, name: str, kernel: str | None) -> None:
        self.page = page
        self.command("docmanager:open", path=f"{name}.ipynb", kernel={"id": kernel} if kernel else {"name": "python3"})
        page.wait_for_function(
            """(path) => {
              const panel = window.jupyterapp.shell.currentWidget;
              return panel?.context?.path === path && panel.context.isReady && panel.node.querySelector('.jp-CodeCell')
                && panel.sessionContext.session?.kernel?.status === 'idle';
            }""",
            arg=f"{name}.ipynb",
        )

    @property
    def kernel(self) -> str:
        """The id of its kernel."""
        return self.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.id")

    def command(self, name: str, **arguments: object) -> None:
        self.page.evaluate(
            """([name, options]) => Promise.race([
              window.jupyterapp.commands.execute(name, options).then(() => null),
              new Promise((done, fail) => setTimeout(() => fail(new Error(`${name} took over a minute`)), 60_000)),
            ])""",
            [name, arguments],
        )

    def theme(self, name: str) -> None:
        """Change the theme, and wait until JupyterLab counts it as current: before, it ignores a change back."""
        self.command("apputils:change-theme", theme=name)
        self.page.wait_for_function("(name) => document.body.dataset.jpThemeName === name", arg=name)

    def run(self, index: int) -> None:
        """Run one cell and wait until the kernel has done it."""
        self.page.evaluate(
            "(index) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = index; }", index
        )
        self.command("notebook:run-cell")

    def text(self, index: int) -> str:
        return self.page.locator(".jp-CodeCell").nth(index).locator(".jp-OutputArea").inner_text()

    def close(self) -> None:
        """Close it; its kernel goes on."""
        self.page.evaluate("window.jupyterapp.shell.currentWidget.dispose()")
        self.page.wait_for_selector(".jp-Notebook", state="detached")


class Lab:
    """JupyterLab in a browser, and one kernel for all notebooks that ask for none of their own."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.page: Page = browser.new_context(viewport={"width": 1280, "height": 1000}).new_page()
        self.page.set_default_timeout(60_000)
        self.watch = Watch(self.page)
        self.faults: list[str] = []  # uncaught errors, with where they came from
        self.page.on("pageerror", lambda error: self.faults.append(error.stack or error.message))
        self.page.goto(f"{address}/lab?reset")  # no other notebook from before
        self.page.wait_for_function("() => window.jupyterapp?.shell")
        self.page.evaluate("window.jupyterapp.restored.then(() => null)")
        self.kernel: str | None = None

    def open(self, name: str, own_kernel: bool = False) -> Notebook:
        notebook = Notebook(self.page, name, None if own_kernel else self.kernel)
        if not own_kernel:
            self.kernel = notebook.kernel
        return notebook


@pytest.fixture(scope="module")
def opened_lab(browser: Browser, lab: str) -> Iterator[Lab]:
    """JupyterLab's page, which takes longer to load than a notebook to open in it."""
    opened = Lab(browser, lab)
    yield opened
    opened.page.context.close()


@pytest.fixture
def open_notebook(opened_lab: Lab) -> Iterator[Callable[..., Notebook]]:
    """Opens one notebook; fails if the page asked another host or an explorable failed."""
    opened: list[Notebook] = []

    def make(name: str, own_kernel: bool = False) -> Notebook:
        opened.append(opened_lab.open(name, own_kernel))
        return opened[-1]

    yield make
    for notebook in opened:
        notebook.close()
    foreign, faults = opened_lab.watch.foreign.copy(), opened_lab.faults.copy()
    opened_lab.watch.foreign.clear()
    opened_lab.faults.clear()
    assert foreign == []
    # an explorable's module is imported from a Blob; JupyterLab's own faults are its own
    assert [fault for fault in faults if "blob:" in fault] == []


class View:
    """An explorable in the output of a cell."""

    def __init__(self, notebook: Notebook, index: int) -> None:
        self.page = notebook.page
        self.root = self.page.locator(".jp-CodeCell").nth(index).locator(".posenc-explorable-view")
        self.root.wait_for(state="attached")
        self.root.scroll_into_view_if_needed()
        self.root.evaluate("(root) => root.querySelectorAll('details').forEach((drawer) => (drawer.open = true))")
        self.settle()

    def settle(self) -> None:
        """Wait until the picture is complete."""
        self.page.wait_for_function("(root) => root.explorable.done", arg=self.root.element_handle())

    @property
    def finding(self) -> str:
        """The sentence below the picture."""
        return plain(self.root.locator(".posenc-finding").inner_text())

    def says(self, words: str) -> None:
        """Wait until it says this below the picture, and is complete."""
        finding = self.root.locator(".posenc-finding").element_handle()
        says = "([finding, words]) => finding.textContent.replaceAll('\\u00a0', ' ') === words"
        self.page.wait_for_function(says, arg=[finding, words])
        self.settle()


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[] if case.name == "DecayExplorer" else [pytest.mark.release])
        for case in CASES
    ],
)
def test_an_explorable_and_its_kernel_answer_each_other(open_notebook, case):
    notebook, cls = open_notebook(case.name), case.cls
    notebook.run(SHOWN)
    view = View(notebook, SHOWN)
    assert view.finding == shown(cls).finding

    # keys and mouse change the traits
    name = case.slider["name"]
    slider = view.root.locator(f"[data-control={name}] input[type=range]")
    if not slider.is_visible():  # it has something to move with a switch only
        view.root.locator(f"[data-control={[*case.slider['needs']][0]}] input").check()
        view.settle()
    share = slider.evaluate("({ value, min, max }) => (value - min) / (max - min) > 0.5 ? 0.2 : 0.8")  # the other half
    slider.press("ArrowLeft")
    slider.press("ArrowLeft")
    box = slider.bounding_box()
    notebook.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    notebook.page.mouse.down()
    notebook.page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2, steps=3)
    notebook.page.mouse.up()
    slider.press("ArrowRight")
    view.settle()
    for _ in range(20):  # the kernel hears of it a little later
        notebook.run(REPORTED)
        setting = json.loads(notebook.text(REPORTED))
        if view.finding == shown(cls, **setting).finding:
            break
    assert setting[name] != cls.class_traits()[name].default_value
    assert view.finding == shown(cls, **setting).finding

    # traits move the sliders
    notebook.run(CHANGED)
    view.says(shown(cls, **case.settings[0]).finding)

    # inside a box of widgets, at a setting of its own
    notebook.run(BOXED)
    boxed = View(notebook, BOXED)
    assert boxed.finding == shown(cls, **case.settings[-1]).finding

    # both follow the theme
    colour = "(root) => getComputedStyle(root).color"
    light = boxed.root.evaluate(colour)
    notebook.theme("JupyterLab Dark")
    notebook.page.wait_for_function(
        f"([root, light]) => ({colour})(root) !== light", arg=[boxed.root.element_handle(), light]
    )
    notebook.theme("JupyterLab Light")
    notebook.run(CLOSED)


@pytest.mark.release
def test_enter_commits_what_is_typed(open_notebook):
    notebook = open_notebook("Rotation2D")
    notebook.run(SHOWN)
    view = View(notebook, SHOWN)
    field = view.root.locator("[data-control=m] input[type=text]")

    field.click()
    notebook.page.keyboard.press("ControlOrMeta+A")
    notebook.page.keyboard.type("99")
    notebook.page.keyboard.press("Enter")
    view.says(shown(Rotation2D, m=32, n=29).finding)  # within the limits, and the lock takes the key along
    notice = view.root.locator(".posenc-notice")
    notebook.page.keyboard.press("Tab")
    assert "takes integers from 0 to 32; 99 became 32." in notice.inner_text()
    notebook.run(CLOSED)


def printed(notebook: Notebook) -> dict[str, str]:
    """What each cell of a notebook has printed, by its id; from the document, which holds cells out of sight too."""
    return notebook.page.evaluate(
        """() => Object.fromEntries(window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells
             .filter((cell) => cell.cell_type === 'code')
             .map((cell) => [cell.id, cell.outputs.map((output) => [output.text ?? output.evalue ?? ''].flat().join(''))
                                                  .join('')]))"""
    )


@pytest.mark.release
@pytest.mark.answers
def test_an_assignment_goes_from_blank_to_full_marks(open_notebook, folder):
    number = 2
    shutil.copy(student(number), folder / "assignment.ipynb")
    given = assignment(number)
    notebook = open_notebook("assignment", own_kernel=True)
    notebook.command("notebook:run-all-cells")
    texts = printed(notebook)
    for question in given.questions:
        assert "not answered yet" in texts[f"{question.name}-check"]

    names = {question.name for question in given.questions}
    cells = sources.source(number)["cells"]
    answers = {cell["id"]: source_of(cell) for cell in cells if cell["id"] in names}
    notebook.page.evaluate(
        """(answers) => { for (const cell of window.jupyterapp.shell.currentWidget.content.widgets)
             if (answers[cell.model.id]) cell.model.sharedModel.setSource(answers[cell.model.id]); }""",
        answers,
    )
    notebook.command("notebook:run-all-cells")
    texts = printed(notebook)
    for question in given.questions:
        assert f"{question.points} of {question.points} points on the public" in texts[f"{question.name}-check"]

    notebook.command("docmanager:save")
    saved = read(folder / "assignment.ipynb", "a student")
    report = grade(saved, given, imports_of(number), "a seed", Limits())
    coded = sum(question.points for question in given.questions)  # a reader marks the others
    assert (report.points, saved.notes, saved.problem) == (coded, [], "")
