"""Serve the page of an event log while an agent writes it: on this machine alone, to who has the address that is told.

Promise: the log is only read. A request without the address's secret, or for another host's name, gets nothing; there is no
CORS. The page asks this server and nobody else.
"""

import json
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import cast

from typing_extensions import override

from autogen_context.report.events import read_events, runs_of
from autogen_context.report.page import page_of

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class FollowedPage:
    """The page of a log as it is; made anew when the log is another."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._lock = Lock()  # two windows that ask at once have one page made
        self._made = ("", "")

    @property
    def version(self) -> str:
        """Another one whenever the log has grown, was cut or was rotated; empty while there is none."""
        try:
            now = self._log.stat()
        except FileNotFoundError:
            return ""
        return f"{now.st_ino}-{now.st_size}-{now.st_mtime_ns}"

    @property
    def html(self) -> str:
        """The page.

        Raises:
            ValueError: a newer version of this package wrote the log.
        """
        with self._lock:
            version = self.version  # what comes after is seen when it is asked for next
            if version != self._made[0] or not self._made[1]:
                runs = runs_of(read_events(self._log)) if version else []
                self._made = version, page_of(runs, title=self._log.name, version=version)
            return self._made[1]


class PageServer(ThreadingHTTPServer):
    """Serves the page of a log on the loopback interface; ``url`` says where."""

    daemon_threads = True

    def __init__(self, log: Path, *, port: int = 0) -> None:
        self.page = FollowedPage(log)
        super().__init__(("127.0.0.1", port), PageRequest)
        self.path = f"/{secrets.token_urlsafe(16)}/"  # other users of this machine reach the port
        self.url = f"http://127.0.0.1:{self.server_port}{self.path}"

    def answer(self, host: str, path: str) -> tuple[HTTPStatus, str, str]:
        """The status, the media type and the text for a request."""
        if host.removesuffix(f":{self.server_port}") not in ("127.0.0.1", "localhost"):
            return HTTPStatus.MISDIRECTED_REQUEST, "text/plain", "this server has another name"
        try:
            if path == self.path:
                return HTTPStatus.OK, "text/html", self.page.html
            if path == f"{self.path}version":
                return HTTPStatus.OK, "application/json", json.dumps(self.page.version)
        except (ValueError, OverflowError, OSError) as error:
            return HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", str(error)
        return HTTPStatus.NOT_FOUND, "text/plain", "there is nothing here; use the address told"


class PageRequest(BaseHTTPRequestHandler):
    """A request for the page, or for the version of the log."""

    server_version, sys_version = "autogen-context", ""
    timeout = 10

    def do_GET(self) -> None:
        """Answer it."""
        server = cast("PageServer", self.server)
        status, media, text = server.answer(self.headers.get("Host", ""), self.path)
        body = text.encode()
        self.send_response(status)
        said = {"Content-Type": f"{media}; charset=utf-8", "Content-Length": str(len(body))}
        for name, value in (HEADERS | said).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal is the user's."""


def follow(log: Path, *, told: Callable[[str], None], port: int = 0) -> None:
    """Serve the page of a log, which need not be there yet, until ``KeyboardInterrupt``.

    Args:
        log: the event log.
        told: gets the address once it is there.
        port: of the loopback interface; 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """
    with PageServer(log, port=port) as server:
        told(server.url)
        server.serve_forever()
