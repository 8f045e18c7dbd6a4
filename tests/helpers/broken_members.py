"""An environment with every optional member, and others with one mistake in one of them each."""

from __future__ import annotations

import itertools
import sys
from typing import ClassVar, NamedTuple

from alphanpi.environment.checking.enumeration import order_patterns
from alphanpi.environment.cutoff import Condition, Cutoff
from alphanpi.environment.scene import Scene, circle
from alphanpi.environment.specification import Environment, action, program
from alphanpi.environment.standalone import Standalone
from alphanpi.errors import UsageError
from tests.helpers.broken_environments import Count, Counter, below_goal, goal_back, nearer, not_past_goal

SOURCE = """
class Tally:
    def __init__(self, cell, goal):
        self.cell = cell
        self.goal = goal

    def nearer(self):
        return Tally(self.cell, self.goal - 1)

    def up(self):
        self.cell[0] += 1

    def down(self):
        self.cell[0] -= 1

    @property
    def at_goal(self):
        return self.cell[0] == self.goal

    @property
    def at_start(self):
        return self.cell[0] == 0

    @property
    def at_either(self):
        return self.at_goal or self.at_start
"""


def runtime(**changes) -> Standalone:
    offered = {
        "parameter": "tally",
        "class_name": "Tally",
        "source": SOURCE,
        "arguments": lambda state: ([state.value], state.goal),
        "agrees": lambda state, tally: (state.value, state.goal) == (tally.cell[0], tally.goal),
        "inner": {"REACH": "nearer"},
        "fields": {"goal_is_one": "tally.goal == 1"},
    }
    return Standalone(**{**offered, **changes})


def examined(environment, rng):
    size = int(rng.integers(5, 9))
    state = environment.initial("REACH", size, rng)
    return None if environment.size(state) == size else "the size is wrong"


def lemma(**changes) -> Cutoff:
    offered = {
        "text": "What is seen at 4 is all there is.",
        "sizes": {"STEP": 3, "REACH": 4},
        "conditions": (Condition("REACH", "the value is not negative", 2, "steps", lambda state: state.value >= 0),),
        "examine": examined,
    }
    return Cutoff(**{**offered, **changes})


def returns_none(state):
    pass


class Complete(Counter):
    """Has every optional member, but templates, in order."""

    derived = ("at_either",)

    def enumerate(self, program, size):
        return (Count(value, size) for value in range(size + (program == "REACH")))

    def outcomes(self, program, before):
        yield before._replace(value=before.value + 1 if program == "STEP" else before.goal)

    def cutoff(self):
        return lemma()

    def derive(self, observation):
        return (observation[0] or observation[1],)

    def standalone(self):
        return runtime()

    def parse(self, program, text):
        try:
            value, goal = map(int, text.split("/"))
        except ValueError:
            raise UsageError(f"{text!r}: write for example 1/3") from None
        return Count(value, goal)

    def format(self, state):
        return f"{state.value}/{state.goal}"

    def result(self, program, final, actions):
        return f"{len(actions)} {[step.action for step in actions]} {self.format(final)}"

    def render(self, state):
        return Scene(10, 10, (circle("value", state.value, 5, 1),))


class Cells(NamedTuple):
    """Values in a row; only the first two matter."""

    values: tuple[int, ...]


class Ordering(Environment[Cells]):
    """Put the first two values in order; values are only compared."""

    fields = ("greater",)
    train_sizes: ClassVar[tuple[int, ...]] = (2, 3)
    validation_size = 3

    @action()
    def SWAP(self, state):
        first, second, *others = state.values
        return Cells((second, first, *others))

    @program(level=1, depth=2, minimum_size=2)
    def ORDER(self, before, after):
        first, second, *others = before.values
        return after.values == ((second, first, *others) if first > second else before.values)

    def initial(self, program, size, rng):
        return Cells(tuple(rng.integers(10, size=size).tolist()))

    def observe(self, state):
        return (state.values[0] > state.values[1],)

    def size(self, state):
        return len(state.values)

    def enumerate(self, program, size):
        return map(Cells, order_patterns(size))

    def templates(self, program, size, values):
        yield Cells(tuple(values))


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


class CutoffOfAnotherProgram(Complete):
    def cutoff(self):
        return lemma(sizes={"STEP": 3, "REACHED": 4})


class CutoffBelowTheMinimum(Complete):
    def cutoff(self):
        return lemma(sizes={"STEP": 0, "REACH": 4})


class CutoffIsText(Complete):
    def cutoff(self):
        return "obvious"


class CutoffWithoutSizes(Complete):
    def cutoff(self):
        return lemma(sizes=None)


class CutoffExits(Complete):
    def cutoff(self):
        raise SystemExit


class ConditionOfAnotherProgram(Complete):
    def cutoff(self):
        return lemma(conditions=(Condition("RUN", "any", 1, "steps", lambda state: True),))


class ConditionReturnsNone(Complete):
    def cutoff(self):
        return lemma(conditions=(Condition("REACH", "any", 1, "steps", returns_none),))


class ConditionSomewhereElse(Complete):
    def cutoff(self):
        return lemma(conditions=(Condition("REACH", "any", 1, "everywhere", lambda state: True),))  # type: ignore[arg-type]


class ConditionRaises(Complete):
    def cutoff(self):
        return lemma(conditions=(Condition("REACH", "any", 1, "ends", lambda state: state.left),))


class ExamineRaises(Complete):
    def cutoff(self):
        return lemma(examine=lambda environment, rng: environment.nothing)


class ExamineRefutes(Complete):
    def cutoff(self):
        return lemma(examine=lambda environment, rng: "size 7 is different")


class ExamineReturnsTrue(Complete):
    def cutoff(self):
        return lemma(examine=lambda environment, rng: True)


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
    (CutoffOfAnotherProgram, "cutoff", None, "sizes names 'REACHED'; the programs are STEP, REACH"),
    (CutoffBelowTheMinimum, "cutoff", "STEP", "sizes says 0"),
    (CutoffIsText, "specification", None, "cutoff: it returned a str"),
    (ConditionOfAnotherProgram, "cutoff", None, "a condition names the program 'RUN'"),
    (ConditionReturnsNone, "cutoff", "REACH", "returned None"),
    (ConditionSomewhereElse, "cutoff", "REACH", "say steps or ends"),
    (ConditionRaises, "raises", "REACH", "has no attribute 'left'"),
    (CutoffWithoutSizes, "cutoff", None, "sizes maps each program to a size"),
    (CutoffExits, "raises", None, "cutoff: SystemExit"),
    (ExamineRaises, "raises", None, "examine of the lemma: AttributeError"),
    (ExamineRefutes, "cutoff", None, "examine refutes the lemma: size 7 is different"),
    (ExamineReturnsTrue, "cutoff", None, "examine returned True"),
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
