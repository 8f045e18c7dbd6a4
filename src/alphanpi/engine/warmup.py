"""Whether the kernel has to be compiled first, so that a user is told before a silent pause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alphanpi.engine import fused


def needs_compilation() -> bool:
    """True when no compiled kernel is in memory or in numba's cache."""
    kernel: Any = fused.advance_evaluating  # numba's type, not that of the function
    if kernel.signatures:
        return False
    cache = Path(kernel._cache.cache_path)
    source = Path(fused.__file__).stat().st_mtime
    return not any(path.stat().st_mtime >= source for path in cache.glob("fused.advance_evaluating*.nbc"))
