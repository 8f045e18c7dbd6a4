import assert from "node:assert/strict";
import { test } from "node:test";
import { markLabels, nearest, niceTicks } from "../../../src/alphanpi/reporting/page/charts.mjs";
import { paragraphs, smallestMargin, verdictText } from "../../../src/alphanpi/reporting/page/certificate.mjs";
import { chance, percent } from "../../../src/alphanpi/reporting/page/dom.mjs";
import { highlighted, sourceLines } from "../../../src/alphanpi/reporting/page/sourceview.mjs";
import { bars, callAt } from "../../../src/alphanpi/reporting/page/timeline.mjs";

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

test("lines of the source are whole, also inside of a docstring", () => {
  const source = '"""One.\n\nTwo.\n"""\ndef a(x):\n    return\n';
  const lines = sourceLines(source).map((parts) => parts.map((part) => (typeof part === "string" ? part : part[1])).join(""));
  assert.deepEqual(lines, source.match(/[^\n]*\n/g));
  assert.equal(sourceLines("a = 1").length, 1);
});

test("the reader's place is that of the nearest value", () => {
  assert.deepEqual([-3, 1, 4, 5, 6, 99].map((value) => nearest([1, 2, 8, 9], value)), [0, 0, 1, 1, 2, 3]);
  assert.equal(nearest([7], 100), 0);
});

test("labels of marks are never cut off and never meet", () => {
  const marks = [{ x: 10, label: "level 1 learned" }, { x: 200, label: "level 2 learned" }, { x: 205, label: "level 3 learned" }, { x: 400, label: "level 4" }];
  const placed = markLabels(marks);
  const ranges = placed.flatMap((label, place) => {
    if (!label) return [];
    const wide = 6.5 * marks[place].label.length;
    return [label.anchor === "end" ? [label.x - wide, label.x] : [label.x, label.x + wide]];
  });
  assert.ok(ranges.length >= 2 && ranges.every(([from]) => from >= 0));
  ranges.slice(1).forEach(([from], place) => assert.ok(from >= ranges[place][1]));
});

test("bars of the timeline: narrow calls share one, wide ones have their own", () => {
  const calls = [{ depth: 0, first: 0, last: 9999 }, ...Array.from({ length: 2500 }, (_, place) => ({ depth: 1, first: 4 * place + 1, last: 4 * place + 2 }))];
  const narrow = bars(calls, 10000, 800);
  assert.ok(narrow.length < 900);
  assert.equal(Math.round(narrow[0].width), 800);
  assert.ok(narrow.slice(1).every((bar, place) => place === 0 || bar.x >= narrow[place].x + narrow[place].width - 1e-9));
  assert.equal(bars(calls, 10000, 200000).length, calls.length);
  assert.equal(callAt(calls, 5, 1), 2);
  assert.equal(callAt(calls, 3, 1), null);
  assert.equal(callAt(calls, 3, 0), 0);
});
