"""Time limits and interrupts of an export."""

from __future__ import annotations

import time

import pytest

import alphanpi
from alphanpi import ExportFailed
from alphanpi.cli.shared import duration
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.exports import ORIGIN, scripted
from tests.helpers.marking import Marking, fill, top


def test_time_over_is_one_line_and_nothing_is_written(run, tmp_path):
    target = tmp_path / "sort.py"
    began = time.monotonic()
    code, out, err = run("export", "pretrained:sorting", "-o", target, "--time-limit", "2s")
    assert (code, out) == (1, "")
    assert "nothing exported: no code was found within 1.33 s; the last thing tried: " in err
    assert err.count("\n") == 1
    assert time.monotonic() - began < 60
    assert not target.exists()


@pytest.mark.parametrize(
    ("stage", "answer"),
    [
        ("FILL: looking for code", "time is over; no code was found yet for FILL, TOP"),
        ("TOP: looking for code", "time is over; code was found for FILL, not for TOP"),
        ("comparing", "time is over$"),
    ],
)
def test_the_answer_says_for_which_programs_code_was_found(stage, answer):
    def say(line: str) -> None:
        if line.startswith(stage):
            raise ExportFailed("time is over")

    with pytest.raises(ExportFailed, match=answer):
        scripted(Marking(), {"FILL": fill, "TOP": top}, say=say)


@pytest.mark.parametrize("text", ["", "soon", "-5", "0", "5 days", "1e3"])
def test_bad_time_limits_are_one_line(run, text):
    code, out, err = run("export", "pretrained:hanoi", f"--time-limit={text}")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_durations_are_read():
    assert [duration(text) for text in ("90", "90s", "1.5m", "1h")] == [90, 90, 90, 3600]


def test_an_interrupt_passes(monkeypatch):
    class Interrupted(Chain):
        def observe(self, state):
            if state > 20:
                raise KeyboardInterrupt
            return super().observe(state)

    with pytest.raises(KeyboardInterrupt):
        alphanpi.export_evaluator(Interrupted(), ChainNetwork(), ORIGIN, samples=10)
