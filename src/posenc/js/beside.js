// One picture large and the others small: in a column beside it where there is room, else in a row below. Those that stand
// small are pressed to become large. Names on curves find a place of their own here too.

import { widthOf, words } from "./drawing.js";

const COLUMN = 158, GAP = 22, ROW = 62, CAPTION = 18; // pixels

const wide = (width) => width >= 600;

// Places of one large panel, `high` pixels from the top to the end of its axes' labels, and of so many small ones; their
// captions stand above them. In a column the first is so many times as high as each other.
export function largeAndSmall(width, count, high, { column = COLUMN, first = 1 } = {}) {
  if (wide(width)) {
    const left = width - column, each = (high - (count - 1) * 10) / (count - 1 + first);
    const from = (k) => k * (each + 10) + (k > 0 ? (first - 1) * each : 0);
    return {
      large: { left: 0, right: left - GAP, top: 0, bottom: high },
      small: Array.from({ length: count }, (_, k) => ({ left, right: width, top: from(k) + CAPTION, bottom: from(k + 1) - 10 })),
      height: high,
    };
  }
  const each = (width - (count - 1) * 10) / count, top = high + 8 + CAPTION;
  return {
    large: { left: 0, right: width, top: 0, bottom: high },
    small: Array.from({ length: count }, (_, k) => ({ left: k * (each + 10), right: k * (each + 10) + each, top, bottom: top + ROW })),
    height: top + ROW + 2,
  };
}

// A small panel's frame and caption.
export function frame(context, theme, { left, right, top, bottom }, caption) {
  context.strokeStyle = theme.muted;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, top + 0.5, right - left - 1, bottom - top - 1);
  words(context, theme, caption, left, top - 4, { baseline: "bottom", width: right - left });
}

export const inside = ({ left, right, top, bottom }, x, y) => x >= left && x <= right && y >= top - CAPTION && y <= bottom;

const SPOTS = [0.5, 0.3, 0.7, 0.15, 0.85, 0.4, 0.6, 0.22, 0.78, 0.08, 0.92];
const HIGH = 16; // of a line of words
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
      const above = Math.min(...own) - HIGH - 5, below = Math.max(...own) + 5;
      for (const top of [0, 1, 2].flatMap((lines) => [above - lines * HIGH, below + lines * HIGH])) {
        const place = { left, right: left + long, top, bottom: top + HIGH };
        const outside = Math.max(box.top - top, 0) + Math.max(top + HIGH - box.bottom, 0);
        let cost = 200 * outside + COVERS * taken.filter((other) => meet(place, other)).length;
        if (best !== null && cost >= best.cost) continue;
        for (const [px, py, weight] of all) if (px > left && px < place.right && py > top - 3 && py < place.bottom + 3) cost += weight;
        if (best === null || cost < best.cost) best = { ...place, cost };
      }
    }
    if (best === null || best.cost >= COVERS) return;
    taken.push(best);
    words(context, theme, text, best.left + 3, best.top + HIGH / 2, { colour, bold: true, ground: true });
  });
}

const meet = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

// A point and those on the way to the next, some four pixels apart.
function between([px, py], k, points) {
  const [nextX, nextY] = points[k + 1] ?? [px, py], count = Math.ceil(Math.hypot(nextX - px, nextY - py) / 4);
  if (count < 2) return [[px, py]];
  return Array.from({ length: count }, (_, n) => [px + (nextX - px) * (n / count), py + (nextY - py) * (n / count)]);
}
