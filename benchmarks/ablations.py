"""What each mechanism of the default recipe contributes.

    python benchmarks/ablations.py --workers 16

Taking one mechanism away at a time needs ten seeds of each for a rough answer. Here a run leaves about half of them
out, by a two-level screening design (a Hadamard matrix and its fold-over, Plackett and Burman 1946): each mechanism is
absent in half of the 32 runs of an environment, and every other one is present and absent equally often on both
sides. So all runs speak of every mechanism, and what two of them do together does not blur what one does.

Seeds are those the recipe was chosen on, 100 to 109. What was learned is run on problems about ten times as large as
those of training. Runs go to `ablations-next.json`, runs that are there are not repeated; `--report` writes
`ablations-next.md`. What was found so far is in `results/ablations.md`.

    python benchmarks/ablations.py addition sorting --of penalty trials --name ablations-some

does the same with some mechanisms on some environments, all others being present.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from alphanpi.support.files import write_atomically

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
FIRST_SEED, SEEDS = 100, 10
HALF = 16  # rows of the design; as many again of the fold-over
LOOPS = ROOT / "benchmarks" / "loops" / "held_out.py"
EXAMPLES = ROOT / "examples"


class Mechanism(NamedTuple):
    """What can be taken away, and how."""

    name: str
    what: str
    settings: dict[str, Any]
    replaced: Mapping[str, Any] = MappingProxyType({})  # by module and attribute: what stands there instead


class Case(NamedTuple):
    """An environment, the time a run may take, and what is asked of an agent that has learned it."""

    environment: str
    time_limit: float
    size: int
    options: Mapping[str, Any] = MappingProxyType({})


class Run(NamedTuple):
    """One training run."""

    case: str
    without: tuple[str, ...]
    seed: int


class Measured(NamedTuple):
    """What came of it."""

    case: str
    without: tuple[str, ...]
    seed: int
    learned: bool
    iterations: int
    seconds: float
    greedy: float  # share of large problems that the network alone solves; 0 where it has not learned
    planning: float

    @property
    def run(self) -> Run:
        """What was run."""
        return Run(self.case, self.without, self.seed)

    @property
    def works(self) -> bool:
        """Whether what was learned solves all large problems."""
        return self.learned and self.greedy == self.planning == 1


class Effect(NamedTuple):
    """What a mechanism does: how much more is needed without it, with a 95 % interval."""

    estimate: float
    low: float
    high: float


def _sizes_given(starts: Any, program: Any) -> list[int]:
    known = starts.settings.train_sizes or program.sizes_to_train(starts.environment.train_sizes)
    return sorted(size for size in set(known) if size >= program.minimum_size)


MECHANISMS = [
    Mechanism("failed-calls", "a failed call forbids the child", {"search.failed_call": "discard"}),
    Mechanism("penalty", "recursion is asked for where possible", {"search.recursion_penalty_where": "legal"}),
    Mechanism("c-puct-planning", "more exploration when planning", {"search.c_puct_planning": 0.5}),
    Mechanism("growing-window", "the window grows", {"network.largest_window": 1}),
    Mechanism("error-starts", "practice where validation failed", {"episodes.error_fraction": 0.0}),
    Mechanism("smallest", "practice on the smallest problem", {}, {"alphanpi.learn.starts.Starts.sizes": _sizes_given}),
    Mechanism("called-programs", "called programs are validated more", {"validation.called_program_factor": 1}),
    Mechanism("together", "several problems, one policy", {"episodes.together": 1}),
    Mechanism("trials", "weights by trial", {}, {"alphanpi.learn.situation_table._SCORE_SCALE": 1e9}),
    Mechanism("positives", "mastered programs: more successes", {"replay.positive_fraction_mastered": 0.7}),
    Mechanism("far-exam", "exam on large problems", {"validation.far_exam_factor": 0}),
]

KEPT = "a window, gradient steps on situations, successes weighted by value, the geometric mean of targets"

CASES = {
    "binary-search": Case("binary-search", 12, 40),
    "topological-sort": Case("topological-sort", 12, 40),
    "insertion-sort": Case("insertion-sort", 12, 40),
    "string-matching": Case("string-matching", 15, 40),
    "merge-sort": Case("merge-sort", 15, 40),
    "quicksort": Case("quicksort", 20, 60),
    "brackets": Case("brackets", 15, 60),
    "addition": Case("addition", 40, 30),
    "hanoi": Case("hanoi", 20, 8),
    "recursive-sorting-compare": Case("recursive-sorting", 40, 40, {"observation": "compare"}),
    "recursive-sorting": Case("recursive-sorting", 50, 40),
    "sorting": Case("sorting", 45, 40),
    "lights": Case(f"{EXAMPLES}/lights.py", 12, 40),
    "adder": Case(f"{EXAMPLES}/adder.py", 20, 30),
    "running-parity": Case(f"{LOOPS}:RunningParity", 12, 40),
    "keep-nonzero": Case(f"{LOOPS}:KeepNonzero", 12, 40),
    "paint-wall": Case(f"{LOOPS}:PaintWall", 12, 40),
    "fetch-ring": Case(f"{LOOPS}:FetchRing", 12, 40),
    "signals": Case(f"{LOOPS}:Signals", 90, 40),
    "tournament": Case(f"{ROOT}/benchmarks/held_out/tournament.py", 15, 40),
}


def design(mechanisms: int) -> NDArray[np.bool_]:
    """Which mechanisms each row leaves out; [2 * HALF, mechanisms]."""
    matrix = np.ones((1, 1), int)
    while len(matrix) < HALF:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    # The first ones are columns of which none is the product of two or three others, so that a few are not confused.
    columns = matrix[:, [1, 2, 4, 8, 15, 3, 5, 6, 7, 9, 10, 11, 12, 13, 14][:mechanisms]]
    return np.concatenate([columns, -columns]) < 0


def runs_of(case: str, mechanisms: Sequence[Mechanism]) -> list[Run]:
    """The runs of an environment; a row and its opposite have the same seed."""
    return [
        Run(
            case,
            tuple(one.name for one, absent in zip(mechanisms, row, strict=True) if absent),
            FIRST_SEED + number % HALF % SEEDS,
        )
        for number, row in enumerate(design(len(mechanisms)).tolist())
    ]


@contextmanager
def _without(names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The settings; code is replaced for as long as this lasts."""
    taken = [one for one in MECHANISMS if one.name in names]
    with ExitStack() as stack:
        for one in taken:
            for target, value in one.replaced.items():
                stack.enter_context(patch(target, value))
        yield {key: value for one in taken for key, value in one.settings.items()}


