"""Exporting: watch the agent, find code, check that the code does the same, and only then hand it out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from alphanpi import __version__
from alphanpi.engine.histories import Evaluator
from alphanpi.errors import AlphaNPIError, SpecificationError, UsageError
from alphanpi.exporting.automaton import as_dot, as_records
from alphanpi.exporting.behaviour import Case, Coverage, Survey, Watcher, draw, survey
from alphanpi.exporting.equality import Difference, differences
from alphanpi.exporting.minimise import Learned, minimise
from alphanpi.exporting.render import Renderer, module, needs_legality, wrapped
from alphanpi.files import require_writable, write_atomically
from alphanpi.spec import Environment
from alphanpi.standalone import Standalone

Format = Literal["python", "json", "dot"]
FORMATS: tuple[Format, ...] = ("python", "json", "dot")
_ROUNDS = 4
_SAMPLES_TO_LEARN_FROM = 0.25  # of the samples to check with


class ExportFailed(AlphaNPIError):  # noqa: N818 - what happened, not a mistake in the code
    """The code found does not do what the agent does."""


class Origin(NamedTuple):
    """Where an agent comes from, for the head of the exported file."""

    agent: str
    weights: str  # the first digits of their hash
    environment: str
    options: dict[str, Any]


class Export(NamedTuple):
    """Programs of an agent as code that has been checked."""

    text: str  # in the format asked for
    programs: tuple[Learned, ...]
    standalone: bool  # whether the Python module runs on its own
    coverage: tuple[Coverage, ...]
    cases: int  # runs compared
    actions: int  # actions compared
    rounds: int  # how often code was made; more than once if larger problems showed something new
    warnings: tuple[str, ...]


def export(
    run: str | Path,
    *,
    format: Format = "python",  # noqa: A002 - the name of the option
    out: str | Path | None = None,
    max_size: int | None = None,
    samples: int = 2000,
    seed: int = 0,
    environment: str | type[Environment[Any]] | None = None,
    say: Callable[[str], None] | None = None,
) -> Export:
    """The learned library of a run as source code, an automaton in JSON, or a Graphviz graph.

    The code is compared with the greedy agent, action by action, on every start up to a size and on random larger ones.
    Where they differ and more observation does not help, `ExportFailed` is raised and nothing is written.

    Args:
        run: A run directory, a weights file, or `pretrained:NAME`.
        format: `python`, `json` or `dot`.
        out: File to write.
        max_size: Look at every start up to this size; by default as far as it is cheap.
        samples: Random larger starts to compare on, of all programs together.
        seed: Decides the random starts.
        environment: The agent's environment, if `run` names one that is not trusted; see `load`.
        say: Called with a line for each stage.
    """
    from alphanpi.agent import load

    if out is not None:
        require_writable(Path(out))
    agent = load(run, environment=environment)
    card = agent.card
    origin = Origin(str(run), agent.weights_hash[:12], card.environment, card.options)
    exported = export_evaluator(
        agent.environment,
        agent.evaluator,
        origin,
        format=format,
        max_size=max_size,
        samples=samples,
        seed=seed,
        say=say,
    )
    if out is not None:
        write_atomically(Path(out), exported.text)
    return exported


def export_evaluator(
    environment: Environment[Any],
    evaluator: Evaluator,
    origin: Origin,
    *,
    format: Format = "python",  # noqa: A002 - the name of the option
    max_size: int | None = None,
    samples: int = 2000,
    seed: int = 0,
    say: Callable[[str], None] | None = None,
) -> Export:
    """The same for an environment and anything that evaluates histories in it."""
    _check_arguments(environment, format, max_size, samples)
    tell = say or (lambda line: None)
    watcher = Watcher(environment, evaluator)
    tell("watching the agent")
    watched = survey(watcher, max_size, max(1, round(samples * _SAMPLES_TO_LEARN_FROM)), seed)
    for number in range(1, _ROUNDS + 1):
        watcher.settle()
        programs = []
        for entry in environment.library.learned:
            learned = minimise(entry.name, watcher.traces[entry.name], watcher.features, callable(entry.depth))
            tell(f"{entry.name}: {learned.traces} distinct calls")
            programs.append(learned)
        standalone = _runtime(environment, programs)
        fresh = _fresh_cases(watcher, watched.coverage, samples, (seed, number))
        cases = [*watched.cases, *fresh.cases]
        text = module(
            environment, standalone, programs, _header(environment, origin, standalone, fresh.coverage, number)
        )
        tell(f"comparing {len(cases):,} runs")
        different = differences(text, environment, standalone, cases)
        if not different:
            return Export(
                text=_formatted(format, text, environment, standalone, programs, origin),
                programs=tuple(programs),
                standalone=standalone is not None,
                coverage=tuple(fresh.coverage),
                cases=len(cases),
                actions=sum(len(case.actions) for case in cases),
                rounds=number,
                warnings=tuple(_warnings(environment, standalone, fresh.coverage, number)),
            )
        tell(f"round {number}: {len(different)} runs differ; learning from them")
        watched = watched._replace(cases=cases)
    raise ExportFailed(_advice(environment, different[0], programs))


def _check_arguments(environment: Environment[Any], format_: str, max_size: int | None, samples: int) -> None:
    if format_ not in FORMATS:
        raise UsageError(f"format {format_!r} is unknown; choose {', '.join(FORMATS)}")
    if samples < 1:
        raise UsageError(f"{samples} samples compare nothing; give at least 1")
    smallest = min(entry.minimum_size for entry in environment.library.learned)
    if max_size is not None and max_size < smallest:
        raise UsageError(f"no program starts at size {max_size}; give a maximal size of at least {smallest}")


def _fresh_cases(watcher: Watcher, coverage: list[Coverage], samples: int, seed: tuple[int, int]) -> Survey:
    """Runs nobody has learned from yet; watching them also makes them known to the next round."""
    cases: list[Case] = []
    updated = []
    programs = watcher.environment.library.learned
    for number, (entry, seen) in enumerate(zip(programs, coverage, strict=True)):
        share = samples // len(programs) + (number < samples % len(programs))
        calls, largest = draw(watcher, entry, seen.complete_to, share, (*seed, number))
        found = [case for case in watcher.watch(calls) if case is not None]
        cases += found
        updated.append(
            seen._replace(
                sampled=seen.sampled + len(calls),
                fresh=len(calls),
                largest=max(seen.largest, largest),
                failed=seen.failed + len(calls) - len(found),
            )
        )
    coverage[:] = updated
    return Survey(cases, updated)


def _runtime(environment: Environment[Any], programs: list[Learned]) -> Standalone[Any] | None:
    """The environment's runtime, if it can express all conditions."""
    standalone = environment.standalone()
    for entry in environment.library.learned:
        if standalone is not None and entry.recursive and entry.name not in standalone.inner:
            raise SpecificationError(
                f"{type(environment).__name__}: standalone(): inner names no method for {entry.name}; add one"
            )
    if standalone is not None and needs_legality(programs) and "def may(" not in standalone.source:
        return None
    return standalone


