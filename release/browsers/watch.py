"""What a page does that it should not, told by any browser: the page itself notes errors, a proxy what leaves for other
hosts."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer

# Comes before any other script. The pages keep the browser's own `print` when they load, which would open a dialogue.
NOTES = """<script>
(() => {
  const noted = window.posencNoted = [];
  const { error } = console;
  console.error = (...words) => {
    noted.push(`console: ${words.join(' ')}`);
    error.apply(console, words);
  };
  addEventListener('error', ({ target, message }) => {
    noted.push(target === window ? `uncaught: ${message}` : `failed: ${target.src ?? target.href}`);
  }, true);
  addEventListener('unhandledrejection', ({ reason }) => noted.push(`uncaught: ${reason}`));
  window.posencPrinted = 0;
  window.print = () => (window.posencPrinted += 1);
})();
</script>"""


def with_notes(site: Path, folder: Path) -> None:
    """Copy a site, each page with NOTES at its head."""
    shutil.copytree(site, folder)
    for page in folder.rglob("*.html"):
        before, head, after = page.read_text(encoding="utf-8").partition("<head>")
        if head:  # a page that only sends the reader on has none
            page.write_text(before + head + NOTES + after, encoding="utf-8")


class _Refusing(BaseRequestHandler):
    """Notes the beginning of whatever it is asked, and refuses it."""

    asked: list[str]

    def handle(self) -> None:
        if beginning := self.request.recv(4096):
            first = beginning.partition(b"\r\n")[0]
            self.asked.append(first.decode() if first.isascii() else "something encrypted")
            self.request.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


@contextmanager
def elsewhere() -> Iterator[tuple[dict[str, object], list[str]]]:
    """A proxy to other hosts, as the WebDriver standard writes it, and what it was asked for and refused."""
    asked: list[str] = []
    server = ThreadingTCPServer(("127.0.0.1", 0), type("Refusing", (_Refusing,), {"asked": asked}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"127.0.0.1:{server.server_address[1]}"
    try:
        yield {
            "proxyType": "manual", "httpProxy": address, "sslProxy": address, "noProxy": ["127.0.0.1"],
        }, asked  # fmt: skip
    finally:
        server.shutdown()
        server.server_close()
