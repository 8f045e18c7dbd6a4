"""Exported modules as users run them: calls between programs, depth, hostile names, broken runtimes, honest claims."""

from __future__ import annotations

import ast
import importlib
import itertools
import json
import keyword
import pkgutil
import re
import sys
import time
import types
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import alphanpi
from alphanpi import (
    STOP,
    Environment,
    ExportFailed,
    Machine,
    Origin,
    SpecificationError,
    Standalone,
    UsageError,
    action,
    make,
    program,
)
from alphanpi.cli.shared import duration
from alphanpi.exporting.automaton import as_dot
from alphanpi.exporting.behaviour import weak_orders
from alphanpi.exporting.escaping import docstring, dot_string, literal
from alphanpi.exporting.expressions import Atom, flat, joined, lines, negated
from alphanpi.exporting.names import function_names
from alphanpi.exporting.runtime import divided
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.exports import ORIGIN, loaded, run_script, scripted
from tests.helpers.solutions import ScriptedEvaluator

# ---------------------------------------------------------------------------- calls of lower programs


class Board(NamedTuple):
    """Cells to be marked from `start` on; the last mark is made by the caller."""

    cells: tuple[int, ...]
    start: int
    done: int = 0


class Marking(Environment[Board]):
    """A recursive program below another one."""

    fields: tuple[str, ...] = ("last", "done")

    @action()
    def MARK(self, board: Board) -> Board:
        cells = (*board.cells[: board.start], board.cells[board.start] + 1, *board.cells[board.start + 1 :])
        return board._replace(cells=cells)

    @action()
    def FINISH(self, board: Board) -> Board:
        return board._replace(done=1)

    @program(
        level=1,
        depth=4,
        recursive=True,
        shrink=lambda board: board._replace(start=board.start + 1) if board.start + 1 < len(board.cells) else None,
        restore=lambda caller, callee: callee._replace(start=caller.start),
    )
    def FILL(self, before: Board, after: Board) -> bool:
        cells = tuple(cell + (place >= before.start) for place, cell in enumerate(before.cells))
        return after == before._replace(cells=cells)

    @program(level=2, depth=4)
    def TOP(self, before: Board, after: Board) -> bool:
        return after.done == 1

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Board:
        return Board(tuple(int(cell) for cell in rng.integers(3, size=size)), 0)

    def enumerate(self, program: str, size: int):
        yield Board((0,) * size, 0)

    def observe(self, board: Board) -> tuple[Any, ...]:
        return np.int64(board.start == len(board.cells) - 1), np.bool_(board.done)

    def size(self, board: Board) -> int:
        return len(board.cells) - board.start


def fill(see, size):
    yield "MARK"
    if not see.last:
        yield "FILL"
    yield STOP


def top(see, size):
    yield "FILL"
    yield "FINISH"
    yield "FILL"
    yield STOP


@pytest.fixture(scope="module")
def marking():
    return scripted(Marking(), {"FILL": fill, "TOP": top})


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


# ---------------------------------------------------------------------------- depth


@pytest.mark.parametrize("depth", [3_000, 19_000])
def test_generic_modules_go_as_deep_as_the_agent(depth):
    exported = alphanpi.export_evaluator(Chain(), ChainNetwork(), ORIGIN, samples=20)
    (entry,) = exported.coverage
    assert entry.nested >= 2_000
    limit = sys.getrecursionlimit()
    machine = Machine(Chain(), "DOWN", depth)
    loaded(exported.text).down(machine)
    assert machine.state == 0
    assert sys.getrecursionlimit() == limit


def test_more_depth_than_the_agent_has_is_one_message():
    module = loaded(alphanpi.export_evaluator(Chain(), ChainNetwork(), ORIGIN, samples=20).text)
    with pytest.raises(UsageError, match="more than 20,000 calls inside one another"):
        module.down(Machine(Chain(), "DOWN", 25_000))


CHAIN_SOURCE = """
class Counter:
    def __init__(self, box, taken=0):
        self.box, self.taken = box, taken

    def inside(self):
        return Counter(self.box, self.taken + 1)

    def step(self):
        self.box[0] -= 1

    @property
    def done(self):
        return self.box[0] == self.taken
"""


