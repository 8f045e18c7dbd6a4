"""Five small environments: three whose solution is a loop, and two in which different states look alike."""

from typing import NamedTuple, TypeVar

import numpy as np

from alphanpi import Environment, action, program

Value = TypeVar("Value")


def placed(values: tuple[Value, ...], index: int, value: Value) -> tuple[Value, ...]:
    """The values with another one at the index."""
    return (*values[:index], value, *values[index + 1 :])


# ---------------------------------------------------------------------------------------------------------------------
# 1. A loop that walks and writes.
#
# RUNNING_PARITY, for (bit, written, at_end), whatever the previous action:
#   bit written at_end   previous | action
#   0   0       *        *        | WRITE_SAME
#   1   0       *        *        | WRITE_OTHER
#   *   1       0        *        | RIGHT
#   *   1       1        *        | STOP
# Memory needed: none.


class Tape(NamedTuple):
    """Bits to be read, and what is written below them so far, without holes, from the left."""

    bits: tuple[int, ...]
    written: tuple[int, ...]
    position: int


def may_write(tape: Tape) -> bool:
    """All cells to the left are written, and this one is not."""
    return len(tape.written) == tape.position


class RunningParity(Environment[Tape]):
    """Writes below every bit whether the number of ones so far is odd."""

    fields = ("bit", "written", "at_end")
    train_sizes = (1, 2, 3, 4)
    validation_size = 8
    test_sizes = (10, 30, 100)

    @action(pre=may_write)
    def WRITE_SAME(self, tape: Tape) -> Tape:
        """Write what is written to the left; 0 in the first cell."""
        return tape._replace(written=(*tape.written, self.to_the_left(tape)))

    @action(pre=may_write)
    def WRITE_OTHER(self, tape: Tape) -> Tape:
        """Write the opposite of what is written to the left; 1 in the first cell."""
        return tape._replace(written=(*tape.written, 1 - self.to_the_left(tape)))

    @action(pre=lambda tape: tape.position + 1 < len(tape.bits))
    def RIGHT(self, tape: Tape) -> Tape:
        """Go to the next cell."""
        return tape._replace(position=tape.position + 1)

    @program(
        level=1,
        depth=lambda tape: 2 * len(tape.bits) + 2,
        pre=lambda tape: tape.position == 0 and not tape.written,
    )
    def RUNNING_PARITY(self, before: Tape, after: Tape) -> bool:
        """Write the parity of all bits up to here into every cell, and end at the last one."""
        parities = tuple(int(parity) for parity in np.cumsum(before.bits) % 2)
        return after == before._replace(written=parities, position=len(before.bits) - 1)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Tape:
        return Tape(tuple(rng.integers(2, size=size).tolist()), written=(), position=0)

    def observe(self, tape: Tape) -> tuple[int, ...]:
        here = tape.position
        return tape.bits[here], int(here < len(tape.written)), int(here == len(tape.bits) - 1)

    def size(self, tape: Tape) -> int:
        return len(tape.bits)

    @staticmethod
    def to_the_left(tape: Tape) -> int:
        """What the last written cell holds."""
        return tape.written[-1] if tape.written else 0


# ---------------------------------------------------------------------------------------------------------------------
# 2. A loop with two pointers.
#
# KEEP_NONZERO, for (zero, blank, done) and the previous action:
#   zero blank done   previous      | action
#   *    *     1      *             | STOP
#   1    *     0      *             | READ_NEXT
#   0    *     0      none          | COPY
#   0    *     0      READ_NEXT     | COPY
#   0    *     0      COPY          | WRITE_NEXT
#   0    *     0      WRITE_NEXT    | READ_NEXT
# Memory needed: the previous action. (COPY, READ_NEXT, WRITE_NEXT is another right order, with the field `blank`.)


