"""What a newcomer types: names in any case, no input at all, an environment in place of an agent."""

from __future__ import annotations

import json
import re

import pytest

import alphanpi
from alphanpi.cli import app
from tests.helpers.commands import assert_one_line
from tests.helpers.countdown import COUNTDOWN
from tests.helpers.paths import LIGHTS
from tests.helpers.runs import SORTING


@pytest.fixture
def unread(rewritten, tmp_path):
    """An agent that knows nothing, of an environment that cannot read what users type."""
    path = rewritten("")
    path.write_text(path.read_text().split("    def parse")[0])
    assert COUNTDOWN.count("def parse") == 1
    return "--env", path, tmp_path


@pytest.mark.parametrize("name", ["hanoi", "Hanoi", "HANOI"])
def test_names_are_taken_in_any_case(run, name):
    expected = run("run", "pretrained:hanoi", "HANOI", 2)
    assert run("run", f"Pretrained:{name}", name, 2) == expected
    assert alphanpi.run(f"pretrained:{name}", name, "2").result + "\n" == expected.out
    assert alphanpi.load("pretrained:hanoi").run(name, "2") + "\n" == expected.out
    assert run("check", name, "--samples", 2).code == 0
    [score] = alphanpi.evaluate("pretrained:hanoi", name, [2], episodes=1, mode="greedy")
    assert score.program == "HANOI"
    assert alphanpi.preset("default", name) == alphanpi.preset("default", "hanoi")


@pytest.mark.parametrize(
    ("words", "result"),
    [
        (["5 3 9 1"], "1 3 5 9"),
        (["5", "3", "9", "1"], "1 3 5 9"),
        (["-5 3"], "-5 3"),
        (["3", "-5"], "-5 3"),
        (["-5", "3", "-5"], "-5 -5 3"),
        (["--", "-5 3"], "-5 3"),
        (["--mode", "greedy", "3", "-5", "--device", "cpu"], "-5 3"),
    ],
)
def test_inputs_of_several_words_and_negative_numbers(run, words, result):
    assert run("run", SORTING, "bubblesort", *words) == (0, f"{result}\n", "")


def test_what_looks_like_an_option_is_not_taken_for_an_input(run):
    assert_one_line(run("run", SORTING, "BUBBLESORT", "--sise", 4), "Unknown option: --sise", "Did you mean --size?")
    assert_one_line(run("run", SORTING, "BUBBLESORT", "-x"), "An input that begins with - comes after --, at the end")
    assert_one_line(run("run", SORTING, "BUBBLESORT", "--", "-x"), "'-x' is not a list of integers")
    assert_one_line(run("run", SORTING, "BUBBLESORT", "3 1", "--size", 4), "give an input, or a size and a seed")


def test_run_as_json(run):
    outcome = run("run", SORTING, "BUBBLESORT", "3", "1", "--json")
    answer = json.loads(outcome.out)
    assert answer.pop("seconds") >= 0
    assert answer == {
        **{"program": "BUBBLESORT", "instance": "3 1", "result": "1 3", "success": True, "mode": "greedy"},
        **{"size": None, "seed": None},
    }
    drawn = json.loads(run("run", SORTING, "--size", 6, "--seed", 2, "--json").out)
    assert (drawn["size"], drawn["seed"], drawn["success"]) == (6, 2, True)
    assert sorted(map(int, re.findall(r"-?\d+", drawn["instance"])))[:6]


def test_an_example_is_taken_or_drawn_and_named(run, tmp_path):
    outcome = run("run", "pretrained:hanoi")
    assert outcome.err == "HANOI on 4 (an example)\n"
    assert outcome.out == run("run", "pretrained:hanoi", "HANOI", 4).out
    outcome = run("trace", SORTING, "--size", 3, "--json")
    assert outcome.err.startswith("BUBBLESORT on ")
    assert outcome.err.endswith(" (drawn: size 3, seed 0)\n")
    record = json.loads(outcome.out)
    assert (record["program"], record["size"], record["seed"]) == ("BUBBLESORT", 3, 0)
    assert record["input"] == record["steps"][0]["state"]
    assert alphanpi.trace(SORTING, size=3).final == alphanpi.trace(SORTING, "bubblesort", size=3, seed=0).final
    assert (
        run("tree", "pretrained:hanoi", "--size", 2, "--simulations", 5).err
        == run("run", "pretrained:hanoi", "--size", 2).err
    )
    drawn = alphanpi.load("pretrained:hanoi").problem(size=2)
    assert alphanpi.tree("pretrained:hanoi", size=2, simulations=5).root.state == drawn.state
    outcome = run("render", SORTING, "--seed", 3, "-o", tmp_path / "x.svg")
    assert outcome.code == 0
    assert "seed 3" in outcome.err
    assert (tmp_path / "x.svg").read_text().count("<title>BUBBLESORT on ") == 1
    outcome = run("search", LIGHTS, "--size", 2, "--simulations", 200)
    assert outcome.code == 0
    assert "drawn: size 2, seed 0" in outcome.err