class StandaloneChain(Chain):
    """With a runtime: counters inside one another share a box, and each takes one more away."""

    changes: dict[str, Any] = {}  # noqa: RUF012 - set by tests

    def standalone(self) -> Standalone:
        members = {
            "parameter": "counter",
            "class_name": "Counter",
            "source": CHAIN_SOURCE,
            "arguments": lambda state: ([state],),
            "agrees": lambda state, counter: counter.box == [state],
            "inner": {"DOWN": "inside"},
        }
        return Standalone(**{**members, **self.changes})


def chain_with(**changes) -> Environment:
    environment = StandaloneChain()
    environment.changes = changes
    return environment


def export_chain(**changes):
    return alphanpi.export_evaluator(chain_with(**changes), ChainNetwork(), ORIGIN, samples=20)


def test_standalone_modules_go_as_deep_as_the_agent(tmp_path):
    exported = export_chain()
    assert exported.standalone
    (entry,) = exported.coverage
    assert entry.nested >= 2_000
    path = tmp_path / "chain.py"
    path.write_text(exported.text + "\ncounter = Counter([10_000])\ndown(counter)\nprint(counter.box)\n")
    outcome = run_script(path)
    assert (outcome.stdout, outcome.stderr) == ("[0]\n", "")


def test_a_runtime_that_cannot_go_deep_is_noticed():
    source = CHAIN_SOURCE + "\nimport sys\nsys.setrecursionlimit(300)\n"
    with pytest.raises(SpecificationError, match=r"standalone\(\): .*RecursionError"):
        export_chain(source=source)


# ---------------------------------------------------------------------------- broken runtimes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": CHAIN_SOURCE + "\nraise ValueError('no')\n"}, "source cannot be run: ValueError: no"),
        ({"source": CHAIN_SOURCE + "\nimport sys\nsys.exit(7)\n"}, "source cannot be run: SystemExit: 7"),
        ({"source": "class Counter(:\n"}, "source: line 1: invalid syntax"),
        ({"source": None}, "source: "),
        ({"class_name": "Count"}, "no class Count"),
        ({"class_name": "no class"}, "'no class', which is no name in Python"),
        ({"parameter": "for"}, "'for', which is no name in Python"),
        ({"inner": {"DOWN": "in side"}}, "'in side', given for DOWN, is no name"),
        ({"inner": {"DOWN": "outside"}}, r"smaller problem of DOWN, Counter.outside\(\): AttributeError"),
        (
            {"source": CHAIN_SOURCE.replace("def step", "def stop")},
            r"the action STEP, Counter.step\(\): AttributeError.*in state",
        ),
        (
            {"source": CHAIN_SOURCE.replace("-= 1", "-= 2")},
            r"counter.done is False where the environment says 1 after the action STEP, in state",
        ),
        (
            {"source": CHAIN_SOURCE.replace("self.box[0] == self.taken", "self.box[0] < self.taken")},
            "counter.done is False where the environment says 1 at",
        ),
        (
            {"source": CHAIN_SOURCE.replace("self.box[0] == self.taken", "1 / 0")},
            "counter.done raises ZeroDivisionError: .* at the start, in state",
        ),
        ({"source": CHAIN_SOURCE.replace("def done", "def finished")}, "counter.done raises AttributeError"),
        ({"arguments": lambda state: [state].index("x")}, "arguments of state .*: ValueError"),
        ({"arguments": lambda state: (1, 2, 3, 4)}, r"Counter\(1, 2, 3, 4\), for state .*: TypeError"),
        ({"arguments": lambda state: 3}, "arguments of state .*: TypeError"),
        ({"agrees": lambda state, counter: counter.nothing}, "agrees, for the final state .*: AttributeError"),
        ({"agrees": lambda state, counter: False}, "agrees says that its object is not in the final state"),
        ({"fields": {"done": "counter.done +"}}, r"fields: 'counter.done \+', given for done, is no expression"),
        ({"fields": {"done": "not counter.done"}}, r"not counter.done is .* where the environment says"),
    ],
)
def test_a_broken_runtime_is_named_as_such(changes, message):
    with pytest.raises(SpecificationError, match=rf"(?s)^StandaloneChain: standalone\(\): .*{message}") as caught:
        export_chain(**changes)
    assert "arger problems" not in str(caught.value)


