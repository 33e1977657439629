"""One conversation of one agent, from the host's list to the list to send: the manager, and what it is made of."""

from autogen_context.manager.manager import IncrementalContextManager

__all__ = ["IncrementalContextManager"]
