"""An agent's own model client makes the summaries of its conversation."""

from typing import Any

import pytest
from autogen_core import FunctionCall
from autogen_core.models import CreateResult, LLMMessage, RequestUsage, UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient
from typing_extensions import override

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.adapters.agentchat import complete_with
from autogen_context.adapters.agentchat_format import AgentChatFormat
from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.errors import CompletionFailed
from support.counting import Characters
from support.working import FINDING, prose


def answered(content: str | list[FunctionCall], finish_reason: Any = "stop") -> CreateResult:
    """What a client gives."""
    usage = RequestUsage(prompt_tokens=1, completion_tokens=1)
    return CreateResult(content=content, finish_reason=finish_reason, usage=usage, cached=False)


async def test_it_is_asked_with_one_message_and_no_tools() -> None:
    """The prompt as it is, and the text of the answer."""
    client = ReplayChatCompletionClient(["All is done."])
    assert await complete_with(client)("Summarise this.") == "All is done."
    (call,) = client.create_calls
    assert call["messages"] == [UserMessage(content="Summarise this.", source="user")]
    assert not call["tools"]


CALL = FunctionCall(id="1", name="send", arguments="{}")


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        pytest.param(answered([CALL]), "it calls a tool", id="call"),
        pytest.param(answered("All is", "length"), "it was truncated", id="broken off"),
        pytest.param(answered("All is", "content_filter"), "it was filtered", id="filtered"),
    ],
)
async def test_what_is_no_whole_text_is_no_answer(result: CreateResult, reason: str) -> None:
    """It is not passed on as one."""
    with pytest.raises(CompletionFailed, match=reason):
        await complete_with(ReplayChatCompletionClient([result]))("Summarise this.")


class Finding(ReplayChatCompletionClient):
    """A client that says what was found."""

    @override
    async def create(self, *args: Any, **options: Any) -> CreateResult:
        """The findings in the prompt."""
        return answered(f"Summed up. {' '.join(FINDING.findall(args[0][0].content))}")


async def test_it_summarises_a_conversation_of_its_host() -> None:
    """From the host's client to what is told in the host's messages."""
    messages: list[LLMMessage] = [UserMessage(content="Make it fast.", source="user")]
    for n in range(60):
        found = f"Finding: part_{n} waits for lock_{n % 7} of the router.\n{prose(n, 28)}"
        messages.append(UserMessage(content=found, source="worker"))
    manager = IncrementalContextManager(
        config=ContextConfig(window_tokens=12_000, summary_timeout_s=30.0),
        host=AgentChatFormat(),
        counter=Characters(),
        compressor=SemanticCompressor(complete_with(Finding([]))),
    )
    prepared = await manager.prepare(messages)
    assert any("Summed up. Finding:" in str(message.content) for message in prepared.messages)
    await manager.aclose()
