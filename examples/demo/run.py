"""An agent with 60,000 tokens of work in a window of 8,000: ``make demo``.

Everything is real but the model: AutoGen's agent and client, the tools, the project and its tests, and a server that
refuses what OpenAI refuses. The model is a script, so nothing is downloaded and nothing is paid.
"""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import TextMessage, ToolCallRequestEvent
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import ChatCompletionClient, LLMMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient
