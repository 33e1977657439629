"""A scripted summariser: one program for every manager that asks for a summary.

Promise: it reads lines and sentences of whatever text it is given, of any form, and writes at most as many words as it is asked
for: first what people said (what holds from then on before what was to be done once), then what was called with which names, then
lines with names and numbers, errors first.

It works as a careful model of middling skill does: it makes nothing up, and what there is no room for is gone.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from autogen_context.testing import Request, Say, Step
from tasks.sight import content_of

MOST_WORDS = 500  # where the prompt names no number
WORDS = re.compile(r"(?i)\b(?:at most|up to|under|no more than|maximum(?: of)?)\s+([\d,]+)\s+words")
NUMBERED = r"(?i)^[\W_]{0,6}(?:\d+[.)])?\W{0,4}"  # "12. [user] ..." as well
PERSON = re.compile(
    NUMBERED
    + r"(?:the )?(?:user|human|person|customer)\b[^:\]\n]{0,30}[\]:]\s*|HumanMessage\(content="
)
SPEAKER = re.compile(
    NUMBERED
    + r"(?:the )?(?:user|human|person|assistant|ai|tool|function|system|model)\b[^:\]\n]{0,60}[\]:]\s*"
)
TITLE = re.compile(r"^[^:]{2,40}:\s*$")  # of a part of an earlier summary
CALLED = re.compile(
    r"\w+\(\{.*?\}\)|\b(?:call|called|calls|tool_calls?)\b.{0,200}|\"?arguments\"?\W.{0,200}"
)
NAMED = re.compile(r"\b(?=\w*\d)[\w./:-]{3,}|\b[A-Z][\w-]+\d[\w-]*")
TROUBLE = re.compile(r"(?i)\b(?:error|fail\w*|reject\w*|refus\w*|denied|missing|exception)\b")
SENTENCE_END = re.compile(r"(?<=[.!?]) +")
LONGEST_LINE = (
    240  # characters of a line that is taken over; what people say is taken over by the sentence
)
STANDING = re.compile(  # said of more than what is to be done now
    r"(?i)\b(?:never|always|from now on|whenever|every(?: time)?|must|only|no longer|deadline|until|unless|except|instead|do not|don't"
    r"|not|nobody|nothing|none|rule|remember|keep|from here on|any(?:thing|body|one)?|is|are|has|have)\b"
)
PERSONS_FRACTION, CALLS_FRACTION = 0.5, 0.25  # of the words, for what people said and for calls


def summary(request: Request) -> Step:
    """The summary that a request asks for."""
    text = "\n".join(content_of(message) for message in request.messages)
    asked = [int(number.replace(",", "")) for number in WORDS.findall(text)]
    return Say(summarised(text, min([*asked, MOST_WORDS])))


def summarised(text: str, most_words: int) -> str:
    """The text in at most so many words."""
    said, called, rest = sorted_lines(text)
    people = of_people(said, int(most_words * PERSONS_FRACTION))
    calls = newest_that_fit(called, int(most_words * CALLS_FRACTION))
    left = most_words - words_of(people) - words_of(calls)
    named = [line for line in rest if NAMED.search(line)]
    trouble = newest_that_fit([line for line in named if TROUBLE.search(line)], left // 2)
    known = set(trouble)
    values = newest_that_fit(
        [line for line in named if line not in known], left - words_of(trouble)
    )
    parts = (
        ("The user said:", people),
        ("Done so far:", calls),
        ("Problems:", trouble),
        ("Known:", values),
    )
    return "\n".join(
        line
        for title, lines in parts
        if lines
        for line in (title, *(f"- {each}" for each in lines))
    )


def sorted_lines(text: str) -> tuple[list[str], list[str], list[str]]:
    """The lines of people, those of calls, and the others, each once, in order."""
    people: dict[str, None] = {}
    calls: dict[str, None] = {}
    rest: dict[str, None] = {}
    by_person = False
    for line in text.split("\n"):
        left = line
        if PERSON.search(left):
            by_person, left = True, PERSON.sub("", left)
        elif found := SPEAKER.match(left):
            left = left[found.end() :]  # an earlier summary begins behind its speaker
            by_person = PERSON.search(left) is not None
            left = PERSON.sub("", left)
        elif TITLE.match(left):
            by_person = False
        short = left.strip(" \t-*")
        if not short or TITLE.match(short):
            continue
        if by_person:
            people.update(dict.fromkeys(each[:LONGEST_LINE] for each in SENTENCE_END.split(short)))
        else:
            (calls if CALLED.search(short) else rest)[short[:LONGEST_LINE]] = None
    return list(people), list(calls), list(rest)


def of_people(said: Sequence[str], words: int) -> list[str]:
    """What people said within so many words, in order: what holds from then on first, then the rest, the newest of each."""
    standing = newest_that_fit([line for line in said if STANDING.search(line)], words)
    known = set(standing)
    others = newest_that_fit(
        [line for line in said if line not in known], words - words_of(standing)
    )
    known.update(others)
    return [line for line in said if line in known]


def newest_that_fit(lines: Sequence[str], words: int) -> list[str]:
    """The newest of these lines within so many words, in order."""
    return list(reversed(list(until_full(reversed(lines), words))))


def until_full(lines: Iterable[str], words: int) -> Iterator[str]:
    """Lines until the words are used up."""
    for line in lines:
        words -= len(line.split())
        if words < 0:
            return
        yield line


def words_of(lines: Iterable[str]) -> int:
    """How many words these have."""
    return sum(len(line.split()) for line in lines)
