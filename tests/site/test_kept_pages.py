"""Pages that stay open from test to test: what a test finds there is what the page shows when it is opened."""

from __future__ import annotations

import pytest

from tests.explorables import CASES
from tests.site.browser import Watch
from tests.site.live import MARKS, SETTING, Kept

# All that can be seen of a figure and of its page; each control's name is drawn by chance.
STATE = f"""async (figure) => {{
  const model = figure.posencModel, ids = [...figure.outerHTML.matchAll(/(?:id|name)="(posenc-control-\\w+)"/g)];
  return {{
    html: ids.reduce((html, [, id], k) => html.replaceAll(id, `control-${{k}}`), figure.outerHTML),
    fields: [...figure.querySelectorAll('input, select')].map(({{ value, checked }}) => [value, checked]),
    picture: figure.querySelector('canvas').toDataURL(),
    setting: [{SETTING}, model.get('_restore')],
    marks: ({MARKS})(),
    address: location.href,
    focus: document.activeElement.tagName,
    selection: getSelection().rangeCount,
    window: [innerWidth, innerHeight],
    motion: matchMedia('(prefers-reduced-motion: reduce)').matches,
    clipboard: (await navigator.permissions.query({{ name: 'clipboard-read' }})).state,
  }};
}}"""


def state(live):
    """All that can be seen of a page as it opens, once it is told to a screen reader too."""
    live.page.wait_for_function(
        "(figure) => figure.querySelector('[aria-live]').textContent"
        ".endsWith(figure.querySelector('.posenc-finding').textContent)",
        arg=live.handle,
    )
    live.settle()
    return live.handle.evaluate(STATE)


def disturb(live, case):
    """Leave everything otherwise than it was."""
    live.page.context.grant_permissions(["clipboard-read"])
    live.set(**case.cls(**case.settings[0]).setting())
    live.evaluate("model.set('_restore', x)", {control["name"]: "\u2603" for control in case.cls.controls()})
    live.page.evaluate("history.replaceState(null, '', '#elsewhere')")
    live.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    live.page.evaluate("document.body.classList.add('another')")
    live.evaluate("getSelection().selectAllChildren(figure.querySelector('.posenc-told'))")
    live.page.set_viewport_size({"width": 700, "height": 800})
    live.page.emulate_media(reduced_motion="reduce")
    live.settle()
    live.figure.locator("[data-reader]").first.press("End")
    reader = live.evaluate("explorable.readers")[0]
    # where the reader that has the focus may stand before the picture
    live.figure.locator("canvas").hover(position={"x": reader["x"], "y": reader["y"]}, force=True)


@pytest.mark.parametrize("where", sorted({case.page for case in CASES}))
def test_a_page_that_was_used_is_as_it_was_opened(new_page, site_url, where):
    page = new_page()
    kept = Kept(page, Watch(page), f"{site_url}/{where}")
    for case in CASES:
        if case.page != where:
            continue
        live = kept.live(case.cls.module)
        opened = state(live)
        disturb(live, case)
        live.settle()
        disturbed = live.handle.evaluate(STATE)
        assert {name for name in opened if disturbed[name] == opened[name]} == set()
        kept.tidy()
        kept.view(1280, 900, "no-preference")
        live = kept.live(case.cls.module)
        again = state(live)
        assert {name for name in opened if again[name] != opened[name]} == set(), case.name
        kept.tidy()
