"""Loops: invariants and rankings of agents with a finite memory, for sorting and for an environment of a few lines."""

from __future__ import annotations

import json
from functools import partial
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphanpi.environment.cutoff import Cutoff, Loop, Ranking, Situation
from alphanpi.environment.specification import STOP, Environment, action, program
from alphanpi.environments.lists import PointedList, starting_pointers
from alphanpi.environments.sorting import Sorting
from alphanpi.environments.sorting_lemma import LOOPS, passes_left
from alphanpi.errors import SpecificationError, UsageError
from alphanpi.network.decisions import Decisions
from alphanpi.verification.certificate import Verified, certify
from alphanpi.verification.contracts import Contracts
from alphanpi.verification.during_training import prove, require_lemma
from alphanpi.verification.exploration import TIME_MET, LimitError, recreate
from alphanpi.verification.loops import LoopTable, invariant_of, unlike
from alphanpi.verification.machine_verifier import MachineVerifier
from alphanpi.verification.recheck import Makers, read_record, recheck
from alphanpi.verification.records import digest
from alphanpi.verification.verdicts import Kind, Verdict
from alphanpi.verification.verifier import Verifier
from tests.helpers.solutions import ScriptedEvaluator, View, view
from tests.helpers.verdicts import explore_evaluator, there, verdicts
from tests.helpers.windowed import OTHER_WAYS, SORTING, WRONG_WAYS, Rule, WindowedEvaluator

ENVIRONMENT = Sorting("paper")
NAMES = [entry.name for entry in ENVIRONMENT.library.learned]


@pytest.fixture(scope="module")
def tables():
    contracts = Contracts(ENVIRONMENT)
    return {name: LoopTable(contracts, ENVIRONMENT.library.named(name), LOOPS[name]) for name in NAMES}


def found(tables, name: str, rule: Rule):
    """The invariant of one program."""
    evaluator = WindowedEvaluator(ENVIRONMENT, {**SORTING, name: rule})
    return invariant_of(tables[name], Decisions(ENVIRONMENT.library, evaluator))


def works(name: str, rule: Rule, start: PointedList) -> bool:
    """Whether a call does what it should, those inside it taken for right."""
    state, before = start, ""
    for _ in range(ENVIRONMENT.depth(name, start)):
        see = observed(state)
        legal = ENVIRONMENT.legal(name, state)
        chosen = rule(see, before)
        if not legal[ENVIRONMENT.library.index_of(chosen)]:  # then nothing weighs more than anything else
            chosen = STOP
        if chosen == STOP:
            return ENVIRONMENT.post(name, start, state)
        state = stepped(state, chosen)
        before = chosen
    return False


def observed(state: PointedList) -> View:
    return view(ENVIRONMENT, ENVIRONMENT.observe(state))


def stepped(state: PointedList, chosen: str) -> PointedList:
    if ENVIRONMENT.library.named(chosen).atomic:
        return ENVIRONMENT.act(state, chosen)
    return next(iter(ENVIRONMENT.outcomes(chosen, state)))


def drawn(name: str, rng: np.random.Generator, largest: int = 9) -> PointedList:
    """Lists of all kinds: few different values, nearly sorted, sorted."""
    size = int(rng.integers(2, largest + 1))
    digits = rng.integers(10, size=int(rng.integers(1, 11)))
    values = [int(digit) for digit in rng.choice(digits, size=size)]
    kind = rng.random()
    if kind < 0.5:
        values.sort()
    if kind < 0.3:
        cell = int(rng.integers(size - 1))
        values[cell], values[cell + 1] = values[cell + 1], values[cell]
    if kind < 0.1:
        values[int(rng.integers(size))] = int(rng.integers(10))
    pairs = starting_pointers(name, size)
    return PointedList(tuple(values), *pairs(int(rng.integers(pairs.number_of_pairs))), 0, size - 1)


# ---------------------------------------------------------------------------- the lemma of sorting


