"""Making one HTML file of the page's parts and a report's data."""

from __future__ import annotations

import html
import json
import re
from importlib import resources

from alphanpi.reporting.records import ReportRecord, TreePageRecord, plain

# Each module after those it imports: they are joined in one scope.
REPORT_MODULES = (
    "dom.mjs",
    "theme.mjs",
    "playback.mjs",
    "scenes.mjs",
    "sceneview.mjs",
    "sourceview.mjs",
    "timeline.mjs",
    "panels.mjs",
    "trees.mjs",
    "charts.mjs",
    "certificate.mjs",
    "sections.mjs",
    "playerview.mjs",
    "treeview.mjs",
    "disagreementview.mjs",
    "own_input.mjs",
    "main.mjs",
)
TREE_MODULES = ("dom.mjs", "trees.mjs", "treeview.mjs", "theme.mjs", "tree_main.mjs")
VENDOR = "vendor/d3-hierarchy.min.js"
VENDOR_LICENCE = "vendor/d3-hierarchy.LICENSE"
_IMPORT = re.compile(r"^import .*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def to_json(record: ReportRecord | TreePageRecord) -> str:
    """The records as their JSON object."""
    text = json.dumps(plain(record), separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8")  # names of files may hold what cannot be written


def to_html(record: ReportRecord | TreePageRecord, title: str) -> str:
    """A report, or the trees of one search, as one self-contained page."""
    modules = REPORT_MODULES if isinstance(record, ReportRecord) else TREE_MODULES
    script = "\n".join(_EXPORT.sub("", _IMPORT.sub("", _part(name))) for name in modules)
    parts = {
        "title": html.escape(title.encode("utf-8", "replace").decode("utf-8")),
        "style": _part("style.css"),
        # Inside a script element, only "<" could end it.
        "data": to_json(record).replace("<", "\\u003c"),
        "vendor": f"/* {_part(VENDOR_LICENCE)} */\n{_part(VENDOR)}",
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _part("page.html"))


def _part(name: str) -> str:
    return (resources.files("alphanpi.reporting") / "page" / name).read_text(encoding="utf-8")
