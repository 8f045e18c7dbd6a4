"""Writing files so that a reader, or a crash, never sees half of one."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from alphanpi.errors import UsageError


def require_writable(path: Path) -> None:
    """Refuse, before any work, a place where no file can be written."""
    if path.is_dir():
        raise UsageError(f"{path}: a folder; give the name of a file")
    target = _target(path)
    if not target.parent.is_dir():
        raise UsageError(
            f"{path}: there is no folder {target.parent if path.is_symlink() else path.parent}; make it first"
        )
    if not os.access(target.parent, os.W_OK):
        raise UsageError(f"{path}: cannot be written: no permission to write in {target.parent}")


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace a file's content in one step; of a link, that of the file it leads to."""
    target = _target(path)
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            if target.exists():
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        _remove(temporary)


def _target(path: Path) -> Path:
    """The file a path leads to; whatever is no file, a pipe or a device, cannot be replaced in one step."""
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
    if not stat.S_ISREG(mode):
        raise UsageError(f"{path}: not a regular file; give the name of a file")
    return target


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:  # its folder is not there, or cannot be written: nor was the file
        return
