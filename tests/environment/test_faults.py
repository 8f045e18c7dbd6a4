"""Faults of environments: every member ends in one line, whatever it does."""

from __future__ import annotations

import sys

import pytest

from alphanpi import EnvironmentFault, SearchConfig, SpecificationError, action, program
from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.environment.registry import make
from alphanpi.environment.specification import require_specified
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.networks import HashNetwork


def member(text: str) -> str:
    """A member whose body is one line."""
    head, _, body = text.partition(": ")
    return f"\ndef {head}:\n    {body}\n"


def one_line(outcome) -> str:
    code, out = outcome[:2]
    lines = [line for line in outcome[2].splitlines() if "still running" not in line]  # the first waits for a compiler
    err: str = lines[0]
    assert code == 2
    assert err.startswith("alphanpi: error: ")
    assert len(lines) == 1
    assert "Traceback" not in out + err
    return err


FAULTS = [
    ("initial(self, program, size, rng): return 1 / 0", "eval", "initial state of EMPTY at size 5: ZeroDivisionError"),
    ("initial(self, program, size, rng): sys.exit(3)", "eval", "initial state of EMPTY at size 5: SystemExit: 3"),
    ("initial(self, program, size, rng): return [size]", "eval", "unhashable state: a list"),
    ("initial(self, program, size, rng): raise MemoryError", "eval", "initial state of EMPTY at size 5: MemoryError"),
    ("format(self, state): return 1 / 0", "trace", "format in state 3: ZeroDivisionError"),
    ("format(self, state): return None", "trace", "format: it returned a NoneType, not a text (state 3"),
    ("format(self, state): return b'3'", "search", "format: it returned a bytes, not a text (state 3"),
    ("format(self, state): sys.exit()", "search", "format in state 3: SystemExit"),
    ("observe(self, state): return itertools.count()", "search", "observe returned 2 entries for 1 fields (state 3"),
    ("observe(self, state): return 'x'", "search", "observe: it returned a str, not a tuple"),
    ("observe(self, state): return None", "search", "observe: it returned a NoneType, not a tuple"),
    ("observe(self, state): return 5", "search", "observe in state 3: TypeError"),
    ("observe(self, state): return self.observe(state)", "search", "observe in state 3: RecursionError"),
    ("observe(self, state): sys.exit('bye')", "run", "observe in state 3: SystemExit: bye"),
    ("act(self, state, action): sys.exit(0)", "search", "action DOWN in state 3: SystemExit: 0"),
    ("act(self, state, action): return [state]", "search", "action DOWN in state 3: unhashable state: a list"),
    ("act(self, state, action): return None", "search", "action DOWN: it returned None instead of a state"),
    ("pre(self, program, state, caller=None): sys.exit(0)", "run", "pre-condition of EMPTY in state 3: SystemExit"),
    ("post(self, program, before, after): sys.exit(0)", "search", "post-condition of EMPTY begun in 3"),
    ("depth(self, program, state): return 2.5", "run", "depth: 2.5 for EMPTY is no whole number (state 3"),
    ("depth(self, program, state): return 'x'", "run", "depth: 'x' for EMPTY is no whole number (state 3"),
    ("depth(self, program, state): return 10**12", "run", "depth: 1000000000000 for EMPTY is more than 2,147,483,647"),
    ("depth(self, program, state): return 0", "run", "EMPTY: depth 0 leaves no room for STOP"),
    ("legal(self, program, state): return (True,)", "search", ": legal: what is legal follows from"),
    ("parse(self, program, text): sys.exit(9)", "run", "'3' cannot be read as an instance of EMPTY: 9"),
    ("parse(self, program, text): return {}", "run", "unhashable state: a dict"),
    ("parse(self, program, text): raise RecursionError", "run", "an instance of EMPTY: RecursionError"),
    ("base_case(self, program, state): sys.exit(9)", "search", "base_case of EMPTY in state 3: SystemExit"),
]


