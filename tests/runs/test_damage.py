"""Every field of every record of a run is damaged, and the bytes of every file; every command stays in its bounds."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save

from alphanpi.runs.records import RunIdentity
from tests.helpers.commands import Outcome, command
from tests.helpers.tiny import tiny_run

NOTHING = object()
WRONG: tuple[Any, ...] = (None, True, -1, 10**30, 1e308, 0.5, "x", "", [], [[[1]]], {}, {"x": 1}, NOTHING)
CASE_SECONDS = 20
QUICK = ["--simulations", "1", "--seconds", "0", "--verify-seconds", "0", "--no-export"]
COMMANDS = {
    "run": ["run", "RUN", "HANOI", "1"],
    "eval": ["eval", "RUN", "--sizes", "1", "--episodes", "1", "--mode", "greedy"],
    "trace": ["trace", "RUN", "HANOI", "1", "--json"],
    "verify": ["verify", "RUN", "--max-size", "1", "--json"],
    "export": ["export", "RUN", "--max-size", "1", "--samples", "1"],
    "tree": ["tree", "RUN", "HANOI", "1", "--simulations", "1"],
    "render": ["render", "RUN", "HANOI", "1", "-o", "OUT.svg"],
    "report": ["report", "RUN", "--input", "1", "-o", "OUT.json", "--json", *QUICK],
    "resume": ["resume", "RUN"],
    "compare": ["compare", "RUN", "-o", "OUT.json"],
}
READING = tuple(name for name in COMMANDS if name not in ("resume", "report", "compare"))


class Damage(NamedTuple):
    """What is put in place of a file."""

    name: str
    content: bytes | None  # None: see `special`
    special: str = ""  # folder, dangling, fifo, absent


class Hung(BaseException):
    """A command did not end."""


def call(name: str, run: Path) -> Outcome:
    """A command in this process; it has to end, in good order, with a code of the documented ones."""
    places = {"RUN": str(run), "OUT.svg": str(run.parent / "out.svg"), "OUT.json": str(run.parent / "out.json")}

    def hung(number: int, frame: Any) -> None:
        raise Hung

    before = signal.signal(signal.SIGALRM, hung)
    signal.alarm(CASE_SECONDS)
    try:
        outcome = command(*(places.get(word, word) for word in COMMANDS[name]))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert outcome.code in (0, 1, 2, 3), outcome
    assert "Traceback" not in outcome.err
    if outcome.code == 2:
        assert outcome.err.splitlines()[-1].startswith("alphanpi: error: "), outcome
        assert outcome.err.count("alphanpi: error: ") == 1
    return outcome


def fields(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every value of a record is; of a list, the first."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from fields(inner, (*path, key))
    elif isinstance(value, list) and value:
        yield from fields(value[0], (*path, 0))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The record with one value replaced, or left out."""
    if not path:
        return new
    made = dict(value) if isinstance(value, dict) else list(value)
    if new is NOTHING and len(path) == 1:
        del made[path[0]]
    else:
        made[path[0]] = replaced(value[path[0]], path[1:], new)
    return made


def field_damages(record: Any, each: int) -> Iterator[tuple[str, Any]]:
    """Wrong values in every field: `each` of them, in turn, so that every field and every value gets its share."""
    wrong = cycle(WRONG)
    for path in fields(record):
        for _ in range(each):
            new = next(wrong)
            yield f"{'.'.join(map(str, path))} = {'nothing' if new is NOTHING else new!r}", replaced(record, path, new)
    for path in [(), *fields(record)]:
        inner = record
        for part in path:
            inner = inner[part]
        if isinstance(inner, dict):
            yield f"more in {'.'.join(map(str, path))}", replaced(record, path, {**inner, "unknown key": 1})
    whole: list[Any] = [None, 5, "x", [], [record], {}]
    yield from ((f"only {value!r}"[:40], value) for value in whole)


