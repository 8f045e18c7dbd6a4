"""The paper's algorithm: its formulas by hand, its table, and runs that learn, stop and go on."""

from __future__ import annotations

import math
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import alphanpi
from alphanpi import UsageError, make, resume, train
from alphanpi.engine.requests import Request
from alphanpi.learn.iteration import Seconds
from alphanpi.network.model import masked_log_softmax
from alphanpi.paper import (
    Experience,
    PaperConfig,
    PaperCurriculum,
    PaperParameters,
    PaperTrainer,
    ReplayBuffer,
    paper_loss,
)
from alphanpi.training.presets import configured
from tests.helpers.commands import command
from tests.helpers.paths import ROOT
from tests.helpers.tiny import bits, edit, newest

OLD_RUN = ROOT / "tests" / "runs" / "data" / "old_run"
SMALL = {
    **{"paper.program_embedding": 4, "paper.memory": 8, "paper.observation_encoding": 4, "paper.encoder_hidden": 8},
    **{"paper.simulations": 30, "paper.batches": 1, "paper.batch_size": 32, "paper.episodes": 6},
    **{"paper.buffer_size": 60, "paper.validation_episodes": 5},
}


def small(**changes) -> PaperConfig:
    own = {f"paper.{name}": value for name, value in changes.items()}
    return configured(PaperConfig(), None, {**SMALL, **own})


def experience(program: int, positive: bool, mark: int = 0, reward: float = 0.5) -> Experience:
    return Experience(
        observation=np.array([mark, 0], np.int16),
        program=program,
        memory=np.zeros(4, np.float32),
        policy=np.array([0.25, 0.75, 0], np.float32),
        legal=np.array([True, True, False]),
        reward=reward,
        positive=positive,
    )


def test_the_table_is_the_papers():
    """Appendix E, in its order; then the settings of search and network that follow from it."""
    values = list(PaperParameters().model_dump().values())
    table = [
        *(256, 128, 32, 0.97, 0.97, 200, 5, 2, 20, 25, 3.0, 0.5, 256, 2000, 0.5, 1e-4, 0.9, 1.0, 1.3, 2.0, 0.99),
        *(0.25, 0.03),
    ]
    assert values[: len(table)] == table
    hanoi = alphanpi.preset("paper", "hanoi").search
    assert (hanoi.simulations, hanoi.noise_fraction, hanoi.noise_concentration) == (1500, 0.5, 0.5)
    assert hanoi.simulations_exploitation == 5
    assert hanoi.failed_call == "discard"
    network = PaperConfig().network
    assert (network.window, network.memory, network.head_hidden) == (0, 128, 64)


def test_the_moving_average_is_the_papers():
    curriculum = PaperCurriculum(
        make("sorting").library, PaperParameters(moving_average=0.9, curriculum_threshold=0.15)
    )
    curriculum.update({"RSHIFT": [True, False], "LSHIFT": [False, True], "COMPSWAP": [True, True]})
    # 0.1, then 0.9 x 0.1; 0, then 0.1; 0.1, then 0.9 x 0.1 + 0.1
    assert [curriculum.success[name] for name in ("RSHIFT", "LSHIFT", "COMPSWAP")] == pytest.approx([0.09, 0.1, 0.19])
    assert curriculum.level == 1
    assert curriculum.explain() == "RSHIFT at 9%, needs 15%"
    curriculum.update({"RSHIFT": [True], "LSHIFT": [True]})
    assert curriculum.level == 2
    assert [program.name for program in curriculum.unlocked][3:] == ["RESET", "BUBBLE"]
    assert not curriculum.completed


def test_a_perfect_agent_needs_349_successes():
    curriculum = PaperCurriculum(make("hanoi").library, PaperParameters())
    curriculum.update({"HANOI": [True] * 348})
    assert not curriculum.completed  # 1 - 0.99^348 = 0.9697
    curriculum.update({"HANOI": [True]})
    assert curriculum.completed


