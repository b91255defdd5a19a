// Small pictures of pairs, one a pair from fast to slow, in rows of equal length.

// As large as they fit into `width` × `height`, and at most `greatest` pixels; where they would be smaller than `least`,
// only every second pair has one, or every third, and so on. `top` is where the first row begins.
export function pairGrid(pairs, { width, height, top, least, greatest }) {
  for (let every = 1; ; every++) {
    const count = Math.ceil(pairs / every);
    let rows = 1, size = 0;
    for (let tried = 1; tried <= count; tried++) {
      const fits = Math.min(width / Math.ceil(count / tried), height / tried, greatest);
      if (fits > size) [rows, size] = [tried, fits];
    }
    if (size < least && count > 1) continue;
    const columns = Math.ceil(count / rows), across = Math.min(width / columns, 1.25 * size);
    const grid = {
      every, size, shown: Array.from({ length: count }, (_, k) => k * every),
      area: { left: 0, right: across * columns, top, bottom: top + rows * size },
      middle: (i) => [(Math.floor(i / every) % columns + 0.5) * across, top + (Math.floor(i / every / columns) + 0.5) * size],
      at: (x, y) => {
        const column = Math.min(Math.floor(x / across), columns - 1), row = Math.min(Math.floor((y - top) / size), rows - 1);
        return grid.shown[Math.min(Math.max(row, 0) * columns + Math.max(column, 0), count - 1)];
      },
      // Of the pairs of which only one has a picture, the first that is wanted has it.
      show(...wanted) {
        const of = (k) => Array.from({ length: Math.min(every, pairs - k * every) }, (_, j) => k * every + j);
        grid.shown = grid.shown.map((_, k) => wanted.map((test) => of(k).find(test)).find((i) => i !== undefined) ?? k * every);
      },
    };
    return grid;
  }
}

// How one points at a pair where a plot of the same pairs stands beside the grid: in either.
const areas = ({ grid, x, y: [bottom, top] }) => [grid.area, { left: x.start, right: x.end, top, bottom: bottom + 20 }];
const inside = (px, py) => ({ left, right, top, bottom }) => px >= left && px <= right && py >= top && py <= bottom;
const pairAt = (px, py, { grid, x }) => (inside(px, py)(grid.area) ? grid.at(px, py) : x.nearest(x.invert(px)));
export const readers = [{ name: "pair", axis: ({ x }) => x, within: areas, pick: pairAt }];
export const press = (px, py, result) => (areas(result).some(inside(px, py)) ? { pair: pairAt(px, py, result) } : null);

const TURN = 2 * Math.PI;

// A pair on its dial, dragged around as often as one likes; a fast one goes on by a token at a time. `dragged` has the
// `frequencies`, how many `tokens` the angle is at, and changes(tokens, pair); the dial goes clockwise from the top, or as
// angles in the plane do.
export function dialHandle(name, pair, [x, y], radius, { frequencies, tokens, changes, plane = false }) {
  const frequency = frequencies[pair], angle = tokens * frequency, [cos, sin] = [radius * Math.cos(angle), radius * Math.sin(angle)];
  return {
    name, along: "around", x: x + (plane ? cos : sin), y: y - (plane ? sin : cos), disc: { x, y, radius: radius + 10 },
    drag(px, py) {
      const moved = (plane ? Math.atan2(y - py, px - x) : Math.atan2(px - x, y - py)) - angle;
      return changes(tokens + (moved - TURN * Math.round(moved / TURN)) / frequency, pair);
    },
  };
}

// Of the pictures in a grid, that which the pointer is on.
export function smallHandle(grid, share, px, py, dragged) {
  if (!inside(px, py)(grid.area)) return [];
  const pair = grid.at(px, py);
  return [{ ...dialHandle("small", pair, grid.middle(pair), share * grid.size, dragged), scrolls: true }];
}
