"""Exported modules: what they look like, that they run on their own, and that wrong ones are noticed."""

from __future__ import annotations

import ast
import json
import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import alphanpi
from alphanpi import STOP, Environment, ExportFailed, Machine, SpecificationError, Standalone, UsageError, make
from alphanpi.environments.sorting import Sorting
from alphanpi.exporting.behaviour import Watcher, enumerated
from alphanpi.exporting.equality import Exported, differences
from alphanpi.exporting.render import Renderer
from tests.helpers.exports import ORIGIN, loaded, run_script, scripted
from tests.helpers.paths import LIGHTS
from tests.helpers.solutions import LEVEL_1, ScriptedEvaluator, iterative_bubble, iterative_reset

TEXTBOOK = '''\
def hanoi(game):
    """Move all disks from the source to the target."""
    if game.one_disk:
        game.move_disk()
    else:
        game.swap_a_t()
        hanoi(game.without_largest_disk())
        game.swap_a_t()
        game.move_disk()
        game.swap_s_a()
        hanoi(game.without_largest_disk())
        game.swap_s_a()
'''


@pytest.fixture(scope="module")
def hanoi():
    return alphanpi.export("pretrained:hanoi", max_size=5, samples=20)


@pytest.fixture(scope="module")
def sorting(sorting_code):
    return sorting_code.exported("python")


# ---------------------------------------------------------------------------- Hanoi


def test_the_hand_written_solution_is_exported_as_the_textbook_program():
    assert TEXTBOOK in scripted(make("hanoi"), max_size=4, samples=5).text


def test_the_trained_agent_has_learned_the_textbook_program(hanoi):
    assert TEXTBOOK in hanoi.text
    assert hanoi.standalone
    assert hanoi.warnings == ()


def test_hanoi_runs_on_its_own(hanoi, tmp_path):
    path = tmp_path / "hanoi.py"
    path.write_text(hanoi.text)
    outcome = run_script(path, "3")
    assert outcome.stdout == alphanpi.load("pretrained:hanoi").run("HANOI", "3") + "\n"
    assert run_script(path, "zero").returncode == 1
    assert run_script(path).stderr == "'' is not a number of disks; give 1 or more\n"


@pytest.mark.parametrize("disks", [1, 2, 7, 12])
def test_hanoi_moves_are_legal_and_shortest(hanoi, disks):
    moves = loaded(hanoi.text).solve(disks)
    pillars = [list(range(disks, 0, -1)), [], []]
    for disk, origin, destination in moves:
        assert pillars[origin].pop() == disk
        assert not pillars[destination] or pillars[destination][-1] > disk
        pillars[destination].append(disk)
    assert len(moves) == 2**disks - 1
    assert pillars[2] == list(range(disks, 0, -1))


# ---------------------------------------------------------------------------- lists


def test_sorting_runs_on_its_own(sorting, tmp_path):
    path = tmp_path / "sort.py"
    path.write_text(sorting.text)
    assert run_script(path, "5 3 9 1 -4 3").stdout == "-4 1 3 3 5 9\n"
    assert run_script(path, "five").returncode == 1


@given(st.lists(st.integers()))
@settings(deadline=None)
def test_exported_sorting_sorts(sorting, values):
    assert loaded(sorting.text).sort(values) == sorted(values)


def test_long_lists_are_sorted(sorting):
    limit = sys.getrecursionlimit()
    try:
        values = [number * 7919 % 601 for number in range(600)]
        assert loaded(sorting.text).sort(values) == sorted(values)
    finally:
        sys.setrecursionlimit(limit)


def test_every_program_is_a_short_function(sorting):
    functions = {node.name: node for node in ast.parse(sorting.text).body if isinstance(node, ast.FunctionDef)}
    for program in ("bubblesort", "bubble", "reset", "compswap", "lshift", "rshift"):
        node = functions[program]
        assert len(ast.unparse(node).splitlines()) < 20
    assert "items = items.without_last()" in ast.unparse(functions["bubblesort"])
    assert "setrecursionlimit" not in sorting.text  # every call of itself is a program's last, so nothing nests


def test_the_head_says_where_the_code_comes_from(sorting):
    agent = alphanpi.load("pretrained:recursive-sorting-compare")
    docstring = " ".join(str(ast.get_docstring(ast.parse(sorting.text))).split())
    assert "from pretrained:recursive-sorting-compare" in docstring
    assert agent.weights_hash[:12] in docstring
    assert "environment recursive-sorting, observation=compare" in docstring
    assert "- BUBBLESORT: all 92 starts up to size 4, " in docstring


def test_the_runtime_holds_only_what_is_used(hanoi):
    assert "one_disk" in hanoi.text
    assert "source_to_auxiliary" not in hanoi.text


class Passes(Sorting):
    """Iterative programs without BUBBLESORT, which `compare` shows no end of."""

    BUBBLESORT = None  # type: ignore[assignment]


