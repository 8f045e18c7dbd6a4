// The page: reads the report and puts its sections in place.

import { grouped, html } from "./dom.mjs";
import { ownInput } from "./own_input.mjs";
import { PlayerView } from "./playerview.mjs";
import { code, generalisation, learning, summary } from "./sections.mjs";
import { startTheme } from "./theme.mjs";
import { effort } from "./trees.mjs";
import { TreeView } from "./treeview.mjs";

const report = JSON.parse(document.getElementById("report-data").textContent);
const content = document.getElementById("content");
const { execution, searches, agent } = report;

const treeView = new TreeView(report, globalThis.d3);
const stepTitle = html("small", {});
const player = new PlayerView(report, (index) => {
  treeView.showStep(index);
  const step = execution.steps[index];
  stepTitle.textContent = step ? `step ${grouped(index + 1)} of the run above: ${report.library[step.program].name} chooses ${report.library[step.action].name}` : "";
});
document.addEventListener("keydown", (event) => player.key(event));

function section(id, title, subtitle, ...parts) {
  return html("section", { class: "card", id, "aria-labelledby": `${id}-title` },
    html("h2", { id: `${id}-title` }, title, subtitle ? (typeof subtitle === "string" ? html("small", {}, subtitle) : subtitle) : null), parts);
}

const parts = [
  section("summary", "Summary", agent.summary, summary(report)),
  section("player", "Execution", `${execution.program} on ${execution.input}`, html("p", { class: "note" },
    "The network alone decides, without search. Space plays, ← and → step.", execution.note ? html("strong", { class: "left-out" }, ` ${execution.note}`) : ""), player.node),
  html("section", { id: "own-input", hidden: true }),
  section("tree", "Search tree", stepTitle, html("p", { class: "note" },
    `What a search with ${effort(searches)} thinks at the player's step. ${searches.note} Click a node to see its numbers, again to open or close it.`), treeView.node),
  section("learning", "Learning", null, learning(report)),
  section("generalisation", "Generalisation", null, generalisation(report)),
  section("code", "Learned program", null, code(report)),
];
content.append(
  html("div", { class: "intro" }, html("h1", {}, document.title), html("p", { class: "muted" }, `${agent.run} · weights ${agent.weights.slice(0, 12)}`)),
  ...parts,
);
ownInput(document.getElementById("own-input"), report);
document.getElementById("sections").append(...parts.filter((part) => !part.hidden).map((part) => html("a", { href: `#${part.id}` }, part.querySelector("h2").firstChild.textContent)));
document.getElementById("foot").append(`Made by AlphaNPI ${report.version}. One file, no network; the data is the JSON object inside it (schema ${report.schema}).`);

startTheme();
player.refresh(); // now that there is room to draw in
globalThis.alphanpiPlayer = player;