class Lists(NamedTuple):
    """A list to be read, a list to be written, and a pointer into each; a pointer may be behind the last element."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    read: int
    write: int


class KeepNonzero(Environment[Lists]):
    """Copies all numbers but the zeros from one list to another."""

    fields = ("zero", "blank", "done")
    train_sizes = (1, 2, 3, 4)
    validation_size = 7
    test_sizes = (10, 30, 100)

    @action(pre=lambda lists: lists.read < len(lists.source))
    def READ_NEXT(self, lists: Lists) -> Lists:
        """Move the reading pointer on."""
        return lists._replace(read=lists.read + 1)

    @action(pre=lambda lists: lists.write < len(lists.target))
    def WRITE_NEXT(self, lists: Lists) -> Lists:
        """Move the writing pointer on."""
        return lists._replace(write=lists.write + 1)

    @action(pre=lambda lists: lists.read < len(lists.source) and lists.write < len(lists.target))
    def COPY(self, lists: Lists) -> Lists:
        """Write what is read."""
        return lists._replace(target=placed(lists.target, lists.write, lists.source[lists.read]))

    @program(
        level=1,
        depth=lambda lists: 3 * len(lists.source) + 3,
        pre=lambda lists: lists.read == 0 and lists.write == 0 and not any(lists.target),
    )
    def KEEP_NONZERO(self, before: Lists, after: Lists) -> bool:
        """Write the numbers that are not zero, in order without gaps; both pointers end behind the last of theirs."""
        kept = tuple(value for value in before.source if value)
        length = len(before.source)
        blanks = (0,) * (length - len(kept))
        return after == Lists(before.source, kept + blanks, read=length, write=len(kept))

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Lists:
        values = rng.integers(1, 4, size=size) * (rng.random(size) < 0.6)
        return Lists(tuple(values.tolist()), (0,) * size, read=0, write=0)

    def observe(self, lists: Lists) -> tuple[bool, ...]:
        done = lists.read == len(lists.source)
        zero = not done and lists.source[lists.read] == 0
        blank = lists.write == len(lists.target) or lists.target[lists.write] == 0
        return zero, blank, done

    def size(self, lists: Lists) -> int:
        return len(lists.source)


# ---------------------------------------------------------------------------------------------------------------------
# 3. A loop at level 2 around a program of level 1, which is a loop itself.
#
# For (painted, row_end, last_row), whatever the previous action:
#   PAINT_ROW                              PAINT_WALL
#   painted row_end last_row | action      painted row_end last_row | action
#   0       *       *        | PAINT       *       0       *        | PAINT_ROW
#   1       0       *        | RIGHT       *       1       0        | NEW_ROW
#   1       1       *        | STOP        *       1       1        | STOP
# Memory needed: none.


class Wall(NamedTuple):
    """Rows of tiles, 1 if painted, all of one width of at least three; and where the painter is."""

    rows: tuple[tuple[int, ...], ...]
    row: int
    column: int


def painted(wall: Wall) -> bool:
    """The tile here is painted."""
    return wall.rows[wall.row][wall.column] == 1


def row_end(wall: Wall) -> bool:
    """The painter is at the last tile of a row."""
    return wall.column == len(wall.rows[wall.row]) - 1


class PaintWall(Environment[Wall]):
    """Paints a wall row by row. The size is the number of rows; a row has three or four tiles."""

    fields = ("painted", "row_end", "last_row")
    train_sizes = (1, 2, 3)
    validation_size = 7
    test_sizes = (10, 30, 100)

    @action(pre=lambda wall: not painted(wall))
    def PAINT(self, wall: Wall) -> Wall:
        """Paint the tile here."""
        row = placed(wall.rows[wall.row], wall.column, 1)
        return wall._replace(rows=placed(wall.rows, wall.row, row))

    @action(pre=lambda wall: not row_end(wall))
    def RIGHT(self, wall: Wall) -> Wall:
        """Go to the next tile of this row."""
        return wall._replace(column=wall.column + 1)

    @action(pre=lambda wall: row_end(wall) and wall.row + 1 < len(wall.rows))
    def NEW_ROW(self, wall: Wall) -> Wall:
        """Go from the end of a row to the start of the next."""
        return wall._replace(row=wall.row + 1, column=0)

    @program(level=1, depth=lambda wall: 2 * len(wall.rows[wall.row]) + 2, pre=lambda wall: wall.column == 0)
    def PAINT_ROW(self, before: Wall, after: Wall) -> bool:
        """Paint what is not painted in this row, and end at its last tile."""
        width = len(before.rows[before.row])
        rows = placed(before.rows, before.row, (1,) * width)
        return after == before._replace(rows=rows, column=width - 1)

    @program(
        level=2,
        depth=lambda wall: 2 * len(wall.rows) + 2,
        pre=lambda wall: wall.row == 0 and wall.column == 0,
    )
    def PAINT_WALL(self, before: Wall, after: Wall) -> bool:
        """Paint all rows, and end at the last tile of the last."""
        height, width = len(before.rows), len(before.rows[0])
        return after == Wall(((1,) * width,) * height, row=height - 1, column=width - 1)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Wall:
        width = int(rng.integers(3, 5))
        rows = tuple(tuple(row) for row in rng.integers(2, size=(size, width)).tolist())
        return Wall(rows, row=int(rng.integers(size)) if program == "PAINT_ROW" else 0, column=0)

    def observe(self, wall: Wall) -> tuple[bool, ...]:
        return painted(wall), row_end(wall), wall.row == len(wall.rows) - 1

    def size(self, wall: Wall) -> int:
        return len(wall.rows)


# ---------------------------------------------------------------------------------------------------------------------
# 4. Look-alikes with different shortcuts: who knows where the ring is goes there at once, to the left or to the right;
# who does not has to look in one direction first.
#
# FETCH, for (ring_here, holding, at_left, at_right) and the previous action:
#   ring_here holding at_left at_right   previous | action
#   *         1       1       *          *        | STOP
#   *         1       0       *          *        | LEFT
#   1         0       *       *          *        | PICK
#   0         0       1       *          *        | RIGHT
#   0         0       0       *          none     | LEFT
#   0         0       0       *          LEFT     | LEFT
#   0         0       0       *          RIGHT    | RIGHT
# (Or the mirror image: first to the right end, then to the left.)
# Memory needed: the previous action, as the direction of the walk.


class Corridor(NamedTuple):
    """A dark corridor with a ring somewhere in it, and someone who looks for it."""

    length: int
    ring: int  # where it lies, or lay before it was picked up
    walker: int
    holding: bool


class FetchRing(Environment[Corridor]):
    """Finds a ring in a dark corridor and brings it to the left end."""

    fields = ("ring_here", "holding", "at_left", "at_right")
    train_sizes = (1, 2, 3, 4, 5)
    validation_size = 9
    test_sizes = (10, 30, 100)

    @action(pre=lambda corridor: corridor.walker > 0)
    def LEFT(self, corridor: Corridor) -> Corridor:
        """Walk one step to the left."""
        return corridor._replace(walker=corridor.walker - 1)

    @action(pre=lambda corridor: corridor.walker + 1 < corridor.length)
    def RIGHT(self, corridor: Corridor) -> Corridor:
        """Walk one step to the right."""
        return corridor._replace(walker=corridor.walker + 1)

    @action(pre=lambda corridor: corridor.walker == corridor.ring and not corridor.holding)
    def PICK(self, corridor: Corridor) -> Corridor:
        """Pick the ring up."""
        return corridor._replace(holding=True)

    @program(level=1, depth=lambda corridor: 3 * corridor.length + 2, pre=lambda corridor: not corridor.holding)
    def FETCH(self, before: Corridor, after: Corridor) -> bool:
        """Be at the left end with the ring."""
        return after == before._replace(walker=0, holding=True)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Corridor:
        ring, walker = rng.integers(size, size=2).tolist()
        return Corridor(size, ring, walker, holding=False)

    def observe(self, corridor: Corridor) -> tuple[bool, ...]:
        here = corridor.walker
        ring_here = here == corridor.ring and not corridor.holding
        return ring_here, corridor.holding, here == 0, here == corridor.length - 1

    def size(self, corridor: Corridor) -> int:
        return corridor.length


# ---------------------------------------------------------------------------------------------------------------------
# 5. A bit to be remembered: what the signal showed decides what is to be done at the lever behind it.
#
# DRIVE, for (signal, red, lever, thrown, at_end), the previous action, and `was_red`, a bit of memory:
#   signal red lever thrown at_end   previous   was_red | action
#   1      1   0     0      0        not WHISTLE *      | WHISTLE
#   1      1   0     0      0        WHISTLE    *       | RIGHT
#   1      0   0     0      0        *          *       | RIGHT
#   0      0   0     0      0        *          *       | RIGHT          (plain track)
#   0      0   1     0      *        *          1       | THROW
#   0      0   1     0      0        *          0       | RIGHT
#   0      0   1     0      1        *          0       | STOP
#   0      0   1     1      0        *          *       | RIGHT
#   0      0   1     1      1        *          *       | STOP
# The lever is one or two steps behind its signal, and always reached by RIGHT with the same observation: the previous
# action does not tell. Two ways to know `was_red`, both with a fixed window:
#   actions alone: WHISTLE is among the last three actions;
#   observations: `red` is in the observation one step ago, or two steps ago with plain track in between.
# Memory needed: the last three actions, or the observations of the last two steps.


class Train(NamedTuple):
    """A line of stations, each a signal, possibly a piece of plain track, and a lever; and where the train is."""

    line: str  # R and G: a red and a green signal, "-": plain track, L: a lever
    train: int
    whistled: tuple[int, ...]  # the places of the signals at which it whistled
    thrown: tuple[int, ...]  # the places of the levers that were thrown


class Signals(Environment[Train]):
    """Drives past signals and levers. The size is the number of stations."""

    fields = ("signal", "red", "lever", "thrown", "at_end")
    train_sizes = (1, 2, 3)
    validation_size = 7
    test_sizes = (10, 30, 100)

    @action(pre=lambda state: state.train + 1 < len(state.line))
    def RIGHT(self, state: Train) -> Train:
        """Drive on."""
        return state._replace(train=state.train + 1)

    @action(pre=lambda state: state.line[state.train] == "R" and state.train not in state.whistled)
    def WHISTLE(self, state: Train) -> Train:
        """Whistle, which makes sense at a red signal only, and once."""
        return state._replace(whistled=(*state.whistled, state.train))

    @action(pre=lambda state: state.line[state.train] == "L" and state.train not in state.thrown)
    def THROW(self, state: Train) -> Train:
        """Throw the lever, which cannot be undone."""
        return state._replace(thrown=(*state.thrown, state.train))

    @program(
        level=1,
        depth=lambda state: 5 * state.line.count("L") + 2,
        pre=lambda state: state.train == 0 and not state.whistled and not state.thrown,
    )
    def DRIVE(self, before: Train, after: Train) -> bool:
        """Whistle at every red signal, throw the levers behind red signals and no others, and end at the end."""
        whistled = tuple(place for place, piece in enumerate(before.line) if piece == "R")
        thrown = tuple(before.line.index("L", place) for place in whistled)
        return after == Train(before.line, len(before.line) - 1, whistled, thrown)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Train:
        line = "".join(("RL", "GL", "R-L", "G-L")[kind] for kind in rng.integers(4, size=size))
        return Train(line, train=0, whistled=(), thrown=())

    def observe(self, state: Train) -> tuple[bool, ...]:
        piece = state.line[state.train]
        return (
            piece in "RG",
            piece == "R",
            piece == "L",
            state.train in state.thrown,
            state.train == len(state.line) - 1,
        )

    def size(self, state: Train) -> int:
        return state.line.count("L")
