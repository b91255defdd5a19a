// Labels beside points, of which none covers another, nor anything else that is kept free.

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
