"""Environments whose starts and outcomes are broken, and the finding each must give."""

from __future__ import annotations

import itertools

from alphanpi.environment.specification import program
from tests.helpers.broken_environments import Count, below_goal, goal_back, nearer, not_past_goal
from tests.helpers.complete import Complete


class EnumeratesAnotherSize(Complete):
    def enumerate(self, program, size):
        return super().enumerate(program, size + 1)


class EnumeratesWhereItIsIllegal(Complete):
    def enumerate(self, program, size):
        return (Count(value, size) for value in range(size + 1))


class EnumeratesNothing(Complete):
    def enumerate(self, program, size):
        return iter(())


class EnumeratesNoneOfSizeTwo(Complete):
    def enumerate(self, program, size):
        return iter(()) if size == 2 else super().enumerate(program, size)


class EnumeratesOnlyZero(Complete):
    def enumerate(self, program, size):
        yield Count(0, size)


class EnumeratesWhatIsDrawnOnly(Complete):
    """Starts are at zero; calls are not."""

    enumerate = EnumeratesOnlyZero.enumerate

    def initial(self, program, size, rng):
        return Count(0, size)


class EnumeratesLists(Complete):
    def enumerate(self, program, size):
        yield [0, size]


class EnumerateRaises(Complete):
    def enumerate(self, program, size):
        yield Count(0, size)
        raise LookupError("no more")


class EnumeratesWithoutEnd(Complete):
    def enumerate(self, program, size):
        return itertools.repeat(Count(0, size))


class EnumerateIsUsedUp(Complete):
    def __init__(self):
        self.states = {
            (name, size): super(EnumerateIsUsedUp, self).enumerate(name, size)
            for name in ("STEP", "REACH")
            for size in range(1, 9)
        }

    def enumerate(self, program, size):
        return self.states[program, size]


class CalledBelowItsMinimum(Complete):
    @program(level=1, depth=4, pre=below_goal, minimum_size=2)
    def STEP(self, before, after):
        return after == before._replace(value=before.value + 1)


class OutcomeBreaksPost(Complete):
    def outcomes(self, program, before):
        yield before._replace(value=before.goal)


class OutcomesAreEmpty(Complete):
    def outcomes(self, program, before):
        return iter(())


class OutcomesLackOne(Complete):
    @program(level=2, depth=8, pre=not_past_goal, recursive=True, shrink=nearer, restore=goal_back)
    def REACH(self, before, after):
        return after.value in (0, before.goal) and after.goal == before.goal


class OutcomesAreUsedUp(Complete):
    def __init__(self):
        self.told = set()

    def outcomes(self, program, before):
        if before not in self.told:
            self.told.add(before)
            yield from super().outcomes(program, before)


class OutcomesWithoutEnd(Complete):
    def outcomes(self, program, before):
        return itertools.cycle(super().outcomes(program, before))


class OutcomesRaise(Complete):
    def outcomes(self, program, before):
        yield before._replace(value=1 // (before.value - 1))


class RelativeIsAList(Complete):
    def relative(self, program, after):
        return [after.value]


class RelativeFlips(Complete):
    calls = 0

    def relative(self, program, after):
        self.calls += 1
        return self.calls


BROKEN_STARTS = [
    (EnumeratesAnotherSize, "enumerate", "STEP", "at size 1 yields a state of size 2"),
    (EnumeratesWhereItIsIllegal, "enumerate", "STEP", "the pre-condition does not hold"),
    (EnumeratesNothing, "enumerate", "REACH", "yields nothing at size 1"),
    (EnumeratesNoneOfSizeTwo, "enumerate", "STEP", "yields nothing at size 2"),
    (EnumeratesOnlyZero, "enumerate", "REACH", "a problem that initial draws begins"),
    (EnumeratesWhatIsDrawnOnly, "enumerate", "STEP", "a call by REACH in Count(value=1"),
    (EnumeratesWhatIsDrawnOnly, "enumerate", "REACH", "the field 'at_start' is 0 here and 1 there"),
    (EnumeratesLists, "specification", "STEP", "enumerate of STEP at size 1: unhashable state: a list"),
    (EnumerateRaises, "raises", "REACH", "enumerate of REACH at size 1: LookupError: no more"),
    (EnumeratesWithoutEnd, "enumerate", "STEP", "it must end"),
    (EnumerateIsUsedUp, "enumerate", "STEP", "different states the second time"),
    (CalledBelowItsMinimum, "minimum_size", "STEP", "REACH may call it at size 1, below its minimum_size 2"),
    (OutcomeBreaksPost, "outcomes", "STEP", "where the post-condition is false"),
    (OutcomesAreEmpty, "outcomes", "REACH", "outcomes is empty and lacks"),
    (OutcomesLackOne, "outcomes", "REACH", "lacks Count(value=0"),
    (OutcomesAreUsedUp, "outcomes", "STEP", "different states the second time"),
    (OutcomesWithoutEnd, "outcomes", "REACH", "it must end"),
    (OutcomesRaise, "raises", "STEP", "outcomes of STEP"),
    (RelativeIsAList, "raises", "STEP", "unhashable type: 'list'"),
    (RelativeFlips, "purity", "REACH", "relative gives two different results"),
]
