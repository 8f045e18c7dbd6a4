"""The verifier: explores every program size by size, and says what that shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from alphanpi.engine.histories import Evaluator
from alphanpi.engine.tables import Failure
from alphanpi.errors import UsageError
from alphanpi.interpreter import Call, Interpreter
from alphanpi.model import NPINetwork
from alphanpi.spec import Environment, Program
from alphanpi.verification.decisions import Decisions
from alphanpi.verification.exploration import CounterExample, Explored, Explorer, LimitError
from alphanpi.verification.numerics import Numerics, Point, confirm
from alphanpi.verification.verdicts import Kind, Verdict

LEMMA_SAMPLES = 500
CONFIRMING_ACTIONS = 1_000_000


class Advance(NamedTuple):
    """A size of a program is complete."""

    program: str
    size: int
    runs: int
    done: int  # sizes of all programs completed so far
    total: int  # sizes of all programs, if nothing stops earlier


OnSize = Callable[[Advance], None]
"""Called whenever a size is complete."""


class Shown(NamedTuple):
    """What was shown of one program."""

    program: Program
    verdict: Verdict
    attempted: int  # the size up to which it was looked at, a fault included; 0 if none
    sizes: tuple[Explored, ...]  # completed without a violation
    invariant: tuple[str, ...]
    numerics: Numerics
    counter_example: CounterExample | None  # confirmed by a real run
    reasons: tuple[str, ...]  # why the verdict is not stronger


class Result(NamedTuple):
    """What was shown of all programs."""

    programs: tuple[Shown, ...]
    lemma_fault: str | None  # an instance on which the lemma turned out to be wrong


class _Progress:
    """How far one program has come."""

    def __init__(self, program: Program, limit: int) -> None:
        self.program = program
        self.limit = limit
        self.attempted = 0
        self.sizes: dict[int, Explored] = {}
        self.counter_example: CounterExample | None = None
        self.fault = ""  # the rule broken at the size attempted last, if any; no larger one is looked at
        self.limit_met = ""  # the limit that ended the exploration, if any

    def largest(self) -> int:
        return max(self.sizes, default=0)


class Verifier:
    """Verifies the greedy interpreter of any evaluator on an environment."""

    def __init__(
        self,
        environment: Environment[Any],
        evaluator: Evaluator,
        *,
        network: NPINetwork | None = None,
        max_size: int | None = None,
        time_limit: float | None = None,
        on_size: OnSize | None = None,
        limits: Mapping[str, int] | None = None,
    ) -> None:
        self.environment = environment
        self.library = environment.library
        self.evaluator = evaluator
        self.network = network
        self.cutoff = environment.cutoff()
        self.on_size = on_size
        self.max_size = max_size
        conditions = () if self.cutoff is None else self.cutoff.conditions
        deadline = float("inf") if time_limit is None else time.monotonic() + time_limit
        self.explorer = Explorer(environment, Decisions(self.library, evaluator), conditions, deadline)
        self.limits = dict(limits or {program.name: self._limit(program) for program in self.library.learned})
        too_large = [program for program in self.library.learned if program.minimum_size > self.limits[program.name]]
        if too_large and limits is None:
            name, least = too_large[0].name, too_large[0].minimum_size
            raise UsageError(f"--max-size {max_size}: {name} cannot start below size {least}; give at least {least}")

    def verify(self) -> Result:
        """Explore all sizes, then weigh what was seen."""
        progress = {program.name: _Progress(program, self.limits[program.name]) for program in self.library.learned}
        self._explore(progress)
        # Without a lemma nothing can be proved, and double precision could not change a verdict.
        network = None if self.cutoff is None else self.network
        numerics = confirm(
            self.explorer.decisions, self.evaluator, network, [_points(item) for item in progress.values()]
        )
        fault = self._examine_lemma()
        shown: dict[str, Shown] = {}
        for item, own in zip(progress.values(), numerics, strict=True):
            shown[item.program.name] = self._shown(item, own, fault, shown)
        return Result(tuple(shown.values()), fault)

    def _limit(self, program: Program) -> int:
        """As far as asked for; by default as far as the lemma needs, for this program and those that call it."""
        if self.max_size is not None:
            return self.max_size
        if self.cutoff is None:
            return max(self.environment.validation_size, program.minimum_size)
        callers = [
            caller.name
            for caller in self.library.learned
            if self.library.may_call(caller.name)[self.library.index_of(program.name)]
        ]
        return max(self.cutoff.sizes.get(name, program.minimum_size) for name in [program.name, *callers])

    def _explore(self, progress: dict[str, _Progress]) -> None:
        """All programs, size by size; a size that a limit cuts short leaves nothing behind."""
        invariants = self.explorer.contracts.invariants
        for size in range(1, max(self.limits.values()) + 1):
            for item in progress.values():
                name = item.program.name
                if item.fault or not item.program.minimum_size <= size <= item.limit:
                    continue
                sizes, invariant = dict(item.sizes), set(invariants.get(name, ()))
                try:
                    self._advance(item, size, progress)
                except LimitError as limit:
                    item.sizes, invariants[name] = sizes, invariant
                    for other in progress.values():
                        if not other.fault and other.attempted < other.limit:
                            other.limit_met = limit_reason(str(limit), other.program, other.attempted)
                    return
                item.attempted = size

    def _advance(self, item: _Progress, size: int, progress: dict[str, _Progress]) -> None:
        program = item.program

        def covered(callee: str, callee_size: int) -> bool:
            """Whether the contract of a call is shown: before, or, for a smaller measure, by this very induction."""
            return callee_size in progress[callee].sizes or (callee == program.name and callee_size == size)

        known = self.explorer.contracts.invariants.setdefault(program.name, set())
        explored = self.explorer.explore(program, size, covered)
        while not explored.views <= known:
            # A larger invariant allows more outcomes of the calls to itself: all sizes again, until nothing is added.
            known |= explored.views
            self._settle(item, known, covered)
            explored = self.explorer.explore(program, size, covered)
        for smaller in sorted(item.sizes):
            again = item.sizes[smaller]
            if again.counter_example is not None:
                self._fault(item, smaller, again.counter_example)
                return
        if explored.counter_example is not None:
            self._fault(item, size, explored.counter_example)
            return
        item.sizes[size] = explored
        if self.on_size is not None:
            done = sum(len(other.sizes) for other in progress.values())
            total = sum(other.limit - other.program.minimum_size + 1 for other in progress.values())
            self.on_size(Advance(program.name, size, explored.runs, done, total))

    def _settle(self, item: _Progress, known: set[Hashable], covered: Callable[[str, int], bool]) -> None:
        """Explore the completed sizes again until the invariant contains all their outcomes."""
        settled = False
        while not settled:
            count = len(known)
            for size in sorted(item.sizes):
                item.sizes[size] = self.explorer.explore(item.program, size, covered)
                known |= item.sizes[size].views
            settled = len(known) == count

    def _fault(self, item: _Progress, size: int, found: CounterExample) -> None:
        """A real run decides whether it is a fault of the agent or only of the contracts it was seen through."""
        for larger in [other for other in item.sizes if other >= size]:
            del item.sizes[larger]
        item.fault = f"at size {size}: {found.violation.text}"
        if found.violation.rule == "uncovered":
            return
        interpreter = Interpreter(self.environment, self.evaluator)
        (execution,) = interpreter.run([Call(item.program.name, found.start)], max_actions=CONFIRMING_ACTIONS)
        cut_off = execution.failure in (Failure.ACTIONS, Failure.CALL_DEPTH)
        if execution.success:
            item.fault += ", from an outcome that the contract of a call allows and the agent does not produce"
        elif cut_off and found.violation.rule != "measure":  # which means endless recursion, cut off in any case
            item.fault += f", but a real run was cut off after {execution.actions:,} actions and decides nothing"
        else:
            item.counter_example = found

    def _examine_lemma(self) -> str | None:
        if self.cutoff is None:
            return None
        for seed in range(LEMMA_SAMPLES):
            fault = self.cutoff.examine(self.environment, np.random.default_rng(seed))
            if fault is not None:
                return fault
        return None

    def _shown(self, item: _Progress, numerics: Numerics, fault: str | None, below: dict[str, Shown]) -> Shown:
        name = item.program.name
        called = {call.program for explored in item.sizes.values() for call in explored.calls} - {name}
        verdict, reasons = self._own_verdict(item, numerics, fault, called)
        for callee in sorted(called):
            weaker = verdict.given(below[callee].verdict)
            if weaker != verdict:
                reasons.append(f"it calls {callee}, which is {below[callee].verdict}")
            verdict = weaker
        invariant: set[Hashable] = self.explorer.contracts.invariants.get(name, set())
        return Shown(
            program=item.program,
            verdict=verdict,
            attempted=item.attempted,
            sizes=tuple(item.sizes[size] for size in sorted(item.sizes)),
            invariant=tuple(sorted(str(view) for view in invariant)),
            numerics=numerics,
            counter_example=item.counter_example,
            reasons=tuple(reasons),
        )

    def _own_verdict(
        self, item: _Progress, numerics: Numerics, fault: str | None, called: set[str]
    ) -> tuple[Verdict, list[str]]:
        """What is shown of a program if those it calls keep their contracts."""
        name, largest = item.program.name, item.largest()
        if item.counter_example is not None:
            return Verdict(Kind.REFUTED, self.environment.size(item.counter_example.start)), [item.fault]
        reasons = [item.fault] if item.fault else []
        ended = [item.limit_met] if item.limit_met else []
        if not item.sizes:
            return Verdict(Kind.BOUNDED, 0), [*ended, *reasons]
        saturated_from = largest
        while saturated_from - 1 in item.sizes and (
            item.sizes[saturated_from - 1].sequences == item.sizes[largest].sequences
        ):
            saturated_from -= 1
        saturated = saturated_from < largest and not item.fault
        if saturated_from == largest:
            reasons.append(f"its sequences still changed at size {largest}")
        if self.cutoff is None or name not in self.cutoff.sizes:
            reasons.append("the environment has no cut-off lemma for it")
        else:
            needed = self.cutoff.sizes[name]
            if largest < needed:
                reasons.append(f"the lemma needs every start up to size {needed}, {largest} was reached")
            broken = {number for explored in item.sizes.values() for number in explored.broken_conditions}
            for number, condition in enumerate(self.cutoff.conditions):
                if number in broken:
                    reasons.append(f"a condition of the lemma fails: {condition.text}")
                elif condition.program == name and condition.from_size > largest:
                    reasons.append(f"a condition of the lemma was not tried: {condition.text}")
            # Their invariants may have grown after the runs of this program: enough for its sizes, not for all.
            reasons += [
                f"it calls {callee}, which has an invariant; a lemma cannot rest on that of another program"
                for callee in sorted(called)
                if self.explorer.contracts.invariants.get(callee)
            ]
            if fault is not None:
                reasons.append(f"the lemma is wrong about this environment: {fault}")
        if not numerics.firm:
            reasons.append(f"margins of the decisions are not above {numerics.tolerance:g} in all arithmetics")
        if not reasons:
            return Verdict(Kind.PROVED, largest, saturated_from), reasons
        reasons = [*ended, *reasons]
        if saturated:
            return Verdict(Kind.SATURATED, largest, saturated_from), reasons
        return Verdict(Kind.BOUNDED, largest), reasons


def limit_reason(limit: str, program: Program, attempted: int) -> str:
    """How a program's reasons name a limit that ended the exploration."""
    return f"{limit} at size {max(attempted + 1, program.minimum_size)}"


def _points(item: _Progress) -> set[Point]:
    return {point for explored in item.sizes.values() for sequence in explored.sequences for point in sequence}
