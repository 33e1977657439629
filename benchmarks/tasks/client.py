"""Real clients and tools without what they work out anew with each request, always the same.

Promise: what is sent is the same, to the byte (``tests/tasks/test_run.py``). OpenAI's client copies each request by the types of its
fields, which changes nothing in what hosts write as JSON already and takes nine tenths of the time of a long run; agentchat works
out the schemas of its tools four times a call.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch
from weakref import WeakKeyDictionary

from autogen_core.tools import BaseTool, ToolSchema
from openai import NotGiven, Omit

PLACE = "openai.resources.chat.completions.completions"


WORKED_OUT = vars(BaseTool)["schema"].fget  # the function of the property


def known_schema(tool: BaseTool[Any, Any]) -> ToolSchema:
    """The schema of a tool, worked out once."""
    if tool not in _schemas:
        _schemas[tool] = WORKED_OUT(tool)
    return _schemas[tool]


_schemas: WeakKeyDictionary[BaseTool[Any, Any], ToolSchema] = WeakKeyDictionary()


@contextmanager
def uncopied() -> Generator[None]:
    """Have requests sent as they are given, in the body."""
    with (
        patch(f"{PLACE}.async_maybe_transform", sent_later),
        patch(f"{PLACE}.maybe_transform", sent),
        patch.object(BaseTool, "schema", property(known_schema)),
    ):
        yield


def sent(body: Mapping[str, object], _: object) -> Mapping[str, object]:
    """The fields that are given."""
    return {name: value for name, value in body.items() if not isinstance(value, NotGiven | Omit)}


async def sent_later(body: Mapping[str, object], _: object) -> Mapping[str, object]:
    """The fields that are given, for the asynchronous client."""
    return sent(body, None)
