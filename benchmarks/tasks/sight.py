"""What a request shows, as its reader sees it; all that a policy ever knows.

Promise: everything here is read out of the messages and tools of one request. Whatever a manager writes (summaries, notices,
marks) is text like any other, whoever wrote it.

What a policy does where it finds something gone is the same for every manager:

1. It looks at all that the request shows, of any role, the newest last.
2. What the world can tell again (a file, a page of a list) it asks for again; that is counted.
3. Where a tool of the request says that it gives back what left the conversation, it asks that tool once for the same words.
4. Else it does what models do, which each family writes down: it repeats, takes the newest that it sees, or says that it cannot.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast

from autogen_context.testing import Call, ChatMessage, Request

LOOKS_BACK = re.compile(
    r"(?i)\b(?:left|hidden|earlier|previous|past|dropped|evicted)\b.{0,60}\bconversation"
)
SPEAKS = re.compile(  # within a paragraph
    r"(?<=[.!?;]) +(?=(?:The |the )?(?:[Uu]ser|[Pp]erson|[Cc]ustomer|[Hh]uman|[Aa]ssistant|[Tt]ool)\b[^.:\n]{0,30}: )"
    r"|(?<=[.!?;]) +(?=(?:Done|Completed|Known|Facts|Progress|Problems|Results)\b[^.:\n]{0,20}: )"
)
FENCE = re.compile(r"^\s*```\w*\n(.*)\n```\s*$", re.DOTALL)  # around all of a text
QUERY_NAMES = ("query", "question", "text", "search")  # arguments that take words to look for


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCall:
    """A tool call that a request shows, with its result; ``result`` is None where it does not show one."""

    at: int  # position of its message in the request
    id: str
    name: str
    arguments: Mapping[str, Any]
    result: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenText:
    """A text that a request shows."""

    at: int  # position of its message in the request
    role: str
    text: str


class Sight:
    """A request as its reader sees it.

    Args:
        request: messages and tools as they arrived at the model.
    """

    def __init__(self, request: Request) -> None:
        self.messages = request.messages
        self.tools = request.tools

    @cached_property
    def texts(self) -> list[SeenText]:
        """All texts, the arguments of calls as well, in order."""
        return [
            SeenText(at=at, role=str(message["role"]), text=text)
            for at, message in enumerate(self.messages)
            for text in written(message)
        ]

    @cached_property
    def text(self) -> str:
        """All texts joined, below each other."""
        return "\n\n".join(seen.text for seen in self.texts)

    @cached_property
    def calls(self) -> list[SeenCall]:
        """All tool calls in order, each with its result."""
        results = {
            str(message.get("tool_call_id")): content_of(message)
            for message in self.messages
            if message["role"] == "tool"
        }
        return [
            SeenCall(
                at=at,
                id=str(call["id"]),
                name=str(call["function"]["name"]),
                arguments=arguments_of(str(call["function"]["arguments"])),
                result=results.get(str(call["id"])),
            )
            for at, message in enumerate(self.messages)
            for call in message.get("tool_calls") or ()
        ]

    def calls_of(self, *names: str) -> list[SeenCall]:
        """The calls of these tools."""
        return [call for call in self.calls if call.name in names]

    @cached_property
    def newest(self) -> SeenText:
        """The text of the newest message."""
        last = self.messages[-1]
        return SeenText(at=len(self.messages) - 1, role=str(last["role"]), text=content_of(last))

    def found(self, pattern: re.Pattern[str], *roles: str) -> list[re.Match[str]]:
        """All matches in all texts, or in those of these roles, in order."""
        return [
            match
            for seen in self.texts
            if not roles or seen.role in roles
            for match in pattern.finditer(seen.text)
        ]

    def newest_match(self, pattern: re.Pattern[str], *roles: str) -> re.Match[str] | None:
        """The last match in the newest text that has one."""
        for seen in reversed(self.texts):
            if (not roles or seen.role in roles) and (matches := list(pattern.finditer(seen.text))):
                return matches[-1]
        return None

    @cached_property
    def tool_names(self) -> frozenset[str]:
        """The names of the tools that can be called."""
        return frozenset(str(function["name"]) for function in self._functions)

    @property
    def _functions(self) -> Iterator[Mapping[str, Any]]:
        for tool in self.tools:
            yield tool.get("function", tool)

    @cached_property
    def look_up_tool(self) -> tuple[str, str] | None:
        """The tool that says it gives back what left the conversation, and its argument for words."""
        for function in self._functions:
            if not LOOKS_BACK.search(str(function.get("description") or "")):
                continue
            taken = function.get("parameters", {}).get("properties", {})
            for argument in QUERY_NAMES:
                if argument in taken:
                    return str(function["name"]), argument
        return None

    @cached_property
    def given_back(self) -> frozenset[int]:
        """Positions of the messages that ask for what left the conversation, and of those that answer it."""
        if self.look_up_tool is None:
            return frozenset()
        asking = {call.at: call.id for call in self.calls_of(self.look_up_tool[0])}
        ids = set(asking.values())
        answers = (
            at for at, message in enumerate(self.messages) if message.get("tool_call_id") in ids
        )
        return frozenset([*asking, *answers])

    def look_up(self, words: str) -> Call | None:
        """The call that asks for these words what left; None where there is no such tool, or it was asked in sight."""
        if self.look_up_tool is None or self.looked_up(words) is not None:
            return None
        name, argument = self.look_up_tool
        return Call(name, {argument: words})

    def looked_up(self, words: str) -> str | None:
        """The newest answer in sight to that question; None where it was not asked."""
        if self.look_up_tool is None:
            return None
        name, argument = self.look_up_tool
        for call in reversed(self.calls_of(name)):
            if call.arguments.get(argument) == words:
                return call.result or ""
        return None


def written(message: ChatMessage) -> Iterator[str]:
    """The texts of a message: its content, and its calls as ``name(arguments)``."""
    if content := content_of(message):
        yield content if message["role"] == "tool" else legible(content)
    for call in message.get("tool_calls") or ():
        yield f"{call['function']['name']}({call['function']['arguments']})"


@lru_cache(maxsize=4096)
def legible(text: str) -> str:
    """A text as one reads it: what is written as JSON as lists under its keys, and a paragraph with a line for each speaker."""
    text = FENCE.sub(r"\1", text)
    if text.startswith(("{", "[{")):
        try:
            value: Any = json.loads(text)
        except ValueError:
            return text
        return "\n".join(lines_under("", value))
    return text if "\n" in text else SPEAKS.sub("\n", text)


def lines_under(key: str, value: Any) -> Iterator[str]:
    """The lines of a JSON value: its key as a heading, and below it what it holds."""
    if isinstance(value, dict):
        for name, each in cast("Mapping[str, Any]", value).items():
            told = str(name).replace("_", " ")
            is_field = key and not isinstance(each, dict | list)
            yield from lines_under(f"{key} {told}" if is_field else told, each)
    elif isinstance(value, list):
        yield f"{key}:"
        for each in cast("Sequence[Any]", value):
            yield f"- {each if isinstance(each, str) else '; '.join(fields_of(each))}"
    else:
        yield f"{key}: {value}" if key else str(value)


def fields_of(value: Any) -> Iterator[str]:
    """A JSON value within one line: an object as its fields, each with its name."""
    if not isinstance(value, dict):
        yield json.dumps(value)
        return
    for name, each in cast("Mapping[str, Any]", value).items():
        yield f"{str(name).replace('_', ' ')}: {each if isinstance(each, str) else json.dumps(each)}"


def content_of(message: ChatMessage) -> str:
    """The text of a message's content, a string or parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts: Sequence[Mapping[str, Any]] = content or ()
    return "\n".join(str(part["text"]) for part in parts if part.get("type") == "text")


@lru_cache(maxsize=4096)
def arguments_of(text: str) -> Mapping[str, Any]:
    """The arguments of a call; empty where they are not, or no longer, a JSON object."""
    try:
        value: Any = json.loads(text)
    except ValueError:
        return {}
    return (
        cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
    )  # JSON has no other keys
