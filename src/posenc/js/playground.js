// A trained Transformer that runs in the page, with its positional encoding as the reader bends it.

import { explorable } from "./explorable.js";
import { pairChips } from "./pair_chips.js";
import catalogue from "./playground.json";
import { blocksOf } from "./playground_blocks.js";
import { drawPanels, places, toggles } from "./playground_panels.js";
import { LOGIT_BIN, LOSS_BIN, Session } from "./playground_session.js";
import { TRAINED, bentFrequencies, isAsTrained, isRotary, withWord, wordsOf } from "./transformer_bent.js";

const AT_ONCE = 10; // milliseconds of work before the first picture
const LEAST = 1 / 32, GREATEST = 4; // factors on a frequency

const sessions = new WeakMap(); // by the data of a figure

const nameOf = ({ encoding }) => `full-text-${encoding}-0`;
const textOf = ({ text, own_text }, { texts }) => (text === "own" ? own_text : texts[text]);
const storedFor = (state, { stored }) => stored.find(({ setting }) => Object.keys(setting).every((name) => setting[name] === state[name]));

// The session that reads this text with this model; null while the weights are on their way.
function sessionFor(state, data, bring) {
  const known = sessions.get(data);
  if (known?.encoding === state.encoding) {
    if (!known.isOf(state)) known.read(state, textOf(state, data));
    return known;
  }
  const file = bring(nameOf(state));
  if (!file) return null;
  const session = new Session(file, state, textOf(state, data));
  session.values = known?.values ?? data.stored[0].values;
  sessions.set(data, session);
  return session;
}

function compute(state, width, previous, data, bring) {
  const rotary = isRotary(state), { scales = [], gains = [] } = rotary ? bentFrequencies(state) : {};
  const query = Math.min(state.query, state.length - 1);
  const base = { scales: Array.from(scales), gains, query, text: textOf(state, data), ...places(width, state) };
  const stored = storedFor(state, data);
  if (stored) return { ...base, values: { ...stored.values, scales: base.scales, gains } };
  const session = sessionFor(state, data, bring);
  if (!session) return { ...base, waits: true, values: previous?.values ?? data.stored[0].values };
  session.show(state, data.products[state.encoding]);
  const result = {
    ...base, streams: true,
    get stale() { return session.stale; },
    get fresh() { return session.fresh; },
    get values() { return { ...session.values, scales: base.scales, gains }; },
    get read() { return session.bent.done; },
  };
  if (!session.complete(performance.now() + AT_ONCE)) result.complete = (deadline) => session.complete(deadline);
  return result;
}

const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : NaN);
const known = (value) => (Number.isFinite(value) ? value : null);

// The mean loss within the trained length, and over the last quarter of the text.
function averages(losses) {
  const bins = Array.from(losses), within = TRAINED / LOSS_BIN;
  return [known(mean(bins.slice(0, within))), known(mean(bins.slice(Math.floor((3 * bins.length) / 4))))];
}

function facts({ values, waits = false, read }, state, done) {
  const { length } = state;
  const [within, far] = averages(values.losses), [trained_within, trained_far] = averages(values.trained_losses);
  return {
    trained: TRAINED, last: length / 4, waits, read: done ? length : read ?? 0, within, far, trained_within, trained_far,
    bent: !isAsTrained(state),
  };
}

function reading({ values }, state, { position, distance }) {
  const bin = Math.floor(position / LOSS_BIN), near = Math.floor(distance / LOGIT_BIN);
  const at = (list, k) => known(list?.[k]);
  return {
    from: bin * LOSS_BIN, to: (bin + 1) * LOSS_BIN - 1, loss: at(values.losses, bin), trained_loss: at(values.trained_losses, bin),
    weight: at(values.attention, position), logit: at(values.logits, near), trained_logit: at(values.trained_logits, near),
  };
}

const limited = (value) => Number(Math.min(Math.max(value, LEAST), GREATEST).toPrecision(3));

function handles({ strip, scales }, state) {
  if (!strip) return [];
  const half = (strip.x.at(1) - strip.x.at(0)) / 2; // a bar is taken hold of anywhere in its column, above its number
  return scales.map((scale, pair) => ({
    name: `pair ${pair}`, x: strip.x.at(pair), y: strip.y.at(Math.max(scale, LEAST)), along: "y",
    box: { left: strip.x.at(pair) - half, right: strip.x.at(pair) + half, top: strip.y.end - 8, bottom: strip.y.start + 1 },
    drag: (x, y) => ({ pairs: withWord(state, pair, String(limited(strip.y.invert(y)))) }),
  }));
}

// A position or a distance in the text.
const within = (value, { position: { x } }) => Math.min(Math.max(Math.floor(value), 0), x.to - 1);

const boxOf = ({ x, y }) => ({ left: x.start, right: x.end, top: y.end, bottom: y.start });
const inside = (x, y) => ({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom;

function press(x, y, result, state) {
  const hit = inside(x, y), { strip, position, head } = result;
  const pair = strip ? toggles(result).findIndex(hit) : -1;
  if (pair >= 0) return { pairs: withWord(state, pair, wordsOf(state)[pair] === "off" ? "-" : "off") };
  const cell = head.cells.find(hit);
  if (cell) return { head: cell.name };
  return position.boxes.some(hit) ? { query: within(position.x.invert(x), result) } : null;
}

const render = explorable({
  catalogue,
  readers: [
    { name: "position", axis: ({ position }) => position.x, accept: within, within: ({ position }) => position.boxes },
    { name: "distance", axis: ({ logits }) => logits.x, accept: within, within: ({ logits }) => [boxOf(logits)] },
  ],
  controls: { pairs: pairChips },
  height: (width, state) => places(width, state).height,
  compute, draw: drawPanels, facts, reading, handles, press, blocks: blocksOf,
  linked: (changes, state) =>
    changes.encoding && changes.encoding !== state.encoding ? { pairs: "", preset: "none", base: 1, clamp: false } : undefined,
  pixel: ({ position }, at) => [position.x.at(at), (position.boxes[0].top + position.boxes[0].bottom) / 2],
});

export default { render };
