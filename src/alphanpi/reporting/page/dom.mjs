// Building elements, and figures that can be saved.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style" && typeof value === "object")
      for (const [property, setting] of Object.entries(value)) element.style.setProperty(property, setting);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// Drawn, since not every system has these characters.
const ICONS = {
  first: "M3 2h2v10H3zM12 2v10L5.5 7z",
  back: "M10.5 2v10L3.5 7z",
  play: "M3.5 1.5v11L12 7z",
  pause: "M3 2h3v10H3zM8 2h3v10H8z",
  forward: "M3.5 2v10l7-5z",
  last: "M9 2h2v10H9zM2 2v10L8.5 7z",
};

export const icon = (name) =>
  svg("svg", { viewBox: "0 0 14 14", width: 14, height: 14, class: "icon", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));


// Only all is 100 %, and only nothing is 0 %.
export function percent(share) {
  const rounded = Math.round(share * 1000) / 10;
  if (rounded === 100 && share < 1) return ">99.9%";
  if (rounded === 0 && share > 0) return "<0.1%";
  return `${rounded}%`;
}

// A probability, likewise.
export function chance(share) {
  if (share >= 0.9995 && share < 1) return ">0.999";
  return share < 0.0005 && share > 0 ? "<0.001" : share.toFixed(3);
}

export const grouped = (number) => Math.round(number).toLocaleString("en");
export const decimals = (number) => (number === null ? "–" : number.toFixed(3).replace("-", "−"));

// Properties that carry the page's style into a saved picture.
const CARRIED = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline",
];

export function savedPicture(picture) {
  const copy = picture.cloneNode(true);
  const originals = [picture, ...picture.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, place) => {
    const style = getComputedStyle(originals[place]);
    for (const property of CARRIED) {
      const value = style.getPropertyValue(property);
      if (value) element.style.setProperty(property, value);
    }
    for (const name of ["class", "tabindex", "role", "aria-expanded", "aria-selected"]) element.removeAttribute(name);
  });
  const box = picture.viewBox.baseVal;
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  copy.style.background = getComputedStyle(document.body).getPropertyValue("--card");
  return new XMLSerializer().serializeToString(copy);
}

function save(picture, name) {
  const address = URL.createObjectURL(new Blob([savedPicture(picture)], { type: "image/svg+xml" }));
  html("a", { href: address, download: `${name}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

export function saveButton(picture, name) {
  return html(
    "button",
    { type: "button", class: "quiet save", title: "Save this figure as SVG", onclick: () => save(picture(), name) },
    "Save SVG",
  );
}

// Copies a text; where the browser does not let a page do that, it is selected for the user to copy.
export function copyButton(text, shown) {
  const say = (words) => {
    button.textContent = words;
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };
  const select = () => {
    for (const folded of shown.querySelectorAll('[aria-expanded="false"]')) folded.click();
    getSelection().selectAllChildren(shown);
    say("Selected; press Ctrl+C");
  };
  const copy = () => (navigator.clipboard ? navigator.clipboard.writeText(text).then(() => say("Copied"), select) : select());
  const button = html("button", { type: "button", class: "quiet copy", "aria-live": "polite", onclick: copy }, "Copy");
  return button;
}

export function fact(title, value, note, mood = "") {
  return html("div", { class: "fact" }, html("dt", {}, title), html("dd", { class: mood }, value), note ? html("dd", { class: "muted small" }, note) : null);
}

// A figure that is drawn again when its width changes; `draw(width)` gives an <svg>.
export function figure(name, caption, draw, kind = "") {
  const frame = html("div", { class: "drawing" });
  const node = html(
    "figure",
    { class: `figure ${kind}` },
    html("figcaption", {}, html("span", {}, caption), saveButton(() => frame.firstElementChild, name)),
    frame,
  );
  let width = 0;
  const redraw = () => {
    const now = Math.floor(frame.clientWidth);
    if (now > 0 && now !== width) {
      width = now;
      frame.replaceChildren(draw(width));
    }
  };
  new ResizeObserver(redraw).observe(frame);
  node.redraw = () => { width = 0; redraw(); };
  return node;
}
