"""Proofs by machine of right agents, and of agents with one decision changed, beside real runs.

    python benchmarks/machine_proofs.py pretrained:hanoi runs/lights

takes agents that are PROVED (machine), changes single decisions among those the proof rests on, proves again, and runs
the changed agent on small problems. A program that is proved and fails is what must never be; all cases are counted.
results/machine_proofs.json holds such runs, with their commands.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import alphanpi
from alphanpi.agent.interpreter import Call, Interpreter
from alphanpi.environment.guard import Guard
from alphanpi.environment.specification import Environment
from alphanpi.network.decisions import Decisions
from alphanpi.network.evaluator import Evaluation, Evaluator, windows_of
from alphanpi.network.history_table import NONE, Window
from alphanpi.proof.bodies import BodyShown, show_body
from alphanpi.proof.prover import prove_programs
from alphanpi.verification.exploration import TIME_MET
from alphanpi.verification.machine import real_calls

SEED = 0
STARTS = 400
SIZES = 7
SECONDS = 60.0
"""For one proof; without an end to it, nothing is proved."""


class Altered:
    """An agent's decisions, one of them changed."""

    def __init__(self, decisions: Decisions, program: int, told: Window, action: int) -> None:
        self.decisions = decisions
        self.window = decisions.table.window
        self.windows = windows_of(decisions.table.evaluator, len(decisions.table.library.learned))
        self.memory_width = 2 if self.window else 1  # with a window, the last is the action before
        self.altered = (program, told)
        self.action = action
        self._told: list[Window] = [()]
        self._numbers: dict[Window, int] = {(): 0}

    def evaluate(
        self, programs: NDArray[np.int64], observations: NDArray[np.int16], memory: NDArray[np.float32]
    ) -> Evaluation:
        """What the agent says, except in one place."""
        table = self.decisions.table
        logits = np.zeros((len(programs), len(table.library)), np.float32)
        following = np.zeros((len(programs), self.memory_width), np.float32)
        for row, (program, observation) in enumerate(zip(programs, observations, strict=True)):
            before = int(memory[row, -1]) - 1 if self.window else NONE
            told = (*self._told[int(memory[row, 0])], (before, tuple(observation.tolist())))
            number = self._numbers.setdefault(told, len(self._told))
            if number == len(self._told):
                self._told.append(told)
            following[row, 0] = number
            logits[row] = table.logits[table.history_of(int(program), told)]
            if (int(program), told) == self.altered:
                logits[row, self.action] = 1_000.0
        return Evaluation(logits, np.zeros(len(programs), np.float32), following)


def proved_alone(environment: Environment[Any], evaluator: Evaluator, program: str, views: dict[str, Any]) -> BodyShown:
    """One body, with the views of its ends found anew; what it calls keeps its contract."""
    known = {name: seen for name, seen in views.items() if name != program}
    deadline, calls = time.monotonic() + SECONDS, partial(real_calls, Interpreter(environment, evaluator), program)
    while True:
        body = show_body(environment, Decisions(environment.library, evaluator), program, known, deadline, calls)
        grown = known.get(program, frozenset()) | body.views
        if body.shortfalls or grown == known.get(program, frozenset()):
            return body
        known[program] = grown


def really_works(environment: Environment[Any], evaluator: Evaluator, program: str, starts: list[Any]) -> bool:
    """Whether no small problem shows a failure."""
    calls = [Call(program, start) for start in starts]
    return all(execution.success for execution in Interpreter(environment, evaluator).run(calls, max_actions=20_000))


def measured(name: str, most: int) -> dict[str, Any]:
    """One agent."""
    agent = alphanpi.load(name)
    environment = agent.environment
    decisions = Decisions(environment.library, agent.evaluator)
    began = time.process_time()
    interpreter = Interpreter(environment, agent.evaluator)
    proofs = prove_programs(environment, decisions, real_calls=partial(real_calls, interpreter))
    record: dict[str, Any] = {"agent": name, "proof_cpu_seconds": round(time.process_time() - began, 1), "programs": {}}
    guard, rng = Guard(environment), np.random.default_rng(SEED)
    for index, (program, proof) in enumerate(proofs.items()):
        least = proof.program.minimum_size
        starts = [guard.initial(program, least + number % SIZES, rng) for number in range(STARTS)]
        places = sorted((decisions.table.window_before(history), mask, history) for history, mask in proof.body.points)
        changes = list(
            dict.fromkeys(
                (told, action)
                for told, mask, history in places
                for action in np.flatnonzero(mask).tolist()
                if action != decisions.decide(history, mask).action
            )
        )
        chosen = rng.permutation(len(changes))[:most].tolist()
        counts = dict.fromkeys(
            ("proved_and_works", "proved_and_fails", "not_proved_and_works", "not_proved_and_fails"), 0
        )
        shown = out_of_time = 0
        began = time.process_time()
        for number in chosen:
            told, action = changes[number]
            altered = Altered(decisions, index, told, action)
            body = proved_alone(environment, altered, program, {one: other.invariant for one, other in proofs.items()})
            examples = [
                start
                for shortfall in body.shortfalls
                for start in shortfall.starts
                if environment.valid(start) and environment.pre(program, start)  # which the solver need not see
            ]
            works = really_works(environment, altered, program, [*starts, *examples])
            counts[f"{'not_proved' if body.shortfalls else 'proved'}_and_{'works' if works else 'fails'}"] += 1
            out_of_time += any(TIME_MET in shortfall.text for shortfall in body.shortfalls)
            shown += bool(examples) and not really_works(environment, altered, program, examples)
        record["programs"][program] = {
            "proved": proof.proved,
            "paths": proof.body.paths,
            "changes_possible": len(changes),
            "changes": len(chosen),
            **counts,
            "fails_from_a_start_of_the_solver": shown,
            "out_of_time": out_of_time,
            "cpu_seconds": round(time.process_time() - began, 1),
        }
        print(program, record["programs"][program], flush=True)
    return record


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="+", help="agents, as `alphanpi verify` takes them")
    parser.add_argument("--changes", type=int, default=30, help="decisions changed for each program, at most")
    parser.add_argument("--out", type=Path, default=Path("results/machine_proofs.json"))
    settings = parser.parse_args()
    records = [measured(name, settings.changes) for name in settings.agents]
    settings.out.write_text(json.dumps({"seed": SEED, "starts": STARTS, "agents": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