def test_a_standalone_that_raises_or_is_none_is_one_message():
    class Raising(Chain):
        def standalone(self):
            raise OSError("no such file")

    class Confused(Chain):
        def standalone(self):
            return "class Counter: ..."

    for environment, message in ((Raising(), "standalone: OSError: no such file"), (Confused(), "not a Standalone")):
        with pytest.raises(alphanpi.AlphaNPIError, match=message):
            alphanpi.export_evaluator(environment, ChainNetwork(), ORIGIN, samples=5)


def test_agrees_that_always_does_is_noticed():
    exported = export_chain()
    assert exported.warnings == (
        "DOWN: no starts were enumerated, so nothing was compared completely; "
        "give StandaloneChain a member enumerate() or templates()",
    )

    class Wide(StandaloneChain):
        """Ends in different states."""

        def initial(self, program, size, rng):
            return size

        @program(
            level=1,
            depth=4,
            recursive=True,
            shrink=lambda state: None,
            restore=lambda caller, callee: callee,
        )
        def DOWN(self, before, after):
            return after == before - 1

        def observe(self, state):
            return (0,)

    def once(see, size):
        yield "STEP"
        yield STOP

    environment = Wide()
    environment.changes = {"agrees": lambda state, counter: True}
    assert any("agrees holds whatever" in warning for warning in scripted(environment, {"DOWN": once}).warnings)
    environment.changes = {}
    assert not any("agrees holds whatever" in warning for warning in scripted(environment, {"DOWN": once}).warnings)


def test_an_environment_that_depends_on_more_than_its_state_is_refused():
    class Moody(Chain):
        calls = 0

        def pre(self, program, state, caller=None):
            if program == "STEP":
                type(self).calls += 1
                return type(self).calls % 3 > 0 and state > 0
            return super().pre(program, state, caller)

        def post(self, program, before, after):
            return True

    with pytest.raises(ExportFailed, match=r"anything but its state|made from this very run"):
        alphanpi.export_evaluator(Moody(), ChainNetwork(), ORIGIN, samples=20)


@pytest.mark.parametrize(
    "source",
    [
        # A method that nothing but `agrees` uses, and one that only a base class knows of.
        CHAIN_SOURCE + "\n    def shown(self):\n        return list(self.box)\n",
        # No blank line above a method that is left out.
        CHAIN_SOURCE.replace("    @property", "    other = 1\n    def unused(self):\n        pass\n\n    @property"),
        # Inherited actions.
        "class Base:\n    def step(self):\n        self.box[0] -= 1\n"
        + CHAIN_SOURCE.replace("Counter:", "Counter(Base):", 1).replace(
            "    def step(self):\n        self.box[0] -= 1\n", ""
        ),
        # The smaller problem is of another class; one action uses itself.
        CHAIN_SOURCE.replace("return Counter(", "return Inside(") + "\nclass Inside(Counter):\n    pass\n",
        "from __future__ import annotations\nimport json\nfrom os import (\n    path,\n    sep,\n)\n" + CHAIN_SOURCE,
        '"""A docstring."""\n' + CHAIN_SOURCE,
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Note:\n    text: str\n\n\n" + CHAIN_SOURCE,
    ],
)
def test_unusual_runtimes_are_kept_whole(source):
    def agrees(state, counter):
        return (counter.shown() if hasattr(counter, "shown") else counter.box) == [state]

    exported = export_chain(source=source, agrees=agrees)
    module = loaded(exported.text)
    counter = module.Counter([50])
    module.down(counter)
    assert counter.box == [0]
    if "other = 1" in source:
        assert module.Counter.other == 1
        assert not hasattr(module.Counter, "unused")


