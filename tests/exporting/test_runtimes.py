"""Runtimes of environments: unusual ones are kept whole, and broken ones are named as such."""

from __future__ import annotations

import ast

import pytest

import alphanpi
from alphanpi import STOP, ExportFailed, SpecificationError, program
from alphanpi.exporting.runtime import divided
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.exports import ORIGIN, loaded, scripted
from tests.helpers.standalone_chain import CHAIN_SOURCE, StandaloneChain, export_chain


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": CHAIN_SOURCE + "\nraise ValueError('no')\n"}, "source cannot be run: ValueError: no"),
        ({"source": CHAIN_SOURCE + "\nimport sys\nsys.exit(7)\n"}, "source cannot be run: SystemExit: 7"),
        ({"source": "class Counter(:\n"}, "source: line 1: invalid syntax"),
        ({"source": None}, "source: "),
        ({"class_name": "Count"}, "no class Count"),
        ({"class_name": "no class"}, "'no class', which is no name in Python"),
        ({"parameter": "for"}, "'for', which is no name in Python"),
        ({"inner": {"DOWN": "in side"}}, "'in side', given for DOWN, is no name"),
        ({"inner": {"DOWN": "outside"}}, r"the problem of DOWN, Counter.outside\(\): AttributeError"),
        (
            {"source": CHAIN_SOURCE.replace("def step", "def stop")},
            r"the action STEP, Counter.step\(\): AttributeError.*in state",
        ),
        (
            {"source": CHAIN_SOURCE.replace("-= 1", "-= 2")},
            r"counter.done is False where the environment says 1 after the action STEP, in state",
        ),
        (
            {"source": CHAIN_SOURCE.replace("self.box[0] == self.taken", "self.box[0] < self.taken")},
            "counter.done is False where the environment says 1 at",
        ),
        (
            {"source": CHAIN_SOURCE.replace("self.box[0] == self.taken", "1 / 0")},
            "counter.done raises ZeroDivisionError: .* at the start, in state",
        ),
        ({"source": CHAIN_SOURCE.replace("def done", "def finished")}, "counter.done raises AttributeError"),
        ({"arguments": lambda state: [state].index("x")}, "arguments of state .*: ValueError"),
        ({"arguments": lambda state: (1, 2, 3, 4)}, r"Counter\(1, 2, 3, 4\), for state .*: TypeError"),
        ({"arguments": lambda state: 3}, "arguments of state .*: TypeError"),
        ({"agrees": lambda state, counter: counter.nothing}, "agrees, for the final state .*: AttributeError"),
        ({"agrees": lambda state, counter: False}, "agrees says that its object is not in the final state"),
        ({"fields": {"done": "counter.done +"}}, r"fields: 'counter.done \+', given for done, is no expression"),
        ({"fields": {"done": "not counter.done"}}, r"not counter.done is .* where the environment says"),
    ],
)
def test_a_broken_runtime_is_named_as_such(changes, message):
    with pytest.raises(SpecificationError, match=rf"(?s)^StandaloneChain: standalone\(\): .*{message}") as caught:
        export_chain(**changes)
    assert "arger problems" not in str(caught.value)


def test_a_standalone_that_raises_or_is_none_is_one_message():
    class Raising(Chain):
        def standalone(self):
            raise OSError("no such file")

    class Confused(Chain):
        def standalone(self):
            return "class Counter: ..."

    for environment, message in ((Raising(), "standalone: OSError: no such file"), (Confused(), "not a Standalone")):
        with pytest.raises(alphanpi.AlphaNPIError, match=message):
            alphanpi.export_evaluator(environment, ChainNetwork(), ORIGIN, samples=5)


