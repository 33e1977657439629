"""Decide whether a query needs anything from earlier in the conversation.

Promise: pure and quick: no index is asked, no model is called. The decision names the words that led to it.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from autogen_context.pipeline.json_value import canonical, fields_of
from autogen_context.pipeline.message import Message, joined_text
from autogen_context.pipeline.openai_chat import read_content
from autogen_context.pipeline.relevance.authors import asked_about
from autogen_context.pipeline.task.query import QueryKind, kind_of

NAME_WORDS = 3  # the most words that a name has
SCANNED_WORDS = 400  # of a query, for names
JOINT = r"[./:@#'-]"  # within a word
WORD = re.compile(rf"\w+(?:{JOINT}\w+)*")
BEFORE = re.compile(rf"\w{JOINT}?\Z")  # what is part of the same word
GAP = re.compile(r"(?:'s)?\W+")
ENDED = re.compile(rf"(?:'s)?(?!\w|{JOINT}\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallDecision:
    """Whether to retrieve, and why.

    Attributes:
        retrieve: whether earlier exchanges are to be searched.
        reason: why, in words.
        kind: what the query asks for.
        names: what it names that is known and not in sight.
    """

    retrieve: bool
    reason: str
    kind: QueryKind
    names: tuple[str, ...] = ()


class RecallGate:
    """Opens for queries that ask for the past, or that name something known which is not in sight.

    Args:
        known: names and identifiers of the whole conversation, in lower case; only ``in`` is asked of it, so a set or
            an index that grows serves. Left out, only the wording of a query counts.

    Raises:
        ValueError: ``known`` is a string, in which any part of a word would be known.
    """

    def __init__(self, known: Container[str] = ()) -> None:
        if isinstance(known, str):
            raise ValueError(  # noqa: TRY004 - a wrong argument is a ValueError here
                f"known must be a set of names, got the string {known!r}; put it into a set"
            )
        self._known = known

    def decide(self, query: str, in_sight: Iterable[object] = ()) -> RecallDecision:
        """Whether this query needs what is out of sight.

        Args:
            query: what a person wrote.
            in_sight: the messages that the model sees anyway: messages in OpenAI's format, strings, or ``Message``.

        Raises:
            ValueError: something in sight is no message.
        """
        return self.judge(query, (text_of(message).lower() for message in in_sight))

    def judge(self, query: str, texts: Iterable[str], people: Iterable[str] = ()) -> RecallDecision:
        """The same for who has at hand what stands in sight, and knows who speaks.

        Args:
            query: what a person wrote.
            texts: what the model sees anyway, in lower case; looked at only where the query names something known.
            people: who speaks in the conversation; looked at only where the query could ask about one of them.
        """
        kind, reason = kind_of(query)
        names = tuple(self._out_of_sight(query, texts))
        if kind == "recall":
            return RecallDecision(retrieve=True, reason=reason, kind=kind, names=names)
        if names:
            reason = f"names what is known and not in sight: {', '.join(names)}"
            return RecallDecision(retrieve=True, reason=reason, kind=kind, names=names)
        if about := asked_about(query, people):
            reason = f"asks about somebody who speaks here: {', '.join(about)}"
        return RecallDecision(retrieve=bool(about), reason=reason, kind=kind)

    def _out_of_sight(self, query: str, texts: Iterable[str]) -> list[str]:
        named = {name: None for name in names_in(query, SCANNED_WORDS) if name in self._known}
        if not named:
            return []
        for text in texts:
            for name in [name for name in named if stands_in(text, name)]:
                del named[name]
        return list(named)


def stands_in(text: str, name: str) -> bool:
    """Whether a lower-case text has a name of ``names_in``: the same words, next to each other, none part of another."""
    first, *rest = name.split()
    return all(word in text for word in rest) and any(
        not BEFORE.search(text, max(0, at - 2), at) and is_all(text, at + len(first), rest)
        for at in places_of(text, first)
    )


def places_of(text: str, word: str) -> Iterator[int]:
    """Where a word stands in a text, as a part of another as well."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def is_all(text: str, end: int, rest: Sequence[str]) -> bool:
    """Whether the rest of a name's words stand behind the first, and the last of them ends there."""
    for word in rest:
        gap = GAP.match(text, end)
        if gap is None or not text.startswith(word, gap.end()):
            return False
        end = gap.end() + len(word)
    return ENDED.match(text, end) is not None


def names_in(text: str, most_words: int | None = None) -> Iterator[str]:
    """Each word of a text, and each two and three in a row, in lower case."""
    found = islice(WORD.finditer(text), most_words)
    words = [match.group().lower().removesuffix("'s") for match in found]
    for at in range(len(words)):
        for stop in range(at + 1, min(at + NAME_WORDS, len(words)) + 1):
            yield " ".join(words[at:stop])


def text_of(message: object) -> str:
    """What can be read in a message of any of the accepted kinds.

    Raises:
        ValueError: it is none of them.
    """
    if isinstance(message, str):
        return message
    if isinstance(message, Message):
        return joined_text([message])
    fields = fields_of(message, "what is in sight")
    text, _, other = read_content(fields.get("content"))
    calls = fields.get("tool_calls") or fields.get("function_call")
    return "\n".join([text, *map(canonical, other), *([canonical(calls)] if calls else [])])
