"""A garden with one tap: who goes for water has to come back to where he began, and the way has a size of its own."""

from typing import NamedTuple, Optional

import numpy as np

from alphanpi import Environment, action, program


class Garden(NamedTuple):
    """Plants in a row, a tap some steps to the right of the last one, and a gardener with a can."""

    dry: tuple[bool, ...]
    tap: int  # its place
    gardener: int  # his place
    full: bool  # the can
    begun: Optional["Garden"] = None  # where the call under way began


def at_dry_plant(garden: Garden) -> bool:
    """The plant here is dry."""
    return garden.gardener < len(garden.dry) and garden.dry[garden.gardener]


def watered(garden: Garden) -> tuple[bool, ...]:
    """The plants, the one here no longer dry."""
    return (*garden.dry[: garden.gardener], False, *garden.dry[garden.gardener + 1 :])


class WaterGarden(Environment[Garden]):
    """Waters the dry plants of a row. The size is the number of plants."""

    fields = ("dry", "full", "at_tap", "at_begin", "last_plant")
    train_sizes = (1, 2, 3)
    further_sizes = {"way": (1, 2)}  # noqa: RUF012 - from the last plant to the tap
    validation_size = 6
    test_sizes = (10, 30, 100)
    call_start = "begun"

    @action(pre=lambda garden: garden.gardener > 0)
    def LEFT(self, garden: Garden) -> Garden:
        """Walk a step to the left."""
        return garden._replace(gardener=garden.gardener - 1)

    @action(pre=lambda garden: garden.gardener < garden.tap)
    def RIGHT(self, garden: Garden) -> Garden:
        """Walk a step to the right."""
        return garden._replace(gardener=garden.gardener + 1)

    @action(pre=lambda garden: garden.gardener == garden.tap and not garden.full)
    def FILL(self, garden: Garden) -> Garden:
        """Fill the can."""
        return garden._replace(full=True)

    @action(pre=lambda garden: garden.full and at_dry_plant(garden))
    def POUR(self, garden: Garden) -> Garden:
        """Water the plant here."""
        return garden._replace(dry=watered(garden), full=False)

    @program(
        level=1,
        depth=lambda garden: 2 * (garden.tap - garden.gardener) + 3,
        pre=lambda garden: at_dry_plant(garden) and not garden.full,
    )
    def WATER(self, before: Garden, after: Garden) -> bool:
        """Water the plant here, and be back."""
        return after == before._replace(dry=watered(before))

    @program(
        level=2,
        depth=lambda garden: 2 * len(garden.dry),
        pre=lambda garden: garden.gardener == 0 and not garden.full,
    )
    def WATER_ALL(self, before: Garden, after: Garden) -> bool:
        """Water all dry plants from left to right, and end at the last plant."""
        plants = len(before.dry)
        return after == before._replace(dry=(False,) * plants, gardener=plants - 1)

    def initial(self, program: str, size: int, rng: np.random.Generator, way: int = 1) -> Garden:
        dry = rng.integers(2, size=size).astype(bool)
        gardener = 0
        if program == "WATER":
            gardener = int(rng.integers(size))
            dry[gardener] = True
        return Garden(tuple(dry.tolist()), tap=size - 1 + way, gardener=gardener, full=False)

    def observe(self, garden: Garden) -> tuple[bool, ...]:
        here = garden.gardener
        at_begin = garden.begun is not None and here == garden.begun.gardener
        return at_dry_plant(garden), garden.full, here == garden.tap, at_begin, here == len(garden.dry) - 1

    def size(self, garden: Garden) -> int:
        return len(garden.dry)
