"""Firefox and WebKit behind the same few calls: open a page, call a function in it, press keys, move a pointer."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar

from marionette_driver.marionette import Marionette
from selenium.webdriver import WebKitGTK
from selenium.webdriver.remote.command import Command
from selenium.webdriver.webkitgtk.options import Options
from selenium.webdriver.webkitgtk.service import Service

WIDTH, HEIGHT = 1280, 900
LIMIT = 240  # seconds that a page or a function in it may take: the machine may be slow, and time is not tested
# Keys that have no letter, as the WebDriver standard writes them.
KEYS = {
    "ArrowDown": "\ue015", "ArrowRight": "\ue014", "ArrowUp": "\ue013", "Control": "\ue009", "Enter": "\ue007",
    "Home": "\ue011",
}  # fmt: skip
Point = tuple[float, float]


def found(variable: str, *names: str, package: str) -> str:
    """The path of a program: the one that a variable of the environment names, or the first of these names.

    Raises FileNotFoundError, with Debian's package that has it, where there is none.
    """
    named = os.environ.get(variable)
    path = next(filter(None, map(shutil.which, [named] if named else names)), None)
    if path is None:
        wanted = named or " or ".join(names)
        raise FileNotFoundError(
            f"there is no {wanted}: on Debian or Ubuntu, `sudo apt-get install {package}`; "
            f"elsewhere set {variable} to the path of the program"
        )
    return path


class Browser(ABC):
    """A browser with one window, which reaches this machine itself and other hosts by a proxy alone."""

    name: ClassVar[str]
    version: str

    @abstractmethod
    def open(self, address: str) -> None:
        """Go to a page and wait until it has loaded."""

    @abstractmethod
    def call(self, function: str, *values: object) -> Any:
        """What a JavaScript function returns in the page for these values; a promise is waited for."""

    @abstractmethod
    def perform(self, source: dict[str, object]) -> None:
        """Do what an input source of the WebDriver standard says: a keyboard or a mouse, and its actions."""

    @abstractmethod
    def close(self) -> None:
        """End the browser and what was started for it."""

    def press(self, *keys: str, held: str | None = None) -> None:
        """Press letters, or keys named in KEYS, one after the other; with `held`, while that is held down."""
        strokes = [(stroke, KEYS.get(key, key)) for key in keys for stroke in ("keyDown", "keyUp")]
        if held:
            strokes = [("keyDown", KEYS[held]), *strokes, ("keyUp", KEYS[held])]
        actions = [{"type": stroke, "value": key} for stroke, key in strokes]
        self.perform({"type": "key", "id": "keyboard", "actions": actions})

    def drag(self, *points: Point) -> None:
        """Press the mouse at the first of these points of the window, let it go at the last; one point is a click."""
        moves = [{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)} for x, y in points]
        down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        actions = [moves[0], down, *moves[1:], up]
        self.perform({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions})


class Firefox(Browser):
    """Firefox without a window on the screen, driven by its own Marionette."""

    name = "firefox"

    def __init__(self, proxy: dict[str, object]) -> None:
        program = found("FIREFOX", "firefox-esr", "firefox", package="firefox-esr")
        self._folder = tempfile.TemporaryDirectory(prefix="posenc-firefox-")
        self._driver = Marionette(
            bin=program, headless=True, gecko_log=f"{self._folder.name}/log", workspace=self._folder.name, port=0
        )
        self.version = self._driver.start_session({"proxy": proxy})["browserVersion"]
        self._driver.timeout.page_load = self._driver.timeout.script = LIMIT
        self._driver.set_window_rect(width=WIDTH, height=HEIGHT)

    def open(self, address: str) -> None:
        self._driver.navigate(address)

    def call(self, function: str, *values: object) -> Any:
        # without a sandbox, which would hide what the page itself has put on its elements
        return self._driver.execute_script(f"return ({function})(...arguments)", values, sandbox=None)

    def perform(self, source: dict[str, object]) -> None:
        self._driver.actions.perform([source])

    def close(self) -> None:
        self._driver.quit()
        self._driver.cleanup()
        self._folder.cleanup()


@contextmanager
def screen() -> Iterator[str]:
    """The display of a screen in memory, for a browser that wants one."""
    program = found("XVFB", "Xvfb", package="xvfb")
    size = f"{WIDTH + 40}x{HEIGHT + 60}x24"
    command = [program, "-displayfd", "1", "-screen", "0", size, "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        try:
            yield f":{running.stdout.readline().strip()}"
        finally:
            running.terminate()


class WebKit(Browser):
    """WebKitGTK's own small browser, driven by WebKitWebDriver."""

    name = "webkit"

    def __init__(self, proxy: dict[str, object]) -> None:
        program = found("WEBKIT_DRIVER", "WebKitWebDriver", package="webkit2gtk-driver")
        self._open = ExitStack()
        display = self._open.enter_context(screen())
        options = Options()
        options.set_capability("proxy", proxy)
        service = Service(program, env={**os.environ, "DISPLAY": display}, log_output=subprocess.DEVNULL)
        self._driver = WebKitGTK(options=options, service=service)
        self._open.callback(self._driver.quit)
        self.version = self._driver.capabilities["browserVersion"]
        self._driver.set_page_load_timeout(LIMIT)
        self._driver.set_script_timeout(LIMIT)
        self._driver.set_window_rect(0, 0, WIDTH, HEIGHT)

    def open(self, address: str) -> None:
        self._driver.get(address)

    def call(self, function: str, *values: object) -> Any:
        return self._driver.execute_script(f"return ({function})(...arguments)", *values)

    def perform(self, source: dict[str, object]) -> None:
        self._driver.execute(Command.W3C_ACTIONS, {"actions": [source]})

    def close(self) -> None:
        self._open.close()


BROWSERS = {browser.name: browser for browser in (Firefox, WebKit)}
