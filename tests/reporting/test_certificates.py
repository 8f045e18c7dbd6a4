"""Certificates and sources in a report: taken along, computed, or missing with the reason."""

from __future__ import annotations

import json
import re

import pytest

import alphanpi
from alphanpi.errors import UsageError
from alphanpi.reporting import report as make_report
from alphanpi.verification.records import digest
from tests.helpers.runs import run_folder, untrained_hanoi, untrained_lights


def quick(run, **options):
    return make_report(run, instance="1", simulations=1, seconds=0, **options)


def test_a_pretrained_agent_is_verified_and_exported(report):
    assert report["certificate"]["verdict"] == "PROVED"
    assert report["certificate"]["weights_sha256"] == report["agent"]["weights"]
    assert report["certificate_note"] == "Computed for this report, with a time limit of 300 s."
    assert "def hanoi(" in report["source"]
    assert re.match(r"Exported for this report: the same as the agent on [\d,]+ runs", report["source_note"])


def test_the_certificate_in_the_data_is_whole(report, hanoi, tmp_path):
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(report["certificate"]))
    assert alphanpi.verify(hanoi, certificate=file).proved


def test_certificate_and_source_are_taken_along(tmp_path, certificate):
    folder = run_folder(tmp_path / "run")
    (folder / "certificate.json").write_text(json.dumps(certificate))
    record = quick(folder, export=False)
    assert record.certificate == certificate
    assert record.certificate_checked
    assert (
        record.certificate_note
        == "From certificate.json in the run's folder; computed again here, with the same result."
    )
    assert (record.source, record.source_note) == (None, "The export was left out, as asked for.")
    other = tmp_path / "other.json"
    other.write_text(json.dumps(certificate))
    record = quick(folder, certificate=other, source="def HANOI(): ...", verify_seconds=0)
    assert record.certificate == certificate
    assert f"{other}; not checked here (as asked for)" in record.certificate_note
    assert not record.certificate_checked
    record = quick(folder, certificate=other, source="def HANOI(): ...", verify_seconds=0.001)
    assert "not checked here (0.001 s were too short)" in record.certificate_note
    assert not record.certificate_checked
    assert record.source == "def HANOI(): ..."


def test_a_certificate_that_is_damaged_or_about_others_is_refused(tmp_path, certificate):
    folder = run_folder(tmp_path / "run")
    other = tmp_path / "other.json"
    for content, message in (("[1]", "not a certificate"), (certificate | {"verdict": "BOUNDED"}, "was changed after")):
        other.write_text(content if isinstance(content, str) else json.dumps(content))
        with pytest.raises(UsageError, match=message):
            quick(folder, certificate=other)
    forged = certificate | {"lemma": None}
    other.write_text(json.dumps(forged | {"digest": digest(forged)}))
    with pytest.raises(UsageError, match="the certificate does not hold; recomputed, lemma is"):
        quick(folder, certificate=other)
    untrained = untrained_hanoi(tmp_path / "untrained")
    (untrained.parent / "certificate.json").write_text(json.dumps(certificate))
    with pytest.raises(UsageError, match=r"about other weights: .*; delete it to have one computed"):
        quick(untrained)


def test_without_a_certificate_the_programs_are_exported_if_the_run_went_well(hanoi, tmp_path):
    record = quick(hanoi, verify_seconds=0)
    assert record.certificate is None
    assert "left out" in record.certificate_note
    assert "def hanoi(" in str(record.source)
    assert all(step.line is not None for step in record.execution.steps)
    record = make_report(untrained_hanoi(tmp_path), instance="2", simulations=1, seconds=0, verify_seconds=0)
    assert (record.source, record.source_note) == (None, "The run failed, so no export was tried.")


def test_a_refuted_agent_has_a_certificate_and_no_source(tmp_path):
    record = quick(untrained_hanoi(tmp_path))
    assert record.certificate is not None
    assert record.certificate["verdict"] == "REFUTED"
    assert record.certificate["programs"][0]["counter_example"]["start_text"]
    assert record.source is None
    assert record.source_note.startswith("The verdict is REFUTED")


def test_an_environment_that_cannot_be_verified_says_why(tmp_path, run, monkeypatch):
    monkeypatch.setattr("alphanpi.verification.has_solver", lambda: False)
    weights = untrained_lights(tmp_path)
    record = make_report(weights, instance="0110", simulations=1, seconds=0)
    assert (record.certificate, record.source) == (None, None)
    assert "Lights cannot be verified: it could be proved by machine, but z3" in record.certificate_note
    arguments = ("--input", "0110", "--simulations", 1, "--seconds", 0, "-o", tmp_path / "page.html")
    code, _, err = run("report", weights, *arguments)
    assert code == 0
    assert "Lights cannot be verified" in err


def test_an_export_that_fails_is_told(monkeypatch, tmp_path, certificate):
    def fail(*arguments, **options):
        raise alphanpi.ExportFailed("nothing exported: HANOI differs")

    monkeypatch.setattr("alphanpi.reporting.sources.find_code", fail)
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(certificate))
    record = quick("pretrained:hanoi", certificate=file)
    assert record.source is None
    assert record.source_note == "The export failed: nothing exported: HANOI differs."
