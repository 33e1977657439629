"""Test an agent without a model: a scripted one, a server that is as strict as OpenAI's, and conversations to try.

Promise: the same script, the same requests and the same seeds give the same answers; nothing leaves 127.0.0.1.

``ScriptedModel``, ``Say``, ``Call``
    what the model answers, in order or by a function of the request.
``LoopbackServer``, ``Fault``
    an OpenAI-compatible server on a free port that records, refuses, and fails on demand.
``conversation``
    a long coding-agent conversation, made up, for benchmarks and examples.
``autogen_context.testing.transcripts``
    Hypothesis strategies: ``transcripts``, ``broken_transcripts``, ``histories``. A module of its own, since it alone
    needs Hypothesis (``pip install "autogen-context[testing]"``).
"""

from autogen_context.testing.conversation import conversation
from autogen_context.testing.faults import Fault
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
from autogen_context.testing.server import LoopbackServer, ServedRequest
from autogen_context.testing.shapes import ChatMessage
from autogen_context.testing.usage import Usage, approximate_tokens

__all__ = [
    "Answer",
    "Call",
    "ChatMessage",
    "Fault",
    "LoopbackServer",
    "Request",
    "Say",
    "Script",
    "ScriptEnded",
    "ScriptedModel",
    "ServedRequest",
    "Step",
    "Usage",
    "approximate_tokens",
    "conversation",
]
