"""A run under way: read while it is written, and shown to nobody but who knows the address."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import alphanpi
from alphanpi.reporting.live_run import LiveRun
from alphanpi.reporting.watching import LivePage
from alphanpi.runs.directory import RunDirectory
from tests.helpers.commands import assert_one_line
from tests.helpers.compared import write_run
from tests.helpers.runs import metrics


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    run = write_run(tmp_path_factory.mktemp("watched") / "a run")
    with alphanpi.watch(run) as live:
        yield live


def asked(page: LivePage, path: str | None = None, host: str | None = None, method: str = "GET"):
    """What the server answers: status, headers and body; paths are behind the token unless they begin with /."""
    _, _, address, token, _ = page.url.split("/")
    connection = http.client.HTTPConnection(address, timeout=20)
    place = f"/{token}/{path or ''}" if path is None or not path.startswith("/") else path
    connection.putrequest(method, place, skip_host=True)
    for name in [host] if host != "" else []:
        connection.putheader("Host", address if name is None else name)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, body


def test_the_page_and_its_data_are_there(page):
    status, headers, body = asked(page)
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert "<title>a run: training</title>" in body
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"
    status, headers, body = asked(page, "data")
    assert (status, headers["Content-Type"]) == (200, "application/json; charset=utf-8")
    record = json.loads(body)
    assert (record["status"], record["environment"], record["seed"]) == ("learned", "hanoi", 0)
    assert record["curves"]["iteration"] == list(range(1, 21))
    assert record["report"] == f"alphanpi report '{page.live.directory.path}'"


def test_only_who_asks_the_loopback_address_is_answered(page):
    port = page.url.split(":")[2].split("/")[0]
    assert page.url.startswith("http://127.0.0.1:")
    assert asked(page, host=f"localhost:{port}")[0] == 200
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.evil.example:{port}", ""):
        status, _, body = asked(page, host=host)
        assert (status, "training" in body) == (403, False), host


def test_nothing_else_can_be_asked_for(page):
    token = page.url.split("/")[3]
    assert len(token) >= 32
    wrong = ["/", "/data", f"/{token}", f"/{token[:-1]}/", f"/{token}x/data", f"/{token}/data?x=1"]
    wrong += [f"/{token}/../data", f"/{token}/meta.json", f"/{token}/%2e%2e/meta.json", "/../../etc/passwd", "/%C3%A9/"]
    for path in wrong:
        status, _, body = asked(page, path)
        assert (status, body) == (404, "there is nothing here\n"), path
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
        assert asked(page, "data", method=method)[0] == 501


def test_every_page_has_an_address_of_its_own(page, tmp_path):
    with alphanpi.watch(tmp_path / "none") as other:
        assert other.url.split("/")[3] != page.url.split("/")[3]
    with pytest.raises(OSError, match="refused"):
        asked(other)


def test_a_run_is_followed_from_before_it_begins_to_its_end(tmp_path):
    folder = tmp_path / "run"
    live = LiveRun(folder)
    assert (live.read().status, live.read().curves) == ("waiting", None)
    lines = [json.dumps({**line, "exam": ""}) for line in metrics(4)]
    write_run(folder, iterations=1, end=None)
    (folder / "metrics.jsonl").write_text("")
    with RunDirectory(folder).locked():
        assert live.read().status == "running"
        with (folder / "metrics.jsonl").open("a") as file:
            file.write(f"{lines[0]}\n{lines[1][:40]}")
            file.flush()
            record = live.read()
            assert record.curves is not None
            assert (record.curves.iteration, record.damaged) == ([1], 0)
            file.write(f"{lines[1][40:]}\nnonsense\n{lines[2]}\n")
            file.flush()
        record = live.read()
        assert record.curves is not None
        assert (record.curves.iteration, record.damaged) == ([1, 2, 3], 1)
        assert [line.text for line in record.log] == ["level 1: HANOI 100%"]
        assert record.since is not None
    assert live.read().status == "failed"
    replaced = folder / "other"
    replaced.write_text(lines[0] + "\n")
    replaced.rename(folder / "metrics.jsonl")  # as a run that is resumed does
    record = live.read()
    assert record.curves is not None
    assert (record.curves.iteration, record.damaged) == ([1], 0)


def test_a_damaged_run_says_what_is_wrong(tmp_path):
    folder = write_run(tmp_path / "run")
    (folder / "meta.json").write_text("{")
    record = LiveRun(folder).read()
    assert record.status == "waiting"
    assert "meta.json: cannot be read" in record.note


@pytest.mark.parametrize("name", ["meta.json", "metrics.jsonl", "outcome.json", ".lock", "config.toml"])
def test_what_is_no_file_is_not_waited_for(tmp_path, name):
    folder = write_run(tmp_path / "run")
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    assert LiveRun(folder).read().status in ("waiting", "learned", "failed")
    (folder / name).unlink()
    (folder / name).mkdir()
    assert LiveRun(folder).read().status in ("waiting", "learned", "failed")


def test_what_training_tells_is_in_the_log(tmp_path):
    folder = write_run(tmp_path / "run")
    first, *rest = metrics(3)
    told = {"exam": "failed: HANOI 4", "verdict": "REFUTED", "memory": "the window grows", "explanation": "waits"}
    lines = [{**first, "exam": ""}, {**rest[0], **told}]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    record = LiveRun(folder).read()
    assert (record.exam, record.explanation) == ("failed: HANOI 4", "waits")
    assert [(line.kind, line.text) for line in record.log] == [
        ("learned", "level 1: HANOI 67%"),
        ("exam", "failed: HANOI 4"),
        ("verified", "REFUTED"),
        ("memory", "the window grows"),
    ]


def test_bad_arguments_are_one_line(run, tmp_path, page):
    (tmp_path / "file").write_text("")
    assert_one_line(run("watch", tmp_path / "file"), "not a folder")
    assert_one_line(run("watch", tmp_path, "--port", 99999), "port 99999", "65,535")
    port = page.url.split(":")[2].split("/")[0]
    assert_one_line(run("watch", tmp_path, "--port", port), f"port {port}", "another one, or leave it out")


def test_the_command_prints_the_address_and_ends_with_ctrl_c(tmp_path):
    write_run(tmp_path / "run")
    process = subprocess.Popen(
        [sys.executable, "-m", "alphanpi", "watch", "run"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(alphanpi.__file__).parents[1]), "PATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        assert lines[0].startswith("watching run at http://127.0.0.1:")
        assert lines[2:] == ["learned; what was learned:\n", "  alphanpi report run\n"]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, err) == (130, "alphanpi: interrupted\n")


def test_a_browser_is_opened_only_if_asked_for(tmp_path, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with alphanpi.watch(tmp_path):
        assert opened == []
    with alphanpi.watch(tmp_path, open_browser=True) as live:
        assert opened == [live.url]
