"""One explorable on a page of the built site, as a test drives it."""

from __future__ import annotations

import json
from typing import Any, Literal

from playwright.sync_api import ElementHandle, Locator, Page, TimeoutError

from tests.book.site.browser import FRAME_PATIENCE, OPEN_ALL, Watch, settle
from tests.js.node import unpack

# What a page computes comes as text, and arrays of numbers in it as bytes: number by number, Playwright takes seconds.
PACK = """(function plain(value) {
  if (typeof value === 'number') {
    const plainly = Number.isFinite(value) && !Object.is(value, -0);
    return plainly ? value : { number: Object.is(value, -0) ? '-0' : String(value) };
  }
  if (value === null || typeof value !== 'object') return value;
  if (ArrayBuffer.isView(value) || (Array.isArray(value) && value.length > 8 && value.every(Number.isFinite))) {
    const bytes = new Uint8Array(Float64Array.from(value).buffer);
    let text = '';
    for (let k = 0; k < bytes.length; k += 8192) text += String.fromCharCode(...bytes.subarray(k, k + 8192));
    return { float64: btoa(text) };
  }
  if (Array.isArray(value)) return value.map(plain);
  const defined = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(defined.map(([name, inner]) => [name, plain(inner)]));
})"""


def received(text: str) -> Any:
    """What PACK made of a value and JSON of that: arrays of numbers as NumPy's, others as lists."""
    return unpack(json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 17 else float(digits)))


# Waits until the picture is complete, as every frame sees it, and ends the motion with which it opens; false where no
# frame comes or the time runs out.
COMPLETE = f"""const complete = () => Promise.race([
  (async () => {{
    for (; !explorable.done; explorable.rest()) await new Promise(requestAnimationFrame);
    return true;
  }})(),
  new Promise((given_up) => setTimeout(given_up, {FRAME_PATIENCE}, false)),
]);"""
# Scrolls to a figure, which the page draws when it is in view; false where that takes too long. Then two frames: what
# a pointer meets is what was last drawn.
INTO_VIEW = """async (figure, patience) => {
  figure.scrollIntoView({ block: 'center', behavior: 'instant' });
  for (const end = performance.now() + patience; !figure.dataset.ready;) {
    if (performance.now() > end) return false;
    await new Promise((again) => setTimeout(again, 5));
  }
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  return true;
}"""
# The theme's side bar slides in a window of another width, and everything beside it moves along.
AT_REST = """async () => {
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const ends = document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity);
  await Promise.allSettled(ends.map(({ finished }) => finished));
}"""
# What moves an explorable is told ten times the time that goes by, and then the time again.
HURRY = """const frame = requestAnimationFrame;
performance.now = () => 10 * Performance.prototype.now.call(performance);
window.requestAnimationFrame = (draw) => frame((at) => draw(10 * at));"""
SLOWLY = "delete performance.now && void (window.requestAnimationFrame = frame)"
# The words of the one element of this class, with plain spaces where it keeps two of them on one line.
WORDS = """const words = (name) => {
  const found = figure.querySelectorAll(`.${name}`);
  if (found.length !== 1) throw new Error(`${found.length} elements are ${name}`);
  return found[0].innerText.replaceAll('\\u00a0', ' ');
};"""
SETTING = "Object.fromEntries(model.get('_controls').map(({ name }) => [name, model.get(name)]))"
# A figure as the page's HTML has it, and one drawn in it as host.js does, which draws each figure only once.
PUT_AWAY = """(figure) => {
  figure.cleanUp?.();
  delete figure.cleanUp;
  delete figure.dataset.ready;
  for (const child of [...figure.children]) if (!child.matches('script, noscript')) child.remove();
}"""
DRAW_ANEW = """async (figure) => {
  const { constructor } = figure.posencModel, el = document.createElement('div');
  const traits = JSON.parse(figure.querySelector(":scope > script[type='application/json']").textContent);
  const model = figure.posencModel = new constructor(traits, figure);
  figure.append(el);
  const { default: widget } = await window.posencModules[figure.dataset.module]();
  figure.cleanUp = await widget.render({ model, el });
  figure.dataset.ready = 'true';
}"""
# What a test may leave behind on a page besides: mouse, focus, selection, address and theme.
# Without "scrolled", which the theme sets and takes away at the next scroll event, whenever that comes.
MARKS = """() => [document.documentElement, document.body].map((node) => Object.fromEntries(
  [...node.attributes]
    .map(({ name, value }) => [name, name === 'class' ? value.replace(/\\bscrolled\\b/, '').trim() : value])
    .filter(([name, value]) => name !== 'class' || value)))"""
TIDY = """(marks) => {
  document.activeElement.blur();
  getSelection().removeAllRanges();
  history.replaceState(null, '', location.pathname);
  [document.documentElement, document.body].forEach((node, k) => {
    for (const { name } of [...node.attributes]) if (!(name in marks[k])) node.removeAttribute(name);
    for (const [name, value] of Object.entries(marks[k])) {
      if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    }
  });
  scrollTo(0, 0);
}"""


def figure_of(page: Page, module: str) -> Locator:
    """The first explorable of a module."""
    return page.locator(f"figure.posenc-explorable[data-module={module}]").first


