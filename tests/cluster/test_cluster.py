"""One run on a real cluster of several nodes, whose workers and nodes die in the middle of an iteration."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import alphanpi
from alphanpi.cluster import connection, costs
from alphanpi.support.config import override
from alphanpi.training.train import resume, train
from tests.helpers.growing import SMALL
from tests.helpers.paths import ROOT
from tests.helpers.tiny import SETTINGS, bits, newest

ray = pytest.importorskip("ray", reason="Ray is not installed")

GROWING = ROOT / "tests" / "helpers" / "growing.py"
ITERATIONS = 3
CHANGES = {**SETTINGS, "max_iterations": ITERATIONS, "network.window": 1}
MORTAL = '''
import os
import signal
from pathlib import Path

from alphanpi.environments.hanoi import Hanoi

MARK = Path({mark!r})


class Mortal(Hanoi):
    """Hanoi, in which whoever acts first after the mark is there dies, and its node if the mark says so."""

    def act(self, state, action):
        if os.getpid() != {driver} and MARK.exists():
            try:
                text = MARK.read_text()
                MARK.unlink()
            except FileNotFoundError:
                return super().act(state, action)
            if text == "node":
                os.kill(os.getppid(), signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(state, action)
'''


@pytest.fixture(scope="module", autouse=True)
def everything_is_sent():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "WORTH", 0)
        yield


@pytest.fixture(scope="module")
def cluster():
    """A head that runs nothing, and two nodes of four workers each, all on the loopback address."""
    from ray.cluster_utils import Cluster

    store = 80 * 2**20
    with connection._loopback_only():
        made = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "object_store_memory": store, "include_dashboard": False},
        )
        for _ in range(2):
            made.add_node(num_cpus=4, object_store_memory=store)
        yield made
        ray.shutdown()
        made.shutdown()


@pytest.fixture(scope="module")
def mortal(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mortal")
    file = folder / "mortal.py"
    file.write_text(MORTAL.format(mark=str(folder / "mark"), driver=os.getpid()))
    return file


@pytest.fixture(scope="module")
def plain(mortal, tmp_path_factory):
    """The run that all others have to equal."""
    return trained(mortal, tmp_path_factory.mktemp("plain") / "run")


def trained(file: Path, out: Path, iterations: int = ITERATIONS, **settings) -> Path:
    config = override(alphanpi.preset("default", "hanoi"), {**CHANGES, "max_iterations": iterations})
    train(f"{file}:Mortal", seed=3, out=out, config=config, **settings)
    return out


def told(run: Path) -> list[dict]:
    """All that is told of iterations but times, and counts of work that depend on what an engine remembers."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    changing = ("seconds", "elapsed", "simulations", "evaluations")
    return [{key: value for key, value in line.items() if key not in changing} for line in lines]


def state(run: Path) -> dict:
    content = json.loads((newest(run) / "state.json").read_text())
    return {key: content[key] for key in ("curriculum", "revised", "errors") if key in content}


def equal(run: Path, plain: Path) -> bool:
    return bits(run) == bits(plain) and told(run) == told(plain) and state(run) == state(plain)


@pytest.mark.parametrize("workers", [1, 2])
def test_weights_do_not_depend_on_the_number_of_workers(workers, cluster, mortal, plain, tmp_path):
    run = trained(mortal, tmp_path / "run", workers=workers, ray=cluster.address)
    assert equal(run, plain)


def test_a_run_goes_on_with_workers_where_it_stopped_without(cluster, mortal, plain, tmp_path):
    run = trained(mortal, tmp_path / "run", iterations=1)
    text = (run / "config.toml").read_text()
    (run / "config.toml").write_text(text.replace("max_iterations = 1\n", f"max_iterations = {ITERATIONS}\n"))
    resume(run, workers=2, ray=cluster.address)
    assert bits(run) == bits(plain)


def test_killed_workers_and_a_killed_node_change_nothing(cluster, mortal, plain, tmp_path, capsys):
    mark = mortal.parent / "mark"
    died = []

    def kill(trainer, report, elapsed):
        """In the middle of the next iteration: a worker, and then a node with all that is on it."""
        died.append(trainer.spread.workers.lost)
        mark.write_text("worker" if report.iteration == 1 else "node")

    run = trained(mortal, tmp_path / "run", workers=8, ray=cluster.address, observer=kill)
    mark.unlink(missing_ok=True)
    assert died[0] == 0
    assert died[1] >= 1
    assert died[2] > died[1]
    assert equal(run, plain)
    assert capsys.readouterr() == ("", "")


def test_frozen_programs_are_played_by_workers_too(cluster, tmp_path):
    lamp = train(f"{GROWING}:Lamp", seed=0, out=tmp_path / "lamp", settings=SMALL)
    settings = {key: value for key, value in SMALL.items() if not key.startswith("network.")} | {"max_iterations": 3}
    there = {"workers": 2, "ray": cluster.address}
    found = {}
    for name, more in (("alone", {}), ("spread", there)):
        out = tmp_path / name
        train(f"{GROWING}:Welcome", seed=0, out=out, begin_from=lamp, freeze=True, settings=settings, **more)
        found[name] = out
    assert equal(found["spread"], found["alone"])
    agent = alphanpi.load(found["spread"])
    assert [record.programs for record in agent.card.frozen] == [("LIGHT",)]
    scores = [
        [score._replace(seconds_per_episode=0.0) for score in alphanpi.evaluate(agent, sizes=[2], keep=False, **more)]
        for more in ({}, there)
    ]
    assert scores[0] == scores[1]


def test_scores_certificates_and_code_are_the_same(cluster):
    """Last: a node is gone, and that must not matter."""
    settings = {"workers": 2, "ray": cluster.address}
    agent = alphanpi.load("pretrained:hanoi")

    def scores(**more):
        found = alphanpi.evaluate(agent, sizes=[2, 4], episodes=6, keep=False, **more)
        return [score._replace(seconds_per_episode=0.0) for score in found]

    assert scores(**settings) == scores()
    proved, again = (alphanpi.verify(agent, keep=False, by="lemma", **more) for more in ({}, settings))
    assert again.verdict == "PROVED"
    timeless = {"seconds": 0.0, "digest": ""}  # the digest is that of the seconds, too
    assert again.model_copy(update=timeless) == proved.model_copy(update=timeless)
    assert alphanpi.export(agent, samples=40, **settings).text == alphanpi.export(agent, samples=40).text
