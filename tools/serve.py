"""Serve the built website on this machine only.

python -m tools.serve [--port 8000]
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from tools.book import SITE


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    if not (SITE / "index.html").exists():
        sys.exit("There is no website yet: run `make book` first.")
    handler = partial(SimpleHTTPRequestHandler, directory=str(SITE))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    except (OSError, OverflowError) as error:
        sys.exit(f"Port {port} cannot be used ({error}): name another one with PORT=…")
    print(f"Serving {SITE} at http://127.0.0.1:{port}/ (stop with Ctrl-C) …", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print("\nStopped.")


if __name__ == "__main__":
    main()
