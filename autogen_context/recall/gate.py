"""Decide whether a query needs anything from earlier in the conversation.

Promise: pure and quick: no index is asked, no model is called. The decision names the words that led to it.
"""

from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from autogen_context.argument import (
    require_kind,
    require_several,
    require_text,
    wrong_argument,
)
from autogen_context.language.query import QueryKind, kind_of
from autogen_context.messages.message import Message, joined_text
from autogen_context.messages.openai_chat import canonical, fields_of, read_content
from autogen_context.prioritizer.recollection import asked_about
from autogen_context.recall.known import names_asked, stands_in


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
    """Opens for queries that ask for the past, for a part of it or all in short, or that name something known which is not in sight.

    Args:
        known: names and identifiers of the whole conversation, which may grow; or an index of which only ``in`` is asked, in
            lower case. Left out, only the wording of a query counts.

    Raises:
        ValueError: ``known`` is no set of names, such as a string, in which any part of a word would be known.
    """

    def __init__(self, known: Container[str] = ()) -> None:
        require_kind("known", known, Container, give="a set of names")
        if isinstance(known, str):
            raise wrong_argument("known", known, "a set of names")
        self._known = known
        # Of what can be gone through the names may be in any case.
        self._told = cast("Collection[str]", known) if isinstance(known, Collection) else None
        self._lower: frozenset[str] = frozenset()
        self._lowered = 0  # how many names that was made of

    def decide(self, query: str, in_sight: Iterable[object] = ()) -> RecallDecision:
        """Whether this query needs what is out of sight.

        Args:
            query: what a person wrote.
            in_sight: the messages that the model sees anyway: messages in OpenAI's format, strings, or ``Message``.

        Raises:
            ValueError: the query is no text, or something in sight is no message.
        """
        require_text("query", query)
        require_several("in_sight", in_sight, give="a list of messages")
        return decided(query, self._out_of_sight(query, in_sight))

    def _out_of_sight(self, query: str, in_sight: Iterable[object]) -> list[str]:
        """What a query names that is known and not in sight."""
        known = self._names()
        named = {name: None for name in names_asked(query) if name in known}
        if not named:
            return []
        for text in (text_of(message).lower() for message in in_sight):
            for name in [name for name in named if stands_in(text, name)]:
                del named[name]
        return list(named)

    def _names(self) -> Container[str]:
        """The names in lower case, where these can be had."""
        if self._told is None:
            return self._known
        if len(self._told) != self._lowered:
            self._lower = frozenset(name.lower() for name in self._told)
            self._lowered = len(self._told)
        return self._lower


def decided(query: str, out_of_sight: Sequence[str], people: Iterable[str] = ()) -> RecallDecision:
    """The decision where it is known what is in sight.

    Args:
        query: what a person wrote.
        out_of_sight: what it names that is known and not in sight.
        people: who speaks in the conversation; looked at only where the query could ask about one of them.
    """
    kind, reason = kind_of(query)
    names = tuple(out_of_sight)
    if kind != "casual":
        return RecallDecision(retrieve=True, reason=reason, kind=kind, names=names)
    if names:
        reason = f"names what is known and not in sight: {', '.join(names)}"
        return RecallDecision(retrieve=True, reason=reason, kind=kind, names=names)
    if about := asked_about(query, people):
        reason = f"asks about somebody who speaks here: {', '.join(about)}"
    return RecallDecision(retrieve=bool(about), reason=reason, kind=kind)


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
    content = read_content(fields.get("content"))
    calls = fields.get("tool_calls") or fields.get("function_call")
    return "\n".join(
        [content.text, *map(canonical, content.other), *([canonical(calls)] if calls else [])]
    )
