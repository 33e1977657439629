"""What older releases of the hosts do not have is not asked of them: a plugin for `make test-hosts`."""

import inspect
import re
from importlib.util import find_spec
from pathlib import Path

import autogen_agentchat.agents
import pytest
from autogen import ConversableAgent
from autogen_core.models import ChatCompletionClient

AGENTS = autogen_agentchat.agents
LATER = "test_agentchat_run.py", "test_agentchat_kinds.py"  # import what 0.7.5 has
NEEDED = (
    (
        "max_tool_iterations" in inspect.signature(AGENTS.AssistantAgent).parameters,
        r"is_dumped_loaded_and_registered_again",
        "max_tool_iterations, from autogen-agentchat 0.6.4 on",
    ),
    (
        "safeguard_llm_inputs" in ConversableAgent("a", llm_config=False).hook_lists,
        r"test_classic\.py::test_a_bill|classic_run.*(many_steps|own_model)",
        "hooks around a model's call, from autogen 0.14 on",
    ),
    (
        find_spec("agent_framework_anthropic") is not None,
        r"test_claude\.py::(?!.*one_key).*\[(ag2|agent-framework)\]|ag2_may_ask_another_client",
        "anthropic 1.x; the clients of the older hosts for Claude take what came before it",
    ),
    (
        "tool_choice" in inspect.signature(ChatCompletionClient.create).parameters,
        r"test_a_client_of_ones_own_defers_tools",
        "a tool choice, which autogen-core 0.5.7 does not have",
    ),
)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what cannot be imported."""
    return (
        True if collection_path.name in LATER and not hasattr(AGENTS, "ApprovalResponse") else None
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a later release than the one that is installed."""
    for item in items:
        for is_there, pattern, needed in NEEDED:
            if not is_there and re.search(pattern, item.nodeid):
                item.add_marker(pytest.mark.skip(reason=f"it needs {needed}"))
