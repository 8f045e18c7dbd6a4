"""Small environments, each with one optional member broken, and the finding it must give."""

from __future__ import annotations

import sys

from alphanpi.environment.scene import Scene, circle
from alphanpi.environment.specification import Environment
from tests.helpers.broken_environments import Count, Counter
from tests.helpers.complete import SOURCE, Cells, Complete, Ordering, runtime


class StandaloneDoesNotParse(Complete):
    def standalone(self):
        return runtime(source="class Tally: def")


class StandaloneHasAnotherClass(Complete):
    def standalone(self):
        return runtime(class_name="Tallies")


class StandaloneLacksAnAction(Complete):
    def standalone(self):
        return runtime(source=SOURCE.replace("def down", "def lower"))


class StandaloneLacksInner(Complete):
    def standalone(self):
        return runtime(inner={})


class StandaloneInnerIsNoMethod(Complete):
    def standalone(self):
        return runtime(inner={"REACH": "closer"})


class StandaloneLacksAField(Complete):
    def standalone(self):
        return runtime(fields={})


class StandaloneFieldIsWrong(Complete):
    def standalone(self):
        return runtime(fields={"goal_is_one": "tally.goal == 2"})


class StandaloneActsDifferently(Complete):
    def standalone(self):
        return runtime(source=SOURCE.replace("self.cell[0] -= 1", "self.cell[0] = 0"))


class StandaloneSharesNothing(Complete):
    def standalone(self):
        return runtime(source=SOURCE.replace("Tally(self.cell, self", "Tally(list(self.cell), self"))


class StandaloneAgreesWithAll(Complete):
    def standalone(self):
        return runtime(agrees=lambda state, tally: True)


class StandaloneAgreesWithNone(Complete):
    def standalone(self):
        return runtime(agrees=lambda state, tally: False)


class StandaloneArgumentsRaise(Complete):
    def standalone(self):
        return runtime(arguments=lambda state: state.cells)


class ParseReturnsNone(Complete):
    def parse(self, program, text):
        return Count(*map(int, text.split("/"))) if "/" in text else None


class ParseExits(Complete):
    def parse(self, program, text):
        return Count(*map(int, text.split("/"))) if "/" in text else sys.exit("no")


class FormatReturnsNone(Complete):
    def format(self, state):
        pass


class FormatFlips(Complete):
    calls = 0

    def format(self, state):
        self.calls += 1
        return f"{self.calls}: {state.value}"


class ResultReturnsBytes(Complete):
    def result(self, program, final, actions):
        return b"done"


class ResultCannotReadSteps(Complete):
    def result(self, program, final, actions):
        return " ".join(step.name for step in actions)


class RenderRepeatsAnId(Complete):
    def render(self, state):
        return Scene(10, 10, (circle("value", 1, 5, 1), circle("value", 2, 5, 1)))


class RenderReturnsText(Complete):
    def render(self, state):
        return "o"


class RenderFlips(Complete):
    calls = 0

    def render(self, state):
        self.calls += 1
        return Scene(10, 10, (circle("value", self.calls, 5, 1),))


class RenderHoldsNumbers(Complete):
    def render(self, state):
        return Scene(10, 10, (state.value,))


class DerivesTooMuch(Complete):
    def derive(self, observation):
        return observation[0], observation[1]


class DerivesAHalf(Complete):
    def derive(self, observation):
        return (0.5,)


class DeriveFlips(Complete):
    calls = 0

    def derive(self, observation):
        self.calls += 1
        return (self.calls % 2,)


class DerivedWithoutDerive(Complete):
    derive = Environment.derive


class DerivedIsAField(Complete):
    derived = ("at_goal",)


class SizesAreTexts(Complete):
    train_sizes = ("1", "2")  # type: ignore[assignment]


class BaseCaseNever(Complete):
    def base_case(self, program, state):
        return False


class BaseCaseFlips(Complete):
    calls = 0

    def base_case(self, program, state):
        self.calls += 1
        return self.calls % 2 == 0


class MeasureGoesBelowZero(Complete):
    def measure(self, program, state):
        return state.goal - 3


class MeasureStays(Complete):
    def measure(self, program, state):
        return 5


class LeaveForgetsForOthers(Complete):
    """Calls of STEP get a frame of their own, which is not undone."""

    def enter(self, state, program, caller=None):
        entered = super().enter(state, program, caller)
        return entered._replace(tag=1) if (program, caller) == ("STEP", "REACH") else entered

    def enumerate(self, program, size):
        return (state._replace(tag=tag) for state in super().enumerate(program, size) for tag in (0, 1))


class ObserveExits(Complete):
    def observe(self, state):
        return sys.exit("enough")


class Touchy(Count):
    """A state that cannot be compared."""

    __hash__ = Count.__hash__

    def __eq__(self, other):
        raise ArithmeticError("incomparable")

    def __ne__(self, other):
        raise ArithmeticError("incomparable")


class StatesCannotBeCompared(Counter):
    def initial(self, program, size, rng):
        return Touchy(0, size)


