"""Certificates of agents, the command, and training until verified."""

from __future__ import annotations

import errno
import json
from typing import Any, cast

import pytest
import torch

import alphanpi
from alphanpi.agent.interpreter import Call
from alphanpi.agent.loading import describe
from alphanpi.agent.weights import write_weights
from alphanpi.engine.config import SearchConfig
from alphanpi.environments.lists import order_patterns
from alphanpi.errors import UsageError
from alphanpi.learn.trainer import Trainer
from alphanpi.network.model import create_network
from alphanpi.support.config import override
from alphanpi.training.presets import preset
from alphanpi.verification import NotRecheckedError
from alphanpi.verification.during_training import Failing, OutOfTimeError, Proof, prove
from alphanpi.verification.exploration import StartOrigin
from alphanpi.verification.records import LemmaRecord, ProgramRecord, digest
from tests.helpers.paths import DOCS
from tests.helpers.tiny import SETTINGS
from tests.helpers.verdicts import COMPARE, there

# ---------------------------------------------------------------------------- pretrained agents, certificates


@pytest.fixture(scope="module")
def hanoi_agent():
    return alphanpi.load("pretrained:hanoi")


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """Weights of an agent that has learned nothing."""
    environment = alphanpi.make("sorting")
    network = create_network(environment, 0)
    path = tmp_path_factory.mktemp("faulty") / "model.safetensors"
    write_weights(path, network, describe("sorting", {}, environment, network, SearchConfig(), 0))
    return path


def test_without_a_lemma_a_pretrained_agent_gets_no_further_than_bounded():
    certificate = alphanpi.verify("pretrained:recursive-sorting", max_size=2)
    assert certificate.verdict == "BOUNDED"
    reasons = [reason for record in certificate.programs for reason in record.reasons]
    assert any("no cut-off lemma" in reason for reason in reasons)


def test_the_pretrained_agents_are_proved(hanoi_agent):
    for run in (hanoi_agent, "pretrained:recursive-sorting-compare"):
        certificate = alphanpi.verify(run, by="lemma")
        assert certificate.proved
        for record in certificate.programs:
            assert there(record.numerics.double_deviation) < 1e-4
            assert there(record.numerics.double_margin) > 0.01
            assert record.numerics.batched_deviation == 0


def test_a_certificate_can_be_checked_again(hanoi_agent, tmp_path):
    path = tmp_path / "certificate.json"
    certificate = alphanpi.verify(hanoi_agent, by="lemma")
    path.write_text(json.dumps(certificate.record()))
    assert alphanpi.verify(hanoi_agent, certificate=path).proved
    with pytest.raises(UsageError, match="about other weights"):
        alphanpi.verify("pretrained:recursive-sorting-compare", certificate=path)


def written(path, certificate):
    path.write_text(json.dumps(certificate.record()))
    return path


def test_certificates_that_stopped_early_can_be_checked_again(tmp_path, monkeypatch, hanoi_agent, faulty):
    path = tmp_path / "certificate.json"
    certificate = alphanpi.verify(faulty, max_size=3)
    assert certificate.verdict == "REFUTED"
    assert alphanpi.verify(faulty, certificate=written(path, certificate)).programs == certificate.programs
    monkeypatch.setattr("alphanpi.verification.exploration.MOST_HISTORIES", 8)
    certificate = alphanpi.verify(hanoi_agent, by="lemma")
    assert certificate.programs[0].reasons[0].startswith("more than 8 histories were met at size")
    again = alphanpi.verify(hanoi_agent, certificate=written(path, certificate))
    assert again.programs[0].sizes == certificate.programs[0].sizes
    with pytest.raises(UsageError, match="leave max_size out"):
        alphanpi.verify(hanoi_agent, certificate=path, max_size=5)


def forged(record, **changes):
    record = json.loads(json.dumps(record))
    record.update(changes)
    return {**record, "digest": digest(record)}