@pytest.mark.parametrize(("text", "command", "message"), FAULTS, ids=[text for text, _, _ in FAULTS])
def test_a_member_at_fault_ends_in_one_line(run, rewritten, tmp_path, text, command, message):
    path = rewritten(member(text))
    arguments = {
        "eval": ("eval", tmp_path, "--env", path, "--episodes", 1, "--mode", "greedy"),
        "trace": ("trace", tmp_path, "EMPTY", 3, "--env", path),
        "run": ("run", tmp_path, "EMPTY", 3, "--env", path),
        "search": ("search", path, "EMPTY", 3, "--simulations", 20),
    }[command]
    err = one_line(run(*arguments))
    assert message in err
    assert "Countdown" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("test_sizes = ('5',)", "`test_sizes` holds '5'"),
        ("test_sizes = (-1,)", "`test_sizes` holds -1"),
        ("test_sizes = ()", "`test_sizes` must be a tuple of sizes, one or more"),
        ("test_sizes = 5", "`test_sizes` must be a tuple of sizes, one or more; it is 5"),
        ("test_sizes = (10**12,)", "`test_sizes` holds 1000000000000; give whole numbers from 0 to 1,000,000"),
        ("train_sizes = (1.5,)", "`train_sizes` holds 1.5"),
        ("train_sizes = iter((1, 2))", "`train_sizes` must be a tuple of sizes"),
        ("train_sizes = (True,)", "`train_sizes` holds True"),
        ("train_sizes = (0,)", "EMPTY: minimum_size 1 is beyond `train_sizes`"),
        ("validation_size = '3'", "`validation_size` holds '3'"),
        ("validation_size = 0", "EMPTY: minimum_size 1 is beyond `validation_size`"),
        ("version = 'two'", "`version` holds 'two'"),
        ("fields = iter(('zero',))", "`fields` must name every entry of an observation, in a tuple"),
        ("fields = 'zero'", "`fields` must name every entry of an observation, in a tuple"),
        ("fields = ()", "`fields` must name every entry of an observation"),
        ("fields = ('zero', 'zero')", "`fields` has a duplicate name"),
        ("derived = ('a', 1)", "`derived` must name conditions"),
        ("size_unit = 'disks'", "`size_unit` must be two words"),
        ("size_unit = ('disk',)", "`size_unit` must be two words"),
    ],
)
def test_sizes_and_names_are_checked_before_anything_is_done(run, rewritten, text, message):
    path = rewritten(text, weights=False)
    assert message in one_line(run("search", path, "EMPTY", 3))


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ({"depth": "8"}, "depth '8' is neither a whole number nor a function"),
        ({"depth": 2**40}, "is more than 2,147,483,647"),
        ({"depth": 8, "minimum_size": -1}, "`minimum_size` holds -1"),
        ({"depth": 8, "minimum_size": "1"}, "`minimum_size` holds '1'"),
        ({"depth": 8, "pre": True}, "pre= must be a function; it is True"),
        ({"depth": 8, "level": 1.5}, "`level` holds 1.5"),
    ],
    ids=str,
)
def test_declarations_are_checked_when_the_class_is_made(declaration, message):
    with pytest.raises(SpecificationError, match=message):

        class Broken(Chain):
            @program(**{"level": 1, **declaration})
            def OTHER(self, before, after):
                return True


def test_the_shipped_environments_are_specified():
    for name in ("hanoi", "sorting", "recursive-sorting", "flat-sorting"):
        require_specified(make(name))


class Late(Chain):
    """Its action returns something unhashable, late."""

    def __init__(self, wrong):
        self.wrong = wrong

    @action(pre=lambda state: True)
    def STEP(self, state):
        return state + 1 if state < 2000 else self.wrong

    @program(level=1, depth=5000)
    def DOWN(self, before, after):
        return False


@pytest.mark.parametrize("wrong", [[1], {}, None, bytearray(b"x")], ids=repr)
def test_an_unhashable_state_is_found_however_late(wrong):
    interpreter = Interpreter(Late(wrong), ChainStepper())
    with pytest.raises(SpecificationError, match="action STEP"):
        interpreter.run([Call("DOWN", 0)])


class ChainStepper(ChainNetwork):
    """STEP for ever."""

    def evaluate(self, programs, observations, memory):
        found = super().evaluate(programs, observations, memory)
        found.logits[:] = (0, 1, -1)
        return found._replace(memory=memory)


class Angry:
    """Has a hash, and objects to being compared."""

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return 1

    def __eq__(self, other):
        raise ArithmeticError("no")


def test_states_that_cannot_be_compared_are_the_environments_fault():
    class Sulking(Chain):
        @action()
        def STEP(self, state):
            return Angry(state)

        def observe(self, state):
            return (0,)

        @program(level=1, depth=4)
        def DOWN(self, before, after):
            return False

    search = Search(Sulking(), HashNetwork(3, 0), SearchConfig(simulations_exploitation=10))
    with pytest.raises(EnvironmentFault, match=r"action STEP: comparing states in state .*: ArithmeticError: no"):
        search.run([Request("DOWN", Angry(0))])


def test_pre_conditions_that_exit_are_faults_in_the_search_too():
    class Leaving(Chain):
        @action(pre=lambda state: sys.exit(0))
        def STEP(self, state):
            return state - 1

    search = Search(Leaving(), HashNetwork(3, 0))
    with pytest.raises(EnvironmentFault, match="pre-condition of STEP called by DOWN in state 3: SystemExit: 0"):
        search.run([Request("DOWN", 3)])


def test_evaluation_names_what_it_was_measuring(run, rewritten, tmp_path):
    path = rewritten(member("observe(self, state): return 1 / 0"))
    err = one_line(run("eval", tmp_path, "--env", path, "--sizes", "4", "--episodes", 1))
    assert "observe in state 4: ZeroDivisionError" in err
    assert "(measuring EMPTY at size 4, greedy)" in err


def test_text_that_cannot_be_written_is_replaced(run, rewritten):
    path = rewritten(member(r"format(self, state): return f'\udcff{state}'"), weights=False)
    code, out, _ = run("search", path, "EMPTY", 1, "--simulations", 20)
    assert code == 0
    assert "?1" in out
