"""Hand out what is sent; what was written anew is written once.

Promise: what is handed out says what the pieces say, whatever the caller did to what was handed out before: a payload
goes out again only while it equals a private copy of what was written.
"""

from collections.abc import Iterable, Sequence

from autogen_context.pipeline.message import HostFormat
from autogen_context.pipeline.piece import Piece, Verbatim, Written


class Outbox:
    """The payloads of one conversation.

    Args:
        host: writes messages.
    """

    def __init__(self, host: HostFormat) -> None:
        self._host = host
        # By identity of what was written, which is kept, so that nothing else has it.
        self._written: dict[int, Written] = {}
        self._payloads: dict[int, object] = {}  # as the caller has them
        self._copies: dict[int, object] = {}  # as they were handed out

    def payloads(self, pieces: Sequence[Piece], payloads: Sequence[object]) -> list[object]:
        """The list to send: the caller's own objects where nothing was rewritten.

        Args:
            pieces: what is sent.
            payloads: the host's list.
        """
        self._forget_changed()
        sent: list[object] = []
        written = 0
        for piece in pieces:
            if isinstance(piece, Verbatim):
                sent.extend(payloads[piece.start : piece.stop])
                continue
            written += 1
            if id(piece) not in self._payloads:
                self._write(piece, payloads)
            sent.append(self._payloads[id(piece)])
        if written < len(self._written):
            self._forget(self._written.keys() - set(map(id, pieces)))
        return sent

    def _forget_changed(self) -> None:
        """What the caller changed is to be written anew."""
        if is_equal(self._payloads, self._copies):
            return  # all of it, compared at once
        self._forget([key for key in self._written if not self._is_unchanged(key)])

    def _is_unchanged(self, key: int) -> bool:
        payload, copy = self._payloads[key], self._copies[key]
        if is_equal(payload, copy):
            return True
        try:
            return self._host.snapshot(payload) == copy
        except (ValueError, RecursionError):  # the caller made something of it that is no message
            return False

    def _forget(self, keys: Iterable[int]) -> None:
        for key in keys:
            del self._written[key], self._payloads[key], self._copies[key]

    def _write(self, piece: Written, payloads: Sequence[object]) -> None:
        key, index = id(piece), piece.index
        payload = (
            self._host.compose(piece.message)
            if index is None
            else self._host.rewrite(payloads[index], piece.message)
        )
        self._written[key], self._payloads[key] = piece, payload
        self._copies[key] = self._host.snapshot(payload)


def is_equal(one: object, other: object) -> bool:
    """Whether two things are equal; not where that cannot be told."""
    try:
        return one == other
    except (ValueError, RecursionError):
        return False
