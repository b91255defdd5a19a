import { dot } from "./arithmetic.js";
import { rotatedAxes } from "./arithmetic_axes.js";
import { complexProduct } from "./arithmetic_rotation.js";
import { colours, pairColour, tint } from "./colours.js";
import { Axis, Plot, arrow, grip, words, wrapped } from "./drawing.js";
import catalogue from "./rotation_planes.json";
import { explorable } from "./explorable.js";
import { Labels } from "./labels.js";
import { say } from "./sentences.js";

const { picture } = catalogue;
const POSITIONS = 96, RADII = [1.25, 0.8], APART = 7; // as in Python
const LAYERS = 5; // of the path, from back to front
const FINE = 8; // points of the line between two positions
const REACH = 1.52, GRID = 4; // what a panel of the path shows to each side; lines of the grid to each side of 0
const FIRST = pairColour(0, 4), SECOND = pairColour(3, 4); // the colours of the two planes
const STACKED = 400, NARROW = 358; // pixels below which the panels stand corner to corner, and then the height

function compute(state, width) {
  const { theta_1, theta_2, draw, align, orbit_13, orbit_24, w_length, w_angle, z_real, z_imaginary } = state;
  const own = (t) => [RADII[0] * Math.cos(t * theta_1), RADII[0] * Math.sin(t * theta_1), RADII[1] * Math.cos(t * theta_2), RADII[1] * Math.sin(t * theta_2)];
  const planes = rotatedAxes(draw, 1), axes = rotatedAxes(draw, align);
  // row k, column j: the j-th coordinate in the planes, along the k-th of the present axes
  const along = axes.map((axis) => planes.map((plane) => dot(axis, plane)));
  const from = (vector) => orbited(along.map((row) => dot(row, vector)), orbit_13, orbit_24), seen = (t) => from(own(t));
  const path = Array.from({ length: POSITIONS }, (_, t) => seen(t));
  const w = [w_length * Math.cos(w_angle), w_length * Math.sin(w_angle)];
  const values = {
    seen: path,
    product: dot(path[APART], path[0]),
    elsewhere: dot(path[POSITIONS - 1], path[POSITIONS - 1 - APART]),
    rotated: complexProduct([z_real, z_imaginary], w),
  };
  const line = Array.from({ length: (POSITIONS - 1) * FINE + 1 }, (_, k) => seen(k / FINE));
  const turn = Array.from({ length: 73 }, (_, k) => (Math.PI * k) / 36);
  const circles = [0, 1].map((k) => turn.map((angle) => from([0, 1, 2, 3].map((j) => (j >> 1 === k ? RADII[k] * (j % 2 ? Math.sin(angle) : Math.cos(angle)) : 0)))));
  return { values, line, circles, w, ...places(width) };
}

// Axis 1 rotated towards axis 3, and axis 2 towards axis 4.
function orbited([a, b, c, d], first, second) {
  const [cos1, sin1, cos2, sin2] = [Math.cos(first), Math.sin(first), Math.cos(second), Math.sin(second)];
  return [a * cos1 + c * sin1, b * cos2 + d * sin2, c * cos1 - a * sin1, d * cos2 - b * sin2];
}

const square = (left, top, size, reach) => ({
  x: new Axis({ from: -reach, to: reach, start: left, end: left + size }),
  y: new Axis({ from: -reach, to: reach, start: top + size, end: top }),
});

// Two panels of the path, side by side or on a phone corner to corner, so large that their circles touch; or one plane as
// wide as there is room for.
function places(width) {
  const stacked = width < STACKED, size = stacked ? width + NARROW - Math.sqrt(2 * width * NARROW) : Math.min((width - 12) / 2, 320), top = stacked ? 0 : 24;
  const from = stacked ? 0 : width / 4 - size / 2, height = stacked ? NARROW : top + size + 12, unit = Math.min(height, width) / 5.4; // z·w at its longest stays within
  const centred = (pixels) => ({ from: -pixels / unit / 2, to: pixels / unit / 2 });
  return {
    height, stacked,
    panels: [square(from, top, size, REACH), stacked ? square(width - size, height - size, size, REACH) : square(width / 2 + from, top, size, REACH)],
    plane: { x: new Axis({ ...centred(width), start: 0, end: width }), y: new Axis({ ...centred(height), start: height, end: 0 }) },
  };
}

