"""The engine is the oracle, only faster; and its results depend on each request alone."""

from __future__ import annotations

import collections
from itertools import product

import numpy as np
import pytest

from alphanpi import (
    Environment,
    Failure,
    NetworkConfig,
    Request,
    Search,
    SearchConfig,
    action,
    create_evaluator,
    create_network,
    load,
    make,
    program,
)
from alphanpi.engine import episodes, foresight
from alphanpi.engine.fused import ROWS_AT_ONCE
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.searches import (
    ENVIRONMENTS,
    assert_equal,
    by_oracle,
    random_config,
    random_evaluator,
    random_requests,
)

CASES_PER_ENVIRONMENT = 100
CASES_OF_FLAT_SORTING = 30  # one program and no calls, but traces so long that the oracle needs most of the time
EPISODES_PER_CASE = 3  # (5 * 100 + 2 * 30) * 3 = 1,680 searches


@pytest.mark.parametrize(("name", "options"), ENVIRONMENTS, ids=lambda value: str(value))
def test_engine_equals_oracle(name, options):
    environment = make(name, **options)
    outcomes: collections.Counter = collections.Counter()
    for case in range(CASES_OF_FLAT_SORTING if name == "flat-sorting" else CASES_PER_ENVIRONMENT):
        rng = np.random.default_rng((1, case))
        config, evaluator = random_config(rng), random_evaluator(environment, rng)
        requests = random_requests(environment, rng, EPISODES_PER_CASE, case, together=4)
        traces = Search(environment, evaluator, config).run(requests)
        for request, trace in zip(requests, traces, strict=True):
            expected = by_oracle(environment, evaluator, config, request)
            assert_equal(trace, expected)
            outcomes[request.exploring, trace.failure] += 1
    # The comparison is worth something only if both modes and all ordinary outcomes occurred.
    for exploring in (False, True):
        reasons = {failure for mode, failure in outcomes if mode == exploring}
        assert {Failure.NONE, Failure.POST, Failure.NODES} <= reasons
    assert Failure.DEPTH in {failure for _, failure in outcomes}


def test_batches_do_not_matter():
    for name, options in ENVIRONMENTS:
        environment = make(name, **options)
        rng = np.random.default_rng(7)
        evaluator = create_evaluator(create_network(environment, 3))
        config = SearchConfig(simulations=25)
        requests = [request for case in range(8) for request in random_requests(environment, rng, 3, case)]
        reference = [Search(environment, evaluator, config).run([request])[0] for request in requests]
        for batch in (2, 5, len(requests)):
            for trace, expected in zip(
                Search(environment, evaluator, config).run(requests, batch=batch), reference, strict=True
            ):
                assert trace.actions.tolist() == expected.actions.tolist()
                assert trace.visits.tolist() == expected.visits.tolist()
                assert trace.policies.tolist() == expected.policies.tolist()
                assert (trace.failure, trace.value, trace.final) == (
                    expected.failure,
                    expected.value,
                    expected.final,
                )


class CalledEvaluator:
    """A network whose weights are hidden, so that the engine has to call it."""

    def __init__(self, evaluator) -> None:
        self.evaluate = evaluator.evaluate
        self.memory_width = evaluator.memory_width
        self.window, self.windows = evaluator.window, evaluator.windows


@pytest.mark.parametrize("small", [False, True])
def test_evaluations_in_compiled_code_are_those_of_the_evaluator(monkeypatch, small):
    if small:  # tables that grow again and again, and a cache with room for nearly none
        for size in ("_FIRST_ROWS", "_FIRST_CAPACITY", "_PERCEIVED"):
            monkeypatch.setattr(f"alphanpi.engine.histories.{size}", 4)
    for (name, options), window in product(ENVIRONMENTS, (0, 1, 2)):
        environment = make(name, **options)
        evaluator = create_evaluator(create_network(environment, 5, NetworkConfig(window=window)))
        requests = random_requests(environment, np.random.default_rng(11), 12, 0)
        config = SearchConfig(simulations=30)
        inside, outside = (
            Search(environment, evaluator, config),
            Search(environment, CalledEvaluator(evaluator), config),
        )
        for a, b in zip(inside.run(requests), outside.run(requests), strict=True):
            assert (a.failure, a.value, a.final) == (b.failure, b.value, b.final)
            assert a.visits.tolist() == b.visits.tolist()
            assert a.policies.tolist() == b.policies.tolist()
            assert a.memories.tobytes() == b.memories.tobytes()
        assert inside.statistics.evaluations > 0


def test_episodes_that_need_much_room_are_played_in_smaller_batches():
    environment = make("flat-sorting", observation="compare")
    evaluator = create_evaluator(create_network(environment, 0))
    rng = np.random.default_rng(0)
    requests = [Request("BUBBLESORT", environment.initial("BUBBLESORT", 3, rng), i, True) for i in range(24)]
    reference = Search(environment, evaluator, SearchConfig(simulations=50)).run(requests)
    needed = 0
    for request in requests:
        alone = Search(environment, evaluator, SearchConfig(simulations=50))
        alone.run([request])
        needed = max(needed, alone.statistics.histories)
    tight = Search(environment, evaluator, SearchConfig(simulations=50, max_histories=needed + 10))
    played = tight.run(requests)
    assert {trace.failure for trace in played}.isdisjoint({Failure.HISTORIES})
    for a, b in zip(played, reference, strict=True):
        assert (a.failure, a.visits.tolist()) == (b.failure, b.visits.tolist())
    assert tight.statistics.histories <= tight.config.max_histories