def _header(
    environment: Environment[Any],
    origin: Origin,
    standalone: Standalone[Any] | None,
    coverage: list[Coverage],
    rounds: int,
) -> str:
    options = "".join(f", {name}={value}" for name, value in origin.options.items())
    title = (type(environment).__doc__ or origin.environment).strip().split("\n")[0]
    source = wrapped(
        f"Exported by AlphaNPI {__version__} from {origin.agent}, weights {origin.weights}, "
        f"environment {origin.environment}{options}. The functions do what the greedy agent does, action by action; "
        "this was checked by running them on"
    )
    lines = [f"- {entry.program}: {_described(entry)}" for entry in reversed(coverage)]
    paragraphs = [title, source + "\n" + "\n".join(lines)]
    if rounds > 1:
        paragraphs.append(wrapped(_doubt(rounds)))
    if standalone is None:
        paragraphs.append(
            wrapped(
                f"To run on its own, this module needs the environment as plain Python: give "
                f"{type(environment).__name__} a member standalone(). As it is, each function takes an object with "
                "act(name), field(name), may(name) and call(name, function); alphanpi.Machine is one."
            )
        )
    return "\n\n".join(paragraphs)


def _doubt(rounds: int) -> str:
    return (
        f"Code from {rounds - 1} earlier round{'s' * (rounds > 2)} differed from the agent on random starts it had not "
        "seen; this code includes what was learned from them, but it may differ on others."
    )


def _described(entry: Coverage) -> str:
    parts = []
    if entry.enumerated:
        parts.append(f"all {entry.enumerated:,} starts up to size {entry.complete_to}")
    if entry.sampled:
        drawn = "" if entry.fresh == entry.sampled else f" ({entry.fresh:,} drawn after the code was found)"
        parts.append(f"{entry.sampled:,} random ones up to size {entry.largest}{drawn}")
    failed = f"; without {entry.failed:,} on which the agent fails" if entry.failed else ""
    return " and ".join(parts) + failed


def _warnings(
    environment: Environment[Any],
    standalone: Standalone[Any] | None,
    coverage: list[Coverage],
    rounds: int,
) -> list[str]:
    name = type(environment).__name__
    warnings = []
    if standalone is None and environment.standalone() is None:
        warnings.append(
            f"{name} has no member standalone(), so the module does not run on its own; "
            "docs/export.md says how to add it"
        )
    elif standalone is None:
        warnings.append(
            f"a program asks which actions are legal, and the runtime of {name} has no method may(name); "
            "the module takes an env object instead"
        )
    warnings += [
        f"{entry.program}: the agent itself fails on {entry.failed:,} of {entry.enumerated + entry.sampled:,} starts; "
        "what the code does there was not compared"
        for entry in coverage
        if entry.failed
    ]
    return [*warnings, _doubt(rounds)] if rounds > 1 else warnings


def _advice(environment: Environment[Any], difference: Difference, programs: list[Learned]) -> str:
    longest = max(programs, key=lambda learned: learned.traces)
    return (
        f"nothing exported: {difference}. Larger problems keep showing behaviour that smaller ones do not "
        f"({longest.program} has {longest.traces:,} distinct calls by now); an agent that sees fewer fields, "
        "or a larger --samples, may help"
    )


def _formatted(
    format_: Format,
    text: str,
    environment: Environment[Any],
    standalone: Standalone[Any] | None,
    programs: list[Learned],
    origin: Origin,
) -> str:
    if format_ == "python":
        return text
    if format_ == "dot":
        return as_dot(programs, Renderer(environment, standalone))
    document = {
        "format": "alphanpi-export",
        "version": 1,
        "alphanpi": __version__,
        **origin._asdict(),
        "fields": list(environment.fields),
        "programs": [as_records(learned) for learned in programs],
    }
    return json.dumps(document, indent=2) + "\n"
