"""Learning: the gradient step is the paper's, replay feeds both signs, the curriculum rises, agents really learn."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from alphanpi import SearchConfig, UsageError, create_evaluator, create_network, make
from alphanpi.agent.interpreter import Call, Execution, Interpreter
from alphanpi.engine.config import planning_config
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.engine.tables import Failure
from alphanpi.learn.config import CurriculumConfig, TrainConfig
from alphanpi.learn.continuation import Continuations
from alphanpi.learn.curriculum import Curriculum
from alphanpi.learn.practice import called_states
from alphanpi.learn.presets import preset
from alphanpi.learn.replay import Replay
from alphanpi.learn.starts import Stream
from alphanpi.learn.trainer import Trainer
from alphanpi.learn.unroll import Blur, forward, loss, make_batch
from alphanpi.learn.validation import Exam
from alphanpi.network.model import masked_log_softmax
from alphanpi.support.config import override, read_toml, to_toml
from tests.helpers.solutions import SOLUTIONS, ScriptedEvaluator


def explored(environment, program: str, size: int, count: int, seed: int = 0, simulations: int = 60):
    config = SearchConfig(simulations=simulations, failed_call_exploration="penalise")
    search = Search(environment, create_evaluator(create_network(environment, seed)), config)
    rng = np.random.default_rng(seed)
    return search.run([Request(program, environment.initial(program, size, rng), i, True) for i in range(count)])


def gradient(parameter) -> torch.Tensor:
    assert parameter.grad is not None
    gradient: torch.Tensor = parameter.grad
    return gradient


def is_ready(curriculum: Curriculum) -> bool:
    return curriculum.ready


def filled_replay(environment, keep_memories: bool = False) -> Replay:
    replay = Replay(environment, capacity=100, keep_memories=keep_memories)
    for program in ("RSHIFT", "COMPSWAP"):
        for trace in explored(environment, program, 3, 30):
            replay.add(trace)
    return replay


@pytest.mark.parametrize("observation", ["paper", "compare"])
def test_the_shared_gradient_is_the_gradient_of_every_trace_unrolled(observation):
    environment = make("sorting", observation=observation)
    replay = filled_replay(environment)
    traces = replay.sample(np.ones(6), 40, np.full(6, 0.6), np.random.default_rng(0))
    network = create_network(environment, 3)
    batch = make_batch(traces, replay, weight_by_value=True, unrolled=True)
    result = loss(network, batch, 0.5)
    result.total.backward()
    shared = {name: gradient(parameter).clone() for name, parameter in network.named_parameters()}
    network.zero_grad()

    policy_terms, value_terms, weights = [], [], []
    rows, masks = replay.observations.array(), replay.legal.array().astype(bool)
    for trace in traces:
        hidden = cell = torch.zeros(1, network.config.memory)
        weight = max(trace.value, 0.0) if trace.success else 0.0
        for step in range(len(trace.observations)):
            seen = torch.from_numpy(rows[trace.observations[step]][None].astype(np.float32))
            output = network(torch.tensor([trace.program]), seen, hidden, cell)
            hidden, cell = output.hidden, output.cell
            legal = torch.from_numpy(masks[trace.legal[step]][None])
            log_policy = masked_log_softmax(output.logits, legal).masked_fill(~legal, 0.0)
            policy_terms.append(-weight * (torch.from_numpy(trace.policies[step]) * log_policy).sum())
            value_terms.append((output.value - trace.value) ** 2)
            weights.append(weight)
    policy = torch.stack(policy_terms).sum() / sum(weights)
    value = torch.cat(value_terms).mean()
    (policy + 0.5 * value).backward()

    assert result.policy == pytest.approx(policy.item(), rel=1e-4)
    assert result.value == pytest.approx(value.item(), rel=1e-4)
    for name, parameter in network.named_parameters():
        torch.testing.assert_close(shared[name], parameter.grad, rtol=1e-3, atol=1e-5)
    assert len(batch.value_counts) < int(batch.value_counts.sum())  # something was shared


def test_stored_memories_give_single_steps():
    environment = make("sorting")
    replay = filled_replay(environment, keep_memories=True)
    steps = replay.sample_steps(50, 0.5, np.random.default_rng(0))
    assert all(len(step.observations) == 1 for step in steps)
    batch = make_batch(steps, replay, weight_by_value=False, unrolled=False)
    network = create_network(environment, 0)  # the weights the traces were played with
    logits, _ = forward(network, batch)
    later = next(i for i, step in enumerate(steps) if np.abs(step.memories).max() > 0)
    memory = torch.from_numpy(steps[later].memories)
    seen = torch.from_numpy(replay.observations.array()[steps[later].observations].astype(np.float32))
    expected = network(torch.tensor([steps[later].program]), seen, memory[:, :128], memory[:, 128:])
    torch.testing.assert_close(logits[later], expected.logits[0], rtol=1e-4, atol=1e-5)


def test_a_trace_with_memories_goes_on_from_the_first_of_them():
    environment = make("sorting")
    replay = filled_replay(environment)
    network = create_network(environment, 3)
    trace = max(replay.rings[0, True].traces, key=lambda trace: len(trace.observations))
    memory = np.random.default_rng(0).normal(size=(1, 256)).astype(np.float32)
    batch = make_batch([trace, trace._replace(memories=memory)], replay, weight_by_value=True, unrolled=True)
    logits, values = forward(network, batch)
    assert len(logits) == 2 * len(trace.observations)  # nothing is shared: the memories differ
    hidden, cell = torch.from_numpy(memory[:, :128]), torch.from_numpy(memory[:, 128:])
    for seen in replay.observations.array()[trace.observations].astype(np.float32):
        output = network(torch.tensor([trace.program]), torch.from_numpy(seen[None]), hidden, cell)
        hidden, cell = output.hidden, output.cell
        assert any(torch.allclose(output.logits[0], row, rtol=1e-4, atol=1e-5) for row in logits)
        assert any(torch.allclose(output.value[0], value, rtol=1e-4, atol=1e-5) for value in values)


def test_only_programs_that_grow_with_the_problem_are_continued():
    environment = make("sorting")
    replay = filled_replay(environment)
    for trace in explored(environment, "RESET", 3, 30):
        replay.add(trace)
    reset = environment.library.index_of("RESET") - environment.library.atomic_count
    assert (reset, True) in replay.rings
    rng = np.random.default_rng(0)
    continuations = Continuations(create_network(environment, 0), replay, environment.library, rng, "cpu")
    assert set(continuations.memories) == {reset}
    traces = replay.sample(np.ones(6), 60, np.full(6, 1.0), rng)
    changed = continuations.applied(traces, 1.0, rng)
    assert continuations.applied(traces, 0.0, rng) == traces
    for before, after in zip(traces, changed, strict=True):
        assert (after is before) == (before.program != reset)
        if before.program == reset:
            assert 1 <= len(after.observations) <= len(before.observations)
            np.testing.assert_array_equal(after.policies, before.policies[-len(after.policies) :])
            assert np.abs(after.memories).max() > 0


def test_blurring_only_removes():
    environment = make("sorting")
    replay = filled_replay(environment)
    traces = replay.sample(np.ones(6), 40, np.full(6, 1.0), np.random.default_rng(0))
    clean = make_batch(traces, replay, weight_by_value=True, unrolled=True)
    blurred = make_batch(
        traces, replay, weight_by_value=True, unrolled=True, blur=Blur(1.0, 0.3), rng=np.random.default_rng(1)
    )
    assert blurred.value_counts.sum() == clean.value_counts.sum()
    assert blurred.policy_weight == clean.policy_weight
    torch.testing.assert_close(blurred.policies.sum(), clean.policies.sum())
    assert len(blurred.value_counts) > len(clean.value_counts)
    assert float(blurred.observations.mean()) < float(clean.observations.mean())


def test_both_outcomes_reach_the_batch():
    environment = make("sorting")
    replay = filled_replay(environment)
    traces = replay.sample(np.ones(6), 200, np.full(6, 0.5), np.random.default_rng(0))
    mixed = {program for program, success in replay.rings if not success}
    assert mixed
    share = np.mean([trace.success for trace in traces if trace.program in mixed])
    assert 0.35 < share < 0.65


def test_nothing_is_stored_of_a_program_that_never_succeeded():
    environment = make("flat-sorting")
    traces = explored(environment, "BUBBLESORT", 3, 40, simulations=4)
    failures = [trace for trace in traces if not trace.success]
    successes = [trace for trace in traces if trace.success]
    assert failures
    assert successes
    replay = Replay(environment, 100)
    replay.add(failures[0])
    assert len(replay) == 0
    replay.add(successes[0])
    replay.add(failures[0])
    assert len(replay) == 2


def test_replay_keeps_the_newest():
    environment = make("sorting")
    traces = [trace for trace in explored(environment, "RSHIFT", 3, 30) if trace.success]
    replay = Replay(environment, capacity=5)
    for trace in traces[:12]:
        replay.add(trace)
    kept = {stored.policies.tobytes() for stored in replay.rings[0, True].traces}
    assert kept == {trace.policies.astype(np.float32).tobytes() for trace in traces[7:12]}


def test_curriculum_needs_all_programs_up_to_the_level_several_times():
    library = make("sorting").library
    curriculum = Curriculum(library, CurriculumConfig(threshold=0.9, patience=2, estimate="latest"))
    level_1 = [program.name for program in curriculum.unlocked]
    assert level_1 == ["RSHIFT", "LSHIFT", "COMPSWAP"]
    good = {name: [True] * 10 for name in level_1}
    curriculum.update({**good, "COMPSWAP": [True] * 8 + [False] * 2})
    assert "COMPSWAP at 80%" in curriculum.explain()
    assert curriculum.preferences().argmax() == 2
    curriculum.update(good)
    assert not is_ready(curriculum)
    curriculum.update(good)
    assert is_ready(curriculum)
    curriculum.advance()
    assert curriculum.level == 2
    assert [program.name for program in curriculum.unlocked] == [*level_1, "RESET", "BUBBLE"]


def test_the_papers_moving_average_needs_349_successes():
    library = make("hanoi").library
    curriculum = Curriculum(library, CurriculumConfig(estimate="moving-average", threshold=0.97, patience=1))
    for _ in range(348):
        curriculum.update({"HANOI": [True]})
    assert not is_ready(curriculum)  # 1 - 0.99^348 = 0.9697
    curriculum.update({"HANOI": [True]})
    assert is_ready(curriculum)


def test_curriculum_preferences_are_a_softmax():
    library = make("sorting").library
    curriculum = Curriculum(library, CurriculumConfig(temperature=2.0))
    curriculum.update({"RSHIFT": [True], "LSHIFT": [True, False], "COMPSWAP": [False]})
    weights = np.exp(2.0 * np.array([0.0, 0.5, 1.0]))
    np.testing.assert_allclose(curriculum.preferences(), weights / weights.sum())


def test_the_interpreter_is_search_with_one_simulation():
    """Greedy execution and the engine's exploitation mode without search are the same thing."""
    for name in ("hanoi", "recursive-sorting", "sorting", "flat-sorting"):
        environment = make(name)
        rng = np.random.default_rng(0)
        for seed in range(6):
            evaluator = create_evaluator(create_network(environment, seed))
            greedy = SearchConfig(simulations_exploitation=1, failed_call_exploitation="discard")
            search, interpreter = Search(environment, evaluator, greedy), Interpreter(environment, evaluator)
            for program in environment.library.learned:
                state = environment.initial(program.name, max(3, program.minimum_size), rng)
                trace = search.run([Request(program.name, state)])[0]
                execution = interpreter.run([Call(program.name, state)], record=True)[0]
                assert execution.success == trace.success
                own = [step.action for step in execution.steps if step.depth == 0]
                names = [environment.library.names[action] for action in trace.actions]
                if trace.failure in (Failure.NONE, Failure.POST, Failure.DEPTH):
                    assert own == names
                    assert execution.failure == trace.failure


