"""Whatever text an environment or an agent has, it reaches no statement."""

from __future__ import annotations

import ast
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import alphanpi
from alphanpi import STOP, Environment, Machine, Origin, action, make, program
from alphanpi.exporting.automaton import as_dot
from alphanpi.exporting.escaping import docstring, dot_string, literal
from tests.helpers.exports import loaded, scripted
from tests.helpers.solutions import ScriptedEvaluator

HOSTILE = [
    'quote"""',
    'ends with a quote"',
    "ends with a backslash\\",
    "'''",
    'x"""\nimport os\nos._exit(3)\n"""',
    "tab\tnull\0bell\a",
    "line\r\nend\u2028\u2029\x85\x0c",
    "lone \ud800 surrogate",
    "{braces} %s \\N{DASH} \\x41",
    "& &lt; <b>",
]


def test_whatever_text_there_is_stays_text():
    for text in HOSTILE:
        assert ast.literal_eval(literal(text)) == text
        assert ast.literal_eval(docstring(text)) == text
        assert "\n" not in literal(text)
        label = dot_string([text])
        assert label.count("\n") == 0
        assert label[1:-1].replace("\\\\", "").count('"') == label[1:-1].replace("\\\\", "").count('\\"')


@given(st.text(st.characters(), max_size=30))
@settings(max_examples=300)
def test_text_survives_quoting(text):
    assert ast.literal_eval(literal(text)) == text
    assert ast.literal_eval(docstring(text)) == text
    compile(f"def f():\n    {docstring(text)}", "<test>", "exec")


def strange(summary: str, field: str, title: str) -> Environment:
    """A small environment whose texts are as given."""

    def mark(self, state):
        return 1

    def goal(self, before, after):
        return after == 1

    goal.__doc__ = summary
    members: dict[str, Any] = {
        "__doc__": title,
        "fields": (field,),
        "MARK": action()(mark),
        "GOAL": program(level=1, depth=2)(goal),
        "initial": lambda self, program, size, rng: 0 if rng.integers(2) else -size,
        "observe": lambda self, state: (int(state < 0),),
        "size": lambda self, state: max(1, -state),
    }
    environment: Environment = type("Strange", (Environment,), members)()
    return environment


class Constant(ScriptedEvaluator):
    def action(self, program, history):
        return "MARK" if len(history) == 1 and history[0][0] == 1 else STOP if len(history) > 1 else "MARK"


def shape(text: str) -> list[str]:
    """The kinds of all nodes of a module, without what its strings and names say."""
    return [type(node).__name__ for node in ast.walk(ast.parse(text))]


def encodable(text: str) -> bool:
    """Whether Python accepts it as the docstring of a class."""
    return "\ud800" not in text


TEXT = st.one_of(st.text(max_size=20), st.sampled_from(HOSTILE))


@given(agent=TEXT, summary=TEXT, field=TEXT, option=TEXT, title=TEXT.filter(encodable))
@settings(max_examples=25, deadline=None)
def test_hostile_texts_reach_no_statement(agent, summary, field, option, title):
    def module(agent, summary, field, option, title):
        environment = strange(summary, field, title)
        origin = Origin(agent, "0" * 12, "test", {"option": option})
        evaluator = Constant(environment, {})
        return environment, alphanpi.export_evaluator(environment, evaluator, origin, samples=4, max_size=1)

    plain_summary = "Mark." if summary.strip() else ""
    _, plain = module("agent", plain_summary, "field", "option", "Title.")
    environment, hostile = module(agent, summary, field, option, title)
    assert shape(hostile.text) == shape(plain.text)
    tree = ast.parse(hostile.text)
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    expected = environment.library.named("GOAL").summary
    assert (ast.get_docstring(function, clean=False) or "") == expected
    hostile.text.encode()  # can be written
    graph = as_dot(hostile.programs, environment.library)
    assert graph.count("\n") == as_dot(plain.programs, environment.library).count("\n")
    machine = Machine(environment, "GOAL", 0)
    loaded(hostile.text).goal(machine)
    assert machine.state == 1


def test_a_runs_folder_with_quotes_is_exported():
    origin = Origin('run"""\nimport os\nos._exit(3)\n"""', "0" * 12, "hanoi", {"a": 'b"""'})
    text = scripted(make("hanoi"), None, origin=origin, max_size=3, samples=5).text
    module = loaded(text)
    assert 'run"""\\nimport os\\nos._exit(3)' in " ".join(str(module.__doc__).split())
    assert not hasattr(module, "os")
