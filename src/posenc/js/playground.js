// A trained Transformer that runs in the page, with its positional encoding as the reader bends it.

import { chipsAndList } from "./chips_and_list.js";
import { explorable } from "./explorable.js";
import { pairChips } from "./pair_chips.js";
import catalogue from "./playground.json";
import { blocksOf } from "./playground_blocks.js";
import { drawPanels, places, toggles } from "./playground_panels.js";
import { LOGIT_BIN, LOSS_BIN, Session, averages, isCopy, known, modelOf } from "./playground_session.js";
import { TRAINED, bentFrequencies, isAsTrained, isRotary, withWord, wordsOf } from "./transformer_bent.js";

const AT_ONCE = 6; // milliseconds of work before the first picture
const LEAST = 1 / 32, GREATEST = 4; // factors on a frequency

const sessions = new WeakMap(); // by the data of a figure

const NOTHING = {
  losses: [], trained_losses: [], attention: [], next: { bytes: [], bent: [], trained: [] }, logits: [], trained_logits: [],
  written: [], trained_written: [],
};
const READ = ["task", "encoding", "seed", "text", "length"]; // controls that say what is read, and by whom

const textOf = ({ task, text, own_text }, { texts }) => (task === "copy" ? texts.copy : text === "own" ? own_text : texts[text]);
const storedFor = (state, { stored }) => stored.find(({ setting }) => Object.keys(setting).every((name) => setting[name] === state[name]));

// The session that reads this text with this model; null while the weights are on their way.
function sessionFor(name, state, data, bring, values) {
  const open = sessions.get(data);
  const expected = data.stored.find(({ setting }) => READ.every((one) => setting[one] === state[one]))?.values.trained_losses;
  if (open?.model.run === name) {
    if (!open.isOf(state)) open.read(state, textOf(state, data), expected);
    return open;
  }
  const file = bring(name);
  if (!file) return null;
  const session = new Session(file, state, textOf(state, data), expected, values);
  sessions.set(data, session);
  return session;
}

// What is seen until there is something of this task.
function before(previous, { task }, { stored }) {
  if (previous?.task === task) return previous.values;
  return task === "copy" ? NOTHING : stored[0].values;
}

// Its losses, until there are new ones.
function stale(previous, { task, length }) {
  const { losses } = previous?.task === task ? previous.values : {};
  if (losses?.length !== length / LOSS_BIN) return null;
  return Array.from(losses, (loss, k) => (Number.isFinite(loss) ? loss : previous.stale?.[k] ?? NaN));
}

function compute(state, width, previous, data, bring) {
  const rotary = isRotary(state), { scales = [], gains = [] } = rotary ? bentFrequencies(state) : {};
  const query = Math.min(state.query, state.length - 1), shown = before(previous, state, data);
  const model = modelOf(state, data.models), base = { task: state.task, model, scales: Array.from(scales), gains, query, text: textOf(state, data), ...places(width, state) };
  if (!model) return { ...base, values: { ...NOTHING, scales: base.scales, gains } };
  const stored = storedFor(state, data);
  if (stored) return { ...base, values: { ...stored.values, scales: base.scales, gains } };
  const losses = stale(previous, state), session = sessionFor(model, state, data, bring, shown);
  if (!session) return { ...base, waits: true, values: shown };
  session.show(state, data.products[model]);
  const result = {
    ...base, streams: true,
    get stale() { return session.done ? null : losses; },
    get fresh() { return session.fresh; },
    get values() { return { ...session.values, scales: base.scales, gains }; },
    get read() { return session.bent.done; },
  };
  if (!session.complete(performance.now() + AT_ONCE)) result.complete = (deadline) => session.complete(deadline);
  return result;
}

const percent = (share) => share && 100 * share;

