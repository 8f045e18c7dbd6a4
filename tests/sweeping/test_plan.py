"""Plans of sweeps: what they say, and that whatever is wrong with one is said in one line that names the key."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphanpi.errors import UsageError
from alphanpi.sweeping.jobs import jobs_of
from alphanpi.sweeping.plan import EXAMPLE, Measurement, PlannedEnvironment, SweepPlan, parsed_plan, read_plan
from tests.helpers.commands import assert_one_line
from tests.helpers.countdown import COUNTDOWN
from tests.helpers.paths import DOCS, ROOT

GOOD = {"environments": ["hanoi"], "seeds": [0, 1]}


def jobs(**changes):
    return jobs_of(parsed_plan({**GOOD, **changes}, "plan"), "plan", named=True)


def test_every_environment_variant_and_seed_is_a_run_the_first_seeds_first():
    found = jobs(environments=["hanoi", "sorting"], variants={"a": {}, "b": {"learning.batch": 7}}, seeds="3-4")
    assert [str(job.place) for job in found] == [
        f"{name}/{variant}/seed{seed}" for seed in (3, 4) for name in ("hanoi", "sorting") for variant in "ab"
    ]
    assert [job.settings for job in found[:2]] == [{}, {"learning.batch": 7}]
    assert [str(job.place) for job in jobs()] == ["hanoi/seed0", "hanoi/seed1"]


def test_what_is_nearer_to_a_run_comes_before_what_is_for_all():
    own = {"id": "hanoi", "name": "mine", "preset": "default", "settings": {"learning.batch": 2}, "seeds": [9]}
    [job, variant] = jobs(
        environments=[{**own, "time_limit": "1m", "until": "verified", "evaluate": {"sizes": [3]}}],
        settings={"learning": {"batch": 1, "gradient_steps": 5}},
        variants={"a": {}, "b": {"learning.batch": 3}},
        preset="paper",
        time_limit=5,
        evaluate=[{"episodes": 1}, {"episodes": 2}],
    )
    assert job.settings == {"learning.batch": 2, "learning.gradient_steps": 5}
    assert variant.settings["learning.batch"] == 3
    assert (job.seed, job.preset, job.time_limit, job.until) == (9, "default", 60.0, "verified")
    assert job.evaluate == (Measurement(sizes=(3,)),)


def test_files_of_environments_are_looked_for_from_the_folder_of_the_plan(tmp_path, forget_loaded_files):
    (tmp_path / "mine.py").write_text(COUNTDOWN)
    (tmp_path / "sweep.toml").write_text('environments = ["mine.py:Countdown"]\nseeds = [0]\n')
    [job] = jobs_of(read_plan(tmp_path / "sweep.toml"), "plan", named=True)
    assert (job.environment, job.name) == (f"{tmp_path / 'mine.py'}:Countdown", "mine-Countdown")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seedz": [0]}, "unknown key 'seedz'; did you mean seeds?"),
        ({"zzz": 1}, "unknown key 'zzz'; there are environments, seeds, "),
        ({"environments": [{"id": "hanoi", "seed": [1]}]}, "unknown key 'environments.0.seed'; did you mean seeds?"),
        ({"evaluate": {"size": [1]}}, "unknown key 'evaluate.0.size'; did you mean sizes?"),
        ({"environments": []}, "environments: .*expected: list of ids and files"),
        ({"environments": "hanoi"}, "environments: .*expected: list of ids and files"),
        ({"environments": [{"name": "x"}]}, "environments.0.id is missing: id, path/to/file.py"),
        ({"environments": ["hanio"]}, "environment hanio: unknown environment 'hanio': did you mean hanoi"),
        ({"environments": ["no.py"]}, "environment no: .*no.py: there is no such file"),
        ({"environments": ["hanoi", "hanoi"]}, "two are called 'hanoi'; give each a name"),
        ({"environments": [{"id": "hanoi", "name": "a/b"}]}, "environments.0.name: .*letters, digits"),
        ({"environments": [{"id": "hanoi", "name": ".."}]}, "environments.0.name: "),
        ({"environments": [{"id": "hanoi", "options": {"disks": 3}}]}, "environment hanoi: .*these options"),
        ({"seeds": []}, "seeds: .*expected: list such as"),
        ({"seeds": [0, 0]}, "seeds: 0 is there twice"),
        ({"seeds": [-1]}, "seeds.0: .*-1; expected: list such as"),
        ({"seeds": "9-0"}, 'seeds = "9-0": write a range such as "0-9"'),
        ({"seeds": "0-99999"}, "at most 1,000 seeds"),
        ({"seeds": "0-599", "variants": {"a": {}, "b": {}}}, "1,200 runs; a sweep has at most 1,000"),
        ({"preset": "papper"}, "environment hanoi: unknown preset 'papper'"),
        ({"settings": {"learning.bach": 1}}, "unknown configuration key 'learning.bach'; did you mean learning.batch"),
        ({"variants": {"a": {"learning.batch": 0}}}, "environment hanoi, variant a: .*learning.batch = 0"),
        ({"variants": {"a b": {}}}, "variants.a b.*: "),
        ({"time_limit": "soon"}, "time_limit soon: write 90, 90s, 5m or 1h"),
        ({"time_limit": 0}, "time_limit: .*not 0; expected: of each run"),
        ({"time_limit": float("nan")}, "time_limit"),
        ({"preset": "paper", "until": "verified"}, "environment hanoi: the preset paper has no --until verified"),
        ({"until": "tomorrow"}, "until: .*expected: learned, or verified"),
        ({"retries": 2.5}, "retries: .*not 2.5"),
        ({"device": "tpu"}, "device: "),
        ({"evaluate": {"program": "HANIO"}}, "evaluate.program: .*HANIO"),
        ({"evaluate": {"program": "MOVE_DISK"}}, "MOVE_DISK is an atomic action"),
        ({"evaluate": {"sizes": [0]}}, "evaluate.sizes: HANOI cannot start at size 0; give 1 or more"),
    ],
)
def test_what_is_wrong_is_named_with_its_cure(change, said):
    with pytest.raises(UsageError, match=f"^plan: .*{said}") as refused:
        jobs(**change)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("missing", ["environments", "seeds"])
def test_what_is_missing_is_named(missing):
    with pytest.raises(UsageError, match=f"^plan: {missing} is missing: list "):
        parsed_plan({key: value for key, value in GOOD.items() if key != missing}, "plan")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([*SweepPlan.model_fields, "nothing"]), st.sampled_from(["", "environment", "evaluate"]), VALUES)
def test_any_value_is_taken_or_refused_in_one_line(key, inside, value):
    content = {
        "": {**GOOD, key: value},
        "environment": {**GOOD, "environments": [{"id": "hanoi", key: value}]},
        "evaluate": {**GOOD, "evaluate": {key: value}},
    }[inside]
    try:
        plan = parsed_plan(content, "plan")
    except UsageError as error:
        assert str(error).startswith("plan: ")  # noqa: PT017 - it may be taken, too
        return
    assert SweepPlan.model_validate_json(plan.model_dump_json()) == plan


@pytest.mark.parametrize("text", ["a = ", "a = 1\na = 2", "\ud800"])
def test_a_file_that_is_no_toml_is_refused(run, tmp_path, text):
    file = tmp_path / "sweep.toml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert_one_line(run("sweep", file), "sweep.toml")
    assert_one_line(run("sweep", tmp_path / "none.toml"), "there is no such file")
    assert_one_line(run("sweep"), "alphanpi sweep --example")


def test_the_example_is_one_and_the_documentation_shows_it_and_every_key(run):
    _, printed, _ = run("sweep", "--example")
    assert printed == EXAMPLE
    found = jobs_of(parsed_plan(tomllib.loads(EXAMPLE), "example", ROOT), "example", named=True)
    assert len(found) == 24
    page = (DOCS / "sweep.md").read_text()
    assert EXAMPLE in page
    for kind in (SweepPlan, PlannedEnvironment, Measurement):
        for key, field in kind.model_fields.items():
            assert re.search(rf"^\| `{key}` \|", page, re.MULTILINE), key
            assert field.description


def test_a_plan_is_kept_as_it_is_written_in_the_folder(tmp_path):
    plan = parsed_plan({**GOOD, "evaluate": {"sizes": [1]}, "time_limit": "1h"}, "plan")
    assert SweepPlan.model_validate_json(json.dumps(plan.model_dump())) == plan
