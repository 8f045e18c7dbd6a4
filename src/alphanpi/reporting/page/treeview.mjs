// The search tree of a decision: a drawing to walk through, a table of the node at hand, sub-searches on demand.

import { decimals, grouped, html, saveButton, svg } from "./dom.mjs";
import { growTree, layoutTree, missingTree, neighbour, readDecision } from "./trees.mjs";

const BOX = { width: 132, height: 28 };
const PITCH = { row: 38, column: 172 };
const PADDING = 14;

export class TreeView {
  constructor(report, layoutLibrary) {
    this.report = report;
    this.d3 = layoutLibrary;
    this.trail = []; // [{search, step}] from the execution's own call inwards
    this.selected = "";
    this.opened = new Map();
    this.crumbs = html("nav", { class: "crumbs", "aria-label": "Searches inside each other" });
    this.steps = html("div", { class: "decisions", role: "group", "aria-label": "Actions of this call" });
    this.drawing = html("div", { class: "tree-drawing", "data-arrows": true });
    this.legend = html("p", { class: "note" });
    this.details = html("div", { class: "node-details" });
    this.node = html("div", { class: "treeview" }, this.crumbs, this.steps,
      html("div", { class: "tree-frame" }, this.drawing, html("div", { class: "under" }, this.legend,
        saveButton(() => this.drawing.querySelector("svg"), "search-tree"))), this.details);
  }

  name(action) {
    return this.report.library[action].name;
  }

  showStep(index) {
    const step = this.report.execution.steps[index];
    if (!step || step.search === null) {
      this.trail = [];
      this.node.classList.add("empty");
      this.crumbs.replaceChildren();
      this.steps.replaceChildren();
      this.details.replaceChildren();
      this.drawing.replaceChildren(html("p", { class: "note" },
        missingTree(step && step.reason !== null ? this.report.searches.reasons[step.reason] : null)));
      return;
    }
    this.show(step.search, step.decision);
  }

  show(search, step) {
    this.node.classList.remove("empty");
    this.trail = [{ search, step }];
    this.reset();
  }

  reset() {
    this.selected = "";
    this.opened = new Map();
    this.refresh();
  }

  get here() {
    return this.trail[this.trail.length - 1];
  }

  get decision() {
    const search = this.report.searches.searches[this.here.search];
    const found = search.decisions.find((one) => one.step === this.here.step);
    return found ? readDecision(found, this.report.searches) : null;
  }

  refresh() {
    const { searches } = this.report.searches;
    const crumb = ({ search, step }, place) => {
      const last = place === this.trail.length - 1;
      const { program, state } = searches[search];
      return html("button", { type: "button", class: last ? "crumb current" : "crumb", "aria-current": last ? "step" : null,
        title: this.report.states[state].text,
        onclick: () => { this.trail.length = place + 1; this.reset(); } },
        `${this.name(program)}, action ${step + 1}`);
    };
    this.crumbs.replaceChildren(...this.trail.map(crumb));
    const search = searches[this.here.search];
    this.steps.replaceChildren(...search.decisions.map((decision) =>
      html("button", { type: "button", class: decision.step === this.here.step ? "pill current" : "pill",
        "aria-pressed": String(decision.step === this.here.step),
        onclick: () => { this.here.step = decision.step; this.reset(); } },
        `${decision.step + 1} ${this.name(decision.taken)}`)));
    const decision = this.decision;
    if (!decision) {
      this.drawing.replaceChildren(html("p", { class: "note" },
        missingTree(null)));
      this.details.replaceChildren();
      return;
    }
    this.draw(decision);
    this.describe(decision);
  }

  draw(decision) {
    const room = this.drawing.clientWidth;
    // Where there is little room, only the root is open at first.
    const root = growTree(decision, (key, best) => this.opened.get(key) ?? (room < 600 ? key === "" : best));
    const { places, width, height } = layoutTree(root, this.d3, PITCH);
    this.places = places;
    const size = { width: width - PITCH.column + BOX.width + 2 * PADDING + 20, height: height - PITCH.row + BOX.height + 2 * PADDING };
    const most = Math.max(1, decision.nodes[0].visits);
    const links = places.filter((place) => place.parent).map((place) => {
      const x1 = place.parent.x + BOX.width, y1 = place.parent.y + BOX.height / 2;
      const x2 = place.x, y2 = place.y + BOX.height / 2, half = (x1 + x2) / 2;
      return svg("path", { class: place.item.chosen ? "link chosen" : "link", d: `M${x1},${y1}C${half},${y1} ${half},${y2} ${x2},${y2}`,
        "stroke-width": 1 + 4 * Math.sqrt(place.item.visits / most) });
    });
    const boxes = places.map((place) => this.box(place, decision, most));
    // A tree that is only a little too wide is made to fit; a wider one is scrolled.
    const scale = size.width > room && size.width * 0.72 <= room ? room / size.width : 1;
    const picture = svg("svg", { viewBox: `0 0 ${size.width} ${size.height}`, width: size.width * scale, height: size.height * scale,
      class: "tree", role: "tree", "aria-label": "Search tree" },
      svg("g", { transform: `translate(${PADDING},${PADDING})` }, links, boxes));
    this.drawing.replaceChildren(picture);
    const hidden = decision.left_out;
    this.legend.textContent = `${grouped(decision.nodes[0].visits)} visits at the root` +
      (hidden ? `; ${grouped(hidden)} rarely visited nodes left out` : "") +
      (decision.choice === decision.taken ? "." : `; the search itself chose ${this.name(decision.choice)}, the run did ${this.name(decision.taken)}.`);
  }

