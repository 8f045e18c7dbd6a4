"""Faults of environments: every member ends in one line, whatever it does, and Ctrl-C works whatever it does not."""

from __future__ import annotations

import ast
import itertools
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from alphanpi import Environment, EnvironmentFault, SearchConfig, SpecificationError, UsageError, action, program
from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.engine import episodes
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.engine.tables import Hole
from alphanpi.environment.guard import Guard
from alphanpi.environment.registry import make
from alphanpi.environment.specification import require_specified
from alphanpi.learn.presets import preset
from alphanpi.learn.trainer import Trainer
from alphanpi.network.model import CompiledEvaluator, create_network
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.countdown import COUNTDOWN, rewritten
from tests.helpers.networks import HashNetwork
from tests.helpers.paths import ROOT

SOURCES = ROOT / "src" / "alphanpi"


@pytest.fixture
def written(tmp_path: Path, forget_loaded_files):
    """Writes an environment's file with other members, and weights that know nothing; what runs take as RUN."""
    return partial(rewritten, tmp_path)


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


# ---------------------------------------------------------------------------- members, called by commands

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
def test_a_member_at_fault_ends_in_one_line(run, written, tmp_path, text, command, message):
    path = written(member(text))
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
    ],
)
def test_sizes_and_names_are_checked_before_anything_is_done(run, written, text, message):
    path = written(text, weights=False)
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


@pytest.mark.parametrize("found", [2.0, float("nan"), -1, "3", None, np.float64(2)], ids=repr)
@pytest.mark.parametrize("name", ["size", "measure"])
def test_sizes_and_measures_are_whole_numbers(name, found):
    guard = Guard(type("Broken", (Chain,), {name: lambda self, *arguments: found})())
    with pytest.raises(SpecificationError, match=rf"Broken: {name}: it returned .* \(state 3, .*test_faults.py:\d+\)"):
        guard.size(3) if name == "size" else guard.measure("DOWN", 3)


def test_sizes_may_be_numpys():
    guard = Guard(type("Fine", (Chain,), {"size": lambda self, state: np.int64(state)})())
    assert (guard.size(3), guard.measure("DOWN", 3)) == (3, 3)


@pytest.mark.parametrize(
    ("members", "call", "message"),
    [
        ({"cutoff": lambda self: 5}, lambda guard: guard.cutoff(), "cutoff: it returned a int, not a Cutoff"),
        ({"standalone": lambda self: "x"}, lambda guard: guard.standalone(), "it returned a str, not a Standalone"),
        ({"enumerate": lambda self, *_: [[1]]}, lambda guard: list(guard.enumerate("DOWN", 1)), "unhashable state"),
        ({"enumerate": lambda self, *_: [None]}, lambda guard: list(guard.enumerate("DOWN", 1)), "returned None"),
        ({"enumerate": lambda self, *_: 5}, lambda guard: list(guard.enumerate("DOWN", 1)), "TypeError"),
        ({"derived": ("a",), "derive": lambda self, seen: (0.5,)}, lambda guard: guard.derive((1,)), "'a' is 0.5"),
        (
            {"derived": ("a",), "derive": lambda self, seen: itertools.count()},
            lambda guard: guard.derive((1,)),
            "2 values for 1",
        ),
    ],
)
def test_what_optional_members_return_is_checked(members, call, message):
    with pytest.raises((SpecificationError, EnvironmentFault), match=message):
        call(Guard(type("Broken", (Chain,), members)()))


def test_a_size_beyond_all_bounds_is_refused_before_a_problem_is_made():
    with pytest.raises(UsageError, match="Chain: DOWN: size 1000000000: give a whole number"):
        Guard(Chain()).initial("DOWN", 10**9, np.random.default_rng(0))


def test_users_files_may_have_the_names_of_ours(tmp_path):
    path = tmp_path / "guard.py"
    path.write_text(COUNTDOWN.replace("return (state == 0,)", "raise KeyError('lost')"))
    with pytest.raises(EnvironmentFault, match=rf"^{path}:\d+: Countdown: observe in state 3: KeyError"):
        Guard(make(str(path))).observe(3)


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


