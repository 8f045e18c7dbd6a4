"""Whether the kernel has to be compiled first, so that a user is told before a silent pause."""

from __future__ import annotations

from pathlib import Path

from alphanpi.engine import fused


def needs_compilation() -> bool:
    """True when no compiled kernel is in memory or in numba's cache."""
    if fused.advance_evaluating.signatures:
        return False
    cache = Path(getattr(fused.advance_evaluating, "_cache").cache_path)  # noqa: B009 - numba keeps it private
    source = Path(fused.__file__).stat().st_mtime
    return not any(path.stat().st_mtime >= source for path in cache.glob("fused.advance_evaluating*.nbc"))
