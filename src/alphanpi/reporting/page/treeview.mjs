// The search tree of a decision: a drawing to walk through, a table of the node at hand, sub-searches on demand.

import { decimals, grouped, html, saveButton, svg } from "./dom.mjs";
import { excerpt, growTree, layoutTree, missingTree, neighbour, readDecision } from "./trees.mjs";

const BOX = { narrow: 132, wide: 190, height: 46 };
const GAP = { row: 10, column: 38 };
const PADDING = 14;
const LETTER = 6.1; // width of one in the second line of a box
const ZOOMS = [0.25, 0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.6, 2];
const READABLE = 0.75; // smaller trees are scrolled unless somebody asks for less; on a phone, nothing is made smaller

export class TreeView {
  constructor(report, layoutLibrary) {
    this.report = report;
    this.d3 = layoutLibrary;
    this.trail = []; // [{search, step}] from the execution's own call inwards
    this.selected = "";
    this.opened = new Map();
    this.zoom = null; // null: fitted where that can be read
    this.crumbs = html("nav", { class: "crumbs", "aria-label": "Searches inside each other" });
    this.steps = html("div", { class: "decisions", role: "group", "aria-label": "Actions of this call" });
    this.drawing = html("div", { class: "tree-drawing", "data-arrows": true });
    this.legend = html("p", { class: "note" });
    this.details = html("div", { class: "node-details" });
    const button = (label, title, action) => html("button", { type: "button", class: "quiet", title, "aria-label": title, onclick: action }, label);
    this.node = html("div", { class: "treeview" }, this.crumbs, this.steps,
      html("div", { class: "tree-frame" },
        html("div", { class: "tree-tools" }, this.legend,
          html("div", { class: "keys" }, button("−", "Zoom out (−)", () => this.scaleBy(-1)), button("+", "Zoom in (+)", () => this.scaleBy(1)),
            button("Fit", "Show the whole tree (0)", () => this.fit()), saveButton(() => this.drawing.querySelector("svg"), "search-tree"))),
        this.drawing), this.details);
    // The table below has as many rows as a program has actions at most.
    const rows = report.searches.searches.reduce((most, search) => search.decisions.reduce((more, { nodes }) => Math.max(more, nodes[0][3].length), most), 1);
    this.details.style.setProperty("--rows", rows);
    let room = 0;
    new ResizeObserver(() => {
      if (this.drawing.clientWidth === room) return;
      room = this.drawing.clientWidth;
      if (this.trail.length && this.zoom === null) this.refresh();
    }).observe(this.drawing);
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
      this.legend.textContent = "";
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
    const current = this.steps.querySelector(".current");
    if (current) this.steps.scrollLeft = current.offsetLeft - this.steps.clientWidth / 2;
    const decision = this.decision;
    if (!decision) {
      this.drawing.replaceChildren(html("p", { class: "note" }, missingTree(null)));
      this.details.replaceChildren();
      return;
    }
    this.draw(decision);
    this.describe(decision);
  }

  // As wide as the longest state needs, within limits.
  boxWidth(decision) {
    const { states } = this.report;
    const longest = decision.nodes.reduce((most, node) => Math.max(most, states[node.state].text.replace(/\s+/g, " ").length), 0);
    return Math.max(BOX.narrow, Math.min(BOX.wide, Math.ceil(longest * LETTER) + 20));
  }

  draw(decision) {
    const room = this.drawing.clientWidth, tall = this.drawing.clientHeight;
    const box = { width: this.boxWidth(decision), height: BOX.height };
    this.box = box;
    // Where there is little room, only the root is open at first.
    const root = growTree(decision, (key, best) => this.opened.get(key) ?? (room < 600 ? key === "" : best));
    const pitch = { row: box.height + GAP.row, column: box.width + GAP.column };
    const { places, width, height } = layoutTree(root, this.d3, pitch);
    this.places = places;
    this.size = { width: width - GAP.column + 2 * PADDING + 24, height: height - GAP.row + 2 * PADDING };
    const most = Math.max(1, decision.nodes[0].visits);
    const links = places.filter((place) => place.parent).map((place) => {
      const x1 = place.parent.x + box.width, y1 = place.parent.y + box.height / 2;
      const x2 = place.x, y2 = place.y + box.height / 2, half = (x1 + x2) / 2;
      return svg("path", { class: place.item.chosen ? "link chosen" : "link", d: `M${x1},${y1}C${half},${y1} ${half},${y2} ${x2},${y2}`,
        "stroke-width": 1 + 4 * Math.sqrt(place.item.visits / most) });
    });
    const boxes = places.map((place) => this.drawnBox(place, decision, most));
    const whole = Math.min(1, room / this.size.width, tall / this.size.height);
    this.scale = this.zoom === "fit" ? whole : this.zoom ?? Math.max(room < 600 ? 1 : READABLE, whole);
    const picture = svg("svg", { viewBox: `0 0 ${this.size.width} ${this.size.height}`, width: this.size.width * this.scale, height: this.size.height * this.scale,
      class: "tree", role: "tree", "aria-label": "Search tree" },
      svg("g", { transform: `translate(${PADDING},${PADDING})` }, links, boxes));
    this.drawing.replaceChildren(picture);
    this.reveal(places.find((place) => place.item.key === this.selected) ?? places[0]);
    const hidden = decision.left_out;
    this.legend.textContent = `${grouped(decision.nodes[0].visits)} visits at the root` +
      (hidden ? `; ${grouped(hidden)} rarely visited nodes left out` : "") +
      (decision.choice === decision.taken ? "." : `; the search itself chose ${this.name(decision.choice)}, the run did ${this.name(decision.taken)}.`);
  }

