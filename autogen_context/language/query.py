"""What a person asks for: something of the past, a summary, or neither.

Promise: whole words decide, never parts of words; the same text has the same kind; a text of any length costs about the
same. Each verdict names the words that led to it.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from autogen_context.language.query_english import ENGLISH
from autogen_context.language.query_languages import OTHER_LANGUAGES
from autogen_context.language.query_matcher import Matcher
from autogen_context.language.query_rules import Finding, QueryKind

__all__ = ["QueryKind", "kind_of"]

END_CHARS = 600  # of a long text, from its head and from its tail: people ask before or behind what they paste
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？])")  # noqa: RUF001 - Chinese punctuation
ORDER: tuple[QueryKind, ...] = ("recall", "summary")
REMEMBERED = 64  # texts


def kind_of(text: str) -> tuple[QueryKind, str]:
    """The kind of a query, and why.

    Args:
        text: what a person wrote, in any language; may be empty.

    Returns:
        ``recall`` where it asks for something said or done before, ``summary`` where it asks for the whole of it in
        short, ``casual`` for anything else; and the reason in words.
    """
    return kind_of_ends(ends_of(text))


@lru_cache(REMEMBERED)
def kind_of_ends(text: str) -> tuple[QueryKind, str]:
    """The kind of a query that is as long as it is read; a turn asks several times."""
    findings = list(found_in(text))
    for kind in ORDER:
        for finding in findings:
            if finding.rule.kind == kind:
                return kind, told(finding)
    return "casual", told(findings[0]) if findings else "nothing in it asks for the past"


def told(finding: Finding) -> str:
    """The reason of a rule and the words that it found."""
    return f'{finding.rule.reason}: "{finding.words}"'


def found_in(text: str) -> Iterator[Finding]:
    """What the rules of each language find in each sentence."""
    search = matcher().search(plain(text))
    for sentence in sentences(text) if search.phrases else ():
        yield from search.findings(sentence)


def ends_of(text: str) -> str:
    """Both ends of a text; all of it where it is no longer than they are."""
    return text if len(text) <= 2 * END_CHARS else f"{text[:END_CHARS]}\n{text[-END_CHARS:]}"


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    parts = SENTENCE_END.split(plain(text))
    return [part.lower() if part.isupper() else part for part in parts if part.strip()]


def plain(text: str) -> str:
    """A text with plain apostrophes."""
    return text.replace("\u2019", "'").replace("\u02bc", "'").replace("`", "'")


@cache
def matcher() -> Matcher:
    """The languages, ready to be asked; made at the first query, since that takes a while."""
    return Matcher(ENGLISH, *OTHER_LANGUAGES)
