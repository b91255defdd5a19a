"""Build the website once more with the pages for those who teach, apart from the students' own.

    python -m tools.instructors

The students' website, in _build/html, has none of these pages; this one lies in _build/instructors/_build/html.
"""

from __future__ import annotations

import argparse

import yaml

from tools import execute, page_parts
from tools.book import BUILD, build_pages
from tools.execute import ROOT

PAGES = ("book/instructors_guide", "book/instructors_plans")
CAPTION = "For those who teach"
FOLDER = BUILD / "instructors"
SITE = FOLDER / "_build" / "html"  # where Jupyter Book puts it


def contents() -> str:
    """The table of contents with the pages for those who teach."""
    students = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    students["parts"].append({"caption": CAPTION, "chapters": [{"file": page} for page in PAGES]})
    return yaml.safe_dump(students, sort_keys=False, allow_unicode=True)


def main() -> None:
    """Execute what has changed, build, and say where the pages are."""
    argparse.ArgumentParser(prog="python -m tools.instructors", description=__doc__).parse_args()
    execute.main()
    page_parts.make()
    FOLDER.mkdir(parents=True, exist_ok=True)
    toc = FOLDER / "_toc.yml"
    toc.write_text(contents(), encoding="utf-8")
    build_pages("--path-output", str(FOLDER), "--toc", str(toc))
    for page in PAGES:
        print((SITE / f"{page}.html").as_uri())


if __name__ == "__main__":
    main()
