import assert from "node:assert/strict";
import { test } from "node:test";
import { Calls, Playback, callName, linkedStep, stepLink, stepOut, stepOver } from "../../../src/alphanpi/reporting/page/playback.mjs";

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

test("moves only: steps and time pass over what changes nothing", () => {
  const player = new Playback([100, 100, 100, 100, 100], [1, 3]);
  player.movesOnly = true;
  player.step(1);
  assert.equal(player.index, 1);
  player.step(1);
  assert.equal(player.index, 3);
  player.step(1);
  assert.equal(player.index, 5);
  player.step(-1);
  assert.equal(player.index, 3);
  player.seek(0);
  player.play();
  player.tick(150);
  assert.deepEqual([player.index, player.fraction], [3, 0.5]);
  player.tick(60);
  assert.ok(player.atEnd && !player.playing);
  player.seek(0);
  player.movesOnly = false;
  player.step(1);
  assert.equal(player.index, 1);
});

const steps = [0, 1, 1, 0, 1, 2, 1, 0].map((depth) => ({ depth }));
const calls = new Calls([
  { depth: 0, first: 0, last: 7 }, { depth: 1, first: 1, last: 2 }, { depth: 1, first: 4, last: 6 }, { depth: 2, first: 5, last: 5 },
], steps);

test("calls around a step: a second call at the same depth is another call, and after the end there is none", () => {
  assert.deepEqual(steps.map((_, place) => calls.around(place)), [[0], [0, 1], [0, 1], [0], [0, 2], [0, 2, 3], [0, 2], [0]]);
  assert.deepEqual(calls.around(8), []);
  assert.equal(calls.deepest, 2);
});

test("step over stays in the call or leaves it at its end, step out leaves it", () => {
  assert.deepEqual(steps.map((_, place) => stepOver(steps, place)), [3, 2, 3, 7, 6, 6, 7, 8]);
  assert.deepEqual(steps.map((_, place) => stepOut(steps, place)), [8, 3, 3, 8, 7, 6, 7, 8]);
  assert.equal(stepOver(steps, 8), 8);
});

test("sizes have a word where there is one", () => {
  assert.equal(callName("HANOI", 3, ["disk", "disks"]), "HANOI(3 disks)");
  assert.equal(callName("HANOI", 1, ["disk", "disks"]), "HANOI(1 disk)");
  assert.equal(callName("CLEAN", 1200, ["", ""]), "CLEAN(1,200)");
});

test("links lead to steps, counted from 1, and nowhere else", () => {
  for (const index of [0, 4, 32]) assert.equal(linkedStep(stepLink(index, 32), 32), index);
  assert.equal(stepLink(11, 32), "#step=12");
  assert.equal(linkedStep("#step=999", 32), 32);
  assert.equal(linkedStep("#step=0", 32), 0);
  for (const other of ["", "#tree", "#step=", "#step=-1", "#step=1e3", "#step=99999999999999999999"]) assert.equal(linkedStep(other, 32), null);
});
