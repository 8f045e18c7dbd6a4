"""Training that begins from another agent: what is frozen stays, what is new is learned, and a run can be resumed."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import alphanpi
from alphanpi import UsageError, action, program
from alphanpi.agent.weights import frozen_hashes, hash_of, packed, read_weights, saved_hash
from alphanpi.environments.hanoi import CUTOFF, Hanoi
from alphanpi.network.history_table import HistoryTable
from alphanpi.training.train import resume, train
from tests.helpers.commands import assert_one_line, command
from tests.helpers.growing import SMALL, Lamp, LampAndDoor, Room, RoomEnvironment, Welcome, pressed
from tests.helpers.paths import ROOT
from tests.helpers.tiny import bits, edit, newest

FILE = ROOT / "tests" / "helpers" / "growing.py"
SETTINGS = {key: value for key, value in SMALL.items() if not key.startswith("network.")}


def learned(environment, out, **more):
    return train(environment, seed=0, out=out, **{"settings": SETTINGS, **more})


@pytest.fixture(scope="module")
def lamp(tmp_path_factory):
    outcome = learned(Lamp, tmp_path_factory.mktemp("lamp") / "run", settings=SMALL)
    assert outcome.completed
    return outcome


@pytest.fixture(scope="module")
def door(lamp, tmp_path_factory):
    return learned(LampAndDoor, tmp_path_factory.mktemp("door") / "run", begin_from=lamp, freeze=True)


@pytest.fixture(scope="module")
def welcome(door, tmp_path_factory):
    return learned(Welcome, tmp_path_factory.mktemp("welcome") / "run", begin_from=door.run, freeze=True)


def spoken(agent, program: str, length: int = 5) -> list[list[float]]:
    """Logits of the lamp's entries along a call that presses and waits."""
    library = agent.environment.library
    table = HistoryTable(library, agent.evaluator)
    index = [entry.name for entry in library.learned].index(program)
    context, found = table.beginning(index), []
    for step in range(length):
        seen = {"lit": step % 2, "open": 1 - step % 2}
        history = table.after(context, tuple(seen[name] for name in agent.environment.fields))
        found.append([float(table.logits[history][library.index_of(name)]) for name in Lamp.library.names])
        context = table.following(history, library.index_of(("PRESS", "WAIT")[step % 2]))
    return found


def test_what_is_frozen_stays_and_what_is_new_is_learned(lamp, door, welcome):
    for outcome in (door, welcome):
        assert outcome.completed
        assert spoken(outcome.agent, "LIGHT") == spoken(lamp.agent, "LIGHT")
        assert all(score.rate == 1 for score in alphanpi.evaluate(outcome, sizes=[1, 4], episodes=20, keep=False))
    agent = welcome.agent
    assert agent.card.origin is not None
    assert agent.card.origin.weights == hash_of(door.agent.network)
    assert frozen_hashes(agent.network)["LIGHT"] == hash_of(lamp.agent.network)
    assert [record.programs for record in agent.card.frozen] == [("LIGHT",), ("OPEN",)]
    assert saved_hash(read_weights(newest(welcome.run) / "model.safetensors")) == agent.weights_hash
    code = alphanpi.export(agent)
    assert "PUSH" not in code.text.partition("def light")[2].partition("def ")[0]


def test_frozen_programs_are_neither_played_nor_learned(door, tmp_path):
    played: set[str] = set()
    kept: set[int] = set()

    def watch(trainer, report, elapsed):
        played.update(report.explored)
        kept.update(program for program, _ in trainer.replay.rings)

    learned(Welcome, tmp_path / "run", begin_from=door, freeze=True, observer=watch)
    assert played == {"WELCOME"}
    assert kept == {2}


def test_without_freeze_everything_is_learned(door, lamp, tmp_path):
    outcome = learned(LampAndDoor, tmp_path / "door", begin_from=lamp)
    assert outcome.completed
    assert outcome.agent.card.frozen == ()
    assert outcome.agent.card.origin.weights == hash_of(lamp.agent.network)
    assert spoken(outcome.agent, "LIGHT") != spoken(lamp.agent, "LIGHT")
    # What was frozen before has no weights but its own, and stays so.
    further = learned(Welcome, tmp_path / "welcome", begin_from=door)
    assert spoken(further.agent, "LIGHT") == spoken(lamp.agent, "LIGHT")
    assert [record.programs for record in further.agent.card.frozen] == [("LIGHT",)]


def test_the_same_seed_gives_the_same_weights_and_an_agent_is_as_good_as_its_run(welcome, door, tmp_path):
    again = learned(Welcome, tmp_path / "again", begin_from=door.agent, freeze=True)
    assert bits(again.run) == bits(welcome.run)


