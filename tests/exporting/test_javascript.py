"""Python's meaning in JavaScript, what is refused, and the exported file as users run it."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from pathlib import Path

import pytest

import alphanpi
from alphanpi import ExportFailed, SpecificationError
from alphanpi.environment.standalone import runtime_source
from alphanpi.exporting.escaping import docstring, literal
from alphanpi.exporting.javascript.assembling import head_comment
from alphanpi.exporting.javascript.expressions import ExpressionTranslator
from alphanpi.exporting.javascript.linking import linked
from alphanpi.exporting.javascript.translating import translated
from tests.exporting.test_escaping import HOSTILE
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.commands import assert_one_line, command
from tests.helpers.exports import ORIGIN, run_script
from tests.helpers.standalone_chain import CHAIN_SOURCE, chain_with
from tests.helpers.translations import NODE, assert_same, in_javascript, needs_node

FEATURES = Path(__file__).parent / "javascript_features.txt"
MAIN = """
import sys

def count(number):
    counter = Counter([number])
    down(counter)
    return counter.box[0]

if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdecimal():
        sys.exit(f"{' '.join(sys.argv[1:])!r} is no number")
    print("left:", count(int(sys.argv[1])))
"""


def exported_chain(samples=8, **changes):
    return alphanpi.export_evaluator(
        chain_with(**changes), ChainNetwork(), ORIGIN, samples=samples, format="javascript"
    )


def in_node(file: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(NODE), str(file), *arguments], capture_output=True, text=True, timeout=60, check=False)


@needs_node
def test_every_feature_does_the_same(tmp_path):
    source = FEATURES.read_text(encoding="utf-8")
    names = [
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and not node.args.args and not node.args.vararg
    ]
    assert len(names) >= 35
    results = assert_same(source, names, tmp_path)
    raising = {name for name, (what, _) in zip(names, results, strict=True) if what == "raises"}
    assert raising == {"unhashable", "uncaught", "assertions", "exhausted", "wrong_unpacking"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import json", "the import of json"),
        ("from os import path", "the import of os.path"),
        ("with open('x') as f:\n    pass", r"the statement `with open\('x'\) as f:`"),
        ("match 1:\n    case 1:\n        pass", "the statement `match 1:`"),
        ("async def f():\n    pass", "the statement `async def f"),
        ("def f(**options):\n    pass", r"a parameter \*\*options"),
        ("class A(B, C):\n    pass", "the class A with several bases"),
        ("class A(Enum):\n    X = 1", "the class A with the base Enum"),
        ("class A:\n    def __getattr__(self, name):\n        return 1", "the special method __getattr__"),
        ("@cache\ndef f():\n    pass", "a decorator of the function f"),
        ("class A:\n    @cached_property\n    def b(self):\n        return 1", "the decorator @cached_property"),
        ("x = b'bytes'", "the constant b'bytes'"),
        ("x = '%d' % 3", "the operator % of a str"),
        ("x = '{}'.format(3)", r"the method .format\(\)"),
        ("x = eval('1')", "the function eval"),
        ("x = undefined_name", "the name 'undefined_name'"),
        ("x = [].nothing", "the attribute .nothing"),
        ("x = 1 @ 2", "the operator MatMult"),
        ("def f(a):\n    return a\nx = f(b=1)", "the keyword b of f"),
        ("def f(a):\n    return a\nx = f()", "f with too few arguments"),
        ("def f():\n    any = 1\n    return any", "a variable called any"),
        ("del LIMIT", "`del LIMIT`"),
        ("x = sorted([1], cmp=1)", "the keyword cmp of sorted"),
    ],
)
def test_what_cannot_be_translated_is_refused_with_its_line(line, message):
    with pytest.raises(SpecificationError, match=f"^no JavaScript written: line [123] of .*: {message}.* has no trans"):
        translated(ast.parse(line))


def test_nothing_is_written_where_the_runtime_cannot_be_translated(monkeypatch, tmp_path):
    whole = runtime_source("alphanpi.environments.standalone.hanoi").replace("import sys", "import sys\nimport json")
    monkeypatch.setattr("alphanpi.environments.hanoi.runtime_source", lambda _: whole)
    target = tmp_path / "hanoi.mjs"
    outcome = command("export", "pretrained:hanoi", "--format", "javascript", "-o", target, "--samples", 3)
    assert_one_line(outcome, "of the exported Python, `import json`: the import of json has no translation")
    assert not target.exists()


@pytest.mark.parametrize("name", ["hanoi", "lists"])
def test_all_of_the_built_in_runtimes_can_be_translated(name):
    source = runtime_source(f"alphanpi.environments.standalone.{name}")
    assert translated(ast.parse(source), frozenset(("hanoi", "bubblesort"))).main


@needs_node
def test_no_python_reaches_what_javascript_has_besides(tmp_path):
    """A translated module knows its own names alone, and no way to make code of text."""
    source = """
