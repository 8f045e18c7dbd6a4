"""The verifier: explores every program size by size, and says what that shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.engine.tables import Failure
from alphanpi.environment.specification import Environment, Program
from alphanpi.errors import UsageError
from alphanpi.network.decisions import Decisions
from alphanpi.network.evaluator import Evaluator
from alphanpi.network.model import NPINetwork
from alphanpi.verification import lemma
from alphanpi.verification.audit import Audit, Audited, Auditor, Claim, failing_run
from alphanpi.verification.exploration import (
    MOST_FAILING,
    TIME_MET,
    CounterExample,
    Covered,
    Explored,
    Explorer,
    LimitError,
    StartOrigin,
)
from alphanpi.verification.hidden import hidden_start
from alphanpi.verification.loops import LoopShown, LoopTable, contradiction, invariant_of
from alphanpi.verification.numerics import Numerics, confirm
from alphanpi.verification.progress import ProgramProgress
from alphanpi.verification.verdicts import NONE, Kind, Verdict, saturated_at

if TYPE_CHECKING:
    from alphanpi.proof.bodies import BodyShown

CONFIRMING_ACTIONS = 1_000_000
EXPLORING = 0.8
"""Share of the time after which no further sizes are explored; the rest is for real runs."""
NO_WINDOW = (
    "its lemma speaks of loops, and the agent remembers all of a call, which goes on for ever; only one with a finite "
    "memory can be proved: network.window"
)
NOT_TRIED = "the agent was not run beyond the sizes looked at: the time limit was met; raise --time-limit"


class Advance(NamedTuple):
    """A size of a program is complete."""

    program: str
    size: int
    runs: int
    done: int  # sizes of all programs completed so far
    total: int  # sizes of all programs, if nothing stops earlier


OnSize = Callable[[Advance], None]
"""Called whenever a size is complete."""


class ProgramShown(NamedTuple):
    """What was shown of one program."""

    program: Program
    verdict: Verdict
    attempted: int  # the size up to which it was looked at, a fault included; NONE if none
    sizes: tuple[Explored, ...]  # completed without a violation
    invariant: tuple[str, ...]
    loop: LoopShown | None  # the invariant of its body, if it is proved by one
    numerics: Numerics
    audited: Audited | None  # None where it was not run
    counter_example: CounterExample | None  # confirmed by a real run
    reasons: tuple[str, ...]  # why the verdict is not stronger
    proof: BodyShown | None = None  # where it was looked at by machine


class Trial(NamedTuple):
    """What was tried beyond the exploration."""

    lemma_fault: str | None  # an instance on which the lemma turned out to be wrong
    hidden: dict[str, str]  # of programs that fail below their minimum_size, how
    audit: Audit


class Verification(NamedTuple):
    """What was shown of all programs."""

    programs: tuple[ProgramShown, ...]
    trial: Trial | None  # None where it was not asked for, or time ran out
    timely: bool  # whether nothing was cut short by the clock


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
        tried: bool = True,
        interpreter: Interpreter | None = None,
    ) -> None:
        self.environment = environment
        self.library = environment.library
        self.evaluator = evaluator
        self.network = network
        self.on_size = on_size
        self.max_size = max_size
        self.tried = tried
        self.interpreter = interpreter or Interpreter(environment, evaluator)
        began = time.monotonic()
        self.deadline = float("inf") if time_limit is None else began + time_limit
        exploring = float("inf") if time_limit is None else began + EXPLORING * time_limit
        self.explorer = Explorer(environment, Decisions(self.library, evaluator), deadline=exploring)
        self.guard = self.explorer.guard
        self.windowed = bool(self.explorer.decisions.table.window)
        self.cutoff = lemma.checked_cutoff(self.guard)
        if self.cutoff is not None:
            self.explorer.conditions = self.cutoff.conditions
        self.limits = dict(limits or {program.name: self._limit(program) for program in self.library.learned})
        self.progress = {
            program.name: ProgramProgress(program, self.limits[program.name]) for program in self.library.learned
        }
        too_large = [program for program in self.library.learned if program.minimum_size > self.limits[program.name]]
        if too_large and limits is None:
            name, least = too_large[0].name, too_large[0].minimum_size
            raise UsageError(f"--max-size {max_size}: {name} cannot start below size {least}; give at least {least}")
        self.loops: dict[str, LoopShown] = {}
        self._tables: dict[str, LoopTable] = {}
        self._failing: dict[str, CounterExample] = {}  # found where an invariant did not hold
        self._grown: list[str] = []  # programs whose invariant has become larger than when their callers were run

    @property
    def decisions(self) -> Decisions:
        """What the agent decides."""
        return self.explorer.decisions

    def verify(self) -> Verification:
        """Explore all sizes, run the agent, then weigh what was seen."""
        self._explore()
        self._drop_what_rests_on_nothing()
        timely = not any(item.limit_met.startswith(TIME_MET) for item in self.progress.values())
        trial: Trial | None = None
        if self.tried:
            try:
                self._find_invariants()
                numerics = self._confirmed()
                trial = self._try(numerics)
            except LimitError:
                timely = False
        if trial is None:  # what may depend on the time there was is left out
            self.loops.clear()
            self._failing.clear()
            numerics = self._confirmed()
        return Verification(self._weighed(numerics, trial), trial, timely)

    def _find_invariants(self) -> None:
        """Of the bodies that the lemma says may loop."""
        loops = {} if self.cutoff is None or not self.windowed else self.cutoff.loops
        contracts, decisions = self.explorer.contracts, self.explorer.decisions
        for name, item in self.progress.items():
            if name in loops and not item.fault:
                self._tables[name] = LoopTable(contracts, item.program, loops[name], self.deadline)
                self.loops[name] = invariant_of(self._tables[name], decisions)
                self._run_suspects(name)

    def _run_suspects(self, name: str) -> None:
        """Where an invariant does not hold, real calls may fail, and those that do refute it."""
        table, interpreter = self._tables[name], Interpreter(self.environment, self.evaluator)
        failing: dict[Call, int] = {}
        for number in self.loops[name].suspects:
            call = Call(name, table.numbered[number].start)
            (execution,) = interpreter.run([call], max_actions=CONFIRMING_ACTIONS)
            cut_off = execution.failure in (Failure.ACTIONS, Failure.CALL_DEPTH)
            if not execution.success and not cut_off and execution.culprit == call:
                failing.setdefault(call, number)
        if failing:
            smallest = min(failing, key=lambda call: self.guard.size(call.state))
            alike = [call for call in failing if self.guard.size(call.state) == self.guard.size(smallest.state)]
            origins = tuple(StartOrigin(-1 - failing[call], ()) for call in alike[:MOST_FAILING])
            self._failing[name] = failing_run(interpreter, smallest)._replace(failing=origins)

    def _confirmed(self) -> list[Numerics]:
        # Where no lemma applies nothing can be proved, and double precision could not change a verdict.
        lemmas = {} if self.cutoff is None else self.cutoff.sizes
        loops = {} if self.cutoff is None or self.windowed else self.cutoff.loops
        network = self.network if lemmas.keys() - loops.keys() else None
        points = [
            item.points() | (self.loops[name].decided if name in self.loops else frozenset())
            for name, item in self.progress.items()
        ]
        return confirm(self.explorer.decisions, self.evaluator, network, points)

    def _try(self, numerics: list[Numerics]) -> Trial:
        """What instances and runs beyond the exploration say against it."""
        fault = self._examine_lemma()
        interpreter = Interpreter(self.environment, self.evaluator)
        hidden = {
            program.name: found
            for program in self.library.learned
            if (found := hidden_start(interpreter, program)) is not None
        }
        so_far = Trial(fault, hidden, Audit({}, {}))
        claims = [
            Claim(
                program=one.program,
                sizes=tuple(explored.size for explored in one.sizes if explored.size <= one.verdict.to_size),
                sequences=frozenset(sequence for explored in one.sizes for sequence in explored.sequences),
                points=frozenset(self.progress[one.program.name].points())
                | (frozenset() if one.loop is None or one.loop.fault else one.loop.decided),
                beyond=one.verdict.kind >= Kind.SATURATED,
            )
            for one in self._weighed(numerics, so_far)
            if one.verdict.kind != Kind.REFUTED
        ]
        claims = [claim for claim in claims if claim.sizes]
        contracts, decisions = self.explorer.contracts, self.explorer.decisions
        return so_far._replace(audit=Auditor(contracts, decisions, self.interpreter, claims, self.deadline).audit())

    def _limit(self, program: Program) -> int:
        """As far as asked for; by default as far as the lemma needs, for this program and those that call it."""
        if self.max_size is not None:
            return self.max_size
        validated = [one.size_to_validate(self.environment.validation_size) for one in self.library.learned]
        without = max(*validated, self.environment.validation_size, program.minimum_size)  # callers may be larger
        if self.cutoff is None or (program.name in self.cutoff.loops and not self.windowed):
            return without
        callers = [
            caller.name
            for caller in self.library.learned
            if program in map(self.library.called, (entry.name for entry in self.library.callable_by(caller.name)))
        ]
        return max(self.cutoff.sizes.get(name, program.minimum_size) for name in [program.name, *callers])

    def _explore(self) -> None:
        """All programs, size by size; a size that a limit cuts short leaves nothing behind."""
        contracts = self.explorer.contracts
        for size in range(max(self.limits.values()) + 1):
            for item in self.progress.values():
                if item.fault or not item.program.minimum_size <= size <= item.limit:
                    continue
                before = {
                    name: (dict(other.sizes), other.fault, other.counter_example)
                    for name, other in self.progress.items()
                }
                invariants = {name: set(views) for name, views in contracts.invariants.items()}
                mark = self.explorer.mark()
                try:
                    self._advance(item, size)
                except LimitError as limit:
                    self.explorer.back_to(mark)
                    contracts.invariants = invariants
                    for name, other in self.progress.items():
                        other.sizes, other.fault, other.counter_example = before[name]
                        if not other.fault and other.attempted < other.limit:
                            other.limit_met = limit_reason(str(limit), other.program, other.attempted)
                    return
                item.attempted = size

    def _advance(self, item: ProgramProgress, size: int) -> None:
        """Explore a size, then all that this turns out to rest on."""
        self._take(item, size, self._explored(item, size))
        while self._grown or self.explorer.pending:
            if self._grown:
                # A larger invariant allows more outcomes of calls: whoever makes them is run again.
                name = self._grown.pop()
                for other in self.progress.values():
                    for smaller in sorted(other.sizes):
                        explored = other.sizes.get(smaller)
                        if explored is not None and any(call.program == name for call in explored.calls):
                            self._take(other, smaller, self._explored(other, smaller))
                continue
            called, called_size = call = next(iter(self.explorer.pending))
            states = self.explorer.pending.pop(call)
            callee = self.progress[called]
            if called_size in callee.sizes:  # else its contract is not shown, nor what rests on it
                more = self.explorer.explore(callee.program, called_size, self._covered(called, called_size), states)
                self._take(callee, called_size, callee.sizes[called_size].with_more(more))
        if size in item.sizes and self.on_size is not None:
            done = sum(len(other.sizes) for other in self.progress.values())
            total = sum(other.limit - other.program.minimum_size + 1 for other in self.progress.values())
            self.on_size(Advance(item.program.name, size, item.sizes[size].runs, done, total))

    def _explored(self, item: ProgramProgress, size: int) -> Explored:
        return self.explorer.explore(item.program, size, self._covered(item.program.name, size))

    def _covered(self, caller: str, size: int) -> Covered:
        group = self.library.group(caller)

        def covered(callee: str, callee_size: int) -> bool:
            """Whether the contract of a call is shown: before, or, for a smaller measure, by this very induction.

            That of another of the group may be shown only later; if it is not, `_drop_what_rests_on_nothing` notices.
            """
            if callee_size in self.progress[callee].sizes:
                return True
            return callee_size == size and callee in group and not self.progress[callee].fault

        return covered

    def _take(self, item: ProgramProgress, size: int, explored: Explored) -> None:
        """Take note of what a program's runs at a size did."""
        if explored.counter_example is not None:
            self._fault(item, size, explored.counter_example)
            return
        name = item.program.name
        item.sizes[size] = explored
        known = self.explorer.contracts.invariants.setdefault(name, set())
        if not explored.views <= known:
            known |= explored.views
            if name not in self._grown:
                self._grown.append(name)

    def _fault(self, item: ProgramProgress, size: int, found: CounterExample) -> None:
        """A real run decides whether it is a fault of the agent or only of the contracts it was seen through."""
        item.drop(size, found.violation.text)
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

    def _drop_what_rests_on_nothing(self) -> None:
        """Calls may turn out not to be covered after all: then neither is what was shown with their help."""
        found = True
        while found:
            found = False
            for item in self.progress.values():
                for size in sorted(item.sizes):
                    for call in sorted(item.sizes[size].calls):
                        if size in item.sizes and call.size not in self.progress[call.program].sizes:
                            what = f"it calls {call.program} at size {call.size}, where its contract has not been shown"
                            item.drop(size, what)
                            found = True

    def _examine_lemma(self) -> str | None:
        if self.cutoff is None:
            return None
        for seed in range(lemma.SAMPLES):
            if time.monotonic() > self.deadline:
                raise LimitError(TIME_MET)
            fault = lemma.contradicted(self.guard, self.cutoff, seed)
            if fault is None and self._tables:
                rng = np.random.default_rng(seed)
                fault = contradiction(self._tables, list(self._tables)[seed % len(self._tables)], rng)
            if fault is not None:
                return fault
        return None

    def _weighed(self, numerics: list[Numerics], trial: Trial | None) -> tuple[ProgramShown, ...]:
        """What all of it shows of every program, from the lowest level up."""
        weighed: dict[str, ProgramShown] = {}
        for item, own in zip(self.progress.values(), numerics, strict=True):
            weighed[item.program.name] = self._shown(item, own, trial, weighed)
        changed = True
        while changed:  # what a group claims, it claims together
            changed = False
            for name, shown in weighed.items():
                for callee in sorted(self._called(name) & self.library.group(name) - {name}):
                    weaker = shown.verdict.given(weighed[callee].verdict)
                    if weaker != shown.verdict:
                        reason = f"it calls {callee}, which is {weighed[callee].verdict}"
                        shown = shown._replace(verdict=weaker, reasons=(*shown.reasons, reason))
                        weighed[name], changed = shown, True
        return tuple(weighed.values())

    def _called(self, name: str) -> set[str]:
        """The programs that it was seen to call."""
        return {call.program for explored in self.progress[name].sizes.values() for call in explored.calls}

    def _shown(
        self, item: ProgramProgress, numerics: Numerics, trial: Trial | None, below: dict[str, ProgramShown]
    ) -> ProgramShown:
        name = item.program.name
        loop = self.loops.get(name)
        called = self._called(name) - self.library.group(name)
        called |= frozenset() if loop is None else loop.called
        finding = None if trial is None else trial.audit.findings.get(name)
        own = item.counter_example or self._failing.get(name)
        counter_example = own or (None if finding is None else finding.counter_example)
        if counter_example is not None:
            verdict = Verdict(Kind.REFUTED, self.guard.size(counter_example.start))
            text = item.fault if loop is None else loop.fault
            reasons = [text if own is not None or finding is None else finding.text]
        else:
            verdict, reasons = self._own_verdict(item, numerics, trial, called)
        for callee in sorted(called):
            weaker = verdict.given(below[callee].verdict)
            if weaker != verdict:
                reasons.append(f"it calls {callee}, which is {below[callee].verdict}")
            verdict = weaker
        invariant: set[Hashable] = self.explorer.contracts.invariants.get(name, set())
        return ProgramShown(
            program=item.program,
            verdict=verdict,
            attempted=item.attempted,
            sizes=tuple(item.sizes[size] for size in sorted(item.sizes)),
            invariant=tuple(sorted(str(view) for view in invariant)),
            loop=loop,
            numerics=numerics,
            audited=None if trial is None else trial.audit.audited.get(name),
            counter_example=counter_example,
            reasons=tuple(reasons),
        )

    def _own_verdict(
        self, item: ProgramProgress, numerics: Numerics, trial: Trial | None, called: set[str]
    ) -> tuple[Verdict, list[str]]:
        """What is shown of a program if those it calls keep their contracts."""
        name, largest, last_new = item.program.name, item.largest(), item.last_new(self.windowed)
        by_sizes = self.cutoff is not None and name in self.cutoff.sizes and name not in self.cutoff.loops
        ended = [item.limit_met] if item.limit_met else []
        reasons = [item.fault] if item.fault else []
        empty = [size for size, explored in sorted(item.sizes.items()) if not explored.starts]
        if empty:
            reasons.append(f"no start is given at size {', '.join(map(str, empty))}, so nothing was shown there")
        if largest == NONE:
            return Verdict(Kind.BOUNDED), [*ended, *reasons]
        finding = None if trial is None else trial.audit.findings.get(name)
        against = [] if finding is None else [finding.text]
        if trial is not None and name in trial.hidden:
            reasons.append(trial.hidden[name])
        if last_new == largest and name not in self.loops:
            reasons.append(
                f"its {'steps' if self.windowed else 'sequences'} still changed at size {largest}; --max-size "
                f"{saturated_at(largest)} may show that they stop changing"
            )
        elif by_sizes and item.last_new() == largest:
            reasons.append(f"its sequences still changed at size {largest}, where the lemma says that nothing is new")
        reasons += self._against_the_lemma(item, trial, called)
        if not numerics.firm:
            reasons.append(f"margins of the decisions are not above {numerics.tolerance:g} in all arithmetics")
        if trial is None:
            reasons.append(NOT_TRIED)
        if not reasons and not against:
            return Verdict(Kind.PROVED, largest, last_new), reasons
        reasons = [*ended, *against, *reasons]
        if item.fault or against or empty or last_new == largest:
            return Verdict(Kind.BOUNDED, largest), reasons
        if largest < saturated_at(last_new):
            reasons.append(
                f"nothing new was seen above size {last_new}, but only up to size {largest}; SATURATED needs "
                f"--max-size {saturated_at(last_new)}"
            )
            return Verdict(Kind.BOUNDED, largest), reasons
        return Verdict(Kind.SATURATED, largest, last_new), reasons

    def _against_the_lemma(self, item: ProgramProgress, trial: Trial | None, called: set[str]) -> list[str]:
        """Why the lemma does not say more than was looked at."""
        name, largest = item.program.name, item.largest()
        if self.cutoff is None or name not in self.cutoff.sizes:
            return [
                "the environment has no cut-off lemma for it, and only that could prove it for every size: cutoff()"
            ]
        reasons = []
        needed = self.cutoff.sizes[name]
        if name in self.cutoff.loops:
            loop = self.loops.get(name)
            if not self.windowed:
                reasons.append(NO_WINDOW)
            elif loop is None or loop.fault:
                reasons.append("no invariant of its body was looked for" if loop is None else loop.fault)
            called = set()  # of what it calls, an invariant takes every outcome into account
        if largest < needed:
            reasons.append(f"the lemma needs every start up to size {needed}, {_reached(largest)} was reached")
        broken = {number for explored in item.sizes.values() for number in explored.broken_conditions}
        for number, condition in enumerate(self.cutoff.conditions):
            if number in broken:
                reasons.append(f"a condition of the lemma fails: {condition.text}")
            elif condition.program == name and condition.from_size > largest:
                reasons.append(f"a condition of the lemma was not tried: {condition.text}")
        # Their invariants may have grown after the runs of this program: enough for its sizes, not for all.
        contracts = self.explorer.contracts
        reasons += [
            f"it calls {callee}, which has an invariant; a lemma cannot rest on that of another program"
            for callee in sorted(called & contracts.several)
            if contracts.invariants.get(callee)
        ]
        if trial is not None and trial.lemma_fault is not None:
            reasons.append(f"the lemma is wrong about this environment: {trial.lemma_fault}")
        return reasons


def limit_reason(limit: str, program: Program, attempted: int) -> str:
    """How a program's reasons name a limit that ended the exploration."""
    cure = "; raise --time-limit" if limit == TIME_MET else ""
    return f"{limit} at size {max(attempted + 1, program.minimum_size)}{cure}"


def _reached(size: int) -> str:
    return "none" if size == NONE else str(size)
