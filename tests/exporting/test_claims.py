"""An export claims what was compared, and no more."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np
import pytest

import alphanpi
from alphanpi import STOP, Environment, ExportFailed, action, program
from tests.helpers.exports import counted_tour, scripted
from tests.helpers.marking import Board, Marking, fill, top


class Walk(NamedTuple):
    length: int
    position: int


class Tour(Environment[Walk]):
    """There and back. The way back has to be counted: nothing says where it ends."""

    fields: tuple[str, ...] = ("at_end",)
    longest = 10_000

    @action(pre=lambda walk: walk.position + 1 < walk.length)
    def RIGHT(self, walk: Walk) -> Walk:
        return walk._replace(position=walk.position + 1)

    @action(pre=lambda walk: walk.position > 0)
    def LEFT(self, walk: Walk) -> Walk:
        return walk._replace(position=walk.position - 1)

    @program(level=1, depth=lambda walk: 2 * walk.length)
    def TOUR(self, before: Walk, after: Walk) -> bool:
        return after == before

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Walk:
        return Walk(min(size, self.longest), 0)

    def enumerate(self, program: str, size: int):
        yield Walk(min(size, self.longest), 0)

    def observe(self, walk: Walk) -> tuple[int, ...]:
        return (walk.position == walk.length - 1,)

    def size(self, walk: Walk) -> int:
        return walk.length


@pytest.mark.parametrize("max_size", [2, 3])
def test_a_loop_written_out_is_refused_however_small_the_sizes(max_size):
    with pytest.raises(ExportFailed, match="TOUR"):
        scripted(Tour(), {"TOUR": counted_tour}, max_size=max_size, samples=8, simplify=False)


def test_a_loop_written_out_is_called_that_where_no_larger_problem_can_tell():
    environment = Tour()
    environment.longest = 9
    exported = scripted(environment, {"TOUR": counted_tour}, samples=8)
    assert not exported.general
    assert exported.coverage[0].written_out
    assert exported.coverage[0].fresh == 0
    text = " ".join(exported.text.split())
    assert "NOT ESTABLISHED: TOUR: the code seems to be a loop written out" in text
    assert "NOT ESTABLISHED: TOUR: no start could be drawn after the code was found" in text
    assert "none drawn after the code was found" in text
    document = json.loads(scripted(environment, {"TOUR": counted_tour}, samples=8, format="json").text)
    assert document["general"] is False
    assert document["coverage"][0]["written_out"] is True
    assert "NOT ESTABLISHED: TOUR" in scripted(environment, {"TOUR": counted_tour}, samples=8, format="dot").text


def test_calls_of_every_length_there_can_be_are_complete():
    class Short(Tour):
        @program(level=1, depth=17)
        def TOUR(self, before, after):
            return after == before

    environment = Short()
    environment.longest = 9
    assert not scripted(environment, {"TOUR": counted_tour}, samples=8).coverage[0].written_out


def test_a_real_loop_is_not_called_written_out():
    class Seen(Tour):
        fields = ("at_start", "at_end")

        def observe(self, walk):
            return walk.position == 0, walk.position == walk.length - 1

    def both(see, size):
        while not see.at_end:
            see = yield "RIGHT"
        while not see.at_start:
            see = yield "LEFT"
        yield STOP

    exported = scripted(Seen(), {"TOUR": both}, max_size=6, samples=40)
    assert exported.general
    (entry,) = exported.coverage
    assert entry.fresh_to >= 4 * entry.learned_to
    assert "while not walk.at_start:" in exported.text


def test_fresh_starts_go_far_beyond_those_the_code_was_made_from(marking):
    exported = marking
    for entry in exported.coverage:
        assert entry.fresh > 0
        assert entry.fresh_to >= 3 * entry.learned_to
        described = f"{entry.fresh:,} drawn after the code was found, up to size {entry.fresh_to}"
        assert described in " ".join(exported.text.split())


def test_code_that_is_right_only_up_to_the_sizes_seen_is_refused():
    class Turning(Marking):
        """An agent that does something else on long boards, of which it sees the length."""

        fields = ("last", "long")

        def observe(self, board):
            return board.start == len(board.cells) - 1, len(board.cells) > 30

        def post(self, program, before, after):
            return True

    def turning(see, size):
        if not see.long:
            yield "MARK"
        if not see.last:
            yield "FILL"
        yield STOP

    exported = scripted(Turning(), {"FILL": turning, "TOP": top}, max_size=4, samples=60)
    assert exported.rounds > 1  # learned from boards longer than any it was first made from
    assert "board.long" in exported.text
    assert any("earlier round" in warning for warning in exported.warnings)


def test_raising_the_maximal_size_until_nothing_is_left_to_draw_is_said(run, tmp_path, monkeypatch):
    from alphanpi.exporting import sampling

    monkeypatch.setattr(sampling, "_STEPS_OF_A_FAR_RUN", 500)
    target = tmp_path / "hanoi.py"
    code, _, err = run("export", "pretrained:hanoi", "--max-size", 7, "--samples", 5, "-o", target)
    assert code == 3
    assert "warning: HANOI: no start could be drawn after the code was found" in err
    assert "NOT ESTABLISHED" in target.read_text()


def test_an_environment_without_larger_problems_is_said_to_have_none():
    class Small(Marking):
        train_sizes = (1, 2)
        validation_size = 2
        test_sizes = (2,)

        def initial(self, program, size, rng):
            if size > 2:
                raise ValueError("boards have two cells at most")
            return Board((0,) * size, 0)

    exported = scripted(Small(), {"FILL": fill, "TOP": top}, max_size=2, samples=10)
    assert not exported.general
    assert any("boards have two cells at most" in warning for warning in exported.warnings)


def test_initial_that_raises_for_a_size_it_was_named_for_is_an_error():
    class Broken(Marking):
        def initial(self, program, size, rng):
            raise ValueError("no")

    with pytest.raises(alphanpi.EnvironmentFault, match="initial state of FILL at size"):
        scripted(Broken(), {"FILL": fill, "TOP": top}, max_size=2)
