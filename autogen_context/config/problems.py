"""What is wrong with settings, in words that name the setting, where it was given, and the way out.

Promise: no value of a setting that has the wrong name is repeated; it may be a secret under a slip of the pen.
"""

import reprlib
from collections.abc import Mapping

from pydantic import ValidationInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from autogen_context.config.keys import Given, Problem


def require_below(other: str, value: float, info: ValidationInfo) -> None:
    """Compare a value with a field before it; one that is left out or wrong itself is no bound."""
    bound: object = info.data.get(other)
    if isinstance(bound, int | float) and value >= bound:
        message = "Input should be below {other}, which is {bound}"
        raise PydanticCustomError("too_large", message, {"other": other, "bound": bound})


def require_unset(other: str, info: ValidationInfo) -> None:
    """Refuse a value beside a field before it that says the same thing."""
    said: object = info.data.get(other)
    if said is not None:
        message = "Input says itself what {other} does, which is {said}; give one of them"
        raise PydanticCustomError("conflict", message, {"other": other, "said": said})


def reworded(found: ErrorDetails, given: Mapping[str, Given], default: object) -> Problem:
    """Pydantic's complaint about one field, with the name and the place that the user knows."""
    key = str(found["loc"][0])
    value = reprlib.repr(found["input"])
    name = "".join(f"{within(place)} of " for place in found["loc"][1:2]) + given[key].name
    message = f"{name} is {value}: {found['msg']}; the default is {default!r}"
    return Problem(key=key, message=message)


def within(place: str | int) -> str:
    """A place in a setting that has several values, as the user knows it."""
    return repr(place) if isinstance(place, str) else f"item {place}"


def line_of(problem: Problem) -> InitErrorDetails:
    """A problem as pydantic collects them; the key stands as the input, so that a secret under a wrong name stays out."""
    kind = PydanticCustomError("setting", "{message}", {"message": problem.message})
    return InitErrorDetails(type=kind, loc=(problem.key,), input=problem.key)