def test_presets_override_and_round_trip(tmp_path):
    config = override(preset("paper", "hanoi"), {"search.simulations": 7, "max_iterations": 3})
    assert (config.search.simulations, config.max_iterations, config.learning.batch) == (7, 3, 256)
    path = tmp_path / "config.toml"
    path.write_text(to_toml(config))
    assert override(TrainConfig(), read_toml(path)) == config
    assert set(config.flat()) == set(read_toml(path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"search.simulatons": 5}, r"unknown configuration key 'search.simulatons'; did you mean search.simulations"),
        ({"search.discount": 2.0}, r"search.discount = 2.0"),
        ({"learning.unroll": "never"}, r"learning.unroll = 'never'"),
        ({"nonsense": 1}, r"unknown configuration key 'nonsense'"),
    ],
)
def test_wrong_configuration_is_refused(changes, message):
    with pytest.raises(UsageError, match=message):
        override(TrainConfig(), changes)


def test_unknown_preset_and_unreadable_file_are_refused(tmp_path):
    with pytest.raises(UsageError, match="there are default and paper"):
        preset("papper")
    with pytest.raises(UsageError, match="cannot be read"):
        read_toml(tmp_path / "absent.toml")
    (tmp_path / "bad.toml").write_text("search = [")
    with pytest.raises(UsageError, match="not valid TOML"):
        read_toml(tmp_path / "bad.toml")


