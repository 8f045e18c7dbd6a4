"""The trees of a report are those of the steps they stand under, and are made within their time."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

import alphanpi
from alphanpi.agent.agent import Agent
from alphanpi.agent.interpreter import Interpreter
from alphanpi.agent.loading import describe
from alphanpi.engine.config import SearchConfig
from alphanpi.engine.inspection import Inspector
from alphanpi.environment.registry import make
from alphanpi.network.model import create_network
from alphanpi.reporting import following, report
from alphanpi.reporting.execution import watch
from alphanpi.reporting.measuring import CallStatistics, generalisation, observe_calls
from alphanpi.reporting.page_file import to_json
from alphanpi.reporting.searches import NO_ROOM, NODE_LIMITS, SearchCollector
from alphanpi.reporting.states import StateTable


def untrained(name: str, seed: int, **options: Any) -> Agent:
    """An agent that knows nothing."""
    environment = make(name, **options)
    network = create_network(environment, seed)
    return Agent(environment, network, describe(name, options, environment, network, SearchConfig(), seed))


def assert_trees_belong(agent: Agent, program: str, instance: str, simulations: int, **options: Any) -> int:
    """Every tree is of the state and the action it stands under, every other step has a reason; the number of trees."""
    watched = watch(agent, program, instance, 400)
    states = StateTable(agent.environment)
    collected = SearchCollector(agent, states, simulations).collect(watched, **options)
    names, trees = agent.environment.library.names, 0
    for step, site in zip(watched.execution.steps, watched.sites, strict=True):
        assert (site in collected.place) != (site in collected.reason)
        if site in collected.reason:
            assert collected.record.reasons[collected.reason[site]]
            continue
        search = collected.record.searches[collected.place[site]]
        [decision] = [one for one in search.decisions if one.step == site.step]
        assert names[search.program] == step.program
        assert names[decision.taken] == step.action
        assert decision.nodes[0][0] == states.number(step.state)
        assert decision.taken in [edge[0] for edge in decision.nodes[0][3]]
        trees += 1
    return trees


LISTS = ["2 1", "5 3 9 1", "5 3 8 1 9 2", "7 6 5 4 3 2 1", "3 3 1 2 2"]


@pytest.mark.parametrize("name", ["sorting", "recursive-sorting", "recursive-sorting-compare"])
@pytest.mark.parametrize("simulations", [3, 20])
def test_trees_of_sorting_are_of_their_steps(name, simulations):
    agent = alphanpi.load(f"pretrained:{name}")
    for instance in LISTS:
        assert assert_trees_belong(agent, "BUBBLESORT", instance, simulations, seconds=4) > 0


def test_trees_of_hanoi_are_of_their_steps():
    agent = alphanpi.load("pretrained:hanoi")
    for disks in range(1, 6):
        assert assert_trees_belong(agent, "HANOI", str(disks), 30, seconds=4) > 0


@pytest.mark.parametrize(("name", "options"), [("hanoi", {}), ("sorting", {}), ("recursive-sorting", {})])
def test_trees_of_agents_that_know_nothing_are_of_their_steps(name, options):
    found = 0
    for seed in range(6):
        agent = untrained(name, seed, **options)
        for program in agent.environment.library.learned:
            instance = "3" if name == "hanoi" else "3 1 2"
            found += assert_trees_belong(agent, program.name, instance, 8, seconds=3)
    assert found > 20


def test_a_tree_of_another_state_is_dropped_with_the_reason(monkeypatch):
    """The last check, whatever a search does."""
    honest = Inspector.advance

    def mistaken(self, deadline):
        going = honest(self, deadline)
        if going and 1 in self.decisions:
            self.decisions[1] = self.decisions[1]._replace(taken="STOP")
        return going

    monkeypatch.setattr(Inspector, "advance", mistaken)
    agent = alphanpi.load("pretrained:hanoi")
    watched = watch(agent, "HANOI", "2")
    collected = SearchCollector(agent, StateTable(agent.environment), 10).collect(watched)
    assert "the search stood elsewhere than the run" in collected.record.note
    wrong = [step.action for step, site in zip(watched.execution.steps, watched.sites, strict=True) if site.step == 1]
    missing = [site for site in watched.sites if site in collected.reason]
    assert {site.step for site in missing} == {1}
    assert len(missing) == sum(action != "STOP" for action in wrong)


def test_a_program_that_only_its_caller_may_call_has_no_tree_and_says_so():
    agent = alphanpi.load("pretrained:sorting")

    class Picky(type(agent.environment)):  # type: ignore[misc]
        def pre(self, program, state, caller=None):
            return super().pre(program, state, caller) and (caller is not None or program == "BUBBLESORT")

    agent.environment = Picky()
    agent.interpreter = Interpreter(agent.environment, agent.evaluator)
    watched = watch(agent, "BUBBLESORT", "2 1 3")
    collected = SearchCollector(agent, StateTable(agent.environment), 5).collect(watched)
    assert {site.call for site in collected.place} == {0}
    assert collected.record.reasons == ["its program may not be called here but by its caller"]


# ---------------------------------------------------------------------------- time and room

SIXTY = " ".join(map(str, random.Random(1).choices(range(10), k=60)))


def first_steps_with_trees(agent: Agent, program: str, instance: str, seconds: float) -> following.Followed:
    watched = watch(agent, program, instance, 60)
    following.follow(agent, watch(agent, program, instance, 1), 1, 6, 1.0)  # compiles
    began = time.monotonic()
    followed = following.follow(agent, watched, 100, NODE_LIMITS[0], seconds)
    assert time.monotonic() - began < seconds + 5
    assert set(watched.sites[:10]) <= followed.trees.keys()
    assert set(watched.sites) == followed.trees.keys() | followed.reasons.keys()
    return followed


@pytest.mark.parametrize(
    ("name", "program", "instance"),
    [("recursive-sorting-compare", "BUBBLESORT", SIXTY), ("sorting", "BUBBLESORT", SIXTY), ("hanoi", "HANOI", "12")],
    ids=["list", "loop", "hanoi"],
)
def test_the_first_steps_of_a_large_problem_have_trees_in_time(name, program, instance):
    followed = first_steps_with_trees(alphanpi.load(f"pretrained:{name}"), program, instance, 20.0)
    assert followed.effort.simulations == 100
    assert len(followed.search.world.states) <= 150_000


def test_a_search_that_takes_too_long_is_left_and_tried_with_less(monkeypatch):
    """Nothing but the smallest effort is quick enough."""
    honest, tried = Inspector.advance, []

    def slow(self, deadline):
        tried.append((self.search.config.simulations_exploitation, self._further))
        return honest(self, deadline if self._further < 20 else 0.0)

    monkeypatch.setattr(Inspector, "advance", slow)
    monkeypatch.setattr(Inspector, "__init__", _with_further(Inspector.__init__))
    agent = alphanpi.load("pretrained:hanoi")
    watched = watch(agent, "HANOI", "3")
    collected = SearchCollector(agent, StateTable(agent.environment), 50).collect(watched)
    assert (collected.record.simulations, collected.record.called_simulations) == (5, 1)
    assert "With 50 simulations throughout, the first steps take too long" in collected.record.note
    assert "here it is 5, and 1 in programs that are called" in collected.record.note
    assert len(collected.place) == len(set(watched.sites))


def _with_further(honest):
    def begin(self, *arguments, **options):
        honest(self, *arguments, **options)
        if self.search.config.simulations_exploitation > 20:
            self._further = 20

    return begin


def test_what_the_page_has_no_room_for_is_counted_and_the_first_steps_stay():
    agent = alphanpi.load("pretrained:hanoi")
    watched = watch(agent, "HANOI", "5")
    collected = SearchCollector(agent, StateTable(agent.environment), 20).collect(watched, most_bytes=40_000)
    kept = [site in collected.place for site in watched.sites]
    assert kept[0]
    assert not all(kept)
    assert NO_ROOM in collected.record.note
    assert f"{kept.count(False):,} of {len(kept):,} steps have no tree" in collected.record.note


def test_states_that_only_trees_show_are_not_drawn():
    record = report("pretrained:hanoi", instance="2", simulations=20, seconds=0, verify_seconds=0, export=False)
    played = {step.state for step in record.execution.steps} | {record.execution.final}
    assert all(record.states[number].scene is not None for number in played)
    others = set(range(len(record.states))) - played
    assert others
    assert all(record.states[number].scene is None for number in others)


# ---------------------------------------------------------------------------- the other stages


def test_measuring_holds_its_time_and_says_what_it_left_out():
    agent = alphanpi.load("pretrained:hanoi")
    generalisation(agent, "HANOI", None, 0.5, CallStatistics([], []))  # compiles
    began = time.monotonic()
    found = generalisation(agent, "HANOI", None, 0.3, CallStatistics([], []))
    assert time.monotonic() - began < 8
    assert "Left out for time: " in found.note
    assert found.note.endswith("15; `alphanpi eval --sizes` measures them.")
    measured = [score.size for score in found.scores]
    assert measured == sorted(measured)
    assert all(score.episodes == 20 and score.successes == 20 for score in found.scores)


def test_an_instance_of_very_many_actions_leaves_its_size_out(monkeypatch):
    monkeypatch.setattr("alphanpi.reporting.measuring._MOST_ACTIONS", 50)
    found = generalisation(alphanpi.load("pretrained:hanoi"), "HANOI", None, 60.0, CallStatistics([], []))
    assert {score.size for score in found.scores} == {2}
    assert "Left out for time: 5, 10, 12, 15;" in found.note


def test_a_run_that_is_cut_counts_no_call_as_failed(monkeypatch):
    monkeypatch.setattr("alphanpi.reporting.measuring._MOST_ACTIONS", 5)
    [reliability] = observe_calls(alphanpi.load("pretrained:hanoi"), "HANOI").reliability
    assert reliability.failures == 0


def test_a_run_with_large_pictures_is_shown_by_fewer_steps(monkeypatch):
    options: dict[str, Any] = {"instance": "5 3 8 1 9 2 7", "simulations": 2, "verify_seconds": 0, "export": False}
    whole = report("pretrained:recursive-sorting-compare", **options)
    sizes = [len(to_json(whole))]
    for most in (60_000, 30_000):
        monkeypatch.setattr("alphanpi.reporting.collecting._RUN_BYTES", most)
        monkeypatch.setattr("alphanpi.reporting.collecting._BYTES", 2 * most)
        record = report("pretrained:recursive-sorting-compare", **options)
        sizes.append(len(to_json(record)))
        assert 20 <= len(record.execution.steps) < len(whole.execution.steps)
        assert record.execution.note
        assert record.execution.steps[0].search is not None
    assert sizes == sorted(sizes, reverse=True)
