// The decoder of posenc.transformer: tokens to log-probabilities, in chunks, with queries and keys of all tokens kept.
//
// const model = readModel(buffer), pass = new ForwardPass(model, trainedEncoding(model), 2048);
// pass.append(tokens);
// while (!pass.step(performance.now() + 30)) show(pass);     the first pass.done tokens are final
// pass.restart({ ...trainedEncoding(model), window: 128 });  the same tokens with another encoding
//
// transformer_encodings.js says what an encoding is. All numbers are float32; products are added up in float64.

import { pairsOf } from "./arithmetic_rotation.js";
import { readSafetensors } from "./safetensors.js";
import runs from "./transformer_runs.json";

const CHUNK = 16, BLOCK = 4; // tokens computed at once; rows and columns of a product computed at once
const EPSILON = 2 ** -23; // RMSNorm's

const upTo = (count, step) => Math.ceil(count / step) * step;

// ---- arithmetic. A matrix is { data, at, stride }: its first entry, and the entries from one row to the next. `| 0` says
// that they are integers: Firefox otherwise computes each index as a float.

const matrix = (data, stride, at = 0) => ({ data, at: at | 0, stride: stride | 0 });

// out = a·bᵀ, or out + a·bᵀ: a (rows, depth), b (columns, depth). Rows and columns are computed in blocks of 4, and the
// last block may go past them: the matrices are padded for it.
export function multiply(a, b, out, rows, columns, depth, add = false) {
  for (let j = 0; j < columns; j += BLOCK) {
    for (let i = 0; i < rows; i += BLOCK) block(a, i, b, j, depth, out, add);
  }
}

// 16 sums in variables: each number is read once for four products.
function block({ data: a, at, stride: p }, i, { data: b, at: from, stride: q }, j, depth, out, add) {
  let s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
  let s20 = 0, s21 = 0, s22 = 0, s23 = 0, s30 = 0, s31 = 0, s32 = 0, s33 = 0;
  for (let x = (at + i * p) | 0, y = (from + j * q) | 0, end = (x + depth) | 0; x < end; x++, y++) {
    const a0 = a[x], a1 = a[x + p], a2 = a[x + 2 * p], a3 = a[x + 3 * p];
    const b0 = b[y], b1 = b[y + q], b2 = b[y + 2 * q], b3 = b[y + 3 * q];
    s00 += a0 * b0; s01 += a0 * b1; s02 += a0 * b2; s03 += a0 * b3;
    s10 += a1 * b0; s11 += a1 * b1; s12 += a1 * b2; s13 += a1 * b3;
    s20 += a2 * b0; s21 += a2 * b1; s22 += a2 * b2; s23 += a2 * b3;
    s30 += a3 * b0; s31 += a3 * b1; s32 += a3 * b2; s33 += a3 * b3;
  }
  const { data, stride } = out, first = out.at + i * stride + j;
  write(data, first, add, s00, s01, s02, s03);
  write(data, first + stride, add, s10, s11, s12, s13);
  write(data, first + 2 * stride, add, s20, s21, s22, s23);
  write(data, first + 3 * stride, add, s30, s31, s32, s33);
}

function write(data, at, add, s0, s1, s2, s3) {
  data[at] = add ? data[at] + s0 : s0;
  data[at + 1] = add ? data[at + 1] + s1 : s1;
  data[at + 2] = add ? data[at + 2] + s2 : s2;
  data[at + 3] = add ? data[at + 3] + s3 : s3;
}

// RMSNorm of rows of x, from one row on, into rows of `out`.
function normalise(x, from, weight, out, to, rows) {
  const dim = weight.length;
  for (let r = 0; r < rows; r++) {
    const at = (from + r) * dim, put = (to + r) * dim;
    let sum = 0;
    for (let d = 0; d < dim; d++) sum += x[at + d] * x[at + d];
    const factor = 1 / Math.sqrt(sum / dim + EPSILON);
    for (let d = 0; d < dim; d++) out[put + d] = x[at + d] * factor * weight[d];
  }
}

// To 2·10⁻⁷: Abramowitz and Stegun 1964, 7.1.26.
export function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const tail = series * Math.exp(-x * x);
  return x < 0 ? tail - 1 : 1 - tail;
}

