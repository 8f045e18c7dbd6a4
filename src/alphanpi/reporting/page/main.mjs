// The page: reads the report and puts its sections in place.

import { DisagreementView } from "./disagreementview.mjs";
import { grouped, html } from "./dom.mjs";
import { ownInput } from "./own_input.mjs";
import { PlayerView } from "./playerview.mjs";
import { certificate, command, generalisation, lead, learning, statistics } from "./sections.mjs";
import { startTheme } from "./theme.mjs";
import { effort } from "./trees.mjs";
import { TreeView } from "./treeview.mjs";

const report = JSON.parse(document.getElementById("report-data").textContent);
const content = document.getElementById("content");
const { execution, searches, agent } = report;

startTheme();
const treeView = new TreeView(report, globalThis.d3);
const stepTitle = html("small", {});
const player = new PlayerView(report, (index) => {
  treeView.showStep(index);
  disagreementView.show(index);
  const step = execution.steps[index];
  stepTitle.textContent = step ? `Step ${grouped(index + 1)}: ${report.library[step.program].name} chooses ${report.library[step.action].name}` : "";
});
const disagreementView = new DisagreementView(report, (step) => player.jump(step));
document.addEventListener("keydown", (event) => player.key(event));

function section(id, title, subtitle, ...parts) {
  return html("section", { class: "card", id, "aria-labelledby": `${id}-title` },
    html("h2", { id: `${id}-title` }, title, subtitle ? (typeof subtitle === "string" ? html("small", {}, subtitle) : subtitle) : null), parts);
}

const withoutSource = report.source === null
  ? html("div", { class: "without-source" }, html("p", { class: "note" }, `There is no source code beside it. ${report.source_note}`),
      html("details", {}, html("summary", {}, "How to write it, and give it to the report"),
        command(`alphanpi export ${agent.run} -o program.py\nalphanpi report ${agent.run} --source program.py`)))
  : null;

const parts = [
  section("player", "Run", null,
    execution.note ? html("p", { class: "note" }, html("strong", { class: "left-out" }, execution.note)) : null, player.node, withoutSource),
  section("tree", "Search", stepTitle, html("p", { class: "note" },
    `What a search with ${effort(searches)} thinks at the step above. ${searches.note} Click a node to see its numbers, again to open or close it.`), disagreementView.node, treeView.node),
  section("learning", "Learning", null, learning(report)),
  section("generalisation", "Scores", null, generalisation(report)),
  section("certificate", "Certificate", "What has been shown about the programs", certificate(report)),
  section("statistics", "Statistics", null, statistics(report)),
];
content.append(
  html("div", { class: "intro" }, html("h1", {}, document.title), lead(report)),
  parts[0],
  html("section", { id: "own-input", hidden: true }),
  ...parts.slice(1),
);
ownInput(document.getElementById("own-input"), report);
document.getElementById("sections").append(...[...content.querySelectorAll(":scope > section:not([hidden])")].map((part) => html("a", { href: `#${part.id}` }, part.querySelector("h2").firstChild.textContent)));
document.getElementById("foot").append(`${agent.run}, weights ${agent.weights.slice(0, 12)}. Made by AlphaNPI ${report.version}. One file, no network; the data is the JSON object inside it (schema ${report.schema}).`);

player.refresh(); // now that there is room to draw in
globalThis.alphanpiPlayer = player;