def test_an_expression_for_a_field_keeps_its_meaning():
    class Twice(StandaloneChain):
        fields = ("open",)

        def observe(self, state: int) -> tuple[int, ...]:
            return (int(state != 0),)

    class Inverse(ChainNetwork):
        def evaluate(self, programs, observations, memory):
            return super().evaluate(programs, 1 - observations, memory)

    for expression in (
        "not counter.done and True",
        "1 - counter.done  # a comment",
        "counter.box[0] != counter.taken",
        "0 if counter.done else 1",
    ):
        environment = Twice()
        environment.changes = {"fields": {"open": expression}}
        module = loaded(alphanpi.export_evaluator(environment, Inverse(), ORIGIN, samples=10).text)
        counter = module.Counter([9])
        module.down(counter)
        assert counter.box == [0]


# ---------------------------------------------------------------------------- names


def test_equal_names_of_fields_and_derived_conditions_are_refused():
    class Double(Chain):
        derived = ("done",)

        def derive(self, observation):
            return (1 - observation[0],)

    with pytest.raises(SpecificationError, match="'done' is there twice"):
        alphanpi.export_evaluator(Double(), ChainNetwork(), ORIGIN, samples=5)


def test_functions_whose_names_would_collide_get_different_ones():
    names = ("Go", "GO", "ENV", "PRINT", "IF", "Sys")
    members = {name: program(level=1, depth=3)(lambda self, before, after: True) for name in names}
    kind = type("Names", (Chain,), {**members, "fields": ("done",)})
    environment = kind()
    functions = function_names(environment.library, None)
    assert len(set(functions.values())) == len(functions) == len(names) + 1
    assert functions["Go"] == "go"
    assert functions["GO"] == "GO"
    assert "env" not in functions.values()
    assert not any(keyword.iskeyword(name) or hasattr(__builtins__, name) for name in functions.values())

    def stop(see, size):
        yield STOP

    exported = scripted(type("Free", (kind,), {"DOWN": None})(), dict.fromkeys(names, stop), samples=12)
    module = loaded(exported.text)
    for name in names:
        getattr(module, functions[name])(Machine(environment, name, 3))


def test_a_runtimes_own_names_are_not_overwritten():
    source = CHAIN_SOURCE + "\n\ndef down(counter):\n    raise NotImplementedError('mine')\n"
    exported = export_chain(source=source)
    module = loaded(exported.text)
    counter = module.Counter([4])
    module.DOWN(counter)
    assert counter.box == [0]
    with pytest.raises(NotImplementedError):
        module.down(counter)


def test_two_actions_for_one_method_are_refused_and_keywords_get_an_underscore():
    class Same(StandaloneChain):
        @action()
        def Step(self, state):
            return state

    with pytest.raises(SpecificationError, match=r"standalone\(\): the actions STEP and Step would both be the method"):
        scripted(Same(), {"DOWN": lambda see, size: iter(())})

    class Pass(Environment[int]):
        fields = ("zero",)

        @action()
        def PASS(self, state):
            return 0

        @program(level=1, depth=2)
        def CLEAR(self, before, after):
            return after == 0

        def initial(self, program, size, rng):
            return size

        def observe(self, state):
            return (int(state == 0),)

        def size(self, state):
            return state

        def standalone(self):
            source = "class Cell:\n    def __init__(self, value):\n        self.value = value\n\n"
            source += "    def pass_(self):\n        self.value = 0\n"
            return Standalone("cell", "Cell", source, lambda state: (state,), lambda state, cell: cell.value == state)

    def clear(see, size):
        yield "PASS"
        yield STOP

    exported = scripted(Pass(), {"CLEAR": clear})
    assert "    cell.pass_()" in exported.text


HOSTILE = [
    'quote"""',
    'ends with a quote"',
    "ends with a backslash\\",
    "'''",
    'x"""\nimport os\nos._exit(3)\n"""',
    "tab\tnull\0bell\a",
    "line\r\nend\u2028\u2029\x85\x0c",
    "lone \ud800 surrogate",
    "{braces} %s \\N{DASH} \\x41",
    "& &lt; <b>",
]


