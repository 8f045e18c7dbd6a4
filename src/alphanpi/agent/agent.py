"""A trained agent: weights, the environment they belong to, and running programs with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from alphanpi.agent.interpreter import Call, Execution, Interpreter, Recording
from alphanpi.agent.traced import TracedExecution
from alphanpi.agent.verbs import Verbs
from alphanpi.agent.weights import ModelCard, hash_of
from alphanpi.engine.config import planning_config
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.environment.guard import NO_FURTHER_SIZES
from alphanpi.environment.instances import Instance, state_of
from alphanpi.environment.problems import Problem, choose
from alphanpi.environment.registration import registration
from alphanpi.environment.specification import STOP, Environment
from alphanpi.errors import AlphaNPIError, UsageError
from alphanpi.network.model import NPINetwork, create_evaluator
from alphanpi.runs.directory import RunDirectory
from alphanpi.support import limits

MAX_ACTIONS = 10_000_000  # of one execution: a program may be right and yet take exponential time

Mode = Literal["greedy", "planning"]


class LoadedFrom(NamedTuple):
    """Where an agent was loaded from."""

    name: str  # as the user gave it
    directory: RunDirectory  # with the records about it
    weights: str  # their hash
    model: str | None  # digest of the file; None where the user named another environment than the file does


class Agent(Verbs):
    """A network and its environment, ready to run programs."""

    def __init__(
        self,
        environment: Environment[Any],
        network: NPINetwork,
        card: ModelCard,
        device: str = "cpu",
        place: LoadedFrom | None = None,
    ) -> None:
        self.environment = environment
        self.network = network
        self.card = card
        self.place = place
        self.device = device
        self.evaluator = create_evaluator(network, device)
        self.interpreter = Interpreter(environment, self.evaluator)
        self.guard = self.interpreter.guard
        self._planner: Search | None = None
        self.at_once = 2  # calls of which it is told how far they are, at first

    def __repr__(self) -> str:
        programs = ", ".join(entry.name for entry in self.environment.library.learned)
        return f"<Agent of {self.card.environment}: {programs}; {self.name}>"

    def problem(
        self,
        program: str | None = None,
        instance: Instance = None,
        *,
        size: int | None = None,
        seed: int | None = None,
        further: Mapping[str, int] = NO_FURTHER_SIZES,
    ) -> Problem:
        """What to run a program on: the instance, or one drawn by size and seed; see `choose`."""
        if isinstance(instance, Problem):
            return instance
        example = registration(self.card.environment).example
        return choose(self.guard, program, instance, size=size, seed=seed, further=further, example=example)

    def run(
        self,
        program: str | None = None,
        instance: Instance = None,
        mode: Mode = "greedy",
        max_actions: int = MAX_ACTIONS,
    ) -> str:
        """Run a program on what `problem` chooses; the result as a user reads it, or `RunFailed`."""
        problem = self.problem(program, instance)
        recorded = mode == "greedy" and type(self.environment).result is not Environment.result
        execution = self.execute(problem.program, problem, mode=mode, record=recorded, max_actions=max_actions)
        if not execution.success:
            raise RunFailed(problem.program, problem, execution)
        library = self.environment.library
        atomic = [step for step in execution.steps if step.action != STOP and library.named(step.action).atomic]
        return self.guard.result(problem.program, execution.final, atomic)

    def trace(
        self,
        program: str | None = None,
        instance: Instance = None,
        recording: Recording | None = None,
        max_actions: int = MAX_ACTIONS,
    ) -> Execution:
        """Run a program greedily and keep its steps: all, or those the recording says."""
        problem = self.problem(program, instance)
        execution = self.execute(problem.program, problem, record=recording or True, max_actions=max_actions)
        return TracedExecution.of(execution, problem.program, self.guard)

    def execute(
        self,
        program: str | None = None,
        instance: Instance = None,
        mode: Mode = "greedy",
        record: bool | Recording = False,
        max_actions: int = MAX_ACTIONS,
    ) -> Execution:
        """Run a program on what `problem` chooses; success or failure with its reason."""
        problem = self.problem(program, instance)
        return self.executions([Call(problem.program, problem.state)], mode, record, max_actions)[0]

    def executions(
        self,
        calls: list[Call],
        mode: Mode = "greedy",
        record: bool | Recording = False,
        max_actions: int = MAX_ACTIONS,
    ) -> list[Execution]:
        """Run many calls; one success rule for both modes.

        More than `max_actions`, those of nested calls too, are a failure; planning counts what it tries.
        """
        limits.whole("max_actions", max_actions, most=limits.MOST_ACTIONS)
        if mode not in ("greedy", "planning"):
            raise UsageError(f"unknown mode {mode!r}; there are greedy and planning")
        if mode == "greedy":
            return self.interpreter.run(calls, record, max_actions)
        if record:
            raise UsageError("steps are kept in greedy mode only; planning re-plans inside every call")
        traces = self.planner(max_actions).run([Request(call.program, call.state) for call in calls])
        return [Execution(trace.success, trace.failure, trace.final, len(trace.actions), None, ()) for trace in traces]

    def planner(self, max_actions: int = MAX_ACTIONS) -> Search:
        """The search for a trained agent (see `planning_config`): exploitation mode and few simulations."""
        if self._planner is None or self._planner.config.max_actions != max_actions:
            config = planning_config(self.card.search.model_copy(update={"max_actions": max_actions}))
            self._planner = Search(self.environment, self.evaluator, config)
        return self._planner

    def parse(self, program: str, instance: Instance) -> Any:
        """A state from what a user gives: a text, a number, a sequence, or a state; see `state_of`."""
        return instance.state if isinstance(instance, Problem) else state_of(self.guard, program, instance)

    @property
    def weights_hash(self) -> str:
        """SHA-256 over all weights."""
        return hash_of(self.network)

    @property
    def run_directory(self) -> RunDirectory | None:
        """Its run's directory, if it was loaded from one."""
        if self.place is None or not self.place.directory.meta_file.is_file():
            return None
        return self.place.directory

    def keep(self, write: Callable[[RunDirectory], None]) -> None:
        """Let something that was found out be written into its run's directory.

        Nothing is written where it is not the newest agent of its run, was loaded with another environment or has been
        changed since, where another process is at work on the run, or where nothing can be written.
        """
        directory, place = self.run_directory, self.place
        if directory is None or place is None or place.weights != self.weights_hash:
            return
        with suppress(UsageError), directory.locked():
            if place.model == directory.newest_model():
                write(directory)

    @property
    def name(self) -> str:
        """Where it comes from, in words."""
        return "an agent in memory" if self.place is None else self.place.name


class RunFailed(AlphaNPIError):  # noqa: N818 - what happened, not a mistake in the code
    """The agent did not solve the instance."""

    def __init__(self, program: str, instance: Problem | str, execution: Execution) -> None:
        inside = ""
        if execution.culprit is not None and execution.culprit.program != program:
            inside = f", inside {execution.culprit.program}"
        reason = execution.failure.name.lower()
        super().__init__(
            f"{program} {str(instance)!r} was not solved: {reason}{inside} after {execution.actions} actions"
        )
