"""The checker looks at every optional member: silent where it is in order, and a finding where it is not."""

from __future__ import annotations

import itertools
import re
import signal
import subprocess
import sys

import pytest

from alphanpi.environment.checking import check
from alphanpi.environment.registry import load
from alphanpi.environment.specification import action, program
from tests.helpers.broken_environments import (
    Count,
    Counter,
    LegalActionRaises,
    NothingToLearn,
    SeesLargerDisks,
    SizeLostByCallee,
    TooShallow,
    below_goal,
    goal_back,
    nearer,
)
from tests.helpers.broken_lemmas import BROKEN_LEMMAS
from tests.helpers.broken_members import (
    BROKEN_MEMBERS,
    BaseCaseNever,
    OrderingLooksAtTypes,
    SeldomIllegal,
    SeldomRaises,
    StandaloneSharesNothing,
)
from tests.helpers.broken_starts import BROKEN_STARTS, CalledBelowItsMinimum, EnumeratesWhatIsDrawnOnly, OutcomesLackOne
from tests.helpers.complete import Complete, Ordering, lemma
from tests.helpers.paths import DOCS, LIGHTS


@pytest.mark.parametrize("environment", [Complete, Ordering])
def test_the_environments_that_are_broken_are_in_order(environment):
    for seed in range(3):
        report = check(environment(), seed=seed)
        assert report.findings == ()
        assert report.notes == ()


BROKEN = [*BROKEN_STARTS, *BROKEN_LEMMAS, *BROKEN_MEMBERS]


@pytest.mark.parametrize(
    ("environment", "rule", "program_name", "message"),
    BROKEN,
    ids=[f"{rule}-{environment.__name__}" for environment, rule, _, _ in BROKEN],
)
def test_a_broken_member_is_found(environment, rule, program_name, message):
    report = check(environment(), samples=8)
    found = [finding for finding in report.findings if finding.rule == rule and message in finding.message]
    assert program_name in {finding.program for finding in found}, str(report)
    assert all("\n" not in str(finding) for finding in report.findings)


SAMPLED = [
    *(LegalActionRaises, SizeLostByCallee, SeesLargerDisks, TooShallow, NothingToLearn),
    *(EnumeratesWhatIsDrawnOnly, CalledBelowItsMinimum, OutcomesLackOne, StandaloneSharesNothing, BaseCaseNever),
    *(SeldomIllegal, SeldomRaises, OrderingLooksAtTypes),
]


@pytest.mark.parametrize("environment", SAMPLED)
def test_the_rules_found_broken_do_not_depend_on_the_seed(environment):
    found = {
        frozenset((finding.rule, finding.program) for finding in check(environment(), samples=10, seed=seed).findings)
        for seed in range(10)
    }
    assert len(found) == 1
    assert found != {frozenset()}


def test_every_rule_has_a_broken_environment():
    rules = "enumerate templates outcomes cutoff standalone parse derive base_case minimum_size frame measure purity"
    assert {rule for _, rule, _, _ in BROKEN} == {*rules.split(), "raises", "specification"}


def test_a_member_that_is_not_given_is_not_asked_for():
    class Partly(Complete):
        def enumerate(self, program, size):
            raise NotImplementedError

        def outcomes(self, program, before):
            raise NotImplementedError

        def parse(self, program, text):
            raise NotImplementedError

    assert check(Partly(), samples=5).findings == ()


def test_what_is_allowed_and_may_surprise_is_noted():
    class Notable(Complete):
        def enumerate(self, program, size):
            for state in super().enumerate(program, size):
                yield state
                yield state

        def relative(self, program, after):
            return "at the goal" if program == "REACH" else None

        def parse(self, program, text):
            return Count(0, 0) if not text else super().parse(program, text)._replace(value=0)

    report = check(Notable(), samples=8)
    notes = "\n".join(report.notes)
    assert report.findings == ()
    assert "REACH: enumerate yields a state of size 1 more than once (state Count(value=0, goal=1, tag=0))" in notes
    assert "REACH: relative gives a view, but outcomes always one state" in notes
    assert "STEP: parse takes '' for an instance, Count(value=0, goal=0, tag=0)" in notes
    assert "REACH: parse reads '1/1', as format writes a start, as a state where format writes '0/1'" in notes


def test_starts_that_are_verified_and_never_taught_are_noted():
    class Narrow(Complete):
        def initial(self, program, size, rng):
            return Count(0, size)

    notes = check(Narrow(), samples=8).notes
    (verified,) = [note for note in notes if note.startswith("STEP: enumerate yields a start of size 2")]
    assert "verified but never taught: at once the field 'at_start' is 0 here and 1 there" in verified
    (called,) = [note for note in notes if note.startswith("STEP: REACH needs it")]
    assert "looks like nothing that initial draws" in called


