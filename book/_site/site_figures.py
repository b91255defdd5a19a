"""A Plotly figure as HTML for the page host. Nothing but the standard library: Python in a page uses it too."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any

PLOTLY = "application/vnd.plotly.v1+json"
DEFAULT_HEIGHT = 450  # Plotly's own


def script_json(value: Any) -> str:
    """`value` as JSON that is safe inside a `<script>` element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def plotly_text(text: str) -> str:
    """Plotly's small HTML (`<sub>`, `<br>` and so on) as safe HTML; every other tag is shown as text."""
    return re.sub(r"&lt;(/?(?:sub|sup|b|i|em|strong)|br ?/?)&gt;", r"<\1>", escape(text, quote=False))


def plain_text(text: str) -> str:
    """Plotly's small HTML without its tags, for attributes."""
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def _title(layout: dict[str, Any]) -> str:
    """Take the title (and subtitle) out of a layout: the page shows it as a caption, which can wrap."""
    title = layout.pop("title", None) or {}
    if isinstance(title, str):
        title = {"text": title}
    # a caption breaks its lines where the page is wide enough, and not where the figure had to
    text = (title.get("text") or "").replace("<br>", " ")
    return "<br>".join(part for part in (text, (title.get("subtitle") or {}).get("text")) if part)


def _description(figure: dict[str, Any], title: str) -> str:
    """Words for a figure that brings none: its title, and what is drawn against what."""
    layout = figure.get("layout") or {}
    axes = [((layout.get(name) or {}).get("title") or {}).get("text", "") for name in ("xaxis", "yaxis")]
    names = [trace.get("name") or axes[1] for trace in figure.get("data", [])]
    drawn = ", ".join(dict.fromkeys(plain_text(name) for name in names if name))
    against = f" against {plain_text(axes[0])}" if axes[0] else ""
    plot = f"A plot{drawn and f' of {drawn}'}{against}" if drawn or against else ""
    return ". ".join(part for part in (plain_text(title), plot) if part)


def plotly_html(figure: dict[str, Any]) -> str:
    """A Plotly figure as JSON for the page host, with a caption and a text for those who do not see it."""
    layout = dict(figure.get("layout") or {})
    title = _title(layout)
    meta = layout.get("meta")
    description = (meta.get("alt") if isinstance(meta, dict) else None) or _description(figure, title)
    height = int(layout.get("height") or DEFAULT_HEIGHT)
    data = {"data": figure.get("data", []), "layout": layout}
    caption = f"<figcaption>{plotly_text(title)}</figcaption>" if title else ""
    return (
        f'<figure class="posenc-plotly">{caption}<script type="application/json">{script_json(data)}</script>'
        f'<div class="posenc-canvas" role="img" aria-label="{escape(description)}" style="min-height:{height}px"></div>'
        f"<noscript><p>{escape(description)} (The figure itself needs JavaScript.)</p></noscript></figure>"
    )
