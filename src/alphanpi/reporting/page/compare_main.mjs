// Runs side by side: one part for each environment, since runs of different ones cannot be compared.

import { COLOURS } from "./charts.mjs";
import { card, curveFigure, duration, groupScoreChart, meanSuccess, medianLine, table } from "./curves.mjs";
import { fact, figure, grouped, html, percent } from "./dom.mjs";
import { startTheme } from "./theme.mjs";

const comparison = JSON.parse(document.getElementById("report-data").textContent);
const MODES = { greedy: "without search", planning: "with search" };
const ALL = "all programs";
const LEAST_FOR_MEDIAN = 3;

const written = (value) => (value === null || value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value));
const groupName = (group, place) => html("span", { class: `group-name series-${place % COLOURS}` }, group.label);
const legend = (groups, ...more) => html("ul", { class: "legend" }, groups.map((group, place) => html("li", { class: `key series-${place % COLOURS}` }, group.label)), more);
const lastPart = (path) => path.split("/").filter(Boolean).pop() ?? path;

// The shortest end of each path, of so many parts at least, by which it can be told from the others.
function shortNames(paths, least = 1) {
  const parts = paths.map((path) => path.split("/").filter(Boolean));
  const end = (one, length) => one.slice(-length).join("/");
  return parts.map((one) => {
    let length = least;
    while (length < one.length && parts.filter((other) => end(other, length) === end(one, length)).length > 1) length += 1;
    return end(one, length);
  });
}
const names = shortNames(comparison.runs.map((run) => run.path));
const places = shortNames(comparison.environments.map((one) => one.environment), 2);

function median(found, format) {
  if (found === null) return html("td", { class: "muted" }, "no run has ended");
  const bound = (value) => (value === null ? "not reached" : format(value));
  return html("td", {}, html("strong", {}, bound(found.median)), found.coverage > 0
    ? html("span", { class: "muted under-it" }, `${bound(found.low)} – ${bound(found.high)}${found.coverage < 0.95 ? ` (${percent(found.coverage)})` : ""}`) : null);
}

function largest(group, program, mode) {
  const own = group.scores.filter((score) => score.program === program && score.mode === mode);
  if (!own.length) return html("td", { class: "muted" }, "not measured");
  const best = own.reduce((a, b) => (b.size > a.size ? b : a));
  return html("td", {}, html("strong", {}, percent(best.successes / best.episodes)), html("span", { class: "muted" }, ` at size ${grouped(best.size)}`), html("span", { class: "muted under-it" }, `${percent(best.low)} – ${percent(best.high)}`));
}

function overview(environment) {
  const { groups } = environment;
  const measured = new Set(groups.flatMap((group) => group.scores.map((score) => score.program)));
  const top = environment.programs.findLast((program) => measured.has(program)) ?? "success";
  const rows = groups.map((group, place) => html("tr", {},
    html("th", { scope: "row", class: "wrap" }, groupName(group, place)),
    html("td", {}, html("strong", {}, `${grouped(group.learned)} of ${grouped(group.ended)}`),
      group.ended < group.runs.length ? html("span", { class: "status running" }, `, ${grouped(group.runs.length - group.ended)} at work`) : null,
      group.ended ? html("span", { class: "muted under-it" }, `${percent(group.learned_low)} – ${percent(group.learned_high)}`) : null),
    median(group.seconds, duration), median(group.iterations, (value) => value.toLocaleString("en", { maximumFractionDigits: 1 })),
    largest(group, top, "greedy"), largest(group, top, "planning"),
    html("td", {}, Object.entries(group.verdicts).map(([verdict, count]) => `${grouped(count)} ${verdict}`).join(", ") || "–")));
  const notes = groups.flatMap((group) => group.notes.map((note) => (groups.length > 1 ? `${group.label}: ${note}` : note)));
  return [
    table("Groups of runs", ["group", "learned everything", "training time", "iterations", `${top} without search`, `${top} with search`, "verdicts"], rows, "groups"),
    html("p", { class: "note" }, "A group is runs that differ in the seed only. Times and iterations are medians; under each is its interval of order statistics, which holds the median of all seeds in 95% of cases, or in as many as are written behind it where there are too few runs. ",
      "A run that ended without having learned everything counts as one that never would; one that is at work does not count. Under a share is its 95% Wilson interval: of runs, or of the episodes of all runs together. ",
      "Verdicts are those of the certificates in the runs' folders, not checked here."),
    notes.length ? html("ul", { class: "prose" }, notes.map((note) => html("li", {}, note))) : null,
    environment.settings.length
      ? [html("h3", {}, "Settings that differ"), table("Settings that differ", ["setting", ...groups.map(groupName)],
        environment.settings.map((key) => html("tr", {}, html("th", { scope: "row" }, key), groups.map((group) => html("td", {}, written(group.settings[key]))))), "settings")]
      : html("p", { class: "note" }, "All runs have the same settings."),
  ];
}

