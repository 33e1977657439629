"""What a user may set, where it comes from, and what is said of a setting that makes no sense."""

from autogen_context.config.config import ContextConfig

__all__ = ["ContextConfig"]
