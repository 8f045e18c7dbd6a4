"""What a report holds: executions, searches, scores and curves."""

from __future__ import annotations

from alphanpi.engine.inspection import TooLargeError
from alphanpi.reporting import report as make_report
from alphanpi.reporting.execution import watch
from alphanpi.reporting.page_file import to_json
from alphanpi.reporting.searches import EDGE_COLUMNS, SearchCollector
from alphanpi.reporting.states import StateTable
from tests.helpers.runs import run_folder, untrained_lights


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


def test_calls_have_sizes_and_hold_their_steps(report):
    steps, calls = report["execution"]["steps"], report["execution"]["calls"]
    assert [(call["size"], call["depth"]) for call in calls] == [(3, 0), (2, 1), (1, 2), (1, 2), (2, 1), (1, 2), (1, 2)]
    assert report["agent"]["unit"] == ["disk", "disks"]
    stop = [entry["name"] for entry in report["library"]].index("STOP")
    for call in calls:
        inside = steps[call["first"] : call["last"] + 1]
        assert all(step["depth"] >= call["depth"] for step in inside)
        assert (inside[-1]["depth"], inside[-1]["action"]) == (call["depth"], stop)


def test_moves_are_the_steps_after_which_the_state_looks_different(report):
    execution, states = report["execution"], report["states"]
    names = [entry["name"] for entry in report["library"]]
    assert {names[execution["steps"][move]["action"]] for move in execution["moves"]} == {"MOVE_DISK"}
    frames = [*(step["state"] for step in execution["steps"]), execution["final"]]
    changed = [
        place for place in range(len(frames) - 1) if states[frames[place]]["text"] != states[frames[place + 1]]["text"]
    ]
    assert execution["moves"] == changed
    assert len(changed) == 7


def test_every_step_has_its_line_in_a_function_of_its_program(report):
    text = report["source"].splitlines()
    where = {one["program"]: range(one["first"], one["last"] + 1) for one in report["source_functions"]}
    for step in report["execution"]["steps"]:
        assert step["line"] in where[step["program"]]
    names = [entry["name"] for entry in report["library"]]
    moves = {step["line"] for step in report["execution"]["steps"] if names[step["action"]] == "MOVE_DISK"}
    assert {text[line - 1].strip() for line in moves} == {"game.move_disk()"}
    assert report["line_note"] == ""


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
    record = make_report(folder, instance="2", simulations=5, seconds=0.5, verify_seconds=0, export=False)
    curves = record.learning
    assert curves is not None
    assert curves.iteration[0] == 1
    assert curves.iteration[-1] == 2000
    assert 1000 in curves.iteration
    assert len(curves.iteration) + curves.left_out == 2000
    assert len(curves.iteration) < 700
    assert curves.success["NEXT"][0] is None
    assert set(curves.explored) == {"HANOI"}
    assert [(exam.iteration, exam.passed) for exam in curves.exams] == [(1998, False), (2000, True)]
    assert record.training.iterations == 2000
    assert record.generalisation.origin == "measured"
    assert "Left out for time" in record.generalisation.note or record.generalisation.scores


def test_a_run_that_fails_and_has_no_picture_is_shown_as_text(tmp_path):
    record = make_report(untrained_lights(tmp_path), instance="0110", simulations=5, seconds=0.2)
    assert not record.execution.success
    assert record.scene_size is None
    assert all(state.scene is None for state in record.states)
    assert record.states[0].text == "[0]110"


def test_large_searches_are_left_out_and_counted(hanoi):
    record = make_report(
        "pretrained:hanoi", instance="10", simulations=5, most_steps=200, verify_seconds=0, export=False
    )
    assert f"of {record.execution.actions:,} steps" in record.execution.note
    assert record.execution.left_out > 4000
    assert len(to_json(record)) < 2_500_000


def test_searches_that_take_too_much_memory_keep_their_first_trees(hanoi, monkeypatch):
    monkeypatch.setattr("alphanpi.reporting.following._MOST_TREE_BYTES", 1000)
    watched = watch(hanoi, "HANOI", "2")
    collected = SearchCollector(hanoi, StateTable(hanoi.environment), 5).collect(watched)
    assert collected.place
    assert "too much memory" in collected.record.note


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
