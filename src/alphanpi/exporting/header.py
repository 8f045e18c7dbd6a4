"""What is said about exported code: the head of the module, and the warnings."""

from __future__ import annotations

from typing import Any, NamedTuple

from alphanpi import __version__
from alphanpi.environment.specification import Environment
from alphanpi.exporting.escaping import one_line
from alphanpi.exporting.render import wrapped

SIMPLIFIED = (
    ", except that they stop where all is done and leave out what changes nothing, and so achieve what is specified"
)


class Origin(NamedTuple):
    """Where an agent comes from, for the head of the exported file."""

    agent: str
    weights: str  # the first digits of their hash
    environment: str
    options: dict[str, Any]


class Coverage(NamedTuple):
    """What was compared of a program. Starts on which the agent itself fails are left out, and only counted."""

    program: str
    enumerated: int = 0  # starts
    complete_to: int = 0  # every start up to this size; below the smallest size if none
    sampled: int = 0  # random starts drawn before the code was found
    sampled_to: int = 0  # size of the largest of them
    learned_to: int = 0  # size of the largest start the code was made from
    fresh: int = 0  # random starts drawn after the code was found
    fresh_to: int = 0
    nested: int = 0  # most calls inside one another in a run at a very large size, where there was one
    nested_size: int = 0
    failed: int = 0
    endless: int = 0  # starts from which the agent's run was too long to be compared
    reason: str = ""  # why there are no fresh starts
    written_out: bool = False  # whether the code seems to be a loop written out
    proved: int = 0  # sequences of observations, if these are all there can be and the code did as the agent on each

    @property
    def general(self) -> bool:
        """Whether the code did what the agent does on starts it was not made from, and is no loop written out."""
        return self.proved > 0 or (self.fresh > 0 and not self.written_out)


def header(
    environment: Environment[Any],
    origin: Origin,
    missing: str,
    coverage: list[Coverage],
    rounds: int,
    simplified: bool = False,
) -> str:
    """The docstring of an exported module."""
    options = "".join(f", {name}={value}" for name, value in origin.options.items())
    title = one_line((type(environment).__doc__ or origin.environment).strip().split("\n")[0])
    came_from = f"{origin.agent}, weights {origin.weights}, environment {origin.environment}{options}"
    source = wrapped(
        f"Exported by AlphaNPI {__version__} from {one_line(came_from)}. The functions do what the greedy agent does, "
        f"action by action{SIMPLIFIED if simplified else ''}; this was checked by running them on"
    )
    described = [wrapped(f"{entry.program}: {_described(entry)}", "- ") for entry in reversed(coverage)]
    paragraphs = [title, source + "\n" + "\n".join(described)]
    paragraphs += [wrapped(f"NOT ESTABLISHED: {doubt}.") for doubt in doubts(coverage)]
    if rounds > 1:
        paragraphs.append(wrapped(f"{_relearned(rounds)}."))
    if missing:
        paragraphs.append(
            wrapped(
                f"{_no_runtime(environment, missing)} As it is, each function takes an object with act(name), "
                "field(name), may(name) and call(name, function); alphanpi.Machine is one."
            )
        )
    return "\n\n".join(paragraphs)


def _no_runtime(environment: Environment[Any], missing: str) -> str:
    name = one_line(type(environment).__name__)
    return (
        f"This module does not run on its own, since {name} could not be carried along: {one_line(missing)}. "
        f"Mend that, or give {name} a member standalone()."
    )


def _described(entry: Coverage) -> str:
    parts: list[str] = []
    if entry.enumerated:
        parts.append(f"all {entry.enumerated:,} starts up to size {entry.complete_to}")
    if entry.sampled:
        noun = ("one" if entry.enumerated else "start") + "s" * (entry.sampled > 1)
        parts.append(f"{entry.sampled:,} random {noun} up to size {entry.sampled_to}")
    if entry.fresh:
        parts.append(f"{entry.fresh:,} drawn after the code was found, up to size {entry.fresh_to}")
    else:
        parts.append("none drawn after the code was found")
    if entry.nested:
        parts.append(f"one of size {entry.nested_size:,} with {entry.nested:,} calls inside one another")
    left_out = f"; without {entry.failed:,} on which the agent fails" if entry.failed else ""
    proved = f"every sequence of observations that can occur, {entry.proved:,} in all (proved), and in runs from "
    return proved * bool(entry.proved) + ", ".join(parts) + left_out


def doubts(coverage: list[Coverage]) -> list[str]:
    """Why the code of some programs may not be general."""
    found = [
        f"{entry.program}: no start could be drawn after the code was found, so nothing shows that it is right beyond "
        f"what it was made from: {one_line(entry.reason)}"
        for entry in coverage
        if not entry.fresh and not entry.proved
    ]
    found += [
        f"{entry.program}: the code seems to be a loop written out as far as it was seen: parts of it are used only by "
        "the longest calls, and longer ones would need more"
        for entry in coverage
        if entry.written_out and not entry.proved
    ]
    return found


def _relearned(rounds: int) -> str:
    return (
        f"Code from {rounds - 1} earlier round{'s' * (rounds > 2)} differed from the agent on random starts it had not "
        "seen; this code includes what was learned from them, but it may differ on others"
    )


def warnings(
    environment: Environment[Any],
    missing: str,
    discerns: bool,
    coverage: list[Coverage],
    rounds: int,
) -> list[str]:
    """What a user should know about an export."""
    name = type(environment).__name__
    found = doubts(coverage)
    if not discerns:
        found.append(
            f"{name}: standalone(): agrees holds whatever the final state is, so final states were not compared"
        )
    if missing:
        found.append(
            f"the module does not run on its own: {name}: {missing}; mend that, or add a member standalone(), "
            "see docs/export.md"
        )
    without = [entry.program for entry in coverage if not entry.enumerated]
    if without:
        found.append(
            f"{', '.join(without)}: no starts were enumerated, so nothing was compared completely; "
            f"give {name} a member enumerate() or templates()"
        )
    for entry in coverage:
        if entry.failed:
            found.append(
                f"{entry.program}: the agent itself fails on {entry.failed:,} starts; "
                "what the code does there was not compared"
            )
        if entry.endless:
            found.append(
                f"{entry.program}: {entry.endless:,} runs of the agent were too long; "
                "what the code does there was not compared"
            )
    return [*found, _relearned(rounds)] if rounds > 1 else found
