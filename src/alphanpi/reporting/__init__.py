"""Showing what an agent learned: a report page, search trees, pictures."""

from __future__ import annotations

from alphanpi.reporting.decision_trees import tree, tree_page
from alphanpi.reporting.picture import Picture, render
from alphanpi.reporting.records import ReportRecord
from alphanpi.reporting.report_page import report

__all__ = ["Picture", "ReportRecord", "render", "report", "tree", "tree_page"]
