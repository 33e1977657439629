"""HTTP/1.1 server on 127.0.0.1, built on the standard library.

Promise: after ``close`` no thread, connection or port stays open, whatever a client does.
"""

import logging
import select
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from email.message import Message
from functools import partial
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from threading import Lock, Thread
from typing import TypeAlias, cast

from typing_extensions import override

from autogen_context.testing.wire import ApiError, Reply

log = logging.getLogger(__name__)

# Timeout for clients that never close an idle connection; most do after some seconds (httpx after 5).
IDLE_S = 30.0
POLL_S = 0.02  # maximum delay before a close is noticed


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedRequest:
    """An incoming request; ``hung_up`` returns True if its client has disconnected."""

    method: str
    path: str
    headers: Message  # by name, in any case
    body: bytes
    hung_up: Callable[[], bool]


Serve: TypeAlias = Callable[[ReceivedRequest], Reply]


class Transport(ThreadingTCPServer):
    """A server that listens on a free port of 127.0.0.1 once created; each connection has its own thread."""

    daemon_threads = False  # so that server_close joins them
    request_queue_size = 128

    def __init__(self, serve: Serve) -> None:
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        self.serve = serve
        super().__init__(("127.0.0.1", 0), _Connection)
        self.port = int(self.socket.getsockname()[1])
        run = partial(self.serve_forever, poll_interval=POLL_S)
        self._thread = Thread(target=run, name="loopback-server", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop accepting connections, close the open ones, and join all threads."""
        self.shutdown()
        self._thread.join()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):  # already closed by the client
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    @override
    def get_request(self) -> tuple[socket.socket, object]:
        connection, address = super().get_request()
        with self._lock:
            self._open.add(connection)
        return connection, address

    @override
    def close_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        with self._lock:
            self._open.discard(request)
        super().close_request(request)

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        """Log an error, unless the client disconnected."""
        if not isinstance(sys.exception(), ConnectionError):
            log.exception("a connection failed")  # noqa: LOG004  socketserver calls this in an except block


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    disable_nagle_algorithm = True  # otherwise each response waits 40 ms for the client's ACK

    @override
    def log_message(self, format: str, *args: object) -> None:
        log.debug(format, *args)

    def _exchange(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal():
            self.close_connection = True
            self._send(ApiError("A request needs a Content-Length.", status=411).reply())
            return
        body = self.rfile.read(int(length))
        if len(body) < int(length):  # its client ended while it sent: no request ever arrived
            self.close_connection = True
            return
        arrival = ReceivedRequest(
            method=self.command,
            path=self.path.partition("?")[0],
            headers=self.headers,
            body=body,
            hung_up=self._hung_up,
        )
        self._send(cast("Transport", self.server).serve(arrival))

    do_GET = do_POST = _exchange  # noqa: N815 - the names of BaseHTTPRequestHandler

    def _hung_up(self) -> bool:
        with suppress(ConnectionError):
            readable, _, _ = select.select([self.connection], [], [], 0)
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        return True

    def _send(self, reply: Reply) -> None:
        self.close_connection |= reply.cut != "nowhere"
        if reply.cut == "start":
            return
        kind = "text/event-stream" if reply.streamed else "application/json"
        size = len(reply.body)
        self.send_response(reply.status)
        for name, value in {"Content-Type": kind, "Content-Length": size, **reply.headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(reply.body[: size // 2] if reply.cut == "middle" else reply.body)
