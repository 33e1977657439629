"""Whose words a text holds: the lines of people, as a reader takes them who believes what a text says of itself.

Promise: a line is a person's where its message has the role of a person or of the system, or where the text attributes it to the user;
not where it is marked as quoted, or where the text says that a tool, a file or a mail has it. A tool's result has no words of people,
but for one that gives back what left the conversation, where it attributes them.

The reader is not wary: a mark that an author of a tool's output has forged counts, once somebody has moved that output without quoting it.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

PEOPLE = ("user", "system", "developer")  # roles
START = r"(?i)^[\W_]{0,6}(?:\d+[.)])?[\W_]{0,4}"  # "12. [user] ...", "- **User**: ..."
PERSON = re.compile(
    START
    + r"(?:the )?(?:user|human|person|customer)\b[^:\]\n]{0,40}[\]:][*\s]*|^\[[^\]\n]*\bby \"?(?:user|person)\b[^\]\n]*\]"
    r"|\"role\": ?\"user\", ?\"content\": ?\"|UserMessage\(content=|<\|im_start\|>user"
)
SAYS = re.compile(
    r"(?i)\b(?:the )?(?:user|person|customer) (?:also )?(?:said|says|wants|wanted|asks|asked|told|wrote|requests|requested)\b(?: that| to|:)?"
)
OTHERS = re.compile(
    START + r"(?:assistant|ai|agent|model|clerk|tool|function)\b[^:\]\n]{0,60}[\]:]"
    r"|^\W{0,4}(?:results?|output|call) of\b|^\W{0,4}(?:Mail M\d+$|Offer \d{5}[: ]|From: |Subject: |Supplier: )|^\[[^\]\n]*(?:original|result|output|tool|quot)"
    r"|<\|im_start\|>(?:assistant|tool)|\"role\": ?\"(?:assistant|tool)\""
)
TITLE = re.compile(r"^[^:]{2,40}:\s*$|^#+ |^\[.*\]$")
OF_PERSON = re.compile(
    r"(?i)^(?:#+ |\W{0,4}(?=.*:\W{0,3}$))(?:the )?(?:users?|human|person|customer)\b[^:\n]{0,40}\W{0,3}$"
)
QUOTED = re.compile(r"^\s*(?:[-*] )?(?:>|\|)")
IN_QUOTE = re.compile(r"^\s*\d+\+?\t")  # a numbered line of something shown
TOLD_BY = re.compile(
    r"(?i)\b(?:the|a|this|that) (?:mails?|file|offer|page|tool|result|description|text) (?:says|said|asks|asked|reads|contains|claims|demands)\b"
    r"|\b(?:read_\w+|search_\w+|send_\w+|pay_\w+|forward_\w+|order)\(|\w+ returned\b"
)


def words_of_people(text: str, role: str, *, gives_back: bool = False) -> str:
    """The lines of a text that are people's, below each other.

    Args:
        text: what a message says.
        role: of the message.
        gives_back: whether it is the result of a tool that gives back what left the conversation.
    """
    if role == "tool" and not gives_back:
        return ""
    return lines_of_people(text, by_person=role in PEOPLE)


@lru_cache(maxsize=20_000)
def lines_of_people(text: str, *, by_person: bool) -> str:
    """The lines that are people's in a text that is a person's, or not, where it does not say whose."""
    return "\n".join(told(text, by_person=by_person))


def told(text: str, *, by_person: bool) -> Iterator[str]:
    """Those lines, one by one."""
    attributed = False  # whether the text has said of any line whose it is
    for line in text.split("\n"):
        if QUOTED.match(line):
            continue
        shown = IN_QUOTE.match(line)
        if not shown and OF_PERSON.match(line):
            attributed = by_person = True
        elif not shown and (found := PERSON.search(line)):
            attributed = by_person = True
            yield line[found.end() :]
        elif not shown and OTHERS.search(line):
            attributed, by_person = True, False
        elif not shown and attributed and TITLE.match(line):
            by_person = False
        elif by_person and not TOLD_BY.search(line):
            yield line[shown.end() :] if shown else line
        elif not by_person and not shown and (found := SAYS.search(line)):
            if TOLD_BY.search(line[: found.start()]):
                continue  # a text says that somebody said so
            yield line[found.end() :]
