"""Notice what the host changed in its list since the last turn.

Promise: a message is read once while its content stays the same, whether the host hands over the same objects, deep
copies of them, or the list of another process. Identity is compared first, then snapshots; digests only with a saved
state, and a digest is that of what was read, whatever the host made of its object since.

The host's objects are held for their identity alone; their content is never read a second time from the held ones.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import takewhile
from operator import eq
from typing import TypeVar

from autogen_context.errors import InvalidTranscript
from autogen_context.messages.message import HostFormat, Message
from autogen_context.messages.piece import same_at_front

Read = TypeVar("Read")


class History:
    """The host's list as it was handed over last."""

    def __init__(self, host: HostFormat, digests: Sequence[bytes] = ()) -> None:
        self.messages: list[Message] = []
        self._host = host
        self._payloads: list[object] = []
        self._snapshots: list[object] = []
        self._digests = list(digests)  # of the first messages: those that were asked for

    @property
    def payloads(self) -> Sequence[object]:
        """The host's objects, as far as they were handed over: a saved state has none."""
        return tuple(self._payloads)

    @property
    def digests(self) -> Sequence[bytes]:
        """A digest for each message."""
        self._digests += map(self._host.digest, self._snapshots[len(self._digests) :])
        return self._digests

    def positions(self, digests: AbstractSet[bytes]) -> frozenset[int]:
        """Where messages with these digests stand."""
        if not digests:
            return frozenset()
        return frozenset(i for i, digest in enumerate(self.digests) if digest in digests)

    def update(self, payloads: Sequence[object]) -> int:
        """Take the host's list in."""
        common = self._common(payloads)
        self._payloads[:common] = payloads[
            :common
        ]  # a host that copies once is followed by identity
        is_restored = len(self._digests) > len(self.messages)
        if common == len(payloads) == len(self._payloads) and not is_restored:
            return common
        appended = payloads[common:]
        new = self._of(self._host.read, appended, common)
        snapshots = self._of(self._host.snapshot, appended, common)
        same = self._known(snapshots) if is_restored else common
        del self.messages[common:], self._payloads[common:], self._snapshots[common:]
        del self._digests[same:]
        self.messages += new
        self._payloads += appended
        self._snapshots += snapshots
        return same

    def _common(self, payloads: Sequence[object]) -> int:
        """How many payloads at the front have the content of those before."""
        identical = self._identical(payloads)
        common = min(len(self._payloads), len(payloads))
        if self._snapshots[identical:common] == list(payloads[identical:common]):
            return common  # copies of plain data, compared at once
        for at in range(identical, common):
            known, payload = self._snapshots[at], payloads[at]
            if known != payload and [known] != self._of(self._host.snapshot, [payload], at):
                return at
        return common

    def _identical(self, payloads: Sequence[object]) -> int:
        """How many objects at the front are those that are held; an equal one among them is taken for the same."""
        known = self._payloads
        if known and len(payloads) >= len(known) and payloads[len(known) - 1] is known[-1]:
            with suppress(
                ValueError, RecursionError
            ):  # what cannot be compared is told by identity alone
                if known == list(payloads[: len(known)]):
                    return len(known)
        return same_at_front(known, payloads)

    def _known(self, snapshots: Sequence[object]) -> int:
        """How many snapshots at the front are those of a saved state."""
        digests = map(self._host.digest, snapshots)
        return sum(1 for _ in takewhile(bool, map(eq, self._digests, digests)))

    def _of(
        self, read: Callable[[object], Read], payloads: Sequence[object], at: int
    ) -> list[Read]:
        """What is read of payloads, of which the first stands at a position."""
        found: list[Read] = []
        for index, payload in enumerate(payloads, at):
            try:
                found.append(read(payload))
            except (ValueError, RecursionError) as error:
                raise InvalidTranscript(index=index, reason=str(error)) from error
        return found


def digest_of(host: HostFormat, payload: object) -> bytes:
    """The digest by which a payload is recognised."""
    host.read(payload)
    return host.digest(host.snapshot(payload))
