"""Schemas of tools, in OpenAI's form."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from autogen_context.messages.find_tools import find_tools_schema
from autogen_context.messages.tool_schema import recall_tool_schema

Schema = Mapping[str, object]
OURS = (recall_tool_schema(), find_tools_schema())


def tool(name: str, description: str = "", **parameters: str) -> Schema:
    """A function with these parameters, by name and description."""
    properties = {key: {"type": "string", "description": text} for key, text in parameters.items()}
    function = {
        "name": name,
        "description": description,
        "parameters": {"type": "object", "properties": properties},
    }
    return {"type": "function", "function": function}


def name_in(schema: Schema) -> str:
    """The name of a tool."""
    function: Any = schema["function"]
    return str(function["name"])


names = st.from_regex(r"[A-Za-z0-9_-]{1,24}", fullmatch=True)


@st.composite
def toolsets(draw: st.DrawFn, *, least: int = 1, most: int = 30) -> list[Schema]:
    """Tools with names of their own, and descriptions that share words."""
    words = st.sampled_from(
        [
            "open",
            "close",
            "send",
            "a",
            "letter",
            "to",
            "the",
            "bank",
            "of",
            "records",
            "file",
            "user",
        ]
    )
    chosen = draw(st.lists(names, min_size=least, max_size=most, unique=True))
    return [
        tool(name, " ".join(draw(st.lists(words, max_size=40))), key="which one")
        for name in chosen
        if name not in ("recall_context", "find_tools")
    ]