def measure(run: Run) -> Measured:
    """Train and look at what was learned."""
    import alphanpi

    case = CASES[run.case]
    with tempfile.TemporaryDirectory() as folder, _without(run.without) as settings:
        outcome = alphanpi.train(
            case.environment,
            seed=run.seed,
            out=Path(folder) / "run",
            settings=settings,
            time_limit=case.time_limit,
            **case.options,
        )
        greedy = planning = 0.0
        if outcome.completed:
            program = outcome.agent.environment.library.learned[-1].name
            (greedy, planning) = (
                outcome.agent.evaluate(
                    program, [case.size], mode=mode, episodes=episodes, seed=1000, max_actions=400_000
                )[0].rate
                for mode, episodes in (("greedy", 20), ("planning", 10))
            )
    return Measured(*run, outcome.completed, outcome.iterations, round(outcome.elapsed, 2), greedy, planning)


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


def effects(
    measured: Sequence[Measured], mechanisms: Sequence[Mechanism], response: Callable[[Measured], float]
) -> list[Effect]:
    """Least squares of a response on the presence of the mechanisms, and on the environments; one effect each."""
    cases = sorted({one.case for one in measured})
    absent = np.array([[one.name in run.without for one in mechanisms] for run in measured], float)
    blocks = np.array([[run.case == case for case in cases] for run in measured], float)
    design = np.concatenate([absent, blocks], axis=1)
    found = np.array([response(run) for run in measured])
    solution, *_ = np.linalg.lstsq(design, found, rcond=None)
    freedom = max(1, len(found) - design.shape[1])
    variance = ((found - design @ solution) ** 2).sum() / freedom * np.linalg.pinv(design.T @ design).diagonal()
    half = 2.0 * np.sqrt(variance[: len(mechanisms)])  # 2.04 at 32 degrees of freedom
    return [
        Effect(*one)
        for one in np.stack(
            [solution[: len(half)], solution[: len(half)] - half, solution[: len(half)] + half], 1
        ).tolist()
    ]


