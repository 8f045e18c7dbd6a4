"""The trainer: a function of the seed that really learns, accounts for its time and stops where numbers end."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from alphanpi import UsageError, make
from alphanpi.agent.interpreter import Call
from alphanpi.agent.loading import describe
from alphanpi.learn.iteration import Seconds
from alphanpi.learn.starts import Stream
from alphanpi.learn.trainer import Trainer
from alphanpi.support.config import override
from alphanpi.training.checkpoint import restore, save_checkpoint
from alphanpi.training.presets import preset
from tests.helpers.tiny import tiny_run


def test_all_the_time_of_a_run_is_accounted_for(tmp_path):
    outcome = tiny_run(tmp_path / "run", iterations=2)
    assert sum(outcome.seconds) == pytest.approx(outcome.elapsed)


def test_weights_are_looked_at_by_one_thread(tmp_path, monkeypatch):
    """Several threads wait for each other where other work is going on: most of a second for each iteration."""
    threads = []

    def isfinite(tensor):
        threads.append(torch.get_num_threads())
        return torch.isfinite(tensor)

    before = torch.get_num_threads()
    monkeypatch.setattr(torch.Tensor, "isfinite", isfinite)
    torch.set_num_threads(2)
    try:
        tiny_run(tmp_path / "run", iterations=1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert set(threads) == {1}


def test_one_iteration_is_a_function_of_the_seed():
    first, second, other = (
        Trainer(make("recursive-sorting", observation="compare"), preset("default"), seed) for seed in (4, 4, 5)
    )
    for _ in range(2):
        reports = [trainer.iterate() for trainer in (first, second, other)]
    weights = [trainer.network.state_dict()["actor.0.weight"] for trainer in (first, second, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert reports[0].success == reports[1].success


def test_an_agent_learns_hanoi_and_generalises():
    trainer = Trainer(make("hanoi"), preset("default", "hanoi"), seed=0)
    while not trainer.curriculum.completed:
        assert trainer.iteration < 80, trainer.curriculum.explain()
        trainer.iterate()
    environment = trainer.environment
    states = [environment.initial("HANOI", disks, np.random.default_rng(disks)) for disks in range(1, 10)]
    executions = trainer.interpreter.run([Call("HANOI", state) for state in states])
    assert all(execution.success for execution in executions)


def test_programs_that_others_call_are_validated_more_often():
    environment = make("sorting")
    config = override(preset("default", "sorting"), {"validation.called_program_factor": 3})
    trainer = Trainer(environment, config, seed=0)
    short = {"RSHIFT": 12, "LSHIFT": 12, "COMPSWAP": 12}
    for level, expected in (
        (1, short),
        (2, {**short, "RESET": 4, "BUBBLE": 4}),
        (3, {**short, "RESET": 12, "BUBBLE": 12, "BUBBLESORT": 4}),
    ):
        trainer.curriculum.level = level
        assert Counter(start.program for start in trainer.validation.draw(0, 4, Stream.VALIDATE)) == expected


def test_weights_that_diverge_are_not_trained_on():
    trainer = Trainer(make("hanoi"), preset("default", "hanoi"), seed=0)
    trainer.iterate()
    with torch.no_grad():
        next(trainer.network.parameters()).fill_(torch.nan)
    with pytest.raises(UsageError, match=r"iteration 2: the gradient is not finite; lower learning.learning_rate"):
        trainer.iterate()


def test_renewed_weights_are_half_way_to_fresh_ones():
    renewed, other = (
        Trainer(make("hanoi"), preset("default"), seed=0),
        Trainer(make("hanoi"), preset("default"), seed=0),
    )
    renewed.iterate()
    assert renewed.optimiser.state
    other.iteration = renewed.iteration
    before = [[weights.detach().clone() for weights in one.network.parameters()] for one in (renewed, other)]
    for one in (renewed, other):
        one._renew()
        assert not one.optimiser.state
    # Towards the same fresh weights: what was apart is half as far apart.
    after = zip(renewed.network.parameters(), other.network.parameters(), strict=True)
    for (x, y), a, b in zip(after, *before, strict=True):
        assert torch.allclose(x - y, (a - b) / 2, atol=1e-6)
    assert any(not torch.equal(a, b) for a, b in zip(*before, strict=True))


def test_a_run_resumed_after_a_renewal_goes_on_as_if_it_had_never_stopped(tmp_path):
    def advanced(trainer, iterations):
        for _ in range(iterations):
            trainer.iterate()
            if trainer.iteration == 2:
                trainer._renew()
        return trainer

    config = override(preset("default", "hanoi"), {"episodes.per_iteration": 8, "learning.gradient_steps": 2})
    whole = advanced(Trainer(make("hanoi"), config, seed=3), 4)
    first = advanced(Trainer(make("hanoi"), config, seed=3), 2)
    card = describe("hanoi", {}, make("hanoi"), first.network, config.search, 3)
    save_checkpoint(tmp_path, first, card, 1.0, Seconds())
    second = Trainer(make("hanoi"), config, seed=3)
    restore(tmp_path, second)
    advanced(second, 2)
    for a, b in zip(whole.network.parameters(), second.network.parameters(), strict=True):
        assert torch.equal(a, b)
