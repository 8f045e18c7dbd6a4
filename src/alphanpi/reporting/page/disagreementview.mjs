// Where search and network disagree: how often, the next one, and all of them.

import { grouped, html } from "./dom.mjs";
import { disagreements, nextDisagreement } from "./trees.mjs";

const MOST_LISTED = 200;

export class DisagreementView {
  // `jump(step)` leads the player there.
  constructor(report, jump) {
    const { execution: { steps }, searches: { searches }, library } = report;
    this.found = disagreements(steps, searches);
    this.at = 0;
    const seen = steps.filter((step) => step.search !== null).length;
    this.node = html("div", { class: "disagreements" });
    if (!seen) return;
    const share = `${grouped(seen)} ${seen === 1 ? "step" : "steps"} with a tree`;
    if (!this.found.length) {
      this.node.append(html("p", { class: "note" }, `Search and network choose the same in all ${share}.`));
      return;
    }
    const item = ({ step, choice, taken }) => html("li", {}, html("button", { type: "button", class: "pill", "data-step": step, onclick: () => jump(step) },
      `${grouped(step + 1)} ${library[taken].name} → ${library[choice].name}`));
    this.items = this.found.slice(0, MOST_LISTED).map(item);
    this.node.append(
      html("div", { class: "over" },
        html("p", { class: "note" }, `The search would do something else than the network in ${grouped(this.found.length)} of ${share}.`),
        html("button", { type: "button", id: "next-disagreement", onclick: () => jump(nextDisagreement(this.found, this.at).step) }, "Next one")),
      html("ul", { class: "decisions", "aria-label": "Steps where search and network disagree", tabindex: 0, "data-arrows": true }, this.items,
        this.found.length > MOST_LISTED ? html("li", { class: "muted small" }, `and ${grouped(this.found.length - MOST_LISTED)} more`) : null));
  }

  show(step) {
    this.at = step;
    for (const item of this.items ?? []) item.firstChild.classList.toggle("current", Number(item.firstChild.dataset.step) === step);
  }
}