def test_programs_are_drawn_by_the_softmax_of_their_failures():
    curriculum = PaperCurriculum(make("sorting").library, PaperParameters())
    curriculum.success.update(RSHIFT=1.0, LSHIFT=0.5, COMPSWAP=0.0)
    weights = [math.exp(0), math.exp(1), math.exp(2)]  # tau_3 = 2
    np.testing.assert_allclose(curriculum.probabilities(), np.array(weights) / sum(weights))


def test_nothing_is_stored_of_a_program_that_has_never_succeeded():
    buffer = ReplayBuffer(3, 0.5)
    buffer.add([experience(0, False)] * 2)
    assert buffer.experiences == []
    buffer.add([experience(0, True, 1)])
    buffer.add([experience(0, False, 2), experience(0, False, 3), experience(1, False)])
    assert [int(one.observation[0]) for one in buffer.experiences] == [1, 2, 3]
    buffer.add([experience(0, False, 4)])  # in place of the oldest
    assert [int(one.observation[0]) for one in buffer.experiences] == [4, 2, 3]


@pytest.mark.parametrize("probability", [0.0, 0.25, 1.0])
def test_experiences_are_drawn_by_their_reward(probability):
    buffer = ReplayBuffer(100, probability)
    buffer.add([experience(0, True)] * 2 + [experience(0, False)] * 98)
    drawn = buffer.sample(4000, np.random.default_rng(0))
    share = sum(one.positive for one in drawn) / len(drawn)
    assert len(drawn) == 4000
    assert share == pytest.approx(probability, abs=0.03)


def test_where_all_succeeded_all_that_is_drawn_did():
    buffer = ReplayBuffer(100, 0.5)
    buffer.add([experience(0, True)] * 3)
    assert all(one.positive for one in buffer.sample(50, np.random.default_rng(0)))


def test_the_loss_by_hand():
    """Logits 0 and log 3 over two legal actions: probabilities 1/4 and 3/4; the third is illegal."""

    def network(programs, observations, hidden, cell):
        rows = len(programs)
        assert hidden.shape == cell.shape == (rows, 2)
        return SimpleNamespace(logits=torch.tensor([[0.0, math.log(3), 9.0]] * rows), value=torch.full((rows,), 0.5))

    loss = paper_loss(network, [experience(0, True, reward=0.5), experience(0, False, reward=-1.0)])  # type: ignore[arg-type]
    assert float(loss.policy) == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)))
    assert float(loss.value) == pytest.approx((0 + 1.5**2) / 2)


def test_stored_memories_are_those_before_each_step():
    """With the weights it was played with, an episode's loss is that of unrolling it."""
    trainer = PaperTrainer(make("recursive-sorting"), small(), 0)
    trace = max(trainer.play(), key=lambda trace: len(trace.actions))
    experiences = trainer.experiences_of(trace)
    hidden = cell = torch.zeros(1, trainer.network.config.memory)
    terms = []
    for one in experiences:
        seen = torch.tensor(one.observation[None], dtype=torch.float32)
        output = trainer.network(torch.tensor([one.program]), seen, hidden, cell)
        hidden, cell = output.hidden, output.cell
        legal = torch.tensor(one.legal)
        log_policy = masked_log_softmax(output.logits[0], legal).masked_fill(~legal, 0)
        terms.append(-(torch.tensor(one.policy) * log_policy).sum())
    assert len(terms) > 1
    torch.testing.assert_close(paper_loss(trainer.network, experiences).policy, torch.stack(terms).mean())


def test_it_learns():
    """To sort two digits from atomic actions."""
    settings = {"train_sizes": (2,), "validation_size": 2, "buffer_size": 500, "learning_rate": 0.005}
    config = small(**settings, memory=32, moving_average=0.8, batches=4, batch_size=64, episodes=10)
    trainer = PaperTrainer(make("flat-sorting"), config, 0)
    states = [trainer.environment.initial("BUBBLESORT", 2, np.random.default_rng(number)) for number in range(60)]
    unsorted = [Request("BUBBLESORT", state) for state in states if state.values[0] > state.values[1]]

    def solved() -> float:
        return float(np.mean([trace.success for trace in trainer.search.run(unsorted)]))

    assert solved() < 0.6
    while not trainer.curriculum.completed:
        assert trainer.iteration < 60, trainer.curriculum.explain()
        trainer.iterate()
    assert solved() > 0.8


