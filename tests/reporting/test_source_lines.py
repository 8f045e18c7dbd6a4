"""The line of every step: the same that Python comes to when it runs the exported module."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from alphanpi import STOP, Environment
from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.environment.guard import Guard
from alphanpi.environment.registry import make
from alphanpi.environment.standalone import method_name
from alphanpi.exporting import Machine
from alphanpi.exporting.equality import executed
from alphanpi.exporting.names import function_names
from alphanpi.reporting.execution import Watched, watch
from alphanpi.reporting.source_lines import follow_source
from tests.exporting.test_loops import Seen
from tests.exporting.test_tail import Lighting, export_lighting, one_after_the_other
from tests.helpers.exports import scripted
from tests.helpers.reflexes import ReflexEvaluator, exported_reflex
from tests.helpers.solutions import ScriptedEvaluator


class Done(NamedTuple):
    """An action, and the line it was taken in."""

    action: str
    line: int | None


def watched(environment: Environment[Any], evaluator: Any, program: str, state: Any, most: int = 10_000) -> Watched:
    """A run of an agent that is an evaluator alone."""
    interpreter = Interpreter(environment, evaluator)
    run = lambda name, start, recording: interpreter.run([Call(name, start)], recording)[0]  # noqa: E731
    agent: Any = SimpleNamespace(environment=environment, interpreter=interpreter, guard=Guard(environment), trace=run)
    return watch(agent, program, state, most)


def marked(environment: Environment[Any], text: str, seen: Watched) -> list[Done]:
    found = follow_source(Guard(environment), text, seen)
    assert found.note == ""
    return [Done(step.action, line) for step, line in zip(seen.execution.steps, found.lines, strict=True)]


def traced(environment: Environment[Any], text: str, program: str, state: Any) -> list[Done]:
    """What Python does in the module as it is, with a tracer; functions that begin again end as often as they began."""
    standalone = environment.standalone()
    assert standalone is not None
    functions = {name: entry for entry, name in function_names(environment.library, standalone).items()}
    names = dict(functions)
    names |= {method_name(name): name for name in environment.library.names[1 : environment.library.atomic_count]}
    lines = text.splitlines()
    done: list[Done] = []
    begun: list[list[int]] = []  # per function under way, the lines in which it began again

    def returning(frame: Any, event: str, _: Any) -> Any:
        if event == "return":
            done.append(Done(STOP, frame.f_lineno))
            done.extend(Done(STOP, line) for line in reversed(begun.pop()))
        return returning

    def trace(frame: Any, event: str, _: Any) -> Any:
        back, name = frame.f_back, frame.f_code.co_name
        if event != "call" or frame.f_code.co_filename != "<exported>":
            return None
        if back.f_code.co_name in functions:
            again = " = " in lines[back.f_lineno - 1]
            if again:
                begun[-1].append(back.f_lineno)
            if again or name in names:
                done.append(Done(functions[back.f_code.co_name] if again else names[name], back.f_lineno))
        if name not in functions:
            return None
        begun.append([])
        return returning

    module = executed(text)
    subject = module[standalone.class_name](*standalone.arguments(state))
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        module[next(name for name, entry in functions.items() if entry == program)](subject)
    finally:
        sys.settrace(before)
    return done


class TracedMachine(Machine):
    """Notes where in the exported text it is used."""

    done: list[Done]

    def act(self, action: str) -> None:
        self.done.append(Done(action, sys._getframe(1).f_lineno))
        super().act(action)


@pytest.mark.parametrize(
    ("environment", "program", "text"),
    [(make("hanoi"), "HANOI", "4"), (make("recursive-sorting-compare"), "BUBBLESORT", "5 2 8 1 9")],
    ids=["recursion", "recursion as loops"],
)
def test_every_step_stands_where_python_does(environment, program, text):
    exported = scripted(environment, samples=10, max_size=3)
    assert exported.standalone
    state = environment.parse(program, text)
    seen = watched(environment, ScriptedEvaluator(environment), program, state)
    assert marked(environment, exported.text, seen) == traced(environment, exported.text, program, state)


COMPARING = """\
def compswap(items):
    if not items.p1_value != 5 and not (items.p1_value == 4 or items.same_position):
        if items.p2_value >= 3 or items.p1_value_greater:
            items.swap()
    elif items.may("PTR_2_R"):
        items.ptr_2_r()
        if items.p1_value != 5:
            return
