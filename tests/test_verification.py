"""Verification: contracts, unknown values, verdicts, lemmas; and the controls, programs whose verdict is known."""

from __future__ import annotations

import errno
import json
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import alphanpi
from alphanpi.cli import main
from alphanpi.engine.tables import Failure
from alphanpi.environments import recursive_sorting_lemma as lists_lemma
from alphanpi.environments.hanoi import Hanoi, Towers
from alphanpi.environments.lists import PointedList, is_sorted, order_patterns
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.environments.sorting import Sorting
from alphanpi.errors import SpecificationError, UsageError
from alphanpi.interpreter import Call, Execution, Interpreter
from alphanpi.learn.presets import override, preset
from alphanpi.learn.trainer import Trainer
from alphanpi.spec import STOP, Environment, action, program
from alphanpi.verification import verify_evaluator
from alphanpi.verification.certificate import ProgramRecord, digest
from alphanpi.verification.decisions import Decisions
from alphanpi.verification.exploration import Explorer, LimitError
from alphanpi.verification.numerics import Numerics
from alphanpi.verification.unknown import Choices, Order
from alphanpi.verification.verdicts import Kind, Verdict, overall
from alphanpi.verification.verifier import Verifier
from instances import ENVIRONMENTS, HANOI, LISTS, ROLES, every, some, sublists, towers
from networks import ConstantNetwork, HashNetwork
from solutions import SOLUTIONS, ScriptedEvaluator, one_element, recursive_bubblesort

COMPARE = RecursiveSorting("compare")


def there(value):
    assert value is not None
    return value


def verdicts(certificate):
    return {record.name: record.verdict for record in certificate.programs}


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


def test_unknown_values_can_do_nothing_but_be_compared():
    order = Order(2)
    first: Any
    first, second = order.values
    with pytest.raises(TypeError, match="before a run begins"):
        first < second  # noqa: B015 - the comparison is the test
    order.begin(Choices())
    assert hash(first) == hash(second)
    for wrong in (
        lambda: first < 1,
        lambda: first == 1,
        lambda: first + second,
        lambda: int(first),
        lambda: bool(first),
    ):
        with pytest.raises(TypeError):
            wrong()


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
                    tuple((decisions.histories[history].observation, mask) for history, mask in sequence)
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
    return verify_evaluator(COMPARE, ScriptedEvaluator(COMPARE))


