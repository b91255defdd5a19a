// A trained Transformer that runs in the page, with its positional encoding as the reader bends it.

import { chipsAndList } from "./chips_and_list.js";
import { explorable } from "./explorable.js";
import { pairChips } from "./pair_chips.js";
import catalogue from "./playground.json";
import { blocksOf } from "./playground_blocks.js";
import { drawPanels, places, toggles } from "./playground_panels.js";
import { LOGIT_BIN, LOSS_BIN, Session, averages, isCopy, known, modelOf } from "./playground_session.js";
import { TRAINED, bentFrequencies, clampedPairs, firstUnclosed, isAsTrained, isRotary, unseenPairs, withWord, wordsOf } from "./transformer_bent.js";

const AT_ONCE = 6; // milliseconds of work before the first picture
const LEAST = 1 / 32, GREATEST = 4; // factors on a frequency
const LINES = [1 / 16, 1 / 4, 1, 4], NEAR = 0.25; // factors, and octaves
const EQUAL = 1e-3; // octaves between two frequencies that look alike

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
  const model = modelOf(state, data.models), base = { task: state.task, model, scales: Array.from(scales), gains, unseen: rotary ? unseenPairs(state) : null, held: rotary ? heldPair(state, scales) : null, clamped: rotary && state.clamp && model ? clampedPairs(data.products[model], state) : [], query, text: textOf(state, data), ...places(width, state) };
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

const ALIKE = 0.1; // nats between two losses that are told alike
const percent = (share) => share && 100 * share;
const LITTLE = 0.1; // nats of excess loss of which no share is told
const less = (one, other) => (one === null || other === null ? null : one - other);
const likely = (loss) => (loss === null ? null : 100 * Math.exp(-loss));

function facts({ values, model, unseen, waits = false, read }, state, done) {
  const { length } = state, { losses, trained_losses, accuracies, trained_accuracies } = values;
  const ends = (series) => averages(series, state), [within, far] = ends(losses), [trained_within, trained_far] = ends(trained_losses);
  const [right_within, right_far] = ends(accuracies).map(percent), [trained_right_within, trained_right_far] = ends(trained_accuracies).map(percent);
  const excess = less(trained_far, trained_within), lower = less(trained_far, far);
  const gone = excess > LITTLE && length > TRAINED && lower !== null ? (100 * lower) / excess : null;
  const until = done ? length : read ?? 0, bent = !isAsTrained(state);
  const changes = until > TRAINED && until < length && bent ? Array.from(losses, (loss, k) => loss - trained_losses[k]).slice(TRAINED / LOSS_BIN).filter(Number.isFinite) : [];
  const change = changes.length ? changes.reduce((sum, one) => sum + one) / changes.length : null; // past L, as far as it is read
  return {
    so_far: change === null ? null : change < -ALIKE ? "lower than" : change > ALIKE ? "higher than" : "about the same",
    unseen: unseen ? unseen.filter(Boolean).length : null, past: length > TRAINED, far_from: 0.75 * length, far_to: length - 1,
    gone, cost: less(within, trained_within),
    likely_within: likely(within), likely_far: likely(far),
    trained: TRAINED, missing: !model, other_seed: model !== null && !model.endsWith(state.seed), waits, read: until, bent, copies: isCopy(state),
    within, far, trained_within, trained_far, right_within, right_far, trained_right_within, trained_right_far,
  };
}

function reading({ values, attention }, state, { position, distance }) {
  const bin = Math.floor(position / LOSS_BIN), near = Math.floor(distance / LOGIT_BIN);
  const at = (list, k) => known(list?.[k]);
  return {
    position, from: bin * LOSS_BIN, to: (bin + 1) * LOSS_BIN - 1, right: percent(at(values.accuracies, bin)), loss: at(values.losses, bin), trained_loss: at(values.trained_losses, bin),
    weight: attention ? at(values.attention, position) : null, logit: at(values.logits, near), trained_logit: at(values.trained_logits, near),
  };
}

