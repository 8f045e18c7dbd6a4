"""A knock-out tournament: two named parts, what each of them gives is kept until both are known."""

from typing import NamedTuple

import numpy as np

from alphanpi import Environment, action, program, subproblem


class Draw(NamedTuple):
    """The players `strengths[start:end]`, and who is known to have won, by place: of each half, and of all."""

    strengths: tuple[int, ...]
    start: int
    end: int
    upper_winner: int | None = None
    lower_winner: int | None = None
    champion: int | None = None


def middle(draw: Draw) -> int | None:
    """Where the lower half begins, if there is more than one player."""
    return (draw.start + draw.end) // 2 if draw.end - draw.start > 1 else None


def upper_half(draw: Draw) -> Draw | None:
    """The first half, to be played once."""
    border = middle(draw)
    return None if border is None or draw.upper_winner is not None else Draw(draw.strengths, draw.start, border)


def lower_half(draw: Draw) -> Draw | None:
    """The other half, to be played once."""
    border = middle(draw)
    return None if border is None or draw.lower_winner is not None else Draw(draw.strengths, border, draw.end)


class Tournament(Environment[Draw]):
    """The strongest player by a knock-out tournament. Nobody sees more than two players at once."""

    fields = ("one_player", "upper_known", "lower_known", "lower_is_stronger", "decided")
    train_sizes = (1, 2, 3, 4)
    validation_size = 7
    test_sizes = (10, 40, 100)

    upper = subproblem(enter=upper_half, leave=lambda draw, half: draw._replace(upper_winner=half.champion))
    lower = subproblem(enter=lower_half, leave=lambda draw, half: draw._replace(lower_winner=half.champion))

    @action(pre=lambda draw: middle(draw) is None)
    def WALK_OVER(self, draw: Draw) -> Draw:
        """The only player wins."""
        return draw._replace(champion=draw.start)

    @action(pre=lambda draw: draw.upper_winner is not None)
    def UPPER_WINS(self, draw: Draw) -> Draw:
        """The winner of the upper half wins."""
        return draw._replace(champion=draw.upper_winner)

    @action(pre=lambda draw: draw.lower_winner is not None)
    def LOWER_WINS(self, draw: Draw) -> Draw:
        """The winner of the lower half wins."""
        return draw._replace(champion=draw.lower_winner)

    @program(
        level=1,
        depth=4,
        pre=lambda draw: draw.upper_winner is draw.lower_winner is draw.champion is None,
        recursive=(upper, lower),
    )
    def PLAY(self, before: Draw, after: Draw) -> bool:
        """Find one of the strongest players."""
        kept = before._replace(
            upper_winner=after.upper_winner, lower_winner=after.lower_winner, champion=after.champion
        )
        players, champion = range(before.start, before.end), after.champion
        strongest = max(before.strengths[player] for player in players)
        return (
            after == kept and champion is not None and champion in players and before.strengths[champion] == strongest
        )

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Draw:
        return Draw(tuple(rng.integers(10, size=size).tolist()), start=0, end=size)

    def observe(self, draw: Draw) -> tuple[bool, ...]:
        upper, lower = draw.upper_winner, draw.lower_winner
        stronger = upper is not None and lower is not None and draw.strengths[lower] > draw.strengths[upper]
        return middle(draw) is None, upper is not None, lower is not None, stronger, draw.champion is not None

    def size(self, draw: Draw) -> int:
        return draw.end - draw.start
