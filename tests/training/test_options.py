"""Options and configuration of a training, as they are given and as they are documented."""

from __future__ import annotations

import runpy
import tomllib

import pytest

from alphanpi.cli.learning import KEYS_WITHOUT_SECTION
from alphanpi.learn.config import TrainConfig
from alphanpi.learn.iteration import IterationReport, Seconds
from alphanpi.support.config import Config, override, read_toml
from alphanpi.training.metrics import scalars
from alphanpi.training.presets import preset
from tests.helpers.commands import assert_one_line, command
from tests.helpers.paths import DOCS, ROOT


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--search.simulatons", "5"],
            "key 'search.simulatons'; did you mean search.simulations?",
        ),
        (["--search.discount", "2"], "configuration: search.discount = 2: "),
        (["--search.discount=high"], "configuration: search.discount = 'high': "),
        (["--search.failed_call", "never"], "configuration: search.failed_call = 'never': "),
        (["--network.window", "0"], "network.window is 0: only the preset paper"),
        (["--search.discount"], "--search.discount needs a value"),
        (["--max_iterations", "0"], "configuration: max_iterations = 0: "),
        (["--preset", "papper"], "unknown preset 'papper'; there are default and paper"),
        (["--config", "absent.toml"], "absent.toml: cannot be read"),
        (["--time-limit", "soon"], "--time-limit soon: write 90, 90s, 5m or 1h"),
        (["--time-limit", "0"], "--time-limit 0 leaves no time"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_options_are_named_and_no_run_is_begun(tmp_path, options, message):
    run = tmp_path / "run"
    assert_one_line(command("train", "hanoi", "--out", run, *options), message)
    assert not run.exists()


def test_command_line_before_file_before_preset(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("max_iterations = 7\n[search]\nsimulations = 11\nc_puct = 0.25\n")
    outcome = command(
        *("config", "hanoi", "--config", file),
        *("--search.simulations", 12, "--network.window=2"),
    )
    assert outcome.code == 0
    shown = tmp_path / "shown.toml"
    shown.write_text(outcome.out)
    assert override(TrainConfig(), read_toml(shown)) == override(
        preset("default", "hanoi"),
        {"max_iterations": 7, "search.simulations": 12, "search.c_puct": 0.25, "network.window": 2},
    )


@pytest.mark.parametrize("name", ["default", "paper"])
def test_config_prints_every_key_as_toml(name):
    outcome = command("config", "--preset", name)
    assert outcome.code == 0
    values = tomllib.loads(outcome.out)
    config = preset(name)
    for key, value in config.flat().items():
        section, _, last = key.rpartition(".")
        assert (values[section] if section else values)[last] == (list(value) if isinstance(value, tuple) else value)
    assert sum(len(section) if isinstance(section, dict) else 1 for section in values.values()) == len(config.flat())


def test_keys_without_a_section_can_be_given_on_the_command_line():
    fields = TrainConfig.model_fields.items()
    assert [name for name, field in fields if not isinstance(field.default, Config)] == list(KEYS_WITHOUT_SECTION)


PAGE = DOCS / "training.md"


def test_the_page_lists_every_configuration_key_as_it_is():
    """To renew the table: python scripts/configuration_table.py."""
    renewed = runpy.run_path(str(ROOT / "scripts" / "configuration_table.py"))["renewed"]
    assert renewed(PAGE.read_text()) == PAGE.read_text()


def test_the_page_explains_every_metric():
    page = PAGE.read_text()
    report = IterationReport(
        *(1, 1, False, {"PROGRAM": 0.0}, {"PROGRAM": 0.0}, "", 0.0, 0.0, 0.0, 1, 1.0, 1, 1, 1), seconds=Seconds()
    )
    for name in [*IterationReport._fields, "elapsed", *scalars(report)]:
        assert f"`{name}`" in page, name


def test_config_of_an_unknown_environment_is_refused(run):
    code, out, err = run("config", "sortin")
    assert (code, out) == (2, "")
    assert "sorting" in err
