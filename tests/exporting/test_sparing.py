"""Simplified exports: what an agent need not do is left out, and what is specified is still achieved."""

from __future__ import annotations

import json

import numpy as np
import pytest

from alphanpi import STOP, ExportFailed
from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.exporting.clock import CodeNotFound
from alphanpi.exporting.sparing import Sparing
from tests.exporting.test_loops import body
from tests.helpers.reflexes import ReflexEvaluator, exported_reflex
from tests.learn.test_trials import Erase, Tape


def thorough(see, before):
    """Erases empty cells as well, and the last one twice."""
    if before == "RIGHT" or before is None:
        return "CLEAR"
    return STOP if see.at_end else "RIGHT"


def plain(see, before):
    if see.cell:
        return "CLEAR"
    return STOP if see.at_end else "RIGHT"


PLAIN = ["while (cell) or not (at_end):", "    if (cell):", "        (CLEAR)", "    else:", "        (RIGHT)"]


class Covered(Erase):
    """Where the first cell is empty and the tape is short, all others are: too small to show what is needed."""

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Tape:
        tape = super().initial(program, size, rng)
        return tape if size > 30 or tape.cells[0] else tape._replace(cells=(0,) * size)


def test_what_changes_nothing_is_left_out_on_request_only():
    exact = exported_reflex(Erase(), {"ERASE": thorough})
    assert body(exact) == ["(CLEAR)", "while not (at_end):", "    (RIGHT)", "    (CLEAR)"]
    simpler = exported_reflex(Erase(), {"ERASE": thorough}, simplify=True)
    assert body(simpler) == PLAIN
    assert simpler.general
    assert simpler.actions < exact.actions
    assert "leave out what changes nothing" in simpler.text
    assert "leave out what changes nothing" not in exact.text


class Failing:
    """Ends so many searches for code, as a clock would."""

    def __init__(self, times):
        self.times = times

    def __call__(self, line):
        if "looking for" in line and self.times:
            self.times -= 1
            raise CodeNotFound(f"search {self.times} was in vain")


def test_what_changes_nothing_is_left_out_where_no_other_code_is_found():
    simpler = exported_reflex(Erase(), {"ERASE": thorough}, simplify=True)
    found = exported_reflex(Erase(), {"ERASE": thorough}, say=Failing(1))
    assert found.simplified
    assert (found.text, found.actions) == (simpler.text, simpler.actions)
    assert "no code was found in 0 s that does all that the agent does" in found.warnings[0]
    assert "\n" not in found.warnings[0]
    assert not exported_reflex(Erase(), {"ERASE": thorough}, say=Failing(0)).simplified
    with pytest.raises(ExportFailed, match=r"search 1 was in vain.*need not do, too: search 0 was in vain"):
        exported_reflex(Erase(), {"ERASE": thorough}, say=Failing(2))
    with pytest.raises(ExportFailed, match=r"^search 0 was in vain"):
        exported_reflex(Erase(), {"ERASE": thorough}, simplify=False, say=Failing(1))


def test_an_agent_without_anything_to_spare_is_exported_as_it_is():
    exported = exported_reflex(Erase(), {"ERASE": plain}, simplify=True, format="json")
    assert json.loads(exported.text)["simplified"]
    assert exported.actions == exported_reflex(Erase(), {"ERASE": plain}, format="json").actions


def watched(environment, reflex, sizes):
    interpreter = Interpreter(environment, ReflexEvaluator(environment, {"ERASE": reflex}))
    sparing = Sparing(interpreter)
    starts = [environment.initial("ERASE", size, np.random.default_rng(seed)) for size in sizes for seed in range(40)]
    calls = [Call("ERASE", start) for start in starts]

    def run():
        return interpreter.run(calls, record=True, decisions=[sparing.decisions] * len(calls))

    return sparing, run


def test_decisions_are_adopted_until_nothing_is_to_be_spared():
    sparing, run = watched(Erase(), thorough, (1, 2, 3, 4))
    taken = []
    while True:
        sparing.forget()
        runs = run()
        assert all(one.success for one in runs)
        taken.append(sum(one.actions for one in runs))
        for one in runs:
            sparing.note(one.steps)
        if not sparing.adopt():
            break
    assert taken == sorted(taken, reverse=True)
    assert taken[-1] < taken[0]


def test_stopping_that_fails_elsewhere_is_given_up_for_good():
    short, run = watched(Covered(), plain, (2, 3))
    for one in run():
        short.note(one.steps)
    assert short.adopt()  # to stop at the first cell if it is empty
    long = [Call("ERASE", Tape((0, 1, 0, 1), 0))]
    interpreter = Interpreter(Covered(), ReflexEvaluator(Covered(), {"ERASE": plain}))
    (failing,) = interpreter.run(long, record=True, decisions=[short.decisions])
    assert not failing.success
    short.refuse(failing.steps)
    assert short.shaken
    assert interpreter.run(long, decisions=[short.decisions])[0].success
    for one in run():
        short.note(one.steps)
    assert not short.adopt()


def test_what_larger_problems_need_is_not_left_out():
    assert body(exported_reflex(Covered(), {"ERASE": plain}, samples=200, simplify=True)) == PLAIN
