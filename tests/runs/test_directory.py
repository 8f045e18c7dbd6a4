"""The run directory as the meeting place: whoever finds something out writes it there, and the others read it."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import alphanpi
from alphanpi.agent.evaluation import scored
from alphanpi.errors import UsageError
from alphanpi.runs.directory import RunDirectory
from alphanpi.runs.records import CERTIFICATE_FILE, OUTCOME_FILE, SCORES_FILE, ScoredAgent
from alphanpi.support.config import override
from alphanpi.training.presets import preset
from alphanpi.verification.verdicts import Kind, Verdict


def content(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of an environment that is learned at once, trained until verified."""
    folder = tmp_path_factory.mktemp("runs") / "hanoi"
    config = override(preset("default", "hanoi"), {"until": "verified"})
    outcome = alphanpi.train("hanoi", seed=0, out=folder, config=config, time_limit=300)
    return folder, outcome


def test_training_until_verified_keeps_its_certificate(trained):
    folder, outcome = trained
    assert outcome.proved
    agent = alphanpi.load(folder)
    content = json.loads((folder / CERTIFICATE_FILE).read_text())
    assert content["verdict"] == "PROVED"
    assert content["weights_sha256"] == agent.weights_hash
    assert alphanpi.verify(agent, certificate=folder / CERTIFICATE_FILE).proved


def test_the_outcome_is_kept(trained):
    folder, outcome = trained
    kept = RunDirectory(folder).outcome()
    assert kept is not None
    assert (kept.completed, kept.proved, kept.iterations) == (True, True, outcome.iterations)
    assert kept.reason == "completed"


def test_scores_are_kept_and_shown_in_reports(trained):
    folder, _ = trained
    alphanpi.evaluate(folder, sizes=[2], episodes=3)
    alphanpi.evaluate(folder, "HANOI", [3], episodes=4, mode="greedy", seed=7)
    alphanpi.evaluate(folder, "HANOI", [2], episodes=5, mode="greedy")
    kept = json.loads((folder / SCORES_FILE).read_text())
    rows = [(row["size"], row["mode"], row["episodes"], row["seed"]) for row in kept["scores"]]
    assert rows == [(2, "greedy", 5, 0), (2, "planning", 3, 0), (3, "greedy", 4, 7)]
    record = alphanpi.report(folder, instance="2", simulations=2, seconds=0, verify_seconds=0, export=False)
    shown = {(score.size, score.mode): score.episodes for score in record.generalisation.scores}
    assert {row[:2]: row[2] for row in rows}.items() <= shown.items()
    assert record.training.completed
    assert record.verdict is not None
    assert record.verdict.text == "PROVED (lemma by hand)"


def test_what_is_measured_without_keeping_leaves_nothing(trained, tmp_path):
    folder, _ = trained
    before = (folder / SCORES_FILE).read_bytes() if (folder / SCORES_FILE).exists() else None
    alphanpi.evaluate(folder, "HANOI", [4], episodes=1, mode="greedy", keep=False)
    assert ((folder / SCORES_FILE).read_bytes() if (folder / SCORES_FILE).exists() else None) == before
    weights = tmp_path / "model.safetensors"
    weights.write_bytes((folder / "checkpoints" / "last" / "model.safetensors").read_bytes())
    alphanpi.evaluate(weights, "HANOI", [2], episodes=1, mode="greedy")
    assert list(tmp_path.iterdir()) == [weights]


def test_a_weaker_certificate_does_not_replace_a_stronger_one(trained):
    folder, _ = trained
    before = (folder / CERTIFICATE_FILE).read_bytes()
    assert not alphanpi.verify(folder, max_size=1).proved
    assert (folder / CERTIFICATE_FILE).read_bytes() == before


def test_going_on_with_training_leaves_nothing_that_could_be_taken_for_the_new_agents(tmp_path):
    config = override(preset("default", "hanoi"), {"max_iterations": 1})
    alphanpi.train("hanoi", seed=1, out=tmp_path / "run", config=config)
    folder = tmp_path / "run"
    alphanpi.evaluate(folder, "HANOI", [1], episodes=1, mode="greedy")
    alphanpi.verify(folder, max_size=1)
    assert {file.name for file in folder.iterdir()} >= {OUTCOME_FILE, SCORES_FILE, CERTIFICATE_FILE}
    file = folder / "config.toml"
    file.write_text(file.read_text().replace("max_iterations = 1", "max_iterations = 2"))
    assert alphanpi.resume(folder).iterations == 2
    assert json.loads((folder / OUTCOME_FILE).read_text())["iterations"] == 2
    # What is there says whose it is: nobody takes it for the new agent's, and it is replaced.
    agent = alphanpi.load(folder)
    assert RunDirectory(folder).scores(scored(agent)) is None
    record = alphanpi.report(agent, instance="1", simulations=2, seconds=0.01, verify_seconds=5, export=False)
    assert record.certificate_note.startswith("Computed for this report")
    alphanpi.evaluate(folder, "HANOI", [1], episodes=2, mode="greedy")
    assert [row["episodes"] for row in json.loads((folder / SCORES_FILE).read_text())["scores"]] == [2]


def test_only_the_newest_agent_of_a_run_is_written_about(tmp_path):
    folder = tmp_path / "run"
    config = override(preset("default", "hanoi"), {"max_iterations": 1})
    alphanpi.train("hanoi", seed=1, out=folder, config=config)
    old = alphanpi.load(folder)
    file = folder / "config.toml"
    file.write_text(file.read_text().replace("max_iterations = 1", "max_iterations = 2"))
    alphanpi.resume(folder)
    before = content(folder)
    alphanpi.evaluate(old, "HANOI", [1], episodes=1)
    alphanpi.verify(old, max_size=1)
    alphanpi.evaluate(folder, "HANOI", [1], episodes=1, environment="hanoi")  # which need not be the run's own
    new = alphanpi.load(folder)
    with RunDirectory(folder).locked():  # another process is at work
        alphanpi.evaluate(new, "HANOI", [1], episodes=1)
    with torch.no_grad():
        next(new.network.parameters()).add_(1)
    alphanpi.verify(new, max_size=1)
    after = content(folder)
    before.pop(".lock"), after.pop(".lock")
    assert after == before


