"""Frozen networks: bit for bit what they said before, whatever the library has become, for every reader."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alphanpi import Search, create_evaluator, create_network
from alphanpi.agent.loading import frozen_calls
from alphanpi.agent.weights import frozen_hashes, hash_of
from alphanpi.environment.narrowing import narrowed
from alphanpi.network.evaluator import Evaluation, noted
from alphanpi.network.frozen import NEVER
from alphanpi.network.model import CompiledEvaluator
from alphanpi.network.torch_evaluator import TorchEvaluator
from tests.helpers.frozen_networks import grown, random_network
from tests.helpers.growing import Lamp, LampAndDoor, Welcome
from tests.helpers.searches import assert_equal, by_oracle, random_config, random_requests


@pytest.fixture(params=[(0, 0), (1, 1), (1, 3), (2, 2)], ids=str)
def chain(request):
    """Networks of a lamp, of a lamp and a door with the lamp's frozen, and of a third level with both frozen."""
    before, now = request.param
    first = random_network(Lamp(), before, 5)
    second, with_door = grown(first, Lamp(), LampAndDoor(), now)
    third, welcome = grown(second, with_door, Welcome(), now)
    return first, second, third, welcome


@pytest.mark.parametrize("kind", [CompiledEvaluator, TorchEvaluator])
def test_a_frozen_program_hears_what_it_heard_before(chain, kind):
    first, _, third, environment = chain
    old, new = kind(first), kind(third)
    rng = np.random.default_rng(0)
    rows = 9
    lit = rng.integers(-3, 4, (rows, 1)).astype(np.int16)
    memory = rng.normal(size=(rows, old.memory_width)).astype(np.float32)
    before, now = Lamp().library, environment.library
    if old.window:
        taken = rng.integers(len(before), size=rows)
        memory[:, -1] = [noted(action) for action in taken]
    # In the same places of a batch: with sizes this odd, torch rounds by place.
    twice = old.evaluate(np.zeros(2 * rows, np.int64), lit.repeat(2, axis=0), memory.repeat(2, axis=0))
    expected = Evaluation(*(part[::2] for part in twice))
    renumbered = memory.copy()
    if old.window:
        renumbered[:, -1] = [noted(now.index_of(before.names[action])) for action in taken]
    observations = np.concatenate([rng.integers(-3, 4, (rows, 1)).astype(np.int16), lit], axis=1)
    names = [entry.name for entry in now.learned]
    # Between rows of other programs, as batches come.
    programs = np.full(2 * rows, names.index("OPEN"))
    programs[::2] = names.index("LIGHT")
    answer = new.evaluate(programs, observations.repeat(2, axis=0), renumbered.repeat(2, axis=0))
    own = [now.index_of(name) for name in before.names]
    assert answer.logits[::2][:, own].tobytes() == expected.logits.tobytes()
    assert answer.values[::2].tobytes() == expected.values.tobytes()
    assert answer.memory[::2].tobytes() == expected.memory.tobytes()
    others = [index for index in range(len(now)) if index not in own]
    assert (answer.logits[::2][:, others] == np.float32(NEVER)).all()
    assert not np.array_equal(answer.logits[1::2][:, own], expected.logits)


def test_all_evaluators_agree_and_every_program_has_its_window(chain):
    first, second, third, environment = chain
    compiled, padded = CompiledEvaluator(third), TorchEvaluator(third)
    assert compiled.windows == padded.windows
    assert dict(zip([entry.name for entry in environment.library.learned], compiled.windows, strict=True)) == {
        "LIGHT": first.config.window,
        "OPEN": second.config.window,
        "WELCOME": third.config.window,
    }
    rng = np.random.default_rng(1)
    programs = rng.integers(3, size=20)
    observations = rng.integers(-2, 3, (20, 2)).astype(np.int16)
    memory = rng.normal(size=(20, compiled.memory_width)).astype(np.float32)
    if compiled.window:
        memory[:, -1] = rng.integers(len(environment.library) + 1, size=20)
    for one, other in zip(*(e.evaluate(programs, observations, memory) for e in (compiled, padded)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_engine_equals_oracle(chain):
    *_, third, environment = chain
    for case in range(8):
        rng = np.random.default_rng(case)
        config, evaluator = (
            random_config(rng),
            create_evaluator(third) if case % 4 else TorchEvaluator(third, shapes=(1,)),
        )
        requests = random_requests(environment, rng, 3, case, together=4 if third.config.window else 1)
        for request, trace in zip(requests, Search(environment, evaluator, config).run(requests), strict=True):
            assert_equal(trace, by_oracle(environment, evaluator, config, request))


def test_a_frozen_program_cannot_call_what_is_new(chain):
    environment = chain[-1]
    assert {entry.name for entry in environment.library.callable_by("LIGHT")} == {"STOP", "WAIT", "PRESS"}
    assert {entry.name for entry in environment.library.callable_by("OPEN")} == {"STOP", "PUSH", "WAIT", "PRESS"}
    assert len(environment.library.callable_by("WELCOME")) == len(environment.library) - 1
    state = environment.initial("LIGHT", 2, np.random.default_rng(0))
    legal = dict(zip(environment.library.names, environment.legal("LIGHT", state), strict=True))
    assert [name for name, allowed in legal.items() if allowed] == ["STOP", "WAIT", "PRESS"]
    assert all(Welcome().library.may_call("LIGHT")[index] for index in range(4)), "the class itself is as it was"
    plain = Welcome()
    assert narrowed(plain, frozen_calls(())) is plain


def test_frozen_weights_are_no_parameters_and_are_known_by_their_hash(chain):
    first, second, third, _ = chain
    assert {name for name, _ in third.named_parameters()} == {name for name, _ in first.named_parameters()}
    assert frozen_hashes(third)["LIGHT"] == frozen_hashes(second)["LIGHT"] == hash_of(first)
    before = frozen_hashes(third)
    with torch.no_grad():
        third.frozen[0].network.actor[2].bias.add_(1)
    assert frozen_hashes(third)["LIGHT"] != before["LIGHT"]
    assert frozen_hashes(third)["OPEN"] == before["OPEN"]


def test_weights_go_by_name():
    old = random_network(Lamp(), 1, 2)
    new, environment = grown(old, Lamp(), LampAndDoor(), 1, freeze=False)
    before, now = (network.state_dict() for network in (old, new))
    fresh = create_network(environment, 1, old.config).state_dict()
    for name, position in (("STOP", 0), ("PRESS", 1), ("WAIT", 2), ("LIGHT", 3)):
        index = environment.library.index_of(name)
        for tensor, shift in (("actor.2.weight", 0), ("actor.2.bias", 0), ("previous.weight", 1)):
            assert torch.equal(now[tensor][index + shift], before[tensor][position + shift])
    assert torch.equal(now["previous.weight"][0], before["previous.weight"][0])
    for tensor in ("actor.2.weight", "embedding.weight"):
        index = environment.library.index_of("OPEN") - (0 if tensor.startswith("actor") else 4)
        assert torch.equal(now[tensor][index], fresh[tensor][index])
    assert torch.equal(now["embedding.weight"][1], before["embedding.weight"][0])
    assert torch.equal(now["encoder.0.weight"][:, 1], before["encoder.0.weight"][:, 0])
    assert torch.equal(now["encoder.0.weight"][:, 0], fresh["encoder.0.weight"][:, 0])
    assert torch.equal(now["core.weight_hh"], before["core.weight_hh"])
    assert not list(new.frozen)
