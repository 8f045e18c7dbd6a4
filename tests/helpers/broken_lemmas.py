"""Environments whose lemma is broken, and the finding each must give."""

from __future__ import annotations

from alphanpi.environment.cutoff import Condition
from tests.helpers.complete import Complete, lemma, returns_none


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


BROKEN_LEMMAS = [
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
]