def byte_damages(content: bytes, positions: int) -> Iterator[Damage]:
    """A file cut, emptied, with a bit or a byte changed, or replaced by what is no file."""
    for part in range(positions):
        place = (2 * part + 1) * len(content) // (2 * positions)
        yield Damage(f"cut at {place}", content[:place])
        yield Damage(f"bit {place}", content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        yield Damage(f"byte {place}", content[:place] + b"\xff" + content[place + 1 :])
    yield Damage("emptied", b"")
    yield Damage("last byte", content[:-1])
    yield Damage("more", content + b"\0\0\0\0")
    yield Damage("deep", 50_000 * b"[")
    yield from (Damage(kind, None, kind) for kind in ("folder", "dangling", "fifo", "absent"))


def plain_values(content: bytes) -> Any:
    """What JSON says; None where it is none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    """A run with two checkpoints that is complete, so that resuming it plays nothing; with stored scores."""
    out = tmp_path_factory.mktemp("pristine") / "run"
    tiny_run(out)
    config = out / "config.toml"
    config.write_text(config.read_text().replace("max_iterations = 12", "max_iterations = 10"))
    score = {"program": "HANOI", "size": 2, "mode": "greedy", "episodes": 6, "successes": 6, "rate": 1.0}
    (out / "scores.json").write_text(json.dumps({"scores": [score], "seed": 0}))
    (out / "card.json").write_text(json.dumps({"training_seconds": 1.0, "completed": True, "command": "x"}))
    shutil.rmtree(out / "tensorboard", ignore_errors=True)
    return out


@pytest.fixture
def damaged(pristine, tmp_path, monkeypatch):
    """Puts damage into a copy of the run, one after the other, and calls commands with each."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)  # no TensorBoard: it takes time
    run = tmp_path / "run"
    began = time.monotonic()

    def outcomes(file: str, damage: Damage, *commands: str) -> list[Outcome]:
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(pristine, run, symlinks=True)
        place = run / file
        place.unlink()
        if damage.content is not None:
            place.write_bytes(damage.content)
        elif damage.special == "folder":
            place.mkdir()
        elif damage.special == "dangling":
            place.symlink_to("nowhere")
        elif damage.special == "fifo":
            os.mkfifo(place)
        return [call(command, run) for command in commands]

    yield outcomes
    assert time.monotonic() - began < 120


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


LAST = "checkpoints/iteration_000012"


def test_the_run_is_fine_before_it_is_damaged(damaged, pristine):
    text = (pristine / "meta.json").read_bytes()
    codes = [outcome.code for outcome in damaged("meta.json", Damage("none", text), *COMMANDS)]
    assert 2 not in [code for name, code in zip(COMMANDS, codes, strict=True) if name != "export"]


def test_every_field_of_a_sealed_state(damaged, pristine):
    state = json.loads((pristine / LAST / "state.json").read_text())
    readers = cycle(READING)
    for name, changed in field_damages(state, each=2):
        if changed == state:
            continue
        reading, resumed = damaged(f"{LAST}/state.json", Damage(name, as_json(changed)), next(readers), "resume")
        assert (reading.code, reading.err.count("\n")) == (2, 1), name
        assert (resumed.code, resumed.err.count("warning: ")) == (1, 1), name
        assert "going on from iteration 10" in resumed.err, name


def test_every_field_of_a_state_without_a_seal(damaged, pristine, monkeypatch):
    monkeypatch.setattr(RunIdentity, "owns", lambda run, state: True)
    state = json.loads((pristine / LAST / "state.json").read_text())
    state = {key: value for key, value in state.items() if key not in ("digest", "run")}
    for name, changed in field_damages(state, each=2):
        (resumed,) = damaged(f"{LAST}/state.json", Damage(name, as_json(changed)), "resume")
        assert resumed.code == 1, (name, resumed)


def test_every_field_of_the_meta_data(damaged, pristine):
    meta = json.loads((pristine / "meta.json").read_text())
    for name, changed in field_damages(meta, each=3):
        if changed == meta:
            continue
        for outcome in damaged("meta.json", Damage(name, as_json(changed)), "run", "resume"):
            assert outcome.code == 2, name
        damaged("meta.json", Damage(name, as_json(changed)), "compare")


def test_every_field_of_the_metrics(damaged, pristine):
    lines = (pristine / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    record = json.loads(lines[3])
    for name, changed in field_damages(record, each=1):
        content = b"".join([*lines[:3], as_json(changed) + b"\n", *lines[4:]])
        _, compared, resumed = damaged("metrics.jsonl", Damage(name, content), "report", "compare", "resume")
        assert (compared.code, resumed.code) == (0, 1), name


def test_every_field_of_the_stored_scores(damaged, pristine):
    scores = json.loads((pristine / "scores.json").read_text())
    for name, changed in field_damages(scores, each=3):
        damaged("scores.json", Damage(name, as_json(changed)), "report", "compare")
    damaged("card.json", Damage("NaN", b'{"training_seconds": NaN}'), "report")
    for name, changed in field_damages(json.loads((pristine / "card.json").read_text()), each=2):
        damaged("card.json", Damage(name, as_json(changed)), "report")


def test_every_field_of_the_configuration(damaged, pristine):
    lines = (pristine / "config.toml").read_text().splitlines(keepends=True)
    wrong = cycle(('"x"', "-1", "nan", "1e300", "[]", "{}", "true", "9" * 30, "1979-05-27", None))
    for number, line in enumerate(lines):
        key, equals, _ = line.partition(" = ")
        if line.startswith(("#", "\n")) or key == "max_iterations":
            continue
        value = next(bad for bad in wrong if line != f"{key} = {bad}\n")
        new = "" if value is None or not equals else f"{key} = {value}\n"
        text = "".join([*lines[:number], new, *lines[number + 1 :]])
        resumed, _ = damaged("config.toml", Damage(line, text.encode()), "resume", "compare")
        assert resumed.code == 2, (line, new)


def test_every_field_of_the_model_card(damaged, pristine, tmp_path):
    file = pristine / LAST / "model.safetensors"
    with safe_open(file, framework="pt") as opened:
        card = json.loads(opened.metadata()["alphanpi"])
    tensors, readers = load_file(file), cycle(READING)
    weights = tmp_path / "alone" / "model.safetensors"
    weights.parent.mkdir()
    for number, (name, changed) in enumerate(field_damages(card, each=2)):
        content = save(tensors, metadata={"alphanpi": json.dumps(changed)})
        weights.write_bytes(content)
        call(next(readers), weights)
        if number % 10 == 0 and changed != card:
            (outcome,) = damaged(f"{LAST}/model.safetensors", Damage(name, content), "run")
            assert outcome.code == 2, name


@pytest.mark.parametrize(
    ("file", "commands", "positions"),
    [
        ("meta.json", ("run", "compare", "resume"), 8),
        ("config.toml", ("run", "compare", "resume"), 8),
        ("metrics.jsonl", ("report", "compare", "resume"), 8),
        ("scores.json", ("report", "compare"), 8),
        ("card.json", ("report",), 4),
        (f"{LAST}/state.json", ("eval", "resume"), 12),
        (f"{LAST}/model.safetensors", ("trace", "compare", "resume"), 10),
        (f"{LAST}/trainer.safetensors", ("run", "resume"), 10),
    ],
)
def test_the_bytes_of_every_file(damaged, pristine, file, commands, positions):
    content = (pristine / file).read_bytes()
    for damage in byte_damages(content, positions):
        if damage.content and plain_values(damage.content) == plain_values(content) is not None:
            continue  # the last digit of a number that stays the same
        outcomes = dict(zip(commands, damaged(file, damage, *commands), strict=True))
        if (file == "meta.json" and damage.name != "last byte") or (
            file == "config.toml" and damage.name.startswith("cut")
        ):
            assert outcomes["resume"].code == 2, damage.name
        elif file.startswith(LAST):
            assert "going on from iteration 10" in outcomes["resume"].err, damage.name
        if file.endswith(("model.safetensors", "state.json")):
            assert outcomes[commands[0]].code == 2, damage.name
        if damage.special and file in ("metrics.jsonl", "scores.json", "card.json") and damage.special != "absent":
            assert outcomes["report"].code == (0 if damage.special == "dangling" else 2), damage


def test_a_link_to_another_checkpoint_or_to_nowhere(damaged, pristine, tmp_path):
    for target in ("iteration_000010", "iteration_000099", "last", "../..", "/"):
        run = tmp_path / "linked"
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(pristine, run, symlinks=True)
        (run / "checkpoints" / "last").unlink()
        (run / "checkpoints" / "last").symlink_to(target)
        assert call("run", run).code in ((0, 1) if target == "iteration_000010" else (2,))
        assert call("resume", run).code == 1
