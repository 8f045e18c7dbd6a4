"""A sweep: what is run, tried again, kept and refused."""

from __future__ import annotations

import json
import signal
from functools import partial
from pathlib import Path

import pytest

import alphanpi
from alphanpi.errors import UsageError
from alphanpi.runs.directory import RunDirectory
from alphanpi.sweeping.jobs import Job, JobFolder
from alphanpi.sweeping.progress import JobState, doing, seconds_left
from alphanpi.sweeping.records import JobResult
from tests.helpers.commands import assert_one_line
from tests.helpers.countdown import COUNTDOWN
from tests.helpers.sweeps import at_once, plan, really, stored, swept
from tests.helpers.tiny import SETTINGS, bits, tiny_run

KILLED = "killed by SIGKILL"


def interrupted(folder):
    """Ctrl-C while this job is at work."""
    signal.raise_signal(signal.SIGINT)
    return ""


def dying(times: int):
    """A job whose process dies so often."""
    left: dict[Path, int] = {}

    def behave(folder):
        left[folder] = left.get(folder, times) - 1
        return KILLED if left[folder] >= 0 else at_once(folder)

    return behave


def test_two_seeds_of_two_variants_are_run_measured_and_compared(tmp_path, monkeypatch):
    out = tmp_path / "sweep"
    measured = {"sizes": [1, 2], "episodes": 2, "mode": "greedy"}
    never = {"sizes": [3], "episodes": 1, "above": 0.0}
    given = plan(seeds=[3, 4], evaluate=[measured, never])
    progress, backend = swept(monkeypatch, out, really, given)
    assert backend.most_at_work == 2
    assert [state.status for state in progress.jobs] == ["stopped"] * 4
    assert [(score.size, score.mode) for score in progress.jobs[0].result.scores] == [(1, "greedy"), (2, "greedy")]
    assert progress.jobs[0].result.iterations == 2
    tiny_run(tmp_path / "alone", iterations=2)
    assert bits(tmp_path / "alone") == bits(out / "hanoi" / "usual" / "seed3" / "run")
    [environment] = alphanpi.compare(out).environments
    assert environment.settings == ["network.memory"]
    assert [len(group.runs) for group in environment.groups] == [2, 2]
    assert stored(out)["hanoi/narrow/seed4/run"]["result"]["iterations"] == 2


def test_a_job_that_dies_is_taken_up_again_but_not_for_ever(tmp_path, monkeypatch):
    progress, backend = swept(monkeypatch, tmp_path / "enough", dying(2))
    assert [(state.status, state.attempts) for state in progress.jobs] == [("learned", 3)] * 2
    progress, backend = swept(monkeypatch, tmp_path / "few", dying(2), plan(retries=1))
    assert [(state.status, state.attempts) for state in progress.jobs] == [("failed", 2)] * 2
    assert progress.jobs[0].note == "its process died 2 times, at last: killed by SIGKILL"
    progress, backend = swept(monkeypatch, tmp_path / "few", at_once, plan(retries=1), resume=True)
    assert (progress.learned, len(backend.started)) == (2, 2)


def test_an_error_that_a_run_reports_is_final_and_the_others_go_on(tmp_path, monkeypatch, forget_loaded_files):
    file = tmp_path / "mine.py"
    file.write_text(COUNTDOWN.replace("return (state == 0,)", "return (state // (state - 2),)"))
    given = plan(environments=[str(file), "hanoi"], variants=None)
    progress, backend = swept(monkeypatch, tmp_path / "sweep", really, given)
    broken, fine = progress.jobs
    assert (broken.status, broken.attempts, fine.status) == ("failed", 1, "stopped")
    assert "ZeroDivisionError" in broken.note
    assert len(backend.started) == 2


def test_what_has_ended_is_kept_and_the_rest_goes_on(tmp_path, monkeypatch):
    out = tmp_path / "sweep"

    def one_then_interrupt(folder):
        return interrupted(folder) if folder.parts[-2] == "narrow" else at_once(folder)

    progress, backend = swept(monkeypatch, out, one_then_interrupt)
    assert (progress.interrupted, progress.stopping, backend.stopped) == (True, True, True)
    assert [job["status"] for job in stored(out).values()] == ["learned", "waiting"]
    assert backend.started == ["hanoi/usual/seed0", "hanoi/narrow/seed0"]
    (out / "sweep.json").unlink()  # it was killed before that was written
    progress, backend = swept(monkeypatch, out, partial(at_once, status="stopped"), resume=True)
    assert [state.status for state in progress.jobs] == ["learned", "stopped"]
    assert backend.started == ["hanoi/narrow/seed0"]
    progress, backend = swept(monkeypatch, out, at_once, out, resume=True)
    assert backend.started == []


def test_a_sweep_may_grow_but_what_has_begun_must_not_change(tmp_path, monkeypatch):
    out = tmp_path / "sweep"
    swept(monkeypatch, out, at_once)
    before = (out / "sweep.json").read_bytes()
    for change, said in (
        ({"settings": {**SETTINGS, "max_iterations": 3}}, "settings"),
        ({"time_limit": 5}, "time_limit"),
        ({"evaluate": {"sizes": [1]}}, "evaluate"),
        ({"variants": {"usual": {}, "narrow": {"network.memory": 4}}}, "settings"),
    ):
        with pytest.raises(UsageError, match=f"begun with another {said}: .*change it back, or give another --out"):
            swept(monkeypatch, out, at_once, plan(**change), resume=True)
    assert (out / "sweep.json").read_bytes() == before
    grown = plan(seeds=[0, 1], variants={"usual": {}, "narrow": {"network.memory": 2}, "wide": {"network.memory": 9}})
    _, backend = swept(monkeypatch, out, at_once, grown, resume=True)
    assert sorted(backend.started) == [
        f"hanoi/{name}" for name in ("narrow/seed1", "usual/seed1", "wide/seed0", "wide/seed1")
    ]


