"""Runs side by side: one page, or the data it shows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from alphanpi.reporting.comparing import compared
from alphanpi.reporting.comparison_records import ComparisonRecord
from alphanpi.reporting.page_file import to_html, to_json
from alphanpi.support.files import require_writable, write_atomically


def compare(runs: str | Path | Iterable[str | Path], out: str | Path | None = None) -> ComparisonRecord:
    """Seeds and settings side by side, as records (see docs/compare.md), and as a self-contained page.

    Args:
        runs: Run directories, and folders that hold some. Those that differ in nothing but the seed are a group.
        out: File to write: a page, or its JSON object if it ends in .json; nothing is written if omitted.
    """
    path = None if out is None else Path(out)
    if path is not None:
        require_writable(path)
    record = compared([runs] if isinstance(runs, (str, Path)) else runs)
    if path is not None:
        title = "One run" if len(record.runs) == 1 else f"{len(record.runs):,} runs side by side"
        write_atomically(path, to_json(record) + "\n" if path.suffix == ".json" else to_html(record, title))
    return record