class Shown:
    """An explorable on a page, whatever drives the browser: a subclass says how."""

    def call(self, function: str, x: object = None) -> Any:
        """What a JavaScript function of the figure and of `x` returns, once that is there."""
        raise NotImplementedError

    def evaluate(self, expression: str, x: object = None) -> Any:
        """A JavaScript expression of `figure`, its `model`, its `explorable` and `x`."""
        return self.call(
            "async (figure, x) => {"
            " const model = figure.posencModel;"
            " const explorable = figure.querySelector('.posenc-explorable-view').explorable;"
            f" return {expression}; }}",
            x,
        )

    def complete(self, expression: str = "null", x: object = None, before: str = "") -> Any:
        """An expression of `figure`, `model`, `explorable`, `words`, `x`, when what was done `before` it is drawn."""
        found = self.call(
            f"""async (figure, x) => {{
              const model = figure.posencModel;
              const explorable = figure.querySelector('.posenc-explorable-view').explorable;
              {COMPLETE} {WORDS}
              {before}
              return (await complete()) ? [{expression}] : null;
            }}""",
            x,
        )
        if found is None:
            raise TimeoutError(f"the picture was not complete within {FRAME_PATIENCE / 1000:.0f} s")
        return found[0]

    def settle(self) -> None:
        """Wait until the picture is complete."""
        self.complete()

    def open(self) -> None:
        """Open its drawers, as a reader does who wants every control."""
        self.complete(before="for (const drawer of figure.querySelectorAll('details')) drawer.open = true;")

    def go(self, step: str) -> None:
        """Press a step of its story, and wait until it has come there, by a clock ten times as fast."""
        self.complete(SLOWLY, step, before=HURRY + "figure.querySelector(`[data-step='${x}']`).click();")

    def set(self, **setting: object) -> None:
        """Set controls as a kernel would."""
        self.complete(x=setting, before="Object.entries(x).forEach(([name, value]) => model.set(name, value));")

    def get(self, name: str) -> Any:
        """The present value of one control."""
        return self.complete("model.get(x)", name)

    def setting(self) -> dict[str, Any]:
        """The present value of every control."""
        return self.complete(SETTING)

    def values(self) -> dict[str, Any]:
        """What is drawn when the picture is complete, in data coordinates; arrays of numbers as NumPy's."""
        return received(self.complete(f"JSON.stringify({PACK}(explorable.values))"))

    def state(self) -> tuple[dict[str, Any], str, str]:
        """Its setting, its finding and its notice."""
        return tuple(self.complete(f"[{SETTING}, words('posenc-finding'), words('posenc-notice')]"))

    @property
    def finding(self) -> str:
        """The sentence below the picture."""
        return self.complete("words('posenc-finding')")

    @property
    def told(self) -> str:
        """The sentence of the story's present step, or the hint where there is none."""
        return self.complete("words('posenc-told')")

    @property
    def readout(self) -> str:
        """What is read off."""
        return self.complete("words('posenc-readout')")

    @property
    def notice(self) -> str:
        """What was said of a value that was typed or came by a link."""
        return self.complete("words('posenc-notice')")


class Kept:
    """A page of the site that stays open from test to test; each finds every figure as the page first draws it."""

    def __init__(self, page: Page, watch: Watch, address: str) -> None:
        self.page, self.watch = page, watch
        page.goto(address)
        settle(page)
        page.evaluate(OPEN_ALL)
        page.evaluate("document.activeElement.blur()")
        self._marks = page.evaluate(MARKS)
        self._shown: list[Live] = []
        self._away: set[str] = set()

    def view(self, width: int, height: int, reduced_motion: Literal["reduce", "no-preference"]) -> None:
        """What may change while a page is open: the size of its window, and whether the reader wants less motion."""
        if self.page.viewport_size != {"width": width, "height": height}:
            self.page.set_viewport_size({"width": width, "height": height})
            self.page.evaluate(AT_REST)
        self.page.emulate_media(reduced_motion=reduced_motion)

    def live(self, module: str) -> Live:
        """The first explorable of a module, drawn anew if a test has had it."""
        if module in self._away:
            figure_of(self.page, module).evaluate(DRAW_ANEW)
            self._away.remove(module)
        self._shown.append(Live(self.page, module))
        return self._shown[-1]

    def tidy(self) -> None:
        """Put away what was shown, and leave the page as it came."""
        for live in self._shown:
            live.settle()
            live.handle.evaluate(PUT_AWAY)
            self._away.add(live.module)
        self._shown.clear()
        self.page.mouse.move(-1, -1)
        self.page.context.clear_permissions()
        self.page.evaluate(TIDY, self._marks)


class Live(Shown):
    """One explorable on a page: the first of its module."""

    def __init__(self, page: Page, module: str) -> None:
        self.page, self.module = page, module
        self.figure = figure_of(page, module)
        self.handle = self.figure.element_handle()  # a locator looks through the page anew for each question
        if not self.handle.evaluate(INTO_VIEW, FRAME_PATIENCE):
            raise TimeoutError(f"{module} was not drawn within {FRAME_PATIENCE / 1000:.0f} s")
        self.settle()

    def call(self, function: str, x: object = None) -> Any:
        return self.handle.evaluate(function, x)

    def draw_anew(self) -> None:
        """Draw it as if its page had just been opened."""
        self.handle.evaluate(PUT_AWAY)
        self.handle.evaluate(DRAW_ANEW)

    def one(self, selector: str) -> ElementHandle:
        """The one element of the figure that a selector names, which a locator would look for again at each use."""
        found = self.handle.query_selector_all(selector)
        assert len(found) == 1, f"{selector} names {len(found)} elements"
        return found[0]

    def control(self, name: str) -> Locator:
        """The row of one control."""
        return self.figure.locator(f"[data-control={name}]")

    def input(self, name: str, kind: str = "range") -> ElementHandle:
        """The slider of a control, or its field where `kind` is "text"."""
        return self.one(f"[data-control={name}] input[type={kind}]")

    def drag(self, name: str, to: float) -> None:
        """Drag a slider by the mouse from its middle to a share of its width, or beyond."""
        slider = self.input(name)
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        assert box is not None
        y = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + box["width"] / 2, y)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + box["width"] * to, y, steps=3)
        self.page.mouse.up()
