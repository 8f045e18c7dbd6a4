"""Reading and writing: what users type becomes a start, and what they read is a text."""

from __future__ import annotations

from alphanpi.environment.checking.examination import Examination
from alphanpi.environment.guard import shown
from alphanpi.environment.step import Step
from alphanpi.errors import AlphaNPIError, UsageError

_SIZES = 3
_STARTS_PER_SIZE = 8
_STEPS = 3
_NO_INSTANCES = ("", "?!", "\x00 no instance at all")


def check_texts(exam: Examination) -> None:
    """Rule `parse`; that `format` and `result` give texts is looked at with every state."""
    if exam.probe.gives("result"):
        _check_result(exam)
    if exam.probe.gives("parse"):
        for text in _NO_INSTANCES:
            _check_refusal(exam, text)
        if exam.probe.gives("format"):
            _check_round_trip(exam)


def _check_result(exam: Examination) -> None:
    """The steps of a run are handed over as a run keeps them."""
    probe, name = exam.probe, exam.name
    for number, start in enumerate(exam.smallest(_SIZES, _STARTS_PER_SIZE)):
        with exam.collector.catching(name, start.state):
            state, steps, rng = start.state, [], exam.rng(number, 11)
            for _ in range(_STEPS):
                actions = probe.legal_actions(name, state)
                if not actions:
                    break
                action = actions[int(rng.integers(len(actions)))]
                steps.append(Step(0, name, state, action))
                state = probe.act(state, action)
            probe.result(name, state, steps)


def _check_refusal(exam: Examination, text: str) -> None:
    name, probe = exam.name, exam.probe
    with exam.collector.catching(name):
        try:
            state = probe.environment.parse(name, text)
        except NotImplementedError:
            return
        except (Exception, SystemExit) as error:
            if isinstance(error, SystemExit):
                message = f"parse ends Python at {text!r}; raise UsageError with advice what to write"
                exam.collector.add("parse", name, message)
            return
        if state is None:
            message = f"parse returned None for {text!r}; raise UsageError with advice what to write"
            exam.collector.add("parse", name, message)
            return
        unfit = ""
        try:
            probe.hashable(state, f"parse of {text!r}")
            if not probe.pre(name, state, None):
                unfit = "in which the program cannot start"
            elif probe.size(state) < exam.program.minimum_size:
                unfit = f"which is smaller than the program's minimum_size {exam.program.minimum_size}"
            probe.observe(state)
        except AlphaNPIError:
            unfit = "in which the program cannot start"
        if unfit:
            exam.collector.note(
                f"{name}: parse takes {text!r} for an instance, {shown(state)}, {unfit}; "
                "raise UsageError with advice what to write"
            )


def _check_round_trip(exam: Examination) -> None:
    """What `format` writes, if `parse` reads it at all, should mean the same problem; only a note, for it need not."""
    probe, name = exam.probe, exam.name
    for start in exam.smallest(_SIZES, _STARTS_PER_SIZE):
        with exam.collector.catching(name, start.state):
            text = probe.format(start.state)
            try:
                state = probe.parse(name, text)
            except UsageError:  # the text says something else than an instance
                return
            again = probe.format(state)
            if again != text or not probe.pre(name, state, None):
                what = "the pre-condition does not hold" if again == text else f"format writes {again!r}"
                exam.collector.note(
                    f"{name}: parse reads {text!r}, as format writes a start, as a state where {what}: "
                    f"{shown(state)}; if a user may type this, it should be the same problem"
                )
                return
