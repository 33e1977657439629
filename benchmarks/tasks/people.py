"""The sentences of a text that are a person's own words, for tasks in which people ask one thing after the other.

Promise: a person's message counts whole, any other text only where it attributes its lines to the user; no result of a tool does,
as a question that it gives back was asked before.
"""

import re
from functools import lru_cache

from tasks.whose import lines_of_people

SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'])")


@lru_cache(maxsize=20_000)
def people_said(text: str, role: str) -> tuple[str, ...]:
    """The sentences of a text that are a person's, in order."""
    if role == "tool":
        return ()
    lines = lines_of_people(text, by_person=role == "user").split("\n")
    return tuple(each for line in lines for each in SENTENCE.split(line) if each.strip())
