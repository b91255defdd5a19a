// A text read by a trained Transformer twice, as trained and as bent, in small parts, and what the Playground shows of it.

import { ForwardPass, readModel } from "./transformer.js";
import { TRAINED, WRITTEN, bentEncoding, isAsTrained, isRotary } from "./transformer_bent.js";
import { trainedEncoding } from "./transformer_encodings.js";

export const LOSS_BIN = 32; // tokens
export const LOGIT_BIN = 8; // distances
const SHOWN = 6; // bytes
const FIRST = 512; // tokens that are read before anything else is shown of a text
const QUERIES = 128; // over which logits are averaged: the last ones
const CAPACITY = 2048 + WRITTEN;
const PERIOD = 32; // tokens of the block in repeated copy: none of the first one is an answer
const SYMBOLS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"; // its tokens

const BENT = ["preset", "factor", "fraction", "base", "pairs", "temperature", "clamp", "window", "past_end", "length"];
const keyOf = (state, names) => JSON.stringify(names.map((name) => state[name]));
const indices = (head) => head.split(".").map((number) => Number(number) - 1);

// The model of a setting, of seed 0 where only that ships; null where none of this task and encoding does.
export function modelOf({ task, encoding, seed }, models) {
  const names = [seed, "0"].map((one) => `full-${task}-${encoding}-${one}`);
  return names.find((name) => models.includes(name)) ?? null;
}

export const isCopy = ({ task }) => task === "copy";

// The tokens of a text, which is repeated to a length: bytes, or the symbols of repeated copy.
export function tokensOf(text, length, { task }) {
  const tokenOf = task === "copy" ? (letter) => SYMBOLS.indexOf(letter) : (letter) => letter.charCodeAt(0);
  return Array.from({ length }, (_, t) => tokenOf(text[t % text.length]));
}

// A token as one character.
export function letterOf(token, { task }) {
  if (task === "copy") return SYMBOLS[token];
  return token === 10 ? "¶" : token < 32 || token === 127 ? "?" : String.fromCharCode(token);
}

const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : NaN);
export const known = (value) => (Number.isFinite(value) ? value : null);

// The mean of what bins have of the answers within the trained length, and of those in the last quarter of the text; null
// where some of it is missing.
export function averages(values, state) {
  const bins = Array.from(values ?? []), first = isCopy(state) ? PERIOD / LOSS_BIN : 0, end = TRAINED / LOSS_BIN;
  return [known(mean(bins.slice(first, end))), known(mean(bins.slice(Math.floor((3 * bins.length) / 4))))];
}

// Means over bins, of what is there from `first` on.
export function binned(values, size, length, first = 0) {
  return Float64Array.from({ length: length / size }, (_, bin) => {
    let sum = 0, count = 0;
    for (let t = Math.max(bin * size, first); t < Math.min((bin + 1) * size, values.length); t++) if (!Number.isNaN(values[t])) sum += values[t], count++;
    return count ? sum / count : NaN;
  });
}

// A text, and a model's passes over it. `state` is that of the controls; `expected`, its losses as trained where they are
// known before; `values`, what is shown until there is more.
export class Session {
  constructor(file, state, text, expected = null, values = {}) {
    const model = readModel(file), limit = state.encoding === "learned" ? TRAINED : CAPACITY;
    Object.assign(this, { model, values });
    this.trained = new ForwardPass(model, trainedEncoding(model), limit);
    this.changed = new ForwardPass(model, trainedEncoding(model, { pastEnd: "clamp" }), CAPACITY);
    this.writer = new ForwardPass(model, this.changed.encoding, CAPACITY);
    this.read(state, text, expected);
  }

  // Another text, or another length of it.
  read(state, text, expected = null) {
    this.expected = expected;
    this.source = keyOf(state, ["text", "own_text", "length"]);
    this.tokens = tokensOf(text, state.length, state);
    for (const pass of [this.trained, this.changed]) {
      pass.restart(pass.encoding);
      pass.length = 0;
      pass.append(this.tokens.slice(0, pass.capacity));
    }
    this.bent = this.key = this.written = this.averaged = null;
  }

  isOf(state) {
    return this.source === keyOf(state, ["text", "own_text", "length"]);
  }

