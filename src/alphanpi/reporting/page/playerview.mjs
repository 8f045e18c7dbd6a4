// The execution player: picture, controls, call stack, observation, probabilities.

import { chance, grouped, html, icon, saveButton } from "./dom.mjs";
import { Playback, SPEEDS, callStacks } from "./playback.mjs";
import { between, eased, readShapes } from "./scenes.mjs";
import { SceneView } from "./sceneview.mjs";

const MOVING = 640; // milliseconds of a step that changes the picture, and of one that does not
const STILL = 340;
const DWELL = 0.3; // share of a step in which the picture rests, so that the choice can be read first
const MOST_FRAMES_OF_STACK = 9;

export class PlayerView {
  // `onStep(index)` is told when the player rests at another step.
  constructor(report, onStep) {
    this.report = report;
    this.onStep = onStep;
    this.steps = report.execution.steps;
    this.stacks = callStacks(this.steps);
    const shapes = readShapes(report.shape_columns, report.shapes);
    this.scenes = report.states.map((state) => state.scene && state.scene.map((number) => shapes[number]));
    const frames = [...this.steps.map((step) => step.state), report.execution.final];
    this.frames = frames;
    this.playback = new Playback(
      this.steps.map((_, place) => (frames[place] === frames[place + 1] ? STILL : MOVING)),
    );
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.shown = -1;
    this.told = -1;
    this.build();
  }

  build() {
    const { execution } = this.report;
    this.picture = this.report.scene_size
      ? new SceneView(this.report.scene_size, `${execution.program} on ${execution.input}`)
      : null;
    this.text = html("p", { class: this.picture ? "state-text" : "state-text alone" });
    this.says = html("p", { class: "says", "aria-live": "off" });
    this.stack = html("ol", { class: "stack" });
    this.fields = html("ul", { class: this.report.fields.length > 12 ? "fields many" : "fields" });
    this.chances = html("ol", { class: "chances" });
    this.counter = html("output", { class: "counter" });
    this.scrub = html("input", {
      type: "range", min: 0, max: this.playback.last, value: 0, step: 1, class: "scrub", "aria-label": "Step",
      oninput: () => this.act(() => { this.playback.pause(); this.playback.seek(Number(this.scrub.value)); }),
    });
    const button = (label, title, action, more = {}) =>
      html("button", { type: "button", title, "aria-label": title, onclick: () => this.act(action), ...more }, label);
    this.playButton = button(icon("play"), "Play (space)", () => this.playback.toggle(), { class: "primary", id: "play" });
    this.speed = html(
      "select",
      { "aria-label": "Speed", onchange: () => { this.playback.speed = Number(this.speed.value); } },
      SPEEDS.map((speed) => html("option", { value: speed, selected: speed === 1 }, `${speed}×`)),
    );
    const controls = html(
      "div",
      { class: "controls" },
      button(icon("first"), "To the beginning (Home)", () => this.playback.seek(0)),
      button(icon("back"), "Step back (←)", () => this.playback.step(-1)),
      this.playButton,
      button(icon("forward"), "Step (→)", () => this.playback.step(1), { id: "step" }),
      button(icon("last"), "To the end (End)", () => { this.playback.pause(); this.playback.seek(this.playback.last); }),
      this.speed,
      this.counter,
    );
    const panel = (title, content, note) =>
      html("section", { class: "panel" }, html("h3", {}, title, note && html("small", {}, note)), content);
    const most = Math.max(1, ...this.steps.map((step) => step.probabilities.length));
    this.chances.style.setProperty("--rows", most);
    this.node = html(
      "div",
      { class: "player", id: "player-root" },
      html(
        "div",
        { class: "stage" },
        this.picture && this.picture.node,
        this.text,
        this.says,
        this.scrub,
        controls,
        this.picture && html("div", { class: "under" }, saveButton(() => this.picture.node, `step-of-${execution.program}`)),
      ),
      html(
        "div",
        { class: "panels" },
        panel("Action", this.chances, "probability of each legal one"),
        panel("Observation", this.fields, "what the program sees"),
        panel("Call stack", this.stack, "innermost last"),
      ),
    );
  }

  act(change) {
    change();
    this.refresh();
    if (this.playback.playing) this.run();
  }

