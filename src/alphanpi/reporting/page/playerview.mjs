// The execution player: picture and source side by side, a timeline and controls below, panels that follow.

import { grouped, html, icon, saveButton } from "./dom.mjs";
import { Panels } from "./panels.mjs";
import { Calls, Playback, SPEEDS, linkedStep, stepLink, stepOut, stepOver } from "./playback.mjs";
import { between, bounds, eased, readShapes } from "./scenes.mjs";
import { SceneView } from "./sceneview.mjs";
import { SourceView } from "./sourceview.mjs";
import { remember, remembered } from "./theme.mjs";
import { Timeline } from "./timeline.mjs";

const MOVING = 640; // milliseconds of a step that changes the picture, and of one that does not
const STILL = 340;
const DWELL = 0.3; // share of a step in which the picture rests, so that the choice can be read first
const ADDRESS_PAUSE = 200; // browsers refuse addresses that change too often

export class PlayerView {
  // `onStep(index)` is told when the player rests at another step.
  constructor(report, onStep) {
    const { execution } = report;
    this.report = report;
    this.onStep = onStep;
    this.steps = execution.steps;
    this.calls = new Calls(execution.calls, this.steps);
    const shapes = readShapes(report.shape_columns, report.shapes);
    this.scenes = report.states.map((state) => state.scene && state.scene.map((number) => shapes[number]));
    this.frames = [...this.steps.map((step) => step.state), execution.final];
    this.playback = new Playback(
      this.steps.map((_, place) => (this.frames[place] === this.frames[place + 1] ? STILL : MOVING)),
      execution.moves,
    );
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.shown = -1;
    this.told = -1;
    this.picture = report.scene_size ? new SceneView(bounds(shapes, report.scene_size), `${execution.program} on ${execution.input}`) : null;
    this.source = report.source === null ? null : new SourceView(report);
    this.timeline = new Timeline(report, this.calls, (step) => this.jump(step));
    this.panels = new Panels(report, this.calls, (step) => this.jump(step));
    this.build();
    const linked = linkedStep(location.hash, this.playback.last);
    if (linked !== null) this.playback.seek(linked);
    addEventListener("hashchange", () => {
      const step = linkedStep(location.hash, this.playback.last);
      if (step !== null) this.jump(step);
    });
  }

  build() {
    const { execution, states } = this.report;
    this.text = html("span", {});
    // As much room as the longest text takes, and the one of most lines, so that nothing below moves.
    const most = (measure) => this.frames.reduce((best, state) => (measure(states[state].text) > measure(best) ? states[state].text : best), "");
    const ghosts = [most((words) => words.length), most((words) => words.split("\n").length)];
    const text = html("p", { class: this.picture ? "state-text" : "state-text alone" }, ghosts.map((words) => html("span", { class: "ghost", "aria-hidden": "true" }, words)), this.text);
    const sentences = new Map(this.steps.map((step) => [`${step.program} ${step.action}`, step]));
    const longest = [...sentences.values()].map((step) => this.sentence(step))
      .reduce((best, words) => (words.textContent.length > best.textContent.length ? words : best), html("span", {}));
    longest.className = "ghost";
    longest.setAttribute("aria-hidden", "true");
    this.says = html("span", { class: "sentence" });
    this.counter = html("output", { class: "counter" });
    this.scrub = html("input", {
      type: "range", min: 0, max: this.playback.last, value: 0, step: 1, class: "scrub", "aria-label": "Step", autocomplete: "off",
      oninput: () => this.jump(Number(this.scrub.value)),
    });
    this.node = html("div", { class: this.source ? "player" : "player alone", id: "player-root" },
      html("div", { class: "stage" },
        html("div", { class: "over" }, html("h3", { title: execution.input }, `${execution.program} on ${execution.input}`, html("small", {}, "the network alone, without search")),
          this.picture && saveButton(() => this.picture.node, `step-of-${execution.program}`)),
        this.picture && this.picture.node, text, html("p", { class: "says", "aria-live": "off" }, longest, this.says)),
      this.source && this.source.node,
      html("div", { class: "transport" }, this.timeline.node, this.scrub, this.controls(execution)),
      this.panels.node);
  }

