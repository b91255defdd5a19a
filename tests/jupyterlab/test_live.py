"""The explorables and the reader's own slider in a real JupyterLab, driven in a browser, with a live kernel."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from socket import socket

import nbformat
import pytest
from playwright.sync_api import Browser, Page

from posenc.analysis import decay
from posenc.frequencies import inv_freq
from posenc.widgets import DecayExplorer, FrequencyBank
from tests.site.browser import ROOT, Watch

CHAPTER = ROOT / "notebooks" / "08_multi_frequency_decay.ipynb"
EXPLORABLES = [
    "from posenc.widgets import DecayExplorer, FrequencyBank\nexplorer = DecayExplorer()\nexplorer",
    "bank = FrequencyBank()\nbank",
    "import ipywidgets\nipywidgets.VBox([ipywidgets.Label('in a box'), FrequencyBank(dim=8)])",
    "print('dim', explorer.dim, 'base', explorer.base, 'bank', bank.distance)",
    "explorer.dim, explorer.base = 64, 500.0",
]


def chapter_cells() -> list[str]:
    """The chapter's last slider and the cells that it stands on."""
    cells = [cell for cell in nbformat.read(CHAPTER, as_version=4).cells if cell.cell_type == "code"]
    by_id = {cell.id: cell.source for cell in cells}
    return [
        by_id[name] for name in ("find-package", "imports", "the-list", "nearby", "three-ways", "law-table", "slider")
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    for name, sources in (("explorables", EXPLORABLES), ("slider", chapter_cells())):
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        kernel = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / f"{name}.ipynb")
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
    """One notebook in JupyterLab."""

    def __init__(self, browser: Browser, address: str, name: str) -> None:
        self.page: Page = browser.new_context(viewport={"width": 1280, "height": 1000}).new_page()
        self.page.set_default_timeout(60_000)
        self.watch = Watch(self.page)
        self.page.goto(f"{address}/lab/tree/{name}.ipynb?reset")  # no other notebook from before
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        self.page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
        )

    def command(self, name: str, **arguments: str) -> None:
        self.page.evaluate(
            """([name, options]) => Promise.race([
              window.jupyterapp.commands.execute(name, options),
              new Promise((done, fail) => setTimeout(() => fail(new Error(`${name} took over a minute`)), 60_000)),
            ])""",
            [name, arguments],
        )

    def run(self, index: int) -> None:
        """Run one cell and wait until the kernel has done it."""
        self.page.evaluate(
            "(index) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = index; }", index
        )
        self.command("notebook:run-cell")

    def text(self, index: int) -> str:
        return self.page.locator(".jp-CodeCell").nth(index).locator(".jp-OutputArea").inner_text()


@pytest.fixture(scope="module")
def explorables(browser: Browser, lab: str) -> Iterator[Notebook]:
    notebook = Notebook(browser, lab, "explorables")
    for index in range(3):
        notebook.run(index)
    notebook.page.wait_for_selector(".jp-CodeCell:nth-child(3) .posenc-explorable-view", state="attached")
    yield notebook
    notebook.page.context.close()


def view(notebook: Notebook, index: int):
    return notebook.page.locator(".jp-CodeCell").nth(index).locator(".posenc-explorable-view")


def test_mouse_and_keys_change_the_trait(explorables):
    page, explorer = explorables.page, view(explorables, 0)
    slider = explorer.locator("[data-control=dim] input[type=range]")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    slider.press("ArrowLeft")
    slider.press("ArrowLeft")
    view(explorables, 1).locator("[data-control=distance] input[type=range]").press("ArrowRight")
    moved = int(explorer.locator("[data-control=dim] input[type=text]").input_value())
    assert 240 <= moved <= 254
    page.wait_for_timeout(500)
    explorables.run(3)
    page.wait_for_function("() => document.querySelectorAll('.jp-CodeCell')[3].innerText.includes('dim')")
    assert f"dim {moved} base 10000.0 bank 501" in explorables.text(3)


def test_setting_the_trait_moves_the_slider(explorables):
    explorables.run(4)
    field = view(explorables, 0).locator("[data-control=dim] input[type=text]")
    explorables.page.wait_for_function("(field) => field.value === '64'", arg=field.element_handle())
    explorables.page.wait_for_function("(root) => root.explorable.done", arg=view(explorables, 0).element_handle())
    assert view(explorables, 0).locator(".posenc-finding").inner_text() == DecayExplorer(dim=64, base=500.0).finding()


def test_it_lives_inside_a_box_of_widgets(explorables):
    boxed = view(explorables, 2)
    assert boxed.locator(".posenc-finding").inner_text() == FrequencyBank(dim=8).finding()


def test_it_follows_the_dark_theme(explorables):
    colour = "(root) => getComputedStyle(root).color"
    light = view(explorables, 0).evaluate(colour)
    explorables.command("apputils:change-theme", theme="JupyterLab Dark")
    explorables.page.wait_for_function(
        "([root, light]) => getComputedStyle(root).color !== light", arg=[view(explorables, 0).element_handle(), light]
    )


def test_no_other_host_was_asked(explorables):
    assert explorables.watch.foreign == []


def test_your_own_slider_redraws_its_figure(browser, lab):
    notebook = Notebook(browser, lab, "slider")
    last = len(chapter_cells()) - 1
    for index in range(last + 1):
        notebook.run(index)
    page = notebook.page
    cell = page.locator(".jp-CodeCell").nth(last)
    cell.locator(".js-plotly-plot").wait_for(state="attached")
    title = "() => [...document.querySelectorAll('.jp-CodeCell .js-plotly-plot')].at(-1)?.layout?.title?.text"
    assert page.evaluate(title) == f"S(1024) = {decay(1024, inv_freq(128)):.3f}"
    handle = cell.locator(".widget-slider, .jupyter-widgets").get_by_role("slider").nth(1)
    handle.press("ArrowRight")
    wanted = f"S(1024) = {decay(1024, inv_freq(130)):.3f}"
    page.wait_for_function(f"(wanted) => ({title})() === wanted", arg=wanted)
    assert notebook.watch.foreign == []
