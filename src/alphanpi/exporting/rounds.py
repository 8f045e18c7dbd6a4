"""Rounds of an export: make code, compare it with the agent, and where they differ learn from that."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from alphanpi.environment.carrying import CarriedStandalone
from alphanpi.environment.standalone import Standalone
from alphanpi.errors import SpecificationError
from alphanpi.exporting.behaviour import Case, Watcher, enumerated, refuse_failing
from alphanpi.exporting.clock import CodeNotFound, ExportFailed
from alphanpi.exporting.equality import Difference, Exported, differences, discerns
from alphanpi.exporting.fault import runtime_fault
from alphanpi.exporting.growth import written_out
from alphanpi.exporting.header import Coverage, Origin, header
from alphanpi.exporting.minimise import Learned, minimise
from alphanpi.exporting.render import Renderer, functions, module, tested
from alphanpi.exporting.replaying import Replayer
from alphanpi.exporting.runtime import checked_runtime
from alphanpi.exporting.sampling import deep_run, examination, lessons, share
from alphanpi.verification.sequences import ShownSequence

_LESSONS = 0.25  # of the samples to check with
_BATCHES = 20  # of random starts, for agents with a window
_RARE = 0.01  # new situations of a program in a batch, as a share of its starts: few enough to end
_MOST_LESSONS = 500  # of a round in which code was wrong
_SPARINGS = 12  # times that decisions are adopted; those given up are finitely many
_NO_MAY = "a program asks which actions are legal, and the runtime has no method may(name)"
_FRAMES = 20_000  # the search for code descends into trees as deep as calls are long


class Checked(NamedTuple):
    """Code that does what the agent does, wherever they were compared."""

    programs: list[Learned]
    renderer: Renderer
    text: str
    discerns: bool  # whether the runtime's `agrees` tells final states apart
    missing: str  # why there is no runtime, if there is none
    head: str  # of the module

    def without_main(self) -> str:
        """The module without the part that makes it a script."""
        return module(self.renderer, self.programs, self.head, main=False)


class Rounds:
    """The stages of an export, and what they know of each other."""

    def __init__(
        self,
        watcher: Watcher,
        origin: Origin,
        samples: int,
        seed: int,
        sequences: Mapping[str, Sequence[ShownSequence]] | None = None,
    ) -> None:
        self.watcher = watcher
        self.environment = watcher.environment
        self.clock = watcher.clock
        self.library = watcher.library
        self.origin = origin
        self.samples = max(samples, len(self.library.learned))
        self.seed = seed
        self.sequences = sequences or {}
        """By program, all that calls can be shown, where that is proved."""
        self.standalone, self.missing = checked_runtime(watcher.guard)
        """What functions work on, and if there is nothing, why."""
        self.learned: list[Case] = []  # runs the code is made from
        self.examined: list[Case] = []  # all others, those drawn after the code was found last
        self.coverage: list[Coverage] = []
        self.written: list[str] = []
        """Programs for which this round has found code."""

    def watch(self, max_size: int | None) -> None:
        """Every start of each program up to a size that its cost allows, and random ones a little larger."""
        all_lessons = max(len(self.library.learned), round(self.samples * _LESSONS))
        for number, entry in enumerate(self.library.learned):
            self.clock.doing(f"{entry.name}: watching the agent")
            all_small = enumerated(self.watcher, entry, max_size)
            count = share(all_lessons, number, len(self.library.learned))
            calls = lessons(self.watcher, entry, all_small.complete_to, count, (self.seed, 0, number))
            random = self.watcher.watch(calls)
            refuse_failing(entry, (all_small.watched, random))
            self.learned += [*all_small.watched.cases, *random.cases]
            self.coverage.append(
                Coverage(
                    entry.name,
                    enumerated=len(all_small.watched.cases),
                    complete_to=all_small.complete_to,
                    sampled=len(random.cases),
                    sampled_to=self._largest(random.cases),
                    learned_to=max(all_small.complete_to, self._largest(random.cases)),
                    failed=all_small.watched.failed + random.failed,
                    endless=all_small.watched.endless + random.endless,
                )
            )

        self.watcher.teach(self.sequences)
        if self.watcher.window:
            self._saturate(all_lessons)
        self._spare()

    def _spare(self) -> None:
        """Leave out what can be left out, until all that was watched goes on without it."""
        sparing = self.watcher.sparing
        for attempt in itertools.count():
            if sparing is None or not ((attempt < _SPARINGS and sparing.adopt()) or sparing.shaken):
                return
            self.clock.doing(f"watching the agent with {len(sparing.decisions):,} simpler decisions")
            sparing.forget()
            self.learned = self.watcher.again().cases
            beyond = [case.call for case in self.examined if case.actions is not None]
            self.examined = self.watcher.watch(beyond, learn=False).cases

    def _saturate(self, count: int) -> None:
        """Look for situations no call was in yet, of each program until hardly any is found or enough was drawn.

        What calls of other programs show is learned as well, but a program's own starts are the cheapest to look at.
        """
        pending = dict(enumerate(self.library.learned))
        for batch in range(1, _BATCHES + 1):
            names = ", ".join(entry.name for entry in pending.values())
            self.clock.doing(f"{names}: watching the agent for what it has not met, {batch}")
            for number, entry in list(pending.items()):
                seen, own = self.coverage[number], self.watcher.situations[entry.name]
                before = len(own)
                drawn = lessons(self.watcher, entry, seen.complete_to, count, (self.seed, 0, number, batch))
                found = self.watcher.watch(self.watcher.novel(drawn))
                self.learned += found.cases
                self.coverage[number] = seen._replace(
                    sampled=seen.sampled + len(found.cases),
                    sampled_to=max(seen.sampled_to, self._largest(found.cases)),
                    learned_to=max(seen.learned_to, self._largest(found.cases)),
                )
                if len(own) - before <= _RARE * count:
                    del pending[number]
            if not pending:
                return

    def attempt(self, number: int) -> Checked | Difference:
        """Make code and check it; where it differs from the agent, learn from that."""
        self._spare()
        programs = self._found()
        self._compilable(self._renderer(programs), programs)
        before = len(self.examined)
        self._examine(number)
        if self.watcher.sparing is not None and self.watcher.sparing.shaken:
            return self.attempt(number)  # what was left out is needed in larger problems
        self._judge(programs)
        self.clock.doing(f"comparing {len(self.learned) + len(self.examined):,} runs")
        return self._compared(programs, number, before)

    def _renderer(self, programs: list[Learned]) -> Renderer:
        standalone = self.standalone
        if standalone is not None and _asks_for_legality(programs) and not _has_may(standalone):
            standalone = None
        return Renderer(self.library, standalone)

    def _compared(self, programs: list[Learned], number: int, before: int) -> Checked | Difference:
        """The code if it does what the agent does in all runs, those from a number on being new; else a difference."""
        renderer = self._renderer(programs)
        standalone = renderer.standalone
        simplified = self.watcher.sparing is not None
        self._note_proved(renderer, programs)
        missing = "" if standalone is not None else self.missing or _NO_MAY
        head = header(self.environment, self.origin, missing, self.coverage, number, simplified)
        text = module(renderer, programs, head)
        try:
            exported = Exported(text, self.environment, renderer)
            found = self._differences(exported, renderer, programs)
        except SpecificationError as error:
            if isinstance(standalone, CarriedStandalone):
                self.standalone, self.missing = None, f"what was made of it does something else: {error}"
                return self._compared(programs, number, before)
            text = module(renderer, programs, head, prune=False)  # something may need what was left out
            exported = Exported(text, self.environment, renderer)
            found = self._differences(exported, renderer, programs)
        if not found:
            discerning = standalone is None or discerns(exported, self.learned)
            return Checked(programs, renderer, text, discerning, missing, head)
        self.clock.doing(f"round {number}: {len(found)} runs differ; learning from them")
        self._learn(found, self.examined[before:])
        return found[0]

    def _learn(self, found: list[Difference], fresh: list[Case]) -> None:
        """Make what differs, and what is not much longer, part of what code is made from; the longest are costly."""
        wrong = [difference.case for difference in found if difference.case.actions is not None]
        if not wrong:
            raise ExportFailed(f"nothing exported: {found[0]}")
        longest = 2 * min(case.steps for case in wrong)
        some = [case for case in dict.fromkeys([*wrong, *fresh]) if case.actions is not None and case.steps <= longest]
        new = dict.fromkeys(some[:_MOST_LESSONS])
        self.watcher.watch([case.call for case in new])
        self.learned += new
        self.examined = [case for case in self.examined if case not in new]
        for place, entry in enumerate(self.coverage):
            own = [case for case in new if case.call.program == entry.program]
            self.coverage[place] = entry._replace(
                sampled=entry.sampled + entry.fresh,
                sampled_to=max(entry.sampled_to, entry.fresh_to),
                learned_to=max(entry.learned_to, self._largest(own)),
            )

    def _found(self) -> list[Learned]:
        self.written.clear()
        self.watcher.settle()
        programs = []
        with _recursion(_FRAMES):
            for entry in self.library.learned:
                traces = self.watcher.traces[entry.name]
                if not self.watcher.determined(entry.name):
                    raise ExportFailed(
                        f"nothing exported: {entry.name}: equal observations and legal actions were followed by "
                        "different actions; does the environment depend on anything but its state?"
                    )
                try:
                    features, window = self.watcher.features, self.watcher.window
                    programs.append(minimise(entry.name, traces, features, entry.growing, self.clock, window))
                    self.written.append(entry.name)
                except RecursionError:
                    longest = max(map(len, traces))
                    raise CodeNotFound(
                        f"nothing exported: {entry.name}: no loop was found in calls of up to {longest:,} steps"
                    ) from None
        return programs

    def _compilable(self, renderer: Renderer, programs: list[Learned]) -> None:
        """Python nests statements a hundred deep and no more."""
        try:
            with _recursion(_FRAMES):
                text = functions(renderer, programs)
            compile(text, "<exported>", "exec", dont_inherit=True)
        except (SyntaxError, RecursionError, MemoryError) as error:
            longest = max(programs, key=lambda learned: learned.cost)
            raise CodeNotFound(
                f"nothing exported: {longest.program}: the shortest code found is too long and too deeply nested for "
                f"Python ({type(error).__name__}: {error}); no loop was found in what the agent does"
            ) from None

    def _examine(self, number: int) -> None:
        """Run the agent where nobody has learned from it, and far beyond."""
        for traces in self.watcher.fresh.values():
            traces.clear()
        for place, entry in enumerate(self.library.learned):
            self.clock.doing(f"{entry.name}: watching the agent on larger problems")
            seen = self.coverage[place]
            seed = (self.seed, number, place)
            count = share(self.samples, place, len(self.library.learned))
            drawn = examination(self.watcher, entry, seen.complete_to, seen.learned_to, count, seed)
            watched = self.watcher.watch(drawn.calls, learn=False)
            reached = self._largest(watched.cases)
            deeper = entry.recursive and drawn.exhausted
            deep = deep_run(self.watcher, entry, max(reached, seen.learned_to), seed) if deeper else None
            self.examined += watched.cases if deep is None else [*watched.cases, deep.case]
            reason = drawn.reason
            if drawn.calls and not watched.cases:
                reason = f"the agent itself succeeds on none of the {len(drawn.calls):,} starts drawn"
            self.coverage[place] = seen._replace(
                fresh=len(watched.cases),
                fresh_to=reached,
                nested=0 if deep is None else deep.nested,
                nested_size=0 if deep is None else deep.size,
                failed=seen.failed + watched.failed,
                endless=seen.endless + watched.endless,
                reason=reason,
            )

    def _note_proved(self, renderer: Renderer, programs: list[Learned]) -> None:
        """Count the sequences of programs whose code does as the agent on all that can occur."""
        if not self.sequences:
            return
        replayer = Replayer(functions(renderer, programs), self.watcher.guard, renderer, programs)
        for place, entry in enumerate(self.coverage):
            shown = self.sequences.get(entry.program, ())
            same = not replayer.differing(entry.program, shown)
            self.coverage[place] = entry._replace(proved=len(shown) if same else 0)

    def _judge(self, programs: list[Learned]) -> None:
        """Mark code that seems to be a loop written out."""
        for place, (entry, learned) in enumerate(zip(self.library.learned, programs, strict=True)):
            longest = entry.depth if isinstance(entry.depth, int) else None
            traces = self.watcher.traces[learned.program] | self.watcher.fresh[learned.program]
            places = [self.watcher.features.index(feature) for feature in learned.features]
            grown = written_out(learned, places, longest, traces)
            self.coverage[place] = self.coverage[place]._replace(written_out=grown)

    def _differences(self, exported: Exported, renderer: Renderer, programs: list[Learned]) -> list[Difference]:
        known = differences(exported, self.learned, self.clock)
        found = known or differences(exported, self.examined, self.clock, plain=True)
        if found and renderer.standalone is not None:
            generic = Renderer(self.library, None)
            over_environment = Exported(module(generic, programs, ""), self.environment, generic)
            faults = [one for one in found if over_environment.compare(one.case, plain=True) is None]
            if faults:
                shortest = min(faults, key=lambda one: one.case.steps)
                raise runtime_fault(exported, self.watcher.guard, renderer, programs, shortest)
        if known:
            raise ExportFailed(f"nothing exported: {known[0]}, though the code was made from this very run")
        return found

    def _largest(self, cases: list[Case]) -> int:
        return max((self.watcher.guard.size(case.call.state) for case in cases), default=0)


@contextmanager
def _recursion(frames: int) -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, frames))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _asks_for_legality(programs: list[Learned]) -> bool:
    return any(feature.kind == "may" for learned in programs for feature in tested(learned))


def _has_may(standalone: Standalone[Any]) -> bool:
    nodes = ast.walk(ast.parse(standalone.source))
    return any(isinstance(node, ast.FunctionDef) and node.name == "may" for node in nodes)
