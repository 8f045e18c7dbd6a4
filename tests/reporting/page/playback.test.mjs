import assert from "node:assert/strict";
import { test } from "node:test";
import { Playback, callStacks } from "../../../src/alphanpi/reporting/page/playback.mjs";

test("plays to the end and stops there", () => {
  const player = new Playback([100, 200, 100]);
  player.play();
  player.tick(150);
  assert.deepEqual([player.index, player.fraction, player.playing], [1, 0.25, true]);
  player.tick(10_000);
  assert.deepEqual([player.index, player.fraction, player.playing], [3, 0, false]);
  assert.ok(player.atEnd);
});

test("play at the end begins again", () => {
  const player = new Playback([100]);
  player.seek(1);
  player.toggle();
  assert.deepEqual([player.index, player.playing], [0, true]);
});

test("speed shortens every step", () => {
  const player = new Playback([100, 100, 100, 100]);
  player.speed = 4;
  player.play();
  player.tick(50);
  assert.equal(player.index, 2);
});

test("time passes only while playing", () => {
  const player = new Playback([100]);
  player.tick(1000);
  assert.equal(player.index, 0);
});

test("steps stay inside and pause", () => {
  const player = new Playback([100, 100]);
  player.play();
  player.step(1);
  assert.deepEqual([player.index, player.playing], [1, false]);
  player.step(5);
  assert.equal(player.index, 2);
  player.step(-9);
  assert.equal(player.index, 0);
  player.seek(0.6);
  assert.equal(player.index, 1);
});

test("a step back while moving returns to where it started", () => {
  const player = new Playback([100, 100]);
  player.play();
  player.tick(140);
  player.step(-1);
  assert.deepEqual([player.index, player.fraction], [1, 0]);
});

test("nothing to play", () => {
  const player = new Playback([]);
  player.play();
  assert.equal(player.playing, false);
});

test("call stacks follow depth, and a second call at the same depth is another call", () => {
  const steps = [[0, 7], [1, 8], [1, 8], [0, 7], [1, 8], [2, 9], [0, 7]].map(([depth, program]) => ({ depth, program }));
  const stacks = callStacks(steps);
  assert.deepEqual(stacks.map((stack) => stack.map(({ from }) => from)), [[0], [0, 1], [0, 1], [0], [0, 4], [0, 4, 5], [0]]);
  assert.deepEqual(stacks[5].map(({ program }) => program), [7, 8, 9]);
});
