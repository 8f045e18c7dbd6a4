"""Data never runs code: an environment that only a file names is not loaded, unless the user trusted it before."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import alphanpi
from alphanpi.agent.loading import describe, load
from alphanpi.agent.weights import write_weights
from alphanpi.engine.config import SearchConfig
from alphanpi.environment import registration, registry, trust
from alphanpi.environment.registry import make
from alphanpi.errors import AlphaNPIError, EnvironmentFault, UsageError
from alphanpi.network.config import NetworkConfig
from alphanpi.network.model import create_network
from alphanpi.training.train import resume, train
from tests.helpers.countdown import COUNTDOWN
from tests.helpers.modules import USERS, forget, forgetting

ENVIRONMENT = 'from pathlib import Path\n\n(Path(__file__).parent / "was_run").write_text("")\n' + COUNTDOWN.replace(
    "Countdown", "E"
).replace("depth=8", "depth=4")
SMALL = NetworkConfig(observation_encoding=2, encoder_hidden=2, program_embedding=2, memory=2, head_hidden=2)
COMMANDS = {
    "eval": ["eval", "RUN", "--sizes", "1", "--episodes", "1", "--mode", "greedy"],
    "run": ["run", "RUN", "EMPTY", "1"],
    "trace": ["trace", "RUN", "EMPTY", "1"],
    "verify": ["verify", "RUN", "--max-size", "1"],
    "export": ["export", "RUN", "--max-size", "1", "--samples", "1"],
    "report": [
        *("report", "RUN", "--input", "1", "--simulations", "1", "-o", "OUT", "--json"),
        *("--verify-seconds", "0", "--seconds", "0", "--no-export"),
    ],
    "tree": ["tree", "RUN", "EMPTY", "1", "--simulations", "1"],
    "render": ["render", "RUN", "EMPTY", "1", "-o", "OUT.svg"],
}


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    """A trust store of the test's own, and no modules left."""
    monkeypatch.setenv("ALPHANPI_HOME", str(tmp_path / "home"))
    with forgetting(USERS, "evil", "good"):
        yield tmp_path / "home"


@pytest.fixture
def downloaded(tmp_path_factory):
    """A folder with weights for an environment that lies beside them, as somebody else made it."""
    folder = tmp_path_factory.mktemp("downloaded")

    def make_folder(named, options=None):
        (folder / "env.py").write_text(ENVIRONMENT)
        home = os.environ["ALPHANPI_HOME"]
        os.environ["ALPHANPI_HOME"] = str(folder / "home_of_the_maker")
        environment = make(str(folder / "env.py"))
        os.environ["ALPHANPI_HOME"] = home
        (folder / "was_run").unlink(missing_ok=True)
        network = create_network(environment, 0, SMALL)
        card = describe(named.format(folder=folder), options or {}, environment, network, SearchConfig(), 0)
        write_weights(folder / "model.safetensors", network, card)
        forget(USERS)
        return folder

    return make_folder


def complaint(call) -> str:
    try:
        call()
    except AlphaNPIError as error:
        return str(error)
    return ""


def was_run(folder: Path) -> bool:
    return (folder / "was_run").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_runs_what_only_a_weights_file_names(run, downloaded, tmp_path, command):
    folder = downloaded("{folder}/env.py:E")
    words = [
        {"RUN": str(folder)}.get(word, word.replace("OUT", str(tmp_path / "out.json"))) for word in COMMANDS[command]
    ]
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert f"it names the environment {folder}/env.py:E" in err
    assert f"if you trust it, --env {folder}/env.py:E" in err
    assert not was_run(folder)
    code, _, err = run(*words, "--env", f"{folder}/env.py:E")
    assert "it names the environment" not in err
    assert was_run(folder)
    (folder / "was_run").unlink()
    code, _, err = run(*words)  # named before
    assert "it names the environment" not in err


@pytest.mark.parametrize("named", ["env.py:E", "env.py", "sub/../env.py:E", "./env.py:E"])
def test_a_relative_path_is_no_way_round(run, downloaded, monkeypatch, named):
    folder = downloaded(named)
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder)
    code, _, err = run("run", ".", "EMPTY", "1")
    assert code == 2
    assert "if you trust it, --env " in err
    assert not was_run(folder)


