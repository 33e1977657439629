"""Hand out what is sent; what was written anew is written once.

Promise: what is handed out says what the pieces say, whatever the caller did to what was handed out before: a payload
goes out again only while it equals a private copy of what was written. While the host hands over the same objects, a turn
lays out what is new.
"""

from collections.abc import Sequence

from autogen_context.messages.message import HostFormat
from autogen_context.messages.piece import Piece, Verbatim, Written, equal_at_front
from autogen_context.view.certificate import is_longer, remainder


class Outbox:
    """The payloads of one conversation."""

    def __init__(self, host: HostFormat) -> None:
        self._host = host
        # What was written and is still sent, each at the same place in all three.
        self._written: list[Written] = []
        self._payloads: list[object] = []  # as the caller has them
        self._copies: list[object] = []  # as they were handed out
        self._places: dict[int, int] = {}  # by identity of what was written: nothing else has it
        # What was sent last: its pieces, the list, and how much of that is sent up to the end of each piece.
        self._pieces: tuple[Piece, ...] = ()
        self._sent: list[object] = []
        self._stops: list[int] = []
        self._edition = 0

    def payloads(
        self, pieces: Sequence[Piece], payloads: Sequence[object], *, edition: int
    ) -> list[object]:
        """The list to send: the caller's own objects where nothing was rewritten."""
        same = equal_at_front(self._pieces, tuple(pieces))
        sent, gone = (*self._pieces[:same], *pieces[same:]), self._pieces[same:]
        is_other = edition != self._edition
        if not self._are_unchanged() or is_other:
            self._forget_list()
            same = 0
        self._lay_out(sent, payloads, since=same)
        if is_other or any(isinstance(piece, Written) for piece in gone):
            self._forget_unsent()
        laid_out = list(self._sent)
        if (
            is_other
        ):  # of a host that copies its list at each turn no copy is kept until the next one
            self._forget_list()
        self._edition = edition
        return laid_out

    def _forget_list(self) -> None:
        self._pieces, self._sent, self._stops = (), [], []

    def _lay_out(
        self, pieces: tuple[Piece, ...], payloads: Sequence[object], *, since: int
    ) -> None:
        """Have in ``_sent`` what these pieces say; up to one of them it is there."""
        start, rest = self._stops[since - 1] if since else 0, list(pieces[since:])
        if rest and since < len(self._pieces) and is_longer(rest[0], self._pieces[since]):
            start, rest[0] = self._stops[since], remainder(rest[0], self._pieces[since])
        self._pieces = pieces[:since]  # should the host raise
        del self._sent[start:], self._stops[since:]
        for piece in rest:
            if isinstance(piece, Verbatim):
                self._sent += payloads[piece.start : piece.stop]
            else:
                self._sent.append(self._payload(piece, payloads))
            self._stops.append(len(self._sent))
        self._pieces = pieces

    def _payload(self, piece: Written, payloads: Sequence[object]) -> object:
        """What was written for a piece, or is now."""
        place = self._places.get(id(piece))
        if place is not None:
            return self._payloads[place]
        payload = (
            self._host.compose(piece.message)
            if piece.index is None
            else self._host.rewrite(payloads[piece.index], piece.message)
        )
        self._copies.append(self._host.snapshot(payload))
        self._places[id(piece)] = len(self._written)
        self._written.append(piece)
        self._payloads.append(payload)
        return payload

    def _are_unchanged(self) -> bool:
        """Whether the caller changed nothing; what it did is forgotten, to be written anew."""
        if is_equal(self._payloads, self._copies):
            return True  # all of it, compared at once
        places = range(len(self._written))
        unchanged = [place for place in places if self._is_unchanged(place)]
        self._keep(unchanged)
        return len(unchanged) == len(places)

    def _is_unchanged(self, place: int) -> bool:
        payload, copy = self._payloads[place], self._copies[place]
        if is_equal(payload, copy):
            return True
        try:
            return self._host.snapshot(payload) == copy
        except (ValueError, RecursionError):  # the caller made something of it that is no message
            return False

    def _forget_unsent(self) -> None:
        sent = set(map(id, self._pieces))
        self._keep([at for at, piece in enumerate(self._written) if id(piece) in sent])

    def _keep(self, places: Sequence[int]) -> None:
        """Forget what stands at other places."""
        self._written = [self._written[place] for place in places]
        self._payloads = [self._payloads[place] for place in places]
        self._copies = [self._copies[place] for place in places]
        self._places = {id(piece): place for place, piece in enumerate(self._written)}


def is_equal(one: object, other: object) -> bool:
    """Whether two things are equal; not where that cannot be told."""
    try:
        return one == other
    except (ValueError, RecursionError):
        return False
