// Series over whole distances that are too long for one frame: a coarse exact subset of every column at once, the rest
// once the slider rests.
//
// columns: [pixel, first, one past the last] as Axis.columns() makes them; fill(start, stop) writes the series there;
// `distances` is how many may be filled at once. Returns where each column is filled up to, and what goes on from there
// (see `complete` in explorable.js), undefined where nothing is left.
export function fillColumns(columns, fill, distances) {
  const run = Math.max(1, Math.floor(distances / columns.length));
  const filled = columns.map(([, start, stop]) => Math.min(stop, start + run));
  columns.forEach(([, start], k) => fill(start, filled[k]));
  let next = filled.findIndex((stop, k) => stop < columns[k][2]);
  const complete = (deadline) => {
    for (; next < columns.length; next++) {
      while (filled[next] < columns[next][2]) {
        if (performance.now() > deadline) return false;
        const stop = Math.min(columns[next][2], filled[next] + 512);
        fill(filled[next], stop);
        filled[next] = stop;
      }
    }
    return true;
  };
  return { filled, complete: next < 0 ? undefined : complete };
}
