"""What a person said last, and whether that is the newest there is.

Promise: output that a host sends in a person's role is none, and what is our own is none.
"""

from collections.abc import Sequence

from autogen_context.messages.message import Message
from autogen_context.messages.user_output import words_and_output


def newest_request(messages: Sequence[Message]) -> str:
    """What a person, or the orchestrator in a person's role, said last; empty where nobody did."""
    return next(filter(None, (said_at(messages, i) for i in reversed(range(len(messages))))), "")


def said_now(messages: Sequence[Message]) -> str:
    """What a person says in the newest message; empty where it is another's."""
    return said_at(messages, len(messages) - 1) if messages else ""


def said_at(messages: Sequence[Message], at: int) -> str:
    """What a person says in a message, without the space around it."""
    message = messages[at]
    if message.role != "user" or message.own or message.results:
        return ""
    return words_and_output(message, messages[at - 1] if at else None)[0].strip()
