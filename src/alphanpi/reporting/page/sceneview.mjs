// Drawing scenes with SVG; elements stay the same from frame to frame and only move.

import { svg } from "./dom.mjs";
import { labelSize } from "./scenes.mjs";

export class SceneView {
  constructor(box, label) {
    this.node = svg("svg", { viewBox: box.join(" "), class: "scene", role: "img", "aria-label": label });
    this.elements = new Map();
  }

  draw(shapes) {
    const unused = new Set(this.elements.keys());
    for (const shape of shapes) {
      unused.delete(shape.id);
      this.place(this.elements.get(shape.id) ?? this.create(shape), shape);
    }
    for (const id of unused) {
      this.elements.get(id).group.remove();
      this.elements.delete(id);
    }
  }

  create(shape) {
    const tag = { rectangle: "rect", circle: "circle", line: "line", text: null }[shape.kind];
    const body = tag && svg(tag, { class: `shape ${shape.style}` });
    const label = svg("text", { class: body ? "label" : `writing ${shape.style}` });
    const group = svg("g", {}, body, label);
    const element = { group, body, label };
    this.elements.set(shape.id, element);
    this.node.append(group);
    return element;
  }

  place({ group, body, label }, shape) {
    const { kind, x, y, width, height, radius } = shape;
    const set = (element, values) => {
      for (const [name, value] of Object.entries(values)) element.setAttribute(name, Math.round(value * 100) / 100);
    };
    group.setAttribute("opacity", shape.opacity);
    group.setAttribute("class", shape.faded ? "faded" : "");
    let middle = [x, y];
    if (kind === "rectangle") {
      set(body, { x, y, width, height, rx: radius });
      middle = [x + width / 2, y + height / 2];
    } else if (kind === "circle") set(body, { cx: x, cy: y, r: radius });
    else if (kind === "line") set(body, { x1: x, y1: y, x2: x + width, y2: y + height });
    if (body) {
      body.setAttribute("class", `shape ${shape.style}`);
      body.style.setProperty("--tone", `${Math.round(shape.tone * 100)}%`);
    }
    label.textContent = shape.label;
    if (shape.label) {
      set(label, { x: middle[0], y: middle[1] });
      label.setAttribute("font-size", labelSize(shape));
    }
  }
}