def test_a_changed_certificate_fails(hanoi_agent, tmp_path):
    path = tmp_path / "certificate.json"
    record = alphanpi.verify(hanoi_agent, max_size=2).record()
    assert record["verdict"] == "BOUNDED"

    def refused(content, message):
        path.write_text(content)
        with pytest.raises(UsageError, match=message):
            alphanpi.verify(hanoi_agent, certificate=path)

    refused(json.dumps({**record, "verdict": "PROVED"}), "changed after it was written")
    refused(json.dumps(forged(record, verdict="PROVED")), "does not hold; recomputed, verdict is BOUNDED")
    (only,) = record["programs"]
    refused(json.dumps(forged(record, programs=[{**only, "sequences": 1}])), "HANOI: sequences is 2 instead of 1")
    refused(json.dumps(forged(record, format=2)), "certificate of format 2; this version reads 3")
    for content in ("{}", "{", "[]", "null", '"PROVED"', "[" * 100_000, "9" * 10_000):
        refused(content, "not a certificate")
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(UsageError, match="not a certificate"):
        alphanpi.verify(hanoi_agent, certificate=path)
    refused(json.dumps(forged(record, colour="red")), "colour: Extra inputs are not permitted")
    refused(json.dumps(forged(record, seconds=1e300)), "seconds: Input should be less than")
    refused(json.dumps(forged(record, environment_sha256="0" * 64)), "the source of Hanoi has changed since")
    refused(json.dumps(forged(record, environment_sha256=None)), "made without source files of Hanoi")

    def changed(**changes):
        return json.dumps(forged(record, programs=[{**only, **changes}]))

    numerics = only["numerics"]
    for key, value, message in [
        ("tolerance", 0.0, "HANOI: tolerance is 0.001 instead of 0.0"),
        ("smallest_margin", float("nan"), "smallest_margin: Input should be"),
        ("double_margin", numerics["double_margin"] + 1, "HANOI: double margin is"),
        ("double_margin", None, "HANOI: double margin is .* instead of None"),
        ("double_deviation", 0.5, "HANOI: double deviation is"),
        ("batched_deviation", 0.5, "HANOI: batched deviation is"),
        ("batched_deviation", float("nan"), "batched_deviation: Input should be"),
        ("batched_deviation", "none", "batched_deviation: Input should be"),
        ("same_decisions", 1, "same_decisions: Input should be"),
    ]:
        refused(changed(numerics={**numerics, key: value}), message)
    refused(changed(reasons=[]), "HANOI: reasons is")
    refused(changed(reasons=["the time limit was met at size 9", *only["reasons"]]), "HANOI: reasons is")
    refused(changed(to_size=1), "HANOI: to_size is 2 instead of 1")
    refused(changed(audit={**only["audit"], "runs": 10**6}), "HANOI: audit is")
    wrongs: tuple[dict[str, Any], ...] = (
        {"attempted": "2"},
        {"attempted": True},
        {"attempted": 10**30},
        {"attempted": 1},
        {"to_size": 2.0},
        {"verdict": "REFUTED"},
        {"verdict": "CERTAIN"},
        {"sizes": 3},
        {"sizes": [{"size": 1}]},
        {"numerics": None},
        {"numerics": {}},
        {"reasons": None},
    )
    for wrong in wrongs:
        refused(changed(**wrong), "not a certificate of `alphanpi verify`: programs.0")
    refused(changed(name=["HANOI"]), "programs.0.name")
    refused(changed(name="TOWER"), "the programs are")
    without = {key: value for key, value in only.items() if key != "invariant"}
    absurd: tuple[Any, ...] = (None, [None], {}, [without])
    for programs in absurd:
        refused(json.dumps(forged(record, programs=programs)), "not a certificate of `alphanpi verify`: programs")
    refused(json.dumps(forged(record, programs=[])), "programs: List should have at least 1 item")
    path.write_text(json.dumps(forged(record, programs=[{**only, "attempted": 90_000}])))
    with pytest.raises(NotRecheckedError, match=r"could not be computed again within 0\.5 s"):
        alphanpi.verify(hanoi_agent, certificate=path, time_limit=0.5)


def test_order_patterns_and_templates_are_as_many_starts():
    for entry in COMPARE.library.learned:
        full = list(COMPARE.enumerate(entry.name, 3))
        patterns = list(order_patterns(3))
        written = [state for values in patterns for state in COMPARE.templates(entry.name, 3, values)]
        assert sorted(full) == sorted(written)


# ---------------------------------------------------------------------------- the command


