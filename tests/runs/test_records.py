"""Everything read from files is checked; damage is named in one line; runs are kept apart, and whole."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from pydantic import Field
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from alphanpi.agent.loading import load
from alphanpi.errors import UsageError
from alphanpi.learn.train import resume
from alphanpi.learn.trainer import Trainer
from alphanpi.reporting.training import learning, training
from alphanpi.runs.directory import RunDirectory
from alphanpi.support.files import require_writable, write_atomically
from alphanpi.support.record import Record, read_bytes, read_record
from tests.helpers.commands import assert_one_line
from tests.helpers.tiny import options, tiny_run

OLD_RUN = Path(__file__).parent / "data" / "old_run"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run with two checkpoints, at iterations 10 and 12."""
    out = tmp_path_factory.mktemp("finished") / "run"
    tiny_run(out)
    return out


@pytest.fixture
def copy(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run", symlinks=True)
    return tmp_path / "run"


def edit(file: Path, change) -> None:
    """Change the values of a JSON file."""
    content = json.loads(file.read_text())
    changed = change(content)
    file.write_text(json.dumps(content if changed is None else changed))


def newest(run: Path) -> Path:
    return (run / "checkpoints" / "last").resolve()


def unseal(run: Path) -> None:
    """Make it a run such as there were before runs and checkpoints had digests."""
    for file in [run / "meta.json", *run.glob("checkpoints/iteration_*/state.json")]:
        edit(file, lambda record: {k: v for k, v in record.items() if k not in ("digest", "run", "configuration")})


def bits(run: Path) -> dict[str, bytes]:
    return {name: (newest(run) / name).read_bytes() for name in ("model.safetensors", "trainer.safetensors")}


def raise_limit(run: Path, limit: int) -> None:
    config = run / "config.toml"
    config.write_text(config.read_text().replace("max_iterations = 12", f"max_iterations = {limit}"))


def report(run: Path) -> list:
    quick = ["--simulations", 1, "--seconds", 0, "--verify-seconds", 0, "--no-export"]
    return ["report", run, "--input", "1", "-o", run / "x.json", "--json", *quick]


# ---------------------------------------------------------------------------- the loader


class Example(Record):
    count: int = Field(ge=0)
    share: float = 0.0
    parts: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"count": 1', "not JSON: "),
        (b"", "not JSON: "),
        (b"\xff\xfe", "not UTF-8: byte 0"),
        (b'{"count": 1, "count": 2}', "not JSON: key 'count' occurs twice"),
        (b'{"count": 1, "share": NaN}', "not JSON: NaN is no number"),
        (b'{"count": 1, "share": 1e999}', "field 'share': input should be a finite number"),
        (b'{"count": ' + 5000 * b"1" + b"}", "not JSON: "),
        (100_000 * b"[", "nested too deeply"),
        (b"[1]", "input should be an object"),
        (b"null", "input should be an object"),
        (b'{"count": true}', "field 'count': input should be a valid integer, not True"),
        (b'{"count": 1.0}', "field 'count': input should be a valid integer"),
        (b'{"count": -1}', "field 'count': input should be greater than or equal to 0, not -1"),
        (b'{"count": "1"}', "field 'count': input should be a valid integer, not '1'"),
        (b"{}", "field 'count': field required"),
        (b'{"count": 1, "other": 2}', "field 'other': extra inputs are not permitted"),
        (b'{"count": 1, "parts": [1]}', "field 'parts.0': input should be a valid string"),
    ],
    ids=lambda value: value[:30].decode("utf-8", "replace") if isinstance(value, bytes) else "",
)
def test_a_record_that_is_none_is_refused(tmp_path, content, message):
    file = tmp_path / "x.json"
    file.write_bytes(content)
    with pytest.raises(UsageError) as refused:
        read_record(file, Example, "do this")
    assert str(refused.value).startswith(f"{file}: cannot be read: ")
    assert message in str(refused.value)
    assert str(refused.value).endswith("; do this")


