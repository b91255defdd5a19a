"""What is written on an explorable's canvas, and whether one text covers another."""

from __future__ import annotations

from tests.site.live import Live

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
BOX = "[figure.querySelector('canvas').clientWidth, figure.querySelector('canvas').clientHeight]"


def written(live: Live, **setting: object) -> list[dict]:
    """The texts on the canvas at a setting, each with its box."""
    return live.evaluate(WRITTEN, setting)


def collisions(live: Live, **setting: object) -> list[tuple[str, str]]:
    """Texts of which one covers more than a pixel of another, and those that stand outside the picture."""
    texts, box = live.evaluate(f"[{WRITTEN}, {BOX}]", setting)
    assert texts
    found = [
        (text["text"], "the edge")
        for text in texts
        if text["left"] < -1 or text["top"] < -1 or text["right"] > box[0] + 1 or text["bottom"] > box[1] + 1
    ]
    for k, one in enumerate(texts):
        for other in texts[k + 1 :]:
            across = min(one["right"], other["right"]) - max(one["left"], other["left"])
            down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
            if across > 1 and down > 1:
                found.append((one["text"], other["text"]))
    return found
