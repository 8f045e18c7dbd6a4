"""Everything read from files is checked; what is no record is named in one line."""

from __future__ import annotations

import os

import pytest
from pydantic import Field

from alphanpi.errors import UsageError
from alphanpi.support.record import Record, read_bytes, read_record


class Example(Record):
    count: int = Field(ge=0)
    share: float = 0.0
    parts: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"count": 1', "not JSON: "),
        (b"", "not JSON: "),
        (b"\xff\xfe", "not UTF-8: byte 0"),
        (b'{"count": 1, "count": 2}', "not JSON: key 'count' occurs twice"),
        (b'{"count": 1, "share": NaN}', "not JSON: NaN is no number"),
        (b'{"count": 1, "share": 1e999}', "field 'share': input should be a finite number"),
        (b'{"count": ' + 5000 * b"1" + b"}", "not JSON: "),
        (100_000 * b"[", "nested too deeply"),
        (b"[1]", "input should be an object"),
        (b"null", "input should be an object"),
        (b'{"count": true}', "field 'count': input should be a valid integer, not True"),
        (b'{"count": 1.0}', "field 'count': input should be a valid integer"),
        (b'{"count": -1}', "field 'count': input should be greater than or equal to 0, not -1"),
        (b'{"count": "1"}', "field 'count': input should be a valid integer, not '1'"),
        (b"{}", "field 'count': field required"),
        (b'{"count": 1, "other": 2}', "field 'other': extra inputs are not permitted"),
        (b'{"count": 1, "parts": [1]}', "field 'parts.0': input should be a valid string"),
    ],
    ids=lambda value: value[:30].decode("utf-8", "replace") if isinstance(value, bytes) else "",
)
def test_a_record_that_is_none_is_refused(tmp_path, content, message):
    file = tmp_path / "x.json"
    file.write_bytes(content)
    with pytest.raises(UsageError) as refused:
        read_record(file, Example, "do this")
    assert str(refused.value).startswith(f"{file}: cannot be read: ")
    assert message in str(refused.value)
    assert str(refused.value).endswith("; do this")


def test_what_is_no_regular_file_or_too_large_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "large").write_bytes(bytes(100))
    for name, message in (
        ("fifo", "not a file"), ("absent", "there is no such file"), ("", "not a file"),
        ("loop", "cannot be read"), ("large", "larger than 99 bytes"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            read_bytes(tmp_path / name, most=99)
    assert len(read_bytes(tmp_path / "large", most=100)) == 100