@settings(max_examples=800, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_the_situations_of_sorting_show_all_that_random_calls_show(tables, seed):
    rng = np.random.default_rng(seed)
    name = NAMES[int(rng.integers(len(NAMES)))]
    assert unlike(tables, name, drawn(name, rng, int(rng.choice([4, 9, 30]))), rng) is None


@pytest.mark.parametrize("name", ["COMPSWAP", "BUBBLE", "BUBBLESORT"])
def test_and_all_that_short_lists_of_few_digits_show(tables, name):
    rng = np.random.default_rng(0)
    for size in range(2, 6):
        pairs = starting_pointers(name, size)
        for values in product((0, 1, 8, 9), repeat=size):
            for number in range(pairs.number_of_pairs) if size < 5 else [int(rng.integers(pairs.number_of_pairs))]:
                start = PointedList(values, *pairs(number), 0, size - 1)
                assert unlike(tables, name, start, rng) is None


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_passes_are_counted(values):
    state = PointedList(tuple(values), 0, 0, 0, len(values) - 1)
    passes = 0
    while list(state.values) != sorted(values):
        state = stepped(state, "BUBBLE")
        passes += 1
    assert passes == passes_left(tuple(values))


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("BUBBLE", {"view": lambda start, state: min(state.p1, 5)}, "looks like"),
        ("RESET", {"rankings": (Ranking(("LSHIFT",), lambda start, state: 3 * state.p1),)}, "leaves as few actions"),
        ("RESET", {"rankings": (Ranking(("LSHIFT",), lambda start, state: state.p1 // 2),)}, "no nearer to its end"),
        (
            "RSHIFT",
            {"situations": lambda: [one for one in LOOPS["RSHIFT"].situations() if len(one.start.values) < 6]},
            "begins like",
        ),
        (
            "BUBBLESORT",
            {"situations": lambda: [one for one in LOOPS["BUBBLESORT"].situations() if len(one.start.values) < 3]},
            "is led by|looks like|leaves as few",
        ),
    ],
    ids=["view", "depth", "ranking", "situations", "short"],
)
def test_a_lemma_that_is_wrong_is_contradicted(tables, name, change, fault):
    loop = LOOPS[name]._replace(**change)
    wrong = {**tables, name: LoopTable(tables[name].contracts, ENVIRONMENT.library.named(name), loop)}
    rng = np.random.default_rng(0)
    told = next(filter(None, (unlike(wrong, name, drawn(name, rng, 12), rng) for _ in range(300))), None)
    assert told is not None
    assert any(part in told for part in fault.split("|")), told


# ---------------------------------------------------------------------------- agents that sort


@pytest.mark.parametrize(("name", "rule"), [*SORTING.items(), *OTHER_WAYS])
def test_programs_that_are_right_have_an_invariant(tables, name, rule):
    shown = found(tables, name, rule)
    assert shown.fault == ""
    assert shown.points
    assert shown.decided
    rng = np.random.default_rng(1)
    assert all(works(name, rule, drawn(name, rng, 30)) for _ in range(300))


@pytest.mark.parametrize(("name", "rule"), WRONG_WAYS)
def test_programs_that_are_wrong_have_none(tables, name, rule):
    assert found(tables, name, rule).fault
    rng = np.random.default_rng(1)
    assert not all(works(name, rule, drawn(name, rng, 30)) for _ in range(20_000))


def mutated(name: str, rng: np.random.Generator) -> tuple[Rule, list[PointedList]]:
    """A right program with one decision changed, and starts from which it comes to that."""
    rules = [SORTING[name], *(rule for other, rule in OTHER_WAYS if other == name)]
    right = rules[int(rng.integers(len(rules)))]
    reached = []
    start = drawn(name, rng, 12)
    state, before = start, ""
    while True:
        see = observed(state)
        reached.append((see, before, ENVIRONMENT.legal(name, state)))
        before = right(see, before)
        if before == STOP:
            break
        state = stepped(state, before)
    changed, after, legal = reached[int(rng.integers(len(reached)))]
    others = [entry for entry, allowed in zip(ENVIRONMENT.library.names, legal, strict=True) if allowed]
    instead = str(rng.choice([entry for entry in others if entry != right(changed, after)]))

    def rule(see: Any, before: str) -> str:
        return instead if (see, before) == (changed, after) else right(see, before)

    return rule, [start]


@pytest.mark.parametrize("name", NAMES)
def test_no_mutant_that_fails_has_an_invariant(tables, name):
    rng = np.random.default_rng(NAMES.index(name))
    failing = 0
    for _ in range(25):
        rule, starts = mutated(name, rng)
        starts += [drawn(name, rng) for _ in range(100)]
        right = all(works(name, rule, start) for start in starts)
        failing += not right
        if not right:
            assert found(tables, name, rule).fault
    assert failing > 5


@pytest.fixture(scope="module")
def proved():
    return explore_evaluator(ENVIRONMENT, WindowedEvaluator(ENVIRONMENT, SORTING))


def test_an_agent_that_sorts_is_proved(proved):
    assert proved.proved, [(record.name, record.reasons) for record in proved.programs]
    for record in proved.programs:
        assert there(record.loop).points >= record.loop.views > 0
        assert there(record.audit).runs > 0
        assert record.reasons == []


def test_one_that_fails_on_longer_lists_is_refuted_by_an_example_of_the_lemma():
    evaluator = WindowedEvaluator(ENVIRONMENT, {**SORTING, "LSHIFT": dict(WRONG_WAYS)["LSHIFT"]})
    proof = prove(ENVIRONMENT, evaluator, None)  # type: ignore[arg-type]
    certificate = proof.certificate(Verified("sorting", {}, None))
    assert verdicts(certificate)["LSHIFT"] == "REFUTED"
    assert verdicts(certificate)["RSHIFT"] == "PROVED"
    assert verdicts(certificate)["RESET"] == "BOUNDED"  # it calls LSHIFT
    assert there(certificate.programs[1].counter_example).rule == "post"
    failing = proof.failing
    assert [one.program for one in failing] == ["LSHIFT"]
    for origin in failing[0].origins:
        start = recreate(ENVIRONMENT, "LSHIFT", failing[0].size, origin)
        assert ENVIRONMENT.size(start) == failing[0].size
        assert not works("LSHIFT", dict(WRONG_WAYS)["LSHIFT"], start)


def test_one_that_is_too_slow_on_long_lists_is_not_proved():
    rules = {**SORTING, "BUBBLE": {rule.__name__: rule for _, rule in WRONG_WAYS}["three_actions_a_cell"]}
    certificate = explore_evaluator(ENVIRONMENT, WindowedEvaluator(ENVIRONMENT, rules))
    assert verdicts(certificate)["BUBBLE"] == "BOUNDED"
    assert verdicts(certificate)["BUBBLESORT"] == "BOUNDED"
    assert any("no ranking of the lemma" in reason for reason in certificate.programs[4].reasons)


def test_subclasses_and_other_observations_have_no_such_lemma():
    assert type("Sorts", (Sorting,), {})("paper").cutoff() is None
    assert Sorting("compare").cutoff() is None


# ---------------------------------------------------------------------------- an environment of a few lines


class Errand(NamedTuple):
    """Where somebody is in a corridor, and whether the far end has been reached."""

    place: int
    length: int
    reached: bool


def errand_view(start: Errand, state: Errand):
    return state.place == 0, state.place == state.length, state.reached


def way_left(start: Errand, state: Errand) -> int:
    return state.place if state.reached else 2 * state.length - state.place


def errands():
    for length, reached in product((1, 2, 3), (False, True)):
        for place in range(length + (reached or 0)):
            yield Situation(Errand(0, length, False), Errand(place, length, reached))


FETCHING = Loop(errand_view, (Ranking(("LEFT", "RIGHT"), way_left),), errands)


class Corridor(Environment[Errand]):
    """To the far end and back home."""

    fields = ("home", "far")
    train_sizes: ClassVar = (1, 2)
    validation_size: ClassVar = 3
    loop: ClassVar[Loop | None] = FETCHING

    @action(pre=lambda state: state.place > 0)
    def LEFT(self, state):
        return state._replace(place=state.place - 1)

    @action(pre=lambda state: state.place < state.length)
    def RIGHT(self, state):
        return Errand(state.place + 1, state.length, state.reached or state.place + 1 == state.length)

    @program(level=1, depth=lambda state: 2 * state.length + 1, pre=lambda state: state.place == 0 < state.length)
    def FETCH(self, before, after):
        return after == Errand(0, before.length, True)

    def initial(self, program, size, rng):
        return Errand(0, size, False)

    def observe(self, state):
        return state.place == 0, state.place == state.length

    def size(self, state):
        return state.length

    def enumerate(self, program, size):
        if size:
            yield Errand(0, size, False)

    def outcomes(self, program, before):
        yield Errand(0, before.length, True)

    def cutoff(self):
        if self.loop is None:
            return None
        return Cutoff("A corridor of three looks like any other.", {"FETCH": 3}, loops={"FETCH": self.loop})


def variant(loop: Loop | None, **members) -> Corridor:
    kind: type[Corridor] = type("Variant", (Corridor,), {"loop": loop, **members})
    return kind()


def fetch(see, before):
    if before in ("", "RIGHT"):
        return "LEFT" if see.far else "RIGHT"
    return STOP if see.home else "LEFT"


def lazy(see, before):
    """Turns round one cell too early, where there is one."""
    return "LEFT" if before == "RIGHT" and not see.home else fetch(see, before)


def dithering(see, before):
    """Makes a step back at the far end and then another to it."""
    if before == "LEFT" and not see.home and not see.far:
        return "RIGHT"
    return fetch(see, before)


def test_a_loop_is_proved_with_few_lines():
    environment = Corridor()
    certificate = explore_evaluator(environment, WindowedEvaluator(environment, {"FETCH": fetch}))
    assert certificate.proved, certificate.programs
    record = certificate.programs[0]
    shown = there(record.loop)
    assert shown.views == 5
    assert shown.spare == 0  # 2 n + 1 actions are all it may take
    again = explore_evaluator(environment, WindowedEvaluator(environment, {"FETCH": fetch}))
    assert again.programs == certificate.programs


def test_its_certificate_can_be_checked_again_and_others_are_refused(tmp_path):
    environment = Corridor()
    make = partial(Verifier, environment, WindowedEvaluator(environment, {"FETCH": fetch}))
    subject = Verified("Corridor", {}, None)
    makers = Makers(make, partial(MachineVerifier, environment, WindowedEvaluator(environment, {"FETCH": fetch})))
    certificate = certify(subject, make())
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certificate.record()))
    assert recheck(path, subject, environment, makers, None).proved
    record = certificate.record()
    record["programs"][0]["loop"]["points"] = 4
    path.write_text(json.dumps({**record, "digest": digest(record)}))
    with pytest.raises(UsageError, match=r"does not hold.*loop is"):
        recheck(path, subject, environment, makers, None)
    del record["programs"][0]["loop"]  # as it was before there were any
    path.write_text(json.dumps({**record, "digest": digest(record)}))
    assert read_record(path).programs[0].loop is None


def test_where_time_is_too_short_nothing_is_said_of_loops(monkeypatch):
    def late(self, *arguments):
        raise LimitError(TIME_MET)

    environment = Corridor()
    monkeypatch.setattr("alphanpi.verification.verifier.contradiction", late)
    certificate = explore_evaluator(environment, WindowedEvaluator(environment, {"FETCH": fetch}))
    assert certificate.verdict == "BOUNDED"
    assert not certificate.tried
    assert certificate.programs[0].loop is None


@pytest.mark.parametrize("rule", [lazy, dithering], ids=["lazy", "dithering"])
def test_and_one_that_is_wrong_is_not(rule):
    environment = Corridor()
    certificate = explore_evaluator(environment, WindowedEvaluator(environment, {"FETCH": rule}))
    assert certificate.verdict == "REFUTED"


def shorter(start, state):
    return state.place


@pytest.mark.parametrize(
    ("loop", "reason"),
    [
        (FETCHING._replace(view=lambda start, state: (state.reached, min(state.place, 4))), "lemma is wrong"),
        (FETCHING._replace(view=lambda start, state: errand_view(start, state)[:2]), "post-condition is false"),
        (FETCHING._replace(rankings=(Ranking(("LEFT", "RIGHT"), shorter),)), "no ranking of the lemma shows"),
        (FETCHING._replace(rankings=(Ranking(("LEFT", "RIGHT"), lambda one, two: 0),)), "no ranking of the lemma"),
        (FETCHING._replace(rankings=(Ranking(("RIGHT",), way_left),)), "which the lemma does not follow"),
        (FETCHING._replace(situations=lambda: [one for one in errands() if one.start.length < 3]), "lemma is wrong"),
        (FETCHING._replace(situations=lambda: [one for one in errands() if one.state.place]), "gives no situation"),
    ],
    ids=["fine", "blind", "ranking", "constant", "actions", "situations", "starts"],
)
def test_a_wrong_lemma_proves_nothing(loop, reason):
    environment = variant(loop)
    certificate = explore_evaluator(environment, WindowedEvaluator(environment, {"FETCH": fetch}))
    assert certificate.verdict != "PROVED"
    assert any(reason in text for text in certificate.programs[0].reasons), certificate.programs[0].reasons
    assert certificate.programs[0].loop is None or there(certificate.lemma).fault


@pytest.mark.parametrize(
    ("cutoff", "message"),
    [
        (Cutoff("Text.", {}, loops={"FETCH": FETCHING}), "sizes does not name it"),
        (Cutoff("Text.", {"FETCH": 3}, loops={"FETCH": FETCHING._replace(rankings=())}), "it has no ranking"),
        (
            Cutoff("Text.", {"FETCH": 3}, loops={"FETCH": FETCHING._replace(rankings=(Ranking(("UP",), way_left),))}),
            "a ranking names 'UP'; what it may do is LEFT, RIGHT",
        ),
        (
            Cutoff(
                "Text.",
                {"FETCH": 3},
                loops={"FETCH": FETCHING._replace(situations=lambda: [Situation(*[Errand(1, 2, False)] * 2)])},
            ),
            "hold a call begun in Errand.*where none may begin",
        ),
        (
            Cutoff(
                "Text.", {"FETCH": 3}, loops={"FETCH": FETCHING._replace(rankings=(Ranking(("LEFT",), lambda *_: -1),))}
            ),
            "remaining of FETCH is -1",
        ),
    ],
    ids=["sizes", "rankings", "actions", "starts", "remaining"],
)
def test_what_a_lemma_cannot_say_is_refused(cutoff, message):
    environment = variant(FETCHING, cutoff=lambda self: cutoff)
    with pytest.raises(SpecificationError, match=message):
        explore_evaluator(environment, WindowedEvaluator(environment, {"FETCH": fetch}))


def scripted_fetch(see, size):
    while not see.far:
        see = yield "RIGHT"
    while not see.home:
        see = yield "LEFT"
    yield STOP


def test_an_agent_that_remembers_everything_is_told_the_cure():
    environment = Corridor()
    certificate = explore_evaluator(environment, ScriptedEvaluator(environment, {"FETCH": scripted_fetch}))
    assert certificate.verdict == "BOUNDED"
    assert any("network.window" in reason for reason in certificate.programs[0].reasons)
    with pytest.raises(UsageError, match=r"set network\.window"):
        require_lemma(environment, 0)
    require_lemma(environment, 1)


def test_without_a_lemma_loops_saturate_where_the_agent_has_a_window():
    environment = variant(None)
    rules = {"FETCH": fetch}
    assert explore_evaluator(environment, WindowedEvaluator(environment, rules), max_size=8).claim == Verdict(
        Kind.SATURATED, 8, 2
    )
    remembering = ScriptedEvaluator(environment, {"FETCH": scripted_fetch})
    assert explore_evaluator(environment, remembering, max_size=8).claim == Verdict(Kind.BOUNDED, 8)
