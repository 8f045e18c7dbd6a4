"""From traces to code: what is merged, dropped and folded, on trees made by hand and at random."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import alphanpi
from alphanpi.environment.specification import STOP, Environment
from alphanpi.exporting.automaton import automaton, step
from alphanpi.exporting.blocks import Do, Entrance, If, Return, While, tidy
from alphanpi.exporting.conditions import BranchCondition, Comparison, Feature, Separator
from alphanpi.exporting.minimise import Learned, minimise
from alphanpi.exporting.render import Renderer
from alphanpi.exporting.tree import Forest, TraceStep

AB = (Feature("a", "field"), Feature("b", "field"))


def traces_of(*traces):
    """Traces from `((observation, action), ...)`, STOP included."""
    return {tuple(TraceStep(letter, action) for letter, action in trace) for trace in traces}


def code(traces, features=AB, unbounded=False):
    """The code as nested tuples: an action, ("if", condition, then, else), ("while", condition, body)."""
    learned = minimise("P", traces, features, unbounded)

    def test(one: Comparison) -> str:
        name = learned.features[one.feature].name
        if learned.binary[one.feature]:
            return name if one.value else f"not {name}"
        return f"{name} {one.operator} {one.value}"

    def shown(condition: BranchCondition | None) -> str:
        assert condition is not None
        return " or ".join(" and ".join(map(test, term)) for term in condition.terms)

    def block(statements):
        return tuple(map(statement, statements))

    def statement(one):
        match one:
            case Do(action):
                return action
            case Return():
                return "return"
            case If(_, then, otherwise, condition):
                return ("if", shown(condition), block(then), block(otherwise))
            case While(_, body, condition):
                return ("while", shown(condition), block(body))

    return block(learned.block)


def reproduces(learned, features, traces) -> bool:
    places = [features.index(feature) for feature in learned.features]
    states = automaton(learned.block)
    for trace in traces:
        state: int | None = 0
        for letter, action in trace:
            if state is None:
                return False
            taken = step(states, state, tuple(letter[place] for place in places))
            if taken.action != action:
                return False
            state = taken.following
        if state is not None:
            return False
    return True


def test_straight_line():
    assert code(traces_of((((0, 0), "X"), ((1, 0), "Y"), ((0, 1), STOP)))) == ("X", "Y")


def test_if_without_else_then_the_common_tail():
    extra = (((1, 0), "X"), ((0, 0), "Y"), ((0, 0), STOP))
    plain = (((0, 1), "Y"), ((0, 0), STOP))
    assert code(traces_of(extra, plain)) in (
        (("if", "a", ("X",), ()), "Y"),
        (("if", "not b", ("X",), ()), "Y"),
    )


def test_if_and_else_without_a_common_tail():
    one = (((1, 0), "X"), ((0, 0), STOP))
    other = (((0, 0), "Y"), ((0, 0), "Y"), ((0, 0), STOP))
    assert code(traces_of(one, other)) == (("if", "a", ("X",), ("Y", "Y")),)


def test_branches_that_meet_again():
    one = (((1, 0), "X"), ((0, 0), "Z"), ((0, 0), STOP))
    other = (((0, 0), "Y"), ((0, 0), "Z"), ((0, 0), STOP))
    assert code(traces_of(one, other)) == (("if", "a", ("X",), ("Y",)), "Z")


def test_fields_that_do_not_matter_are_dropped():
    traces = traces_of(*(((((a, b), "X" if a else "Y"), ((b, a), STOP)),)[0] for a in (0, 1) for b in (0, 1)))
    learned = minimise("P", traces, AB, False)
    assert code(traces) == (("if", "a", ("X",), ("Y",)),)
    assert reproduces(learned, AB, traces)


def test_a_conjunction_is_found():
    traces = traces_of(
        *((((a, b), "X"), ((0, 0), STOP)) if a and b else (((a, b), STOP),) for a in (0, 1) for b in (0, 1))
    )
    assert code(traces) == (("if", "a and b", ("X",), ()),)


def test_repetition_becomes_a_loop():
    def walk(length):
        return (*(((0, 0), "RIGHT"),) * length, ((1, 0), STOP))

    assert code(traces_of(*map(walk, range(6))), unbounded=True) == (("while", "not a", ("RIGHT",)),)


def test_a_loop_with_a_branch_inside():
    def walk(lights):
        steps = []
        for position, lit in enumerate(lights):
            last = int(position == len(lights) - 1)
            if not lit:
                steps.append(((0, last), "TOGGLE"))
            steps.append(((1, last), STOP if last else "RIGHT"))
        return tuple(steps)

    traces = traces_of(
        *(walk([number >> bit & 1 for bit in range(size)]) for size in (1, 2, 3, 4) for number in range(2**size))
    )
    learned = minimise("P", traces, AB, True)
    longer = traces_of(walk([0, 1, 1, 0, 0, 0, 1, 0, 1, 1]))
    assert reproduces(learned, AB, traces)
    assert reproduces(learned, AB, longer)


def test_a_bounded_program_gets_no_loop_it_does_not_need():
    trace = (((0, 0), "X"), ((0, 1), "X"), ((1, 0), STOP))
    assert code(traces_of(trace)) == ("X", "X")


def test_contradicting_traces_are_noticed():
    assert Forest().grow(traces_of((((0, 0), "X"), ((0, 0), STOP)), (((0, 0), STOP),))) is None


def test_merging_refuses_contradictions_deep_down():
    forest = Forest()
    one = forest.grow(traces_of((((0,), "X"), ((0,), STOP))))
    other = forest.grow(traces_of((((0,), "X"), ((0,), "Y"), ((0,), STOP))))
    apart = forest.grow(traces_of((((1,), "Z"), ((0,), STOP))))
    assert one is not None
    assert other is not None
    assert apart is not None
    assert forest.merge(one, other) is None
    both = forest.merge(one, apart)
    assert both is not None
    assert forest.actions(both) == {"X", "Z"}


@given(st.sets(st.tuples(*[st.integers(0, 1)] * 3, st.integers(0, 3)), min_size=2, max_size=20), st.data())
def test_conditions_separate(letters, data):
    features = [Feature(name, "field") for name in "abcd"]
    ordered = sorted(letters)
    side = data.draw(st.lists(st.booleans(), min_size=len(ordered), max_size=len(ordered)))
    yes = [letter for letter, chosen in zip(ordered, side, strict=True) if chosen]
    no = [letter for letter, chosen in zip(ordered, side, strict=True) if not chosen]
    if yes and no:
        condition = Separator(features, letters).separate(yes, no)
        assert all(map(condition.holds, yes))
        assert not any(map(condition.holds, no))


LETTERS = st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 2))


@given(
    st.lists(st.lists(LETTERS, min_size=1, max_size=4), min_size=1, max_size=12), st.integers(0, 2**32), st.booleans()
)
@settings(deadline=None, max_examples=60)
def test_any_policy_is_reproduced(sequences, seed, unbounded):
    """A policy that picks actions by a hash of what it saw: no structure to find, and still nothing may be lost."""
    features = tuple(Feature(name, "field") for name in "abc")

    def play(letters):
        trace = []
        for place, letter in enumerate(letters):
            last = place == len(letters) - 1
            action = STOP if last else ("X", "Y", STOP)[hash((tuple(letters[: place + 1]), seed)) % 3]
            trace.append((letter, action))
            if action == STOP:
                break
        return tuple(trace)

    traces = traces_of(*map(play, sequences))
    if Forest().grow(traces) is not None:  # a sequence may end where another goes on
        learned = minimise("P", traces, features, unbounded)
        assert reproduces(learned, features, traces)
        assert printed(learned, features, traces)


class Letters(Environment[int]):
    """The actions of the hand-made traces, so that code can be printed."""

    fields = ("a", "b", "c")

    @alphanpi.action()
    def X(self, state):
        return state

    @alphanpi.action()
    def Y(self, state):
        return state

    @alphanpi.program(level=1, depth=9)
    def P(self, before, after):
        return True

    def initial(self, program, size, rng):
        return 0

    def observe(self, state):
        return (0, 0, 0)

    def size(self, state):
        return 1


class Replay:
    """An `env` for printed functions that shows the observations of a trace and expects its actions."""

    def __init__(self, features, trace):
        self.names, self.trace, self.place = [feature.name for feature in features], trace, 0

    def field(self, name):
        return self.trace[self.place].letter[self.names.index(name)]

    def act(self, action):
        assert action == self.trace[self.place].action
        self.place += 1


def printed(learned, features, traces) -> bool:
    """Whether the printed function does what the traces say."""
    namespace: dict = {}
    exec(Renderer(Letters.library, None).function(learned), namespace)
    for trace in traces:
        env = Replay(features, trace)
        namespace["p"](env)
        assert trace[env.place].action == STOP
    return True


def test_a_branch_that_only_returns_is_kept_beside_one_that_acts():
    condition = BranchCondition(((Comparison(0, "==", 1),),), 1.0)
    block = tidy((If(Entrance(), (Return(),), (Do("X"),), condition),))
    learned = Learned("P", block, AB, (True, True), cost=0.0, traces=2)
    both = traces_of((((1, 0), STOP),), (((0, 0), "X"), ((0, 0), STOP)))
    assert printed(learned, AB, both)
