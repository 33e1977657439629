"""Which lines of a text are a person's own words, whoever passes them on.

Promise: a message of a person counts whole; in any other text only what stands behind or under a heading such as "User:" or "The
user said:". Lines that are quoted with ">" are nobody's orders.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

PERSON = re.compile(
    r"(?i)^\W{0,4}(?:the )?(?:user|human|person)\b(?: said| asked| asks| says| wants| messages?)?[^:\n\w]{0,6}:\s*(.*)$"
)
OTHERS = re.compile(
    r"(?i)^\W{0,4}(?:assistant|ai|model|tool|function|system)\b[^:\n]{0,40}:|^[A-Z][\w ]{2,40}:\s*$"
)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'])")


@lru_cache(maxsize=20_000)
def people_said(text: str, role: str) -> tuple[str, ...]:
    """The sentences of a text that are a person's, in order."""
    return tuple(
        sentence
        for line in people_lines(text, role)
        for sentence in SENTENCE.split(line)
        if sentence.strip()
    )


def people_lines(text: str, role: str) -> Iterator[str]:
    """The lines of a text that are a person's."""
    lines = text.split("\n")
    by_person = role == "user" and not any(PERSON.match(line) for line in lines)
    for line in lines:
        if line.lstrip().startswith(">"):
            continue
        if found := PERSON.match(line):
            by_person = True
            yield found[1]
        elif OTHERS.match(line):
            by_person = False
        elif by_person:
            yield line
