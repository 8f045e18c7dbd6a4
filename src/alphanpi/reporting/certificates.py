"""Reading a certificate for the report: its verdict, its smallest margin, and a line per program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from alphanpi.errors import UsageError

FILE = "certificate.json"


def certificate(path: Path | None, folder: Path) -> dict[str, Any] | None:
    """The certificate given, or the one in the run's folder; None where there is none."""
    if path is None:
        path = folder / FILE
        if not path.is_file():
            return None
    try:
        content = json.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}: not a certificate: {error}") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path}: not a certificate: expected a JSON object")
    return content