function choice(label, options, onchange) {
  const select = html("select", { onchange: () => onchange(select.value) }, options.map(([value, text]) => html("option", { value }, text)));
  return html("label", {}, label, select);
}

function learning(environment) {
  const runs = environment.groups.flatMap((group, colour) => group.runs.map((place) => ({ place, colour, run: comparison.runs[place] }))).filter(({ run }) => run.curves);
  if (!runs.length) return [html("p", { class: "note" }, "No run has finished an iteration yet.")];
  const { programs, groups } = environment;
  const chosen = { program: programs.length > 1 ? ALL : programs[0], axis: "iteration", hidden: new Set() };
  const chart = curveFigure("learning-curves", "Validation success");
  const draw = () => {
    const line = ({ place, colour, run: { curves, status } }) => ({
      name: names[place], colour, x: curves[chosen.axis],
      y: chosen.program === ALL ? meanSuccess(curves.success, programs, curves.iteration.length) : curves.success[chosen.program] ?? curves.iteration.map(() => null),
      end: status === "running" ? null : status === "learned" || status === "proved" ? "learned" : "stopped",
    });
    const drawn = runs.filter((one) => !chosen.hidden.has(one.colour));
    const medians = groups.flatMap((group, colour) => {
      const own = drawn.filter((one) => one.colour === colour && one.run.status !== "running").map(line);
      return own.length < LEAST_FOR_MEDIAN ? [] : [{ name: `median of ${own.length}: ${group.label}`, colour, strong: true, ...medianLine(own) }];
    });
    const each = drawn.map((one) => ({ ...line(one), faint: medians.some(({ colour }) => colour === one.colour) }));
    const time = chosen.axis === "elapsed";
    chart.update({ lines: [...each, ...medians], share: true, height: 320, xName: time ? "after" : "iteration", xLabel: time ? "training time" : "iteration", xFormat: time ? duration : grouped });
  };
  const toggle = (colour) => (event) => {
    if (!chosen.hidden.delete(colour)) chosen.hidden.add(colour);
    event.currentTarget.setAttribute("aria-pressed", String(!chosen.hidden.has(colour)));
    draw();
  };
  const shown = groups.map((group, colour) => html("li", { class: `key series-${colour % COLOURS}` },
    html("button", { type: "button", class: "link toggle", "aria-pressed": "true", title: "Show or hide", onclick: toggle(colour) }, group.label)));
  draw();
  return [
    html("div", { class: "choices" },
      programs.length > 1 ? choice("program", [ALL, ...programs].map((name) => [name, name]), (value) => { chosen.program = value; draw(); }) : null,
      choice("over", [["iteration", "iterations"], ["elapsed", "training time"]], (value) => { chosen.axis = value; draw(); })),
    chart.node,
    groups.length > 1 ? html("ul", { class: "legend" }, shown) : legend(groups),
    html("p", { class: "note" }, "One line for each run; the thick ones are medians of groups of three or more, in which a run that has ended keeps what it had. ● learned everything, × ended before. ", groups.length > 1 ? "A click on a group's name hides it. " : "",
      programs.length > 1 ? `“${ALL}” is their mean, those that are locked counting as 0.` : ""),
  ];
}

