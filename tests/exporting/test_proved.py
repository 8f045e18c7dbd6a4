"""Code of a proved agent is run on every sequence that can occur, and claims that for exactly this agent alone."""

from __future__ import annotations

import json

import pytest

import alphanpi
from alphanpi import UsageError
from alphanpi.exporting import Origin, find_code, pipeline
from alphanpi.exporting.render import functions
from alphanpi.exporting.replaying import Replayer
from alphanpi.runs.directory import RunDirectory
from alphanpi.verification.sequences import proved_sequences

CLAIM = "every sequence of observations that can occur"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    path = tmp_path_factory.mktemp("proved") / "certificate.json"
    path.write_text(json.dumps(alphanpi.verify("pretrained:hanoi").record()))
    return path


@pytest.fixture(scope="module")
def sequences(certificate):
    return proved_sequences(alphanpi.load("pretrained:hanoi"), certificate, None)["HANOI"]


def test_code_of_a_proved_agent_is_equal_on_every_sequence(run, certificate, tmp_path):
    target = tmp_path / "hanoi.py"
    small = ("--max-size", "3", "--samples", "8")
    code, out, err = run("export", "pretrained:hanoi", *small, "-o", target, "--certificate", certificate)
    assert (code, out) == (0, "")
    assert "equal to the agent on every sequence that can occur (proved)" in err
    assert CLAIM in " ".join(target.read_text().split())
    code, out, err = run("export", "pretrained:hanoi", *small, "-o", target)
    assert "(proved)" not in err
    assert CLAIM not in " ".join(target.read_text().split())


def test_nothing_is_claimed_of_simplified_code(certificate):
    exported = alphanpi.export("pretrained:hanoi", max_size=3, samples=8, certificate=certificate, simplify=True)
    assert not exported.proved


def test_a_certificate_of_another_agent_is_refused(certificate):
    with pytest.raises(UsageError, match="about other weights"):
        alphanpi.export("pretrained:recursive-sorting-compare", certificate=certificate)


def test_a_certificate_that_does_not_hold_is_refused(certificate, tmp_path):
    forged = tmp_path / "certificate.json"
    forged.write_text(certificate.read_text().replace("PROVED", "BOUNDED", 1))
    with pytest.raises(UsageError, match="digest"):
        alphanpi.export("pretrained:hanoi", certificate=forged)


def test_a_certificate_in_the_folder_that_is_of_other_weights_is_not_used(certificate, tmp_path, monkeypatch):
    agent = alphanpi.load("pretrained:recursive-sorting-compare")
    (tmp_path / "certificate.json").write_text(certificate.read_text())
    monkeypatch.setattr(type(agent), "run_directory", property(lambda self: RunDirectory(tmp_path)))
    proof = pipeline._proof(agent, None, None, None)
    assert proof.sequences == {}
    assert "equality is not proved" in proof.problem
    assert "other weights" in proof.problem


@pytest.mark.parametrize("generic", [False, True])
def test_code_that_does_something_else_on_one_sequence_is_noticed(sequences, generic):
    agent = alphanpi.load("pretrained:hanoi")
    assert len(sequences) >= 2
    origin = Origin("hanoi", "0" * 12, "hanoi", {})
    checked = find_code(agent.environment, agent.evaluator, origin, max_size=3, samples=8).checked
    renderer = type(checked.renderer)(agent.environment.library, None if generic else checked.renderer.standalone)
    text = functions(renderer, checked.programs)
    wanted = 'env.act("MOVE_DISK")' if generic else "game.move_disk()"
    other = 'env.act("SWAP_S_A")' if generic else "game.swap_s_a()"

    def differing(source: str) -> int:
        return len(Replayer(source, agent.guard, renderer, checked.programs).differing("HANOI", sequences))

    assert differing(text) == 0
    assert differing(text.replace(wanted, other, 1)) >= 1
    assert differing(text.replace(wanted, f"{wanted}; {wanted}", 1)) >= 1
    assert differing(text.replace("    if ", "    if not ", 1)) == len(sequences)
    assert differing(text.replace(wanted, "return", 1)) >= 1
