"""The memory of one person over conversations: exchanges and facts that are listed, edited, exported and forgotten.

Promise: nobody reads another user's. What is read was written here, with the key, for this user; what is damaged or forged is
not there, and is told once. No secret of a known form is kept. What is forgotten is gone from the store, and is not learnt again
from a conversation that still has it. A store that fails costs memories and no turn.
"""

import math
import os
import time
from collections.abc import Callable, Container, Iterable
from threading import RLock
from typing import TYPE_CHECKING, Final

from autogen_context.argument import require_text, require_whole, wrong_argument
from autogen_context.cache.tier import Scope, Tier
from autogen_context.errors import StoreUnavailable
from autogen_context.forks import when_forked
from autogen_context.memory.rows import (
    NAME,
    RememberedExchange,
    RememberedFact,
    Row,
    bytes_of,
    marks_of,
    name_of,
    row_in,
)
from autogen_context.memory.store import MemoryStore
from autogen_context.messages.message import Message, content_digest
from autogen_context.project.secrets import without_secrets
from autogen_context.recall.facts import Fact

if TYPE_CHECKING:
    from autogen_context.cache.redis_server import RedisServer

DAY_S: Final = 24 * 3600.0
ROW_BYTES: Final = 200  # of a row beside its text, in a store
LATER_S: Final = 1e-6  # between two things that the clock tells no time between
MOST_SKEW_S: Final = 1.0  # of the clock of another machine, which is followed so far
UNREAD: Final = (
    "an entry of a person's memory is damaged, forged or of another release; it is not read"
)


