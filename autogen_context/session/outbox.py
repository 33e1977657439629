"""Hand out what is sent; what was written anew is written once.

Promise: what is handed out says what the pieces say, whatever the caller did to what was handed out before: a payload
goes out again only while it equals a private copy of what was written.
"""

from collections.abc import Sequence

from autogen_context.pipeline.message import HostFormat
from autogen_context.pipeline.piece import Piece, Verbatim, Written


class Outbox:
    """The payloads of one conversation.

    Args:
        host: writes messages.
    """

    def __init__(self, host: HostFormat) -> None:
        self._host = host
        # By identity of the piece, which the entry keeps: piece, payload, copy of the payload.
        self._known: dict[int, tuple[Written, object, object]] = {}

    def payloads(self, pieces: Sequence[Piece], payloads: Sequence[object]) -> list[object]:
        """The list to send: the caller's own objects where nothing was rewritten.

        Args:
            pieces: what is sent.
            payloads: the host's list.
        """
        known, self._known = self._known, {}
        sent: list[object] = []
        for piece in pieces:
            if isinstance(piece, Verbatim):
                sent.extend(payloads[piece.start : piece.stop])
                continue
            entry = known.get(id(piece))
            if entry is None or not self._is_unchanged(entry[1], entry[2]):
                payload = self._written(piece, payloads)
                entry = (piece, payload, self._host.snapshot(payload))
            self._known[id(piece)] = entry
            sent.append(entry[1])
        return sent

    def _written(self, piece: Written, payloads: Sequence[object]) -> object:
        if piece.index is None:
            return self._host.compose(piece.message)
        return self._host.rewrite(payloads[piece.index], piece.message)

    def _is_unchanged(self, payload: object, snapshot: object) -> bool:
        try:
            return payload == snapshot or self._host.snapshot(payload) == snapshot
        except (ValueError, RecursionError):  # the caller made something of it that is no message
            return False
