"""The book in Firefox and in WebKit: every page, and every explorable compared with Python.

    python -m release.browsers [NAME …] [--only WORD]

takes the built book (`make book`) through Firefox and WebKit, or those that are named, and ends with a table that also
goes to _build/report/browsers.json. It needs, on Debian or Ubuntu, the packages firefox-esr or firefox,
webkit2gtk-driver and xvfb.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.book.site.browser import ROOT, require_site

BATTERY = Path(__file__).with_name("battery.py")
NAMES = ("firefox", "webkit")
REPORT = ROOT / "_build" / "report" / "browsers.json"


class Table:
    """Counts, for each browser and each way to the site, what passed and what did not."""

    def __init__(self) -> None:
        self.versions: dict[str, str] = {}
        self.counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self.failed: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> object:
        """Note a browser's version when it has started."""
        value = yield
        if fixturedef.argname == "browser":
            browser, _ = value
            self.versions[browser.name] = browser.version
        return value

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test once, by its call or else by what did not pass."""
        test, _, rest = report.nodeid.rpartition("::")[2].partition("[")
        if report.passed and report.when != "call":
            return
        column = " ".join(re.findall(r"\b(?:firefox|webkit|disk|http)\b", rest))
        self.counts[test.removeprefix("test_").replace("_", " ")][column][report.outcome] += 1
        if report.failed:
            self.failed.append(report.nodeid.rpartition("::")[2])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table and write it down."""
        columns = sorted({column for row in self.counts.values() for column in row})
        write = terminalreporter.write_line
        terminalreporter.section("browsers")
        write(", ".join(f"{name} {version}" for name, version in self.versions.items()))
        write(f"{'passed of all':60}" + "".join(f"{column:>14}" for column in columns))
        for test, row in self.counts.items():
            cells = (f"{row[column]['passed']} of {row[column].total()}" for column in columns)
            write(f"{test:60}" + "".join(f"{cell:>14}" for cell in cells))
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        found = {"versions": self.versions, "counts": self.counts, "failed": self.failed}
        REPORT.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Run the battery in the browsers that are named, or in both."""
    parser = argparse.ArgumentParser(prog="python -m release.browsers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; both if none is named")
    parser.add_argument("--only", metavar="WORD", help="only tests with this in their name, pages and explorables too")
    wanted = parser.parse_args()
    for name in wanted.names:
        if name not in NAMES:
            parser.error(f"there is no browser {name!r}: there are {', '.join(NAMES)}")
    try:
        require_site()
    except FileNotFoundError as missing:
        sys.exit(str(missing))
    # Firefox asks its maker's server for settings, unless this lets Marionette's preferences name another.
    os.environ["MOZ_REMOTE_SETTINGS_DEVTOOLS"] = "1"
    chosen = f"({' or '.join(wanted.names or NAMES)})" + (f" and {wanted.only}" if wanted.only else "")
    # What warns here are the clients that drive the browsers, and they are not for us to mend.
    options = ["--noconftest", "-p", "no:cacheprovider", "-W", "default", "--disable-warnings", "-k", chosen]
    sys.exit(pytest.main([*options, str(BATTERY)], plugins=[Table()]))


if __name__ == "__main__":
    main()
