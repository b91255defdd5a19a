import { Axis } from "./drawing.js";

// One axis that stands in several panels, which begin at these pixels: a pointer in any of them reads the same value.
export class SharedAxis extends Axis {
  constructor(axis, starts) {
    super(axis);
    this.starts = starts;
  }

  // The axis of the panel that begins at this pixel.
  beginning(start) {
    return new Axis({ ...this, start, end: start + this.end - this.start });
  }

  invert(pixel) {
    return super.invert(pixel - Math.max(this.start, ...this.starts.filter((start) => start <= pixel)) + this.start);
  }
}
