import assert from "node:assert/strict";
import { test } from "node:test";
import { niceTicks } from "../../src/alphanpi/reporting/page/charts.mjs";
import { highlighted, smallestMargin, verdictOf } from "../../src/alphanpi/reporting/page/sections.mjs";

test("verdict and margin are found wherever a certificate keeps them", () => {
  const certificate = { verdict: "PROVED", programs: [{ name: "A", verdict: "PROVED", margin: 3.5 }, { name: "B", smallest_margin: 0.7 }], margin_tolerance: 0.001 };
  assert.equal(verdictOf(certificate), "PROVED");
  assert.equal(smallestMargin(certificate), 0.7);
  assert.equal(smallestMargin({ smallest_margin: 2, programs: { A: { margin: 1 } } }), 2);
  assert.equal(verdictOf(null), null);
  assert.equal(smallestMargin(null), null);
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