class UserMemory:
    """What one person said, and which facts hold, over conversations, agents and processes.

    Give it to ``register`` or a manager as ``memory=``; an agent that serves several people is registered for each. All agents of
    a tenant share what they know of a person. Its methods wait for the store: in a coroutine call them in a thread.

    Args:
        user_id: who it is, as your application authenticated the person.
        store: a folder, readable by its owner only; a ``RedisServer``, or its url; or an object with the methods of ``Tier``. None
            is encrypted.
        tenant: whose users these are, if several customers share the store.
        key: seals what is kept, so that nobody without it can write what is read; the same for all who share. Default: the
            server's, or ``AUTOGEN_CONTEXT_STORE_KEY``; a folder without any has one of its own, a server without any keeps nothing.
        days: what is older is forgotten; ``None`` for never.
        most_entries: of exchanges and facts together; the oldest exchanges are forgotten first.
        limit_bytes: likewise.
        clock: returns the seconds since 1970.

    Raises:
        ValueError: an argument is invalid.
    """

    def __init__(
        self,
        user_id: str,
        store: "str | os.PathLike[str] | RedisServer | Tier",
        *,
        tenant: str = "",
        key: str | bytes | None = None,
        days: float | None = 365,
        most_entries: int = 2_000,
        limit_bytes: int = 16 * 1024**2,
        clock: Callable[[], float] = time.time,
    ) -> None:
        require_text("user_id", user_id)
        require_text("tenant", tenant)
        if not user_id.strip():
            raise wrong_argument("user_id", user_id, "a text that is no other user's")
        if days is not None and not 0 < days < math.inf:
            raise wrong_argument("days", days, "a number above 0, or None")
        require_whole("most_entries", most_entries, least=1, give="a number, 1 or more")
        require_whole("limit_bytes", limit_bytes, least=1, give="a number of bytes, 1 or more")
        self.user_id = user_id
        self._ttl_s = None if days is None else days * DAY_S
        self._most_entries, self._limit_bytes, self._clock = most_entries, limit_bytes, clock
        scope = Scope(tenant=tenant, agent="user", conversation=user_id)
        most = 2 * limit_bytes  # of the file, with what is about to be deleted
        self._store = MemoryStore(store, scope, key, limit_bytes=most, ttl_s=self._ttl_s)
        self._key = self._store.key
        self._rows: dict[str, Row] = {}  # by name
        self._sizes: dict[str, int] = {}
        self._marks: set[str] = set()  # of what is forgotten
        self._unsaved: dict[str, bytes] = {}  # to be tried again
        self._unread: set[str] = set()  # names of what is no row
        self._last_s = -math.inf
        self._begin_anew()
        when_forked(self._begin_anew)

    def _begin_anew(self) -> None:
        self._lock = RLock()  # nothing is waited for under it

    # What there is

    @property
    def exchanges(self) -> tuple[RememberedExchange, ...]:
        """The exchanges that are known, oldest first; ``refresh`` reads what others added."""
        return tuple([row for row in self._newest() if isinstance(row, RememberedExchange)])

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts that are known, newest last; the same."""
        return tuple([row.as_fact(position) for position, row in enumerate(self.stated)])

    @property
    def stated(self) -> tuple[RememberedFact, ...]:
        """These facts as they are kept."""
        return tuple([row for row in self._newest() if isinstance(row, RememberedFact)])

    def refresh(self) -> None:
        """Read what other processes added or deleted since; what fails is tried again at the next call. Never raises."""
        names = self._store.names()
        if names is None:
            return
        there = {name for name in names if NAME.fullmatch(name)}
        marks = {name for name in there if name.startswith("g")}
        wanted = sorted(there - marks - self._rows.keys() - self._unread)
        found = self._store.read(wanted)
        with self._lock:
            for name in self._rows.keys() - there - self._unsaved.keys():
                self._drop(name)
            self._marks |= marks
            for name, value in found.items():
                self._take(name, value)
        missing = set(wanted) - found.keys()
        if missing and missing.intersection(self._store.names() or ()):
            self._store.warn(UNREAD)
        self._keep_within()

    def export(self) -> dict[str, object]:
        """Return all that is kept of the person, as JSON data."""
        self.refresh()
        exchanges = [
            {"id": row.id, "at_s": row.at_s, "said": list(row.said), "answer": row.answer}
            for row in self.exchanges
        ]
        facts = [
            {"id": row.id, "at_s": row.at_s, "kind": fact.kind, "text": fact.text}
            for row, fact in zip(self.stated, self.facts, strict=True)
        ]
        return {"user_id": self.user_id, "exchanges": exchanges, "facts": facts}

    # What a person changes

    def edit(self, fact_id: str, text: str) -> Fact:
        """Replace the text of a fact.

        Raises:
            KeyError: there is no such fact.
            ValueError: the text is empty or no text.
        """
        require_text("text", text)
        line = without_secrets(" ".join(text.split()))
        if not line:
            raise ValueError("text must not be empty; to remove a fact, forget it")
        known = {row.id: row for row in self.stated}
        row = known[fact_id]
        new = RememberedFact(
            id=row.id, at_s=self.now_s(), kind=row.kind, stated=row.stated, edited=line
        )
        self.remember([new])
        return new.as_fact(len(known) - 1)

    def forget(self, query: str = "", *, id: str = "") -> tuple[str, ...]:  # noqa: A002 - as the records name it
        """Forget all that has a text, whatever its case is, or one exchange or fact; it is not learnt again.

        Args:
            query: a text.
            id: of an exchange or a fact.

        Returns:
            The ids of what was forgotten.

        Raises:
            KeyError: nothing has the id.
            StoreUnavailable: the store cannot delete now; nothing of it is used any more, and it is deleted later.
            ValueError: neither was given, or both.
        """
        require_text("query", query)
        require_text("id", id)
        if bool(query) == bool(id):
            raise ValueError("forget: give a query, or id=; to forget everything, call clear()")
        self.refresh()
        ids, error = self.without(query, id=id)
        if error is not None:
            raise error
        if id and not ids:
            raise KeyError(id)
        return ids

    def clear(self) -> None:
        """Forget everything, and that it was forgotten: a conversation that is handed in anew is learnt again.

        Raises:
            StoreUnavailable: something may still be there.
        """
        with self._lock:
            for known in (self._rows, self._sizes, self._unsaved, self._marks):
                known.clear()
        self._store.clear()

    # What conversations do

    def now_s(self) -> float:
        """Return the time, later than each one before."""
        with self._lock:
            self._last_s = max(self._clock(), self._last_s + LATER_S)
            return self._last_s

    def digest(self, *parts: str) -> str:
        """Return an id made of these, which nobody without the key can foresee."""
        return content_digest(*parts, key=self._key).hex()[:24]

    def is_forgotten(self, row: Row) -> bool:
        """Return True if the person had this forgotten."""
        if not self._marks:
            return False
        marks = [*marks_of(row, key=self._key), *marks_of(row, key=self._key, by_answer=True)]
        return not self._marks.isdisjoint(marks)

    def without(
        self,
        query: str = "",
        *,
        id: str = "",  # noqa: A002 - as above
        messages: Iterable[Message] = (),
        own: Container[str] = (),
        is_asked: bool = True,
    ) -> tuple[tuple[str, ...], StoreUnavailable | None]:
        """Forget what has a text, an id, one of these messages among its ``own`` exchanges, or was stated in one.

        If the person asked for it, marks without words stay, by which it is not learnt again. Returns the ids, and the error of a
        store that cannot delete now.
        """
        texts = [(message.role, without_secrets(message.text)) for message in messages]
        said = {text for role, text in texts if role == "user" and text}
        answers = {text for role, text in texts if role == "assistant" and text}
        lines = [" ".join(text.split()).casefold() for text in said]
        needle = query.casefold()

        def has(words: Iterable[str]) -> bool:
            return bool(needle) and any(needle in each.casefold() for each in words)

        def is_meant(row: Row) -> bool:
            if isinstance(row, RememberedFact):
                return has(row.texts) or any(row.stated.casefold() in line for line in lines)
            return has(row.said) or (row.id in own and not said.isdisjoint(row.said))

        def is_answer_meant(row: Row) -> bool:
            return isinstance(row, RememberedExchange) and (
                has([row.answer]) or (row.id in own and row.answer in answers)
            )

        found, marks = list[Row](), list[str]()
        with self._lock:
            for row in self._rows.values():
                by_said = row.id == id or is_meant(row)
                if by_said or is_answer_meant(row):
                    found.append(row)
                    marks += marks_of(row, key=self._key, by_answer=not by_said)
            marks = marks if is_asked else []
            self._marks.update(marks)
        error: StoreUnavailable | None = None
        try:
            self._store.forget(self._dropped(found))
        except StoreUnavailable as refused:
            error = refused
        self._store.write(dict.fromkeys(marks, b"{}"))
        return tuple(dict.fromkeys(row.id for row in found)), error

    def remember(self, rows: Iterable[Row], *, instead: Iterable[Row] = ()) -> None:
        """Keep rows, in place of others of their ids and of these. Never raises."""
        old, values = list(instead), dict[str, bytes]()
        with self._lock:
            known = {(row.what, row.id): row for row in self._newest()}
            for row in rows:
                name = name_of(row, key=self._key)
                if name in self._rows or self.is_forgotten(row):
                    continue
                if before := known.get((row.what, row.id)):
                    old.append(before)
                values[name] = bytes_of(row)
                self._take(name, values[name])
            self._unsaved |= values
            values = dict(self._unsaved)
        stored = values.keys() - self._store.write(values)
        with self._lock:
            for name in stored:
                self._unsaved.pop(name, None)
        self.drop(old)
        self._keep_within()

    def drop(self, rows: Iterable[Row]) -> None:
        """Delete rows that something newer replaced. Never raises."""
        self._store.forget_quietly(self._dropped(rows))

    # The rows

    def _newest(self) -> list[Row]:
        """Return the rows, oldest first; of several of an id, which two processes wrote, the newest."""
        with self._lock:
            rows = sorted(self._rows.values(), key=lambda row: (row.at_s, row.id, len(row.texts)))
        return list({(row.what, row.id): row for row in rows}.values())

    def _take(self, name: str, value: bytes) -> None:
        row = row_in(name, value, key=self._key)
        if row is None:
            self._unread.add(name)
            self._store.warn(UNREAD)
        elif not self.is_forgotten(row):
            self._rows[name], self._sizes[name] = row, len(value) + ROW_BYTES
            self._last_s = max(self._last_s, min(row.at_s, self._clock() + MOST_SKEW_S))

    def _drop(self, name: str) -> None:
        for known in (self._rows, self._sizes, self._unsaved):
            known.pop(name, None)

    def _dropped(self, rows: Iterable[Row]) -> set[str]:
        """Drop rows here, and return their names."""
        names = {name_of(row, key=self._key) for row in rows}
        with self._lock:
            for name in names:
                self._drop(name)
        return names

    def _keep_within(self) -> None:
        """Delete what is too old, what another row of its id replaced, and the oldest of what is too much, exchanges first."""
        gone: list[Row] = []
        with self._lock:
            newest = set(self._newest())
            rows = sorted(
                self._rows.items(),
                key=lambda each: (isinstance(each[1], RememberedFact), each[1].at_s),
            )
            since_s = -math.inf if self._ttl_s is None else self._clock() - self._ttl_s
            entries, used = len(rows), sum(self._sizes.values())
            for name, row in rows:
                is_over = entries > self._most_entries or used > self._limit_bytes
                if is_over or row.at_s <= since_s or row not in newest:
                    gone.append(row)
                    entries, used = entries - 1, used - self._sizes[name]
        if gone:
            self.drop(gone)
