"""What the exam asks for, and what it says when it is failed."""

from __future__ import annotations

import json

import pytest

from alphanpi import SearchConfig, TrainConfig, UsageError, make
from alphanpi.agent.interpreter import Call, Execution, Interpreter
from alphanpi.engine.config import planning_config
from alphanpi.engine.search import Search
from alphanpi.engine.tables import Failure
from alphanpi.learn.stagnation import Best
from alphanpi.learn.starts import Stream
from alphanpi.learn.trainer import Trainer
from alphanpi.learn.validation import Exam, ExamResult, _Answer, _UnansweredError
from alphanpi.support.config import override, read_toml, to_toml
from alphanpi.training.presets import preset
from tests.helpers.solutions import SOLUTIONS, ScriptedEvaluator
from tests.helpers.tiny import SETTINGS as TINY


def examined(environment, evaluator, planner=None, **changes):
    """A trainer at its last level whose agent answers as the evaluator says; with search, as another says."""
    trainer = Trainer(environment, override(preset("default"), changes), seed=0)
    trainer.curriculum.level = environment.library.levels
    trainer.validation.interpreter = Interpreter(environment, evaluator)
    trainer.validation.planner = Search(
        environment, planner or evaluator, planning_config(SearchConfig(c_puct_planning=5.0))
    )
    return trainer


def never_swaps(see, size):
    yield "STOP"


def test_a_failed_exam_names_program_instance_and_reason():
    environment = make("recursive-sorting", observation="compare")
    evaluator = ScriptedEvaluator(environment, {**SOLUTIONS["RecursiveSorting"], "COMPSWAP": never_swaps})
    result = examined(environment, evaluator).validation.exam(0)
    assert result.outcome == Exam.ANSWERS
    assert str(result).startswith("failed: COMPSWAP on ")
    assert "(post, " in str(result)
    assert result.failing.split("(")[0].strip() != "COMPSWAP on"  # the list is shown


def forgets_one_pair(see, size):
    if see.p1_value_9 and see.p2_value_0:
        yield "STOP"
    else:
        yield from SOLUTIONS["RecursiveSorting"]["COMPSWAP"](see, size)


def test_what_is_hardly_ever_drawn_fails_the_exam_where_all_starts_are_known():
    environment = make("recursive-sorting")
    changes = {
        "validation.called_program_factor": 1,
        "validation.exam_threshold": 1.0,
    }
    right = examined(environment, ScriptedEvaluator(environment, SOLUTIONS["RecursiveSorting"]), **changes)
    right.validation._answer_all(0)
    evaluator = ScriptedEvaluator(environment, {**SOLUTIONS["RecursiveSorting"], "COMPSWAP": forgets_one_pair})
    trainer = examined(environment, evaluator, **changes)
    assert all(answer.failure == Failure.NONE for answer in trainer.validation._validate(0, 1, Stream.EXAM))
    trainer.validation._validate = lambda *_: []
    result = trainer.validation.exam(0)
    assert result.outcome == Exam.ANSWERS
    assert "COMPSWAP on 9 0 (post, " in result.failing
    assert "of all 4200 failed" in result.failing
    errors = trainer.starts.errors["COMPSWAP"]
    assert len(errors) > 10
    assert trainer.validation.exam(0).failing.endswith("(post, as before)")
    for error in errors:
        state = trainer.starts.state(error.start)
        assert (state.values[state.p1], state.values[state.p1 + 1]) == (9, 0)


def test_starts_that_cannot_be_enumerated_are_not_asked_for():
    environment = make("sorting")
    trainer = Trainer(environment, preset("default"), seed=0)
    assert {one.start.size for one in trainer.starts.every(environment.library.named("RSHIFT"), 20_000)} == {2, 3}
    assert trainer.starts.every(environment.library.named("LSHIFT"), 10) == []
    environment.enumerate = lambda program, size: (_ for _ in ()).throw(NotImplementedError)  # type: ignore[method-assign]
    assert trainer.starts.every(environment.library.named("BUBBLE"), 20_000) == []


def test_sizes_to_learn_from_and_to_validate_on_can_be_set(tmp_path, run):
    code, _, errors = run(
        *("train", "hanoi", "--train-sizes", "1,3", "--validation-size", "4", "--max_iterations", "1"),
        *("--episodes.per_iteration", "4", "--learning.gradient_steps", "1", "--out", tmp_path / "run", "--seed", "0"),
    )
    assert (code, errors) == (1, "")
    config = override(TrainConfig(), read_toml(tmp_path / "run" / "config.toml"))
    assert (config.episodes.train_sizes, config.validation.size) == ((1, 3), 4)
    assert json.loads((tmp_path / "run" / "metrics.jsonl").read_text())["iteration"] == 1
    trainer = Trainer(make("hanoi"), config, seed=0)
    assert trainer.starts.sizes(trainer.library.named("HANOI")) == [1, 3]
    starts = trainer.validation.draw(0, 8, Stream.VALIDATE)
    assert {start.size for start in starts[4:]} == {4}
    assert override(TrainConfig(), read_toml(_written(tmp_path, to_toml(config)))) == config


