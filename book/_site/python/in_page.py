"""Python in the pages: what a page loads on a click, and the addresses of its cells.

Everything that Python needs is brought by scripts, as gzip in base64: on pages that are opened from disk a browser
fetches nothing else. Without the parts of tools/page_parts.py there is no button, and nothing of this is written.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.metadata as metadata
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from book._site.words import words
from posenc._sentences import in_language
from tools import numpy_wasm, page_parts

ROOT = Path(__file__).resolve().parents[3]

HERE = Path(__file__).resolve().parent
FOLDER = "posenc/python"  # below _static
OF_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
RECORDED = "posenc_lab/recorded/"
# of each package what a page has no use for, or has already
IDLE = re.compile(
    r"(^|/)(tests?|__pycache__|torch|dask|cupy|labextension|datasets|matplotlylib|figure_factory|express)/"
    r"|package_data/.*\.js$|dist-info/(?!METADATA)|\.(pyc|pyi|safetensors)$|^\.\."
    rf"|{RECORDED}|^posenc(_lab)?/(README\.md|LICENSE|pyproject\.toml|build/)"
)
PROSE_STUB = "YOUR ANSWER HERE"  # what an assignment holds where an answer in words belongs
MOMENT = (2026, 1, 1, 0, 0, 0)  # the same bytes for the same files

Files = Iterator[tuple[str, bytes]]


# ---- packs ----------------------------------------------------------------------------------------------------------


def _installed(*names: str) -> Files:
    """The files of installed packages that a page needs."""
    for name in names:
        for path in metadata.distribution(name).files or ():
            if not IDLE.search(path.as_posix()):
                yield path.as_posix(), Path(str(path.locate())).read_bytes()


def _of_the_book() -> Files:
    """The package posenc with the laboratory's results, what it stands on besides NumPy, and what runs the cells."""
    source = ROOT / "src"
    for path in sorted([*(source / "posenc").rglob("*"), *(source / "posenc_lab").rglob("*")]):
        name = path.relative_to(source).as_posix()
        if path.is_file() and not IDLE.search(name):
            yield name, Path(str(in_language(path, path.parent.name))).read_bytes()
    yield from _installed("traitlets", "array-api-compat", "ipywidgets", "comm")
    shims = HERE / "shims"
    for path in sorted(shims.rglob("*.py")):
        yield path.relative_to(shims).as_posix(), path.read_bytes()
    for path in (HERE / "page_cells.py", HERE.parent / "outputs" / "plotly_figure.py"):
        yield path.name, path.read_bytes()


def _recorded() -> Files:
    """What the checks of assignments compare with."""
    for path in sorted((ROOT / "src" / RECORDED).glob("*.gz")):
        yield f"{RECORDED}{path.name}", path.read_bytes()


def _members(archive: Path) -> Files:
    with zipfile.ZipFile(archive) as opened:
        for name in opened.namelist():
            yield name, opened.read(name)


def _zip(files: Files) -> bytes:
    """An archive without compression: gzip shortens all of it at once, and Python reads it sooner."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name, MOMENT), content)
    return target.getvalue()


def _kept(name: str, content: bytes) -> str:
    """A pack's script, made once for each content: to shorten them all takes half a minute."""
    path = ROOT / "_build" / "page_parts" / "packs" / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}.js"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob(f"{name}-*.js"):
            old.unlink()
        text = base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()
        path.write_text(f'posencPython.bring("{name}", "{text}");\n', encoding="ascii")
    return path.read_text(encoding="ascii")


def _model(name: str) -> Files:
    """A trained model that the metadata of a notebook names."""
    path = f"posenc_lab/data/{name}.safetensors"
    yield path, (ROOT / "src" / path).read_bytes()


def packs(parts: Path, models: Iterable[str]) -> dict[str, str]:
    """The scripts by the name of what they bring, in the order in which they are needed."""
    contents = {name: (parts / name).read_bytes() for name in OF_PYODIDE}
    contents["python_stdlib.zip"] = _zip(_members(parts / "python_stdlib.zip"))
    contents["numpy"] = _zip(_members(numpy_wasm.wheel()))
    contents["book"] = _zip(_of_the_book())
    contents["plotly"] = _zip(_installed("plotly", "narwhals", "packaging"))
    contents["recorded"] = _zip(_recorded())
    contents |= {name: _zip(_model(name)) for name in models}
    return {name: _kept(name, content) for name, content in contents.items()}


