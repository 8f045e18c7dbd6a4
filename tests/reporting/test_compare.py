"""Runs side by side: groups, medians, what differs, and runs that did not end well."""

from __future__ import annotations

import json
import shutil

import pytest

import alphanpi
from alphanpi.paper import PaperConfig
from alphanpi.reporting.comparison_records import MedianRecord
from alphanpi.reporting.page_file import to_json
from alphanpi.runs.directory import RunDirectory
from alphanpi.support.config import to_toml
from tests.helpers.commands import assert_one_line
from tests.helpers.compared import write_run
from tests.helpers.paths import ROOT

OLD_RUN = ROOT / "tests" / "runs" / "data" / "old_run"


def numbers(median: MedianRecord | None) -> tuple:
    assert median is not None
    return tuple(median)


def test_runs_that_differ_in_the_seed_only_are_a_group(tmp_path):
    for seed, iterations in enumerate((20, 30, 40)):
        write_run(tmp_path / f"small-{seed}", seed, iterations, changes={"learning.batch": 32}, solved=20)
    for seed, iterations in enumerate((10, 12)):
        write_run(
            tmp_path / f"tiny-{seed}", seed, iterations, changes={"learning.batch": 8, "learning.learning_rate": 1e-7}
        )
    [environment] = alphanpi.compare(tmp_path).environments
    assert environment.environment == "hanoi"
    assert environment.programs == ["HANOI", "NEXT"]
    assert environment.settings == ["learning.learning_rate", "learning.batch"]
    small, tiny = environment.groups
    assert small.settings["learning.batch"] == 32
    assert tiny.label == "learning_rate 1e-07, batch 8"
    assert (small.learned, small.ended, tiny.runs) == (3, 3, [3, 4])
    assert numbers(small.seconds) == (30, 20, 40, 0.75)
    assert numbers(tiny.iterations) == (11, 10, 12, 0.5)
    assert small.scores[0][:4] == ("HANOI", 2, "greedy", 60)
    assert small.scores[0].rates == [1.0, 1.0, 1.0]
    assert small.scores[0].low == pytest.approx(0.9398, abs=1e-4)  # Wilson, 60 of 60
    assert tiny.scores == []


def test_runs_of_another_preset_are_told_apart_by_its_name(tmp_path):
    write_run(tmp_path / "usual", 0, 20)
    paper = write_run(tmp_path / "paper", 1, 30, preset="paper")
    (paper / "config.toml").write_text(to_toml(PaperConfig()))
    [environment] = alphanpi.compare(tmp_path).environments
    assert [group.label for group in environment.groups] == [
        "max_iterations 1000000, preset paper",
        "max_iterations 2000, preset default",
    ]


def test_runs_that_did_not_learn_count_as_never_and_those_at_work_do_not_count(tmp_path):
    write_run(tmp_path / "0", 0, 20)
    write_run(tmp_path / "1", 1, 40, end="proved")
    write_run(tmp_path / "2", 2, 40, end="time")
    write_run(tmp_path / "3", 3, 40, end=None)
    at_work = write_run(tmp_path / "4", 4, 40, end="interrupted")
    with RunDirectory(at_work).locked():
        record = alphanpi.compare([tmp_path])
    assert [run.status for run in record.runs] == ["learned", "proved", "stopped", "failed", "running"]
    assert record.runs[2].note == "time limit: NEXT at 40%, needs 95%"
    assert record.runs[3].note == "ended without saying how: an error, or it was killed"
    [group] = record.environments[0].groups
    assert (group.learned, group.ended) == (2, 4)
    assert numbers(group.seconds) == (None, 20, None, 0.875)
    assert (group.learned_low, group.learned_high) == pytest.approx((0.15, 0.85), abs=1e-3)
    alone = alphanpi.compare([tmp_path / "2"]).environments[0].groups[0]
    assert numbers(alone.seconds) == (None, None, None, 0.0)


def test_an_outcome_from_before_the_last_iterations_is_not_theirs(tmp_path):
    """A run that was resumed and then killed."""
    run = write_run(tmp_path / "run", end="interrupted")
    with (run / "metrics.jsonl").open("a") as file:
        line = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
        file.write(json.dumps({**line, "iteration": line["iteration"] + 1}) + "\n")
        file.write('{"iteration": 3, "lev')
    assert alphanpi.compare(run).runs[0].status == "failed"


