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
    """Asks a compressor, and another where that gives nothing that can be sent."""

    def __init__(self, own: Compressor) -> None:
        self._own = own
        self._default = SemanticCompressor()
        self._warned: set[str] = set()

    def on_arrival(self, text: str, reduced: str, /, *, count: CountText) -> str:
        """What is sent of a tool's result; no more than came in."""
        found = self._asked(
            "on_arrival",
            lambda: self._own.on_arrival(text, reduced, count=count),
            count(text),
            count,
        )
        return reduced if found is None else found

    def shorten(self, text: str, /, *, room_tokens: int, count: CountText) -> str:
        """A text within a room."""
        if count(text) <= room_tokens:
            return text
        room = room_tokens
        found = self._asked(
            "shorten", lambda: self._own.shorten(text, room_tokens=room, count=count), room, count
        )
        default = self._default.shorten
        return default(text, room_tokens=room, count=count) if found is None else found

    def stated(self, text: str, /) -> str:
        """What of a person's text holds."""
        found = self._asked("stated", lambda: self._own.stated(text), 0, lambda _: 0)
        return self._default.stated(text) if found is None else found

    def notice(self, left_out: LeftOut, /, *, room_tokens: int, count: CountText) -> str:
        """What is told of units that are left out."""
        room = room_tokens
        found = self._asked(
            "notice", lambda: self._own.notice(left_out, room_tokens=room, count=count), room, count
        )
        default = self._default.notice
        return default(left_out, room_tokens=room, count=count) if found is None else found

    def _asked(
        self, method: str, ask: Callable[[], object], room_tokens: int, count: CountText
    ) -> str | None:
        """What it answers; ``None`` where it fails, or that is no text within its room."""
        try:
            found = ask()
        except Exception as error:  # noqa: BLE001 - whatever it raises costs its text, not the turn
            reason = type(error).__name__
        else:
            if not isinstance(found, str):
                reason = "it gave no text"
            elif count(found) <= room_tokens:
                return found
            else:
                reason = "it gave more tokens than there is room"
        if method not in self._warned:
            self._warned.add(method)
            logger.warning(
                "the compressor's %s is not used, SemanticCompressor's is: %s", method, reason
            )
        return None
