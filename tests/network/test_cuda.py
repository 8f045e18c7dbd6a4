"""On a CUDA device: rows that depend on nothing but themselves, and runs that can be repeated and resumed.

Skipped where there is none. `pytest tests/network/test_cuda.py` on a machine that has one is the whole check.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alphanpi import NetworkConfig, SearchConfig, create_evaluator, create_network, make, resume, train
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.learn.trainer import Trainer
from alphanpi.support.config import override
from alphanpi.training.presets import preset
from tests.network.test_model import rows_for

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.mark.parametrize("memory", [1, 37, 128, 512, 1024, 2048])
def test_a_row_gives_the_same_bits_in_every_shape_and_at_every_place(memory):
    environment = make("recursive-sorting")
    network = create_network(environment, 1, NetworkConfig(memory=memory))
    evaluator = create_evaluator(network, "cuda")
    rows = rows_for(environment, network, 5000)
    together = evaluator.evaluate(*rows)
    rng = np.random.default_rng(0)
    for count in (1, 2, 63, 64, 65, 256, 257, 1000, 1024, 1025, 4096, 4097):
        for picked in (np.arange(count), rng.integers(5000, size=count)):
            part = evaluator.evaluate(*(array[picked] for array in rows))
            for ours, theirs in zip(part, together, strict=True):
                assert ours.tobytes() == theirs[picked].tobytes(), count


@pytest.mark.parametrize("window", [0, 1])
def test_both_devices_compute_the_same_network(window):
    environment = make("recursive-sorting")
    network = create_network(environment, 1, NetworkConfig(memory=256, window=window))
    rows = list(rows_for(environment, network, 300))
    if window:
        rows[2] = np.concatenate([rows[2], np.random.default_rng(1).integers(0, 5, (300, 1))], axis=1).astype("f4")
    cpu = create_evaluator(network).evaluate(*rows)
    cuda = create_evaluator(create_network(environment, 1, network.config), "cuda").evaluate(*rows)
    for ours, theirs in zip(cuda, cpu, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-5)


@pytest.mark.parametrize("window", [0, 1, 2])
def test_a_trace_does_not_depend_on_its_batch(window):
    environment = make("recursive-sorting")
    network = create_network(environment, 0, NetworkConfig(window=window))
    config = SearchConfig(simulations=40)
    rng = np.random.default_rng(0)
    programs = [program.name for program in environment.library.learned]
    requests = [
        Request(name, environment.initial(name, 3, rng), seed, exploring=seed % 3 > 0)
        for seed, name in enumerate(5 * programs)
    ]
    search = Search(environment, create_evaluator(network, "cuda"), config)
    together = search.run(requests)
    for order in (requests[::-1], requests[7:8]):
        alone = Search(environment, create_evaluator(network, "cuda"), config).run(order, batch=4)
        for request, trace in zip(order, alone, strict=True):
            expected = together[requests.index(request)]
            assert trace.actions.tobytes() == expected.actions.tobytes()
            assert trace.policies.tobytes() == expected.policies.tobytes()
            assert trace.memories.tobytes() == expected.memories.tobytes()


CASES: dict[str, dict[str, object]] = {
    "windowed": {"network.window": 1},
    "larger window": {"network.window": 3},
}


def weights(network) -> bytes:
    return b"".join(tensor.cpu().numpy().tobytes() for tensor in network.state_dict().values())


@pytest.mark.parametrize("name", CASES)
def test_the_same_seed_gives_the_same_weights(name):
    config = override(preset("default", "recursive-sorting"), {"episodes.per_iteration": 24, **CASES[name]})
    trainers = [Trainer(make("recursive-sorting"), config, 3, "cuda") for _ in range(2)]
    for _ in range(3):
        reports = [trainer.iterate() for trainer in trainers]
        assert reports[0].policy_loss == reports[1].policy_loss
        assert reports[0].gradient_norm == reports[1].gradient_norm
    assert weights(trainers[0].network) == weights(trainers[1].network)
    untrained = create_network(make("recursive-sorting"), 3, trainers[0].network.config)
    assert weights(trainers[0].network) != weights(untrained)


def test_a_run_that_is_resumed_equals_one_that_never_stopped(tmp_path):
    for name, iterations in (("whole", 4), ("parts", 2)):
        settings = {"episodes.per_iteration": 24, "search.simulations": 30, "max_iterations": iterations}
        train("recursive-sorting", seed=1, out=tmp_path / name, device="cuda", settings=settings)
    configuration = tmp_path / "parts" / "config.toml"
    configuration.write_text(configuration.read_text().replace("max_iterations = 2", "max_iterations = 4"))
    resume(tmp_path / "parts")
    newest = [tmp_path / name / "checkpoints" / "last" for name in ("whole", "parts")]
    for file in ("trainer.safetensors", "model.safetensors"):
        assert (newest[0] / file).read_bytes() == (newest[1] / file).read_bytes()


def test_a_default_agent_learns_hanoi(tmp_path):
    outcome = train("hanoi", seed=0, out=tmp_path / "run", device="cuda", time_limit=60)
    assert outcome.completed
