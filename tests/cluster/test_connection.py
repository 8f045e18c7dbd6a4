"""Reaching a cluster, or starting one that nobody else can reach; and one line about what is wrong."""

from __future__ import annotations

import socket
import sys
import threading
from pathlib import Path

import pytest

from alphanpi import UsageError, train
from alphanpi.cluster import connection
from alphanpi.cluster.connection import connected
from alphanpi.cluster.hand_shake import Versions, _require_same

ray = pytest.importorskip("ray", reason="Ray is not installed")


def listening() -> set[str]:
    """Addresses and ports of this machine that accept connections from elsewhere."""
    found = set()
    for file in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(file).read_text().splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            if state == "0A" and not address.startswith(("0100007F", "0000000000000000FFFF00000100007F")):
                found.add(address)
    return found


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the system does not list its sockets")
def test_a_local_ray_listens_on_the_loopback_address_alone_and_leaves_nothing_behind():
    before, folders = listening(), set(Path("/tmp").glob("alphanpi-*"))
    with connected(cpus=1, memory=80 * 2**20) as started:
        assert started.get(started.remote(lambda: 1).remote()) == 1
        assert listening() - before == set()
        assert set(Path("/tmp").glob("alphanpi-*")) - folders
        with connected() as again:
            assert again is started
        assert started.is_initialized()
        with pytest.raises(UsageError, match="this process is connected to the cluster at 127"), connected("other:1"):
            pass
    assert not ray.is_initialized()
    assert set(Path("/tmp").glob("alphanpi-*")) <= folders


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:1", r"no Ray cluster can be reached at 127.0.0.1:1: Connection refused"),
        ("ray://127.0.0.1:1", "no Ray cluster can be reached at ray://127.0.0.1:1"),
        ("nobody.invalid:6379", "no Ray cluster can be reached at nobody.invalid:6379"),
        ("somewhere", "'somewhere' is no address of a Ray cluster: give host:port"),
        ("host:99999", "is no address of a Ray cluster"),
    ],
)
def test_a_cluster_that_is_not_there_is_named_in_one_line(address, message):
    with pytest.raises(UsageError, match=message) as caught, connected(address):
        pass
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("answer", "message"), [(b"HTTP/1.1 400 Bad\r\n\r\n", "something else"), (b"", "no answer")])
def test_what_is_no_ray_is_not_waited_for(answer, message, monkeypatch):
    monkeypatch.setattr(connection, "PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            accepted, _ = server.accept()
            accepted.sendall(answer)
            held.append(accepted)

        held: list[socket.socket] = []
        thread = threading.Thread(target=serve)
        thread.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(UsageError, match=message), connected(address):
            pass
        thread.join()
        for accepted in held:
            accepted.close()


def test_without_ray_it_is_said_what_to_install(monkeypatch, run, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    ended = run("train", "hanoi", "--workers", "2", "--out", str(tmp_path / "run"))
    assert ended.code == 2
    assert 'pip install "alphanpi[ray]"' in ended.err
    assert not (tmp_path / "run").exists()


def test_a_cluster_without_workers_and_impossible_numbers_are_refused(tmp_path):
    for settings, message in (
        ({"ray": "auto"}, "say how many"),
        ({"workers": 0}, "workers 0: give a whole number"),
        ({"workers": 2.5}, "workers 2.5"),
    ):
        with pytest.raises(UsageError, match=message):
            train("hanoi", out=tmp_path / "run", **settings)
    assert not (tmp_path / "run").exists()


def test_a_node_with_other_versions_is_named():
    here = Versions(alphanpi="1.0", source="a", machine="x86_64", python="3.11", numpy="2.0", numba="0.6", torch="2.6")
    _require_same("node A", here, here)
    for change, message in (
        ({"alphanpi": None}, "node A has no alphanpi: install alphanpi 1.0 there"),
        ({"alphanpi": "0.9"}, "node A has alphanpi 0.9, this process 1.0"),
        ({"torch": None}, "node A has torch None, this process 2.6"),
        ({"python": "3.12"}, "node A has python 3.12"),
        ({"source": "b"}, "with other source code"),
    ):
        with pytest.raises(UsageError, match=message):
            _require_same("node A", here.model_copy(update=change), here)
