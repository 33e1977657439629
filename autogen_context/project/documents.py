"""Select a project's documents by file name, and their most important passages that fit.

A decision record (MADR, Nygard) contributes its title, status and decision; a rejected or superseded one only title and status.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import PlainSerializer

from autogen_context.compressor.passage import passages_of
from autogen_context.text.fit import CountText
from autogen_context.text.passage import ONLY_ABOVE, Passage, chosen

DocumentKind = Literal["requirements", "design", "memory_patterns"]
KINDS: tuple[DocumentKind, ...] = ("requirements", "design", "memory_patterns")
Extracts = Mapping[str, tuple[str, ...]]  # lines by document name

TEXT = r"\.(?:md|markdown|rst|txt|adoc)$"
# Files that state requirements, the most specific first; the last two patterns match any documentation page.
WANTED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"readme(?:{TEXT}|$)",
        rf"(?:docs?/)?[^/]*(?:requirement|specification|\bspec\b|\bprd\b|goals|vision|scope|roadmap|promises)[^/]*{TEXT}",
        rf"docs?/(?:index|overview|intro|readme)[^/]*{TEXT}",
        rf"docs?/[^/]+{TEXT}",
    )
)
PACKAGES = re.compile(r"requirements[^/]*\.txt$", re.IGNORECASE)  # pip's requirements files
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

MOST_CHARS = 60_000  # read from the start of a text
MOST_PASSAGE_CHARS = 1_200  # longer passages are taken for data
OPENING_PASSAGES = 4  # at the start of a document, not counting headings
SHOWN = 3  # ranks that a block, such as code, stands lower
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


def in_cache(passages: Sequence[Passage]) -> list[tuple[str, float, int]]:
    """Return what a cache keeps of passages: texts, ranks, and what they stand under; the rest is empty."""
    return [each[:3] for each in passages]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The passages of a text that may be shown, in order, and its file name."""

    name: str
    passages: Annotated[tuple[Passage, ...], PlainSerializer(in_cache)]


def named_by_kind(files: Iterable[str]) -> dict[DocumentKind, tuple[str, ...]]:
    """Return the documents of each kind among all file names, the most important first."""
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
    """Sort key: the highest number first, names without a number last."""
    number = re.search(r"\d+", name.rpartition("/")[2])
    return -int(number[0][:9]) if number else 1, name


def read_document(kind: DocumentKind, name: str, text: str) -> Document:
    """Split the text of a document of this kind into passages with their ranks."""
    if kind == "design":
        return Document(name=name, passages=tuple(passages_of_record(name, text)))
    body = FRONT_MATTER.sub("", text[:MOST_CHARS])
    if len(text) > MOST_CHARS:
        body = body.rpartition("\n")[0]
    first = kind == "requirements" and not any(each.match(name) for each in WANTED[:2])
    return Document(name=name, passages=tuple(ranked(worthy(body), later=int(first))))


def worthy(text: str) -> list[Passage]:
    """Return the passages worth reading: no badges, images, rulers or data."""
    passages = (each for each in passages_of(text) if len(each.text) <= MOST_PASSAGE_CHARS)
    return [each for each in passages if not WORTHLESS.match(each.text)]


def ranked(passages: Sequence[Passage], *, later: int) -> Iterator[Passage]:
    """Yield the passages with their ranks: the opening, then the first passage of each section, then the rest."""
    heading, spoken, said = -1, 0, 0
    for at, passage in enumerate(passages):
        if passage.form.kind == "heading":
            heading, said = at, 0
            yield Passage(passage.text, ONLY_ABOVE if at else -later)
            continue
        place = 0 if spoken < OPENING_PASSAGES else 1 if said == 0 else 2
        place = later + (SHOWN if passage.form.kind == "block" else place)
        spoken, said = spoken + 1, said + 1
        yield Passage(passage.form.lead + passage.text, -place, heading)


def passages_of_record(name: str, text: str) -> Iterator[Passage]:
    """Yield a record's title and status, then the sentences of its decision section, or of the whole text if it has none."""
    body = text[:MOST_CHARS]
    found, title, part = STATUS.search(body), TITLE.search(body), DECISION.search(body)
    status = " ".join((found[1] or found[2]).lower().split()) if found else ""
    named = (title[1] if title else name.rpartition("/")[2]).strip()
    yield Passage(f"{named} ({status})" if status else named)
    if not OUT.isdisjoint(status.split()):
        return
    if part:
        rest = HEADING.split(body[part.end() :], maxsplit=1)[0]
    else:
        rest = HEADING.sub("", FRONT_MATTER.sub("", body))
    said = (each for each in worthy(rest) if each.form.kind in {"sentence", "item"})
    said = (each for each in said if not each.text.startswith(TABLE_ROW))
    for at, each in enumerate(said):
        yield Passage(each.form.lead + each.text, rank=-2 if at else -1, under=0)


def extracts(
    documents: Sequence[Document], *, room_tokens: int, count: CountText
) -> tuple[Extracts, int]:
    """Return the most important lines that fit, from documents in order of importance, and the tokens they use."""
    passages: list[Passage] = []
    names: list[str] = []
    for document in documents:
        top = len(passages)  # of its name, under which its passages stand
        passages.append(Passage(document.name, ONLY_ABOVE))
        passages += [each._replace(under=top + 1 + each.under) for each in document.passages]
        names += [document.name] * (1 + len(document.passages))
    taken, tokens = chosen(passages, room_tokens=room_tokens, count=count)
    found = defaultdict[str, tuple[str, ...]](tuple)
    for at in taken:
        if passages[at].under >= 0:
            found[names[at]] += tuple(passages[at].text.split("\n"))
    return dict(found), tokens