function gelu(x, count) {
  for (let k = 0; k < count; k++) x[k] *= 0.5 * (1 + erf(x[k] * Math.SQRT1_2));
}

// ---- the model

const PARTS = { attentionNorm: "attention_norm", qkv: "qkv", out: "out", mlpNorm: "mlp_norm", up: "mlp.0", down: "mlp.2" };

// A checkpoint of the laboratory, an ArrayBuffer. Matrices are (out, in), as in torch.
export function readModel(buffer) {
  const { metadata, tensors } = readSafetensors(buffer);
  const [profile, task, scheme] = metadata.run.split("-"), { heads, length } = runs.profiles[profile];
  const weight = (name) => tensors[`${name}.weight`].data;
  const [vocabulary, dim] = tensors["embedding.weight"].shape, hidden = tensors["layers.0.mlp.0.weight"].shape[0];
  const count = Object.keys(tensors).filter((name) => name.endsWith(".qkv.weight")).length;
  const layers = Array.from({ length: count }, (_, layer) => (
    Object.fromEntries(Object.entries(PARTS).map(([part, name]) => [part, weight(`layers.${layer}.${name}`)]))
  ));
  const learned = Object.entries(tensors).filter(([name]) => name.startsWith("scheme."));
  const model = {
    run: metadata.run, task, length, heads, headDim: dim / heads, dim, hidden, vocabulary, layers,
    scheme: { ...runs.schemes[scheme], ...Object.fromEntries(learned.map(([name, { data }]) => [name.slice(7), data])) },
    embedding: weight("embedding"), norm: weight("norm"), head: weight("head"),
  };
  if ([vocabulary, dim / heads, hidden].some((size) => size % BLOCK)) throw new RangeError(`sizes must be multiples of ${BLOCK}`);
  return { ...model, firstQkv: firstQkv(model) };
}

// The first layer's queries, keys and values of every token of the vocabulary, where the embeddings have no encoding.
function firstQkv({ vocabulary, dim, embedding, layers: [{ attentionNorm, qkv }] }) {
  const normed = new Float32Array(embedding.length), out = new Float32Array(vocabulary * 3 * dim);
  normalise(embedding, 0, attentionNorm, normed, 0, vocabulary);
  multiply(matrix(normed, dim), matrix(qkv, dim), matrix(out, 3 * dim), vocabulary, 3 * dim, dim);
  return out;
}

// ---- the forward pass

// tokens: `length` of them are known, `done` are computed. losses[t]: nats of token t given those before it, from 1 on;
// hits[t]: 1 where it is the most likely one then, else 0.
export class ForwardPass {
  constructor(model, encoding, capacity) {
    const { dim, heads, hidden, vocabulary, layers } = model, padded = upTo(capacity, CHUNK) + CHUNK;
    const floats = (rows, width) => new Float32Array(rows * width);
    Object.assign(this, { model, capacity, padded, length: 0, done: 0, tokens: new Int32Array(capacity), losses: floats(capacity, 1), hits: floats(capacity, 1) });
    this.final = floats(padded, dim); // the residual stream after the last layer, normalised
    this.scores = floats(CHUNK, padded);
    const widths = { x: dim, normed: dim, qkv: 3 * dim, mixed: dim, hidden, logits: vocabulary };
    this.chunk = Object.fromEntries(Object.entries(widths).map(([name, width]) => [name, floats(CHUNK, width)]));
    this.layers = layers.map(() => ({
      q: floats(padded, dim), k: floats(padded, dim), // before rotation
      values: floats(dim, padded), // transposed
      biases: Array.from({ length: heads }, () => floats(padded, 1)), // by distance
    }));
    this.restart(encoding);
  }

