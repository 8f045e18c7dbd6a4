"""Looking into a search shows the search that was: the trees are the oracle's, and looking changes nothing."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from alphanpi import Request, Search, SearchConfig, UsageError, load, make
from alphanpi.bench import oracle
from alphanpi.engine.inspection import Decision, Inspector, TooLargeError, Turn, call_entry, inspect
from alphanpi.engine.scoring import level_terms
from alphanpi.reporting.searches import kept_nodes
from tests.helpers.searches import ENVIRONMENTS, random_config, random_evaluator, random_requests

CASES = 12


class RecordingOracle(oracle.Oracle):
    """Keeps its tree at every decision."""

    def __init__(self, *arguments, **options) -> None:
        super().__init__(*arguments, **options)
        self.decisions: list = []
        self.roots: list = []

    def policy(self, node):
        if self.roots and self.roots[-1] is node:
            self.decisions.pop()  # the call that was chosen failed; this is the decision again
        else:
            self.roots.append(node)
        self.decisions.append(self.frozen(node))
        return super().policy(node)

    def frozen(self, node):
        if node.legal is None:
            return (node.state, None)
        total = sum(len(values) for values in node.values.values())
        edges = []
        for action in node.legal:
            visits, q = len(node.values[action]), self.q(node.values[action])
            u = self.config.c_puct * node.priors[action] * math.sqrt(max(1, total)) / (1.0 + visits)
            level = self.level_term(action)
            child = self.frozen(node.children[action]) if action in node.children else None
            numbers = (visits, node.priors[action], q, u, level, q + u + level)
            edges.append((self.library.names[action], *numbers, action in node.failed, child))
        return (node.state, tuple(edges))


def nested(decision: Decision, number: int = 0):
    """A decision in the shape of the oracle's trees."""
    node = decision.nodes[number]
    if node.value is None:
        return (node.state, None)
    edges = []
    for edge in node.edges:
        child = None if edge.child is None else nested(decision, edge.child)
        numbers = (edge.visits, edge.prior, edge.q, edge.u, edge.level, edge.total)
        edges.append((edge.action, *numbers, edge.failed, child))
    return (node.state, tuple(edges))


def same_trace(one, other) -> bool:
    return all(
        np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs
        for name, mine, theirs in zip(one._fields, one, other, strict=True)
        if name != "nested_simulations"  # the engine remembers calls it has searched before
    )


@pytest.mark.parametrize(("name", "options"), ENVIRONMENTS, ids=str)
def test_trees_are_the_oracles_and_looking_changes_nothing(name, options):
    environment, compared = make(name, **options), 0
    for case in range(CASES):
        rng = np.random.default_rng((2, case))
        config, evaluator = random_config(rng), random_evaluator(environment, rng)
        for request in random_requests(environment, rng, 2, case):
            engine = Search(environment, evaluator, config)
            found = inspect(engine, request)
            assert same_trace(found.trace, Search(environment, evaluator, config).run([request])[0])
            literal = RecordingOracle(environment, evaluator, config, request.program, request.exploring, request.seed)
            try:
                literal.search(request.state)
            except oracle.TooDeepError:
                continue
            assert len(found.decisions) == len(found.trace.actions)
            for decision, expected in zip(found.decisions, literal.decisions, strict=False):
                assert nested(decision) == expected
                compared += 1
    assert compared >= 20


@pytest.fixture(scope="module")
def hanoi():
    return load("pretrained:hanoi")


@pytest.mark.parametrize("simulations", [1, 5, 300])
def test_numbers_of_a_decision_fit_together(hanoi, simulations):
    config = hanoi.card.search.model_copy(update={"simulations_exploitation": simulations})
    engine = Search(hanoi.environment, hanoi.evaluator, config)
    found = inspect(engine, Request("HANOI", hanoi.parse("HANOI", "3")))
    names, level = hanoi.environment.library.names, level_terms(hanoi.environment.library, config.c_level)
    assert found.trace.success
    inherited = 0
    for decision, visits, taken in zip(found.decisions, found.trace.visits, found.trace.actions, strict=True):
        root = decision.root
        assert [edge.visits for edge in root.edges] == [visits[names.index(edge.action)] for edge in root.edges]
        assert root.visits == sum(edge.visits for edge in root.edges)
        # A simulation adds one visit, except the one that evaluates the root.
        assert root.visits == inherited + simulations - (inherited == 0)
        assert decision.choice == decision.taken == names[taken]
        best = max(root.edges, key=lambda edge: (edge.visits, edge.prior))
        assert best.action == decision.choice
        assert math.isclose(sum(edge.prior for edge in root.edges), 1.0)
        for node in decision.nodes:
            for edge in node.edges:
                assert edge.total == edge.q + edge.u + edge.level
                own = level[0, names.index(edge.action)]
                assert math.isclose(edge.level, own)
                if edge.child is not None:
                    assert edge.child > 0
        inherited = _visits_behind(decision)
    assert {decision.step for decision in found.decisions} == set(range(len(found.trace.actions)))


def _visits_behind(decision: Decision) -> int:
    edge = next(edge for edge in decision.root.edges if edge.action == decision.taken)
    return 0 if edge.child is None else decision.nodes[edge.child].visits


