"""What is written on an explorable's canvas, and whether one text covers another or a line crosses it."""

from __future__ import annotations

from posenc.widgets import Explorable
from tests.book.site.live import Live
from tests.explorables import CASES, told

# The texts of the last picture, each with its box in the picture's own pixels.
WRITTEN = """await (async () => {
  const { prototype } = CanvasRenderingContext2D, { fillText, clearRect } = prototype;
  let texts = [];
  const canvas = figure.querySelector('canvas'); // others may be on the page
  prototype.clearRect = function (...box) {
    if (this.canvas === canvas) texts = [];
    return clearRect.apply(this, box);
  };
  prototype.fillText = function (text, x, y) {
    const { a, b, e, f } = this.getTransform(), across = x + e / a, down = y + f / a, box = this.measureText(text);
    const left = across - box.actualBoundingBoxLeft, right = across + box.actualBoundingBoxRight;
    const top = down - box.actualBoundingBoxAscent, bottom = down + box.actualBoundingBoxDescent;
    const level = b === 0; // a slanted text is no box
    if (text && this.canvas === canvas && level) texts.push({ text, left, right, top, bottom });
    return fillText.call(this, text, x, y);
  };
  try {
    for (const [name, value] of Object.entries(x)) model.set(name, value);
    document.documentElement.classList.add('drawn-anew'); // a change of the theme's classes draws, as a setting may not
    do await new Promise(requestAnimationFrame); while (!explorable.done);
    await new Promise(requestAnimationFrame);
  } finally {
    Object.assign(prototype, { fillText, clearRect });
    document.documentElement.classList.remove('drawn-anew');
  }
  return texts;
})()"""
# The texts of the last picture, each with the shares of its box that were drawn on before it, and over it.
CROSSED = """await (async () => {
  const { prototype } = CanvasRenderingContext2D, { fillText, clearRect, getImageData } = prototype;
  let texts = [];
  const canvas = figure.querySelector('canvas'), context = canvas.getContext('2d');
  const unlike = (data, of) => {
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {
      if ([0, 1, 2, 3].some((k) => Math.abs(data[at + k] - of(at + k)) > 45)) count++;
    }
    return (4 * count) / data.length;
  };
  const one = document.createElement('canvas').getContext('2d');
  one.fillStyle = getComputedStyle(figure.querySelector('.posenc-explorable-view')).getPropertyValue('--posenc-ground');
  one.fillRect(0, 0, 1, 1);
  const ground = one.getImageData(0, 0, 1, 1).data;
  const onGround = (data) => data.map((value, at) => {
    const opacity = data[at - (at % 4) + 3] / 255;
    return at % 4 === 3 ? 255 : value * opacity + ground[at % 4] * (1 - opacity);
  });
  prototype.clearRect = function (...box) {
    if (this.canvas === canvas) texts = [];
    return clearRect.apply(this, box);
  };
  prototype.fillText = function (text, x, y) {
    const { a, b, e, f } = this.getTransform(), box = this.measureText(text);
    const left = Math.floor(a * (x - box.actualBoundingBoxLeft) + e);
    const top = Math.floor(a * (y - box.actualBoundingBoxAscent) + f);
    const wide = Math.ceil(a * (x + box.actualBoundingBoxRight) + e) - left;
    const high = Math.ceil(a * (y + box.actualBoundingBoxDescent) + f) - top;
    if (!text || this.canvas !== canvas || b !== 0 || wide < 1 || high < 1) return fillText.call(this, text, x, y);
    const pixels = () => onGround(getImageData.call(context, left, top, wide, high).data);
    const below = unlike(pixels(), (at) => ground[at % 4]);
    fillText.call(this, text, x, y);
    const written = pixels();
    texts.push({ text, below, above: () => unlike(pixels(), (at) => written[at]) });
  };
  try {
    for (const [name, value] of Object.entries(x)) model.set(name, value);
    document.documentElement.classList.add('drawn-anew');
    do await new Promise(requestAnimationFrame); while (!explorable.done);
    await new Promise(requestAnimationFrame);
    return texts.map(({ text, below, above }) => ({ text, below, above: above() }));
  } finally {
    Object.assign(prototype, { fillText, clearRect });
    document.documentElement.classList.remove('drawn-anew');
  }
})()"""


def written(live: Live, **setting: object) -> list[dict]:
    """The texts on the canvas at a setting, each with its box."""
    return live.evaluate(WRITTEN, setting)


def crossed(live: Live, cls: type[Explorable]) -> list[tuple[str, str]]:
    """Steps and settings of its case at which a line or a mark takes some of a text's box, with the text."""
    [case] = [case for case in CASES if case.cls is cls]
    settings = [*cls.story().items(), *((str(setting), setting) for setting in [*case.settings, case.largest])]
    found = []
    for name, setting in settings:
        texts = live.evaluate(CROSSED, told(cls, **setting).setting)
        assert texts
        # what is all drawn on, such as a cell, is a text's own ground
        found += [(name, each["text"]) for each in texts if 0.06 < each["below"] < 0.9 or each["above"] > 0.06]
    return found
