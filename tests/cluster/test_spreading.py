"""Engines whose work is spread over workers answer as those that do it themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphanpi import Request, Search, SearchConfig, UsageError, create_network, load, make
from alphanpi.agent.interpreter import Call, Interpreter, Recording
from alphanpi.cluster import costs
from alphanpi.cluster.agents import spread_agent
from alphanpi.cluster.orders import (
    DamagedError,
    Done,
    Network,
    SearchOrder,
    Work,
    checked_done,
    checked_execution,
    checked_order,
    checked_trace,
    checked_weights,
)
from alphanpi.cluster.shipping import ship, unpacked
from alphanpi.cluster.spreading import Spread
from alphanpi.environments.hanoi import Hanoi
from alphanpi.network.config import NetworkConfig
from alphanpi.network.model import CompiledEvaluator
from tests.helpers.frozen_networks import grown, random_network
from tests.helpers.growing import Lamp, Welcome
from tests.helpers.searches import ENVIRONMENTS, random_requests
from tests.helpers.spread import HereWorkers

CONFIG = SearchConfig(simulations=15, max_call_depth=100)


@pytest.fixture(autouse=True)
def everything_is_sent(monkeypatch):
    monkeypatch.setattr(costs, "WORTH", 0)


def same(one: Any, other: Any) -> Any:
    """Traces or executions; how much was remembered on the way is no part of a result."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    if hasattr(one, "_asdict"):
        return type(one) is type(other) and all(
            same(value, getattr(other, name)) for name, value in one._asdict().items() if name != "nested_simulations"
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def spread_over(workers: int, identifier: str, options) -> Any:
    """What makes engines; its workers are counted."""
    here: Any = HereWorkers(workers, ship(identifier, options))
    return Spread(here)


@pytest.mark.parametrize("window", [0, 1, 2])
@pytest.mark.parametrize(("identifier", "options"), ENVIRONMENTS[:1] + ENVIRONMENTS[3:4])
def test_episodes_are_played_the_same_in_any_chunks_and_after_weights_changed(identifier, options, window):
    environment = make(identifier, **options)
    network = create_network(environment, 5, NetworkConfig(window=window))
    evaluator = CompiledEvaluator(network)
    made = spread_over(3, identifier, options)
    spread = made.search(environment, evaluator, CONFIG)
    plain = Search(environment, evaluator, CONFIG)
    rng = np.random.default_rng(window)
    for again in range(2):
        requests = random_requests(environment, rng, 12, again, together=2)
        assert same(spread.run(requests), plain.run(requests))
        assert same(spread.run(requests, max_actions=9), plain.run(requests, max_actions=9))
        for parameter in network.parameters():
            parameter.data.mul_(1.5)
        evaluator.refresh()
        spread.forget()
        plain.forget()
    assert made.workers.played >= 12
    assert spread.statistics.simulations == plain.statistics.simulations
    assert spread.statistics.seconds > 0


def test_frozen_networks_decide_there_as_here_with_windows_of_their_own():
    lamp = random_network(Lamp(), 1, 5)
    network, environment = grown(lamp, Lamp(), Welcome(), 3)
    evaluator = CompiledEvaluator(network)
    assert evaluator.windows == [3, 1, 3]  # OPEN, LIGHT, WELCOME
    calls = {"LIGHT": Lamp.library.names}
    here: Any = HereWorkers(2, ship("tests.helpers.growing:Welcome", {}, calls))
    made = Spread(here)
    rng = np.random.default_rng(0)
    requests = random_requests(environment, rng, 12, 0)
    expected = Search(environment, evaluator, CONFIG).run(requests)
    assert same(made.search(environment, evaluator, CONFIG).run(requests), expected)
    runs = [Call(request.program, request.state) for request in requests]
    expected_runs = Interpreter(environment, evaluator, 50).run(runs, True, 200)
    assert same(made.interpreter(environment, evaluator, 50).run(runs, True, 200), expected_runs)
    assert here.played > 2


@pytest.mark.parametrize("record", [False, True, Recording(depth=0), Recording(steps=3)])
def test_runs_are_the_same_with_decisions_and_without(record):
    environment = make("recursive-sorting")
    evaluator = CompiledEvaluator(create_network(environment, 7, NetworkConfig(window=1)))
    interpreter = spread_over(2, "recursive-sorting", {}).interpreter(environment, evaluator, 50)
    plain = Interpreter(environment, evaluator, 50)
    rng = np.random.default_rng(0)
    calls = [
        Call(entry.name, environment.initial(entry.name, max(size, entry.minimum_size), rng))
        for entry in environment.library.learned
        for size in (2, 3, 4)
    ]
    assert same(interpreter.run(calls, record, 200), plain.run(calls, record, 200))
    decisions = []
    for engine in (interpreter, plain):  # histories have other numbers in each of them
        led = []
        for call in calls:
            index = environment.library.index_of(call.program) - environment.library.atomic_count
            context = engine.table.beginning(index)
            led.append({engine.table.after(context, engine.guard.observe(call.state)): 1})
        decisions.append(led)
    led_runs = interpreter.run(calls, record, 200, decisions[0])
    assert same(led_runs, plain.run(calls, record, 200, decisions[1]))
    assert not same(led_runs, plain.run(calls, record, 200))


def test_what_is_remembered_does_not_decide_whether_a_run_takes_too_many_actions():
    environment = make("recursive-sorting")
    evaluator = CompiledEvaluator(create_network(environment, 7, NetworkConfig(window=1)))
    rng = np.random.default_rng(1)
    calls = [
        Call(entry.name, environment.initial(entry.name, max(3, entry.minimum_size), rng))
        for entry in environment.library.learned
        for _ in range(6)
    ]
    for most in (3, 7, 20):
        warm = Interpreter(environment, evaluator)
        warm.run(calls, remembering=True, max_actions=500)
        found = warm.run(calls, remembering=True, max_actions=most)
        alone = [Interpreter(environment, evaluator).run([call], max_actions=most)[0] for call in calls]
        assert [(run.failure, run.actions) for run in found] == [(run.failure, run.actions) for run in alone]


@given(
    st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 50)), max_size=40),
    st.integers(1, 9),
    st.floats(0, 2),
)
def test_chunks_hold_every_request_once_and_none_is_empty(requests, workers, seconds):
    programs, sizes = [name for name, _ in requests], [size for _, size in requests]
    learned = costs.Costs(workers)
    for _ in range(2):
        chunks = learned.chunks(programs, sizes)
        assert sorted(place for chunk in chunks for place in chunk) == list(range(len(requests)))
        assert len(chunks) <= max(1, costs.ROUNDS * workers)
        assert all(chunks) or not requests
        learned.learn(programs, sizes, [size + 1 for size in sizes], seconds)