def test_an_environment_that_reads_nothing_has_its_page_at_once(run, unread):
    *environment, folder = unread
    page = folder / "page.json"
    options = ("--json", "--simulations", 3, "--seconds", 0, "--verify-seconds", 0)
    outcome = run("report", folder, *environment, "-o", page, *options)
    assert outcome.code == 0
    assert "running EMPTY on 3 (drawn: size 3, seed 0)" in outcome.err
    record = json.loads(page.read_text())
    assert (record["execution"]["program"], record["execution"]["input"]) == ("EMPTY", "3")
    outcome = run("report", folder, *environment, "-o", page, "--size", 2, "--seed", 5, *options)
    assert "running EMPTY on 2 (drawn: size 2, seed 5)" in outcome.err
    assert run("tree", folder, *environment, "--simulations", 3).code == 0
    assert run("trace", folder, *environment, "--size", 1).code in (0, 1)
    outcome = run("run", folder, "EMPTY", 3, *environment)
    assert_one_line(outcome, "Countdown cannot read instances: leave the input out, and one is drawn (--size, --seed)")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("hanoi", "there is no such run; did you mean pretrained:hanoi?"),
        ("Sorting", "did you mean pretrained:sorting?"),
        ("flat-sorting", "it is an environment: `alphanpi train flat-sorting` makes a run"),
        ("pretrained:hanio", "no pretrained agent 'hanio'; did you mean pretrained:hanoi?"),
        ("runs/nothing", "give a run directory or pretrained:NAME; `alphanpi agents` lists those"),
    ],
)
def test_an_environment_in_place_of_an_agent_is_answered_with_the_agent(run, tmp_path, monkeypatch, name, advice):
    monkeypatch.chdir(tmp_path)
    assert_one_line(run("run", name, "HANOI", 3), advice)
    assert_one_line(run("report", name), advice)


def test_the_agents_that_come_with_the_package_are_listed(run):
    found = alphanpi.agents()
    assert [one.name for one in found] == [
        f"pretrained:{name}" for name in ("hanoi", "recursive-sorting", "recursive-sorting-compare", "sorting")
    ]
    hanoi = found[0]
    assert (hanoi.environment, hanoi.programs, hanoi.verdict) == ("hanoi", ("HANOI",), "PROVED")
    assert hanoi.success == "100% without search at sizes 2, 5, 10, 12, 15; 100% with search at sizes 2, 5, 10, 12"
    outcome = run("agents")
    assert (outcome.code, outcome.err) == (0, "")
    for one in found:
        assert f"{one.name}  {one.summary}" in outcome.out
        assert one.example in outcome.out
    assert "(observation: compare)" in outcome.out
    listed = json.loads(run("agents", "--json").out)
    assert [one["name"] for one in listed] == [one.name for one in found]
    assert listed[0]["scores"][0]["size"] == 2
    for line in outcome.out.splitlines():
        if line.startswith("      alphanpi run pretrained:hanoi"):
            assert run(*line.split()[1:]).code == 0


def test_help_has_examples_and_the_order_of_the_work(run):
    text = run("--help").out
    order = ["new-env", "envs", "check", "search", "train", "resume", "config", "agents", "eval", "run", "trace"]
    order += ["report", "tree", "render", "verify", "export", "bench"]
    places = [text.index(f"\n│ {name} ") for name in order]
    assert places == sorted(places)
    assert text.index("Other") > places[-1]
    assert "\n  alphanpi run pretrained:hanoi HANOI 3 " in text
    assert max(map(len, text.splitlines())) <= 80
    commands = [name for name in app if not name.startswith("-") and name not in ("bench", "envs", "agents")]
    for name in commands:
        assert re.search(rf"Examples:\n\n  alphanpi {name} ", run(name, "--help").out), name
