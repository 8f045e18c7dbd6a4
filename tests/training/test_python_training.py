"""Training from Python: environments as objects, settings, observers that stop it, and using what comes out."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import alphanpi
from alphanpi import IterationReport, SearchConfig, StopTraining, TrainConfig, UsageError
from alphanpi.agent.agent import Agent
from alphanpi.environment import given
from alphanpi.environments.hanoi import Hanoi
from alphanpi.errors import AlphaNPIError, UnknownEnvironmentError
from alphanpi.learn.config import LearningConfig
from alphanpi.learn.trainer import Trainer
from alphanpi.runs.directory import RunDirectory
from alphanpi.training.presets import configured, preset
from alphanpi.training.train import Outcome, resume, train
from tests.helpers.commands import assert_one_line, command
from tests.helpers.countdown import COUNTDOWN
from tests.helpers.tiny import SETTINGS

QUICK = {**SETTINGS, "max_iterations": 2}


class Own(Hanoi):
    """Hanoi that is known by no id."""


def make_local() -> type[Hanoi]:
    class Local(Hanoi):
        """Hanoi as a notebook would define it: in no file."""

    return Local


def quick(environment, out, **more) -> Outcome:
    return train(environment, out=out, **{"seed": 0, "settings": QUICK, **more})


@pytest.fixture(scope="module")
def local():
    return make_local()


@pytest.fixture(scope="module")
def run(local, tmp_path_factory):
    return quick(local, tmp_path_factory.mktemp("local") / "run").run


def forget_runs(monkeypatch) -> None:
    """As if another process had trained them."""
    monkeypatch.setattr(given, "_of_runs", {})


def test_a_class_is_trained_and_its_agent_used_in_the_same_process(run, local):
    for agent in (alphanpi.load(run), alphanpi.load(run / "checkpoints" / "last")):
        assert type(agent.environment) is local
    assert RunDirectory(run).meta().environment == "in-memory:Local"
    assert alphanpi.evaluate(run, sizes=[1], episodes=1, mode="greedy")


def test_another_process_has_to_be_given_a_class_that_no_file_holds(run, local, monkeypatch):
    forget_runs(monkeypatch)
    message = r"it was trained with Local, .*environment=Local; .* --env FILE.py:Local"
    with pytest.raises(UnknownEnvironmentError, match=message):
        alphanpi.load(run)
    assert_one_line(command("run", run, "HANOI", 1), "it was trained with Local")
    for environment in (local, local()):
        assert type(alphanpi.load(run, environment=environment).environment) is local
    with pytest.raises(UsageError, match="int is no environment"):
        alphanpi.load(run, environment=int)  # type: ignore[arg-type]


def test_a_run_of_a_class_is_resumed(local, tmp_path):
    outcome = quick(local, tmp_path / "run", settings={**QUICK, "max_iterations": 1})
    config = outcome.run / "config.toml"
    config.write_text(config.read_text().replace("max_iterations = 1\n", "max_iterations = 2\n"))
    assert resume(outcome.run).iterations == 2


def test_an_instance_is_trained_as_it_is(tmp_path):
    outcome = quick(Own(), tmp_path / "run")
    assert RunDirectory(outcome.run).meta().environment == f"{__name__}:Own"
    assert isinstance(outcome.agent, Agent)
    assert type(outcome.agent.environment) is Own


def test_every_verb_takes_an_agent_a_run_and_an_outcome(run):
    outcome = Outcome(run, False, "", 2, 0.0, None, {}, "", False)  # type: ignore[arg-type]
    for subject in (outcome, outcome.agent, run, str(run)):
        assert alphanpi.evaluate(subject, "HANOI", [1], episodes=1, mode="greedy", keep=False)[0].episodes == 1
        assert alphanpi.run(subject, "HANOI", 1).program == "HANOI"
        assert alphanpi.trace(subject, "HANOI", 1, max_actions=9).actions
    with pytest.raises(UsageError, match=r"17 is no agent; give an agent, an outcome of `train`, a run directory"):
        alphanpi.evaluate(17)  # type: ignore[arg-type]


def test_a_scripts_class_is_found_by_its_file(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text(
        COUNTDOWN
        + textwrap.dedent(
            f"""
            if __name__ == "__main__":
                import alphanpi

                outcome = alphanpi.train(Countdown, seed=0, out="run", settings={QUICK})
                assert type(alphanpi.load(outcome.run).environment) is Countdown
            """
        )
    )
    subprocess.run([sys.executable, script], cwd=tmp_path, check=True, timeout=120, env={**os.environ})
    assert RunDirectory(tmp_path / "run").meta().environment == f"{script}:Countdown"
    assert type(alphanpi.load(tmp_path / "run").environment).__name__ == "Countdown"  # trusted: it was run


def test_a_script_that_would_train_while_it_is_loaded_is_refused(written):
    path = written(COUNTDOWN + "\nimport alphanpi\n\nalphanpi.train(Countdown, out='nowhere')\n")
    with pytest.raises(AlphaNPIError, match=r"mine.py: it begins to train while it is loaded; put that under"):
        alphanpi.make(str(path))


def test_settings_are_named_by_their_keys(tmp_path):
    outcome = quick("hanoi", tmp_path / "run", settings={**QUICK, "learning": {"batch": 64}, "max_iterations": 1})
    config = RunDirectory(outcome.run).config(TrainConfig())
    assert (config.learning.batch, config.max_iterations, config.network.window) == (64, 1, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"settings": {"learning.bach": 64}},
            r"unknown configuration key 'learning.bach'; did you mean learning.batch",
        ),
        ({"settings": {"learning.batch": "many"}}, "configuration: learning.batch = 'many'"),
        ({"settings": "learning.batch=64"}, r"settings: give a dictionary such as \{\"learning.batch\": 64\}"),
        ({"config": {"until": "verified"}}, "config: give a TrainConfig, not a dict; single settings go to settings="),
        ({"simulations": 9}, r'options: .*; a setting of the training goes to settings=\{"search.simulations": ...\}'),
        ({"until": "proved"}, "configuration: until = 'proved'"),
        ({"log": "wandbee"}, "log 'wandbee' is unknown; there are wandb and mlflow"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_written(tmp_path, arguments, message):
    with pytest.raises(UsageError, match=message):
        train("hanoi", out=tmp_path / "run", **arguments)
    assert not (tmp_path / "run").exists()


def test_what_a_configuration_leaves_to_its_defaults_is_the_presets():
    base = preset("default", "hanoi")
    assert configured(base, TrainConfig(), None) == base
    partial = TrainConfig(until="verified", search=SearchConfig(simulations=7), learning=LearningConfig(batch=8))
    expected = {"until": "verified", "search.simulations": 7, "learning.batch": 8}
    assert configured(base, partial, None) == alphanpi.preset("default", "hanoi").model_validate(
        configured(base, None, expected).model_dump()
    )
    whole = preset("default", "hanoi")
    assert configured(TrainConfig(), whole, None) == whole
    assert configured(TrainConfig(), whole, {"max_iterations": 3}).max_iterations == 3


def test_until_verified_needs_a_lemma(tmp_path, written):
    with pytest.raises(UsageError, match="lemma"):
        train(written(COUNTDOWN), out=tmp_path / "run", until="verified")


def test_observers_see_every_iteration_and_may_stop_the_training(tmp_path):
    seen: list[tuple[int, int]] = []

    def stop_at_two(trainer: Trainer, report: IterationReport, elapsed: float) -> None:
        assert trainer.iteration == report.iteration
        assert elapsed > 0
        if report.iteration == 2:
            raise StopTraining

    outcome = quick(
        *("hanoi", tmp_path / "run"),
        settings={**QUICK, "max_iterations": 5},
        observer=[stop_at_two, lambda trainer, report, elapsed: seen.append((report.iteration, report.episodes))],
    )
    assert (outcome.reason, outcome.iterations, outcome.completed) == ("stopped", 2, False)
    assert [iteration for iteration, _ in seen] == [1, 2]
    assert (outcome.run / "checkpoints" / "last").resolve().name == "iteration_000002"
    assert resume(outcome.run).iterations == 5


def test_a_failing_observer_leaves_a_checkpoint(tmp_path):
    def fail(trainer, report, elapsed):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        quick("hanoi", tmp_path / "run", observer=fail)
    assert alphanpi.load(tmp_path / "run").card.seed == 0
