"""What an agent with a window learns from: decisions tried on other problems."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from alphanpi import Environment, Request, Search, action, create_evaluator, create_network, make, program
from alphanpi.agent.interpreter import Call, Interpreter, Recording
from alphanpi.learn.curriculum import Curriculum
from alphanpi.learn.stagnation import PATIENCE, Stagnation
from alphanpi.learn.starts import Starts
from alphanpi.learn.trainer import Trainer
from alphanpi.learn.trials import KeptDecision, Trials
from alphanpi.network.config import NetworkConfig
from alphanpi.support.config import override
from alphanpi.training.presets import preset
from tests.helpers.tiny import SETTINGS


class Tape(NamedTuple):
    """Cells, and a hand over one of them."""

    cells: tuple[int, ...]
    at: int


class Erase(Environment[Tape]):
    """Erases all cells. A tape may happen to be empty, which cannot be seen."""

    fields = ("cell", "at_end")
    train_sizes = (1, 2, 3)
    validation_size = 5

    @action(pre=lambda state: state.at < len(state.cells) - 1)
    def RIGHT(self, state: Tape) -> Tape:
        """Go right."""
        return state._replace(at=state.at + 1)

    @action()
    def CLEAR(self, state: Tape) -> Tape:
        """Erase the cell."""
        return state._replace(cells=tuple(0 if place == state.at else cell for place, cell in enumerate(state.cells)))

    @program(level=1, depth=lambda state: 2 * len(state.cells) + 1)
    def ERASE(self, before: Tape, after: Tape) -> bool:
        """All cells empty."""
        return not any(after.cells)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Tape:
        """Any tape, the hand at its left end."""
        return Tape(tuple(int(cell) for cell in rng.integers(2, size=size)), 0)

    def observe(self, state: Tape) -> tuple[bool, ...]:
        """The cell, and whether it is the last."""
        return bool(state.cells[state.at]), state.at == len(state.cells) - 1

    def size(self, state: Tape) -> int:
        """Cells."""
        return len(state.cells)


class Marked(Erase):
    """Whether to erase is told by the first cell, which is not seen any more at the end: too little is seen."""

    @program(level=1, depth=lambda state: 2 * len(state.cells) + 1)
    def ERASE(self, before: Tape, after: Tape) -> bool:
        """The last cell as the first one was, the others as they were."""
        return after.cells[:-1] == before.cells[:-1] and after.cells[-1] == before.cells[0] * before.cells[-1]


STOP, RIGHT, CLEAR = 0, 1, 2
RIGHT_DECISIONS = {  # (cell, at_end), whatever was done before
    (1, 0): CLEAR,
    (1, 1): CLEAR,
    (0, 0): RIGHT,
    (0, 1): STOP,
}


def made(environment: Environment, window: int = 1, seed: int = 0) -> Trials:
    network = create_network(environment, seed, NetworkConfig(window=window))
    config = preset("default")
    starts = Starts(environment, config.episodes, seed)
    return Trials(Interpreter(environment, create_evaluator(network)), starts, config.search, 32)


def solved(trials: Trials, decisions) -> int:
    calls = [Call("ERASE", trials.starts.environment.initial("ERASE", 4, np.random.default_rng(n))) for n in range(40)]
    return sum(run.success for run in trials.interpreter.run(calls, decisions=[decisions] * len(calls)))


def table(trials: Trials, rules) -> dict[int, int]:
    """The rules for every action before, as decisions by history."""
    interpreter = trials.interpreter
    return {
        interpreter.table.history_of(0, ((before, seen),)): chosen
        for seen, chosen in rules.items()
        for before in (-1, RIGHT, CLEAR)
    }


def test_decisions_stand_in_for_the_networks():
    trials = made(Erase())
    assert solved(trials, table(trials, RIGHT_DECISIONS)) == 40
    assert solved(trials, table(trials, {**RIGHT_DECISIONS, (0, 0): STOP})) < 40
    assert solved(trials, table(trials, {(1, 0): STOP, (0, 0): STOP})) <= 8  # tapes that are empty, or nearly


def test_a_shortcut_that_fails_elsewhere_gets_a_low_score():
    trials = made(Erase())
    environment = trials.starts.environment
    empty = Search(environment, trials.interpreter.table.evaluator).run(
        [Request("ERASE", Tape((0, 0, 0), 0), seed, exploring=True) for seed in range(40)]
    )
    shortcut = next(trace for trace in empty if trace.success and len(trace.actions) == 1)
    learned = trials.lessons(environment.library.learned, [shortcut], 0)
    assert learned[0].trace is shortcut
    assert learned[0].score < 0.7
    assert trials.bars["ERASE"] <= 1


def test_decisions_that_solve_all_do_not_confirm_what_an_episode_did():
    trials = made(Erase())
    environment = trials.starts.environment
    empty = Search(environment, trials.interpreter.table.evaluator).run(
        [Request("ERASE", Tape((0, 0, 0), 0), seed, exploring=True) for seed in range(40)]
    )
    shortcut = next(trace for trace in empty if trace.success and len(trace.actions) == 1)
    kept = tuple(
        KeptDecision(0, ((before, seen),), chosen)
        for seen, chosen in RIGHT_DECISIONS.items()
        for before in (-1, RIGHT, CLEAR)
    )
    trials.kept = kept
    first, *others = trials.lessons(environment.library.learned, [shortcut], 0)
    assert trials.bars["ERASE"] == 1
    assert first.score < 0.7
    assert {lesson.score for lesson in others} == {1.0}  # how the agent goes about problems with what is kept
    for one in others:
        assert environment.post("ERASE", one.trace.states[0], one.trace.final)
        assert one.trace.policies.argmax(axis=1).tolist() == one.trace.actions.tolist()
    assert set(trials.kept) == set(kept)


def test_windows_and_histories_are_the_same():
    for window in (1, 2, 3):
        trials = made(Erase(), window)
        tapes = [Call("ERASE", Erase().initial("ERASE", 6, np.random.default_rng(n))) for n in range(20)]
        trials.interpreter.run(tapes)
        history_table = trials.interpreter.table
        for history in range(len(history_table.histories)):
            seen = history_table.window_before(history)
            assert 0 < len(seen) <= window
            assert history_table.history_of(0, seen) == history


@pytest.mark.parametrize("name", ["sorting", "recursive-sorting-compare"])
def test_remembered_calls_do_what_calls_do(name):
    environment = make(name)
    for seed in range(3):
        interpreter = Interpreter(environment, create_evaluator(create_network(environment, seed)))
        calls = [
            Call(one.name, environment.initial(one.name, size, np.random.default_rng((size, number))))
            for one in environment.library.learned
            for size in range(max(2, one.minimum_size), 5)
            for number in range(6)
        ]
        plain = interpreter.run(calls, Recording(depth=0), 5_000)
        for _ in range(2):
            again = interpreter.run(calls, Recording(depth=0), 5_000, remembering=True)
            for one, other in zip(plain, again, strict=True):
                assert (one.success, one.failure, one.final, one.actions) == (
                    other.success,
                    other.failure,
                    other.final,
                    other.actions,
                )
                assert one.steps == other.steps


def test_stagnation_counts_from_the_best_validation():
    environment = Erase()
    curriculum = Curriculum(environment.library, preset("default").curriculum)
    stagnation = Stagnation(environment.library)
    found = []
    for iteration in range(2 * PATIENCE + 5):
        curriculum.success["ERASE"] = 0.5 if iteration == 3 else 0.4
        found.append(stagnation.of(curriculum))
    assert [iteration for iteration, name in enumerate(found) if name] == [3 + PATIENCE, 3 + 2 * PATIENCE + 1]
    curriculum.success["ERASE"] = 1.0
    assert all(stagnation.of(curriculum) is None for _ in range(3 * PATIENCE))


def test_a_window_grows_where_a_program_is_stuck_and_the_log_says_why(monkeypatch):
    monkeypatch.setattr("alphanpi.learn.stagnation.PATIENCE", 3)
    config = override(preset("default"), {**SETTINGS, "network.largest_window": 2, "episodes.train_sizes": "2,3"})
    trainer = Trainer(Marked(), config, 0)
    notes = [note for _ in range(12) if (note := trainer.iterate().memory)]
    assert trainer.window == 2
    assert len(notes) == 1
    assert "ERASE stays at " in notes[0]
    assert "the window grows from 1 to 2" in notes[0]
