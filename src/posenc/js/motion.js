// Motion: what carries an explorable from one setting to another, for a step of its story or while it plays.

export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Slow at both ends.
export const eased = (share) => share * share * (3 - 2 * share);

// Calls frame(share) with shares from 0 to 1 for so many milliseconds, then `after`. What it returns stops it.
export function animate(milliseconds, frame, after) {
  const start = performance.now();
  let wanted = requestAnimationFrame(function next(now) {
    const share = Math.min(Math.max((now - start) / milliseconds, 0), 1);
    frame(share);
    if (share === 1) return after();
    wanted = requestAnimationFrame(next);
  });
  return () => cancelAnimationFrame(wanted);
}

// The controls that move along a track, part of the way from one setting to another.
export function between(inputs, from, to, share) {
  const moved = {};
  for (const [name, { scale }] of Object.entries(inputs)) {
    if (!scale || from[name] === to[name]) continue;
    const [start, end] = [scale.toTrack(from[name]), scale.toTrack(to[name])];
    moved[name] = share === 1 ? to[name] : scale.fromTrack(start + (end - start) * eased(share));
  }
  return moved;
}
