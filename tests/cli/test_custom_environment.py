"""The walk of docs/custom_environment.md: check, train, evaluate, run and trace environments that are not built in."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from alphanpi.environment.skeleton import new_env
from alphanpi.errors import UsageError
from tests.helpers.commands import command
from tests.helpers.paths import DOCS, EXAMPLES, LIGHTS

PAGE = (DOCS / "custom_environment.md").read_text()


pytestmark = pytest.mark.usefixtures("forget_loaded_files")


@pytest.fixture
def run(run):
    """Runs a command that must succeed; what it printed."""

    def run_command(*arguments) -> str:
        outcome = run(*arguments)
        assert outcome.code == 0, outcome.err
        printed: str = outcome.out
        return printed

    return run_command


def rates(text: str) -> dict[tuple[int, str], float]:
    return {(score["size"], score["mode"]): score["rate"] for score in json.loads(text)}


def shown_after(command: str) -> str:
    """What the page shows below a command, without the indentation."""
    _, _, rest = PAGE.partition(f"    $ {command}\n")
    assert rest, f"the page does not show: {command}"
    lines = []
    for line in rest.splitlines():
        if not line.startswith("    ") or line.startswith("    $ "):
            break
        lines.append(line.removeprefix("    ") + "\n")
    return "".join(lines)


def calls(trace: str) -> list[str]:
    """The calls of a call tree; in which order a column's bits are flipped is up to the agent."""
    return [line for line in trace.splitlines() if "── ADD" in line]


def test_the_example_from_check_to_trace(run, tmp_path, monkeypatch):
    shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)  # so that commands and output are those of the page
    check = "check examples/adder.py:Adder"
    assert run(*check.split()) == shown_after(f"alphanpi {check}")
    assert "learned every program" in run("train", "examples/adder.py:Adder", "--seed", 0, "--out", "runs/adder")
    for program in ("ADD_COLUMN", "ADD"):
        measured = run(
            *("eval", "runs/adder", "--program", program, "--sizes", "10,100"),
            *("--episodes", 20, "--mode", "greedy", "--json"),
        )
        assert rates(measured) == {(10, "greedy"): 1.0, (100, "greedy"): 1.0}
    assert run("run", "runs/adder", "ADD", "1011+110") == shown_after("alphanpi run runs/adder ADD 1011+110")
    assert run("run", "runs/adder", "ADD", f"{2**200 - 1:b} + 1").strip() == f"{2**200:b}"
    trace = run("trace", "runs/adder", "ADD", "11+01")
    assert calls(trace) == calls(shown_after("alphanpi trace runs/adder ADD 11+01"))
    assert trace.splitlines()[-1].endswith(" actions: 100")


def test_the_page_shows_the_example_as_it_is():
    example = (EXAMPLES / "adder.py").read_text()
    assert len(example.splitlines()) <= 122
    quoted = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert quoted
    for part in quoted:
        assert part in example


def test_the_example_refuses_what_is_no_sum():
    outcome = command("search", EXAMPLES / "adder.py", "ADD", "12+1")
    assert outcome.code == 2
    assert "'12+1' is not a sum of two binary numbers; write for example 101+11" in outcome.err


def test_the_smaller_example_is_learned(run, tmp_path):
    run("train", LIGHTS, "--seed", 0, "--out", tmp_path / "run")
    measured = run("eval", tmp_path / "run", "--sizes", "10,100", "--mode", "greedy", "--json")
    assert set(rates(measured).values()) == {1.0}


def test_a_fresh_skeleton_from_check_to_trace(run, tmp_path):
    printed = run("new-env", "counting", "--folder", tmp_path)
    target = f"{tmp_path / 'counting.py'}:Counting"
    assert f"alphanpi check {target}" in printed
    assert f"alphanpi train {target}" in printed
    assert "no findings" in run("check", target)
    trained = tmp_path / "run"
    run("train", target, "--seed", 0, "--out", trained)
    measured = rates(run("eval", trained, "--episodes", 10, "--json"))
    assert set(measured) == {(size, mode) for size in (10, 100) for mode in ("greedy", "planning")}
    assert set(measured.values()) == {1.0}
    assert run("run", trained, "WALK", 12) == "12 of 12\n"
    lines = run("trace", trained, "WALK", 1).splitlines()
    assert lines[0] == "WALK"
    assert lines[-1].startswith("WALK solved in ")
    # What was trained belongs to the file: without it, the agent cannot be loaded.
    (tmp_path / "counting.py").rename(tmp_path / "moved.py")
    assert command("run", trained, "WALK", 3).code == 2


@pytest.mark.parametrize("kind", ["list", "text", "tree", "grid", "number", "graph"])
def test_a_skeleton_of_every_kind_has_no_mistakes(run, tmp_path, kind):
    run("new-env", "my-problem", "--kind", kind, "--folder", tmp_path)
    said = run("check", f"{tmp_path / 'my_problem.py'}:MyProblem", "--samples", 10)
    assert "no findings" in said
    assert "note" not in said
    source = (tmp_path / "my_problem.py").read_text()
    assert source.startswith('"""My problem: ')
    assert "subproblem(" in source


def test_a_skeleton_with_named_parts_is_learned(run, tmp_path):
    run("new-env", "my-tree", "--kind", "tree", "--folder", tmp_path)
    run("train", tmp_path / "my_tree.py", "--seed", 0, "--out", tmp_path / "run")
    measured = run("eval", tmp_path / "run", "--sizes", "10,40", "--episodes", 10, "--mode", "greedy", "--json")
    assert set(rates(measured).values()) == {1.0}


def test_a_kind_that_is_not_there_is_refused(tmp_path):
    outcome = command("new-env", "my-tree", "--kind", "tres", "--folder", tmp_path)
    assert outcome.code == 2
    with pytest.raises(UsageError, match="no kind 'tres'; there are list, text, tree, grid, number, graph"):
        new_env("my-tree", tmp_path, kind="tres")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
