"""What each mechanism of the default recipe contributes: everything as it is, with one of them taken away.

    python benchmarks/ablations.py --seeds 10 --workers 16

Every variant is trained on the seeds the recipe was chosen on, from 100 on, in every environment, and what it has
learned is run on problems about ten times as large as those of training. Results go to `results/ablations.json` and
`results/ablations.md`; runs that are in the file are not repeated.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from alphanpi.support.files import write_atomically

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
FIRST_SEED = 100
LOOPS = ROOT / "benchmarks" / "loops" / "held_out.py"
EXAMPLES = ROOT / "examples"


class Variant(NamedTuple):
    """A mechanism, and how it is taken away."""

    name: str
    mechanism: str
    settings: dict[str, Any]
    replaced: dict[str, Any] = {}  # by module and attribute: what stands there instead


class Case(NamedTuple):
    """An environment, the time a run may take, and what is asked of an agent that has learned it."""

    environment: str
    time_limit: float
    size: int
    options: dict[str, Any] = {}


class Run(NamedTuple):
    """One training run."""

    case: str
    variant: str
    seed: int


class Measured(NamedTuple):
    """What came of it."""

    case: str
    variant: str
    seed: int
    learned: bool
    iterations: int
    seconds: float
    greedy: float  # share of large problems that the network alone solves; 0 where it has not learned
    planning: float


def _as_they_are(interpreter: Any, traces: Sequence[Any], search: Any, confirmed: Any) -> list[Any]:
    return list(traces)


def _nothing_solved(trainer: Any) -> list[Any]:
    trainer.validation.solved()
    return []


VARIANTS = [
    Variant("none", "nothing", {}),
    Variant("failed-calls-exploring", "a failed call forbids the child", {"search.failed_call_exploration": "discard"}),
    Variant("failed-calls-planning", "the same in planning", {"search.failed_call_exploitation": "discard"}),
    Variant("penalty-where-possible", "recursion is asked for", {"search.recursion_penalty_where": "legal"}),
    Variant("recursion-bonus", "recursive calls are worth more", {"search.recursion_bonus": 0.0}),
    Variant("level-term-decays", "the level term fades", {"search.level_term": "constant"}),
    Variant("noise-concentration", "noise is spread", {"search.noise_concentration": 0.03}),
    Variant("c-puct-planning", "more exploration when planning", {"search.c_puct_planning": 0.5}),
    Variant("policy-by-value", "the policy follows successes", {"learning.policy_weight": "uniform"}),
    Variant("reverse-divergence", "reversed divergence", {"learning.consensus": 0.0}),
    Variant("value-weight", "value loss weighs half", {"learning.value_weight": 1.0}),
    Variant("gradient-clip", "limited gradients", {"learning.gradient_clip": 0.0}),
    Variant("falling-rate", "falling learning rate", {"learning.slowest": 1.0}),
    Variant("weight-average", "moving average of weights", {"learning.weight_average": 0.0}),
    Variant("weak-programs", "failing programs are drawn more", {"learning.weak_program_weight": 0.0}),
    Variant("mastered-share", "more successes of mastered programs", {"replay.positive_fraction_mastered": 0.7}),
    Variant("renewal", "weights move towards fresh ones", {"learning.renewed_share": 0.0}),
    Variant("thrift", "needless recursive calls are left out", {"replay.thrifty": False}),
    Variant("all-programs", "all programs in every iteration", {"episodes.programs": "one"}),
    Variant("all-sizes", "all sizes in every iteration", {"episodes.sizes": "one"}),
    Variant("base-case", "the smallest problem is practised", {"episodes.base_case": False}),
    Variant("error-starts", "failed starts are practised", {"episodes.error_fraction": 0.0}),
    Variant("called-starts", "calls are practised", {"episodes.called_fraction": 0.0}),
    Variant("called-validation", "called programs are validated more", {"validation.called_program_factor": 1}),
    Variant("together", "several problems, one policy", {"episodes.together": 1}),
    Variant("trials", "trials and revisions", {"episodes.trials": 0}),
    Variant("revisions", "revisions", {"episodes.revisions": 0}),
    Variant("trial-weights", "weights by trial", {}, {"alphanpi.learn.trainer._SLACK": 1e9}),
    Variant("own-ways", "the agent's own ways", {}, {"alphanpi.learn.trainer.own_ways": _as_they_are}),
    Variant("solved-ways", "ways of validation", {}, {"alphanpi.learn.trainer.Trainer._solved_ways": _nothing_solved}),
    Variant("disagreement", "priorities by disagreement", {}, {"alphanpi.learn.situation_table._PRIORITY": 0.0}),
    Variant("latest", "latest steps alone say what to do", {}, {"alphanpi.learn.trainer.LATEST": None}),
    Variant("curriculum-temperature", "failing programs are played more", {"curriculum.temperature": 0.0}),
    Variant("patience", "two validations in a row", {"curriculum.patience": 1}),
    Variant("search-exam", "exam against needless search", {"validation.exam_search_episodes": 0}),
    Variant("planning-exam", "exam with search", {"validation.exam_planning_episodes": 0}),
    Variant("far-exam", "exam on large problems", {"validation.far_exam_episodes": 0}),
    Variant("growing-window", "the window grows", {"network.largest_window": 1}),
    Variant("window", "a window of one observation", {"network.window": 0}),
]

CASES = {
    "binary-search": Case("binary-search", 12, 40),
    "topological-sort": Case("topological-sort", 12, 40),
    "insertion-sort": Case("insertion-sort", 12, 40),
    "string-matching": Case("string-matching", 15, 40),
    "merge-sort": Case("merge-sort", 15, 40),
    "quicksort": Case("quicksort", 20, 60),
    "brackets": Case("brackets", 25, 60),
    "addition": Case("addition", 45, 30),
    "hanoi": Case("hanoi", 25, 8),
    "recursive-sorting-compare": Case("recursive-sorting", 50, 40, {"observation": "compare"}),
    "recursive-sorting": Case("recursive-sorting", 70, 40),
    "sorting": Case("sorting", 50, 40),
    "lights": Case(f"{EXAMPLES}/lights.py", 12, 40),
    "adder": Case(f"{EXAMPLES}/adder.py", 40, 30),
    "running-parity": Case(f"{LOOPS}:RunningParity", 12, 40),
    "keep-nonzero": Case(f"{LOOPS}:KeepNonzero", 12, 40),
    "paint-wall": Case(f"{LOOPS}:PaintWall", 12, 40),
    "fetch-ring": Case(f"{LOOPS}:FetchRing", 12, 40),
    "signals": Case(f"{LOOPS}:Signals", 90, 40),
}
SLOW = {"signals": {"none", "growing-window", "trials", "revisions", "together", "solved-ways", "disagreement"}}
"""Variants that a case is run with, where not with all."""


@contextmanager
def _taken_away(variant: Variant) -> Iterator[None]:
    with_patches = [patch(target, value) for target, value in variant.replaced.items()]
    for one in with_patches:
        one.start()
    try:
        yield
    finally:
        for one in reversed(with_patches):
            one.stop()


def measure(run: Run) -> Measured:
    """Train and look at what was learned."""
    import alphanpi

    case, variant = CASES[run.case], next(one for one in VARIANTS if one.name == run.variant)
    with tempfile.TemporaryDirectory() as folder, _taken_away(variant):
        outcome = alphanpi.train(
            case.environment,
            seed=run.seed,
            out=Path(folder) / "run",
            settings=variant.settings,
            time_limit=case.time_limit,
            **case.options,
        )
        shares = dict.fromkeys(("greedy", "planning"), 0.0)
        if outcome.completed:
            program = outcome.agent.environment.library.learned[-1].name
            for mode, episodes in (("greedy", 20), ("planning", 10)):
                (score,) = outcome.agent.evaluate(
                    program, [case.size], mode=mode, episodes=episodes, seed=1000, max_actions=400_000
                )
                shares[mode] = score.rate
    return Measured(*run, outcome.completed, outcome.iterations, round(outcome.elapsed, 2), **shares)


def _work(waiting: Any, done: Any) -> None:
    for run in iter(waiting.get, None):
        try:
            done.put(measure(run))
        except Exception as error:  # told, and not counted
            done.put(f"{run}: {type(error).__name__}: {error}")


def measure_all(runs: Sequence[Run], workers: int, deadline: float, keep: Callable[[Measured], None]) -> None:
    """Runs side by side, in processes that each do one after another."""
    context = multiprocessing.get_context("spawn")
    waiting, done = context.Queue(), context.Queue()
    for run in runs:
        waiting.put(run)
    processes = [context.Process(target=_work, args=(waiting, done), daemon=True) for _ in range(workers)]
    for process in processes:
        process.start()
    for number in range(len(runs)):
        left = deadline - time.monotonic()
        if left <= 0:
            break
        try:
            found = done.get(timeout=min(left, 1e6))
        except Exception:  # the time is over
            break
        if isinstance(found, str):
            print(found, flush=True)
        else:
            keep(found)
            print(f"{number + 1} of {len(runs)}: {found}", flush=True)
    for process in processes:
        process.terminate()


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=list(CASES), help=f"some of: {', '.join(CASES)}")
    parser.add_argument("--variants", nargs="*", default=[one.name for one in VARIANTS])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--workers", type=int, default=1, help="runs side by side, one core each")
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which no more results are waited for")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    arguments = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["ALPHANPI_QUIET"] = "1"
    deadline = time.monotonic() + arguments.seconds
    file = arguments.out / "ablations.json"
    arguments.out.mkdir(parents=True, exist_ok=True)
    measured = [Measured(**one) for one in json.loads(file.read_text())] if file.is_file() else []
    known = {Run(one.case, one.variant, one.seed) for one in measured}
    wanted = [
        Run(case, variant, arguments.first_seed + seed)
        for seed in range(arguments.seeds)
        for variant in arguments.variants
        for case in arguments.cases
        if variant in SLOW.get(case, {variant})
    ]

    def keep(one: Measured) -> None:
        measured.append(one)
        write_atomically(file, json.dumps([kept._asdict() for kept in measured]).replace("}, {", "},\n {") + "\n")

    measure_all([run for run in wanted if run not in known], arguments.workers, deadline, keep)


if __name__ == "__main__":
    main()
