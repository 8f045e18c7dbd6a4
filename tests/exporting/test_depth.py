"""Exported modules go as deep as the agent."""

from __future__ import annotations

import sys

import pytest

import alphanpi
from alphanpi import Machine, SpecificationError, UsageError
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.exports import ORIGIN, loaded, run_script
from tests.helpers.standalone_chain import CHAIN_SOURCE, export_chain


@pytest.mark.parametrize("depth", [3_000, 19_000])
def test_generic_modules_go_as_deep_as_the_agent(depth):
    exported = alphanpi.export_evaluator(Chain(), ChainNetwork(), ORIGIN, samples=20)
    (entry,) = exported.coverage
    assert entry.nested >= 2_000
    limit = sys.getrecursionlimit()
    machine = Machine(Chain(), "DOWN", depth)
    loaded(exported.text).down(machine)
    assert machine.state == 0
    assert sys.getrecursionlimit() == limit


def test_more_depth_than_the_agent_has_is_one_message():
    module = loaded(alphanpi.export_evaluator(Chain(), ChainNetwork(), ORIGIN, samples=20).text)
    with pytest.raises(UsageError, match="more than 20,000 calls inside one another"):
        module.down(Machine(Chain(), "DOWN", 25_000))


def test_standalone_modules_go_as_deep_as_the_agent(tmp_path):
    exported = export_chain()
    assert exported.standalone
    (entry,) = exported.coverage
    assert entry.nested >= 2_000
    path = tmp_path / "chain.py"
    path.write_text(exported.text + "\ncounter = Counter([10_000])\ndown(counter)\nprint(counter.box)\n")
    outcome = run_script(path)
    assert (outcome.stdout, outcome.stderr) == ("[0]\n", "")


def test_a_runtime_that_cannot_go_deep_is_noticed():
    source = CHAIN_SOURCE + "\nimport sys\nsys.setrecursionlimit(300)\n"
    with pytest.raises(SpecificationError, match=r"standalone\(\): .*RecursionError"):
        export_chain(source=source)