def test_one_iteration_is_a_function_of_the_seed():
    first, second, other = (
        Trainer(make("recursive-sorting", observation="compare"), preset("default"), seed) for seed in (4, 4, 5)
    )
    for _ in range(2):
        reports = [trainer.iterate() for trainer in (first, second, other)]
    weights = [trainer.network.state_dict()["actor.0.weight"] for trainer in (first, second, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert reports[0].success == reports[1].success


def test_the_papers_preset_runs():
    config = override(preset("paper", "hanoi"), {"search.simulations": 50, "learning.gradient_steps": 2})
    trainer = Trainer(make("hanoi"), config, 0)
    for _ in range(3):
        report = trainer.iterate()
    assert report.episodes == 20
    assert 0 <= report.success["HANOI"] <= 1


def test_an_agent_learns_hanoi_and_generalises():
    trainer = Trainer(make("hanoi"), preset("default", "hanoi"), seed=0)
    while not trainer.curriculum.completed:
        assert trainer.iteration < 80, trainer.curriculum.explain()
        trainer.iterate()
    environment = trainer.environment
    states = [environment.initial("HANOI", disks, np.random.default_rng(disks)) for disks in range(1, 10)]
    executions = trainer.interpreter.run([Call("HANOI", state) for state in states])
    assert all(execution.success for execution in executions)


def test_programs_that_others_call_are_validated_more_often():
    environment = make("sorting")
    config = override(preset("default", "sorting"), {"validation.called_program_factor": 3})
    trainer = Trainer(environment, config, seed=0)
    short = {"RSHIFT": 12, "LSHIFT": 12, "COMPSWAP": 12}
    for level, expected in (
        (1, short),
        (2, {**short, "RESET": 4, "BUBBLE": 4}),
        (3, {**short, "RESET": 12, "BUBBLE": 12, "BUBBLESORT": 4}),
    ):
        trainer.curriculum.level = level
        assert Counter(start.program for start in trainer.validation.draw(0, 4, Stream.VALIDATE)) == expected


def test_growing_programs_are_practised_where_they_are_called():
    environment = make("sorting")
    trainer = Trainer(environment, preset("default", "sorting"), seed=0)
    interpreter = Interpreter(environment, ScriptedEvaluator(environment, size=4))

    def called():
        return called_states(trainer.starts, trainer.curriculum, interpreter, 0)

    assert called() == {}  # nothing calls the programs of the first level
    trainer.curriculum.level = 3
    found = called()
    assert set(found) == {"RESET", "BUBBLE"}  # RSHIFT and its like have a constant depth
    assert all(environment.pre(name, state) for name, states in found.items() for state in states)
    assert all(environment.size(state) in environment.train_sizes for states in found.values() for state in states)
    assert called() == found


def test_any_program_is_practised_where_it_fails():
    def never_swaps(see, size):
        yield "STOP"

    environment = make("recursive-sorting", observation="compare")
    trainer = Trainer(environment, preset("default", "recursive-sorting"), seed=0)
    trainer.curriculum.level = 3
    solution = {**SOLUTIONS["RecursiveSorting"], "COMPSWAP": never_swaps}
    interpreter = Interpreter(environment, ScriptedEvaluator(environment, solution))
    found = called_states(trainer.starts, trainer.curriculum, interpreter, 0)
    assert set(found) == {"COMPSWAP"}
    for state in found["COMPSWAP"]:
        assert environment.pre("COMPSWAP", state)
        assert not environment.post("COMPSWAP", state, state)


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("sorting", {}, ("BUBBLESORT", 14)),
        ("recursive-sorting", {"observation": "paper"}, ("BUBBLESORT", 14)),
        ("recursive-sorting", {"observation": "compare"}, ("BUBBLESORT", 14)),  # there is a lemma
        ("hanoi", {}, ("HANOI", 6)),
    ],
)
@pytest.mark.parametrize(("failure", "passed"), [("NONE", True), ("ACTIONS", True), ("POST", False)])
def test_the_far_exam_is_held_whatever_lemma_there_is(monkeypatch, name, options, expected, failure, passed):
    changes = {
        "validation.exam_search_episodes": 0,
        "validation.far_exam_factor": 2,
        "validation.far_exam_episodes": 8,
        "validation.far_exam_planning_episodes": 4,
    }
    environment = make(name, **options)
    trainer = Trainer(environment, override(preset("default", name), changes), seed=0)
    monkeypatch.setattr(trainer.validation, "_plan_alike", lambda calls, runs: planned.extend(calls))
    planned: list[Call] = []
    asked: list[tuple[str, int]] = []

    def run(calls, record=False, max_actions=0):
        if record:
            asked.extend((call.program, environment.size(call.state)) for call in calls)
        return [Execution(failure == "NONE", Failure[failure], call.state, 1, None, ()) for call in calls]

    monkeypatch.setattr(trainer.interpreter, "run", run)
    assert trainer.validation.last_part(0).outcome == (Exam.PASSED if passed else Exam.FAR)
    program, size = expected
    if failure == "ACTIONS":  # problems of that size are too large, and so are those of three quarters
        size = 3 * size // 4 if 3 * size // 4 > environment.validation_size else size
    assert set(asked) == {(program, size)}
    many = 8 if environment.cutoff() is None else 4  # with a lemma, those that are planned
    assert len(asked) == (many if failure == "NONE" else 3)  # the first few tell enough
    assert len(set(planned)) == (4 if failure == "NONE" else 0)