def test_what_is_no_regular_file_or_too_large_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "large").write_bytes(bytes(100))
    for name, message in (
        ("fifo", "not a file"), ("absent", "there is no such file"), ("", "not a file"),
        ("loop", "cannot be read"), ("large", "larger than 99 bytes"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=message):
            read_bytes(tmp_path / name, most=99)
    assert len(read_bytes(tmp_path / "large", most=100)) == 100


# ---------------------------------------------------------------------------- files of earlier versions


def test_a_run_of_an_earlier_version_is_read_and_goes_on(run, tmp_path):
    shutil.copytree(OLD_RUN, tmp_path / "run", symlinks=True)
    assert load(tmp_path / "run").card.seed == 3
    assert training(tmp_path / "run").iterations == 12
    assert learning(tmp_path / "run") is not None
    raise_limit(tmp_path / "run", 13)
    code, _, err = run("resume", tmp_path / "run")
    assert (code, err) == (1, "")
    assert newest(tmp_path / "run").name == "iteration_000013"


@pytest.mark.parametrize("lines_kept", [0, 20, 100, -2])
def test_a_configuration_of_an_earlier_version_that_was_cut_is_noticed(run, tmp_path, lines_kept):
    shutil.copytree(OLD_RUN, tmp_path / "run", symlinks=True)
    config = tmp_path / "run" / "config.toml"
    config.write_text("".join(config.read_text().splitlines(keepends=True)[:lines_kept]))
    assert_one_line(run("resume", tmp_path / "run"), "config.toml: damaged: no ", " in it; put it back")


# ---------------------------------------------------------------------------- what belongs together


def test_a_resumed_run_ends_as_one_that_never_stopped(run, finished, tmp_path):
    tiny_run(tmp_path / "run", iterations=7)
    config = tmp_path / "run" / "config.toml"
    config.write_text(config.read_text().replace("max_iterations = 7", "max_iterations = 12"))
    assert run("resume", tmp_path / "run")[0] == 1
    assert bits(tmp_path / "run") == bits(finished)


@pytest.mark.parametrize("kept", [0, 30, 120, -2, None])
def test_another_configuration_than_the_run_was_started_with_is_refused(run, copy, kept):
    config = copy / "config.toml"
    text = config.read_text()
    changed = text.replace("learning_rate = 0.001", "learning_rate = 0.002")
    config.write_text("".join(text.splitlines(keepends=True)[:kept]) if kept is not None else changed)
    before = bits(copy)
    assert_one_line(run("resume", copy), "config.toml: ", "put it back")
    assert bits(copy) == before
    config.write_text(text.replace("max_iterations = 12", "max_iterations = 11"))  # when to stop may be changed
    assert run("resume", copy)[0] == 1


def test_weights_of_another_seed_are_refused(run, copy, tmp_path):
    tiny_run(tmp_path / "other", seed=4)
    shutil.copy(newest(tmp_path / "other") / "model.safetensors", newest(copy))
    assert_one_line(run("run", copy, "HANOI", "1"), "model.safetensors: damaged: not what state.json says was saved")
    for name in ("state.json", "trainer.safetensors"):
        shutil.copy(newest(tmp_path / "other") / name, newest(copy))
    assert_one_line(run("run", copy, "HANOI", "1"), "from another run than ")
    assert "from a run with another seed); going on from iteration 10" in run("resume", copy)[2]


def test_a_checkpoint_of_a_run_with_another_configuration_is_refused(run, copy, tmp_path):
    tiny_run(tmp_path / "other", changes={"learning.learning_rate": 0.002})
    for name in ("model.safetensors", "state.json", "trainer.safetensors"):
        shutil.copy(newest(tmp_path / "other") / name, newest(copy))
    assert_one_line(run("eval", copy), "from another run than ")
    assert "from another run, or meta.json was changed" in run("resume", copy)[2]


@pytest.mark.parametrize("command", [["run", "HANOI", "1"], ["eval", "--sizes", "1"], ["verify"], ["export"]])
def test_every_command_notices_damaged_weights(run, copy, command):
    file = newest(copy) / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)
    assert_one_line(run(command[0], copy, *command[1:]), "model.safetensors: damaged: ", "use another checkpoint")
    assert run(command[0], copy / "checkpoints" / "iteration_000010", *command[1:])[0] in (0, 1, 3)


def test_weights_without_their_state_cannot_be_checked(run, copy):
    (newest(copy) / "state.json").unlink()
    assert_one_line(run("run", copy, "HANOI", "1"), "no state.json beside it")


