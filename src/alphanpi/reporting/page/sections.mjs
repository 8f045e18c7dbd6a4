// The parts of the page that hold still: the lead, learning, scores, certificate, statistics.

import { COLOURS, callGraph, lineChart, scoreChart, shortNumber } from "./charts.mjs";
import { certificateParts, verdictMood, verdictText } from "./certificate.mjs";
import { fact, figure, grouped, html, percent } from "./dom.mjs";

const rateOf = (score) => score.successes / score.episodes; // the stored rate is rounded

const seconds = (value) => (value === null ? "unknown" : value < 120 ? `${value.toFixed(1)} s` : `${(value / 60).toFixed(1)} min`);

export const command = (text) => html("pre", { class: "command" }, html("code", {}, text));

const largestOf = (scores) => (scores.length ? scores.reduce((a, b) => (b.size > a.size ? b : a)) : null);

// What was learned, in a sentence or two.
export function lead(report) {
  const { training, generalisation: { scores }, execution: { program }, certificate, verdict, certificate_checked: checked } = report;
  const largest = largestOf(scores.filter((score) => score.program === program && score.mode === "greedy"));
  const parts = [
    training.seconds === null ? null : `learned in ${seconds(training.seconds)}`,
    largest ? `solves ${percent(rateOf(largest))} at size ${grouped(largest.size)} without search` : null,
  ].filter(Boolean);
  return html("p", { class: "lead" }, report.agent.summary.replace(/\.?$/, "."), " ",
    parts.length ? `${program}: ${parts.join(", ")}. ` : null,
    certificate ? html("a", { href: "#certificate", title: verdict.meaning, class: verdictMood(certificate.verdict, checked) }, `${verdictText(verdict.text, checked)}.`) : null);
}

// A chart whose legend says the values where the reader looks; `options(axis)` are those of `lineChart` but for `x`.
function curve(name, caption, axis, names, options) {
  const { share } = options(axis());
  const where = html("li", { class: "where" });
  const values = names.map(() => html("output", { class: "value" }));
  const read = (place) => {
    const { series } = options(axis()), { x, say } = axis();
    where.textContent = place === null ? "" : say(x[place]);
    values.forEach((value, number) => {
      const found = place === null ? null : series[number].values[place];
      value.textContent = found === null ? "" : share ? percent(found) : shortNumber(found);
    });
  };
  const drawing = figure(name, caption, (width) => lineChart(width, { ...options(axis(), width), read }));
  const node = html("div", { class: "curve" }, drawing,
    html("ul", { class: "legend" }, names.map((one, place) => html("li", { class: `key series-${place % COLOURS}` }, one, values[place])), where));
  node.redraw = drawing.redraw;
  return node;
}

export function learning(report) {
  const curves = report.learning;
  if (!curves) {
    const { command: used } = report.training;
    return [html("p", { class: "note" }, "There are no learning curves beside these weights: they belong to the run that trained them (metrics.jsonl in its folder). A new run writes them:"),
      command(used && used !== "python" ? used : `alphanpi train ${report.agent.environment}`)];
  }
  const axes = {
    iteration: { x: curves.iteration, xLabel: "iteration", whole: true, say: (value) => `iteration ${grouped(value)}`, of: ({ iteration }) => iteration },
    seconds: { x: curves.elapsed, xLabel: "seconds", whole: false, say: (value) => `${value.toFixed(1)} s`, of: ({ elapsed }) => elapsed },
  };
  let shown = axes.iteration;
  const axis = () => shown;
  const names = Object.keys(curves.success), explored = Object.keys(curves.explored);
  const advanced = curves.iteration.map((_, place) => place).filter((place) => curves.advanced[place]);
  const marks = ({ x }, width) => advanced.map((place) => ({ at: x[place], label: width < 560 ? `level ${curves.level[place]}` : `level ${curves.level[place]} learned` }));
  const events = ({ of }) => curves.exams.map((exam) => ({ at: of(exam), good: exam.passed, label: `exam in iteration ${exam.iteration}: ${exam.text}` }));
  const lines = (record, of) => of.map((name) => ({ name, values: record[name] }));
  const over = ({ x, xLabel, whole }) => ({ x, xLabel, whole });
  const plain = (series) => (now) => ({ ...over(now), height: 190, series });
  const losses = plain([{ name: "policy", values: curves.policy_loss }, { name: "value", values: curves.value_loss }]);
  const all = [
    curve("validation-success", "Validation success per program", axis, names, (now, width = 1000) =>
      ({ ...over(now), share: true, marks: marks(now, width), events: events(now), series: lines(curves.success, names) })),
    explored.length ? curve("explored-success", "Success while exploring, with search", axis, explored, (now, width = 1000) =>
      ({ ...over(now), share: true, height: 190, marks: marks(now, width), series: lines(curves.explored, explored) })) : null,
    curve("losses", "Losses", axis, ["policy", "value"], losses),
    curve("throughput", "Simulations per second", axis, ["simulations per second"], plain([{ name: "simulations per second", values: curves.simulations_per_second }])),
  ];
  const choice = (name, label) => html("label", { class: "check" }, html("input", { type: "radio", name: "axis", value: name, checked: shown === axes[name], autocomplete: "off",
    onchange: () => { shown = axes[name]; for (const one of all) one?.redraw(); } }), label);
  const exam = (one) => html("li", {}, `Iteration ${grouped(one.iteration)}, ${seconds(one.elapsed)}: `, html("span", { class: one.passed ? "good" : "" }, one.text));
  return [
    html("fieldset", { class: "axis-choice" }, html("legend", {}, "Over"), choice("iteration", "iterations"), choice("seconds", "seconds")),
    all[0], all[1], html("div", { class: "pair" }, all[2], all[3]),
    curves.exams.length ? html("details", { class: "exams", open: curves.exams.length <= 3 }, html("summary", {}, `Exams: ${grouped(curves.exams.length)} held, ${grouped(curves.exams.filter((one) => one.passed).length)} passed`),
      html("ul", { class: "prose" }, curves.exams.map(exam))) : null,
    curves.left_out ? html("p", { class: "note" }, `${grouped(curves.left_out)} iterations in between are not drawn.`) : null,
  ];
}

