"""What the benchmarks are measured on: a made-up coding conversation and the tokenizer that everyone counts with.

Promise: the same messages on every machine: 2,000 of them have 200,000 tokens, within two percent.
"""

from collections.abc import Iterator, Sequence

from autogen_context.testing import ChatMessage, conversation
from autogen_context.tokens.measure import TiktokenCounter, TokenCounter, counter_for

ENCODING = "cl100k_base"
ROOMY_TOKENS = 1_000_000  # a window that none of the histories fills
TOKENS_PER_TURN = 176  # of the generator's own approximation, 200 of the encoding


def history(messages: int) -> list[ChatMessage]:
    """The system prompt, the task, and calls with their results.

    Args:
        messages: how many; an even number of 2 or more ends with a result.
    """
    return conversation(turns=messages // 2 - 1, tokens_per_turn=TOKENS_PER_TURN)


def new_messages(most: int) -> Iterator[ChatMessage]:
    """Messages of some 100 tokens, each another one, to be said after a history."""
    later = conversation(turns=most, tokens_per_turn=105, seed=1)
    return (
        {"role": "user", "content": said["content"]} for said in later if said["role"] == "tool"
    )


def texts_of(messages: Sequence[ChatMessage]) -> list[str]:
    """Every text that is counted: contents, and names and arguments of calls."""
    calls = [call["function"] for said in messages for call in said.get("tool_calls", ())]
    contents = [str(said["content"]) for said in messages]
    return contents + [text for call in calls for text in (call["name"], call["arguments"])]


def tokenizer() -> TokenCounter:
    """What all peers use, tiktoken, where its ranks are on disk; else what else there is."""
    try:
        return TiktokenCounter(ENCODING)
    except FileNotFoundError:
        return counter_for(ENCODING)


def tokens_of(messages: Sequence[ChatMessage], counter: TokenCounter) -> int:
    """Tokens of the texts alone."""
    return sum(counter.count(text).tokens for text in texts_of(messages))