  // Keys work wherever the focus is, except where they mean something else.
  key(event) {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("select, textarea, [contenteditable]")) return;
    const ownArrows = target === this.scrub || target.closest("[data-arrows]");
    const onButton = target.closest("button, a, summary, [role=treeitem]");
    const actions = {
      " ": () => !onButton && (() => this.playback.toggle()),
      ArrowLeft: () => !ownArrows && (() => this.playback.step(-1)),
      ArrowRight: () => !ownArrows && (() => this.playback.step(1)),
      Home: () => !ownArrows && this.node.contains(target) && (() => this.playback.seek(0)),
      End: () => !ownArrows && this.node.contains(target) && (() => this.playback.seek(this.playback.last)),
    };
    const change = actions[event.key]?.();
    if (!change) return;
    event.preventDefault();
    this.act(change);
  }

  run() {
    if (this.running) return;
    this.running = true;
    let before = performance.now();
    const frame = (now) => {
      this.playback.tick(Math.min(100, now - before));
      before = now;
      this.refresh();
      if (this.playback.playing) requestAnimationFrame(frame);
      else this.running = false;
    };
    requestAnimationFrame(frame);
  }

  refresh() {
    const { index, fraction, playing } = this.playback;
    this.drawPicture(index, fraction);
    if (playing !== this.wasPlaying) {
      this.wasPlaying = playing;
      this.playButton.replaceChildren(icon(playing ? "pause" : "play"));
      this.playButton.setAttribute("aria-label", playing ? "Pause (space)" : "Play (space)");
    }
    if (index !== this.shown) {
      this.shown = index;
      this.describe(index);
    }
    if (!playing && index !== this.told) {
      this.told = index;
      this.onStep(Math.min(index, this.steps.length - 1));
    }
  }

  drawPicture(index, fraction) {
    if (!this.picture) return;
    const before = this.scenes[this.frames[index]];
    const after = this.scenes[this.frames[Math.min(index + 1, this.playback.last)]];
    const moved = this.still.matches ? 0 : eased(Math.max(0, (fraction - DWELL) / (1 - DWELL)));
    this.picture.draw(between(before, after, moved));
  }

  describe(index) {
    const { library, execution, states } = this.report;
    const name = (number) => library[number].name;
    const done = index >= this.steps.length;
    this.scrub.value = index;
    this.counter.textContent = `${grouped(index)} / ${grouped(this.steps.length)}`;
    this.text.textContent = states[this.frames[index]].text;
    this.node.dataset.solved = String(done && execution.success);
    if (done) {
      this.says.replaceChildren(
        html("strong", { class: execution.success ? "good" : "bad" }, execution.success ? "Solved" : `Failed: ${execution.failure}`),
        ` after ${grouped(execution.actions)} actions.`,
      );
      this.scrub.setAttribute("aria-valuetext", execution.success ? "solved" : "failed");
      this.stack.replaceChildren(html("li", { class: "muted" }, "empty: the program has ended"));
      this.fields.replaceChildren(html("li", { class: "muted" }, "–"));
      this.chances.replaceChildren(html("li", { class: "muted" }, "–"));
      return;
    }
    const step = this.steps[index];
    const entry = library[step.action];
    const verb = entry.name === "STOP" ? "ends" : entry.level > 0 ? "calls" : "does";
    this.says.replaceChildren(html("strong", {}, name(step.program)), ` ${verb} `,
      entry.name === "STOP" ? "" : html("strong", { class: "action" }, entry.name),
      entry.summary && entry.name !== "STOP" ? html("span", { class: "muted" }, ` · ${entry.summary.replace(/\.$/, "")}`) : "");
    this.scrub.setAttribute("aria-valuetext", `step ${index}: ${name(step.program)} ${verb} ${entry.name}`);
    this.describeStack(index);
    this.fields.replaceChildren(...this.report.fields.map((field, place) => {
      const value = step.observation[place];
      return html("li", { class: value ? "on" : "off" }, html("span", {}, field), html("b", {}, String(value)));
    }));
    this.chances.replaceChildren(...step.probabilities.map(([action, share]) =>
      html("li", { class: action === step.action ? "chosen" : "" },
        html("span", { class: "chance-name" }, name(action)),
        html("span", { class: "bar", style: { "--share": `${(100 * share).toFixed(1)}%` } }),
        html("span", { class: "number" }, chance(share)))));
  }

  describeStack(index) {
    const stack = this.stacks[index];
    const hidden = Math.max(0, stack.length - MOST_FRAMES_OF_STACK);
    const frame = ({ program, from }, depth) =>
      html("li", { class: depth === stack.length - 1 ? "current" : "" },
        html("button", { type: "button", class: "link", title: "Go to where this call began",
          onclick: () => this.act(() => { this.playback.pause(); this.playback.seek(from); }) },
          this.report.library[program].name));
    const rows = stack.map(frame);
    if (hidden > 0) rows.splice(1, hidden, html("li", { class: "muted" }, `… ${grouped(hidden)} more`));
    this.stack.replaceChildren(...rows);
  }
}
