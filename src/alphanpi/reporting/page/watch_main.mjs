// A run while it is being trained: asks its server every second, and draws what is new.

import { card, curveFigure, duration } from "./curves.mjs";
import { fact, grouped, html, percent } from "./dom.mjs";
import { startTheme } from "./theme.mjs";

const EVERY = 1000; // milliseconds
const QUIET = 20; // seconds after which it is said how long nothing has come
const WORDS = { waiting: "Waiting for the run to begin", running: "Training", learned: "Learned everything", proved: "Learned and proved everything", stopped: "Stopped", failed: "Ended without saying how" };

let live = JSON.parse(document.getElementById("report-data").textContent);
let axis = "iteration";
let written = null; // what was drawn last

const status = html("h1", { role: "status" });
const origin = html("p", { class: "muted" });
const facts = html("dl", { class: "facts" });
const programs = html("ul", { class: "level" });
const ending = html("div", {});
const log = html("ol", { class: "log" });
const lost = html("p", { class: "note bad", role: "alert", hidden: true }, "The server no longer answers: `alphanpi watch` has ended. This is what it knew last.");
const charts = {
  success: curveFigure("validation-success", "Validation success per program"),
  losses: curveFigure("losses", "Losses"),
  throughput: curveFigure("throughput", "Simulations per second"),
};
const legend = html("ul", { class: "legend" });
const select = html("select", { onchange: () => { axis = select.value; draw(); } }, html("option", { value: "iteration" }, "iterations"), html("option", { value: "elapsed" }, "training time"));

function drawCharts(curves) {
  const time = axis === "elapsed";
  const common = { xName: time ? "after" : "iteration", xLabel: time ? "training time" : "iteration", xFormat: time ? duration : grouped };
  const x = curves[axis], names = Object.keys(curves.success);
  const lines = (values) => Object.entries(values).map(([name, y], colour) => ({ name, colour, x, y }));
  const marks = x.flatMap((at, place) => (curves.advanced[place] ? [{ at, label: `level ${curves.level[place]}` }] : []));
  charts.success.update({ ...common, lines: lines(curves.success), share: true, marks });
  charts.losses.update({ ...common, lines: lines({ policy: curves.policy_loss, value: curves.value_loss }), height: 200 });
  charts.throughput.update({ ...common, lines: lines({ "simulations per second": curves.simulations_per_second }), height: 200, format: grouped });
  legend.replaceChildren(...names.map((name, colour) => html("li", { class: `key series-${colour % 8}` }, name)));
}

function programRow(name, curves) {
  const last = (values) => values?.[values.length - 1] ?? null;
  const success = last(curves.success[name]), explored = last(curves.explored[name]);
  return html("li", { class: success === 1 ? "good" : "" }, html("span", { class: "name" }, name),
    html("span", { class: "bar", style: { "--share": `${100 * (success ?? 0)}%` } }), html("span", { class: "number" }, success === null ? "–" : percent(success)),
    html("span", { class: "explored muted small" }, explored === null ? "" : `explored ${percent(explored)}`));
}

function draw() {
  const { curves } = live;
  const last = curves ? curves.iteration.length - 1 : -1;
  const quiet = live.status === "running" && live.since > QUIET ? `; nothing new for ${duration(Math.round(live.since))}` : "";
  status.textContent = `${WORDS[live.status]}${quiet}`;
  origin.textContent = [live.run, live.environment, live.seed === null ? "" : `seed ${live.seed}`].filter(Boolean).join(" · ");
  facts.replaceChildren(
    fact("Level", curves ? String(curves.level[last]) : "–", live.explanation || null),
    fact("Iteration", curves ? grouped(curves.iteration[last]) : "–"),
    fact("Training time", curves ? duration(curves.elapsed[last]) : "–"),
    fact("Last exam", live.exam ? live.exam.split(":")[0] : "none yet", live.exam.includes(":") ? live.exam.slice(live.exam.indexOf(":") + 1) : null));
  programs.replaceChildren(...(curves ? Object.keys(curves.success).map((name) => programRow(name, curves)) : []));
  const done = ["learned", "proved", "stopped"].includes(live.status);
  ending.replaceChildren(
    ...(live.note ? [html("p", { class: "note" }, live.note)] : []),
    ...(live.damaged ? [html("p", { class: "note" }, `${grouped(live.damaged)} damaged lines of metrics.jsonl are left out.`)] : []),
    ...(done ? [html("p", { class: "note" }, "What was learned, with a run to step through, search trees and scores:"), html("pre", { class: "command" }, html("code", {}, live.report))] : []),
    ...(live.status === "waiting" ? [html("p", { class: "note" }, "Start it in another terminal, for example:"), html("pre", { class: "command" }, html("code", {}, `alphanpi train ENV --out ${live.run}`))] : []));
  log.replaceChildren(...live.log.toReversed().map((line) => html("li", { class: line.kind }, `${duration(line.elapsed)}  iteration ${grouped(line.iteration)}  ${line.kind === "memory" ? "" : `${line.kind}: `}${line.text}`)));
  if (!live.log.length) log.append(html("li", { class: "muted" }, "Nothing yet: levels learned, exams and verifications are told here."));
  if (curves) drawCharts(curves);
}

async function ask() {
  try {
    const answer = await fetch("data", { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    const text = await answer.text();
    lost.hidden = true;
    if (text !== written) {
      written = text;
      live = JSON.parse(text);
      draw();
    }
  } catch {
    lost.hidden = false;
  }
  setTimeout(ask, EVERY);
}

const parts = [
  card("now", "Now", null, facts, programs, ending),
  card("learning", "Learning", null, html("div", { class: "choices" }, html("label", {}, "over", select)), charts.success.node, legend,
    html("div", { class: "pair" }, html("div", {}, charts.losses.node, html("ul", { class: "legend" }, ["policy", "value"].map((name, colour) => html("li", { class: `key series-${colour}` }, name)))), html("div", {}, charts.throughput.node))),
  card("log", "Log", "the newest first", log),
];
document.getElementById("content").append(html("div", { class: "intro" }, status, origin, lost), ...parts);
document.getElementById("sections").append(...parts.map((one) => html("a", { href: `#${one.id}` }, one.querySelector("h2").firstChild.textContent)));
document.getElementById("foot").append(`AlphaNPI ${live.version}, from this machine alone.`);
startTheme();
draw();
setTimeout(ask, EVERY);
