"""The book in Firefox and in WebKit: every page, and every explorable compared with Python.

    python -m release.browsers [NAME …] [--only WORD]

takes the built book (`make book`) through Firefox and WebKit, or those that are named. It needs, on Debian or Ubuntu,
the packages firefox-esr or firefox, webkit2gtk-driver and xvfb.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pytest

from tests.book.site.browser import require_site

BATTERY = Path(__file__).with_name("battery.py")
NAMES = ("firefox", "webkit")


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
    sys.exit(pytest.main([*options, str(BATTERY)]))


if __name__ == "__main__":
    main()