def test_a_search_can_be_led_another_way(hanoi):
    start = hanoi.parse("HANOI", "2")
    engine = hanoi.planner()
    own = inspect(engine, Request("HANOI", start)).decisions[0].choice
    other = next(name for name in ("SWAP_S_A", "MOVE_DISK") if name != own)
    after = hanoi.environment.act(start, other)
    led = Inspector(engine, Request("HANOI", start), [Turn(start, other), Turn(after, "SWAP_S_A")])
    assert led.advance()
    assert led.advance()
    assert not led.advance()
    assert (led.decisions[0].choice, led.decisions[0].taken) == (own, other)
    assert led.decisions[1].root.state == after
    assert led.reason == ""
    # What is not legal cannot be followed, and that is said.
    one = hanoi.parse("HANOI", "1")
    lost = Inspector(engine, Request("HANOI", one), [Turn(one, "SWAP_S_A"), Turn(one, "STOP")])
    assert not lost.advance()
    assert lost.decisions == {}
    assert lost.reason == "the search may not do SWAP_S_A where the run did"
    assert inspect(engine, Request("HANOI", start)).trace.success


def test_a_led_search_stands_where_the_run_stood_whatever_its_calls_do(hanoi):
    """The run says that an action led where it never leads in the search: the search goes on from there."""
    start = hanoi.parse("HANOI", "3")
    elsewhere = hanoi.environment.act(start, "SWAP_S_A")
    run = [Turn(start, "SWAP_A_T"), Turn(elsewhere, "SWAP_S_A"), Turn(start, "STOP")]
    assert hanoi.environment.act(start, "SWAP_A_T") != elsewhere
    led = Inspector(hanoi.planner(), Request("HANOI", start), run)
    while led.advance():
        pass
    assert [(led.decisions[step].root.state, led.decisions[step].taken) for step in range(3)] == run


def test_several_inspections_are_under_way_at_a_time(hanoi):
    engine, starts = hanoi.planner(), [hanoi.parse("HANOI", disks) for disks in ("2", "3", "4")]
    alone = [inspect(hanoi.planner(), Request("HANOI", start)).decisions for start in starts]
    together = [Inspector(engine, Request("HANOI", start)) for start in starts]
    for _ in range(12):
        for one in together:
            one.advance()
    assert [tuple(one.decisions.values()) for one in together] == alone


def test_a_program_may_think_longer_than_those_it_calls(hanoi):
    config = hanoi.card.search.model_copy(update={"simulations_exploitation": 1})
    engine = Search(hanoi.environment, hanoi.evaluator, config)
    found = inspect(engine, Request("HANOI", hanoi.parse("HANOI", "4")), simulations=50)
    inherited = 0
    for decision in found.decisions:
        assert decision.root.visits == inherited + 50 - (inherited == 0)
        inherited = _visits_behind(decision)
    assert found.trace.nested_simulations < found.trace.simulations


def test_few_nodes_are_kept_and_all_are_counted(hanoi):
    config = hanoi.card.search.model_copy(update={"simulations_exploitation": 200})
    engine = Search(hanoi.environment, hanoi.evaluator, config)
    request = Request("HANOI", hanoi.parse("HANOI", "4"))
    for whole, few in zip(
        inspect(engine, request).decisions, inspect(engine, request, most_nodes=9).decisions, strict=True
    ):
        assert len(few.nodes) == min(9, len(kept_nodes(whole, 10**6)))
        assert few.size == whole.size == len(whole.nodes)
        kept = kept_nodes(whole, 9)
        assert [node.state for node in few.nodes] == [whole.nodes[number].state for number in kept]
        assert kept_nodes(few, 5) == [kept.index(number) for number in kept_nodes(whole, 5)]


def test_the_kernel_comes_back_to_look_at_the_clock(hanoi):
    """A search that asks for nothing new for long: all it needs is known already."""
    config = hanoi.card.search
    config = config.model_copy(update={"simulations_exploitation": 10**8, "max_nodes": 10**7})
    engine = Search(hanoi.environment, hanoi.evaluator, config)
    began = time.monotonic()
    with pytest.raises(TooLargeError, match="the time is up"):
        inspect(engine, Request("HANOI", hanoi.parse("HANOI", "1")), seconds=0.5)
    assert time.monotonic() - began < 5


def test_only_the_steps_asked_for_are_kept(hanoi):
    found = inspect(hanoi.planner(), Request("HANOI", hanoi.parse("HANOI", "3")), steps=[2, 99])
    assert [decision.step for decision in found.decisions] == [2]


def test_a_search_that_is_too_large_says_so_and_leaves_the_engine_usable(hanoi):
    config = hanoi.card.search.model_copy(update={"simulations_exploitation": 50, "max_states": 200})
    engine = Search(hanoi.environment, hanoi.evaluator, config)
    with pytest.raises(TooLargeError, match="too many states; use fewer simulations"):
        inspect(engine, Request("HANOI", hanoi.parse("HANOI", "8")))
    with pytest.raises(TooLargeError, match="time is up"):
        inspect(hanoi.planner(), Request("HANOI", hanoi.parse("HANOI", "6")), seconds=0)
    assert inspect(hanoi.planner(), Request("HANOI", hanoi.parse("HANOI", "2"))).trace.success


def test_where_a_call_begins(hanoi):
    start = hanoi.parse("HANOI", "3")
    assert call_entry(hanoi.planner(), "HANOI", start, "HANOI").disks == 2
    with pytest.raises(UsageError, match="MOVE_DISK is an atomic action"):
        call_entry(hanoi.planner(), "HANOI", start, "MOVE_DISK")


def test_no_history_is_evaluated_twice(hanoi):
    engine = Search(hanoi.environment, hanoi.evaluator, SearchConfig(simulations=40))
    three, four = (Request("HANOI", hanoi.parse("HANOI", disks), exploring=True) for disks in ("3", "4"))
    engine.run([three])
    engine.world.forget_calls()
    inspect(engine, three)
    inspect(engine, four)
    histories = engine.histories
    extended = histories._keys[histories.programs : histories.count]
    assert len(np.unique(extended)) == len(extended)