def test_the_command_proves_writes_and_checks_again(run, tmp_path):
    path = tmp_path / "certificate.json"
    code, out, err = run("verify", "pretrained:hanoi", "--by", "lemma", "--out", path)
    assert (code, err) == (0, "")
    assert "PROVED (lemma by hand): every program works at every size" in out
    for part in ("lemma\n  Let no run", "\n  Proof: ", "conditions\n  - HANOI: at 3 or more", "weights: "):
        assert part in out
    prose = out[out.index("lemma\n") : out.index("weights: ")].splitlines()
    assert [line for line in prose if not line.startswith("  ")] == ["lemma", "conditions", "assumed"]
    assert "  - Post-conditions say what the user means." in prose[prose.index("assumed") :]
    assert max(map(len, prose)) <= 80 < len(" ".join(prose))
    record = json.loads(path.read_text())
    assert set(record) == set(alphanpi.Certificate.model_fields)
    code, out, _ = run("verify", "pretrained:hanoi", "--recheck", path)
    assert code == 0
    assert f"{path} holds" in out
    code, out, err = run("verify", "pretrained:sorting", "--recheck", path)
    assert (code, out) == (2, "")
    assert err.startswith(f"alphanpi: error: {path}: the certificate is about other weights")


def test_the_command_says_what_is_in_the_way(run):
    code, out, _ = run("verify", "pretrained:hanoi", "--max-size", 2, "--time-limit", "2m")
    assert code == 3
    assert "BOUNDED: every start up to size 2 works; nothing is claimed beyond" in out
    assert "in the way of more: HANOI: the lemma needs every start up to size 3, 2 was reached" in out


def test_the_command_shows_a_counter_example(run, faulty):
    code, out, _ = run("verify", faulty, "--max-size", 3)
    assert code == 1
    assert "counter-example: RSHIFT on" in out
    assert "REFUTED: a program fails" in out