  box(place, decision, most) {
    const { item } = place;
    const program = this.report.searches.searches[this.here.search].program;
    const label = item.edge ? this.name(item.edge.action) : this.name(program);
    const classes = ["tree-node", item.chosen && "chosen", item.key === this.selected && "selected",
      item.edge?.failed && "failed", !item.edge && "root"].filter(Boolean).join(" ");
    const share = Math.max(0, (BOX.width - 2) * (item.visits / most));
    const group = svg("g", { class: classes, transform: `translate(${place.x},${place.y})`, role: "treeitem",
      tabindex: item.key === this.selected ? 0 : -1, "data-key": item.key,
      "aria-selected": String(item.key === this.selected),
      "aria-expanded": item.inside ? String(item.open) : null,
      "aria-label": `${label}, ${grouped(item.visits)} visits` },
      svg("rect", { class: "box", width: BOX.width, height: BOX.height, rx: 7 }),
      svg("rect", { class: "share", x: 1, y: BOX.height - 4, width: share, height: 3, rx: 1.5 }),
      svg("text", { class: "what", x: 9, y: BOX.height / 2 - 1 }, label),
      svg("text", { class: "visits", x: BOX.width - 9, y: BOX.height / 2 - 1 }, grouped(item.visits)),
      item.inside && !item.open ? svg("text", { class: "more", x: BOX.width + 5, y: BOX.height / 2 }, `+${item.inside}`) : null,
    );
    group.addEventListener("click", () => this.choose(item, true));
    group.addEventListener("keydown", (event) => this.key(event, item));
    return group;
  }

  choose(item, toggle) {
    if (toggle && item.inside && item.key === this.selected) this.opened.set(item.key, !item.open);
    else if (toggle && item.inside && !item.open) this.opened.set(item.key, true);
    this.selected = item.key;
    this.refresh();
    this.drawing.querySelector('[tabindex="0"]')?.focus({ preventScroll: false });
  }

  key(event, item) {
    const direction = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" }[event.key];
    if (event.key === "Enter" || event.key === " ") this.choose(item, true);
    else if (direction === "right" && item.inside && !item.open) {
      this.opened.set(item.key, true);
      this.choose(item, false);
    } else if (direction) {
      const next = neighbour(this.places, item.key, direction);
      if (next) this.choose(next.item, false);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  describe(decision) {
    const place = this.places.find((one) => one.item.key === this.selected) ?? this.places[0];
    const { item } = place;
    const { states } = this.report;
    if (item.number === null) {
      const text = item.edge.failed ? "This call failed; the search does not try it again."
        : this.name(item.edge.action) === "STOP" ? "STOP ends the program here." : "What lies behind was left out: it was rarely visited.";
      this.details.replaceChildren(html("p", { class: "note" }, text), this.edgeTable([item.edge], null));
      return;
    }
    const node = decision.nodes[item.number];
    const following = this.places.find((one) => one.parent === place && one.item.chosen);
    const title = item.edge ? `After ${item.key.slice(1).split("/").map((one) => this.name(Number(one))).join(", ")}` : "At the root";
    this.details.replaceChildren(
      html("h3", {}, title, html("small", {}, states[node.state].text)),
      node.value === null ? html("p", { class: "note" }, "Not evaluated yet.")
        : html("p", { class: "note" }, `The network values this state at ${decimals(node.value)}.`),
      this.edgeTable([...node.edges].sort((a, b) => b.visits - a.visits),
        item.key === "" ? decision.taken : following?.item.edge.action ?? null));
  }

  edgeTable(edges, chosen) {
    const most = Math.max(1, ...edges.map((edge) => edge.visits));
    const row = (edge) => html("tr", { class: edge.action === chosen ? "chosen" : "" },
      html("th", { scope: "row" }, this.name(edge.action), edge.failed ? html("em", { class: "bad" }, " failed") : null,
        edge.search === null ? null : html("button", { type: "button", class: "open-search",
          onclick: () => { this.trail.push({ search: edge.search, step: this.report.searches.searches[edge.search].decisions[0]?.step ?? 0 }); this.reset(); } },
          "open its search")),
      html("td", { class: "with-bar" }, html("span", { class: "bar", style: { "--share": `${(100 * edge.visits) / most}%` } }), html("span", {}, grouped(edge.visits))),
      [edge.prior, edge.q, edge.u, edge.level].map((number) => html("td", {}, decimals(number))),
      html("td", { class: "total" }, decimals(edge.total)));
    return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Numbers per action", "data-arrows": true },
      html("table", { class: "edges" },
        html("thead", {}, html("tr", {}, ["action", "visits N", "prior P", "value Q", "U", "level L", "Q + U + L"].map((head) => html("th", { scope: "col" }, head)))),
        html("tbody", {}, edges.map(row))));
  }
}