def test_a_module_that_can_be_imported_is_no_way_round(run, downloaded, monkeypatch):
    folder = downloaded("evil:E")
    (folder / "evil.py").write_text(ENVIRONMENT)
    monkeypatch.syspath_prepend(str(folder))
    code, _, err = run("run", folder, "EMPTY", "1")
    assert code == 2
    assert "if you trust it, --env evil:E" in err
    assert not was_run(folder)
    assert "evil" not in sys.modules
    code, _, err = run("run", folder, "EMPTY", "1", "--env", "evil:E")
    assert code in (0, 1)
    assert was_run(folder)


def test_a_module_that_is_nowhere_and_a_file_that_is_nowhere_say_how_to_go_on(run, downloaded):
    folder = downloaded("evil_nowhere:E")
    code, _, err = run("run", folder, "EMPTY", "1")
    assert (code, "--env evil_nowhere:E" in err) == (2, True)
    folder = downloaded("/nowhere/env.py:E")
    code, _, err = run("run", folder, "EMPTY", "1")
    assert (code, "there is no such file; if you have it: --env FILE" in err) == (2, True)
    assert run("run", folder, "EMPTY", "1", "--env", folder / "env.py")[0] in (0, 1)


def test_a_package_of_ours_that_is_no_environment_is_not_imported_for_a_file(run, downloaded):
    folder = downloaded("alphanpi.bench.exports:E")
    sys.modules.pop("alphanpi.bench.exports", None)
    assert run("run", folder, "EMPTY", "1")[0] == 2
    assert "alphanpi.bench.exports" not in sys.modules


def test_resume_does_not_run_what_only_meta_json_names(run, downloaded, tmp_path):
    folder = downloaded("{folder}/env.py:E")
    out = tmp_path / "run"
    config = alphanpi.TrainConfig(network=SMALL, max_iterations=1)
    train("hanoi", seed=0, out=out, config=config)
    meta = json.loads((out / "meta.json").read_text())
    (out / "meta.json").write_text(json.dumps({**meta, "environment": f"{folder}/env.py:E"}))
    code, _, err = run("resume", out)
    assert code == 2
    assert f"--env {folder}/env.py:E" in err
    assert not was_run(folder)
    with pytest.raises(UsageError, match="if you trust it"):
        resume(out)


def test_a_trusted_file_that_has_changed_is_not_trusted(run, downloaded):
    folder = downloaded("{folder}/env.py:E")
    make(f"{folder}/env.py:E")
    assert run("run", folder, "EMPTY", "1")[0] in (0, 1)
    (folder / "was_run").unlink()
    (folder / "env.py").write_text(ENVIRONMENT + "\n# changed\n")
    code, _, err = run("run", folder, "EMPTY", "1")
    assert code == 2
    assert "which has changed since you named it" in err
    assert not was_run(folder)


def test_a_neighbour_that_has_changed_or_appeared_is_not_trusted(run, downloaded):
    folder = downloaded("{folder}/env.py:E")
    (folder / "env.py").write_text(f"import helper_of_mine\n{ENVIRONMENT}")
    (folder / "helper_of_mine.py").write_text("")
    make(f"{folder}/env.py:E")
    assert run("run", folder, "EMPTY", "1")[0] in (0, 1)
    (folder / "helper_of_mine.py").write_text("open(__file__ + '.was_run', 'w')\n")
    assert run("run", folder, "EMPTY", "1")[0] == 2
    (folder / "helper_of_mine.py").write_text("")
    assert run("run", folder, "EMPTY", "1")[0] in (0, 1)
    (folder / "numpy.py").write_text("")  # `env.py` does not import it
    assert run("run", folder, "EMPTY", "1")[0] in (0, 1)
    (folder / "pathlib.py").write_text("open(__file__ + '.was_run', 'w')\n")  # Python's own is taken; but to be sure
    assert run("run", folder, "EMPTY", "1")[0] == 2
    assert not list(folder.glob("*.was_run"))