def test_the_command_as_json(run):
    code, out, err = run("verify", "pretrained:hanoi", "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["verdict"] == "PROVED"
    assert set(record["programs"][0]) == set(ProgramRecord.model_fields)
    page = (DOCS / "verification.md").read_text()
    assert all(f"`{key}`" in page for key in (*record, *record["programs"][0], *LemmaRecord.model_fields))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pretrained:nobody"], "no pretrained agent 'nobody'"),
        (["pretrained:hanoi", "--max-size", "0"], "--max-size 0: HANOI cannot start below size 1; give at least 1"),
        (["pretrained:hanoi", "--max-size", "-1"], "--max-size -1: give 0 to 100,000"),
        (["pretrained:hanoi", "--max-size", "9999999"], "--max-size 9999999: give 0 to 100,000"),
        (["pretrained:sorting", "--max-size", "1"], "RSHIFT cannot start below size 2; give at least 2"),
        (["pretrained:hanoi", "--time-limit", "0"], "leaves no time"),
        (["pretrained:hanoi", "--time-limit", "nan"], "--time-limit nan: write 90, 90s, 5m or 1h"),
        (["pretrained:hanoi", "--out", "."], ".: a folder; give the name of a file"),
        (["pretrained:hanoi", "--out", "no/where.json"], "no/where.json: there is no folder"),
        (["pretrained:hanoi", "--recheck", "nowhere.json"], "nowhere.json: cannot be read"),
        (["pretrained:hanoi", "--recheck", "/dev/null"], "/dev/null: cannot be read: not a file"),
        (["pretrained:hanoi", "--recheck", "nowhere.json", "--max-size", "3"], "leave --max-size out"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_input_is_one_line(run, arguments, message):
    code, out, err = run("verify", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_file_that_cannot_be_written_is_one_line(run, monkeypatch):
    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("alphanpi.support.files.write_atomically", full)
    code, out, err = run("verify", "pretrained:hanoi", "--max-size", 2, "--out", "certificate.json")
    assert (code, out) == (2, "")
    assert err == "alphanpi: error: certificate.json: No space left on device\n"


# ---------------------------------------------------------------------------- training until verified

# Quick iterations, and an exam that anybody passes: verifications that refute, one after the other.
EASY = {
    "until": "verified",
    "search.simulations": 20,
    "episodes.per_iteration": 8,
    "learning.gradient_steps": 4,
    "curriculum.threshold": 0.01,
    "validation.exam_episodes": 0,
}


def trained(run, iterations):
    config = override(preset("default", "hanoi"), {**EASY, "max_iterations": iterations})
    return alphanpi.train("hanoi", seed=1, out=run, config=config)


def weights(run):
    return (run / "checkpoints" / "last" / "model.safetensors").read_bytes()


def saved_errors(run):
    return json.loads((run / "checkpoints" / "last" / "state.json").read_text())["errors"]["HANOI"]


def test_training_until_verified_learns_from_counter_examples_and_resumes_exactly(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    outcome = trained(whole, 6)
    assert not outcome.completed
    assert not outcome.proved
    verdicts_met = [json.loads(line)["verdict"] for line in (whole / "metrics.jsonl").read_text().splitlines()]
    assert any("HANOI REFUTED" in verdict for verdict in verdicts_met[:3])
    assert any(error["origin"] for error in saved_errors(whole))
    trained(parts, 3)
    config = parts / "config.toml"
    config.write_text(config.read_text().replace("max_iterations = 3", "max_iterations = 6"))
    assert any(error["origin"] for error in saved_errors(parts))
    alphanpi.resume(parts)
    assert weights(parts) == weights(whole)
    assert saved_errors(parts) == saved_errors(whole)


def test_a_verification_that_the_clock_cuts_is_repeated(tmp_path, monkeypatch):
    """It ends the run with a checkpoint from before; what is learned afterwards does not depend on the clock."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    trained(whole, 4)
    verifications = []

    def cut(environment, evaluator, network, seconds=None):
        verifications.append(seconds)
        if len(verifications) == 3:
            raise OutOfTimeError
        return prove(environment, evaluator, network, seconds)

    monkeypatch.setattr("alphanpi.learn.trainer.prove", cut)
    config = override(preset("default", "hanoi"), {**EASY, "max_iterations": 4})
    outcome = alphanpi.train("hanoi", seed=1, out=parts, config=config, time_limit=900.0)
    monkeypatch.undo()
    assert (outcome.reason, outcome.completed, outcome.proved, outcome.iterations) == ("time", False, False, 2)
    assert "the time limit was met during the verification" in outcome.explanation
    assert all(seconds is not None and 0 < seconds < 900 for seconds in verifications)
    alphanpi.resume(parts)
    assert weights(parts) == weights(whole)
    assert [path.name for path in (parts / "checkpoints").glob("damaged*")] == []


def test_the_time_of_a_run_holds_for_verification(hanoi_agent):
    with pytest.raises(OutOfTimeError):
        prove(hanoi_agent.environment, hanoi_agent.evaluator, hanoi_agent.network, seconds=0.0)
    assert prove(hanoi_agent.environment, hanoi_agent.evaluator, hanoi_agent.network).proved


@pytest.mark.parametrize("failing", [(), (Failing("HANOI", 1, (StartOrigin(0, ()),)),)], ids=["nothing", "a start"])
def test_what_cannot_be_proved_and_never_fails_is_learned_in_another_way(failing, monkeypatch):
    """Else training would go on for ever with nothing to learn from."""
    config = override(preset("default", "hanoi"), {**SETTINGS, "until": "verified"})
    trainer = Trainer(alphanpi.make("hanoi"), config, seed=3)
    trainer.iterate()
    assert trainer.replay.rings
    before = trainer.network.state_dict()["core.weight_hh"].clone()
    trainer.curriculum.completed = True
    proof = Proof(False, "HANOI BOUNDED(3)", ("HANOI",), failing, cast(Any, None))
    monkeypatch.setattr("alphanpi.learn.trainer.prove", lambda *_: proof)
    verdict = trainer._verify()
    assert not trainer.curriculum.completed
    assert torch.equal(trainer.network.state_dict()["core.weight_hh"], before) == bool(failing)
    assert bool(trainer.replay.rings) == bool(failing)
    assert verdict.endswith("fresh ones") == (not failing)
    assert any(error.start.origin for error in trainer.starts.errors["HANOI"]) == bool(failing)


def test_a_counter_example_can_be_made_again():
    trainer = Trainer(COMPARE, override(preset("default"), {"until": "verified"}), seed=0)
    trainer.curriculum.completed = True
    assert "REFUTED" in trainer._verify()
    assert not trainer.curriculum.completed
    starts = [error.start for errors in trainer.starts.errors.values() for error in errors]
    assert starts
    for start in starts:
        (execution,) = trainer.interpreter.run([Call(start.program, trainer.starts.state(start))], max_actions=10_000)
        assert not execution.success


@pytest.mark.parametrize(
    ("name", "lacking"),
    [
        ("flat-sorting", "FlatSorting has no cut-off lemma here"),
        ("sorting --network.window 0", "network.window is 0"),
    ],
)
def test_training_until_verified_needs_a_lemma(run, tmp_path, name, lacking):
    code, _, err = run("train", *name.split(), "--until", "verified", "--out", tmp_path / "run")
    assert code == 2
    assert lacking in err
    assert not (tmp_path / "run").exists()
