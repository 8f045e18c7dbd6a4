"""Records of a run: what is wrong in one is named in one line, and the checkpoint before is used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.helpers.commands import assert_one_line
from tests.helpers.tiny import bits, edit, newest, unseal


def report(run: Path) -> list:
    quick = ["--simulations", 1, "--seconds", 0, "--verify-seconds", 0, "--no-export"]
    return ["report", run, "--input", "1", "-o", run / "x.json", "--json", *quick]


@pytest.mark.parametrize(
    "change",
    [
        lambda state: [state],
        lambda state: {**state, "iteration": "12"},
        lambda state: {**state, "elapsed": None},
        lambda state: {**state, "elapsed": -1.0},
        lambda state: {**state, "format": 4},
        lambda state: {**state, "files": {}},
        lambda state: {**state, "rings": 5},
        lambda state: {**state, "rings": [*state["rings"], state["rings"][0]]},
        lambda state: {**state, "rings": [{**state["rings"][0], "next": 99}, *state["rings"][1:]]},
        lambda state: {**state, "seconds": {"lunch": 1.0}},
        lambda state: {**state, "errors": {"HANOJ": state["errors"]["HANOI"]}},
        lambda state: {**state, "errors": {"HANOI": [{**state["errors"]["HANOI"][0], "program": "HANOJ"}]}},
        lambda state: {**state, "errors": {"HANOI": [{**state["errors"]["HANOI"][0], "size": 10**9}]}},
        lambda state: {**state, "errors": {"HANOI": [{**state["errors"]["HANOI"][0], "size": 10**5}]}},
        *(
            lambda state, origin=origin: {
                **state,
                "errors": {"HANOI": [{**state["errors"]["HANOI"][0], "seed": [], "size": 2, "origin": origin}]},
            }
            for origin in ([10**20], [10**5], [-1], [0, 1], [0, 1, 2, 3])
        ),
        lambda state: {**state, "curriculum": {**state["curriculum"], "level": 9}},
        lambda state: {**state, "curriculum": {**state["curriculum"], "success": {"HANOJ": 0.0}}},
    ],
)
def test_a_checkpoint_with_a_wrong_state_is_left_for_the_one_before(run, copy, change):
    unseal(copy)
    edit(newest(copy) / "state.json", change)
    code, _, err = run("resume", copy)
    assert code == 1
    assert err.count("\n") == 1
    assert "iteration_000012: this checkpoint cannot be used (state.json: " in err or "(trainer.safetensors: " in err
    assert err.endswith("; going on from iteration 10\n")
    assert newest(copy).name == "iteration_000012"
    assert not list((copy / "checkpoints").glob("damaged_*"))


def test_after_a_wrong_state_the_run_ends_the_same(run, copy, finished):
    edit(newest(copy) / "state.json", lambda state: {**state, "elapsed": 1.0})  # its digest tells
    assert "damaged: its digest does not fit" in run("resume", copy)[2]
    assert bits(copy) == bits(finished)


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: {name: t for name, t in tensors.items() if name != "ring0.lengths"},
        lambda tensors: {**tensors, "more": torch.zeros(1)},
        lambda tensors: {**tensors, "ring0.lengths": tensors["ring0.lengths"] + 1},
        lambda tensors: {**tensors, "ring0.observations": tensors["ring0.observations"] + 10_000},
        lambda tensors: {**tensors, "ring0.values": tensors["ring0.values"] * torch.nan},
        lambda tensors: {**tensors, "replay.legal": tensors["replay.legal"][:, :2].contiguous()},
        lambda tensors: {**tensors, "network.core.bias_ih": torch.zeros(5)},
    ],
)
def test_a_trainer_with_wrong_tensors_is_left_for_the_one_before(run, copy, change):
    import hashlib

    unseal(copy)
    file = newest(copy) / "trainer.safetensors"
    save_file(change(load_file(file)), file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    edit(newest(copy) / "state.json", lambda state: state["files"].update({"trainer.safetensors": digest}))
    code, _, err = run("resume", copy)
    assert code == 1
    assert err.count("\n") == 1
    assert "trainer.safetensors: " in err


@pytest.mark.parametrize(
    "content", [b"\xff", b"[]", b"{}", b"5", lambda meta: {**meta, "options": 5}, lambda meta: {**meta, "seed": "3"}]
)
def test_a_wrong_meta_json_is_one_line(run, copy, content):
    if isinstance(content, bytes):
        (copy / "meta.json").write_bytes(content)
    else:
        edit(copy / "meta.json", content)
    for command in (["resume", copy], ["run", copy, "HANOI", "1"]):
        assert_one_line(run(*command), "meta.json: cannot be read: ")


def test_a_damaged_line_of_the_metrics_is_named_and_the_others_are_kept(run, copy):
    file = copy / "metrics.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    damaged = lines[4][:30] + b"\xff" + lines[4][31:]
    file.write_bytes(b"".join([*lines[:4], damaged, *lines[5:], b'{"iteration": 13, "le']))
    code, _, err = run(*report(copy))
    assert (code, err.splitlines()[-1].startswith("alphanpi: error: ")) == (2, True)
    assert "metrics.jsonl: line 5 is damaged" in err
    code, _, err = run("resume", copy)
    assert (code, err.count("\n")) == (1, 1)
    assert "metrics.jsonl: line 5 is damaged; it is left out" in err
    assert file.read_bytes() == b"".join([*lines[:4], *lines[5:]])


@pytest.mark.parametrize(
    "row",
    [{"successes": -1}, {"episodes": 0}, {"successes": 99}, {"size": -2}, {"mode": "other"}, {"program": "OTHER"}],
)
def test_stored_scores_that_cannot_be_are_refused(run, copy, row):
    scores = [{"program": "HANOI", "size": 2, "mode": "greedy", "episodes": 6, "successes": 6, "rate": 1.0, **row}]
    (copy / "scores.json").write_text(json.dumps(scores))
    code, _, err = run(*report(copy))
    assert (code, err.splitlines()[-1].startswith("alphanpi: error: ")) == (2, True)
    assert "scores.json: " in err
