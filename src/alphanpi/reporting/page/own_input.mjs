// What a visitor types, run by the exported program: in a worker, so that the page never waits for it.

import { grouped, html } from "./dom.mjs";

const MOST_ACTIONS = 50_000; // after which the program is stopped
const MOST_SECONDS = 10;
const MOST_LINES = 12; // of what was printed
const AROUND = 4; // steps shown before and after the current one
const WORKER = `
onmessage = ({ data: { text, most } }) => {
  try {
    postMessage(run(text, null, most));
  } catch (error) {
    postMessage({ error: String(error.message || error) });
  }
};`;

// The module as a plain script: browsers do not let a page that was opened from disk start workers with modules.
export function plainScript(module) {
  const [script] = module.split("\n// Run as `node FILE");
  return `"use strict";\n${script.replaceAll(/^export /gm, "")}`;
}

// The program's answer: { output, start, steps } or { error }.
function answer(address, text, seconds) {
  return new Promise((resolve) => {
    const worker = new Worker(address);
    const end = (result) => {
      clearTimeout(clock);
      worker.terminate();
      resolve(result);
    };
    const clock = setTimeout(() => end({ error: `stopped after ${seconds} seconds` }), 1000 * seconds);
    worker.onmessage = ({ data }) => end(data);
    worker.onerror = (event) => end({ error: event.message || "this browser does not run the program" });
    worker.postMessage({ text, most: MOST_ACTIONS });
  });
}

// Fills the container, and shows it, if the report has a program that can be run.
export function ownInput(container, data) {
  if (data.script === null || data.script === undefined) return;
  const address = URL.createObjectURL(new Blob([plainScript(data.script), WORKER], { type: "text/javascript" }));
  const field = html("input", {
    type: "text", id: "own-input-text", value: data.script_input, placeholder: "what the program reads", autocomplete: "off", spellcheck: "false", maxlength: 2000,
    "aria-describedby": "own-input-result",
  });
  const button = html("button", { type: "submit", class: "primary" }, "Run");
  const result = html("div", { id: "own-input-result", "aria-live": "polite" });
  const steps = html("div", { class: "own-steps" });
  const form = html("form", { class: "own-form" }, html("label", { for: "own-input-text" }, "Input"), field, button);

  let asked = 0;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const number = (asked += 1);
    button.disabled = true;
    const done = await answer(address, field.value, Number(container.dataset.seconds ?? MOST_SECONDS));
    if (number !== asked) return;
    button.disabled = false;
    steps.replaceChildren();
    if (done.error !== undefined) {
      result.replaceChildren(html("p", { class: "own-error", role: "alert" }, done.error));
      return;
    }
    const lines = done.output.trimEnd().split("\n");
    const more = lines.length - MOST_LINES;
    const shown = more > 1 ? [...lines.slice(0, MOST_LINES), `… ${grouped(more)} more lines`] : lines;
    result.replaceChildren(
      html("pre", { class: "own-output" }, shown.join("\n")),
      html("p", { class: "note own-count" }, `${grouped(done.steps.length)} action${done.steps.length === 1 ? "" : "s"}`),
    );
    if (done.steps.length) steps.append(...scrubber(done));
  });
  container.addEventListener("keydown", (event) => event.stopPropagation()); // the player has keys of its own

  container.classList.add("card");
  container.setAttribute("aria-labelledby", "own-input-title");
  container.append(
    html("h2", { id: "own-input-title" }, "Try your own input"),
    html("p", { class: "note" }, "The learned program as JavaScript, running in this page: no network, no search, no neural network."),
    form,
    result,
    steps,
  );
  container.hidden = false;
}

// A slider over the steps, and the steps around the one it is at.
function scrubber({ start, steps }) {
  const list = html("ol", { class: "own-list" });
  const counter = html("output", { class: "counter" });
  const now = html("p", { class: "own-now" });
  const slider = html("input", {
    type: "range", min: 0, max: steps.length, value: 0, step: 1, class: "scrub", "aria-label": "Step of your run", oninput: () => show(Number(slider.value)),
  });
  const at = (place) => (place === 0 ? { action: "start", state: start } : steps[place - 1]);
  function entry(place, current) {
    const { action, state } = at(place);
    return html(
      "li",
      { class: place === current ? "current" : null, "aria-current": place === current ? "step" : null, onclick: () => { slider.value = place; show(place); } },
      html("span", { class: "own-number" }, grouped(place)), html("code", { class: "own-action" }, action), html("span", { class: "own-state" }, state),
    );
  }
  function show(current) {
    const first = Math.max(0, Math.min(current - AROUND, steps.length - 2 * AROUND));
    const last = Math.min(steps.length, first + 2 * AROUND);
    list.replaceChildren(...Array.from({ length: last - first + 1 }, (_, place) => entry(first + place, current)));
    now.textContent = at(current).state;
    counter.textContent = `${grouped(current)} / ${grouped(steps.length)}`;
  }
  show(0);
  return [html("div", { class: "own-slide" }, slider, counter), now, list];
}
