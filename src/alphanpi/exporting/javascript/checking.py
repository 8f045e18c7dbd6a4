"""Running exported JavaScript beside the Python it was translated from, wherever there is a node."""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from alphanpi.environment.carrying import CarriedStandalone
from alphanpi.environment.specification import Environment
from alphanpi.exporting.behaviour import Case
from alphanpi.exporting.clock import Clock, ExportFailed
from alphanpi.exporting.equality import AGAIN, Difference, Exported, recursion, telling
from alphanpi.exporting.javascript.assembling import observed
from alphanpi.exporting.javascript.exchanging import encoded
from alphanpi.exporting.javascript.linking import linked
from alphanpi.exporting.javascript.naming import js_attribute, js_name
from alphanpi.exporting.javascript.translating import translated
from alphanpi.exporting.machine import Machine
from alphanpi.exporting.render import Renderer
from alphanpi.exporting.runtime import DEEPEST

_MOST_QUESTIONS = 2_000_000  # asked of environments without a runtime, all of them sent to node


class NodeComparison(NamedTuple):
    """What was compared in node."""

    version: str
    cases: int
    actions: int
    too_deep: int  # cases whose calls are nested deeper than JavaScript's stack


def node() -> str | None:
    """Where node is, if it is on the PATH."""
    return shutil.which("node")


class NodeChecker:
    """Compares JavaScript with the Python it was translated from, case by case."""

    def __init__(self, python: str, javascript: str, environment: Environment[Any], renderer: Renderer) -> None:
        self._python = python
        self._javascript = javascript
        self._environment = environment
        self._renderer = renderer
        self._exported = Exported(python, environment, renderer)

    def compare(self, cases: Sequence[Case], clock: Clock) -> NodeComparison:
        """Run all cases; raise `ExportFailed` where anything differs."""
        where = node()
        assert where is not None, "asked for only where there is a node"
        generic = self._renderer.standalone is None
        kept, given = self._replays(cases) if generic else (list(cases), [self._given(case) for case in cases])
        clock.check()
        asked = {"generic": generic, "settles": self._settles, "kind": self._kind(), "cases": given}
        results = self._run(where, asked, clock)
        judge = self._judge_replay if generic else self._judge
        too_deep = 0
        for case, sent, result in zip(kept, given, results, strict=True):
            clock.check()
            found = judge(case, sent, result)
            if isinstance(found, Difference):
                raise ExportFailed(f"nothing exported: in JavaScript, unlike in Python: {found}")
            too_deep += found
        version = subprocess.run([where, "--version"], capture_output=True, text=True, timeout=60, check=False)
        return NodeComparison(version.stdout.strip(), len(kept), sum(case.steps for case in kept), too_deep)

    @property
    def _settles(self) -> bool:
        """Whether objects owe a change to the problems inside of them until their state is looked at."""
        return isinstance(self._renderer.standalone, CarriedStandalone)

    def _kind(self) -> str:
        return "" if self._renderer.standalone is None else js_name(self._renderer.standalone.class_name)

    def _given(self, case: Case) -> dict[str, Any]:
        """A start for the runtime, and a digest of what the agent did from there."""
        assert self._renderer.standalone is not None, "with a runtime"
        arguments = list(self._renderer.standalone.arguments(case.call.state))
        digest = None
        if case.actions is not None:
            digest = hashlib.sha256("\n".join(case.actions).encode("utf-8", "surrogatepass")).hexdigest()
        return {
            "program": js_name(self._renderer.names[case.call.program]),
            "name": case.call.program,
            "given": encoded(arguments, strict=True),
            "steps": case.steps,
            "digest": digest,
        }

    def _judge(self, case: Case, _: dict[str, Any], result: dict[str, Any]) -> Difference | bool:
        """The first difference of a case, or whether it was too deep for JavaScript."""
        ended = self._exported.run(case)
        if self._settles:
            _ = ended.state
        expected = encoded(ended)
        plain, watched = result["plain"], result["watched"]
        for done in (plain, watched):
            if "raised" in done:
                return Difference(case, watched["count"], None, f"raise {done['raised']}")
        if case.actions is not None and watched["actions"] is not None:
            return _first_difference(case, case.actions, watched["actions"])
        if watched["count"] != case.steps:
            return Difference(case, watched["count"], None, watched.get("otherwise"))
        for done in (plain, watched):
            if not done.get("deep") and done["final"] != expected:
                return Difference(case, case.steps, None, None)
        return bool(plain.get("deep"))

    def _replays(self, cases: Sequence[Case]) -> tuple[list[Case], list[dict[str, Any]]]:
        """What Python asks the environment, and the answers."""
        kept, given, questions = [], [], 0
        for case in cases:
            program, state = case.call
            machine = _Asked(Machine(self._environment, program, state))
            with recursion(5 * DEEPEST):
                self._exported.plain[self._renderer.names[program]](machine)
            kept.append(case)
            given.append({"program": js_name(self._renderer.names[program]), "log": machine.log})
            questions += len(machine.log)
            if questions > _MOST_QUESTIONS:
                break
        return kept, given

    def _judge_replay(self, case: Case, sent: dict[str, Any], result: dict[str, Any]) -> Difference | bool:
        if result.get("deep"):
            return True
        done = result.get("otherwise") or (f"raise {result['raised']}" if "raised" in result else None)
        place, log = result["place"], sent["log"]
        if done is None and place == len(log):
            return False
        asked = " ".join(log[place][:2]) if place < len(log) else None
        return Difference(case, place, asked, done or "nothing more")

    def _run(self, where: str, asked: dict[str, Any], clock: Clock) -> list[dict[str, Any]]:
        with tempfile.TemporaryDirectory(prefix="alphanpi-") as name:
            folder = Path(name)
            package = resources.files("alphanpi.exporting.javascript")
            (folder / "comparing.mjs").write_text((package / "comparing.mjs").read_text("utf-8"), "utf-8")
            (folder / "plain.mjs").write_text(self._plain(), "utf-8")
            (folder / "watched.mjs").write_text(self._watched(), "utf-8")
            (folder / "cases.json").write_text(json.dumps(asked), "utf-8")
            command = [where, "comparing.mjs", "cases.json", "results.json"]
            try:
                done = subprocess.run(
                    command, cwd=folder, capture_output=True, text=True, timeout=clock.left(), check=False
                )
            except subprocess.TimeoutExpired:
                clock.check()
                raise
            except OSError as error:
                raise ExportFailed(f"nothing exported: {where} cannot be run: {error}") from error
            if done.returncode != 0:
                lines = [line for line in done.stderr.splitlines() if "Error" in line] or ["no message"]
                raise ExportFailed(f"nothing exported: node does not run the JavaScript: {lines[0].strip()}")
            results: list[dict[str, Any]] = json.loads((folder / "results.json").read_text("utf-8"))
            return results

    def _plain(self) -> str:
        """The file as it is, with what values are exchanged by added where it lacks it."""
        if self._renderer.standalone is None:
            return self._javascript
        added = linked(_EXCHANGE, without=self._javascript)
        return "\n\n".join((self._javascript, added, "export { $encoded, $decoded };\n"))

    def _watched(self) -> str:
        """The same with functions that tell what is called, begun again and ended."""
        if self._renderer.standalone is None:
            return ""
        tree = telling(ast.parse(self._python), self._renderer.names)
        translation = translated(tree, frozenset((AGAIN,)))
        programs = {program: js_name(name) for program, name in self._renderer.names.items()}
        replaced = [
            f"{{ const own = {name}; {name} = (one) => $recorder.call({json.dumps(program)}, own, one); }}"
            for program, name in programs.items()
        ]
        listed = ", ".join(f"{json.dumps(program)}: {name}" for program, name in programs.items())
        glue = "\n".join(
            (
                observed(translation, self._environment.library),
                f"export const $programs = {{ {listed} }};",
                f"export const $calls = {json.dumps(self._calls())};",
                *replaced,
                _WATCH,
            )
        )
        used = linked(translation.functions, translation.rest, glue, _EXCHANGE)
        return "\n\n".join((translation.functions, used, translation.rest, glue, "export { $encoded, $decoded };\n"))

    def _calls(self) -> dict[str, dict[str, str]]:
        """By program and the method that gives another problem, the call that this is."""
        assert self._renderer.standalone is not None, "with a runtime"
        calls: dict[str, dict[str, str]] = {}
        for call, method in self._renderer.standalone.inner.items():
            calls.setdefault(self._environment.library.called(call).name, {})[js_attribute(method)] = call
        return calls


