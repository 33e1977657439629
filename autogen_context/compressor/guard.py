"""A compressor of the user's own, held to what a turn needs of it.

Promise: whatever it does, a text comes back that has no more than it may. What it does wrong is warned of once for each
method, and ``SemanticCompressor`` answers in its place. Cancellation passes through.
"""

import logging
from collections.abc import Callable

from autogen_context.compressor.compressor import Compressor, SemanticCompressor
from autogen_context.compressor.notice import LeftOut
from autogen_context.compressor.shorten import CountText

logger = logging.getLogger(__name__)


def guarded(compressor: Compressor) -> Compressor:
    """A compressor as a turn can use it."""
    return compressor if type(compressor) is SemanticCompressor else GuardedCompressor(compressor)


class GuardedCompressor:
    """Asks a compressor, and another where that gives nothing that can be sent.

    Args:
        own: the user's.
    """

    def __init__(self, own: Compressor) -> None:
        self._own = own
        self._default = SemanticCompressor()
        self._warned: set[str] = set()

    def on_arrival(self, text: str, reduced: str, /, *, count: CountText) -> str:
        """What is sent of a tool's result; no more than came in."""
        found = self._asked("on_arrival", lambda: self._own.on_arrival(text, reduced, count=count))
        return self._within("on_arrival", found, count(text), count, or_else=lambda: reduced)

    def shorten(self, text: str, /, *, room_tokens: int, count: CountText) -> str:
        """A text within a room."""
        if count(text) <= room_tokens:
            return text
        found = self._asked(
            "shorten", lambda: self._own.shorten(text, room_tokens=room_tokens, count=count)
        )

        def default() -> str:
            return self._default.shorten(text, room_tokens=room_tokens, count=count)

        return self._within("shorten", found, room_tokens, count, or_else=default)

    def stated(self, text: str, /) -> str:
        """What of a person's text holds."""
        found = self._asked("stated", lambda: self._own.stated(text))
        return self._default.stated(text) if found is None else found

    def notice(self, left_out: LeftOut, /, *, room_tokens: int, count: CountText) -> str:
        """What is told of units that are left out."""
        found = self._asked(
            "notice", lambda: self._own.notice(left_out, room_tokens=room_tokens, count=count)
        )

        def default() -> str:
            return self._default.notice(left_out, room_tokens=room_tokens, count=count)

        return self._within("notice", found, room_tokens, count, or_else=default)

    def _asked(self, method: str, ask: Callable[[], object]) -> str | None:
        """What it answers; nothing where it fails, or that is no text."""
        try:
            found = ask()
        except Exception as error:  # noqa: BLE001 - whatever it raises costs its text, not the turn
            self._warn(method, type(error).__name__)
            return None
        if isinstance(found, str):
            return found
        self._warn(method, "it gave no text")
        return None

    def _within(
        self,
        method: str,
        found: str | None,
        room_tokens: int,
        count: CountText,
        *,
        or_else: Callable[[], str],
    ) -> str:
        """What it answered, if that has no more than it may."""
        if found is None:
            return or_else()
        if count(found) <= room_tokens:
            return found
        self._warn(method, "it gave more tokens than there is room")
        return or_else()

    def _warn(self, method: str, reason: str) -> None:
        if method not in self._warned:
            self._warned.add(method)
            logger.warning(
                "the compressor's %s is not used, SemanticCompressor's is: %s", method, reason
            )
