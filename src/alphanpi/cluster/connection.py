"""Ray: connected to at the user's address, or started on this machine for one command.

    with connected(address, cpus=4) as ray:
        ...  # the module `ray`, initialised; every node has this package, in this version

What is wrong is said in one line, as a UsageError: Ray is not installed, nobody answers at the address within
`PATIENCE` seconds, or a node has no alphanpi, or another one, or another Python or torch, and would compute other bits.

Without an address, Ray is started for as long as the `with` lasts. It then listens on the loopback address alone, has
no dashboard and sends no usage statistics; its files are in a folder of its own that is removed afterwards. A process
that has called `ray.init` itself keeps its connection, and is not disconnected.
"""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from alphanpi.cluster.hand_shake import require_same_versions
from alphanpi.errors import UsageError
from alphanpi.support.optional import MissingPackageError

PATIENCE = 20.0  # seconds until a cluster that does not answer is given up
MEMORY = 256 * 2**20  # bytes of a local Ray's object store: weights and chunks are small
AUTOMATIC = "auto"  # the address by which Ray finds the cluster this machine is a node of
_CLIENT = "ray://"
_LOOPBACK = "127.0.0.1"
_LOOPBACK_NAMES = (_LOOPBACK, "localhost", "::1")
# On macOS Ray keeps to the loopback address by itself, which the first of these is named after. By the second, workers
# are no less important than the command that waits for them.
_HERE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_worker_niceness": "0"}
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # and empty SETTINGS: RFC 9113
_FRAME, _SETTINGS = 9, 4  # bytes of a frame's head, and the type of the first one a server sends


@contextmanager
def connected(address: str | None = None, *, cpus: int | None = None, memory: int = MEMORY) -> Iterator[Any]:
    """The module `ray`, connected.

    Args:
        address: `host:port` of a cluster's head, `ray://host:port`, or `auto`; a local Ray is started if not given.
        cpus: What a local Ray counts on, one for each task or actor; the machine's own number if not given.
        memory: Bytes of a local Ray's object store.
    """
    ray = _installed()
    if ray.is_initialized():
        _require_same(ray, address)
        yield ray
        return
    handler = signal.getsignal(signal.SIGTERM)
    with _local(ray, cpus, memory) if address is None else _remote(ray, address):
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)  # Ray has put its own in its place
        require_same_versions(ray)
        yield ray


def _installed() -> Any:
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ModuleNotFoundError as error:
        raise MissingPackageError('workers need Ray, which is not installed: pip install "alphanpi[ray]"') from error
    return ray


def _require_same(ray: Any, address: str | None) -> None:
    now = ray.get_runtime_context().gcs_address
    if address not in (None, AUTOMATIC, now):
        raise UsageError(f"this process is connected to the cluster at {now}; call ray.shutdown() before {address}")


@contextmanager
def _local(ray: Any, cpus: int | None, memory: int) -> Iterator[None]:
    # A path with a socket in it must be short, which that of a user's own folder for such things may not be.
    with (
        tempfile.TemporaryDirectory(prefix="alphanpi-", dir="/tmp", ignore_cleanup_errors=True) as folder,
        _loopback_only(),
        _session(ray, "Ray cannot be started on this machine"),
    ):
        ray.init(
            "local",
            num_cpus=cpus,
            object_store_memory=memory,
            include_dashboard=False,
            logging_level="ERROR",
            log_to_driver=False,
            _node_ip_address=_LOOPBACK,
            _temp_dir=folder,
        )
        if [node["NodeManagerAddress"] for node in ray.nodes()] != [_LOOPBACK]:
            raise UsageError("the local Ray does not keep to the loopback address; give --ray a cluster of your own")
        yield


@contextmanager
def _remote(ray: Any, address: str) -> Iterator[None]:
    failed = f"no Ray cluster can be reached at {address}"
    loopback = address != AUTOMATIC and _on_loopback(ray, address, failed)
    with _loopback_only(loopback), _session(ray, failed):
        ray.init(address, logging_level="ERROR", log_to_driver=False)
        yield


@contextmanager
def _session(ray: Any, failed: str) -> Iterator[None]:
    """What Ray raises while it is not connected yet, in one line; what it tells later, not among a command's output."""
    from ray._private import worker

    told, worker.print_to_stdstream = worker.print_to_stdstream, _silent  # of dead nodes, say; it is on standard output
    try:
        yield
    except Exception as error:  # Ray raises all sorts; where it takes too long to start, nothing but this
        if ray.is_initialized():
            raise
        raise UsageError(f"{failed}: {str(error).strip().splitlines()[0] or type(error).__name__}") from error
    finally:
        ray.shutdown()
        worker.print_to_stdstream = told


def _silent(*_: Any, **__: Any) -> None:
    """Says nothing."""


@contextmanager
def _loopback_only(wanted: bool = True) -> Iterator[None]:
    """Let Ray, and the processes it starts, take the loopback address for this machine's, and our own priority."""
    from ray._private import ray_constants

    before, constant = {name: os.environ.get(name) for name in _HERE}, ray_constants.ENABLE_RAY_CLUSTER
    if wanted:
        os.environ.update(_HERE)
        ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = constant
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _on_loopback(ray: Any, address: str, failed: str) -> bool:
    """Whether the cluster listens on the loopback address alone; Ray waits for minutes where nobody answers."""
    host, _, port = address.removeprefix(_CLIENT).rpartition(":")
    if not host or not port.isdecimal() or int(port) > 2**16 - 1:
        raise UsageError(f"{address!r} is no address of a Ray cluster: give host:port, ray://host:port or auto")
    loopback = host in _LOOPBACK_NAMES
    if loopback and not address.startswith(_CLIENT) and _answers(ray.util.get_node_ip_address(), int(port)) is None:
        return False
    reason = _answers(host.strip("[]"), int(port))
    if reason is not None:
        raise UsageError(f"{failed}: {reason}; is it running, and the port open?")
    return loopback and not address.startswith(_CLIENT)


def _answers(host: str, port: int) -> str | None:
    """Why nobody who speaks gRPC answers; None if somebody does."""
    try:
        with socket.create_connection((host, port), timeout=PATIENCE) as connection:
            if os.environ.get("RAY_USE_TLS", "0") not in ("0", ""):
                return None  # it would not understand us
            connection.sendall(_PREFACE)
            head = b""
            while len(head) < _FRAME and (more := connection.recv(_FRAME - len(head))):
                head += more
    except TimeoutError:
        return f"no answer in {PATIENCE:.0f} s"
    except OSError as error:
        return error.strerror or str(error)
    return None if len(head) == _FRAME and head[3] == _SETTINGS else "something else listens there"
