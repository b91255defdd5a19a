"""Every wrong answer that an assignment's page can run, in the page: it is told there what it is told on the machine.

    python -m course.tests.in_page [NUMBER …]

takes the built book (`make book`).
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from course.grade import NUMBERS, assignment
from course.private.bank import bank
from tests.book.python.assignments import try_answers
from tests.book.site.browser import launch, require_site, serve

_SHORT = "NumPy's own whole numbers have 32 bits in a page; what is told there asks for np.int64"
# What a page tells otherwise than this machine, and why.
DIFFERENCES = {
    1: dict.fromkeys(
        (
            *("period 2^i", "truth values of a mask"),
            *("these are remainders, not digits", "these are the values of the bits, not 0 and 1"),
        ),
        _SHORT,
    )
}


def try_bank(browser: Browser, url: str, number: int) -> dict[str, Any]:
    """The bank's answers to an assignment, in its page: wrong ones, and right ones of other kinds."""
    wrong = {
        name: {title: source for title, (_, source) in answers.items()} for name, answers in bank(number).WRONG.items()
    }
    answers = {name: told | bank(number).RIGHT.get(name, {}) for name, told in wrong.items()}
    return try_answers(browser, url, number, assignment(number).questions, answers, DIFFERENCES.get(number, ()))


def main() -> None:
    """The command line; exit 1 where something is told otherwise."""
    parser = argparse.ArgumentParser(prog="python -m course.tests.in_page", description=str(__doc__).partition("\n")[0])
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help="assignments; all if none is named")
    wanted = parser.parse_args().numbers or NUMBERS
    faults: list[str] = []
    with serve(require_site()) as url, sync_playwright() as playwright, launch(playwright) as browser:
        for number in wanted:
            row = try_bank(browser, url, number)
            print(f"assignment {number}: {row['tried']} of {row['answers']} answers run in the page", flush=True)
            faults += row["faults"]
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
