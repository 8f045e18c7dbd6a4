"""The Tower of Hanoi, recursive: three pillars whose roles may be exchanged, and n disks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any, ClassVar, NamedTuple

import numpy as np

from alphanpi.environment.cutoff import Condition, Cutoff
from alphanpi.environment.scene import Scene
from alphanpi.environment.specification import Environment, action, program
from alphanpi.environment.standalone import Standalone, runtime_source
from alphanpi.environment.walks import random_walk, walk_side_by_side
from alphanpi.environments.hanoi_picture import picture
from alphanpi.errors import UsageError
from alphanpi.symbolic import Unknowns, every, first, length, replaced

SOURCE, AUXILIARY, TARGET = 0, 1, 2
PILLARS = "ABC"


class Towers(NamedTuple):
    """Only the `disks` smallest disks exist for the current game; larger ones are out of sight and reach."""

    position: tuple[int, ...]  # pillar of every disk, smallest disk first; may hold more than `disks` entries
    roles: tuple[int, int, int]  # pillar that is now source, auxiliary, target
    disks: int
    initial_roles: tuple[int, int, int]  # roles at the beginning of the current game

    def top(self, role: int) -> int:
        """Smallest disk of the game on the pillar of that role; `disks` where there is none."""
        pillar = self.roles[role]
        return first(0, self.disks, lambda disk: self.position[disk] == pillar)

    def movable(self, origin: int, destination: int) -> bool:
        """Whether the top disk of one role's pillar may go on another's."""
        return self.top(origin) < self.top(destination)

    def all_on(self, pillar: int) -> bool:
        """Whether every disk of the game is on that pillar."""
        return every(0, self.disks, lambda disk: self.position[disk] == pillar)


def begun(state: Towers) -> bool:
    """Every disk of the game is on the source, and no roles have been exchanged."""
    return state.roles == state.initial_roles and state.all_on(state.roles[SOURCE])


def are_pillars(roles: tuple[int, int, int]) -> bool:
    """Whether every pillar has one role."""
    source, auxiliary, target = roles
    return all(role in (0, 1, 2) for role in roles) and source != auxiliary != target != source


def without_largest_disk(state: Towers) -> Towers | None:
    """The inner game: one disk fewer, begun with the roles as they are now."""
    if state.disks == 1:
        return None
    return state._replace(disks=state.disks - 1, initial_roles=state.roles)


def with_callers_game(caller: Towers, callee: Towers) -> Towers:
    """The outer game again, with the disks and roles as the inner one left them."""
    return callee._replace(disks=caller.disks, initial_roles=caller.initial_roles)


def several_disks(state: Towers) -> bool:
    """Exchanging roles is pointless, and forbidden, with a single disk."""
    return state.disks > 1


class Hanoi(Environment[Towers]):
    """Tower of Hanoi, solved recursively."""

    fields = ("source_to_auxiliary", "auxiliary_to_target", "source_to_target", "one_disk", "solved")
    size_unit = ("disk", "disks")
    train_sizes: ClassVar = (1, 2)
    validation_size: ClassVar = 3
    test_sizes: ClassVar = (2, 5, 10, 12, 15)

    @action(pre=several_disks)
    def SWAP_S_A(self, state: Towers) -> Towers:
        """Source and auxiliary exchange roles."""
        source, auxiliary, target = state.roles
        return state._replace(roles=(auxiliary, source, target))

    @action(pre=several_disks)
    def SWAP_A_T(self, state: Towers) -> Towers:
        """Auxiliary and target exchange roles."""
        source, auxiliary, target = state.roles
        return state._replace(roles=(source, target, auxiliary))

    @action(pre=lambda state: state.movable(SOURCE, TARGET))
    def MOVE_DISK(self, state: Towers) -> Towers:
        """Move the top disk of the source to the target."""
        return state._replace(position=replaced(state.position, state.top(SOURCE), state.roles[TARGET]))

    @program(
        level=1,
        depth=8,
        pre=begun,
        recursive=True,
        shrink=without_largest_disk,
        restore=with_callers_game,
    )
    def HANOI(self, before: Towers, after: Towers) -> bool:
        """Move all disks from the source to the target."""
        return (
            after.all_on(before.initial_roles[TARGET])
            and after.roles == before.initial_roles
            and after.position[before.disks :] == before.position[before.disks :]
            and (after.disks, after.initial_roles) == (before.disks, before.initial_roles)
        )

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Towers:
        """All disks on the source, roles in random order."""
        source, auxiliary, target = (int(pillar) for pillar in rng.permutation(3))
        return self._start(size, (source, auxiliary, target))

    def enumerate(self, program: str, size: int) -> Iterator[Towers]:
        """All disks on the source, roles in every order."""
        for source, auxiliary, target in permutations(range(3)):
            yield self._start(size, (source, auxiliary, target))

    def outcomes(self, program: str, before: Towers) -> Iterator[Towers]:
        """The one state of a solved game."""
        target = before.initial_roles[TARGET]
        position = (*(target,) * before.disks, *before.position[before.disks :])
        yield before._replace(position=position, roles=before.initial_roles)

    def cutoff(self) -> Cutoff | None:
        """For this class alone: a subclass may change what the proof rests on."""
        return CUTOFF if type(self) is Hanoi else None

    def symbolic(self, unknown: Unknowns) -> Towers:
        """Any number of disks anywhere, any roles."""
        roles, initial_roles = ((unknown.number(), unknown.number(), unknown.number()) for _ in range(2))
        return Towers(unknown.numbers(), roles, unknown.number(), initial_roles)

    def valid(self, state: Towers) -> bool:
        """Every disk is on a pillar, and every pillar has a role."""
        return (
            1 <= state.disks <= length(state.position)
            and are_pillars(state.roles)
            and are_pillars(state.initial_roles)
            and every(0, length(state.position), lambda disk: state.position[disk] in (0, 1, 2))
        )

    def observe(self, state: Towers) -> tuple[bool, ...]:
        """Which moves are possible, whether there is a single disk, whether the game is solved."""
        target = state.initial_roles[TARGET]
        return (
            state.movable(SOURCE, AUXILIARY),
            state.movable(AUXILIARY, TARGET),
            state.movable(SOURCE, TARGET),
            state.disks == 1,
            state.roles[TARGET] == target and state.all_on(target),
        )

    def size(self, state: Towers) -> int:
        """Number of disks of the current game."""
        return state.disks

    def standalone(self) -> Standalone[Towers]:
        """Plain Python for exported modules."""
        return Standalone(
            parameter="game",
            class_name="Game",
            source=runtime_source("alphanpi.environments.standalone.hanoi"),
            arguments=lambda state: (state.disks, state.roles),
            agrees=lambda state, game: (
                tuple(game.table.roles) == state.roles
                and all(disk + 1 in game.table.pillars[place] for disk, place in enumerate(state.position))
            ),
            inner={"HANOI": "without_largest_disk"},
        )

    def parse(self, program: str, text: str) -> Towers:
        """Read a number of disks; they start on pillar A and go to C."""
        if not text.strip().isdecimal() or int(text) < 1:
            raise UsageError(f"hanoi: {text!r} is not a number of disks; give 1 or more")
        return self._start(int(text), (0, 1, 2))

    def format(self, state: Towers) -> str:
        """Disks of each pillar from bottom to top, numbered by size from 1."""
        pillars = []
        for pillar, name in enumerate(PILLARS):
            disks = [str(disk + 1) for disk, place in enumerate(state.position) if place == pillar]
            pillars.append(f"{name}: {' '.join(reversed(disks)) or '-'}")
        return "   ".join(pillars)

    def render(self, state: Towers) -> Scene:
        """Pillars with their disks, and the current roles below them."""
        return picture(state.position, state.roles, state.disks)

    def result(self, program: str, final: Towers, actions: Sequence[Any]) -> str:
        """The moves, one per line; the final pillars where no steps were kept."""
        moves = []
        for step in actions:
            if step.action == "MOVE_DISK":
                disk = step.state.top(SOURCE)
                origin, destination = step.state.roles[SOURCE], step.state.roles[TARGET]
                moves.append(f"move disk {disk + 1} from {PILLARS[origin]} to {PILLARS[destination]}")
        return "\n".join(moves) or self.format(final)

    @staticmethod
    def _start(size: int, roles: tuple[int, int, int]) -> Towers:
        if size < 1:
            raise UsageError(f"hanoi: no game has {size} disks; give 1 or more")
        return Towers((roles[SOURCE],) * size, roles, size, roles)


def block_together(state: Towers) -> bool:
    """All disks of the game but the largest are on one pillar."""
    return len(set(state.position[: state.disks - 1])) <= 1


def keeps_block(state: Towers, action: str) -> bool:
    """Whether an action leaves the block on one pillar."""
    return action != "MOVE_DISK" or state.position[0] != state.roles[SOURCE]


def _examine(environment: Environment[Towers], rng: np.random.Generator) -> str | None:
    """Walk at random in a small and in a larger game, keeping the block together: they must look the same."""
    source, auxiliary, target = (int(pillar) for pillar in rng.permutation(3))
    roles = (source, auxiliary, target)
    small, large = (Towers((source,) * disks, roles, disks, roles) for disks in (3, int(rng.integers(4, 13))))
    walk = random_walk(environment, "HANOI", small, rng, steps=8, allowed=keeps_block)
    return walk_side_by_side(environment, "HANOI", (small, large), walk.actions)


CUTOFF = Cutoff(
    text=(
        "Let no run at 1, 2 and 3 disks violate its contract, and let the block, all disks but the largest, stand on "
        "one pillar at every step of every run at 3 disks. Then no run at n > 3 disks violates its contract, and each "
        "shows the network a sequence that a run at 3 disks shows it. Proof: while the block is together, a state is "
        "given by n, the roles, and the pillars of the block and of the largest disk. The tops of the pillars are "
        "ordered in the same way at every n >= 2: block below largest disk below empty pillar. So all observations, "
        "legal actions and the post-condition are the same functions of roles, block and largest disk at every n >= 2. "
        "SWAP_S_A and SWAP_A_T act on the roles alone. A call of HANOI is legal where the block is on the source; by "
        "its contract it moves the block to the target and leaves all else. MOVE_DISK with the block on the source "
        "would split it at 3 disks, and does not occur there; otherwise it moves the largest disk. So a run at n "
        "follows a run at 3 disks step by step: same sequence, same actions, same verdict, and every call of HANOI is "
        "made with n - 1 < n disks."
    ),
    sizes={"HANOI": 3},
    conditions=(
        Condition(
            program="HANOI",
            text="at 3 or more disks, all disks but the largest are on one pillar at every step",
            from_size=3,
            where="steps",
            holds=block_together,
        ),
    ),
    examine=_examine,
)