  // Another encoding for the same tokens. The results of the first `kept` tokens stay: with a bias or window that
  // changes nothing there.
  restart(encoding, kept = 0) {
    const { dim, headDim, heads } = this.model, { rotation, relative, bias } = encoding, angular = rotation ?? relative;
    const width = relative ? 2 * headDim : headDim; // of a head in the products: TENER's terms are columns of their own
    const pairs = angular ? pairsOf(2 * angular.frequencies.length, rotation?.layout ?? "interleaved") : [];
    Object.assign(this, { encoding, width, done: Math.min(kept, this.done) });
    const [cos, sin] = [0, 1].map(() => new Float64Array(CHUNK * pairs.length));
    this.phases = { frequencies: angular?.frequencies ?? [], cos, sin };
    this.pairs = [0, 1].map((which) => Int32Array.from(pairs, (pair) => pair[which]));
    this.losses.fill(NaN, this.done);
    this.hits.fill(NaN, this.done);
    this.layers.forEach((memory, layer) => {
      if (memory.queries?.length !== this.padded * heads * width) {
        [memory.queries, memory.keys] = [0, 1].map(() => new Float32Array(this.padded * heads * width)); // rotated
      }
      memory.biases.forEach((row, head) => {
        for (let distance = 0; distance < this.capacity; distance++) row[distance] = bias ? bias(layer, head, distance) : 0;
      });
    });
  }

  // Takes over the first `count` tokens of another pass of this model and capacity, with all that is computed of them.
  follow(pass, count) {
    this.restart(pass.encoding);
    for (const name of ["tokens", "losses", "hits", "final"]) this[name].set(pass[name]);
    this.layers.forEach((memory, layer) => {
      for (const name of ["q", "k", "values", "queries", "keys"]) memory[name].set(pass.layers[layer][name]);
    });
    this.length = this.done = count;
  }

  append(tokens) {
    const { vocabulary } = this.model;
    if (this.length + tokens.length > this.capacity) throw new RangeError(`there must be at most ${this.capacity} tokens`);
    for (const token of tokens) {
      if (!(token >= 0 && token < vocabulary)) throw new RangeError(`tokens must be from 0 to ${vocabulary - 1}, got ${token}`);
      this.tokens[this.length++] = token;
    }
  }

  // Computes until all tokens are done or it is later than `deadline`, by performance.now(); at least one chunk. Returns
  // whether all are done.
  step(deadline = Infinity) {
    while (this.done < this.length) {
      this.compute(this.done, Math.min(CHUNK, this.length - this.done));
      if (performance.now() > deadline) break;
    }
    return this.done === this.length;
  }

  compute(first, rows) {
    const { model, chunk } = this, { dim, hidden } = model;
    this.embed(first, rows);
    this.tabulatePhases(first, rows);
    model.layers.forEach((weights, layer) => {
      this.project(layer, rows, first);
      for (let r = 0; r < rows; r++) this.store(layer, r, first + r);
      this.attend(layer, first, rows);
      multiply(matrix(chunk.mixed, dim), matrix(weights.out, dim), matrix(chunk.x, dim), rows, dim, dim, true);
      normalise(chunk.x, 0, weights.mlpNorm, chunk.normed, 0, rows);
      multiply(matrix(chunk.normed, dim), matrix(weights.up, dim), matrix(chunk.hidden, hidden), rows, hidden, dim);
      gelu(chunk.hidden, rows * hidden);
      multiply(matrix(chunk.hidden, hidden), matrix(weights.down, hidden), matrix(chunk.x, dim), rows, dim, hidden, true);
    });
    normalise(chunk.x, 0, model.norm, this.final, first, rows);
    this.done = first + rows;
    this.score(Math.max(first, 1));
  }

  embed(first, rows) {
    const { model: { dim, embedding }, chunk: { x }, tokens, encoding } = this;
    for (let r = 0; r < rows; r++) {
      const at = tokens[first + r] * dim, added = encoding.embed?.(first + r);
      for (let d = 0; d < dim; d++) x[r * dim + d] = embedding[at + d] + (added ? added[d] : 0);
    }
  }

  // Queries, keys and values of a chunk; in the first layer they depend on the token alone, unless embeddings are encoded.
  project(layer, rows, first) {
    const { model: { dim, layers, firstQkv: known }, chunk: { x, normed, qkv }, tokens, encoding } = this;
    if (layer === 0 && !encoding.embed) {
      for (let r = 0; r < rows; r++) {
        const at = tokens[first + r] * 3 * dim;
        qkv.set(known.subarray(at, at + 3 * dim), r * 3 * dim);
      }
      return;
    }
    normalise(x, 0, layers[layer].attentionNorm, normed, 0, rows);
    multiply(matrix(normed, dim), matrix(layers[layer].qkv, dim), matrix(qkv, 3 * dim), rows, 3 * dim, dim);
  }

