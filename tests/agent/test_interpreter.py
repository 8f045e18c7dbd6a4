"""Greedy execution of programs."""

from __future__ import annotations

import numpy as np
import pytest

from alphanpi import SearchConfig, SpecificationError, action, create_evaluator, create_network, make, program
from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.engine.tables import Failure
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.paths import ROOT
from tests.helpers.solutions import ScriptedEvaluator


def test_the_interpreter_is_search_with_one_simulation():
    """Greedy execution and the engine's exploitation mode without search are the same thing."""
    for name in ("hanoi", "recursive-sorting", "sorting", "flat-sorting"):
        environment = make(name)
        rng = np.random.default_rng(0)
        for seed in range(6):
            evaluator = create_evaluator(create_network(environment, seed))
            greedy = SearchConfig(simulations_exploitation=1, failed_call="discard")
            search, interpreter = Search(environment, evaluator, greedy), Interpreter(environment, evaluator)
            for entry in environment.library.learned:
                state = environment.initial(entry.name, max(3, entry.minimum_size), rng)
                trace = search.run([Request(entry.name, state)])[0]
                execution = interpreter.run([Call(entry.name, state)], record=True)[0]
                assert execution.success == trace.success
                own = [step.action for step in execution.steps if step.depth == 0]
                names = [environment.library.names[action] for action in trace.actions]
                if trace.failure in (Failure.NONE, Failure.POST, Failure.DEPTH):
                    assert own == names
                    assert execution.failure == trace.failure


class Tainted(Chain):
    """Its states are pairs, and far down one of them cannot be hashed."""

    @action(pre=lambda state: state[0] > 0)
    def STEP(self, state):
        return (state[0] - 1, ())

    @program(
        level=1,
        depth=4,
        recursive=True,
        shrink=lambda state: (state[0] - 1, [] if state[0] == 4 else ()) if state[0] > 0 else None,
        restore=lambda caller, callee: (callee[0] + 1, ()),
    )
    def DOWN(self, before, after):
        return True

    def observe(self, state):
        return (int(state[0] == 0),)

    def size(self, state):
        return state[0]


def test_a_state_that_cannot_be_hashed_is_named_where_calls_are_remembered():
    interpreter = Interpreter(Tainted(), ChainNetwork())
    with pytest.raises(SpecificationError, match=r"DOWN.*unhashable state: a tuple, which holds something unhashable"):
        interpreter.run([Call("DOWN", (3000, ()))], remembering=True)


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_what_was_remembered_near_the_surface_does_not_hide_that_calls_are_too_deep(limit):
    environment = make("hanoi")
    evaluator = ScriptedEvaluator(environment)
    plain, remembering = Interpreter(environment, evaluator, limit), Interpreter(environment, evaluator, limit)
    for disks in (1, 2, 3, 4, 2, 4, 3):
        call = Call("HANOI", environment.initial("HANOI", disks, np.random.default_rng(0)))
        (fresh,), (known,) = plain.run([call]), remembering.run([call], remembering=True)
        assert (known.failure, known.actions, known.final) == (fresh.failure, fresh.actions, fresh.final)
        assert fresh.success == (disks <= limit + 1)


def keep(see, size):
    if see.negation:
        yield "INVERT on inner"
        yield "STRIP"
    elif not see.literal:
        yield "KEEP on first"
        yield "KEEP on second"
    yield "STOP"


def invert(see, size):
    if see.negation:
        yield "KEEP on inner"
        yield "STRIP"
    elif see.literal:
        yield "OPPOSITE"
    else:
        yield "INVERT on first"
        yield "INVERT on second"
        yield "EXCHANGE"
    yield "STOP"


def test_what_is_remembered_of_a_group_does_not_depend_on_decisions_for_one_of_them():
    """A call of INVERT, which calls KEEP, ends differently where KEEP decides differently."""
    environment = make(str(ROOT / "benchmarks" / "held_out" / "negation.py"))
    evaluator = ScriptedEvaluator(environment, {"KEEP": keep, "INVERT": invert})
    calls = [
        Call(name, environment.initial(name, size, np.random.default_rng((size, number))))
        for name in ("KEEP", "INVERT")
        for size in (1, 2, 3, 4)
        for number in range(15)
    ]
    fresh, used = (Interpreter(environment, evaluator) for _ in range(2))
    assert all(run.success for one in (fresh, used) for run in one.run(calls))
    library = environment.library
    wrong = used.table.history_of(library.index_of("KEEP") - library.atomic_count, ((-1, (0, 0, 1, 1)),))
    own = [{wrong: library.index_of("EXCHANGE")} if call.program == "KEEP" else {} for call in calls]

    def told(runs):
        return [(run.success, run.failure, run.final, run.actions) for run in runs]

    led, plain = (told(fresh.run(calls, decisions=tables)) for tables in (own, None))
    assert led != plain
    for tables, expected in ((None, plain), (own, led), (None, plain)):
        assert told(used.run(calls, decisions=tables, remembering=True)) == expected
