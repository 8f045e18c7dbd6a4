import assert from "node:assert/strict";
import { test } from "node:test";
import { niceTicks } from "../../../src/alphanpi/reporting/page/charts.mjs";
import { paragraphs, smallestMargin, verdictText } from "../../../src/alphanpi/reporting/page/certificate.mjs";
import { chance, percent } from "../../../src/alphanpi/reporting/page/dom.mjs";
import { highlighted } from "../../../src/alphanpi/reporting/page/sections.mjs";

test("the smallest margin is that of all programs, and none where no step had a choice", () => {
  const of = (...margins) => ({ programs: margins.map((margin) => ({ numerics: { tolerance: 0.001, smallest_margin: margin, double_margin: 0.1 } })) });
  assert.equal(smallestMargin(of(3.5, null, 0.7)), 0.7);
  assert.equal(smallestMargin(of(null)), null);
});

test("a verdict that was only read says so", () => {
  assert.equal(verdictText("SATURATED(2..6)"), "SATURATED(2..6)");
  assert.equal(verdictText("PROVED", false), "PROVED (not checked here)");
});

test("a lemma is cut at its parts and its proof, and nowhere else", () => {
  assert.deepEqual(paragraphs("(1) A: at most 4 (see B). (2) B: so. Proof: the list of (3), n > 3."),
    ["(1) A: at most 4 (see B).", "(2) B: so.", "Proof: the list of (3), n > 3."]);
});

test("highlighting loses nothing", () => {
  const source = 'def HANOI(see):\n    """Move."""\n    if not see.solved:  # go on\n        HANOI(see)\n    return "x"\n';
  const parts = highlighted(source);
  assert.equal(parts.map((part) => (typeof part === "string" ? part : part[1])).join(""), source);
  assert.deepEqual(parts.filter((part) => typeof part !== "string").map(([kind]) => kind),
    ["keyword", "program", "string", "keyword", "keyword", "comment", "program", "keyword", "string"]);
});

test("ticks are round and inside", () => {
  assert.deepEqual(niceTicks(0, 100, 4), [0, 50, 100]);
  assert.deepEqual(niceTicks(0, 1.05, 4), [0, 0.5, 1]);
  assert.ok(niceTicks(3, 3, 4).length >= 1);
});

test("only all is 100 percent, and only nothing is 0", () => {
  assert.equal(percent(199 / 200), "99.5%");
  assert.equal(percent(9999 / 10000), ">99.9%");
  assert.equal(percent(1 - 1e-9), ">99.9%");
  assert.equal(percent(1e-6), "<0.1%");
  assert.deepEqual([0, 0.25, 1].map(percent), ["0%", "25%", "100%"]);
  assert.deepEqual([0, 1e-6, 0.5, 0.99999, 1].map(chance), ["0.000", "<0.001", "0.500", ">0.999", "1.000"]);
});
