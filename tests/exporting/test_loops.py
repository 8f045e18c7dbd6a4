"""Agents with a window: loops that come back to the same situations become the loops a person would write."""

from __future__ import annotations

import ast
import json
import re
from typing import Any, NamedTuple

import numpy as np
import pytest

from alphanpi import STOP, Environment, ExportFailed, action, program
from alphanpi.exporting.clock import Clock
from alphanpi.exporting.minimise import minimise
from tests.exporting.test_claims import Tour
from tests.helpers.exports import counted_tour, scripted
from tests.helpers.reflexes import exported_reflex
from tests.helpers.structured import FEATURES, calls, drawn, played, statements


def body(exported: Any) -> list[str]:
    """The statements of the only function: actions and fields in parentheses, without what they are asked of."""
    function = next(node for node in ast.parse(exported.text).body if isinstance(node, ast.FunctionDef))
    own = function.args.args[0].arg
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    lines = [line for one in statements for line in ast.unparse(one).splitlines()]
    acted = [re.sub(rf"\b{own}\.(\w+)\(\)", lambda found: f"({found[1].upper()})", line) for line in lines]
    return [re.sub(rf"\b{own}\.(\w+)", r"(\1)", line) for line in acted]


class Seen(Tour):
    """There and back, where both ends are seen."""

    fields = ("at_start", "at_end")

    def observe(self, walk):
        return walk.position == 0, walk.position == walk.length - 1


def test_two_successive_loops():
    def tour(see, before):
        if before != "LEFT" and not see.at_end:
            return "RIGHT"
        return STOP if see.at_start else "LEFT"

    exported = exported_reflex(Seen(), {"TOUR": tour})
    assert exported.general
    assert exported.rounds == 1
    assert body(exported) == ["while not (at_end):", "    (RIGHT)", "while not (at_start):", "    (LEFT)"]
    states = json.loads(exported_reflex(Seen(), {"TOUR": tour}, format="json").text)["programs"][0]["states"]
    assert len(states) == 2


def test_an_agent_without_a_window_is_told_of_windows():
    with pytest.raises(ExportFailed, match=r"network\.window"):
        scripted(Tour(), {"TOUR": counted_tour}, max_size=3, samples=8, simplify=False)


class Ends(NamedTuple):
    values: tuple[int, ...]
    left: int
    right: int


class Reversing(Environment[Ends]):
    """Exchange from both ends until the pointers meet."""

    fields = ("met",)

    @action(pre=lambda ends: ends.left < ends.right)
    def SWAP(self, ends: Ends) -> Ends:
        values = list(ends.values)
        values[ends.left], values[ends.right] = values[ends.right], values[ends.left]
        return ends._replace(values=tuple(values))

    @action(pre=lambda ends: ends.left + 1 < len(ends.values))
    def LEFT_ON(self, ends: Ends) -> Ends:
        return ends._replace(left=ends.left + 1)

    @action(pre=lambda ends: ends.right > 0)
    def RIGHT_ON(self, ends: Ends) -> Ends:
        return ends._replace(right=ends.right - 1)

    @program(level=1, depth=lambda ends: 2 * len(ends.values) + 3)
    def REVERSE(self, before: Ends, after: Ends) -> bool:
        return after.values == before.values[::-1]

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Ends:
        return Ends(tuple(map(int, rng.integers(10, size=size))), 0, size - 1)

    def observe(self, ends: Ends) -> tuple[int, ...]:
        return (ends.left >= ends.right,)

    def size(self, ends: Ends) -> int:
        return len(ends.values)


def test_a_body_of_several_actions():
    def reverse(see, before):
        if before == "SWAP":
            return "LEFT_ON"
        if before == "LEFT_ON":
            return "RIGHT_ON"
        return STOP if see.met else "SWAP"

    exported = exported_reflex(Reversing(), {"REVERSE": reverse})
    assert exported.general
    assert body(exported) == ["while not (met):", "    (SWAP)", "    (LEFT_ON)", "    (RIGHT_ON)"]


class Flag(NamedTuple):
    colours: tuple[int, ...]
    low: int
    middle: int
    high: int


