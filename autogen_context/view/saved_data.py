"""Read what was saved as JSON data back into its shape.

Promise: what is damaged or of another release is a ``StateError`` that names the fields; no value is shown, since it may
be what somebody said.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, TypeVar

from autogen_context.errors import StateError

if TYPE_CHECKING:
    from pydantic import ValidationError


class Saved(Protocol):
    """A shape, as a dataclass."""

    @property
    def schema(self) -> int:
        """The number of the shape; a shape that changes gets another."""
        ...


Shape = TypeVar("Shape", bound=Saved)


def read_saved(shape: type[Shape], data: object, *, what: str, schema: int) -> Shape:
    """The saved data in its shape.

    Args:
        shape: the shape of this release.
        data: what was saved.
        what: is saved, in words: ``"facts"``.
        schema: the number that this release reads.

    Raises:
        StateError: it is of a schema that this release does not know, or damaged.
    """
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - only who loads pays for it

    if not isinstance(data, Mapping):
        raise damaged(what, f"expected an object, got {type(data).__name__}")
    try:
        saved = TypeAdapter(shape).validate_python(data)
    except ValidationError as error:
        raise damaged(what, faults(error)) from None  # pydantic's own text shows the values
    if saved.schema != schema:
        raise StateError(
            f"the saved {what} are of schema {saved.schema} and this release reads {schema}; "
            "load them with the release that saved them, or start without them"
        )
    return saved


def damaged(what: str, why: str) -> StateError:
    """The error of data that cannot be read."""
    return StateError(f"the saved {what} are damaged: {why}; give what to_json() returned")


def faults(error: "ValidationError") -> str:
    """Each field that is missing or wrong, by its place in the data."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    places = [(".".join(map(str, each["loc"])), each) for each in found]
    return "; ".join(
        f"'{place}' is missing" if each["type"] == "missing" else f"'{place}': {each['msg']}"
        for place, each in places
    )
