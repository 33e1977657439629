"""What the loopback servers have in common: listening, recording and faults.

Promise: every request is recorded before the reply is sent; nothing keeps running after the ``with`` block.
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from threading import Event, Lock
from typing import Generic, Self, TypeAlias, TypeVar

from autogen_context.testing.answers import Fault
from autogen_context.testing.record import ServedRequest
from autogen_context.testing.transport import ReceivedRequest, Transport
from autogen_context.testing.wire import Json, Reply

RecordT = TypeVar("RecordT", bound=ServedRequest)

Answering: TypeAlias = Callable[[RecordT], tuple[RecordT, Reply]]
"""Answers a request that was read; what the API refuses is raised."""

# The status nginx logs for a client that closed the connection before the response.
CLIENT_GONE = 499


class ListeningServer(ABC, Generic[RecordT]):
    """A server on loopback, used in ``with`` or ``async with``; a subclass says what its API answers.

    Args:
        record: makes the record of a request of its number, path and fault.
        faults: faults by request number, counted from 1 across all endpoints.
    """

    def __init__(
        self, record: Callable[..., RecordT], faults: Mapping[int, Fault] | None = None
    ) -> None:
        self._new_record = record
        self._faults = dict(faults or {})
        self._queued: list[Fault] = []
        self._served: dict[int, RecordT] = {}
        self._arrived = 0
        self._lock = Lock()
        self._stopping = Event()
        self._transport: Transport | None = None

    @property
    def origin(self) -> str:
        """The server's URL without a path; raises ``RuntimeError`` if the server is not running."""
        if self._transport is None:
            raise RuntimeError("the server is not running; use it in a with or async with block")
        return f"http://127.0.0.1:{self._transport.port}"

    @property
    def requests(self) -> list[RecordT]:
        """All requests recorded so far, in order of arrival."""
        with self._lock:
            return [self._served[number] for number in sorted(self._served)]

    @property
    def rejected(self) -> list[RecordT]:
        """The requests rejected as invalid (status 400)."""
        return [request for request in self.requests if request.status == HTTPStatus.BAD_REQUEST]

    def inject(self, *faults: Fault) -> None:
        """Queue faults; each of the next requests without a fault of its own in ``faults`` gets one."""
        with self._lock:
            self._queued.extend(faults)

    def __enter__(self) -> Self:
        """Start listening on a free port; raise ``RuntimeError`` if the server is already running."""
        if self._transport is not None:
            raise RuntimeError("the server is running already")
        self._stopping.clear()
        self._transport = Transport(self._serve)
        return self

    def __exit__(self, *_: object) -> None:
        """Close all connections and end all threads."""
        self._stopping.set()
        if self._transport is not None:
            self._transport.close()
        self._transport = None

    async def __aenter__(self) -> Self:
        """Start listening on a free port."""
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        """Close all connections and end all threads without blocking the event loop."""
        await asyncio.to_thread(self.__exit__)

    @abstractmethod
    def _read(
        self, arrival: ReceivedRequest, record: RecordT
    ) -> "tuple[RecordT, Answering[RecordT]]":
        """Return the record with what the request has, and what answers it; what cannot be read is raised."""

    @abstractmethod
    def _refused(self, record: RecordT, failure: Exception) -> tuple[RecordT, Reply]:
        """Return the record of a request that failed, and the reply that says so."""

    def _serve(self, arrival: ReceivedRequest) -> Reply:
        with self._lock:
            self._arrived += 1
            fault = self._faults.get(self._arrived)
            if fault is None and self._queued:
                fault = self._queued.pop(0)
            record = self._new_record(number=self._arrived, path=arrival.path, fault=fault)
        try:
            record, answer = self._read(arrival, record)
            record, reply = answer(record)
        except Exception as failure:  # noqa: BLE001  reported to the client, where the test fails
            record, reply = self._refused(record, failure)
        with self._lock:
            self._served[record.number] = replace(record, status=reply.status)
        return reply

    def _delayed(self, fault: Fault, arrival: ReceivedRequest) -> Reply | None:
        """Wait as a slow answer does; return the reply if nobody waits for the answer any more."""
        gone = self._stopping.wait(fault.seconds) or arrival.hung_up()
        return Reply(status=CLIENT_GONE, cut="start") if gone else None


def json_object(text: bytes) -> dict[str, Json] | None:
    """Return the JSON object in a body, or ``None`` if there is none."""
    with suppress(ValueError, RecursionError):
        body: Json = json.loads(text)
        if isinstance(body, dict):
            return body
    return None
