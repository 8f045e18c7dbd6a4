"""Programs as Gymnasium environments, by Gymnasium's own rules and by ours."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from alphanpi import UsageError, make
from alphanpi.environment.registration import registrations
from alphanpi.gymnasium import FlatEnvironment, register_all
from tests.helpers.countdown import COUNTDOWN
from tests.helpers.paths import LIGHTS

# Two disks, from the source to the target: swap roles, move, and so on, without a call.
SOLUTION = ["SWAP_A_T", "MOVE_DISK", "SWAP_A_T", "MOVE_DISK", "SWAP_S_A", "MOVE_DISK", "SWAP_S_A", "STOP"]


def play(environment, names):
    """Take actions by name; the last step."""
    for name in names:
        step = environment.step(environment.unwrapped.actions.index(name))
    return step


@pytest.mark.parametrize("identifier", sorted(registrations()))
def test_every_environment_passes_gymnasiums_own_check(identifier):
    check_env(gymnasium.make(f"alphanpi/{identifier}-v0", disable_env_checker=True).unwrapped)


def test_the_module_may_be_named_in_the_id():
    code = "import gymnasium; print(gymnasium.make('alphanpi.gymnasium:alphanpi/hanoi-v0').action_space)"
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert outcome.stdout == "Discrete(4)\n"


def test_the_documented_call():
    environment = gymnasium.make("alphanpi/hanoi-v0", program="HANOI", size=2, render_mode="ansi")
    observation, info = environment.reset(seed=0)
    assert environment.observation_space.contains(observation)
    assert environment.action_space.n == 4  # type: ignore[attr-defined]
    assert list(info["action_mask"]) == [1, 1, 1, 1]
    assert info["size"] == 2
    assert environment.action_space.sample(info["action_mask"]) in range(4)
    *_, reward, terminated, truncated, info = play(environment, SOLUTION)
    assert (reward, terminated, truncated, info["is_success"]) == (1.0, True, False, True)
    assert "2 1" in environment.render()  # type: ignore[operator]


def test_stopping_too_early_earns_nothing_and_too_late_is_cut():
    environment = FlatEnvironment("hanoi", size=2, max_steps=3)
    environment.reset(seed=1)
    _, reward, terminated, truncated, info = play(environment, ["STOP"])
    assert (reward, terminated, truncated, info["is_success"]) == (0.0, True, False, False)
    environment.reset(seed=1)
    _, reward, terminated, truncated, info = play(environment, ["SWAP_S_A"] * 3)
    assert (reward, terminated, truncated, info["is_success"]) == (0.0, False, True, False)


def test_an_illegal_action_changes_nothing():
    environment = FlatEnvironment("hanoi", size=1)
    before, info = environment.reset(seed=0)
    assert list(info["action_mask"]) == [1, 0, 0, 1]
    assert list(environment.action_masks()) == [True, False, False, True]
    state = environment.state
    after, reward, terminated, *_ = play(environment, ["SWAP_S_A"])
    assert environment.state is state
    assert (reward, terminated) == (0.0, False)
    np.testing.assert_array_equal(before, after)


def test_sizes_are_fixed_drawn_or_the_training_sizes():
    def sizes(environment, **options):
        return {environment.reset(seed=seed, **options)[1]["size"] for seed in range(20)}

    assert sizes(FlatEnvironment("hanoi", size=3)) == {3}
    assert sizes(FlatEnvironment("hanoi", size=[2, 4])) == {2, 4}
    assert sizes(FlatEnvironment("hanoi")) == {1, 2}
    assert sizes(FlatEnvironment("hanoi"), options={"size": 5}) == {5}
    assert sizes(FlatEnvironment("recursive-sorting"), options={"instance": [3, 1, 2]}) == {3}


def test_the_same_seed_draws_the_same_episode():
    environment = FlatEnvironment("recursive-sorting", size=5)
    first = environment.reset(seed=7)[0], environment.state
    again = environment.reset(seed=7)[0], environment.state
    np.testing.assert_array_equal(first[0], again[0])
    assert first[1] == again[1]
    assert environment.reset()[0] is not None
    assert environment.state != first[1]


def test_any_environment_will_do(written):
    gymnasium.register("own/lights-v0", entry_point="alphanpi.gymnasium:FlatEnvironment", kwargs={"size": 2})
    try:
        lights = gymnasium.make("own/lights-v0", environment=str(LIGHTS), disable_env_checker=True).unwrapped
        check_env(lights)
    finally:
        del gymnasium.registry["own/lights-v0"]
    assert lights.metadata["render_modes"] == ["ansi"]
    lights.reset(options={"instance": "00"})
    assert play(lights, ["TOGGLE", "RIGHT", "TOGGLE", "STOP"])[1] == 1.0
    check_env(FlatEnvironment(make(str(written(COUNTDOWN)))), skip_render_check=True)
    assert FlatEnvironment("recursive-sorting", observation="compare").observation_space.shape == (6,)


def test_pictures_are_arrays_where_states_are_drawn():
    hanoi = FlatEnvironment("hanoi", size=3, render_mode="rgb_array")
    assert hanoi.render() is None
    hanoi.reset(seed=0)
    picture = hanoi.render()
    assert picture.dtype == np.uint8
    assert picture.ndim == 3
    with pytest.raises(UsageError, match=r"needs a method render\(state\) of Lights; there is ansi"):
        FlatEnvironment(LIGHTS, size=3, render_mode="rgb_array")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"program": "MOVE_DISK"}, "MOVE_DISK is an atomic action; give a program"),
        ({"size": 0}, r"HANOI: sizes \[0\]: give one or more, from 1 on"),
        ({"size": []}, "give one or more, from 1 on"),
        ({"size": -3}, "give a whole number from 0"),
        ({"max_steps": 0}, "max_steps 0"),
        ({"render_mode": "human"}, "render mode 'human' is unknown; there is ansi and rgb_array"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(UsageError, match=message):
        FlatEnvironment("hanoi", **arguments)


def test_wrong_calls_are_refused():
    environment = FlatEnvironment("hanoi", size=2)
    with pytest.raises(UsageError, match="step before reset"):
        environment.step(np.int64(0))
    environment.reset()
    with pytest.raises(UsageError, match="action 4: there are 0 to 3: STOP, SWAP_S_A"):
        environment.step(np.int64(4))
    with pytest.raises(UsageError, match="unknown options sise; there are size and instance"):
        environment.reset(options={"sise": 2})


def test_registering_again_adds_what_is_new(monkeypatch):
    before = dict(gymnasium.registry)
    register_all()
    assert gymnasium.registry == before
    assert {f"alphanpi/{identifier}-v0" for identifier in registrations()} <= set(before)


def test_the_package_itself_needs_no_gymnasium():
    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import alphanpi; alphanpi.make('hanoi')\n"
        "try: import alphanpi.gymnasium\n"
        "except alphanpi.UsageError as error: print(error)"
    )
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert outcome.stdout == "alphanpi.gymnasium needs gymnasium: pip install 'alphanpi[gymnasium]'\n"
