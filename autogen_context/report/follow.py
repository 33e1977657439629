"""Serve the live page of an event log on the loopback interface, under a secret URL.

Promise: the log is only read. A request without the secret path, or for another host name, gets an error; no CORS headers
are sent. The page contacts no other server.
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


class PageServer(ThreadingHTTPServer):
    """An HTTP server for the page of a log on the loopback interface, at ``url``."""

    daemon_threads = True

    def __init__(self, log: Path, *, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), PageRequest)
        self._log = log
        self._rendering = Lock()  # concurrent requests share one rendering
        self._page = ("", "")  # the version of the log, and its page
        # Other users of this machine can reach the port.
        self.path = f"/{secrets.token_urlsafe(16)}/"
        self.url = f"http://127.0.0.1:{self.server_port}{self.path}"

    def answer(self, host: str, path: str) -> tuple[HTTPStatus, str, str]:
        """Return the status, media type and text for a request."""
        if host.removesuffix(f":{self.server_port}") not in ("127.0.0.1", "localhost"):
            return HTTPStatus.MISDIRECTED_REQUEST, "text/plain", "this server has another name"
        if path not in (self.path, f"{self.path}version"):
            return HTTPStatus.NOT_FOUND, "text/plain", "not found; use the address that was printed"
        try:
            version = version_of(self._log)  # later writes are picked up by the next request
            if path != self.path:
                return HTTPStatus.OK, "application/json", json.dumps(version)
            with self._rendering:
                if version != self._page[0] or not self._page[1]:
                    runs = runs_of(read_events(self._log)) if version else []
                    self._page = version, page_of(runs, title=self._log.name, version=version)
                return HTTPStatus.OK, "text/html", self._page[1]
        except (ValueError, OverflowError, OSError) as error:
            return HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", str(error)


class PageRequest(BaseHTTPRequestHandler):
    """The handler of requests for the page or the version of the log."""

    server_version, sys_version = "autogen-context", ""
    timeout = 10

    def do_GET(self) -> None:
        """Answer a request."""
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
        """Log nothing, to keep the user's terminal clean."""


def version_of(log: Path) -> str:
    """Return what changes when the log grows, is truncated or rotated; empty while there is no log."""
    try:
        now = log.stat()
    except FileNotFoundError:
        return ""
    return f"{now.st_ino}-{now.st_size}-{now.st_mtime_ns}"


def follow(log: Path, *, begun: Callable[[str], None], port: int = 0) -> None:
    """Serve the page of a log, which need not exist yet, until ``KeyboardInterrupt``; ``begun`` is called with its URL before.

    ``OSError`` if the port of the loopback interface is in use; 0 picks a free one.
    """
    with PageServer(log, port=port) as server:
        begun(server.url)
        server.serve_forever()
