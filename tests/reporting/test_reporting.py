"""What a report holds, and the commands that show things."""

from __future__ import annotations

import builtins
import io
import json
import re
import xml.etree.ElementTree as ET

import pytest
from rich.console import Console

import alphanpi
from alphanpi.agent.interpreter import Call, Recording
from alphanpi.engine.inspection import TooLargeError
from alphanpi.environment.guard import Guard
from alphanpi.errors import UsageError
from alphanpi.reporting import report as make_report
from alphanpi.reporting import tree_page
from alphanpi.reporting.animation import Pace, film, svg
from alphanpi.reporting.colours import LIGHT
from alphanpi.reporting.execution import watch
from alphanpi.reporting.page_file import to_json
from alphanpi.reporting.searches import EDGE_COLUMNS, SearchCollector
from alphanpi.reporting.states import StateTable
from alphanpi.reporting.text_tree import ShownTree, dot, rich_tree, tree_console, tree_object
from alphanpi.verification.records import digest
from tests.helpers.paths import DOCS, LIGHTS
from tests.helpers.runs import metrics, run_folder, untrained_hanoi, untrained_lights

SORTING = "pretrained:recursive-sorting-compare"
HUGE = str(10**30)


@pytest.fixture(scope="module")
def hanoi():
    return alphanpi.load("pretrained:hanoi")


@pytest.fixture(scope="module")
def report():
    return json.loads(to_json(make_report("pretrained:hanoi", instance="3", simulations=40, verify_seconds=300)))


@pytest.fixture(scope="module")
def certificate(hanoi):
    return alphanpi.verify(hanoi).record()


# ---------------------------------------------------------------------------- executions


def test_a_recording_keeps_few_steps_and_counts_all(hanoi):
    call = Call("HANOI", hanoi.parse("HANOI", "6"))
    [whole] = hanoi.interpreter.run([call], True)
    [first] = hanoi.interpreter.run([call], Recording(steps=7))
    [outer] = hanoi.interpreter.run([call], Recording(depth=1))
    [nothing] = hanoi.interpreter.run([call])
    assert len(whole.steps) == whole.actions == sum(whole.tally.by_depth) == sum(whole.tally.choices.values())
    assert first.steps == whole.steps[:7]
    assert outer.steps == tuple(step for step in whole.steps if step.depth <= 1)
    assert first.tally == outer.tally == whole.tally
    for most in (1, 8, 24, 25, 100, 10_000):
        [outline] = hanoi.interpreter.run([call], Recording(steps=most, outline=True))
        fitting = [d for d in range(7) if sum(whole.tally.by_depth[: d + 1]) <= most]
        kept = tuple(step for step in whole.steps if step.depth <= max(fitting, default=0))
        assert outline.steps == kept[:most]
        assert outline.tally == whole.tally
    assert (nothing.steps, nothing.tally) == ((), None)


def test_long_runs_are_shown_by_their_outer_calls(hanoi):
    watched = watch(hanoi, "HANOI", "9", most_steps=100)
    assert watched.execution.actions > 2000
    assert 40 < len(watched.execution.steps) <= 100
    assert watched.left_out == watched.execution.actions - len(watched.execution.steps)
    assert max(step.depth for step in watched.execution.steps) == watched.depth
    whole = watch(hanoi, "HANOI", "9", most_steps=10_000)
    assert (whole.depth, whole.left_out) == (None, 0)
    assert watched.execution.steps == tuple(s for s in whole.execution.steps if s.depth <= watched.depth)


def test_the_networks_probabilities_are_those_it_acted_on(hanoi):
    watched = watch(hanoi, "HANOI", "4")
    names = hanoi.environment.library.names
    for step, thought in zip(watched.execution.steps, watched.thoughts, strict=True):
        assert names[thought.probabilities[0][0]] == step.action
        assert sum(share for _, share in thought.probabilities) == pytest.approx(1)
        legal = hanoi.environment.legal(step.program, step.state)
        assert {entry for entry, _ in thought.probabilities} == {i for i, yes in enumerate(legal) if yes}
        assert thought.observation == tuple(hanoi.environment.observe(step.state))


# ---------------------------------------------------------------------------- the data


