// Beside the picture: the call stack with sizes, what each action's probability is, and what the program sees.

import { chance, grouped, html } from "./dom.mjs";
import { callName } from "./playback.mjs";

const MOST_FRAMES_OF_STACK = 8;

export class Panels {
  // `jump(step)` leads to where a call began.
  constructor(report, calls, jump) {
    this.report = report;
    this.calls = calls;
    this.jump = jump;
    const { steps } = report.execution;
    this.stack = html("ol", { class: "stack" });
    this.chances = html("ol", { class: "chances" });
    this.fields = html("ul", { class: report.fields.length > 12 ? "fields many" : "fields" });
    this.values = report.fields.map((field) => html("b", {}, "–"));
    this.fields.append(...report.fields.map((field, place) => html("li", { class: "off" }, html("span", {}, field), this.values[place])));
    // Room for the largest, so that nothing below moves while stepping.
    this.stack.style.setProperty("--rows", Math.min(MOST_FRAMES_OF_STACK + 1, calls.deepest + 1));
    this.chances.style.setProperty("--rows", steps.reduce((most, step) => Math.max(most, step.probabilities.length), 1));
    const panel = (title, note, content) => html("section", { class: "panel" }, html("h3", {}, title, html("small", {}, note)), content);
    this.node = html("div", { class: "panels" },
      panel("Call stack", "innermost last", this.stack),
      panel("Action", "probability of each legal one", this.chances),
      panel("Observation", "what the program sees", this.fields));
  }

  name(number) {
    return this.report.library[number].name;
  }

  show(index) {
    const step = this.report.execution.steps[index];
    this.values.forEach((value, place) => {
      const seen = step ? step.observation[place] : null;
      value.textContent = seen === null ? "–" : String(seen);
      value.parentElement.className = seen ? "on" : "off";
    });
    if (!step) {
      this.stack.replaceChildren(html("li", { class: "muted" }, "empty: the program has ended"));
      this.chances.replaceChildren(html("li", { class: "muted" }, "–"));
      return;
    }
    this.chances.replaceChildren(...step.probabilities.map(([action, share]) =>
      html("li", { class: action === step.action ? "chosen" : "" },
        html("span", { class: "chance-name", title: this.name(action) }, this.name(action)),
        html("span", { class: "bar", style: { "--share": `${(100 * share).toFixed(1)}%` } }),
        html("span", { class: "number" }, chance(share)))));
    this.showStack(index);
  }

  showStack(index) {
    const around = this.calls.around(index);
    const frame = (call, depth) => {
      const { program, size, first } = this.calls.calls[call];
      return html("li", { class: depth === around.length - 1 ? "current" : "" },
        html("button", { type: "button", class: "link", title: "Go to where this call began", onclick: () => this.jump(first) },
          callName(this.name(program), size, this.report.agent.unit)));
    };
    const rows = around.map(frame);
    const hidden = rows.length - MOST_FRAMES_OF_STACK;
    if (hidden > 1) rows.splice(1, hidden, html("li", { class: "muted" }, `… ${grouped(hidden)} more`));
    this.stack.replaceChildren(...rows);
  }
}