function generalisation(environment) {
  const measured = [...new Set(environment.groups.flatMap((group) => group.scores.map((score) => score.program)))];
  if (!measured.length) return [html("p", { class: "note" }, "No run was measured. This measures one, and the next comparison shows it:"), html("pre", { class: "command" }, html("code", {}, `alphanpi eval ${comparison.runs[environment.groups[0].runs[0]].path}`))];
  const charts = measured.map((program) => html("div", { class: "pair" }, Object.entries(MODES).map(([mode, words]) => {
    const groups = environment.groups.map((group, colour) => ({ name: group.label, colour, scores: group.scores.filter((score) => score.program === program && score.mode === mode) }));
    return groups.some((group) => group.scores.length) ? html("div", {}, figure(`success-${program}-${mode}`, `${program} ${words}`, (width) => groupScoreChart(width, groups))) : null;
  })));
  const rows = environment.groups.flatMap((group, place) => group.scores.map((score) => html("tr", {}, html("th", { scope: "row", class: "wrap" }, groupName(group, place)),
    html("td", {}, score.program), html("td", {}, grouped(score.size)), html("td", {}, MODES[score.mode]), html("td", {}, `${grouped(score.successes)} / ${grouped(score.episodes)}`),
    html("td", {}, percent(score.successes / score.episodes)), html("td", {}, `${percent(score.low)} – ${percent(score.high)}`), html("td", {}, `${grouped(score.rates.filter((rate) => rate === 1).length)} of ${grouped(score.rates.length)}`), html("td", {}, percent(Math.min(...score.rates))))));
  return [
    charts, legend(environment.groups),
    html("p", { class: "note" }, "Large points: all episodes of all runs of a group, with their 95% Wilson interval, which says nothing about further seeds. Small circles: the runs themselves. Hover for numbers."),
    html("details", {}, html("summary", {}, "The same numbers as a table"), table("Success by size", ["group", "program", "size", "mode", "solved", "rate", "95% interval", "runs at 100%", "worst run"], rows)),
  ];
}

function runTable(environment) {
  const rows = environment.groups.flatMap((group, colour) => group.runs.map((place) => {
    const run = comparison.runs[place];
    return html("tr", {}, html("th", { scope: "row", class: "wrap", title: run.path }, html("span", { class: `group-name series-${colour % COLOURS}` }, names[place])),
      html("td", {}, String(run.seed)), html("td", { class: `status ${run.status}` }, run.status), html("td", {}, duration(run.seconds)), html("td", {}, grouped(run.iterations)),
      html("td", {}, run.level === null ? "–" : String(run.level)), html("td", {}, run.verdict ?? "–"), html("td", { class: "wrap" }, run.note || "–"));
  }));
  return [table("Runs", ["run", "seed", "status", "time", "iterations", "level", "verdict", "note"], rows, "runs")];
}

function part(environment, number) {
  const id = (name) => (comparison.environments.length > 1 ? `${name}-${number}` : name);
  const runs = environment.groups.reduce((sum, group) => sum + group.runs.length, 0);
  const count = `${grouped(runs)} ${runs === 1 ? "run" : "runs"} in ${grouped(environment.groups.length)} ${environment.groups.length === 1 ? "group" : "groups"}`;
  return [
    card(id("overview"), lastPart(environment.environment), `${count}${environment.environment.includes("/") ? ` · ${places[number]}` : ""}`, overview(environment)),
    card(id("learning"), "Learning", null, learning(environment)),
    card(id("generalisation"), "Success by size", null, generalisation(environment)),
    card(id("runs"), "Runs", null, runTable(environment)),
  ];
}

const { runs, environments, unreadable } = comparison;
const learned = runs.filter((run) => run.status === "learned" || run.status === "proved").length;
const count = (status) => runs.filter((run) => run.status === status).length;
const parts = environments.map(part);
document.getElementById("content").append(
  html("div", { class: "intro" }, html("h1", {}, document.title), html("p", { class: "muted" }, environments.map((one) => lastPart(one.environment)).join(", "))),
  html("dl", { class: "facts" },
    fact("Learned everything", `${grouped(learned)} of ${grouped(runs.length)}`, count("proved") ? `${grouped(count("proved"))} until proved` : null),
    fact("Stopped before", grouped(count("stopped")), "by a limit or by hand"), fact("Failed", grouped(count("failed") + unreadable.length), unreadable.length ? `${grouped(unreadable.length)} cannot be read` : "an error, or killed", count("failed") + unreadable.length ? "bad" : ""),
    fact("At work", grouped(count("running")), "not counted yet")),
  environments.length > 1 ? html("p", { class: "note" }, "These runs are of different environments. Each has a part of its own: nothing is compared between them.") : "",
  unreadable.length ? html("div", { class: "counter-example" }, html("h4", {}, "Cannot be read"), html("ul", { class: "prose" }, unreadable.map((one) => html("li", {}, one.reason)))) : "",
  ...parts.flat());
const linked = environments.length > 1 ? parts.map((cards) => cards[0]) : parts[0];
document.getElementById("sections").append(...linked.map((one) => html("a", { href: `#${one.id}` }, environments.length > 1 ? one.querySelector("h2").firstChild.textContent : one.id === "overview" ? "Overview" : one.querySelector("h2").firstChild.textContent)));
document.getElementById("foot").append(`Made by AlphaNPI ${comparison.version}. One file, no network; the data is the JSON object inside it (schema ${comparison.schema}).`);
startTheme();