def test_the_far_exam_asks_for_more_problems_of_smaller_sizes(monkeypatch):
    environment = make("sorting")
    changes = {"validation.far_exam_episodes": 3, "validation.far_exam_planning_episodes": 0}
    trainer = Trainer(environment, override(preset("default", "sorting"), changes), seed=0)
    asked: list[int] = []
    states: set[object] = set()

    def run(calls, record=False, max_actions=0):
        if record:
            asked.extend(environment.size(call.state) for call in calls)
        states.update(call.state for call in calls)
        return [Execution(True, Failure.NONE, call.state, 1, None, ()) for call in calls]

    monkeypatch.setattr(trainer.interpreter, "run", run)
    assert trainer.validation.last_part(0).outcome == Exam.PASSED
    assert asked == [17] * 12 + [35] * 6 + [70] * 3
    assert len(states) == len(asked)


def test_no_far_exam_where_the_environment_cannot_make_problems_that_large(monkeypatch):
    environment = make("sorting")

    def initial(program, size, rng):
        raise ValueError("too large")

    config = override(preset("default", "sorting"), {"validation.exam_search_episodes": 0})
    trainer = Trainer(environment, config, seed=0)
    monkeypatch.setattr(environment, "initial", initial)
    assert trainer.validation.last_part(0).outcome == Exam.PASSED


