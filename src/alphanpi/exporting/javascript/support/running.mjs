// Running a module: as a script, and on what someone types.

// What is known of Python's `sys`; what is written is kept until someone takes it.
const $sys = {
  argv: [""],
  stdout: { text: [], write(text) { this.text.push(text); return $len(text); }, writelines(lines) { for (const line of $iter(lines)) this.write(line); return null; }, flush() { return null; } },
  stderr: { text: [], write(text) { this.text.push(text); return $len(text); }, writelines(lines) { for (const line of $iter(lines)) this.write(line); return null; }, flush() { return null; } },
  exit(code = null) {
    throw new $SystemExit(code);
  },
};

function $taken(stream) {
  const text = stream.text.join("");
  stream.text.length = 0;
  return text;
}

// Runs the main part as a script; gives what it printed, and the message and code it ended with.
function $execute(main, words) {
  $sys.argv = ["", ...words];
  $taken($sys.stdout);
  $taken($sys.stderr);
  let ended = null;
  try {
    main();
  } catch (error) {
    if (!(error instanceof $SystemExit)) throw error;
    ended = error.args.length ? error.args[0] : null;
  }
  const number = typeof ended === "number" || typeof ended === "boolean";
  const said = $taken($sys.stderr) + (ended === null || number ? "" : `${$str(ended)}\n`);
  return { output: $taken($sys.stdout), said, code: ended === null ? 0 : number ? Number(ended) : 1 };
}

// Puts `before(action, object)` and `after` around the methods for actions; an action inside another one counts as part
// of it. Gives a function that takes them away again.
function $observe(kinds, actions, before, after) {
  const changed = [];
  let acting = false;
  for (const kind of kinds)
    for (const [name, action] of Object.entries(actions))
      for (const holder of [kind.prototype, kind]) {
        const own = Object.getOwnPropertyDescriptor(holder, name);
        if (typeof own?.value !== "function") continue;
        changed.push([holder, name, own]);
        Object.defineProperty(holder, name, {
          ...own,
          value(...values) {
            if (acting) return own.value.apply(this, values);
            before(action, this);
            acting = true;
            try {
              return own.value.apply(this, values);
            } finally {
              acting = false;
              after(action, this);
            }
          },
        });
      }
  return () => changed.forEach(([holder, name, own]) => Object.defineProperty(holder, name, own));
}

// An object in words: what its class says, or its attributes.
function $shown(value) {
  if (typeof value?.__str__ === "function" || typeof value?.__repr__ === "function" || value?.constructor?.$fields) return $str(value);
  const told = [];
  const tell = (one) => {
    for (const [name, part] of Object.entries(one)) {
      if (name.startsWith("_") || typeof part === "function") continue;
      if (part instanceof $Object && !part.__str__ && !part.__repr__ && !part.constructor.$fields) tell(part);
      else told.push(`${name.replace(/\$$/, "")} ${$str(part)}`);
    }
  };
  tell(value);
  return told.join(", ");
}

// Runs the main part on what someone has typed, as one argument or, if that is not understood, as one for each word.
function $run(main, kinds, actions, text, onStep, most) {
  let [start, steps] = [null, []];
  const restore = $observe(
    kinds,
    actions,
    (action, subject) => {
      start ??= $shown(subject);
      if (steps.length >= most) throw new $Interrupted(`stopped after ${most.toLocaleString("en")} actions`);
    },
    (action, subject) => {
      const step = { action, state: $shown(subject) };
      steps.push(step);
      onStep?.(step);
    },
  );
  try {
    let done = $execute(main, [text]);
    const words = $split(text);
    if (done.code !== 0 && steps.length === 0 && words.length > 1) {
      const again = $execute(main, words);
      if (again.code === 0) done = again;
    }
    if (done.code !== 0) throw new Error(done.said.trim() || done.output.trim() || `it ended with code ${done.code}`);
    return { output: done.output, start, steps };
  } catch (error) {
    if (error instanceof RangeError) throw new Error("the calls are nested deeper than JavaScript's stack", { cause: error });
    throw error instanceof $BaseException ? new Error(`${$typeName(error)}: ${$str(error)}`, { cause: error }) : error;
  } finally {
    restore();
  }
}
