"""What an account says of each thing that it names: by clause, by the heading above a list, by a tick.

Promise: it knows no layout of anybody; a clause without a state of its own has that of the clause before it in its sentence, else that
of the one behind it, else that of the heading over its list.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

BULLET = re.compile(r"\s*(?:[-*+\u2022] |\d{1,2}[.)] |\[[ x]\] )", re.IGNORECASE)
HEADING = re.compile(r"\s*(?:#+ |\*\*[^*]+\*\*\W*$|.{2,80}:\W{0,3}$)")
SENTENCE = re.compile(  # not behind the number of a step
    r"(?<=[^\d\s.][.!?])\s+|(?<=\d{3}[.!?])\s+|(?<=of \d[.!?])\s+"
)
CLAUSE = re.compile(r"(?i)([,;(]|\band\b|\bbut\b|\bwhile\b|\bwhereas\b)")


class Told(NamedTuple):
    """A sentence, and the heading of the list that it stands in; empty where there is none."""

    sentence: str
    heading: str


def sentences_of(text: str, name: re.Pattern[str]) -> Iterator[Told]:
    """The sentences of a text; a line without any name over a list is its heading."""
    heading = ""
    for line in text.split("\n"):
        if not line.strip():
            continue
        is_listed = BULLET.match(line) is not None
        if HEADING.match(line) and not name.search(line):
            heading = line
        elif not is_listed:
            heading = ""
        for sentence in SENTENCE.split(line):
            yield Told(sentence, heading if is_listed else "")


def states_in(
    told: Told, name: re.Pattern[str], state_of: Callable[[str], str]
) -> list[tuple[str, str]]:
    """Each name of a sentence with its state; empty where nothing says one."""
    found: list[tuple[str, str]] = []
    waiting: list[str] = []
    state, mark = "", ""
    for part in CLAUSE.split(told.sentence):
        if CLAUSE.fullmatch(part):
            mark = part
            continue
        names, own = name.findall(part), state_of(name.sub("", part))  # "render-notes" is no note
        if own and not names and mark != ";" and found and found[-1][1]:
            found[-1] = (found[-1][0], own)  # "called, but no answer"
        state = own or state
        if state:
            found += [(each, state) for each in [*waiting, *names]]
            waiting = []
        else:
            waiting += names
    return [*found, *((each, state_of(told.heading)) for each in waiting)]