def test_evaluation_names_what_it_was_measuring(run, written, tmp_path):
    path = written(member("observe(self, state): return 1 / 0"))
    err = one_line(run("eval", tmp_path, "--env", path, "--sizes", "4", "--episodes", 1))
    assert "observe in state 4: ZeroDivisionError" in err
    assert "(measuring EMPTY at size 4, greedy)" in err


def test_text_that_cannot_be_written_is_replaced(run, written):
    path = written(member(r"format(self, state): return f'\udcff{state}'"), weights=False)
    code, out, _ = run("search", path, "EMPTY", 1, "--simulations", 20)
    assert code == 0
    assert "?1" in out


# ---------------------------------------------------------------------------- nobody calls a bare environment

_MEMBERS = {name for name in dir(Environment) if callable(getattr(Environment, name)) and not name.startswith("_")}


def bare_calls(path: Path) -> list[str]:
    """Members of environments that are read in a file, other than from a guard."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and node.attr in _MEMBERS:
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
            if name in ("environment", "env"):
                found.append(f"{path.relative_to(SOURCES)}:{node.lineno}: {name}.{node.attr}")
    return found


def test_environments_are_called_through_guards_only():
    assert {"initial", "observe", "format", "legal", "cutoff"} <= _MEMBERS
    assert bare_calls(SOURCES / "environment" / "guard.py")  # the test can fail
    # What checks is a guard itself, and the oracle is the definition.
    allowed = ("environment/", "environments/", "bench/oracle.py")
    files = [path for path in SOURCES.rglob("*.py") if not str(path.relative_to(SOURCES)).startswith(allowed)]
    assert len(files) > 40
    assert [call for path in files for call in bare_calls(path)] == []


# ---------------------------------------------------------------------------- interrupts


@pytest.mark.parametrize("nodes", [1, 7, 100])
@pytest.mark.parametrize("compiled", [False, True])
def test_pauses_of_the_search_change_nothing(monkeypatch, nodes, compiled):
    hanoi = make("hanoi")
    config = SearchConfig(simulations=40, failed_call_exploration="penalise", noise_fraction=0.5)
    network = CompiledEvaluator(create_network(hanoi, 5)) if compiled else HashNetwork(len(hanoi.library), 5)
    requests = [
        Request("HANOI", hanoi.parse("HANOI", str(size)), (0, number), exploring=number % 3 > 0)
        for number, size in enumerate((1, 2, 2, 3, 2, 1))
    ]

    def played(batch):
        return [
            (
                trace.actions.tolist(),
                trace.visits.tolist(),
                trace.policies.tolist(),
                trace.value,
                trace.failure,
                trace.simulations,
                trace.tried,
            )
            for trace in Search(hanoi, network, config).run(requests, batch=batch)
        ]

    expected = played(4)
    monkeypatch.setattr(episodes, "NODES_AT_ONCE", nodes)
    pauses = []
    fill = episodes.Episodes.fill

    def counted(self, waiting, foresees_evaluations=True):
        pauses.append((self.questions["hole"][:waiting] == Hole.PAUSE).any())
        fill(self, waiting, foresees_evaluations)

    monkeypatch.setattr(episodes.Episodes, "fill", counted)
    assert played(4) == expected
    assert any(pauses)


def test_an_interrupted_search_or_run_leaves_nothing_half_done(monkeypatch):
    chain = Chain()
    search, interpreter = Search(chain, HashNetwork(3, 1)), Interpreter(chain, ChainNetwork())
    request, call = Request("DOWN", 9, exploring=True), Call("DOWN", 9)
    expected = Search(chain, HashNetwork(3, 1)).run([request])[0].actions.tolist(), interpreter.run([call])
    count = itertools.count()

    def interrupted(self, state):
        if next(count) == 5:
            raise KeyboardInterrupt
        return (int(state == 0),)

    for drive in (lambda: search.run([request]), lambda: interpreter.run([call])):
        interpreter.forget()
        count = itertools.count()
        with monkeypatch.context() as patched:
            patched.setattr(Chain, "observe", interrupted)
            with pytest.raises(KeyboardInterrupt):
                drive()
    assert search.statistics.states == 0
    assert (search.run([request])[0].actions.tolist(), interpreter.run([call])) == expected


def started(tmp_path: Path, *arguments) -> subprocess.Popen:
    """A command under way, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "alphanpi", *map(str, arguments)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCES.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupt(
    process: subprocess.Popen, begun: Path, most: int, after: float = 0.5, swallowed: int = 0
) -> tuple[int, str]:
    """Press Ctrl-C, at most so often, once something has begun; the code and what was said.

    Of those that are swallowed nothing comes, so they are not waited for as long.
    """
    deadline = time.monotonic() + 120
    while not begun.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert begun.exists(), process.communicate(timeout=5)
    try:
        for number in range(most):
            time.sleep(after)
            process.send_signal(signal.SIGINT)
            try:
                _, err = process.communicate(timeout=1 if number < swallowed else 8)
            except subprocess.TimeoutExpired:
                continue
            return process.returncode, err
        raise AssertionError(f"it goes on after {most} interrupts")
    finally:
        process.kill()
        process.communicate()