  tabulatePhases(first, rows) {
    const { frequencies, cos, sin } = this.phases, count = frequencies.length;
    const factor = this.encoding.rotation?.attentionFactor ?? 1;
    for (let r = 0; r < rows; r++) {
      for (let i = 0; i < count; i++) {
        cos[r * count + i] = factor * Math.cos((first + r) * frequencies[i]);
        sin[r * count + i] = factor * Math.sin((first + r) * frequencies[i]);
      }
    }
  }

  // Stores the query, key and value of row r of the chunk, the token at position t.
  store(layer, r, t) {
    const { model: { dim, heads, headDim }, chunk: { qkv }, width, encoding: { rotation, relative } } = this, kept = this.layers[layer];
    const at = r * 3 * dim;
    kept.q.set(qkv.subarray(at, at + dim), t * dim);
    kept.k.set(qkv.subarray(at + dim, at + 2 * dim), t * dim);
    for (let d = 0; d < dim; d++) kept.values[d * this.padded + t] = qkv[at + 2 * dim + d];
    for (let h = 0; h < heads; h++) {
      const from = t * dim + h * headDim, to = (t * heads + h) * width;
      for (let d = 0; d < headDim; d++) {
        kept.queries[to + d] = kept.q[from + d];
        kept.keys[to + d] = kept.k[from + d];
      }
      if (rotation) {
        this.rotate(kept.queries, to, r, rotation.gains);
        this.rotate(kept.keys, to, r);
      } else if (relative) this.addRelative(kept, to, r, h);
    }
  }

  rotate(x, at, r, gains = null) {
    const { pairs: [even, odd], phases: { cos, sin } } = this, count = even.length;
    for (let i = 0; i < count; i++) {
      const gain = gains ? gains[i] : 1, c = gain * cos[r * count + i], s = gain * sin[r * count + i];
      const a = x[at + even[i]], b = x[at + odd[i]];
      x[at + even[i]] = a * c - b * s;
      x[at + odd[i]] = a * s + b * c;
    }
  }

  // TENER's logits (q + u)·k + (q + v)·R of the distance are one product: sin and cos of (i − j)θ are those of iθ and jθ,
  // multiplied, so that the query has columns with iθ and the key with jθ.
  addRelative({ queries, keys }, at, r, head) {
    const { model: { headDim }, phases: { cos, sin }, encoding: { relative: { u, v } } } = this, count = headDim / 2;
    for (let i = 0; i < count; i++) {
      const d = 2 * i, c = cos[r * count + i], s = sin[r * count + i];
      const a = queries[at + d] + v[head * headDim + d], b = queries[at + d + 1] + v[head * headDim + d + 1];
      queries[at + headDim + d] = b * s - a * c;
      queries[at + headDim + d + 1] = a * s + b * c;
      keys[at + headDim + d] = s;
      keys[at + headDim + d + 1] = c;
    }
    for (let d = 0; d < headDim; d++) queries[at + d] += u[head * headDim + d];
  }

  // Attention of the queries from `first` on: products with keys, softmax, products with values.
  attend(layer, first, rows) {
    const { model: { dim, heads, headDim }, chunk: { mixed }, layers, scores, padded, encoding: { window, sinks } } = this;
    const near = Math.max(first - window + 1, 0), far = Math.min(sinks, near), values = layers[layer].values;
    const ranges = [[0, far], [near, first + rows]]; // of the keys that any of the queries attends to
    for (let h = 0; h < heads; h++) {
      const out = matrix(mixed, dim, h * headDim);
      for (const [from, to] of ranges) this.products(layer, h, first, rows, from, to);
      const totals = Array.from({ length: rows }, (_, r) => this.exponentials(layer, h, first + r, r * padded, ranges));
      ranges.forEach(([from, to], k) => (
        multiply(matrix(scores, padded, from), matrix(values, padded, h * headDim * padded + from), out, rows, headDim, to - from, k > 0)
      ));
      for (let r = 0; r < rows; r++) {
        for (let d = h * headDim; d < (h + 1) * headDim; d++) mixed[r * dim + d] /= totals[r];
      }
    }
  }

