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

if TYPE_CHECKING:
    from alphanpi.api import search
    from alphanpi.bench import bench_search
    from alphanpi.checking import Finding, Report, check
    from alphanpi.config import NetworkConfig, SearchConfig
    from alphanpi.engine.search import Request, Search, Trace
    from alphanpi.engine.tables import Failure
    from alphanpi.model import NPINetwork, create_evaluator, create_network

__version__ = "0.1.0"

# Loaded on first use: torch and numba take a second or more to import.
_LAZY = {
    "Failure": "alphanpi.engine.tables",
    "Finding": "alphanpi.checking",
    "NPINetwork": "alphanpi.model",
    "NetworkConfig": "alphanpi.config",
    "Report": "alphanpi.checking",
    "Request": "alphanpi.engine.search",
    "Search": "alphanpi.engine.search",
    "SearchConfig": "alphanpi.config",
    "Trace": "alphanpi.engine.search",
    "bench_search": "alphanpi.bench",
    "check": "alphanpi.checking",
    "create_evaluator": "alphanpi.model",
    "create_network": "alphanpi.model",
    "search": "alphanpi.api",
}

__all__ = [
    "STOP",
    "AlphaNPIError",
    "Environment",
    "EnvironmentFault",
    "Failure",
    "Finding",
    "Library",
    "NPINetwork",
    "NetworkConfig",
    "Program",
    "Report",
    "Request",
    "Search",
    "SearchConfig",
    "SpecificationError",
    "Trace",
    "UnknownEnvironmentError",
    "UsageError",
    "action",
    "available",
    "bench_search",
    "check",
    "create_evaluator",
    "create_network",
    "make",
    "program",
    "register",
    "search",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'alphanpi' has no attribute {name!r}")
