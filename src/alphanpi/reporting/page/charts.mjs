// Line charts, success by size, and who calls whom.

import { grouped, percent, svg } from "./dom.mjs";

const MARGIN = { left: 46, right: 14, top: 14, bottom: 34 };
export const COLOURS = 8; // classes series-0 to series-7

export function niceTicks(low, high, count) {
  const span = high - low || 1;
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-6; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return ticks;
}

export const shortNumber = (value) =>
  Math.abs(value) >= 1e6 ? `${+(value / 1e6).toFixed(1)}M` : Math.abs(value) >= 1e3 ? `${+(value / 1e3).toFixed(1)}k` : String(+value.toPrecision(4));

const shortTick = (value) => (Number.isInteger(value) ? grouped(value) : String(+value.toPrecision(3)));

// The place of the value nearest to another, in a list that rises.
export function nearest(values, value) {
  let [low, high] = [0, values.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle;
    else high = middle;
  }
  return value - values[low] <= values[high] - value ? low : high;
}

// series: [{name, values: (number | null)[]}]; marks: [{at, label}] vertical lines; events: [{at, good, label}] on the axis.
// `whole`: there is nothing between two whole numbers of x. `read(place)` is told where the reader looks, null for nowhere.
export function lineChart(width, { x, series, marks = [], events = [], share = false, whole = false, xLabel, height = 230, read = () => {} }) {
  const above = MARGIN.top + (marks.length ? 14 : 0);
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - above - MARGIN.bottom };
  const values = series.flatMap((one) => one.values).filter((value) => value !== null);
  const top = share ? 1 : values.reduce((most, value) => Math.max(most, value), 1e-9) * 1.05;
  const bottom = share ? 0 : values.reduce((least, value) => Math.min(least, value), 0);
  const first = whole ? x[0] : Math.min(0, x[0]), last = x[x.length - 1];
  const toX = (value) => MARGIN.left + (inner.width * (value - first)) / (last - first || 1);
  const toY = (value) => above + inner.height * (1 - (value - bottom) / (top - bottom));
  const path = ({ values: ys }) => {
    let pen = "M";
    let d = "";
    ys.forEach((y, place) => {
      if (y === null) { pen = "M"; return; }
      d += `${pen}${toX(x[place]).toFixed(1)},${toY(y).toFixed(1)}${pen === "M" ? "l0,0" : ""}`; // a point of its own is seen, too
      pen = "L";
    });
    return d;
  };
  const yTicks = share ? [0, 0.25, 0.5, 0.75, 1] : niceTicks(bottom, top, 4);
  const xTicks = niceTicks(first, last, Math.max(3, Math.floor(inner.width / 70))).filter((tick) => !whole || Number.isInteger(tick));
  const ground = height - MARGIN.bottom;
  const labels = markLabels(marks.map(({ at, label }) => ({ x: toX(at), label })));
  const cursor = svg("line", { class: "cursor", y1: above, y2: ground, opacity: 0 });
  const dots = series.map((_, place) => svg("circle", { class: `dot series-${place % COLOURS}`, r: 3.5, opacity: 0 }));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart line", role: "img", tabindex: 0, "data-arrows": true,
    "aria-label": `${series.map((one) => one.name).join(", ")}, by ${xLabel}; the arrow keys read values` },
    yTicks.map((tick) => [
      svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: toY(tick), y2: toY(tick) }),
      svg("text", { class: "tick y", x: MARGIN.left - 8, y: toY(tick) }, share ? percent(tick) : shortNumber(tick))]),
    xTicks.map((tick) => svg("text", { class: "tick x", x: toX(tick), y: ground + 16 }, shortTick(tick))),
    svg("text", { class: "axis", x: width - MARGIN.right, y: height - 3, "text-anchor": "end" }, xLabel),
    marks.map(({ at }, place) => [
      svg("line", { class: "mark", x1: toX(at), x2: toX(at), y1: above - 6, y2: ground }),
      labels[place] ? svg("text", { class: "mark-label", x: labels[place].x, y: above - 12, "text-anchor": labels[place].anchor }, marks[place].label) : null]),
    series.map((one, place) => svg("path", { class: `series series-${place % COLOURS}`, d: path(one) })),
    events.map(({ at, good, label }) => svg("path", { class: good ? "event good" : "event bad", d: `M${toX(at) - 5},${ground}l5,-9l5,9z` }, svg("title", {}, label))),
    cursor, dots);
  let here = null;
  const look = (place) => {
    here = place;
    const at = place === null ? 0 : toX(x[place]);
    cursor.setAttribute("x1", at);
    cursor.setAttribute("x2", at);
    cursor.setAttribute("opacity", place === null ? 0 : 1);
    dots.forEach((dot, number) => {
      const value = place === null ? null : series[number].values[place];
      dot.setAttribute("opacity", value === null ? 0 : 1);
      if (value === null) return;
      dot.setAttribute("cx", at);
      dot.setAttribute("cy", toY(value));
    });
    read(place);
  };
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    look(nearest(x, first + ((at - MARGIN.left) / inner.width) * (last - first)));
  });
  picture.addEventListener("pointerleave", () => look(null));
  picture.addEventListener("blur", () => look(null));
  picture.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    look(here === null ? (by > 0 ? 0 : x.length - 1) : Math.max(0, Math.min(x.length - 1, here + by)));
  });
  return picture;
}

