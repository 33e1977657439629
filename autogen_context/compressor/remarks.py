"""What somebody says around what is pasted: the ends of a long text, and remarks in its middle.

Promise: pure, and linear in what is read of the text; what is returned is the text's own words with marks for the rest.
"""

import re
from collections import Counter
from collections.abc import Callable
from itertools import chain

from autogen_context.messages.origin import outside_frames
from autogen_context.text.fit import marked
from autogen_context.text.work import STATEMENT_CHARS, ends_of

END_CHARS = 300  # at the beginning and the end of a long message, where people say what they want of what they pasted
GAP = "[…] "  # for output that is left out of a doubtful message, or around a remark
REMARK_WORDS = 5
REMARK_LINES = 5  # of what it stands in, at least
REMARK_LETTERS = 0.6  # of what a remark consists of, at least
OWN_WORDS = 0.5  # of a remark, that no other line has
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{2}|[^\W\d_]+")


def words_around(text: str) -> str:
    """Return what stands outside the output that a text frames, or its ends if that is much, with marks for the rest."""
    outside = [part for part in outside_frames(text) if part.strip()]
    if 0 < sum(map(len, outside)) <= 2 * END_CHARS:
        return f"{GAP}{GAP.join(outside)}"
    return ends_around(text)


def end_of(text: str) -> str:
    """Return the last lines of a text, with a mark for the rest."""
    end = last_lines(text)
    return marked(text.removesuffix(end)) + end


def ends_around(text: str, *, said: Callable[[str], str] = lambda _: "") -> str:
    """Return the first and the last lines of a text and what is said between them, with marks for the rest.

    Remarks between other lines are kept by their words; where there are none, ``said`` returns what a text says.
    """
    start, middle, end = ends_and_middle(text)
    remarks = remarks_in(middle)
    if not remarks:
        return start + (said(middle) or marked(middle)) + end
    return start + marked(middle) + "".join(f"{GAP}{each}\n" for each in remarks) + GAP + end


def ends_and_middle(text: str) -> tuple[str, str, str]:
    """Return the first lines of a text, what is between, and its last lines."""
    end = last_lines(text)
    start = first_lines(text.removesuffix(end))
    return start, text[len(start) :].removesuffix(end), end


def remarks_in(text: str) -> list[str]:
    """Return the lines between others that say something in words of their own; none if they are more than remarks.

    A line of a log or a table shares its words with others; what somebody wrote between them does not.
    """
    lines = ends_of(text, STATEMENT_CHARS, STATEMENT_CHARS).split("\n")
    words = [WORD.findall(line.casefold()) for line in lines]
    times = Counter(chain.from_iterable(map(set, words)))
    found = [
        at
        for at, said in enumerate(words)
        if len(said) >= REMARK_WORDS
        and len(lines[at]) <= END_CHARS
        and sum(times[word] == 1 for word in said) >= OWN_WORDS * len(said)
        and sum(map(len, said)) >= REMARK_LETTERS * len("".join(lines[at].split()))
    ]
    blank = ["", *(line.strip() for line in lines), ""]
    apart = [at for at in found if not blank[at] and not blank[at + 2]]
    for some in (found, apart) if len(lines) >= REMARK_LINES else ():
        said = [lines[at].strip() for at in some]
        if sum(map(len, said)) <= 2 * END_CHARS:
            return said
    return []


def first_lines(text: str) -> str:
    """Return the first lines of a text, as far as they fit ``END_CHARS``, or that many characters of the first one."""
    start = text[:END_CHARS]
    return start if start == text or "\n" not in start else start[: start.rfind("\n") + 1]


def last_lines(text: str) -> str:
    """Return the last lines of a text, as far as they fit ``END_CHARS``, or that many characters of the last one."""
    end = text[len(text.rstrip()) - END_CHARS :] if len(text.rstrip()) > END_CHARS else text
    return end if end == text else end[end.find("\n") + 1 :] or end
