"""AlphaNPI: learning programs from specifications with neural programmer-interpreters and tree search."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import alphanpi.environments  # noqa: F401 - registers them
from alphanpi.environment import cutoff as _cutoff
from alphanpi.environment import scene as _scene
from alphanpi.environment import specification as _specification
from alphanpi.environment import standalone as _standalone
from alphanpi.environment.registration import register
from alphanpi.environment.registry import available, make
from alphanpi.environment.specification import STOP, Environment, Library, Program, action, program, subproblem
from alphanpi.environment.standalone import Standalone, runtime_source
from alphanpi.errors import (
    AlphaNPIError,
    EnvironmentFault,
    SpecificationError,
    StopTraining,
    UnknownEnvironmentError,
    UsageError,
)

if TYPE_CHECKING:
    from alphanpi.agent.agent import Agent, RunFailed
    from alphanpi.agent.catalogue import PretrainedAgent, agents
    from alphanpi.agent.evaluation import Score, Scores
    from alphanpi.agent.interpreter import Call, Execution, Interpreter
    from alphanpi.agent.loading import load
    from alphanpi.agent.running import Answer, run, trace
    from alphanpi.agent.solving import search
    from alphanpi.bench.device import bench_device
    from alphanpi.bench.exports import bench_export
    from alphanpi.bench.scaling import bench_scale
    from alphanpi.bench.search import bench_search
    from alphanpi.bench.training import bench_train
    from alphanpi.cluster.evaluating import evaluate
    from alphanpi.engine.config import SearchConfig
    from alphanpi.engine.inspection import Decision
    from alphanpi.engine.requests import Request, Trace
    from alphanpi.engine.search import Search
    from alphanpi.engine.tables import Failure
    from alphanpi.environment.checking import CheckReport, Finding, check
    from alphanpi.environment.problems import Problem
    from alphanpi.environment.skeleton import new_env
    from alphanpi.exporting import Export, ExportFailed, Machine, Origin, export, export_evaluator
    from alphanpi.learn.config import TrainConfig
    from alphanpi.learn.iteration import IterationReport
    from alphanpi.network.config import NetworkConfig
    from alphanpi.network.evaluator import Evaluation, Evaluator
    from alphanpi.network.model import NPINetwork, create_evaluator, create_network
    from alphanpi.reporting import (
        ComparisonRecord,
        LivePage,
        Picture,
        ReportRecord,
        compare,
        render,
        report,
        tree,
        watch,
    )
    from alphanpi.sweeping.progress import SweepProgress
    from alphanpi.sweeping.sweep import sweep
    from alphanpi.training.presets import preset
    from alphanpi.training.train import Observer, Outcome, resume, train
    from alphanpi.verification import Certificate, verify, verify_evaluator

__version__ = "0.1.0"

# Environments name these modules by the places where they used to be.
for _name, _module in (
    ("spec", _specification),
    ("scene", _scene),
    ("cutoff", _cutoff),
    ("standalone", _standalone),
):
    sys.modules[f"alphanpi.{_name}"] = globals()[_name] = _module

# Loaded on first use: torch and numba take a second or more to import.
_LAZY = {
    "Agent": "alphanpi.agent.agent",
    "Answer": "alphanpi.agent.running",
    "Call": "alphanpi.agent.interpreter",
    "Certificate": "alphanpi.verification",
    "CheckReport": "alphanpi.environment.checking",
    "ComparisonRecord": "alphanpi.reporting",
    "Decision": "alphanpi.engine.inspection",
    "Evaluation": "alphanpi.network.evaluator",
    "Evaluator": "alphanpi.network.evaluator",
    "Execution": "alphanpi.agent.interpreter",
    "Export": "alphanpi.exporting",
    "ExportFailed": "alphanpi.exporting",
    "Failure": "alphanpi.engine.tables",
    "Finding": "alphanpi.environment.checking",
    "Interpreter": "alphanpi.agent.interpreter",
    "IterationReport": "alphanpi.learn.iteration",
    "LivePage": "alphanpi.reporting",
    "Machine": "alphanpi.exporting",
    "NPINetwork": "alphanpi.network.model",
    "NetworkConfig": "alphanpi.network.config",
    "Observer": "alphanpi.training.train",
    "Origin": "alphanpi.exporting",
    "Outcome": "alphanpi.training.train",
    "Picture": "alphanpi.reporting",
    "PretrainedAgent": "alphanpi.agent.catalogue",
    "Problem": "alphanpi.environment.problems",
    "ReportRecord": "alphanpi.reporting",
    "Request": "alphanpi.engine.requests",
    "RunFailed": "alphanpi.agent.agent",
    "Score": "alphanpi.agent.evaluation",
    "Scores": "alphanpi.agent.evaluation",
    "Search": "alphanpi.engine.search",
    "SearchConfig": "alphanpi.engine.config",
    "SweepProgress": "alphanpi.sweeping.progress",
    "Trace": "alphanpi.engine.requests",
    "TrainConfig": "alphanpi.learn.config",
    "agents": "alphanpi.agent.catalogue",
    "bench_device": "alphanpi.bench.device",
    "bench_export": "alphanpi.bench.exports",
    "bench_scale": "alphanpi.bench.scaling",
    "bench_search": "alphanpi.bench.search",
    "bench_train": "alphanpi.bench.training",
    "check": "alphanpi.environment.checking",
    "compare": "alphanpi.reporting",
    "create_evaluator": "alphanpi.network.model",
    "create_network": "alphanpi.network.model",
    "evaluate": "alphanpi.cluster.evaluating",
    "export": "alphanpi.exporting",
    "export_evaluator": "alphanpi.exporting",
    "load": "alphanpi.agent.loading",
    "new_env": "alphanpi.environment.skeleton",
    "preset": "alphanpi.training.presets",
    "render": "alphanpi.reporting",
    "report": "alphanpi.reporting",
    "resume": "alphanpi.training.train",
    "run": "alphanpi.agent.running",
    "search": "alphanpi.agent.solving",
    "sweep": "alphanpi.sweeping.sweep",
    "trace": "alphanpi.agent.running",
    "train": "alphanpi.training.train",
    "tree": "alphanpi.reporting",
    "verify": "alphanpi.verification",
    "verify_evaluator": "alphanpi.verification",
    "watch": "alphanpi.reporting",
}

__all__ = [
    "STOP",
    "Agent",
    "AlphaNPIError",
    "Answer",
    "Call",
    "Certificate",
    "CheckReport",
    "ComparisonRecord",
    "Decision",
    "Environment",
    "EnvironmentFault",
    "Evaluation",
    "Evaluator",
    "Execution",
    "Export",
    "ExportFailed",
    "Failure",
    "Finding",
    "Interpreter",
    "IterationReport",
    "Library",
    "LivePage",
    "Machine",
    "NPINetwork",
    "NetworkConfig",
    "Observer",
    "Origin",
    "Outcome",
    "Picture",
    "PretrainedAgent",
    "Problem",
    "Program",
    "ReportRecord",
    "Request",
    "RunFailed",
    "Score",
    "Scores",
    "Search",
    "SearchConfig",
    "SpecificationError",
    "Standalone",
    "StopTraining",
    "SweepProgress",
    "Trace",
    "TrainConfig",
    "UnknownEnvironmentError",
    "UsageError",
    "action",
    "agents",
    "available",
    "bench_device",
    "bench_export",
    "bench_scale",
    "bench_search",
    "bench_train",
    "check",
    "compare",
    "create_evaluator",
    "create_network",
    "evaluate",
    "export",
    "export_evaluator",
    "load",
    "make",
    "new_env",
    "preset",
    "program",
    "register",
    "render",
    "report",
    "resume",
    "run",
    "runtime_source",
    "search",
    "subproblem",
    "sweep",
    "trace",
    "train",
    "tree",
    "verify",
    "verify_evaluator",
    "watch",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'alphanpi' has no attribute {name!r}")
