"""Putting a report together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from alphanpi import __version__
from alphanpi.agent.agent import Agent
from alphanpi.environment.instances import Instance
from alphanpi.environment.problems import Problem
from alphanpi.environment.scene import Shape
from alphanpi.reporting.certificates import computed, stored
from alphanpi.reporting.execution import Watched, watch
from alphanpi.reporting.measuring import generalisation, observe_calls
from alphanpi.reporting.records import (
    SCHEMA,
    AgentRecord,
    CallRecord,
    ExecutionRecord,
    LibraryEntry,
    ReportRecord,
    StepRecord,
    VerdictRecord,
)
from alphanpi.reporting.searches import MOST_BYTES, Collected, SearchCollector
from alphanpi.reporting.source_lines import FollowedSource, follow_source
from alphanpi.reporting.sources import ShownSource, as_given, exported
from alphanpi.reporting.states import StateTable
from alphanpi.reporting.training import learning, training
from alphanpi.verification import Certificate

_BYTES = 2_500_000  # of a run and its trees; the page, curves, source and certificate come on top
_RUN_BYTES = 1_400_000
_FEWEST_STEPS = 20
_STEP_BYTES, _CHANCE_BYTES = 160, 12  # as JSON, measured


class Wanted(NamedTuple):
    """What a report is to show; see `report`."""

    program: str | None
    instance: Instance
    size: int | None
    seed: int | None
    further: Mapping[str, int]
    simulations: int
    seconds: float
    most_steps: int
    source: str | None
    export: bool
    certificate: Path | None
    verify_seconds: float


def collect(agent: Agent, wanted: Wanted, progress: Callable[[str], None]) -> ReportRecord:
    """Run, search, measure and read what a report shows."""
    problem = agent.problem(wanted.program, wanted.instance, size=wanted.size, seed=wanted.seed, further=wanted.further)
    name = problem.program
    directory = None if agent.place is None else agent.place.directory
    proof = stored(agent, wanted.certificate, directory, wanted.verify_seconds, progress)
    progress(f"running {problem.line}")
    watched, states = _watched(agent, problem, wanted.most_steps)
    progress(f"searching {len(watched.calls):,} calls with {wanted.simulations} simulations")
    room = min(MOST_BYTES, _BYTES - _run_bytes(watched, states))
    searches = SearchCollector(agent, states, wanted.simulations).collect(watched, room)
    progress("measuring success by size")
    observed = observe_calls(agent, name)
    scores = generalisation(agent, name, directory, wanted.seconds, observed)
    if proof is None:
        proof = computed(agent, wanted.verify_seconds, progress)
    if wanted.source is not None:
        shown = as_given(agent, wanted.source)
    elif wanted.export:
        shown = exported(agent, proof.certificate, watched.execution.success, progress)
    else:
        shown = ShownSource(None, "The export was left out, as asked for.")
    marked = FollowedSource([], [None] * len(watched.sites), "")
    if shown.text is not None:
        marked = follow_source(agent.guard, shown.text, watched)
    execution = _execution(agent, problem, watched, states, searches, marked.lines)
    return ReportRecord(
        schema=SCHEMA,
        version=__version__,
        agent=_agent(agent),
        library=library_entries(agent),
        fields=list(agent.environment.fields),
        calls=observed.calls,
        training=training(directory),
        learning=learning(directory),
        generalisation=scores,
        shapes=states.shapes,
        shape_columns=list(Shape._fields),
        scene_size=states.size,
        states=states.records,
        execution=execution,
        searches=searches.record,
        source=shown.text,
        source_note=shown.note,
        script=shown.script,
        script_note=shown.script_note,
        script_input=problem.text if problem.seed is None else "",
        source_functions=marked.functions,
        line_note=marked.note,
        certificate=None if proof.certificate is None else proof.certificate.record(),
        verdict=None if proof.certificate is None else _verdict(proof.certificate),
        certificate_note=proof.note,
        certificate_checked=proof.checked,
    )


def _watched(agent: Agent, problem: Problem, most_steps: int) -> tuple[Watched, StateTable]:
    """A run with its pictures; of one that would fill the page by itself, fewer steps."""
    while True:
        watched, states = watch(agent, problem.program, problem, most_steps), StateTable(agent.environment)
        for step in watched.execution.steps:
            states.number(step.state)
        used, kept = _run_bytes(watched, states), len(watched.execution.steps)
        if used <= _RUN_BYTES or kept <= _FEWEST_STEPS:
            return watched, states
        most_steps = max(_FEWEST_STEPS, int(0.9 * kept * _RUN_BYTES / used))


def _run_bytes(watched: Watched, states: StateTable) -> int:
    """About the bytes of a run as JSON, with its states and pictures."""
    width = len(watched.thoughts[0].observation)
    chances = sum(len(thought.probabilities) for thought in watched.thoughts)
    return states.bytes + (_STEP_BYTES + 2 * width) * len(watched.thoughts) + _CHANCE_BYTES * chances


def library_entries(agent: Agent) -> list[LibraryEntry]:
    """The agent's library."""
    return [
        LibraryEntry(entry.name, entry.level, entry.recursive, entry.summary) for entry in agent.environment.library
    ]