def test_the_execution_ends_solved_and_refers_to_what_is_there(report):
    execution, states = report["execution"], report["states"]
    assert execution["success"]
    assert execution["actions"] == len(execution["steps"]) == 32
    assert states[execution["final"]]["text"] == "A: -   B: -   C: 3 2 1"
    for step in execution["steps"]:
        assert len(step["observation"]) == len(report["fields"])
        assert step["probabilities"][0][0] == step["action"]
    assert all(0 <= shape < len(report["shapes"]) for state in states for shape in state["scene"] or [])
    assert all(len(shape) == len(report["shape_columns"]) for shape in report["shapes"])


def test_every_step_has_a_tree_whose_action_is_the_one_taken(report):
    searches = report["searches"]["searches"]
    child, visits = EDGE_COLUMNS.index("child"), EDGE_COLUMNS.index("visits")
    inner = EDGE_COLUMNS.index("search")
    for step in report["execution"]["steps"]:
        search = searches[step["search"]]
        assert search["program"] == step["program"]
        decision = search["decisions"][step["decision"]]
        assert decision["step"] == step["decision"]
        assert decision["taken"] == step["action"]
        assert decision["nodes"][0][0] == step["state"]
    for search in searches:
        for decision in search["decisions"]:
            for place, (_, total, _, edges) in enumerate(decision["nodes"]):
                assert total == sum(edge[visits] for edge in edges)
                for edge in edges:
                    assert edge[child] is None or place < edge[child] < len(decision["nodes"])
                    if edge[inner] is not None:
                        assert searches[edge[inner]]["program"] == edge[0]


def test_called_programs_have_searches_of_their_own(report):
    inner = EDGE_COLUMNS.index("search")
    rows = report["searches"]["searches"][0]["decisions"][1]["nodes"]
    assert any(edge[inner] is not None for row in rows for edge in row[3])


def test_who_calls_whom_scores_and_reliability(report):
    names = [entry["name"] for entry in report["library"]]
    calls = {(names[one["caller"]], names[one["callee"]]): one["times"] for one in report["calls"]}
    assert calls["HANOI", "HANOI"] == 60  # ten runs of three disks: six calls inside each
    scores = report["generalisation"]["scores"]
    assert report["generalisation"]["origin"] == "stored"
    assert {score["paper"] for score in scores if score["size"] == 10} == {1}
    assert all(score["low"] <= score["rate"] <= score["high"] for score in scores)
    [reliability] = report["generalisation"]["reliability"]
    assert (reliability["calls"], reliability["failures"]) == (70, 0)


def test_a_pretrained_agent_has_no_curves_and_a_run_has(report, tmp_path):
    assert report["learning"] is None
    assert report["training"]["seconds"] > 0
    folder = run_folder(tmp_path, iterations=2000)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"iteration": 2001, "lev')  # a run that was killed while it wrote
    record = make_report(folder, instance="2", simulations=5, seconds=0.5, verify_seconds=0)
    curves = record.learning
    assert curves is not None
    assert curves.iteration[0] == 1
    assert curves.iteration[-1] == 2000
    assert 1000 in curves.iteration
    assert len(curves.iteration) + curves.left_out == 2000
    assert len(curves.iteration) < 700
    assert curves.success["NEXT"][0] is None
    assert record.training.iterations == 2000
    assert record.generalisation.origin == "measured"
    assert "Left out for time" in record.generalisation.note or record.generalisation.scores


def test_a_run_that_fails_and_has_no_picture_is_shown_as_text(tmp_path):
    record = make_report(untrained_lights(tmp_path), instance="0110", simulations=5, seconds=0.2)
    assert not record.execution.success
    assert record.scene_size is None
    assert all(state.scene is None for state in record.states)
    assert record.states[0].text.startswith("Row(")


def test_large_searches_are_left_out_and_counted(hanoi):
    record = make_report("pretrained:hanoi", instance="10", simulations=5, most_steps=200, verify_seconds=0)
    assert f"of {record.execution.actions:,} steps" in record.execution.note
    assert record.execution.left_out > 4000
    assert len(to_json(record)) < 2_500_000


