"""Compare the `original` of every claim with the text of the notes, which are not part of the repository.

`python -m book.claims.originals --sources DIR`, where the name of each note's file in DIR begins with its number.
What separates two pieces of a quotation is an ellipsis, …; they have to occur in that order. Markup, spaces and the
delimiters of formulas are left out of the comparison, every other character counts.
"""

from __future__ import annotations

import argparse
import html
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from book.claims.evidence import NOTES, Claim, load_manifest

HTML = re.compile(r"</?[a-z][^<>]*>", re.I)
MARKUP = re.compile(r"\\(?:[()\[\]*, ;\\]|q?quad|mathbf|(?:begin|end)\{\w+\})|\[(?=[\w.]+\]\()|\]\([^)]*\)|[\s$*`#|{}]")


def plain(text: str) -> str:
    """A text without markup and spaces."""
    return MARKUP.sub("", text)


def astray(claim: Claim, notes: dict[str, str]) -> Iterator[str]:
    """The pieces of a claim's quotations that are not in their note, or not in this order."""
    for note, original in claim.original.items():
        rest = notes[note]
        for piece in original.split("…"):
            _, found, after = rest.partition(plain(piece))
            if found:
                rest = after
            else:
                yield f"{claim.id}, note {note}: {piece}"


def main() -> int:
    """Print what is not found; 1 if there is any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True, help="the folder with the notes")
    folder = parser.parse_args().sources
    files = {note: next(folder.glob(f"{note}*")).read_text(encoding="utf-8") for note in NOTES}
    notes = {
        note: plain(html.unescape(HTML.sub("", text)) if text.lstrip().startswith("<") else text)
        for note, text in files.items()
    }
    claims = [claim for claim in load_manifest() if claim.original]
    lost = [line for claim in claims for line in astray(claim, notes)]
    print(*lost, f"{len(claims)} claims of the notes, {len(lost)} pieces not found", sep="\n")
    return bool(lost)


if __name__ == "__main__":
    sys.exit(main())
