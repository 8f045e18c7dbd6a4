// Playing a sequence of frames: a position that moves with time, and the calls around it; no DOM.

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

export class Playback {
  // `durations[i]`: milliseconds from frame i to frame i + 1; there is one frame more than durations.
  // `moves`: the frames after which something is seen to change, in order.
  constructor(durations, moves = []) {
    this.durations = durations;
    this.moves = moves;
    this.moving = new Set(moves);
    this.movesOnly = false;
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
    if (by < 0 && this.fraction > 0) this.seek(this.index);
    else if (!this.movesOnly) this.seek(this.index + by);
    else if (by > 0) this.seek(this.moves.find((move) => move > this.index) ?? this.last);
    else this.seek(this.moves.findLast((move) => move < this.index) ?? 0);
  }

  duration(index) {
    return this.movesOnly && !this.moving.has(index) ? 0 : this.durations[index];
  }

  tick(milliseconds) {
    if (!this.playing) return;
    let left = milliseconds * this.speed;
    while (left > 0 && !this.atEnd) {
      const needed = this.duration(this.index) * (1 - this.fraction);
      if (left < needed) {
        this.fraction += left / this.duration(this.index);
        return;
      }
      left -= needed;
      this.index += 1;
      this.fraction = 0;
    }
    if (this.atEnd) this.playing = false;
  }
}

// The calls of a run, and which are under way at a step.
export class Calls {
  constructor(calls, steps) {
    this.calls = calls;
    this.parent = [];
    this.innermost = new Array(steps.length);
    let here = null, next = 0;
    steps.forEach((_, place) => {
      while (here !== null && calls[here].last < place) here = this.parent[here];
      while (next < calls.length && calls[next].first === place) {
        this.parent.push(here);
        here = next;
        next += 1;
      }
      this.innermost[place] = here;
    });
  }

  // Numbers of the calls around a step, outermost first.
  around(index) {
    const found = [];
    for (let call = this.innermost[index] ?? null; call !== null; call = this.parent[call]) found.push(call);
    return found.reverse();
  }

  get deepest() {
    return this.calls.reduce((most, call) => Math.max(most, call.depth), 0);
  }
}

// The next step of the same call, or of the one around it where it has ended.
export function stepOver(steps, index) {
  const { depth } = steps[index] ?? { depth: 0 };
  const found = steps.findIndex((step, place) => place > index && step.depth <= depth);
  return found < 0 ? steps.length : found;
}

// The next step of the call around this one.
export function stepOut(steps, index) {
  const { depth } = steps[index] ?? { depth: 0 };
  const found = steps.findIndex((step, place) => place > index && step.depth < depth);
  return found < 0 ? steps.length : found;
}

// HANOI(3 disks), or HANOI(3) where nothing says what a size counts.
export function callName(name, size, [one, several]) {
  const word = size === 1 ? one : several;
  return `${name}(${size.toLocaleString("en")}${word ? ` ${word}` : ""})`;
}

// Steps are counted from 1 in addresses; null where an address is of something else.
export function linkedStep(hash, count) {
  const found = /^#step=(\d{1,9}|end)$/.exec(hash);
  if (!found) return null;
  return found[1] === "end" ? count : Math.max(0, Math.min(count, Number(found[1]) - 1));
}

export const stepLink = (index, count) => `#step=${index >= count ? "end" : index + 1}`;
