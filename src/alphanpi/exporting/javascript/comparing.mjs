// Runs exported JavaScript on the cases of a file and writes down what it did: node comparing.mjs CASES RESULTS

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { Worker, isMainThread, parentPort } from "node:worker_threads";

const STACK = 256; // megabytes, for being watched: that takes more of the stack than a user's run
const { generic, settles, kind, cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const code = await import(isMainThread ? "./plain.mjs" : "./watched.mjs");

class Otherwise extends Error {
  constructor(done) {
    super();
    this.done = done;
  }
}

// Records every action of every call, as the agent's are.
class Recorder {
  constructor(most) {
    this.most = most;
    this.actions = [];
    this.begun = []; // of the functions under way, how often each began
    this.given = null; // the method that has just given another problem
  }

  // By which call a function begins.
  named(program) {
    const call = code.$calls[program]?.[this.given] ?? program;
    this.given = null;
    return call;
  }

  take(action) {
    this.actions.push(action);
    if (this.actions.length > this.most) throw new Otherwise(action);
  }

  call(program, body, subject) {
    const name = this.named(program);
    if (this.begun.length) this.take(name);
    this.begun.push(1);
    body(subject);
    for (let left = this.begun.pop(); left > 0; left--) this.take("STOP");
  }

  again(program) {
    this.take(this.named(program));
    this.begun[this.begun.length - 1] += 1;
  }
}

// Answers as the environment did when Python ran, and expects the same questions.
class Replay {
  constructor(log) {
    this.log = log;
    this.place = 0;
  }

  take(what, name) {
    const entry = this.log[this.place];
    if (entry === undefined || entry[0] !== what || entry[1] !== name) throw new Otherwise(`${what} ${name}`);
    this.place += 1;
    return entry[2];
  }

  act(name) {
    this.take("act", name);
  }

  field(name) {
    return this.take("field", name);
  }

  may(name) {
    return this.take("may", name);
  }

  call(name, program) {
    this.take("call", name);
    program(this);
    this.take("end", name);
  }
}

function said(error) {
  if (error instanceof RangeError && /call stack/.test(error.message)) return { deep: true };
  return error instanceof Otherwise ? { otherwise: error.done } : { raised: String(error?.message ?? error) };
}

function attempt(work) {
  try {
    return work();
  } catch (error) {
    return said(error);
  }
}

function replayed({ program, log }) {
  const env = new Replay(log);
  const done = attempt(() => {
    code[program](env);
    return {};
  });
  return { ...done, place: env.place };
}

// What is to be compared; some objects owe a change to the problems inside of them until they are looked at.
function final(subject) {
  if (settles) subject.state;
  return code.$encoded(subject);
}

function run({ program, given }) {
  return attempt(() => {
    const subject = new code[kind](...code.$decoded(given, [], code));
    code[program](subject);
    return { final: final(subject) };
  });
}

function watch({ name, given, steps, digest }) {
  const recorder = new Recorder(steps);
  const done = attempt(() => {
    const subject = new code[kind](...code.$decoded(given, [], code));
    code.$watch(recorder, () => recorder.call(name, code.$programs[name], subject));
    return { final: final(subject) };
  });
  const same = createHash("sha256").update(recorder.actions.join("\n")).digest("hex") === digest;
  return { ...done, count: recorder.actions.length, actions: same ? null : recorder.actions };
}

function watchAll() {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2), resourceLimits: { stackSizeMb: STACK } });
    worker.on("message", resolve);
    worker.on("error", reject);
  });
}

if (!isMainThread) parentPort.postMessage(cases.map(watch));
else if (generic) writeFileSync(process.argv[3], JSON.stringify(cases.map(replayed)));
else {
  const plain = cases.map(run);
  const watched = await watchAll();
  writeFileSync(process.argv[3], JSON.stringify(plain.map((one, place) => ({ plain: one, watched: watched[place] }))));
}