def escape():
    return escape.__class__("return process")()

def again():
    return [].__class__.__class__("return process")()

def attribute():
    return getattr(escape, "constructor")("return process")()
"""
    found = in_javascript(source, ["escape", "again", "attribute"], tmp_path)
    assert found == [["raises", "TypeError"], ["raises", "TypeError"], ["raises", "AttributeError"]]
    for name in ("process", "globalThis", "fetch", "Function"):
        with pytest.raises(SpecificationError, match=f"the name '{name}', which the module does not define"):
            translated(ast.parse(f"x = {name}"))


@needs_node
def test_whatever_text_there_is_stays_text(tmp_path):
    texts = [*HOSTILE, "*/ process.exit(7); /*", "`${process.exit(7)}`", "</script>"]
    functions = [
        f"def f{number}():\n    {docstring(text)}\n    return {literal(text)}, f'{{1}}' {literal(text)}\n"
        for number, text in enumerate(texts)
    ]
    translation = translated(ast.parse("\n\n".join(functions)))
    called = ", ".join(f"f{number}()" for number in range(len(texts)))
    parts = [*map(head_comment, texts), translation.functions, linked(translation.functions)]
    file = tmp_path / "texts.mjs"
    file.write_text("\n\n".join([*parts, f"console.log(JSON.stringify([{called}]));"]), encoding="utf-8")
    done = in_node(file)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[text, f"1{text}"] for text in texts]


# ---------------------------------------------------------------------------- whole files


@pytest.fixture(scope="module")
def hanoi(tmp_path_factory) -> Path:
    file: Path = tmp_path_factory.mktemp("hanoi") / "hanoi.mjs"
    alphanpi.export("pretrained:hanoi", format="javascript", out=file, samples=5)
    return file


@pytest.fixture(scope="module")
def sort(tmp_path_factory, sorting_code) -> Path:
    file: Path = tmp_path_factory.mktemp("sort") / "sort.mjs"
    exported = sorting_code.exported("javascript")
    file.write_text(exported.text)
    file.with_suffix(".py").write_text(sorting_code.exported("python").text)
    assert exported.general
    return file


@needs_node
def test_the_file_runs_as_a_script_as_the_python_does(hanoi, sort):
    head = hanoi.read_text().split("\n\n")[0]
    assert "run in node v" in head.replace("\n// ", " ")
    done = in_node(hanoi, "2")
    assert done.stdout.splitlines() == ["move disk 1 from A to B", "move disk 2 from A to C", "move disk 1 from B to C"]
    for arguments in (["5 3 9 1"], ["5,3", "-9", "1"], ["x"], [], ["7"]):
        python, script = run_script(sort.with_suffix(".py"), *arguments), in_node(sort, *arguments)
        assert (python.returncode, python.stdout, python.stderr) == (script.returncode, script.stdout, script.stderr)


@needs_node
def test_run_gives_output_and_steps_and_refuses_in_words(sort, tmp_path):
    file = tmp_path / "try.mjs"
    file.write_text(
        f"import {{ run, sort }} from {json.dumps(sort.as_uri())};\n"
        "const told = [], seen = [];\n"
        "const { output, start, steps } = run('3, 1 2', (step) => seen.push(step.action));\n"
        "for (const [text, most] of [['3 x'], [''], ['3 2 1', 2]])\n"
        "  try { run(text, null, most); } catch (error) { told.push(error.message); }\n"
        "const [again, own] = [run('2 1').output, sort([4, 3])];\n"
        "console.log(JSON.stringify({ output, start, steps, seen, told, again, own }));\n"
    )
    done = in_node(file)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["output"] == "1 2 3\n"
    assert found["again"] == "1 2\n"
    assert found["own"] == [3, 4]
    assert found["start"] == "3 1 2   pointers at 1 and 1"
    assert found["steps"][-1]["state"].startswith("1 2 3   pointers at ")
    assert [step["action"] for step in found["steps"]] == found["seen"]
    assert found["seen"].count("SWAP") == 2
    assert found["told"] == [
        "'3 x' is not a list of integers; write for example '5 3 9 1'",
        "the list is empty; write for example '5 3 9 1'",
        "stopped after 2 actions",
    ]


@needs_node
def test_several_arguments_are_understood_too(tmp_path):
    two = MAIN.replace("!= 2", "!= 3").replace("int(sys.argv[1])", "int(sys.argv[1]) + int(sys.argv[2])")
    file = tmp_path / "chain.mjs"
    file.write_text(exported_chain(source=CHAIN_SOURCE + two).text)
    use = tmp_path / "use.mjs"
    use.write_text("import { run } from './chain.mjs';\nconst { output, start, steps } = run('3 2');\n")
    use.write_text(use.read_text() + "console.log(output.trim(), '|', start, '|', steps.length, steps[4].state);\n")
    assert in_node(use).stdout == "left: 0 | box [5], taken 4 | 5 box [0], taken 0\n"


@needs_node
def test_functions_without_a_runtime_are_compared_too():
    exported = alphanpi.export_evaluator(Chain(), ChainNetwork(), ORIGIN, samples=8, format="javascript")
    assert 'if (!$truth(env.field("done"))) {\n    env.call("DOWN", down);\n    env.act("STEP");' in exported.text
    assert "run in node v" in exported.text
    assert "export function run" not in exported.text


@needs_node
@pytest.mark.parametrize("runtime", [True, False])
def test_a_difference_fails_the_export(monkeypatch, runtime):
    monkeypatch.setattr(
        ExpressionTranslator, "test", lambda self, node: "false" if "done" in ast.unparse(node) else "true"
    )
    environment = chain_with() if runtime else Chain()
    with pytest.raises(ExportFailed, match=r"in JavaScript, unlike in Python: DOWN from .*: step 1: the exported code"):
        alphanpi.export_evaluator(environment, ChainNetwork(), ORIGIN, samples=8, format="javascript")


@needs_node
def test_another_final_state_fails_the_export():
    order = "self.order = [*{str(k) for k in range(9)}]"
    sharing = CHAIN_SOURCE.replace("self.box, self.taken = box, taken", f"{order}; self.box, self.taken = box, taken")
    with pytest.raises(ExportFailed, match="the order of a set's elements is not translated"):
        exported_chain(source=sharing)


@needs_node
def test_calls_deeper_than_the_stack_are_told(monkeypatch, tmp_path):
    exported = exported_chain()
    (entry,) = exported.coverage
    assert entry.nested >= 2_000
    assert "stack" not in exported.text.split("\n\n")[0]
    small = tmp_path / "node"
    small.write_text(f'#!/bin/sh\nexec "{NODE}" --stack-size=300 "$@"\n')
    small.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    exported = exported_chain()
    assert any("1 of these starts nest calls deeper than JavaScript's usual stack" in one for one in exported.warnings)
    assert "the same 12,497 actions" in exported.text.split("\n\n")[0].replace("\n// ", " ")


def test_without_node_the_file_says_that_it_was_not_run(monkeypatch):
    monkeypatch.setattr("alphanpi.exporting.javascript.checking.shutil.which", lambda _: None)
    exported = exported_chain()
    assert any("node is not on the PATH" in warning for warning in exported.warnings)
    assert "NOT RUN: node is not on the PATH" in exported.text.split("\n\n")[0].replace("\n// ", " ")
