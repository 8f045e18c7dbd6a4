"""The learned library as source code: what the greedy agent does, written down and checked."""

from alphanpi.exporting.machine import Machine
from alphanpi.exporting.pipeline import Export, ExportFailed, Origin, export, export_evaluator

__all__ = ["Export", "ExportFailed", "Machine", "Origin", "export", "export_evaluator"]