"""


def test_conditions_are_answered_from_observations():
    environment = make("sorting")
    run = lambda text: watched(  # noqa: E731
        environment, ScriptedEvaluator(environment), "COMPSWAP", environment.parse("COMPSWAP", text)
    )
    start = environment.parse("COMPSWAP", "5 2")._replace(p2=1)
    apart = watched(environment, ScriptedEvaluator(environment), "COMPSWAP", start)
    assert marked(environment, COMPARING, apart) == [Done("SWAP", 4), Done(STOP, 4)]
    assert marked(environment, COMPARING, run("4 7")) == [Done("PTR_2_R", 6), Done(STOP, 8)]
    assert marked(environment, COMPARING, run("5 7")) == [Done("PTR_2_R", 6), Done(STOP, 7)]


def test_an_outline_has_the_lines_of_its_steps(hanoi_text):
    environment = make("hanoi")
    whole, outline = (
        watched(environment, ScriptedEvaluator(environment), "HANOI", environment.parse("HANOI", "6"), most)
        for most in (10_000, 60)
    )
    assert outline.depth is not None
    kept = [
        done
        for done, step in zip(marked(environment, hanoi_text, whole), whole.execution.steps, strict=True)
        if step.depth <= outline.depth
    ]
    assert marked(environment, hanoi_text, outline) == kept


def test_loops_of_a_module_without_a_runtime():
    def tour(see, before):
        if before != "LEFT" and not see.at_end:
            return "RIGHT"
        return STOP if see.at_start else "LEFT"

    class Bare(Seen):
        def standalone(self) -> None:
            return None

    environment = Bare()
    text = exported_reflex(environment, {"TOUR": tour}).text
    state = environment.initial("TOUR", 4, np.random.default_rng(0))
    seen = watched(environment, ReflexEvaluator(environment, {"TOUR": tour}), "TOUR", state)
    machine = TracedMachine(environment, "TOUR", state)
    machine.done = []
    executed(text)["tour"](machine)
    assert [one for one in marked(environment, text, seen) if one.action != STOP] == machine.done
    assert len({one.line for one in machine.done}) == 2


def test_a_call_at_the_end_is_a_line_that_begins_again():
    environment = Lighting()
    text = export_lighting(environment).text
    assert "row = row.others()" in text
    state = environment.initial("GLOW", 5, np.random.default_rng(0))
    seen = watched(environment, ScriptedEvaluator(environment, {"GLOW": one_after_the_other}), "GLOW", state)
    assert marked(environment, text, seen) == traced(environment, text, "GLOW", state)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (("game.move_disk()", "game.swap_s_a()"), "the source does SWAP_S_A, where the agent does"),
        (("game.one_disk", "game.disks == 1"), "is not as an export writes it"),
        (("game.move_disk()", "while True: pass"), "is not as an export writes it"),
        (("def hanoi(", "def other("), "no function for HANOI"),
        (("def hanoi(", "define hanoi("), "not Python"),
    ],
    ids=["does something else", "asks for something unknown", "hangs", "has another name", "is none"],
)
def test_a_source_that_is_not_the_agents_is_never_marked_wrongly(change, note, hanoi_text):
    environment = make("hanoi")
    seen = watched(environment, ScriptedEvaluator(environment), "HANOI", environment.parse("HANOI", "3"))
    changed = hanoi_text.replace(*change, 1)
    assert changed != hanoi_text
    found = follow_source(Guard(environment), changed, seen)
    assert note in found.note
    assert None in found.lines
    right = follow_source(Guard(environment), hanoi_text, seen).lines
    assert all(line in (None, other) for line, other in zip(found.lines, right, strict=True))


def test_a_source_is_read_and_never_run(hanoi_text, tmp_path):
    environment = make("hanoi")
    seen = watched(environment, ScriptedEvaluator(environment), "HANOI", environment.parse("HANOI", "2"))
    file = tmp_path / "ran"
    follow_source(Guard(environment), f"open({str(file)!r}, 'w')\n{hanoi_text}", seen)
    assert not file.exists()


@pytest.fixture(scope="module")
def hanoi_text() -> str:
    return str(scripted(make("hanoi")).text)