def test_a_compiled_copy_beside_a_trusted_file_is_not_run(downloaded):
    import importlib.util
    import py_compile

    folder = downloaded("{folder}/env.py:E")
    file, other = folder / "env.py", folder / "other.py"
    other.write_text(f"raise SystemError('compiled copy')\n{ENVIRONMENT}")
    cached = importlib.util.cache_from_source(str(file))
    py_compile.compile(str(other), cached, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    assert make(f"{file}:E").size(3) == 3


def test_trust_is_remembered_by_content_not_by_place(run, downloaded, tmp_path):
    folder = downloaded("{folder}/env.py:E")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "my_env.py").write_text(ENVIRONMENT)
    make(str(tmp_path / "mine" / "my_env.py"))
    assert run("run", folder, "EMPTY", "1")[0] == 2  # the name of a file is part of its source's digest
    (tmp_path / "mine" / "my_env.py").rename(tmp_path / "mine" / "env.py")
    make(str(tmp_path / "mine" / "env.py"))
    assert run("run", folder, "EMPTY", "1")[0] in (0, 1)


def test_another_environment_than_the_weights_are_for_is_refused(run, downloaded):
    folder = downloaded("{folder}/env.py:E")
    code, _, err = run("run", folder, "EMPTY", "1", "--env", "hanoi")
    assert code == 2
    assert "with other programs" in err


def test_the_python_twins_take_an_environment(downloaded, tmp_path):
    folder = downloaded("{folder}/env.py:E")
    with pytest.raises(UsageError, match="if you trust it"):
        load(folder)
    assert not was_run(folder)
    kind = registry.load(str(folder / "env.py"))
    (tmp_path / "home").rename(tmp_path / "elsewhere")
    agent = load(folder, environment=kind)
    assert isinstance(agent.environment, kind)
    named = f"{folder}/env.py:E"
    (tmp_path / "home").write_text("")  # nothing can be remembered
    for call in (
        lambda: alphanpi.verify(folder, max_size=1, environment=named),
        lambda: alphanpi.export(folder, max_size=1, samples=1, environment=named),
        lambda: alphanpi.tree(folder, "EMPTY", "1", simulations=1, environment=named),
        lambda: alphanpi.report(
            folder, tmp_path / "x.json", instance="1", verify_seconds=0, export=False, environment=named
        ),
        lambda: alphanpi.render(folder, "EMPTY", "1", tmp_path / "x.svg", environment=named),
    ):
        assert "if you trust it" not in complaint(call)  # it has no picture, and may have no code
    with pytest.raises(UsageError, match="if you trust it"):
        load(folder)


@pytest.mark.parametrize("name", ["/etc", "../..", ".", "", "hanoi/../hanoi", "hanoi/"])
def test_pretrained_takes_names_only(run, name):
    code, _, err = run("run", f"pretrained:{name}", "HANOI", "1")
    assert code == 2
    assert "no pretrained agent" in err


def test_what_a_card_says_does_not_steer_the_terminal(run, downloaded):
    code, _, err = run("run", downloaded("\x1b]0;owned\x07\u202eevil:E"), "EMPTY", "1")
    assert (code, err.count("\n")) == (2, 1)
    assert err.rstrip("\n").isprintable()


def test_options_of_a_card_cannot_stand_for_our_own_arguments(run, downloaded):
    folder = downloaded("hanoi", {"identifier": "x", "environment": "x"})
    code, _, err = run("run", folder, "EMPTY", "1")
    assert code == 2
    assert "cannot be created with these options" in err