# ---------------------------------------------------------------------------- the model card and the tensors


def rewrite(file: Path, card=None, tensors=None) -> None:
    """Write weights anew with another card, a text, or other tensors."""
    with safe_open(file, framework="pt") as opened:
        metadata = opened.metadata()["alphanpi"]
    changed = json.dumps(card(json.loads(metadata))) if callable(card) else card
    content = load_file(file)
    save_file(content if tensors is None else tensors(content), file, {"alphanpi": changed or metadata})


@pytest.mark.parametrize(
    ("card", "message"),
    [
        (lambda card: [card], "input should be an object"),
        ("null", "input should be an object"),
        ('"text"', "input should be an object"),
        ("{}", "field 'environment': field required"),
        ("nonsense", "not JSON"),
        (lambda card: {**card, "extra": 1}, "field 'extra'"),
        (lambda card: {key: value for key, value in card.items() if key != "search"}, "field 'search'"),
        (lambda card: {**card, "options": 5}, "field 'options'"),
        (lambda card: {**card, "network": 5}, "field 'network'"),
        (lambda card: {**card, "network": {**card["network"], "memory": "3"}}, "field 'network.memory'"),
        (lambda card: {**card, "network": {**card["network"], "memory": 10**9}}, "memory"),
        (lambda card: {**card, "network": {**card["network"], "memory": 60_000}}, "field 'network.memory'"),
        (lambda card: {**card, "network": {**card["network"], "memory": 4}}, "expected ["),
        (lambda card: {**card, "search": {**card["search"], "c_puct": -1}}, "field 'search.c_puct'"),
        (lambda card: {**card, "seed": -1}, "field 'seed'"),
        (lambda card: {**card, "library": "STOP"}, "field 'library'"),
        (lambda card: {**card, "fields": ["other"]}, "with other observation fields"),
        (lambda card: {**card, "version": 7}, "with other version"),
        (lambda card: {**card, "environment": "hannoi"}, "unknown environment"),
        (lambda card: {**card, "environment": "a\0b.py"}, "environment"),
        (lambda card: {**card, "environment": 3 * "🚀" + ":E"}, "environment"),
    ],
)
def test_a_wrong_model_card_is_one_line(run, finished, tmp_path, card, message):
    file = tmp_path / "model.safetensors"
    shutil.copy(newest(finished) / "model.safetensors", file)
    rewrite(file, card)
    assert_one_line(run("run", file, "HANOI", "1"), message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: {name: t for name, t in tensors.items() if name != "core.bias_ih"}, "missing tensors: core.b"),
        (lambda tensors: {**tensors, "more": torch.zeros(1)}, "unknown tensors: more"),
        (lambda tensors: {**tensors, "core.bias_ih": torch.zeros(5)}, "core.bias_ih is [5] float32; expected [12]"),
        (lambda tensors: {**tensors, "core.bias_ih": torch.zeros(12, dtype=torch.float16)}, "[12] float16"),
        (lambda tensors: {**tensors, "core.bias_ih": torch.full((12,), torch.nan)}, "no finite numbers"),
        (lambda tensors: {}, "missing tensors: "),
    ],
)  # fmt: skip
def test_wrong_tensors_are_one_line(run, finished, tmp_path, change, message):
    file = tmp_path / "model.safetensors"
    shutil.copy(newest(finished) / "model.safetensors", file)
    rewrite(file, tensors=change)
    assert_one_line(run("run", file, "HANOI", "1"), message)


# ---------------------------------------------------------------------------- state.json, meta.json, metrics.jsonl


