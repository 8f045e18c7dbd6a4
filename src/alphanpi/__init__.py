"""AlphaNPI: learning programs from specifications with neural programmer-interpreters and tree search."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from alphanpi.errors import (
    AlphaNPIError,
    EnvironmentFault,
    SpecificationError,
    UnknownEnvironmentError,
    UsageError,
)
from alphanpi.registry import available, make, register
from alphanpi.spec import STOP, Environment, Library, Program, action, program
from alphanpi.standalone import Standalone, runtime_source

if TYPE_CHECKING:
    from alphanpi.agent import Agent, load
    from alphanpi.api import search
    from alphanpi.bench import bench_search, bench_train
    from alphanpi.bench_exports import bench_export
    from alphanpi.checking import Finding, Report, check
    from alphanpi.config import NetworkConfig, SearchConfig, TrainConfig
    from alphanpi.engine.requests import Request, Trace
    from alphanpi.engine.search import Search
    from alphanpi.engine.tables import Failure
    from alphanpi.evaluation import Score, evaluate
    from alphanpi.exporting import Export, ExportFailed, Machine, Origin, export, export_evaluator
    from alphanpi.interpreter import Call, Execution
    from alphanpi.learn.train import Outcome, resume, train
    from alphanpi.model import NPINetwork, create_evaluator, create_network
    from alphanpi.reporting import render, report, tree
    from alphanpi.skeleton import new_env
    from alphanpi.verification import Certificate, verify, verify_evaluator

__version__ = "0.1.0"

# Loaded on first use: torch and numba take a second or more to import.
_LAZY = {
    "Agent": "alphanpi.agent",
    "Call": "alphanpi.interpreter",
    "Certificate": "alphanpi.verification",
    "Execution": "alphanpi.interpreter",
    "Export": "alphanpi.exporting",
    "ExportFailed": "alphanpi.exporting",
    "Failure": "alphanpi.engine.tables",
    "Finding": "alphanpi.checking",
    "Machine": "alphanpi.exporting",
    "NPINetwork": "alphanpi.model",
    "NetworkConfig": "alphanpi.config",
    "Origin": "alphanpi.exporting",
    "Outcome": "alphanpi.learn.train",
    "Report": "alphanpi.checking",
    "Request": "alphanpi.engine.requests",
    "Score": "alphanpi.evaluation",
    "Search": "alphanpi.engine.search",
    "SearchConfig": "alphanpi.config",
    "Trace": "alphanpi.engine.requests",
    "TrainConfig": "alphanpi.config",
    "bench_export": "alphanpi.bench_exports",
    "bench_search": "alphanpi.bench",
    "bench_train": "alphanpi.bench",
    "check": "alphanpi.checking",
    "create_evaluator": "alphanpi.model",
    "create_network": "alphanpi.model",
    "evaluate": "alphanpi.evaluation",
    "export": "alphanpi.exporting",
    "export_evaluator": "alphanpi.exporting",
    "load": "alphanpi.agent",
    "new_env": "alphanpi.skeleton",
    "render": "alphanpi.reporting",
    "report": "alphanpi.reporting",
    "resume": "alphanpi.learn.train",
    "search": "alphanpi.api",
    "train": "alphanpi.learn.train",
    "tree": "alphanpi.reporting",
    "verify": "alphanpi.verification",
    "verify_evaluator": "alphanpi.verification",
}

__all__ = [
    "STOP",
    "Agent",
    "AlphaNPIError",
    "Call",
    "Certificate",
    "Environment",
    "EnvironmentFault",
    "Execution",
    "Export",
    "ExportFailed",
    "Failure",
    "Finding",
    "Library",
    "Machine",
    "NPINetwork",
    "NetworkConfig",
    "Origin",
    "Outcome",
    "Program",
    "Report",
    "Request",
    "Score",
    "Search",
    "SearchConfig",
    "SpecificationError",
    "Standalone",
    "Trace",
    "TrainConfig",
    "UnknownEnvironmentError",
    "UsageError",
    "action",
    "available",
    "bench_export",
    "bench_search",
    "bench_train",
    "check",
    "create_evaluator",
    "create_network",
    "evaluate",
    "export",
    "export_evaluator",
    "load",
    "make",
    "new_env",
    "program",
    "register",
    "render",
    "report",
    "resume",
    "runtime_source",
    "search",
    "train",
    "tree",
    "verify",
    "verify_evaluator",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'alphanpi' has no attribute {name!r}")