  // Products q·k of queries from `first` on and keys from … to, into the columns of `scores` with the keys' positions.
  products(layer, head, first, rows, from, to) {
    const { model: { heads }, layers, width, scores, padded } = this, stride = heads * width, start = head * width;
    const queries = matrix(layers[layer].queries, stride, first * stride + start);
    const keys = matrix(layers[layer].keys, stride, from * stride + start);
    multiply(queries, keys, matrix(scores, padded, from), rows, to - from, width);
  }

  // Products to unnormalised attention weights, in place, in a row of `scores`; returns their sum.
  exponentials(layer, head, t, at, ranges) {
    const { scores, encoding: { scale, window, sinks } } = this, bias = this.layers[layer].biases[head];
    let peak = -Infinity, total = 0;
    for (const [from, to] of ranges) {
      for (let j = from; j < to; j++) {
        const attended = j <= t && (t - j < window || j < sinks);
        const logit = (scores[at + j] = attended ? scale * scores[at + j] + bias[t - j] : -Infinity);
        if (logit > peak) peak = logit;
      }
    }
    for (const [from, to] of ranges) {
      for (let j = from; j < to; j++) total += scores[at + j] = Math.exp(scores[at + j] - peak);
    }
    return total;
  }

  // Losses and hits of the tokens from `first` on that are done, by the log-probabilities at the position before each.
  score(first) {
    const { model: { vocabulary }, chunk: { logits }, tokens, losses, hits } = this, rows = this.done - first;
    this.readOut(first - 1, rows);
    for (let r = 0; r < rows; r++) {
      const row = logits.subarray(r * vocabulary, (r + 1) * vocabulary), own = row[tokens[first + r]];
      losses[first + r] = -own;
      hits[first + r] = row.every((value) => value <= own) ? 1 : 0;
    }
  }

  // Log-probabilities of the next token at positions from `first` on, into chunk.logits.
  readOut(first, rows) {
    const { model: { dim, vocabulary, head }, chunk: { logits }, final } = this;
    multiply(matrix(final, dim, first * dim), matrix(head, dim), matrix(logits, vocabulary), rows, vocabulary, dim);
    for (let r = 0; r < rows; r++) logSoftmax(logits.subarray(r * vocabulary, (r + 1) * vocabulary));
  }

  // ---- results, of positions that are done

  // Log-probabilities of the token after position t.
  logProbabilities(t) {
    this.readOut(t, 1);
    return this.chunk.logits.slice(0, this.model.vocabulary);
  }

  // Attention weights of the query at position t over positions 0 … t.
  attention(layer, head, t) {
    this.products(layer, head, t, 1, 0, t + 1);
    const total = this.exponentials(layer, head, t, 0, [[0, t + 1]]);
    return this.scores.slice(0, t + 1).map((power) => power / total);
  }

  // The mean logit at each distance, over the queries from … to, before mask and window.
  meanLogits(layer, head, from = 0, to = this.done) {
    const { scores, padded, encoding: { scale } } = this, bias = this.layers[layer].biases[head], sums = new Float64Array(to);
    for (let first = from; first < to; first += CHUNK) {
      const rows = Math.min(CHUNK, to - first);
      this.products(layer, head, first, rows, 0, first + rows);
      for (let r = 0; r < rows; r++) for (let t = first + r, j = 0; j <= t; j++) sums[t - j] += scores[r * padded + j];
    }
    return sums.map((sum, distance) => (scale * sum) / (to - Math.max(from, distance)) + bias[distance]);
  }
}

function logSoftmax(row) {
  let peak = -Infinity, total = 0;
  for (let k = 0; k < row.length; k++) peak = Math.max(peak, row[k]);
  for (let k = 0; k < row.length; k++) total += Math.exp(row[k] - peak);
  const shift = peak + Math.log(total);
  for (let k = 0; k < row.length; k++) row[k] -= shift;
}
