"""The Sphinx extension without a browser: what pages are read anew for, launch buttons, outputs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docutils import nodes

from book import _site
from book._site import patches
from book._site.outputs import render
from book._site.pages import cite
from tests.book.site.browser import ROOT
from tools import execute
from tools.notebooks import dump, load

PLOTLY = render.PLOTLY
VIEW = render.WIDGET_VIEW


# ---- what a page is read anew for ---------------------------------------------------------------------------------


def inputs(text: str, tmp_path: Path) -> set[str]:
    """The files of the package whose change has a page of this text read anew."""
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    noted: list[str] = []
    env = SimpleNamespace(docname="page", doc2path=lambda _: str(page), note_dependency=noted.append)
    _site.note_inputs(SimpleNamespace(env=env), nodes.container())  # type: ignore[arg-type]
    return {Path(os.path.relpath(path, ROOT / "src" / "posenc")).as_posix() for path in noted}


def test_a_page_is_read_anew_for_what_its_directives_show(tmp_path: Path) -> None:
    assert inputs("No directive.", tmp_path) == set()
    of_one = inputs("```{explorable} DecayExplorer\n```", tmp_path)
    assert {"js/decay_explorer.json", "js/shell.json", "widgets/decay_explorer.py"} <= of_one
    assert not {"js/rotation_planes.json", "rope.py"} & of_one
    drawn = inputs((ROOT / "book" / "findings.md").read_text(encoding="utf-8"), tmp_path)
    assert {"figures/findings.py", "lab/real_results.py", "../posenc_lab/data/real_model.npz"} <= drawn
    assert "js/doctor.json" in inputs("```{doctor}\n```", tmp_path)
    assert {"rotary.py", "../posenc_lab/data/benchmarks.npz"} <= inputs("```{claims}\n```", tmp_path)


def built(folder: Path) -> dict[str, bytes]:
    """Build the book in a copy of the repository; what the site holds."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(folder / "src"), str(folder)))}
    subprocess.run([sys.executable, "-m", "tools.book"], cwd=folder, env=environment, check=True)
    site = folder / "_build" / "html"
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in sorted(site.rglob("*")) if path.is_file()}


@pytest.mark.release
def test_a_build_of_what_changed_equals_one_of_all(tmp_path: Path) -> None:
    """Nothing new changes no file; a text, a comment and an explorable's label give what a build from nothing gives."""
    folder = tmp_path / "copy"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", "_build", "__pycache__", ".*_cache", ".venv"))
    for name in (".jupyter_cache", "page_parts"):
        if (ROOT / "_build" / name).exists():
            shutil.copytree(ROOT / "_build" / name, folder / "_build" / name)
    before = built(folder)
    assert differing(before, built(folder)) == []

    chapter = folder / "notebooks" / "08_long_range_decay.ipynb"
    notebook = load(chapter)
    next(cell for cell in notebook["cells"][1:] if cell["cell_type"] == "markdown")["source"].append("\n\nΩ.")
    next(cell for cell in notebook["cells"][1:] if cell["cell_type"] == "code")["source"].append("\n# more")
    chapter.write_text(dump(notebook), encoding="utf-8")
    words = folder / "src" / "posenc" / "js" / "decay_explorer.json"
    catalogue = json.loads(words.read_text(encoding="utf-8"))
    words.write_text(json.dumps(catalogue | {"title": f"{catalogue['title']}, once more"}), encoding="utf-8")
    part = built(folder)
    assert "notebooks/08_long_range_decay.html" in differing(before, part)
    for name in ("html", ".doctrees"):
        shutil.rmtree(folder / "_build" / name)
    # Sphinx's own index for its search forgets the package's names on pages that it does not write again
    assert set(differing(part, built(folder))) <= {"searchindex.js"}


def differing(first: dict[str, bytes], second: dict[str, bytes]) -> list[str]:
    """The names of files that are not the same in both."""
    return [name for name in sorted({*first, *second}) if first.get(name) != second.get(name)]


# ---- configuration ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("url", "kept"), [("", False), ("https://github.com/someone/turn-by-turn", True)])
def test_launch_buttons_and_edit_links_need_an_address(url: str, kept: bool) -> None:
    options = {"repository_url": url, "launch_buttons": {"colab_url": "x"}}
    config = SimpleNamespace(html_theme_options=options, language="en")
    _site.configure(None, config)  # type: ignore[arg-type]
    assert ("launch_buttons" in config.html_theme_options) == config.html_theme_options["use_edit_page_button"] == kept
    assert config.nb_execution_cache_path == str(execute.CACHE)


def test_a_chapter_has_a_bibtex_entry_at_the_address_of_its_page() -> None:
    found = cite.entry(
        "notebooks/04_sinusoidal_encoding",
        "04 Sinusoidal positional encoding",
        "https://github.com/someone/turn-by-turn",
    )
    assert found.startswith("@incollection{turn_by_turn_04,\n")
    assert "  title = {{Sinusoidal positional encoding}},\n" in found
    assert "  url = {https://someone.github.io/turn-by-turn/notebooks/04_sinusoidal_encoding.html},\n" in found
    assert found.count("{") == found.count("}")