def test_where_things_are_remembered(monkeypatch, tmp_path):
    assert trust.home() == tmp_path / "home"
    monkeypatch.delenv("ALPHANPI_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert trust.home() == tmp_path / "state" / "alphanpi"
    monkeypatch.setenv("XDG_STATE_HOME", "not/from/the/root")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert trust.home() == tmp_path / ".local" / "state" / "alphanpi"


def test_an_entry_point_and_a_registered_target_are_no_strangers(downloaded, monkeypatch):
    folder = downloaded("good:E")
    (folder / "good.py").write_text(ENVIRONMENT)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(registration, "_registered", {"mine": registration.Registration("mine", "good:E")})
    assert load(folder).card.environment == "good:E"


# ---------------------------------------------------------------------------- neighbours


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        place = folder / f"{name.replace('__', '/')}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    return folder


def test_an_environment_imports_its_neighbours_and_two_folders_do_not_share_them(tmp_path):
    late = ENVIRONMENT + "\n\n    def late(self):\n        import lazy\n        return lazy.VALUE\n"
    for name in ("a", "b"):
        write(
            tmp_path / name,
            env=f"import helper, package.part\nfrom package import sibling\nfrom helper import VALUE\n{late}",
            helper=f"import env\nVALUE = {name!r}\nENV = env\n",
            lazy="from helper import VALUE\n",
            package__part="from . import sibling\nimport package.sibling\nVALUE = sibling.VALUE\n",
            package__sibling=f"VALUE = 'sibling of {name}'\n",
        )
        (tmp_path / name / "package" / "__init__.py").write_text("")
    path = list(sys.path)
    for name in ("a", "b"):
        environment = make(str(tmp_path / name / "env.py"))
        module = sys.modules[type(environment).__module__]
        assert module.VALUE == module.helper.VALUE == environment.late() == name  # type: ignore[attr-defined]
        assert module.package.part.VALUE == module.sibling.VALUE == f"sibling of {name}"
        assert module.helper.ENV is module  # one module, whoever imports it
    assert "helper" not in sys.modules
    assert sys.path == path


def test_a_neighbour_does_not_hide_the_standard_library(tmp_path):
    write(tmp_path, env=f"import random\n{ENVIRONMENT}", random="raise SystemError\n")
    make(str(tmp_path / "env.py"))


def test_a_neighbour_that_the_program_has_loaded_is_the_same_module(tmp_path, monkeypatch):
    write(tmp_path, env=f"import evil_states\n{ENVIRONMENT}", evil_states="class State: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import evil_states  # type: ignore[import-not-found]

    module = sys.modules[type(make(str(tmp_path / "env.py"))).__module__]
    assert module.evil_states is evil_states


def test_a_missing_or_failing_neighbour_is_one_message(tmp_path):
    write(tmp_path, env="import absent_neighbour\n")
    with pytest.raises(EnvironmentFault, match=r"env\.py: loading it failed: line 1: ModuleNotFoundError"):
        make(str(tmp_path / "env.py"))
    write(tmp_path, env="import bad\n", bad="raise SystemExit(0)\n")
    with pytest.raises(EnvironmentFault, match=r"env\.py: loading it failed: line 1: SystemExit"):
        make(str(tmp_path / "env.py"))
    write(tmp_path, env=ENVIRONMENT, bad="x = 1\n")
    assert make(str(tmp_path / "env.py")).size(1) == 1


def test_a_file_that_changed_is_loaded_anew(tmp_path):
    write(tmp_path, env=ENVIRONMENT)
    first = make(str(tmp_path / "env.py"))
    assert type(make(str(tmp_path / "env.py"))) is type(first)
    write(tmp_path, env=ENVIRONMENT.replace("depth=4", "depth=5"))
    assert make(str(tmp_path / "env.py")).library.named("EMPTY").depth == 5


def test_a_module_that_exits_while_loading_is_a_fault(tmp_path, monkeypatch, run):
    write(tmp_path, evil_exit="raise SystemExit(0)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    code, _, err = run("check", "evil_exit:E")
    assert code == 2
    assert "evil_exit: loading it failed: " in err


def test_an_environment_whose_constructor_exits_or_whose_fields_run_out_is_a_fault(tmp_path, run):
    constructor = "    def __init__(self):\n        raise SystemExit(0)\n\n    def initial("
    write(tmp_path, env=ENVIRONMENT.replace("    def initial(", constructor))
    code, _, err = run("check", tmp_path / "env.py")
    assert (code, "E: creating it failed: " in err) == (2, True)
    write(tmp_path, env=ENVIRONMENT.replace('("zero",)', 'iter(("zero",))'))
    code, _, err = run("check", tmp_path / "env.py")
    assert (code, "`fields` must name every entry" in err) == (2, True)


def test_what_cannot_be_written_down_is_refused_before_anything_is_written(tmp_path):
    out = tmp_path / "run"
    for seed in (-1, 2**64, 1.5):
        with pytest.raises(UsageError, match=f"seed {seed}: give a whole number"):
            train("hanoi", seed=seed, out=out)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="options of an environment are kept as JSON"):
        train("hanoi", seed=0, out=out, colour=object())
    assert not out.exists()


def test_a_module_whose_name_has_py_in_it_is_no_file(tmp_path, monkeypatch):
    write(tmp_path, good_pkg__pyenvs=ENVIRONMENT)
    (tmp_path / "good_pkg" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    out = tmp_path / "run"
    config = alphanpi.TrainConfig(network=SMALL, max_iterations=1)
    train("good_pkg.pyenvs:E", seed=0, out=out, config=config)
    assert json.loads((out / "meta.json").read_text())["environment"] == "good_pkg.pyenvs:E"
    assert load(out).environment.size(2) == 2
