"""The documents of a project, by what they are for: what is wanted, what was decided, how one works on it.

Promise: pure; files are chosen by their names alone, in an order that does not depend on how they are given; any text goes,
and settings that cannot be read say nothing. What these files say is what they say: no rule for anybody here.

A record of a decision (the shapes of MADR and Nygard, and near them) gives its title with its status first, then its
decision in whole sentences; what was rejected or replaced gives its title alone.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, cast

from autogen_context.compressor.passage import Passage
from autogen_context.project.pieces import TABLE_ROW, Document, Piece, document_of, worthy

Paper = Literal["requirements", "design", "memory_patterns"]
PAPERS: tuple[Paper, ...] = ("requirements", "design", "memory_patterns")

TEXT = r"\.(?:md|markdown|rst|txt|adoc)$"
DOCUMENT = re.compile(rf"{TEXT}|(?:^|/)readme$|\.cursorrules$", re.IGNORECASE)
# What says what is wanted, the most telling first; from the third on they are any pages.
WANTED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"readme(?:{TEXT}|$)",
        rf"(?:docs?/)?[^/]*(?:requirement|specification|\bspec\b|\bprd\b|goals|vision|scope|roadmap|promises)[^/]*{TEXT}",
        r"docs?/(?:index|overview|intro|readme)",
        rf"docs?/[^/]+{TEXT}",
    )
)
LEADING = WANTED[:2]
NOT_WANTED = re.compile(
    r"requirements[^/]*\.txt$|(?:^|/)robots\.txt$", re.IGNORECASE
)  # of a package manager
RECORD = re.compile(
    r"(?:.*/)?(?:decisions?|adrs?|architecture[-_]decisions?)/(?:[^/]+/)?[^/]+\.(?:md|markdown|rst|adoc)$"
    r"|(?:docs?/)?(?:architecture|design|adr[-_ ]?\d+[^/]*|decisions)\.(?:md|rst)$",
    re.IGNORECASE,
)
NO_RECORD = re.compile(r"(?:readme|index|template|0000-[^/]*template)[^/]*$", re.IGNORECASE)
PAGES = re.compile(
    r"(?:\.github/|docs?/)?(?:agents|claude|gemini|copilot-instructions|contributing|hacking|development|style\w*|conventions?)"
    r"\.(?:md|rst|txt)$|\.cursorrules$",
    re.IGNORECASE,
)
MOST_WANTED, MOST_RECORDS, MOST_PAGES = 12, 200, 6  # files

RECORD_CHARS = 40_000
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

VALUE_CHARS = 80  # of one setting
# What of a settings file matters to whoever writes a line: values and tables in a file of data, lines in another.
TABLES: Mapping[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "pyproject.toml": (
        tomllib.loads,
        (
            *("project.requires-python", "project.scripts"),
            *("tool.ruff.line-length", "tool.ruff.target-version", "tool.black.line-length"),
            *("tool.pytest.ini_options.addopts", "tool.pytest.ini_options.asyncio_mode"),
            *("tool.mypy.strict", "tool.mypy.python_version", "tool.pyright.typeCheckingMode"),
        ),
    ),
    "package.json": (json.loads, ("scripts", "engines")),
    "Cargo.toml": (tomllib.loads, ("package.edition", "package.rust-version")),
}
LINES = {
    "go.mod": re.compile(r"^go[ \t]+[\d.]+", re.MULTILINE),
    "Makefile": re.compile(r"^[A-Za-z][\w-]*(?=[ \t]*:(?!=))", re.MULTILINE),
    ".editorconfig": re.compile(r"^[ \t]*(?:[\w-]+[ \t]*=|\[)[^#;\n]+", re.MULTILINE),
}
SETTINGS = (*TABLES, *LINES)


def papers_of(files: Iterable[str]) -> dict[Paper, tuple[str, ...]]:
    """The documents of each kind among the names of all files, the more important first."""
    names = sorted(name for name in files if name in SETTINGS or DOCUMENT.search(name))
    ranks = sorted((rank_of(name), name) for name in names)
    wanted = [name for rank, name in ranks if rank < len(WANTED)]
    records = [name for name in names if RECORD.match(name) and not NO_RECORD.search(name)]
    pages = [name for name in names if PAGES.match(name)]
    settings = [name for name in SETTINGS if name in names]
    return {
        "requirements": tuple(wanted[:MOST_WANTED]),
        "design": tuple(sorted(records, key=newest_first)[:MOST_RECORDS]),
        "memory_patterns": (*settings, *pages[:MOST_PAGES]),
    }


def rank_of(name: str) -> int:
    """The place of a file among those that say what is wanted; beyond the last one where it does not."""
    ranks = (rank for rank, pattern in enumerate(WANTED) if pattern.match(name))
    return len(WANTED) if NOT_WANTED.search(name) else next(ranks, len(WANTED))


def newest_first(name: str) -> tuple[int, str]:
    """By number, from the highest; those without one last, by name."""
    number = re.search(r"\d+", name.rpartition("/")[2])
    return -int(number[0][:9]) if number else 1, name


def read_document(paper: Paper, name: str, text: str) -> Document:
    """A document of a kind, by its name and its text."""
    if paper == "design":
        return record_of(name, text)
    if paper == "memory_patterns":
        return settings_of(name, text) if name in SETTINGS else document_of(name, text)
    return document_of(name, text, turn=0 if any(each.match(name) for each in LEADING) else 1)


def record_of(name: str, text: str) -> Document:
    """A record in pieces: title and status, then the decision."""
    body = text[:RECORD_CHARS]
    found = STATUS.search(body)
    status = " ".join((found[1] or found[2]).lower().split()) if found else ""
    title = TITLE.search(body)
    named = (title[1] if title else name.rpartition("/")[2]).strip()
    pieces = [Piece(text=f"{named} ({status})" if status else named)]
    if OUT.isdisjoint(status.split()):
        pieces += decided_in(body)
    return Document(name=name, pieces=tuple(pieces))


def decided_in(body: str) -> Iterator[Piece]:
    """The sentences of the decision, the first before the others; of all that is said where no part is called so."""
    part = DECISION.search(body)
    if part:
        rest = body[part.end() :]
        following = NEXT_HEADING.search(rest)
        rest = rest[: following.start()] if following else rest
    else:
        rest = HEADING.sub("", FRONT_MATTER.sub("", body))
    said = [each for each in worthy(rest) if is_said(each)]
    for at, passage in enumerate(said):
        together = at > 0 and said[at - 1].section == passage.section
        goes_on = together and passage.kind == "sentence"
        text = passage.lead + passage.text
        yield Piece(text=text, turn=2 if at else 1, under=0, goes_on=goes_on)


def is_said(passage: Passage) -> bool:
    """Whether a passage is a sentence or an item: no heading, no code, no row of a table."""
    return passage.kind in {"sentence", "item"} and not passage.text.startswith(TABLE_ROW)


def settings_of(name: str, text: str) -> Document:
    """What a settings file says, on a few lines."""
    if name in LINES:
        found = dict.fromkeys(" ".join(line.split()) for line in LINES[name].findall(text))
        said = [shown(name, " ".join(found))] if found else []
    else:
        load, paths = TABLES[name]
        try:
            data = load(text)
        except (ValueError, RecursionError):  # broken, as files are at times
            data = None
        values = ((path, value_at(data, path.split("."))) for path in paths)
        said = [shown(path, value) for path, value in values if value not in (None, "", [], {})]
    return Document(name=name, pieces=tuple(Piece(text=line) for line in said))


def value_at(data: object, keys: Iterable[str]) -> object:
    """What stands at a path within tables; ``None`` where there is nothing."""
    for key in keys:
        data = cast("dict[str, object]", data).get(key) if isinstance(data, dict) else None
    return data


def shown(name: str, value: object) -> str:
    """A setting on one line."""
    if isinstance(value, dict):
        table = cast("dict[str, object]", value)
        value = ", ".join(f"{key}={each}" for key, each in table.items())
    elif isinstance(value, list):
        value = " ".join(map(str, cast("list[object]", value)))
    text = " ".join(str(value).split())
    return f"{name}: {text[:VALUE_CHARS]}{'…' if len(text) > VALUE_CHARS else ''}"
