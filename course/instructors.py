"""Build the website once more with the pages for those who teach, apart from the students' own.

    python -m course.instructors

The students' website, in _build/html, has none of these pages; this one lies in _build/instructors/_build/html.
"""

from __future__ import annotations

import argparse

import yaml

from tools import execute, page_parts
from tools.book import BUILD, build_pages
from tools.execute import ROOT

PAGES = ("course/guide", "course/plans")
CAPTION = "For those who teach"
FOLDER = BUILD / "instructors"
SITE = FOLDER / "_build" / "html"  # where Jupyter Book puts it


def contents() -> str:
    """The table of contents with the pages for those who teach."""
    students = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    students["parts"].append({"caption": CAPTION, "chapters": [{"file": page} for page in PAGES]})
    return yaml.safe_dump(students, sort_keys=False, allow_unicode=True)


def configuration() -> str:
    """The book's configuration with the directive of the plans."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    settings["sphinx"]["local_extensions"]["course.plans"] = "."
    settings["sphinx"]["config"]["extensions"].append("course.plans")
    return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)


def main() -> None:
    """Execute what has changed, build, and say where the pages are."""
    argparse.ArgumentParser(prog="python -m course.instructors", description=__doc__).parse_args()
    execute.main()
    page_parts.make()
    FOLDER.mkdir(parents=True, exist_ok=True)
    toc, config = FOLDER / "_toc.yml", FOLDER / "_config.yml"
    toc.write_text(contents(), encoding="utf-8")
    config.write_text(configuration(), encoding="utf-8")
    build_pages("--path-output", str(FOLDER), "--toc", str(toc), "--config", str(config))
    for page in PAGES:
        print((SITE / f"{page}.html").as_uri())


if __name__ == "__main__":
    main()
