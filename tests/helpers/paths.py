"""Where the repository's files are."""

from __future__ import annotations

from pathlib import Path

import alphanpi

ROOT = Path(__file__).parents[2]
SOURCE = Path(alphanpi.__file__).parent
DOCS = ROOT / "docs"
BENCHMARKS = ROOT / "benchmarks"
EXAMPLES = ROOT / "examples"
LIGHTS = EXAMPLES / "lights.py"
