// Files of safetensors: a header of JSON with types and shapes, and the numbers of all tensors, little-endian.

const UNITS = Float64Array.from({ length: 31 }, (_, exponent) => 2 ** (Math.max(exponent, 1) - 25)); // of the last place

// Half precision: a sign, five bits of exponent, ten of fraction.
export function fromHalf(bits) {
  const exponent = (bits >> 10) & 31, fraction = bits & 1023, sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * UNITS[exponent] * (exponent ? 1024 + fraction : fraction);
}

function halves(bytes) {
  const bits = new Uint16Array(bytes), values = new Float32Array(bits.length);
  for (let k = 0; k < bits.length; k++) values[k] = fromHalf(bits[k]);
  return values;
}

const READERS = {
  F32: (bytes) => new Float32Array(bytes),
  F16: halves,
  BF16: (bytes) => new Float32Array(Uint32Array.from(new Uint16Array(bytes), (bits) => bits << 16).buffer),
};

// { metadata, tensors }: each tensor { shape, data }, data in a Float32Array. buffer: an ArrayBuffer.
export function readSafetensors(buffer) {
  const size = Number(new DataView(buffer).getBigUint64(0, true)), start = 8 + size;
  const { __metadata__: metadata = {}, ...entries } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [from, to] }] of Object.entries(entries)) {
    if (!(dtype in READERS)) throw new TypeError(`${name} must be one of ${Object.keys(READERS).join(", ")}, got ${dtype}`);
    tensors[name] = { shape, data: READERS[dtype](buffer.slice(start + from, start + to)) };
  }
  return { metadata, tensors };
}