def test_agrees_that_always_does_is_noticed():
    exported = export_chain()
    assert exported.warnings == (
        "DOWN: no starts were enumerated, so nothing was compared completely; "
        "give StandaloneChain a member enumerate() or templates()",
    )

    class Wide(StandaloneChain):
        """Ends in different states."""

        def initial(self, program, size, rng):
            return size

        @program(
            level=1,
            depth=4,
            recursive=True,
            shrink=lambda state: None,
            restore=lambda caller, callee: callee,
        )
        def DOWN(self, before, after):
            return after == before - 1

        def observe(self, state):
            return (0,)

    def once(see, size):
        yield "STEP"
        yield STOP

    environment = Wide()
    environment.changes = {"agrees": lambda state, counter: True}
    assert any("agrees holds whatever" in warning for warning in scripted(environment, {"DOWN": once}).warnings)
    environment.changes = {}
    assert not any("agrees holds whatever" in warning for warning in scripted(environment, {"DOWN": once}).warnings)


def test_an_environment_that_depends_on_more_than_its_state_is_refused():
    class Moody(Chain):
        calls = 0

        def pre(self, program, state, caller=None):
            if program == "STEP":
                type(self).calls += 1
                return type(self).calls % 3 > 0 and state > 0
            return super().pre(program, state, caller)

        def post(self, program, before, after):
            return True

    with pytest.raises(ExportFailed, match=r"anything but its state|made from this very run"):
        alphanpi.export_evaluator(Moody(), ChainNetwork(), ORIGIN, samples=20)


@pytest.mark.parametrize(
    "source",
    [
        # A method that nothing but `agrees` uses, and one that only a base class knows of.
        CHAIN_SOURCE + "\n    def shown(self):\n        return list(self.box)\n",
        # No blank line above a method that is left out.
        CHAIN_SOURCE.replace("    @property", "    other = 1\n    def unused(self):\n        pass\n\n    @property"),
        # Inherited actions.
        "class Base:\n    def step(self):\n        self.box[0] -= 1\n"
        + CHAIN_SOURCE.replace("Counter:", "Counter(Base):", 1).replace(
            "    def step(self):\n        self.box[0] -= 1\n", ""
        ),
        # The smaller problem is of another class; one action uses itself.
        CHAIN_SOURCE.replace("return Counter(", "return Inside(") + "\nclass Inside(Counter):\n    pass\n",
        "from __future__ import annotations\nimport json\nfrom os import (\n    path,\n    sep,\n)\n" + CHAIN_SOURCE,
        '"""A docstring."""\n' + CHAIN_SOURCE,
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Note:\n    text: str\n\n\n" + CHAIN_SOURCE,
    ],
)
def test_unusual_runtimes_are_kept_whole(source):
    def agrees(state, counter):
        return (counter.shown() if hasattr(counter, "shown") else counter.box) == [state]

    exported = export_chain(source=source, agrees=agrees)
    module = loaded(exported.text)
    counter = module.Counter([50])
    module.down(counter)
    assert counter.box == [0]
    if "other = 1" in source:
        assert module.Counter.other == 1
        assert not hasattr(module.Counter, "unused")


def test_an_expression_for_a_field_keeps_its_meaning():
    class Twice(StandaloneChain):
        fields = ("open",)

        def observe(self, state: int) -> tuple[int, ...]:
            return (int(state != 0),)

    class Inverse(ChainNetwork):
        def evaluate(self, programs, observations, memory):
            return super().evaluate(programs, 1 - observations, memory)

    for expression in (
        "not counter.done and True",
        "1 - counter.done  # a comment",
        "counter.box[0] != counter.taken",
        "0 if counter.done else 1",
    ):
        environment = Twice()
        environment.changes = {"fields": {"open": expression}}
        module = loaded(alphanpi.export_evaluator(environment, Inverse(), ORIGIN, samples=10).text)
        counter = module.Counter([9])
        module.down(counter)
        assert counter.box == [0]


def test_imports_are_divided_from_the_rest():
    source = (
        '"""Text."""\nfrom __future__ import annotations\n\nimport sys\nfrom os import path\n\n\nX = 1\nimport json\n'
    )
    imports, body = divided(source)
    assert imports == "import sys\nfrom os import path"
    assert ast.unparse(ast.parse(body)) == '"""Text."""\nX = 1\nimport json'