def test_searches_that_run_out_of_time_are_left_out_and_counted(hanoi, monkeypatch):
    def too_late(*arguments):
        raise TooLargeError("too large: the time is up", "the time is up")

    watched = watch(hanoi, "HANOI", "2")
    collector = SearchCollector(hanoi, StateTable(hanoi.environment), 5)
    monkeypatch.setattr("alphanpi.reporting.following.Inspector.advance", too_late)
    collected = collector.collect(watched)
    assert collected.record.searches == []
    assert "12 of 12 steps have no tree: the time is up (12)." in collected.record.note
    assert collected.place == {}
    assert {collected.record.reasons[number] for number in collected.reason.values()} == {"the time is up"}


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


def test_without_verification_there_is_no_export_either():
    record = quick("pretrained:hanoi", verify_seconds=0)
    assert (record.certificate, record.source) == (None, None)
    assert "left out" in record.certificate_note
    assert "Without a certificate" in record.source_note


def test_a_refuted_agent_has_a_certificate_and_no_source(tmp_path):
    record = quick(untrained_hanoi(tmp_path))
    assert record.certificate is not None
    assert record.certificate["verdict"] == "REFUTED"
    assert record.certificate["programs"][0]["counter_example"]["start_text"]
    assert record.source is None
    assert record.source_note.startswith("The verdict is REFUTED")


def test_an_environment_that_cannot_be_verified_says_why(tmp_path, run):
    weights = untrained_lights(tmp_path)
    record = make_report(weights, instance="0110", simulations=1, seconds=0)
    assert (record.certificate, record.source) == (None, None)
    assert "Lights cannot be verified: give it a method" in record.certificate_note
    arguments = ("--input", "0110", "--simulations", 1, "--seconds", 0, "-o", tmp_path / "page.html")
    code, _, err = run("report", weights, *arguments)
    assert code == 0
    assert "Lights cannot be verified" in err


def test_an_export_that_fails_is_told(monkeypatch, tmp_path, certificate):
    def fail(*arguments, **options):
        raise alphanpi.ExportFailed("nothing exported: HANOI differs")

    monkeypatch.setattr("alphanpi.reporting.sources.export_evaluator", fail)
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps(certificate))
    record = quick("pretrained:hanoi", certificate=file)
    assert record.source is None
    assert record.source_note == "The export failed: nothing exported: HANOI differs."


# ---------------------------------------------------------------------------- commands


