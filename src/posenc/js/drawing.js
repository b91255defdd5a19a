// Drawing on a canvas, shared by every explorable: axes, lines, bands, bars, arrows, heat maps and their legends.

import { fixed, grouped } from "./numbers.js";

export class Axis {
  constructor({ from, to, start, end, log = false }) {
    Object.assign(this, { from, to, start, end, log });
    this.low = log ? Math.log(from) : from;
    this.span = (log ? Math.log(to) : to) - this.low;
  }

  at(value) {
    return this.start + ((this.log ? Math.log(value) : value) - this.low) * ((this.end - this.start) / this.span);
  }

  invert(pixel) {
    const value = this.low + (pixel - this.start) * (this.span / (this.end - this.start));
    return this.log ? Math.exp(value) : value;
  }

  ticks(about) {
    if (this.log) {
      const ticks = [];
      for (let tick = 10 ** Math.ceil(Math.log10(this.from)); tick <= this.to; tick *= 10) ticks.push(tick);
      return ticks;
    }
    const rough = (this.to - this.from) / about;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    const ticks = [];
    for (let k = Math.ceil(this.from / step); k * step <= this.to; k++) ticks.push(k * step);
    return ticks;
  }

  // The nearest integer on the axis.
  nearest(value) {
    return Math.min(Math.max(Math.round(value), Math.ceil(this.from)), Math.floor(this.to)) + 0; // never −0
  }

  // Whole values per pixel column: [pixel, first, one past the last], for the columns that hold any.
  columns() {
    const columns = [];
    let first = Math.ceil(this.from);
    for (let pixel = Math.floor(this.start); pixel <= Math.ceil(this.end) && first <= this.to; pixel++) {
      const stop = Math.min(Math.floor(this.invert(pixel + 0.5)), this.to) + 1;
      if (stop > first) {
        columns.push([this.log || stop - first > 1 ? pixel : this.at(first), first, stop]);
        first = stop;
      }
    }
    return columns;
  }
}

const FINE = 1; // pixels to either side over which a line is smooth

export class Plot {
  constructor(context, theme, x, y) {
    Object.assign(this, { context, theme, x, y });
  }

  axes({ xTitle, yTitle, xTicks = 6, yTicks = 5, xText = grouped, yText = (value) => fixed(value, 1) }) {
    const { context, theme, x, y } = this;
    context.lineWidth = 1;
    context.font = theme.font;
    context.fillStyle = theme.muted;
    context.strokeStyle = theme.grid;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.beginPath();
    for (const tick of y.ticks(yTicks)) {
      context.moveTo(x.start, y.at(tick));
      context.lineTo(x.end, y.at(tick));
      words(context, theme, yText(tick), x.start - 6, y.at(tick), { align: "right", width: x.start - 6 });
    }
    context.stroke();
    context.textBaseline = "top";
    for (const tick of x.ticks(xTicks)) {
      const label = xText(tick), half = widthOf(context, theme.font, label) / 2;
      context.textAlign = "center";
      context.fillText(label, Math.min(x.at(tick), x.end - half + 6), y.start + 6);
    }
    const width = x.end - x.start;
    words(context, theme, xTitle, x.end, y.start + 22, { align: "right", baseline: "top", width });
    words(context, theme, yTitle, x.start, y.end - 4, { baseline: "bottom", width });
  }

  path(points) {
    const { context } = this;
    context.beginPath();
    for (const [px, py] of points) context.lineTo(px, py);
  }

  // Least and greatest of one series in every column, restricted to what is filled so far.
  static extremes(columns, filled, least, greatest = least) {
    return columns.map(([pixel, start], k) => {
      let low = Infinity, high = -Infinity;
      for (let m = start; m < filled[k]; m++) {
        if (least[m] < low) low = least[m];
        if (greatest[m] > high) high = greatest[m];
      }
      return [pixel, low, high];
    });
  }

  // A line through one value in each column, as [pixel, value]; one that is not finite breaks it.
  curve(points, colour, { width = 1.6, dash = [] } = {}) {
    const { context, y } = this;
    this.clip();
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    let drawing = false;
    for (const [pixel, value] of points) {
      const finite = Number.isFinite(value);
      if (finite) drawing ? context.lineTo(pixel, y.at(value)) : context.moveTo(pixel, y.at(value));
      drawing = finite;
    }
    context.stroke();
    context.restore();
  }

  // Column by column as [pixel, value], the mean of the columns within a reach: by itself, it keeps what values stand far
  // enough apart to show, and of what swings faster the course.
  static course(extremes, reach = FINE) {
    let first = 0;
    return extremes.map(([pixel]) => {
      while (extremes[first][0] < pixel - reach) first += 1;
      let sum = 0, count = 0;
      for (let k = first; k < extremes.length && extremes[k][0] <= pixel + reach; k++) {
        const [, low, high] = extremes[k];
        if (!(low <= high)) continue;
        sum += (low + high) / 2;
        count += 1;
      }
      return [pixel, sum / count];
    });
  }