// The path from back to front, as the axes of the other panel have it: what is farther away is paler and smaller.
function drawLayers(plot, line, positions, pick, depthOf, colour) {
  const { context } = plot, layer = (point) => Math.min(Math.max(Math.floor((depthOf(point) / (2 * REACH) + 0.5) * LAYERS), 0), LAYERS - 1);
  for (let k = 0; k < LAYERS; k++) {
    context.globalAlpha = 0.4 + (0.6 * k) / (LAYERS - 1);
    plot.line(line.map((point, at) => (layer(point) === k || layer(line[Math.max(at - 1, 0)]) === k ? pick(point) : [NaN, NaN])), colour, { width: 1 + (0.8 * k) / (LAYERS - 1) });
    context.globalAlpha = 0.5 + (0.5 * k) / (LAYERS - 1);
    plot.marks(positions.filter((point) => layer(point) === k).map(pick), colour, { radius: 1.5 + (1.5 * k) / (LAYERS - 1) });
  }
  context.globalAlpha = 1;
}

// With the axes of the rotation's own planes, each panel is one of these, in its colour and with its frequency.
const isSeparate = ({ align, orbit_13, orbit_24 }) => align === 1 && orbit_13 === 0 && orbit_24 === 0;

function drawPath({ context, width }, { values, line, circles, panels, stacked }, state, theme, cursor) {
  const { theta_1, theta_2 } = state, separate = isSeparate(state);
  panels.forEach(({ x, y }, k) => {
    const plot = new Plot(context, theme, x, y), pick = (point) => [point[2 * k], point[2 * k + 1]], style = { colour: theme.text, bold: true };
    const title = separate ? picture.own.map((one) => say(one, { plane: k + 1, theta: [theta_1, theta_2][k] })) : picture.axes[k];
    if (stacked) {
      const left = k ? 0 : x.end + 4, lines = wrapped(context, `600 ${theme.font}`, title.at(-1), k ? x.start - 4 : width - left);
      lines.forEach((part, row) => words(context, theme, part, left, k ? y.start - 10 - 17 * (lines.length - 1 - row) : 10 + 17 * row, style));
    }
    else words(context, theme, title, x.start, 10, { ...style, width: x.end - x.start });
    plot.horizontal(0, { colour: theme.grid, dash: [] });
    plot.vertical(0, { colour: theme.grid, dash: [] });
    context.globalAlpha = 0.45;
    circles.forEach((circle, plane) => plot.line(circle.map(pick), [FIRST, SECOND][plane], { width: 4 }));
    context.globalAlpha = 1;
    drawLayers(plot, line, values.seen, pick, (point) => point[2 - 2 * k] + point[3 - 2 * k], separate ? [FIRST, SECOND][k] : tint(colours.score, theme));
    const tip = [x.at(values.seen[0][2 * k]), y.at(values.seen[0][2 * k + 1])];
    arrow(context, [x.at(0), y.at(0)], tip, theme.text, { width: 2.5 });
    if (cursor !== null) plot.marks([pick(values.seen[cursor.position])], colours.query, { radius: 6 });
  });
}

function drawGrid({ context }, { values, w, plane: { x, y } }, { z_real, z_imaginary }, theme) {
  const plot = new Plot(context, theme, x, y), origin = [x.at(0), y.at(0)], at = ([real, imaginary]) => [x.at(real), y.at(imaginary)];
  const lines = (map, colour, style) => {
    for (let k = -GRID; k <= GRID; k++) {
      plot.line([[k, -GRID], [k, GRID]].map(map), colour, style);
      plot.line([[-GRID, k], [GRID, k]].map(map), colour, style);
    }
  };
  lines((z) => z, theme.grid, { width: 1 });
  context.globalAlpha = 0.5;
  lines((z) => complexProduct(z, w), tint(colours.score, theme), { width: 1.4 });
  context.globalAlpha = 1;
  plot.horizontal(0, { colour: theme.muted, dash: [] });
  plot.vertical(0, { colour: theme.muted, dash: [] });
  const labels = new Labels(context, theme, { left: 2, right: x.end - 2, top: y.end + 2, bottom: y.start - 2 });
  labels.write(picture.real, [x.end, origin[1] + 10], { towards: Math.PI, away: 4 });
  labels.write(picture.imaginary, [origin[0] + 2, y.end + 9], { away: 4 });
  const z = [z_real, z_imaginary];
  const arrows = [[z, picture.z, colours.query], [values.rotated, picture.product, colours.score], [w, picture.w, colours.position]];
  for (const [point, , colour] of arrows) arrow(context, origin, at(point), colour, { width: 3.5 });
  for (const [point, name, colour] of arrows) {
    const [px, py] = at(point);
    if (Math.hypot(...point) < 0.05) continue; // at 0 it has no direction in which its name could stand
    labels.write(name, [px, py], { towards: Math.atan2(py - origin[1], px - origin[0]), colour: tint(colour, theme), bold: true });
  }
  // the angle of w, at 1 and again at z
  context.lineWidth = 2;
  context.strokeStyle = colours.position;
  for (const [from, radius] of [[0, 26], [Math.atan2(z_imaginary, z_real), 40]]) {
    context.beginPath();
    context.arc(...origin, radius, -from, -from - Math.atan2(w[1], w[0]), Math.atan2(w[1], w[0]) > 0);
    context.stroke();
  }
}