_EXCHANGE = "$encoded $decoded"
_WATCH = f"""\
let $recorder = null;
for (const kind of $KINDS) {{
  for (const name of new Set(Object.values($calls).flatMap(Object.keys))) {{
    const own = kind.prototype[name];
    if (!Object.hasOwn(kind.prototype, name)) continue;
    kind.prototype[name] = function () {{
      const given = own.call(this);
      $recorder.given = name;
      return given;
    }};
  }}
}}
function {AGAIN}(program) {{ $recorder.again(program); }}
export function $watch(recorder, work) {{
  $recorder = recorder;
  const restore = $observe($KINDS, $ACTIONS, (action) => recorder.take(action), () => {{}});
  try {{ return work(); }} finally {{ restore(); }}
}}"""


def _first_difference(case: Case, expected: Sequence[str], done: Sequence[str]) -> Difference:
    step = next((step for step, pair in enumerate(zip(expected, done, strict=False)) if len(set(pair)) > 1), None)
    step = min(len(expected), len(done)) if step is None else step
    agent, exported = (actions[step] if step < len(actions) else None for actions in (expected, done))
    return Difference(case, step, agent, exported)


class _Asked:
    """A machine that writes down what it is asked, and what it answers."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.log: list[tuple[Any, ...]] = []

    def act(self, action: str) -> None:
        self.log.append(("act", action))
        self._machine.act(action)

    def field(self, name: str) -> int:
        answer = self._machine.field(name)
        self.log.append(("field", name, answer))
        return answer

    def may(self, name: str) -> bool:
        answer = bool(self._machine.may(name))
        self.log.append(("may", name, answer))
        return answer

    def call(self, program: str, function: Callable[[Any], None]) -> None:
        self.log.append(("call", program))
        self._machine.call(program, lambda _: function(self))
        self.log.append(("end", program))
