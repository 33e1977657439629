"""What a person said and which facts hold, over conversations: the memory of one user, and how a conversation uses it."""

from autogen_context.memory.rows import RememberedExchange
from autogen_context.memory.user_memory import UserMemory

__all__ = ["RememberedExchange", "UserMemory"]
