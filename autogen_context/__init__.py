"""Keeps AutoGen agents inside their context window, at the lowest price, without losing what they need next."""

from autogen_context.config import ContextConfig
from autogen_context.manager import IncrementalContextManager
from autogen_context.pipeline.assemble import Certificate
from autogen_context.pipeline.decision import Decision
from autogen_context.pipeline.measure import Count
from autogen_context.session.prepared import Prepared

__all__ = [
    "Certificate",
    "ContextConfig",
    "Count",
    "Decision",
    "IncrementalContextManager",
    "Prepared",
]
