"""The part of anywidget that explorables stand on, in a page: traits without a kernel. The page host draws."""

from typing import Any

import traitlets


class AnyWidget(traitlets.HasTraits):
    """Traits that nothing synchronises: the figure is shown as it is when the cell shows it."""

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return {}, {}

    def on_msg(self, callback: Any) -> None:
        """No kernel is asked: the page itself has what it needs."""
