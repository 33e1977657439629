"""Which messages of a conversation answer a question about it, and who said them.

Promise: scores on the scale of ``relevance``, one for each message. An answer stands near what it answers, so messages
are judged with their neighbours; and who is asked about is heard first. Where authors are not known, or the question
names none or all of them, nobody is.
"""

import re
from collections.abc import Iterable, Sequence

from autogen_context.language.query import ends_of, sentences
from autogen_context.messages.message import Message
from autogen_context.prioritizer.relevance import (
    LexicalIndex,
    fused,
    means_around,
    relatedness,
)

OTHERS_FRACTION = 0.5  # of its score, for what somebody else said than who is asked about
LEAST_OPENINGS = 0.5  # of the messages open with a name, where names are told so
OPENING = re.compile(
    r"(?:\[[^\]\n]{1,60}\][ \t]*)?([^\W\d_][\w.'-]{0,30}(?: [\w.'-]{1,30}){0,2}):\s"
)
ADDRESS = re.compile(r"\b(?:you|your|yours|yourself|please)\b", re.IGNORECASE)
QUESTION_MARKS = ("?", "？")  # noqa: RUF001 - Chinese punctuation


def recollected(
    index: LexicalIndex,
    query: str,
    *,
    authors: Sequence[str] = (),
    cosines: Sequence[float | None] = (),
) -> list[float]:
    """Score the messages of a conversation for a question.

    Args:
        index: n messages as documents, oldest first; with their dates and the names of their authors, where known.
        query: the question.
        authors: the author of each message, see ``authors_of``; or none, where nobody is known.
        cosines: of each message's vector with the query's, None where a message has none yet, it is taken at its words
            then; or none at all.

    Returns:
        n scores in 0..1. Take messages whole, best first, until the room is full.

    Source:
        docs/decisions/0007-relevance.md.
    """
    scores = index.scores_nearby(query)
    if cosines:
        by_meaning = [
            words if cosine is None else relatedness(cosine)
            for words, cosine in zip(index.scores(query), cosines, strict=True)
        ]
        scores = fused(scores, means_around(by_meaning))
    return in_favour_of_named(scores, authors, query) if authors else scores


def authors_of(messages: Sequence[Message]) -> list[str]:
    """The author of each message, as far as the messages tell.

    Returns:
        For each message the name it has; else the name that its text opens with (``Ann: …`` or ``[3 May] Ann: …``),
        where at least half of all messages open so; else an empty text.
    """
    return authors_by(messages, list(map(opening_of, messages)))


def opening_of(message: Message) -> str:
    """The name that a message opens with; empty where it opens with none."""
    opening = OPENING.match(message.text)
    return opening.group(1) if opening else ""


def authors_by(messages: Sequence[Message], openings: Sequence[str]) -> list[str]:
    """The same for who has at hand what each message opens with."""
    told = sum(map(bool, openings)) >= LEAST_OPENINGS * len(messages)
    pairs = zip(messages, openings, strict=True)
    return [message.name or (opening if told else "") for message, opening in pairs]


def in_favour_of_named(scores: Sequence[float], authors: Sequence[str], query: str) -> list[float]:
    """Halve the scores of what was said by others, where the query names authors.

    Args:
        scores: n scores.
        authors: n names; an empty one is nobody's and never named.
        query: a question.

    Returns:
        n scores; the same ones where the query names no author.
    """
    named = {author for author in {*authors} - {""} if names(query, author)}
    if not named:
        return list(scores)
    return [
        score if author in named else score * OTHERS_FRACTION
        for score, author in zip(scores, authors, strict=True)
    ]


def asked_about(query: str, authors: Iterable[str]) -> list[str]:
    """The authors that a query asks about, as one does of those who are not there.

    Args:
        query: what a person wrote.
        authors: names; not looked at unless the query has a question that could be about somebody.

    Returns:
        Those that stand in a question which addresses nobody ("you", "please"), by the alphabet. A name that begins
        small (``user``, ``coder``) is a role that everybody talks about; one beside a comma is called, and one that the
        query opens with (``Ann: …``) is who asks.
    """
    if not any(mark in query for mark in QUESTION_MARKS):
        return []
    own = OPENING.match(query)
    questions = [
        sentence
        for sentence in sentences(ends_of(query[own.end() :] if own else query))
        if sentence.rstrip().endswith(QUESTION_MARKS) and not ADDRESS.search(sentence)
    ]
    if not questions:
        return []
    proper = sorted({author for author in authors if author and not author[0].islower()})
    return [author for author in proper if any(is_about(one, author) for one in questions)]


def is_about(question: str, author: str) -> bool:
    """Whether a name stands in a question, as whole words in their case, and is not called by it."""
    return re.search(rf"(?<![\w@])(?<!, ){re.escape(author)}(?![\w,])", question) is not None


def names(query: str, author: str) -> bool:
    """Whether a name stands in a query, as whole words in any case."""
    return re.search(rf"(?<!\w){re.escape(author)}(?!\w)", query, re.IGNORECASE) is not None
