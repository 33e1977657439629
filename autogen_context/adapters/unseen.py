"""How much to hold back for a system prompt and tools that an adapter cannot see and nobody told it of.

Promise: a setting wins over the guess, and a small window is not eaten up by it.
"""

from autogen_context.config.config import ContextConfig

# AgentChat's own system prompt has 28 tokens, classic's has 460, and a tool has about 80 (measured 2026-11): room for
# a page of prompt and a handful of tools.
UNSEEN_TOKENS = 1_000
UNSEEN_FRACTION = 0.125  # of a small window, at most


def with_reserve(config: ContextConfig) -> ContextConfig:
    """The settings with something held back, unless they say how much."""
    if "reserve_tokens" in config.model_fields_set:
        return config
    window = config.window_tokens
    held_back = min(UNSEEN_TOKENS, int(window * UNSEEN_FRACTION)) if window else UNSEEN_TOKENS
    return config.model_copy(update={"reserve_tokens": held_back})
