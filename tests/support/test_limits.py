"""Numbers: bounded where they are read, refused in one line, and shown without rounding to a lie."""

from __future__ import annotations

import inspect
import math

import pytest
from pydantic import BaseModel, ValidationError

import alphanpi
from alphanpi import SearchConfig, TrainConfig, UsageError
from alphanpi.agent.evaluation import evaluate
from alphanpi.agent.loading import load
from alphanpi.engine import episodes
from alphanpi.engine.config import planning_config
from alphanpi.engine.requests import Request
from alphanpi.engine.search import Search
from alphanpi.environment.registry import make
from alphanpi.environment.skeleton import new_env
from alphanpi.network.config import NetworkConfig
from alphanpi.network.model import create_evaluator, create_network, parameter_count, usable_device
from alphanpi.support import limits
from tests.helpers.chain import Chain
from tests.helpers.networks import HashNetwork

HUGE = 10**30


def sections(model: type[BaseModel]):
    """A configuration class and those it consists of."""
    yield model
    for field in model.model_fields.values():
        if inspect.isclass(field.annotation) and issubclass(field.annotation, BaseModel):
            yield from sections(field.annotation)


NUMBERS = [
    (section, name)
    for section in sections(TrainConfig)
    for name, field in section.model_fields.items()
    if field.annotation in (int, float)
]


@pytest.mark.parametrize(("section", "name"), NUMBERS, ids=lambda part: getattr(part, "__name__", part))
@pytest.mark.parametrize("value", [HUGE, -HUGE, math.inf, -math.inf, math.nan, True])
def test_every_number_of_the_configuration_is_bounded(section, name, value):
    with pytest.raises(ValidationError):
        section(**{name: value})


def test_there_are_numbers_to_be_bounded():
    assert len(NUMBERS) > 40
    assert all(key in TrainConfig().flat() for key in ("search.simulations", "learning.learning_rate"))


@pytest.mark.parametrize("text", ["1.5", "-1", "nan", "inf", "1e3", "", "0x10", "1_000", "٣", "9" * 5000])
@pytest.mark.parametrize(
    "command",
    [
        ("eval", "pretrained:hanoi", "--episodes"),
        ("eval", "pretrained:hanoi", "--seed"),
        ("eval", "pretrained:hanoi", "--max-actions"),
        ("check", "hanoi", "--samples"),
        ("search", "hanoi", "HANOI", "2", "--seed"),
        ("search", "hanoi", "HANOI", "2", "--simulations"),
        ("trace", "pretrained:hanoi", "HANOI", "2", "--limit"),
        ("bench", "search", "--episodes"),
        ("bench", "train", "--iterations"),
        ("train", "hanoi", "--seed"),
    ],
    ids=" ".join,
)
def test_what_is_no_whole_number_is_refused_and_not_rounded(run, command, text):
    code, out, err = run(*command[:-1], f"{command[-1]}={text}")
    assert (code, out) == (2, "")
    assert err.startswith("alphanpi: error: ")
    assert err.count("\n") == 1
    assert len(err) < 300


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("eval", "pretrained:hanoi", "--sizes", "1000000000"), "HANOI: size 1000000000: give a whole number from 0"),
        (("eval", "pretrained:hanoi", "--sizes", "3,0"), "HANOI cannot start at size 0; its smallest is 1"),
        (("eval", "pretrained:hanoi", "--sizes", ","), "write numbers separated by commas"),
        (("eval", "pretrained:hanoi", "--sizes", "1.5"), "write numbers separated by commas"),
        (("eval", "pretrained:hanoi", "--episodes", "99999999999"), "episodes 99999999999: give"),
        (("eval", "pretrained:hanoi", "--max-actions", "3000000000"), "max_actions 3000000000: give"),
        (("run", "pretrained:hanoi", "HANOI", "3", "--max-actions", "3000000000"), "max_actions 3000000000: give"),
        (("eval", "pretrained:hanoi", "--device", "meta"), "device 'meta' cannot be used here; there is cpu"),
        (("train", "hanoi", "--device", "abacus"), "device 'abacus' cannot be used here; there is cpu"),
        (("search", "hanoi", "HANOI", "2", "--simulations", "0"), "simulations 0: give a whole number from 1"),
        (("search", "hanoi", "HANOI", "2", "--simulations", "99999999"), "simulations 99999999: give"),
        (("check", "hanoi", "--samples", "0"), "samples 0: give a whole number from 1"),
        (("check", "hanoi", "--samples", "99999999999"), "samples 99999999999: give"),
        (("bench", "search", "--oracle-seconds", "1e300"), "oracle seconds 1e+300: give seconds"),
        (("bench", "train", "--seed", str(2**63)), "seed 9223372036854775808: give a whole number"),
        (("config", "hanoi", "--network.memory", "1000000"), "network.memory = 1000000: Input should be less"),
        (("config", "hanoi", "--learning.learning_rate", "inf"), "learning.learning_rate = inf: Input should be a fin"),
        (("config", "hanoi", "--episodes.per_iteration", "99999999999"), "less than or equal to 1000000"),
        (("config", "hanoi", "--search.simulations", "true"), "search.simulations = True"),
        (("config", "hanoi", "--search.simulations", str(HUGE)), "less than or equal to 1000000"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_numbers_out_of_bounds_end_in_one_line(run, command, message):
    code, out, err = run(*command)
    assert (code, out) == (2, "")
    assert err.startswith("alphanpi: error: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"sizes": [10**9]},
        {"sizes": [-1]},
        {"sizes": [2.0]},
        {"sizes": []},
        {"sizes": [2], "episodes": HUGE},
        {"sizes": [2], "episodes": 1.5},
        {"sizes": [2], "episodes": True},
        {"sizes": [2], "seed": -1},
        {"sizes": [2], "max_actions": 2**31},
        {"sizes": [2], "mode": "both of them"},
    ],
    ids=str,
)
def test_evaluation_refuses_what_the_command_line_does(arguments):
    with pytest.raises(UsageError):
        evaluate(load("pretrained:hanoi"), "HANOI", **arguments)


