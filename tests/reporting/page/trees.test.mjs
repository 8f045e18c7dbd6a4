import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { centred, disagreements, effort, excerpt, growTree, layoutTree, missingTree, neighbour, nextDisagreement, principalPath, readDecision } from "../../../src/alphanpi/reporting/page/trees.mjs";

const d3 = createRequire(import.meta.url)("../../../src/alphanpi/reporting/page/vendor/d3-hierarchy.min.js");
const columns = { edge_columns: ["action", "visits", "prior", "q", "u", "level", "total", "failed", "child", "search"] };
const edge = (action, visits, child = null, failed = 0) => [action, visits, 0.5, 0, 0, 0, 0, failed, child, null];
const decision = readDecision({
  step: 0, choice: 1, taken: 1, left_out: 0,
  nodes: [
    [0, 10, 0.1, [edge(0, 1), edge(1, 7, 1), edge(2, 2, 2), edge(3, 0)]],
    [1, 6, 0.2, [edge(0, 4), edge(2, 2, 3)]],
    [2, 1, 0.3, [edge(0, 1, null, 1)]],
    [3, 0, 0.4, []],
  ],
}, columns);
const sizes = { row: 10, column: 100 };
const keys = (item) => [item.key, ...item.children.flatMap(keys)];

test("the best path is the action taken, then the most visited ones", () => {
  assert.deepEqual(principalPath(decision), [{ node: 0, action: 1 }, { node: 1, action: 0 }]);
});

test("at first the best path is open and everything else closed", () => {
  const root = growTree(decision, (_, best) => best);
  assert.deepEqual(keys(root).sort(), ["", "/0", "/1", "/1/0", "/1/2", "/2"]);
  const closed = root.children.find((item) => item.key === "/2");
  assert.deepEqual([closed.open, closed.inside], [false, 1]);
  assert.deepEqual(root.children.filter((item) => item.chosen).map((item) => item.key), ["/1"]);
});

test("unvisited actions are not drawn; opened nodes show what is in them", () => {
  const root = growTree(decision, () => true);
  assert.ok(!keys(root).includes("/3"));
  assert.ok(keys(root).includes("/2/0"));
  assert.equal(root.children.find((item) => item.key === "/2").children[0].edge.failed, true);
});

test("the most visited child is in the middle", () => {
  assert.deepEqual(centred([1, 5, 3, 2].map((visits) => ({ visits }))).map(({ visits }) => visits), [2, 5, 3, 1]);
});

test("no two nodes of a layout overlap, and depth goes to the right", () => {
  const { places, width, height } = layoutTree(growTree(decision, () => true), d3, sizes);
  for (const place of places) {
    if (place.parent) assert.equal(place.x, place.parent.x + sizes.column);
    assert.ok(place.x >= 0 && place.y >= 0 && place.x < width && place.y < height);
    for (const other of places) if (other !== place && other.x === place.x) assert.ok(Math.abs(other.y - place.y) >= sizes.row);
  }
});

test("a wide tree of 1500 visits is laid out in time", () => {
  const rows = Array.from({ length: 1500 }, (_, place) => [0, 1, 0, [edge(1, 1500 - place, place + 1 < 1500 ? place + 1 : null), edge(2, 1)]]);
  const deep = readDecision({ step: 0, choice: 1, taken: 1, left_out: 0, nodes: rows }, columns);
  assert.equal(layoutTree(growTree(deep, () => true), d3, sizes).places.length, 3001);
});

test("arrow keys lead to parent, child and neighbours", () => {
  const { places } = layoutTree(growTree(decision, (_, best) => best), d3, sizes);
  assert.equal(neighbour(places, "/1", "left").item.key, "");
  assert.equal(neighbour(places, "", "left"), null);
  assert.equal(neighbour(places, "", "right").parent.item.key, "");
  const column = places.filter((place) => place.x === sizes.column).sort((a, b) => a.y - b.y).map((place) => place.item.key);
  assert.equal(neighbour(places, column[0], "down").item.key, column[1]);
  assert.equal(neighbour(places, column[0], "up"), null);
});

test("what a search thinks, and why a tree is missing, in words", () => {
  assert.equal(effort({ simulations: 1000, called_simulations: 1000 }), "1,000 simulations per action");
  assert.equal(effort({ simulations: 100, called_simulations: 1 }), "100 simulations per action, and 1 in programs it calls,");
  assert.equal(missingTree("the time is up"), "There is no tree of this step: the time is up.");
  assert.equal(missingTree(null), "There is no tree here.");
});

test("where search and network disagree, and the next one from anywhere", () => {
  const searches = [{ decisions: [{ step: 0, choice: 1, taken: 1 }, { step: 2, choice: 3, taken: 4 }] }];
  const steps = [{ search: 0, decision: 0 }, { search: null, decision: 1 }, { search: 0, decision: 2 }, { search: 0, decision: 2 }];
  const found = disagreements(steps, searches);
  assert.deepEqual(found, [{ step: 2, choice: 3, taken: 4 }, { step: 3, choice: 3, taken: 4 }]);
  assert.deepEqual([0, 2, 3].map((step) => nextDisagreement(found, step).step), [2, 3, 2]);
  assert.equal(nextDisagreement([], 0), null);
});

test("a state that is too long is cut to what has changed", () => {
  assert.equal(excerpt("A: 3 2   B: -", "", 20), "A: 3 2 B: -");
  const before = Array.from({ length: 60 }, (_, place) => place % 10).join(" ");
  const after = before.replace("8 9 0 1 2", "8 0 9 1 2");
  const shown = excerpt(after, before, 24);
  assert.ok(shown.length <= 24 && shown.startsWith("…") && shown.endsWith("…") && shown.includes("0 9"), shown);
  assert.equal(excerpt(before, before, 24), `${before.slice(0, 23)}…`);
  assert.equal(excerpt(before, null, 24), `${before.slice(0, 23)}…`);
  const last = `${before.slice(0, -1)}X`;
  assert.ok(excerpt(last, before, 24).endsWith("X"));
});
