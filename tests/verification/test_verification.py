"""Verification: contracts, unknown values, and the controls: programs whose verdict is known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.environment.specification import STOP
from alphanpi.environment.unknown import Choices, Order
from alphanpi.environments import recursive_sorting_lemma as lists_lemma
from alphanpi.environments.hanoi import Hanoi, Towers
from alphanpi.environments.lists import PointedList
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.environments.sorting import Sorting
from alphanpi.network.decisions import Decisions
from alphanpi.symbolic import is_sorted
from alphanpi.verification.exploration import Explorer
from alphanpi.verification.numerics import Numerics
from alphanpi.verification.verdicts import NONE, Kind, Verdict
from alphanpi.verification.verifier import Verifier
from tests.helpers.instances import ENVIRONMENTS, HANOI, LISTS, ROLES, every, some, sublists, towers
from tests.helpers.networks import ConstantNetwork, HashNetwork
from tests.helpers.solutions import SOLUTIONS, ScriptedEvaluator, one_element, recursive_bubblesort
from tests.helpers.verdicts import COMPARE, ends_at_the_end, explore_evaluator, there, verdicts

# ---------------------------------------------------------------------------- contracts


def neighbours(state):
    """All states of the same problem, whatever their values, pointers, disks and roles."""
    if isinstance(state, Towers):
        for position in product(range(3), repeat=len(state.position)):
            for roles in ROLES:
                yield state._replace(position=position, roles=roles)
        return
    places = range(state.start, state.end + 1)
    for values in product(set(state.values), repeat=len(state.values)):
        for p1, p2 in product(places, places):
            yield state._replace(values=values, p1=p1, p2=p2)


@every(ENVIRONMENTS)
@settings(some, max_examples=15)
@given(data=st.data())
def test_outcomes_are_exactly_the_states_the_post_condition_allows(environment, data):
    state = data.draw(towers(largest=3) if isinstance(environment, Hanoi) else sublists(largest=3))
    for entry in environment.library.learned:
        if environment.pre(entry.name, state):
            outcomes = list(environment.outcomes(entry.name, state))
            assert len(set(outcomes)) == len(outcomes)
            assert set(outcomes) == {after for after in neighbours(state) if environment.post(entry.name, state, after)}


@every(LISTS)
@settings(some, max_examples=15)
@given(data=st.data())
def test_every_start_is_one_of_those_enumerated_up_to_the_order_of_values(environment, data):
    """Also a sub-list in a larger list, moved to the front."""
    state = data.draw(sublists(largest=4))
    ranks = {value: rank for rank, value in enumerate(sorted(set(state.current())))}
    values = tuple(ranks[value] for value in state.current())
    alone = PointedList(values, state.p1 - state.start, state.p2 - state.start, 0, environment.size(state) - 1)
    for entry in environment.library.learned:
        if environment.pre(entry.name, state):
            pairs = {known[1:] for known in environment.enumerate(entry.name, environment.size(state))}
            assert alone[1:] in pairs
            if environment.observation == "compare":
                assert alone in set(environment.enumerate(entry.name, environment.size(state)))
                assert alone in set(environment.templates(entry.name, environment.size(state), values))


# ---------------------------------------------------------------------------- unknown values


def test_sorting_unknown_values_meets_every_permutation_once():
    seen = []
    choices: Choices | None = Choices()
    while choices is not None:
        order = Order(4)
        order.begin(choices)
        seen.append(tuple(map(repr, sorted(order.values))))
        choices = choices.following()
    assert len(seen) == len(set(seen)) == 24


@some
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8), st.randoms())
def test_answers_about_unknown_values_are_those_of_some_integers(questions, random):
    choices = Choices(tuple(random.randrange(2) for _ in range(2 * len(questions))))
    order = Order(4)
    order.begin(choices)
    answers = [(order.values[i] < order.values[j], order.values[i] == order.values[j]) for i, j in questions]
    numbers = order.example()
    assert [(numbers[i] < numbers[j], numbers[i] == numbers[j]) for i, j in questions] == answers


class Enumerated(RecursiveSorting):
    """The same environment, every list written out."""

    def templates(self, program, size, values):
        raise NotImplementedError


@pytest.mark.parametrize("seed", range(12))
def test_unknown_values_show_what_all_lists_show(seed):
    """Same sequences, same outcomes, same verdict on every program, for a network that does anything."""
    seen = []
    for environment in (RecursiveSorting("compare"), Enumerated("compare")):
        decisions = Decisions(environment.library, HashNetwork(len(environment.library), seed))
        explorer = Explorer(environment, decisions)
        explorer.contracts.invariants["BUBBLESORT"] = {
            environment.relative("BUBBLESORT", state) for state in environment.outcomes("BUBBLESORT", START)
        }
        rows = []
        for entry in environment.library.learned:
            for size in range(entry.minimum_size, 5):
                explored = explorer.explore(entry, size, lambda callee, size: True)
                written = {
                    tuple((decisions.table.histories[history].observation, mask) for history, mask in sequence)
                    for sequence in explored.sequences
                }
                found = explored.counter_example
                rows.append((entry.name, size, written, explored.views, None if found is None else len(found.steps)))
        seen.append(rows)
    assert seen[0] == seen[1]


START = PointedList((0, 1, 2), 0, 0, 0, 2)


# ---------------------------------------------------------------------------- controls


@pytest.fixture(scope="module")
def scripted():
    return explore_evaluator(COMPARE, ScriptedEvaluator(COMPARE))


def test_the_hand_written_solutions_are_proved(scripted):
    assert explore_evaluator(HANOI, ScriptedEvaluator(HANOI)).proved
    assert scripted.proved
    counts = {record.name: record.sequences for record in scripted.programs}
    assert counts == {"RSHIFT": 104, "LSHIFT": 104, "COMPSWAP": 16, "RESET": 80, "BUBBLE": 7, "BUBBLESORT": 2}
    assert scripted.programs[-1].invariant == [
        "both pointers at the start",
        "both pointers on the only element",
    ]


class Mutant(ScriptedEvaluator):
    """The hand-written solution with one decision changed, after one history."""

    def __init__(self, environment, name, history, instead):
        super().__init__(environment)
        self.changed = name, history, instead

    def action(self, program, history):
        name, changed, instead = self.changed
        if (program, history) == (name, changed):
            return instead
        return super().action(program, history) or STOP  # also where the solution has stopped by then


def decisions_of(environment):
    """Every decision of the hand-written solution up to size 5, changed to every other legal action."""
    verifier = Verifier(environment, ScriptedEvaluator(environment), max_size=5)  # larger ones bring hardly any more
    verifier.verify()
    decisions, names = verifier.explorer.decisions, environment.library.names
    for (history, mask), decision in decisions.decided.items():
        observations: list[tuple[int, ...]] = []
        at = history
        while at >= 0:
            observations.insert(0, decisions.table.histories[at].observation)
            at = decisions.table.contexts[decisions.table.histories[at].before].history
        name = environment.library.learned[decisions.table.program(history)].name
        for other, legal in enumerate(mask):
            if legal and other != decision.action:
                yield name, tuple(observations), names[other]


def mutants():
    hanoi, sorting = list(decisions_of(HANOI)), list(decisions_of(COMPARE))
    assert len(hanoi) >= 20
    chosen = {name: [item for item in sorting if item[0] == name] for name in SOLUTIONS["RecursiveSorting"]}
    picked = [item for items in chosen.values() for item in items[:: -(-len(items) // 3)]]
    assert len(picked) >= 16
    return [(HANOI, *item) for item in hanoi] + [(COMPARE, *item) for item in picked]


def test_mutants_are_refuted_or_equivalent():
    refuted = 0
    for environment, name, history, instead in mutants():
        evaluator = Mutant(environment, name, history, instead)
        if explore_evaluator(environment, evaluator, max_size=5).verdict == "REFUTED":  # most are, and soon
            refuted += 1
            continue
        certificate = explore_evaluator(environment, evaluator)
        if certificate.verdict == "REFUTED":
            refuted += 1
            continue
        if not certificate.proved:  # right, but with the pointers apart, where the lemma for BUBBLESORT says nothing
            assert (name, certificate.verdict) == ("BUBBLESORT", "SATURATED"), (name, history, instead)
            assert "a condition of the lemma fails" in certificate.programs[-1].reasons[0]
        for size in (6, 9):
            rng = np.random.default_rng(size)
            calls = [Call(name, environment.initial(name, size, rng)) for _ in range(20)]
            assert all(execution.success for execution in Interpreter(environment, evaluator).run(calls))
    assert refuted >= 30


def test_a_counter_example_really_fails():
    def stops_early(see, size):
        if not one_element(see):
            yield "BUBBLE"
        yield STOP

    solutions = {**SOLUTIONS["RecursiveSorting"], "BUBBLESORT": stops_early}
    verifier = Verifier(COMPARE, ScriptedEvaluator(COMPARE, solutions), max_size=5)
    shown = verifier.verify().programs[-1]
    assert shown.verdict == Verdict(Kind.REFUTED, 3)  # one pass sorts two elements
    found = there(shown.counter_example)
    assert found.violation.rule == "post"
    assert [action for _, action in found.steps] == ["BUBBLE", "STOP"]
    assert not is_sorted(found.final.values)
    (execution,) = Interpreter(COMPARE, verifier.evaluator).run([Call("BUBBLESORT", found.start)])
    assert not execution.success


def test_programs_above_a_refuted_one_are_bounded():
    def no_shift(see, size):
        yield STOP

    certificate = explore_evaluator(
        COMPARE, ScriptedEvaluator(COMPARE, {**SOLUTIONS["RecursiveSorting"], "LSHIFT": no_shift})
    )
    assert certificate.verdict == "REFUTED"
    assert verdicts(certificate) == {
        "RSHIFT": "PROVED",
        "LSHIFT": "REFUTED",
        "COMPSWAP": "PROVED",
        "RESET": "BOUNDED",
        "BUBBLE": "PROVED",
        "BUBBLESORT": "BOUNDED",
    }
    reset, sort = certificate.programs[3], certificate.programs[5]
    assert reset.to_size == NONE
    assert sort.to_size == 1  # on a single element nothing is called
    assert "where its contract has not been shown" in reset.reasons[0]


def helpless_elsewhere(see, size):
    """Goes wrong wherever the inner call does not leave the pointers at the start, which it always does."""
    if not one_element(see):
        yield "BUBBLE"
        yield "RESET"
        see = yield "BUBBLESORT"
        if not (see.p1_at_start and see.p2_at_start):
            yield "COMPSWAP" if see.same_position else "SWAP"
    yield STOP


@pytest.mark.parametrize(("solution", "place"), [(ends_at_the_end, "at the end"), (helpless_elsewhere, "at the start")])
def test_the_invariant_is_the_agents_own(solution, place):
    solutions = {**SOLUTIONS["RecursiveSorting"], "BUBBLESORT": solution}
    certificate = explore_evaluator(COMPARE, ScriptedEvaluator(COMPARE, solutions))
    assert certificate.proved, certificate.programs[-1].reasons
    assert f"both pointers {place}" in certificate.programs[-1].invariant
    assert len(certificate.programs[-1].invariant) == 2


def test_pointers_apart_meet_no_condition_of_the_lemma():
    def looks_first(see, size):
        if not one_element(see):
            yield "PTR_2_R"
        yield from recursive_bubblesort(see, size)

    solutions = {**SOLUTIONS["RecursiveSorting"], "BUBBLESORT": looks_first}
    certificate = explore_evaluator(COMPARE, ScriptedEvaluator(COMPARE, solutions))
    assert verdicts(certificate)["BUBBLESORT"] == "SATURATED"
    assert "a condition of the lemma fails" in certificate.programs[-1].reasons[0]
    assert [condition.holds for condition in there(certificate.lemma).conditions] == [False, True]


class Hypothetical(Sorting):
    """Iterative sorting with a lemma that promises everything."""

    def cutoff(self):
        names = [entry.name for entry in self.library.learned]
        return lists_lemma.CUTOFF._replace(
            sizes=dict.fromkeys(names, 6), conditions=(), examine=lambda environment, rng: None
        )


def test_an_iterative_program_does_not_get_past_bounded_even_with_a_lemma():
    environment = Hypothetical("compare")
    solutions = {**SOLUTIONS["Sorting"]}
    certificate = explore_evaluator(environment, ScriptedEvaluator(environment, solutions, size=99))
    found = verdicts(certificate)
    assert (found["COMPSWAP"], found["BUBBLE"], found["RESET"]) == ("PROVED", "BOUNDED", "BOUNDED")
    assert any("its sequences still changed at size 6" in reason for reason in certificate.programs[4].reasons)


@pytest.mark.parametrize("environment", [Sorting("compare"), RecursiveSorting("paper")], ids=["loops", "digits"])
def test_without_a_lemma_there_is_no_proof(environment):
    certificate = explore_evaluator(environment, ScriptedEvaluator(environment, size=2), max_size=2)
    assert set(verdicts(certificate).values()) == {"BOUNDED"}
    assert certificate.lemma is None
    assert all("no cut-off lemma" in record.reasons[-1] for record in certificate.programs)


def test_small_margins_prove_nothing():
    certificate = explore_evaluator(HANOI, ScriptedEvaluator(HANOI, weight=5e-4), max_size=4)
    assert certificate.claim == Verdict(Kind.SATURATED, 4, 2)
    assert "margins" in certificate.programs[0].reasons[0]


def test_a_network_that_is_not_a_number_is_refuted():
    certificate = explore_evaluator(HANOI, ConstantNetwork([np.nan] * len(HANOI.library)))
    assert certificate.verdict == "REFUTED"
    assert certificate.programs[0].numerics.smallest_margin is None  # no size was completed


class OddInBatches(ScriptedEvaluator):
    """Right alone; in a batch of several, some logits are not numbers."""

    def evaluate(self, programs, observations, memory):
        answer = super().evaluate(programs, observations, memory)
        if len(programs) > 1:
            answer.logits[-1, -1] = np.nan
        return answer


def test_a_deviation_that_is_not_a_number_does_not_vanish():
    certificate = explore_evaluator(HANOI, OddInBatches(HANOI))
    assert certificate.programs[0].numerics.batched_deviation == float("inf")
    assert not certificate.proved


def test_margins_must_exceed_the_tolerance():
    firm = Numerics(1e-3, 2e-3, 0.0, None, None, same_decisions=True)
    assert firm.firm
    assert not firm._replace(smallest_margin=1e-3).firm
    assert not firm._replace(batched_deviation=float("inf"), smallest_margin=None).firm
    assert not firm._replace(double_deviation=float("nan"), smallest_margin=None).firm
