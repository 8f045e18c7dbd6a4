"""The Tower of Hanoi for exported modules. The function above the marker stands in for the learned one."""

from __future__ import annotations

import sys


def hanoi(game: Game) -> None:
    """Solve the game."""
    raise NotImplementedError


# ---- runtime: everything below is copied into exported modules

SOURCE, AUXILIARY, TARGET = 0, 1, 2


class Table:
    """What all games inside one another share: disks from bottom to top (1 is the smallest), and roles."""

    def __init__(self, disks: int, roles: tuple[int, ...]) -> None:
        self.pillars: list[list[int]] = [[], [], []]
        self.pillars[roles[SOURCE]] = list(range(disks, 0, -1))
        self.roles = list(roles)  # the pillar that is now source, auxiliary, target
        self.moves: list[tuple[int, int, int]] = []  # disk, from, to


class Game:
    """Moving the smallest `disks` disks; larger ones are out of sight."""

    def __init__(self, disks: int, roles: tuple[int, ...] = (0, 1, 2), table: Table | None = None) -> None:
        self.disks = disks
        self.table = table or Table(disks, roles)
        self.target = self.table.roles[TARGET]

    def __str__(self) -> str:
        pillars = [
            f"{'ABC'[place]}: {' '.join(map(str, disks)) or '-'}" for place, disks in enumerate(self.table.pillars)
        ]
        source, _, target = self.table.roles
        return f"{'   '.join(pillars)}   from {'ABC'[source]} to {'ABC'[target]}"

    def without_largest_disk(self) -> Game:
        """The game inside this one."""
        return Game(self.disks - 1, table=self.table)

    def swap_s_a(self) -> None:
        """Source and auxiliary exchange roles."""
        roles = self.table.roles
        roles[SOURCE], roles[AUXILIARY] = roles[AUXILIARY], roles[SOURCE]

    def swap_a_t(self) -> None:
        """Auxiliary and target exchange roles."""
        roles = self.table.roles
        roles[AUXILIARY], roles[TARGET] = roles[TARGET], roles[AUXILIARY]

    def move_disk(self) -> None:
        """Move the top disk of the source to the target."""
        source, _, target = self.table.roles
        disk = self.table.pillars[source].pop()
        self.table.pillars[target].append(disk)
        self.table.moves.append((disk, source, target))

    def top(self, role: int) -> int:
        """Smallest disk on the pillar of that role; more than `disks` where there is none of this game."""
        pillar = self.table.pillars[self.table.roles[role]]
        return min(pillar[-1], self.disks + 1) if pillar else self.disks + 1

    @property
    def one_disk(self) -> bool:
        """Whether there is a single disk."""
        return self.disks == 1

    @property
    def source_to_auxiliary(self) -> bool:
        """Whether the top disk of the source may go on the auxiliary."""
        return self.top(SOURCE) < self.top(AUXILIARY)

    @property
    def auxiliary_to_target(self) -> bool:
        """Whether the top disk of the auxiliary may go on the target."""
        return self.top(AUXILIARY) < self.top(TARGET)

    @property
    def source_to_target(self) -> bool:
        """Whether the top disk of the source may go on the target."""
        return self.top(SOURCE) < self.top(TARGET)

    @property
    def solved(self) -> bool:
        """Whether all disks are on the pillar that was the target at the beginning and is it now."""
        pillar = self.table.pillars[self.target]
        everything = len(pillar) >= self.disks and pillar[-self.disks] == self.disks
        return everything and self.table.roles[TARGET] == self.target


def solve(disks: int) -> list[tuple[int, int, int]]:
    """The moves that bring that many disks from pillar 0 to pillar 2, as (disk, from, to)."""
    game = Game(disks)
    hanoi(game)
    return game.table.moves


if __name__ == "__main__":
    given = " ".join(sys.argv[1:])
    if not given.strip().isdecimal() or int(given) < 1:
        sys.exit(f"{given!r} is not a number of disks; give 1 or more")
    sys.stdout.writelines(
        f"move disk {disk} from {'ABC'[origin]} to {'ABC'[destination]}\n"
        for disk, origin, destination in solve(int(given))
    )