def test_report_writes_one_small_file(run, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = run("report", SORTING, "-o", page, "--input", "3 1 2", "--simulations", 20, "--no-export")
    assert code == 0
    assert "verifying for at most 20 s" in err
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
    options = ("--input", 1, "--simulations", 3, "--verify-seconds", 0)  # a certificate says how long it took
    assert run("report", "pretrained:hanoi", "--json", "-o", file, *options)[0] == 0
    assert json.loads(file.read_text())["schema"] == 1
    record = alphanpi.report("pretrained:hanoi", tmp_path / "again.json", instance="1", simulations=3, verify_seconds=0)
    assert (tmp_path / "again.json").read_text() == file.read_text()
    assert record.execution.actions == 2


def test_text_in_the_data_cannot_end_the_script(tmp_path):
    page = tmp_path / "page.html"
    source = "</script><script>alert(1)</script>"
    alphanpi.report("pretrained:hanoi", page, instance="1", simulations=1, source=source, verify_seconds=0)
    assert "alert(1)" in page.read_text()
    assert "</script><script>alert" not in page.read_text()


@pytest.mark.parametrize("format_", ["text", "dot", "json"])
def test_tree_in_every_format(run, tmp_path, format_):
    arguments = ("tree", "pretrained:hanoi", "HANOI", 3, "--step", 2, "--simulations", 60, "--format", format_)
    code, out, _ = run(*arguments)
    assert code == 0
    assert "HANOI" in out
    file = tmp_path / "tree"
    run(*arguments, "-o", file)
    assert file.read_text().strip()
    if format_ == "json":
        tree = json.loads(out)
        assert tree == json.loads(file.read_text())
        assert (tree["program"], tree["step"], tree["taken"]) == ("HANOI", 1, "HANOI")
        assert tree["nodes"][0]["visits"] == sum(edge["visits"] for edge in tree["nodes"][0]["edges"])
        decision = alphanpi.tree("pretrained:hanoi", "HANOI", "3", step=2, simulations=60)
        assert [edge.visits for edge in decision.root.edges] == [e["visits"] for e in tree["nodes"][0]["edges"]]
    elif format_ == "dot":
        assert out.startswith("digraph")
        assert out.count("{") == out.count("}") == 1
        assert "color=blue" in out
    else:
        assert re.search(r"● +HANOI", out)


@pytest.mark.parametrize("nodes", [1, 2, 4, 17])
def test_tree_prints_as_many_nodes_as_asked_for_and_counts_the_others(run, nodes):
    arguments = ("tree", "pretrained:hanoi", "HANOI", 3, "--simulations", 300)
    _, whole, _ = run(*arguments, "--nodes", 10**9)
    assert "left out" not in whole
    printed = [line for line in whole.splitlines() if re.search(r"── |^\d+ visits  ", line)]
    _, out, _ = run(*arguments, "--nodes", nodes)
    lines = [line for line in out.splitlines() if re.search(r"── |^\d+ visits  ", line)]
    assert len(lines) == nodes
    assert f"… {len(printed) - nodes} nodes left out; --nodes shows more" in out
    _, graph, _ = run(*arguments, "--nodes", nodes, "--format", "dot")
    assert len(re.findall(r"^  [ne]\S+ \[label", graph, re.MULTILINE)) == nodes
    assert graph.count(" -> ") == nodes - 1
    _, data, _ = run(*arguments, "--nodes", nodes, "--format", "json")
    assert len(json.loads(data)["nodes"]) == nodes


def test_the_documented_tree_is_what_is_printed(run):
    lines = (DOCS / "report.md").read_text(encoding="utf-8").splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("    $ alphanpi tree"))
    code, out, _ = run(*lines[first].split()[2:])
    printed = [line.rstrip() for line in out.splitlines()]
    assert code == 0
    assert [line[4:] for line in lines[first + 1 : first + 1 + len(printed)]] == printed


def test_steps_are_counted_from_1():
    for make_tree in (alphanpi.tree, tree_page):
        with pytest.raises(UsageError, match="step 0: actions are counted from 1"):
            make_tree("pretrained:hanoi", "HANOI", "2", step=0)


def test_tree_and_trace_show_long_states_wholly_or_with_an_ellipsis(run, tmp_path, monkeypatch):
    state = "A: 7 6 5 4 3 2 1   B: -   C: -"
    for command in (["tree", "--simulations", 12], ["trace", "--limit", 40]):
        _, out, _ = run(command[0], "pretrained:hanoi", "HANOI", 7, *command[1:])
        lines = [line for line in out.splitlines() if "A: " in line]
        assert lines
        assert all(re.search(r"A: [\d -]+   B: [\d -]+   C: [\d -]+$", line) for line in lines)
        assert any(line.endswith(state) for line in lines)
    decision = alphanpi.tree("pretrained:hanoi", "HANOI", "7", simulations=12)
    screen = io.StringIO()
    terminal = Console(file=screen, width=40, force_terminal=True, color_system=None)
    terminal.print(rich_tree(ShownTree(decision, alphanpi.make("hanoi"), 40)))
    cut = [line for line in screen.getvalue().splitlines() if "A: 7" in line]
    assert all(line.endswith("…") or line.endswith("C: -") for line in cut)
    assert any(line.endswith("…") for line in cut)


def test_text_of_an_environment_is_neither_markup_nor_a_surrogate(tmp_path):
    class Odd(type(alphanpi.make("hanoi"))):  # type: ignore[misc]
        def format(self, state):
            return f"[red]{state.disks}[/]\nbelow \ud800"

    decision = alphanpi.tree("pretrained:hanoi", "HANOI", "2", simulations=10)
    shown = ShownTree(decision, Odd(), 10)
    screen = io.StringIO()
    tree_console(screen).print(rich_tree(shown))
    text = screen.getvalue()
    text.encode()
    assert "[red]2[/]" in text
    assert "below ?" in text
    dot(shown).encode()
    json.dumps(tree_object(shown, "HANOI", 10), ensure_ascii=False).encode()


