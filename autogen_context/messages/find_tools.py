"""The tool ``find_tools``, with which an agent finds tools whose schemas are not sent yet, and what is read of schemas for it.

Promise: for any arguments of a model the answer is a text; what an answer says was found can be read out of it again, so that a
list of messages says which tools were found in it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, cast

from autogen_context.messages.tool_schema import arguments_in, as_text
from autogen_context.text.quote import one_line

FIND_TOOLS_NAME = "find_tools"
FIND_DESCRIPTION = (
    "Find tools that are not listed here; what is found can be called from your next step on. Ask once for all that you will "
    "need: the names of tools, or words for what they should do."
)
FIND_ARGUMENTS: Mapping[str, str] = {
    "query": "Names of tools, or what they should do; several at once, separated by commas."
}
FIND_USAGE = f'Call {FIND_TOOLS_NAME} with query="what the tool should do, or its name".'
ALL_THERE = "No tool is left to be found: all can be called already."
FOUND_OPENING = "[Found; they can be called from your next step on]"
SUMMARY_CHARS = 120  # of a description, in an answer
FOUND = re.compile(r"(?:^|\n|\\n)- (\S+): ")  # the second form where a host writes texts as JSON
NAME = re.compile(r"[\w.:/-]{1,128}")  # of a tool that can be deferred


def chosen_in(choice: object) -> tuple[str, ...]:
    """Return the names of tools that a tool choice demands, in the form of any known API; none for words such as ``auto``."""
    if not isinstance(choice, Mapping):
        return ()
    fields = cast("Mapping[str, object]", choice)
    names = [function_of(fields).get("name"), fields.get("required_function_name")]
    allowed = fields.get("allowed_tools")
    names += cast("Sequence[object]", allowed) if isinstance(allowed, list | tuple) else ()
    return tuple(name for name in names if isinstance(name, str) and name)


class FindsTools(Protocol):
    """Answers the tool; a manager does."""

    def find_tools(self, query: str = "") -> str:
        """Return the text for the model; never raises for its argument."""
        ...


def find_tools_schema() -> dict[str, object]:
    """Return the tool's schema for ``tools`` of OpenAI's chat API; a new dict each time.

    Among the ``tools`` of ``prepare`` it says that schemas may be deferred, and that ``Prepared.tools`` is what is sent.
    """
    properties = {
        name: {"type": "string", "description": text} for name, text in FIND_ARGUMENTS.items()
    }
    function: dict[str, object] = {
        "name": FIND_TOOLS_NAME,
        "description": FIND_DESCRIPTION,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": [*FIND_ARGUMENTS],
        },
    }
    return {"type": "function", "function": function}


def function_of(schema: Mapping[str, object]) -> Mapping[str, object]:
    """Return the part of a schema that has name and description: in OpenAI's form, or the schema itself."""
    function = schema.get("function", schema)
    return cast("Mapping[str, object]", function) if isinstance(function, Mapping) else {}


def name_of(schema: Mapping[str, object]) -> str:
    """Return the name of a tool that can be deferred.

    It is empty for all else: a provider's own tool, one that the provider defers itself, the schema of an answer.
    """
    function = function_of(schema)
    is_function = schema.get("type", "function") in ("function", "custom")
    is_deferred = schema.get("defer_loading") or function.get("defer_loading")
    name = function.get("name") if is_function and not is_deferred else ""
    return name if isinstance(name, str) and NAME.fullmatch(name) else ""


def is_find_tool(schema: Mapping[str, object]) -> bool:
    """Whether this is our tool, and not one of the host's own with its name."""
    said = function_of(schema).get("description")
    is_ours = isinstance(said, str) and said.startswith(FIND_DESCRIPTION)
    return is_ours and name_of(schema) == FIND_TOOLS_NAME


def described(schema: Mapping[str, object], description: str) -> Mapping[str, object]:
    """Return a schema with another description."""
    changed = {**function_of(schema), "description": description}
    return {**schema, "function": changed} if "function" in schema else changed


def description_of(schema: Mapping[str, object]) -> str:
    """Return the description of a tool; empty if it has none."""
    said = function_of(schema).get("description")
    return said if isinstance(said, str) else ""


def words_of(schema: Mapping[str, object]) -> Iterator[str]:
    """Yield what a tool is found by: its name, its description, and names and descriptions of its parameters."""
    left: list[object] = [function_of(schema)]
    yield name_of(schema)
    while left:
        each = left.pop()
        if isinstance(each, Mapping):
            fields = cast("Mapping[object, object]", each)
            left += fields.values()
            said, parameters = fields.get("description"), fields.get("properties")
            if isinstance(said, str):
                yield said
            if isinstance(parameters, Mapping):
                yield from map(str, cast("Mapping[object, object]", parameters))
        elif isinstance(each, list | tuple):
            left += cast("Sequence[object]", each)


def found_line(schema: Mapping[str, object]) -> str:
    """Return the line of an answer for a tool that was found."""
    said = one_line(description_of(schema), most_chars=SUMMARY_CHARS)
    return f"- {name_of(schema)}: {said or 'it has no description'}"


def found_in(answer: str) -> list[str]:
    """Return the names that an answer says were found, in its order."""
    return FOUND.findall(answer) if FOUND_OPENING in answer else []


def answer_find(finder: FindsTools | None, arguments: str | Mapping[str, object]) -> str:
    """Answer a call; ``arguments`` are the model's JSON, or the object parsed from it. ``None`` has nothing deferred."""
    if finder is None:
        return ALL_THERE
    fields = arguments_in(arguments)
    if isinstance(fields, str):
        return f"{fields} {FIND_USAGE}"
    query = fields.get("query")
    if isinstance(query, list | tuple):
        return finder.find_tools(", ".join(map(str, cast("Sequence[object]", query))))
    return finder.find_tools(as_text(query))