@pytest.mark.parametrize("stop", [0, 1])
def test_a_run_that_is_resumed_equals_one_that_never_stopped(lamp, tmp_path, stop):
    whole, part = tmp_path / "whole", tmp_path / "part"
    shutil.copytree(lamp.run, tmp_path / "lamp", symlinks=True)
    learned(LampAndDoor, whole, begin_from=lamp, freeze=True, settings={**SETTINGS, "max_iterations": 3})
    learned(LampAndDoor, part, begin_from=tmp_path / "lamp", freeze=True, settings={**SETTINGS, "max_iterations": 1})
    shutil.rmtree(tmp_path / "lamp")  # the run has a copy of its own
    if stop == 0:
        shutil.rmtree(part / "checkpoints")
    config = part / "config.toml"
    config.write_text(config.read_text().replace("max_iterations = 1\n", "max_iterations = 3\n"))
    resume(part)
    assert bits(part)["trainer.safetensors"] == bits(whole)["trainer.safetensors"]
    assert hash_of(alphanpi.load(part).network) == hash_of(alphanpi.load(whole).network)


def test_a_beginning_that_was_changed_is_refused(door, tmp_path):
    shutil.copytree(door.run, tmp_path / "run", symlinks=True)
    file = tmp_path / "run" / "beginning.safetensors"
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert_one_line(command("resume", tmp_path / "run"), "beginning.safetensors: damaged")
    file.unlink()
    assert_one_line(command("resume", tmp_path / "run"), "beginning.safetensors")


def test_a_run_says_what_it_began_from(door, lamp):
    meta = json.loads((door.run / "meta.json").read_text())
    assert meta["beginning"]["freeze"] is True
    assert meta["beginning"]["name"] == str(lamp.run)


class Waiting(RoomEnvironment):
    """The lamp, without the action WAIT."""

    fields = ("lit",)

    @action()
    def PRESS(self, state: Room) -> Room:
        return pressed(state)

    @program(level=1, depth=lambda room: room.presses + 2)
    def LIGHT(self, before: Room, after: Room) -> bool:
        return after == Room(True, before.open, 0)

    @program(level=2, depth=3)
    def LIGHT_IT(self, before: Room, after: Room) -> bool:
        return after.lit

    def observe(self, state: Room) -> tuple[int, ...]:
        return (state.lit,)


class Raised(Lamp):
    """LIGHT could call another program by now, as its level is higher."""

    @program(level=1, depth=2)
    def LOOK(self, before: Room, after: Room) -> bool:
        return after == before

    @program(level=2, recursive=True, depth=9, shrink=lambda room: None, restore=lambda caller, callee: callee)
    def LIGHT(self, before: Room, after: Room) -> bool:
        return after.lit


class Stricter(Lamp):
    """LIGHT is to do something else."""

    @program(level=1, depth=4)
    def LIGHT(self, before: Room, after: Room) -> bool:
        return after == before

    @program(level=2, depth=3)
    def LIGHT_IT(self, before: Room, after: Room) -> bool:
        return after.lit


class OnlyAtFirst(Lamp):
    """LIGHT fails on large problems alone."""

    test_sizes = (12,)

    @program(level=1, depth=lambda room: room.presses + 2)
    def LIGHT(self, before: Room, after: Room) -> bool:
        return after.lit and before.presses < 6

    @program(level=1, depth=2)
    def PRESS_ONCE(self, before: Room, after: Room) -> bool:
        return after == pressed(before)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        (Lamp, "every program of Lamp is frozen, so there is nothing to learn"),
        (Waiting, "WAIT, which .* has learned with, is no action of Waiting"),
        (Raised, "LIGHT may call more than when it was learned: LIGHT"),
        (Stricter, "LIGHT solves 0% of its problems in Stricter, and needs"),
        (Hanoi, "its field 'lit' is not in Hanoi"),
    ],
)
def test_what_cannot_stay_as_it_is_is_refused_before_anything_is_written(lamp, tmp_path, environment, message):
    with pytest.raises(UsageError, match=message):
        learned(environment, tmp_path / "run", begin_from=lamp, freeze=True)
    assert not (tmp_path / "run").exists()


def test_without_freeze_programs_may_go_and_change(lamp, tmp_path):
    for environment in (Waiting, Stricter):
        settings = {**SETTINGS, "max_iterations": 1}
        assert learned(environment, tmp_path / environment.__name__, begin_from=lamp, settings=settings).iterations == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"network.memory": 9}, "network.memory is 8 there; 9 was asked for"),
        ({"network.window": 2}, "network.window is 1 there; 2 was asked for"),
    ],
)
def test_other_networks_are_refused(lamp, tmp_path, settings, message):
    with pytest.raises(UsageError, match=message):
        learned(LampAndDoor, tmp_path / "run", begin_from=lamp, settings=settings)


def test_a_frozen_program_that_fails_the_exam_ends_the_training(lamp, tmp_path):
    outcome = learned(OnlyAtFirst, tmp_path / "run", begin_from=lamp, freeze=True)
    assert (outcome.completed, outcome.reason) == (False, "frozen")
    assert outcome.explanation.startswith("LIGHT is frozen, and the exam failed on large problems: LIGHT on ")
    assert "\n" not in outcome.explanation
    again = resume(outcome.run)
    assert (again.reason, again.explanation, again.iterations) == ("frozen", outcome.explanation, outcome.iterations)