def test_iterative_programs_become_loops():
    solutions = {**LEVEL_1, "RESET": iterative_reset, "BUBBLE": iterative_bubble}
    text = scripted(Passes("compare"), solutions, max_size=3, samples=60).text
    for function in (
        "    while not items.p1_at_end:\n        compswap(items)\n        items.ptr_1_r()\n",
        "    while not (items.p1_at_start and items.p2_at_start):\n        lshift(items)\n",
        "    if items.same_position:\n        items.ptr_2_r()\n    if items.p1_value_greater:\n        items.swap()\n",
    ):
        assert function in text


# ---------------------------------------------------------------------------- the check


@pytest.fixture(scope="module")
def watched():
    agent = alphanpi.load("pretrained:recursive-sorting-compare")
    watcher = Watcher(agent.environment, agent.evaluator)
    programs = agent.environment.library.learned
    return agent.environment, [case for entry in programs for case in enumerated(watcher, entry, 3).watched.cases]


@pytest.mark.parametrize(
    ("original", "tampered"),
    [
        ("items.ptr_2_l()", "items.ptr_2_l(); items.ptr_2_r(); items.ptr_2_l()"),  # superfluous, yet correct
        ("if items.p1_value_greater:\n        items.swap()", "if True:\n        items.swap()"),
        ("reset(items)\n        items = ", "items = "),
        ("items = items.without_last()", "items = items"),
        ("self.pointers[1] += 1", "self.pointers[1] += 2"),
        ("self.values[i] > self.values[j]", "self.values[i] >= self.values[j]"),
        ("if items.same_position:", "while True:"),  # would never end
        ("lshift(items)", "raise ValueError('no')"),
    ],
)
def test_tampered_code_is_noticed(sorting, watched, original, tampered):
    environment, cases = watched
    assert original in sorting.text
    renderer = Renderer(environment.library, environment.standalone())
    assert differences(Exported(sorting.text, environment, renderer), cases, plain=True) == []
    changed = sorting.text.replace(original, tampered, 1)
    assert differences(Exported(changed, environment, renderer), cases)


def test_a_difference_fails_the_export_and_nothing_is_written(monkeypatch, tmp_path):
    honest = Renderer.function

    def tampered(renderer, learned):
        return honest(renderer, learned).replace("swap_s_a", "swap_a_t", 1).replace("SWAP_S_A", "SWAP_A_T", 1)

    monkeypatch.setattr(Renderer, "function", tampered)
    target = tmp_path / "hanoi.py"
    with pytest.raises(ExportFailed, match=r"HANOI from .*Towers.*step 7.*does SWAP_A_T.*agent does SWAP_S_A"):
        alphanpi.export("pretrained:hanoi", out=target, max_size=3, samples=3)
    assert not target.exists()


def test_an_agent_that_never_succeeds_is_refused():
    def stop(see, size):
        yield STOP

    with pytest.raises(UsageError, match="HANOI: the agent fails on every start"):
        scripted(make("hanoi"), {"HANOI": stop}, max_size=2, samples=2)


# ---------------------------------------------------------------------------- automata


def test_json_is_an_automaton_that_runs_the_program():
    document = json.loads(alphanpi.export("pretrained:hanoi", format="json", max_size=3, samples=3).text)
    assert document["format"] == "alphanpi-export"
    assert document["version"] == 1
    (program,) = document["programs"]
    states = program["states"]

    def follow(fields):
        state, actions = program["start"], []
        while state is not None:
            transition = next(
                transition
                for transition in states[state]["transitions"]
                if all(
                    branch["holds"]
                    == any(
                        all(fields[test["feature"]] == test["value"] and test["operator"] == "==" for test in term)
                        for term in branch["any_of"]
                    )
                    for branch in transition["when"]
                )
            )
            actions.append(transition["action"])
            state = transition["next"]
        return actions

    assert follow({"one_disk": 1}) == ["MOVE_DISK", STOP]
    assert follow({"one_disk": 0}) == re.findall(
        r"\w+", "SWAP_A_T HANOI SWAP_A_T MOVE_DISK SWAP_S_A HANOI SWAP_S_A STOP"
    )


def test_dot_is_one_graph_with_a_cluster_for_each_program(sorting):
    environment = make("recursive-sorting", observation="compare")
    text = alphanpi.exporting.automaton.as_dot(sorting.programs, environment.library)
    without_labels = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    assert without_labels.count("{") == without_labels.count("}") == 7
    assert text.startswith("digraph ")
    assert text.count("subgraph cluster_") == 6
    declared = set(re.findall(r"^    (p\d_\w+) \[", text, re.MULTILINE))
    used = {name for edge in re.findall(r"(p\d_\w+) -> (p\d_\w+)", text) for name in edge}
    assert used <= declared


# ---------------------------------------------------------------------------- custom environments


def all_on(see, size):
    if not see.lit:
        see = yield "TOGGLE"
    if not see.at_end:
        yield "RIGHT"
        yield "ALL_ON"
    yield STOP


