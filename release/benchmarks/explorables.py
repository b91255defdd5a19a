"""How fast the explorables answer, against the budgets of the book.

    python -m release.benchmarks.explorables

Two hundred inputs for each explorable, at its opening setting and at its largest, in headless Chromium on the built
page with all of them. "script" is the time that one input's update takes; "paint" is from the input event to the frame
that shows it.
"""

from __future__ import annotations

import gzip
import platform
import statistics

from playwright.sync_api import sync_playwright

from posenc.widgets import modules
from release.benchmarks.results import save
from tests.book.site.browser import launch, require_site, serve
from tests.explorables import CASES, EVERY_ONE, Case

INPUTS = 200
BUDGETS = {"opening": 8.0, "largest": 16.0}  # milliseconds of script, 95th percentile
PAINT = 33.0
COMPLETE = 300.0

MEASURE = """async ([module, setting, control, inputs]) => {
  const figure = document.querySelector(`figure[data-module=${module}]`), model = figure.posencModel;
  const explorable = figure.querySelector('.posenc-explorable-view').explorable;
  Object.entries(setting).forEach(([name, value]) => model.set(name, value));
  const frame = () => new Promise(requestAnimationFrame);
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const settled = async () => { while (!explorable.done) await pause(5); };
  const afterPaint = () => new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(0);
  });
  await frame();
  await settled();
  const range = figure.querySelector(`[data-control=${control}] input[type=range]`);
  const script = [], paint = [];
  for (let k = 0; k < inputs; k++) {
    range.value = 200 + ((k * 37) % 700);
    await frame();
    await pause((k * 7) % 16);  // inputs fall anywhere between two frames
    const start = performance.now();
    range.dispatchEvent(new Event('input', { bubbles: true }));
    await frame();  // the update runs in this frame
    await afterPaint();
    script.push(explorable.updateMilliseconds);
    paint.push(performance.now() - start);
  }
  const start = performance.now();
  range.dispatchEvent(new Event('input', { bubbles: true }));
  await frame();
  await settled();
  return { script, paint, complete: performance.now() - start };
}"""


def p95(values: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(values, n=20)[-1]


def moved(case: Case) -> str:
    """The slider that is dragged: the base where there is one, else the first."""
    bases = [c["name"] for c in case.cls.controls() if c["name"] == "base" and "least" in c]
    return bases[0] if bases else case.slider["name"]


def main() -> None:
    """Measure, print a table, write _build/report/explorables.json, and say what misses its budget."""
    rows = []
    sources = modules()
    with serve(require_site()) as url, sync_playwright() as driver, launch(driver) as browser:
        for case in CASES:
            module = case.cls.module
            weight = len(gzip.compress(sources[module].encode()))
            for setting, values in (("opening", {}), ("largest", case.largest)):
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                page.goto(f"{url}/{EVERY_ONE}")
                page.locator(f"figure[data-module={module}]").scroll_into_view_if_needed()
                page.wait_for_selector(f"figure[data-module={module}][data-ready]")
                page.wait_for_timeout(1500)  # let the figures nearby settle
                result = page.evaluate(MEASURE, [module, case.cls(**values).setting(), moved(case), INPUTS])
                rows.append({
                    "explorable": case.name, "setting": setting,
                    "script_p50": statistics.median(result["script"]), "script_p95": p95(result["script"]),
                    "paint_p50": statistics.median(result["paint"]), "paint_p95": p95(result["paint"]),
                    "complete": result["complete"], "gzip_bytes": weight,
                })  # fmt: skip
                page.close()
    print(f"{platform.platform()}, milliseconds over {INPUTS} inputs; each module's weight compressed, in bytes")
    print(f"{'explorable':20}{'setting':10}" + "".join(f"{name:>12}" for name in list(rows[0])[2:]))
    for row in rows:
        print(f"{row['explorable']:20}{row['setting']:10}" + "".join(f"{row[name]:12.1f}" for name in list(row)[2:]))
        limits = {"script_p95": BUDGETS[row["setting"]], "paint_p95": PAINT, "complete": COMPLETE}
        for name, limit in limits.items():
            if row[name] > limit:
                print(f"  over budget: {name} {row[name]:.1f} > {limit} ms")
    save("explorables", rows)


if __name__ == "__main__":
    main()
