"""A real browser for tests of pages, and pages opened in it."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None or importlib.util.find_spec("playwright") is None,
    reason="no Chromium (`apt-get install chromium`, or say where it is in the variable CHROMIUM) or no Playwright",
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Visit:
    """A page in the browser, with everything it complained about or asked for."""

    def __init__(self, browser, file: Path, **options) -> None:
        options.setdefault("viewport", {"width": 1200, "height": 900})
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("footer:not(:empty)")

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.inner_text())


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const luminance = ([r, g, b]) => [r, g, b].map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      if (one instanceof SVGElement) {
        const shape = [...one.parentElement.children].slice(0, [...one.parentElement.children].indexOf(one))
          .find((other) => other.matches("rect") && Number(other.getAttribute("height")) > 10);
        if (one.matches("text") && shape && one.parentElement.matches("g")) return rgba(getComputedStyle(shape).fill);
      }
      const colour = rgba(getComputedStyle(one).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const low = [];
  let seen = 0;
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const hidden = "script, style, title, noscript, .faded, .skip, details:not([open]) > :not(summary)";
    if (!own || element.closest(hidden)) continue;
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const style = getComputedStyle(element);
    const colour = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [luminance(rgba(colour)), luminance(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    seen += 1;
    const kind = element.className.baseVal ?? element.className;
    if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${element.tagName}.${kind} ${element.textContent.slice(0, 30)}`);
  }
  return { low, seen };
}"""