def test_whatever_text_there_is_stays_text():
    for text in HOSTILE:
        assert ast.literal_eval(literal(text)) == text
        assert ast.literal_eval(docstring(text)) == text
        assert "\n" not in literal(text)
        label = dot_string([text])
        assert label.count("\n") == 0
        assert label[1:-1].replace("\\\\", "").count('"') == label[1:-1].replace("\\\\", "").count('\\"')


@given(st.text(st.characters(), max_size=30))
@settings(max_examples=300)
def test_text_survives_quoting(text):
    assert ast.literal_eval(literal(text)) == text
    assert ast.literal_eval(docstring(text)) == text
    compile(f"def f():\n    {docstring(text)}", "<test>", "exec")


def strange(summary: str, field: str, title: str) -> Environment:
    """A small environment whose texts are as given."""

    def mark(self, state):
        return 1

    def goal(self, before, after):
        return after == 1

    goal.__doc__ = summary
    members: dict[str, Any] = {
        "__doc__": title,
        "fields": (field,),
        "MARK": action()(mark),
        "GOAL": program(level=1, depth=2)(goal),
        "initial": lambda self, program, size, rng: 0 if rng.integers(2) else -size,
        "observe": lambda self, state: (int(state < 0),),
        "size": lambda self, state: max(1, -state),
    }
    environment: Environment = type("Strange", (Environment,), members)()
    return environment


class Constant(ScriptedEvaluator):
    def action(self, program, history):
        return "MARK" if len(history) == 1 and history[0][0] == 1 else STOP if len(history) > 1 else "MARK"


def shape(text: str) -> list[str]:
    """The kinds of all nodes of a module, without what its strings and names say."""
    return [type(node).__name__ for node in ast.walk(ast.parse(text))]


def encodable(text: str) -> bool:
    """Whether Python accepts it as the docstring of a class."""
    return "\ud800" not in text


TEXT = st.one_of(st.text(max_size=20), st.sampled_from(HOSTILE))


@given(agent=TEXT, summary=TEXT, field=TEXT, option=TEXT, title=TEXT.filter(encodable))
@settings(max_examples=25, deadline=None)
def test_hostile_texts_reach_no_statement(agent, summary, field, option, title):
    def module(agent, summary, field, option, title):
        environment = strange(summary, field, title)
        origin = Origin(agent, "0" * 12, "test", {"option": option})
        evaluator = Constant(environment, {})
        return environment, alphanpi.export_evaluator(environment, evaluator, origin, samples=4, max_size=1)

    plain_summary = "Mark." if summary.strip() else ""
    _, plain = module("agent", plain_summary, "field", "option", "Title.")
    environment, hostile = module(agent, summary, field, option, title)
    assert shape(hostile.text) == shape(plain.text)
    tree = ast.parse(hostile.text)
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    expected = environment.library.named("GOAL").summary
    assert (ast.get_docstring(function, clean=False) or "") == expected
    hostile.text.encode()  # can be written
    graph = as_dot(hostile.programs, environment.library)
    assert graph.count("\n") == as_dot(plain.programs, environment.library).count("\n")
    machine = Machine(environment, "GOAL", 0)
    loaded(hostile.text).goal(machine)
    assert machine.state == 1


def test_a_field_that_is_no_name_is_asked_for_by_a_string():
    class Odd(StandaloneChain):
        fields = ("is done?",)

    source = CHAIN_SOURCE + "\n    def __getattr__(self, name):\n        return {'is done?': self.done}[name]\n"
    environment = Odd()
    environment.changes = {"source": source}
    exported = alphanpi.export_evaluator(environment, ChainNetwork(), ORIGIN, samples=10)
    assert 'getattr(counter, "is done?")' in exported.text


def test_a_runs_folder_with_quotes_is_exported():
    origin = Origin('run"""\nimport os\nos._exit(3)\n"""', "0" * 12, "hanoi", {"a": 'b"""'})
    text = scripted(make("hanoi"), None, origin=origin, max_size=3, samples=5).text
    module = loaded(text)
    assert 'run"""\\nimport os\\nos._exit(3)' in " ".join(str(module.__doc__).split())
    assert not hasattr(module, "os")


