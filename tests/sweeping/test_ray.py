"""Jobs as tasks of a Ray cluster: a real one, on this machine."""

from __future__ import annotations

import os
import signal
import threading

import pytest

import alphanpi
from alphanpi.errors import UsageError
from alphanpi.sweeping import ray_tasks
from alphanpi.sweeping.jobs import JobFolder
from tests.helpers.sweeps import plan, stored
from tests.helpers.tiny import SETTINGS, bits, tiny_run

pytest.importorskip("ray", reason="Ray is not installed; `pip install .[ray]` to test sweeps on a cluster")


@pytest.fixture(scope="module")
def cluster():
    """Connected to by this process, so that sweeps of it use it."""
    from alphanpi.cluster.connection import connected

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # on a busy machine, it would be starved
        with connected(cpus=2):
            yield "auto"


def test_a_worker_that_is_killed_changes_nothing_of_what_is_learned(cluster, tmp_path):
    out = tmp_path / "out"
    lock = out / "hanoi" / "seed3" / "run" / ".lock"
    checkpoint = lock.parent / "checkpoints" / "last" / "state.json"
    killed: list[int] = []
    done = threading.Event()

    def kill() -> None:
        while not checkpoint.exists() and not done.wait(0.02):
            pass
        killed.append(int(lock.read_text()))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    given = plan(seeds=[3], variants=None, settings={**SETTINGS, "max_iterations": 30})
    progress = alphanpi.sweep(given, out=out, ray=cluster)
    done.set()
    killer.join()
    [state] = progress.jobs
    assert state.result is not None
    assert (state.result.iterations, state.attempts) == (30, 2)
    assert int(lock.read_text()) not in (*killed, os.getpid())  # a fresh process
    assert stored(out)["hanoi/seed3/run"]["status"] == "stopped"
    tiny_run(tmp_path / "alone", iterations=30)
    assert bits(lock.parent) == bits(tmp_path / "alone")


def test_a_machine_that_does_not_see_the_folder_is_named(cluster, tmp_path, monkeypatch):
    def elsewhere(folder: str, digest: str) -> str:
        return ray_tasks.run_if_seen(f"{folder}/elsewhere", digest)

    monkeypatch.setattr(ray_tasks, "run_if_seen", elsewhere)
    with pytest.raises(UsageError, match=r"machine .* of the cluster does not see it; .*file system"):
        alphanpi.sweep(plan(variants=None), out=tmp_path / "out", ray=cluster)


def test_only_the_very_file_is_taken_for_the_job(tmp_path):
    JobFolder(tmp_path).job_file.write_text("{}")
    assert ray_tasks.run_if_seen(str(tmp_path), "0" * 64)
    assert ray_tasks.run_if_seen(str(tmp_path / "none"), "0" * 64)


def test_an_unreachable_cluster_is_one_line_and_nothing_is_written(run, tmp_path, monkeypatch):
    ray = __import__("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    file = tmp_path / "sweep.toml"
    file.write_text('environments = ["hanoi"]\nseeds = [0]\n')
    code, _, err = run("sweep", file, "--out", tmp_path / "out", "--ray", "127.0.0.1:1")
    assert (code, err.count("\n")) == (2, 1)
    assert "127.0.0.1:1" in err
    assert not (tmp_path / "out").exists()
