"""Have what only the system's packages bring: browsers for the tests, bubblewrap for the course's sandbox.

    python3 tools/system_packages.py [chromium] [bubblewrap] [firefox] [webkit] [xvfb]

On Debian and its kin it installs what is missing where it may without asking (as root, or where `sudo -n` works), after
saying so. Elsewhere one line names what is missing. It never waits for a password.
"""

import argparse
import os
import shutil
import subprocess
import sys

# Debian's headless shell first: the same engine, without the windows that the full browser keeps though none is shown.
CHROMIUM = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
CHROMIUM_ON_MAC = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
NO_CHROMIUM = (
    "The tests need Chromium or Chrome and found neither: install one (Debian: `apt-get install "
    "chromium-headless-shell fonts-dejavu-core`), or set CHROMIUM to the path of its program."
)
MISSING = "The tests need %s and found none (Debian: `apt-get install %s`)."


# Each name: the programs of which one is enough, Debian's packages, and the line where there is none.
NEEDS = {
    "chromium": (CHROMIUM + CHROMIUM_ON_MAC, ["chromium-headless-shell", "fonts-dejavu-core"], NO_CHROMIUM),
    "bubblewrap": (["bwrap"], ["bubblewrap"], MISSING % ("bubblewrap", "bubblewrap")),
    "firefox": (["firefox-esr", "firefox"], ["firefox-esr"], MISSING % ("Firefox", "firefox-esr")),
    "webkit": (["WebKitWebDriver"], ["webkit2gtk-driver"], MISSING % ("WebKit's driver", "webkit2gtk-driver")),
    "xvfb": (["Xvfb"], ["xvfb"], MISSING % ("Xvfb", "xvfb")),
}


def find(name):
    """The path of a program that is needed, or ``None``; ``CHROMIUM`` in the environment comes before all others."""
    named = os.environ.get("CHROMIUM") if name == "chromium" else None
    if named:
        return shutil.which(named)
    return next((path for path in map(shutil.which, NEEDS[name][0]) if path), None)


def install(packages):
    """Install Debian's packages where that needs no password; whether they are installed now."""
    if not shutil.which("apt-get"):
        return False
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if root and (not shutil.which("sudo") or subprocess.call(root + ["true"], stderr=subprocess.DEVNULL)):
        return False
    print("Installing from Debian's packages: %s …" % " ".join(packages), flush=True)
    command = root + ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet", "--quiet"]
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    if subprocess.call(command + ["update"], **options):
        return False
    return not subprocess.call(command + ["install", "--yes", "--no-install-recommends"] + packages, **options)


def have(names):
    """Install what is missing of some names; the lines that say what still is."""
    missing = [name for name in names if not find(name)]
    if missing:
        install([package for name in missing for package in NEEDS[name][1]])
    return [NEEDS[name][2] for name in missing if not find(name)]


def main():
    """Have what is named; fail with a line for each thing that is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of %s" % ", ".join(NEEDS))
    names = parser.parse_args().names
    unknown = [name for name in names if name not in NEEDS]
    if unknown:
        parser.error("there is no %r: there are %s" % (unknown[0], ", ".join(NEEDS)))
    lines = have(names)
    if lines:
        sys.exit("\n".join(lines))


if __name__ == "__main__":
    main()
