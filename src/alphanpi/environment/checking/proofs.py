"""What proofs by machine rest on: `valid` and `symbolic` allow what there is, and unknown values act like known."""

from __future__ import annotations

import importlib.util

from alphanpi.environment.checking.examination import Examination
from alphanpi.symbolic.base import offers_proof
from alphanpi.symbolic.faults import NotExpressibleError

_SIZES = 4
_STARTS_PER_SAMPLE = 0.2
_STEPS = 4


def check_proof(exam: Examination) -> None:
    """Rules `valid` and `symbolic`, where the environment offers proofs and z3 is there."""
    environment, name = exam.probe.environment, exam.name
    if not offers_proof(environment):
        return
    if importlib.util.find_spec("z3") is None:
        exam.collector.note("symbolic() was not tried: z3 is not installed; pip install 'alphanpi[proof]'")
        return
    from alphanpi.environment.checking.twin import Twin

    with exam.collector.catching(name):
        try:
            twin = Twin(environment)
        except NotExpressibleError as error:
            exam.collector.add("symbolic", name, f"not expressible: {error}")
            return
        each = max(1, int(exam.samples * _STARTS_PER_SAMPLE))
        entered = [call.entered for call in exam.needed.of(name)][:each]
        for number, state in enumerate([*(start.state for start in exam.smallest(_SIZES, each)), *entered]):
            unfit = twin.unfit(state, name)
            if unfit is not None:
                exam.collector.add("valid", name, f"no proof is about a state in which it begins: {unfit}", state)
                return
            before, rng = state, exam.rng(number, 17)
            for _ in range(_STEPS):
                difference = twin.difference(name, before, state)
                if difference is not None:
                    exam.collector.add("symbolic", name, difference)
                    return
                actions = exam.probe.legal_actions(name, state)
                if not actions:
                    break
                state = exam.probe.act(state, actions[int(rng.integers(len(actions)))])