def test_what_was_searched_before_does_not_matter():
    environment = make("recursive-sorting")
    evaluator = create_evaluator(create_network(environment, 0))
    search = Search(environment, evaluator, SearchConfig(simulations=30))
    requests = random_requests(environment, np.random.default_rng(0), 6, 0)
    first = search.run(requests)
    second = search.run(requests)
    search.forget()
    third = search.run(requests)
    for a, b, c in zip(first, second, third, strict=True):
        assert a.visits.tolist() == b.visits.tolist() == c.visits.tolist()
    assert search.statistics.evaluations > 0


def test_forgetting_states_does_not_matter():
    environment = make("sorting")
    evaluator = create_evaluator(create_network(environment, 0))
    search = Search(environment, evaluator, SearchConfig(max_states=600))
    rng = np.random.default_rng(0)
    for batch in range(12):
        requests = [Request("RSHIFT", environment.initial("RSHIFT", 5, rng), (batch, i), True) for i in range(10)]
        fresh = Search(environment, evaluator, SearchConfig()).run(requests)
        for a, b in zip(search.run(requests), fresh, strict=True):
            assert a.visits.tolist() == b.visits.tolist()
    assert search.statistics.states < 600


def told(trace):
    counted = (trace.failure, trace.value, trace.simulations, trace.tried)
    return counted, trace.states, trace.final, trace.visits.tolist(), trace.policies.tolist()


def test_an_episode_alone_leaves_states_behind_and_ends_as_with_a_table_for_all_of_them(monkeypatch):
    for module in (episodes, foresight):  # problems this small fit into any table that has room for what is foreseen
        monkeypatch.setattr(module, "FARTHEST", 5)
    made_room = 0
    for name, options in ENVIRONMENTS:
        environment = make(name, **options)
        for case in range(60):
            rng = np.random.default_rng((2, case))
            config, evaluator = random_config(rng), random_evaluator(environment, rng)
            for request in random_requests(environment, rng, 2, case, together=3):
                large = Search(environment, evaluator, config)
                small = Search(environment, evaluator, config.model_copy(update={"max_states": 25}))
                (whole,), (trace,) = large.run([request]), small.run([request])
                if trace.failure == Failure.STATES:
                    continue
                assert told(trace) == told(whole)
                made_room += large.statistics.states > 25
    assert made_room >= 8


