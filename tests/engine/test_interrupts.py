"""A search can be interrupted at any time; that it pauses for this changes nothing."""

from __future__ import annotations

import itertools

import pytest

from alphanpi import SearchConfig
from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.engine import episodes
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.engine.tables import Hole
from alphanpi.environment.registry import make
from alphanpi.network.model import CompiledEvaluator, create_network
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.networks import HashNetwork


@pytest.mark.parametrize("nodes", [1, 7, 100])
@pytest.mark.parametrize("compiled", [False, True])
def test_pauses_of_the_search_change_nothing(monkeypatch, nodes, compiled):
    hanoi = make("hanoi")
    config = SearchConfig(simulations=40, noise_fraction=0.5)
    network = CompiledEvaluator(create_network(hanoi, 5)) if compiled else HashNetwork(len(hanoi.library), 5)
    requests = [
        Request("HANOI", hanoi.parse("HANOI", str(size)), (0, number), exploring=number % 3 > 0)
        for number, size in enumerate((1, 2, 2, 3, 2, 1))
    ]

    def played(batch):
        return [
            (
                trace.actions.tolist(),
                trace.visits.tolist(),
                trace.policies.tolist(),
                trace.value,
                trace.failure,
                trace.simulations,
                trace.tried,
            )
            for trace in Search(hanoi, network, config).run(requests, batch=batch)
        ]

    expected = played(4)
    monkeypatch.setattr(episodes, "NODES_AT_ONCE", nodes)
    pauses = []
    fill = episodes.Episodes.fill

    def counted(self, waiting, foresees_evaluations=True):
        pauses.append((self.questions["hole"][:waiting] == Hole.PAUSE).any())
        fill(self, waiting, foresees_evaluations)

    monkeypatch.setattr(episodes.Episodes, "fill", counted)
    assert played(4) == expected
    assert any(pauses)


def test_an_interrupted_search_or_run_leaves_nothing_half_done(monkeypatch):
    chain = Chain()
    search, interpreter = Search(chain, HashNetwork(3, 1)), Interpreter(chain, ChainNetwork())
    request, call = Request("DOWN", 9, exploring=True), Call("DOWN", 9)
    expected = Search(chain, HashNetwork(3, 1)).run([request])[0].actions.tolist(), interpreter.run([call])
    count = itertools.count()

    def interrupted(self, state):
        if next(count) == 5:
            raise KeyboardInterrupt
        return (int(state == 0),)

    for drive in (lambda: search.run([request]), lambda: interpreter.run([call])):
        interpreter.forget()
        count = itertools.count()
        with monkeypatch.context() as patched:
            patched.setattr(Chain, "observe", interrupted)
            with pytest.raises(KeyboardInterrupt):
                drive()
    assert search.statistics.states == 0
    assert (search.run([request])[0].actions.tolist(), interpreter.run([call])) == expected