def test_the_hand_written_solutions_are_proved(scripted):
    assert verify_evaluator(HANOI, ScriptedEvaluator(HANOI)).proved
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
    """Every decision of the hand-written solution, changed to every other legal action."""
    verifier = Verifier(environment, ScriptedEvaluator(environment))
    verifier.verify()
    decisions, names = verifier.explorer.decisions, environment.library.names
    for (history, mask), decision in decisions.decided.items():
        observations: list[tuple[int, ...]] = []
        at = history
        while at != -1:
            observations.insert(0, decisions.histories[at].observation)
            at = decisions.histories[at].parent
        name = environment.library.learned[decisions.histories[history].program].name
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
        certificate = verify_evaluator(environment, evaluator)
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
    verifier = Verifier(COMPARE, ScriptedEvaluator(COMPARE, solutions))
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

    certificate = verify_evaluator(
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
    assert reset.to_size == 0
    assert sort.to_size == 1  # on a single element nothing is called
    assert "where its contract has not been shown" in reset.reasons[0]


def ends_at_the_end(see, size):
    if not one_element(see):
        yield "BUBBLE"
        yield "RESET"
        yield "BUBBLESORT"
        yield "RSHIFT"
    yield STOP


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
    certificate = verify_evaluator(COMPARE, ScriptedEvaluator(COMPARE, solutions))
    assert certificate.proved, certificate.programs[-1].reasons
    assert f"both pointers {place}" in certificate.programs[-1].invariant
    assert len(certificate.programs[-1].invariant) == 2


def test_pointers_apart_meet_no_condition_of_the_lemma():
    def looks_first(see, size):
        if not one_element(see):
            yield "PTR_2_R"
        yield from recursive_bubblesort(see, size)

    solutions = {**SOLUTIONS["RecursiveSorting"], "BUBBLESORT": looks_first}
    certificate = verify_evaluator(COMPARE, ScriptedEvaluator(COMPARE, solutions))
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
    certificate = verify_evaluator(environment, ScriptedEvaluator(environment, solutions, size=99))
    found = verdicts(certificate)
    assert (found["COMPSWAP"], found["BUBBLE"], found["RESET"]) == ("PROVED", "BOUNDED", "BOUNDED")
    assert "its sequences still changed at size 6" in certificate.programs[4].reasons


@pytest.mark.parametrize("kind", [Sorting, RecursiveSorting])
def test_without_a_lemma_there_is_no_proof(kind):
    environment = kind("paper")
    certificate = verify_evaluator(environment, ScriptedEvaluator(environment, size=2), max_size=2)
    assert set(verdicts(certificate).values()) == {"BOUNDED"}
    assert certificate.lemma is None
    assert all("no cut-off lemma" in record.reasons[-1] for record in certificate.programs)


def test_small_margins_prove_nothing():
    certificate = verify_evaluator(HANOI, ScriptedEvaluator(HANOI, weight=5e-4))
    assert certificate.verdict == "SATURATED"
    assert "margins" in certificate.programs[0].reasons[0]


def test_a_network_that_is_not_a_number_is_refuted():
    certificate = verify_evaluator(HANOI, ConstantNetwork([np.nan] * len(HANOI.library)))
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
    certificate = verify_evaluator(HANOI, OddInBatches(HANOI))
    assert certificate.programs[0].numerics.batched_deviation == float("inf")
    assert not certificate.proved


def test_margins_must_exceed_the_tolerance():
    firm = Numerics(1e-3, 2e-3, 0.0, None, None, same_decisions=True)
    assert firm.firm
    assert not firm._replace(smallest_margin=1e-3).firm
    assert not firm._replace(batched_deviation=float("inf"), smallest_margin=None).firm
    assert not firm._replace(double_deviation=float("nan"), smallest_margin=None).firm


# ---------------------------------------------------------------------------- lemmas


@pytest.mark.parametrize("environment", [HANOI, COMPARE], ids=["hanoi", "lists"])
@settings(max_examples=400, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_lemmas_hold_on_random_larger_instances(environment, seed):
    assert environment.cutoff().examine(environment, np.random.default_rng(seed)) is None


def words(environment, size):
    """Every word of at most four calls that keep the pointers together, with every such outcome of inner calls."""
    verbs = lists_lemma._VERBS
    pending: list[tuple[str, tuple[int, ...], PointedList]] = [
        ("", (), PointedList(tuple(range(size)), 0, 0, 0, size - 1))
    ]
    while pending:
        word, choices, state = pending.pop()
        yield word, choices
        if len(word) == 4:
            continue
        for letter, name in verbs.items():
            if environment.pre(name, state, "BUBBLESORT"):
                together = [cell * (size - 1) + cell for cell in range(size - 1)]
                for choice in together if letter == "S" else (0,):
                    after = lists_lemma.applied(environment, "BUBBLESORT", state, name, choice)
                    pending.append((word + letter, (*choices, choice), after))


def test_the_sorting_words_are_all_there_are():
    """The case distinction of the proof for BUBBLESORT, by exhaustion on lists of five."""
    correct = set()
    for word, choices in words(COMPARE, 5):
        sorts = True
        for values in permutations(range(5)):
            if not sorts:
                break
            state = PointedList(values, 0, 0, 0, 4)
            for letter, choice in zip(word, choices, strict=True):
                state = lists_lemma.applied(COMPARE, "BUBBLESORT", state, lists_lemma._VERBS[letter], choice)
            sorts &= is_sorted(state.values)
        if sorts:
            correct.add(word)
    assert correct == set(lists_lemma.SORTING_WORDS)


@pytest.mark.parametrize(("name", "kept"), [("RSHIFT", 9), ("COMPSWAP", 9), ("RESET", 13)])
def test_no_walk_needs_more_cells_than_the_lemma_says(name, kept):
    rng = np.random.default_rng(0)
    most = 0
    for _ in range(1500):
        start = COMPARE.initial(name, 30, rng)
        walk = lists_lemma.random_walk(COMPARE, name, start, rng)
        most = max(most, 30 - len(lists_lemma.deletable_cells(name, walk)))
    assert most <= kept <= lists_lemma.CUTOFF.sizes[name]


def test_the_lemma_on_bubble_at_its_edge():
    """From 11 to 10 elements, all orders of few values, both starts, every walk by a call of itself."""
    rng = np.random.default_rng(1)
    called = 0
    for _ in range(1500):
        values = tuple(rng.integers(int(rng.integers(2, 7)), size=11).tolist())
        start = PointedList(values, 0, int(rng.integers(2)), 0, 10)
        walk = lists_lemma.random_walk(COMPARE, "BUBBLE", start, rng)
        called += "BUBBLE" in walk.actions
        cells = lists_lemma.deletable_cells("BUBBLE", walk)
        assert cells
        for cell in cells:
            assert lists_lemma.unlike(COMPARE, "BUBBLE", walk, cell) is None
    assert called > 100


@pytest.mark.parametrize("seed", range(4))
def test_an_agent_that_does_anything_meets_nothing_new_above_the_lemmas_sizes(seed):
    """The lemma's claim itself, with runs that violate their contracts included."""
    decisions = Decisions(COMPARE.library, HashNetwork(len(COMPARE.library), seed))
    explorer = Explorer(COMPARE, decisions)
    for entry in COMPARE.library.learned:
        largest = lists_lemma.CUTOFF.sizes[entry.name]
        if entry.name != "BUBBLESORT":
            at, above = (explorer.explore(entry, size, lambda callee, size: True) for size in (largest, largest + 1))
            assert above.sequences <= at.sequences
            assert (above.counter_example is None) or (at.counter_example is not None)


def leaking(kind, limit):
    """An environment whose observation says whether the problem is large; everything else as it was."""

    def create(self, *arguments):
        kind.__init__(self, *arguments)
        self.fields = (*self.fields, "large")

    def observe(self, state):
        return (*kind.observe(self, state), int(self.size(state) >= limit))

    lemma = kind().cutoff() or lists_lemma.CUTOFF
    members = {"__init__": create, "observe": observe, "cutoff": lambda self: lemma}
    return type(f"Leaking{kind.__name__}", (kind,), members)


@pytest.mark.parametrize(
    "environment", [leaking(Hanoi, 9)(), leaking(RecursiveSorting, 20)("compare")], ids=["hanoi", "lists"]
)
def test_a_lemma_that_does_not_fit_the_environment_is_caught(environment):
    certificate = verify_evaluator(
        environment, ScriptedEvaluator(environment, SOLUTIONS[type(environment).__name__.removeprefix("Leaking")])
    )
    assert certificate.verdict == "SATURATED"
    assert "differ" in there(certificate.lemma).fault
    assert "the lemma is wrong about this environment" in certificate.programs[0].reasons[0]


def test_subclasses_do_not_inherit_a_lemma():
    assert Enumerated("compare").cutoff() is None
    assert RecursiveSorting("paper").cutoff() is None
    assert type("Other", (Hanoi,), {})().cutoff() is None


# ---------------------------------------------------------------------------- verdicts


def test_a_verdict_is_as_strong_as_what_it_rests_on():
    proved, saturated = Verdict(Kind.PROVED, 13, 4), Verdict(Kind.SATURATED, 7, 6)
    assert proved.given(proved) == proved
    assert proved.given(saturated) == Verdict(Kind.SATURATED, 7, 4)
    assert proved.given(Verdict(Kind.BOUNDED, 3)) == Verdict(Kind.BOUNDED, 3)
    assert proved.given(Verdict(Kind.REFUTED, 3)) == Verdict(Kind.BOUNDED, 2)
    assert Verdict(Kind.REFUTED, 3).given(saturated) == Verdict(Kind.REFUTED, 3)
    assert overall([proved, Verdict(Kind.BOUNDED, 5), saturated]) == Verdict(Kind.BOUNDED, 5)
    assert overall([proved, Verdict(Kind.REFUTED, 4), Verdict(Kind.REFUTED, 3)]) == Verdict(Kind.REFUTED, 3)
    assert str(saturated) == "SATURATED(6..7)"


# ---------------------------------------------------------------------------- environments that lack something


class Countdown(Environment[int]):
    """Counts down; lacks what verification needs."""

    fields = ("zero",)

    @action(pre=lambda state: state > 0)
    def DOWN(self, state):
        return state - 1

    @program(
        level=1,
        depth=3,
        recursive=True,
        shrink=lambda state: state if state > 0 else None,
        restore=lambda caller, callee: callee,
    )
    def EMPTY(self, before, after):
        return after == 0

    def initial(self, program, size, rng):
        return size

    def observe(self, state):
        return (state == 0,)

    def size(self, state):
        return state


class WithStarts(Countdown):
    def enumerate(self, program, size):
        yield size


class Complete(WithStarts):
    def outcomes(self, program, before):
        yield 0


class TooMany(WithStarts):
    def outcomes(self, program, before):
        yield from (0, 1)


class TooFew(WithStarts):
    def outcomes(self, program, before):
        yield from ()


def down_then_itself(see, size):
    if not see.zero:
        see = yield "DOWN"
        if not see.zero:
            yield "EMPTY"
    yield STOP


def itself(see, size):
    if not see.zero:
        yield "EMPTY"
    yield STOP


@pytest.mark.parametrize(
    ("environment", "error", "message"),
    [
        (Countdown(), UsageError, r"Countdown cannot be verified: give it a method enumerate\(program, size\)"),
        (WithStarts(), UsageError, r"WithStarts cannot be verified: give it a method outcomes\(program, before\)"),
        (TooMany(), SpecificationError, "outcomes of EMPTY begun in 1 gives 1, where the post-condition is false"),
        (TooFew(), SpecificationError, "outcomes of EMPTY begun in 1 lacks 0, which the post-condition allows"),
    ],
    ids=["starts", "outcomes", "too many", "too few"],
)
def test_what_an_environment_lacks_is_named(environment, error, message):
    evaluator = ScriptedEvaluator(environment, {"EMPTY": down_then_itself})
    with pytest.raises(error, match=message):
        verify_evaluator(environment, evaluator, max_size=3)


def test_a_call_of_itself_must_make_the_measure_smaller():
    environment = Complete()
    certificate = verify_evaluator(environment, ScriptedEvaluator(environment, {"EMPTY": itself}), max_size=3)
    assert certificate.verdict == "REFUTED"
    assert there(certificate.programs[0].counter_example).rule == "measure"
    fine = verify_evaluator(environment, ScriptedEvaluator(environment, {"EMPTY": down_then_itself}), max_size=4)
    assert fine.claim == Verdict(Kind.SATURATED, 4, 2)


@pytest.mark.parametrize("cut_off", [Failure.ACTIONS, Failure.CALL_DEPTH])
def test_a_real_run_that_is_cut_off_refutes_nothing(monkeypatch, cut_off):
    def nothing(see, size):
        yield STOP

    def cut(self, calls, record=False, max_actions=None):
        return [Execution(False, cut_off, call.state, 1_000_000, call, ()) for call in calls]

    environment = Complete()
    evaluators = {body: ScriptedEvaluator(environment, {"EMPTY": body}) for body in (nothing, itself)}
    assert verify_evaluator(environment, evaluators[nothing], max_size=2).verdict == "REFUTED"
    monkeypatch.setattr(Interpreter, "run", cut)
    certificate = verify_evaluator(environment, evaluators[nothing], max_size=2)
    assert certificate.claim == Verdict(Kind.BOUNDED, 0)
    assert "a real run was cut off after 1,000,000 actions" in certificate.programs[0].reasons[0]
    endless = verify_evaluator(environment, evaluators[itself], max_size=2)
    assert endless.verdict == "REFUTED"


class Above(Complete):
    """With a program above one whose outcomes have views, and a lemma that promises everything."""

    @program(level=2, depth=3)
    def TWICE(self, before, after):
        return after == 0

    def relative(self, program, after):
        return "empty" if program == "EMPTY" else None

    def cutoff(self):
        return lists_lemma.CUTOFF._replace(
            sizes={"EMPTY": 4, "TWICE": 4}, conditions=(), examine=lambda environment, rng: None
        )


class AboveWithoutViews(Above):
    def relative(self, program, after):
        return None


def test_a_lemma_does_not_rest_on_the_invariant_of_another_program():
    def twice(see, size):
        yield "EMPTY"
        yield STOP

    found = {}
    for kind in (Above, AboveWithoutViews):
        environment = kind()
        evaluator = ScriptedEvaluator(environment, {"EMPTY": down_then_itself, "TWICE": twice})
        found[kind] = verify_evaluator(environment, evaluator)
    assert found[AboveWithoutViews].proved, found[AboveWithoutViews].programs
    assert verdicts(found[Above]) == {"EMPTY": "PROVED", "TWICE": "SATURATED"}
    assert "it calls EMPTY, which has an invariant" in found[Above].programs[1].reasons[0]


def test_a_size_cut_short_leaves_nothing_behind(monkeypatch):
    """Neither views nor runs explored again: what remains is what a verification up to there shows."""

    def wanders(see, size):
        if not one_element(see):
            yield "BUBBLE"
            yield "RESET"
            yield "BUBBLESORT"
            yield "RSHIFT"
        yield STOP

    def late(self, item, size, progress):
        advance(self, item, size, progress)
        if (item.program.name, size) == ("BUBBLESORT", 2):
            raise LimitError("the time limit was met")

    evaluator = ScriptedEvaluator(COMPARE, {**SOLUTIONS["RecursiveSorting"], "BUBBLESORT": wanders})
    advance = Verifier._advance
    monkeypatch.setattr(Verifier, "_advance", late)
    cut = Verifier(COMPARE, evaluator).verify()
    monkeypatch.undo()
    attempted = {shown.program.name: shown.attempted for shown in cut.programs}
    assert attempted == {"RSHIFT": 2, "LSHIFT": 2, "COMPSWAP": 2, "RESET": 2, "BUBBLE": 2, "BUBBLESORT": 1}
    again = Verifier(COMPARE, evaluator, limits=attempted).verify()
    assert cut.programs[-1].invariant == ("both pointers on the only element",)
    for one, other in zip(cut.programs, again.programs, strict=True):
        limit = f"the time limit was met at size {one.attempted + 1}"
        assert one.reasons == (limit, *other.reasons)
        # Numbers of histories differ, so sequences are compared by their count.
        assert [(explored.size, explored.runs, len(explored.sequences)) for explored in one.sizes] == [
            (explored.size, explored.runs, len(explored.sequences)) for explored in other.sizes
        ]
        assert one._replace(sizes=(), reasons=()) == other._replace(sizes=(), reasons=())


def test_the_time_limit_ends_in_bounded():
    environment = RecursiveSorting("paper")
    certificate = verify_evaluator(environment, ScriptedEvaluator(environment), max_size=6, time_limit=1.0)
    assert certificate.seconds < 10
    assert certificate.verdict == "BOUNDED"
    assert 1 <= certificate.to_size < 6
    assert any("the time limit was met" in reason for reason in certificate.programs[0].reasons)


def test_so_does_the_limit_on_memory(monkeypatch):
    monkeypatch.setattr("alphanpi.verification.exploration.MOST_HISTORIES", 100)
    certificate = verify_evaluator(COMPARE, ScriptedEvaluator(COMPARE))
    assert certificate.verdict == "BOUNDED"
    assert certificate.programs[0].reasons[0].startswith("more than 100 histories were met at size")


@pytest.mark.parametrize("wrong", [{"max_size": 0}, {"time_limit": 0.0}, {"time_limit": float("nan")}, {"max_size": 1}])
def test_limits_that_leave_nothing_are_refused(wrong):
    with pytest.raises(UsageError, match="give"):
        verify_evaluator(COMPARE, ScriptedEvaluator(COMPARE), **wrong)


# ---------------------------------------------------------------------------- pretrained agents, certificates


@pytest.fixture(scope="module")
def hanoi_agent():
    return alphanpi.load("pretrained:hanoi")


def test_the_pretrained_agents_are_proved(hanoi_agent):
    for run in (hanoi_agent, "pretrained:recursive-sorting-compare"):
        certificate = alphanpi.verify(run)
        assert certificate.proved
        for record in certificate.programs:
            assert there(record.numerics.double_deviation) < 1e-4
            assert there(record.numerics.double_margin) > 0.01
            assert record.numerics.batched_deviation == 0


def test_a_certificate_can_be_checked_again(hanoi_agent, tmp_path):
    path = tmp_path / "certificate.json"
    certificate = alphanpi.verify(hanoi_agent)
    path.write_text(json.dumps(certificate.record()))
    assert alphanpi.verify(hanoi_agent, certificate=path).proved
    with pytest.raises(UsageError, match="about other weights"):
        alphanpi.verify("pretrained:recursive-sorting-compare", certificate=path)


def written(path, certificate):
    path.write_text(json.dumps(certificate.record()))
    return path


def test_certificates_that_stopped_early_can_be_checked_again(tmp_path, monkeypatch, hanoi_agent):
    path = tmp_path / "certificate.json"
    faulty = alphanpi.load("pretrained:sorting")
    certificate = alphanpi.verify(faulty, max_size=3)
    assert certificate.verdict == "REFUTED"
    assert alphanpi.verify(faulty, certificate=written(path, certificate)).programs == certificate.programs
    monkeypatch.setattr("alphanpi.verification.exploration.MOST_HISTORIES", 8)
    certificate = alphanpi.verify(hanoi_agent)
    assert certificate.programs[0].reasons[0].startswith("more than 8 histories were met at size")
    again = alphanpi.verify(hanoi_agent, certificate=written(path, certificate))
    assert again.programs[0].sizes == certificate.programs[0].sizes
    with pytest.raises(UsageError, match="neither max_size nor time_limit"):
        alphanpi.verify(hanoi_agent, certificate=path, time_limit=5.0)


def forged(record, **changes):
    record = json.loads(json.dumps(record))
    record.update(changes)
    return {**record, "digest": digest(record)}


def test_a_changed_certificate_fails(hanoi_agent, tmp_path):
    path = tmp_path / "certificate.json"
    record = alphanpi.verify(hanoi_agent, max_size=2).record()
    assert record["verdict"] == "BOUNDED"

    def refused(content, message):
        path.write_text(content)
        with pytest.raises(UsageError, match=message):
            alphanpi.verify(hanoi_agent, certificate=path)

    refused(json.dumps({**record, "verdict": "PROVED"}), "changed after it was written")
    refused(json.dumps(forged(record, verdict="PROVED")), "does not hold; recomputed, verdict is BOUNDED")
    (only,) = record["programs"]
    refused(json.dumps(forged(record, programs=[{**only, "sequences": 1}])), "HANOI: sequences is 2 instead of 1")
    refused(json.dumps(forged(record, format=1)), "certificate of format 1")
    refused("{}", "not a certificate")
    refused("{", "not a certificate")
    refused("[" * 100_000, "not a certificate")

    def changed(**changes):
        return json.dumps(forged(record, programs=[{**only, **changes}]))

    numerics = only["numerics"]
    for key, value, message in [
        ("tolerance", 0.0, "HANOI: tolerance is 0.001 instead of 0.0"),
        ("smallest_margin", float("nan"), "HANOI: smallest margin is .* instead of nan"),
        ("double_margin", numerics["double_margin"] + 1, "HANOI: double margin is"),
        ("double_margin", None, "HANOI: double margin is .* instead of None"),
        ("double_deviation", 0.5, "HANOI: double deviation is"),
        ("batched_deviation", float("nan"), "HANOI: batched deviation is"),
        ("batched_deviation", "none", "HANOI: batched deviation is"),
        ("same_decisions", 1, "HANOI: same decisions is True instead of 1"),
    ]:
        refused(changed(numerics={**numerics, key: value}), message)
    refused(changed(reasons=[]), "HANOI: reasons is")
    refused(changed(reasons=["the time limit was met at size 9", *only["reasons"]]), "HANOI: reasons is")
    refused(changed(to_size=2.0), "HANOI: to_size is 2 instead of 2.0")
    wrongs: tuple[dict[str, Any], ...] = (
        {"attempted": "2"},
        {"attempted": True},
        {"sizes": 3},
        {"sizes": [{"size": 1}]},
        {"numerics": None},
        {"numerics": {}},
        {"reasons": None},
    )
    for wrong in wrongs:
        refused(changed(**wrong), "not a certificate: the record of HANOI")
    refused(changed(name=["HANOI"]), "the programs are")
    without = {key: value for key, value in only.items() if key != "invariant"}
    absurd: tuple[Any, ...] = (None, [None], {}, [without])
    for programs in absurd:
        refused(json.dumps(forged(record, programs=programs)), "not a certificate: `programs`")
    refused(json.dumps(forged(record, programs=[])), "the programs are")


def test_order_patterns_and_templates_are_as_many_starts():
    for entry in COMPARE.library.learned:
        full = list(COMPARE.enumerate(entry.name, 3))
        patterns = list(order_patterns(3))
        written = [state for values in patterns for state in COMPARE.templates(entry.name, 3, values)]
        assert sorted(full) == sorted(written)


# ---------------------------------------------------------------------------- the command


@pytest.fixture
def run(capsys):
    def run_command(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main([str(argument) for argument in arguments])
        return exit_.value.code, *capsys.readouterr()

    return run_command


def test_the_command_proves_writes_and_checks_again(run, tmp_path):
    path = tmp_path / "certificate.json"
    code, out, err = run("verify", "pretrained:hanoi", "--out", path)
    assert (code, err) == (0, "")
    assert "PROVED: every program works at every size" in out
    for part in ("lemma\n  Let no run", "\n  Proof: ", "conditions\n  - HANOI: at 3 or more", "weights: "):
        assert part in out
    prose = out[out.index("lemma\n") : out.index("weights: ")].splitlines()
    assert [line for line in prose if not line.startswith("  ")] == ["lemma", "conditions", "assumed"]
    assert "  - Post-conditions say what the user means." in prose[prose.index("assumed") :]
    assert max(map(len, prose)) <= 80 < len(" ".join(prose))
    record = json.loads(path.read_text())
    assert set(record) == set(alphanpi.Certificate._fields)
    code, out, _ = run("verify", "pretrained:hanoi", "--recheck", path)
    assert code == 0
    assert f"{path} holds" in out
    code, out, err = run("verify", "pretrained:sorting", "--recheck", path)
    assert (code, out) == (2, "")
    assert err.startswith(f"alphanpi: error: {path}: the certificate is about other weights")


def test_the_command_says_what_is_in_the_way(run):
    code, out, _ = run("verify", "pretrained:hanoi", "--max-size", 2)
    assert code == 3
    assert "BOUNDED: every start up to size 2 works; nothing is claimed beyond" in out
    assert "in the way of more: HANOI: the lemma needs every start up to size 3, 2 was reached" in out


def test_the_command_shows_a_counter_example(run):
    code, out, _ = run("verify", "pretrained:sorting", "--max-size", 3)
    assert code == 1
    assert "counter-example: RSHIFT on" in out
    assert "REFUTED: a program fails" in out


def test_the_command_as_json(run):
    code, out, err = run("verify", "pretrained:hanoi", "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["verdict"] == "PROVED"
    assert set(record["programs"][0]) == set(ProgramRecord._fields)
    page = (Path(__file__).parents[1] / "docs" / "verification.md").read_text()
    assert all(f"`{key}`" in page for key in (*record, *record["programs"][0], *record["lemma"]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pretrained:nobody"], "no pretrained agent 'nobody'"),
        (["pretrained:hanoi", "--max-size", "0"], "--max-size 0: give at least 1"),
        (["pretrained:sorting", "--max-size", "1"], "RSHIFT cannot start below size 2; give at least 2"),
        (["pretrained:hanoi", "--time-limit", "0"], "leaves no time"),
        (["pretrained:hanoi", "--time-limit", "nan"], "leaves no time"),
        (["pretrained:hanoi", "--out", "."], ".: a folder; give the name of a file"),
        (["pretrained:hanoi", "--out", "no/where.json"], "no/where.json: there is no folder no; make it first"),
        (["pretrained:hanoi", "--recheck", "nowhere.json", "--time-limit", "5"], "leave --time-limit out"),
        (["pretrained:hanoi", "--recheck", "nowhere.json"], "nowhere.json: cannot be read"),
        (["pretrained:hanoi", "--recheck", "nowhere.json", "--max-size", "3"], "leave --max-size out"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_input_is_one_line(run, arguments, message):
    code, out, err = run("verify", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_file_that_cannot_be_written_is_one_line(run, monkeypatch):
    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("alphanpi.files.write_atomically", full)
    code, out, err = run("verify", "pretrained:hanoi", "--max-size", 2, "--out", "certificate.json")
    assert (code, out) == (2, "")
    assert err == "alphanpi: error: certificate.json: No space left on device\n"


# ---------------------------------------------------------------------------- training until verified

# Quick iterations, and an exam that anybody passes: verifications that refute, one after the other.
EASY = {
    "until": "verified",
    "search.simulations": 20,
    "episodes.per_iteration": 8,
    "learning.gradient_steps": 4,
    "curriculum.threshold": 0.01,
    "curriculum.patience": 1,
    "validation.exam_episodes": 0,
}


def trained(run, iterations):
    config = override(preset("default", "hanoi"), {**EASY, "max_iterations": iterations})
    return alphanpi.train("hanoi", seed=1, out=run, config=config)


def weights(run):
    return (run / "checkpoints" / "last" / "model.safetensors").read_bytes()


def saved_errors(run):
    return json.loads((run / "checkpoints" / "last" / "state.json").read_text())["errors"]["HANOI"]


def test_training_until_verified_learns_from_counter_examples_and_resumes_exactly(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    outcome = trained(whole, 6)
    assert not outcome.completed
    assert not outcome.proved
    verdicts_met = [json.loads(line)["verdict"] for line in (whole / "metrics.jsonl").read_text().splitlines()]
    assert any("HANOI REFUTED" in verdict for verdict in verdicts_met[:3])
    assert any(error["origin"] for error in saved_errors(whole))
    trained(parts, 3)
    config = parts / "config.toml"
    config.write_text(config.read_text().replace("max_iterations = 3", "max_iterations = 6"))
    assert any(error["origin"] for error in saved_errors(parts))
    alphanpi.resume(parts)
    assert weights(parts) == weights(whole)
    assert saved_errors(parts) == saved_errors(whole)


def test_a_counter_example_can_be_made_again():
    trainer = Trainer(COMPARE, override(preset("default"), {"until": "verified"}), seed=0)
    trainer.curriculum.completed = True
    assert "REFUTED" in trainer._verify()
    assert not trainer.curriculum.completed
    starts = [error.start for errors in trainer.errors.values() for error in errors]
    assert starts
    for start in starts:
        (execution,) = trainer.interpreter.run([Call(start.program, trainer.start_state(start))], max_actions=10_000)
        assert not execution.success


def test_training_until_verified_needs_a_lemma(run, tmp_path):
    code, _, err = run("train", "sorting", "--until", "verified", "--out", tmp_path / "run")
    assert code == 2
    assert "Sorting has no cut-off lemma here" in err
    assert not (tmp_path / "run").exists()