def _verdict(certificate: Certificate) -> VerdictRecord:
    claim = certificate.claim
    return VerdictRecord(str(claim), claim.meaning, [str(program.claim) for program in certificate.programs])


def _agent(agent: Agent) -> AgentRecord:
    one, several = agent.environment.size_unit
    return AgentRecord(
        run=agent.name,
        environment=agent.card.environment,
        summary=(type(agent.environment).__doc__ or "").strip().split("\n")[0],
        options=agent.card.options,
        seed=agent.card.seed,
        weights=agent.weights_hash,
        unit=(one, several),
    )


def _execution(
    agent: Agent,
    problem: Problem,
    watched: Watched,
    states: StateTable,
    searches: Collected,
    lines: list[int | None],
) -> ExecutionRecord:
    library, execution = agent.environment.library, watched.execution
    steps = []
    for step, thought, site, line in zip(execution.steps, watched.thoughts, watched.sites, lines, strict=True):
        steps.append(
            StepRecord(
                depth=step.depth,
                program=library.index_of(step.program),
                action=library.index_of(step.action),
                state=states.number(step.state),
                observation=[int(value) for value in thought.observation],
                probabilities=list(thought.probabilities),
                search=searches.place.get(site),
                decision=site.step,
                reason=searches.reason.get(site),
                line=line,
            )
        )
    return ExecutionRecord(
        program=problem.program,
        input=problem.text,
        success=execution.success,
        failure=execution.failure.name.lower(),
        actions=execution.actions,
        depth=watched.depth,
        left_out=watched.left_out,
        note=left_out_note(watched),
        steps=steps,
        calls=_calls(agent, watched),
        moves=states.moves([*(step.state for step in execution.steps), execution.final]),
        final=states.number(execution.final),
    )


def _calls(agent: Agent, watched: Watched) -> list[CallRecord]:
    library, guard = agent.environment.library, agent.guard
    return [
        CallRecord(
            program=library.index_of(call.program),
            size=guard.size(call.entry),
            depth=watched.execution.steps[call.steps[0]].depth,
            first=call.steps[0],
            last=watched.last_step(number),
        )
        for number, call in enumerate(watched.calls)
    ]


def left_out_note(watched: Watched) -> str:
    """What an outline does not show, in a sentence; empty where everything is there."""
    if watched.left_out == 0:
        return ""
    shown, actions = len(watched.execution.steps), watched.execution.actions
    if watched.depth == 0:
        return f"The first {shown:,} of {actions:,} steps; what was called is one step each."
    return (
        f"{shown:,} of {actions:,} steps: those with at most {watched.depth} calls around them. "
        "A deeper call is one step."
    )