def test_an_environment_without_a_runtime_is_exported_for_an_env_object():
    environment = make(str(LIGHTS))
    kind = type(environment)
    environment = type(kind.__name__, (kind,), {"standalone": lambda self: None})()
    exported = scripted(environment, {"ALL_ON": all_on}, samples=40)
    assert not exported.standalone
    assert "its standalone() returns None" in exported.warnings[0]
    assert "its standalone() returns None" in " ".join(exported.text.split())
    assert 'if not env.field("lit"):\n        env.act("TOGGLE")' in exported.text
    assert 'env.call("ALL_ON", all_on)' in exported.text
    machine = Machine(environment, "ALL_ON", environment.parse("ALL_ON", "01001"))
    loaded(exported.text).all_on(machine)
    assert machine.state.lights == (1,) * 5


def test_legality_is_asked_only_where_observations_do_not_decide():
    class Blind(Environment[int]):
        fields = ("nothing",)

        @alphanpi.action(pre=lambda state: state > 0)
        def DOWN(self, state):
            return state - 1

        @alphanpi.program(level=1, depth=lambda state: state + 1)
        def EMPTY(self, before, after):
            return after == 0

        def initial(self, program, size, rng):
            return size

        def observe(self, state):
            return (0,)

        def size(self, state):
            return state

    class Down(ScriptedEvaluator):
        def action(self, program, history):
            return "DOWN"

    environment = Blind()
    exported = alphanpi.export_evaluator(environment, Down(environment, {}), ORIGIN, samples=10)
    assert 'while env.may("DOWN"):\n        env.act("DOWN")' in exported.text


class LightsRuntime:
    """`Standalone` of examples/lights.py, as a user would write it."""

    source = """
class Lamps:
    def __init__(self, lights, place):
        self.lights, self.place = lights, place

    def rest(self):
        return self

    def right(self):
        self.place[0] += 1

    def toggle(self):
        self.lights[self.place[0]] ^= 1

    @property
    def lit(self):
        return self.lights[self.place[0]]

    @property
    def at_end(self):
        return self.place[0] == len(self.lights) - 1
"""

    @classmethod
    def offered(cls, **changes) -> Standalone:
        members = {
            "parameter": "lamps",
            "class_name": "Lamps",
            "source": cls.source,
            "arguments": lambda row: (list(row.lights), [row.position]),
            "agrees": lambda row, lamps: (list(row.lights), [row.position]) == (lamps.lights, lamps.place),
            "inner": {"ALL_ON": "rest"},
        }
        return Standalone(**{**members, **changes})


def lights_with(standalone: Standalone) -> Environment:
    environment = make(str(LIGHTS))
    environment.standalone = lambda: standalone  # type: ignore[method-assign]
    return environment


def test_a_custom_runtime_makes_the_module_run_on_its_own():
    exported = scripted(lights_with(LightsRuntime.offered()), {"ALL_ON": all_on}, samples=40)
    assert exported.standalone
    module = loaded(exported.text)
    lamps = module.Lamps([0, 1, 0, 0, 1], [0])
    module.all_on(lamps)
    assert lamps.lights == [1] * 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inner": {}}, "inner names no method"),
        ({"class_name": "Lamp"}, "no class Lamp"),
        ({"source": "import nothing_of_that_name"}, "cannot be run: ModuleNotFoundError"),
    ],
)
def test_a_broken_runtime_is_one_message(changes, message):
    with pytest.raises(SpecificationError, match=message):
        scripted(lights_with(LightsRuntime.offered(**changes)), {"ALL_ON": all_on}, samples=10)


def test_a_runtime_that_behaves_differently_is_noticed():
    wrong = LightsRuntime.source.replace("^= 1", "= 1 if self.place[0] else 0")
    message = r"standalone\(\): lamps.lit is 0 where the environment says 1 after the action TOGGLE, in state Row"
    with pytest.raises(SpecificationError, match=message):
        scripted(lights_with(LightsRuntime.offered(source=wrong)), {"ALL_ON": all_on}, samples=10)


# ---------------------------------------------------------------------------- the command


def test_the_command_writes_a_file(run, tmp_path):
    target = tmp_path / "hanoi.py"
    code, out, err = run("export", "pretrained:hanoi", "-o", target, "--max-size", 4, "--samples", 4)
    assert (code, out) == (0, "")
    assert "same as the agent on" in err
    assert TEXTBOOK in target.read_text()


def test_the_command_prints_dot(run):
    code, out, _ = run("export", "pretrained:hanoi", "--format", "dot", "--max-size", 3, "--samples", 2)
    assert code == 0
    assert out.startswith("digraph ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["pretrained:nobody"],
        ["pretrained:hanoi", "--samples", "0"],
        ["pretrained:hanoi", "--max-size", "0"],
        ["pretrained:hanoi", "--format", "prose"],
        ["pretrained:hanoi", "--out", "/"],
        ["pretrained:hanoi", "--out", "no/where.py"],
    ],
)
def test_bad_input_is_one_line(run, arguments):
    code, out, err = run("export", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("alphanpi: error: ")
    assert err.count("\n") == 1