def test_search_refuses_numbers_its_tables_cannot_hold():
    hanoi = make("hanoi")
    state = hanoi.parse("HANOI", "2")
    for wrong in ({"simulations": HUGE}, {"simulations": 0}, {"seed": -1}, {"seed": 2**63}):
        with pytest.raises(UsageError):
            alphanpi.search(hanoi, "HANOI", state, **wrong)
    search = Search(hanoi, HashNetwork(len(hanoi.library), 0))
    wrong_limits: list[dict[str, int]] = [{"batch": 0}, {"max_actions": 2**31}, {"max_actions": 0}]
    for limit in wrong_limits:
        with pytest.raises(UsageError, match=next(iter(limit))):
            search.run([Request("HANOI", state)], **limit)


def test_modes_and_devices_that_do_not_exist_are_refused():
    agent = load("pretrained:hanoi")
    with pytest.raises(UsageError, match="unknown mode 'wishful'"):
        agent.run("HANOI", "2", mode="wishful")  # type: ignore[arg-type]
    assert usable_device("cpu") == "cpu"
    with pytest.raises(UsageError, match="there is cpu"):
        create_evaluator(agent.network, "meta")


def test_networks_that_do_not_fit_into_memory_are_refused_before_they_are_made(monkeypatch):
    hanoi = make("hanoi")
    network = create_network(hanoi, 0)
    shape = (len(hanoi.fields), len(hanoi.library.learned), len(hanoi.library))
    assert parameter_count(*shape, NetworkConfig()) == sum(weights.numel() for weights in network.parameters())
    monkeypatch.setattr("alphanpi.support.limits._SHARE_OF_MEMORY", 1e-9)
    with pytest.raises(UsageError, match=r"a network of 251,582 parameters takes about .* too large"):
        create_network(hanoi, 0)


def test_a_depth_beyond_all_memory_does_no_harm():
    """A trace is a path of a tree, so its length is bounded by the tree's size and not by the declared depth."""

    class Deep(Chain):
        def depth(self, program, state):
            return 2**31 - 1

    shallow, deep = Chain(), Deep()
    for environment in (shallow, deep):
        search = Search(environment, HashNetwork(len(environment.library), 3), SearchConfig(simulations=20))
        program = environment.library.learned[0].name
        traces = search.run([Request(program, 3, (0, number), exploring=True) for number in range(64)])
        assert len(traces) == 64


def test_traces_side_by_side_are_bounded_by_memory_and_nothing_changes(monkeypatch):
    hanoi = make("hanoi")
    requests = [Request("HANOI", hanoi.parse("HANOI", "2"), (0, number), exploring=True) for number in range(12)]

    def traces():
        config = SearchConfig(simulations=30)
        search = Search(hanoi, HashNetwork(len(hanoi.library), 1), config)
        return [(trace.actions.tolist(), trace.visits.tolist(), trace.failure) for trace in search.run(requests)]

    expected = traces()
    monkeypatch.setattr(episodes, "_TRACE_BYTES", 5000)
    assert traces() == expected


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1.0, "100%"),
        (0.0, "0%"),
        (199 / 200, "99.5%"),
        (0.9999, "99.99%"),
        (1 / 1000, "0.1%"),
        (0.5, "50%"),
        (0.994, "99%"),
        (2 / 3, "67%"),
        (math.nan, "-"),
        (1 - 2**-53, "<100%"),
        (2**-53, ">0%"),
    ],
)
def test_percentages_are_whole_only_where_they_are(share, text):
    assert limits.percent(share) == text


def test_evaluation_does_not_call_a_failure_one_hundred_percent(run, monkeypatch):
    def score(agent, name, sizes, on_score, **settings):
        from alphanpi.agent.evaluation import Score

        found = Score(name, 3, "greedy", 200, 199, 199 / 200, 0.97, 0.9996, 0.1, {"post": 1})
        on_score(found)
        return [found]

    monkeypatch.setattr("alphanpi.agent.evaluation.evaluate", score)
    code, out, _ = run("eval", "pretrained:hanoi")
    assert code == 1
    assert "99.5%" in out
    assert "99.96%" in out
    assert "100%" not in out


@pytest.mark.parametrize(
    "name", ["none", "True", "class", "State", "environment", "ValueError", "random", "é", "a" * 99]
)
def test_a_skeleton_that_would_not_work_is_not_written(tmp_path, name):
    with pytest.raises(UsageError):
        new_env(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_skeleton_replaces_nothing(tmp_path):
    (tmp_path / "counting.py").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="there already"):
        new_env("counting", tmp_path)
    assert (tmp_path / "counting.py").is_symlink()


def test_all_verbs_are_offered():
    assert {"train", "evaluate", "verify", "make", "SearchConfig"} <= set(dir(alphanpi))


def test_planning_keeps_within_bounds():
    assert planning_config(SearchConfig()) == SearchConfig(**planning_config(SearchConfig()).model_dump())
