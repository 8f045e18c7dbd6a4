// The calls of a run as nested bars over the slider: a row for each depth, and a click leads to where a call began.

import { html, svg } from "./dom.mjs";
import { callName } from "./playback.mjs";

const TALLEST = 96;
const ROW = 18;
const SHARED = 0.75; // calls narrower than that many pixels share a bar with their neighbours

// Bars of the calls: [{call, x, width, row}]; calls that are too narrow to be seen are merged with those beside them.
export function bars(calls, steps, width) {
  const found = [];
  const open = []; // by depth, the last bar
  const at = (step) => (width * step) / steps;
  calls.forEach(({ depth, first, last }, call) => {
    const x = at(first), end = at(last + 1), before = open[depth];
    if (before && end - x < SHARED && x - (before.x + before.width) < SHARED && before.width < 4 * SHARED) {
      before.width = end - before.x;
      return;
    }
    open[depth] = { call, x, width: end - x, row: depth };
    found.push(open[depth]);
  });
  return found;
}

// The call at a step and a depth, or null.
export function callAt(calls, step, depth) {
  const found = calls.findIndex((call) => call.depth === depth && call.first <= step && step <= call.last);
  return found < 0 ? null : found;
}

export class Timeline {
  // `jump(step)` leads somewhere.
  constructor(report, calls, jump) {
    this.report = report;
    this.calls = calls;
    this.steps = report.execution.steps.length;
    this.rows = calls.deepest + 1;
    this.row = Math.min(ROW, TALLEST / this.rows);
    this.lit = [];
    this.marked = new Map();
    this.index = 0;
    this.height = Math.ceil(this.rows * this.row) + 2;
    this.node = html("div", { class: "timeline", style: { height: `${this.height}px` } });
    this.node.addEventListener("click", (event) => {
      const box = this.node.getBoundingClientRect();
      const step = Math.max(0, Math.min(this.steps - 1, Math.floor(((event.clientX - box.left) / box.width) * this.steps)));
      const call = callAt(calls.calls, step, Math.floor((event.clientY - box.top - 1) / this.row));
      jump(call === null ? step : calls.calls[call].first);
    });
    new ResizeObserver(() => this.draw()).observe(this.node);
  }

  name(call) {
    const { program, size } = this.calls.calls[call];
    return callName(this.report.library[program].name, size, this.report.agent.unit);
  }

  draw() {
    const width = Math.floor(this.node.clientWidth);
    if (width <= 0 || width === this.width) return;
    this.width = width;
    const gap = this.row > 4 ? 1.5 : 0;
    const palette = new Map([...new Set(this.calls.calls.map((call) => call.program))].sort((a, b) => b - a).map((program, place) => [program, place % 8]));
    this.marked = new Map();
    const drawn = bars(this.calls.calls, this.steps, width).map(({ call, x, width: wide, row }) => {
      const name = this.name(call);
      const shown = wide > 3 ? wide - 1 : wide;
      const bar = svg("g", { class: `span series-${palette.get(this.calls.calls[call].program)}` }, svg("title", {}, name),
        svg("rect", { x, y: 1 + row * this.row, width: Math.max(0.5, shown), height: this.row - gap, rx: Math.min(3, shown / 3, this.row / 4) }),
        this.row >= 13 && shown > 7 * name.length + 10
          ? svg("text", { x: x + 6, y: 1 + row * this.row + (this.row - gap) / 2 }, name) : null);
      this.marked.set(call, bar);
      return bar;
    });
    this.cursor = svg("line", { class: "cursor", y1: 0, y2: this.height });
    this.node.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${this.height}`, width, height: this.height, role: "img",
      "aria-label": `${this.calls.calls.length.toLocaleString("en")} calls inside each other, over the steps of the run` }, drawn, this.cursor));
    this.lit = [];
    this.show(this.index);
  }

  show(index) {
    this.index = index;
    if (!this.cursor) return;
    const x = (this.width * index) / this.steps;
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    for (const bar of this.lit) bar.classList.remove("on");
    this.lit = this.calls.around(index).map((call) => this.marked.get(call)).filter(Boolean);
    for (const bar of this.lit) bar.classList.add("on");
  }
}
