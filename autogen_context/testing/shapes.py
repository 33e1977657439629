"""The JSON that goes between an agent and a model.

Promise: names for shapes, and nothing that runs.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
"""Anything that JSON can say, as ``json.loads`` gives it."""

JsonObject: TypeAlias = Mapping[str, Json]
"""A JSON object that is only read."""

ChatMessage: TypeAlias = dict[str, Any]
"""One message of a conversation as OpenAI's chat completions write it."""

CountTokens: TypeAlias = Callable[[str], int]
"""Tokens of a text."""
