"""The command line end to end: output, messages and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from cyclopts import App

import alphanpi
from alphanpi.bench import search as bench
from alphanpi.cli import app
from tests.helpers.commands import assert_one_line
from tests.helpers.countdown import COUNTDOWN
from tests.helpers.paths import DOCS, LIGHTS, ROOT

BUILTIN = ["flat-sorting", "hanoi", "recursive-sorting", "sorting"]


def in_new_process(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


def command_names() -> list[list[str]]:
    """Every command with the words that lead to it."""
    found: list[list[str]] = []
    pending: list[tuple[list[str], App]] = [([], app)]
    while pending:
        words, command = pending.pop()
        found.append(words)
        pending += [([*words, name], command[name]) for name in command if not name.startswith("-")]
    return found


# ---------------------------------------------------------------------------- envs and check


def test_envs_lists_programs_by_level(run):
    outcome = run("envs")
    assert outcome.code == 0
    assert all(name in outcome.out for name in BUILTIN)
    assert "hanoi  Tower of Hanoi, solved recursively." in outcome.out
    assert "level 1: HANOI*" in outcome.out


def test_envs_as_json(run):
    outcome = run("envs", "--json")
    assert outcome.code == 0
    listings = {listing["id"]: listing for listing in json.loads(outcome.out)}
    assert set(BUILTIN) <= set(listings)
    hanoi = {program["name"]: program for program in listings["hanoi"]["programs"]}
    assert list(hanoi) == ["STOP", "SWAP_S_A", "SWAP_A_T", "MOVE_DISK", "HANOI"]
    assert hanoi["HANOI"]["level"] == 1
    assert hanoi["HANOI"]["recursive"]
    assert listings["hanoi"]["broken"] is None


def test_check_of_a_good_environment(run):
    outcome = run("check", "hanoi")
    assert outcome.code == 0
    assert outcome.out.startswith("hanoi: no findings, ")
    assert outcome.err == ""


def test_check_of_a_broken_environment_shows_rule_program_and_state(run, written):
    path = written(COUNTDOWN.replace("return after == 0", "return after == -1"))
    outcome = run("check", f"{path}:Countdown")
    assert outcome.code == 1
    (line, *_) = [line for line in outcome.out.splitlines() if "reachable" in line]
    assert line.startswith("✗ reachable: EMPTY: its 8 actions, STOP included, cannot reach the post-condition")
    assert line.endswith("(state 1)")
    assert " findings, " in outcome.out.splitlines()[-1]


def test_check_as_json(run, written):
    path = written(COUNTDOWN.replace("return after == 0", "return after == -1"))
    outcome = run("check", path, "--json")
    assert outcome.code == 1
    report = json.loads(outcome.out)
    assert not report["ok"]
    assert {"rule", "program", "message", "state"} == set(report["findings"][0])
    report = json.loads(run("check", "hanoi", "--samples", 5, "--json").out)
    assert report["ok"]
    assert report["findings"] == []


@pytest.mark.parametrize("options", [[], ["--observation", "compare"]])
def test_check_takes_an_observation(run, options):
    assert run("check", "flat-sorting", "--samples", 3, *options).code == 0


def test_check_of_the_example(run):
    outcome = run("check", LIGHTS)
    assert outcome.code == 0
    assert "no findings" in outcome.out
    assert "note:" not in outcome.out


def test_the_specification_page_shows_the_example_as_it_is():
    page = (DOCS / "specification.md").read_text()
    example = LIGHTS.read_text()
    assert f"```python\n{example}```" in page
    assert len(example.splitlines()) <= 72


# ---------------------------------------------------------------------------- errors in the input


def test_unknown_environment_is_answered_with_a_close_one(run):
    outcome = run("check", "hannoi")
    assert_one_line(outcome)
    assert "unknown environment 'hannoi': did you mean hanoi" in outcome.err


def test_a_file_that_raises_while_loading_names_file_and_line(run, written):
    path = written("value = 1\nother = value / 0\n")
    outcome = run("check", path)
    assert_one_line(outcome)
    assert f"{path}: loading it failed: line 2: ZeroDivisionError: division by zero" in outcome.err


RAISING_ACTION = COUNTDOWN.replace("return state - 1", "return {3: 2}[state]")
RAISING_LINE = 1 + RAISING_ACTION.splitlines().index("        return {3: 2}[state]")


def test_an_action_that_raises_in_a_search_names_file_line_action_and_state(run, written):
    path = written(RAISING_ACTION)
    outcome = run("search", path, "EMPTY", 3, "--simulations", 50)
    assert_one_line(outcome)
    assert f"{path}:{RAISING_LINE}: Countdown: action DOWN in state 2: KeyError: 2" in outcome.err


def test_an_action_that_raises_in_a_check_is_a_finding(run, written):
    path = written(RAISING_ACTION)
    outcome = run("check", path)
    assert outcome.code == 1
    assert f"{path}:{RAISING_LINE}: Countdown: action DOWN in state 1: KeyError: 1" in outcome.out
    assert "Traceback" not in outcome.out + outcome.err


@pytest.mark.parametrize("position", [0, 1, 2])
def test_debug_shows_the_traceback(run, position):
    arguments = ["check", "hannoi"]
    arguments.insert(position, "--debug")
    outcome = run(*arguments)
    assert outcome.code == 2
    assert outcome.err.startswith("Traceback (most recent call last)")
    assert outcome.err.splitlines()[-1].startswith("alphanpi: error: unknown environment 'hannoi'")


def test_debug_shows_where_a_users_code_failed(run, written):
    path = written(RAISING_ACTION)
    outcome = run("search", path, "EMPTY", 3, "--debug")
    assert "return {3: 2}[state]" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "sorting", "--observation", "colour"], "observation 'colour' is unknown; choose paper or compare"),
        (["check", "hanoi", "--observation", "paper"], "unexpected keyword argument 'observation'"),
        (["check", "hanoi", "--sample", "3"], "Unknown option: --sample. Did you mean --samples?"),
        (["serch", "hanoi", "HANOI", "2"], 'Unknown command "serch". Did you mean "search"?'),
        (["check"], "requires an argument"),
        (["check", "hanoi", "--samples", "many"], "many"),
        (["search", "hanoi", "HANOI", "no"], "'no' is not a number of disks; give 1 or more"),
        (["search", "hanoi", "HANOY", "2"], "no program 'HANOY'; there are STOP, SWAP_S_A"),
        (["search", "hanoi", "MOVE_DISK", "2"], "MOVE_DISK is an atomic action"),
        (["search", "sorting", "RSHIFT", "5 x"], "'5 x' is not a list of integers"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_input_is_one_line_with_advice(run, arguments, message):
    outcome = run(*arguments)
    assert_one_line(outcome)
    assert message in outcome.err


# ---------------------------------------------------------------------------- search and bench


def test_search_solves_hanoi_with_an_untrained_network(run):
    outcome = run("search", "hanoi", "HANOI", 2)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert [line.split()[-1] for line in lines[:-2]] == [
        *("SWAP_A_T", "HANOI", "SWAP_A_T", "MOVE_DISK", "SWAP_S_A", "HANOI", "SWAP_S_A", "STOP")
    ]
    assert lines[-2].strip() == "A: -   B: -   C: 2 1"
    assert lines[-1] == "HANOI solved in 8 actions, 12,000 simulations"


def test_search_without_a_solution_has_its_own_exit_code(run):
    outcome = run("search", "sorting", "BUBBLESORT", "5 3 9 1", "--simulations", 1)
    assert outcome.code == 1
    assert "BUBBLESORT not solved (" in outcome.out


def test_search_in_the_example(run):
    outcome = run("search", LIGHTS, "ALL_ON", "0110")
    assert outcome.code == 0
    assert "ALL_ON solved in 4 actions" in outcome.out


def test_bench_search_as_json(run, monkeypatch):
    chosen = [case for case in bench.search_cases() if case.case in ("sorting/RSHIFT", "recursive-sorting/COMPSWAP")]
    monkeypatch.setattr(bench, "search_cases", lambda: chosen)
    outcome = run("bench", "search", "--json", "--episodes", 2, "--oracle-seconds", 0)
    assert outcome.code == 0
    results = json.loads(outcome.out)
    assert [result["case"] for result in results] == ["sorting/RSHIFT", "recursive-sorting/COMPSWAP"]
    for result in results:
        assert result["engine_simulations_per_s"] > 0
        assert result["oracle_simulations_per_s"] > 0
        assert result["ratio"] == pytest.approx(
            result["engine_simulations_per_s"] / result["oracle_simulations_per_s"], rel=0.05
        )
        assert result["evaluations"] > 0
        assert result["evaluation_fraction_of_bare_forward"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("search", "--episodes", 0), "episodes 0"),
        (("search", "--oracle-seconds", -1), "oracle seconds -1"),
        (("search", "--oracle-seconds", "nan"), "oracle seconds nan"),
        (("train", "--iterations", 0), "iterations 0"),
        (("device", "--iterations", 0), "iterations 0"),
        (("device", "--units", "many"), "--units many: write numbers"),
        (("device", "--units", 0), "units 0"),
        (("scale", "--iterations", 0), "iterations 0"),
        (("scale", "--built-in", "two"), "--built-in two: write numbers"),
        (("scale", "--waiting", "1,-2"), "--waiting 1,-2: write numbers"),
        (("scale", "--waiting", "0"), "workers 0: give a whole number from 1 to 10,000"),
        (("device", "--device", "cuda:63"), "device 'cuda:63' cannot be used here; there is cpu"),
    ],
)
def test_bench_refuses_to_measure_nothing(run, arguments, message):
    outcome = run("bench", *arguments)
    assert outcome.code == 2
    assert message in outcome.err


# ---------------------------------------------------------------------------- help and processes


def test_help_of_every_command_is_quick():
    """Quick means: it imports neither torch nor numba."""
    assert ["bench", "search"] in command_names()
    code = textwrap.dedent(
        f"""
        import sys
        from alphanpi.cli import main
        for words in {command_names()!r}:
            try:
                main([*words, "--help"])
            except SystemExit as end:
                assert not end.code, words
        heavy = [name for name in ("torch", "numba") if name in sys.modules]
        assert not heavy, heavy
        """
    )
    process = in_new_process("-c", code)
    assert process.returncode == 0, process.stderr
    assert process.stdout.count("Usage: alphanpi") == len(command_names())


def test_the_installed_command():
    command = Path(sys.executable).with_name("alphanpi")
    process = subprocess.run([command, "check", "hannoi"], capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode == 2
    assert process.stdout == ""
    assert "did you mean hanoi" in process.stderr
    assert "Traceback" not in process.stderr
    process = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=120, check=False)
    assert (process.returncode, process.stdout.strip()) == (0, alphanpi.__version__)


def test_the_command_line_is_a_module_too():
    done = subprocess.run([sys.executable, "-m", "alphanpi", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == alphanpi.__version__
