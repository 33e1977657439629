"""Who speaks in the user's role: a person, another agent of the team, or what a program printed.

Promise: pure, and linear in the text. In doubt it is a person: without a name, under the name that gave the first task, under
a name that says so (``user_proxy``), or one that the user listed. Output is only what a message opens with, in a form that
hosts write and people do not, right behind words of the model that call no tool.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from autogen_context.messages.message import Message

STRONG_EMOTION = 0.7  # more is strong
_HUMAN = "user|human|person|customer|client|admin|operator"
_NAMED_A_PERSON = re.compile(
    rf"(?:the|end)?[ _.-]*(?:{_HUMAN})(?:[ _.-]*(?:{_HUMAN}|proxy|agent|input|\d+))*", re.IGNORECASE
)
_OPENED = re.compile(  # mini-swe-agent's <returncode> and <output>, and tags of that kind
    r"\s*<(?P<tag>output|stdout|stderr|returncode|return_code|exit_code|exitcode|observation|execution_result"
    r"|command_output|tool_result|tool_response|tool_output|function_results?|function_response)(?:\s[^<>\n]{0,200})?>",
    re.IGNORECASE,
)
_LABELLED = re.compile(  # AutoGen's code executors, OpenHands
    r"\s*(?:exitcode: -?\d+ \(execution (?:succeeded|failed)\)|EXECUTION RESULT of \[[^\]\n]{1,80}\]:"
    r"|The script ran(?:, then exited with an error| but produced no output)\b[^\n]{0,40}\bPOSIX exit code\b)"
)
_BEHIND = (  # SWE-agent behind a block of code, ReAct behind an action
    (re.compile(r"\s*OBSERVATION:[ \t]*\n"), re.compile(r"^[ \t]*```", re.MULTILINE)),
    (re.compile(r"\s*Observation:"), re.compile(r"^Action(?: Input)?:", re.MULTILINE)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Who of a conversation is a person, by names that do not say it."""

    names: frozenset[str] = frozenset()

    def speaks(self, message: Message) -> bool:
        """Whether it is a person's, if it is in the user's role."""
        name = message.name
        return not name or name in self.names or _NAMED_A_PERSON.fullmatch(name) is not None

    def heard(self, message: Message) -> Message:
        """The message in the role of who says it: another agent has the say of a model."""
        if not is_users(message) or self.speaks(message):
            return message
        return replace(message, role="assistant")


def people_in(messages: Iterable[Message], named: Collection[str] = ()) -> People:
    """The people of a conversation, oldest message first, and those whom the user listed by name."""
    first = next(filter(is_users, messages), None)
    return People(names=frozenset({*named, *([first.name] if first else [])}))


def is_users(message: Message) -> bool:
    """Whether a host sent it in the user's role, and it says something."""
    return message.role == "user" and not (message.results or message.own)


def is_strong(message: Message) -> bool:
    """Whether a host says that a message was said with strong emotion."""
    return message.intensity > STRONG_EMOTION


def words_and_output(message: Message, before: Message | None) -> tuple[str, str]:
    """What the author of a message says, and what a tool gave, by the message in front of it; one is mostly empty."""
    text = message.text
    by_model = before and before.role == "assistant" and before.text and not before.calls
    if message.role != "user" or message.results or before is None or not by_model:
        return text, ""
    behind = (label.match(text) and asked.search(before.text) for label, asked in _BEHIND)
    if _LABELLED.match(text) or any(behind):
        return "", text
    # Up to the last of the tags that it opens with: an output may hold anything, the end of its own tag included.
    end, lower, seen = 0, text.lower(), set[str]()
    while (opened := _OPENED.match(text, end)) and opened["tag"].lower() not in seen:
        tag = opened["tag"].lower()
        closed = lower.rfind(f"</{tag}>", opened.end())
        if closed < 0:
            return "", text
        end = closed + len(f"</{tag}>")
        seen.add(tag)
    return text[end:], text[:end]
