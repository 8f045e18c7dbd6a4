"""Lemmas, how verdicts combine, and environments and limits that leave something out."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphanpi.agent.interpreter import Execution, Interpreter
from alphanpi.engine.tables import Failure
from alphanpi.environment.specification import STOP, Environment, action, program
from alphanpi.environment.walks import applied, random_walk
from alphanpi.environments import recursive_sorting_lemma as lists_lemma
from alphanpi.environments.hanoi import Hanoi
from alphanpi.environments.lists import PointedList
from alphanpi.environments.recursive_sorting import RecursiveSorting
from alphanpi.errors import SpecificationError, UsageError
from alphanpi.network.decisions import Decisions
from alphanpi.symbolic import is_sorted
from alphanpi.verification.exploration import Explorer, LimitError
from alphanpi.verification.verdicts import NONE, Kind, Verdict, overall
from alphanpi.verification.verifier import Verifier
from tests.helpers.instances import HANOI
from tests.helpers.networks import HashNetwork
from tests.helpers.solutions import SOLUTIONS, ScriptedEvaluator
from tests.helpers.verdicts import COMPARE, ends_at_the_end, explore_evaluator, there, verdicts

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
                    after = applied(environment, "BUBBLESORT", state, name, choice)
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
                state = applied(COMPARE, "BUBBLESORT", state, lists_lemma._VERBS[letter], choice)
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
        walk = random_walk(COMPARE, name, start, rng, int(rng.integers(lists_lemma.DEPTH)))
        most = max(most, 30 - len(lists_lemma.deletable_cells(name, walk)))
    assert most <= kept <= lists_lemma.CUTOFF.sizes[name]


def test_the_lemma_on_bubble_at_its_edge():
    """From 11 to 10 elements, all orders of few values, both starts, every walk by a call of itself."""
    rng = np.random.default_rng(1)
    called = 0
    for _ in range(1500):
        values = tuple(rng.integers(int(rng.integers(2, 7)), size=11).tolist())
        start = PointedList(values, 0, int(rng.integers(2)), 0, 10)
        walk = random_walk(COMPARE, "BUBBLE", start, rng, int(rng.integers(lists_lemma.DEPTH)))
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
    certificate = explore_evaluator(
        environment, ScriptedEvaluator(environment, SOLUTIONS[type(environment).__name__.removeprefix("Leaking")])
    )
    assert certificate.verdict == "BOUNDED"
    assert "differ" in there(certificate.lemma).fault
    reasons = certificate.programs[0].reasons
    assert any("the lemma is wrong about this environment" in reason for reason in reasons)


def test_subclasses_do_not_inherit_a_lemma():
    assert type("Sorts", (RecursiveSorting,), {})("compare").cutoff() is None
    assert RecursiveSorting("paper").cutoff() is None
    assert type("Other", (Hanoi,), {})().cutoff() is None


# ---------------------------------------------------------------------------- verdicts


def test_a_verdict_is_as_strong_as_what_it_rests_on():
    proved, saturated = Verdict(Kind.PROVED, 13, 4), Verdict(Kind.SATURATED, 7, 6)
    assert proved.given(proved) == proved
    assert proved.given(saturated) == Verdict(Kind.BOUNDED, 7)  # seen up to 7, that nothing is new above 4 says little
    assert Verdict(Kind.PROVED, 13, 3).given(saturated) == Verdict(Kind.SATURATED, 7, 3)
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
        (
            Countdown(),
            UsageError,
            r"Countdown cannot be verified: give it methods symbolic and valid, .* or enumerate\(program, size\)",
        ),
        (WithStarts(), UsageError, r"WithStarts cannot be verified: give it a method outcomes\(program, before\)"),
        (TooMany(), SpecificationError, "outcomes of EMPTY begun in 1 gives 1, where the post-condition is false"),
        (TooFew(), SpecificationError, "outcomes of EMPTY begun in 1 lacks 0, which the post-condition allows"),
    ],
    ids=["starts", "outcomes", "too many", "too few"],
)
def test_what_an_environment_lacks_is_named(environment, error, message):
    evaluator = ScriptedEvaluator(environment, {"EMPTY": down_then_itself})
    with pytest.raises(error, match=message):
        explore_evaluator(environment, evaluator, max_size=3)


def test_a_call_of_itself_must_make_the_measure_smaller():
    environment = Complete()
    certificate = explore_evaluator(environment, ScriptedEvaluator(environment, {"EMPTY": itself}), max_size=3)
    assert certificate.verdict == "REFUTED"
    assert there(certificate.programs[0].counter_example).rule == "measure"
    fine = explore_evaluator(environment, ScriptedEvaluator(environment, {"EMPTY": down_then_itself}), max_size=4)
    assert fine.claim == Verdict(Kind.SATURATED, 4, 2)


@pytest.mark.parametrize("cut_off", [Failure.ACTIONS, Failure.CALL_DEPTH])
def test_a_real_run_that_is_cut_off_refutes_nothing(monkeypatch, cut_off):
    def nothing(see, size):
        yield STOP

    def cut(self, calls, record=False, max_actions=None):
        return [Execution(False, cut_off, call.state, 1_000_000, call, ()) for call in calls]

    environment = Complete()
    evaluators = {body: ScriptedEvaluator(environment, {"EMPTY": body}) for body in (nothing, itself)}
    assert explore_evaluator(environment, evaluators[nothing], max_size=2).verdict == "REFUTED"
    monkeypatch.setattr(Interpreter, "run", cut)
    certificate = explore_evaluator(environment, evaluators[nothing], max_size=2)
    assert certificate.claim == Verdict(Kind.BOUNDED, NONE)
    assert "a real run was cut off after 1,000,000 actions" in certificate.programs[0].reasons[0]
    endless = explore_evaluator(environment, evaluators[itself], max_size=2)
    assert endless.verdict == "REFUTED"


class Above(Complete):
    """With a program above one whose outcome has a view, and a lemma that promises everything."""

    @program(level=2, depth=3)
    def TWICE(self, before, after):
        return after == 0

    def relative(self, program, after):
        return "empty" if program == "EMPTY" else None

    def cutoff(self):
        return lists_lemma.CUTOFF._replace(
            sizes={"EMPTY": 4, "TWICE": 4}, conditions=(), examine=lambda environment, rng: None
        )


class AboveSeveral(Above):
    """The number left may be 0 or 1."""

    @program(
        level=1,
        depth=3,
        recursive=True,
        shrink=lambda state: state if state > 0 else None,
        restore=lambda caller, callee: callee,
    )
    def EMPTY(self, before, after):
        return after in (0, 1)

    def relative(self, program, after):
        return f"{after} left" if program == "EMPTY" else None

    def outcomes(self, program, before):
        yield from (0, 1) if program == "EMPTY" else (0,)


def test_a_lemma_does_not_rest_on_the_invariant_of_another_program():
    def twice(see, size):
        yield "EMPTY"
        yield STOP

    found = {}
    for kind in (Above, AboveSeveral):
        environment = kind()
        evaluator = ScriptedEvaluator(environment, {"EMPTY": down_then_itself, "TWICE": twice})
        found[kind] = explore_evaluator(environment, evaluator)
    assert found[Above].proved, found[Above].programs  # one outcome: an invariant says nothing more
    assert verdicts(found[AboveSeveral]) == {"EMPTY": "PROVED", "TWICE": "SATURATED"}
    assert "it calls EMPTY, which has an invariant" in found[AboveSeveral].programs[1].reasons[0]


def test_a_size_cut_short_leaves_nothing_behind(monkeypatch):
    """Neither views nor runs explored again: what remains is what a verification up to there shows."""

    def late(self, item, size):
        advance(self, item, size)
        if (item.program.name, size) == ("BUBBLESORT", 2):
            raise LimitError("the time limit was met")

    evaluator = ScriptedEvaluator(COMPARE, {**SOLUTIONS["RecursiveSorting"], "BUBBLESORT": ends_at_the_end})
    advance = Verifier._advance
    monkeypatch.setattr(Verifier, "_advance", late)
    cut = Verifier(COMPARE, evaluator).verify()
    monkeypatch.undo()
    attempted = {shown.program.name: shown.attempted for shown in cut.programs}
    assert attempted == {"RSHIFT": 2, "LSHIFT": 2, "COMPSWAP": 2, "RESET": 2, "BUBBLE": 2, "BUBBLESORT": 1}
    again = Verifier(COMPARE, evaluator, limits=attempted).verify()
    assert cut.programs[-1].invariant == ("both pointers on the only element",)
    for one, other in zip(cut.programs, again.programs, strict=True):
        limit = f"the time limit was met at size {one.attempted + 1}; raise --time-limit"
        assert one.reasons == (limit, *other.reasons)
        # Numbers of histories differ, so sequences are compared by their count.
        assert [(explored.size, explored.runs, len(explored.sequences)) for explored in one.sizes] == [
            (explored.size, explored.runs, len(explored.sequences)) for explored in other.sizes
        ]
        assert one._replace(sizes=(), reasons=()) == other._replace(sizes=(), reasons=())


def test_the_time_limit_ends_in_bounded():
    environment = RecursiveSorting("paper")
    certificate = explore_evaluator(environment, ScriptedEvaluator(environment), max_size=6, time_limit=1.0)
    assert certificate.seconds < 10
    assert certificate.verdict == "BOUNDED"
    assert 1 <= certificate.to_size < 6
    assert any("the time limit was met" in reason for reason in certificate.programs[0].reasons)


def test_so_does_the_limit_on_memory(monkeypatch):
    monkeypatch.setattr("alphanpi.verification.exploration.MOST_HISTORIES", 100)
    certificate = explore_evaluator(COMPARE, ScriptedEvaluator(COMPARE))
    assert certificate.verdict == "BOUNDED"
    assert certificate.programs[0].reasons[0].startswith("more than 100 histories were met at size")


@pytest.mark.parametrize(
    "wrong", [{"max_size": -1}, {"time_limit": 0.0}, {"time_limit": float("nan")}, {"max_size": 1}]
)
def test_limits_that_leave_nothing_are_refused(wrong):
    with pytest.raises(UsageError, match="give"):
        explore_evaluator(COMPARE, ScriptedEvaluator(COMPARE), **wrong)
