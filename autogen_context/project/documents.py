"""Documents of a project, chosen by their names, and the best of their pieces that have room; none is ever cut.

A record of a decision (MADR, Nygard) gives its title and status, then its decision; what was rejected gives its title alone.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autogen_context.compressor.passage import Passage, passages_of

Paper = Literal["requirements", "design", "memory_patterns"]
PAPERS: tuple[Paper, ...] = ("requirements", "design", "memory_patterns")
CountText = Callable[[str], int]
Extracts = Mapping[str, tuple[str, ...]]  # lines, by the names of their documents

TEXT = r"\.(?:md|markdown|rst|txt|adoc)$"
# What says what is wanted, the most telling first; from the third on they are any pages.
WANTED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"readme(?:{TEXT}|$)",
        rf"(?:docs?/)?[^/]*(?:requirement|specification|\bspec\b|\bprd\b|goals|vision|scope|roadmap|promises)[^/]*{TEXT}",
        rf"docs?/(?:index|overview|intro|readme)[^/]*{TEXT}",
        rf"docs?/[^/]+{TEXT}",
    )
)
PACKAGES = re.compile(r"requirements[^/]*\.txt$", re.IGNORECASE)  # of a package manager
RECORD = re.compile(
    r"(?:.*/)?(?:decisions?|adrs?|architecture[-_]decisions?)/(?:[^/]+/)?[^/]+\.(?:md|markdown|rst|adoc)$"
    r"|(?:docs?/)?(?:architecture|design|decisions)\.(?:md|rst)$",
    re.IGNORECASE,
)
NO_RECORD = re.compile(r"(?:readme|index|template|0000-[^/]*template)[^/]*$", re.IGNORECASE)
PAGES = re.compile(
    r"(?:\.github/|docs?/)?(?:agents|claude|gemini|copilot-instructions|contributing|hacking|development|style\w*|conventions?)"
    r"\.(?:md|rst|txt)$|\.cursorrules$",
    re.IGNORECASE,
)
MOST_WANTED, MOST_RECORDS, MOST_PAGES = 12, 200, 6  # files

MOST_CHARS = 60_000  # of a text, from its beginning
MOST_PIECE_CHARS = 1_200  # of one piece; what is longer is data
OPENING_PIECES = 4  # of a document, without its heading
SHOWN = 3  # turn of what is shown, not said
NEVER = -1  # the turn of a piece that is taken only for what stands under it
TABLE_ROW = "|"
WORTHLESS = re.compile(
    r"\s*(?:\[?!\[|</?[a-zA-Z!][^>]*>\s*$|<!--|[=\-*_~|: ]{3,}$|\[[^\]]+\]: ?\S+$)"
)
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
TITLE = re.compile(r"^# +(.+?)#*$", re.MULTILINE)
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
HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What is taken whole, or not: a sentence, an item, a heading, a block."""

    text: str
    turn: int = 0  # the lower come first; ``NEVER`` comes for others alone
    under: int = -1  # the heading that it stands under, by its place; -1 where there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text in pieces, in its order, and the name of its file."""

    name: str
    pieces: tuple[Piece, ...]


def papers_of(files: Iterable[str]) -> dict[Paper, tuple[str, ...]]:
    """The documents of each kind among the names of all files, the more important first."""
    names = sorted(files)
    wanted = [
        name
        for pattern in WANTED
        for name in names
        if pattern.match(name) and not PACKAGES.search(name)
    ]
    records = [name for name in names if RECORD.match(name) and not NO_RECORD.search(name)]
    pages = [name for name in names if PAGES.match(name)]
    return {
        "requirements": tuple(dict.fromkeys(wanted))[:MOST_WANTED],
        "design": tuple(sorted(records, key=newest_first)[:MOST_RECORDS]),
        "memory_patterns": tuple(pages[:MOST_PAGES]),
    }


def newest_first(name: str) -> tuple[int, str]:
    """By number, from the highest; those without one last, by name."""
    number = re.search(r"\d+", name.rpartition("/")[2])
    return -int(number[0][:9]) if number else 1, name


def read_document(paper: Paper, name: str, text: str) -> Document:
    """A document of a kind, by its name and its text."""
    if paper == "design":
        return Document(name=name, pieces=tuple(record_pieces(name, text)))
    body = FRONT_MATTER.sub("", text[:MOST_CHARS])
    if len(text) > MOST_CHARS:
        body = body.rpartition("\n")[0]
    first = paper == "requirements" and not any(each.match(name) for each in WANTED[:2])
    return Document(name=name, pieces=tuple(pieces_of(worthy(body), first_turn=int(first))))


def worthy(text: str) -> list[Passage]:
    """The passages of a text that say something to a reader: no badge, image or ruler, no data."""
    passages = (each for each in passages_of(text) if len(each.text) <= MOST_PIECE_CHARS)
    return [each for each in passages if not WORTHLESS.match(each.text)]


def pieces_of(passages: Sequence[Passage], *, first_turn: int) -> Iterator[Piece]:
    """The passages with their turns: the beginning, then the first words of each section, then the rest."""
    heading, spoken, said = -1, 0, 0
    for at, passage in enumerate(passages):
        if passage.kind == "heading":
            heading, said = at, 0
            yield Piece(text=passage.text, turn=first_turn if at == 0 else NEVER)
            continue
        turn = 0 if spoken < OPENING_PIECES else 1 if said == 0 else 2
        turn = first_turn + (SHOWN if passage.kind == "block" else turn)
        spoken, said = spoken + 1, said + 1
        yield Piece(text=passage.lead + passage.text, turn=turn, under=heading)


def record_pieces(name: str, text: str) -> Iterator[Piece]:
    """A record: title and status, then the sentences of the decision; of all that is said where no part is called so."""
    body = text[:MOST_CHARS]
    found, title, part = STATUS.search(body), TITLE.search(body), DECISION.search(body)
    status = " ".join((found[1] or found[2]).lower().split()) if found else ""
    named = (title[1] if title else name.rpartition("/")[2]).strip()
    yield Piece(text=f"{named} ({status})" if status else named)
    if not OUT.isdisjoint(status.split()):
        return
    if part:
        rest = HEADING.split(body[part.end() :], maxsplit=1)[0]
    else:
        rest = HEADING.sub("", FRONT_MATTER.sub("", body))
    said = (each for each in worthy(rest) if each.kind in {"sentence", "item"})
    said = (each for each in said if not each.text.startswith(TABLE_ROW))
    for at, each in enumerate(said):
        yield Piece(text=each.lead + each.text, turn=2 if at else 1, under=0)


def extracts(
    documents: Sequence[Document], *, room_tokens: int, count: CountText
) -> tuple[Extracts, int]:
    """What of some documents, the more important first, has room with the ends of its lines; and what was reckoned for it."""
    order = sorted(
        (piece.turn, i, at)
        for i, document in enumerate(documents)
        for at, piece in enumerate(document.pieces)
        if piece.turn != NEVER
    )
    taken: defaultdict[int, set[int]] = defaultdict(set)
    left = room_tokens
    for _, i, at in order:
        pieces = documents[i].pieces
        needed = {at, pieces[at].under} - {-1} - taken.get(i, set())
        texts = [pieces[each].text for each in needed]
        texts += [] if i in taken else [documents[i].name]
        cost = sum(count(f"{line}\n") for text in texts for line in text.split("\n"))
        if cost <= left:
            left -= cost
            taken[i] |= needed
    found = {
        documents[i].name: tuple(
            line for at in sorted(taken[i]) for line in documents[i].pieces[at].text.split("\n")
        )
        for i in sorted(taken)
    }
    return found, room_tokens - left
