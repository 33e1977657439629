"""Conversations with a person's memory, in every kind of store."""

from collections.abc import Sequence
from typing import Any

from autogen_context import IncrementalContextManager
from autogen_context.memory import UserMemory
from autogen_context.testing import ChatMessage
from support.keeping import manager

NOON_S = 1_764_417_600.0  # on the 29th of November 2025
DAY_S = 86_400.0
HARBOUR = "The Harbour project has 40 piles and its crane is blue."
ANSWERED = "I noted the Harbour project."
ASKED = "What did I tell you about the Harbour project?"
BROUGHT = "From earlier conversations with the person"
STATED = "Stated by the person in earlier conversations"


class Clock:
    """A clock that a test moves; between two looks at it a thousandth of a second passes."""

    def __init__(self) -> None:
        self.now_s = NOON_S

    def __call__(self) -> float:
        """The time."""
        self.now_s += 0.001
        return self.now_s


def person(text: str) -> ChatMessage:
    """What a person says."""
    return {"role": "user", "content": text}


def bot(text: str) -> ChatMessage:
    """What is answered."""
    return {"role": "assistant", "content": text}


def talk(*texts: str) -> list[ChatMessage]:
    """Turn by turn, the person first."""
    return [bot(text) if at % 2 else person(text) for at, text in enumerate(texts)]


def talked(memory: UserMemory, *texts: str, **given: Any) -> IncrementalContextManager:
    """A conversation with a turn for each of the person's messages, that is over."""
    keeper, messages = manager(memory=memory, **given), talk(*texts)
    for at in range(1, len(messages) + 1, 2):
        keeper.prepare_nowait(messages[:at])
    keeper.observe(messages)
    return keeper


def brought(memory: UserMemory, question: str, before: Sequence[str] = (), **given: Any) -> str:
    """What is sent in front of a question in a conversation of its own."""
    messages = [*talk(*before), person(question)]
    sent = manager(memory=memory, **given).prepare_nowait(messages).messages
    return "\n".join(str(each["content"]) for each in sent if each not in messages)