  // What a curve stays within around smooth `centres`, column by column as [pixel, least, greatest]: how far it goes from
  // them within a reach, averaged over as many pixels. A column that is not filled yet is left out.
  static envelope(extremes, centres, reach) {
    const known = extremes.map(([pixel, low, high], k) => ({ pixel, centre: centres[k], low: low - centres[k], high: high - centres[k] }))
      .filter(({ low, high }) => low <= high);
    const over = (of) => known.map(({ pixel }, k) => {
      let first = k, stop = k + 1;
      while (first > 0 && pixel - known[first - 1].pixel <= reach) first -= 1;
      while (stop < known.length && known[stop].pixel - pixel <= reach) stop += 1;
      return of(first, stop);
    });
    const edge = (side, extreme) => {
      const farthest = over((first, stop) => extreme(...known.slice(first, stop).map((column) => column[side])));
      return over((first, stop) => farthest.slice(first, stop).reduce((sum, value) => sum + value, 0) / (stop - first));
    };
    const lower = edge("low", Math.min), upper = edge("high", Math.max);
    return known.map(({ pixel, centre }, k) => [pixel, centre + lower[k], centre + upper[k]]);
  }

  // The same around the curve's own course.
  static around(extremes, reach) {
    return Plot.envelope(extremes, Plot.course(extremes, reach).map(([, value]) => value), reach);
  }

  // A curve that swings up and down within few pixels: what it stays within, and one line throughout.
  swings(extremes, envelope, colour, style) {
    this.area(envelope, colour);
    this.curve(Plot.course(extremes), colour, style);
  }

  area(extremes, colour, opacity = 0.22) {
    const { context, y } = this;
    this.clip();
    context.globalAlpha = opacity;
    context.fillStyle = colour;
    const above = extremes.map(([pixel, , high]) => [pixel, y.at(high)]);
    const below = extremes.map(([pixel, low]) => [pixel, y.at(low)]).reverse();
    this.path([...above, ...below]);
    context.fill();
    context.restore();
  }

  clip() {
    const { context, x, y } = this;
    context.save();
    context.beginPath();
    context.rect(x.start - 1, y.end - 1, x.end - x.start + 2, y.start - y.end + 2);
    context.clip();
  }

  // A line through points in data coordinates; a point that is not finite breaks it.
  line(points, colour, style) {
    this.through(points.length, (k) => points[k][0], (k) => points[k][1], colour, style);
  }

  // The same through one value at each of 0, 1, 2, …
  series(values, colour, style) {
    this.through(values.length, (k) => k, (k) => values[k], colour, style);
  }

  through(count, acrossAt, upAt, colour, { width = 1.6, dash = [] } = {}) {
    const { context, x, y } = this;
    this.clip();
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    let drawing = false;
    for (let k = 0; k < count; k++) {
      const across = acrossAt(k), up = upAt(k);
      const finite = Number.isFinite(across) && Number.isFinite(up);
      if (finite) drawing ? context.lineTo(x.at(across), y.at(up)) : context.moveTo(x.at(across), y.at(up));
      drawing = finite;
    }
    context.stroke();
    context.restore();
  }

  // Round marks at points in data coordinates, or square ones.
  marks(points, colour, { radius = 3, square = false } = {}) {
    const { context, x, y } = this;
    context.fillStyle = colour;
    context.beginPath();
    for (const [across, up] of points) {
      const px = x.at(across), py = y.at(up);
      if (square) {
        context.rect(px - radius, py - radius, 2 * radius, 2 * radius);
      } else {
        context.moveTo(px + radius, py);
        context.arc(px, py, radius, 0, 2 * Math.PI);
      }
    }
    context.fill();
  }

  // The ground between two values of x.
  ground(from, to, colour, opacity = 0.12) {
    const { context, x, y } = this, left = x.at(from), right = x.at(to);
    context.globalAlpha = opacity;
    context.fillStyle = colour;
    context.fillRect(Math.min(left, right), Math.min(y.start, y.end), Math.abs(right - left), Math.abs(y.start - y.end));
    context.globalAlpha = 1;
  }

  bar(pixel, width, value, colour) {
    const zero = this.y.at(0), top = this.y.at(value);
    this.context.fillStyle = colour;
    this.context.fillRect(pixel - width / 2, Math.min(zero, top), width, Math.max(Math.abs(zero - top), 1));
  }

  vertical(value, options) {
    this.rule([this.x.at(value), this.y.start], [this.x.at(value), this.y.end], options);
  }

