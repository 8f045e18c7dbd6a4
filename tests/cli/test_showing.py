"""The commands that show things: what they write, and what they say to wrong input."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

import alphanpi
from alphanpi.errors import UsageError
from alphanpi.reporting import report as make_report
from alphanpi.reporting.animation import film
from alphanpi.reporting.layout import Appearance
from alphanpi.reporting.vector import svg
from tests.helpers.paths import LIGHTS
from tests.helpers.runs import SORTING, metrics, run_folder, untrained_lights

HUGE = str(10**30)
BRIEFLY = ("--verify-seconds", 1)


def test_report_writes_one_small_file(run, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = run(
        "report", SORTING, "-o", page, "--input", "3 1 2", "--simulations", 20, "--no-export", *BRIEFLY
    )
    assert code == 0
    assert "verifying for at most 1 s" in err
    assert "exporting" not in err
    assert out.startswith(f"wrote {page}")
    text = page.read_text()
    assert len(text) < 3_000_000
    assert text.count("<html") == 1
    assert not re.search(r'(src|href)="(?!data:|#)', text.split("<script", 1)[0])
    assert "{{" not in text.split('id="report-data"')[0]
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)


def test_report_as_json_and_from_python(run, tmp_path):
    file = tmp_path / "data.json"
    options = ("--input", 1, "--simulations", 3, "--no-export")
    without = ("--verify-seconds", 0)  # a certificate says how long it took
    assert run("report", "pretrained:hanoi", "--json", "-o", file, *options, *without)[0] == 0
    assert json.loads(file.read_text())["schema"] == 1
    record = alphanpi.report(
        "pretrained:hanoi", tmp_path / "again.json", instance="1", simulations=3, verify_seconds=0, export=False
    )
    assert (tmp_path / "again.json").read_text() == file.read_text()
    assert record.execution.actions == 2


def test_text_in_the_data_cannot_end_the_script(tmp_path):
    page = tmp_path / "page.html"
    source = "</script><script>alert(1)</script>"
    alphanpi.report("pretrained:hanoi", page, instance="1", simulations=1, source=source, verify_seconds=0)
    assert "alert(1)" in page.read_text()
    assert "</script><script>alert" not in page.read_text()


def test_names_that_cannot_be_written_do_not_stop_a_report(tmp_path):
    page = tmp_path / "page.html"
    alphanpi.report("pretrained:hanoi", page, instance="1", simulations=1, verify_seconds=0, source="\udcff")
    assert page.read_text(encoding="utf-8")
    reel = film(alphanpi.load("pretrained:hanoi"), "HANOI", "1")
    picture = svg(reel, Appearance(None, "light", "\udcfe").of(reel), "\udcff & \x00")
    ET.fromstring(picture.encode())


def test_trace_is_bounded_and_says_so(run):
    code, out, _ = run("trace", "pretrained:hanoi", "HANOI", 8, "--limit", 10)
    assert code == 0
    assert "more steps" in out
    assert len(out.splitlines()) == 13
    _, out, _ = run("trace", "pretrained:hanoi", "HANOI", 8, "--json", "--depth", 0)
    trace = json.loads(out)
    assert [step["action"] for step in trace["steps"]].count("HANOI") == 2
    assert trace["left_out"] == trace["actions"] - len(trace["steps"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["report", "nowhere"], "there is no such run"),
        (["report", "pretrained:hanoi", "--json", "-o", "x.html"], "--json writes a .json file"),
        (["report", "pretrained:hanoi", "--input", "zero"], "is not a number of disks"),
        (["report", "pretrained:hanoi", "--program", "TOWER"], "no program 'TOWER'"),
        (["report", "pretrained:hanoi", "--simulations", "0"], "0 simulations search nothing"),
        (["report", "pretrained:hanoi", "--steps", "0"], "0 steps show nothing"),
        (["report", "pretrained:hanoi", "--verify-seconds", "-1"], "-1 seconds for verification: give a positive"),
        (["report", "pretrained:hanoi", "--source", "nowhere.py"], "nowhere.py: cannot be read"),
        (["report", "pretrained:hanoi", "--source", "/dev/null"], "/dev/null: cannot be read: not a file"),
        (["report", "pretrained:hanoi", "--certificate", "nowhere.json"], "nowhere.json: cannot be read"),
        (["tree", "pretrained:hanoi", "HANOI", "2", "--step", "50"], "takes 8 actions with search; --step 50"),
        (["tree", "pretrained:hanoi", "HANOI", "2", "--step", "0"], "are numbers from 1"),
        (["tree", "pretrained:hanoi", "HANOI", "2", "--format", "html"], "needs a file: -o tree.html"),
        (["tree", "pretrained:hanoi", "MOVE_DISK", "2"], "MOVE_DISK is an atomic action"),
        (["render", "pretrained:hanoi", "HANOI", "2", "-o", "x.png"], "written as .svg, .gif, .mp4"),
        (["trace", "pretrained:hanoi", "HANOI", "2", "--limit", "-1"], "are numbers from 0"),
        (["report", "pretrained:hanoi", "--simulations", HUGE], "simulations per action are too many"),
        (["report", "pretrained:hanoi", "--steps", HUGE], "steps are more than a page can hold"),
        (["report", "pretrained:hanoi", "--seconds", "nan"], "nan seconds for measuring: give a positive"),
        (["report", "pretrained:hanoi", "--seconds", "-1"], "-1 seconds for measuring: give a positive"),
        (["report", "pretrained:hanoi", "--seconds", "inf"], "inf seconds for measuring: give a positive"),
        (["report", "pretrained:hanoi", "--verify-seconds", "nan"], "nan seconds for verification: give a positive"),
        (["report", "pretrained:hanoi", "--program", "MOVE_DISK"], "MOVE_DISK is an atomic action"),
        (["report", "pretrained:hanoi", "-o", "."], "a folder; give the name of a file"),
        (["report", "pretrained:hanoi", "-o", "nowhere/page.html"], "there is no folder nowhere"),
        (["tree", "pretrained:hanoi", "HANOI", "2", "--step", HUGE], "takes 8 actions with search"),
        (["tree", "pretrained:hanoi", "HANOI", "2", "--step", "50", "--format", "html", "-o", "x"], "takes 8 actions"),
        (["tree", "pretrained:hanoi", "HANOI", "2", "--simulations", HUGE], "simulations per action are too many"),
        (["tree", "pretrained:hanoi", "TOWER", "2"], "no program 'TOWER'"),
        (["render", "pretrained:hanoi", "HANOI", "2", "-o", "x.svg", "--seconds", "nan"], "positive number of seconds"),
        (["render", "pretrained:hanoi", "HANOI", "2", "-o", "x.svg", "--seconds", "0"], "positive number of seconds"),
        (["render", "pretrained:hanoi", "TOWER", "2", "-o", "x.svg"], "no program 'TOWER'"),
    ],
)
def test_wrong_input_is_one_line_with_advice(run, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments)
    assert code == 2
    assert not out
    assert message in err
    assert len([line for line in err.splitlines() if line.startswith("alphanpi: error")]) == 1
    assert "Traceback" not in err


def test_an_environment_without_a_picture_says_what_to_give(tmp_path):
    weights = untrained_lights(tmp_path)
    with pytest.raises(UsageError, match="Lights has no picture of its states: give it a method render"):
        alphanpi.render(weights, "ALL_ON", "01", tmp_path / "x.svg")
    assert LIGHTS.name == "lights.py"


def test_damaged_records_are_named(tmp_path):
    folder = run_folder(tmp_path)
    (folder / "scores.json").write_text('{"scores": [{"program": "HANOI"}]}')
    with pytest.raises(UsageError, match=r"scores\.json: cannot be read: field 'scores\.0\.size'"):
        make_report(folder, instance="1", simulations=1, verify_seconds=0, export=False)
    (folder / "scores.json").unlink()
    (folder / "meta.json").write_text("{")
    with pytest.raises(UsageError, match=r"meta\.json: cannot be read"):
        make_report(folder, instance="1", simulations=1, seconds=0)
    assert len(metrics(3)) == 3
