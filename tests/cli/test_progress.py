"""Long commands say what they are doing: on standard error, as a bar in a terminal, as lines elsewhere."""

from __future__ import annotations

import io
import re
import sys
import time

import pytest
from numba import njit
from numba.core import event
from rich.console import Console

import alphanpi
from alphanpi.agent import compiling, evaluation
from alphanpi.cli import progress
from alphanpi.cli.progress import COMPILING, Activity
from tests.helpers.runs import SORTING
from tests.helpers.tiny import tiny_run


@pytest.fixture(autouse=True)
def told(monkeypatch):
    monkeypatch.delenv("ALPHANPI_QUIET")


@pytest.fixture
def impatient(monkeypatch):
    for name in ("_FIRST_LINE", "_LOOK", "_SOON"):
        monkeypatch.setattr(progress, name, 0.01)


class Terminal(io.StringIO):
    """A stream that says that someone is looking."""

    def isatty(self) -> bool:
        return True


def test_lines_say_what_is_done_now_and_then_and_only_on_standard_error(impatient, capsys):
    with Activity("waiting", lambda: "more"):
        time.sleep(0.2)
    with Activity("counting") as activity:
        activity.say("counting [red]", 3, 40)
        time.sleep(0.1)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0] == "waiting, 0 s; more"
    assert "counting [red]: 3 of 40, 0 s" in lines
    assert 2 <= len(lines) < 10  # less and less often


def test_who_has_been_told_something_is_not_told_again_at_once(impatient, capsys):
    with Activity("learning") as activity:
        for _ in range(20):
            activity.heard()
            time.sleep(0.005)
    assert capsys.readouterr().err.count("learning") <= 1


def test_quick_commands_say_nothing(capsys):
    with Activity("waiting"):
        pass
    assert capsys.readouterr() == ("", "")


def test_progress_can_be_silenced(impatient, monkeypatch, capsys):
    monkeypatch.setenv("ALPHANPI_QUIET", "1")
    with Activity("waiting") as activity:
        activity.say("still waiting", 1, 2)
        time.sleep(0.1)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("looking", [True, False])
def test_a_bar_in_a_terminal_leaves_the_output_where_it_belongs(monkeypatch, looking):
    screen, output = Terminal(), Terminal() if looking else io.StringIO()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "stdout", output)
    with Activity("first") as activity:
        activity.say("second", 1, 2)
        time.sleep(0.3)
        print("a result")
        activity.print("[another] result", Console())
    assert "second: 1 of 2" in screen.getvalue()
    assert ("a result\n" in output.getvalue()) == (not looking)
    assert ("a result" in screen.getvalue()) == looking  # above the bar, in the same terminal
    assert ("[another] result\n" in output.getvalue()) == (not looking)
    assert bool(re.search(r"\x1b\[2K\[another\] result", screen.getvalue())) == looking
    assert sys.stdout is output


def test_compiling_is_said(impatient, monkeypatch, capsys):
    monkeypatch.setattr(Activity, "compiling", True)
    with Activity("learning"):
        time.sleep(0.1)
    lines = capsys.readouterr().err.splitlines()
    assert lines.count(COMPILING) == 1
    assert all(line.startswith("compiling") for line in lines)


def test_the_compiler_is_watched(monkeypatch):
    seen = []
    monkeypatch.setattr(compiling, "_LINGERING", 0.0)

    @njit
    def twice(number):
        return 2 * number

    class Listener(compiling.CompilerWatch):
        def on_end(self, event):
            seen.append(self.busy)
            super().on_end(event)

    watch = Listener()
    event.register("numba:compile", watch)
    try:
        assert not watch.busy
        assert twice(2) == 4
        assert twice(3) == 6
    finally:
        event.unregister("numba:compile", watch)
    assert seen == [True]
    assert not watch.busy


def test_compiling_is_no_part_of_learning_nor_of_what_is_measured(monkeypatch, tmp_path):
    def slow(device):
        time.sleep(0.5)

    monkeypatch.setattr("alphanpi.training.train.compile_search", slow)
    began = time.perf_counter()
    outcome = tiny_run(tmp_path / "run", iterations=1)
    assert outcome.elapsed < time.perf_counter() - began - 0.5
    monkeypatch.setattr(evaluation, "compile_search", slow)
    [score] = alphanpi.evaluate("pretrained:hanoi", "HANOI", [2], episodes=1, mode="greedy")
    assert score.seconds_per_episode < 0.5


@pytest.mark.parametrize("mode", ["greedy", "planning"])
def test_a_measurement_says_how_far_it_is_inside_a_size(mode, monkeypatch):
    monkeypatch.setattr(evaluation, "_QUICK", 0.0)
    measured: list[evaluation.Measured] = []
    agent = alphanpi.load("pretrained:hanoi")
    agent.at_once = 3
    [score] = alphanpi.evaluate(agent, sizes=[3], episodes=10, mode=mode, on_progress=measured.append)
    assert [one.done for one in measured] == [0, 3, 6, 9]
    assert {one[:2] + one[3:] for one in measured} == {(3, mode, 10)}
    [whole] = alphanpi.evaluate(agent, sizes=[3], episodes=10, mode=mode)
    assert score._replace(seconds_per_episode=0) == whole._replace(seconds_per_episode=0)


def test_commands_tell_lines_to_those_who_wait(run, impatient, monkeypatch, tmp_path):
    outcome = run("eval", SORTING, "--sizes", "20", "--mode", "greedy", "--json")
    assert "BUBBLESORT size 20 " in outcome.err
    assert outcome.out.startswith("[")

    def export(agent, *, say, **options):
        say("finding code")
        time.sleep(0.1)
        raise alphanpi.ExportFailed("none found")

    monkeypatch.setattr("alphanpi.exporting.export", export)
    for arguments, said in (
        (("verify", "pretrained:hanoi", "--max-size", 2, "--json"), "verifying "),
        (("render", "pretrained:hanoi", "HANOI", 3, "-o", tmp_path / "x.gif"), "drawing: "),
        (("export", "pretrained:hanoi"), "finding code, 0 s\n"),
    ):
        assert said in run(*arguments).err, arguments