# ---------------------------------------------------------------------------- conditions


def atom(name: str) -> Atom:
    return Atom(name, f"not {name}", negative=False)


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_conditions_keep_their_meaning_negated_and_wrapped(data):
    names = "abcd"

    def tree(depth: int):
        if depth == 0 or data.draw(st.booleans()):
            one = atom(data.draw(st.sampled_from(names)))
            return negated(one) if data.draw(st.booleans()) else one
        return joined(data.draw(st.sampled_from(("and", "or"))), [tree(depth - 1) for _ in range(2)])

    expression = tree(3)
    width = data.draw(st.integers(8, 60))
    for values in itertools.product((False, True), repeat=len(names)):
        scope = dict(zip(names, values, strict=True))
        held = eval(flat(expression), {}, scope)
        assert eval("(\n" + "\n".join(lines(expression, width)) + "\n)", {}, scope) == held
        assert eval(flat(negated(expression)), {}, scope) != held
    assert not re.search(r"not \(?not \w\b(?! and| or)", flat(negated(expression)))


class Parity(Environment[tuple[int, ...]]):
    """Says whether three bits have an odd sum."""

    fields = ("the_first_of_all_bits", "the_second_of_all_bits", "the_third_of_all_bits")

    @action()
    def YES(self, state):
        return (*state[:3], 1)

    @action()
    def NO(self, state):
        return (*state[:3], 0)

    @program(level=1, depth=2)
    def ODD(self, before, after):
        return after[3] == sum(before[:3]) % 2

    def initial(self, program, size, rng):
        return (*(int(bit) for bit in rng.integers(2, size=3)), -size)

    def observe(self, state):
        return state[:3]

    def size(self, state):
        return 1


def odd(see, size):
    yield "YES" if sum(vars(see).values()) % 2 else "NO"
    yield STOP


def test_long_conditions_are_wrapped_and_graphs_have_no_double_negation():
    environment = Parity()
    exported = scripted(environment, {"ODD": odd}, samples=60)
    assert max(map(len, exported.text.splitlines())) <= 100
    graph = as_dot(exported.programs, environment.library)
    assert "not (not" not in graph
    assert "not not" not in graph
    for label in graph.split("\n"):
        assert max(map(len, re.split(r"\\[nl]", label))) < 100


def test_graphs_of_loops_have_no_double_negation():
    exported = alphanpi.export_evaluator(Chain(), ChainNetwork(), ORIGIN, samples=10)
    graph = as_dot(exported.programs, Chain.library)
    assert "not (not" not in graph
    assert "done\\nSTOP" in graph


# ---------------------------------------------------------------------------- what is claimed


class Walk(NamedTuple):
    length: int
    position: int


class Tour(Environment[Walk]):
    """There and back. The way back has to be counted: nothing says where it ends."""

    fields: tuple[str, ...] = ("at_end",)
    longest = 10_000

    @action(pre=lambda walk: walk.position + 1 < walk.length)
    def RIGHT(self, walk: Walk) -> Walk:
        return walk._replace(position=walk.position + 1)

    @action(pre=lambda walk: walk.position > 0)
    def LEFT(self, walk: Walk) -> Walk:
        return walk._replace(position=walk.position - 1)

    @program(level=1, depth=lambda walk: 2 * walk.length)
    def TOUR(self, before: Walk, after: Walk) -> bool:
        return after == before

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Walk:
        return Walk(min(size, self.longest), 0)

    def enumerate(self, program: str, size: int):
        yield Walk(min(size, self.longest), 0)

    def observe(self, walk: Walk) -> tuple[int, ...]:
        return (walk.position == walk.length - 1,)

    def size(self, walk: Walk) -> int:
        return walk.length


def tour(see, size):
    steps = 0
    while not see.at_end:
        see = yield "RIGHT"
        steps += 1
    for _ in range(steps):
        yield "LEFT"
    yield STOP


