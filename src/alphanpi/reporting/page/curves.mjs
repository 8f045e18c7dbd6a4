// Curves of many runs laid over each other, with the values under the pointer; success by size of several groups.

import { COLOURS, niceTicks } from "./charts.mjs";
import { grouped, html, percent, saveButton, svg } from "./dom.mjs";

const ROOM = { left: 46, right: 14, top: 28, bottom: 34 };
const MOST_ROWS = 8; // of values under the pointer; of more lines, medians and the nearest
const NEAREST_ROWS = 3;

export const duration = (seconds) =>
  seconds === null ? "–" : seconds < 120 ? `${+seconds.toPrecision(3)} s` : seconds < 7200 ? `${+(seconds / 60).toPrecision(3)} min` : `${+(seconds / 3600).toPrecision(3)} h`;

// The value a line has at x: that of its last point up to there, also after it has ended; null before it begins.
export function valueAt({ x, y }, at) {
  let low = 0, high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? null : y[low - 1];
}

// Of ascending places, the one that is nearest: what is shown is said of a place where something was measured.
export function nearestPlace(places, at) {
  const after = places.findIndex((place) => place >= at);
  if (after <= 0) return after === 0 ? places[0] : places[places.length - 1];
  return at - places[after - 1] <= places[after] - at ? places[after - 1] : places[after];
}