class Partition(Environment[Flag]):
    """Three-way partition with three pointers."""

    fields = ("colour", "done")

    @action()
    def SWAP_LOW(self, flag: Flag) -> Flag:
        return self._swapped(flag, flag.low)

    @action()
    def SWAP_HIGH(self, flag: Flag) -> Flag:
        return self._swapped(flag, flag.high)

    @staticmethod
    def _swapped(flag: Flag, other: int) -> Flag:
        colours = list(flag.colours)
        colours[flag.middle], colours[other] = colours[other], colours[flag.middle]
        return flag._replace(colours=tuple(colours))

    @action()
    def LOW_ON(self, flag: Flag) -> Flag:
        return flag._replace(low=min(flag.low + 1, len(flag.colours) - 1))

    @action(pre=lambda flag: flag.middle < len(flag.colours))
    def MIDDLE_ON(self, flag: Flag) -> Flag:
        return flag._replace(middle=flag.middle + 1)

    @action(pre=lambda flag: flag.high >= 0)
    def HIGH_ON(self, flag: Flag) -> Flag:
        return flag._replace(high=flag.high - 1)

    @program(level=1, depth=lambda flag: 3 * len(flag.colours) + 3)
    def SORT(self, before: Flag, after: Flag) -> bool:
        return after.colours == tuple(sorted(before.colours))

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Flag:
        return Flag(tuple(map(int, rng.integers(3, size=size))), 0, 0, size - 1)

    def observe(self, flag: Flag) -> tuple[int, ...]:
        done = flag.middle > flag.high
        return (0 if done else flag.colours[flag.middle], done)

    def size(self, flag: Flag) -> int:
        return len(flag.colours)


def test_branches_in_a_loop():
    def sort(see, before):
        if before == "SWAP_LOW":
            return "LOW_ON"
        if before == "LOW_ON":
            return "MIDDLE_ON"
        if before == "SWAP_HIGH":
            return "HIGH_ON"
        return STOP if see.done else ("SWAP_LOW", "MIDDLE_ON", "SWAP_HIGH")[see.colour]

    exported = exported_reflex(Partition(), {"SORT": sort}, samples=200)
    assert exported.general
    assert body(exported) == [
        "while not (done):",
        "    if (colour) == 0:",
        "        (SWAP_LOW)",
        "        (LOW_ON)",
        "    if (colour) == 2:",
        "        (SWAP_HIGH)",
        "        (HIGH_ON)",
        "    else:",
        "        (MIDDLE_ON)",
    ]


class Cell(NamedTuple):
    width: int
    height: int
    column: int = 0
    row: int = 0
    painted: int = 0


class Grid(Environment[Cell]):
    """For each row: for each column."""

    fields = ("right_edge", "below")

    @action(pre=lambda cell: cell.row < cell.height and cell.column < cell.width)
    def PAINT(self, cell: Cell) -> Cell:
        return cell._replace(painted=cell.painted + 1)

    @action(pre=lambda cell: cell.column < cell.width)
    def RIGHT(self, cell: Cell) -> Cell:
        return cell._replace(column=cell.column + 1)

    @action(pre=lambda cell: cell.row < cell.height)
    def NEXT_ROW(self, cell: Cell) -> Cell:
        return cell._replace(column=0, row=cell.row + 1)

    @program(level=1, depth=lambda cell: 2 * cell.width * cell.height + cell.height + 2)
    def FILL(self, before: Cell, after: Cell) -> bool:
        return after.painted == before.width * before.height

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Cell:
        return Cell(size, int(rng.integers(1, size + 1)))

    def observe(self, cell: Cell) -> tuple[int, ...]:
        return cell.column >= cell.width, cell.row >= cell.height

    def size(self, cell: Cell) -> int:
        return max(cell.width, cell.height)


def test_nested_loops():
    def fill(see, before):
        if before == "PAINT":
            return "RIGHT"
        if see.below:
            return STOP
        return "NEXT_ROW" if see.right_edge else "PAINT"

    exported = exported_reflex(Grid(), {"FILL": fill})
    assert exported.general
    lines = body(exported)
    assert lines[0] == "while not (below):"
    assert len(lines) <= 6


def test_an_action_that_repeats_in_a_body():
    class Strides(Seen):
        """Two steps at a time; walks have an odd length."""

        @program(level=1, depth=lambda walk: 2 * walk.length)
        def TOUR(self, before, after):
            return after.position == after.length - 1

        def initial(self, program, size, rng):
            return super().initial(program, 2 * size + 1, rng)

        enumerate = Environment.enumerate

    def tour(see, before):
        return STOP if see.at_end else "RIGHT"

    assert body(exported_reflex(Strides(), {"TOUR": tour})) == ["while not (at_end):", "    (RIGHT)"]


@pytest.mark.parametrize("seed", [1, 9, 12, 13, 15, 20, 24, 27, 28, 31, 39, 44, 48])
def test_random_structured_programs(seed):
    """Whatever a program is made of, none that is longer is printed, and it does the same on other runs."""
    found = drawn(seed)
    assert found is not None
    learned = minimise("P", found.traces, FEATURES, True, Clock(60), found.window)
    assert statements(learned.block) <= statements(found.block)
    places = [FEATURES.index(feature) for feature in learned.features]
    for trace in calls(found.block, seed + 1_000_000, 200):
        letters = iter([tuple(step.letter[place] for place in places) for step in trace])
        assert [step.action for step in played(learned.block, letters)] == [step.action for step in trace]
