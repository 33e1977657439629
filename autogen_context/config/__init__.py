"""All settings, their sources, and the errors for invalid ones."""

from autogen_context.config.config import ContextConfig

__all__ = ["ContextConfig"]
