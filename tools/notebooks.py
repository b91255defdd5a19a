"""Keep the notebooks clean: text outputs stay, figures and widgets do not.

    python -m tools.notebooks clean [FILE …]     rewrite the notebooks in the clean form
    python -m tools.notebooks --check [FILE …]   name those that are not clean; exit 1

Without files it takes all of notebooks/. The text outputs that are stored are
what nbval compares, so after a change that alters them: `python -m tools.execute
FILE`, then read the difference before committing it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# An output that holds any of these is a figure or a widget, whatever else it holds.
SHOWN = ("application/vnd.", "application/javascript", "text/html", "image/", "video/", "audio/")
SHOWS = "nbval-ignore-output"  # nbval's tag for a cell that has to run, and whose output is not compared
NOT_COMPARED = {SHOWS, "nbval-skip"}
KEPT = ("tags", "predict")  # of a cell's metadata; the second is what the website asks there
# Tags of a cell whose code is there to be read. A notebook that has no essential code has all of it read.
ESSENTIAL = "essential"
TO_READ = {ESSENTIAL, "exercise", "check"}
TABLE = "text/posenc-table"  # what a table is as HTML, beside its text, where the book executes a notebook
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def is_shown(output: dict) -> bool:
    """Whether an output is a figure or a widget rather than text."""
    return any(mime.startswith(SHOWN) for mime in output.get("data", {}))


def is_text(output: dict) -> bool:
    """Whether an output is text: printed, or the value of the cell's last line."""
    if output["output_type"] == "stream":
        return True
    return "text/plain" in output.get("data", {}) and not is_shown(output)


def as_printed(output: dict) -> dict:
    """An output; a table as the text that it prints elsewhere."""
    data = output.get("data", {})
    return type(output)(output_type="stream", name="stdout", text=data["text/plain"]) if TABLE in data else output


def in_one(outputs: Iterable[dict]) -> list[dict]:
    """The outputs; neighbouring pieces of one stream become one."""
    found: list[dict] = []
    for output in outputs:
        last = found[-1] if found else {}
        if output["output_type"] == "stream" and last.get("name") == output["name"]:
            last["text"] = joined(last["text"]) + joined(output["text"])
        else:
            found.append(output)
    return found


def joined(text: str | list[str]) -> str:
    """A notebook's text, which may be stored as a list of lines."""
    return text if isinstance(text, str) else "".join(text)


def text_of(cell: dict) -> str:
    """Everything a code cell's stored outputs say in text."""
    texts = (
        output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"]
        for output in cell.get("outputs", ())
        if is_text(output)
    )
    return "\n".join(joined(text) for text in texts)


def tags(cell: dict) -> list[str]:
    """The cell's tags."""
    return cell.get("metadata", {}).get("tags", [])


def is_setup(cell: dict) -> bool:
    """Whether a code cell only imports, sets something up, or makes an explorable: no page shows its code."""
    source = joined(cell["source"])
    if "from posenc.widgets import" in source:
        return True
    rest = [one for one in ast.parse(source).body if not isinstance(one, (ast.Import, ast.ImportFrom))]
    is_silent = not cell.get("outputs") and not {SHOWS, *TO_READ} & set(tags(cell))
    return is_silent and all(isinstance(one, ast.Expr) for one in rest)


def code_cells(cells: list[dict]) -> Iterator[tuple[dict, bool]]:
    """The cells whose code a page has, and whether it shows it at once; the rest is behind the page's switch."""
    marks = any(ESSENTIAL in tags(cell) for cell in cells)
    for cell in cells:
        if cell["cell_type"] == "code" and "remove-cell" not in tags(cell) and not is_setup(cell):
            yield cell, not marks or bool(TO_READ & set(tags(cell)))


def heading(notebook: dict) -> str:
    """The notebook's title: the first line of its first cell, a heading of level 1, or ``""``."""
    first = joined(notebook["cells"][0]["source"]).partition("\n")[0]
    return first.removeprefix("# ").strip() if first.startswith("# ") else ""


