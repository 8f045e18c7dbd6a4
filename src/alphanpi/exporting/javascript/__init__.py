"""Exported Python modules as JavaScript: a translation of the part of Python that runtimes are written in."""

from alphanpi.exporting.javascript.assembling import assembled, has_run
from alphanpi.exporting.javascript.refusing import UntranslatableError
from alphanpi.exporting.javascript.writing import NOT_RUN, WrittenJavaScript, written

__all__ = ["NOT_RUN", "UntranslatableError", "WrittenJavaScript", "assembled", "has_run", "written"]