ENDLESS = {
    "python": "while state >= 0: pass",
    "one function of C": "sum(itertools.count())",
    "swallows": """while state >= 0:
        try:
            while state >= 0: pass
        except BaseException: pass""",
}


def endless(tmp_path: Path, kind: str) -> str:
    return f"\ndef observe(self, state):\n    Path({str(tmp_path / 'begun')!r}).touch()\n    {ENDLESS[kind]}\n"


@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("command", ["search", "train", "eval"])
def test_a_member_that_never_returns_can_be_interrupted(written, tmp_path, kind, command):
    path = written(endless(tmp_path, kind))
    arguments = {
        "search": (path, "EMPTY", 3),
        "train": (path, "--out", tmp_path / "run", "--seed", 0),
        "eval": (tmp_path, "--env", path, "--episodes", 1),
    }[command]
    most = 3 if (command, kind) == ("train", "swallows") else 2  # the second one was swallowed
    swallowed = most - 1 if kind == "swallows" else 0
    code, err = interrupt(started(tmp_path, command, *arguments), tmp_path / "begun", most, swallowed=swallowed)
    assert "Traceback" not in err
    assert code in (130, -signal.SIGINT)
    if kind == "python":
        assert (code, err.splitlines()[-1]) == (130, "alphanpi: interrupted")


def test_a_search_without_end_can_be_interrupted(written, tmp_path):
    """All is known after a few states; from then on, nothing but compiled code runs."""
    touching = f"    Path({str(tmp_path / 'begun')!r}).touch()\n    return after == 0\n"
    path = written(f"\ndef post(self, program, before, after):\n{touching}", weights=False)
    text = path.read_text().replace("depth=8", "depth=2_000_000_000").replace("state - 1", "(state - 1) % 3 + 1")
    path.write_text(text)
    process = started(tmp_path, "search", path, "EMPTY", 3, "--simulations", 1_000_000)
    assert interrupt(process, tmp_path / "begun", 1, after=4) == (130, "alphanpi: interrupted\n")


def test_the_first_interrupt_of_a_training_ends_it_with_a_checkpoint(written, tmp_path):
    written("", weights=False)
    process = started(tmp_path, "train", "mine.py", "--out", "run", "--seed", 0, "--curriculum.patience", 1_000_000)
    deadline = time.monotonic() + 120
    metrics = tmp_path / "run" / "metrics.jsonl"
    while not (metrics.exists() and metrics.read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    code, _ = interrupt(process, metrics, 1)
    assert code == 1
    assert (tmp_path / "run" / "checkpoints" / "last").exists()


def test_a_long_run_says_so(run, written, tmp_path, monkeypatch):
    slow = "\ndef observe(self, state):\n    import time\n    time.sleep(0.3)\n    return (state == 0,)\n"
    path = written(slow)
    monkeypatch.setattr("alphanpi.cli.running._SECONDS_BETWEEN_LINES", 0.1)
    _, _, err = run("run", tmp_path, "EMPTY", 3, "--env", path)
    assert "still running; an execution ends after 10,000,000 actions (--max-actions), Ctrl-C ends it now" in err


def test_weights_that_diverge_are_not_trained_on():
    trainer = Trainer(make("hanoi"), preset("default", "hanoi"), seed=0)
    trainer.iterate()
    with torch.no_grad():
        next(trainer.network.parameters()).fill_(torch.nan)
    with pytest.raises(UsageError, match=r"iteration 2: the gradient is not finite; lower learning.learning_rate"):
        trainer.iterate()
    assert all(bool(weights.isfinite().all()) for weights in trainer.acting.parameters())
