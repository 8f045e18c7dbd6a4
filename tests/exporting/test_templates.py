"""Templates are enumerated with values in every order."""

from __future__ import annotations

from alphanpi import STOP, Environment, action, program
from alphanpi.exporting.behaviour import weak_orders
from tests.helpers.exports import scripted


def test_weak_orders_are_all_there():
    assert [len(list(weak_orders(count))) for count in range(6)] == [1, 1, 3, 13, 75, 541]
    assert len(set(weak_orders(4))) == 75


class Larger(Environment[tuple[int, ...]]):
    """Puts the first two of some values in order; starts are given around values."""

    fields = ("first_larger",)

    @action()
    def SWAP(self, state):
        return (state[1], state[0], *state[2:])

    @program(level=1, depth=2, minimum_size=2)
    def ORDER(self, before, after):
        return after[0] <= after[1]

    def initial(self, program, size, rng):
        return tuple(int(value) for value in rng.integers(100, size=size))

    def templates(self, program, size, values):
        yield tuple(values)

    def observe(self, state):
        return (state[0] > state[1],)

    def size(self, state):
        return len(state)


def order(see, size):
    if see.first_larger:
        yield "SWAP"
    yield STOP


def test_templates_are_enumerated_with_values_in_every_order():
    exported = scripted(Larger(), {"ORDER": order}, max_size=4)
    assert exported.coverage[0].enumerated == 3 + 13 + 75
    assert not any("enumerate" in warning for warning in exported.warnings)

    class Neither(Larger):
        def templates(self, program, size, values):
            raise NotImplementedError

    exported = scripted(Neither(), {"ORDER": order})
    assert exported.coverage[0].enumerated == 0
    assert any("enumerate() or templates()" in warning for warning in exported.warnings)
