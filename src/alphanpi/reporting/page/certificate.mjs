// What has been shown about the programs: verdicts, margins, the lemma, assumptions, counter-examples.

import { fact, grouped, html } from "./dom.mjs";

// A verdict, as the data words it. One that was only read is no evidence.
export const verdictText = (text, checked = true) => `${text}${checked ? "" : " (not checked here)"}`;

// Over all programs; null where no step had a choice.
export function smallestMargin(certificate) {
  const margins = certificate.programs.map((program) => program.numerics.smallest_margin).filter((margin) => margin !== null);
  return margins.length ? Math.min(...margins) : null;
}

export const verdictMood = (verdict, checked = true) => (checked ? ({ PROVED: "good", REFUTED: "bad" })[verdict] : null) ?? "";
export const threeDigits = (number) => (number === null ? "–" : String(Number(number.toPrecision(3))));

// Lemmas are one string; their numbered parts and their proof are easier to read as paragraphs.
export const paragraphs = (text) => text.split(/\s+(?=\(\d+\) |Proof: )/);

const prose = (text) => paragraphs(text).map((part) => html("p", { class: "prose" }, part));
const runsOf = (program) => program.proof?.paths ?? program.sizes.reduce((sum, size) => sum + size.runs, 0);

function programTable(certificate, verdict, checked) {
  const heads = ["program", "verdict", "sizes", "runs", "sequences", "smallest margin"];
  const range = (sizes) => (sizes.length ? `${sizes[0].size}–${sizes[sizes.length - 1].size}` : "–");
  const rows = certificate.programs.map((one, place) => html("tr", {}, html("th", { scope: "row" }, one.name),
    html("td", { class: verdictMood(one.verdict, checked) }, verdictText(verdict.programs[place], checked)), html("td", {}, one.proof ? "all" : range(one.sizes)), html("td", {}, grouped(runsOf(one))),
    html("td", {}, grouped(one.sequences)), html("td", {}, threeDigits(one.numerics.smallest_margin))));
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Verdict per program" },
    html("table", { class: "verdicts" }, html("thead", {}, html("tr", {}, heads.map((head) => html("th", { scope: "col" }, head)))), html("tbody", {}, rows)));
}

function counterExample({ name, counter_example: found }) {
  return html("div", { class: "counter-example" },
    html("h4", {}, `${name} fails`), html("p", { class: "prose" }, "Started from ", html("code", {}, found.start_text), `: ${found.text} (rule: ${found.rule}).`),
    html("details", {}, html("summary", {}, `The run, ${grouped(found.steps.length)} ${found.steps.length === 1 ? "step" : "steps"}`),
      html("pre", { class: "source", tabindex: 0 }, html("code", {}, [...found.steps.map((step) => `${step.action.padEnd(12)} ${step.state}`), `${"ends in".padEnd(12)} ${found.final}`].join("\n")))));
}

function lemmaParts(lemma) {
  const sizes = Object.entries(lemma.sizes).map(([name, size]) => `${name} ${size}`).join(", ");
  const condition = (one) => html("li", {}, `${one.program}: ${one.text}: `,
    html("strong", { class: one.holds ? "good" : "bad" }, one.holds ? `holds in all ${grouped(one.runs)} runs` : one.runs ? "fails" : "not tried"));
  return html("details", { class: "lemma" }, html("summary", {}, "The lemma: why larger sizes need not be looked at"), prose(lemma.text),
    html("p", { class: "prose" }, `It asks for every start up to these sizes: ${sizes}.`),
    lemma.conditions.length ? html("ul", { class: "prose" }, lemma.conditions.map(condition)) : null,
    html("p", { class: "prose" }, lemma.fault === null ? `Tried on ${grouped(lemma.samples)} random larger instances, which did not contradict it.` : html("strong", { class: "bad" }, `Contradicted: ${lemma.fault}`)));
}

function listed(kind, title, items) {
  return items.length ? [html("h4", {}, title), html("ul", { class: `prose ${kind}` }, items.map((item) => html("li", {}, item)))] : [];
}

export function certificateParts(certificate, verdict, note, checked) {
  const { programs, lemma, assumptions } = certificate;
  const margin = smallestMargin(certificate);
  const reasons = certificate.verdict === "PROVED" ? [] : programs.flatMap((one) => one.reasons.map((reason) => `${one.name}: ${reason}`));
  return [
    html("dl", { class: "facts" }, fact("Verdict", verdictText(verdict.text, checked), verdict.meaning, verdictMood(certificate.verdict, checked)),
      fact("Smallest margin", margin === null ? "none" : threeDigits(margin), margin === null ? "no step had a choice" : "between the best and the second-best legal action, in logits"),
      fact("Runs looked at", grouped(programs.reduce((sum, one) => sum + runsOf(one), 0)), `from every start, in ${certificate.seconds.toFixed(1)} s`)),
    html("p", { class: "note" }, note),
    programs.filter((one) => one.counter_example).map(counterExample),
    programTable(certificate, verdict, checked),
    html("p", { class: "note small" }, "A sequence is what the network is shown in one run: observations and legal actions, step by step."),
    listed("invariants", "Invariant", programs.filter((one) => one.invariant.length).map((one) => `${one.name} ends with ${one.invariant.join(" or ")}`)),
    listed("loops", "Loop", programs.filter((one) => one.loop).map((one) => `${one.name}: an invariant of ${one.loop.points} points, ${one.loop.views} views; ${one.loop.spare} actions or more to spare at every size`)),
    listed("reasons", "In the way of more", reasons),
    lemma ? lemmaParts(lemma) : null,
    html("details", { class: "assumptions" }, html("summary", {}, `What is assumed: ${grouped(assumptions.length)} points`), html("ul", { class: "prose" }, assumptions.map((one) => html("li", {}, one)))),
    html("details", {}, html("summary", {}, "The whole certificate"), html("pre", { class: "source", tabindex: 0 }, html("code", {}, JSON.stringify(certificate, null, 2)))),
  ];
}
