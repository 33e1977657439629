"""Decide whether a query needs anything from earlier in the conversation.

Promise: pure and quick: no index is asked, no model is called. The decision names the words that led to it.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from autogen_context.pipeline.json_value import canonical, fields_of
from autogen_context.pipeline.message import Message, joined_text
from autogen_context.pipeline.openai_chat import read_content
from autogen_context.pipeline.relevance.authors import asked_about
from autogen_context.pipeline.task.query import QueryKind, kind_of
from autogen_context.recall.names import names_asked, stands_in


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
        return decided(query, self._out_of_sight(query, in_sight))

    def _out_of_sight(self, query: str, in_sight: Iterable[object]) -> list[str]:
        """What a query names that is known and not in sight."""
        named = {name: None for name in names_asked(query) if name in self._known}
        if not named:
            return []
        for text in (text_of(message).lower() for message in in_sight):
            for name in [name for name in named if stands_in(text, name)]:
                del named[name]
        return list(named)


def decided(query: str, out_of_sight: Sequence[str], people: Iterable[str] = ()) -> RecallDecision:
    """The decision where it is known what is in sight.

    Args:
        query: what a person wrote.
        out_of_sight: what it names that is known and not in sight.
        people: who speaks in the conversation; looked at only where the query could ask about one of them.
    """
    kind, reason = kind_of(query)
    names = tuple(out_of_sight)
    if kind == "recall":
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
    text, _, other = read_content(fields.get("content"))
    calls = fields.get("tool_calls") or fields.get("function_call")
    return "\n".join([text, *map(canonical, other), *([canonical(calls)] if calls else [])])