def test_dear_requests_are_dealt_out_and_cheap_work_stays_here(monkeypatch):
    monkeypatch.setattr(costs, "WORTH", 0.02)
    learned = costs.Costs(2)
    learned.learn(["LONG", "SHORT"], [1, 1], [90, 10], 100.0)
    chunks = learned.chunks(["LONG"] * 6 + ["SHORT"] * 30, [1] * 36)
    assert [sum(place < 6 for place in chunk) for chunk in chunks] == [1] * 6
    learned.learn(["LONG", "SHORT"], [1, 1], [90, 10], 1e-4)
    assert learned.chunks(["LONG"] * 6, [1] * 6) == [list(range(6))]


def test_what_is_damaged_on_the_way_is_refused():
    environment = make("hanoi")
    evaluator = CompiledEvaluator(create_network(environment, 1))
    start = environment.initial("HANOI", 2, np.random.default_rng(0))
    request = Request("HANOI", start)
    (trace,) = Search(environment, evaluator, CONFIG).run([request])
    library, fields = environment.library, len(environment.fields)
    width = evaluator.memory_width
    assert same(checked_trace(trace, request, library, fields, width), trace)
    for damaged in (
        trace._replace(program="MOVE"),
        trace._replace(actions=trace.actions.astype(np.int64)),
        trace._replace(actions=trace.actions + np.int32(100)),
        trace._replace(policies=trace.policies[:, :-1]),
        trace._replace(observations=trace.observations[:-1]),
        trace._replace(value=float("nan")),
        trace._replace(failure=cast(Any, 0)),
        trace._replace(states=cast(Any, list(trace.states))),
        tuple(trace),
        "a trace",
    ):
        with pytest.raises(DamagedError, match="damaged"):
            checked_trace(damaged, request, library, fields, width)
    (run,) = Interpreter(environment, evaluator).run([Call("HANOI", start)], record=True)
    assert checked_execution(run, library) is run
    step = run.steps[0]._replace(action="JUMP")
    for broken in (run._replace(actions=-1), run._replace(steps=(step,)), run._replace(success=cast(Any, 1))):
        with pytest.raises(DamagedError, match="damaged"):
            checked_execution(broken, library)
    order = SearchOrder(Network(1, 0, (0,), ()), CONFIG.model_dump_json(), (request,), None)
    assert checked_order(order) is order
    for wrong in (order._replace(requests=cast(Any, [request])), order._replace(max_actions=-1), (1, 2), None):
        with pytest.raises(DamagedError, match="damaged"):
            checked_order(wrong)
    with pytest.raises(DamagedError, match="as many answers"):
        checked_done(Done((), Work()), order)
    with pytest.raises(DamagedError, match="usable seconds"):
        checked_done(Done((trace,), Work(seconds=-1.0)), order)