  horizontal(value, options) {
    this.rule([this.x.start, this.y.at(value)], [this.x.end, this.y.at(value)], options);
  }

  rule(from, to, { colour = this.theme.text, width = 1, dash = [2, 3] } = {}) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    this.path([from, to]);
    context.stroke();
    context.setLineDash([]);
  }
}

// A theme whose letters are of another size, in pixels, but none smaller than the theme has at least.
export function sized(theme, size) {
  return { ...theme, font: theme.font.replace(/^\d+px/, `${Math.max(size, theme.least)}px`) };
}

// The width of a text in pixels, measured once: a slider that moves writes most texts again and again.
const widths = new Map();
export function widthOf(context, font, text) {
  const key = `${font} ${text}`;
  if (!widths.has(key)) {
    if (widths.size > 1000) widths.clear();
    context.font = font;
    widths.set(key, context.measureText(text).width);
  }
  return widths.get(key);
}

// Calls back once the page's faces have come, if one is on its way: what was measured before is forgotten.
export function onceLettersCome(redraw) {
  if (document.fonts.status === "loaded") return;
  document.fonts.ready.then(() => {
    widths.clear();
    redraw();
  });
}

// Names of the curves, set side by side above the plot, each in its own stroke.
export function legend(context, theme, entries, left, top, right, { ground = false } = {}) {
  let x = left, y = top;
  for (const { label, colour, dash = [], area = false, pattern = null } of entries) {
    const width = widthOf(context, theme.font, label) + 34;
    if (x + width > right && x > left) {
      x = left;
      y += 17;
    }
    context.strokeStyle = context.fillStyle = colour;
    context.globalAlpha = area ? 0.3 : 1;
    context.lineWidth = area || pattern ? 10 : 2;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + 20, y);
    context.stroke();
    if (pattern) {
      context.strokeStyle = pattern;
      context.stroke();
    }
    context.globalAlpha = 1;
    context.setLineDash([]);
    words(context, theme, label, x + 25, y, { colour: theme.text, ground });
    x += width + 6;
  }
  return y + 12;
}

// Words on the canvas: one text, or several from long to short, of which the first that fits into `width` is written; the
// last is set in narrower letters where a little is lacking.
// `align` and `baseline` are the canvas's own. Lines behind do not cross them out on a `ground` of their own, nor in a `rim` of
// the page's colour, which covers less.
export function words(context, theme, text, x, y, { colour = theme.muted, align = "left", baseline = "middle", bold = false, width = Infinity, ground = false, rim = false } = {}) {
  const font = bold ? `600 ${theme.font}` : theme.font, texts = [text].flat();
  const fits = (words) => width === Infinity || widthOf(context, font, words) <= width;
  const written = texts.find(fits) ?? texts.at(-1);
  if (ground) {
    const wide = widthOf(context, font, written), left = { left: x, center: x - wide / 2, right: x - wide }[align];
    context.globalAlpha = 0.85;
    context.fillStyle = theme.ground;
    context.fillRect(left - 3, y - 8, wide + 6, 16);
    context.globalAlpha = 1;
  }
  context.font = font;
  context.fillStyle = colour;
  context.textAlign = align;
  context.textBaseline = baseline;
  if (rim) {
    const { lineJoin } = context;
    Object.assign(context, { strokeStyle: theme.ground, lineWidth: 4, lineJoin: "round" });
    context.strokeText(written, x, y);
    context.lineJoin = lineJoin;
  }
  const narrow = width < Infinity && width > 0.8 * widthOf(context, font, written);
  context.fillText(written, x, y, ...(narrow ? [width] : []));
}

// A text in lines, of which each fits into `width` pixels unless a word of it does not.
export function wrapped(context, font, text, width) {
  return text.split(" ").reduce((lines, word) => {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    return lines.length && widthOf(context, font, longer) > width ? [...lines, word] : [...lines.slice(0, -1), longer];
  }, []);
}

// An arrow between two points in pixels.
export function arrow(context, [fromX, fromY], [toX, toY], colour, { width = 2.5, dash = [], head = 9 } = {}) {
  const length = Math.hypot(toX - fromX, toY - fromY), size = Math.min(head, length);
  const [across, up] = length === 0 ? [0, 0] : [(toX - fromX) / length, (toY - fromY) / length];
  const [baseX, baseY] = [toX - across * size, toY - up * size];
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(baseX, baseY);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(toX, toY);
  context.lineTo(baseX - (up * size) / 2, baseY + (across * size) / 2);
  context.lineTo(baseX + (up * size) / 2, baseY - (across * size) / 2);
  context.fill();
}

// A point that stands out from the lines behind it.
export function disc(context, theme, x, y, radius, colour) {
  context.fillStyle = colour;
  context.strokeStyle = theme.ground;
  context.lineWidth = 1.5;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}

