// Values under the pointer, medians of lines, and means of programs.

import assert from "node:assert/strict";
import test from "node:test";

import { duration, meanSuccess, medianLine, nearestPlace, valueAt } from "../../../src/alphanpi/reporting/page/curves.mjs";

const line = (x, y) => ({ x, y });

test("a line has the value of its last point, also after its end", () => {
  const one = line([2, 4, 6], [0.1, 0.5, 1]);
  assert.deepEqual([1, 2, 3.9, 4, 6, 100].map((at) => valueAt(one, at)), [null, 0.1, 0.1, 0.5, 1, 1]);
  assert.equal(valueAt(line([], []), 3), null);
});

test("the pointer goes to the nearest place", () => {
  assert.deepEqual([-5, 1, 1.4, 1.5, 2.6, 4, 99].map((at) => nearestPlace([1, 2, 4], at)), [1, 1, 1, 1, 2, 4, 4]);
  assert.equal(nearestPlace([7], 0), 7);
});

test("the median counts who has not begun as nothing and who has ended as they were", () => {
  const lines = [line([1, 2], [0.5, 1]), line([2, 3], [0.2, 0.4]), line([3], [0.3])];
  assert.deepEqual(medianLine(lines), { x: [1, 2, 3], y: [0, 0.2, 0.4] });
  assert.deepEqual(medianLine(lines.slice(0, 2)).y, [0.25, 0.6, 0.7]);
});

test("a median is drawn at few places, the last one among them", () => {
  const x = Array.from({ length: 1000 }, (_, place) => place);
  const found = medianLine([line(x, x)], 100);
  assert.ok(found.x.length <= 101);
  assert.equal(found.x[found.x.length - 1], 999);
});

test("programs that are locked count as 0 in the mean", () => {
  assert.deepEqual(meanSuccess({ A: [0.5, 1], B: [null, 0.5] }, ["A", "B", "C"], 2), [0.5 / 3, 0.5]);
});

test("durations are written in the unit one would use", () => {
  assert.deepEqual([null, 0, 1.234, 119, 150, 7300].map(duration), ["–", "0 s", "1.23 s", "119 s", "2.5 min", "2.03 h"]);
});
