"""The page's logic without a browser: Node's own test runner over tests/reporting/page."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="Node is not installed; `apt-get install nodejs` to test the page's logic")
def test_page_modules():
    files = sorted(str(file) for file in (Path(__file__).parent / "page").glob("*.test.mjs"))
    assert len(files) >= 5
    done = subprocess.run([str(NODE), "--test", *files], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert "# pass 0" not in done.stdout