@pytest.mark.parametrize(("searched", "far", "outcome"), [(60, 0, Exam.SEARCH), (0, 1, Exam.FAR)])
def test_search_that_tries_more_than_it_needs_fails_the_exam(searched, far, outcome):
    environment = make("recursive-sorting")
    changes = {
        "validation.exam_search_episodes": searched,
        "validation.far_exam_episodes": far,
        "validation.far_exam_factor": 1,
    }
    trainer = Trainer(environment, override(preset("default", "recursive-sorting"), changes), seed=0)
    trainer.curriculum.level = 3
    for weight, expected in ((20.0, Exam.PASSED), (1.0, outcome)):  # sure of the right actions, and not quite
        evaluator = ScriptedEvaluator(environment, weight=weight)
        trainer.validation.interpreter = Interpreter(environment, evaluator)
        config = planning_config(SearchConfig(c_puct_planning=5.0))
        trainer.validation.planner = Search(environment, evaluator, config)
        assert trainer.validation.last_part(0).outcome == expected


def test_one_problem_that_takes_too_many_actions_among_others_fails_the_exam(monkeypatch):
    environment = make("recursive-sorting")
    changes = {"validation.exam_search_episodes": 0, "validation.far_exam_planning_episodes": 0}
    trainer = Trainer(environment, override(preset("default", "recursive-sorting"), changes), seed=0)

    def run(calls, record=False, max_actions=0):
        if not record:  # to see whether problems of that size are too large
            return [Execution(True, Failure.NONE, call.state, 1, None, ()) for call in calls]
        failures = [Failure.ACTIONS] + [Failure.NONE] * (len(calls) - 1)
        return [
            Execution(failure == Failure.NONE, failure, call.state, 1, None, ())
            for call, failure in zip(calls, failures, strict=True)
        ]

    monkeypatch.setattr(trainer.interpreter, "run", run)
    assert trainer.validation.last_part(0).outcome == Exam.FAR
