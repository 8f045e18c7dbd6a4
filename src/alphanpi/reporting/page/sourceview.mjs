// The learned programs as source code, with the line that the run stands at.

import { copyButton, html } from "./dom.mjs";

const WORDS = /("""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*)|\b(def|if|elif|else|while|for|in|return|not|and|or|class|import|from|True|False|None|raise|pass|assert|with|as|lambda|is|match|case|break|continue)\b|\b([A-Z][A-Z0-9_]{2,})\b/g;

// Pieces of source: text, or [kind, text].
export function highlighted(source) {
  const parts = [];
  let last = 0;
  for (const found of source.matchAll(WORDS)) {
    parts.push(source.slice(last, found.index));
    const kind = found[1] ? (found[1].startsWith("#") ? "comment" : "string") : found[2] ? "keyword" : "program";
    parts.push([kind, found[0]]);
    last = found.index + found[0].length;
  }
  parts.push(source.slice(last));
  return parts;
}

// The same line by line, each with its end of line.
export function sourceLines(source) {
  const lines = [[]];
  for (const part of highlighted(source)) {
    const [kind, text] = typeof part === "string" ? [null, part] : part;
    (text.match(/[^\n]*\n|[^\n]+/g) ?? []).forEach((piece) => {
      lines.at(-1).push(kind ? [kind, piece] : piece);
      if (piece.endsWith("\n")) lines.push([]);
    });
  }
  if (!lines.at(-1).length) lines.pop();
  return lines;
}

export class SourceView {
  // `functions`: [{program, first, last}], lines from 1; what lies around them is folded.
  constructor({ source, source_note: note, source_functions: functions, line_note: about }) {
    this.current = null;
    this.callers = [];
    const lines = sourceLines(source).map((parts, place) =>
      html("span", { class: "line", "data-line": place + 1 },
        parts.map((part) => (typeof part === "string" ? part : html("span", { class: part[0] }, part[1])))));
    this.lines = lines;
    const first = functions.length ? functions[0].first - 1 : 0;
    const last = functions.length ? functions.at(-1).last : lines.length;
    this.code = html("div", { class: "program-source", tabindex: 0, role: "region", "aria-label": "Source code of the learned programs", "data-arrows": true },
      this.fold(lines.slice(0, first), "where it comes from"),
      html("pre", {}, html("code", {}, lines.slice(first, last))),
      this.fold(lines.slice(last), "what the functions work on"));
    this.node = html("div", { class: "source-pane" },
      html("div", { class: "over" }, html("h3", {}, "Learned program"), copyButton(source, this.code)),
      this.code,
      html("p", { class: "note small" }, note, about ? html("strong", { class: "left-out" }, ` ${about}`) : null));
  }

  // Lines that are there for whoever asks for them, and in print. The label is no text: it does not belong to the source.
  fold(lines, what) {
    if (!lines.some((line) => line.textContent.trim())) return html("pre", { class: "folded" }, lines);
    const part = html("pre", { class: "folded" }, html("code", {}, lines));
    const toggle = html("button", { type: "button", class: "unfold", "aria-expanded": "false" });
    const name = () => {
      const label = `${part.classList.contains("folded") ? "Show" : "Hide"} ${lines.length} lines: ${what}`;
      toggle.dataset.label = label;
      toggle.setAttribute("aria-label", label);
    };
    toggle.addEventListener("click", () => {
      part.classList.toggle("folded");
      toggle.setAttribute("aria-expanded", String(!part.classList.contains("folded")));
      name();
    });
    name();
    return [toggle, part];
  }

  // `line`: where the run stands; `callers`: lines of the calls around it. Null where there is none.
  show(line, callers) {
    this.current?.classList.remove("current");
    this.current?.removeAttribute("aria-current");
    for (const one of this.callers) one.classList.remove("calling");
    this.callers = callers.filter((one) => one !== null && one !== line).map((one) => this.lines[one - 1]);
    for (const one of this.callers) one.classList.add("calling");
    this.current = line === null ? null : this.lines[line - 1];
    if (!this.current) return;
    this.current.classList.add("current");
    this.current.setAttribute("aria-current", "step");
    this.reveal(this.current);
  }

  // Only inside of the pane: the page stays where it is.
  reveal(line) {
    const pane = this.code.getBoundingClientRect(), box = line.getBoundingClientRect();
    const room = Math.min(48, pane.height / 4);
    if (box.top < pane.top + room) this.code.scrollTop -= pane.top + room - box.top;
    else if (box.bottom > pane.bottom - room) this.code.scrollTop += box.bottom - pane.bottom + room;
  }
}
