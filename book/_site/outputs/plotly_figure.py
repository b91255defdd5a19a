"""A Plotly figure as HTML for the page host. Nothing but the standard library: Python in a page uses it too."""

from __future__ import annotations

import json
import re
from html import escape
from typing import Any

PLOTLY = "application/vnd.plotly.v1+json"
DEFAULT_HEIGHT = 450  # Plotly's own
# pixels of a plot on a phone 360 wide, what stands above and below it, and a title and ticks between two rows of it
PHONE_WIDTH, PHONE_MARGINS, PHONE_GAP = 270, 150, 46


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


def _phone_height(layout: dict[str, Any], height: int) -> int:
    """The height of a figure on a phone: less where all its panels keep their shape, and so shrink with its width."""
    axes = [axis for name, axis in layout.items() if re.fullmatch(r"yaxis\d*", name)]
    if not axes or not all(axis.get("scaleanchor") for axis in axes):
        return height
    tops = {axis.get("domain", (0, 1))[1] for axis in axes}
    needed = 0.0
    for axis in axes:
        across = layout.get(axis["scaleanchor"].replace("x", "xaxis"), {})
        (left, right), (low, high) = across.get("domain", (0, 1)), axis.get("domain", (0, 1))
        (x0, x1), (y0, y1) = across.get("range", (0, 1)), axis.get("range", (0, 1))
        shape = axis.get("scaleratio", 1) * abs((y1 - y0) / (x1 - x0))
        room = PHONE_WIDTH * (right - left) * shape
        needed = max(needed, room / (high - low))
        if below := [top for top in tops if top < high]:
            needed = max(needed, (room + PHONE_GAP) / (high - max(below)))
    return min(height, round(needed) + PHONE_MARGINS)


def plotly_html(figure: dict[str, Any], without_script: str = "") -> str:
    """A Plotly figure as JSON for the page host, with a caption and a text for those who do not see it."""
    layout = dict(figure.get("layout") or {})
    title = _title(layout)
    meta = layout.get("meta")
    description = (meta.get("alt") if isinstance(meta, dict) else None) or _description(figure, title)
    height = int(layout.get("height") or DEFAULT_HEIGHT)
    room = f"--posenc-room:{height}px;--posenc-phone-room:{_phone_height(layout, height)}px"
    data = {"data": figure.get("data", []), "layout": layout}
    caption = f"<figcaption>{plotly_text(title)}</figcaption>" if title else ""
    return (
        f'<figure class="posenc-plotly">{caption}<script type="application/json">{script_json(data)}</script>'
        f'<div class="posenc-canvas" role="img" aria-label="{escape(description)}" style="{room}"></div>'
        f"<noscript><p>{escape(description)} {escape(without_script)}</p></noscript></figure>"
    )
