"""Tell people from other agents, whose words a host sends in the user's role as well.

Promise: pure. In doubt it is a person who speaks: without a name, under the name that gave the first task, under a name that
says so (``user_proxy``, ``HumanAdmin``), or under one of those that the user listed. Everybody else is an agent of the team, and
an agent may be repeating what a page told it.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from autogen_context.messages.message import Message

HUMAN = "user|human|person|customer|client|admin|operator"
STRONG_EMOTION = 0.7  # more is strong
NAMED_A_PERSON = re.compile(
    rf"(?:the|end)?[ _.-]*(?:{HUMAN})(?:[ _.-]*(?:{HUMAN}|proxy|agent|input|\d+))*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Who of a conversation is a person.

    Attributes:
        names: of those that neither have no name nor one that says it.
    """

    names: frozenset[str] = frozenset()

    def speaks(self, message: Message) -> bool:
        """Whether it is a person's, if it is in the user's role."""
        name = message.name
        return not name or name in self.names or NAMED_A_PERSON.fullmatch(name) is not None

    def heard(self, message: Message) -> Message:
        """The message in the role of who says it: another agent has the say of a model."""
        if not is_users(message) or self.speaks(message):
            return message
        return replace(message, role="assistant")


def people_in(messages: Iterable[Message], named: Collection[str] = ()) -> People:
    """The people of a conversation.

    Args:
        messages: its n messages, oldest first; as many as there are by now.
        named: the names of people, as the user listed them.
    """
    first = next(filter(is_users, messages), None)
    return People(names=frozenset({*named, *([first.name] if first else [])}))


def is_users(message: Message) -> bool:
    """Whether a host sent it in the user's role, and it says something."""
    return message.role == "user" and not (message.results or message.own)


def is_strong(message: Message) -> bool:
    """Whether a host says that a message was said with strong emotion."""
    return message.intensity > STRONG_EMOTION
