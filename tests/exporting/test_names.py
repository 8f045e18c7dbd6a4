"""Names in exported modules: none is lost, none collides."""

from __future__ import annotations

import keyword

import pytest

import alphanpi
from alphanpi import STOP, Environment, Machine, SpecificationError, Standalone, action, program
from alphanpi.exporting.names import function_names
from tests.helpers.chain import Chain, ChainNetwork
from tests.helpers.exports import ORIGIN, loaded, scripted
from tests.helpers.standalone_chain import CHAIN_SOURCE, StandaloneChain, export_chain


def test_equal_names_of_fields_and_derived_conditions_are_refused():
    class Double(Chain):
        derived = ("done",)

        def derive(self, observation):
            return (1 - observation[0],)

    with pytest.raises(SpecificationError, match="'done' is there twice"):
        alphanpi.export_evaluator(Double(), ChainNetwork(), ORIGIN, samples=5)


def test_functions_whose_names_would_collide_get_different_ones():
    names = ("Go", "GO", "ENV", "PRINT", "IF", "Sys")
    members = {name: program(level=1, depth=3)(lambda self, before, after: True) for name in names}
    kind = type("Names", (Chain,), {**members, "fields": ("done",)})
    environment = kind()
    functions = function_names(environment.library, None)
    assert len(set(functions.values())) == len(functions) == len(names) + 1
    assert functions["Go"] == "go"
    assert functions["GO"] == "GO"
    assert "env" not in functions.values()
    assert not any(keyword.iskeyword(name) or hasattr(__builtins__, name) for name in functions.values())

    def stop(see, size):
        yield STOP

    exported = scripted(type("Free", (kind,), {"DOWN": None})(), dict.fromkeys(names, stop), samples=12)
    module = loaded(exported.text)
    for name in names:
        getattr(module, functions[name])(Machine(environment, name, 3))


def test_a_runtimes_own_names_are_not_overwritten():
    source = CHAIN_SOURCE + "\n\ndef down(counter):\n    raise NotImplementedError('mine')\n"
    exported = export_chain(source=source)
    module = loaded(exported.text)
    counter = module.Counter([4])
    module.DOWN(counter)
    assert counter.box == [0]
    with pytest.raises(NotImplementedError):
        module.down(counter)


def test_two_actions_for_one_method_are_refused_and_keywords_get_an_underscore():
    class Same(StandaloneChain):
        @action()
        def Step(self, state):
            return state

    with pytest.raises(SpecificationError, match=r"standalone\(\): the actions STEP and Step would both be the method"):
        scripted(Same(), {"DOWN": lambda see, size: iter(())})

    class Pass(Environment[int]):
        fields = ("zero",)

        @action()
        def PASS(self, state):
            return 0

        @program(level=1, depth=2)
        def CLEAR(self, before, after):
            return after == 0

        def initial(self, program, size, rng):
            return size

        def observe(self, state):
            return (int(state == 0),)

        def size(self, state):
            return state

        def standalone(self):
            source = "class Cell:\n    def __init__(self, value):\n        self.value = value\n\n"
            source += "    def pass_(self):\n        self.value = 0\n"
            return Standalone("cell", "Cell", source, lambda state: (state,), lambda state, cell: cell.value == state)

    def clear(see, size):
        yield "PASS"
        yield STOP

    exported = scripted(Pass(), {"CLEAR": clear})
    assert "    cell.pass_()" in exported.text


def test_a_field_that_is_no_name_is_asked_for_by_a_string():
    class Odd(StandaloneChain):
        fields = ("is done?",)

    source = CHAIN_SOURCE + "\n    def __getattr__(self, name):\n        return {'is done?': self.done}[name]\n"
    environment = Odd()
    environment.changes = {"source": source}
    exported = alphanpi.export_evaluator(environment, ChainNetwork(), ORIGIN, samples=10)
    assert 'getattr(counter, "is done?")' in exported.text
