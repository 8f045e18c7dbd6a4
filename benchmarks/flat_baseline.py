"""A flat agent on the same problems: MaskablePPO on atomic actions, beside ours, at equal time.

Writes `results/flat-baseline.json` and a table, `results/flat-baseline.md`. Needs `pip install sb3-contrib`. Both see
problems of the environment's training sizes, get the same seconds of one core (processor time for PPO, so that other
work beside it does not count against it), and are measured on the same instances.
The flat agent is trained twice: on what our network sees of a state, and on the last observations and actions together,
since ours has a memory. Finished seeds are kept below `runs/flat-baseline` and not repeated.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import shutil
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray

import alphanpi
from alphanpi.environment.guard import Guard
from alphanpi.gymnasium import FlatEnvironment
from alphanpi.support.files import write_atomically
from alphanpi.support.versions import versions

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "runs" / "flat-baseline"
RESULTS = ROOT / "results"
HISTORY = 8  # observations and actions that a flat agent with a memory sees
WORKERS, ROLLOUT = 8, 2048  # environments side by side, and steps of all of them together between two updates
EPISODES = 40
SEED = 1000  # of the instances, as in benchmarks/reproduce.py


class Case(NamedTuple):
    """A program, the sizes to measure it at, and how many atomic actions a flat agent may take there."""

    name: str
    environment: str
    program: str
    sizes: tuple[int, ...]
    steps: Callable[[int], int]


CASES = (
    Case("hanoi", "hanoi", "HANOI", (1, 2, 3, 4, 5), lambda size: 20 * 2**size),  # a solution takes less than 6 * 2^n
    Case("recursive-sorting-compare", "recursive-sorting-compare", "BUBBLESORT", (2, 3, 4, 5, 7), lambda n: 50 * n * n),
)


class Remembering(gymnasium.ObservationWrapper[NDArray[np.float32], np.int64, NDArray[np.int16]]):
    """What was seen and done last, side by side, the newest at the end."""

    def __init__(self, environment: FlatEnvironment) -> None:
        super().__init__(environment)
        self.flat = environment
        self.width = len(environment.guard.environment.fields) + len(environment.actions)
        self.observation_space = gymnasium.spaces.Box(-32768, 32767, (HISTORY * self.width,), np.float32)
        self.rows: deque[NDArray[np.float32]] = deque(maxlen=HISTORY)
        self.action = -1

    def reset(self, **arguments: Any) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Forget."""
        self.rows.extend([np.zeros(self.width, np.float32)] * HISTORY)
        self.action = -1
        return super().reset(**arguments)

    def step(self, action: np.int64) -> tuple[NDArray[np.float32], Any, bool, bool, dict[str, Any]]:
        """Remember what is done."""
        self.action = int(action)
        return super().step(action)

    def observation(self, observation: NDArray[np.int16]) -> NDArray[np.float32]:
        """The last rows: an observation, and the action before it as one of n."""
        before = np.zeros(len(self.flat.actions), np.float32)
        if self.action >= 0:
            before[self.action] = 1
        self.rows.append(np.concatenate([observation.astype(np.float32), before]))
        return np.concatenate(self.rows)

    def action_masks(self) -> NDArray[np.bool_]:
        """For MaskablePPO."""
        return self.flat.action_masks()


def flat(case: Case, remembering: bool, max_steps: int) -> gymnasium.Env[Any, Any]:
    """The program as one decision problem, of the environment's training sizes."""
    environment = FlatEnvironment(case.environment, case.program, max_steps=max_steps)
    return Remembering(environment) if remembering else environment


def instances(case: Case, size: int) -> list[Any]:
    """Those on which `alphanpi.evaluate` measures."""
    guard = Guard(alphanpi.make(case.environment))
    return [guard.initial(case.program, size, np.random.default_rng((SEED, size, one))) for one in range(EPISODES)]


