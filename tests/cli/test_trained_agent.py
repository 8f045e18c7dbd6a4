"""The commands on an agent that has learned its program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.commands import Outcome, assert_one_line, command
from tests.helpers.runs import content


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """An agent that has learned Hanoi, and what the command printed."""
    run = tmp_path_factory.mktemp("trained") / "run"
    return run, command("train", "hanoi", "--seed", 0, "--out", run)


def test_training_to_completion_says_what_to_do_next(trained):
    run, outcome = trained
    assert outcome.code == 0
    assert outcome.err == ""
    assert "level 1 learned: HANOI 100%" in outcome.out
    assert "learned every program in " in outcome.out
    advice = outcome.out.split("next:\n")[1].splitlines()
    assert [line.split("    #")[0] for line in advice] == [
        *(f"  alphanpi report {run}", f"  alphanpi eval {run} --program HANOI", f"  alphanpi run {run} HANOI"),
        f"  alphanpi export {run}",
    ]


def test_resuming_a_completed_run_adds_nothing(trained):
    run, _ = trained
    before = content(run / "checkpoints")
    outcome = command("resume", run)
    assert outcome.code == 0
    assert "learned every program in " in outcome.out
    assert content(run / "checkpoints") == before


def test_eval_as_json(trained):
    run, _ = trained
    outcome = command("eval", run, "--sizes", "2,5", "--episodes", 6, "--json")
    assert outcome.code == 0
    scores = json.loads(outcome.out)
    assert [(score["size"], score["mode"]) for score in scores] == [
        *((2, "greedy"), (2, "planning"), (5, "greedy"), (5, "planning"))
    ]
    for score in scores:
        assert {"program", "size", "mode", "episodes", "successes", "rate", "seconds_per_episode"} <= set(score)
        assert (score["program"], score["episodes"], score["successes"], score["rate"]) == ("HANOI", 6, 6, 1.0)
        assert score["seconds_per_episode"] > 0


def test_eval_as_a_table(trained):
    run, _ = trained
    outcome = command("eval", run, "--sizes", "3", "--episodes", 4, "--mode", "greedy")
    assert outcome.code == 0
    assert "HANOI size 3 greedy: 4/4" in outcome.out


def test_run_prints_the_moves(trained):
    run, _ = trained
    outcome = command("run", run, "HANOI", 3)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert len(lines) == 7
    assert lines[0] == "move disk 1 from A to C"
    assert lines[3] == "move disk 3 from A to C"


def test_trace_prints_the_call_tree(trained):
    run, _ = trained
    outcome = command("trace", run, "HANOI", 2)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "HANOI"
    assert lines[1].startswith("├── SWAP_A_T  A: 2 1   B: -   C: -")
    assert lines[2].startswith("├── HANOI  ")
    assert lines[3].startswith("│   ├── MOVE_DISK  ")
    assert lines[-2].startswith("└── STOP  ")
    assert lines[-1] == "HANOI solved in 12 actions: A: -   B: -   C: 2 1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "RUN", "HANOY", "3"], "no program 'HANOY'; there are "),
        (["run", "RUN", "MOVE_DISK", "3"], "MOVE_DISK is an atomic action"),
        (["run", "RUN", "HANOI", "three"], "'three' is not a number of disks"),
        (["trace", "RUN", "HANOI", "0"], "'0' is not a number of disks"),
        (["eval", "RUN", "--program", "HANOY"], "no program 'HANOY'"),
        (["eval", "RUN", "--sizes", "some"], "--sizes some: write numbers"),
        (["eval", "RUN", "--sizes", "0"], "HANOI cannot start at size 0"),
        (["eval", "ABSENT"], "there is no such run"),
        (["run", "ABSENT", "HANOI", "3"], "there is no such run"),
        (["resume", "ABSENT"], "not a run directory"),
        (["eval", "EMPTY"], "no weights in it"),
        (["trace", "EMPTY", "HANOI", "3"], "no weights in it"),
        (["resume", "EMPTY"], "not a run directory"),
        (["run", "pretrained:nobody", "HANOI", "3"], "no pretrained agent 'nobody'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_of_a_run_is_one_line(trained, tmp_path, arguments, message):
    places = {"RUN": trained[0], "ABSENT": tmp_path / "absent", "EMPTY": tmp_path}
    assert_one_line(command(*(places.get(word, word) for word in arguments)), message)


def test_no_thread_is_left_behind_that_could_wake_up_while_python_ends():
    """It took the whole process down, in more than half of all runs; four of them say so nearly always."""
    for _ in range(4):
        outcome = subprocess.run(
            [sys.executable, "-m", "alphanpi", "run", "pretrained:hanoi", "HANOI", "1"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (outcome.returncode, outcome.stderr) == (0, "")
