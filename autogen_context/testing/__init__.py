"""Tools for testing agents without a real model: a scripted model, servers of OpenAI's and Anthropic's APIs, sample conversations.

Promise: the same script, requests and seeds give the same answers; network traffic stays on 127.0.0.1.
Hypothesis strategies are in ``autogen_context.testing.transcripts``, the only module here that needs Hypothesis.
"""

from autogen_context.testing.answers import Fault
from autogen_context.testing.anthropic_cache import ClaudeUsage
from autogen_context.testing.anthropic_server import AnthropicServer, ServedMessages
from autogen_context.testing.conversation import conversation
from autogen_context.testing.record import ServedRequest
from autogen_context.testing.script import (
    Answer,
    Call,
    Request,
    Say,
    Script,
    ScriptedModel,
    ScriptEnded,
    Step,
)
from autogen_context.testing.server import LoopbackServer
from autogen_context.testing.usage import Usage, approximate_tokens
from autogen_context.testing.wire import ChatMessage

__all__ = [
    "Answer",
    "AnthropicServer",
    "Call",
    "ChatMessage",
    "ClaudeUsage",
    "Fault",
    "LoopbackServer",
    "Request",
    "Say",
    "Script",
    "ScriptEnded",
    "ScriptedModel",
    "ServedMessages",
    "ServedRequest",
    "Step",
    "Usage",
    "approximate_tokens",
    "conversation",
]