function facts({ values, model, waits = false, read }, state, done) {
  const { length } = state, { losses, trained_losses, accuracies, trained_accuracies } = values;
  const ends = (series) => averages(series, state), [within, far] = ends(losses), [trained_within, trained_far] = ends(trained_losses);
  const [right_within, right_far] = ends(accuracies).map(percent), [trained_right_within, trained_right_far] = ends(trained_accuracies).map(percent);
  return {
    trained: TRAINED, last: length / 4, missing: !model, other_seed: model !== null && !model.endsWith(state.seed), waits, read: done ? length : read ?? 0, bent: !isAsTrained(state), copies: isCopy(state),
    within, far, trained_within, trained_far, right_within, right_far, trained_right_within, trained_right_far,
  };
}

function reading({ values }, state, { position, distance }) {
  const bin = Math.floor(position / LOSS_BIN), near = Math.floor(distance / LOGIT_BIN);
  const at = (list, k) => known(list?.[k]);
  return {
    from: bin * LOSS_BIN, to: (bin + 1) * LOSS_BIN - 1, right: percent(at(values.accuracies, bin)), loss: at(values.losses, bin), trained_loss: at(values.trained_losses, bin),
    weight: at(values.attention, position), logit: at(values.logits, near), trained_logit: at(values.trained_logits, near),
  };
}

const limited = (value) => Number(Math.min(Math.max(value, LEAST), GREATEST).toPrecision(3));

function handles({ strip, scales, x, attention, query }, state) {
  const handles = [];
  if (strip) {
    const half = (strip.x.at(1) - strip.x.at(0)) / 2; // a bar is taken hold of anywhere in its column, above its number
    handles.push(...scales.map((scale, pair) => ({
      name: `pair ${pair}`, x: strip.x.at(pair), y: strip.y.at(Math.max(scale, LEAST)), along: "y",
      box: { left: strip.x.at(pair) - half, right: strip.x.at(pair) + half, top: strip.y.end - 8, bottom: strip.y.start + 1 },
      drag: (px, py) => ({ pairs: swept(state, pair, strip.x.nearest(strip.x.invert(px)), String(limited(strip.y.invert(py)))) }),
    })));
  }
  return [...handles, { name: "query", x: x.at(query), y: attention.bottom, along: "x", drag: (px) => ({ query: within(x.invert(px), { x }) }) }];
}

// One pair's word; or, swept sideways, that of all from there to another.
function swept(state, pair, other, word) {
  let pairs = state.pairs;
  for (let i = Math.min(pair, other); i <= Math.max(pair, other); i++) pairs = withWord({ ...state, pairs }, i, word);
  return pairs;
}

// A position or a distance in the text.
const within = (value, { x }) => Math.min(Math.max(Math.floor(value), 0), x.to - 1);

const inside = (x, y) => ({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom;
const byPosition = ({ loss, attention }) => [loss, attention];

function press(x, y, result, state) {
  const hit = inside(x, y), pair = result.strip ? toggles(result).findIndex(hit) : -1;
  if (pair >= 0) return { pairs: withWord(state, pair, wordsOf(state)[pair] === "off" ? "-" : "off") };
  const head = result.heads.find(hit);
  if (head) return { head: head.name };
  if (hit(result.details)) return { details: !state.details };
  return byPosition(result).some(hit) ? { query: within(result.x.invert(x), result) } : null;
}

const render = explorable({
  catalogue,
  readers: [
    { name: "position", axis: ({ x }) => x, accept: within, within: byPosition },
    { name: "distance", axis: ({ x }) => x, accept: within, within: ({ logits }) => [logits] },
  ],
  controls: { encoding: chipsAndList, preset: chipsAndList, pairs: pairChips },
  height: (width, state) => places(width, state).height,
  compute, draw: drawPanels, facts, reading, handles, press, blocks: blocksOf,
  linked: (changes, state) =>
    changes.encoding && changes.encoding !== state.encoding ? { pairs: "", preset: "none", base: 1, clamp: false } : undefined,
  pixel: ({ x, loss }, at) => [x.at(at), (loss.top + loss.bottom) / 2],
});

export default { render };