def measured_flat(case: Case, remembering: bool, seed: int, seconds: float) -> dict[str, Any]:
    """Train a flat agent for a time, and measure it: its most probable actions, and actions drawn."""
    contrib = importlib.import_module("sb3_contrib")
    monitor = importlib.import_module("stable_baselines3.common.monitor").Monitor
    vectors = importlib.import_module("stable_baselines3.common.vec_env").DummyVecEnv
    largest = max(alphanpi.make(case.environment).train_sizes)
    torch.set_num_threads(1)
    began = time.process_time()

    workers = vectors([lambda: monitor(flat(case, remembering, case.steps(largest)))] * WORKERS)
    agent = contrib.MaskablePPO("MlpPolicy", workers, n_steps=ROLLOUT // WORKERS, seed=seed, device="cpu")
    agent.learn(10**12, callback=lambda *_: time.process_time() - began < seconds)
    elapsed = time.process_time() - began
    scores = []
    for size in case.sizes:
        environment = flat(case, remembering, case.steps(size))
        for mode in ("greedy", "sampled"):
            solved = 0
            for state in instances(case, size):
                observation, info = environment.reset(options={"instance": state})
                ended = False
                while not ended:
                    action, _ = agent.predict(
                        observation, action_masks=info["action_mask"], deterministic=mode == "greedy"
                    )
                    observation, _, terminated, truncated, info = environment.step(action)
                    ended = terminated or truncated
                solved += info["is_success"]
            scores.append({"size": size, "mode": mode, "episodes": EPISODES, "successes": int(solved)})
    kind = "PPO with history" if remembering else "PPO"
    return {"agent": kind, "seconds": round(elapsed, 1), "steps": int(agent.num_timesteps), "scores": scores}


def measured_ours(case: Case, seed: int, seconds: float, run: Path) -> dict[str, Any]:
    """Train our agent for at most the same time."""
    shutil.rmtree(run, ignore_errors=True)
    outcome = alphanpi.train(case.environment, seed=seed, out=run, time_limit=seconds)
    scores = alphanpi.evaluate(outcome, case.program, case.sizes, episodes=EPISODES, mode="greedy", seed=SEED)
    rows = [{name: getattr(score, name) for name in ("size", "mode", "episodes", "successes")} for score in scores]
    return {"agent": "AlphaNPI", "seconds": round(outcome.elapsed, 1), "steps": outcome.iterations, "scores": rows}


AGENTS: dict[str, Callable[[Case, int, float, Path], dict[str, Any]]] = {
    "ours": measured_ours,
    "ppo": lambda case, seed, seconds, _: measured_flat(case, False, seed, seconds),
    "ppo-with-history": lambda case, seed, seconds, _: measured_flat(case, True, seed, seconds),
}


def measured(case: Case, agent: str, seed: int, seconds: float) -> dict[str, Any]:
    """One agent of a seed; what was measured before with the same time is read again."""
    folder = RUNS / case.name / f"seed{seed}-{seconds:g}s"
    finished = folder / f"{agent}.json"
    if not finished.exists():
        row = {"case": case.name, "seed": seed, **AGENTS[agent](case, seed, seconds, folder / "run")}
        write_atomically(finished, json.dumps(row, indent=1) + "\n")
    result: dict[str, Any] = json.loads(finished.read_text())
    return result


def table(results: list[dict[str, Any]], seconds: float) -> str:
    """Success by size, mean over the seeds."""
    lines = [
        "# Flat agents on the same problems",
        "",
        f"Written by `python benchmarks/flat_baseline.py`; {seconds:g} seconds of one core for each agent and seed.",
        f"Mean success over the seeds on {EPISODES} instances of each size. `greedy` takes the most probable action,",
        "`sampled` draws one. PPO is sb3-contrib's MaskablePPO with its default settings on atomic actions and STOP,",
        f"with a reward of 1 for success; with history, it sees the last {HISTORY} observations and actions. All",
        "agents train on the environment's training sizes.",
    ]
    for case in CASES:
        rows = [row for row in results if row["case"] == case.name]
        if not rows:
            continue
        lines += ["", f"## {case.name}", ""]
        lines += ["| agent | mode | seeds | seconds, median | " + " | ".join(map(str, case.sizes)) + " |"]
        lines += ["|" + "---|" * (4 + len(case.sizes))]
        for kind in dict.fromkeys(row["agent"] for row in rows):
            own = [row for row in rows if row["agent"] == kind]
            median = float(np.median([row["seconds"] for row in own]))
            for mode in dict.fromkeys(score["mode"] for score in own[0]["scores"]):
                cells = []
                for size in case.sizes:
                    found = [
                        score["successes"] / score["episodes"]
                        for row in own
                        for score in row["scores"]
                        if (score["size"], score["mode"]) == (size, mode)
                    ]
                    cells.append(f"{np.mean(found):.1%}")
                lines.append(f"| {kind} | {mode} | {len(own)} | {median:g} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure the cases and seeds asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="*", default=["hanoi"], help="hanoi, recursive-sorting-compare")
    parser.add_argument("--seeds", type=int, default=5, help="seeds 0 to this, exclusive")
    parser.add_argument("--agents", nargs="*", choices=AGENTS, default=[*AGENTS])
    parser.add_argument("--seconds", type=float, default=600, help="time for each agent")
    parser.add_argument("--out", type=Path, default=RESULTS / "flat-baseline.json")
    arguments = parser.parse_args()
    results = []
    for case in CASES:
        for seed in range(arguments.seeds) if case.name in arguments.cases else ():
            for agent in arguments.agents:
                row = measured(case, agent, seed, arguments.seconds)
                results.append(row)
                shares = ", ".join(f"{s['mode']} {s['size']}: {s['successes']}/{s['episodes']}" for s in row["scores"])
                print(f"{case.name} seed {seed} {row['agent']}: {shares}", flush=True)
    record = {
        "command": "python benchmarks/flat_baseline.py",
        "seconds": arguments.seconds,
        "platform": f"{platform.platform()}, {os.cpu_count()} cores",
        "packages": versions(("alphanpi", "gymnasium", "stable-baselines3", "sb3-contrib", "torch", "numpy")),
        "results": results,
    }
    write_atomically(arguments.out, json.dumps(record, indent=1) + "\n")
    write_atomically(arguments.out.with_suffix(".md"), table(results, arguments.seconds))
    print(f"wrote {arguments.out} and {arguments.out.with_suffix('.md')}")


if __name__ == "__main__":
    main()
