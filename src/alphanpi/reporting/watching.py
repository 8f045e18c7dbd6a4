"""A run's page while it is being trained, from a small server that only this machine, and only its user, can ask.

It listens on the loopback address. Other users and other programs of the machine do not know the random token in its
address; a web page that made the browser ask, by a name that leads to this address, is given away by the Host header.
There is nothing to ask for but the page and its data, and no file is ever named by who asks.
"""

from __future__ import annotations

import secrets
import threading
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from alphanpi.errors import UsageError
from alphanpi.reporting.live_run import LiveRun
from alphanpi.reporting.page_file import to_html, to_json
from alphanpi.support.limits import whole

ADDRESS = "127.0.0.1"
_MOST_PORT = 65535
_CONNECTION_SECONDS = 10
_POLL_SECONDS = 0.05  # how long closing may take
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class LivePage:
    """A run's page at an address of this machine, until it is closed or the process ends; a context manager."""

    def __init__(self, run: str | Path, port: int = 0) -> None:
        self.live = LiveRun(Path(run))
        try:
            self._server = _Server((ADDRESS, port), self.live)
        except OSError as error:
            raise UsageError(f"port {port}: {error.strerror or error}; give another one, or leave it out") from error
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_POLL_SECONDS,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where the page is; whoever knows it can see the run."""
        return f"http://{ADDRESS}:{self._server.server_port}/{self._server.token}/"

    def wait(self, seconds: float | None = None) -> None:
        """Until the page is closed, or so many seconds; Ctrl-C ends it."""
        self._thread.join(seconds)

    def close(self) -> None:
        """End the page."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> LivePage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def watch(run: str | Path, *, port: int = 0, open_browser: bool = False) -> LivePage:
    """Show a run's page while it is being trained, from this process, and return at once.

    Args:
        run: Run directory; it need not be there yet.
        port: Of the loopback address; a free one if 0.
        open_browser: Whether to open the page in the user's browser.

    The page's address is `url` of what is returned; `close` ends it, and so does the end of the process.
    """
    path = Path(run)
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path}: not a folder; give a run directory, also one that is yet to begin")
    page = LivePage(path, whole("port", port, 0, _MOST_PORT))
    if open_browser:
        webbrowser.open(page.url)
    return page


class _Server(ThreadingHTTPServer):
    """Knows the run, and the token that is asked for."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], live: LiveRun) -> None:
        self.live = live
        self.token = secrets.token_urlsafe(24)
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a browser that goes away in the middle of an answer is no error."""


class _Handler(BaseHTTPRequestHandler):
    """Answers GET of two paths."""

    server: _Server
    server_version, sys_version = "alphanpi", ""
    timeout = _CONNECTION_SECONDS

    def do_GET(self) -> None:
        """The page or its data, for who knows the token and asked this machine by its own address."""
        port = self.server.server_port
        if self.headers.get_all("Host") not in ([f"{ADDRESS}:{port}"], [f"localhost:{port}"]):
            self._answer(403, "text/plain", "this server is asked by its own address only\n")
            return
        token, slash, rest = self.path[1:].partition("/")
        known = secrets.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode())
        if not known or slash + rest not in ("/", "/data"):
            self._answer(404, "text/plain", "there is nothing here\n")
            return
        record = self.server.live.read()
        if rest:
            self._answer(200, "application/json", to_json(record))
        else:
            self._answer(200, "text/html", to_html(record, f"{Path(record.run).name}: training"))

    def _answer(self, code: int, kind: str, content: str) -> None:
        body = content.encode()
        self.send_response(code)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        """Nothing: the token is part of every line."""
