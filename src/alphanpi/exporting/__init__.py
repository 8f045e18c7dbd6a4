"""The learned library as source code: what the greedy agent does, written down and checked."""

from alphanpi.exporting.clock import ExportFailed
from alphanpi.exporting.header import Coverage, Origin
from alphanpi.exporting.machine import Machine
from alphanpi.exporting.pipeline import Export, FoundCode, export, export_evaluator, find_code

__all__ = [
    "Coverage",
    "Export",
    "ExportFailed",
    "FoundCode",
    "Machine",
    "Origin",
    "export",
    "export_evaluator",
    "find_code",
]