def _written(folder, text):
    (folder / "again.toml").write_text(text)
    return folder / "again.toml"


@pytest.mark.parametrize("value", ["1,x", "-1", "1.5", "99999999999"])
def test_sizes_that_are_none_are_refused(value):
    with pytest.raises(UsageError, match="train_sizes"):
        override(TrainConfig(), {"episodes.train_sizes": value})


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("sorting", {}, ("BUBBLESORT", 14)),  # there is a lemma about loops
        ("recursive-sorting", {"observation": "paper"}, ("BUBBLESORT", 14)),
        ("recursive-sorting", {"observation": "compare"}, ("BUBBLESORT", 14)),  # there is a lemma
        ("hanoi", {}, ("HANOI", 6)),
    ],
)
@pytest.mark.parametrize(("failure", "passed"), [("NONE", True), ("ACTIONS", True), ("POST", False)])
def test_the_far_exam_is_held_whatever_lemma_there_is(monkeypatch, name, options, expected, failure, passed):
    changes = {
        "validation.far_exam_factor": 2,
    }
    monkeypatch.setattr("alphanpi.learn.validation._FAR_PLANNED", 4)
    environment = make(name, **options)
    trainer = Trainer(environment, override(preset("default", name), changes), seed=0)
    monkeypatch.setattr(trainer.validation, "_validate", lambda *_: [])
    monkeypatch.setattr(trainer.validation, "_plan_alike", lambda calls, runs: planned.extend(calls))
    planned: list[Call] = []
    asked: list[tuple[str, int]] = []

    def run(calls, record=False, max_actions=0):
        if record:
            asked.extend((call.program, environment.size(call.state)) for call in calls)
        return [Execution(failure == "NONE", Failure[failure], call.state, 1, None, ()) for call in calls]

    monkeypatch.setattr(trainer.interpreter, "run", run)
    assert trainer.validation.exam(0).outcome == (Exam.PASSED if passed else Exam.FAR)
    program, size = expected
    if failure == "ACTIONS":  # problems of that size are too large, and so are those of three quarters
        size = 3 * size // 4 if 3 * size // 4 > environment.validation_size else size
    assert set(asked) == {(program, size)}
    many = 6 if name == "hanoi" else 8  # there are no more different starts
    assert len(asked) == (many if failure == "NONE" else 3)  # the first few tell enough
    assert len(set(planned)) == (4 if failure == "NONE" else 0)


def test_the_far_exam_asks_for_more_problems_of_smaller_sizes(monkeypatch):
    environment = make("sorting")
    monkeypatch.setattr("alphanpi.learn.validation._FAR_EPISODES", 3)
    monkeypatch.setattr("alphanpi.learn.validation._FAR_PLANNED", 0)
    trainer = Trainer(environment, preset("default", "sorting"), seed=0)
    asked: list[int] = []
    states: set[object] = set()

    def run(calls, record=False, max_actions=0):
        if record:
            asked.extend(environment.size(call.state) for call in calls)
        states.update(call.state for call in calls)
        return [Execution(True, Failure.NONE, call.state, 1, None, ()) for call in calls]

    monkeypatch.setattr(trainer.interpreter, "run", run)
    monkeypatch.setattr(trainer.validation, "_validate", lambda *_: [])
    assert trainer.validation.exam(0).outcome == Exam.PASSED
    assert asked == [17] * 12 + [35] * 6 + [70] * 3
    assert len(states) == len(asked)


def test_no_far_exam_where_the_environment_cannot_make_problems_that_large(monkeypatch):
    environment = make("sorting")

    def initial(program, size, rng):
        raise ValueError("too large")

    trainer = Trainer(environment, preset("default", "sorting"), seed=0)
    monkeypatch.setattr(environment, "initial", initial)
    monkeypatch.setattr(trainer.validation, "_validate", lambda *_: [])
    assert trainer.validation.exam(0).outcome == Exam.PASSED


@pytest.mark.parametrize("observation", ["paper", "compare"])  # a lemma does not excuse planning badly
def test_search_that_tries_more_than_it_needs_fails_the_exam(observation):
    environment = make("recursive-sorting", observation=observation)
    changes = {"validation.far_exam_factor": 1}
    sure, unsure = ScriptedEvaluator(environment, weight=20.0), ScriptedEvaluator(environment, weight=1.0)
    assert examined(environment, sure, **changes).validation.exam(0).outcome == Exam.PASSED
    result = examined(environment, sure, unsure, **changes).validation.exam(0)
    assert result.outcome == Exam.FAR
    assert "tried with search" in result.failing