  controls(execution) {
    const button = (label, title, action, more = {}) =>
      html("button", { type: "button", title, "aria-label": title, onclick: () => this.act(action), ...more }, label);
    this.playButton = button(icon("play"), "Play (space)", () => this.playback.toggle(), { class: "primary", id: "play" });
    this.pace = html("select", { "aria-label": "Pace", title: "Pace", id: "pace", autocomplete: "off",
      onchange: () => { this.playback.speed = Number(this.pace.value); remember("pace", this.pace.value); } },
    SPEEDS.map((speed) => html("option", { value: speed, selected: speed === 1 }, `${speed}×`)));
    if (SPEEDS.includes(Number(remembered("pace")))) this.pace.value = remembered("pace");
    this.playback.speed = Number(this.pace.value);
    this.moves = html("input", { type: "checkbox", id: "moves-only", autocomplete: "off",
      onchange: () => this.act(() => { this.playback.movesOnly = this.moves.checked; }) });
    const many = execution.moves.length;
    return html("div", { class: "controls" },
      html("div", { class: "keys" },
        button(icon("first"), "To the beginning (Home)", () => this.playback.seek(0)),
        button(icon("back"), "Step back (←)", () => this.playback.step(-1)),
        this.playButton,
        button(icon("forward"), "Step (→)", () => this.playback.step(1), { id: "step" }),
        button(icon("last"), "To the end (End)", () => { this.playback.pause(); this.playback.seek(this.playback.last); })),
      html("div", { class: "keys" },
        button("Step over", "To the next step of this call (N)", () => this.over(), { id: "over" }),
        button("Step out", "To where this call was made (U)", () => this.out(), { id: "out" })),
      html("label", { class: "check", title: `Only the ${grouped(many)} steps after which the state looks different (M)` }, this.moves, "Moves only"),
      this.pace,
      this.counter);
  }

  act(change) {
    change();
    this.refresh();
    if (this.playback.playing) this.run();
  }

  jump(step) {
    this.act(() => { this.playback.pause(); this.playback.seek(step); });
  }

  over() {
    this.playback.pause();
    this.playback.seek(stepOver(this.steps, this.playback.index));
  }

  out() {
    this.playback.pause();
    this.playback.seek(stepOut(this.steps, this.playback.index));
  }

  // Keys work wherever the focus is, except where they mean something else.
  key(event) {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("select, textarea, [contenteditable], input:not([type=range], [type=checkbox])")) return;
    const ownArrows = target === this.scrub || target.closest("[data-arrows]");
    const onButton = target.closest("button, a, summary, input, [role=treeitem]");
    const actions = {
      " ": () => !onButton && (() => this.playback.toggle()),
      ArrowLeft: () => !ownArrows && (() => this.playback.step(-1)),
      ArrowRight: () => !ownArrows && (() => this.playback.step(1)),
      Home: () => !ownArrows && this.node.contains(target) && (() => this.playback.seek(0)),
      End: () => !ownArrows && this.node.contains(target) && (() => this.playback.seek(this.playback.last)),
      n: () => () => this.over(),
      u: () => () => this.out(),
      m: () => () => { this.moves.checked = this.playback.movesOnly = !this.playback.movesOnly; },
    };
    const change = actions[event.key.toLowerCase()]?.() ?? actions[event.key]?.();
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
      if (this.told >= 0) this.address(index);
      this.told = index;
      this.onStep(Math.min(index, this.steps.length - 1));
    }
  }

  // The address names the step, without a place in the browser's history for each.
  address(index) {
    clearTimeout(this.addressing);
    this.addressing = setTimeout(() => {
      try {
        history.replaceState(null, "", stepLink(index, this.playback.last));
      } catch {
        // Where a page may not do that, it has no links.
      }
    }, ADDRESS_PAUSE);
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
    const step = this.steps[index];
    this.scrub.value = index;
    this.counter.textContent = step ? `step ${grouped(index + 1)} of ${grouped(this.steps.length)}` : `end of ${grouped(this.steps.length)}`;
    this.text.textContent = states[this.frames[index]].text;
    this.node.dataset.solved = String(!step && execution.success);
    this.panels.show(index);
    this.timeline.show(index);
    this.showSource(index);
    if (!step) {
      this.says.replaceChildren(
        html("strong", { class: execution.success ? "good" : "bad" }, execution.success ? "Solved" : `Failed: ${execution.failure}`),
        ` after ${grouped(execution.actions)} actions.`);
      this.scrub.setAttribute("aria-valuetext", execution.success ? "solved" : "failed");
      return;
    }
    this.says.replaceChildren(this.sentence(step));
    this.scrub.setAttribute("aria-valuetext", `step ${index + 1}: ${library[step.program].name}, ${library[step.action].name}`);
  }

  // HANOI does MOVE_DISK.
  sentence(step) {
    const { library } = this.report;
    const entry = library[step.action], program = html("strong", {}, library[step.program].name);
    if (entry.name === "STOP") return html("span", {}, program, " ends");
    return html("span", {}, program, entry.level > 0 ? " calls " : " does ", html("strong", { class: "action" }, entry.name),
      entry.summary ? html("span", { class: "muted" }, ` · ${entry.summary.replace(/\.$/, "")}`) : "");
  }

  // A call stands where it called: at the step before the first one of what it called.
  showSource(index) {
    const line = (step) => this.steps[step]?.line ?? null;
    this.source?.show(line(index), this.calls.around(index).slice(1).map((call) => line(this.calls.calls[call].first - 1)));
  }
}