// What half of the lines have reached at each of at most `count` places; who has not begun has reached nothing.
export function medianLine(lines, count = 200) {
  const places = [...new Set(lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  const stride = Math.ceil(places.length / count);
  const x = places.filter((_, place) => place % stride === 0 || place === places.length - 1);
  const y = x.map((at) => {
    const values = lines.map((line) => valueAt(line, at) ?? 0).sort((a, b) => a - b);
    return (values[(values.length - 1) >> 1] + values[values.length >> 1]) / 2;
  });
  return { x, y };
}

// All programs in one number: their mean, those that are locked counting as 0.
export function meanSuccess(success, programs, length) {
  return Array.from({ length }, (_, place) => programs.reduce((sum, name) => sum + (success[name]?.[place] ?? 0), 0) / (programs.length || 1));
}

// lines: [{name, colour, x, y, strong, faint, end}]; end: "learned" or "stopped" marks its last point.
function drawing(width, { lines, marks = [], share = false, xLabel, height = 260, xFormat = grouped }) {
  const inner = { width: width - ROOM.left - ROOM.right, height: height - ROOM.top - ROOM.bottom };
  const all = lines.flatMap((line) => line.y).filter((value) => value !== null);
  const top = share ? 1 : all.reduce((a, b) => Math.max(a, b), 1e-9) * 1.05;
  const bottom = share ? 0 : all.reduce((a, b) => Math.min(a, b), 0);
  const first = share ? 0 : lines.reduce((a, line) => Math.min(a, line.x[0] ?? a), Infinity);
  const last = lines.reduce((a, line) => Math.max(a, line.x[line.x.length - 1] ?? a), -Infinity);
  const [from, to] = Number.isFinite(last) ? [Math.min(first, last), last] : [0, 1];
  const toX = (value) => ROOM.left + (inner.width * (value - from)) / (to - from || 1);
  const toY = (value) => ROOM.top + inner.height * (1 - (value - bottom) / (top - bottom || 1));
  const path = (line) => {
    let pen = "M", d = "";
    line.x.forEach((x, place) => {
      if (line.y[place] === null) { pen = "M"; return; }
      d += `${pen}${toX(x).toFixed(1)},${toY(line.y[place]).toFixed(1)}`;
      pen = "L";
    });
    return d;
  };
  const ending = (line) => {
    const x = toX(line.x[line.x.length - 1]), y = toY(line.y[line.y.length - 1] ?? 0);
    return line.end === "learned" ? svg("circle", { class: "end", cx: x, cy: y, r: 3.5 }) : svg("path", { class: "end cross", d: `M${x - 4},${y - 4}l8,8m0,-8l-8,8` });
  };
  const kind = (line) => `series series-${line.colour % COLOURS}${line.strong ? " strong" : ""}${line.faint ? " faint" : ""}`;
  const yTicks = share ? [0, 0.25, 0.5, 0.75, 1] : niceTicks(bottom, top, 4);
  const xTicks = niceTicks(from, to, Math.max(3, Math.floor(inner.width / 80))).filter((tick) => xFormat !== grouped || Number.isInteger(tick));
  const short = (value) => (Math.abs(value) >= 1e6 ? `${+(value / 1e6).toFixed(1)}M` : Math.abs(value) >= 1e3 ? `${+(value / 1e3).toFixed(1)}k` : String(+value.toPrecision(3)));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart curves", role: "img", "aria-label": lines.map((line) => line.name).join(", ") },
    yTicks.map((tick) => [
      svg("line", { class: "grid", x1: ROOM.left, x2: width - ROOM.right, y1: toY(tick), y2: toY(tick) }),
      svg("text", { class: "tick y", x: ROOM.left - 8, y: toY(tick) }, share ? percent(tick) : short(tick))]),
    xTicks.map((tick) => svg("text", { class: "tick x", x: toX(tick), y: height - ROOM.bottom + 16 }, xFormat(tick))),
    svg("text", { class: "axis", x: width - ROOM.right, y: height - 3, "text-anchor": "end" }, xLabel),
    marks.map(({ at, label }, place) => [
      svg("line", { class: "mark", x1: toX(at), x2: toX(at), y1: ROOM.top - 6, y2: height - ROOM.bottom }),
      toX(at) - (place ? toX(marks[place - 1].at) : 0) > 6.5 * label.length + 6
        ? svg("text", { class: "mark-label", x: toX(at) + 2, y: ROOM.top - 12 }, label) : null]),
    lines.map((line) => svg("g", { class: kind(line) }, svg("path", { d: path(line) }), line.end && line.x.length ? ending(line) : null)),
    svg("line", { class: "pointer", y1: ROOM.top, y2: height - ROOM.bottom, visibility: "hidden" }));
  return { picture, toX, toY, fromX: (x) => from + ((x - ROOM.left) * (to - from)) / (inner.width || 1), from, to };
}

// A figure whose curves may change: `update(options)` draws them again; the pointer or the arrow keys show values.
export function curveFigure(name, caption) {
  const values = html("div", { class: "values", hidden: true, "aria-live": "polite" });
  const frame = html("div", { class: "drawing", tabindex: 0, role: "group", "aria-label": `${caption}: the arrow keys show values` });
  const node = html("figure", { class: "figure hovering" },
    html("figcaption", {}, html("span", {}, caption), saveButton(() => frame.firstElementChild, name)), frame, values);
  let width = 0, options = null, shown = null, at = null, height = null, places = [];

  const show = () => {
    if (shown === null || at === null || !places.length) { values.hidden = true; return; }
    const place = nearestPlace(places, at);
    const pointer = shown.picture.querySelector(".pointer");
    for (const end of ["x1", "x2"]) pointer.setAttribute(end, shown.toX(place));
    pointer.setAttribute("visibility", "visible");
    const rows = options.lines.map((line) => ({ line, value: valueAt(line, place) })).filter(({ value }) => value !== null);
    const distance = ({ value }) => (height === null ? 0 : Math.abs(shown.toY(value) - height));
    const kept = rows.length <= MOST_ROWS ? rows
      : [...rows.filter(({ line }) => line.strong), ...rows.filter(({ line }) => !line.strong).sort((a, b) => distance(a) - distance(b)).slice(0, NEAREST_ROWS)];
    const format = options.format ?? (options.share ? percent : (value) => String(+value.toPrecision(4)));
    values.replaceChildren(
      html("strong", {}, `${options.xName} ${(options.xFormat ?? grouped)(place)}`),
      html("ul", {}, kept.map(({ line, value }) => html("li", { class: `key series-${line.colour % COLOURS}` }, html("span", {}, line.name), html("b", {}, format(value))))),
      rows.length > kept.length ? html("span", { class: "muted" }, `and ${grouped(rows.length - kept.length)} more, further away`) : "");
    values.hidden = false;
    const x = shown.toX(place), room = frame.clientWidth;
    values.style.left = x < room / 2 ? `${x + 14}px` : "auto";
    values.style.right = x < room / 2 ? "auto" : `${room - x + 14}px`;
  };
  const hide = () => {
    at = null;
    values.hidden = true;
    shown?.picture.querySelector(".pointer").setAttribute("visibility", "hidden");
  };
  const redraw = () => {
    if (width <= 0 || options === null) return;
    shown = drawing(width, options);
    places = [...new Set(options.lines.flatMap((line) => line.x))].sort((a, b) => a - b);
    frame.replaceChildren(shown.picture);
    show();
  };
  const move = (event) => {
    if (shown === null) return;
    const box = shown.picture.getBoundingClientRect();
    at = shown.fromX(((event.clientX - box.left) * width) / (box.width || 1));
    height = event.clientY - box.top;
    show();
  };
  frame.addEventListener("pointermove", move);
  frame.addEventListener("pointerdown", move);
  frame.addEventListener("pointerleave", hide);
  frame.addEventListener("blur", hide);
  frame.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") hide();
    if (!steps || shown === null) return;
    event.preventDefault();
    const now = at === null ? -1 : places.findLastIndex((place) => place <= at);
    at = places[Math.min(places.length - 1, Math.max(0, now + steps))] ?? null;
    height = null;
    show();
  });
  new ResizeObserver(() => {
    const now = Math.floor(frame.clientWidth);
    if (now > 0 && now !== width) { width = now; redraw(); }
  }).observe(frame);
  return { node, update: (changed) => { options = changed; redraw(); } };
}

