"""Exported code as an automaton: a state is a place in the code where an observation is made and an action follows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from alphanpi.environment.specification import STOP, Library
from alphanpi.exporting.blocks import Block, Do, If, Return, While
from alphanpi.exporting.conditions import BranchCondition, Comparison, Letter
from alphanpi.exporting.escaping import dot_string
from alphanpi.exporting.expressions import Expression, flat, joined, lines, negated
from alphanpi.exporting.minimise import Learned
from alphanpi.exporting.render import Labels

_LABEL_WIDTH = 60


class Branch(NamedTuple):
    """A condition on the way to an action, and whether it has to hold."""

    condition: BranchCondition
    holds: bool


class Transition(NamedTuple):
    """An action, the conditions under which it is taken, and the state afterwards; none after STOP."""

    when: tuple[Branch, ...]
    action: str
    following: int | None


States = tuple[tuple[Transition, ...], ...]


class _Rest(NamedTuple):
    """Code still to be executed: a block, then what comes after it."""

    block: Block
    after: _Rest | None


def automaton(block: Block) -> States:
    """The states of a program, the first one first; conditions of a state exclude each other."""
    numbers: dict[_Rest, int] = {_Rest(block, None): 0}
    states: list[tuple[Transition, ...]] = []
    pending = list(numbers)
    while len(states) < len(pending):
        transitions = []
        for when, action, rest in _moves(pending[len(states)], ()):
            if rest is not None and rest not in numbers:
                numbers[rest] = len(numbers)
                pending.append(rest)
            transitions.append(Transition(when, action, None if rest is None else numbers[rest]))
        states.append(tuple(transitions))
    return tuple(states)


def _moves(rest: _Rest | None, when: tuple[Branch, ...]) -> Iterator[tuple[tuple[Branch, ...], str, _Rest | None]]:
    while rest is not None and not rest.block:
        rest = rest.after
    if rest is None:
        yield when, STOP, None
        return
    first, following = rest.block[0], _Rest(rest.block[1:], rest.after)
    match first:
        case Do(action):
            yield when, action, _trimmed(following)
        case Return():
            yield when, STOP, None
        case If(_, then, otherwise, condition):
            assert condition is not None, "the block is complete"
            yield from _moves(_Rest(then, following), (*when, Branch(condition, True)))
            yield from _moves(_Rest(otherwise, following), (*when, Branch(condition, False)))
        case While(_, body, condition):
            assert condition is not None, "the block is complete"
            yield from _moves(_Rest(body, rest), (*when, Branch(condition, True)))
            yield from _moves(following, (*when, Branch(condition, False)))


def _trimmed(rest: _Rest) -> _Rest:
    """The same code without exhausted blocks, so that equal places are one state."""
    while not rest.block and rest.after is not None:
        rest = rest.after
    return rest


def step(states: States, state: int, letter: Letter) -> Transition:
    """The transition an observation leads to."""
    return next(
        transition
        for transition in states[state]
        if all(branch.condition.holds(letter) == branch.holds for branch in transition.when)
    )


def as_records(learned: Learned) -> dict[str, Any]:
    """One program for JSON."""

    def test_record(test: Comparison) -> dict[str, Any]:
        first, *others = [learned.features[index]._asdict() for index in test.features]
        named = [{"feature": other["name"], "kind": other["kind"]} for other in others]
        together = {"xor": named} if named else {}
        own = {"feature": first["name"], "kind": first["kind"]}
        return {**own, **together, "operator": test.operator, "value": test.value}

    def branch_record(branch: Branch) -> dict[str, Any]:
        terms = [[test_record(test) for test in term] for term in branch.condition.terms]
        return {"any_of": terms, "holds": branch.holds}

    return {
        "name": learned.program,
        "start": 0,
        "states": [
            {
                "id": number,
                "transitions": [
                    {
                        "when": [branch_record(branch) for branch in transition.when],
                        "action": transition.action,
                        "next": transition.following,
                    }
                    for transition in transitions
                ],
            }
            for number, transitions in enumerate(automaton(learned.block))
        ],
    }


def as_dot(programs: Sequence[Learned], library: Library, doubts: Sequence[str] = ()) -> str:
    """All programs as one Graphviz graph, a cluster for each; doubts about them are its title."""
    renderer = Labels(library, None)
    written = ["digraph alphanpi {", "  rankdir=TB;", '  node [shape=circle, fontname="Helvetica"];']
    written.append('  edge [fontname="Helvetica"];')
    if doubts:
        title = [line for doubt in doubts for line in textwrap.wrap(f"NOT ESTABLISHED: {doubt}", 2 * _LABEL_WIDTH)]
        written.append(f"  label={dot_string(title)};")
    for number, learned in enumerate(reversed(programs)):
        written += [f"  subgraph cluster_{number} {{", f"    label={dot_string([learned.program])};"]
        states = automaton(learned.block)
        for state in range(len(states)):
            written.append(f"    p{number}_{state} [label={dot_string([str(state)])}];")
        written.append(f"    p{number}_stop [shape=doublecircle, label={dot_string([STOP])}];")
        for state, transitions in enumerate(states):
            for transition in transitions:
                label = dot_string(_label(learned, renderer, transition))
                target = "stop" if transition.following is None else str(transition.following)
                written.append(f"    p{number}_{state} -> p{number}_{target} [label={label}];")
        written.append("  }")
    return "\n".join([*written, "}", ""])


def _label(learned: Learned, renderer: Labels, transition: Transition) -> list[str]:
    tests: list[Expression] = []
    for branch in transition.when:
        ways = [renderer.expression(learned, branch.condition, factored) for factored in (True, False)]
        tests.append(min((way if branch.holds else negated(way) for way in ways), key=lambda way: len(flat(way))))
    return [*(lines(joined("and", tests), _LABEL_WIDTH) if tests else []), transition.action]