def test_a_start_below_the_minimum_is_a_note_unless_a_lemma_speaks_of_it():
    class Alone(Counter):
        """Nothing calls STEP."""

        @program(level=1, depth=4, pre=below_goal, minimum_size=2)
        def STEP(self, before, after):
            return after == before._replace(value=before.value + 1)

        REACH = None  # type: ignore[assignment]

    class WithLemma(Alone):
        def cutoff(self):
            return lemma(sizes={"STEP": 3}, conditions=())

    alone = check(Alone(), samples=5)
    assert alone.ok
    assert any("minimum_size is 2, but initial draws a start of size 1" in note for note in alone.notes)
    found = {finding.rule for finding in check(WithLemma(), samples=5).findings}
    assert found == {"minimum_size"}


def test_the_field_that_betrays_the_outer_problem_is_named():
    (message, *_) = [finding.message for finding in check(SeesLargerDisks(), samples=5).findings]
    assert "at once the field 'one_disk' is 0 here and 1 there" in message


def test_a_second_recursive_call_is_looked_at():
    """The walk to it leads through a call, and the first call looks as it should."""

    class Twice(Counter):
        fields = (*Counter.fields, "again")  # type: ignore[assignment]

        @action(pre=lambda state: state.tag == 0)
        def AGAIN(self, state):
            return state._replace(tag=1, value=0)

        @program(
            level=2,
            depth=8,
            pre=lambda state: state.value <= state.goal,
            recursive=True,
            shrink=lambda state: nearer(state) if state.value == 0 else None,
            restore=goal_back,
        )
        def REACH(self, before, after):
            return after == before._replace(value=before.goal, tag=1)

        def initial(self, program, size, rng):
            return Count(int(rng.integers(size)), size)

        def observe(self, state):
            return (*super().observe(state), state.tag)

    found = [finding for finding in check(Twice(), samples=8).findings if finding.rule == "embedding"]
    assert found
    assert "the field 'again' is 1 here and 0 there" in found[0].message


def test_a_measure_of_its_own_decides_embedding_and_base_case():
    """The size is that of the whole problem, in every call; only the measure says how much is left."""

    class Whole(Counter):
        def size(self, state):
            return state.tag

        def initial(self, program, size, rng):
            goal = int(rng.integers(1, size + 1))
            return Count(int(rng.integers(goal + (program == "REACH"))), goal, size)

        def measure(self, program, state):
            return state.goal

    report = check(Whole(), samples=8)
    assert report.findings == ()
    assert report.notes == ()

    class SeesTheWhole(Whole):
        fields = (*Whole.fields, "far")  # type: ignore[assignment]

        def initial(self, program, size, rng):
            state = super().initial(program, size, rng)
            return state._replace(goal=size, value=min(state.value, size - 1))

        def observe(self, state):
            return (*super().observe(state), state.tag > state.goal)

    found = [finding for finding in check(SeesTheWhole(), samples=8).findings if finding.rule == "embedding"]
    assert "'far' is 1 here and 0 there" in found[0].message


def test_a_broken_class_body_is_one_line(run, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("from alphanpi import Environment\n\n\nclass Broken(Environment):\n    fields = nothing\n")
    code, _, err = run("check", path)
    assert code == 2
    lines = err.splitlines()
    assert len(lines) == 1
    assert "line 5: NameError: name 'nothing' is not defined" in lines[0]


def test_an_endless_draw_can_be_interrupted(tmp_path):
    path = tmp_path / "endless.py"
    path.write_text(
        "from alphanpi import Environment, action, program\n\n\n"
        "class Endless(Environment):\n"
        "    fields = ('one',)\n\n"
        "    @action()\n    def GO(self, state):\n        return state + 1\n\n"
        "    @program(level=1, depth=2)\n    def ONE(self, before, after):\n        return after == before + 1\n\n"
        "    def initial(self, program, size, rng):\n"
        "        print('drawing', flush=True)\n"
        "        while True:\n            pass\n\n"
        "    def observe(self, state):\n        return (1,)\n\n"
        "    def size(self, state):\n        return 1\n"
    )
    command = [sys.executable, "-m", "alphanpi", "check", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "drawing\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_the_documented_members_are_in_order():
    page = (DOCS / "specification.md").read_text()
    members = re.findall(r"```python\n(    def (?:enumerate|outcomes)\(.*?)```", page, re.DOTALL)
    assert len(members) == 2
    module = sys.modules[load(str(LIGHTS)).__module__]
    namespace = {**vars(module), "itertools": itertools}
    exec("class Verifiable(Lights):\n" + "\n".join(members), namespace)
    report = check(namespace["Verifiable"](), samples=8)
    assert report.findings == ()
    assert report.notes == ()


def test_a_larger_base_case_is_noted_until_the_environment_says_so():
    class Within(Counter):
        """A call legal nowhere near the goal: there, nothing is left to call."""

        @program(
            level=2,
            depth=3,
            pre=lambda state: state.value <= state.goal,
            recursive=True,
            shrink=lambda state: nearer(state) if state.value < state.goal - 1 else None,
            restore=goal_back,
        )
        def REACH(self, before, after):
            return after == before._replace(value=before.goal)

    class SaysSo(Within):
        def base_case(self, program, state):
            return state.value >= state.goal - 1

    (note,) = check(Within(), samples=8).notes
    assert note.startswith("REACH: base_case is False, but no solution from here calls the program itself")
    report = check(SaysSo(), samples=8)
    assert report.findings == ()
    assert report.notes == ()