// groups: [{name, colour, scores: [{size, rate, low, high, rates, successes, episodes}]}] of one program and mode.
export function groupScoreChart(width, groups, height = 250) {
  const sizes = [...new Set(groups.flatMap((group) => group.scores.map((score) => score.size)))].sort((a, b) => a - b);
  const inner = { width: width - ROOM.left - ROOM.right, height: height - ROOM.top - ROOM.bottom };
  const pitch = inner.width / (sizes.length || 1);
  const toY = (value) => ROOM.top + inner.height * (1 - value);
  const aside = (place) => (0.7 * (place + 0.5)) / groups.length - 0.35;
  const mark = (group, place, score) => {
    const x = ROOM.left + pitch * (sizes.indexOf(score.size) + 0.5 + aside(place));
    const each = score.rates.length > 1 ? `; ${score.rates.length} runs, worst ${percent(Math.min(...score.rates))}` : "";
    return svg("g", { class: `group-score series-${group.colour % COLOURS}` },
      svg("title", {}, `${group.name}, size ${grouped(score.size)}: ${grouped(score.successes)} of ${grouped(score.episodes)}${each}`),
      score.rates.map((rate) => svg("circle", { class: "seed", cx: x + 8, cy: toY(rate), r: 2.5 })),
      svg("line", { class: "whisker", x1: x, x2: x, y1: toY(score.low), y2: toY(score.high) }),
      [score.low, score.high].map((end) => svg("line", { class: "whisker", x1: x - 4, x2: x + 4, y1: toY(end), y2: toY(end) })),
      svg("circle", { class: "dot", cx: x, cy: toY(score.rate), r: 5 }));
  };
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": "Success by size" },
    [0, 0.25, 0.5, 0.75, 1].map((tick) => [
      svg("line", { class: "grid", x1: ROOM.left, x2: width - ROOM.right, y1: toY(tick), y2: toY(tick) }),
      svg("text", { class: "tick y", x: ROOM.left - 8, y: toY(tick) }, percent(tick))]),
    sizes.map((size, place) => svg("text", { class: "tick x", x: ROOM.left + pitch * (place + 0.5), y: height - ROOM.bottom + 16 }, grouped(size))),
    svg("text", { class: "axis", x: width - ROOM.right, y: height - 3, "text-anchor": "end" }, "size of the problem"),
    groups.map((group, place) => group.scores.map((score) => mark(group, place, score))));
}

export const table = (label, heads, rows, kind = "") =>
  html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    html("table", { class: kind }, html("thead", {}, html("tr", {}, heads.map((head) => html("th", { scope: "col" }, head)))), html("tbody", {}, rows)));

export const card = (id, title, subtitle, ...parts) =>
  html("section", { class: "card", id, "aria-labelledby": `${id}-title` },
    html("h2", { id: `${id}-title` }, title, subtitle ? html("small", {}, subtitle) : null), parts);
