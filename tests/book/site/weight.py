"""What the first view of a page weighs on its way."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from playwright.sync_api import Page


class Scales:
    """Weighs what a page transfers, compressed, while it is under way."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.addresses: dict[str, str] = {}
        self.sizes: dict[str, float] = {}
        self.session = page.context.new_cdp_session(page)

    def __enter__(self) -> Scales:
        self.session.on("Network.requestWillBeSent", self._sent)
        for how in ("Network.loadingFinished", "Network.loadingFailed"):
            self.session.on(how, self._ended)
        self.session.send("Network.enable")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.session.detach()

    def _sent(self, event: dict[str, Any]) -> None:
        self.addresses[event["requestId"]] = event["request"]["url"]

    def _ended(self, event: dict[str, Any]) -> None:
        self.sizes[event["requestId"]] = event.get("encodedDataLength", 0)  # none where it failed

    def empty(self) -> None:
        """Forget what was weighed."""
        self.addresses.clear()
        self.sizes.clear()

    def read(self) -> dict[str, Any]:
        """Bytes of all files, plotly.js apart, once all that was asked for has come.

        Playwright loses its own "networkidle" if that is before the load.
        """
        asked = -1
        while len(self.addresses) > min(asked, len(self.sizes)):
            asked = len(self.addresses)
            self.page.wait_for_timeout(200)
        sizes = {self.addresses[number]: round(size) for number, size in self.sizes.items()}
        files = {address: size for address, size in sizes.items() if address.startswith("http")}
        plotly = sum(size for address, size in files.items() if "plotly.min.js" in address)
        heaviest = sorted(files.items(), key=lambda item: -item[1])[:5]
        return {
            "bytes": sum(files.values()) - plotly,
            "plotly_bytes": plotly,
            "face_bytes": sum(size for address, size in files.items() if "/posenc/face" in address),
            "requests": len(files),
            "heaviest": {address.rpartition("/")[2]: size for address, size in heaviest},
        }
