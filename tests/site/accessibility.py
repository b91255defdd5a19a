"""What axe-core finds on a page against the Web Content Accessibility Guidelines 2.2, level AA."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """async ([rules, leftOut]) => {
  const options = {
    runOnly: rules,
    resultTypes: ['violations'],
    preload: false,  // it would fetch style sheets that the page itself does without
    rules: { region: { enabled: false } },  // the theme's sidebar begins with its logo, outside the sidebar's landmark
  };
  const { violations } = await axe.run({ include: [['html']], exclude: leftOut.map((one) => [one]) }, options);
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${impact} ${id} at ${target}: ${failureSummary}`));
}"""


@cache
def axe() -> str:
    """axe-core's own script, which the Python package brings along."""
    return Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")


def violations(page: Page, *left_out: str) -> list[str]:
    """Every violation on the page as it stands: its impact, its rule, where it is and what would mend it."""
    page.evaluate(axe())
    found: list[str] = page.evaluate(RUN, [RULES, left_out])
    return found
