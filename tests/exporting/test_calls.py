"""Exported programs call each other as the agent does."""

from __future__ import annotations

import pytest

import alphanpi
from alphanpi import STOP, Machine, UsageError
from tests.helpers.exports import ORIGIN, loaded, scripted
from tests.helpers.marking import Board, Marking, fill, top
from tests.helpers.solutions import ScriptedEvaluator


def test_a_recursive_lower_program_is_run_as_the_agent_runs_it(marking):
    environment, exported = Marking(), marking
    assert exported.general
    for size in (1, 2, 7, 40):
        machine = Machine(environment, "TOP", Board((0,) * size, 0))
        loaded(exported.text).top(machine)  # as documented
        assert machine.state == Board((2,) * size, 0, 1)
        assert machine.program == "TOP"
    assert 'env.call("FILL", fill)' in exported.text
    assert "    fill(env)" not in exported.text


class Shifted(Marking):
    """`enter` and `leave` do something for calls of another program too."""

    def enter(self, state: Board, program: str, caller: str | None = None) -> Board:
        if caller == "TOP":
            return state._replace(start=state.start + len(state.cells) // 2)
        return super().enter(state, program, caller)

    def leave(self, caller_state: Board, callee_state: Board, program: str, caller: str | None = None) -> Board:
        if caller == "TOP":
            return callee_state._replace(start=caller_state.start)
        return super().leave(caller_state, callee_state, program, caller)


def test_an_environments_own_enter_and_leave_are_used_for_every_call():
    environment = Shifted()
    exported = scripted(environment, {"FILL": fill, "TOP": top}, max_size=4, samples=20)
    machine = Machine(environment, "TOP", Board((0,) * 6, 0))
    loaded(exported.text).top(machine)
    assert machine.state == Board((0, 0, 0, 2, 2, 2), 0, 1)


class Asking(Marking):
    """What may be done depends on who asks; observations do not tell."""

    fields: tuple[str, ...] = ("nothing",)

    def pre(self, program: str, state: Board, caller: str | None = None) -> bool:
        if program == "MARK":
            return caller == "FILL"
        return super().pre(program, state, caller)

    def observe(self, board: Board) -> tuple[int, ...]:
        return (0,)


def test_legality_is_asked_for_the_program_under_way():
    class Eager(ScriptedEvaluator):
        """Marks and calls where that is legal."""

        def action(self, program, history):
            wanted = {"FILL": ("MARK", "FILL"), "TOP": ("FILL", "FINISH")}[program]
            return (*wanted, STOP)[min(len(history) - 1, 2)]

    environment = Asking()
    exported = alphanpi.export_evaluator(environment, Eager(environment, {}), ORIGIN, samples=30)
    assert 'env.may("FILL")' in exported.text
    machine = Machine(environment, "TOP", Board((0,) * 5, 0))
    loaded(exported.text).top(machine)
    assert machine.state == Board((1,) * 5, 0, 1)
    assert not machine.may("MARK")  # the program under way is TOP again


def test_a_machine_for_another_program_is_noticed(marking):
    environment = Marking()
    module = loaded(marking.text)
    with pytest.raises(UsageError, match=r"FILL may not do FILL"):
        module.top(Machine(environment, "FILL", Board((0,), 0)))
    with pytest.raises(UsageError, match="atomic"):
        Machine(environment, "MARK", Board((0,), 0))
    with pytest.raises(UsageError, match="no field 'height'"):
        Machine(environment, "TOP", Board((0,), 0)).field("height")
