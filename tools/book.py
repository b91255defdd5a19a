"""Build the website: execute the notebooks, then build the pages from what they gave.

python -m tools.book              build it
python -m tools.book linkcheck    ask every address outside the book whether it is there
python -m tools.book --pages book/doctor notebooks/05_rope_matrices
                                  build these pages and the first one alone, into _build/some
python -m tools.book --language en-XA
                                  build it in a language, into a folder of its name: its words are in book/languages,
                                  but for en-XA, which is for tests (tools/pseudo.py)
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

import yaml

from tools import execute, page_parts, pseudo
from tools.execute import ROOT

BUILD = ROOT / "_build"
SITE = BUILD / "html"
LANGUAGES = ROOT / "book" / "languages"


def cached() -> dict[str, object]:
    """When each notebook in the execution cache was executed."""
    with execute.open_cache() as cache:
        return {record.hashkey: record.created for record in cache.list_cache_records()}


def build(*options: str) -> bool:
    """Run `jupyter-book build` on the book; whether it went well, of which it prints the cause if not."""
    from jupyter_book.cli.main import main as jupyter_book  # here: it warns of Click 9, and others use SITE

    try:
        jupyter_book(["build", str(ROOT), *options], standalone_mode=False)
    except (RuntimeError, SystemExit):  # an error, or a warning with -W
        return False
    return True


def build_pages(*options: str) -> None:
    """Build the pages, warnings being errors, and make sure that nothing was executed; options are Jupyter Book's."""
    before = cached()
    print("Building the pages …", flush=True)
    if not build("-W", "-n", "--keep-going", *options):
        # Sphinx would not read the faulty page again, nor warn again: make it start afresh.
        shutil.rmtree(BUILD / ".doctrees", ignore_errors=True)
        sys.exit("The website was not built: each warning above counts as an error.")
    if cached() != before:
        sys.exit(
            "The build executed a notebook itself instead of taking it from the cache: "
            "does _config.yml use the cache of tools/execute.py?"
        )


def build_part(language: str, pages: list[str]) -> Path:
    """Build the pages that are named, or all, in a language, whatever they link to; where the website is.

    Notebooks are executed in English: what they print and draw has no other words, and explorables bring theirs.
    """
    folder = BUILD / (language or "some")
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    if language:
        os.environ["POSENC_WORDS"] = str(folder / "words" if language == pseudo.LANGUAGE else LANGUAGES / language)
        config["sphinx"]["config"] |= {"language": language, "locale_dirs": [f"book/languages/{language}/locale"]}
    if language == pseudo.LANGUAGE:
        pseudo.write(folder / "words")
    if pages:
        chapters = [{"file": page} for page in pages if page != toc["root"]]
        toc = {"format": toc["format"], "root": toc["root"], "chapters": chapters}
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {"_config.yml": config, "_toc.yml": toc}.items():
        (folder / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    options = ("--config", folder / "_config.yml", "--toc", folder / "_toc.yml", "--path-output", folder)
    if not build(*map(str, options)):
        sys.exit("The pages were not built.")
    return folder / "_build" / "html"


def main() -> None:
    """Execute, build, and say where the website is; or check the links."""
    parser = argparse.ArgumentParser(prog="python -m tools.book", description=__doc__.partition("\n")[0])
    parser.add_argument("task", nargs="?", choices=["linkcheck"], help="instead of building the website")
    parser.add_argument("--pages", nargs="+", metavar="PAGE", default=[], help="build these alone, into _build/some")
    parser.add_argument("--language", default="", help="of book/languages, or en-XA, with an accent on each letter")
    options = parser.parse_args()
    execute.main(
        [path for path in execute.chapters() if not options.pages or f"notebooks/{path.stem}" in options.pages]
    )
    if options.task == "linkcheck":
        sys.exit(not build("--builder", "linkcheck"))
    page_parts.make()
    if options.pages or options.language:
        site = build_part(options.language, options.pages)
    else:
        build_pages()
        site = SITE
    index = site / "index.html"
    print(f"\nThe book is in {site}")
    print(f"Open {index.as_uri()} in a browser, or run `make serve`.")


if __name__ == "__main__":
    main()