def test_environments_are_kept_apart_and_what_makes_times_incomparable_is_said(tmp_path):
    write_run(tmp_path / "a", 0, platform="Linux")
    write_run(tmp_path / "b", 0, platform="Darwin", solved=3)
    write_run(tmp_path / "c", 0, environment="/x/mine.py:Mine", options={"observation": "compare"})
    hanoi, mine = alphanpi.compare(tmp_path).environments
    assert (hanoi.groups[0].runs, mine.groups[0].runs) == ([0, 1], [2])
    assert [note[:12] for note in hanoi.groups[0].notes] == ["not all runs", "seed 0 was r", "not all runs"]
    assert mine.groups[0].label == "all runs"


def test_what_cannot_be_read_is_listed_and_not_counted(run, tmp_path):
    write_run(tmp_path / "good")
    (write_run(tmp_path / "bad") / "meta.json").write_text("{")
    with (write_run(tmp_path / "odd") / "metrics.jsonl").open("r+") as file:
        file.write("x")
    record = alphanpi.compare(tmp_path)
    assert [one.reason.partition(": ")[0] for one in record.unreadable] == [str(tmp_path / "bad" / "meta.json")]
    assert record.runs[1].note == "1 damaged lines of metrics.jsonl are left out"
    outcome = run("compare", tmp_path, "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["unreadable"] == [
        {"path": str(tmp_path / "bad"), "reason": record.unreadable[0].reason}
    ]
    assert outcome.err.startswith("warning: ")
    assert_one_line(run("compare", tmp_path / "bad"), "bad/meta.json: cannot be read")


def test_a_real_run_with_its_scores_and_certificate(finished, tmp_path):
    """Both are of the newest weights; after another iteration they are of an agent that is gone."""
    place = tmp_path / "run"
    shutil.copytree(finished, place, symlinks=True)
    alphanpi.evaluate(place, "HANOI", [1], episodes=2)
    alphanpi.verify(place, max_size=2)
    record = alphanpi.compare([place, OLD_RUN])
    new, old = record.runs
    assert (new.status, new.note.partition(":")[0], new.iterations) == ("stopped", "iteration limit", 12)
    assert [(score.mode, score.episodes) for score in new.scores] == [("greedy", 2), ("planning", 2)]
    assert new.verdict is not None
    assert (old.status, old.verdict, old.scores) == ("failed", None, [])
    assert new.settings["network.memory"] == 3
    shutil.copy(ROOT / "src/alphanpi/pretrained/hanoi/model.safetensors", place / "checkpoints/last/model.safetensors")
    again = alphanpi.compare(place).runs[0]
    assert (again.verdict, again.scores) == (None, [])


def test_the_command_prints_a_table_and_writes_a_page(run, tmp_path):
    for seed in range(3):
        write_run(tmp_path / f"{seed}", seed, 20 + seed, solved=20 - seed)
    outcome = run("compare", tmp_path)
    assert outcome.code == 0
    assert "3 of 3" in outcome.out
    assert "-o compare.html" in outcome.out
    page = tmp_path / "page.html"
    outcome = run("compare", tmp_path, "-o", page)
    assert outcome.out.splitlines()[-1].startswith(f"wrote {page}")
    assert "http" not in page.read_text().replace("http://www.w3.org/2000/svg", "")
    data = tmp_path / "page.json"
    run("compare", tmp_path, "-o", data)
    assert json.loads(data.read_text()) == json.loads(to_json(alphanpi.compare(tmp_path)))


def test_bad_places_are_one_line(run, tmp_path):
    assert_one_line(run("compare", tmp_path), "no run in it", "give run directories")
    assert_one_line(run("compare"), "no runs to compare")
    write_run(tmp_path / "run")
    assert_one_line(run("compare", tmp_path, "-o", tmp_path / "no" / "page.html"), "there is no folder")


def test_names_of_settings_are_short_where_that_is_clear(tmp_path):
    write_run(tmp_path / "a", changes={"search.noise_fraction": 0.1, "validation.size": 3})
    write_run(tmp_path / "b", changes={"search.noise_fraction": 0.2, "validation.size": 4}, options={"size": 1})
    labels = [group.label for group in alphanpi.compare(tmp_path).environments[0].groups]
    assert labels == [
        "noise_fraction 0.1, validation.size 3, options.size -",
        "noise_fraction 0.2, validation.size 4, options.size 1",
    ]


def test_the_page_stays_small_however_many_runs_and_iterations(tmp_path):
    for seed in range(3):
        write_run(tmp_path / f"{seed}", seed, 5000)
    curves = alphanpi.compare(tmp_path).runs[0].curves
    assert curves is not None
    assert len(curves.iteration) <= 402
    assert curves.iteration[-1] == 5000
    assert 2500 in curves.iteration  # a level was learned there