// Where a mark's label goes: to the left of its line, if there is room up to the line before, else to its right.
export function markLabels(marks, letter = 6.5) {
  let free = 0;
  return marks.map(({ x, label }, place) => {
    const wide = letter * label.length + 6;
    const next = marks[place + 1]?.x ?? Infinity;
    if (x - free > wide) {
      free = x + 4;
      return { x: x + 2, anchor: "end" };
    }
    if (place === 0 && next - x > wide + 6) {
      free = x + wide;
      return { x: x - 2, anchor: "start" };
    }
    free = Math.max(free, x + 4);
    return null;
  });
}

// scores: [{size, mode, rate, low, high, paper}] of one program.
export function scoreChart(width, scores, height = 250) {
  const sizes = [...new Set(scores.map((score) => score.size))].sort((a, b) => a - b);
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  const pitch = inner.width / sizes.length;
  const toY = (value) => MARGIN.top + inner.height * (1 - value);
  const aside = { greedy: -0.16, planning: 0.16 };
  const marks = scores.map((score) => {
    const x = MARGIN.left + pitch * (sizes.indexOf(score.size) + 0.5 + aside[score.mode]);
    const title = svg("title", {}, `size ${score.size}, ${score.mode}: ${score.successes} of ${score.episodes}`);
    return svg("g", { class: `score ${score.mode}` }, title,
      svg("line", { class: "whisker", x1: x, x2: x, y1: toY(score.low), y2: toY(score.high) }),
      svg("line", { class: "whisker", x1: x - 4, x2: x + 4, y1: toY(score.low), y2: toY(score.low) }),
      score.paper === null ? null
        : svg("path", { class: "paper", d: `M${x - 6},${toY(score.paper)}l6,-6l6,6l-6,6z` }),
      svg("circle", { class: "dot", cx: x, cy: toY(score.rate), r: 5 }));
  });
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": "Success by size" },
    [0, 0.25, 0.5, 0.75, 1].map((tick) => [
      svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: toY(tick), y2: toY(tick) }),
      svg("text", { class: "tick y", x: MARGIN.left - 8, y: toY(tick) }, percent(tick))]),
    sizes.map((size, place) => svg("text", { class: "tick x", x: MARGIN.left + pitch * (place + 0.5), y: height - MARGIN.bottom + 16 }, grouped(size))),
    svg("text", { class: "axis", x: width - MARGIN.right, y: height - 3, "text-anchor": "end" }, "size of the problem"),
    marks);
}