function draw(canvas, result, state, theme, cursor) {
  if (state.view === "four") return drawPath(canvas, result, state, theme, cursor);
  drawGrid(canvas, result, state, theme);
  for (const { name, x, y } of handles(result, state)) grip(canvas.context, theme, x, y, name === "z" ? colours.query : colours.position);
}

// A panel is dragged anywhere: what is in front follows the pointer. The depth of one panel is what the other shows. Axes that
// were aligned leave the planes: after one radian they are the random ones.
function orbits(panels, { orbit_13, orbit_24 }) {
  return panels.map(({ x, y }, k) => {
    const scale = ((x.end - x.start) / Math.PI) * (k ? -1 : 1), middle = x.at(0), centre = y.at(0);
    return {
      name: ["axes 1 and 2", "axes 3 and 4"][k], x: middle + scale * orbit_13, y: centre - scale * orbit_24,
      box: { left: x.start, right: x.end, top: y.end, bottom: y.start }, scrolls: true,
      drag(px, py, before) {
        const to = { orbit_13: reduced((px - middle) / scale), orbit_24: reduced((centre - py) / scale) };
        const away = Math.hypot(...Object.keys(to).map((name) => reduced(to[name] - before[name])));
        return { ...to, align: before.align * Math.max(1 - away, 0) };
      },
    };
  });
}

const reduced = (angle) => angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));

// Aligning the axes takes the view back too.
function linked(changes, { align, orbit_13, orbit_24 }) {
  if (!("align" in changes) || "orbit_13" in changes) return {};
  const share = align < 1 ? Math.min((1 - changes.align) / (1 - align), 1) : Math.ceil(1 - changes.align);
  return { orbit_13: share * orbit_13, orbit_24: share * orbit_24 };
}

function handles({ plane: { x, y }, panels, w }, { view, z_real, z_imaginary, orbit_13, orbit_24 }) {
  if (view === "four") return orbits(panels, { orbit_13, orbit_24 });
  return [
    { name: "z", x: x.at(z_real), y: y.at(z_imaginary), drag: (px, py) => ({ z_real: x.invert(px), z_imaginary: y.invert(py) }) },
    {
      name: "w", x: x.at(w[0]), y: y.at(w[1]),
      drag: (px, py) => ({ w_length: Math.hypot(x.invert(px), y.invert(py)), w_angle: Math.atan2(y.invert(py), x.invert(px)) }),
    },
  ];
}

function facts(_, state) {
  const { theta_1, theta_2, w_length } = state;
  return {
    separate: isSeparate(state) && theta_1 > 0 && theta_2 > 0, first: (2 * Math.PI) / theta_1, second: (2 * Math.PI) / theta_2,
    ratio: Math.max(theta_1, theta_2) / Math.min(theta_1, theta_2), power: w_length ** 4,
  };
}

function reading({ values }, state, { position }) {
  const [a, b, c, e] = values.seen[position], [across, up] = values.rotated;
  return { a, b, c, e, across, up };
}

// The position of the path nearest to a point in a panel.
function pick(px, py, { values, panels }) {
  const [first, second] = panels.map(({ x, y }) => Math.hypot(x.at(0) - px, y.at(0) - py)), k = second < first ? 1 : 0, { x, y } = panels[k];
  const away = values.seen.map((point) => Math.hypot(x.at(point[2 * k]) - px, y.at(point[2 * k + 1]) - py));
  return away.indexOf(Math.min(...away));
}

const render = explorable({
  catalogue,
  readers: [{
    name: "position", pick,
    axis: ({ panels }) => new Axis({ from: 0, to: POSITIONS - 1, start: panels[0].x.start, end: panels[0].x.end }),
    within: ({ panels }, { view }) => (view === "four" ? panels.map(({ x, y }) => ({ left: x.start, right: x.end, top: y.end, bottom: y.start })) : []),
  }],
  height: (width) => places(width).height,
  compute, draw, facts, reading, handles, linked,
  opening: (share) => ({ orbit_13: 1.2 * (share - 1), orbit_24: 0.8 * (1 - share) }),
  pixel: ({ plane: { x, y } }, real, imaginary) => [x.at(real), y.at(imaginary)],
});

export default { render };