def test_a_folder_is_not_taken_twice(tmp_path, monkeypatch):
    out = tmp_path / "sweep"
    swept(monkeypatch, out, at_once)
    with pytest.raises(UsageError, match="a sweep is there already; `alphanpi sweep --resume"):
        swept(monkeypatch, out, at_once)
    with RunDirectory(out).locked(), pytest.raises(UsageError, match="is at work"):
        swept(monkeypatch, out, at_once, resume=True)
    with pytest.raises(UsageError, match="a folder; to go on with a sweep, --resume"):
        alphanpi.sweep(out)


def test_a_folder_from_elsewhere_runs_no_code(run, tmp_path, monkeypatch):
    file = tmp_path / "mine.py"
    file.write_text(f"{COUNTDOWN}\nopen({str(tmp_path / 'ran')!r}, 'w')\n")
    plan = {"environments": [{"id": str(file), "name": "mine"}], "seeds": [0]}
    content = {"version": "0", "plan": plan, "jobs": []}
    (tmp_path / "sweep.json").write_text(json.dumps(content))
    assert_one_line(run("sweep", "--resume", tmp_path), "sweep.json", "that would run its code")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("content", ["{", "{}", '{"plan": {"seeds": [0]}}'])
def test_a_damaged_record_is_refused(run, tmp_path, content):
    (tmp_path / "sweep.json").write_text(content)
    assert_one_line(run("sweep", "--resume", tmp_path), "sweep.json: cannot be read", "give the sweep's own file")


def test_the_command_tells_what_ended_and_how_to_go_on(run, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    file = tmp_path / "sweep.toml"
    file.write_text('environments = ["hanoi"]\nseeds = "0-1"\n[variants.a]\n[variants.b]\nnetwork.memory = 4\n')

    def mixed(folder):
        if folder.name == "seed1" and folder.parts[-2] == "b":
            return interrupted(folder)
        return at_once(folder, "failed", "[red]no") if folder.parts[-2] == "b" else at_once(folder)

    def command(behaviour, *arguments):
        from tests.helpers.sweeps import InThisProcess

        monkeypatch.setattr("alphanpi.sweeping.sweep._backend", lambda *_: InThisProcess(behaviour))
        return run("sweep", *arguments)

    code, out, err = command(mixed, file, "--out", tmp_path / "out")
    assert code == 130
    assert "pip install 'alphanpi[ray]'" in out
    assert err == ""
    assert "hanoi b seed 0 failed: [red]no" in out
    assert f"interrupted; nothing is lost. To go on:\n  alphanpi sweep --resume {tmp_path / 'out'}" in out
    code, out, _ = command(at_once, "--resume", tmp_path / "out")
    assert (code, "2 of 4 runs have ended before, and are kept" in out) == (0, True)
    code, out, _ = command(at_once, "--resume", tmp_path / "out", "--json")
    assert [job["status"] for job in json.loads(out)] == ["learned"] * 4
    assert code == 0


def test_ray_that_is_not_installed_is_one_line(run, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    file = tmp_path / "sweep.toml"
    file.write_text('environments = ["hanoi"]\nseeds = [0]\n')
    assert_one_line(run("sweep", file, "--out", tmp_path / "out", "--ray", "local"), "ray", "pip install")
    assert_one_line(run("sweep", file, "--out", tmp_path / "out", "--jobs", 0), "jobs 0: give a whole number")


def job(name: str, variant: str | None = None, **changes) -> Job:
    usual = {"environment": "hanoi", "options": {}, "preset": "default", "settings": {}, "until": "learned"}
    rest = {"time_limit": None, "device": "cpu", "evaluate": (), "seed": 0}
    return Job(name=name, variant=variant, **{**usual, **rest, **changes})


def test_the_end_is_estimated_from_runs_that_are_alike(tmp_path):
    def state(job, status="waiting", seconds=None, began=None):
        result = None if seconds is None else JobResult(status=status, note="", training_seconds=seconds)
        return JobState(job, tmp_path, status, result=result, began=began)

    ended = [state(job("a", "x"), "learned", 10.0), state(job("a", "y"), "stopped", 30.0)]
    assert seconds_left([*ended, state(job("a", "x"))], 1, 0.0) == 10
    assert seconds_left([*ended, state(job("a", "z"))], 1, 0.0) == 20
    assert seconds_left([*ended, *(state(job("a", "y")) for _ in range(3))], 2, 0.0) == 60
    assert seconds_left([*ended, state(job("a", "x"), "running", began=4.0)], 2, 10.0) == 4
    assert seconds_left([state(job("b"))], 1, 0.0) is None
    assert seconds_left([state(job("b", time_limit=7.0))], 1, 0.0) == 7
    assert seconds_left(ended, 1, 0.0) == 0


def test_what_a_job_is_doing_is_read_from_its_run(tmp_path):
    state = JobState(job("a"), tmp_path, "running")
    assert doing(state) == "starting"
    folder = JobFolder(tmp_path)
    tiny_run(folder.run.path, iterations=2)
    folder.run.outcome_file.rename(tmp_path / "outcome")
    with folder.run.metrics_file.open("a") as log:
        log.write('{"iteration": 3, "lev')
    assert doing(state).startswith("level 1, iteration 2, ")
    (tmp_path / "outcome").rename(folder.run.outcome_file)
    assert doing(state) == "measuring"