  // The node at hand in the middle, where the tree is larger than its frame.
  reveal(place) {
    this.drawing.scrollTop = (PADDING + place.y + this.box.height / 2) * this.scale - this.drawing.clientHeight / 2;
    this.drawing.scrollLeft = (PADDING + place.x + this.box.width / 2) * this.scale - this.drawing.clientWidth / 2;
  }

  scaleBy(direction) {
    if (!this.trail.length) return;
    const now = this.scale ?? 1;
    this.zoom = direction > 0 ? ZOOMS.find((one) => one > now + 0.01) ?? ZOOMS.at(-1) : ZOOMS.findLast((one) => one < now - 0.01) ?? ZOOMS[0];
    this.refresh();
  }

  fit() {
    this.zoom = "fit";
    if (this.trail.length) this.refresh();
  }

  drawnBox(place, decision, most) {
    const { item } = place;
    const { box, report: { states } } = this;
    const program = this.report.searches.searches[this.here.search].program;
    const label = item.edge ? this.name(item.edge.action) : this.name(program);
    const classes = ["tree-node", item.chosen && "chosen", item.key === this.selected && "selected",
      item.edge?.failed && "failed", !item.edge && "root"].filter(Boolean).join(" ");
    const share = Math.max(0, (box.width - 2) * (item.visits / most));
    const stateOf = (number) => (number === null || number === undefined ? null : states[decision.nodes[number].state].text);
    const state = stateOf(item.number);
    const after = state !== null ? excerpt(state, stateOf(place.parent?.item.number), Math.floor((box.width - 18) / LETTER))
      : item.edge.failed ? "failed" : label === "STOP" ? "ends here" : "…";
    return svg("g", { class: classes, transform: `translate(${place.x},${place.y})`, role: "treeitem",
      tabindex: item.key === this.selected ? 0 : -1, "data-key": item.key,
      "aria-selected": String(item.key === this.selected),
      "aria-expanded": item.inside ? String(item.open) : null,
      "aria-label": `${label}, ${grouped(item.visits)} visits${state === null ? "" : `, then ${state}`}`,
      onclick: () => this.choose(item, true), onkeydown: (event) => this.key(event, item) },
      svg("title", {}, state ?? label),
      svg("rect", { class: "box", width: box.width, height: box.height, rx: 7 }),
      svg("rect", { class: "share", x: 1, y: box.height - 4, width: share, height: 3, rx: 1.5 }),
      svg("text", { class: "what", x: 9, y: 15 }, label),
      svg("text", { class: "visits", x: box.width - 9, y: 15 }, grouped(item.visits)),
      svg("text", { class: "after", x: 9, y: 32 }, after),
      item.inside && !item.open ? svg("text", { class: "more", x: box.width + 5, y: box.height / 2 }, `+${item.inside}`) : null,
    );
  }

  choose(item, toggle) {
    if (toggle && item.inside && item.key === this.selected) this.opened.set(item.key, !item.open);
    else if (toggle && item.inside && !item.open) this.opened.set(item.key, true);
    this.selected = item.key;
    const { scrollLeft, scrollTop } = this.drawing;
    this.refresh();
    this.drawing.scrollTo(scrollLeft, scrollTop);
    this.drawing.querySelector('[tabindex="0"]')?.focus({ preventScroll: false });
  }

  key(event, item) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const direction = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" }[event.key];
    const zoom = { "+": () => this.scaleBy(1), "=": () => this.scaleBy(1), "-": () => this.scaleBy(-1), 0: () => this.fit() }[event.key];
    if (zoom) {
      zoom();
      this.drawing.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
    } else if (event.key === "Enter" || event.key === " ") this.choose(item, true);
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
