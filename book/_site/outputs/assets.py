"""What is copied beside the pages: MathJax, plotly.js, the book's face, the page host and the explorables' modules."""

from __future__ import annotations

import importlib.util
import json
import logging
import re
import shutil
import zlib
from functools import cache
from html import escape
from pathlib import Path

from sphinx.application import Sphinx

from book._site import words
from book._site.style import font

SITE = Path(__file__).resolve().parents[1]
FOLDER = "posenc"  # below _static

COPIED = (
    *("outputs/host.js", "pages/details.js", "pages/front.js", "pages/predict.js", "pages/search.js"),
    *("reference/terms.js", "reference/claims.js"),
    "pages/card.png",
    *("style/site.css", "pages/details.css", "pages/front.css", "pages/predict.css"),
    *("reference/terms.css", "reference/map.css", "reference/doctor.css"),
)

# The parts of MathJax (2.3 of 24 MB) that the pages can ask for.
MATHJAX_PARTS = ("tex-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions")


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"the website needs the package {name}; install requirements.txt")
    return Path(spec.origin).parent


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)


def copy_files(static: Path) -> None:
    """MathJax, plotly.js of the installed Python package, so that the two cannot differ, and the book's own files."""
    mathjax = _package_folder("sphinx-mathjax-offline") / "static" / "mathjax"
    for part in MATHJAX_PARTS:
        _copy(mathjax / part, static / "mathjax" / part)
    _copy(_package_folder("plotly") / "package_data" / "plotly.min.js", static / FOLDER / "plotly.min.js")
    for name in COPIED:
        if name.endswith(".js"):
            (static / FOLDER / Path(name).name).write_text(words.script(name), encoding="utf-8")
        else:
            _copy(SITE / name, static / FOLDER / Path(name).name)


def write_explorables(static: Path) -> None:
    """The scripts of the explorables and of the doctor, and their style sheet."""
    from posenc import widgets  # here, so that a fault in the package is reported as the build's own

    folder = static / FOLDER / "modules"
    folder.mkdir(parents=True, exist_ok=True)
    for name, script in (widgets.scripts() | widgets.checkpoints()).items():
        (folder / f"{name}.js").write_text(script, encoding="utf-8")
    source = json.dumps(widgets.bundle("doctor.js"))
    imported = f'import(URL.createObjectURL(new Blob([{source}], {{ type: "text/javascript" }})))'
    doctor = f"{imported}.then(({{ start }}) => start(document.getElementById('doctor-form')));\n"
    (static / FOLDER / "doctor.js").write_text(doctor, encoding="utf-8")
    (static / FOLDER / "explorable.css").write_text(widgets.stylesheet(), encoding="utf-8")


# What the theme's pages load and the book never runs. The search's index serves hits while one types; the book searches
# on its own page. Words found are marked only where there is no index, and then inside formulas too.
IDLE_SCRIPTS = ("searchtools", "language_data", "searchindex", "sphinx_highlight")


OWN = re.compile(r'(?<=[/"])(_static/(?:posenc/|mathjax/|mystnb\.)[^"?]+\.(?:js|css))(?:\?v=\w*)?"')


def let_sliders_go_first(output: Path) -> None:
    """Take idle scripts off every page but the search, and have the others wait until the page is read.

    A script that does not wait holds up all that stands below it, and a deferred one every deferred one after it. Nor
    are the theme's own fetched before all others: they move no slider.
    What the theme's templates say in English only is said in the words of the pages.
    The theme's 1.5 MB script of icons goes everywhere: web fonts draw them, and custom icons, its own, are not used.
    What this module and myst-nb wrote is named by its version now: Sphinx has seen that of the build before, or none.
    """

    @cache
    def version(name: str) -> str:
        return f"{zlib.crc32((output / name).read_bytes()):08x}"

    theme = words.words("pages")["theme"]
    (output / "_static" / "scripts" / "fontawesome.js").unlink(missing_ok=True)  # a second build brings none
    for path in output.rglob("*.html"):
        before = path.read_text(encoding="utf-8")
        page = re.sub(r"<script\b[^>]*/fontawesome\.js[^>]*></script>\n?", "", before)
        page = re.sub(r'<link rel="preload" as="script"[^>]*>\n?', "", page)
        for in_english, said in theme.items():
            page = page.replace(f'="{in_english}"', f'="{escape(said)}"')
        page = OWN.sub(lambda address: f'{address[1]}?v={version(address[1])}"', page)
        if path.name != "search.html":
            page = re.sub(rf"<script\b[^>]*\b(?:{'|'.join(IDLE_SCRIPTS)})\.js[^>]*></script>\n?", "", page)
            # scripts within the page write to the options, so that one does not wait
            page = re.sub(
                r"<script (?![^>]*\b(?:defer|async|documentation_options)\b)(?=[^>]*\bsrc=)", "<script defer ", page
            )
        if page != before:
            path.write_text(page, encoding="utf-8")


def slim_font_awesome(output: Path) -> None:
    """Keep the glyphs that are used. Font Awesome as the theme ships it is 80 % of a plain page."""
    static = output / "_static"

    def read(pattern: str, folder: Path) -> str:
        return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in folder.rglob(pattern))

    theme = (static / "styles" / "pydata-sphinx-theme.css").read_text(encoding="utf-8")
    names = set(re.findall(r"fa-([a-z0-9-]+)", read("*.html", output) + read("*.js", static)))
    rules = re.findall(r'([^{}]+)\{(?:--fa|content):\s*"\\([0-9a-f]+)', theme)
    shown = {int(code, 16) for selector, code in rules if names & set(re.findall(r"\.fa-([a-z0-9-]+)", selector))}
    # icons that style sheets name by their code point, escaped or as a character
    sheets = re.sub(r"\.fa-[^{}]*\{[^{}]*\}", "", read("*.css", static))
    shown |= {int(code, 16) for code in re.findall(r"\\([ef][0-9a-f]{3})\b", sheets)}
    shown |= {ord(character) for character in re.findall("[\ue000-\uf8ff]", sheets)}

    for path in (static / "vendor" / "fontawesome" / "webfonts").iterdir():
        if path.suffix == ".woff2":
            font.reduced(path, shown).save(path)
        else:
            path.unlink()  # fallback formats that no browser with this page's JavaScript asks for


def forget_pages(app: Sphinx) -> None:
    """Remove the pages of an earlier build that the book does not have any more, and their sources."""
    output = Path(app.outdir)
    for path in [path for folder in ("book", "notebooks") for path in output.glob(f"{folder}/**/*.html")]:
        page = path.relative_to(output).with_suffix("").as_posix()
        if page not in app.env.found_docs:
            path.unlink()
            for source in (output / "_sources" / page).parent.glob(f"{path.stem}.*"):
                source.unlink()


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Complete the built site."""
    if exception or app.builder.format != "html":
        return
    output = Path(app.outdir)
    static = output / "_static"
    forget_pages(app)
    copy_files(static)
    write_explorables(static)
    let_sliders_go_first(output)
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells of every table otherwise
    slim_font_awesome(output)
    font.write_face(_package_folder(font.PACKAGE), output)


def setup(app: Sphinx) -> None:
    """Register the hook: late, after every other extension has copied its files."""
    app.connect("build-finished", finish, priority=900)
