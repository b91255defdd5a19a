// Numbers drawn at random, the same in posenc.widgets._base: mulberry32, then the Box–Muller transform.

export function normalDraws(seed, count) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 4294967296;
  };
  const draws = new Float64Array(count + (count % 2));
  for (let k = 0; k < count; k += 2) {
    const radius = Math.sqrt(-2 * Math.log(uniform())), angle = 2 * Math.PI * uniform();
    draws[k] = radius * Math.cos(angle);
    draws[k + 1] = radius * Math.sin(angle);
  }
  return draws.slice(0, count);
}
