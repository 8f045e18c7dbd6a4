"""Writing files so that a reader, or a crash, never sees half of one."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from alphanpi.errors import UsageError


def require_writable(path: Path) -> None:
    """Refuse, before any work, a place where no file can be written."""
    if path.is_dir():
        raise UsageError(f"{path}: a folder; give the name of a file")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}; make it first")


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file's content in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