def test_damaged_cards_of_frozen_agents_are_refused(welcome, tmp_path):
    saved = read_weights(newest(welcome.run) / "model.safetensors")
    first, second = saved.card.frozen
    for record, part in (
        (first.model_copy(update={"programs": ("OPEN",)}), "frozen programs need OPEN"),
        (first.model_copy(update={"fields": ("dark",)}), "frozen programs need dark"),
        (first.model_copy(update={"library": ("STOP", "LIGHT")}), "tensor"),
        (first.model_copy(update={"window": 9}), "frozen programs with a window of 9, beside a network with one of 1"),
        (first.model_copy(update={"window": 0}), "frozen programs with a window of 0"),
    ):
        file = tmp_path / "model.safetensors"
        card = saved.card.model_copy(update={"frozen": (record, second)})
        file.write_bytes(packed(saved.tensors, card))
        with pytest.raises(UsageError, match=part):
            alphanpi.load(file, environment=Welcome)
    file.write_bytes(packed(saved.tensors, saved.card.model_copy(update={"frozen": (first,)})))
    with pytest.raises(UsageError, match=r"unknown tensors: frozen\.1"):
        alphanpi.load(file, environment=Welcome)


def test_the_command(lamp, tmp_path):
    settings = [word for key, value in SETTINGS.items() for word in (f"--{key}", value)]
    out = tmp_path / "run"
    outcome = command("train", f"{FILE}:Welcome", "--from", lamp.run, "--freeze", "--seed", 0, "--out", out, *settings)
    assert outcome.code == 0, outcome.err
    assert spoken(alphanpi.load(out), "LIGHT") == spoken(lamp.agent, "LIGHT")
    assert_one_line(command("train", f"{FILE}:Welcome", "--freeze", "--out", tmp_path / "x"), "--from RUN")
    assert_one_line(
        command("train", f"{FILE}:Welcome", "--from", tmp_path / "y", "--out", tmp_path / "x"), "no such run"
    )


class HanoiAndAgain(Hanoi):
    """Hanoi with a new action, and a new program above HANOI."""

    @action()
    def PAUSE(self, state):
        return state

    @program(level=2, depth=3, pre=lambda state: state.all_on(state.roles[0]))
    def AGAIN(self, before, after):
        return self.HANOI(before, after)

    def cutoff(self):
        return CUTOFF


def test_verify_proves_frozen_programs_anew_and_says_whose_they_are(tmp_path):
    file = train("hanoi", seed=0, out=tmp_path / "hanoi").run
    before = alphanpi.verify(file, keep=False, by="lemma")
    settings = {"max_iterations": 1}
    outcome = train(HanoiAndAgain, seed=0, out=tmp_path / "run", begin_from=file, freeze=True, settings=settings)
    after = alphanpi.verify(outcome, by="lemma")
    old, new = before.programs[0], after.programs[0]
    assert (old.name, new.name) == ("HANOI", "HANOI")
    assert old.verdict == new.verdict == "PROVED"
    assert new.frozen is not None
    assert new.frozen == before.weights_sha256
    assert old.frozen is None
    assert [one.runs for one in new.sizes] == [one.runs for one in old.sizes]
    assert new.numerics.smallest_margin == old.numerics.smallest_margin
    assert after.programs[1].frozen is None
    again = alphanpi.verify(outcome, certificate=outcome.run / "certificate.json")
    assert again.programs[0].frozen == new.frozen
    said = command("verify", outcome.run, "--env", f"{__name__}:HanoiAndAgain", "--max-size", 1)
    assert f"frozen: HANOI decides by weights {new.frozen[:12]}, as before; verified here anew" in said.out


def test_an_agent_of_a_card_before_calls_were_written_can_be_begun_from(lamp, tmp_path):
    """Their levels cannot be compared; names still are."""
    shutil.copytree(lamp.run, tmp_path / "lamp", symlinks=True)
    file = newest(tmp_path / "lamp") / "model.safetensors"
    saved = read_weights(file)
    copy = tmp_path / "model.safetensors"
    copy.write_bytes(packed(saved.tensors, saved.card.model_copy(update={"calls": {}})))
    settings = {**SETTINGS, "max_iterations": 1}
    outcome = learned(LampAndDoor, tmp_path / "run", begin_from=copy, freeze=True, settings=settings)
    assert np.array_equal(spoken(outcome.agent, "LIGHT"), spoken(lamp.agent, "LIGHT"))
    edit(outcome.run / "meta.json", lambda meta: {**meta, "beginning": {**meta["beginning"], "freeze": False}})
    assert_one_line(command("resume", outcome.run), "another run, or meta.json was changed")