def test_a_counter_example_is_never_replaced_and_replaces_all_else(tmp_path):
    folder = tmp_path / "run"
    config = override(preset("default", "hanoi"), {"max_iterations": 2})
    alphanpi.train("hanoi", seed=2, out=folder, config=config)
    file = folder / CERTIFICATE_FILE
    verdicts = []
    for size in (1, 2, 1):
        alphanpi.verify(folder, max_size=size)
        verdicts.append(json.loads(file.read_text())["verdict"])
    assert verdicts == ["BOUNDED", "REFUTED", "REFUTED"]


def test_a_report_leaves_no_certificate_and_measures_what_is_missing(trained, tmp_path):
    folder, _ = trained
    kept = content(folder)
    (folder / CERTIFICATE_FILE).unlink()
    (folder / SCORES_FILE).unlink(missing_ok=True)
    numbers: list = [np.int64(1), np.int64(3)]
    alphanpi.evaluate(folder, "HANOI", [2], episodes=numbers[0], mode="greedy", seed=numbers[1])
    record = alphanpi.report(folder, instance="1", simulations=2, seconds=3, export=False, verify_seconds=0.001)
    assert not (folder / CERTIFICATE_FILE).exists()
    rows = {(score.size, score.mode): score.episodes for score in record.generalisation.scores}
    assert rows[2, "greedy"] == 1
    assert rows[2, "planning"] == 20
    assert "From scores.json beside the weights. Measured for this report" in record.generalisation.note
    for name in (CERTIFICATE_FILE, SCORES_FILE):
        if name in kept:
            (folder / name).write_bytes(kept[name])


def test_damaged_scores_are_one_line(trained, tmp_path):
    directory = RunDirectory(tmp_path)
    directory.scores_file.write_text("[")
    with pytest.raises(UsageError, match=r"scores\.json: .*not JSON"):
        directory.keep_scores(ScoredAgent("0" * 64, None), [])


def test_every_verb_takes_an_agent(trained, tmp_path):
    folder, _ = trained
    agent = alphanpi.load(folder)
    answer = alphanpi.run(agent, "HANOI", "2")
    assert answer.success
    assert alphanpi.run(str(folder), "HANOI", "2").result == answer.result
    assert not alphanpi.run(agent, "HANOI", "9", max_actions=5).success
    assert alphanpi.trace(agent, "HANOI", "1").success
    assert alphanpi.evaluate(agent, sizes=[1], episodes=1, keep=False)[0].program == "HANOI"
    assert alphanpi.tree(agent, "HANOI", "1").nodes
    assert alphanpi.render(agent, "HANOI", "1", tmp_path / "hanoi.svg").file.exists()
    assert "def hanoi(" in alphanpi.export(agent, max_size=3, samples=10).text
    in_memory = alphanpi.Agent(agent.environment, agent.network, agent.card)
    record = alphanpi.report(in_memory, instance="1", simulations=2, seconds=0.1, verify_seconds=0, export=False)
    assert record.agent.run == "an agent in memory"
    assert record.learning is None


@pytest.mark.parametrize(
    ("verdict", "text", "meaning"),
    [
        (Verdict(Kind.PROVED, 3, 2), "PROVED (lemma by hand)", "every program works at every size"),
        (Verdict(Kind.PROVED, machine=True), "PROVED (machine)", "every program works at every size"),
        (Verdict(Kind.SATURATED, 6, 2), "SATURATED(2..6)", "every start up to size 6 works, and nothing new was met"),
        (Verdict(Kind.BOUNDED, 5), "BOUNDED(5)", "every start up to size 5 works; nothing is claimed beyond"),
        (Verdict(Kind.BOUNDED, 0), "BOUNDED(0)", "every start up to size 0 works; nothing is claimed beyond"),
        (Verdict(Kind.BOUNDED), "BOUNDED(none)", "no size was completed by every program"),
        (Verdict(Kind.REFUTED, 2), "REFUTED", "a program fails; see the counter-example"),
    ],
)
def test_verdicts_are_worded_once(verdict, text, meaning):
    assert str(verdict) == text
    assert verdict.meaning.startswith(meaning)


def test_a_run_directory_that_cannot_be_written_is_only_read(trained, monkeypatch):
    folder, _ = trained
    before = content(folder)

    def refuse(*_):
        raise UsageError("cannot be written")

    monkeypatch.setattr("alphanpi.runs.directory.write_atomically", refuse)
    monkeypatch.setattr("alphanpi.verification.keeping.write_atomically", refuse)
    assert alphanpi.evaluate(folder, "HANOI", [5], episodes=1, mode="greedy")[0].successes == 1
    assert alphanpi.verify(folder, max_size=1).programs
    assert content(folder) == before


def test_damaged_scores_are_found_before_anything_is_measured(tmp_path):
    config = override(preset("default", "hanoi"), {"max_iterations": 1})
    alphanpi.train("hanoi", seed=1, out=tmp_path / "run", config=config)
    (tmp_path / "run" / SCORES_FILE).write_text("[1")
    with pytest.raises(UsageError, match=r"scores\.json: .*not JSON.*delete it"):
        alphanpi.evaluate(tmp_path / "run", "HANOI", [1], episodes=10**6)
