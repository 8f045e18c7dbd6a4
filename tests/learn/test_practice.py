"""Programs are practised where others call them, and where they fail."""

from __future__ import annotations

from alphanpi import make
from alphanpi.agent.interpreter import Interpreter
from alphanpi.learn.practice import called_states
from alphanpi.learn.presets import preset
from alphanpi.learn.trainer import Trainer
from tests.helpers.solutions import SOLUTIONS, ScriptedEvaluator


def test_growing_programs_are_practised_where_they_are_called():
    environment = make("sorting")
    trainer = Trainer(environment, preset("default", "sorting"), seed=0)
    interpreter = Interpreter(environment, ScriptedEvaluator(environment, size=4))

    def called():
        return called_states(trainer.starts, trainer.curriculum, interpreter, 0)

    assert called() == {}  # nothing calls the programs of the first level
    trainer.curriculum.level = 3
    found = called()
    assert set(found) == {"RESET", "BUBBLE"}  # RSHIFT and its like have a constant depth
    assert all(environment.pre(name, state) for name, states in found.items() for state in states)
    assert all(environment.size(state) in environment.train_sizes for states in found.values() for state in states)
    assert called() == found


def test_any_program_is_practised_where_it_fails():
    def never_swaps(see, size):
        yield "STOP"

    environment = make("recursive-sorting", observation="compare")
    trainer = Trainer(environment, preset("default", "recursive-sorting"), seed=0)
    trainer.curriculum.level = 3
    solution = {**SOLUTIONS["RecursiveSorting"], "COMPSWAP": never_swaps}
    interpreter = Interpreter(environment, ScriptedEvaluator(environment, solution))
    found = called_states(trainer.starts, trainer.curriculum, interpreter, 0)
    assert set(found) == {"COMPSWAP"}
    for state in found["COMPSWAP"]:
        assert environment.pre("COMPSWAP", state)
        assert not environment.post("COMPSWAP", state, state)
