"""What is held of a conversation: each unit decided as it comes in, and its original kept where it is not sent as it came.

Promise: whatever is held without being sent as it came in can be had from the store of originals by its handle, while that has room.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from autogen_context.cache.originals import OriginalStore
from autogen_context.compressor.arrival.arrival import Arrival
from autogen_context.messages.piece import messages_of
from autogen_context.session.conversation import Conversation
from autogen_context.session.held import Held
from autogen_context.view.decision import Decision


class Holding:
    """Holds one conversation.

    Args:
        conversation: what there is.
        arrival: decides on what comes in.
        stash: keeps originals.
        decisions: what was held in a saved state.

    Attributes:
        held: the decisions in force.
    """

    def __init__(
        self,
        conversation: Conversation,
        *,
        arrival: Arrival,
        stash: OriginalStore,
        decisions: Sequence[Decision],
    ) -> None:
        self.held = Held(decisions)
        self._conversation = conversation
        self._arrival = arrival
        self._stash = stash
        self._is_seen = not decisions  # whether what comes in can be compared with what is held

    def cut_back(self, messages: int) -> None:
        """Forget what was decided on all but the first messages: the host changed the others."""
        self.held.keep_first(messages)
        self._is_seen = False

    def follow(self, spared: AbstractSet[int]) -> None:
        """Decide on what is new.

        Args:
            spared: positions of messages that are sent as they are.
        """
        if not self._is_seen:
            self._arrival.restart(messages_of(self.held.pieces, self._conversation.messages))
            self._is_seen = True
        before = self.held.decisions[-1:]
        settled = len(self.held.decisions) - len(before)
        self.held.extend(
            self._conversation.candidates,
            lambda candidate, decision: self._arrival.decide(candidate, decision, spared=spared),
        )
        same = [decision.handle for decision in self.held.decisions[settled:][:1]]
        self._keep(settled + (same == [decision.handle for decision in before]))

    def replace(
        self, decisions: Sequence[Decision], spared: AbstractSet[int], *, since: int = 0
    ) -> None:
        """Hold what a plan decided, without what would be said twice in it.

        Args:
            decisions: one for each unit.
            spared: positions of messages that are sent as they are.
            since: position of the first unit that is decided anew; those before it are held already.
        """
        conversation = self._conversation
        settled = self._arrival.settle(
            decisions,
            conversation.candidates,
            conversation.messages,
            spared=spared,
            since=since,
        )
        self.held.replace(settled)
        self._keep(0)

    def restore(self, decisions: Sequence[Decision]) -> None:
        """Hold what was held once; what came in since is still to be decided on."""
        self.held.replace(decisions)
        self._is_seen = False

    def start_again(self, spared: AbstractSet[int]) -> None:
        """Decide on everything as if it came in now."""
        self.held.replace([])
        self._is_seen = False
        self.follow(spared)

    def _keep(self, start: int) -> None:
        """Put the originals of units from one on into their store."""
        candidates = self._conversation.candidates[start:]
        decided = zip(self.held.decisions[start:], candidates, strict=True)
        self._stash.put_all((d.handle, c.unit.messages) for d, c in decided if d.handle)
