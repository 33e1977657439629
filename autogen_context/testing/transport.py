"""HTTP/1.1 on 127.0.0.1, from the standard library.

Promise: after ``stop`` no thread, connection or port is left, whatever a client does.
"""

import logging
import select
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler
from socketserver import BaseServer, ThreadingTCPServer
from threading import Lock, Thread
from typing import TypeAlias

from typing_extensions import override

from autogen_context.testing.wire import ApiError, Reply

_log = logging.getLogger(__name__)

# A conversation of ten million characters goes through, a runaway client does not.
_MOST_BYTES = 64 * 1024 * 1024
_BLOCK = 64 * 1024
# Clients drop an idle connection after some seconds (httpx after 5); this only catches those that never do.
_IDLE_S = 30.0
# How long a stop may take to be noticed.
_POLL_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A request as it came in; ``hung_up`` tells whether its client is gone."""

    method: str
    path: str
    body: bytes
    hung_up: Callable[[], bool]


Serve: TypeAlias = Callable[[Arrival], Reply]


class Transport:
    """Listens on a free port of 127.0.0.1 from its making on; each connection has its thread."""

    def __init__(self, serve: Serve) -> None:
        self._listener = _Listener(serve)
        run = partial(self._listener.serve_forever, poll_interval=_POLL_S)
        self._thread = Thread(target=run, name="loopback-server", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port that the system chose."""
        return self._listener.port

    def stop(self) -> None:
        """Take no more connections, end those that are open, and join all threads."""
        self._listener.shutdown()
        self._thread.join()
        self._listener.hang_up()
        self._listener.server_close()


class _Listener(ThreadingTCPServer):
    daemon_threads = False  # so that server_close joins them
    request_queue_size = 128

    def __init__(self, serve: Serve) -> None:
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        super().__init__(("127.0.0.1", 0), partial(_Connection, serve))

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    def hang_up(self) -> None:
        """Close the connections under the threads that read from them."""
        with self._lock:
            for connection in self._open:
                with suppress(OSError):  # its client was quicker
                    connection.shutdown(socket.SHUT_RDWR)

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
        """A client that left is no error of the server."""
        if not isinstance(sys.exception(), ConnectionError):
            _log.exception("a connection failed")


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_S
    disable_nagle_algorithm = True  # or each answer waits 40 ms for the client's acknowledgement

    def __init__(
        self, serve: Serve, request: socket.socket, client_address: object, server: BaseServer
    ) -> None:
        self._serve = serve
        super().__init__(request, client_address, server)

    def do_GET(self) -> None:
        self._exchange(b"")

    def do_POST(self) -> None:
        try:
            body = self._read_body()
        except ApiError as error:
            self.close_connection = True
            self._send(error.reply())
        else:
            self._exchange(body)

    @override
    def log_message(self, format: str, *args: object) -> None:
        _log.debug(format, *args)

    def _exchange(self, body: bytes) -> None:
        path = self.path.partition("?")[0]
        arrival = Arrival(method=self.command, path=path, body=body, hung_up=self._hung_up)
        self._send(self._serve(arrival))

    def _read_body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise ApiError("A request needs a Content-Length.", status=411)
        if int(length) > _MOST_BYTES:
            self._skip(int(length))
            raise ApiError(f"A request has at most {_MOST_BYTES} bytes, not {length}.", status=413)
        return self.rfile.read(int(length))

    def _skip(self, length: int) -> None:
        """Read on without keeping it: a client that is still sending would not see the answer."""
        while length > 0 and (block := self.rfile.read(min(length, _BLOCK))):
            length -= len(block)

    def _hung_up(self) -> bool:
        with suppress(ConnectionError):
            readable, _, _ = select.select([self.connection], [], [], 0)
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        return True

    def _send(self, reply: Reply) -> None:
        if reply.cut != "nowhere":
            self.close_connection = True
        if reply.cut == "start":
            return
        self._send_head(reply)
        if reply.streamed:
            self._send_events(reply)
        else:
            body = b"".join(reply.parts)
            self.wfile.write(body[: len(body) // 2] if reply.cut == "middle" else body)

    def _send_head(self, reply: Reply) -> None:
        self.send_response(reply.status)
        kind = "text/event-stream" if reply.streamed else "application/json"
        self.send_header("Content-Type", kind)
        if reply.streamed:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(sum(map(len, reply.parts))))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_events(self, reply: Reply) -> None:
        sent = reply.parts[: len(reply.parts) // 2] if reply.cut == "middle" else reply.parts
        for part in sent:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
        if reply.cut == "nowhere":
            self.wfile.write(b"0\r\n\r\n")
