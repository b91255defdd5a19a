"""Build the website: execute the notebooks, then build the pages from what they gave.

python -m tools.book              build it
python -m tools.book linkcheck    ask every address outside the book whether it is there
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys

from tools import execute, page_parts
from tools.execute import ROOT

BUILD = ROOT / "_build"
SITE = BUILD / "html"
JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"


def cached() -> dict[str, object]:
    """When each notebook in the execution cache was executed."""
    with execute.open_cache() as cache:
        return {record.hashkey: record.created for record in cache.list_cache_records()}


def jupyter_book(*options: str) -> int:
    """Run `jupyter-book build` on the book; its exit status."""
    return subprocess.call([sys.executable, "-c", JUPYTER_BOOK, "build", ".", *options], cwd=ROOT)


def build_pages(*options: str) -> None:
    """Build the pages, warnings being errors, and make sure that nothing was executed; options are Jupyter Book's."""
    before = cached()
    print("Building the pages …", flush=True)
    if jupyter_book("-W", "-n", "--keep-going", *options):
        # Sphinx would not read the faulty page again, nor warn again: make it start afresh.
        shutil.rmtree(BUILD / ".doctrees", ignore_errors=True)
        sys.exit("The website was not built: each warning above counts as an error.")
    if cached() != before:
        sys.exit(
            "The build executed a notebook itself instead of taking it from the cache: "
            "does _config.yml use the cache of tools/execute.py?"
        )


def main() -> None:
    """Execute, build, and say where the website is; or check the links."""
    parser = argparse.ArgumentParser(prog="python -m tools.book", description=__doc__.partition("\n")[0])
    parser.add_argument("task", nargs="?", choices=["linkcheck"], help="instead of building the website")
    task = parser.parse_args().task
    execute.main()
    if task == "linkcheck":
        sys.exit(jupyter_book("--builder", "linkcheck"))
    page_parts.make()
    build_pages()
    index = SITE / "index.html"
    print(f"\nThe book is in {SITE}")
    print(f"Open {index.as_uri()} in a browser, or run `make serve`.")


if __name__ == "__main__":
    main()
