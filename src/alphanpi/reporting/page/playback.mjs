// Playing a sequence of frames: a position that moves with time, and nothing else.

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

export class Playback {
  // `durations[i]`: milliseconds from frame i to frame i + 1; there is one frame more than durations.
  constructor(durations) {
    this.durations = durations;
    this.index = 0;
    this.fraction = 0; // of the way to the next frame
    this.speed = 1;
    this.playing = false;
  }

  get last() {
    return this.durations.length;
  }

  get atEnd() {
    return this.index >= this.last;
  }

  play() {
    if (this.atEnd) this.seek(0);
    this.playing = this.last > 0;
  }

  pause() {
    this.playing = false;
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  seek(index) {
    this.index = Math.max(0, Math.min(this.last, Math.round(index)));
    this.fraction = 0;
    if (this.atEnd) this.playing = false;
  }

  // A step back while on the way to the next frame returns to the frame itself.
  step(by) {
    this.playing = false;
    this.seek(by < 0 && this.fraction > 0 ? this.index : this.index + by);
  }

  tick(milliseconds) {
    if (!this.playing) return;
    let left = milliseconds * this.speed;
    while (left > 0 && !this.atEnd) {
      const needed = this.durations[this.index] * (1 - this.fraction);
      if (left < needed) {
        this.fraction += left / this.durations[this.index];
        return;
      }
      left -= needed;
      this.index += 1;
      this.fraction = 0;
    }
    if (this.atEnd) this.playing = false;
  }
}

// The calls around each step, outermost first: [{program, from}] where `from` is the call's first step.
export function callStacks(steps) {
  const stack = [];
  return steps.map((step, place) => {
    stack.length = Math.min(stack.length, step.depth + 1);
    if (stack.length === step.depth) stack.push({ program: step.program, from: place });
    return stack.slice();
  });
}