export function generalisation(report) {
  const { scores, note } = report.generalisation;
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
  return [
    charts,
    html("p", { class: "note" }, note),
    html("details", {}, html("summary", {}, "The same numbers as a table"),
      table(["program", "size", "mode", "solved", "rate", "95% interval", "paper"], scores.map(row))),
  ];
}

export function certificate(report) {
  const { certificate: proof, certificate_note: about, agent } = report;
  return proof === null
    ? [html("p", { class: "note" }, `${about} This makes a certificate, and gives it to the report:`),
       command(`alphanpi verify ${agent.run} --out certificate.json\nalphanpi report ${agent.run} --certificate certificate.json`)]
    : certificateParts(proof, report.verdict, about, report.certificate_checked);
}

export function statistics(report) {
  const { agent, training, generalisation: { scores, reliability }, library } = report;
  const program = report.execution.program;
  const line = (title, mode) => {
    const largest = largestOf(scores.filter((score) => score.program === program && score.mode === mode));
    if (!largest) return fact(title, "not measured");
    const last = largestOf(scores.filter((score) => score.program === program && score.mode === mode && score.paper !== null));
    return fact(title, `${percent(rateOf(largest))} at size ${grouped(largest.size)}`, last ? `paper: ${percent(last.paper)} at size ${grouped(last.size)}` : "no number in the paper");
  };
  const options = Object.entries(agent.options).map(([name, value]) => `${name} ${value}`).join(", ");
  return [
    html("dl", { class: "facts" },
      fact("Environment", agent.environment.split("/").pop(), options || agent.summary),
      fact("Training", seconds(training.seconds), training.iterations ? `${grouped(training.iterations)} iterations, seed ${agent.seed}` : `seed ${agent.seed}`),
      line("Success without search", "greedy"), line("Success with search", "planning")),
    figure("who-calls-whom", "Who calls whom, as learned", (width) => callGraph(width, library, report.calls), Math.max(...library.map((entry) => entry.level)) < 2 ? "narrow" : ""),
    html("p", { class: "note" }, "Counted in greedy runs of the validation size; thicker arrows are more frequent, and every program also ends with STOP. Hover for numbers."),
    reliability.length ? html("h3", {}, "Reliability per call", html("small", {}, "all calls, at any depth, of ten greedy runs of the validation size")) : null,
    reliability.length ? table(["program", "calls", "failed", "reliability", "95% interval"], reliability.map((one) =>
      html("tr", {}, html("td", {}, one.program), html("td", {}, grouped(one.calls)), html("td", {}, grouped(one.failures)),
        html("td", {}, percent(1 - one.failures / one.calls)), html("td", {}, `${percent(one.low)} – ${percent(one.high)}`)))) : null,
  ];
}

const table = (heads, rows) => html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table" },
  html("table", {}, html("thead", {}, html("tr", {}, heads.map((head) => html("th", { scope: "col" }, head)))), html("tbody", {}, rows)));