def test_names_that_cannot_be_written_do_not_stop_a_report(tmp_path):
    page = tmp_path / "page.html"
    alphanpi.report("pretrained:hanoi", page, instance="1", simulations=1, verify_seconds=0, source="\udcff")
    assert page.read_text(encoding="utf-8")
    picture = svg(film(alphanpi.load("pretrained:hanoi"), "HANOI", "1"), LIGHT, "\udcff & \x00")
    ET.fromstring(picture.encode())


@pytest.mark.parametrize(("disks", "seconds"), [("3", 60.0), ("7", 60.0), ("5", 7.0), ("6", 0.5)])
def test_a_picture_plays_no_longer_than_asked_for(hanoi, disks, seconds):
    reel = film(hanoi, "HANOI", disks, seconds)
    assert reel.seconds <= seconds + 1e-9
    assert reel.pace.move + reel.pace.pause >= 0.02
    assert (reel.pace == Pace()) == (disks == "3")
    assert ("one of" in reel.note) == (seconds == 0.5)
    ended = Guard(hanoi.environment).render(watch(hanoi, "HANOI", disks).execution.final)
    assert reel.scenes[-1] == ended
    picture = ET.fromstring(svg(reel, LIGHT, "HANOI"))
    durations = {float(one.get("dur", "0s")[:-1]) for one in picture.iter() if one.get("dur")}
    assert durations == {float(f"{reel.seconds:g}")}


def test_pictures_are_well_formed_and_end_where_the_run_does(run, tmp_path):
    file = tmp_path / "hanoi.svg"
    assert run("render", "pretrained:hanoi", "HANOI", 3, "-o", file)[0] == 0
    root = ET.fromstring(file.read_text())
    space = "{http://www.w3.org/2000/svg}"
    assert root.findtext(f"{space}title") == "HANOI on 3"
    moves = list(root.iter(f"{space}animateTransform"))
    assert moves
    for animation in [*moves, *root.iter(f"{space}animate")]:
        times = [float(time) for time in animation.get("keyTimes", "").split(";")]
        assert times == sorted(times)
        assert times[0] == 0
        assert len(times) == len(animation.get("values", "").split(";"))
    ends = [move.get("values", "").split(";")[-1] for move in moves]
    assert (
        len({float(end.split(",")[0]) + width / 2 for end, width in zip(ends[-3:], (48, 110, 172), strict=True)}) == 1
    )


def test_a_gif_needs_pillow(run, tmp_path, monkeypatch):
    file = tmp_path / "sort.gif"
    pytest.importorskip("PIL")
    assert run("render", SORTING, "BUBBLESORT", "2 1", "-o", file)[0] == 0
    assert file.read_bytes().startswith(b"GIF89a")
    original = builtins.__import__

    def without_pillow(name, *arguments, **options):
        if name.startswith(("PIL", "alphanpi.reporting.raster")):
            raise ImportError(name)
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_pillow)
    code, _, err = run("render", SORTING, "BUBBLESORT", "2 1", "-o", file)
    assert code == 2
    assert "need Pillow: pip install pillow" in err


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
        (["render", "pretrained:hanoi", "HANOI", "2", "-o", "x.png"], "written as .svg or .gif"),
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


def test_an_environment_without_a_picture_or_example_says_what_to_give(tmp_path):
    weights = untrained_lights(tmp_path)
    with pytest.raises(UsageError, match="say what ALL_ON is to be run on: --input"):
        make_report(weights)
    with pytest.raises(UsageError, match="Lights has no picture of its states: give it a method render"):
        alphanpi.render(weights, "ALL_ON", "01", tmp_path / "x.svg")
    assert LIGHTS.name == "lights.py"


def test_damaged_records_are_named(tmp_path):
    folder = run_folder(tmp_path)
    (folder / "scores.json").write_text('{"scores": [{"program": "HANOI"}]}')
    with pytest.raises(UsageError, match=r"scores\.json: cannot be read: field 'scores\.0\.size'"):
        make_report(folder, instance="1", simulations=1, verify_seconds=0)
    (folder / "scores.json").unlink()
    (folder / "meta.json").write_text("{")
    with pytest.raises(UsageError, match=r"meta\.json: cannot be read"):
        make_report(folder, instance="1", simulations=1, seconds=0)
    assert len(metrics(3)) == 3
