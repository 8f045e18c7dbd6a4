"""What the engine is given and cannot work with is refused, in one message that says what and where."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import torch

from alphanpi import Request, Search, SearchConfig, UsageError, action, make, program
from alphanpi.errors import EnvironmentFault, SpecificationError
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.networks import ConstantNetwork


def test_a_request_that_cannot_start_is_refused():
    environment = make("hanoi")
    search = Search(environment, ConstantNetwork([0] * 5))
    state = environment.initial("HANOI", 2, np.random.default_rng(0))
    with pytest.raises(UsageError, match="atomic"):
        search.run([Request("MOVE_DISK", state)])
    with pytest.raises(UsageError, match="pre-condition"):
        search.run([Request("HANOI", environment.act(state, "MOVE_DISK"))])


@pytest.mark.parametrize("exploring", [False, True])
@pytest.mark.parametrize("seed", [-1, 1.5, "x", (3, -1)])
def test_a_seed_that_is_none_is_refused(seed, exploring):
    with pytest.raises(UsageError, match=r"seed .* is no integer from 0 on"):
        Search(Chain(), ChainNetwork()).run([Request("DOWN", 3, seed, exploring)])


def test_a_fault_in_the_environment_names_place_action_and_state():
    class Broken(Chain):
        @action()
        def STEP(self, state: int) -> int:
            """Fail."""
            raise IndexError("out of luck")

    with pytest.raises(EnvironmentFault, match=r"test_input\.py:\d+.*STEP in state \d.*IndexError: out of luck"):
        Search(Broken(), ChainNetwork(), SearchConfig(simulations_exploitation=50)).run([Request("DOWN", 3)])


@pytest.mark.parametrize(
    ("member", "result", "message"),
    [
        ("STEP", [], r"action STEP in state \d: unhashable state: a list"),
        ("STEP", None, r"action STEP: it returned None instead of a state"),
        ("observe", ([1],), r"observe: field 'done' is \[1\], a list"),
        ("observe", (0.5,), r"observe: field 'done' is 0.5, a float"),
        ("observe", (1, 2), r"observe returned 2 entries for 1 fields"),
        ("observe", (40_000,), r"observe: field 'done' is 40000, out of"),
        ("observe", (torch.tensor(0),), r"observe: field 'done' is tensor\(0\), a Tensor"),
        ("observe", (torch.tensor(0.0),), r"observe: field 'done' is tensor\(0.\), a Tensor"),
    ],
)
def test_what_the_tables_cannot_hold_is_refused_with_its_origin(member, result, message):
    def give(self, state):
        """Whatever the test says."""
        return result

    broken = type("Broken", (Chain,), {member: action()(give) if member == "STEP" else give})()
    with pytest.raises(SpecificationError, match=message):
        Search(broken, ChainNetwork(), SearchConfig(simulations_exploitation=50)).run([Request("DOWN", 3)])


@pytest.mark.parametrize(
    ("shrink", "restore", "message"),
    [
        (lambda state: [state], None, r"entering DOWN from DOWN in state 3: unhashable state: a list"),
        (None, lambda caller, callee: [callee], r"leaving DOWN for DOWN in state 0: unhashable state: a list"),
    ],
)
def test_unhashable_states_around_recursive_calls_are_refused(shrink, restore, message):
    class Broken(Chain):
        @program(
            level=1,
            depth=4,
            recursive=True,
            shrink=shrink or (lambda state: state - 1 if state > 0 else None),
            restore=restore or (lambda caller, callee: callee + 1),
        )
        def DOWN(self, before: int, after: int) -> bool:
            """Reach zero."""
            return after == 0

    with pytest.raises(SpecificationError, match=message):
        Search(Broken(), ChainNetwork(), SearchConfig(c_level=0.0)).run([Request("DOWN", 3)])


@pytest.mark.parametrize("number", [np.int64, np.bool_])
def test_observations_may_be_numbers_of_numpy(number):
    class Numpy(Chain):
        def observe(self, state):
            return (number(state > 0),)

    class Plain(Chain):
        def observe(self, state):
            return (state > 0,)

    numpy, plain = (
        Search(environment, ChainNetwork()).run([Request("DOWN", 3)])[0] for environment in (Numpy(), Plain())
    )
    assert numpy.observations.tolist() == plain.observations.tolist()
    assert numpy.visits.tolist() == plain.visits.tolist()


def test_the_garbage_collector_is_as_it_was_after_a_search_that_fails():
    search = Search(make("hanoi"), ConstantNetwork([0] * 5))
    assert gc.isenabled()
    with pytest.raises(UsageError):
        search.run([Request("MOVE_DISK", make("hanoi").parse("HANOI", "2"))])
    assert gc.isenabled()