// A mark on what can be dragged, the same everywhere.
export function grip(context, theme, x, y, colour) {
  context.fillStyle = colour;
  context.strokeStyle = theme.ground;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x, y, 8, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
  context.fillStyle = theme.ground;
  context.beginPath();
  context.arc(x, y, 2.5, 0, 2 * Math.PI);
  context.fill();
}

// A length on a line, whose end is dragged: its name stands on the line, or beyond the grip where the line is too short.
export function ruler(context, theme, from, to, y, text) {
  const long = widthOf(context, theme.font, [text].flat().at(-1)), onLine = Math.abs(to - from) > long + 30, away = Math.sign(to - from);
  new Plot(context, theme).rule([from, y], [to, y], { colour: theme.muted, dash: [] });
  if (onLine) words(context, theme, text, (from + to) / 2, y, { align: "center", ground: true, width: Math.abs(to - from) - 30 });
  else words(context, theme, text, to + 14 * away, y, { align: away < 0 ? "right" : "left", ground: true, width: long });
  grip(context, theme, to, y, theme.text);
}

// Where panels stand: as many in a row as are at least `least` pixels wide. Each is { left, right, top, bottom }.
export function panels(count, { width, height, least, gap = 16, top = 0 }) {
  const columns = Math.max(1, Math.min(count, Math.floor((width + gap) / (least + gap))));
  const wide = (width - gap * (columns - 1)) / columns;
  return Array.from({ length: count }, (_, k) => {
    const left = (k % columns) * (wide + gap), upper = top + Math.floor(k / columns) * (height + gap);
    return { left, right: left + wide, top: upper, bottom: upper + height };
  });
}

// An axis of cells 0 … count − 1, such as the rows or the columns of a heat map.
export function cellAxis(count, start, end) {
  return new Axis({ from: -0.5, to: count - 0.5, start, end });
}

// One canvas with a pixel for each cell, for all heat maps in turn: a new one costs more than the map itself.
let shared = null;
function cells(columns, rows) {
  shared ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (shared.canvas.width < columns) shared.canvas.width = columns;
  if (shared.canvas.height < rows) shared.canvas.height = rows;
  return shared;
}

// A table of numbers as colours: columns across, rows down, on two cell axes.
export class HeatMap {
  constructor(context, theme, x, y) {
    Object.assign(this, { context, theme, x, y, rows: y.to + 0.5, columns: x.to + 0.5 });
  }

  // `values` holds the table row after row; `scale` is one of colours.js. NaN leaves a cell empty.
  fill(values, scale) {
    const { context, rows, columns, x, y } = this;
    const small = cells(columns, rows);
    const image = new ImageData(columns, rows), { data } = image;
    for (let k = 0, at = 0; k < rows * columns; k++, at += 4) {
      const value = values[k];
      if (Number.isNaN(value)) continue;
      data.set(scale.levels, at);
      data[at + 3] = Math.round(255 * scale.opacity(value));
    }
    small.putImageData(image, 0, 0);
    context.save();
    context.imageSmoothingEnabled = columns > x.end - x.start || rows > y.end - y.start; // cells finer than pixels are averaged
    context.drawImage(small.canvas, 0, 0, columns, rows, x.start, y.start, x.end - x.start, y.end - y.start);
    context.restore();
    context.strokeStyle = this.theme.grid;
    context.lineWidth = 1;
    context.strokeRect(x.start - 0.5, y.start - 0.5, x.end - x.start + 1, y.end - y.start + 1);
  }

  // Names of some rows and columns: [[index, text], …].
  labels({ xTicks, yTicks }) {
    const { context, theme, x, y } = this;
    for (const [column, text] of xTicks) words(context, theme, text, x.at(column), y.end + 6, { align: "center", baseline: "top" });
    for (const [row, text] of yTicks) words(context, theme, text, x.start - 6, y.at(row), { align: "right" });
  }

  // A frame around one cell.
  outline(row, column) {
    const { context, theme, x, y } = this;
    const left = x.at(column - 0.5), top = y.at(row - 0.5), wide = x.at(column + 0.5) - left, high = y.at(row + 0.5) - top;
    context.strokeStyle = theme.text;
    context.lineWidth = 1.5;
    context.strokeRect(left - 1, top - 1, wide + 2, high + 2);
  }
}

// The legend of a heat map: its colours from least to greatest, 10 pixels high.
export function colourBar(context, theme, scale, { left, top, width }) {
  const axis = new Axis({ from: scale.from, to: scale.to, start: left, end: left + width });
  const shades = Float64Array.from({ length: width }, (_, pixel) => axis.invert(left + pixel + 0.5));
  new HeatMap(context, theme, cellAxis(width, left, left + width), cellAxis(1, top, top + 10)).fill(shades, scale);
}
