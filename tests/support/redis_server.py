"""A real Redis server for tests, and things between it and its clients that go wrong.

``redis-server`` is Debian's; where it is not, the tests are skipped.
"""

import asyncio
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import Self, cast

import pytest
from redis import Redis

PASSWORD = "b:lue/horse"  # noqa: S105 - of a server that lives as long as a test; must be quoted in a url
QUOTED = "b%3Alue%2Fhorse"
STARTS_WITHIN_S = 30.0

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextmanager
def silent_port() -> Generator[int]:
    """A port of this machine where nobody listens, nor can begin to."""
    with closing(socket.socket()) as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


def free_port() -> int:
    """A port of this machine that nobody has just now."""
    with silent_port() as port:
        return port


class LocalRedis:
    """A server on a free port, with a password, that keeps nothing on disk; ends with the ``with``.

    Args:
        folder: where it works.

    Attributes:
        port: where it listens, the same after each start.
    """

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        found = shutil.which("redis-server")
        if found is None:
            pytest.skip("needs a Redis server: apt-get install redis-server")
        self._program = found
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._has_served = False

    @property
    def url(self) -> str:
        """How to reach it."""
        return f"redis://:{QUOTED}@127.0.0.1:{self.port}/0"

    def through(self, port: int) -> str:
        """How to reach it by another port."""
        return f"redis://:{QUOTED}@127.0.0.1:{port}/0"

    def start(self) -> None:
        """Start it, empty, and wait until it answers; again where somebody else has the port just now."""
        self._process = self._begun()
        until = time.monotonic() + STARTS_WITHIN_S
        while b"process_id:%d\r" % self._process.pid not in self.said(b"INFO server"):
            assert time.monotonic() < until, "redis-server does not answer"
            time.sleep(0.01)
            if self._process.poll() is not None:
                self.port = self.port if self._has_served else free_port()
                self._process = self._begun()
        self._has_served = True

    def said(self, *commands: bytes) -> bytes:
        """What it answers to commands in one line each; nothing while it is not there."""
        lines = b"".join(line + b"\r\n" for line in (b'AUTH "%b"' % PASSWORD.encode(), *commands))
        near = ("127.0.0.1", self.port)
        with suppress(OSError), socket.create_connection(near, STARTS_WITHIN_S) as line:
            line.sendall(lines + b"QUIT\r\n")
            return b"".join(iter(lambda: line.recv(65_536), b""))
        return b""

    def stored(self) -> list[bytes]:
        """The keys of all values that it has, in order."""
        parts = self.said(b"KEYS *").split(b"\r\n")
        return sorted(part for part in parts if b":" in part and not part.endswith(b":names"))

    def stop(self) -> None:
        """Ask it to end."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it, in the middle of whatever it does."""
        self._end(signal.SIGKILL)

    def _begun(self) -> subprocess.Popen[bytes]:
        options = {"port": self.port, "bind": "127.0.0.1", "requirepass": PASSWORD, "save": ""}
        command = [self._program, "--dir", str(self._folder), "--appendonly", "no"]
        for name, value in options.items():
            command += [f"--{name}", str(value)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def __enter__(self) -> Self:
        """The server, started."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.kill()


def keys_of(raw: Redis) -> list[bytes]:
    """All keys, in order."""
    return sorted(cast("list[bytes]", raw.keys()))  # pyright: ignore[reportUnknownMemberType] - its options have no types


def running(folder: Path) -> Iterator[LocalRedis]:
    """For fixtures: a server that is empty."""
    with LocalRedis(folder) as server:
        yield server


@asynccontextmanager
async def port_that(answers: Answer, *, port: int = 0) -> AsyncGenerator[int]:
    """A port of this machine where everybody who comes is answered so; any free one, or this."""
    served: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await answers(reader, writer)
        await ended(writer)

    def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served[writer] = asyncio.create_task(serve(reader, writer))

    server = await asyncio.start_server(greet, "127.0.0.1", port)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
        await asyncio.sleep(0.05)  # who has just come is greeted, so that his line is ended as well
        for task in served.values():
            task.cancel()
        await asyncio.gather(*served.values(), return_exceptions=True)
        for writer in served:
            await ended(writer)


def delayed(port: int, wait: Callable[[], Awaitable[object]]) -> Answer:
    """Whoever listens on a port, each of whose answers comes only after a wait."""

    async def answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        there = asyncio.create_task(passed(reader, far_writer, nothing))
        try:
            await passed(far_reader, writer, wait)
        finally:
            there.cancel()
            await ended(far_writer)

    return answers


async def ended(writer: asyncio.StreamWriter) -> None:
    """Cut a line, and wait until that is done."""
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()


async def nothing() -> None:
    """No wait at all."""


async def passed(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    wait: Callable[[], Awaitable[object]],
) -> None:
    """Hand on what comes, after a wait."""
    while data := await reader.read(65_536):
        await wait()
        writer.write(data)
        await writer.drain()


def babbling(text: bytes) -> Answer:
    """Someone who is no Redis, and says the same to everything."""

    async def answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65_536):
            writer.write(text)
            await writer.drain()

    return answers