def test_weights_that_do_not_fit_the_environment_there_are_refused():
    environment = make("hanoi")
    evaluator = CompiledEvaluator(create_network(environment, 1, NetworkConfig(window=1)))
    network = Network(1, 1, (1,), ())
    weights = evaluator.weights
    stacked = weights.stacked
    assert same(checked_weights(weights, network, environment), weights)
    for damaged in (
        weights._replace(stacked=stacked._replace(actor_2=stacked.actor_2[:, :, :-1].copy())),
        weights._replace(stacked=stacked._replace(encoder_1=stacked.encoder_1[0])),
        weights._replace(stacked=stacked._replace(gates_hidden=stacked.gates_hidden[:, :-1].copy())),
        weights._replace(stacked=stacked._replace(gates_bias=stacked.gates_bias[:, :, :1].copy())),
        weights._replace(stacked=stacked._replace(critic_1=stacked.critic_1.astype(np.float64))),
        weights._replace(stacked=stacked._replace(critic_2=cast(Any, [1.0]))),
        weights._replace(network=weights.network + 1),
        weights._replace(fields=weights.fields + 1),
        weights._replace(fields=weights.fields[:, :-1]),
        stacked,
    ):
        with pytest.raises(DamagedError, match="damaged"):
            checked_weights(damaged, network, environment)
    for wrong in (network._replace(window=0), network._replace(windows=(1, 1))):
        with pytest.raises(DamagedError, match="damaged"):
            checked_weights(weights, wrong, environment)
    with pytest.raises(DamagedError, match="shape"):
        checked_weights(weights, network, make("recursive-sorting"))


def test_a_file_is_sent_as_source_and_needs_to_be_nowhere_else(written, tmp_path):
    (tmp_path / "beside.py").write_text("STEPS = 3\n")
    file = written(
        "from beside import STEPS\nfrom alphanpi.environments.hanoi import Hanoi\n\n\n"
        'class Own(Hanoi):\n    """Hanoi."""\n\n    steps = STEPS\n'
    )
    there = make(f"{file}:Own")
    shipment = ship(f"{file}:Own", {})
    assert sorted(Path(one.path).name for one in shipment.files) == ["beside.py", "mine.py"]
    for one in shipment.files:
        Path(one.path).unlink()
    made: Any = unpacked(shipment)
    assert made.steps == 3
    assert type(made) is type(there)  # so that states of its own classes are the same here and there
    with pytest.raises(UsageError, match="not what was read"):
        unpacked(shipment._replace(digest="0" * 64))


def test_installed_environments_are_found_by_name_and_those_in_memory_cannot_be_sent():
    assert ship("HANOI", {}).files == ()
    assert type(unpacked(ship("recursive-sorting-compare", {}))).__name__ == type(make("recursive-sorting")).__name__
    module = ship("tests.helpers.chain:Chain", {})
    assert module.files == ()
    with pytest.raises(UsageError, match="other source code"):
        unpacked(module._replace(digest="0" * 64))
    with pytest.raises(UsageError, match=r"Mine cannot be sent to workers.*FILE.py:Mine"):
        ship("in-memory:Mine", {})


def test_an_environment_that_was_given_is_never_replaced_by_the_one_on_the_card():
    mine = type("Mine", (Hanoi,), {"__module__": "__main__"})
    agent = load("pretrained:hanoi", environment=mine())
    with pytest.raises(UsageError, match="cannot be sent to workers"), spread_agent(agent, 1):
        pass
