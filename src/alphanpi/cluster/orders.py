"""What is asked of a worker and what comes back, checked on arrival: types, shapes, and that it fits the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from alphanpi.agent.interpreter import Call, Execution, Recording, Tally
from alphanpi.engine.requests import Request, Trace
from alphanpi.engine.tables import Failure
from alphanpi.environment.specification import Environment, Library
from alphanpi.environment.step import Step
from alphanpi.errors import AlphaNPIError
from alphanpi.network.compiled import Routed, Weights
from alphanpi.network.history_table import Window

_SHAPES = {
    "encoder_1": "GFE",
    "encoder_1_bias": "GE",
    "encoder_2": "GES",
    "encoder_2_bias": "GS",
    "gates_input": "GST",
    "gates_hidden": "GHT",
    "gates_bias": "GPBT",
    "actor_1": "GHK",
    "actor_1_bias": "GK",
    "actor_2": "GKA",
    "actor_2_bias": "GA",
    "critic_1": "GHK",
    "critic_1_bias": "GK",
    "critic_2": "GKV",
    "critic_2_bias": "GV",
}
"""By letters, as in an Einstein sum: G networks, F fields, P programs, B actions before, A entries, H units, T gates"""


class DamagedError(AlphaNPIError):
    """What came over the wire is not what it should be."""


class Network(NamedTuple):
    """The weights that a worker is to use; it keeps those it has fetched until there are others."""

    number: int
    window: int  # of what is learned
    windows: tuple[int, ...]  # of each program; those of a frozen network may see less
    weights: tuple[Any, ...]  # one reference to `Routed` in the object store, not fetched unless it is needed


class Led(NamedTuple):
    """An action to be taken in a window, whatever the network says: a history has another number in every process."""

    program: int  # whose window it is, among the programs to be learned
    window: Window
    action: int


class SearchOrder(NamedTuple):
    """Episodes to be played."""

    network: Network
    config: str  # SearchConfig as JSON
    requests: tuple[Request, ...]
    max_actions: int | None


class RunOrder(NamedTuple):
    """Calls to be executed without search."""

    network: Network
    max_call_depth: int
    calls: tuple[Call, ...]
    recording: Recording | None
    max_actions: int | None
    decisions: tuple[tuple[Led, ...], ...] | None  # for each call
    remembering: bool


Order = SearchOrder | RunOrder


class Work(NamedTuple):
    """What an order took."""

    seconds: float = 0.0
    evaluation_seconds: float = 0.0
    environment_seconds: float = 0.0
    evaluations: int = 0

    def plus(self, other: Work) -> Work:
        """Sum, part by part."""
        return Work(
            self.seconds + other.seconds,
            self.evaluation_seconds + other.evaluation_seconds,
            self.environment_seconds + other.environment_seconds,
            self.evaluations + other.evaluations,
        )


class Done(NamedTuple):
    """Answers to an order, in the order of what was asked."""

    answers: tuple[Any, ...]  # traces or executions
    work: Work


def checked_order(sent: Any) -> Order:
    """An order, as a worker may follow it."""
    _require(isinstance(sent, (SearchOrder, RunOrder)), "an order")
    order: Order = sent
    _checked(order.network, Network, number=_whole, window=_whole, windows=_whole_numbers, weights=_tuple)
    if isinstance(order, SearchOrder):
        _checked(order, SearchOrder, config=_text, requests=_tuple, max_actions=_whole_or_none)
        for request in order.requests:
            _checked(request, Request, program=_text, seed=_seed, exploring=_truth, further=_tuple)
        return order
    _checked(order, RunOrder, max_call_depth=_whole, calls=_tuple, max_actions=_whole_or_none, remembering=_truth)
    for call in order.calls:
        _checked(call, Call, program=_text)
    if order.recording is not None:
        _checked(order.recording, Recording, steps=_whole_or_none, depth=_whole_or_none, outline=_truth)
    if order.decisions is not None:
        _require(len(order.decisions) == len(order.calls), "decisions of other calls")
        for led in order.decisions:
            for one in led:
                _checked(one, Led, program=_whole, window=_tuple, action=_whole)
    return order


def checked_weights(weights: Any, network: Network, environment: Environment[Any]) -> Routed:
    """Weights as compiled code reads them, which looks at no bounds: arrays of their own, in the usual layout."""
    _require(isinstance(weights, Routed) and isinstance(weights.stacked, Weights), "weights")
    library, fields = environment.library, len(environment.fields)
    programs, entries = len(library.learned), len(library)
    previous = entries + 1 if network.window else 1
    sizes = {"F": fields, "P": programs, "A": entries, "B": previous, "V": 1}
    for name, letters in _SHAPES.items():
        array = getattr(weights.stacked, name)
        _require(isinstance(array, np.ndarray) and array.dtype == np.float32, f"{name} in single precision")
        bound = [sizes.setdefault(letter, size) for letter, size in zip(letters, array.shape, strict=False)]
        _require(list(array.shape) == bound and len(bound) == len(letters), f"{name} in the shape of a network")
    _require(sizes["T"] == 4 * sizes["H"], "four gates")
    deciding = _array(weights.network, np.int64, (programs,))
    read = _array(weights.fields, np.int64, (sizes["G"], fields))
    _require(len(network.windows) == programs, "a window of every program")
    stacked = Weights(*(np.array(array, np.float32, order="C") for array in weights.stacked))
    return Routed(
        _below(deciding, sizes["G"], "numbers of networks"), _below(read, fields, "numbers of fields"), stacked
    )


def checked_done(done: Any, order: Order) -> Done:
    """Answers to that order, their counters within reason."""
    _checked(done, Done, answers=_tuple)
    _checked(done.work, Work, seconds=_time, evaluation_seconds=_time, environment_seconds=_time, evaluations=_whole)
    asked = order.requests if isinstance(order, SearchOrder) else order.calls
    _require(len(done.answers) == len(asked), "as many answers as were asked for")
    return done  # type: ignore[no-any-return]


def checked_trace(trace: Any, request: Request, library: Library, fields: int, width: int) -> Trace:
    """A trace that can be one of the request; its arrays are copied out of the object store."""
    counts = dict.fromkeys(("simulations", "nested_simulations", "tried"), _whole)
    _checked(trace, Trace, program=_text, states=_tuple, success=_truth, failure=_failure, value=_number, **counts)
    _require(trace.program == request.program, "a trace of the request's program")
    steps, entries = len(trace.states), len(library)
    return trace._replace(  # type: ignore[no-any-return]
        actions=_below(_array(trace.actions, np.int32, (steps,)), entries, "actions of the library"),
        observations=_array(trace.observations, np.int16, (steps, fields)),
        visits=_array(trace.visits, np.int32, (steps, entries)),
        policies=_array(trace.policies, np.float64, (steps, entries)),
        memories=_array(trace.memories, np.float32, (steps, width)),
        values=None if trace.values is None else _array(trace.values, np.float64, (steps,)),
    )


def checked_execution(execution: Any, library: Library) -> Execution:
    """An execution whose steps name programs and actions of the library."""
    _checked(execution, Execution, success=_truth, failure=_failure, actions=_whole, steps=_tuple)
    names = set(library.names)
    for step in execution.steps:
        _checked(step, Step, depth=_whole, program=names.__contains__, action=names.__contains__)
    if execution.culprit is not None:
        _checked(execution.culprit, Call, program=names.__contains__)
    if execution.tally is not None:
        _checked(execution.tally, Tally, by_depth=_tuple, choices=lambda value: isinstance(value, dict))
    return execution  # type: ignore[no-any-return]


def _checked(record: Any, kind: type, /, **fields: Callable[[Any], bool]) -> None:
    _require(type(record) is kind, f"a {kind.__name__}")
    for name, fits in fields.items():
        _require(fits(getattr(record, name)), f"a {kind.__name__} with a usable {name}")


def _array(array: Any, kind: Any, shape: Sequence[int]) -> NDArray[Any]:
    _require(isinstance(array, np.ndarray) and array.dtype == kind and array.shape == tuple(shape), f"{kind} {shape}")
    return np.array(array)


def _below(array: NDArray[Any], count: int, what: str) -> NDArray[Any]:
    _require(not array.size or bool(array.min() >= 0 and array.max() < count), what)
    return array


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise DamagedError(f"what was sent between driver and worker is damaged: expected {what}")


def _whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _whole_numbers(value: Any) -> bool:
    return _tuple(value) and all(map(_whole, value))


def _whole_or_none(value: Any) -> bool:
    return value is None or _whole(value)


def _seed(value: Any) -> bool:
    return _whole(value) or (type(value) is tuple and all(map(_whole, value)))


def _number(value: Any) -> bool:
    return isinstance(value, float) and np.isfinite(value).item()


def _time(value: Any) -> bool:
    return _number(value) and value >= 0


def _truth(value: Any) -> bool:
    return type(value) is bool


def _text(value: Any) -> bool:
    return type(value) is str


def _tuple(value: Any) -> bool:
    return type(value) is tuple


def _failure(value: Any) -> bool:
    return type(value) is Failure
