"""Training until verified, where programs are proved by machine: what really fails is practised."""

from __future__ import annotations

from typing import Any, cast

import pytest

from alphanpi import SpecificationError
from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.agent.loading import describe
from alphanpi.engine.tables import Failure
from alphanpi.learn.iteration import Seconds
from alphanpi.learn.trainer import Trainer
from alphanpi.support.config import override
from alphanpi.training.checkpoint import restore, save_checkpoint
from alphanpi.training.presets import preset
from alphanpi.verification.during_training import prove
from alphanpi.verification.exploration import MOST_FAILING, recreate
from tests.helpers.solutions import ScriptedEvaluator
from tests.proof.test_proofs import LIGHTS, forgets_the_third_light


def test_counter_examples_of_proofs_are_practised():
    evaluator = ScriptedEvaluator(LIGHTS, {"ALL_ON": forgets_the_third_light})
    (failing,) = prove(LIGHTS, evaluator, cast("Any", None)).failing
    assert (failing.program, failing.size) == ("ALL_ON", 3)
    assert 1 < len(failing.origins) <= MOST_FAILING
    starts = [recreate(LIGHTS, "ALL_ON", 3, origin) for origin in failing.origins]
    assert len(set(starts)) == len(starts)
    runs = Interpreter(LIGHTS, evaluator).run([Call("ALL_ON", start) for start in starts])
    assert [run.failure for run in runs] == [Failure.POST] * len(starts)


def test_a_run_that_practises_them_can_be_resumed(tmp_path, monkeypatch):
    trainer = Trainer(LIGHTS, override(preset("default"), {"until": "verified"}), seed=0)
    shown = prove(LIGHTS, ScriptedEvaluator(LIGHTS, {"ALL_ON": forgets_the_third_light}), cast("Any", None))
    monkeypatch.setattr("alphanpi.learn.trainer.prove", lambda *_: shown)
    trainer.curriculum.completed = True
    assert "REFUTED" in trainer._verify()
    errors = trainer.starts.errors["ALL_ON"]
    assert errors
    assert all(LIGHTS.size(trainer.starts.state(error.start)) == 3 for error in errors)
    card = describe("lights", {}, LIGHTS, trainer.network, trainer.config.search, 0)
    save_checkpoint(tmp_path, trainer, card, 0.0, Seconds())
    again = Trainer(LIGHTS, override(preset("default"), {"until": "verified"}), seed=0)
    assert not restore(tmp_path, again)[1]
    assert again.starts.errors == trainer.starts.errors
    damaged = errors[0].start
    for origin in (damaged.origin[:-1], (*damaged.origin, 1), (damaged.origin[0], -1, 0, 0)):
        with pytest.raises(SpecificationError, match="makes no start of ALL_ON"):
            again.starts.state(damaged._replace(origin=origin))
