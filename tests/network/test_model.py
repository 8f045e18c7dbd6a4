"""The network and its evaluators: right, equal, and independent of batching."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alphanpi import NetworkConfig, UsageError, create_evaluator, create_network, make
from alphanpi.network.model import CompiledEvaluator, masked_log_softmax
from alphanpi.network.torch_evaluator import TorchEvaluator

SMALL = NetworkConfig(observation_encoding=3, encoder_hidden=7, program_embedding=5, memory=6, head_hidden=9)


def rows_for(environment, network, count: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    memories = rng.standard_normal((count, CompiledEvaluator(network).memory_width)).astype(np.float32)
    if network.config.window:  # with the action before
        memories[:, -1] = rng.integers(len(environment.library.names), size=count)
    return (
        rng.integers(len(environment.library.learned), size=count),
        rng.integers(0, 2, (count, len(environment.fields))).astype(np.int16),
        memories,
    )


@pytest.mark.parametrize("name", ["hanoi", "sorting"])
@pytest.mark.parametrize("config", [NetworkConfig(window=0), NetworkConfig(), SMALL], ids=["paper", "default", "small"])
def test_compiled_evaluator_computes_the_network(name, config):
    environment = make(name)
    network = create_network(environment, 1, config)
    rows = rows_for(environment, network, 37)
    compiled = CompiledEvaluator(network).evaluate(*rows)
    reference = TorchEvaluator(network).evaluate(*rows)
    for ours, theirs in zip(compiled, reference, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=3e-6)
    assert np.abs(compiled.values).max() <= 1


def test_a_row_does_not_depend_on_where_its_arrays_lie():
    """Compilers make several versions of a loop and take one by the addresses of its arrays."""
    environment = make("hanoi")
    network = create_network(environment, 1)
    evaluator, (programs, observations, memory) = CompiledEvaluator(network), rows_for(environment, network, 3)
    rng, occupied, seen = np.random.default_rng(0), [], set()
    for turn in range(3000):
        shift, width = turn % 64, memory.shape[1]
        moved = np.zeros(memory.size + 64, np.float32)[shift : shift + memory.size].reshape(-1, width)
        moved[:] = memory
        if turn % 3 == 0:
            occupied.append(np.zeros(rng.integers(1, 5000)))
        if len(occupied) > 200:
            occupied.clear()
        answer = evaluator.evaluate(programs.copy(), observations.copy(), moved)
        seen.add(answer.memory.tobytes() + answer.logits.tobytes() + answer.values.tobytes())
    assert len(seen) == 1


@pytest.mark.parametrize("kind", [CompiledEvaluator, TorchEvaluator])
def test_a_row_does_not_depend_on_the_other_rows(kind):
    environment = make("recursive-sorting")
    network = create_network(environment, 1)
    evaluator = kind(network)
    rows = rows_for(environment, network, 130)
    together = evaluator.evaluate(*rows)
    for batch in (1, 2, 3, 7, 64, 129):
        parts = [
            evaluator.evaluate(*(array[first : first + batch] for array in rows)) for first in range(0, 130, batch)
        ]
        for column, whole in zip(zip(*parts, strict=True), together, strict=True):
            assert np.concatenate(column).tobytes() == whole.tobytes()


@pytest.mark.parametrize("kind", [CompiledEvaluator, TorchEvaluator])
def test_evaluation_leaves_its_input_alone(kind):
    environment = make("hanoi")
    network = create_network(environment, 0)
    for count in (1, 2, 5):
        rows = rows_for(environment, network, count)
        copies = [array.copy() for array in rows]
        kind(network).evaluate(*rows)
        assert all((array == copy).all() for array, copy in zip(rows, copies, strict=True))


def test_refresh_reads_changed_weights():
    environment = make("hanoi")
    network = create_network(environment, 0)
    evaluator = create_evaluator(network)
    rows = rows_for(environment, network, 4)
    before = evaluator.evaluate(*rows)
    with torch.no_grad():
        network.state_dict()["actor.2.bias"].add_(1)
    assert (evaluator.evaluate(*rows).logits == before.logits).all()
    evaluator.refresh()
    np.testing.assert_allclose(evaluator.evaluate(*rows).logits, before.logits + 1, atol=1e-6)


def test_networks_come_from_their_seed_and_leave_the_global_generator_alone():
    environment = make("hanoi")
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, second, other = (create_network(environment, seed) for seed in (1, 1, 2))
    assert torch.equal(torch.rand(3), expected)
    weights = [network.state_dict()["actor.0.weight"] for network in (first, second, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_illegal_actions_are_masked_before_the_softmax():
    log = masked_log_softmax(torch.tensor([[1.0, 2.0, 30.0]]), torch.tensor([[True, True, False]]))
    np.testing.assert_allclose(log.exp()[0, :2], [1 / (1 + np.e), np.e / (1 + np.e)], rtol=1e-6)
    assert log[0, 2] == -torch.inf


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there")
def test_a_device_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="cuda"):
        create_evaluator(create_network(make("hanoi")), "cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_gpu_agrees_with_cpu():
    environment = make("hanoi")
    network = create_network(environment, 0)
    rows = rows_for(environment, network, 10)
    cpu = create_evaluator(network).evaluate(*rows)
    gpu = create_evaluator(network, "cuda").evaluate(*rows)
    np.testing.assert_allclose(cpu.logits, gpu.logits, atol=1e-4)