  // Begins to compute what is shown at a setting.
  show(state, products) {
    const key = keyOf(state, BENT);
    if (key !== this.key) {
      this.bent = isAsTrained(state) ? this.trained : this.changed;
      if (this.bent === this.changed) this.bent.restart(bentEncoding(this.model, state, isRotary(state) ? products : null));
      this.key = key;
    }
    this.state = { ...state, query: Math.min(state.query, state.length - 1) };
    this.fresh = { attention: false, logits: false, written: false, trained: this.written?.query === this.state.query }; // what is of this setting
    this.values = { ...this.values };
    this.seen = "";
    this.done = false;
    this.work = this.parts();
  }

  // Goes on until `deadline`; returns whether all is done.
  complete(deadline) {
    while (!this.work.next().done) if (performance.now() > deadline) return this.look();
    this.look();
    return (this.done = true);
  }

  // The bent encoding first; and unless the other's losses are known, both up to FIRST tokens before either goes on.
  * parts() {
    const { bent, trained, expected } = this;
    for (const end of expected ? [Infinity] : [FIRST, Infinity]) {
      for (const pass of [bent, trained]) {
        while (pass.done < Math.min(pass.length, end)) {
          pass.step(-Infinity);
          yield;
        }
      }
    }
    yield* this.write();
  }

  // What there is to be shown by now; false.
  look() {
    const { bent, trained, fresh, expected, key, state, values } = this, { length, query, head } = state, [layer, of] = indices(head);
    const first = isCopy(state) ? PERIOD : 0, inBins = (series) => binned(series.subarray(0, length), LOSS_BIN, length, first);
    values.losses = inBins(bent.losses);
    values.trained_losses = expected && trained.done < trained.length ? expected : inBins(trained.losses);
    if (isCopy(state)) [values.accuracies, values.trained_accuracies] = [inBins(bent.hits), inBins(trained.hits)];
    const all = bent.done === bent.length && trained.done === trained.length, seen = [bent.done > query, trained.done > query, all].join();
    if (seen === this.seen) return false;
    this.seen = seen;
    if (bent.done > query) {
      values.attention = bent.attention(layer, of, query);
      values.next = this.next(query);
      fresh.attention = true;
    }
    const averaged = `${key} ${head}`;
    if (all && this.averaged !== averaged) {
      values.logits = this.logits(bent, layer, of);
      values.trained_logits = this.logits(trained, layer, of);
      this.averaged = averaged;
    }
    fresh.logits = this.averaged === averaged;
    return false;
  }

  // Over the last queries.
  logits(pass, layer, head) {
    return binned(pass.meanLogits(layer, head, Math.max(pass.done - QUERIES, 0), pass.done), LOGIT_BIN, this.state.length);
  }

  // The most likely bytes after a position, as bent, and their probabilities.
  next(query) {
    const after = (pass) => (pass.done > query ? pass.logProbabilities(query).map(Math.exp) : null);
    const bent = after(this.bent), trained = after(this.trained);
    const bytes = [...bent.keys()].sort((a, b) => bent[b] - bent[a]).slice(0, SHOWN);
    return { bytes, bent: bytes.map((byte) => bent[byte]), trained: bytes.map((byte) => trained?.[byte] ?? NaN) };
  }

  // The most likely bytes, one after the other, after the query.
  * write() {
    const { bent, trained, state: { query }, key, values } = this, wanted = `${key} ${query}`;
    if (this.written?.wanted !== wanted) {
      const kept = this.written?.query === query ? this.written.trained : null; // the same text, as trained
      const own = kept ?? (yield* this.continued(trained, query));
      const other = bent === trained ? own : yield* this.continued(bent, query);
      this.written = { wanted, query, trained: own, bent: other };
    }
    values.written = this.written.bent;
    values.trained_written = this.written.trained;
    this.fresh.written = this.fresh.trained = true;
  }

  * continued(pass, query) {
    const { writer } = this, { vocabulary } = this.model, bytes = [];
    if (writer.capacity !== pass.capacity) return null; // a learned table as trained ends at L
    writer.follow(pass, query + 1);
    for (let k = 0; k < WRITTEN; k++) {
      const powers = writer.logProbabilities(query + k);
      let best = 0;
      for (let byte = 1; byte < vocabulary; byte++) if (powers[byte] > powers[best]) best = byte;
      bytes.push(best);
      writer.append([best]);
      writer.step();
      yield;
    }
    return bytes;
  }
}