// As the axis has it; beside a line of the axis, as that.
const limited = (value) => Number(Math.min(Math.max(LINES.find((line) => Math.abs(Math.log2(value / line)) < NEAR) ?? value, LEAST), GREATEST).toPrecision(3));

// The pair whose bar has the grip: the first of those that have been dragged, or else the first that made no full rotation.
function heldPair(state, scales) {
  const steps = scales.map((scale, i) => Math.abs(Math.log2(Math.max(scale, LEAST) / Math.max(i ? scales[i - 1] : 1, LEAST)))), most = Math.max(...steps);
  return most > EQUAL ? steps.indexOf(most) : firstUnclosed(state);
}

// The bar under the pointer, or the one that has the grip; and the query.
function handles({ strip, scales, held, keys, attention, query }, state, px = strip?.x.at(held)) {
  const found = attention ? [{ name: "query", x: keys.at(query), y: attention.bottom, along: "x", drag: (x) => ({ query: within(keys.invert(x), { x: keys }) }) }] : [];
  if (!strip) return found;
  const { x, y } = strip, pair = x.nearest(x.invert(px)), half = (x.at(1) - x.at(0)) / 2; // taken hold of anywhere in its column, above its number
  return [{
    name: "pair", x: x.at(pair), y: y.at(Math.max(scales[pair], LEAST)), along: "y",
    box: { left: x.at(pair) - half, right: x.at(pair) + half, top: y.end - 18, bottom: y.start + 1 },
    drag: (_, up, before) => ({ pairs: withSlower(before, pair, limited(y.invert(up))) }),
  }, ...found];
}

// The word of a pair, and of all slower ones that are not off.
function withSlower(state, pair, scale) {
  const word = scale === 1 && state.preset === "none" && state.base === 1 ? "-" : String(scale), off = (i) => i > pair && wordsOf(state)[i] === "off";
  return wordsOf(state).reduce((pairs, _, i) => (i < pair || off(i) ? pairs : withWord({ ...state, pairs }, i, word)), state.pairs);
}

// A position or a distance in the text.
const within = (value, { x }) => Math.min(Math.max(Math.floor(value), 0), x.to - 1);

const inside = (x, y) => ({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom;
const byPosition = ({ loss, attention }) => [loss, attention].filter(Boolean);
// Where a pointer is along the axis of the panel that it is on.
const positionAt = (x, y, result) => (inside(x, y)(result.loss) ? result.x : result.keys).invert(x);

function press(x, y, result, state) {
  const hit = inside(x, y), pair = result.strip ? toggles(result).findIndex(hit) : -1;
  if (pair >= 0) return { pairs: withWord(state, pair, wordsOf(state)[pair] === "off" ? "-" : "off") };
  const head = result.heads.find(hit);
  if (head) return { head: head.name };
  return byPosition(result).some(hit) ? { query: within(positionAt(x, y, result), result) } : null;
}

const render = explorable({
  catalogue,
  readers: [
    { name: "position", axis: ({ x }) => x, accept: within, within: byPosition, pick: positionAt },
    { name: "distance", axis: ({ x }) => x, accept: within, within: ({ logits }) => [logits].filter(Boolean) },
  ],
  controls: { encoding: chipsAndList, preset: chipsAndList, pairs: pairChips },
  height: (width, state) => places(width, state).height,
  compute, draw: drawPanels, facts, reading, handles, press, blocks: blocksOf,
  linked(changes, state) {
    if (changes.encoding && changes.encoding !== state.encoding) return { pairs: "", preset: "none", base: 1, clamp: false };
    return changes.preset && { pairs: "", base: 1 }; // none scaled by hand
  },
  pixel: ({ x, loss, strip, scales }, at, pair) => (pair === undefined ? [x.at(at), (loss.top + loss.bottom) / 2] : [strip.x.at(pair), strip.y.at(scales[pair])]),
});

export default { render };
