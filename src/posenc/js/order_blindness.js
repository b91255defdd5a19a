import { apart, attentionLayers, drawnWeights, meanRow } from "./arithmetic_attention.js";
import { EQUAL, drawPanels, panelsHeight, panelsOf } from "./attention_panels.js";
import { table } from "./blocks.js";
import catalogue from "./order_blindness.json";
import { explorable } from "./explorable.js";
import { eased } from "./motion.js";
import { fixed } from "./numbers.js";
import { movedTo, placesOf, wordOrder } from "./word_order.js";

const DIM = 4, WORDS = 6; // width of the embeddings, words in the longest sentence

const joined = (list) => list.join(/[^\0-\x7f]/.test(list.join("")) ? "" : " ");

// The maximum difference between outputs of equal words; null where no word is repeated.
function repeatChange(moved, outputs) {
  const changes = moved.flatMap((word, i) => moved.flatMap((other, j) => (i < j && word === other ? [apart(outputs[i], outputs[j])] : [])));
  return changes.length ? Math.max(...changes) : null;
}

function compute(state, width) {
  const list = state.sentence.split(" "), order = placesOf(state.order, list.length);
  const place = list.map((_, word) => order.indexOf(word)); // where each word stands afterwards
  const { embeddings, projections } = drawnWeights(state.seed, WORDS, DIM, 2);
  const drawn = (share) => place.map((to, word) => word + (to - word) * eased(share)); // after a part of the way
  const vocabulary = [...new Set(list)];
  const attend = (places) => (
    attentionLayers(places.map((word) => embeddings[vocabulary.indexOf(list[word])]), projections.slice(0, Number(state.layers)), state)
  );
  const before = attend(list.map((_, word) => word)), after = attend(order);
  const moved = order.map((word) => list[word]), last = list.length - 1;
  const values = {
    words: list,
    moved_words: moved,
    rows: drawn(Math.min(state.progress, 1)),
    columns: drawn(Math.max(state.progress - 1, 0)),
    weights: before.weights,
    moved_weights: after.weights,
    outputs: before.output,
    moved_outputs: after.output,
    output_change: before.output.map((output, word) => apart(output, after.output[place[word]])),
    weight_change: before.weights.map((row, i) => row.map((weight, j) => Math.abs(weight - after.weights[place[i]][place[j]]))),
    mean_change: apart(meanRow(before.output), meanRow(after.output)),
    last_change: moved[last] === list[last] ? apart(before.output[last], after.output[last]) : null,
    repeat_change: repeatChange(moved, after.output),
  };
  return { order, place, values, panels: panelsOf(width, list, DIM) };
}

function facts({ order, values }, { scheme, causal }) {
  const { words, moved_words: moved, last_change: last, mean_change: mean, repeat_change: repeats } = values, count = words.length;
  const changed = values.output_change.filter((change) => change > EQUAL).length, weights = Math.max(...values.weight_change.flat());
  const isOrder = (wanted) => order.every((word, place) => word === wanted(place));
  const repeated = words.find((word, place) => words.indexOf(word) < place) ?? null;
  return {
    as_written: joined(words), as_moved: joined(moved), count, changed, weights, weights_same: weights <= EQUAL,
    outputs: Math.max(...values.output_change), written: isOrder((place) => place),
    same_words: words.every((word, place) => word === moved[place]),
    keeps_distances: scheme === "alibi" && !causal && changed === 0 && isOrder((place) => count - 1 - place),
    mean, mean_same: mean <= EQUAL, last_word: words[count - 1], last, last_kept: last !== null, last_same: last !== null && last <= EQUAL,
    repeated, times: words.filter((word) => word === repeated).length, repeats, repeats_same: repeats !== null && repeats <= EQUAL,
  };
}

const numbers = (row) => row.map((value) => fixed(value, 2)).join(", ");

function reading({ place, values }, { causal }, { query, key }) {
  const weight = (table, i, j) => ({ masked: causal && j > i, percent: 100 * table[i][j] });
  return {
    query_word: values.words[query], key_word: values.words[key],
    pair_weights: [weight(values.weights, query, key), weight(values.moved_weights, place[query], place[key])],
  };
}

function blocks({ place, values }) {
  const rows = values.words.map((word, k) => [word, numbers(values.outputs[k]), numbers(values.moved_outputs[place[k]])]);
  return [table({ ...catalogue.table, rows })];
}

const cellsOf = (axis) => ({ panels: { before } }) => before[axis];

// The word under the pointer, in either panel, along its axis "x" or "y".
const pickAlong = (axis) => (x, y, { values, panels: { before, after } }) => {
  const inAfter = x >= after.queries.left, cells = (inAfter ? after : before)[axis], at = cells.invert(axis === "y" ? y : x);
  if (!inAfter) return cells.nearest(at);
  const away = values[axis === "y" ? "rows" : "columns"].map((where) => Math.abs(where - at));
  return away.indexOf(Math.min(...away));
};

const rectangles = (across) => ({ panels: { before, after } }) => [before, after].map((panel) => {
  const [left, right] = across === "x" ? [panel.x.start, panel.x.end] : [panel.queries.left, panel.queries.right];
  return { left, right, top: panel.y.start, bottom: panel.y.end };
});

// Each word of the moved sentence is dragged by its row and by its column.
function handles({ order, place, values, panels: { after } }) {
  const { output, longest, words: right } = after, row = (at, word) => ({
    name: `row_${word}`, along: "y", swaps: true, x: right - longest / 2, y: output.at(values.rows[word]),
    box: { left: right - longest - 6, right: right + 6, top: output.at(values.rows[word] - 0.5), bottom: output.at(values.rows[word] + 0.5) },
    drag: (x, y) => ({ order: movedTo(order, at, output.nearest(output.invert(y))) }),
  });
  const column = (at, word) => ({
    name: `column_${word}`, along: "x", swaps: true, x: after.x.at(values.columns[word]), y: after.y.start - 12,
    drag: (x) => ({ order: movedTo(order, at, after.x.nearest(after.x.invert(x))) }),
  });
  return [...place.map(row), ...place.map(column)];
}

// Another order of a sentence that makes sense too: its last word and an earlier one change places.
function otherOrder(sentence) {
  const list = sentence.split(" "), order = [...list.keys()], last = list.length - 1, first = list.length === 3 ? 0 : 1;
  [order[first], order[last]] = [last, first];
  return list[first] === list[last] ? "" : order.join("");
}

// A sentence comes with its other order; played from the original one, it goes there. A word that is dragged is there at once.
function linked(changes, { sentence, order }) {
  if ("sentence" in changes) return { order: otherOrder(changes.sentence), progress: 2 };
  if ("order" in changes) return { progress: 2 };
  const written = placesOf(order, sentence.split(" ").length).every((word, place) => word === place);
  return "progress" in changes && written ? { order: otherOrder(sentence) } : {};
}

const render = explorable({
  catalogue,
  readers: [
    { name: "query", vertical: true, axis: cellsOf("y"), within: rectangles("entry"), pick: pickAlong("y") },
    { name: "key", axis: cellsOf("x"), within: rectangles("x"), pick: pickAlong("x") },
  ],
  height: panelsHeight,
  compute, facts, reading, handles, blocks, linked,
  draw: (canvas, result, state, theme, cursor) => drawPanels(canvas, result, state, theme, { ...state, ...facts(result, state) }, cursor),
  controls: { order: wordOrder },
  pixel: ({ panels }, panel, query, key) => [panels[panel].x.at(key), panels[panel].y.at(query)],
});

export default { render };
