"""What axe-core finds on a page against the Web Content Accessibility Guidelines 2.2, level AA."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# A page of thousands of parts takes axe-core long. Two things spare most of that and miss nothing:
# - What is left out is emptied, at its size, while axe looks: it would measure where each part of it lies all the same.
# - Of texts that agree in their own style and in all that lies behind them, up to the first ground that hides the rest,
#   one is measured for contrast, the widest.
RUN = """async ([rules, leftOut]) => {
  const emptied = [...document.querySelectorAll(leftOut.join() || 'none')].map((element) => {
    const { width, height } = element.getBoundingClientRect();
    return { element, width, height, style: element.getAttribute('style'), parts: [...element.childNodes] };
  });
  for (const { element, width, height } of emptied) {
    const display = getComputedStyle(element).display === 'inline' ? 'inline-block' : '';
    Object.assign(element.style, { boxSizing: 'border-box', width: `${width}px`, height: `${height}px` });
    if (display) element.style.display = display;
    element.replaceChildren();
  }

  const grounds = new Map();
  const ground = (element) => {
    if (!element) return '';
    if (!grounds.has(element)) {
      const style = getComputedStyle(element);
      const placed = style.position === 'static' ? '' : element.className; // it may lie over something else
      const own = [
        style.backgroundColor, style.backgroundImage, style.opacity, style.mixBlendMode, style.filter, placed,
      ].join();
      const hides = /^rgb\\(/.test(style.backgroundColor) && style.opacity === '1' && !placed;
      grounds.set(element, hides ? own : own + ground(element.parentElement));
    }
    return grounds.get(element);
  };
  const widest = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
    const { color, fontSize, fontWeight, textShadow, webkitTextFillColor } = getComputedStyle(element);
    const look = [color, fontSize, fontWeight, textShadow, webkitTextFillColor, ground(element)].join();
    const { width } = element.getBoundingClientRect();
    if (!(widest.get(look)?.width >= width)) widest.set(look, { element, width });
  }
  const measured = [...[...widest.values()].map(({ element }) => element)];
  for (const element of measured) element.dataset.contrast = '';

  axe.configure({
    rules: [{ id: 'color-contrast', selector: '[data-contrast], input, select, textarea, button' }],
  });
  const { violations } = await axe.run(
    { include: [['html']], exclude: leftOut.map((one) => [one]) },
    {
      runOnly: rules,
      resultTypes: ['violations'],
      preload: false,  // it would fetch style sheets that the page itself does without
      rules: { region: { enabled: false } },  // the theme's sidebar begins with its logo, outside its landmark
    },
  );
  for (const element of measured) delete element.dataset.contrast;
  for (const { element, style, parts } of emptied) {
    element.replaceChildren(...parts);
    if (style === null) element.removeAttribute('style');
    else element.setAttribute('style', style);
  }
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${impact} ${id} at ${target}: ${failureSummary}`));
}"""


@cache
def axe() -> str:
    """axe-core's own script, which the Python package brings along."""
    return Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")


def violations(page: Page, *left_out: str) -> list[str]:
    """Every violation on the page as it stands: its impact, its rule, where it is and what would mend it.

    Of texts alike in all that decides on their contrast, one stands for all.
    """
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(axe())
    found: list[str] = page.evaluate(RUN, [RULES, left_out])
    return found