@pytest.mark.parametrize("name", ["sorting", "recursive-sorting", "hanoi"])
def test_a_long_run_needs_few_states_at_a_time(name):
    agent = load(f"pretrained:{name}")
    top, size = agent.environment.library.learned[-1].name, 10 if name == "hanoi" else 30
    request = Request(top, agent.environment.initial(top, size, np.random.default_rng(0)))
    planner = agent.planner()
    (whole,) = planner.run([request])
    fewer = planner.config.model_copy(update={"max_states": planner.statistics.states // 3})
    (trace,) = Search(agent.environment, agent.evaluator, fewer).run([request])
    assert whole.success
    assert told(trace) == told(whole)


class Branches(Environment[int]):
    """Two actions that lead apart, and observations that tell all states apart."""

    fields = ("place",)

    @action()
    def LEFT(self, state: int) -> int:
        """Go on."""
        return (2 * state + 1) % 30_000

    @action()
    def RIGHT(self, state: int) -> int:
        """Go on."""
        return (2 * state + 2) % 30_000

    @program(level=1, depth=6)
    def FAR(self, before: int, after: int) -> bool:
        """Get far."""
        return after > 20_000

    def initial(self, program: str, size: int, rng: np.random.Generator) -> int:
        return int(rng.integers(30_000))

    def observe(self, state: int) -> tuple[int, ...]:
        return (state,)

    def size(self, state: int) -> int:
        return 1


@pytest.mark.parametrize("kept", [4, 1 << 14])
def test_large_batches_of_evaluations_are_those_of_the_evaluator(monkeypatch, kept):
    monkeypatch.setattr("alphanpi.engine.histories._PERCEIVED", kept)
    monkeypatch.setattr("alphanpi.engine.search._FIRST_BATCH", 300)
    environment = Branches()
    evaluator = create_evaluator(create_network(environment, 1, NetworkConfig(window=0)))
    states = range(0, 30_000, 100)  # more at once than are evaluated at once
    requests = [Request("FAR", state, seed, exploring=True) for seed, state in enumerate(states)]
    assert len(requests) > ROWS_AT_ONCE
    config = SearchConfig(simulations=10)
    inside = Search(environment, evaluator, config)
    outside = Search(environment, CalledEvaluator(evaluator), config)
    for a, b in zip(inside.run(requests, 300), outside.run(requests, 300), strict=True):
        assert a.visits.tolist() == b.visits.tolist()
        assert a.policies.tolist() == b.policies.tolist()
        assert a.memories.tobytes() == b.memories.tobytes()
    statistics = inside.statistics
    assert statistics.evaluation_seconds > 0.0
    assert statistics.evaluation_seconds + statistics.environment_seconds < statistics.seconds


@pytest.mark.parametrize("depth", [3, 10_000])
def test_calls_nest_ten_thousand_deep(depth):
    config = SearchConfig(c_level=0.0)
    trace = Search(Chain(), ChainNetwork(), config).run([Request("DOWN", depth)])[0]
    assert trace.success
    assert trace.final == 0
    assert [Chain.library.names[a] for a in trace.actions] == ["DOWN", "STEP", "STOP"]


def test_call_depth_is_a_failure_reason():
    config = SearchConfig(c_level=0.0, max_call_depth=50)
    search = Search(Chain(), ChainNetwork(), config)
    assert search.run([Request("DOWN", 51)])[0].failure == Failure.CALL_DEPTH
    assert search.run([Request("DOWN", 50)])[0].success
    # Memory of the shorter chain must not let the longer one through.
    assert search.run([Request("DOWN", 51)])[0].failure == Failure.CALL_DEPTH


def test_too_many_actions_are_a_failure_reason_whatever_is_remembered():
    def search(limit):
        return Search(Chain(), ChainNetwork(), SearchConfig(c_level=0.0, max_actions=limit))

    enough = next(limit for limit in range(1, 1000) if search(limit).run([Request("DOWN", 20)])[0].success)
    assert enough > 20
    small = search(enough - 1)
    assert small.run([Request("DOWN", 20)])[0].failure == Failure.ACTIONS
    # Memory of shorter chains must not let the longer one through, nor make it fail.
    assert small.run([Request("DOWN", 19)])[0].success
    assert small.run([Request("DOWN", 20)])[0].failure == Failure.ACTIONS
    exact = search(enough)
    assert [trace.success for trace in exact.run([Request("DOWN", 19), Request("DOWN", 20), Request("DOWN", 21)])] == [
        True,
        True,
        False,
    ]


def test_full_tables_are_failure_reasons_and_the_engine_survives():
    environment = make("flat-sorting")
    rng = np.random.default_rng(0)
    requests = [Request("BUBBLESORT", environment.initial("BUBBLESORT", 4, rng), i, True) for i in range(4)]
    small = Request("BUBBLESORT", environment.parse("BUBBLESORT", "1 2"), 0, False)
    evaluator = create_evaluator(create_network(environment, 0))
    for limit, reason in (
        ({"max_states": 60}, Failure.STATES),
        ({"max_histories": 60}, Failure.HISTORIES),
        ({"max_nodes": 60}, Failure.NODES),
    ):
        search = Search(environment, evaluator, SearchConfig(**limit))
        assert reason in {trace.failure for trace in search.run(requests)}
        assert search.run([small])[0].failure not in (reason, Failure.CALL)


def test_a_full_table_does_not_depend_on_the_batch():
    environment = make("flat-sorting", observation="compare")
    evaluator = create_evaluator(create_network(environment, 0))
    rng = np.random.default_rng(0)
    requests = [Request("BUBBLESORT", environment.initial("BUBBLESORT", 2 + i % 3, rng), i, True) for i in range(9)]
    config = SearchConfig(simulations=50, max_states=120)
    alone = [Search(environment, evaluator, config).run([request])[0] for request in requests]
    together = Search(environment, evaluator, config).run(requests)
    assert {trace.failure for trace in alone} > {Failure.STATES}
    for a, b in zip(alone, together, strict=True):
        assert (a.failure, a.actions.tolist()) == (b.failure, b.actions.tolist())


def test_memory_is_bounded_and_reported():
    environment = make("sorting")
    search = Search(environment, create_evaluator(create_network(environment, 0)), SearchConfig(max_states=3000))
    rng = np.random.default_rng(0)
    for _ in range(12):
        states = [environment.initial("RSHIFT", 5, rng) for _ in range(20)]
        search.run([Request("RSHIFT", state, 0, True) for state in states])
        assert search.statistics.states <= 3000
    assert 0 < search.statistics.bytes <= search.statistics.peak_bytes < 100e6


def test_noise_changes_exploration_only():
    environment = make("hanoi")
    evaluator = create_evaluator(create_network(environment, 0))
    state = environment.parse("HANOI", "2")
    search = Search(environment, evaluator, SearchConfig(simulations=20, noise_fraction=0.5))
    explored = search.run([Request("HANOI", state, seed, True) for seed in range(5)])
    exploited = search.run([Request("HANOI", state, seed, False) for seed in range(5)])
    assert len({trace.visits.tobytes() for trace in explored}) > 1
    assert len({trace.visits.tobytes() for trace in exploited}) == 1
