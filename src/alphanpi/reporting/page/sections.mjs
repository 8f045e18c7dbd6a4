// The parts of the page that hold still: summary, learning, generalisation, program and certificate.

import { COLOURS, callGraph, lineChart, scoreChart } from "./charts.mjs";
import { certificateParts, smallestMargin, threeDigits, verdictMood, verdictText } from "./certificate.mjs";
import { copyButton, fact, figure, grouped, html, percent } from "./dom.mjs";

const legend = (names) =>
  html("ul", { class: "legend" }, names.map((name, place) => html("li", { class: `key series-${place % COLOURS}` }, name)));

const rateOf = (score) => score.successes / score.episodes; // the stored rate is rounded

const seconds = (value) => (value === null ? "unknown" : value < 120 ? `${value.toFixed(1)} s` : `${(value / 60).toFixed(1)} min`);

const command = (text) => html("pre", { class: "command" }, html("code", {}, text));

function verification({ certificate, verdict, certificate_checked: checked }) {
  if (!certificate) return fact("Verification", "no certificate", "the last section says why");
  const margin = smallestMargin(certificate);
  return fact("Verification", verdictText(verdict.text, checked), margin === null ? null : `smallest margin ${threeDigits(margin)}`, verdictMood(certificate.verdict, checked));
}

export function summary(report) {
  const { agent, training, generalisation: { scores }, library } = report;
  const program = report.execution.program;
  const own = scores.filter((score) => score.program === program);
  const line = (mode) => {
    const of = own.filter((score) => score.mode === mode);
    if (!of.length) return fact(mode === "greedy" ? "Success without search" : "Success with search", "not measured");
    const largest = of.reduce((a, b) => (b.size > a.size ? b : a));
    const compared = of.filter((score) => score.paper !== null);
    const last = compared.length ? compared.reduce((a, b) => (b.size > a.size ? b : a)) : null;
    return fact(mode === "greedy" ? "Success without search" : "Success with search", `${percent(rateOf(largest))} at size ${grouped(largest.size)}`,
      last ? `paper: ${percent(last.paper)} at size ${grouped(last.size)}` : "no number in the paper");
  };
  const options = Object.entries(agent.options).map(([name, value]) => `${name} ${value}`).join(", ");
  return [
    html("dl", { class: "facts" },
      fact("Environment", agent.environment.split("/").pop(), options || agent.summary),
      fact("Training", seconds(training.seconds), training.iterations ? `${grouped(training.iterations)} iterations, seed ${agent.seed}` : `seed ${agent.seed}`),
      line("greedy"), line("planning"),
      verification(report)),
    figure("who-calls-whom", "Who calls whom, as learned", (width) => callGraph(width, library, report.calls), Math.max(...library.map((entry) => entry.level)) < 2 ? "narrow" : ""),
    html("p", { class: "note" }, "Counted in greedy runs of the validation size; thicker arrows are more frequent, and every program also ends with STOP. Hover for numbers."),
  ];
}

export function learning(report) {
  const curves = report.learning;
  if (!curves) {
    const { command: used } = report.training;
    return [html("p", { class: "note" }, "There are no learning curves beside these weights: they belong to the run that trained them (metrics.jsonl in its folder). A new run writes them:"),
      command(used && used !== "python" ? used : `alphanpi train ${report.agent.environment}`)];
  }
  const names = Object.keys(curves.success);
  const marks = curves.iteration.filter((_, place) => curves.advanced[place])
    .map((at) => ({ at, label: `level ${curves.level[curves.iteration.indexOf(at)]} learned` }));
  const common = { x: curves.iteration, xLabel: "iteration" };
  const marked = (width) => marks.map((mark) => (width < 560 ? { ...mark, label: mark.label.replace(" learned", "") } : mark));
  return [
    figure("validation-success", "Validation success per program", (width) => lineChart(width, { ...common, marks: marked(width), share: true, series: names.map((name) => ({ name, values: curves.success[name] })) })),
    legend(names),
    html("div", { class: "pair" },
      html("div", {}, figure("losses", "Losses", (width) => lineChart(width, { ...common, height: 190, series: [{ name: "policy", values: curves.policy_loss }, { name: "value", values: curves.value_loss }] })), legend(["policy", "value"])),
      html("div", {}, figure("throughput", "Simulations per second", (width) => lineChart(width, { ...common, height: 190, series: [{ name: "simulations per second", values: curves.simulations_per_second }] })), legend(["simulations per second"]))),
    curves.left_out ? html("p", { class: "note" }, `${grouped(curves.left_out)} iterations in between are not drawn.`) : null,
  ];
}

