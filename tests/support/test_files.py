"""Files are written wholly or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from alphanpi.errors import UsageError
from alphanpi.support.files import require_writable, write_atomically


def test_a_link_is_written_through_and_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "real.txt").chmod(0o640)
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_atomically(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    assert (tmp_path / "real.txt").stat().st_mode & 0o777 == 0o640
    (tmp_path / "dangling.txt").symlink_to("absent.txt")
    write_atomically(tmp_path / "dangling.txt", "new")
    assert (tmp_path / "absent.txt").read_text() == "new"
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", Path("/dev/null")):
        for function in (require_writable, lambda path: write_atomically(path, "x")):
            with pytest.raises(UsageError, match="not a regular file"):
                function(path)
    assert (tmp_path / "fifo").is_fifo()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match="cannot be written"):
        write_atomically(tmp_path / "loop", "x")
    assert not list(tmp_path.glob(".*"))
