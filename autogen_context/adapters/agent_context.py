"""What an entry gives back: whom to ask about an agent's context, the same for every host."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic

from autogen_context.config.config import ContextConfig
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.prepared import Payload, Prepared
from autogen_context.messages.message import Message

if TYPE_CHECKING:
    from autogen_context.prioritizer.score import Explanation

# AgentChat's own system prompt has 28 tokens, classic's has 460, and a tool has about 80 (measured 2026-11): room for
# a page of prompt, and for a dozen tools.
UNSEEN_TOKENS = 1_000
UNSEEN_FRACTION = 0.125  # of a small window, at most


class AgentContext(Generic[Payload]):
    """The context of one agent.

    Attributes:
        manager: that of the conversation at hand, for what is not here.
        last_prepared: the last request with its certificate and decisions; ``None`` before the first.
    """

    manager: IncrementalContextManager
    last_prepared: Prepared[Payload] | None

    def pin(self, message: Payload) -> None:
        """Keep a message verbatim from now on, and with it the call or the results that belong to it."""
        self.manager.pin(message)

    def unpin(self, message: Payload) -> None:
        """Let a pinned message go at the next compaction."""
        self.manager.unpin(message)

    def explain(self, message: Payload) -> "Explanation":
        """What became of a message in the last turn, and why.

        Raises:
            NotInHistory: the last turn did not have it.
        """
        return self.manager.explain(message)

    def recall(self, handle: str) -> Sequence[Message]:
        """The originals of what was shortened or dropped.

        Raises:
            OriginalNotFound: they are not kept (any more).
        """
        return self.manager.recall(handle)

    async def aclose(self) -> None:
        """End what is still under way in the background."""
        await self.manager.aclose()


def with_reserve(config: ContextConfig, *, unseen: int) -> ContextConfig:
    """The settings with something held back for what nobody told of, unless they say how much.

    Args:
        config: the settings; the number in them wins over the guess.
        unseen: how many of the two are not known: the system prompt, and the tools.
    """
    if "reserve_tokens" in config.model_fields_set or not unseen:
        return config
    window = config.window_tokens
    each = min(UNSEEN_TOKENS, int(window * UNSEEN_FRACTION)) if window else UNSEEN_TOKENS
    return config.model_copy(update={"reserve_tokens": unseen * each})
