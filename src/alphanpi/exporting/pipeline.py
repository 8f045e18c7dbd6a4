"""Exporting: watch the agent, find code, check that the code does the same, and only then hand it out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from alphanpi import __version__
from alphanpi.agent.agent import Agent
from alphanpi.agent.interpreter import Interpreter
from alphanpi.agent.loading import NamedEnvironment, Subject, as_agent
from alphanpi.cluster.agents import spread_agent
from alphanpi.environment.specification import Environment
from alphanpi.errors import UsageError
from alphanpi.exporting.automaton import as_dot, as_records
from alphanpi.exporting.behaviour import Case, Watcher
from alphanpi.exporting.clock import TIME_LIMIT, Clock, CodeNotFound, ExportFailed
from alphanpi.exporting.header import Coverage, Origin, doubts, warnings
from alphanpi.exporting.javascript import UntranslatableError, WrittenJavaScript, written
from alphanpi.exporting.minimise import Learned
from alphanpi.exporting.playing import play
from alphanpi.exporting.rounds import Checked, Rounds
from alphanpi.network.evaluator import Evaluator
from alphanpi.support import limits, markup
from alphanpi.support.files import require_writable, write_atomically
from alphanpi.verification.sequences import ShownSequence, proved_sequences

Format = Literal["python", "javascript", "json", "dot"]
FORMATS: tuple[Format, ...] = ("python", "javascript", "json", "dot")
_ROUNDS = 4
_PLAIN = 2 / 3  # share of the time in which code is looked for that does all that the agent does
_LEAST = 0.1
_HINT = "loops are found far more easily of an agent trained with a window, --network.window 1"
_MOST_SAMPLES = 1_000_000


class Export(NamedTuple):
    """Programs of an agent as code that has been checked."""

    text: str  # in the format asked for
    programs: tuple[Learned, ...]
    standalone: bool  # whether the Python module runs on its own
    coverage: tuple[Coverage, ...]
    cases: int  # runs compared
    actions: int  # actions compared
    rounds: int  # how often code was made; more than once if larger problems showed something new
    simplified: bool  # whether it leaves out what the agent need not do
    warnings: tuple[str, ...]

    @property
    def proved(self) -> bool:
        """Whether every program does as the agent on every sequence of observations that can occur."""
        return all(entry.proved for entry in self.coverage)

    @property
    def general(self) -> bool:
        """Whether every program did as the agent on starts its code was not made from; warnings say where not."""
        return all(entry.general for entry in self.coverage)

    def _repr_html_(self) -> str:
        return f"<pre>{markup.text(self.text)}</pre>"


def export(
    run: Subject,
    *,
    format: Format = "python",  # noqa: A002 - the name of the option
    out: str | Path | None = None,
    max_size: int | None = None,
    samples: int = 2000,
    seed: int = 0,
    time_limit: float | None = TIME_LIMIT,
    simplify: bool | None = None,
    certificate: str | Path | None = None,
    environment: NamedEnvironment = None,
    say: Callable[[str], None] | None = None,
    workers: int | None = None,
    ray: str | None = None,
) -> Export:
    """The learned library of a run as source code, in Python or JavaScript, an automaton in JSON, or a Graphviz graph.

    The code is compared with the greedy agent, action by action, on every start up to a size and on random ones far
    beyond, drawn after the code was found. Where they differ and more observation does not help, or time is over,
    `ExportFailed` is raised and nothing is written. `Export.general` says whether every program could be compared on
    starts its code was not made from.

    Args:
        run: An agent, or what `load` takes.
        format: `python`, `javascript`, `json` or `dot`.
        out: File to write.
        max_size: Look at every start up to this size; by default as far as it is cheap.
        samples: Random larger starts to compare on, of all programs together.
        seed: Decides the random starts.
        time_limit: Seconds after which it is given up; None for no limit.
        simplify: Let the agent stop where all is done, and leave out what changes nothing, where every run that was
            looked at still succeeds; the code is compared with the agent as led in this way. None: where no code is
            found that does what the agent does, in two thirds of the time; a warning says so.
        certificate: A certificate that says PROVED of the agent; `certificate.json` in the run's folder if omitted and
            there. It is computed again, and then the code is run on every sequence of observations that can occur.
        environment: The agent's environment, if `run` names one that is not trusted; see `load`.
        say: Called with a line for each stage.
        workers: Processes of Ray that run the agent on the starts; the code does not depend on them.
        ray: Address of the cluster they are in; this machine if not given.
    """
    if out is not None:
        require_writable(Path(out))
    _check_format(format)
    with spread_agent(as_agent(run, environment=environment), workers, ray) as agent:
        card = agent.card
        proof = _proof(agent, certificate, time_limit, say) if not simplify else _Proof({}, "")
        find = partial(
            find_code,
            agent.environment,
            agent.evaluator,
            Origin(agent.name, agent.weights_hash[:12], card.environment, card.options),
            max_size=max_size,
            samples=samples,
            seed=seed,
            say=say,
            interpreter=None if workers is None else agent.interpreter,
            sequences=proof.sequences,
        )
        simplify = False if certificate is not None and simplify is None else simplify
        exported = _exported(find, simplify, time_limit, format)
    if proof.problem and not exported.simplified:
        exported = exported._replace(warnings=(*exported.warnings, proof.problem))
    if out is not None:
        write_atomically(Path(out), exported.text)
    return exported


class _Proof(NamedTuple):
    """What a certificate shows of an agent, and if it is not used, why."""

    sequences: Mapping[str, Sequence[ShownSequence]]
    problem: str


def _proof(agent: Agent, given: str | Path | None, seconds: float | None, say: Callable[[str], None] | None) -> _Proof:
    """All sequences that can occur, if a certificate for exactly this agent and environment holds."""
    directory = agent.run_directory
    path = Path(given) if given is not None else None if directory is None else directory.certificate_file
    if path is None or (given is None and not path.is_file()):
        return _Proof({}, "")
    if say is not None:
        say(f"computing {path.name} again")
    try:
        return _Proof(proved_sequences(agent, path, seconds), "")
    except UsageError as error:
        if given is not None:
            raise
        return _Proof({}, f"equality is not proved: {error}")


def export_evaluator(
    environment: Environment[Any],
    evaluator: Evaluator,
    origin: Origin,
    *,
    format: Format = "python",  # noqa: A002 - the name of the option
    max_size: int | None = None,
    samples: int = 2000,
    seed: int = 0,
    time_limit: float | None = TIME_LIMIT,
    simplify: bool | None = None,
    say: Callable[[str], None] | None = None,
) -> Export:
    """The same for an environment and anything that evaluates histories in it."""
    _check_format(format)
    find = partial(find_code, environment, evaluator, origin, max_size=max_size, samples=samples, seed=seed, say=say)
    return _exported(find, simplify, time_limit, format)


def _exported(
    find: Callable[..., FoundCode], simplify: bool | None, time_limit: float | None, format_: Format
) -> Export:
    """What is found, in a format; simpler code, where nobody said whether it may be, only if there is no other."""
    if simplify is not None:
        return find(simplify=simplify, time_limit=time_limit).exported(format_)
    began = time.monotonic()
    try:
        found = find(time_limit=None if time_limit is None else _PLAIN * time_limit)
    except CodeNotFound as plain:
        seconds = time.monotonic() - began
        try:
            simpler = find(simplify=True, time_limit=None if time_limit is None else max(time_limit - seconds, _LEAST))
        except CodeNotFound as error:
            other = str(error).removeprefix("nothing exported: ")
            raise CodeNotFound(f"{plain}; without what the agent need not do, too: {other}") from error
        exported, hint = simpler.exported(format_), f"; {_HINT}" if _HINT in str(plain) else ""
        told = (
            f"no code was found in {seconds:.0f} s that does all that the agent does: this leaves out what it need not "
            f"do, as --simplify does; --no-simplify and a larger --time-limit look for the other{hint}"
        )
        return exported._replace(warnings=(told, *exported.warnings))
    found.rounds.clock.grant(0.0 if time_limit is None else (1 - _PLAIN) * time_limit)
    return found.exported(format_)


class FoundCode(NamedTuple):
    """Code that does what the agent does, before it is written in a format."""

    checked: Checked
    rounds: Rounds
    number: int  # of the round it was found in

    def exported(self, format_: Format, most_compared: int | None = None) -> Export:
        """The code in a format; JavaScript is compared with it on all its starts, or on so many of them."""
        return _export(self.checked, self.rounds, self.number, format_, most_compared)


def find_code(
    environment: Environment[Any],
    evaluator: Evaluator,
    origin: Origin,
    *,
    max_size: int | None = None,
    samples: int = 2000,
    seed: int = 0,
    time_limit: float | None = TIME_LIMIT,
    simplify: bool = False,
    say: Callable[[str], None] | None = None,
    interpreter: Interpreter | None = None,
    sequences: Mapping[str, Sequence[ShownSequence]] | None = None,
) -> FoundCode:
    """Look for code and check it; `ExportFailed` if there is none, or if its time is over.

    `sequences` are, by program, all that calls of the agent can be shown, where that is proved; the code is run on
    each of them.
    """
    _check_arguments(environment, max_size, samples, seed, time_limit)
    watcher = Watcher(environment, evaluator, Clock(time_limit, say), simplify, interpreter)
    rounds = Rounds(watcher, origin, samples, seed, None if simplify else sequences)
    try:
        return _checked(rounds, max_size)
    except ExportFailed as error:
        told = [str(error), _so_far(rounds), _HINT if _remembers_loops(rounds) else ""]
        raise type(error)("; ".join(filter(None, told))) from error


def _checked(rounds: Rounds, max_size: int | None) -> FoundCode:
    """What is exported, once it was found."""
    rounds.watch(max_size)
    for number in range(1, _ROUNDS + 1):
        found = rounds.attempt(number)
        if isinstance(found, Checked):
            return FoundCode(found, rounds, number)
    longest = max(rounds.library.learned, key=lambda entry: len(rounds.watcher.traces[entry.name])).name
    raise CodeNotFound(
        f"nothing exported: {found}. Larger problems keep showing behaviour that smaller ones do not ({longest} has "
        f"{len(rounds.watcher.traces[longest]):,} distinct calls by now); an agent that sees fewer fields, or a larger "
        "--samples, may help"
    )


def _so_far(rounds: Rounds) -> str:
    """For which programs code was found, where that is not all of them."""
    names = [entry.name for entry in rounds.library.learned]
    missing = [name for name in names if name not in rounds.written]
    if not missing:
        return ""
    found = f"code was found for {', '.join(rounds.written)}, not" if rounds.written else "no code was found yet"
    return f"{found} for {', '.join(missing)}"


def _remembers_loops(rounds: Rounds) -> bool:
    """Whether the agent remembers all of a call, though there are programs with calls of any length."""
    return not rounds.watcher.window and any(entry.growing for entry in rounds.library.learned)


def _export(found: Checked, rounds: Rounds, number: int, format_: Format, most_compared: int | None = None) -> Export:
    environment, coverage = rounds.environment, rounds.coverage
    standalone = found.renderer.standalone is not None
    cases = [*rounds.learned, *rounds.examined]
    told = warnings(environment, found.missing, found.discerns, coverage, number)
    if _remembers_loops(rounds) and any(entry.written_out for entry in coverage):
        told.append(_HINT)
    if format_ == "javascript":
        some = cases if most_compared is None else cases[:: -(-len(cases) // most_compared)]
        script = _javascript(found, environment, some, rounds.clock)
        text, told = script.text, [*told, *script.warnings]
    else:
        text = _formatted(format_, found, rounds)
        if format_ in ("json", "dot"):
            play(format_, text, rounds.watcher.guard, cases, rounds.clock)
    return Export(
        text=text,
        programs=tuple(found.programs),
        standalone=standalone,
        coverage=tuple(coverage),
        cases=len(cases),
        actions=sum(case.steps for case in cases),
        rounds=number,
        simplified=rounds.watcher.sparing is not None,
        warnings=tuple(told),
    )


def _javascript(found: Checked, environment: Environment[Any], cases: list[Case], clock: Clock) -> WrittenJavaScript:
    """The module in JavaScript; without the part that makes it a script, if that is all that has no translation."""
    try:
        return written(found.text, environment, found.renderer, cases, clock)
    except UntranslatableError as error:
        shorter = found.without_main()
        if len(shorter) == len(found.text):
            raise
        script = written(shorter, environment, found.renderer, cases, clock)
        return WrittenJavaScript(
            script.text,
            (*script.warnings, f"the file is no script and has no run(), since {error.what} has no translation"),
        )


def _check_format(format_: str) -> None:
    if format_ not in FORMATS:
        raise UsageError(f"format {format_!r} is unknown; choose {', '.join(FORMATS)}")


def _check_arguments(
    environment: Environment[Any],
    max_size: int | None,
    samples: int,
    seed: int,
    time_limit: float | None,
) -> None:
    if not 1 <= samples <= _MOST_SAMPLES:
        raise UsageError(f"{samples} samples: give a number from 1 to {_MOST_SAMPLES:,}")
    limits.seed(seed)
    if time_limit is not None and not 0 < time_limit <= limits.MOST_SECONDS:
        raise UsageError(f"a time limit of {time_limit} s: give more than none, and at most {limits.MOST_SECONDS:,.0f}")
    if max_size is not None:
        limits.size("max size", max_size)
    smallest = min(entry.minimum_size for entry in environment.library.learned)
    if max_size is not None and max_size < smallest:
        raise UsageError(f"no program starts at size {max_size}; give a maximal size of at least {smallest}")


def _formatted(format_: Format, found: Checked, rounds: Rounds) -> str:
    if format_ == "python":
        return found.text
    if format_ == "dot":
        return as_dot(found.programs, found.renderer.library, doubts(rounds.coverage))
    document = {
        "format": "alphanpi-export",
        "version": 1,
        "alphanpi": __version__,
        **rounds.origin._asdict(),
        "fields": list(rounds.environment.fields),
        "simplified": rounds.watcher.sparing is not None,
        "general": all(entry.general for entry in rounds.coverage),
        "coverage": [entry._asdict() for entry in rounds.coverage],
        "programs": [as_records(learned) for learned in found.programs],
    }
    return json.dumps(document, indent=2, default=repr) + "\n"
