"""What a piece of text without spaces says, whatever stands around it.

Promise: the same chunk gives the same; what comes again is not read again, so that a text costs what its vocabulary costs.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from autogen_context.language.stems import stem
from autogen_context.language.terms import terms
from autogen_context.messages.identifiers import CONNECTORS, MOST, RUN, is_telling

ValueKind = Literal["number", "value"]

WORD = re.compile(r"[a-z]+(?:['\u2019][a-z]+)?")
RUNS = re.compile(rf"\d{{1,3}}(?:,\d{{3}})+(?![\d,])|{RUN.pattern}")
NUMBER = re.compile(r"\d[\d,.]*[a-zA-Z]{0,3}")
NEGATIONS = frozenset(
    [
        "no",
        "not",
        "never",
        "none",
        "nothing",
        "nobody",
        "nor",
        "neither",
        "without",
        "cannot",
        "avoid",
        "avoids",
        "except",
        "unless",
        "refuse",
        "refuses",
        "refused",
        "forbid",
        "forbids",
        "forbidden",
        "prohibit",
        "prohibits",
        "prohibited",
        "disallow",
        "disallows",
        "disallowed",
        "reject",
        "rejects",
        "rejected",
    ]
)
CONSTRAINTS = frozenset(
    [
        "must",
        "shall",
        "should",
        "only",
        "always",
        "limit",
        "limits",
        "limited",
        "max",
        "maximum",
        "min",
        "minimum",
        "cap",
        "caps",
        "capped",
        "require",
        "requires",
        "required",
        "mandatory",
        "until",
        "before",
        "deadline",
        "exceed",
        "exceeds",
        "exactly",
    ]
)
RULE_STEMS = frozenset(map(stem, NEGATIONS | CONSTRAINTS))
NO_VALUE = frozenset(["and/or", "he/she", "e.g", "i.e", "a.m", "p.m"])
REMEMBERED_CHARS = 600  # of a chunk
REMEMBERED = 65_536  # chunks


class Chunk(NamedTuple):
    """What stands between two spaces.

    Attributes:
        terms: of it.
        about: those that are no numbers, and neither deny nor demand.
        runs: its values and words, in lower case.
        values: those of them that are values or numbers, as written.
        denies: whether it has a negation.
        demands: whether it has a word that demands or limits.
    """

    terms: tuple[str, ...]
    about: tuple[str, ...]
    runs: tuple[str, ...]
    values: tuple[tuple[ValueKind, str], ...]
    denies: bool
    demands: bool


class Chunks(NamedTuple):
    """What several chunks have: of each field what all of them have, in their order."""

    terms: Sequence[tuple[str, ...]] = ()
    about: Sequence[tuple[str, ...]] = ()
    runs: Sequence[tuple[str, ...]] = ()
    values: Sequence[tuple[tuple[ValueKind, str], ...]] = ()
    denies: Sequence[bool] = ()
    demands: Sequence[bool] = ()


def chunks_of(text: str) -> Chunks:
    """What the chunks of a text have."""
    read = known_chunk if len(text) <= REMEMBERED_CHARS else chunk_of
    return Chunks(*zip(*map(read, text.split()), strict=True))


def chunk_of(chunk: str) -> Chunk:
    """What a chunk has."""
    return known_chunk(chunk) if len(chunk) <= REMEMBERED_CHARS else read_chunk(chunk)


def read_chunk(chunk: str) -> Chunk:
    """What a chunk has, looked for."""
    said = tuple(terms(chunk))
    found = frozenset(WORD.findall(chunk.lower()))
    runs = [run.rstrip(CONNECTORS) for run in RUNS.findall(chunk)]
    return Chunk(
        terms=said,
        about=tuple(term for term in said if not term[0].isdigit() and term not in RULE_STEMS),
        runs=tuple(map(str.lower, runs)),
        values=tuple(values_in(runs)),
        denies=not found.isdisjoint(NEGATIONS),
        demands=not found.isdisjoint(CONSTRAINTS),
    )


known_chunk = lru_cache(maxsize=REMEMBERED)(read_chunk)


def values_in(runs: Iterable[str]) -> Iterator[tuple[ValueKind, str]]:
    """Values and numbers."""
    for run in filter(is_telling, runs):
        if len(run) <= MOST:
            if NUMBER.fullmatch(run):
                yield "number", run
            elif is_value(run):
                yield "value", run


def is_value(run: str) -> bool:
    """Whether what may be a value is one: a hyphen between plain words makes none."""
    return is_telling(run.replace("-", " ")) and run.lower() not in NO_VALUE