def test_an_iteration_is_a_function_of_the_seed():
    first, second, other = (PaperTrainer(make("recursive-sorting"), small(), seed) for seed in (4, 4, 5))
    for _ in range(3):
        reports = [trainer.iterate()._replace(seconds=Seconds()) for trainer in (first, second, other)]
    weights = [trainer.network.state_dict()["actor.0.weight"] for trainer in (first, second, other)]
    assert reports[0] == reports[1]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_a_resumed_run_is_one_that_never_stopped(tmp_path):
    def stop(trainer, report, elapsed):
        if report.iteration == 3:
            raise alphanpi.StopTraining

    settings = {**SMALL, "max_iterations": 7}
    whole = train("hanoi", seed=2, out=tmp_path / "whole", preset="paper", settings=settings)
    parts = train("hanoi", seed=2, out=tmp_path / "parts", preset="paper", settings=settings, observer=stop)
    assert (parts.reason, parts.iterations) == ("stopped", 3)
    resumed = resume(tmp_path / "parts")
    assert (resumed.reason, resumed.iterations) == (whole.reason, whole.iterations) == ("iterations", 7)
    assert resumed.success == whole.success
    assert bits(tmp_path / "whole") == bits(tmp_path / "parts")
    assert alphanpi.load(tmp_path / "parts").card.network.window == 0


def test_a_damaged_checkpoint_is_refused(tmp_path):
    settings = {**SMALL, "max_iterations": 1}
    run = train("hanoi", seed=2, out=tmp_path / "run", preset="paper", settings=settings).run
    edit(newest(run) / "state.json", lambda state: {**state, "iteration": 5})
    with pytest.raises(UsageError, match="cannot be used"):
        resume(run)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"until": "verified"}, "the preset paper has no --until verified; leave it out"),
        ({"begin_from": "pretrained:hanoi"}, "the preset paper has no --from"),
        ({"workers": 2}, "the preset paper has no --workers"),
        ({"settings": {"learning.batch": 4}}, "unknown configuration key 'learning.batch'; did you mean paper"),
        ({"config": alphanpi.TrainConfig()}, "config: give a PaperConfig, not a TrainConfig"),
    ],
)
def test_what_the_paper_has_not_is_refused(tmp_path, arguments, message):
    with pytest.raises(UsageError, match=message):
        train("hanoi", out=tmp_path / "run", preset="paper", **arguments)
    assert not (tmp_path / "run").exists()


def test_sizes_are_given_on_the_command_line(tmp_path):
    words = [word for key, value in SMALL.items() for word in (f"--{key}", str(value))]
    out = str(tmp_path / "run")
    outcome = command(
        *("train", "hanoi", "--preset", "paper", "--out", out, "--train-sizes", "2", "--validation-size", "2"),
        *("--max_iterations", "1", *words),
    )
    assert outcome.code == 1
    written = (tmp_path / "run" / "config.toml").read_text()
    assert "train_sizes = [2]" in written
    assert "validation_size = 2" in written


def test_a_run_of_the_paper_as_it_was_before_is_not_continued(tmp_path):
    shutil.copytree(OLD_RUN, tmp_path / "run", symlinks=True)
    edit(tmp_path / "run" / "meta.json", lambda meta: {**meta, "preset": "paper"})
    with pytest.raises(UsageError, match=r"is no longer there: this run was begun with an earlier version"):
        resume(tmp_path / "run")


def test_ours_does_not_go_on_from_the_papers_agents(tmp_path):
    run = train("hanoi", seed=2, out=tmp_path / "run", preset="paper", settings={**SMALL, "max_iterations": 1}).run
    with pytest.raises(UsageError, match="it sees all of a call"):
        train("hanoi", out=tmp_path / "next", begin_from=run, settings={"max_iterations": 1})
