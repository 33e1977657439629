"""OpenAI's client without the copy that it makes of each request by the types of its fields.

Promise: what is sent is the same, to the byte (``tests/tasks/test_run.py``). The copy changes nothing in requests that hosts write as
JSON already, and takes nine tenths of the time of a long run.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from unittest.mock import patch

from openai import NotGiven, Omit

PLACE = "openai.resources.chat.completions.completions"


@contextmanager
def uncopied() -> Generator[None]:
    """Have requests sent as they are given, in the body."""
    with (
        patch(f"{PLACE}.async_maybe_transform", sent_later),
        patch(f"{PLACE}.maybe_transform", sent),
    ):
        yield


def sent(body: Mapping[str, object], _: object) -> Mapping[str, object]:
    """The fields that are given."""
    return {name: value for name, value in body.items() if not isinstance(value, NotGiven | Omit)}


async def sent_later(body: Mapping[str, object], _: object) -> Mapping[str, object]:
    """The fields that are given, for the asynchronous client."""
    return sent(body, None)