@pytest.mark.parametrize("max_size", [2, 3])
def test_a_loop_written_out_is_refused_however_small_the_sizes(max_size):
    with pytest.raises(ExportFailed, match="TOUR"):
        scripted(Tour(), {"TOUR": tour}, max_size=max_size, samples=8)


def test_a_loop_written_out_is_called_that_where_no_larger_problem_can_tell():
    environment = Tour()
    environment.longest = 9
    exported = scripted(environment, {"TOUR": tour}, samples=8)
    assert not exported.general
    assert exported.coverage[0].written_out
    assert exported.coverage[0].fresh == 0
    text = " ".join(exported.text.split())
    assert "NOT ESTABLISHED: TOUR: the code seems to be a loop written out" in text
    assert "NOT ESTABLISHED: TOUR: no start could be drawn after the code was found" in text
    assert "none drawn after the code was found" in text
    document = json.loads(scripted(environment, {"TOUR": tour}, samples=8, format="json").text)
    assert document["general"] is False
    assert document["coverage"][0]["written_out"] is True
    assert "NOT ESTABLISHED: TOUR" in scripted(environment, {"TOUR": tour}, samples=8, format="dot").text


def test_calls_of_every_length_there_can_be_are_complete():
    class Short(Tour):
        @program(level=1, depth=17)
        def TOUR(self, before, after):
            return after == before

    environment = Short()
    environment.longest = 9
    assert not scripted(environment, {"TOUR": tour}, samples=8).coverage[0].written_out


def test_a_real_loop_is_not_called_written_out():
    class Seen(Tour):
        fields = ("at_start", "at_end")

        def observe(self, walk):
            return walk.position == 0, walk.position == walk.length - 1

    def both(see, size):
        while not see.at_end:
            see = yield "RIGHT"
        while not see.at_start:
            see = yield "LEFT"
        yield STOP

    exported = scripted(Seen(), {"TOUR": both}, max_size=6, samples=40)
    assert exported.general
    (entry,) = exported.coverage
    assert entry.fresh_to >= 4 * entry.learned_to
    assert 'while not env.field("at_start"):' in exported.text


def test_fresh_starts_go_far_beyond_those_the_code_was_made_from(marking):
    exported = marking
    for entry in exported.coverage:
        assert entry.fresh > 0
        assert entry.fresh_to >= 3 * entry.learned_to
        described = f"{entry.fresh:,} drawn after the code was found, up to size {entry.fresh_to}"
        assert described in " ".join(exported.text.split())


def test_code_that_is_right_only_up_to_the_sizes_seen_is_refused():
    class Turning(Marking):
        """An agent that does something else on long boards, of which it sees the length."""

        fields = ("last", "long")

        def observe(self, board):
            return board.start == len(board.cells) - 1, len(board.cells) > 30

        def post(self, program, before, after):
            return True

    def turning(see, size):
        if not see.long:
            yield "MARK"
        if not see.last:
            yield "FILL"
        yield STOP

    exported = scripted(Turning(), {"FILL": turning, "TOP": top}, max_size=4, samples=60)
    assert exported.rounds > 1  # learned from boards longer than any it was first made from
    assert 'env.field("long")' in exported.text
    assert any("earlier round" in warning for warning in exported.warnings)


def test_raising_the_maximal_size_until_nothing_is_left_to_draw_is_said(run, tmp_path, monkeypatch):
    from alphanpi.exporting import sampling

    monkeypatch.setattr(sampling, "_STEPS_OF_A_FAR_RUN", 500)
    target = tmp_path / "hanoi.py"
    code, _, err = run("export", "pretrained:hanoi", "--max-size", 7, "--samples", 5, "-o", target)
    assert code == 3
    assert "warning: HANOI: no start could be drawn after the code was found" in err
    assert "NOT ESTABLISHED" in target.read_text()


def test_an_environment_without_larger_problems_is_said_to_have_none():
    class Small(Marking):
        train_sizes = (1, 2)
        validation_size = 2
        test_sizes = (2,)

        def initial(self, program, size, rng):
            if size > 2:
                raise ValueError("boards have two cells at most")
            return Board((0,) * size, 0)

    exported = scripted(Small(), {"FILL": fill, "TOP": top}, max_size=2, samples=10)
    assert not exported.general
    assert any("boards have two cells at most" in warning for warning in exported.warnings)


