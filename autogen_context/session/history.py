"""Notice what the host changed in its list since the last turn.

Promise: a message is read once while its content stays the same, whether the host hands over the same objects, deep
copies of them, or the list of another process. Identity is compared first, then snapshots, then digests.

The host's objects are held for their identity alone; their content is never read a second time from the held ones.
"""

from collections.abc import Sequence
from itertools import islice, takewhile
from operator import is_

from autogen_context.errors import BrokenTranscript
from autogen_context.pipeline.message import HostFormat, Message


class History:
    """The host's list as it was handed over last.

    Args:
        host: reads payloads.
        digests: what is known of the list from a saved state, one digest for each message.
    """

    def __init__(self, host: HostFormat, digests: Sequence[bytes] = ()) -> None:
        self.messages: list[Message] = []
        self._host = host
        self._payloads: list[object] = []
        self._snapshots: list[object] = []
        self._restored = list(digests)

    @property
    def digests(self) -> list[bytes]:
        """A digest for each message."""
        return self._restored or [message.digest for message in self.messages]

    def update(self, payloads: Sequence[object]) -> int:
        """Take the host's list in.

        Args:
            payloads: n messages, oldest first.

        Returns:
            How many at the front are as they were.

        Raises:
            BrokenTranscript: a payload is no message; nothing was taken in.
        """
        if self._restored:
            return self._resume(payloads)
        same = self._common(payloads)
        new = [self._read(i, payload) for i, payload in enumerate(payloads[same:], same)]
        snapshots = [self._snapshot(i, payload) for i, payload in enumerate(payloads[same:], same)]
        if same < len(self.messages):
            del self.messages[same:], self._payloads[same:], self._snapshots[same:]
        self.messages += new
        self._payloads += payloads[same:]
        self._snapshots += snapshots
        return same

    def _common(self, payloads: Sequence[object]) -> int:
        identical = sum(1 for _ in takewhile(bool, map(is_, self._payloads, payloads)))
        if identical == min(len(self._payloads), len(payloads)):
            return identical
        common = min(len(self._snapshots), len(payloads))
        if self._snapshots[identical:common] == list(payloads[identical:common]):
            return common  # copies of plain data, compared at once
        unchanged, rest = self._host.unchanged, islice(self._snapshots, identical, None)
        for at, (snapshot, payload) in enumerate(
            zip(rest, payloads[identical:], strict=False), identical
        ):
            if not unchanged(snapshot, payload) and not self._reads_the_same(at, payload):
                return at
        return common

    def _reads_the_same(self, at: int, payload: object) -> bool:
        return self._read(at, payload).digest == self.messages[at].digest

    def _resume(self, payloads: Sequence[object]) -> int:
        """Compare with the digests of a saved state; every message is read, this once."""
        messages = [self._read(i, payload) for i, payload in enumerate(payloads)]
        pairs = zip(messages, self._restored, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0].digest == pair[1], pairs))
        self._snapshots = [self._snapshot(i, payload) for i, payload in enumerate(payloads)]
        self.messages, self._payloads, self._restored = messages, list(payloads), []
        return same

    def _read(self, index: int, payload: object) -> Message:
        try:
            return self._host.read(payload)
        except (ValueError, RecursionError) as error:
            raise BrokenTranscript(index=index, reason=str(error)) from error

    def _snapshot(self, index: int, payload: object) -> object:
        try:
            return self._host.snapshot(payload)
        except RecursionError as error:
            raise BrokenTranscript(index=index, reason=str(error)) from error