# ---- scripts --------------------------------------------------------------------------------------------------------


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def page_script(scripts: dict[str, str], parts: Path, models: Iterable[str]) -> str:
    """The page's half: work.js and page.js with their words, the worker's source, and what there is to bring."""
    info = json.loads((parts / "pyodide-lock.json").read_text(encoding="utf-8"))["info"]
    facts = {
        "words": words("python"),
        "worker": f"const info = {json.dumps(info)};\n{_read('worker.js')}",
        "packs": [{"name": name, "bytes": len(script)} for name, script in scripts.items()],
        "models": sorted(models),  # packs that only those pages bring whose notebook names them
    }
    given = "".join(f"const {name} = {json.dumps(value, ensure_ascii=False)};\n" for name, value in facts.items())
    return f"(() => {{\n{given}{_read('work.js')}{_read('page.js')}}})();\n"


def start_script(scripts: dict[str, str], models: Iterable[str]) -> str:
    """What every page with cells loads: its buttons, and nothing else before one is pressed."""
    everywhere = scripts.keys() - {"recorded", *models}
    megabytes = round(sum(len(scripts[name]) for name in everywhere) / 1e6)
    said = json.dumps(words("python")["start"], ensure_ascii=False).replace("{megabytes}", str(megabytes))
    return f"(() => {{\nconst words = {said};\n{_read('start.js')}}})();\n"


def page_notebook(path: Path) -> dict[str, Any]:
    """A notebook without its outputs, as the page runs it and as a reader takes it away."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return dict(notebook)


# ---- the build ------------------------------------------------------------------------------------------------------


def _parts() -> Path | None:
    folder = page_parts.folder()
    return folder if folder.exists() else None


def name_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Give every cell on a page, and every place for an answer in words, the address `cell-` and its id."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix != ".ipynb":
        return
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for container in doctree.findall(nodes.container):
        if container.get("nb_element") == "cell_code":
            address = f"cell-{cells[container['cell_index']]['id']}"
            if address not in container["ids"]:
                container["ids"].append(address)
    in_words = [cell for cell in cells if cell["cell_type"] == "markdown" and "nbgrader" in cell["metadata"]]
    places = [text for text in doctree.findall(nodes.paragraph) if text.astext() == PROSE_STUB]
    for cell, place in zip(in_words, places, strict=True):
        place["ids"].append(f"cell-{cell['id']}")


def add_button(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Load the buttons on pages with cells."""
    if app.builder.format != "html" or doctree is None or _parts() is None:
        return
    if any(node.get("nb_element") == "cell_code" for node in doctree.findall(nodes.container)):
        app.add_js_file(f"{FOLDER}/start.js", loading_method="defer", **{"data-page": pagename.replace("/", "-")})
        app.add_css_file(f"{FOLDER}/page.css")


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write what a page loads on a click."""
    parts = _parts()
    if exception or app.builder.format != "html" or parts is None:
        return
    folder = Path(app.outdir) / "_static" / FOLDER
    (folder / "pages").mkdir(parents=True, exist_ok=True)
    paths = {docname: Path(app.env.doc2path(docname)) for docname in sorted(app.env.found_docs)}
    notebooks = {docname: page_notebook(path) for docname, path in paths.items() if path.suffix == ".ipynb"}
    models = {name for notebook in notebooks.values() for name in notebook["metadata"].get("models", ())}
    scripts = packs(parts, sorted(models))
    for name, script in scripts.items():
        (folder / f"{name}.js").write_text(script, encoding="ascii")
    written = {
        "python.js": page_script(scripts, parts, models),
        "start.js": start_script(scripts, models),
        "page.css": _read("page.css"),
    }
    written["editor.js"] = (parts / "editor.js").read_text(encoding="utf-8")
    written["licences.txt"] = (parts / "licences.txt").read_text(encoding="utf-8")
    for docname, notebook in notebooks.items():
        given = f"{json.dumps(paths[docname].name)}, {json.dumps(notebook, ensure_ascii=False)}"
        written[f"pages/{docname.replace('/', '-')}.js"] = f"posencPython.take({given});\n"
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register the hooks: the files early, so that what looks over the whole site sees them."""
    app.connect("doctree-read", name_cells)
    app.connect("html-page-context", add_button)
    app.connect("build-finished", write, priority=100)