export function generalisation(report) {
  const { scores, reliability, note } = report.generalisation;
  const programs = [...new Set(scores.map((score) => score.program))];
  const charts = programs.map((program) => {
    const own = scores.filter((score) => score.program === program);
    return [figure(`success-${program}`, `${program}: success by size`, (width) => scoreChart(width, own)),
      html("ul", { class: "legend" }, html("li", { class: "key greedy" }, "without search (greedy)"), html("li", { class: "key planning" }, "with search (planning)"),
        own.some((score) => score.paper !== null) ? html("li", { class: "key paper" }, "the paper") : null,
        html("li", { class: "key whisker" }, "95% Wilson interval"))];
  });
  const row = (score) => html("tr", {}, html("td", {}, score.program), html("td", {}, grouped(score.size)), html("td", {}, score.mode),
    html("td", {}, `${score.successes} / ${score.episodes}`), html("td", {}, percent(rateOf(score))),
    html("td", {}, `${percent(score.low)} – ${percent(score.high)}`), html("td", {}, score.paper === null ? "–" : percent(score.paper)));
  const table = (heads, rows) => html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table" },
    html("table", {}, html("thead", {}, html("tr", {}, heads.map((head) => html("th", { scope: "col" }, head)))), html("tbody", {}, rows)));
  return [
    charts,
    html("p", { class: "note" }, note),
    html("details", {}, html("summary", {}, "The same numbers as a table"),
      table(["program", "size", "mode", "solved", "rate", "95% interval", "paper"], scores.map(row))),
    reliability.length ? html("h3", {}, "Reliability per call", html("small", {}, "all calls, at any depth, of ten greedy runs of the validation size")) : null,
    reliability.length ? table(["program", "calls", "failed", "reliability", "95% interval"], reliability.map((one) =>
      html("tr", {}, html("td", {}, one.program), html("td", {}, grouped(one.calls)), html("td", {}, grouped(one.failures)),
        html("td", {}, percent(1 - one.failures / one.calls)), html("td", {}, `${percent(one.low)} – ${percent(one.high)}`)))) : null,
  ];
}

const WORDS = /("""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*)|\b(def|if|elif|else|while|for|in|return|not|and|or|class|import|from|True|False|None|raise|pass|assert|with|as|lambda|is|match|case|break|continue)\b|\b([A-Z][A-Z0-9_]{2,})\b/g;

export function highlighted(source) {
  const parts = [];
  let last = 0;
  for (const found of source.matchAll(WORDS)) {
    parts.push(source.slice(last, found.index));
    const kind = found[1] ? (found[1].startsWith("#") ? "comment" : "string") : found[2] ? "keyword" : "program";
    parts.push([kind, found[0]]);
    last = found.index + found[0].length;
  }
  parts.push(source.slice(last));
  return parts;
}

export function code(report) {
  const { source, source_note: origin, certificate, certificate_note: about, agent } = report;
  const shown = source === null
    ? [html("p", { class: "note" }, `${origin} This writes the source code, and gives it to the report:`),
       command(`alphanpi export ${agent.run} -o program.py\nalphanpi report ${agent.run} --source program.py`)]
    : [html("div", { class: "over" }, html("p", { class: "note" }, origin), copyButton(source)),
       html("pre", { class: "source program-source", tabindex: 0 }, html("code", {}, highlighted(source).map((part) => (typeof part === "string" ? part : html("span", { class: part[0] }, part[1])))))];
  const proof = certificate === null
    ? [html("p", { class: "note" }, `${about} This makes a certificate, and gives it to the report:`),
       command(`alphanpi verify ${agent.run} --out certificate.json\nalphanpi report ${agent.run} --certificate certificate.json`)]
    : certificateParts(certificate, report.verdict, about, report.certificate_checked);
  return [html("h3", {}, "Source code", html("small", {}, "what was learned, as a program")), ...shown,
    html("h3", { id: "certificate" }, "Certificate", html("small", {}, "what has been shown about it")), ...proof];
}
