"""Whether all nodes of a cluster compute the same: this package, this Python, the libraries that matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from alphanpi.errors import UsageError
from alphanpi.support.record import Record, parsed_record

PATIENCE = 120.0  # seconds in which every node has to answer; each starts a process for that
_LIBRARIES = ("numpy", "numba", "torch")
_Short = Annotated[str, Field(max_length=100)]


class Versions(Record):
    """What results depend on."""

    alphanpi: _Short | None  # None where it is not installed
    source: _Short  # SHA-256 of all its files
    machine: _Short  # kind of processor
    python: _Short
    numpy: _Short | None
    numba: _Short | None
    torch: _Short | None


def require_same_versions(ray: Any) -> None:
    """Ask every node of the cluster; one line about the first that differs from this process."""
    from ray.exceptions import GetTimeoutError, RayError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    look = _sent_as_it_is()
    here = parsed_record(look(_LIBRARIES), Versions, "this process")
    nodes = [node for node in ray.nodes() if node["Alive"]]
    asked = [
        ray.remote(look)
        .options(num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=True))
        .remote(_LIBRARIES)
        for node in nodes
    ]
    for node, answer in zip(nodes, asked, strict=True):
        where = f"node {node['NodeManagerAddress']} ({node['NodeManagerHostname']}) of the cluster"
        try:
            there = parsed_record(ray.get(answer, timeout=PATIENCE), Versions, where)
        except GetTimeoutError as error:
            raise UsageError(f"{where}: no answer in {PATIENCE:.0f} s") from error
        except RayError as error:
            raise UsageError(f"{where}: it cannot run anything: {str(error).strip().splitlines()[-1]}") from error
        _require_same(where, there, here)


def _require_same(where: str, there: Versions, here: Versions) -> None:
    if there.alphanpi is None:
        raise UsageError(f"{where} has no alphanpi: install alphanpi {here.alphanpi} there")
    for name in Versions.model_fields:
        if name != "source" and getattr(there, name) != getattr(here, name):
            raise UsageError(
                f"{where} has {name} {getattr(there, name)}, this process {getattr(here, name)}: install the same"
            )
    if there.source != here.source:
        raise UsageError(f"{where} has an alphanpi {there.alphanpi} with other source code: install the same")


def _sent_as_it_is() -> Callable[[tuple[str, ...]], str]:
    """A function that tells the versions, as JSON; sent by value, since the package may not be where it is run."""

    def look(libraries: tuple[str, ...]) -> str:
        import hashlib
        import importlib.metadata
        import importlib.util
        import json
        import platform
        import re
        from pathlib import Path

        found: dict[str, str | None] = {"machine": platform.machine(), "python": platform.python_version()}
        for name in libraries:
            try:
                found[name] = importlib.metadata.version(name).partition("+")[0]  # whatever device it is built for
            except importlib.metadata.PackageNotFoundError:
                found[name] = None
        spec = importlib.util.find_spec("alphanpi")
        total, version = hashlib.sha256(), None
        if spec is not None and spec.origin is not None:
            top = Path(spec.origin)
            match = re.search(r'^__version__ = "(.*)"', top.read_text(encoding="utf-8"), re.MULTILINE)
            version = "unknown" if match is None else match[1]
            for file in sorted(top.parent.rglob("*.py")):
                content = file.read_bytes()
                total.update(f"{file.relative_to(top.parent).as_posix()} {len(content)}\n".encode() + content)
        return json.dumps({**found, "alphanpi": version, "source": total.hexdigest()})

    return look