def load(path: Path) -> dict:
    """The notebook at ``path`` as plain data."""
    return json.loads(path.read_text(encoding="utf-8"))


def dump(notebook: dict) -> str:
    """The notebook as it is written to a file: as JupyterLab does, with sorted keys."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def compared_cells(path: Path) -> int:
    """How many cells of the notebook nbval compares a stored text with."""
    return sum(
        cell["cell_type"] == "code" and bool(text_of(cell)) and not NOT_COMPARED & set(tags(cell))
        for cell in load(path)["cells"]
    )


def clean_output(output: dict, count: int | None) -> dict:
    """An output without timings, colours of tracebacks, or its own numbering."""
    kept = {key: value for key, value in output.items() if key != "metadata"}
    if output["output_type"] in ("display_data", "execute_result"):
        kept["metadata"] = {}
    if output["output_type"] == "execute_result":
        kept["execution_count"] = count
    if output["output_type"] == "error":
        kept["traceback"] = []
    if output["output_type"] == "stream":
        kept["text"] = joined(output["text"])
    return kept


def clean_outputs(cell: dict) -> list[dict]:
    """The text outputs of a code cell."""
    cleaned: list[dict] = []
    for output in in_one(map(as_printed, cell["outputs"])):
        if is_shown(output):
            continue
        if output["output_type"] == "error" and "raises-exception" not in tags(cell):
            continue
        output = clean_output(output, cell["execution_count"])
        cleaned.append(output)
    for output in cleaned:
        if output["output_type"] == "stream":
            output["text"] = output["text"].splitlines(keepends=True)
    return cleaned


def clean(notebook: dict) -> dict:
    """The notebook in the form in which it is committed.

    Counts are renumbered from 1; a cell that was never run keeps no count, which
    the repository's tests report. Ids are kept; a missing or doubled one is
    replaced by the cell's place. A cell that shows a figure or a widget, which is
    not stored, is tagged so that nbval compares nothing.
    """
    notebook = copy.deepcopy(notebook)
    metadata = notebook["metadata"]
    notebook["metadata"] = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    notebook["metadata"] |= {k: metadata[k] for k in ("description", "models") if k in metadata}
    notebook["nbformat"], notebook["nbformat_minor"] = 4, 5
    seen: set[str] = set()
    count = 0
    for place, cell in enumerate(notebook["cells"], start=1):
        if not cell.get("id") or cell["id"] in seen:
            cell["id"] = f"cell-{place}"
        seen.add(cell["id"])
        cell["metadata"] = {key: value for key, value in cell["metadata"].items() if key in KEPT and value}
        cell["source"] = joined(cell["source"]).splitlines(keepends=True)
        if cell["cell_type"] != "code":
            continue
        if cell["execution_count"] is not None:
            count += 1
            cell["execution_count"] = count
        if SHOWS not in tags(cell) and any(is_shown(output) for output in cell["outputs"]):
            cell["metadata"]["tags"] = [*tags(cell), SHOWS]
        cell["outputs"] = clean_outputs(cell)
    return notebook


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say which are not clean")
    parser.add_argument("words", nargs="*", metavar="clean FILE …")
    options = parser.parse_args()
    words = options.words
    if words[:1] == ["clean"]:
        words.pop(0)
    paths = [Path(word) for word in words] or sorted(ROOT.glob("notebooks/*.ipynb"))
    if missing := [word for word, path in zip(words, paths, strict=False) if not path.is_file()]:
        parser.error(f"there is no notebook {missing[0]}")
    unclean = []
    for path in paths:
        before = path.read_text(encoding="utf-8")
        after = dump(clean(json.loads(before)))
        if before != after:
            unclean.append(path.name)
            if not options.check:
                path.write_text(after, encoding="utf-8")
                print(f"{path.name}: cleaned")
    if options.check and unclean:
        sys.exit(f"Not clean: {', '.join(unclean)}; run `python -m tools.notebooks clean` and look at the change.")


if __name__ == "__main__":
    main()
