"""What was worked out of texts, kept with the work that it is for: a conversation, or a part that is used alone.

Promise: what a function returned for somebody's words is kept only in the ``Memo`` in use, never with the module. It goes with
its owner, or when it is ended; without one in use nothing is kept. Safe to use in several threads.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache, wraps
from threading import local
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
FoundT = TypeVar("FoundT")


class Memo:
    """What functions returned while this was in use: of each the newest, as many as it says."""

    def __init__(self) -> None:
        self.tables: dict[
            object, Callable[..., Any]
        ] = {}  # by the function whose results they have
        self._is_ended = False

    @contextmanager
    def in_use(self) -> Generator[None]:
        """Have it used in the body, which must not await, by this thread; what it starts in others keeps nothing."""
        before, _HERE.memo = _HERE.memo, self
        try:
            yield
        finally:
            _HERE.memo = before

    def run(
        self, function: Callable[Given, FoundT], *given: Given.args, **named: Given.kwargs
    ) -> FoundT:
        """Return what a function returns, with this in use unless another is: for parts that may be used alone."""
        if _HERE.memo is not None:
            return function(*given, **named)
        with self.in_use():
            return function(*given, **named)

    def table(self, function: Callable[Given, FoundT], most: int) -> Callable[Given, FoundT]:
        """Return a function that keeps what it returned here, ``most`` of it."""
        known = self.tables.get(function)
        if known is None:
            if self._is_ended:
                return function
            known = self.tables.setdefault(function, lru_cache(most)(function))
        return known

    def clear(self) -> None:
        """Drop everything."""
        self.tables = {}

    def end(self) -> None:
        """Drop everything, and keep nothing from now on: a task of the owner may still end."""
        self._is_ended = True
        self.clear()


class _Here(local):
    memo: Memo | None = None


_HERE = _Here()


def remembering(function: Callable[Given, FoundT], most: int) -> Callable[Given, FoundT]:
    """Return a function that keeps what it returned in the memo in use; itself, if there is none."""
    memo = _HERE.memo
    return function if memo is None else memo.table(function, most)


def remembered(most: int) -> Callable[[Callable[Given, FoundT]], Callable[Given, FoundT]]:
    """Have a function of hashable arguments keep what it returned last in the memo in use, ``most`` of it."""

    def decorated(function: Callable[Given, FoundT]) -> Callable[Given, FoundT]:
        @wraps(function, updated=())
        def looked_up(*given: Given.args, **named: Given.kwargs) -> FoundT:
            memo = _HERE.memo
            if memo is None:
                return function(*given, **named)
            # Asked for each word of a text, so without a further call.
            found: FoundT = (memo.tables.get(function) or memo.table(function, most))(
                *given, **named
            )
            return found

        return looked_up

    return decorated


def with_memo(function: Callable[Given, FoundT]) -> Callable[Given, FoundT]:
    """Have a function that may be used alone keep what it works out while it runs, unless a memo is in use."""

    @wraps(function)
    def run(*given: Given.args, **named: Given.kwargs) -> FoundT:
        if _HERE.memo is None:
            return Memo().run(function, *given, **named)
        return function(*given, **named)

    return run
