"""The chain with a runtime of its own, in which anything can be changed."""

from __future__ import annotations

from typing import Any

import alphanpi
from alphanpi import Environment, Standalone
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.exports import ORIGIN

CHAIN_SOURCE = """
class Counter:
    def __init__(self, box, taken=0):
        self.box, self.taken = box, taken

    def inside(self):
        return Counter(self.box, self.taken + 1)

    def step(self):
        self.box[0] -= 1

    @property
    def done(self):
        return self.box[0] == self.taken
"""


class StandaloneChain(Chain):
    """With a runtime: counters inside one another share a box, and each takes one more away."""

    changes: dict[str, Any] = {}  # noqa: RUF012 - set by tests

    def standalone(self) -> Standalone:
        members = {
            "parameter": "counter",
            "class_name": "Counter",
            "source": CHAIN_SOURCE,
            "arguments": lambda state: ([state],),
            "agrees": lambda state, counter: counter.box == [state],
            "inner": {"DOWN": "inside"},
        }
        return Standalone(**{**members, **self.changes})


def chain_with(**changes) -> Environment:
    """The environment with other members of its runtime."""
    environment = StandaloneChain()
    environment.changes = changes
    return environment


def export_chain(**changes):
    return alphanpi.export_evaluator(chain_with(**changes), ChainNetwork(), ORIGIN, samples=20)
