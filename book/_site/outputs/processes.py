"""Pages read and written by several processes, none of which fails without a word."""

from __future__ import annotations

import sys

from sphinx import builders
from sphinx.util.parallel import ParallelTasks


class Processes(ParallelTasks):
    """Sphinx's own, which forgets what went wrong in a process where another is yet to start, and leaves its pages."""

    def terminate(self) -> None:
        """End all, and go on with the exception for which they are ended, if there is one."""
        super().terminate()
        if error := sys.exception():
            raise error


def use() -> None:
    """Have Sphinx use them."""
    builders.ParallelTasks = Processes  # type: ignore[misc]
