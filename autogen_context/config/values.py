"""The kinds of values that settings have.

Promise: what is no value of a kind is refused, and what the environment can say only as text is read.
"""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, cast, get_args

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from autogen_context.messages.tool_call import NamedKind


def refuse_bool(value: object) -> object:
    """Python and YAML would take ``true`` for 1, which as a number of tokens is a slip."""
    if isinstance(value, bool):
        raise PydanticCustomError("number_type", "Input should be a number")
    return value


def from_json(value: object) -> object:
    """The value of a variable of the environment, which is always text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def list_of_names(value: object) -> object:
    """A list; one name alone would be read as its letters."""
    names = from_json(value)
    if not isinstance(names, list | tuple):
        raise PydanticCustomError("names", "Input should be a list of names, such as ['Alice']")
    return cast("Sequence[object]", names)  # what is in it is checked next


def known_kind(value: object) -> object:
    """What a tool does; of what is near, the name is given."""
    if value in KINDS:
        return value
    near = get_close_matches(str(value), KINDS, n=1)
    way_out = f"; did you mean {near[0]!r}?" if near else ""
    raise PydanticCustomError(
        "kind",
        "Input should be one of {kinds}{way_out}",
        {"kinds": ", ".join(KINDS), "way_out": way_out},
    )


KINDS = tuple(name for part in get_args(NamedKind) for name in (get_args(part) or (part,)))

Number = Annotated[int, BeforeValidator(refuse_bool)]
Share = Annotated[float, BeforeValidator(refuse_bool)]
Seconds = Annotated[float, BeforeValidator(refuse_bool)]
Tools = Annotated[
    Mapping[str, Annotated[NamedKind, BeforeValidator(known_kind)]], BeforeValidator(from_json)
]
Names = Annotated[tuple[str, ...], BeforeValidator(list_of_names)]
