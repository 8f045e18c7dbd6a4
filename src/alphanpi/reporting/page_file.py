"""Making one HTML file of the page's parts and a report's data."""

from __future__ import annotations

import html
import json
import re
from importlib import resources

from alphanpi.reporting.comparison_records import ComparisonRecord
from alphanpi.reporting.live_records import LiveRecord
from alphanpi.reporting.records import ReportRecord, TreePageRecord, plain

ShownRecord = ReportRecord | TreePageRecord | ComparisonRecord | LiveRecord

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
    "main.mjs",
)
TREE_MODULES = ("dom.mjs", "trees.mjs", "treeview.mjs", "theme.mjs", "tree_main.mjs")
COMPARISON_MODULES = ("dom.mjs", "charts.mjs", "curves.mjs", "theme.mjs", "compare_main.mjs")
WATCH_MODULES = ("dom.mjs", "charts.mjs", "curves.mjs", "theme.mjs", "watch_main.mjs")
CURVES_STYLE = "curves.css"
VENDOR = "vendor/d3-hierarchy.min.js"
VENDOR_LICENCE = "vendor/d3-hierarchy.LICENSE"
_IMPORT = re.compile(r"^import .*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def to_json(record: ShownRecord) -> str:
    """The records as their JSON object."""
    digits = None if isinstance(record, ComparisonRecord) else 5  # a setting is what it is, however small
    text = json.dumps(plain(record, digits), separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8")  # names of files may hold what cannot be written


def to_html(record: ShownRecord, title: str) -> str:
    """A report, the trees of one search, a comparison or a run under way as one self-contained page."""
    trees = isinstance(record, (ReportRecord, TreePageRecord))
    script = "\n".join(_EXPORT.sub("", _IMPORT.sub("", _part(name))) for name in _modules(record))
    parts = {
        "title": html.escape(title.encode("utf-8", "replace").decode("utf-8")),
        "style": _part("style.css") + ("" if trees else _part(CURVES_STYLE)),
        # Inside a script element, only "<" could end it.
        "data": to_json(record).replace("<", "\\u003c"),
        "vendor": f"/* {_part(VENDOR_LICENCE)} */\n{_part(VENDOR)}" if trees else "",
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _part("page.html"))


def _modules(record: ShownRecord) -> tuple[str, ...]:
    match record:
        case ReportRecord():
            return REPORT_MODULES
        case TreePageRecord():
            return TREE_MODULES
        case ComparisonRecord():
            return COMPARISON_MODULES
        case LiveRecord():
            return WATCH_MODULES


def _part(name: str) -> str:
    return (resources.files("alphanpi.reporting") / "page" / name).read_text(encoding="utf-8")
