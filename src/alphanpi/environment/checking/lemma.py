"""Lemmas: a cut-off names programs that exist, its conditions can be asked, and random instances do not refute it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_type_hints

import numpy as np

from alphanpi.environment.checking.examination import Examination
from alphanpi.environment.cutoff import Condition, Cutoff
from alphanpi.environment.guard import shown

_INSTANCES = 40
_STATES = 60


def check_lemma(exams: list[Examination], seed: int) -> None:
    """Rule `cutoff`."""
    probe, collector = exams[0].probe, exams[0].collector
    with collector.catching(None):
        cutoff = probe.cutoff()
        if cutoff is None:
            return
        sizes: Any = cutoff.sizes
        conditions: Any = cutoff.conditions
        if not isinstance(sizes, Mapping) or not isinstance(conditions, Sequence):
            message = "sizes maps each program to a size, and conditions is a tuple of Condition"
            collector.add("cutoff", None, f"{message}; got {shown(sizes)} and {shown(conditions)}")
            return
        learned = {exam.name: exam for exam in exams}
        _check_sizes(cutoff, learned)
        for condition in cutoff.conditions:
            _check_condition(condition, learned)
        _check_examine(cutoff, exams[0], seed)


def _check_sizes(cutoff: Cutoff, learned: dict[str, Examination]) -> None:
    collector = next(iter(learned.values())).collector
    for name, size in cutoff.sizes.items():
        if name not in learned:
            collector.add("cutoff", None, f"sizes names {name!r}; the programs are {', '.join(learned)}")
        elif not isinstance(size, int) or size < learned[name].program.minimum_size:
            least = learned[name].program.minimum_size
            collector.add(
                "cutoff", name, f"sizes says {size!r}; give a whole number, at least its minimum_size {least}"
            )
    missing = [name for name in learned if name not in cutoff.sizes]
    if missing:
        collector.note(f"cutoff: sizes says nothing about {', '.join(missing)}, which cannot be proved therefore")


def _check_condition(condition: Any, learned: dict[str, Examination]) -> None:
    collector = next(iter(learned.values())).collector
    if not isinstance(condition, Condition):
        collector.add("cutoff", None, f"conditions holds a {type(condition).__name__}, not a Condition")
        return
    exam = learned.get(condition.program)
    if exam is None:
        message = f"a condition names the program {condition.program!r}; the programs are {', '.join(learned)}"
        collector.add("cutoff", None, message)
        return
    places = get_args(get_type_hints(Condition)["where"])
    if condition.where not in places:
        collector.add("cutoff", exam.name, f"a condition says where={condition.where!r}; say {' or '.join(places)}")
    large = [start for start in exam.starts if start.size >= condition.from_size]
    for number, start in enumerate(large[:_STATES]):
        with collector.catching(exam.name, start.state):
            for state in exam.probe.walk(exam.name, start.state, exam.rng(number, 9), 3):
                holds: Any = exam.probe.ask(f"the condition {condition.text!r}", condition.holds, state)
                if not isinstance(holds, (bool, np.bool_)):
                    message = f"the condition {condition.text!r} returned {holds!r}; return True or False"
                    collector.add("cutoff", exam.name, message, state)


def _check_examine(cutoff: Cutoff, exam: Examination, seed: int) -> None:
    if cutoff.examine is None:
        return
    for number in range(_INSTANCES):
        # Every other instance is the same whatever the seed.
        rng = np.random.default_rng((seed, number) if number % 2 else number)
        fault: Any = exam.probe.ask("examine of the lemma", cutoff.examine, exam.probe.environment, rng)
        if fault is None:
            continue
        if isinstance(fault, str):
            exam.collector.add("cutoff", None, f"examine refutes the lemma: {fault}")
        else:
            message = f"examine returned {fault!r}; return None, or a text that says what does not fit"
            exam.collector.add("cutoff", None, message)
        return
