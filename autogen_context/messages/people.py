"""Tell who wrote a message in the user role: a person, another agent of the team, or a program's output.

Promise: pure, and linear in the text. A message is a person's if it has no name, the name of the first task's author, a name
such as ``user_proxy``, or a name that the user listed. Program output is recognised only at the beginning of a message, in
the formats that hosts write, directly after a model message without tool calls.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from autogen_context.messages.message import Message

STRONG_EMOTION = 0.7  # intensity above which an emotion is strong
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
_BEHIND = (  # SWE-agent after a code block, ReAct after an action
    (re.compile(r"\s*OBSERVATION:[ \t]*\n"), re.compile(r"^[ \t]*```", re.MULTILINE)),
    (re.compile(r"\s*Observation:"), re.compile(r"^Action(?: Input)?:", re.MULTILINE)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Further names under which people write in a conversation."""

    names: frozenset[str] = frozenset()

    def speaks(self, message: Message) -> bool:
        """Whether a message in the user role is a person's."""
        name = message.name
        return not name or name in self.names or _NAMED_A_PERSON.fullmatch(name) is not None

    def heard(self, message: Message) -> Message:
        """Return the message in the role of its author: another agent counts as a model."""
        if not is_users(message) or self.speaks(message):
            return message
        return replace(message, role="assistant")


def people_in(messages: Iterable[Message], named: Collection[str] = ()) -> People:
    """Return the people of a conversation: the author of the first user message, and the listed names."""
    first = next(filter(is_users, messages), None)
    return People(names=frozenset({*named, *([first.name] if first else [])}))


def is_users(message: Message) -> bool:
    """Whether the host sent it in the user role, without tool results."""
    return message.role == "user" and not (message.results or message.own)


def is_strong(message: Message) -> bool:
    """Whether the host reports a strong emotion for the message."""
    return message.intensity > STRONG_EMOTION


def words_and_output(message: Message, before: Message | None) -> tuple[str, str]:
    """Split a message into its author's words and program output; one of them is usually empty."""
    text = message.text
    by_model = before and before.role == "assistant" and before.text and not before.calls
    if message.role != "user" or message.results or before is None or not by_model:
        return text, ""
    behind = (label.match(text) and asked.search(before.text) for label, asked in _BEHIND)
    if _LABELLED.match(text) or any(behind):
        return "", text
    # Output ends at the last closing tag, since it may contain its own closing tag.
    end, lower, seen = 0, text.lower(), set[str]()
    while (opened := _OPENED.match(text, end)) and opened["tag"].lower() not in seen:
        tag = opened["tag"].lower()
        closed = lower.rfind(f"</{tag}>", opened.end())
        if closed < 0:
            return "", text
        end = closed + len(f"</{tag}>")
        seen.add(tag)
    return text[end:], text[:end]
