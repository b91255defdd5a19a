"""A server for the built site, and a Chromium that reports what it should not have done."""

from __future__ import annotations

import gzip
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Request, Response, TimeoutError

from tools import system_packages

ROOT = Path(__file__).resolve().parents[3]
SITE = ROOT / "_build" / "html"
FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
FIGURES = ".posenc-explorable, .posenc-plotly"
FRAME_PATIENCE = 60_000  # milliseconds: the machine may be busy


def chapters() -> list[str]:
    """The pages of the book in reading order, from its table of contents."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    entries = [chapter for part in contents["parts"] for chapter in part["chapters"]]
    files = [contents["root"], *(one["file"] for entry in entries for one in (entry, *entry.get("sections", [])))]
    return [f"{name}.html" for name in files]


def pages() -> list[str]:
    """Every page that a reader can reach."""
    return [*chapters(), "search.html", "genindex.html"]


def require_site() -> Path:
    """The built site, or a clear word on what is missing."""
    if not (SITE / "index.html").is_file():
        raise FileNotFoundError(f"{SITE} holds no book: run `make book` first")
    return SITE


@cache
def _compressed(path: str, modified: float) -> bytes:
    return gzip.compress(Path(path).read_bytes(), mtime=0)


class Line:
    """A line of limited speed, shared by all connections. Chromium's own emulation of one sometimes stalls for good."""

    def __init__(self, bits_per_second: float, latency: float) -> None:
        self.seconds_per_byte, self.latency = 8 / bits_per_second, latency
        self._free = threading.Lock()

    def send(self, write: Callable[[bytes], object], body: bytes) -> None:
        """Write `body` in pieces, each as long as it takes on this line."""
        for start in range(0, len(body), 4096):
            piece = body[start : start + 4096]
            with self._free:
                time.sleep(len(piece) * self.seconds_per_byte)
            write(piece)


class _Handler(SimpleHTTPRequestHandler):
    """Serves files, text compressed as a public host would, over a line of limited speed where there is one."""

    protocol_version = "HTTP/1.1"
    line: Line | None = None

    def setup(self) -> None:
        super().setup()
        if self.line:
            time.sleep(self.line.latency)  # a connection is made by one message there and back

    def do_GET(self) -> None:
        if self.line:
            time.sleep(self.line.latency)
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            super().do_GET()
            return
        compress = path.suffix in {".html", ".css", ".js", ".svg", ".json"}
        body = _compressed(str(path), path.stat().st_mtime) if compress else path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Cache-Control", "max-age=600")  # as GitHub Pages says
        if compress:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.line:
            self.line.send(self.wfile.write, body)
        else:
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing: the tests report what went wrong."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # the default of 5 drops connections that a browser opens all at once

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a connection that a closing page dropped; anything else is shown as usual."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serve(folder: Path, line: Line | None = None) -> Iterator[str]:
    """The address, without a slash at its end, at which `folder` is served."""
    handler = type("Handler", (_Handler,), {"line": line})
    server = _Server(("127.0.0.1", 0), lambda *args: handler(*args, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def launch(playwright: Playwright, *flags: str) -> Iterator[Browser]:
    """A headless Chromium, with further flags."""
    program = system_packages.find("chromium")
    if program is None:
        raise FileNotFoundError(system_packages.NO_CHROMIUM)
    browser = playwright.chromium.launch(executable_path=program, args=[*FLAGS, *flags])
    try:
        yield browser
    finally:
        browser.close()


class Watch:
    """Notes what a page asks of other hosts, what it fails to get and what it logs as an error."""

    def __init__(self, page: Page, javascript: bool = True) -> None:
        self.foreign: list[str] = []
        self.errors: list[str] = []
        self._javascript = javascript
        page.on("request", self._request)
        page.on("response", self._response)
        page.on("requestfailed", self._failed)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))

    def _request(self, request: Request) -> None:
        url = urlsplit(request.url)
        if url.scheme not in {"data", "blob", "file", "about"} and url.hostname != "127.0.0.1":
            self.foreign.append(request.url)

    def _failed(self, request: Request) -> None:
        refused = not self._javascript and request.resource_type == "script"
        left = request.failure == "net::ERR_ABORTED"  # the test went on to another page
        if not refused and not left:
            self.errors.append(f"failed: {request.url} {request.failure}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self.errors.append(f"{response.status}: {response.url}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"console: {message.text}")


# What a page folds, and what it keeps until its reader has guessed.
OPEN_ALL = """() => {
  window.posencPredict?.showAll();
  for (const fold of document.querySelectorAll('details:is(.posenc-deeper, .posenc-code)')) fold.open = true;
}"""
FORMULAS_SET = "async () => { await window.MathJax?.startup?.promise }"


def settle(page: Page) -> None:
    """Wait until the page's formulas are set."""
    page.wait_for_load_state("load")
    page.evaluate(FORMULAS_SET)


# Scrolls to each figure and to the end; false where no frame comes.
SCROLL = """async ([figures, patience]) => {
  const two = (drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true)));
  const frames = () => Promise.race([
    new Promise(two), new Promise((given_up) => setTimeout(given_up, patience, false)),
  ]);
  for (const place of [...document.querySelectorAll(figures), document.body]) {
    place.scrollIntoView({ block: place === document.body ? 'end' : 'center', behavior: 'instant' });
    if (!(await frames())) return false;
  }
  return true;
}"""
ALL_READY = "(figures) => [...document.querySelectorAll(figures)].every((figure) => figure.dataset.ready === 'true')"


def scroll_through(page: Page) -> None:
    """Scroll to each figure and to the end, and wait until every figure is drawn.

    Now and then Chromium draws no more frames, whatever one does: then this raises TimeoutError instead of waiting.
    """
    settle(page)
    page.evaluate(OPEN_ALL)
    if not page.evaluate(SCROLL, [FIGURES, FRAME_PATIENCE]):
        raise TimeoutError(f"the browser drew no frame within {FRAME_PATIENCE / 1000:.0f} s")
    page.wait_for_function(ALL_READY, arg=FIGURES)


WEIGHT = """async (size) => {
  const files = () => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  for (let before = 0; files().length > before; await new Promise((later) => setTimeout(later, 100))) {
    before = files().length;
  }
  const bytes = (word) => files().reduce((sum, file) => sum + (file.name.includes(word) ? file[size] : 0), 0);
  return {
    bytes: bytes('') - bytes('plotly.min.js'), plotly_bytes: bytes('plotly.min.js'), face_bytes: bytes('/posenc/face'),
    files: files().map((file) => `${file.name} ${file[size]}`),
  };
}"""


def weigh(page: Page, size: str = "encodedBodySize") -> dict[str, Any]:
    """Bytes of all files of a page, compressed, plotly.js apart, once no more come; as "transferSize", without those
    that the browser had kept.
    """
    return page.evaluate(WEIGHT, size)