def report(measured: Sequence[Measured], name: str) -> str:
    """The effects in words and figures."""
    mechanisms = [one for one in MECHANISMS if any(one.name in run.without for run in measured)]
    cases = [case for case in CASES if any(one.case == case for one in measured)]
    lines = [
        "# What each mechanism contributes",
        "",
        f"Written by `benchmarks/ablations.py --name {name} --report` from `{name}.json`, and says how:",
        f"{len(measured)} runs, about half of the mechanisms below absent in each, so that every one is absent in half",
        f"of them; everything else is always present, such as {KEPT}.",
        "",
        "*Time*: by how much seconds until learned are multiplied where the mechanism is taken away (runs that did",
        "not learn count as their limit), with a 95 % interval; above 1, it helps. *Works*: the change, in percentage",
        "points, of the runs that learn and then solve all large problems, greedy and planning. Bold: the interval",
        "leaves 1 or 0 out.",
        "",
        "| taken away | time | works | time by environment, where the interval leaves 1 out |",
        "|---|---|---|---|",
    ]

    def seconds(one: Measured) -> float:
        return math.log(one.seconds if one.learned else CASES[one.case].time_limit)

    def share(one: Measured) -> float:
        return 100.0 * one.works

    by_case = {case: effects([one for one in measured if one.case == case], mechanisms, seconds) for case in cases}
    pairs = zip(mechanisms, effects(measured, mechanisms, seconds), effects(measured, mechanisms, share), strict=True)
    for number, (mechanism, time_effect, works) in enumerate(pairs):
        single = [(case, by_case[case][number]) for case in cases]
        told = ", ".join(f"{case} {_factor(one)}" for case, one in single if one.low > 0 or one.high < 0)
        points = f"{works.estimate:+.1f} ({works.low:+.1f} to {works.high:+.1f})"
        lines.append(f"| {mechanism.what} | {_factor(time_effect)} | {_bold(points, works)} | {told} |")
    lines += ["", "| environment | runs | learned | works | median seconds |", "|---|---|---|---|---|"]
    for case in cases:
        own = [one for one in measured if one.case == case]
        learned, works_in = sum(one.learned for one in own), sum(one.works for one in own)
        median = np.median([one.seconds if one.learned else CASES[case].time_limit for one in own])
        lines.append(f"| {case} | {len(own)} | {learned} | {works_in} | {median:.1f} |")
    return "\n".join(lines) + "\n"


def _bold(text: str, effect: Effect) -> str:
    return f"**{text}**" if effect.low > 0 or effect.high < 0 else text


def _factor(effect: Effect) -> str:
    estimate, low, high = (math.exp(one) for one in effect)
    return _bold(f"{estimate:.2f} ({low:.2f} to {high:.2f})", effect)


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=list(CASES), help=f"some of: {', '.join(CASES)}")
    names = [one.name for one in MECHANISMS]
    parser.add_argument("--of", nargs="+", choices=names, default=names, help="mechanisms that are taken away")
    parser.add_argument("--name", default="ablations-next", help="of the files of results")
    parser.add_argument("--workers", type=int, default=1, help="runs side by side, one core each")
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which no more results are waited for")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--report", action="store_true", help="write what there is, and run nothing")
    arguments = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["ALPHANPI_QUIET"] = "1"
    deadline = time.monotonic() + arguments.seconds
    file = arguments.out / f"{arguments.name}.json"
    arguments.out.mkdir(parents=True, exist_ok=True)
    kept = json.loads(file.read_text()) if file.is_file() else []
    measured = [Measured(**{**one, "without": tuple(one["without"])}) for one in kept]
    if arguments.report:
        write_atomically(arguments.out / f"{arguments.name}.md", report(measured, arguments.name))
        return
    known = {one.run for one in measured}
    mechanisms = [one for one in MECHANISMS if one.name in arguments.of]
    wanted = [run for case in arguments.cases for run in runs_of(case, mechanisms) if run not in known]
    wanted.sort(key=lambda run: runs_of(run.case, mechanisms).index(run))  # row by row

    def keep(one: Measured) -> None:
        measured.append(one)
        write_atomically(file, json.dumps([found._asdict() for found in measured]).replace("}, {", "},\n {") + "\n")

    measure_all(wanted, arguments.workers, deadline, keep)


if __name__ == "__main__":
    main()
