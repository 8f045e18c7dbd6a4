"""`enter` and `leave` mean the same everywhere, also where a program calls another one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from alphanpi import Environment, Failure, Request, Search, action, make, program
from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.bench import oracle
from alphanpi.network.evaluator import Evaluation
from tests.helpers.searches import assert_equal, random_config, random_evaluator


class Shelf(NamedTuple):
    jars: tuple[int, ...]  # 1: open
    first: int  # jars below belong to the caller
    hand: int


class Jars(Environment[Shelf]):
    """Close jars; a program that is called by another one sees only those right of the caller's hand."""

    fields = ("open_here", "at_end", "at_start")
    train_sizes = (1, 2, 3)

    @action(pre=lambda shelf: shelf.hand + 1 < len(shelf.jars))
    def RIGHT(self, shelf: Shelf) -> Shelf:
        """Move the hand."""
        return shelf._replace(hand=shelf.hand + 1)

    @action(pre=lambda shelf: shelf.jars[shelf.hand] == 1)
    def CLOSE(self, shelf: Shelf) -> Shelf:
        """Close the jar at the hand."""
        return shelf._replace(jars=(*shelf.jars[: shelf.hand], 0, *shelf.jars[shelf.hand + 1 :]))

    @program(level=1, depth=3)
    def SHUT(self, before: Shelf, after: Shelf) -> bool:
        """The first jar is closed."""
        return after.jars[before.first] == 0 and after.jars[before.first + 1 :] == before.jars[before.first + 1 :]

    @program(
        level=2,
        depth=4,
        recursive=True,
        shrink=lambda shelf: (
            shelf._replace(first=shelf.first + 1, hand=shelf.first + 1) if shelf.first + 1 < len(shelf.jars) else None
        ),
        restore=lambda caller, callee: callee._replace(first=caller.first, hand=caller.hand),
    )
    def SHUT_ALL(self, before: Shelf, after: Shelf) -> bool:
        """All jars are closed."""
        return not any(after.jars[before.first :])

    def enter(self, state: Shelf, program: str, caller: str | None = None) -> Shelf:
        if caller == program:
            return super().enter(state, program, caller)
        return state._replace(first=state.hand)

    def leave(self, caller_state: Shelf, callee_state: Shelf, program: str, caller: str | None = None) -> Shelf:
        return caller_state._replace(jars=callee_state.jars)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Shelf:
        return Shelf(tuple(int(jar) for jar in rng.integers(0, 2, size)), 0, int(rng.integers(size)))

    def observe(self, state: Shelf) -> tuple[int, ...]:
        return state.jars[state.hand], state.hand == len(state.jars) - 1, state.hand == state.first

    def size(self, state: Shelf) -> int:
        return len(state.jars) - state.first


def test_the_search_equals_the_oracle_where_calls_of_other_programs_change_the_frame():
    environment, failures = Jars(), set()
    for case in range(60):
        rng = np.random.default_rng((2, case))
        config, evaluator = random_config(rng), random_evaluator(environment, rng)
        name = str(rng.choice(["SHUT", "SHUT_ALL", "SHUT_ALL"]))
        requests = [Request(name, environment.initial(name, 3, rng), (case, k), bool(k % 2)) for k in range(3)]
        for request, trace in zip(requests, Search(environment, evaluator, config).run(requests), strict=True):
            expected = oracle.search(
                environment, evaluator, config, name, request.state, request.seed, request.exploring
            )
            assert_equal(trace, expected)
            failures.add((name, trace.failure))
    assert ("SHUT_ALL", Failure.NONE) in failures


class ShutsWhereItsHandIs:
    """SHUT_ALL calls SHUT once, with the hand at the second jar; SHUT closes what is under its hand."""

    memory_width = 1
    wanted = ((2, 0), (3, 0))  # per program: library indices, CLOSE then STOP, and SHUT then STOP

    def evaluate(self, programs, observations, memory):
        logits = np.full((len(programs), 5), -20, np.float32)
        for row, (index, step) in enumerate(zip(programs, memory[:, 0], strict=True)):
            logits[row, self.wanted[int(index)][min(int(step), 1)]] = 20
        return Evaluation(logits, np.full(len(programs), 0.5, np.float32), memory + 1)


def test_search_and_interpreter_enter_a_call_of_another_program_alike():
    environment, start = Jars(), Shelf((0, 1), 0, 1)
    assert environment.library.names == ("STOP", "RIGHT", "CLOSE", "SHUT", "SHUT_ALL")
    (execution,) = Interpreter(environment, ShutsWhereItsHandIs()).run([Call("SHUT_ALL", start)], record=True)
    (trace,) = Search(environment, ShutsWhereItsHandIs(), random_config(np.random.default_rng(0))).run(
        [Request("SHUT_ALL", start)]
    )
    # SHUT begins at the caller's hand, and the caller has its own frame again afterwards.
    assert [step.state.first for step in execution.steps] == [0, 1, 1, 0]
    assert execution.success
    assert trace.success
    assert trace.final == execution.final == Shelf((0, 0), 0, 1)


@pytest.mark.parametrize("name", ["hanoi", "sorting"])
def test_other_environments_change_the_frame_of_recursive_calls_alone(name):
    environment = make(name)
    search = Search(environment, random_evaluator(environment, np.random.default_rng(0)))
    recursive = [program.name for program in environment.library.learned if program.recursive]
    assert [change.caller for change in search.world.changes] == [
        search.library.callees[change.entry] for change in search.world.changes
    ]
    assert len(search.world.changes) == len(recursive)