def test_the_parts_of_the_exam():
    environment = make("hanoi")
    trainer = Trainer(environment, override(preset("default"), {"validation.exam_episodes": 20}), seed=0)
    trainer.curriculum.level = environment.library.levels
    validation = trainer.validation
    assert trainer._rise().outcome == Exam.ANSWERS  # an untrained network
    validation.interpreter = Interpreter(environment, ScriptedEvaluator(environment))
    assert trainer._rise().outcome == Exam.FAR  # with search, it still is one
    validation.planner = Search(environment, ScriptedEvaluator(environment), planning_config(SearchConfig()))
    assert trainer._rise().outcome == Exam.PASSED
    assert trainer.curriculum.completed


def test_after_five_exams_failed_by_what_is_not_practised_everything_is_learned_anew(monkeypatch):
    trainer = Trainer(make("hanoi"), override(preset("default"), TINY), seed=0)
    trainer.curriculum.level = trainer.library.levels
    weights = {name: tensor.clone() for name, tensor in trainer.network.state_dict().items()}
    practised = True
    monkeypatch.setattr(trainer.validation, "exam", lambda _: ExamResult(Exam.FAR, "HANOI on 9", "HANOI", practised))
    for _ in range(7):
        trainer.replay.put_back(0, True, [], 0)
        assert str(trainer._rise()) == "failed on large problems: HANOI on 9"
        assert trainer.replay.learnable() == [0]
    practised = False
    for failed in range(1, 11):
        trainer.replay.put_back(0, True, [], 0)
        trainer.stagnation.best["HANOI"] = Best(1.0, 3)
        assert ("learned anew" in str(trainer._rise())) == (failed % 5 == 0)
        assert trainer.replay.learnable() == ([] if failed % 5 == 0 else [0])
        assert trainer.stagnation.best["HANOI"].since == (0 if failed % 5 == 0 else 3)
        same = all(bool(tensor.equal(weights[name])) for name, tensor in trainer.network.state_dict().items())
        assert same == (failed < 5)


def test_a_failed_exam_says_whether_what_fails_is_practised():
    environment = make("recursive-sorting", observation="compare")
    evaluator = ScriptedEvaluator(environment, {**SOLUTIONS["RecursiveSorting"], "COMPSWAP": never_swaps})
    assert examined(environment, evaluator).validation.exam(0).practised
    trainer = examined(environment, ScriptedEvaluator(environment, {**SOLUTIONS["RecursiveSorting"]}))
    drawn = trainer.validation.draw(0, 8, Stream.EXAM)
    large = next(one for one in drawn if one.size not in trainer.starts.sizes(environment.library.named(one.program)))
    small = next(one for one in drawn if one.size in trainer.starts.sizes(environment.library.named(one.program)))
    for starts, practised in (([large], False), ([small], True), ([large, small], True)):
        answers = [_Answer(Call("BUBBLE", trainer.starts.state(one)), Failure.POST) for one in starts]
        with pytest.raises(_UnansweredError) as raised:
            trainer.validation._ask_for(answers)
        assert raised.value.practised == practised


def test_an_agent_that_is_fast_enough_on_small_problems_alone_fails_until_it_was_learned_anew(monkeypatch):
    environment = make("quicksort")
    monkeypatch.setattr("alphanpi.learn.validation._FAR_PLANNED", 0)
    trainer = Trainer(environment, preset("default", "quicksort"), seed=0)
    asked = 10 * environment.validation_size

    def run(calls, record=False, max_actions=0):
        failures = [Failure.ACTIONS if environment.size(call.state) > largest else Failure.NONE for call in calls]
        return [
            Execution(failure == Failure.NONE, failure, call.state, 1, None, ())
            for call, failure in zip(calls, failures, strict=True)
        ]

    monkeypatch.setattr(trainer.interpreter, "run", run)
    monkeypatch.setattr(trainer.validation, "_validate", lambda *_: [])
    for fast_enough, learned_anew, outcome in (
        (3 * asked // 4, False, Exam.PASSED),
        (asked // 2, False, Exam.FAR),
        (asked // 2, True, Exam.PASSED),
    ):
        largest, trainer.curriculum.learned_anew = fast_enough, learned_anew
        result = trainer.validation.exam(0)
        assert result.outcome == outcome
        assert ("more than 100,000 actions" in result.failing) == (outcome == Exam.FAR)
        assert not result.practised


def test_one_problem_that_takes_too_many_actions_among_others_fails_the_exam(monkeypatch):
    environment = make("recursive-sorting")
    monkeypatch.setattr("alphanpi.learn.validation._FAR_PLANNED", 0)
    trainer = Trainer(environment, preset("default", "recursive-sorting"), seed=0)

    def run(calls, record=False, max_actions=0):
        if not record:  # to see whether problems of that size are too large
            return [Execution(True, Failure.NONE, call.state, 1, None, ()) for call in calls]
        failures = [Failure.ACTIONS] + [Failure.NONE] * (len(calls) - 1)
        return [
            Execution(failure == Failure.NONE, failure, call.state, 1, None, ())
            for call, failure in zip(calls, failures, strict=True)
        ]

    monkeypatch.setattr(trainer.interpreter, "run", run)
    monkeypatch.setattr(trainer.validation, "_validate", lambda *_: [])
    assert trainer.validation.exam(0).outcome == Exam.FAR