@pytest.mark.parametrize(
    "change",
    [
        lambda state: [state],
        lambda state: {**state, "iteration": "12"},
        lambda state: {**state, "elapsed": None},
        lambda state: {**state, "elapsed": -1.0},
        lambda state: {**state, "format": 3},
        lambda state: {**state, "files": {}},
        lambda state: {**state, "rings": 5},
        lambda state: {**state, "rings": [*state["rings"], state["rings"][0]]},
        lambda state: {**state, "rings": [{**state["rings"][0], "next": 99}, *state["rings"][1:]]},
        lambda state: {**state, "seconds": {"lunch": 1.0}},
        lambda state: {**state, "errors": {"HANOJ": state["errors"]["HANOI"]}},
        lambda state: {**state, "errors": {"HANOI": [{**state["errors"]["HANOI"][0], "program": "HANOJ"}]}},
        lambda state: {**state, "errors": {"HANOI": [{**state["errors"]["HANOI"][0], "size": 10**9}]}},
        lambda state: {**state, "errors": {"HANOI": [{**state["errors"]["HANOI"][0], "size": 10**5}]}},
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


# ---------------------------------------------------------------------------- one process at a time


def test_a_run_that_another_process_works_on_is_refused_until_that_ends(run, copy):
    raise_limit(copy, 10_000_000)
    code = f"from alphanpi.cli import main; main(['resume', {str(copy)!r}])"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        before = len((copy / "metrics.jsonl").read_bytes())
        while len((copy / "metrics.jsonl").read_bytes()) <= before:
            assert process.poll() is None
            time.sleep(0.05)
        assert_one_line(run("resume", copy), f"process {process.pid} is at work on this run")
        assert run("run", copy, "HANOI", "1")[0] in (0, 1)  # reading is free
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    config = copy / "config.toml"
    config.write_text(config.read_text().replace("max_iterations = 10000000", "max_iterations = 12"))
    assert run("resume", copy)[0] == 1
    assert not list((copy / "checkpoints").glob("damaged_*"))


def test_the_lock_is_free_again_after_a_session(copy):
    with RunDirectory(copy).locked(), pytest.raises(UsageError, match=f"process {os.getpid()} is at work"):
        resume(copy)
    resume(copy)


# ---------------------------------------------------------------------------- where things are written


@pytest.mark.parametrize("name", ["\udcff", "a\0b"], ids=["not UTF-8", "null byte"])
def test_a_run_directory_whose_name_cannot_be_written_is_refused(run, tmp_path, name):
    assert_one_line(run("train", "hanoi", "--out", tmp_path / name, *options(1)), "give the run directory another name")
    assert not list(tmp_path.iterdir())


def test_the_commands_to_go_on_with_can_be_copied(run, tmp_path):
    code, out, _ = run("train", "hanoi", "--out", tmp_path / "my run", "--time-limit", "1", *options(1000))
    assert code == 1
    assert f"alphanpi resume '{tmp_path / 'my run'}'\n" in out


def test_training_into_a_folder_of_something_else_is_refused(run, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.toml").write_text("mine = 1\n")
    (folder / "metrics.jsonl").write_text("mine\n")
    assert_one_line(run("train", "hanoi", "--out", folder, *options(1)), "not empty, and holds no run")
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        "config.toml": "mine = 1\n", "metrics.jsonl": "mine\n"
    }  # fmt: skip
    assert_one_line(run("train", "hanoi", "--out", folder / "config.toml", *options(1)), "not a folder")
    assert_one_line(run("train", "hanoi", "--out", "", *options(1)), "an empty name")
    (tmp_path / "empty").mkdir()
    assert run("train", "hanoi", "--out", tmp_path / "empty", *options(1))[0] == 1


def test_a_link_is_written_through_and_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "real.txt").chmod(0o640)
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_atomically(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    assert (tmp_path / "real.txt").stat().st_mode & 0o777 == 0o640
    (tmp_path / "dangling.txt").symlink_to("absent.txt")
    write_atomically(tmp_path / "dangling.txt", "new")
    assert (tmp_path / "absent.txt").read_text() == "new"
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", Path("/dev/null")):
        for function in (require_writable, lambda path: write_atomically(path, "x")):
            with pytest.raises(UsageError, match="not a regular file"):
                function(path)
    assert (tmp_path / "fifo").is_fifo()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match="cannot be written"):
        write_atomically(tmp_path / "loop", "x")
    assert not list(tmp_path.glob(".*"))


def test_a_file_size_limit_while_a_checkpoint_is_written_loses_nothing(run, finished, tmp_path):
    out = tmp_path / "run"
    code = (
        f"from alphanpi.cli import main; main({['train', 'hanoi', '--seed', '3', '--out', str(out), *options(12)]!r})"
    )
    limit = 9000  # bytes; the trainer's tensors need more
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 2
    assert done.stderr.startswith("alphanpi: error: ")
    assert done.stderr.count("\n") == 1
    assert "trainer.safetensors: cannot be written: File too large" in done.stderr
    assert not list((out / "checkpoints").iterdir())
    assert run("resume", out)[0] == 1
    assert bits(out) == bits(finished)


def test_training_stops_where_numbers_end_and_keeps_the_checkpoint(run, copy, monkeypatch):
    raise_limit(copy, 30)
    before = bits(copy)
    iterate = Trainer.iterate

    def spoiled(trainer, *arguments):
        report = iterate(trainer, *arguments)
        with torch.no_grad():
            next(iter(trainer.acting.parameters())).fill_(torch.nan)
        return report

    monkeypatch.setattr(Trainer, "iterate", spoiled)
    code, _, err = run("resume", copy)
    assert (code, err.count("\n")) == (2, 1)
    assert "iteration 13: weights or losses are no finite numbers any more" in err
    assert bits(copy) == before


def test_a_device_that_is_not_there_is_refused_and_another_can_be_given(run, copy):
    edit(copy / "meta.json", lambda meta: {**meta, "device": "cuda:63"})
    unseal(copy)
    assert_one_line(run("resume", copy), "device 'cuda:63' cannot be used here; there is cpu")
    assert run("resume", copy, "--device", "cpu")[0] == 1


# ---------------------------------------------------------------------------- the command line


def shell(command: str, *, cwd: Path) -> subprocess.CompletedProcess:
    alphanpi = f"{sys.executable} -c 'from alphanpi.cli import main; main()'"
    text = f"set -o pipefail; {command.replace('alphanpi', alphanpi)}"
    return subprocess.run(["bash", "-c", text], cwd=cwd, capture_output=True, text=True, check=False)


def test_output_that_cannot_be_written_is_an_error(tmp_path):
    for command in ("alphanpi envs > /dev/full", "alphanpi config > /dev/full", "alphanpi envs --json > /dev/full"):
        done = shell(command, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), command
        assert "standard output: cannot be written: No space left on device" in done.stderr
    done = shell("alphanpi envs >&-", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "alphanpi: error: standard output is closed\n")


def test_a_reader_that_goes_away_leaves_the_exit_code(finished, tmp_path):
    done = shell("alphanpi config | true", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (141, "")
    done = shell(f"alphanpi verify {finished} --json --max-size 2 | true", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")  # REFUTED


def test_training_without_a_reader_stops_with_a_checkpoint(tmp_path):
    words = " ".join(options(100_000))
    done = shell(f"alphanpi train hanoi --seed 3 --out run {words} | true", cwd=tmp_path)
    assert done.returncode == 141
    assert done.stderr.count("\n") == 1
    assert "nobody reads the output any more" in done.stderr
    assert newest(tmp_path / "run").name.startswith("iteration_")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (
            ZeroDivisionError("oops"),
            70,
            "ZeroDivisionError: oops; this is a bug in AlphaNPI",
        ),
        (RecursionError("deep"), 70, "RecursionError: deep; this is a bug"),
        (MemoryError(), 2, "not enough memory"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you"), 2, "not enough memory"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_happens_is_one_line(run, monkeypatch, error, code, message):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("alphanpi.environment.registry.available", fail)
    outcome = run("envs")
    assert (outcome[0], outcome[2].count("\n")) == (code, 1)
    assert message in outcome[2]


def test_all_the_time_of_a_run_is_accounted_for(tmp_path):
    outcome = tiny_run(tmp_path / "run", iterations=2)
    assert sum(outcome.seconds) == pytest.approx(outcome.elapsed)


def test_weights_are_looked_at_by_one_thread(tmp_path, monkeypatch):
    """Several threads wait for each other where other work is going on: most of a second for each iteration."""
    threads = []

    def isfinite(tensor):
        threads.append(torch.get_num_threads())
        return torch.isfinite(tensor)

    before = torch.get_num_threads()
    monkeypatch.setattr(torch.Tensor, "isfinite", isfinite)
    torch.set_num_threads(2)
    try:
        tiny_run(tmp_path / "run", iterations=1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert set(threads) == {1}
