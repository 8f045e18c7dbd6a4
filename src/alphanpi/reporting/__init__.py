"""Showing what an agent learned: a report page, runs side by side or under way, search trees, pictures."""

from __future__ import annotations

from alphanpi.reporting.compare_page import compare
from alphanpi.reporting.comparison_records import ComparisonRecord
from alphanpi.reporting.decision_trees import tree, tree_page
from alphanpi.reporting.picture import Picture, render
from alphanpi.reporting.records import ReportRecord
from alphanpi.reporting.report_page import report
from alphanpi.reporting.watching import LivePage, watch

__all__ = [
    "ComparisonRecord",
    "LivePage",
    "Picture",
    "ReportRecord",
    "compare",
    "render",
    "report",
    "tree",
    "tree_page",
    "watch",
]
