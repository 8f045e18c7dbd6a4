"""The jobs of a sweep: one run each, with all that decides it, and the folder that it has to itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from alphanpi.environment.registry import make_named_in
from alphanpi.environment.specification import Environment
from alphanpi.errors import AlphaNPIError, UsageError
from alphanpi.network.model import usable_device
from alphanpi.runs.directory import RunDirectory
from alphanpi.runs.finding import MOST_RUNS
from alphanpi.runs.records import Seed
from alphanpi.support.files import write_atomically
from alphanpi.support.record import Record, Text, read_record
from alphanpi.sweeping.plan import Measurement, Name, PlannedEnvironment, Settings, SweepPlan, TimeLimit, Until
from alphanpi.sweeping.records import JobResult
from alphanpi.training.presets import configured, preset, require_available

JOB_FILE, RESULT_FILE, OUTPUT_FILE, RUN_FOLDER = "job.json", "result.json", "output.txt", "run"


class Job(Record):
    """One run, and what is measured afterwards."""

    name: Name  # of the environment in the sweep
    variant: Name | None
    seed: Seed
    environment: Text
    options: dict[str, Any]
    preset: Text
    settings: Settings
    until: Until
    time_limit: TimeLimit | None
    device: Text
    evaluate: tuple[Measurement, ...]

    @property
    def place(self) -> Path:
        """Its folder, from that of the sweep."""
        return Path(self.name, *([self.variant] if self.variant else []), f"seed{self.seed}")


class JobFolder:
    """Where a job's files are: what it is, what came of it, what it printed, and its run directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.job_file = path / JOB_FILE
        self.result_file = path / RESULT_FILE
        self.output_file = path / OUTPUT_FILE
        self.run = RunDirectory(path / RUN_FOLDER)

    def prepare(self, job: Job) -> None:
        """Write down what the job is; one that was begun as something else is refused."""
        if self.job_file.exists():
            self.require(job)
        else:
            write_atomically(self.job_file, job.model_dump_json(indent=1) + "\n")

    def require(self, job: Job) -> None:
        """Refuse where another job was begun here."""
        begun = read_record(self.job_file, Job, "put it back, or delete its folder").model_dump()
        changed = [key for key, value in job.model_dump().items() if value != begun[key]]
        if changed:
            raise UsageError(
                f"{self.path}: begun with another {changed[0]}: {_short(begun[changed[0]])}, now "
                f"{_short(getattr(job, changed[0]))}; change it back, or give another --out (environments, variants "
                "and seeds may be added)"
            )

    def result(self) -> JobResult | None:
        """What came of it; None where nothing has, yet."""
        if not self.result_file.exists():
            return None
        return read_record(self.result_file, JobResult, "delete it")


def jobs_of(plan: SweepPlan, where: str, named: bool) -> tuple[Job, ...]:
    """The runs of a plan, the first seed of all before the second, each checked as far as it can be without training.

    Args:
        plan: What to do.
        where: In what the plan was found, for messages.
        named: Whether the user names the environments by it; else they have to have been named before.
    """
    try:
        usable_device(plan.device)
    except UsageError as error:
        raise UsageError(f"{where}: device: {error}") from error
    groups = [list(_group(planned, plan, where, named)) for planned in plan.environments]
    total = sum(map(len, groups))
    if total > MOST_RUNS:
        raise UsageError(f"{where}: {total:,} runs; a sweep has at most {MOST_RUNS:,}: fewer seeds, or several sweeps")
    each = [(number, job) for group in groups for number, job in group]
    return tuple(job for _, job in sorted(each, key=lambda pair: pair[0]))


def _group(planned: PlannedEnvironment, plan: SweepPlan, where: str, named: bool) -> Iterator[tuple[int, Job]]:
    place = f"{where}: environment {planned.name}"
    try:
        given = planned.id if named else None
        created = make_named_in(where, planned.id, planned.options, given)
    except AlphaNPIError as error:
        raise UsageError(f"{place}: {error}") from error
    measured = plan.evaluate if planned.evaluate is None else planned.evaluate
    for measurement in measured:
        _require_measurable(created, measurement, place)
    own = {**plan.settings, **planned.settings}
    chosen = planned.preset or plan.preset
    for variant, changes in plan.variants.items() or [(None, {})]:
        settings = {**own, **changes}
        try:
            require_available(chosen, verified=(planned.until or plan.until) == "verified")
            configured(preset(chosen, planned.id), None, settings)
        except UsageError as error:
            raise UsageError(f"{place}{f', variant {variant}' if variant else ''}: {error}") from error
        for number, seed in enumerate(planned.seeds or plan.seeds):
            yield (
                number,
                Job(
                    name=planned.name,
                    variant=variant,
                    seed=seed,
                    environment=planned.id,
                    options=planned.options,
                    preset=chosen,
                    settings=settings,
                    until=planned.until or plan.until,
                    time_limit=planned.time_limit or plan.time_limit,
                    device=plan.device,
                    evaluate=measured,
                ),
            )


def _require_measurable(environment: Environment[Any], measurement: Measurement, place: str) -> None:
    """Refuse, before hours of training, what could not be measured after them."""
    library = environment.library
    try:
        name = library.spelt(measurement.program or library.learned[-1].name)
        entry = library.named(name)
    except AlphaNPIError as error:
        raise UsageError(f"{place}: evaluate.program: {error}") from error
    if entry.atomic:
        raise UsageError(f"{place}: evaluate.program: {name} is an atomic action; give a program")
    for size in measurement.sizes or ():
        if size < entry.minimum_size:
            raise UsageError(
                f"{place}: evaluate.sizes: {name} cannot start at size {size}; give {entry.minimum_size} or more"
            )


def _short(value: Any) -> str:
    return f"{json.dumps(value, default=str):.80}"
