// Labels beside points, of which none covers another, nor anything else that is kept free; and names on curves.

import { widthOf, words } from "./drawing.js";

const HIGH = 15; // pixels of a line of text
const AROUND = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6].map((k) => (k * Math.PI) / 6); // from where a label should stand
const FARTHER = [0, 8, 18, 30, 45, 60]; // pixels
const TAKEN = 1e6; // what it costs to cover any of it
const FAR = 1.5; // pixels of lines that it is as bad to cover as to stand one pixel farther away
const APART = 4; // pixels between two labels on one line
const STEP = 6; // pixels from one place to the next where all of the box is searched

const overlap = (a, b) => (
  Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top))
);

// The place of a label `wide` pixels long, `away` from a point and `towards` an angle from it if there is room: as near to
// that as it covers nothing of what is taken, or else the nearest free one of the box, or where it covers least. Near the
// point it also goes out of the way of `lines`, but not far for a few of them.
export function place(wide, [x, y], towards, away, box, taken, lines = []) {
  const at = (left, top) => ({ left, right: left + wide, top, bottom: top + HIGH });
  const of = (others, spot) => others.reduce((sum, other) => sum + overlap(spot, other), 0), covered = (spot) => of(taken, spot);
  const reach = away + FARTHER.at(-1) + wide;
  const near = lines.filter(({ left, right, top, bottom }) => Math.max(left - x, x - right, top - y, y - bottom) < reach);
  let best = null, least = Infinity;
  for (const farther of FARTHER) {
    if (FAR * farther >= least) break;
    for (const turn of AROUND) {
      const across = Math.cos(towards + turn), down = Math.sin(towards + turn), far = away + farther;
      const left = Math.min(Math.max(x + across * (far + wide / 2) - wide / 2, box.left), box.right - wide);
      const top = Math.min(Math.max(y + down * (far + HIGH / 2) - HIGH / 2, box.top), box.bottom - HIGH);
      const spot = at(left, top), taking = covered(spot), over = (taking > 0 ? TAKEN + taking : of(near, spot)) + FAR * farther;
      if (over < least) [best, least] = [spot, over];
    }
  }
  if (least < TAKEN) return best;
  const all = [];
  for (let left = box.left; left <= box.right - wide; left += STEP) for (let top = box.top; top <= box.bottom - HIGH; top += STEP) all.push(at(left, top));
  const far = ({ left, top }) => Math.hypot(left + wide / 2 - x, top + HIGH / 2 - y);
  return all.filter((spot) => covered(spot) === 0).sort((one, other) => far(one) - far(other))[0] ?? best;
}

// Writes one label after another: the first have the choice.
export class Labels {
  constructor(context, theme, box) {
    Object.assign(this, { context, theme, box, taken: [], lines: [] });
  }

  // Keeps a disc free, such as a grip.
  keep(x, y, radius, of = this.taken) {
    of.push({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius });
  }

  // Keeps a line between two points free.
  along([fromX, fromY], [toX, toY], of = this.taken) {
    const count = Math.ceil(Math.hypot(toX - fromX, toY - fromY) / 6) || 1;
    for (let k = 0; k <= count; k++) this.keep(fromX + ((toX - fromX) * k) / count, fromY + ((toY - fromY) * k) / count, 3, of);
  }

  // Keeps the lines from point to point free where there is room beside them.
  beside(points) {
    points.slice(1).forEach((point, k) => this.along(points[k], point, this.lines));
  }

  write(text, point, { towards = 0, away = 10, colour = this.theme.muted, bold = false } = {}) {
    const { context, theme, box, taken, lines } = this;
    const at = place(widthOf(context, bold ? `600 ${theme.font}` : theme.font, text), point, towards, away, box, taken, lines);
    taken.push({ ...at, left: at.left - APART, right: at.right + APART });
    words(context, theme, text, at.left, (at.top + at.bottom) / 2, { colour, bold, rim: true });
  }
}

const SPOTS = [0.5, 0.3, 0.7, 0.15, 0.85, 0.4, 0.6, 0.22, 0.78, 0.08, 0.92];
const NAME = 16; // pixels of a line of words
const COVERS = 1000; // what it costs to cover other words: rather no name

// Writes each curve's name above or below it, where fewest other things stand. curves: [{ text, colour, points }] with points
// in pixels from left to right, of which some may have no text, or less `weight`; `taken` are rectangles that hold other words.
export function nameCurves(context, theme, box, curves, taken = []) {
  const seen = ([px, py]) => Number.isFinite(py) && px >= box.left - 1 && px <= box.right + 1;
  const dense = curves.map(({ points, weight = 1 }) => points.filter(seen).flatMap(between).map((point) => [...point, weight])), all = dense.flat();
  curves.forEach(({ text, colour }, k) => {
    if (!text || dense[k].length === 0) return;
    const long = widthOf(context, `600 ${theme.font}`, text) + 6;
    let best = null;
    for (const spot of SPOTS) {
      const left = Math.min(Math.max(box.left + spot * (box.right - box.left) - long / 2, box.left + 2), box.right - long - 2);
      const own = dense[k].filter(([px]) => px >= left - 3 && px <= left + long + 3).map(([, py]) => py);
      if (own.length === 0) continue;
      const above = Math.min(...own) - NAME - 5, below = Math.max(...own) + 5;
      for (const top of [0, 1, 2].flatMap((lines) => [above - lines * NAME, below + lines * NAME])) {
        const place = { left, right: left + long, top, bottom: top + NAME };
        const outside = Math.max(box.top - top, 0) + Math.max(top + NAME - box.bottom, 0);
        let cost = 200 * outside + COVERS * taken.filter((other) => meet(place, other)).length;
        if (best !== null && cost >= best.cost) continue;
        for (const [px, py, weight] of all) if (px > left && px < place.right && py > top - 3 && py < place.bottom + 3) cost += weight;
        if (best === null || cost < best.cost) best = { ...place, cost };
      }
    }
    if (best === null || best.cost >= COVERS) return;
    taken.push(best);
    words(context, theme, text, best.left + 3, best.top + NAME / 2, { colour, bold: true, ground: true });
  });
}

const meet = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

// A point and those on the way to the next, about four pixels apart.
function between([px, py], k, points) {
  const [nextX, nextY] = points[k + 1] ?? [px, py], count = Math.ceil(Math.hypot(nextX - px, nextY - py) / 4);
  if (count < 2) return [[px, py]];
  return Array.from({ length: count }, (_, n) => [px + (nextX - px) * (n / count), py + (nextY - py) * (n / count)]);
}
