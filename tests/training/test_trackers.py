"""Logging to trackers: through their own clients in offline mode where installed, and through a stand-in anywhere."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import types
from typing import Any

import pytest

import alphanpi
from alphanpi import UsageError
from alphanpi.training.train import resume, train
from tests.helpers.commands import assert_one_line, command
from tests.helpers.tiny import SETTINGS, options

INSTALLED = {name: importlib.util.find_spec(name) is not None for name in ("wandb", "mlflow")}


def begun(out, log, iterations=2):
    return train("hanoi", seed=3, out=out, log=log, settings={**SETTINGS, "max_iterations": iterations})


def raise_limit(run, limit):
    file = run / "config.toml"
    file.write_text(file.read_text().replace("max_iterations = 2\n", f"max_iterations = {limit}\n"))


class StandIn(types.ModuleType):
    """As much of wandb as is used; it remembers what it was told."""

    def __init__(self) -> None:
        super().__init__("wandb")
        self.__spec__ = importlib.machinery.ModuleSpec("wandb", None)
        self.begun: list[dict[str, Any]] = []
        self.logged: list[tuple[int, dict[str, float]]] = []
        self.finished = 0
        self.broken_at = 0

    def init(self, **arguments: Any) -> StandIn:
        self.begun.append(arguments)
        return self

    def log(self, values: dict[str, float], step: int) -> None:
        if step == self.broken_at:
            raise ConnectionError("no server\nand more")
        self.logged.append((step, values))

    def finish(self) -> None:
        self.finished += 1


@pytest.fixture
def stand_in(monkeypatch):
    module = StandIn()
    monkeypatch.setitem(sys.modules, "wandb", module)
    return module


def test_every_iteration_is_logged_and_a_resumed_run_goes_on(stand_in, tmp_path):
    run = begun(tmp_path / "run", "wandb").run
    raise_limit(run, 3)
    resume(run, log=["wandb"])
    assert [step for step, _ in stand_in.logged] == [1, 2, 3]
    first, again = stand_in.begun
    assert first["id"] == again["id"]
    assert (first["project"], first["name"], first["resume"]) == ("alphanpi", "run", "allow")
    assert first["config"]["seed"] == 3
    assert first["config"]["search.simulations"] == 20
    assert {"eval/success/HANOI", "train/loss_policy", "time/search"} <= set(stand_in.logged[0][1])
    assert stand_in.finished == 2


def test_nothing_is_begun_where_there_is_nothing_left_to_do(stand_in, tmp_path):
    run = begun(tmp_path / "run", None).run
    resume(run, log="wandb")
    assert stand_in.begun == []


def test_a_tracker_that_fails_is_named_and_the_run_can_go_on(stand_in, tmp_path):
    stand_in.broken_at = 2
    with pytest.raises(UsageError, match=r"log 'wandb': ConnectionError: no server and more; `alphanpi resume"):
        begun(tmp_path / "run", "wandb")
    assert stand_in.finished == 1
    assert alphanpi.load(tmp_path / "run").card.seed == 3
    assert resume(tmp_path / "run").iterations == 2


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_a_tracker_that_is_not_installed_is_named(name, tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda wanted: None if wanted == name else find(wanted))
    arguments = ("train", "hanoi", "--out", tmp_path / "run", "--log", name)
    assert_one_line(command(*arguments), f"log '{name}' needs a package that is not installed: pip install {name}")
    assert not (tmp_path / "run").exists()


def test_the_command_line_logs_too(stand_in, tmp_path):
    run = tmp_path / "run"
    assert command("train", "hanoi", "--seed", 3, "--out", run, "--log", "wandb", *options(1)).code == 1
    assert [step for step, _ in stand_in.logged] == [1]


@pytest.mark.skipif(not INSTALLED["wandb"], reason="wandb is not installed")
@pytest.mark.filterwarnings("ignore")
def test_wandb_offline(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = begun(tmp_path / "run", "wandb").run
    [written] = (run / "wandb").glob("offline-run-*/*.wandb")
    assert b"train/loss_policy" in written.read_bytes()


@pytest.mark.skipif(not INSTALLED["mlflow"], reason="mlflow is not installed")
@pytest.mark.filterwarnings("ignore")
def test_mlflow_in_a_local_store(tmp_path, monkeypatch):
    import mlflow  # type: ignore[import-not-found, unused-ignore]

    store = f"file://{tmp_path}/mlruns"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    run = begun(tmp_path / "run", "mlflow").run
    raise_limit(run, 3)
    resume(run, log="mlflow")
    client = mlflow.MlflowClient(store)
    [experiment] = [one for one in client.search_experiments() if one.name == "alphanpi"]
    [logged] = client.search_runs([experiment.experiment_id])
    assert logged.data.params["seed"] == "3"
    assert logged.info.status == "FINISHED"
    history = client.get_metric_history(logged.info.run_id, "train/loss_policy")
    assert [entry.step for entry in history] == [1, 2, 3]
