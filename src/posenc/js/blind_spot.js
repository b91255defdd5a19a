import { apart, attentionLayers, drawnWeights, meanRow } from "./arithmetic_attention.js";
import { EQUAL, drawMoves, drawPanel, panelsHeight, panelsOf } from "./attention_panels.js";
import { HeatMap, words } from "./drawing.js";
import catalogue from "./blind_spot.json";
import { explorable } from "./explorable.js";
import { fixed } from "./numbers.js";
import { placesOf, wordOrder } from "./word_order.js";

const DIM = 4, WORDS = 6; // width of the embeddings, words in the longest sentence

const joined = (list) => list.join(/[^\0-\x7f]/.test(list.join("")) ? "" : " ");

// The greatest difference between outputs of equal words; null where no word is repeated.
function repeatChange(moved, outputs) {
  const changes = moved.flatMap((word, i) => moved.flatMap((other, j) => (i < j && word === other ? [apart(outputs[i], outputs[j])] : [])));
  return changes.length ? Math.max(...changes) : null;
}

function compute(state, width) {
  const list = state.sentence.split(" "), order = placesOf(state.order, list.length);
  const place = list.map((_, word) => order.indexOf(word)); // where each word stands afterwards
  const { embeddings, projections } = drawnWeights(state.seed, WORDS, DIM, 2);
  const vocabulary = [...new Set(list)];
  const attend = (places) => (
    attentionLayers(places.map((word) => embeddings[vocabulary.indexOf(list[word])]), projections.slice(0, Number(state.layers)), state)
  );
  const before = attend(list.map((_, word) => word)), after = attend(order);
  const moved = order.map((word) => list[word]), last = list.length - 1;
  const values = {
    words: list,
    moved_words: moved,
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

function draw({ context, width, height }, result, state, theme, cursor) {
  const { place, values, panels } = result, { before, after } = panels;
  drawPanel(context, theme, before, `as written: ${joined(values.words)}`, values.words, values.weights, values.outputs, state);
  drawPanel(context, theme, after, `in its new order: ${joined(values.moved_words)}`, values.moved_words, values.moved_weights, values.moved_outputs, state);
  drawMoves(context, theme, panels, result, state.scheme, cursor?.query);
  if (cursor !== null) {
    new HeatMap(context, theme, before.x, before.y).outline(cursor.query, cursor.key);
    new HeatMap(context, theme, after.x, after.y).outline(place[cursor.query], place[cursor.key]);
  }
  words(context, theme, [
    "=  the word's output is the same to 10⁻¹²      ≠  it changed, by up to so much      ◥  the weight of this word pair changed",
    "=  same output   ≠  another   ◥  another weight",
  ], 0, height - 8, { width });
}

const amount = (change) => (change < 0.001 ? "less than 0.001" : `up to ${fixed(change, 3)}`);

function finding({ order, values }, state) {
  const { words: list, moved_words: moved, last_change: last, mean_change: mean } = values, count = list.length;
  const sentences = `“${joined(list)}” from “${joined(moved)}”`;
  const changed = values.output_change.filter((change) => change > EQUAL).length;
  const outputs = Math.max(...values.output_change), weights = Math.max(...values.weight_change.flat());
  const isOrder = (wanted) => order.every((word, place) => word === wanted(place)), written = isOrder((place) => place);
  const same = list.every((word, place) => word === moved[place]);
  const parts = [];
  if (written) {
    parts.push("The words stand as they were written. Move one, and see what moves with it.");
  } else if (changed === 0 && weights <= EQUAL) {
    parts.push("Each output moved with its word and each attention weight with its word pair, equal to 10⁻¹².");
  } else if (changed === 0) {
    parts.push(`Each output moved with its word, equal to 10⁻¹², though attention weights of word pairs changed by ${amount(weights)}.`);
  } else {
    parts.push(
      `${changed} of ${count} outputs changed as the words moved, by ${amount(outputs)},`
      + ` and attention weights of word pairs by ${amount(weights)}.`,
    );
  }
  if (state.scheme === "alibi" && !state.causal && changed === 0 && isOrder((place) => count - 1 - place)) {
    parts.push("ALiBi sees distances, and a sentence read backwards keeps them all.");
  }
  if (same) {
    if (!written) parts.push("Only equal words changed places: the sentence is the same.");
  } else if (!state.causal && mean <= EQUAL) {
    parts.push(`The mean of the outputs is equal to 10⁻¹²: it cannot tell ${sentences}.`);
  } else if (!state.causal) {
    parts.push(`The mean of the outputs changed by ${amount(mean)}: it tells ${sentences}.`);
  } else if (last === null) {
    parts.push("The last token is another word now: leave it in place to see what it knows of the others' order.");
  } else if (last <= EQUAL) {
    parts.push(`The last token, “${list[count - 1]}”, got the same output to 10⁻¹²: it cannot tell the order of the words before it.`);
  } else {
    parts.push(`The last token, “${list[count - 1]}”, got another output, by ${amount(last)}: it can tell the order of the words before it.`);
  }
  const repeated = list.find((word, place) => list.indexOf(word) < place);
  if (repeated) {
    const times = list.filter((word) => word === repeated).length;
    const how = values.repeat_change <= EQUAL ? "equal to 10⁻¹²" : `${amount(values.repeat_change)} apart`;
    parts.push(`The ${times} outputs of “${repeated}” are ${how}.`);
  }
  return parts.join(" ");
}

function readout({ place, values }, state, { query, key }) {
  const weight = (table, i, j) => (state.causal && j > i ? "masked" : `${fixed(100 * table[i][j], 1)} %`);
  const numbers = (row) => `(${row.map((value) => fixed(value, 2)).join(", ")})`;
  return `“${values.words[query]}” looks at “${values.words[key]}”: ${weight(values.weights, query, key)},`
    + ` then ${weight(values.moved_weights, place[query], place[key])}`
    + ` · output ${numbers(values.outputs[query])}, then ${numbers(values.moved_outputs[place[query]])}`;
}

// The word under the pointer, in either panel, along its axis "x" or "y".
const pickAlong = (axis) => (x, y, { order, panels: { beside, before, after } }) => {
  const inAfter = beside ? x >= after.left : y >= after.top;
  const cells = (inAfter ? after : before)[axis], at = cells.whole(cells.invert(axis === "y" ? y : x));
  return inAfter ? order[at] : at;
};

const rectangles = (right) => ({ panels }) => [panels.before, panels.after].map((panel) => (
  { left: right === "x" ? panel.x.start : panel.left, right: panel[right].end, top: panel.y.start, bottom: panel.y.end }
));

// A sentence comes with another order that makes sense too: its last word and an earlier one change places.
function linked({ sentence }) {
  if (!sentence) return {};
  const list = sentence.split(" "), order = [...list.keys()], last = list.length - 1, first = list.length === 3 ? 0 : 1;
  [order[first], order[last]] = [last, first];
  return { order: list[first] === list[last] ? "" : order.join("") };
}

const render = explorable({
  catalogue,
  readers: [
    { name: "query", vertical: true, axis: ({ panels }) => panels.before.y, within: rectangles("entry"), pick: pickAlong("y") },
    { name: "key", axis: ({ panels }) => panels.before.x, within: rectangles("x"), pick: pickAlong("x") },
  ],
  height: (width) => panelsHeight(width) + 22,
  compute, draw, finding, readout, linked,
  controls: { order: wordOrder },
  pixel: ({ panels }, panel, query, key) => [panels[panel].x.at(key), panels[panel].y.at(query)],
});

export default { render };
