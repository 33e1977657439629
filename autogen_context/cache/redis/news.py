"""What others say was deleted, as it is said.

Promise: whoever listens hears of every deletion by others, or that some may have been missed: each time the line to the
server is made, the first time included, all keys are told to be invalid. Own deletions are not told.
"""

import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, cast
from uuid import uuid4

from autogen_context.cache.redis.server import Fault, RedisServer, fault_of
from autogen_context.cache.tier import EVERYTHING

if TYPE_CHECKING:
    from redis.client import PubSub

Heard = Callable[[str], None]

_LOGGER = logging.getLogger(__name__)
_LOOK_S = 0.05  # how often who waits for the server looks whether he is still to wait


class News:
    """The news of one channel, heard in a thread from the first listener on.

    Args:
        server: where they are told.
        channel: where deletions are published.
    """

    def __init__(self, server: RedisServer, channel: str) -> None:
        self._server = server
        self._channel = channel
        self._listeners: list[Heard] = []
        self._lock = Lock()
        self._up, self._ended = Event(), Event()
        self._line: PubSub | None = None
        self._thread: Thread | None = None
        self._tries = 0
        self._warned = False
        self._own = uuid4().hex  # tells apart who speaks; decides nothing

    def announced(self, keys: tuple[str, ...]) -> bytes:
        """The message that says these keys are invalid."""
        text = json.dumps([self._own, *keys], ensure_ascii=False)
        return text.encode("utf-8", "surrogatepass")

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Have keys told to ``heard``; what is returned ends that.

        That all may be invalid is told before this returns, if the line stands within ``timeout_s``.
        """
        if self._thread is None and not self._server.closed.is_set():
            self._ended = Event()
            self._thread = Thread(target=self._run, args=(self._ended,), daemon=True)
            self._thread.start()
        if not self._server.away:
            self._up.wait(self._server.limits.timeout_s)
        with self._lock:
            is_up = self._up.is_set()
            self._listeners.append(heard)
        if is_up:
            heard(EVERYTHING)
        return lambda: self._end(heard)

    def end(self) -> None:
        """Hear no more."""
        self._listeners.clear()
        self._ended.set()
        line, self._thread = self._line, None
        # So that the thread need not wait for the next news.
        if line is not None and line.connection is not None:  # pyright: ignore[reportUnknownMemberType] - it has no type
            line.connection.disconnect()  # pyright: ignore[reportUnknownMemberType] - as above

    def _end(self, heard: Heard) -> None:
        with self._lock, suppress(ValueError):
            self._listeners.remove(heard)

    def _until_here(self, ended: Event) -> bool:
        """Wait until the server is there, however long that is; ``False`` if something ends before."""
        while not ended.is_set() and not self._server.closed.is_set():
            self._server.run()
            if self._server.here.wait(_LOOK_S):
                return True
        return False

    def _run(self, ended: Event) -> None:
        while self._until_here(ended):
            try:
                with self._server.client.pubsub() as self._line:  # type: ignore[no-untyped-call]  # theirs
                    self._hear(self._line, ended)
            except Exception as error:  # noqa: BLE001 - a line may break in any way, and is made again
                self._note(fault_of(error))
            self._line = None
            self._up.clear()
            self._tries += 1
            ended.wait(self._server.pause_s(self._tries))

    def _hear(self, line: "PubSub", ended: Event) -> None:
        """Hear until the line breaks; redis-py's own thread tells neither of new lines nor of silent ones."""
        line.subscribe(self._channel)
        asked = False
        while not ended.is_set() and not self._server.closed.is_set():
            pulse_s = self._server.limits.pulse_s
            told = cast("Mapping[str, object] | None", line.get_message(timeout=pulse_s))
            if told is None and asked:
                raise TimeoutError
            if told is None:
                line.ping()
            elif told["type"] == "subscribe":
                self._tries = 0
                with self._lock:
                    self._up.set()
                self._tell(EVERYTHING)
            elif told["type"] == "message":
                for key in self._keys_in(cast("bytes", told["data"])):  # answers are not decoded
                    self._tell(key)
            asked = told is None

    def _tell(self, key: str) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for heard in listeners:
            heard(key)

    def _note(self, fault: Fault) -> None:
        """Warn once of a server that is well and will not tell; that it is away is said elsewhere."""
        if fault.kind != "away" and not self._warned and not self._ended.is_set():
            numbers = {"store": self._server.name, "reason": fault.reason}
            _LOGGER.warning("a shared store tells no news (%s)", fault.reason, extra=numbers)
            self._warned = True

    def _keys_in(self, message: bytes) -> list[str]:
        """The keys of a message of others; none if it is ours, or no such message."""
        with suppress(ValueError, RecursionError):
            said = cast("object", json.loads(message.decode("utf-8", "surrogatepass")))
            if isinstance(said, list):
                sender, *keys = cast("list[object]", said) or [self._own]
                return [] if sender == self._own else [key for key in keys if isinstance(key, str)]
        return []
