"""Probe a recorded conversation: which rules and facts of people each request would lack, by this package and by sliding windows.

Promise: every request is what the model was asked before a recorded answer, and knows nothing later. All ways have the same window,
tools included, and keep the system prompt; a statement is gone where its words are in no message of a person or a later one of the system, nor in a notice.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, get_args

from autogen_context.errors import ContextWindowExceeded
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.openai_chat import messages_in
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.statement import PersonStatement, WordsOfPeople

Way = Literal["ours", "newest", "first"]
WAYS: Sequence[Way] = get_args(Way)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedTurn:
    """A request.

    Attributes:
        turn: its number, from 1.
        messages: of the history that it is made of.
        history_tokens: theirs.
        limit_tokens: what it may have; ``None`` if it could not be made.
        compacted: whether the history was cut for it.
        stated: what people stated before it and still holds.
        gone: of that, what the request lacks; ``newest`` has the newest messages that fit, ``first`` also the first one.
    """

    turn: int
    messages: int
    history_tokens: int
    limit_tokens: int | None
    compacted: bool
    stated: Sequence[PersonStatement]
    gone: Mapping[Way, Sequence[PersonStatement]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoneStatement:
    """A statement, and the turns whose requests lack it."""

    statement: PersonStatement
    turns: Sequence[int]


def probe(
    manager: IncrementalContextManager,
    messages: Sequence[Mapping[str, object]],
    tools: Sequence[Mapping[str, object]],
    stops: Sequence[int],
) -> Iterator[ProbedTurn]:
    """Yield the requests of a conversation; ``stops`` are how many messages each is made of."""
    windows = SlidingWindows(
        [*messages_in(messages)], MessageCounter.for_model(manager.config.model)
    )
    room = 0  # tokens for messages
    for turn, stop in enumerate(stops, 1):
        try:
            prepared = manager.prepare_nowait(messages[:stop], tools)
        except ContextWindowExceeded:
            prepared = None
        stated = manager.statements()
        if prepared is not None:
            certificate = prepared.certificate
            room = certificate.limit_tokens - certificate.fixed_tokens
        yield ProbedTurn(
            turn=turn,
            messages=stop,
            history_tokens=windows.tokens[stop],
            limit_tokens=prepared.certificate.limit_tokens if prepared else None,
            compacted=prepared is not None and prepared.compacted,
            stated=stated,
            gone={
                "ours": [each for each in stated if prepared is None or not each.in_request],
                "newest": windows.gone(stated, stop, room),
                "first": windows.gone(stated, stop, room, keeps_first=True),
            },
        )


def gone_in(turns: Sequence[ProbedTurn], way: Way) -> list[GoneStatement]:
    """Return what at least one request lacks, in the order in which it was gone."""
    found: dict[tuple[str, int | None], tuple[PersonStatement, list[int]]] = {}
    for turn in turns:
        for each in turn.gone[way]:
            found.setdefault((each.text, each.position), (each, []))[1].append(turn.turn)
    return [GoneStatement(statement=each, turns=at) for each, at in found.values()]


class SlidingWindows:
    """Requests with the newest messages of a list, as many as fit.

    Attributes:
        tokens: of the first n messages, by n.
    """

    def __init__(self, messages: Sequence[Message], counter: MessageCounter) -> None:
        self._messages = messages
        self.tokens = [*accumulate(map(counter.message, messages), initial=0)]
        others = (i for i, m in enumerate(messages) if m.role not in SYSTEM_ROLES)
        self._first = next(others, len(messages))  # behind the system prompt

    def gone(
        self,
        stated: Sequence[PersonStatement],
        stop: int,
        room_tokens: int,
        *,
        keeps_first: bool = False,
    ) -> list[PersonStatement]:
        """Return what the request before message ``stop`` lacks; the newest message is always there."""
        front = min(stop, self._first + keeps_first)
        least = self.tokens[stop] - max(0, room_tokens - self.tokens[front])
        start = max(front, min(bisect_left(self.tokens, least), stop - 1))
        left = [each for each in stated if each.position is None or front <= each.position < start]
        if not left:
            return []
        kept = (*self._messages[self._first : front], *self._messages[start:stop])
        words = WordsOfPeople(m.text for m in kept if m.role == "user" or m.role in SYSTEM_ROLES)
        return [each for each in left if not words.has(each.text)]
