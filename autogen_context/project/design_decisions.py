"""What was decided on a project: its records of decisions, in the shapes of MADR and Nygard and near them.

Promise: pure. A record gives its title with its status first, then its decision in whole sentences; what was rejected or
replaced gives its title alone.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from autogen_context.compressor.passage import Passage, passages_of
from autogen_context.project.extract import Document, Piece
from autogen_context.project.prose import TABLE_ROW, is_worth

RECORD = re.compile(
    r"(?:.*/)?(?:decisions?|adrs?|architecture[-_]decisions?)/(?:[^/]+/)?[^/]+\.(?:md|markdown|rst|adoc)$"
    r"|(?:docs?/)?(?:architecture|design|adr[-_ ]?\d+[^/]*|decisions)\.(?:md|rst)$",
    re.IGNORECASE,
)
NO_RECORD = re.compile(r"(?:readme|index|template|0000-[^/]*template)[^/]*$", re.IGNORECASE)
MOST_FILES = 200
MOST_CHARS = 40_000  # of a record
NUMBER = re.compile(r"(\d+)[^/]*$")

TITLE = re.compile(r"^# +(.+?)#*$", re.MULTILINE)
FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
STATUS = re.compile(
    r"^(?:[*\-] )?\**status\**:\**[ \t]*[\"']?(\w[\w ]{0,40})|^#{1,4} *status\s*\n+[*_\s-]*(\w[\w ]{0,40})",
    re.IGNORECASE | re.MULTILINE,
)
OUT = frozenset({"rejected", "superseded", "deprecated", "replaced", "withdrawn", "obsolete"})
DECISION = re.compile(
    r"^#{1,4} *(?:decision(?: outcome| made)?|the decision|outcome|solution)\b[^\n]*\n"
    r"|^\**(?:decision|decided(?:, as [^:*\n]{1,40})?)[.:]?\**[.:]?\**[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
NEXT_HEADING = re.compile(r"^#{1,4} ", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
FIRST_SENTENCES = 1


def decision_files(names: Iterable[str]) -> tuple[str, ...]:
    """The records of decisions, the newest first where they are numbered."""
    found = [name for name in names if RECORD.match(name) and not NO_RECORD.search(name)]
    return tuple(sorted(found, key=newest_first)[:MOST_FILES])


def newest_first(name: str) -> tuple[int, str]:
    """By number, from the highest; those without one last, by name."""
    numbers = re.findall(r"\d+", name.rpartition("/")[2])
    return -int(numbers[0][:9]) if numbers else 1, name


def record_of(name: str, text: str) -> Document:
    """A record in pieces: title and status, then the decision."""
    body = text[:MOST_CHARS]
    status = status_in(body)
    title = TITLE.search(body)
    named = (title[1] if title else name.rpartition("/")[2]).strip()
    head = f"{named} ({status})" if status else named
    pieces = [Piece(text=head)]
    if OUT.isdisjoint(status.lower().split()):
        pieces += decided_in(body)
    return Document(name=name, pieces=tuple(pieces))


def status_in(body: str) -> str:
    """The status of a record; empty where it names none."""
    found = STATUS.search(body)
    return " ".join((found[1] or found[2]).lower().split()) if found else ""


def decided_in(body: str) -> Iterator[Piece]:
    """The sentences of the decision; of what follows the title where no part is called so."""
    part = DECISION.search(body)
    if part:
        rest = body[part.end() :]
        following = NEXT_HEADING.search(rest)
        rest = rest[: following.start()] if following else rest
    else:
        front = FRONT_MATTER.match(body)
        rest = HEADING.sub("", body[front.end() if front else 0 :])
    yield from pieces_of([each for each in passages_of(rest) if is_said(each)])


def is_said(passage: Passage) -> bool:
    """Whether a passage is a sentence or an item: no heading, no code, no row of a table."""
    said = passage.kind in {"sentence", "item"}
    return said and is_worth(passage) and not passage.text.startswith(TABLE_ROW)


def pieces_of(passages: Sequence[Passage]) -> Iterator[Piece]:
    """The passages, the first one before the others, all of them under the title."""
    for at, passage in enumerate(passages):
        together = at > 0 and passages[at - 1].section == passage.section
        yield Piece(
            text=passage.lead + passage.text,
            turn=1 if at < FIRST_SENTENCES else 2,
            under=0,
            goes_on=together and passage.kind == "sentence",
        )
