"""Presets, and configurations that are refused."""

from __future__ import annotations

import pytest

from alphanpi import UsageError
from alphanpi.learn.config import TrainConfig
from alphanpi.support.config import override, read_toml, to_toml
from alphanpi.training.presets import preset


@pytest.mark.parametrize(("name", "key"), [("default", "search.simulations"), ("paper", "paper.simulations")])
def test_presets_override_and_round_trip(tmp_path, name, key):
    config = override(preset(name, "hanoi"), {key: 7, "max_iterations": 3})
    assert (config.search.simulations, config.max_iterations) == (7, 3)
    path = tmp_path / "config.toml"
    path.write_text(to_toml(config))
    assert override(type(config)(), read_toml(path)) == config
    assert set(config.flat()) == set(read_toml(path))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"search.simulatons": 5}, r"unknown configuration key 'search.simulatons'; did you mean search.simulations"),
        ({"search.discount": 2.0}, r"search.discount = 2.0"),
        ({"search.failed_call": "never"}, r"search.failed_call = 'never'"),
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
