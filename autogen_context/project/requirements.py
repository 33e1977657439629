"""What is wanted of a project: its README, its pages on requirements, the top of its docs, the text of an issue.

Promise: pure; files are chosen by their names alone, in an order that does not depend on how they are given.
"""

import re
from collections.abc import Iterable

TEXT = r"\.(?:md|markdown|rst|txt|adoc)$"
README = re.compile(rf"(?:readme(?:{TEXT})?)$|readme{TEXT}", re.IGNORECASE)
WANTED = re.compile(
    rf"(?:docs?/)?[^/]*(?:requirement|specification|\bspec\b|\bprd\b|goals|vision|scope|roadmap|promises)[^/]*{TEXT}",
    re.IGNORECASE,
)
NOT_WANTED = re.compile(
    r"requirements[^/]*\.txt$|(?:^|/)robots\.txt$", re.IGNORECASE
)  # of a package manager
DOCS = re.compile(rf"docs?/(?:index|overview|intro\w*|getting.?started|[^/]+){TEXT}", re.IGNORECASE)
FIRST_DOCS = re.compile(r"docs?/(?:index|overview|intro|readme)", re.IGNORECASE)
MOST_FILES = 12


def requirement_files(names: Iterable[str]) -> tuple[str, ...]:
    """The files that say what is wanted, the most telling first."""
    ranks = sorted((rank_of(name), name) for name in names)
    return tuple(name for rank, name in ranks if rank < len(RANKS))[:MOST_FILES]


RANKS = (README, WANTED, FIRST_DOCS, DOCS)


def rank_of(name: str) -> int:
    """The place of a file among those that say what is wanted; beyond the last one where it does not."""
    if NOT_WANTED.search(name):
        return len(RANKS)
    for rank, pattern in enumerate(RANKS):
        if pattern.match(name):
            return rank
    return len(RANKS)


def is_leading(name: str) -> bool:
    """Whether a file is a README or a page on what is wanted, not any page."""
    return rank_of(name) < RANKS.index(FIRST_DOCS)