def test_initial_that_raises_for_a_size_it_was_named_for_is_an_error():
    class Broken(Marking):
        def initial(self, program, size, rng):
            raise ValueError("no")

    with pytest.raises(alphanpi.EnvironmentFault, match="initial state of FILL at size"):
        scripted(Broken(), {"FILL": fill, "TOP": top}, max_size=2)


# ---------------------------------------------------------------------------- templates


def test_weak_orders_are_all_there():
    assert [len(list(weak_orders(count))) for count in range(6)] == [1, 1, 3, 13, 75, 541]
    assert len(set(weak_orders(4))) == 75


class Larger(Environment[tuple[int, ...]]):
    """Puts the first two of some values in order; starts are given around values."""

    fields = ("first_larger",)

    @action()
    def SWAP(self, state):
        return (state[1], state[0], *state[2:])

    @program(level=1, depth=2, minimum_size=2)
    def ORDER(self, before, after):
        return after[0] <= after[1]

    def initial(self, program, size, rng):
        return tuple(int(value) for value in rng.integers(100, size=size))

    def templates(self, program, size, values):
        yield tuple(values)

    def observe(self, state):
        return (state[0] > state[1],)

    def size(self, state):
        return len(state)


def order(see, size):
    if see.first_larger:
        yield "SWAP"
    yield STOP


def test_templates_are_enumerated_with_values_in_every_order():
    exported = scripted(Larger(), {"ORDER": order}, max_size=4)
    assert exported.coverage[0].enumerated == 3 + 13 + 75
    assert not any("enumerate" in warning for warning in exported.warnings)

    class Neither(Larger):
        def templates(self, program, size, values):
            raise NotImplementedError

    exported = scripted(Neither(), {"ORDER": order})
    assert exported.coverage[0].enumerated == 0
    assert any("enumerate() or templates()" in warning for warning in exported.warnings)


# ---------------------------------------------------------------------------- time


def test_time_over_is_one_line_and_nothing_is_written(run, tmp_path):
    target = tmp_path / "sort.py"
    began = time.monotonic()
    code, out, err = run("export", "pretrained:sorting", "-o", target, "--time-limit", "2s")
    assert (code, out) == (1, "")
    assert "nothing exported: no code was found within 2 s; the last thing tried: " in err
    assert err.count("\n") == 1
    assert time.monotonic() - began < 60
    assert not target.exists()


@pytest.mark.parametrize("text", ["", "soon", "-5", "0", "5 days", "1e3"])
def test_bad_time_limits_are_one_line(run, text):
    code, out, err = run("export", "pretrained:hanoi", f"--time-limit={text}")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_durations_are_read():
    assert [duration(text) for text in ("90", "90s", "1.5m", "1h")] == [90, 90, 90, 3600]


def test_an_interrupt_passes(monkeypatch):
    class Interrupted(Chain):
        def observe(self, state):
            if state > 20:
                raise KeyboardInterrupt
            return super().observe(state)

    with pytest.raises(KeyboardInterrupt):
        alphanpi.export_evaluator(Interrupted(), ChainNetwork(), ORIGIN, samples=10)


# ---------------------------------------------------------------------------- the package


def test_no_module_hides_a_public_function():
    modules = {module.name for module in pkgutil.iter_modules(alphanpi.__path__)}
    assert not modules & set(alphanpi.__all__)
    for name in sorted(modules - {"__main__"}):
        importlib.import_module(f"alphanpi.{name}")
    for name in alphanpi.__all__:
        assert not isinstance(getattr(alphanpi, name), types.ModuleType)


def test_imports_are_divided_from_the_rest():
    source = (
        '"""Text."""\nfrom __future__ import annotations\n\nimport sys\nfrom os import path\n\n\nX = 1\nimport json\n'
    )
    imports, body = divided(source)
    assert imports == "import sys\nfrom os import path"
    assert ast.unparse(ast.parse(body)) == '"""Text."""\nX = 1\nimport json'
