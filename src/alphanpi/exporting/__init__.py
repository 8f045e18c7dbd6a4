"""The learned library as source code: what the greedy agent does, written down and checked."""

from alphanpi.exporting.clock import ExportFailed
from alphanpi.exporting.header import Coverage, Origin
from alphanpi.exporting.machine import Machine
from alphanpi.exporting.pipeline import Export, export, export_evaluator

__all__ = ["Coverage", "Export", "ExportFailed", "Machine", "Origin", "export", "export_evaluator"]
