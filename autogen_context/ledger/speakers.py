"""Who says which part of a message, and of a text that may be a transcript.

Promise: pure, linear. Nobody gains authority by a line that says so: in what an assistant or a tool says there are no
speakers, ``system:`` counts at the very beginning alone, quoted speakers do not count, and all speakers are written as the
first one is. What was handed on (``[system] [tool] …``) has no more authority than who said it first.

In a transcript that is one plain text, a tool that forges a line like those of its speakers cannot be told from them; give
messages where there are any.
"""

import re
from collections.abc import Iterator
from typing import cast

from autogen_context.ledger.entry import AUTHORITIES, Author
from autogen_context.ledger.quoting import is_quoted
from autogen_context.ledger.rendering import BLOCK
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.people import People, words_and_output

SPEAKERS: dict[str, Author] = {  # as transcripts name them
    "user": "person", "human": "person", "customer": "person", "assistant": "assistant", "ai": "assistant",
    "agent": "assistant", "bot": "assistant", "tool": "tool", "function": "tool", "observation": "tool", "tool result": "tool",
    "tool output": "tool", "function result": "tool", "function output": "tool", "system": "system", "developer": "system",
}  # fmt: skip
ROLE = "|".join(sorted(SPEAKERS, key=len, reverse=True))
MARKER = re.compile(
    rf"^[ \t]*(?:\[(?P<bracketed>{ROLE})(?: calls [^\]\n]{{1,80}})?\]:?|(?P<plain>{ROLE}):|\*\*(?P<starred>{ROLE})(?::\*\*|\*\*:)|<(?P<tagged>{ROLE})>|\#+ (?P<headed>{ROLE}):?[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
INNER = re.compile(rf"[ \t]*\[(?P<bracketed>{ROLE})\]:?", re.IGNORECASE)
LEAST_SPEAKERS = 2  # where the first does not stand at the very beginning


def speeches(text: str, author: Author) -> Iterator[tuple[Author, int, int]]:
    """Who says what is between two places of a text, in order."""
    markers = list(MARKER.finditer(text)) if author in AUTHORITIES else []
    if not is_transcript(text, markers):
        yield author, 0, len(text)
        return
    style = markers[0].lastgroup
    turns = [match for match in markers if match.lastgroup == style]
    before = turns[0].start()
    yield author, 0, before
    opens = not text[:before].strip()
    ends = [match.start() for match in turns[1:]] + [len(text)]
    for turn, end in zip(turns, ends, strict=True):
        yield within(text, turn, speaker_of(turn, opens=opens), end)
        opens = False


def is_transcript(text: str, markers: list[re.Match[str]]) -> bool:
    """Whether these lines begin what several speakers say."""
    if not markers:
        return False
    first = markers[0].start()
    if not text[:first].strip():
        return True
    return len(markers) >= LEAST_SPEAKERS and not is_quoted(text, first)


def within(text: str, turn: re.Match[str], author: Author, end: int) -> tuple[Author, int, int]:
    """Who says what a turn holds: in what was handed on the one who said it first, if he has less authority."""
    start = turn.end()
    while (inner := INNER.match(text, start, end)) and turn.lastgroup == "bracketed":
        start = inner.end()
        named = speaker_named(inner["bracketed"])
        author = author if named in AUTHORITIES or author not in AUTHORITIES else named
    return author, start, end


def speaker_of(match: re.Match[str], *, opens: bool) -> Author:
    """Whom a line names; who claims to be the system in the middle of a talk is none with authority."""
    named = speaker_named(match[cast("str", match.lastgroup)])
    return "tool" if named == "system" and not opens else named


def speaker_named(role: str) -> Author:
    """Whose role it is."""
    return SPEAKERS[role.lower()]


def spoken(
    message: Message, before: Message | None, people: People
) -> Iterator[tuple[str, Author]]:
    """What a message says, and who says it.

    Args:
        message: any message; what programs printed says nothing, wherever it stands.
        before: the one in front of it.
        people: who is a person; every other agent has the say of an assistant.
    """
    if message.own:
        ledger = BLOCK.match(message.text)
        if ledger:
            yield ledger.group(), "system"
        yield message.text[ledger.end() if ledger else 0 :], "assistant"
    elif message.role in SYSTEM_ROLES:
        yield message.text, "system"
    elif message.role == "user" and not message.results:
        words, _ = words_and_output(message, before)
        yield words, "person" if people.speaks(message) else "assistant"
    elif message.role == "assistant":
        yield message.text, "assistant"


def parts_by_ledger(text: str, speaker: Author) -> Iterator[tuple[str, int, bool]]:
    """The parts of a text, where they begin, and whether they are a ledger; who has no authority has none."""
    at = 0
    for block in BLOCK.finditer(text) if speaker in AUTHORITIES else ():
        if speaker == "person" and is_quoted(text, block.start()):
            continue
        yield text[at : block.start()], at, False
        yield block["lines"], block.start("lines"), True
        at = block.end()
    yield text[at:], at, False
