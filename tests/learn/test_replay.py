"""The replay feeds both outcomes and keeps the newest."""

from __future__ import annotations

import numpy as np

from alphanpi import make
from alphanpi.learn.replay import Replay
from tests.helpers.replays import explored


def test_nothing_is_stored_of_a_program_that_never_succeeded():
    environment = make("flat-sorting")
    traces = explored(environment, "BUBBLESORT", 3, 40, simulations=4)
    failures = [trace for trace in traces if not trace.success]
    successes = [trace for trace in traces if trace.success]
    assert failures
    assert successes
    replay = Replay(environment, 100)
    replay.add(failures[0])
    assert len(replay) == 0
    replay.add(successes[0])
    replay.add(failures[0])
    assert len(replay) == 2


def test_replay_keeps_the_newest():
    environment = make("sorting")
    traces = [trace for trace in explored(environment, "RSHIFT", 3, 30) if trace.success]
    replay = Replay(environment, capacity=5)
    for trace in traces[:12]:
        replay.add(trace)
    kept = {stored.policies.tobytes() for stored in replay.rings[0, True].traces}
    assert kept == {trace.policies.astype(np.float32).tobytes() for trace in traces[7:12]}