// Levels as columns, the highest on the left; an arrow where a program calls another in the measured runs.
export function callGraph(width, library, calls) {
  const levels = Math.max(...library.map((entry) => entry.level));
  const columns = Array.from({ length: levels + 1 }, (_, place) => levels - place)
    .map((level) => library.map((entry, number) => ({ ...entry, number })).filter((entry) => entry.level === level && entry.name !== "STOP"));
  const tallest = Math.max(...columns.map((column) => column.length));
  const row = 54, top = 28, edge = 2, pitch = width / columns.length;
  const box = { width: Math.min(128, pitch - 18), height: 28 };
  const height = top + tallest * row;
  const font = Math.max(8.5, Math.min(12.5, box.width / 8.2));
  const columnStart = (c) => edge + (columns.length === 1 ? 0 : (c * (width - 2 * edge - box.width)) / (columns.length - 1));
  const place = new Map();
  columns.forEach((column, c) => column.forEach((entry, r) => {
    const x = columnStart(c);
    place.set(entry.number, { x, y: top + (tallest - column.length) * row / 2 + r * row + (row - box.height) / 2 });
  }));
  const shown = calls.filter(({ callee }) => place.has(callee));
  const most = Math.log1p(Math.max(1, ...shown.map(({ times }) => times)));
  const arrows = shown.map(({ caller, callee, times }) => {
    const from = place.get(caller), to = place.get(callee);
    const title = svg("title", {}, `${library[caller].name} → ${library[callee].name}: ${grouped(times)} times`);
    const thickness = 1 + (2.5 * Math.log1p(times)) / most;
    if (caller === callee) {
      const x = from.x + box.width / 2, y = from.y;
      return svg("path", { class: "call own", "stroke-width": thickness, "marker-end": "url(#arrow)", d: `M${x + 15},${y}c9,-19 -39,-19 -30,-2` }, title);
    }
    // An arrow past other levels goes through the gaps between their boxes.
    const stops = [{ x: from.x + box.width, y: from.y + box.height / 2 }];
    const end = { x: to.x - 4, y: to.y + box.height / 2 };
    const [first, last] = [levels - library[caller].level, levels - library[callee].level];
    for (let c = first + 1; c < last; c += 1) {
      const ideal = stops[0].y + ((end.y - stops[0].y) * (c - first)) / (last - first);
      const gaps = Array.from({ length: columns[c].length + 1 }, (_, r) => top + ((tallest - columns[c].length) * row) / 2 + r * row);
      const y = gaps.reduce((best, gap) => (Math.abs(gap - ideal) < Math.abs(best - ideal) ? gap : best));
      stops.push({ x: columnStart(c), y }, { x: columnStart(c) + box.width, y });
    }
    const d = [...stops.slice(1), end].reduce((path, stop, place) => {
      const before = stops[place], half = (before.x + stop.x) / 2;
      return `${path}C${half},${before.y} ${half},${stop.y} ${stop.x},${stop.y}`;
    }, `M${stops[0].x},${stops[0].y}`);
    return svg("path", { class: "call", "stroke-width": thickness, "marker-end": "url(#arrow)", d }, title);
  });
  const boxes = [...place].map(([number, { x, y }]) => {
    const entry = library[number];
    return svg("g", { class: entry.level ? "entry program" : "entry" }, svg("title", {}, entry.summary),
      svg("rect", { x, y, width: box.width, height: box.height, rx: 8 }),
      svg("text", { x: x + box.width / 2, y: y + box.height / 2, style: { "font-size": `${font}px` } }, entry.name));
  });
  const heads = columns.map((_, c) => svg("text", { class: "column", x: columnStart(c) + box.width / 2, y: 10 },
    levels - c === 0 ? "actions" : `level ${levels - c}`));
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart callgraph", role: "img", "aria-label": "Who calls whom" },
    svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { class: "arrow", d: "M0,0.5L8,4L0,7.5z" }))),
    heads, arrows, boxes);
}
