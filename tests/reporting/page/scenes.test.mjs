import assert from "node:assert/strict";
import { test } from "node:test";
import { between, bounds, eased, labelSize, readShapes } from "../../../src/alphanpi/reporting/page/scenes.mjs";

const shape = (more) => ({ kind: "rectangle", id: "a", x: 0, y: 0, width: 10, height: 10, radius: 0, label: "", style: "item", tone: 0, faded: false, lift: null, ...more });

test("easing goes from 0 to 1 and never back", () => {
  assert.equal(eased(0), 0);
  assert.equal(eased(1), 1);
  let last = 0;
  for (let t = 0; t <= 1; t += 0.01) {
    assert.ok(eased(t) >= last);
    last = eased(t);
  }
});

test("a shape moves straight unless it is lifted", () => {
  const [half] = between([shape()], [shape({ x: 100, y: 50 })], 0.5);
  assert.deepEqual([half.x, half.y], [50, 25]);
});

test("a lifted shape goes up, across and down", () => {
  const from = shape({ y: 100, lift: 0 });
  const to = shape({ x: 100, y: 100, lift: 0 });
  const at = (t) => between([from], [to], t)[0];
  assert.deepEqual([at(1 / 6).x, Math.round(at(1 / 6).y)], [0, 50]);
  assert.deepEqual([Math.round(at(0.5).x), at(0.5).y], [50, 0]);
  assert.deepEqual([at(5 / 6).x, Math.round(at(5 / 6).y)], [100, 50]);
  assert.deepEqual([at(1).x, at(1).y], [100, 100]);
});

test("a lifted shape that stays over its place is not lifted", () => {
  assert.equal(between([shape({ y: 10, lift: 0 })], [shape({ y: 20, lift: 0 })], 0.5)[0].y, 15);
});

test("shapes that come and go fade", () => {
  const shapes = between([shape({ id: "gone" })], [shape({ id: "new" })], 0.25);
  assert.deepEqual(shapes.map(({ id, opacity }) => [id, opacity]), [["gone", 0.75], ["new", 0.25]]);
});

test("nothing moves at the start", () => {
  assert.deepEqual(between([shape()], [shape({ x: 9 })], 0)[0].x, 0);
});

test("columns name the numbers", () => {
  assert.deepEqual(readShapes(["id", "x"], [["a", 1], ["b", 2]]), [{ id: "a", x: 1 }, { id: "b", x: 2 }]);
});

test("what sticks out of a scene is shown, too", () => {
  const shapes = [shape({ x: -5 }), { ...shape({ kind: "circle", x: 95, y: 10, radius: 20 }) }, shape({ kind: "text", x: 50, y: 60, height: 20, label: "auxiliary" })];
  const [x, y, width, height] = bounds(shapes, [100, 50]);
  assert.deepEqual([Math.round(10 * x), y], [-58, -10]);
  assert.deepEqual([Math.round(x + width), Math.round(y + height)], [115, 72]);
  assert.deepEqual(bounds([shape()], [100, 50]), [0, 0, 100, 50]);
});

test("writing fits into its shape", () => {
  assert.equal(labelSize(shape({ width: 100, height: 100, label: "7" })), 18);
  assert.ok(labelSize(shape({ width: 20, height: 30, label: "-1234" })) * 5 * 0.62 <= 20.001);
  assert.equal(labelSize(shape({ kind: "text", height: 12, label: "long writing" })), 12);
});
