// The page of a single search.

import { html } from "./dom.mjs";
import { startTheme } from "./theme.mjs";
import { effort } from "./trees.mjs";
import { TreeView } from "./treeview.mjs";

const shown = JSON.parse(document.getElementById("report-data").textContent);
const view = new TreeView(shown, globalThis.d3);
const { searches, program, state } = { ...shown, ...shown.searches.searches[0] };
document.getElementById("content").append(
  html("div", { class: "intro" }, html("h1", {}, document.title), html("p", { class: "muted" }, shown.run)),
  html("section", { class: "card", id: "tree" },
    html("h2", {}, shown.library[program].name, html("small", {}, shown.states[state].text)),
    html("p", { class: "note" }, `${effort(searches)}. ${searches.note} Click a node to see its numbers, again to open or close it.`),
    view.node),
);
document.getElementById("foot").append(`Made by AlphaNPI ${shown.version}. One file, no network.`);
view.show(0, shown.step);
startTheme();