class OrderingSubtracts(Ordering):
    def observe(self, state):
        return (state.values[0] - state.values[1] > 0,)


class OrderingLooksAtTypes(Ordering):
    def observe(self, state):
        return (type(state.values[0]) is int and state.values[0] > state.values[1],)


class TemplatesOfAnotherSize(Ordering):
    def templates(self, program, size, values):
        yield Cells(tuple(values)[1:])


class TemplatesLackSome(Ordering):
    def templates(self, program, size, values):
        yield Cells(tuple(sorted(values)))


class TemplatesCountValues(Ordering):
    def templates(self, program, size, values):
        yield Cells(tuple(values))
        if values[0] == values[1]:
            yield Cells(tuple(values))


class TemplatesRaise(Ordering):
    def templates(self, program, size, values):
        yield Cells(tuple(range(len(values) // 0)))


class SeldomIllegal(Counter):
    """One start in thirty is of another size."""

    def initial(self, program, size, rng):
        return Count(0, size + (rng.random() < 1 / 30))


class SeldomRaises(Counter):
    """In one state of many."""

    def observe(self, state):
        if state == Count(3, 4):
            raise OverflowError("three of four")
        return super().observe(state)


BROKEN_MEMBERS = [
    (StandaloneDoesNotParse, "raises", None, "standalone: its source: SyntaxError"),
    (StandaloneHasAnotherClass, "standalone", None, "its source has no class Tallies"),
    (StandaloneLacksAnAction, "standalone", "DOWN", "the class Tally has no method down"),
    (StandaloneLacksInner, "standalone", "REACH", "inner names no method"),
    (StandaloneInnerIsNoMethod, "standalone", "REACH", "inner says 'closer'"),
    (StandaloneLacksAField, "raises", "STEP", "standalone: the field 'goal_is_one': AttributeError"),
    (StandaloneFieldIsWrong, "standalone", "STEP", "the field 'goal_is_one' is False and should be 1"),
    (StandaloneActsDifferently, "standalone", "REACH", "and should be"),
    (StandaloneSharesNothing, "standalone", "REACH", "and back the field"),
    (StandaloneAgreesWithAll, "standalone", None, "agrees says yes to every one of"),
    (StandaloneAgreesWithNone, "standalone", "STEP", "after nothing agrees says that the object is not in"),
    (StandaloneArgumentsRaise, "raises", "STEP", "standalone: arguments: AttributeError"),
    (ParseReturnsNone, "parse", "STEP", "parse returned None for ''"),
    (ParseExits, "parse", "REACH", "parse ends Python at ''"),
    (FormatReturnsNone, "specification", "STEP", "format: it returned a NoneType"),
    (FormatFlips, "purity", "STEP", "format gives two different results"),
    (ResultReturnsBytes, "specification", "STEP", "result: it returned a bytes"),
    (ResultCannotReadSteps, "raises", "STEP", "result of STEP"),
    (RenderRepeatsAnId, "specification", "STEP", "two shapes have the id 'value'"),
    (RenderReturnsText, "specification", "STEP", "not a Scene"),
    (RenderFlips, "purity", "STEP", "render gives two different results"),
    (RenderHoldsNumbers, "raises", "STEP", "render: AttributeError: 'int' object has no attribute 'id'"),
    (DerivesTooMuch, "specification", "STEP", "derive: it returned 2 values for 1 names"),
    (DerivesAHalf, "specification", "STEP", "derive: 'at_either' is 0.5"),
    (DeriveFlips, "derive", "STEP", "two different results for one observation"),
    (DerivedWithoutDerive, "raises", "STEP", "derive"),
    (DerivedIsAField, "specification", None, "'at_goal' is a field"),
    (SizesAreTexts, "specification", None, "`train_sizes` holds '1'"),
    (BaseCaseNever, "base_case", "REACH", "gets the recursion penalty"),
    (BaseCaseFlips, "purity", "REACH", "base_case gives two different results"),
    (MeasureGoesBelowZero, "specification", "REACH", "measure: it returned -1"),
    (MeasureStays, "measure", "REACH", "takes the measure from 5 to 5"),
    (LeaveForgetsForOthers, "frame", "REACH", "leaving a call of STEP at once does not give the caller's state"),
    (ObserveExits, "raises", "STEP", "SystemExit: enough"),
    (StatesCannotBeCompared, "raises", "STEP", "ArithmeticError: incomparable"),
    (SeldomRaises, "raises", "REACH", "three of four"),
    (OrderingSubtracts, "templates", "ORDER", "with unknown values at size 2"),
    (OrderingLooksAtTypes, "templates", "ORDER", "unknown values that compare alike"),
    (TemplatesOfAnotherSize, "templates", "ORDER", "at size 2 yields a state of size 1"),
    (TemplatesLackSome, "templates", "ORDER", "templates at size 2 lacks"),
    (TemplatesCountValues, "templates", "ORDER", "depends on the values: 1 or 2"),
    (TemplatesRaise, "raises", "ORDER", "templates of ORDER at size 2: ZeroDivisionError"),
]