# ---- outputs ------------------------------------------------------------------------------------------------------


def figure(**layout: Any) -> dict[str, Any]:
    return {"data": [{"type": "scatter", "y": [1, 2]}], "layout": layout, "config": {"plotlyServerURL": "https://x"}}


def test_plotly_html_has_caption_alternative_text_and_room() -> None:
    title = {"text": "θ<sub>i</sub><br><b>falls</b>", "subtitle": {"text": "a subtitle"}}
    html = render.plotly_html(figure(title=title, meta={"alt": 'A "curve"'}, height=300))
    assert "<figcaption>θ<sub>i</sub> <b>falls</b><br>a subtitle</figcaption>" in html
    assert 'role="img" aria-label="A &quot;curve&quot;" style="--posenc-room:300px;--posenc-phone-room:300px"' in html
    assert "<noscript><p>A &quot;curve&quot;" in html
    assert "plotlyServerURL" not in html


def test_figure_without_words_is_described_by_what_it_draws() -> None:
    drawn = figure(title="S(Δ) = 0.2", xaxis={"title": {"text": "distance <i>Δ</i>"}})
    drawn["data"] = [{"name": "law"}, {"name": "S(Δ)"}, {"name": "law"}]
    assert 'aria-label="S(Δ) = 0.2. A plot of law, S(Δ) against distance Δ"' in render.plotly_html(drawn)


def test_plotly_html_is_inert() -> None:
    """Nothing in a figure's strings becomes markup or ends the script element."""
    hostile = figure(title="<img src=x onerror=alert(1)>", annotations=[{"text": "</script><b>"}])
    html = render.plotly_html(hostile)
    assert "<img" not in html
    assert html.count("</script>") == 1
    body = html.partition('<script type="application/json">')[2].partition("</script>")[0]
    assert json.loads(body)["layout"]["annotations"][0]["text"] == "</script><b>"


class Renderer:
    """As much of myst-nb's renderer as the widget renderer touches."""

    def __init__(self, states: dict[str, Any]) -> None:
        metadata = {"widgets": {render.WIDGET_STATE: {"state": states}}} if states else {}
        self.renderer = SimpleNamespace(nb_client=SimpleNamespace(nb_metadata=metadata))
        self.warnings: list[str] = []
        self.logger = SimpleNamespace(warning=lambda message, **_: self.warnings.append(message))

    def render_stdout(self, output: dict[str, Any], *_: Any) -> list[nodes.Element]:
        return [nodes.literal_block("", output["text"])]

    def render_mime_type(self, data: Any) -> list[nodes.Element]:
        return render.OwnOutput.handle_mime(self, data, False) or []  # type: ignore[arg-type]


def view(renderer: Renderer) -> list[nodes.Element] | None:
    data = render.MimeData(VIEW, {"model_id": "m"})  # type: ignore[arg-type]
    return render.WidgetOutput.handle_mime(renderer, data, False)  # type: ignore[arg-type]


def model(name: str, module: str = "@jupyter-widgets/controls", **state: Any) -> dict[str, Any]:
    return {"model_name": name, "model_module": module, "state": state}


def interact(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "m": model(
            "VBoxModel", _dom_classes=["widget-interact"], children=["IPY_MODEL_a", "IPY_MODEL_b", "IPY_MODEL_o"]
        ),
        "a": model("FloatLogSliderModel", description="base", value=10000.0),
        "b": model("DropdownModel", description="kind", _options_labels=["half", "interleaved"], index=1),
        "o": model("OutputModel", "@jupyter-widgets/output", outputs=outputs),
    }


@pytest.mark.parametrize(
    ("states", "warning"),
    [
        ({}, "no state"),
        (interact([]), "no opening output"),
        (interact([{"output_type": "error", "ename": "ValueError", "evalue": "odd dim"}]), "odd dim"),
    ],
)
def test_a_widget_that_cannot_be_shown_is_a_warning(states: dict[str, Any], warning: str) -> None:
    renderer = Renderer(states)
    view(renderer)
    assert any(warning in message for message in renderer.warnings)


def test_an_explorable_brings_its_own_html() -> None:
    renderer = Renderer({"m": model("AnyModel", "anywidget")})
    assert view(renderer) == []
    assert not renderer.warnings


# ---- equations and directives ---------------------------------------------------------------------------------------


def test_tagged_equations_are_not_split() -> None:
    tagged, plain = r"\begin{aligned} a &= b \\ c &= d \end{aligned} \tag{1}", r"a \\ b"
    doctree = nodes.container()
    doctree += [nodes.math_block(text, text, nowrap=False) for text in (tagged, plain)]
    patches.free_tagged_equations(None, doctree)  # type: ignore[arg-type]
    first, second = doctree.findall(nodes.math_block)
    assert first["nowrap"]
    assert first.astext() == rf"\[{tagged}\]"
    assert not second["nowrap"]
    assert second.astext() == plain
